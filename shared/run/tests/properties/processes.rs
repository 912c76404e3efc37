//! Any process: a random acyclic graph of all eight kinds, written down and read as a file would be.

use proptest::prelude::*;
use run::{Actor, Limits};
use serde_json::{Map, Value, json};

use crate::checks::check;
use crate::common::{World, agent, document, person};

/// Random numbers that a process is made of.
#[derive(Debug, Clone)]
pub struct Plan {
    steps: Vec<Part>,
    /// What the run starts with.
    pub inputs: [u8; 3],
    small: bool,
    by_agent: bool,
}

/// A step's kind, its numbers, and the branches of a parallel one.
type Part = (u8, [u8; 7], Vec<Vec<(u8, [u8; 7])>>);

/// The kind of a parallel step, in these numbers.
const PARALLEL: u8 = 14;

/// The kind of an approval.
const APPROVE: u8 = 6;

/// Where a branch step leads that finishes its branch.
const JOIN: usize = usize::MAX;

impl Plan {
    pub fn any() -> impl Strategy<Value = Plan> {
        let branch = proptest::collection::vec((0_u8..13, any::<[u8; 7]>()), 1..4);
        let part = prop_oneof![
            4 => (0_u8..PARALLEL, any::<[u8; 7]>(), Just(vec![])),
            1 => (Just(PARALLEL), any::<[u8; 7]>(), proptest::collection::vec(branch, 2..4)),
        ];
        let steps = proptest::collection::vec(part, 1..14);
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
            world.limits = Limits { run_data_bytes: 700, check_state_bytes: 200, ..world.limits };
        }
        world
    }

    fn written(&self) -> Vec<Value> {
        let drafts = self.drafts();
        let reached = reach(&drafts, 0, |d| [d.forward.clone(), d.entries.clone(), Vec::from_iter(d.back)].concat());
        // A region stands after its parallel step, or at the end of the file.
        let (mut order, mut end): (Vec<usize>, Vec<usize>) = (vec![], vec![]);
        for n in 0..=self.steps.len() {
            order.push(n);
            let place = if drafts[n].r[5] % 2 == 0 { &mut order } else { &mut end };
            place.extend((0..drafts.len()).filter(|b| drafts[*b].parallel == Some(n)));
        }
        order.extend(end);
        order.retain(|n| reached[*n]);
        order.iter().enumerate().map(|(place, n)| self.write(*n, &drafts, order.get(place + 1))).collect()
    }

    /// Every step with its kind and where it leads: those of the plan, one finish, and then those of the branches.
    fn drafts(&self) -> Vec<Draft> {
        let mut drafts: Vec<Draft> = (0..self.steps.len()).map(|n| self.draft(n)).collect();
        drafts.push(Draft { id: format!("s{}", self.steps.len()), ..Draft::new("finish", [0; 7]) });
        for (n, (_, r, branches)) in self.steps.iter().enumerate() {
            for (b, steps) in branches.iter().enumerate() {
                let entry = drafts.len();
                drafts[n].entries.push(entry);
                let last = steps.len() - 1;
                drafts.extend(steps.iter().enumerate().map(|(m, (kind, r))| {
                    let place = |to: usize| if to > last { JOIN } else { entry + to };
                    let later = |r: u8| if r < 190 { m + 1 } else { m + 1 + usize::from(r) % (last + 1 - m) };
                    let mut draft = edges(*kind, *r, |r| place(later(r)));
                    draft.id = format!("s{n}b{b}x{m}");
                    draft.parallel = Some(n);
                    draft
                }));
                // What no way leads to is in no branch; nothing in a branch returns to it.
                let kept = reach(&drafts, entry, |d| d.forward.clone());
                let branch: Vec<usize> = (entry..drafts.len()).filter(|n| kept[*n]).collect();
                for n in branch.iter().filter(|n| drafts[**n].kind == "approve").copied().collect::<Vec<_>>() {
                    let r = drafts[n].r;
                    let upto = branch.iter().filter(|b| **b <= n || r[3] >= 210).count();
                    drafts[n].back = (r[2] % 5 > 0).then(|| branch[usize::from(r[3]) % upto]);
                }
            }
            // The order in which a parallel step lists its entries is its own.
            if r[4] % 2 == 0 {
                drafts[n].entries.reverse();
            }
        }
        drafts
    }

    /// The kind of a step outside every branch and where it leads.
    fn draft(&self, n: usize) -> Draft {
        let (kind, r, _) = &self.steps[n];
        let last = self.steps.len();
        // Edges lead to later steps alone, most of them to the very next.
        let later = |r: u8| if r < 190 { n + 1 } else { n + 1 + usize::from(r) % (last - n) };
        // What a region came to is approved more often than not, for that is where rework meets one.
        let joined = n > 0 && self.steps[n - 1].0 == PARALLEL && *kind != PARALLEL && r[6] % 4 > 0;
        let mut draft = match *kind {
            _ if joined => edges(APPROVE, *r, later),
            13 if n > 0 => Draft::new("finish", *r),
            kind => edges(kind, *r, later),
        };
        draft.id = format!("s{n}");
        draft.back = (draft.kind == "approve" && r[2] % 5 > 0).then(|| {
            // Back, most of the time; an approval may name itself or a later step too.
            usize::from(r[3]) % (if r[3] < 210 { n + 1 } else { last + 1 })
        });
        draft
    }

    fn write(&self, n: usize, drafts: &[Draft], following: Option<&usize>) -> Value {
        let draft = &drafts[n];
        let r = draft.r;
        let id = |n: usize| drafts.get(n).map_or("join", |d| d.id.as_str());
        let mut step = json!({ "id": draft.id });
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
            "parallel" => step["parallel"] = draft.entries.iter().map(|e| json!(id(*e))).collect(),
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
        if let Some((check, advisory)) = check(r[3]).filter(|_| matches!(draft.kind, "agent" | "task")) {
            step["check"] = check;
            if advisory || r[4] % 4 == 0 {
                step["advisory"] = json!(advisory);
            }
        }
        if let Some(back) = draft.back {
            step["on_reject"] = json!(id(back));
        }
        match draft.forward.as_slice() {
            [] => {}
            [one, two] if draft.kind != "wait_for" => {
                step["next"] = json!([id(*one), { "to": id(*two), "when": "It is so" }]);
            }
            // The default is the following step, but in a branch.
            [one, ..] if Some(one) == following && r[6] % 2 == 0 && draft.parallel.is_none() => {}
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
        let ahead = |from: usize| {
            reach(drafts, from, |d| {
                let after = d.parallel.filter(|_| d.forward.contains(&JOIN)).map(|p| drafts[p].forward.clone());
                [d.forward.clone(), d.entries.clone(), after.unwrap_or_default()].concat()
            })
        };
        let from_start = ahead(0);
        let before: Vec<usize> = (0..drafts.len())
            .filter(|p| *p != n && matches!(drafts[*p].kind, "agent" | "task") && from_start[*p] && ahead(*p)[n])
            .filter(|p| output(drafts[*p].r[6]).get(field).is_some())
            .collect();
        match before.is_empty() || r % 2 == 0 {
            true => otherwise.to_owned(),
            false => format!("steps.{}.output.{field}", drafts[before[usize::from(r) % before.len()]].id),
        }
    }
}

