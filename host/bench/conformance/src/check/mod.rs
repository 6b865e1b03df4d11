//! The checks, one per contract.
//!
//! - `loading`: the plugin's description of itself, and its answers to bad configurations and preferences.
//! - `deciding`: the plugin decides at all.
//! - `cost`: time and memory.
//! - `results`: the rules of a result, as the host's own cycle finds them broken.
//! - `moves`: the rules of a pace, on moves to the results.
//! - `repeating`: the same decision at the next call, from another instance, on other threads and with kept values.
//! - `promises`: the plugin's promises beyond the rules of a single result.
//! - `alone`: the promise that each cluster is judged on its own.
//! - `parts`: the declaration of the parts of a binding that a plugin acts on.
//! - `observed`: deciding while the calls of the plugin are observed, for the checks below.
//! - `clock`: the same decision some seconds later.
//! - `surroundings`: the environment, files and the process, which a call may neither read nor change.
//! - `growth`: memory over many calls.
//! - `afterwards`: processors and threads after an answer.
//! - `snapshots`: the same clusters under other numbers.

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod afterwards;
mod alone;
mod clock;
mod cost;
mod deciding;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod growth;
mod loading;
mod moves;
mod observed;
mod parts;
mod promises;
mod repeating;
mod results;
mod snapshots;
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
mod surroundings;
mod tally;

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

pub use cost::Cost;

use crate::case::Case;
use crate::generate::{self, Shape};
use crate::subject::{Shown, Subject};
use crate::{edges, shrink};
use tally::Tally;

/// Checks one case. The error says what is broken.
type Holds = Box<dyn Fn(&Subject, &Case) -> Result<Shown, String>>;

/// Way to make a check.
#[derive(Clone, Copy)]
enum Method {
    /// Once.
    Once(fn(&Subject) -> Result<(), Broken>),
    /// On each case. The error says what is broken.
    PerCase(fn(&Subject, &Case) -> Result<Shown, String>),
    /// On each case, with something that is made before the first.
    Prepared(fn(&Subject) -> Result<Holds, Stop>),
    /// On all cases together. Adds up what they show.
    Together(fn(&Subject, &[Case], &mut Tally) -> Result<(), Broken>),
    /// Measured on the largest case and on small ones.
    Measured(fn(&Subject, &Case, &[Case]) -> Result<Cost, Broken>),
}

/// The reason why a check ends before its first case.
enum Stop {
    /// The contract is broken already.
    Broken(Broken),
    /// The system does not let the check be made.
    #[cfg_attr(
        not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
        expect(dead_code, reason = "only checks of Linux need the system")
    )]
    Impossible(String),
}

impl From<String> for Stop {
    fn from(message: String) -> Self {
        Self::Broken(message.into())
    }
}

/// A check.
pub struct Check {
    /// Name of the check, for `--check`.
    pub name: &'static str,
    /// The contract, in one phrase.
    pub contract: &'static str,
    /// True if the check needs a process of its own, because it observes or changes the whole process, or waits.
    pub takes_the_process: bool,
    applies: fn(&Subject) -> bool,
    method: Method,
}

/// A broken contract.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Broken {
    /// The broken contract, with the figures.
    pub message: String,
    /// The smallest case that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<Case>,
}

/// Result of a check.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// Cases that were tried; 0 for a check without cases.
    pub cases: u64,
    /// Cases that show something about the contract: the plugin took part in a decision that gave clusters to the binding.
    #[serde(default)]
    pub decided: u64,
    /// The contract is broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<Broken>,
    /// The reason why the system does not let the check be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impossible: Option<String>,
    /// Cost of the plugin, if the check measured it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// Thoroughness of the checks.
#[derive(Debug, Clone)]
pub struct Effort {
    /// Seed of the random cases.
    pub seed: u64,
    /// Number of random cases per check.
    pub runs: u64,
    /// Clusters of the largest case.
    pub largest: u64,
    /// Cases that the user provides.
    pub own: Vec<Case>,
}

/// Attempts to find a smaller case.
const ATTEMPTS: usize = 2_000;

/// Maximum time of the search for a smaller case.
pub(crate) const SEARCH: Duration = Duration::from_secs(10);

/// Checks that take the process make one random case in this many: whether a call reads a file depends less on the case than whether its
/// result is right, and observing a call takes longer than the call.
const OBSERVED: u64 = 4;

/// Random cases on which calls are timed, besides the largest case.
const TIMED: u64 = 100;

impl From<String> for Broken {
    fn from(message: String) -> Self {
        Self { message, case: None }
    }
}

/// All checks, in the order in which they are reported.
pub fn all() -> Vec<Check> {
    let mut checks = loading::checks();
    checks.push(deciding::check());
    checks.push(cost::check());
    checks.extend(results::checks());
    checks.extend(moves::checks());
    checks.extend(repeating::checks());
    checks.push(snapshots::check());
    checks.extend(promises::checks());
    checks.push(alone::check());
    checks.push(parts::check());
    checks.push(clock::check());
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        checks.extend(surroundings::checks());
        checks.push(growth::check());
        checks.push(afterwards::check());
    }
    checks
}

