//! The rule: a cluster that the last result lists gets the maximum score, and any other cluster gets 0.
//!
//! The number of last replicas does not matter: a cluster listed with 0 was a candidate, and Karmada counts it. Older
//! versions of Karmada scored every cluster 0 if the last replicas summed to 0; v1.19 does not.

use divvy_framework::score::MAXIMUM_SCORE;

/// Score of a cluster with these last replicas; `None` if the last result does not list it.
#[inline]
pub(crate) fn score_of(last: Option<i64>) -> i64 {
    if last.is_some() { MAXIMUM_SCORE } else { 0 }
}
