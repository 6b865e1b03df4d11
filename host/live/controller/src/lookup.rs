//! Looks up the Services of accurate estimators in Karmada's API.
//!
//! An operator creates an ExternalName Service there if the estimators do not run in the scheduler's cluster. As in Karmada,
//! only that type counts, and its port must have a number as its target.

use std::fmt::Display;
use std::time::Duration;

use divvy_client::worded;
use divvy_estimator::{Address, LookupError, ServiceLookup};
use futures::future::BoxFuture;
use k8s_openapi::api::core::v1::{Service, ServicePort};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::{Api, Client};

/// Time for one lookup. The estimator's deadline includes it and may be shorter.
const DEADLINE: Duration = Duration::from_secs(5);

/// The type of a Service that is an alias for an external name.
const EXTERNAL_NAME: &str = "ExternalName";

/// Services of Karmada's API. Needs the right to `get` them in the estimators' namespace.
#[derive(Clone)]
pub struct ServicesOfKarmada(Client);

impl ServicesOfKarmada {
    /// Services that a client reads. The client should not retry by itself: the estimators are asked again anyway.
    pub fn new(client: Client) -> Self {
        Self(client)
    }
}

impl ServiceLookup for ServicesOfKarmada {
    fn external_name<'a>(
        &'a self,
        namespace: &'a str,
        service: &'a str,
        port: u16,
    ) -> BoxFuture<'a, Result<Option<Address>, LookupError>> {
        let failure = move |cause: &dyn Display| LookupError {
            namespace: namespace.to_owned(),
            service: service.to_owned(),
            cause: cause.to_string(),
        };
        Box::pin(async move {
            let api: Api<Service> = Api::namespaced(self.0.clone(), namespace);
            match tokio::time::timeout(DEADLINE, api.get_opt(service)).await {
                Ok(Ok(None)) => Ok(None),
                Ok(Ok(Some(found))) => address(&found, port).map(Some).map_err(|cause| failure(&cause)),
                Ok(Err(error)) => Err(failure(&worded(&error))),
                Err(_) => Err(failure(&format_args!("no answer within {} s", DEADLINE.as_secs()))),
            }
        })
    }
}

/// A property of a Service that rules it out as an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum Unusable {
    #[error("its type is `{0}`, expected `{EXTERNAL_NAME}`")]
    Type(String),
    #[error("it has no `externalName`")]
    Name,
    #[error("it has no port {0}")]
    Port(u16),
    #[error("the target of its port {0} is not a number from 1 to 65535")]
    Target(u16),
}

/// Host and target port of a Service.
fn address(service: &Service, port: u16) -> Result<Address, Unusable> {
    let spec = service.spec.clone().unwrap_or_default();
    let kind = spec.type_.unwrap_or_default();
    if kind != EXTERNAL_NAME {
        return Err(Unusable::Type(kind));
    }
    let host = spec
        .external_name
        .filter(|host| !host.is_empty())
        .ok_or(Unusable::Name)?;
    let ports = spec.ports.unwrap_or_default();
    let found = ports
        .iter()
        .find(|known| known.port == i32::from(port))
        .ok_or(Unusable::Port(port))?;
    let target = target(found).ok_or(Unusable::Target(port))?;
    Ok(Address { host, port: target })
}

/// The number of a port's target. The API server leaves an absent target as the port itself.
fn target(port: &ServicePort) -> Option<u16> {
    let number = match &port.target_port {
        None => port.port,
        Some(IntOrString::Int(number)) => *number,
        Some(IntOrString::String(_)) => return None,
    };
    u16::try_from(number).ok().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn found(spec: Value) -> Result<String, String> {
        let service: Service = serde_json::from_value(json!({"metadata": {}, "spec": spec})).expect("a service");
        match address(&service, 10352) {
            Ok(address) => Ok(address.to_string()),
            Err(unusable) => Err(unusable.to_string()),
        }
    }

    #[test]
    fn only_an_external_name_with_a_numbered_target_is_an_address() {
        let external =
            |ports: Value| json!({"type": "ExternalName", "externalName": "estimator.example", "ports": ports});
        for (spec, expected) in [
            (
                external(json!([{"port": 10352, "targetPort": 443}])),
                Ok("estimator.example:443"),
            ),
            (
                external(json!([{"port": 80}, {"port": 10352}])),
                Ok("estimator.example:10352"),
            ),
            (external(json!([{"port": 80}])), Err("it has no port 10352")),
            (external(Value::Null), Err("it has no port 10352")),
            (
                external(json!([{"port": 10352, "targetPort": "grpc"}])),
                Err("the target of its port 10352 is not a number from 1 to 65535"),
            ),
            (
                external(json!([{"port": 10352, "targetPort": 70000}])),
                Err("the target of its port 10352 is not a number from 1 to 65535"),
            ),
            (
                json!({"type": "ExternalName", "ports": [{"port": 10352}]}),
                Err("it has no `externalName`"),
            ),
            (
                json!({"type": "ClusterIP", "ports": [{"port": 10352}]}),
                Err("its type is `ClusterIP`, expected `ExternalName`"),
            ),
        ] {
            let expected = expected.map(ToOwned::to_owned).map_err(ToOwned::to_owned);
            assert_eq!(found(spec.clone()), expected, "{spec}");
        }
    }
}
