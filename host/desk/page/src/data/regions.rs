//! Replicas per region and namespace, and moves between regions.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Names, index_of};
use crate::content::{Command, Content};
use crate::flow::attribute;

/// Maximum pairs of clusters that are named.
const PAIRS_MAX: usize = 20;

#[derive(Debug, Default, Serialize)]
pub(super) struct Matrix {
    region: Vec<usize>,
    namespace: Vec<usize>,
    from: Vec<i64>,
    to: Vec<i64>,
    /// Bindings that change there.
    changed: Vec<usize>,
}

/// Moves. Regions are indexes, or `added`, `removed`, `lost`, `waiting` and `stranded`.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Flows {
    regions: Vec<(Endpoint, Endpoint, i64)>,
    /// Indexes of clusters, largest first.
    pairs: Vec<(usize, usize, i64)>,
    /// Number of pairs of clusters in all.
    all_pairs: usize,
}

/// Source or destination of a replica.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
pub(super) enum Endpoint {
    Region(usize),
    Word(&'static str),
}

pub(super) fn matrix(content: &Content, names: &Names<'_>) -> Matrix {
    let mut sums: BTreeMap<(usize, usize), (i64, i64, usize)> = BTreeMap::new();
    for binding in &content.bindings {
        let namespace = index_of(&names.namespaces, binding.namespace());
        let mut changes: BTreeMap<usize, i64> = BTreeMap::new();
        for (assignment, is_from) in [(&binding.from, true), (&binding.to, false)] {
            for (name, &replicas) in assignment {
                let Some(&cluster) = names.clusters.get(name.as_str()) else {
                    continue;
                };
                let region = names.region_of(cluster);
                let sum = sums.entry((region, namespace)).or_default();
                *(if is_from { &mut sum.0 } else { &mut sum.1 }) += replicas;
                *changes.entry(region).or_default() += if is_from { -replicas } else { replicas };
            }
        }
        for (region, _) in changes.into_iter().filter(|(_, change)| *change != 0) {
            if let Some(sum) = sums.get_mut(&(region, namespace)) {
                sum.2 += 1;
            }
        }
    }
    let mut matrix = Matrix::default();
    for ((region, namespace), (from, to, changed)) in sums {
        matrix.region.push(region);
        matrix.namespace.push(namespace);
        matrix.from.push(from);
        matrix.to.push(to);
        matrix.changed.push(changed);
    }
    matrix
}

/// Moves by region and by pair of clusters. A measured binding only grows, so that `divvy headroom` has none.
pub(super) fn flows(content: &Content, names: &Names<'_>) -> Flows {
    let mut regions: BTreeMap<(Endpoint, Endpoint), i64> = BTreeMap::new();
    let mut pairs: BTreeMap<(usize, usize), i64> = BTreeMap::new();
    if content.command == Command::Headroom || content.is_partial {
        return Flows::default();
    }
    for binding in content.bindings.iter().filter(|binding| binding.from != binding.to) {
        let known: BTreeSet<&String> = binding.from.keys().chain(binding.to.keys()).collect();
        let clusters = known
            .into_iter()
            .filter_map(|name| Some((name, *names.clusters.get(name.as_str())?)));
        let clusters: Vec<(&String, usize)> = clusters.collect();
        let count = |assignment: &divvy_forecast::situation::Assignment, name: &String| {
            assignment.get(name).copied().unwrap_or(0)
        };
        let changes: Vec<i64> = clusters
            .iter()
            .map(|(name, _)| count(&binding.to, name) - count(&binding.from, name))
            .collect();
        let mut left = changes.clone();
        for (loser, gainer, replicas) in attribute(&changes, binding.movement.moved) {
            let (Some(&(_, from)), Some(&(_, to))) = (clusters.get(loser), clusters.get(gainer)) else {
                continue;
            };
            let endpoints = (
                Endpoint::Region(names.region_of(from)),
                Endpoint::Region(names.region_of(to)),
            );
            *regions.entry(endpoints).or_default() += replicas;
            *pairs.entry((from, to)).or_default() += replicas;
            if let Some(left) = left.get_mut(loser) {
                *left += replicas;
            }
            if let Some(left) = left.get_mut(gainer) {
                *left -= replicas;
            }
        }
        let movement = &binding.movement;
        // What is not lost waits, or was removed, or stranded: one of them, because a binding has one outcome.
        let departure = match (movement.waiting > 0, movement.stranded > 0) {
            (true, _) => "waiting",
            (_, true) => "stranded",
            _ => "removed",
        };
        let mut lost = movement.lost;
        for (&(_, cluster), &left) in clusters.iter().zip(&left) {
            let region = Endpoint::Region(names.region_of(cluster));
            let mut add = |from, to, count: i64| {
                if count > 0 {
                    *regions.entry((from, to)).or_default() += count;
                }
            };
            let gone = left.min(0).saturating_abs();
            let of_lost = gone.min(lost);
            lost -= of_lost;
            add(Endpoint::Word("added"), region, left.max(0));
            add(region, Endpoint::Word("lost"), of_lost);
            add(region, Endpoint::Word(departure), gone - of_lost);
        }
    }
    let all_pairs = pairs.len();
    let mut pairs: Vec<(usize, usize, i64)> = pairs.into_iter().map(|((from, to), count)| (from, to, count)).collect();
    pairs.sort_by_key(|&(from, to, count)| (std::cmp::Reverse(count), from, to));
    pairs.truncate(PAIRS_MAX);
    Flows {
        regions: regions
            .into_iter()
            .map(|((from, to), count)| (from, to, count))
            .collect(),
        pairs,
        all_pairs,
    }
}
