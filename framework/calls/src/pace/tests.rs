//! The rules, one by one; and moves, simulated to their end and compared with every possible move.

use std::collections::{HashSet, VecDeque};
use std::hash::Hash;

use divvy_framework_arithmetic::pace::step;
use divvy_framework_arithmetic::random::Generator;

use super::*;

/// A move with few replicas, so that every possible one can be searched.
#[derive(Debug, Clone)]
struct Case {
    current: Vec<i64>,
    /// Replicas that are ready, at most `current`.
    ready: Vec<i64>,
    target: Vec<i64>,
    room: Vec<i64>,
    /// Clusters in which no further replica becomes ready.
    is_dead: Vec<bool>,
    total: i64,
    surge: i64,
    unavailable: i64,
    limit: Option<u32>,
}

impl Case {
    fn situation(&self) -> Situation<'_> {
        Situation {
            current: &self.current,
            present: &self.current,
            ready: &self.ready,
            target: &self.target,
            room: &self.room,
            total: self.total,
            max_surge: self.surge,
            max_unavailable: self.unavailable,
            max_clusters: self.limit,
        }
    }

    fn step(&self) -> Result<Vec<i64>, Wait> {
        let mut next = Vec::new();
        step(&self.situation(), |index| index as u64, &mut next).map(|()| next)
    }

    fn check(&self, next: &[i64]) -> Result<Option<Wait>, PaceViolation> {
        check_step("test", &self.situation(), next, 0, |index| index.to_string())
    }

    /// The case after a step. Replicas that a cluster loses are unready first; new ones are not ready.
    fn after(&self, next: &[i64]) -> Self {
        let mut after = self.clone();
        for (index, &replicas) in next.iter().enumerate() {
            after.room[index] = self.room[index].saturating_sub(replicas - self.current[index]);
            after.ready[index] = self.ready[index].min(replicas);
        }
        after.current = next.to_vec();
        after
    }

    /// Everything that can become ready is.
    fn settle(&mut self) {
        for (index, ready) in self.ready.iter_mut().enumerate() {
            if !self.is_dead[index] {
                *ready = self.current[index];
            }
        }
    }

    fn is_at_target(&self) -> bool {
        self.current == self.target
    }

    /// Every step that keeps the rules.
    fn possible(&self) -> Vec<Vec<i64>> {
        let mut all = vec![Vec::new()];
        for (&current, &target) in self.current.iter().zip(&self.target) {
            let counts = || current.min(target)..=current.max(target);
            all = all
                .iter()
                .flat_map(|begun| counts().map(move |count| [begun.as_slice(), &[count]].concat()))
                .collect();
        }
        all.retain(|next| *next != self.current && self.check(next).is_ok());
        all
    }

    /// The clusters in any order: no rule depends on which is which.
    fn state(&self) -> Vec<(i64, i64, i64, i64, bool)> {
        let indices = 0..self.current.len();
        let columns = indices.map(|index| {
            let (current, ready) = (self.current[index], self.ready[index]);
            (
                current,
                ready,
                self.target[index],
                self.room[index],
                self.is_dead[index],
            )
        });
        let mut columns: Vec<_> = columns.collect();
        columns.sort_unstable();
        columns
    }

    /// The smallest number of steps to the target if the replicas of each are ready before the next; `None` if there is no way.
    fn fewest(&self) -> Option<usize> {
        self.search(Self::state, Self::possible)
    }

    /// The same for many replicas, where nothing but the allowances limits a move and everything becomes ready: then it does not matter
    /// which clusters a step changes, so that only the replicas to take and to give are counted.
    fn fewest_by_sums(&self) -> Option<usize> {
        self.search(Self::rest, |case| {
            let (taken, given) = case.rest();
            let all = (0..=taken).flat_map(|taken| (0..=given).map(move |given| (taken, given)));
            let all = all.map(|(taken, given)| case.changed(taken, given));
            all.filter(|next| *next != case.current && case.check(next).is_ok())
                .collect()
        })
    }

    /// Searches all ways, of which none passes a state twice.
    fn search<State: Eq + Hash>(
        &self,
        state: impl Fn(&Self) -> State,
        possible: impl Fn(&Self) -> Vec<Vec<i64>>,
    ) -> Option<usize> {
        let mut first = self.clone();
        first.settle();
        let mut known = HashSet::from([state(&first)]);
        let mut queue = VecDeque::from([(first, 0)]);
        while let Some((case, steps)) = queue.pop_front() {
            if case.is_at_target() {
                return Some(steps);
            }
            for next in possible(&case) {
                let mut after = case.after(&next);
                after.settle();
                if known.insert(state(&after)) {
                    queue.push_back((after, steps + 1));
                }
            }
        }
        None
    }

    /// Replicas that are still to be taken, and to be given.
    fn rest(&self) -> (i64, i64) {
        let columns = self.current.iter().zip(&self.target);
        columns.fold((0, 0), |(taken, given), (current, target)| {
            (taken + (current - target).max(0), given + (target - current).max(0))
        })
    }

    /// The result after so many replicas were taken and given, in the order of the clusters.
    fn changed(&self, mut taken: i64, mut given: i64) -> Vec<i64> {
        let columns = self.current.iter().zip(&self.target);
        let next = columns.map(|(&current, &target)| {
            let (takes, gives) = ((current - target).clamp(0, taken), (target - current).clamp(0, given));
            taken -= takes;
            given -= gives;
            current - takes + gives
        });
        next.collect()
    }

    /// The steps that are taken, each of which is ready before the next; and if the target was reached.
    fn taken(&self) -> (usize, bool) {
        let (mut case, mut steps) = (self.clone(), 0);
        case.settle();
        while let Ok(next) = case.step() {
            assert_eq!(case.check(&next), Ok(None), "{case:?}");
            case = case.after(&next);
            case.settle();
            steps += 1;
        }
        (steps, case.is_at_target())
    }
}

