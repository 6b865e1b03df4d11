//! The clusters of a plan's nodes: the tree that is divided over, and the leaf of each cluster.
//!
//! They depend on the names, labels and locations of all clusters, candidates or not, so a contradiction in the policy
//! is reported even if a cluster is not feasible. [`kept`](crate::kept) keeps them with the plan.

use std::borrow::Cow;
use std::collections::HashSet;

use divvy_framework::clusters::{Cluster, ClusterSelector, Clusters};
use divvy_framework::configuration::nearest;
use divvy_framework::division::ties::{identity_hash, tie_key};
use divvy_framework::prelude::*;

use crate::division::{LeafRule, Node, Share, Tree};
use crate::preferences::By;
use crate::selection::within;
use crate::tree::{PlanNode, PlanWeight, refused};

/// A plan's nodes with their clusters.
#[derive(Debug, Default)]
pub struct Fleet {
    /// The tree: the nodes of the plan, then a child for each group of a node that is divided by a property.
    pub tree: Tree,
    /// Names of its nodes, for messages.
    pub names: Vec<String>,
    /// Number of clusters in each node, candidates or not.
    pub sizes: Vec<usize>,
    /// The leaf of each row; the number of nodes for a cluster in none.
    pub leaf_of_row: Vec<u32>,
    /// The weight of each row; empty if no leaf divides by weight.
    pub weight_of_row: Vec<i64>,
}

/// Finds the clusters of a plan's nodes. `seed` determines the order of otherwise equal nodes.
///
/// # Errors
///
/// A [`ValueError`] with the path of a child or of a weight that matches no cluster, and of the second of two children with a
/// cluster in common.
pub fn find(nodes: &[PlanNode], clusters: &Clusters<'_>, seed: u64) -> Result<Fleet, ValueError> {
    let mut found = Found {
        clusters,
        seed,
        rows_of: vec![Vec::new(); nodes.len()],
        fleet: Fleet::default(),
    };
    if let (Some(root), Some(node)) = (nodes.first(), found.fleet.tree.node_mut(0)) {
        *node = root.node;
        found.rows_of[0].extend(clusters.rows());
    }
    found.fleet.names.extend(nodes.iter().map(|node| node.name.clone()));
    for (number, node) in nodes.iter().enumerate() {
        found.divide_among_children(number, node, nodes)?;
    }
    // Groups are nodes that the plan does not have, so they come last.
    for (number, node) in nodes.iter().enumerate() {
        if let Some(by) = &node.groups {
            found.divide_by(by, number, node);
        }
        for weight in &node.weights {
            found.weigh(number, weight)?;
        }
    }
    Ok(found.complete())
}

/// The clusters found so far.
struct Found<'a> {
    clusters: &'a Clusters<'a>,
    seed: u64,
    /// The rows of each node that have not moved to a child.
    rows_of: Vec<Vec<Row>>,
    fleet: Fleet,
}

