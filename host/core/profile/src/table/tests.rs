//! Reading tables in all formats, and every problem with its line.

use std::path::PathBuf;
use std::sync::Arc;

use divvy_framework_calls::tables::TableContents;

use super::{LoadedTable, TABLE_BYTES_MAX, TableError, TableSource};
use crate::{ProfileSource, TableConfiguration};

/// A table as a profile declares it, from the lines of `[profile.table.carbon]`.
fn configuration(lines: &str) -> TableConfiguration {
    let text = format!("[[profile]]\nname = 'test'\n[profile.table.carbon]\n{lines}\n");
    let profile = ProfileSource::parse("profile.toml".into(), &text).profile(None);
    let mut profile = profile.unwrap_or_else(|error| panic!("{error}"));
    profile.table.remove("carbon").expect("the profile has the table")
}

fn columns() -> TableConfiguration {
    configuration(
        "columns = { intensity = 'integer', price = { type = 'decimal', scale = 2 }, note = 'text', green = 'boolean' }",
    )
}

fn load(file: &str, text: &str, configuration: &TableConfiguration) -> Result<LoadedTable, Vec<TableError>> {
    LoadedTable::new("carbon", TableSource::new(PathBuf::from(file), text), configuration)
}

/// The problems of a table, with their hints.
fn problems(file: &str, text: &str, configuration: &TableConfiguration) -> Vec<String> {
    let errors = load(file, text, configuration).expect_err("the table is invalid");
    let text = |error: &TableError| match error.hint() {
        Some(hint) => format!("{error} ({hint})"),
        None => error.to_string(),
    };
    errors.iter().map(text).collect()
}

/// All cells of a table as text.
fn cells(contents: &TableContents) -> String {
    format!("{contents:?}")
}

#[test]
fn the_three_formats_say_the_same() {
    // With a byte order mark, CRLF, an empty line, spaces, quotes and a column that is not declared.
    let csv =
        "\u{feff}name,intensity,price,unused,note,green\r\n\r\na, 12 ,0.5,x,\"one, two\",true\r\nb,,-3,y,,false\r\n";
    let json = r#"{"a": {"intensity": 12, "price": 0.5, "note": "one, two", "green": true, "unused": []},
                   "b": {"intensity": null, "price": "-3", "green": false}}"#;
    let toml = "[a]\nintensity = 12\nprice = 0.5\nnote = 'one, two'\ngreen = true\n[b]\nprice = -3\ngreen = false\n";
    let columns = columns();
    let loaded = [("t.csv", csv), ("t.json", json), ("t.TOML", toml)].map(|(file, text)| {
        let loaded = load(file, text, &columns);
        loaded.unwrap_or_else(|errors| panic!("{file}: {errors:?}"))
    });
    for table in &loaded {
        assert_eq!(table.rows(), 2);
        let text = cells(table.contents());
        for cell in [
            "[Some(12), None]",
            "[Some(50), Some(-300)]",
            "[Some(0), None]",
            "[Some(1), Some(0)]",
        ] {
            assert!(text.contains(cell), "{cell} is not in {text}");
        }
        assert!(text.contains("texts: [\"one, two\"]"), "{text}");
    }
    // Each line is that of the row itself, not of the empty lines before it.
    let lines: Vec<usize> = loaded.iter().map(|table| table.keys[1].1).collect();
    assert_eq!(lines, [4, 2, 6]);
    assert_ne!(loaded[0].source().version, loaded[1].source().version);
    assert_eq!(loaded[0].source().version.len(), 64);
}

