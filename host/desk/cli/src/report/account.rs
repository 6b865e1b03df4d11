//! The text of `divvy explain`: the scheduler's newest decision on a binding.

use std::io::{self, Write};

use anstyle::Style;
use divvy_client::explanation::{Answer, Description, FailedGroup, HeldCapacity, Outcome, Rejected};
use divvy_command::grid::write_text;
use divvy_command::style;
use divvy_command::text::printable;
use divvy_karmada::api::TargetCluster;
use divvy_scheduler::cycle::ClusterExplanation;

/// Lines of a decision, wrapped at the width of the terminal.
struct Lines<'a> {
    out: &'a mut dyn Write,
    columns: Option<usize>,
}

/// Writes what the scheduler's `/explain` answers. `columns` is the width of the terminal; without it, nothing is wrapped.
pub(crate) fn write(answer: &Answer<'_>, columns: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = Lines { out, columns };
    match answer {
        Answer::Decided(decision) => decided(decision, &mut lines),
        Answer::Moving(moving) => {
            lines.write(
                0,
                "it was decided before this scheduler started or loaded its profile",
                style::PLAIN,
            )?;
            lines.moving(&moving.moving)
        }
    }
}

fn decided(answer: &Description<'_>, lines: &mut Lines<'_>) -> io::Result<()> {
    lines.heading(answer)?;
    lines.failed_groups(&answer.failed_groups)?;
    for warning in answer.warnings.iter() {
        lines.write(0, &format!("warning: {}", printable(warning)), style::WARNING)?;
    }
    lines.outcome(answer)?;
    if let Some(moving) = &answer.moving {
        lines.moving(moving)?;
    }
    if let Some(held) = &answer.held {
        lines.held(held)?;
    }
    let candidates = answer.candidates.as_deref().unwrap_or_default();
    if !candidates.is_empty() {
        lines.write(0, "candidates:", style::PLAIN)?;
    }
    for candidate in candidates {
        lines.candidate(candidate)?;
    }
    if let Some(count) = answer.further_candidates {
        let text = format!("and {count} more without replicas; `divvy schedule --kubeconfig FILE --explain` lists all");
        lines.write(2, &text, style::FAINT)?;
    }
    let rejected = answer.rejected.as_deref().unwrap_or_default();
    if !rejected.is_empty() {
        lines.write(0, "not chosen:", style::PLAIN)?;
    }
    for entry in rejected {
        lines.rejected(entry)?;
    }
    for note in answer.notes.as_deref().unwrap_or_default() {
        let text = format!("note of {}: {}", printable(&note.plugin), printable(&note.text));
        lines.write(0, &text, style::PLAIN)?;
    }
    Ok(())
}

impl Lines<'_> {
    fn write(&mut self, indent: usize, text: &str, style: Style) -> io::Result<()> {
        write_text(self.out, self.columns, indent, text, style)
    }

    fn moving(&mut self, text: &str) -> io::Result<()> {
        self.write(0, &format!("move: {}", printable(text)), style::NOTABLE)
    }

    fn heading(&mut self, answer: &Description<'_>) -> io::Result<()> {
        let mut heading = format!(
            "decided at {}, because {}",
            printable(&answer.decided_at),
            printable(&answer.because)
        );
        if !answer.strategy.is_empty() {
            heading.push_str(&format!("; strategy {}", printable(&answer.strategy)));
        }
        if !answer.affinity.is_empty() {
            heading.push_str(&format!(", affinity group `{}`", printable(&answer.affinity)));
        }
        self.write(0, &heading, style::PLAIN)
    }

    fn failed_groups(&mut self, groups: &[FailedGroup<'_>]) -> io::Result<()> {
        for FailedGroup { affinity, message } in groups.iter().filter(|group| !group.affinity.is_empty()) {
            let text = format!(
                "affinity group `{}` did not fit: {}",
                printable(affinity),
                printable(message)
            );
            self.write(0, &text, style::PLAIN)?;
        }
        Ok(())
    }

    fn outcome(&mut self, answer: &Description<'_>) -> io::Result<()> {
        match &answer.outcome {
            Outcome::Failed { reason, message } => {
                let text = format!("{}: {}", printable(reason), printable(message));
                self.write(0, &text, style::BAD)?;
                if answer.clears {
                    let clusters: Vec<String> = answer.last.iter().map(described).collect();
                    let text = format!("the result is removed: {}", clusters.join(", "));
                    self.write(0, &text, style::BAD)?;
                }
                Ok(())
            }
            Outcome::Scheduled { clusters } => {
                if let Some(partial) = &answer.partial {
                    self.write(0, &printable(partial), style::NOTABLE)?;
                }
                for target in clusters.iter() {
                    let before = answer.last.iter().find(|before| before.name == target.name);
                    let change = i64::from(target.replicas) - before.map_or(0, |before| i64::from(before.replicas));
                    let change = match change {
                        0 => String::new(),
                        change => format!(" ({change:+})"),
                    };
                    self.write(2, &format!("{}{change}", described(target)), style::PLAIN)?;
                }
                Ok(())
            }
        }
    }

    fn held(&mut self, held: &HeldCapacity<'_>) -> io::Result<()> {
        let text = match held.waits {
            true => "the result waits for clusters to report what other results have taken:",
            false => "taken by other results and not reported yet:",
        };
        self.write(0, text, style::PLAIN)?;
        for part in &held.parts {
            let text = format!(
                "{}: {} by {} since {}",
                printable(&part.cluster),
                printable(&part.resources.join(", ")),
                printable(&part.binding),
                printable(&part.since)
            );
            self.write(2, &text, style::PLAIN)?;
        }
        match held.further {
            0 => Ok(()),
            further => self.write(2, &format!("and {further} more"), style::FAINT),
        }
    }

    fn candidate(&mut self, candidate: &ClusterExplanation) -> io::Result<()> {
        let facts = [
            ("score", candidate.score),
            ("fits now", candidate.fits_now),
            ("last", candidate.last),
            ("tier", candidate.tier.map(i64::from)),
            ("assigned", candidate.replicas),
        ];
        let facts = facts
            .iter()
            .filter_map(|(label, number)| number.map(|number| format!("{label} {number}")));
        let facts: Vec<String> = facts.collect();
        let text = format!("{}: {}", printable(&candidate.name), facts.join(", "));
        self.write(2, &text, style::PLAIN)?;
        for reason in &candidate.reasons {
            self.write(4, &printable(&reason.text), style::FAINT)?;
        }
        Ok(())
    }

    fn rejected(&mut self, entry: &Rejected<'_>) -> io::Result<()> {
        let plugin = match entry.plugin.is_empty() {
            true => String::new(),
            false => format!(" ({})", printable(&entry.plugin)),
        };
        let more = match entry.count.saturating_sub(entry.clusters.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let names = match entry.clusters.is_empty() {
            true => String::new(),
            false => format!(": {}{more}", printable(&entry.clusters.join(", "))),
        };
        let text = format!("{} {}{plugin}{names}", entry.count, printable(&entry.reason));
        self.write(2, &text, style::PLAIN)
    }
}

/// A cluster with its replicas.
fn described(target: &TargetCluster) -> String {
    format!("{}: {}", printable(&target.name), target.replicas)
}
