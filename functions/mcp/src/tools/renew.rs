//! `renew`: more time for a claimed step, and a note of what is done so far.

use async_trait::async_trait;
use run::{Command, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::arguments::given;
use super::{Call, Tool};

pub(crate) struct Renew;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The token of your claim or of your last renewal.
    token: String,
    /// What is done so far, for whoever comes next if your claim ends.
    #[serde(default)]
    #[schemars(with = "String", length(max = 4000))]
    progress: Option<String>,
    /// A new UUID; the same one when you repeat this very call.
    #[schemars(length(min = 1, max = 128))]
    request_id: String,
}

/// The renewed claim.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Renewed {
    /// The new token; the one before stopped working.
    token: String,
    /// When the claim ends now.
    expires_at: Time,
}

#[async_trait]
impl Tool for Renew {
    const NAME: &'static str = "renew";
    const TITLE: &'static str = "Renew a claim";
    const DESCRIPTION: &'static str = "Extends your claim to now plus leaseSeconds and returns a new token; the old one stops \
        working at once. progress is kept and handed to the next agent if your claim ends. stale means the claim ended or \
        was replaced: stop this work and call get_work.";
    type Arguments = Arguments;
    type Data = Renewed;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<Renewed, store::Error> {
        let Arguments { token, progress, request_id } = arguments;
        let claim = call.store.claimed(call.org(), &token)?;
        let request = call.request(Self::NAME, &request_id);
        let progress = given(progress);
        let command = |_| Command::Renew { token: claim.claimed(), progress: progress.clone() };
        let written = call.store.write(&request, &claim.run, &[], command).await?;
        let (token, expires_at) = call.store.token(call.org(), &call.actor, &written)?;
        Ok(Renewed { token, expires_at })
    }
}
