//! Constraints by zone and by several properties: named cases, and a comparison with all possible choices.

use proptest::prelude::*;

use super::*;

/// Two providers with two regions each, and one cluster that spans two zones.
fn fleet() -> Scenario {
    let cluster = |name: &str, provider: &str, region: &str, zone: &str, fits_now| {
        roomy(name, fits_now).provider(provider).region(region).zone(zone)
    };
    Scenario::new()
        .replicas(12)
        .cluster(cluster("a", "aws", "eu", "eu-1", 9))
        .cluster(cluster("b", "aws", "eu", "eu-2", 8))
        .cluster(cluster("c", "aws", "us", "us-1", 7))
        .cluster(cluster("d", "gcp", "eu", "eu-1", 6))
        .cluster(cluster("e", "gcp", "us", "us-1", 5))
        .cluster(cluster("f", "gcp", "us", "us-1", 4).zone("us-2"))
}

#[test]
fn zones() {
    let zones = |minimum, maximum| fleet().spread_constraint(by(SpreadField::Zone, minimum, maximum));
    check("the most valuable zone", &zones(1, 1), &["a", "d"]);
    check("two zones", &zones(2, 2), &["a", "b", "d"]);
    check(
        "at most three clusters",
        &zones(2, 3).spread_constraint(by(SpreadField::Cluster, 3, 3)),
        &["a", "b", "d"],
    );
    check(
        "a stretched cluster shows both its zones",
        &zones(4, 4),
        &["a", "b", "c", "f", "d", "e"],
    );
    check_refused(
        "too few",
        &zones(5, 5),
        "the number of feasible zone is less than spreadConstraint.MinGroups: 4 of 5",
    );
}

#[test]
fn a_stretched_cluster_alone_satisfies_two_zones_and_breaks_one() {
    let stretched = |minimum, maximum| {
        Scenario::new()
            .cluster(roomy("a", 5).zone("z1").zone("z2").zone("z1"))
            .spread_constraint(by(SpreadField::Zone, minimum, maximum))
    };
    check("two", &stretched(2, 2), &["a"]);
    check_refused(
        "one",
        &stretched(1, 1),
        "no choice of clusters satisfies all spread constraints at once",
    );
}

#[test]
fn several_properties_at_once() {
    let two_providers = fleet().spread_constraint(by(SpreadField::Provider, 2, 2));
    check(
        "two providers in one region",
        &two_providers.clone().spread_constraint(by(SpreadField::Region, 1, 1)),
        &["a", "d", "b"],
    );
    check(
        "two providers, two regions, two clusters: the search backtracks",
        &two_providers
            .clone()
            .spread_constraint(by(SpreadField::Region, 2, 2))
            .spread_constraint(by(SpreadField::Cluster, 2, 2)),
        &["a", "e"],
    );
    check_refused(
        "more zones than the clusters may show",
        &two_providers
            .spread_constraint(by(SpreadField::Zone, 4, 4))
            .spread_constraint(by(SpreadField::Cluster, 1, 2)),
        "no choice of clusters satisfies all spread constraints at once",
    );
}

#[test]
fn many_kinds_do_not_hang() {
    let mut scenario = Scenario::new().replicas(100);
    for index in 0..400 {
        let cluster = roomy(&format!("member{index}"), 10)
            .zone(&format!("zone{index}"))
            .label("rack", &format!("rack{}", index / 2));
        scenario = scenario.cluster(cluster);
    }
    let scenario = scenario
        .spread_constraint(by(SpreadField::Zone, 300, 300))
        .spread_constraint(by_label("rack", 1, 149));
    check_refused(
        "149 racks have 298 zones",
        &scenario,
        "the spread constraints leave too many choices among 600 groups: lower maxGroups or minGroups",
    );
}

/// Zones and provider of each cluster, as numbers.
type Fleet = Vec<(Vec<u8>, u8, i64)>;

