//! `check` of a step (profile check-1): what a model is asked about a submission, and which answers pass.
//!
//! `check` is one yes/no question as text, or a list of questions. A question is `ask` and at most one of `one_of` and
//! `levels`; that one says what kind of question it is and so which other keys it takes. Where it cannot be told which
//! kind is meant, the keys of the kinds are not looked at: their faults would be guesses.

use super::choice::choice;
use super::keys;
use crate::limits::{CHECK_PASS_PROBABILITY, CHECK_QUESTIONS, RUBRIC_LEVELS};
use crate::model::{Question, QuestionKind};
use crate::problem::{Path, Report, shorten};
use crate::yaml::{Data, Entry, Node};

/// The keys of a question.
pub(super) const QUESTION: &[&str] = &["ask", "pass", "fail", "one_of", "unsure", "levels", "confidence"];

/// The fewest answers of a choice and the fewest levels of a rubric: with one there is nothing to ask.
pub(super) const LEAST_ANSWERS: usize = 2;

/// The questions of the `check` at `path`; `None` when something is wrong with them.
pub(super) fn check(node: &Node, path: &Path<'_>, report: &mut Report) -> Option<Vec<Question>> {
    const WANTED: &str = "a question, or a list of questions";
    let list = match &*node.data {
        Data::List(list) => list,
        Data::Map(_) => {
            report.error(node.at, path, format!("expected {WANTED}, found a mapping; put the question in a list"));
            return None;
        }
        _ => {
            let ask = keys::short(node, path, WANTED, report)?.to_owned();
            return Some(vec![Question { ask, kind: QuestionKind::YesNo { pass: None, fail: None } }]);
        }
    };
    if list.is_empty() {
        report.error(node.at, path, "is empty; ask one question at least, or remove `check`");
        return None;
    }
    if let Some(first_over) = list.get(CHECK_QUESTIONS) {
        let what = format!(
            "there are {} questions; at most {CHECK_QUESTIONS} are allowed: join some, or make it two steps",
            list.len()
        );
        report.error(first_over.at, &path.element(CHECK_QUESTIONS), what);
    }
    // Every question is looked at before one that is wrong spoils the list.
    let questions: Vec<Option<Question>> =
        list.iter().enumerate().map(|(n, item)| question(item, &path.element(n), report)).collect();
    questions.into_iter().collect()
}

/// What kind of answer a question takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    YesNo,
    Choice,
    Rubric,
}

impl Form {
    /// The form, in words for a question that has a key it does not take.
    fn shown(self) -> &'static str {
        match self {
            Form::YesNo => "is a yes/no question",
            Form::Choice => "has `one_of`",
            Form::Rubric => "has `levels`",
        }
    }
}

/// Which questions take a key, with words for them; `None` for a key that every question takes.
fn takers(key: &str) -> Option<(&'static [Form], &'static str)> {
    match key {
        "fail" => Some((&[Form::YesNo], "yes/no questions")),
        "unsure" => Some((&[Form::Choice], "questions with `one_of`")),
        "confidence" => Some((&[Form::Choice, Form::Rubric], "questions with `one_of` or `levels`")),
        _ => None,
    }
}

/// The keys of one question.
#[derive(Clone, Copy)]
pub(super) struct Keys<'n> {
    entries: &'n [Entry],
}

impl<'n> Keys<'n> {
    pub(super) fn get(self, key: &str) -> Option<&'n Entry> {
        self.entries.iter().find(|e| e.key == key)
    }

    /// The value that `read` makes of a key that may be left out: `Some(None)` when it is, `None` when it is wrong.
    pub(super) fn optional<T>(self, key: &str, read: impl FnOnce(&'n Entry) -> Option<T>) -> Option<Option<T>> {
        self.get(key).map_or(Some(None), |entry| read(entry).map(Some))
    }
}

