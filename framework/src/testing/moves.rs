//! The move: a binding between two results, on which a test runs a pace.

use divvy_framework_abi::Slice;
use divvy_framework_abi::arena::NO_ROW;
use divvy_framework_abi::call::PaceCall;
use divvy_framework_calls::pace::check_step;

use super::checked::check_same;
use super::scenario::within_range;
use super::{ClusterBuilder, Explanation, Scenario};
use crate::configuration::Preferences;
use crate::export::Given;
use crate::pace::{PaceContext, PacePlugin, PaceResult, Wait};
use crate::plugin::Failure;

/// A cluster of a [`Move`]. It has no replicas, needs none, and has room for any number, unless a test says otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovingCluster {
    name: String,
    current: i64,
    present: i64,
    ready: i64,
    target: i64,
    room: i64,
    is_gone: bool,
}

impl MovingCluster {
    /// A cluster with this name.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            current: 0,
            present: 0,
            ready: 0,
            target: 0,
            room: i64::MAX,
            is_gone: false,
        }
    }

    /// Sets the replicas of the present result, all of which are there and ready.
    #[must_use]
    pub fn running(self, replicas: i64) -> Self {
        Self {
            current: replicas,
            present: replicas,
            ready: replicas,
            ..self
        }
    }

    /// Sets the replicas of the present result.
    #[must_use]
    pub fn current(self, replicas: i64) -> Self {
        Self {
            current: replicas,
            ..self
        }
    }

    /// Sets the replicas that are there.
    #[must_use]
    pub fn present(self, replicas: i64) -> Self {
        Self {
            present: replicas,
            ..self
        }
    }

    /// Sets the replicas that are ready.
    #[must_use]
    pub fn ready(self, replicas: i64) -> Self {
        Self {
            ready: replicas,
            ..self
        }
    }

    /// Sets the replicas of the target.
    #[must_use]
    pub fn target(self, replicas: i64) -> Self {
        Self {
            target: replicas,
            ..self
        }
    }

    /// Sets the further replicas that fit, beyond those of the present result.
    #[must_use]
    pub fn room(self, replicas: i64) -> Self {
        Self { room: replicas, ..self }
    }

    /// Makes the cluster one that is not in the snapshot any more.
    #[must_use]
    pub fn gone(self) -> Self {
        Self { is_gone: true, ..self }
    }
}

/// The answer of a pace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The next result, one count per cluster of the move, by name.
    Next(Vec<i64>),
    /// No step, for this reason.
    Waits(Wait),
}

/// A binding on its way from its present result to a target, on which the steps of a pace can be run.
#[derive(Debug, Clone, Default)]
pub struct Move {
    scenario: Scenario,
    clusters: Vec<MovingCluster>,
    total: i64,
    max_surge: i64,
    max_unavailable: i64,
    max_clusters: u32,
}

impl Move {
    /// A move of a binding that asks for `total` replicas, without clusters and allowances.
    pub fn new(total: i64) -> Self {
        Self {
            scenario: Scenario::new(),
            total,
            ..Self::default()
        }
    }

    /// Sets the binding and the properties of the clusters that a scenario has. The replicas are those of the move.
    #[must_use]
    pub fn scenario(self, scenario: Scenario) -> Self {
        Self { scenario, ..self }
    }

    /// Adds a cluster, replacing one with the same name. Clusters are numbered by name.
    #[must_use]
    pub fn cluster(mut self, cluster: MovingCluster) -> Self {
        self.clusters.retain(|known| known.name != cluster.name);
        self.clusters.push(cluster);
        self.clusters.sort_by(|left, right| left.name.cmp(&right.name));
        self
    }

    /// Sets the replicas that a result may have beyond the total. 0 by default.
    #[must_use]
    pub fn max_surge(self, replicas: i64) -> Self {
        Self {
            max_surge: replicas,
            ..self
        }
    }

    /// Sets the replicas by which the ready ones may fall below the total. 0 by default.
    #[must_use]
    pub fn max_unavailable(self, replicas: i64) -> Self {
        Self {
            max_unavailable: replicas,
            ..self
        }
    }

    /// Sets the greatest number of clusters that a result may have. Unlimited by default.
    #[must_use]
    pub fn max_clusters(self, clusters: u32) -> Self {
        Self {
            max_clusters: clusters,
            ..self
        }
    }

