//! `divvy schedule --record`: writes the decisions of a run to a recording.
//!
//! A recording in a regular file is written to a file without a name, which gets its name once it is complete: it is never half
//! written, and a run that is ended in the middle leaves nothing behind. Links are followed, and anything else (a pipe, a device)
//! is opened and written directly.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_manifests::Manifests;
use divvy_profile::ProfileConfiguration;
use divvy_recordings::{
    Expectation, UnwritableRecord, karmada_kind, recorded_case, recorded_fleet, recorded_header, recorded_tables,
};
use divvy_scheduler::decision::Outcome;
use divvy_scheduler::profile::Profile;
use flate2::Compression;
use flate2::write::GzEncoder;
use rustix::fs::{AtFlags, CWD, Mode, OFlags};
use tempfile::TempPath;

use crate::report::clusters::names::Names;
use crate::report::entry::{Entry, Report};

/// Name of the only fleet in a recording: the clusters of the run.
const FLEET: &str = "fleet";

/// Refuses to record to a file that was read: the recording would replace it. Links are followed.
pub(super) fn check_target(file: &Path, read: impl Iterator<Item = PathBuf>) -> Result<(), Failure> {
    if is_standard_output(file) {
        return Ok(());
    }
    let identity = |path: &Path| {
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        Some((metadata.dev(), metadata.ino()))
    };
    let Some(target) = identity(file) else {
        return Ok(());
    };
    let mut read = read;
    match read.find(|path| identity(path) == Some(target)) {
        None => Ok(()),
        Some(path) => {
            let message = format!(
                "`--record {}` would replace `{}`, which was read",
                file.display(),
                path.display()
            );
            Err(Failure::usage(
                Diagnostic::new(message).with_hint("name another file for the recording"),
            ))
        }
    }
}

/// Writes a recording of a run. Returns the file that it replaced, if there was one.
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
) -> Result<Option<PathBuf>, Failure> {
    let clusters = manifests.clusters.iter().map(|cluster| cluster.object.clone());
    let fleet = recorded_fleet(FLEET, clusters.collect()).map_err(unwritable)?;
    let mut lines = vec![recorded_header(profile, configuration).map_err(unwritable)?, fleet];
    lines.extend(recorded_tables(profile).map_err(unwritable)?);
    let cases = report.entries.iter().filter_map(|entry| case(entry, &report.names));
    let cases: Vec<String> = cases.collect::<Result<_, _>>().map_err(unwritable)?;
    let left_out = report.entries.len() - cases.len();
    lines.extend(cases);
    let mut replaced = None;
    if is_standard_output(file) {
        console.print(|out| write_lines(&lines, out, false))?;
    } else {
        replaced = store(file, &lines).map_err(|error| {
            let message = format!("recording `{}` cannot be written", file.display());
            Failure::usage(Diagnostic::new(message).with_cause(error.to_string()))
        })?;
    }
    if left_out > 0 {
        let all = report.entries.len();
        let reason = "skipped, or not decided by a cycle";
        console.message(|out| {
            writeln!(
                out,
                "note: {left_out} of {all} bindings are not in the recording: {reason}"
            )
        });
    }
    Ok(replaced)
}

/// A record that cannot be written, although it was read or decided: a defect, exit code 3.
fn unwritable(error: UnwritableRecord) -> Failure {
    Failure::internal(Diagnostic::new(error.to_string()).with_causes_of(&error))
}

/// True if a recording goes to standard output. The system's names for it are included, because plugins print to descriptor 1.
pub(super) fn is_standard_output(file: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"]
        .map(Path::new)
        .contains(&file)
}

/// The recorded case of a decision; `None` if no cycle decided the binding, or a plugin or Divvy failed in it.
fn case(entry: &Entry<'_>, names: &Names<'_>) -> Option<Result<String, UnwritableRecord>> {
    let Entry { binding, decision, .. } = entry;
    if decision.plan.is_err() {
        return None;
    }
    let expect = match &decision.outcome {
        Outcome::Scheduled(_) => Expectation::from_counts(entry.clusters(names)),
        Outcome::Failed(error) if !error.is_plugin_fault() && !error.is_defect() => {
            Expectation::Error(karmada_kind(error).to_owned())
        }
        Outcome::Failed(_) | Outcome::Skipped(_) => return None,
    };
    Some(recorded_case(binding, decision, FLEET, expect))
}

