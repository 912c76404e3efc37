//! Runs of graphs: a journal that everybody of the organization writes to, of which nothing is lost.

use serde_json::{Value, json};

use super::races::patient;
use crate::harness::{
    Answer, Bundle, Client, Options, Org, PARCEL, Server, at_once, fresh, refused, refused_as, scenarios,
};

scenarios! {
    any: [
        a_run_goes_from_its_start_to_complete,
        an_outcome_is_of_a_node_that_takes_one,
        an_outcome_of_another_revision_is_refused,
        an_outcome_is_of_a_node_that_is_open,
        who_recorded_what_is_told,
        facts_are_merged_or_replaced,
        a_repeat_begins_anew,
        a_detail_is_kept_with_its_outcome,
        a_run_keeps_its_version,
        a_checkpoint_is_gone_on_from,
        an_unknown_run_is_not_found,
        a_request_is_one_call,
        two_agents_recording_at_once_lose_nothing,
        a_start_from_16_connections_happens_once,
        what_is_too_large_or_too_deep_is_refused,
    ],
    own: [a_run_survives_a_kill],
}

fn id(run: &Value) -> Value {
    run["run"]["id"].clone()
}

fn try_record(client: &Client, run: &Value, node: &str, outcome: &str) -> Answer {
    client.call("record_outcome", json!({ "graphRunId": id(run), "node": node, "outcome": outcome }))
}

#[track_caller]
pub(super) fn record(client: &Client, run: &Value, node: &str, outcome: &str) -> Value {
    try_record(client, run, node, outcome).unwrap_or_else(|e| panic!("{node} {outcome}: {e:?}"))
}

/// The run as those answer who change it: without who recorded its events.
pub(super) fn read(client: &Client, run: &Value) -> Value {
    let mut run = client.ok("get_graph_run", json!({ "graphRunId": id(run) }));
    run.as_object_mut().unwrap().remove("recordedBy").unwrap();
    run
}

/// The status, and the node of the primary route or the outcome.
pub(super) fn told(answer: &Value) -> String {
    let evaluation = &answer["evaluation"];
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let what = text(&evaluation["primaryRoute"]["node"]).or(text(&evaluation["outcome"])).unwrap_or_default();
    format!("{} {what}", evaluation["statusCode"].as_str().unwrap()).trim().to_owned()
}

const DECLARED: &str = "parcel/customs>customs/declare";

fn types(run: &Value) -> Vec<&str> {
    run["run"]["events"].as_array().unwrap().iter().map(|e| e["type"].as_str().unwrap()).collect()
}

fn a_run_goes_from_its_start_to_complete(org: &Org) {
    let run = org.parcel();
    assert!(id(&run).as_str().unwrap().starts_with("g_"), "{run}");
    assert_eq!((run["run"].get("workspace"), &run["run"]["authorities"]), (None, &json!([])));
    assert_eq!(run["provider"], Bundle::parcel().asked());
    assert_eq!(told(&run), "actionable weigh");
    let route = org.agent.ok("get_route", json!({ "graphRunId": id(&run), "revision": run["evaluation"]["revision"] }));
    let node = route["route"]["afterAction"]["recordNode"].as_str().unwrap();
    assert_eq!(told(&record(&org.agent, &run, node, "completed")), "blocked", "it is said, and no fact shows it");
    let fact = json!({ "graphRunId": id(&run), "facts": { "parcel": { "weight": 812 } } });
    assert_eq!(told(&org.agent.ok("set_facts", fact)), "actionable declare", "the fact proves it");
    assert_eq!(told(&record(&org.other, &run, DECLARED, "completed")), "waiting-user release");
    assert_eq!(told(&record(&org.staff, &run, "parcel/release", "completed")), "waiting-user insure");
    assert_eq!(told(&record(&org.staff, &run, "parcel/insure", "completed")), "actionable send");
    let done = record(&org.agent, &run, "parcel/send", "completed");
    assert_eq!(told(&done), "complete completed");
    assert_eq!(read(&org.outsider, &run), done);
    let recorded = "node.outcome-recorded";
    assert_eq!(types(&done), ["run.started", recorded, "facts.updated", recorded, recorded, recorded, recorded]);
}

