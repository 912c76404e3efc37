//! What a `requestId` did: enough to give the first answer again, and to know another call from the same one.

use run::{Overlay, Refusal, Time};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::Error;
use crate::guided::GraphGiven;

/// A write as it was asked for.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    /// The caller's organization.
    pub org: &'a str,
    /// The caller.
    pub actor: &'a run::Actor,
    /// The tool.
    pub tool: &'static str,
    /// Unique in the organization; the caller's to choose.
    pub id: &'a str,
    /// SHA-256 over the canonical text of the arguments.
    pub digest: String,
}

impl<'a> Request<'a> {
    /// A request with these arguments.
    pub fn new(
        org: &'a str,
        actor: &'a run::Actor,
        tool: &'static str,
        id: &'a str,
        arguments: &Map<String, Value>,
    ) -> Request<'a> {
        Request { org, actor, tool, id, digest: run::digest(&Value::Object(arguments.clone())) }
    }

    /// Who asks, program and person told apart.
    pub fn caller(&self) -> String {
        let kind = match self.actor.kind {
            run::ActorKind::Agent => "agent",
            run::ActorKind::Person => "person",
        };
        format!("{kind}:{}", self.actor.subject)
    }
}

/// The stored record of an accepted write.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// Who asked.
    pub caller: String,
    /// Which tool.
    pub tool: String,
    /// The digest of the arguments.
    pub digest: String,
    /// When it was accepted.
    pub at: Time,
    /// What it did.
    pub did: Did,
}

/// What an accepted write did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Did {
    /// It moved a run, or a lease on one of its steps.
    Run(RunWrite),
    /// It did something else whose small answer is kept whole.
    Other(Value),
}

/// What a write did to a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunWrite {
    /// The run.
    pub run: String,
    /// The revision the answer shows.
    pub rev: u64,
    /// What the answer shows beside the journal.
    #[serde(default)]
    pub overlay: Overlay,
    /// Set on a lease.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<LeaseGiven>,
    /// Set on a claim of a step that a graph guides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<GraphGiven>,
    /// Set on an event: the step that consumed it, null when it is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<Sent>,
}

/// A lease as it was given out: all that its token is made of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LeaseGiven {
    /// The step.
    pub step: String,
    /// The step's attempt.
    pub attempt: u32,
    /// The lease's serial.
    pub lease: u32,
    /// When it ends.
    pub expires_at: Time,
    /// The id of the key that sealed its token.
    pub key: String,
}

/// Where an event went.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Sent {
    /// The wait that took it.
    pub consumed_by: Option<String>,
}

impl Record {
    /// A record of this request.
    pub fn of(request: &Request<'_>, at: Time, did: Did) -> Record {
        Record { caller: request.caller(), tool: request.tool.to_owned(), digest: request.digest.clone(), at, did }
    }

    /// Whether the request is the recorded one.
    ///
    /// # Errors
    ///
    /// `conflict` when the id was used with other arguments, for another tool, or by somebody else (core §4).
    pub fn same(&self, request: &Request<'_>) -> Result<(), Error> {
        let what = if self.caller != request.caller() {
            "by another caller"
        } else if self.tool != request.tool {
            "for another tool"
        } else if self.digest != request.digest {
            "with other arguments"
        } else {
            return Ok(());
        };
        let message = format!("This requestId was already used {what}. Make a new UUID for every new call.");
        Err(Refusal::new(run::Code::Conflict, message).issue("request_id_reused").into())
    }
}
