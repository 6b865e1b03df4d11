//! The sums of some histories.

use std::collections::BTreeMap;

use divvy_controller::engine::ActiveProfile;

use super::retained::RETAINED;
use super::settings::Setting;
use super::{KEYS, SECONDS, World};

/// What became of some histories.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) histories: usize,
    pub(super) ended: usize,
    pub(super) steps: usize,
    pub(super) kills: usize,
    pub(super) evictions: usize,
    pub(super) synced: usize,
    /// Targets of plans: given, given up, and reached undisturbed.
    pub(super) planned: [usize; 3],
    pub(super) waited: usize,
    pub(super) waited_outside: usize,
    /// Seconds by reason.
    pub(super) waits: BTreeMap<String, i64>,
    /// Bindings whose moves did not end.
    pub(super) left: Vec<String>,
}

impl Tally {
    /// Lives the histories of these seeds.
    pub(super) fn of(seeds: impl Iterator<Item = u64>, profiles: &[(Setting, ActiveProfile)]) -> Self {
        let mut tally = Self::default();
        for seed in seeds {
            let mut world = World::new(seed, profiles);
            world.live();
            tally.histories += 1;
            let explanation = world.simulation.explanation(RETAINED);
            assert_eq!(
                explanation["move"], "not moved in steps: its policy has `\"steps\": false` in `divvy.io/moves`",
                "seed {seed}: `{RETAINED}`"
            );
            assert!(
                world.is_synced(),
                "seed {seed}: `{RETAINED}` is not what its members run"
            );
            tally.synced += world.retained.synced;
            let plans = &world.plans;
            tally.add_planned([plans.given, plans.given_up, plans.reached]);
            // The time of every plan has passed, whatever else has not ended.
            for key in KEYS.into_iter().chain([RETAINED]) {
                assert!(
                    !world.is_planned(key) || world.now < SECONDS,
                    "seed {seed}: `{key}` has a planned target at rest: {}",
                    world.simulation.binding(key)
                );
            }
            match KEYS.iter().find(|key| !world.has_ended(key)) {
                None => tally.ended += 1,
                Some(key) => tally
                    .left
                    .push(format!("seed {seed}: {}", world.simulation.binding(key))),
            }
            tally.steps += world.steps;
            tally.kills += world.kills;
            tally.evictions += world.evictions;
            tally.waited += world.waited;
            tally.waited_outside += world.waited_outside;
            for (reason, seconds) in world.waits {
                *tally.waits.entry(reason).or_default() += seconds;
            }
        }
        tally
    }

    fn add_planned(&mut self, planned: [usize; 3]) {
        for (sum, more) in self.planned.iter_mut().zip(planned) {
            *sum += more;
        }
    }

    /// Adds others.
    pub(super) fn add(&mut self, other: Self) {
        self.histories += other.histories;
        self.ended += other.ended;
        self.steps += other.steps;
        self.kills += other.kills;
        self.evictions += other.evictions;
        self.synced += other.synced;
        self.add_planned(other.planned);
        self.waited += other.waited;
        self.waited_outside += other.waited_outside;
        self.left.extend(other.left);
        for (reason, seconds) in other.waits {
            *self.waits.entry(reason).or_default() += seconds;
        }
    }
}
