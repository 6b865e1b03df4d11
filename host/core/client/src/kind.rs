//! The kinds that are watched, with their paths in the API.

use divvy_karmada::api::{BindingScope, PolicyScope};

/// A watched kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `ResourceBinding`.
    Binding,
    /// `ClusterResourceBinding`.
    ClusterBinding,
    /// `Cluster`.
    Cluster,
    /// `PropagationPolicy`.
    Policy,
    /// `ClusterPropagationPolicy`.
    ClusterPolicy,
    /// `FederatedResourceQuota`.
    Quota,
}

impl Kind {
    /// Every watched kind.
    pub const ALL: [Self; 6] = [
        Self::Cluster,
        Self::Policy,
        Self::ClusterPolicy,
        Self::Quota,
        Self::Binding,
        Self::ClusterBinding,
    ];

    /// Name of the kind.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Binding => BindingScope::Namespaced.kind(),
            Self::ClusterBinding => BindingScope::Cluster.kind(),
            Self::Cluster => "Cluster",
            Self::Policy => PolicyScope::Namespaced.kind(),
            Self::ClusterPolicy => PolicyScope::Cluster.kind(),
            Self::Quota => "FederatedResourceQuota",
        }
    }

    /// API group.
    pub fn group(self) -> &'static str {
        match self {
            Self::Binding | Self::ClusterBinding => "work.karmada.io",
            Self::Cluster => "cluster.karmada.io",
            Self::Policy | Self::ClusterPolicy | Self::Quota => "policy.karmada.io",
        }
    }

    /// API version within the group.
    pub fn version(self) -> &'static str {
        match self {
            Self::Binding | Self::ClusterBinding => "v1alpha2",
            Self::Cluster | Self::Policy | Self::ClusterPolicy | Self::Quota => "v1alpha1",
        }
    }

    /// Plural name, as in paths.
    pub fn plural(self) -> &'static str {
        match self {
            Self::Binding => "resourcebindings",
            Self::ClusterBinding => "clusterresourcebindings",
            Self::Cluster => "clusters",
            Self::Policy => "propagationpolicies",
            Self::ClusterPolicy => "clusterpropagationpolicies",
            Self::Quota => "federatedresourcequotas",
        }
    }

    /// Objects per page of a list. A page is in memory as a whole, and bindings are large.
    pub fn page_size(self) -> u32 {
        match self {
            Self::Binding | Self::ClusterBinding | Self::Cluster => 100,
            Self::Policy | Self::ClusterPolicy | Self::Quota => 500,
        }
    }

    /// The kind of a binding of this scope.
    pub fn binding(scope: BindingScope) -> Self {
        match scope {
            BindingScope::Namespaced => Self::Binding,
            BindingScope::Cluster => Self::ClusterBinding,
        }
    }

    /// Path of the collection; `namespace` is ignored if it is empty.
    pub fn path(self, namespace: &str) -> String {
        let (group, version, plural) = (self.group(), self.version(), self.plural());
        match namespace {
            "" => format!("/apis/{group}/{version}/{plural}"),
            namespace => format!("/apis/{group}/{version}/namespaces/{namespace}/{plural}"),
        }
    }
}
