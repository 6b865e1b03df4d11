//! `-o html`: its output, and the cases in which it is refused. `tests/page` tests the page in a browser.

use std::fs;
use std::process::Stdio;

use rustix::fs::{Mode, OFlags, open};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::{divvy, run};
use crate::artifacts::repository;

#[test]
fn a_page_is_refused_onto_a_terminal_before_anything_is_read() {
    for command in ["schedule", "diff", "headroom", "survive", "policies"] {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("there are terminals");
        grantpt(&terminal)
            .and_then(|()| unlockpt(&terminal))
            .expect("the terminal is ours");
        let name = ptsname(&terminal, Vec::new()).expect("the terminal has a name");
        let end = open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("it can be opened");
        let output = divvy(&[command, "-f", "missing.yaml", "-o", "html"])
            .stdout(Stdio::from(end))
            .stderr(Stdio::piped())
            .output();
        let output = output.expect("the binary can be started");
        assert_eq!(output.status.code(), Some(2), "{command}");
        let expected = format!(
            "error: standard output is a terminal, and `-o html` prints a file for a browser\n  \
             hint: write it to a file: `divvy {command} … -o html > report.html`\n"
        );
        assert_eq!(String::from_utf8_lossy(&output.stderr), expected);
    }
}

#[test]
fn a_page_is_one_file_with_the_verdict_and_the_exit_code_of_the_table() {
    let examples = repository().join("examples/fleet");
    let examples = examples.to_str().expect("the path is UTF-8");
    let cases: [(&[&str], i32); 7] = [
        (&["schedule", "-f", "fleet.yaml", "-f", "unschedulable.yaml"], 1),
        (&["schedule", "-f", "fleet.yaml", "-f", "scheduled.yaml"], 0),
        (&["diff", "-f", "fleet.yaml", "-f", "dump.yaml"], 0),
        (&["diff", "-f", "fleet.yaml", "-f", "dump.yaml", "--drain", "west-1"], 0),
        (
            &["diff", "-f", "fleet.yaml", "-f", "dump.yaml", "--without-each=cluster"],
            1,
        ),
        (&["survive", "-f", "fleet.yaml", "-f", "dump.yaml"], 1),
        (&["policies", "-f", examples], 1),
    ];
    for (arguments, expected) in cases {
        let (table_exit, table, _) = run(arguments);
        let (exit, page, errors) = run(&[arguments, &["-o", "html"]].concat());
        assert_eq!(
            (exit, table_exit),
            (Some(expected), Some(expected)),
            "{arguments:?}: {errors}"
        );
        assert!(
            page.starts_with("<!DOCTYPE html>\n") && page.ends_with("</html>\n"),
            "{arguments:?}"
        );
        let headline = page
            .split_once("</h1>")
            .and_then(|(before, _)| before.rsplit_once("</span> "));
        let headline = headline.map(|(_, headline)| headline).unwrap_or_default();
        let is_said = |line: &str| headline.to_lowercase() == format!("{}.", line.to_lowercase());
        assert!(
            table.lines().any(is_said),
            "{arguments:?}: `{headline}` is not in\n{table}"
        );
    }
}

#[test]
fn the_page_of_the_same_input_is_the_same() {
    let arguments = [
        "diff",
        "-f",
        "fleet.yaml",
        "-f",
        "dump.yaml",
        "--time",
        "2026-03-14T02:00:00Z",
        "-o",
        "html",
    ];
    let (exit, page, errors) = run(&arguments);
    assert_eq!(exit, Some(0), "{errors}");
    assert!(page == run(&arguments).1, "two pages of one input differ");
    assert!(page.contains("2026-03-14 02:00:00 UTC"));
    // Without a time, the one that builds agree on stands for the clock's.
    let page = |input: &str| {
        let mut command = divvy(&["diff", "-f", input, "-f", "dump.yaml", "-o", "html"]);
        let output = command.env("SOURCE_DATE_EPOCH", "1000000000").output();
        String::from_utf8(output.expect("the binary can be started").stdout).expect("a page is UTF-8")
    };
    let first = page("fleet.yaml");
    assert!(first == page("fleet.yaml") && first.contains("2001-09-09 01:46:40 UTC"));
}

