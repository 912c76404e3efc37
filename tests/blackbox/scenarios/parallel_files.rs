//! What a file with branches may say (parallel-1): every rule with its refusal, at its place, all of them at once.

use serde_json::{Value, json};

use super::parallel_wide::{BRANCHES, wide};
use crate::harness::{Org, file, refused_as, scenarios, state};

scenarios! {
    any: [
        a_file_with_many_faults_is_refused_with_all_of_them_at_their_places,
        each_rule_refuses_what_breaks_it_where_it_does,
        more_branches_than_one_write_holds_are_refused_with_the_number,
        what_the_rules_allow_is_published_and_runs,
        join_is_a_step_like_any_other_without_a_parallel_step,
        a_refused_file_takes_nothing_away,
    ],
}

/// Imports this file and holds the refusal to its own marks: a line that ends with `#! word` has an issue with that word,
/// and no other line has any.
fn refused_at_its_marks(org: &Org, source: &str) {
    let error = refused_as(org.operator.call("import_process", json!({ "source": source })), "invalid");
    let mut at: Vec<(usize, &str)> = Vec::new();
    for issue in &error.issues {
        let mut place = issue.splitn(3, ':');
        let mut number = || place.next().and_then(|n| n.parse::<usize>().ok());
        let (Some(line), Some(column)) = (number(), number()) else { panic!("no place: {issue}") };
        let text = source.lines().nth(line - 1).unwrap_or_else(|| panic!("no such line: {issue}"));
        let rest = text.chars().skip(column - 1).collect::<String>();
        assert!(!rest.trim().is_empty() && !rest.starts_with([' ', '#']), "no such column: {issue}\n{text}");
        at.push((line, place.next().unwrap()));
    }
    let mut marked = Vec::new();
    for (n, line) in source.lines().enumerate() {
        let Some((_, words)) = line.split_once("#!") else { continue };
        marked.push(n + 1);
        for word in words.split_whitespace() {
            let found = at.iter().any(|(at, what)| *at == n + 1 && what.contains(word));
            assert!(found, "nothing about {word} in line {}: {line}\n{:#?}\n{source}", n + 1, error.issues);
        }
    }
    assert!(!marked.is_empty());
    let elsewhere: Vec<_> = at.iter().filter(|(line, _)| !marked.contains(line)).collect();
    assert!(elsewhere.is_empty(), "{elsewhere:#?}\n{source}");
}

const FAULTY: &str = "
steps:
  - id: begin
    agent: Begin.
    next: [fork, write, join]                     #! write join
  - id: fork
    parallel: [write, paint, paint, nobody]       #! paint nobody
    due: 2d                                       #! due
    next: look
  - id: write                                     #! next
    agent: Write.
  - id: paint
    agent: Paint.
    next: look                                    #! look
  - id: look
    person: boss
    approve: Look.
    on_reject: paint                              #! paint
    next: again
  - id: again
    parallel: [alone]                             #! two
    next: end
  - id: alone
    agent: Alone.
    next: join
  - id: end
    finish: over
";

fn a_file_with_many_faults_is_refused_with_all_of_them_at_their_places(org: &Org) {
    refused_at_its_marks(org, &file("faulty", FAULTY));
    refused_as(org.operator.call("get_process", json!({ "name": "faulty" })), "not_found");
}

/// A process of one region, with these steps in place of the usual ones: a line that begins with the same id.
fn region(changed: &[&str]) -> String {
    let id = |line: &str| line.split("id: ").nth(1).unwrap().split([',', ' ']).next().unwrap().to_owned();
    let usual = [
        "{ id: begin, agent: Begin. }",
        "{ id: fork, parallel: [a, b], next: look }",
        "{ id: a, agent: A., next: [a2, join] }",
        "{ id: a2, approve: A2., person: boss, on_reject: a, next: join }",
        "{ id: b, wait_for: go, timeout: 1d, on_timeout: b2, next: join }",
        "{ id: b2, task: B2., person: clerk, next: join }",
        "{ id: look, approve: Look., person: boss, on_reject: fork, next: end }",
        "{ id: end, finish: over }",
    ];
    let mut lines: Vec<String> = usual.iter().map(|line| (*line).to_owned()).collect();
    for change in changed {
        match lines.iter_mut().find(|line| id(line) == id(change)) {
            Some(line) => *line = (*change).to_owned(),
            None => lines.insert(lines.len() - 1, (*change).to_owned()),
        }
    }
    let steps: String = lines.iter().map(|line| format!("  - {line}\n")).collect();
    file("region", &format!("steps:\n{steps}"))
}