/// Folder of the descriptors of this process.
const DESCRIPTORS: &str = "/proc/self/fd";

/// Permissions of a new file, from which the system takes the umask.
const MODE: u32 = 0o666;

/// Maximum number of links that are followed, as in Linux.
const LINKS_MAX: usize = 40;

/// Writes all lines, gzipped if the file's name ends in `.gz`: all or none to a regular file. Returns the file that they replace.
fn store(file: &Path, lines: &[String]) -> io::Result<Option<PathBuf>> {
    let is_gzip = file.extension().is_some_and(|extension| extension == "gz");
    let file = target(file)?;
    let existing = fs::metadata(&file).ok();
    if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
        write_lines(lines, File::options().write(true).open(&file)?, is_gzip)?;
        return Ok(None);
    }
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let fill = |beside: &File| {
        if let Some(existing) = &existing {
            beside.set_permissions(existing.permissions())?;
        }
        write_lines(lines, beside, is_gzip)?;
        // Sync before the rename: after a crash the name must not refer to a file without content.
        beside.sync_all()
    };
    // In the same folder, since a file cannot be renamed onto another file system.
    let beside = match unnamed(folder) {
        Some(unnamed) => {
            fill(&unnamed)?;
            named(&unnamed, folder)?
        }
        None => {
            let permissions = Permissions::from_mode(MODE);
            let temporary = tempfile::Builder::new().permissions(permissions).tempfile_in(folder)?;
            fill(temporary.as_file())?;
            temporary.into_temp_path()
        }
    };
    beside.persist(&file).map_err(|error| error.error)?;
    Ok(existing.map(|_| file))
}

/// A file without a name on the file system of a folder; `None` if that has no such files.
fn unnamed(folder: &Path) -> Option<File> {
    // Only through this folder can the file be given a name.
    if !Path::new(DESCRIPTORS).is_dir() {
        return None;
    }
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let descriptor = rustix::fs::open(folder, flags, Mode::from_raw_mode(MODE)).ok()?;
    Some(File::from(descriptor))
}

/// Gives a file without a name a temporary one. A name cannot take the place of another one at once; a rename can.
fn named(file: &File, folder: &Path) -> io::Result<TempPath> {
    let own = format!("{DESCRIPTORS}/{}", file.as_raw_fd());
    let link = |path: &Path| Ok(rustix::fs::linkat(CWD, &own, CWD, path, AtFlags::SYMLINK_FOLLOW)?);
    Ok(tempfile::Builder::new().make_in(folder, link)?.into_temp_path())
}

/// The file that a path leads to, which need not exist yet.
fn target(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(link) = fs::read_link(&path) else {
            return Ok(path);
        };
        path = path.parent().unwrap_or(Path::new("")).join(link);
    }
    Err(io::Error::other("too many symbolic links"))
}

fn write_lines<W: Write>(lines: &[String], out: W, is_gzip: bool) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    if is_gzip {
        let mut packed = GzEncoder::new(&mut out, Compression::default());
        lines.iter().try_for_each(|line| writeln!(packed, "{line}"))?;
        packed.finish()?;
    } else {
        lines.iter().try_for_each(|line| writeln!(out, "{line}"))?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// SIGINT in the middle of a recording left a temporary file beside it.
    #[test]
    fn a_file_has_no_name_until_it_is_complete() {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let names = || fs::read_dir(folder.path()).expect("it is a folder").count();
        let mut file = unnamed(folder.path()).expect("the system has such files");
        file.write_all(b"all of it").expect("it can be written");
        assert_eq!(names(), 0);
        let target = folder.path().join("recording.jsonl");
        fs::write(&target, "old").expect("the file can be written");
        let beside = named(&file, folder.path()).expect("it can be named");
        beside.persist(&target).expect("it can be renamed");
        assert_eq!(
            (fs::read_to_string(&target).ok().as_deref(), names()),
            (Some("all of it"), 1)
        );
    }
}
