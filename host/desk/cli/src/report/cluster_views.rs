//! Clusters instead of bindings: one block per cluster, one line per binding.

use std::io::{self, Write};

use divvy_command::grid::{Cell, Column, Grid};
use divvy_command::layout::Layout;
use divvy_command::style;
use divvy_command::text::counted;
use divvy_forecast::cluster_view::{ClusterView, ClusterViewRow, ClusterViewsDocument, Standing};

use super::forecast::{clusters, from_count, signed};

/// Writes the views, one after the other.
pub(crate) fn write(document: &ClusterViewsDocument, out: &mut dyn Write, layout: Layout) -> io::Result<()> {
    for (number, view) in document.clusters.iter().enumerate() {
        if number > 0 {
            layout.gap(out)?;
        }
        clusters(&[&view.cluster], false).write(out, layout)?;
        layout.gap(out)?;
        if view.bindings.is_empty() {
            layout.paragraph("no binding", style::PLAIN, out)?;
            continue;
        }
        bindings(view).write(out, layout)?;
        layout.gap(out)?;
        layout.paragraph(&summary(view), style::PLAIN, out)?;
    }
    Ok(())
}

fn bindings(view: &ClusterView) -> Grid<'_> {
    let has_base = view.cluster.base.is_some();
    let mut titles = vec![Column::left("BINDING"), Column::left("STRATEGY"), Column::right("HAS")];
    if has_base {
        titles.push(Column::right("WITHOUT"));
    }
    titles.extend([
        Column::right("GETS"),
        Column::right("CHANGE"),
        Column::right("FIT"),
        Column::text("WHY"),
    ]);
    let mut grid = Grid::new(titles);
    for row in &view.bindings {
        let count = |count: Option<i64>| {
            count.map_or_else(|| Cell::new("-", style::FAINT), |count| Cell::plain(count.to_string()))
        };
        let mut cells = vec![
            Cell::new(&row.binding, style::NAME),
            Cell::new(&row.strategy, style::STRATEGY),
            count(row.before),
        ];
        if has_base {
            cells.push(count(row.base));
        }
        let change = change(row, has_base);
        let style = match change.as_bytes().first() {
            Some(b'+' | b'n') => style::GOOD,
            _ => style::NOTABLE,
        };
        cells.extend([
            count(row.after),
            Cell::new(change, style),
            Cell::plain(row.fits_now.map(|fits| fits.to_string()).unwrap_or_default()),
            Cell::plain(why(row)),
        ]);
        grid.cells(cells);
    }
    grid
}

/// `+3` or `−2`; `new` or `gone` for a resource without replicas; empty if nothing changes.
fn change(row: &ClusterViewRow, has_base: bool) -> String {
    let from = if has_base { row.base } else { row.before };
    match (from, row.after) {
        (None, Some(0)) => "new".to_owned(),
        (Some(0), None) => "gone".to_owned(),
        (from, after) => match after.unwrap_or(0) - from.unwrap_or(0) {
            0 => String::new(),
            change => signed(change),
        },
    }
}

fn why(row: &ClusterViewRow) -> String {
    let is_placed = matches!(row.result.as_str(), "Scheduled" | "Satisfied");
    let text = match row.standing {
        Standing::Rejected => format!("rejected: {}", row.why),
        Standing::NotSelected if is_placed => "not selected".to_owned(),
        Standing::Undecided if row.result == "Satisfied" => "satisfied: not decided again".to_owned(),
        _ => row.why.clone(),
    };
    match is_placed || text.is_empty() {
        true => text,
        false => format!("{}: {text}", row.result),
    }
}

/// `6 of 7 bindings here: 17 → 31 replicas`.
fn summary(view: &ClusterView) -> String {
    let here = view.bindings.iter().filter(|row| row.after.is_some()).count();
    let of = counted(view.bindings.len(), "binding");
    let (before, after) = (from_count(&view.cluster), view.cluster.after);
    format!("{here} of {of} here; {before} → {after} replicas in all")
}
