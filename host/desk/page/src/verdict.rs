//! The verdict: one sentence, and the figures behind it, worst first.

use std::collections::BTreeSet;

use divvy_forecast::document::Totals;
use divvy_forecast::load::tightest;

use crate::content::{Binding, Command, Content};
use crate::number::{counted, plain, signed};
use crate::texts::visible;

/// Tone of a verdict or a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Something is lost, or does not fit.
    Bad,
    /// Something that needs attention.
    Notable,
    /// All is well.
    Good,
    /// A number without judgement.
    Neutral,
}

/// One figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// Name in the page's markup, which tests use to find it.
    pub name: &'static str,
    /// The unit that is counted.
    pub label: &'static str,
    /// The number, as it is shown.
    pub value: String,
    /// Details; may be empty.
    pub detail: String,
    /// Tone of the figure.
    pub tone: Tone,
}

/// The first thing that a reader should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// One sentence.
    pub headline: String,
    /// The sentence after it; may be empty.
    pub more: String,
    /// Tone of the headline.
    pub tone: Tone,
    /// The figures, the most important first.
    pub figures: Vec<Figure>,
}

impl Verdict {
    /// The verdict with the texts from manifests in it made visible.
    pub(crate) fn visible(mut self) -> Self {
        let details = self.figures.iter_mut().map(|figure| &mut figure.detail);
        for text in details.chain([&mut self.headline, &mut self.more]) {
            *text = visible(text);
        }
        self
    }
}

impl Tone {
    /// Class in the page's style sheet.
    pub fn class(self) -> &'static str {
        match self {
            Self::Bad => "bad",
            Self::Notable => "notable",
            Self::Good => "good",
            Self::Neutral => "neutral",
        }
    }

    /// Word with the same meaning as the colour; empty for a neutral one.
    pub fn word(self) -> &'static str {
        match self {
            Self::Bad => "Attention",
            Self::Notable => "Notice",
            Self::Good => "All well",
            Self::Neutral => "",
        }
    }
}

/// A count that should be 0.
fn harm(name: &'static str, label: &'static str, count: i64, detail: impl Into<String>) -> Figure {
    Figure {
        name,
        label,
        value: plain(count),
        detail: detail.into(),
        tone: if count > 0 { Tone::Bad } else { Tone::Good },
    }
}

