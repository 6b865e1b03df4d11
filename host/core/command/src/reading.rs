//! Manifests as every command reads them: which annotations are known, which kinds have replicas, what is done about the unknown.

use std::io::Read;
use std::time::Instant;

use clap::ValueEnum;
use divvy_karmada::workloads::WorkloadKinds;
use divvy_manifests::{Input, Manifests, ReadOptions, Validation};
use divvy_profile::{MOVES_ANNOTATION, ProfileConfiguration};
use divvy_scheduler::decide::{APPLIED_POLICY, PLUGIN_FAILURE};
use divvy_scheduler::moves::failback::FAILBACK_ANNOTATION;
use divvy_scheduler::moves::mark::MOVE_ANNOTATION;
use divvy_scheduler::moves::planned::PLANNED_ANNOTATION;
use divvy_scheduler::strategy::{
    AFFINITY_GROUPS_ANNOTATION, PLUGIN_PREFERENCES_PREFIX, PREFERENCES_ANNOTATION, QUORUM_ANNOTATION,
    STRATEGY_ANNOTATION,
};

use crate::progress::Progress;

/// Treatment of unknown fields, kinds and annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ValidateMode {
    /// Warn in objects with a `resourceVersion`, which came from an API server; refuse in all others
    Auto,
    /// Refuse
    Strict,
    /// Warn
    Warn,
    /// Accept
    Ignore,
}

impl From<ValidateMode> for Validation {
    fn from(mode: ValidateMode) -> Self {
        match mode {
            ValidateMode::Auto => Self::Auto,
            ValidateMode::Strict => Self::Strict,
            ValidateMode::Warn => Self::Warn,
            ValidateMode::Ignore => Self::Ignore,
        }
    }
}

/// Annotations that Divvy reads.
const ANNOTATIONS: [&str; 11] = [
    STRATEGY_ANNOTATION,
    PREFERENCES_ANNOTATION,
    // A plugin's name follows, which the plan of each binding checks against its profile.
    PLUGIN_PREFERENCES_PREFIX,
    AFFINITY_GROUPS_ANNOTATION,
    QUORUM_ANNOTATION,
    APPLIED_POLICY,
    PLUGIN_FAILURE,
    MOVES_ANNOTATION,
    MOVE_ANNOTATION,
    FAILBACK_ANNOTATION,
    PLANNED_ANNOTATION,
];

/// The kinds with replicas under a profile.
pub fn workload_kinds(configuration: &ProfileConfiguration) -> WorkloadKinds {
    let interpreter = configuration.resource_interpreter.unwrap_or_default();
    let reads_components = configuration.multiple_pod_templates.unwrap_or_default();
    WorkloadKinds::new(interpreter, &configuration.workload).reading_components(reads_components)
}

/// Reads inputs. Problems are collected in the manifests, not returned as an error.
pub fn read_files(
    inputs: &[Input],
    validate: ValidateMode,
    kinds: &WorkloadKinds,
    keep_cluster_json: bool,
) -> Manifests {
    let mut standard = std::io::stdin().lock();
    read_from(inputs, &mut standard, validate, kinds, keep_cluster_json)
}

/// The same, with a stream for standard input.
pub fn read_from(
    inputs: &[Input],
    standard: &mut dyn Read,
    validate: ValidateMode,
    kinds: &WorkloadKinds,
    keep_cluster_json: bool,
) -> Manifests {
    let started = Instant::now();
    let options = ReadOptions {
        workload_kinds: kinds.clone(),
        keep_cluster_json,
        validation: validate.into(),
        annotations: ANNOTATIONS.map(str::to_owned).to_vec(),
        ..ReadOptions::default()
    };
    let progress = Progress::start("reading");
    let read = divvy_manifests::read(inputs, standard, &options);
    drop(progress);
    tracing::info!(
        clusters = read.clusters.len(),
        policies = read.policies.len(),
        bindings = read.bindings.len(),
        resources = read.resources.len(),
        ignored = read.ignored,
        elapsed = ?started.elapsed(),
        "manifests read"
    );
    read
}