fn an_outcome_is_of_a_node_that_takes_one(org: &Org) {
    let run = org.parcel();
    for (node, words) in [
        ("parcel/wiegh", "parcel/weigh"),
        ("weigh", "parcel/weigh"),
        ("customs/declare", DECLARED),
        ("parcel/customs", "subgraph"),
        ("parcel/sent", "terminal"),
        ("nothing at all", "node: "),
    ] {
        let error = refused_as(try_record(&org.agent, &run, node, "completed"), "invalid");
        assert_eq!(error.issues.len(), 1, "{error:?}");
        assert!(error.issues[0].starts_with("node: ") && error.issues[0].contains(words), "{node}: {error:?}");
    }
    let error = refused_as(try_record(&org.agent, &run, "parcel/weigh", "done"), "invalid");
    assert!(error.issues[0].starts_with("outcome: one of completed, "), "{error:?}");
    assert_eq!(read(&org.agent, &run), run, "nothing was recorded");
    for outcome in ["partial", "failed", "unverified", "skipped", "pending", "blocked", "waiting-user", "completed"] {
        let after = record(&org.agent, &run, "parcel/weigh", outcome);
        assert_eq!(after["run"]["outcomes"]["parcel/weigh"]["outcome"], outcome);
    }
}

fn an_outcome_of_another_revision_is_refused(org: &Org) {
    let run = org.parcel();
    let record = |revision: &Value| {
        let call = json!({
            "graphRunId": id(&run), "node": "parcel/weigh", "outcome": "completed", "revision": revision,
        });
        org.agent.call("record_outcome", call)
    };
    let first = &run["evaluation"]["revision"];
    let after = record(first).unwrap();
    refused(record(first), "conflict", &["route_revision_stale"]);
    assert_eq!(read(&org.agent, &run), after, "nothing was recorded");
    record(&after["evaluation"]["revision"]).unwrap();
}

fn an_outcome_is_of_a_node_that_is_open(org: &Org) {
    let run = org.parcel();
    let early = |client: &Client, node: &str, open: &str| {
        let error = refused_as(try_record(client, &run, node, "completed"), "conflict");
        assert_eq!(error.issues, [format!("node_not_open: {node} is not open; {open}")]);
    };
    for client in [&org.agent, &org.staff, &org.operator] {
        for node in ["parcel/send", "parcel/release", DECLARED] {
            early(client, node, "open now: parcel/weigh");
        }
    }
    assert_eq!(read(&org.agent, &run), run, "nothing was recorded");
    org.agent.ok("set_facts", json!({ "graphRunId": id(&run), "facts": { "parcel": { "weight": 812 } } }));
    record(&org.agent, &run, DECLARED, "failed");
    early(&org.staff, "parcel/release", "no node is open now");
    assert_eq!(told(&record(&org.agent, &run, DECLARED, "completed")), "waiting-user release", "corrected");
    early(&org.agent, "parcel/send", "open now: parcel/release (a person's)");
}

fn who_recorded_what_is_told(org: &Org) {
    let run = org.parcel();
    record(&org.other, &run, "parcel/weigh", "unverified");
    org.staff.ok("set_authorities", json!({ "graphRunId": id(&run), "authorities": [] }));
    let shown = org.outsider.ok("get_graph_run", json!({ "graphRunId": id(&run) }));
    let told: Vec<(u64, &str)> = shown["recordedBy"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            assert!(!one["by"].as_str().unwrap().is_empty());
            (one["sequence"].as_u64().unwrap(), one["kind"].as_str().unwrap())
        })
        .collect();
    assert_eq!(told, [(1, "agent"), (2, "agent"), (3, "person")]);
    assert_ne!(shown["recordedBy"][0]["by"], shown["recordedBy"][1]["by"]);
}

