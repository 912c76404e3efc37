//! Which tool is open to which caller, as far as the caller alone decides it. Pure.
//!
//! Membership in a work item's group, the holder of a claim and the organization are not here: they need the run. Some
//! tools must say other things before they say `forbidden`; [`When`] carries that, so that no tool forgets the rule and
//! none applies it too early.

use crate::caller::{Caller, Kind};

/// Every tool, with the rule for it: those of processes first, then [`GRAPH_TOOLS`].
pub const TOOLS: [&str; 29] = [
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
    "publish_provider",
    "list_providers",
    "evaluate_graph",
    "get_route",
    "start_graph_run",
    "record_outcome",
    "set_facts",
    "set_authorities",
    "get_graph_run",
    "checkpoint_graph_run",
    "resume_graph_run",
    "locate_resource",
];

/// The tools of graphs.
pub const GRAPH_TOOLS: [&str; 12] = [
    "publish_provider",
    "list_providers",
    "evaluate_graph",
    "get_route",
    "start_graph_run",
    "record_outcome",
    "set_facts",
    "set_authorities",
    "get_graph_run",
    "checkpoint_graph_run",
    "resume_graph_run",
    "locate_resource",
];

/// Tools that only agents may use.
pub const AGENT_TOOLS: [&str; 4] = ["claim", "renew", "submit", "escalate"];

/// Tools that only operators may use.
pub const OPERATOR_TOOLS: [&str; 5] =
    ["cancel", "import_process", "publish_process", "get_process", "publish_provider"];

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
        "publish_provider" if !caller.operator => denied(When::First, "only an operator publishes providers of graphs"),
        "set_authorities" => may_give_authority(caller),
        "publish_provider"
        | "list_providers"
        | "evaluate_graph"
        | "get_route"
        | "start_graph_run"
        | "record_outcome"
        | "set_facts"
        | "get_graph_run"
        | "checkpoint_graph_run"
        | "resume_graph_run"
        | "locate_resource" => Ok(()),
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

/// Whether the caller may give a session authority, by which an agent resolves a Gate: a person who may decide, or an
/// operator. An agent never gives one to itself.
///
/// # Errors
/// The denial, always [`When::First`]: the authority alone is refused, whatever it was for.
pub fn may_give_authority(caller: &Caller) -> Result<(), Denied> {
    if caller.operator || may_decide(caller).is_ok() {
        return Ok(());
    }
    let message =
        "only a person who decides, or an operator, gives an authority; ask one of them to call set_authorities";
    Err(Denied { when: When::First, message })
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
    const TABLE: [(&str, &str); 29] = [
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
        ("publish_provider", "111yy"),
        ("list_providers", "yyyyy"),
        ("evaluate_graph", "yyyyy"),
        ("get_route", "yyyyy"),
        ("start_graph_run", "yyyyy"),
        ("record_outcome", "yyyyy"),
        ("set_facts", "yyyyy"),
        ("set_authorities", "1y1yy"),
        ("get_graph_run", "yyyyy"),
        ("checkpoint_graph_run", "yyyyy"),
        ("resume_graph_run", "yyyyy"),
        ("locate_resource", "yyyyy"),
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
        assert!(TOOLS.ends_with(&GRAPH_TOOLS));
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

    #[test]
    fn a_machine_without_the_operator_right_never_gives_an_authority() {
        assert!(may_give_authority(&caller(Kind::Agent, false, true)).is_err());
    }
}
