//! Random histories of a few bindings and clusters. Whatever happens between two looks, no write of ours takes ready replicas below what
//! is allowed, and no budget is exceeded; once nothing disturbs them any more, all moves end.
//!
//! These are histories of the rules alone, before an engine, objects or JSON: those of `tests/controller/moves/histories` and the lives of
//! `tests/simulation` have all of that. Here thousands of looks cost a second, so that a change of a rule is known wrong at once.

use divvy_karmada::api::{GracefulEvictionTask, TargetCluster};
use divvy_profile::{Allowances, MoveBudgets, OnExclusion};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::super::budgets::{Applicant, ClaimedCluster};
use super::super::look::{Look, Seen, Wish, look};
use super::super::mark::{Marked, ReadMark, read_mark};
use super::super::readiness::{Health, Report, Reporting};
use super::super::step::{Occasion, Terms, Verdict, Write, step};
use super::around::{Around, NAMES, index, region};
use super::pace;
use crate::cycle::{Moving, PaceAnswer};

const KEYS: [&str; 3] = ["x", "y", "z"];
/// Milliseconds of a tick.
const TICK: i64 = 1_000;
/// Ticks within which a Ready cluster applies what it is given, and within which it reports.
const DELAY: i64 = 5;
/// Time that reports take: applied and reported, with a tick to spare.
pub(super) const REPORT_TIME: i64 = (2 * DELAY + 1) * TICK;

