//! One row of a table per cluster.

use divvy_command::grid::{Cell, Grid};
use divvy_command::style;

use super::names::Names;
use super::shares::Share;

/// Rows of the clusters of one binding.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    /// The clusters that were scheduled against.
    pub(crate) names: &'a Names<'a>,
    /// True if the binding's resource has replicas.
    pub(crate) is_workload: bool,
    /// True if the binding has a last result.
    pub(crate) has_last: bool,
    /// True to fill every column.
    pub(crate) is_wide: bool,
    /// True to draw bars beside counts.
    pub(crate) has_bars: bool,
}

impl<'a> Rows<'a> {
    /// Adds one row per cluster, and calls `after` with its name.
    pub(crate) fn add(&self, grid: &mut Grid<'a>, shares: &[Share<'a>], after: &mut dyn FnMut(&mut Grid<'a>, &'a str)) {
        let largest = shares.iter().filter_map(|share| share.replicas).max().unwrap_or(0);
        let mut cells = Vec::with_capacity(8);
        for share in shares {
            cells.clear();
            self.fill(share, largest, &mut cells);
            grid.cells(&cells[..]);
            after(grid, share.cluster);
        }
    }

    /// Adds the cells of a cluster. The bar is relative to `largest`, the largest count of the binding.
    fn fill(&self, share: &Share<'a>, largest: i64, cells: &mut Vec<Cell<'a>>) {
        cells.extend([
            Cell::below(share.cluster),
            match share.replicas {
                Some(replicas) if self.has_bars && replicas > 0 => Cell::bar(replicas, largest, style::STRATEGY),
                _ => Cell::empty(),
            },
            match share.replicas {
                _ if !self.is_workload => Cell::empty(),
                Some(replicas) => Cell::number(replicas),
                None => Cell::new("0", style::FAINT),
            },
            self.change(share),
            share.free().map_or_else(Cell::empty, free),
        ]);
        if self.is_wide {
            let score = share.replicas.map(|_| share.figures.score);
            cells.extend([
                share.last.map_or_else(Cell::empty, Cell::number),
                score.map_or_else(Cell::empty, Cell::number),
                Cell::plain(share.region(self.names)),
            ]);
        }
    }

    fn change(&self, share: &Share<'a>) -> Cell<'a> {
        match (share.replicas, share.last) {
            // Without a last result, the binding is new on every cluster, which need not be repeated on every line.
            _ if !self.has_last => Cell::empty(),
            (Some(_), None) => Cell::new("new", style::GOOD),
            (None, _) => Cell::new("gone", style::NOTABLE),
            _ => change(share.growth()),
        }
    }
}

/// Change against the last result: `+2`, `-1`, or empty.
pub(crate) fn change(growth: i64) -> Cell<'static> {
    match growth {
        0 => Cell::empty(),
        1.. => Cell::new(format!("+{growth}"), style::GOOD),
        _ => Cell::number(growth).styled(style::NOTABLE),
    }
}

/// Replicas that still fit.
pub(crate) fn free(free: i64) -> Cell<'static> {
    let style = if free < 0 { style::BAD } else { style::PLAIN };
    Cell::number(free).styled(style)
}
