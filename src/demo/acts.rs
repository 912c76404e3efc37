//! What is played, in five acts, and what each call must come to.

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::PROCESS;
use super::cast::{Cast, FINANCE, Player};
use super::scene::{Scene, expect, text};
use crate::client::{at, http_client, request_id};

const FIRST_REPORT: &[u8] = b"Screening report\n\nNordlys Kabel AS, Bergen\nLists searched: EU, UN\nHits: none\n";
const SECOND_REPORT: &[u8] = b"Screening report, second round\n\nNordlys Kabel AS, Bergen\nLists searched: EU, UN, \
OFAC\nDirectors: Ingrid Aas, Jonas Lie\nHits: one namesake of J. Lie, born 1931; not the director, born 1978\n";

const REJECTION: &str = "The directors were not searched. Search them too, and the OFAC list.";
const PROGRESS: &str = "EU and UN lists done for both directors; OFAC is open.";
const QUESTION: &str = "OFAC names a Jonas Lie. I cannot see his year of birth; may I order an extract?";
const ANSWER: &str = "The extract says 1978. The listed one was born in 1931.";

/// Plays everything and returns the run view at its end.
pub(super) async fn play(scene: &mut Scene, cast: &Cast) -> anyhow::Result<Value> {
    publish(scene, cast).await?;
    let run = start(scene, cast).await?;
    first_round(scene, cast, &run).await?;
    rejection(scene, cast, &run).await?;
    second_round(scene, cast, &run).await?;
    approval(scene, cast, &run).await
}

async fn publish(scene: &mut Scene, cast: &Cast) -> anyhow::Result<()> {
    scene.part("1  An operator publishes the process");
    let import = json!({ "source": PROCESS, "folder": "supplier-onboarding", "requestId": request_id() });
    let draft = scene.call(&cast.olga, "import_process", import).await?;
    expect("roles of the draft", at(&draft, "/roles"), &json!(["finance"]))?;
    scene.note(&format!("a draft; role to bind: finance; requires {}", at(&draft, "/requires/systems")));
    let publish = json!({ "name": "supplier-onboarding", "roles": { "finance": FINANCE }, "requestId": request_id() });
    let version = scene.call(&cast.olga, "publish_process", publish).await?;
    expect("the version", at(&version, "/version"), &json!(1))?;
    let document = process::read(PROCESS.as_bytes()).document.context("the example should be well-formed")?;
    expect("the content hash", text(&version, "/hash")?, process::content_hash(&document).as_str())?;
    scene.note(&format!("version 1, content hash {}", text(&version, "/hash")?));
    Ok(())
}

async fn start(scene: &mut Scene, cast: &Cast) -> anyhow::Result<String> {
    scene.part("2  A colleague starts a run, an agent finds work");
    // Written with its last zero, which must still be there at the end.
    let spend: Value = serde_json::from_str("48000.50")?;
    let inputs = json!({
        "company": "Nordlys Kabel AS", "country": "Norway", "yearlySpend": spend, "contact": "mira@example.com",
    });
    let wrong = json!({ "company": 7, "colour": "red" });
    let start = json!({ "process": "supplier-onboarding", "inputs": wrong, "requestId": request_id() });
    let refused = scene.refused(&cast.mira, "start_run", start, "invalid").await?;
    expect("faults of the inputs", refused.issues.len(), 4)?;
    let start = json!({ "process": "supplier-onboarding", "inputs": inputs, "requestId": request_id() });
    let view = scene.call(&cast.mira, "start_run", start).await?;
    expect("the run's state", text(&view, "/run/state")?, "active")?;
    let run = text(&view, "/run/id")?.to_owned();

    let work = scene.call(&cast.screener, "get_work", json!({})).await?;
    expect("the step to claim", at(&work, "/items/0/stepId"), &json!("screen"))?;
    expect("the run to claim in", at(&work, "/items/0/runId"), &json!(run))?;
    expect("what was left behind", at(&work, "/items/0/handoff"), &Value::Null)?;
    scene.note(&format!("one step is ready; the call to make: {}", at(&work, "/items/0/claim")));
    Ok(run)
}

