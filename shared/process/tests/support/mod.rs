//! Generates valid processes, writes them as files in several styles, and says what they must read back to.

mod check;
mod literal;
mod parallel;
mod write;

use std::collections::BTreeMap;

use process::{DEFAULT_ENTRY, DataPath, Document, GraphBinding, Kind, Next, Person};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

pub use check::{Asked, asked, broken};
pub use literal::keeps_the_rules;
pub use parallel::{FAULTS, branched};
pub use write::{Style, file};

/// A process as data, with what reading it must give.
#[derive(Debug, Clone)]
pub struct Written {
    /// The frontmatter.
    pub frontmatter: Value,
    /// The body.
    pub body: String,
    /// One line for each step; see [`describe`].
    pub expect: Vec<String>,
}

/// A step as drawn at random, before it is known where it stands.
#[derive(Debug, Clone)]
struct Plan {
    kind: usize,
    text: String,
    output: Vec<(String, Value)>,
    evidence: usize,
    asked: Option<Asked>,
    jumps: Vec<usize>,
    labels: Vec<Option<String>>,
    back: Option<usize>,
    span: u32,
    flags: u8,
    person: usize,
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z][a-z ]{0,20}[a-z]",
        Just("yes".to_owned()),
        Just("12".to_owned()),
        Just("null".to_owned()),
        Just("a: b # c".to_owned()),
        Just("- \"quoted\" 'text' \\ {x} [y] & * ! % @ `".to_owned()),
        Just("First.\n\n  Second, indented.\nThird\n".to_owned()),
        Just("\u{e4}\u{20ac}\u{1f600} \u{2028} \u{85} \u{feff}x".to_owned()),
        Just(" leading and trailing \n".to_owned()),
        Just("tab\there, bell\u{7}, nul\0".to_owned()),
        "[ -~]{0,10}x",
    ]
}

fn field() -> impl Strategy<Value = Value> {
    let types =
        prop::sample::select(vec!["string", "number", "boolean", "date", "datetime", "list", "object", "person"]);
    let number = prop_oneof![
        any::<i64>().prop_map(Value::from),
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?".prop_map(|text| serde_json::from_str(&text).unwrap()),
    ];
    let leaf = prop_oneof![
        4 => types.clone().prop_map(|t| json!(t)),
        1 => (types, text(), any::<bool>())
            .prop_map(|(t, d, optional)| json!({ "type": t, "description": d, "optional": optional })),
        1 => prop::collection::hash_set(text(), 1..4).prop_map(|values| json!({ "type": "string", "one_of": values })),
        1 => number.prop_map(|value| json!({ "type": "number", "one_of": [value] })),
        1 => Just(json!({ "type": "date", "one_of": ["2024-02-29", "2026-10-06"] })),
        1 => Just(json!({ "one_of": [true], "type": "boolean" })),
    ];
    leaf.prop_recursive(4, 8, 1, |inner| inner.prop_map(|items| json!({ "type": "list", "items": items })))
}

fn fields() -> impl Strategy<Value = Vec<(String, Value)>> {
    prop::collection::vec((prop_oneof!["[a-z][a-zA-Z0-9_]{0,9}", "[ -~]{0,8}x"], field()), 0..4)
}

fn plan() -> impl Strategy<Value = Plan> {
    (
        0_usize..6,
        text(),
        fields(),
        0_usize..4,
        (prop::option::weighted(0.3, asked()), prop::collection::vec(0_usize..100, 1..5)),
        prop::collection::vec(prop::option::of(text()), 5),
        prop::option::of(0_usize..100),
        0_u32..5_000,
        any::<u8>(),
        0_usize..4,
    )
        .prop_map(|(kind, text, output, evidence, (asked, jumps), labels, back, span, flags, person)| Plan {
            kind,
            text,
            output,
            evidence,
            asked,
            jumps,
            labels,
            back,
            span,
            flags,
            person,
        })
}

/// A valid process of one to a dozen steps.
pub fn process_file() -> impl Strategy<Value = Written> {
    let name = "[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,3}";
    let body = prop_oneof![Just(String::new()), "[ -~\u{e4}\r\n]{0,60}", Just("\n---\nmore\n---".to_owned())];
    (name, text(), fields(), prop::collection::vec(plan(), 0..12), body, any::<u8>()).prop_map(
        |(name, description, inputs, plans, body, flags)| {
            let mut inputs: Map<String, Value> = inputs.into_iter().collect();
            inputs.insert("owner".into(), json!("person"));
            inputs.insert("start".into(), json!({ "type": "datetime" }));
            let mut expect = Vec::new();
            let mut steps = Vec::new();
            for (n, plan) in plans.iter().enumerate() {
                let (step, line) = build(plan, n, plans.len());
                steps.push(step);
                expect.push(line);
            }
            let last = plans.len();
            steps.push(json!({ "id": id(last), "finish": "done" }));
            expect.push(format!("{} finish done", id(last)));
            let mut frontmatter = json!({ "name": name, "description": description });
            if flags & 1 == 0 {
                frontmatter["requires"] = json!({ "systems": ["sales-force", "mail"] });
            }
            frontmatter["inputs"] = Value::Object(inputs);
            frontmatter["steps"] = Value::Array(steps);
            Written { frontmatter, body, expect }
        },
    )
}