/// A number from 0 to `most`.
fn up_to(random: &mut Generator, most: i64) -> i64 {
    random.below(most as u64 + 1) as i64
}

/// `total` replicas in `clusters` clusters.
fn spread(random: &mut Generator, clusters: usize, total: i64) -> Vec<i64> {
    let mut counts = vec![0; clusters];
    // Few clusters get any, so that some are left and others are new.
    let used = 1 + random.below(clusters as u64) as usize;
    let first = random.below(clusters as u64) as usize;
    for _ in 0..total {
        counts[(first + random.below(used as u64) as usize) % clusters] += 1;
    }
    counts
}

/// Differences of a case from an undisturbed move.
#[derive(Clone, Copy)]
struct Disturbed {
    readiness: bool,
    room: bool,
    limit: bool,
}

/// The size of cases.
#[derive(Clone, Copy)]
struct Size {
    /// Fewest and most clusters.
    clusters: (u64, u64),
    /// The greatest total.
    total: i64,
    /// The greatest surge, and the most replicas that may be unavailable.
    allowance: i64,
}

/// Few enough for a search of every step from every state.
const SMALL: Size = Size {
    clusters: (2, 4),
    total: 7,
    allowance: 3,
};

fn case(size: Size, number: u64, disturbed: Disturbed) -> Case {
    let random = &mut Generator::new(number, "moves");
    let (fewest, most) = size.clusters;
    let clusters = (fewest + random.below(most - fewest + 1)) as usize;
    let total = 1 + up_to(random, size.total - 1);
    let target = spread(random, clusters, total);
    // A move that was cancelled, or one that begins after replicas were lost, has another sum.
    let sum = (total + up_to(random, 4) - 2).max(0);
    let sum = if random.below(2) == 0 { total } else { sum };
    let current = spread(random, clusters, sum);
    let is_dead: Vec<bool> = (0..clusters)
        .map(|_| disturbed.readiness && random.below(4) == 0)
        .collect();
    let ready = current.iter().map(|&count| {
        if disturbed.readiness {
            up_to(random, count)
        } else {
            count
        }
    });
    let ready = ready.collect();
    let room = (0..clusters)
        .map(|_| if disturbed.room { up_to(random, 6) } else { i64::MAX })
        .collect();
    let groups = clusters_of(&target).max(1) as i64;
    let limit = disturbed.limit.then(|| (groups + up_to(random, 1)) as u32);
    Case {
        current,
        ready,
        target,
        room,
        is_dead,
        total,
        surge: up_to(random, size.allowance),
        unavailable: up_to(random, size.allowance),
        limit,
    }
}

fn clusters_of(result: &[i64]) -> usize {
    super::clusters(result)
}

const UNDISTURBED: Disturbed = Disturbed {
    readiness: false,
    room: false,
    limit: false,
};

/// Asserts that a number of undisturbed cases of a size take the fewest steps. Returns how many take more than `few`, and the most steps.
fn take_the_fewest_steps(
    (size, cases): (Size, u64),
    few: usize,
    fewest: impl Fn(&Case, u64) -> Option<usize>,
) -> (usize, usize) {
    let (mut moved, mut longest) = (0, 0);
    for number in 0..cases {
        let case = case(size, number, UNDISTURBED);
        let (steps, ended) = case.taken();
        assert_eq!(ended.then_some(steps), fewest(&case, number), "{number}: {case:?}");
        moved += usize::from(steps > few);
        longest = longest.max(steps);
    }
    (moved, longest)
}

