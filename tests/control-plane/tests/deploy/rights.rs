//! Rights of Divvy's service account, and the flow of its requests.

use http::Method;
use kube::Client;
use serde_json::json;

use crate::{Failure, Fixture, eventually, send};

/// A request: verb, group, resource with its subresource, namespace, name.
type Access<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str);

/// True if the user of `client` may make a request.
async fn may(client: &Client, (verb, group, resource, namespace, name): Access<'_>) -> Result<bool, Failure> {
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    let review = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {
            "verb": verb, "group": group, "resource": resource, "subresource": subresource, "namespace": namespace,
            "name": name,
        }},
    });
    let path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
    let (_, answer) = send(client, Method::POST, path, "application/json", review.to_string()).await?;
    let allowed = answer["status"]["allowed"].as_bool();
    allowed.ok_or_else(|| format!("no review: {answer:#}").into())
}

/// Waits until all of these are allowed: rights spread to the API server's cache a moment after they are stored.
async fn until_allowed(client: &Client, allowed: &[Access<'_>]) -> Result<(), Failure> {
    eventually("the rights are in force", async || {
        for access in allowed {
            if !may(client, *access).await? {
                return Ok(Err(format!("{access:?} is not allowed")));
            }
        }
        Ok(Ok(()))
    })
    .await
}

const WORK: &str = "work.karmada.io";
const POLICY: &str = "policy.karmada.io";
const CLUSTER: &str = "cluster.karmada.io";
const LEASES: &str = "coordination.k8s.io";
const SYSTEM: &str = "karmada-system";

#[tokio::test]
async fn divvy_may_do_what_it_does_and_nothing_else() -> Result<(), Failure> {
    let fixture = Fixture::start().await?;
    let divvy = fixture.deploy().await?;
    let allowed: [Access<'_>; 22] = [
        ("list", CLUSTER, "clusters", "", ""),
        ("watch", CLUSTER, "clusters", "", ""),
        ("list", POLICY, "propagationpolicies", "", ""),
        ("watch", POLICY, "propagationpolicies", "", ""),
        ("list", POLICY, "clusterpropagationpolicies", "", ""),
        ("watch", POLICY, "federatedresourcequotas", "", ""),
        ("get", WORK, "resourcebindings", "shop", "web"),
        ("list", WORK, "resourcebindings", "", ""),
        ("watch", WORK, "resourcebindings", "", ""),
        ("patch", WORK, "resourcebindings", "shop", "web"),
        ("patch", WORK, "resourcebindings/status", "shop", "web"),
        ("watch", WORK, "clusterresourcebindings", "", ""),
        ("patch", WORK, "clusterresourcebindings", "", "web"),
        ("patch", WORK, "clusterresourcebindings/status", "", "web"),
        ("create", "", "events", "shop", ""),
        ("patch", "", "events", "shop", "web.1"),
        ("create", LEASES, "leases", SYSTEM, ""),
        ("get", LEASES, "leases", SYSTEM, "karmada-scheduler"),
        ("update", LEASES, "leases", SYSTEM, "karmada-scheduler"),
        ("get", LEASES, "leases", SYSTEM, "divvy-divvy"),
        ("update", LEASES, "leases", SYSTEM, "divvy-divvy"),
        ("get", "", "services", SYSTEM, "karmada-scheduler-estimator-m1"),
    ];
    until_allowed(&divvy, &allowed).await?;
    for denied in [
        ("get", "", "secrets", SYSTEM, "divvy-token"),
        ("list", "", "configmaps", "", ""),
        ("get", "apps", "deployments", "shop", "web"),
        ("list", "", "services", SYSTEM, ""),
        ("get", "", "services", "shop", "web"),
        ("update", WORK, "resourcebindings", "shop", "web"),
        ("delete", WORK, "resourcebindings", "shop", "web"),
        ("create", WORK, "resourcebindings", "shop", ""),
        ("patch", CLUSTER, "clusters", "", "m1"),
        ("patch", CLUSTER, "clusters/status", "", "m1"),
        ("patch", POLICY, "propagationpolicies", "shop", "web"),
        ("delete", "", "events", "shop", "web.1"),
        ("update", LEASES, "leases", SYSTEM, "karmada-controller-manager"),
        ("delete", LEASES, "leases", SYSTEM, "karmada-scheduler"),
        ("create", LEASES, "leases", "shop", ""),
        ("create", "", "serviceaccounts/token", SYSTEM, "divvy"),
        ("impersonate", "", "users", "", "admin"),
    ] {
        assert!(!may(&divvy, denied).await?, "{denied:?} is allowed");
    }
    Ok(())
}

/// The rounds of `run` show that a scheduler in shadow mode needs no other rights than these.
#[tokio::test]
async fn in_shadow_mode_divvy_cannot_write() -> Result<(), Failure> {
    let fixture = Fixture::start().await?;
    let divvy = fixture.deploy_folders(&["karmada", "karmada-shadow"]).await?;
    let allowed: [Access<'_>; 6] = [
        ("list", CLUSTER, "clusters", "", ""),
        ("watch", POLICY, "propagationpolicies", "", ""),
        ("watch", POLICY, "federatedresourcequotas", "", ""),
        ("list", WORK, "resourcebindings", "", ""),
        ("watch", WORK, "clusterresourcebindings", "", ""),
        ("get", "", "services", SYSTEM, "karmada-scheduler-estimator-m1"),
    ];
    until_allowed(&divvy, &allowed).await?;
    eventually("nothing can be written", async || {
        for verb in ["create", "update", "patch", "delete", "deletecollection"] {
            for (group, resource, namespace, name) in [
                (WORK, "resourcebindings", "shop", "web"),
                (WORK, "resourcebindings/status", "shop", "web"),
                (WORK, "clusterresourcebindings", "", "web"),
                (WORK, "clusterresourcebindings/status", "", "web"),
                (LEASES, "leases", SYSTEM, "karmada-scheduler"),
                (LEASES, "leases", SYSTEM, "divvy-divvy"),
                (CLUSTER, "clusters", "", "m1"),
                (POLICY, "propagationpolicies", "shop", "web"),
                ("", "events", "shop", "web.1"),
                ("", "services", SYSTEM, "karmada-scheduler-estimator-m1"),
            ] {
                let access = (verb, group, resource, namespace, name);
                if may(&divvy, access).await? {
                    return Ok(Err(format!("{access:?} is allowed")));
                }
            }
        }
        Ok(Ok(()))
    })
    .await
}

#[tokio::test]
async fn requests_belong_to_their_flow() -> Result<(), Failure> {
    let fixture = Fixture::start().await?;
    let divvy = fixture.deploy().await?;
    for (schema, path) in [
        ("divvy", "/apis/work.karmada.io/v1alpha2/resourcebindings?limit=1"),
        ("divvy", "/apis/cluster.karmada.io/v1alpha1/clusters?limit=1"),
        (
            "divvy-lease",
            "/apis/coordination.k8s.io/v1/namespaces/karmada-system/leases/divvy-divvy",
        ),
    ] {
        let path_of_schema = format!("/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas/{schema}");
        let (_, found) = send(
            &fixture.admin,
            Method::GET,
            &path_of_schema,
            "application/json",
            String::new(),
        )
        .await?;
        let wanted = found["metadata"]["uid"]
            .as_str()
            .ok_or("a flow schema without UID")?
            .to_owned();
        eventually(&format!("{path} belongs to {schema}"), async || {
            let request = http::Request::get(path).body(kube::client::Body::empty())?;
            let response = divvy.send(request).await?;
            let header = response.headers().get("x-kubernetes-pf-flowschema-uid");
            let found = header.and_then(|uid| uid.to_str().ok()).unwrap_or_default().to_owned();
            Ok(if found == wanted { Ok(()) } else { Err(found) })
        })
        .await?;
    }
    Ok(())
}
