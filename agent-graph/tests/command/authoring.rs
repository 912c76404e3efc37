//! init and the imports: complete or not at all.

use serde_json::json;

use crate::support::Place;

const STARTER: [&str; 7] = [
    "actions/work.yaml",
    "codes.yaml",
    "graphs/main.yaml",
    "provider.yaml",
    "resources/procedure.md",
    "skills/getting-started/SKILL.md",
    "tests/main.yaml",
];

/// A Provider as init makes it.
fn started() -> Place {
    let place = Place::new();
    place.json(&["init", "--id", "acme/demo"]);
    place
}

#[test]
fn what_init_makes_holds_together_at_once() {
    let place = started();
    assert_eq!(place.files(), STARTER);
    for args in [&["validate"][..], &["test"], &["build"], &["evaluate", "main"]] {
        place.json(args);
    }
    assert_eq!(
        place.json(&["inspect", "skill", "skills/getting-started/SKILL.md"])["binding"]["provider"],
        "acme/demo"
    );
}

#[test]
fn init_replaces_nothing() {
    for path in STARTER {
        let place = Place::new();
        place.write(path, "mine");
        assert_eq!(place.code(&["init", "--id", "a"]), "provider-target-exists", "{path}");
        assert_eq!(place.files(), [path]);
        assert_eq!(place.read(path), "mine");
    }
    // A file where a folder should be, and a link to nowhere.
    let place = Place::new();
    place.write("graphs", "mine");
    assert_eq!(place.code(&["init", "--id", "a"]), "provider-target-exists");
    let place = Place::new();
    std::os::unix::fs::symlink("nowhere", place.path("codes.yaml")).unwrap();
    assert_eq!(place.code(&["init", "--id", "a"]), "provider-target-exists");
    assert_eq!(place.files(), ["codes.yaml"]);
    for id in ["", "A", "a b", "/a"] {
        assert_eq!(Place::new().code(&["init", "--id", id]), "id-invalid");
    }
}

