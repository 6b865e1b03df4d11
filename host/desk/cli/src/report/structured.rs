//! The report as data: JSON and YAML, with the same fields in both. `host/desk/cli/schema/schedule.json` describes them.
//!
//! The document has the keys of a forecast: one side, bindings, clusters, totals. `binding`, `strategy`, `result`, `clusters` and
//! `message` of a binding are always present. Optional fields are omitted if empty.

use std::io::{self, Write};

use divvy_command::form::Form;
use divvy_forecast::cost::Costs;
use divvy_forecast::document::{ClusterRow, FORMAT, SideDocument};
use divvy_forecast::planned::CouldPlace;
use divvy_karmada::api::Timestamp;
use divvy_scheduler::cycle::{CycleError, Explanation};
use divvy_scheduler::decision::Outcome;
use serde::Serialize;
use serde_json::Value;

use super::clusters::shares::Share;
use super::costs::BindingCosts;
use super::entry::{Entry, Print, Report};

/// The beginning of the document.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Head {
    format: u32,
    after: SideDocument,
    assumes: bool,
}

/// The end of the document.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Tail<'a> {
    /// Every cluster, with the sums of all bindings, whether they are shown or not.
    clusters: &'a [ClusterRow],
    totals: Totals,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<&'a Costs>,
    /// What moves of others would place of what waits for room.
    #[serde(skip_serializing_if = "Option::is_none")]
    could_place: Option<CouldPlace>,
    /// Only with `--jointly`.
    #[serde(skip_serializing_if = "Option::is_none")]
    jointly: Option<JointPlan>,
}

/// What one plan for all bindings has placed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct JointPlan {
    waiting: usize,
    placed: usize,
    giving_way: usize,
    /// False if the results are those of one binding after another.
    is_plan: bool,
    message: String,
}

/// Sums over the bindings that are shown.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Totals {
    bindings: usize,
    scheduled: usize,
    skipped: usize,
    /// Bindings that no cluster fits, too.
    unschedulable: usize,
    no_cluster_fit: usize,
    errors: usize,
    replicas: i128,
    added: i128,
    removed: i128,
    /// Replicas that bindings ask for and that run nowhere.
    missing: i64,
    /// Replicas that clusters gain although they do not fit, by all bindings, whether they are shown or not.
    beyond_capacity: i64,
    /// Clusters with one of the bindings.
    clusters: usize,
    /// Bindings that were decided, shown or not.
    decided: usize,
    /// Objects of the input that cannot be read and are left out.
    left_out: usize,
}

/// The whole document.
#[derive(Serialize)]
struct Document<'a, R> {
    #[serde(flatten)]
    head: Head,
    bindings: R,
    #[serde(flatten)]
    tail: Tail<'a>,
}

/// A document with one list, in which bindings are written one at a time.
#[derive(Serialize)]
struct Alone<'a> {
    bindings: [Row<'a>; 1],
}

/// One binding.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row<'a> {
    binding: &'a str,
    kind: &'static str,
    resource: Resource<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<String>,
    /// Scheduler that the binding is assigned to, if not the one of the profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    foreign_scheduler: Option<&'a str>,
    /// Requests of the policy and the workload that the binding does not contain yet.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pending: Vec<String>,
    strategy: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    plugin: Option<&'a str>,
    result: &'static str,
    replicas: i64,
    /// Affinity group that was used; empty without groups.
    #[serde(skip_serializing_if = "str::is_empty")]
    affinity: &'a str,
    clusters: Vec<Target<'a>>,
    /// Only if the profile has prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<BindingCosts<'a>>,
    /// Clusters of the last result.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    last: Vec<Target<'a>>,
    message: String,
    /// Its share of the room; only with `--jointly`, and if a plan may place it.
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<RoomShare>,
    /// Location of what is wrong with an invalid binding, as `FILE:LINE`.
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<String>,
    /// Only if the result has fewer replicas than requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    partial: Option<PartialResult>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
    /// Time until which the decision holds; only if a plugin named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    valid_until: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    figures: Option<Figures>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rejections: Vec<Rejection<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'a Explanation>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Resource<'a> {
    api_version: &'a str,
    kind: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    namespace: &'a str,
    name: &'a str,
}

#[derive(Debug, Serialize)]
struct Target<'a> {
    name: &'a str,
    replicas: i64,
    /// Number of replicas that still fit after this decision, as in the table.
    #[serde(skip_serializing_if = "Option::is_none")]
    free: Option<i64>,
}

/// What a binding could have had of the room, and gets.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct RoomShare {
    room: i64,
    given: i64,
    wanted: i64,
    /// Other bindings that get replicas in its clusters, by priority.
    higher: usize,
    equal: usize,
    lower: usize,
    message: String,
}

