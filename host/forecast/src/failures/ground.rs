//! Everything that losses have in common: the bindings in their order, and the base with which each loss is compared.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use divvy_scheduler::fleet::FleetSnapshot;
use divvy_scheduler::placements::Placements;
use divvy_scheduler::profile::WhenNoClusterFits;
use divvy_scheduler::scheduler::{BriefFailure, BriefOutcome, Recurring, Scheduler};

use super::numbers::{Numbers, Share};
use super::usage::Usage;
use crate::future::{Options, Prepared, Side, prepare, reason};
use crate::situation::Situation;

/// The situation before any loss.
pub(super) struct Ground<'a> {
    pub(super) situation: &'a Situation,
    side: &'a Side,
    options: Options,
    pub(super) prepared: Vec<Prepared>,
    pub(super) numbers: Numbers,
    /// Clusters that are gone already, by number.
    is_gone: Vec<bool>,
    /// Position of each binding in the order of decisions.
    ranks: Vec<u32>,
    /// Bindings that are decided with and without a loss, in the order of decisions.
    pub(super) anyway: Vec<Anyway>,
    /// By number of a cluster: bindings that list it and that only its loss concerns.
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
    /// The same binding among those that are decided anyway.
    pub(super) anyway: Option<&'a Anyway>,
}

impl<'a> Ground<'a> {
    /// Decides the situation without any loss.
    pub(super) fn new(situation: &'a Situation, side: &'a Side, options: Options) -> Self {
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
        let mut scheduler = Scheduler::new(Arc::clone(&side.profile)).keeping_no_plans();
        let decided = order
            .iter()
            .filter(|&&index| reason(&prepared[index], situation).is_some());
        let anyway = decided.map(|&index| Anyway {
            index,
            recurring: scheduler.recurring(&prepared[index].binding),
            base: Placed::default(),
        });
        let anyway: Vec<Anyway> = anyway.collect();
        let mut by_cluster = vec![Vec::new(); numbers.len()];
        let is_decided: BTreeSet<usize> = anyway.iter().map(|anyway| anyway.index).collect();
        for (prepared, index) in prepared.iter().zip(0..) {
            if is_decided.contains(&(index as usize)) {
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
            situation,
            side,
            options,
            prepared,
            numbers,
            is_gone,
            ranks,
            anyway,
            by_cluster,
            placements,
        };
        ground.decide_base();
        ground
    }

    /// Decides what is decided without a loss.
    fn decide_base(&mut self) {
        let fleet = self.situation.snapshot(self.side.profile.needs_raw_clusters());
        let mut placed = vec![Placed::default(); self.prepared.len()];
        self.decide(&fleet, &[], &[], |due, shares, failure| {
            placed[due.index] = Placed {
                shares: shares.to_vec(),
                failure,
            };
        });
        for anyway in &mut self.anyway {
            anyway.base = std::mem::take(&mut placed[anyway.index]);
            let before = self.numbers.shares(&self.prepared[anyway.index].assigned, |_| true);
            let binding = &self.prepared[anyway.index].binding;
            self.usage
                .change(binding, &before, &anyway.base.shares, &mut Vec::new());
        }
        // A satisfied binding only loses the clusters that are gone, which use nothing.
    }

    /// Bindings that only the loss of these clusters concerns, in the order of decisions: first those that are decided then,
    /// second those that are not scheduled at all.
    pub(super) fn concerned(&self, lost: &[u32]) -> (Vec<usize>, Vec<usize>) {
        let listed = lost.iter().filter_map(|&number| self.by_cluster.get(number as usize));
        let mut concerned: Vec<usize> = listed.flatten().map(|&index| index as usize).collect();
        concerned.sort_unstable_by_key(|&index| self.ranks[index]);
        concerned.dedup();
        let is_scheduled = |index: &usize| self.prepared[*index].skipped.is_none();
        concerned.into_iter().partition(is_scheduled)
    }

    /// Clusters of a binding that nobody decides, in the order of their numbers.
    pub(super) fn kept(&self, index: usize, is_lost: &[bool]) -> Vec<Share> {
        let is_left = |number: u32| {
            let is = |flags: &[bool]| flags.get(number as usize).copied().unwrap_or(false);
            !is(&self.is_gone) && !is(is_lost)
        };
        self.numbers.shares(&self.prepared[index].assigned, is_left)
    }

    /// Decides those that are decided anyway and these others, one after another, and hands over each with its clusters.
    ///
    /// One that failed is decided again whenever its peers are placed differently than it saw, as in
    /// [`Future::decide`](crate::future::Future::decide).
    pub(super) fn decide(
        &self,
        fleet: &FleetSnapshot,
        others: &[usize],
        is_lost: &[bool],
        mut take: impl FnMut(Due<'_>, &[Share], Option<BriefFailure>),
    ) {
        let numbers = self.numbers.of_rows(fleet);
        let mut scheduler = Scheduler::new(Arc::clone(&self.side.profile))
            .keeping_no_plans()
            .assuming(self.options.assumes)
            .deciding_at(self.options.time)
            .knowing(self.placements.clone());
        let mut shares: Vec<Share> = Vec::new();
        let mut failed = Vec::new();
        for due in self.due(others) {
            let binding = &*self.prepared[due.index].binding;
            let made;
            let recurring = match due.anyway {
                Some(anyway) => &anyway.recurring,
                None => {
                    made = scheduler.recurring(binding);
                    &made
                }
            };
            let (outcome, peers) = scheduler.schedule_again(binding, recurring, fleet);
            match outcome {
                BriefOutcome::Scheduled => {
                    number(&scheduler, &numbers, &mut shares);
                    take(due, &shares, None);
                }
                BriefOutcome::Failed(failure) => {
                    if self.clears(failure) {
                        scheduler.cleared(binding);
                    }
                    failed.push((due, failure, peers));
                }
            }
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
                        take(*due, &shares, None);
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
                true => take(due, &[], Some(failure)),
                false => take(due, &self.kept(due.index, is_lost), Some(failure)),
            }
        }
    }

    /// True if a failure takes all clusters away.
    fn clears(&self, failure: BriefFailure) -> bool {
        failure == BriefFailure::NoClusterFit && self.side.when_no_cluster_fits == WhenNoClusterFits::Clear
    }

    /// Those that are decided anyway and these others, in the order of decisions.
    fn due<'b>(&'b self, others: &'b [usize]) -> impl Iterator<Item = Due<'b>> {
        let mut anyway = self.anyway.iter().peekable();
        let mut others = others.iter().copied().peekable();
        std::iter::from_fn(move || {
            let rank = |index: usize| self.ranks[index];
            let next = others.peek().map(|&index| rank(index));
            let first = anyway.next_if(|anyway| next.is_none_or(|next| rank(anyway.index) < next));
            match first {
                Some(first) => Some(Due {
                    index: first.index,
                    anyway: Some(first),
                }),
                None => Some(Due {
                    index: others.next()?,
                    anyway: None,
                }),
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
