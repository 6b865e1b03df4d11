//! The clusters of the histories, as the move of one binding reads them.

use divvy_karmada::api::TargetCluster;
use divvy_profile::MoveBudgets;

use super::super::budgets::Applicant;
use super::super::world::World;
use super::histories::REPORT_TIME;

pub(super) const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// The world around one of the bindings.
pub(super) struct Around<'a> {
    pub(super) is_ready: [bool; 4],
    pub(super) room: [i64; 4],
    pub(super) budgets: MoveBudgets,
    pub(super) others: Vec<Applicant<'a>>,
}

impl World for Around<'_> {
    fn exists(&self, _: &str) -> bool {
        true
    }

    fn is_ready(&self, cluster: &str) -> bool {
        self.is_ready[index(cluster)]
    }

    fn is_deleting(&self, _: &str) -> bool {
        false
    }

    fn is_excluded(&self, _: &str) -> bool {
        false
    }

    fn room(&self, cluster: &str) -> i64 {
        self.room[index(cluster)]
    }

    fn region(&self, cluster: &str) -> &str {
        region(cluster)
    }

    fn max_clusters(&self) -> Option<u32> {
        None
    }

    fn report_time(&self) -> i64 {
        REPORT_TIME
    }

    fn budgets(&self) -> MoveBudgets {
        self.budgets
    }

    fn others(&self) -> Vec<Applicant<'_>> {
        self.others.clone()
    }

    fn holds_back(&self, _: &[TargetCluster], _: &[TargetCluster]) -> bool {
        false
    }
}

pub(super) fn region<'a>(cluster: &str) -> &'a str {
    if index(cluster) < 2 { "r" } else { "s" }
}

pub(super) fn index(name: &str) -> usize {
    NAMES.iter().position(|known| *known == name).unwrap()
}
