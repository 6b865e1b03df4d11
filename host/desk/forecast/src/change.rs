//! Changes to a situation. Each is an edit of objects, as an operator or a controller of Karmada would make it.
//!
//! Changes combine, and their order never matters: all of them are resolved against the same situation before the first
//! is made, and two that disagree about one object are refused.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use divvy_karmada::api::{Cluster, Taint, TaintEffect, Timestamp};
use divvy_karmada::detector::Binding;

use crate::choice::{BindingPattern, ClusterChoice};
use crate::count::{ReplicaCount, TooManyReplicas};
use crate::eviction::{Departure, Horizon, evict};
use crate::situation::{ClusterEntry, Situation};

/// Key of the taint that `karmadactl cordon` adds (`TaintClusterUnscheduler`). A drain adds the same with the effect
/// `NoExecute`.
pub const UNSCHEDULABLE: &str = "cluster.karmada.io/unschedulable";

/// Key of the taints of a cluster that does not answer (`TaintClusterNotReady`).
pub const NOT_READY: &str = "cluster.karmada.io/not-ready";

/// The changes to forecast.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    /// Clusters that get a `NoSchedule` taint.
    pub cordon: Vec<ClusterChoice>,
    /// Clusters that get a `NoExecute` taint, which evicts.
    pub drain: Vec<ClusterChoice>,
    /// Clusters that fail: they exist, but nothing runs there, and Karmada evicts bindings that do not tolerate that.
    pub fail: Vec<ClusterChoice>,
    /// Clusters that no longer exist.
    pub without: Vec<ClusterChoice>,
    /// New numbers of replicas.
    pub replicas: Vec<(BindingPattern, ReplicaCount)>,
    /// Bindings for which a reschedule from scratch is requested.
    pub reschedule: Vec<BindingPattern>,
}

/// Changes with the objects that they affect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResolvedChanges {
    /// Names of the clusters to cordon.
    pub cordoned: BTreeSet<String>,
    /// Names of the clusters to drain.
    pub drained: BTreeSet<String>,
    /// Names of the clusters that fail.
    pub failed: BTreeSet<String>,
    /// Names of the clusters to remove.
    pub removed: BTreeSet<String>,
    /// New number of replicas of each binding, by index.
    pub replicas: BTreeMap<usize, i32>,
    /// Bindings to reschedule, by index.
    pub rescheduled: BTreeSet<usize>,
}

/// Effects of applied changes, beside the new situation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// Bindings on drained clusters, each with the effect of the taints.
    pub departures: Vec<Departure>,
    /// Bindings on failed clusters, each with the effect of the taints.
    pub failures: Vec<Departure>,
    /// Keys of bindings for which a reschedule was requested, but which were never scheduled: Karmada ignores the
    /// request.
    pub ignored_reschedules: Vec<String>,
}

/// Changes that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// A choice includes no cluster.
    #[error("`{flag} {choice}` matches no cluster")]
    NoCluster {
        /// The flag.
        flag: &'static str,
        /// The choice.
        choice: String,
        /// The most similar name, if one is similar.
        nearest: Option<String>,
    },
    /// A pattern includes no binding.
    #[error("`{flag} {pattern}` matches no binding{}", if *.replicas { " with replicas" } else { "" })]
    NoBinding {
        /// The flag.
        flag: &'static str,
        /// The pattern.
        pattern: String,
        /// True if only bindings with replicas count.
        replicas: bool,
    },
    /// The changes remove a cluster and also change it.
    #[error("`--without` removes the cluster `{cluster}`, which `{flag}` changes")]
    RemovedAndChanged {
        /// The cluster.
        cluster: String,
        /// The flag that changes it.
        flag: &'static str,
    },
    /// The changes give a binding two different numbers of replicas.
    #[error("`{binding}` would have {first} replicas by `{first_change}`, and {second} by `{second_change}`")]
    TwoCounts {
        /// Key of the binding.
        binding: String,
        /// The first number.
        first: i32,
        /// The change that gives it.
        first_change: String,
        /// The second number.
        second: i32,
        /// The change that gives it.
        second_change: String,
    },
    /// A binding would have too many replicas.
    #[error("`{change}` of `{binding}`: {error}")]
    TooMany {
        /// Key of the binding.
        binding: String,
        /// The change.
        change: String,
        /// The number of replicas.
        error: TooManyReplicas,
    },
}

impl ChangeError {
    /// Suggested fix, if one is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoCluster { nearest, .. } => {
                let hint = nearest.as_ref().map(|nearest| format!("did you mean `{nearest}`?"));
                hint.or_else(|| {
                    Some(
                        "clusters are chosen by name, glob, `region=`, `zone=`, `provider=` or `label:KEY=VALUE`"
                            .to_owned(),
                    )
                })
            }
            Self::NoBinding { .. } => Some(
                "bindings are chosen as `NAMESPACE/BINDING` or `KIND/NAME`, for instance `deployment/web`; quote globs"
                    .to_owned(),
            ),
            Self::RemovedAndChanged { .. } | Self::TwoCounts { .. } => Some("leave one of them out".to_owned()),
            Self::TooMany { .. } => None,
        }
    }
}

