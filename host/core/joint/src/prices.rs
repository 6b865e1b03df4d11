//! The relaxation: the prices of room at which any division of replicas, also into parts, costs least.
//!
//! A first-order method for linear programs. One step lets every class hand out its replicas at the present prices, not too far from before,
//! then raises the price of what is used beyond its room and lowers the others. The average of a point with the one that the round began
//! with (Halpern's iteration) goes straight where the steps alone would circle, and a new round begins when a point is much nearer to rest.
//! How far prices go compared with replicas is balanced by what is wrong with a point, in money: room that is used twice, or a plan that
//! costs more than the bound.
//!
//! A price is kept as that of the whole room of a cluster in a resource, so that use counts from 0 to 1.

use std::num::NonZeroUsize;

use crate::bound::Bound;
use crate::chunk::{self, Chunk, Metric};
use crate::classes::Classes;
use crate::fleet::{Fleet, Malformed};
use crate::gap::Prices;

/// Steps between two looks at how good a point is.
const LOOK: usize = 25;
/// Looks between two changes of the balance.
const BALANCE: usize = 2;

/// How long the relaxation is worked on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Most steps.
    pub steps: usize,
    /// It ends once a point costs at most this part more than the bound.
    pub gap: f64,
    /// Number of threads, which changes no result.
    pub threads: NonZeroUsize,
}

impl Settings {
    /// 350 steps, or less if a point is within 0.2 % of the bound.
    pub fn new(threads: NonZeroUsize) -> Self {
        Self {
            steps: 350,
            gap: 0.002,
            threads,
        }
    }
}

/// A solved relaxation.
#[derive(Clone, Debug)]
pub struct Relaxation {
    /// No plan costs less.
    pub bound: Bound,
    /// Steps that it took.
    pub steps: usize,
    /// The prices of room at which the bound is highest.
    pub prices: Prices,
    /// The same for the whole room, by cluster and then resource.
    pub(crate) whole: Vec<f64>,
    /// Replicas by edge of the best point, not whole numbers.
    pub(crate) placed: Vec<f64>,
}

impl Relaxation {
    /// Works on the relaxation of a fleet.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if the fleet is none.
    pub fn solve(fleet: &Fleet, settings: &Settings) -> Result<Self, Malformed> {
        fleet.check()?;
        Ok(Self::of(&Classes::of(fleet), settings))
    }

    pub(crate) fn of(classes: &Classes, settings: &Settings) -> Self {
        Solver::new(classes, settings).solve()
    }

    /// The same from former prices of whole rooms, and from replicas by edge.
    pub(crate) fn from(classes: &Classes, settings: &Settings, whole: Vec<f64>, placed: &[f64]) -> Self {
        let mut solver = Solver::new(classes, settings);
        solver.begin_at(whole, placed);
        solver.solve()
    }
}

/// The point at which a step begins, and where the round began, as prices and the use of room.
#[derive(Clone)]
struct Point {
    prices: Vec<f64>,
    used: Vec<f64>,
}

struct Solver<'a> {
    classes: &'a Classes,
    settings: &'a Settings,
    chunks: Vec<Chunk>,
    /// Length of steps of prices, by cluster and resource.
    rates: Vec<f64>,
    metric: Metric,
    /// Mean worth of what an average cluster has of a resource.
    worth: f64,
    point: Point,
    anchor: Point,
    best: Best,
}

/// The best of what was seen: the highest bound with its prices, and the point that costs least.
struct Best {
    bound: f64,
    prices: Vec<f64>,
    cost: f64,
    placed: Vec<f64>,
}

/// What the steps of a round have come to.
#[derive(Default)]
struct Round {
    steps: usize,
    first: f64,
    last: f64,
}

impl Round {
    /// Whether the next round begins after a step that left this far from rest.
    fn ends(&mut self, distance: f64, total: usize) -> bool {
        if self.steps == 1 {
            self.first = distance;
        }
        let rises = distance > self.last;
        self.last = distance;
        let is_long = self.steps > 20 && self.steps as f64 >= 0.36 * total as f64;
        let stands = self.steps >= 40 && distance > 0.8 * self.first;
        self.steps > 1 && (distance <= 0.2 * self.first || (distance <= 0.8 * self.first && rises) || is_long || stands)
    }
}

