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
    /// none, or says that the address was not verified. Compared by [`same_person`].
    pub person: Option<String>,
    /// The client the token was issued to.
    pub client: Option<String>,
    /// A person, through a client that the configuration lists for people.
    pub may_decide: bool,
}

impl Caller {
    /// Whether a `person` value of run data names this caller.
    pub fn is_person(&self, value: &str) -> bool {
        self.person.as_deref().is_some_and(|own| same_person(own, value))
    }

    /// Whether the caller is a member of the group. Group ids are compared exactly.
    pub fn in_group(&self, group: &str) -> bool {
        self.groups.iter().any(|own| own == group)
    }
}

/// Whether two `person` values name one person: surrounding blanks and letter case aside.
pub fn same_person(left: &str, right: &str) -> bool {
    left.trim().to_lowercase() == right.trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_are_compared_without_case() {
        for (left, right, same) in [
            ("mira@acme.example", "Mira@ACME.example", true),
            (" mira@acme.example", "mira@acme.example ", true),
            ("jörg@acme.example", "JÖRG@acme.example", true),
            ("mira@acme.example", "mira@acme.example.evil", false),
            ("mira", "mina", false),
        ] {
            assert_eq!(same_person(left, right), same, "{left} and {right}");
        }
    }

    #[test]
    fn a_caller_without_a_person_value_is_nobody() {
        let caller = Caller {
            org: "acme".into(),
            subject: "u_mira".into(),
            kind: Kind::Person,
            groups: vec!["g_finance".into()],
            operator: false,
            person: None,
            client: None,
            may_decide: false,
        };
        assert!(!caller.is_person(""));
        assert!(!caller.is_person("u_mira"));
        assert!(caller.in_group("g_finance"));
        assert!(!caller.in_group("G_FINANCE"));
    }
}
