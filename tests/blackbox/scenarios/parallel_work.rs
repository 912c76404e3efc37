//! Several branches at once (parallel-1), as those see them who work: each step its own claim, item, snapshot and handoff.

use serde_json::{Value, json};

use super::parallel::{LEAFLET, complete, forked};
use crate::harness::{Org, at_once, eventually, file, fresh, item, refused, refused_as, scenarios, state, states};

scenarios! {
    any: [
        get_work_lists_every_ready_step_and_each_has_a_claim_of_its_own,
        a_person_has_an_item_of_every_branch,
        an_escalation_in_one_branch_leaves_the_others_going,
        a_decision_prepared_before_a_sibling_completed_is_stale,
        an_inbox_item_is_the_one_of_the_run_after_every_sibling,
        a_test_run_says_so_in_every_branch,
        lists_know_runs_with_branches,
        a_person_found_in_a_branch_has_work_in_it_and_after_the_join,
    ],
    brief: [a_lease_that_ends_in_one_branch_leaves_the_others],
}

fn get_work_lists_every_ready_step_and_each_has_a_claim_of_its_own(org: &Org) {
    let run = forked(org);
    let work = org.agent.work_of(&run);
    let calls: Vec<Value> = ["write", "shoot"]
        .map(|step| {
            let listed = work.iter().find(|w| w["stepId"] == step).unwrap();
            let mut call = listed["claim"]["arguments"].clone();
            call["requestId"] = json!(fresh());
            call
        })
        .to_vec();
    let agents = [&org.agent, &org.other];
    agents.iter().for_each(|a| drop(a.token().to_owned()));
    let answers = at_once(2, |n| agents[n].call("claim", calls[n].clone()));
    let claimed: Vec<Value> = answers.into_iter().map(|a| a.unwrap()).collect();
    assert_ne!(claimed[0]["token"], claimed[1]["token"]);
    let view = org.staff.view(&run);
    assert_eq!((state(&view, "write"), state(&view, "shoot")), (&json!("claimed"), &json!("claimed")));
    refused(org.other.try_claim(&run, "write"), "conflict", &["claimed_by_other"]);
    refused(org.other.try_claim(&run, "shoot"), "conflict", &["claimed_by_you"]);
    assert!(org.agent.work_of(&run).is_empty());
    // A token is of one step: renewing or submitting one leaves the other alone.
    let renewed = org.agent.ok("renew", json!({ "token": claimed[0]["token"], "progress": "Half." }));
    org.other.submit(&claimed[1], json!({}), json!({})).unwrap();
    let view = org.agent.submit(&renewed, json!({ "text": "t" }), json!({})).unwrap();
    assert_eq!((state(&view, "write"), state(&view, "shoot")), (&json!("done"), &json!("done")));
    // One agent may hold several steps of one run.
    let second = forked(org);
    for step in ["write", "shoot"] {
        org.agent.claim(&second, step);
    }
    let view = org.staff.view(&second);
    assert_eq!((state(&view, "write"), state(&view, "shoot")), (&json!("claimed"), &json!("claimed")));
}

fn a_person_has_an_item_of_every_branch(org: &Org) {
    let run = forked(org);
    complete(org, &run, "shoot");
    let listed = org.staff.work_of(&run);
    let steps: Vec<&Value> = listed.iter().map(|w| &w["workItem"]["stepId"]).collect();
    assert_eq!(steps, [&json!("permit"), &json!("retouch")], "oldest first");
    assert_ne!(listed[0]["workItem"]["id"], listed[1]["workItem"]["id"]);
    let view = org.staff.view(&run);
    let items: Vec<&Value> = view["workItems"].as_array().unwrap().iter().map(|i| &i["stepId"]).collect();
    assert_eq!(items, steps, "the run shows them alike");
    complete(org, &run, "permit");
    let listed = org.staff.work_of(&run);
    assert_eq!((listed.len(), &listed[0]["workItem"]["stepId"]), (1, &json!("retouch")));
}

