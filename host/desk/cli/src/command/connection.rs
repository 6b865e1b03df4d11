//! Arguments that select a control plane and its estimators.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use divvy_controller::client::{ConnectionError, ConnectionOptions};
use divvy_estimator::{Addressing, ClientCertificate, EstimatorOptions, Tls, Transport, Verification};

use crate::report::errors::{Diagnostic, Failure};

/// Help heading of the arguments that select a control plane.
const CONTROL_PLANE: &str = "Control plane";
/// Help heading of the arguments about estimators.
const ESTIMATORS: &str = "Accurate estimators";

/// Arguments that select a control plane.
#[derive(Debug, Clone, Args)]
#[group(id = "control plane", multiple = true)]
pub(super) struct ConnectionArguments {
    /// Kubeconfig file of Karmada's API server
    #[arg(long, value_name = "FILE", help_heading = CONTROL_PLANE)]
    pub(super) kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig, instead of its current one
    #[arg(long, value_name = "NAME", help_heading = CONTROL_PLANE)]
    pub(super) context: Option<String>,
}

/// Arguments about accurate estimators.
#[derive(Debug, Args)]
pub(super) struct EstimatorArguments {
    /// Ask the accurate estimator of each cluster before a decision about replicas
    #[arg(long, help_heading = ESTIMATORS)]
    estimators: bool,
    /// Maximum time for one estimator's answer; a late one affects only the estimate for its own cluster
    #[arg(long, value_name = "DURATION", default_value = "3s", value_parser = duration, help_heading = ESTIMATORS)]
    estimator_timeout: Duration,
    /// Maximum age of the last answer to the same requirements that is used in place of a missing one
    #[arg(long, value_name = "DURATION", default_value = "60s", value_parser = duration, help_heading = ESTIMATORS)]
    estimator_age: Duration,
    /// Prefix of the estimators' Services
    #[arg(long, value_name = "PREFIX", default_value = "karmada-scheduler-estimator", help_heading = ESTIMATORS)]
    estimator_service_prefix: String,
    /// Namespace of the estimators' Services
    #[arg(long, value_name = "NAMESPACE", default_value = "karmada-system", help_heading = ESTIMATORS)]
    estimator_namespace: String,
    /// Port of the estimators' Services
    #[arg(long, value_name = "PORT", default_value_t = 10352, help_heading = ESTIMATORS)]
    estimator_port: u16,
    /// Do not ask the estimators of clusters with sync mode `Pull`
    #[arg(long, help_heading = ESTIMATORS)]
    estimator_exclude_pull: bool,
    /// Send each estimator the replicas that were assigned to its cluster and do not run there yet (Karmada 1.19)
    #[arg(long, help_heading = ESTIMATORS)]
    estimator_assumed_workloads: bool,
    /// PEM file with the authorities of the estimators' certificates; without it, connections are not encrypted
    #[arg(long, value_name = "FILE", help_heading = ESTIMATORS)]
    estimator_ca: Option<PathBuf>,
    /// Encrypt connections to estimators without checking their certificates
    #[arg(long, conflicts_with = "estimator_ca", help_heading = ESTIMATORS)]
    estimator_insecure: bool,
    /// PEM file with the client certificate for estimators
    #[arg(long, value_name = "FILE", requires = "estimator_key", help_heading = ESTIMATORS)]
    estimator_certificate: Option<PathBuf>,
    /// PEM file with the client certificate's key
    #[arg(long, value_name = "FILE", requires = "estimator_certificate", help_heading = ESTIMATORS)]
    estimator_key: Option<PathBuf>,
}

impl ConnectionArguments {
    /// The connection, with a user agent that names this process.
    pub(super) fn options(&self, identity: &str) -> ConnectionOptions {
        ConnectionOptions {
            kubeconfig: self.kubeconfig.clone(),
            context: self.context.clone(),
            user_agent: format!("divvy/{} {identity}", env!("CARGO_PKG_VERSION")),
        }
    }
}

impl EstimatorArguments {
    /// The options; `None` if estimators are not asked.
    pub(super) fn options(&self) -> Option<EstimatorOptions> {
        let verification = match (&self.estimator_ca, self.estimator_insecure) {
            (Some(file), _) => Some(Verification::Authorities(file.clone())),
            (None, true) => Some(Verification::Skip),
            (None, false) => None,
        };
        let client = self.estimator_certificate.clone().zip(self.estimator_key.clone());
        let client = client.map(|(certificate, key)| ClientCertificate { certificate, key });
        self.estimators.then(|| EstimatorOptions {
            addressing: Addressing {
                service_prefix: self.estimator_service_prefix.clone(),
                namespace: self.estimator_namespace.clone(),
                port: self.estimator_port,
            },
            transport: verification.map_or(Transport::Plaintext, |verification| {
                Transport::Tls(Tls { verification, client })
            }),
            deadline: self.estimator_timeout,
            last_known_age_max: self.estimator_age,
            exclude_pull_clusters: self.estimator_exclude_pull,
            assumed_workloads: self.estimator_assumed_workloads,
            ..EstimatorOptions::default()
        })
    }
}

/// A connection error as users see it: exit code 2.
pub(super) fn connection_failure(error: &ConnectionError) -> Failure {
    let mut diagnostic = Diagnostic::new(error.to_string());
    diagnostic.hint = error.hint();
    Failure::usage(diagnostic)
}

/// Parses a duration such as `500ms`, `3s` or `5m`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let split = text
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("expected a duration such as `500ms`, `3s` or `5m`".to_owned()),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| "expected a duration such as `500ms`, `3s` or `5m`".to_owned())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5s"), Ok(Duration::from_millis(1500)));
        assert_eq!(duration("5m"), Ok(Duration::from_secs(300)));
        for wrong in ["", "5", "s", "5d", "-1s", "1e400s"] {
            assert!(duration(wrong).is_err(), "{wrong}");
        }
    }
}
