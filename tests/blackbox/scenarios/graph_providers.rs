//! Providers of graphs: published whole or not at all, never changed, found by who may; and where their resources are.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::harness::{Answer, Bundle, Org, PARCEL, Server, anonymous, fresh, refused, refused_as, scenarios};

scenarios! {
    any: [
        a_published_bundle_is_listed_with_its_graphs,
        the_same_bundle_again_changes_nothing,
        a_published_version_never_changes,
        the_latest_version_is_the_highest,
        what_is_no_bundle_is_refused_and_leaves_nothing,
        each_fault_of_the_files_is_told_at_once,
        all_files_together_have_a_limit,
        a_list_is_read_page_by_page,
        organizations_have_providers_of_their_own,
        a_files_link_opens_the_bytes_of_its_digest,
        each_kind_of_resource_has_its_location,
        any_file_of_a_bundle_is_located_by_its_path,
        what_is_not_there_is_not_found,
    ],
    own: [a_link_opens_one_file_and_only_whole],
}

fn publish(org: &Org, arguments: Value) -> Answer {
    org.operator.call("publish_provider", arguments)
}

fn a_published_bundle_is_listed_with_its_graphs(org: &Org) {
    let bundle = Bundle::parcel();
    assert_eq!(org.agent.pages("list_providers", json!({})), [Value::Null; 0]);
    let published = publish(org, bundle.arguments()).unwrap();
    assert_eq!((&published["id"], &published["version"]), (&json!(PARCEL), &json!("1.0.0")));
    assert_eq!(published["digest"], bundle.digest);
    assert_eq!(published["description"], "Gets a parcel on its way.");
    let graphs =
        json!([{ "id": "customs", "entries": ["default"] }, { "id": "parcel", "entries": ["again", "default"] }]);
    assert_eq!(published["graphs"], graphs);
    assert_eq!(published["publishedBy"], org.operator.subject());
    for caller in [&org.agent, &org.staff, &org.operator] {
        assert_eq!(caller.pages("list_providers", json!({})), std::slice::from_ref(&published));
    }
}

fn the_same_bundle_again_changes_nothing(org: &Org) {
    let bundle = Bundle::parcel();
    let first = publish(org, bundle.arguments()).unwrap();
    crate::harness::pass(5);
    let machine = org.client("agent", "pipeline", &[], true);
    let again = machine.ok("publish_provider", bundle.arguments());
    assert_eq!(again, first, "published by whom and when it was");
    assert_eq!(org.agent.pages("list_providers", json!({})), [first]);
}

fn a_published_version_never_changes(org: &Org) {
    let first = publish(org, Bundle::parcel().arguments()).unwrap();
    let other = Bundle::changed(&[("actions/weigh.yaml", "scales --grams", "scales --ounces")]);
    assert_ne!(json!(other.digest), first["digest"]);
    let error = refused_as(publish(org, other.arguments()), "conflict");
    assert!(error.issues[0].starts_with("version_published: 1.0.0 has other content; raise `version`"), "{error:?}");
    assert_eq!(org.agent.pages("list_providers", json!({})), [first]);
    // A request id is used for one call alone.
    let mut arguments = Bundle::parcel().arguments();
    arguments["requestId"] = json!(fresh());
    org.operator.exact("publish_provider", arguments.clone()).unwrap();
    arguments["files"] = Bundle::version("1.0.1").arguments()["files"].clone();
    refused(org.operator.exact("publish_provider", arguments), "conflict", &["request_id_reused"]);
}

fn the_latest_version_is_the_highest(org: &Org) {
    let versions = ["1.9.0", "1.10.0", "1.10.0-rc.1", "1.2.0"];
    let bundles = versions.map(Bundle::version);
    for bundle in &bundles {
        org.provide(bundle);
    }
    let latest = &bundles[1];
    let listed = org.agent.pages("list_providers", json!({}));
    assert_eq!((listed.len(), &listed[0]["version"]), (1, &json!("1.10.0")));
    let asked = |mut arguments: Value| {
        arguments["provider"] = json!(PARCEL);
        arguments["graph"] = json!("parcel");
        org.agent.ok("evaluate_graph", arguments)["provider"].clone()
    };
    assert_eq!(asked(json!({})), latest.asked());
    for bundle in &bundles {
        assert_eq!(asked(json!({ "version": bundle.version })), bundle.asked());
        assert_eq!(asked(json!({ "digest": bundle.digest })), bundle.asked());
    }
}

