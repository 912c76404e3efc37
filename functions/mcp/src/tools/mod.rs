//! The tools, one a file, and the table of them that the endpoint serves.
//!
//! What every call shares is here: the arguments are checked against the tool's schema with all faults at once, blank
//! texts count as missing, storage calls are counted, and whatever the store refuses becomes the tool's error.

mod arguments;
mod asked;
mod cancel;
mod checkpoint_graph_run;
mod claim;
mod decide;
mod describe;
mod escalate;
mod evaluate_graph;
mod get_graph_run;
mod get_process;
mod get_route;
mod get_run;
mod get_work;
mod graphs;
mod guidance;
mod import_process;
mod list_processes;
mod list_providers;
mod list_runs;
mod locate_resource;
mod publish_process;
mod publish_provider;
mod published;
mod record_outcome;
mod renew;
mod resume_graph_run;
mod send_event;
mod set_authorities;
mod set_facts;
mod start_graph_run;
mod start_run;
mod submit;
mod upload;

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use identity::Caller;
use run::{Actor, ActorKind};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use store::{Request, Store, counting};

use crate::error::{Code, ToolError};
use crate::seam::{Failure, Meter, ToolAnswer, ToolInfo, Tools};
use crate::{schemas, validate};

pub use published::{published, published_graphs};

/// What an agent that knows nothing else is told when it connects.
const INSTRUCTIONS: &str = "\
This server runs business processes step by step. Agents do the agent steps, people decide, the server keeps the order.\n\
As an agent: call get_work, make the exact claim call it shows (with a new UUID as requestId), read the step's \
instructions, the body and the run data, do the work with your own tools, then submit. renew before expiresAt if you need \
longer. If you cannot finish, escalate. Repeat a call whose answer was lost with the same requestId.\n\
As a person: call get_work, read the run with get_run, then make the decide call it shows.\n\
In a run with mode test, cause no real effects.\n\
Graphs say what may be done next from what is known: list_providers names them, start_graph_run remembers for you, and then \
get_route, do it, record_outcome, until the evaluation is complete.";

/// One call, as a tool sees it.
pub(crate) struct Call<'a> {
    pub(crate) store: &'a Store,
    pub(crate) caller: &'a Caller,
    pub(crate) actor: Actor,
    digest: String,
}

impl<'a> Call<'a> {
    /// The caller's organization.
    pub(crate) fn org(&self) -> &'a str {
        &self.caller.org
    }

    /// This call as a write that is known by its request id.
    pub(crate) fn request<'b>(&'b self, tool: &'static str, id: &'b str) -> Request<'b> {
        Request { org: &self.caller.org, actor: &self.actor, tool, id, digest: self.digest.clone() }
    }
}

/// One MCP tool.
#[async_trait]
pub(crate) trait Tool: Send + Sync + 'static {
    /// The name it is called by.
    const NAME: &'static str;
    /// A few words for people.
    const TITLE: &'static str;
    /// For an agent that never read the specification.
    const DESCRIPTION: &'static str;
    /// Changes nothing.
    const READ_ONLY: bool = false;
    /// May end or undo what others rely on.
    const DESTRUCTIVE: bool = false;
    /// Its arguments.
    type Arguments: DeserializeOwned + JsonSchema + Send;
    /// The `data` of its result.
    type Data: Serialize + JsonSchema;

    /// Does it.
    async fn call(call: Call<'_>, arguments: Self::Arguments) -> Result<Self::Data, store::Error>;
}

/// Every tool over one store.
pub struct ProcessTools {
    store: Arc<Store>,
    tools: Vec<Arc<dyn Entry>>,
    by_name: BTreeMap<&'static str, Arc<dyn Entry>>,
}

