//! The scheduler of a control plane: watches objects, queues bindings, decides, writes the results, and holds a lease.

pub mod lease;
pub mod lookup;
pub mod observe;
pub mod serve;
