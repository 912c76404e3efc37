//! Importing and publishing (core §6.5, §7): nothing half-done, everything named, and versions that never change.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::harness::{Org, Server, file, refused, refused_as, scenarios};

scenarios! {
    any: [
        an_import_shows_what_to_bind_and_to_connect,
        a_refused_import_names_every_problem_and_leaves_no_draft,
        an_unbound_role_refuses_publication,
        a_published_version_never_changes,
        the_content_hash_is_that_of_frontmatter_and_body,
        a_folder_has_the_name_of_its_process,
        the_body_is_every_byte_after_the_frontmatter,
        what_needs_a_profile_is_refused,
        there_is_nothing_to_publish_without_a_draft,
        a_process_of_500_steps_runs,
        what_the_format_refuses,
        what_reads_oddly_but_runs_is_a_warning,
    ],
    own: [the_command_agrees_about_the_hash],
}

const PLAIN: &str = "steps:\n  - { id: end, finish: over }";

fn import(org: &Org, source: &str) -> crate::harness::Answer {
    org.operator.call("import_process", json!({ "source": source }))
}

fn an_import_shows_what_to_bind_and_to_connect(org: &Org) {
    let rest = "
inputs: { who: person, start: { type: string, optional: true } }
requires: { systems: [crm] }
steps:
  - { id: a, task: Do., person: clerk }
  - { id: b, approve: Look., person: boss, on_reject: a }
  - { id: c, approve: Look., person: inputs.who }
  - { id: d, task: Do., person: initiator, next: [e, f] }
  - { id: e, task: Do., person: clerk, output: { reviewer: person }, next: g }
  - { id: f, finish: early }
  - { id: g, approve: Look., person: steps.e.output.reviewer }
  - { id: h, finish: late }
";
    let imported = import(org, &file("shown", rest)).unwrap();
    assert_eq!(imported["roles"], json!(["clerk", "boss"]), "roles alone: no path, no initiator, each once");
    assert_eq!(imported["requires"], json!({ "systems": ["crm"] }));
    assert_eq!(imported["inputs"], json!({ "who": "person", "start": { "type": "string", "optional": true } }));
    assert_eq!(imported["name"], "shown");
    assert_eq!(org.agent.pages("list_processes", json!({})), [Value::Null; 0], "a draft is offered to nobody");
    let known = org.operator.ok("get_process", json!({ "name": "shown" }));
    assert_eq!((&known["latest"], &known["published"]), (&json!(0), &Value::Null));
    assert_eq!(known["draft"]["hash"], imported["hash"]);
    assert_eq!(known["draft"]["source"], file("shown", rest));
    assert_eq!(import(org, &file("plain", PLAIN)).unwrap()["requires"], Value::Null);
}

fn a_refused_import_names_every_problem_and_leaves_no_draft(org: &Org) {
    let source = "---
name: Wrong Name
description: ''
colour: red
steps:
  - { id: a, agent: Do., task: Do too., next: nowhere }
  - { id: a, wait: 3 weeks }
  - { id: lost, finish: f, next: a }
---
body
";
    let error = refused_as(import(org, source), "invalid");
    assert!(error.issues.len() >= 7, "{:#?}", error.issues);
    for issue in &error.issues {
        let mut place = issue.splitn(3, ':');
        let (line, column) = (place.next().unwrap(), place.next().unwrap());
        assert!(line.parse::<u32>().is_ok() && column.parse::<u32>().is_ok(), "no place: {issue}");
    }
    for word in ["name", "colour", "nowhere", "3 weeks", "next"] {
        assert!(error.issues.iter().any(|i| i.contains(word)), "nothing about {word}: {:#?}", error.issues);
    }
    refused_as(org.operator.call("get_process", json!({ "name": "Wrong Name" })), "not_found");
    // A refused import takes nothing away either.
    import(org, &file("kept", PLAIN)).unwrap();
    refused_as(import(org, &file("kept", "steps: []")), "invalid");
    assert_eq!(org.operator.ok("get_process", json!({ "name": "kept" }))["draft"]["source"], file("kept", PLAIN));
    for bad in ["no frontmatter", "---\nname: a\n", "---\n---\n", "---\nname: a\nname: b\n---\n"] {
        refused_as(import(org, bad), "invalid");
    }
}

