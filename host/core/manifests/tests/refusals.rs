//! Objects that Karmada's API server or webhooks refuse, and those that they take.

use std::collections::BTreeSet;

use divvy_manifests::{ReadOptions, Validation, read_text};

/// Objects of every kind that Karmada refuses, with comments that say how.
const REFUSED: &str = include_str!("refused.yaml");

#[test]
fn every_kind_of_refusal_names_its_field_its_line_and_its_reason() {
    let read = read_text("refused.yaml", REFUSED, &ReadOptions::default());
    let lines: Vec<&str> = REFUSED.lines().collect();
    // The first comment is about the file.
    let expected: Vec<&str> = lines[1..].iter().filter_map(|line| line.strip_prefix("# ")).collect();
    let found: Vec<String> = read
        .problems
        .iter()
        .map(|problem| format!("{}: {}", problem.field, problem.cause))
        .collect();
    assert_eq!(found, expected);
    let named = read
        .problems
        .iter()
        .filter_map(|problem| Some(problem.source_of.as_ref()?.line));
    let named: BTreeSet<usize> = named.collect();
    let marked = (1..).zip(&lines).filter(|(_, line)| line.ends_with("# here"));
    assert_eq!(named, marked.map(|(number, _)| number).collect());
    let all = (
        read.policies.len(),
        read.overrides.len(),
        read.quotas.len(),
        read.clusters.len(),
    );
    assert_eq!(all, (0, 0, 0, 0));
}

#[test]
fn what_looks_like_a_refusal_and_is_none_is_taken() {
    let read = read_text("taken.yaml", include_str!("taken.yaml"), &ReadOptions::default());
    assert!(read.problems.is_empty(), "{:#?}", read.problems);
    assert!(read.warnings.is_empty(), "{:#?}", read.warnings);
    let all = (
        read.policies.len(),
        read.overrides.len(),
        read.quotas.len(),
        read.clusters.len(),
    );
    assert_eq!(all, (9, 1, 1, 1));
}

/// What an API server holds has passed its checks, and may be of a version whose rules are others.
#[test]
fn an_api_servers_objects_are_refused_for_what_nothing_can_read_alone() {
    let served = REFUSED.replace("metadata: {", "metadata: {resourceVersion: '1', ");
    let read = read_text("served.yaml", &served, &ReadOptions::default());
    let fields: Vec<String> = read.problems.iter().map(|problem| problem.field.to_string()).collect();
    for field in [
        "spec.overrideRules",
        "spec.overall",
        "spec.preemption",
        "spec.resourceSelectors",
        "metadata",
    ] {
        assert!(
            !fields.iter().any(|found| found.starts_with(field)),
            "{field}: {fields:?}"
        );
    }
    assert_eq!((read.overrides.len(), read.quotas.len()), (2, 1));
}

const ALL: &str = "resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]";

/// The problems of a policy with this specification, each with its field.
fn problems(spec: &str, metadata: &str, validation: Validation) -> Vec<String> {
    let text = format!(
        "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {{name: web, namespace: shop{metadata}}}\nspec: {{{spec}}}\n"
    );
    let options = ReadOptions {
        validation,
        ..ReadOptions::default()
    };
    let manifests = read_text("policy.yaml", &text, &options);
    let problems = manifests.problems.iter().map(|problem| {
        assert_eq!(
            problem.source_of.as_ref().map(|source| source.line),
            Some(4),
            "{problem:?}"
        );
        format!("{}: {}", problem.field, problem.cause)
    });
    problems.collect()
}

