//! The inputs, in the forms of `kubectl get -o json` and `kubectl apply`. Every object follows from its number.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use serde_json::{Value, json};

use crate::fleets::{self, Planned};

/// An input in a folder of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// 5,000 clusters and 2,000 bindings, a third of them duplicated.
    Fleet,
    /// 1,000 clusters with 300 APIs and 50,000 bindings as servers store them.
    Dump,
    /// The same clusters with 20,000 bindings.
    Pages,
    /// 100 MB of Deployments and a policy for them.
    Deployments,
    /// The same Deployments as YAML.
    DeploymentsAsYaml,
    /// The same Deployments without a policy.
    DeploymentsAlone,
    /// 50,000 Deployments in one namespace, each with a policy that names it.
    Policies,
    /// The same, with policies that select a label.
    PoliciesByLabel,
    /// 1,000 clusters and 50,000 bindings of a family for plans, after they have grown.
    Planned(Planned),
}

/// Deployments in 100 MB.
const DEPLOYMENTS: usize = 344_025;

impl Input {
    /// Name of its folder.
    pub(crate) fn name(self) -> String {
        let name = match self {
            Self::Planned(planned) => return planned.name(),
            Self::Fleet => "fleet",
            Self::Dump => "dump",
            Self::Pages => "pages",
            Self::Deployments => "deployments",
            Self::DeploymentsAsYaml => "deployments-yaml",
            Self::DeploymentsAlone => "deployments-alone",
            Self::Policies => "policies",
            Self::PoliciesByLabel => "policies-by-label",
        };
        name.to_owned()
    }

    /// Writes the input, unless its folder is there already.
    pub(crate) fn make(self, folder: &Path, scale: usize) -> io::Result<()> {
        if folder.exists() {
            return Ok(());
        }
        let unfinished = folder.with_extension("unfinished");
        std::fs::create_dir_all(&unfinished)?;
        let at = |name: &str| unfinished.join(name);
        let size = |full: usize| full.div_ceil(scale);
        match self {
            Self::Fleet => {
                let clusters = size(5_000);
                list(
                    &at("clusters.json"),
                    (0..clusters).map(|number| cluster(number, 20, false)),
                )?;
                let bindings = (0..size(2_000)).map(|number| binding(number, clusters, false));
                list(&at("bindings.json"), bindings)?;
            }
            Self::Dump | Self::Pages => {
                let clusters = size(1_000);
                list(
                    &at("clusters.json"),
                    (0..clusters).map(|number| cluster(number, 300, true)),
                )?;
                let bindings = (0..size(if self == Self::Dump { 50_000 } else { 20_000 }))
                    .map(|number| binding(number, clusters, true));
                list(&at("bindings.json"), bindings)?;
            }
            Self::Deployments | Self::DeploymentsAsYaml | Self::DeploymentsAlone => {
                list(&at("clusters.json"), (0..20).map(|number| cluster(number, 20, false)))?;
                if self != Self::DeploymentsAlone {
                    list(&at("policies.json"), [policy()])?;
                }
                let deployments = (0..size(DEPLOYMENTS)).map(deployment);
                match self {
                    Self::DeploymentsAsYaml => yaml(&at("deployments.yaml"), size(DEPLOYMENTS))?,
                    _ => list(&at("deployments.json"), deployments)?,
                }
            }
            Self::Policies | Self::PoliciesByLabel => {
                list(&at("clusters.json"), (0..20).map(|number| cluster(number, 20, false)))?;
                let numbers = || 0..size(50_000);
                list(&at("policies.json"), numbers().map(|number| own_policy(number, self)))?;
                list(&at("deployments.json"), numbers().map(labelled_deployment))?;
            }
            Self::Planned(planned) => {
                let grown = planned.grown(scale);
                list(&at("clusters.json"), fleets::clusters(&grown))?;
                list(&at("bindings.json"), fleets::bindings(&grown))?;
            }
        }
        std::fs::rename(unfinished, folder)
    }
}

