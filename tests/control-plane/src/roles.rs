//! The rights that a scheduler needs, and no more.

use serde_json::{Value, json};

use crate::Error;
use crate::objects::{CLUSTER_ROLE, CLUSTER_ROLE_BINDING, Objects};
use crate::users::SCHEDULERS;

/// The role of schedulers: they read everything that decides, and write results, events and their lease.
fn role() -> Value {
    let read = ["get", "list", "watch"];
    json!({
        "metadata": {"name": "divvy-scheduler"},
        "rules": [
            {"apiGroups": ["cluster.karmada.io"], "resources": ["clusters"], "verbs": read},
            {"apiGroups": ["policy.karmada.io"],
             "resources": ["propagationpolicies", "clusterpropagationpolicies", "federatedresourcequotas"], "verbs": read},
            {"apiGroups": ["work.karmada.io"], "resources": ["resourcebindings", "clusterresourcebindings"],
             "verbs": ["get", "list", "watch", "patch"]},
            {"apiGroups": ["work.karmada.io"],
             "resources": ["resourcebindings/status", "clusterresourcebindings/status"], "verbs": ["patch"]},
            {"apiGroups": ["", "events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
            {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create", "get", "update", "patch"]},
            {"apiGroups": [""], "resources": ["services"], "verbs": read},
        ],
    })
}

/// Gives the group of schedulers its rights. `objects` must act as an administrator.
pub async fn grant(objects: &Objects) -> Result<(), Error> {
    objects.create(CLUSTER_ROLE, &role()).await?;
    let binding = json!({
        "metadata": {"name": "divvy-scheduler"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "divvy-scheduler"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": SCHEDULERS}],
    });
    objects.create(CLUSTER_ROLE_BINDING, &binding).await?;
    Ok(())
}
