//! `divvy plugin verify`: checks a built plugin against the contracts of its extension points.
//!
//! Each check runs in a child process, this program again: [`child`]. [`failing`] writes a child's findings.

mod child;
mod failing;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum};
use divvy_command::console::Console;
use divvy_command::duration::parse as duration;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::exit::Exit;
use divvy_command::form;
use divvy_command::setup::ProfileArguments;
use divvy_command::text::printable;
use divvy_conformance::check::{self, Broken, Check, Outcome};
use divvy_conformance::supervise::{End, Event, Loaded, MemoryLimit, NotStarted, Program};
use divvy_karmada::api::Quantity;

use crate::report::verification::{self, Row, Verification};

const EXAMPLES: &str = "\
Examples:
  # Under the built-in profile, to which the plugin is added
  divvy plugin verify target/release/libdivvy_plugin_cheapest_first.so

  # With the configuration that will run
  divvy plugin verify cheapest-first --profile production.toml

  # Other random cases, and bindings of a dump as further ones
  divvy plugin verify ./libmine.so --seed 7 --cases dump.yaml

  # In CI, with limits
  divvy plugin verify ./libmine.so --max-time 5ms --max-memory 200Mi -o json

The plugin takes part in whole scheduling cycles: with 0, 1 and `--clusters` clusters, 0 and 2147483647 replicas, names of \
real fleets, then random ones. The smallest case that breaks a contract is written to `--failures`, with the profile, for \
`divvy schedule`.

The column DECIDED counts the cases that show something about a contract: the plugin took part, and the binding got \
clusters. A plugin that decides nothing, or nothing by one of its strategies, fails. The SDK's guide on testing lists what \
no check can find.

Exit codes:
  0  every contract is kept
  1  a contract is broken
  2  the plugin, the profile or the arguments cannot be used
  3  a check could not be made";

/// Check that a built plugin keeps the contracts of its extension points
///
/// Every check runs in a process of its own, so that a crash, a hang or an `exit` of the plugin is a finding. Passing proves
/// nothing, but every finding is definite and has a case that shows it.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, after_help = "See `--help` for examples and exit codes.")]
pub(crate) struct VerifyArguments {
    /// Path of the plugin's library, or the name of an installed plugin
    #[arg(value_name = "FILE")]
    plugin: String,
    /// Plugin to verify, if the library holds several; by default, the first by name that the profile uses
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    profile: ProfileArguments,
    /// Seed of the random cases: the same seed gives the same cases
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = divvy_command::seed::parse, allow_negative_numbers = true)]
    seed: u64,
    /// Random cases per check
    #[arg(long, value_name = "NUMBER", default_value_t = RUNS)]
    runs: u64,
    /// Clusters of the largest case
    #[arg(long, value_name = "NUMBER", default_value_t = CLUSTERS, value_parser = clusters())]
    clusters: u64,
    /// Manifests with clusters and bindings that are additional cases; may be repeated
    #[arg(long, value_name = "FILE")]
    cases: Vec<PathBuf>,
    /// Only this check; may be repeated
    #[arg(long, value_name = "CHECK")]
    check: Vec<String>,
    /// Fail if a call takes longer: the fastest of several on the largest case, and 99 of 100 on small ones
    ///
    /// A scheduler decides a fleet of 10,000 bindings again in two minutes if each call takes this long. A debug build may need more. If calls
    /// also take longer than 100 ms, the remaining checks are not made, because they would take hours.
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10ms")]
    max_time: Duration,
    /// Fail if the measuring process needs more memory, such as `200Mi`
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    max_memory: Option<u64>,
    /// Time without progress after which a check counts as hanging
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "60s")]
    timeout: Duration,
    /// Folder for the smallest failing cases; created if there are any
    #[arg(long, value_name = "DIRECTORY", default_value = FAILURES)]
    failures: PathBuf,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = VerifyFormat::Table)]
    output: VerifyFormat,
    #[command(flatten)]
    child: child::ChildArguments,
}

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum VerifyFormat {
    /// For people
    Table,
    /// For programs
    Json,
}

