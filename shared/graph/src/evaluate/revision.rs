//! The revision of an Evaluation, and the ids of its Routes: digests of what they follow from, fed piece by piece.
//!
//! Every piece is fed behind its length, so that no two states are fed alike.

use sha2::{Digest as _, Sha256};

use serde_json::{Map, Value};

use super::State;
use super::facts::Amount;
use crate::load::Provider;

/// How many bytes of a digest a route id tells.
const ROUTE_ID_BYTES: usize = 10;

/// The revision of a state of a Graph (section-evaluation). What each file says is in its digest.
pub(super) fn revision(provider: &Provider, graph: &str, entry: &str, state: &State) -> String {
    let mut feed = Feed::new();
    feed.text(provider.id());
    feed.text(graph);
    feed.text(entry);
    let closure = provider.closures.get(graph).map(Vec::as_slice).unwrap_or_default();
    feed.count(closure.len());
    for path in closure {
        feed.text(path);
        feed.text(provider.files.get(path).map_or("", String::as_str));
    }
    feed.map(&state.facts);
    feed.count(state.outcomes.len());
    for (key, outcome) in &state.outcomes {
        feed.text(key);
        feed.byte(*outcome as u8);
    }
    feed.count(state.authorities.len());
    for authority in &state.authorities {
        feed.text(authority);
    }
    feed.digest("sha256:", usize::MAX)
}

/// The id of the Route of a node: the state key names Graph, node and call path.
pub(super) fn route_id(revision: &str, prefix: &str, graph: &str, node: &str) -> String {
    let mut feed = Feed::new();
    feed.text(revision);
    feed.text(prefix);
    feed.text(graph);
    feed.text(node);
    feed.digest("route:", ROUTE_ID_BYTES)
}

struct Feed(Sha256);

impl Feed {
    fn new() -> Feed {
        Feed(Sha256::new())
    }

    fn byte(&mut self, byte: u8) {
        self.0.update([byte]);
    }

    fn count(&mut self, count: usize) {
        self.0.update((count as u64).to_be_bytes());
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.update(text);
    }

    /// An object: whatever order it is written in.
    fn map(&mut self, map: &Map<String, Value>) {
        let mut fields: Vec<_> = map.iter().collect();
        fields.sort_unstable_by_key(|(key, _)| *key);
        self.count(fields.len());
        for (key, value) in fields {
            self.text(key);
            self.value(value);
        }
    }

    // As deep as the value, which whatever parsed it bounded.
    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => self.byte(b'n'),
            Value::Bool(true) => self.byte(b't'),
            Value::Bool(false) => self.byte(b'f'),
            Value::String(text) => {
                self.byte(b's');
                self.text(text);
            }
            Value::Number(number) => match Amount::of(number) {
                Amount::Whole(whole) => {
                    self.byte(b'w');
                    self.0.update(whole.to_be_bytes());
                }
                Amount::Double(double) => {
                    self.byte(b'd');
                    self.0.update(double.to_bits().to_be_bytes());
                }
                Amount::Text(text) => {
                    self.byte(b'x');
                    self.text(text);
                }
            },
            Value::Array(list) => {
                self.byte(b'l');
                self.count(list.len());
                for item in list {
                    self.value(item);
                }
            }
            Value::Object(map) => {
                self.byte(b'o');
                self.map(map);
            }
        }
    }

    /// The digest, at most this many bytes of it, as hex digits behind a prefix.
    fn digest(self, prefix: &str, bytes: usize) -> String {
        let digest = self.0.finalize();
        let mut out = String::with_capacity(prefix.len() + 2 * bytes.min(digest.len()));
        out.push_str(prefix);
        for byte in digest.iter().take(bytes) {
            for half in [byte >> 4, byte & 15] {
                out.push(char::from_digit(u32::from(half), 16).unwrap_or('0'));
            }
        }
        out
    }
}