#[test]
fn every_problem_of_a_csv_file_has_its_line() {
    let columns = columns();
    let text = "name,intensity,price,note,green\n\
                a,1.5,0.125,x,yes\n\
                a,1,1,x,true\n\
                b,99999999999999999999,1e3,x,\n\
                ,1,1,x,true\n\
                c,1\n\
                \"d\n\nd\",one,1,x,true\n\
                e,1,92233720368547758.08,x,true\n";
    assert_eq!(
        problems("t.csv", text, &columns),
        [
            "t.csv:2: row `a`, column `green`: expected boolean, got `yes`",
            "t.csv:2: row `a`, column `intensity`: expected integer, got `1.5`",
            "t.csv:2: row `a`, column `price`: `0.125` has 3 digits after the decimal point, expected at most 2 (give the \
             column a larger `scale`, or round the number)",
            "t.csv:3: a second row for `a`, first on line 2",
            "t.csv:4: row `b`, column `intensity`: `99999999999999999999` does not fit into 64 bits as integer",
            "t.csv:4: row `b`, column `price`: expected decimal with scale 2, got `1e3`",
            "t.csv:5: the row has no key: its column `name` is empty",
            "t.csv:6: the row has 2 cells, the header 5",
            "t.csv:7: row `d\n\nd`, column `intensity`: expected integer, got `one`",
            "t.csv:10: row `e`, column `price`: `92233720368547758.08` does not fit into 64 bits as decimal with scale 2",
        ]
    );
}

#[test]
fn records_of_any_length_are_read() {
    let names: String = (0..100).map(|number| format!(",unused{number}")).collect();
    let (unused, note) = (",é".repeat(100), "é".repeat(5_000));
    let text = format!(
        "name,intensity,price,note,green{names}\na,1,,{note},true{unused}\nb,2,,short,true{unused}\nc,3,,{note}.,true{unused}\n"
    );
    let table = load("t.csv", &text, &columns()).unwrap_or_else(|errors| panic!("{errors:?}"));
    let contents = cells(table.contents());
    assert!(contents.contains("[Some(1), Some(2), Some(3)]"), "{contents}");
    for text in ["\"short\"", &format!("\"{note}\""), &format!("\"{note}.\"")] {
        assert!(contents.contains(text), "{text} is not in {contents}");
    }
}

/// Otherwise, all rows that follow would be one cell, and missing from the table.
#[test]
fn a_quote_that_is_never_closed_is_an_error() {
    let columns = columns();
    let text =
        "name,intensity,price,note,green\na,1,1,\"one \"\"and\"\" two\",true\nb,2,2,\"ops team,true\nc,3,3,x,true\n";
    assert_eq!(
        problems("t.csv", text, &columns),
        ["t.csv:3: not valid CSV: a cell begins with a quote that is never closed"]
    );
    let closed = text.replace("team", "team\"");
    let rows = load("t.csv", &closed, &columns).map(|table| table.rows());
    assert_eq!(rows.unwrap_or_else(|errors| panic!("{errors:?}")), 3);
    // A quote within a cell is an ordinary character.
    let within = "name,intensity,price,note,green\na,1,1,2\" pipe,true\nb,2,2,,false\n";
    let rows = load("t.csv", within, &columns).map(|table| table.rows());
    assert_eq!(rows.unwrap_or_else(|errors| panic!("{errors:?}")), 2);
}

#[test]
fn headers_are_checked() {
    let columns =
        configuration("key-column = 'region'\ncolumns = { intensity = { type = 'integer', from = 'g per kWh' } }");
    assert!(load("t.csv", "g per kWh,region\n12,eu\n", &columns).is_ok());
    assert_eq!(
        problems("t.csv", "\ng per kwh,regions,x,x\n12,eu,1,1\n", &columns),
        [
            "t.csv:2: the header names the column `x` twice",
            "t.csv:2: the table has no column `region` (did you mean `regions`?)",
            "t.csv:2: the table has no column `g per kWh` (did you mean `g per kwh`?)",
        ]
    );
    for (file, text, expected) in [
        (
            "t.csv",
            "",
            "t.csv: the table is empty: expected a header with the names of the columns",
        ),
        (
            "t.csv",
            "\u{feff}\r\n\r\n",
            "t.csv: the table is empty: expected a header with the names of the columns",
        ),
        (
            "t.json",
            " \n",
            "t.json: the table is empty: expected a mapping from keys to rows",
        ),
        ("t.toml", "", "t.toml: the table is empty: expected a table per row"),
        (
            "t.yaml",
            "{}",
            "t.yaml: the file of a table must end in `.csv`, `.json` or `.toml`",
        ),
        (
            "table",
            "{}",
            "table: the file of a table must end in `.csv`, `.json` or `.toml`",
        ),
    ] {
        assert_eq!(problems(file, text, &columns), [expected]);
    }
    // A table may have no rows yet.
    for (file, text) in [
        ("t.csv", "region,g per kWh\n"),
        ("t.json", "{}"),
        ("t.toml", "# none\n"),
    ] {
        assert_eq!(load(file, text, &columns).map(|table| table.rows()), Ok(0), "{file}");
    }
}

