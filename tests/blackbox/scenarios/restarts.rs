//! What is acknowledged is kept: kills without warning, under load, and timers that fall due while nobody runs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::waits::millis;
use crate::harness::{
    Answer, Client, Options, Org, Server, eventually, file, fresh, item, pass, scenarios, states, without_urls,
};

scenarios! {
    own: [timers_that_fell_due_meanwhile_catch_up, a_restart_keeps_everything, a_kill_under_load_loses_nothing],
}

fn timers_that_fell_due_meanwhile_catch_up() {
    let options = Options { lease_seconds: 86_400, speed: 3_600 };
    let server = Server::start(options);
    let org = Org::new(&server, "timers");
    let rest = "
steps:
  - { id: pause, wait: 2h }
  - { id: heard, wait_for: reply, timeout: 1h, on_timeout: late, next: early }
  - { id: early, agent: Early., next: end }
  - { id: late, task: Late., person: clerk, due: 30m }
  - { id: end, finish: over }
";
    let run = org.run("timers", rest, json!({}));
    assert_eq!(run["run"]["state"], "waiting");
    server.kill();
    pass(1_300);
    server.restart(options);
    let view = eventually("it moved on", || Some(org.agent.view(&run)).filter(|v| v["steps"][3]["overdue"] == true));
    assert_eq!(states(&view), "waiting/- pause=done heard=done early=- late=waiting end=-");
    let started = millis(&run["run"]["startedAt"]);
    let hours = |time: &Value| (millis(time) - started) / 1_800_000;
    let at = |step: &str| hours(&view["data"]["steps"][step]["at"]);
    assert_eq!((at("pause"), at("heard")), (4, 6), "each at its due instant, in half hours");
    assert_eq!(hours(&item(&view, "late")["due"]), 7);
    // A late event finds the timeout past.
    let event = json!({ "runId": run["run"]["id"], "name": "reply" });
    assert_eq!(org.agent.ok("send_event", event), json!({ "consumedBy": null }));
}

const STEPS: &str = "
inputs: { n: number }
steps:
  - { id: work, agent: Work., evidence: [file] }
  - { id: sign, approve: Sign., person: boss, on_reject: work }
  - { id: heard, wait_for: signal }
  - { id: end, finish: over }
";

