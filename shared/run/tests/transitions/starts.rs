//! `start_run`: inputs, initiator, size, mode, and the first step of every kind.

use run::{Limits, Mode};
use serde_json::json;

use crate::common::*;

const ONE_AGENT: &str = "steps:\n  - { id: a, agent: Do it., next: z }\n  - { id: z, finish: done }";

fn begin(frontmatter: &str, inputs: serde_json::Value) -> Result<Play, run::Refusal> {
    Play::begin(World::new(document(frontmatter)), object(inputs), &person("mira", &[]), Mode::Live)
}

#[test]
fn inputs_are_checked_all_at_once() {
    let front = format!(
        "inputs: {{ who: string, much: number, when: {{ type: date, optional: true }}, \
         size: {{ type: string, one_of: [s, l] }} }}\n{ONE_AGENT}"
    );
    assert_eq!(
        refused(begin(&front, json!({ "much": "9", "when": "2026-02-30", "size": "m", "more": null }))),
        "invalid: inputs.who: missing; inputs.much: expected number; inputs.when: expected date; \
         inputs.size: expected one of s, l; inputs.more: not declared"
    );
    let play = begin(&front, json!({ "who": "x", "much": 9, "size": "s" })).unwrap();
    assert_eq!(play.view()["data"], json!({ "inputs": { "who": "x", "much": 9, "size": "s" }, "steps": {} }));
}

#[test]
fn the_view_of_a_new_run() {
    let play = Play::start(ONE_AGENT);
    let view = play.view();
    assert_eq!(
        view["run"],
        json!({ "id": "r_1", "process": "play", "version": 3, "mode": "live", "state": "active", "outcome": null,
            "ended": null, "startedBy": "mira", "startedAt": at(0), "updatedAt": at(0) })
    );
    assert_eq!(
        view["steps"],
        json!([{ "id": "a", "kind": "agent", "state": "ready" }, { "id": "z", "kind": "finish", "state": null }])
    );
    assert_eq!(view["workItems"], json!([]));
    assert_eq!(view["body"], "# How to play\n");
}

#[test]
fn the_first_step_may_be_of_any_kind() {
    let rows = [
        ("{ id: a, agent: Do it., next: z }", "active/-", "ready -"),
        ("{ id: a, task: Do it., person: crew, next: z }", "waiting/-", "waiting -"),
        ("{ id: a, approve: Good?, person: crew, next: z }", "waiting/-", "waiting -"),
        ("{ id: a, wait: 5m, next: z }", "waiting/-", "waiting -"),
        ("{ id: a, wait: 0m, next: z }", "ended/over", "done done"),
        ("{ id: a, wait_until: inputs.on, next: z }", "ended/over", "done done"),
        ("{ id: a, wait_until: inputs.later, next: z }", "waiting/-", "waiting -"),
        ("{ id: a, wait_until: inputs.never, next: z }", "ended/failed", "failed -"),
        ("{ id: a, wait_for: go, next: z }", "waiting/-", "waiting -"),
        ("{ id: a, wait_for: go, timeout: 0m, next: z }", "ended/over", "done done"),
    ];
    for (step, run, states) in rows {
        let front = format!(
            "inputs: {{ on: datetime, later: datetime, never: {{ type: datetime, optional: true }} }}\n\
             steps:\n  - {step}\n  - {{ id: z, finish: over }}"
        );
        let play =
            begin(&front, json!({ "on": "2020-01-01T00:00:00Z", "later": "2030-01-01T00:00:00+01:00" })).unwrap();
        assert_eq!((play.ended().as_str(), play.states(&["a", "z"]).as_str()), (run, states), "{step}");
    }
    let play = Play::start("steps:\n  - { id: z, finish: at once }");
    assert_eq!(play.ended(), "ended/at once");
    assert_eq!(play.view()["run"]["ended"], json!({ "by": "server", "at": at(0), "note": null }));
    assert_eq!(play.view()["data"]["steps"], json!({}), "a finish records nothing");
}

#[test]
fn a_step_for_the_initiator_needs_a_person_to_start() {
    // Even where no route need ever lead to it.
    let front = "steps:\n  - { id: a, agent: Do it., next: [b, z] }\n  - { id: b, task: Do it., person: initiator }\n  \
                 - { id: z, finish: over }";
    let by = |actor: &run::Actor| Play::begin(World::new(document(front)), object(json!({})), actor, Mode::Live);
    assert!(refused(by(&agent("ada"))).starts_with("invalid: initiator:"));
    let nameless = run::Actor { person: None, ..person("mira", &[]) };
    assert!(refused(by(&nameless)).starts_with("invalid: initiator:"));
    let mut play = by(&person("mira", &[])).unwrap();
    play.does("a", routed(json!({}), "b"));
    assert_eq!(play.view()["workItems"][0]["assignedTo"], json!({ "person": "mira@example.com" }));

    let play = Play::begin(World::new(document(ONE_AGENT)), object(json!({})), &agent("ada"), Mode::Live).unwrap();
    assert_eq!(play.view()["run"]["startedBy"], "ada");
    assert_eq!(play.run.meta.initiator, None);
}

#[test]
fn inputs_stay_within_the_size_of_run_data() {
    let front = format!("inputs: {{ text: string }}\n{ONE_AGENT}");
    let with = |limit: usize| {
        let mut world = World::new(document(&front));
        world.limits = Limits { run_data_bytes: limit, ..Limits::default() };
        Play::begin(world, object(json!({ "text": "ééé" })), &person("mira", &[]), Mode::Live)
    };
    let bytes = r#"{"inputs":{"text":"ééé"},"steps":{}}"#.len();
    assert_eq!(run::data_bytes(&with(bytes).unwrap().run), bytes);
    let wanted = format!("invalid: inputs: {bytes} bytes of run data, at most {}", bytes - 1);
    assert_eq!(refused(with(bytes - 1)), wanted);
}

#[test]
fn a_test_run_says_so_on_its_work() {
    let front = "steps:\n  - { id: a, task: Do it., person: crew }\n  - { id: z, finish: over }";
    for (mode, shown) in [(Mode::Test, json!("test")), (Mode::Live, json!(null))] {
        let play = Play::begin(World::new(document(front)), object(json!({})), &person("mira", &[]), mode).unwrap();
        assert_eq!(play.view()["workItems"][0].get("mode").cloned().unwrap_or_default(), shown);
    }
}
