//! Policies, kinds and claims as Karmada reads them, through the command.

use std::fs;

use super::run;

const CLUSTERS: &str = "apiVersion: cluster.karmada.io/v1alpha1
kind: Cluster
metadata: {name: m1}
spec: {region: North Europe}
status: {apiEnablements: [{groupVersion: apps/v1, resources: [{name: deployments, kind: Deployment}]}, {groupVersion: v1, resources: [{name: configmaps, kind: ConfigMap}]}], conditions: [{type: Ready, status: 'True'}], resourceSummary: {allocatable: {cpu: '60', pods: '100'}}}
---
";

fn policy(metadata: &str, selector: &str, spec: &str) -> String {
    format!(
        "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nmetadata: {{{metadata}}}\nspec:\n  resourceSelectors: \
         [{{{selector}}}]\n  {spec}\n---\n"
    )
}

const CONFIG_MAPS: &str = "apiVersion: v1, kind: ConfigMap, name: settings";

/// What `divvy policies` says of these objects.
fn reviewed(objects: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("all.yaml");
    fs::write(&file, format!("{CLUSTERS}{objects}")).expect("the file can be written");
    let (_, stdout, stderr) = run(&["policies", "-f", &file.display().to_string(), "-o", "json"]);
    assert!(stdout.contains("findings"), "{stderr}");
    stdout
}

#[test]
fn a_policy_that_can_select_nothing_says_the_true_reason() {
    let object = |kind: &str, namespace: &str| {
        format!("apiVersion: v1\nkind: {kind}\nmetadata: {{name: settings{namespace}}}\n---\n")
    };
    let shop = object("ConfigMap", ", namespace: shop");
    for (objects, expected) in [
        (
            policy("name: p, namespace: kube-system", CONFIG_MAPS, "placement: {}")
                + &object("ConfigMap", ", namespace: kube-system"),
            "namespace `kube-system` is reserved, and Karmada propagates nothing from it",
        ),
        (
            policy("name: p, namespace: karmada-cluster", CONFIG_MAPS, "placement: {}"),
            "namespace `karmada-cluster` is reserved, and Karmada propagates nothing from it",
        ),
        (
            policy("name: p", CONFIG_MAPS, "placement: {}").replace("kind: Prop", "kind: ClusterProp")
                + &object("ConfigMap", ", namespace: kube-public"),
            "ConfigMap (v1) is only in the reserved namespace `kube-public`, from which Karmada propagates nothing",
        ),
        (
            policy(
                "name: p, namespace: shop",
                "apiVersion: v1, kind: PersistentVolume, name: settings",
                "placement: {}",
            ) + &object("PersistentVolume", ""),
            "PersistentVolume (v1) is cluster-scoped, and only a ClusterPropagationPolicy can select it",
        ),
        (
            policy(
                "name: p, namespace: shop",
                "apiVersion: v1, kind: ConfigMap, labelSelector: {matchExpressions: [{key: app, operator: NotIn, values: [some app]}]}",
                "placement: {}",
            ) + &shop,
            "no label can be `some app`, so that the selector matches nothing",
        ),
        (
            policy(
                "name: p, namespace: shop",
                CONFIG_MAPS,
                "placement: {clusterAffinity: {fieldSelector: {matchExpressions: [{key: region, operator: In, values: [North Europe]}]}}}",
            ) + &shop,
            "no label can be `North Europe`",
        ),
        (
            policy(
                "name: p, namespace: shop",
                CONFIG_MAPS,
                "placement: {clusterAffinity: {labelSelector: {matchExpressions: [{key: env, operator: NotIn}]}}}",
            ) + &shop,
            "the operator `NotIn` needs at least one value",
        ),
        (
            policy(
                "name: p, namespace: shop",
                CONFIG_MAPS,
                "placement: {clusterAffinity: {labelSelector: {matchExpressions: [{key: env, operator: DoesNotExist, values: [x]}]}}}",
            ) + &shop,
            "the operator `DoesNotExist` takes no values",
        ),
        (
            policy(
                "name: p, namespace: shop",
                "apiVersion: v1, kind: ConfigMap, labelSelector: {matchExpressions: [{key: app, operator: Gt, values: ['1']}]}",
                "placement: {}",
            ) + &shop,
            "label selectors have no operator `Gt`, so that the selector matches nothing",
        ),
    ] {
        let found = reviewed(&objects);
        assert!(found.contains(expected), "{objects}{found}");
    }
}

