//! `escalate`: an agent that cannot finish hands its step to a person.

use async_trait::async_trait;
use run::{Command, RunView};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Call, Tool};

pub(crate) struct Escalate;

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Arguments {
    /// The token of your claim or of your last renewal.
    token: String,
    /// Why you cannot finish, and what is done so far.
    #[schemars(length(max = 4000))]
    note: String,
    /// A new UUID; the same one when you repeat this very call.
    #[schemars(length(min = 1, max = 128))]
    request_id: String,
}

#[async_trait]
impl Tool for Escalate {
    const NAME: &'static str = "escalate";
    const TITLE: &'static str = "Escalate a step";
    const DESCRIPTION: &'static str = "Hands a step you claimed to a person, with a note that says why you cannot finish. Your \
        token stops working. The person returns the step, finishes it in your place, or fails the run. Use it rather than \
        guess.";
    type Arguments = Arguments;
    type Data = RunView;

    async fn call(call: Call<'_>, arguments: Arguments) -> Result<RunView, store::Error> {
        let Arguments { token, note, request_id } = arguments;
        let claim = call.store.claimed(call.org(), &token)?;
        let request = call.request(Self::NAME, &request_id);
        let command = |_| Command::Escalate { token: claim.claimed(), note: note.clone() };
        let written = call.store.write(&request, &claim.run, &[], command).await?;
        call.store.written_view(call.org(), &written).await
    }
}
