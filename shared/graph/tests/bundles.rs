//! Bundles: the same bytes wherever they are built, complete, and refused when anything of them is another.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]

mod acme;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use acme::{FILES, digest, files, installed, provider};
use graph::disk::Disk;
use graph::{
    BUNDLE_MANIFEST, BuiltBundle, Failure, Memory, PROVIDER_MANIFEST, Places, RouteRequest, Source, State, build,
    digest_bytes, digest_value, evaluate, load, refuse_overlap, route,
};
use serde_json::{Value, json};

/// Files in memory that say they stand in a folder.
struct Rooted(Memory, Vec<String>);

impl Source for Rooted {
    fn read(&self, path: &str) -> Result<Option<Arc<[u8]>>, Failure> {
        self.0.read(path)
    }

    fn list(&self, folder: &str) -> Result<Vec<String>, Failure> {
        self.0.list(folder)
    }

    fn roots(&self) -> &[String] {
        &self.1
    }
}

fn built() -> BuiltBundle {
    static BUILT: LazyLock<BuiltBundle> = LazyLock::new(|| build(&files(), &provider()).unwrap());
    BUILT.clone()
}

/// What building comes to when the Provider has these files, in this folder.
fn build_with(changed: &[(&str, &str)], root: &'static str) -> Result<BuiltBundle, Failure> {
    let source = Rooted(acme::with(changed), vec![root.to_owned()]);
    build(&source, &load(&source, "provider.yaml").unwrap())
}

/// The bundle with another manifest, whose digest is made anew.
fn signed(change: impl FnOnce(&mut Value)) -> Memory {
    let mut bundle = built().files;
    let mut manifest: Value = serde_json::from_slice(&bundle[BUNDLE_MANIFEST]).unwrap();
    change(&mut manifest);
    manifest.as_object_mut().unwrap().remove("digest");
    manifest["digest"] = json!(digest_value(&manifest));
    bundle.insert(BUNDLE_MANIFEST.to_owned(), serde_json::to_vec(&manifest).unwrap().into());
    Memory(bundle)
}

fn refused(bundle: &Memory) -> String {
    load(bundle, BUNDLE_MANIFEST).map(|_| "loaded").unwrap_err().code.into_owned()
}

#[test]
fn a_bundle_holds_what_is_reachable_and_lists_it() {
    let BuiltBundle { manifest, files } = built();
    let left_out = ["notes.txt", "tests/first.yaml"];
    let mut expected: Vec<&str> = FILES.iter().map(|(path, _)| *path).filter(|path| !left_out.contains(path)).collect();
    expected.push(BUNDLE_MANIFEST);
    expected.sort_unstable();
    assert_eq!(files.keys().collect::<Vec<_>>(), expected);
    for (path, text) in FILES.iter().filter(|(path, _)| *path != PROVIDER_MANIFEST && files.contains_key(*path)) {
        assert_eq!(&*files[*path], text.as_bytes(), "{path} is as it was");
    }
    let normal = "schema: agent-graph.provider.v1\nid: acme/release\nversion: 1.2.0\ngraphs:\n  - graphs/release.yaml\n  \
        - graphs/publish.yaml\n  - graphs/notify.yaml\ncatalogs:\n  codes: codes.yaml\ncompatibility:\n  \
        agentGraph: \">=0.3.0\"\n";
    assert_eq!(std::str::from_utf8(&files[PROVIDER_MANIFEST]).unwrap(), normal);

    let told: Value = serde_json::from_slice(&files[BUNDLE_MANIFEST]).unwrap();
    assert_eq!(told, acme::held("bundle", &manifest));
    assert_eq!(told["provider"], json!({ "id": "acme/release", "version": "1.2.0" }));
    assert_eq!(told["providerManifest"], "provider.yaml");
    let entry = |id: &str, path: &str| json!({ "id": id, "path": path, "digest": digest(path) });
    assert_eq!(
        told["graphs"],
        json!([
            entry("notify", "graphs/notify.yaml"),
            entry("publish", "graphs/publish.yaml"),
            entry("release", "graphs/release.yaml"),
        ])
    );
    assert_eq!(told["actions"][0], entry("accept", "actions/accept.yaml"));
    assert_eq!(told["actions"].as_array().unwrap().len(), 9);
    assert_eq!(
        told["resources"],
        json!([
            entry("release.context", "resources/context.yaml"),
            entry("release.form", "resources/form.yaml"),
            entry("release.guide", "resources/guide.md"),
            entry("release.policy", "resources/policy.yaml"),
        ])
    );
    let schema = |path: &str| entry(path, path);
    assert_eq!(
        told["schemas"],
        json!([
            entry("release.form", "resources/form.json"),
            schema("schemas/check-input.json"),
            schema("schemas/check-output.json"),
            schema("schemas/decision.json"),
            schema("schemas/policy-request.json"),
            schema("schemas/policy.json"),
        ])
    );
    let listed: BTreeMap<&str, &str> =
        manifest.files.iter().map(|file| (file.path.as_str(), file.digest.as_str())).collect();
    assert_eq!(listed.len(), files.len() - 1);
    for (path, bytes) in files.iter().filter(|(path, _)| *path != BUNDLE_MANIFEST) {
        assert_eq!(listed[path.as_str()], digest_bytes(bytes));
    }
    assert_eq!(told["graphDependencies"], json!({ "release": ["publish"], "publish": ["notify"], "notify": [] }));
    let text = std::str::from_utf8(&files[BUNDLE_MANIFEST]).unwrap();
    assert!(
        text.starts_with("{\n  \"schema\": \"agent-graph.bundle.v1\",\n  \"provider\": {\n    \"id\"")
            && text.ends_with("}\n")
    );
}

