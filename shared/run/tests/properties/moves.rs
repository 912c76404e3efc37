//! Any sequence of calls: right ones, half of the time, so that runs get somewhere; and all kinds of wrong ones.

use process::{EvidenceKind, FieldType, Kind, Next, Work};
use proptest::prelude::*;
use run::{Actor, Cited, Decision, EvidenceFile, Submission};
use serde_json::{Map, Value, json};

use crate::common::{OPERATORS, agent, operator, person};
use crate::processes::{datetime, number};

/// One thing that somebody does, or that time does.
#[derive(Debug, Clone)]
pub enum Move {
    /// The clock moves by so many minutes; it may jump back.
    Clock(i64),
    /// Whatever brings the run forward, done right.
    Forward([u8; 4]),
    /// From now on the evaluator answers so.
    Mood(u8),
    Claim {
        who: u8,
        step: u8,
    },
    Renew {
        who: u8,
        token: u8,
        note: bool,
    },
    Submit {
        who: u8,
        token: u8,
        how: [u8; 3],
    },
    Escalate {
        who: u8,
        token: u8,
        blank: bool,
    },
    Decide {
        who: u8,
        item: u8,
        snapshot: u8,
        how: [u8; 4],
    },
    Cancel {
        who: u8,
        blank: bool,
    },
    Event {
        who: u8,
        name: u8,
        size: u8,
    },
    Tick,
}

impl Move {
    pub fn any() -> impl Strategy<Value = Move> {
        let b = any::<u8>;
        prop_oneof![
            10 => any::<[u8; 4]>().prop_map(Move::Forward),
            3 => b().prop_map(Move::Mood),
            4 => prop_oneof![6 => 0_i64..9, 3 => 10_i64..90, 1 => -30_i64..0, 1 => 1_000_i64..4_000].prop_map(Move::Clock),
            5 => (b(), b()).prop_map(|(who, step)| Move::Claim { who, step }),
            3 => (b(), b(), any::<bool>()).prop_map(|(who, token, note)| Move::Renew { who, token, note }),
            2 => (b(), b(), any::<[u8; 3]>()).prop_map(|(who, token, how)| Move::Submit { who, token, how }),
            3 => (b(), b(), proptest::bool::weighted(0.1))
                .prop_map(|(who, token, blank)| Move::Escalate { who, token, blank }),
            4 => (b(), b(), b(), any::<[u8; 4]>())
                .prop_map(|(who, item, snapshot, how)| Move::Decide { who, item, snapshot, how }),
            1 => (b(), any::<bool>()).prop_map(|(who, blank)| Move::Cancel { who, blank }),
            2 => (b(), b(), b()).prop_map(|(who, name, size)| Move::Event { who, name, size }),
            1 => Just(Move::Tick),
        ]
    }
}

/// Everybody there is.
pub fn anybody(r: u8) -> Actor {
    match r % 10 {
        0 | 1 => agent("ada"),
        2 => agent("bob"),
        3 => person("cleo", &["g_crew"]),
        4 => person("mira", &[]),
        5 => person("boris", &[]),
        6 => person("otto", &[OPERATORS]),
        7 => operator(),
        8 => Actor { may_decide: false, ..person("cleo", &["g_crew", OPERATORS]) },
        _ => Actor { operator: true, groups: vec![OPERATORS.to_owned(), "g_crew".to_owned()], ..agent("pipeline") },
    }
}

/// The people who may decide something.
pub fn people() -> [Actor; 5] {
    [
        person("cleo", &["g_crew"]),
        person("mira", &[]),
        person("boris", &[]),
        person("pat", &[]),
        person("otto", &[OPERATORS]),
    ]
}