struct Random(SplitMix64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.0.next_u64() % bound
    }

    fn count(&mut self, bound: i64) -> i64 {
        i64::try_from(self.below(bound.unsigned_abs())).unwrap()
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// A binding's replicas in one cluster.
#[derive(Clone, Default)]
struct Copy {
    /// What the cluster has applied.
    given: i64,
    /// Results that it has not applied yet, the oldest first.
    pending: Vec<i64>,
    pending_since: i64,
    ready: i64,
    /// Replicas, ready replicas and health of its last report.
    report: Option<(i64, i64, bool)>,
    reported_at: i64,
}

impl Copy {
    fn apply(&mut self) {
        for given in self.pending.drain(..) {
            self.given = given;
            self.ready = self.ready.min(given);
        }
    }

    fn report(&mut self, now: i64) {
        let is_healthy = self.ready == self.given;
        self.report = (self.given > 0 || self.report.is_some()).then_some((self.given, self.ready, is_healthy));
        self.reported_at = now;
    }

    /// Reports in a moment in which the pods that are not ready are lost, and not created again.
    fn report_loss(&mut self) {
        let is_healthy = self.ready == self.given;
        self.report = self.report.map(|_| (self.ready, self.ready, is_healthy));
    }

    /// Ready replicas that are left once everything that was given is applied, and `next` too.
    fn kept(&self, next: i64) -> i64 {
        let least = self.pending.iter().copied().min().unwrap_or(i64::MAX);
        self.ready.min(least).min(next)
    }
}

struct Binding {
    key: &'static str,
    generation: i64,
    total: i64,
    asked: u64,
    present: [i64; 4],
    mark: Option<String>,
    evicted: Vec<GracefulEvictionTask>,
    copies: [Copy; 4],
    is_surge_refused: bool,
    terms: Terms,
}

impl Binding {
    fn new(key: &'static str, random: &mut Random) -> Self {
        let total = random.count(12) + 1;
        let max_unavailable = random.count(3);
        let max_surge = random.count(4) + i64::from(max_unavailable == 0);
        let allowances = Allowances {
            max_surge,
            max_unavailable,
        };
        let mut binding = Self {
            key,
            generation: 1,
            total,
            asked: random.below(1 << 30),
            present: [0; 4],
            mark: None,
            evicted: Vec::new(),
            copies: Default::default(),
            is_surge_refused: false,
            terms: Terms {
                allowances,
                is_open: true,
                is_scaled_by_federated_hpa: false,
                is_surge_refused: false,
                exclusion: OnExclusion::Steps,
            },
        };
        binding.put(binding.wanted(), 0);
        for copy in &mut binding.copies {
            copy.apply();
            copy.ready = copy.given;
            copy.report(0);
        }
        binding.asked = random.below(1 << 30);
        binding
    }

    /// The result that a decision has, which depends on what is asked for alone.
    fn wanted(&self) -> [i64; 4] {
        let mut random = Random::new(self.asked);
        let mut result = [0; 4];
        for _ in 0..self.total {
            result[usize::try_from(random.below(4)).unwrap()] += 1;
        }
        result
    }

    /// Writes a result, with the generation that the API server gives it.
    fn put(&mut self, result: [i64; 4], now: i64) {
        self.generation += i64::from(result != self.present);
        for (index, copy) in self.copies.iter_mut().enumerate() {
            if result[index] != self.present[index] {
                if copy.pending.is_empty() {
                    copy.pending_since = now;
                }
                copy.pending.push(result[index]);
            }
        }
        self.present = result;
    }

    fn has_ended(&self) -> bool {
        self.present == self.wanted() && self.mark.is_none()
    }

    fn is_settled(&self) -> bool {
        self.copies
            .iter()
            .all(|copy| copy.pending.is_empty() && copy.report.is_none_or(|report| report.0 == copy.given))
    }
}

struct World {
    random: Random,
    now: i64,
    is_ready: [bool; 4],
    room: [i64; 4],
    budgets: MoveBudgets,
    bindings: Vec<Binding>,
    waits: usize,
    steps: usize,
}

fn to_result(counts: [i64; 4]) -> Vec<TargetCluster> {
    let targets = NAMES.into_iter().zip(counts).filter(|(_, count)| *count > 0);
    let targets: Vec<(&str, i32)> = targets
        .map(|(name, count)| (name, i32::try_from(count).unwrap()))
        .collect();
    super::targets(&targets)
}

fn to_counts(result: &[TargetCluster]) -> [i64; 4] {
    NAMES.map(|name| {
        let own = result.iter().find(|target| target.name == name);
        own.map_or(0, |target| i64::from(target.replicas))
    })
}

/// What is read of a binding for one look.
struct Read {
    result: Vec<TargetCluster>,
    wanted: Vec<TargetCluster>,
    mark: Option<ReadMark>,
    reports: Vec<Report<'static>>,
}

impl Read {
    fn new(binding: &Binding, now: i64) -> Self {
        let result = to_result(binding.present);
        let marked = Marked {
            generation: binding.generation,
            asked: binding.asked,
            standard_asked: None,
            result: &result,
            total: binding.total,
            now,
        };
        let reports = NAMES.into_iter().zip(&binding.copies).filter_map(|(cluster, copy)| {
            let (replicas, ready, is_healthy) = copy.report?;
            Some(Report {
                cluster,
                applied: true,
                replicas: Some(replicas),
                ready_replicas: Some(ready),
                health: if is_healthy { Health::Healthy } else { Health::Unhealthy },
                fingerprint: u32::try_from(replicas * 2_000 + ready * 2 + i64::from(is_healthy) + 1).unwrap(),
                ..Report::default()
            })
        });
        Self {
            mark: read_mark(binding.mark.as_deref(), &marked, |_| true),
            wanted: to_result(binding.wanted()),
            reports: reports.collect(),
            result,
        }
    }

    /// The binding with what is wanted of it.
    fn seen<'a>(&'a self, binding: &'a Binding, around: &Around<'_>, now: i64, cancels: bool) -> Seen<'a> {
        let seen = Seen {
            key: binding.key,
            priority: 0,
            wish: if cancels { Wish::Cancel } else { Wish::Continue },
            generation: binding.generation,
            asked: binding.asked,
            present: &self.result,
            total: binding.total,
            evicted: &binding.evicted,
            is_dispatching_suspended: false,
            mark: self.mark.as_ref(),
            reports: &self.reports,
            reporting: Reporting::ReadyReplicas,
            has_counted_health: true,
            now,
        };
        match look(seen, OnExclusion::Steps, around) {
            Err(Verdict::DecideAnew(_) | Verdict::AtTarget) => Seen {
                wish: Wish::Decided(&self.wanted),
                ..seen
            },
            _ => seen,
        }
    }
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let bindings = KEYS.map(|key| Binding::new(key, &mut random));
        let budgets = [
            "{}",
            r#"{"bindings": 1}"#,
            r#"{"bindings-per-cluster": 1, "replicas": 4}"#,
            r#"{"replicas-per-region": 2}"#,
        ];
        let budgets = budgets[usize::try_from(random.below(4)).unwrap()];
        Self {
            random,
            now: 0,
            is_ready: [true; 4],
            room: [i64::MAX; 4],
            budgets: serde_json::from_str(budgets).unwrap(),
            bindings: bindings.into(),
            waits: 0,
            steps: 0,
        }
    }

    /// What clusters and people do within a tick.
    fn disturb(&mut self) {
        let random = &mut self.random;
        for cluster in 0..4 {
            if random.chance(3) {
                self.is_ready[cluster] = !self.is_ready[cluster];
                for copy in self.bindings.iter_mut().map(|binding| &mut binding.copies[cluster]) {
                    // A cluster that is back has applied everything, and said so.
                    copy.ready = 0;
                    if self.is_ready[cluster] {
                        copy.apply();
                        copy.report(self.now);
                    }
                }
            }
            self.room[cluster] = if random.chance(70) { i64::MAX } else { random.count(3) };
        }
        for binding in &mut self.bindings {
            if random.chance(3) && binding.is_settled() {
                // An autoscaler.
                binding.total = random.count(12) + 1;
                binding.generation += 1;
            }
            if random.chance(2) {
                // A policy.
                binding.asked = random.below(1 << 30);
            }
            if random.chance(1) && binding.is_settled() {
                // A person, or another scheduler.
                let mut result = binding.present;
                let (from, to) = (
                    usize::try_from(random.below(4)).unwrap(),
                    usize::try_from(random.below(4)).unwrap(),
                );
                let moved = random.count(3).min(result[from]);
                result[from] -= moved;
                result[to] += moved;
                binding.put(result, self.now);
            }
            if random.chance(2) && binding.is_settled() {
                // The taint manager.
                let cluster = usize::try_from(random.below(4)).unwrap();
                let mut result = binding.present;
                if result[cluster] > 0 {
                    binding.evicted.push(GracefulEvictionTask {
                        from_cluster: NAMES[cluster].to_owned(),
                        ..GracefulEvictionTask::default()
                    });
                    result[cluster] = 0;
                    binding.put(result, self.now);
                }
            }
            if random.chance(5) {
                binding.evicted.clear();
            }
            if random.chance(1)
                && binding.is_settled()
                && let Some(mark) = &mut binding.mark
            {
                let length = usize::try_from(random.below(200)).unwrap();
                mark.truncate(length);
            }
            // A crash: nothing outside the binding is known any more.
            binding.is_surge_refused &= !random.chance(10);
        }
    }

    /// What clusters do with what they were given.
    fn run_clusters(&mut self, is_calm: bool) {
        let random = &mut self.random;
        for cluster in (0..4).filter(|cluster| self.is_ready[*cluster]) {
            for binding in &mut self.bindings {
                let copy = &mut binding.copies[cluster];
                let is_due = self.now - copy.pending_since >= (DELAY - 1) * TICK;
                if is_due || random.chance(30) {
                    copy.apply();
                }
                if is_calm || random.chance(30) {
                    copy.ready += random.count(copy.given - copy.ready + 1);
                }
                // A report that is lost is made again in time.
                if self.now - copy.reported_at >= (DELAY - 1) * TICK || random.chance(20) {
                    copy.report(self.now);
                } else if !is_calm && random.chance(2) {
                    copy.report_loss();
                }
            }
        }
    }

    /// The verdict on a binding, whose budgets are checked.
    fn verdict(&self, chosen: usize, cancels: bool) -> Verdict {
        let reads = self.bindings.iter().map(|binding| Read::new(binding, self.now));
        let reads: Vec<Read> = reads.collect();
        let mut around = Around {
            is_ready: self.is_ready,
            room: self.room,
            budgets: self.budgets,
            others: Vec::new(),
        };
        let seen = reads.iter().zip(&self.bindings).enumerate();
        let seen = seen.map(|(index, (read, binding))| {
            let cancels = cancels && index == chosen;
            read.seen(binding, &around, self.now, cancels)
        });
        let seen: Vec<Seen<'_>> = seen.collect();
        let looks = seen.iter().map(|seen| look(*seen, OnExclusion::Steps, &around));
        let looks: Vec<Result<Look<'_>, Verdict>> = looks.collect();
        let claimed = looks.iter().map(|look| match look {
            Ok(look) => look.claimed(region),
            Err(_) => Vec::new(),
        });
        let claimed: Vec<Vec<ClaimedCluster<'_>>> = claimed.collect();
        let under_way: Vec<bool> = looks
            .iter()
            .map(|look| look.as_ref().is_ok_and(Look::is_under_way))
            .collect();
        let applicant = |index: usize| Applicant {
            binding: self.bindings[index].key,
            priority: 0,
            is_under_way: under_way[index],
            is_blocked: claimed[index].is_empty(),
            clusters: &claimed[index],
        };
        around.others = (0..looks.len())
            .filter(|index| *index != chosen)
            .map(applicant)
            .collect();
        let terms = Terms {
            is_surge_refused: self.bindings[chosen].is_surge_refused,
            ..self.bindings[chosen].terms
        };
        let pace = |moving: &Moving<'_>| {
            pace(moving).map(|step| PaceAnswer {
                step,
                remarks: Vec::new(),
                valid_until: None,
            })
        };
        let verdict = step(seen[chosen], &terms, &around, pace).unwrap().verdict;
        if let Verdict::Write(write) = &verdict
            && write.occasion == Occasion::Step
        {
            let others = (0..looks.len()).filter(|index| *index != chosen && under_way[*index]);
            let others = if under_way[chosen] { 0 } else { others.count() };
            self.check_budgets(to_counts(&write.result), &claimed, others, chosen);
        }
        verdict
    }

    /// One look at a binding, and what is written.
    fn schedule(&mut self, chosen: usize, is_calm: bool) {
        let cancels = !is_calm && self.random.chance(2);
        let is_write_lost = !is_calm && self.random.chance(10);
        let has_quota = !is_calm && self.random.chance(10);
        let Verdict::Write(write) = self.verdict(chosen, cancels) else {
            self.waits += 1;
            return;
        };
        let next = to_counts(&write.result);
        let is_ready = self.is_ready;
        let binding = &mut self.bindings[chosen];
        let sum = |counts: [i64; 4]| counts.iter().sum::<i64>();
        let is_refused = has_quota && sum(next) > sum(binding.present) && write.occasion == Occasion::Step;
        binding.is_surge_refused = is_refused;
        if is_write_lost || is_refused {
            return;
        }
        let kept = |result: [i64; 4]| -> i64 {
            let own = (0..4).filter(|cluster| is_ready[*cluster]);
            own.map(|cluster| binding.copies[cluster].kept(result[cluster])).sum()
        };
        // Replicas that are ready without a report may go as if they were not.
        let reported = |copy: &Copy| copy.report.map_or(0, |(_, ready, _)| ready);
        let shown = (0..4).filter(|cluster| is_ready[*cluster]).map(|cluster| {
            let copy = &binding.copies[cluster];
            copy.kept(binding.present[cluster]).min(reported(copy))
        });
        let least = shown
            .sum::<i64>()
            .min(binding.total - binding.terms.allowances.max_unavailable);
        assert!(
            kept(next) >= least,
            "{:?} -> {next:?} of {}, {least} ready: {write:?}",
            binding.present,
            binding.total
        );
        assert!(
            write.observes || !binding.evicted.is_empty() && sum(next) < binding.total,
            "{write:?} must be observed"
        );
        self.put(chosen, &write, next);
    }

    fn put(&mut self, chosen: usize, write: &Write, next: [i64; 4]) {
        let binding = &mut self.bindings[chosen];
        binding.put(next, self.now);
        binding.mark = write.mark.as_ref().map(|mark| mark.write().unwrap());
        self.steps += usize::from(write.occasion == Occasion::Step);
        if let Some(mark) = &write.mark {
            assert_eq!(mark.generation, binding.generation, "a mark describes what was written");
        }
    }

    /// Counts what moves use, in another way than the ledger.
    fn check_budgets(&self, next: [i64; 4], claimed: &[Vec<ClaimedCluster<'_>>], others: usize, chosen: usize) {
        let limit = |limit: Option<std::num::NonZeroU32>| limit.map_or(i64::MAX, |limit| limit.get().into());
        assert!(i64::try_from(others).unwrap() < limit(self.budgets.bindings));
        let present = self.bindings[chosen].present;
        let raised = |cluster: usize| (next[cluster] - present[cluster]).max(0);
        let unready = |scope: &dyn Fn(usize) -> bool| -> i64 {
            claimed
                .iter()
                .flatten()
                .filter(|cluster| scope(index(cluster.name)))
                .map(|cluster| cluster.unready)
                .sum()
        };
        let check = |bound: i64, scope: &dyn Fn(usize) -> bool| {
            let given: i64 = (0..4).filter(|cluster| scope(*cluster)).map(raised).sum();
            assert!(
                given == 0 || unready(scope) + given <= bound,
                "{given} more than {bound} allow"
            );
        };
        check(limit(self.budgets.replicas), &|_| true);
        check(limit(self.budgets.replicas_per_region), &|cluster| cluster < 2);
        check(limit(self.budgets.replicas_per_region), &|cluster| cluster >= 2);
    }
}

