//! Acceptance (core §6.3): a submission that breaks rules learns of all of them at once, and changes nothing.

use serde_json::{Value, json};

use crate::harness::{Org, refused, refused_as, scenarios, state};

scenarios! {
    any: [
        every_issue_is_listed_at_once,
        every_type_is_checked,
        one_of_holds_inside_lists,
        an_optional_field_may_be_left_out_but_not_null,
        nothing_changes_but_the_handoff,
        the_summary_is_an_issue_among_the_others,
        wrong_argument_types_are_invalid_before_acceptance,
        a_route_belongs_only_to_a_list_of_routes,
        an_oversize_output_is_refused_once_with_limit_and_size,
    ],
}

const SCREENING: &str = "
steps:
  - id: check
    agent: Check the vendor.
    output: { cleared: boolean, score: { type: number, one_of: [1, 2.50] }, note: { type: string, optional: true } }
    evidence: [file, link]
    next: [good, bad]
  - { id: bad, finish: declined }
  - { id: good, finish: cleared }
";

fn every_issue_is_listed_at_once(org: &Org) {
    let run = org.run("screening", SCREENING, json!({}));
    let claimed = org.agent.claim(&run, "check");
    let output = json!({ "cleared": "yes", "extra": 1 });
    let arguments = json!({ "token": claimed["token"], "output": output });
    refused(
        org.agent.call("submit", arguments),
        "not_accepted",
        &[
            "summary: missing",
            "output.cleared: expected boolean",
            "output.score: missing",
            "output.extra: not declared",
            "evidence: file required",
            "evidence: link required",
            "next: required, one of good, bad",
            "reason: required",
        ],
    );
    let evidence = json!([{ "kind": "file", "ref": "f_000" }, { "kind": "link", "ref": "https://lists.example" }]);
    let more = json!({ "evidence": evidence, "next": "elsewhere", "reason": "  " });
    refused(
        org.agent.submit(&claimed, json!({ "cleared": true, "score": 2 }), more),
        "not_accepted",
        &[
            "output.score: expected one of 1, 2.50",
            "evidence f_000: not found",
            "next: expected one of good, bad",
            "reason: required",
        ],
    );
}

fn every_type_is_checked(org: &Org) {
    let rest = "
steps:
  - id: fill
    agent: Fill it in.
    output:
      text: string
      amount: number
      sure: boolean
      day: date
      moment: datetime
      many: { type: list, items: { type: list, items: number } }
      thing: object
      who: person
  - { id: end, finish: filled }
";
    let run = org.run("every-type", rest, json!({}));
    let claimed = org.agent.claim(&run, "fill");
    let wrong = json!({
        "text": 7, "amount": "7", "sure": "true", "day": "2026-02-30", "moment": "2026-10-06T09:00:00",
        "many": [[1], ["2"], 3], "thing": [], "who": "nobody",
    });
    refused(
        org.agent.submit(&claimed, wrong, json!({})),
        "not_accepted",
        &[
            "output.text: expected string",
            "output.amount: expected number",
            "output.sure: expected boolean",
            "output.day: expected date",
            "output.moment: expected datetime",
            "output.many[1][0]: expected number",
            "output.many[2]: expected list",
            "output.thing: expected object",
            "output.who: expected person",
        ],
    );
    let right = json!({
        "text": "", "amount": 7, "sure": false, "day": "2024-02-29", "moment": "2026-10-06T09:00:00.5+02:00",
        "many": [], "thing": { "any": [null] }, "who": "Ann@Acme.example",
    });
    let ended = org.agent.submit(&claimed, right.clone(), json!({})).unwrap();
    assert_eq!(ended["data"]["steps"]["fill"]["output"], right);
}

fn one_of_holds_inside_lists(org: &Org) {
    let rest = "
steps:
  - id: tag
    agent: Tag it.
    output: { tags: { type: list, items: { type: string, one_of: [red, green] } } }
  - { id: end, finish: tagged }
";
    let run = org.run("tags", rest, json!({}));
    let claimed = org.agent.claim(&run, "tag");
    refused(
        org.agent.submit(&claimed, json!({ "tags": ["red", "blue", 1] }), json!({})),
        "not_accepted",
        &["output.tags[1]: expected one of red, green", "output.tags[2]: expected string"],
    );
    org.agent.submit(&claimed, json!({ "tags": ["green", "green"] }), json!({})).unwrap();
}

fn an_optional_field_may_be_left_out_but_not_null(org: &Org) {
    let rest = "
inputs: { note: { type: string, optional: true } }
steps:
  - id: look
    agent: Look.
    output: { found: { type: string, optional: true } }
  - { id: end, finish: looked }
";
    let run = org.run("optional", rest, json!({}));
    let null = org.agent.call("start_run", json!({ "process": "optional", "inputs": { "note": null } }));
    refused(null, "invalid", &["inputs.note: expected string"]);
    let claimed = org.agent.claim(&run, "look");
    refused(
        org.agent.submit(&claimed, json!({ "found": null }), json!({})),
        "not_accepted",
        &["output.found: expected string"],
    );
    let ended = org.agent.submit(&claimed, json!({}), json!({})).unwrap();
    assert_eq!(ended["data"]["steps"]["look"]["output"], json!({}));
    assert_eq!(ended["data"]["steps"]["look"]["evidence"], json!([]));
}

