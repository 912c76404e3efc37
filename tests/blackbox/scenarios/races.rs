//! Many callers at one time: the server, not the client, resolves concurrent writes (core §6).

use serde_json::{Value, json};

use crate::harness::{Answer, Client, Org, at_once, file, fresh, item, scenarios, state, without_urls};

scenarios! {
    any: [
        of_32_agents_one_wins_the_step,
        of_two_deciders_one_wins_and_the_other_learns_it,
        one_request_from_16_connections_happens_once,
        a_submission_and_a_cancellation_have_one_outcome,
        many_runs_at_once_do_not_disturb_each_other,
        events_sent_at_once_are_all_kept,
        publications_at_once_number_their_versions,
    ],
}

/// Most repetitions of a call that is told to try again.
const RETRIES: usize = 20;

/// Calls until the answer is not `retry`, with the same request id, as the contracts say.
pub fn patient(client: &Client, tool: &str, arguments: &Value) -> Answer {
    for _ in 0..RETRIES {
        match client.exact(tool, arguments.clone()) {
            Err(error) if error.code == "retry" => {}
            answer => return answer,
        }
    }
    panic!("{tool}: retry, {RETRIES} times")
}

const STEPS: &str = "
steps:
  - { id: work, agent: Work. }
  - { id: sign, approve: Sign., person: boss, on_reject: work }
  - { id: end, finish: over }
";

fn of_32_agents_one_wins_the_step(org: &Org) {
    let run = org.run("race", STEPS, json!({}));
    let agents: Vec<Client> = (0..32).map(|n| org.client("agent", &format!("a_{n}"), &[], false)).collect();
    agents.iter().for_each(|a| drop(a.token().to_owned()));
    let answers = at_once(32, |n| {
        let call = json!({ "runId": run["run"]["id"], "stepId": "work", "requestId": fresh() });
        patient(&agents[n], "claim", &call)
    });
    let winners: Vec<usize> = (0..32).filter(|n| answers[*n].is_ok()).collect();
    assert_eq!(winners.len(), 1, "{winners:?}");
    for (n, answer) in answers.iter().enumerate().filter(|(n, _)| *n != winners[0]) {
        let error = answer.as_ref().unwrap_err();
        assert_eq!(
            (error.code.as_str(), error.issues.as_slice()),
            ("conflict", &["claimed_by_other".to_owned()][..]),
            "{n}"
        );
    }
    let claimed = answers[winners[0]].as_ref().unwrap();
    agents[winners[0]].submit(claimed, json!({}), json!({})).unwrap();
}

fn of_two_deciders_one_wins_and_the_other_learns_it(org: &Org) {
    // Work follows either decision, so the loser always finds a run that goes on.
    let steps = "
steps:
  - { id: work, agent: Work. }
  - { id: sign, approve: Sign., person: boss, on_reject: work }
  - { id: deliver, agent: Deliver. }
  - { id: end, finish: over }
";
    org.publish(&file("race", steps));
    let second = org.person("sara@acme.example", &["staff"]);
    let deciders = [&org.staff, &second];
    deciders.iter().for_each(|d| drop(d.token().to_owned()));
    for _ in 0..5 {
        let run = org.agent.start("race", json!({}));
        let view = org.agent.work_on(&run, "work", json!({}), json!({}));
        let answers = at_once(2, |n| {
            let mut call = item(&view, "sign")["decide"]["arguments"].clone();
            call["decision"] = json!(["approved", "rejected"][n]);
            if n == 1 {
                call["note"] = json!("No.");
            }
            call["requestId"] = json!(fresh());
            patient(deciders[n], "decide", &call)
        });
        let won: Vec<usize> = (0..2).filter(|n| answers[*n].is_ok()).collect();
        assert_eq!(won.len(), 1, "{answers:?}");
        let error = answers[1 - won[0]].as_ref().unwrap_err();
        assert_eq!((error.code.as_str(), error.issues.as_slice()), ("conflict", &["already_decided".to_owned()][..]));
        let view = org.agent.view(&run);
        assert_eq!(view["data"]["steps"]["sign"]["by"], deciders[won[0]].subject());
        assert_eq!(state(&view, ["deliver", "work"][won[0]]), "ready", "what follows the winner's decision");
    }
}

