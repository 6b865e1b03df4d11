//! What a step of a move may do, by the pods that members really run.
//!
//! Whoever watches moves fills in a [`Column`] for each cluster of a binding, and asks before or after each write of a result. What a scheduler
//! believes appears in one place: replicas that no report has shown as ready, or whose cluster is not Ready for the process that decides,
//! may go as if they were not.

use std::collections::BTreeMap;
use std::fmt::Write;

/// The allowances of a profile with moves, and its budgets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Allowances {
    /// Replicas beyond the total.
    pub surge: i64,
    /// Ready replicas that may be missing.
    pub unavailable: i64,
    /// True if an autoscaler may take a surge of a tenth for less need.
    pub is_scaled: bool,
    /// Bindings that may be under way.
    pub bindings: Option<i64>,
    /// The same in one cluster.
    pub bindings_per_cluster: Option<i64>,
    /// The same in one region.
    pub bindings_per_region: Option<i64>,
    /// Replicas that may be given and not ready.
    pub replicas: Option<i64>,
    /// The same in one cluster.
    pub replicas_per_cluster: Option<i64>,
    /// The same in one region.
    pub replicas_per_region: Option<i64>,
    /// Seconds after which what was evicted goes back.
    pub failback: Option<i64>,
}

/// A binding's replicas in one cluster. Clusters that Karmada alone decides about have none: it keeps what it evicts until that is replaced,
/// and has removed what runs in a cluster that is being deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Ready pods, and those that were ready by the last report and have crashed or lost their node since.
    pub ready: i64,
    /// Replicas that the last report shows as ready.
    pub reported: i64,
    /// Replicas of the result before a write, and after it.
    pub before: i64,
    /// Replicas of the result after it.
    pub after: i64,
    /// True if the cluster is Ready.
    pub is_ready: bool,
    /// True if it is Ready for the process that decided, too.
    pub counts: bool,
}

impl Allowances {
    /// No allowance, and no budget that limits.
    pub const NONE: Self = Self {
        surge: 0,
        unavailable: 0,
        is_scaled: false,
        bindings: None,
        bindings_per_cluster: None,
        bindings_per_region: None,
        replicas: None,
        replicas_per_cluster: None,
        replicas_per_region: None,
        failback: None,
    };

    /// The lines of a profile.
    pub fn lines(&self) -> String {
        let mut lines = format!(
            "[profile.moves]\npace = 'surge'\nmax-surge = {}\nmax-unavailable = {}\nfederated-hpa = {}\n",
            self.surge, self.unavailable, self.is_scaled
        );
        // Writing to a text cannot fail.
        if let Some(seconds) = self.failback {
            let _infallible = writeln!(lines, "failback = '{seconds}s'");
        }
        lines.push_str("[profile.moves.budgets]\n");
        let budgets = [
            ("bindings", self.bindings),
            ("bindings-per-cluster", self.bindings_per_cluster),
            ("bindings-per-region", self.bindings_per_region),
            ("replicas", self.replicas),
            ("replicas-per-cluster", self.replicas_per_cluster),
            ("replicas-per-region", self.replicas_per_region),
        ];
        for (key, limit) in budgets.into_iter().filter_map(|(key, limit)| Some((key, limit?))) {
            let _infallible = writeln!(lines, "{key} = {limit}");
        }
        lines
    }

    /// Replicas beyond a total that a step may have.
    pub fn surge_of(&self, total: i64) -> i64 {
        match self.is_scaled {
            true => self.surge.min(tolerated(total)),
            false => self.surge,
        }
    }

    /// Judges the result of a write, with the sums of the whole results before and after it: ready replicas are left as before, or as many as may
    /// not be missing, and no more are given than a surge.
    pub fn judge(&self, columns: &BTreeMap<String, Column>, sums: (i64, i64), total: i64) -> Option<String> {
        self.floor(columns, total).or_else(|| self.excess(sums, total))
    }

    /// The ready replicas that are missing after a write; `None` if there are enough.
    fn floor(&self, columns: &BTreeMap<String, Column>, total: i64) -> Option<String> {
        let excess = columns.values().map(|column| column.before).sum::<i64>() - total;
        // What an autoscaler would take for less need goes at once, even if it may be ready.
        if self.is_scaled && excess > tolerated(total) {
            return None;
        }
        let counted = columns.values().filter(|column| column.counts);
        let ready: i64 = counted
            .map(|column| column.ready.min(column.before).min(column.reported))
            .sum();
        let left = columns.values().filter(|column| column.is_ready);
        let left: i64 = left
            .map(|column| column.ready.min(column.before).min(column.after))
            .sum();
        let least = ready.min(total - self.unavailable);
        (left < least).then(|| format!("{left} ready replicas are left of {ready}: {columns:?}"))
    }

    /// The replicas beyond a surge that a write gives; `None` if there are none.
    fn excess(&self, (before, after): (i64, i64), total: i64) -> Option<String> {
        let most = before.max(total + self.surge_of(total));
        (after > most).then(|| format!("{after} replicas are more than {most}"))
    }
}

/// Replicas beyond a total that a FederatedHPA tolerates: less than a tenth.
pub fn tolerated(total: i64) -> i64 {
    (total - 1).max(0) / 10
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(allowances: Allowances, columns: &BTreeMap<String, Column>, total: i64) -> Option<String> {
        let before = columns.values().map(|column| column.before).sum();
        let after = columns.values().map(|column| column.after).sum();
        allowances.judge(columns, (before, after), total)
    }

    fn columns(pairs: [(i64, i64, i64); 2]) -> BTreeMap<String, Column> {
        let column = |(ready, before, after)| Column {
            ready,
            reported: ready,
            before,
            after,
            is_ready: true,
            counts: true,
        };
        let names = ["a", "b"].map(str::to_owned);
        names.into_iter().zip(pairs.map(column)).collect()
    }

    #[test]
    fn ready_replicas_stay_and_no_more_than_a_surge_is_given() {
        let allowances = Allowances {
            surge: 2,
            ..Allowances::NONE
        };
        assert_eq!(judge(allowances, &columns([(4, 4, 4), (0, 0, 2)]), 4), None);
        assert!(judge(allowances, &columns([(4, 4, 4), (0, 0, 3)]), 4).is_some());
        assert!(judge(allowances, &columns([(4, 4, 3), (0, 2, 3)]), 4).is_some());
        let lenient = Allowances {
            unavailable: 1,
            ..allowances
        };
        assert_eq!(judge(lenient, &columns([(4, 4, 3), (0, 2, 3)]), 4), None);
        // What no report has shown as ready may go as if it were not.
        let mut unseen = columns([(4, 4, 0), (4, 4, 4)]);
        unseen.values_mut().for_each(|column| column.reported = 2);
        assert_eq!(judge(allowances, &unseen, 4), None);
    }

    #[test]
    fn an_autoscaler_permits_a_surge_of_less_than_a_tenth() {
        let allowances = Allowances {
            surge: 3,
            is_scaled: true,
            ..Allowances::NONE
        };
        assert_eq!([10, 11, 40].map(|total| allowances.surge_of(total)), [0, 1, 3]);
        // What is beyond it goes at once.
        assert_eq!(judge(allowances, &columns([(10, 10, 10), (3, 3, 0)]), 10), None);
    }
}
