//! The frontmatter's own keys (core §2.1), and the order in which the rules run.

use super::branches::Branches;
use super::fields::{self, Declared};
use super::keys::{self, KindKey};
use super::step::Draft;
use super::{ReadOptions, build, folder_mismatch, order, step, targets, words};
use crate::limits::{NAME_CHARACTERS, STEPS, WAITS};
use crate::model::{Document, Requires};
use crate::problem::{Path, Report, shorten};
use crate::yaml::{Data, Node, json_object};

/// The document that the frontmatter and the body describe; `None` when a rule is broken, and the report says which.
pub(super) fn document(root: &Node, body: &str, options: &ReadOptions<'_>, report: &mut Report) -> Option<Document> {
    let Data::Map(entries) = &*root.data else {
        let what = match &*root.data {
            Data::Null => "the frontmatter is empty; it needs name, description and steps".to_owned(),
            _ => format!("the frontmatter is a mapping of {}; this is {}", keys::DOCUMENT.join(", "), root.what()),
        };
        if !root.is_broken() {
            report.error(root.at, &Path::Root, what);
        }
        return None;
    };
    let mut missing = vec!["name", "description", "steps"];
    let mut process_name = None;
    let mut description = None;
    let mut inputs = Declared::default();
    let mut requires = None;
    let mut steps = None;
    for entry in entries {
        let path = Path::Root.key(&entry.key);
        missing.retain(|key| *key != entry.key);
        match entry.key.as_str() {
            "name" => process_name = name(&entry.value, &path, options.folder_name, report),
            "description" => {
                let wanted = "a sentence or two that tell what it is for and when to begin one";
                description = keys::filled(&entry.value, &path, wanted, report);
            }
            "inputs" => inputs = fields::fields(&entry.value, &path, report),
            "requires" => requires = self::requires(&entry.value, &path, report),
            "steps" => steps = Some(&entry.value),
            _ => {
                if let Some(meant) = keys::unknown(entry, &Path::Root, "the frontmatter", keys::DOCUMENT, report) {
                    missing.retain(|key| *key != meant);
                }
            }
        }
    }
    for key in missing {
        report.error(root.at, &Path::Root, format!("`{key}` is missing; add it to the frontmatter"));
    }
    let drafts = steps.and_then(|node| self::steps(node, &inputs, options, report));
    if report.has_errors() {
        return None;
    }
    let (drafts, branches) = drafts?;
    let regions = build::regions(&drafts, &branches)?;
    Some(Document {
        name: process_name?.to_owned(),
        description: description?.to_owned(),
        inputs: inputs.into_fields()?,
        requires,
        steps: build::steps(drafts)?,
        regions,
        body: body.to_owned(),
        frontmatter: json_object(entries),
    })
}

fn name<'n>(node: &'n Node, path: &Path<'_>, folder: Option<&str>, report: &mut Report) -> Option<&'n str> {
    let name = keys::text(node, path, "a name such as `supplier-onboarding`", report)?;
    if !words::is_name(name) {
        let what = format!(
            "`{}` is not a name; use 1 to {NAME_CHARACTERS} lower-case letters and digits, words joined by single hyphens",
            shorten(name)
        );
        report.error(node.at, path, what);
        return None;
    }
    if let Some(folder) = folder
        && folder != name
    {
        report.error(node.at, path, folder_mismatch(folder, name));
    }
    Some(name)
}

fn requires(node: &Node, path: &Path<'_>, report: &mut Report) -> Option<Requires> {
    let wanted = "a mapping with `systems`, such as `{ systems: [salesforce] }`";
    let entries = keys::map(node, path, wanted, report)?;
    let mut systems = None;
    let mut named = false;
    for entry in entries {
        if entry.key == "systems" {
            named = true;
            systems = self::systems(&entry.value, &path.key("systems"), report);
        } else {
            named |= keys::unknown(entry, path, "`requires`", keys::REQUIRES, report).is_some();
        }
    }
    if !named {
        report.error(node.at, path, "`systems` is missing; list the external systems, or remove `requires`");
    }
    systems.map(|systems| Requires { systems })
}

fn systems(node: &Node, path: &Path<'_>, report: &mut Report) -> Option<Vec<String>> {
    let list = keys::list(node, path, "a list of names of external systems", report)?;
    if list.is_empty() {
        report.error(node.at, path, "is empty; list the external systems, or remove `requires`");
    }
    let mut systems: Vec<String> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for (n, item) in list.iter().enumerate() {
        let path = path.element(n);
        let Some(system) = keys::text(item, &path, "a name such as `salesforce`", report) else { continue };
        if !words::is_name(system) {
            let what = format!(
                "`{}` is not a name; use lower-case letters and digits, words joined by single hyphens",
                shorten(system)
            );
            report.error(item.at, &path, what);
        } else if !seen.insert(system) {
            report.error(item.at, &path, format!("`{system}` is listed twice; list each system once"));
        } else {
            systems.push(system.to_owned());
        }
    }
    Some(systems)
}

fn steps<'n>(
    node: &'n Node,
    inputs: &Declared,
    options: &ReadOptions<'_>,
    report: &mut Report,
) -> Option<(Vec<Draft<'n>>, Branches)> {
    let path = Path::Root.key("steps");
    let list = keys::list(node, &path, "a list of steps", report)?;
    if list.is_empty() {
        report.error(node.at, &path, "is empty; a process has at least one step");
        return None;
    }
    if let Some(first_over) = list.get(STEPS) {
        let what = format!("there are {} steps; at most {STEPS} are allowed: make it two processes", list.len());
        report.error(first_over.at, &path.element(STEPS), what);
        return None;
    }
    let mut drafts: Vec<Draft<'n>> =
        list.iter().enumerate().map(|(n, item)| step::step(item, &path.element(n), options, report)).collect();
    waits(&drafts, &path, report);
    let ids = targets::resolve(&mut drafts, report);
    let branches = order::check(&drafts, &ids, inputs, report);
    Some((drafts, branches))
}

/// No more waits than may pass in one write.
fn waits(drafts: &[Draft<'_>], path: &Path<'_>, report: &mut Report) {
    let wait = |kind| matches!(kind, Some(KindKey::Wait | KindKey::WaitUntil | KindKey::WaitFor));
    let waits = || drafts.iter().enumerate().filter(|(_, draft)| wait(draft.kind));
    if let Some((n, first_over)) = waits().nth(WAITS) {
        let count = waits().count();
        let what = format!(
            "there are {count} waits; at most {WAITS} are allowed, for all may pass in one write: make it two processes"
        );
        report.error(first_over.at, &path.element(n), what);
    }
}
