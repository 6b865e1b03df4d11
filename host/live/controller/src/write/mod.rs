//! Writing a decision to its binding: one patch of the specification, one of the status.
//!
//! - [`WriteJob`]: the content of a write, made by the engine.
//! - [`patch`]: the bodies of both patches, as pure functions of the job and the object that they apply to.
//! - [`rights`]: rights that are missing according to the API server.
//! - [`execute`]: the requests, their preconditions, and the consequences of each answer.
//!
//! The specification's patch carries the UID and the resource version that the decision was made from, so it fails if
//! anything changed since. If only the status or another controller's metadata changed, it is sent again; if the
//! specification changed, the decision is dropped. Its answer has the new generation and version, from which the
//! status is written at once.

pub mod execute;
pub mod patch;
pub(crate) mod rights;

use std::sync::Arc;

use divvy_karmada::api::{TargetCluster, Timestamp};

use crate::condition::ScheduledReason;
use crate::lease::Term;
use crate::objects::{BindingKey, Fetched};
use crate::store::StoredBinding;

/// A write of one binding.
#[derive(Debug, Clone)]
pub struct WriteJob {
    /// Span of the decision, under which the write is.
    pub(crate) span: tracing::Span,
    /// The binding.
    pub key: Arc<BindingKey>,
    /// The version of the binding that was decided.
    pub(crate) base: Arc<StoredBinding>,
    /// Term in which it was decided.
    pub(crate) term: Term,
    /// Change to the specification; `None` if it stays.
    pub specification: Option<SpecificationPatch>,
    /// The status that the binding gets.
    pub status: StatusWanted,
    /// True for a step of a move. If a quota refuses it, the status stays: another step may do.
    pub(crate) is_step: bool,
}

impl WriteJob {
    /// The version of the binding that was decided.
    pub fn decided(&self) -> &StoredBinding {
        &self.base
    }
}

/// Change to the specification and the annotations that go with it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SpecificationPatch {
    /// The new result; `None` if it stays.
    pub clusters: Option<Vec<TargetCluster>>,
    /// The annotation of the applied placement; `None` if it stays.
    pub(crate) applied_placement: Option<String>,
    /// The annotation of the applied policy; the inner `None` removes it, the outer one leaves it.
    pub(crate) applied_policy: Option<Option<String>>,
    /// The annotation of a wait after a plugin's failure, likewise.
    pub(crate) plugin_failure: Option<Option<String>>,
    /// The mark of a move, likewise. A patch with it is for one version of the binding only: a step depends on what is ready.
    pub(crate) mark: Option<Option<String>>,
    /// The annotation of what left clusters, likewise.
    pub(crate) departures: Option<Option<String>>,
    /// True if the annotation of a planned target is removed. Such a patch is for one version of the binding only: the target may be
    /// another one by then.
    pub(crate) ends_plan: bool,
}

/// Status of a binding after a write.
#[derive(Debug, Clone, PartialEq)]
pub struct StatusWanted {
    /// The condition `Scheduled`; `None` leaves it.
    pub(crate) condition: Option<(ScheduledReason, String)>,
    /// True to record the generation as observed.
    pub(crate) observes: bool,
    /// True to note the generation in the condition, because it is not recorded as observed yet: another process must know of which result
    /// the time of the last scheduling is.
    pub(crate) notes_generation: bool,
    /// Time of the last scheduling; `None` leaves it.
    pub(crate) scheduled_at: Option<Timestamp>,
    /// True to write the time even if nothing else of the status changes.
    pub(crate) stamps: bool,
    /// Name of the affinity group that fitted; `None` leaves it.
    pub(crate) affinity: Option<String>,
    /// Now, for the condition's transition.
    pub(crate) now: Timestamp,
}

impl StatusWanted {
    /// The condition alone: that of a failure, or one that is no longer true.
    pub(crate) fn condition_alone(reason: ScheduledReason, message: String, now: Timestamp) -> Self {
        Self {
            condition: Some((reason, message)),
            observes: false,
            notes_generation: false,
            scheduled_at: None,
            stamps: false,
            affinity: None,
            now,
        }
    }
}

/// Outcome of a write. The default is that of a write with nothing to do.
#[derive(Debug, Default)]
pub struct Written {
    /// The binding in the last answer; `None` if nothing was written.
    pub latest: Option<Fetched>,
    /// Generation that the decision covers: with its own change of the specification, but no later one.
    pub generation: Option<i64>,
    /// True if the specification was written.
    pub wrote_specification: bool,
    /// True if the status was written.
    pub wrote_status: bool,
    /// Conflicts on the way.
    pub conflicts: u32,
    /// The outcome.
    pub outcome: WriteOutcome,
}

/// Outcome of a write.
#[derive(Debug, Default)]
pub enum WriteOutcome {
    /// Everything is written, or was already.
    #[default]
    Done,
    /// The binding changed since the decision, which is dropped.
    Superseded,
    /// The binding is gone, or its namespace is being deleted.
    Gone,
    /// The API server refused the specification; the reason is in the status.
    Refused(ScheduledReason, String),
    /// The result is written, but the status is not. The next decision on the binding repairs it.
    HalfWritten(String),
    /// Nothing is known to be written.
    Failed(String),
    /// This process may not write any more.
    Fenced,
}
