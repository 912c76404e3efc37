//! Reading several ordered partitions as one list, a page at a time.

use crate::error::Error;
use crate::table::{Item, Range, Table};

/// Most items that one page looks at before it is returned as it is: a filter that matches next to nothing does not
/// read a partition to its end in one call.
pub const EXAMINED_ITEMS: usize = 2_000;

/// Items read from a partition at a time while filtering.
const CHUNK_ITEMS: u32 = 200;

/// One merged page.
#[derive(Debug)]
pub struct Page<T> {
    /// What was found, in order.
    pub items: Vec<T>,
    /// The sort key to go on after; `None` at the end of the list.
    pub after: Option<String>,
}

/// Reads partitions that are all ordered by their sort key as one list, and keeps what `keep` makes something of.
///
/// All partitions are read at once, in one round as long as nothing is filtered out. `after` is the sort key that the
/// page before ended with.
pub async fn merged<T>(
    table: &dyn Table,
    partitions: &[String],
    after: Option<&str>,
    backwards: bool,
    limit: usize,
    mut keep: impl FnMut(Item) -> Result<Option<T>, Error>,
) -> Result<Page<T>, Error> {
    let mut sources: Vec<Source> = partitions.iter().map(|p| Source::new(p, after, backwards)).collect();
    let chunk = u32::try_from(limit + 1).unwrap_or(CHUNK_ITEMS).min(CHUNK_ITEMS);
    let (mut items, mut last, mut examined) = (Vec::new(), None, 0);
    loop {
        let fills = sources.iter_mut().map(|s| s.fill(table, chunk));
        for filled in futures::future::join_all(fills).await {
            filled?;
        }
        let heads = sources.iter().enumerate().filter_map(|(i, s)| s.head().map(|h| (h, i)));
        let next = if backwards { heads.max() } else { heads.min() }.map(|(_, i)| i);
        let Some(item) = next.and_then(|i| sources.get_mut(i)).and_then(Source::take) else {
            return Ok(Page { items, after: None });
        };
        // Partitions are read one by one, so an item that moved from one to another meanwhile is met in both.
        if last.as_ref() == Some(&item.key.sort) {
            continue;
        }
        if items.len() == limit || examined == EXAMINED_ITEMS {
            return Ok(Page { items, after: last });
        }
        examined += 1;
        last = Some(item.key.sort.clone());
        items.extend(keep(item)?);
    }
}

struct Source {
    range: Range,
    ready: std::collections::VecDeque<Item>,
    exhausted: bool,
}

impl Source {
    fn new(partition: &str, after: Option<&str>, backwards: bool) -> Source {
        let range = Range { partition: partition.to_owned(), from: None, to: None, backwards, limit: None };
        let range = match after {
            Some(after) => beyond(range, after),
            None => range,
        };
        Source { range, ready: Default::default(), exhausted: false }
    }

    fn head(&self) -> Option<&str> {
        self.ready.front().map(|i| i.key.sort.as_str())
    }

    fn take(&mut self) -> Option<Item> {
        self.ready.pop_front()
    }

    async fn fill(&mut self, table: &dyn Table, chunk: u32) -> Result<(), Error> {
        if self.exhausted || !self.ready.is_empty() {
            return Ok(());
        }
        let items = table.query(&Range { limit: Some(chunk), ..self.range.clone() }).await?;
        self.exhausted = items.len() < usize::try_from(chunk).unwrap_or(usize::MAX);
        if let Some(last) = items.last() {
            self.range = beyond(self.range.clone(), &last.key.sort);
        }
        self.ready = items.into();
        Ok(())
    }
}

/// What of a range comes after this sort key, in the range's order.
pub(crate) fn beyond(mut range: Range, sort: &str) -> Range {
    match range.backwards {
        true => range.to = Some(before(sort)),
        // No key ends in a space, so this is the nearest one.
        false => range.from = Some(format!("{sort} ")),
    }
    range
}

/// A bound below `key` and above every key that sorts before it: our keys are printable, so the last character one
/// lower, followed by the highest character, is such a bound.
fn before(key: &str) -> String {
    let mut text = key.to_owned();
    match text.pop().and_then(|c| char::from_u32(u32::from(c).saturating_sub(1))) {
        Some(c) => {
            text.push(c);
            text.push(char::MAX);
            text
        }
        None => text,
    }
}
