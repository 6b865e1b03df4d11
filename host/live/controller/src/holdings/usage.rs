//! Requests of a cluster's pods, from its last report.

use std::collections::{BTreeMap, BTreeSet};

use divvy_karmada::api::Cluster;
use divvy_scheduler::fleet::units;

/// Requests of a cluster's pods by resource, in the units of estimates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Usage {
    figures: BTreeMap<Box<str>, Figure>,
    /// True if the cluster is estimated by its resource models, which show only pods that are bound to nodes.
    pub(crate) counts_by_models: bool,
}

/// Requests for one resource.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Figure {
    /// Of pods that are bound to nodes.
    pub(crate) bound: i64,
    /// Of all pods, those that wait for a node included.
    pub(crate) all: i64,
}

impl Usage {
    /// The figures of a cluster's status; `None` if it has no resource summary.
    pub(crate) fn new(cluster: &Cluster) -> Option<Self> {
        let summary = cluster.status.resource_summary.as_ref()?;
        let names: BTreeSet<&String> = summary.allocated.keys().chain(summary.allocating.keys()).collect();
        let figures = names.into_iter().map(|name| {
            let of_list = |quantity| units(name, quantity);
            let bound = summary.allocated.get(name).copied().map_or(0, of_list);
            let waiting = summary.allocating.get(name).copied().map_or(0, of_list);
            let figure = Figure {
                bound,
                all: bound.saturating_add(waiting),
            };
            (name.as_str().into(), figure)
        });
        let models = &summary.allocatable_modelings;
        Some(Self {
            figures: figures.collect(),
            // As in the estimate: otherwise the sums count.
            counts_by_models: !cluster.spec.resource_models.is_empty()
                && !models.is_empty()
                && models.iter().all(|model| model.count >= 0),
        })
    }

    /// The requests for a resource.
    pub(crate) fn figure(&self, resource: &str) -> Figure {
        self.figures.get(resource).copied().unwrap_or_default()
    }

    /// True if no pod requests anything. Karmada also writes such a report if it cannot list a cluster's pods.
    pub(crate) fn is_zero(&self) -> bool {
        self.figures.values().all(|figure| *figure == Figure::default())
    }
}
