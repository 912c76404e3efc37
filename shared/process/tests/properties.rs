//! What holds for every input: no panic, no hang, a bounded report; and what holds for every valid file. Set
//! `PROPTEST_CASES` to a large number to search for hours instead of a moment.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

mod support;

use process::{ReadOptions, Severity, content_hash, limits, read, read_with};
use proptest::prelude::*;
use support::{FAULTS, Style, Written, asked, branched, broken, file, keeps_the_rules, process_file};

/// Characters that mean something in a process file, and pieces that lead far into its rules.
const PIECES: &[&str] = &[
    "---\n",
    "- ",
    ": ",
    "\n",
    "  ",
    "    ",
    "{",
    "}",
    "[",
    "]",
    ", ",
    "\"",
    "'",
    "|\n",
    ">-\n",
    "#",
    "&a ",
    "*a",
    "<<: ",
    "!!str ",
    "!x ",
    "? ",
    "%",
    "\t",
    "\r\n",
    "\u{feff}",
    "ä",
    "😀",
    "\0",
    "...\n",
    "name: x\n",
    "description: x\n",
    "inputs:\n",
    "  a: string\n",
    "steps:\n",
    "  - id: a\n",
    "    agent: x\n",
    "    task: x\n",
    "    person: r\n",
    "    approve: x\n",
    "    wait: 1d\n",
    "    wait_until: inputs.a\n",
    "    wait_for: e\n",
    "    finish: done\n",
    "    next: [a, b]\n",
    "    on_reject: a\n",
    "    next: a\n",
    "    timeout: 0m\n",
    "    on_timeout: a\n",
    "    output: { a: { type: list, items: ",
    "one_of: [1, 2]",
    "requires: { systems: [a] }\n",
    "0x1F",
    "1e400",
    ".inf",
    "~",
    "true",
    "steps.a.output.a",
    "join",
    "check: x\n",
    "    check:\n",
    "    - ask: x\n",
    "pass: [a]",
    "pass: 0.9",
    "fail: 0.5",
    "unsure: [b]",
    "one_of: { a: x, b: y }",
    "levels: [x, y]",
    "confidence: 0.8",
    "advisory: true\n",
    "parallel: [a]",
    "    graph: { provider: p, graph: g }\n",
    "    graph:\n      provider: p@1.0.0\n      graph: g\n",
    "      facts: { a.b: inputs.a, a: steps.a.output.a }\n",
    "require_complete: true",
    "\\u0041",
    "\"\\x41\"",
];

