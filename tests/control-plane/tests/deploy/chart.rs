//! `packaging/chart` renders the objects of `examples/deploy`, and what it renders with other values is accepted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use divvy_control_plane_tests::source_folder;
use divvy_spanned::yaml;
use serde_json::{Value, json};

use crate::manifests::Manifest;
use crate::{Failure, Fixture, deployed};

/// Labels that only a release has.
const LABELS_OF_RELEASE: [&str; 2] = ["app.kubernetes.io/managed-by", "helm.sh/chart"];

pub(crate) fn packaging() -> PathBuf {
    source_folder().join("../../packaging")
}

/// The output of a program; its errors if it fails.
pub(crate) fn run(command: &mut Command) -> Result<String, Failure> {
    let output = command
        .output()
        .map_err(|error| format!("{} cannot be run: {error}", command.get_program().display()))?;
    if output.status.success() {
        return Ok(String::from_utf8(output.stdout)?);
    }
    Err(String::from_utf8_lossy(&output.stderr).into())
}

/// Helm or kustomize, built once.
pub(crate) fn tool(name: &str) -> Result<Command, Failure> {
    let folder = run(&mut Command::new(packaging().join("tools/build")))?;
    let mut command = Command::new(Path::new(folder.trim()).join(name));
    // Neither reads the settings of whoever runs the tests.
    command.env_remove("KUBECONFIG").env("HOME", "/nonexistent");
    Ok(command)
}

fn kustomized(folder: &str) -> Result<String, Failure> {
    run(tool("kustomize")?.arg("build").arg(deployed(folder)))
}

pub(crate) fn rendered(values: &[&str]) -> Result<String, Failure> {
    let mut helm = tool("helm")?;
    helm.args(["template", "divvy", "--namespace", "karmada-system"]);
    helm.arg(packaging().join("chart"));
    let image = [r#"image.repository="registry.invalid/divvy""#];
    run(helm.args(image.iter().chain(values).flat_map(|value| ["--set-json", value])))
}

/// The objects in a text, by kind and name, without what only a release has.
pub(crate) fn objects(text: &str) -> Result<BTreeMap<String, Value>, Failure> {
    let (documents, faults) = yaml::parse(text, 1);
    if let Some(fault) = faults.first() {
        return Err(format!("{fault:?}").into());
    }
    let mut objects = BTreeMap::new();
    for document in documents {
        let mut object = document.to_json();
        if object.is_null() {
            continue;
        }
        if let Some(labels) = object.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
            labels.retain(|label, _| !LABELS_OF_RELEASE.contains(&label.as_str()));
            if labels.is_empty() {
                object["metadata"]
                    .as_object_mut()
                    .map(|metadata| metadata.remove("labels"));
            }
        }
        let name = format!("{} {}", object["kind"], object["metadata"]["name"]);
        let other = objects.insert(name.clone(), object);
        assert_eq!(other, None, "{name} is there twice");
    }
    Ok(objects)
}

