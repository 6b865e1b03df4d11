//! Cost of a plugin in a process of its own.
//!
//! `cargo build --release && cargo bench -p divvy-scheduler --bench isolated`. Everything is measured in interleaved rounds, so that
//! ratios hold on a noisy machine:
//!
//! - *round trip*: two processes that wake each other by a futex in shared memory and do nothing else: what no call can beat.
//! - *filter*: a call of an isolated filter, with 100 and with 1,000 clusters, beside the same call in this process.
//! - *cycle*: a whole cycle with every plugin isolated, beside one with none.
//! - *restart*: starting a worker until its library is open, beside `divvy --version`.
//!
//! How long it takes to wake a process depends on where it runs: on the same processor, it takes its turn at once; another one must be woken
//! from its sleep, which takes ten times as long on a virtual machine. The system moves processes as it likes, so each figure is measured
//! with both sides on one processor, and with each side on its own.

mod stages;
mod support;

use std::fs::File;
use std::hint::black_box;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use divvy_framework_abi::call::FilterCall;
use divvy_framework_abi::{Pointer, SliceMut};
use divvy_framework_memory::{Access, map_at};
use divvy_isolation::WorkerProgram;
use divvy_profile::Isolation;
use divvy_recordings::Recording;
use divvy_scheduler::cycle::{Cycle, CycleInput};
use divvy_scheduler::profile::Profile;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::thread::{CpuSet, futex, sched_getaffinity, sched_setaffinity};

use stages::Stages;

/// Filter whose calls are measured.
const FILTER: &str = "taint-toleration";
/// Interleaved rounds.
const ROUNDS: usize = 41;
/// Calls of each round.
const CALLS: u32 = 200;
/// Address at which both processes of a bare round trip map their memory.
const ADDRESS: usize = 0x5000_0000_0000;
const BYTES: usize = 1 << 16;
/// Arguments with which this program is one of the other processes.
const ECHO: &str = "echo";
const WORKER: &str = "plugin-worker";

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some(ECHO) => echo(),
        Some(WORKER) => divvy_isolation::worker::run().expect("the host is there"),
        _ => measure(),
    }
}

/// The word that two processes pass to and fro: whose turn it is.
struct Turn(&'static AtomicU32);

const OURS: u32 = 0;
const THEIRS: u32 = 1;
const END: u32 = 2;

impl Turn {
    /// The word at the beginning of a file, which is mapped behind those with a smaller number.
    fn in_memory(file: impl AsFd, number: usize) -> Self {
        let file: OwnedFd = file.as_fd().try_clone_to_owned().expect("a descriptor");
        let address = ADDRESS + number * BYTES;
        map_at(&file, address, BYTES, Access::Write).expect("the address is free");
        // SAFETY: the memory is mapped for as long as the process lives, and every value of the word is valid.
        Self(unsafe { &*(address as *const AtomicU32) })
    }

    fn give(&self, turn: u32) {
        self.0.store(turn, Ordering::SeqCst);
        futex::wake(self.0, futex::Flags::empty(), 1).expect("a futex");
    }

    fn wait_while(&self, turn: u32) -> u32 {
        loop {
            let now = self.0.load(Ordering::Acquire);
            if now != turn {
                return now;
            }
            // The value may have changed already.
            let _woken = futex::wait(self.0, futex::Flags::empty(), turn, None);
        }
    }
}

/// The other process of a bare round trip.
fn echo() {
    let turn = Turn::in_memory(std::io::stdin(), 0);
    while turn.wait_while(OURS) == THEIRS {
        turn.give(OURS);
    }
}

/// A process that answers bare round trips.
struct Echo(Turn, Child);

impl Echo {
    fn start(number: usize) -> Self {
        let file = File::from(memfd_create("round-trip", MemfdFlags::CLOEXEC).expect("a file in memory"));
        ftruncate(&file, BYTES as u64).expect("memory");
        let child = Command::new(std::env::current_exe().expect("a path"))
            .arg(ECHO)
            .stdin(Stdio::from(file.try_clone().expect("a descriptor")))
            .spawn()
            .expect("this program");
        Self(Turn::in_memory(&file, number), child)
    }

    fn round_trip(&self) {
        self.0.give(THEIRS);
        self.0.wait_while(THEIRS);
    }
}

impl Drop for Echo {
    fn drop(&mut self) {
        self.0.give(END);
        self.1.wait().expect("it ends");
    }
}

fn measure() {
    divvy_isolation::set_program(WorkerProgram {
        path: std::env::current_exe().expect("a path"),
        arguments: vec![WORKER.to_owned()],
        deadline: Duration::from_secs(10),
    });
    let recording = support::recording();
    let own = support::profile();
    let all = sched_getaffinity(None).expect("the processors of this process");
    let usable: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|number| all.is_set(*number)).collect();
    for (name, theirs) in [("one processor", 0), ("two processors", 1)] {
        let (Some(ours), Some(theirs)) = (usable.first(), usable.get(theirs)) else {
            println!("{name}: there are no two");
            continue;
        };
        // What is started from here on, the workers of the profile included, stays where this process is now.
        stay_on(&[*theirs]);
        let isolated = support::profile_of(|_| Isolation::Process);
        let echo = Echo::start(*theirs);
        stay_on(&[*ours]);
        for clusters in [100, 1000] {
            println!("{clusters} clusters on {name}, medians of {ROUNDS} rounds of {CALLS}");
            Calls::new(&recording, clusters, &own, &isolated).print(&echo);
        }
    }
    stay_on(&usable);
    restart();
}

