//! A clock that may run faster than time, and never back: what a rehearsal of a thirty-day process runs by.
//!
//! The pace is kept in the data folder, so that a restart goes on from where the clock was, at whatever speed it is
//! started with then. Tokens are not checked by this clock: they live in real time.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use store::Clock;

/// The file in the data folder; absent as long as no server ran there at another speed than time's own.
const FILE: &str = "clock";

/// A clock that showed `shown_millis` when the machine's clock showed `real_millis`, and has run at `speed` since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacedClock {
    real_millis: i64,
    shown_millis: i64,
    speed: u32,
}

impl PacedClock {
    /// The clock of a data folder, from now on at this speed.
    ///
    /// # Errors
    ///
    /// When the folder's clock file cannot be read or written.
    pub fn open(dir: &Path, speed: u32) -> io::Result<PacedClock> {
        let path = dir.join(FILE);
        let real = real_millis();
        let shown = match fs::read(&path) {
            Ok(bytes) => {
                let before: PacedClock = serde_json::from_slice(&bytes)
                    .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, format!("{}: {e}", path.display())))?;
                before.at(real)
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound && speed == 1 => {
                return Ok(PacedClock { real_millis: real, shown_millis: real, speed });
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => real,
            Err(e) => return Err(e),
        };
        let clock = PacedClock { real_millis: real, shown_millis: shown, speed };
        // Whole or not at all: a torn file would keep the server from starting.
        let beside = dir.join(format!("{FILE}.new"));
        fs::write(&beside, serde_json::to_vec(&clock)?)?;
        fs::rename(&beside, &path)?;
        Ok(clock)
    }

    fn at(&self, real: i64) -> i64 {
        let passed = real.saturating_sub(self.real_millis).max(0);
        self.shown_millis.saturating_add(passed.saturating_mul(i64::from(self.speed)))
    }
}

impl Clock for PacedClock {
    fn now(&self) -> run::Time {
        run::Time::from_millis(self.at(real_millis()))
    }
}

fn real_millis() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_restart_never_turns_the_clock_back() {
        let dir = tempfile::tempdir().unwrap();
        let fast = PacedClock::open(dir.path(), 100_000).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        let before = fast.now();
        let slow = PacedClock::open(dir.path(), 1).unwrap();
        assert!(slow.now() >= before);
        assert!(slow.now().millis() - real_millis() >= 20 * 99_999);
    }

    #[test]
    fn at_times_own_speed_it_is_the_machines_clock() {
        let dir = tempfile::tempdir().unwrap();
        let clock = PacedClock::open(dir.path(), 1).unwrap();
        assert!((clock.now().millis() - real_millis()).abs() < 1_000);
        assert!(!dir.path().join(FILE).exists());
    }
}
