//! The run of a step's attempt, as part of the transaction that a claim or a submission is (profile graph-1).

use std::sync::Arc;

use run::{Actor, Time};
use serde_json::{Map, Value};

use super::GraphRun;
use super::journal::{Happened, Journal};
use crate::error::Error;
use crate::keys;
use crate::providers::PublishedProvider;
use crate::store::Store;
use crate::table::{Op, When};

/// From the Facts that a run has (none while it is not there) to those that it should have.
pub(crate) type FactsAfter<'a> = &'a (dyn Fn(&Map<String, Value>) -> Map<String, Value> + Send + Sync);

/// The run of a step's attempt, as a claim opens it.
pub(crate) struct Opening<'a> {
    /// The run's id, made from the process run, the step and its attempt: a repeated claim finds it again.
    pub(crate) id: &'a str,
    /// The Provider that the process's version pins.
    pub(crate) provider: Arc<PublishedProvider>,
    /// The Graph.
    pub(crate) graph: &'a str,
    /// The entry.
    pub(crate) entry: &'a str,
    /// The Facts.
    pub(crate) facts: FactsAfter<'a>,
    /// Who claims.
    pub(crate) actor: &'a Actor,
    /// The tool.
    pub(crate) tool: &'a str,
    /// When.
    pub(crate) at: Time,
}

impl Store {
    /// The run of a step's attempt, as it will be once these operations are committed: they begin it, or bring its Facts up
    /// to date, or only hold it still, and refuse when somebody else wrote to it meanwhile. A run that is there and has no
    /// room for its Facts is held as it was left; one that begins and has none begins without Facts. One round.
    ///
    /// # Errors
    ///
    /// As for [`Store::start_graph_run`], for a run that begins.
    pub(crate) async fn graph_run_opening(
        &self,
        org: &str,
        opening: Opening<'_>,
    ) -> Result<(GraphRun, Vec<Op>), Error> {
        let Opening { id, provider, graph, entry, facts, actor, tool, at } = opening;
        let (before, happened) = match self.graph_journal(org, id, None).await? {
            None => {
                let began = Happened::started(&provider.reference, graph, entry, facts(&Map::new()));
                (Journal::none(id.to_owned(), provider), began)
            }
            Some(there) => {
                let held = (there.run.clone(), vec![self.graph_run_unchanged(org, &there.run)]);
                let wanted = facts(&there.run.run.facts);
                if wanted == there.run.run.facts {
                    return Ok(held);
                }
                let mended = Happened::Facts { facts: wanted, replace: true };
                return match self.graph_step(org, there, mended, at, actor, tool) {
                    Ok((after, op)) => Ok((after.run, vec![op])),
                    // What others filled up to a limit must not keep everybody from the step: only who holds it can
                    // escalate it. A submission is held to the facts of the process all the same.
                    Err(Error::Refused(_)) => Ok(held),
                    Err(other) => Err(other),
                };
            }
        };
        let (began, op) = match self.graph_step(org, before.clone(), happened, at, actor, tool) {
            // Facts that have no room must keep nobody from the step either: the run begins without any.
            Err(Error::Refused(_)) => {
                let bare = Happened::started(&before.run.provider.reference, graph, entry, Map::new());
                self.graph_step(org, before, bare, at, actor, tool)?
            }
            done => done?,
        };
        Ok((began.run, vec![op]))
    }

    /// A run as it was after this event, for a claim that is repeated; `None` when it never came so far.
    pub(crate) async fn graph_run_at(&self, org: &str, id: &str, sequence: u64) -> Result<Option<GraphRun>, Error> {
        let journal = self.graph_journal(org, id, Some(sequence)).await?;
        Ok(journal.map(|journal| journal.run).filter(|run| run.sequence() == sequence))
    }

