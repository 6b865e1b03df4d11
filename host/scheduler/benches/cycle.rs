//! Whole cycles and their stages, by strategy and number of clusters, through the shipped libraries.
//!
//! `cargo build --release && cargo bench -p divvy-scheduler --bench cycle`. The cases and the profile are
//! those with which `divvy bench` compares Divvy and Karmada. A stage covers only the calls to its plugins; the host's
//! work around them is included only in the whole cycle.

mod stages;
mod support;

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use divvy_scheduler::cycle::{Cycle, CycleInput};

use stages::Stages;

fn cycles(criterion: &mut Criterion) {
    let (profile, recording) = (support::profile(), support::recording());
    for (fleet, clusters) in &recording.fleets {
        let snapshot = support::snapshot(&recording, fleet);
        for case in recording.cases.iter().filter(|case| case.fleet == *fleet) {
            let plan = support::plan(&profile, case);
            let input = CycleInput::new(&profile, &snapshot, &plan, &plan.groups[0]);
            let name = case.name.strip_prefix(fleet.as_str()).unwrap_or(&case.name);
            let (_, apis) = fleet.split_once('-').unwrap_or_default();
            let id = BenchmarkId::new(
                format!("{}-{apis}", name.trim_start_matches('-')),
                clusters.clusters.len(),
            );
            let mut cycle = Cycle::new();
            criterion.benchmark_group("cycle").bench_function(id, |bencher| {
                bencher.iter(|| cycle.run(&input, None).map(<[_]>::len));
            });
        }
    }
}

fn stages(criterion: &mut Criterion) {
    let (profile, recording) = (support::profile(), support::recording());
    for (fleet, clusters) in recording.fleets.iter().filter(|(fleet, _)| fleet.ends_with("api1")) {
        let snapshot = support::snapshot(&recording, fleet);
        for case in recording.cases.iter().filter(|case| case.fleet == *fleet) {
            let plan = support::plan(&profile, case);
            let name = case.name.strip_prefix(fleet.as_str()).unwrap_or(&case.name);
            let mut stages = Stages::new(&profile, &snapshot, &plan);
            for (stage, run) in Stages::ALL {
                let id = BenchmarkId::new(format!("{stage}{name}"), clusters.clusters.len());
                criterion
                    .benchmark_group("stage")
                    .bench_function(id, |bencher| bencher.iter(|| run(&mut stages)));
            }
        }
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .sample_size(30);
    targets = cycles, stages
}
criterion_main!(benches);
