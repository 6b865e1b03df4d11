//! Replicas that a binding asks for and that run nowhere.
//!
//! One number for everything that lacks, whatever the reason: below the full count of a quorum, of a binding that waits, lost or
//! stranded, on a failed cluster, and in a copy of a duplicated binding that a cluster had and no other has instead. What a policy or
//! a workload no longer asks for is not missing, nor is what a suspended binding never had.

use crate::movement::paired;

/// A binding in one state, as far as it determines what is missing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    /// Replicas that the binding asks for: in all, or in each copy.
    pub(crate) replicas: i64,
    /// True if each cluster has a copy.
    pub(crate) is_duplicated: bool,
    /// True if the binding is not scheduled, so that it only keeps what it has.
    pub(crate) is_skipped: bool,
}

/// Replicas that run in one state of a binding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Running {
    pub(crate) replicas: i64,
    pub(crate) clusters: usize,
}

/// Replicas that are missing in one state of a binding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Missing {
    /// All of them.
    pub(crate) replicas: i64,
    /// Of these, replicas in copies of a duplicated binding that runs on other clusters.
    pub(crate) copies: i64,
}

impl Running {
    /// What runs on these clusters.
    pub(crate) fn on<K>(clusters: impl Iterator<Item = (K, i64)>) -> Self {
        clusters.fold(Self::default(), |sum, (_, replicas)| Self {
            replicas: sum.replicas + replicas,
            clusters: sum.clusters + 1,
        })
    }
}

impl Asked {
    /// What is missing while `running` runs. `had` is the most that the binding had in an earlier state, and `gone` are the replicas
    /// of its copies that are gone since ([`gone_copies`]).
    pub(crate) fn missing(self, running: Running, had: i64, gone: i64) -> Missing {
        let replicas = match self {
            Self { is_skipped: true, .. } => had - running.replicas,
            Self {
                is_duplicated: true,
                replicas,
                ..
            } if running.clusters == 0 => replicas.max(gone),
            Self {
                is_duplicated: true, ..
            } => gone,
            Self { replicas, .. } => replicas - running.replicas,
        };
        let replicas = replicas.max(0);
        let is_copy = self.is_duplicated && running.clusters > 0;
        Missing {
            replicas,
            copies: if is_copy { replicas } else { 0 },
        }
    }
}

impl Missing {
    /// What is missing beyond what was missing earlier.
    pub(crate) fn since(self, earlier: Self) -> Self {
        let replicas = (self.replicas - earlier.replicas).max(0);
        Self {
            replicas,
            copies: self.copies.min(replicas),
        }
    }
}

/// Replicas of the copies that clusters had earlier and that no other cluster has instead. Both states are sorted by cluster.
pub(crate) fn gone_copies<K: Ord>(from: impl Iterator<Item = (K, i64)>, to: impl Iterator<Item = (K, i64)>) -> i64 {
    let changes = paired(from, to).map(|(_, earlier, later)| match (earlier, later) {
        (Some(earlier), None) => earlier,
        (None, Some(later)) => -later,
        _ => 0,
    });
    changes.sum::<i64>().max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIVIDED: Asked = Asked {
        replicas: 20,
        is_duplicated: false,
        is_skipped: false,
    };

    fn running(clusters: &[i64]) -> Running {
        Running::on(clusters.iter().map(|replicas| ((), *replicas)))
    }

    #[test]
    fn what_is_asked_for_and_does_not_run_is_missing() {
        let duplicated = Asked {
            replicas: 3,
            is_duplicated: true,
            ..DIVIDED
        };
        let skipped = Asked {
            is_skipped: true,
            ..DIVIDED
        };
        let cases = [
            ("all of it runs", DIVIDED, &[12, 8][..], (20, 0), (0, 0)),
            ("below the full count of a quorum", DIVIDED, &[10], (20, 0), (10, 0)),
            ("it waits", DIVIDED, &[], (0, 0), (20, 0)),
            ("more than it asks for", DIVIDED, &[15, 15], (0, 0), (0, 0)),
            ("every copy runs", duplicated, &[3, 3], (6, 0), (0, 0)),
            ("a copy is gone", duplicated, &[3], (6, 3), (3, 3)),
            ("all copies are gone", duplicated, &[], (6, 6), (6, 0)),
            ("a first copy waits", duplicated, &[], (0, 0), (3, 0)),
            ("it never ran and is suspended", skipped, &[], (0, 0), (0, 0)),
            ("it is suspended and loses a cluster", skipped, &[12], (20, 0), (8, 0)),
        ];
        for (name, asked, clusters, (had, gone), (replicas, copies)) in cases {
            let expected = Missing { replicas, copies };
            assert_eq!(asked.missing(running(clusters), had, gone), expected, "{name}");
        }
    }

    #[test]
    fn copies_that_another_cluster_has_instead_are_not_gone() {
        let from = [("a", 3), ("b", 3), ("c", 3)];
        let cases = [
            (&[("a", 3), ("b", 3), ("c", 3)][..], 0),
            (&[("a", 3), ("b", 3)], 3),
            (&[("a", 3), ("b", 3), ("d", 3)], 0),
            // Smaller copies are a smaller workload.
            (&[("a", 1), ("b", 1), ("c", 1)], 0),
            (&[], 9),
        ];
        for (to, expected) in cases {
            assert_eq!(gone_copies(from.into_iter(), to.iter().copied()), expected, "{to:?}");
        }
    }

    #[test]
    fn only_what_was_not_missing_before_is_new() {
        let missing = |replicas, copies| Missing { replicas, copies };
        assert_eq!(missing(20, 0).since(missing(15, 0)), missing(5, 0));
        assert_eq!(missing(5, 0).since(missing(15, 0)), missing(0, 0));
        assert_eq!(missing(6, 6).since(missing(3, 3)), missing(3, 3));
    }
}
