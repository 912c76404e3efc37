//! Every write is known by its request id: a repetition gets the first answer, anything else under the id is refused.

use serde_json::{Value, json};

use crate::harness::{Org, item, refused, refused_as, scenarios, without_urls};

scenarios! {
    any: [
        every_write_replays_its_first_answer_after_the_run_moved_on,
        a_request_id_belongs_to_its_arguments,
        a_request_id_belongs_to_its_tool_and_caller,
        key_order_aside_arguments_are_compared_by_their_text,
        a_failed_call_is_not_recorded,
        organizations_do_not_share_request_ids,
    ],
}

const PROCESS: &str = "
inputs: { n: number }
steps:
  - { id: work, agent: Work., evidence: [file] }
  - { id: hard, agent: Work hard. }
  - { id: sign, approve: Sign it., person: boss, on_reject: work }
  - { id: signal, wait_for: signal }
  - { id: tail, agent: Tail. }
  - { id: end, finish: over }
";

/// Makes every kind of write once, and remembers call and answer.
struct Made<'a> {
    org: &'a Org,
    calls: Vec<(&'static str, &'static str, Value, Value)>,
}

impl Made<'_> {
    fn make(&mut self, who: &'static str, tool: &'static str, mut arguments: Value) -> Value {
        arguments["requestId"] = json!(format!("{tool}-{}", self.calls.len()));
        let answer = client(self.org, who).ok(tool, arguments.clone());
        self.calls.push((who, tool, arguments, answer.clone()));
        answer
    }
}

fn client<'a>(org: &'a Org, who: &str) -> &'a crate::harness::Client {
    match who {
        "agent" => &org.agent,
        "operator" => &org.operator,
        _ => &org.staff,
    }
}

fn every_write_replays_its_first_answer_after_the_run_moved_on(org: &Org) {
    let mut made = Made { org, calls: Vec::new() };
    let source = crate::harness::file("moves", PROCESS);
    made.make("operator", "import_process", json!({ "source": source }));
    made.make("operator", "publish_process", json!({ "name": "moves", "roles": { "boss": "staff" } }));
    let run = made.make("agent", "start_run", json!({ "process": "moves", "inputs": { "n": 1.50 } }));
    let id = &run["run"]["id"];
    let upload = json!({ "fileName": "a.txt", "contentType": "text/plain", "contentBase64": "aGVsbG8=" });
    let file = made.make("agent", "upload", upload);
    let evidence = json!([{ "kind": "file", "ref": file["id"] }]);
    let claimed = made.make("agent", "claim", json!({ "runId": id, "stepId": "work" }));
    let renewed = made.make("agent", "renew", json!({ "token": claimed["token"], "progress": "Half." }));
    let submit = json!({ "token": renewed["token"], "output": {}, "evidence": evidence, "summary": "Done." });
    made.make("agent", "submit", submit);
    let claimed = made.make("agent", "claim", json!({ "runId": id, "stepId": "hard" }));
    let view = made.make("agent", "escalate", json!({ "token": claimed["token"], "note": "Too hard." }));
    assert_eq!(item(&view, "hard")["escalation"]["note"], "Too hard.");
    let decide = |view: &Value, step: &str, decision: &str, note: &str| {
        let mut arguments = item(view, step)["decide"]["arguments"].clone();
        arguments["decision"] = json!(decision);
        if !note.is_empty() {
            arguments["note"] = json!(note);
        }
        arguments
    };
    let operators = decide(&view, "hard", "returned", "Try again.");
    made.make("operator", "decide", operators);
    let claimed = made.make("agent", "claim", json!({ "runId": id, "stepId": "hard" }));
    assert_eq!(claimed["handoff"]["returned"]["note"], "Try again.");
    let view = made.make("agent", "submit", json!({ "token": claimed["token"], "output": {}, "summary": "Done." }));
    let held = made.make("agent", "send_event", json!({ "runId": id, "name": "signal", "data": { "k": 1.0 } }));
    assert_eq!(held, json!({ "consumedBy": null }));
    let view = made.make("staff", "decide", decide(&view, "sign", "approved", ""));
    assert_eq!(view["data"]["steps"]["signal"]["output"], json!({ "k": 1.0 }));
    made.make("agent", "claim", json!({ "runId": id, "stepId": "tail" }));
    made.make("operator", "cancel", json!({ "runId": id, "reason": "Enough." }));
    assert_eq!(org.agent.view(&run)["run"]["state"], "cancelled");
    // Everything happened; every call again, in an order of its own, gets what it got.
    for (who, tool, arguments, answer) in made.calls.iter().rev() {
        let again = client(org, who).exact(tool, arguments.clone());
        assert_eq!(again.map(without_urls), Ok(without_urls(answer.clone())), "{tool} {arguments}");
    }
    let runs = org.agent.pages("list_runs", json!({}));
    assert_eq!(runs.len(), 1, "no repetition did anything");
}

