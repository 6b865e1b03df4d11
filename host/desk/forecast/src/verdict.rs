//! The verdict on each document, worded once: a table, Markdown and a page show the same sentence.
//!
//! A sentence is written as in a table: without a capital and a full stop, which a page adds.

use crate::document::{FailureTotals, FailuresDocument, Totals};
use crate::headroom::document::HeadroomDocument;
use crate::movement::Movement;
use crate::notes::counted;
use crate::planned::{CouldPlace, PlanCosts, Rebalanced};
use crate::policies::document::PolicyTotals;
use crate::survive::document::SurviveTotals;

/// Tone of a verdict or a figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    /// Something is lost, or does not fit.
    Bad,
    /// Something that needs attention.
    Notable,
    /// All is well.
    Good,
    /// A number without judgement.
    #[default]
    Neutral,
}

impl Tone {
    /// Name, such as that of a class in a style sheet.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bad => "bad",
            Self::Notable => "notable",
            Self::Good => "good",
            Self::Neutral => "neutral",
        }
    }

    /// Word with the same meaning as a colour; empty for a neutral one.
    pub fn word(self) -> &'static str {
        match self {
            Self::Bad => "Attention",
            Self::Notable => "Notice",
            Self::Good => "All well",
            Self::Neutral => "",
        }
    }
}

/// The first thing that a reader should know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verdict {
    /// One sentence.
    pub sentence: String,
    /// The sentence after it; may be empty.
    pub more: String,
    /// Tone of the sentence.
    pub tone: Tone,
}

/// Number of decided bindings per outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// Bindings that were scheduled.
    pub scheduled: usize,
    /// Bindings that are not decided.
    pub skipped: usize,
    /// Bindings that no cluster fits.
    pub no_cluster_fit: usize,
    /// Others that cannot be scheduled.
    pub unschedulable: usize,
    /// Bindings that are invalid, or whose decision a plugin failed.
    pub errors: usize,
    /// Replicas that bindings ask for and that run nowhere.
    pub missing: i64,
    /// Replicas that clusters gain although they do not fit.
    pub beyond_capacity: i64,
}

impl Outcomes {
    /// `7 bindings: 5 scheduled, 1 unschedulable, 1 skipped; 12 replicas missing, 3 beyond capacity`.
    pub fn verdict(&self) -> Verdict {
        let counts = [
            (self.scheduled, "scheduled"),
            (self.no_cluster_fit, "without a fitting cluster"),
            (self.unschedulable, "unschedulable"),
            (self.errors, "in error"),
            (self.skipped, "skipped"),
        ];
        let all: usize = counts.iter().map(|(count, _)| count).sum();
        let harms = self.no_cluster_fit + self.unschedulable + self.errors;
        let replicas = [(self.missing, "missing"), (self.beyond_capacity, "beyond capacity")];
        let replicas: Vec<(i64, &str)> = replicas.into_iter().filter(|(count, _)| *count > 0).collect();
        let replicas = of_replicas(&replicas);
        Verdict {
            sentence: match (all, replicas.as_str()) {
                (0, _) => "there is nothing to schedule".to_owned(),
                (all, "") => format!("{}: {}", counted(all, "binding"), parts(&counts)),
                (all, replicas) => format!("{}: {}; {replicas}", counted(all, "binding"), parts(&counts)),
            },
            more: String::new(),
            tone: match (all, harms, self.missing + self.beyond_capacity) {
                (0, ..) => Tone::Notable,
                (_, 0, 0) => Tone::Good,
                (_, 0, _) => Tone::Notable,
                _ => Tone::Bad,
            },
        }
    }
}

