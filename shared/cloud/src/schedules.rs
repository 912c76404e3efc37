//! Idle runs are woken by one-time schedules of EventBridge Scheduler.
//!
//! Invariants: a schedule's name follows from the alarm alone, its time included, so setting an alarm twice makes one
//! schedule, and two writers who race for one timer never move each other's; a schedule fires at its alarm's time or up to
//! a second later, never earlier; it deletes itself when it has fired. What wakes a run for nothing is harmless. An alarm
//! that cannot be set stops its write: whoever calls is told to try again only where that may help.

use std::sync::Arc;

use async_trait::async_trait;
use aws_sdk_scheduler::Client;
use aws_sdk_scheduler::types::{
    ActionAfterCompletion, DeadLetterConfig, FlexibleTimeWindow, FlexibleTimeWindowMode, RetryPolicy, Target,
};
use futures::StreamExt as _;
use run::Time;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use store::{Alarm, Alarms, Clock, Error};

use crate::settings::Settings;
use crate::why::{code, lasting, why};

/// How far ahead a schedule is set whose time has come already, in seconds: Scheduler takes no time that is past when
/// the call arrives.
const AHEAD_SECONDS: i64 = 5;

/// Most calls under way at once.
const CALLS: usize = 16;

/// Longest that Scheduler tries to deliver, in seconds. The sweeper looks every minute, so later serves nobody.
const EVENT_AGE_SECONDS: i32 = 3_600;

/// Most times that Scheduler tries to deliver again.
const DELIVERY_RETRIES: i32 = 8;

/// Hexadecimal digits of a name: 160 bits.
const NAME_DIGITS: usize = 40;

/// What schedules are made of, beside an alarm.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The group they are in.
    pub group: String,
    /// ARN of the role by which they call.
    pub role: String,
    /// ARN of the function they call.
    pub timer: String,
    /// ARN of the queue for calls that never arrived.
    pub dead_letters: String,
}

impl From<&Settings> for Setup {
    fn from(settings: &Settings) -> Setup {
        Setup {
            group: settings.schedule_group.clone(),
            role: settings.schedule_role.clone(),
            timer: settings.timer.clone(),
            dead_letters: settings.dead_letters.clone(),
        }
    }
}

/// Sets alarms as schedules.
pub struct Schedules {
    client: Client,
    setup: Setup,
    clock: Arc<dyn Clock>,
}

impl Schedules {
    /// Schedules made through this client. No call is made.
    pub fn new(client: Client, setup: Setup, clock: Arc<dyn Clock>) -> Schedules {
        Schedules { client, setup, clock }
    }

    async fn create(&self, alarm: &Alarm) -> Result<(), Error> {
        let Setup { group, role, timer, dead_letters } = &self.setup;
        let built = |error: aws_sdk_scheduler::error::BuildError| {
            Error::Invariant(format!("no schedule could be made: {error}"))
        };
        let retry = RetryPolicy::builder()
            .maximum_event_age_in_seconds(EVENT_AGE_SECONDS)
            .maximum_retry_attempts(DELIVERY_RETRIES)
            .build();
        let target = Target::builder()
            .arn(timer)
            .role_arn(role)
            .input(json!({ "org": alarm.org, "run": alarm.run, "timer": alarm.timer }).to_string())
            .retry_policy(retry)
            .dead_letter_config(DeadLetterConfig::builder().arn(dead_letters).build())
            .build()
            .map_err(built)?;
        let window = FlexibleTimeWindow::builder().mode(FlexibleTimeWindowMode::Off).build().map_err(built)?;
        // The client adds a token of its own to each call, the same for all tries of it. One made of the alarm would outlive
        // the schedule: after somebody had deleted that, setting it again would be answered and make nothing.
        let sent = self
            .client
            .create_schedule()
            .name(name(alarm))
            .group_name(group)
            .schedule_expression(expression(alarm.at, self.clock.now()))
            .schedule_expression_timezone("UTC")
            .flexible_time_window(window)
            .action_after_completion(ActionAfterCompletion::Delete)
            .target(target)
            .send()
            .await;
        match sent {
            Ok(_) => Ok(()),
            // It exists, and what has this name is this alarm.
            Err(error) if code(&error) == Some("ConflictException") => Ok(()),
            Err(error) => {
                let text = format!("a schedule could not be set: {}", why(&error));
                Err(if lasting(&error) { Error::Invariant(text) } else { Error::Retry(text) })
            }
        }
    }

    async fn delete(&self, alarm: &Alarm) {
        let sent = self.client.delete_schedule().name(name(alarm)).group_name(&self.setup.group).send().await;
        match sent {
            Ok(_) => {}
            // It has fired.
            Err(error) if code(&error) == Some("ResourceNotFoundException") => {}
            Err(error) => tracing::warn!(run = alarm.run, why = why(&error), "a schedule could not be deleted"),
        }
    }
}

#[async_trait]
impl Alarms for Schedules {
    async fn set(&self, alarms: &[Alarm]) -> Result<(), Error> {
        // Collected first: the compiler cannot prove a stream of borrowing futures to be `Send` otherwise.
        let calls: Vec<_> = alarms.iter().map(|alarm| self.create(alarm)).collect();
        // All of them, whatever happens to one: whoever sets many again has no other use for those after it.
        let set: Vec<_> = futures::stream::iter(calls).buffer_unordered(CALLS).collect().await;
        set.into_iter().collect()
    }

    async fn clear(&self, alarms: &[Alarm]) {
        let calls: Vec<_> = alarms.iter().map(|alarm| self.delete(alarm)).collect();
        futures::stream::iter(calls).buffer_unordered(CALLS).collect().await
    }
}

/// The schedule's name: within the 64 characters that a name may have.
fn name(alarm: &Alarm) -> String {
    let mut hash = Sha256::new();
    // With their lengths, so that no two alarms spell the same.
    for part in [alarm.org.as_str(), &alarm.run, &alarm.timer, &up(alarm.at).to_string()] {
        hash.update(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        hash.update(part);
    }
    let digits: String = run::hex(&hash.finalize()).chars().take(NAME_DIGITS).collect();
    format!("p-{digits}")
}

/// When a schedule fires, as Scheduler reads it: whole seconds, in UTC.
fn expression(at: Time, now: Time) -> String {
    let at = up(at).max(up(now).saturating_add(AHEAD_SECONDS));
    let text = Time::from_millis(at.saturating_mul(1_000)).to_string();
    // A time's text has milliseconds and a zone.
    format!("at({})", text.split('.').next().unwrap_or_default())
}

/// Seconds since 1970, rounded up: a schedule that fired early would find nothing due.
fn up(time: Time) -> i64 {
    time.millis().saturating_add(999) / 1_000
}

#[cfg(test)]
mod tests;
