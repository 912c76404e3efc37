//! `check` of a step (profile check-1): what a model is asked about a submission, and which answers pass.
//!
//! `check` is one yes/no question as text, or a list of questions. A question is `ask` and at most one of `one_of` and
//! `levels`; that one says what kind of question it is and so which other keys it takes. Where it cannot be told which
//! kind is meant, the keys of the kinds are not looked at: their faults would be guesses.

use std::collections::{HashMap, HashSet};

use super::{keys, words};
use crate::limits::{ANSWER_NAME_CHARACTERS, CHECK_PASS_PROBABILITY, CHECK_QUESTIONS, RUBRIC_LEVELS};
use crate::model::{Question, QuestionKind};
use crate::problem::{Path, Report, did_you_mean, shorten};
use crate::yaml::{Data, Entry, Node};

/// The keys of a question.
const QUESTION: &[&str] = &["ask", "pass", "fail", "one_of", "unsure", "levels", "confidence"];

/// The fewest answers of a choice and the fewest levels of a rubric: with one there is nothing to ask.
const LEAST_ANSWERS: usize = 2;

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
            let ask = keys::filled(node, path, WANTED, report)?.to_owned();
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
struct Keys<'n> {
    entries: &'n [Entry],
}

impl<'n> Keys<'n> {
    fn get(self, key: &str) -> Option<&'n Entry> {
        self.entries.iter().find(|e| e.key == key)
    }

    /// The value that `read` makes of a key that may be left out: `Some(None)` when it is, `None` when it is wrong.
    fn optional<T>(self, key: &str, read: impl FnOnce(&'n Entry) -> Option<T>) -> Option<Option<T>> {
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
    let ask = keys.get("ask").and_then(|e| keys::filled(&e.value, &path.key("ask"), "the question", report));
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

fn choice(keys: Keys<'_>, path: &Path<'_>, report: &mut Report) -> Option<QuestionKind> {
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
                "`{}` cannot name an answer; use one line of at most {ANSWER_NAME_CHARACTERS} characters",
                shorten(&entry.key)
            );
            report.error(entry.key_at, &path, what);
        }
        match keys::filled(&entry.value, &path, "what this answer means", report) {
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
        match keys::filled(item, &path.element(n), "what this level means", report) {
            Some(level) => levels.push(level.to_owned()),
            None => sound = false,
        }
    }
    sound.then_some(levels)
}

/// A level of a rubric that has `count` of them.
fn level(node: &Node, count: Option<usize>, path: &Path<'_>, report: &mut Report) -> Option<usize> {
    let last = count.unwrap_or(RUBRIC_LEVELS).max(LEAST_ANSWERS) - 1;
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
fn threshold(entry: &Entry, path: &Path<'_>, report: &mut Report) -> Option<f64> {
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
            report.error(node.at, path, format!("expected {wanted}, found the text `{}`", shorten(text)));
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
fn warn_of_pass(keys: Keys<'_>, path: &Path<'_>, what: &str, report: &mut Report) {
    if let Some(entry) = keys.get("pass") {
        report.warning(entry.value.at, &path.key("pass"), what);
    }
}
