//! Rows and sums of what is left after each loss.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use divvy_scheduler::profile::ConfiguredProfile;

use super::document::{LevelRow, LossOfBinding, LossRow, SurviveRow, SurviveTotals};
use super::{Loss, Manner};
use crate::failures::{Each, Errors, Hit, Survival};
use crate::forecast::strategy_of;
use crate::situation::Situation;

/// Rows and sums.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Summary {
    /// Per size of a loss.
    pub levels: Vec<LevelRow>,
    /// The bindings that do not survive some loss.
    pub bindings: Vec<SurviveRow>,
    /// The losses that some binding does not survive.
    pub losses: Vec<LossRow>,
    /// Sums.
    pub totals: SurviveTotals,
    /// Bindings that are in error without any loss, and are not chosen.
    pub errors_elsewhere: usize,
}

/// Sums up what is left after each loss: of all bindings, or of the chosen ones alone, by index. The capacity that a loss lacks is that of
/// all bindings, so that it is left out of a choice.
pub fn summary(
    situation: &Situation,
    side: &ConfiguredProfile,
    (losses, levels, manner): (&[Loss], &[Each], Manner),
    survival: &Survival,
    chosen: Option<&[bool]>,
) -> Summary {
    let choice = Choice { survival, chosen };
    let fates = choice.fates();
    let errors = Errors::count(&survival.in_error, chosen);
    let totals = SurviveTotals {
        bindings: (0..situation.bindings.len())
            .filter(|&index| choice.includes(index))
            .count(),
        errors: errors.counted,
        ..choice.totals(&fates)
    };
    let levels = levels.iter().map(|&each| level(each, losses, &fates, totals.placed));
    Summary {
        levels: levels.collect(),
        bindings: bindings(situation, side, losses, &fates, survival),
        losses: choice.losses(losses, manner),
        totals,
        errors_elsewhere: errors.others,
    }
}

/// Hits of one binding, each with the index of its loss.
type Fate = Vec<(usize, Hit)>;
/// The bindings that do not survive some loss, by index.
type Fates = BTreeMap<u32, Fate>;

/// What is left after each loss, of the bindings that count.
#[derive(Clone, Copy)]
struct Choice<'a> {
    survival: &'a Survival,
    /// True for each binding that counts; `None` if all do.
    chosen: Option<&'a [bool]>,
}

impl<'a> Choice<'a> {
    fn includes(self, index: usize) -> bool {
        self.chosen.is_none_or(|chosen| chosen.get(index) == Some(&true))
    }

