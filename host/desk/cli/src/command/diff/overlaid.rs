//! Overlays and deletions: the effect on each object, and the reason if there is none.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use divvy_command::errors::{Diagnostic, Failure, location};
use divvy_command::reading::{ValidateMode, read_files};
use divvy_command::text::{counted, listed};
use divvy_forecast::document::OverlayRow;
use divvy_forecast::situation::Situation;
use divvy_karmada::api::{ObjectMeta, PropagationPolicy, TypeMeta};
use divvy_karmada::detector::{Binding, Pending, PolicyFacts};
use divvy_karmada::policy::selects;
use divvy_karmada::workloads::WorkloadKinds;
use divvy_manifests::{Input, Manifests, ObjectName, OverlayChange, OverlayKind, Problem, Warning};
use divvy_spanned::names::{nearest, quoted_list};

use super::arguments::{ChangeArguments, DeletedName, DeletedObject, SituationArguments};
use crate::command::clusters::chosen_from;

/// Maximum number of objects that a remark names.
const NAMED_MAX: usize = 3;

/// Objects to lay over the input, and objects to delete from it.
pub(in crate::command) struct Overlays {
    overlay: Option<Manifests>,
    /// The earlier state of the overlay: objects that it has and the overlay lacks are deleted.
    before: Option<Manifests>,
    deleted: Vec<DeletedObject>,
    /// True if the status of a cluster in the overlay replaces that of the input.
    lays_statuses: bool,
}

/// Everything that overlays and deletions change.
pub(in crate::command) struct LaidOver {
    changes: Vec<OverlayChange>,
    /// Clusters whose status in the overlay differs and was left out.
    ignored_statuses: BTreeSet<String>,
}

/// Identity of a binding in messages and sets.
type Key<'a> = (&'a str, &'a str);

impl Overlays {
    /// Reads the files. Their problems are collected.
    pub(super) fn read(arguments: &SituationArguments, kinds: &WorkloadKinds, keep_json: bool) -> Self {
        let ChangeArguments {
            overlay, overlay_from, ..
        } = &arguments.changes;
        Self {
            deleted: arguments.changes.delete.clone(),
            lays_statuses: arguments.changes.overlay_status,
            ..Self::of_paths((overlay, overlay_from), arguments.input.validate, kinds, keep_json)
        }
    }

    /// Reads an overlay and its earlier state. Their problems are collected.
    pub(in crate::command) fn of_paths(
        (overlay, before): (&[String], &[String]),
        validate: ValidateMode,
        kinds: &WorkloadKinds,
        keep_json: bool,
    ) -> Self {
        let read = |paths: &[String]| {
            let inputs: Vec<Input> = paths.iter().map(|path| path.as_str().into()).collect();
            (!inputs.is_empty()).then(|| read_files(&inputs, validate, kinds, keep_json))
        };
        Self {
            overlay: read(overlay),
            before: read(before),
            deleted: Vec::new(),
            lays_statuses: false,
        }
    }

    /// True if anything is laid over the input or deleted.
    pub(super) fn is_given(&self) -> bool {
        self.overlay.is_some() || !self.deleted.is_empty()
    }

    /// The warnings about the overlay. Those about its earlier state are dropped.
    pub(in crate::command) fn take_warnings(&mut self) -> Vec<Warning> {
        let overlay = self.overlay.as_mut();
        overlay
            .map(|overlay| std::mem::take(&mut overlay.warnings))
            .unwrap_or_default()
    }

    /// The files of the overlay, and of its earlier state.
    pub(in crate::command) fn files(&self) -> impl Iterator<Item = &[PathBuf]> {
        self.overlay
            .iter()
            .chain(&self.before)
            .map(|manifests| manifests.files.as_slice())
    }

    /// The problems of all files.
    pub(in crate::command) fn problems(&self) -> impl Iterator<Item = Problem> {
        let all = self.overlay.iter().chain(&self.before);
        all.flat_map(|manifests| manifests.problems.clone())
    }

    /// Names of the clusters in the overlay.
    pub(super) fn clusters(&self) -> impl Iterator<Item = String> {
        let clusters = self.overlay.iter().flat_map(|overlay| &overlay.clusters);
        clusters.map(|cluster| cluster.object.metadata.name.clone())
    }

