//! Every limit of this crate, its unit last in its name. What is over a limit is refused with the limit in the message.

/// Most bytes of one file of a Provider.
pub const FILE_BYTES: usize = 64 * 1024 * 1024;

/// Most files of one Provider.
pub const PROVIDER_FILES: usize = 10_000;

/// Most diagnostics that one refusal carries; a last one says how many more there are.
pub const MOST_DIAGNOSTICS: usize = 100;

/// Most alternative Routes that an Evaluation shows (section-evaluation).
pub const ALTERNATIVE_ROUTES: usize = 3;

/// Deepest call path: how many Subgraphs one node may lie below.
pub const CALL_LEVELS: usize = 64;

/// The most characters of somebody's own text that a message quotes in one place.
pub const QUOTE_CHARACTERS: usize = 80;

/// Most nodes, edges and fact checks that one evaluation looks at, those of a Graph again for each call path that enters
/// it: Graphs that enter the next one twice each double it at every level.
pub const EVALUATION_VISITS: usize = 5_000_000;

/// Most Subgraph nodes that one evaluation enters.
pub const EVALUATION_FRAMES: usize = 20_000;

/// Most Routes that one evaluation finds open.
pub const EVALUATION_ROUTES: usize = 100_000;

/// Most bytes of the state keys that one evaluation holds: they grow with the call path.
pub const EVALUATION_KEYS_BYTES: usize = 64 * 1024 * 1024;

/// Most diagnostics of one Evaluation; a last one says how many there are.
pub const EVALUATION_DIAGNOSTICS: usize = 100;

/// Most faults that an evaluation keeps of one frame and all below it while it goes on; the others are only counted.
pub const EVALUATION_FAULTS: usize = 4 * EVALUATION_DIAGNOSTICS;

/// Most nodes that a `no-route` names as what holds a Graph up.
pub const HELD_UP_NODES: usize = 3;

/// Most nodes that are named as having set another one back.
pub const SET_BACK_NODES: usize = 5;

/// Most Facts that a message names in one place.
pub const NAMED_FACTS: usize = 5;

/// The longest id, in characters.
pub const ID_CHARACTERS: usize = 160;

/// The longest identity of a host protocol, in characters.
pub const PROTOCOL_CHARACTERS: usize = 500;

/// The most nodes of a circle that a message names.
pub const CYCLE_NODES: usize = 20;

/// The deepest folder below the one that is listed.
pub const FOLDER_LEVELS: usize = 64;

/// The most objects and lists of a JSON Schema that an Action names.
pub const SCHEMA_NODES: usize = 5_000;

/// The most references in a JSON Schema that an Action names.
pub const SCHEMA_REFERENCES: usize = 500;

/// The most schemas that holding one value to a JSON Schema of a Provider tries.
pub const VALIDATION_STEPS: usize = 100_000;

/// The deepest that holding one value to a JSON Schema of a Provider leads.
pub const VALIDATION_LEVELS: usize = 500;

/// The most steps back that a pattern of a JSON Schema of a Provider takes over one text.
pub const BACKTRACKING_STEPS: usize = 10_000;

/// The most bytes that a compiled pattern of a JSON Schema of a Provider takes.
pub const PATTERN_BYTES: usize = 1024 * 1024;
