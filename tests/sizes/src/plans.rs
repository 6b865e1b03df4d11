//! Plans of large fleets: what the command takes beside a drain of the same fleet, and how near to the bound plans without the command come.

use std::num::NonZeroUsize;
use std::path::Path;

use divvy_families::fewest_moves;
use divvy_joint::{Bound, Fleet, Former, Malformed, Plan, Settings, plan, plan_again, plan_whole};
use serde_json::Value;

use crate::fleets::{Family, Planned};
use crate::inputs::Input;
use crate::measure::{Figures, measure_output};

/// The fleets that are planned for.
pub(crate) const FLEETS: [Planned; 4] = [
    fleet(Family::Policies, 90),
    fleet(Family::Policies, 97),
    fleet(Family::Probe, 90),
    fleet(Family::Probe, 97),
];

/// What is solved in a process of its own, so that its memory is known: the name, and what is planned.
const SOLVED: [(&str, Solved); 5] = [
    ("least cost, parts", Solved::Cost(How::Parts)),
    ("after 1 % of changes", Solved::Cost(How::Again)),
    ("least cost, whole", Solved::Cost(How::Whole)),
    ("fewest moves, parts", Solved::Moves(How::Parts)),
    ("fewest moves, whole", Solved::Moves(How::Whole)),
];

/// Cluster that is drained beside each plan.
const DRAINED: &str = "member-00007";

#[derive(Clone, Copy)]
enum Solved {
    /// An empty fleet, by cost.
    Cost(How),
    /// A fleet that grew, by moves.
    Moves(How),
}

#[derive(Clone, Copy)]
enum How {
    /// Workloads may be placed in part.
    Parts,
    /// Workloads are placed wholly or not at all.
    Whole,
    /// In part, from the plan before a hundredth of the workloads has changed.
    Again,
}

const fn fleet(family: Family, load: u32) -> Planned {
    Planned { family, load }
}

pub(crate) const TITLES: &str = "fleet          what                  processor    MB  above bound  moves  bound  unplaced  waiting  times the drain";

/// Prints the rows of one fleet.
///
/// # Errors
///
/// A sentence, if the input cannot be written or a command fails.
pub(crate) fn print(planned: Planned, divvy: &Path, (inputs, scale): (&Path, usize)) -> Result<(), String> {
    let name = planned.name();
    let folder = inputs.join(format!("{name}-{scale}"));
    let made = Input::Planned(planned).make(&folder, scale);
    made.map_err(|error| format!("{}: {error}", folder.display()))?;
    let text = |text: &str| text.to_owned();
    let files = [text("-f"), folder.display().to_string()];
    let figures = inputs.join("figures");
    let run = |program: &Path, arguments: Vec<String>| measure_output(program, &arguments, &figures);
    let command = |first: &str, rest: &[&str]| -> Vec<String> {
        let rest = rest.iter().map(|rest| text(rest));
        std::iter::once(text(first)).chain(files.clone()).chain(rest).collect()
    };
    let (drain, _) = run(divvy, command("diff", &["--drain", DRAINED, "-o", "json"]))?;
    row(&name, "diff --drain", drain, drain, &Outcome::default());
    let (rebalance, document) = run(divvy, command("rebalance", &["-o", "json"]))?;
    let document: Value = serde_json::from_str(&document).map_err(|error| format!("rebalance -o json: {error}"))?;
    let outcome = Outcome {
        moves: document["totals"]["moved"].as_u64(),
        bound: document["bound"]["moves"].as_f64(),
        waiting: document["totals"]["waiting"]
            .as_u64()
            .zip(document["totals"]["placed"].as_u64())
            .map(|(waiting, placed)| waiting - placed),
        ..Outcome::default()
    };
    row(&name, "rebalance", rebalance, drain, &outcome);
    let own = std::env::current_exe().map_err(|error| format!("this program: {error}"))?;
    for (number, (what, _)) in SOLVED.iter().enumerate() {
        let arguments = vec![text("--solve"), name.clone(), number.to_string(), scale.to_string()];
        let (figures, output) = run(&own, arguments)?;
        row(&name, what, figures, drain, &Outcome::parse(&output)?);
    }
    Ok(())
}

/// Solves one plan and prints its outcome: what the program calls itself for.
///
/// # Errors
///
/// A sentence, if the arguments are not those that [`print()`] passes.
pub(crate) fn solve(arguments: &[String]) -> Result<(), String> {
    let [name, number, scale] = arguments else {
        return Err("--solve needs a fleet, a number and a scale".to_owned());
    };
    let planned = FLEETS.into_iter().find(|planned| planned.name() == *name);
    let number = number.parse().ok().and_then(|number: usize| SOLVED.get(number));
    let scale = scale.parse().ok().filter(|scale: &usize| *scale > 0);
    let (Some(planned), Some((_, solved)), Some(scale)) = (planned, number, scale) else {
        return Err(format!("--solve knows no {}", arguments.join(" ")));
    };
    let settings = Settings {
        // Prices take longer to settle where nearly everything is full.
        steps: if planned.load > 90 { 1_000 } else { 350 },
        ..Settings::new(NonZeroUsize::MIN)
    };
    let (fleet, how) = match solved {
        Solved::Cost(how) => (planned.instance(scale).fleet, *how),
        Solved::Moves(how) => (fewest_moves(planned.grown(scale).fleet), *how),
    };
    let outcome = plan_of(fleet, how, &settings).map_err(|error| error.to_string())?;
    println!("{}", outcome.line());
    Ok(())
}

