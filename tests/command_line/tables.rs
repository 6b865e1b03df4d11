//! Tables of a profile: their problems, their readers, and replay without their files.

use std::fs;

use serde_json::Value;

use super::{fixture, run};

const CARBON: &str = "region,intensity\neast,300\nwest,40\n";
const POWER: &str = "name,price,note,full\neast-1,10.00,,\neast-2,12.5,,\nwest-1,99.99,,\n";

/// The declaration of the table `power`.
const POWER_COLUMNS: &str = "columns = { price = { type = 'decimal', scale = 2 }, note = 'text', full = 'boolean' }";

/// A folder with a profile and its tables.
struct Tables {
    folder: tempfile::TempDir,
}

impl Tables {
    fn new() -> Self {
        let tables = Self {
            folder: tempfile::tempdir().expect("a folder can be made"),
        };
        tables.write("carbon.csv", CARBON);
        tables.write("power.csv", POWER);
        tables.profile(&format!(
            "[profile.table.carbon]\nfile = 'carbon.csv'\nkey = 'region'\ncolumns = {{ intensity = 'integer' }}\n\
             [profile.table.power]\nfile = 'power.csv'\n{POWER_COLUMNS}\n"
        ));
        tables
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("the file can be written");
    }

    /// Writes a profile with the plugin that reads the tables, and these lines from line 10 on.
    fn profile(&self, lines: &str) {
        let library = fixture("cheap-power");
        let text = format!(
            "[[profile]]\nname = 'tables'\nextends = 'default'\nfilters = [\n  'cheap-power',\n  'cluster-affinity',\n]\n\
             scores = [{{ plugin = 'cheap-power' }}]\nplugin.cheap-power.path = {library:?}\n{lines}"
        );
        self.write("profile.toml", &text);
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Runs a command, and takes the folder's path out of what it prints.
    fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let (exit, stdout, stderr) = run(arguments);
        let folder = format!("{}/", self.folder.path().display());
        let short = |text: String| text.replace(&folder, "");
        (exit, short(stdout), short(stderr))
    }

    fn check(&self) -> (Option<i32>, String, String) {
        self.run(&["profile", "check", &self.path("profile.toml")])
    }

    /// The errors of `divvy profile check`, which exits with 2 and prints nothing else.
    #[track_caller]
    fn errors(&self) -> String {
        let (exit, stdout, stderr) = self.check();
        assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{stderr}");
        stderr
    }

    fn schedule(&self, more: &[&str]) -> (Option<i32>, String, String) {
        self.decide("schedule", more)
    }

    fn diff(&self, change: &[&str]) -> (Option<i32>, String, String) {
        self.decide("diff", change)
    }

    /// Runs a command on the fleet under the profile.
    fn decide(&self, command: &str, more: &[&str]) -> (Option<i32>, String, String) {
        let profile = self.path("profile.toml");
        let files = [
            command,
            "-f",
            "fleet.yaml",
            "-f",
            "scheduled.yaml",
            "--profile",
            &profile,
        ];
        self.run(&[&files, more].concat())
    }
}

#[test]
fn tables_are_shown_with_the_plugins_that_read_them() {
    let tables = Tables::new();
    let (exit, stdout, stderr) = tables.check();
    assert_eq!((exit, stderr.as_str()), (Some(0), ""));
    for line in [
        "  table       carbon by region: 2 rows in carbon.csv, read by cheap-power\n",
        "  table       power by cluster: 3 rows in power.csv, read by cheap-power\n",
    ] {
        assert!(stdout.contains(line), "{stdout}");
    }
    let library = fixture("cheap-power").display().to_string();
    let shown = [
        "plugin",
        "show",
        "cheap-power",
        "--load",
        "--profile",
        &tables.path("profile.toml"),
    ];
    let (_, stdout, stderr) = tables.run(&shown);
    for line in [
        "  also sees          tables of the profile\n",
        "  reads the table    power: price (decimal with scale 2), note (text), full (boolean)\n",
        "  reads the table    carbon: intensity (integer)\n",
    ] {
        assert!(stdout.contains(line), "{stdout} {stderr} {library}");
    }
    let (_, json, _) = tables.run(&[&shown[..], &["-o", "json"]].concat());
    let json: Value = serde_json::from_str(&json).expect("it is JSON");
    let price = serde_json::json!({ "name": "price", "type": "decimal", "scale": 2 });
    assert_eq!(json["tables"][0]["columns"][0], price);
    // The profile with everything filled in still finds its tables.
    let (_, shown, _) = run(&["profile", "show", &tables.path("profile.toml")]);
    tables.write("shown.toml", &shown);
    assert_eq!(
        tables.run(&["profile", "check", &tables.path("shown.toml")]).0,
        Some(0),
        "{shown}"
    );
}

