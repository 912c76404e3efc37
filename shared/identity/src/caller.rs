//! Who is calling: what a verified token says, and nothing else.

use serde::{Deserialize, Serialize};

/// The two kinds of identity: only people decide, only agents work agent steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A machine: an agent, a pipeline, another system.
    Agent,
    /// A human.
    Person,
}

impl Kind {
    /// The word used in tokens, configuration and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Agent => "agent",
            Kind::Person => "person",
        }
    }
}

/// A verified identity. Only [`crate::Verifier`] makes one from a token; tests build them field by field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The organization. Everything outside it does not exist for this caller.
    pub org: String,
    /// Who, within the organization: the token's `sub`.
    pub subject: String,
    /// Agent or person.
    pub kind: Kind,
    /// Groups the caller is in, as the issuer names them.
    pub groups: Vec<String>,
    /// Whether the token carries the operator right.
    pub operator: bool,
    /// The `person` value that names this caller in run data: an e-mail address by default. `None` when the token names
    /// none, or says that the address was not verified. Compared without case, by the run.
    pub person: Option<String>,
    /// The client the token was issued to.
    pub client: Option<String>,
    /// A person, through a client that the configuration lists for people.
    pub may_decide: bool,
}
