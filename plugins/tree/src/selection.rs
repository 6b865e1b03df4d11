//! The clusters that the `match` of a child or of a weight selects.

use divvy_framework::binding::{SelectorField, SelectorOperator};
use divvy_framework::clusters::ClusterSelector;
use divvy_framework::configuration::ClusterMatch;
use divvy_framework::prelude::*;

use crate::preferences::{By, Child, ClusterWeight};
use crate::tree::{PlanNode, PlanWeight, below, described, refused, share_of};

/// The text for the clusters that no sibling matches.
const REST: &str = "*";

/// The position of a child: its parent, and the siblings before it.
pub(crate) struct SiblingOf<'a> {
    pub(crate) by: Option<&'a By>,
    pub(crate) parent: &'a PlanNode,
    pub(crate) siblings: &'a [PlanNode],
}

impl SiblingOf<'_> {
    /// The node of a child.
    ///
    /// # Errors
    ///
    /// A [`ValueError`] with the path of a contradiction.
    pub(crate) fn child(&self, child: &Child, path: String, parent: usize) -> Result<PlanNode, ValueError> {
        let is_rest = child.clusters == ClusterMatch::Text(REST.to_owned());
        let selector = match is_rest {
            true => None,
            false => Some(selector(&child.clusters, self.by, &path)?),
        };
        if let (true, Some(first)) = (is_rest, self.siblings.iter().find(|sibling| sibling.selector.is_none())) {
            let message = format!("`{REST}` is already the match of {}", first.path);
            return Err(refused(&path, "match", message));
        }
        let last = path.rsplit('.').next().unwrap_or(&path);
        let (name, identity) = described(&child.clusters, last);
        Ok(PlanNode {
            name: within(&self.parent.name, &name),
            identity: within(&self.parent.identity, &identity),
            parent,
            selector,
            node: share_of(child, &path, is_rest)?,
            children: 0..0,
            by: child.by.clone(),
            texts: match &child.clusters {
                ClusterMatch::Text(text) => vec![text.clone()],
                ClusterMatch::AnyOf(texts) => texts.clone(),
                ClusterMatch::Target(_) => Vec::new(),
            },
            groups: None,
            weights: Vec::new(),
            path,
        })
    }
}

/// A name below another.
pub(crate) fn within(parent: &str, name: &str) -> String {
    match parent {
        "" => name.to_owned(),
        parent => format!("{parent}/{name}"),
    }
}

/// The weights of a leaf.
///
/// # Errors
///
/// A [`ValueError`] with the path of a match that selects nothing.
pub(crate) fn weights(weights: &[ClusterWeight], path: &str) -> Result<Vec<PlanWeight>, ValueError> {
    let mut planned = Vec::with_capacity(weights.len());
    for (index, ClusterWeight { clusters, weight }) in weights.iter().enumerate() {
        let path = below(path, &format!("weights[{index}]"));
        let selector = selector(clusters, Some(&By::Name), &path)?;
        planned.push(PlanWeight {
            path,
            selector,
            weight: *weight,
        });
    }
    Ok(planned)
}

fn selector(clusters: &ClusterMatch, by: Option<&By>, path: &str) -> Result<ClusterSelector, ValueError> {
    let refused = |message: &str| Err(refused(path, "match", message));
    let texts = match clusters {
        ClusterMatch::Target(target) if target.is_empty() => {
            return refused(
                "has no requirements, so it matches every cluster: expected `clusterNames`, a selector, or `\"*\"`",
            );
        }
        ClusterMatch::Target(target) => return Ok(target.selector()),
        ClusterMatch::Text(text) => std::slice::from_ref(text),
        ClusterMatch::AnyOf(texts) => texts,
    };
    if texts.is_empty() || texts.iter().any(String::is_empty) {
        return refused("expected a text that is not empty");
    }
    if texts.iter().any(|text| text == REST) {
        return refused("`*` cannot be in a list: it means the clusters that no sibling matches");
    }
    let mut selector = ClusterSelector::default();
    match by {
        None => {
            return refused(
                "a text needs `by` beside `children`: `region`, `zone`, `provider`, `name` or `{\"label\": …}`",
            );
        }
        Some(By::Region) => selector.field(SelectorField::Region, SelectorOperator::In, texts),
        Some(By::Zone) => selector.field(SelectorField::Zone, SelectorOperator::In, texts),
        Some(By::Provider) => selector.field(SelectorField::Provider, SelectorOperator::In, texts),
        Some(By::Label(key)) => selector.label(key, SelectorOperator::In, texts),
        Some(By::Name) => selector.names(texts),
    };
    Ok(selector)
}
