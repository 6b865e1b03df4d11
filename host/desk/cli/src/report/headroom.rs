//! Growth of workloads as a table: one line per binding.

use std::io::{self, Write};

use divvy_command::grid::{Cell, Column, Grid};
use divvy_command::layout::Layout;
use divvy_command::style;
use divvy_command::text::{counted, listed, partial_count};
use divvy_forecast::headroom::document::{HeadroomDocument, HeadroomRow, HeadroomStop};

use super::costs;
use super::forecast::{header, side};
use super::plan;

/// Clusters that are named before the rest is counted.
const NAMED_MAX: usize = 3;

/// Writes the table.
///
/// With `is_wide`, the clusters with the largest number of replicas follow below each binding.
pub(crate) fn write(document: &HeadroomDocument, is_wide: bool, out: &mut dyn Write, layout: Layout) -> io::Result<()> {
    header(&side(&document.after), document.assumes, out, layout)?;
    layout.gap(out)?;
    let mut titles = vec![
        Column::left("BINDING"),
        Column::left("STRATEGY"),
        Column::right("REPLICAS"),
        Column::right("MOST"),
        Column::right("HEADROOM"),
    ];
    let costs = document.bindings.iter().find_map(|row| row.cost.as_ref());
    if costs.is_some() {
        titles.push(Column::left("COST PER HOUR"));
    }
    titles.push(Column::text("STOPPED BY"));
    let mut grid = Grid::new(titles);
    for row in &document.bindings {
        add(row, &mut grid);
        for target in row.clusters.iter().filter(|_| is_wide) {
            grid.cells(vec![
                Cell::plain(format!("  {}", target.name)),
                Cell::empty(),
                Cell::empty(),
                Cell::plain(target.replicas.to_string()),
            ]);
        }
    }
    grid.write(out, layout)?;
    let left_out = document.totals.bindings.saturating_sub(document.bindings.len());
    if left_out > 0 {
        layout.gap(out)?;
        let all = counted(document.totals.bindings, "binding");
        layout.paragraph(
            &format!("{} of {all} shown", document.bindings.len()),
            style::FAINT,
            out,
        )?;
    }
    if let Some(text) = document.could_place.as_ref().and_then(plan::could_place) {
        layout.gap(out)?;
        layout.paragraph(&text, style::NOTABLE, out)?;
    }
    let Some(costs) = costs else {
        return layout.notes(&document.notes, out);
    };
    layout.gap(out)?;
    let unit = format!("costs in {} per hour: now → with the most replicas", costs.unit);
    layout.paragraph(&unit, style::PLAIN, out)?;
    let bindings = document.bindings.iter().filter_map(|row| {
        let cost = row.cost.as_ref()?;
        let most = cost.most.iter().flat_map(|most| &most.unknown);
        Some((row.binding.as_str(), cost.now.unknown.iter().chain(most)))
    });
    if let Some(unknown) = costs::unknown("for", bindings) {
        layout.paragraph(&unknown, style::PLAIN, out)?;
    }
    layout.notes(&document.notes, out)
}

fn add<'a>(row: &'a HeadroomRow, grid: &mut Grid<'a>) {
    let headroom = row.headroom.map(|headroom| match headroom {
        ..0 => Cell::new(format!("−{}", headroom.unsigned_abs()), style::BAD),
        0 => Cell::new("0", style::NOTABLE),
        _ => Cell::new(format!("+{headroom}"), style::GOOD),
    });
    let most = match (row.is_unbounded, row.most, row.result.as_str()) {
        (true, ..) => "any".to_owned(),
        (_, Some(most), _) => most.to_string(),
        (_, None, "NoClusterFit" | "Unschedulable") => "none".to_owned(),
        _ => String::new(),
    };
    let mut cells = vec![
        Cell::new(&row.binding, style::NAME),
        Cell::new(&row.strategy, style::STRATEGY),
        match row.partial {
            Some(partial) => Cell::new(partial_count(partial, row.replicas), style::NOTABLE),
            None => Cell::plain(row.replicas.to_string()),
        },
        Cell::plain(most),
        headroom.unwrap_or_else(Cell::empty),
    ];
    if let Some(cost) = &row.cost {
        cells.push(Cell::plain(match (&cost.most, row.fits) {
            // Any number is possible, so the count that the second cost is of is named.
            (Some(most), Some(fits)) if row.is_unbounded && *most != cost.now => {
                format!("{} → {most} with {fits}", cost.now)
            }
            (Some(most), _) => costs::both(&cost.now, most),
            (None, _) => cost.now.to_string(),
        }));
    }
    cells.push(Cell::plain(stopped_by(row)));
    grid.cells(cells);
    if let Some(beyond) = row.beyond {
        let text = format!(
            "{beyond} replicas schedule again, though {} do not",
            row.most.unwrap_or(0) + 1
        );
        grid.text(2, text, style::NOTABLE);
    }
    if matches!(row.result.as_str(), "NoClusterFit" | "Unschedulable") && row.most.is_some() {
        grid.text(2, format!("now {}: {}", row.result, row.message), style::BAD);
    }
    if row.partial.is_some() {
        grid.text(2, &row.message, style::NOTABLE);
    }
    if let Some(locations) = &row.locations {
        grid.text(2, locations, style::FAINT);
    }
}

