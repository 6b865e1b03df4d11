//! Runs the calls of a cycle one stage at a time, with the columns that the previous stages produced.

use divvy_framework_abi::call::{AssignCall, FilterCall, ScoreCall, SelectCall};
use divvy_framework_abi::view::CycleView;
use divvy_framework_abi::{Pointer, Slice, SliceMut};
use divvy_framework_calls::cycle::{self as calls, CycleOptions, Resolution};
use divvy_scheduler::fleet::{FleetSnapshot, estimate};
use divvy_scheduler::plan::Plan;
use divvy_scheduler::profile::{Profile, Strategy};

/// One binding against one snapshot, with the columns of all stages filled.
pub(crate) struct Stages<'a> {
    profile: &'a Profile,
    strategy: Strategy<'a>,
    fleet: &'a FleetSnapshot,
    plan: &'a Plan,
    resolution: Resolution,
    codes: Vec<u32>,
    rows: Vec<u32>,
    zeros: Vec<i64>,
    scores: Vec<i64>,
    fits_now: Vec<i64>,
    selected: Vec<u32>,
    /// Row of each candidate, in the order that Select returned.
    candidates: Vec<u32>,
    candidates_fit: Vec<i64>,
    /// Replicas of each candidate.
    pub(crate) result: Vec<i64>,
}

/// Name of a stage and the function that runs it.
type Stage = (&'static str, fn(&mut Stages<'_>));

impl<'a> Stages<'a> {
    /// The stages in their order.
    pub(crate) const ALL: [Stage; 5] = [
        ("filter", |stages| stages.filter()),
        ("score", |stages| stages.score()),
        ("estimate", |stages| stages.estimate()),
        ("select", |stages| stages.select()),
        ("assign", |stages| stages.assign()),
    ];

    /// Runs every stage once, which fills all columns.
    pub(crate) fn new(profile: &'a Profile, fleet: &'a FleetSnapshot, plan: &'a Plan) -> Self {
        let mut resolution = Resolution::default();
        resolution.resolve(fleet.snapshot(), &plan.groups[0].record);
        let mut stages = Self {
            profile,
            strategy: profile.strategy(&plan.strategy).expect("the profile has the strategy"),
            fleet,
            plan,
            resolution,
            codes: Vec::new(),
            rows: Vec::new(),
            zeros: Vec::new(),
            scores: Vec::new(),
            fits_now: Vec::new(),
            selected: Vec::new(),
            candidates: Vec::new(),
            candidates_fit: Vec::new(),
            result: Vec::new(),
        };
        for (_, run) in Self::ALL {
            run(&mut stages);
        }
        stages
    }

    /// The view that the calls of a cycle read.
    pub(crate) fn view(&self) -> CycleView<'_> {
        let options = CycleOptions {
            seed: self.plan.seed,
            duplicated: self.strategy.duplicates(),
            ignore_spread: self.strategy.ignores_spread(),
            ..CycleOptions::default()
        };
        calls::cycle_view(
            self.fleet.snapshot(),
            &self.plan.groups[0].record,
            &self.resolution,
            options,
        )
    }

    fn filter(&mut self) {
        let mut codes = std::mem::take(&mut self.codes);
        codes.clear();
        codes.resize(self.fleet.len(), 0);
        let view = self.view();
        for plugin in self.profile.filters() {
            let mut call = FilterCall {
                cycle: Pointer::new(&view),
                codes: SliceMut::new(&mut codes),
                ..FilterCall::DEFAULT
            };
            plugin.filter(&mut call, None).expect("the plugin filters");
        }
        self.rows.clear();
        let feasible = (0..).zip(&codes).filter(|(_, code)| **code == 0);
        self.rows.extend(feasible.map(|(row, _)| row));
        self.codes = codes;
    }

    fn score(&mut self) {
        let mut scores = std::mem::take(&mut self.scores);
        self.zeros.resize(self.rows.len(), 0);
        let view = self.view();
        for (plugin, _) in self.profile.scores() {
            scores.clear();
            scores.resize(self.rows.len(), 0);
            let mut call = ScoreCall {
                cycle: Pointer::new(&view),
                rows: Slice::new(&self.rows),
                last: Slice::new(&self.zeros[..self.rows.len()]),
                result: SliceMut::new(&mut scores),
                ..ScoreCall::DEFAULT
            };
            plugin.score(&mut call, None).expect("the plugin scores");
        }
        self.scores = scores;
    }

    fn estimate(&mut self) {
        let clusters = self.fleet.snapshot().clusters();
        let Plan { demand, replicas, .. } = self.plan;
        self.fits_now.resize(self.rows.len(), 0);
        estimate::estimate(&clusters, &self.rows, demand, *replicas, None, &mut self.fits_now);
    }

    fn select(&mut self) {
        let mut selected = std::mem::take(&mut self.selected);
        selected.clear();
        selected.resize(self.rows.len(), 0);
        let view = self.view();
        let plugin = self.profile.selectors().next().expect("a profile has a selector");
        let mut call = SelectCall {
            cycle: Pointer::new(&view),
            rows: Slice::new(&self.rows),
            scores: Slice::new(&self.scores),
            last: Slice::new(&self.zeros[..self.rows.len()]),
            fits_now: Slice::new(&self.fits_now),
            capacity: Slice::new(&self.fits_now),
            needed: if self.strategy.duplicates() {
                -1
            } else {
                self.plan.needed
            },
            candidates: SliceMut::new(&mut selected),
            ..SelectCall::DEFAULT
        };
        plugin.select(&mut call, None).expect("the plugin selects");
        let count = call.count as usize;
        selected.truncate(count);
        let chosen = || selected.iter().map(|&index| index as usize);
        self.candidates.clear();
        self.candidates.extend(chosen().map(|index| self.rows[index]));
        self.candidates_fit.clear();
        self.candidates_fit.extend(chosen().map(|index| self.fits_now[index]));
        self.selected = selected;
    }

    /// Divides through the plugin.
    pub(crate) fn assign(&mut self) {
        let mut result = std::mem::take(&mut self.result);
        result.clear();
        result.resize(self.candidates.len(), 0);
        let view = self.view();
        let plugin = self.strategy.plugin();
        let mut call = AssignCall {
            cycle: Pointer::new(&view),
            replicas: self.plan.replicas,
            rows: Slice::new(&self.candidates),
            scores: Slice::new(&self.zeros[..result.len()]),
            last: Slice::new(&self.zeros[..result.len()]),
            fits_now: Slice::new(&self.candidates_fit),
            capacity: Slice::new(&self.candidates_fit),
            all_rows: Slice::new(&self.candidates),
            result: SliceMut::new(&mut result),
            ..AssignCall::DEFAULT
        };
        plugin.assign(&mut call, None).expect("the plugin divides");
        self.result = result;
    }

    /// Rows, estimates and last replicas of the candidates.
    #[allow(dead_code, reason = "only one of the two benches that share this file uses it")]
    pub(crate) fn candidates(&self) -> (&[u32], &[i64], &[i64]) {
        let last = &self.zeros[..self.candidates.len()];
        (&self.candidates, &self.candidates_fit, last)
    }
}