#[test]
fn every_problem_of_a_tree_has_its_line() {
    let columns = columns();
    let json = "{\n\"a\": {\"intensity\": \"12\", \"intensity\": 1, \"price\": 0.1234567890123456789},\n\"a\": {},\n\
                \"b\": [1],\n\"c\": {\"intensity\": 9223372036854775808, \"green\": 1, \"note\": {}, \"price\": 1e3}\n}";
    assert_eq!(
        problems("t.json", json, &columns),
        [
            "t.json:2: row `a`: the column `intensity` is given twice, first on line 2",
            "t.json:2: row `a`, column `intensity`: expected integer, got the string \"12\"",
            "t.json:2: row `a`, column `price`: `0.1234567890123456789` has 19 digits after the decimal point, expected at \
             most 2 (give the column a larger `scale`, or round the number)",
            "t.json:3: a second row for `a`, first on line 2",
            "t.json:4: row `b`: expected a mapping from columns to cells, got a list (a table is a mapping from keys to \
             rows: `{\"eu\": {\"price\": 1}}`)",
            "t.json:5: row `c`, column `intensity`: `9223372036854775808` does not fit into 64 bits as integer",
            "t.json:5: row `c`, column `green`: expected boolean, got `1`",
            "t.json:5: row `c`, column `note`: expected text, got a mapping",
            "t.json:5: row `c`, column `price`: expected decimal with scale 2, got `1e3`",
        ]
    );
    let columns = configuration("columns = { intensity = 'integer' }");
    for (file, text, expected) in [
        (
            "t.toml",
            "[eu]\nintensty = 1\n",
            "t.toml: the table has no column `intensity` (did you mean `intensty`?)",
        ),
        ("t.toml", "[eu]\nintensity = 1\n[eu]\n", "t.toml:3: not valid TOML: "),
        (
            "t.json",
            "{\"eu\": {\"intensity\": 1}}\n}",
            "t.json:2: not valid JSON: expected the end of the input, got '}'",
        ),
        (
            "t.json",
            "{\n\"eu\": ",
            "t.json:2: not valid JSON: expected a value, got the end of the input",
        ),
        (
            "t.json",
            "[]",
            "t.json:1: the table: expected a mapping from columns to cells, got a list",
        ),
    ] {
        let found = problems(file, text, &columns);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{found:?}");
    }
}