fn id(n: usize) -> String {
    format!("s{n}-x_{n}")
}

const KINDS: [&str; 6] = ["agent", "task", "approve", "wait", "wait_until", "wait_for"];

/// The step, and the line that [`describe`] must give. `n + 1` is always among the targets, so every step is reached.
fn build(plan: &Plan, n: usize, last: usize) -> (Value, String) {
    let kind = KINDS[plan.kind];
    let following = id(n + 1);
    let mut step = json!({ "id": id(n) });
    let mut line = format!("{} {kind}", id(n));
    let event = format!("event_{}", plan.span % 3);
    let span = format!("{}{}", plan.span, ["m", "h", "d"][plan.span as usize % 3]);
    let seconds = u64::from(plan.span) * [60, 3_600, 86_400][plan.span as usize % 3];
    step[kind] = match kind {
        "wait" => json!(span),
        "wait_until" => json!("inputs.start"),
        "wait_for" => json!(event),
        _ => json!(plan.text),
    };
    line += &match kind {
        "wait" => format!(" {seconds}s"),
        "wait_until" => " inputs.start".to_owned(),
        "wait_for" => format!(" {event}"),
        _ => format!(" {:?}", plan.text),
    };
    if matches!(kind, "task" | "approve") {
        let person = ["finance-approver", "initiator", "inputs.owner", "Team_2"][plan.person];
        step["person"] = json!(person);
        line += &format!(" person={person}");
    }
    if matches!(kind, "agent" | "task") {
        let output: Map<String, Value> = plan.output.iter().cloned().collect();
        if !output.is_empty() || plan.flags & 1 == 0 {
            let mut names: Vec<&String> = output.keys().collect();
            names.sort();
            line += &format!(" output={names:?}");
            step["output"] = Value::Object(output);
        }
        let evidence = [&[][..], &["file"], &["link"], &["link", "file"]][plan.evidence];
        if !evidence.is_empty() {
            step["evidence"] = json!(evidence);
            line += &format!(" evidence={evidence:?}");
        }
        if let Some(asked) = &plan.asked {
            step["check"] = asked.check.clone();
            if let Some(advisory) = asked.advisory {
                step["advisory"] = json!(advisory);
            }
            line += &format!(" check={}", check::shown(&asked.expect));
        }
    }
    if kind == "agent" && plan.flags & 32 == 0 {
        let version = if plan.flags & 64 == 0 { "@1.2.0" } else { "" };
        let provider = format!("acme/release{version}");
        let mut facts = BTreeMap::new();
        for (fact, from) in [("release.owner", "inputs.owner"), ("start", "inputs.start")] {
            facts.insert(fact.to_owned(), from.to_owned());
        }
        for (place, (field, _)) in plan.output.iter().enumerate() {
            facts.insert(format!("own.f{place}"), format!("steps.{}.output.{field}", id(n)));
        }
        step["graph"] = json!({ "provider": provider, "graph": "g", "facts": facts });
        if plan.flags & 128 == 0 {
            step["graph"]["entry"] = json!("begin");
            step["graph"]["require_complete"] = json!(true);
        }
        line += &format!(" graph={}", step["graph"]);
    }
    if matches!(kind, "agent" | "task" | "approve") && plan.flags & 2 == 0 {
        step["due"] = json!(span);
        line += &format!(" due={seconds}s");
    }
    let mut targets: Vec<String> = vec![following.clone()];
    for jump in &plan.jumps {
        let target = id(n + 1 + jump % (last - n));
        if !targets.contains(&target) {
            targets.push(target);
        }
    }
    if matches!(kind, "agent" | "task") && targets.len() > 1 {
        let routes: Vec<Value> = targets
            .iter()
            .zip(&plan.labels)
            .map(|(to, when)| when.as_ref().map_or(json!(to), |when| json!({ "to": to, "when": when })))
            .collect();
        line += &format!(" next={}", Value::Array(routes.clone()));
        step["next"] = Value::Array(routes);
    } else {
        if plan.flags & 4 == 0 {
            step["next"] = json!(following);
        }
        line += &format!(" next={following}");
    }
    if kind == "approve"
        && let Some(back) = plan.back
    {
        let back = id(back % (last + 1));
        line += &format!(" on_reject={back}");
        step["on_reject"] = json!(back);
    }
    if kind == "wait_for" && plan.flags & 8 == 0 {
        step["timeout"] = json!(span);
        let on_timeout = if plan.flags & 16 == 0 { targets.last().unwrap().clone() } else { following };
        if plan.flags & 16 == 0 {
            step["on_timeout"] = json!(on_timeout);
        }
        line += &format!(" timeout={seconds}s on_timeout={on_timeout}");
    }
    (step, line)
}

