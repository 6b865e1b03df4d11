//! The scheduler of a control plane: watches objects, queues bindings, decides, writes the results, and holds a lease.

pub mod client;
pub mod condition;
pub mod decide;
pub mod decision;
pub mod guard;
pub mod holdings;
pub mod objects;
pub mod queue;
pub mod store;
pub mod watch;
pub mod write;
