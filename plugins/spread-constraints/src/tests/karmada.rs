//! A literal implementation of Karmada's rules, path by path, compared with the plugin on random fleets.

use proptest::prelude::*;

use super::search::chosen_by_walking;
use super::*;

/// Properties of a cluster that the rules use.
#[derive(Debug, Clone)]
struct Seen {
    name: String,
    region: String,
    tier: u32,
    score: i64,
    available: i64,
}

#[derive(Debug, Clone, Copy)]
struct Case {
    regions: Option<(usize, usize)>,
    clusters: Option<(usize, usize)>,
    duplicated: bool,
    replicas: i64,
}

fn sort(clusters: &mut [Seen]) {
    clusters.sort_by(|left, right| {
        let by_tier = left.tier.cmp(&right.tier);
        let by_score = right.score.cmp(&left.score);
        let by_room = right.available.cmp(&left.available);
        by_tier
            .then(by_score)
            .then(by_room)
            .then_with(|| left.name.cmp(&right.name))
    });
}

/// The candidates, or the beginning of the refusal.
fn select(case: Case, mut clusters: Vec<Seen>) -> Result<Vec<String>, &'static str> {
    sort(&mut clusters);
    let chosen = match (case.regions, case.clusters) {
        (Some(regions), limits) => select_by_region(case, regions, limits.unwrap_or((0, 0)), &clusters)?,
        (None, Some(limits)) => select_by_cluster(case, limits, clusters)?,
        (None, None) => clusters,
    };
    Ok(chosen.into_iter().map(|cluster| cluster.name).collect())
}

fn select_by_cluster(
    case: Case,
    (minimum, maximum): (usize, usize),
    mut clusters: Vec<Seen>,
) -> Result<Vec<Seen>, &'static str> {
    if clusters.len() < minimum {
        return Err("the number of feasible clusters is less than spreadConstraint.MinGroups");
    }
    let count = maximum.min(clusters.len());
    let mut rest = clusters.split_off(count);
    if case.duplicated {
        return Ok(clusters);
    }
    let fits = |kept: &[Seen]| kept.iter().map(|cluster| cluster.available).sum::<i64>() >= case.replicas;
    for kept in (0..count).rev() {
        if fits(&clusters) {
            break;
        }
        let mut largest = None;
        let mut room = clusters[kept].available;
        for (index, other) in rest.iter().enumerate() {
            if other.available > room {
                (largest, room) = (Some(index), other.available);
            }
        }
        if let Some(index) = largest {
            std::mem::swap(&mut clusters[kept], &mut rest[index]);
        }
    }
    if !fits(&clusters) || clusters.is_empty() {
        return Err("no enough resource when selecting");
    }
    Ok(clusters)
}

fn weight(case: Case, minimum: usize, enough: usize, clusters: &[Seen]) -> i64 {
    let mean = |scores: i64, among: usize| scores / among as i64;
    if case.duplicated {
        let roomy: Vec<&Seen> = clusters
            .iter()
            .filter(|cluster| cluster.available >= case.replicas)
            .collect();
        if roomy.is_empty() {
            return 0;
        }
        let scores = roomy.iter().map(|cluster| cluster.score).sum();
        return 1000 * roomy.len() as i64 + mean(scores, roomy.len());
    }
    let target = (case.replicas as f64 / minimum as f64).ceil() as i64;
    let (mut held, mut scores, mut counted) = (0, 0, 0);
    for cluster in clusters {
        held += cluster.available;
        scores += cluster.score;
        counted += 1;
        if counted >= enough.max(minimum) && held >= target {
            break;
        }
    }
    if held < target {
        return 1000 * held + mean(scores, clusters.len());
    }
    1000 * target + mean(scores, counted)
}