#[test]
fn files_that_cannot_be_read_and_tables_that_are_too_large_are_refused() {
    let folder = std::env::temp_dir().join(format!("divvy-tables-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = |name: &str| folder.join(name);
    std::fs::write(path("bytes.csv"), b"name,intensity\na,1\n\xff,2\n").unwrap();
    let large = std::fs::File::create(path("large.csv")).unwrap();
    large.set_len(TABLE_BYTES_MAX + 1).unwrap();
    let problem = |name: &str| {
        let error = TableSource::read(&path(name)).expect_err("it cannot be read");
        error.to_string().replace(&format!("{}/", folder.display()), "")
    };
    assert_eq!(problem("bytes.csv"), "bytes.csv:3: the table is not UTF-8 text");
    assert_eq!(
        problem("large.csv"),
        "large.csv: the table is larger than 16777216 bytes"
    );
    assert!(problem("missing.csv").starts_with("missing.csv: the table cannot be read: No such file"));
    assert!(problem("").ends_with(": the table cannot be read: not a file"));
    std::fs::remove_dir_all(&folder).unwrap();

    let columns = configuration("columns = { intensity = 'integer' }");
    let mut text = "name,intensity\n".to_owned();
    for row in 0..=super::ROWS_MAX {
        text.push_str(&format!("c{row},{row}\n"));
    }
    assert_eq!(
        problems("t.csv", &text, &columns),
        ["t.csv:100002: the table has more than 100000 rows"]
    );
}

#[test]
fn a_profile_declares_its_tables() {
    let problem = |lines: &str| {
        let text = format!("[[profile]]\nname = 'test'\n[profile.table.carbon]\n{lines}\n");
        let error = ProfileSource::parse("profile.toml".into(), &text).profile(None);
        error.expect_err("the profile is invalid").to_string()
    };
    for (lines, expected) in [
        (
            "key = 'zone'",
            "profile.toml:4: profile[0].table.carbon.key: expected `cluster`, `region`, `provider` or `label:`",
        ),
        (
            "key = 'label:'",
            "profile.toml:4: profile[0].table.carbon.key: expected `cluster`",
        ),
        (
            "columns = { price = 'decimal' }",
            "profile.toml:4: profile[0].table.carbon.columns.price: a decimal needs its digits after the decimal point",
        ),
        (
            "columns = { price = { type = 'decimal', scale = 19 } }",
            "profile.toml:4: profile[0].table.carbon.columns.price: expected a scale of at most 18, got 19",
        ),
        (
            "columns = { price = { type = 'text', scale = 1 } }",
            "profile.toml:4: profile[0].table.carbon.columns.price: only a column of decimals has a `scale`",
        ),
        (
            "columns = { price = 'number' }",
            "profile.toml:4: profile[0].table.carbon.columns.price: unknown value `number`",
        ),
        (
            "columns = { price = { typ = 'text' } }",
            "profile.toml:4: profile[0].table.carbon.columns.price: unknown key `typ`",
        ),
        (
            "columns = { price = 3 }",
            "profile.toml:4: profile[0].table.carbon.columns.price: expected a type, or a mapping",
        ),
    ] {
        let found = problem(lines);
        assert!(found.starts_with(expected), "{found}");
    }
    let text = "[[profile]]\nname = 'base'\n[profile.table.carbon]\nfile = 'base.csv'\nkey = 'label:zone'\n\
                columns = { intensity = 'integer', price = { type = 'decimal', scale = 4, from = 'Price' } }\n\
                [[profile]]\nname = 'mine'\nextends = 'base'\n[profile.table.carbon]\nfile = 'mine.json'\n\
                [profile.table.carbon.columns]\nnote = 'text'\n";
    let profile = ProfileSource::parse("folder/profile.toml".into(), text).profile(Some("mine"));
    let profile = profile.unwrap_or_else(|error| panic!("{error}"));
    let carbon = &profile.table["carbon"];
    assert_eq!(carbon.file.as_deref(), Some(std::path::Path::new("folder/mine.json")));
    assert_eq!(
        carbon.key.as_ref().map(ToString::to_string).as_deref(),
        Some("label:zone")
    );
    assert_eq!(
        carbon.columns.keys().collect::<Vec<_>>(),
        ["intensity", "note", "price"]
    );
    // Written cells are read back unchanged.
    let again = {
        let toml = profile.with_absolute_paths().to_toml().expect("it is TOML");
        ProfileSource::parse("profile.toml".into(), &toml).profile(None)
    };
    assert_eq!(
        again.unwrap_or_else(|error| panic!("{error}")),
        profile.with_absolute_paths()
    );
}

/// TOML has a type of its own for points in time. Only those with an offset are one.
#[test]
fn date_times_of_toml_are_those_of_the_other_formats() {
    let columns = configuration("columns = { begins = 'time', note = 'text' }");
    let read = |file: &str, text: &str| {
        let loaded = load(file, text, &columns).unwrap_or_else(|errors| panic!("{file}: {errors:?}"));
        Arc::clone(loaded.contents())
    };
    let csv = read(
        "t.csv",
        "name,begins,note\na,2026-12-24T20:00:00+01:00,x\nb,9999-12-31T23:59:59Z,x\n",
    );
    let toml = "[a]\nbegins = 2026-12-24T20:00:00+01:00\nnote = 'x'\n[b]\nbegins = 9999-12-31 23:59:59Z\nnote = 'x'\n";
    assert_eq!(read("t.toml", toml), csv);
    for (time, actual) in [
        ("2026-12-24T20:00:00", "2026-12-24T20:00:00"),
        ("2026-12-24", "2026-12-24"),
        ("20:00:00", "20:00:00"),
    ] {
        let problems = problems("t.toml", &format!("[a]\nbegins = {time}\nnote = 'x'\n"), &columns);
        assert!(
            problems.len() == 1 && problems[0].starts_with("t.toml:2: ") && problems[0].contains(actual),
            "{problems:?}"
        );
    }
}
