//! Notes for an operator beside the figures, as sentences.

use std::collections::BTreeSet;

use divvy_karmada::api::TaintEffect;

use crate::change::{Applied, ResolvedChanges};
use crate::document::BindingRow;
use crate::eviction::{Departure, Effect, departures};
use crate::situation::Situation;

/// Bindings that a note names before it only counts the rest.
const NAMED_MAX: usize = 5;

/// The clusters of a situation that have a `NoExecute` taint.
pub fn tainted(situation: &Situation) -> BTreeSet<String> {
    let has_taint =
        |taints: &[divvy_karmada::api::Taint]| taints.iter().any(|taint| taint.effect == TaintEffect::NoExecute);
    let tainted = situation
        .clusters
        .iter()
        .filter(|(_, entry)| has_taint(&entry.object.spec.taints));
    tainted.map(|(name, _)| name.clone()).collect()
}

/// Bindings that still grow on a cordoned cluster: the taint filter lets them, because they are there already.
pub fn growth_on_cordoned(changes: &ResolvedChanges, rows: &[BindingRow]) -> Vec<String> {
    let of_cluster = |cluster: &String| {
        let growing = rows.iter().filter_map(|row| {
            let counts = row.clusters.iter().find(|counts| counts.name == *cluster)?;
            let growth = counts.after.unwrap_or(0) - counts.before.unwrap_or(0);
            (growth > 0).then(|| format!("{} +{growth}", row.binding))
        });
        let growing: Vec<String> = growing.collect();
        (!growing.is_empty()).then(|| {
            let grow = if growing.len() == 1 { "grows" } else { "grow" };
            let (count, names) = (counted(growing.len(), "binding"), named(&growing));
            format!("`{cluster}` is cordoned, but {count} with replicas there still {grow}: {names}")
        })
    };
    changes.cordoned.iter().filter_map(of_cluster).collect()
}

/// Notes on workloads that a drain does not evict, or not yet, and on reschedules that Karmada ignores.
pub fn on_changes(changes: &ResolvedChanges, applied: &Applied) -> Vec<String> {
    let mut notes = Vec::new();
    for cluster in &changes.drained {
        notes.extend(remaining(cluster, &applied.departures));
    }
    for cluster in &changes.failed {
        notes.extend(failing(cluster, &applied.failures));
    }
    if !changes.failed.is_empty() {
        notes.push(
            "`--fail` assumes that Karmada evicts: a NoExecute taint on failed clusters, and \
             `--enable-no-execute-taint-eviction`"
                .to_owned(),
        );
    }
    if !applied.ignored_reschedules.is_empty() {
        let (count, names) = (
            counted(applied.ignored_reschedules.len(), "binding"),
            named(&applied.ignored_reschedules),
        );
        notes.push(format!(
            "{count} without `lastScheduledTime`: Karmada ignores the reschedule of {names}"
        ));
    }
    notes
}

/// Bindings that do not leave a failed cluster at once.
fn failing(cluster: &str, departures: &[Departure]) -> Vec<String> {
    let later = on(cluster, departures).filter_map(|departure| match departure.effect {
        Effect::EvictsLater(seconds) => Some(seconds),
        Effect::Evicts | Effect::Stays => None,
    });
    let later: Vec<i64> = later.collect();
    let mut notes = Vec::new();
    if let Some(Staying { tolerate, stay, names }) = staying(cluster, departures) {
        notes.push(format!(
            "{tolerate} the failure of `{cluster}` for good and {stay} there, where nothing runs: {names}"
        ));
    }
    if let Some(longest) = later.iter().max() {
        let leave = leave(later.len());
        notes.push(format!(
            "{leave} `{cluster}` only when a toleration runs out, the last after {longest} s"
        ));
    }
    notes
}

/// Bindings that evictions because of `NoExecute` taints leave on a cluster.
pub fn remaining(cluster: &str, departures: &[Departure]) -> Vec<String> {
    let later = on(cluster, departures).filter_map(|departure| match departure.effect {
        Effect::EvictsLater(seconds) => Some(format!("{} after {seconds} s", departure.binding)),
        Effect::Evicts | Effect::Stays => None,
    });
    let later: Vec<String> = later.collect();
    let mut notes = Vec::new();
    if let Some(Staying { tolerate, stay, names }) = staying(cluster, departures) {
        notes.push(format!(
            "{tolerate} every NoExecute taint of `{cluster}` and {stay}: {names}"
        ));
    }
    if !later.is_empty() {
        notes.push(format!("{} `{cluster}` later: {}", leave(later.len()), named(&later)));
    }
    notes
}

fn on<'a>(cluster: &str, departures: &'a [Departure]) -> impl Iterator<Item = &'a Departure> {
    departures.iter().filter(move |departure| departure.cluster == cluster)
}

/// Parts of a sentence about the bindings that stay on a cluster.
struct Staying {
    /// `1 binding tolerates`, `2 bindings tolerate`.
    tolerate: String,
    /// `stays`, `stay`.
    stay: &'static str,
    names: String,
}

fn staying(cluster: &str, departures: &[Departure]) -> Option<Staying> {
    let staying = on(cluster, departures).filter(|departure| departure.effect == Effect::Stays);
    let staying: Vec<String> = staying.map(|departure| departure.binding.clone()).collect();
    let (tolerate, stay) = match staying.len() {
        0 => return None,
        1 => ("tolerates", "stays"),
        _ => ("tolerate", "stay"),
    };
    Some(Staying {
        tolerate: format!("{} {tolerate}", counted(staying.len(), "binding")),
        stay,
        names: named(&staying),
    })
}

/// `1 binding leaves`, `2 bindings leave`.
fn leave(count: usize) -> String {
    let leave = if count == 1 { "leaves" } else { "leave" };
    format!("{} {leave}", counted(count, "binding"))
}

/// Bindings that would leave clusters with `NoExecute` taints if Karmada's eviction were on.
pub fn not_evicted(situation: &Situation, ignored: &BTreeSet<String>) -> Option<String> {
    let clusters: BTreeSet<String> = tainted(situation).difference(ignored).cloned().collect();
    let departures = departures(situation, &clusters);
    let leaving = departures.iter().filter(|departure| departure.effect == Effect::Evicts);
    let (mut bindings, mut replicas) = (BTreeSet::new(), 0);
    for departure in leaving {
        bindings.insert(&departure.binding);
        replicas += departure.replicas;
    }
    (!bindings.is_empty()).then(|| {
        format!(
            "{} ({replicas} replicas) would leave clusters with NoExecute taints if eviction were on; `--evict-no-execute` shows it",
            counted(bindings.len(), "binding")
        )
    })
}

/// `1 binding`, `2 bindings`.
pub(crate) fn counted(count: usize, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        count => format!("{count} {thing}s"),
    }
}

/// The first names of a list, and the number of the others.
pub(crate) fn named(names: &[String]) -> String {
    let shown = if names.len() <= NAMED_MAX + 1 {
        names.len()
    } else {
        NAMED_MAX
    };
    let mut text = names[..shown].join(", ");
    if shown < names.len() {
        text.push_str(&format!(", and {} more", names.len() - shown));
    }
    text
}
