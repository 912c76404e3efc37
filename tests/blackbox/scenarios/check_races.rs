//! What happens to a run while the evaluator thinks about a submission (profile check-1).

use serde_json::{Value, json};

use super::check_errors::{meanwhile, writing};
use crate::harness::{Answer, Org, Script, at_once, fresh, item, refused, refused_as, scenarios, state, states};

scenarios! {
    checked: [
        a_run_cancelled_while_it_thinks_stays_cancelled,
        a_claim_renewed_while_it_thinks_is_another,
        a_step_escalated_while_it_thinks_is_the_operators,
        of_two_submissions_at_once_one_is_accepted,
        of_two_people_at_once_one_is_accepted,
        an_agents_work_outlives_what_other_branches_do,
        a_person_is_told_that_run_data_changed,
        two_branches_may_wait_on_a_person_at_once,
    ],
}

fn a_run_cancelled_while_it_thinks_stays_cancelled(org: &Org) {
    let script = Script::new();
    let (run, call) = writing(org, &script);
    let cancel = || drop(org.operator.ok("cancel", json!({ "runId": run["run"]["id"], "reason": "Not needed." })));
    let answer = meanwhile(&script, &org.agent, "submit", &call, cancel).unwrap();
    refused(answer, "conflict", &["run_ended"]);
    assert_eq!(states(&org.agent.view(&run)), "cancelled/- write=cancelled end=-");
}

fn a_claim_renewed_while_it_thinks_is_another(org: &Org) {
    let script = Script::new();
    let (run, call) = writing(org, &script);
    let renew = || drop(org.agent.ok("renew", json!({ "token": call["token"], "progress": "Nearly." })));
    refused_as(meanwhile(&script, &org.agent, "submit", &call, renew).unwrap(), "stale");
    assert_eq!(state(&org.agent.view(&run), "write"), "claimed");
}

fn a_step_escalated_while_it_thinks_is_the_operators(org: &Org) {
    let script = Script::new();
    let (run, call) = writing(org, &script);
    let escalate = || drop(org.agent.ok("escalate", json!({ "token": call["token"], "note": "On second thought." })));
    refused_as(meanwhile(&script, &org.agent, "submit", &call, escalate).unwrap(), "stale");
    let view = org.operator.view(&run);
    let escalation = &item(&view, "write")["escalation"];
    assert_eq!((&escalation["note"], escalation.get("check")), (&json!("On second thought."), None));
}

/// How many of these were accepted, and how the others were refused.
fn settled(answers: &[Answer]) -> (usize, Vec<(String, Vec<String>)>) {
    let refused = answers.iter().filter_map(|a| a.as_ref().err());
    (answers.iter().filter(|a| a.is_ok()).count(), refused.map(|e| (e.code.clone(), e.issues.clone())).collect())
}

fn of_two_submissions_at_once_one_is_accepted(org: &Org) {
    let rest = "
steps:
  - { id: write, agent: Write., output: { text: string }, check: Is it polite? }
  - { id: post, agent: Post it. }
  - { id: end, finish: sent }
";
    let run = org.run("twice", rest, json!({}));
    let claimed = org.agent.claim(&run, "write");
    let script = Script::new();
    script.hold();
    let answers = std::thread::scope(|scope| {
        let both = scope.spawn(|| {
            at_once(2, |n| {
                org.agent.exact(
                    "submit",
                    json!({
                        "token": claimed["token"], "output": { "text": (["One", "Two"][n]) },
                        "summary": script.summary(), "requestId": fresh(),
                    }),
                )
            })
        });
        script.wait_asked(2);
        script.release();
        both.join().unwrap()
    });
    assert_eq!(settled(&answers), (1, vec![("stale".to_owned(), Vec::new())]));
    let won = ["One", "Two"][answers.iter().position(Result::is_ok).unwrap()];
    let view = org.agent.view(&run);
    assert_eq!(states(&view), "active/- write=done post=ready end=-");
    assert_eq!(view["data"]["steps"]["write"]["output"]["text"], won);
    assert_eq!(script.asked(), 2, "nobody is asked again after a lost race");
}

