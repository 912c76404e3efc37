//! The choices of the player: made one run after another, until there is no other series of them.

/// What is tried one after another, run by run; of the other kind of choices each run makes some.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Trying {
    /// Which way each step goes.
    Ways,
    /// Which of several open steps moves next. Every step goes its first way.
    Orders,
}

/// The choices of one run: those given come first, then always the first option. Notes how many there were.
pub struct Choices {
    trying: Trying,
    given: Vec<usize>,
    made: Vec<(usize, usize)>,
    /// Picks among open steps while ways are tried. It begins alike in every run, so that the same choices meet the same steps.
    turn: usize,
}

impl Choices {
    /// A run's choices, the first of them given.
    pub fn new(trying: Trying, given: Vec<usize>) -> Choices {
        Choices { trying, given, made: Vec::new(), turn: 0 }
    }

    /// Which way a step goes.
    pub fn way(&mut self, options: usize) -> usize {
        if self.trying == Trying::Ways { self.made(options) } else { 0 }
    }

    /// Which of the open steps moves.
    pub fn order(&mut self, options: usize) -> usize {
        if self.trying == Trying::Orders {
            return self.made(options);
        }
        self.turn += 1;
        self.turn % options
    }

    fn made(&mut self, options: usize) -> usize {
        // The clock is swift: where a timeout came first, the choice is another one than it was.
        let choice = self.given.get(self.made.len()).map_or(0, |given| (*given).min(options - 1));
        self.made.push((choice, options));
        choice
    }

    /// The next series of choices, when there is one.
    pub fn next(&self) -> Option<Vec<usize>> {
        let last = self.made.iter().rposition(|(choice, options)| choice + 1 < *options)?;
        let mut next: Vec<usize> = self.made[..last].iter().map(|(choice, _)| *choice).collect();
        next.push(self.made[last].0 + 1);
        Some(next)
    }
}
