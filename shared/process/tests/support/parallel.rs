//! Generates processes with parallel steps, and breaks one rule about them at a time.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::Written;

/// A process with parallel steps.
#[derive(Debug, Clone)]
pub struct Branched {
    /// The steps in file order.
    pub steps: Vec<Value>,
    /// The ids of the steps outside every branch, as a run goes; the first one's output has a person, the last but one is an
    /// approval, the last is the finish.
    outside: Vec<String>,
    /// The parallel steps, each with the ids of the steps of its branches; each branch's first step has a person in its
    /// output.
    pub regions: Vec<(String, Vec<Vec<String>>)>,
}

/// A step as drawn at random, before it is known where it stands.
#[derive(Debug, Clone)]
struct Sketch {
    kind: usize,
    jump: usize,
    back: usize,
}

fn sketch() -> impl Strategy<Value = Sketch> {
    (0_usize..6, 0_usize..20, 0_usize..20).prop_map(|(kind, jump, back)| Sketch { kind, jump, back })
}

fn branches() -> impl Strategy<Value = Vec<Vec<Sketch>>> {
    prop::collection::vec(prop::collection::vec(sketch(), 1..6), 2..6)
}

fn part() -> impl Strategy<Value = (Sketch, Option<Vec<Vec<Sketch>>>)> {
    prop_oneof![
        2 => sketch().prop_map(|sketch| (sketch, None)),
        1 => (sketch(), branches()).prop_map(|(sketch, branches)| (sketch, Some(branches))),
    ]
}

/// Between two and a dozen steps of the run, at least one of them parallel, and branches of one to five steps.
pub fn branched() -> impl Strategy<Value = Branched> {
    let some = || prop::collection::vec(part(), 0..5);
    let parts = (some(), sketch(), branches(), some());
    (parts, prop::collection::vec(any::<u32>(), 200)).prop_map(|((mut parts, sketch, branches, after), order)| {
        parts.push((sketch, Some(branches)));
        parts.extend(after);
        let count = parts.len() + 3;
        let outside: Vec<String> = (0..count).map(|n| format!("o{n}")).collect();
        let mut steps = vec![json!({ "id": "o0", "agent": "x", "output": { "who": "person" }, "next": "o1" })];
        let mut regions = Vec::new();
        for (n, (sketch, branches)) in parts.into_iter().enumerate() {
            let n = n + 1;
            let Some(branches) = branches else {
                steps.push(step(&sketch, &outside, n, None));
                continue;
            };
            let mut ids = Vec::new();
            for (b, sketches) in branches.iter().enumerate() {
                let branch: Vec<String> = (0..sketches.len()).map(|s| format!("o{n}-b{b}-s{s}")).collect();
                for (s, sketch) in sketches.iter().enumerate() {
                    let within: Vec<String> = branch.iter().cloned().chain(["join".to_owned()]).collect();
                    steps.push(step(sketch, &within, s, Some(&branch[0])));
                }
                ids.push(branch);
            }
            let entries: Vec<&String> = ids.iter().map(|branch| &branch[0]).collect();
            steps.push(json!({ "id": outside[n], "parallel": entries, "next": outside[n + 1] }));
            regions.push((outside[n].clone(), ids));
        }
        let (review, end) = (&outside[count - 2], &outside[count - 1]);
        steps.push(json!({ "id": review, "approve": "x", "person": "steps.o0.output.who", "next": end }));
        steps.push(json!({ "id": end, "finish": "done" }));
        // A run begins with the first step in the list; the others may stand in any order.
        let mut keyed: Vec<(u32, Value)> = order.into_iter().cycle().zip(steps.drain(1..)).collect();
        keyed.sort_by_key(|(key, _)| *key);
        steps.extend(keyed.into_iter().map(|(_, step)| step));
        Branched { steps, outside, regions }
    })
}

/// The nth step of those that a run passes, the last of which ends them. In a branch the first one has an output.
fn step(sketch: &Sketch, passed: &[String], n: usize, entry: Option<&str>) -> Value {
    let next = &passed[n + 1];
    let later = &passed[n + 1 + sketch.jump % (passed.len() - n - 1)];
    let earlier = &passed[sketch.back % (n + 1)];
    let routes = if later == next { json!(next) } else { json!([next, { "to": later, "when": "x" }]) };
    let mut step = match (sketch.kind, entry) {
        (_, Some(entry)) if entry == passed[n] => {
            json!({ "agent": "x", "output": { "who": "person" }, "next": routes })
        }
        (0, _) => json!({ "agent": "x", "next": routes }),
        (1, entry) => {
            let source = entry.filter(|_| sketch.back.is_multiple_of(2)).unwrap_or("o0");
            json!({ "task": "x", "person": format!("steps.{source}.output.who"), "next": routes })
        }
        (2, _) => json!({ "approve": "x", "person": "y", "on_reject": earlier, "next": next }),
        (3, _) => json!({ "wait": "1d", "next": next }),
        (4, _) => json!({ "wait_for": "e", "timeout": "1d", "on_timeout": later, "next": next }),
        _ => json!({ "approve": "x", "person": "y", "next": next }),
    };
    step["id"] = json!(passed[n]);
    step
}

/// How many kinds of [`Branched::broken`] there are.
pub const FAULTS: usize = 15;

