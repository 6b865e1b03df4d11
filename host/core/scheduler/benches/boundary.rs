//! Cost of the plugin boundary: the same arithmetic through a plugin's library and called directly.
//!
//! `cargo build --release && cargo bench -p divvy-scheduler --bench boundary`. Takes two measurements, each
//! the median of interleaved pairs against the whole cycle at 1,000 clusters:
//!
//! - *calls*: all crossings of a cycle and nothing else. A Score plugin without clusters to score does nothing, so
//!   timing its call measures the crossing: the call, the guard against panics, and the answer. A cycle crosses once per
//!   plugin. Views are built once per cycle and passed by address in every call.
//! - *assign*: DynamicWeight's division through the plugin, including its context and its memory, minus the same
//!   function of the SDK called directly on the same columns.

mod stages;
mod support;

use std::hint::black_box;
use std::time::Instant;

use divvy_framework_abi::Pointer;
use divvy_framework_abi::call::ScoreCall;
use divvy_framework_arithmetic::division::dynamic::divide_by_dynamic_weight;
use divvy_framework_arithmetic::division::{self, Rounding, Scratch, ties};
use divvy_scheduler::cycle::{Cycle, CycleInput};

use stages::Stages;

/// Fleet and case that are measured.
const FLEET: &str = "n1000-api1";
const CASE: &str = "n1000-api1-dynamic";

/// Number of interleaved pairs.
const PAIRS: usize = 101;

/// Repetitions per measurement, so that the clock's resolution does not matter.
const ROUNDS: u32 = 200;

/// Maximum share of a cycle that the boundary may take.
const GOAL: f64 = 0.03;

fn main() {
    let (profile, recording) = (support::profile(), support::recording());
    let fleet = support::snapshot(&recording, FLEET);
    let case = recording.cases.iter().find(|case| case.name == CASE);
    let plan = support::plan(&profile, case.expect("the recording has the case"));
    let input = CycleInput::new(&profile, &fleet, &plan, &plan.groups[0]);
    let mut cycle = Cycle::new();
    let mut stages = Stages::new(&profile, &fleet, &plan);
    let view_of = Stages::new(&profile, &fleet, &plan);
    let view = view_of.view();
    let (rows, fits_now, last) = view_of.candidates();
    let mut direct = Direct {
        request: division::Request::new(plan.replicas, fits_now, last, division::Cycle::Steady),
        rows,
        descends: ties::karmada_descends(view.names.resource_uid.read(view.pool.as_str())),
        result: vec![0; rows.len()],
        scratch: Scratch::default(),
    };
    direct.divide();
    assert_eq!(direct.result, stages.result, "both divide alike");

    let crossings = profile.filters().count() + profile.scores().count() + 2;
    let (scoring, _) = profile.scores().next().expect("the profile scores");
    let mut calls = Vec::new();
    let mut assign = Vec::new();
    let mut whole = Vec::new();
    for _ in 0..PAIRS {
        let cycle_time = timed(|| {
            black_box(cycle.run(&input, None).map(<[_]>::len)).expect("the cycle succeeds");
        });
        let crossing = timed(|| {
            let mut call = ScoreCall {
                cycle: Pointer::new(&view),
                ..ScoreCall::DEFAULT
            };
            black_box(scoring.score(&mut call, None)).expect("the plugin scores nothing");
        });
        let through = timed(|| stages.assign());
        let directly = timed(|| direct.divide());
        whole.push(cycle_time * 1e6);
        calls.push(crossings as f64 * crossing / cycle_time);
        assign.push((through - directly) / cycle_time);
    }
    let (whole, calls, assign) = (median(whole), median(calls), median(assign));
    println!("{CASE}: cycle {whole:.2} µs, median of {PAIRS} pairs");
    println!("calls:  {crossings} crossings {:>6.2} % of the cycle", 100.0 * calls);
    println!("assign: plugin less direct {:>6.2} % of the cycle", 100.0 * assign);
    let verdict = if calls.max(assign) <= GOAL { "met" } else { "missed" };
    println!("goal:   at most {:.0} %: {verdict}", 100.0 * GOAL);
}

/// DynamicWeight without a plugin.
struct Direct<'a> {
    request: division::Request<'a>,
    rows: &'a [u32],
    descends: bool,
    result: Vec<i64>,
    scratch: Scratch,
}

impl Direct<'_> {
    fn divide(&mut self) {
        let (rows, descends) = (self.rows, self.descends);
        let ties = |index: usize| ties::karmada_tie_key(descends, rows[index].into());
        let (out, scratch) = (&mut self.result, &mut self.scratch);
        out.fill(0);
        divide_by_dynamic_weight(&self.request, Rounding::Karmada, ties, out, scratch)
            .expect("the clusters hold the replicas");
        black_box(&self.result);
    }
}

/// Mean time of one run of `work`, in seconds.
fn timed(mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..ROUNDS {
        work();
    }
    start.elapsed().as_secs_f64() / f64::from(ROUNDS)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
