//! The last lines of a table: the number of bindings per result, and of replicas and clusters.

use std::io::{self, Write};

use divvy_command::layout::Layout;
use divvy_command::style;
use divvy_command::text::counted;

use super::clusters::sums::Sums;
use super::costs;
use super::entry::Report;
use super::plan;

/// Writes the totals, and if `is_wide` also the profile and its plugins.
pub(super) fn write(report: &Report<'_>, is_wide: bool, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
    let line = |out: &mut dyn Write, text: &str, style: anstyle::Style| layout.paragraph(text, style, out);
    line(out, &report.outcomes().verdict().sentence, style::NAME)?;
    line(out, &replicas(&report.sums()), style::PLAIN)?;
    if report.capacity.beyond_capacity > 0 && !report.assumes {
        let text = "beyond capacity: each binding was decided on its own; with `--assume`, each counts the results before it as used";
        line(out, text, style::NOTABLE)?;
    }
    if let Some(jointly) = &report.jointly {
        line(out, &jointly.sentence(), style::PLAIN)?;
    }
    if let Some(text) = report.could_place.as_ref().and_then(plan::could_place) {
        line(out, &text, style::NOTABLE)?;
    }
    for text in report
        .cost
        .iter()
        .flat_map(|cost| costs::totals(cost, &report.clusters))
    {
        line(out, &text, style::PLAIN)?;
    }
    if !report.beyond_top.is_empty() {
        let more = counted(report.beyond_top.len(), "binding");
        line(out, &format!("{more} more, which `--top` leaves out"), style::FAINT)?;
    }
    if report.hidden > 0 {
        let chosen = report.counted().count();
        let text = format!(
            "{chosen} of {} shown; all were decided",
            counted(chosen + report.hidden, "binding")
        );
        line(out, &text, style::FAINT)?;
    }
    if is_wide {
        let profile = &report.profile;
        let plugins: Vec<&str> = profile
            .others
            .iter()
            .chain(profile.strategies.values())
            .map(String::as_str)
            .collect();
        let (name, seed, plugins) = (&profile.name, profile.seed, plugins.join(", "));
        line(
            out,
            &format!("profile `{name}`, seed {seed}; plugins: {plugins}"),
            style::FAINT,
        )?;
    }
    Ok(())
}

/// `128 replicas (+6, -2 against the last results) on 9 of 12 clusters`.
fn replicas(sums: &Sums<'_>) -> String {
    let Sums {
        total, grown, shrunk, ..
    } = sums;
    let replicas = if *total == 1 { "replica" } else { "replicas" };
    let changes: Vec<String> = [(grown, format!("+{grown}")), (shrunk, shrunk.to_string())]
        .into_iter()
        .filter(|(change, _)| **change != 0)
        .map(|(_, text)| text)
        .collect();
    let changes = match changes.as_slice() {
        [] => String::new(),
        changes => format!(" ({} against the last results)", changes.join(", ")),
    };
    format!(
        "{total} {replicas}{changes} on {} of {}",
        sums.used(),
        counted(sums.fleet(), "cluster")
    )
}