/// Number of replicas requested, and how many of them fit.
#[derive(Debug, Serialize)]
struct Figures {
    requested: i64,
    available: i64,
}

/// A result with fewer replicas than requested.
#[derive(Debug, Serialize)]
struct PartialResult {
    replicas: i64,
    requested: i64,
    missing: i64,
}

/// Number of clusters that were rejected for one reason.
#[derive(Debug, Serialize)]
struct Rejection<'a> {
    clusters: usize,
    reason: &'a str,
}

/// The report as data. `pass` passes the entries on, explained if they are to be.
///
/// # Errors
///
/// A value that JSON cannot express.
pub(crate) fn data(report: &Report<'_>, pass: impl FnOnce(Print<'_>) -> io::Result<()>) -> serde_json::Result<Value> {
    let mut rows = Vec::with_capacity(report.entries.len());
    pass(&mut |entries| {
        for entry in entries {
            rows.push(serde_json::to_value(row(entry, report))?);
        }
        Ok(())
    })
    .map_err(serde_json::Error::io)?;
    serde_json::to_value(document(report, rows))
}

/// The whole document, with these bindings.
pub(super) fn document<'a, R: Serialize>(report: &'a Report<'_>, bindings: R) -> impl Serialize + use<'a, R> {
    Document {
        head: head(report),
        bindings,
        tail: tail(report),
    }
}

fn head(report: &Report<'_>) -> Head {
    Head {
        format: FORMAT,
        after: SideDocument {
            profile: report.profile.name.clone(),
            strategy: report.strategy.clone(),
            changes: Vec::new(),
        },
        assumes: report.assumes,
    }
}

fn tail<'a>(report: &'a Report<'_>) -> Tail<'a> {
    let (outcomes, sums) = (report.outcomes(), report.sums());
    Tail {
        clusters: &report.clusters,
        totals: Totals {
            bindings: report.counted().count(),
            scheduled: outcomes.scheduled,
            skipped: outcomes.skipped,
            unschedulable: outcomes.unschedulable + outcomes.no_cluster_fit,
            no_cluster_fit: outcomes.no_cluster_fit,
            errors: outcomes.errors,
            replicas: sums.total,
            added: sums.grown,
            removed: -sums.shrunk,
            missing: outcomes.missing,
            beyond_capacity: outcomes.beyond_capacity,
            clusters: sums.used(),
            decided: report.counted().count() + report.hidden,
            left_out: report.left_out,
        },
        cost: report.cost.as_ref(),
        could_place: report.could_place,
        jointly: report.jointly.map(|jointly| JointPlan {
            waiting: jointly.waiting,
            placed: jointly.placed,
            giving_way: jointly.giving_way,
            is_plan: jointly.is_changed,
            message: jointly.sentence(),
        }),
    }
}

/// Writes the report as JSON or YAML, the same as [`data`], some bindings at a time. `pass` passes the entries on, explained if they are
/// to be.
///
/// # Errors
///
/// The error of `out`. Part of the output may have been written.
pub(crate) fn write(
    report: &Report<'_>,
    form: Form,
    pass: impl FnOnce(Print<'_>) -> io::Result<()>,
    out: &mut dyn Write,
) -> io::Result<()> {
    out.write_all(&part(form, &head(report), Part::Head)?)?;
    let elements = |entries: &[Entry<'_>]| {
        let mut bytes = Vec::new();
        for (number, entry) in entries.iter().enumerate() {
            if number > 0 {
                bytes.extend_from_slice(between(form));
            }
            add_element(form, row(entry, report), &mut bytes)?;
        }
        Ok::<_, io::Error>(bytes)
    };
    let mut is_first = true;
    pass(&mut |entries| {
        divvy_parallel::in_blocks(
            entries,
            divvy_parallel::threads(),
            || elements,
            |block| {
                let before = match (form, std::mem::take(&mut is_first)) {
                    (Form::Json, true) => b"  \"bindings\": [\n",
                    (Form::Yaml, true) => &b"bindings:\n"[..],
                    (form, false) => between(form),
                };
                out.write_all(before)?;
                out.write_all(&block?)
            },
        )
    })?;
    let after = match (form, is_first) {
        (Form::Json, true) => "  \"bindings\": [],\n",
        (Form::Yaml, true) => "bindings: []\n",
        (Form::Json, false) => "\n  ],\n",
        (Form::Yaml, false) => "",
    };
    out.write_all(after.as_bytes())?;
    out.write_all(&part(form, &tail(report), Part::Tail)?)
}

/// The text between two bindings.
fn between(form: Form) -> &'static [u8] {
    match form {
        Form::Json => b",\n",
        Form::Yaml => b"",
    }
}