fn one_request_from_16_connections_happens_once(org: &Org) {
    org.publish(&file("race", STEPS));
    let everywhere = |client: &Client, tool: &str, mut arguments: Value| -> Value {
        client.token();
        arguments["requestId"] = json!(fresh());
        let answers = at_once(16, |_| patient(client, tool, &arguments));
        let first = without_urls(answers[0].clone().unwrap_or_else(|e| panic!("{tool}: {e:?}")));
        for answer in answers {
            assert_eq!(answer.map(without_urls), Ok(first.clone()), "{tool}");
        }
        first
    };
    let run = everywhere(&org.agent, "start_run", json!({ "process": "race", "inputs": {} }));
    assert_eq!(org.agent.pages("list_runs", json!({})).len(), 1);
    let id = &run["run"]["id"];
    let file_of = json!({ "fileName": "a", "contentType": "text/plain", "contentBase64": "aGVsbG8=" });
    let stored = everywhere(&org.agent, "upload", file_of);
    let claimed = everywhere(&org.agent, "claim", json!({ "runId": id, "stepId": "work" }));
    let renewed = everywhere(&org.agent, "renew", json!({ "token": claimed["token"], "progress": "Half." }));
    org.agent.ok("renew", json!({ "token": renewed["token"] }));
    let escalated = org.agent.ok("start_run", json!({ "process": "race", "inputs": {} }));
    let claimed = org.agent.claim(&escalated, "work");
    let view = everywhere(&org.agent, "escalate", json!({ "token": claimed["token"], "note": "Stuck." }));
    let mut call = item(&view, "work")["decide"]["arguments"].clone();
    call["decision"] = json!("completed");
    call["output"] = json!({});
    call["evidence"] = json!([{ "kind": "file", "ref": stored["id"] }]);
    let view = everywhere(&org.operator, "decide", call);
    assert_eq!(view["data"]["steps"]["work"]["history"], json!([]), "completed once");
    for n in 0..2 {
        let event = json!({ "runId": id, "name": "event", "data": { "n": n } });
        assert_eq!(everywhere(&org.agent, "send_event", event), json!({ "consumedBy": null }));
    }
    everywhere(&org.operator, "import_process", json!({ "source": file("race", STEPS) }));
    let published =
        everywhere(&org.operator, "publish_process", json!({ "name": "race", "roles": { "boss": "staff" } }));
    assert_eq!(published["version"], 2);
    assert_eq!(org.operator.ok("get_process", json!({ "name": "race" }))["latest"], 2);
    let cancelled = everywhere(&org.operator, "cancel", json!({ "runId": id, "reason": "Enough." }));
    assert_eq!(cancelled["run"]["state"], "cancelled");
}

fn a_submission_and_a_cancellation_have_one_outcome(org: &Org) {
    org.publish(&file("short", "steps:\n  - { id: work, agent: Work. }\n  - { id: end, finish: over }"));
    org.operator.token();
    for _ in 0..5 {
        let run = org.agent.start("short", json!({}));
        let claimed = org.agent.claim(&run, "work");
        let answers = at_once(2, |n| match n {
            0 => {
                let call = json!({ "token": claimed["token"], "output": {}, "summary": "s", "requestId": fresh() });
                patient(&org.agent, "submit", &call)
            }
            _ => {
                let call = json!({ "runId": run["run"]["id"], "reason": "Enough.", "requestId": fresh() });
                patient(&org.operator, "cancel", &call)
            }
        });
        let won: Vec<usize> = (0..2).filter(|n| answers[*n].is_ok()).collect();
        assert_eq!(won.len(), 1, "{answers:?}");
        let error = answers[1 - won[0]].as_ref().unwrap_err();
        assert_eq!((error.code.as_str(), error.issues[0].as_str()), ("conflict", "run_ended"));
        let view = org.agent.view(&run);
        let (run_state, step) = if won[0] == 0 { ("ended", "done") } else { ("cancelled", "cancelled") };
        assert_eq!((&view["run"]["state"], state(&view, "work")), (&json!(run_state), &json!(step)));
    }
}

