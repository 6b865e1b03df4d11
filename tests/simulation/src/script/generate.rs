//! Scripts from seeds.
//!
//! Each seed leaves some families of actions out altogether. A life with everything at once hides defects that only a calm world
//! shows, such as capacity that is never given back, because something else always gives it back.

mod sequences;

use std::collections::VecDeque;

use divvy_controller::objects::Kind;
use divvy_world::agenda::Millis;
use divvy_world::plane::Estimating;
use divvy_world::random::Random;
use divvy_world::server::{Effect, Fault, Fitting};

use super::placement::{placement, tier, within};
use super::{Action, ClusterPlan, MOVES, Planning, ProfileName, Resume, Script, Setup, Step, Template};

/// The most time between steps that say most while a decision or a write is under way.
const AT_ONCE: Millis = 60;

/// Families of actions, each with its weight.
const FAMILIES: [(Family, u64); 13] = [
    (Family::Workloads, 40),
    (Family::Controllers, 12),
    (Family::Capacity, 8),
    (Family::Membership, 6),
    (Family::Reports, 8),
    (Family::Writes, 12),
    (Family::Watches, 12),
    (Family::Processes, 6),
    (Family::Profiles, 2),
    (Family::Estimators, 4),
    (Family::Moves, 60),
    (Family::Plans, 15),
    (Family::Bursts, 5),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Workloads,
    Controllers,
    Capacity,
    Membership,
    Reports,
    Writes,
    Watches,
    Processes,
    Profiles,
    Estimators,
    Moves,
    Plans,
    Bursts,
}

/// The script of a seed.
pub(super) fn script(seed: u64, steps: usize) -> Script {
    let mut random = Random::new(seed, "script");
    let setup = setup(seed, &mut random);
    let mut bindings = usize::try_from(random.between(5, 40)).unwrap_or(5);
    if setup.has_moves() {
        // So few that much happens to each in the middle of a move.
        bindings = bindings.min(10);
    }
    let families: Vec<(Family, u64)> = FAMILIES
        .into_iter()
        .filter(|(family, _)| is_played(*family, &setup, &mut random))
        .collect();
    let mut writer = Writer {
        random,
        clusters: setup.clusters.len(),
        processes: setup.processes,
        bindings,
        is_closed: setup.is_closed,
        has_moves: setup.has_moves(),
        has_bursts: setup.profile == ProfileName::Jointly,
        placements: Vec::new(),
        sequence: VecDeque::new(),
    };
    if setup.has_moves() {
        writer.placements = (0..3).map(|_| writer.divided()).collect();
    }
    let mut at = 3_000;
    let steps = (0..steps).map(|number| {
        let (gap, action) = match writer.sequence.pop_front() {
            Some((most, action)) => (writer.random.between(0, most), action),
            None => {
                let gap = writer.gap();
                // The first steps fill the control plane.
                let action = match number < bindings / 2 {
                    true => writer.create(),
                    false => writer.action(&families),
                };
                (gap, action)
            }
        };
        at += match action {
            // A cluster's deletion says most while a result is being written that may name it.
            Action::Leave { .. } => gap.min(writer.random.between(0, AT_ONCE)),
            _ => gap,
        };
        Step { at, action }
    });
    Script {
        steps: steps.collect(),
        setup,
    }
}

fn setup(seed: u64, random: &mut Random) -> Setup {
    let count = usize::try_from(random.between(2, 12)).unwrap_or(2);
    let is_closed = random.chance(40);
    let models = random.below(3);
    let clusters = (0..count).map(|number| ClusterPlan {
        nodes: (0..random.between(1, 4)).map(|_| random.pick(&[4, 8, 16])).collect(),
        has_models: match models {
            0 => true,
            1 => false,
            _ => random.chance(50),
        },
        region: random.pick(&["north", "south", "west"]),
        label: tier(random),
        is_there: number < 2 || random.chance(85),
    });
    let clusters: Vec<ClusterPlan> = clusters.collect();
    let plain = random.pick(&[ProfileName::Default, ProfileName::Karmada]);
    // One life in three has moves. Of the others under `default`, half decide bursts as one plan.
    let profile = match seed % 6 {
        2 | 5 => ProfileName::Moves(index_of(seed / 3)),
        0 | 1 if plain == ProfileName::Default => ProfileName::Jointly,
        _ => plain,
    };
    Setup {
        clusters,
        seed,
        profile,
        processes: if random.chance(50) { 2 } else { 1 },
        concurrency: usize::try_from(random.pick(&[1_u64, 4, 16])).unwrap_or(4),
        is_closed,
        asks_estimators: !is_closed && random.chance(30),
    }
}

