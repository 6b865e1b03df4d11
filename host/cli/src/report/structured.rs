//! The report as data: JSON and YAML, with the same fields in both.
//!
//! `binding`, `strategy`, `result`, `clusters` and `message` are always present. Optional fields are omitted if empty.

use std::io::{self, Write};

use super::clusters::shares::Share;
use divvy_karmada::api::Timestamp;
use divvy_scheduler::cycle::{CycleError, Explanation};
use divvy_scheduler::decision::Outcome;
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use super::costs::BindingCosts;
use super::entry::{Entry, Report};
use super::form::Form;
use super::lines::{self, Line};

/// One binding.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
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

/// The report as data: an array with one object per binding. Each is made when it is written.
pub(crate) fn rows<'a>(report: &'a Report<'_>) -> impl Serialize + use<'a> {
    Rows(report)
}

struct Rows<'a>(&'a Report<'a>);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(report) = self;
        let mut explainer = report.explainer();
        let mut rows = serializer.serialize_seq(Some(report.entries.len()))?;
        for entry in &report.entries {
            rows.serialize_element(&row(&explainer.explain(entry).entry(), report))?;
        }
        rows.end()
    }
}

/// Writes the report as JSON or YAML, the same text as for [`rows`]. Several bindings are written at once.
///
/// # Errors
///
/// The error of `out`. Part of the output may have been written.
pub(crate) fn write_rows(report: &Report<'_>, form: Form, out: &mut dyn Write) -> io::Result<()> {
    let mut is_first = true;
    let worker = || {
        let mut explainer = report.explainer();
        move |entry: &Entry<'_>| element(form, row(&explainer.explain(entry).entry(), report))
    };
    divvy_parallel::each(&report.entries, divvy_parallel::threads(), worker, |bytes| {
        let before = match (form, std::mem::take(&mut is_first)) {
            (Form::Json, true) => "[\n",
            (Form::Json, false) => ",\n",
            (Form::Yaml, _) => "",
        };
        out.write_all(before.as_bytes())?;
        out.write_all(&bytes?)
    })?;
    match (form, is_first) {
        (_, true) => writeln!(out, "[]"),
        (Form::Json, false) => out.write_all(b"\n]\n"),
        (Form::Yaml, false) => Ok(()),
    }
}

/// A binding as an element of an array, without the array.
fn element(form: Form, row: Row<'_>) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(512 + 128 * row.clusters.len());
    write_array(form, [row], &mut bytes)?;
    if form == Form::Json {
        bytes.truncate(bytes.len() - b"\n]".len());
        bytes.drain(..b"[\n".len());
    }
    Ok(bytes)
}

fn write_array(form: Form, mut array: [Row<'_>; 1], out: &mut Vec<u8>) -> io::Result<()> {
    let [row] = &mut array;
    if !row.clusters.is_empty() && row.clusters.iter().all(|target| lines::is_plain(target.name)) {
        let clusters = std::mem::take(&mut row.clusters);
        let lines = clusters.iter().map(|target| Line {
            name: target.name,
            numbers: [("replicas", Some(target.replicas)), ("free", target.free)],
        });
        if lines::with_lines(form, &array, lines, out)? {
            return Ok(());
        }
        array[0].clusters = clusters;
    }
    form.write(&array, out)
}

fn row<'a>(entry: &'a Entry<'_>, report: &'a Report<'_>) -> Row<'a> {
    let Entry { binding, decision, .. } = entry;
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
    let shares = entry.shares(&report.names);
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