fn facts_are_merged_or_replaced(org: &Org) {
    org.provide(&Bundle::parcel());
    let facts = json!({ "a": 1, "b": { "c": 1 } });
    let run = org.agent.ok("start_graph_run", json!({ "provider": PARCEL, "graph": "parcel", "facts": facts }));
    let set = |facts: Value, replace: Option<bool>| {
        let mut arguments = json!({ "graphRunId": id(&run), "facts": facts });
        if let Some(replace) = replace {
            arguments["replace"] = json!(replace);
        }
        org.other.ok("set_facts", arguments)["run"]["facts"].clone()
    };
    assert_eq!(run["run"]["facts"], facts);
    assert_eq!(set(json!({ "b": { "d": 2 } }), None), json!({ "a": 1, "b": { "d": 2 } }), "a fact is replaced whole");
    assert_eq!(set(json!({ "e": null }), Some(false)), json!({ "a": 1, "b": { "d": 2 }, "e": null }));
    assert_eq!(set(json!({ "f": [] }), Some(true)), json!({ "f": [] }));
    assert_eq!(set(json!({}), Some(true)), json!({}));
}

fn a_repeat_begins_anew(org: &Org) {
    org.provide(&Bundle::parcel());
    let run = org.agent.ok("start_graph_run", json!({ "provider": PARCEL, "graph": "parcel", "entry": "again" }));
    assert_eq!(told(&record(&org.agent, &run, "parcel/send", "partial")), "actionable weigh");
}

fn a_detail_is_kept_with_its_outcome(org: &Org) {
    let run = org.parcel();
    let detail = json!({ "grams": 812, "by": { "scales": "kitchen" } });
    let call = json!({
        "graphRunId": id(&run), "node": "parcel/weigh", "outcome": "unverified", "detail": detail,
    });
    let after = org.agent.ok("record_outcome", call);
    assert_eq!(after["run"]["outcomes"]["parcel/weigh"]["detail"], detail);
    assert_eq!(after["run"]["events"][1]["detail"], detail);
    // The next one has none.
    let after = record(&org.agent, &run, "parcel/weigh", "completed");
    assert!(after["run"]["outcomes"]["parcel/weigh"].get("detail").is_none());
}

fn a_run_keeps_its_version(org: &Org) {
    let run = org.parcel();
    let next = Bundle::changed(&[
        ("provider.yaml", "version: 1.0.0", "version: 2.0.0"),
        ("actions/weigh.yaml", "scales --grams", "scales --ounces"),
    ]);
    org.provide(&next);
    let command = |run: &Value| {
        let route = org.agent.ok("get_route", json!({ "graphRunId": id(run) }));
        assert_eq!(route["provider"], run["provider"]);
        route["route"]["commandPlan"][0]["command"].clone()
    };
    assert_eq!(command(&run), "scales --grams");
    assert_eq!(read(&org.agent, &run)["provider"], Bundle::parcel().asked());
    let start = |more: Value| {
        let mut arguments = json!({ "provider": PARCEL, "graph": "parcel" });
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        org.agent.ok("start_graph_run", arguments)
    };
    assert_eq!(command(&start(json!({}))), "scales --ounces");
    assert_eq!(command(&start(json!({ "version": "1.0.0" }))), "scales --grams");
    assert_eq!(command(&start(json!({ "digest": Bundle::parcel().digest }))), "scales --grams");
}

