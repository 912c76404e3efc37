//! One run as a pure machine.
