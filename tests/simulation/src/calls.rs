//! Clients' calls: made on some server, repeated with the same `requestId` until they are answered, sometimes doubled,
//! sometimes made again much later. Every answer goes to the checker.

use std::sync::Arc;

use run::{Actor, ActorKind, Command, Decision, Mode, Submission};
use serde_json::{Map, Value, json};
use store::{Error, EvidenceRef, Request, Store};

use crate::World;
use crate::check::Making;
use crate::evaluator::on_behalf;
use crate::graphs::GraphAct;

/// Most often that a client repeats a call that is not answered.
const REPEATS: usize = 12;

/// One write, as its client means it.
#[derive(Debug, Clone)]
pub struct Call {
    /// The organization.
    pub org: &'static str,
    /// Who.
    pub actor: Actor,
    /// The `requestId`.
    pub id: String,
    /// What.
    pub act: Act,
}

/// What a call asks for.
#[derive(Debug, Clone)]
pub enum Act {
    /// Import a PROCESS.md.
    Import(String),
    /// Publish a process, its roles bound.
    Publish(String),
    /// `start_run`
    Start {
        /// The process.
        process: String,
        /// Its inputs.
        inputs: Map<String, Value>,
        /// Live or test.
        mode: Mode,
    },
    /// `claim`
    Claim {
        /// The run.
        run: String,
        /// The step.
        step: String,
    },
    /// `renew`
    Renew {
        /// The token.
        token: String,
        /// A note.
        progress: Option<String>,
    },
    /// `submit`
    Submit {
        /// The token.
        token: String,
        /// The work; its evidence is in `evidence`.
        submission: Submission,
        /// What is cited.
        evidence: Vec<EvidenceRef>,
    },
    /// `escalate`
    Escalate {
        /// The token.
        token: String,
        /// Why.
        note: String,
    },
    /// `decide`
    Decide {
        /// The run.
        run: String,
        /// The item.
        item: String,
        /// The snapshot.
        snapshot: String,
        /// The decision; its evidence is in `evidence`.
        decision: Decision,
        /// What is cited.
        evidence: Vec<EvidenceRef>,
    },
    /// `send_event`
    Send {
        /// The run.
        run: String,
        /// The name.
        name: String,
        /// The data.
        data: Map<String, Value>,
    },
    /// `cancel`
    Cancel {
        /// The run.
        run: String,
        /// Why.
        reason: String,
    },
    /// `upload`
    Upload(String),
    /// Something about Graphs.
    Graph(GraphAct),
}

/// How a call was answered.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// With this result, links aside.
    Done(Value),
    /// Refused, with this code and these issues.
    Refused(String, Vec<String>),
    /// Not at all, or with `retry`: what it did is not known.
    Nothing,
}

impl Answer {
    /// The result.
    pub fn done(&self) -> Option<&Value> {
        match self {
            Answer::Done(value) => Some(value),
            _ => None,
        }
    }
}

impl Act {
    /// The tool.
    pub fn tool(&self) -> &'static str {
        match self {
            Act::Import(_) => "import_process",
            Act::Publish(_) => "publish_process",
            Act::Start { .. } => "start_run",
            Act::Claim { .. } => "claim",
            Act::Renew { .. } => "renew",
            Act::Submit { .. } => "submit",
            Act::Escalate { .. } => "escalate",
            Act::Decide { .. } => "decide",
            Act::Send { .. } => "send_event",
            Act::Cancel { .. } => "cancel",
            Act::Upload(_) => "upload",
            Act::Graph(act) => act.tool(),
        }
    }
}

/// Makes a call until it is answered, and tells the checker of every answer.
pub async fn insist(world: &Arc<World>, call: &Call) -> Answer {
    if world.chance(if world.stormy() { 100 } else { 0 }) {
        // An impatient client: the same call twice at once.
        let (a, b) = futures::join!(insist_once(world, call), insist_once(world, call));
        return if matches!(a, Answer::Done(_)) { a } else { b };
    }
    insist_once(world, call).await
}

async fn insist_once(world: &Arc<World>, call: &Call) -> Answer {
    for _ in 0..REPEATS {
        match once(world, call).await {
            Answer::Nothing => world.sleep(500).await,
            answer => return answer,
        }
        if world.is_broken() {
            break;
        }
    }
    Answer::Nothing
}

/// Makes a call once.
pub async fn once(world: &Arc<World>, call: &Call) -> Answer {
    let server = world.server();
    world.counted();
    let making = world.checker().made(call);
    let name = format!("{}/{} {} {}", call.org, call.id, call.actor.subject, call.act.tool());
    world.note(|| format!("{name} on server {}: {:?}", server.number, call.act));
    let done = server.call(async |store| on_behalf(making.clone(), perform(world, &store, call, &making)).await).await;
    let answer = match done {
        None => Answer::Nothing,
        Some(Ok(value)) => Answer::Done(without_links(value)),
        Some(Err(Error::Refused(r))) if r.code == run::Code::Retry => {
            world.checker().unanswered(&making).into_iter().for_each(|what| world.violated(what));
            Answer::Nothing
        }
        Some(Err(Error::Refused(r))) => Answer::Refused(format!("{:?}", r.code), r.issues),
        Some(Err(Error::Retry(_))) => Answer::Nothing,
        Some(Err(Error::Invariant(why))) => {
            world.violated(format!("{name} met a state that cannot be: {why}"));
            Answer::Nothing
        }
    };
    world.note(|| match &answer {
        Answer::Done(_) => format!("{name}: done"),
        other => format!("{name}: {other:?}"),
    });
    let found = world.checker().answered(call, &making, &answer);
    found.into_iter().for_each(|what| world.violated(what));
    answer
}

