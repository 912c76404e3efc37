//! Evidence (core §5): files are proven by their bytes, links are recorded as stated.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::harness::{Options, Org, Server, anonymous, refused, refused_as, scenarios};

scenarios! {
    any: [
        an_upload_tells_hash_and_size,
        a_files_link_opens_what_was_uploaded,
        links_are_signed_anew_on_every_read,
        a_link_never_stands_in_for_a_file,
        more_evidence_of_any_kind_may_be_attached,
        a_foreign_file_is_not_found,
        a_file_may_be_cited_anywhere_in_the_organization,
        what_cannot_be_stored_is_refused,
        people_upload_and_attach_too,
        the_snapshot_does_not_cover_links,
    ],
    own: [altered_bytes_are_an_issue, a_link_that_was_altered_does_not_open],
}

const SCAN: &str = "
steps:
  - { id: scan, agent: Scan., evidence: [file] }
  - { id: look, task: Look., person: clerk, evidence: [file, link] }
  - { id: end, finish: over }
";

fn file(id: &Value) -> Value {
    json!({ "kind": "file", "ref": id })
}

fn link(text: &str) -> Value {
    json!({ "kind": "link", "ref": text })
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

fn an_upload_tells_hash_and_size(org: &Org) {
    let bytes = b"\x00\x01 not only text \xff";
    let stored = org.agent.upload("ü ; \"name\".bin", bytes);
    assert_eq!(stored["sha256"], hex(bytes));
    assert_eq!(stored["bytes"], bytes.len());
    let again = org.agent.upload("ü ; \"name\".bin", bytes);
    assert_ne!(again["id"], stored["id"], "another call is another upload");
}

fn a_files_link_opens_what_was_uploaded(org: &Org) {
    let run = org.run("scans", SCAN, json!({}));
    let stored = org.agent.upload("scan.txt", b"a scan");
    let view = org.agent.work_on(&run, "scan", json!({}), json!({ "evidence": [file(&stored["id"])] }));
    let item = &view["data"]["steps"]["scan"]["evidence"][0];
    assert_eq!(item["sha256"], stored["sha256"]);
    let opened = anonymous("GET", item["url"].as_str().unwrap(), None);
    assert_eq!(opened.status, 200, "{}", opened.text());
    assert_eq!(opened.body, b"a scan");
    assert_eq!(opened.headers["content-type"], "text/plain");
    let disposition = opened.headers["content-disposition"].to_str().unwrap();
    assert!(disposition.contains("scan.txt"), "{disposition}");
    // Where run data is returned with a claim or a list, the links are there too.
    let view = org.staff.view(&run);
    assert!(view["data"]["steps"]["scan"]["evidence"][0]["url"].is_string());
}

fn links_are_signed_anew_on_every_read(org: &Org) {
    let rest = "
steps:
  - { id: scan, agent: Scan., evidence: [file] }
  - { id: more, agent: Read. }
  - { id: end, finish: over }
";
    let run = org.run("scans", rest, json!({}));
    let stored = org.agent.upload("scan.txt", b"a scan");
    let evidence = json!({ "evidence": [file(&stored["id"])] });
    let view = org.agent.work_on(&run, "scan", json!({}), evidence);
    let claimed = org.agent.claim(&run, "more");
    for data in [&view["data"], &claimed["data"], &org.agent.view(&run)["data"]] {
        let url = data["steps"]["scan"]["evidence"][0]["url"].as_str().unwrap();
        assert_eq!(anonymous("GET", url, None).status, 200);
    }
}

fn a_link_never_stands_in_for_a_file(org: &Org) {
    let run = org.run("scans", SCAN, json!({}));
    let claimed = org.agent.claim(&run, "scan");
    let stored = org.agent.upload("scan.txt", b"a scan");
    // Not even one that spells the id of an upload.
    let pretended = json!({ "evidence": [link(stored["id"].as_str().unwrap()), link("https://files.example/scan")] });
    refused(org.agent.submit(&claimed, json!({}), pretended), "not_accepted", &["evidence: file required"]);
    // Blank counts as missing, and a missing argument is told before the work is looked at.
    let blank = json!({ "evidence": [file(&stored["id"]), link("  ")] });
    refused(org.agent.submit(&claimed, json!({}), blank), "invalid", &["evidence[1].ref: missing"]);
}

fn more_evidence_of_any_kind_may_be_attached(org: &Org) {
    let rest = "steps:\n  - { id: a, agent: Do. }\n  - { id: b, finish: f }";
    let run = org.run("plain", rest, json!({}));
    let stored = org.agent.upload("a.txt", b"a");
    let evidence = json!([link("DOC-1"), file(&stored["id"]), link("https://x.example"), file(&stored["id"])]);
    let ended = org.agent.work_on(&run, "a", json!({}), json!({ "evidence": evidence }));
    let recorded = ended["data"]["steps"]["a"]["evidence"].as_array().unwrap();
    let kinds: Vec<&str> = recorded.iter().map(|e| e["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["link", "file", "link", "file"], "as attached");
    assert_eq!(recorded[0], link("DOC-1"), "a link is recorded as stated, with nothing added");
}

fn a_foreign_file_is_not_found(org: &Org) {
    let foreign = org.foreign();
    let theirs = foreign.agent.upload("secret.txt", b"theirs");
    let run = org.run("scans", SCAN, json!({}));
    let claimed = org.agent.claim(&run, "scan");
    for id in [theirs["id"].as_str().unwrap(), "f_000", "../../keys/claims", "f_..%2f..%2fkeys%2fcl"] {
        let evidence = json!({ "evidence": [{ "kind": "file", "ref": id }] });
        let issue = format!("evidence {id}: not found");
        refused(org.agent.submit(&claimed, json!({}), evidence), "not_accepted", &[&issue]);
    }
}

fn a_file_may_be_cited_anywhere_in_the_organization(org: &Org) {
    let stored = org.staff.upload("a.txt", b"by a person, before any run");
    for _ in 0..2 {
        let run = org.run("scans", SCAN, json!({}));
        org.agent.work_on(&run, "scan", json!({}), json!({ "evidence": [file(&stored["id"])] }));
    }
}

fn what_cannot_be_stored_is_refused(org: &Org) {
    let upload = |content: &str| {
        org.agent.call("upload", json!({ "fileName": "a", "contentType": "b/c", "contentBase64": content }))
    };
    for bad in ["no base64!", "aGVsbG8", "aGVs bG8=", "aGVsbG8=\n"] {
        let error = refused_as(upload(bad), "invalid");
        assert!(error.issues[0].starts_with("contentBase64:"), "{bad}: {error:?}");
    }
    refused_as(upload(""), "invalid");
    let described = org.agent.ok("describe", json!({}));
    let limit = usize::try_from(described["maxUploadBytes"].as_u64().unwrap()).unwrap();
    if limit <= 16 * 1024 * 1024 {
        use base64::Engine;
        let text = base64::engine::general_purpose::STANDARD.encode(vec![b'x'; limit + 1]);
        let error = refused_as(upload(&text), "invalid");
        assert!(error.issues[0].contains(&limit.to_string()), "{error:?}");
        assert!(error.issues[0].contains(&(limit + 1).to_string()), "{error:?}");
    }
}

fn people_upload_and_attach_too(org: &Org) {
    let run = org.run("scans", SCAN, json!({}));
    let scan = org.agent.upload("scan.txt", b"a scan");
    org.agent.work_on(&run, "scan", json!({}), json!({ "evidence": [file(&scan["id"])] }));
    refused(
        org.staff.try_decide(&run, "look", "completed", json!({ "output": {} })),
        "not_accepted",
        &["evidence: file required", "evidence: link required"],
    );
    let own = org.staff.upload("photo.txt", b"a photo");
    let evidence = json!([file(&own["id"]), link("shelf 7")]);
    let ended = org.staff.decide(&run, "look", "completed", json!({ "evidence": evidence }));
    assert_eq!(ended["data"]["steps"]["look"]["evidence"][0]["sha256"], own["sha256"]);
}

fn the_snapshot_does_not_cover_links(org: &Org) {
    let run = org.run("scans", SCAN, json!({}));
    let stored = org.agent.upload("scan.txt", b"a scan");
    let first = org.agent.work_on(&run, "scan", json!({}), json!({ "evidence": [file(&stored["id"])] }));
    crate::harness::pass(1_100);
    let second = org.staff.view(&run);
    assert_eq!(first["workItems"][0]["snapshot"], second["workItems"][0]["snapshot"]);
    let url = |view: &Value| view["data"]["steps"]["scan"]["evidence"][0]["url"].clone();
    assert_ne!(url(&first), url(&second), "a second later the link is signed anew");
}

/// Edits the stored bytes of one file behind the server's back.
pub(super) fn alter(server: &Server, from: &[u8], to: &[u8]) {
    let mut edited = 0;
    let mut folders = vec![server.data().join("evidence")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let mut bytes = std::fs::read(entry.path()).unwrap();
            if let Some(at) = bytes.windows(from.len()).position(|w| w == from) {
                bytes[at..at + to.len()].copy_from_slice(to);
                std::fs::write(entry.path(), bytes).unwrap();
                edited += 1;
            }
        }
    }
    assert_eq!(edited, 1, "the file was found");
}

fn altered_bytes_are_an_issue() {
    let server = Server::start(Options::default());
    let org = Org::new(&server, "tampering");
    let run = org.run("scans", SCAN, json!({}));
    let claimed = org.agent.claim(&run, "scan");
    let stored = org.agent.upload("scan.txt", b"the original");
    let evidence = json!({ "evidence": [file(&stored["id"])] });
    let id = stored["id"].as_str().unwrap();
    alter(&server, b"the original", b"the falsehoo");
    let error = refused_as(org.agent.submit(&claimed, json!({}), evidence.clone()), "not_accepted");
    assert_eq!(error.issues.len(), 1, "{error:?}");
    assert!(error.issues[0].starts_with(&format!("evidence {id}: ")), "{error:?}");
    assert!(!error.issues[0].ends_with("not found"), "an altered file is told from a missing one");
    let good = org.agent.upload("scan.txt", b"another one");
    org.agent.submit(&claimed, json!({}), json!({ "evidence": [file(&good["id"])] })).unwrap();
}

fn a_link_that_was_altered_does_not_open() {
    let org = Org::new(&Server::brief(), "links");
    let rest = "steps:\n  - { id: a, agent: Do., evidence: [file] }\n  - { id: b, finish: f }";
    let run = org.run("plain", rest, json!({}));
    let foreign = org.foreign();
    let theirs = foreign.agent.upload("a.txt", b"theirs");
    let ours = org.agent.upload("a.txt", b"ours");
    let view = org.agent.work_on(&run, "a", json!({}), json!({ "evidence": [file(&ours["id"])] }));
    let url = view["data"]["steps"]["a"]["evidence"][0]["url"].as_str().unwrap();
    assert_eq!(anonymous("GET", url, None).status, 200);
    let other = url.replace(ours["id"].as_str().unwrap(), theirs["id"].as_str().unwrap());
    assert_ne!(other, url);
    let bare = url.split('?').next().unwrap();
    for bad in [other.as_str(), bare, &url[..url.len() - 1]] {
        let opened = anonymous("GET", bad, None);
        assert!((400..500).contains(&opened.status), "{bad}: {}", opened.status);
        assert!(!opened.text().contains("ours") && !opened.text().contains("theirs"));
    }
    for method in ["PUT", "DELETE", "POST"] {
        let status = anonymous(method, url, None).status;
        assert!((400..500).contains(&status), "{method}: {status}");
    }
    assert_eq!(anonymous("GET", url, None).body, b"ours");
}
