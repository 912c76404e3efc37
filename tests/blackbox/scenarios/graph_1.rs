//! Steps that a graph guides (profile graph-1): the run that a claim opens, and the submission that waits for its end.

use std::path::Path;

use serde_json::{Value, json};

use super::examples;
use super::graph_runs::{self, record, told};
use crate::harness::{
    BRIEF_SECONDS, Bundle, Client, Org, PARCEL, at_once, fresh, pass, refused, refused_as, scenarios, state, states,
};

scenarios! {
    any: [
        describe_lists_the_profile,
        a_claim_opens_the_run_of_the_steps_graph,
        a_run_is_found_by_its_step,
        a_submission_waits_for_the_end_of_the_graph,
        a_graph_that_ended_otherwise_is_not_complete,
        all_issues_are_told_at_once,
        what_the_step_submits_is_a_fact_of_it,
        a_loop_says_what_ends_it,
        a_gate_within_waits_for_a_person,
        a_graph_that_need_not_be_complete_only_guides,
        rework_begins_a_new_run,
        a_person_finishes_an_escalated_step_without_the_graph,
        a_returned_step_goes_on_in_its_run,
        a_repeated_claim_shows_the_run_as_it_was,
        branches_have_runs_of_their_own,
        an_outcome_at_the_same_moment_is_before_or_after,
        the_deepest_facts_are_read_again,
    ],
    brief: [a_later_claim_goes_on_in_the_run],
}

/// A step that is guided from the beginning of the graph to its end, between two others.
pub(super) const SHIPMENT: &str = "
inputs: { order: string }
steps:
  - { id: pack, agent: Pack it., output: { grams: { type: number, optional: true } } }
  - id: ship
    agent: Send it.
    output: { tracking: { type: string, optional: true } }
    graph:
      provider: acme/parcel
      graph: parcel
      require_complete: true
      facts:
        order: inputs.order
        parcel.weight: steps.pack.output.grams
        parcel.tracking: steps.ship.output.tracking
  - { id: look, person: desk, approve: Is it on its way?, on_reject: ship }
  - { id: end, finish: sent }
";

/// The same, guided from its last action on.
pub(super) fn last_leg() -> String {
    SHIPMENT.replace("      graph: parcel\n", "      graph: parcel\n      entry: again\n")
}

/// A run of a process whose first step is done, with the provider published.
fn begun(org: &Org, rest: &str) -> Value {
    org.provide(&Bundle::parcel());
    let run = org.run("shipment", rest, json!({ "order": "o-7" }));
    org.agent.work_on(&run, "pack", json!({ "grams": 812 }), Value::Null)
}

/// What a claim says of the graph, as the tools of graphs answer.
#[track_caller]
pub(super) fn guidance(claimed: &Value) -> Value {
    let graph = &claimed["extensions"]["graph"];
    assert!(graph.is_object(), "no graph in {claimed}");
    json!({ "run": { "id": graph["graphRunId"] }, "provider": graph["provider"],
        "evaluation": graph["evaluation"], "route": graph["route"] })
}

fn read(client: &Client, graph: &Value) -> Value {
    graph_runs::read(client, graph)
}

const DECLARED: &str = "parcel/customs>customs/declare";

fn describe_lists_the_profile(org: &Org) {
    let described = org.agent.ok("describe", json!({}));
    assert!(described["profiles"].as_array().unwrap().contains(&json!("graph-1")), "{described}");
}

