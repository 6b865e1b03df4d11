//! A whole control plane with a scheduler, with which most tests of `divvy run` start.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::divvy::{Configuration, Divvy};
use crate::karmada::{DEFAULT_SCHEDULER, Karmada};
use crate::objects::{BINDING, CLUSTER, DEPLOYMENT, EVENT, Kind, NAMESPACE, Objects, POLICY};
use crate::proxy::FaultProxy;
use crate::templates::{self, Cluster};
use crate::users::{ADMIN, SCHEDULER, User};
use crate::{ControlPlane, Error, Pool, Pooled, roles};

/// The annotation with the placement that a result was made by.
pub const APPLIED_PLACEMENT: &str = "policy.karmada.io/applied-placement";
/// Namespace of Karmada's own objects, such as its leases.
const SYSTEM_NAMESPACE: &str = "karmada-system";

/// A control plane, Karmada's controllers, and the users of both.
///
/// The control plane is one of the pool, and goes back there when the scenario is dropped, after the schedulers have ended. A test
/// that is to kill a server has a `Scenario<ControlPlane>` by [`Scenario::with_own_servers`].
pub struct Scenario<Servers = Pooled> {
    /// The schedulers that were started, in order. Dropping one kills it.
    pub schedulers: Vec<Divvy>,
    /// Karmada's controllers.
    pub karmada: Karmada,
    /// etcd and kube-apiserver.
    pub control_plane: Servers,
    folder: PathBuf,
}

impl Scenario {
    /// An empty control plane with these clusters, without a scheduler. Kubeconfigs and logs of schedulers are written to the folder.
    pub async fn new(folder: &Path, clusters: &[Cluster]) -> Result<Self, Error> {
        Self::on(Pool::shared().take(folder).await?, clusters).await
    }
}

impl Scenario<ControlPlane> {
    /// The same with servers that no other test uses, so that they may be killed. The folder has their data and logs, too.
    pub async fn with_own_servers(folder: &Path, clusters: &[Cluster]) -> Result<Self, Error> {
        Self::on(ControlPlane::start(folder).await?, clusters).await
    }
}

impl<Servers: AsRef<ControlPlane>> Scenario<Servers> {
    async fn on(servers: Servers, clusters: &[Cluster]) -> Result<Self, Error> {
        let control_plane = servers.as_ref();
        let admin = Objects::new(control_plane.client(ADMIN).await?);
        admin
            .create(NAMESPACE, &json!({"metadata": {"name": SYSTEM_NAMESPACE}}))
            .await?;
        roles::grant(&admin).await?;
        let karmada = Karmada::new(control_plane, DEFAULT_SCHEDULER).await?;
        for cluster in clusters {
            karmada.objects().create(CLUSTER, cluster.object()).await?;
        }
        Ok(Self {
            schedulers: Vec::new(),
            folder: control_plane.folder().to_owned(),
            karmada,
            control_plane: servers,
        })
    }

    /// The objects, as Karmada's controllers see them.
    pub fn objects(&self) -> &Objects {
        self.karmada.objects()
    }

    /// The configuration of a scheduler that acts as a user.
    pub fn configuration(&self, user: User) -> Configuration {
        Configuration::new(&self.control_plane.as_ref().kubeconfig(user))
    }

    /// Starts a scheduler.
    pub fn start_scheduler(&mut self) -> Result<(), Error> {
        let configuration = self.configuration(SCHEDULER);
        self.start_scheduler_with(&configuration)
    }

    /// Starts a scheduler with a profile, which is written to a file of this name in the folder. Returns the file.
    pub fn start_scheduler_under(&mut self, name: &str, profile: &str) -> Result<PathBuf, Error> {
        let file = self.folder.join(name);
        std::fs::write(&file, profile).map_err(Error::file(&file))?;
        let mut configuration = self.configuration(SCHEDULER);
        configuration.profile = file.clone();
        self.start_scheduler_with(&configuration)?;
        Ok(file)
    }

