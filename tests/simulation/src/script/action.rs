//! The actions of a script, and their sentences in a story.

use std::fmt;

use divvy_controller::objects::Kind;
use divvy_world::agenda::Millis;
use divvy_world::plane::Estimating;
use divvy_world::server::Fault;
use serde_json::Value;

use super::ProfileName;

/// A workload as it is created.
#[derive(Debug, Clone)]
pub(crate) struct Template {
    /// Kind of the resource; only Deployments have a health in Karmada.
    pub(crate) kind: &'static str,
    /// Replicas.
    pub(crate) replicas: i64,
    /// CPU of each replica, in thousandths.
    pub(crate) cpu: i64,
    /// Memory of each replica, in MiB.
    pub(crate) memory: i64,
    /// True for two pod templates, which go to each cluster as a whole.
    pub(crate) has_components: bool,
    /// Placement.
    pub(crate) placement: Value,
    /// Priority in the queue.
    pub(crate) priority: i64,
    /// Delay of the policy's first appearance.
    pub(crate) policy_delay: Millis,
}

/// The way in which a watch that broke goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resume {
    /// From where it ended.
    There,
    /// From this many events before.
    Earlier(usize),
    /// With a list: the version is too old.
    Relist,
}

/// The way in which a plan is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Planning {
    /// As `divvy rebalance --place` makes it: what waits is placed by the fewest moves.
    Place,
    /// Some targets for what runs, by this number.
    Anyhow(u64),
}

/// Something that happens to the world.
#[derive(Debug, Clone)]
pub(crate) enum Action {
    Create {
        binding: usize,
        template: Template,
    },
    Scale {
        binding: usize,
        replicas: i64,
    },
    Place {
        binding: usize,
        placement: Value,
    },
    Request {
        binding: usize,
        cpu: i64,
    },
    Delete {
        binding: usize,
    },
    Suspend {
        binding: usize,
        is_suspended: bool,
    },
    HandOver {
        binding: usize,
        scheduler: &'static str,
    },
    Rebalance {
        binding: usize,
    },
    Relabel {
        binding: usize,
    },
    Deschedule {
        binding: usize,
        cluster: usize,
    },
    Crash {
        binding: usize,
        cluster: usize,
        millis: Millis,
    },
    Join {
        cluster: usize,
    },
    Leave {
        cluster: usize,
    },
    Vanish {
        cluster: usize,
    },
    Return {
        cluster: usize,
    },
    Label {
        cluster: usize,
        value: &'static str,
    },
    Taint {
        cluster: usize,
        effect: Option<&'static str>,
    },
    Flap {
        cluster: usize,
        millis: Millis,
    },
    AddNode {
        cluster: usize,
        cpu: i64,
    },
    RemoveNode {
        cluster: usize,
    },
    Foreign {
        cluster: usize,
        pods: u64,
    },
    Unserve {
        cluster: usize,
        is_served: bool,
    },
    Silent {
        cluster: usize,
        millis: Millis,
    },
    Blind {
        cluster: usize,
        millis: Millis,
    },
    LateReports {
        cluster: usize,
        millis: Millis,
    },
    Lag {
        cluster: usize,
        millis: Millis,
    },
    Fault(Fault),
    WatchLag {
        process: usize,
        kind: Kind,
        millis: Millis,
    },
    WatchBreak {
        process: usize,
        kind: Kind,
        resume: Resume,
    },
    Kill {
        process: usize,
        millis: Millis,
    },
    Stall {
        process: usize,
        millis: Millis,
    },
    LeaseOutage {
        process: usize,
        millis: Millis,
    },
    Reload {
        profile: ProfileName,
    },
    Confirm,
    Estimators(Estimating),
    Plan {
        planning: Planning,
        lasts: Millis,
    },
    GiveUp,
}

