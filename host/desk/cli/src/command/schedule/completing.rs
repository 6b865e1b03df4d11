//! What a report of `divvy schedule` has beside single decisions: settings, clusters, capacity and costs.

use std::collections::HashMap;
use std::sync::Arc;

use divvy_forecast::capacity;
use divvy_forecast::cluster_view;
use divvy_forecast::document::Totals;
use divvy_forecast::future::{Explains, Future, Options};
use divvy_forecast::load;
use divvy_forecast::planned::CouldPlace;
use divvy_forecast::rebalance::{could_be_tried, could_place};
use divvy_forecast::situation::{ClusterEntry, Situation};
use divvy_karmada::api::Cluster;
use divvy_scheduler::profile::ConfiguredProfile;

use super::{Input, ScheduleArguments};
use crate::report::costs::Pricer;
use crate::report::entry::{Jointly, Report};
use crate::report::loads::{add_gains, gone, loads};

impl ScheduleArguments {
    /// What moves of others would place, where something has no room and the result is printed. Everything is decided again for it, each
    /// result with those before it.
    fn could_place(&self, report: &Report<'_>, input: &Input) -> Option<CouldPlace> {
        let (manifests, bindings) = (&input.manifests, &input.detected.bindings);
        let has_no_room = report
            .entries
            .iter()
            .any(|entry| entry.decision.outcome.word() == "Unschedulable");
        // What moves would place beside a plan is another question than beside one result after another.
        if self.jointly
            || !has_no_room
            || !self.prints_report()
            || !could_be_tried(bindings.len(), manifests.clusters.len())
        {
            return None;
        }
        let clusters = manifests.clusters.iter().map(|located| ClusterEntry {
            object: located.object.clone(),
            json: located.json.clone(),
        });
        let situation = Situation::new(clusters, bindings.iter().cloned());
        let side = ConfiguredProfile::new(Arc::clone(&input.profile), &input.configuration);
        let options = Options {
            assumes: true,
            explains: Explains::Nothing,
            threads: divvy_parallel::threads(),
            time: self.time.if_needed(&input.profile),
        };
        could_place(&Future::decide(&situation, &side, options), &side, options)
    }

    /// Adds to a report what is not about single decisions: settings and, if they are shown, clusters and costs.
    pub(super) fn complete<'a>(&self, report: &mut Report<'a>, input: &'a Input, jointly: Option<Jointly>) {
        let pricing = input.profile.pricing();
        let clusters = input.manifests.clusters.iter().map(|cluster| &cluster.object);
        report.pricer = pricing.map(|pricing| Pricer::new(pricing, clusters.clone()));
        report.explains = self.explain;
        report
            .strategy
            .clone_from(&input.profile.plan_options().strategy_override);
        report.assumes = self.assumes();
        report.jointly = jointly;
        report.left_out = input.left_out.objects;
        let entries = input.manifests.clusters.iter().map(|located| ClusterEntry {
            object: located.object.clone(),
            json: None,
        });
        let mut rows = cluster_view::totals(&Situation::new(entries, []), pricing, loads(report));
        let mut totals = Totals::default();
        capacity::count(&mut rows, |overflow| add_gains(report, overflow), &mut totals);
        report.capacity = totals;
        report.could_place = self.could_place(report, input);
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
