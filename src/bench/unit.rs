//! The unit: one run from its start to its end, in four calls, each answer checked.

use std::path::Path;
use std::time::Duration;

use anyhow::{bail, ensure};
use identity::Kind;
use local::issuer::{Issuer, TokenRequest};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::http::{Answer, Bearer, Connection};
use super::steps;
use crate::client::{Client, arguments, request_id};

/// The tools of a unit, in the order in which they are called.
pub(super) const TOOLS: [&str; 4] = ["start_run", "claim", "submit", "decide"];

const PROCESS: &str = "\
---
name: bench-unit
description: An agent answers, a person decides. Measures a server.
inputs:
  question: string
  number: number
steps:
  - id: answer
    agent: Answer the question in one sentence and say how sure you are.
    output:
      answer: string
      sure: { type: string, one_of: [yes, no] }
  - id: decide
    person: reader
    approve: Is the question answered?
    on_reject: answer
    next: answered
  - id: answered
    finish: answered
---

# Bench unit

One question, one answer, one decision.
";

/// The group behind the role of the measured processes.
pub(super) const GROUP: &str = "g_readers";
/// The organization of every token.
pub(super) const ORG: &str = crate::server::ORG;
/// Tokens outlive the longest measurement.
const TOKEN_TTL: Duration = Duration::from_secs(24 * 3_600);

/// Who takes part: an agent that works and a person who decides.
pub(super) struct User {
    pub(super) connection: Connection,
    pub(super) agent: Bearer,
    person: Bearer,
}

/// What one call took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Called {
    pub(super) took: Duration,
    pub(super) request_bytes: usize,
    pub(super) answer_bytes: usize,
}

impl<Data> From<&Answer<Data>> for Called {
    fn from(answer: &Answer<Data>) -> Called {
        Called { took: answer.took, request_bytes: answer.request_bytes, answer_bytes: answer.answer_bytes }
    }
}

/// What the calls of a unit hand on to the next.
#[derive(Debug, Default)]
pub(super) struct Unit {
    run: String,
    token: String,
    item: String,
    snapshot: String,
}

/// The answer to a claim, as far as it is looked at.
#[derive(Deserialize)]
pub(super) struct Claimed {
    pub(super) token: String,
}

/// A run view, as far as it is looked at.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct View {
    pub(super) run: Run,
    work_items: Vec<Item>,
}

/// The head of a run view.
#[derive(Deserialize)]
pub(super) struct Run {
    pub(super) id: String,
    pub(super) state: String,
    outcome: Option<String>,
}

#[derive(Deserialize)]
struct Item {
    id: String,
    snapshot: String,
}

/// Arguments with a `requestId` that nobody used before.
pub(super) fn requested(call: Value) -> Map<String, Value> {
    let mut call = arguments(call);
    call.insert("requestId".to_owned(), request_id().into());
    call
}

/// Publishes the processes that are measured.
pub(super) async fn publish(mcp: &str, issuer: &Issuer) -> anyhow::Result<()> {
    let token = token(issuer, Kind::Agent, "publisher", &[], true)?;
    let client = Client::connect(mcp, &token).await?;
    let unit = (PROCESS.to_owned(), json!({ "name": "bench-unit", "roles": { "reader": GROUP } }));
    let steps = (steps::process(), json!({ "name": "bench-steps", "roles": {} }));
    for (source, publish) in [unit, steps] {
        client.write("import_process", &requested(json!({ "source": source }))).await?;
        client.write("publish_process", &requested(publish)).await?;
    }
    client.close().await;
    Ok(())
}

/// The issuer of a data folder. Whoever can read the folder may make tokens.
pub(super) fn issuer(data: &Path) -> anyhow::Result<Issuer> {
    Ok(Issuer::open(data)?)
}

/// A token for somebody of the organization.
pub(super) fn token(
    issuer: &Issuer,
    kind: Kind,
    subject: &str,
    groups: &[&str],
    operator: bool,
) -> anyhow::Result<String> {
    Ok(issuer.token(&TokenRequest {
        kind,
        subject: subject.to_owned(),
        org: ORG.to_owned(),
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        operator,
        person: None,
        ttl: TOKEN_TTL,
    })?)
}

impl User {
    pub(super) async fn connect(mcp: &str, issuer: &Issuer, number: usize) -> anyhow::Result<User> {
        let agent = token(issuer, Kind::Agent, &format!("agent-{number}"), &[], false)?;
        let person = token(issuer, Kind::Person, &format!("reader-{number}@example.com"), &[GROUP], false)?;
        Ok(User {
            connection: Connection::open(mcp).await?,
            agent: Bearer::new(&agent)?,
            person: Bearer::new(&person)?,
        })
    }

    /// Calls the tool at this place of [`TOOLS`], with what the calls before it left in `unit`.
    pub(super) async fn call(&mut self, place: usize, unit: &mut Unit) -> anyhow::Result<Called> {
        let request = request_id();
        match place {
            0 => {
                let arguments = json!({
                    "process": "bench-unit",
                    "inputs": { "question": "How deep is the well behind the old mill?", "number": 17.50 },
                    "requestId": request,
                });
                let started = self.connection.call::<View>(&self.agent, "start_run", arguments).await?;
                ensure!(started.data.run.state == "active", "a started run is {}", started.data.run.state);
                let called = Called::from(&started);
                unit.run = started.data.run.id;
                Ok(called)
            }
            1 => {
                let arguments = json!({ "runId": unit.run, "stepId": "answer", "requestId": request });
                let claimed = self.connection.call::<Claimed>(&self.agent, "claim", arguments).await?;
                let called = Called::from(&claimed);
                unit.token = claimed.data.token;
                Ok(called)
            }
            2 => {
                let arguments = json!({
                    "token": unit.token,
                    "output": { "answer": "Eleven metres, measured with a line and a stone.", "sure": "yes" },
                    "summary": "Measured twice from the rim; the second line was dry to the same knot.",
                    "requestId": request,
                });
                let submitted = self.connection.call::<View>(&self.agent, "submit", arguments).await?;
                let called = Called::from(&submitted);
                let Some(item) = submitted.data.work_items.into_iter().next() else {
                    bail!("submit made no work item")
                };
                (unit.item, unit.snapshot) = (item.id, item.snapshot);
                Ok(called)
            }
            _ => {
                let arguments = json!({
                    "runId": unit.run, "workItemId": unit.item, "snapshot": unit.snapshot,
                    "decision": "approved", "requestId": request,
                });
                let decided = self.connection.call::<View>(&self.person, "decide", arguments).await?;
                let run = &decided.data.run;
                ensure!(
                    run.state == "ended" && run.outcome.as_deref() == Some("answered"),
                    "an approved run is {}, outcome {:?}",
                    run.state,
                    run.outcome
                );
                Ok(Called::from(&decided))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_measured_process_can_be_run() {
        let reading = process::read(super::PROCESS.as_bytes());
        assert!(reading.problems.is_empty(), "{:?}", reading.problems);
    }
}
