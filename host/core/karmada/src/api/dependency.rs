//! Objects that the pods of a workload refer to by name, which follow the workload if its policy says `propagateDeps: true`.
//!
//! They are those of Karmada's default interpreters (`GetDependenciesFromPodTemplate` of `pkg/util/helper/dependencies.go`, and
//! Kubernetes' `VisitPodSecretNames` and `VisitPodConfigmapNames`).

use serde_json::Value;

use super::TypeMeta;

/// The kind of a dependency. All of them are in the core group, and in the namespace of the workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DependencyKind {
    /// `ConfigMap`.
    ConfigMap,
    /// `PersistentVolumeClaim`.
    PersistentVolumeClaim,
    /// `Secret`.
    Secret,
    /// `ServiceAccount`.
    ServiceAccount,
}

impl DependencyKind {
    /// The kind as Kubernetes writes it.
    pub fn word(self) -> &'static str {
        match self {
            Self::ConfigMap => "ConfigMap",
            Self::PersistentVolumeClaim => "PersistentVolumeClaim",
            Self::Secret => "Secret",
            Self::ServiceAccount => "ServiceAccount",
        }
    }
}

/// An object that pods refer to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dependency {
    /// Its kind.
    pub kind: DependencyKind,
    /// Its name.
    pub name: Box<str>,
}

/// The service account that every namespace has.
const DEFAULT_ACCOUNT: &str = "default";
/// Lists of containers in the specification of a pod.
const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];
/// Kinds of volumes with a reference to a Secret.
const VOLUMES_WITH_SECRETS: [&str; 6] = ["cephfs", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos"];

/// The dependencies of an object, sorted; none if it has no pod template.
pub(super) fn dependencies(type_meta: &TypeMeta, object: &Value) -> Box<[Dependency]> {
    let Some(pod) = pod_spec(type_meta, object) else {
        return Box::default();
    };
    let mut found = Found::default();
    found.add_pod(pod);
    // Claims from a StatefulSet's own templates are made in each cluster.
    let templates = at(object, &["spec", "volumeClaimTemplates"]);
    if type_meta.kind == "StatefulSet" && templates.is_some() {
        let own: Vec<&str> = items(templates)
            .filter_map(|claim| text(claim, &["metadata", "name"]))
            .collect();
        found.0.retain(|dependency| {
            dependency.kind != DependencyKind::PersistentVolumeClaim || !own.contains(&&*dependency.name)
        });
    }
    found.0.sort_unstable();
    found.0.dedup();
    found.0.into_boxed_slice()
}

/// The specification of the pods of a workload.
fn pod_spec<'a>(type_meta: &TypeMeta, object: &'a Value) -> Option<&'a Value> {
    let path: &[&str] = match (type_meta.group(), type_meta.kind.as_str()) {
        ("", "Pod") => &["spec"],
        ("batch", "CronJob") => &["spec", "jobTemplate", "spec", "template", "spec"],
        _ => &["spec", "template", "spec"],
    };
    at(object, path)
}

#[derive(Default)]
struct Found(Vec<Dependency>);

impl Found {
    fn add(&mut self, kind: DependencyKind, name: Option<&str>) {
        if let Some(name) = name.filter(|name| !name.is_empty()) {
            let name = name.into();
            self.0.push(Dependency { kind, name });
        }
    }

    fn add_pod(&mut self, pod: &Value) {
        let account = text(pod, &["serviceAccountName"]).filter(|name| *name != DEFAULT_ACCOUNT);
        self.add(DependencyKind::ServiceAccount, account);
        for secret in items(pod.get("imagePullSecrets")) {
            self.add(DependencyKind::Secret, text(secret, &["name"]));
        }
        for container in CONTAINERS.into_iter().flat_map(|list| items(pod.get(list))) {
            self.add_container(container);
        }
        for volume in items(pod.get("volumes")) {
            self.add_volume(volume);
        }
    }

    fn add_container(&mut self, container: &Value) {
        for source in items(container.get("envFrom")) {
            self.add(DependencyKind::ConfigMap, text(source, &["configMapRef", "name"]));
            self.add(DependencyKind::Secret, text(source, &["secretRef", "name"]));
        }
        for variable in items(container.get("env")) {
            self.add(
                DependencyKind::ConfigMap,
                text(variable, &["valueFrom", "configMapKeyRef", "name"]),
            );
            self.add(
                DependencyKind::Secret,
                text(variable, &["valueFrom", "secretKeyRef", "name"]),
            );
        }
    }

