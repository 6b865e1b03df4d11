//! Moves as a table: one line per changed binding, then the load of each changed cluster, then the sums.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::Style;
use divvy_command::grid::{Cell, Column, Grid};
use divvy_command::layout::Layout;
use divvy_command::style;
use divvy_command::text::{counted, partial_count};
use divvy_forecast::document::{
    BindingRow, ClusterCounts, ClusterRow, Document, Latent, OverlayRow, Rejections, ResourceRow, SideDocument, Sums,
    Violations,
};
use divvy_forecast::movement::Movement;
use divvy_forecast::verdict::moves;

use super::costs;
use super::plan;
use super::reasons::no_cluster_fits;

/// Maximum number of clusters of a binding whose changes are shown, unless all details are.
const CHANGES_MAX: usize = 8;

/// Use of a resource from which it is tight, in percent.
const TIGHT: i128 = 80;

/// Parts of a forecast that are shown.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Options {
    /// True to show counts before and after instead of changes, and every cluster.
    pub(crate) is_wide: bool,
    /// Bindings that change and are not shown.
    pub(crate) hidden: usize,
    /// Bindings or sums that are beyond `--top`.
    pub(crate) beyond_top: usize,
}

/// Writes a forecast.
pub(crate) fn write(document: &Document, options: Options, out: &mut dyn Write, layout: Layout) -> io::Result<()> {
    let from = match &document.base {
        Some(base) => side(base),
        None => "the assigned clusters".to_owned(),
    };
    header(
        &format!("{from} → {}", side(&document.after)),
        document.assumes,
        out,
        layout,
    )?;
    let changed: Vec<&BindingRow> = document.bindings.iter().filter(|row| is_shown(row)).collect();
    if let Some(sums) = &document.sums {
        if !sums.rows.is_empty() {
            layout.gap(out)?;
            sums_grid(sums).write(out, layout)?;
        }
    } else if !changed.is_empty() {
        layout.gap(out)?;
        bindings(&changed, document.base.is_some(), options).write(out, layout)?;
    }
    let loads: Vec<&ClusterRow> = document
        .clusters
        .iter()
        .filter(|row| from_count(row) != row.after || options.is_wide)
        .collect();
    if !loads.is_empty() {
        layout.gap(out)?;
        clusters(&loads, options.is_wide).write(out, layout)?;
    }
    overlay(&document.overlay, options, out, layout)?;
    if let Some(list) = &document.latent.bindings {
        latent_list(list, out, layout)?;
    }
    if let Some(list) = &document.violations.list {
        violation_list(list, out, layout)?;
    }
    layout.gap(out)?;
    let line = |out: &mut dyn Write, text: &str, style: Style| layout.paragraph(text, style, out);
    line(out, &document.totals.verdict().sentence, style::NAME)?;
    let costs = document.cost.iter();
    for text in costs.flat_map(|cost| costs::totals(cost, &document.clusters)) {
        line(out, &text, style::PLAIN)?;
    }
    if options.beyond_top > 0 {
        let what = if document.sums.is_some() { "sum" } else { "binding" };
        let text = format!("{} more, which `--top` leaves out", counted(options.beyond_top, what));
        line(out, &text, style::FAINT)?;
    }
    if options.hidden > 0 {
        let that = if options.hidden == 1 {
            "that changes or fails"
        } else {
            "that change or fail"
        };
        let text = format!("not shown: {} {that}", counted(options.hidden, "binding"));
        line(out, &text, style::FAINT)?;
    }
    if let Some(pending) = document.pending.filter(|pending| pending.changed > 0) {
        let text = format!("pending without the changes: {}", moves(&pending.movement));
        line(
            out,
            &format!("{text} ({})", counted(pending.changed, "binding")),
            style::PLAIN,
        )?;
    }
    others(&document.latent, &document.violations, &mut |text| {
        line(out, text, style::PLAIN)
    })?;
    if let Some(plan) = &document.place_pending {
        layout.gap(out)?;
        plan::write(plan, out, layout)?;
    }
    layout.notes(&document.notes, out)
}

pub(super) fn header(title: &str, assumes: bool, out: &mut dyn Write, layout: Layout) -> io::Result<()> {
    let suffix = if assumes {
        ""
    } else {
        " (--no-assume: each binding on its own)"
    };
    layout.paragraph(&format!("{title}{suffix}"), style::NAME, out)
}

