//! Reasons for having no candidates, as figures and as messages.
//!
//! If Karmada has a message for the same reason, ours begins with it and adds the figures that Karmada omits.

use divvy_framework::prelude::Failure;

/// Why there are no candidates. The host reports the binding as unschedulable and keeps its last result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// All constraints are by fields that the configuration excludes.
    UnsupportedFields,
    /// There are fewer feasible clusters than the constraint by cluster requires.
    TooFewClusters { feasible: usize, minimum: usize },
    /// There are fewer groups than a constraint requires.
    TooFewGroups {
        property: String,
        feasible: usize,
        minimum: usize,
    },
    /// No choice of groups has as many clusters as the constraint by cluster requires.
    TooFewClustersInGroups { minimum: usize },
    /// No choice of clusters satisfies all constraints at once.
    Contradiction,
    /// The selected clusters together lack capacity.
    TooSmall { clusters: usize, needed: i128, held: i128 },
    /// The constraints permit more choices than the search may visit.
    TooManyChoices { groups: usize },
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnsupportedFields => write!(
                formatter,
                "just support cluster and region spread constraint: `spread-by` is `cluster-and-region` in this profile"
            ),
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
        let failure = Self::unschedulable(refusal.to_string());
        match figures {
            Some((needed, held)) => failure.with_figures(needed, held),
            None => failure,
        }
    }
}
