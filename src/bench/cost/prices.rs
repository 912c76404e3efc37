//! What AWS charges, and the arithmetic from units to dollars.
//!
//! List prices of one region on one day, without free tiers: they are what can change, and all of them stand here.

use serde::Serialize;

/// The region whose prices these are.
pub const REGION: &str = "us-east-1";
/// When they were looked up.
pub const AS_OF: &str = "30 November 2026";

/// A list price.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Price {
    /// What is paid for.
    pub what: &'static str,
    /// US dollars for `amount` of it.
    pub dollars: f64,
    /// How much of it that buys.
    pub amount: f64,
    /// The same for people, with what is counted.
    pub per: &'static str,
}

impl Price {
    /// US dollars for a million times so much of it.
    pub fn million(&self, much: f64) -> f64 {
        self.dollars / self.amount * much * 1e6
    }
}

const fn price(what: &'static str, dollars: f64, amount: f64, per: &'static str) -> Price {
    Price { what, dollars, amount, per }
}

/// DynamoDB on demand, written.
pub const WRITE_UNITS: Price = price("DynamoDB on demand, writes", 0.625, 1e6, "a million write units");
/// DynamoDB on demand, read.
pub const READ_UNITS: Price = price("DynamoDB on demand, reads", 0.125, 1e6, "a million read units");
/// S3 Standard, stored.
pub const OBJECT_PUTS: Price = price("S3 Standard, PUT", 0.005, 1e3, "1,000 requests");
/// S3 Standard, read.
pub const OBJECT_GETS: Price = price("S3 Standard, GET", 0.0004, 1e3, "1,000 requests");
/// Lambda, by the call.
pub const CALLS: Price = price("Lambda, calls", 0.20, 1e6, "a million calls");
/// Lambda on arm64, by time and memory.
pub const GIGABYTE_SECONDS: Price = price("Lambda on arm64, time", 0.000_013_333_4, 1.0, "a GB-second");
/// CloudWatch Logs, taken in.
pub const LOG_BYTES: Price = price("CloudWatch Logs", 0.50, 1e9, "a GB");
/// EventBridge, events on a bus of one's own.
pub const EVENTS: Price = price("EventBridge, events", 1.00, 1e6, "a million events");
/// EventBridge Scheduler, schedules that fire; making and deleting them is free.
pub const FIRINGS: Price = price("EventBridge Scheduler, firings", 1.00, 1e6, "a million firings");
/// Step Functions, Standard workflows.
pub const TRANSITIONS: Price = price("Step Functions Standard", 0.025, 1e3, "1,000 state transitions");

/// All of them, in the order in which they are shown.
pub const PRICES: [Price; 10] = [
    WRITE_UNITS,
    READ_UNITS,
    OBJECT_PUTS,
    OBJECT_GETS,
    CALLS,
    GIGABYTE_SECONDS,
    LOG_BYTES,
    EVENTS,
    FIRINGS,
    TRANSITIONS,
];

/// How long a call runs in the function, in milliseconds: assumed, since only AWS can tell.
pub const CALL_MILLIS: f64 = 50.0;
/// The endpoint's memory as the template sets it, in megabytes.
pub const MEMORY_MEGABYTES: f64 = 512.0;
/// What a call logs, Lambda's own lines included, in bytes: assumed.
pub const CALL_LOG_BYTES: f64 = 1_000.0;

/// What a million of something asks, in US dollars.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Dollars {
    /// Write units.
    pub writes: f64,
    /// Read units.
    pub reads: f64,
    /// Requests of the bucket.
    pub objects: f64,
    /// Calls of the function.
    pub calls: f64,
    /// Time of the function.
    pub time: f64,
    /// Logs.
    pub logs: f64,
    /// Events, and what it takes to send and file them.
    pub notices: f64,
    /// All of it.
    pub together: f64,
}

/// What is used up, in the units in which it is charged.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Used {
    /// Write units.
    pub write_units: u64,
    /// Read units.
    pub read_units: u64,
    /// Objects stored.
    pub object_puts: u64,
    /// Objects read.
    pub object_gets: u64,
}

impl Used {
    /// US dollars for a million times this, storage alone.
    pub fn million(&self) -> f64 {
        WRITE_UNITS.million(self.write_units as f64)
            + READ_UNITS.million(self.read_units as f64)
            + OBJECT_PUTS.million(self.object_puts as f64)
            + OBJECT_GETS.million(self.object_gets as f64)
    }
}

/// What a million times `calls` calls ask that use up `used` together. `notice` is what filing a notice uses up, when they
/// leave one to be sent.
pub fn dollars(calls: u64, used: Used, notice: Option<Used>) -> Dollars {
    let calls = calls as f64;
    let mut all = Dollars {
        writes: WRITE_UNITS.million(used.write_units as f64),
        reads: READ_UNITS.million(used.read_units as f64),
        objects: OBJECT_PUTS.million(used.object_puts as f64) + OBJECT_GETS.million(used.object_gets as f64),
        calls: CALLS.million(calls),
        time: GIGABYTE_SECONDS.million(calls * CALL_MILLIS / 1e3 * MEMORY_MEGABYTES / 1_024.0),
        logs: LOG_BYTES.million(calls * CALL_LOG_BYTES),
        notices: notice.map_or(0.0, |filing| EVENTS.million(1.0) + filing.million()),
        together: 0.0,
    };
    all.together = all.writes + all.reads + all.objects + all.calls + all.time + all.logs + all.notices;
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-4, "{found} is not {expected}");
    }

    #[test]
    fn a_million_steps_by_hand() {
        let used = Used { write_units: 24, read_units: 5, object_puts: 1, object_gets: 2 };
        let filing = Used { write_units: 4, read_units: 1, ..Used::default() };
        let all = dollars(2, used, Some(filing));
        near(all.writes, 15.0);
        near(all.reads, 0.625);
        near(all.objects, 5.0 + 0.8);
        near(all.calls, 0.4);
        near(all.time, 0.05 * 13.3334);
        near(all.logs, 1.0);
        near(all.notices, 1.0 + 2.5 + 0.125);
        near(all.together, 15.0 + 0.625 + 5.8 + 0.4 + 0.66667 + 1.0 + 3.625);
        near(dollars(2, used, None).notices, 0.0);
        near(used.million(), 15.0 + 0.625 + 5.8);
    }

    #[test]
    fn a_transition_is_dear_by_the_million() {
        near(TRANSITIONS.million(1.0), 25.0);
        near(FIRINGS.million(1.0), 1.0);
    }

    #[test]
    fn every_price_is_shown_once() {
        let shown: std::collections::BTreeSet<&str> = PRICES.iter().map(|price| price.what).collect();
        assert_eq!(shown.len(), PRICES.len());
        assert!(PRICES.iter().all(|price| price.dollars > 0.0 && price.amount > 0.0));
    }

    #[test]
    fn the_memory_is_the_templates() {
        let template = include_str!("../../../infra/template.yaml");
        let (_, parameter) = template.split_once("\n  McpMemory:").expect("the parameter");
        let (_, default) = parameter.split_once("Default: ").expect("its default");
        assert_eq!(default.split_whitespace().next(), Some("512"));
        near(MEMORY_MEGABYTES, 512.0);
    }
}