impl Found<'_> {
    fn tie(&self, identity: &str) -> u64 {
        tie_key(self.seed, identity_hash(identity))
    }

    /// Moves the clusters of a node to its children.
    fn divide_among_children(
        &mut self,
        number: usize,
        parent: &PlanNode,
        nodes: &[PlanNode],
    ) -> Result<(), ValueError> {
        let start = parent.children.start;
        let children = &nodes[parent.children.clone()];
        if children.is_empty() {
            return Ok(());
        }
        let tied = children.iter().map(|child| Node {
            tie: tie_key(self.seed, identity_hash(&child.identity)),
            ..child.node
        });
        self.fleet.tree.divide_among(number, tied);
        let rows = std::mem::take(&mut self.rows_of[number]);
        let mut taken_by: Vec<Option<usize>> = vec![None; rows.len()];
        for (index, child) in children.iter().enumerate() {
            let Some(selector) = &child.selector else {
                continue;
            };
            let matcher = selector.compile(self.clusters);
            let mut matched = Vec::new();
            for (&row, taken) in rows.iter().zip(&mut taken_by).filter(|(row, _)| matcher.matches(**row)) {
                matched.push(row);
                if let Some(first) = *taken {
                    let (cluster, first) = (self.clusters.get(row).name(), &children[first].path);
                    let message = format!("cluster `{cluster}` is already in {first}");
                    return Err(refused(&child.path, "match", message));
                }
                *taken = Some(index);
            }
            // Below an empty rest, no child has a cluster to match.
            let has_clusters = !rows.is_empty() || number == 0;
            let missing = missing_texts(parent, child, &matched, self.clusters);
            let misses = match child.texts.is_empty() {
                true => matched.is_empty() || names_unknown(child.selector.as_ref(), self.clusters),
                false => !missing.is_empty(),
            };
            if misses && has_clusters {
                return Err(unmatched(parent, child, &missing, &rows, self.clusters));
            }
        }
        let rest = children.iter().position(|child| child.selector.is_none());
        for (&row, taken) in rows.iter().zip(taken_by) {
            if let Some(index) = taken.or(rest) {
                self.rows_of[start + index].push(row);
            }
        }
        Ok(())
    }

    /// Makes a child for each value of a property among the clusters of a node.
    fn divide_by(&mut self, by: &By, number: usize, node: &PlanNode) {
        let rows = std::mem::take(&mut self.rows_of[number]);
        let value = |row: Row| value_of(by, &self.clusters.get(row), self.clusters);
        let mut rows: Vec<(Cow<'_, str>, Row)> = rows.into_iter().filter_map(|row| Some((value(row)?, row))).collect();
        rows.sort_unstable();
        let leaf = node.node.leaf;
        let groups: Vec<&[(Cow<'_, str>, Row)]> = rows.chunk_by(|one, next| one.0 == next.0).collect();
        let values = groups
            .iter()
            .filter_map(|group| group.first())
            .map(|(value, _)| &**value);
        let child = |value: &str| Node {
            share: match leaf.rule {
                LeafRule::Evenly => Share::Weight(1),
                _ => Share::Keeps,
            },
            leaf,
            tie: self.tie(&within(&node.identity, value)),
            ..Node::default()
        };
        let children: Vec<Node> = values.clone().map(child).collect();
        self.fleet.tree.divide_among(number, children);
        self.fleet.names.extend(values.map(|value| within(&node.name, value)));
        let rows_of = groups.iter().map(|group| group.iter().map(|(_, row)| *row).collect());
        self.rows_of.extend(rows_of);
    }

    /// Gives some clusters of a leaf a weight.
    fn weigh(&mut self, number: usize, given: &PlanWeight) -> Result<(), ValueError> {
        self.fleet.weight_of_row.resize(self.clusters.len(), 0);
        let matcher = given.selector.compile(self.clusters);
        let mut matches_any = false;
        for row in self.rows_of[number].iter().filter(|row| matcher.matches(**row)) {
            matches_any = true;
            let weight = &mut self.fleet.weight_of_row[row.index()];
            *weight = (*weight).max(given.weight.into());
        }
        // One name that no cluster has is a mistake, even if others match.
        let message = match given.selector.unknown_names(self.clusters).next() {
            Some(_) => unknown_names(&given.selector, self.clusters),
            None if matches_any => return Ok(()),
            None => "it matches no cluster of its leaf".to_owned(),
        };
        let error = refused(&given.path, "match", message);
        Err(with_nearest_name(error, &given.selector, self.clusters))
    }

    fn complete(mut self) -> Fleet {
        let none = self.rows_of.len() as u32;
        self.fleet.leaf_of_row.resize(self.clusters.len(), none);
        for (leaf, rows) in (0_u32..).zip(&self.rows_of) {
            for row in rows {
                self.fleet.leaf_of_row[row.index()] = leaf;
            }
        }
        let mut sizes: Vec<usize> = self.rows_of.iter().map(Vec::len).collect();
        // Children come after their parents.
        for number in (0..sizes.len()).rev() {
            sizes[number] += self
                .fleet
                .tree
                .children(number)
                .map(|child| sizes[child])
                .sum::<usize>();
        }
        self.fleet.sizes = sizes;
        self.fleet
    }
}

/// The texts in the match of a child that none of the clusters has that it matches.
fn missing_texts<'a>(
    parent: &PlanNode,
    child: &'a PlanNode,
    matched: &[Row],
    clusters: &Clusters<'_>,
) -> Vec<&'a String> {
    let (Some(by), false) = (&parent.by, child.texts.is_empty()) else {
        return child.texts.iter().collect();
    };
    let mut present = HashSet::new();
    for &row in matched {
        let cluster = clusters.get(row);
        match by {
            By::Zone => present.extend(cluster.zone_symbols().iter().map(|zone| clusters.text(*zone))),
            By::Region => _ = present.insert(cluster.region()),
            By::Provider => _ = present.insert(cluster.provider()),
            By::Name => _ = present.insert(cluster.name()),
            By::Label(key) => present.extend(cluster.label(key)),
        }
    }
    child
        .texts
        .iter()
        .filter(|text| !present.contains(text.as_str()))
        .collect()
}