fn an_escalation_in_one_branch_leaves_the_others_going(org: &Org) {
    let run = forked(org);
    let shoot = org.agent.claim(&run, "shoot");
    let write = org.other.claim(&run, "write");
    let view = org.agent.ok("escalate", json!({ "token": shoot["token"], "note": "No camera." }));
    let shown = "active/- plan=done make=waiting write=claimed shoot=waiting retouch=- permit=waiting look=- end=-";
    assert_eq!(states(&view), shown);
    assert_eq!(org.operator.work_of(&run).len(), 1);
    org.other.submit(&write, json!({ "text": "t" }), json!({})).unwrap();
    complete(org, &run, "permit");
    refused_as(org.agent.submit(&shoot, json!({}), json!({})), "stale");
    let back = org.operator.decide(&run, "shoot", "returned", json!({ "note": "Take mine." }));
    let shown = "active/- plan=done make=waiting write=done shoot=ready retouch=- permit=done look=- end=-";
    assert_eq!(states(&back), shown);
    let claimed = org.other.claim(&run, "shoot");
    assert_eq!(claimed["handoff"]["returned"]["note"], "Take mine.");
    org.other.ok("escalate", json!({ "token": claimed["token"], "note": "It is broken." }));
    let view = org.operator.decide(&run, "shoot", "completed", json!({ "output": {} }));
    assert_eq!(view["data"]["steps"]["shoot"]["by"], org.operator.subject());
    let view = complete(org, &run, "retouch");
    assert_eq!((state(&view, "make"), state(&view, "look")), (&json!("done"), &json!("waiting")));
}

fn a_decision_prepared_before_a_sibling_completed_is_stale(org: &Org) {
    let run = forked(org);
    complete(org, &run, "shoot");
    let sara = org.person("sara@acme.example", &["staff"]);
    let prepared = |view: &Value, step: &str, decision: &str| {
        let mut call = item(view, step)["decide"]["arguments"].clone();
        call["decision"] = json!(decision);
        call["requestId"] = json!(fresh());
        call
    };
    // Both read; the one decides, the other's reading is of a run that has moved on.
    let (one, two) = (org.staff.view(&run), sara.view(&run));
    org.staff.ok("decide", prepared(&one, "permit", "approved"));
    let late = prepared(&two, "retouch", "completed");
    refused_as(sara.call("decide", late.clone()), "stale");
    refused_as(sara.call("decide", late.clone()), "stale");
    let again = sara.view(&run);
    assert_eq!(item(&again, "retouch")["id"], item(&two, "retouch")["id"], "the item itself is the same");
    let mut call = late;
    call["snapshot"] = item(&again, "retouch")["snapshot"].clone();
    let view = sara.ok("decide", call);
    assert_eq!(state(&view, "retouch"), "done");
    // An agent's completion changes run data as well; a claim, a renewal and an escalation do not.
    let run = forked(org);
    let claimed = org.agent.claim(&run, "write");
    let shoot = org.agent.claim(&run, "shoot");
    let read = org.staff.view(&run);
    let renewed = org.agent.ok("renew", json!({ "token": claimed["token"], "progress": "Half." }));
    org.agent.ok("escalate", json!({ "token": shoot["token"], "note": "No camera." }));
    assert_eq!(item(&org.staff.view(&run), "permit")["snapshot"], item(&read, "permit")["snapshot"]);
    org.agent.submit(&renewed, json!({ "text": "t" }), json!({})).unwrap();
    refused_as(org.staff.call("decide", prepared(&read, "permit", "approved")), "stale");
    complete(org, &run, "permit");
    // Whoever decides an item a second time learns that first.
    refused(org.staff.call("decide", prepared(&read, "permit", "approved")), "conflict", &["already_decided"]);
}

fn an_inbox_item_is_the_one_of_the_run_after_every_sibling(org: &Org) {
    let run = forked(org);
    let agree = |view: &Value| {
        let listed: Vec<Value> = org.staff.work_of(&run).iter().map(|w| w["workItem"].clone()).collect();
        let shown: Vec<Value> = view["workItems"].as_array().unwrap().clone();
        assert_eq!(listed, shown);
    };
    agree(&run);
    for step in ["shoot", "write", "permit"] {
        agree(&complete(org, &run, step));
    }
    // So a decision goes through on what the inbox alone says.
    let mut call = org.staff.work_of(&run)[0]["workItem"]["decide"]["arguments"].clone();
    call["decision"] = json!("completed");
    call["output"] = json!({});
    call["requestId"] = json!(fresh());
    let view = org.staff.ok("decide", call);
    agree(&view);
    assert_eq!(state(&view, "look"), "waiting");
}

fn a_test_run_says_so_in_every_branch(org: &Org) {
    org.publish(&file("leaflet", LEAFLET));
    let run = org.agent.ok("start_run", json!({ "process": "leaflet", "inputs": {}, "mode": "test" }));
    org.agent.work_on(&run, "plan", json!({ "title": "t" }), json!({}));
    let work = org.agent.work_of(&run);
    assert_eq!(work.len(), 2);
    assert!(work.iter().all(|w| w["mode"] == "test"), "{work:?}");
    assert_eq!(org.agent.claim(&run, "write")["mode"], "test");
    let claimed = org.other.claim(&run, "shoot");
    assert_eq!(claimed["mode"], "test");
    org.other.ok("escalate", json!({ "token": claimed["token"], "note": "No camera." }));
    for (person, step) in [(&org.staff, "permit"), (&org.operator, "shoot")] {
        let listed = person.work_of(&run);
        assert_eq!((listed.len(), &listed[0]["mode"]), (1, &json!("test")));
        assert_eq!((&listed[0]["workItem"]["stepId"], &listed[0]["workItem"]["mode"]), (&json!(step), &json!("test")));
    }
}