/// Lines that break one rule each, marked where it is broken.
const BROKEN: &[&[&str]] = &[
    // The value lists two or more step ids, each once.
    &["{ id: fork, parallel: a, next: look } #! list"],
    &[
        "{ id: fork, parallel: [a], next: look } #! two",
        "{ id: b, wait: 1d, next: b2 } #! b",
        "{ id: b2, wait: 1d, next: end } #! b2",
    ],
    &["{ id: fork, parallel: [a, b, a], next: look } #! a"],
    &["{ id: fork, parallel: [a, b, nowhere], next: look } #! nowhere"],
    &["{ id: fork, parallel: [a, b, 7], next: look } #! number"],
    &["{ id: fork, parallel: [a, b, fork], next: look } #! fork"],
    &["{ id: fork, parallel: [a, b, end], next: look } #! end"],
    // It takes next and nothing else.
    &["{ id: fork, parallel: [a, b], output: { x: string }, next: look } #! output"],
    &["{ id: fork, parallel: [a, b], evidence: [file], next: look } #! evidence"],
    &["{ id: fork, parallel: [a, b], person: boss, next: look } #! person"],
    &["{ id: fork, parallel: [a, b], due: 2d, next: look } #! due"],
    &["{ id: fork, parallel: [a, b], check: Good?, next: look } #! check"],
    &["{ id: fork, parallel: [a, b], on_reject: begin, next: look } #! on_reject"],
    &["{ id: fork, parallel: [a, b], timeout: 2d, next: look } #! timeout"],
    &["{ id: fork, parallel: [a, b], agent: Do., next: look } #! kind"],
    &["{ id: fork, parallel: [a, b], next: [look, end] } #! next"],
    &["{ id: fork, parallel: [a, b] } #! next"],
    // No step is called join.
    &[
        "{ id: look, approve: Look., person: boss, next: join2 }",
        "{ id: join2, agent: J., next: end }",
        "{ id: join, agent: J., next: end } #! join",
    ],
    // join is a word inside a branch alone, and of next and on_timeout alone.
    &["{ id: begin, agent: Begin., next: join } #! join"],
    &["{ id: look, approve: Look., person: boss, next: join } #! join"],
    &["{ id: fork, parallel: [a, b], next: join } #! join"],
    &["{ id: a2, approve: A2., person: boss, on_reject: join, next: join } #! join"],
    &["{ id: fork, parallel: [a, b, join], next: look } #! join"],
    // Inside a branch every step says where it goes on.
    &["{ id: a2, approve: A2., person: boss, on_reject: a } #! next"],
    &["{ id: b2, task: B2., person: clerk } #! next"],
    &["{ id: b, wait_for: go, timeout: 1d, on_timeout: b2 } #! next"],
    // No step is in two branches.
    &[
        "{ id: a2, approve: A2., person: boss, next: b2 }",
        "{ id: b, wait_for: go, timeout: 1d, on_timeout: b2, next: join } #! b2",
    ],
    &["{ id: b2, task: B2., person: clerk, next: a2 } #! a2"],
    &["{ id: a2, wait: 1d, next: b } #! b"],
    // No step outside routes into a branch.
    &["{ id: begin, agent: Begin., next: [fork, a2] } #! a2"],
    &["{ id: begin, agent: Begin., next: [fork, b] } #! b"],
    &["{ id: look, wait_for: x, timeout: 1d, on_timeout: b2, next: end } #! b2"],
    // A branch never leaves but by join.
    &["{ id: a2, approve: A2., person: boss, next: look } #! look"],
    &["{ id: a, agent: A., next: [a2, end] } #! end"],
    &["{ id: b, wait_for: go, timeout: 1d, on_timeout: look, next: b2 } #! look"],
    &["{ id: b2, task: B2., person: clerk, next: fork } #! fork"],
    &["{ id: a, agent: A., next: [a2, begin] } #! begin"],
    // Nothing is nested.
    &[
        "{ id: b2, parallel: [c, d], next: join } #! parallel",
        "{ id: c, agent: C., next: join }",
        "{ id: d, agent: D., next: join }",
    ],
    // Within a branch no step is met twice.
    &["{ id: a2, agent: A2., next: [a, join] } #! a"],
    // on_reject inside a branch stays in it.
    &["{ id: a2, approve: A2., person: boss, on_reject: b, next: join } #! b"],
    &["{ id: a2, approve: A2., person: boss, on_reject: begin, next: join } #! begin"],
    &["{ id: a2, approve: A2., person: boss, on_reject: fork, next: join } #! fork"],
    &["{ id: a2, approve: A2., person: boss, on_reject: end, next: join } #! end"],
    // on_reject outside never names a step inside one.
    &["{ id: look, approve: Look., person: boss, on_reject: a, next: end } #! a"],
    &["{ id: look, approve: Look., person: boss, on_reject: b2, next: end } #! b2"],
    // Everything else of core holds for branches as well.
    &["{ id: a2, approve: A2., person: steps.b2.output.who, next: join } #! who"],
    &["{ id: look, task: Look., person: boss, next: [end, begin] } #! begin"],
    &["{ id: b, wait_for: Go, next: b2 } #! Go"],
];

