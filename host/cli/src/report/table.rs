//! The table: a line a binding, below it a line a cluster, at the end the totals.
//!
//! What goes to many clusters with one count (Duplicated, resources without replicas) is told in a sentence, so that it
//! does not drown what was divided; `-o wide` and `--explain` give each cluster its line all the same.

use std::io::{self, Write};

use anstyle::Style;
use divvy_scheduler::scheduler::Outcome;

use super::entry::{Entry, Report, Share};
use super::explanation::Account;
use super::grid::{Cell, Column, Grid};
use super::style;
use super::text::{counted, listed};

/// So many clusters of one count are named in a sentence.
const NAMED_MAX: usize = 12;

/// How a table is written.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TableOptions {
    /// Whether it has every column.
    pub(crate) wide: bool,
    /// Whether it tells why.
    pub(crate) explain: bool,
    /// Whether bars are drawn.
    pub(crate) bars: bool,
    /// The columns of the terminal, if there is one.
    pub(crate) columns: Option<usize>,
}

/// Writes the table.
///
/// # Errors
///
/// What the stream fails with.
pub(crate) fn write(report: &Report<'_>, options: TableOptions, out: &mut dyn Write) -> io::Result<()> {
    if report.entries.is_empty() {
        return Ok(());
    }
    let mut grid = Grid::new(columns(options));
    for (number, entry) in report.entries.iter().enumerate() {
        if number > 0 && options.explain {
            grid.blank();
        }
        let account = options.explain.then(|| Account::new(entry, &report.profile));
        Block {
            report,
            options,
            entry,
            account,
        }
        .add_to(&mut grid);
    }
    grid.write(out, options.columns)?;
    writeln!(out)?;
    super::totals::write(report, options, out)
}

fn columns(options: TableOptions) -> Vec<Column> {
    let mut columns = vec![
        Column::left("BINDING"),
        Column::left("STRATEGY"),
        Column::right("REPLICAS"),
        Column::right("CHANGE"),
        Column::right("FREE"),
    ];
    if options.wide {
        columns.extend([Column::right("LAST"), Column::right("SCORE"), Column::left("REGION")]);
    }
    // Without the three columns of `wide`, what failed has room to the left: its change and free capacity are empty.
    columns.push(Column::leaning("RESULT"));
    if options.wide {
        columns.extend([
            Column::left("AFFINITY"),
            Column::left("PLUGIN"),
            Column::left("KIND"),
            Column::left("POLICY"),
        ]);
    }
    columns
}

/// The lines of one binding.
struct Block<'a, 'report> {
    report: &'a Report<'report>,
    options: TableOptions,
    entry: &'a Entry<'report>,
    /// Why, if that was asked.
    account: Option<Account<'a, 'report>>,
}

impl Block<'_, '_> {
    fn add_to(&self, grid: &mut Grid) {
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
        if let Some(scheduler) = entry.binding.foreign_scheduler(&self.report.profile.scheduler_name) {
            let text = format!("meant for scheduler `{scheduler}`, decided all the same");
            grid.text(2, text, style::NOTABLE);
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

    fn heading(&self, shares: &[Share<'_>]) -> Vec<Cell> {
        let Entry { binding, decision } = self.entry;
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
            // What is free for one count on each cluster does not add up to anything.
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
                Cell::plain(
                    policy
                        .map(|policy| policy.object_name().to_string())
                        .unwrap_or_default(),
                ),
            ]);
        }
        cells
    }

    /// A line a cluster, each followed by why it got what it got, if that was asked.
    fn rows(&self, grid: &mut Grid, shares: &[Share<'_>]) {
        let largest = shares.iter().filter_map(|share| share.replicas).max().unwrap_or(0);
        for share in shares {
            grid.cells(self.row(share, largest));
            if let Some(account) = &self.account {
                account.add_remarks(grid, share.cluster);
            }
        }
        if let Some(account) = &self.account {
            account.add_candidates_without_replicas(grid);
        }
    }

    /// The line of a cluster.
    fn row(&self, share: &Share<'_>, largest: i64) -> Vec<Cell> {
        let is_workload = self.entry.binding.is_workload();
        let mut cells = vec![
            Cell::plain(format!("  {}", share.cluster)),
            match share.replicas {
                Some(replicas) if self.options.bars && replicas > 0 => Cell::bar(replicas, largest, style::STRATEGY),
                _ => Cell::empty(),
            },
            match share.replicas {
                _ if !is_workload => Cell::empty(),
                Some(replicas) => Cell::plain(replicas.to_string()),
                None => Cell::new("0", style::FAINT),
            },
            self.share_change(share),
            share.free().map_or_else(Cell::empty, free_cell),
        ];
        if self.options.wide {
            let score = share.replicas.map(|_| share.figures.score.to_string());
            cells.extend([
                Cell::plain(share.last.map(|last| last.to_string()).unwrap_or_default()),
                Cell::plain(score.unwrap_or_default()),
                Cell::plain(self.report.region(share.cluster)),
            ]);
        }
        cells
    }

    fn share_change(&self, share: &Share<'_>) -> Cell {
        match (share.replicas, share.last) {
            // A binding that has no last result is new everywhere, which its heading need not repeat a line.
            _ if !self.entry.has_last() => Cell::empty(),
            (Some(_), None) => Cell::new("new", style::GOOD),
            (None, _) => Cell::new("gone", style::NOTABLE),
            _ => change(share.growth()),
        }
    }

    /// Clusters of one count by what changed, a sentence each.
    fn sentences(&self, grid: &mut Grid, shares: &[Share<'_>]) {
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
            grid.text(
                2,
                format!("{words} {}: {names}", counted(shares.len(), "cluster")),
                style,
            );
        }
    }
}

/// Whether every cluster has the same as every other: all of the replicas, or the whole resource.
fn is_uniform(entry: &Entry<'_>, shares: &[Share<'_>]) -> bool {
    let mut placed = shares.iter().filter_map(|share| share.replicas);
    let clusters = placed.clone().count();
    // One cluster that has every replica is a division like any other.
    let may_be = clusters > 1 || (clusters == 1 && entry.decision.replicas == 0);
    may_be && placed.all(|replicas| replicas == entry.decision.replicas)
}

/// A change against the last result: `+2`, `-1`, nothing.
fn change(growth: i64) -> Cell {
    match growth {
        0 => Cell::empty(),
        1.. => Cell::new(format!("+{growth}"), style::GOOD),
        _ => Cell::new(growth.to_string(), style::NOTABLE),
    }
}

fn free_cell(free: i64) -> Cell {
    let style = if free < 0 { style::BAD } else { style::PLAIN };
    Cell::new(free.to_string(), style)
}

/// The colour of a result.
pub(super) fn result_style(outcome: &Outcome) -> Style {
    match outcome.word() {
        "Scheduled" => style::GOOD,
        "Skipped" => style::FAINT,
        "Error" => style::BAD,
        _ => style::NOTABLE,
    }
}
