//! Broken bytes are refused, whatever they are; nothing panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

use graph::load;

use crate::small::Small;

/// How many broken Providers are tried.
const ROUNDS: u64 = 2_000;

/// A generator of numbers that need not be good ones (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % limit.max(1) as u64) as usize
    }
}

const PIECES: &[&str] = &[
    "",
    "\0",
    "\n",
    "\t",
    "---\n",
    "[",
    "]",
    "{",
    "}",
    ":",
    ": ",
    "- ",
    "&a ",
    "*a",
    "!t ",
    "|\n",
    "'",
    "\"",
    "#",
    "%",
    "\\",
    "../",
    "/",
    "..",
    ".",
    "~",
    "null",
    "true",
    "1e999",
    "-0.0",
    "1.0",
    "99999999999999999999",
    "\u{feff}",
    "\u{202e}",
    "\u{e9}",
    "$ref",
    "$id",
    "agent-graph.resource.v1",
    "agent-graph.bundle.v1",
    "kind",
    "id",
    "[[[[[[[[",
    "{a: {a: {a: ",
    "$serde_json::private::Number",
    "<<: *a",
    "? ",
    "…",
];

#[test]
fn no_bytes_make_it_panic() {
    let small = Small::new();
    let paths: Vec<&String> = small.0.keys().collect();
    let (mut loaded, mut refused) = (0, 0);
    for seed in 0..ROUNDS {
        let mut numbers = Numbers(seed);
        let mut source = small.source();
        for _ in 0..=numbers.below(3) {
            let path = paths[numbers.below(paths.len())];
            let mut bytes = source.0[path].to_vec();
            let at = numbers.below(bytes.len() + 1);
            match numbers.below(6) {
                0 => bytes.truncate(at),
                1 => drop(bytes.splice(at..at, PIECES[numbers.below(PIECES.len())].bytes())),
                2 if at < bytes.len() => bytes[at] = numbers.below(256) as u8,
                3 => {
                    let end = (at + numbers.below(40)).min(bytes.len());
                    bytes.drain(at..end);
                }
                4 => {
                    let end = (at + numbers.below(40)).min(bytes.len());
                    let piece = bytes[at..end].to_vec();
                    let to = numbers.below(bytes.len() + 1);
                    bytes.splice(to..to, piece);
                }
                _ => {
                    // The bytes of another file, from some place on.
                    let other = &source.0[paths[numbers.below(paths.len())]];
                    let from = numbers.below(other.len() + 1);
                    bytes = other[from..].to_vec();
                }
            }
            source.0.insert(path.clone(), bytes.into());
        }
        match catch_unwind(AssertUnwindSafe(|| load(&source, "provider.yaml"))) {
            Ok(Ok(_)) => loaded += 1,
            Ok(Err(failure)) => {
                refused += 1;
                assert!(!failure.code.is_empty() && !failure.message.is_empty(), "seed {seed}: {failure:?}");
                assert!(failure.message.len() < 4_000, "seed {seed}: {}", failure.message);
            }
            Err(_) => panic!("seed {seed}"),
        }
    }
    // Of both there are many, or the changes change too much or too little.
    assert!(loaded > ROUNDS / 20 && refused > ROUNDS / 4, "{loaded} loaded, {refused} refused");
}
