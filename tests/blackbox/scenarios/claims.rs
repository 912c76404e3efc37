//! One actor at a time (core §6.2): who holds a step, who learns what about it, and which tokens work.

use serde_json::{Value, json};

use crate::harness::{BRIEF_SECONDS, Org, eventually, pass, refused, refused_as, scenarios, state};

scenarios! {
    any: [
        a_claim_carries_everything_needed,
        a_claimed_step_belongs_to_one_caller,
        what_is_not_a_ready_agent_step_cannot_be_claimed,
        a_renewed_token_replaces_the_old_one,
        tokens_are_bound_to_their_caller,
        a_token_that_does_not_verify_is_invalid,
        tokens_never_appear_in_a_run_view,
    ],
    brief: [
        an_ended_lease_makes_the_step_claimable,
        a_superseded_worker_is_stale,
        a_lost_claim_answer_is_told_again_after_the_lease,
        a_lost_renewal_is_safe_to_repeat,
    ],
}

const TWO_STEPS: &str = "
inputs: { topic: string }
steps:
  - id: draft
    agent: Write a draft about the topic.
    output: { text: string, words: { type: number, optional: true } }
    evidence: [link]
    next:
      - { to: review, when: It needs a second pair of eyes }
      - done
  - id: review
    task: Read it.
    person: editor
  - id: done
    finish: written
";

fn started(org: &Org) -> Value {
    org.run("letter", TWO_STEPS, json!({ "topic": "rain" }))
}

fn lease_ends() {
    pass(BRIEF_SECONDS * 1_000 + 50);
}

fn a_claim_carries_everything_needed(org: &Org) {
    let run = started(org);
    let listed = org.agent.work_of(&run).remove(0);
    assert_eq!(listed["stepId"], "draft");
    assert_eq!(listed["claim"]["tool"], "claim");
    let mut call = listed["claim"]["arguments"].clone();
    assert_eq!(call["requestId"], "<new UUID>");
    call["requestId"] = json!(crate::harness::fresh());
    let claimed = org.agent.ok("claim", call);
    assert_eq!(
        claimed["step"],
        json!({
            "id": "draft",
            "instructions": "Write a draft about the topic.",
            "output": { "text": "string", "words": { "type": "number", "optional": true } },
            "evidence": ["link"],
            "next": [{ "to": "review", "when": "It needs a second pair of eyes" }, { "to": "done" }],
        })
    );
    assert_eq!(claimed["mode"], "live");
    assert_eq!(claimed["handoff"], Value::Null);
    assert_eq!(claimed["body"], "\n# letter\n\nIn plain words.\n");
    assert_eq!(claimed["data"], json!({ "inputs": { "topic": "rain" }, "steps": {} }));
    assert_eq!(state(&org.agent.view(&run), "draft"), "claimed");
    assert!(org.agent.work_of(&run).is_empty(), "a claimed step is nobody's to claim");
}

fn a_claimed_step_belongs_to_one_caller(org: &Org) {
    let run = started(org);
    org.agent.claim(&run, "draft");
    refused(org.agent.try_claim(&run, "draft"), "conflict", &["claimed_by_you"]);
    refused(org.other.try_claim(&run, "draft"), "conflict", &["claimed_by_other"]);
    assert!(org.other.work_of(&run).is_empty(), "get_work lists only what its caller may claim");
}