/// The text of a figure at the top of a page, and its details; `None` if the page does not have it.
fn figure(page: &str, name: &str) -> Option<(String, String)> {
    let (_, after) = page.split_once(&format!("<dd data-figure=\"{name}\">"))?;
    let (value, after) = after.split_once("</dd>")?;
    let (inside, _) = after.split_once("</div>")?;
    let detail = inside.split_once("<dd class=\"detail\">");
    let detail = detail.and_then(|(_, detail)| detail.split_once("</dd>"));
    Some((
        value.to_owned(),
        detail.map_or_else(String::new, |(text, _)| text.to_owned()),
    ))
}

#[test]
fn costs_have_a_figure_if_the_profile_has_prices() {
    let root = repository();
    let path = |name: &str| root.join(name).display().to_string();
    let (fleet, profile) = (path("examples/fleet"), path("examples/cost/profile.toml"));
    for command in [&["schedule"][..], &["diff", "--drain", "eu-aws-frankfurt"]] {
        let arguments = [command, &["-f", &fleet, "--profile", &profile]].concat();
        let (_, json, _) = run(&[&arguments[..], &["-o", "json"]].concat());
        let document: serde_json::Value = serde_json::from_str(&json).expect("it is JSON");
        let cost: f64 = document["cost"]["after"]["perHour"]
            .as_str()
            .and_then(|text| text.parse().ok())
            .unwrap_or_else(|| panic!("{}", document["cost"]));
        let (_, page, errors) = run(&[&arguments[..], &["-o", "html"]].concat());
        let (value, detail) = figure(&page, "cost").unwrap_or_else(|| panic!("there is no card for cost: {errors}"));
        let shown: f64 = value.trim_start_matches("≥ ").parse().expect("a number");
        assert!((shown - cost).abs() < 0.000_051, "{value} is not {cost}");
        assert!(detail.starts_with("USD per hour"), "{detail}");
        let (_, page, _) = run(&[command, &["-f", &fleet, "-o", "html"]].concat());
        assert_eq!(figure(&page, "cost"), None, "without prices");
    }
}

#[test]
fn every_page_writes_a_number_of_thousands_with_a_separator() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("web.yaml");
    let text = "\
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: web, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment}]
  placement: {clusterAffinity: {clusterNames: [east-1]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, uid: u}
spec: {replicas: 10317}
---
apiVersion: work.karmada.io/v1alpha2
kind: ResourceBinding
metadata:
  name: web-deployment
  namespace: shop
  annotations: {propagationpolicy.karmada.io/namespace: shop, propagationpolicy.karmada.io/name: web}
spec:
  resource: {apiVersion: apps/v1, kind: Deployment, namespace: shop, name: web, uid: u}
  replicas: 10317
  placement: {clusterAffinity: {clusterNames: [east-1]}}
  clusters: [{name: east-1, replicas: 10317}]
";
    fs::write(&file, text).expect("the file can be written");
    let file = file.display().to_string();
    for arguments in [
        &["diff", "--without", "east-1"][..],
        &["diff", "--without-each=cluster"],
    ] {
        let (_, page, errors) = run(&[arguments, &["-f", "fleet.yaml", "-f", &file, "-o", "html"]].concat());
        // What scripts read is packed; everything before the main part is text.
        let (top, _) = page.split_once("<main>").expect("it has a main part");
        let (_, top) = top.split_once("<body>").expect("it has a body");
        assert!(top.contains("10,317"), "{arguments:?}: {errors}{top}");
        assert!(!top.contains("10317"), "{arguments:?}: {top}");
    }
}

#[test]
fn a_result_without_a_page_is_refused() {
    let (exit, stdout, stderr) = run(&["replay", "recording.jsonl", "-o", "html"]);
    assert_eq!((exit, stdout.as_str()), (Some(2), ""));
    assert!(stderr.contains("invalid value 'html'"), "{stderr}");
}
