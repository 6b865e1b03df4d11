//! Data that all losses share: the bindings in their order, and the base with which each loss is compared.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use divvy_scheduler::decision::{BriefFailure, BriefOutcome, Recurring, Scheduler};
use divvy_scheduler::fleet::FleetSnapshot;
use divvy_scheduler::placements::Placements;
use divvy_scheduler::profile::ConfiguredProfile;

use super::loss::is_error;
use super::numbers::{Numbers, Share};
use super::survival::Left;
use super::survivors::{Booker, Survivors};
use super::usage::{Undo, Usage};
use crate::future::{Options, Prepared, prepare, reason};
use crate::situation::Situation;

/// The situation before any loss.
pub(super) struct Ground<'a> {
    pub(super) situation: &'a Situation,
    side: &'a ConfiguredProfile,
    options: Options,
    pub(super) prepared: Vec<Prepared>,
    pub(super) numbers: Numbers,
    /// Clusters that are gone already, by number.
    is_gone: Vec<bool>,
    /// Position of each binding in the order of decisions.
    ranks: Vec<u32>,
    /// Bindings that are decided with and without a loss, in the order of decisions; not those in `survivors`.
    pub(super) anyway: Vec<Anyway>,
    /// Bindings that are decided with and without a loss, but whose result is known.
    pub(super) survivors: Survivors,
    /// Per cluster, by number: bindings that list it and that only its loss concerns.
    by_cluster: Vec<Vec<u32>>,
    /// Placements before any decision; `None` if no plugin needs them.
    placements: Option<Arc<Placements>>,
    /// Use of resources in the base.
    pub(super) usage: Usage,
}

/// A binding that is decided with and without a loss.
pub(super) struct Anyway {
    index: usize,
    recurring: Recurring,
    pub(super) base: Placed,
}

/// Clusters of a binding in one state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Placed {
    /// By number.
    pub(super) shares: Vec<Share>,
    pub(super) failure: Option<BriefFailure>,
}

/// A binding that is to be decided.
#[derive(Clone, Copy)]
pub(super) struct Due<'a> {
    /// Its index in the situation.
    pub(super) index: usize,
    /// Its clusters in the base, if it was decided there.
    pub(super) base: Option<&'a Placed>,
    /// Everything about it that is the same in each loss, if that is known.
    recurring: Option<&'a Recurring>,
}

/// Bindings that are decided in a loss, besides those that are decided anyway.
#[derive(Default)]
pub(super) struct Concerned<'a> {
    /// In the order of decisions.
    due: Vec<Due<'a>>,
    /// Positions of the survivors among them.
    survivors: Vec<u32>,
}

/// The outcome of a decision.
pub(super) enum Outcome<'a> {
    /// The binding is scheduled.
    Scheduled(&'a Scheduler, &'a Recurring),
    /// It is not scheduled.
    Failed(BriefFailure),
}

impl<'a> Ground<'a> {
    /// Decides the situation without any loss.
    pub(super) fn new(situation: &'a Situation, side: &'a ConfiguredProfile, options: Options) -> Self {
        let prepared = prepare(situation, side, options, &[]);
        let mut numbers = Numbers::new(situation);
        let listed = prepared.iter().flat_map(|prepared| prepared.assigned.keys());
        listed.for_each(|cluster| _ = numbers.add(cluster));
        let mut is_gone = vec![false; numbers.len()];
        for number in situation.gone.iter().filter_map(|cluster| numbers.get(cluster)) {
            is_gone[number as usize] = true;
        }
        let order = order(&prepared);
        let mut ranks = vec![0; prepared.len()];
        for (&index, rank) in order.iter().zip(0..) {
            ranks[index] = rank;
        }
        let mut by_cluster = vec![Vec::new(); numbers.len()];
        for (prepared, index) in prepared.iter().zip(0..) {
            if reason(prepared, situation).is_some() {
                continue;
            }
            for number in prepared.assigned.keys().filter_map(|cluster| numbers.get(cluster)) {
                by_cluster[number as usize].push(index);
            }
        }
        let bindings = prepared.iter().map(|prepared| &*prepared.binding);
        let needs_placements = side.profile.needs_placements();
        let placements = needs_placements.then(|| Arc::new(Placements::of(bindings)));
        let mut ground = Self {
            usage: Usage::new(situation),
            survivors: Survivors::new(numbers.len()),
            situation,
            side,
            options,
            prepared,
            numbers,
            is_gone,
            ranks,
            anyway: Vec::new(),
            by_cluster,
            placements,
        };
        let is_decided = |index: &usize| reason(&ground.prepared[*index], situation).is_some();
        let decided: Vec<usize> = order.into_iter().filter(is_decided).collect();
        ground.decide_base(&decided);
        ground
    }

