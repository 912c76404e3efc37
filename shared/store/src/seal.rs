//! Claim tokens and cursors: texts that only this server can have made (core §6.2).
//!
//! A token is `key id . payload . HMAC-SHA-256`, made from organization, run, step, attempt, lease and holder, so it can
//! be made again for a repeated call and is stored nowhere. A text that does not verify is told from one that is old.

use std::sync::{Arc, PoisonError, RwLock};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, KeyInit, Mac};
use run::Claimed;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::Sha256;
use subtle::ConstantTimeEq;

/// Longest text that is looked at, in bytes: organization, subject and step bounded by what tokens carry.
const TEXT_BYTES: usize = 8 * 1024;

/// A signing key.
#[derive(Clone)]
pub struct SealKey {
    /// Its id: letters, digits, `_` and `-`.
    pub id: String,
    /// Its secret, 32 bytes or more.
    pub secret: Vec<u8>,
}

/// Makes and verifies sealed texts. The first key seals; all of them verify, so keys can be rotated. Clones share their
/// keys, also when these are replaced.
#[derive(Clone)]
pub struct Seal {
    keys: Arc<RwLock<Arc<[SealKey]>>>,
}

/// What a claim token says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimToken {
    /// The organization.
    #[serde(rename = "o")]
    pub org: String,
    /// The run.
    #[serde(rename = "r")]
    pub run: String,
    /// The step.
    #[serde(rename = "s")]
    pub step: String,
    /// The step's attempt.
    #[serde(rename = "a")]
    pub attempt: u32,
    /// The attempt's lease.
    #[serde(rename = "l")]
    pub lease: u32,
    /// The subject it was given to.
    #[serde(rename = "u")]
    pub subject: String,
}

impl ClaimToken {
    /// What the run needs to know of it.
    pub fn claimed(&self) -> Claimed {
        Claimed { step: self.step.clone(), attempt: self.attempt, lease: self.lease, subject: self.subject.clone() }
    }
}

impl Seal {
    /// A seal with these keys; `None` without any.
    pub fn new(keys: Vec<SealKey>) -> Option<Seal> {
        (!keys.is_empty()).then(|| Seal { keys: Arc::new(RwLock::new(keys.into())) })
    }

    /// Seals and verifies with these keys from now on; without any, nothing changes.
    pub fn replace(&self, keys: Vec<SealKey>) {
        if !keys.is_empty() {
            *self.keys.write().unwrap_or_else(PoisonError::into_inner) = keys.into();
        }
    }

    fn keys(&self) -> Arc<[SealKey]> {
        Arc::clone(&self.keys.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The id of the key that seals now.
    pub fn key_id(&self) -> String {
        self.keys().first().map_or_else(String::new, |k| k.id.clone())
    }

    /// Seals a claim token with the key of this id; with the current one when that key is gone.
    pub fn claim(&self, token: &ClaimToken, key_id: &str) -> String {
        self.write("claim", "", token, key_id)
    }

    /// The token, when this server made it.
    pub fn read_claim(&self, text: &str) -> Option<ClaimToken> {
        self.read("claim", "", text)
    }

    /// Seals a list position for one caller and one set of filters, all named by `bound`.
    pub fn cursor<T: Serialize>(&self, bound: &str, position: &T) -> String {
        self.write("cursor", bound, position, &self.key_id())
    }

    /// The position, when this server made it for the same caller and filters.
    pub fn read_cursor<T: DeserializeOwned>(&self, bound: &str, text: &str) -> Option<T> {
        self.read("cursor", bound, text)
    }

    fn write<T: Serialize>(&self, purpose: &str, bound: &str, value: &T, key_id: &str) -> String {
        let keys = self.keys();
        let Some(key) = keys.iter().find(|k| k.id == key_id).or(keys.first()) else {
            return String::new();
        };
        let payload = URL_SAFE_NO_PAD.encode(serde_json::to_vec(value).unwrap_or_default());
        let mac = URL_SAFE_NO_PAD.encode(mac(key, purpose, bound, &payload));
        format!("{}.{payload}.{mac}", key.id)
    }

    fn read<T: DeserializeOwned>(&self, purpose: &str, bound: &str, text: &str) -> Option<T> {
        if text.len() > TEXT_BYTES {
            return None;
        }
        let mut parts = text.split('.');
        let (id, payload, given) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() {
            return None;
        }
        let keys = self.keys();
        let key = keys.iter().find(|k| k.id == id)?;
        let given = URL_SAFE_NO_PAD.decode(given).ok()?;
        if !bool::from(mac(key, purpose, bound, payload).ct_eq(&given)) {
            return None;
        }
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()
    }
}

fn mac(key: &SealKey, purpose: &str, bound: &str, payload: &str) -> Vec<u8> {
    // HMAC takes a key of any length; the constructor's error cannot happen.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&key.secret) else { return Vec::new() };
    for part in [purpose, key.id.as_str(), bound, payload] {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part.as_bytes());
    }
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(id: &str) -> SealKey {
        SealKey { id: id.into(), secret: format!("secret of {id}, long enough for a key").into_bytes() }
    }

    fn token() -> ClaimToken {
        ClaimToken {
            org: "acme".into(),
            run: "r_1".into(),
            step: "check".into(),
            attempt: 1,
            lease: 2,
            subject: "a_1".into(),
        }
    }

    #[test]
    fn a_token_is_the_same_text_again_and_survives_rotation() {
        let old = Seal::new(vec![key("k1")]).unwrap();
        let text = old.claim(&token(), "k1");
        let new = Seal::new(vec![key("k2"), key("k1")]).unwrap();
        assert_eq!(new.read_claim(&text), Some(token()));
        assert_eq!(new.claim(&token(), "k1"), text);
        assert_eq!(new.key_id(), "k2");
    }

    #[test]
    fn keys_are_replaced_for_every_clone_and_never_by_none() {
        let seal = Seal::new(vec![key("k1")]).unwrap();
        let (clone, text) = (seal.clone(), seal.claim(&token(), "k1"));
        seal.replace(vec![key("k2"), key("k1")]);
        assert_eq!((clone.key_id().as_str(), clone.read_claim(&text)), ("k2", Some(token())));
        seal.replace(vec![key("k2")]);
        assert_eq!(clone.read_claim(&text), None);
        seal.replace(Vec::new());
        assert_eq!(clone.key_id(), "k2");
    }

    #[test]
    fn nothing_else_verifies() {
        let seal = Seal::new(vec![key("k1")]).unwrap();
        let text = seal.claim(&token(), "k1");
        for i in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[i] = if bytes[i] == b'A' { b'B' } else { b'A' };
            let altered = String::from_utf8(bytes).unwrap();
            // The last character of unpadded base64 holds spare bits, so another text may decode to the same bytes;
            // strict decoding refuses it.
            assert_eq!(seal.read_claim(&altered), None, "{altered}");
        }
        assert_eq!(seal.read_claim(""), None);
        assert_eq!(seal.read_claim("a.b"), None);
        assert_eq!(seal.read_claim(&format!("{text}.x")), None);
        let cursor = seal.cursor("ann", &token());
        assert_eq!(seal.read_claim(&cursor), None);
        assert_eq!(seal.read_cursor::<ClaimToken>("bob", &cursor), None);
        assert_eq!(seal.read_cursor::<ClaimToken>("ann", &cursor), Some(token()));
    }
}
