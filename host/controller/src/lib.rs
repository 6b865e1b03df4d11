//! The scheduler of a control plane: watches objects, queues bindings, decides, writes the results, and holds a lease.

pub mod client;
pub mod condition;
pub mod decide;
pub mod decision;
pub mod engine;
pub mod events;
pub mod guard;
pub mod holdings;
pub mod objects;
pub mod queue;
pub mod run;
pub mod store;
pub mod watch;
pub mod write;
