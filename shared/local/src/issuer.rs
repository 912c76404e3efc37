//! The development issuer: signs tokens with a key that lives in the data folder.
//!
//! It is an issuer like any other: the server fetches its keys over HTTP and verifies its tokens on the one path that all
//! tokens take. Invariants: the key is made once and never leaves the folder, which only its owner may read; issuer and
//! audience belong to the folder, not to a port, so that a token outlives a restart on another port.

use axum::Router;
use axum::response::Json;
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use identity::{Config, IssuerConfig, Kind};
use jsonwebtoken::jwk::Jwk;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The client that the development issuer gives every token to; people may act through it.
pub const CLIENT: &str = "procession-dev";

/// Longest life of a token of this issuer, in seconds: ten years.
pub const TTL_SECONDS_MAX: u64 = 315_360_000;

/// The folder of keys within the data folder; a folder that has it is known as one of ours.
const KEYS: &str = "keys";

/// The issuer's file among the keys.
const KEY: &str = "issuer.json";

/// Length of the secret key, in bytes.
const SEED_BYTES: usize = 32;

/// What precedes the secret key in the PKCS #8 form of an Ed25519 key.
const PKCS8_PREFIX: [u8; 16] =
    [0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20];

/// Why the issuer cannot be opened, or does not sign.
#[derive(Debug, thiserror::Error)]
pub enum IssuerError {
    /// The folder or the key file cannot be made or read.
    #[error("{}: {source}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The key file is not one that this issuer wrote.
    #[error("{}: not a key of the development issuer ({reason}); move it away to get a new one", path.display())]
    Key {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// Others may read the key.
    #[error("{}: other users of this machine may read the key (mode {mode:o}); run chmod 600 on it", path.display())]
    Open {
        /// Which file.
        path: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// A token was asked for that no verifier would take: every reason.
    #[error("{}", .0.join("; "))]
    Request(Vec<String>),
    /// The library would not sign.
    #[error("signing failed: {0}")]
    Signing(#[from] jsonwebtoken::errors::Error),
}

/// What a token says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenRequest {
    /// Agent or person.
    pub kind: Kind,
    /// Who, within the organization.
    pub subject: String,
    /// The organization.
    pub org: String,
    /// Groups.
    pub groups: Vec<String>,
    /// The operator right.
    pub operator: bool,
    /// The `person` value. When `None` a person whose subject holds an `@` is named by the subject, anybody else by
    /// nothing.
    pub person: Option<String>,
    /// How long the token lives from now; whole seconds, 1 to [`TTL_SECONDS_MAX`].
    pub ttl: Duration,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    /// Random, so that two folders never take each other's tokens.
    id: String,
    /// The Ed25519 secret key in base64url.
    seed: String,
}

/// The issuer of one data folder.
pub struct Issuer {
    id: String,
    key: EncodingKey,
    public: Value,
}

impl Issuer {
    /// Opens the issuer of a data folder, and makes its key at the first use. Several processes may do so at once.
    ///
    /// # Errors
    /// [`IssuerError`], naming the file and the remedy.
    pub fn open(dir: &Path) -> Result<Self, IssuerError> {
        let folder = dir.join(KEYS);
        private_folder(&folder).map_err(|source| IssuerError::File { path: folder.clone(), source })?;
        let path = folder.join(KEY);
        let failed = |source| IssuerError::File { path: path.clone(), source };
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_key(&folder, &path).map_err(failed)?;
                fs::read_to_string(&path).map_err(failed)?
            }
            Err(error) => return Err(failed(error)),
        };
        check_mode(&path)?;
        Self::from_text(&text).map_err(|reason| IssuerError::Key { path, reason })
    }

    fn from_text(text: &str) -> Result<Self, String> {
        let file: KeyFile = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let seed = URL_SAFE_NO_PAD.decode(&file.seed).map_err(|error| error.to_string())?;
        if seed.len() != SEED_BYTES || file.id.trim().is_empty() {
            return Err(format!("its key is not {SEED_BYTES} bytes, or its id is blank"));
        }
        let key = EncodingKey::from_ed_der(&[&PKCS8_PREFIX, seed.as_slice()].concat());
        let mut jwk = Jwk::from_encoding_key(&key, Algorithm::EdDSA).map_err(|error| error.to_string())?;
        jwk.common.key_id = Some(file.id.clone());
        jwk.common.public_key_use = Some(jsonwebtoken::jwk::PublicKeyUse::Signature);
        let public = serde_json::to_value(jwk).map_err(|error| error.to_string())?;
        Ok(Issuer { id: file.id, key, public })
    }

    /// The `iss` of its tokens. An identifier, not an address: it is the same on every port.
    pub fn issuer_url(&self) -> String {
        format!("https://issuer.procession.invalid/{}", self.id)
    }

    /// The `aud` of its tokens.
    pub fn audience(&self) -> String {
        format!("procession:{}", self.id)
    }

    /// The public key set.
    pub fn jwks(&self) -> Value {
        json!({ "keys": [self.public] })
    }

