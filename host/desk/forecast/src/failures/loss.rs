//! One loss: what is decided without some clusters, compared with the base.

use std::collections::BTreeSet;

use divvy_scheduler::decision::BriefFailure;
use divvy_scheduler::fleet::Fleet;

use super::ground::{Ground, Outcome, Placed};
use super::numbers::Share;
use super::survival::{Judged, Left, Survived, judge};
use super::usage::{Undo, Usage};
use crate::document::FailureRow;
use crate::future::Prepared;
use crate::missing::{Asked, Missing, Running, gone_copies};
use crate::movement::{Ending, Movement};

/// Loses one set of clusters after another, in memory that it keeps.
pub(super) struct Loser<'a> {
    ground: &'a Ground<'a>,
    fleet: Fleet,
    usage: Usage,
    undo: Undo,
    /// The limit of `--max-full`, in percent.
    max_full: Option<i64>,
    /// The bindings that do not survive the latest loss, and those that survive it in part; `None` if no caller asks.
    survived: Option<Survived>,
    /// Per binding: true if it is counted. All are if this is `None`; all are decided.
    counted: Option<&'a [bool]>,
    /// Index of a binding of which is noted what the latest loss leaves, if it is concerned.
    watched: Option<usize>,
    left: Option<Left>,
}

/// Sums of a loss while its bindings are counted.
struct Counts<'a> {
    /// Per cluster, by its number.
    is_lost: &'a [bool],
    /// Sums of the bindings that are counted.
    chosen: FailureRow,
    others: FailureRow,
}

impl<'a> Loser<'a> {
    /// Loses clusters of this fleet, which must be that of the ground's situation.
    pub(super) fn new(ground: &'a Ground<'a>, fleet: Fleet, max_full: Option<i64>) -> Self {
        Self {
            ground,
            fleet,
            usage: ground.usage.clone(),
            undo: Undo::default(),
            max_full,
            survived: None,
            counted: None,
            watched: None,
            left: None,
        }
    }

    /// Counts only these bindings. Use of resources is always that of all.
    pub(super) fn counting(mut self, counted: Option<&'a [bool]>) -> Self {
        self.counted = counted;
        self
    }

    /// Notes the bindings that do not survive each loss.
    pub(super) fn noting_hits(mut self) -> Self {
        self.survived = Some(Survived::default());
        self
    }

    /// The bindings that do not survive a loss, and what is left of another one if the loss concerns it.
    pub(super) fn hits(&mut self, lost: &BTreeSet<String>, watched: Option<usize>) -> Survived {
        self.watched = watched;
        self.left = None;
        let row = self.lose("", lost);
        Survived {
            left: self.left,
            beyond_capacity: row.beyond_capacity,
            ..self.survived.as_mut().map(std::mem::take).unwrap_or_default()
        }
    }

    /// The forecast of a loss.
    pub(super) fn lose(&mut self, name: &str, lost: &BTreeSet<String>) -> FailureRow {
        let ground = self.ground;
        let numbers: Vec<u32> = lost.iter().filter_map(|cluster| ground.numbers.get(cluster)).collect();
        let mut is_lost = vec![false; ground.numbers.len()];
        for &number in &numbers {
            is_lost[number as usize] = true;
        }
        let mut counts = Counts {
            is_lost: &is_lost,
            chosen: FailureRow::default(),
            others: FailureRow::default(),
        };
        for cluster in lost {
            self.fleet.remove(cluster);
        }
        let fleet = self.fleet.snapshot();
        let gone = self.count_smaller(&numbers, &mut counts);
        let (decided, skipped) = ground.concerned(&numbers, &gone);
        let unchanged = |index: usize| Placed {
            shares: ground.kept(index, &[]),
            failure: None,
        };
        ground.decide(&fleet, &decided, &is_lost, |due, shares, outcome| {
            let (failure, ending) = match outcome {
                Outcome::Scheduled(..) => (None, Ending::Placed),
                Outcome::Failed(failure) => (Some(failure), Ending::Failed),
            };
            match due.base {
                Some(base) => self.count(&mut counts, due.index, base, (shares, failure), ending),
                None => self.count(&mut counts, due.index, &unchanged(due.index), (shares, failure), ending),
            }
        });
        for index in skipped {
            let kept = ground.kept(index, &is_lost);
            self.count(&mut counts, index, &unchanged(index), (&kept, None), Ending::Skipped);
        }
        let tightest = self.usage.tightest(&is_lost);
        let filled = self.usage.filled(&ground.usage, &self.undo, self.max_full);
        self.put_back(lost);
        FailureRow {
            name: name.to_owned(),
            clusters: lost.len(),
            beyond_capacity: filled.beyond_capacity,
            newly_full: filled.newly_full,
            too_full: filled.too_full,
            tightest,
            ..counts.chosen
        }
    }

    /// Counts the survivors that keep another cluster. Returns the positions of those that keep none, which are decided again.
    fn count_smaller(&mut self, lost: &[u32], counts: &mut Counts<'_>) -> Vec<u32> {
        let ground = self.ground;
        let mut gone = Vec::new();
        for position in ground.survivors.on(lost) {
            let Some(survivor) = ground.survivors.get(position) else {
                continue;
            };
            let kept = survivor.base.shares.iter().copied();
            let kept: Vec<Share> = kept.filter(|share| !counts.is_lost[share.0 as usize]).collect();
            match kept.is_empty() {
                true => gone.push(position),
                false => self.count(counts, survivor.index, &survivor.base, (&kept, None), Ending::Placed),
            }
        }
        gone
    }