/// The files of a bundle, of which one is changed: none of them any more, or other bytes.
fn spoiled(bundle: &Bundle, path: &str, bytes: Option<&[u8]>) -> Value {
    let mut bundle = bundle.clone();
    match bytes {
        Some(bytes) => drop(bundle.files.insert(path.to_owned(), bytes.to_vec())),
        None => assert!(bundle.files.remove(path).is_some(), "{path}"),
    }
    bundle.arguments()
}

fn what_is_no_bundle_is_refused_and_leaves_nothing(org: &Org) {
    let bundle = Bundle::parcel();
    let manifest = String::from_utf8(bundle.files["manifest.json"].clone()).unwrap();
    let lied = manifest.replace("1.0.0", "2.0.0");
    for (what, arguments, code) in [
        ("no files", json!({ "files": [] }), "manifest.json"),
        ("no manifest", spoiled(&bundle, "manifest.json", None), "manifest.json"),
        ("a manifest that is none", spoiled(&bundle, "manifest.json", Some(b"{}")), "schema"),
        ("a manifest of another version", spoiled(&bundle, "manifest.json", Some(lied.as_bytes())), "bundle-"),
        ("a file that was altered", spoiled(&bundle, "resources/scales.md", Some(b"other")), "bundle-"),
        ("a file less", spoiled(&bundle, "actions/weigh.yaml", None), ""),
        ("a file more", spoiled(&bundle, "notes.txt", Some(b"more")), "bundle-"),
        ("a file elsewhere", spoiled(&bundle, "../notes.txt", Some(b"more")), ""),
        ("an absolute file", spoiled(&bundle, "/etc/passwd", Some(b"more")), ""),
    ] {
        let error = refused_as(publish(org, arguments), "invalid");
        assert!(!error.issues.is_empty(), "{what}: {error:?}");
        assert!(error.issues.iter().any(|issue| issue.contains(code)), "{what}: {error:?}");
    }
    assert_eq!(org.agent.pages("list_providers", json!({})), [Value::Null; 0]);
    refused_as(org.agent.call("evaluate_graph", json!({ "provider": PARCEL, "graph": "parcel" })), "not_found");
    // Sources are no bundle: they were never built.
    let source = json!({ "path": "provider.yaml", "contentBase64": STANDARD.encode(&bundle.files["provider.yaml"]) });
    refused_as(publish(org, json!({ "files": [source] })), "invalid");
}

fn each_fault_of_the_files_is_told_at_once(org: &Org) {
    let file = |path: &str, content: &str| json!({ "path": path, "contentBase64": content });
    let files = json!([file("a", "no base64!"), file("b", "YQ=="), file("b", "YQ=="), file("c", "YQ")]);
    let error = refused_as(publish(org, json!({ "files": files })), "invalid");
    let starts = ["files[0].contentBase64: a: ", "files[2].path: b: twice", "files[3].contentBase64: c: "];
    assert_eq!(error.issues.len(), starts.len(), "{error:?}");
    for (issue, start) in error.issues.iter().zip(starts) {
        assert!(issue.starts_with(start), "{start}: {error:?}");
    }
    let shapes =
        json!([{ "path": "a" }, { "path": "", "contentBase64": "" }, { "path": "b", "contentBase64": "", "x": 1 }]);
    let told = ["files[0].contentBase64: missing", "files[1].path: missing", "files[2].x: not declared"];
    refused(publish(org, json!({ "files": shapes })), "invalid", &told);
}

fn all_files_together_have_a_limit(org: &Org) {
    let limit = org.agent.ok("describe", json!({}))["maxUploadBytes"].as_u64().unwrap();
    let limit = usize::try_from(limit).unwrap();
    let half = vec![b'x'; limit / 2 + 1];
    let mut bundle = Bundle::parcel();
    bundle.files.clear();
    bundle.files.insert("a".to_owned(), half.clone());
    bundle.files.insert("b".to_owned(), half);
    let bytes = limit / 2 * 2 + 2;
    refused(publish(org, bundle.arguments()), "invalid", &[&format!("files: {bytes} bytes, at most {limit}")]);
}

fn a_list_is_read_page_by_page(org: &Org) {
    let names = ["acme/a", "acme/b", "acme/c"];
    for name in names {
        org.provide(&Bundle::changed(&[("provider.yaml", "acme/parcel", name)]));
    }
    let ids = |page: &Value| -> Vec<String> {
        page["items"].as_array().unwrap().iter().map(|p| p["id"].as_str().unwrap().to_owned()).collect()
    };
    let page = org.agent.ok("list_providers", json!({ "limit": 2 }));
    assert_eq!(ids(&page), names[..2]);
    let next = json!({ "limit": 2, "cursor": page["nextCursor"] });
    let page = org.agent.ok("list_providers", next.clone());
    assert_eq!((ids(&page), &page["nextCursor"]), (vec![names[2].to_owned()], &Value::Null));
    refused_as(org.other.call("list_providers", next), "invalid");
    refused_as(org.agent.call("list_providers", json!({ "cursor": "made up" })), "invalid");
}