fn an_unbound_role_refuses_publication(org: &Org) {
    let rest = "
steps:
  - { id: a, task: Do., person: clerk }
  - { id: b, approve: Look., person: boss }
  - { id: end, finish: over }
";
    import(org, &file("roles", rest)).unwrap();
    let publish = |roles: Value| org.operator.call("publish_process", json!({ "name": "roles", "roles": roles }));
    let error = refused_as(publish(json!({})), "invalid");
    assert_eq!(error.issues.len(), 2, "{error:?}");
    assert!(error.issues[0].contains("clerk") && error.issues[1].contains("boss"), "{error:?}");
    let error = refused_as(publish(json!({ "clerk": " ", "boss": "g", "cook": "g" })), "invalid");
    assert_eq!(error.issues.len(), 2, "{error:?}");
    assert!(error.issues[0].contains("clerk") && error.issues[1].contains("cook"), "{error:?}");
    refused_as(org.agent.call("start_run", json!({ "process": "roles", "inputs": {} })), "not_found");
    let published = publish(json!({ "clerk": "one", "boss": "two" })).unwrap();
    assert_eq!(published["roles"], json!({ "clerk": "one", "boss": "two" }));
    let run = org.agent.start("roles", json!({}));
    assert_eq!(run["workItems"][0]["assignedTo"], json!({ "group": "one" }));
}

fn a_published_version_never_changes(org: &Org) {
    let versions = [file("firm", PLAIN), file("firm", &PLAIN.replace("over", "done"))];
    let first = org.publish(&versions[0]);
    let second = org.publish(&versions[1]);
    assert_eq!((&first["version"], &second["version"]), (&json!(1), &json!(2)));
    assert_ne!(first["hash"], second["hash"]);
    // A draft, published or not, changes no version.
    import(org, &file("firm", &PLAIN.replace("over", "third"))).unwrap();
    for (n, (source, published)) in versions.iter().zip([&first, &second]).enumerate() {
        let known = org.operator.ok("get_process", json!({ "name": "firm", "version": n + 1 }));
        assert_eq!(known["latest"], 2);
        assert_eq!(&known["published"]["source"], source);
        assert_eq!(known["published"]["hash"], published["hash"]);
        assert_eq!(known["published"]["publishedBy"], org.operator.subject());
    }
    assert_eq!(org.operator.ok("get_process", json!({ "name": "firm" }))["published"]["version"], 2);
    refused_as(org.operator.call("get_process", json!({ "name": "firm", "version": 3 })), "not_found");
}

/// A file, and its frontmatter as RFC 8785 writes it: keys sorted, numbers as the shortest double, no blanks.
const HASHED: (&str, &str, &str) = (
    "---\nname: hashed\ndescription: \"Ümlaut\"\ninputs:\n  b: { type: number, one_of: [1.50, 1e21, 100] }\n  a: string\nsteps:\n  - { id: end, finish: 'yes' }\n---",
    r#"{"description":"Ümlaut","inputs":{"a":"string","b":{"one_of":[1.5,1e+21,100],"type":"number"}},"name":"hashed","steps":[{"finish":"yes","id":"end"}]}"#,
    "\n\n  The body, with trailing blanks.  \r\n\tand all.\n\n",
);

fn hash() -> String {
    let (_, canonical, body) = HASHED;
    // The line break after the closing line belongs to it; the body is what follows.
    let bytes = format!("{canonical}\n{}", body.strip_prefix('\n').unwrap());
    Sha256::digest(bytes.as_bytes()).iter().map(|b| format!("{b:02x}")).collect()
}

fn the_content_hash_is_that_of_frontmatter_and_body(org: &Org) {
    let (frontmatter, _, body) = HASHED;
    let published = org.publish(&format!("{frontmatter}{body}"));
    assert_eq!(published["hash"], hash());
    // Comments and layout of the frontmatter are not part of it; one blank in the body is.
    let same = frontmatter.replace("description:", "# A remark.\ndescription:  ");
    assert_eq!(import(org, &format!("{same}{body}")).unwrap()["hash"], hash());
    assert_ne!(import(org, &format!("{frontmatter}{body} ")).unwrap()["hash"], hash());
}