/// Keeps this thread, and what it starts, on these processors.
fn stay_on(processors: &[usize]) {
    let mut set = CpuSet::new();
    for number in processors {
        set.set(*number);
    }
    sched_setaffinity(None, &set).expect("a processor of this process");
}

/// A filter in this process and in a worker, and whole cycles of both profiles.
struct Calls<'a> {
    recording: &'a Recording,
    clusters: usize,
    profiles: [&'a Profile; 2],
}

impl<'a> Calls<'a> {
    fn new(recording: &'a Recording, clusters: usize, own: &'a Profile, isolated: &'a Profile) -> Self {
        Self {
            recording,
            clusters,
            profiles: [own, isolated],
        }
    }

    fn print(&self, echo: &Echo) {
        let clusters = self.clusters;
        let (fleet, case) = (format!("n{clusters}-api1"), format!("n{clusters}-api1-dynamic"));
        let snapshot = support::snapshot(self.recording, &fleet);
        let case = self.recording.cases.iter().find(|known| known.name == case);
        let plan = support::plan(self.profiles[0], case.expect("the recording has the case"));
        let stages = Stages::new(self.profiles[0], &snapshot, &plan);
        let view = stages.view();
        let mut codes = vec![0; snapshot.len()];
        let mut cycle = Cycle::new();
        let mut figures: [Vec<f64>; 5] = Default::default();
        for _ in 0..ROUNDS {
            figures[0].push(timed(CALLS, || echo.round_trip()));
            for (number, profile) in self.profiles.iter().enumerate() {
                let filter = profile.filters().find(|filter| filter.name() == FILTER);
                let filter = filter.expect("the profile has the filter");
                figures[1 + number].push(timed(CALLS, || {
                    codes.fill(0);
                    let mut call = FilterCall {
                        cycle: Pointer::new(&view),
                        codes: SliceMut::new(&mut codes),
                        code: 2,
                        ..FilterCall::DEFAULT
                    };
                    filter.filter(&mut call, None).expect("the filter answers");
                }));
                let input = CycleInput::new(profile, &snapshot, &plan, &plan.groups[0]);
                figures[3 + number].push(timed(CALLS, || {
                    black_box(cycle.run(&input, None).map(<[_]>::len)).expect("the cycle succeeds");
                }));
            }
        }
        let ratio = median(
            figures[2]
                .iter()
                .zip(&figures[0])
                .map(|(call, bare)| call / bare)
                .collect(),
        );
        let [bare, own, isolated, own_cycle, isolated_cycle] = figures.map(median);
        println!("  bare round trip           {bare:>8.2} µs");
        println!("  filter in this process    {own:>8.2} µs");
        println!("  filter in a worker        {isolated:>8.2} µs, {ratio:.2} bare round trips");
        println!("  cycle, no plugin isolated {own_cycle:>8.2} µs");
        println!("  cycle, all isolated       {isolated_cycle:>8.2} µs");
    }
}

/// A worker from nothing until it has opened its library and constructed the plugin, beside the program's own start.
fn restart() {
    let divvy = support::plugin_directory().join("divvy");
    let (mut starts, mut versions) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let without = timed(1, || _ = black_box(support::profile()));
        let with_one = timed(1, || {
            black_box(support::profile_of(|name| match name {
                FILTER => Isolation::Process,
                _ => Isolation::None,
            }));
        });
        starts.push(with_one - without);
        versions.push(timed(1, || {
            let output = Command::new(&divvy).arg("--version").output();
            assert!(output.expect("divvy is built").status.success());
        }));
    }
    let ratio = median(
        starts
            .iter()
            .zip(&versions)
            .map(|(start, version)| start / version)
            .collect(),
    );
    println!(
        "a worker's start and end {:.2} ms, `divvy --version` {:.2} ms: {ratio:.2}",
        median(starts) / 1e3,
        median(versions) / 1e3
    );
}

/// Mean time of one run of `work`, in microseconds.
fn timed(runs: u32, mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..runs {
        work();
    }
    start.elapsed().as_secs_f64() * 1e6 / f64::from(runs)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
