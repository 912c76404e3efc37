//! What a call asks of storage: counted on a server in this process, one call at a time.

use anyhow::Context as _;
use store::counting::Meter;

use super::ToolStorage;
use super::unit::{self, TOOLS, Unit, User};
use crate::server::{self, Options};

/// Units that are counted. The timer loop asks storage too, a few times a second, and a parallel read that is answered
/// before the next one was asked counts as a round of its own; the least of so many is without both.
const UNITS: usize = 25;

/// What one call of each tool of the unit asks of storage.
pub(super) async fn count() -> anyhow::Result<Vec<ToolStorage>> {
    let dir = tempfile::Builder::new().prefix("procession-bench-").tempdir().context("no temporary folder")?;
    let options = Options { data: dir.path().join("data"), ..Options::default() };
    let server = server::start(options).await?;
    unit::publish(&server.mcp, &server.issuer).await?;
    let mut user = User::connect(&server.mcp, &server.issuer, 0).await?;
    let mut least: [Option<ToolStorage>; TOOLS.len()] = Default::default();
    for _ in 0..UNITS {
        let mut unit = Unit::default();
        for (place, (tool, least)) in TOOLS.into_iter().zip(&mut least).enumerate() {
            let before = server.table.totals();
            let called = user.call(place, &mut unit).await?;
            let after = server.table.totals();
            let counted = difference(tool, &before, &after, called);
            let weight = |counted: &ToolStorage| (counted.calls, counted.rounds);
            if least.as_ref().is_none_or(|least| weight(&counted) < weight(least)) {
                *least = Some(counted);
            }
        }
    }
    drop(server);
    dir.close().context("the temporary folder cannot be removed")?;
    Ok(least.into_iter().flatten().collect())
}

fn difference(tool: &'static str, before: &Meter, after: &Meter, called: unit::Called) -> ToolStorage {
    ToolStorage {
        tool,
        calls: after.calls - before.calls,
        rounds: after.rounds - before.rounds,
        operations: after.operations - before.operations,
        bytes_read: after.bytes_read - before.bytes_read,
        bytes_written: after.bytes_written - before.bytes_written,
        read_units: after.read_units - before.read_units,
        write_units: after.write_units - before.write_units,
        request_bytes: called.request_bytes as u64,
        answer_bytes: called.answer_bytes as u64,
    }
}