fn neutral(name: &'static str, label: &'static str, value: String, detail: impl Into<String>) -> Figure {
    Figure {
        name,
        label,
        value,
        detail: detail.into(),
        tone: Tone::Neutral,
    }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// `2 bindings are`.
fn are(count: i64, thing: &str) -> String {
    format!("{} {}", counted(count, thing), if count == 1 { "is" } else { "are" })
}

/// The verdict on a content.
pub fn verdict(content: &Content) -> Verdict {
    match content.command {
        Command::Schedule => decisions_verdict(content),
        Command::Diff => difference_verdict(content),
        Command::Headroom => headroom_verdict(content),
    }
}

/// The fullest resource of the fullest cluster after everything.
fn tightest_figure(content: &Content) -> Figure {
    let Some(found) = tightest(&content.clusters) else {
        return neutral("tightest", "Tightest", "–".to_owned(), "no cluster reports resources");
    };
    Figure {
        name: "tightest",
        label: "Tightest",
        value: format!("{}%", plain(found.percent)),
        detail: format!("{} on {}", found.resource, found.cluster),
        tone: match found.percent {
            101.. => Tone::Bad,
            90.. => Tone::Notable,
            _ => Tone::Neutral,
        },
    }
}

fn difference_verdict(content: &Content) -> Verdict {
    let totals = &content.totals;
    let movement = &totals.movement;
    let newly = number(totals.newly_unschedulable);
    let known = number(totals.unschedulable).saturating_sub(newly);
    let gone = movement.lost.saturating_add(movement.stranded);
    let mut harms = Vec::new();
    if gone > 0 {
        harms.push(format!("{} lost", are(gone, "replica")));
    }
    if newly > 0 {
        harms.push(format!("{} can no longer be scheduled", counted(newly, "binding")));
    }
    let errors = number(totals.errors);
    if errors > 0 {
        harms.push(format!("{} in error", are(errors, "binding")));
    }
    if totals.down > 0 {
        harms.push(format!("{} down on failed clusters", are(totals.down, "replica")));
    }
    harms.extend(beyond(totals));
    let moves = [
        (movement.moved, "moved"),
        (movement.added, "added"),
        (movement.removed, "removed"),
    ];
    let moves = moves.iter().filter(|(count, _)| *count > 0);
    let moves: Vec<String> = moves.map(|(count, word)| format!("{} {word}", plain(*count))).collect();
    let changed = number(totals.changed);
    let more = match (changed, moves.as_slice()) {
        (0, _) => "No binding changes.".to_owned(),
        (1, []) => "1 binding changes.".to_owned(),
        (_, []) => format!("{} change.", counted(changed, "binding")),
        (_, moves) => format!(
            "{} {}; replicas: {}.",
            counted(changed, "binding"),
            if changed == 1 { "changes" } else { "change" },
            moves.join(", ")
        ),
    };
    let mut figures = vec![
        harm("lost", "Replicas lost", movement.lost, stranded(movement.stranded)),
        harm(
            "newlyUnschedulable",
            "Newly unschedulable",
            newly,
            if known > 0 {
                format!("{} as before", plain(known))
            } else {
                String::new()
            },
        ),
        tightest_figure(content),
        neutral("moved", "Moved", plain(movement.moved), "from one cluster to another"),
        neutral("added", "Added", plain(movement.added), ""),
        neutral("removed", "Removed", plain(movement.removed), "by decision"),
        neutral("changed", "Bindings that change", plain(changed), ""),
        neutral("replicas", "Replicas before", plain(totals.replicas), "of all bindings"),
    ];
    if errors > 0 {
        figures.insert(2, harm("errors", "In error", errors, ""));
    }
    if totals.down > 0 {
        figures.insert(2, harm("down", "Replicas down", totals.down, "on failed clusters"));
    }
    figures.insert(2, beyond_figure(totals));
    Verdict {
        headline: match harms.as_slice() {
            [] if changed == 0 => "Nothing moves.".to_owned(),
            [] => "Nothing is lost.".to_owned(),
            harms => format!("{}.", harms.join(", and ")),
        },
        more,
        tone: if harms.is_empty() { Tone::Good } else { Tone::Bad },
        figures,
    }
}

/// Gains beyond capacity and full clusters, as a sentence without its full stop.
fn beyond(totals: &Totals) -> Option<String> {
    let newly = number(totals.newly_full);
    match (totals.beyond_capacity, newly) {
        (0, 0) => None,
        (0, newly) => Some(format!("{} newly full", are(newly, "cluster"))),
        (beyond, _) => Some(format!("{} beyond capacity", are(beyond, "replica"))),
    }
}

fn beyond_figure(totals: &Totals) -> Figure {
    let (newly, full) = (number(totals.newly_full), number(totals.full));
    let detail = match (newly, full) {
        (0, 0) => String::new(),
        (0, full) => format!("{} full as before", are(full, "cluster")),
        (newly, _) => format!("{} newly full", counted(newly, "cluster")),
    };
    Figure {
        tone: if totals.beyond_capacity > 0 || newly > 0 {
            Tone::Bad
        } else {
            Tone::Good
        },
        ..harm("beyondCapacity", "Beyond capacity", totals.beyond_capacity, detail)
    }
}

fn stranded(count: i64) -> String {
    match count {
        0 => String::new(),
        count => format!("and {} stranded", plain(count)),
    }
}

/// Bindings that are named before the rest is counted.
const PARTS_MAX: usize = 3;

/// The bindings that have fewer replicas than requested, with both counts of the first ones.
fn scheduled_in_part(bindings: &[Binding]) -> Option<String> {
    // A binding that has all of its replicas needs no message.
    let parts = bindings
        .iter()
        .filter(|binding| binding.result == "Scheduled" && !binding.message.is_empty());
    let parts: Vec<String> = parts
        .map(|binding| {
            let scheduled: i64 = binding.to.values().sum();
            format!("{} {} of {}", binding.key, plain(scheduled), plain(binding.replicas))
        })
        .collect();
    let more = if parts.len() > PARTS_MAX { ", …" } else { "" };
    let first = parts.iter().take(PARTS_MAX).cloned().collect::<Vec<_>>().join(", ");
    (!parts.is_empty()).then(|| {
        format!(
            "{} scheduled in part ({first}{more})",
            are(number(parts.len()), "binding")
        )
    })
}

fn decisions_verdict(content: &Content) -> Verdict {
    let totals = &content.totals;
    let results = |word: &str| number(content.bindings.iter().filter(|binding| binding.result == word).count());
    let (scheduled, skipped) = (results("Scheduled"), results("Skipped"));
    let unscheduled = number(totals.unschedulable);
    let newly = number(totals.newly_unschedulable);
    let errors = number(totals.errors);
    let used: BTreeSet<&String> = content.bindings.iter().flat_map(|binding| binding.to.keys()).collect();
    let to: i64 = content.bindings.iter().flat_map(|binding| binding.to.values()).sum();
    let from: i64 = content.bindings.iter().flat_map(|binding| binding.from.values()).sum();
    let mut harms = Vec::new();
    if unscheduled > 0 {
        harms.push(format!("{} cannot be scheduled", counted(unscheduled, "binding")));
    }
    if errors > 0 {
        harms.push(format!("{} in error", are(errors, "binding")));
    }
    harms.extend(scheduled_in_part(&content.bindings));
    let mut more = format!(
        "{} on {}.",
        counted(to, "replica"),
        counted(number(used.len()), "cluster")
    );
    if skipped > 0 {
        more.push_str(&format!(" {} skipped.", are(skipped, "binding")));
    }
    let overfull = tightest(&content.clusters).filter(|found| found.percent > 100);
    if let Some(found) = &overfull {
        let percent = plain(found.percent);
        more.push_str(&format!(
            " Together they need {percent}% of {} on {}",
            found.resource, found.cluster
        ));
        more.push_str(match content.assumes {
            true => ".",
            false => ": each binding was decided on its own, and --assume takes the others into account.",
        });
    }
    let mut figures = vec![
        harm(
            "unschedulable",
            "Unschedulable",
            unscheduled,
            if newly > 0 {
                format!("{} newly", plain(newly))
            } else {
                String::new()
            },
        ),
        tightest_figure(content),
        neutral("scheduled", "Scheduled", plain(scheduled), "bindings"),
        neutral(
            "replicas",
            "Replicas",
            plain(to),
            format!("{} against the last results", signed(to.saturating_sub(from))),
        ),
        neutral(
            "moved",
            "Moved",
            plain(totals.movement.moved),
            "from one cluster to another",
        ),
        neutral(
            "clusters",
            "Clusters in use",
            plain(number(used.len())),
            format!("of {}", plain(number(content.clusters.len()))),
        ),
    ];
    if errors > 0 {
        figures.insert(1, harm("errors", "In error", errors, ""));
    }
    Verdict {
        headline: match harms.as_slice() {
            [] if content.bindings.is_empty() => "There is nothing to schedule.".to_owned(),
            [] => "Everything is scheduled.".to_owned(),
            harms => format!("{}.", harms.join(", and ")),
        },
        more,
        tone: match (harms.is_empty(), overfull.is_some() || content.bindings.is_empty()) {
            (true, false) => Tone::Good,
            (true, true) => Tone::Notable,
            (false, _) => Tone::Bad,
        },
        figures,
    }
}

fn headroom_verdict(content: &Content) -> Verdict {
    let rows = || content.growth.iter().map(|growth| &growth.row);
    let is_refused = |result: &str| matches!(result, "NoClusterFit" | "Unschedulable" | "Error");
    let refused = number(rows().filter(|row| is_refused(&row.result)).count());
    let full = number(rows().filter(|row| row.headroom.is_some_and(|room| room <= 0)).count());
    let unbounded = number(rows().filter(|row| row.is_unbounded).count());
    let measured = number(content.growth.len());
    let least = rows()
        .filter_map(|row| Some((row.headroom?, &row.binding)))
        .min_by_key(|(room, binding)| (*room, (*binding).clone()));
    let least = match least {
        Some((room, binding)) => neutral("least", "Least headroom", signed(room), binding.as_str()),
        None => neutral("least", "Least headroom", "–".to_owned(), "nothing is bounded"),
    };
    Verdict {
        headline: match (refused, full) {
            (0, 0) => "Every workload can grow.".to_owned(),
            (0, full) => format!("{} cannot grow.", counted(full, "workload")),
            (refused, _) => format!("{} cannot be scheduled even now.", counted(refused, "workload")),
        },
        more: format!(
            "{} measured, each alone while all others keep what they get.",
            are(measured, "workload")
        ),
        tone: match (refused, full) {
            (0, 0) => Tone::Good,
            (0, _) => Tone::Notable,
            _ => Tone::Bad,
        },
        figures: vec![
            harm("unschedulable", "Unschedulable now", refused, ""),
            Figure {
                tone: if full > 0 { Tone::Notable } else { Tone::Good },
                ..neutral(
                    "full",
                    "Cannot grow",
                    plain(full),
                    "no further replica can be scheduled",
                )
            },
            tightest_figure(content),
            least,
            neutral("unbounded", "Without bound", plain(unbounded), "capacity is ignored"),
            neutral("measured", "Measured", plain(measured), "workloads"),
        ],
    }
}

#[cfg(test)]
mod tests {
    use divvy_forecast::document::{SideDocument, Totals};
    use divvy_forecast::movement::Movement;

    use super::*;
    use crate::explanations::Explanations;

    fn content(command: Command, totals: Totals) -> Content {
        Content {
            command,
            arguments: Vec::new(),
            version: String::new(),
            heading: crate::content::Heading::default(),
            base: None,
            after: SideDocument::default(),
            assumes: true,
            clusters: Vec::new(),
            bindings: Vec::new(),
            hidden: 0,
            is_partial: false,
            totals,
            growth: Vec::new(),
            explanations: Explanations::default(),
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_difference_is_judged_by_what_it_loses() {
        let moved = |moved, lost, stranded| Movement {
            moved,
            lost,
            stranded,
            ..Movement::default()
        };
        let cases = [
            (
                0,
                moved(0, 0, 0),
                0,
                "Nothing moves.",
                "No binding changes.",
                Tone::Good,
            ),
            (
                1,
                moved(9, 0, 0),
                0,
                "Nothing is lost.",
                "1 binding changes; replicas: 9 moved.",
                Tone::Good,
            ),
            (
                2,
                moved(0, 1, 0),
                0,
                "1 replica is lost.",
                "2 bindings change.",
                Tone::Bad,
            ),
            (
                2,
                moved(0, 1200, 34),
                1,
                "1,234 replicas are lost, and 1 binding can no longer be scheduled.",
                "2 bindings change.",
                Tone::Bad,
            ),
        ];
        for (changed, movement, newly_unschedulable, headline, more, tone) in cases {
            let totals = Totals {
                changed,
                movement,
                newly_unschedulable,
                unschedulable: newly_unschedulable + 2,
                ..Totals::default()
            };
            let verdict = verdict(&content(Command::Diff, totals));
            assert_eq!(
                (verdict.headline.as_str(), verdict.more.as_str(), verdict.tone),
                (headline, more, tone)
            );
            let figures: Vec<&str> = verdict.figures.iter().take(3).map(|figure| figure.name).collect();
            assert_eq!(figures, ["lost", "newlyUnschedulable", "beyondCapacity"]);
        }
    }

    #[test]
    fn decisions_are_judged_by_what_cannot_be_scheduled() {
        let totals = Totals {
            unschedulable: 2,
            errors: 1,
            ..Totals::default()
        };
        let judged = verdict(&content(Command::Schedule, totals));
        assert_eq!(
            judged.headline,
            "2 bindings cannot be scheduled, and 1 binding is in error."
        );
        assert_eq!(judged.tone, Tone::Bad);
        let empty = verdict(&content(Command::Schedule, Totals::default()));
        assert_eq!(
            (empty.headline.as_str(), empty.tone),
            ("There is nothing to schedule.", Tone::Notable)
        );
    }
}