/// Default number of random cases per check.
pub(super) const RUNS: u64 = 2000;

/// Clusters of the largest case by default.
pub(super) const CLUSTERS: u64 = 5000;

/// The parser of the number of clusters of the largest case.
pub(super) fn clusters() -> impl TypedValueParser<Value = u64> {
    clap::value_parser!(u64).range(1..=100_000)
}

/// Name of the row for faults after a check has ended.
const END: &str = "end";

/// Folder of failing cases, unless another is given. New plugins have it in their `.gitignore`.
const FAILURES: &str = "divvy-verify";

/// The check that decides with and without the variables of this command, so it needs them.
const SURROUNDINGS: &str = "surroundings";

/// Time of a call beyond which thousands of cases per check would take hours.
const TOO_SLOW: Duration = Duration::from_millis(100);

fn bytes(text: &str) -> Result<u64, String> {
    let quantity: Quantity = text.parse().map_err(|error| format!("{error}"))?;
    u64::try_from(quantity.value()).map_err(|_| "expected a positive size".to_owned())
}

/// The reason why a plugin cannot be verified.
enum Stop {
    /// An error that is yet to be reported.
    Failure(Failure),
    /// Refusal of a child, in its own words.
    Refused(String),
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

/// Runs every check that applies in a child process and prints the outcomes.
pub(super) fn run(arguments: &VerifyArguments, console: &Console) -> Result<Exit, Failure> {
    if arguments.child.is_child() {
        return child::run(arguments, console);
    }
    match verify(arguments, console) {
        Ok(exit) => Ok(exit),
        Err(Stop::Failure(failure)) => Err(failure),
        Err(Stop::Refused(said)) => {
            // The child has already written errors, hints and causes. So may its plugin have.
            console.message(|out| said.lines().try_for_each(|line| writeln!(out, "{}", printable(line))));
            Ok(Exit::Usage)
        }
    }
}

fn verify(arguments: &VerifyArguments, console: &Console) -> Result<Exit, Stop> {
    let program = program(arguments)?;
    let loaded = load(&program, arguments)?;
    let known = check::all();
    let chosen = chosen(arguments, &known, &loaded)?;
    let mut verification = Verification::new(&loaded, arguments.seed, arguments.runs, arguments.clusters);
    let is_table = arguments.output == VerifyFormat::Table;
    if is_table {
        console.print(|out| verification::write_head(&verification, out))?;
    }
    let mut after = None;
    let mut chosen = chosen.into_iter();
    for check in chosen.by_ref() {
        let mut row = row(arguments, &program, check, &mut after)?;
        if let Some(broken) = row.broken.take() {
            let files = failing::write(arguments, &loaded, check.name, &broken)?;
            row.fail(broken.message, files);
        }
        if is_table {
            console.print(|out| verification::write_row(&row, out))?;
        }
        let is_slow = row.is_slower_than(arguments.max_time.max(TOO_SLOW));
        verification.rows.push(row);
        if is_slow {
            break;
        }
    }
    verification.unmade = chosen.map(|check| check.name).collect();
    let mut end = Row::new(END, "threads and the process end cleanly after every check");
    if let Some(how) = after {
        end.fail(how, None);
    }
    if is_table {
        console.print(|out| verification::write_row(&end, out))?;
    }
    verification.rows.push(end);
    console.print(|out| match arguments.output {
        VerifyFormat::Table => verification::write_end(&verification, console.width(), out),
        VerifyFormat::Json => form::write_value(&verification, out),
    })?;
    Ok(match verification.is_passed() {
        false => Exit::Unschedulable,
        true if verification.is_complete() => Exit::Success,
        true => Exit::Internal,
    })
}

/// This program, with the arguments of every child.
fn program(arguments: &VerifyArguments) -> Result<Program, Failure> {
    // Wrong arguments are reported here, not by a child.
    let (chosen, directories) = (arguments.profile.read()?, arguments.profile.directories()?);
    let path = std::env::current_exe().map_err(|error| {
        Failure::internal(Diagnostic::new("this program does not know its own path").with_cause(error.to_string()))
    })?;
    let mut common: Vec<OsString> = vec!["verify".into()];
    common.push(OsString::from(&arguments.plugin));
    common.extend(arguments.name.iter().map(|name| format!("--name={name}").into()));
    common.extend(arguments.profile.repeated().into_iter().map(OsString::from));
    common.push(format!("--seed={}", arguments.seed).into());
    common.push(format!("--runs={}", arguments.runs).into());
    common.push(format!("--clusters={}", arguments.clusters).into());
    // A child that makes no progress is ended by its parent.
    common.push("--hang-limit=0s".into());
    for file in &arguments.cases {
        common.extend(["--cases".into(), file.into()]);
    }
    let is_confined = child::is_confined(arguments, chosen, &directories)?;
    Ok(Program {
        path,
        arguments: common,
        environment: is_confined.then(child::environment),
        memory: is_confined.then(|| MemoryLimit {
            bytes: child::memory_limit(arguments.clusters),
            of: divvy_isolation::memory_of,
        }),
        patience: arguments.timeout,
        longest: longest(arguments.timeout, most_cases(arguments)),
        cases: most_cases(arguments),
    })
}

/// Maximum number of cases of a check: random ones, edge cases, and those of files, each of which takes more than some bytes.
fn most_cases(arguments: &VerifyArguments) -> u64 {
    const EDGES: u64 = 2_000;
    const BYTES: u64 = 64;
    let files = arguments.cases.iter().filter_map(|file| std::fs::metadata(file).ok());
    let own = files.map(|file| file.len() / BYTES).fold(0, u64::saturating_add);
    arguments.runs.saturating_add(EDGES).saturating_add(own)
}

/// Time after which a check is ended although it reports progress: that of one hanging case in a hundred.
fn longest(timeout: Duration, cases: u64) -> Duration {
    timeout.saturating_mul(u32::try_from(cases / 100).unwrap_or(u32::MAX))
}

/// Loads the plugin in a child process, which describes it.
fn load(program: &Program, arguments: &VerifyArguments) -> Result<Loaded, Stop> {
    let end = program.run(&child::load()).map_err(|error| not_started(&error))?;
    let message = match end {
        End::Done {
            last: Event::Loaded(loaded),
            ..
        } => return Ok(loaded),
        End::Done { .. } => "it did not say what it is".to_owned(),
        End::Refused(said) => return Err(Stop::Refused(said)),
        End::Died { how, said, .. } => {
            let mut diagnostic = Diagnostic::new(format!("`{}` cannot be loaded: {how}", arguments.plugin));
            diagnostic.causes.extend(last_line(&said));
            return Err(Failure::usage(diagnostic).into());
        }
    };
    let message = format!("`{}` cannot be loaded: {message}", arguments.plugin);
    Err(Failure::usage(Diagnostic::new(message)).into())
}

/// The checks to run: all that apply, or the requested ones among them.
fn chosen<'a>(arguments: &VerifyArguments, known: &'a [Check], loaded: &Loaded) -> Result<Vec<&'a Check>, Failure> {
    for name in &arguments.check {
        if !known.iter().any(|check| check.name == name) {
            let names: Vec<String> = known.iter().map(|check| check.name.to_owned()).collect();
            let near = divvy_spanned::names::nearest_first(name, &names);
            let diagnostic = Diagnostic::new(format!("unknown check `{name}`"));
            return Err(Failure::usage(
                diagnostic.with_hint(format!("known: {}", near.join(", "))),
            ));
        }
    }
    let applies = |check: &&Check| loaded.checks.iter().any(|name| name == check.name);
    let is_asked = |check: &&Check| arguments.check.is_empty() || arguments.check.iter().any(|name| name == check.name);
    Ok(known.iter().filter(applies).filter(is_asked).collect())
}

