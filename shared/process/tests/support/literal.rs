//! The rules about the order of steps and about branches, word by word and without regard to what they cost: whether a
//! list of steps keeps them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

struct Steps<'a> {
    list: &'a [Value],
}

impl<'a> Steps<'a> {
    fn get(&self, id: &str) -> &'a Value {
        self.list.iter().find(|step| step["id"] == id).unwrap()
    }

    fn ids(&self) -> Vec<&'a str> {
        self.list.iter().map(|step| step["id"].as_str().unwrap()).collect()
    }

    /// What `next` and `on_timeout` name, `join` among it; without `next`, the following step.
    fn forward(&self, id: &str) -> Vec<&'a str> {
        let step = self.get(id);
        if step.get("finish").is_some() {
            return Vec::new();
        }
        let mut targets: Vec<&str> = match &step["next"] {
            Value::String(to) => vec![to],
            Value::Array(routes) => routes.iter().map(|r| r.as_str().or(r["to"].as_str()).unwrap()).collect(),
            _ => {
                let at = self.ids().iter().position(|other| *other == id).unwrap();
                self.ids().get(at + 1).copied().into_iter().collect()
            }
        };
        targets.extend(step["on_timeout"].as_str());
        targets
    }

    fn on_reject(&self, id: &str) -> Option<&'a str> {
        self.get(id)["on_reject"].as_str()
    }

    fn entries(&self, id: &str) -> Vec<&'a str> {
        self.get(id)["parallel"].as_array().into_iter().flatten().filter_map(Value::as_str).collect()
    }

    /// Everything that `edges` lead to from `start`, itself among it.
    fn reach(&self, start: &'a str, edges: impl Fn(&str) -> Vec<&'a str>) -> BTreeSet<&'a str> {
        let mut reached = BTreeSet::new();
        let mut open = vec![start];
        while let Some(id) = open.pop() {
            if id != "join" && reached.insert(id) {
                open.extend(edges(id));
            }
        }
        reached
    }
}

/// Whether the steps keep the rules. They have ids of their own, and name each other or `join` everywhere.
pub fn keeps_the_rules(list: &[Value]) -> bool {
    let steps = Steps { list };
    let ids = steps.ids();
    let forks: Vec<&str> = ids.iter().copied().filter(|id| !steps.entries(id).is_empty()).collect();
    let mut branches: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for fork in &forks {
        let entries = steps.entries(fork);
        if entries.contains(&"join") || entries.iter().collect::<BTreeSet<_>>().len() < entries.len() {
            return false;
        }
        for entry in entries {
            if branches.values().any(|steps| steps.contains(entry)) {
                return false;
            }
            branches.insert((*fork, entry), steps.reach(entry, |id| steps.forward(id)));
        }
    }
    let branch_of = |id: &str| branches.iter().find(|(_, steps)| steps.contains(id));
    for id in &ids {
        let step = steps.get(id);
        let named = steps.forward(id);
        if named.iter().collect::<BTreeSet<_>>().len() < step["next"].as_array().map_or(0, Vec::len) {
            return false;
        }
        let Some(((fork, _), own)) = branch_of(id) else {
            let mut named = named;
            named.extend(steps.on_reject(id));
            if named.iter().any(|to| *to == "join" || branch_of(to).is_some()) {
                return false;
            }
            continue;
        };
        let joins = |from: &str| steps.reach(ids.iter().find(|id| **id == from).unwrap(), |id| steps.forward(id));
        if branches.values().filter(|steps| steps.contains(id)).count() > 1
            || step.get("next").is_none()
            || step.get("finish").is_some()
            || step.get("parallel").is_some()
            || named.contains(fork)
            || !joins(id).iter().any(|id| steps.forward(id).contains(&"join"))
            || steps.on_reject(id).is_some_and(|to| !own.contains(to))
        {
            return false;
        }
    }
    let round = |id: &&str| {
        let ahead = steps.forward(id).into_iter().filter(|to| *to != "join");
        ahead.into_iter().any(|to| steps.reach(to, |id| steps.forward(id)).contains(id))
    };
    let reached = steps.reach(ids[0], |id| {
        let mut named = steps.forward(id);
        named.extend(steps.on_reject(id));
        named.extend(steps.entries(id));
        named
    });
    let last = list.last().unwrap();
    branch_of(ids[0]).is_none()
        && !ids.iter().any(round)
        && reached.len() == ids.len()
        && (last.get("next").is_some() || last.get("finish").is_some())
}