#[test]
fn the_chart_renders_what_kustomize_does() -> Result<(), Failure> {
    let monitoring = objects(&kustomized("monitoring")?)?;
    for mode in ["shadow", "beside", "instead"] {
        let expected = objects(&kustomized(mode)?)?;
        assert_eq!(expected.len(), 5, "{mode}: {:?}", expected.keys());
        let mode = format!("mode={}", json!(mode));
        let actual = objects(&rendered(&[&mode])?)?;
        for (name, object) in &expected {
            assert_eq!(actual.get(name), Some(object), "{mode}: {name}");
        }
        assert_eq!(actual.len(), expected.len(), "{mode}");

        let all = expected.into_iter().chain(monitoring.clone());
        let actual = rendered(&[&mode, "monitoring.enabled=true"])?;
        assert_eq!(objects(&actual)?, all.collect(), "{mode}");
    }
    for (mode, folder) in [
        ("shadow", "karmada-shadow"),
        ("beside", "karmada"),
        ("instead", "karmada"),
    ] {
        let expected = objects(&kustomized(folder)?)?;
        assert!(expected.len() >= 10, "{:?}", expected.keys());
        let mode = format!("mode={}", json!(mode));
        assert_eq!(
            objects(&rendered(&[r#"cluster="karmada""#, &mode])?)?,
            expected,
            "{mode}"
        );
    }
    Ok(())
}

/// Values that use every possibility of the chart.
const EVERYTHING: [&str; 29] = [
    r#"mode="instead""#,
    "replicas=3",
    "enabled=true",
    r#"nameOverride="divvy-a""#,
    r#"image={"repository":"registry.example/divvy","pullPolicy":"Always"}"#,
    r#"image.digest="sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef""#,
    r#"imagePullSecrets=[{"name":"registry"}]"#,
    r#"profileConfigMap="my-profile""#,
    r#"kubeconfigSecret="my-kubeconfig""#,
    r#"arguments=["--estimators","--scheduler-name=a: b"]"#,
    r#"env=[{"name":"DIVVY_LOG","value":"debug"}]"#,
    r#"extraVolumes=[{"name":"plugins","image":{"reference":"registry.example/plugins:1","pullPolicy":"Always"}}]"#,
    r#"extraVolumeMounts=[{"name":"plugins","mountPath":"/plugins","readOnly":true}]"#,
    r#"volumes=[{"name":"tables","emptyDir":{}}]"#,
    r#"volumeMounts=[{"name":"tables","mountPath":"/tables"}]"#,
    r#"initContainers=[{"name":"pull","image":"registry.example/divvy","args":["--version"]}]"#,
    // What OpenShift wants to choose itself.
    r#"podSecurityContext={"runAsNonRoot":true}"#,
    r#"securityContext={"readOnlyRootFilesystem":true}"#,
    r#"resources={"limits":{"memory":"2Gi"}}"#,
    r#"priorityClassName="""#,
    r#"podAnnotations={"a":"true"}"#,
    r#"podLabels={"b":"1"}"#,
    r#"nodeSelector={"kubernetes.io/os":"linux"}"#,
    r#"tolerations=[{"operator":"Exists"}]"#,
    r#"affinity={"nodeAffinity":{}}"#,
    r#"networkPolicy.namespace="observability""#,
    r#"networkPolicy.egress=[{"ports":[{"port":5443}]},{"ports":[{"port":53,"protocol":"UDP"}]}]"#,
    r#"rights={"leases":["divvy-a"],"token":false}"#,
    r#"global={}"#,
];

fn defaults() -> Result<Value, Failure> {
    let text = std::fs::read_to_string(packaging().join("chart/values.yaml"))?;
    let (documents, _) = yaml::parse(&text, 1);
    Ok(documents.first().ok_or("no values")?.to_json())
}

#[tokio::test]
async fn every_value_has_an_effect_that_the_api_server_accepts() -> Result<(), Failure> {
    for name in defaults()?.as_object().ok_or("the values are no object")?.keys() {
        let is_used = EVERYTHING.iter().any(|value| value.starts_with(name));
        assert!(
            is_used || ["cluster", "profile", "monitoring"].contains(&name.as_str()),
            "{name} is not tried"
        );
    }
    let fixture = Fixture::start().await?;
    let of_host = rendered(&EVERYTHING)?;
    let of_karmada = rendered(&[&EVERYTHING[..], &[r#"cluster="karmada""#]].concat())?;
    for text in [&of_host, &of_karmada] {
        for manifest in Manifest::of_text(Path::new("the chart"), text)? {
            manifest.apply(&fixture.admin, "&dryRun=All").await?;
        }
    }

    let of_host = objects(&of_host)?;
    let deployment = &of_host[r#""Deployment" "divvy-a""#];
    assert_eq!(deployment["spec"]["replicas"], json!(3));
    let pod = &deployment["spec"]["template"];
    let container = &pod["spec"]["containers"][0];
    assert_eq!(
        container["image"],
        json!("registry.example/divvy:0.1.0@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef")
    );
    assert_eq!(container["args"][3], "--estimators");
    assert_eq!(container["args"][4], "--scheduler-name=a: b");
    assert_eq!(container["env"][1], json!({"name": "DIVVY_LOG", "value": "debug"}));
    assert_eq!(container["resources"]["limits"], json!({"memory": "2Gi"}));
    assert_eq!(pod["metadata"]["annotations"], json!({"a": "true"}));
    assert_eq!(pod["metadata"]["labels"]["b"], json!("1"));
    assert_eq!(pod["spec"]["priorityClassName"], Value::Null);
    assert_eq!(pod["spec"]["volumes"][1]["configMap"]["name"], json!("my-profile"));
    assert!(!of_host.contains_key(r#""ConfigMap" "divvy-a-profile""#));
    assert_eq!(pod["spec"]["volumes"][2]["name"], "tables");
    assert_eq!(
        pod["spec"]["volumes"][3],
        json!({"name": "plugins", "image": {"reference": "registry.example/plugins:1", "pullPolicy": "Always"}})
    );
    assert_eq!(container["volumeMounts"][2]["mountPath"], "/tables");
    assert_eq!(container["volumeMounts"][3]["mountPath"], "/plugins");
    assert_eq!(pod["spec"]["initContainers"][0]["args"], json!(["--version"]));
    assert_eq!(pod["spec"]["securityContext"], json!({"runAsNonRoot": true}));
    assert_eq!(container["securityContext"], json!({"readOnlyRootFilesystem": true}));
    let policy = &of_host[r#""NetworkPolicy" "divvy-a""#]["spec"];
    assert_eq!(policy["policyTypes"], json!(["Ingress", "Egress"]));
    assert_eq!(policy["egress"][0], json!({"ports": [{"port": 5443}]}));
    let of_karmada = objects(&of_karmada)?;
    assert!(!of_karmada.contains_key(r#""Secret" "divvy-token""#));
    assert_eq!(
        of_karmada[r#""Role" "divvy""#]["rules"][1]["resourceNames"],
        json!(["divvy-a"])
    );
    Ok(())
}

/// The keys of values, with those of values within, as far as the schema names them.
fn keys(schema: &Value, values: &Value, prefix: &str, only_in: &mut Vec<String>) {
    let properties = schema["properties"].as_object();
    let values = values.as_object();
    let names: BTreeSet<&String> = properties.into_iter().flatten().map(|(name, _)| name).collect();
    let named: BTreeSet<&String> = values.into_iter().flatten().map(|(name, _)| name).collect();
    only_in.extend(names.symmetric_difference(&named).map(|name| format!("{prefix}{name}")));
    for name in names.intersection(&named) {
        let property = &schema["properties"][*name];
        if !property["description"].is_string() {
            only_in.push(format!("{prefix}{name} has no description"));
        }
        if property["properties"].is_object() {
            let inner = values.map_or(&Value::Null, |values| &values[*name]);
            keys(property, inner, &format!("{prefix}{name}."), only_in);
        }
    }
}

#[test]
fn the_schema_has_exactly_the_values_that_there_are() -> Result<(), Failure> {
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(packaging().join("chart/values.schema.json"))?)?;
    let mut only_in = Vec::new();
    keys(&schema, &defaults()?, "", &mut only_in);
    // Helm adds `global` to the values of every chart.
    assert_eq!(only_in, ["global"]);
    let readme = std::fs::read_to_string(packaging().join("chart/README.md"))?;
    for name in defaults()?.as_object().into_iter().flatten().map(|(name, _)| name) {
        let is_named = readme.contains(&format!("`{name}`")) || readme.contains(&format!("`{name}."));
        assert!(is_named, "README.md does not name `{name}`");
    }
    Ok(())
}

#[test]
fn monitors_have_the_labels_by_which_prometheus_selects_them() -> Result<(), Failure> {
    let labels = r#"monitoring={"enabled":true,"labels":{"release":"prometheus","app.kubernetes.io/name":"other"}}"#;
    let objects = objects(&rendered(&[labels, r#"nameOverride="shadow""#])?)?;
    for kind in ["ServiceMonitor", "PrometheusRule"] {
        let labels = &objects[&format!(r#""{kind}" "shadow""#)]["metadata"]["labels"];
        // The chart's own are kept.
        assert_eq!(
            labels,
            &json!({"release": "prometheus", "app.kubernetes.io/name": "shadow"}),
            "{kind}"
        );
    }
    let selected = &objects[r#""ServiceMonitor" "shadow""#]["spec"]["selector"]["matchLabels"];
    assert_eq!(selected, &objects[r#""Service" "shadow""#]["spec"]["selector"]);
    let rules = objects[r#""PrometheusRule" "shadow""#].to_string();
    assert!(rules.contains(r#"absent(divvy_leader{job=\"shadow\"})"#), "{rules}");
    Ok(())
}

#[test]
fn what_is_wrong_with_values_is_said() -> Result<(), Failure> {
    let mut helm = tool("helm")?;
    helm.args(["lint", "--strict", "--set", "image.repository=registry.example/divvy"]);
    run(helm.arg(packaging().join("chart")))?;
    for (value, expected) in [
        (
            r#"mode="shadows""#,
            "value must be one of 'shadow', 'beside', 'instead'",
        ),
        ("replica=3", "additional properties 'replica' not allowed"),
        ("replicas=0", "minimum: got 0, want 1"),
        (r#"replicas="three""#, "got string, want null or integer"),
        (r#"rights.leases=[]"#, "minItems: got 0, want 1"),
        (r#"nameOverride="Divvy""#, "'Divvy' does not match pattern"),
        (r#"image.digest="latest""#, "'latest' does not match pattern"),
        (r#"extraVolumes=[{"emptyDir":{}}]"#, "missing property 'name'"),
        (r#"monitoring.labels={"release":1}"#, "got number, want string"),
    ] {
        let error = rendered(&[value]).expect_err(value).to_string();
        assert!(error.contains(expected), "{value}: {error}");
    }
    let error = rendered(&[r#"profile="a""#, r#"profileConfigMap="b""#]).expect_err("both");
    assert!(
        error
            .to_string()
            .contains("profile and profileConfigMap: expected one of them"),
        "{error}"
    );
    let mut helm = tool("helm")?;
    helm.args(["template", "divvy", "--namespace", "karmada-system"]);
    let error = run(helm.arg(packaging().join("chart"))).expect_err("no image");
    assert!(
        error
            .to_string()
            .contains("image.repository: expected where your image is"),
        "{error}"
    );
    let mut helm = tool("helm")?;
    helm.args(["template", "divvy", "--set", "cluster=karmada", "--namespace", "other"]);
    let error = run(helm.arg(packaging().join("chart"))).expect_err("the namespace");
    assert!(
        error.to_string().contains("install with --namespace karmada-system"),
        "{error}"
    );
    Ok(())
}
