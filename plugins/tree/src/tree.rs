//! The tree that preferences describe, as a plan: checked, with its nodes in the order of
//! [`division`](crate::division), which divides over them.
//!
//! It depends on the binding alone, and is kept for it. [`fleet`](crate::fleet) finds the clusters of its nodes.

use std::ops::Range;

use divvy_framework::clusters::ClusterSelector;
use divvy_framework::configuration::ClusterMatch;
use divvy_framework::division::tree::{Amount, Percent};
use divvy_framework::prelude::*;

use crate::content::Content;
use crate::division::{Node, Share};
use crate::preferences::{By, Child, TreePreferences};
use crate::selection::SiblingOf;

/// A node of the tree.
#[derive(Debug, Clone)]
pub struct PlanNode {
    /// Location in the preferences, such as `children[0].children[1]`; empty for the root.
    pub path: String,
    /// Name for messages: its match, after the names of the nodes above, as in `eu/a`. Empty for the root.
    pub name: String,
    /// Name for ties, which does not depend on the order of the children.
    pub identity: String,
    /// Number of the parent; the root's own for the root.
    pub parent: usize,
    /// The clusters of the parent that it takes; `None` for those that no sibling takes.
    pub selector: Option<ClusterSelector>,
    /// Its part in the arithmetic, without a tie key.
    pub node: Node,
    /// Numbers of the children.
    pub children: Range<usize>,
    /// The property that texts in the match of its children refer to.
    pub by: Option<By>,
    /// The texts in its own match.
    pub texts: Vec<String>,
    /// The property whose values are children, for a node that lists none.
    pub groups: Option<By>,
    /// Weights of clusters.
    pub weights: Vec<PlanWeight>,
}

impl PlanNode {
    /// True if its clusters depend on labels.
    pub(crate) fn reads_labels(&self) -> bool {
        let selectors = self
            .selector
            .iter()
            .chain(self.weights.iter().map(|weight| &weight.selector));
        let reads_by = |by: &Option<By>| matches!(by, Some(By::Label(_)));
        reads_by(&self.groups) || selectors.into_iter().any(ClusterSelector::reads_labels)
    }
}

/// The weight of some clusters.
#[derive(Debug, Clone)]
pub struct PlanWeight {
    /// Location in the preferences.
    pub path: String,
    /// The clusters.
    pub selector: ClusterSelector,
    /// Their weight.
    pub weight: u32,
}

macro_rules! content_of {
    ($node:expr) => {
        Content {
            by: $node.by.as_ref(),
            children: $node.children.as_deref(),
            divide: $node.divide,
            floor: $node.floor,
            always: $node.always,
            cap: $node.cap,
            weights: $node.weights.as_deref(),
        }
    };
}

/// Makes the nodes of a tree: the root first, the children of a node one after another.
///
/// # Errors
///
/// A [`ValueError`] with the path of a contradiction.
pub fn nodes(preferences: &TreePreferences) -> Result<Vec<PlanNode>, ValueError> {
    let mut nodes = vec![PlanNode {
        path: String::new(),
        name: String::new(),
        identity: String::new(),
        parent: 0,
        selector: None,
        node: Node::default(),
        children: 0..0,
        by: preferences.by.clone(),
        texts: Vec::new(),
        groups: None,
        weights: Vec::new(),
    }];
    let mut contents = vec![content_of!(preferences)];
    let mut number = 0;
    while number < nodes.len() {
        let content = std::mem::replace(&mut contents[number], Content::NONE);
        let path = nodes[number].path.clone();
        let Some(children) = content.children else {
            let (leaf, groups, weights) = content.leaf(&path)?;
            nodes[number].node.leaf = leaf;
            nodes[number].groups = groups;
            nodes[number].weights = weights;
            number += 1;
            continue;
        };
        content.check_inner(&path)?;
        let start = nodes.len();
        for (index, child) in children.iter().enumerate() {
            let path = below(&path, &format!("children[{index}]"));
            let (parent, siblings) = (&nodes[number], &nodes[start..]);
            let sibling = SiblingOf {
                by: content.by,
                parent,
                siblings,
            };
            let node = sibling.child(child, path, number)?;
            nodes.push(node);
            contents.push(content_of!(child));
        }
        check_minima(&nodes[start..], &path)?;
        nodes[number].children = start..nodes.len();
        number += 1;
    }
    Ok(nodes)
}

/// A path below another.
pub(crate) fn below(path: &str, field: &str) -> String {
    match path {
        "" => field.to_owned(),
        path => format!("{path}.{field}"),
    }
}

/// Refuses a value below a path.
pub(crate) fn refused(path: &str, field: &str, message: impl Into<String>) -> ValueError {
    ValueError::refused(below(path, field), message)
}

/// Lower bounds that add up to more than 100 percent can never be kept, regardless of the count.
fn check_minima(children: &[PlanNode], path: &str) -> Result<(), ValueError> {
    let minima = children.iter().filter_map(|child| match child.node.least {
        Some(Amount::Percent(percent)) => Some((percent, &child.path)),
        _ => None,
    });
    let mut sum = Percent::default();
    for (percent, last) in minima {
        sum = sum.checked_add(percent).ok_or_else(|| {
            let message = format!("the minima up to {last} add up to more than 100%: {percent} on top of {sum}");
            refused(path, "children", message)
        })?;
    }
    Ok(())
}

/// How a child takes its share, and its bounds.
pub(crate) fn share_of(child: &Child, path: &str, is_rest: bool) -> Result<Node, ValueError> {
    let refused = |field: &str, message: String| Err(refused(path, field, message));
    if let Some(count) = child.count {
        let others = [
            ("weight", child.weight.is_some()),
            ("min", child.min.is_some()),
            ("max", child.max.is_some()),
        ];
        if let Some((key, _)) = others.iter().find(|(_, is_given)| *is_given) {
            return refused(key, format!("`count` is exact, so it excludes `{key}`"));
        }
        let exactly = Some(Amount::Count(count.into()));
        return Ok(Node {
            least: exactly,
            most: exactly,
            ..Node::default()
        });
    }
    let is_crossed = match (child.min, child.max) {
        (Some(Amount::Count(min)), Some(Amount::Count(max))) => min > max,
        (Some(Amount::Percent(min)), Some(Amount::Percent(max))) => min > max,
        _ => false,
    };
    if let (true, Some(min), Some(max)) = (is_crossed, child.min, child.max) {
        return refused("min", format!("{min} is above the `max` of {max}"));
    }
    let share = match child.weight {
        Some(weight) => Share::Weight(weight),
        None if is_rest => Share::Rest,
        None => Share::Keeps,
    };
    Ok(Node {
        share,
        least: child.min,
        most: child.max,
        ..Node::default()
    })
}

/// The match of a child or of a weight as a text for messages, and as a text that does not depend on the order of its parts.
pub(crate) fn described(clusters: &ClusterMatch, otherwise: &str) -> (String, String) {
    match clusters {
        ClusterMatch::Text(text) => (text.clone(), text.clone()),
        ClusterMatch::AnyOf(texts) => {
            let mut sorted = texts.clone();
            sorted.sort_unstable();
            (texts.join("|"), sorted.join("|"))
        }
        ClusterMatch::Target(target) => (otherwise.to_owned(), target.canonical()),
    }
}
