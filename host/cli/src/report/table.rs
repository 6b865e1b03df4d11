//! The table: one line per binding, one line per cluster below it, and the totals at the end.
//!
//! A binding with the same count on many clusters (Duplicated, resources without replicas) is summarised in a sentence,
//! so that it does not bury the divided ones. With `-o wide` and `--explain`, each of its clusters has a line too.

use std::io::{self, Write};

use anstyle::Style;
use divvy_forecast::document::ClusterRow;
use divvy_scheduler::scheduler::Outcome;

use super::entry::{Entry, Report, Share};
use super::explanation::Account;
use super::forecast::clusters;
use super::grid::{Cell, Column, Grid, Widths};
use super::text::{counted, listed};
use super::totals::{EntrySums, Sums};
use super::{pipeline, style};

/// Maximum number of clusters named in a sentence.
const NAMED_MAX: usize = 12;

/// Layout of a table.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TableOptions {
    /// True to show every column (`-o wide`).
    pub(crate) wide: bool,
    /// True to explain each result (`--explain`).
    pub(crate) explain: bool,
    /// True to draw bars beside counts.
    pub(crate) bars: bool,
    /// True if the output shows colours.
    pub(crate) colours: bool,
    /// Width of the terminal; `None` for unlimited lines.
    pub(crate) columns: Option<usize>,
}

/// Writes the table and its totals; nothing if there is no binding.
///
/// # Errors
///
/// The error of `out`. Part of the output may have been written.
pub(crate) fn write(report: &Report<'_>, options: TableOptions, out: &mut dyn Write) -> io::Result<()> {
    let Some((first, rest)) = report.entries.split_first() else {
        return Ok(());
    };
    // The lines of all bindings may not fit into memory: they are made once for their widths, and again to be written.
    let grid = Grid::new(columns(options)).plain(!options.colours);
    let mut content = Widths::new(&columns(options));
    let (mut sums, mut summed) = (Sums::new(report.fleet.len()), report.entries.iter());
    // An explanation is free text, which no column is widened for.
    let measured = |entry: &Entry<'_>| {
        let grid = Grid::new(columns(options)).measuring();
        (part(report, options, entry, grid).measured(), EntrySums::of(entry))
    };
    let threads = pipeline::threads();
    pipeline::in_order(
        &report.entries,
        threads,
        || measured,
        |(widths, of_entry)| {
            content.widen(&widths);
            // They come in the order of the entries.
            if let Some(entry) = summed.next() {
                sums.add(of_entry, entry);
            }
            Ok::<(), io::Error>(())
        },
    )?;
    let widths = grid.fitted(&content, options.columns);
    let worker = || {
        let (mut explainer, widths) = (report.explainer(), &widths);
        move |entry: &Entry<'_>| {
            let explained = explainer.explain(entry);
            let entry = explained.entry();
            let grid = Grid::new(columns(options)).plain(!options.colours);
            let grid = grid.writing(widths, options.columns);
            part(report, options, &entry, grid).written()
        }
    };
    grid.write_titles(out, &widths)?;
    out.write_all(&worker()(first))?;
    pipeline::in_order(rest, threads, worker, |bytes| {
        if options.explain {
            writeln!(out)?;
        }
        out.write_all(&bytes)
    })?;
    writeln!(out)?;
    let used = report.clusters.iter().filter(|row| row.before != 0 || row.after != 0);
    let used: Vec<&ClusterRow> = used.collect();
    if !used.is_empty() {
        clusters(&used).write(out, options.columns)?;
        writeln!(out)?;
    }
    super::totals::write(report, &sums, options, out)
}

/// Adds the lines of one binding.
fn part<'a>(report: &'a Report<'_>, options: TableOptions, entry: &'a Entry<'_>, mut grid: Grid<'a>) -> Grid<'a> {
    let account = options.explain.then(|| Account::new(entry, &report.profile));
    let block = Block {
        report,
        options,
        entry,
        account,
    };
    block.add_to(&mut grid);
    grid
}

