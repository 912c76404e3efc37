//! Who plays: people and agents, each with a token and a connection of its own.

use std::time::Duration;

use identity::Kind;
use local::issuer::TokenRequest;

use crate::client::Client;
use crate::server::{ORG, Running};

/// Tokens outlive the demo by far.
const TOKEN_TTL: Duration = Duration::from_secs(3_600);

/// The group that stands behind the role `finance`.
pub(super) const FINANCE: &str = "g_finance";

/// One identity.
pub(super) struct Player {
    /// The subject of its token: what runs record under `by`.
    pub(super) name: &'static str,
    /// Its connection.
    pub(super) client: Client,
}

/// Everybody.
pub(super) struct Cast {
    /// A person with the operator right, in the group that escalations go to.
    pub(super) olga: Player,
    /// A person who wants to buy something.
    pub(super) mira: Player,
    /// An agent.
    pub(super) screener: Player,
    /// Another agent.
    pub(super) stand_in: Player,
    /// A person in finance.
    pub(super) frida: Player,
    /// Another person in finance.
    pub(super) felix: Player,
}

impl Cast {
    pub(super) async fn new(server: &Running) -> anyhow::Result<Cast> {
        let player = async |name: &'static str, kind, groups: &[&str], operator| {
            let token = server.issuer.token(&TokenRequest {
                kind,
                subject: name.to_owned(),
                org: ORG.to_owned(),
                groups: groups.iter().map(|group| (*group).to_owned()).collect(),
                operator,
                person: None,
                ttl: TOKEN_TTL,
            })?;
            anyhow::Ok(Player { name, client: Client::connect(&server.mcp, &token).await? })
        };
        Ok(Cast {
            olga: player("olga@example.com", Kind::Person, &["operators"], true).await?,
            mira: player("mira@example.com", Kind::Person, &[], false).await?,
            screener: player("agent-screener", Kind::Agent, &[], false).await?,
            stand_in: player("agent-stand-in", Kind::Agent, &[], false).await?,
            frida: player("frida@example.com", Kind::Person, &[FINANCE], false).await?,
            felix: player("felix@example.com", Kind::Person, &[FINANCE], false).await?,
        })
    }

    /// All of them.
    pub(super) fn people(&self) -> impl Iterator<Item = &Player> {
        [&self.olga, &self.mira, &self.screener, &self.stand_in, &self.frida, &self.felix].into_iter()
    }

    /// Ends the connections.
    pub(super) async fn close(self) {
        for player in [self.olga, self.mira, self.screener, self.stand_in, self.frida, self.felix] {
            player.client.close().await;
        }
    }
}
