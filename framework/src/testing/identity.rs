//! Names, strategy and requests of the binding.

use super::Scenario;

/// Names of the binding, its resource and its strategy.
#[derive(Debug, Clone)]
pub(super) struct Names {
    pub(super) namespace: String,
    pub(super) binding: String,
    pub(super) resource: String,
    /// `None` if it is that of the binding.
    pub(super) resource_uid: Option<String>,
    /// `None` for the first one that the plugin serves.
    pub(super) strategy: Option<String>,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            namespace: "default".to_owned(),
            binding: "sample-deployment".to_owned(),
            resource: "sample".to_owned(),
            resource_uid: None,
            strategy: None,
        }
    }
}

impl Scenario {
    /// Sets namespace and name of the binding. The resource is in the same namespace; an empty namespace makes the
    /// binding a ClusterResourceBinding. `default` and `sample-deployment` by default.
    #[must_use]
    pub fn named(mut self, namespace: &str, name: &str) -> Self {
        namespace.clone_into(&mut self.names.namespace);
        name.clone_into(&mut self.names.binding);
        self
    }

    /// Sets the name of the resource. `sample` by default.
    #[must_use]
    pub fn named_resource(mut self, name: &str) -> Self {
        name.clone_into(&mut self.names.resource);
        self
    }

    /// Sets the UID of both the binding and its resource.
    #[must_use]
    pub fn uid(mut self, uid: &str) -> Self {
        uid.clone_into(&mut self.uid);
        self
    }

    /// Sets the UID of the resource, if it differs from that of the binding.
    #[must_use]
    pub fn resource_uid(mut self, uid: &str) -> Self {
        self.names.resource_uid = Some(uid.to_owned());
        self
    }

    /// Sets the strategy that the policy selects. By default, the first one that the plugin serves at Assign, and none
    /// at the other extension points.
    #[must_use]
    pub fn strategy(mut self, name: &str) -> Self {
        self.names.strategy = Some(name.to_owned());
        self
    }

    /// Sets the requests of one replica: `cpu` in thousandths of a core, everything else in its own unit. None by
    /// default.
    #[must_use]
    pub fn requests(mut self, requests: &[(&str, i64)]) -> Self {
        self.binding.replica_requests(requests.iter().copied());
        self
    }

    /// Adds a pod template of a workload with several: its name, its replicas and the requests of one replica, in the
    /// units of [`Self::requests`].
    #[must_use]
    pub fn component(mut self, name: &str, replicas: i64, requests: &[(&str, i64)]) -> Self {
        self.binding.component(name, replicas, requests.iter().copied());
        self
    }
}