fn organizations_have_providers_of_their_own(org: &Org) {
    org.provide(&Bundle::parcel());
    let foreign = org.foreign();
    assert_eq!(foreign.agent.pages("list_providers", json!({})), [Value::Null; 0]);
    let ask = json!({ "provider": PARCEL, "graph": "parcel" });
    let locate = json!({ "provider": PARCEL, "id": "scales" });
    for (tool, arguments) in [("evaluate_graph", &ask), ("get_route", &ask), ("locate_resource", &locate)] {
        refused_as(foreign.agent.call(tool, arguments.clone()), "not_found");
    }
    refused_as(foreign.agent.call("start_graph_run", ask.clone()), "not_found");
    // The same name and version is theirs to use for something else.
    let other = Bundle::changed(&[("actions/weigh.yaml", "scales --grams", "scales --ounces")]);
    foreign.provide(&other);
    assert_eq!(foreign.agent.ok("evaluate_graph", ask.clone())["provider"], other.asked());
    assert_eq!(org.agent.ok("evaluate_graph", ask)["provider"], Bundle::parcel().asked());
}

fn digest(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold("sha256:".to_owned(), |text, byte| text + &format!("{byte:02x}"))
}

fn a_files_link_opens_the_bytes_of_its_digest(org: &Org) {
    let bundle = Bundle::parcel();
    org.provide(&bundle);
    for (id, path, media) in [
        ("scales", "resources/scales.md", "text/markdown"),
        ("resources/scales.md", "resources/scales.md", "text/markdown"),
        ("tariff", "resources/tariff.csv", "text/csv"),
        ("skill.declare-parcel", "skills/declare/SKILL.md", "text/markdown"),
        ("schema.carriers.input", "schemas/carriers-request.json", "application/schema+json"),
    ] {
        let located = org.agent.ok("locate_resource", json!({ "provider": PARCEL, "id": id }));
        assert_eq!(located["provider"], bundle.asked());
        let location = &located["location"];
        assert_eq!((&location["filePath"], &location["mediaType"]), (&json!(path), &json!(media)), "{id}");
        let opened = anonymous("GET", located["url"].as_str().unwrap(), None);
        assert_eq!(opened.status, 200, "{id}: {}", opened.text());
        assert_eq!(opened.body, bundle.files[path], "{id}");
        assert_eq!(located["path"], path, "{id}");
        assert_eq!(located["digest"], digest(&opened.body), "{id}");
        assert_eq!(location["digest"], located["digest"], "{id}");
        let kind = opened.headers["content-type"].to_str().unwrap();
        // A schema opens as the JSON it is.
        assert!(kind.starts_with(media) || kind == "application/json", "{id}: {kind}");
    }
}

fn a_link_opens_one_file_and_only_whole() {
    let org = Org::new(&Server::shared(), "provider-links");
    org.provide(&Bundle::parcel());
    let locate = |id: &str| org.agent.ok("locate_resource", json!({ "provider": PARCEL, "id": id }))["url"].clone();
    let (scales, tariff) = (locate("scales"), locate("tariff"));
    let (scales, tariff) = (scales.as_str().unwrap(), tariff.as_str().unwrap());
    let (bare, signature) = scales.split_once('?').unwrap();
    let other = format!("{}?{signature}", tariff.split_once('?').unwrap().0);
    for bad in [bare, &other, &scales[..scales.len() - 1]] {
        let opened = anonymous("GET", bad, None);
        assert!((400..500).contains(&opened.status), "{bad}: {}", opened.status);
        assert!(!opened.text().contains("euros") && !opened.text().contains("stands still"), "{bad}");
    }
    for method in ["PUT", "DELETE", "POST"] {
        let status = anonymous(method, scales, None).status;
        assert!((400..500).contains(&status), "{method}: {status}");
    }
    assert_eq!(anonymous("GET", scales, None).status, 200);
}

