//! The command `agent-graph`: wires the verbs, nothing else.

use std::process::ExitCode;

fn main() -> ExitCode {
    agent_graph::verbs::run(std::env::args_os())
}