    /// The configuration under which a server takes this issuer's tokens and finds its keys at `jwks_uri`.
    pub fn config(&self, jwks_uri: &str) -> Config {
        let issuer = IssuerConfig {
            jwks_uri: Some(jwks_uri.to_owned()),
            algorithms: vec!["EdDSA".to_owned()],
            people_clients: vec![CLIENT.to_owned()],
            ..IssuerConfig::new(self.issuer_url(), self.audience())
        };
        Config { issuers: vec![issuer] }
    }

    /// Signs a token. Its times are real time, whatever clock the server runs its processes by.
    ///
    /// # Errors
    /// [`IssuerError::Request`] with everything that is wrong with the request.
    pub fn token(&self, request: &TokenRequest) -> Result<String, IssuerError> {
        let ttl = request.ttl.as_secs();
        let checks = [
            (request.subject.trim().is_empty(), "subject: blank; name who the token is for".to_owned()),
            (request.org.trim().is_empty(), "org: blank; name the organization".to_owned()),
            (
                request.groups.iter().any(|group| group.trim().is_empty()),
                "group: blank; name it or leave it out".into(),
            ),
            (request.person.as_ref().is_some_and(|p| p.trim().is_empty()), "person: blank; leave it out".to_owned()),
            (!(1..=TTL_SECONDS_MAX).contains(&ttl), format!("ttl: 1 to {TTL_SECONDS_MAX} seconds")),
        ];
        let wrong: Vec<String> = checks.into_iter().filter(|(wrong, _)| *wrong).map(|(_, message)| message).collect();
        if !wrong.is_empty() {
            return Err(IssuerError::Request(wrong));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let mut claims = Map::new();
        let mut claim = |name: &str, value: Value| claims.insert(name.to_owned(), value);
        claim("iss", json!(self.issuer_url()));
        claim("aud", json!(self.audience()));
        claim("sub", json!(request.subject));
        claim("iat", json!(now));
        claim("nbf", json!(now));
        claim("exp", json!(now.saturating_add(ttl)));
        claim("client_id", json!(CLIENT));
        claim("org", json!(request.org));
        claim("kind", json!(request.kind));
        claim("groups", json!(request.groups));
        claim("operator", json!(request.operator));
        let named = request.kind == Kind::Person && request.subject.contains('@');
        if let Some(person) = request.person.as_ref().or(named.then_some(&request.subject)) {
            claim("email", json!(person));
        }
        let header = Header { kid: Some(self.id.clone()), ..Header::new(Algorithm::EdDSA) };
        Ok(jsonwebtoken::encode(&header, &claims, &self.key)?)
    }

    /// Serves `/issuer/jwks.json` and `/issuer/.well-known/openid-configuration`. `base_url`: where this router answers,
    /// such as `http://127.0.0.1:8484`, without a slash at its end.
    pub fn router(&self, base_url: &str) -> Router {
        let jwks = self.jwks();
        let discovery = json!({
            "issuer": self.issuer_url(),
            "jwks_uri": format!("{base_url}{JWKS_PATH}"),
            "id_token_signing_alg_values_supported": ["EdDSA"],
            "response_types_supported": [],
            "subject_types_supported": ["public"],
        });
        Router::new()
            .route(JWKS_PATH, get(move || std::future::ready(Json(jwks.clone()))))
            .route("/issuer/.well-known/openid-configuration", get(move || std::future::ready(Json(discovery.clone()))))
    }
}

/// Where [`Issuer::router`] serves the key set.
pub const JWKS_PATH: &str = "/issuer/jwks.json";

fn make_key(folder: &Path, path: &Path) -> io::Result<()> {
    let random =
        |bytes: &mut [u8]| rand::TryRngCore::try_fill_bytes(&mut rand::rngs::OsRng, bytes).map_err(io::Error::other);
    let (mut id, mut seed) = ([0; 12], [0; SEED_BYTES]);
    random(&mut id)?;
    random(&mut seed)?;
    let file = KeyFile { id: URL_SAFE_NO_PAD.encode(id), seed: URL_SAFE_NO_PAD.encode(seed) };
    let text = serde_json::to_string(&file)?;
    // Written under a name of its own and then linked: whoever links first wins, and nobody ever reads half a key.
    let draft = folder.join(format!("{KEY}.new.{}.{}", std::process::id(), file.id));
    let written = write_private(&draft, text.as_bytes()).and_then(|()| match fs::hard_link(&draft, path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        linked => linked,
    });
    let removed = fs::remove_file(&draft);
    written.and(removed)?;
    fs::File::open(folder)?.sync_all()
}

fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(unix)]
fn check_mode(path: &Path) -> Result<(), IssuerError> {
    use std::os::unix::fs::PermissionsExt as _;
    let metadata = fs::metadata(path).map_err(|source| IssuerError::File { path: path.to_owned(), source })?;
    let mode = metadata.permissions().mode() & 0o777;
    if mode & 0o077 == 0 { Ok(()) } else { Err(IssuerError::Open { path: path.to_owned(), mode }) }
}

#[cfg(not(unix))]
fn check_mode(_path: &Path) -> Result<(), IssuerError> {
    Ok(())
}

#[cfg(test)]
mod tests;