pub(crate) fn without_links(mut value: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(map) => {
                map.remove("url");
                map.values_mut().for_each(strip);
            }
            Value::Array(list) => list.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut value);
    value
}

fn refs(list: &[EvidenceRef]) -> Value {
    list.iter().map(|e| format!("{e:?}")).collect()
}

fn submitted(s: &Submission) -> Value {
    json!([s.output, s.summary, s.next, s.reason])
}

fn arguments(act: &Act) -> Map<String, Value> {
    let list = match act {
        Act::Import(text) | Act::Publish(text) | Act::Upload(text) => json!([text]),
        Act::Start { process, inputs, mode } => json!([process, inputs, mode]),
        Act::Claim { run, step } => json!([run, step]),
        Act::Renew { token, progress } => json!([token, progress]),
        Act::Submit { token, submission, evidence } => json!([token, submitted(submission), refs(evidence)]),
        Act::Escalate { token, note } => json!([token, note]),
        Act::Decide { run, item, snapshot, decision, evidence } => {
            json!([run, item, snapshot, format!("{decision:?}"), refs(evidence)])
        }
        Act::Send { run, name, data } => json!([run, name, data]),
        Act::Cancel { run, reason } => json!([run, reason]),
        Act::Graph(act) => act.arguments(),
    };
    Map::from_iter([("arguments".to_owned(), list)])
}

async fn perform(world: &World, store: &Store, call: &Call, making: &Making) -> Result<Value, Error> {
    let Call { org, actor, id, act } = call;
    let request = Request::new(org, actor, act.tool(), id, &arguments(act));
    let no_evidence: &[EvidenceRef] = &[];
    let (run, evidence, token, command): (&str, &[EvidenceRef], Option<&str>, Command) = match act {
        Act::Import(source) => {
            return store.import(&request, source, None, |draft| json!([draft.document.name, draft.hash])).await;
        }
        Act::Publish(name) => {
            let source = crate::processes::PROCESSES.iter().find(|(n, _)| n == name).map_or("", |(_, s)| s);
            let roles = process::read(source.as_bytes())
                .document
                .map(|d| d.roles().iter().map(|r| ((*r).to_owned(), crate::processes::group(r))).collect());
            return store
                .publish(&request, name, &roles.unwrap_or_default(), |v| json!([v.document.name, v.number, v.hash]))
                .await;
        }
        Act::Upload(base64) => {
            return store.upload(&request, "a.txt", "text/plain", base64).await.map(Value::from);
        }
        Act::Graph(act) => return act.perform(store, &request).await,
        Act::Start { process, inputs, mode } => {
            let written = store.start(&request, process, None, inputs.clone(), *mode).await?;
            return Ok(serde_json::to_value(store.written_view(org, &written).await?).unwrap());
        }
        Act::Claim { run, step } => (run, no_evidence, None, Command::Claim { step: step.clone() }),
        Act::Renew { token, progress } => {
            let claim = store.claimed(org, token)?;
            let command = Command::Renew { token: claim.claimed(), progress: progress.clone() };
            ("", no_evidence, Some(token), command)
        }
        Act::Submit { token, submission, evidence } => {
            let command =
                Command::Submit { token: store.claimed(org, token)?.claimed(), submission: submission.clone() };
            ("", evidence, Some(token), command)
        }
        Act::Escalate { token, note } => {
            let command = Command::Escalate { token: store.claimed(org, token)?.claimed(), note: note.clone() };
            ("", no_evidence, Some(token), command)
        }
        Act::Decide { run, item, snapshot, decision, evidence } => {
            let command =
                Command::Decide { item: item.clone(), snapshot: snapshot.clone(), decision: decision.clone() };
            (run, evidence, None, command)
        }
        Act::Send { run, name, data } => {
            (run, no_evidence, None, Command::SendEvent { name: name.clone(), data: data.clone() })
        }
        Act::Cancel { run, reason } => (run, no_evidence, None, Command::Cancel { reason: reason.clone() }),
    };
    let of_token = token.map(|t| store.claimed(org, t)).transpose()?;
    let run = of_token.as_ref().map_or(run, |claim| claim.run.as_str());
    let step = of_token.as_ref().map(|claim| claim.claimed().step);
    world.checker().meant(making, run, step.as_deref());
    let written = store
        .write(&request, run, evidence, |cited| {
            let mut command = command.clone();
            match &mut command {
                Command::Submit { submission, .. }
                | Command::Decide { decision: Decision::Completed(submission), .. } => submission.evidence = cited,
                _ => {}
            }
            command
        })
        .await?;
    let view = serde_json::to_value(store.written_view(org, &written).await?).unwrap();
    if written.lease.is_some() {
        let (token, expires_at) = store.token(org, actor, &written)?;
        return Ok(json!({ "token": token, "expiresAt": expires_at, "view": view }));
    }
    Ok(match written.sent {
        Some(sent) => json!({ "consumedBy": sent.consumed_by, "view": view }),
        None => view,
    })
}

/// An agent identity.
pub fn agent(subject: &str, operator: bool) -> Actor {
    Actor {
        subject: subject.to_owned(),
        kind: ActorKind::Agent,
        groups: Vec::new(),
        operator,
        person: None,
        may_decide: false,
    }
}

/// A person of these groups.
pub fn person(subject: &str, groups: &[&str], operator: bool) -> Actor {
    Actor {
        subject: subject.to_owned(),
        kind: ActorKind::Person,
        groups: groups.iter().map(|g| (*g).to_owned()).collect(),
        operator,
        person: Some(format!("{subject}@example.com")),
        may_decide: true,
    }
}
