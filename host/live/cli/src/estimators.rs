//! Arguments about accurate estimators.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use divvy_command::duration::parse as duration;
use divvy_estimator::{Addressing, ClientCertificate, EstimatorOptions, Tls, Transport, Verification};

/// Help heading of the arguments.
const ESTIMATORS: &str = "Accurate estimators";

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
