//! The loss of each cluster, region, zone or provider as a table, worst first.

use std::io::{self, Write};

use divvy_command::grid::{Cell, Column, Grid};
use divvy_command::layout::Layout;
use divvy_command::style;
use divvy_command::text::plural;
use divvy_forecast::document::{FailureRow, FailuresDocument};

use super::forecast::{header, side};

/// Writes the loss of each cluster, region, zone or provider. `beyond_top` losses are left out.
pub(crate) fn write(
    document: &FailuresDocument,
    beyond_top: usize,
    out: &mut dyn Write,
    layout: Layout,
) -> io::Result<()> {
    let title = format!("{}, without each {}", side(&document.after), document.each);
    header(&title, document.assumes, out, layout)?;
    let has_elsewhere = document.failures.iter().any(|row| row.lost_elsewhere > 0);
    if !document.failures.is_empty() {
        layout.gap(out)?;
        failures_grid(&document.failures, has_elsewhere).write(out, layout)?;
    }
    layout.gap(out)?;
    layout.paragraph(&document.verdict().sentence, style::NAME, out)?;
    if beyond_top > 0 {
        let losses = plural(beyond_top, "loss", "losses");
        let text = format!("{beyond_top} more {losses}, which `--top` leaves out");
        layout.paragraph(&text, style::FAINT, out)?;
    }
    if has_elsewhere {
        let text = "displaced = rehomed + removed + lost; lost elsewhere are replicas of failed bindings on clusters that are not lost";
        layout.paragraph(text, style::FAINT, out)?;
    }
    layout.notes(&document.notes, out)
}

/// The losses. In each row, displaced replicas are rehomed, removed or lost; lost replicas that ran elsewhere have a column of their own.
fn failures_grid(rows: &[FailureRow], has_elsewhere: bool) -> Grid<'_> {
    let mut columns = vec![
        Column::left("WITHOUT"),
        Column::right("CLUSTERS"),
        Column::right("DISPLACED"),
        Column::right("REHOMED"),
        Column::right("REMOVED"),
        Column::right("LOST"),
    ];
    if has_elsewhere {
        columns.push(Column::right("LOST ELSEWHERE"));
    }
    columns.extend([
        Column::right("MISSING"),
        Column::right("UNSCHEDULABLE"),
        Column::right("IN ERROR"),
        Column::right("BEYOND"),
        Column::left("TIGHTEST"),
    ]);
    let mut grid = Grid::new(columns);
    for row in rows {
        let harm = |count: bool| if count { style::BAD } else { style::PLAIN };
        let tightest = row.tightest.as_ref();
        let tightest =
            tightest.map(|tightest| format!("{} {} {}%", tightest.cluster, tightest.resource, tightest.percent));
        let (lost, elsewhere) = (row.lost_here(), row.lost_elsewhere);
        let mut cells = vec![
            Cell::new(&row.name, style::NAME),
            Cell::plain(row.clusters.to_string()),
            Cell::plain(row.displaced.to_string()),
            Cell::plain(row.rehomed.to_string()),
            Cell::plain(row.removed.to_string()),
            Cell::new(lost.to_string(), harm(lost > 0)),
        ];
        if has_elsewhere {
            cells.push(Cell::new(elsewhere.to_string(), harm(elsewhere > 0)));
        }
        let is_lacking = row.missing > row.missing_copies;
        cells.extend([
            Cell::new(row.missing.to_string(), harm(is_lacking)),
            Cell::new(row.newly_unschedulable.to_string(), harm(row.newly_unschedulable > 0)),
            Cell::new(row.newly_in_error.to_string(), harm(row.newly_in_error > 0)),
            Cell::new(row.beyond_capacity.to_string(), harm(row.beyond_capacity > 0)),
            Cell::plain(tightest.unwrap_or_default()),
        ]);
        grid.cells(cells);
    }
    grid
}