/// A submission that this step accepts, but for the size of run data.
pub fn right(work: &Work, how: [u8; 3]) -> Submission {
    let output = work.output.iter().filter_map(|(name, field)| {
        let value = match field.kind {
            FieldType::Boolean => json!(how[0] % 2 == 0),
            FieldType::Number => number(how[0]),
            FieldType::Person if how[1] % 3 == 0 => return None,
            FieldType::Person => json!("pat@example.com"),
            FieldType::Datetime => json!(datetime(how[1])?),
            FieldType::List => json!(&["y", "x"][..usize::from(how[2]) % 3]),
            _ if how[2] % 2 == 0 => return None,
            _ => json!({ "deep": [number(how[2]), null, { "é": "\u{1F600}" }] }),
        };
        Some((name.to_owned(), value))
    });
    let mut submission = Submission {
        output: Some(output.collect::<Map<String, Value>>()),
        evidence: work.evidence.iter().map(|kind| evidence(*kind, how[2])).collect(),
        summary: Some("Did it.".to_owned()),
        ..Submission::default()
    };
    if let Next::Routes(routes) = &work.next {
        submission.next = Some(routes[usize::from(how[0] / 2) % routes.len()].to.clone());
        submission.reason = Some("It fits.".to_owned());
    }
    submission
}

fn evidence(kind: EvidenceKind, r: u8) -> Cited {
    match kind {
        EvidenceKind::Link => Cited::Link(format!("doc {r}")),
        EvidenceKind::File => Cited::File(EvidenceFile {
            r#ref: format!("f_{r}"),
            sha256: "ab".repeat(32),
            file_name: "report.pdf".to_owned(),
            content_type: "application/pdf".to_owned(),
        }),
    }
}

/// A right submission, or one with a fault.
pub fn perhaps_right(work: &Work, how: [u8; 3]) -> Submission {
    let mut s = right(work, how);
    match how[1] % 20 {
        0 => s.summary = None,
        1 => s.summary = Some("x".repeat(2_001)),
        2 => s.summary = Some("  ".to_owned()),
        3 => drop(s.output.get_or_insert_default().insert("undeclared".to_owned(), json!(1))),
        4 => s.output = Some(Map::new()),
        5 => s.output.iter_mut().flat_map(Map::values_mut).for_each(|v| *v = json!(null)),
        6 => s.evidence.clear(),
        7 => s.evidence.push(Cited::Missing("f_0".to_owned())),
        8 => s.evidence = vec![Cited::Altered("f_1".to_owned())],
        9 => s.next = Some("nowhere".to_owned()),
        10 => (s.next, s.reason) = (s.reason, s.next),
        11 => s.reason = Some(" ".to_owned()),
        13 => s.output = None,
        14 => s = Submission::default(),
        12 => s.output.iter_mut().flat_map(Map::values_mut).for_each(|v| *v = json!("x".repeat(300))),
        _ => {}
    }
    s
}

/// Any decision, a right one for this kind of step more often than not.
pub fn decision(kind: &Kind, escalated: bool, how: [u8; 4]) -> Decision {
    let note = || if how[1] % 12 == 0 { " ".to_owned() } else { "Because.".to_owned() };
    let work = |how: [u8; 3]| match kind {
        Kind::Agent(work) | Kind::Task { work, .. } => perhaps_right(work, how),
        _ => Submission::default(),
    };
    match (how[0] % 16, kind) {
        (0, _) => Decision::Failed(note()),
        (1, _) => Decision::Returned(note()),
        (2, _) => Decision::Rejected(note()),
        (3, _) => Decision::Approved(None),
        (4..=9, Kind::Approve { .. }) => Decision::Rejected(note()),
        (_, Kind::Approve { .. }) => Decision::Approved((how[2] % 2 == 0).then(note)),
        (4..=8, _) if escalated => Decision::Returned(note()),
        (10, _) if escalated => Decision::Completed(Submission::default()),
        (11..=12, _) if escalated => Decision::Completed(Submission { output: None, ..work([how[1], how[2], how[3]]) }),
        _ => Decision::Completed(work([how[1], how[2], how[3]])),
    }
}