impl ProcessTools {
    /// The tools of this store.
    ///
    /// # Errors
    ///
    /// A tool's schema that is not one: a fault of this program, found before it serves.
    pub fn new(store: Arc<Store>) -> Result<ProcessTools, String> {
        let tools: Vec<Arc<dyn Entry>> = vec![
            entry::<describe::Describe>()?,
            entry::<list_processes::ListProcesses>()?,
            entry::<start_run::StartRun>()?,
            entry::<get_run::GetRun>()?,
            entry::<get_work::GetWork>()?,
            entry::<claim::Claim>()?,
            entry::<renew::Renew>()?,
            entry::<upload::Upload>()?,
            entry::<submit::Submit>()?,
            entry::<escalate::Escalate>()?,
            entry::<decide::Decide>()?,
            entry::<cancel::Cancel>()?,
            entry::<send_event::SendEvent>()?,
            entry::<list_runs::ListRuns>()?,
            entry::<import_process::ImportProcess>()?,
            entry::<publish_process::PublishProcess>()?,
            entry::<get_process::GetProcess>()?,
            entry::<publish_provider::PublishProvider>()?,
            entry::<list_providers::ListProviders>()?,
            entry::<evaluate_graph::EvaluateGraph>()?,
            entry::<get_route::GetRoute>()?,
            entry::<start_graph_run::StartGraphRun>()?,
            entry::<record_outcome::RecordOutcome>()?,
            entry::<set_facts::SetFacts>()?,
            entry::<set_authorities::SetAuthorities>()?,
            entry::<get_graph_run::GetGraphRun>()?,
            entry::<checkpoint_graph_run::CheckpointGraphRun>()?,
            entry::<resume_graph_run::ResumeGraphRun>()?,
            entry::<locate_resource::LocateResource>()?,
        ];
        let by_name = tools.iter().map(|t| (t.name(), Arc::clone(t))).collect();
        Ok(ProcessTools { store, tools, by_name })
    }
}

/// The names of all tools, in the order in which they are listed.
pub(crate) const NAMES: [&str; 29] = identity::TOOLS;

#[async_trait]
impl Tools for ProcessTools {
    fn list(&self) -> Vec<ToolInfo> {
        self.tools.iter().map(|t| t.info()).collect()
    }

    fn name(&self, name: &str) -> Option<&'static str> {
        self.by_name.get_key_value(name).map(|(name, _)| *name)
    }

    fn instructions(&self) -> Option<String> {
        Some(INSTRUCTIONS.to_owned())
    }

    async fn call(&self, caller: &Caller, name: &str, arguments: Map<String, Value>) -> ToolAnswer {
        let Some(entry) = self.by_name.get(name) else {
            return Err(ToolError::new(Code::NotFound, format!("There is no tool `{name}`."))).into();
        };
        let text = |name: &str| arguments.get(name).and_then(Value::as_str);
        let claimed = || text("token").and_then(|token| self.store.claimed(&caller.org, token).ok());
        // The line of the log names the run, however the call names it.
        let run = text("runId")
            .or_else(|| text("graphRunId"))
            .map(str::to_owned)
            .or_else(|| claimed().map(|claim| claim.run));
        let (outcome, meter) = counting::metered(entry.call(&self.store, caller, arguments)).await;
        // What a start made is known from the answer.
        let shown = |data: &Value| data.get("run").and_then(|r| r.get("id")).and_then(Value::as_str).map(str::to_owned);
        let run = run.or_else(|| outcome.as_ref().ok().and_then(shown));
        let meter = Meter {
            run,
            storage_calls: meter.calls,
            storage_rounds: meter.rounds,
            storage_transactions: meter.transactions,
        };
        ToolAnswer { outcome, meter }
    }
}

/// A tool with its type forgotten.
#[async_trait]
trait Entry: Send + Sync {
    fn name(&self) -> &'static str;
    /// Made anew each time: the schemas of results take long to derive, and only a client that lists the tools wants them.
    fn info(&self) -> ToolInfo;
    async fn call(&self, store: &Store, caller: &Caller, raw: Map<String, Value>) -> Result<Value, Failure>;
}

struct Typed<T> {
    input_schema: Arc<Map<String, Value>>,
    validator: validate::Validator,
    tool: std::marker::PhantomData<fn() -> T>,
}

fn entry<T: Tool>() -> Result<Arc<dyn Entry>, String> {
    let mut input = schemas::arguments::<T::Arguments>();
    refuse_blank(&mut input);
    let input = Value::Object(input);
    let validator = validate::Validator::new(T::NAME, &input)?;
    let input_schema = Arc::new(if let Value::Object(input) = input { input } else { Map::new() });
    Ok(Arc::new(Typed::<T> { input_schema, validator, tool: std::marker::PhantomData }))
}

