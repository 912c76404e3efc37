//! A table beside which others get their turn, so that rounds are counted as they would be over a network.

use std::sync::Arc;

use async_trait::async_trait;

use crate::table::{Item, Key, Op, Range, Table, TableError};

/// Lets other tasks go first at every call. A table in this process often answers at once; calls that are made together would
/// then not be under way together, and count as a round each.
#[derive(Debug)]
pub struct Turns<T: Table + ?Sized>(pub Arc<T>);

#[async_trait]
impl<T: Table + ?Sized> Table for Turns<T> {
    async fn get(&self, keys: &[Key]) -> Result<Vec<Option<Item>>, TableError> {
        tokio::task::yield_now().await;
        self.0.get(keys).await
    }
    async fn query(&self, range: &Range) -> Result<Vec<Item>, TableError> {
        tokio::task::yield_now().await;
        self.0.query(range).await
    }
    async fn transact(&self, ops: &[Op]) -> Result<(), TableError> {
        tokio::task::yield_now().await;
        self.0.transact(ops).await
    }
}
