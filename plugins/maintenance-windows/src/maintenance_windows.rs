//! The rule: what a cluster's windows mean for a binding at a time, and when that changes.
//!
//! It does not know clusters. Hours of a week and their time zones are the SDK's.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use divvy_framework::prelude::*;
use jiff::Timestamp;

/// Milliseconds of a minute.
pub(crate) const MINUTE: i64 = 60_000;

/// Changes that are looked through for the first that matters. Windows that follow one another without a gap can be many; the
/// answer then holds for less time than it could.
const CHANGES_MAX: usize = 64;

/// Changes of single windows that are looked through for the same purpose. Many windows can change at one time.
const WINDOW_CHANGES_MAX: usize = 4096;

/// A window of a cluster.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window<'a> {
    pub(crate) span: Span<'a>,
    /// True if the cluster is emptied while the window lasts.
    pub(crate) evicts: bool,
}

/// Time of a window.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Span<'a> {
    /// Once, in milliseconds since 1970.
    Once {
        announced: Option<i64>,
        begins: i64,
        ends: i64,
    },
    /// Every week.
    Weekly(Weekly<'a>),
}

/// One time at which a window takes place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Occurrence {
    announced: i64,
    begins: i64,
    ends: i64,
}

/// A window that is announced or takes place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ActiveWindow {
    occurrence: Occurrence,
    /// Its number among the windows of the cluster.
    pub(crate) number: usize,
}

/// Standing of a cluster for a binding, by its windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Nothing.
    Open,
    /// The cluster takes no further replicas. One without replicas of the binding is rejected.
    Cordoned(ActiveWindow),
    /// The cluster keeps no replicas.
    Emptied(ActiveWindow),
}

/// The answer for a cluster.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer {
    pub(crate) standing: Standing,
    /// Time at which another answer is due; `None` if never.
    pub(crate) changes: Option<i64>,
    /// The time for which it was made, and the first time after it at which any window changes: until then, it is the answer.
    holds: (i64, Option<i64>),
}