impl<'a> Solver<'a> {
    fn new(classes: &'a Classes, settings: &'a Settings) -> Self {
        let mut chunks = chunk::cut(classes);
        let (rates, norm) = chunk::rates(classes, &mut chunks);
        let demand: f64 = classes
            .list
            .iter()
            .map(|class| class.replicas as f64 * class.size)
            .sum();
        let value: f64 = classes
            .list
            .iter()
            .map(|class| class.replicas as f64 * classes.unplaced_cost(class))
            .sum();
        let worth = if demand > 0.0 { value / demand } else { 0.0 };
        let free = Point {
            prices: vec![0.0; rates.len()],
            used: chunk::sum(&chunks, |chunk| &chunk.used),
        };
        let mut solver = Self {
            classes,
            settings,
            metric: Metric {
                pace: 0.99 / norm,
                balance: 1.0,
            },
            worth,
            best: Best {
                bound: f64::NEG_INFINITY,
                prices: free.prices.clone(),
                cost: f64::INFINITY,
                placed: Vec::new(),
            },
            anchor: free.clone(),
            point: free,
            rates,
            chunks,
        };
        solver.metric.balance = solver.first_balance();
        solver
    }

    /// How far prices are expected to go compared with replicas: a tenth of what room is worth, and all replicas.
    fn first_balance(&self) -> f64 {
        let rates = self.rates.iter().filter(|rate| **rate > 0.0);
        let prices: f64 = rates.map(|rate| (0.1 * self.worth).powi(2) / rate).sum();
        let replicas: f64 = self
            .chunks
            .iter()
            .map(|chunk| chunk.replicas_by_rate(self.classes))
            .sum();
        if prices > 0.0 && replicas > 0.0 {
            (prices / replicas).sqrt()
        } else {
            1.0
        }
    }

    /// Begins with these prices and replicas.
    fn begin_at(&mut self, prices: Vec<f64>, placed: &[f64]) {
        let classes = self.classes;
        chunk::each(&mut self.chunks, self.settings.threads, |chunk| {
            chunk.begin_at(classes, placed)
        });
        let used = chunk::sum(&self.chunks, |chunk| &chunk.used);
        self.look(&prices, &used);
        self.point = Point { prices, used };
        self.anchor = self.point.clone();
    }

    fn solve(mut self) -> Relaxation {
        let (mut round, mut steps) = (Round::default(), 0);
        // At no price, too: a fleet in which nothing competes is solved before the first step.
        let (is_solved, _) = self.look(&vec![0.0; self.rates.len()], &self.point.used.clone());
        while !is_solved && steps < self.settings.steps {
            steps += 1;
            round.steps += 1;
            let next = self.step();
            let distance = self.distance(&next);
            let is_look = steps % LOOK == 0 || steps == self.settings.steps;
            let mut factor = 1.0;
            if is_look {
                let (is_solved, balance) = self.look(&next.prices, &next.used);
                if is_solved {
                    break;
                }
                if steps % (LOOK * BALANCE) == 0 {
                    factor = balance;
                }
            }
            if factor != 1.0 || round.ends(distance, steps) {
                self.metric.balance *= factor;
                self.restart(next);
                round = Round::default();
            } else {
                self.advance(&next, round.steps);
            }
        }
        let bound = Bound::new(self.best.bound - self.classes.surplus(), self.best.bound);
        Relaxation {
            bound,
            steps,
            prices: Prices::of_whole(self.classes, &self.best.prices),
            whole: self.best.prices,
            placed: self.best.placed,
        }
    }

