//! Which tool is open to which caller, as far as the caller alone decides it. Pure.
//!
//! Membership in a work item's group, the holder of a claim and the organization are not here: they need the run. Some
//! tools must say other things before they say `forbidden`; [`When`] carries that, so that no tool forgets the rule and
//! none applies it too early.

use crate::caller::{Caller, Kind};

/// Every tool, with the rule for it.
pub const TOOLS: [&str; 17] = [
    "describe",
    "list_processes",
    "start_run",
    "get_run",
    "get_work",
    "claim",
    "renew",
    "upload",
    "submit",
    "escalate",
    "decide",
    "cancel",
    "send_event",
    "list_runs",
    "import_process",
    "publish_process",
    "get_process",
];

/// Tools that only agents may use.
pub const AGENT_TOOLS: [&str; 4] = ["claim", "renew", "submit", "escalate"];

/// Tools that only operators may use.
pub const OPERATOR_TOOLS: [&str; 4] = ["cancel", "import_process", "publish_process", "get_process"];

/// When the denial is due in a tool's order of checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Before anything is read.
    First,
    /// Once the run is known to exist in the caller's organization and not to have ended: `not_found` and `run_ended` win.
    AfterRunEnded,
    /// At the place the tool's own order gives it: `claim` after an unknown step, `decide` after `run_ended`,
    /// `already_decided`, `not_found` and `stale`.
    InOrder,
}

/// A call that the caller may not make: the `forbidden` of the contracts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    /// When to say so.
    pub when: When,
    /// What is missing and who could do it.
    pub message: &'static str,
}

/// Whether the caller may use the tool at all.
///
/// # Errors
/// The denial, to be applied at the time that it names.
pub fn permit(tool: &str, caller: &Caller) -> Result<(), Denied> {
    let denied = |when, message| Err(Denied { when, message });
    match tool {
        "describe" | "list_processes" | "start_run" | "get_run" | "get_work" | "upload" | "list_runs" => Ok(()),
        "claim" if caller.kind != Kind::Agent => {
            denied(When::InOrder, "only an agent claims a step; a person finds their work items with get_work")
        }
        "renew" | "submit" | "escalate" if caller.kind != Kind::Agent => {
            denied(When::AfterRunEnded, "only the agent that claimed the step may do this; a person uses decide")
        }
        "claim" | "renew" | "submit" | "escalate" => Ok(()),
        "decide" => may_decide(caller),
        "send_event" if caller.kind == Kind::Agent || caller.operator => Ok(()),
        "send_event" => denied(When::AfterRunEnded, "events come from an agent or an operator"),
        "cancel" if !caller.operator => denied(When::AfterRunEnded, "only an operator cancels a run"),
        "import_process" | "publish_process" | "get_process" if !caller.operator => {
            denied(When::First, "only an operator imports, publishes or reads processes as files")
        }
        "cancel" | "import_process" | "publish_process" | "get_process" => Ok(()),
        // A tool that nobody wrote a rule for is open to nobody.
        _ => denied(When::First, "no rule opens this tool to anybody"),
    }
}

/// Whether the caller may decide work items: a person, through a client that is listed for people. The operator right
/// does not help a machine.
///
/// # Errors
/// The denial, always [`When::InOrder`].
pub fn may_decide(caller: &Caller) -> Result<(), Denied> {
    let denied = |message| Err(Denied { when: When::InOrder, message });
    if caller.kind != Kind::Person {
        denied("only a person decides")
    } else if !caller.may_decide {
        denied(
            "this token was issued to a client through which people do not act here; sign in with one that is listed",
        )
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caller(kind: Kind, operator: bool, may_decide: bool) -> Caller {
        Caller {
            org: "acme".into(),
            subject: "x".into(),
            kind,
            groups: vec![],
            operator,
            person: None,
            client: None,
            may_decide,
        }
    }

    /// One row a tool: agent, person, person through another client, operator person, operator machine.
    /// `y` allowed, `1` first, `r` after run_ended, `o` in the tool's order.
    const TABLE: [(&str, &str); 17] = [
        ("describe", "yyyyy"),
        ("list_processes", "yyyyy"),
        ("start_run", "yyyyy"),
        ("get_run", "yyyyy"),
        ("get_work", "yyyyy"),
        ("claim", "yoooy"),
        ("renew", "yrrry"),
        ("upload", "yyyyy"),
        ("submit", "yrrry"),
        ("escalate", "yrrry"),
        ("decide", "oyoyo"),
        ("cancel", "rrryy"),
        ("send_event", "yrryy"),
        ("list_runs", "yyyyy"),
        ("import_process", "111yy"),
        ("publish_process", "111yy"),
        ("get_process", "111yy"),
    ];

    #[test]
    fn the_table_holds_for_every_tool_and_caller() {
        let callers = [
            caller(Kind::Agent, false, false),
            caller(Kind::Person, false, true),
            caller(Kind::Person, false, false),
            caller(Kind::Person, true, true),
            caller(Kind::Agent, true, false),
        ];
        for (tool, row) in TABLE {
            let got: String = callers
                .iter()
                .map(|caller| match permit(tool, caller).map_err(|denied| denied.when) {
                    Ok(()) => 'y',
                    Err(When::First) => '1',
                    Err(When::AfterRunEnded) => 'r',
                    Err(When::InOrder) => 'o',
                })
                .collect();
            assert_eq!(got, row, "{tool}");
        }
        assert_eq!(TABLE.map(|(tool, _)| tool), TOOLS);
    }

    #[test]
    fn a_tool_without_a_rule_is_open_to_nobody() {
        for tool in ["", "Decide", "decide ", "drop_everything"] {
            assert!(permit(tool, &caller(Kind::Person, true, true)).is_err(), "{tool}");
        }
    }

    #[test]
    fn a_machine_never_decides_whatever_it_carries() {
        assert!(may_decide(&caller(Kind::Agent, true, true)).is_err());
    }
}