impl Changes {
    /// True if there are no changes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Finds the objects that the changes affect. `situation` is the input with overlays, `original` without them.
    ///
    /// # Errors
    ///
    /// Every choice and pattern that matches nothing, and every contradiction.
    pub fn resolve(&self, situation: &Situation, original: &Situation) -> Result<ResolvedChanges, Vec<ChangeError>> {
        let mut errors = Vec::new();
        let cordoned = chosen("--cordon", &self.cordon, situation, &mut errors);
        let drained = chosen("--drain", &self.drain, situation, &mut errors);
        let failed = chosen("--fail", &self.fail, situation, &mut errors);
        let removed = chosen("--without", &self.without, situation, &mut errors);
        for cluster in &removed {
            let overlaid = situation.clusters.get(cluster) != original.clusters.get(cluster);
            let others = [
                ("--cordon", cordoned.contains(cluster)),
                ("--drain", drained.contains(cluster)),
                ("--fail", failed.contains(cluster)),
                ("--overlay", overlaid),
            ];
            for (flag, _) in others.into_iter().filter(|(_, is_changed)| *is_changed) {
                let cluster = cluster.clone();
                errors.push(ChangeError::RemovedAndChanged { cluster, flag });
            }
        }
        let replicas = self.counts(situation, original, &mut errors);
        let mut rescheduled = BTreeSet::new();
        for pattern in &self.reschedule {
            let found = included(pattern, situation);
            if found.is_empty() {
                errors.push(ChangeError::NoBinding {
                    flag: "--reschedule",
                    pattern: pattern.to_string(),
                    replicas: false,
                });
            }
            rescheduled.extend(found);
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        Ok(ResolvedChanges {
            cordoned,
            drained,
            failed,
            removed,
            replicas,
            rescheduled,
        })
    }

    /// New number of replicas of each binding, by index. Two changes of one binding must agree.
    fn counts(
        &self,
        situation: &Situation,
        original: &Situation,
        errors: &mut Vec<ChangeError>,
    ) -> BTreeMap<usize, i32> {
        let mut counts: BTreeMap<usize, (i32, String)> = overlaid_counts(situation, original);
        for (pattern, count) in &self.replicas {
            let change = format!("--replicas {pattern}={count}");
            let found: Vec<usize> = included(pattern, situation)
                .into_iter()
                .filter(|&index| has_replicas(&situation.bindings[index]))
                .collect();
            if found.is_empty() {
                errors.push(ChangeError::NoBinding {
                    flag: "--replicas",
                    pattern: pattern.to_string(),
                    replicas: true,
                });
            }
            for index in found {
                let binding = &situation.bindings[index];
                let present = binding.object.spec.replicas.unwrap_or(0);
                match count.apply(present) {
                    Err(error) => errors.push(ChangeError::TooMany {
                        binding: binding.key(),
                        change: change.clone(),
                        error,
                    }),
                    Ok(second) => match counts.get(&index) {
                        Some((first, first_change)) if *first != second => errors.push(ChangeError::TwoCounts {
                            binding: binding.key(),
                            first: *first,
                            first_change: first_change.clone(),
                            second,
                            second_change: change.clone(),
                        }),
                        Some(_) => {}
                        None => _ = counts.insert(index, (second, change.clone())),
                    },
                }
            }
        }
        counts.into_iter().map(|(index, (count, _))| (index, count)).collect()
    }
}

/// The counts that an overlay changes.
fn overlaid_counts(situation: &Situation, original: &Situation) -> BTreeMap<usize, (i32, String)> {
    let known: BTreeMap<_, _> = original
        .bindings
        .iter()
        .map(|binding| (binding.identity(), binding.object.spec.replicas))
        .collect();
    let divided = situation.bindings.iter().enumerate();
    let changed = divided
        .filter(|(_, binding)| has_replicas(binding))
        .filter_map(|(index, binding)| {
            let count = binding.object.spec.replicas?;
            let before = known.get(&binding.identity())?;
            (*before != Some(count)).then(|| (index, (count, "--overlay".to_owned())))
        });
    changed.collect()
}

/// True if a binding has replicas that can be changed: those of one pod template.
pub(crate) fn has_replicas(binding: &Binding) -> bool {
    binding.is_workload() && binding.object.spec.components.len() <= 1
}

fn included(pattern: &BindingPattern, situation: &Situation) -> Vec<usize> {
    let bindings = situation.bindings.iter().enumerate();
    let included = bindings.filter(|(_, binding)| pattern.includes(binding));
    included.map(|(index, _)| index).collect()
}

fn chosen(
    flag: &'static str,
    choices: &[ClusterChoice],
    situation: &Situation,
    errors: &mut Vec<ChangeError>,
) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for choice in choices {
        let clusters = situation.clusters.values();
        let found: Vec<&String> = clusters
            .filter(|cluster| choice.includes(&cluster.object))
            .map(|cluster| &cluster.object.metadata.name)
            .collect();
        if found.is_empty() {
            errors.push(ChangeError::NoCluster {
                flag,
                choice: choice.to_string(),
                nearest: nearest(choice, situation),
            });
        }
        names.extend(found.into_iter().cloned());
    }
    names
}

