//! Notices leave for people by an EventBridge bus.
//!
//! Invariants: notices count as sent only when the bus has taken every one of their events; what it has not taken is sent
//! again a few times, and otherwise left for the next sweep.

use std::time::Duration;

use async_trait::async_trait;
use aws_sdk_eventbridge::Client;
use aws_sdk_eventbridge::primitives::DateTime;
use aws_sdk_eventbridge::types::PutEventsRequestEntry;
use store::lists::Notices;

use crate::events::{SOURCE, events};
use crate::why::{code, why};

/// Most events of one call: the bus takes no more.
const CALL_EVENTS: usize = 10;

/// How often events are sent before the notices are left unsent.
const SEND_ROUNDS: u32 = 3;

/// Pause before events are sent again, in milliseconds; it doubles each time.
const PAUSE_MILLIS: u64 = 200;

/// Tells people.
#[async_trait]
pub trait Notify: Send + Sync + 'static {
    /// Tells of these notices: for each of them, in order, whether all of it was told, or why not. What was not told is to
    /// be told again, as a whole.
    async fn tell(&self, notices: &[Notices]) -> Vec<Result<(), String>>;
}

/// Tells nobody: for where no bus is configured. The notices count as told, so that they do not pile up.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoBus;

#[async_trait]
impl Notify for NoBus {
    async fn tell(&self, notices: &[Notices]) -> Vec<Result<(), String>> {
        vec![Ok(()); notices.len()]
    }
}

/// One EventBridge bus.
#[derive(Debug, Clone)]
pub struct EventBus {
    client: Client,
    bus: String,
}

/// An event on its way, and whose it is.
struct Pending {
    of: usize,
    entry: PutEventsRequestEntry,
    why: String,
    /// A call that it was part of was refused as a whole. It is sent by itself from then on: which of them the bus does not
    /// take is seen only so, and the others must not be held up by it for ever.
    alone: bool,
}

impl EventBus {
    /// The bus of this name or ARN through this client. No call is made.
    pub fn new(client: Client, bus: String) -> EventBus {
        EventBus { client, bus }
    }

    fn pending(&self, notices: &[Notices]) -> Vec<Pending> {
        let mut all = Vec::new();
        for (of, notices) in notices.iter().enumerate() {
            for event in events(notices) {
                let entry = PutEventsRequestEntry::builder()
                    .event_bus_name(&self.bus)
                    .source(SOURCE)
                    .detail_type(event.detail_type)
                    .time(DateTime::from_millis(event.at.millis()))
                    .detail(event.detail.to_string())
                    .build();
                all.push(Pending { of, entry, why: String::new(), alone: false });
            }
        }
        all
    }

    /// Sends these once, and returns what the bus has not taken.
    async fn send(&self, mut some: Vec<Pending>) -> Vec<Pending> {
        let entries = some.iter().map(|pending| pending.entry.clone()).collect();
        match self.client.put_events().set_entries(Some(entries)).send().await {
            Err(error) => {
                for pending in &mut some {
                    pending.why = why(&error);
                    pending.alone = code(&error).is_some_and(|code| code.starts_with("Validation"));
                }
            }
            Ok(answer) => {
                // Answered in order. An event without an answer was not taken either.
                let mut answers = answer.entries.unwrap_or_default().into_iter();
                some.retain_mut(|pending| {
                    let answer = answers.next();
                    let code = answer.as_ref().map_or(Some("no answer"), |answer| answer.error_code.as_deref());
                    pending.why = code.unwrap_or_default().to_owned();
                    code.is_some()
                });
            }
        }
        some
    }
}

fn alone(some: &[Pending]) -> bool {
    some.iter().any(|pending| pending.alone)
}

#[async_trait]
impl Notify for EventBus {
    async fn tell(&self, notices: &[Notices]) -> Vec<Result<(), String>> {
        let mut pending = self.pending(notices);
        for round in 0..SEND_ROUNDS {
            if pending.is_empty() {
                break;
            }
            if round > 0 {
                tokio::time::sleep(Duration::from_millis(PAUSE_MILLIS << (round - 1))).await;
            }
            let mut left = Vec::new();
            let mut rest = pending.into_iter().peekable();
            while let Some(first) = rest.next() {
                let mut some = vec![first];
                while let Some(next) = rest.next_if(|next| some.len() < CALL_EVENTS && !next.alone && !alone(&some)) {
                    some.push(next);
                }
                left.extend(self.send(some).await);
            }
            pending = left;
        }
        let mut told = vec![Ok(()); notices.len()];
        for Pending { of, why, .. } in pending {
            if let Some(told) = told.get_mut(of) {
                *told = Err(why);
            }
        }
        told
    }
}

#[cfg(test)]
mod tests;