/// True if a selector names a cluster that does not exist.
fn names_unknown(selector: Option<&ClusterSelector>, clusters: &Clusters<'_>) -> bool {
    selector.is_some_and(|selector| selector.unknown_names(clusters).next().is_some())
}

/// The refusal of a child that matches no cluster of its parent, or none by some of its texts.
fn unmatched(
    parent: &PlanNode,
    child: &PlanNode,
    missing: &[&String],
    rows: &[Row],
    clusters: &Clusters<'_>,
) -> ValueError {
    let quoted: Vec<String> = missing.iter().map(|text| format!("`{text}`")).collect();
    let texts = quoted.join(" or ");
    let what = match &parent.by {
        _ if child.texts.is_empty() => match &child.selector {
            Some(selector) if names_unknown(Some(selector), clusters) => unknown_names(selector, clusters),
            _ => "it matches no cluster".to_owned(),
        },
        Some(By::Region) => format!("no cluster is in region {texts}"),
        Some(By::Zone) => format!("no cluster is in zone {texts}"),
        Some(By::Provider) => format!("no cluster is of provider {texts}"),
        Some(By::Label(key)) => format!("no cluster has label `{key}` with value {texts}"),
        Some(By::Name) | None => format!("no cluster is named {texts}"),
    };
    let message = match parent.name.as_str() {
        "" => what,
        name => format!("{what} among those of {name}"),
    };
    let error = refused(&child.path, "match", message);
    let known: Vec<Cow<'_, str>> = match &parent.by {
        Some(by) => rows
            .iter()
            .filter_map(|&row| value_of(by, &clusters.get(row), clusters))
            .collect(),
        None => Vec::new(),
    };
    let known = known.iter().map(|value| &**value);
    match (missing.first().and_then(|text| nearest(text, known)), &child.selector) {
        (Some(nearest), _) => did_you_mean(error, nearest),
        (None, Some(selector)) => with_nearest_name(error, selector, clusters),
        (None, None) => error,
    }
}

fn did_you_mean(error: ValueError, nearest: &str) -> ValueError {
    error.with_hint(format!("did you mean `{nearest}`?"))
}

/// An error about names of a selector, with the nearest name of a cluster.
fn with_nearest_name(error: ValueError, selector: &ClusterSelector, clusters: &Clusters<'_>) -> ValueError {
    let names = clusters.iter().map(|cluster| cluster.name());
    let unknown = selector.unknown_names(clusters).next();
    match unknown.and_then(|unknown| nearest(unknown, names)) {
        Some(nearest) => did_you_mean(error, nearest),
        None => error,
    }
}

/// A message with the names of a selector that no cluster has.
fn unknown_names(selector: &ClusterSelector, clusters: &Clusters<'_>) -> String {
    let unknown = selector.unknown_names(clusters).map(|name| format!("`{name}`"));
    format!("no cluster is named {}", unknown.collect::<Vec<String>>().join(" or "))
}

/// The value of a property of a cluster; `None` if it has none. Several zones together are one value, since a cluster is in one group.
fn value_of<'a>(by: &By, cluster: &Cluster<'a>, clusters: &Clusters<'a>) -> Option<Cow<'a, str>> {
    let text = match by {
        By::Region => cluster.region(),
        By::Provider => cluster.provider(),
        By::Name => cluster.name(),
        By::Label(key) => cluster.label(key)?,
        By::Zone => {
            let zones = cluster.zone_symbols().iter().map(|zone| clusters.text(*zone));
            let mut zones: Vec<&str> = zones.collect();
            zones.sort_unstable();
            match zones.as_slice() {
                [] => "",
                [zone] => zone,
                zones => return Some(zones.join("+").into()),
            }
        }
    };
    (!text.is_empty()).then_some(Cow::Borrowed(text))
}