#[test]
fn a_bundle_has_the_same_bytes_wherever_and_however_often_it_is_built() {
    let first = built();
    for root in ["/srv/one", "/home/somebody/two"] {
        assert_eq!(build_with(&[], root).unwrap().files, first.files, "{root}");
    }
    // Another spelling of the manifest, and a file that nothing refers to, make no difference.
    let json = serde_json::to_string(&process::yaml(FILES[0].1).unwrap()).unwrap();
    let other = build_with(&[("provider.yaml", &json), ("notes.txt", "other")], "/srv/one").unwrap();
    assert_eq!(other.files, first.files);
    // Neither does the manifest's name, nor that it is a bundle already.
    let mut renamed = files();
    let manifest = renamed.0.remove("provider.yaml").unwrap();
    renamed.0.insert("acme.yml".to_owned(), manifest);
    assert_eq!(build(&renamed, &load(&renamed, "acme.yml").unwrap()).unwrap().files, first.files);
    let bundle = Memory(first.files.clone());
    assert_eq!(build(&bundle, &load(&bundle, BUNDLE_MANIFEST).unwrap()).unwrap().files, first.files);
}

#[test]
fn two_folders_give_one_bundle_and_neither_gives_itself_away() {
    let bundles = ["one", "two and more"].map(|name| {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join(name);
        for (path, bytes) in &files().0 {
            let file = root.join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, bytes).unwrap();
        }
        let (disk, manifest) = Disk::of(&root.join("provider.yaml")).unwrap();
        let built = build(&disk, &load(&disk, &manifest).unwrap()).unwrap();
        let said = format!("It is in {}.\n", disk.folder().display());
        std::fs::write(root.join("skills/draft/tone.md"), said).unwrap();
        let failure = build(&disk, &load(&disk, &manifest).unwrap()).unwrap_err();
        assert_eq!(failure.code, "build-absolute-path-leak");
        // By the name that it was reached by, too.
        let link = place.path().join("link");
        std::os::unix::fs::symlink(&root, &link).unwrap();
        std::fs::write(root.join("skills/draft/tone.md"), format!("It is in {}/.\n", link.display())).unwrap();
        let (disk, manifest) = Disk::of(&link.join("provider.yaml")).unwrap();
        let failure = build(&disk, &load(&disk, &manifest).unwrap()).unwrap_err();
        assert_eq!(failure.code, "build-absolute-path-leak");
        built.files
    });
    assert_eq!(bundles[0], bundles[1]);
    assert_eq!(bundles[0], built().files);
}

#[test]
fn any_change_of_a_reachable_file_is_another_bundle() {
    let first = built().manifest.digest;
    for path in ["graphs/notify.yaml", "skills/draft/tone.md", "scripts/lib.py", "schemas/decision.json", "codes.yaml"]
    {
        let text = FILES.iter().find(|(at, _)| *at == path).unwrap().1;
        let other = build_with(&[(path, &format!("{text}\n"))], "/srv/one").unwrap();
        assert_ne!(other.manifest.digest, first, "{path}");
    }
}