impl fmt::Display for Action {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Create { binding, template } => {
                let Template {
                    kind,
                    replicas,
                    cpu,
                    memory,
                    placement,
                    ..
                } = template;
                let components = if template.has_components {
                    " with two components"
                } else {
                    ""
                };
                write!(
                    formatter,
                    "b{binding} is created: a {kind}{components} of {replicas} × {cpu}m CPU, {memory}Mi, priority {}, placement {placement}",
                    template.priority
                )
            }
            Self::Scale { binding, replicas } => write!(formatter, "b{binding} is scaled to {replicas}"),
            Self::Place { binding, placement } => write!(formatter, "b{binding} gets the placement {placement}"),
            Self::Request { binding, cpu } => write!(formatter, "each pod of b{binding} requests {cpu}m CPU"),
            Self::Delete { binding } => write!(formatter, "b{binding} is deleted"),
            Self::Suspend { binding, is_suspended } => match is_suspended {
                true => write!(formatter, "scheduling of b{binding} is suspended"),
                false => write!(formatter, "scheduling of b{binding} is resumed"),
            },
            Self::HandOver { binding, scheduler } => write!(formatter, "b{binding} is given to scheduler {scheduler}"),
            Self::Rebalance { binding } => write!(formatter, "a WorkloadRebalancer reschedules b{binding}"),
            Self::Relabel { binding } => write!(formatter, "a label of b{binding} changes"),
            Self::Deschedule { binding, cluster } => {
                write!(
                    formatter,
                    "the descheduler takes pods of b{binding} that found no node off c{cluster}"
                )
            }
            Self::Crash {
                binding,
                cluster,
                millis,
            } => write!(formatter, "pods of b{binding} crash on c{cluster} for {millis} ms"),
            Self::Join { cluster } => write!(formatter, "c{cluster} joins"),
            Self::Leave { cluster } => write!(formatter, "the deletion of c{cluster} begins"),
            Self::Vanish { cluster } => write!(formatter, "c{cluster} vanishes without having been deleted"),
            Self::Return { cluster } => write!(formatter, "c{cluster} is back"),
            Self::Label { cluster, value } => write!(formatter, "c{cluster} gets the label {value}"),
            Self::Taint { cluster, effect } => match effect {
                Some(effect) => write!(formatter, "c{cluster} gets a taint {effect}"),
                None => write!(formatter, "c{cluster} loses its taint"),
            },
            Self::Flap { cluster, millis } => write!(formatter, "c{cluster} is not reachable for {millis} ms"),
            Self::AddNode { cluster, cpu } => write!(formatter, "c{cluster} gets a node of {cpu} CPU"),
            Self::RemoveNode { cluster } => write!(formatter, "c{cluster} loses a node"),
            Self::Foreign { cluster, pods } => match pods {
                0 => write!(formatter, "foreign pods leave c{cluster}"),
                pods => write!(formatter, "{pods} foreign pods appear on c{cluster}"),
            },
            Self::Unserve { cluster, is_served } => match is_served {
                true => write!(formatter, "c{cluster} serves apps/v1 again"),
                false => write!(formatter, "c{cluster} no longer serves apps/v1"),
            },
            Self::Silent { cluster, millis } => write!(formatter, "c{cluster} reports nothing for {millis} ms"),
            Self::Blind { cluster, millis } => write!(formatter, "c{cluster} reports no pods for {millis} ms"),
            Self::LateReports { cluster, millis } => write!(formatter, "reports of c{cluster} are {millis} ms late"),
            Self::Lag { cluster, millis } => write!(
                formatter,
                "c{cluster} applies nothing and shows no states for {millis} ms, although it is Ready"
            ),
            Self::Fault(fault) => fault.fmt(formatter),
            Self::WatchLag { process, kind, millis } => {
                write!(formatter, "p{process} sees {} {millis} ms late", kind.plural())
            }
            Self::WatchBreak { process, kind, resume } => {
                write!(formatter, "p{process}'s watch of {} breaks and goes on ", kind.plural())?;
                match resume {
                    Resume::There => formatter.write_str("where it ended"),
                    Resume::Earlier(events) => write!(formatter, "{events} events earlier"),
                    Resume::Relist => formatter.write_str("with a list"),
                }
            }
            Self::Kill { process, millis } => write!(formatter, "p{process} is killed, and back after {millis} ms"),
            Self::Stall { process, millis } => write!(formatter, "p{process} stands still for {millis} ms"),
            Self::LeaseOutage { process, millis } => {
                write!(formatter, "requests of p{process} about the lease fail for {millis} ms")
            }
            Self::Reload { profile } => write!(formatter, "the profile becomes {profile}"),
            Self::Confirm => formatter.write_str("a person confirms that missing clusters are gone"),
            Self::Plan { planning, lasts } => match planning {
                Planning::Place => write!(formatter, "all that waits is planned, for {lasts} ms"),
                Planning::Anyhow(number) => write!(formatter, "plan {number} moves what runs, for {lasts} ms"),
            },
            Self::GiveUp => formatter.write_str("a person gives up all plans"),
            Self::Estimators(conduct) => write!(formatter, "estimators answer: {conduct:?}"),
        }
    }
}
