//! The command `procession`: wires the verbs, nothing else.
fn main() {}