/// Writes a `List`, one object per line.
fn list(file: &Path, objects: impl IntoIterator<Item = Value>) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    write!(out, "{{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":[")?;
    for (number, object) in objects.into_iter().enumerate() {
        writeln!(out, "{}", if number == 0 { "" } else { "," })?;
        serde_json::to_writer(&mut out, &object)?;
    }
    writeln!(out, "]}}")?;
    out.flush()
}

/// Numbers without a pattern, the same in every run.
fn scattered(number: usize, below: usize) -> usize {
    // Constants of a 64-bit mixing function (SplitMix64).
    let mut mixed = (number as u64).wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) % below.max(1) as u64) as usize
}

pub(crate) fn cluster_name(number: usize) -> String {
    format!("member-{number:05}")
}

/// `managedFields` as an API server keeps them: about as long as the object.
fn managed_fields(paths: &[&str]) -> Value {
    let fields: serde_json::Map<String, Value> = paths.iter().map(|path| (format!("f:{path}"), json!({}))).collect();
    let entry = |manager: &str, subresource: &str| {
        json!({
            "apiVersion": "work.karmada.io/v1alpha2", "fieldsType": "FieldsV1", "manager": manager, "operation": "Update",
            "subresource": subresource, "time": "2026-01-01T00:00:00Z",
            "fieldsV1": {"f:metadata": {"f:annotations": {".": {}, "f:policy.karmada.io/applied-placement": {}},
                "f:finalizers": {".": {}, "v:\"karmada.io/binding-controller\"": {}}, "f:labels": {".": {}}},
                "f:spec": fields.clone(), "f:status": fields.clone()},
        })
    };
    json!([
        entry("karmada-controller-manager", ""),
        entry("karmada-scheduler", ""),
        entry("karmada-controller-manager", "status")
    ])
}

pub(crate) fn cluster(number: usize, apis: usize, is_served: bool) -> Value {
    let name = cluster_name(number);
    let region = format!("region-{}", number % 8);
    let groups = (0..apis.div_ceil(10)).map(|group| {
        let kinds = (group * 10..apis.min(group * 10 + 10))
            .map(|kind| json!({"name": format!("resources{kind}"), "kind": format!("Resource{kind}")}));
        json!({"groupVersion": format!("group{group}.example.io/v1"), "resources": kinds.collect::<Vec<_>>()})
    });
    let apps = json!({"groupVersion": "apps/v1", "resources": [{"name": "deployments", "kind": "Deployment"}]});
    let condition = |kind: &str| json!({"type": kind, "status": "True", "reason": kind, "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"});
    let cores = 64 + scattered(number, 960);
    let mut cluster = json!({
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": name, "labels": {"example.io/region": region, "example.io/tier": format!("tier-{}", number % 3)}},
        "spec": {
            "id": name, "syncMode": "Push", "apiEndpoint": format!("https://{name}.example:6443"),
            "provider": "example", "region": region, "zones": [format!("{region}-a")],
        },
        "status": {
            "kubernetesVersion": "v1.34.0",
            "apiEnablements": std::iter::once(apps).chain(groups).collect::<Vec<_>>(),
            "conditions": [condition("Ready"), condition("CompleteAPIEnablements")],
            "nodeSummary": {"totalNum": cores / 16, "readyNum": cores / 16},
            "resourceSummary": {
                "allocatable": {"cpu": cores.to_string(), "memory": format!("{}Gi", cores * 4), "pods": (cores * 30).to_string()},
                "allocated": {"cpu": (cores / 4).to_string(), "memory": format!("{}Gi", cores), "pods": (cores * 6).to_string()},
            },
        },
    });
    if is_served {
        let paths: Vec<String> = (0..40).map(|path| format!("apiEnablements-{path}")).collect();
        let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
        cluster["metadata"]["uid"] = json!(format!("6f2c8a4e-0d1b-4b7e-9c33-{number:012}"));
        cluster["metadata"]["resourceVersion"] = json!((1_000_000 + number).to_string());
        cluster["metadata"]["generation"] = json!(2);
        cluster["metadata"]["managedFields"] = managed_fields(&paths);
    }
    cluster
}

/// Three clusters, far from each other.
fn three(number: usize, clusters: usize) -> Vec<String> {
    let first = scattered(number, clusters);
    let names = (0..3).map(|step| cluster_name((first + step * clusters / 3) % clusters));
    names.collect()
}