fn question(node: &Node, path: &Path<'_>, report: &mut Report) -> Option<Question> {
    if node.text().is_some() {
        report.error(node.at, path, "a question in a list is a mapping; write it as `ask: …`");
        return None;
    }
    let entries = keys::map(node, path, "a question, a mapping with `ask`", report)?;
    let keys = Keys { entries };
    let mut meant: Vec<&str> = Vec::new();
    for entry in entries {
        if entry.key == "advisory" {
            let what = "is a key of the step, not of a question; put it beside `check`";
            report.error(entry.key_at, &path.key("advisory"), what);
        } else if !QUESTION.contains(&entry.key.as_str()) {
            meant.extend(keys::unknown(entry, path, "a question", QUESTION, report));
        }
    }
    let named = |key: &str| keys.get(key).is_some() || meant.contains(&key);
    let form = match (named("one_of"), named("levels")) {
        (false, false) => Some(Form::YesNo),
        (true, false) => Some(Form::Choice),
        (false, true) => Some(Form::Rubric),
        (true, true) => {
            if let (Some(one_of), Some(levels)) = (keys.get("one_of"), keys.get("levels")) {
                let (first, second) = if one_of.key_at < levels.key_at { (one_of, levels) } else { (levels, one_of) };
                let what = format!("a question has `one_of` or `levels`, and this one has `{}`; keep one", first.key);
                report.error(second.key_at, &path.key(&second.key), what);
            }
            None
        }
    };
    for entry in entries {
        if let (Some(form), Some((forms, words))) = (form, takers(&entry.key))
            && !forms.contains(&form)
        {
            let what = format!("`{}` is only for {words}, and this one {}; remove it", entry.key, form.shown());
            report.error(entry.key_at, &path.key(&entry.key), what);
        }
    }
    if let (Some(Form::Choice | Form::Rubric), false) = (form, named("pass")) {
        let what = match form {
            Some(Form::Choice) => "`pass` is missing; list the answers that pass",
            _ => "`pass` is missing; give the level at and above which it passes",
        };
        report.error(node.at, path, what);
    }
    if !named("ask") {
        report.error(node.at, path, "`ask` is missing; write the question");
    }
    let ask = keys.get("ask").and_then(|e| keys::short(&e.value, &path.key("ask"), "the question", report));
    let kind = match form {
        Some(Form::YesNo) => yes_no(keys, path, report),
        Some(Form::Choice) => choice(keys, path, report),
        Some(Form::Rubric) => rubric(keys, path, report),
        None => None,
    };
    Some(Question { ask: ask?.to_owned(), kind: kind? })
}

fn yes_no(keys: Keys<'_>, path: &Path<'_>, report: &mut Report) -> Option<QuestionKind> {
    let pass = keys.optional("pass", |entry| {
        if let Data::List(_) = &*entry.value.data {
            let what = "expected a number from 0 to 1, found a list; for answers to choose from add `one_of`";
            report.error(entry.value.at, &path.key("pass"), what);
            return None;
        }
        threshold(entry, path, report)
    });
    let fail = keys.optional("fail", |entry| threshold(entry, path, report));
    let (pass, fail) = (pass?, fail?);
    if pass == Some(0.0) {
        warn_of_pass(keys, path, "every probability is 0 or above, so nothing can fail; raise it", report);
    }
    if let (Some(threshold), Some(entry)) = (fail, keys.get("fail"))
        && threshold > pass.unwrap_or(CHECK_PASS_PROBABILITY)
    {
        let than = match keys.get("pass") {
            Some(pass) => format!("`pass`, which is {}", written(&pass.value)),
            None => format!("`pass`, which is {CHECK_PASS_PROBABILITY} where it is left out"),
        };
        let what = format!("`{}` is above {than}; `fail` is the lower of the two", written(&entry.value));
        report.error(entry.value.at, &path.key("fail"), what);
        return None;
    }
    Some(QuestionKind::YesNo { pass, fail })
}

fn rubric(keys: Keys<'_>, path: &Path<'_>, report: &mut Report) -> Option<QuestionKind> {
    let count = keys.get("levels").and_then(|entry| match &*entry.value.data {
        Data::List(list) => Some(list.len()),
        _ => None,
    });
    let levels = keys.get("levels").and_then(|entry| self::levels(&entry.value, &path.key("levels"), report));
    let pass = keys.get("pass").and_then(|entry| level(&entry.value, count, &path.key("pass"), report));
    let confidence = keys.optional("confidence", |entry| threshold(entry, path, report));
    let (levels, pass, confidence) = (levels?, pass?, confidence?);
    if pass == 0 {
        warn_of_pass(keys, path, "every level is 0 or above, so nothing can fail; raise it", report);
    }
    Some(QuestionKind::Rubric { levels, pass, confidence })
}