    fn add_volume(&mut self, volume: &Value) {
        let claim = text(volume, &["persistentVolumeClaim", "claimName"]);
        self.add(DependencyKind::PersistentVolumeClaim, claim);
        self.add(DependencyKind::ConfigMap, text(volume, &["configMap", "name"]));
        self.add(DependencyKind::Secret, text(volume, &["secret", "secretName"]));
        self.add(DependencyKind::Secret, text(volume, &["azureFile", "secretName"]));
        self.add(
            DependencyKind::Secret,
            text(volume, &["csi", "nodePublishSecretRef", "name"]),
        );
        for kind in VOLUMES_WITH_SECRETS {
            self.add(DependencyKind::Secret, text(volume, &[kind, "secretRef", "name"]));
        }
        for source in items(at(volume, &["projected", "sources"])) {
            self.add(DependencyKind::ConfigMap, text(source, &["configMap", "name"]));
            self.add(DependencyKind::Secret, text(source, &["secret", "name"]));
        }
    }
}

fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

fn text<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    at(value, path)?.as_str()
}

fn items(list: Option<&Value>) -> impl Iterator<Item = &Value> {
    list.and_then(Value::as_array).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(api_version: &str, kind: &str, object: &Value) -> Vec<String> {
        let type_meta = TypeMeta {
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
        };
        let found = dependencies(&type_meta, object);
        let names = found
            .iter()
            .map(|found| format!("{} {}", found.kind.word(), found.name));
        names.collect()
    }

    #[test]
    fn a_pod_template_depends_on_what_it_names() {
        let pod = json!({
            "serviceAccountName": "web",
            "imagePullSecrets": [{"name": "pull"}, {}],
            "initContainers": [{"envFrom": [{"configMapRef": {"name": "init"}}]}],
            "containers": [{
                "envFrom": [{"secretRef": {"name": "all"}}, {"configMapRef": {"name": "settings"}}],
                "env": [
                    {"name": "A", "valueFrom": {"secretKeyRef": {"name": "key", "key": "k"}}},
                    {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "k"}}},
                    {"name": "C", "value": "x"},
                ],
            }],
            "volumes": [
                {"name": "a", "configMap": {"name": "files"}},
                {"name": "b", "secret": {"secretName": "certificate"}},
                {"name": "c", "persistentVolumeClaim": {"claimName": "data"}},
                {"name": "d", "projected": {"sources": [{"secret": {"name": "token"}}, {"configMap": {"name": "authority"}}]}},
                {"name": "e", "csi": {"nodePublishSecretRef": {"name": "driver"}}},
                {"name": "f", "emptyDir": {}},
                {"name": "g", "configMap": {"name": 7}},
            ],
        });
        let expected = [
            "ConfigMap authority",
            "ConfigMap files",
            "ConfigMap init",
            "ConfigMap settings",
            "PersistentVolumeClaim data",
            "Secret all",
            "Secret certificate",
            "Secret driver",
            "Secret key",
            "Secret pull",
            "Secret token",
            "ServiceAccount web",
        ];
        let deployment = json!({"spec": {"template": {"spec": &pod}}});
        assert_eq!(found("apps/v1", "Deployment", &deployment), expected);
        assert_eq!(found("v1", "Pod", &json!({"spec": &pod})), expected);
        let cron = json!({"spec": {"jobTemplate": {"spec": {"template": {"spec": &pod}}}}});
        assert_eq!(found("batch/v1", "CronJob", &cron), expected);
        assert!(found("v1", "Service", &json!({"spec": &pod})).is_empty());
    }

    #[test]
    fn the_default_account_and_claims_of_own_templates_are_in_each_cluster() {
        let set = json!({"spec": {
            "template": {"spec": {
                "serviceAccountName": "default",
                "volumes": [
                    {"name": "a", "persistentVolumeClaim": {"claimName": "own"}},
                    {"name": "b", "persistentVolumeClaim": {"claimName": "shared"}},
                ],
            }},
            "volumeClaimTemplates": [{"metadata": {"name": "own"}}],
        }});
        assert_eq!(found("apps/v1", "StatefulSet", &set), ["PersistentVolumeClaim shared"]);
        assert!(found("apps/v1", "StatefulSet", &json!({"spec": null})).is_empty());
    }
}