pub(super) fn side(side: &SideDocument) -> String {
    let mut text = format!("profile {}", side.profile);
    if let Some(strategy) = &side.strategy {
        text.push_str(&format!(", strategy {strategy}"));
    }
    if !side.changes.is_empty() {
        text.push_str(&format!(" with {}", side.changes.join(" ")));
    }
    text
}

/// True for a row that the changes affect, or that needs attention.
pub(crate) fn is_shown(row: &BindingRow) -> bool {
    !row.movement.is_nothing() || row.newly_unschedulable || row.newly_missing > 0 || row.result == "Error"
}

fn bindings<'a>(rows: &[&'a BindingRow], has_base: bool, options: Options) -> Grid<'a> {
    let mut grid = Grid::new(vec![
        Column::left("BINDING"),
        Column::left("STRATEGY"),
        Column::right("REPLICAS"),
        Column::left("CHANGE"),
    ]);
    for row in rows {
        let replicas = match row.strategy.as_str() {
            "" => String::new(),
            _ => match row.partial {
                Some(partial) => partial_count(partial, row.replicas),
                None => row.replicas.to_string(),
            },
        };
        let parts: Vec<String> = match options.is_wide {
            true => row.clusters.iter().map(|counts| both(counts, has_base)).collect(),
            false => folded(&row.clusters, has_base),
        };
        grid.cells(vec![
            Cell::new(&row.binding, style::NAME),
            Cell::new(&row.strategy, style::STRATEGY),
            Cell::plain(replicas),
            Cell::plain(parts.join("  ")),
        ]);
        if !row.message.is_empty() {
            let result = if row.newly_unschedulable {
                format!("newly {}", row.result)
            } else {
                row.result.clone()
            };
            let style = if row.result == "Skipped" || row.partial.is_some() {
                style::NOTABLE
            } else {
                style::BAD
            };
            let message = match &row.rejections {
                Some(Rejections { clusters, reasons }) => no_cluster_fits(*clusters, reasons),
                None => row.message.clone(),
            };
            grid.text(2, format!("{result}: {message}"), style);
        }
        if let Some(locations) = &row.locations {
            grid.text(2, locations, style::FAINT);
        }
        let Movement { lost, stranded, .. } = row.movement;
        // What is lost is missing as well, and is said once; so is what a partial result lacks, whose message has the number.
        let is_said = row
            .partial
            .is_some_and(|partial| row.replicas - partial == row.newly_missing);
        let missing = match row.newly_missing > lost + stranded && !is_said {
            true => row.newly_missing,
            false => 0,
        };
        for (count, word) in [(lost, "lost"), (stranded, "stranded"), (missing, "missing")] {
            if let Ok(count @ 1..) = usize::try_from(count) {
                grid.text(2, format!("{} {word}", counted(count, "replica")), style::BAD);
            }
        }
    }
    grid
}

/// `eu-1 −10`; `eu-1 new` and `eu-1 gone` for a resource without replicas. `None` if nothing changes.
fn change(counts: &ClusterCounts, has_base: bool) -> Option<String> {
    let from = if has_base { counts.base } else { counts.before };
    let name = &counts.name;
    let change = counts.after.unwrap_or(0) - from.unwrap_or(0);
    match (from, counts.after) {
        (None, Some(0)) => Some(format!("{name} new")),
        (Some(0), None) => Some(format!("{name} gone")),
        _ => (change != 0).then(|| format!("{name} {}", signed(change))),
    }
}

/// The changes of a binding. Of many clusters, only the largest changes are named.
fn folded(clusters: &[ClusterCounts], has_base: bool) -> Vec<String> {
    let parts: Vec<(i64, String)> = clusters
        .iter()
        .filter_map(|counts| {
            let from = if has_base { counts.base } else { counts.before };
            let size = counts.after.unwrap_or(0) - from.unwrap_or(0);
            Some((size.abs(), change(counts, has_base)?))
        })
        .collect();
    if parts.len() <= CHANGES_MAX + 1 {
        return parts.into_iter().map(|(_, text)| text).collect();
    }
    let more = parts.len() - CHANGES_MAX;
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(parts[index].0));
    order.truncate(CHANGES_MAX);
    order.sort_unstable();
    let mut texts: Vec<String> = order.into_iter().map(|index| parts[index].1.clone()).collect();
    texts.push(format!("and {more} more clusters"));
    texts
}

