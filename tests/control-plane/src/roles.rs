//! The rights of schedulers: exactly those of `examples/deploy/karmada/rbac.yaml`, so that a verb that is missing there fails
//! these tests.

use divvy_spanned::yaml;
use serde_json::{Value, json};

use crate::objects::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, Kind, Objects, ROLE, ROLE_BINDING};
use crate::users::SCHEDULERS;
use crate::{Error, source_folder};

/// The manifest, from this crate's folder.
const MANIFEST: &str = "../../examples/deploy/karmada/rbac.yaml";

/// Gives the group of schedulers the rights of Divvy's service account. `objects` must act as an administrator, and the
/// namespace `karmada-system` must exist.
pub async fn grant(objects: &Objects) -> Result<(), Error> {
    let path = source_folder().join(MANIFEST);
    let text = std::fs::read_to_string(&path).map_err(Error::file(&path))?;
    let (documents, faults) = yaml::parse(&text, 1);
    if let Some(fault) = faults.first() {
        return Err(invalid(format!("{fault:?}")));
    }
    for document in documents {
        let mut object = document.to_json();
        let kind = kind_of(&object)?;
        if object["subjects"].is_array() {
            object["subjects"] = json!([
                {"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": SCHEDULERS},
            ]);
        }
        objects.create(kind, &object).await?;
    }
    Ok(())
}

fn kind_of(object: &Value) -> Result<Kind, Error> {
    let kinds = [CLUSTER_ROLE, CLUSTER_ROLE_BINDING, ROLE, ROLE_BINDING];
    let found = kinds.into_iter().find(|kind| object["kind"] == kind.name);
    found.ok_or_else(|| invalid(format!("`{}` grants no rights", object["kind"])))
}

fn invalid(cause: String) -> Error {
    let source = std::io::Error::new(std::io::ErrorKind::InvalidData, cause);
    Error::file(source_folder().join(MANIFEST))(source)
}
