//! Objects of the input that change what results lead to, for `schedule` and `policies`.

use std::collections::BTreeSet;

use divvy_command::console::Console;
use divvy_command::errors::{headline, location};
use divvy_command::style;
use divvy_forecast::policies::document::{Code, Finding};
use divvy_forecast::policies::effects::{Beside, Expected, Surroundings, effects, notes};
use divvy_forecast::situation::{Assignment, assigned};
use divvy_karmada::api::{PropagationPolicy, TypeMeta};
use divvy_karmada::detector::Detected;
use divvy_karmada::policy::is_cluster_scoped;
use divvy_manifests::{Located, Manifests, ObjectName};

use crate::report::entry::Report;

/// Maximum number of objects that a note names.
const NAMED_MAX: usize = 6;

/// The objects beside policies and bindings, with their locations.
pub(super) fn beside(manifests: &Manifests) -> Beside<'_> {
    fn located<T>(list: &[Located<T>]) -> Vec<(&T, String)> {
        list.iter().map(|one| (&one.object, location(&one.source))).collect()
    }
    Beside {
        clusters: located(&manifests.clusters),
        overrides: located(&manifests.overrides),
        quotas: located(&manifests.quotas),
    }
}

/// One note per kind of object that changes what the results of a report lead to, and notes on resources out of reach.
pub(super) fn of_report(
    report: &Report<'_>,
    manifests: &Manifests,
    policies: &[Located<PropagationPolicy>],
    detected: &Detected,
) -> Vec<String> {
    let decided = |index: usize| {
        let entry = report.entries.get(index);
        entry.map_or_else(Assignment::new, |entry| match entry.is_scheduled() {
            true => entry.after(&report.names),
            false => assigned(entry.binding),
        })
    };
    let located: Vec<(&PropagationPolicy, String)> = policies
        .iter()
        .map(|policy| (&policy.object, location(&policy.source)))
        .collect();
    let beside = beside(manifests);
    let mut findings = effects(&Surroundings {
        beside: &beside,
        policies: &located,
        bindings: &detected.bindings,
        // Bindings have those of workloads in the input.
        labels: &|_| None,
        expected: &|index| Expected::decided(decided(index)),
    });
    // A cluster without room changes nothing for what is placed elsewhere.
    let waits = report.entries.iter().filter(|entry| !entry.is_scheduled());
    let waiting: BTreeSet<String> = waits.map(|entry| entry.binding.key()).collect();
    let concerns = |finding: &Finding| finding.names.iter().any(|binding| waiting.contains(binding));
    findings.retain(|finding| finding.code != Code::FullByModels || concerns(finding));
    let mut notes = notes(&findings);
    notes.extend(out_of_reach(policies, detected));
    notes
}

/// Notes on resources that are not scheduled because Karmada propagates nothing from their namespaces, or because only policies select
/// them that cannot reach them.
fn out_of_reach(policies: &[Located<PropagationPolicy>], detected: &Detected) -> Vec<String> {
    let mut notes = Vec::new();
    if !detected.reserved.is_empty() {
        notes.push(format!(
            "{} in reserved namespaces, from which Karmada propagates nothing: {}",
            counted(detected.reserved.len()),
            named(detected.reserved.iter())
        ));
    }
    let selected: Vec<&ObjectName> = detected
        .unmatched
        .iter()
        .filter(|object| object.namespace.is_empty() && is_selected_by_namespaced(policies, object))
        .collect();
    if !selected.is_empty() {
        notes.push(format!(
            "{} {} cluster-scoped, and only a ClusterPropagationPolicy can select {}: {}",
            counted(selected.len()),
            if selected.len() == 1 { "is" } else { "are" },
            if selected.len() == 1 { "it" } else { "them" },
            named(selected.iter().copied())
        ));
    }
    notes
}

/// True if a PropagationPolicy has a selector for the kind and name of a cluster-scoped object.
fn is_selected_by_namespaced(policies: &[Located<PropagationPolicy>], object: &ObjectName) -> bool {
    let namespaced = policies
        .iter()
        .filter(|policy| !policy.object.metadata.namespace.is_empty());
    let mut selectors = namespaced.flat_map(|policy| &policy.object.spec.resource_selectors);
    selectors.any(|selector| {
        let type_meta = TypeMeta {
            api_version: selector.api_version.clone(),
            kind: selector.kind.clone(),
        };
        // A kind without a namespace in the input is cluster-scoped, also if only its definition says so.
        let is_meant = selector.kind == object.kind && (selector.name.is_empty() || selector.name == object.name);
        is_meant && (is_cluster_scoped(&type_meta) || object.namespace.is_empty())
    })
}

fn counted(count: usize) -> String {
    divvy_command::text::counted(count, "resource")
}

fn named<'a>(names: impl Iterator<Item = &'a ObjectName>) -> String {
    let names: Vec<String> = names.map(ToString::to_string).collect();
    divvy_command::text::listed(names.iter().map(String::as_str), NAMED_MAX)
}

/// Prints notes on standard error.
pub(super) fn print_notes(notes: &[String], console: &Console) {
    for note in notes {
        console.message(|out| headline(out, "note", style::HINT, note));
    }
}