    /// Lays the overlay over the input, and deletes the objects to delete. A name that neither has is an error.
    pub(in crate::command) fn lay_over(&self, input: &mut Manifests) -> Result<LaidOver, Failure> {
        let mut changes = Vec::new();
        let mut ignored_statuses = BTreeSet::new();
        if let Some(overlay) = &self.overlay {
            changes = input.overlay(overlay);
            let differing = input.overlay_statuses(overlay, self.lays_statuses);
            match self.lays_statuses {
                true => {
                    let is_laid = |object: &ObjectName| object.kind == "Cluster" && differing.contains(&object.name);
                    for change in changes.iter_mut().filter(|change| is_laid(&change.object)) {
                        change.kind = OverlayKind::Changed;
                    }
                }
                false => ignored_statuses = differing,
            }
        }
        if let (Some(before), Some(overlay)) = (&self.before, &self.overlay) {
            input.remove_dropped(before, overlay);
            let kept = overlay.identities();
            let gone = before
                .identities()
                .into_iter()
                .filter(|identity| !kept.contains(identity));
            let gone: BTreeSet<(String, ObjectName)> = gone.collect();
            let deleted = input.delete(|group, name| gone.contains(&(group.to_owned(), name.clone())));
            let found: BTreeSet<&ObjectName> = deleted.iter().map(|change| &change.object).collect();
            let missing = gone.iter().map(|(_, name)| name).filter(|name| !found.contains(name));
            let missing = missing.map(|object| OverlayChange {
                object: object.clone(),
                source: None,
                kind: OverlayKind::Deleted,
            });
            let missing: Vec<OverlayChange> = missing.collect();
            changes.extend(deleted);
            changes.extend(missing);
        }
        let mut unknown = Vec::new();
        for object in &self.deleted {
            match meant(object, input) {
                Ok(name) => changes.extend(input.delete(|_, known| name.is(known))),
                Err(diagnostic) => unknown.push(diagnostic),
            }
        }
        match unknown.is_empty() {
            true => Ok(LaidOver {
                changes,
                ignored_statuses,
            }),
            false => Err(Failure::usage_errors(unknown)),
        }
    }

    /// One row per object: its change, and the effect of it.
    pub(super) fn rows(&self, over: &LaidOver, original: &Situation, laid: &Situation) -> Vec<OverlayRow> {
        let (before, after) = (Governed::of(original), Governed::of(laid));
        let policies = self.overlay.iter().flat_map(|overlay| &overlay.policies);
        let policies: BTreeMap<ObjectName, &PropagationPolicy> = policies
            .map(|located| {
                let policy = &located.object;
                let ObjectMeta { namespace, name, .. } = &policy.metadata;
                (ObjectName::new(&policy.kind, namespace, name), policy)
            })
            .collect();
        let rows = over.changes.iter().map(|change| {
            let object = &change.object;
            let row = OverlayRow {
                object: object.to_string(),
                source: change.source.as_ref().map(location),
                change: word(change.kind).to_owned(),
                ..OverlayRow::default()
            };
            match object.kind.as_str() {
                "PropagationPolicy" | "ClusterPropagationPolicy" => {
                    let nothing = BTreeSet::new();
                    let had = before.by_policy.get(object).unwrap_or(&nothing);
                    let has = after.by_policy.get(object).unwrap_or(&nothing);
                    let remarks = match policies.get(object) {
                        Some(policy) => {
                            let mut remarks = remarks_on_policy(policy, has.is_empty(), laid);
                            // What was so before is not the overlay's doing.
                            if change.kind == OverlayKind::Same {
                                let known = remarks_on_policy(policy, had.is_empty(), original);
                                remarks.retain(|remark| !known.contains(remark));
                            }
                            remarks
                        }
                        None => remarks_on_deleted(had, &after),
                    };
                    OverlayRow {
                        governs: Some(has.len()),
                        gains: Some(has.difference(had).count()),
                        loses: Some(had.difference(has).count()),
                        remarks,
                        ..row
                    }
                }
                "Cluster" => OverlayRow {
                    remarks: remarks_on_cluster(change, original, over),
                    ..row
                },
                "ResourceBinding" | "ClusterResourceBinding" => row,
                _ => OverlayRow {
                    remarks: remarks_on_resource(change, &before, &after),
                    ..row
                },
            }
        });
        rows.collect()
    }
}

/// The name that an object to delete means: the one of its readings that the input has.
fn meant<'a>(object: &'a DeletedObject, input: &Manifests) -> Result<&'a DeletedName, Diagnostic> {
    let found = object.readings().iter().map(|reading| {
        let names: BTreeSet<ObjectName> = input.deletable().filter(|name| reading.is(name)).collect();
        (reading, names)
    });
    let mut found: Vec<(&DeletedName, BTreeSet<ObjectName>)> = found.filter(|(_, names)| !names.is_empty()).collect();
    found.dedup_by(|one, other| one.1 == other.1);
    match found.as_slice() {
        [(reading, _)] => Ok(reading),
        [] => {
            let diagnostic = Diagnostic::new(format!("`--delete {object}` matches no policy and no workload"));
            Err(diagnostic.with_hint("write for instance `shop/propagationpolicy/web` or `deployment/shop/web`"))
        }
        several => {
            let names = several.iter().flat_map(|(_, names)| names);
            let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
            let diagnostic = Diagnostic::new(format!(
                "`--delete {object}` is ambiguous: it can mean {}",
                names.join(" or ")
            ));
            Err(diagnostic.with_hint(format!(
                "write the kind, a space and the rest: --delete '{}'",
                names[0].trim_matches('`')
            )))
        }
    }
}

