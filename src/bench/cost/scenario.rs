//! The calls that are counted: every tool of processes once or more, on a run whose data has a given size.
//!
//! Invariants: one call at a time, by HTTP, on a server whose timer loop does not run; every answer is checked; what a call
//! asks of storage is exact, as the sizes of all items are remembered from the first on.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow, ensure};
use identity::Kind;
use serde_json::{Value, json};
use store::counting::{Meter, Turns};
use store::keys;

use super::Step;
use crate::bench::ToolStorage;
use crate::bench::http::{Bearer, Connection};
use crate::bench::unit::{GROUP, ORG, requested, token};
use crate::client::at;
use crate::server::{self, Options, Running};

/// A minute of the server's clock takes a sixtieth of a second, so that a wait can be seen to end.
const SPEED: u32 = 3_600;
/// How long a claim lasts, in seconds of that clock: ten minutes of real time.
const LEASE_SECONDS: u64 = 600 * SPEED as u64;
/// What the process's wait takes in real time, and some more.
const WAIT: Duration = Duration::from_millis(60);

const NAME: &str = "bench-cost";

const PROCESS: &str = "\
---
name: bench-cost
description: Every kind of call once. Tells what each asks of storage.
inputs:
  text: string
steps:
  - id: draft
    agent: Draft an answer to the text in one sentence.
    output: { answer: string }
  - id: review
    agent: Review the answer and attach what you found.
    output: { answer: string }
    evidence: [file]
  - id: settle
    agent: Settle the answer.
    output: { answer: string }
  - id: approve
    person: reader
    approve: Is this the answer?
  - id: print
    agent: Print it.
    output: { answer: string }
    due: 90d
  - id: pack
    agent: Pack it.
    output: { answer: string }
    due: 90d
  - id: posted
    wait_for: posted
  - id: pause
    wait: 1m
  - id: done
    finish: done
---

# Bench cost

A text, three answers, a decision, and the post.
";

/// What was counted at one size.
pub(super) struct Counted {
    pub(super) calls: Vec<ToolStorage>,
    pub(super) steps: Vec<Step>,
    /// What it takes to file one notice as sent.
    pub(super) filing: ToolStorage,
}

/// Plays it with run data of so many bytes as JSON.
pub(super) async fn play(run_data_bytes: usize) -> anyhow::Result<Counted> {
    let dir = tempfile::Builder::new().prefix("procession-bench-").tempdir().context("no temporary folder")?;
    let mut desk = Desk::open(dir.path().join("data")).await?;
    let counted = desk.play(run_data_bytes).await?;
    desk.server.stop().await;
    dir.close().context("the temporary folder cannot be removed")?;
    Ok(counted)
}

#[derive(Clone, Copy)]
enum Who {
    Agent,
    Person,
    Operator,
}

struct Desk {
    server: Running,
    connection: Connection,
    agent: Bearer,
    person: Bearer,
    operator: Bearer,
    rows: Vec<ToolStorage>,
}

impl Desk {
    async fn open(data: std::path::PathBuf) -> anyhow::Result<Desk> {
        let options = Options { data, speed: SPEED, lease_seconds: LEASE_SECONDS, ..Options::default() };
        let server = server::start_untimed(options, |table| Arc::new(Turns(table))).await?;
        server.table.remember();
        let bearer = |kind, subject: &str, groups: &[&str], operator| {
            Bearer::new(&token(&server.issuer, kind, subject, groups, operator)?)
        };
        let agent = bearer(Kind::Agent, "agent", &[], false)?;
        let person = bearer(Kind::Person, "reader@example.com", &[GROUP], false)?;
        let operator = bearer(Kind::Agent, "operator", &[], true)?;
        let connection = Connection::open(&server.mcp).await?;
        Ok(Desk { server, connection, agent, person, operator, rows: Vec::new() })
    }

