//! The top of a page: the verdict, and the figures behind it, worst first.

use std::collections::BTreeSet;

use divvy_forecast::document::Totals;
use divvy_forecast::headroom::document::HeadroomTotals;
use divvy_forecast::load::tightest;
use divvy_forecast::verdict::{Tone, Verdict};

use crate::content::{Binding, Command, Content};
use crate::figure::Figure;
use crate::number::{self, counted, grouped, plain, signed};
use crate::texts::visible;

/// The first thing that a reader should know, as a page shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Headline {
    /// One sentence.
    pub text: String,
    /// The sentences after it; may be empty.
    pub more: String,
    /// Tone of the headline.
    pub tone: Tone,
    /// The figures, the most important first.
    pub figures: Vec<Figure>,
}

impl Headline {
    /// A verdict with the figures behind it.
    pub fn new(verdict: &Verdict, figures: Vec<Figure>) -> Self {
        Self {
            text: sentence(&verdict.sentence),
            more: sentence(&verdict.more),
            tone: verdict.tone,
            figures,
        }
    }

    /// The headline as every page shows it: numbers of one format, and the texts from manifests made visible.
    pub(crate) fn shown(mut self) -> Self {
        for figure in &mut self.figures {
            figure.value = visible(&number::value(&figure.value));
            figure.detail = visible(&grouped(&figure.detail));
        }
        for text in [&mut self.text, &mut self.more] {
            *text = visible(&grouped(text));
        }
        self
    }
}

/// A text with a capital and a full stop; an empty one stays empty.
fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => format!("{}{}.", first.to_uppercase(), characters.as_str()),
        None => String::new(),
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

/// The headline of a content.
pub fn headline(content: &Content) -> Headline {
    match content.command {
        Command::Schedule => of_decisions(content),
        Command::Diff => Headline::new(&content.verdict, figures_of_difference(content)),
        Command::Headroom => Headline::new(&content.verdict, figures_of_headroom(content)),
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

fn figures_of_difference(content: &Content) -> Vec<Figure> {
    let totals = &content.totals;
    let movement = &totals.movement;
    let newly = number(totals.newly_unschedulable);
    let known = number(totals.unschedulable).saturating_sub(newly);
    let errors = number(totals.errors);
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
        missing_figure(totals),
        tightest_figure(content),
        neutral("moved", "Moved", plain(movement.moved), "from one cluster to another"),
        neutral("added", "Added", plain(movement.added), ""),
        neutral("removed", "Removed", plain(movement.removed), "by decision"),
        neutral("changed", "Bindings that change", plain(number(totals.changed)), ""),
        neutral("replicas", "Replicas before", plain(totals.replicas), "of all bindings"),
    ];
    if errors > 0 {
        figures.insert(2, harm("errors", "In error", errors, ""));
    }
    if totals.down > 0 {
        figures.insert(2, harm("down", "Replicas down", totals.down, "on failed clusters"));
    }
    figures.insert(2, beyond_figure(totals));
    figures.extend(content.cost.clone());
    figures
}

/// Everything that is asked for and runs nowhere. Copies of duplicated workloads, and what was missing before, are no harm of a change.
fn missing_figure(totals: &Totals) -> Figure {
    let (newly, copies) = (totals.newly_missing, totals.missing_copies);
    let mut details = Vec::new();
    if totals.missing > newly {
        details.push(format!("{} as before", plain(totals.missing - newly)));
    }
    if copies > 0 {
        details.push(format!("{} in copies of duplicated workloads", plain(copies)));
    }
    Figure {
        tone: match (totals.missing, newly - copies) {
            (0, _) => Tone::Good,
            (_, 1..) => Tone::Bad,
            _ => Tone::Notable,
        },
        ..harm("missing", "Missing", totals.missing, details.join(", "))
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

/// The verdict on decisions, with what a table shows in its rows: parts of bindings, and clusters that are too full.
fn of_decisions(content: &Content) -> Headline {
    let used: BTreeSet<&String> = content.bindings.iter().flat_map(|binding| binding.to.keys()).collect();
    let to: i64 = content.bindings.iter().flat_map(|binding| binding.to.values()).sum();
    let in_part = scheduled_in_part(&content.bindings);
    let mut more = format!(
        "{} on {}.",
        counted(to, "replica"),
        counted(number(used.len()), "cluster")
    );
    if let Some(text) = &in_part {
        more.push_str(&format!(" {text}."));
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
    let headline = Headline::new(&content.verdict, figures_of_decisions(content, to, used.len()));
    Headline {
        more,
        tone: match headline.tone {
            tone @ (Tone::Good | Tone::Notable) if in_part.is_none() => match overfull {
                Some(_) => Tone::Notable,
                None => tone,
            },
            _ => Tone::Bad,
        },
        ..headline
    }
}

/// The figures behind decisions that give `to` replicas to `used` clusters.
fn figures_of_decisions(content: &Content, to: i64, used: usize) -> Vec<Figure> {
    let totals = &content.totals;
    let scheduled = content.bindings.iter().filter(|binding| binding.result == "Scheduled");
    let scheduled = number(scheduled.count());
    let from: i64 = content.bindings.iter().flat_map(|binding| binding.from.values()).sum();
    let unscheduled = number(totals.unschedulable);
    let newly = number(totals.newly_unschedulable);
    let errors = number(totals.errors);
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
        Figure {
            tone: if totals.missing > 0 { Tone::Notable } else { Tone::Good },
            ..harm("missing", "Missing", totals.missing, "replicas that run nowhere")
        },
        beyond_figure(totals),
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
            plain(number(used)),
            format!("of {}", plain(number(content.clusters.len()))),
        ),
    ];
    if errors > 0 {
        figures.insert(1, harm("errors", "In error", errors, ""));
    }
    figures.extend(content.cost.clone());
    figures
}

fn figures_of_headroom(content: &Content) -> Vec<Figure> {
    let rows = || content.growth.iter().map(|growth| &growth.row);
    let HeadroomTotals {
        bindings,
        unbounded,
        at_limit,
        failing,
        ..
    } = content.measured;
    let (refused, full) = (number(failing), number(at_limit));
    let least = rows()
        .filter_map(|row| Some((row.headroom?, &row.binding)))
        .min_by_key(|(room, binding)| (*room, (*binding).clone()));
    let least = match least {
        Some((room, binding)) => neutral("least", "Least headroom", signed(room), binding.as_str()),
        None => neutral("least", "Least headroom", "–".to_owned(), "nothing is bounded"),
    };
    vec![
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
        neutral(
            "unbounded",
            "Without bound",
            plain(number(unbounded)),
            "capacity is ignored",
        ),
        neutral("measured", "Measured", plain(number(bindings)), "workloads"),
    ]
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn a_sentence_of_a_page_has_a_capital_and_a_full_stop() {
        assert_eq!(sentence("nothing changes"), "Nothing changes.");
        assert_eq!(sentence("3 bindings change"), "3 bindings change.");
        assert_eq!(sentence(""), "");
    }
}