fn a_restart_keeps_everything() {
    let server = Server::start(Options::default());
    let org = Org::new(&server, "restart");
    let inputs = serde_json::from_str(r#"{ "n": 1.50 }"#).unwrap();
    let run = org.run("kept", STEPS, inputs);
    let claim = json!({ "runId": run["run"]["id"], "stepId": "work", "requestId": "claim" });
    let claimed = org.agent.ok("claim", claim.clone());
    let renewed = org.agent.ok("renew", json!({ "token": claimed["token"], "progress": "Half." }));
    let stored = org.agent.upload("a.txt", b"the bytes");
    let event = json!({ "runId": run["run"]["id"], "name": "signal", "data": { "k": 1 } });
    org.agent.ok("send_event", event);
    let cursor = org.agent.ok("list_runs", json!({ "limit": 1 }))["nextCursor"].clone();
    let before = org.agent.view(&run);
    server.kill();
    server.restart(Options::default());
    assert_eq!(org.agent.view(&run), before, "tokens too outlive a restart on another port");
    assert_eq!(org.agent.ok("claim", claim), claimed);
    assert!(cursor.is_null());
    let evidence = json!({ "evidence": [{ "kind": "file", "ref": stored["id"] }] });
    org.agent.submit(&renewed, json!({}), evidence).unwrap();
    server.kill();
    server.restart(Options::default());
    let ended = org.staff.decide(&run, "sign", "approved", json!({}));
    assert_eq!(states(&ended), "ended/over work=done sign=done heard=done end=done");
    let url = ended["data"]["steps"]["work"]["evidence"][0]["url"].as_str().unwrap();
    assert_eq!(crate::harness::anonymous("GET", url, None).body, b"the bytes");
    assert_eq!(ended["data"]["inputs"]["n"].to_string(), "1.50");
}

/// Clients that load the server, each in a loop.
const CLIENTS: usize = 6;

/// Answers that came before the kill.
const LOAD_CALLS: usize = 80;

/// Kills of one server.
const KILLS: usize = 2;

struct Acknowledged {
    who: usize,
    tool: &'static str,
    arguments: Value,
    answer: Value,
}

fn a_kill_under_load_loses_nothing() {
    let server = Server::start(Options::default());
    let org = Org::new(&server, "kills");
    org.publish(&file("kept", STEPS));
    let agents: Vec<Client> = (0..CLIENTS).map(|n| org.client("agent", &format!("a_{n}"), &[], false)).collect();
    let people: Vec<Client> = (0..CLIENTS).map(|n| org.person(&format!("p{n}@acme.example"), &["staff"])).collect();
    agents.iter().chain(&people).for_each(|c| drop(c.token().to_owned()));
    let client = |who: usize| if who < CLIENTS { &agents[who] } else { &people[who - CLIENTS] };
    let acknowledged: Mutex<Vec<Acknowledged>> = Mutex::default();
    let lost: Mutex<Vec<(usize, &'static str, Value)>> = Mutex::default();
    for round in 0..KILLS {
        let stop = AtomicBool::new(false);
        // An answer that came is noted; a call without an answer is too, for it may have happened.
        let call = |who: usize, tool: &'static str, mut arguments: Value| -> Option<Value> {
            arguments["requestId"] = json!(fresh());
            match client(who).try_exact(tool, &arguments) {
                Some(Ok(answer)) => {
                    let note = Acknowledged { who, tool, arguments, answer: answer.clone() };
                    acknowledged.lock().unwrap().push(note);
                    Some(answer)
                }
                Some(Err(error)) if error.code == "retry" => None,
                Some(Err(error)) => panic!("{tool} {arguments}: {error:?}"),
                None => {
                    lost.lock().unwrap().push((who, tool, arguments));
                    None
                }
            }
        };
        let unit = |n: usize| -> Option<()> {
            let run = call(n, "start_run", json!({ "process": "kept", "inputs": { "n": round } }))?;
            let id = run["run"]["id"].clone();
            let file = json!({ "fileName": "a", "contentType": "text/plain", "contentBase64": "aGVsbG8=" });
            let stored = call(n, "upload", file)?;
            let claimed = call(n, "claim", json!({ "runId": id, "stepId": "work" }))?;
            let renewed = call(n, "renew", json!({ "token": claimed["token"], "progress": "Half." }))?;
            let evidence = json!([{ "kind": "file", "ref": stored["id"] }]);
            let submit = json!({ "token": renewed["token"], "output": {}, "evidence": evidence, "summary": "s" });
            let view = call(n, "submit", submit)?;
            call(n, "send_event", json!({ "runId": id, "name": "signal", "data": { "n": n } }))?;
            let mut decide = item(&view, "sign")["decide"]["arguments"].clone();
            decide["decision"] = json!("approved");
            call(CLIENTS + n, "decide", decide).map(|_| ())
        };
        std::thread::scope(|scope| {
            for n in 0..CLIENTS {
                let (unit, stop) = (&unit, &stop);
                scope.spawn(move || while !stop.load(Ordering::Relaxed) && unit(n).is_some() {});
            }
            let enough = (round + 1) * LOAD_CALLS;
            eventually("enough load", || Some(()).filter(|()| acknowledged.lock().unwrap().len() >= enough));
            server.kill();
            stop.store(true, Ordering::Relaxed);
        });
        server.restart(Options::default());
    }
    let acknowledged = acknowledged.into_inner().unwrap();
    // Nothing acknowledged is lost: every call, repeated, gets the answer it got.
    for Acknowledged { who, tool, arguments, answer } in &acknowledged {
        let again = client(*who).exact(tool, arguments.clone());
        assert_eq!(again.map(without_urls), Ok(without_urls(answer.clone())), "{tool} {arguments}");
    }
    // What was lost on the way either happened once or can be done now; then its repetition is the same.
    for (who, tool, arguments) in lost.into_inner().unwrap() {
        let bare = |answer: Answer| answer.map(without_urls);
        let first = bare(client(who).exact(tool, arguments.clone()));
        assert!(first.is_ok(), "{tool} {arguments}: {first:?}");
        assert_eq!(bare(client(who).exact(tool, arguments)), first, "{tool}");
    }
    // The lists agree with the runs.
    let listed = org.agent.pages("list_runs", json!({ "limit": 100 }));
    let started = acknowledged.iter().filter(|a| a.tool == "start_run").count();
    assert!(listed.len() >= started, "{} listed, {started} acknowledged", listed.len());
    let work = org.agent.work();
    let inbox = org.staff.work();
    for run in &listed {
        let view = org.agent.ok("get_run", json!({ "runId": run["id"] }));
        assert_eq!((&view["run"]["state"], &view["run"]["updatedAt"]), (&run["state"], &run["updatedAt"]));
        let ready = view["steps"][0]["state"] == "ready";
        assert_eq!(work.iter().filter(|w| w["runId"] == run["id"]).count(), usize::from(ready), "{view}");
        let open = view["workItems"].as_array().unwrap().len();
        assert_eq!(inbox.iter().filter(|w| w["runId"] == run["id"]).count(), open, "{view}");
    }
}