    /// Starts a scheduler behind a proxy.
    pub fn start_scheduler_behind(&mut self, proxy: &FaultProxy) -> Result<(), Error> {
        let kubeconfig = proxy.kubeconfig(SCHEDULER, &self.folder)?;
        self.start_scheduler_with(&Configuration::new(&kubeconfig))
    }

    /// Starts a scheduler that holds capacity for results. Clusters may report late or never.
    pub fn start_holding_scheduler(&mut self) -> Result<(), Error> {
        let configuration = self.configuration(SCHEDULER).holding().with_rare_reports();
        self.start_scheduler_with(&configuration)
    }

    /// Starts a scheduler with any configuration.
    pub fn start_scheduler_with(&mut self, configuration: &Configuration) -> Result<(), Error> {
        self.schedulers.push(Divvy::start(&self.folder, configuration)?);
        Ok(())
    }

    /// Creates a Deployment in the namespace `default` with a policy of the same name and its binding.
    pub async fn deploy(&self, name: &str, replicas: u32, placement: Value) -> Result<(), Error> {
        let policy = templates::policy("default", name, ("apps/v1", "Deployment", name), placement);
        let deployment = templates::deployment("default", name, replicas);
        self.deploy_under(&policy, &deployment).await
    }

    /// Creates a Deployment and a policy that claims it, and its binding.
    pub async fn deploy_under(&self, policy: &Value, deployment: &Value) -> Result<(), Error> {
        self.objects().create(POLICY, policy).await?;
        self.objects().create(DEPLOYMENT, deployment).await?;
        self.karmada.detect().await
    }

    /// Changes the replicas of a Deployment, and its binding.
    pub async fn scale(&self, name: &str, replicas: u32) -> Result<(), Error> {
        let patch = json!({"spec": {"replicas": replicas}});
        self.objects().merge(DEPLOYMENT, "default", name, &patch).await?;
        self.karmada.detect().await
    }

    /// Changes the placement of a policy, and its binding.
    pub async fn place(&self, name: &str, placement: Value) -> Result<(), Error> {
        // A merge patch would keep what the new placement lacks.
        let clear = json!({"spec": {"placement": null}});
        self.change_policy(name, &clear).await?;
        let patch = json!({"spec": {"placement": placement}});
        self.change_policy(name, &patch).await?;
        self.karmada.detect().await
    }

    /// Changes the binding of a Deployment by a merge patch.
    pub async fn change_binding(&self, name: &str, patch: &Value) -> Result<Value, Error> {
        let binding = binding_name(name);
        self.objects().merge(BINDING, "default", &binding, patch).await
    }

    /// Changes a policy by a merge patch.
    pub async fn change_policy(&self, name: &str, patch: &Value) -> Result<Value, Error> {
        self.objects().merge(POLICY, "default", name, patch).await
    }

    /// The binding of a Deployment.
    pub async fn binding(&self, name: &str) -> Result<Value, Error> {
        self.objects().get(BINDING, "default", &binding_name(name)).await
    }

    /// Waits for the binding of a Deployment.
    pub async fn wait(
        &self,
        name: &str,
        expectation: &str,
        is_expected: impl Fn(&Value) -> bool,
    ) -> Result<Value, Error> {
        self.wait_for_binding(&binding_name(name), expectation, is_expected)
            .await
    }

    /// Waits until the binding of a Deployment is scheduled in its latest generation.
    pub async fn wait_until_scheduled(&self, name: &str) -> Result<Value, Error> {
        self.wait(name, "scheduled", is_scheduled).await
    }

    /// Creates a binding, without a workload or a policy.
    pub async fn bind(&self, binding: &Value) -> Result<(), Error> {
        self.objects().create(BINDING, binding).await?;
        Ok(())
    }

