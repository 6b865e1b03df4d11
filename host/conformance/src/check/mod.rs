//! The checks, one per contract.
//!
//! - `loading`: the plugin's description of itself, and its answers to bad configurations and preferences.
//! - `results`: the rules of a result, as the host's own cycle finds them broken.
//! - `repeating`: the same answer again, at the next call, from another instance, on other threads and with kept
//!   values.
//! - `promises`: the plugin's promises beyond the rules of a single result.
//! - `alone`: the promise that each cluster is judged alone.
//! - `parts`: the declaration of the parts of a binding that a plugin acts on.
//! - `cost`: time and memory.

mod alone;
mod cost;
mod loading;
mod parts;
mod promises;
mod repeating;
mod results;

use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::generate::{self, Shape};
use crate::subject::Subject;
use crate::{edges, shrink};

/// Settings of a check.
#[derive(Clone, Copy)]
enum Method {
    /// Once.
    Once(fn(&Subject) -> Result<(), Broken>),
    /// On each case. The error says what is broken.
    PerCase(fn(&Subject, &Case) -> Result<(), String>),
    /// On all cases together.
    Together(fn(&Subject, &[Case]) -> Result<(), Broken>),
    /// Measured on the largest case.
    Measured(fn(&Subject, &Case) -> Result<Cost, Broken>),
}

/// A check.
pub struct Check {
    /// Name of the check, for `--check`.
    pub name: &'static str,
    /// The contract, in one phrase.
    pub contract: &'static str,
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

/// Cost of a plugin.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// Nanoseconds of the slowest kind of call of the plugin, the fastest of several on the largest case.
    pub nanoseconds: u64,
    /// Clusters of that case.
    pub clusters: u64,
}

/// Result of a check.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// Cases that were decided; 0 for a check without cases.
    pub cases: u64,
    /// The contract is broken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broken: Option<Broken>,
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

impl From<String> for Broken {
    fn from(message: String) -> Self {
        Self { message, case: None }
    }
}

/// All checks, in the order in which they are reported.
pub fn all() -> Vec<Check> {
    let mut checks = loading::checks();
    checks.extend(results::checks());
    checks.extend(repeating::checks());
    checks.extend(promises::checks());
    checks.push(alone::check());
    checks.push(parts::check());
    checks.extend(cost::checks());
    checks
}

impl Check {
    /// True if the plugin, in its profile, can break the contract.
    pub fn applies(&self, subject: &Subject) -> bool {
        (self.applies)(subject)
    }
}

/// The cases of a check: those that the user provides, the edge cases, then random ones.
pub fn cases(shape: &Shape, effort: &Effort) -> impl Iterator<Item = Case> {
    let edges = edges::cases(shape, effort.largest);
    let (seed, shape) = (effort.seed, shape.clone());
    let random = (0..effort.runs).map(move |number| generate::case(&shape, seed, number));
    effort.own.clone().into_iter().chain(edges).chain(random)
}

/// Runs a check in this process. `begins` is called with the number of each case before it is decided.
pub fn run(check: &Check, subject: &Subject, effort: &Effort, mut begins: impl FnMut(u64)) -> Outcome {
    let shape = Shape::of(subject);
    let of = |cases: u64, result: Result<(), Broken>| Outcome {
        cases,
        broken: result.err(),
        cost: None,
    };
    match check.method {
        Method::Once(once) => of(0, once(subject)),
        Method::PerCase(holds) => {
            let mut decided = 0;
            for case in cases(&shape, effort) {
                begins(decided);
                decided += 1;
                if let Err(message) = holds(subject, &case) {
                    return of(decided, Err(smallest(subject, holds, &case, message)));
                }
            }
            of(decided, Ok(()))
        }
        Method::Together(together) => {
            let all: Vec<Case> = cases(&shape, effort).collect();
            begins(0);
            of(all.len() as u64, together(subject, &all))
        }
        Method::Measured(measured) => {
            let Some(case) = edges::largest_case(&shape, effort.largest) else {
                return Outcome::default();
            };
            begins(0);
            match measured(subject, &case) {
                Ok(cost) => Outcome {
                    cases: 1,
                    broken: None,
                    cost: Some(cost),
                },
                Err(broken) => of(1, Err(broken)),
            }
        }
    }
}

/// Runs a check on one case alone.
pub fn run_one(check: &Check, subject: &Subject, case: &Case) -> Outcome {
    let result = match check.method {
        Method::Once(once) => once(subject),
        Method::PerCase(holds) => holds(subject, case).map_err(Broken::from),
        Method::Together(together) => together(subject, std::slice::from_ref(case)),
        Method::Measured(measured) => measured(subject, case).map(|_| ()),
    };
    Outcome {
        cases: 1,
        broken: result.err(),
        cost: None,
    }
}

/// The smallest case that breaks the contract, with its own message.
fn smallest(
    subject: &Subject,
    holds: fn(&Subject, &Case) -> Result<(), String>,
    case: &Case,
    message: String,
) -> Broken {
    let small = shrink::smallest(case, ATTEMPTS, |candidate| holds(subject, candidate).is_err());
    let message = holds(subject, &small).err().unwrap_or(message);
    Broken {
        message,
        case: Some(small),
    }
}
