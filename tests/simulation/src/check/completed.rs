//! A completion: by whom, when, of what, and where the run goes from there (core §3.1, §3.2, §6.3).

use process::{Document, Kind, Next};
use run::{Decided, Entry, Record, Time};

use super::Known;
use super::accept;
use super::escalated::verdict_allows;
use super::follow::{Checked, Follow, by_person, must};

impl Follow {
    pub(super) fn completed(
        &mut self,
        document: &Document,
        entry: &Entry,
        step: &str,
        record: &Record,
        request: Option<&Known>,
    ) -> Checked {
        let moving = self.is_moving();
        let (declared, open) = self.closing(document, step)?;
        let since = open.since;
        must(record.at <= entry.at && record.at >= since, || "completed at another time".to_owned())?;
        // Between the moves of one transition only an event that was held completes anything.
        must(!moving || matches!(declared.kind, Kind::WaitFor { .. }), || "other steps are due first".to_owned())?;
        let by_caller = || must(record.by == entry.by, || "completed by somebody else".to_owned());
        let mut next = None;
        match &declared.kind {
            Kind::Agent(work) | Kind::Task { work, .. } => {
                by_caller()?;
                let by_agent = matches!(declared.kind, Kind::Agent(_)) && !open.escalated;
                if by_agent {
                    must(entry.tool == "submit" && entry.by.starts_with('a'), || "not an agent's".to_owned())?;
                } else {
                    by_person(&open, entry, record)?;
                }
                let wrong = accept::wrong(work, record, by_agent);
                must(wrong.is_empty(), || format!("accepted though {wrong:?}"))?;
                verdict_allows(work, &open, entry, record, request)?;
                next = match &work.next {
                    Next::To(id) => Some(id),
                    Next::Routes(_) => record.next.as_ref(),
                };
            }
            Kind::Approve { next: approved, on_reject, .. } => {
                by_caller()?;
                by_person(&open, entry, record)?;
                match (record.decision, on_reject) {
                    (Some(Decided::Approved), _) => next = Some(approved),
                    (Some(Decided::Rejected), None) => self.outcome = Some("rejected".to_owned()),
                    // A rejection into a finish completes the approval: nothing will enter it again.
                    (Some(Decided::Rejected), Some(target))
                        if matches!(document.step(target).map(|s| &s.kind), Some(Kind::Finish { .. })) =>
                    {
                        next = Some(target);
                    }
                    _ => return Err("an approval without a decision".to_owned()),
                }
            }
            Kind::Wait { span, next: after } => {
                let right = record.by == run::SERVER && record.at == since.plus_seconds(span.seconds);
                must(right, || "waited another time".to_owned())?;
                next = Some(after);
            }
            Kind::WaitUntil { path, next: after } => {
                let until = self.value(path).and_then(|v| v.as_str()).and_then(Time::parse);
                let right = record.by == run::SERVER && until.is_some_and(|u| record.at == u.max(since));
                must(right, || format!("waited until {until:?}"))?;
                next = Some(after);
            }
            Kind::WaitFor { next: after, on_timeout, timeout, .. } => {
                let timed_out = record.output.is_none();
                if timed_out {
                    let end = timeout.map(|t| since.plus_seconds(t.seconds));
                    must(record.by == run::SERVER && end == Some(record.at), || "timed out wrong".to_owned())?;
                }
                next = Some(if timed_out { on_timeout } else { after });
            }
            Kind::Finish { .. } | Kind::Parallel { .. } => return Err("it records nothing".to_owned()),
        }
        if let Some(next) = next {
            self.goes_on(document, step, next);
        }
        self.counted(step, record)
    }
}
