//! Labels and their values. Values are static, except where operators choose names.

use prometheus_client::encoding::EncodeLabelSet;

/// Declares an enumeration of label values with their spelling.
macro_rules! label {
    ($(#[$documentation:meta])* $name:ident { $( $(#[$about:meta])* $variant:ident = $word:literal, )+ }) => {
        $(#[$documentation])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum $name {
            $( $(#[$about])* $variant, )+
        }

        impl $name {
            /// Every value.
            #[allow(dead_code, reason = "only some labels are exposed before they first count")]
            pub(crate) const ALL: &'static [Self] = &[$( Self::$variant ),+];

            /// The value as it is exposed.
            pub(crate) fn word(self) -> &'static str {
                match self {
                    $( Self::$variant => $word, )+
                }
            }
        }
    };
}

label! {
    /// Outcome of an attempt, in Karmada's words.
    ScheduleResult {
        /// The result is written.
        Scheduled = "scheduled",
        /// The decision or its write failed.
        Error = "error",
    }
}

label! {
    /// Cause of an attempt, in Karmada's words.
    ScheduleType {
        /// The placement changed, or a decision was requested.
        Reconcile = "ReconcileSchedule",
        /// The number of replicas changed.
        Scale = "ScaleSchedule",
    }
}

label! {
    /// Step of a decision, in Karmada's words.
    ScheduleStep {
        /// Clusters are filtered.
        Filter = "Filter",
        /// Clusters are scored.
        Score = "Score",
        /// Candidates are selected.
        Select = "Select",
        /// Replicas are assigned.
        Assign = "AssignReplicas",
    }
}

label! {
    /// Reason for which a binding entered the queue, in Karmada's words.
    IncomingEvent {
        /// It was created.
        BindingAdd = "BindingAdd",
        /// Its specification or metadata changed.
        BindingUpdate = "BindingUpdate",
        /// The last attempt failed.
        AttemptFailed = "ScheduleAttemptFailure",
        /// Its policy changed.
        PolicyChanged = "PolicyChanged",
        /// A cluster changed.
        ClusterChanged = "ClusterChanged",
    }
}

label! {
    /// Extension point. Karmada has the first two.
    ExtensionPoint {
        /// Clusters are filtered.
        Filter = "Filter",
        /// Clusters are scored.
        Score = "Score",
        /// Candidates are selected.
        Select = "Select",
        /// Replicas are assigned.
        Assign = "Assign",
        /// State for one binding is prepared.
        Prepare = "Prepare",
        /// The next step of a move is taken.
        Pace = "Pace",
    }
}

label! {
    /// Outcome of a plugin call. Karmada has all but the last.
    CallOutcome {
        /// It returned a result.
        Success = "Success",
        /// The binding does not fit.
        Unschedulable = "Unschedulable",
        /// It failed, or its result breaks a rule.
        Error = "Error",
        /// It panicked.
        Panic = "Panic",
    }
}

label! {
    /// Part of the queue, in Karmada's words.
    QueuePart {
        /// Bindings that are decided next.
        Active = "active",
        /// Bindings that wait after a failure.
        Backoff = "backoff",
        /// Bindings that wait for a change.
        Unschedulable = "unschedulable",
    }
}

label! {
    /// Kind of a write.
    WriteKind {
        /// Clusters and annotations of a binding.
        Specification = "specification",
        /// Status of a binding.
        Status = "status",
        /// An event.
        Event = "event",
    }
}

label! {
    /// Outcome of a write.
    WriteResult {
        /// It is stored.
        Written = "written",
        /// The object had changed.
        Conflict = "conflict",
        /// The API server or a webhook refused it.
        Refused = "refused",
        /// The API server failed or did not answer in time.
        Failed = "failed",
    }
}

label! {
    /// Outcome of a reload.
    ReloadResult {
        /// The new set of plugins decides.
        Applied = "applied",
        /// The new set was refused, and the old one stays.
        Refused = "refused",
    }
}

label! {
    /// Agreement of a decision in shadow mode with that of the scheduler in charge.
    Agreement {
        /// The decisions are the same.
        Same = "same",
        /// They differ, because capacity is held here; with nothing held they would be the same.
        Held = "held",
        /// They differ.
        Different = "different",
    }
}

label! {
    /// How a binding's part in a plan ends.
    PlanEnd {
        /// It has its target.
        Reached = "reached",
        /// The plan fits it no more.
        Left = "left",
    }
}

label! {
    /// How bindings that are decided at once are decided.
    BurstEnd {
        /// By a plan.
        Planned = "planned",
        /// One after another: all have room, or no plan places more.
        OneByOne = "one_by_one",
    }
}

/// Declares a set of labels.
macro_rules! labels {
    ($( $name:ident { $( $label:ident: $type:ty, )+ } )+) => {
        $(
            #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, EncodeLabelSet)]
            pub(super) struct $name {
                $( pub(super) $label: $type, )+
            }
        )+
    };
}

labels! {
    AttemptLabels { result: &'static str, schedule_type: &'static str, }
    StepLabels { schedule_step: &'static str, }
    EventLabels { event: &'static str, }
    PointLabels { extension_point: &'static str, result: &'static str, }
    PluginLabels { plugin: &'static str, extension_point: &'static str, result: &'static str, }
    ResultLabels { plugin: &'static str, extension_point: &'static str, }
    QuarantineLabels { plugin: &'static str, }
    PartLabels { queue: &'static str, }
    ReasonLabels { reason: &'static str, }
    RightLabels { resource: String, verb: &'static str, }
    HeldLabels { cluster: String, resource: String, }
    MoveLabels { state: &'static str, }
    EndLabels { end: &'static str, }
    OccasionLabels { occasion: &'static str, }
    EstimateLabels { result: &'static str, }
    WriteLabels { kind: &'static str, result: &'static str, }
    ReloadLabels { result: &'static str, }
    ProfileLabels { profile: String, hash: String, }
    ShadowLabels { strategy: String, agreement: &'static str, }
}
