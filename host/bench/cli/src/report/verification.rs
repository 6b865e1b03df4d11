//! The report of `divvy plugin verify`: a table of checks, or JSON.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Duration;

use divvy_command::style;
use divvy_command::text::{counted, printable, wrapped};
use divvy_conformance::check::{Broken, Cost};
use divvy_conformance::supervise::Loaded;
use serde::Serialize;

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
    /// Names of the checks that were not made, because calls take too long.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) unmade: Vec<&'static str>,
}

/// A check with its outcome.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    check: &'static str,
    contract: &'static str,
    passed: bool,
    /// Cases that were tried.
    pub(crate) cases: u64,
    /// Cases that show something about the contract.
    pub(crate) decided: u64,
    #[serde(rename = "milliseconds", serialize_with = "milliseconds")]
    pub(crate) took: Duration,
    /// Findings whose case is not written yet.
    #[serde(skip)]
    pub(crate) broken: Option<Broken>,
    /// The reason why the system does not let the check be made.
    #[serde(skip_serializing_if = "Option::is_none")]
    impossible: Option<String>,
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
            unmade: Vec::new(),
        }
    }

    /// True if every check was made.
    pub(crate) fn is_complete(&self) -> bool {
        self.unmade.is_empty() && self.rows.iter().all(|row| row.impossible.is_none())
    }

    /// True if no check that was made failed.
    pub(crate) fn is_passed(&self) -> bool {
        self.rows.iter().all(|row| row.passed || row.impossible.is_some())
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
            decided: 0,
            took: Duration::ZERO,
            broken: None,
            impossible: None,
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

    /// Records the reason why the system does not let the check be made.
    pub(crate) fn skip(&mut self, reason: String) {
        self.passed = false;
        self.impossible = Some(reason);
    }

    /// True if the calls that were timed take longer.
    pub(crate) fn is_slower_than(&self, limit: Duration) -> bool {
        self.cost.as_ref().is_some_and(|cost| cost.slowest() > limit)
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
        "{faint}{:NAME$}  {:7}  {:>6}  {:>7}  {:>7}  CONTRACT{faint:#}",
        "CHECK", "RESULT", "CASES", "DECIDED", "TIME"
    )
}

/// Writes the line of a check.
///
/// # Errors
///
/// The error of `out`. Part of the output may have been written.
pub(crate) fn write_row(row: &Row, out: &mut dyn Write) -> io::Result<()> {
    let (word, style) = match (row.passed, &row.impossible) {
        (_, Some(_)) => ("skipped", style::NOTABLE),
        (true, None) => ("ok", style::GOOD),
        (false, None) => ("FAILED", style::BAD),
    };
    let [cases, decided] = match row.cases {
        0 => ["-".to_owned(), "-".to_owned()],
        cases => [cases.to_string(), row.decided.to_string()],
    };
    let took = match row.took.is_zero() {
        true => "-".to_owned(),
        false => format!("{:.1} s", row.took.as_secs_f64()),
    };
    let cost = row.cost.as_ref();
    let cost = cost.map(|cost| described(cost, row.peak_bytes.unwrap_or(0)));
    let text = cost.as_deref().unwrap_or(row.contract);
    writeln!(
        out,
        "{:NAME$}  {style}{word:7}{style:#}  {cases:>6}  {decided:>7}  {took:>7}  {text}",
        row.check
    )
}

/// Time and memory in words.
fn described(cost: &Cost, peak_bytes: u64) -> String {
    let mebibytes = peak_bytes as f64 / f64::from(1 << 20);
    format!(
        "{}; the process needs {mebibytes:.0} MiB, host and fleet included",
        times(cost)
    )
}

/// The times of a cost in words.
fn times(cost: &Cost) -> String {
    let [fastest, percentile] = [cost.nanoseconds, cost.percentile99_nanoseconds].map(Duration::from_nanos);
    let clusters = counted(usize::try_from(cost.clusters).unwrap_or(usize::MAX), "cluster");
    let call = match cost.call.as_str() {
        "" => "a call",
        call => call,
    };
    format!("{call} takes {fastest:.1?} with {clusters}, and 99 of 100 calls on small cases {percentile:.1?} at most")
}

/// The message that calls take longer than they may.
pub(crate) fn too_slow(cost: &Cost, limit: Duration) -> String {
    format!("{}; the limit is {limit:?}", times(cost))
}

/// Writes the findings and the verdict.
///
/// # Errors
///
/// The error of `out`. Part of the output may have been written.
pub(crate) fn write_end(verification: &Verification, columns: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let (impossible, made): (Vec<&Row>, Vec<&Row>) = verification.rows.iter().partition(|row| row.impossible.is_some());
    let failed: Vec<&Row> = made.iter().copied().filter(|row| !row.passed).collect();
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
    for row in impossible {
        let reason = row.impossible.as_deref().unwrap_or_default();
        writeln!(out, "{}: cannot be checked here: {}", row.check, printable(reason))?;
    }
    if !verification.unmade.is_empty() {
        let unmade = counted(verification.unmade.len(), "further check");
        writeln!(
            out,
            "{unmade} not made, because calls take too long; a higher `--max-time` makes them"
        )?;
    }
    let name = printable(&verification.plugin);
    let made = counted(made.len(), "check");
    match failed.len() {
        0 => writeln!(out, "plugin `{name}` keeps its contracts in all of {made}"),
        count => writeln!(out, "plugin `{name}` breaks {count} of {made}"),
    }
}
