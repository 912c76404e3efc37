//! The keys that claim tokens and cursors are sealed with, from Secrets Manager.
//!
//! A key is a version of the secret, its id the version's. Rotation is a new version. Invariants: the current version and
//! the one before it both verify; a version seals only once it is old enough for every running function to have seen it,
//! so that no function meets a token whose key it does not know; a secret that cannot be read again changes nothing.

use std::sync::atomic::{AtomicI64, Ordering};

use aws_sdk_secretsmanager::Client;
use aws_sdk_secretsmanager::operation::get_secret_value::GetSecretValueOutput;
use serde::Deserialize;
use store::{Seal, SealKey};

use crate::why::{code, why};

/// How old keys may become before they are read again, in seconds.
pub const KEYS_SECONDS: i64 = 300;

/// How old a version must be before it seals, in seconds: whoever reads keys every [`KEYS_SECONDS`] knows it by then.
pub const SETTLE_SECONDS: i64 = 900;

/// How long reading rests after it failed, in seconds.
const REST_SECONDS: i64 = 10;

/// Characters of a version's id that name a key, when they suffice to tell two apart.
const ID_CHARACTERS: usize = 8;

/// Fewest bytes of a key.
const KEY_BYTES: usize = 32;

/// The version that counts.
const CURRENT: &str = "AWSCURRENT";

/// The version before it.
const PREVIOUS: &str = "AWSPREVIOUS";

/// What the secret's text says.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Text {
    key: String,
    #[serde(default)]
    public_url: Option<String>,
}

/// A version, read.
struct Version {
    id: String,
    created: i64,
    text: Text,
}

/// The keys of one secret.
pub struct ClaimKeys {
    client: Client,
    secret: String,
    seal: Seal,
    public_url: Option<String>,
    /// When the keys are old, in seconds since 1970: by the wall, because a function's other clocks may stand still between
    /// two requests.
    read_again: AtomicI64,
}

impl ClaimKeys {
    /// Reads the keys.
    ///
    /// # Errors
    ///
    /// Why there is no seal; nothing of the secret is in it.
    pub async fn read(client: Client, secret: &str) -> Result<ClaimKeys, String> {
        let (current, previous) = versions(&client, secret).await?;
        let public_url = current.text.public_url.clone().filter(|url| !url.trim().is_empty());
        let seal = Seal::new(keys(current, previous, now())).ok_or("the secret has no key")?;
        let read_again = AtomicI64::new(now() + KEYS_SECONDS);
        Ok(ClaimKeys { client, secret: secret.to_owned(), seal, public_url, read_again })
    }

    /// The seal of these keys. It follows them when they are read again.
    pub fn seal(&self) -> Seal {
        self.seal.clone()
    }

    /// The endpoint's address, when the secret says it.
    pub fn public_url(&self) -> Option<&str> {
        self.public_url.as_deref()
    }

    /// Reads the keys again when they are older than [`KEYS_SECONDS`]. When that fails the old ones stay, and it is tried
    /// again a little later.
    pub async fn refresh(&self) {
        self.refresh_at(now()).await;
    }

    async fn refresh_at(&self, now: i64) {
        // One caller reads them; the others go on with the old ones meanwhile.
        let old = |at: i64| (at <= now).then_some(now + REST_SECONDS);
        if self.read_again.fetch_update(Ordering::AcqRel, Ordering::Acquire, old).is_err() {
            return;
        }
        match versions(&self.client, &self.secret).await {
            Ok((current, previous)) => {
                self.seal.replace(keys(current, previous, now));
                self.read_again.store(now + KEYS_SECONDS, Ordering::Release);
            }
            Err(why) => tracing::warn!(why, "the claim keys could not be read again; the old ones stay"),
        }
    }
}

/// The text of a secret's current version, such as an evaluator's key.
///
/// # Errors
///
/// Why there is none; nothing of the secret is in it.
pub async fn text(client: &Client, secret: &str) -> Result<String, String> {
    let sent = client.get_secret_value().secret_id(secret).version_stage(CURRENT).send().await;
    let found = sent.map_err(|error| format!("the secret could not be read: {}", why(&error)))?;
    found.secret_string.ok_or_else(|| "the secret has no text".to_owned())
}

async fn versions(client: &Client, secret: &str) -> Result<(Version, Option<Version>), String> {
    let stage = |stage: &'static str| client.get_secret_value().secret_id(secret).version_stage(stage).send();
    let (current, previous) = futures::join!(stage(CURRENT), stage(PREVIOUS));
    let unread = |stage: &str, why: String| format!("{stage} could not be read: {why}");
    let current = current.map_err(|error| unread(CURRENT, why(&error))).and_then(|found| version(CURRENT, found))?;
    let previous = match previous {
        Ok(found) => Some(version(PREVIOUS, found)?),
        // It never rotated.
        Err(error) if code(&error) == Some("ResourceNotFoundException") => None,
        Err(error) => return Err(unread(PREVIOUS, why(&error))),
    };
    Ok((current, previous))
}

fn version(stage: &str, found: GetSecretValueOutput) -> Result<Version, String> {
    let id = found.version_id.filter(|id| !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'));
    let id = id.ok_or_else(|| format!("{stage} has no version id"))?;
    // What is wrong with the text is not said in the parser's words: those may repeat some of it.
    let text = found.secret_string.and_then(|text| serde_json::from_str::<Text>(&text).ok());
    let text = text.ok_or_else(|| format!("{stage} is not JSON as {{\"key\": …, \"publicUrl\": …}}"))?;
    if text.key.len() < KEY_BYTES {
        return Err(format!("{stage} has a key of less than {KEY_BYTES} bytes"));
    }
    Ok(Version { id, created: found.created_date.map_or(0, |at| at.secs()), text })
}

/// The keys, the one that seals first.
fn keys(current: Version, previous: Option<Version>, now: i64) -> Vec<SealKey> {
    let Some(previous) = previous.filter(|previous| previous.id != current.id) else {
        let id = short(&current.id).to_owned();
        return vec![SealKey { id, secret: current.text.key.into_bytes() }];
    };
    let alike = short(&current.id) == short(&previous.id);
    let settled = now.saturating_sub(current.created) >= SETTLE_SECONDS;
    let key = |version: Version| {
        let id = if alike { version.id.as_str() } else { short(&version.id) };
        SealKey { id: id.to_owned(), secret: version.text.key.into_bytes() }
    };
    let (first, second) = if settled { (current, previous) } else { (previous, current) };
    vec![key(first), key(second)]
}

fn short(id: &str) -> &str {
    id.get(..ID_CHARACTERS).unwrap_or(id)
}

/// Real time, in seconds since 1970.
fn now() -> i64 {
    use store::Clock as _;
    store::SystemClock.now().millis() / 1_000
}

#[cfg(test)]
mod tests;