/// The sums of each namespace or policy.
fn sums_grid(sums: &Sums) -> Grid<'_> {
    let title = if sums.by == "policy" { "POLICY" } else { "NAMESPACE" };
    let mut grid = Grid::new(vec![
        Column::left(title),
        Column::right("BINDINGS"),
        Column::right("MOVED"),
        Column::right("ADDED"),
        Column::right("REMOVED"),
        Column::right("LOST"),
        Column::right("MISSING"),
        Column::right("UNSCHEDULABLE"),
        Column::right("SCHEDULABLE"),
        Column::right("IN ERROR"),
    ]);
    for row in &sums.rows {
        let movement = &row.movement;
        let harm = |count: i64| if count > 0 { style::BAD } else { style::PLAIN };
        let (lost, failing) = (movement.lost + movement.stranded, row.newly_unschedulable);
        let name = if row.name.is_empty() {
            "(none)"
        } else {
            row.name.as_str()
        };
        grid.cells(vec![
            Cell::new(name, style::NAME),
            Cell::plain(row.changed.to_string()),
            Cell::plain(movement.moved.to_string()),
            Cell::plain(movement.added.to_string()),
            Cell::plain(movement.removed.to_string()),
            Cell::new(lost.to_string(), harm(lost)),
            Cell::plain(row.newly_missing.to_string()),
            Cell::new(failing.to_string(), harm(i64::from(failing > 0))),
            Cell::plain(row.newly_schedulable.to_string()),
            Cell::new(row.errors.to_string(), harm(i64::from(row.errors > 0))),
        ]);
    }
    grid
}

/// `eu-1 10→4`, with `-` for a state in which the cluster is not listed.
fn both(counts: &ClusterCounts, has_base: bool) -> String {
    let from = if has_base { counts.base } else { counts.before };
    let shown = |count: Option<i64>| count.map_or_else(|| "-".to_owned(), |count| count.to_string());
    format!("{} {}→{}", counts.name, shown(from), shown(counts.after))
}

/// A number with its sign, as typographers write it.
pub(super) fn signed(change: i64) -> String {
    match change {
        0 => "0".to_owned(),
        change if change < 0 => format!("−{}", change.unsigned_abs()),
        change => format!("+{change}"),
    }
}

pub(super) fn from_count(row: &ClusterRow) -> i64 {
    row.base.unwrap_or(row.before)
}

/// The clusters, each with its fullest resource; with `is_wide`, with all that are tight.
pub(super) fn clusters<'a>(rows: &[&'a ClusterRow], is_wide: bool) -> Grid<'a> {
    let mut columns = vec![
        Column::left("CLUSTER"),
        Column::left("REGION"),
        Column::right("BEFORE"),
        Column::right("AFTER"),
        Column::right("CHANGE"),
        Column::left("FULLEST"),
    ];
    let has_costs = rows.iter().any(|row| row.cost.is_some());
    if has_costs {
        columns.push(Column::left("COST PER HOUR"));
    }
    let mut grid = Grid::new(columns);
    for row in rows {
        let change = row.after - from_count(row);
        let fullest = match (row.exists, row.beyond_capacity) {
            (false, _) => Some("gone".to_owned()),
            (true, 0) => fullest(&row.resources, is_wide),
            (true, beyond) => fullest(&row.resources, is_wide).map(|text| format!("{text}, {beyond} beyond capacity")),
        };
        let mut cells = vec![
            Cell::new(&row.name, style::NAME),
            Cell::plain(&row.region),
            Cell::plain(from_count(row).to_string()),
            Cell::plain(row.after.to_string()),
            Cell::new(signed(change), if change < 0 { style::NOTABLE } else { style::GOOD }),
            Cell::plain(fullest.unwrap_or_default()),
        ];
        if let Some(cost) = &row.cost {
            cells.push(Cell::plain(costs::both(cost.from(), &cost.after)));
        }
        grid.cells(cells);
    }
    grid
}

/// `cpu 71% → 83%`: the resource that is fullest afterwards; with `is_wide`, all others that are tight, too.
fn fullest(resources: &BTreeMap<String, ResourceRow>, is_wide: bool) -> Option<String> {
    let percent = |used: i64, row: &ResourceRow| (i128::from(used) * 100).checked_div(i128::from(row.allocatable));
    let shares = resources
        .iter()
        .filter_map(|(name, row)| Some((percent(row.after, row)?, name, row)));
    let mut shares: Vec<(i128, &String, &ResourceRow)> = shares.collect();
    shares.sort_by_key(|(share, name, _)| (std::cmp::Reverse(*share), *name));
    let shown = shares
        .iter()
        .enumerate()
        .filter(|(rank, (share, ..))| *rank == 0 || is_wide && *share >= TIGHT);
    let texts = shown.filter_map(|(_, (after, name, row))| {
        let before = percent(row.base.unwrap_or(row.before), row)?;
        Some(format!("{name} {before}% → {after}%"))
    });
    let texts: Vec<String> = texts.collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}

