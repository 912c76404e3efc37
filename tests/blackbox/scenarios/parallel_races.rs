//! Branches at the same moment (parallel-1): whoever comes last joins, once, through replays, races and kills.

use std::sync::Mutex;

use serde_json::{Value, json};

use super::parallel::{complete, forked};
use super::parallel_wide::{BRANCHES, wide};
use super::races::patient;
use super::waits::millis;
use crate::harness::{
    Answer, Client, Options, Org, Server, at_once, eventually, file, fresh, item, pass, scenarios, state, states,
    without_urls,
};

scenarios! {
    any: [
        two_agents_that_finish_at_one_moment_join_once,
        an_agent_and_a_person_that_finish_at_one_moment_join_once,
        many_branches_that_finish_at_one_moment_join_once,
        an_end_and_a_join_at_one_moment_have_one_outcome,
        two_people_of_two_branches_at_one_moment_both_get_through,
        rework_in_a_branch_and_a_siblings_last_step_at_one_moment_do_not_join,
        a_repeated_request_gets_its_first_answer_across_fork_and_join,
        one_request_from_many_connections_forks_and_joins_once,
    ],
    own: [a_kill_at_the_join_loses_nothing_and_joins_once],
}

/// How often a race is run.
const ROUNDS: usize = 12;

const PAIR: &str = "
steps:
  - { id: both, parallel: [one, two], next: after }
  - { id: one, agent: One., output: { n: number }, next: join }
  - { id: two, agent: Two., output: { n: number }, next: join }
  - { id: after, agent: After. }
  - { id: sign, approve: Sign., person: boss, on_reject: both }
  - { id: end, finish: over }
";

const AFTER: &str = "active/- both=done one=done two=done after=ready sign=- end=-";

fn submission(claimed: &Value, output: Value) -> Value {
    json!({ "token": claimed["token"], "output": output, "summary": "Done.", "requestId": fresh() })
}

/// A decision with the snapshot of this view.
fn decision(view: &Value, step: &str, decision: &str) -> Value {
    let mut call = item(view, step)["decide"]["arguments"].clone();
    call["decision"] = json!(decision);
    call["requestId"] = json!(fresh());
    call
}

/// Decides, reading again as long as siblings complete in between.
fn decide_at_last(person: &Client, run: &Value, step: &str, kind: &str, note: Option<&str>) -> Answer {
    for _ in 0..ROUNDS {
        let mut call = decision(&person.view(run), step, kind);
        if let Some(note) = note {
            call["note"] = json!(note);
        }
        match patient(person, "decide", &call) {
            Err(error) if error.code == "stale" => {}
            answer => return answer,
        }
    }
    panic!("{step}: stale, {ROUNDS} times")
}

/// The run went on behind the join exactly once.
fn joined_once(org: &Org, run: &Value) {
    let view = org.agent.view(run);
    assert_eq!(states(&view), AFTER);
    for step in ["one", "two"] {
        assert_eq!(view["data"]["steps"][step]["history"], json!([]), "{step}");
    }
    let work = org.agent.work_of(run);
    assert_eq!((work.len(), &work[0]["stepId"]), (1, &json!("after")));
    let last = ["one", "two"].into_iter().map(|s| millis(&view["data"]["steps"][s]["at"])).max();
    assert_eq!(millis(&work[0]["readySince"]), last.unwrap(), "ready since the last of both");
}

fn two_agents_that_finish_at_one_moment_join_once(org: &Org) {
    org.publish(&file("pair", PAIR));
    let agents = [&org.agent, &org.other];
    agents.iter().for_each(|a| drop(a.token().to_owned()));
    for round in 0..ROUNDS {
        let run = org.agent.start("pair", json!({}));
        let steps = ["one", "two"];
        let claimed = [0, 1].map(|n| agents[n].claim(&run, steps[n]));
        let calls = [0, 1].map(|n| submission(&claimed[n], json!({ "n": round })));
        let answers = at_once(2, |n| patient(agents[n], "submit", &calls[n]));
        // Both are accepted; one of the answers shows the join.
        let shown: Vec<String> = answers.iter().map(|a| states(a.as_ref().unwrap())).collect();
        assert_eq!(shown.iter().filter(|s| *s == AFTER).count(), 1, "{shown:?}");
        joined_once(org, &run);
        for n in [0, 1] {
            let again = agents[n].exact("submit", calls[n].clone());
            assert_eq!(again, answers[n], "the first answer, whatever came after");
        }
        // And it goes on once: through the rest, and through a second round of both branches.
        org.agent.work_on(&run, "after", json!({}), json!({}));
        if round % 4 == 0 {
            org.staff.decide(&run, "sign", "rejected", json!({ "note": "Again." }));
            let claimed = [0, 1].map(|n| agents[n].claim(&run, steps[n]));
            at_once(2, |n| patient(agents[n], "submit", &submission(&claimed[n], json!({ "n": 0 }))).unwrap());
            let view = org.agent.work_on(&run, "after", json!({}), json!({}));
            assert_eq!(view["data"]["steps"]["after"]["history"].as_array().unwrap().len(), 1);
        }
        assert_eq!(org.staff.decide(&run, "sign", "approved", json!({}))["run"]["outcome"], "over");
    }
}

