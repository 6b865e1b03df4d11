//! Reasons why no cluster fits, in few words for a table. Data, events and conditions have the text of Karmada.

use divvy_command::text::listed;

/// Maximum number of details per cause, such as taints.
const DETAILS_MAX: usize = 2;

/// The cause of a rejection that other reasons share, and what only this one has.
fn cause(reason: &str) -> (String, Option<&str>) {
    let reason = reason.strip_prefix("cluster(s) ").unwrap_or(reason);
    if reason == "did not match the placement cluster affinity constraint" {
        return ("outside the cluster affinity".to_owned(), None);
    }
    let taint = reason.strip_prefix("had untolerated taint {");
    if let Some(taint) = taint.and_then(|taint| taint.strip_suffix('}')) {
        return ("tainted".to_owned(), Some(taint));
    }
    let words = [
        ("did not have ", "without "),
        ("had ", "with "),
        ("were ", ""),
        ("is ", ""),
        ("are ", ""),
    ];
    let known = words
        .into_iter()
        .find_map(|(long, short)| Some((short, reason.strip_prefix(long)?)));
    let (before, rest) = known.unwrap_or(("", reason));
    (format!("{before}{rest}"), None)
}

/// `none of 40 clusters fits: 26 outside the cluster affinity, 14 tainted (cluster.karmada.io/not-ready:NoSchedule)`.
///
/// `reasons` are those of [`CycleError::NoClusterFit`](divvy_scheduler::cycle::CycleError), each with its number of clusters.
pub(super) fn no_cluster_fits(clusters: usize, reasons: &[(usize, String)]) -> String {
    let mut causes: Vec<(usize, String, Vec<&str>)> = Vec::new();
    for (count, reason) in reasons {
        let (cause, detail) = cause(reason);
        match causes.iter_mut().find(|(_, known, _)| *known == cause) {
            Some((sum, _, details)) => {
                *sum += count;
                details.extend(detail);
            }
            None => causes.push((*count, cause, detail.into_iter().collect())),
        }
    }
    causes.sort_by_key(|(count, ..)| std::cmp::Reverse(*count));
    let causes = causes
        .into_iter()
        .map(|(count, cause, details)| match details.as_slice() {
            [] => format!("{count} {cause}"),
            details => format!("{count} {cause} ({})", listed(details.iter().copied(), DETAILS_MAX)),
        });
    let causes: Vec<String> = causes.collect();
    match (clusters, causes.is_empty()) {
        (0, _) => "there are no clusters".to_owned(),
        (1, true) => "the only cluster does not fit".to_owned(),
        (1, false) => format!("the only cluster does not fit: {}", causes.join(", ")),
        (_, true) => format!("none of {clusters} clusters fits"),
        (_, false) => format!("none of {clusters} clusters fits: {}", causes.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shortened(clusters: usize, reasons: &[(usize, &str)]) -> String {
        let reasons: Vec<(usize, String)> = reasons
            .iter()
            .map(|(count, reason)| (*count, (*reason).to_owned()))
            .collect();
        no_cluster_fits(clusters, &reasons)
    }

    #[test]
    fn reasons_are_counted_by_cause_and_taints_are_folded() {
        let affinity = "cluster(s) did not match the placement cluster affinity constraint";
        assert_eq!(
            shortened(
                40,
                &[
                    (26, affinity),
                    (
                        14,
                        "cluster(s) had untolerated taint {cluster.karmada.io/not-ready:NoSchedule}"
                    )
                ]
            ),
            "none of 40 clusters fits: 26 outside the cluster affinity, 14 tainted (cluster.karmada.io/not-ready:NoSchedule)"
        );
        let taint = |key: &str| format!("cluster(s) had untolerated taint {{{key}:NoSchedule}}");
        let taints = ["a", "b", "c", "d"].map(taint);
        assert_eq!(
            shortened(
                9,
                &[
                    (3, affinity),
                    (2, taints[0].as_str()),
                    (2, taints[1].as_str()),
                    (1, taints[2].as_str()),
                    (1, taints[3].as_str())
                ]
            ),
            "none of 9 clusters fits: 6 tainted (a:NoSchedule, b:NoSchedule, and 2 more), 3 outside the cluster affinity"
        );
    }

    #[test]
    fn other_reasons_keep_their_words() {
        assert_eq!(
            shortened(
                6,
                &[
                    (2, "cluster(s) did not have the API resource"),
                    (1, "cluster(s) were being deleted"),
                    (1, "cluster(s) is in the process of eviction"),
                    (1, "cluster(s) had `web` of the anti-affinity group `g`"),
                    (1, "whatever a plugin says")
                ]
            ),
            "none of 6 clusters fits: 2 without the API resource, 1 being deleted, 1 in the process of eviction, 1 with `web` of the \
             anti-affinity group `g`, 1 whatever a plugin says"
        );
        assert_eq!(shortened(0, &[]), "there are no clusters");
        assert_eq!(
            shortened(1, &[(1, "cluster(s) were full")]),
            "the only cluster does not fit: 1 full"
        );
    }
}