fn the_command_agrees_about_the_hash() {
    let org = Org::new(&Server::shared(), "hash");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("PROCESS.md");
    let (frontmatter, _, body) = HASHED;
    std::fs::write(&path, format!("{frontmatter}{body}")).unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_procession")).arg("hash").arg(&path).output().unwrap();
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains(&hash()), "{printed}");
    assert_eq!(org.publish(&format!("{frontmatter}{body}"))["hash"], hash());
}

fn a_folder_has_the_name_of_its_process(org: &Org) {
    let source = file("in-a-folder", PLAIN);
    let wrong = json!({ "source": source, "folder": "elsewhere" });
    let error = refused_as(org.operator.call("import_process", wrong), "invalid");
    assert!(error.issues.iter().any(|i| i.contains("elsewhere")), "{error:?}");
    org.operator.ok("import_process", json!({ "source": source, "folder": "in-a-folder" }));
}

fn the_body_is_every_byte_after_the_frontmatter(org: &Org) {
    let head = "name: bodies\ndescription: d\nsteps:\n  - { id: end, finish: over }\n---";
    let windows = format!("---\r\n{}", head.replace('\n', "\r\n"));
    for (source, body) in [
        (format!("---\n{head}"), ""),
        (format!("---\n{head}\n"), ""),
        (format!("---\n{head}\n\n"), "\n"),
        (format!("---\n{head}\ntext"), "text"),
        (format!("---\n{head}\n\n---\n# A rule above  \n\n"), "\n---\n# A rule above  \n\n"),
        (format!("\u{feff}---\n{head}\nafter a mark\n"), "after a mark\n"),
        (format!("{windows}\r\none\r\ntwo\r\n"), "one\r\ntwo\r\n"),
    ] {
        org.publish(&source);
        let run = org.agent.start("bodies", json!({}));
        assert_eq!(run["body"], body, "{source:?}");
        assert_eq!(org.operator.ok("get_process", json!({ "name": "bodies" }))["published"]["source"], source);
    }
}

fn what_needs_a_profile_is_refused(org: &Org) {
    let offered = org.agent.ok("describe", json!({}))["profiles"].clone();
    let parallel = "
steps:
  - id: both
    parallel: [a, b]
    next: end
  - { id: a, agent: A., next: join }
  - { id: b, agent: B., next: join }
  - { id: end, finish: over }
";
    let check = "
steps:
  - id: a
    agent: Do.
    check: Is it good?
  - { id: end, finish: over }
";
    let graph = "
steps:
  - id: a
    agent: Do.
    graph: { provider: acme/release, graph: release }
  - { id: end, finish: over }
";
    for (profile, rest) in [("parallel-1", parallel), ("check-1", check), ("graph-1", graph)] {
        if offered.as_array().unwrap().contains(&json!(profile)) {
            continue;
        }
        let error = refused_as(import(org, &file("profiles", rest)), "invalid");
        let needs = format!("needs profile {profile}");
        assert!(error.issues.iter().any(|i| i.contains(&needs)), "{:#?}", error.issues);
    }
}

fn there_is_nothing_to_publish_without_a_draft(org: &Org) {
    let publish = |name: &str| org.operator.call("publish_process", json!({ "name": name, "roles": {} }));
    refused_as(publish("nothing"), "not_found");
    refused_as(publish("No Name"), "not_found");
    org.publish(&file("once", PLAIN));
    refused_as(publish("once"), "not_found");
    assert_eq!(org.operator.ok("get_process", json!({ "name": "once" }))["draft"], Value::Null);
    refused(
        org.operator.exact("publish_process", json!({ "name": "once", "requestId": "r" })),
        "invalid",
        &["roles: missing"],
    );
}

fn a_process_of_500_steps_runs(org: &Org) {
    let mut rest = "steps:\n".to_owned();
    for n in 0..498 {
        let kind = if n < 200 { "wait_for: e" } else { "agent: Do." };
        rest.push_str(&format!("  - {{ id: s{n}, {kind} }}\n"));
    }
    rest.push_str("  - { id: last, agent: Do. }\n  - { id: end, finish: over }\n");
    let run = org.run("long", &rest, json!({}));
    assert_eq!(run["steps"].as_array().unwrap().len(), 500);
    let sent = org.agent.ok("send_event", json!({ "runId": run["run"]["id"], "name": "e" }));
    assert_eq!(sent["consumedBy"], "s0");
    let too_many = rest.replace("steps:\n", "steps:\n  - { id: first, agent: Do. }\n");
    refused_as(import(org, &file("longer", &too_many)), "invalid");
    let waits = rest.replace("id: s200, agent: Do.", "id: s200, wait: 1d");
    let error = refused_as(import(org, &file("waiting", &waits)), "invalid");
    let said = "205:5: steps[200]: there are 201 waits; at most 200 are allowed";
    assert!(error.issues[0].starts_with(said), "{error:?}");
}