fn a_claim_opens_the_run_of_the_steps_graph(org: &Org) {
    let run = begun(org, SHIPMENT);
    let claimed = org.agent.claim(&run, "ship");
    let graph = guidance(&claimed);
    assert_eq!(graph["provider"], Bundle::parcel().asked());
    assert_eq!(told(&graph), "actionable declare");
    let (evaluation, route) = (&graph["evaluation"], &graph["route"]);
    assert_eq!(
        (&evaluation["provider"], &evaluation["graph"], &evaluation["entry"]),
        (&json!(PARCEL), &json!("parcel"), &json!("default"))
    );
    assert_eq!(route["routeId"], evaluation["primaryRoute"]["routeId"]);
    assert_eq!(route["revision"], evaluation["revision"]);
    assert_eq!(route["afterAction"]["recordNode"], DECLARED);
    let there = read(&org.staff, &graph);
    assert_eq!(there["run"]["facts"], json!({ "order": "o-7", "parcel": { "weight": 812 } }));
    assert_eq!(there["evaluation"], *evaluation);
    assert_eq!(there["run"]["events"].as_array().unwrap().len(), 1);
    // What a fact proves is no longer anybody's to record.
    let call = json!({ "graphRunId": graph["run"]["id"], "node": "parcel/weigh", "outcome": "completed", "requestId": fresh() });
    let open = format!("node_not_open: parcel/weigh is not open; open now: {DECLARED}");
    refused(org.agent.call("record_outcome", call), "conflict", &[&open]);
    // A step without a graph has no extensions at all.
    assert_eq!(
        org.agent.claim(&org.agent.start("shipment", json!({ "order": "o-8" })), "pack").get("extensions"),
        None
    );

    // What run data does not hold is no fact.
    let run = org.agent.start("shipment", json!({ "order": "o-9" }));
    org.agent.work_on(&run, "pack", json!({}), Value::Null);
    let graph = guidance(&org.agent.claim(&run, "ship"));
    assert_eq!(read(&org.agent, &graph)["run"]["facts"], json!({ "order": "o-9" }));
    assert_eq!(told(&graph), "actionable weigh");
}

fn a_run_is_found_by_its_step(org: &Org) {
    let run = begun(org, &last_leg());
    let id = run["run"]["id"].as_str().unwrap();
    let find =
        |client: &Client, run: &str, step: &str| client.call("get_graph_run", json!({ "runId": run, "stepId": step }));
    let unclaimed = || {
        let error = refused_as(find(&org.staff, id, "ship"), "not_found");
        assert!(error.message.contains("was not claimed yet"), "{error:?}");
    };
    for attempt in [1, 2] {
        unclaimed();
        let claimed = org.agent.claim(&run, "ship");
        let found = find(&org.staff, id, "ship").unwrap();
        assert_eq!(found["run"]["id"], json!(format!("g_{}_ship_{attempt}", id.trim_start_matches("r_"))));
        assert_eq!(found["run"]["id"], guidance(&claimed)["run"]["id"]);
        assert_eq!(find(&org.agent, id, "ship").unwrap(), found);
        record(&org.agent, &found, "parcel/send", "completed");
        org.agent.submit(&claimed, json!({}), Value::Null).unwrap();
        assert_eq!(told(&find(&org.staff, id, "ship").unwrap()), "complete completed");
        org.staff.decide(&run, "look", "rejected", json!({ "note": "It came back." }));
    }
    for (step, run) in [("pack", id), ("look", id), ("nothing", id), ("ship", "r_nothing"), ("ship", "\u{0}")] {
        let error = refused_as(find(&org.agent, run, step), "not_found");
        assert!(run != id || error.message.contains("has: ship."), "{error:?}");
    }
    refused_as(find(&org.foreign().agent, id, "ship"), "not_found");
    for (named, issues) in [
        (json!({}), &["graphRunId: missing, or runId and stepId"][..]),
        (json!({ "runId": id }), &["stepId: missing"]),
        (json!({ "stepId": "ship" }), &["runId: missing"]),
        (
            json!({ "graphRunId": "g", "runId": id, "stepId": "ship" }),
            &["runId: not together with graphRunId", "stepId: not together with graphRunId"],
        ),
    ] {
        refused(org.agent.call("get_graph_run", named), "invalid", issues);
    }
}

