//! The timer: runs what is due on idle runs, sent for by a schedule or sweeping.
//!
//! Invariants: everything it acts on is stored with the runs, so a call that comes twice, late, or for nothing is harmless,
//! and one that never comes is made up for by the next sweep; an error is returned only where trying again makes sense.

mod event;
mod sweep;

use std::sync::Arc;

use cloud::Notify;
use serde_json::Value;
use store::{Error, Store};

pub use event::Event;
pub use sweep::{CALL_SECONDS, LATE_SECONDS, SOON_SECONDS, SWEEP_SECONDS, Swept};

/// What the timer acts on.
pub struct Timer {
    /// The runs.
    pub store: Arc<Store>,
    /// Where notices go.
    pub bus: Arc<dyn Notify>,
}

impl Timer {
    /// Does what the event says.
    ///
    /// # Errors
    ///
    /// Why it could not be done now: the same event may be sent again. What no repetition helps is logged.
    pub async fn handle(&self, event: &Value) -> Result<(), String> {
        match Event::read(event) {
            Ok(Event::Due { org, run, .. }) => self.fire(&org, &run).await,
            Ok(Event::Sweep) => {
                let swept = self.sweep().await;
                swept.log();
                match swept.failed.first() {
                    None => Ok(()),
                    Some(why) => Err(why.clone()),
                }
            }
            Err(why) => {
                tracing::error!(why, "an event is none of the timer's");
                Ok(())
            }
        }
    }

    /// Looks after everything once.
    pub async fn sweep(&self) -> Swept {
        sweep::sweep(self).await
    }

    async fn fire(&self, org: &str, run: &str) -> Result<(), String> {
        match self.store.tick(org, run).await {
            Ok(()) => Ok(()),
            Err(Error::Retry(why)) => {
                tracing::warn!(org, run, why, "a timer could not run yet");
                Err(why)
            }
            Err(error @ (Error::Refused(_) | Error::Invariant(_))) => {
                tracing::error!(org, run, %error, "a timer cannot run");
                Ok(())
            }
        }
    }
}
