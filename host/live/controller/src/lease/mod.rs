//! The lease that lets one scheduler of several write, by the algorithm of client-go's leader election.
//!
//! A `Lease` of `coordination.k8s.io/v1` names its holder. The holder renews it every few seconds; a contender takes it
//! once it has seen no change for the lease's duration. Updates are checked by resourceVersion, so one of two contenders
//! fails. Times in the record are for people: only the moment at which a contender *saw* a change counts, by its own
//! clock, so clocks may differ between machines.
//!
//! - [`Elector`]: contends for the lease, renews it, releases it. The only part that talks to an API server, through
//!   [`api::LeaseApi`].
//! - [`Fence`]: decides whether a write may start now. It closes by itself when renewals fail or the process was paused.
//! - [`Election`]: the algorithm as a state machine, without a clock or a network.
//!
//! There are two deliberate differences from client-go (`tools/leaderelection`, v0.36). The fence counts from the moment
//! before the renewal was *sent*, by a clock that includes the time in which a machine was suspended. And a scheduler that
//! lost the lease does not exit but contends again, as a standby; each time that it leads is a new [`Term`].
//!
//! A fence cannot stop a write that is already on its way. Requests need a deadline shorter than the lease's duration minus
//! the renew deadline (5 seconds by default), so that they end before another scheduler may lead.

mod api;
mod clock;
mod election;
mod elector;
mod fence;
mod options;

pub use api::LeasesOfCluster;
pub use clock::{BootClock, Clock, Moment};
pub use election::{Answer, Election, Next, Request, Role, Term};
pub use elector::Elector;
pub use fence::Fence;
pub(crate) use options::TimingError;
pub use options::{LeaseName, LeaseOptions, LeaseTiming, unique_identity};
