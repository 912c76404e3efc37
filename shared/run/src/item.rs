//! Work items: what is open for a person, for whom, and why (core §3.4).

use serde::{Deserialize, Serialize};

use crate::{Candidate, Time, Verdict};

/// An open work item (core §3.4).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// Its id, new for every attempt and every escalation.
    pub id: String,
    /// Who may decide it, fixed when the item was made.
    pub assigned: Assigned,
    /// When it was made.
    pub since: Time,
    /// Set on an escalated step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalation: Option<Escalation>,
}

/// Who a work item is assigned to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Assigned {
    /// Any member of this group.
    Group(String),
    /// The person with this `person` value.
    Person(String),
}

/// What somebody said, who and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct Note {
    /// What they said.
    pub note: String,
    /// Who.
    pub by: String,
    /// When.
    pub at: Time,
}

/// Why a step waits on a person of the operators group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Escalation {
    /// What the agent said, or what the check could not tell.
    pub note: String,
    /// The agent, or whoever submitted what the check was unsure of.
    pub by: String,
    /// When.
    pub at: Time,
    /// Set when a check was unsure: its verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Box<Verdict>>,
    /// Set when a check was unsure: what was submitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<Box<Candidate>>,
}
