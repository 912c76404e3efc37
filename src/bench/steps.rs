//! Agent steps one after the other: what an agent does all day, claim and submit.
//!
//! A run has [`RUN_STEPS`] of them in a row, so that its start is a small part of what is measured.

use anyhow::ensure;
use serde::Deserialize;
use serde_json::json;

use super::unit::{Claimed, Run, User, View};
use crate::client::request_id;

/// Agent steps of one run.
pub(super) const RUN_STEPS: usize = 10;

/// The name of the process.
const NAME: &str = "bench-steps";

/// The process whose steps are all an agent's.
pub(super) fn process() -> String {
    let steps: String = (1..=RUN_STEPS)
        .map(|n| format!("  - id: step_{n}\n    agent: Answer in one sentence.\n    output: {{ answer: string }}\n"))
        .collect();
    format!(
        "---\nname: {NAME}\ndescription: Agents alone. Measures a server.\nsteps:\n{steps}  - id: answered\n    \
         finish: answered\n---\n\n# Bench steps\n\nOne answer after another.\n"
    )
}

/// Where a user is in a run.
#[derive(Debug, Default)]
pub(super) struct Walk {
    run: String,
    done: usize,
}

/// The answer to a submission, as far as it is looked at.
#[derive(Deserialize)]
struct Submitted {
    run: Run,
}

impl User {
    /// Does the next step of the walk, and starts a run first where none is under way. Returns how long the claim and the
    /// submission took.
    pub(super) async fn step(&mut self, walk: &mut Walk) -> anyhow::Result<[std::time::Duration; 2]> {
        if walk.run.is_empty() || walk.done == RUN_STEPS {
            let arguments = json!({ "process": NAME, "inputs": {}, "requestId": request_id() });
            let started = self.connection.call::<View>(&self.agent, "start_run", arguments).await?;
            *walk = Walk { run: started.data.run.id, done: 0 };
        }
        let step = format!("step_{}", walk.done + 1);
        let arguments = json!({ "runId": walk.run, "stepId": step, "requestId": request_id() });
        let claimed = self.connection.call::<Claimed>(&self.agent, "claim", arguments).await?;
        let arguments = json!({
            "token": claimed.data.token,
            "output": { "answer": "Eleven metres, measured with a line and a stone." },
            "summary": "Measured twice from the rim.",
            "requestId": request_id(),
        });
        let submitted = self.connection.call::<Submitted>(&self.agent, "submit", arguments).await?;
        walk.done += 1;
        let (state, ends) = (&submitted.data.run.state, walk.done == RUN_STEPS);
        ensure!(state == if ends { "ended" } else { "active" }, "after {step} the run is {state}");
        Ok([claimed.took, submitted.took])
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_measured_process_can_be_run() {
        let reading = process::read(super::process().as_bytes());
        assert!(reading.problems.is_empty(), "{:?}", reading.problems);
    }
}