#[test]
fn an_overlay_that_splits_a_policy_moves_what_the_new_one_takes_over() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::write(&file, text).expect("the file can be written");
        file.display().to_string()
    };
    let claim = "annotations: {propagationpolicy.karmada.io/namespace: shop, propagationpolicy.karmada.io/name: all}";
    let deployments = "apiVersion: apps/v1, kind: Deployment";
    let at = |cluster: &str| format!("placement: {{clusterAffinity: {{clusterNames: [{cluster}]}}}}");
    let second = CLUSTERS.replace("m1", "m2");
    let dump = format!(
        "{CLUSTERS}{second}{}apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: web, namespace: shop, resourceVersion: '8', {claim}}}\nspec: \
         {{replicas: 4}}\n---\napiVersion: work.karmada.io/v1alpha2\nkind: ResourceBinding\nmetadata: {{name: web-deployment, \
         namespace: shop, {claim}}}\nspec:\n  resource: {{apiVersion: apps/v1, kind: Deployment, namespace: shop, name: web, \
         resourceVersion: '7'}}\n  replicas: 4\n  clusters: [{{name: m1, replicas: 4}}]\n  {}\n",
        policy("name: all, namespace: shop", deployments, &at("m1")),
        at("m1")
    );
    let dump = write("dump.yaml", &dump);
    let narrowed = policy(
        "name: all, namespace: shop",
        &format!("{deployments}, name: api"),
        &at("m1"),
    );
    let web = policy(
        "name: web, namespace: shop",
        &format!("{deployments}, name: web"),
        &at("m2"),
    );
    let lazy = policy(
        "name: all, namespace: shop",
        deployments,
        &format!("activationPreference: Lazy\n  {}", at("m2")),
    );
    for (overlay, expected) in [
        (narrowed.clone() + &web, "m1 −4  m2 +4"),
        (narrowed, "nothing changes"),
        (web, "nothing changes"),
        (
            lazy,
            "is lazy: its binding takes the placement with the next change of the workload's specification",
        ),
    ] {
        let overlay = write("overlay.yaml", &overlay);
        let (_, stdout, stderr) = run(&["diff", "-f", &dump, "--overlay", &overlay]);
        assert!(format!("{stdout}{stderr}").contains(expected), "{stdout}{stderr}");
    }
}

#[test]
fn objects_that_change_what_a_result_leads_to_are_said_once() {
    let workload = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\nspec:\n  replicas: 4\n  template: {spec: \
                    {containers: [{resources: {requests: {cpu: 2}}}]}}\n---\n";
    let policy = policy(
        "name: web, namespace: shop",
        "apiVersion: apps/v1, kind: Deployment, name: web",
        "dependentOverrides: [music]\n  suspension: {dispatching: true}\n  placement: {replicaScheduling: {replicaSchedulingType: Divided, \
         replicaDivisionPreference: Aggregated}}",
    );
    let beside = "apiVersion: policy.karmada.io/v1alpha1
kind: FederatedResourceQuota
metadata: {name: all, namespace: shop}
spec: {overall: {cpu: 5}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: ClusterOverridePolicy
metadata: {name: none}
spec: {overrideRules: [{overriders: {plaintext: [{path: /spec/replicas, operator: replace, value: 0}]}}]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: own, namespace: kube-system}
";
    let found = reviewed(&format!("{workload}{policy}{beside}"));
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("all.yaml");
    fs::write(&file, format!("{CLUSTERS}{workload}{policy}{beside}")).expect("the file can be written");
    let (_, _, stderr) = run(&["schedule", "-f", &file.display().to_string()]);
    for (code, expected) in [
        (
            "quota-exceeded",
            "would be exceeded, by 8 of 5 `cpu`: with Karmada's feature gate FederatedQuotaEnforcement, the result of 1 binding is refused",
        ),
        (
            "overridden-replicas",
            "sets `/spec/replicas` to 0 on every cluster, after scheduling: 1 binding runs another number than its result has",
        ),
        (
            "suspended",
            "suspends dispatching to every cluster: the result of 1 binding is not applied there",
        ),
        (
            "missing-override",
            "waits for override policies in `dependentOverrides` that the input lacks",
        ),
    ] {
        assert!(found.contains(code) && found.contains(expected), "{code}: {found}");
        assert_eq!(stderr.matches(expected).count(), 1, "{code}: {stderr}");
    }
    let reserved =
        "1 resource in reserved namespaces, from which Karmada propagates nothing: ConfigMap kube-system/own";
    assert!(stderr.contains(reserved), "{stderr}");
}