#[test]
fn a_workflow_becomes_a_graph() {
    let place = started();
    let workflow = "id: Nightly Build\nsteps:\n  - {id: test, command: make test, effect: read}\n  \
                    - {id: lint, command: make lint, description: Look for dirt}\n  \
                    - {id: Ship It, command: \"make ship # now\", dependsOn: [test, lint], effect: external}\n";
    place.write("old/w.yaml", workflow);
    let answer = place.json(&["import", "workflow", "old/w.yaml", "--into", "."]);
    let graph = place.text("graphs/nightly-build.yaml");
    assert_eq!(answer, json!({"state": "imported", "kind": "workflow", "graph": graph}));
    place.json(&["validate"]);
    assert_eq!(place.json(&["evaluate", "nightly-build"])["primaryRoute"]["node"], "start");
    let next = |outcomes: &str| place.json(&["evaluate", "nightly-build", "--outcomes", outcomes]);
    let both = next(r#"{"nightly-build/start":"completed"}"#);
    assert_eq!(both["alternativeRoutes"].as_array().unwrap().len(), 1);
    let all =
        r#"{"nightly-build/start":"completed","nightly-build/test":"completed","nightly-build/lint":"completed"}"#;
    assert_eq!(next(all)["primaryRoute"]["node"], "ship-it");
    let route = place.json(&["route", "nightly-build", "--outcomes", all]);
    assert_eq!(route["commandPlan"][0]["command"], "make ship # now");
    // Once more under the same name is refused, under another one it is added to the report.
    let before = place.read("provider.yaml");
    assert_eq!(place.code(&["import", "workflow", "old/w.yaml", "--into", "."]), "import-target-exists");
    assert_eq!(place.read("provider.yaml"), before);
    place.json(&["import", "workflow", "old/w.yaml", "--into", ".", "--graph", "second"]);
    place.json(&["validate"]);
    assert_eq!(place.read("IMPORT_REPORT.md").matches("\n## ").count(), 2);
    assert!(place.json(&["build"])["files"].as_array().unwrap().iter().all(|file| file["path"] != "IMPORT_REPORT.md"));
}

#[test]
fn a_workflow_that_does_not_hold_together_changes_nothing() {
    let place = started();
    let before = place.files();
    for (steps, code) in [
        ("[]", "workflow-invalid"),
        ("[{id: a}]", "workflow-invalid"),
        ("[{id: a, command: x}, {id: a, command: y}]", "workflow-step-duplicate"),
        ("[{id: a b, command: x}, {id: a-b, command: y}]", "workflow-step-id-collision"),
        ("[{id: start, command: x}]", "workflow-step-id-reserved"),
        ("[{id: a, command: x, dependsOn: [b]}]", "workflow-dependency-missing"),
        ("[{id: a, command: x, dependsOn: [b]}, {id: b, command: x, dependsOn: [a]}]", "workflow-cycle"),
    ] {
        place.write("w.yaml", &format!("steps: {steps}\n"));
        assert_eq!(place.code(&["import", "workflow", "w.yaml", "--into", "."]), code, "{steps}");
    }
    place.write("w.yaml", "steps: [");
    assert_eq!(place.code(&["import", "workflow", "w.yaml", "--into", "."]), "parse-failed");
    assert_eq!(place.code(&["import", "workflow", "no.yaml", "--into", "."]), "file-missing");
    place.write("w.yaml", "steps: [{id: a, command: x}]\n");
    assert_eq!(place.code(&["import", "workflow", "w.yaml", "--into", "old"]), "file-missing");
    std::fs::remove_file(place.path("w.yaml")).unwrap();
    assert_eq!(place.files(), before);
}

#[test]
fn scripts_run_one_after_the_other() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = started();
    place.write("s/look.sh", "echo look\n");
    place.write("s/pack.py", "print('pack')\n");
    std::fs::set_permissions(place.path("s/look.sh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    place.json(&["import", "scripts", "s/look.sh", "s/pack.py", "--into", ".", "--graph", "pack"]);
    place.json(&["validate"]);
    assert_eq!(place.read("scripts/pack/02-pack.py"), "print('pack')\n");
    assert!(std::fs::metadata(place.path("scripts/pack/01-look.sh")).unwrap().permissions().mode() & 0o100 != 0);
    let route = place.json(&["route", "pack", "--outcomes", r#"{"pack/step-1":"completed"}"#]);
    let command = route["commandPlan"][0]["command"].as_str().unwrap();
    assert!(command.starts_with("python3 ") && command.contains("scripts/pack/02-pack.py"), "{command}");
    let before = place.files();
    assert_eq!(place.code(&["import", "scripts", "--into", "."]), "import-empty");
    assert_eq!(place.code(&["import", "scripts", "s/no.sh", "--into", "."]), "file-missing");
    assert_eq!(
        place.code(&["import", "scripts", "s/look.sh", "--into", ".", "--graph", "pack"]),
        "import-target-exists"
    );
    assert_eq!(place.code(&["import", "scripts", "s/look.sh", "--into", ".", "--graph", "→"]), "id-invalid");
    assert_eq!(place.files(), before);
}

#[test]
fn a_skill_is_copied_whole_and_its_copy_bound() {
    let place = started();
    place.write("old/Mend Things/SKILL.md", "---\nname: mend\ndescription: Mends.\nlicense: MIT\n---\n# Mend\n");
    place.write("old/Mend Things/ref/how.md", "how\n");
    place.json(&["import", "skill", "old/Mend Things/SKILL.md", "--into", "."]);
    place.json(&["validate"]);
    assert_eq!(place.read("skills/mend-things/ref/how.md"), "how\n");
    assert!(!place.read("old/Mend Things/SKILL.md").contains("metadata"), "the source stays as it is");
    let binding = place.json(&["inspect", "skill", "skills/mend-things/SKILL.md"])["binding"].clone();
    assert_eq!((&binding["graph"], &binding["entry"]), (&json!("mend-things"), &json!("default")));
    assert!(place.read("skills/mend-things/SKILL.md").contains("license: MIT"));
    let route = place.json(&["--skill", "skills/mend-things/SKILL.md", "route"]);
    assert_eq!(route["action"]["skill"]["id"], "skill.mend");
    let bundled = place.json(&["build"]);
    assert!(bundled["files"].to_string().contains("skills/mend-things/ref/how.md"));
    let before = place.files();
    assert_eq!(place.code(&["import", "skill", "old/Mend Things", "--into", "."]), "import-target-exists");
    assert_eq!(place.code(&["import", "skill", "old", "--into", "."]), "file-missing");
    // A link out of the Skill's folder is not copied.
    place.write("secret", "s");
    std::os::unix::fs::symlink(place.path("secret"), place.path("old/Mend Things/link")).unwrap();
    let refused = place.code(&["import", "skill", "old/Mend Things", "--into", ".", "--graph", "other"]);
    assert_eq!(refused, "path-symlink-outside-provider");
    std::fs::remove_file(place.path("old/Mend Things/link")).unwrap();
    std::fs::remove_file(place.path("secret")).unwrap();
    assert_eq!(place.files(), before);
}

#[test]
fn an_import_into_a_provider_that_does_not_hold_together_is_refused() {
    let place = started();
    place.write("graphs/main.yaml", "schema: agent-graph.graph.v1\nid: main\n");
    place.write("a.sh", "true\n");
    let before = place.files();
    assert_eq!(place.code(&["import", "scripts", "a.sh", "--into", "."]), "schema-invalid");
    assert_eq!(place.files(), before);
}

#[test]
fn comments_of_the_author_stay() {
    let place = started();
    let commented = place.read("provider.yaml").replace("graphs:\n", "# What it offers.\ngraphs:\n  # The first.\n");
    place.write("provider.yaml", &commented);
    place.write("a.sh", "true\n");
    place.json(&["import", "scripts", "a.sh", "--into", "."]);
    let after = place.read("provider.yaml");
    assert!(after.contains("# What it offers.") && after.contains("# The first."), "{after}");
}

#[test]
fn an_import_says_where_it_goes_and_what_it_adds() {
    let place = Place::new();
    place.write("w.yaml", "id: w\nsteps: [{ id: a, command: ls }]\n");
    place.write("bad.yaml", "id: w\nsteps: [{ id: a }]\n");
    let error = place.error(&["import", "workflow", "w.yaml", "--into", "new"]);
    let message = error["message"].as_str().unwrap();
    assert!(error["code"] == "file-missing" && message.ends_with("agent-graph init new --id company/name"), "{error}");
    place.json(&["init", "new", "--id", "acme/new"]);
    let error = place.error(&["import", "workflow", "bad.yaml", "--into", "new"]);
    assert!(error["message"].as_str().unwrap().starts_with("bad.yaml: "), "{error}");
    place.json(&["import", "workflow", "w.yaml", "--into", "new"]);
    assert!(place.read("new/IMPORT_REPORT.md").contains("The node `start` was added"));
}
