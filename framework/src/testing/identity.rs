//! Names and requests of the binding.

use super::Scenario;

/// Names of the binding and its resource.
#[derive(Debug, Clone)]
pub(super) struct Names {
    pub(super) namespace: String,
    pub(super) binding: String,
    pub(super) resource: String,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            namespace: "default".to_owned(),
            binding: "sample-deployment".to_owned(),
            resource: "sample".to_owned(),
        }
    }
}

impl Scenario {
    /// Sets namespace and name of the binding. The resource is in the same namespace. `default` and `sample-deployment` by
    /// default.
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

    /// Sets the requests of one replica: `cpu` in thousandths of a core, everything else in its own unit. None by default.
    #[must_use]
    pub fn requests(mut self, requests: &[(&str, i64)]) -> Self {
        self.binding.replica_requests(requests.iter().copied());
        self
    }

    /// Adds a pod template of a workload with several: its name, its replicas and the requests of one replica, in the units of
    /// [`Self::requests`].
    #[must_use]
    pub fn component(mut self, name: &str, replicas: i64, requests: &[(&str, i64)]) -> Self {
        self.binding.component(name, replicas, requests.iter().copied());
        self
    }
}
