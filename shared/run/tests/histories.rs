//! Journals that were recorded once are folded for ever: `histories/README.md` says how, and how to add one.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::*;
use run::{Actor, Answer, Cited, Decision, Entry, EvidenceFile, Mode, Overlay, RunView, Submission, fold};
use serde_json::{Value, json};

/// A play's name, what happens in it, and what its run starts with.
type Recorded = (&'static str, fn(Play) -> Play, Value);

/// Every recorded play. A name is a file in `histories`.
fn plays() -> [Recorded; 11] {
    [
        ("happy", happy, json!({ "borrower": "Bea@Example.com", "days": 14 })),
        ("rework", rework, json!({})),
        ("escalation", escalation, json!({})),
        ("events", events, json!({})),
        ("timers", timers, json!({ "first": "2026-10-06T12:00:00.25+02:00" })),
        ("cancel", cancel, json!({})),
        ("failed", failed, json!({})),
        ("checked", checked, json!({ "shelf": "North 7" })),
        ("held", held, json!({ "found": "umbrella" })),
        ("branches", branches, json!({ "guests": 12 })),
        ("broken-off", broken_off, json!({})),
    ]
}

fn happy(mut play: Play) -> Play {
    let token = play.clock(2).claim("find");
    let token = play.clock(5).renew(&token, Some("Two are out, looking at the third.")).unwrap();
    refused(play.submit(&token, work(json!({}))));
    play.clock(7);
    let submission = Submission {
        output: Some(exact(r#"{"serial": "P-0042", "weight": 2.50}"#)),
        evidence: vec![Cited::Link("shelf 3".to_owned())],
        ..routed(json!({}), "hand_over")
    };
    play.submit(&token, submission).unwrap();
    let file = EvidenceFile {
        r#ref: "f_1".to_owned(),
        sha256: "9f".repeat(32),
        file_name: "receipt.pdf".to_owned(),
        content_type: "application/pdf".to_owned(),
    };
    let done = Submission {
        output: Some(object(json!({ "complete": true }))),
        evidence: vec![Cited::File(file), Cited::Link("desk book, page 7".to_owned())],
        ..Submission::default()
    };
    play.clock(90);
    play.decide(&person("dora", &["g_desk"]), "hand_over", Decision::Completed(done)).unwrap();
    play.clock(95);
    play.decide(&person("bea", &[]), "accept", Decision::Approved(Some("Thank you.".to_owned()))).unwrap();
    play
}

fn rework(mut play: Play) -> Play {
    let editor = person("edda", &["g_editor"]);
    let owner = person("mira", &[]);
    let no = |note: &str| Decision::Rejected(note.to_owned());
    play.does("brief", work(json!({ "words": 120 })));
    play.clock(10).does("draw", work(json!({ "file": "one.svg" })));
    play.clock(40).tick();
    play.clock(50).decide(&editor, "editor", no("A letter is missing.")).unwrap();
    play.clock(60).does("draw", work(json!({ "file": "two.svg" })));
    play.clock(100).tick();
    play.decide(&editor, "editor", Decision::Approved(None)).unwrap();
    play.clock(110).decide(&owner, "owner", no("Shorter, please.")).unwrap();
    play.clock(120).does("brief", work(json!({ "words": 60 })));
    // Late: this drawing is overdue when it comes.
    play.clock(400).does("draw", work(json!({ "file": "three.svg" })));
    play.clock(500).tick();
    play.decide(&editor, "editor", Decision::Approved(Some("Good.".to_owned()))).unwrap();
    play.clock(510).decide(&owner, "owner", no("Once more.")).unwrap();
    play
}

fn escalation(mut play: Play) -> Play {
    let otto = person("otto", &[OPERATORS]);
    let token = play.claim("read");
    play.clock(5).escalate(&token, "The cellar is locked.").unwrap();
    play.clock(70).decide(&otto, "read", Decision::Returned("The key is at the desk.".to_owned())).unwrap();
    play.clock(80).does("read", work(json!({ "kwh": 4711 })));
    let token = play.clock(90).claim_by("bob", "bill").unwrap();
    play.escalate(&token, "The tariff is unknown.").unwrap();
    let done = Submission { output: Some(exact(r#"{"total": 1413.30}"#)), ..routed(json!({}), "sent") };
    play.clock(100).decide(&otto, "bill", Decision::Completed(done)).unwrap();
    play
}

fn events(mut play: Play) -> Play {
    play.send("weather", json!({ "wind": 3 })).unwrap();
    play.clock(1).send("scanned", json!({ "at": "north" })).unwrap();
    play.clock(2).send("scanned", json!({})).unwrap();
    play.clock(3).send("scanned", json!({ "at": "south" })).unwrap();
    // Too late for the door, whose time was over at 242.
    play.clock(300).send("signed", json!({ "by": "a neighbour" })).unwrap();
    play
}

fn timers(mut play: Play) -> Play {
    play.clock(1_000).tick();
    play.clock(1_001).claim("water");
    play
}

fn cancel(mut play: Play) -> Play {
    play.clock(5).claim("ask");
    play.clock(6).send("reminder", json!({})).unwrap();
    play.clock(9).cancel().unwrap();
    play
}

fn failed(mut play: Play) -> Play {
    play.clock(3).does("ask", work(json!({})));
    play
}

fn checked(mut play: Play) -> Play {
    let (crew, otto) = (person("cleo", &["g_crew"]), person("otto", &[OPERATORS]));
    let tone = |name: &str| Answer::Name { name: name.to_owned(), confidence: 0.92 };
    let legible = |level: usize| Answer::Level { level, confidence: 0.500_04 };
    let label = |text: &str| {
        let file = EvidenceFile {
            r#ref: "f_1".to_owned(),
            sha256: "9f".repeat(32),
            file_name: "label.svg".to_owned(),
            content_type: "image/svg+xml".to_owned(),
        };
        let output = exact(&format!(r#"{{"text": "{text}", "size": 12.50}}"#));
        Submission { output: Some(output), evidence: vec![Cited::File(file)], ..routed(json!({}), "hang") }
    };
    // It fails, a person is asked and sends it back, a person is asked again and adopts it.
    let token = play.claim("write");
    play.says(&[Answer::Yes(0.2), tone("rude"), legible(2)]);
    refused(play.submit(&token, label("Shelf")));
    play.clock(2).says(&[Answer::Yes(0.96), tone("playful"), legible(1)]);
    play.submit(&token, label("North 7, your favourite")).unwrap();
    play.clock(5).decide(&otto, "write", Decision::Returned("Plainer.".to_owned())).unwrap();
    play.clock(6).says(&[Answer::Yes(1.0 / 3.0), tone("plain"), legible(2)]).does("write", label("N 7"));
    play.clock(9).decide(&otto, "write", Decision::Completed(Submission::default())).unwrap();
    // A person's task goes the same way, and passes in the end.
    let hung = |text: &str| {
        let output = Some(exact(&format!(r#"{{"height": {text}}}"#)));
        Decision::Completed(Submission { output, ..Submission::default() })
    };
    play.clock(20).says(&[Answer::Yes(0.5)]).decide(&crew, "hang", hung("2.40")).unwrap();
    play.clock(25).decide(&otto, "hang", Decision::Returned("Lower.".to_owned())).unwrap();
    play.clock(30).says(&[Answer::Yes(1.0)]).decide(&crew, "hang", hung("1.80")).unwrap();
    // Nobody answers, and nothing waits for it.
    play.clock(31).says_nothing().does("note", work(json!({})));
    play
}

fn held(mut play: Play) -> Play {
    // The evaluator is shown less than all of run data, and the verdict says so. A person is still to decide.
    play.world.limits.check_state_bytes = 64;
    play.does("describe", work(json!({ "colour": "green" })));
    play.clock(130).says(&[Answer::Yes(0.949_94), Answer::Yes(0.000_06)]);
    let output = Some(exact(r#"{"owner": "pat@example.com", "sure": 0.90}"#));
    play.does(
        "match",
        Submission { output, evidence: vec![Cited::Link("book 4, page 9".to_owned())], ..work(json!({})) },
    );
    play
}

fn branches(mut play: Play) -> Play {
    let (cook, gardener, host) = (person("cora", &["g_cook"]), person("gus", &["g_gardener"]), person("mira", &[]));
    let no = |note: &str| Decision::Rejected(note.to_owned());
    play.clock(5).does("plan", work(json!({ "day": "Sunday" })));
    let token = play.clock(10).claim_by("bob", "cake").unwrap();
    play.renew(&token, Some("The oven is hot.")).unwrap();
    play.does_claimed("cake", work(json!({ "layers": 2 })));
    // Rework in one branch while the others go on; the tent is overdue meanwhile.
    play.clock(70).decide(&cook, "taste", no("Too dry.")).unwrap();
    let wet = Submission { output: Some(object(json!({ "poles": 8 }))), ..routed(json!({}), "dry") };
    play.clock(80).decide(&gardener, "tent", Decision::Completed(wet)).unwrap();
    play.clock(90).does("cake", work(json!({ "layers": 3 })));
    // The tent has dried before this; the band never called.
    play.clock(130).decide(&cook, "taste", Decision::Approved(Some("Good.".to_owned()))).unwrap();
    play.clock(250).tick();
    play.clock(260).decide(&host, "host", no("Without music it is no party.")).unwrap();
    play.clock(265).send("band", json!({ "name": "The Reeds" })).unwrap();
    let dry = Submission { output: Some(object(json!({ "poles": 8 }))), ..routed(json!({}), "join") };
    play.clock(270).decide(&gardener, "tent", Decision::Completed(dry)).unwrap();
    play.clock(280).does("cake", work(json!({ "layers": 4 }))).does("tune", work(json!({})));
    play.clock(290).decide(&cook, "taste", Decision::Approved(None)).unwrap();
    play.clock(300).decide(&host, "host", Decision::Approved(None)).unwrap();
    play
}

fn broken_off(mut play: Play) -> Play {
    play.clock(5).does("begin", work(json!({})));
    play.clock(7).claim("carry");
    play.clock(8).send("weather", json!({ "rain": true })).unwrap();
    // Late: the van is to be parked since 15, and nobody is there to hold the door at 25.
    play.clock(40).tick();
    play
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/histories")
}

fn text(file: &str) -> String {
    let path = folder().join(file);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}; see histories/README.md", path.display()))
}

fn world(name: &str) -> World {
    World::new(read_document(&text(&format!("{name}.md"))))
}

/// The view that a recorded journal gives, read line by line from its text.
fn view(name: &str, journal: &str) -> Value {
    let entries: Vec<Entry> = journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (n, entry) in entries.iter().enumerate() {
        let run = fold(&entries[..=n]).unwrap().expect("a run");
        assert_eq!((run.rev, run.updated_at), (entry.rev, entry.at), "{name}: every part of a journal is a run");
    }
    let run = fold(&entries).unwrap().unwrap();
    serde_json::to_value(RunView::of(&world(name).context(), &run, &Overlay::default(), run.updated_at)).unwrap()
}

#[test]
fn recorded_journals_fold_to_what_they_folded_to() {
    let record = std::env::var_os("RECORD_HISTORIES").is_some();
    let write = |file: String, text: &dyn Fn() -> String| {
        let path = folder().join(file);
        if record && !path.exists() {
            fs::write(path, text()).unwrap();
        }
    };
    for (name, play, inputs) in plays() {
        write(format!("{name}.jsonl"), &|| {
            let starter: Actor = person("mira", &[]);
            let play = play(Play::begin(world(name), object(inputs.clone()), &starter, Mode::Live).unwrap());
            play.entries.iter().map(|entry| serde_json::to_string(entry).unwrap() + "\n").collect()
        });
    }
    let mut names: Vec<String> = fs::read_dir(folder())
        .unwrap()
        .filter_map(|file| file.unwrap().file_name().into_string().unwrap().strip_suffix(".jsonl").map(str::to_owned))
        .collect();
    names.sort();
    for name in &names {
        let shown = view(name, &text(&format!("{name}.jsonl")));
        let stored = format!("{name}.view.json");
        write(stored.clone(), &|| serde_json::to_string_pretty(&shown).unwrap() + "\n");
        assert_eq!(shown, serde_json::from_str::<Value>(&text(&stored)).unwrap(), "{name}");
    }
    for (name, ..) in plays() {
        assert!(names.contains(&name.to_owned()), "`{name}` was not recorded");
    }
}