async fn first_round(scene: &mut Scene, cast: &Cast, run: &str) -> anyhow::Result<()> {
    scene.part("3  The agent works: a lost answer, a longer lease, a submission that is not accepted");
    let claim = json!({ "runId": run, "stepId": "screen", "requestId": request_id() });
    let claimed = scene.call(&cast.screener, "claim", claim.clone()).await?;
    scene.claimed("screen");
    let again = scene.call(&cast.screener, "claim", claim).await?;
    expect("the token of the repeated claim", text(&again, "/token")?, text(&claimed, "/token")?)?;
    expect("the expiry of the repeated claim", text(&again, "/expiresAt")?, text(&claimed, "/expiresAt")?)?;
    scene.note("as if the answer had been lost: the same requestId gets the same token again");
    let other = json!({ "runId": run, "stepId": "screen", "requestId": request_id() });
    let refused = scene.refused(&cast.stand_in, "claim", other, "conflict").await?;
    expect("why another agent cannot claim", refused.issues, vec!["claimed_by_other".to_owned()])?;

    let old = text(&claimed, "/token")?.to_owned();
    let renew = json!({ "token": old, "progress": "Register read; lists next.", "requestId": request_id() });
    let renewed = scene.call(&cast.screener, "renew", renew).await?;
    let token = text(&renewed, "/token")?.to_owned();
    scene.note(&format!("a new token, good until {}; the progress is kept", text(&renewed, "/expiresAt")?));
    let renew = json!({ "token": old, "requestId": request_id() });
    scene.refused(&cast.screener, "renew", renew, "stale").await?;

    let careless = json!({
        "token": token, "summary": " ", "requestId": request_id(),
        "output": { "listed": "no", "risk": "tiny", "colour": "red" },
    });
    let refused = scene.refused(&cast.screener, "submit", careless, "not_accepted").await?;
    expect("issues of the careless submission", refused.issues.len(), 8)?;
    for part in
        ["summary", "output.listed", "output.risk", "output.directors", "output.colour", "evidence", "next", "reason"]
    {
        let named = refused.issues.iter().any(|issue| issue.starts_with(part));
        expect(&format!("an issue about {part}"), named, true)?;
    }

    let report = upload(scene, &cast.screener, "screening.txt", FIRST_REPORT).await?;
    let submit = json!({
        "token": token, "requestId": request_id(),
        "output": { "listed": false, "risk": "low", "directors": [] },
        "evidence": [{ "kind": "file", "ref": report }],
        "summary": "Searched the EU and UN lists for the legal name. No hits. Directors not searched.",
        "next": "approve", "reason": "No list names the company.",
    });
    let view = scene.call(&cast.screener, "submit", submit).await?;
    expect("the run's state", text(&view, "/run/state")?, "waiting")?;
    expect("whose turn it is", at(&view, "/workItems/0/assignedTo/group"), &json!(FINANCE))
}

async fn rejection(scene: &mut Scene, cast: &Cast, run: &str) -> anyhow::Result<()> {
    scene.part("4  Finance looks, and sends it back");
    let work = scene.call(&cast.frida, "get_work", json!({})).await?;
    expect("what finance is asked", at(&work, "/items/0/workItem/stepId"), &json!("approve"))?;
    let decisions = at(&work, "/items/0/workItem/decide/decisions");
    expect("the decisions", decisions, &json!(["approved", "rejected", "failed"]))?;
    scene.note(&format!("one work item; decisions: {decisions}"));
    let view = scene.call(&cast.frida, "get_run", json!({ "runId": run })).await?;
    open_evidence(scene, &view, FIRST_REPORT).await?;

    let decision = decision(at(&work, "/items/0/workItem/decide/arguments"), "approved", None)?;
    scene.refused(&cast.screener, "decide", decision, "forbidden").await?;
    let decision = self::decision(at(&work, "/items/0/workItem/decide/arguments"), "rejected", None)?;
    scene.refused(&cast.frida, "decide", decision, "invalid").await?;
    let decision = self::decision(at(&work, "/items/0/workItem/decide/arguments"), "rejected", Some(REJECTION))?;
    let view = scene.call(&cast.frida, "decide", decision.clone()).await?;
    expect("the run's state", text(&view, "/run/state")?, "active")?;
    expect("the note of the rejection", text(&view, "/data/steps/approve/note")?, REJECTION)?;
    // The colleague in the group who decides the same item a moment later.
    let mut late = decision;
    if let Some(late) = late.as_object_mut() {
        late.insert("requestId".to_owned(), json!(request_id()));
    }
    let refused = scene.refused(&cast.felix, "decide", late, "conflict").await?;
    expect("why the second decision does not count", refused.issues, vec!["already_decided".to_owned()])
}