fn what_is_not_a_ready_agent_step_cannot_be_claimed(org: &Org) {
    let run = started(org);
    refused_as(org.agent.try_claim(&run, "nowhere"), "not_found");
    refused_as(org.agent.try_claim(&run, "review"), "forbidden");
    refused_as(org.agent.try_claim(&run, "done"), "forbidden");
    refused_as(org.staff.try_claim(&run, "draft"), "forbidden");
    refused_as(org.staff.try_claim(&run, "nowhere"), "not_found");
    refused_as(org.agent.call("claim", json!({ "runId": "r_none", "stepId": "draft" })), "not_found");
    let twice = org.run(
        "in-order",
        "steps:\n  - { id: one, agent: First. }\n  - { id: two, agent: Second. }\n  - { id: end, finish: over }",
        json!({}),
    );
    refused(org.agent.try_claim(&twice, "two"), "conflict", &["not_ready"]);
    org.agent.work_on(&twice, "one", json!({}), json!({}));
    refused(org.agent.try_claim(&twice, "one"), "conflict", &["not_ready"]);
    let claimed = org.agent.claim(&twice, "two");
    let step = json!({ "id": "two", "instructions": "Second.", "output": {}, "evidence": [], "next": null });
    assert_eq!(claimed["step"], step, "what is not declared reads as nothing asked");
}

fn a_renewed_token_replaces_the_old_one(org: &Org) {
    let run = started(org);
    let first = org.agent.claim(&run, "draft");
    let second = org.agent.ok("renew", json!({ "token": first["token"], "progress": "Half of it." }));
    assert_ne!(second["token"], first["token"]);
    assert!(second["expiresAt"].as_str() >= first["expiresAt"].as_str());
    refused(org.agent.call("renew", json!({ "token": first["token"] })), "stale", &[]);
    refused(org.agent.submit(&first, json!({ "text": "x" }), json!({})), "stale", &[]);
    refused(org.agent.call("escalate", json!({ "token": first["token"], "note": "Stuck." })), "stale", &[]);
    let link = json!([{ "kind": "link", "ref": "DOC-1" }]);
    let more = json!({ "evidence": link, "next": "done", "reason": "It is short." });
    let ended = org.agent.submit(&second, json!({ "text": "x" }), more).unwrap();
    assert_eq!(ended["run"]["outcome"], "written");
}

fn tokens_are_bound_to_their_caller(org: &Org) {
    let run = started(org);
    let claimed = org.agent.claim(&run, "draft");
    let token = &claimed["token"];
    for client in [&org.other, &org.staff, &org.operator] {
        refused_as(client.call("renew", json!({ "token": token })), "forbidden");
        refused_as(client.submit(&claimed, json!({ "text": "x" }), json!({})), "forbidden");
        refused_as(client.call("escalate", json!({ "token": token, "note": "Mine now." })), "forbidden");
    }
    let foreign = org.foreign();
    refused_as(foreign.agent.call("renew", json!({ "token": token })), "invalid");
    refused_as(foreign.agent.submit(&claimed, json!({ "text": "x" }), json!({})), "invalid");
    refused_as(foreign.agent.call("escalate", json!({ "token": token, "note": "Mine now." })), "invalid");
    org.agent.ok("renew", json!({ "token": token }));
}

fn a_token_that_does_not_verify_is_invalid(org: &Org) {
    let run = started(org);
    let claimed = org.agent.claim(&run, "draft");
    let token = claimed["token"].as_str().unwrap();
    let flipped: String = token.chars().rev().collect();
    let mut altered = token.to_owned();
    let last = altered.pop().unwrap();
    altered.push(if last == 'A' { 'B' } else { 'A' });
    for bad in ["x", "a.b.c", flipped.as_str(), altered.as_str(), &format!("{token}."), &"t".repeat(20_000)] {
        refused_as(org.agent.call("renew", json!({ "token": bad })), "invalid");
        refused_as(org.agent.submit(&json!({ "token": bad }), json!({}), json!({})), "invalid");
        refused_as(org.agent.call("escalate", json!({ "token": bad, "note": "n" })), "invalid");
    }
}