fn each_rule_refuses_what_breaks_it_where_it_does(org: &Org) {
    for changed in BROKEN {
        refused_at_its_marks(org, &region(changed));
    }
    // The run cannot start inside a branch.
    let rest = "
steps:
  - { id: a, agent: A., next: join } #! begins
  - { id: fork, parallel: [a, b], next: end }
  - { id: b, agent: B., next: join }
  - { id: end, finish: over }
";
    refused_at_its_marks(org, &file("region", rest));
}

fn more_branches_than_one_write_holds_are_refused_with_the_number(org: &Org) {
    for over in [1, 70] {
        let source = file("too-wide", &wide(BRANCHES + over));
        let error = refused_as(org.operator.call("import_process", json!({ "source": source })), "invalid");
        assert_eq!(error.issues.len(), 1, "{:#?}", error.issues);
        let issue = &error.issues[0];
        for number in [BRANCHES, BRANCHES + over] {
            assert!(issue.contains(&number.to_string()), "{number}: {issue}");
        }
        assert!(issue.starts_with("5:"), "{issue}");
    }
    org.publish(&file("as-wide", &wide(BRANCHES)));
}

fn what_the_rules_allow_is_published_and_runs(org: &Org) {
    org.publish(&region(&[]));
    // on_reject after the join: any step before, the parallel step, a finish, itself.
    for back in ["begin", "fork", "end", "look"] {
        let look = format!("{{ id: look, approve: Look., person: boss, on_reject: {back}, next: end }}");
        org.publish(&region(&[&look]));
    }
    // on_reject inside a branch: any step of it.
    for back in ["a", "a2"] {
        let a2 = format!("{{ id: a2, approve: A2., person: boss, on_reject: {back}, next: join }}");
        org.publish(&region(&[&a2]));
    }
    for changed in [
        &["{ id: b, wait_for: go, timeout: 1d, on_timeout: join, next: b2 }"][..],
        &["{ id: b, wait_for: go, timeout: 1d, next: b2 }"],
        &["{ id: fork, parallel: [b, a], next: look }"],
        &["{ id: b, wait: 1d, next: b2 }"],
    ] {
        org.publish(&region(changed));
    }
    let shown = org.operator.ok("get_process", json!({ "name": "region" }));
    assert_eq!(shown["published"]["source"], region(&["{ id: b, wait: 1d, next: b2 }"]));
    let run = org.agent.start("region", json!({}));
    let view = org.agent.work_on(&run, "begin", json!({}), json!({}));
    assert_eq!(
        (state(&view, "fork"), state(&view, "a"), state(&view, "b")),
        (&json!("waiting"), &json!("ready"), &json!("waiting"))
    );
}

fn join_is_a_step_like_any_other_without_a_parallel_step(org: &Org) {
    let rest = "
steps:
  - { id: begin, agent: Begin., next: join }
  - { id: join, agent: Join the club. }
  - { id: end, finish: over }
";
    let run = org.run("plain", rest, json!({}));
    let view = org.agent.work_on(&run, "begin", json!({}), json!({}));
    assert_eq!(state(&view, "join"), "ready");
    assert_eq!(org.agent.work_on(&run, "join", json!({}), json!({}))["run"]["outcome"], "over");
}

fn a_refused_file_takes_nothing_away(org: &Org) {
    org.publish(&region(&[]));
    let broken = region(&["{ id: b2, task: B2., person: clerk, next: look }"]);
    refused_as(org.operator.call("import_process", json!({ "source": broken })), "invalid");
    let known = org.operator.ok("get_process", json!({ "name": "region" }));
    assert_eq!((&known["latest"], &known["draft"]), (&json!(1), &Value::Null));
    assert_eq!(known["published"]["source"], region(&[]));
}