async fn second_round(scene: &mut Scene, cast: &Cast, run: &str) -> anyhow::Result<()> {
    scene.part("5  The second round: the note, an agent that cannot go on, a handoff");
    let claim = json!({ "runId": run, "stepId": "screen", "requestId": request_id() });
    let claimed = scene.call(&cast.stand_in, "claim", claim).await?;
    scene.claimed("screen");
    expect("the note that the second round answers", text(&claimed, "/data/steps/approve/note")?, REJECTION)?;
    scene.note(&format!("it reads finance's note: {REJECTION}"));
    let renew = json!({ "token": text(&claimed, "/token")?, "progress": PROGRESS, "requestId": request_id() });
    let renewed = scene.call(&cast.stand_in, "renew", renew).await?;
    scene.note("a new token; the progress is kept");
    let escalate = json!({ "token": text(&renewed, "/token")?, "note": QUESTION, "requestId": request_id() });
    scene.call(&cast.stand_in, "escalate", escalate).await?;

    let work = scene.call(&cast.olga, "get_work", json!({})).await?;
    expect("what the agent asks", at(&work, "/items/0/workItem/escalation/note"), &json!(QUESTION))?;
    scene.note(&format!("the escalation: {QUESTION}"));
    let decision = decision(at(&work, "/items/0/workItem/decide/arguments"), "returned", Some(ANSWER))?;
    scene.call(&cast.olga, "decide", decision).await?;

    let work = scene.call(&cast.screener, "get_work", json!({})).await?;
    let handoff = at(&work, "/items/0/handoff");
    expect("the progress that was left", at(handoff, "/progress"), &json!(PROGRESS))?;
    expect("the answer of the operator", at(handoff, "/returned/note"), &json!(ANSWER))?;
    scene.note(&format!("the handoff: {handoff}"));
    let claim = json!({ "runId": run, "stepId": "screen", "requestId": request_id() });
    let claimed = scene.call(&cast.screener, "claim", claim).await?;
    scene.claimed("screen");
    expect("the handoff of the claim", at(&claimed, "/handoff"), handoff)?;
    let report = upload(scene, &cast.screener, "screening-2.txt", SECOND_REPORT).await?;
    let submit = json!({
        "token": text(&claimed, "/token")?, "requestId": request_id(),
        "output": {
            "listed": false, "risk": "low", "directors": ["Ingrid Aas", "Jonas Lie"],
            "remarks": "One namesake on the OFAC list, told apart by year of birth.",
        },
        "evidence": [{ "kind": "file", "ref": report }, { "kind": "link", "ref": "https://register.example/no/914" }],
        "summary": "Searched EU, UN and OFAC for the company and both directors. One namesake, born 1931.",
        "next": "approve", "reason": "Nobody of the company is on a list.",
    });
    let view = scene.call(&cast.screener, "submit", submit).await?;
    let rounds = at(&view, "/data/steps/screen/history").as_array().map_or(0, Vec::len);
    expect("earlier rounds in the history", rounds, 1)
}

async fn approval(scene: &mut Scene, cast: &Cast, run: &str) -> anyhow::Result<Value> {
    scene.part("6  Finance approves, and the run ends");
    let work = scene.call(&cast.felix, "get_work", json!({})).await?;
    scene.note("the work item of the second round, with a snapshot of its own");
    let view = scene.call(&cast.felix, "get_run", json!({ "runId": run })).await?;
    open_evidence(scene, &view, SECOND_REPORT).await?;
    let decision = decision(at(&work, "/items/0/workItem/decide/arguments"), "approved", None)?;
    let view = scene.call(&cast.felix, "decide", decision).await?;
    expect("the run's state", text(&view, "/run/state")?, "ended")?;
    expect("the outcome", text(&view, "/run/outcome")?, "onboarded")?;
    let cancel = json!({ "runId": run, "reason": "Too late.", "requestId": request_id() });
    let refused = scene.refused(&cast.olga, "cancel", cancel, "conflict").await?;
    expect("why it cannot be cancelled", refused.issues, vec!["run_ended".to_owned()])?;
    let view = scene.call(&cast.mira, "get_run", json!({ "runId": run })).await?;
    expect("the number as it was written", at(&view, "/data/inputs/yearlySpend").to_string(), "48000.50".to_owned())?;
    scene.note("the run as it stays: 48000.50 is still 48000.50");
    Ok(view)
}

/// The call that a work item shows, with what the person adds.
fn decision(shown: &Value, decision: &str, note: Option<&str>) -> anyhow::Result<Value> {
    let mut call = shown.as_object().cloned().context("a work item should show the call to make")?;
    call.insert("requestId".to_owned(), json!(request_id()));
    call.insert("decision".to_owned(), json!(decision));
    if let Some(note) = note {
        call.insert("note".to_owned(), json!(note));
    }
    Ok(Value::Object(call))
}

async fn upload(scene: &mut Scene, who: &Player, name: &str, bytes: &[u8]) -> anyhow::Result<String> {
    let upload = json!({
        "fileName": name, "contentType": "text/plain", "contentBase64": STANDARD.encode(bytes),
        "requestId": request_id(),
    });
    let stored = scene.call(who, "upload", upload).await?;
    expect("the hash of the upload", text(&stored, "/sha256")?, sha256(bytes).as_str())?;
    scene.note(&format!("{} bytes, sha256 {}", bytes.len(), text(&stored, "/sha256")?));
    Ok(text(&stored, "/id")?.to_owned())
}

/// Opens the link to the current evidence as a browser does, without a token, and compares the bytes.
async fn open_evidence(scene: &Scene, view: &Value, expected: &[u8]) -> anyhow::Result<()> {
    let evidence = at(view, "/data/steps/screen/evidence/0");
    let url = reqwest::Url::parse(text(evidence, "/url")?).context("the link to the evidence should be an address")?;
    let answer = http_client(&url)?.get(url).send().await.context("the link to the evidence should open")?;
    expect("the answer to the evidence link", answer.status().as_u16(), 200)?;
    let bytes = answer.bytes().await.context("the evidence should arrive whole")?;
    expect("the bytes of the evidence", bytes.as_ref(), expected)?;
    expect("the recorded hash", text(evidence, "/sha256")?, sha256(&bytes).as_str())?;
    scene.note(&format!("the link to the report opens: {} bytes, the ones that were uploaded", bytes.len()));
    Ok(())
}

fn sha256(bytes: &[u8]) -> String {
    run::hex(&Sha256::digest(bytes))
}