impl Totals {
    /// `3 bindings change: 10 replicas moved, 4 added; 1 newly unschedulable; 6 replicas newly missing`.
    pub fn verdict(&self) -> Verdict {
        let mut parts = vec![match self.changed {
            0 => "nothing changes".to_owned(),
            1 => format!("1 binding changes: {}", moves(&self.movement)),
            changed => format!("{changed} bindings change: {}", moves(&self.movement)),
        }];
        let as_before = if self.newly_in_error > 0 { " as before" } else { "" };
        let counts = [
            (self.newly_unschedulable, "newly unschedulable".to_owned()),
            (self.newly_schedulable, "newly schedulable".to_owned()),
            (
                self.unschedulable - self.newly_unschedulable,
                "unschedulable as before".to_owned(),
            ),
            (self.newly_in_error, "newly in error".to_owned()),
            (self.errors - self.newly_in_error, format!("in error{as_before}")),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        parts.extend(counts.map(|(count, what)| format!("{count} {what}")));
        if self.down > 0 {
            parts.push(format!(
                "{} down on failed clusters",
                counted(number(self.down), "replica")
            ));
        }
        parts.extend(self.lacking());
        parts.extend(self.capacity());
        if self.left_without_policy > 0 {
            parts.push(format!(
                "{} left without a policy",
                counted(self.left_without_policy, "binding")
            ));
        }
        let is_harmful = self.is_harmful() || self.beyond_capacity > 0 || self.newly_full > 0;
        let is_notable = self.missing > 0 || self.unschedulable > 0 || self.errors > 0 || self.left_without_policy > 0;
        Verdict {
            sentence: parts.join("; "),
            more: String::new(),
            tone: match (is_harmful, is_notable) {
                (true, _) => Tone::Bad,
                (false, true) => Tone::Notable,
                (false, false) => Tone::Good,
            },
        }
    }

    /// True if the changes take away what a workload needs: replicas are lost, stranded or down, a binding can no longer be scheduled or
    /// becomes invalid, or a workload runs with fewer replicas than it asks for. Copies of a duplicated workload that runs on other
    /// clusters are missing as well, but each is what its own cluster no longer needs.
    pub fn is_harmful(&self) -> bool {
        self.newly_unschedulable > 0
            || self.newly_in_error > 0
            || self.down > 0
            || self.movement.lost > 0
            || self.movement.stranded > 0
            || self.newly_missing > self.missing_copies
    }

    /// `6 replicas newly missing, 2 of them in copies of duplicated workloads; 5 missing as before`.
    fn lacking(&self) -> Option<String> {
        let (newly, copies) = (self.newly_missing, self.missing_copies);
        let before = self.missing - newly;
        let mut text = match (newly, before) {
            (0, 0) => return None,
            (0, before) => return Some(format!("{} missing as before", counted(number(before), "replica"))),
            (newly, _) => format!("{} newly missing", counted(number(newly), "replica")),
        };
        match copies {
            0 => {}
            copies if copies == newly => text.push_str(" in copies of duplicated workloads"),
            copies => text.push_str(&format!(", {copies} of them in copies of duplicated workloads")),
        }
        if before > 0 {
            text.push_str(&format!("; {before} missing as before"));
        }
        Some(text)
    }

    /// `12 replicas beyond capacity, 2 clusters newly full`.
    fn capacity(&self) -> Option<String> {
        let parts = [
            (number(self.beyond_capacity), "replica", "beyond capacity"),
            (self.newly_full, "cluster", "newly full"),
        ];
        let parts = parts.into_iter().filter(|(count, ..)| *count > 0);
        let parts: Vec<String> = parts
            .map(|(count, thing, what)| format!("{} {what}", counted(count, thing)))
            .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

impl FailuresDocument {
    /// `4 of 12 losses are absorbed without losing a replica`.
    pub fn verdict(&self) -> Verdict {
        let FailureTotals {
            losses,
            absorbed,
            absorbed_beyond_capacity: beyond,
            missing_copies: copies,
            too_full,
            ..
        } = self.totals;
        if losses == 0 {
            return Verdict {
                sentence: match self.each.as_str() {
                    "cluster" => "there is no cluster to lose".to_owned(),
                    each => format!("no cluster has a {each}"),
                },
                ..Verdict::default()
            };
        }
        let mut sentence = format!(
            "{absorbed} of {losses} {} {} absorbed without losing a replica",
            plural(losses, "loss", "losses"),
            plural(absorbed, "is", "are")
        );
        if beyond > 0 {
            sentence.push_str(&format!(", {beyond} more only beyond the capacity of other clusters"));
        }
        if copies > 0 {
            sentence.push_str(&format!(
                "; copies of duplicated workloads are missing after {copies} of them"
            ));
        }
        Verdict {
            sentence,
            more: match too_full {
                0 => String::new(),
                1 => "1 loss makes a cluster too full".to_owned(),
                count => format!("{count} losses make a cluster too full"),
            },
            tone: match (absorbed == losses && too_full == 0, copies) {
                (true, 0) => Tone::Good,
                (true, _) => Tone::Notable,
                (false, _) => Tone::Bad,
            },
        }
    }
}

impl SurviveTotals {
    /// `5 of 7 placed bindings survive each of these losses, 2 of them with fewer replicas; 1 hangs on one`.
    pub fn verdict(&self) -> Verdict {
        let beyond = self.beyond_capacity;
        Verdict {
            sentence: self.surviving(),
            more: match beyond {
                0 => String::new(),
                beyond => format!(
                    "{beyond} {} {} replicas on clusters that have no room for them",
                    plural(beyond, "loss", "losses"),
                    plural(beyond, "puts", "put"),
                ),
            },
            tone: match (self.placed, self.not_surviving, beyond) {
                (0, 0, 0) => Tone::Neutral,
                (_, 0, 0) if self.surviving_in_part > 0 => Tone::Notable,
                (_, 0, 0) => Tone::Good,
                _ => Tone::Bad,
            },
        }
    }

    fn surviving(&self) -> String {
        let one = match self.bindings {
            1 => "the binding",
            _ => "the only placed binding",
        };
        let text = match (self.placed, self.surviving) {
            (0, _) => return "no binding is placed, so that none has anything to lose".to_owned(),
            (1, 1) if self.surviving_in_part > 0 => {
                return format!("{one} survives each of these losses, some with fewer replicas");
            }
            (1, 1) => return format!("{one} survives each of these losses"),
            (1, _) if self.hanging > 0 => return format!("{one} hangs on one of these losses"),
            (1, _) => return format!("{one} does not survive some of these losses"),
            (placed, surviving) if placed == surviving => {
                format!("all {placed} placed bindings survive each of these losses")
            }
            (placed, 0) => format!("none of {placed} placed bindings survives each of these losses"),
            (placed, surviving) => format!(
                "{surviving} of {placed} placed bindings {} each of these losses",
                plural(surviving, "survives", "survive")
            ),
        };
        let in_part = match self.surviving_in_part {
            0 => String::new(),
            count => format!(", {count} of them with fewer replicas after some"),
        };
        format!("{text}{in_part}{}", hanging(";", self.hanging))
    }
}

impl Rebalanced {
    /// `all 75 bindings that wait are placed by 873 moves`, and what no plan is below.
    pub fn verdict(&self) -> Verdict {
        let totals = &self.totals;
        let moves = match (totals.moved, self.at_most) {
            (0, _) => "without a move".to_owned(),
            (moved, None) => format!("by {}", counted(number(moved), "move")),
            (moved, Some(most)) => {
                let most = usize::try_from(most).unwrap_or(usize::MAX);
                format!("by {moved} of at most {}", counted(most, "move"))
            }
        };
        let (sentence, tone) = match (totals.waiting, totals.placed) {
            (0, _) if totals.moved > 0 => {
                let moves = counted(number(totals.moved), "move");
                let verb = plural(number(totals.moved), "makes", "make");
                (format!("nothing waits; {moves} {verb} it cheaper"), Tone::Good)
            }
            (0, _) => ("nothing waits".to_owned(), Tone::Good),
            (1, 1) => (format!("the binding that waits is placed {moves}"), Tone::Good),
            (waiting, placed) if waiting == placed => (
                format!("all {waiting} bindings that wait are placed {moves}"),
                Tone::Good,
            ),
            (1, _) => ("the binding that waits is not placed".to_owned(), Tone::Bad),
            (waiting, 0) => (format!("none of {waiting} bindings that wait is placed"), Tone::Bad),
            (waiting, placed) => {
                let are = plural(placed, "is", "are");
                (
                    format!("{placed} of {waiting} bindings that wait {are} placed {moves}"),
                    Tone::Notable,
                )
            }
        };
        Verdict {
            sentence,
            more: self.bounds(),
            tone,
        }
    }

    /// What no plan is below, where that says more than the plan does.
    fn bounds(&self) -> String {
        let (bound, totals) = (&self.bound, &self.totals);
        if totals.waiting == 0 {
            return String::new();
        }
        if let Some(reason) = &bound.left_out {
            return format!("no bound: {reason}");
        }
        let mut parts = Vec::new();
        if let Some(waiting) = bound.waiting
            && totals.placed < totals.waiting
        {
            parts.push(match waiting {
                0 => "as far as the bound knows, none of them needs to".to_owned(),
                1 if totals.waiting == 1 => "it waits in any plan".to_owned(),
                waiting => format!(
                    "at least {waiting} of them {} in any plan",
                    plural(waiting, "waits", "wait")
                ),
            });
            // The last row is of all that wait.
            let above = bound.by_priority.split_last().map_or(&[][..], |(_, above)| above);
            parts.extend(above.iter().filter(|row| row.must_wait > 0).map(|row| {
                let (priority, waiting) = (row.priority, row.waiting);
                format!(
                    "at least {} of {waiting} with priority {priority} or above",
                    row.must_wait
                )
            }));
        }
        if let Some(moves) = bound.moves
            && totals.moved > 0
        {
            parts.push(format!(
                "any plan that places the same needs at least {}",
                counted(number(moves), "move")
            ));
        }
        parts.join("; ")
    }
}

impl PlanCosts {
    /// `costs 12.0000 → 10.0000 EUR per hour, within 2% of the least that was found (9.9000); no plan that places the same costs less than
    /// 9.800000`.
    pub fn sentence(&self) -> String {
        let Self { unit, now, planned, .. } = self;
        let mut text = match now == planned {
            true => format!("costs {now} {unit} per hour"),
            false => format!("costs {now} → {planned} {unit} per hour"),
        };
        if let (Some(within), Some(least)) = (&self.within, &self.least) {
            text.push_str(&format!(", within {within} of the least that was found ({least})"));
        }
        if let Some(bound) = &self.bound {
            text.push_str(&format!("; no plan that places the same costs less than {bound}"));
        }
        text
    }
}

impl CouldPlace {
    /// `3 of 4 bindings that wait could be placed by 12 moves`; `None` if none could.
    pub fn sentence(&self) -> Option<String> {
        let moves = match self.moves {
            0 => "if all were decided together".to_owned(),
            moves => format!("by {}", counted(number(moves), "move")),
        };
        match (self.waiting, self.placed) {
            (_, 0) => None,
            (1, _) => Some(format!("the binding that waits for room could be placed {moves}")),
            (waiting, placed) if waiting == placed => Some(format!(
                "all {waiting} bindings that wait for room could be placed {moves}"
            )),
            (waiting, placed) => Some(format!(
                "{placed} of {waiting} bindings that wait for room could be placed {moves}"
            )),
        }
    }
}

/// `, 2 hang on one`, after a punctuation mark; empty if none does.
pub fn hanging(mark: &str, count: usize) -> String {
    match count {
        0 => String::new(),
        1 => format!("{mark} 1 hangs on one"),
        count => format!("{mark} {count} hang on one"),
    }
}

impl HeadroomDocument {
    /// `2 workloads cannot grow`.
    pub fn verdict(&self) -> Verdict {
        let (refused, full, measured) = (self.totals.failing, self.totals.at_limit, self.totals.bindings);
        let (sentence, tone) = match (refused, full) {
            (0, 0) => ("every workload can grow".to_owned(), Tone::Good),
            (0, full) => (format!("{} cannot grow", counted(full, "workload")), Tone::Notable),
            (refused, _) => (
                format!("{} cannot be scheduled even now", counted(refused, "workload")),
                Tone::Bad,
            ),
        };
        Verdict {
            sentence,
            more: format!(
                "{} {} measured, each alone while all others keep what they get",
                counted(measured, "workload"),
                plural(measured, "is", "are")
            ),
            tone,
        }
    }
}

impl PolicyTotals {
    /// `2 errors, 1 warning`, and `12 policies: 8 govern 40 bindings, 3 dead`.
    pub fn verdict(&self) -> Verdict {
        let counts = [(self.errors, "error"), (self.warnings, "warning"), (self.infos, "info")];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = counts.map(|(count, word)| counted(count, word)).collect();
        Verdict {
            sentence: match parts.is_empty() {
                true => "no findings".to_owned(),
                false => parts.join(", "),
            },
            more: self.governing(),
            tone: match (self.errors, self.warnings) {
                (0, 0) => Tone::Good,
                (0, _) => Tone::Notable,
                _ => Tone::Bad,
            },
        }
    }

    fn governing(&self) -> String {
        let policies = match self.policies {
            1 => "1 policy".to_owned(),
            count => format!("{count} policies"),
        };
        let mut text = format!(
            "{policies}: {} {} {}",
            self.governing,
            plural(self.governing, "governs", "govern"),
            counted(self.bindings - self.without_policy, "binding")
        );
        let counts = [
            (self.dead, "dead"),
            (self.shadowed, "shadowed"),
            (self.overlapping, "overlapping"),
        ];
        if counts.iter().any(|(count, _)| *count > 0) {
            text.push_str(&format!(", {}", parts(&counts)));
        }
        if self.without_policy > 0 {
            text.push_str(&format!(
                "; {} without a policy",
                counted(self.without_policy, "binding")
            ));
        }
        if self.unmatched > 0 {
            text.push_str(&format!(
                "; {} that no policy selects",
                counted(self.unmatched, "resource")
            ));
        }
        text
    }
}

/// `10 replicas moved, 4 added, 1 cluster gained`.
pub fn moves(movement: &Movement) -> String {
    let parts = [
        (movement.moved, "moved"),
        (movement.added, "added"),
        (movement.removed, "removed"),
        (movement.lost, "lost"),
        (movement.waiting, "waiting"),
        (movement.stranded, "stranded"),
    ];
    let parts: Vec<(i64, &str)> = parts.into_iter().filter(|(count, _)| *count > 0).collect();
    let mut texts: Vec<String> = Vec::new();
    if !parts.is_empty() {
        texts.push(of_replicas(&parts));
    }
    for (count, word) in [
        (movement.clusters_added, "gained"),
        (movement.clusters_removed, "given up"),
    ] {
        if count > 0 {
            texts.push(format!("{} {word}", counted(number(count), "cluster")));
        }
    }
    match texts.is_empty() {
        true => "no replicas move".to_owned(),
        false => texts.join(", "),
    }
}

/// `10 replicas moved, 4 added`.
fn of_replicas(counts: &[(i64, &str)]) -> String {
    let texts = counts.iter().enumerate().map(|(index, (count, word))| match index {
        0 => format!("{count} {} {word}", plural(number(*count), "replica", "replicas")),
        _ => format!("{count} {word}"),
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// `5 scheduled, 1 skipped`: the counts that are not 0.
fn parts(counts: &[(usize, &str)]) -> String {
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = counts.map(|(count, what)| format!("{count} {what}")).collect();
    parts.join(", ")
}

fn plural(count: usize, one: &'static str, several: &'static str) -> &'static str {
    if count == 1 { one } else { several }
}

/// A count that is not below 0.
fn number(count: i64) -> usize {
    usize::try_from(count).unwrap_or_default()
}

#[cfg(test)]
mod tests;
