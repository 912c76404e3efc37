//! validate, inspect, evaluate, route, code, resource locate, schema, test: what is read and told.

use serde_json::{Value, json};

use crate::support::{Place, valid};

#[test]
fn the_state_comes_from_a_run_and_from_options() {
    let place = Place::with_provider();
    let node = |args: &[&str]| {
        let evaluation = place.json(&[&["evaluate"], args].concat());
        valid("evaluation", &evaluation);
        format!(
            "{} {}",
            evaluation["statusCode"].as_str().unwrap(),
            evaluation["primaryRoute"]["node"].as_str().unwrap_or("-")
        )
    };
    assert_eq!(node(&["release"]), "actionable inspect");
    let inspected = r#"{"release/inspect":"completed"}"#;
    place.write("o.json", inspected);
    place.write("o.yaml", "release/inspect: completed\n");
    assert_eq!(node(&["release", "--outcomes", inspected]), "waiting-user publish");
    assert_eq!(node(&["release", "--outcomes", "@o.json"]), "waiting-user publish");
    assert_eq!(node(&["release", "--outcomes", "@o.yaml"]), "waiting-user publish");
    assert_eq!(node(&["release", "--outcomes", inspected, "--authority", "x", "lead"]), "actionable publish");
    assert_eq!(node(&["release", "--entry", "publish"]), "waiting-user publish");
    place.json(&["run", "start", "release", "--state", "r.json", "--authority", "lead"]);
    place.json(&["run", "record", "release/inspect", "completed", "--state", "r.json"]);
    assert_eq!(node(&["release", "--state", "r.json"]), "actionable publish");
    // A Run knows its Graph; what is given goes over it.
    assert_eq!(node(&["--state", "r.json"]), "actionable publish");
    assert_eq!(node(&["--state", "r.json", "--outcomes", r#"{"release/inspect":"pending"}"#]), "actionable inspect");
    place.json(&["run", "start", "release", "--state", "p.json", "--entry", "publish"]);
    assert_eq!(node(&["--state", "p.json"]), "waiting-user publish");
}

#[test]
fn what_cannot_be_evaluated_is_refused() {
    let place = Place::with_provider();
    for (args, code) in [
        (&["evaluate"][..], "graph-selection-missing"),
        (&["evaluate", "nope"], "graph-missing"),
        (&["evaluate", "release", "--entry", "nope"], "entry-missing"),
        (&["evaluate", "release", "--facts", "{"], "json-invalid"),
        (&["evaluate", "release", "--facts", "[]"], "json-object-required"),
        (&["evaluate", "release", "--facts", "@no.json"], "file-missing"),
        (&["evaluate", "release", "--outcomes", r#"{"a":"done"}"#], "outcome-invalid"),
        (&["evaluate", "release", "--state", "no.json"], "file-missing"),
        (&["route", "release", "nope"], "route-stale"),
        (&["route", "release", "route:00000000000000000000"], "route-stale"),
        (&["route", "route:0", "release"], "route-arguments-invalid"),
        (&["route", "release", "--revision", "x"], "revision-invalid"),
        (&["route", "release", "--resource-receipts", "{}"], "schema-invalid"),
        (&["code", "locate", "nope"], "code-missing"),
        (&["resource", "locate", "nope"], "resource-missing"),
        (&["schema", "path", "nope"], "schema-type-unknown"),
        (&["schema", "extract", "nope", "--output", "x"], "schema-type-unknown"),
        (&["--manifest", "no.yaml", "validate"], "file-missing"),
        (&["--skill", "no/SKILL.md", "evaluate"], "file-missing"),
        (&["test", "no"], "test-path-missing"),
        (&["test", "skills"], "test-cases-empty"),
    ] {
        assert_eq!(place.code(args), code, "{args:?}");
    }
    let stale = format!("sha256:{}", "0".repeat(64));
    assert_eq!(place.code(&["route", "release", "--revision", &stale]), "route-revision-stale");
    assert!(!place.path("x").exists());
}

#[test]
fn a_run_of_another_provider_is_refused() {
    let place = Place::with_provider();
    place.json(&["run", "start", "release", "--state", "r.json"]);
    place.write("provider.yaml", &place.read("provider.yaml").replace("acme/release", "acme/other"));
    assert_eq!(place.code(&["run", "status", "--state", "r.json"]), "run-provider-mismatch");
    assert_eq!(place.code(&["evaluate", "--state", "r.json"]), "run-provider-mismatch");
    assert_eq!(place.code(&["route", "--state", "r.json"]), "run-provider-mismatch");
}

#[test]
fn a_bound_skill_names_provider_graph_and_entry() {
    let place = Place::with_provider();
    let skill = "skills/release/SKILL.md";
    let away = place.path("away");
    std::fs::create_dir(&away).unwrap();
    let mut command = place.command(&["--format", "json", "--skill", "../skills/release/SKILL.md", "evaluate"]);
    let answer = command.current_dir(&away).output().unwrap();
    assert!(answer.status.success(), "a Skill leads to its Provider from anywhere");
    let evaluation = place.json(&["--skill", skill, "evaluate"]);
    assert_eq!(evaluation, place.json(&["evaluate", "release"]));
    let id = evaluation["primaryRoute"]["routeId"].as_str().unwrap();
    let route = place.json(&["--skill", skill, "route"]);
    assert_eq!(route, place.json(&["--skill", skill, "route", id]));
    assert_eq!(route, place.json(&["--skill", skill, "route", "release", id, "--entry", "default"]));
    assert_eq!(place.code(&["--skill", skill, "evaluate", "other"]), "option-invalid");
    assert_eq!(place.code(&["--skill", skill, "evaluate", "--entry", "publish"]), "option-invalid");
    assert_eq!(place.code(&["--skill", skill, "route", "other", id]), "option-invalid");
    assert_eq!(place.json(&["--skill", skill, "run", "start", "--state", "r.json"])["graph"], "release");
    let binding = place.json(&["inspect", "skill", skill])["binding"].clone();
    valid("skill-binding", &binding);
    assert_eq!(binding["manifestPath"], place.text("provider.yaml"));

    // The same through a registry.
    place.write(skill, &place.read(skill).replace("path:../../provider.yaml", "provider:acme/release"));
    assert_eq!(place.code(&["--skill", skill, "evaluate"]), "provider-unresolved");
    place.write("host/registry.yaml", "providers: {acme/release: ../provider.yaml}\n");
    assert_eq!(place.json(&["--skill", skill, "--registry", "host/registry.yaml", "evaluate"]), evaluation);
    place.write("host/registry.yaml", "- x\n");
    assert_eq!(place.code(&["--skill", skill, "--registry", "host/registry.yaml", "evaluate"]), "registry-invalid");
}

#[test]
fn a_route_tells_all_that_is_needed() {
    let place = Place::with_provider();
    let route = place.json(&["route", "release", "--workspace", "dist"]);
    valid("route", &route);
    assert_eq!(route["commandPlan"][0]["command"], "ls dist");
    assert_eq!(route["commandPlan"][0]["workingDirectory"], place.text("dist"));
    assert_eq!(route["resources"]["required"][0]["materialize"], json!({"resourceId": "release.view"}));
    let file = &route["resources"]["recommended"][0];
    assert_eq!(
        (&file["filePath"], &file["readState"]),
        (&json!(place.text("resources/checklist.md")), &json!("read-required"))
    );
    let revision = route["revision"].as_str().unwrap();
    let receipts = json!({
        "schema": "agent-graph.resource-read-receipts.v1",
        "provider": "acme/release",
        "receipts": [
            {"id": "release.checklist", "digest": file["digest"]},
            {"id": "release.view", "digest": format!("sha256:{}", "0".repeat(64)), "revision": revision},
        ],
    });
    place.write("read.json", &receipts.to_string());
    let read = place.json(&["route", "release", "--resource-receipts", "@read.json"]);
    assert_eq!(read["resources"]["required"][0]["readState"], "current");
    assert_eq!(read["resources"]["recommended"][0]["readState"], "current");
    let of_other = receipts.to_string().replace("acme/release", "acme/other");
    assert_eq!(
        place.code(&["route", "release", "--resource-receipts", &of_other]),
        "resource-receipts-provider-mismatch"
    );
    // The workspace of a Run is where its Actions run.
    place.json(&["run", "start", "release", "--state", "r.json", "--workspace", "w"]);
    let route = place.json(&["route", "--state", "r.json"]);
    assert_eq!(route["commandPlan"][0]["workingDirectory"], place.text("w"));
}

#[test]
fn codes_and_resources_are_found() {
    let place = Place::with_provider();
    let list = place.json(&["code", "list"]);
    assert_eq!((&list["provider"], &list["catalog"]), (&json!("acme/release"), &json!(place.text("codes.yaml"))));
    let code = place.json(&["code", "locate", "route.release.inspect"]);
    valid("code-location", &code);
    let file = place.json(&["resource", "locate", "release.checklist"]);
    valid("resource-location-file", &file);
    assert_eq!(code["document"], file);
    assert_eq!(place.json(&["resource", "locate", "resources/checklist.md"]), file);
    valid("resource-location-graph-action", &place.json(&["resource", "locate", "release.view"]));
}

#[test]
fn schemas_are_listed_kept_and_written() {
    let place = Place::new();
    let list = place.json(&["schema", "list"]);
    let root = list["root"].as_str().unwrap();
    assert!(root.starts_with(&place.text(".cache")), "{root}");
    for name in list["schemas"].as_array().unwrap() {
        let name = name.as_str().unwrap();
        let answer = place.json(&["schema", "path", name]);
        let path = answer["path"].as_str().unwrap();
        assert_eq!(path, format!("{root}/{name}.schema.json"));
        let kept: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        place.json(&["schema", "extract", name, "--output", "out/s.json"]);
        assert_eq!(serde_json::from_str::<Value>(&place.read("out/s.json")).unwrap(), kept);
    }
    // What somebody spoiled is mended.
    let path = format!("{root}/run.schema.json");
    std::fs::write(&path, "spoiled").unwrap();
    place.json(&["schema", "path", "run"]);
    assert!(std::fs::read_to_string(&path).unwrap().contains("agent-graph.run.v1"));
    // Without a cache there are the names, and the way out.
    let plain = |args: &[&str]| {
        let mut command = place.command(&[&["--format", "json"], args].concat());
        command.env_remove("XDG_CACHE_HOME").env_remove("HOME").output().unwrap()
    };
    let list: Value = serde_json::from_slice(&plain(&["schema", "list"]).stdout).unwrap();
    assert!(list["root"].is_null() && list["schemas"].as_array().unwrap().len() > 10);
    let path = plain(&["schema", "path", "run"]);
    assert!(!path.status.success() && String::from_utf8_lossy(&path.stderr).contains("schema extract run"));
}

#[test]
fn tests_tell_what_does_not_hold() {
    let place = Place::with_provider();
    place.write(
        "tests/deep/wrong.json",
        r#"{"schema":"agent-graph.test.v1","name":"publishing comes first","graph":"release","entry":"default",
            "expect":{"statusCode":"waiting-user","primaryNode":"publish"}}"#,
    );
    let answer = place.call(&["--format", "json", "test"]);
    assert_eq!((answer.code, answer.err.as_str()), (Some(1), ""));
    let report: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!((&report["state"], &report["total"], &report["failed"]), (&json!("failed"), &json!(2), &json!(1)));
    let wrong = &report["results"][0];
    assert_eq!(wrong["path"], place.text("tests/deep/wrong.json"));
    assert_eq!(wrong["failures"].as_array().unwrap().len(), 2);
    assert_eq!(place.json(&["test", "tests/first.yaml"])["total"], 1);
    // A bundle holds no tests: those that are here are its.
    place.json(&["build"]);
    let report = place.call(&["--format", "json", "--manifest", "dist/provider/manifest.json", "test"]).out;
    assert_eq!(serde_json::from_str::<Value>(&report).unwrap()["total"], 2);
    // What cannot be run has failed under its file and name, and the others are run.
    place.write("tests/a.yaml", "x: 1\n");
    let other = "{schema: agent-graph.test.v1, name: n, graph: nope, entry: default, expect: {statusCode: complete}}\n";
    place.write("tests/b.yaml", other);
    let answer = place.call(&["--format", "json", "test"]);
    assert_eq!((answer.code, answer.err.as_str()), (Some(1), ""));
    let report: Value = serde_json::from_str(&answer.out).unwrap();
    assert_eq!((&report["state"], &report["total"], &report["failed"]), (&json!("failed"), &json!(4), &json!(3)));
    let (bad, unknown) = (&report["results"][0], &report["results"][1]);
    assert_eq!((&bad["name"], &bad["passed"]), (&json!(place.text("tests/a.yaml")), &json!(false)));
    assert!(bad["failures"].to_string().contains("[schema.required]"), "{bad}");
    assert_eq!((&unknown["name"], &unknown["path"]), (&json!("n"), &json!(place.text("tests/b.yaml"))));
    assert!(unknown["failures"].to_string().contains("[graph-missing]"), "{unknown}");
}

#[test]
fn what_is_inspected_shows_nodes_codes_and_skills() {
    let place = Place::with_provider();
    let told = place.human(&["inspect", "provider"]);
    for line in ["\n  action inspect, route.", "\nCode route."] {
        assert!(told.contains(line), "{line}: {told}");
    }
    let new = Place::new();
    new.json(&["init", "--id", "acme/new"]);
    let told = new.human(&["inspect", "provider"]);
    assert!(told.contains("\nResource skill.getting-started  skills/getting-started/SKILL.md"), "{told}");
}

#[test]
fn what_nothing_looks_at_is_noted_beside_the_answer() {
    let place = Place::with_provider();
    let outcomes = r#"{"release/inspct": "completed"}"#;
    let facts = r#"{"a.b": 1}"#;
    let answer = place.call(&["--format", "json", "evaluate", "release", "--outcomes", outcomes, "--facts", facts]);
    assert_eq!(answer.code, Some(0));
    let err = answer.err;
    assert!(err.contains("note: ") && err.contains("release/inspct; did you mean release/inspect?"), "{err}");
    assert!(err.contains("note: the fact `a.b`") && err.contains(r#"{"a":{"b":1}}"#), "{err}");
}

#[test]
fn a_folder_is_no_manifest_and_has_one() {
    let place = Place::with_provider();
    let error = place.error(&["--manifest", &place.text(""), "validate"]);
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("is a folder") && message.contains("provider.yaml"), "{message}");
}

#[test]
fn a_fault_is_told_once_with_its_schema() {
    let place = Place::with_provider();
    let graph = place.read("graphs/release.yaml").replace("entrypoints:", "entrypoint:");
    place.write("graphs/release.yaml", &graph);
    let told = place.call(&["validate"]).err;
    assert!(told.contains("did you mean `entrypoints`?"), "{told}");
    assert!(told.contains("hint: agent-graph schema extract graph --output"), "{told}");
    let extra = place.read("provider.yaml") + "more: 1\n";
    place.write("provider.yaml", &extra);
    let told = place.call(&["validate"]).err;
    assert_eq!(told.matches("there is no field `more`").count(), 1, "{told}");
}

#[test]
fn a_route_tells_the_facts_that_prove_its_node() {
    let place = Place::with_provider();
    let graph = place.read("graphs/release.yaml");
    let (node, reason) = ("- id: inspect\n", "satisfiedBy: [{ path: seen.by, exists: true }]\n");
    let at = graph.find(node).unwrap();
    let blank = " ".repeat(at - graph[..at].rfind('\n').unwrap() - 1 + 2);
    place.write("graphs/release.yaml", &graph.replacen(node, &format!("{node}{blank}{reason}"), 1));
    let told = place.human(&["route", "release"]);
    assert!(
        told.contains(
            "\ndone when: seen.by must be there; recorded as completed without that, it is unverified\nafterwards: "
        ),
        "{told}"
    );
}

#[test]
fn nothing_is_read_outside_the_provider() {
    let place = Place::with_provider();
    let outside = Place::new();
    outside.write("secret.md", "---\nid: secret\nkind: procedure\nmedia-type: text/markdown\n---\n");
    let link = place.path("resources/checklist.md");
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(outside.path("secret.md"), &link).unwrap();
    assert_eq!(place.code(&["validate"]), "path-symlink-outside-provider");
    assert_eq!(place.code(&["build"]), "path-symlink-outside-provider");
}
