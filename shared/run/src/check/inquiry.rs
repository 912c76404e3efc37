//! What an evaluator is shown: run data as of the write, cut to a size by leaving out whole steps (check-1).

use process::{Check, Document, Work};
use serde_json::{Map, Value};

use super::{Inquiry, Reference, Submitted};
use crate::data::{EvidenceShown, RunData};
use crate::{Context, Record, Run, StepState};

/// Bytes of `{"inputs":` and `,"steps":` and `}`.
const FRAME_BYTES: usize = 20;

impl Inquiry {
    /// The inquiry about a submission, in the form of the record that it would become.
    pub(crate) fn of(
        context: &Context<'_>,
        run: &Run,
        step: &str,
        work: &Work,
        check: &Check,
        record: &Record,
    ) -> Inquiry {
        let (data, truncated) = data(context.document, run, context.limits.check_state_bytes);
        let evidence = record.evidence.iter().flatten().map(EvidenceShown::of);
        Inquiry {
            step: step.to_owned(),
            instructions: work.instructions.clone(),
            body: context.document.body.clone(),
            data,
            truncated,
            submission: Submitted {
                output: record.output.clone().unwrap_or_default(),
                summary: record.summary.clone(),
                evidence: evidence.map(|e| Reference { kind: e.kind, r#ref: e.r#ref }).collect(),
            },
            questions: check.questions.clone(),
        }
    }
}

/// Run data within so many bytes as JSON, and whether anything had to be left out: whole steps, the one that completed
/// longest ago first; then the last inputs.
fn data(document: &Document, run: &Run, most: usize) -> (Value, bool) {
    let mut data = RunData::of(run, document.steps.iter().map(|s| s.id.as_str()));
    let mut inputs = Members::of(data.inputs.iter().map(|(name, value)| member(name, value)));
    let sizes: Vec<usize> = data.steps.0.iter().map(|(id, step)| member(id, step)).collect();
    let mut steps = Members::of(sizes.iter().copied());
    let fits = |inputs: &Members, steps: &Members| FRAME_BYTES + inputs.bytes() + steps.bytes() <= most;
    if fits(&inputs, &steps) {
        return (data.value(), false);
    }
    let mut oldest: Vec<(u32, usize)> =
        data.steps.0.iter().enumerate().map(|(n, (id, _))| (run.step(id).map_or(0, place), n)).collect();
    oldest.sort_unstable();
    let mut left_out = vec![false; sizes.len()];
    for (_, n) in oldest {
        if fits(&inputs, &steps) {
            break;
        }
        if let (Some(out), Some(size)) = (left_out.get_mut(n), sizes.get(n)) {
            *out = true;
            steps.remove(*size);
        }
    }
    let mut n = 0;
    data.steps.0.retain(|_| {
        n += 1;
        left_out.get(n - 1) != Some(&true)
    });
    for (name, value) in data.inputs.iter().rev() {
        if fits(&inputs, &steps) {
            break;
        }
        inputs.remove(member(name, value));
    }
    data.inputs = data.inputs.into_iter().take(inputs.count).collect::<Map<_, _>>();
    (data.value(), true)
}

/// When a step last completed, as its place among the run's completions; one that only waits on a person counts as last.
fn place(state: &StepState) -> u32 {
    state.current.as_ref().or(state.history.last()).map_or(u32::MAX, |record| record.seq)
}

/// Bytes of a member of a JSON object, without the comma before the next.
fn member<T: serde::Serialize>(key: &str, value: &T) -> usize {
    let bytes = |text: Result<String, serde_json::Error>| text.map_or(0, |text| text.len());
    bytes(serde_json::to_string(key)) + 1 + bytes(serde_json::to_string(value))
}

/// The members of a JSON object, by their size.
struct Members {
    count: usize,
    sum: usize,
}

impl Members {
    fn of(sizes: impl Iterator<Item = usize>) -> Members {
        sizes.fold(Members { count: 0, sum: 0 }, |all, size| Members { count: all.count + 1, sum: all.sum + size })
    }

    fn remove(&mut self, size: usize) {
        self.count -= 1;
        self.sum -= size;
    }

    /// Bytes of the object.
    fn bytes(&self) -> usize {
        2 + self.sum + self.count.saturating_sub(1)
    }
}
