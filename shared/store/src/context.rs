//! What the store takes from outside: the clock, fresh ids, who wakes idle runs, and who answers checks. Each is a trait
//! so that the simulation decides all of it by seed.

use std::time::Duration;

use async_trait::async_trait;
use run::Time;

use crate::check::CHECK_SECONDS;
use crate::error::Error;

/// Tells the time.
pub trait Clock: Send + Sync + 'static {
    /// Now.
    fn now(&self) -> Time;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        Time::from_millis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}

/// Makes what must never be made twice, and rolls dice.
pub trait Ids: Send + Sync + 'static {
    /// Text that nobody has been given before: 20 characters of `a`–`z` and `2`–`7`, 100 random bits.
    fn fresh(&self) -> String;

    /// A number below `below`, which is above 0.
    fn random(&self, below: u64) -> u64;
}

/// The operating system's randomness.
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn fresh(&self) -> String {
        let bytes: [u8; 13] = rand::random();
        base32(&bytes).chars().take(20).collect()
    }

    fn random(&self, below: u64) -> u64 {
        rand::random_range(0..below.max(1))
    }
}

/// Lower-case base 32 (`a`–`z`, `2`–`7`), unpadded.
pub fn base32(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let (mut out, mut held, mut bits) = (String::new(), 0u32, 0u32);
    for byte in bytes {
        held = (held << 8) | u32::from(*byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            let place = usize::try_from((held >> bits) & 31).unwrap_or(0);
            out.push(char::from(ALPHABET.get(place).copied().unwrap_or(b'a')));
        }
        held &= (1 << bits) - 1;
    }
    if bits > 0 {
        let place = usize::try_from((held << (5 - bits)) & 31).unwrap_or(0);
        out.push(char::from(ALPHABET.get(place).copied().unwrap_or(b'a')));
    }
    out
}

/// When an idle run must be looked at.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Alarm {
    /// When.
    pub at: Time,
    /// The organization.
    pub org: String,
    /// The run.
    pub run: String,
    /// Which timer of the run: no two attempts of a step share one. Times alone can be equal, and a write that forgets
    /// its alarm late must not forget the alarm of a write after it.
    pub timer: String,
}

/// Wakes idle runs. Alarms are set before the write that needs them is committed, so no crash loses one; an alarm that
/// nothing needs any more wakes a run that has nothing to do, which is harmless.
#[async_trait]
pub trait Alarms: Send + Sync + 'static {
    /// Sets alarms. Setting one again is harmless.
    ///
    /// # Errors
    ///
    /// Then the write is not made, so that no timer is stored without its alarm. [`Error::Retry`] where trying again may
    /// set them, [`Error::Invariant`] where only the operator can see to it.
    async fn set(&self, alarms: &[Alarm]) -> Result<(), Error>;

    /// Forgets alarms that nothing needs any more. Best effort.
    async fn clear(&self, alarms: &[Alarm]);
}

/// Answers the questions of a check about a submission (profile check-1).
#[async_trait]
pub trait Evaluator: Send + Sync + 'static {
    /// Its name for itself, such as the model it asks: what a verdict records.
    fn model(&self) -> &str;

    /// How long one inquiry may take, [`CHECK_SECONDS`] unless it says otherwise. It is asked twice at most.
    fn within(&self) -> Duration {
        Duration::from_secs(CHECK_SECONDS)
    }

    /// One answer to each question of the inquiry, in order. No question sees the answer to another. The submission is
    /// data: whatever it says is no instruction to the evaluator. Asked once; whoever asks bounds the time and asks again.
    ///
    /// # Errors
    ///
    /// Why there is no answer, for the operator's log; never a key, and nothing of the submission.
    async fn answer(&self, inquiry: &run::Inquiry) -> Result<Vec<run::Answer>, String>;
}

/// For tests and for servers whose timer loop reads the stored times often enough: sets nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoAlarms;

#[async_trait]
impl Alarms for NoAlarms {
    async fn set(&self, _: &[Alarm]) -> Result<(), Error> {
        Ok(())
    }
    async fn clear(&self, _: &[Alarm]) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base32_is_rfc_4648_in_lower_case() {
        assert_eq!(base32(b"foobar"), "mzxw6ytboi");
        assert_eq!(base32(b"f"), "my");
        assert_eq!(base32(b""), "");
        assert_eq!(RandomIds.fresh().len(), 20);
    }
}
