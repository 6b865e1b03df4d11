//! Addresses of estimators, looked up under the rights of `examples/deploy`.

use divvy_controller::lookup::ServicesOfKarmada;
use divvy_estimator::ServiceLookup;
use http::Method;
use serde_json::json;

use crate::{Failure, Fixture, eventually, send};

#[tokio::test]
async fn the_address_of_an_estimator_is_read_from_its_service() -> Result<(), Failure> {
    let fixture = Fixture::start().await?;
    let divvy = ServicesOfKarmada::new(fixture.deploy().await?);
    for (name, spec) in [
        (
            "estimator-m1",
            json!({"type": "ExternalName", "externalName": "m1.example", "ports": [{"port": 10352, "targetPort": 443}]}),
        ),
        ("estimator-m2", json!({"ports": [{"port": 10352}]})),
    ] {
        let service =
            json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name}, "spec": spec}).to_string();
        let path = "/api/v1/namespaces/karmada-system/services";
        let (status, answer) = send(&fixture.admin, Method::POST, path, "application/json", service).await?;
        assert!(status.is_success(), "{answer:#}");
    }
    let found = async |name: &str| {
        let found = divvy.external_name("karmada-system", name, 10352).await;
        found
            .map(|address| address.map(|address| address.to_string()))
            .map_err(|error| error.to_string())
    };
    // Rights spread to the API server's cache a moment after they are stored.
    let none = eventually("the rights are in force", async || Ok(found("estimator-m3").await)).await?;
    assert_eq!(none, None);
    assert_eq!(found("estimator-m1").await, Ok(Some("m1.example:443".to_owned())));
    let error = found("estimator-m2").await.expect_err("a type that is not supported");
    assert!(
        error.ends_with("its type is `ClusterIP`, expected `ExternalName`"),
        "{error}"
    );
    Ok(())
}