    /// Decides these bindings without a loss, in this order.
    fn decide_base(&mut self, decided: &[usize]) {
        let fleet = self.situation.snapshot(self.side.profile.needs_raw_clusters());
        let numbers = self.numbers.by_row(&fleet);
        let mut placed = BTreeMap::new();
        let mut survivors = Survivors::new(self.numbers.len());
        let due = decided.iter().map(|&index| Due {
            index,
            base: None,
            recurring: None,
        });
        let all = Concerned {
            due: due.collect(),
            survivors: Vec::new(),
        };
        self.decide(&fleet, &all, &[], |due, shares, outcome| {
            let binding = &self.prepared[due.index].binding;
            let failure = match outcome {
                // A result without clusters, as of a workload scaled to 0, does not show what a loss would take.
                Outcome::Scheduled(scheduler, recurring)
                    if !shares.is_empty() && scheduler.keeps_the_rest(binding, recurring) =>
                {
                    survivors.add(due.index, self.ranks[due.index], shares);
                    scheduler.latest_growth(binding, recurring, &fleet, |row, resource, quantity| {
                        survivors.book(numbers[row as usize], resource, quantity);
                    });
                    return;
                }
                Outcome::Scheduled(..) => None,
                Outcome::Failed(failure) => Some(failure),
            };
            let shares = shares.to_vec();
            placed.insert(due.index, Placed { shares, failure });
        });
        self.survivors = survivors;
        let mut scheduler = Scheduler::new(Arc::clone(&self.side.profile)).keeping_no_plans();
        for &index in decided {
            if let Some(base) = placed.remove(&index) {
                self.anyway.push(Anyway {
                    index,
                    recurring: scheduler.recurring(&self.prepared[index].binding),
                    base,
                });
            }
        }
        let others = self.survivors.iter().map(|survivor| (survivor.index, &survivor.base));
        let anyway = self.anyway.iter().map(|anyway| (anyway.index, &anyway.base));
        for (index, base) in anyway.chain(others) {
            let Prepared { assigned, binding, .. } = &self.prepared[index];
            let before = self.numbers.shares(assigned, |_| true);
            self.usage.change(binding, &before, &base.shares, &mut Undo::default());
        }
        // A satisfied binding only loses the clusters that are gone, which use nothing.
    }

