//! What may be asked of a run, by whom, under which limits; and what comes of it.

use std::collections::BTreeMap;

use process::Document;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    Attempt, Evaluation, Event, Evidence, EvidenceFile, GraphInquiry, GraphStanding, Inquiry, Mode, Run, Time,
};

/// Everything about a run that a decision is made from, apart from the run: all of it fixed for the run's life, or
/// configuration.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The version of the process that the run keeps.
    pub document: &'a Document,
    /// Role name to group id, bound at publication.
    pub roles: &'a BTreeMap<String, String>,
    /// The group that escalations are assigned to.
    pub operators_group: &'a str,
    /// The server's limits.
    pub limits: Limits,
}

/// The limits that bound a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// Most bytes of run data (core §6.3), counted by [`crate::data_bytes`].
    pub run_data_bytes: usize,
    /// How long a claim lasts, in seconds.
    pub lease_seconds: u64,
    /// `checkPass`: the probability of yes at or above which a question passes that does not say (check-1).
    pub check_pass: f64,
    /// `checkFail`: the probability of yes below which a question fails that does not say; without one, whatever does
    /// not pass fails (check-1).
    pub check_fail: Option<f64>,
    /// `checkConfidence`: the confidence below which an answer is unsure to a question that does not say (check-1).
    pub check_confidence: f64,
    /// `checkStateBytes`: most bytes of run data that an evaluator is shown, as JSON (check-1).
    pub check_state_bytes: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            run_data_bytes: 262_144,
            lease_seconds: 600,
            check_pass: process::limits::CHECK_PASS_PROBABILITY,
            check_fail: None,
            check_confidence: 0.8,
            check_state_bytes: 65_536,
        }
    }
}

/// Whether an identity is a program or a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ActorKind {
    /// A program.
    Agent,
    /// A human identity.
    Person,
}

/// Who is asking, as far as a run cares. The organization was settled before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The subject: what `by` records.
    pub subject: String,
    /// Program or person.
    pub kind: ActorKind,
    /// The groups the subject is a member of at this moment.
    pub groups: Vec<String>,
    /// Whether the token carries the operator right.
    pub operator: bool,
    /// The `person` value, compared without case.
    pub person: Option<String>,
    /// Whether authentication established that this is the person, at a client through which people act (core §6.4).
    pub may_decide: bool,
}

/// A claim token that verified: what it names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    /// The step.
    pub step: String,
    /// The step's attempt.
    pub attempt: u32,
    /// The lease of the attempt.
    pub lease: u32,
    /// The subject it was given to.
    pub subject: String,
}

/// A submission (core §6.3).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Submission {
    /// The fields; `None` when a person sent none, which stands for the candidate where there is one (check-1).
    pub output: Option<Map<String, Value>>,
    /// What is attached.
    pub evidence: Vec<Cited>,
    /// What was done and found.
    pub summary: Option<String>,
    /// The chosen route.
    pub next: Option<String>,
    /// Why that route.
    pub reason: Option<String>,
    /// What an evaluator said of it, once it was asked ([`Fault::Check`]).
    pub evaluation: Option<Box<Evaluation>>,
    /// Where the step's graph stands with it, once that was evaluated ([`Fault::Graph`]).
    pub standing: Option<Box<GraphStanding>>,
    /// What the server found out about the evidence of the candidate that this adopts, in its order ([`Command::adopts`]).
    pub adopted: Option<Vec<Cited>>,
}

/// An evidence item as cited, with what the server found out about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cited {
    /// A link, recorded as stated.
    Link(String),
    /// A file of this organization whose stored bytes match their recorded hash.
    File(EvidenceFile),
    /// An upload id that this organization does not have.
    Missing(String),
    /// A file whose stored bytes do not match their recorded hash any more.
    Altered(String),
}

/// What may be asked of a run that has started.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// `claim`
    Claim {
        /// The step.
        step: String,
    },
    /// `renew`
    Renew {
        /// The verified token.
        token: Claimed,
        /// A note of what is done so far.
        progress: Option<String>,
    },
    /// `submit`
    Submit {
        /// The verified token.
        token: Claimed,
        /// The work.
        submission: Submission,
    },
    /// `escalate`
    Escalate {
        /// The verified token.
        token: Claimed,
        /// Why.
        note: String,
    },
    /// `decide`
    Decide {
        /// The work item.
        item: String,
        /// The snapshot the person saw.
        snapshot: String,
        /// The decision with what it carries.
        decision: Decision,
    },
    /// `cancel`
    Cancel {
        /// Why.
        reason: String,
    },
    /// `send_event`
    SendEvent {
        /// The event's name.
        name: String,
        /// Its data; `{}` when none was given.
        data: Map<String, Value>,
    },
    /// A timer fired, or time passed: apply what is due.
    Tick,
}

