//! Every manifest is what the API server accepts, and part of a kustomization.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use divvy_spanned::yaml;
use http::Method;
use kube::Client;
use serde_json::{Value, json};

use crate::{Failure, Fixture, deployed, eventually, read, send};

/// Folders with a kustomization.
const FOLDERS: [&str; 7] = [
    "karmada",
    "karmada-shadow",
    "host",
    "beside",
    "shadow",
    "instead",
    "monitoring",
];

/// One object of a manifest file.
pub(crate) struct Manifest {
    file: PathBuf,
    /// The text, as `kubectl apply` sends it.
    text: String,
    object: Value,
}

/// The objects in the YAML files of a folder, except for its kustomization.
pub(crate) fn of_folder(folder: &str) -> Result<Vec<Manifest>, Failure> {
    let mut manifests = Vec::new();
    for file in files(folder)? {
        if file.extension().is_none_or(|extension| extension != "yaml") || file.ends_with("kustomization.yaml") {
            continue;
        }
        manifests.extend(Manifest::of_text(&file, &read(&file)?)?);
    }
    Ok(manifests)
}

fn files(folder: &str) -> Result<Vec<PathBuf>, Failure> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(deployed(folder))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    files.sort();
    Ok(files)
}

fn parsed(file: &Path, text: &str) -> Result<Value, Failure> {
    let (documents, faults) = yaml::parse(text, 1);
    match (documents.as_slice(), faults.as_slice()) {
        ([document], []) => Ok(document.to_json()),
        _ => Err(format!("{}: expected one document: {faults:?}", file.display()).into()),
    }
}

impl Manifest {
    /// The objects in a text of this file.
    pub(crate) fn of_text(file: &Path, text: &str) -> Result<Vec<Self>, Failure> {
        let documents = text.split("\n---\n").filter(|text| !text.trim().is_empty());
        documents
            .map(|text| {
                Ok(Self {
                    file: file.to_owned(),
                    object: parsed(file, text)?,
                    text: text.to_owned(),
                })
            })
            .collect()
    }

    /// Applies the object on the server's side. Unknown fields are errors. `options` begins with `&` if it is not empty.
    pub(crate) async fn apply(&self, client: &Client, options: &str) -> Result<Value, Failure> {
        let path = format!("{}?fieldManager=tests&fieldValidation=Strict{options}", self.path()?);
        let (status, answer) = send(
            client,
            Method::PATCH,
            &path,
            "application/apply-patch+yaml",
            self.text.clone(),
        )
        .await?;
        if status.is_success() {
            return Ok(answer);
        }
        Err(format!("{}: {path}: {status} {answer:#}", self.file.display()).into())
    }

    /// The path of the object in the API.
    fn path(&self) -> Result<String, Failure> {
        let text = |pointer: &str| self.object.pointer(pointer).and_then(Value::as_str);
        let (Some(api), Some(kind), Some(name)) = (text("/apiVersion"), text("/kind"), text("/metadata/name")) else {
            return Err(format!("{}: not an object: {}", self.file.display(), self.object).into());
        };
        let root = if api.contains('/') { "apis" } else { "api" };
        let namespace = text("/metadata/namespace").map(|namespace| format!("/namespaces/{namespace}"));
        let plural = match kind.to_lowercase() {
            kind if kind.ends_with('y') => format!("{}ies", kind.trim_end_matches('y')),
            kind => format!("{kind}s"),
        };
        Ok(format!(
            "/{root}/{api}{}/{plural}/{name}",
            namespace.unwrap_or_default()
        ))
    }
}

#[test]
fn every_file_is_part_of_a_kustomization_and_exists() -> Result<(), Failure> {
    for folder in FOLDERS {
        let file = deployed(folder).join("kustomization.yaml");
        let kustomization = parsed(&file, &read(&file)?)?;
        let listed = |value: &Value| -> Vec<String> {
            let items = value.as_array().into_iter().flatten();
            items.filter_map(Value::as_str).map(ToOwned::to_owned).collect()
        };
        let mut named = listed(&kustomization["resources"]);
        for generator in kustomization["configMapGenerator"].as_array().into_iter().flatten() {
            named.extend(listed(&generator["files"]));
        }
        for patch in kustomization["patches"].as_array().into_iter().flatten() {
            named.extend(patch["path"].as_str().map(str::to_owned));
        }
        for name in &named {
            assert!(deployed(folder).join(name).exists(), "{folder}: {name} does not exist");
        }
        let own: BTreeSet<String> = named.into_iter().filter(|name| !name.starts_with("..")).collect();
        let present: BTreeSet<String> = files(folder)?
            .iter()
            .filter_map(|file| Some(file.file_name()?.to_str()?.to_owned()))
            .filter(|name| name != "kustomization.yaml")
            .collect();
        assert_eq!(own, present, "{folder}");
    }
    Ok(())
}

/// A definition that accepts everything, for kinds of the Prometheus operator, which is in no registry of ours.
fn definition(kind: &str, plural: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.monitoring.coreos.com")},
        "spec": {
            "group": "monitoring.coreos.com",
            "names": {"kind": kind, "plural": plural},
            "scope": "Namespaced",
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
            }],
        },
    })
}

#[tokio::test]
async fn every_manifest_is_accepted() -> Result<(), Failure> {
    let fixture = Fixture::start().await?;
    let definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    for (kind, plural) in [
        ("ServiceMonitor", "servicemonitors"),
        ("PrometheusRule", "prometheusrules"),
    ] {
        let body = definition(kind, plural).to_string();
        let (status, answer) = send(&fixture.admin, Method::POST, definitions, "application/json", body).await?;
        assert!(status.is_success(), "{answer:#}");
        let list = format!("/apis/monitoring.coreos.com/v1/{plural}");
        eventually("the definition is served", async || {
            // Until then the answer is not even JSON.
            let request = http::Request::get(&list).body(kube::client::Body::empty())?;
            let status = fixture.admin.send(request).await?.status();
            Ok(if status.is_success() {
                Ok(())
            } else {
                Err(status.to_string())
            })
        })
        .await?;
    }
    let mut accepted = 0;
    for folder in FOLDERS {
        for manifest in of_folder(folder)? {
            manifest.apply(&fixture.admin, "&dryRun=All").await?;
            accepted += 1;
        }
    }
    assert!(accepted >= 15, "{accepted} objects");
    Ok(())
}
