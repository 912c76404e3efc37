//! Every limit of this crate, its unit last in its name. A file over a limit is refused with the limit in the message.

/// The largest frontmatter, in bytes between the two `---` lines.
pub const FRONTMATTER_BYTES: usize = 64 * 1024;

/// The largest body, in bytes after the closing `---` line.
pub const BODY_BYTES: usize = 128 * 1024;

/// The most steps a process may list.
pub const STEPS: usize = 500;

/// The most branches of a parallel step. One write makes all of them ready, and a transaction of the store holds 100
/// items: three for each branch and ten for the rest.
pub const BRANCH_ENTRIES: usize = 30;

/// The most steps of a process that pass by themselves: `wait`, `wait_until` and `wait_for`. All of them may pass in one
/// write, when a run was not looked at for long or the events came before; with what else a write holds they then still fit
/// one entry of the journal.
pub const WAITS: usize = 200;

/// The most nodes that all aliases of a file together may stand for.
pub const ALIAS_NODES: usize = 10_000;

/// The most bytes of text that all aliases of a file together may stand for.
pub const ALIAS_BYTES: usize = 256 * 1024;

/// The deepest nesting of mappings and lists in the frontmatter, aliases followed.
pub const DEPTH_LEVELS: usize = 64;

/// The most problems one reading reports; a last line says how many more there are.
pub const PROBLEMS: usize = 1_000;

/// What no key may begin with: the JSON library keeps such keys for itself, and would read an object with one as a number.
pub const RESERVED_KEY: &str = "$serde_json::private::";

/// The most "did you mean" searches in one reading.
pub const SUGGESTIONS: usize = 50;

/// The most characters of the file's own text that a message quotes in one place.
pub const QUOTE_CHARACTERS: usize = 60;

/// The longest duration, in days: a thousand years, so that any due time is a date that can be written.
pub const SPAN_DAYS: u64 = 365_000;

/// The longest `name`, in characters (core §2.1).
pub const NAME_CHARACTERS: usize = 64;

/// The longest step id, event name, role name and outcome, in characters (core §2.2).
pub const ID_CHARACTERS: usize = 64;

/// The longest e-mail address, in bytes.
pub const EMAIL_BYTES: usize = 254;

/// The most issues reported about one value, so that a long list of wrong elements has a short answer.
pub const VALUE_ISSUES: usize = 1_000;

/// The most questions of one `check` (check-1).
pub const CHECK_QUESTIONS: usize = 20;

/// The longest question (no control character in it but line breaks and tabs), and the longest text that says what an answer or a level means, in characters (check-1).
pub const QUESTION_CHARACTERS: usize = 1_000;

/// The longest name of an answer of `one_of`, in characters (check-1).
pub const ANSWER_NAME_CHARACTERS: usize = 64;

/// The most levels of a rubric (check-1).
pub const RUBRIC_LEVELS: usize = 10;

/// The probability of yes at which a yes/no question passes where neither the file nor the server says another (check-1).
pub const CHECK_PASS_PROBABILITY: f64 = 0.9;

/// The most facts that one `graph` maps (graph-1).
pub const GRAPH_FACTS: usize = 100;

/// The longest path of a fact, in characters (graph-1).
pub const FACT_PATH_CHARACTERS: usize = 160;

/// The most names that the path of a fact joins (graph-1): a value lies so many levels deeper among facts than in run data,
/// and must stay within what readers of JSON take.
pub const FACT_PATH_NAMES: usize = 16;

/// The longest id of a provider or a graph and the longest name of an entry, in characters (graph-1).
pub const GRAPH_ID_CHARACTERS: usize = 160;

/// The longest version of a provider, in characters (graph-1).
pub const PROVIDER_VERSION_CHARACTERS: usize = 64;