    /// One step of all classes and then of the prices, from the present point.
    fn step(&mut self) -> Point {
        let (classes, prices, metric) = (self.classes, &self.point.prices, self.metric);
        chunk::each(&mut self.chunks, self.settings.threads, |chunk| {
            chunk.step(classes, prices, metric)
        });
        let used = chunk::sum(&self.chunks, |chunk| &chunk.used);
        let ahead = used
            .iter()
            .zip(&self.point.used)
            .map(|(next, before)| 2.0 * next - before);
        let moved = self.point.prices.iter().zip(&self.rates).zip(ahead);
        let prices = moved.map(|((price, rate), used)| (price + metric.price_step(*rate) * (used - 1.0)).max(0.0));
        Point {
            prices: prices.collect(),
            used,
        }
    }

    /// How far a step has gone from the present point, squared, in the metric of the method.
    fn distance(&self, next: &Point) -> f64 {
        let replicas: f64 = self.chunks.iter().map(|chunk| chunk.moved).sum();
        let (mut prices, mut both) = (0.0, 0.0);
        for (position, rate) in self.rates.iter().enumerate().filter(|(_, rate)| **rate > 0.0) {
            let price = next.prices[position] - self.point.prices[position];
            prices += price * price / self.metric.price_step(*rate);
            both += price * (next.used[position] - self.point.used[position]);
        }
        (replicas / self.metric.replica_step(1.0) + prices - 2.0 * both).max(0.0)
    }

    /// Begins a round where the last step led.
    fn restart(&mut self, next: Point) {
        chunk::each(&mut self.chunks, self.settings.threads, Chunk::restart);
        self.anchor = next.clone();
        self.point = next;
    }

    /// Goes on in the round: beyond where the step led, and back towards where the round began.
    fn advance(&mut self, next: &Point, steps: usize) {
        let weight = (steps as f64) / (steps as f64 + 1.0);
        chunk::each(&mut self.chunks, self.settings.threads, |chunk| chunk.advance(weight));
        let lists = [
            (&mut self.point.prices, &next.prices, &self.anchor.prices),
            (&mut self.point.used, &next.used, &self.anchor.used),
        ];
        for (point, next, anchor) in lists {
            for (point, (next, anchor)) in point.iter_mut().zip(next.iter().zip(anchor)) {
                *point = weight * (2.0 * next - *point) + (1.0 - weight) * anchor;
            }
        }
    }

    /// Looks at how good the point of the last step is. Whether that is enough, and by what the balance should change.
    fn look(&mut self, prices: &[f64], used: &[f64]) -> (bool, f64) {
        let classes = self.classes;
        chunk::each(&mut self.chunks, self.settings.threads, |chunk| {
            chunk.look(classes, prices)
        });
        let cost: f64 = self.chunks.iter().map(|chunk| chunk.cost).sum();
        let least: f64 = self.chunks.iter().map(|chunk| chunk.least).sum();
        let bound = least - prices.iter().sum::<f64>();
        if bound > self.best.bound {
            self.best.bound = bound;
            prices.clone_into(&mut self.best.prices);
        }
        // Room that is used twice is priced above what the relaxation asks for it: someone must leave, and may not be placed at all.
        let beyond = used
            .iter()
            .zip(prices)
            .map(|(used, price)| (used - 1.0).max(0.0) * (2.0 * price).max(self.worth));
        let beyond: f64 = beyond.sum();
        if cost + beyond < self.best.cost {
            self.best.cost = cost + beyond;
            self.best.placed = self
                .chunks
                .iter()
                .flat_map(|chunk| chunk.placed.iter().copied())
                .collect();
        }
        let surplus = classes.surplus();
        let is_solved = self.best.cost - self.best.bound
            <= self.settings.gap * (self.best.bound - surplus).max(0.0) + 1e-9 * self.best.bound.abs();
        let excess = beyond / (cost - bound).max(1e-4 * bound.abs()).max(f64::MIN_POSITIVE);
        let factor = match excess {
            30.0.. => 3.0,
            10.0.. => 2.0,
            3.0.. => 1.5,
            ..0.1 => 0.5,
            ..0.33 => 0.7,
            _ => 1.0,
        };
        (is_solved, factor)
    }
}