fn nothing_changes_but_the_handoff(org: &Org) {
    let run = org.run("screening", SCREENING, json!({}));
    let claimed = org.agent.claim(&run, "check");
    let before = org.agent.view(&run);
    let call = json!({ "token": claimed["token"], "output": {}, "summary": "s", "requestId": "refused-once" });
    let error = refused_as(org.agent.call("submit", call.clone()), "not_accepted");
    assert_eq!(org.agent.view(&run), before, "a refused submission leaves no trace in the run");
    assert_eq!(state(&before, "check"), "claimed");
    // The claim stands, and a call that failed is not recorded: the same id may be used for the mended call.
    let file = org.agent.upload("list.txt", b"nothing found");
    let evidence = json!([{ "kind": "file", "ref": file["id"] }, { "kind": "link", "ref": "DOC-7" }]);
    let mended = json!({
        "token": claimed["token"], "output": { "cleared": true, "score": 2.5 }, "summary": "s",
        "evidence": evidence, "next": "good", "reason": "No hits.", "requestId": "refused-once",
    });
    assert!(!error.issues.is_empty());
    let ended = org.agent.ok("submit", mended);
    assert_eq!(ended["run"]["outcome"], "cleared");
    refused_as(org.agent.call("submit", call), "conflict");
}

fn the_summary_is_an_issue_among_the_others(org: &Org) {
    let rest = "steps:\n  - { id: one, agent: Do it., output: { n: number } }\n  - { id: end, finish: over }";
    let run = org.run("summaries", rest, json!({}));
    let claimed = org.agent.claim(&run, "one");
    let submit = |summary: Value| {
        org.agent.call("submit", json!({ "token": claimed["token"], "output": {}, "summary": summary }))
    };
    refused(submit(json!(" \n ")), "not_accepted", &["summary: missing", "output.n: missing"]);
    refused(submit(json!("")), "not_accepted", &["summary: missing", "output.n: missing"]);
    let long = "ü".repeat(2_001);
    refused(submit(json!(long)), "not_accepted", &["summary: 2001 characters, at most 2000", "output.n: missing"]);
    refused(submit(json!(7)), "invalid", &["summary: expected string"]);
    let fits = json!({ "token": claimed["token"], "output": { "n": 1 }, "summary": "ü".repeat(2_000) });
    org.agent.ok("submit", fits);
}

fn wrong_argument_types_are_invalid_before_acceptance(org: &Org) {
    let run = org.run("screening", SCREENING, json!({}));
    let claimed = org.agent.claim(&run, "check");
    let token = &claimed["token"];
    for (arguments, issues) in [
        (json!({ "output": {}, "summary": "s", "requestId": "r" }), vec!["token: missing"]),
        (json!({ "token": token, "summary": "s", "requestId": "r" }), vec!["output: missing"]),
        (json!({ "token": token, "output": [], "summary": "s", "requestId": "r" }), vec!["output: expected object"]),
        (json!({ "token": token, "output": {}, "summary": "s" }), vec!["requestId: missing"]),
        (
            json!({ "token": token, "output": {}, "evidence": [{ "kind": "photo", "ref": "" }], "requestId": "r" }),
            vec!["evidence[0].kind: one of file, link", "evidence[0].ref: missing"],
        ),
        (
            json!({ "token": token, "output": {}, "next": 1, "reason": [], "requestId": "r", "more": 1 }),
            vec!["next: expected string", "reason: expected string", "more: not an argument of submit"],
        ),
    ] {
        refused(org.agent.exact("submit", arguments), "invalid", &issues);
    }
    let listed = org.agent.view(&run);
    assert_eq!(state(&listed, "check"), "claimed");
}

fn a_route_belongs_only_to_a_list_of_routes(org: &Org) {
    let rest = "steps:\n  - { id: one, agent: Do it. }\n  - { id: end, finish: over }";
    let run = org.run("one-way", rest, json!({}));
    let claimed = org.agent.claim(&run, "one");
    let error = refused_as(
        org.agent.submit(&claimed, json!({}), json!({ "next": "end", "reason": "Because." })),
        "not_accepted",
    );
    assert_eq!(error.issues.len(), 2, "{error:?}");
    assert!(error.issues[0].starts_with("next:") && error.issues[1].starts_with("reason:"), "{error:?}");
    org.agent.submit(&claimed, json!({}), json!({})).unwrap();
}

fn an_oversize_output_is_refused_once_with_limit_and_size(org: &Org) {
    let limit = org.agent.ok("describe", json!({}))["limits"]["runDataBytes"].as_u64().unwrap();
    let rest = "
inputs: { text: { type: string, optional: true } }
steps:
  - { id: one, agent: Do it., output: { text: string } }
  - { id: ask, task: Look., person: editor }
  - { id: end, finish: over }
";
    let run = org.run("sizes", rest, json!({}));
    let claimed = org.agent.claim(&run, "one");
    let huge = "x".repeat(usize::try_from(limit).unwrap());
    let error = refused_as(org.agent.submit(&claimed, json!({ "text": huge }), json!({})), "not_accepted");
    assert_eq!(error.issues.len(), 1, "{:?}", error.issues);
    assert!(error.issues[0].contains(&limit.to_string()), "{:?}", error.issues);
    let bytes: u64 = error.issues[0].split(' ').find_map(|word| word.parse().ok()).unwrap();
    assert!(bytes > limit && bytes < limit + 1_000, "{:?}", error.issues);
    let error =
        refused_as(org.agent.call("start_run", json!({ "process": "sizes", "inputs": { "text": huge } })), "invalid");
    assert!(error.issues[0].contains(&limit.to_string()), "{:?}", error.issues);
    // A run that is full can still be ended.
    let fits = "x".repeat(usize::try_from(limit).unwrap() - 1_000);
    let view = org.agent.submit(&claimed, json!({ "text": fits }), json!({})).unwrap();
    let note = "n".repeat(4_000);
    let cancelled = org.operator.ok("cancel", json!({ "runId": view["run"]["id"], "reason": note }));
    assert_eq!(cancelled["run"]["state"], "cancelled");
}
