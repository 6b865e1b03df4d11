//! A fleet as a linear program, and as one in whole replicas, for the exact solver.

use divvy_joint::{Demand, Fleet, Plan};
use highs::{ColProblem, HighsModelStatus, Row, Sense, SolvedModel};

/// Seconds after which the exact solver says what it knows.
const SECONDS: f64 = 5.0;
/// How far its plan may be above its bound, as a part of it: a fifth of what is asked.
const GAP: f64 = 2e-3;
/// What two of its values differ by though they are equal: it keeps constraints to a millionth.
pub const TOLERANCE: f64 = 1e-6;

/// What the exact solver knows of the least cost.
#[derive(Clone, Copy, Debug)]
pub struct Optimum {
    /// No solution costs less.
    pub at_least: f64,
    /// Some solution costs this.
    pub at_most: f64,
}

/// The least cost if replicas may be cut into parts, and clusters with replicas are not counted.
pub fn relaxed(fleet: &Fleet) -> f64 {
    let problem = Problem::new(fleet, Kind::Relaxed, &Limits::NONE);
    let (solved, constant) = problem.solve();
    assert_eq!(solved.status(), HighsModelStatus::Optimal, "every fleet has a plan");
    constant + solved.objective_value()
}

/// The least cost of all plans, as near as the solver comes in its time. It begins with a plan, which costs less than what it would find first.
pub fn optimum(fleet: &Fleet, plan: &Plan) -> Optimum {
    let limits = Limits {
        start: Some(plan),
        ..Limits::NONE
    };
    known(Problem::new(fleet, Kind::Whole, &limits))
}

/// The fewest moves of all plans that place as many replicas of every workload as this one.
pub fn fewest_moves(fleet: &Fleet, plan: &Plan) -> Optimum {
    let limits = Limits {
        unplaced: Some(&plan.unplaced),
        start: Some(plan),
    };
    known(Problem::new(fleet, Kind::Whole, &limits))
}

fn known(problem: Problem) -> Optimum {
    let (solved, constant) = problem.solve();
    let at_most = match solved.status() {
        HighsModelStatus::Optimal => solved.objective_value(),
        HighsModelStatus::ReachedTimeLimit => {
            let is_found = solved.primal_solution_status() == highs::HighsSolutionStatus::Feasible;
            if is_found {
                solved.objective_value()
            } else {
                f64::INFINITY
            }
        }
        status => panic!("every fleet has a plan, but the solver says {status:?}"),
    };
    let at_least = solved.double_info_value(c"mip_dual_bound");
    Optimum {
        at_least: constant + at_least.expect("the solver has a bound"),
        at_most: constant + at_most,
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Relaxed,
    Whole,
}

/// What plans must keep beside what the fleet says.
struct Limits<'a> {
    /// By demand, most replicas that are not placed. Then moves alone cost something.
    unplaced: Option<&'a [u64]>,
    /// A plan that keeps all this.
    start: Option<&'a Plan>,
}

impl Limits<'_> {
    const NONE: Limits<'static> = Limits {
        unplaced: None,
        start: None,
    };
}

struct Problem {
    columns: ColProblem,
    /// By cluster and resource.
    room: Vec<Vec<Row>>,
    kind: Kind,
    /// What every plan costs. Added to what the solver says.
    constant: f64,
    /// The value of each column in the plan to begin with, or 0.
    start: Vec<f64>,
    has_start: bool,
}

/// What a demand has in the plan to begin with.
#[derive(Clone, Copy, Default)]
struct Present<'a> {
    placed: &'a [(u32, u64)],
    unplaced: u64,
}

impl Present<'_> {
    fn at(&self, cluster: u32) -> u64 {
        let position = self.placed.binary_search_by_key(&cluster, |(cluster, _)| *cluster);
        position.map_or(0, |position| self.placed[position].1)
    }
}

