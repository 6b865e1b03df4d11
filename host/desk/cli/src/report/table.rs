//! The table: one line per binding, one line per cluster below it, and the totals at the end.
//!
//! A binding with the same count on many clusters (Duplicated, resources without replicas) is summarised in a sentence,
//! so that it does not bury the divided ones. With `-o wide` and `--explain`, each of its clusters has a line too.

use std::io::{self, Write};

use anstyle::Style;
use divvy_command::grid::{Cell, Column, Grid, Widths};
use divvy_command::layout::Layout;
use divvy_command::style;
use divvy_command::text::{counted, listed, partial_count};
use divvy_forecast::document::ClusterRow;
use divvy_karmada::detector::Pending;
use divvy_scheduler::cycle::CycleError;
use divvy_scheduler::decision::Outcome;

use super::clusters::rows::{self, Rows, change};
use super::clusters::shares::{Share, free, growth, is_uniform};
use super::entry::{Entry, Print, Report};
use super::explanation::Account;
use super::forecast::clusters;
use super::reasons::no_cluster_fits;

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

/// Writes the table and its totals, or nothing without bindings. `pass` passes the entries on, explained if they are to be.
///
/// # Errors
///
/// The error of `out`. Part of the output may have been written.
pub(crate) fn write<'a>(
    report: &'a Report<'a>,
    options: TableOptions,
    pass: impl FnOnce(Print<'_>) -> io::Result<()>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(first) = report.entries.first() else {
        return Ok(());
    };
    // The lines of all bindings may not fit into memory: they are made once for their widths, and again to be written.
    let columns = &columns(options)[..];
    let grid = Grid::new(columns).plain(!options.colours);
    let mut content = Widths::new(columns);
    // Explanations are free text, for which no column is widened.
    let measured = |entries: &[Entry<'a>]| {
        entries.iter().fold(Widths::new(columns), |content, entry| {
            let grid = Grid::new(columns).measuring(content);
            part(report, options, entry, &entry.shares(&report.names), grid).measured()
        })
    };
    let threads = divvy_parallel::threads();
    divvy_parallel::in_blocks(
        &report.entries,
        threads,
        || measured,
        |widths| {
            content.widen(&widths);
            Ok::<(), io::Error>(())
        },
    )?;
    let widths = &grid.fitted(&content, options.columns)[..];
    let written = |entries: &[Entry<'_>]| {
        entries.iter().fold(Vec::new(), |mut bytes, entry| {
            if options.explain && !std::ptr::eq(entry.binding, first.binding) {
                bytes.push(b'\n');
            }
            let grid = Grid::new(columns).plain(!options.colours);
            let grid = grid.writing(bytes, widths, options.columns);
            part(report, options, entry, &entry.shares(&report.names), grid).written()
        })
    };
    grid.write_titles(out, widths)?;
    pass(&mut |entries| divvy_parallel::in_blocks(entries, threads, || written, |bytes| out.write_all(&bytes)))?;
    writeln!(out)?;
    write_sums(report, options, options.columns.into(), out)
}

/// Writes the same as Markdown. All lines are in memory at once, so that explanations must have been made already.
///
/// # Errors
///
/// The error of `out`. Part of the output may have been written.
pub(crate) fn write_markdown<'a>(report: &'a Report<'a>, options: TableOptions, out: &mut dyn Write) -> io::Result<()> {
    if report.entries.is_empty() {
        return Ok(());
    }
    let options = TableOptions { bars: false, ..options };
    let mut grid = Grid::new(columns(options));
    for entry in &report.entries {
        grid = part(report, options, entry, &entry.shares(&report.names), grid);
    }
    grid.write(out, Layout::Markdown)?;
    write_sums(report, options, Layout::Markdown, out)
}

/// Writes the clusters, if they were summed up, and the totals.
fn write_sums(report: &Report<'_>, options: TableOptions, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
    let used = report
        .clusters
        .iter()
        .filter(|row| row.before != 0 || row.after != 0 || options.wide);
    let used: Vec<&ClusterRow> = used.collect();
    if !used.is_empty() {
        clusters(&used, options.wide).write(out, layout)?;
        layout.gap(out)?;
    }
    super::totals::write(report, options.wide, layout, out)
}