/// A graph as the file has it, its facts sorted: a file may have them in any order.
fn written(graph: &GraphBinding) -> Value {
    let version = graph.version.as_ref().map(|version| format!("@{version}")).unwrap_or_default();
    let facts: BTreeMap<String, String> =
        graph.facts.iter().map(|(fact, from)| (fact.clone(), from.to_string())).collect();
    let provider = format!("{}{version}", graph.provider);
    let mut value = json!({ "provider": provider, "graph": graph.graph, "facts": facts });
    if graph.require_complete {
        value["entry"] = json!(graph.entry);
        value["require_complete"] = json!(true);
    } else {
        assert_eq!(graph.entry, DEFAULT_ENTRY);
    }
    value
}

/// The steps of a document, one line each, in the words of the file.
pub fn describe(document: &Document) -> Vec<String> {
    document
        .steps
        .iter()
        .map(|step| {
            let mut line = format!("{} {}", step.id, step.kind_name());
            match &step.kind {
                Kind::Agent(work) | Kind::Task { work, .. } => line += &format!(" {:?}", work.instructions),
                Kind::Approve { text, .. } => line += &format!(" {text:?}"),
                Kind::Wait { span, .. } => line += &format!(" {}s", span.seconds),
                Kind::WaitUntil { path, .. } => line += &format!(" {path}"),
                Kind::WaitFor { event, .. } => line += &format!(" {event}"),
                Kind::Parallel { entries, .. } => line += &format!(" {entries:?}"),
                Kind::Finish { outcome } => line += &format!(" {outcome}"),
            }
            match step.person() {
                Some(Person::Role(role)) => line += &format!(" person={role}"),
                Some(Person::Initiator) => line += " person=initiator",
                Some(Person::Path(path @ (DataPath::Input(_) | DataPath::Output { .. }))) => {
                    line += &format!(" person={path}");
                }
                None => {}
            }
            if let Some(work) = step.work() {
                let declared = document.frontmatter["steps"].as_array().unwrap().iter();
                let declared = declared.into_iter().find(|s| s["id"] == step.id.as_str()).unwrap();
                if declared.get("output").is_some() {
                    let mut names: Vec<&str> = work.output.iter().map(|(name, _)| name).collect();
                    assert!(names.iter().eq(declared["output"].as_object().unwrap().keys()), "in file order");
                    names.sort_unstable();
                    line += &format!(" output={names:?}");
                    for (name, field) in work.output.iter() {
                        assert_eq!(field.declared, declared["output"][name]);
                    }
                }
                if !work.evidence.is_empty() {
                    let names: Vec<&str> = work.evidence.iter().map(|e| e.name()).collect();
                    line += &format!(" evidence={names:?}");
                }
                if let Some(check) = &work.check {
                    line += &format!(" check={}", check::shown(check));
                }
            }
            if let Some(graph) = step.graph() {
                line += &format!(" graph={}", written(graph));
            }
            if let Some(due) = step.due() {
                line += &format!(" due={}s", due.seconds);
            }
            match &step.kind {
                Kind::Agent(work) | Kind::Task { work, .. } => match &work.next {
                    Next::To(to) => line += &format!(" next={to}"),
                    Next::Routes(routes) => {
                        let routes = routes.iter().map(|r| match &r.when {
                            Some(when) => json!({ "to": r.to, "when": when }),
                            None => json!(r.to),
                        });
                        line += &format!(" next={}", Value::Array(routes.collect()));
                    }
                },
                _ => {
                    if let Some(next) = step.forward().first() {
                        line += &format!(" next={next}");
                    }
                }
            }
            if let Some(on_reject) = step.on_reject() {
                line += &format!(" on_reject={on_reject}");
            }
            if let Kind::WaitFor { timeout: Some(timeout), on_timeout, .. } = &step.kind {
                line += &format!(" timeout={}s on_timeout={on_timeout}", timeout.seconds);
            }
            line
        })
        .collect()
}
