//! Cost of the divisions, by arithmetic, fleet size and number of replicas.
//!
//! `cargo bench -p divvy-framework-arithmetic --bench division`. Memory is warm, as in a running scheduler. The benches
//! do not include the boundary, the cycle around a division, and the plugins' own columns; the benches of the host do.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use divvy_framework_arithmetic::division::aggregate::{Fill, aggregate};
use divvy_framework_arithmetic::division::dynamic::divide_by_dynamic_weight;
use divvy_framework_arithmetic::division::even_change::change_evenly;
use divvy_framework_arithmetic::division::level_fill::fill_evenly;
use divvy_framework_arithmetic::division::ties::{mix64, tie_key};
use divvy_framework_arithmetic::division::{Cycle, DivisionError, Request, Rounding, Scratch};

const SIZES: [usize; 4] = [10, 100, 1_000, 5_000];
/// Primes, so that there is a remainder to hand out.
const FEW: i64 = 99_991;
const MANY: i64 = 1_999_999_973;

/// Columns over a fleet that has room for about twice the replicas, with clusters that differ as in a real fleet.
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
        Request::new(self.replicas, &self.fits_now, &self.last, cycle)
    }
}

type Division = fn(&Fleet, &mut [i64], &mut Scratch) -> Result<(), DivisionError>;

/// A fleet's replicas in proportion to its weights, or to equal ones.
fn proportional(
    rounding: Rounding,
    weights: &[i64],
    fleet: &Fleet,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), DivisionError> {
    rounding.divide(fleet.replicas, weights, &fleet.last, fleet.ties(), out, scratch)
}

fn dynamic(
    rounding: Rounding,
    cycle: Cycle,
    fleet: &Fleet,
    out: &mut [i64],
    scratch: &mut Scratch,
) -> Result<(), DivisionError> {
    divide_by_dynamic_weight(&fleet.request(cycle), rounding, fleet.ties(), out, scratch)
}

fn aggregated(fill: Fill, fleet: &Fleet, out: &mut [i64], scratch: &mut Scratch) -> Result<(), DivisionError> {
    let order = |index: usize| index as u64;
    aggregate(&fleet.request(Cycle::Steady), fill, order, fleet.ties(), out, scratch)
}

fn average(fleet: &Fleet, out: &mut [i64], scratch: &mut Scratch) -> Result<(), DivisionError> {
    let Fleet {
        replicas,
        fits_now,
        scores,
        last,
        ..
    } = fleet;
    fill_evenly(*replicas, fits_now, scores, last, fleet.ties(), out, scratch)
}

static ONES: [i64; 5_000] = [1; 5_000];

const DIVISIONS: [(&str, Division); 11] = [
    ("static weight, even remainder", |fleet, out, scratch| {
        proportional(Rounding::FloorThenRank, &fleet.weights, fleet, out, scratch)
    }),
    ("static weight, webster", |fleet, out, scratch| {
        proportional(Rounding::Karmada, &fleet.weights, fleet, out, scratch)
    }),
    ("equal weights, even remainder", |fleet, out, scratch| {
        proportional(Rounding::FloorThenRank, &ONES[..out.len()], fleet, out, scratch)
    }),
    ("equal weights, webster", |fleet, out, scratch| {
        proportional(Rounding::Karmada, &ONES[..out.len()], fleet, out, scratch)
    }),
    ("dynamic weight, growing", |fleet, out, scratch| {
        dynamic(Rounding::FloorThenRank, Cycle::Steady, fleet, out, scratch)
    }),
    ("dynamic weight, webster, growing", |fleet, out, scratch| {
        dynamic(Rounding::Karmada, Cycle::Steady, fleet, out, scratch)
    }),
    ("dynamic weight, webster, fresh", |fleet, out, scratch| {
        dynamic(Rounding::Karmada, Cycle::Fresh, fleet, out, scratch)
    }),
    ("aggregated, growing", |fleet, out, scratch| {
        aggregated(Fill::default(), fleet, out, scratch)
    }),
    ("aggregated, webster, growing", |fleet, out, scratch| {
        aggregated(Fill::Proportional(Rounding::Karmada), fleet, out, scratch)
    }),
    ("average", average),
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
