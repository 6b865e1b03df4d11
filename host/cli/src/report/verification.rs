//! The report of `divvy plugin verify`: a table of checks, or JSON.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use divvy_conformance::check::{Broken, Cost};
use divvy_conformance::supervise::Loaded;
use serde::Serialize;

use super::style;
use super::text::{counted, printable, wrapped};

/// Everything that was checked.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Verification {
    plugin: String,
    version: String,
    sha256: String,
    profile: String,
    seed: u64,
    runs: u64,
    clusters: u64,
    /// The checks, in order.
    #[serde(rename = "checks")]
    pub(crate) rows: Vec<Row>,
}

/// A check with its outcome.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    check: &'static str,
    contract: &'static str,
    passed: bool,
    /// Cases that were decided.
    pub(crate) cases: u64,
    #[serde(rename = "milliseconds", serialize_with = "milliseconds")]
    pub(crate) took: Duration,
    /// Findings whose case is not written yet.
    #[serde(skip)]
    pub(crate) broken: Option<Broken>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    case: Option<FailingCase>,
    /// Cost of the plugin, if it was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cost: Option<Cost>,
    /// Peak memory of the process that measured it, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) peak_bytes: Option<u64>,
}

/// A case in the folder for failures.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FailingCase {
    /// The manifests.
    pub(crate) manifests: PathBuf,
    /// The command that shows the failure.
    pub(crate) command: String,
}

fn milliseconds<S: serde::Serializer>(took: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(took.as_millis()).unwrap_or(u64::MAX))
}

impl Verification {
    /// A verification without results.
    pub(crate) fn new(loaded: &Loaded, seed: u64, runs: u64, clusters: u64) -> Self {
        Self {
            plugin: loaded.name.clone(),
            version: loaded.version.clone(),
            sha256: loaded.sha256.clone(),
            profile: loaded.profile.clone(),
            seed,
            runs,
            clusters,
            rows: Vec::new(),
        }
    }

    /// True if no check failed.
    pub(crate) fn is_passed(&self) -> bool {
        self.rows.iter().all(|row| row.passed)
    }
}

impl Row {
    /// A check that has passed so far.
    pub(crate) fn new(check: &'static str, contract: &'static str) -> Self {
        Self {
            check,
            contract,
            passed: true,
            cases: 0,
            took: Duration::ZERO,
            broken: None,
            message: None,
            case: None,
            cost: None,
            peak_bytes: None,
        }
    }

    /// Records the broken contract and the case that shows it.
    pub(crate) fn fail(&mut self, message: String, case: Option<FailingCase>) {
        self.passed = false;
        self.message = Some(message);
        self.case = case;
    }
}

/// Width of the column of names: that of the longest one.
const NAME: usize = 16;

/// Writes the lines above the table, and its titles.
///
/// # Errors
///
/// The error of `out`. Part of the output may have been written.
pub(crate) fn write_head(verification: &Verification, out: &mut dyn Write) -> io::Result<()> {
    let (bold, faint) = (style::NAME, style::FAINT);
    let Verification {
        plugin,
        version,
        sha256,
        profile,
        seed,
        runs,
        clusters,
        ..
    } = verification;
    writeln!(out, "{bold}{}{bold:#} {}", printable(plugin), printable(version))?;
    writeln!(out, "  {faint}sha256 {sha256}{faint:#}")?;
    writeln!(
        out,
        "  {faint}profile {}, seed {seed}, {runs} random cases per check, up to {clusters} clusters{faint:#}",
        printable(profile)
    )?;
    writeln!(out)?;
    writeln!(
        out,
        "{faint}{:NAME$}  {:6}  {:>6}  {:>7}  CONTRACT{faint:#}",
        "CHECK", "RESULT", "CASES", "TIME"
    )
}

/// Writes the line of a check.
///
/// # Errors
///
/// The error of `out`. Part of the output may have been written.
pub(crate) fn write_row(row: &Row, out: &mut dyn Write) -> io::Result<()> {
    let (word, style) = match row.passed {
        true => ("ok", style::GOOD),
        false => ("FAILED", style::BAD),
    };
    let cases = match row.cases {
        0 => "-".to_owned(),
        cases => cases.to_string(),
    };
    let took = match row.took.is_zero() {
        true => "-".to_owned(),
        false => format!("{:.1} s", row.took.as_secs_f64()),
    };
    let cost = row.cost.map(|cost| described(&cost, row.peak_bytes.unwrap_or(0)));
    let text = cost.as_deref().unwrap_or(row.contract);
    writeln!(
        out,
        "{:NAME$}  {style}{word:6}{style:#}  {cases:>6}  {took:>7}  {text}",
        row.check
    )
}

/// Time and memory in words.
fn described(cost: &Cost, peak_bytes: u64) -> String {
    let took = Duration::from_nanos(cost.nanoseconds);
    let mebibytes = peak_bytes as f64 / f64::from(1 << 20);
    format!(
        "the slowest call takes {took:.1?} with {}; the process needs {mebibytes:.0} MiB, host and fleet included",
        counted(usize::try_from(cost.clusters).unwrap_or(usize::MAX), "cluster")
    )
}

/// Writes the findings and the verdict.
///
/// # Errors
///
/// The error of `out`. Part of the output may have been written.
pub(crate) fn write_end(verification: &Verification, columns: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let failed: Vec<&Row> = verification.rows.iter().filter(|row| !row.passed).collect();
    writeln!(out)?;
    for row in &failed {
        let (bad, faint) = (style::BAD, style::FAINT);
        writeln!(out, "{bad}{}{bad:#}: {}", row.check, row.contract)?;
        let message = row.message.as_deref().unwrap_or_default();
        for line in wrapped(
            &printable(message),
            columns.map(|columns| columns.saturating_sub(4).max(20)),
        ) {
            writeln!(out, "    {line}")?;
        }
        if let Some(case) = &row.case {
            writeln!(out, "    {faint}{}{faint:#}", printable(&case.command))?;
        }
        writeln!(out)?;
    }
    let name = printable(&verification.plugin);
    match failed.len() {
        0 => writeln!(
            out,
            "plugin `{name}` keeps its contracts in all of {}",
            counted(verification.rows.len(), "check")
        ),
        count => writeln!(
            out,
            "plugin `{name}` breaks {} of {}",
            count,
            counted(verification.rows.len(), "check")
        ),
    }
}
