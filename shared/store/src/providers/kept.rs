//! The Providers in memory: the ones used last, bounded in number and in bytes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::PublishedProvider;

/// Most Providers kept.
const KEPT_PROVIDERS: usize = 64;

/// Most bytes of the files that kept Providers were loaded from. What is loaded of a large Graph was eight times as large, and
/// the function has 512 MB for everything.
const KEPT_BYTES: usize = 8 * 1024 * 1024;

/// The Providers in memory, by organization and digest.
#[derive(Default)]
pub(crate) struct Kept(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    uses: u64,
    bytes: usize,
    all: HashMap<(String, String), One>,
}

struct One {
    used: u64,
    bytes: usize,
    provider: Arc<PublishedProvider>,
}

impl Kept {
    pub(super) fn get(&self, org: &str, digest: &str) -> Option<Arc<PublishedProvider>> {
        let mut inner = self.0.lock().ok()?;
        inner.uses += 1;
        let used = inner.uses;
        let one = inner.all.get_mut(&(org.to_owned(), digest.to_owned()))?;
        one.used = used;
        Some(Arc::clone(&one.provider))
    }

    pub(super) fn keep(&self, org: &str, provider: Arc<PublishedProvider>, bytes: usize) {
        let Ok(mut inner) = self.0.lock() else { return };
        inner.uses += 1;
        let one = One { used: inner.uses, bytes, provider };
        let key = (org.to_owned(), one.provider.reference.digest.clone());
        inner.bytes += bytes;
        if let Some(old) = inner.all.insert(key, one) {
            inner.bytes -= old.bytes;
        }
        // The last one stays, however large it is: it is about to be used.
        while inner.all.len() > 1 && (inner.all.len() > KEPT_PROVIDERS || inner.bytes > KEPT_BYTES) {
            let Some(oldest) = inner.all.iter().min_by_key(|(_, one)| one.used).map(|(key, _)| key.clone()) else {
                return;
            };
            if let Some(gone) = inner.all.remove(&oldest) {
                inner.bytes -= gone.bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use run::Time;

    use super::*;
    use crate::providers::ProviderRef;

    const MANIFEST: &str = "schema: agent-graph.provider.v1\nid: p\nversion: 1.0.0\ngraphs: [g.yaml]\n";
    const GRAPH: &str = "schema: agent-graph.graph.v1\nid: g\nentrypoints: { default: done }\nnodes:\n  \
                         - { id: done, kind: terminal, terminalOutcome: completed }\nedges: []\n";

    fn provider(digest: &str) -> Arc<PublishedProvider> {
        let files = [("provider.yaml", MANIFEST), ("g.yaml", GRAPH)];
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().into()));
        let provider = graph::load(&graph::Memory(files.into()), "provider.yaml").unwrap();
        let reference = ProviderRef {
            provider: "p".into(),
            version: "1.0.0".into(),
            digest: digest.into(),
            description: None,
            graphs: Vec::new(),
            published_by: "op".into(),
            published_at: Time::from_millis(0),
        };
        Arc::new(PublishedProvider { reference, provider })
    }

    #[test]
    fn the_ones_used_last_stay_within_their_number_and_bytes() {
        let kept = Kept::default();
        for n in 0..=KEPT_PROVIDERS {
            // The first one is used again and again.
            kept.get("o", "0");
            kept.keep("o", provider(&n.to_string()), 1);
        }
        assert!(kept.get("o", "0").is_some() && kept.get("o", "1").is_none());
        assert!(kept.get("o", "2").is_some() && kept.get("other", "2").is_none());
        kept.keep("o", provider("large"), KEPT_BYTES);
        assert!(kept.get("o", "large").is_some() && kept.get("o", "0").is_none(), "the large one stays alone");
        // One that is kept twice counts once.
        kept.keep("o", provider("a"), KEPT_BYTES / 2);
        kept.keep("o", provider("a"), KEPT_BYTES / 2);
        kept.keep("o", provider("b"), KEPT_BYTES / 2);
        assert!(kept.get("o", "a").is_some() && kept.get("o", "b").is_some() && kept.get("o", "large").is_none());
    }
}