    /// Counts a binding after the loss, and its use of resources.
    fn count(
        &mut self,
        counts: &mut Counts<'_>,
        index: usize,
        base: &Placed,
        after: (&[Share], Option<BriefFailure>),
        ending: Ending,
    ) {
        let (ground, is_lost) = (self.ground, counts.is_lost);
        let prepared = &ground.prepared[index];
        let (shares, failure) = after;
        if let Some(survived) = &mut self.survived {
            let of_binding = match failure {
                Some(failure) if !ground.clears(failure) => Left::kept(base, is_lost),
                _ => Left::of(shares),
            };
            match judge(index, prepared, base, (of_binding, failure), ending) {
                Judged::Survives => {}
                Judged::InPart(binding) => survived.in_part.push(binding),
                Judged::Hit(hit) => survived.hits.push(hit),
            }
            if self.watched == Some(index) {
                self.left = Some(of_binding);
            }
        }
        let is_counted = |counted: &[bool]| counted.get(index).copied().unwrap_or(true);
        let sums = match self.counted.is_none_or(is_counted) {
            true => &mut counts.chosen,
            false => &mut counts.others,
        };
        let later = Later {
            shares,
            failure,
            ending,
            is_cleared: failure.is_some_and(|failure| ground.clears(failure)),
        };
        let running = || ground.kept(index, &[]);
        if add(sums, prepared, base, later, running, is_lost) {
            self.usage
                .change(&prepared.binding, &base.shares, shares, &mut self.undo);
        }
    }

    fn put_back(&mut self, lost: &BTreeSet<String>) {
        let clusters = &self.ground.situation.clusters;
        for entry in lost.iter().filter_map(|cluster| clusters.get(cluster)) {
            self.fleet.upsert_with_json(&entry.object, entry.json.as_deref());
        }
        self.usage.undo(&mut self.undo);
    }
}

/// A binding after a loss.
#[derive(Clone, Copy)]
struct Later<'a> {
    shares: &'a [Share],
    failure: Option<BriefFailure>,
    ending: Ending,
    /// True if a failed decision takes all clusters away.
    is_cleared: bool,
}

/// Adds a binding to the sums. Returns false if its clusters are the same as in the base. `running` are its replicas before any
/// decision.
fn add(
    sums: &mut FailureRow,
    prepared: &Prepared,
    base: &Placed,
    later: Later<'_>,
    running: impl FnOnce() -> Vec<Share>,
    is_lost: &[bool],
) -> bool {
    let Later {
        shares: after,
        failure,
        ending,
        ..
    } = later;
    let is_new = is_unschedulable(failure) && !is_unschedulable(base.failure);
    sums.newly_unschedulable += usize::from(is_new);
    sums.newly_in_error += usize::from(is_error(failure) && !is_error(base.failure));
    if base.shares == after {
        return false;
    }
    let running = running();
    let missing = missing(prepared, &running, &base.shares, after);
    let waits = |number: &u32, loss: i64| {
        if later.is_cleared || is_lost.get(*number as usize) == Some(&true) {
            return 0;
        }
        let running = count(&running, *number).min(count(&base.shares, *number));
        loss - (running - count(after, *number)).max(0)
    };
    let (from, to) = (base.shares.iter().copied(), after.iter().copied());
    let Movement {
        removed,
        lost,
        stranded,
        ..
    } = Movement::between_sorted(from, to, prepared.is_duplicated(), ending, waits);
    let on_lost = base.shares.iter().filter(|share| is_lost[share.0 as usize]);
    let displaced: i64 = on_lost.map(|share| share.1).sum();
    // They are all of one kind, because a binding is either decided, fails, or is not scheduled.
    let gone = lost + stranded;
    sums.displaced += displaced;
    sums.rehomed += (displaced - removed - gone).max(0);
    sums.removed += removed.min(displaced);
    sums.lost += gone;
    sums.lost_elsewhere += (gone - displaced).max(0);
    sums.missing += missing.replicas;
    sums.missing_copies += missing.copies;
    true
}

/// Replicas on a cluster.
fn count(shares: &[Share], number: u32) -> i64 {
    let found = shares.binary_search_by_key(&number, |share| share.0);
    found.map_or(0, |index| shares[index].1)
}

/// Replicas that are missing after a loss, and not in the base. `assigned` are those before any decision.
fn missing(prepared: &Prepared, assigned: &[Share], base: &[Share], after: &[Share]) -> Missing {
    let asked = Asked {
        replicas: prepared.binding.replicas(),
        is_duplicated: prepared.is_duplicated(),
        is_skipped: prepared.skipped.is_some(),
    };
    let gone = |from: &[Share], to: &[Share]| match asked.is_duplicated {
        true => gone_copies(from.iter().copied(), to.iter().copied()),
        false => 0,
    };
    let on = |shares: &[Share]| Running::on(shares.iter().copied());
    let had = on(assigned).replicas.max(on(base).replicas);
    let in_base = asked.missing(on(base), had, gone(assigned, base));
    let copies = gone(assigned, after).max(gone(base, after));
    asked.missing(on(after), had, copies).since(in_base)
}

fn is_unschedulable(failure: Option<BriefFailure>) -> bool {
    use BriefFailure::{FitsNowhere, NoClusterFit, Unschedulable};
    matches!(failure, Some(FitsNowhere | NoClusterFit | Unschedulable))
}

/// True for a failure that is not an outcome of scheduling.
pub(super) fn is_error(failure: Option<BriefFailure>) -> bool {
    failure.is_some() && !is_unschedulable(failure)
}