/// Runs a check. Faults after its end are added to `after`.
fn row(arguments: &VerifyArguments, program: &Program, check: &Check, after: &mut Option<String>) -> Result<Row, Stop> {
    let program = &match check.name == SURROUNDINGS {
        true => program.clone().with_environment(),
        false => program.clone(),
    };
    let end = program
        .run(&child::check(check.name))
        .map_err(|error| not_started(&error))?;
    let mut row = Row::new(check.name, check.contract);
    match end {
        End::Done {
            last: Event::Done { outcome, peak_bytes },
            took,
        } => {
            row.took = took;
            take_outcome(&mut row, outcome, peak_bytes, arguments);
        }
        End::Died {
            how,
            last: Some(Event::Done { outcome, peak_bytes }),
            took,
            ..
        } => {
            row.took = took;
            take_outcome(&mut row, outcome, peak_bytes, arguments);
            after.get_or_insert(how);
        }
        End::Died {
            how, case, said, took, ..
        } => {
            row.took = took;
            row.cases = case.map_or(0, |case| case.saturating_add(1));
            let case = case.and_then(|case| failing::smallest_that_dies(program, check.name, case));
            let message = match last_line(&said) {
                Some(line) => format!("{how}; its last line of output: {line}"),
                None => how,
            };
            row.broken = Some(Broken { message, case });
        }
        End::Refused(said) => return Err(Stop::Refused(said)),
        End::Done { .. } => {
            let message = format!("the check `{}` reported no result", check.name);
            return Err(Failure::internal(Diagnostic::new(message)).into());
        }
    }
    Ok(row)
}