/// The name, region, zone or provider that resembles a choice most.
fn nearest(choice: &ClusterChoice, situation: &Situation) -> Option<String> {
    let clusters = situation.clusters.values().map(|cluster| &cluster.object);
    let (prefix, wanted, known): (&str, &String, BTreeSet<String>) = match choice {
        ClusterChoice::Name(name) => ("", name, situation.clusters.keys().cloned().collect()),
        ClusterChoice::Region(region) => (
            "region=",
            region,
            clusters.map(|cluster| cluster.spec.region.clone()).collect(),
        ),
        ClusterChoice::Provider(provider) => (
            "provider=",
            provider,
            clusters.map(|cluster| cluster.spec.provider.clone()).collect(),
        ),
        ClusterChoice::Zone(zone) => {
            let zones =
                clusters.flat_map(|cluster| crate::choice::zones(cluster).map(str::to_owned).collect::<Vec<_>>());
            ("zone=", zone, zones.collect())
        }
        ClusterChoice::Label(..) => return None,
    };
    let found =
        divvy_spanned::names::nearest(wanted, known.iter().filter(|name| !name.is_empty()).map(String::as_str))?;
    Some(format!("{prefix}{found}"))
}

impl ResolvedChanges {
    /// The situation after the changes.
    pub fn apply(&self, situation: &Situation) -> (Situation, Applied) {
        let mut after = situation.clone();
        let mut applied = Applied::default();
        for name in &self.removed {
            after.clusters.remove(name);
            after.gone.insert(name.clone());
        }
        let taints = [
            (&self.cordoned, UNSCHEDULABLE, TaintEffect::NoSchedule),
            (&self.drained, UNSCHEDULABLE, TaintEffect::NoExecute),
            (&self.failed, NOT_READY, TaintEffect::NoSchedule),
            (&self.failed, NOT_READY, TaintEffect::NoExecute),
        ];
        for (names, key, effect) in taints {
            for name in names {
                if let Some(entry) = after.clusters.get_mut(name) {
                    taint(Arc::make_mut(entry), key, effect);
                }
            }
        }
        let changed = [&self.removed, &self.cordoned, &self.drained, &self.failed];
        after.changed.extend(changed.into_iter().flatten().cloned());
        for (&index, &count) in &self.replicas {
            if let Some(binding) = after.bindings.get_mut(index) {
                set_replicas(Arc::make_mut(binding), count);
            }
        }
        for &index in &self.rescheduled {
            if let Some(binding) = after.bindings.get_mut(index)
                && !request_reschedule(Arc::make_mut(binding))
            {
                applied.ignored_reschedules.push(binding.key());
            }
        }
        after.failed.extend(self.failed.iter().cloned());
        applied.departures = evict(&mut after, &self.drained, Horizon::AtOnce);
        // A failure lasts, so that tolerations run out.
        applied.failures = evict(&mut after, &self.failed, Horizon::InTheEnd);
        (after, applied)
    }
}

/// Adds a taint unless the cluster has it, to the object and to its JSON.
fn taint(entry: &mut ClusterEntry, key: &str, effect: TaintEffect) {
    let ClusterEntry { object, json } = entry;
    let Cluster { spec, .. } = object;
    if spec
        .taints
        .iter()
        .any(|taint| taint.key == key && taint.effect == effect)
    {
        return;
    }
    spec.taints.push(Taint {
        key: key.to_owned(),
        effect: effect.into(),
        ..Taint::default()
    });
    // The text has fields that the type lacks, so only its taints are replaced.
    let parsed = json.as_deref().and_then(|text| serde_json::from_str(text).ok());
    if let Some(mut value) = parsed {
        let root: &mut serde_json::Value = &mut value;
        root["spec"]["taints"] = serde_json::json!(spec.taints);
        *json = Some(value.to_string().into());
    }
}

/// Sets the replicas of a binding, and of its single component if it has one.
pub(crate) fn set_replicas(binding: &mut Binding, count: i32) {
    let spec = &mut binding.object.spec;
    spec.replicas = Some(count);
    for component in &mut spec.components {
        component.replicas = count;
    }
}

/// Requests a reschedule, as Karmada's `WorkloadRebalancer` does, one second after the last scheduling: a request counts
/// if it is later than that. False if the binding was never scheduled, because Karmada then ignores it.
fn request_reschedule(binding: &mut Binding) -> bool {
    let object = &mut binding.object;
    let Some(scheduled) = object.status.last_scheduled_time else {
        return false;
    };
    object.spec.reschedule_triggered_at = Some(Timestamp::from_seconds(scheduled.seconds().saturating_add(1)));
    true
}