/// What every reading promises, whatever was read.
fn keeps_its_promises(bytes: &[u8]) -> Result<(), TestCaseError> {
    let reading = read(bytes);
    let errors = reading.problems.iter().filter(|p| p.severity == Severity::Error).count();
    prop_assert_eq!(reading.document.is_none(), errors > 0);
    prop_assert!(reading.problems.len() <= limits::PROBLEMS + 1);
    prop_assert!(reading.problems.windows(2).all(|w| (w[0].line, w[0].column) <= (w[1].line, w[1].column)));
    let lines = bytes.iter().filter(|b| **b == b'\n' || **b == b'\r').count() as u32 + 2;
    for problem in &reading.problems {
        prop_assert!(problem.line >= 1 && problem.column >= 1 && problem.line <= lines, "{}", problem);
        prop_assert!(problem.message.len() < 6_000 && !problem.message.contains('\n'), "{}", problem);
        prop_assert!(problem.message.starts_with(&problem.path));
        prop_assert!(!problem.message.contains("report it"), "{}", problem);
    }
    if let Some(document) = &reading.document {
        prop_assert_eq!(content_hash(document).len(), 64);
        process::map::mermaid(document);
        process::map::svg(document);
    }
    Ok(())
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        keeps_its_promises(&bytes)?;
    }

    #[test]
    fn any_bytes_as_frontmatter(text in prop::collection::vec(any::<u8>(), 0..400)) {
        keeps_its_promises(&[b"---\n".as_slice(), &text, b"\n---\n"].concat())?;
    }

    #[test]
    fn any_pieces_of_a_process_file(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..60)) {
        keeps_its_promises(format!("---\n{}\n---\nbody", pieces.concat()).as_bytes())?;
    }

    #[test]
    fn any_change_to_a_valid_file(
        written in prop_oneof![2 => process_file(), 1 => branched().prop_map(|b| b.written(&b.steps))],
        style in any::<Style>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..4, prop::sample::select(PIECES)), 1..6),
    ) {
        let mut bytes = file(&written, style).into_bytes();
        for (at, kind, piece) in changes {
            let at = at.index(bytes.len() + 1);
            let end = (at + kind * 3).min(bytes.len());
            match kind {
                0 => drop(bytes.splice(at..at, piece.bytes())),
                1 => drop(bytes.drain(at..end)),
                2 => drop(bytes.splice(at..end, piece.bytes())),
                _ => {
                    let copy = bytes[at..end].to_vec();
                    bytes.splice(at..at, copy);
                }
            }
        }
        keeps_its_promises(&bytes)?;
    }

    #[test]
    fn a_valid_file_reads_back_to_what_it_was_written_from(written in process_file(), style in any::<Style>()) {
        let text = file(&written, style);
        let reading = read(text.as_bytes());
        let errors: Vec<_> = reading.problems.iter().filter(|p| p.severity == Severity::Error).collect();
        prop_assert!(errors.is_empty(), "{:?}\n{}", errors, text);
        let document = reading.document.unwrap();
        prop_assert_eq!(&serde_json::Value::Object(document.frontmatter.clone()), &written.frontmatter, "{}", text);
        prop_assert_eq!(&document.body, &written.body);
        prop_assert_eq!(&support::describe(&document), &written.expect, "{}", text);
        keeps_its_promises(text.as_bytes())?;
    }

    #[test]
    fn the_hash_sees_what_is_said_and_not_how(written in process_file(), one in any::<Style>(), other in any::<Style>()) {
        let hash = |written: &Written, style| content_hash(&read(file(written, style).as_bytes()).document.unwrap());
        prop_assert_eq!(hash(&written, one), hash(&written, other));
        let longer = Written { body: format!("{} ", written.body), ..written.clone() };
        prop_assert_ne!(hash(&written, one), hash(&longer, one));
        let mut described = written.clone();
        described.frontmatter["description"] = "another".into();
        prop_assert_ne!(hash(&written, one), hash(&described, one));
    }

    #[test]
    fn the_hash_changes_with_any_byte_of_the_body(
        written in process_file(),
        body in "[ -~\r\n]{1,40}",
        at in any::<prop::sample::Index>(),
        to in 32_u8..127,
    ) {
        let at = at.index(body.len());
        let mut changed = body.clone().into_bytes();
        prop_assume!(changed[at] != to);
        changed[at] = to;
        let hash = |body: &[u8]| {
            let head = file(&Written { body: String::new(), ..written.clone() }, Style::default());
            content_hash(&read(&[head.as_bytes(), body].concat()).document.unwrap())
        };
        prop_assert_ne!(hash(body.as_bytes()), hash(&changed));
    }

    #[test]
    fn branches_read_back_to_what_they_were_written_from(branched in branched(), style in any::<Style>()) {
        let text = file(&branched.written(&branched.steps), style);
        let reading = read(text.as_bytes());
        let errors: Vec<_> = reading.problems.iter().filter(|p| p.severity == Severity::Error).collect();
        prop_assert!(errors.is_empty(), "{:?}\n{}", errors, text);
        let document = reading.document.unwrap();
        prop_assert_eq!(document.profiles(), ["parallel-1"]);
        prop_assert_eq!(document.regions.len(), branched.regions.len());
        for (parallel, branches) in &branched.regions {
            let region = document.region(parallel).unwrap();
            let entries: Vec<&String> = region.branches.iter().map(|b| &b.entry).collect();
            prop_assert_eq!(entries, branches.iter().map(|b| &b[0]).collect::<Vec<_>>());
            for (read, written) in region.branches.iter().zip(branches) {
                let mut in_file_order: Vec<&String> = written.iter().collect();
                in_file_order.sort_by_key(|id| document.steps.iter().position(|s| s.id == **id));
                prop_assert_eq!(read.steps.iter().collect::<Vec<_>>(), in_file_order);
            }
        }
        let mermaid = process::map::mermaid(&document);
        prop_assert_eq!(mermaid.matches("[\"join of ").count(), branched.regions.len());
        keeps_its_promises(text.as_bytes())?;
    }

    #[test]
    fn what_is_refused_is_what_breaks_a_rule_word_by_word(
        branched in branched(),
        changes in prop::collection::vec((any::<usize>(), 0_usize..6, any::<usize>()), 0..4),
    ) {
        let steps = branched.rewired(&changes);
        let text = file(&branched.written(&steps), Style::default());
        // Whether a value comes from an earlier step is another question.
        let mut errors = read(text.as_bytes()).problems;
        errors.retain(|p| p.severity == Severity::Error && !p.path.ends_with(".person"));
        prop_assert_eq!(errors.is_empty(), keeps_the_rules(&steps), "{:?}\n{}", errors, text);
    }

    #[test]
    fn a_fault_in_a_branch_is_told_where_it_stands_and_nothing_else_is(
        branched in branched(),
        fault in 0..FAULTS,
        at in 0_usize..1_000,
        style in any::<Style>(),
    ) {
        let (steps, place, words) = branched.broken(fault, at);
        let bad = file(&branched.written(&steps), style);
        let errors: Vec<_> =
            read(bad.as_bytes()).problems.into_iter().filter(|p| p.severity == Severity::Error).collect();
        prop_assert!(!errors.is_empty() && errors.iter().all(|p| p.message.contains(words)), "{:?}\n{}", errors, bad);
        if let Some(place) = place {
            prop_assert!(errors.len() == 1 && errors[0].path == place, "{} {:?}\n{}", place, errors, bad);
        }
        keeps_its_promises(bad.as_bytes())?;
    }

    #[test]
    fn a_fault_in_a_check_is_told_where_it_stands_and_nothing_else_is(
        asked in asked(),
        fault in 0_usize..8,
        at in 0_usize..9,
        style in any::<Style>(),
    ) {
        let with = |check: &serde_json::Value| {
            let mut step = serde_json::json!({ "id": "a", "agent": "x", "check": check });
            if let Some(advisory) = asked.advisory {
                step["advisory"] = advisory.into();
            }
            let end = serde_json::json!({ "id": "b", "finish": "done" });
            let frontmatter = serde_json::json!({ "name": "x", "description": "x", "steps": [step, end] });
            file(&Written { frontmatter, body: String::new(), expect: Vec::new() }, style)
        };
        let good = with(&asked.check);
        prop_assert!(read(good.as_bytes()).document.is_some(), "{}", good);
        let refuse = ReadOptions { check: false, ..ReadOptions::default() };
        let refused = read_with(good.as_bytes(), &refuse).problems;
        prop_assert!(refused.iter().all(|p| p.profile == Some("check-1")), "{:?}", refused);
        prop_assert_eq!(refused.len(), 1 + usize::from(asked.advisory.is_some()));
        let (check, path) = broken(&asked.check, fault, at);
        let bad = with(&check);
        let errors = read(bad.as_bytes()).problems.into_iter().filter(|p| p.severity == Severity::Error);
        let paths: Vec<String> = errors.map(|p| p.path).collect();
        let path = format!("steps[0].check{path}");
        prop_assert!(!paths.is_empty() && paths.iter().all(|p| p.starts_with(&path)), "{:?}\n{}", paths, bad);
    }
}
