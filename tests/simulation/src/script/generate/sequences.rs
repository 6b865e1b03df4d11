//! Sequences: a few steps that say more together, close to each other, than any of them alone.

use divvy_world::agenda::Millis;
use divvy_world::server::{Effect, Fault, Fitting};

use super::{AT_ONCE, Action, Template, Writer, within};

impl Writer {
    fn follow(&mut self, most: Millis, action: Action) {
        self.sequence.push_back((most, action));
    }

    /// A cluster that applies nothing and shows no states for a while, at times while a move goes back and forth or is evicted.
    pub(super) fn lag(&mut self, binding: usize, cluster: usize) -> Action {
        match self.random.below(6) {
            0..2 => {
                let first = self.random.index(self.placements.len());
                for number in [first, first + 1, first] {
                    let known = self.placements.get(number % self.placements.len().max(1));
                    if let Some(placement) = known.cloned() {
                        self.follow(8_000, Action::Place { binding, placement });
                    }
                }
            }
            2 => {
                let (cluster, effect) = ((cluster + 1) % self.clusters, Some("NoExecute"));
                self.follow(4_000, Action::Taint { cluster, effect });
            }
            _ => {}
        }
        Action::Lag {
            cluster,
            millis: self.random.between(2_000, 40_000),
        }
    }

    /// No process runs while two clusters get room and workloads are created that compete for it: they are decided at once.
    pub(super) fn burst(&mut self) -> Action {
        let (millis, first) = (self.random.between(1_000, 6_000), self.cluster());
        let both = [first, (first + 1) % self.clusters];
        for (cluster, cpu) in both.into_iter().zip([16, 8]) {
            self.follow(AT_ONCE, Action::AddNode { cluster, cpu });
        }
        let first = self.binding();
        for number in 0..self.random.index(5) + 3 {
            let clusters = if self.random.chance(50) { &both[..] } else { &both[..1] };
            let template = Template {
                replicas: self.random.between(3, 16).cast_signed(),
                cpu: 1_000,
                priority: self.random.pick(&[0, 0, 5]),
                placement: within(clusters),
                policy_delay: 0,
                has_components: false,
                ..self.template()
            };
            let binding = (first + number) % self.bindings;
            self.follow(AT_ONCE, Action::Create { binding, template });
        }
        for process in 1..self.processes {
            self.sequence.push_front((AT_ONCE, Action::Kill { process, millis }));
        }
        Action::Kill { process: 0, millis }
    }

    /// The deletion of a cluster, most of the time while a workload is given to it, or more of one.
    pub(super) fn leave(&mut self, cluster: usize) -> Action {
        let leave = Action::Leave { cluster };
        let binding = self.binding();
        let given = match self.random.below(4) {
            0 => return leave,
            1 => Action::Place {
                binding,
                placement: within(&[cluster, (cluster + 1) % self.clusters]),
            },
            _ => Action::Scale {
                binding,
                replicas: self.random.between(30, 60).cast_signed(),
            },
        };
        self.follow(AT_ONCE, leave);
        given
    }

    /// A result arrives, its answer does not, and evictions take a part of it before it is looked at again.
    pub(super) fn evicted_while_an_answer_is_lost(&mut self) -> Action {
        let (binding, replicas) = (self.binding(), self.random.between(10, 40).cast_signed());
        self.follow(AT_ONCE, Action::Scale { binding, replicas });
        for _ in 0..2 {
            let (cluster, effect) = (self.cluster(), Some("NoExecute"));
            self.follow(1_000, Action::Taint { cluster, effect });
        }
        Action::Fault(Fault {
            fitting: Fitting::Specification,
            effect: Effect::AnswerLost,
            count: 1,
        })
    }
}