impl Branched {
    /// The process as a file's content.
    pub fn written(&self, steps: &[Value]) -> Written {
        let frontmatter = json!({ "name": "x", "description": "x", "steps": steps });
        Written { frontmatter, body: String::new(), expect: Vec::new() }
    }

    /// The steps with some of what they name changed to something else, or left out.
    pub fn rewired(&self, changes: &[(usize, usize, usize)]) -> Vec<Value> {
        let mut steps = self.steps.clone();
        let mut names: Vec<Value> = steps.iter().map(|step| step["id"].clone()).collect();
        names.push(json!("join"));
        for (step, key, to) in changes {
            let at = step % steps.len();
            let step = steps[at].as_object_mut().unwrap();
            let to = names[to % names.len()].clone();
            match key {
                0 if !step.contains_key("finish") => drop(step.remove("next")),
                1 | 2 if step.contains_key("on_timeout") => step["on_timeout"] = to,
                1 | 2 if step.contains_key("parallel") => step["parallel"][key % 2] = to,
                1 | 2 if step.contains_key("approve") && to != "join" => drop(step.insert("on_reject".into(), to)),
                3 if step.contains_key("agent") => {
                    drop(step.insert("next".into(), json!([to, names[(at + 1) % names.len()]])))
                }
                _ if step.contains_key("next") => step["next"] = to,
                _ => {}
            }
        }
        steps
    }

    /// The place of a step in the file.
    fn at(&self, id: &str) -> usize {
        self.steps.iter().position(|step| step["id"] == id).unwrap()
    }

    /// The steps with one rule broken, where it must be told, and words of how; no place when more than one is right.
    pub fn broken(&self, fault: usize, at: usize) -> (Vec<Value>, Option<String>, &'static str) {
        let mut steps = self.steps.clone();
        let (parallel, branches) = &self.regions[at % self.regions.len()];
        let (branch, other) = (&branches[at % branches.len()], &branches[(at + 1) % branches.len()]);
        let (step, last) = (self.at(&branch[at / 3 % branch.len()]), self.at(branch.last().unwrap()));
        let review = self.at(&self.outside[self.outside.len() - 2]);
        let region = self.at(parallel);
        let end = self.outside.last().unwrap();
        let mut place = format!("steps[{step}].next");
        // A step more for the branch, which the last one leads to.
        let extra = |steps: &mut Vec<Value>, more: Value| {
            steps[last]["next"] = json!("extra");
            steps.insert(1, json!({ "id": "extra", "next": "join" }));
            steps[1].as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        };
        let words = match fault {
            0 => {
                steps[step]["next"] = json!("o0");
                "outside this branch"
            }
            1 => {
                steps[step].as_object_mut().unwrap().remove("next");
                place = format!("steps[{step}]");
                "inside a branch every step names `next`"
            }
            2 => {
                steps[step]["next"] = json!(end);
                "is a finish"
            }
            3 => {
                steps[step]["next"] = json!(parallel);
                "is the parallel step of this branch"
            }
            4 => {
                steps[step]["next"] = json!(other[0]);
                "begins another branch"
            }
            5 => {
                let outside = self.at(&self.outside[at % (self.outside.len() - 1)]);
                steps[outside]["next"] = json!(branch[0]);
                place = format!("steps[{outside}].next");
                "is in a branch of"
            }
            6 => {
                steps[review]["on_reject"] = json!(branch.last().unwrap());
                place = format!("steps[{review}].on_reject");
                "so that every branch runs again"
            }
            7 => {
                steps[review]["next"] = json!("join");
                place = format!("steps[{review}].next");
                "this step is in none"
            }
            8 => {
                let (nested, _) = &self.regions[(at + 1) % self.regions.len()];
                steps[region]["parallel"][0] = json!(nested);
                place = format!("steps[{region}].parallel[0]");
                "itself"
            }
            9 => {
                steps[region]["parallel"].as_array_mut().unwrap().push(json!(branch[0]));
                place = format!("steps[{region}].parallel[{}]", branches.len());
                "begins a branch already"
            }
            10 => {
                let wrong = ["o0", parallel, &other[0], end][at % 4];
                extra(&mut steps, json!({ "approve": "x", "person": "y", "on_reject": wrong }));
                place = "steps[1].on_reject".to_owned();
                "outside this branch"
            }
            11 => {
                extra(&mut steps, json!({ "agent": "x", "next": ["join", branch[0]] }));
                return (steps, None, "this comes round again");
            }
            12 => {
                extra(&mut steps, json!({ "task": "x", "person": format!("steps.{}.output.who", other[0]) }));
                place = "steps[1].person".to_owned();
                "which runs at the same time"
            }
            13 => {
                steps[step]["next"] = json!(other.last().unwrap());
                return (steps, None, "no step is in two");
            }
            _ => {
                extra(&mut steps, json!({ "parallel": ["inner-a", "inner-b"] }));
                steps.push(json!({ "id": "inner-a", "wait": "1d", "next": "join" }));
                steps.push(json!({ "id": "inner-b", "wait": "1d", "next": "join" }));
                place = "steps[1].parallel".to_owned();
                "a branch holds no parallel step"
            }
        };
        (steps, Some(place), words)
    }
}