fn a_submission_waits_for_the_end_of_the_graph(org: &Org) {
    let run = begun(org, SHIPMENT);
    let claimed = org.agent.claim(&run, "ship");
    let graph = guidance(&claimed);
    let submit = || org.agent.submit(&claimed, json!({}), Value::Null);
    let todo = "take this route and record its outcome first";
    let issue = format!("graph: actionable ({DECLARED}): {todo}");
    refused(submit(), "not_accepted", &[&issue]);
    assert_eq!(org.agent.view(&run)["data"], run["data"], "nothing changed");
    record(&org.other, &graph, DECLARED, "completed");
    refused(submit(), "not_accepted", &["graph: waiting-user (parcel/release): a person must decide this first"]);
    record(&org.staff, &graph, "parcel/release", "completed");
    record(&org.operator, &graph, "parcel/insure", "completed");
    refused(submit(), "not_accepted", &[&format!("graph: actionable (parcel/send): {todo}")]);
    assert_eq!(told(&record(&org.agent, &graph, "parcel/send", "completed")), "complete completed");
    let view = submit().unwrap();
    assert_eq!(states(&view), "waiting/- pack=done ship=done look=waiting end=-");
    let entry = &view["data"]["steps"]["ship"];
    assert_eq!(entry["output"], json!({}));
    assert_eq!(entry.get("graph"), None, "run data has the fields it always had");
}

fn a_graph_that_ended_otherwise_is_not_complete(org: &Org) {
    let run = begun(org, &last_leg());
    let claimed = org.agent.claim(&run, "ship");
    let graph = guidance(&claimed);
    assert_eq!(told(&graph), "actionable send");
    assert_eq!(told(&record(&org.agent, &graph, "parcel/send", "failed")), "complete failed");
    let submit = || org.agent.submit(&claimed, json!({}), Value::Null);
    refused(submit(), "not_accepted", &["graph: failed: it must end as completed"]);
    let handoff = || org.agent.work_of(&run)[0]["handoff"].clone();
    org.agent.ok("escalate", json!({ "token": claimed["token"], "note": "It is lost." }));
    org.operator.decide(&run, "ship", "returned", json!({ "note": "Look again." }));
    assert_eq!(handoff()["issues"], json!(["graph: failed: it must end as completed"]));
    let claimed = org.agent.claim(&run, "ship");
    assert_eq!(told(&guidance(&claimed)), "complete failed");
    assert_eq!(guidance(&claimed)["route"], Value::Null, "no route is open");
    record(&org.agent, &graph, "parcel/send", "completed");
    org.agent.submit(&claimed, json!({}), Value::Null).unwrap();
}

fn all_issues_are_told_at_once(org: &Org) {
    let run = begun(org, &last_leg());
    let claimed = org.agent.claim(&run, "ship");
    let more = json!({ "summary": " ", "next": "look" });
    refused(
        org.agent.submit(&claimed, json!({ "tracking": 7, "extra": 1 }), more),
        "not_accepted",
        &[
            "summary: missing",
            "output.tracking: expected string",
            "output.extra: not declared",
            "next: not allowed, this step has no list of routes",
            "graph: actionable (parcel/send): take this route and record its outcome first",
        ],
    );
}

/// The provider, with `send` proven by a fact.
fn tracked() -> Bundle {
    let (from, to) = (
        "action: actions/send.yaml\n",
        "action: actions/send.yaml\n    satisfiedBy: [{ path: parcel.tracking, exists: true }]\n",
    );
    Bundle::changed(&[("graphs/parcel.yaml", from, to)])
}

