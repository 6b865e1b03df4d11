//! A plan that moves others: as a table and as tables of a page. What waits, what moves for it, then sums and the bound.

use std::io::{self, Write};

use divvy_command::grid::{Cell, Column, Grid};
use divvy_command::layout::Layout;
use divvy_command::style;
use divvy_command::text::{counted, listed};
use divvy_forecast::planned::{CouldPlace, CurveRow, MovedCluster, Rebalanced};
use divvy_page::table::{Kind, Point, Steps, Table, Value};

/// Maximum number of bindings that a line names.
const NAMED_MAX: usize = 5;

/// Writes a plan, without what it is for.
pub(super) fn write(rebalanced: &Rebalanced, out: &mut dyn Write, layout: Layout) -> io::Result<()> {
    if !rebalanced.waiting.is_empty() {
        waiting_grid(rebalanced).write(out, layout)?;
        layout.gap(out)?;
    }
    if !rebalanced.moves.is_empty() {
        moves_grid(rebalanced).write(out, layout)?;
        layout.gap(out)?;
    }
    if let Some(rows) = &rebalanced.curve {
        curve_grid(rows).write(out, layout)?;
        layout.gap(out)?;
    }
    let verdict = rebalanced.verdict();
    layout.paragraph(&verdict.sentence, style::NAME, out)?;
    if !verdict.more.is_empty() {
        layout.paragraph(&verdict.more, style::PLAIN, out)?;
    }
    if let Some(cost) = &rebalanced.cost {
        layout.paragraph(&cost.sentence(), style::PLAIN, out)?;
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
    Ok(())
}

/// What more moves gain.
fn curve_grid(rows: &[CurveRow]) -> Grid<'_> {
    let has_costs = rows.iter().any(|row| row.cost.is_some());
    let mut columns = vec![
        Column::right("MOVES"),
        Column::right("PLACED"),
        Column::right("REPLICAS"),
    ];
    columns.extend(has_costs.then(|| Column::right("COST PER HOUR")));
    let mut grid = Grid::new(columns);
    for row in rows {
        let mut cells = vec![
            Cell::plain(row.moves.to_string()),
            Cell::plain(row.placed.to_string()),
            Cell::plain(row.replicas.to_string()),
        ];
        cells.extend(row.cost.as_ref().map(|cost| Cell::plain(cost.to_string())));
        grid.cells(cells);
    }
    grid
}

fn waiting_grid(rebalanced: &Rebalanced) -> Grid<'_> {
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

fn moves_grid(rebalanced: &Rebalanced) -> Grid<'_> {
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

/// What moves of others would place, and what shows them; `None` if they would place nothing.
pub(super) fn could_place(could_place: &CouldPlace) -> Option<String> {
    let sentence = could_place.sentence()?;
    Some(format!("{sentence} (`divvy diff --place-pending` shows which)"))
}

/// `eu-1 5 → 2, us-1 0 → 3`.
fn clusters(list: &[MovedCluster]) -> String {
    let texts: Vec<String> = list
        .iter()
        .map(|cluster| format!("{} {} → {}", cluster.name, cluster.before, cluster.after))
        .collect();
    texts.join(", ")
}

/// The tables of a plan.
pub(super) fn tables(rebalanced: &Rebalanced) -> Vec<Table> {
    let curve = rebalanced.curve.as_deref().map(curve);
    [waiting(rebalanced), moves(rebalanced)]
        .into_iter()
        .chain(curve)
        .chain([stays(rebalanced)])
        .collect()
}

/// What more moves gain, as a picture and as a table.
fn curve(rows: &[CurveRow]) -> Table {
    let has_costs = rows.iter().any(|row| row.cost.is_some());
    let point = |row: &CurveRow| Point {
        x: row.moves,
        y: i64::try_from(row.placed).unwrap_or(i64::MAX),
    };
    let mut columns = vec![
        Kind::Number.column("Moves"),
        Kind::Number.column("Placed"),
        Kind::Number.column("Replicas"),
    ];
    columns.extend(has_costs.then(|| Kind::Text.column("Cost per hour")));
    let rows_of_table = rows.iter().map(|row| {
        let placed = row.placed.into();
        let mut values: Vec<Value> = vec![row.moves.into(), placed, row.replicas.into()];
        values.extend(row.cost.as_ref().map(|cost| Value::from(cost.to_string())));
        values
    });
    Table {
        title: "What more moves gain",
        remark: "Each row is a plan of its own, with at most so many moves.".to_owned(),
        steps: Some(Steps {
            across: "Moves",
            up: "Placed workloads that wait",
            points: rows.iter().map(point).collect(),
        }),
        columns,
        rows: rows_of_table.collect(),
        ..Table::default()
    }
}

fn waiting(rebalanced: &Rebalanced) -> Table {
    let rows = rebalanced.waiting.iter().map(|row| {
        vec![
            row.binding.as_str().into(),
            row.strategy.as_str().into(),
            row.replicas.into(),
            row.missing.into(),
            clusters(&row.clusters).into(),
            row.reason.as_str().into(),
        ]
    });
    Table {
        title: "What waits",
        remark: "Bindings of which some replicas have no place, and where the plan places them.".to_owned(),
        bars: Vec::new(),
        steps: None,
        columns: vec![
            Kind::Text.column("Workload"),
            Kind::Text.column("Strategy"),
            Kind::Number.column("Replicas"),
            Kind::Harm.column("Missing"),
            Kind::Long.column("Placed on"),
            Kind::Long.column("Why not"),
        ],
        rows: rows.collect(),
    }
}

fn moves(rebalanced: &Rebalanced) -> Table {
    let rows = rebalanced.moves.iter().map(|row| {
        vec![
            row.binding.as_str().into(),
            row.strategy.as_str().into(),
            row.replicas.into(),
            row.moved.into(),
            clusters(&row.clusters).into(),
        ]
    });
    Table {
        title: "What moves for it",
        remark: "Each keeps all its replicas.".to_owned(),
        bars: Vec::new(),
        steps: None,
        columns: vec![
            Kind::Text.column("Workload"),
            Kind::Text.column("Strategy"),
            Kind::Number.column("Replicas"),
            Kind::Number.column("Moved"),
            Kind::Long.column("Clusters"),
        ],
        rows: rows.collect(),
    }
}

fn stays(rebalanced: &Rebalanced) -> Table {
    let rows = rebalanced
        .stays
        .iter()
        .map(|row| vec![row.reason.as_str().into(), row.bindings.into()]);
    Table {
        title: "What is not moved for others",
        remark: String::new(),
        bars: Vec::new(),
        steps: None,
        columns: vec![Kind::Long.column("Reason"), Kind::Number.column("Bindings")],
        rows: rows.collect(),
    }
}