    async fn play(&mut self, run_data_bytes: usize) -> anyhow::Result<Counted> {
        self.row(Who::Operator, "import_process", "", write(json!({ "source": PROCESS }))).await?;
        let publish = json!({ "name": NAME, "roles": { "reader": GROUP } });
        self.row(Who::Operator, "publish_process", "", write(publish)).await?;
        // The first start reads the version, which is in memory from then on, and tells how large run data is beside the
        // text.
        let started = self.call(Who::Agent, "start_run", "", start(1)).await?.0;
        let beside = serde_json::to_string(at(&started, "/data"))?.len() - 1;
        let fill = run_data_bytes.checked_sub(beside).context("run data is larger than that without any text")?;

        self.row(Who::Agent, "describe", "", json!({})).await?;
        self.row(Who::Agent, "list_processes", "", json!({})).await?;
        self.row(Who::Operator, "get_process", "", json!({ "name": NAME })).await?;
        let started = self.row(Who::Agent, "start_run", "", start(fill)).await?;
        let found = serde_json::to_string(at(&started, "/data"))?.len();
        ensure!(found == run_data_bytes, "run data has {found} bytes, not {run_data_bytes}");
        let run = text(at(&started, "/run/id"))?;
        self.row(Who::Agent, "get_run", "", json!({ "runId": run })).await?;
        self.row(Who::Agent, "get_work", "of an agent", json!({})).await?;
        self.row(Who::Agent, "list_runs", "of one", json!({ "process": NAME, "limit": 1 })).await?;

        let mut steps = Vec::new();
        let (claim, token) = self.claim(&run, "draft").await?;
        self.rows.push(claim.clone());
        let (submit, _) = self.submit(&token, "an agent is next", json!([])).await?;
        steps.push(Step { next: "an agent", notice: false, claim, submit });

        let file = json!({ "fileName": "found.txt", "contentType": "text/plain", "contentBase64": "Tm90aGluZy4=" });
        let stored = self.row(Who::Agent, "upload", "", write(file)).await?;
        let (_, token) = self.claim(&run, "review").await?;
        self.submit(&token, "with a file", json!([{ "kind": "file", "ref": at(&stored, "/id") }])).await?;

        let (claim, token) = self.claim(&run, "settle").await?;
        let (submit, view) = self.submit(&token, "a person is next", json!([])).await?;
        steps.push(Step { next: "a person", notice: true, claim, submit });
        let filing = self.file_notices(&run).await?;
        self.row(Who::Person, "get_work", "of a person", json!({})).await?;
        let item = at(&view, "/workItems/0");
        let decision = json!({
            "runId": run, "workItemId": at(item, "/id"), "snapshot": at(item, "/snapshot"), "decision": "approved",
        });
        self.row(Who::Person, "decide", "", write(decision)).await?;

        let (claim, token) = self.claim(&run, "print").await?;
        let (submit, _) = self.submit(&token, "with due times", json!([])).await?;
        steps.push(Step { next: "an agent, both with due times", notice: false, claim, submit });
        let (_, token) = self.claim(&run, "pack").await?;
        self.submit_uncounted(&token).await?;
        self.row(Who::Agent, "send_event", "", write(json!({ "runId": run, "name": "posted" }))).await?;
        self.end_wait(&run).await?;

        // A second run of that size is given up on.
        let started = self.call(Who::Agent, "start_run", "", start(fill)).await?.0;
        let other = text(at(&started, "/run/id"))?;
        let (_, token) = self.claim(&other, "draft").await?;
        let renewed = self.row(Who::Agent, "renew", "", write(json!({ "token": token, "progress": "Half." }))).await?;
        let escalation = json!({ "token": at(&renewed, "/token"), "note": "The text is blank." });
        self.row(Who::Agent, "escalate", "", write(escalation)).await?;
        self.row(Who::Operator, "cancel", "", write(json!({ "runId": other, "reason": "Nothing to do." }))).await?;
        Ok(Counted { calls: std::mem::take(&mut self.rows), steps, filing })
    }

    /// Calls a tool, which must accept, and says what that asked.
    async fn call(
        &mut self,
        who: Who,
        tool: &'static str,
        case: &'static str,
        arguments: Value,
    ) -> anyhow::Result<(Value, ToolStorage)> {
        let bearer = match who {
            Who::Agent => &self.agent,
            Who::Person => &self.person,
            Who::Operator => &self.operator,
        };
        let before = self.server.table.totals();
        let answer = self.connection.call::<Value>(bearer, tool, arguments).await?;
        let mut counted = ToolStorage::between(tool, case, &before, &self.server.table.totals());
        counted.request_bytes = answer.request_bytes as u64;
        counted.answer_bytes = answer.answer_bytes as u64;
        Ok((answer.data, counted))
    }