#[test]
fn a_table_that_a_plugin_reads_must_be_provided_with_its_columns() {
    let tables = Tables::new();
    tables.profile("");
    assert_eq!(
        tables.errors(),
        "error: profile.toml:5: plugin `cheap-power` reads the table `power`, which the profile does not have\n  \
         hint: add `[profile.table.power]` with `file`, `key` and `columns = { price = { type = \"decimal\", scale = 2 }, note \
         = \"text\", full = \"boolean\" }`\n\
         error: profile.toml:5: plugin `cheap-power` reads the table `carbon`, which the profile does not have\n  \
         hint: add `[profile.table.carbon]` with `file`, `key` and `columns = { intensity = \"integer\" }`\n\
         error: 2 problems in the profile\n"
    );
    // Misspelt names, another type, a mapping of what is not read, and a table without a file.
    tables.profile(
        "plugin.cheap-power.tables = { powr = 'x' }\n[profile.table.carbn]\ncolumns = { intensity = 'integer' }\n\
         [profile.table.power]\nfile = 'power.csv'\n[profile.table.power.columns]\nprice = 'integer'\nnotes = 'text'\n",
    );
    let errors = tables.errors();
    for expected in [
        "error: profile.toml:10: plugin `cheap-power` reads no table `powr`\n  hint: did you mean `power`?\n",
        "error: profile.toml:5: plugin `cheap-power` reads the table `carbon`, which the profile does not have\n  hint: did you \
         mean `carbn`?\n",
        "error: profile.toml:16: plugin `cheap-power` reads column `price` of the table `power` as decimal with scale 2, but it \
         is integer\n  hint: declare it as `price = { type = \"decimal\", scale = 2 }`\n",
        "plugin `cheap-power` reads column `note` of the table `power`, which does not declare it\n  hint: did you mean \
         `notes`?\n",
        "plugin `cheap-power` reads column `full` of the table `power`, which does not declare it\n  hint: add `full = \
         \"boolean\"` to its `columns`\n",
        "error: profile.toml:11: the table `carbn` has no `file`\n",
    ] {
        assert!(errors.contains(expected), "{expected} is not in\n{errors}");
    }
    // A table without any column gets one error, with all that plugins read.
    tables.profile("[profile.table.power]\nfile = 'power.csv'\n");
    let errors = tables.errors();
    let expected = "the table `power` has no `columns`\n  hint: plugins read these: `columns = { full = \"boolean\", note = \"text\", \
                    price = { type = \"decimal\", scale = 2 } }`\n";
    assert!(errors.contains(expected), "{errors}");
    assert!(
        !errors.contains("of the table `power`, which does not declare it"),
        "{errors}"
    );
}