fn a_request_id_belongs_to_its_arguments(org: &Org) {
    let run = org.run("moves", PROCESS, json!({ "n": 1 }));
    let call = json!({ "process": "moves", "inputs": { "n": 2 }, "requestId": "one-id" });
    let first = org.agent.ok("start_run", call.clone());
    for other in [
        json!({ "process": "moves", "inputs": { "n": 3 }, "requestId": "one-id" }),
        json!({ "process": "moves", "inputs": { "n": 2 }, "mode": "live", "requestId": "one-id" }),
        json!({ "process": "moves", "inputs": { "n": 2 }, "version": 1, "requestId": "one-id" }),
    ] {
        refused_as(org.agent.call("start_run", other), "conflict");
    }
    assert_eq!(org.agent.ok("start_run", call), first);
    let claim = json!({ "runId": run["run"]["id"], "stepId": "work", "requestId": "claim-id" });
    org.agent.ok("claim", claim);
    let other = json!({ "runId": first["run"]["id"], "stepId": "work", "requestId": "claim-id" });
    refused_as(org.agent.call("claim", other), "conflict");
}

fn a_request_id_belongs_to_its_tool_and_caller(org: &Org) {
    let run = org.run("moves", PROCESS, json!({ "n": 1 }));
    let claim = json!({ "runId": run["run"]["id"], "stepId": "work", "requestId": "shared-id" });
    let claimed = org.agent.ok("claim", claim.clone());
    // The very same call from another identity must not get the token.
    let error = refused_as(org.other.call("claim", claim.clone()), "conflict");
    assert!(!format!("{error:?}").contains(claimed["token"].as_str().unwrap()));
    refused_as(org.staff.call("claim", claim.clone()), "conflict");
    // Nor a person who happens to be named like the agent.
    refused_as(org.person(org.agent.subject(), &[]).call("claim", claim), "conflict");
    let renew = json!({ "token": claimed["token"], "requestId": "shared-id" });
    refused_as(org.agent.call("renew", renew), "conflict");
    let event = json!({ "runId": run["run"]["id"], "name": "signal", "requestId": "shared-id" });
    refused_as(org.agent.call("send_event", event), "conflict");
    let upload = json!({
        "fileName": "a", "contentType": "b", "contentBase64": "aGVsbG8=", "requestId": "shared-id",
    });
    refused_as(org.agent.call("upload", upload), "conflict");
    let start = json!({ "process": "moves", "inputs": { "n": 1 }, "requestId": "shared-id" });
    refused_as(org.agent.call("start_run", start), "conflict");
}

fn key_order_aside_arguments_are_compared_by_their_text(org: &Org) {
    org.run("moves", PROCESS, json!({ "n": 1 }));
    let send = |body: &str| {
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"start_run","arguments":{body}}}}}"#
        );
        org.agent.post(&[], message.into_bytes()).json()["result"]["structuredContent"].clone()
    };
    let first = send(r#"{"process":"moves","inputs":{"n":1.0},"requestId":"by-text"}"#);
    assert_eq!(first["ok"], true, "{first}");
    let reordered = send(r#"{ "requestId":"by-text", "inputs":{"n":1.0}, "process":"moves" }"#);
    assert_eq!(reordered, first);
    for other in ["1", "1.00", "10e-1"] {
        let body = format!(r#"{{"process":"moves","inputs":{{"n":{other}}},"requestId":"by-text"}}"#);
        assert_eq!(send(&body)["error"]["code"], "conflict", "{other}");
    }
}

fn a_failed_call_is_not_recorded(org: &Org) {
    org.publish(&crate::harness::file("moves", PROCESS));
    let wrong = json!({ "process": "moves", "inputs": {}, "requestId": "again" });
    refused(org.agent.call("start_run", wrong), "invalid", &["inputs.n: missing"]);
    let right = json!({ "process": "moves", "inputs": { "n": 1 }, "requestId": "again" });
    let run = org.agent.ok("start_run", right);
    let claim = json!({ "runId": run["run"]["id"], "stepId": "hard", "requestId": "claim-again" });
    refused(org.agent.call("claim", claim), "conflict", &["not_ready"]);
    org.agent.ok("claim", json!({ "runId": run["run"]["id"], "stepId": "work", "requestId": "claim-again" }));
}

fn organizations_do_not_share_request_ids(org: &Org) {
    let foreign = org.foreign();
    let source = crate::harness::file("moves", PROCESS);
    org.publish(&source);
    foreign.publish(&source);
    let call = json!({ "process": "moves", "inputs": { "n": 1 }, "requestId": "same-everywhere" });
    let ours = org.agent.ok("start_run", call.clone());
    let theirs = foreign.agent.ok("start_run", call);
    assert_ne!(ours["run"]["id"], theirs["run"]["id"]);
}
