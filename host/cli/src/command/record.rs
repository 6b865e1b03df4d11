//! `divvy schedule --record`: writes the decisions of a run to a recording.
//!
//! The recording is written to a temporary file in the same folder and renamed once complete, so that it is never half
//! written.

use std::io::{BufWriter, Write};
use std::path::Path;

use divvy_karmada::api::TargetCluster;
use divvy_manifests::Manifests;
use divvy_scheduler::profile::ProfileConfiguration;
use divvy_scheduler::replay::{Expectation, karmada_kind, recorded_case, recorded_fleet, recorded_header};
use divvy_scheduler::scheduler::{Outcome, Profile};
use flate2::Compression;
use flate2::write::GzEncoder;

use crate::report::console::Console;
use crate::report::entry::{Entry, Report};
use crate::report::errors::{Diagnostic, Failure};

/// Name of the only fleet in a recording: the clusters of the run.
const FLEET: &str = "fleet";

/// Writes a recording of a run.
///
/// Bindings without a decision to compare (skipped, invalid, or failed by a plugin) are left out, and a note reports
/// their number. If the file cannot be written, the run ends with exit code 2 before the result is printed, and an
/// existing recording is kept.
pub(super) fn write(
    file: &Path,
    manifests: &Manifests,
    report: &Report<'_>,
    profile: &Profile,
    configuration: &ProfileConfiguration,
    console: &Console,
) -> Result<(), Failure> {
    let mut lines = vec![
        recorded_header(profile, configuration),
        recorded_fleet(
            FLEET,
            manifests
                .clusters
                .iter()
                .map(|cluster| cluster.object.clone())
                .collect(),
        ),
    ];
    let cases: Vec<String> = report.entries.iter().filter_map(case).collect();
    let left_out = report.entries.len() - cases.len();
    lines.extend(cases);
    store(file, &lines).map_err(|error| {
        let message = format!("recording `{}` cannot be written", file.display());
        Failure::usage(Diagnostic::new(message).with_cause(error.to_string()))
    })?;
    if left_out > 0 {
        console.tell(|out| {
            writeln!(
                out,
                "note: {left_out} of {} bindings are not in the recording: skipped, or not decided by a cycle",
                report.entries.len()
            )
        });
    }
    Ok(())
}

/// The recorded case of a decision; `None` if no cycle decided the binding or a plugin failed in it.
fn case(Entry { binding, decision }: &Entry<'_>) -> Option<String> {
    if decision.plan.is_err() {
        return None;
    }
    let expect = match &decision.outcome {
        Outcome::Scheduled(clusters) => Expectation::Clusters(
            clusters
                .iter()
                .map(|(name, replicas)| TargetCluster {
                    name: name.clone(),
                    replicas: i32::try_from(*replicas).unwrap_or(i32::MAX),
                    ..TargetCluster::default()
                })
                .collect(),
        ),
        Outcome::Failed(error) if !error.is_plugin_fault() => Expectation::Error(karmada_kind(error).to_owned()),
        Outcome::Failed(_) | Outcome::Skipped(_) => return None,
    };
    Some(recorded_case(binding, decision, FLEET, expect))
}

/// Writes all lines or none, gzipped if the file's name ends in `.gz`.
fn store(file: &Path, lines: &[String]) -> std::io::Result<()> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    // In the same folder, since a file cannot be renamed onto another file system.
    let mut beside = tempfile::NamedTempFile::new_in(folder)?;
    let is_gzip = file.extension().is_some_and(|extension| extension == "gz");
    if is_gzip {
        let mut out = GzEncoder::new(BufWriter::new(&mut beside), Compression::default());
        write_lines(lines, &mut out)?;
        out.finish()?.flush()?;
    } else {
        let mut out = BufWriter::new(&mut beside);
        write_lines(lines, &mut out)?;
        out.flush()?;
    }
    // Sync before the rename: after a crash the name must not refer to a file without content.
    beside.as_file().sync_all()?;
    beside.persist(file).map_err(|error| error.error)?;
    Ok(())
}

fn write_lines(lines: &[String], out: &mut dyn Write) -> std::io::Result<()> {
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}
