//! The condition `Scheduled` of a binding: Karmada's reasons and words (`pkg/apis/work/v1alpha2/binding_types.go`).

use divvy_karmada::api::{Condition, Timestamp};
use divvy_scheduler::cycle::CycleError;
use divvy_scheduler::decision::{Decision, Outcome};
use divvy_scheduler::plugin::CallError;

/// Type of the condition.
pub(crate) const SCHEDULED: &str = "Scheduled";

/// The condition among those of a binding.
pub(crate) fn scheduled_condition(conditions: &[Condition]) -> Option<&Condition> {
    conditions.iter().find(|condition| condition.kind == SCHEDULED)
}

/// Message of a binding that was scheduled.
pub(crate) const SUCCESS_MESSAGE: &str = "Binding has been scheduled successfully.";

/// Longest message that a condition of Kubernetes may have, in bytes.
pub(crate) const MESSAGE_MAX: usize = 32_768;

/// Reason of the condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScheduledReason {
    /// It was scheduled.
    Success,
    /// No cluster fits it.
    NoClusterFit,
    /// Clusters fit it, but they are too small.
    Unschedulable,
    /// Anything else failed.
    SchedulerError,
    /// Its namespace's quota refuses the result.
    QuotaExceeded,
}

impl ScheduledReason {
    /// The reasons of bindings that are not scheduled.
    pub(crate) const FAILURES: [Self; 4] = [
        Self::NoClusterFit,
        Self::Unschedulable,
        Self::SchedulerError,
        Self::QuotaExceeded,
    ];

    /// Name of the reason.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Success => "Success",
            Self::NoClusterFit => "NoClusterFit",
            Self::Unschedulable => "Unschedulable",
            Self::SchedulerError => "SchedulerError",
            Self::QuotaExceeded => "QuotaExceeded",
        }
    }
}

/// Something that can remove the cause of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Cause {
    /// Filters rejected every cluster: a new cluster, or one that is changed, may help.
    Filters,
    /// Room is missing: free capacity may help, too.
    Capacity,
    /// The binding or its policy is invalid: only a change to one of them helps.
    Binding,
    /// Writes that take replicas away are stopped, until the missing clusters are confirmed.
    MissingClusters,
    /// A plugin is not called, because its worker kept failing: it is called again after a while.
    Suspended,
    /// A plugin's worker died on the binding: time, or a change to the binding, helps.
    Deadly,
}

/// Condition for trying a failed binding again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Retry {
    /// After a growing wait.
    Backoff,
    /// After an event that may remove the cause.
    After(Cause),
    /// After a wait that grows from a minute to an hour, because a plugin's worker died on the binding.
    Pause,
}

impl Retry {
    /// The condition for trying a binding again whose affinity groups failed for two reasons: the one that more events meet.
    #[must_use]
    pub(crate) fn or(self, other: Self) -> Self {
        let breadth = |retry: &Self| match retry {
            Self::After(Cause::MissingClusters) => 0,
            Self::After(Cause::Binding) => 1,
            Self::After(Cause::Filters) => 2,
            Self::After(Cause::Capacity) => 3,
            Self::After(Cause::Suspended | Cause::Deadly) => 4,
            Self::Backoff => 5,
            // Any other event would have the worker die again.
            Self::Pause => 6,
        };
        match breadth(&other) > breadth(&self) {
            true => other,
            false => self,
        }
    }
}

/// A decision that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Reason of the condition.
    pub reason: ScheduledReason,
    /// Message of the condition and of the event.
    pub message: String,
    /// Condition for trying it again.
    pub(crate) retry: Retry,
}

impl Failure {
    /// The failure of a decision: the error of the affinity group that was tried first, until an event that may help any of the
    /// groups. `None` if the decision did not fail.
    pub(crate) fn from_decision(decision: &Decision) -> Option<Self> {
        let failures = decision.failures().map(|(_, error)| Self::from_cycle(error));
        let combined = failures.reduce(|first, other| Self {
            retry: first.retry.or(other.retry),
            ..first
        });
        combined.filter(|_| matches!(decision.outcome, Outcome::Failed(_)))
    }

    /// A failure that only a change to the binding or its policy removes.
    pub(crate) fn invalid_binding(message: impl Into<String>) -> Self {
        Self {
            reason: ScheduledReason::SchedulerError,
            message: message.into(),
            retry: Retry::After(Cause::Binding),
        }
    }

    /// A result that could not be written, or was refused.
    pub(crate) fn unwritten(message: impl Into<String>) -> Self {
        Self {
            reason: ScheduledReason::SchedulerError,
            message: message.into(),
            retry: Retry::Backoff,
        }
    }

    /// Adds to the message when the binding is tried again.
    pub(crate) fn tried_again_at(&mut self, time: Timestamp) {
        self.message.push_str(&format!(
            "; tried again at {time}, and when the binding, its policy, the profile or a plugin changes"
        ));
        self.message = shortened(std::mem::take(&mut self.message), MESSAGE_MAX);
    }

    /// A failure of a cycle. Unmet spread constraints are `SchedulerError`, as in Karmada.
    pub fn from_cycle(error: &CycleError) -> Self {
        let (reason, retry) = match error {
            CycleError::NoClusterFit { .. } => (ScheduledReason::NoClusterFit, Retry::After(Cause::Filters)),
            CycleError::Unschedulable { .. } => (ScheduledReason::Unschedulable, Retry::After(Cause::Capacity)),
            CycleError::NotSelectable { .. } => (ScheduledReason::SchedulerError, Retry::After(Cause::Capacity)),
            CycleError::InvalidBinding { .. } | CycleError::InvalidPreferences { .. } => {
                (ScheduledReason::SchedulerError, Retry::After(Cause::Binding))
            }
            CycleError::Plugin(CallError::Isolated { error, .. }) if error.ended_worker() => {
                (ScheduledReason::SchedulerError, Retry::Pause)
            }
            CycleError::Plugin(CallError::Suspended { .. }) => {
                (ScheduledReason::SchedulerError, Retry::After(Cause::Suspended))
            }
            CycleError::TimeUnknown { .. }
            | CycleError::TableUnknown { .. }
            | CycleError::UnusableTables(_)
            | CycleError::TableRow(_)
            | CycleError::PlacementsUnknown { .. }
            | CycleError::Plugin(_)
            | CycleError::Violation(_)
            | CycleError::Defect(_) => (ScheduledReason::SchedulerError, Retry::Backoff),
        };
        let message = match error.hint() {
            Some(hint) => format!("{error} (hint: {hint})"),
            None => error.to_string(),
        };
        Self {
            reason,
            message: shortened(message, MESSAGE_MAX),
            retry,
        }
    }
}

/// A text of at most `limit` bytes, with an ellipsis if it was longer.
pub(crate) fn shortened(mut text: String, limit: usize) -> String {
    const ELLIPSIS: &str = "…";
    if text.len() <= limit {
        return text;
    }
    let mut end = limit.saturating_sub(ELLIPSIS.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text.push_str(ELLIPSIS);
    text
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(shortened("abc".to_owned(), 3), "abc");
        assert_eq!(shortened("abcdef".to_owned(), 5), "ab…");
        assert_eq!(shortened("ääää".to_owned(), 6), "ä…");
    }
}
