//! Cost of the divisions, by arithmetic, fleet size and number of replicas.
//!
//! `cargo bench -p divvy-framework --bench division`. Memory is warm, as in a scheduler that runs. Not measured here: the
//! boundary, the cycle around a division, and the plugins' own columns; see the benches of the host.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use divvy_framework::division::aggregate::{Fill, aggregate};
use divvy_framework::division::dynamic::divide_by_dynamic_weight;
use divvy_framework::division::even_change::change_evenly;
use divvy_framework::division::level_fill::fill_evenly;
use divvy_framework::division::ties::{mix64, tie_key};
use divvy_framework::division::{Cycle, DivisionError, Request, Rounding, Scratch};

const SIZES: [usize; 4] = [10, 100, 1_000, 5_000];
/// Primes, so that there is a remainder to hand out.
const FEW: i64 = 99_991;
const MANY: i64 = 1_999_999_973;

/// Columns over a fleet that holds about twice the replicas, the clusters differing as those of a real one.
struct Fleet {
    replicas: i64,
    fits_now: Vec<i64>,
    last: Vec<i64>,
    scores: Vec<i64>,
    weights: Vec<i64>,
    identities: Vec<u64>,
}

impl Fleet {
    fn new(clusters: usize, replicas: i64) -> Self {
        let random = |index: usize, column: u64, below: i64| {
            (mix64(index as u64 ^ column << 32) % below.unsigned_abs().max(1)).cast_signed()
        };
        let each = replicas / clusters as i64;
        let column = |of: &dyn Fn(usize) -> i64| (0..clusters).map(of).collect::<Vec<_>>();
        Self {
            replicas,
            fits_now: column(&|index| random(index, 1, 4 * each)),
            last: column(&|index| if index % 3 == 0 { random(index, 2, each) } else { 0 }),
            scores: column(&|index| if index % 3 == 0 { 100 } else { 0 }),
            weights: column(&|index| 1 + random(index, 3, 5)),
            identities: (0..clusters).map(|index| mix64(index as u64)).collect(),
        }
    }

    fn ties(&self) -> impl Fn(usize) -> u64 + Copy + '_ {
        |index| tie_key(0x5eed, self.identities[index])
    }

    fn request(&self, cycle: Cycle) -> Request<'_> {
        Request {
            replicas: self.replicas,
            fits_now: &self.fits_now,
            last: &self.last,
            cycle,
        }
    }
}

type Division = fn(&Fleet, &mut [i64], &mut Scratch) -> Result<(), DivisionError>;

fn proportional(
    fleet: &Fleet,
    rounding: Rounding,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), DivisionError> {
    rounding.divide(fleet.replicas, &fleet.weights, &fleet.last, fleet.ties(), out, scratch)
}

fn equal(fleet: &Fleet, rounding: Rounding, out: &mut [i64], scratch: &mut Scratch) -> Result<(), DivisionError> {
    with_ones(fleet.weights.len(), |ones| {
        rounding.divide(fleet.replicas, ones, &fleet.last, fleet.ties(), out, scratch)
    })
}

fn with_ones<T>(length: usize, work: impl FnOnce(&[i64]) -> T) -> T {
    static ONES: [i64; 5_000] = [1; 5_000];
    work(&ONES[..length])
}

const DIVISIONS: [(&str, Division); 11] = [
    ("static weight, even remainder", |fleet, out, scratch| {
        proportional(fleet, Rounding::FloorThenRank, out, scratch)
    }),
    ("static weight, webster", |fleet, out, scratch| {
        proportional(fleet, Rounding::Karmada, out, scratch)
    }),
    ("equal weights, even remainder", |fleet, out, scratch| {
        equal(fleet, Rounding::FloorThenRank, out, scratch)
    }),
    ("equal weights, webster", |fleet, out, scratch| {
        equal(fleet, Rounding::Karmada, out, scratch)
    }),
    ("dynamic weight, growing", |fleet, out, scratch| {
        let request = fleet.request(Cycle::Steady);
        divide_by_dynamic_weight(&request, Rounding::FloorThenRank, fleet.ties(), out, scratch)
    }),
    ("dynamic weight, webster, growing", |fleet, out, scratch| {
        let request = fleet.request(Cycle::Steady);
        divide_by_dynamic_weight(&request, Rounding::Karmada, fleet.ties(), out, scratch)
    }),
    ("dynamic weight, webster, fresh", |fleet, out, scratch| {
        let request = fleet.request(Cycle::Fresh);
        divide_by_dynamic_weight(&request, Rounding::Karmada, fleet.ties(), out, scratch)
    }),
    ("aggregated, growing", |fleet, out, scratch| {
        let (request, order) = (fleet.request(Cycle::Steady), |index: usize| index as u64);
        aggregate(&request, Fill::default(), order, fleet.ties(), out, scratch)
    }),
    ("aggregated, webster, growing", |fleet, out, scratch| {
        let (request, order) = (fleet.request(Cycle::Steady), |index: usize| index as u64);
        aggregate(
            &request,
            Fill::Proportional(Rounding::Karmada),
            order,
            fleet.ties(),
            out,
            scratch,
        )
    }),
    ("average", |fleet, out, scratch| {
        fill_evenly(
            fleet.replicas,
            &fleet.fits_now,
            &fleet.scores,
            &fleet.last,
            fleet.ties(),
            out,
            scratch,
        )
    }),
    ("specified, one group", |fleet, out, scratch| {
        change_evenly(fleet.replicas, &fleet.last, fleet.ties(), out, scratch)
    }),
];

fn divisions(criterion: &mut Criterion) {
    for (name, division) in DIVISIONS {
        let mut group = criterion.benchmark_group(name);
        group
            .warm_up_time(Duration::from_millis(100))
            .measurement_time(Duration::from_millis(400));
        for clusters in SIZES {
            for replicas in [FEW, MANY] {
                let fleet = Fleet::new(clusters, replicas);
                let (mut out, mut scratch) = (vec![0; clusters], Scratch::default());
                group.bench_function(BenchmarkId::new(clusters.to_string(), replicas), |bencher| {
                    bencher.iter(|| division(black_box(&fleet), &mut out, &mut scratch));
                });
            }
        }
        group.finish();
    }
}

criterion_group!(benches, divisions);
criterion_main!(benches);
