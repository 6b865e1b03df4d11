//! Lives of a control plane under virtual time: the real engine, queue, store, holdings, writer, lease and loss guard against a
//! simulated API server, the rest of Karmada, and member clusters.
//!
//! - [`script`]: the events of a life, from a seed.
//! - [`world`]: the world of `tests/world`, with the real scheduler in it.
//! - [`rules`]: the rules that must hold, checked with the help of offline decisions ([`oracle`]).
//! - [`life`], [`story`], [`shrink`]: a life, its story, and the shortest one that fails in the same way.

mod error;
mod life;
mod oracle;
mod planted;
mod plugins;
mod profiles;
mod rules;
mod script;
mod shrink;
mod story;
mod world;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Error;
use crate::life::live;
use crate::profiles::Profiles;
use crate::rules::Rule;
use crate::script::Script;

/// Lives of a control plane under virtual time.
#[derive(Debug, Parser)]
#[command(name = "divvy-simulation")]
struct Arguments {
    /// Folder of the bundled plugins; built if it is not given
    #[arg(long, global = true)]
    plugins: Option<PathBuf>,
    /// Steps of each life's script
    #[arg(long, global = true, default_value_t = 150)]
    events: usize,
    #[command(subcommand)]
    command: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Lives many seeds, and lists those that fail
    Seeds {
        /// Number of seeds
        count: u64,
        /// First seed
        #[arg(long, default_value_t = 0)]
        first: u64,
        /// From one seed to the next: 3, with a first seed of 2, lives only those with moves
        #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1_000))]
        step: u64,
        /// Ends with the first seed that breaks this rule
        #[arg(long, value_parser = parse_rule)]
        until_breach: Option<Rule>,
    },
    /// Prints the story of a seed
    Replay {
        /// The seed
        seed: u64,
    },
    /// Shrinks a seed that fails to the fewest events, and prints their story
    Shrink {
        /// The seed
        seed: u64,
    },
    /// Builds the bundled plugins, and prints their folder
    Plugins,
    /// Plants bugs, and looks for each; writes their rows of the table of the README
    Planted {
        /// Names of bugs; all if there are none
        names: Vec<String>,
        /// Seeds in which each must be found
        #[arg(long, default_value_t = 2_000)]
        seeds: u64,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<(), Error> {
    let plugins = match &arguments.plugins {
        Some(folder) => folder.clone(),
        None => plugins::build()?,
    };
    if let Task::Planted { names, seeds } = &arguments.command {
        return planted(names, *seeds, arguments.events, &plugins);
    }
    if matches!(arguments.command, Task::Plugins) {
        println!("{}", plugins.display());
        return Ok(());
    }
    let profiles = Profiles::load(&plugins)?;
    let events = arguments.events;
    match arguments.command {
        Task::Seeds {
            count,
            first,
            step,
            until_breach,
        } => {
            let wanted = (0..count).map(|number| first.saturating_add(number.saturating_mul(step)));
            seeds(wanted, events, until_breach, &profiles)
        }
        Task::Replay { seed } => replay(&Script::of_seed(seed, events), &profiles),
        Task::Shrink { seed } => {
            let script = Script::of_seed(seed, events);
            let shrunk = shrink::shrink(&script, &profiles)?;
            println!("{} of {} events are enough", shrunk.steps.len(), script.steps.len());
            replay(&shrunk, &profiles)
        }
        Task::Planted { .. } | Task::Plugins => Ok(()),
    }
}

/// Looks for planted bugs, and fails if one of them breaks its rule in none of the seeds.
fn planted(names: &[String], seeds: u64, events: usize, plugins: &Path) -> Result<(), Error> {
    if let Some(unknown) = names.iter().find(|name| planted::bugs().all(|bug| bug.name != **name)) {
        return Err(Error::Broken(format!("no planted bug is named `{unknown}`")));
    }
    let chosen = planted::bugs().filter(|bug| names.is_empty() || names.iter().any(|name| name == bug.name));
    let mut failed = Vec::new();
    for bug in chosen {
        let finding = match planted::look_for(bug, seeds, events, plugins) {
            Ok(finding) => finding,
            // The others are looked for all the same: all of them take an hour.
            Err(error) => {
                println!("{}: {error}", bug.name);
                failed.push(bug.name);
                continue;
            }
        };
        match &finding.found {
            Some((seed, text)) => println!("{} (rule {}): seed {seed}: {text}", bug.name, bug.rule),
            None => println!("{} (rule {}): not found, first {:?}", bug.name, bug.rule, finding.first),
        }
        if finding.found.is_none() {
            failed.push(bug.name);
        }
        // A run that is ended before it has looked for all leaves what it found.
        planted::write_row(&finding)?;
    }
    match failed.is_empty() {
        true => Ok(()),
        false => Err(Error::Broken(format!("not found or not built: {}", failed.join(", ")))),
    }
}

/// Lives seeds, and fails if one of them breaks a rule.
fn seeds(
    seeds: impl Iterator<Item = u64>,
    events: usize,
    until_breach: Option<Rule>,
    profiles: &Profiles,
) -> Result<(), Error> {
    let started = processor_seconds();
    let (mut lives, mut happened, mut broken, mut digest) = (0_u64, 0_u64, Vec::new(), 0_u64);
    let (mut decisions, mut takings, mut overcommitted) = (0_u64, 0_u64, 0_u64);
    let (mut evictions, mut steps, mut targets, mut bursts) = (0_u64, 0_u64, 0_u64, 0_u64);
    for seed in seeds {
        let life = live(&Script::of_seed(seed, events), profiles, false)?;
        lives += 1;
        happened += life.events;
        decisions += life.decisions.0;
        takings += life.decisions.1;
        overcommitted += life.overcommitted;
        evictions += life.evictions;
        steps += life.steps;
        targets += life.targets;
        bursts += life.bursts;
        digest = digest.rotate_left(5) ^ life.digest;
        if let Some(verdict) = life.verdict {
            println!("seed {seed}: {verdict}");
            broken.push(seed);
            if until_breach == Some(verdict.rule) {
                break;
            }
        }
    }
    let seconds = processor_seconds() - started;
    println!(
        "{lives} lives of {events} steps, {happened} events, {decisions} results written ({takings} took replicas away, \
         {overcommitted} overcommitted a cluster with foreign pods or wrong reports), {evictions} evictions replaced, {steps} steps of moves, {targets} targets of plans, \
         {bursts} bursts as one plan, digest {digest:016x}: {seconds:.1} s of processor time, {:.0} events per second",
        happened as f64 / seconds.max(0.001)
    );
    match broken.is_empty() {
        true => Ok(()),
        false => Err(Error::Broken(format!("{} of {lives} seeds break a rule", broken.len()))),
    }
}

/// Reads the letter of a rule.
fn parse_rule(letter: &str) -> Result<Rule, String> {
    let found = Rule::ALL.into_iter().find(|rule| rule.to_string() == letter);
    found.ok_or_else(|| format!("no rule is named `{letter}`; the rules are a to h"))
}

/// Prints the story of a script.
fn replay(script: &Script, profiles: &Profiles) -> Result<(), Error> {
    let life = live(script, profiles, true)?;
    let setup = &script.setup;
    println!(
        "seed {}, profile {}, {} clusters, {} processes, {} writes at a time{}{}",
        setup.seed,
        setup.profile,
        setup.clusters.len(),
        setup.processes,
        setup.concurrency,
        if setup.is_closed { ", all pods ours" } else { "" },
        if setup.asks_estimators { ", with estimators" } else { "" },
    );
    for line in &life.story {
        println!("{line}");
    }
    println!("digest {:016x}", life.digest);
    match life.verdict {
        None => Ok(()),
        Some(verdict) => Err(Error::Broken(verdict.to_string())),
    }
}

/// Processor time of this process.
fn processor_seconds() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
