//! The one source of chance of a load, shared by all that is in it.

use std::sync::{Arc, Mutex};

use crate::random::Random;

/// Shared chance: the same numbers in the same order for a seed. Clones share it.
#[derive(Debug, Clone)]
pub struct Chance(Arc<Mutex<Random>>);

impl Chance {
    /// The chance of a seed.
    pub fn new(seed: u64) -> Chance {
        Chance(Arc::new(Mutex::new(Random::new(seed))))
    }

    /// A number below `below`, which is above 0.
    pub fn below(&self, below: u64) -> u64 {
        self.0.lock().unwrap().below(below)
    }

    /// One of so many, by its place.
    pub fn place(&self, of: usize) -> usize {
        usize::try_from(self.below(of as u64)).unwrap()
    }
}
