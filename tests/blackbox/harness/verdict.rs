//! What must be true of every verdict of a check that a run view shows (profile check-1).

use serde_json::Value;

/// Holds the verdicts of a run view to each other: where one waits on a person, the work item and run data show the same.
pub fn consistent(data: &Value) -> Result<(), &'static str> {
    let (steps, items) = (&data["steps"], data["workItems"].as_array().into_iter().flatten());
    let recorded = &data["data"]["steps"];
    let mut waiting = Vec::new();
    for item in items {
        let id = item["stepId"].as_str().unwrap_or_default();
        let escalation = &item["escalation"];
        if escalation.get("check").is_some() != escalation.get("candidate").is_some() {
            return Err("an escalation has a check without a candidate, or a candidate without a check");
        }
        if let Some(verdict) = escalation.get("check") {
            waiting.push(id);
            whole(verdict)?;
            if verdict["verdict"] != "unsure" || verdict["advisory"] != false {
                return Err("a check escalated a step without being unsure");
            }
            if recorded[id].get("check") != Some(verdict) {
                return Err("run data does not show the verdict that waits on a person");
            }
            let candidate = &escalation["candidate"];
            if candidate["by"] != escalation["by"] || candidate["output"].is_null() || candidate["evidence"].is_null() {
                return Err("a candidate is not whole");
            }
            opens(&candidate["evidence"])?;
        }
        if let Some(verdict) = item["handoff"].get("check") {
            whole(verdict)?;
            if !matches!(verdict["verdict"].as_str(), Some("fail" | "unsure")) || verdict["advisory"] != false {
                return Err("a handoff has a verdict that let the submission pass");
            }
        }
    }
    for (id, entry) in recorded.as_object().into_iter().flatten() {
        let history = entry["history"].as_array().into_iter().flatten();
        for completion in history.chain((!waiting.contains(&id.as_str())).then_some(entry)) {
            let Some(verdict) = completion.get("check") else { continue };
            whole(verdict)?;
            if completion.get("by").is_none() || completion.get("output").is_none() {
                return Err("a verdict is recorded where no submission completed a step");
            }
            if verdict["advisory"] == false && matches!(verdict["verdict"].as_str(), Some("fail" | "error")) {
                return Err("a step completed though its check failed");
            }
        }
    }
    let kind = |id: &str| steps.as_array().into_iter().flatten().find(|s| s["id"] == id).map(|s| s["kind"].clone());
    match waiting.iter().all(|id| kind(id).is_some_and(|kind| kind == "agent" || kind == "task")) {
        true => Ok(()),
        false => Err("a check escalated a step that takes no submission"),
    }
}

/// Holds a verdict to its own questions.
fn whole(verdict: &Value) -> Result<(), &'static str> {
    let questions = verdict["questions"].as_array().ok_or("a verdict without questions")?;
    let any = |result: &str| questions.iter().any(|q| q["result"] == result);
    let worst = if any("unsure") {
        "unsure"
    } else if any("fail") {
        "fail"
    } else {
        "pass"
    };
    let silent = verdict["verdict"] == "error";
    if questions.is_empty() || verdict["verdict"] != if silent { "error" } else { worst } {
        return Err("a verdict is not that of its worst question");
    }
    if silent && verdict["advisory"] != true {
        return Err("a check that had no answer is recorded, and was not advisory");
    }
    for question in questions {
        let share = |value: &Value| value.as_f64().is_some_and(|p| (0.0..=1.0).contains(&p));
        let sure = question.get("confidence");
        let fits = match question["kind"].as_str() {
            _ if silent => question["answer"].is_null() && question["result"] == "unsure" && sure.is_none(),
            Some("yes_no") => share(&question["answer"]) && sure.is_none(),
            Some("choice") => question["answer"].is_string() && sure.is_some_and(share),
            Some("rubric") => question["answer"].is_u64() && sure.is_some_and(share),
            _ => false,
        };
        if !fits {
            return Err("an answer is not of its question's kind");
        }
    }
    if verdict.get("truncated").is_some_and(|truncated| truncated != true) {
        return Err("a verdict says that nothing was left out, instead of saying nothing");
    }
    Ok(())
}

/// Holds every file of a candidate to having a link.
fn opens(evidence: &Value) -> Result<(), &'static str> {
    let files = evidence.as_array().into_iter().flatten().filter(|e| e["kind"] == "file");
    match files.into_iter().all(|file| file["url"].is_string() && file["sha256"].is_string()) {
        true => Ok(()),
        false => Err("a file of a candidate cannot be opened"),
    }
}
