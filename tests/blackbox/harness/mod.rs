//! What scenarios are written with: servers, organizations, clients, and the checks that every answer meets.

mod check;
mod client;
pub mod evaluator;
mod expect;
mod graphs;
mod org;
mod record;
mod server;
mod verdict;

use std::sync::{Arc, LazyLock};

pub use client::{Answer, Client, ToolError, anonymous, fresh};
pub use evaluator::{Script, Trouble};
pub use expect::{item, refused, refused_as, state, states, without_urls};
pub use graphs::{Bundle, PARCEL};
pub use org::{Identity, Org, file};
pub use server::{Asks, BRIEF_SECONDS, Options, Server, is_remote, stop_servers};

/// What one scenario needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Any server.
    Any,
    /// Any server that asks the evaluator of this suite (profile check-1).
    Evaluator,
    /// A server that the suite started and may treat as it likes.
    Own,
}

/// One scenario.
pub struct Scenario {
    pub name: String,
    pub need: Need,
    pub run: Box<dyn FnOnce() + Send>,
}

impl Scenario {
    /// A scenario in an organization of its own, on the server that all such scenarios share.
    pub fn any(module: &str, name: &'static str, run: fn(&Org)) -> Scenario {
        Scenario {
            name: full(module, name),
            need: Need::Any,
            run: Box::new(move || run(&Org::new(&Server::shared(), name))),
        }
    }

    /// The same, of the profile check-1.
    pub fn checked(module: &str, name: &'static str, run: fn(&Org)) -> Scenario {
        Scenario { need: Need::Evaluator, ..Scenario::any(module, name, run) }
    }

    /// A scenario in an organization of its own, on a server whose clock runs an hour a second.
    pub fn fast(module: &str, name: &'static str, run: fn(&Org)) -> Scenario {
        Scenario {
            name: full(module, name),
            need: Need::Own,
            run: Box::new(move || run(&Org::new(&Server::fast(), name))),
        }
    }

    /// A scenario in an organization of its own, on a server whose leases last two seconds.
    pub fn brief(module: &str, name: &'static str, run: fn(&Org)) -> Scenario {
        Scenario {
            name: full(module, name),
            need: Need::Own,
            run: Box::new(move || run(&Org::new(&Server::brief(), name))),
        }
    }

    /// A scenario that starts its server by itself.
    pub fn own(module: &str, name: &'static str, run: fn()) -> Scenario {
        Scenario { name: full(module, name), need: Need::Own, run: Box::new(run) }
    }
}

fn full(module: &str, name: &str) -> String {
    let module = module.rsplit("::").next().unwrap_or(module);
    format!("{module}::{name}")
}

/// Lists the scenarios of a file: `any` runs against whatever server there is, the others say what they need, `checked`
/// the profile check-1.
macro_rules! scenarios {
    ($($need:ident: [$($name:ident),* $(,)?]),* $(,)?) => {
        pub fn scenarios() -> Vec<crate::harness::Scenario> {
            vec![$($(crate::harness::Scenario::$need(module_path!(), stringify!($name), $name),)*)*]
        }
    };
}
pub(crate) use scenarios;

/// Where all waiting for answers happens, so that scenarios read from top to bottom.
static RUNTIME: LazyLock<tokio::runtime::Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap());

/// The HTTP client of all calls.
static HTTP: LazyLock<reqwest::Client> = LazyLock::new(|| {
    identity::install_tls();
    let builder = reqwest::Client::builder()
        .timeout(std::time::Duration::from_secs(CALL_SECONDS))
        .redirect(reqwest::redirect::Policy::none());
    let builder = match named_here() {
        // Such a name means this machine, and not every resolver knows it (RFC 6761, section 6.3).
        Some(host) => builder.no_proxy().resolve(&host, (std::net::Ipv4Addr::LOCALHOST, 0).into()),
        None if is_remote() => builder,
        None => builder.no_proxy().tls_certs_only([]),
    };
    builder.build().unwrap()
});

/// The host of `PROCESSION_URL`, when it is a name under `localhost`.
fn named_here() -> Option<String> {
    let url: reqwest::Url = std::env::var("PROCESSION_URL").ok()?.parse().ok()?;
    url.host_str().filter(|host| host.ends_with(".localhost")).map(str::to_owned)
}

/// Longest that one call may take, in seconds.
const CALL_SECONDS: u64 = 30;

/// Longest that something which must come about by itself is waited for, in seconds.
const EVENTUALLY_SECONDS: u64 = 15;

/// Pause between two looks at something that must come about, in milliseconds.
const LOOK_MILLIS: u64 = 25;

/// Looks until `look` finds something, and fails when it never does.
#[track_caller]
pub fn eventually<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let end = std::time::Instant::now() + std::time::Duration::from_secs(EVENTUALLY_SECONDS);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(std::time::Instant::now() < end, "did not come about within {EVENTUALLY_SECONDS} seconds: {what}");
        std::thread::sleep(std::time::Duration::from_millis(LOOK_MILLIS));
    }
}

/// Lets real time pass.
pub fn pass(millis: u64) {
    std::thread::sleep(std::time::Duration::from_millis(millis));
}

/// Runs the same thing on many threads at once, and gives what each of them returned.
pub fn at_once<T: Send>(count: usize, run: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let gate = Arc::new(std::sync::Barrier::new(count));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..count)
            .map(|n| {
                let (gate, run) = (gate.clone(), &run);
                scope.spawn(move || {
                    gate.wait();
                    run(n)
                })
            })
            .collect();
        threads.into_iter().map(|t| t.join().expect("one of those that ran at once failed")).collect()
    })
}
