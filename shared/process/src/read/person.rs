//! `person` and `wait_until`: role names and paths into run data (core §2.2), as written and as resolved.

use std::collections::HashMap;

use super::fields::Declared;
use super::keys::{self, KindKey};
use super::step::Draft;
use super::words;
use crate::limits::ID_CHARACTERS;
use crate::model::FieldType;
use crate::problem::{Path, Position, Report, did_you_mean, shorten};
use crate::yaml::Node;

/// `person` as written.
#[derive(Debug)]
pub(super) enum Who<'n> {
    Role(&'n str),
    Initiator,
    Path(Reference<'n>),
}

/// A path as written. A field's name may hold dots: everything after the fixed part is the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reference<'n> {
    Input(&'n str),
    Output { step: &'n str, field: &'n str },
}

const PATH_FORM: &str = "write `inputs.<field>` or `steps.<id>.output.<field>`";

/// `person` (core §2.2): a value with a dot is a path.
pub(super) fn who<'n>(node: &'n Node, path: &Path<'_>, report: &mut Report) -> Option<Who<'n>> {
    let text = keys::filled(node, path, "a role, `initiator`, or a path to a person", report)?;
    if text.contains('.') {
        return reference(text, node, path, report).map(Who::Path);
    }
    if text == "initiator" {
        return Some(Who::Initiator);
    }
    if !words::is_role(text) {
        let what = format!(
            "`{}` is not a role name; begin with a letter or digit and go on with letters, digits, `-` and `_`, \
             {ID_CHARACTERS} characters at most",
            shorten(text)
        );
        report.error(node.at, path, what);
        return None;
    }
    Some(Who::Role(text))
}

/// `wait_until` (core §2.2).
pub(super) fn until<'n>(node: &'n Node, path: &Path<'_>, report: &mut Report) -> Option<Reference<'n>> {
    let text = keys::filled(node, path, "a path to a datetime, such as `inputs.startDate`", report)?;
    reference(text, node, path, report)
}

/// The path into run data that the text of `node` is.
pub(super) fn reference<'n>(text: &'n str, node: &Node, path: &Path<'_>, report: &mut Report) -> Option<Reference<'n>> {
    let found = parse(text);
    if found.is_none() {
        report.error(node.at, path, format!("`{}` is not a path into run data; {PATH_FORM}", shorten(text)));
    }
    found
}

fn parse(text: &str) -> Option<Reference<'_>> {
    if let Some(field) = text.strip_prefix("inputs.") {
        return (!field.is_empty()).then_some(Reference::Input(field));
    }
    let (step, rest) = text.strip_prefix("steps.")?.split_once('.')?;
    let field = rest.strip_prefix("output.")?;
    (!step.is_empty() && !field.is_empty()).then_some(Reference::Output { step, field })
}

/// Where a path is used.
pub(super) struct Use<'p> {
    pub(super) at: Position,
    pub(super) path: &'p Path<'p>,
    /// The type that the field must have; where any will do, so will none, and a field may be optional.
    pub(super) wanted: Option<FieldType>,
}

/// Checks that a path names a declared field of the right type; returns the step it leads into, when it is a step's
/// output and the step exists.
pub(super) fn resolve(
    reference: Reference<'_>,
    used: &Use<'_>,
    inputs: &Declared,
    drafts: &[Draft<'_>],
    ids: &HashMap<&str, usize>,
    report: &mut Report,
) -> Option<usize> {
    match reference {
        Reference::Input(field) => {
            declared(field, inputs, "`inputs`", used, report);
            None
        }
        Reference::Output { step, field } => {
            let Some((index, draft)) = ids.get(step).and_then(|i| drafts.get(*i).map(|d| (*i, d))) else {
                let meant = report.suggest(step, drafts.iter().filter_map(|d| d.id.map(|(id, _)| id)));
                let what = format!("no step has the id `{}`{}", shorten(step), did_you_mean(meant));
                report.error(used.at, used.path, what);
                return None;
            };
            match draft.kind {
                Some(KindKey::Agent | KindKey::Task) => {
                    declared(field, &draft.output, &format!("the output of `{}`", shorten(step)), used, report);
                }
                Some(kind) => {
                    let what = format!(
                        "`{}` is `{}`, and only agent and task steps declare an output",
                        shorten(step),
                        kind.name()
                    );
                    report.error(used.at, used.path, what);
                    return None;
                }
                // A step whose kind is unclear has its problem already.
                None => {}
            }
            Some(index)
        }
    }
}

fn declared(field: &str, fields: &Declared, place: &str, used: &Use<'_>, report: &mut Report) {
    match fields.get(field) {
        None => {
            let meant = report.suggest(field, fields.names());
            let what = match meant {
                Some(_) => format!("{place} has no field `{}`{}", shorten(field), did_you_mean(meant)),
                None => {
                    let kind = used.wanted.map(|wanted| format!(" as {}", keys::a(wanted))).unwrap_or_default();
                    format!("{place} has no field `{}`; declare it{kind}", shorten(field))
                }
            };
            report.error(used.at, used.path, what);
        }
        // The declaration has its own problem.
        Some(None) => {}
        Some(Some(found)) => {
            let Some(wanted) = used.wanted else { return };
            if found.kind != wanted {
                let what = format!(
                    "`{}` in {place} is {}; this needs {}",
                    shorten(field),
                    keys::a(found.kind),
                    keys::a(wanted)
                );
                report.error(used.at, used.path, what);
            } else if found.optional {
                let what = format!("`{}` in {place} is optional; a run without it fails at this step", shorten(field));
                report.warning(used.at, used.path, what);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_have_two_forms() {
        assert_eq!(parse("inputs.owner"), Some(Reference::Input("owner")));
        assert_eq!(parse("inputs.a.b"), Some(Reference::Input("a.b")));
        assert_eq!(parse("steps.a.output.b"), Some(Reference::Output { step: "a", field: "b" }));
        assert_eq!(parse("steps.a.output.b.c"), Some(Reference::Output { step: "a", field: "b.c" }));
        for bad in
            ["inputs.", "inputs", "steps.a.b", "steps.a.output.", "steps..output.b", "a.b", ".", "steps.a.output"]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
