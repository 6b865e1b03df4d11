//! The content of a node: children, or the rule by which it divides over its clusters.

use divvy_framework::prelude::*;

use crate::division::{Floor, Leaf, LeafRule};
use crate::preferences::{By, Child, ClusterWeight, Divide};
use crate::selection;
use crate::tree::{PlanWeight, refused};

/// The part of a node that is the same for the root and for children.
pub(crate) struct Content<'a> {
    pub(crate) by: Option<&'a By>,
    pub(crate) children: Option<&'a [Child]>,
    pub(crate) divide: Option<Divide>,
    pub(crate) floor: Option<u32>,
    pub(crate) always: Option<u32>,
    pub(crate) cap: Option<u32>,
    pub(crate) weights: Option<&'a [ClusterWeight]>,
}

impl Content<'_> {
    pub(crate) const NONE: Self = Self {
        by: None,
        children: None,
        divide: None,
        floor: None,
        always: None,
        cap: None,
        weights: None,
    };

    /// A node with children leaves the division to them.
    pub(crate) fn check_inner(&self, path: &str) -> Result<(), ValueError> {
        if self.children.is_some_and(<[Child]>::is_empty) {
            return Err(refused(path, "children", "expected at least one child"));
        }
        let of_leaves = [
            ("divide", self.divide.is_some()),
            ("floor", self.floor.is_some()),
            ("always", self.always.is_some()),
            ("cap", self.cap.is_some()),
            ("weights", self.weights.is_some()),
        ];
        match of_leaves.iter().find(|(_, is_given)| *is_given) {
            Some((key, _)) => {
                let message = format!("a node with `children` cannot have `{key}`; only nodes without children can");
                Err(refused(path, key, message))
            }
            None => Ok(()),
        }
    }

    /// A node without children as a leaf, the property that groups its clusters, and their weights.
    pub(crate) fn leaf(&self, path: &str) -> Result<(Leaf, Option<By>, Vec<PlanWeight>), ValueError> {
        let refused = |field: &str, message: &str| Err(refused(path, field, message));
        if let (Some(by), None) = (self.by, self.divide) {
            let message = match by {
                By::Name => "`by` gives `match` of the `children` its meaning, but there are no `children`",
                _ => "`by` needs `children`, or `divide`, which makes each of its values a child",
            };
            return refused("by", message);
        }
        let divide = self.divide.unwrap_or_default();
        let rule = match divide {
            Divide::ByRoom => LeafRule::ByRoom,
            Divide::Evenly => LeafRule::Evenly,
            Divide::ByWeight => LeafRule::ByWeight,
            Divide::Fewest => LeafRule::Fewest,
        };
        let groups = self.by.filter(|by| **by != By::Name).cloned();
        if groups.is_some() && matches!(divide, Divide::ByWeight | Divide::Fewest) {
            return refused(
                "divide",
                "with `by` and without `children`, expected `evenly` or `byRoom`: all others divide over clusters",
            );
        }
        let floor = match (self.floor, self.always) {
            (Some(_), Some(_)) => {
                return refused(
                    "always",
                    "`floor` and `always` exclude each other: `always` is a floor for all",
                );
            }
            (_, Some(_)) if divide == Divide::Fewest => {
                return refused(
                    "always",
                    "gives replicas to every cluster, but `fewest` to as few as possible",
                );
            }
            (Some(floor), None) => Floor::IfAny(floor.into()),
            (None, Some(least)) => Floor::Always(least.into()),
            (None, None) => Floor::None,
        };
        for (key, least) in [("floor", self.floor), ("always", self.always)] {
            if let (Some(least), Some(cap)) = (least, self.cap)
                && least > cap
            {
                return refused(key, &format!("{least} is above the `cap` of {cap}"));
            }
        }
        let weights = match (divide, self.weights) {
            (Divide::ByWeight, None | Some([])) => return refused("weights", "expected weights for `byWeight`"),
            (Divide::ByWeight, Some(weights)) => selection::weights(weights, path)?,
            (_, None) => Vec::new(),
            (other, Some(_)) => {
                let message = format!(
                    "only `\"divide\": \"byWeight\"` reads weights, but it is `{}`",
                    other.word()
                );
                return refused("weights", &message);
            }
        };
        let leaf = Leaf {
            rule,
            floor,
            cap: self.cap.map(Into::into),
        };
        Ok((leaf, groups, weights))
    }
}
