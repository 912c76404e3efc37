//! The store: two seams, a clock, ids, a seal, and the limits. What it does is in the files beside this one, one
//! concern each.

use std::sync::Arc;
use std::time::Duration;

use run::{Limits, Time};

use crate::catalogue::Versions;
use crate::context::{Alarms, Clock, Evaluator, Ids};
use crate::files::Files;
use crate::graph_runs::GraphLimits;
use crate::providers::Kept;
use crate::seal::Seal;
use crate::table::Table;

/// Settings of a server, the same for every organization.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The limits that bound a run.
    pub limits: Limits,
    /// Whether steps may be guided by graphs (profile graph-1). Versions that were published while they could keep theirs.
    pub graph: bool,
    /// The limits that bound a run of a Graph.
    pub graph_limits: GraphLimits,
    /// The group that escalations are assigned to.
    pub operators_group: String,
    /// Most bytes of one upload.
    pub upload_bytes: usize,
    /// How long a link to a file opens it.
    pub link: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            limits: Limits::default(),
            graph: true,
            graph_limits: GraphLimits::default(),
            operators_group: "operators".to_owned(),
            upload_bytes: 10 * 1024 * 1024,
            link: Duration::from_secs(15 * 60),
        }
    }
}

/// Runs, processes and evidence of every organization.
pub struct Store {
    pub(crate) table: Arc<dyn Table>,
    pub(crate) files: Arc<dyn Files>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) alarms: Arc<dyn Alarms>,
    pub(crate) evaluator: Option<Arc<dyn Evaluator>>,
    pub(crate) seal: Seal,
    pub(crate) settings: Settings,
    pub(crate) versions: Versions,
    pub(crate) providers: Kept,
}

/// What a [`Store`] is made of.
pub struct Parts {
    /// Where runs are kept.
    pub table: Arc<dyn Table>,
    /// Where evidence is kept.
    pub files: Arc<dyn Files>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Fresh ids.
    pub ids: Arc<dyn Ids>,
    /// Who wakes idle runs.
    pub alarms: Arc<dyn Alarms>,
    /// Who answers checks; without one the profile check-1 is not offered.
    pub evaluator: Option<Arc<dyn Evaluator>>,
    /// What claim tokens and cursors are sealed with.
    pub seal: Seal,
    /// The settings.
    pub settings: Settings,
}

impl Store {
    /// A store of these parts.
    pub fn new(parts: Parts) -> Store {
        let Parts { table, files, clock, ids, alarms, evaluator, seal, settings } = parts;
        let (versions, providers) = (Versions::default(), Kept::default());
        Store { table, files, clock, ids, alarms, evaluator, seal, settings, versions, providers }
    }

    /// The profiles that runs may use here: check-1 only while there is somebody to answer, graph-1
    /// only where [`Settings::graph`] says so (core §8).
    pub fn profiles(&self) -> Vec<&'static str> {
        let check = self.evaluator.is_some().then_some(process::CHECK_1);
        let graph = self.settings.graph.then_some(process::GRAPH_1);
        [process::PARALLEL_1].into_iter().chain(check).chain(graph).collect()
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The store's time.
    pub fn now(&self) -> Time {
        self.clock.now()
    }
}
