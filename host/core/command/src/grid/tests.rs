//! Rows that are written while they are added equal those of a grid that keeps its lines.

use super::*;

/// Numbers without a pattern, the same in every run.
fn scattered(state: &mut u64, below: usize) -> usize {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize % below
}

const TEXTS: [&str; 10] = [
    "",
    "m",
    "member-00042",
    "region-7",
    "a name that is longer than most columns",
    "Zürich",
    "東京-1",
    "e\u{301}",
    "two\nlines",
    "\u{1b}[1mbold",
];
const NUMBERS: [i64; 8] = [0, 7, -1, 10, 99_999, -100_000, i64::MAX, i64::MIN];
const STYLES: [Style; 3] = [style::PLAIN, style::PLAIN, style::GOOD];

fn cell(state: &mut u64) -> Cell<'static> {
    let style = STYLES[scattered(state, STYLES.len())];
    let text = TEXTS[scattered(state, TEXTS.len())];
    match scattered(state, 12) {
        0 => Cell::bar(scattered(state, 9) as i64, 8, style),
        1..=4 => Cell::number(NUMBERS[scattered(state, NUMBERS.len())]).styled(style),
        5 | 6 => Cell::below(text).styled(style),
        7 => Cell::empty(),
        _ => Cell::new(text, style),
    }
}

/// Rows of cells that fit, or do not, in each kind of column and on terminals of several widths.
#[test]
fn rows_that_are_written_at_once_are_those_that_are_kept() {
    let mut state = 5;
    for case in 0..6_000 {
        let count = 1 + scattered(&mut state, 6);
        let mut columns: Vec<Column> = (0..count)
            .map(|number| match (number, scattered(&mut state, 2)) {
                (1.., 0) => Column::right("NUMBER"),
                _ => Column::left("NAME"),
            })
            .collect();
        if scattered(&mut state, 4) == 0 {
            columns.push(Column::text("TEXT"));
        }
        let rows: Vec<Vec<Cell<'_>>> = (0..scattered(&mut state, 4))
            .map(|_| {
                let cells = scattered(&mut state, columns.len() + 2);
                (0..cells).map(|_| cell(&mut state)).collect()
            })
            .collect();
        let terminal = [None, None, Some(30), Some(70)][scattered(&mut state, 4)];
        let grid = || {
            let grid = Grid::new(&columns[..]).plain(case % 3 == 0);
            grid.indented(case % 2 * 3)
        };
        let mut kept = grid();
        rows.iter().for_each(|row| kept.cells(&row[..]));
        let mut expected = Vec::new();
        kept.write(&mut expected, terminal).expect("memory takes everything");

        let mut measuring = grid().measuring(Widths::new(&columns));
        rows.iter().for_each(|row| measuring.cells(&row[..]));
        let widths = grid().fitted(&measuring.measured(), terminal);
        let mut bytes = Vec::new();
        grid()
            .write_titles(&mut bytes, &widths)
            .expect("memory takes everything");
        let mut writing = grid().writing(bytes, &widths, terminal);
        rows.iter().for_each(|row| writing.cells(&row[..]));
        let (written, expected) = (writing.written(), expected);
        assert_eq!(
            String::from_utf8_lossy(&written),
            String::from_utf8_lossy(&expected),
            "case {case}: {rows:?}"
        );
    }
}

/// Widths are those of the terminal, so names that take other columns than bytes are aligned as well.
#[test]
fn names_of_any_script_are_aligned() {
    let columns = [Column::left("CLUSTER"), Column::right("REPLICAS")];
    let mut grid = Grid::new(&columns[..]).measuring(Widths::new(&columns));
    let names = ["東京-1", "Zürich", "eu-1"];
    names
        .iter()
        .for_each(|name| grid.cells(vec![Cell::below(*name), Cell::number(10)]));
    let widths = Grid::new(&columns[..]).fitted(&grid.measured(), None);
    let mut grid = Grid::new(&columns[..]).writing(Vec::new(), &widths, None);
    names
        .iter()
        .for_each(|name| grid.cells(vec![Cell::below(*name), Cell::number(10)]));
    let expected = "  東京-1        10\n  Zürich        10\n  eu-1          10\n";
    assert_eq!(String::from_utf8_lossy(&grid.written()), expected);
}