/// The reason that stops the next replica, in words.
pub(crate) fn stopped_by(row: &HeadroomRow) -> String {
    let text = match (&row.stop, row.fits) {
        (None, _) if row.is_unbounded => {
            "nothing: the strategy ignores capacity, or no capacity is requested".to_owned()
        }
        (None, _) => return row.message.clone(),
        (Some(stop), Some(fits)) => {
            let over = stop.resources.iter().map(|resource| {
                let names = listed(resource.clusters.iter().map(String::as_str), NAMED_MAX);
                format!("{} on {names}", resource.resource)
            });
            let over = over.collect::<Vec<_>>().join(", ");
            let count = stop.replicas;
            format!("nothing, capacity is ignored; {fits} fit: {count} would exceed {over}")
        }
        (Some(stop), None) => refusal(stop),
    };
    let rejected = row.stop.as_ref().map(left_out).unwrap_or_default();
    format!("{text}{rejected}")
}

/// `cpu in 3, pods in 2 of 5 candidates` if these are all candidates. Otherwise, something else stops the replica, too: the message
/// comes first.
fn refusal(stop: &HeadroomStop) -> String {
    if stop.resources.is_empty() {
        return stop.message.clone();
    }
    let parts = stop
        .resources
        .iter()
        .map(|resource| format!("{} in {}", resource.resource, resource.clusters.len()));
    let candidates = if stop.candidates == 1 {
        "candidate"
    } else {
        "candidates"
    };
    let scarce = format!(
        "{} of {} {candidates}",
        parts.collect::<Vec<_>>().join(", "),
        stop.candidates
    );
    let short: usize = stop.resources.iter().map(|resource| resource.clusters.len()).sum();
    match short < stop.candidates {
        true => format!("{} ({scarce})", stop.message),
        false => scarce,
    }
}

/// `; 2 clusters not selected; 7 rejected (taint-toleration 5, cluster-affinity 2)`.
fn left_out(stop: &HeadroomStop) -> String {
    let mut text = String::new();
    // The message already lists every cluster's reason.
    if stop.result == "NoClusterFit" {
        return text;
    }
    if stop.not_selected > 0 {
        let clusters = if stop.not_selected == 1 { "cluster" } else { "clusters" };
        text.push_str(&format!("; {} {clusters} not selected", stop.not_selected));
    }
    let mut by_plugin: Vec<(&str, usize)> = Vec::new();
    for rejected in &stop.rejected {
        let plugin = match rejected.plugin.as_str() {
            "" => "being deleted",
            plugin => plugin,
        };
        match by_plugin.iter_mut().find(|(known, _)| *known == plugin) {
            Some((_, count)) => *count += rejected.clusters,
            None => by_plugin.push((plugin, rejected.clusters)),
        }
    }
    let count: usize = by_plugin.iter().map(|(_, count)| count).sum();
    if count > 0 {
        let clusters = if count == 1 { "cluster" } else { "clusters" };
        let plugins: Vec<String> = match by_plugin.as_slice() {
            [(plugin, _)] => vec![(*plugin).to_owned()],
            several => several
                .iter()
                .map(|(plugin, count)| format!("{plugin} {count}"))
                .collect(),
        };
        text.push_str(&format!("; {count} {clusters} rejected ({})", plugins.join(", ")));
    }
    text
}