fn word(kind: OverlayKind) -> &'static str {
    match kind {
        OverlayKind::Added => "added",
        OverlayKind::Changed => "changed",
        OverlayKind::Same => "same",
        OverlayKind::Deleted => "deleted",
    }
}

/// The sentence about an object that has no effect or contains a mistake.
pub(super) fn note(row: &OverlayRow) -> Option<String> {
    let location = row
        .source
        .as_ref()
        .map(|source| format!(" ({source})"))
        .unwrap_or_default();
    (!row.remarks.is_empty()).then(|| format!("{}{location}: {}", row.object, row.remarks.join("; ")))
}

/// The bindings of a situation, by policy and by workload.
struct Governed<'a> {
    by_policy: BTreeMap<ObjectName, BTreeSet<Key<'a>>>,
    /// The policy of each binding, if it has one.
    policies: BTreeMap<Key<'a>, Option<ObjectName>>,
    resources: BTreeSet<ObjectName>,
}

impl<'a> Governed<'a> {
    fn of(situation: &'a Situation) -> Self {
        let mut governed = Self {
            by_policy: BTreeMap::new(),
            policies: BTreeMap::new(),
            resources: BTreeSet::new(),
        };
        for binding in &situation.bindings {
            let ObjectMeta { namespace, name, .. } = &binding.object.metadata;
            let key = (namespace.as_str(), name.as_str());
            let policy = binding.policy.as_ref().map(|policy| policy.object_name());
            if let Some(policy) = &policy {
                governed.by_policy.entry(policy.clone()).or_default().insert(key);
            }
            governed.policies.insert(key, policy);
            let resource = &binding.object.spec.resource;
            governed
                .resources
                .insert(ObjectName::new(&resource.kind, &resource.namespace, &resource.name));
        }
        governed
    }
}