fn an_agent_and_a_person_that_finish_at_one_moment_join_once(org: &Org) {
    let rest = PAIR.replace("two, agent: Two., output: { n: number }", "two, task: Two., person: clerk");
    org.publish(&file("pair", &rest));
    [&org.agent, &org.staff].into_iter().for_each(|c| drop(c.token().to_owned()));
    for _ in 0..ROUNDS {
        let run = org.agent.start("pair", json!({}));
        let claimed = org.agent.claim(&run, "one");
        let call = decision(&run, "two", "completed");
        let answers = at_once(2, |n| match n {
            0 => patient(&org.agent, "submit", &submission(&claimed, json!({ "n": 1 }))),
            _ => patient(&org.staff, "decide", &call),
        });
        answers[0].as_ref().unwrap();
        // The person prepared the decision before the agent was done: it counts when it came first.
        match &answers[1] {
            Ok(view) => {
                assert_eq!(state(view, "both"), "waiting");
                assert_eq!(states(answers[0].as_ref().unwrap()), AFTER);
            }
            Err(error) => {
                assert_eq!(error.code, "stale", "{error:?}");
                assert_eq!(state(answers[0].as_ref().unwrap(), "both"), "waiting");
                org.staff.decide(&run, "two", "completed", json!({}));
            }
        }
        joined_once(org, &run);
    }
}

fn many_branches_that_finish_at_one_moment_join_once(org: &Org) {
    let rest = wide(BRANCHES).replace("task: Do., person: clerk", "agent: Do.");
    let run = org.run("many", &rest, json!({}));
    let racers = 8;
    let agents: Vec<Client> = (0..racers).map(|n| org.client("agent", &format!("a_{n}"), &[], false)).collect();
    agents.iter().for_each(|a| drop(a.token().to_owned()));
    let steps: Vec<String> = (0..BRANCHES).map(|n| format!("b{n}")).collect();
    let (early, late) = steps.split_at(BRANCHES - racers);
    early.iter().for_each(|step| drop(org.agent.work_on(&run, step, json!({}), json!({}))));
    let claimed: Vec<Value> = (0..racers).map(|n| agents[n].claim(&run, &late[n])).collect();
    let answers = at_once(racers, |n| patient(&agents[n], "submit", &submission(&claimed[n], json!({}))).unwrap());
    assert_eq!(answers.iter().filter(|v| state(v, "all") == "done").count(), 1);
    let view = org.staff.view(&run);
    assert!(steps.iter().all(|s| state(&view, s) == "done"), "{}", states(&view));
    assert_eq!((state(&view, "all"), org.staff.work_of(&run).len()), (&json!("done"), 1));
    assert_eq!(org.staff.decide(&run, "sign", "approved", json!({}))["run"]["outcome"], "over");
}

fn an_end_and_a_join_at_one_moment_have_one_outcome(org: &Org) {
    org.publish(&file("pair", PAIR));
    org.operator.token();
    for _ in 0..ROUNDS {
        let run = org.agent.start("pair", json!({}));
        org.agent.work_on(&run, "one", json!({ "n": 1 }), json!({}));
        let claimed = org.agent.claim(&run, "two");
        let answers = at_once(2, |n| match n {
            0 => patient(&org.agent, "submit", &submission(&claimed, json!({ "n": 2 }))),
            _ => {
                let call = json!({ "runId": run["run"]["id"], "reason": "Enough.", "requestId": fresh() });
                patient(&org.operator, "cancel", &call)
            }
        });
        // The run goes on behind the join, so the cancellation always comes through; the submission may come too late.
        answers[1].as_ref().unwrap();
        let view = org.agent.view(&run);
        let shown = match &answers[0] {
            Ok(_) => "cancelled/- both=done one=done two=done after=cancelled sign=- end=-",
            Err(error) => {
                assert_eq!((error.code.as_str(), error.issues[0].as_str()), ("conflict", "run_ended"));
                "cancelled/- both=cancelled one=done two=cancelled after=- sign=- end=-"
            }
        };
        assert_eq!(states(&view), shown);
        assert!(org.agent.work_of(&run).is_empty());
    }
}

