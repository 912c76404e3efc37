//! An evidence bucket that counts what it is asked, beside the table that is asked with it.
//!
//! Invariants: counting changes no answer. A call of the bucket that is under way together with one of the table is the
//! same round. Only the table's totals know of the bucket; the meters of [`super::metered`] are the table's alone.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;

use super::{Counting, Tally, UnderWay};
use crate::files::{Files, FilesError, Shown};
use crate::table::Table;

/// A bucket whose calls are counted in the totals of a table.
pub struct CountingFiles {
    inner: Arc<dyn Files>,
    totals: Arc<Tally>,
}

impl CountingFiles {
    /// Counts the calls of this bucket in the totals of that table.
    pub fn new<T: Table + ?Sized>(inner: Arc<dyn Files>, table: &Counting<T>) -> Self {
        Self { inner, totals: Arc::clone(&table.totals) }
    }
}

#[async_trait]
impl Files for CountingFiles {
    async fn put(&self, key: &str, bytes: Vec<u8>, content_type: &str) -> Result<(), FilesError> {
        let _call = UnderWay::begin([Some(Arc::clone(&self.totals)), None], |meter| meter.object_puts += 1);
        self.inner.put(key, bytes, content_type).await
    }

    async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, FilesError> {
        let _call = UnderWay::begin([Some(Arc::clone(&self.totals)), None], |meter| meter.object_gets += 1);
        self.inner.get(key).await
    }

    // No call is made for a link.
    async fn link(&self, key: &str, shown: &Shown, expires: Duration) -> Result<String, FilesError> {
        self.inner.link(key, shown, expires).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::MemoryTable;
    use crate::table::Key;

    /// Answers only after another task had its turn.
    struct Slow;

    #[async_trait]
    impl Files for Slow {
        async fn put(&self, _: &str, _: Vec<u8>, _: &str) -> Result<(), FilesError> {
            tokio::task::yield_now().await;
            Ok(())
        }
        async fn get(&self, _: &str) -> Result<Option<Vec<u8>>, FilesError> {
            tokio::task::yield_now().await;
            Ok(None)
        }
        async fn link(&self, _: &str, _: &Shown, _: Duration) -> Result<String, FilesError> {
            Ok(String::new())
        }
    }

    #[tokio::test]
    async fn a_bucket_shares_the_rounds_of_its_table() {
        let table = Counting::new(Arc::new(MemoryTable::new()));
        let files = CountingFiles::new(Arc::new(Slow), &table);
        let keys = [Key { partition: "p".into(), sort: "a".into() }];
        files.put("o", Vec::new(), "text/plain").await.unwrap();
        let (bytes, items) = tokio::join!(files.get("o"), table.get(&keys));
        assert_eq!((bytes, items), (Ok(None), Ok(vec![None])));
        let shown = Shown { file_name: "a".into(), content_type: "b".into() };
        files.link("o", &shown, Duration::from_secs(1)).await.unwrap();
        let meter = table.totals();
        assert_eq!((meter.object_puts, meter.object_gets, meter.calls, meter.rounds), (1, 1, 1, 2));
    }
}