struct Draft {
    id: String,
    kind: &'static str,
    r: [u8; 7],
    /// Where it leads, [`JOIN`] among it.
    forward: Vec<usize>,
    back: Option<usize>,
    /// The entries of a parallel step.
    entries: Vec<usize>,
    /// The parallel step of the branch that it is in.
    parallel: Option<usize>,
}

impl Draft {
    fn new(kind: &'static str, r: [u8; 7]) -> Draft {
        Draft { id: String::new(), kind, r, forward: vec![], back: None, entries: vec![], parallel: None }
    }
}

/// A step that goes on to what `later` makes of a number.
fn edges(kind: u8, r: [u8; 7], later: impl Fn(u8) -> usize) -> Draft {
    let kind = match kind {
        0..=3 => "agent",
        4 | 5 => "task",
        APPROVE..=8 => "approve",
        9 => "wait",
        10 | 11 => "wait_for",
        12 => "wait_until",
        PARALLEL => "parallel",
        _ => "agent",
    };
    let mut draft = Draft::new(kind, r);
    draft.forward.push(later(r[0]));
    let second = later(r[1]);
    if matches!(kind, "agent" | "task" | "wait_for") && r[2] % 2 == 0 && !draft.forward.contains(&second) {
        draft.forward.push(second);
    }
    draft
}

fn reach(drafts: &[Draft], from: usize, edges: impl Fn(&Draft) -> Vec<usize>) -> Vec<bool> {
    let mut reached = vec![false; drafts.len()];
    let mut open = vec![from];
    while let Some(n) = open.pop() {
        if n != JOIN && !std::mem::replace(&mut reached[n], true) {
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
