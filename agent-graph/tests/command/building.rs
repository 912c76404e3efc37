//! Bundles: put in their place in one step, over nothing but an earlier one.

use serde_json::json;

use crate::support::Place;

#[test]
fn a_bundle_is_the_same_every_time_and_replaces_only_its_own() {
    let place = Place::with_provider();
    let first = place.json(&["build"]);
    let files = place.files().into_iter().filter(|path| path.starts_with("dist/provider/")).collect::<Vec<_>>();
    assert_eq!(first["files"].as_array().unwrap().len() + 1, files.len());
    assert!(!files.iter().any(|path| path.contains("tests/")), "tests stay at home");
    assert_eq!(place.json(&["build"]), first);
    // What is no longer in the Provider is no longer in its bundle.
    place.write("codes.yaml", &place.read("codes.yaml").replace(", document: resources/checklist.md", ""));
    place.write(
        "graphs/release.yaml",
        &place.read("graphs/release.yaml").replace(", recommended: [resources/checklist.md]", ""),
    );
    let second = place.json(&["build"]);
    assert_ne!(second["digest"], first["digest"]);
    assert!(!place.path("dist/provider/resources/checklist.md").exists());
    assert_eq!(place.json(&["--manifest", "dist/provider/manifest.json", "validate"])["state"], "valid");
    let left: Vec<String> = place.files().into_iter().filter(|path| path.contains(".agent-graph-")).collect();
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn nothing_else_is_ever_replaced() {
    let place = Place::with_provider();
    place.write("full/mine", "mine");
    assert_eq!(place.code(&["build", "full"]), "build-output-exists");
    place.write("file", "mine");
    assert_eq!(place.code(&["build", "file"]), "build-output-exists");
    // A bundle with something put into it, and one of another Provider.
    place.json(&["build", "bundle"]);
    place.write("bundle/mine", "mine");
    assert_eq!(place.code(&["build", "bundle"]), "build-output-exists");
    std::fs::remove_file(place.path("bundle/mine")).unwrap();
    place.write("provider.yaml", &place.read("provider.yaml").replace("acme/release", "acme/other"));
    assert_eq!(place.code(&["build", "bundle"]), "build-output-exists");
    assert_eq!((place.read("full/mine"), place.read("file")), ("mine".to_owned(), "mine".to_owned()));
    // An empty folder is nothing.
    std::fs::create_dir(place.path("empty")).unwrap();
    place.json(&["build", "empty"]);
}

#[test]
fn a_bundle_never_comes_over_its_sources() {
    let place = Place::with_provider();
    let before = place.files();
    std::os::unix::fs::symlink("graphs", place.path("link")).unwrap();
    for output in
        [".", "graphs", "graphs/../graphs", "..", "provider.yaml", "link", "graphs/release.yaml/x", "link/release.yaml"]
    {
        assert_eq!(place.code(&["build", output]), "build-output-overlaps-source", "{output}");
    }
    std::fs::remove_file(place.path("link")).unwrap();
    assert_eq!(place.files(), before);
    // Beside them is fine, and so is building from a bundle.
    place.json(&["build", "graphs/bundle"]);
    let again = place.json(&["--manifest", "graphs/bundle/manifest.json", "build", "second"]);
    assert_eq!(again["provider"], json!({"id": "acme/release", "version": "1.2.0"}));
    // A bundle holds nothing else, so another one does not go into it; nor does one go into a Skill, which is taken whole.
    for output in ["second", "second/third", "second/actions/third"] {
        let code = place.code(&["--manifest", "second/manifest.json", "build", output]);
        assert_eq!(code, "build-output-overlaps-source", "{output}");
    }
    // Nor one of another Provider's manifest.
    assert_eq!(place.code(&["build", "second/third"]), "build-output-overlaps-source");
    assert_eq!(place.code(&["build", "second/actions/deep/third"]), "build-output-overlaps-source");
    place.json(&["--manifest", "second/manifest.json", "validate"]);
    place.write(
        "actions/inspect.yaml",
        "{schema: agent-graph.action.v1, id: inspect, runner: agent, effect: read, skill: skills/release/SKILL.md}\n",
    );
    assert_eq!(place.code(&["build", "skills/release/dist"]), "build-output-overlaps-source");
    place.json(&["build", "skills/dist"]);
}

#[test]
fn what_was_changed_in_a_bundle_is_found() {
    let place = Place::with_provider();
    place.json(&["build", "b"]);
    let check = || place.code(&["--manifest", "b/manifest.json", "validate"]);
    let script = place.read("b/scripts/view.sh");
    place.write("b/scripts/view.sh", "rm -rf /tmp/x\n");
    assert_eq!(check(), "bundle-file-digest-mismatch");
    place.write("b/scripts/view.sh", &script);
    std::fs::rename(place.path("b/codes.yaml"), place.path("codes")).unwrap();
    assert_eq!(check(), "file-missing");
    std::fs::rename(place.path("codes"), place.path("b/codes.yaml")).unwrap();
    place.write("b/manifest.json", &place.read("b/manifest.json").replace("1.2.0", "1.2.1"));
    assert_eq!(check(), "bundle-digest-mismatch");
}
