//! The clusters of a plan's nodes: the tree that is divided over, and the leaf of each cluster.
//!
//! This depends on the names, labels and locations of all clusters, candidates or not, so that a contradiction in the policy is
//! reported even while a cluster is not feasible. [`kept`](crate::kept) keeps it with the plan.

use std::borrow::Cow;

use divvy_framework::clusters::{Cluster, ClusterSelector, Clusters};
use divvy_framework::configuration::nearest;
use divvy_framework::division::ties::{identity_hash, tie_key};
use divvy_framework::division::tree::{LeafRule, Node, Share, Tree};
use divvy_framework::prelude::*;

use crate::preferences::By;
use crate::selection::within;
use crate::tree::{PlanNode, refused};

/// A plan's nodes with their clusters.
#[derive(Debug)]
pub struct Fleet {
    /// The tree: the nodes of the plan, then a child for each group of a node that is divided by a property.
    pub tree: Tree,
    /// Names of its nodes, for people.
    pub names: Vec<String>,
    /// Number of clusters in each node, candidates or not.
    pub sizes: Vec<usize>,
    /// The leaf of each row; the number of nodes for a cluster in none.
    pub leaf_of_row: Vec<u32>,
    /// The weight of each row; empty if no leaf divides by weight.
    pub weight_of_row: Vec<i64>,
}

/// Finds the clusters of a plan's nodes. `seed` draws the order of nodes that are equal otherwise.
///
/// # Errors
///
/// A [`ValueError`] with the path of a child or of a weight that matches no cluster, and of the second of two children with a
/// cluster in common.
pub fn find(nodes: &[PlanNode], clusters: &Clusters<'_>, seed: u64) -> Result<Fleet, ValueError> {
    let mut fleet = Fleet {
        tree: Tree::default(),
        names: nodes.iter().map(|node| node.name.clone()).collect(),
        sizes: Vec::new(),
        leaf_of_row: Vec::new(),
        weight_of_row: Vec::new(),
    };
    let mut rows_of: Vec<Vec<Row>> = vec![Vec::new(); nodes.len()];
    rows_of[0] = clusters.rows().collect();
    for (number, parent) in nodes.iter().enumerate() {
        let children = parent.children.clone();
        let tied = |child: &PlanNode| Node {
            tie: tie_key(seed, identity_hash(&child.identity)),
            ..child.node
        };
        fleet
            .tree
            .divide_among(number, nodes[children.clone()].iter().map(tied));
        if !children.is_empty() {
            let rows = std::mem::take(&mut rows_of[number]);
            let assigned = assign_rows(parent, &nodes[children.clone()], &rows, clusters)?;
            for (&row, place) in rows.iter().zip(assigned) {
                if let Some(place) = place {
                    rows_of[children.start + place].push(row);
                }
            }
        }
    }
    if let Some(root) = fleet.tree.node_mut(0) {
        *root = nodes[0].node;
    }
    for (number, node) in nodes.iter().enumerate() {
        if let Some(by) = &node.groups {
            fleet.divide_by(
                by,
                number,
                node,
                std::mem::take(&mut rows_of[number]),
                &mut rows_of,
                clusters,
                seed,
            )?;
        }
        if !node.weights.is_empty() {
            fleet.weigh(node, &rows_of[number], clusters)?;
        }
    }
    let none = rows_of.len() as u32;
    fleet.leaf_of_row.resize(clusters.len(), none);
    for (number, rows) in (0_u32..).zip(&rows_of) {
        for row in rows {
            fleet.leaf_of_row[row.index()] = number;
        }
    }
    fleet.sizes.extend(rows_of.iter().map(Vec::len));
    for number in (0..nodes.len()).rev() {
        let sum: usize = fleet.tree.children(number).map(|child| fleet.sizes[child]).sum();
        fleet.sizes[number] += sum;
    }
    Ok(fleet)
}