/// Writes the effect of an overlay on each object. Unchanged objects are only counted, unless everything is shown.
fn overlay(rows: &[OverlayRow], options: Options, out: &mut dyn Write, layout: Layout) -> io::Result<()> {
    let is_listed = |row: &&OverlayRow| row.change != "same" || !row.remarks.is_empty() || options.is_wide;
    let listed: Vec<&OverlayRow> = rows.iter().filter(is_listed).collect();
    if rows.is_empty() {
        return Ok(());
    }
    layout.gap(out)?;
    if !listed.is_empty() {
        let mut grid = Grid::new(vec![
            Column::left("OVERLAY"),
            Column::left("OBJECT"),
            Column::left("EFFECT"),
        ]);
        for row in &listed {
            let idle = row.governs == Some(0) && row.change != "deleted";
            grid.cells(vec![
                Cell::plain(&row.change),
                Cell::new(&row.object, style::NAME),
                Cell::new(governs(row), if idle { style::NOTABLE } else { style::PLAIN }),
            ]);
        }
        grid.write(out, layout)?;
    }
    let same = rows.len() - listed.len();
    if same > 0 {
        let is = if same == 1 { "is" } else { "are" };
        let text = format!("{} of the overlay {is} as in the input", counted(same, "object"));
        layout.paragraph(&text, style::FAINT, out)?;
    }
    Ok(())
}

/// `governs 12 bindings, 3 of them new; loses 2`.
fn governs(row: &OverlayRow) -> String {
    let (Some(governs), Some(gains), Some(loses)) = (row.governs, row.gains, row.loses) else {
        return String::new();
    };
    let mut text = match (governs, row.change.as_str()) {
        (0, "deleted") => String::new(),
        (0, _) => "governs no binding".to_owned(),
        (governs, _) => format!("governs {}", counted(governs, "binding")),
    };
    if gains > 0 {
        text.push_str(&format!(", {gains} of them new"));
    }
    if loses > 0 {
        let separator = if text.is_empty() { "" } else { "; " };
        text.push_str(&format!("{separator}loses {}", counted(loses, "binding")));
    }
    text
}

fn latent_list(rows: &[divvy_forecast::document::LatentRow], out: &mut dyn Write, layout: Layout) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut grid = Grid::new(vec![Column::left("LATENT"), Column::left("IF RESCHEDULED")]);
    for row in rows {
        let parts = row.clusters.iter().filter_map(|counts| change(counts, false));
        let text = match row.message.as_str() {
            "" => parts.collect::<Vec<_>>().join("  "),
            message => message.to_owned(),
        };
        grid.cells(vec![Cell::new(&row.binding, style::NAME), Cell::plain(text)]);
    }
    layout.gap(out)?;
    grid.write(out, layout)
}

fn violation_list(
    rows: &[divvy_forecast::document::ViolationRow],
    out: &mut dyn Write,
    layout: Layout,
) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut grid = Grid::new(vec![
        Column::left("VIOLATION"),
        Column::left("CLUSTER"),
        Column::right("REPLICAS"),
    ]);
    for row in rows {
        grid.cells(vec![
            Cell::new(&row.binding, style::NAME),
            Cell::plain(&row.cluster),
            Cell::plain(row.replicas.to_string()),
        ]);
    }
    layout.gap(out)?;
    grid.write(out, layout)
}

/// Remarks about what did not change but must be mentioned.
pub(super) fn others(
    latent: &Latent,
    violations: &Violations,
    line: &mut dyn FnMut(&str) -> io::Result<()>,
) -> io::Result<()> {
    if latent.count > 0 {
        let hint = if latent.bindings.is_some() {
            ""
        } else {
            " (--latent lists them)"
        };
        line(&format!(
            "latent: {} would be placed differently if rescheduled{hint}",
            counted(latent.count, "binding")
        ))?;
    }
    if violations.count > 0 {
        let hint = if violations.list.is_some() {
            ""
        } else {
            " (--violations lists them)"
        };
        let replicas = usize::try_from(violations.replicas).unwrap_or(0);
        line(&format!(
            "violations: {} on clusters that would refuse them today{hint}",
            counted(replicas, "replica")
        ))?;
    }
    Ok(())
}