fn select_by_region(
    case: Case,
    (minimum, maximum): (usize, usize),
    (enough, at_most): (usize, usize),
    clusters: &[Seen],
) -> Result<Vec<Seen>, &'static str> {
    let mut names: Vec<&str> = clusters.iter().map(|cluster| cluster.region.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if names.len() < minimum {
        return Err("the number of feasible region is less than spreadConstraint.MinGroups");
    }
    let regions: Vec<(String, usize, i64)> = names
        .into_iter()
        .map(|name| {
            let members: Vec<Seen> = members(clusters, name);
            (name.to_owned(), members.len(), weight(case, minimum, enough, &members))
        })
        .collect();
    let chosen = chosen_by_walking(&regions, minimum, maximum, enough)
        .ok_or("the number of clusters is less than the cluster spreadConstraint.MinGroups")?;
    let mut candidates = Vec::new();
    let mut rest = Vec::new();
    for region in &chosen {
        let mut members = members(clusters, region);
        candidates.push(members.remove(0));
        rest.extend(members);
    }
    sort(&mut rest);
    let slots = (candidates.len() + rest.len())
        .min(at_most)
        .saturating_sub(candidates.len());
    candidates.extend(rest.into_iter().take(slots));
    Ok(candidates)
}

fn members(clusters: &[Seen], region: &str) -> Vec<Seen> {
    clusters
        .iter()
        .filter(|cluster| cluster.region == region)
        .cloned()
        .collect()
}

/// Asserts that the plugin decides like the rules.
fn check(case: Case, clusters: &[Seen]) {
    let mut scenario = Scenario::new()
        .replicas(case.replicas)
        .duplicated(case.duplicated)
        // Two affinities make the tiers those of overflow affinities.
        .affinity(|_| {})
        .affinity(|_| {});
    for cluster in clusters {
        scenario = scenario.cluster(
            roomy(&cluster.name, cluster.available)
                .region(&cluster.region)
                .tier(cluster.tier)
                .score(cluster.score),
        );
    }
    for (field, limits) in [
        (SpreadField::Region, case.regions),
        (SpreadField::Cluster, case.clusters),
    ] {
        if let Some((minimum, maximum)) = limits {
            scenario = scenario.spread_constraint(by(field, minimum as i64, maximum as i64));
        }
    }
    let expected = select(case, clusters.to_vec());
    match (outcome_as_karmada(&scenario), expected) {
        (Err(message), Err(beginning)) => assert!(message.starts_with(beginning), "{message}"),
        (outcome, expected) => assert_eq!(outcome, expected.map_err(str::to_owned)),
    }
}

/// Fleets with few distinct figures: they produce ties, which is where rules differ.
fn fleet() -> impl Strategy<Value = Vec<Seen>> {
    let cluster = (0..6_u8, 0..3_u32, 0..3_i64, 0..6_i64);
    prop::collection::vec(cluster, 1..18).prop_map(|clusters| {
        clusters
            .into_iter()
            .enumerate()
            .map(|(index, (region, tier, score, available))| Seen {
                // Names unrelated to the order of the other figures and of their numbers.
                name: format!("member{}", index * 7 % 19),
                region: format!("region{region}"),
                tier,
                score: score * 50,
                available,
            })
            .collect()
    })
}

fn limits() -> impl Strategy<Value = Option<(usize, usize)>> {
    prop::option::weighted(
        0.8,
        (1..6_usize, 0..4_usize).prop_map(|(minimum, more)| (minimum, minimum + more)),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_plugin_decides_as_karmada_does(
        clusters in fleet(),
        regions in limits(),
        by_cluster in limits(),
        duplicated in any::<bool>(),
        replicas in 0..30_i64,
    ) {
        check(Case { regions, clusters: by_cluster, duplicated, replicas }, &clusters);
    }
}

#[test]
fn a_large_fleet_is_ordered_by_digits_as_by_comparison() {
    for (spread, count) in [(3, 200_i64), (1_000, 1_000), (2_000_000_000, 1_500)] {
        let clusters: Vec<Seen> = (0..count)
            .map(|index| Seen {
                name: format!("member{index}"),
                region: format!("region{}", index % 14),
                tier: (index * 7919 % 3) as u32,
                score: index * 104_729 % 5 * 100,
                available: index * 15_485_863 % spread,
            })
            .collect();
        for clusters_wanted in [None, Some((1, 20)), Some((1, 900))] {
            for regions in [None, Some((2, 3))] {
                let case = Case {
                    regions,
                    clusters: clusters_wanted,
                    duplicated: false,
                    replicas: 4_000,
                };
                check(case, &clusters);
            }
        }
    }
}