/// Neither readiness nor room nor the number of clusters limits these moves, and each step is ready before the next. 1,500 cases of 2 to 4
/// clusters, totals to 7 and allowances to 3, in each of which every step from every state is tried.
#[test]
fn undisturbed_moves_take_the_fewest_steps() {
    let (moved, longest) = take_the_fewest_steps((SMALL, 1_500), 1, |case, number| {
        let fewest = case.fewest();
        assert_eq!(case.fewest_by_sums(), fewest, "{number}: {case:?}");
        fewest
    });
    assert!(
        moved > 300 && longest > 4,
        "{moved} moves of several steps, the longest of {longest}"
    );
}

/// The same in 250 cases of 2 to 12 clusters, totals to 24 and allowances to 8. Which clusters a step changes does not matter here, as the
/// test before this one shows, so that every number of replicas to take and to give is tried from every state.
#[test]
fn undisturbed_moves_of_many_replicas_take_the_fewest_steps() {
    let large = Size {
        clusters: (2, 12),
        total: 24,
        allowance: 8,
    };
    let (moved, longest) = take_the_fewest_steps((large, 250), 2, |case, _| case.fewest_by_sums());
    assert!(
        moved > 50 && longest > 12,
        "{moved} moves of more than two steps, the longest of {longest}"
    );
}

/// Asserts that a number of cases of a size end exactly if there is any way, with limits of readiness, room and clusters. Every step from
/// every state is tried. Returns how many end in the fewest steps, in more, and not at all.
fn end_if_they_can(size: Size, cases: u64) -> (usize, usize, usize) {
    let (mut fewest_steps, mut more_steps, mut stuck) = (0, 0, 0);
    for number in 0..cases {
        let disturbed = Disturbed {
            readiness: number % 2 == 0,
            room: number % 3 == 0,
            limit: number % 5 < 2,
        };
        let mut case = case(size, number, disturbed);
        for (index, is_dead) in case.is_dead.iter_mut().enumerate() {
            *is_dead &= case.target[index] <= case.current[index];
        }
        let (steps, ended) = case.taken();
        let fewest = case.fewest();
        assert_eq!(ended, fewest.is_some(), "{number}: {case:?}");
        match fewest {
            None => stuck += 1,
            Some(fewest) if fewest < steps => more_steps += 1,
            Some(_) => fewest_steps += 1,
        }
    }
    (fewest_steps, more_steps, stuck)
}

/// The same as in the next test, in 500 cases of 5 to 7 clusters, totals to 8 and allowances to 4.
#[test]
fn moves_among_more_clusters_end_if_they_can() {
    let wide = Size {
        clusters: (5, 7),
        total: 8,
        allowance: 4,
    };
    let (fewest, more, stuck) = end_if_they_can(wide, 500);
    assert!(fewest > 250 && stuck > 20, "{fewest} {more} {stuck}");
    assert!(more < 10, "{more} moves took more steps than necessary");
}

/// A pace cannot know in which cluster new replicas never become ready. Where they do, a move ends whenever there is any way,
/// whatever the readiness at its begin, the room and the number of clusters. 6,000 cases of 2 to 4 clusters, totals to 7 and allowances to 3.
#[test]
fn moves_that_can_end_do() {
    let (fewest, more, stuck) = end_if_they_can(SMALL, 6_000);
    assert!(fewest > 3_000 && stuck > 500, "{fewest} {more} {stuck}");
    // Under a limit of clusters, and with replicas that never become ready, the fewest steps are not promised.
    assert!(more < 30, "{more} moves took more steps than necessary");
}

/// Readiness follows after a delay, or never; reports of it are late. A step never takes ready replicas below what the binding allows,
/// and the move ends once everything that it waits for has happened.
#[test]
fn slow_and_late_readiness_is_waited_for() {
    let (mut waits, mut ended_late) = (0, 0);
    for number in 0..4_000 {
        let mut case = case(
            SMALL,
            number,
            Disturbed {
                readiness: true,
                room: number % 4 == 0,
                limit: number % 4 == 1,
            },
        );
        let random = &mut Generator::new(number, "readiness");
        // Replicas that are ready in truth, of which reports may know fewer.
        let mut truth = case.ready.clone();
        let floor = case.total - case.unavailable;
        let mut since_last = 0;
        while since_last < 60 {
            since_last += 1;
            for (index, truth) in truth.iter_mut().enumerate() {
                if !case.is_dead[index] && random.below(3) == 0 {
                    *truth = (*truth + 1).min(case.current[index]);
                }
                if random.below(2) == 0 {
                    case.ready[index] = *truth;
                }
            }
            let known: i64 = case.ready.iter().sum();
            match case.step() {
                Err(_) if case.is_at_target() => break,
                Err(_) => waits += 1,
                Ok(next) => {
                    assert_eq!(case.check(&next), Ok(None), "{number}: {case:?}");
                    case = case.after(&next);
                    for (ready, replicas) in truth.iter_mut().zip(&next) {
                        *ready = (*ready).min(*replicas);
                    }
                    let left: i64 = truth.iter().sum();
                    assert!(left >= known.min(floor), "{number}: {left} of {known}, {case:?}");
                    since_last = 0;
                }
            }
        }
        // Nothing has happened for so long that everything was reported: only what is broken still hinders it.
        let (further, _) = case.taken();
        assert_eq!(further, 0, "{number}: {case:?}");
        ended_late += usize::from(case.is_at_target() && waits > 0);
    }
    assert!(waits > 2_000 && ended_late > 1_000, "{waits} {ended_late}");
}