/// Runs a history. Returns steps and waits.
fn run(seed: u64) -> (usize, usize) {
    let mut world = World::new(seed);
    for tick in 0..600 {
        let is_calm = tick >= 150;
        world.now += TICK;
        if is_calm {
            world.room = [i64::MAX; 4];
            if tick == 150 {
                world.is_ready = [true; 4];
                for binding in &mut world.bindings {
                    binding.is_surge_refused = false;
                }
                for copy in world.bindings.iter_mut().flat_map(|binding| &mut binding.copies) {
                    copy.apply();
                    copy.report(world.now);
                }
            }
        } else {
            world.disturb();
        }
        if is_calm && world.bindings.iter().all(Binding::has_ended) {
            break;
        }
        world.run_clusters(is_calm);
        for chosen in 0..KEYS.len() {
            if is_calm || world.random.chance(50) {
                world.schedule(chosen, is_calm);
            }
        }
    }
    for binding in &world.bindings {
        assert_eq!(
            binding.present,
            binding.wanted(),
            "seed {seed}: {} has not ended: {:?}",
            binding.key,
            binding.mark
        );
        assert_eq!(binding.mark, None, "seed {seed}: {}", binding.key);
    }
    (world.steps, world.waits)
}

#[test]
fn no_history_takes_more_than_is_allowed_and_every_move_ends() {
    let (mut steps, mut waits) = (0, 0);
    for seed in 0..200 {
        let (more, also) = run(seed);
        steps += more;
        waits += also;
    }
    assert!(
        steps > 2_000 && waits > 2_000,
        "the histories do something: {steps} steps, {waits} waits"
    );
}
