//! Any process: a random acyclic graph of all seven kinds, written down and read as a file would be.

use proptest::prelude::*;
use run::{Actor, Limits};
use serde_json::{Map, Value, json};

use crate::common::{World, agent, document, person};

/// Random numbers that a process is made of.
#[derive(Debug, Clone)]
pub struct Plan {
    steps: Vec<(u8, [u8; 7])>,
    /// What the run starts with.
    pub inputs: [u8; 3],
    small: bool,
    by_agent: bool,
}

impl Plan {
    pub fn any() -> impl Strategy<Value = Plan> {
        let steps = proptest::collection::vec((0_u8..14, any::<[u8; 7]>()), 1..14);
        (steps, any::<[u8; 3]>(), proptest::bool::weighted(0.2), proptest::bool::weighted(0.2))
            .prop_map(|(steps, inputs, small, by_agent)| Plan { steps, inputs, small, by_agent })
    }

    pub fn starter(&self) -> Actor {
        if self.by_agent { agent("ada") } else { person("mira", &[]) }
    }

    pub fn start_inputs(&self) -> Map<String, Value> {
        let mut inputs = Map::new();
        if self.inputs[0] % 8 > 0 {
            inputs.insert("boss".to_owned(), json!("Boris@Example.com"));
        }
        if let Some(when) = datetime(self.inputs[1]) {
            inputs.insert("when".to_owned(), json!(when));
        }
        inputs.insert("n".to_owned(), number(self.inputs[2]));
        inputs
    }

    /// The process, and everything around it.
    pub fn world(&self) -> World {
        let front = json!({
            "inputs": {
                "boss": { "type": "person", "optional": true },
                "when": { "type": "datetime", "optional": true },
                "n": "number",
            },
            "steps": self.written(),
        });
        // JSON is YAML, so this is a frontmatter.
        let text = front.as_object().unwrap().iter().map(|(k, v)| format!("{k}: {v}")).collect::<Vec<_>>().join("\n");
        let mut world = World::new(document(&text));
        if self.small {
            world.limits = Limits { run_data_bytes: 500, ..world.limits };
        }
        world
    }

    fn written(&self) -> Vec<Value> {
        let mut drafts: Vec<Draft> = (0..self.steps.len()).map(|n| self.draft(n)).collect();
        drafts.push(Draft { kind: "finish", forward: vec![], back: None });
        let reached = reach(&drafts, 0, |d| d.forward.iter().copied().chain(d.back).collect());
        let kept: Vec<usize> = (0..drafts.len()).filter(|n| reached[*n]).collect();
        kept.iter().map(|n| self.write(*n, &drafts, &kept)).collect()
    }

    /// The kind of a step and where it leads.
    fn draft(&self, n: usize) -> Draft {
        let (kind, r) = self.steps[n];
        let last = self.steps.len();
        // Edges lead to later steps alone, most of them to the very next.
        let later = |r: u8| if r < 190 { n + 1 } else { n + 1 + usize::from(r) % (last - n) };
        let kind = match kind {
            0..=3 => "agent",
            4 | 5 => "task",
            6..=8 => "approve",
            9 => "wait",
            10 | 11 => "wait_for",
            12 => "wait_until",
            _ if n > 0 => "finish",
            _ => "agent",
        };
        let mut forward = match kind {
            "finish" => vec![],
            _ => vec![later(r[0])],
        };
        let second = later(r[1]);
        if matches!(kind, "agent" | "task" | "wait_for") && r[2] % 2 == 0 && !forward.contains(&second) {
            forward.push(second);
        }
        let back = (kind == "approve" && r[2] % 5 > 0).then(|| {
            // Back, most of the time; an approval may name itself or a later step too.
            usize::from(r[3]) % (if r[3] < 210 { n + 1 } else { last + 1 })
        });
        Draft { kind, forward, back }
    }