impl Answer {
    /// The answer for a cluster with these windows. `keeps` is true if the binding has the cluster in its last result.
    ///
    /// Each window is evaluated once, and again only where it changes.
    pub(crate) fn new(windows: &[Window<'_>], lead: i64, keeps: bool, now: i64) -> Self {
        let mut classes: Vec<u8> = Vec::with_capacity(windows.len());
        let mut changes = Vec::new();
        for (number, window) in windows.iter().enumerate() {
            classes.push(window.class(lead, keeps, now));
            changes.extend(window.next_change(lead, now).map(|time| Reverse((time, number))));
        }
        let mut changes = BinaryHeap::from(changes);
        let mut of_class = [0_usize; 3];
        classes.iter().for_each(|&class| of_class[usize::from(class)] += 1);
        let strongest = |of_class: &[usize; 3]| of_class.iter().rposition(|&windows| windows > 0).unwrap_or(0);

        let (at_once, first) = (strongest(&of_class), changes.peek().map(|&Reverse((time, _))| time));
        let mut answer = Self {
            standing: standing(windows, lead, now),
            changes: None,
            holds: (now, first),
        };
        let mut window_changes = 0;
        for _ in 0..CHANGES_MAX {
            let Some(&Reverse((time, _))) = changes.peek() else {
                answer.changes = None;
                break;
            };
            answer.changes = Some(time);
            while let Some(&Reverse((next, number))) = changes.peek()
                && next == time
            {
                changes.pop();
                window_changes += 1;
                let class = windows[number].class(lead, keeps, time);
                of_class[usize::from(classes[number])] -= 1;
                of_class[usize::from(class)] += 1;
                classes[number] = class;
                let next = windows[number].next_change(lead, time);
                changes.extend(next.map(|next| Reverse((next, number))));
            }
            if strongest(&of_class) != at_once || window_changes > WINDOW_CHANGES_MAX {
                break;
            }
        }
        answer
    }

    /// True if it is also the answer at another time.
    pub(crate) fn holds_at(&self, time: i64) -> bool {
        let (from, until) = self.holds;
        from <= time && until.is_none_or(|until| time < until)
    }
}

/// The strongest of what windows say at a time; of two that say the same, the one that ends later.
fn standing(windows: &[Window<'_>], lead: i64, time: i64) -> Standing {
    let mut strongest: Option<(bool, ActiveWindow)> = None;
    for (number, window) in windows.iter().enumerate() {
        let Some(occurrence) = window.occurrence(lead, time) else {
            continue;
        };
        let empties = window.evicts && occurrence.begins <= time;
        let strength = |(empties, active): (bool, ActiveWindow)| (empties, active.occurrence.ends);
        let active = ActiveWindow { occurrence, number };
        if strongest.is_none_or(|known| strength(known) < strength((empties, active))) {
            strongest = Some((empties, active));
        }
    }
    match strongest {
        None => Standing::Open,
        Some((true, window)) => Standing::Emptied(window),
        Some((false, window)) => Standing::Cordoned(window),
    }
}

impl Window<'_> {
    /// What the window does at a time: 0 nothing, 1 keeps replicas away, 2 empties the cluster. Without replicas to keep, the last two do
    /// not differ.
    fn class(&self, lead: i64, keeps: bool, time: i64) -> u8 {
        match self.occurrence(lead, time) {
            None => 0,
            Some(occurrence) if self.evicts && keeps && occurrence.begins <= time => 2,
            Some(_) => 1,
        }
    }

    /// The occurrence that is announced or takes place at a time.
    fn occurrence(&self, lead: i64, time: i64) -> Option<Occurrence> {
        #[cfg(test)]
        EVALUATED.set(EVALUATED.get() + 1);
        let found = match self.span {
            Span::Once {
                announced,
                begins,
                ends,
            } => Occurrence {
                announced: announced.unwrap_or(begins.saturating_sub(lead)),
                begins,
                ends,
            },
            Span::Weekly(weekly) => {
                let period = weekly.at(time).or_else(|| weekly.after(time))?;
                Occurrence {
                    announced: period.begins.saturating_sub(lead),
                    begins: period.begins,
                    ends: period.ends,
                }
            }
        };
        (found.announced <= time && time < found.ends).then_some(found)
    }

    /// The first time after `time` at which the window is announced, begins or ends.
    fn next_change(&self, lead: i64, time: i64) -> Option<i64> {
        let later = |times: [i64; 3]| {
            let later = times.into_iter().filter(|&change| change > time && change != i64::MAX);
            later.min()
        };
        match self.span {
            Span::Once {
                announced,
                begins,
                ends,
            } => later([announced.unwrap_or(begins.saturating_sub(lead)), begins, ends]),
            Span::Weekly(weekly) => {
                let now = weekly.at(time).map_or(i64::MAX, |period| period.ends);
                let next = weekly.after(time).map_or(i64::MAX, |period| period.begins);
                let announced = if next == i64::MAX {
                    next
                } else {
                    next.saturating_sub(lead)
                };
                later([now, next, announced])
            }
        }
    }
}

impl ActiveWindow {
    /// Why the cluster takes no further replicas. `announced_by` is empty if that is not stated.
    pub(crate) fn cordoned(&self, announced_by: &str) -> Reason {
        self.reason("take no further replicas", announced_by)
    }

    /// Why the cluster keeps no replicas.
    pub(crate) fn emptied(&self, announced_by: &str) -> Reason {
        self.reason("are emptied", announced_by)
    }

    /// `cluster(s) take no further replicas until 2026-03-14T06:00:00Z: maintenance from 2026-03-14T02:00:00Z, announced by ops`.
    fn reason(&self, consequence: &str, announced_by: &str) -> Reason {
        let Occurrence {
            announced,
            begins,
            ends,
        } = self.occurrence;
        let until = match ends {
            i64::MAX => "for good".to_owned(),
            ends => format!("until {}", text(ends)),
        };
        let by = match announced_by {
            "" => String::new(),
            by => format!(", announced by {by}"),
        };
        let reason = Reason::from(format!(
            "cluster(s) {consequence} {until}: maintenance from {}{by}",
            text(begins)
        ));
        let reason = reason.figure("announced", announced).figure("begins", begins);
        match ends {
            i64::MAX => reason,
            ends => reason.figure("ends", ends),
        }
    }
}

#[cfg(test)]
thread_local! {
    /// Evaluations of windows.
    pub(crate) static EVALUATED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// A time as in Kubernetes' objects; a time that no calendar has, as a number.
fn text(milliseconds: i64) -> String {
    match Timestamp::from_millisecond(milliseconds) {
        Ok(time) => time.to_string(),
        Err(_) => milliseconds.to_string(),
    }
}