fn many_runs_at_once_do_not_disturb_each_other(org: &Org) {
    org.publish(&file("race", STEPS));
    org.staff.token();
    let agents: Vec<Client> = (0..8).map(|n| org.client("agent", &format!("a_{n}"), &[], false)).collect();
    let ended = at_once(8, |n| {
        let once = |client: &Client, tool: &str, mut arguments: Value| {
            arguments["requestId"] = json!(fresh());
            patient(client, tool, &arguments).unwrap_or_else(|e| panic!("{tool}: {e:?}"))
        };
        let agent = &agents[n];
        let run = once(agent, "start_run", json!({ "process": "race", "inputs": {} }));
        let claimed = once(agent, "claim", json!({ "runId": run["run"]["id"], "stepId": "work" }));
        let view = once(agent, "submit", json!({ "token": claimed["token"], "output": {}, "summary": "s" }));
        let mut call = item(&view, "sign")["decide"]["arguments"].clone();
        call["decision"] = json!("approved");
        once(&org.staff, "decide", call)
    });
    for (n, view) in ended.iter().enumerate() {
        assert_eq!(view["run"]["outcome"], "over");
        assert_eq!(view["data"]["steps"]["work"]["by"], format!("a_{n}"));
    }
    assert!(org.staff.work().is_empty() && org.agent.work().is_empty());
}

fn events_sent_at_once_are_all_kept(org: &Org) {
    let count = 12;
    let mut rest = "steps:\n  - { id: work, agent: Work. }\n".to_owned();
    for n in 0..count {
        rest.push_str(&format!("  - {{ id: heard{n}, wait_for: signal }}\n"));
    }
    rest.push_str("  - { id: end, finish: over }\n");
    let run = org.run("many-events", &rest, json!({}));
    at_once(count, |n| {
        let call = json!({ "runId": run["run"]["id"], "name": "signal", "data": { "n": n }, "requestId": fresh() });
        assert_eq!(patient(&org.agent, "send_event", &call), Ok(json!({ "consumedBy": null })));
    });
    let ended = org.agent.work_on(&run, "work", json!({}), json!({}));
    assert_eq!(ended["run"]["outcome"], "over", "each of the waits has its event");
    let mut heard: Vec<u64> =
        (0..count).map(|n| ended["data"]["steps"][format!("heard{n}")]["output"]["n"].as_u64().unwrap()).collect();
    heard.sort_unstable();
    assert_eq!(heard, (0..u64::try_from(count).unwrap()).collect::<Vec<_>>());
}

fn publications_at_once_number_their_versions(org: &Org) {
    let source = |n: usize| file("busy", &format!("steps:\n  - {{ id: end, finish: over {n} }}"));
    org.publish(&source(99));
    org.operator.token();
    let published: Vec<Value> = at_once(6, |n| {
        let import = json!({ "source": source(n), "requestId": fresh() });
        patient(&org.operator, "import_process", &import).unwrap();
        // Another import may have taken this draft's place, and another publication may have taken the draft.
        match patient(&org.operator, "publish_process", &json!({ "name": "busy", "roles": {}, "requestId": fresh() })) {
            Ok(published) => Some(published),
            Err(error) => {
                assert_eq!(error.code, "not_found", "{error:?}");
                None
            }
        }
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(!published.is_empty());
    let mut versions: Vec<u64> = published.iter().map(|p| p["version"].as_u64().unwrap()).collect();
    versions.sort_unstable();
    let expected: Vec<u64> = (2..).take(published.len()).collect();
    assert_eq!(versions, expected, "no number twice, none left out");
    for one in &published {
        let known = org.operator.ok("get_process", json!({ "name": "busy", "version": one["version"] }));
        assert_eq!(known["published"]["hash"], one["hash"]);
        assert_eq!(known["latest"], versions.len() + 1);
    }
}