fn what_the_format_refuses(org: &Org) {
    let head = "name: format\ndescription: d\n";
    let end = "  - { id: end, finish: over }\n";
    let one = |step: &str| format!("---\n{head}steps:\n  - {step}\n{end}---\n");
    for (source, about) in [
        (format!("---\n{head}data_sources: []\nsteps:\n{end}---\n"), "data_sources"),
        (format!("---\n{head}inputs: {{ a: string, a: number }}\nsteps:\n{end}---\n"), "a"),
        (format!("---\n{head}inputs: {{ a: {{ type: list, one_of: [[1]] }} }}\nsteps:\n{end}---\n"), "one_of"),
        (format!("---\n{head}inputs: {{ a: {{ type: number, one_of: [yes] }} }}\nsteps:\n{end}---\n"), "one_of"),
        (format!("---\n{head}inputs: {{ a: text }}\nsteps:\n{end}---\n"), "text"),
        (format!("---\n{head}requires: {{ systems: [crm, crm] }}\nsteps:\n{end}---\n"), "crm"),
        (format!("---\n{head}steps: !list\n{end}---\n"), "tag"),
        (format!("---\nbase: &b {{ name: x }}\n<<: *b\n{head}steps:\n{end}---\n"), "base"),
        (one("{ id: a, agent: ' ' }"), "agent"),
        (one("{ id: a, agent: Do., next: [end, end] }"), "end"),
        (one("{ id: a, agent: Do., next: [end] }"), "next"),
        (one("{ id: a, approve: Look., person: p, next: [a, end] }"), "next"),
        (one("{ id: a, approve: Look., person: p, output: { x: string } }"), "output"),
        (one("{ id: a, task: Do. }"), "person"),
        (one("{ id: a, task: Do., person: inputs.nobody }"), "nobody"),
        (one("{ id: a, agent: Do., person: p }"), "person"),
        (one("{ id: a, wait: 1w }"), "1w"),
        (one("{ id: a, wait_until: inputs.when }"), "when"),
        (one("{ id: a, wait_for: go, on_timeout: nowhere }"), "nowhere"),
        (one("{ id: a, agent: Do., next: a }"), "a"),
        (one("{ id: A, agent: Do. }"), "id"),
        (one("{ id: a }"), "kind"),
        (one("{ id: a, agent: Do., evidence: [photo] }"), "photo"),
        (format!("---\n{head}steps:\n{end}  - {{ id: b, agent: Do. }}\n---\n"), "b"),
    ] {
        let error = refused_as(import(org, &source), "invalid");
        assert!(error.issues.iter().any(|i| i.contains(about)), "{source}{:#?}", error.issues);
    }
    assert!(refused_as(org.operator.call("get_process", json!({ "name": "format" })), "not_found").issues.is_empty());
    // Plain words stay words, and an anchor may be used again.
    let rest = "
inputs: { yes: &text { type: string, description: no, optional: true }, no: *text }
steps:
  - { id: on, finish: off }
";
    let run = org.run("words", rest, json!({ "yes": "y" }));
    assert_eq!(run["run"]["outcome"], "off");
}

fn what_reads_oddly_but_runs_is_a_warning(org: &Org) {
    let rest = "
steps:
  - { id: ask, agent: Ask., next: [name, look] }
  - { id: name, agent: Name., output: { who: person } }
  - { id: look, task: Look., person: steps.name.output.who }
  - { id: end, finish: over }
";
    let imported = import(org, &file("skips", rest)).unwrap();
    let warnings = imported["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].as_str().unwrap().contains("`name`"), "{warnings:?}");
    let run = org.run("skips", rest, json!({}));
    let skipped = json!({ "next": "look", "reason": "In a hurry." });
    let ended = org.agent.work_on(&run, "ask", json!({}), skipped);
    assert_eq!(ended["run"]["outcome"], "failed");
    assert_eq!(ended["run"]["ended"]["by"], "server");
}
