//! Addresses at which a cluster's estimator may be reached.
//!
//! Source: Karmada v1.19-rc, `pkg/estimator/client/service.go`. An ExternalName Service in Karmada's API names the address.
//! If there is none, the estimator is a Service of the cluster that the scheduler runs in, which Karmada's API server
//! does not know, so its name is left to DNS.

use std::fmt;

use futures::future::BoxFuture;

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// A DNS name or an IP address.
    pub host: String,
    /// The TCP port.
    pub port: u16,
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.host {
            host if host.contains(':') => write!(formatter, "[{host}]:{}", self.port),
            host => write!(formatter, "{host}:{}", self.port),
        }
    }
}

/// Rule that derives an address from a cluster's name. The default is Karmada's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Addressing {
    /// Prefix of the estimators' Services; a hyphen and the cluster's name follow.
    pub service_prefix: String,
    /// Namespace of the Services, in Karmada's API and in the cluster that the scheduler runs in.
    pub namespace: String,
    /// Port of the Services.
    pub port: u16,
}

impl Default for Addressing {
    fn default() -> Self {
        Self {
            service_prefix: "karmada-scheduler-estimator".to_owned(),
            namespace: "karmada-system".to_owned(),
            port: 10352,
        }
    }
}

impl Addressing {
    /// Addresses to try for a cluster, in this order; never empty.
    pub(crate) async fn candidates(
        &self,
        cluster: &str,
        services: &dyn ServiceLookup,
    ) -> Result<Vec<Address>, LookupError> {
        let service = format!("{}-{cluster}", self.service_prefix);
        if let Some(address) = services.external_name(&self.namespace, &service, self.port).await? {
            return Ok(vec![address]);
        }
        let in_cluster = |domain: &str| Address {
            host: format!("{service}.{}.{domain}", self.namespace),
            port: self.port,
        };
        Ok(vec![in_cluster("svc.cluster.local"), in_cluster("svc")])
    }
}

/// A Service that cannot be looked up, or is not usable as an address.
#[derive(Debug, Clone, thiserror::Error)]
#[error("cannot look up the service `{namespace}/{service}` in Karmada's API: {cause}")]
pub struct LookupError {
    /// Namespace of the Service.
    pub namespace: String,
    /// Name of the Service.
    pub service: String,
    /// The API server's message, or the property of the Service that is not supported.
    pub cause: String,
}

/// Looks up Services in Karmada's API.
pub trait ServiceLookup: Send + Sync {
    /// Host and target port of an ExternalName Service, for its port `port`; `None` if there is no such Service.
    ///
    /// An error, for instance for a Service of another type, costs the cluster its estimate until the next attempt.
    fn external_name<'a>(
        &'a self,
        namespace: &'a str,
        service: &'a str,
        port: u16,
    ) -> BoxFuture<'a, Result<Option<Address>, LookupError>>;
}

/// Finds no Service, so that every estimator is addressed by its DNS name.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoServices;

impl ServiceLookup for NoServices {
    fn external_name<'a>(
        &'a self,
        _namespace: &'a str,
        _service: &'a str,
        _port: u16,
    ) -> BoxFuture<'a, Result<Option<Address>, LookupError>> {
        Box::pin(async { Ok(None) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct OneService;

    impl ServiceLookup for OneService {
        fn external_name<'a>(
            &'a self,
            namespace: &'a str,
            service: &'a str,
            port: u16,
        ) -> BoxFuture<'a, Result<Option<Address>, LookupError>> {
            Box::pin(async move {
                match (namespace, service, port) {
                    ("karmada-system", "karmada-scheduler-estimator-m1", 10352) => Ok(Some(Address {
                        host: "estimator.m1.example".to_owned(),
                        port: 443,
                    })),
                    ("karmada-system", "karmada-scheduler-estimator-m2", _) => Err(LookupError {
                        namespace: namespace.to_owned(),
                        service: service.to_owned(),
                        cause: "type `ClusterIP` is not supported, expected `ExternalName`".to_owned(),
                    }),
                    _ => Ok(None),
                }
            })
        }
    }

    async fn candidates(addressing: &Addressing, cluster: &str) -> Result<Vec<String>, String> {
        let found = addressing.candidates(cluster, &OneService).await;
        let found = found.map_err(|error| error.to_string())?;
        Ok(found.iter().map(ToString::to_string).collect())
    }

    #[tokio::test]
    async fn an_external_name_comes_first_and_dns_names_else() {
        let karmada = Addressing::default();
        assert_eq!(
            candidates(&karmada, "m1").await,
            Ok(vec!["estimator.m1.example:443".to_owned()])
        );
        assert_eq!(
            candidates(&karmada, "m3").await,
            Ok(vec![
                "karmada-scheduler-estimator-m3.karmada-system.svc.cluster.local:10352".to_owned(),
                "karmada-scheduler-estimator-m3.karmada-system.svc:10352".to_owned(),
            ])
        );
        let own = Addressing {
            service_prefix: "estimator".to_owned(),
            namespace: "fleet".to_owned(),
            port: 9000,
        };
        assert_eq!(
            candidates(&own, "m1").await,
            Ok(vec![
                "estimator-m1.fleet.svc.cluster.local:9000".to_owned(),
                "estimator-m1.fleet.svc:9000".to_owned(),
            ])
        );
    }

    #[tokio::test]
    async fn an_unusable_service_is_an_error_and_not_a_dns_name() {
        assert_eq!(
            candidates(&Addressing::default(), "m2").await,
            Err(
                "cannot look up the service `karmada-system/karmada-scheduler-estimator-m2` in Karmada's API: \
                 type `ClusterIP` is not supported, expected `ExternalName`"
                    .to_owned()
            )
        );
    }

    #[test]
    fn an_ipv6_address_is_bracketed() {
        let address = Address {
            host: "fd00::1".to_owned(),
            port: 10352,
        };
        assert_eq!(address.to_string(), "[fd00::1]:10352");
    }
}
