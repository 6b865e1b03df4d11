//! Costs in reports, by the prices of `[profile.cost]`, without any plugin that knows them.

use std::fs;

use serde_json::Value;
use snapbox::str;

use super::{check_text, run};
use crate::diff::schema::{committed, committed_at, validate};

/// A folder with a profile and a table of prices.
struct Prices {
    folder: tempfile::TempDir,
}

const COLUMNS: &str = "[profile.table.prices.columns]\ncpu-hour = { type = 'decimal', scale = 6 }\n\
                       gib-hour = { type = 'decimal', scale = 6 }\nnote = 'text'\n";

/// The lines with which costs are counted.
const COST: &str = "[profile.cost]\ntable = 'prices'\nunit = 'EUR'\ncpu-hour = 'cpu-hour'\n";

impl Prices {
    /// Prices of CPUs; those of `west-1` and `east-1` are known.
    fn new() -> Self {
        let prices = Self {
            folder: tempfile::tempdir().expect("a folder can be made"),
        };
        prices.write(
            "prices.csv",
            "cluster,cpu-hour,gib-hour,note\nwest-1,0.04,,\neast-1,0.021,,\n",
        );
        prices.profile(COST);
        prices
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("the file can be written");
    }

    /// Writes a profile with the table, and these lines from line 9 on.
    fn profile(&self, lines: &str) {
        let text = format!(
            "[[profile]]\nname = 'priced'\nextends = 'default'\n[profile.table.prices]\nfile = 'prices.csv'\n{COLUMNS}{lines}"
        );
        self.write("profile.toml", &text);
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Runs a command on a fleet and its dump, under the profile.
    fn run(&self, command: &str, more: &[&str]) -> (Option<i32>, String, String) {
        let profile = self.path("profile.toml");
        let files = [command, "-f", "fleet.yaml", "-f", "dump.yaml", "--profile", &profile];
        run(&[&files[..], more].concat())
    }

    /// The standard output of a command that succeeds.
    #[track_caller]
    fn output(&self, command: &str, more: &[&str]) -> String {
        let (exit, stdout, stderr) = self.run(command, more);
        assert_eq!((exit, stderr.as_str()), (Some(0), ""), "{stdout}");
        stdout
    }

    /// The problems of the profile.
    #[track_caller]
    fn errors(&self, lines: &str) -> String {
        self.profile(lines);
        let (exit, stdout, stderr) = run(&["profile", "check", &self.path("profile.toml")]);
        assert_eq!((exit, stdout.as_str()), (Some(2), ""), "{stderr}");
        stderr.replace(&format!("{}/", self.folder.path().display()), "")
    }
}

/// The document of a command with `-o json`, which its schema describes.
#[track_caller]
fn document(prices: &Prices, command: &str, more: &[&str], schema: &Value) -> Value {
    let json = prices.output(command, &[more, &["-o", "json"]].concat());
    let document = serde_json::from_str(&json).expect("it is JSON");
    validate(schema, schema, &document, command).unwrap_or_else(|error| panic!("{error}"));
    document
}

#[test]
fn a_difference_counts_costs_of_clusters_and_of_all() {
    let prices = Prices::new();
    let scaled = ["--replicas", "shop/web-deployment=12"];
    check_text(
        "the table",
        &prices.output("diff", &scaled),
        str![[r#"
profile priced → profile priced with --replicas shop/web-deployment=12

BINDING              STRATEGY  REPLICAS  CHANGE
shop/web-deployment  Average         12  east-1 +2  east-2 +2  west-1 −2

CLUSTER  REGION  BEFORE  AFTER  CHANGE  FULLEST        COST PER HOUR
east-1   east         7      9      +2  cpu 20% → 40%  0.0420 → 0.0840
east-2   east         2      4      +2  cpu 20% → 40%  ?
west-1   west         8      6      −2  cpu 20% → 10%  0.2400 → 0.1600

1 binding changes: 2 replicas moved, 2 added
cost: ≥ 0.2820 → ≥ 0.2440 EUR per hour
not counted: no price per CPU hour on east-2
violations: 2 replicas on clusters that would refuse them today (--violations lists them)

"#]],
    );
    let document = document(&prices, "diff", &scaled, &committed("diff.json"));
    check_text(
        "the costs",
        &format!("{:#}\n", document["cost"]),
        str![[r#"
{
  "after": {
    "perHour": "0.244000",
    "unknown": [
      "no price per CPU hour"
    ]
  },
  "base": {
    "perHour": "0.282000",
    "unknown": [
      "no price per CPU hour"
    ]
  },
  "before": {
    "perHour": "0.282000",
    "unknown": [
      "no price per CPU hour"
    ]
  },
  "unit": "EUR"
}

"#]],
    );
    let drained = prices.output("diff", &["--drain", "east-2"]);
    check_text(
        "without the cluster that has no price",
        &drained,
        str![[r#"
profile priced → profile priced with --drain east-2

BINDING              STRATEGY  REPLICAS  CHANGE
shop/web-deployment  Average         10  east-1 +3  east-2 −2  west-1 −1

CLUSTER  REGION  BEFORE  AFTER  CHANGE  FULLEST        COST PER HOUR
east-1   east         7     10      +3  cpu 20% → 50%  0.0420 → 0.1050
east-2   east         2      0      −2  pods 10% → 8%  ? → 0.0000
west-1   west         8      7      −1  cpu 20% → 15%  0.2400 → 0.2000

1 binding changes: 3 replicas moved
cost: ≥ 0.2820 → 0.3050 EUR per hour
not counted: no price per CPU hour on east-2
violations: 2 replicas on clusters that would refuse them today (--violations lists them)

"#]],
    );
}

#[test]
fn a_schedule_counts_costs_of_bindings_and_of_clusters() {
    let prices = Prices::new();
    let table = prices.output("schedule", &["-o", "wide"]);
    let (_, totals) = table.split_once("\nCLUSTER ").expect("the table has clusters");
    let (totals, _) = totals
        .split_once("\nprofile `")
        .expect("the table ends with the profile");
    check_text(
        "the table",
        &format!("CLUSTER {totals}\n"),
        str![[r#"
CLUSTER  REGION  BEFORE  AFTER  CHANGE  FULLEST        COST PER HOUR
east-1   east         7      8      +1  cpu 20% → 30%  0.0420 → 0.0630
east-2   east         2      3      +1  cpu 20% → 30%  ?
west-1   west         8      6      −2  cpu 20% → 10%  0.2400 → 0.1600

3 bindings: 2 scheduled, 1 skipped
14 replicas (+2, -2 against the last results) on 3 of 3 clusters
cost: ≥ 0.2820 → ≥ 0.2230 EUR per hour
not counted: no price per CPU hour on east-2

"#]],
    );
    let document = document(
        &prices,
        "schedule",
        &[],
        &committed_at("host/desk/cli/schema/schedule.json"),
    );
    let web = document["bindings"]
        .as_array()
        .and_then(|rows| rows.iter().find(|row| row["replicas"] == 10));
    check_text(
        "the costs",
        &format!("{:#}\n", web.expect("it is listed")["cost"]),
        str![[r#"
{
  "after": {
    "perHour": "0.223000",
    "unknown": [
      "no price per CPU hour"
    ]
  },
  "before": {
    "perHour": "0.282000",
    "unknown": [
      "no price per CPU hour"
    ]
  },
  "byCluster": [
    {
      "name": "east-1",
      "perHour": "0.063000"
    },
    {
      "name": "east-2",
      "perHour": "0.000000",
      "unknown": [
        "no price per CPU hour"
      ]
    },
    {
      "name": "west-1",
      "perHour": "0.160000"
    }
  ],
  "unit": "EUR"
}

"#]],
    );
}

#[test]
fn headroom_counts_costs_now_and_with_the_most_replicas() {
    let prices = Prices::new();
    check_text(
        "the table",
        &prices.output("headroom", &[]),
        str![[r#"
profile priced

BINDING                 STRATEGY    REPLICAS  MOST  HEADROOM  COST PER HOUR        STOPPED BY
shop/agent-deployment   Duplicated         2   any            0.0000               nothing, capacity is ignored; 92 fit: 93 would exceed pods on east-1, west-1; 1 cluster rejected (taint-toleration)
shop/paused-deployment  Duplicated         3                  0.0000               scheduling is suspended
shop/web-deployment     Average           10    42       +32  ≥ 0.2820 → ≥ 1.0900  cpu in 3 of 3 candidates

costs in EUR per hour: now → with the most replicas
not counted: no price per CPU hour for shop/web-deployment

"#]],
    );
    // Any number can be scheduled; the second cost is that of the replicas that fit.
    let any = prices.output("headroom", &["deployment/web", "--strategy", "StaticWeight"]);
    assert!(
        any.contains(" any  ") && any.contains(" → ≥ ") && any.contains(" with 31 "),
        "{any}"
    );
    let document = document(&prices, "headroom", &[], &committed("headroom.json"));
    let web = document["bindings"].as_array().and_then(|rows| rows.last());
    check_text(
        "the costs",
        &format!("{:#}\n", web.expect("it is listed")["cost"]),
        str![[r#"
{
  "most": {
    "perHour": "1.090000",
    "unknown": [
      "no price per CPU hour"
    ]
  },
  "now": {
    "perHour": "0.282000",
    "unknown": [
      "no price per CPU hour"
    ]
  },
  "unit": "EUR"
}

"#]],
    );
}

/// Components are in each cluster of the result as a whole, with 0 replicas.
#[test]
fn a_binding_of_components_costs_what_they_request() {
    let prices = Prices::new();
    let component = |name: &str, replicas: u32, cpu: &str| {
        serde_json::json!({
            "name": name, "replicas": replicas, "replicaRequirements": { "resourceRequest": { "cpu": cpu } },
        })
    };
    let binding = serde_json::json!({
        "apiVersion": "work.karmada.io/v1alpha2",
        "kind": "ResourceBinding",
        "metadata": { "name": "job", "namespace": "shop", "uid": "job" },
        "spec": {
            "resource": { "apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "job" },
            "components": [component("driver", 1, "500m"), component("worker", 3, "1")],
            "placement": { "clusterAffinity": { "clusterNames": ["west-1"] } },
        },
    });
    prices.write("job.json", &binding.to_string());
    let (profile, job) = (prices.path("profile.toml"), prices.path("job.json"));
    let arguments = ["-f", "fleet.yaml", "-f", &job, "--profile", &profile, "-o", "json"];
    let (exit, stdout, stderr) = run(&[&["schedule"], &arguments[..]].concat());
    assert_eq!(exit, Some(0), "{stderr}");
    let document: Value = serde_json::from_str(&stdout).expect("it is JSON");
    // 3.5 CPUs at 0.04.
    assert_eq!(
        document["bindings"][0]["cost"]["after"]["perHour"], "0.140000",
        "{stdout}"
    );
    assert_eq!(document["cost"]["after"]["perHour"], "0.140000", "{stdout}");
    let (_, stdout, _) = run(&[&["diff"], &arguments[..]].concat());
    let document: Value = serde_json::from_str(&stdout).expect("it is JSON");
    assert_eq!(document["cost"]["after"]["perHour"], "0.140000", "{stdout}");
    let (_, table, _) = run(&[&["schedule"], &arguments[..6], &["-o", "wide"]].concat());
    assert!(
        table.contains("cost: 0.0000 → 0.1400 EUR per hour (+0.1400)\n"),
        "{table}"
    );
}

/// A Deployment of the shop that requests a CPU per replica, with its clusters.
fn deployment(name: &str, affinity: &[&str], assigned: &[(&str, i64)]) -> Value {
    let replicas: i64 = assigned.iter().map(|(_, replicas)| replicas).sum();
    let clusters = assigned
        .iter()
        .map(|(name, replicas)| serde_json::json!({ "name": name, "replicas": replicas }));
    serde_json::json!({
        "apiVersion": "work.karmada.io/v1alpha2",
        "kind": "ResourceBinding",
        "metadata": { "name": name, "namespace": "shop", "uid": name },
        "spec": {
            "resource": { "apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": name },
            "replicas": replicas,
            "replicaRequirements": { "resourceRequest": { "cpu": "1" } },
            "clusters": clusters.collect::<Vec<Value>>(),
            "placement": {
                "clusterAffinity": { "clusterNames": affinity },
                "replicaScheduling": { "replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated" },
            },
        },
    })
}

/// Fewer replicas cost less, and nobody has saved anything.
#[test]
fn the_part_of_replicas_that_run_nowhere_afterwards_is_named() {
    let prices = Prices::new();
    let list = serde_json::json!({ "apiVersion": "v1", "kind": "List", "items": [
        deployment("pinned", &["west-1"], &[("west-1", 3)]),
        deployment("roaming", &["west-1", "east-1"], &[("west-1", 2)]),
        deployment("shrinking", &["east-1"], &[("east-1", 4)]),
    ] });
    prices.write("bindings.json", &list.to_string());
    let (profile, bindings) = (prices.path("profile.toml"), prices.path("bindings.json"));
    let changes = ["--drain", "west-1", "--replicas", "shop/shrinking=1"];
    let diff = |more: &[&str]| {
        let arguments = ["diff", "-f", "fleet.yaml", "-f", &bindings, "--profile", &profile];
        run(&[&arguments[..], more].concat())
    };
    // 3 × 0.04 are lost, 3 × 0.021 removed, and 2 replicas move from 0.04 to 0.021.
    let expected = "cost: 0.2840 → 0.0630 EUR per hour (−0.2210: −0.1200 for 3 replicas lost, −0.0630 for 3 replicas removed, −0.0380 \
                    for the others)\n";
    for output in ["table", "wide", "markdown"] {
        let (exit, stdout, stderr) = diff(&[&changes[..], &["-o", output]].concat());
        assert_eq!(exit, Some(1), "{stderr}");
        assert!(stdout.contains(expected), "{stdout}");
    }
    let (_, page, _) = diff(&[&changes[..], &["-o", "html"]].concat());
    assert!(
        page.contains("for 3 replicas lost") && page.contains("for the others"),
        "the page says it"
    );
    let (_, stdout, _) = diff(&[&changes[..], &["-o", "json"]].concat());
    let document: Value = serde_json::from_str(&stdout).expect("it is JSON");
    let schema = committed("diff.json");
    validate(&schema, &schema, &document, "diff").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(document["cost"]["change"], "-0.221000");
    assert_eq!(
        document["cost"]["parts"],
        serde_json::json!({ "removed": "-0.063000", "lost": "-0.120000", "stranded": "0.000000", "placed": "-0.038000" })
    );
    // Only of all clusters together.
    assert_eq!(document["clusters"][0]["cost"]["parts"], Value::Null);
    // A part that is all of the change is not written twice.
    let (_, stdout, _) = diff(&["--replicas", "shop/shrinking=1"]);
    assert!(
        stdout.contains("cost: 0.2840 → 0.2210 EUR per hour (−0.0630 for 3 replicas removed)\n"),
        "{stdout}"
    );
    // Without a price the change is not known, and what runs nowhere is named all the same.
    prices.write("prices.csv", "cluster,cpu-hour,gib-hour,note\neast-1,0.021,,\n");
    let (_, stdout, _) = diff(&["--replicas", "shop/shrinking=1"]);
    assert!(
        stdout.contains("cost: ≥ 0.0840 → ≥ 0.0210 EUR per hour (afterwards without 3 replicas removed)\n"),
        "{stdout}"
    );
}

/// `divvy schedule` compares with the last results.
#[test]
fn a_schedule_names_the_part_of_removed_replicas() {
    let prices = Prices::new();
    let mut shrinking = deployment("shrinking", &["east-1"], &[("east-1", 4)]);
    shrinking["spec"]["replicas"] = 1.into();
    prices.write("bindings.json", &shrinking.to_string());
    let (profile, bindings) = (prices.path("profile.toml"), prices.path("bindings.json"));
    let arguments = ["schedule", "-f", "fleet.yaml", "-f", &bindings, "--profile", &profile];
    let (_, stdout, _) = run(&[&arguments[..], &["-o", "wide"]].concat());
    assert!(
        stdout.contains("cost: 0.0840 → 0.0210 EUR per hour (−0.0630 for 3 replicas removed)\n"),
        "{stdout}"
    );
    let (_, stdout, _) = run(&[&arguments[..], &["-o", "json"]].concat());
    let document: Value = serde_json::from_str(&stdout).expect("it is JSON");
    let schema = committed_at("host/desk/cli/schema/schedule.json");
    validate(&schema, &schema, &document, "schedule").unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(document["cost"]["parts"]["removed"], "-0.063000");
    assert_eq!(document["cost"]["parts"]["placed"], "0.000000");
}

/// With another table, costs are emissions, by region.
#[test]
fn any_unit_is_counted_by_the_same_means() {
    let prices = Prices::new();
    prices.write(
        "carbon.json",
        r#"{ "west": { "cpu-hour": "2.5" }, "east": { "cpu-hour": "1.5" } }"#,
    );
    prices.profile(
        "[profile.table.carbon]\nfile = 'carbon.json'\nkey = 'region'\n\
         columns.cpu-hour = { type = 'decimal', scale = 6 }\n\
         [profile.cost]\ntable = 'carbon'\nunit = 'g CO2'\ncpu-hour = 'cpu-hour'\n",
    );
    let table = prices.output("diff", &["--replicas", "shop/web-deployment=12"]);
    assert!(
        table.contains("cost: 21.0000 → 22.0000 g CO2 per hour (+1.0000)\n"),
        "{table}"
    );
    let checked = run(&["profile", "check", &prices.path("profile.toml")]).1;
    assert!(checked.contains("carbon by region: 2 rows in "), "{checked}");
    assert!(checked.contains(", read by `[profile.cost]`\n"), "{checked}");
}

#[test]
fn what_a_profile_counts_costs_by_must_exist() {
    let prices = Prices::new();
    prices.write("twice.csv", "cluster,cpu-hour\nwest-1,0.04\nwest-1,0.05\n");
    for (lines, expected) in [
        (
            "[profile.table.twice]\nfile = 'twice.csv'\nrows = 'several'\ncolumns.cpu-hour = { type = 'decimal', scale = 6 }\n\
             [profile.cost]\ntable = 'twice'\nunit = 'EUR'\ncpu-hour = 'cpu-hour'\n",
            "error: profile.toml:15: `[profile.cost]` names the table `twice`, which has several rows per key, expected one\n  hint: \
             remove its `rows`, or name another table\n",
        ),
        (
            "[profile.cost]\ntable = 'price'\nunit = 'EUR'\ncpu-hour = 'cpu-hour'\n",
            "error: profile.toml:11: `[profile.cost]` names the table `price`, which the profile does not have\n  hint: did you mean \
             `prices`?\n",
        ),
        (
            "[profile.cost]\ntable = 'prices'\nunit = 'EUR'\ncpu-hour = 'cpu-hours'\ngib-hour = 'memory'\n",
            "error: profile.toml:13: `[profile.cost]` reads column `cpu-hours` of the table `prices`, which does not declare it\n  \
             hint: did you mean `cpu-hour`?\n\
             error: profile.toml:14: `[profile.cost]` reads column `memory` of the table `prices`, which does not declare it\n  \
             hint: add `memory = { type = \"decimal\", scale = 6 }` to its `columns`\n",
        ),
        (
            "[profile.cost]\ntable = 'prices'\nunit = 'EUR'\ngpu-hour = 'note'\n",
            "error: profile.toml:13: `[profile.cost]` reads column `note` of the table `prices` as decimal with scale 6, but it is \
             text\n  hint: declare it as `note = { type = \"decimal\", scale = 6 }`\n",
        ),
        (
            "[profile.cost]\nunit = ' '\n",
            "error: profile.toml:10: `[profile.cost]` has no `table`\n\
             error: profile.toml:10: `[profile.cost]` has no `unit`\n\
             error: profile.toml:10: `[profile.cost]` names no column with prices: `cpu-hour`, `gib-hour` or `gpu-hour`\n",
        ),
        (
            "[profile.cost]\ntable = 'prices'\nunit = 'EUR'\ncpu-hours = 'cpu-hour'\n",
            "error: profile.toml:13: profile[0].cost: unknown key `cpu-hours`\n",
        ),
    ] {
        let errors = prices.errors(lines);
        assert!(errors.starts_with(expected), "{lines}\n{errors}");
    }
}

#[test]
fn a_negative_price_is_an_error_that_names_its_line() {
    let prices = Prices::new();
    prices.write(
        "prices.csv",
        "cluster,cpu-hour,gib-hour,note\nwest-1,0.04,-1,\neast-1,-0.02,,\n",
    );
    assert_eq!(
        prices.errors(COST),
        "error: profile.toml:5: prices.csv:3: row `east-1`, column `cpu-hour`: the price is -0.020000, expected at least 0\n\
         error: 1 problem in the profile\n"
    );
}

#[test]
fn a_row_for_a_cluster_that_was_retired_is_a_warning() {
    let prices = Prices::new();
    prices.write("prices.csv", "cluster,cpu-hour,gib-hour,note\nwest-11,0.04,,\n");
    let (exit, stdout, stderr) = prices.run("schedule", &[]);
    assert_eq!(exit, Some(0), "{stdout}");
    assert!(
        stderr.starts_with("warning: ")
            && stderr.contains("prices.csv:2: ")
            && stderr.contains("did you mean `west-1`?"),
        "{stderr}"
    );
}

/// The prices of a decision are not part of it: a recording has the profile, and needs no table that no plugin reads.
#[test]
fn a_recording_under_a_profile_with_prices_is_replayed_without_them() {
    let prices = Prices::new();
    let recording = prices.path("recording.jsonl");
    let (exit, _, stderr) = prices.run("schedule", &["--record", &recording]);
    assert_eq!(exit, Some(0), "{stderr}");
    fs::remove_file(prices.path("prices.csv")).expect("the table can be deleted");
    let (exit, stdout, stderr) = run(&["replay", &recording]);
    assert_eq!(exit, Some(0), "{stdout}{stderr}");
}