/// Remarks on a deleted policy, with the bindings that it governed.
fn remarks_on_deleted(had: &BTreeSet<Key<'_>>, after: &Governed<'_>) -> Vec<String> {
    let (mut claimed, mut kept, mut gone) = (0, 0, 0);
    for key in had {
        match after.policies.get(key) {
            Some(Some(_)) => claimed += 1,
            Some(None) => kept += 1,
            None => gone += 1,
        }
    }
    let counts = [
        (claimed, "claimed by other policies"),
        (kept, "left with the old placement, without a policy"),
        (gone, "not created any more"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = counts
        .map(|(count, what)| format!("{} {what}", counted(count, "binding")))
        .collect();
    match parts.is_empty() {
        false => parts,
        true => vec!["does nothing: it governs no binding of the input".to_owned()],
    }
}

/// Remarks on a cluster.
fn remarks_on_cluster(change: &OverlayChange, original: &Situation, over: &LaidOver) -> Vec<String> {
    let name = &change.object.name;
    if change.kind == OverlayKind::Deleted && !original.clusters.contains_key(name) {
        return vec!["does nothing: the input has no such cluster".to_owned()];
    }
    match over.ignored_statuses.contains(name) {
        true => {
            vec![
                "its status differs from that of the input, which counts; `--overlay-status` takes this one".to_owned(),
            ]
        }
        false => Vec::new(),
    }
}

/// Remarks on a workload or another resource.
fn remarks_on_resource(change: &OverlayChange, before: &Governed<'_>, after: &Governed<'_>) -> Vec<String> {
    let object = &change.object;
    match change.kind {
        OverlayKind::Added | OverlayKind::Changed if !after.resources.contains(object) => {
            vec!["no policy matches it, so that it runs nowhere".to_owned()]
        }
        OverlayKind::Deleted if !before.resources.contains(object) => {
            vec!["does nothing: the input has no binding of it".to_owned()]
        }
        OverlayKind::Added | OverlayKind::Changed | OverlayKind::Same | OverlayKind::Deleted => Vec::new(),
    }
}

/// Remarks on a policy: the reason why it governs nothing, and clusters that it names but that do not exist.
fn remarks_on_policy(policy: &PropagationPolicy, is_idle: bool, situation: &Situation) -> Vec<String> {
    let mut remarks = Vec::new();
    if is_idle {
        remarks.push(format!("does nothing: {}", reason(policy, situation)));
    }
    let waiting = situation.bindings.iter().filter(|binding| {
        let facts = binding.policy.as_ref();
        let is_own = |facts: &&std::sync::Arc<PolicyFacts>| {
            let ObjectMeta { namespace, name, .. } = &policy.metadata;
            (&facts.kind, &facts.namespace, &facts.name) == (&policy.kind, namespace, name)
        };
        binding.pending.contains(&Pending::Lazy) && facts.filter(is_own).is_some()
    });
    match waiting.count() {
        0 => {}
        1 => remarks.push(
            "is lazy: its binding takes the placement with the next change of the workload's specification".to_owned(),
        ),
        count => remarks.push(format!(
            "is lazy: {count} bindings take its placement, each with the next change of its workload's specification"
        )),
    }
    let named = chosen_from(&policy.spec.placement)
        .flat_map(|affinity| affinity.cluster_names.iter().chain(&affinity.exclude_clusters));
    let missing: BTreeSet<&String> = named.filter(|name| !situation.clusters.contains_key(*name)).collect();
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().map(|name| name.as_str()).collect();
        let near = match names.as_slice() {
            [name] => nearest(name, situation.clusters.keys().map(String::as_str)),
            _ => None,
        };
        let is = if names.len() == 1 { "does" } else { "do" };
        remarks.push(format!(
            "names {} that {is} not exist: {}{}",
            if names.len() == 1 { "a cluster" } else { "clusters" },
            listed(names.into_iter(), NAMED_MAX),
            suggestion(near)
        ));
    }
    remarks
}

/// Reason why a policy governs no binding.
fn reason(policy: &PropagationPolicy, situation: &Situation) -> String {
    if policy.metadata.is_deleting() {
        return "it is being deleted".to_owned();
    }
    let bindings = || situation.bindings.iter().map(|binding| &**binding);
    let selected: Vec<&Binding> = bindings()
        .filter(|binding| {
            let (type_meta, metadata) = workload(binding);
            selects(policy, &type_meta, &metadata)
        })
        .collect();
    if !selected.is_empty() {
        let others = selected.iter().filter_map(|binding| binding.policy.as_ref());
        let others: BTreeSet<String> = others.map(|policy| policy.object_name().to_string()).collect();
        let others: Vec<&str> = others.iter().map(String::as_str).collect();
        let count = counted(selected.len(), "workload");
        let is_one = selected.len() == 1;
        if others.is_empty() {
            let (is, keeps) = match is_one {
                true => ("is", "its binding keeps its placement"),
                false => ("are", "their bindings keep their placement"),
            };
            return format!("{count} that it selects {is} not in the input, so that {keeps}");
        }
        let (belong, them) = if is_one { ("belongs", "it") } else { ("belong", "them") };
        let owners = listed(others.into_iter(), NAMED_MAX);
        return format!(
            "{count} that it selects {belong} to {owners}, and only preemption, which is not forecast, would take {them} away"
        );
    }
    let reasons: BTreeSet<String> = policy
        .spec
        .resource_selectors
        .iter()
        .map(|selector| {
            let of_type = |binding: &&Binding| {
                let resource = &binding.object.spec.resource;
                resource.kind == selector.kind && resource.api_version == selector.api_version
            };
            let kind = format!("{} ({})", selector.kind, selector.api_version);
            if !bindings().any(|binding| of_type(&binding)) {
                let kinds = bindings().map(|binding| binding.object.spec.resource.kind.as_str());
                let near = nearest(&selector.kind, kinds.filter(|known| *known != selector.kind));
                return format!("the input has no {kind}{}", suggestion(near));
            }
            match selector.name.as_str() {
                "" => format!("no {kind} that it may select has the labels or the namespace of its selector"),
                name => {
                    let names = bindings()
                        .filter(of_type)
                        .map(|binding| binding.object.spec.resource.name.as_str());
                    let near = nearest(name, names.filter(|known| *known != name));
                    let names = quoted_list([name]);
                    format!("no {kind} that it may select is named {names}{}", suggestion(near))
                }
            }
        })
        .collect();
    match reasons.is_empty() {
        true => "it has no selector".to_owned(),
        false => reasons.into_iter().collect::<Vec<_>>().join(", and "),
    }
}

fn suggestion(name: Option<&str>) -> String {
    name.map(|name| format!(" (did you mean `{name}`?)"))
        .unwrap_or_default()
}

/// Type and metadata of the workload of a binding, as far as they are known.
fn workload(binding: &Binding) -> (TypeMeta, ObjectMeta) {
    let resource = &binding.object.spec.resource;
    let type_meta = TypeMeta {
        api_version: resource.api_version.clone(),
        kind: resource.kind.clone(),
    };
    let labels = binding.workload.as_ref().map(|workload| workload.labels.clone());
    let metadata = ObjectMeta {
        name: resource.name.clone(),
        namespace: resource.namespace.clone(),
        labels: labels.unwrap_or_default(),
        ..ObjectMeta::default()
    };
    (type_meta, metadata)
}
