//! A host that only replays: `frozen-host FOLDER RECORDING` decides the cases of a recording again with the plugins of a folder.
//!
//! A build of it is kept for years beside plugins of the same age, so it has no options, prints what its test compares, and does
//! not change. Each case is one line of JSON on standard output: its name and its decision. The exit code is 0 if every decision is
//! the recorded one, 1 if one differs, and 2 if the profile, a plugin or the recording cannot be used.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use divvy_loader::PluginDirectories;
use divvy_profile::ProfileSource;
use divvy_recordings::{CaseRunner, Recording, compare, read_recording};
use divvy_scheduler::fleet::Fleet;
use divvy_scheduler::profile::{Profile, registry};
use serde_json::json;

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [folder, file] = arguments.as_slice() else {
        eprintln!("usage: frozen-host FOLDER RECORDING");
        return ExitCode::from(2);
    };
    match replay(folder, file) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(differing) => {
            eprintln!("{differing} decisions differ from the recorded ones");
            ExitCode::from(1)
        }
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Number of decisions that differ from the recorded ones.
fn replay(folder: &Path, file: &Path) -> Result<usize, String> {
    let recording = read_recording(file).map_err(|error| error.to_string())?;
    let profile = Arc::new(profile(folder, file, &recording)?);
    let keeps_raw = profile.needs_raw_clusters();
    let fleets: BTreeMap<&str, _> = recording
        .fleets
        .iter()
        .map(|(name, recorded)| {
            let mut fleet = Fleet::new(keeps_raw);
            fleet.extend(&recorded.clusters);
            (name.as_str(), fleet.snapshot())
        })
        .collect();
    let mut runner = CaseRunner::new(profile).with_tables(&recording.tables);
    let mut differing = 0;
    for case in &recording.cases {
        let fleet = fleets.get(case.fleet.as_str());
        let fleet = fleet.ok_or_else(|| format!("case `{}`: no fleet `{}`", case.name, case.fleet))?;
        let prepared = runner.prepare(case);
        let decided = runner.try_decide(&prepared, fleet).map_err(|error| error.to_string())?;
        println!("{}", json!({ "case": case.name, "decision": decided.0 }));
        if let Some(expected) = &case.expect
            && compare(expected, decided).is_err()
        {
            differing += 1;
        }
    }
    Ok(differing)
}

/// The recorded profile with the plugins of a folder.
fn profile(folder: &Path, file: &Path, recording: &Recording) -> Result<Profile, String> {
    let header = recording.header.as_ref().ok_or("the recording has no profile")?;
    let source = ProfileSource::parse(file.to_owned(), &header.profile);
    let configuration = source
        .profile(Some(&header.profile_name))
        .map_err(|error| error.to_string())?;
    let directories = PluginDirectories::new([folder.to_owned()]);
    registry::build_without_tables(&configuration, &directories).map_err(|errors| {
        let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
        messages.join("\n")
    })
}