fn a_checkpoint_is_gone_on_from(org: &Org) {
    let run = org.parcel();
    record(&org.agent, &run, "parcel/weigh", "unverified");
    org.agent.ok("set_facts", json!({ "graphRunId": id(&run), "facts": { "parcel": { "weight": 1 } } }));
    org.staff.ok("set_authorities", json!({ "graphRunId": id(&run), "authorities": ["shipping"] }));
    let kept = org.agent.ok("checkpoint_graph_run", json!({ "graphRunId": id(&run) }));
    assert_eq!(kept["checkpoint"], format!("{}@5", id(&run).as_str().unwrap()));
    assert_eq!(kept["run"]["authorities"], json!(["shipping"]), "the run goes on with them");
    let gone = record(&org.agent, &run, DECLARED, "completed");
    let resume = |checkpoint: &Value| org.other.call("resume_graph_run", json!({ "checkpoint": checkpoint }));
    let resumed = resume(&kept["checkpoint"]).unwrap();
    assert_ne!(id(&resumed), id(&run));
    assert_eq!(resumed["provider"], run["provider"]);
    let (new, old) = (&resumed["run"], &kept["run"]);
    assert_eq!((&new["facts"], &new["outcomes"]), (&old["facts"], &old["outcomes"]));
    assert_eq!(new["authorities"], json!([]));
    let (new, old) = (new["events"].as_array().unwrap(), old["events"].as_array().unwrap());
    assert_eq!(new[..old.len()], old[..]);
    assert_eq!((new.len(), &new[old.len()]["type"]), (old.len() + 1, &json!("run.resumed")));
    assert_eq!(told(&resumed), "actionable declare");
    assert_eq!(read(&org.agent, &run), gone, "the first run is as it was");
    // Both go on by themselves, as often as one likes.
    record(&org.agent, &resumed, DECLARED, "failed");
    assert_eq!(read(&org.agent, &run), gone);
    assert_eq!(told(&resume(&kept["checkpoint"]).unwrap()), "actionable declare");
    let second = org.agent.ok("checkpoint_graph_run", json!({ "graphRunId": id(&resumed) }));
    assert_eq!(resume(&second["checkpoint"]).unwrap()["run"]["outcomes"][DECLARED]["outcome"], "failed");
    let named = |sequence: &str| json!(format!("{}@{sequence}", id(&run).as_str().unwrap()));
    for unknown in [named("4"), named("6"), named("99"), named("x"), named("-1"), id(&run), json!("@"), json!("g_x@1")]
    {
        refused_as(resume(&unknown), "not_found");
    }
    refused_as(org.foreign().agent.call("resume_graph_run", json!({ "checkpoint": kept["checkpoint"] })), "not_found");
}

fn an_unknown_run_is_not_found(org: &Org) {
    let run = org.parcel();
    let foreign = org.foreign();
    for (client, id) in [
        (&org.agent, json!("g_nothing")),
        (&org.agent, json!("r_nothing")),
        (&org.agent, json!("../g")),
        (&org.agent, json!("\u{0}")),
        (&org.agent, json!("x".repeat(5_000))),
        (&foreign.agent, id(&run)),
    ] {
        for (tool, more) in [
            ("get_graph_run", json!({})),
            ("record_outcome", json!({ "node": "parcel/weigh", "outcome": "completed" })),
            ("set_facts", json!({ "facts": {} })),
            ("checkpoint_graph_run", json!({})),
        ] {
            let mut arguments = more;
            arguments["graphRunId"] = id.clone();
            refused_as(client.call(tool, arguments), "not_found");
        }
    }
    refused_as(
        foreign.operator.call("set_authorities", json!({ "graphRunId": id(&run), "authorities": [] })),
        "not_found",
    );
    assert_eq!(read(&org.agent, &run), run);
}

fn a_request_is_one_call(org: &Org) {
    let run = org.parcel();
    let request = fresh();
    let call = |client: &Client, outcome: &str| {
        let arguments = json!({
            "graphRunId": id(&run), "node": "parcel/weigh", "outcome": outcome, "requestId": request,
        });
        client.exact("record_outcome", arguments)
    };
    let first = call(&org.agent, "failed").unwrap();
    record(&org.other, &run, "parcel/weigh", "partial");
    assert_eq!(call(&org.agent, "failed").unwrap(), first, "the first answer, whatever happened since");
    refused(call(&org.agent, "completed"), "conflict", &["request_id_reused"]);
    refused(call(&org.other, "failed"), "conflict", &["request_id_reused"]);
    let facts = json!({ "graphRunId": id(&run), "facts": {}, "requestId": request });
    refused(org.agent.exact("set_facts", facts), "conflict", &["request_id_reused"]);
    assert_eq!(read(&org.agent, &run)["run"]["events"].as_array().unwrap().len(), 3);
}

