//! The single losses that each binding does not survive, and changes with which one does.
//!
//! A binding survives a loss if all its replicas are placed again on what is left, under its own policy: as many as its quorum
//! requires if it has one, and at least one copy if it is duplicated. What is pending is done in any case.

pub mod document;
mod failing;
mod remedy;

use std::collections::{BTreeMap, BTreeSet};

use document::{LevelRow, LossOfBinding, LossRow, SurviveRow, SurviveTotals};
pub use remedy::remedy;

use crate::failures::{Each, Errors, Hit, Survival, survival};
use crate::forecast::strategy_of;
use crate::future::Options;
use crate::situation::Situation;
use divvy_scheduler::profile::ConfiguredProfile;

/// A set of clusters to lose, with all names for it, such as a zone with a single cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Its clusters.
    pub clusters: BTreeSet<String>,
    /// Its names, the smallest size first.
    pub names: Vec<(Each, String)>,
}

/// All losses of these sizes, each set of clusters once.
pub fn losses(situation: &Situation, levels: &[Each]) -> Vec<Loss> {
    let mut by_clusters: BTreeMap<BTreeSet<String>, Vec<(Each, String)>> = BTreeMap::new();
    for &each in levels {
        for (name, clusters) in each.losses(situation) {
            by_clusters.entry(clusters).or_default().push((each, name));
        }
    }
    let losses = by_clusters.into_iter();
    let mut losses: Vec<Loss> = losses.map(|(clusters, names)| Loss { clusters, names }).collect();
    losses.sort_by(|left, right| left.names.cmp(&right.names));
    losses
}

/// The way in which clusters are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// They are gone, as if they were deleted.
    Gone,
    /// They fail: Karmada taints them and evicts what does not tolerate that.
    Failed,
}

/// What is left after each loss, in their order.
pub fn survive(
    situation: &Situation,
    side: &ConfiguredProfile,
    losses: &[Loss],
    manner: Manner,
    options: Options,
) -> Survival {
    match manner {
        Manner::Gone => {
            let clusters: Vec<BTreeSet<String>> = losses.iter().map(|loss| loss.clusters.clone()).collect();
            survival(situation, side, &clusters, options, None)
        }
        Manner::Failed => failing::survival(situation, side, losses, options),
    }
}

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

/// What a binding does not survive.
#[derive(Default)]
struct Losses {
    /// Hits, each with the index of its loss.
    hits: Vec<(usize, Hit)>,
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
    let is_chosen = |index: usize| chosen.is_none_or(|chosen| chosen.get(index) == Some(&true));
    let is_meant = |hit: &&Hit| usize::try_from(hit.binding).is_ok_and(is_chosen);
    let mut fates: BTreeMap<u32, Losses> = BTreeMap::new();
    for (index, survived) in survival.losses.iter().enumerate() {
        for &hit in survived.hits.iter().filter(is_meant) {
            fates.entry(hit.binding).or_default().hits.push((index, hit));
        }
    }
    let had = survival.had.iter().enumerate();
    let placed = had
        .filter(|(index, had)| is_chosen(*index) && !had.is_nothing())
        .count();
    let hangs = |fate: &Losses| fate.hits.iter().any(|(_, hit)| hit.left.is_nothing());
    let hanging = fates.values().filter(|fate| hangs(fate)).count();
    let beyond = survival
        .losses
        .iter()
        .filter(|survived| chosen.is_none() && survived.beyond_capacity > 0)
        .count();
    let errors = Errors::count(&survival.in_error, chosen);
    let totals = SurviveTotals {
        bindings: (0..situation.bindings.len()).filter(|index| is_chosen(*index)).count(),
        placed,
        surviving: placed - fates.len(),
        not_surviving: fates.len(),
        hanging,
        beyond_capacity: beyond,
        errors: errors.counted,
        left_out: 0,
    };
    let level_rows = levels.iter().map(|&each| {
        let is_of = |index: usize| losses[index].names.iter().any(|(size, _)| *size == each);
        let of_level = |fate: &&Losses| fate.hits.iter().any(|(index, _)| is_of(*index));
        let hangs = |fate: &&Losses| {
            fate.hits
                .iter()
                .any(|(index, hit)| is_of(*index) && hit.left.is_nothing())
        };
        LevelRow {
            each: each.word().to_owned(),
            losses: losses
                .iter()
                .flat_map(|loss| &loss.names)
                .filter(|(size, _)| *size == each)
                .count(),
            surviving: placed - fates.values().filter(of_level).count(),
            hanging: fates.values().filter(hangs).count(),
        }
    });
    let mut loss_rows = Vec::new();
    for (loss, survived) in losses.iter().zip(&survival.losses) {
        let hits: Vec<&Hit> = survived.hits.iter().filter(is_meant).collect();
        if hits.is_empty() && (chosen.is_some() || survived.beyond_capacity == 0) {
            continue;
        }
        for (each, name) in &loss.names {
            loss_rows.push(LossRow {
                each: each.word().to_owned(),
                name: name.clone(),
                clusters: loss.clusters.len(),
                bindings: hits.len(),
                hanging: hits.iter().filter(|hit| hit.left.is_nothing()).count(),
                beyond_capacity: (manner == Manner::Gone && chosen.is_none()).then_some(survived.beyond_capacity),
            });
        }
    }
    // Losses of one size stay in the order of their names.
    loss_rows.sort_by_key(|row| std::cmp::Reverse((row.hanging, row.bindings, row.beyond_capacity)));
    let mut rows: Vec<(i64, SurviveRow)> = Vec::new();
    for (&index, fate) in &fates {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        let (Some(binding), Some(had)) = (situation.bindings.get(index), survival.had.get(index)) else {
            continue;
        };
        let mut of_binding: Vec<(Each, LossOfBinding)> = Vec::new();
        for (loss, hit) in &fate.hits {
            for (each, name) in &losses[*loss].names {
                of_binding.push((
                    *each,
                    LossOfBinding {
                        each: each.word().to_owned(),
                        name: name.clone(),
                        left: hit.left.replicas,
                        clusters: hit.left.clusters,
                        reason: hit.cause.word().to_owned(),
                    },
                ));
            }
        }
        of_binding.sort_by(|left, right| {
            let rank = |loss: &(Each, LossOfBinding)| (loss.0, loss.1.left, loss.1.clusters);
            rank(left)
                .cmp(&rank(right))
                .then_with(|| left.1.name.cmp(&right.1.name))
        });
        let least = fate
            .hits
            .iter()
            .map(|(_, hit)| (hit.left.clusters > 0, hit.left.replicas))
            .min();
        let least = least.map_or(0, |(is_left, replicas)| if is_left { replicas.max(1) } else { 0 });
        let row = SurviveRow {
            binding: binding.key(),
            kind: binding.object.scope().kind().to_owned(),
            strategy: strategy_of(binding, &side.profile),
            replicas: had.replicas,
            clusters: had.clusters,
            losses: of_binding.into_iter().map(|(_, loss)| loss).collect(),
        };
        rows.push((least, row));
    }
    rows.sort_by(|left, right| left.0.cmp(&right.0).then_with(|| left.1.binding.cmp(&right.1.binding)));
    Summary {
        levels: level_rows.collect(),
        bindings: rows.into_iter().map(|(_, row)| row).collect(),
        losses: loss_rows,
        totals,
        errors_elsewhere: errors.others,
    }
}