/// A part of a mapping that is written in parts.
#[derive(Clone, Copy)]
enum Part {
    Head,
    Tail,
}

/// The keys of a mapping, as the beginning or the end of a larger one.
fn part(form: Form, keys: &impl Serialize, part: Part) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    form.write_document(keys, &mut bytes)?;
    if form == Form::Json {
        match part {
            Part::Head => {
                bytes.truncate(bytes.len() - b"\n}\n".len());
                bytes.extend_from_slice(b",\n");
            }
            Part::Tail => drop(bytes.drain(..b"{\n".len())),
        }
    }
    Ok(bytes)
}

/// Adds a binding as an element of the list, without the list.
fn add_element(form: Form, row: Row<'_>, out: &mut Vec<u8>) -> io::Result<()> {
    let begin = out.len();
    form.write(&Alone { bindings: [row] }, out)?;
    match form {
        Form::Json => {
            out.truncate(out.len() - b"\n  ]\n}".len());
            out.drain(begin..begin + b"{\n  \"bindings\": [\n".len());
        }
        Form::Yaml => drop(out.drain(begin..begin + b"bindings:\n".len())),
    }
    Ok(())
}

/// A binding as data.
pub(super) fn row<'a>(entry: &'a Entry<'_>, report: &'a Report<'_>) -> Row<'a> {
    let Entry { binding, decision, .. } = entry;
    let shares = entry.shares(&report.names);
    let resource = &binding.object.spec.resource;
    let plugin = report.profile.strategies.get(decision.strategy());
    let (figures, rejections) = match &decision.outcome {
        Outcome::Failed(CycleError::Unschedulable { figures, .. }) => {
            let figures = figures.map(|(requested, available)| Figures { requested, available });
            (figures, Vec::new())
        }
        Outcome::Failed(CycleError::NoClusterFit { reasons, .. }) => {
            let rejections = reasons.iter().map(|(clusters, reason)| Rejection {
                clusters: *clusters,
                reason,
            });
            (None, rejections.collect())
        }
        _ => (None, Vec::new()),
    };
    let costs = report.pricer.as_ref().map(|pricer| {
        let scheduled = entry.is_scheduled().then_some(&shares[..]);
        pricer.costs(binding, scheduled)
    });
    Row {
        binding: &decision.binding,
        kind: binding.object.scope().kind(),
        resource: Resource {
            api_version: &resource.api_version,
            kind: &resource.kind,
            namespace: &resource.namespace,
            name: &resource.name,
        },
        policy: binding.policy.as_ref().map(|policy| policy.object_name().to_string()),
        foreign_scheduler: binding.foreign_scheduler(&report.profile.scheduler_name),
        pending: binding.pending.iter().map(ToString::to_string).collect(),
        strategy: decision.strategy(),
        plugin: plugin.map(|plugin| plugin.split(' ').next().unwrap_or(plugin)),
        result: decision.outcome.word(),
        replicas: decision.replicas,
        affinity: &decision.affinity,
        clusters: shares.iter().filter_map(target).collect(),
        cost: costs,
        last: last(binding.last()),
        message: entry.message(),
        share: entry.share.map(|share| RoomShare {
            room: share.room,
            given: share.given,
            wanted: share.wanted,
            higher: share.higher,
            equal: share.equal,
            lower: share.lower,
            message: share.to_string(),
        }),
        location: entry.location().and_then(|found| found.first),
        partial: decision.partial.as_ref().map(|partial| PartialResult {
            replicas: partial.replicas,
            requested: partial.requested,
            missing: partial.missing(),
        }),
        hint: entry.hint(),
        valid_until: decision
            .valid_until
            .map(|milliseconds| Timestamp::from_milliseconds(milliseconds).to_string()),
        figures,
        rejections,
        explanation: decision.explanation.as_ref().filter(|_| report.explains),
    }
}

/// A cluster of the result; `None` for one that is only in the last result.
fn target<'a>(share: &Share<'a>) -> Option<Target<'a>> {
    Some(Target {
        name: share.cluster,
        replicas: share.replicas?,
        free: share.free(),
    })
}

/// The last result, by name of the cluster.
fn last<'a>(targets: impl Iterator<Item = (&'a str, i64)>) -> Vec<Target<'a>> {
    let target = |(name, replicas)| Target {
        name,
        replicas,
        free: None,
    };
    let mut targets: Vec<Target<'_>> = targets.map(target).collect();
    targets.sort_by_key(|target| target.name);
    targets
}
