//! Workload affinity that a binding requests and no filter of its profile enforces.

use divvy_karmada::api::{Placement, WorkloadAffinityGroups};

/// Kinds of workload affinity that the filters of a profile promise to enforce.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Enforced {
    /// Affinity.
    pub affinity: bool,
    /// Anti-affinity.
    pub anti_affinity: bool,
}

impl Enforced {
    /// The field of a binding that requests workload affinity without being enforced; `None` if there is none.
    ///
    /// A binding that is in no group although its placement asks for groups may belong to a workload without the label,
    /// or to a control plane whose feature gate is off. With the filters, it is scheduled as Karmada would.
    pub fn unenforced(
        self,
        groups: Option<&WorkloadAffinityGroups>,
        placement: Option<&Placement>,
    ) -> Option<&'static str> {
        let affinity = placement.and_then(|placement| placement.workload_affinity.as_ref());
        let is_in =
            |group: fn(&WorkloadAffinityGroups) -> &String| groups.is_some_and(|groups| !group(groups).is_empty());
        [
            (
                self.affinity,
                is_in(|groups| &groups.affinity_group),
                "spec.workloadAffinityGroups.affinityGroup",
            ),
            (
                self.anti_affinity,
                is_in(|groups| &groups.anti_affinity_group),
                "spec.workloadAffinityGroups.antiAffinityGroup",
            ),
            (
                self.affinity,
                affinity.is_some_and(|affinity| affinity.affinity.is_some()),
                "spec.placement.workloadAffinity.affinity",
            ),
            (
                self.anti_affinity,
                affinity.is_some_and(|affinity| affinity.anti_affinity.is_some()),
                "spec.placement.workloadAffinity.antiAffinity",
            ),
        ]
        .into_iter()
        .find(|(is_enforced, is_asked_for, _)| *is_asked_for && !is_enforced)
        .map(|(.., field)| field)
    }
}