fn plan_of(fleet: Fleet, how: How, settings: &Settings) -> Result<Outcome, Malformed> {
    let started = processor_seconds();
    let (first, relaxation) = match how {
        How::Whole => plan_whole(&fleet, settings)?,
        How::Parts | How::Again => plan(&fleet, settings)?,
    };
    let How::Again = how else {
        let seconds = processor_seconds() - started;
        return Ok(Outcome::of(&fleet, &first, relaxation.bound, seconds));
    };
    let changed = changed(fleet);
    let former = Former {
        placed: &first.placed,
        prices: &relaxation.prices,
    };
    let started = processor_seconds();
    let again = plan_again(&changed, former, settings)?;
    let seconds = processor_seconds() - started;
    Ok(Outcome::of(&changed, &again.plan, again.bound, seconds))
}

/// One workload in a hundred has twice as many replicas, or half of them.
fn changed(mut fleet: Fleet) -> Fleet {
    for (number, demand) in fleet.demands.iter_mut().enumerate().step_by(100) {
        let is_more = number.is_multiple_of(200);
        let running: u64 = demand.running.iter().map(|(_, replicas)| replicas).sum();
        let replicas = if is_more {
            demand.replicas * 2
        } else {
            demand.replicas.div_ceil(2)
        };
        demand.replicas = replicas.max(running);
    }
    fleet
}

/// Processor time of this thread until now, which alone plans here. Linux counts it in hundredths of a second.
fn processor_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
    // The name of the program, which comes first in parentheses, may have spaces.
    let numbers = text.rsplit_once(')').map_or("", |(_, numbers)| numbers);
    let hundredths: Vec<f64> = numbers
        .split_whitespace()
        .skip(11)
        .take(2)
        .filter_map(|number| number.parse().ok())
        .collect();
    match hundredths.as_slice() {
        [user, system] => (user + system) / 100.0,
        _ => f64::NAN,
    }
}

/// What is known of a plan.
#[derive(Default)]
struct Outcome {
    /// Part by which its cost is above the bound.
    above: Option<f64>,
    moves: Option<u64>,
    /// The bound of its cost, or of its moves.
    bound: Option<f64>,
    /// Part of the replicas that is not placed.
    unplaced: Option<f64>,
    /// Workloads that are not whole.
    waiting: Option<u64>,
    /// Processor time of planning alone, without making the fleet.
    seconds: Option<f64>,
}

impl Outcome {
    fn of(fleet: &Fleet, plan: &Plan, bound: Bound, seconds: f64) -> Self {
        let all: u64 = fleet.demands.iter().map(|demand| demand.replicas).sum();
        let unplaced: u64 = plan.unplaced.iter().sum();
        let bound = bound.cost();
        Self {
            above: Some(plan.cost / bound.max(f64::MIN_POSITIVE) - 1.0),
            moves: Some(plan.moved.iter().sum()),
            bound: Some(bound),
            unplaced: Some(unplaced as f64 / all as f64),
            waiting: Some(plan.unplaced.iter().filter(|unplaced| **unplaced > 0).count() as u64),
            seconds: Some(seconds),
        }
    }

    /// The outcome as one line, which [`parse`](Self::parse) reads.
    fn line(&self) -> String {
        let number = |number: Option<f64>| number.map_or_else(String::new, |number| number.to_string());
        let count = |count: Option<u64>| number(count.map(|count| count as f64));
        let [above, bound, unplaced, seconds] = [self.above, self.bound, self.unplaced, self.seconds].map(number);
        [above, count(self.moves), bound, unplaced, count(self.waiting), seconds].join(" ")
    }

    fn parse(line: &str) -> Result<Self, String> {
        let numbers: Result<Vec<f64>, _> = line.split_whitespace().map(str::parse).collect();
        match numbers.as_deref() {
            Ok(&[above, moves, bound, unplaced, waiting, seconds]) => Ok(Self {
                above: Some(above),
                moves: Some(moves as u64),
                bound: Some(bound),
                unplaced: Some(unplaced),
                waiting: Some(waiting as u64),
                seconds: Some(seconds),
            }),
            _ => Err(format!("--solve wrote `{}` instead of six numbers", line.trim())),
        }
    }
}

fn row(fleet: &str, what: &str, figures: Figures, drain: Figures, outcome: &Outcome) {
    let percent = |part: Option<f64>| part.map_or_else(String::new, |part| format!("{:.2} %", part * 100.0));
    let count = |count: Option<u64>| count.map_or_else(String::new, |count| count.to_string());
    let bound = outcome.bound.map_or_else(String::new, |bound| format!("{bound:.0}"));
    let (above, unplaced) = (percent(outcome.above), percent(outcome.unplaced));
    let (moves, waiting) = (count(outcome.moves), count(outcome.waiting));
    let processor = outcome.seconds.unwrap_or(figures.processor);
    let megabytes = figures.megabytes;
    let times = processor / drain.processor.max(f64::MIN_POSITIVE);
    println!(
        "{fleet:<14} {what:<20} {processor:>10.2} {megabytes:>5} {above:>12} {moves:>6} {bound:>6} {unplaced:>9} {waiting:>8} {times:>16.2}"
    );
}
