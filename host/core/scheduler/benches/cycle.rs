//! Whole cycles and their stages, by strategy and number of clusters, through the shipped libraries.
//!
//! `cargo build --release && cargo bench -p divvy-scheduler --bench cycle`. The cases and the profile are
//! those with which `divvy bench` compares Divvy and Karmada. A stage covers only the calls to its plugins; the host's
//! work around them is included only in the whole cycle.

mod stages;
mod support;

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use divvy_karmada::api::TargetCluster;
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

/// A tree of three levels beside DynamicWeight on the same 1,000 clusters, without and with a last result.
fn trees(criterion: &mut Criterion) {
    const TREE: &str = r#"{"by": "region", "children": [
        {"match": "us-east", "weight": 40, "by": "zone", "children": [
            {"match": "us-east-z0", "weight": 1, "by": {"label": "tier"}, "children": [
                {"match": "gold", "weight": 3, "divide": "evenly", "cap": 40},
                {"match": "*", "weight": 1}]},
            {"match": "*"}]},
        {"match": ["us-west", "eu-1"], "weight": 40, "max": "60%", "by": {"label": "tier"}, "children": [
            {"match": "silver", "weight": 2, "divide": "fewest"},
            {"match": "*", "min": "10%", "divide": "evenly", "floor": 2}]},
        {"match": "*", "weight": 20, "by": "provider", "children": [
            {"match": "gcp", "max": 300},
            {"match": "*", "divide": "byRoom"}]}]}"#;
    let (profile, recording) = (support::profile(), support::recording());
    let fleet = "n1000-api1";
    let snapshot = support::snapshot(&recording, fleet);
    let named = format!("{fleet}-dynamic");
    let case = recording.cases.iter().find(|case| case.name == named);
    let mut case = case.expect("the recording has the case").clone();
    let mut group = criterion.benchmark_group("tree");
    for strategy in ["DynamicWeight", "Tree"] {
        let annotations = &mut case.binding.metadata.annotations;
        annotations.insert("divvy.io/strategy".into(), strategy.into());
        if strategy == "Tree" {
            annotations.insert("divvy.io/preferences".into(), TREE.into());
        }
        case.binding.spec.clusters.clear();
        for state in ["first", "settled", "growing"] {
            let plan = support::plan(&profile, &case);
            let input = CycleInput::new(&profile, &snapshot, &plan, &plan.groups[0]);
            let mut cycle = Cycle::new();
            let targets = cycle.run(&input, None).expect("it is scheduled").to_vec();
            group.bench_function(BenchmarkId::new(strategy, state), |bencher| {
                bencher.iter(|| cycle.run(&input, None).map(<[_]>::len));
            });
            // What comes next is a binding with this result, and then one that asks for more.
            let last = targets.iter().map(|target| TargetCluster {
                name: snapshot.name(target.row).to_owned(),
                replicas: target.replicas.try_into().expect("a count of Karmada"),
                ..TargetCluster::default()
            });
            case.binding.spec.clusters = last.collect();
            case.binding.spec.replicas = Some(if state == "first" { 2_000 } else { 2_100 });
        }
        case.binding.spec.replicas = Some(2_000);
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(800))
        .sample_size(30);
    targets = cycles, stages, trees
}
criterion_main!(benches);
