//! The rule: a cluster that the last result lists gets the largest score, any other none.
//!
//! Whatever its replicas there: a cluster listed with 0 was a candidate, and Karmada counts it. An older Karmada gave
//! nothing to any cluster while the last replicas summed up to 0; v1.19 does not.

use divvy_framework::score::MAXIMUM_SCORE;

/// The score of a cluster with these last replicas; none: the last result does not list it.
#[inline]
pub(crate) fn score_of(last: Option<i64>) -> i64 {
    if last.is_some() { MAXIMUM_SCORE } else { 0 }
}
