//! The losses that bindings do not survive, as a table: bindings, then losses, then sums.

use std::io::{self, Write};

use divvy_command::grid::{Cell, Column, Grid};
use divvy_command::layout::Layout;
use divvy_command::style;
use divvy_command::text::{counted, listed, plural};
use divvy_forecast::survive::document::{LossOfBinding, LossRow, Remedy, SurviveDocument, SurviveRow};
use divvy_forecast::verdict::hanging;

use super::forecast::{header, side};
use super::plan;

/// Maximum number of losses per binding.
const LOSSES_MAX: usize = 3;
/// Maximum number of losses below the bindings, unless all details are shown.
const LOSS_ROWS_MAX: usize = 10;
/// Maximum number of clusters that a line names.
const NAMED_MAX: usize = 5;

/// Parts that are shown.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Options {
    /// True to show every loss of every binding, and every loss.
    pub(crate) is_wide: bool,
    /// Bindings that do not survive some loss and that are not shown.
    pub(crate) hidden: usize,
}

/// Writes the document.
pub(crate) fn write(
    document: &SurviveDocument,
    options: Options,
    out: &mut dyn Write,
    layout: Layout,
) -> io::Result<()> {
    let levels: Vec<&str> = document.levels.iter().map(|level| level.each.as_str()).collect();
    let manner = if document.as_failed {
        "with a failure of each"
    } else {
        "without each"
    };
    let title = format!("{}, {manner} {}", side(&document.after), joined(&levels));
    header(&title, document.assumes, out, layout)?;
    layout.gap(out)?;
    if !document.bindings.is_empty() {
        bindings(&document.bindings, options).write(out, layout)?;
        layout.gap(out)?;
    }
    if !document.losses.is_empty() {
        losses(&document.losses, options).write(out, layout)?;
        if document.losses.len() > LOSS_ROWS_MAX && !options.is_wide {
            let more = document.losses.len() - LOSS_ROWS_MAX;
            let losses = plural(more, "loss", "losses");
            layout.paragraph(
                &format!("and {more} more {losses} (-o wide lists them)"),
                style::FAINT,
                out,
            )?;
        }
        layout.gap(out)?;
    }
    sums(document, out, layout)?;
    if options.hidden > 0 {
        let text = format!(
            "not shown: {} not surviving some loss",
            counted(options.hidden, "binding")
        );
        layout.paragraph(&text, style::FAINT, out)?;
    }
    if let Some(text) = document.could_place.as_ref().and_then(plan::could_place) {
        layout.paragraph(&text, style::NOTABLE, out)?;
    }
    if let Some(remedy) = &document.remedy {
        layout.gap(out)?;
        write_remedy(remedy, out, layout)?;
    }
    layout.notes(&document.notes, out)
}

/// `cluster, region and zone`.
fn joined(levels: &[&str]) -> String {
    match levels.split_last() {
        Some((last, others @ [_, ..])) => format!("{} and {last}", others.join(", ")),
        _ => levels.concat(),
    }
}

fn bindings<'a>(rows: &'a [SurviveRow], options: Options) -> Grid<'a> {
    let mut grid = Grid::new(vec![
        Column::left("BINDING"),
        Column::left("STRATEGY"),
        Column::right("REPLICAS"),
        Column::right("CLUSTERS"),
        Column::text("DOES NOT SURVIVE"),
    ]);
    for row in rows {
        let most = if options.is_wide { usize::MAX - 1 } else { LOSSES_MAX };
        let lost: Vec<String> = row.losses.iter().map(|loss| loss_in_words(loss, row)).collect();
        let hangs = row.losses.iter().any(|loss| loss.clusters == 0);
        grid.cells(vec![
            Cell::new(&row.binding, style::NAME),
            Cell::new(&row.strategy, style::STRATEGY),
            Cell::plain(row.replicas.to_string()),
            Cell::plain(row.clusters.to_string()),
            Cell::new(
                listed(lost.iter().map(String::as_str), most),
                if hangs { style::BAD } else { style::NOTABLE },
            ),
        ]);
    }
    grid
}

/// `cluster eu-1 (4 of 10 left)`.
fn loss_in_words(loss: &LossOfBinding, row: &SurviveRow) -> String {
    let left = match (loss.clusters, row.replicas) {
        (0, _) => "nothing left".to_owned(),
        (clusters, 0) => format!("{clusters} of {} clusters left", row.clusters),
        (_, replicas) => format!("{} of {replicas} left", loss.left),
    };
    let reason = match loss.reason.as_str() {
        "Skipped" => ", not scheduled",
        "Stays" => ", tolerates the failure",
        "Error" => ", in error",
        _ => "",
    };
    format!("{} {} ({left}{reason})", loss.each, loss.name)
}

