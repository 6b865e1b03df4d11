//! A client of Karmada's accurate estimators.
//!
//! An accurate estimator (`karmada-scheduler-estimator`) runs per cluster and counts the replicas that fit on the
//! cluster's nodes now, which the sums in a cluster's status cannot show. [`Estimators::estimate`] asks those of all
//! clusters at once, each with its own deadline. A cluster whose estimator fails or is slow loses its own estimate and
//! no other; the scheduler then falls back on the last answer to the same request, and finally on the general estimate.
//!
//! - [`Request`]: requirements of one replica or one set of components, encoded once for all clusters.
//! - [`Estimators`]: connections, breakers and last answers, by cluster.
//! - [`Estimate`]: one cluster's answer, its age, and the reason why there is none.
//! - [`EstimatorState`]: the state of one cluster's estimator, for metrics.
//!
//! Source: Karmada v1.19-rc, `pkg/estimator/{client,pb,service}`. There is one deliberate difference: Karmada waits for
//! the slowest estimator and drops every answer if one call fails.
//!
//! The messages are written in Rust by hand, because they are few and frozen; a build needs no `protoc`. This crate
//! decides nothing and knows no API server: Services are looked up through [`ServiceLookup`].

mod address;
mod answers;
mod breaker;
mod call;
mod connection;
mod error;
mod estimate;
mod estimators;
mod kubernetes;
mod message;
mod request;
mod wording;

pub use address::{Address, Addressing, LookupError, NoServices, ServiceLookup};
pub use breaker::{BreakerOptions, BreakerState};
pub use connection::{ClientCertificate, Tls, Transport, Verification};
pub use error::CallError;
pub use estimate::{Estimate, Unanswered};
pub use estimators::{EstimatorOptions, EstimatorState, Estimators, Target};
pub use request::{AssumedWorkload, InvalidRequirements, Request};