impl Command {
    /// The evidence of the candidate that the command adopts, in this run; nothing when it adopts none. Its files were
    /// verified when they were submitted, and are to be verified anew ([`Submission::adopted`]).
    pub fn adopts<'r>(&self, run: &'r Run) -> &'r [Evidence] {
        let Command::Decide { item, decision: Decision::Completed(Submission { output: None, .. }), .. } = self else {
            return &[];
        };
        let escalation = run.open_item(item).and_then(|(_, item)| item.escalation.as_ref());
        escalation.and_then(|e| e.candidate.as_deref()).map_or(&[], |candidate| &candidate.evidence)
    }

    /// Adds what the server found out about the evidence that the command adopts; nothing on a command that adopts none.
    pub fn verified(&mut self, cited: Vec<Cited>) {
        if let Command::Decide { decision: Decision::Completed(submission), .. } = self {
            submission.adopted = Some(cited);
        }
    }

    /// Adds where the step's graph stands with the submission; nothing on a command that no graph is asked about.
    pub fn stands(&mut self, standing: GraphStanding) {
        if let Command::Submit { submission, .. } = self {
            submission.standing = Some(Box::new(standing));
        }
    }

    /// Adds what an evaluator said of the command's submission; nothing on a command that has none.
    pub fn evaluated(&mut self, evaluation: &Evaluation) {
        if let Command::Submit { submission, .. } | Command::Decide { decision: Decision::Completed(submission), .. } =
            self
        {
            submission.evaluation = Some(Box::new(evaluation.clone()));
        }
    }
}

/// A person's decision (core §3.4).
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// A task, or an escalated step in the agent's place.
    Completed(Submission),
    /// An approval, with a note or without.
    Approved(Option<String>),
    /// A rejection with its note.
    Rejected(String),
    /// An escalated step goes back, with a note.
    Returned(String),
    /// The run fails, with a note.
    Failed(String),
}

/// What starts a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// The new run's id.
    pub id: String,
    /// The version number of the process.
    pub version: u64,
    /// The inputs.
    pub inputs: Map<String, Value>,
    /// Live or test.
    pub mode: Mode,
}

/// A write that was decided on: to be committed whole, or not at all.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The run after it. Its `rev` is the one before when no event happened.
    pub run: Run,
    /// The time of the entry.
    pub at: Time,
    /// The entry's events; none when only an attempt changes.
    pub events: Vec<Event>,
    /// Attempts to write (`Some`) or remove (`None`), by step.
    pub attempts: BTreeMap<String, Option<Attempt>>,
    /// What the caller is told beside the run view.
    pub reply: Reply,
}

impl Change {
    /// Whether there is nothing to commit.
    pub fn is_empty(&self) -> bool {
        self.events.is_empty() && self.attempts.is_empty()
    }
}

/// What a command answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The run view.
    View,
    /// A lease on a step: `claim` and `renew`.
    Leased {
        /// The step.
        step: String,
        /// The step's attempt.
        attempt: u32,
        /// The lease's serial.
        lease: u32,
        /// When it ends.
        expires_at: Time,
    },
    /// Who consumed the event, `None` when it is held.
    Sent {
        /// The wait's step.
        consumed_by: Option<String>,
    },
}

/// The closed set of error codes (core §4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum Code {
    /// Bad arguments: fix the call.
    Invalid,
    /// The submission broke a rule: fix the work.
    NotAccepted,
    /// The token, claim or snapshot is no longer current: read again.
    Stale,
    /// Someone else holds it, or it is already decided: move on.
    Conflict,
    /// Not allowed for this identity.
    Forbidden,
    /// No such thing in this organization.
    NotFound,
    /// A passing state of the server: try again with the same `requestId`.
    Retry,
}

impl Code {
    /// All codes.
    pub const ALL: [Code; 7] =
        [Code::Invalid, Code::NotAccepted, Code::Stale, Code::Conflict, Code::Forbidden, Code::NotFound, Code::Retry];

    /// The word on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::Invalid => "invalid",
            Code::NotAccepted => "not_accepted",
            Code::Stale => "stale",
            Code::Conflict => "conflict",
            Code::Forbidden => "forbidden",
            Code::NotFound => "not_found",
            Code::Retry => "retry",
        }
    }
}

/// A command that was refused. The run does not change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The code.
    pub code: Code,
    /// What is wrong and what to do next.
    pub message: String,
    /// Every issue, in order; may be empty.
    pub issues: Vec<String>,
    /// The one trace a refused submission leaves: the attempt with its issues, by step.
    pub attempt: Option<Box<(String, Attempt)>>,
}

/// Why a command did not lead to a change.
#[derive(Debug, Clone, PartialEq)]
pub enum Fault {
    /// It was refused, for a reason the caller can read.
    Refused(Refusal),
    /// The submission meets the objective rules, and its step's questions must be answered first: ask an evaluator, and
    /// decide again with what it says in the submission.
    Check(Box<Inquiry>),
    /// The step's graph must be complete: evaluate it, and decide again with where it stands in the submission (graph-1).
    Graph(Box<GraphInquiry>),
    /// The run and its process contradict each other: a state that cannot be. For the operator, not the caller.
    Invariant(String),
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Fault {
        Fault::Refused(refusal)
    }
}

impl Refusal {
    /// A refusal without issues.
    pub fn new(code: Code, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into(), issues: Vec::new(), attempt: None }
    }

    /// The same with these issues.
    #[must_use]
    pub fn issues(mut self, issues: Vec<String>) -> Refusal {
        self.issues = issues;
        self
    }

    /// The same with one issue.
    #[must_use]
    pub fn issue(self, issue: impl Into<String>) -> Refusal {
        self.issues(vec![issue.into()])
    }
}
