//! What a report of `divvy schedule` has beside single decisions: settings, clusters, capacity and costs.

use std::collections::HashMap;

use divvy_forecast::capacity::{self, Overflow};
use divvy_forecast::cluster_view;
use divvy_forecast::document::Totals;
use divvy_forecast::load;
use divvy_forecast::situation::{ClusterEntry, Situation, assigned};
use divvy_karmada::api::Cluster;

use super::{Input, ScheduleArguments};
use crate::report::costs::Pricer;
use crate::report::entry::Report;
use crate::report::loads::{gone, loads};

impl ScheduleArguments {
    /// Adds to a report what is not about single decisions: settings and, if they are shown, clusters and costs.
    pub(super) fn complete<'a>(&self, report: &mut Report<'a>, input: &'a Input) {
        let pricing = input.profile.pricing();
        let clusters = input.manifests.clusters.iter().map(|cluster| &cluster.object);
        report.pricer = pricing.map(|pricing| Pricer::new(pricing, clusters.clone()));
        report.explains = self.explain;
        report
            .strategy
            .clone_from(&input.profile.plan_options().strategy_override);
        report.assumes = self.assume;
        report.left_out = input.left_out.objects;
        let entries = input.manifests.clusters.iter().map(|located| ClusterEntry {
            object: located.object.clone(),
            json: None,
        });
        let mut rows = cluster_view::totals(&Situation::new(entries, []), pricing, loads(report));
        let add = |overflow: &mut Overflow| {
            for entry in &report.entries {
                overflow.add(entry.binding, &assigned(entry.binding), &entry.after(&report.names));
            }
        };
        let mut totals = Totals::default();
        capacity::count(&mut rows, add, &mut totals);
        report.capacity = totals;
        let output = &self.output;
        if self.choosing.shows_clusters() || output.is_page() || output.is_wide() || output.is_data() {
            report.clusters = rows;
            let clusters: HashMap<&str, &Cluster> = clusters
                .map(|cluster| (cluster.metadata.name.as_str(), cluster))
                .collect();
            let gone = gone(report, &input.profile).costs(|name| clusters.get(name).copied());
            report.cost = load::total_costs(&report.clusters, gone.as_ref(), pricing);
        }
    }
}