fn tokens_never_appear_in_a_run_view(org: &Org) {
    let run = started(org);
    let claimed = org.agent.claim(&run, "draft");
    let renewed = org.agent.ok("renew", json!({ "token": claimed["token"], "progress": "Half of it." }));
    for client in [&org.agent, &org.other, &org.staff, &org.operator] {
        let view = client.view(&run).to_string();
        let list = client.ok("list_runs", json!({})).to_string();
        for token in [&claimed["token"], &renewed["token"]] {
            assert!(!view.contains(token.as_str().unwrap()) && !list.contains(token.as_str().unwrap()));
        }
    }
}

fn an_ended_lease_makes_the_step_claimable(org: &Org) {
    let run = started(org);
    let lost = org.agent.claim(&run, "draft");
    org.agent.ok("renew", json!({ "token": lost["token"], "progress": "First note." }));
    refused(org.other.try_claim(&run, "draft"), "conflict", &["claimed_by_other"]);
    // No timer sees to this: it is seen when work is listed.
    let listed = eventually("the step is listed again", || org.other.work_of(&run).pop());
    assert_eq!(listed["handoff"], json!({ "progress": "First note." }));
    assert_eq!(state(&org.other.view(&run), "draft"), "ready");
    let claimed = org.other.claim(&run, "draft");
    assert_eq!(claimed["handoff"], json!({ "progress": "First note." }));
    assert_eq!(listed["readySince"], run["run"]["startedAt"], "the attempt began when the step became ready");
}

fn a_superseded_worker_is_stale(org: &Org) {
    let run = started(org);
    let lost = org.agent.claim(&run, "draft");
    let link = json!([{ "kind": "link", "ref": "DOC-1" }]);
    let work = json!({ "evidence": link, "next": "done", "reason": "Short." });
    lease_ends();
    // The lease ended and nobody took over: still too late.
    refused(org.agent.submit(&lost, json!({ "text": "late" }), work.clone()), "stale", &[]);
    refused(org.agent.call("renew", json!({ "token": lost["token"] })), "stale", &[]);
    refused(org.agent.call("escalate", json!({ "token": lost["token"], "note": "Stuck." })), "stale", &[]);
    let claimed = org.other.claim(&run, "draft");
    refused(org.agent.submit(&lost, json!({ "text": "late" }), work.clone()), "stale", &[]);
    let ended = org.other.submit(&claimed, json!({ "text": "in time" }), work.clone()).unwrap();
    assert_eq!(ended["data"]["steps"]["draft"]["output"]["text"], "in time");
    assert_eq!(ended["data"]["steps"]["draft"]["by"], "a_two");
    // The run has ended, and that is told before anything about the token.
    refused(org.agent.submit(&lost, json!({ "text": "late" }), work), "conflict", &["run_ended"]);
}

fn a_lost_claim_answer_is_told_again_after_the_lease(org: &Org) {
    let run = started(org);
    let call = json!({ "runId": run["run"]["id"], "stepId": "draft", "requestId": "lost-claim" });
    let first = org.agent.ok("claim", call.clone());
    lease_ends();
    let again = org.agent.ok("claim", call.clone());
    assert_eq!(again, first, "the same lease, though it has ended");
    org.other.claim(&run, "draft");
    assert_eq!(org.agent.ok("claim", call), first, "and though another caller holds the step");
}

fn a_lost_renewal_is_safe_to_repeat(org: &Org) {
    let run = started(org);
    let claimed = org.agent.claim(&run, "draft");
    let call = json!({ "token": claimed["token"], "progress": "Half.", "requestId": "lost-renew" });
    let first = org.agent.ok("renew", call.clone());
    assert_eq!(org.agent.ok("renew", call.clone()), first);
    let second = org.agent.ok("renew", json!({ "token": first["token"], "progress": "Most." }));
    assert_eq!(org.agent.ok("renew", call), first, "a late repetition does not take the newer lease away");
    org.agent.ok("renew", json!({ "token": second["token"] }));
    let listed = eventually("the lease ends", || org.other.work_of(&run).pop());
    assert_eq!(listed["handoff"], json!({ "progress": "Most." }), "the latest note is handed on");
}