/// One of the profiles with moves.
fn index_of(number: u64) -> usize {
    usize::try_from(number % MOVES.len() as u64).unwrap_or(0)
}

fn is_played(family: Family, setup: &Setup, random: &mut Random) -> bool {
    if family == Family::Moves {
        return setup.has_moves();
    }
    if family == Family::Bursts {
        return setup.profile == ProfileName::Jointly;
    }
    if family == Family::Plans {
        return setup.has_moves() && random.chance(80);
    }
    let is_chosen = random.chance(60);
    match family {
        Family::Workloads => true,
        Family::Estimators => setup.asks_estimators,
        Family::Membership | Family::Reports => is_chosen && !setup.is_closed,
        _ => is_chosen,
    }
}

/// Writes the steps one after another.
struct Writer {
    random: Random,
    clusters: usize,
    processes: usize,
    bindings: usize,
    is_closed: bool,
    has_moves: bool,
    has_bursts: bool,
    /// Placements between which policies change, so that moves are turned back on their way.
    placements: Vec<serde_json::Value>,
    /// What follows the last step before anything else does: the most time that goes by first, and what happens.
    sequence: VecDeque<(Millis, Action)>,
}

impl Writer {
    /// Time since the step before: things that happen while a write is under way, bursts, and pauses.
    fn gap(&mut self) -> Millis {
        match self.random.below(100) {
            0..20 => self.random.between(0, 25),
            20..60 => self.random.between(0, 300),
            60..95 => self.random.between(500, 4_000),
            _ => self.random.between(8_000, 40_000),
        }
    }

    fn action(&mut self, families: &[(Family, u64)]) -> Action {
        let sum = families.iter().map(|(_, weight)| weight).sum();
        let mut left = self.random.below(sum);
        let chosen = families.iter().find(|(_, weight)| {
            let is_chosen = left < *weight;
            left = left.saturating_sub(*weight);
            is_chosen
        });
        match chosen.map_or(Family::Workloads, |(family, _)| *family) {
            Family::Workloads => self.workload(),
            Family::Controllers => self.controller(),
            Family::Capacity => self.capacity(),
            Family::Membership => self.membership(),
            Family::Reports => self.report(),
            Family::Writes => self.write(),
            Family::Watches => self.watch(),
            Family::Processes => self.process(),
            Family::Profiles => Action::Reload {
                profile: self.profile(),
            },
            Family::Estimators => self.estimators(),
            Family::Moves => self.moves(),
            Family::Plans => self.plan(),
            Family::Bursts => self.burst(),
        }
    }

    /// A profile to exchange the present one for.
    fn profile(&mut self) -> ProfileName {
        let plain = self.random.pick(&[ProfileName::Default, ProfileName::Karmada]);
        if self.has_moves && self.random.chance(80) {
            return ProfileName::Moves(self.random.index(MOVES.len()));
        }
        match plain {
            ProfileName::Default if self.has_bursts => ProfileName::Jointly,
            plain => plain,
        }
    }

    /// A placement that divides replicas.
    fn divided(&mut self) -> serde_json::Value {
        loop {
            let placement = self.placement();
            if placement["replicaScheduling"]["replicaSchedulingType"] == "Divided" {
                return placement;
            }
        }
    }