fn two_people_of_two_branches_at_one_moment_both_get_through(org: &Org) {
    let rest = "
steps:
  - { id: both, parallel: [one, two], next: after }
  - { id: one, task: One., person: clerk, next: join }
  - { id: two, approve: Two., person: boss, next: join }
  - { id: after, agent: After. }
  - { id: sign, approve: Sign., person: boss, on_reject: both }
  - { id: end, finish: over }
";
    org.publish(&file("pair", rest));
    let sara = org.person("sara@acme.example", &["staff"]);
    let people = [&org.staff, &sara];
    people.iter().for_each(|p| drop(p.token().to_owned()));
    for _ in 0..ROUNDS {
        let run = org.agent.start("pair", json!({}));
        let calls = [decision(&run, "one", "completed"), decision(&run, "two", "approved")];
        let answers = at_once(2, |n| patient(people[n], "decide", &calls[n]));
        let won: Vec<usize> = (0..2).filter(|n| answers[*n].is_ok()).collect();
        assert_eq!(won.len(), 1, "both read the same state, and the first of them changed it: {answers:?}");
        let late = 1 - won[0];
        assert_eq!(answers[late].as_ref().unwrap_err().code, "stale");
        let (step, kind) = [("one", "completed"), ("two", "approved")][late];
        people[late].decide(&run, step, kind, json!({}));
        joined_once(org, &run);
    }
}

fn rework_in_a_branch_and_a_siblings_last_step_at_one_moment_do_not_join(org: &Org) {
    let rest = "
steps:
  - { id: both, parallel: [draft, two], next: after }
  - { id: draft, agent: Draft., next: read }
  - { id: read, approve: Read., person: boss, on_reject: draft, next: join }
  - { id: two, agent: Two., next: join }
  - { id: after, agent: After. }
  - { id: end, finish: over }
";
    org.publish(&file("again", rest));
    [&org.other, &org.staff].into_iter().for_each(|c| drop(c.token().to_owned()));
    for _ in 0..ROUNDS {
        let run = org.agent.start("again", json!({}));
        org.agent.work_on(&run, "draft", json!({}), json!({}));
        let claimed = org.other.claim(&run, "two");
        at_once(2, |n| match n {
            0 => patient(&org.other, "submit", &submission(&claimed, json!({}))).unwrap(),
            _ => decide_at_last(&org.staff, &run, "read", "rejected", Some("No.")).unwrap(),
        });
        let view = org.agent.view(&run);
        assert_eq!(states(&view), "active/- both=waiting draft=ready read=- two=done after=- end=-");
        org.agent.work_on(&run, "draft", json!({}), json!({}));
        let view = org.staff.decide(&run, "read", "approved", json!({}));
        assert_eq!(states(&view), "active/- both=done draft=done read=done two=done after=ready end=-");
    }
}

fn a_repeated_request_gets_its_first_answer_across_fork_and_join(org: &Org) {
    let run = forked(org);
    let mut made: Vec<(&Client, &str, Value, Value)> = Vec::new();
    let mut make = |who: &'static str, tool: &'static str, mut call: Value| {
        let client = if who == "staff" { &org.staff } else { &org.agent };
        call["requestId"] = json!(fresh());
        let answer = client.ok(tool, call.clone());
        made.push((client, tool, call, answer.clone()));
        answer
    };
    let start = make("agent", "start_run", json!({ "process": "leaflet", "inputs": {} }));
    let id = &start["run"]["id"];
    let claim = |step: &str| json!({ "runId": id, "stepId": step });
    let submit =
        |claimed: &Value, output: Value| json!({ "token": claimed["token"], "output": output, "summary": "Done." });
    let claimed = make("agent", "claim", claim("plan"));
    let view = make("agent", "submit", submit(&claimed, json!({ "title": "t" })));
    assert_eq!(state(&view, "make"), "waiting", "this one forked");
    make("staff", "decide", decision(&view, "permit", "approved"));
    let claimed = make("agent", "claim", claim("shoot"));
    let view = make("agent", "submit", submit(&claimed, json!({})));
    make("staff", "decide", decision(&view, "retouch", "completed"));
    let claimed = make("agent", "claim", claim("write"));
    let renewed = make("agent", "renew", json!({ "token": claimed["token"], "progress": "Half." }));
    let view = make("agent", "submit", submit(&renewed, json!({ "text": "t" })));
    assert_eq!((state(&view, "make"), state(&view, "look")), (&json!("done"), &json!("waiting")), "this one joined");
    let mut reject = decision(&view, "look", "rejected");
    reject["note"] = json!("Again.");
    let view = make("staff", "decide", reject);
    assert_eq!((state(&view, "make"), state(&view, "write")), (&json!("waiting"), &json!("ready")));
    let claimed = make("agent", "claim", claim("write"));
    make("agent", "submit", submit(&claimed, json!({ "text": "u" })));
    let last = org.agent.view(&start);
    for (client, tool, call, answer) in made.iter().rev() {
        let again = client.exact(tool, call.clone());
        assert_eq!(again.map(without_urls), Ok(without_urls(answer.clone())), "{tool} {call}");
    }
    assert_eq!(org.agent.view(&start), last, "no repetition did anything");
    complete(org, &run, "write");
}

