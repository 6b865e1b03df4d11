//! A real API server for tests, and a simulation of the rest of Karmada on it.
//!
//! - [`ControlPlane`] starts etcd and kube-apiserver in a folder, with Karmada's resources ([`crds`]) and several [`users`].
//! - [`Pool`] keeps control planes for the next test, and empties them.
//! - [`objects`] reads, writes and awaits objects as JSON; [`templates`] has clusters, workloads and policies.
//! - [`backup`] restores objects with what an API server would choose itself.
//! - [`karmada`] simulates Karmada's other controllers.
//! - [`proxy`] injects faults between a scheduler and the API server.
//! - [`Divvy`] runs the real binary; [`Scenario`] puts everything together.
//! - [`AuditLog`] reads the writes from the audit log; the [`judge`] checks the rules that must hold whatever fails; [`soak`]
//!   makes everything fail, and [`churn`] runs for hours.
//!
//! For manual use, there are the scripts `tests/control-plane/up DIR` and `down DIR`.

pub mod audit;
pub mod backup;
pub mod churn;
pub mod crds;
pub mod divvy;
mod error;
mod etcd;
pub mod judge;
pub mod karmada;
pub mod objects;
pub mod pool;
pub mod ports;
pub mod process;
pub mod proxy;
pub mod roles;
pub mod scenario;
mod server;
pub mod soak;
pub mod templates;
pub mod users;

pub use audit::AuditLog;
pub use divvy::Divvy;
pub use error::Error;
pub use pool::{Pool, Pooled};
pub use ports::Ports;
pub use scenario::Scenario;
pub use server::{ControlPlane, source_folder};
