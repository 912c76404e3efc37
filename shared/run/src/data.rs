//! Run data as everybody reads it (core §3.1), its snapshot, and its size.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{Decided, Evidence, Record, Run, Status, StepState, Time, Verdict, canonical};

/// `data` of a run view: inputs, and what every step recorded.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct RunData {
    /// What the run started with.
    pub inputs: Map<String, Value>,
    /// By step id: completed and failed steps, rewound ones with their history alone, and those whose check waits on a
    /// person.
    pub steps: Ordered<StepData>,
}

/// An object whose keys keep their order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ordered<T>(pub Vec<(String, T)>);

impl<T> Ordered<T> {
    /// The value under this key.
    pub fn get(&self, key: &str) -> Option<&T> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }
}

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(k, v)| (k, v)))
    }
}

impl<T: schemars::JsonSchema> schemars::JsonSchema for Ordered<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Ordered_{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let inner = generator.subschema_for::<T>();
        schemars::json_schema!({ "type": "object", "additionalProperties": inner })
    }
}

/// What one step recorded.
#[derive(Debug, Clone, PartialEq, Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct StepData {
    /// The current completion; no field of it on a rewound step.
    #[serde(flatten)]
    pub current: Completion,
    /// Earlier completions, oldest first.
    pub history: Vec<Completion>,
}

/// The fields of one completion; which of them are there depends on the kind of the step.
#[derive(Debug, Clone, PartialEq, Default, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct Completion {
    /// The submitted output, or the event's data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Map<String, Value>>,
    /// What was attached.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Vec<EvidenceShown>>,
    /// What the work came to, as whoever submitted it tells it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The chosen route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Why that route.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// `approved`, `rejected` or `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decided>,
    /// The note of the decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The verdict of the check on what was submitted; while a check is unsure and waits on a person, that verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<Verdict>,
    /// Who completed it: a subject, or `server`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// When.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Time>,
}

/// An evidence item in run data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct EvidenceShown {
    /// `file` or `link`.
    pub kind: ShownKind,
    /// The upload's id, or the link as stated.
    pub r#ref: String,
    /// SHA-256 of the file's bytes, lower-case hex.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// A short-lived link that opens the file; made anew on every read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What the link needs to know; never shown.
    #[serde(skip)]
    pub file: Option<(String, String)>,
}

/// The kind of an evidence item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum ShownKind {
    /// An uploaded file.
    File,
    /// A URL or document number.
    Link,
}

impl RunData {
    /// The data of a run, steps in the order of `order` (the file's). No URLs yet.
    pub fn of<'a>(run: &Run, order: impl Iterator<Item = &'a str>) -> RunData {
        let mut steps = Vec::new();
        for id in order {
            if let Some(data) = run.step(id).and_then(StepData::of) {
                steps.push((id.to_owned(), data));
            }
        }
        RunData { inputs: run.inputs.clone(), steps: Ordered(steps) }
    }

    /// SHA-256 over the data without URLs: what a decision must still be true of (core §3.4).
    pub fn snapshot(&self) -> String {
        canonical::digest(&self.value())
    }

    /// Bytes of the data as JSON, what `limits.runDataBytes` bounds (core §6.3). Notes of decisions do not count.
    pub fn bytes(&self) -> usize {
        let mut data = self.clone();
        for (_, step) in &mut data.steps.0 {
            step.current.note = None;
            step.history.iter_mut().for_each(|c| c.note = None);
        }
        canonical::canonical(&data.value()).len()
    }

    /// Every file item, with its name and media type in `file`: to be given a fresh `url`.
    pub fn files_mut(&mut self) -> impl Iterator<Item = &mut EvidenceShown> {
        self.steps
            .0
            .iter_mut()
            .flat_map(|(_, s)| std::iter::once(&mut s.current).chain(s.history.iter_mut()))
            .flat_map(|c| c.evidence.iter_mut().flatten())
            .filter(|e| e.file.is_some())
    }

    /// As JSON, without a URL.
    pub(crate) fn value(&self) -> Value {
        let mut data = self.clone();
        data.files_mut().for_each(|e| e.url = None);
        // These types have string keys and nothing that fails to serialize.
        serde_json::to_value(&data).unwrap_or(Value::Null)
    }
}

/// Bytes of run data (see [`RunData::bytes`]).
pub fn data_bytes(run: &Run) -> usize {
    RunData::of(run, run.steps.keys().map(String::as_str)).bytes()
}

/// The snapshot of run data (see [`RunData::snapshot`]).
pub fn snapshot(run: &Run) -> String {
    RunData::of(run, run.steps.keys().map(String::as_str)).snapshot()
}

impl StepData {
    /// `None` for a step that has nothing to show: never completed, or recording nothing.
    fn of(step: &StepState) -> Option<StepData> {
        let unsure = step.escalation().and_then(|e| e.check.as_deref());
        let recorded = step.current.is_some() || !step.history.is_empty() || step.status == Some(Status::Failed);
        if !recorded && unsure.is_none() {
            return None;
        }
        let mut current = step.current.as_ref().map(Completion::of).unwrap_or_default();
        if let Some(verdict) = unsure {
            // While a person is asked, even where an earlier completion has a verdict of its own (check-1).
            current.check = Some(verdict.clone());
        }
        Some(StepData { current, history: step.history.iter().map(Completion::of).collect() })
    }
}

impl Completion {
    fn of(record: &Record) -> Completion {
        Completion {
            output: record.output.clone(),
            evidence: record.evidence.as_ref().map(|list| list.iter().map(EvidenceShown::of).collect()),
            summary: record.summary.clone(),
            next: record.next.clone(),
            reason: record.reason.clone(),
            decision: record.decision,
            note: record.note.clone(),
            check: record.check.as_deref().cloned(),
            by: Some(record.by.clone()),
            at: Some(record.at),
        }
    }
}

impl EvidenceShown {
    pub(crate) fn of(evidence: &Evidence) -> EvidenceShown {
        match evidence {
            Evidence::Link { r#ref } => {
                EvidenceShown { kind: ShownKind::Link, r#ref: r#ref.clone(), sha256: None, url: None, file: None }
            }
            Evidence::File(f) => EvidenceShown {
                kind: ShownKind::File,
                r#ref: f.r#ref.clone(),
                sha256: Some(f.sha256.clone()),
                url: None,
                file: Some((f.file_name.clone(), f.content_type.clone())),
            },
        }
    }
}