/// The child that takes each row of its parent.
fn assign_rows(
    parent: &PlanNode,
    children: &[PlanNode],
    rows: &[Row],
    clusters: &Clusters<'_>,
) -> Result<Vec<Option<usize>>, ValueError> {
    let mut taken_by: Vec<Option<usize>> = vec![None; rows.len()];
    for (place, child) in children.iter().enumerate() {
        let Some(selector) = &child.selector else {
            continue;
        };
        let matcher = selector.compile(clusters);
        let mut matches_any = false;
        for (&row, taken) in rows.iter().zip(&mut taken_by).filter(|(row, _)| matcher.matches(**row)) {
            matches_any = true;
            if let Some(first) = *taken {
                let (cluster, first) = (clusters.get(row).name(), &children[first].path);
                let message = format!("cluster `{cluster}` is already in {first}");
                return Err(refused(&child.path, "match", message));
            }
            *taken = Some(place);
        }
        // An empty rest above has no cluster to match.
        if !matches_any && !(rows.is_empty() && !clusters.is_empty()) {
            return Err(unmatched(parent, child, rows, clusters));
        }
    }
    if let Some(rest) = children.iter().position(|child| child.selector.is_none()) {
        taken_by.iter_mut().for_each(|taken| *taken = taken.or(Some(rest)));
    }
    Ok(taken_by)
}

/// The refusal of a child that matches no cluster of its parent.
fn unmatched(parent: &PlanNode, child: &PlanNode, rows: &[Row], clusters: &Clusters<'_>) -> ValueError {
    let quoted: Vec<String> = child.texts.iter().map(|text| format!("`{text}`")).collect();
    let texts = quoted.join(" or ");
    let what = match &parent.by {
        _ if child.texts.is_empty() => match &child.selector {
            Some(selector) if selector.unknown_names(clusters).next().is_some() => named(selector, clusters),
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
    match child.texts.first().and_then(|text| nearest(text, known)) {
        Some(nearest) => error.with_hint(format!("did you mean `{nearest}`?")),
        None => error,
    }
}

/// The names of a selector that no cluster has.
fn named(selector: &ClusterSelector, clusters: &Clusters<'_>) -> String {
    let unknown = selector.unknown_names(clusters).map(|name| format!("`{name}`"));
    format!("no cluster is named {}", unknown.collect::<Vec<String>>().join(" or "))
}

impl Fleet {
    /// Makes a child for each value of a property among the clusters of a node.
    fn divide_by(
        &mut self,
        by: &By,
        number: usize,
        node: &PlanNode,
        rows: Vec<Row>,
        rows_of: &mut Vec<Vec<Row>>,
        clusters: &Clusters<'_>,
        seed: u64,
    ) -> Result<(), ValueError> {
        let valued = rows
            .into_iter()
            .filter_map(|row| Some((value_of(by, &clusters.get(row), clusters)?, row)));
        let mut groups: Vec<(Cow<'_, str>, Row)> = valued.collect();
        groups.sort_unstable();
        let leaf = node.node.leaf;
        let child = |value: &str| Node {
            share: match leaf.rule {
                LeafRule::Evenly => Share::Weight(1),
                _ => Share::Keeps,
            },
            leaf,
            tie: tie_key(seed, identity_hash(&within(&node.identity, value))),
            ..Node::default()
        };
        let groups: Vec<&[(Cow<'_, str>, Row)]> = groups.chunk_by(|one, next| one.0 == next.0).collect();
        let values = groups
            .iter()
            .filter_map(|group| group.first())
            .map(|(value, _)| &**value);
        self.names.extend(values.clone().map(|value| within(&node.name, value)));
        self.tree.divide_among(number, values.map(child));
        rows_of.extend(groups.iter().map(|group| group.iter().map(|(_, row)| *row).collect()));
        Ok(())
    }

    /// Gives the clusters of a leaf their weights.
    fn weigh(&mut self, node: &PlanNode, rows: &[Row], clusters: &Clusters<'_>) -> Result<(), ValueError> {
        self.weight_of_row.resize(clusters.len(), 0);
        for given in &node.weights {
            let matcher = given.selector.compile(clusters);
            let mut matches_any = false;
            for row in rows.iter().filter(|row| matcher.matches(**row)) {
                matches_any = true;
                let weight = &mut self.weight_of_row[row.index()];
                *weight = (*weight).max(given.weight.into());
            }
            if !matches_any {
                let message = match given.selector.unknown_names(clusters).next() {
                    Some(_) => named(&given.selector, clusters),
                    None => "it matches no cluster of its leaf".to_owned(),
                };
                return Err(refused(&given.path, "match", message));
            }
        }
        Ok(())
    }
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