fn satisfied(chosen: &[&(Vec<u8>, u8, i64)], limits: [(usize, usize); 3]) -> bool {
    let mut zones: Vec<u8> = chosen.iter().flat_map(|cluster| cluster.0.clone()).collect();
    let mut providers: Vec<u8> = chosen.iter().map(|cluster| cluster.1).collect();
    for values in [&mut zones, &mut providers] {
        values.sort_unstable();
        values.dedup();
    }
    [zones.len(), providers.len(), chosen.len()]
        .into_iter()
        .zip(limits)
        .all(|(count, (minimum, maximum))| (minimum..=maximum).contains(&count))
}

fn limits() -> impl Strategy<Value = (usize, usize)> {
    (1..4_usize, 0..3_usize).prop_map(|(minimum, more)| (minimum, minimum + more))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn candidates_satisfy_all_constraints_if_any_choice_does(
        fleet in prop::collection::vec((prop::collection::vec(0..4_u8, 1..3), 0..3_u8, 0..5_i64), 1..9),
        zones in limits(),
        providers in limits(),
        clusters in limits(),
    ) {
        let fleet: Fleet = fleet;
        let limits = [zones, providers, clusters];
        let possible = (1..1_usize << fleet.len()).any(|subset| {
            let chosen: Vec<_> = (0..fleet.len())
                .filter(|index| subset >> index & 1 == 1)
                .map(|index| &fleet[index])
                .collect();
            satisfied(&chosen, limits)
        });
        let mut scenario = Scenario::new()
            .replicas(10)
            .spread_constraint(by(SpreadField::Cluster, clusters.0 as i64, clusters.1 as i64))
            .spread_constraint(by(SpreadField::Zone, zones.0 as i64, zones.1 as i64))
            .spread_constraint(by(SpreadField::Provider, providers.0 as i64, providers.1 as i64));
        for (index, (zones, provider, fits_now)) in fleet.iter().enumerate() {
            let mut cluster = roomy(&index.to_string(), *fits_now).provider(&format!("p{provider}"));
            for zone in zones {
                cluster = cluster.zone(&format!("z{zone}"));
            }
            scenario = scenario.cluster(cluster);
        }
        match outcome(&scenario) {
            Ok(candidates) => {
                let mut indices: Vec<usize> = candidates.iter().map(|name| name.parse().unwrap()).collect();
                let chosen: Vec<_> = indices.iter().map(|&index| &fleet[index]).collect();
                prop_assert!(satisfied(&chosen, limits), "{:?}", candidates);
                indices.sort_unstable();
                indices.dedup();
                prop_assert_eq!(indices.len(), candidates.len());
            }
            Err(message) => prop_assert!(!possible, "{}", message),
        }
    }

    #[test]
    fn the_order_of_constraints_and_of_zones_does_not_matter(
        fleet in prop::collection::vec((prop::collection::vec(0..4_u8, 1..4), 0..3_u8, 0..5_i64), 1..9),
        zones in limits(),
        providers in limits(),
    ) {
        let build = |turned: bool| {
            let mut constraints = [
                by(SpreadField::Zone, zones.0 as i64, zones.1 as i64),
                by(SpreadField::Provider, providers.0 as i64, providers.1 as i64),
            ];
            if turned {
                constraints.reverse();
            }
            let mut scenario = Scenario::new().replicas(10);
            for constraint in constraints {
                scenario = scenario.spread_constraint(constraint);
            }
            for (index, (zones, provider, fits_now)) in fleet.iter().enumerate() {
                let mut zones = zones.clone();
                if turned {
                    zones.reverse();
                }
                let cluster = roomy(&index.to_string(), *fits_now).provider(&format!("p{provider}"));
                let cluster = zones.iter().fold(cluster, |cluster, zone| cluster.zone(&format!("z{zone}")));
                scenario = scenario.cluster(cluster);
            }
            outcome(&scenario)
        };
        prop_assert_eq!(build(false), build(true));
    }
}