    fn write(&self, n: usize, drafts: &[Draft], kept: &[usize]) -> Value {
        let draft = &drafts[n];
        let r = self.steps.get(n).map(|(_, r)| *r).unwrap_or_default();
        let mut step = json!({ "id": id(n) });
        let span = |r: u8| ["0m", "5m", "1h", "2d"][usize::from(r) % 4];
        match draft.kind {
            "wait" => step["wait"] = json!(span(r[4])),
            "wait_until" => step["wait_until"] = json!(self.path("inputs.when", "when", n, r[5], drafts)),
            "wait_for" => {
                step["wait_for"] = json!(["go", "stop"][usize::from(r[4]) % 2]);
                if r[5] % 4 > 0 {
                    step["timeout"] = json!(span(r[5] / 4));
                    if let Some(second) = draft.forward.get(1) {
                        step["on_timeout"] = json!(id(*second));
                    }
                }
            }
            "finish" => step["finish"] = json!(format!("outcome {n}")),
            kind => {
                step[kind] = json!(format!("Do {n}."));
                if r[4] % 3 == 0 {
                    step["due"] = json!(span(r[4] / 3));
                }
            }
        }
        if matches!(draft.kind, "task" | "approve") {
            step["person"] = json!(match r[5] % 6 {
                0..=2 => "crew".to_owned(),
                3 => "initiator".to_owned(),
                4 => "inputs.boss".to_owned(),
                _ => self.path("crew", "who", n, r[6], drafts),
            });
        }
        if matches!(draft.kind, "agent" | "task") {
            step["output"] = output(r[6]);
            step["evidence"] =
                json!([[].as_slice(), &["file"], &["link"], &["file", "link"]][usize::from(r[5] / 8) % 4]);
        }
        if let Some(back) = draft.back {
            step["on_reject"] = json!(id(back));
        }
        let following = kept.iter().find(|k| **k > n);
        match draft.forward.as_slice() {
            [] => {}
            [one, two] if draft.kind != "wait_for" => {
                step["next"] = json!([id(*one), { "to": id(*two), "when": "It is so" }]);
            }
            // The default is the following step.
            [one, ..] if Some(one) == following && r[6] % 2 == 0 => {}
            [one, ..] => step["next"] = json!(id(*one)),
        }
        // A timeout's own target would be dropped with the timeout, and with it the way there.
        if draft.kind == "wait_for" && step.get("timeout").is_none() && draft.forward.len() > 1 {
            step["timeout"] = json!("1h");
            step["on_timeout"] = json!(id(draft.forward[1]));
        }
        step
    }

    /// A path into the output of a step that may lie before step `n` of the run, or else this.
    fn path(&self, otherwise: &str, field: &str, n: usize, r: u8, drafts: &[Draft]) -> String {
        let ahead = |from: usize| reach(drafts, from, |d| d.forward.clone());
        let from_start = ahead(0);
        let before: Vec<usize> = (0..n)
            .filter(|p| matches!(drafts[*p].kind, "agent" | "task") && from_start[*p] && ahead(*p)[n])
            .filter(|p| output(self.steps[*p].1[6]).get(field).is_some())
            .collect();
        match before.is_empty() || r % 2 == 0 {
            true => otherwise.to_owned(),
            false => format!("steps.{}.output.{field}", id(before[usize::from(r) % before.len()])),
        }
    }
}

struct Draft {
    kind: &'static str,
    forward: Vec<usize>,
    back: Option<usize>,
}

fn id(n: usize) -> String {
    format!("s{n}")
}

fn reach(drafts: &[Draft], from: usize, edges: impl Fn(&Draft) -> Vec<usize>) -> Vec<bool> {
    let mut reached = vec![false; drafts.len()];
    let mut open = vec![from];
    while let Some(n) = open.pop() {
        if !std::mem::replace(&mut reached[n], true) {
            open.extend(edges(&drafts[n]));
        }
    }
    reached
}

fn output(r: u8) -> Value {
    let mut fields = json!({});
    let tags = json!({ "type": "list", "items": { "type": "string", "one_of": ["x", "y"] } });
    let all = [
        ("ok", json!("boolean")),
        ("n", json!("number")),
        ("who", json!({ "type": "person", "optional": true })),
        ("when", json!({ "type": "datetime", "optional": true })),
        ("tags", tags),
        ("more", json!({ "type": "object", "optional": true })),
    ];
    for (bit, (name, declared)) in all.into_iter().enumerate() {
        if r & (1 << bit) != 0 {
            fields[name] = declared;
        }
    }
    fields
}

/// A number whose text a careless program would change.
pub fn number(r: u8) -> Value {
    let text = ["7", "1.10", "1e+400", "-0", "12345678901234567890.12", "0.1e-7"][usize::from(r) % 6];
    serde_json::from_str(text).unwrap()
}

/// A time: past, soon, in other clothes, far, at the end of time, or none.
pub fn datetime(r: u8) -> Option<&'static str> {
    [
        Some("2020-02-29T00:00:00Z"),
        Some("2026-10-06T09:10:00.5Z"),
        Some("2026-10-06T12:00:00+02:00"),
        Some("2031-01-01T00:00:00Z"),
        Some("2026-10-06T09:00:00Z"),
        Some("9999-12-31T23:59:59Z"),
        None,
    ][usize::from(r) % 7]
}
