//! One loss: what is decided without some clusters, compared with the base.

use std::collections::BTreeSet;

use divvy_scheduler::decision::BriefFailure;
use divvy_scheduler::fleet::Fleet;

use super::ground::{Ground, Outcome, Placed};
use super::numbers::Share;
use super::survival::{Hit, Left, Survived, judge};
use super::survivors::Survivor;
use super::usage::{Undo, Usage};
use crate::document::FailureRow;
use crate::future::Prepared;
use crate::movement::{Ending, Movement};

/// Loses one set of clusters after another, in memory that it keeps.
pub(super) struct Loser<'a> {
    ground: &'a Ground<'a>,
    fleet: Fleet,
    usage: Usage,
    undo: Undo,
    /// The limit of `--max-full`, in percent.
    max_full: Option<i64>,
    /// The bindings that do not survive the latest loss; `None` if nobody asks.
    hits: Option<Vec<Hit>>,
    /// Per binding: true if it is counted. All are if this is `None`; all are decided.
    counted: Option<&'a [bool]>,
    /// Index of a binding of which is noted what the latest loss leaves, if it is concerned.
    watched: Option<usize>,
    left: Option<Left>,
}

/// Sums of a loss.
#[derive(Debug, Default)]
struct Tally {
    displaced: i64,
    rehomed: i64,
    removed: i64,
    lost: i64,
    lost_elsewhere: i64,
    newly_unschedulable: usize,
    newly_in_error: usize,
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
            hits: None,
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
        self.hits = Some(Vec::new());
        self
    }

    /// The bindings that do not survive a loss, and what is left of another one if the loss concerns it.
    pub(super) fn hits(&mut self, lost: &BTreeSet<String>, watched: Option<usize>) -> Survived {
        self.watched = watched;
        self.left = None;
        let row = self.lose("", lost);
        Survived {
            hits: self.hits.as_mut().map(std::mem::take).unwrap_or_default(),
            left: self.left,
            beyond_capacity: row.beyond_capacity,
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
        for cluster in lost {
            self.fleet.remove(cluster);
        }
        let fleet = self.fleet.snapshot();
        // Survivors on a lost cluster: those that keep another one, with their shares, and those that are decided again.
        let mut smaller: Vec<(&Survivor, Vec<Share>)> = Vec::new();
        let mut gone = Vec::new();
        for position in ground.survivors.on(&numbers) {
            let Some(survivor) = ground.survivors.get(position) else {
                continue;
            };
            let kept = survivor.base.shares.iter().copied();
            let kept: Vec<Share> = kept.filter(|share| !is_lost[share.0 as usize]).collect();
            match kept.is_empty() {
                true => gone.push(position),
                false => smaller.push((survivor, kept)),
            }
        }
        let (decided, skipped) = ground.concerned(&numbers, &gone);
        let (mut tally, mut others) = (Tally::default(), Tally::default());
        let counted = self.counted;
        let (usage, undo) = (&mut self.usage, &mut self.undo);
        let (hits, watched, left) = (&mut self.hits, self.watched, &mut self.left);
        let mut count = |index: usize, base: &Placed, shares: &[Share], failure, ending| {
            let after = (shares, failure);
            let prepared = &ground.prepared[index];
            if let Some(hits) = hits {
                let of_binding = match failure {
                    Some(failure) if !ground.clears(failure) => Left::kept(base, &is_lost),
                    _ => Left::of(shares),
                };
                hits.extend(judge(index, prepared, base, (of_binding, failure), ending));
                if watched == Some(index) {
                    *left = Some(of_binding);
                }
            }
            let is_counted = counted.is_none_or(|counted| counted.get(index).copied().unwrap_or(true));
            let tally = if is_counted { &mut tally } else { &mut others };
            if tally.count(prepared, base, after, ending, &is_lost) {
                usage.change(&prepared.binding, &base.shares, shares, undo);
            }
        };
        let unchanged = |index: usize| Placed {
            shares: ground.kept(index, &[]),
            failure: None,
        };
        for (survivor, kept) in smaller {
            count(survivor.index, &survivor.base, &kept, None, Ending::Placed);
        }
        ground.decide(&fleet, &decided, &is_lost, |due, shares, outcome| {
            let (failure, ending) = match outcome {
                Outcome::Scheduled(..) => (None, Ending::Placed),
                Outcome::Failed(failure) => (Some(failure), Ending::Failed),
            };
            match due.base {
                Some(base) => count(due.index, base, shares, failure, ending),
                None => count(due.index, &unchanged(due.index), shares, failure, ending),
            }
        });
        for index in skipped {
            let kept = ground.kept(index, &is_lost);
            count(index, &unchanged(index), &kept, None, Ending::Skipped);
        }
        let tightest = self.usage.tightest(&is_lost);
        let filled = self.usage.filled(&ground.usage, &self.undo, self.max_full);
        self.put_back(lost);
        FailureRow {
            name: name.to_owned(),
            clusters: lost.len(),
            displaced: tally.displaced,
            rehomed: tally.rehomed,
            removed: tally.removed,
            lost: tally.lost,
            lost_elsewhere: tally.lost_elsewhere,
            newly_unschedulable: tally.newly_unschedulable,
            newly_in_error: tally.newly_in_error,
            beyond_capacity: filled.beyond_capacity,
            newly_full: filled.newly_full,
            too_full: filled.too_full,
            tightest,
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

impl Tally {
    /// Counts a binding. Returns false if its clusters are the same as in the base.
    fn count(
        &mut self,
        prepared: &Prepared,
        base: &Placed,
        (after, failure): (&[Share], Option<BriefFailure>),
        ending: Ending,
        is_lost: &[bool],
    ) -> bool {
        let is_new = is_unschedulable(failure) && !is_unschedulable(base.failure);
        self.newly_unschedulable += usize::from(is_new);
        self.newly_in_error += usize::from(is_error(failure) && !is_error(base.failure));
        if base.shares == after {
            return false;
        }
        let (from, to) = (base.shares.iter().copied(), after.iter().copied());
        let Movement {
            removed,
            lost,
            stranded,
            ..
        } = Movement::between_sorted(from, to, prepared.is_duplicated(), ending);
        let on_lost = base.shares.iter().filter(|share| is_lost[share.0 as usize]);
        let displaced: i64 = on_lost.map(|share| share.1).sum();
        // They are all of one kind, because a binding is either decided, fails, or is not scheduled.
        let gone = lost + stranded;
        self.displaced += displaced;
        self.rehomed += (displaced - removed - gone).max(0);
        self.removed += removed.min(displaced);
        self.lost += gone;
        self.lost_elsewhere += (gone - displaced).max(0);
        true
    }
}

fn is_unschedulable(failure: Option<BriefFailure>) -> bool {
    use BriefFailure::{FitsNowhere, NoClusterFit, Unschedulable};
    matches!(failure, Some(FitsNowhere | NoClusterFit | Unschedulable))
}

/// True for a failure that is not an outcome of scheduling.
pub(super) fn is_error(failure: Option<BriefFailure>) -> bool {
    failure.is_some() && !is_unschedulable(failure)
}