#[test]
fn a_bundle_routes_like_the_provider_that_it_was_built_from() {
    let bundle = load(&Memory(built().files), BUNDLE_MANIFEST).unwrap();
    assert!(bundle.bundle.is_some());
    for state in [State::default(), acme::at_the_gate(&[]), acme::at_the_gate(&["release.approve"])] {
        let source = evaluate(&provider(), "release", "default", &state).unwrap().evaluation;
        assert_eq!(evaluate(&bundle, "release", "default", &state).unwrap().evaluation, source);
        let request = RouteRequest { graph: "release", entry: "default", ..RouteRequest::default() };
        let from_source = route(&provider(), &installed(), &state, &request).unwrap();
        assert_eq!(route(&bundle, &installed(), &state, &request).unwrap(), from_source);
    }
    // Somewhere else only the paths are others.
    let elsewhere = Places { provider_root: "/mnt".to_owned(), workspace: "/home/w".to_owned() };
    let request = RouteRequest { graph: "release", entry: "default", ..RouteRequest::default() };
    let here = route(&bundle, &installed(), &State::default(), &request).unwrap();
    let there = route(&bundle, &elsewhere, &State::default(), &request).unwrap();
    let moved = serde_json::to_string(&here).unwrap().replace("/opt/acme/", "/mnt/");
    assert_eq!(serde_json::to_string(&there).unwrap(), moved);
}

#[test]
fn every_file_that_says_where_it_was_built_is_refused() {
    let leaks = [
        ("skills/draft/tone.md", "See /srv/one/skills/draft.\n"),
        ("scripts/lib.py", "root = '/srv/one'\n"),
        ("notes.txt", "/srv/one is no leak here: nothing refers to this file.\n"),
    ];
    let failure = build_with(&leaks, "/srv/one").unwrap_err();
    assert_eq!(failure.code, "build-absolute-path-leak");
    let places: Vec<&str> = failure.diagnostics.iter().filter_map(|fault| fault.path.as_deref()).collect();
    assert_eq!(places, ["scripts/lib.py", "skills/draft/tone.md"]);
    build_with(&leaks, "/srv/two").unwrap();
    // In the manifest too.
    let manifest = FILES[0].1.replace("version: 1.2.0\n", "version: 1.2.0\ndescription: From /srv/one.\n");
    let failure = build_with(&[("provider.yaml", &manifest)], "/srv/one").unwrap_err();
    assert_eq!(failure.code, "build-absolute-path-leak");
    // A comment is not kept, so what it says is no leak.
    let manifest = format!("# /srv/one\n{}", FILES[0].1);
    build_with(&[("provider.yaml", &manifest)], "/srv/one").unwrap();
}

#[test]
fn a_file_where_the_bundles_own_would_stand_is_refused() {
    let check = FILES.iter().find(|(path, _)| *path == "actions/check.yaml").unwrap().1;
    let check = check.replace("files: [scripts/lib.py]", "files: [manifest.json]");
    let failure = build_with(&[("actions/check.yaml", &check), ("manifest.json", "{}")], "/srv/one").unwrap_err();
    assert_eq!(failure.code, "bundle-invalid");
}

#[test]
fn a_file_that_changes_while_it_is_built_is_refused() {
    let loaded = provider();
    let failure = build(&acme::with(&[("scripts/lib.py", "other\n")]), &loaded).unwrap_err();
    assert_eq!(failure.code, "file-read-failed");
    let mut gone = files();
    gone.0.remove("scripts/lib.py");
    assert_eq!(build(&gone, &loaded).unwrap_err().code, "file-missing");
}

#[test]
fn an_output_never_takes_the_place_of_the_sources() {
    let (provider, root) = (provider(), Path::new("/srv/acme"));
    let overlaps = [
        "/srv/acme",
        "/srv",
        "/",
        "/srv/acme/graphs",
        "/srv/acme/skills",
        "/srv/acme/skills/draft",
        "/srv/acme/skills/draft/dist",
        "/srv/acme/scripts/lib.py",
    ];
    for output in overlaps {
        let failure = refuse_overlap(&provider, root, Path::new(output)).unwrap_err();
        assert_eq!(failure.code, "build-output-overlaps-source", "{output}");
        assert!(failure.message.contains(output), "{}", failure.message);
    }
    for output in
        ["/srv/acme/dist", "/srv/acme/dist/provider", "/srv/acmes", "/tmp/x", "/srv/acme/tests", "/srv/acme/graphs2"]
    {
        refuse_overlap(&provider, root, Path::new(output)).unwrap();
    }
}