/// A third each: duplicated to all clusters (in a dump: of one region), divided by what is free, aggregated.
fn placement(number: usize, clusters: usize, is_served: bool) -> Value {
    let everywhere = json!({});
    let region =
        json!({"labelSelector": {"matchLabels": {"example.io/region": format!("region-{}", scattered(number, 8))}}});
    let (affinity, scheduling) = match number % 3 {
        0 if is_served && !number.is_multiple_of(30) => {
            let names: Vec<String> = (0..3)
                .map(|step| cluster_name(scattered(number * 3 + step, clusters)))
                .collect();
            (
                json!({"clusterNames": names}),
                json!({"replicaSchedulingType": "Duplicated"}),
            )
        }
        0 if is_served => (region, json!({"replicaSchedulingType": "Duplicated"})),
        0 => (everywhere, json!({"replicaSchedulingType": "Duplicated"})),
        1 => (
            region,
            json!({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
                "weightPreference": {"dynamicWeight": "AvailableReplicas"}}),
        ),
        _ => (
            everywhere,
            json!({"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}),
        ),
    };
    json!({
        "clusterAffinity": affinity,
        "clusterTolerations": [
            {"key": "cluster.karmada.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
            {"key": "cluster.karmada.io/unreachable", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300},
        ],
        "replicaScheduling": scheduling,
    })
}

/// The binding of a Deployment with this number, and the rest of its specification.
pub(crate) fn deployment_binding(number: usize, mut specification: Value) -> Value {
    let name = format!("web-{number:05}");
    let namespace = format!("team-{}", number % 40);
    specification["resource"] =
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "namespace": namespace, "name": name});
    json!({
        "apiVersion": "work.karmada.io/v1alpha2",
        "kind": "ResourceBinding",
        "metadata": {"namespace": namespace, "name": format!("{name}-deployment")},
        "spec": specification,
    })
}

/// A binding: in a fleet, every second one that is divided has a result; in a dump all have one that satisfies them.
fn binding(number: usize, clusters: usize, is_served: bool) -> Value {
    let replicas = 2 + scattered(number, 40);
    let placement = placement(number, clusters, is_served);
    let specification = json!({
        "replicas": replicas,
        "replicaRequirements": {"resourceRequest": {"cpu": "100m", "memory": "128Mi"}},
        "placement": placement.clone(),
    });
    let mut binding = deployment_binding(number, specification);
    if !is_served && (number.is_multiple_of(2) || number.is_multiple_of(3)) {
        return binding;
    }
    let region = scattered(number, 8);
    let targets: Vec<Value> = match number % 3 {
        0 if !number.is_multiple_of(30) => {
            let names = three(number, clusters).into_iter();
            names.map(|name| json!({"name": name, "replicas": replicas})).collect()
        }
        0 => {
            let in_region = (0..clusters).filter(|cluster| cluster % 8 == region);
            in_region
                .map(|cluster| json!({"name": cluster_name(cluster), "replicas": replicas}))
                .collect()
        }
        1 => {
            let first = scattered(number + 7, clusters / 8);
            let at = |step: usize| (first + step) % (clusters / 8).max(1) * 8 + region;
            let one = |step| json!({"name": cluster_name(at(step).min(clusters - 1)), "replicas": 1});
            (0..replicas.min(clusters / 8)).map(one).collect()
        }
        _ => vec![json!({"name": cluster_name(scattered(number + 7, clusters)), "replicas": replicas})],
    };
    if is_served {
        as_served(&mut binding, number, &placement, &targets);
    }
    binding["spec"]["clusters"] = Value::Array(targets);
    binding
}

/// Adds what Karmada's controllers and the API server write.
pub(crate) fn as_served(binding: &mut Value, number: usize, placement: &Value, targets: &[Value]) {
    let metadata = &mut binding["metadata"];
    metadata["uid"] = json!(format!("0b8f6c1e-2f64-4c39-8a55-{number:012}"));
    metadata["resourceVersion"] = json!((2_000_000 + number).to_string());
    metadata["generation"] = json!(3);
    metadata["finalizers"] = json!(["karmada.io/binding-controller"]);
    metadata["labels"] = json!({
        "propagationpolicy.karmada.io/permanent-id": "5f0f5d3c-7a3f-4d0e-9d7c-1c5a3b9e2f10",
        "resourcebinding.karmada.io/permanent-id": format!("1c9f6c1e-2f64-4c39-8a55-{number:012}"),
    });
    metadata["annotations"] = json!({
        "policy.karmada.io/applied-placement": placement.to_string(),
        "propagationpolicy.karmada.io/name": "all", "propagationpolicy.karmada.io/namespace": "default",
    });
    metadata["managedFields"] = managed_fields(&[
        "clusters",
        "conflictResolution",
        "placement",
        "replicaRequirements",
        "replicas",
        "resource",
    ]);
    let of_target = |target: &Value| {
        json!({
            "applied": true, "clusterName": target["name"], "health": "Healthy",
            "status": {"availableReplicas": target["replicas"], "generation": 1, "observedGeneration": 1,
                "readyReplicas": target["replicas"], "replicas": target["replicas"],
                "resourceTemplateGeneration": 1, "updatedReplicas": target["replicas"]},
        })
    };
    let condition = |kind: &str, message: &str| {
        json!({"type": kind, "status": "True", "reason": "Success", "message": message,
            "lastTransitionTime": "2026-01-01T00:00:00Z"})
    };
    binding["spec"]["resource"]["uid"] = json!(format!("7a2c8a4e-0d1b-4b7e-9c33-{number:012}"));
    binding["spec"]["resource"]["resourceVersion"] = json!((3_000_000 + number).to_string());
    binding["spec"]["conflictResolution"] = json!("Abort");
    binding["spec"]["schedulerName"] = json!("default-scheduler");
    binding["status"] = json!({
        "aggregatedStatus": targets.iter().map(of_target).collect::<Vec<_>>(),
        "conditions": [
            condition("Scheduled", "Binding has been scheduled successfully."),
            condition("FullyApplied", "All works have been successfully applied"),
        ],
        "lastScheduledTime": "2026-01-01T00:00:00Z",
        "schedulerObservedGeneration": 3,
    });
}

fn policy() -> Value {
    json!({
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterPropagationPolicy",
        "metadata": {"name": "all"},
        "spec": {
            "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
            "placement": {"replicaScheduling": {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}},
        },
    })
}

/// The policy of one Deployment alone.
fn own_policy(number: usize, input: Input) -> Value {
    let name = format!("web-{number:06}");
    let mut selector = json!({"apiVersion": "apps/v1", "kind": "Deployment"});
    match input {
        Input::PoliciesByLabel => {
            selector["labelSelector"] = json!({"matchLabels": {"app": name, "tier": "web"}});
        }
        _ => selector["name"] = json!(name),
    }
    let mut policy = policy();
    policy["kind"] = json!("PropagationPolicy");
    policy["metadata"] = json!({"name": name, "namespace": "shop"});
    policy["spec"]["resourceSelectors"] = json!([selector]);
    policy
}

fn labelled_deployment(number: usize) -> Value {
    let mut deployment = deployment(number);
    deployment["metadata"]["namespace"] = json!("shop");
    deployment["metadata"]["labels"] = json!({"app": deployment["metadata"]["name"], "tier": "web"});
    deployment
}

fn deployment(number: usize) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": format!("web-{number:06}"), "namespace": format!("team-{}", number % 40)},
        "spec": {
            "replicas": 2 + scattered(number, 5),
            "template": {"spec": {"containers": [
                {"name": "web", "image": format!("registry.example/web:{number}"),
                    "resources": {"requests": {"cpu": "1m", "memory": "1Mi"}}},
            ]}},
        },
    })
}

/// Writes the same Deployments as documents of YAML.
fn yaml(file: &Path, count: usize) -> io::Result<()> {
    let mut out = BufWriter::new(File::create(file)?);
    for number in 0..count {
        let (team, replicas) = (number % 40, 2 + scattered(number, 5));
        write!(
            out,
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web-{number:06}\n  namespace: team-{team}\nspec:\n  \
             replicas: {replicas}\n  template:\n    spec:\n      containers:\n        - name: web\n          \
             image: registry.example/web:{number}\n          resources:\n            requests:\n              \
             cpu: 1m\n              memory: 1Mi\n"
        )?;
    }
    out.flush()
}
