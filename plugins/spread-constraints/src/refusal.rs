//! Why there are no candidates, in figures and in words.
//!
//! A text that Karmada has too begins as Karmada's does and goes on with the figures that Karmada leaves out.

use divvy_framework::prelude::Failure;

/// Why there are no candidates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// Fewer feasible clusters than the constraint by cluster demands.
    TooFewClusters { feasible: usize, minimum: usize },
    /// Fewer groups than a constraint demands.
    TooFewGroups {
        property: String,
        feasible: usize,
        minimum: usize,
    },
    /// No choice of groups has as many clusters as the constraint by cluster demands.
    TooFewClustersInGroups { minimum: usize },
    /// No choice of clusters satisfies all constraints at once.
    Contradiction,
    /// The clusters are together too small.
    TooSmall { clusters: usize, needed: i128, held: i128 },
    /// The constraints leave more choices open than the search may look at.
    TooManyChoices { groups: usize },
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooFewClusters { feasible, minimum } => write!(
                formatter,
                "the number of feasible clusters is less than spreadConstraint.MinGroups: {feasible} of {minimum}"
            ),
            Self::TooFewGroups {
                property,
                feasible,
                minimum,
            } => write!(
                formatter,
                "the number of feasible {property} is less than spreadConstraint.MinGroups: {feasible} of {minimum}"
            ),
            Self::TooFewClustersInGroups { minimum } => write!(
                formatter,
                "the number of clusters is less than the cluster spreadConstraint.MinGroups: no permitted choice of groups \
                 has {minimum}"
            ),
            Self::Contradiction => write!(
                formatter,
                "no choice of clusters satisfies all spread constraints at once"
            ),
            Self::TooSmall { clusters, needed, held } => write!(
                formatter,
                "no enough resource when selecting {clusters} clusters: {held} of {needed} replicas fit"
            ),
            Self::TooManyChoices { groups } => write!(
                formatter,
                "the spread constraints leave too many choices among {groups} groups: lower maxGroups or minGroups"
            ),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let figures = match refusal {
            Refusal::TooSmall { needed, held, .. } => i64::try_from(needed).ok().zip(i64::try_from(held).ok()),
            _ => None,
        };
        Self::Unschedulable {
            message: refusal.to_string(),
            figures,
        }
    }
}
