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