/// Blank counts as missing: every required text must say something. A token of blanks, or an id, is no different.
fn refuse_blank(schema: &mut Map<String, Value>) {
    let required: Vec<String> = match schema.get("required").and_then(Value::as_array) {
        Some(names) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        None => return,
    };
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for name in required {
        if let Some(property) = properties.get_mut(&name).and_then(Value::as_object_mut)
            && property.get("type").and_then(Value::as_str) == Some("string")
            && !property.contains_key("enum")
        {
            property.insert("pattern".to_owned(), Value::from(validate::NOT_BLANK));
        }
    }
}

#[async_trait]
impl<T: Tool> Entry for Typed<T> {
    fn name(&self) -> &'static str {
        T::NAME
    }

    fn info(&self) -> ToolInfo {
        ToolInfo {
            name: T::NAME,
            title: T::TITLE,
            description: T::DESCRIPTION,
            input_schema: Arc::clone(&self.input_schema),
            output_schema: Arc::new(schemas::result_of::<T::Data>()),
            read_only: T::READ_ONLY,
            // Every write is known by its request id, so repeating any call is safe.
            idempotent: true,
            destructive: T::DESTRUCTIVE,
        }
    }

    async fn call(&self, store: &Store, caller: &Caller, raw: Map<String, Value>) -> Result<Value, Failure> {
        let digest = match T::READ_ONLY {
            true => String::new(),
            false => run::digest(&Value::Object(raw.clone())),
        };
        let arguments: T::Arguments = self.validator.read(raw).map_err(|issues| {
            let message = format!("The arguments of {} are not right. Fix each issue and call again.", T::NAME);
            Failure::Refused(ToolError::new(Code::Invalid, message).with_issues(issues))
        })?;
        if let Err(denied) = identity::permit(T::NAME, caller)
            && denied.when == identity::When::First
        {
            return Err(Failure::Refused(ToolError::new(Code::Forbidden, denied.message)));
        }
        let call = Call { store, caller, actor: actor(caller), digest };
        let data = T::call(call, arguments).await.map_err(|e| refused(T::NAME, e))?;
        serde_json::to_value(data).map_err(|e| refused(T::NAME, store::Error::Invariant(e.to_string())))
    }
}

/// Most issues that one refusal tells.
const ISSUES_TOLD: usize = 1_000;

/// Longest text of a message or an issue, in characters. A caller's own text in it may be megabytes long.
const TEXT_CHARACTERS: usize = 600;

/// The issues that are told; the last one says how many are not.
fn bounded(mut issues: Vec<String>) -> Vec<String> {
    let over = issues.len().saturating_sub(ISSUES_TOLD);
    issues.truncate(ISSUES_TOLD);
    let mut issues: Vec<String> = issues.into_iter().map(clipped).collect();
    if over > 0 {
        issues.push(format!("and {over} more"));
    }
    issues
}

fn clipped(text: String) -> String {
    match text.char_indices().nth(TEXT_CHARACTERS) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn actor(caller: &Caller) -> Actor {
    Actor {
        subject: caller.subject.clone(),
        kind: match caller.kind {
            identity::Kind::Agent => ActorKind::Agent,
            identity::Kind::Person => ActorKind::Person,
        },
        groups: caller.groups.clone(),
        operator: caller.operator,
        person: caller.person.clone(),
        may_decide: caller.may_decide,
    }
}

fn refused(tool: &'static str, error: store::Error) -> Failure {
    Failure::Refused(match error {
        store::Error::Refused(refusal) => {
            ToolError::new(refusal.code, clipped(refusal.message)).with_issues(bounded(refusal.issues))
        }
        store::Error::Retry(why) => {
            tracing::warn!(tool, why, "storage did not let a call through");
            ToolError::new(Code::Retry, "The server is busy with this. Repeat the call with the same requestId.")
        }
        store::Error::Invariant(why) => {
            tracing::error!(tool, why, "a state that cannot be");
            return Failure::Broken;
        }
    })
}

/// An answer that the store keeps whole, as the tool's own type: a repeated call reads the same one.
fn recorded<T: DeserializeOwned>(value: Value) -> Result<T, store::Error> {
    serde_json::from_value(value).map_err(|e| store::Error::Invariant(format!("a recorded answer cannot be read: {e}")))
}