impl Check {
    /// A check of each case.
    fn per_case(
        name: &'static str,
        contract: &'static str,
        applies: fn(&Subject) -> bool,
        holds: fn(&Subject, &Case) -> Result<Shown, String>,
    ) -> Self {
        Self {
            name,
            contract,
            takes_the_process: false,
            applies,
            method: Method::PerCase(holds),
        }
    }

    /// True if the plugin, in its profile, can break the contract.
    pub fn applies(&self, subject: &Subject) -> bool {
        (self.applies)(subject)
    }
}

/// The cases of a check: those that the user provides, the edge cases, wide ones, then random ones.
pub fn cases(shape: &Shape, effort: &Effort) -> impl Iterator<Item = Case> {
    let edges = edges::cases(shape, effort.largest).into_iter();
    let edges = edges.chain(edges::wide_cases(shape, effort.largest));
    let (seed, shape) = (effort.seed, shape.clone());
    let random = (0..effort.runs).map(move |number| generate::case(&shape, seed, number));
    effort.own.clone().into_iter().chain(edges).chain(random)
}

/// Runs a check in this process. `begins` is called with the number of each case before it is decided.
pub fn run(check: &Check, subject: &Subject, effort: &Effort, mut begins: impl FnMut(u64)) -> Outcome {
    let shape = Shape::of(subject);
    let holds: Holds = match check.method {
        Method::Once(once) => return Outcome::of(&Tally::default(), once(subject)),
        Method::PerCase(holds) => Box::new(holds),
        Method::Prepared(prepare) => match prepare(subject) {
            Ok(holds) => holds,
            Err(stop) => return Outcome::stopped(stop),
        },
        Method::Together(together) => {
            let all: Vec<Case> = cases(&shape, effort).collect();
            begins(0);
            let mut tally = Tally::default();
            let result = together(subject, &all, &mut tally);
            return Outcome::of(&tally, result);
        }
        Method::Measured(measured) => {
            let Some(largest) = edges::largest_case(&shape, effort.largest) else {
                return Outcome::default();
            };
            let small: Vec<Case> = (0..TIMED.min(effort.runs))
                .map(|number| generate::case(&shape, effort.seed, number))
                .collect();
            begins(0);
            return Outcome::measured(measured(subject, &largest, &small), small.len() as u64 + 1);
        }
    };
    let mut effort = effort.clone();
    if check.takes_the_process {
        effort.runs = effort.runs.div_ceil(OBSERVED);
    }
    let mut tally = Tally::default();
    for case in cases(&shape, &effort) {
        let number = tally.cases();
        begins(number);
        match holds(subject, &case) {
            Ok(shown) => tally.add(shown),
            Err(message) => {
                tally.add(Shown::Nothing);
                let broken = smallest(subject, &holds, &case, message, || begins(number));
                return Outcome::of(&tally, Err(broken));
            }
        }
    }
    let result = tally.is_enough();
    Outcome::of(&tally, result.map_err(Broken::from))
}

/// Runs a check on a single case.
pub fn run_one(check: &Check, subject: &Subject, case: &Case) -> Outcome {
    let one = std::slice::from_ref(case);
    let result = match check.method {
        Method::Once(once) => once(subject),
        Method::PerCase(holds) => holds(subject, case).map(|_| ()).map_err(Broken::from),
        Method::Prepared(prepare) => match prepare(subject) {
            Ok(holds) => holds(subject, case).map(|_| ()).map_err(Broken::from),
            Err(stop) => return Outcome::stopped(stop),
        },
        Method::Together(together) => together(subject, one, &mut Tally::default()),
        Method::Measured(measured) => measured(subject, case, &[]).map(|_| ()),
    };
    Outcome {
        cases: 1,
        broken: result.err(),
        ..Outcome::default()
    }
}

impl Outcome {
    fn of(tally: &Tally, result: Result<(), Broken>) -> Self {
        Self {
            cases: tally.cases(),
            decided: tally.decided(),
            broken: result.err(),
            ..Self::default()
        }
    }

    fn stopped(stop: Stop) -> Self {
        match stop {
            Stop::Broken(broken) => Self {
                broken: Some(broken),
                ..Self::default()
            },
            Stop::Impossible(reason) => Self {
                impossible: Some(reason),
                ..Self::default()
            },
        }
    }

    fn measured(measured: Result<Cost, Broken>, cases: u64) -> Self {
        match measured {
            Ok(cost) => Self {
                cases,
                decided: cost.decided,
                cost: Some(cost),
                ..Self::default()
            },
            Err(broken) => Self {
                cases,
                broken: Some(broken),
                ..Self::default()
            },
        }
    }
}

/// The smallest case that breaks the contract, with its own message. The search ends early if cases take long; `attempt` is called before
/// each of them, so that the search is not taken for a call that hangs.
fn smallest(subject: &Subject, holds: &Holds, case: &Case, message: String, mut attempt: impl FnMut()) -> Broken {
    let deadline = Instant::now() + SEARCH;
    let small = shrink::smallest(case, ATTEMPTS, |candidate| {
        attempt();
        (Instant::now() < deadline).then(|| holds(subject, candidate).is_err())
    });
    let message = holds(subject, &small).err().unwrap_or(message);
    Broken {
        message,
        case: Some(small),
    }
}
