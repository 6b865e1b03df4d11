//! Shared by the benches: Karmada's cases, its profile, and the real libraries of the bundled plugins.

use std::path::{Path, PathBuf};

use divvy_loader::PluginDirectories;
use divvy_profile::{BuiltIn, Isolation, ProfileSource};
use divvy_recordings::{Case, Recording, read_recording};
use divvy_scheduler::fleet::{Fleet, FleetSnapshot};
use divvy_scheduler::plan::{Plan, PlanInput};
use divvy_scheduler::profile::{Profile, registry};

/// The folder of the repository.
fn repository() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(3)
        .expect("the crate is three folders below the repository")
}

/// Folder in which `cargo build --release` puts the plugins: the parent of this bench's folder.
pub(crate) fn plugin_directory() -> PathBuf {
    let bench = std::env::current_exe().expect("this process has a path");
    let folders = bench.ancestors().nth(2).expect("a bench lies in `deps`");
    folders.to_owned()
}

/// The profile that promises parity with Karmada, with its plugins loaded.
///
/// # Panics
///
/// If the plugins are not built, with the loader's messages.
pub(crate) fn profile() -> Profile {
    profile_of(|_| Isolation::None)
}

/// The same profile, with each plugin in the process that `isolation` says.
pub(crate) fn profile_of(isolation: impl Fn(&str) -> Isolation) -> Profile {
    let built_in = BuiltIn::named("karmada").expect("the profile is built in");
    let mut configuration = ProfileSource::from_built_in(built_in)
        .profile(None)
        .unwrap_or_else(|error| panic!("{error}"));
    let names: Vec<String> = configuration.plugin_names().map(str::to_owned).collect();
    for name in names {
        let isolation = isolation(&name);
        configuration.plugin.entry(name).or_default().isolation = Some(isolation);
    }
    registry::build(&configuration, &PluginDirectories::new([plugin_directory()])).unwrap_or_else(|errors| {
        let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
        panic!(
            "{}\nbuild the plugins first: cargo build --release",
            messages.join("\n")
        )
    })
}

/// The fleets and cases on which Karmada's own scheduler was timed.
///
/// # Panics
///
/// If the recording cannot be read.
pub(crate) fn recording() -> Recording {
    let file = repository().join("tests/conformance/bench.jsonl.gz");
    read_recording(&file).unwrap_or_else(|error| panic!("{error}"))
}

/// The snapshot of a case's fleet.
pub(crate) fn snapshot(recording: &Recording, fleet: &str) -> FleetSnapshot {
    let mut store = Fleet::new(false);
    store.extend(&recording.fleets[fleet].clusters);
    store.snapshot()
}

/// The plan of a case's binding.
///
/// # Panics
///
/// If the binding is invalid.
pub(crate) fn plan(profile: &Profile, case: &Case) -> Plan {
    let plan = Plan::under(profile, &PlanInput::new(&case.binding()));
    plan.unwrap_or_else(|error| panic!("{error}"))
}