#[test]
fn every_problem_of_a_table_has_file_and_line() {
    let tables = Tables::new();
    tables.write(
        "carbon.csv",
        "\u{feff}region,intensity\r\neast,300\r\nwest,lots\r\neast,1\r\n",
    );
    fs::remove_file(tables.path("power.csv")).expect("the table can be deleted");
    let errors = tables.errors();
    assert_eq!(
        errors,
        "error: profile.toml:11: carbon.csv:3: row `west`, column `intensity`: expected integer, got `lots`\n\
         error: profile.toml:11: carbon.csv:4: a second row for `east`, first on line 2\n\
         error: profile.toml:15: power.csv: the table cannot be read: No such file or directory (os error 2)\n\
         error: 3 problems in the profile\n"
    );
    for (text, expected) in [
        (
            "",
            "carbon.csv: the table is empty: expected a header with the names of the columns",
        ),
        (
            "region,intensty\n",
            "carbon.csv:1: the table has no column `intensity`\n  hint: did you mean `intensty`?",
        ),
        (
            "region,intensity,intensity\n",
            "carbon.csv:1: the header names the column `intensity` twice",
        ),
        (
            "region,intensity\neast,9223372036854775808\n",
            "carbon.csv:2: row `east`, column `intensity`: `9223372036854775808` does not fit into 64 bits as integer",
        ),
    ] {
        tables.write("power.csv", POWER);
        tables.write("carbon.csv", text);
        assert_eq!(
            tables.errors(),
            format!("error: profile.toml:11: {expected}\nerror: 1 problem in the profile\n")
        );
    }
    // Nothing is scheduled with a broken table.
    let (exit, stdout, _) = tables.schedule(&[]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
}

/// A cluster may be retired before its row is.
#[test]
fn rows_for_unknown_clusters_are_warnings() {
    let tables = Tables::new();
    tables.write("power.csv", &format!("{POWER}\nwest-11,1,,\n"));
    assert_eq!(tables.check().0, Some(0));
    let warned = "warning: power.csv:6: no cluster is named `west-11`\n  hint: did you mean `west-1`?\n";
    let (exit, stdout, stderr) = tables.schedule(&[]);
    assert_eq!((exit, stderr.as_str()), (Some(0), warned), "{stdout}");
    let (exit, _, stderr) = tables.diff(&["--cordon", "west-1"]);
    assert!(exit != Some(2) && stderr.contains(warned), "{exit:?} {stderr}");
    // A table of another fleet does not fill the screen.
    let others: String = (0..300).map(|number| format!("other-{number},1,,\n")).collect();
    tables.write("power.csv", &format!("{POWER}\n{others}"));
    let (_, _, stderr) = tables.schedule(&[]);
    assert_eq!(stderr.matches("no cluster is named").count(), 20, "{stderr}");
    assert!(
        stderr.ends_with("warning: 280 more rows of tables are for no cluster\n"),
        "{stderr}"
    );
    // A cluster that is removed in a forecast is known.
    tables.write("power.csv", POWER);
    let (_, _, stderr) = tables.diff(&["--without", "west-1"]);
    assert!(!stderr.contains("no cluster is named"), "{stderr}");
}

/// The table may cover more than the clusters of the input, so a misspelt region is a warning.
#[test]
fn rows_for_no_cluster_are_warnings_with_the_nearest_value() {
    let tables = Tables::new();
    tables.write("carbon.csv", &format!("{CARBON}wset,1\nmars,2\n"));
    assert_eq!(tables.check().0, Some(0));
    let warned = "warning: carbon.csv:4: no cluster has the region `wset`\n  hint: did you mean `west`?\n\
                  warning: carbon.csv:5: no cluster has the region `mars`\n";
    let (exit, stdout, stderr) = tables.schedule(&[]);
    assert_eq!((exit, stderr.as_str()), (Some(0), warned));
    let (exit, quiet, stderr) = tables.schedule(&["--quiet"]);
    assert_eq!((exit, stderr.as_str()), (Some(0), ""), "{quiet}");
    let profile = tables.path("profile.toml");
    let text = fs::read_to_string(&profile).expect("the profile can be read");
    for (key, property) in [
        ("provider", "provider `wset`"),
        ("label:zone", "label `zone` with the value `wset`"),
    ] {
        tables.write(
            "profile.toml",
            &text.replace("key = 'region'", &format!("key = '{key}'")),
        );
        let (_, _, stderr) = tables.schedule(&[]);
        let expected = format!("warning: carbon.csv:4: no cluster has the {property}\n");
        assert!(stderr.contains(&expected), "{stderr}");
    }
    // A forecast warns as well.
    tables.write("profile.toml", &text);
    let (_, _, stderr) = tables.diff(&["--cordon", "west-1"]);
    assert!(stderr.contains(warned), "{stderr}");
    assert!(!stdout.is_empty());
}

#[test]
fn a_replay_needs_no_table() {
    let tables = Tables::new();
    let recording = tables.path("recording.jsonl");
    let (exit, _, stderr) = tables.schedule(&["--record", &recording]);
    assert_eq!(exit, Some(0), "{stderr}");
    let text = fs::read_to_string(&recording).expect("the recording can be read");
    assert_eq!(text.matches("\"kind\":\"Table\"").count(), 2);
    assert!(
        text.lines()
            .filter(|line| line.contains("\"Case\""))
            .all(|line| line.contains("\"tables\":{\"carbon\":\""))
    );
    for table in ["carbon.csv", "power.csv"] {
        fs::remove_file(tables.path(table)).expect("the table can be deleted");
    }
    let passed = "2 passed, 0 failed\n".to_owned();
    assert_eq!(
        tables.run(&["replay", &recording]),
        (Some(0), passed.clone(), String::new())
    );
    let profile = tables.path("profile.toml");
    let base = tables.run(&["replay", &recording, "--base", &profile]);
    assert_eq!(base, (Some(0), passed, String::new()));
    // A recording of decisions in which no plugin read a table.
    let older = tables.path("older.jsonl");
    let plain = [
        "schedule",
        "-f",
        "fleet.yaml",
        "-f",
        "scheduled.yaml",
        "--record",
        &older,
        "-q",
    ];
    assert_eq!(tables.run(&plain).0, Some(0));
    let (exit, stdout, stderr) = tables.run(&["replay", &older, "--profile", &profile, "-q"]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    assert_eq!(
        stderr,
        "error: older.jsonl:3: case `shop/agent-deployment`: a plugin reads the table `carbon`, which was not recorded\n  \
         hint: record the decisions under a profile whose plugins read the table\n"
    );
}