fn of_two_people_at_once_one_is_accepted(org: &Org) {
    let rest = "
steps:
  - id: write
    task: Write.
    person: clerk
    output: { text: string }
    check: [{ ask: Is it polite?, pass: 0.9, fail: 0.5 }]
  - { id: post, agent: Post it. }
  - { id: end, finish: sent }
";
    org.publish(&crate::harness::file("twice", rest));
    let people = [org.staff.clone(), org.person("sara@acme.example", &["staff"])];
    people.iter().for_each(|p| drop(p.token().to_owned()));
    for (p, expected) in [(0.95, "active/- write=done post=ready end=-"), (0.7, "waiting/- write=waiting post=- end=-")]
    {
        let run = org.agent.start("twice", json!({}));
        let script = Script::new().yes(p);
        script.hold();
        let answers = std::thread::scope(|scope| {
            let both = scope.spawn(|| {
                at_once(2, |n| {
                    let mut call = item(&run, "write")["decide"]["arguments"].clone();
                    (call["decision"], call["output"]) = (json!("completed"), json!({ "text": (["One", "Two"][n]) }));
                    (call["summary"], call["requestId"]) = (json!(script.summary()), json!(fresh()));
                    people[n].exact("decide", call)
                })
            });
            script.wait_asked(2);
            script.release();
            both.join().unwrap()
        });
        assert_eq!(settled(&answers), (1, vec![("conflict".to_owned(), vec!["already_decided".to_owned()])]));
        let winner = people[answers.iter().position(Result::is_ok).unwrap()].subject();
        let view = org.agent.view(&run);
        assert_eq!(states(&view), expected);
        let by = match view["workItems"].as_array().unwrap().first() {
            Some(held) => &held["escalation"]["candidate"]["by"],
            None => &view["data"]["steps"]["write"]["by"],
        };
        assert_eq!(by, winner);
        assert_eq!(script.asked(), 2);
    }
}

/// Two branches beside each other, both checked.
const BESIDE: &str = "
steps:
  - { id: both, parallel: [write, sign], next: end }
  - { id: write, agent: Write., check: [{ ask: Is it polite?, pass: 0.9, fail: 0.5 }], next: join }
  - { id: sign, task: Sign., person: clerk, check: [{ ask: Is it signed?, pass: 0.9, fail: 0.5 }], next: join }
  - { id: end, finish: sent }
";

fn signing(org: &Org, run: &Value, script: &Script) -> Value {
    let mut call = item(&org.staff.view(run), "sign")["decide"]["arguments"].clone();
    (call["decision"], call["output"]) = (json!("completed"), json!({}));
    (call["summary"], call["requestId"]) = (json!(script.summary()), json!(fresh()));
    call
}

fn an_agents_work_outlives_what_other_branches_do(org: &Org) {
    for (p, write) in [(0.95, "done"), (0.7, "waiting")] {
        let run = org.run("beside", BESIDE, json!({}));
        let claimed = org.agent.claim(&run, "write");
        let script = Script::new().yes(p);
        let call = json!({
            "token": claimed["token"], "output": {}, "summary": script.summary(), "requestId": fresh(),
        });
        let sign = signing(org, &run, &Script::new());
        let view = meanwhile(&script, &org.agent, "submit", &call, || drop(org.staff.exact("decide", sign).unwrap()));
        let view = view.unwrap().unwrap();
        assert_eq!((state(&view, "write"), state(&view, "sign")), (&json!(write), &json!("done")));
        assert_eq!(script.asked(), 1, "what was said of a submission stands, whoever else wrote meanwhile");
    }
}

fn a_person_is_told_that_run_data_changed(org: &Org) {
    let run = org.run("beside", BESIDE, json!({}));
    let claimed = org.agent.claim(&run, "write");
    let script = Script::new();
    let call = signing(org, &run, &script);
    let write = || drop(org.agent.submit(&claimed, json!({}), json!({})).unwrap());
    refused_as(meanwhile(&script, &org.staff, "decide", &call, write).unwrap(), "stale");
    let ended = org.staff.exact("decide", signing(org, &run, &script)).unwrap();
    assert_eq!(states(&ended), "ended/sent both=done write=done sign=done end=done");
    assert_eq!(script.asked(), 2);
}

fn two_branches_may_wait_on_a_person_at_once(org: &Org) {
    let run = org.run("beside", BESIDE, json!({}));
    let scripts = [Script::new().yes(0.6), Script::new().yes(0.7)];
    org.agent.work_on(&run, "write", json!({}), json!({ "summary": scripts[0].summary() }));
    let view = org.staff.exact("decide", signing(org, &run, &scripts[1])).unwrap();
    assert_eq!(states(&view), "waiting/- both=waiting write=waiting sign=waiting end=-");
    let listed = org.operator.work_of(&run);
    assert_eq!(listed.len(), 2);
    for ((step, script), work) in ["write", "sign"].iter().zip(&scripts).zip(&listed) {
        let shown = item(&view, step);
        assert_eq!(&work["workItem"], shown, "each with what was submitted for it");
        assert_eq!(shown["escalation"]["candidate"]["summary"], json!(script.summary()));
        assert_eq!(view["data"]["steps"][*step]["check"], shown["escalation"]["check"]);
    }
    let seen = item(&view, "sign")["snapshot"].clone();
    org.operator.decide(&run, "write", "completed", json!({}));
    refused_as(org.operator.try_decide(&run, "sign", "completed", json!({ "snapshot": seen })), "stale");
    let ended = org.operator.decide(&run, "sign", "completed", json!({}));
    assert_eq!(states(&ended), "ended/sent both=done write=done sign=done end=done");
    for step in ["write", "sign"] {
        assert_eq!(ended["data"]["steps"][step]["by"], org.operator.subject());
    }
}