fn losses(rows: &[LossRow], options: Options) -> Grid<'_> {
    let mut titles = vec![
        Column::left("LOSS"),
        Column::right("CLUSTERS"),
        Column::right("DO NOT SURVIVE"),
        Column::right("NOTHING LEFT"),
    ];
    let has_beyond = rows.iter().any(|row| row.beyond_capacity.is_some());
    if has_beyond {
        titles.push(Column::right("BEYOND"));
    }
    let mut grid = Grid::new(titles);
    let most = if options.is_wide { rows.len() } else { LOSS_ROWS_MAX };
    for row in rows.iter().take(most) {
        let harm = |is_harm: bool| if is_harm { style::BAD } else { style::PLAIN };
        let mut cells = vec![
            Cell::new(format!("{} {}", row.each, row.name), style::NAME),
            Cell::plain(row.clusters.to_string()),
            Cell::new(row.bindings.to_string(), harm(row.bindings > 0)),
            Cell::new(row.hanging.to_string(), harm(row.hanging > 0)),
        ];
        if has_beyond {
            let beyond = row.beyond_capacity.map(|beyond| beyond.to_string()).unwrap_or_default();
            cells.push(Cell::new(
                beyond,
                harm(row.beyond_capacity.is_some_and(|beyond| beyond > 0)),
            ));
        }
        grid.cells(cells);
    }
    grid
}

fn sums(document: &SurviveDocument, out: &mut dyn Write, layout: Layout) -> io::Result<()> {
    let totals = &document.totals;
    let verdict = totals.verdict();
    layout.paragraph(&verdict.sentence, style::NAME, out)?;
    for level in &document.levels {
        let losses = match level.losses {
            0 => format!("no cluster has a {}", level.each),
            1 => format!("the only {}", level.each),
            count => format!("any of {count} {}s", level.each),
        };
        let text = match level.losses {
            0 => losses,
            _ => {
                let hanging = hanging(",", level.hanging);
                let survive = plural(level.surviving, "survives", "survive");
                format!("{losses}: {} of {} {survive}{hanging}", level.surviving, totals.placed)
            }
        };
        layout.paragraph(&text, style::PLAIN, out)?;
    }
    if !verdict.more.is_empty() {
        layout.paragraph(&format!("{}: see BEYOND", verdict.more), style::NOTABLE, out)?;
    }
    let idle = totals.bindings - totals.placed;
    if idle > 0 {
        let text = format!(
            "{} without a cluster, which {} nothing to lose",
            counted(idle, "binding"),
            plural(idle, "has", "have")
        );
        layout.paragraph(&text, style::FAINT, out)?;
    }
    Ok(())
}

fn write_remedy(remedy: &Remedy, out: &mut dyn Write, layout: Layout) -> io::Result<()> {
    let name = &remedy.binding;
    if remedy.survives {
        return layout.paragraph(
            &format!("{name} survives each of these losses as it is"),
            style::GOOD,
            out,
        );
    }
    let tried = counted(remedy.tried, "change");
    let were = plural(remedy.tried, "was", "were");
    if remedy.changes.is_empty() {
        let text = format!(
            "no single change of its policy lets {name} survive; {tried} were decided: bounds of spread constraints, one more \
             cluster, region, zone or provider, a spread constraint, and a quorum"
        );
        return layout.paragraph(&text, style::BAD, out);
    }
    layout.paragraph(
        &format!("{name} survives with one of these changes, the smallest first:"),
        style::NAME,
        out,
    )?;
    let mut grid = Grid::new(vec![
        Column::left("CHANGE"),
        Column::right("MOVED"),
        Column::text("CLUSTERS THEN"),
    ]);
    for change in &remedy.changes {
        grid.cells(vec![
            Cell::plain(&change.change),
            Cell::plain(change.moved.to_string()),
            Cell::plain(listed(change.clusters.iter().map(String::as_str), NAMED_MAX)),
        ]);
        if let Some(annotation) = &change.annotation {
            grid.text(2, format!("annotation {annotation}"), style::FAINT);
        }
    }
    grid.write(out, layout)?;
    layout.paragraph(
        &format!("each was decided for every loss; {tried} {were} tried"),
        style::FAINT,
        out,
    )
}