fn what_the_step_submits_is_a_fact_of_it(org: &Org) {
    org.provide(&tracked());
    let run = org.run("shipment", &last_leg(), json!({ "order": "o-7" }));
    org.agent.work_on(&run, "pack", json!({}), Value::Null);
    let claimed = org.agent.claim(&run, "ship");
    let submit = |output: Value| org.agent.submit(&claimed, output, Value::Null);
    refused_as(submit(json!({})), "not_accepted");
    submit(json!({ "tracking": "t-1" })).unwrap();
    let view = org.staff.decide(&run, "look", "rejected", json!({ "note": "It came back." }));
    assert_eq!(
        view["data"]["steps"]["ship"]["output"],
        json!({ "tracking": "t-1" }),
        "current until it completes anew"
    );
    let again = org.agent.claim(&run, "ship");
    assert_eq!(told(&guidance(&again)), "actionable send", "what it recorded before is no fact of the new attempt");
    assert_eq!(read(&org.agent, &guidance(&again))["run"]["facts"], json!({ "order": "o-7" }));
    org.agent.submit(&again, json!({ "tracking": "t-2" }), Value::Null).unwrap();
}

/// The release train: whose failed test sends it back to the build, and whose last action only the submission proves.
fn a_loop_says_what_ends_it(org: &Org) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/release-train");
    examples::provide(org, &folder);
    org.publish(&std::fs::read_to_string(folder.join("PROCESS.md")).unwrap());
    let run = org.agent.start("release-train", json!({ "version": "2.14.0" }));
    org.agent.work_on(&run, "collect", json!({ "changes": ["Faster"], "migrates": false }), Value::Null);
    let claimed = org.agent.claim(&run, "ship");
    assert_eq!(claimed["extensions"]["graph"].get("notes"), None, "{claimed}");
    let graph = guidance(&claimed);
    let next = || {
        let answer = org.agent.ok("get_route", json!({ "graphRunId": graph["run"]["id"] }));
        (answer["route"]["node"].as_str().unwrap().to_owned(), answer["notes"].clone())
    };
    record(&org.agent, &graph, "ship/build", "completed");
    assert_eq!(next(), ("test".to_owned(), Value::Null));
    let back = json!(["set back by ship/test: when this is done again, record ship/test anew as well; until then it \
        stays open"]);
    record(&org.agent, &graph, "ship/test", "failed");
    assert_eq!(next(), ("build".to_owned(), back.clone()));
    // Whoever takes the step over is told as well.
    org.agent.ok("escalate", json!({ "token": claimed["token"], "note": "The test fails." }));
    org.operator.decide(&run, "ship", "returned", json!({ "note": "Once more." }));
    let claimed = org.other.claim(&run, "ship");
    assert_eq!(claimed["extensions"]["graph"]["notes"], back);
    record(&org.other, &graph, "ship/build", "completed");
    assert_eq!(next(), ("build".to_owned(), back), "built again, and not yet tested");
    record(&org.other, &graph, "ship/test", "completed");
    assert_eq!(next(), ("go".to_owned(), Value::Null));
    record(&org.staff, &graph, "ship/go", "completed");
    let proof = "done when: package.digest must be there; recorded as completed without that, it is unverified";
    assert_eq!(next(), ("publish".to_owned(), json!([proof])));
    let submitted = org.other.submit(&claimed, json!({ "digest": "sha256:1" }), Value::Null).unwrap();
    assert_eq!(state(&submitted, "ship"), "done");
}

fn a_gate_within_waits_for_a_person(org: &Org) {
    let run = begun(org, SHIPMENT);
    let claimed = org.agent.claim(&run, "ship");
    let graph = guidance(&claimed);
    record(&org.agent, &graph, DECLARED, "completed");
    let gate = |client: &Client| {
        let call = json!({ "graphRunId": graph["run"]["id"], "node": "parcel/release", "outcome": "completed" });
        client.call("record_outcome", call)
    };
    refused_as(gate(&org.agent), "forbidden");
    let authorize = |client: &Client| {
        let call = json!({ "graphRunId": graph["run"]["id"], "authorities": ["shipping"] });
        client.call("set_authorities", call)
    };
    refused_as(authorize(&org.agent), "forbidden");
    assert_eq!(told(&authorize(&org.staff).unwrap()), "actionable release");
    assert_eq!(told(&gate(&org.agent).unwrap()), "waiting-user insure");
    refused(
        org.agent.submit(&claimed, json!({}), Value::Null),
        "not_accepted",
        &["graph: waiting-user (parcel/insure): a person must decide this first"],
    );
}

