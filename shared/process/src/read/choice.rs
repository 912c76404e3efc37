//! A question with answers to choose from (profile check-1): `one_of`, and which of them `pass` and `unsure` name.

use std::collections::{HashMap, HashSet};

use super::check::{Keys, LEAST_ANSWERS, threshold, warn_of_pass};
use super::{keys, words};
use crate::limits::ANSWER_NAME_CHARACTERS;
use crate::model::QuestionKind;
use crate::problem::{Path, Report, did_you_mean, shorten};
use crate::yaml::{Data, Entry, Node};

/// What the keys of the question at `path` say of its answers; `None` when something is wrong with them.
pub(super) fn choice(keys: Keys<'_>, path: &Path<'_>, report: &mut Report) -> Option<QuestionKind> {
    let answers = keys.get("one_of").and_then(|entry| one_of(&entry.value, &path.key("one_of"), report));
    let mut names = Names::of(keys.get("one_of"));
    let pass = keys.get("pass").and_then(|entry| {
        let pass = chosen(entry, path, &mut names, report)?;
        if pass.is_empty() {
            let what = "is empty, so nothing would pass; list the answers that pass";
            report.error(entry.value.at, &path.key("pass"), what);
            return None;
        }
        Some(pass)
    });
    let unsure = keys.optional("unsure", |entry| chosen(entry, path, &mut names, report));
    let confidence = keys.optional("confidence", |entry| threshold(entry, path, report));
    let (one_of, pass, unsure, confidence) = (answers?, pass?, unsure?, confidence?);
    if pass.len() == one_of.len() {
        warn_of_pass(keys, path, "every answer passes, so nothing can fail; leave out those that should not", report);
    }
    Some(QuestionKind::Choice { one_of, pass, unsure: unsure.unwrap_or_default(), confidence })
}

/// The answers of a choice with what they mean; `None` when something is wrong with them.
fn one_of(node: &Node, path: &Path<'_>, report: &mut Report) -> Option<Vec<(String, String)>> {
    let wanted = "a mapping from each answer to what it means, such as `{ clear: Says which, vague: Does not say }`";
    let entries = keys::map(node, path, wanted, report)?;
    let mut sound = entries.len() >= LEAST_ANSWERS;
    if !sound {
        let what = format!("a choice has two or more answers, and this one has {}; add to them", entries.len());
        report.error(node.at, path, what);
    }
    let mut answers = Vec::new();
    for entry in entries {
        let path = path.key(&entry.key);
        if !words::is_answer(&entry.key) {
            sound = false;
            let what = format!(
                "`{}` cannot name an answer; write one line of 1 to {ANSWER_NAME_CHARACTERS} characters",
                shorten(&entry.key)
            );
            report.error(entry.key_at, &path, what);
        }
        match keys::short(&entry.value, &path, "what this answer means", report) {
            Some(meaning) => answers.push((entry.key.clone(), meaning.to_owned())),
            None => sound = false,
        }
    }
    sound.then_some(answers)
}

/// What the answers of a choice are called: known even where one has no description.
struct Names<'n> {
    /// The entries of `one_of`; `None` when it is no mapping, and then any name will do.
    entries: Option<&'n [Entry]>,
    known: HashSet<&'n str>,
    /// The names that were listed, with the key they were listed under.
    taken: HashMap<&'n str, &'n str>,
}

impl<'n> Names<'n> {
    fn of(one_of: Option<&'n Entry>) -> Names<'n> {
        let entries = one_of.and_then(|entry| match &*entry.value.data {
            Data::Map(entries) => Some(entries.as_slice()),
            _ => None,
        });
        let known = entries.into_iter().flatten().map(|e| e.key.as_str()).collect();
        Names { entries, known, taken: HashMap::new() }
    }

    /// Takes a name in that is listed under `key`, or says why it does not belong there.
    fn take(&mut self, name: &'n str, key: &'n str, report: &Report) -> Result<(), String> {
        match (self.taken.get(name), self.entries) {
            (Some(before), _) if *before == key => {
                Err(format!("`{}` is listed already; list each answer once", shorten(name)))
            }
            (Some(before), _) => {
                Err(format!("`{}` is in `{before}` already; keep it in one of the two", shorten(name)))
            }
            (None, Some(entries)) if !self.known.contains(name) => {
                let meant = report.suggest(name, entries.iter().map(|e| e.key.as_str()));
                let hint =
                    if meant.is_some() { did_you_mean(meant) } else { "; add it there, or remove it".to_owned() };
                Err(format!("`{}` is no answer of `one_of`{hint}", shorten(name)))
            }
            (None, _) => {
                self.taken.insert(name, key);
                Ok(())
            }
        }
    }
}

/// The answers that `pass` or `unsure` lists; `None` when something is wrong with them.
fn chosen<'n>(entry: &'n Entry, path: &Path<'_>, names: &mut Names<'n>, report: &mut Report) -> Option<Vec<String>> {
    let path = path.key(&entry.key);
    let node = &entry.value;
    if let Some(text) = node.text() {
        let what = format!("expected a list of answers, found text; write `{}: [{}]`", entry.key, shorten(text));
        report.error(node.at, &path, what);
        return None;
    }
    let list = keys::list(node, &path, "a list of answers", report)?;
    let mut sound = true;
    let mut chosen = Vec::new();
    for (n, item) in list.iter().enumerate() {
        let path = path.element(n);
        let Some(name) = keys::text(item, &path, "the name of an answer", report) else {
            sound = false;
            continue;
        };
        match names.take(name, &entry.key, report) {
            Ok(()) => chosen.push(name.to_owned()),
            Err(what) => {
                sound = false;
                report.error(item.at, &path, what);
            }
        }
    }
    sound.then_some(chosen)
}
