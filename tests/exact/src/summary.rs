//! All cases together.

use std::fmt;

use divvy_families::Goal;

use crate::outcome::Outcome;

/// How far a plan by cost may be above the least.
const MOST: f64 = 0.03;
/// How far nearly all of them may be.
const USUAL: f64 = 0.01;
/// How many are nearly all.
const USUALLY: f64 = 0.95;
/// Most moves of a plan, in those of the fewest.
const MOVES: f64 = 1.1;

/// What became of all cases.
#[derive(Default)]
pub struct Summary {
    cases: usize,
    broken: usize,
    /// By plan of least cost, how far it is above it at most, with its case.
    costs: Vec<(f64, u64)>,
    /// Plans of which the exact solver cannot say whether they are within [`USUAL`]. They count as if they were not.
    open_usual: usize,
    /// The same for [`MOST`]. They do not count.
    open_most: usize,
    /// By plan of the fewest moves, how many times the fewest it has, with its case.
    moves: Vec<(f64, u64)>,
    /// By plan of the fewest moves, how far its moves and what is left out are above the least together, with its case.
    left_out: Vec<(f64, u64)>,
    /// By case, the bound as a part of the least cost of parts.
    bounds: Vec<(f64, u64)>,
}

impl Summary {
    /// Adds a case. What is wrong with it, if anything is.
    pub fn add(&mut self, outcome: Outcome) -> Option<String> {
        self.cases += 1;
        let (most, least) = outcome.above();
        if outcome.relaxed > 0.0 {
            self.bounds.push((outcome.bound / outcome.relaxed, outcome.seed));
        }
        let mut problem = outcome.contradiction();
        match outcome.goal {
            Goal::Cost => {
                self.costs.push((most, outcome.seed));
                self.open_most += usize::from(most > MOST && least <= MOST);
                self.open_usual += usize::from(most > USUAL && least <= USUAL);
                if least > MOST {
                    problem.get_or_insert(format!(
                        "the plan is at least {:.2} % above the least cost",
                        least * 100.0
                    ));
                }
            }
            Goal::Moves => {
                self.left_out.push((most, outcome.seed));
                if let Some((moved, fewest)) = outcome.moves {
                    self.moves.push((moved / fewest, outcome.seed));
                    if moved > MOVES * fewest {
                        problem.get_or_insert(format!("the plan has {moved} moves, but {fewest} would do"));
                    }
                }
            }
        }
        self.broken += usize::from(problem.is_some());
        problem.map(|problem| format!("case {} ({}): {problem}", outcome.seed, outcome.description))
    }

    /// Part of the plans by cost that are as near to the least as nearly all should be.
    fn usual(&self) -> f64 {
        let near = self.costs.iter().filter(|(above, _)| *above <= USUAL).count();
        if self.costs.is_empty() {
            1.0
        } else {
            near as f64 / self.costs.len() as f64
        }
    }

    /// Whether all that is expected was found.
    pub fn is_met(&self) -> bool {
        self.broken == 0 && self.usual() >= USUALLY
    }
}

/// The value that so many of the values are at most, the largest, and its case.
fn quantiles(values: &[(f64, u64)], parts: [f64; 3]) -> Option<([f64; 3], (f64, u64))> {
    let mut sorted = values.to_vec();
    sorted.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let last = sorted.last().copied()?;
    let at = |part: f64| sorted[((sorted.len() - 1) as f64 * part).round() as usize].0;
    Some((parts.map(at), last))
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{} cases, of which {} break a rule", self.cases, self.broken)?;
        let percent = |value: f64| value * 100.0;
        if let Some(([low, middle, _], _)) = quantiles(&self.bounds, [0.0, 0.5, 1.0]) {
            writeln!(
                formatter,
                "bound: {:.2} % of the least cost of parts in the middle case, at least {:.2} %",
                percent(middle),
                percent(low)
            )?;
        }
        if let Some((parts, (most, seed))) = quantiles(&self.costs, [0.5, 0.95, 0.99]) {
            let [middle, usual, nearly_all] = parts.map(percent);
            writeln!(
                formatter,
                "{} plans by cost: within 1 % of the least in {:.1} %; above it {middle:.2} % in the middle, {usual:.2} % at 95 in 100, \
                 {nearly_all:.2} % at 99, at most {:.2} % (case {seed}); open: {} for 1 %, which count as above, and {} for 3 %",
                self.costs.len(),
                percent(self.usual()),
                percent(most),
                self.open_usual,
                self.open_most
            )?;
        }
        if let Some(([middle, usual, _], (most, seed))) = quantiles(&self.moves, [0.5, 0.95, 1.0]) {
            writeln!(
                formatter,
                "{} plans of more than 100 moves: {middle:.3} times the fewest in the middle, {usual:.3} at 95 in 100, at most {most:.3} (case {seed})",
                self.moves.len()
            )?;
        }
        if let Some(([middle, usual, _], (most, seed))) = quantiles(&self.left_out, [0.5, 0.95, 1.0]) {
            writeln!(
                formatter,
                "{} plans of the fewest moves, with what is left out: above the least {:.2} % in the middle, {:.2} % at 95 in 100, at most {:.2} % \
                 (case {seed})",
                self.left_out.len(),
                percent(middle),
                percent(usual),
                percent(most)
            )?;
        }
        Ok(())
    }
}
