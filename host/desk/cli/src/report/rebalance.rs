//! The fewest moves that place what waits, as a table: what waits, what moves for it, then sums and the bound.

use std::io::{self, Write};

use divvy_command::grid::{Cell, Column, Grid};
use divvy_command::layout::Layout;
use divvy_command::style;
use divvy_command::text::{counted, listed};
use divvy_forecast::rebalance::document::{MovedCluster, RebalanceDocument, Rebalanced};

use super::forecast::{header, side};

/// Maximum number of bindings that a line names.
const NAMED_MAX: usize = 5;

/// Writes the document.
pub(crate) fn write(document: &RebalanceDocument, out: &mut dyn Write, layout: Layout) -> io::Result<()> {
    let rebalanced = &document.rebalanced;
    header(&side(&document.after), document.assumes, out, layout)?;
    layout.gap(out)?;
    if !rebalanced.waiting.is_empty() {
        waiting(rebalanced).write(out, layout)?;
        layout.gap(out)?;
    }
    if !rebalanced.moves.is_empty() {
        moves(rebalanced).write(out, layout)?;
        layout.gap(out)?;
    }
    let verdict = rebalanced.verdict();
    layout.paragraph(&verdict.sentence, style::NAME, out)?;
    if !verdict.more.is_empty() {
        layout.paragraph(&verdict.more, style::PLAIN, out)?;
    }
    if !rebalanced.bound.alone.is_empty() {
        let named: Vec<String> = rebalanced.bound.alone.iter().map(|row| row.text()).collect();
        let text = format!(
            "no room in any plan: {}",
            listed(named.iter().map(String::as_str), NAMED_MAX)
        );
        layout.paragraph(&text, style::BAD, out)?;
    }
    if rebalanced.totals.waiting > 0 && !rebalanced.stays.is_empty() {
        let reasons: Vec<String> = rebalanced
            .stays
            .iter()
            .map(|row| format!("{} ({})", counted(row.bindings, "binding"), row.reason))
            .collect();
        layout.paragraph(
            &format!("not moved for others: {}", reasons.join("; ")),
            style::FAINT,
            out,
        )?;
    }
    layout.notes(&document.notes, out)
}

fn waiting(rebalanced: &Rebalanced) -> Grid<'_> {
    let mut grid = Grid::new(vec![
        Column::left("WAITS"),
        Column::left("STRATEGY"),
        Column::right("REPLICAS"),
        Column::right("MISSING"),
        Column::text("PLACED ON"),
    ]);
    for row in &rebalanced.waiting {
        let (text, style) = match row.is_placed {
            true => (clusters(&row.clusters), style::PLAIN),
            false => (format!("waits: {}", row.reason), style::BAD),
        };
        grid.cells(vec![
            Cell::new(&row.binding, style::NAME),
            Cell::new(&row.strategy, style::STRATEGY),
            Cell::plain(row.replicas.to_string()),
            Cell::plain(row.missing.to_string()),
            Cell::new(text, style),
        ]);
    }
    grid
}

fn moves(rebalanced: &Rebalanced) -> Grid<'_> {
    let mut grid = Grid::new(vec![
        Column::left("MOVES"),
        Column::left("STRATEGY"),
        Column::right("REPLICAS"),
        Column::right("MOVED"),
        Column::text("CLUSTERS"),
    ]);
    for row in &rebalanced.moves {
        grid.cells(vec![
            Cell::new(&row.binding, style::NAME),
            Cell::new(&row.strategy, style::STRATEGY),
            Cell::plain(row.replicas.to_string()),
            Cell::plain(row.moved.to_string()),
            Cell::plain(clusters(&row.clusters)),
        ]);
    }
    grid
}

/// `eu-1 5 → 2, us-1 0 → 3`.
pub(crate) fn clusters(list: &[MovedCluster]) -> String {
    let texts: Vec<String> = list
        .iter()
        .map(|cluster| format!("{} {} → {}", cluster.name, cluster.before, cluster.after))
        .collect();
    texts.join(", ")
}
