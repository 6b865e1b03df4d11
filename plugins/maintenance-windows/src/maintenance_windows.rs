//! The rule: what a cluster's windows mean for a binding at a time, and when that changes.
//!
//! It does not know clusters. Hours of a week and their time zones are the SDK's.

use divvy_framework::prelude::*;
use jiff::Timestamp;

/// Milliseconds of a minute.
pub(crate) const MINUTE: i64 = 60_000;

/// Changes that are looked through for the first that matters. Windows that follow one another without a gap can be many; the
/// answer then holds for less time than it could.
const CHANGES_MAX: usize = 64;

/// A window of a cluster.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Window<'a> {
    pub(crate) span: Span<'a>,
    /// True if the cluster is emptied while the window lasts.
    pub(crate) evicts: bool,
    /// Who announced it; empty if that is not stated.
    pub(crate) announced_by: &'a str,
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
pub(crate) struct ActiveWindow<'a> {
    occurrence: Occurrence,
    announced_by: &'a str,
}

/// Standing of a cluster for a binding, by its windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing<'a> {
    /// Nothing.
    Open,
    /// The cluster takes no further replicas. One without replicas of the binding is rejected.
    Cordoned(ActiveWindow<'a>),
    /// The cluster keeps no replicas.
    Emptied(ActiveWindow<'a>),
}

/// The answer for a cluster.
#[derive(Debug)]
pub(crate) struct Answer<'a> {
    pub(crate) standing: Standing<'a>,
    /// Time at which another answer is due; `None` if never.
    pub(crate) changes: Option<i64>,
}

impl<'a> Answer<'a> {
    /// The answer for a cluster with these windows. `keeps` is true if the binding has the cluster in its last result.
    pub(crate) fn new(windows: Vec<Window<'a>>, lead: i64, keeps: bool, now: i64) -> Self {
        let standing = |time: i64| standing(&windows, lead, time);
        // Without replicas to keep, it does not matter if a cluster is cordoned or emptied.
        let class = |standing: Standing<'_>| match standing {
            Standing::Open => 0,
            Standing::Emptied(_) if keeps => 2,
            Standing::Cordoned(_) | Standing::Emptied(_) => 1,
        };
        let at_once = standing(now);
        let mut changes = None;
        let mut time = now;
        for _ in 0..CHANGES_MAX {
            let next = windows.iter().filter_map(|window| window.next_change(lead, time)).min();
            changes = next;
            let Some(next) = next else { break };
            if class(standing(next)) != class(at_once) {
                break;
            }
            time = next;
        }
        Self {
            standing: at_once,
            changes,
        }
    }
}

/// The strongest of what windows say at a time; of two that say the same, the one that ends later.
fn standing<'a>(windows: &[Window<'a>], lead: i64, time: i64) -> Standing<'a> {
    let mut strongest: Option<(bool, ActiveWindow<'a>)> = None;
    for window in windows {
        let Some(occurrence) = window.occurrence(lead, time) else {
            continue;
        };
        let active = ActiveWindow {
            occurrence,
            announced_by: window.announced_by,
        };
        let empties = window.evicts && occurrence.begins <= time;
        let strength = |(empties, active): (bool, ActiveWindow<'_>)| (empties, active.occurrence.ends);
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
    /// The occurrence that is announced or takes place at a time.
    fn occurrence(&self, lead: i64, time: i64) -> Option<Occurrence> {
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

impl ActiveWindow<'_> {
    /// Why the cluster takes no further replicas.
    pub(crate) fn cordoned(&self) -> Reason {
        self.reason("take no further replicas")
    }

    /// Why the cluster keeps no replicas.
    pub(crate) fn emptied(&self) -> Reason {
        self.reason("are emptied")
    }

    /// `cluster(s) take no further replicas until 2026-03-14T06:00:00Z: maintenance from 2026-03-14T02:00:00Z, announced by ops`.
    fn reason(&self, consequence: &str) -> Reason {
        let Occurrence {
            announced,
            begins,
            ends,
        } = self.occurrence;
        let until = match ends {
            i64::MAX => "for good".to_owned(),
            ends => format!("until {}", text(ends)),
        };
        let by = match self.announced_by {
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

/// A time as in Kubernetes' objects; a time that no calendar has, as a number.
fn text(milliseconds: i64) -> String {
    match Timestamp::from_millisecond(milliseconds) {
        Ok(time) => time.to_string(),
        Err(_) => milliseconds.to_string(),
    }
}