/// The levels of a rubric; `None` when something is wrong with them.
fn levels(node: &Node, path: &Path<'_>, report: &mut Report) -> Option<Vec<String>> {
    let list = keys::list(node, path, "a list of what each level means, worst first", report)?;
    let mut sound = true;
    if list.len() < LEAST_ANSWERS {
        sound = false;
        let what = format!(
            "a rubric has {LEAST_ANSWERS} to {RUBRIC_LEVELS} levels, worst first, and this one has {}; add to them",
            list.len()
        );
        report.error(node.at, path, what);
    }
    if let Some(first_over) = list.get(RUBRIC_LEVELS) {
        sound = false;
        let what = format!("there are {} levels; at most {RUBRIC_LEVELS} are allowed: join some", list.len());
        report.error(first_over.at, &path.element(RUBRIC_LEVELS), what);
    }
    let mut levels = Vec::new();
    for (n, item) in list.iter().enumerate() {
        match keys::short(item, &path.element(n), "what this level means", report) {
            Some(level) => levels.push(level.to_owned()),
            None => sound = false,
        }
    }
    sound.then_some(levels)
}

/// A level of a rubric that has `count` of them.
fn level(node: &Node, count: Option<usize>, path: &Path<'_>, report: &mut Report) -> Option<usize> {
    // Too few levels are told of themselves; which of them passes is then no second problem.
    let last = count.filter(|count| *count >= LEAST_ANSWERS).unwrap_or(RUBRIC_LEVELS) - 1;
    let wanted = format!("a level, a whole number from 0 to {last}");
    let number = number(node, path, &wanted, report)?;
    // A list is far shorter than 2^32, so this comparison is exact.
    let found = (0..=last).find(|level| u32::try_from(*level).is_ok_and(|level| f64::from(level) == number));
    if found.is_none() {
        let what = format!("`{}` is no level; the levels count from 0, worst first, to {last}", written(node));
        report.error(node.at, path, what);
    }
    found
}

/// A number from 0 to 1, under the entry's key in the question at `path`.
pub(super) fn threshold(entry: &Entry, path: &Path<'_>, report: &mut Report) -> Option<f64> {
    let (node, path) = (&entry.value, &path.key(&entry.key));
    let number = number(node, path, "a number from 0 to 1", report)?;
    if !(0.0..=1.0).contains(&number) {
        let what = format!("`{}` is not from 0 to 1; write a share of 1, such as 0.9", written(node));
        report.error(node.at, path, what);
        return None;
    }
    Some(number)
}

/// The value of a number, as the double nearest to it.
fn number(node: &Node, path: &Path<'_>, wanted: &str, report: &mut Report) -> Option<f64> {
    match &*node.data {
        // The tree holds numbers that are finite as doubles and no others.
        Data::Number(number) => number.as_f64(),
        Data::Broken => None,
        Data::Null => {
            report.error(node.at, path, format!("has no value; write {wanted}"));
            None
        }
        Data::Text(text) => {
            let hint = if text.parse::<f64>().is_ok() { "; remove the quotes" } else { "" };
            report.error(node.at, path, format!("expected {wanted}, found the text `{}`{hint}", shorten(text)));
            None
        }
        _ => {
            report.error(node.at, path, format!("expected {wanted}, found {}", node.what()));
            None
        }
    }
}

/// A number with the digits of the file.
fn written(node: &Node) -> String {
    match &*node.data {
        Data::Number(number) => shorten(&number.to_string()),
        _ => node.what().to_owned(),
    }
}

/// Warns of what `pass` comes to.
pub(super) fn warn_of_pass(keys: Keys<'_>, path: &Path<'_>, what: &str, report: &mut Report) {
    if let Some(entry) = keys.get("pass") {
        report.warning(entry.value.at, &path.key("pass"), what);
    }
}