fn a_graph_that_need_not_be_complete_only_guides(org: &Org) {
    let run = begun(org, &SHIPMENT.replace("      require_complete: true\n", ""));
    let claimed = org.agent.claim(&run, "ship");
    assert_eq!(told(&guidance(&claimed)), "actionable declare");
    let view = org.agent.submit(&claimed, json!({}), Value::Null).unwrap();
    assert_eq!(states(&view), "waiting/- pack=done ship=done look=waiting end=-");
}

fn rework_begins_a_new_run(org: &Org) {
    let run = begun(org, &last_leg());
    let first = org.agent.claim(&run, "ship");
    record(&org.agent, &guidance(&first), "parcel/send", "completed");
    org.agent.submit(&first, json!({}), Value::Null).unwrap();
    let ended = read(&org.agent, &guidance(&first));
    org.staff.decide(&run, "look", "rejected", json!({ "note": "It came back." }));
    let second = org.agent.claim(&run, "ship");
    assert_ne!(guidance(&second)["run"], guidance(&first)["run"]);
    assert_eq!(told(&guidance(&second)), "actionable send");
    refused_as(org.agent.submit(&second, json!({}), Value::Null), "not_accepted");
    assert_eq!(read(&org.agent, &guidance(&first)), ended, "the earlier run stays as it ended");
    record(&org.agent, &guidance(&second), "parcel/send", "completed");
    org.agent.submit(&second, json!({}), Value::Null).unwrap();
}

fn a_person_finishes_an_escalated_step_without_the_graph(org: &Org) {
    let run = begun(org, SHIPMENT);
    let claimed = org.agent.claim(&run, "ship");
    org.agent.ok("escalate", json!({ "token": claimed["token"], "note": "Nobody releases it." }));
    let view = org.operator.decide(&run, "ship", "completed", json!({ "output": { "tracking": "by hand" } }));
    assert_eq!(states(&view), "waiting/- pack=done ship=done look=waiting end=-");
}

fn a_returned_step_goes_on_in_its_run(org: &Org) {
    let run = begun(org, SHIPMENT);
    let first = org.agent.claim(&run, "ship");
    record(&org.agent, &guidance(&first), DECLARED, "completed");
    org.agent.ok("escalate", json!({ "token": first["token"], "note": "Nobody releases it." }));
    org.operator.decide(&run, "ship", "returned", json!({ "note": "I will." }));
    let second = guidance(&org.other.claim(&run, "ship"));
    assert_eq!(second["run"], guidance(&first)["run"]);
    assert_eq!(told(&second), "waiting-user release");
}

fn a_repeated_claim_shows_the_run_as_it_was(org: &Org) {
    let run = begun(org, &last_leg());
    let call = json!({ "runId": run["run"]["id"], "stepId": "ship", "requestId": fresh() });
    let claimed = org.agent.ok("claim", call.clone());
    record(&org.agent, &guidance(&claimed), "parcel/send", "completed");
    assert_eq!(org.agent.exact("claim", call).unwrap(), claimed);
    assert_eq!(told(&read(&org.agent, &guidance(&claimed))), "complete completed");
}

fn branches_have_runs_of_their_own(org: &Org) {
    org.provide(&Bundle::parcel());
    let step = |id: &str| {
        format!(
            "  - id: {id}\n    agent: Send it.\n    graph: {{ provider: acme/parcel, graph: parcel, entry: again, \
             require_complete: true }}\n    next: join\n"
        )
    };
    let rest = format!(
        "steps:\n  - {{ id: both, parallel: [left, right], next: end }}\n{}{}  - {{ id: end, finish: sent }}",
        step("left"),
        step("right")
    );
    let run = org.run("both", &rest, json!({}));
    let (left, right) = (org.agent.claim(&run, "left"), org.other.claim(&run, "right"));
    assert_ne!(guidance(&left)["run"], guidance(&right)["run"]);
    record(&org.agent, &guidance(&left), "parcel/send", "completed");
    refused_as(org.other.submit(&right, json!({}), Value::Null), "not_accepted");
    org.agent.submit(&left, json!({}), Value::Null).unwrap();
    record(&org.other, &guidance(&right), "parcel/send", "completed");
    let ended = org.other.submit(&right, json!({}), Value::Null).unwrap();
    assert_eq!(states(&ended), "ended/sent both=done left=done right=done end=done");
}