#[test]
fn what_karmada_refuses_is_refused_with_its_reason() {
    let group = "clusterAffinities: [{affinityName: a";
    let tier = "overflowAffinities: [{affinityName: b, clusterNames: [m2]}]";
    let static_weights = "replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Weighted, weightPreference: \
                          {staticWeightList: [{targetCluster: {clusterNames: [m1]}, weight: 1}]}}";
    for (spec, expected) in [
        (
            "resourceSelectors: []".to_owned(),
            "spec.resourceSelectors: expected at least 1 item",
        ),
        (
            "placement: {}".to_owned(),
            "spec.resourceSelectors: expected at least 1 item",
        ),
        (
            "resourceSelectors: null".to_owned(),
            "spec.resourceSelectors: expected at least 1 item",
        ),
        (
            format!("preemption: Always, {ALL}"),
            "spec.resourceSelectors[0]: `name` is missing, which Karmada requires with `preemption: Always`",
        ),
        (
            format!("preemption: always, {ALL}"),
            "spec.preemption: expected one of `Always`, `Never`, got `always`",
        ),
        (
            format!("conflictResolution: overwrite, {ALL}"),
            "spec.conflictResolution: expected one of `Abort`, `Overwrite`, got `overwrite`",
        ),
        (
            format!("activationPreference: lazy, {ALL}"),
            "spec.activationPreference: expected `Lazy`, got `lazy`",
        ),
        (
            format!("schedulePriority: {{priorityClassSource: PodPriorityClass, priorityClassName: x}}, {ALL}"),
            "spec.schedulePriority.priorityClassSource: expected `KubePriorityClass`, got `PodPriorityClass`",
        ),
        (
            format!("failover: {{cluster: {{purgeMode: Graciously}}}}, {ALL}"),
            "spec.failover.cluster.purgeMode: expected one of `Directly`, `Gracefully`, got `Graciously`",
        ),
        (
            format!("failover: {{application: {{decisionConditions: {{tolerationSeconds: 1}}}}}}, {ALL}"),
            "spec.failover.application: `propagateDeps: true` is missing, which Karmada requires beside it",
        ),
        (
            format!(
                "propagateDeps: true, failover: {{application: {{decisionConditions: {{tolerationSeconds: -1}}}}}}, {ALL}"
            ),
            "spec.failover.application.decisionConditions.tolerationSeconds: expected at least 0, got `-1`",
        ),
        (
            format!(
                "propagateDeps: true, failover: {{application: {{decisionConditions: {{}}, gracePeriodSeconds: 0}}}}, {ALL}"
            ),
            "spec.failover.application.gracePeriodSeconds: expected at least 1, got `0`",
        ),
        (
            format!(
                "propagateDeps: true, failover: {{application: {{decisionConditions: {{}}, purgeMode: Never, gracePeriodSeconds: 9}}}}, {ALL}"
            ),
            "spec.failover.application.gracePeriodSeconds: it has an effect only with `purgeMode: Gracefully`",
        ),
        (
            format!("suspension: {{dispatching: true, dispatchingOnClusters: {{clusterNames: [m1]}}}}, {ALL}"),
            "spec.suspension.dispatchingOnClusters: `dispatching: true` and names of clusters cannot both be given",
        ),
        (
            format!("placement: {{clusterAffinities: [{{affinityName: a b}}]}}, {ALL}"),
            "spec.placement.clusterAffinities[0].affinityName: expected up to 63 letters, digits, `-`, `_` and `.` with a letter or digit at both ends, got `a b`",
        ),
        (
            format!("placement: {{{group}, {tier}}}]}}, {ALL}"),
            "spec.placement.clusterAffinities[0].overflowAffinities: the group has no affinity of its own, from which replicas could overflow",
        ),
        (
            format!("placement: {{{group}, clusterNames: [m1], {tier}}}], {static_weights}}}, {ALL}"),
            "spec.placement.clusterAffinities[0].overflowAffinities: replicas overflow only if they are divided by room: aggregated, or by dynamic weights",
        ),
        (
            format!("placement: {{spreadConstraints: [{{spreadByField: region, maxGroups: 2}}]}}, {ALL}"),
            "spec.placement.spreadConstraints: a constraint by `cluster` is missing, which Karmada requires beside one by `region`",
        ),
        (
            format!("placement: {{spreadConstraints: [{{spreadByField: cluster}}, {{maxGroups: 2}}]}}, {ALL}"),
            "spec.placement.spreadConstraints[1].spreadByField: several constraints spread by `cluster`",
        ),
        (
            format!(
                "placement: {{workloadAffinity: {{affinity: {{groupByLabelKey: app}}, antiAffinity: {{groupByLabelKey: app}}}}}}, {ALL}"
            ),
            "spec.placement.workloadAffinity.antiAffinity.groupByLabelKey: `app` groups workloads for both affinity and anti-affinity",
        ),
    ] {
        assert_eq!(problems(&spec, "", Validation::Auto), [expected], "{spec}");
        // An API server has let it pass, so that this one is newer than what is known here.
        assert!(
            problems(&spec, ", resourceVersion: '1'", Validation::Auto).is_empty(),
            "{spec}"
        );
        assert!(problems(&spec, "", Validation::Ignore).is_empty(), "{spec}");
    }
}

#[test]
fn what_karmada_takes_is_taken() {
    for spec in [
        format!("preemption: Never, conflictResolution: Abort, activationPreference: null, {ALL}"),
        "preemption: Always, resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]".to_owned(),
        format!("suspension: {{dispatching: true, dispatchingOnClusters: {{clusterNames: []}}}}, {ALL}"),
        format!("placement: {{spreadConstraints: [{{spreadByLabel: rack}}]}}, {ALL}"),
        format!("placement: {{spreadConstraints: [{{minGroups: 1}}, {{spreadByField: region}}]}}, {ALL}"),
        format!(
            "propagateDeps: true, failover: {{application: {{decisionConditions: {{}}, gracePeriodSeconds: 9}}}}, {ALL}"
        ),
        format!(
            "placement: {{clusterAffinity: {{clusterNames: null, labelSelector: {{matchLabels: {{a: null}}}}}}}}, {ALL}"
        ),
    ] {
        let found = problems(&spec, "", Validation::Auto);
        assert!(found.is_empty(), "{spec}: {found:?}");
    }
}
