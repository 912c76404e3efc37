//! What a call asks of storage: counted on a server in this process, one call at a time.

use std::sync::Arc;

use anyhow::Context as _;
use store::counting::Turns;

use super::ToolStorage;
use super::unit::{self, TOOLS, Unit, User};
use crate::server::{self, Options};

/// What one call of each tool of the unit asks of storage, once the version is in memory.
pub(super) async fn count() -> anyhow::Result<Vec<ToolStorage>> {
    let dir = tempfile::Builder::new().prefix("procession-bench-").tempdir().context("no temporary folder")?;
    let options = Options { data: dir.path().join("data"), ..Options::default() };
    let server = server::start_untimed(options, |table| Arc::new(Turns(table))).await?;
    server.table.remember();
    unit::publish(&server.mcp, &server.issuer).await?;
    let mut user = User::connect(&server.mcp, &server.issuer, 0).await?;
    let mut counted = Vec::with_capacity(TOOLS.len());
    // The first unit reads the version into memory; the second is what is counted.
    for _ in 0..2 {
        counted.clear();
        let mut unit = Unit::default();
        for (place, tool) in TOOLS.into_iter().enumerate() {
            let before = server.table.totals();
            let called = user.call(place, &mut unit).await?;
            let mut storage = ToolStorage::between(tool, "", &before, &server.table.totals());
            storage.request_bytes = called.request_bytes as u64;
            storage.answer_bytes = called.answer_bytes as u64;
            counted.push(storage);
        }
    }
    server.stop().await;
    dir.close().context("the temporary folder cannot be removed")?;
    Ok(counted)
}
