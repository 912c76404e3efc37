//! Every limit of the command, its unit last in its name.

/// Default time limit of a materializer (section-resources).
pub const MATERIALIZER_MILLISECONDS: u64 = 30_000;

/// Longest time limit that a materializer can be given: a day.
pub const MOST_MATERIALIZER_MILLISECONDS: u64 = 24 * 60 * 60 * 1000;

/// Default limit of what a materializer writes to standard output (section-resources).
pub const MATERIALIZER_OUTPUT_BYTES: u64 = 10 * 1024 * 1024;

/// Default limit of what a materializer writes to standard error (section-resources).
pub const MATERIALIZER_ERROR_BYTES: u64 = 1024 * 1024;

/// Highest limit that either of the two can be given.
pub const MOST_MATERIALIZER_BYTES: u64 = 1024 * 1024 * 1024;

/// How long the pipes of a materializer that ended are still read, when something it left behind keeps them open.
pub const DRAIN_MILLISECONDS: u64 = 250;

/// Most bytes of one read of a materializer's output.
pub const CHUNK_BYTES: usize = 64 * 1024;

/// Most reads that wait to be looked at.
pub const CHUNKS: usize = 8;

/// Most bytes of a materializer's standard error that a message repeats.
pub const TOLD_ERROR_BYTES: usize = 2000;

/// Most bytes of a materializer's input: it travels in the environment, where systems allow about 128 KiB.
pub const INPUT_BYTES: usize = 120 * 1024;

/// Most bytes of a file that an option, a Run or a test is read from.
pub const READ_BYTES: u64 = 64 * 1024 * 1024;

/// Most files that one import copies, and most test files that one call runs.
pub const FILES: usize = 10_000;

/// Most bytes that one import copies.
pub const IMPORT_BYTES: u64 = 256 * 1024 * 1024;

/// Deepest folder that is looked into.
pub const FOLDER_LEVELS: usize = 64;

/// Most steps of a workflow that is imported.
pub const WORKFLOW_STEPS: usize = 10_000;