/// A move from `a` to `b` and `c`, with a replica of `b` that is not ready.
fn example() -> Case {
    Case {
        current: vec![8, 2, 0],
        ready: vec![8, 1, 0],
        target: vec![4, 3, 3],
        room: vec![0, 5, 2],
        is_dead: vec![false; 3],
        total: 10,
        surge: 2,
        unavailable: 2,
        limit: None,
    }
}

#[test]
fn each_rule_names_plugin_cluster_expected_and_actual() {
    let checked = |case: &Case, next: [i64; 3], wait: u32| {
        let name = |index: usize| ["a", "b", "c"][index].to_owned();
        check_step("test", &case.situation(), &next, wait, name).map_err(|violation| violation.to_string())
    };
    let case = example();
    assert_eq!(checked(&case, [7, 3, 2], 0), Ok(None));
    assert_eq!(checked(&case, [8, 2, 0], Wait::Room.number()), Ok(Some(Wait::Room)));
    assert_eq!(checked(&case, [8, 2, 0], 77), Ok(Some(Wait::Other)));
    let limited = Case {
        limit: Some(2),
        ..example()
    };
    let roomy = Case {
        room: vec![9; 3],
        total: 9,
        ..example()
    };
    for (case, next, wait, expected) in [
        (
            &case,
            [8, 2, 0],
            0,
            "takes no step and names no reason, expected one of them",
        ),
        (
            &case,
            [7, 2, 0],
            Wait::Room.number(),
            "waits for room, but gave cluster `a` 7 replicas instead of 8",
        ),
        (
            &case,
            [9, 2, 0],
            0,
            "gave cluster `a` 9 replicas, expected 4 to 8: between its result and its target",
        ),
        (
            &case,
            [8, 4, 0],
            0,
            "gave cluster `b` 4 replicas, expected 2 to 3: between its result and its target",
        ),
        (
            &case,
            [8, -1, 0],
            0,
            "gave cluster `b` -1 replicas, expected 2 to 3: between its result and its target",
        ),
        (
            &case,
            [8, 2, 3],
            0,
            "gave cluster `c` 3 replicas, but it has room for 2",
        ),
        (
            &case,
            [6, 3, 2],
            0,
            "keeps 7 ready replicas, expected at least 8: it takes 2 from cluster `a`",
        ),
        (
            &roomy,
            [8, 2, 2],
            0,
            "gives 12 replicas, expected at most 11: it adds 2 to cluster `c`",
        ),
        (
            &limited,
            [7, 2, 1],
            0,
            "gives 3 clusters replicas, expected at most 2: `c` is a further one",
        ),
    ] {
        let expected = format!("plugin `test` {expected}");
        assert_eq!(checked(case, next, wait), Err(expected), "{next:?}");
    }
    let short = check_step("test", &case.situation(), &[8, 2], 0, |_| String::new());
    assert_eq!(
        short.map_err(|violation| violation.to_string()),
        Err("plugin `test` gave 2 counts, expected one for each of 3 clusters".to_owned())
    );
}

/// A step is not refused for what the present result already exceeds, as long as it does not make that worse.
#[test]
fn a_move_that_begins_outside_of_its_allowances_may_come_back() {
    let beyond = Case {
        current: vec![9, 4, 2],
        ready: vec![3, 0, 0],
        target: vec![4, 6, 0],
        room: vec![0, 9, 0],
        limit: Some(1),
        ..example()
    };
    assert_eq!(beyond.check(&[3, 4, 2]).map_err(|_| ()), Err(()), "below its target");
    assert_eq!(beyond.check(&[4, 4, 0]), Ok(None));
    assert_eq!(beyond.check(&[7, 6, 2]), Ok(None));
    assert!(matches!(
        beyond.check(&[9, 5, 2]),
        Err(PaceViolation::AboveSurge { .. })
    ));
}