#[test]
fn a_bundle_whose_manifest_was_changed_is_refused() {
    let text = built().files[BUNDLE_MANIFEST].clone();
    let with = |manifest: &Value| {
        let mut bundle = built().files;
        bundle.insert(BUNDLE_MANIFEST.to_owned(), serde_json::to_vec(manifest).unwrap().into());
        refused(&Memory(bundle))
    };
    let manifest: Value = serde_json::from_slice(&text).unwrap();
    let mut places = Vec::new();
    texts(&manifest, String::new(), &mut places);
    assert!(places.len() > 100, "{}", places.len());
    for place in places.iter().filter(|place| *place != "/schema") {
        let mut other = manifest.clone();
        let at = other.pointer_mut(place).unwrap();
        // A digest stays one, so that it is the manifest's own digest that tells.
        let text = at.as_str().unwrap().to_owned();
        *at = json!(if text.starts_with("sha256:") { digest_value(&text) } else { format!("{text}x") });
        assert_eq!(with(&other), "bundle-digest-mismatch", "{place}");
    }
    for list in ["graphs", "actions", "resources", "schemas", "files"] {
        let mut other = manifest.clone();
        other[list].as_array_mut().unwrap().pop();
        assert_eq!(with(&other), "bundle-digest-mismatch", "{list}");
        let mut other = manifest.clone();
        other[list].as_array_mut().unwrap().swap(0, 1);
        assert_eq!(with(&other), "bundle-digest-mismatch", "{list}");
    }
    let mut other = manifest.clone();
    other["extra"] = json!(true);
    assert_eq!(with(&other), "schema-invalid");
}

/// The place of every text in a value.
fn texts(value: &Value, at: String, places: &mut Vec<String>) {
    match value {
        Value::String(_) => places.push(at),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| texts(item, format!("{at}/{index}"), places));
        }
        Value::Object(fields) => fields.iter().for_each(|(key, field)| texts(field, format!("{at}/{key}"), places)),
        _ => {}
    }
}

#[test]
fn a_bundle_with_any_other_byte_is_refused() {
    let BuiltBundle { manifest, files: bundle } = built();
    for (path, bytes) in &bundle {
        // As many bytes as a second or two allow, the last one always.
        let step = if path == BUNDLE_MANIFEST { 29 } else { 1 + bytes.len() / 8 };
        for at in (0..bytes.len()).step_by(step).chain([bytes.len() - 1]) {
            let mut other = bytes.to_vec();
            other[at] ^= 1;
            let mut changed = bundle.clone();
            changed.insert(path.clone(), other.into());
            match load(&Memory(changed), BUNDLE_MANIFEST) {
                // Only what says the same in other letters, as another kind of space does, is still the manifest.
                Ok(loaded) => {
                    assert!(path == BUNDLE_MANIFEST && loaded.bundle.as_ref() == Some(&manifest), "{path} at {at}")
                }
                Err(_) if path == BUNDLE_MANIFEST => {}
                Err(failure) => assert_eq!(failure.code, "bundle-file-digest-mismatch", "{path} at {at}"),
            }
        }
        let mut changed = bundle.clone();
        changed.remove(path);
        assert_eq!(refused(&Memory(changed)), "file-missing", "{path}");
        let mut changed = bundle.clone();
        changed.insert(path.clone(), bytes[..bytes.len() - 2].into());
        refused(&Memory(changed));
    }
}

#[test]
fn a_file_more_where_the_provider_takes_whole_folders_is_refused() {
    let mut bundle = built().files;
    bundle.insert("skills/draft/extra.md".to_owned(), b"Do something else.".as_slice().into());
    let failure = load(&Memory(bundle), BUNDLE_MANIFEST).unwrap_err();
    assert_eq!(failure.code, "bundle-files-mismatch");
    assert!(failure.message.contains("skills/draft/extra.md"));
}

