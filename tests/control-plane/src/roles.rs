//! The rights of schedulers: exactly those of `examples/deploy`, so that a verb that is missing there fails these tests.

use divvy_spanned::yaml;
use serde_json::{Value, json};

use crate::objects::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, Kind, Objects, ROLE, ROLE_BINDING};
use crate::users::{OBSERVERS, SCHEDULERS};
use crate::{Error, source_folder};

/// The folder with the manifests, from this crate's.
const MANIFESTS: &str = "../../examples/deploy";
/// Roles, and what binds them to Divvy's service account.
const RIGHTS: &str = "karmada/rbac.yaml";
/// The same roles without any right to write, which a kustomization puts in their place.
const RIGHTS_IN_SHADOW: [&str; 2] = ["karmada-shadow/cluster-role.yaml", "karmada-shadow/role.yaml"];

/// Gives the group of schedulers the rights of Divvy's service account, and that of schedulers in shadow mode those of the service account
/// there. `objects` must act as an administrator, and the namespace `karmada-system` must exist.
pub async fn grant(objects: &Objects) -> Result<(), Error> {
    let rights = read(RIGHTS)?;
    let mut in_shadow = rights.clone();
    for file in RIGHTS_IN_SHADOW {
        for role in read(file)? {
            let is_same = |other: &&mut Value| other["kind"] == role["kind"];
            match in_shadow.iter_mut().find(is_same) {
                Some(other) => *other = role,
                None => return Err(invalid(file, format!("`{}` takes the place of nothing", role["kind"]))),
            }
        }
    }
    for object in &mut in_shadow {
        // Both are on one API server here.
        for name in ["/metadata/name", "/roleRef/name"] {
            if let Some(name) = object.pointer_mut(name) {
                *name = json!("divvy-shadow");
            }
        }
    }
    for (rights, group) in [(rights, SCHEDULERS), (in_shadow, OBSERVERS)] {
        for mut object in rights {
            if object["subjects"].is_array() {
                object["subjects"] = json!([
                    {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": group},
                ]);
            }
            objects.create(kind_of(&object)?, &object).await?;
        }
    }
    Ok(())
}

/// The objects of a manifest.
fn read(file: &str) -> Result<Vec<Value>, Error> {
    let path = source_folder().join(MANIFESTS).join(file);
    let text = std::fs::read_to_string(&path).map_err(Error::file(&path))?;
    let (documents, faults) = yaml::parse(&text, 1);
    match faults.first() {
        Some(fault) => Err(invalid(file, format!("{fault:?}"))),
        None => Ok(documents.into_iter().map(|document| document.to_json()).collect()),
    }
}

fn kind_of(object: &Value) -> Result<Kind, Error> {
    let kinds = [CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING];
    let found = kinds.into_iter().find(|kind| object["kind"] == kind.name);
    found.ok_or_else(|| invalid(RIGHTS, format!("`{}` grants no rights", object["kind"])))
}

fn invalid(file: &str, cause: String) -> Error {
    let source = std::io::Error::new(std::io::ErrorKind::InvalidData, cause);
    Error::file(source_folder().join(MANIFESTS).join(file))(source)
}
