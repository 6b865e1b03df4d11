//! The program that callgrind runs: cycles of one kind, on one fleet after another.
//!
//! The libraries are those that `cargo build --release` puts beside this program, opened by the loader. As in `divvy bench`, cycles alternate
//! between two snapshots that differ in one cluster, so that what plugins make for a snapshot is part of a cycle.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use divvy_isolation::WorkerProgram;
use divvy_loader::PluginDirectories;
use divvy_profile::{Isolation, ProfileSource};
use divvy_recordings::{RecordedFleet, Recording, read_recording};
use divvy_scheduler::cycle::{Cycle, CycleInput};
use divvy_scheduler::fleet::{Fleet, FleetSnapshot};
use divvy_scheduler::plan::{Plan, PlanInput};
use divvy_scheduler::profile::{Profile, registry};

use crate::WORKER;
use crate::cases::{Kind, SIZES, case, fleet};

/// Cycles before those that are counted. Buffers reach their largest size, and what is kept for a snapshot exists.
const WARM_UP: usize = 16;

/// Cycles that are counted in each case, of which the fewest instructions are the count.
pub(crate) const COUNTED: usize = 6;

/// The filter that has a process of its own. Every cycle calls it.
const ISOLATED: &str = "taint-toleration";

/// Runs all cycles of a kind.
pub(crate) fn run(kind: &str, recording: &Path) -> Result<(), String> {
    let kind = Kind::named(kind).ok_or_else(|| format!("there is no kind `{kind}`"))?;
    let recording = read_recording(recording).map_err(|error| error.to_string())?;
    let profile = profile(kind)?;
    for clusters in SIZES {
        run_case(kind, clusters, &recording, &profile)?;
    }
    Ok(())
}

fn run_case(kind: Kind, clusters: usize, recording: &Recording, profile: &Profile) -> Result<(), String> {
    let (fleet, case) = (fleet(clusters), case(clusters));
    let recorded = recording
        .fleets
        .get(&fleet)
        .ok_or_else(|| format!("there is no fleet `{fleet}`"))?;
    let recorded_case = recording.cases.iter().find(|known| known.name == case);
    let recorded_case = recorded_case.ok_or_else(|| format!("there is no case `{case}`"))?;
    let binding = recorded_case.binding();
    let plan = Plan::under(profile, &PlanInput::new(&binding)).map_err(|error| format!("{case}: {error}"))?;
    let snapshots = snapshots(recorded)?;
    let inputs = snapshots
        .each_ref()
        .map(|snapshot| CycleInput::new(profile, snapshot, &plan, &plan.groups[0]));
    let mut cycle = Cycle::new();
    for number in 0..WARM_UP {
        run_cycle(kind, &mut cycle, &inputs[number % 2]).map_err(|error| format!("{case}: {error}"))?;
    }
    for number in 0..COUNTED {
        counted(kind, &mut cycle, &inputs[number % 2]).map_err(|error| format!("{case}: {error}"))?;
    }
    Ok(())
}

/// The function in which callgrind counts, known to it by its name.
#[inline(never)]
fn counted(kind: Kind, cycle: &mut Cycle, input: &CycleInput<'_>) -> Result<(), String> {
    run_cycle(kind, cycle, input)
}

#[inline(always)]
fn run_cycle(kind: Kind, cycle: &mut Cycle, input: &CycleInput<'_>) -> Result<(), String> {
    let targets = match kind {
        Kind::Plain | Kind::Isolated => cycle.run(input, None),
        Kind::Explained => {
            let (targets, explanation) = cycle.run_explained(input, None);
            black_box(explanation);
            targets
        }
    };
    match targets.map(<[_]>::len) {
        Ok(0) => Err("the result is empty".to_owned()),
        Ok(_) => Ok(()),
        Err(error) => Err(error.to_string()),
    }
}

/// Two snapshots of a fleet: as recorded, and with a label of its last cluster changed.
fn snapshots(recorded: &RecordedFleet) -> Result<[FleetSnapshot; 2], String> {
    let mut fleet = Fleet::new(false);
    fleet.extend(&recorded.clusters);
    let snapshot = fleet.snapshot();
    let mut last = recorded.clusters.last().cloned().ok_or("the fleet is empty")?;
    last.metadata
        .labels
        .insert("example.com/round".to_owned(), "odd".to_owned());
    fleet.upsert(&last);
    Ok([snapshot, fleet.snapshot()])
}

/// The built-in profile, in which only the strategy of the cases is loaded: others would not be called.
fn profile(kind: Kind) -> Result<Profile, String> {
    let program = std::env::current_exe().map_err(|error| format!("the path of this program: {error}"))?;
    let directory = program
        .parent()
        .map(Path::to_owned)
        .ok_or("this program is in no folder")?;
    divvy_isolation::set_program(WorkerProgram {
        path: program,
        arguments: vec![WORKER.to_owned()],
        // Under callgrind, everything takes a hundred times as long.
        deadline: Duration::from_secs(300),
    });
    let mut configuration = ProfileSource::built_in()
        .profile(None)
        .map_err(|error| error.to_string())?;
    configuration.assign = Some(vec!["dynamic-weight".to_owned()]);
    let names: Vec<String> = configuration.plugin_names().map(str::to_owned).collect();
    for name in names {
        let isolation = match kind == Kind::Isolated && name == ISOLATED {
            true => Isolation::Process,
            false => Isolation::None,
        };
        configuration.plugin.entry(name).or_default().isolation = Some(isolation);
    }
    registry::build(&configuration, &PluginDirectories::new([directory])).map_err(|errors| {
        let messages: Vec<String> = errors.iter().map(ToString::to_string).collect();
        format!("{}\nbuild the plugins by tests/instructions/count", messages.join("\n"))
    })
}