    /// Runs one step.
    ///
    /// # Errors
    ///
    /// The plugin's [`Failure`], or the rule of the host that its answer breaks.
    pub fn step<T: Preferences + 'static, P: PacePlugin<T>>(&self, plugin: &P) -> Result<Step, Failure> {
        self.step_with(plugin, false).map(|(step, _)| step)
    }

    /// Runs one step like [`Self::step`], and also returns the plugin's explanation.
    ///
    /// # Errors
    ///
    /// As [`Self::step`].
    pub fn step_explained<T: Preferences + 'static, P: PacePlugin<T>>(
        &self,
        plugin: &P,
    ) -> Result<(Step, Explanation), Failure> {
        self.step_with(plugin, true)
    }

    /// Runs one step like [`Self::step`]. The plugin must give the same answer a second time and when it explains.
    ///
    /// # Errors
    ///
    /// As [`Self::step`].
    ///
    /// # Panics
    ///
    /// If the plugin answers differently.
    #[track_caller]
    pub fn step_checked<T: Preferences + 'static, P: PacePlugin<T>>(&self, plugin: &P) -> Result<Step, Failure> {
        let step = self.step(plugin)?;
        check_same(P::NAME, "the second time", &step, &self.step(plugin));
        let explained = self.step_with(plugin, true).map(|(step, _)| step);
        check_same(P::NAME, "when it explains", &step, &explained);
        Ok(step)
    }

    /// Runs the steps of an undisturbed move, in which each is complete and ready before the next is made. Returns the results in
    /// their order, up to the target; with a reason at the end if the pace waits before it.
    ///
    /// # Errors
    ///
    /// As [`Self::step`].
    ///
    /// # Panics
    ///
    /// As [`Self::step_checked`].
    #[track_caller]
    pub fn steps<T: Preferences + 'static, P: PacePlugin<T>>(&self, plugin: &P) -> Result<Vec<Step>, Failure> {
        let mut moving = self.clone();
        let mut steps = Vec::new();
        // It ends, because the host's rules bring each step nearer to the target.
        while moving.clusters.iter().any(|cluster| cluster.current != cluster.target) {
            let step = moving.step_checked(plugin)?;
            steps.push(step.clone());
            let Step::Next(next) = step else { break };
            for (cluster, replicas) in moving.clusters.iter_mut().zip(next) {
                let taken = replicas.saturating_sub(cluster.current);
                *cluster = MovingCluster {
                    room: cluster.room.saturating_sub(taken),
                    ..cluster.clone().running(replicas)
                };
            }
        }
        Ok(steps)
    }

    fn column(&self, value: impl Fn(&MovingCluster) -> i64) -> Vec<i64> {
        self.clusters.iter().map(value).collect()
    }

    /// The scenario with the clusters of the move, and the present result as its last one.
    fn as_scenario(&self) -> Scenario {
        let mut scenario = self.scenario.clone().replicas(self.total);
        let mut listed = Vec::new();
        for cluster in &self.clusters {
            let known = scenario.clusters.iter().any(|known| known.name == cluster.name);
            if !known && !cluster.is_gone {
                scenario = scenario.cluster(ClusterBuilder::new(&cluster.name));
            }
            if cluster.current > 0 {
                listed.push((cluster.name.as_str(), cluster.current));
            }
        }
        scenario.last_result(&listed)
    }

    fn step_with<T: Preferences + 'static, P: PacePlugin<T>>(
        &self,
        plugin: &P,
        explain: bool,
    ) -> Result<(Step, Explanation), Failure> {
        let scenario = self.as_scenario();
        let row = |cluster: &MovingCluster| scenario.clusters.iter().position(|known| known.name == cluster.name);
        let rows = self
            .clusters
            .iter()
            .map(|cluster| row(cluster).map_or(NO_ROW, |row| row as u32));
        let rows: Vec<u32> = rows.collect();
        let current = self.column(|cluster| cluster.current);
        let present = self.column(|cluster| cluster.present);
        let ready = self.column(|cluster| cluster.ready);
        let target = self.column(|cluster| cluster.target);
        let room = self.column(|cluster| cluster.room);
        let call = PaceCall {
            rows: Slice::new(&rows),
            current: Slice::new(&current),
            present: Slice::new(&present),
            ready: Slice::new(&ready),
            target: Slice::new(&target),
            room: Slice::new(&room),
            total: self.total,
            max_surge: self.max_surge,
            max_unavailable: self.max_unavailable,
            max_clusters: self.max_clusters,
            ..PaceCall::DEFAULT
        };
        let preferences = Given::<T>::new(scenario.preferences_as()?);
        let name = |index: usize| {
            self.clusters
                .get(index)
                .map(|cluster| cluster.name.clone())
                .unwrap_or_default()
        };
        scenario.run(explain, P::NEEDS, |cycle| {
            let mut next = current.clone();
            let context = PaceContext::new(&cycle, &preferences, call);
            let mut result = PaceResult::new(&mut next);
            plugin.pace(&context, &mut result)?;
            within_range(result.dropped)?;
            let wait = result.wait();
            match check_step(P::NAME, &context.situation(), &next, wait, name) {
                Ok(None) => Ok(Step::Next(next)),
                Ok(Some(wait)) => Ok(Step::Waits(wait)),
                Err(violation) => Err(Failure::internal(violation.to_string())),
            }
        })
    }
}