impl Problem {
    fn new(fleet: &Fleet, kind: Kind, limits: &Limits<'_>) -> Self {
        let mut columns = ColProblem::new();
        let room = fleet.room.iter().map(|room| {
            let rows = room.iter().map(|room| columns.add_row(..=*room as f64));
            rows.collect()
        });
        let room = room.collect();
        let mut problem = Self {
            columns,
            room,
            kind,
            constant: 0.0,
            start: Vec::new(),
            has_start: limits.start.is_some(),
        };
        for (number, demand) in fleet.demands.iter().enumerate() {
            let present = limits.start.map(|plan| Present {
                placed: &plan.placed[number],
                unplaced: plan.unplaced[number],
            });
            let most_unplaced = limits.unplaced.map(|unplaced| unplaced[number]);
            problem.add(fleet, demand, most_unplaced, present.unwrap_or_default());
        }
        problem
    }

    /// Adds a demand: replicas by choice, those that are not placed, and those that leave their home.
    fn add(&mut self, fleet: &Fleet, demand: &Demand, most_unplaced: Option<u64>, present: Present<'_>) {
        let replicas = demand.replicas as f64;
        let all = self.columns.add_row(replicas..=replicas);
        let is_limited = self.kind == Kind::Whole;
        let limit = demand
            .clusters
            .filter(|most| is_limited && (*most as usize) < demand.choices.len());
        let open = limit.map(|most| self.columns.add_row(..=f64::from(most)));
        let (worth, most_unplaced) = match most_unplaced {
            Some(most) => (0.0, most as f64),
            None => (demand.worth, replicas),
        };
        self.column(worth, most_unplaced, &[(all, 1.0)], present.unplaced);
        let fits = |cluster: u32| {
            let room = fleet.room[cluster as usize].iter().zip(&demand.request);
            room.filter(|(_, request)| **request > 0)
                .map(|(room, request)| room / request)
                .fold(demand.replicas, u64::min)
        };
        // Where no replica fits, parts of one would.
        let choices = demand.choices.iter().filter(|choice| fits(choice.cluster) > 0);
        for choice in choices.clone() {
            let most = demand.largest.unwrap_or(u64::MAX).min(demand.replicas);
            let mut rows = vec![(all, 1.0)];
            let requests = self.room[choice.cluster as usize].iter().zip(&demand.request);
            rows.extend(requests.map(|(row, request)| (*row, *request as f64)));
            if let Some(open) = open {
                let most = most.min(fits(choice.cluster));
                let is_open = self.columns.add_row(..=0.0);
                rows.push((is_open, 1.0));
                let is_used = u64::from(present.at(choice.cluster) > 0);
                self.column(0.0, 1.0, &[(open, 1.0), (is_open, -(most as f64))], is_used);
            }
            let running = demand.running.iter().find(|(cluster, _)| *cluster == choice.cluster);
            if let Some((_, running)) = running {
                let home = self.columns.add_row(*running as f64..);
                rows.push((home, 1.0));
                self.columns.add_column(fleet.move_price, 0.0.., [(home, 1.0)]);
                self.start
                    .push(running.saturating_sub(present.at(choice.cluster)) as f64);
            }
            let cost = if worth > 0.0 { choice.cost } else { 0.0 };
            self.column(cost, most as f64, &rows, present.at(choice.cluster));
        }
        let has_choice = |cluster: u32| choices.clone().any(|choice| choice.cluster == cluster);
        let leave = demand.running.iter().filter(|(cluster, _)| !has_choice(*cluster));
        let leave: u64 = leave.map(|(_, running)| running).sum();
        self.constant += fleet.move_price * leave as f64;
    }

    fn column(&mut self, cost: f64, most: f64, rows: &[(Row, f64)], start: u64) {
        self.start.push(start as f64);
        let rows = rows.iter().copied();
        match self.kind {
            Kind::Relaxed => self.columns.add_column(cost, 0.0..=most, rows),
            Kind::Whole => self.columns.add_integer_column(cost, 0.0..=most, rows),
        };
    }

    /// The solved model, and what every plan costs beside it.
    fn solve(self) -> (SolvedModel, f64) {
        let mut model = self.columns.optimise(Sense::Minimise);
        model.make_quiet();
        model.set_option("threads", 1);
        model.set_option("parallel", "off");
        model.set_option("time_limit", SECONDS);
        model.set_option("mip_rel_gap", GAP);
        if self.has_start {
            // HiGHS 1.16 loses a part of the objective if it has both (case 62).
            model.set_option("presolve", "off");
            model.set_solution(Some(&self.start), None, None, None);
        }
        (model.solve(), self.constant)
    }
}