fn each_kind_of_resource_has_its_location(org: &Org) {
    org.provide(&Bundle::parcel());
    let locate = |id: &str| org.agent.ok("locate_resource", json!({ "provider": PARCEL, "id": id }));
    let made = locate("stock");
    assert_eq!(made["location"]["schema"], "agent-graph.resource-location.graph-action.v1");
    assert_eq!(made["location"]["materialize"], json!({ "resourceId": "stock" }));
    let hosted = locate("carriers");
    assert_eq!(hosted["location"]["schema"], "agent-graph.resource-location.host-action.v1");
    let input = json!({
        "schema": "acme.carriers-request/v1", "value": { "protocol": "acme.carriers-request/v1", "country": "FI" },
    });
    assert_eq!(hosted["location"]["materialize"]["input"], input);
    assert_eq!(hosted["location"]["materialize"]["handler"], "parcel.carriers/v1");
    assert_eq!(hosted["location"]["materialize"]["output_schema"], "acme.carriers/v1");
    // The file of what an action makes is that action, which says how.
    for (made, path) in [(made, "actions/stock.yaml"), (hosted, "actions/carriers.yaml")] {
        opens(&made, path);
    }
}

/// That a located file is this one, and opens.
#[track_caller]
fn opens(located: &Value, path: &str) {
    let bytes = &Bundle::parcel().files[path];
    assert_eq!((&located["path"], &located["digest"]), (&json!(path), &json!(digest(bytes))));
    assert_eq!(anonymous("GET", located["url"].as_str().unwrap(), None).body, *bytes, "{path}");
}

fn any_file_of_a_bundle_is_located_by_its_path(org: &Org) {
    let bundle = Bundle::parcel();
    org.provide(&bundle);
    // From a route to the script that it runs, as an agent elsewhere fetches it.
    let state = json!({ "provider": PARCEL, "graph": "parcel", "entry": "again" });
    let route = org.agent.ok("get_route", state)["route"].clone();
    let script = route["commandPlan"][0]["entry"].as_str().unwrap_or("scripts/send.sh").to_owned();
    for path in [script.as_str(), "actions/send.yaml", "graphs/parcel.yaml", "provider.yaml"] {
        let located = org.agent.ok("locate_resource", json!({ "provider": PARCEL, "id": path }));
        assert_eq!((&located["provider"], located.get("location")), (&bundle.asked(), None), "{path}");
        opens(&located, path);
    }
}

fn what_is_not_there_is_not_found(org: &Org) {
    let bundle = Bundle::parcel();
    org.provide(&bundle);
    let unknown = format!("sha256:{}", "0".repeat(64));
    let ask = |more: Value| {
        let mut arguments = json!({ "provider": PARCEL, "graph": "parcel" });
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        org.agent.call("evaluate_graph", arguments)
    };
    for more in [
        json!({ "provider": "acme/other" }),
        json!({ "provider": "../acme/parcel" }),
        json!({ "provider": "\u{0}" }),
        json!({ "provider": "" }),
        json!({ "version": "1.0.1" }),
        json!({ "version": "latest" }),
        json!({ "digest": unknown }),
        json!({ "digest": bundle.digest.trim_start_matches("sha256:") }),
    ] {
        refused_as(ask(more), "not_found");
    }
    let missing = refused_as(ask(json!({ "graph": "letter" })), "not_found");
    assert!(missing.issues[0].starts_with("graph-missing: ") && missing.message.contains("customs"), "{missing:?}");
    let missing = refused_as(ask(json!({ "entry": "side" })), "not_found");
    assert!(missing.issues[0].starts_with("entry-missing: ") && missing.message.contains("again"), "{missing:?}");
    // What a start is refused for is what an evaluation would have been.
    for (graph, entry) in [("letter", "default"), ("parcel", "side")] {
        let start = json!({ "provider": PARCEL, "graph": graph, "entry": entry });
        let start = refused_as(org.agent.call("start_graph_run", start), "not_found");
        let asked = refused_as(ask(json!({ "graph": graph, "entry": entry })), "not_found");
        assert_eq!((start.message, start.issues), (asked.message, asked.issues));
    }
    let locate = |id: &str| org.agent.call("locate_resource", json!({ "provider": PARCEL, "id": id }));
    for id in ["nothing", "manifest.json", "resources", "../resources/scales.md"] {
        let missing = refused_as(locate(id), "not_found");
        assert!(missing.issues[0].starts_with("resource-missing: "), "{id}: {missing:?}");
    }
    let both = json!({ "provider": PARCEL, "id": "scales", "version": "1.0.0", "digest": bundle.digest });
    refused(org.agent.call("locate_resource", both), "invalid", &["digest: not together with version"]);
    let both = json!({ "provider": PARCEL, "graph": "parcel", "version": "1.0.0", "digest": bundle.digest });
    refused(org.agent.call("start_graph_run", both), "invalid", &["digest: not together with version"]);
}