fn lists_know_runs_with_branches(org: &Org) {
    let open = forked(org);
    let waiting = org.agent.start("leaflet", json!({}));
    org.agent.work_on(&waiting, "plan", json!({ "title": "t" }), json!({}));
    complete(org, &waiting, "write");
    complete(org, &waiting, "shoot");
    let ended = org.agent.start("leaflet", json!({}));
    org.agent.work_on(&ended, "plan", json!({ "title": "t" }), json!({}));
    org.staff.decide(&ended, "permit", "failed", json!({ "note": "No." }));
    let listed = org.agent.pages("list_runs", json!({ "process": "leaflet" }));
    assert_eq!(listed.len(), 3, "each once, however many branches");
    for (run, state) in [(&open, "active"), (&waiting, "waiting"), (&ended, "ended")] {
        let entry = listed.iter().find(|l| l["id"] == run["run"]["id"]).unwrap();
        let view = org.agent.view(run);
        assert_eq!(entry["state"], state);
        for field in ["state", "outcome", "updatedAt"] {
            assert_eq!(entry[field], view["run"][field], "{field}");
        }
        let found = org.agent.pages("list_runs", json!({ "process": "leaflet", "state": state }));
        assert_eq!(found.len(), 1, "{state}");
    }
    // get_work too, page by page, shows each ready step once.
    let page_by_page: Vec<Value> = org.agent.pages("get_work", json!({ "limit": 1 }));
    assert_eq!(page_by_page.len(), 2);
    let items = org.staff.pages("get_work", json!({ "limit": 1 }));
    assert_eq!(items.len(), 3, "one permit, one permit with a retouch, none of the ended");
}

fn a_person_found_in_a_branch_has_work_in_it_and_after_the_join(org: &Org) {
    let rest = "
steps:
  - { id: both, parallel: [find, work], next: thank }
  - { id: find, agent: Find., output: { who: person }, next: ask }
  - { id: ask, task: Answer., person: steps.find.output.who, next: join }
  - { id: work, agent: Work., next: join }
  - { id: thank, approve: Thank., person: steps.find.output.who, next: end }
  - { id: end, finish: over }
";
    let run = org.run("found", rest, json!({}));
    let fay = org.person("fay@acme.example", &[]);
    let view = org.agent.work_on(&run, "find", json!({ "who": fay.subject() }), json!({}));
    assert_eq!(item(&view, "ask")["assignedTo"], json!({ "person": fay.subject() }));
    org.agent.work_on(&run, "work", json!({}), json!({}));
    refused_as(org.staff.try_decide(&run, "ask", "completed", json!({})), "forbidden");
    let view = fay.decide(&run, "ask", "completed", json!({}));
    assert_eq!((state(&view, "both"), fay.work_of(&run).len()), (&json!("done"), 1));
    assert_eq!(fay.decide(&run, "thank", "approved", json!({}))["run"]["outcome"], "over");
}

fn a_lease_that_ends_in_one_branch_leaves_the_others(org: &Org) {
    let run = forked(org);
    let write = org.agent.claim(&run, "write");
    let write = org.agent.ok("renew", json!({ "token": write["token"], "progress": "One page." }));
    let mut shoot = org.other.claim(&run, "shoot");
    let listed = eventually("the one lease ends", || {
        // The other is renewed all the while.
        shoot = org.other.ok("renew", json!({ "token": shoot["token"] }));
        org.agent.work_of(&run).pop()
    });
    assert_eq!((&listed["stepId"], &listed["handoff"]), (&json!("write"), &json!({ "progress": "One page." })));
    let view = org.staff.view(&run);
    assert_eq!((state(&view, "write"), state(&view, "shoot")), (&json!("ready"), &json!("claimed")));
    refused_as(org.agent.submit(&write, json!({ "text": "t" }), json!({})), "stale");
    org.other.submit(&shoot, json!({}), json!({})).unwrap();
    let claimed = org.other.claim(&run, "write");
    assert_eq!(claimed["handoff"]["progress"], "One page.");
    let view = org.other.submit(&claimed, json!({ "text": "t" }), json!({})).unwrap();
    assert_eq!(view["data"]["steps"]["write"]["by"], org.other.subject());
    assert_eq!((state(&view, "write"), state(&view, "retouch")), (&json!("done"), &json!("waiting")));
}