fn two_agents_recording_at_once_lose_nothing(org: &Org) {
    let run = org.parcel();
    let agents = [&org.agent, &org.other];
    agents.iter().for_each(|agent| drop(agent.token().to_owned()));
    let (rounds, most) = (12, 24);
    let answers = at_once(most, |n| {
        let detail = json!({ "n": n });
        let call = json!({
            "graphRunId": id(&run), "node": "parcel/weigh", "outcome": "partial", "detail": detail, "requestId": fresh(),
        });
        patient(agents[n / rounds], "record_outcome", &call)
    });
    let after = read(&org.agent, &run);
    let mut kept: Vec<u64> =
        after["run"]["events"].as_array().unwrap()[1..].iter().map(|e| e["detail"]["n"].as_u64().unwrap()).collect();
    kept.sort_unstable();
    assert_eq!(kept, (0..most as u64).collect::<Vec<_>>(), "each once");
    // Each was answered with the run as its own event left it.
    for (n, answer) in answers.iter().enumerate() {
        let events = answer.as_ref().unwrap()["run"]["events"].as_array().unwrap();
        assert_eq!(events.last().unwrap()["detail"]["n"], n);
        assert_eq!(events[..], after["run"]["events"].as_array().unwrap()[..events.len()]);
    }
}

fn a_start_from_16_connections_happens_once(org: &Org) {
    org.provide(&Bundle::parcel());
    org.agent.token();
    let call = json!({ "provider": PARCEL, "graph": "parcel", "requestId": fresh() });
    let answers = at_once(16, |_| patient(&org.agent, "start_graph_run", &call));
    for answer in &answers {
        assert_eq!(answer.as_ref().unwrap(), answers[0].as_ref().unwrap());
    }
}

fn what_is_too_large_or_too_deep_is_refused(org: &Org) {
    let run = org.parcel();
    let text = |bytes: usize| "x".repeat(bytes);
    let detail = |detail: Value| {
        let call = json!({ "graphRunId": id(&run), "node": "parcel/weigh", "outcome": "failed", "detail": detail });
        org.agent.call("record_outcome", call)
    };
    let error = refused_as(detail(json!({ "text": text(16_384) })), "invalid");
    assert!(error.issues[0].starts_with("detail: "), "{error:?}");
    let facts = |facts: Value| org.agent.call("set_facts", json!({ "graphRunId": id(&run), "facts": facts }));
    let error = refused_as(facts(json!({ "text": text(300_000) })), "invalid");
    assert!(!error.issues.is_empty(), "{error:?}");
    let start = json!({ "provider": PARCEL, "graph": "parcel", "facts": { "text": text(300_000) } });
    refused_as(org.agent.call("start_graph_run", start), "invalid");
    let nested = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({ "a": inner }));
    for levels in [40, 60, 63, 64, 90, 120] {
        let shown = match (detail(nested(levels)), facts(nested(levels))) {
            (Ok(_), Ok(shown)) => shown,
            (detail, facts) => {
                assert!(levels > 60, "{levels} levels are not too many: {detail:?} {facts:?}");
                for answer in [detail, facts] {
                    let error = refused_as(answer, "invalid");
                    assert!(error.issues[0].contains("nested deeper than"), "{levels}: {error:?}");
                }
                continue;
            }
        };
        assert_eq!(read(&org.agent, &run), shown);
        assert_eq!(shown["run"]["facts"], nested(levels));
    }
}

fn a_run_survives_a_kill() {
    let server = Server::start(Options::default());
    let org = Org::new(&server, "killed");
    let run = org.parcel();
    let call = json!({
        "graphRunId": id(&run), "node": "parcel/weigh", "outcome": "failed", "requestId": fresh(),
    });
    let after = org.agent.exact("record_outcome", call.clone()).unwrap();
    server.kill();
    server.restart(Options::default());
    assert_eq!(org.agent.exact("record_outcome", call).unwrap(), after, "repeated, it is the same call");
    assert_eq!(read(&org.agent, &run), after);
    record(&org.agent, &run, "parcel/weigh", "completed");
    let located = org.agent.ok("locate_resource", json!({ "provider": PARCEL, "id": "scales" }));
    let opened = crate::harness::anonymous("GET", located["url"].as_str().unwrap(), None);
    assert_eq!(opened.body, Bundle::parcel().files["resources/scales.md"]);
}
