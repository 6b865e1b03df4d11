//! Pace: the next step of a move.
//!
//! No part of a decision: a move has its target from one, and its columns from what is observed. Whether and when a step is made is
//! the caller's to decide. The plugin is called here because it sees the binding and the clusters as every plugin does; its answer is
//! checked by the rules of `divvy_framework_calls::pace` before anyone sees it.

use divvy_framework_abi::arena::{Arena, NO_ROW};
use divvy_framework_abi::call::PaceCall;
use divvy_framework_abi::{Slice, SliceMut};
use divvy_framework_arithmetic::pace::{Situation, Wait};
use divvy_framework_calls::pace::check_step;
use divvy_framework_memory::{Column, Slot};

use super::error::CycleError;
use super::run::{Cycle, CycleInput, INPUTS};
use super::verify::Violation;
use super::views::{Views, check_inputs};
use crate::plugin::PluginInstance;

/// A cluster of a move: one of the present result, of the target, or one in which replicas of the binding are still there. All counts
/// are replicas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovingCluster<'a> {
    /// Name of the cluster, which may be gone.
    pub name: &'a str,
    /// Replicas that the present result gives.
    pub current: i64,
    /// Replicas that are there.
    pub present: i64,
    /// Replicas that are known to be ready: a lower bound.
    pub ready: i64,
    /// Replicas in the target.
    pub target: i64,
    /// Further replicas that fit, beyond `current`; `i64::MAX` if room does not limit them.
    pub room: i64,
}

/// A binding on its way from its present result to a target.
#[derive(Debug, Clone, Copy)]
pub struct Moving<'a> {
    /// The clusters, sorted by name, each once.
    pub clusters: &'a [MovingCluster<'a>],
    /// Replicas that the binding asks for.
    pub total: i64,
    /// Replicas that a result may have beyond `total`.
    pub max_surge: i64,
    /// Replicas by which the ready ones may fall below `total`.
    pub max_unavailable: i64,
    /// The greatest number of clusters that a result may have; `None` without a limit.
    pub max_clusters: Option<u32>,
}

/// What a pace says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// The next result, one count per cluster of the move. It keeps all rules.
    Next(Vec<i64>),
    /// No step, for this reason.
    Waits(Wait),
}

/// The answer of a pace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaceAnswer {
    /// The step.
    pub step: Step,
    /// The plugin's remarks, if an explanation was requested or if it waits for a reason of its own.
    pub remarks: Vec<String>,
    /// Time until which the answer holds, in milliseconds since 1970; `None` if the plugin named none.
    pub valid_until: Option<i64>,
}

/// The columns of a move.
struct Columns {
    rows: Column<u32>,
    current: Column<i64>,
    present: Column<i64>,
    ready: Column<i64>,
    target: Column<i64>,
    room: Column<i64>,
}

impl Columns {
    fn new(moving: &Moving<'_>, arena: Arena<'_>) -> Self {
        let column = |value: fn(&MovingCluster<'_>) -> i64| moving.clusters.iter().map(value).collect();
        Self {
            rows: moving
                .clusters
                .iter()
                .map(|cluster| arena.row(cluster.name).unwrap_or(NO_ROW))
                .collect(),
            current: column(|cluster| cluster.current),
            present: column(|cluster| cluster.present),
            ready: column(|cluster| cluster.ready),
            target: column(|cluster| cluster.target),
            room: column(|cluster| cluster.room),
        }
    }

    fn situation<'a>(&'a self, moving: &Moving<'_>) -> Situation<'a> {
        Situation {
            current: &self.current,
            present: &self.present,
            ready: &self.ready,
            target: &self.target,
            room: &self.room,
            total: moving.total,
            max_surge: moving.max_surge,
            max_unavailable: moving.max_unavailable,
            max_clusters: moving.max_clusters,
        }
    }
}

impl Cycle {
    /// Asks a pace for the next step of a move, and checks its answer. The binding in `input` has the present result as its last one.
    ///
    /// Remarks are collected if `explain` is true, and if the plugin waits for a reason that only a remark can name.
    ///
    /// # Errors
    ///
    /// A [`CycleError`]: the plugin failed, or broke a rule. The caller writes nothing.
    pub fn pace(
        &mut self,
        plugin: &PluginInstance,
        input: &CycleInput<'_>,
        moving: &Moving<'_>,
        explain: bool,
    ) -> Result<PaceAnswer, CycleError> {
        // A caller can name a pace that the profile does not.
        check_inputs(plugin, INPUTS & !input.profile.needs())?;
        let columns = Columns::new(moving, Arena::new(input.fleet.snapshot().words()));
        let mut answer = self.ask_pace(plugin, input, moving, &columns, explain)?;
        // Collecting remarks takes time, and few answers need them.
        if answer.step == Step::Waits(Wait::Other) && !explain {
            answer = self.ask_pace(plugin, input, moving, &columns, true)?;
        }
        Ok(answer)
    }

    fn ask_pace(
        &mut self,
        plugin: &PluginInstance,
        input: &CycleInput<'_>,
        moving: &Moving<'_>,
        columns: &Columns,
        explain: bool,
    ) -> Result<PaceAnswer, CycleError> {
        self.begin_without_texts(input);
        self.texts = explain.then(Box::default);
        let mut step = Step::Waits(Wait::Other);
        let outcome = self.with_view(input, |cycle, _, views, _| {
            step = call(plugin, moving, columns, views, &mut cycle.valid_until)?;
            Ok(())
        });
        let texts = self.texts.take();
        outcome?;
        Ok(PaceAnswer {
            step,
            remarks: texts.map_or_else(Vec::new, |texts| {
                texts.notes().into_iter().map(|(_, text)| text).collect()
            }),
            valid_until: self.valid_until.get(),
        })
    }
}

fn call(
    plugin: &PluginInstance,
    moving: &Moving<'_>,
    columns: &Columns,
    views: Views<'_>,
    valid_until: &mut super::views::ValidUntil,
) -> Result<Step, CycleError> {
    views.check_known(plugin)?;
    let mut next = columns.current.to_vec();
    let mut seen = Slot::new();
    let mut call = PaceCall {
        cycle: views.cycle_for(plugin, &mut seen),
        policy: views.policy_for(plugin),
        rows: Slice::new(&columns.rows),
        current: Slice::new(&columns.current),
        present: Slice::new(&columns.present),
        ready: Slice::new(&columns.ready),
        target: Slice::new(&columns.target),
        room: Slice::new(&columns.room),
        total: moving.total,
        max_surge: moving.max_surge,
        max_unavailable: moving.max_unavailable,
        max_clusters: moving.max_clusters.unwrap_or(0),
        next: SliceMut::new(&mut next),
        ..PaceCall::DEFAULT
    };
    let answer = plugin.pace(&mut call, views.texts());
    valid_until.take(call.valid_until);
    let wait = call.wait;
    answer.map_err(CycleError::from_call)?;
    let name = |index: usize| {
        let cluster = moving.clusters.get(index);
        cluster.map(|cluster| cluster.name.to_owned()).unwrap_or_default()
    };
    let checked = check_step(plugin.name(), &columns.situation(moving), &next, wait, name);
    Ok(match checked.map_err(Violation::from)? {
        None => Step::Next(next),
        Some(wait) => Step::Waits(wait),
    })
}