    /// The hits among these that count.
    fn hits(self, hits: &'a [Hit]) -> impl Iterator<Item = &'a Hit> {
        hits.iter()
            .filter(move |hit| usize::try_from(hit.binding).is_ok_and(|index| self.includes(index)))
    }

    fn fates(self) -> Fates {
        let mut fates = Fates::new();
        for (index, survived) in self.survival.losses.iter().enumerate() {
            for &hit in self.hits(&survived.hits) {
                fates.entry(hit.binding).or_default().push((index, hit));
            }
        }
        fates
    }

    /// The sums of placed bindings and of losses.
    fn totals(self, fates: &Fates) -> SurviveTotals {
        let had = self.survival.had.iter().enumerate();
        let placed = had
            .filter(|(index, had)| self.includes(*index) && !had.is_nothing())
            .count();
        let losses = self.survival.losses.iter();
        let in_part = losses.clone().flat_map(|survived| &survived.in_part);
        let is_counted = |index: &&u32| usize::try_from(**index).is_ok_and(|index| self.includes(index));
        let in_part = in_part.filter(is_counted).filter(|index| !fates.contains_key(index));
        SurviveTotals {
            placed,
            surviving: placed - fates.len(),
            surviving_in_part: in_part.collect::<BTreeSet<_>>().len(),
            not_surviving: fates.len(),
            hanging: fates.values().filter(|fate| hangs(fate, |_| true)).count(),
            beyond_capacity: losses
                .filter(|survived| self.chosen.is_none() && survived.beyond_capacity > 0)
                .count(),
            ..SurviveTotals::default()
        }
    }

    /// The losses that some binding does not survive or that lack capacity, the worst first.
    fn losses(self, losses: &[Loss], manner: Manner) -> Vec<LossRow> {
        let mut rows = Vec::new();
        for (loss, survived) in losses.iter().zip(&self.survival.losses) {
            let hits: Vec<&Hit> = self.hits(&survived.hits).collect();
            if hits.is_empty() && (self.chosen.is_some() || survived.beyond_capacity == 0) {
                continue;
            }
            rows.extend(loss.names.iter().map(|(each, name)| LossRow {
                each: each.word().to_owned(),
                name: name.clone(),
                clusters: loss.clusters.len(),
                bindings: hits.len(),
                hanging: hits.iter().filter(|hit| hit.left.is_nothing()).count(),
                beyond_capacity: (manner == Manner::Gone && self.chosen.is_none()).then_some(survived.beyond_capacity),
            }));
        }
        // Losses of one size stay in the order of their names.
        rows.sort_by_key(|row| Reverse((row.hanging, row.bindings, row.beyond_capacity)));
        rows
    }
}

/// True if one of these losses leaves nothing.
fn hangs(fate: &Fate, is_of: impl Fn(usize) -> bool) -> bool {
    fate.iter().any(|(index, hit)| is_of(*index) && hit.left.is_nothing())
}

/// All losses of one size.
fn level(each: Each, losses: &[Loss], fates: &Fates, placed: usize) -> LevelRow {
    let is_of = |index: usize| losses[index].names.iter().any(|(size, _)| *size == each);
    let names = losses.iter().flat_map(|loss| &loss.names);
    let of_level = |fate: &&Fate| fate.iter().any(|(index, _)| is_of(*index));
    LevelRow {
        each: each.word().to_owned(),
        losses: names.filter(|(size, _)| *size == each).count(),
        surviving: placed - fates.values().filter(of_level).count(),
        hanging: fates.values().filter(|fate| hangs(fate, is_of)).count(),
    }
}

/// The bindings that do not survive some loss, those with the least left first.
fn bindings(
    situation: &Situation,
    side: &ConfiguredProfile,
    losses: &[Loss],
    fates: &Fates,
    survival: &Survival,
) -> Vec<SurviveRow> {
    let rows = fates.iter().filter_map(|(&index, fate)| {
        let index = usize::try_from(index).ok()?;
        let (binding, had) = (situation.bindings.get(index)?, survival.had.get(index)?);
        let row = SurviveRow {
            binding: binding.key(),
            kind: binding.object.scope().kind().to_owned(),
            strategy: strategy_of(binding, &side.profile),
            replicas: had.replicas,
            clusters: had.clusters,
            losses: losses_of_binding(fate, losses),
        };
        Some((least(fate), row))
    });
    let mut rows: Vec<(i64, SurviveRow)> = rows.collect();
    rows.sort_by(|left, right| left.0.cmp(&right.0).then_with(|| left.1.binding.cmp(&right.1.binding)));
    rows.into_iter().map(|(_, row)| row).collect()
}

/// The fewest replicas that a loss leaves. A cluster without replicas counts as one.
fn least(fate: &Fate) -> i64 {
    let least = fate
        .iter()
        .map(|(_, hit)| (hit.left.clusters > 0, hit.left.replicas))
        .min();
    least.map_or(0, |(is_left, replicas)| if is_left { replicas.max(1) } else { 0 })
}

/// The losses under all of their names, by size and by what is left.
fn losses_of_binding(fate: &Fate, losses: &[Loss]) -> Vec<LossOfBinding> {
    let mut rows: Vec<(Each, LossOfBinding)> = Vec::new();
    for (loss, hit) in fate {
        rows.extend(losses[*loss].names.iter().map(|(each, name)| {
            let row = LossOfBinding {
                each: each.word().to_owned(),
                name: name.clone(),
                left: hit.left.replicas,
                clusters: hit.left.clusters,
                reason: hit.cause.word().to_owned(),
            };
            (*each, row)
        }));
    }
    rows.sort_by(|left, right| {
        let rank = |(each, loss): &(Each, LossOfBinding)| (*each, loss.left, loss.clusters);
        rank(left)
            .cmp(&rank(right))
            .then_with(|| left.1.name.cmp(&right.1.name))
    });
    rows.into_iter().map(|(_, loss)| loss).collect()
}
