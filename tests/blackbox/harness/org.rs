//! An organization of one scenario: its people, agents and processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Map, Value, json};

use super::{Client, Server};

/// Who a token is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub kind: &'static str,
    pub subject: String,
    pub org: String,
    pub groups: Vec<String>,
    pub operator: bool,
    pub person: Option<String>,
}

impl Identity {
    /// The arguments of the command that makes tokens.
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = vec!["--kind", self.kind, "--subject", &self.subject, "--org", &self.org];
        for group in &self.groups {
            arguments.extend(["--group", group]);
        }
        if self.operator {
            arguments.push("--operator");
        }
        if let Some(person) = &self.person {
            arguments.extend(["--person", person]);
        }
        arguments.into_iter().map(str::to_owned).collect()
    }
}

/// An organization that nobody else uses.
pub struct Org {
    pub server: Arc<Server>,
    pub name: String,
    /// An agent.
    pub agent: Client,
    /// Another agent.
    pub other: Client,
    /// A person with the operator right.
    pub operator: Client,
    /// A person in the group `staff`.
    pub staff: Client,
    /// A person in no group.
    pub outsider: Client,
}

/// The group that [`Org::publish`] binds every role to.
pub const GROUP: &str = "staff";

static MADE: AtomicU64 = AtomicU64::new(0);

impl Org {
    /// A new organization on this server.
    pub fn new(server: &Arc<Server>, hint: &str) -> Org {
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        // A server that somebody else runs remembers earlier rounds of this suite.
        let name = format!("{hint}-{}-{number}", super::fresh().get(..12).unwrap());
        let client = |kind, subject: &str, groups: &[&str], operator| {
            let groups = groups.iter().map(|g| (*g).to_owned()).collect();
            let subject = subject.to_owned();
            let who = Identity { kind, subject, org: name.clone(), groups, operator, person: None };
            Client::new(server, who)
        };
        Org {
            agent: client("agent", "a_one", &[], false),
            other: client("agent", "a_two", &[], false),
            operator: client("person", "olga@acme.example", &[], true),
            staff: client("person", "stan@acme.example", &[GROUP], false),
            outsider: client("person", "oscar@acme.example", &[], false),
            server: server.clone(),
            name,
        }
    }

    /// Another organization on the same server.
    pub fn foreign(&self) -> Org {
        Org::new(&self.server, "foreign")
    }

    /// A client of this organization.
    pub fn client(&self, kind: &'static str, subject: &str, groups: &[&str], operator: bool) -> Client {
        let groups = groups.iter().map(|g| (*g).to_owned()).collect();
        let (subject, org) = (subject.to_owned(), self.name.clone());
        Client::new(&self.server, Identity { kind, subject, org, groups, operator, person: None })
    }

    /// A person of this organization.
    pub fn person(&self, subject: &str, groups: &[&str]) -> Client {
        self.client("person", subject, groups, false)
    }

    /// Imports and publishes a process whose roles all are the group `staff`. Gives what the publication returned.
    #[track_caller]
    pub fn publish(&self, source: &str) -> Value {
        // Every scenario publishes something, so this is not repeated like other writes.
        let once = |tool: &str, mut arguments: Value| {
            arguments["requestId"] = json!(super::fresh());
            self.operator.exact(tool, arguments).unwrap_or_else(|e| panic!("{tool} was refused: {e:?}"))
        };
        let imported = once("import_process", json!({ "source": source }));
        let roles: Map<String, Value> = imported["roles"]
            .as_array()
            .unwrap()
            .iter()
            .map(|role| (role.as_str().unwrap().to_owned(), json!(GROUP)))
            .collect();
        once("publish_process", json!({ "name": imported["name"], "roles": roles }))
    }

    /// Publishes a process of this name, with the rest of its frontmatter, and starts it as an agent with these inputs.
    /// Gives the run view.
    #[track_caller]
    pub fn run(&self, name: &str, rest: &str, inputs: Value) -> Value {
        self.publish(&file(name, rest));
        self.agent.start(name, inputs)
    }
}

/// A PROCESS.md of this name.
pub fn file(name: &str, rest: &str) -> String {
    let rest = rest.trim_matches('\n');
    format!("---\nname: {name}\ndescription: What {name} is for.\n{rest}\n---\n\n# {name}\n\nIn plain words.\n")
}