    /// The same, as a row of the table.
    async fn row(
        &mut self,
        who: Who,
        tool: &'static str,
        case: &'static str,
        arguments: Value,
    ) -> anyhow::Result<Value> {
        let (data, counted) = self.call(who, tool, case, arguments).await?;
        self.rows.push(counted);
        Ok(data)
    }

    async fn claim(&mut self, run: &str, step: &str) -> anyhow::Result<(ToolStorage, Value)> {
        let arguments = write(json!({ "runId": run, "stepId": step }));
        let (claimed, counted) = self.call(Who::Agent, "claim", "", arguments).await?;
        Ok((counted, at(&claimed, "/token").clone()))
    }

    /// Submits a step's answer, as a row.
    async fn submit(
        &mut self,
        token: &Value,
        case: &'static str,
        evidence: Value,
    ) -> anyhow::Result<(ToolStorage, Value)> {
        let (view, counted) = self.call(Who::Agent, "submit", case, submission(token, evidence)).await?;
        self.rows.push(counted.clone());
        Ok((counted, view))
    }

    async fn submit_uncounted(&mut self, token: &Value) -> anyhow::Result<()> {
        self.call(Who::Agent, "submit", "", submission(token, json!([]))).await.map(drop)
    }

    /// Files the one notice that the run left, as a sweep does once the bus has taken it.
    async fn file_notices(&mut self, run: &str) -> anyhow::Result<ToolStorage> {
        let before = self.server.table.totals();
        let unsent = self.server.store.unsent(keys::shard(run)).await.map_err(|e| anyhow!("{e:?}"))?;
        ensure!(unsent.len() == 1, "{} notices are to be sent, not 1", unsent.len());
        self.server.store.sent_all(&unsent).await.map_err(|e| anyhow!("{e:?}"))?;
        let filing = ToolStorage::between("sweeper", "files a notice", &before, &self.server.table.totals());
        self.rows.push(filing.clone());
        Ok(filing)
    }

    /// Lets the run's wait pass, and its timer fire.
    async fn end_wait(&mut self, run: &str) -> anyhow::Result<()> {
        tokio::time::sleep(WAIT).await;
        let before = self.server.table.totals();
        self.server.store.tick(ORG, run).await.map_err(|e| anyhow!("{e:?}"))?;
        self.rows.push(ToolStorage::between("timer", "ends a wait", &before, &self.server.table.totals()));
        let (view, _) = self.call(Who::Agent, "get_run", "", json!({ "runId": run })).await?;
        ensure!(at(&view, "/run/outcome") == "done", "the run did not end: {}", at(&view, "/run"));
        Ok(())
    }
}

impl ToolStorage {
    /// What was counted between two looks; nothing is known of the wire.
    pub(in crate::bench) fn between(tool: &'static str, case: &'static str, before: &Meter, after: &Meter) -> Self {
        ToolStorage {
            tool,
            case,
            calls: after.calls - before.calls,
            rounds: after.rounds - before.rounds,
            writes: after.transactions > before.transactions,
            operations: after.operations - before.operations,
            bytes_read: after.bytes_read - before.bytes_read,
            bytes_written: after.bytes_written - before.bytes_written,
            read_units: after.read_units - before.read_units,
            write_units: after.write_units - before.write_units,
            object_puts: after.object_puts - before.object_puts,
            object_gets: after.object_gets - before.object_gets,
            request_bytes: 0,
            answer_bytes: 0,
        }
    }
}

fn text(value: &Value) -> anyhow::Result<String> {
    value.as_str().map(str::to_owned).with_context(|| format!("{value} is no text"))
}

/// The arguments of a write: a request of its own.
fn write(arguments: Value) -> Value {
    Value::Object(requested(arguments))
}

fn start(text_bytes: usize) -> Value {
    write(json!({ "process": NAME, "inputs": { "text": "x".repeat(text_bytes) } }))
}

fn submission(token: &Value, evidence: Value) -> Value {
    write(json!({
        "token": token,
        "output": { "answer": "Eleven metres, measured with a line and a stone." },
        "summary": "Measured twice from the rim; the second line was dry to the same knot.",
        "evidence": evidence,
    }))
}