    /// Waits until a binding in the namespace `default` is as expected.
    pub async fn wait_for_binding(
        &self,
        name: &str,
        expectation: &str,
        is_expected: impl Fn(&Value) -> bool,
    ) -> Result<Value, Error> {
        let waited = self
            .objects()
            .wait(BINDING, "default", name, expectation, is_expected)
            .await;
        waited.map_err(|error| self.explain(error))
    }

    /// Waits until the binding of a Deployment is scheduled in its latest generation to exactly these replicas.
    pub async fn wait_for_result(&self, name: &str, expected: &[(&str, i64)]) -> Result<Value, Error> {
        let expected: BTreeMap<String, i64> = expected
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect();
        self.wait(name, &format!("scheduled to {expected:?}"), |binding| {
            is_scheduled(binding) && result(binding) == expected
        })
        .await
    }

    /// Waits until the binding of a Deployment has a reason in its condition `Scheduled`.
    pub async fn wait_for_reason(&self, name: &str, reason: &str) -> Result<Value, Error> {
        self.wait(name, &format!("`Scheduled` with the reason {reason}"), |binding| {
            condition(binding, "Scheduled")["reason"] == reason
        })
        .await
    }

    /// Waits for an event about an object with this reason.
    pub async fn wait_for_event(&self, kind: Kind, name: &str, reason: &str) -> Result<Value, Error> {
        let start = std::time::Instant::now();
        loop {
            let events = self.objects().list(EVENT, "").await?;
            let found = events.into_iter().find(|event| {
                let about = &event["involvedObject"];
                about["kind"] == kind.name && about["name"] == name && event["reason"] == reason
            });
            if let Some(event) = found {
                return Ok(event);
            }
            if start.elapsed() > crate::objects::PATIENCE {
                return Err(self.explain(Error::Expectation {
                    object: format!("{} {name}", kind.name),
                    expectation: format!("the object of an event {reason}"),
                    seconds: crate::objects::PATIENCE.as_secs(),
                    last: "none".to_owned(),
                }));
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }

    /// Adds the end of the schedulers' log to an expectation that was not met.
    fn explain(&self, error: Error) -> Error {
        let Error::Expectation {
            object,
            expectation,
            seconds,
            last,
        } = error
        else {
            return error;
        };
        let printed = self
            .schedulers
            .last()
            .map(|divvy| divvy.process.printed())
            .unwrap_or_default();
        let lines: Vec<&str> = printed.lines().collect();
        let tail = lines[lines.len().saturating_sub(40)..].join("\n");
        Error::Expectation {
            object,
            expectation,
            seconds,
            last: format!("{last}\nthe scheduler printed\n{tail}"),
        }
    }
}

/// The name of a Deployment's binding.
pub fn binding_name(deployment: &str) -> String {
    format!("{deployment}-deployment")
}

/// The clusters of a binding's result, with their replicas.
pub fn result(binding: &Value) -> BTreeMap<String, i64> {
    let clusters = binding["spec"]["clusters"].as_array().into_iter().flatten();
    clusters
        .map(|target| {
            let name = target["name"].as_str().unwrap_or_default().to_owned();
            (name, target["replicas"].as_i64().unwrap_or(0))
        })
        .collect()
}

/// A condition of a binding; null if it has none of that type.
pub fn condition<'a>(binding: &'a Value, kind: &str) -> &'a Value {
    let conditions = binding["status"]["conditions"].as_array().into_iter().flatten();
    conditions
        .into_iter()
        .find(|condition| condition["type"] == kind)
        .unwrap_or(&Value::Null)
}

/// True if the scheduler has scheduled the latest generation of a binding.
pub fn is_scheduled(binding: &Value) -> bool {
    condition(binding, "Scheduled")["status"] == "True" && is_observed(binding)
}

/// True if the scheduler has seen the latest generation of a binding.
pub fn is_observed(binding: &Value) -> bool {
    binding["status"]["schedulerObservedGeneration"] == binding["metadata"]["generation"]
}
