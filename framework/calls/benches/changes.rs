//! Cost of one changed cluster, from `upsert` to a usable snapshot, and cost of rebuilding the arena.
//!
//! The fleet models a large installation: 5,000 clusters with 29 API groups each, half of them tainted.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, criterion_group, criterion_main};
use divvy_framework_calls::snapshot::{ClusterWriter, Snapshot, SnapshotStore};
use divvy_framework_view::clusters::{Condition, Resource, Taint};
use divvy_framework_view::words::{ConditionStatus, TaintEffect};

const CLUSTERS: usize = 5_000;

const RESOURCES: [&str; 5] = ["cpu", "ephemeral-storage", "memory", "nvidia.com/gpu", "pods"];

/// Writes a cluster; the parts that change over time depend on `version`.
fn write(writer: &mut ClusterWriter<'_>, number: usize, version: usize) {
    writer
        .uid(&format!("00000000-0000-4000-8000-{number:012}"))
        .region(["eu", "us", "asia"][number % 3])
        .provider(["aws", "gcp"][number % 2])
        .zone(["a", "b"][number % 2]);
    for key in ["env", "tier", "team", "owner", "network"] {
        writer.label(key, &format!("{key}-{}", number % 7));
    }
    writer.label("revision", &format!("revision-{number}-{version}"));
    for _ in 0..(number + version) % 2 {
        let mut taint = Taint::new("cluster.karmada.io/not-ready", "", TaintEffect::NoSchedule);
        taint.time_added = Some(version as i64);
        writer.taint(taint);
    }
    for group in 0..29 {
        let group = format!("group{group}.example.io/v1");
        writer.apis(&group, ["Deployment", "Job", "Widget", "Gadget"]);
    }
    for kind in ["Ready", "CompleteAPIEnablements"] {
        writer.condition(Condition::new(kind, ConditionStatus::True, "ClusterReady"));
    }
    for name in RESOURCES {
        let allocated = (number + version) as i64 % 50;
        let mut resource = Resource::new(name);
        resource.allocatable = Some(100);
        resource.allocated = Some(allocated);
        resource.remaining = Some(100 - allocated);
        writer.resource(resource);
    }
    for grade in 0..5 {
        let cpu = ("cpu", grade * 1_000, grade * 2_000);
        writer.model(grade, [cpu, ("memory", grade << 30, grade << 31)]);
        writer.modeling(grade, (number + version) as i64 % 9);
    }
}

fn name(number: usize) -> String {
    format!("member-{number:05}")
}

fn fleet() -> SnapshotStore {
    let mut store = SnapshotStore::new();
    for number in 0..CLUSTERS {
        store.upsert(&name(number), |writer| write(writer, number, 0));
    }
    store
}

/// Changes one cluster after another.
struct Changes {
    store: SnapshotStore,
    names: Vec<String>,
    version: usize,
}

impl Changes {
    fn new() -> Self {
        let mut store = fleet();
        store.snapshot();
        Self {
            store,
            names: (0..CLUSTERS).map(name).collect(),
            version: 0,
        }
    }

    fn next(&mut self) -> Snapshot {
        self.version += 1;
        let (number, version) = (self.version * 37 % CLUSTERS, self.version);
        self.store
            .upsert(&self.names[number], |writer| write(writer, number, version));
        self.store.snapshot()
    }
}

fn changes(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("5000-clusters");
    group.bench_function("change", |bencher| {
        let mut changes = Changes::new();
        bencher.iter(|| black_box(changes.next()));
    });
    group.bench_function("change-while-the-last-snapshot-is-held", |bencher| {
        let mut changes = Changes::new();
        let mut held = changes.next();
        bencher.iter(|| held = changes.next());
        drop(held);
    });
    group.bench_function("rebuild", |bencher| {
        let mut store = fleet();
        bencher.iter(|| {
            // Adding or removing a cluster forces a rebuild.
            if !store.remove("another") {
                store.upsert("another", |_| {});
            }
            black_box(store.snapshot())
        });
    });
    group.finish();
    percentiles();
}

/// Prints the distribution over many changes, occasional rebuilds included. Criterion estimates only the mean, which
/// hides rebuilds.
fn percentiles() {
    let mut changes = Changes::new();
    let mut times: Vec<Duration> = (0..50_000)
        .map(|_| {
            let start = Instant::now();
            black_box(changes.next());
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let [median, p99, p999, maximum] = [0.5, 0.99, 0.999, 1.0].map(at);
    println!("one change of 50,000: median {median:?}, p99 {p99:?}, p99.9 {p999:?}, maximum {maximum:?}");
}

criterion_group!(benches, changes);
criterion_main!(benches);
