//! Workload affinity groups, from a placement and the labels of a workload.

use crate::api::{Placement, StringMap, WorkloadAffinityGroups, WorkloadAffinityTerm};

/// The groups of a workload; `None` if it is in none. A group is named `<label key>=<label value>`, and a workload without the
/// label is in no group (`WorkloadAffinityGroups`, `pkg/apis/work/v1alpha2`).
pub(super) fn affinity_groups(placement: &Placement, labels: &StringMap) -> Option<WorkloadAffinityGroups> {
    let affinity = placement.workload_affinity.as_ref()?;
    let group = |term: &Option<WorkloadAffinityTerm>| {
        let key = &term.as_ref()?.group_by_label_key;
        labels.get(key).map(|value| format!("{key}={value}"))
    };
    let groups = WorkloadAffinityGroups {
        affinity_group: group(&affinity.affinity).unwrap_or_default(),
        anti_affinity_group: group(&affinity.anti_affinity).unwrap_or_default(),
    };
    (!groups.is_empty()).then_some(groups)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::WorkloadAffinity;

    fn placement(affinity: Option<&str>, anti_affinity: Option<&str>) -> Placement {
        let term = |key: Option<&str>| {
            key.map(|key| WorkloadAffinityTerm {
                group_by_label_key: key.to_owned(),
            })
        };
        Placement {
            workload_affinity: Some(WorkloadAffinity {
                affinity: term(affinity),
                anti_affinity: term(anti_affinity),
            }),
            ..Placement::default()
        }
    }

    #[test]
    fn a_group_is_the_label_with_its_value() {
        let labels = StringMap::from(
            [("app", "shop"), ("tier", ""), ("zone", "a")].map(|(key, value)| (key.into(), value.into())),
        );
        let groups = |affinity, anti_affinity| {
            let groups = affinity_groups(&placement(affinity, anti_affinity), &labels)?;
            Some((groups.affinity_group, groups.anti_affinity_group))
        };
        let named = |affinity: &str, anti_affinity: &str| Some((affinity.to_owned(), anti_affinity.to_owned()));
        assert_eq!(groups(Some("app"), None), named("app=shop", ""));
        assert_eq!(groups(None, Some("app")), named("", "app=shop"));
        assert_eq!(groups(Some("app"), Some("zone")), named("app=shop", "zone=a"));
        // An empty value counts as a value.
        assert_eq!(groups(Some("tier"), Some("missing")), named("tier=", ""));
        assert_eq!(groups(Some("missing"), None), None);
        assert_eq!(groups(None, None), None);
        assert_eq!(affinity_groups(&Placement::default(), &labels), None);
    }
}