fn one_request_from_many_connections_forks_and_joins_once(org: &Org) {
    let rest = format!("steps:\n  - {{ id: begin, agent: Begin. }}{}", PAIR.trim_start().trim_start_matches("steps:"));
    org.publish(&file("pair", &rest));
    [&org.agent, &org.other].into_iter().for_each(|c| drop(c.token().to_owned()));
    let everywhere = |client: &Client, tool: &str, call: &Value| -> Value {
        let answers = at_once(12, |_| patient(client, tool, call));
        let first = answers[0].clone().unwrap();
        assert!(answers.iter().all(|a| a.as_ref() == Ok(&first)), "{tool}: {answers:?}");
        first
    };
    for _ in 0..3 {
        let run = org.agent.start("pair", json!({}));
        let begin = org.agent.claim(&run, "begin");
        let view = everywhere(&org.agent, "submit", &submission(&begin, json!({})));
        assert_eq!(states(&view), "active/- begin=done both=waiting one=ready two=ready after=- sign=- end=-");
        let (one, two) = (org.agent.claim(&run, "one"), org.other.claim(&run, "two"));
        everywhere(&org.other, "submit", &submission(&two, json!({ "n": 2 })));
        let view = everywhere(&org.agent, "submit", &submission(&one, json!({ "n": 1 })));
        assert_eq!(states(&view), AFTER.replace("both", "begin=done both"));
        assert_eq!(org.agent.work_of(&run).len(), 1);
    }
}

/// Runs that stand before their join when the server is killed.
const KILLED_RUNS: usize = 12;

/// Kills of one server.
const KILLS: usize = 3;

fn a_kill_at_the_join_loses_nothing_and_joins_once() {
    let server = Server::start(Options::default());
    let org = Org::new(&server, "joins");
    org.publish(&file("pair", PAIR));
    let agents = [&org.agent, &org.other];
    for kill in 0..KILLS {
        let calls: Vec<(Value, [Value; 2])> = (0..KILLED_RUNS)
            .map(|n| {
                let run = org.agent.start("pair", json!({}));
                let one = submission(&org.agent.claim(&run, "one"), json!({ "n": n }));
                let two = submission(&org.other.claim(&run, "two"), json!({ "n": n }));
                (run, [one, two])
            })
            .collect();
        let answered: Mutex<Vec<(usize, usize, Value)>> = Mutex::default();
        std::thread::scope(|scope| {
            for who in [0, 1] {
                let (calls, answered) = (&calls, &answered);
                scope.spawn(move || {
                    for (n, (_, both)) in calls.iter().enumerate() {
                        match agents[who].try_exact("submit", &both[who]) {
                            Some(Ok(view)) => answered.lock().unwrap().push((n, who, view)),
                            Some(Err(error)) if error.code == "retry" => {}
                            Some(Err(error)) => panic!("{error:?}"),
                            // Killed.
                            None => return,
                        }
                    }
                });
            }
            // At another moment of the joins each time.
            let enough = KILLED_RUNS / 2 + kill;
            eventually("some joins", || Some(()).filter(|()| answered.lock().unwrap().len() >= enough));
            server.kill();
        });
        pass(20);
        server.restart(Options::default());
        let answered = answered.into_inner().unwrap();
        assert!(answered.len() < 2 * KILLED_RUNS, "killed in the middle");
        for (n, who, view) in &answered {
            let again = agents[*who].exact("submit", calls[*n].1[*who].clone());
            assert_eq!(again.as_ref(), Ok(view), "what was answered is kept");
        }
        for (run, both) in &calls {
            let repeated = [0, 1].map(|who| patient(agents[who], "submit", &both[who]).unwrap());
            assert!(repeated.iter().any(|v| states(v) == AFTER), "one of the two joined");
            joined_once(&org, run);
        }
    }
}
