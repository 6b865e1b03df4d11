//! The objects that are watched, reduced to the fields that a decision reads.
//!
//! [`Fetched`] is what the client deserialises: metadata without managed fields, and the rest as JSON. [`Object::read`]
//! makes a typed object of it. The two steps are separate, so that one unreadable object in a list of thousands is reported
//! and left out while the list succeeds.

mod binding;
mod fetched;

pub use binding::BindingDocument;
pub(crate) use binding::{AggregatedStatus, Health, read_metadata};
pub use divvy_client::Kind;
pub use fetched::Fetched;

use divvy_karmada::api::{BindingScope, Cluster, PropagationPolicy};

/// Identity of an object within its kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// Namespace; empty for a cluster-scoped object.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl std::fmt::Display for ObjectKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.namespace.as_str() {
            "" => formatter.write_str(&self.name),
            namespace => write!(formatter, "{namespace}/{}", self.name),
        }
    }
}

/// Identity of a binding: its scope, namespace and name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BindingKey {
    /// Scope, which decides between `ResourceBinding` and `ClusterResourceBinding`.
    pub(crate) scope: BindingScope,
    /// Namespace; empty for a `ClusterResourceBinding`.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl std::fmt::Display for BindingKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.namespace.as_str() {
            "" => formatter.write_str(&self.name),
            namespace => write!(formatter, "{namespace}/{}", self.name),
        }
    }
}

/// An object of one of the watched kinds.
#[derive(Debug, Clone)]
pub enum Object {
    /// A `ResourceBinding` or `ClusterResourceBinding`.
    Binding(Box<BindingDocument>),
    /// A `Cluster`.
    Cluster(Box<Cluster>),
    /// A `PropagationPolicy` or `ClusterPropagationPolicy`.
    Policy(Box<PropagationPolicy>),
    /// A `FederatedResourceQuota`: its identity and generation.
    Quota(ObjectKey, i64),
}

/// An object whose fields do not have the types of its schema.
#[derive(Debug, thiserror::Error)]
#[error("{kind} `{key}` cannot be read: {source}")]
pub struct Unreadable {
    /// Kind of the object.
    pub(crate) kind: &'static str,
    /// Identity of the object.
    pub key: ObjectKey,
    /// The first field with the wrong type.
    pub(crate) source: serde_json::Error,
}

impl Object {
    /// Reads an object of a kind.
    ///
    /// # Errors
    ///
    /// [`Unreadable`] if a field does not have its type. The caller reports it and keeps the version before, if there is one.
    pub fn read(kind: Kind, fetched: Fetched) -> Result<Self, Unreadable> {
        let key = fetched.key();
        let read = match kind {
            Kind::Binding | Kind::ClusterBinding => {
                BindingDocument::read(kind, fetched).map(|document| Self::Binding(Box::new(document)))
            }
            Kind::Cluster => fetched.cluster().map(|cluster| Self::Cluster(Box::new(cluster))),
            Kind::Policy | Kind::ClusterPolicy => fetched.policy(kind).map(|policy| Self::Policy(Box::new(policy))),
            Kind::Quota => Ok(Self::Quota(fetched.key(), fetched.metadata.generation)),
        };
        read.map_err(|source| Unreadable {
            kind: kind.kind(),
            key,
            source,
        })
    }
}