    /// Bindings that the loss of these clusters concerns and that are not decided anyway, except for survivors that keep a
    /// cluster: first those that have to be decided, second those that are not scheduled at all.
    pub(super) fn concerned<'b>(&'b self, lost: &[u32], gone: &[u32]) -> (Concerned<'b>, Vec<usize>) {
        let listed = lost.iter().filter_map(|&number| self.by_cluster.get(number as usize));
        let mut listed: Vec<usize> = listed.flatten().map(|&index| index as usize).collect();
        listed.sort_unstable();
        listed.dedup();
        let is_scheduled = |index: &usize| self.prepared[*index].skipped.is_none();
        let (decided, skipped): (Vec<usize>, Vec<usize>) = listed.into_iter().partition(is_scheduled);
        let unplaced = decided.into_iter().map(|index| Due {
            index,
            base: None,
            recurring: None,
        });
        let survivors = gone.iter().filter_map(|&position| self.survivors.get(position));
        let survivors = survivors.map(|survivor| Due {
            index: survivor.index,
            base: Some(&survivor.base),
            recurring: None,
        });
        let mut due: Vec<Due<'_>> = unplaced.chain(survivors).collect();
        due.sort_unstable_by_key(|due| self.ranks[due.index]);
        let concerned = Concerned {
            due,
            survivors: gone.to_vec(),
        };
        (concerned, skipped)
    }

    /// Per binding: true if it is in error without a loss.
    pub(super) fn in_error(&self) -> Vec<bool> {
        let mut in_error = vec![false; self.prepared.len()];
        for anyway in self.anyway.iter().filter(|anyway| is_error(anyway.base.failure)) {
            in_error[anyway.index] = true;
        }
        in_error
    }

    /// What every binding has without a loss.
    pub(super) fn had(&self) -> Vec<Left> {
        let kept = (0..self.prepared.len()).map(|index| Left::of(&self.kept(index, &[])));
        let mut had: Vec<Left> = kept.collect();
        let others = self.survivors.iter().map(|survivor| (survivor.index, &survivor.base));
        let anyway = self.anyway.iter().map(|anyway| (anyway.index, &anyway.base));
        for (index, base) in anyway.chain(others) {
            had[index] = Left::of(&base.shares);
        }
        had
    }

    /// Remaining clusters of a binding that is not decided, in the order of their numbers.
    pub(super) fn kept(&self, index: usize, is_lost: &[bool]) -> Vec<Share> {
        let is_left = |number: u32| {
            let is = |flags: &[bool]| flags.get(number as usize).copied().unwrap_or(false);
            !is(&self.is_gone) && !is(is_lost)
        };
        self.numbers.shares(&self.prepared[index].assigned, is_left)
    }

    /// Decides the bindings that are decided anyway and these others, one after another, and passes on each with its clusters.
    /// Meanwhile the remaining survivors take the same from the ledger as in the base.
    ///
    /// A binding that failed is decided again whenever the placements of its peers differ from those that it saw, as in
    /// [`Future::decide`](crate::future::Future::decide).
    pub(super) fn decide(
        &self,
        fleet: &FleetSnapshot,
        others: &Concerned<'_>,
        is_lost: &[bool],
        mut take: impl FnMut(Due<'_>, &[Share], Outcome<'_>),
    ) {
        let numbers = self.numbers.by_row(fleet);
        let mut scheduler = Scheduler::new(Arc::clone(&self.side.profile))
            .keeping_no_plans()
            .assuming(self.options.assumes)
            .deciding_at(self.options.time)
            .knowing(self.placements.clone());
        let mut booker = Booker::new(&self.survivors, &numbers, &others.survivors);
        let mut shares: Vec<Share> = Vec::new();
        let mut failed = Vec::new();
        for due in self.due(&others.due) {
            let binding = &*self.prepared[due.index].binding;
            booker.book_before(Some(self.ranks[due.index]), scheduler.ledger_mut());
            let made;
            let recurring = match due.recurring {
                Some(recurring) => recurring,
                None => {
                    made = scheduler.recurring(binding);
                    &made
                }
            };
            let (outcome, peers) = scheduler.schedule_again(binding, recurring, fleet);
            match outcome {
                BriefOutcome::Scheduled => {
                    number(&scheduler, &numbers, &mut shares);
                    take(due, &shares, Outcome::Scheduled(&scheduler, recurring));
                }
                BriefOutcome::Failed(failure) => {
                    if self.clears(failure) {
                        scheduler.cleared(binding);
                    }
                    failed.push((due, failure, peers));
                }
            }
        }
        if !failed.is_empty() {
            booker.book_before(None, scheduler.ledger_mut());
        }
        let mut is_settled = !self.options.assumes;
        while !is_settled {
            is_settled = true;
            failed.retain_mut(|(due, failure, seen)| {
                let binding = &*self.prepared[due.index].binding;
                if *seen == scheduler.peers(binding) {
                    return true;
                }
                is_settled = false;
                let mut binding = binding.clone();
                if self.clears(*failure) {
                    binding.object.spec.clusters.clear();
                }
                let recurring = scheduler.recurring(&binding);
                let (outcome, peers) = scheduler.schedule_again(&binding, &recurring, fleet);
                match outcome {
                    BriefOutcome::Scheduled => {
                        number(&scheduler, &numbers, &mut shares);
                        take(*due, &shares, Outcome::Scheduled(&scheduler, &recurring));
                        false
                    }
                    BriefOutcome::Failed(again) => {
                        if self.clears(again) {
                            scheduler.cleared(&binding);
                        }
                        (*failure, *seen) = (again, peers);
                        true
                    }
                }
            });
        }
        for (due, failure, _) in failed {
            match self.clears(failure) {
                true => take(due, &[], Outcome::Failed(failure)),
                false => take(due, &self.kept(due.index, is_lost), Outcome::Failed(failure)),
            }
        }
    }

    /// True if a failure takes all clusters away.
    pub(super) fn clears(&self, failure: BriefFailure) -> bool {
        failure.clears(self.side.when_no_cluster_fits)
    }

    /// Bindings that are decided anyway, and these others, in the order of decisions.
    fn due<'b>(&'b self, others: &'b [Due<'b>]) -> impl Iterator<Item = Due<'b>> {
        let mut anyway = self.anyway.iter().peekable();
        let mut others = others.iter().copied().peekable();
        std::iter::from_fn(move || {
            let rank = |index: usize| self.ranks[index];
            let next = others.peek().map(|due| rank(due.index));
            let first = anyway.next_if(|anyway| next.is_none_or(|next| rank(anyway.index) < next));
            match first {
                Some(first) => Some(Due {
                    index: first.index,
                    base: Some(&first.base),
                    recurring: Some(&first.recurring),
                }),
                None => others.next(),
            }
        })
    }
}

/// The bindings in the order of decisions: by priority, then name.
fn order(prepared: &[Prepared]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..prepared.len()).collect();
    order.sort_by_cached_key(|&index| {
        let binding = &prepared[index].binding;
        (Reverse(binding.priority()), binding.key())
    });
    order
}

/// Fills `shares` with the latest targets, by the numbers of the rows.
fn number(scheduler: &Scheduler, numbers: &[u32], shares: &mut Vec<Share>) {
    let targets = scheduler.latest_targets().iter();
    shares.clear();
    shares.extend(targets.map(|target| (numbers[target.row as usize], target.replicas)));
}
