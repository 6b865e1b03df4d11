//! Steady-state cycles: the number of allocations must not depend on the number of clusters.

use divvy_karmada::detector::Binding;
use divvy_scheduler::cycle::{Cycle, CycleInput};
use divvy_scheduler::fleet::FleetSnapshot;
use divvy_scheduler::plan::{Plan, PlanInput};
use serde_json::Value;

use crate::bindings::{bindings, clusters};
use crate::counter::allocations;
use crate::manifests::{binding, list};
use crate::scheduling::{Host, read};

/// Sizes of fleets. The smallest is large enough for every growing list to have grown.
const FLEETS: [usize; 3] = [100, 1_000, 5_000];

/// Cycles before counting begins. The first cycle allocates the memory that is kept, and buffers that are swapped (such
/// as the two of a sort) reach their largest size some cycles later.
const WARM_UP: usize = 16;

/// Number of cycles that are counted.
const COUNTED: usize = 6;

/// Maximum allocations per cycle, one or two for each compiled selector. Measured: 14 for bindings with tiers, whose
/// affinities are compiled for both the filter and the tiers; at most 8 for all others.
const CYCLE_MAXIMUM: u64 = 14;

/// Name of each binding, and the allocations of one cycle.
fn allocations_of(host: &Host, objects: impl IntoIterator<Item = Value>) -> Vec<(String, u64)> {
    let (bindings, fleet) = read(&list(objects));
    let counted = bindings
        .iter()
        .map(|input| (input.key(), allocations_of_cycle(host, input, &fleet)));
    counted.collect()
}

#[track_caller]
fn allocations_of_cycle(host: &Host, binding: &Binding, fleet: &FleetSnapshot) -> u64 {
    let plan = Plan::under(host.profile(), &PlanInput::new(binding));
    let plan = plan.unwrap_or_else(|error| panic!("{error}"));
    let cycle_input = CycleInput {
        fresh: binding.is_fresh(),
        ..CycleInput::new(host.profile(), fleet, &plan, &plan.groups[0])
    };
    let mut cycle = Cycle::new();
    let mut run = || {
        let targets = cycle.run(&cycle_input, None).map(<[_]>::len);
        targets.unwrap_or_else(|error| panic!("{}: {error}", binding.key()))
    };
    for _ in 0..WARM_UP {
        assert!(run() > 0, "{} has no cluster", binding.key());
    }
    // A buffer that grows once more, late, is not what a cycle costs: the least that occurs repeatedly is.
    let mut counts: [u64; COUNTED] = std::array::from_fn(|_| allocations(&mut run).0);
    counts.sort_unstable();
    assert_eq!(
        counts[0],
        counts[COUNTED / 2],
        "{}: not steady: {counts:?}",
        binding.key()
    );
    counts[0]
}

#[track_caller]
fn check(host: &Host) {
    let counts = FLEETS.map(|count| {
        let strategies = host.profile().strategies().map(|strategy| strategy.name());
        let bindings = bindings(count, strategies).into_iter().map(Value::from);
        let objects = clusters(count).chain(bindings);
        allocations_of(host, objects)
    });
    let [small, medium, large] = &counts;
    for ((small, medium), large) in small.iter().zip(medium).zip(large) {
        println!("{:<40}{:>4}{:>6}{:>6}", small.0, small.1, medium.1, large.1);
    }
    assert_eq!(small, medium, "allocations at {} and {} clusters", FLEETS[0], FLEETS[1]);
    assert_eq!(medium, large, "allocations at {} and {} clusters", FLEETS[1], FLEETS[2]);
    let too_many: Vec<_> = large.iter().filter(|(_, count)| *count > CYCLE_MAXIMUM).collect();
    assert!(
        too_many.is_empty(),
        "more than {CYCLE_MAXIMUM} allocations per cycle: {too_many:?}"
    );
}

#[test]
fn allocations_do_not_depend_on_the_number_of_clusters() {
    check(Host::built_in());
}

#[test]
fn allocations_do_not_depend_on_the_number_of_clusters_with_karmada_parity() {
    check(&Host::extending(
        "[profile.plugin.static-weight.configuration]\n\
         method = 'webster'\n\
         [profile.plugin.dynamic-weight.configuration]\n\
         method = 'webster'\n\
         [profile.plugin.aggregated.configuration]\n\
         method = 'webster'\n\
         [profile.plugin.spread-constraints.configuration]\n\
         absent-maximum = 'zero'\n",
    ));
}

/// The counter includes the allocations of plugins, so the tests above would fail if a plugin allocated for each
/// cluster.
#[test]
fn allocations_of_plugins_are_counted() {
    let host = Host::extending("filters = ['cluster-affinity', 'faulty']");
    let counts = FLEETS.map(|count| {
        let struck = binding("struck", 6).annotation("faulty.example/fault", "allocate for each cluster");
        let bindings = [binding("sound", 6), struck].map(|binding| Value::from(binding.strategy("Average")));
        allocations_of(&host, clusters(count).chain(bindings))
    });
    for (count, found) in FLEETS.into_iter().zip(&counts) {
        let [(_, sound), (_, struck)] = found.as_slice() else {
            panic!("expected two bindings: {found:?}");
        };
        // The extra allocation is the plugin's copy of the annotation.
        assert_eq!(struck - sound, count as u64 + 1, "{count} clusters");
    }
}

/// The third party's selector counts every cluster that it leaves out.
#[test]
fn several_selectors_and_what_they_count_do_not_allocate_per_cluster() {
    let host = Host::extending(
        "select = ['few-per-provider', 'spread-constraints']\nplugin.few-per-provider.configuration.maximum = 7",
    );
    let counts = FLEETS.map(|count| {
        let asked = Value::from(binding("narrow", 6).strategy("Average"));
        allocations_of(&host, clusters(count).chain([asked]))
    });
    assert_eq!(counts[0], counts[1]);
    assert_eq!(counts[0], counts[2]);
    assert!(counts[0][0].1 <= CYCLE_MAXIMUM, "{counts:?}");
    let counters = host.profile().selectors().map(|selector| selector.metrics().counters);
    let left_out: u64 = counters.flat_map(|counters| counters.into_values()).sum();
    assert!(left_out > 5_000, "{left_out}");
}