/// Adds the lines of one binding.
fn part<'a>(
    report: &'a Report<'a>,
    options: TableOptions,
    entry: &'a Entry<'_>,
    shares: &[Share<'a>],
    mut grid: Grid<'a>,
) -> Grid<'a> {
    let account = options.explain.then(|| Account::new(entry, &report.profile));
    let block = Block {
        report,
        options,
        entry,
        account,
    };
    block.add_to(shares, &mut grid);
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
    fn add_to(&self, shares: &[Share<'a>], grid: &mut Grid<'a>) {
        let entry = self.entry;
        grid.cells(self.heading(shares));
        if let Some(account) = &self.account {
            account.add_heading(grid);
        }
        let message = match &entry.decision.outcome {
            Outcome::Failed(CycleError::NoClusterFit { clusters, reasons }) => no_cluster_fits(*clusters, reasons),
            _ => entry.message(),
        };
        if !message.is_empty() {
            let style = match entry.decision.partial {
                Some(_) => style::NOTABLE,
                None => result_style(&entry.decision.outcome),
            };
            grid.text(2, message, style);
        }
        // An explanation has it in its heading.
        let share = entry.share.filter(|share| share.waits() && self.account.is_none());
        if let Some(share) = share {
            grid.text(2, share.to_string(), style::NOTABLE);
        }
        if let Some(hint) = entry.hint() {
            grid.text(2, format!("hint: {hint}"), style::PLAIN);
        }
        if let Some(location) = entry.location() {
            grid.text(2, location.all, style::FAINT);
        }
        if let Some(scheduler) = entry.binding.foreign_scheduler(&self.report.profile.scheduler_name) {
            let text = format!("assigned to scheduler `{scheduler}`; scheduled anyway");
            grid.text(2, text, style::NOTABLE);
        }
        for pending in &entry.binding.pending {
            let text = match pending {
                Pending::Lazy => pending.to_string(),
                _ => format!("{pending}; scheduled with the new value"),
            };
            grid.text(2, text, style::NOTABLE);
        }
        if is_uniform(shares, entry.decision.replicas) && !self.options.wide && !self.options.explain {
            self.sentences(grid, shares);
        } else {
            self.rows(grid, shares);
        }
        if let Some(account) = &self.account {
            account.add_what_was_left_out(grid);
        }
    }

    fn heading(&self, shares: &[Share<'a>]) -> Vec<Cell<'a>> {
        let Entry { binding, decision, .. } = self.entry;
        let is_uniform = is_uniform(shares, decision.replicas);
        let replicas = match (&decision.outcome, &decision.partial) {
            _ if !binding.is_workload() => Cell::empty(),
            (_, Some(partial)) => Cell::new(partial_count(partial.replicas, partial.requested), style::NOTABLE),
            (Outcome::Scheduled(_), None) if is_uniform => Cell::plain(format!("{} each", decision.replicas)),
            _ => Cell::number(decision.replicas),
        };
        let has_change = self.entry.has_last() && matches!(decision.outcome, Outcome::Scheduled(_));
        let mut cells = vec![
            Cell::new(&decision.binding, style::NAME),
            Cell::new(decision.strategy(), style::STRATEGY),
            replicas,
            if has_change {
                change(growth(shares))
            } else {
                Cell::empty()
            },
            // If every cluster has the full count, the sum of free replicas has no meaning.
            free(shares)
                .filter(|_| !is_uniform)
                .map_or_else(Cell::empty, rows::free),
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
        let rows = Rows {
            names: &self.report.names,
            is_workload: self.entry.binding.is_workload(),
            has_last: self.entry.has_last(),
            is_wide: self.options.wide,
            has_bars: self.options.bars,
        };
        rows.add(grid, shares, &mut |grid, cluster| {
            if let Some(account) = &self.account {
                account.add_remarks(grid, cluster);
            }
        });
        if let Some(account) = &self.account {
            account.add_candidates_without_replicas(grid);
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

/// Style of a result.
pub(super) fn result_style(outcome: &Outcome) -> Style {
    match outcome.word() {
        "Scheduled" => style::GOOD,
        "Skipped" => style::FAINT,
        "Error" => style::BAD,
        _ => style::NOTABLE,
    }
}