fn columns(options: TableOptions) -> Vec<Column> {
    let mut columns = ["BINDING", "STRATEGY"].map(Column::left).to_vec();
    columns.extend(["REPLICAS", "CHANGE", "FREE"].map(Column::right));
    if options.wide {
        columns.extend([Column::right("LAST"), Column::right("SCORE"), Column::left("REGION")]);
    }
    columns.push(Column::left("RESULT"));
    if options.wide {
        columns.extend(["AFFINITY", "PLUGIN", "KIND", "POLICY"].map(Column::left));
    }
    columns
}

/// The lines of one binding.
struct Block<'a, 'report> {
    report: &'a Report<'report>,
    options: TableOptions,
    entry: &'a Entry<'report>,
    /// The explanation, if requested.
    account: Option<Account<'a, 'report>>,
}

impl<'a> Block<'a, '_> {
    fn add_to(&self, grid: &mut Grid<'a>) {
        let entry = self.entry;
        let shares = entry.shares();
        grid.cells(self.heading(&shares));
        if let Some(account) = &self.account {
            account.add_heading(grid);
        }
        let message = entry.message();
        if !message.is_empty() {
            grid.text(2, message, result_style(&entry.decision.outcome));
        }
        if let Some(hint) = entry.hint() {
            grid.text(2, format!("hint: {hint}"), style::PLAIN);
        }
        if let Some(place) = entry.place() {
            grid.text(2, place, style::FAINT);
        }
        if let Some(scheduler) = entry.binding.foreign_scheduler(&self.report.profile.scheduler_name) {
            let text = format!("assigned to scheduler `{scheduler}`; scheduled anyway");
            grid.text(2, text, style::NOTABLE);
        }
        for pending in &entry.binding.pending {
            grid.text(2, format!("{pending}; scheduled with the new value"), style::NOTABLE);
        }
        if is_uniform(entry, &shares) && !self.options.wide && !self.options.explain {
            self.sentences(grid, &shares);
        } else {
            self.rows(grid, &shares);
        }
        if let Some(account) = &self.account {
            account.add_what_was_left_out(grid);
        }
    }

    fn heading(&self, shares: &[Share<'a>]) -> Vec<Cell<'a>> {
        let Entry { binding, decision, .. } = self.entry;
        let growth: i64 = shares.iter().map(Share::growth).fold(0, i64::saturating_add);
        let free = shares.iter().filter_map(Share::free).reduce(i64::saturating_add);
        let is_uniform = is_uniform(self.entry, shares);
        let replicas = match &decision.outcome {
            _ if !binding.is_workload() => String::new(),
            Outcome::Scheduled(_) if is_uniform => format!("{} each", decision.replicas),
            _ => decision.replicas.to_string(),
        };
        let has_change = self.entry.has_last() && matches!(decision.outcome, Outcome::Scheduled(_));
        let mut cells = vec![
            Cell::new(&decision.binding, style::NAME),
            Cell::new(decision.strategy(), style::STRATEGY),
            Cell::plain(replicas),
            if has_change { change(growth) } else { Cell::empty() },
            // If every cluster has the full count, the sum of what is free in each has no meaning.
            free.filter(|_| !is_uniform).map_or_else(Cell::empty, free_cell),
        ];
        if self.options.wide {
            cells.extend([Cell::empty(), Cell::empty(), Cell::empty()]);
        }
        cells.push(Cell::new(decision.outcome.word(), result_style(&decision.outcome)));
        if self.options.wide {
            let policy = binding.policy.as_ref();
            let plugin = self.report.profile.strategies.get(decision.strategy());
            cells.extend([
                Cell::plain(&decision.affinity),
                Cell::plain(plugin.map_or("", String::as_str)),
                Cell::plain(&binding.object.spec.resource.kind),
                Cell::plain(policy.map_or_else(String::new, |policy| policy.object_name().to_string())),
            ]);
        }
        cells
    }

    /// Adds one line per cluster, each followed by its explanation if requested.
    fn rows(&self, grid: &mut Grid<'a>, shares: &[Share<'a>]) {
        let largest = shares.iter().filter_map(|share| share.replicas).max().unwrap_or(0);
        let mut cells = Vec::new();
        for share in shares {
            cells.clear();
            self.row(share, largest, &mut cells);
            grid.cells(&cells);
            if let Some(account) = &self.account {
                account.add_remarks(grid, share.cluster);
            }
        }
        if let Some(account) = &self.account {
            account.add_candidates_without_replicas(grid);
        }
    }

    /// Adds the cells of a cluster. The bar is relative to `largest`, the largest count of the binding.
    fn row(&self, share: &Share<'a>, largest: i64, cells: &mut Vec<Cell<'a>>) {
        let is_workload = self.entry.binding.is_workload();
        cells.extend([
            Cell::below(share.cluster),
            match share.replicas {
                Some(replicas) if self.options.bars && replicas > 0 => Cell::bar(replicas, largest, style::STRATEGY),
                _ => Cell::empty(),
            },
            match share.replicas {
                _ if !is_workload => Cell::empty(),
                Some(replicas) => Cell::number(replicas),
                None => Cell::new("0", style::FAINT),
            },
            self.share_change(share),
            share.free().map_or_else(Cell::empty, free_cell),
        ]);
        if self.options.wide {
            let score = share.replicas.map(|_| share.figures.score);
            cells.extend([
                share.last.map_or_else(Cell::empty, Cell::number),
                score.map_or_else(Cell::empty, Cell::number),
                Cell::plain(self.report.region(share)),
            ]);
        }
    }

    fn share_change(&self, share: &Share<'a>) -> Cell<'a> {
        match (share.replicas, share.last) {
            // Without a last result the binding is new everywhere, which need not be repeated on every line.
            _ if !self.entry.has_last() => Cell::empty(),
            (Some(_), None) => Cell::new("new", style::GOOD),
            (None, _) => Cell::new("gone", style::NOTABLE),
            _ => change(share.growth()),
        }
    }

    /// Adds one sentence per kind of change, with its clusters.
    fn sentences(&self, grid: &mut Grid<'a>, shares: &[Share<'a>]) {
        let is_new = |share: &&Share<'_>| self.entry.has_last() && share.replicas.is_some() && share.last.is_none();
        let is_gone = |share: &&Share<'_>| share.replicas.is_none();
        let stays = |share: &&Share<'_>| !is_new(share) && !is_gone(share);
        let sentences: [(&str, Style, Vec<&Share<'_>>); 3] = [
            ("on", style::PLAIN, shares.iter().filter(stays).collect()),
            ("new on", style::GOOD, shares.iter().filter(is_new).collect()),
            ("gone from", style::NOTABLE, shares.iter().filter(is_gone).collect()),
        ];
        for (words, style, shares) in sentences {
            if shares.is_empty() {
                continue;
            }
            let names = listed(shares.iter().map(|share| share.cluster), NAMED_MAX);
            let count = counted(shares.len(), "cluster");
            grid.text(2, format!("{words} {count}: {names}"), style);
        }
    }
}

/// True if every cluster has the same: all of the replicas, or the whole resource.
fn is_uniform(entry: &Entry<'_>, shares: &[Share<'_>]) -> bool {
    let mut placed = shares.iter().filter_map(|share| share.replicas);
    let clusters = placed.clone().count();
    // A single cluster with all replicas is a division like any other.
    let may_be = clusters > 1 || (clusters == 1 && entry.decision.replicas == 0);
    may_be && placed.all(|replicas| replicas == entry.decision.replicas)
}

/// Change against the last result: `+2`, `-1`, or empty.
fn change(growth: i64) -> Cell<'static> {
    match growth {
        0 => Cell::empty(),
        1.. => Cell::new(format!("+{growth}"), style::GOOD),
        _ => Cell::number(growth).styled(style::NOTABLE),
    }
}

fn free_cell(free: i64) -> Cell<'static> {
    let style = if free < 0 { style::BAD } else { style::PLAIN };
    Cell::number(free).styled(style)
}

/// Style of a result.
pub(super) fn result_style(outcome: &Outcome) -> Style {
    match outcome.word() {
        "Scheduled" => style::GOOD,
        "Skipped" => style::FAINT,
        "Error" => style::BAD,
        _ => style::NOTABLE,
    }
}
