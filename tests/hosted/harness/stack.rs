//! The stack that is tested, and who may disturb it.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::Aws;

/// Longest that one call may take, in seconds: the timer's function has a minute.
const CALL_SECONDS: u64 = 75;

/// Where a stack is, as its deployment wrote it down.
pub struct Stack {
    pub name: String,
    pub mcp: String,
    pub table: String,
    pub bus: String,
    pub secret: String,
    pub dead_letters: String,
    pub token_command: String,
    /// The file of the plan that its functions read.
    pub plan: PathBuf,
    endpoint: String,
    region: String,
}

static STACK: LazyLock<Stack> = LazyLock::new(|| {
    let usual = || concat!(env!("CARGO_MANIFEST_DIR"), "/target/localstack/stacks/procession-faults.json").into();
    let path = std::env::var("PROCESSION_HOSTED").unwrap_or_else(|_| usual());
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|e| panic!("{path}: {e}; run localstack/up and localstack/deploy --faults first"));
    let told: Value = serde_json::from_str(&text).unwrap();
    let said = |value: &Value| value.as_str().unwrap_or_else(|| panic!("{path} does not say all: {told}")).to_owned();
    let output = |name: &str| said(&told["outputs"][name]);
    Stack {
        name: said(&told["stack"]),
        mcp: output("McpUrl"),
        table: output("TableName"),
        bus: output("BusName"),
        secret: output("SecretName"),
        dead_letters: output("DeadLettersUrl"),
        token_command: said(&told["tokenCommand"]),
        plan: said(&told["faults"]).into(),
        endpoint: said(&told["endpoint"]),
        region: said(&told["region"]),
    }
});

/// The stack.
pub fn stack() -> &'static Stack {
    &STACK
}

impl Stack {
    /// AWS, as this stack's account has it.
    pub fn aws(&self) -> Aws {
        Aws::new(self.http(), self.endpoint.clone(), self.region.clone())
    }

    /// A client that finds the function's address: names under localhost are this machine's.
    pub fn http(&self) -> reqwest::Client {
        identity::install_tls();
        let url = reqwest::Url::parse(&self.mcp).unwrap();
        let (host, port) = (url.host_str().unwrap(), url.port_or_known_default().unwrap());
        let builder =
            reqwest::Client::builder().no_proxy().tls_certs_only([]).timeout(Duration::from_secs(CALL_SECONDS));
        let builder = match host.ends_with(".localhost") {
            true => builder.resolve(host, ([127, 0, 0, 1], port).into()),
            false => builder,
        };
        builder.build().unwrap()
    }
}

static PEACE: LazyLock<RwLock<()>> = LazyLock::new(RwLock::default);

/// For a test that runs beside others.
pub async fn beside() -> RwLockReadGuard<'static, ()> {
    PEACE.read().await
}

/// For a test that changes what all the others stand on.
pub async fn alone() -> RwLockWriteGuard<'static, ()> {
    PEACE.write().await
}
