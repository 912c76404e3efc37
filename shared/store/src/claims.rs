//! Claim tokens: reading one that a call brings, and making the one that a lease was given.

use run::{Actor, Code, Refusal, Time};

use crate::error::Error;
use crate::seal::ClaimToken;
use crate::store::Store;
use crate::write::Written;

impl Store {
    /// The claim that a token names.
    ///
    /// # Errors
    ///
    /// `invalid` for a text that this server did not make, and for a token of another organization, which nobody here
    /// can have been given.
    pub fn claimed(&self, org: &str, token: &str) -> Result<ClaimToken, Error> {
        match self.seal.read_claim(token) {
            Some(claim) if claim.org == org => Ok(claim),
            _ => {
                let message = "This is not a token of this server. Use the token that your claim or your last renew \
                               returned, unchanged.";
                Err(Refusal::new(Code::Invalid, message).issue("token: does not verify").into())
            }
        }
    }

    /// The token of the lease that a write gave out, and when it ends. The same text whenever it is asked for.
    pub fn token(&self, org: &str, actor: &Actor, written: &Written) -> Result<(String, Time), Error> {
        let Some(lease) = &written.lease else {
            return Err(Error::Invariant("a claim was accepted without a lease".to_owned()));
        };
        let claim = ClaimToken {
            org: org.to_owned(),
            run: written.run.meta.id.clone(),
            step: lease.step.clone(),
            attempt: lease.attempt,
            lease: lease.lease,
            subject: actor.subject.clone(),
        };
        Ok((self.seal.claim(&claim, &lease.key), lease.expires_at))
    }
}