fn an_outcome_at_the_same_moment_is_before_or_after(org: &Org) {
    let run = begun(org, &last_leg());
    let claimed = org.agent.claim(&run, "ship");
    let graph = guidance(&claimed);
    record(&org.agent, &graph, "parcel/send", "completed");
    let call = json!({ "token": claimed["token"], "output": {}, "summary": "Done.", "requestId": fresh() });
    let outcome =
        json!({ "graphRunId": graph["run"]["id"], "node": "parcel/send", "outcome": "failed", "requestId": fresh() });
    let answers = at_once(2, |n| match n {
        0 => org.agent.exact("submit", call.clone()),
        _ => org.other.exact("record_outcome", outcome.clone()),
    });
    answers[1].as_ref().unwrap();
    match &answers[0] {
        Ok(view) => assert_eq!(states(view), "waiting/- pack=done ship=done look=waiting end=-"),
        Err(error) => assert_eq!(error.issues, ["graph: failed: it must end as completed"]),
    }
    assert_eq!(told(&read(&org.agent, &graph)), "complete failed");
}

fn a_later_claim_goes_on_in_the_run(org: &Org) {
    let run = begun(org, SHIPMENT);
    let first = org.agent.claim(&run, "ship");
    let graph = guidance(&first);
    record(&org.agent, &graph, DECLARED, "completed");
    let facts = json!({ "order": "mine", "parcel": { "weight": 812, "wrapped": true } });
    org.agent.ok("set_facts", json!({ "graphRunId": graph["run"]["id"], "facts": facts }));
    pass(BRIEF_SECONDS * 1_000 + 200);
    let second = org.other.claim(&run, "ship");
    assert_eq!(guidance(&second)["run"], graph["run"]);
    assert_eq!(told(&guidance(&second)), "waiting-user release");
    let kept = json!({ "order": "o-7", "parcel": { "weight": 812, "wrapped": true } });
    assert_eq!(read(&org.agent, &graph)["run"]["facts"], kept, "what the process maps is as the process says");
    refused_as(org.agent.submit(&first, json!({}), Value::Null), "stale");
}

/// Run data as deep as a call may send it, at the longest path that a fact may have.
fn the_deepest_facts_are_read_again(org: &Org) {
    org.provide(&Bundle::parcel());
    let path = ["a"; 16].join(".");
    let rest = format!(
        "
inputs: {{ all: object }}
steps:
  - {{ id: ship, agent: Send it., graph: {{ provider: {PARCEL}, graph: parcel, facts: {{ {path}: inputs.all }} }} }}
  - {{ id: end, finish: sent }}
"
    );
    let deepest = (0..61).fold(json!({}), |within, _| json!({ "b": within }));
    let run = org.run("deep", &rest, json!({ "all": deepest }));
    let claim = json!({ "runId": run["run"]["id"], "stepId": "ship", "requestId": fresh() });
    let claimed = org.agent.exact("claim", claim.clone()).unwrap();
    assert_eq!(org.agent.exact("claim", claim).unwrap(), claimed);
    let run = guidance(&claimed)["run"]["id"].clone();
    let kept = org.agent.ok("checkpoint_graph_run", json!({ "graphRunId": run }));
    let resumed = org.agent.ok("resume_graph_run", json!({ "checkpoint": kept["checkpoint"] }));
    let facts = &read(&org.agent, &resumed)["run"]["facts"];
    let found = path.split('.').fold(facts, |within, name| &within[name]);
    assert_eq!(*found, deepest);
}