    /// What has workloads move, and what gets in their way.
    fn moves(&mut self) -> Action {
        let (binding, cluster) = (self.binding(), self.cluster());
        match self.random.below(12) {
            0..5 => {
                let known = self.random.index(self.placements.len());
                let placement = match self.placements.get(known).filter(|_| self.random.chance(80)) {
                    Some(placement) => placement.clone(),
                    None => self.placement(),
                };
                Action::Place { binding, placement }
            }
            5..7 => Action::Rebalance { binding },
            7 => Action::Taint {
                cluster,
                effect: self.random.pick(&[None, Some("NoExecute")]),
            },
            8..11 => self.lag(binding, cluster),
            _ => Action::Crash {
                binding,
                cluster,
                millis: self.random.between(1_000, 30_000),
            },
        }
    }

    /// A plan of all bindings, or the end of all plans.
    fn plan(&mut self) -> Action {
        let planning = match self.random.below(10) {
            0..2 => return Action::GiveUp,
            // Where sums are judged, there is room for every plan.
            2..5 => Planning::Place,
            _ if self.is_closed => Planning::Place,
            _ => Planning::Anyhow(self.random.below(1_000_000)),
        };
        Action::Plan {
            planning,
            lasts: self.random.pick(&[5_000, 60_000, 600_000]),
        }
    }

    fn binding(&mut self) -> usize {
        self.random.index(self.bindings)
    }

    fn cluster(&mut self) -> usize {
        self.random.index(self.clusters)
    }

    fn placement(&mut self) -> serde_json::Value {
        placement(&mut self.random, self.clusters, self.is_closed)
    }

    fn replicas(&mut self) -> i64 {
        i64::try_from(match self.random.below(10) {
            0..7 => self.random.between(1, 12),
            7..9 => self.random.between(10, 40),
            _ => self.random.between(0, 2),
        })
        .unwrap_or(1)
    }

    fn create(&mut self) -> Action {
        let template = self.template();
        Action::Create {
            binding: self.binding(),
            template,
        }
    }

    fn template(&mut self) -> Template {
        Template {
            kind: if self.random.chance(75) { "Deployment" } else { "Job" },
            replicas: self.replicas(),
            cpu: self.random.pick(&[250, 500, 1_000, 1_000, 2_000]),
            memory: self.random.pick(&[128, 512, 1_024]),
            has_components: !self.is_closed && self.random.chance(5),
            placement: self.placement(),
            priority: self.random.pick(&[0, 0, 0, 10, -5]),
            policy_delay: if self.random.chance(20) {
                self.random.between(0, 600)
            } else {
                0
            },
        }
    }

    fn workload(&mut self) -> Action {
        let binding = self.binding();
        match self.random.below(20) {
            0..6 => self.create(),
            6..12 => Action::Scale {
                binding,
                replicas: self.replicas(),
            },
            12..14 => Action::Place {
                binding,
                placement: self.placement(),
            },
            14 => Action::Request {
                binding,
                cpu: self.random.pick(&[250, 500, 1_000]),
            },
            15..18 => Action::Delete { binding },
            _ => Action::Relabel { binding },
        }
    }

    fn controller(&mut self) -> Action {
        let (binding, cluster) = (self.binding(), self.cluster());
        match self.random.below(10) {
            0..5 => Action::Rebalance { binding },
            5..7 => Action::Deschedule { binding, cluster },
            7 => Action::Suspend {
                binding,
                is_suspended: self.random.chance(50),
            },
            8 => Action::HandOver {
                binding,
                scheduler: self.random.pick(&["default-scheduler", "default-scheduler", "other"]),
            },
            _ => Action::Crash {
                binding,
                cluster,
                millis: self.random.between(1_000, 30_000),
            },
        }
    }

    fn capacity(&mut self) -> Action {
        let cluster = self.cluster();
        match self.random.below(if self.is_closed { 1 } else { 4 }) {
            0 => Action::AddNode {
                cluster,
                cpu: self.random.pick(&[4, 8, 16]),
            },
            1 => Action::RemoveNode { cluster },
            _ => Action::Foreign {
                cluster,
                pods: self.random.pick(&[0, 2, 5, 10]),
            },
        }
    }