/// Records the findings and the cost of a check.
fn take_outcome(row: &mut Row, outcome: Outcome, peak_bytes: u64, arguments: &VerifyArguments) {
    row.cases = outcome.cases;
    row.decided = outcome.decided;
    row.broken = outcome.broken;
    if let Some(reason) = outcome.impossible {
        row.skip(reason);
    }
    let Some(cost) = outcome.cost else { return };
    row.peak_bytes = Some(peak_bytes);
    let took = cost.slowest();
    if took > arguments.max_time {
        row.broken = Some(Broken {
            message: verification::too_slow(&cost, arguments.max_time),
            case: None,
        });
    } else if let Some(limit) = arguments.max_memory.filter(|limit| peak_bytes > *limit) {
        row.broken = Some(Broken {
            message: format!("{peak_bytes} bytes are needed, the limit is {limit}"),
            case: None,
        });
    }
    row.cost = Some(cost);
}

/// The last line that is not empty. The plugin may have written it.
fn last_line(text: &str) -> Option<String> {
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(printable(line).into_owned())
}

fn not_started(error: &NotStarted) -> Failure {
    Failure::internal(Diagnostic::new(error.to_string()).with_causes_of(error))
}

#[cfg(test)]
mod tests {
    use divvy_scaffold::{ExtensionPoint, Language, Scaffold, Sdk};

    use super::*;

    #[test]
    fn a_new_plugin_keeps_failing_cases_out_of_its_repository() {
        for language in [Language::Rust, Language::C] {
            let scaffold = Scaffold {
                name: "spare-capacity".parse().unwrap(),
                point: ExtensionPoint::Filter,
                language,
                sdk: Sdk::Carried,
            };
            let files = scaffold.files().unwrap();
            let ignored: Vec<&str> = files[".gitignore"].lines().collect();
            assert!(ignored.contains(&format!("/{FAILURES}").as_str()), "{ignored:?}");
        }
    }

    /// By default, forty minutes. No check takes minutes on a machine with nothing else to do.
    #[test]
    fn a_check_has_an_end_whatever_it_reports() {
        let minute = Duration::from_secs(60);
        assert_eq!(longest(minute, RUNS + 2_000), 40 * minute);
        assert_eq!(longest(Duration::MAX, u64::MAX), Duration::MAX);
    }

    #[test]
    fn the_check_that_needs_the_environment_is_one() {
        assert!(check::all().iter().any(|check| check.name == SURROUNDINGS));
    }
}
