//! `divvy schedule --record`: what was decided, as a recording.
//!
//! The file is written beside its place and moved there when it is whole, so that a recording is never half one.

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

/// The name that a recording gives the clusters of its run.
const FLEET: &str = "fleet";

/// Writes a recording of a run. Bindings that were skipped, or that make no sense, are left out and counted.
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

/// The case of a decision; none for a binding that no cycle decided.
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
                })
                .collect(),
        ),
        Outcome::Failed(error) if !error.is_plugin_fault() => Expectation::Error(karmada_kind(error).to_owned()),
        Outcome::Failed(_) | Outcome::Skipped(_) => return None,
    };
    Some(recorded_case(binding, decision, FLEET, expect))
}

fn store(file: &Path, lines: &[String]) -> std::io::Result<()> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
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