    fn membership(&mut self) -> Action {
        let cluster = self.cluster();
        match self.random.below(16) {
            0..4 => Action::Join { cluster },
            4..7 => self.leave(cluster),
            7 => Action::Vanish { cluster },
            8 => Action::Return { cluster },
            9..11 => Action::Label {
                cluster,
                value: tier(&mut self.random),
            },
            11..13 => Action::Taint {
                cluster,
                effect: self.random.pick(&[None, None, Some("NoSchedule"), Some("NoExecute")]),
            },
            13 => Action::Flap {
                cluster,
                millis: self.random.between(2_000, 60_000),
            },
            14 => Action::Confirm,
            _ => Action::Unserve {
                cluster,
                is_served: self.random.chance(70),
            },
        }
    }

    fn report(&mut self) -> Action {
        let cluster = self.cluster();
        match self.random.below(3) {
            0 => Action::Silent {
                cluster,
                millis: self.random.between(5_000, 40_000),
            },
            1 => Action::Blind {
                cluster,
                millis: self.random.between(5_000, 20_000),
            },
            _ => Action::LateReports {
                cluster,
                millis: self.random.pick(&[0, 2_000, 8_000]),
            },
        }
    }

    fn write(&mut self) -> Action {
        if self.random.chance(10) {
            return self.evicted_while_an_answer_is_lost();
        }
        let fitting = self.random.pick(&[
            Fitting::Any,
            Fitting::Specification,
            Fitting::Status,
            Fitting::Status,
            Fitting::Read,
        ]);
        let codes = [403, 409, 410, 422, 429, 500, 503];
        let effect = match self.random.below(8) {
            0..2 => Effect::Refused(self.random.pick(&codes)),
            2 => Effect::AnsweredWrongly(self.random.pick(&[500, 503])),
            3 => Effect::Lost,
            4 => Effect::AnswerLost,
            5 => self.random.pick(&[Effect::Broken, Effect::BrokenAfterwards]),
            6 => Effect::Late(self.random.between(100, 4_000)),
            _ => Effect::Quota,
        };
        let most = if self.random.chance(30) { 12 } else { 2 };
        Action::Fault(Fault {
            fitting: if effect == Effect::Quota {
                Fitting::Specification
            } else {
                fitting
            },
            effect,
            count: u32::try_from(self.random.between(1, most)).unwrap_or(1),
        })
    }

    fn watch(&mut self) -> Action {
        let process = self.random.index(self.processes);
        let kind = self
            .random
            .pick(&[Kind::Binding, Kind::Binding, Kind::Cluster, Kind::Cluster, Kind::Policy]);
        if self.random.chance(50) {
            let millis = self.random.pick(&[0, 5, 200, 1_000, 3_000]);
            return Action::WatchLag { process, kind, millis };
        }
        let resume = match self.random.below(3) {
            0 => Resume::There,
            1 => Resume::Earlier(1 + self.random.index(6)),
            _ => Resume::Relist,
        };
        Action::WatchBreak { process, kind, resume }
    }

    fn process(&mut self) -> Action {
        let process = self.random.index(self.processes);
        match self.random.below(5) {
            0 => Action::Kill {
                process,
                millis: self.random.between(500, 20_000),
            },
            1 => self.kill_at_request(),
            2 => Action::Stall {
                process,
                millis: self.random.between(500, 20_000),
            },
            _ => Action::LeaseOutage {
                process,
                millis: self.random.between(1_000, 25_000),
            },
        }
    }

    /// The process that sends a certain request is killed before or after it is carried out: between two patches, too.
    fn kill_at_request(&mut self) -> Action {
        let fitting = self
            .random
            .pick(&[Fitting::Any, Fitting::Specification, Fitting::Status, Fitting::Read]);
        let millis = self.random.between(500, 20_000);
        let effect = match self.random.chance(50) {
            true => Effect::KilledBefore(millis),
            false => Effect::KilledAfter(millis),
        };
        Action::Fault(Fault {
            fitting,
            effect,
            count: 1,
        })
    }

    fn estimators(&mut self) -> Action {
        Action::Estimators(match self.random.below(7) {
            0..2 => Estimating::Well,
            2 => Estimating::Slowly(self.random.between(100, 3_000)),
            3 => Estimating::Late,
            4 => Estimating::Nothing,
            5 => Estimating::Double,
            _ => Estimating::Dead,
        })
    }
}