    /// The operation that refuses when somebody wrote to this run since it was read.
    pub(crate) fn graph_run_unchanged(&self, org: &str, run: &GraphRun) -> Op {
        let key = keys::graph_journal(org, &run.run.id, run.sequence() + 1);
        Op::Check { key, when: When::Absent }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Mutex;
    use std::time::Duration;

    use async_trait::async_trait;
    use run::ActorKind;
    use serde_json::json;

    use super::*;
    use crate::files::{Files, FilesError, Shown};
    use crate::memory::MemoryTable;
    use crate::table::TableError;
    use crate::{
        GraphCommand, GraphLimits, NoAlarms, Parts, Pin, RandomIds, Request, Seal, SealKey, Settings, SystemClock,
    };

    #[derive(Default)]
    struct Bucket(Mutex<BTreeMap<String, Vec<u8>>>);

    #[async_trait]
    impl Files for Bucket {
        async fn put(&self, key: &str, bytes: Vec<u8>, _: &str) -> Result<(), FilesError> {
            self.0.lock().unwrap().insert(key.to_owned(), bytes);
            Ok(())
        }
        async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, FilesError> {
            Ok(self.0.lock().unwrap().get(key).cloned())
        }
        async fn link(&self, key: &str, _: &Shown, _: Duration) -> Result<String, FilesError> {
            Ok(key.to_owned())
        }
    }

    fn store() -> Store {
        let secret = b"thirty-two bytes or more of secret".to_vec();
        Store::new(Parts {
            table: Arc::new(MemoryTable::new()),
            files: Arc::new(Bucket::default()),
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            alarms: Arc::new(NoAlarms),
            evaluator: None,
            seal: Seal::new(vec![SealKey { id: "k".into(), secret }]).unwrap(),
            settings: Settings::default(),
        })
    }

    fn bundle() -> BTreeMap<String, Vec<u8>> {
        let files = [
            ("provider.yaml", "schema: agent-graph.provider.v1\nid: p\nversion: 1.0.0\ngraphs: [g.yaml]\n"),
            (
                "g.yaml",
                "schema: agent-graph.graph.v1\nid: g\nentrypoints: { default: do }\nnodes:\n  \
                 - { id: do, kind: action, reasonCode: route.do, action: a.yaml }\n  \
                 - { id: done, kind: terminal, terminalOutcome: completed }\nedges: [{ from: do, to: done }]\n",
            ),
            ("a.yaml", "schema: agent-graph.action.v1\nid: a\nrunner: command\neffect: read\ncommand: make\n"),
        ];
        let source = graph::Memory(files.map(|(path, text)| (path.to_owned(), text.as_bytes().into())).into());
        let built = graph::build(&source, &graph::load(&source, "provider.yaml").unwrap()).unwrap();
        built.files.into_iter().map(|(path, bytes)| (path, bytes.to_vec())).collect()
    }

    #[tokio::test]
    async fn a_run_is_opened_once_follows_its_facts_and_is_held_still() {
        let store = store();
        let bot = Actor {
            subject: "bot".into(),
            kind: ActorKind::Agent,
            groups: Vec::new(),
            operator: false,
            person: None,
            may_decide: false,
        };
        let request = |id| Request::new("o", &bot, "tool", id, &Map::new());
        store.publish_provider(&request("p"), bundle()).await.unwrap();
        let provider = store.provider("o", "p", Pin::Latest).await.unwrap();
        let open = async |graph: &str, topic: Value| {
            let facts = |there: &Map<String, Value>| {
                let mut facts = there.clone();
                facts.insert("topic".to_owned(), topic.clone());
                facts
            };
            let opening = Opening {
                id: "g_of.a.step",
                provider: Arc::clone(&provider),
                graph,
                entry: "default",
                facts: &facts,
                actor: &bot,
                tool: "claim",
                at: Time::from_millis(1_000),
            };
            store.graph_run_opening("o", opening).await
        };
        match open("none", json!(1)).await {
            Err(Error::Refused(refusal)) => assert_eq!(refusal.code, run::Code::NotFound),
            other => panic!("{other:?}"),
        }
        // Facts that have no room keep nobody from the step.
        let (bare, _) = open("g", json!("x".repeat(GraphLimits::default().run_bytes))).await.unwrap();
        assert_eq!((bare.sequence(), bare.run.facts.len()), (1, 0));
        // Nothing is there until the claim is committed, and two claims at once open it once.
        let (first, ops) = open("g", json!(1)).await.unwrap();
        let (_, too_late) = open("g", json!(2)).await.unwrap();
        assert!(store.graph_run("o", "g_of.a.step").await.is_err());
        store.table.transact(&ops).await.unwrap();
        assert!(matches!(store.table.transact(&too_late).await, Err(TableError::Refused { .. })));
        assert_eq!(store.graph_run("o", "g_of.a.step").await.unwrap().run, first.run);
        assert_eq!(first.run.facts["topic"], json!(1));
        // The same facts again write nothing, and meet whoever records meanwhile.
        let (again, ops) = open("g", json!(1)).await.unwrap();
        assert_eq!(again.run, first.run);
        assert!(matches!(ops.as_slice(), [Op::Check { .. }]));
        store.table.transact(&ops).await.unwrap();
        let (_, changed) = open("g", json!(3)).await.unwrap();
        let record = GraphCommand::Record {
            node: "g/do".into(),
            outcome: graph::documents::Outcome::Completed,
            detail: None,
            revision: None,
        };
        store.change_graph_run(&request("c"), "g_of.a.step", record).await.unwrap();
        for ops in [ops, changed] {
            assert!(matches!(store.table.transact(&ops).await, Err(TableError::Refused { .. })));
        }
        // Other facts are one event, beside what others set.
        let (after, ops) = open("g", json!(3)).await.unwrap();
        store.table.transact(&ops).await.unwrap();
        assert_eq!((after.sequence(), &after.run.facts["topic"]), (3, &json!(3)));
        assert_eq!(store.graph_run("o", "g_of.a.step").await.unwrap().run, after.run);
        assert_eq!(store.graph_run_at("o", "g_of.a.step", 1).await.unwrap().unwrap().run, first.run);
        assert!(store.graph_run_at("o", "g_of.a.step", 4).await.unwrap().is_none());
    }
}