#[test]
fn a_file_more_anywhere_in_the_folder_of_a_bundle_is_refused() {
    for path in ["notes.txt", ".hidden", "graphs/other.yaml", "tests/first.yaml", "scripts/node_modules/a.js"] {
        let mut bundle = built().files;
        bundle.insert(path.to_owned(), b"x".as_slice().into());
        let failure = load(&Memory(bundle.clone()), BUNDLE_MANIFEST).unwrap_err();
        assert_eq!(failure.code, "bundle-files-mismatch", "{path}");
        assert!(failure.message.starts_with(path), "{}", failure.message);
        // The Provider in it is none of a bundle that vouches for its files.
        assert!(load(&Memory(bundle), PROVIDER_MANIFEST).is_ok(), "{path}");
    }
    let mut bundle = built().files;
    let manifest = bundle.remove(BUNDLE_MANIFEST).unwrap();
    bundle.insert("named.json".to_owned(), manifest);
    assert!(load(&Memory(bundle), "named.json").is_ok(), "the manifest is no file of the bundle, whatever its name");
}

#[test]
fn a_manifest_whose_digest_was_made_anew_is_held_to_what_is_loaded() {
    assert!(load(&signed(|_| ()), BUNDLE_MANIFEST).is_ok(), "an unchanged one is fine");
    type Change = fn(&mut Value);
    let cases: [(&str, Change); 17] = [
        ("bundle-provider-mismatch", |m| m["provider"]["id"] = json!("acme/other")),
        ("bundle-provider-mismatch", |m| m["provider"]["version"] = json!("1.2.1")),
        ("bundle-file-duplicate", |m| {
            let first = m["files"][0].clone();
            m["files"].as_array_mut().unwrap().push(first);
        }),
        ("bundle-file-digest-mismatch", |m| m["files"][0]["digest"] = json!(digest_value(&0))),
        ("file-missing", |m| m["files"][0]["path"] = json!("actions/none.yaml")),
        ("bundle-invalid", |m| m["files"][0]["path"] = json!("./actions/accept.yaml")),
        ("bundle-invalid", |m| {
            let digest = digest_value(&0);
            m["files"].as_array_mut().unwrap().push(json!({ "path": "manifest.json", "digest": digest }));
        }),
        ("schema-invalid", |m| m["files"][0]["path"] = json!("../accept.yaml")),
        ("bundle-catalog-mismatch", |m| m["graphs"][0]["digest"] = json!(digest_value(&0))),
        ("bundle-catalog-mismatch", |m| m["actions"][0]["id"] = json!("other")),
        ("bundle-catalog-mismatch", |m| m["resources"][0]["path"] = json!("actions/none.yaml")),
        ("bundle-catalog-mismatch", |m| drop(m["schemas"].as_array_mut().unwrap().remove(0))),
        ("bundle-catalog-mismatch", |m| {
            let first = m["graphs"][0].clone();
            m["graphs"].as_array_mut().unwrap().push(first);
        }),
        ("bundle-dependencies-mismatch", |m| m["graphDependencies"]["release"] = json!([])),
        ("bundle-dependencies-mismatch", |m| m["graphDependencies"]["more"] = json!([])),
        ("bundle-dependencies-mismatch", |m| {
            m["graphDependencies"].as_object_mut().unwrap().remove("notify");
        }),
        ("bundle-provider-unlisted", |m| {
            m["files"].as_array_mut().unwrap().retain(|file| file["path"] != "provider.yaml");
        }),
    ];
    for (index, (code, change)) in cases.into_iter().enumerate() {
        assert_eq!(refused(&signed(change)), code, "case {index}");
    }
    // A script is in no catalog: only the list of files tells that it is missing, or that another was added.
    let less = signed(|m| m["files"].as_array_mut().unwrap().retain(|file| file["path"] != "scripts/lib.py"));
    assert_eq!(refused(&less), "bundle-files-mismatch");
    let mut more = signed(|m| {
        let file = json!({ "path": "scripts/more.py", "digest": digest_bytes(b"more") });
        m["files"].as_array_mut().unwrap().push(file);
    });
    more.0.insert("scripts/more.py".to_owned(), b"more".as_slice().into());
    assert_eq!(refused(&more), "bundle-files-mismatch");
}

#[test]
fn all_faults_of_a_kind_are_told_at_once() {
    let bundle = signed(|m| {
        for index in 0..3 {
            m["files"][index]["digest"] = json!(digest_value(&index));
        }
    });
    let failure = load(&bundle, BUNDLE_MANIFEST).unwrap_err();
    assert_eq!((failure.code.as_ref(), failure.diagnostics.len()), ("bundle-file-digest-mismatch", 3));
}
