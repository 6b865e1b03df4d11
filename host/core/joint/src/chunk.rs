//! The part of the relaxation that is worked on for a block of classes, without looking at others.

use std::num::NonZeroUsize;
use std::ops::Range;

use crate::bound;
use crate::classes::Classes;
use crate::projection::Step;

/// Number of blocks. Fixed, because sums are added up by block.
const BLOCKS: usize = 32;
/// Steps by which the norm of the use of room is estimated.
const POWER_STEPS: usize = 12;

/// How far a step goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Metric {
    /// By both together.
    pub(crate) pace: f64,
    /// By prices compared with replicas.
    pub(crate) balance: f64,
}

impl Metric {
    /// Of replicas with a rate.
    pub(crate) fn replica_step(self, rate: f64) -> f64 {
        rate * self.pace / self.balance
    }

    /// Of a price with a rate.
    pub(crate) fn price_step(self, rate: f64) -> f64 {
        rate * self.pace * self.balance
    }
}

/// A block of classes.
pub(crate) struct Chunk {
    classes: Range<usize>,
    edges: Range<usize>,
    /// By class, length of its steps; 0 if it uses no room or has no choice: it stays where it is cheapest.
    rates: Vec<f64>,
    /// By class, where the next search for its shift begins.
    shifts: Vec<f64>,
    /// By edge, and then by class what is not placed: the present point, where the round began, and where the last step led.
    point: Vec<f64>,
    anchor: Vec<f64>,
    pub(crate) placed: Vec<f64>,
    unplaced: Vec<f64>,
    point_unplaced: Vec<f64>,
    anchor_unplaced: Vec<f64>,
    /// Where the step of a class leads, before it is made feasible.
    wanted: Vec<f64>,
    /// By cluster and resource, what `placed` uses.
    pub(crate) used: Vec<f64>,
    /// How far the last step went, squared, each class by its rate.
    pub(crate) moved: f64,
    /// Cost of `placed`.
    pub(crate) cost: f64,
    /// The least that the classes can cost at the prices last looked at.
    pub(crate) least: f64,
}

/// Cuts the classes into blocks of about as many edges each, at the point where each class is cheapest without prices.
pub(crate) fn cut(classes: &Classes) -> Vec<Chunk> {
    let total = classes.cluster.len();
    let mut chunks = Vec::with_capacity(BLOCKS);
    let mut start = 0;
    for number in 1..=BLOCKS {
        let wanted = total * number / BLOCKS;
        let more = classes.list[start..]
            .iter()
            .take_while(|class| number == BLOCKS || class.edges.end <= wanted)
            .count();
        if more > 0 {
            chunks.push(Chunk::new(classes, start..start + more));
            start += more;
        }
    }
    chunks
}

/// Does something with every block.
pub(crate) fn each(chunks: &mut [Chunk], threads: NonZeroUsize, work: impl Fn(&mut Chunk) + Sync) {
    /// Edges below which starting threads takes longer than the work.
    const FEW: usize = 20_000;
    let edges: usize = chunks.iter().map(|chunk| chunk.edges.len()).sum();
    let threads = if edges < FEW { NonZeroUsize::MIN } else { threads };
    divvy_parallel::collect(chunks.iter_mut(), threads, || &work);
}

/// Adds up a list of all blocks.
pub(crate) fn sum(chunks: &[Chunk], list: impl Fn(&Chunk) -> &[f64]) -> Vec<f64> {
    let mut sums = chunks.first().map_or_else(Vec::new, |first| list(first).to_vec());
    for chunk in chunks.iter().skip(1) {
        for (sum, value) in sums.iter_mut().zip(list(chunk)) {
            *sum += value;
        }
    }
    sums
}

/// Sets the rate of every class, and returns those of prices by cluster and resource, with the norm of the use of room in these rates.
///
/// A step of replicas is as long as all replicas of the class take an average part of the dearest choice; one of a price is as short as
/// all that could come there would use of the room.
pub(crate) fn rates(classes: &Classes, chunks: &mut [Chunk]) -> (Vec<f64>, f64) {
    let mut uses = vec![0.0; classes.room.len()];
    for chunk in chunks.iter_mut() {
        for (position, number) in chunk.classes.clone().enumerate() {
            let class = &classes.list[number];
            let replicas = class.replicas as f64;
            let part = |edge: usize| classes.parts(edge).iter().sum::<f64>();
            let largest = class.edges.clone().map(part).fold(0.0, f64::max);
            chunk.rates[position] = if largest > 0.0 { replicas / largest } else { 0.0 };
            for edge in class.edges.clone() {
                classes.uses(edge, replicas, &mut uses);
            }
        }
    }
    let rates: Vec<f64> = uses
        .iter()
        .map(|uses| if *uses > 0.0 { 1.0 / uses } else { 0.0 })
        .collect();
    let norm = norm(classes, chunks, &rates);
    (rates, norm)
}

/// The largest factor by which the use of room, in these rates, lengthens a change of replicas: found by applying it and its reverse.
fn norm(classes: &Classes, chunks: &[Chunk], rates: &[f64]) -> f64 {
    let mut change = vec![1.0; classes.cluster.len()];
    let mut norm = 1.0;
    for _ in 0..POWER_STEPS {
        let mut used = vec![0.0; rates.len()];
        let each = |chunk: &Chunk, number: usize| chunk.rates[number - chunk.classes.start].sqrt();
        for chunk in chunks {
            for number in chunk.classes.clone() {
                for edge in classes.list[number].edges.clone() {
                    classes.uses(edge, change[edge] * each(chunk, number), &mut used);
                }
            }
        }
        for (used, rate) in used.iter_mut().zip(rates) {
            *used *= rate;
        }
        let before = length(&change);
        for chunk in chunks {
            for number in chunk.classes.clone() {
                for edge in classes.list[number].edges.clone() {
                    change[edge] = classes.price(edge, &used) * each(chunk, number);
                }
            }
        }
        let after = length(&change);
        if after <= 0.0 {
            break;
        }
        norm = (after / before).sqrt();
        for change in &mut change {
            *change /= after;
        }
    }
    norm
}

fn length(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}

impl Chunk {
    fn new(classes: &Classes, range: Range<usize>) -> Self {
        let edges = classes.list[range.start].edges.start..classes.list[range.end - 1].edges.end;
        let mut chunk = Self {
            rates: vec![0.0; range.len()],
            shifts: vec![0.0; range.len()],
            point: Vec::new(),
            anchor: Vec::new(),
            placed: vec![0.0; edges.len()],
            unplaced: vec![0.0; range.len()],
            point_unplaced: Vec::new(),
            anchor_unplaced: Vec::new(),
            wanted: vec![0.0; edges.len()],
            used: vec![0.0; classes.room.len()],
            moved: 0.0,
            cost: 0.0,
            least: 0.0,
            classes: range,
            edges,
        };
        for (position, number) in chunk.classes.clone().enumerate() {
            let class = &classes.list[number];
            let reduced = &classes.cost[class.edges.clone()];
            chunk.unplaced[position] = class.replicas as f64;
            bound::cheapest(classes, number, reduced, |edge, replicas| {
                chunk.placed[edge - chunk.edges.start] += replicas;
                chunk.unplaced[position] -= replicas;
                classes.uses(edge, replicas, &mut chunk.used);
            });
        }
        chunk.restart();
        chunk
    }

    /// What the steps of all replicas add up to, each class by its rate.
    pub(crate) fn replicas_by_rate(&self, classes: &Classes) -> f64 {
        let list = classes.list[self.classes.clone()].iter().zip(&self.rates);
        list.filter(|(_, rate)| **rate > 0.0)
            .map(|(class, rate)| (class.replicas as f64).powi(2) / rate)
            .sum()
    }

    /// The edges of a class within this block.
    fn own_edges(&self, classes: &Classes, number: usize) -> Range<usize> {
        let edges = &classes.list[number].edges;
        edges.start - self.edges.start..edges.end - self.edges.start
    }

    /// Lets each class hand out its replicas anew, at these prices and not too far from the present point.
    pub(crate) fn step(&mut self, classes: &Classes, prices: &[f64], metric: Metric) {
        self.used.fill(0.0);
        self.moved = 0.0;
        for (position, number) in self.classes.clone().enumerate() {
            let (class, own, rate) = (
                &classes.list[number],
                self.own_edges(classes, number),
                self.rates[position],
            );
            if rate == 0.0 {
                continue;
            }
            let step = metric.replica_step(rate);
            let unplaced_cost = classes.unplaced_cost(class);
            let mut least = unplaced_cost;
            let wanted = &mut self.wanted[own.clone()];
            for (wanted, edge) in wanted.iter_mut().zip(class.edges.clone()) {
                *wanted = classes.cost[edge] + classes.price(edge, prices);
                least = least.min(*wanted);
            }
            let point = &self.point[own.clone()];
            for (wanted, point) in wanted.iter_mut().zip(point) {
                *wanted = point - step * (*wanted - least);
            }
            let feasible = Step {
                wanted,
                unplaced: self.point_unplaced[position] - step * (unplaced_cost - least),
                home: &classes.home[class.edges.clone()],
                most: &classes.most[class.edges.clone()],
                hold: step * classes.move_price,
                replicas: class.replicas as f64,
            };
            let placed = &mut self.placed[own];
            let unplaced = feasible.project(placed, &mut self.shifts[position]);
            self.unplaced[position] = unplaced;
            let mut moved = (unplaced - self.point_unplaced[position]).powi(2);
            for ((placed, point), edge) in placed.iter().zip(point).zip(class.edges.clone()) {
                moved += (placed - point).powi(2);
                if *placed > 0.0 {
                    classes.uses(edge, *placed, &mut self.used);
                }
            }
            self.moved += moved / rate;
        }
    }

    /// Begins with these replicas by edge.
    pub(crate) fn begin_at(&mut self, classes: &Classes, placed: &[f64]) {
        self.placed.copy_from_slice(&placed[self.edges.clone()]);
        self.used.fill(0.0);
        for (position, number) in self.classes.clone().enumerate() {
            let class = &classes.list[number];
            let placed = &self.placed[self.own_edges(classes, number)];
            for (edge, placed) in class.edges.clone().zip(placed) {
                classes.uses(edge, *placed, &mut self.used);
            }
            let all: f64 = placed.iter().sum();
            self.unplaced[position] = (class.replicas as f64 - all).max(0.0);
        }
        self.restart();
    }

    /// Begins a round where the last step led.
    pub(crate) fn restart(&mut self) {
        self.placed.clone_into(&mut self.point);
        self.placed.clone_into(&mut self.anchor);
        self.unplaced.clone_into(&mut self.point_unplaced);
        self.unplaced.clone_into(&mut self.anchor_unplaced);
    }

    /// Goes beyond where the last step led, and back towards where the round began.
    pub(crate) fn advance(&mut self, weight: f64) {
        let lists = [
            (&mut self.point, &self.placed, &self.anchor),
            (&mut self.point_unplaced, &self.unplaced, &self.anchor_unplaced),
        ];
        for (point, placed, anchor) in lists {
            for (point, (placed, anchor)) in point.iter_mut().zip(placed.iter().zip(anchor)) {
                *point = weight * (2.0 * placed - *point) + (1.0 - weight) * anchor;
            }
        }
    }

    /// Adds up what the last step costs, and the least that its classes could cost at these prices.
    pub(crate) fn look(&mut self, classes: &Classes, prices: &[f64]) {
        (self.cost, self.least) = (0.0, 0.0);
        for (position, number) in self.classes.clone().enumerate() {
            let (class, own) = (&classes.list[number], self.own_edges(classes, number));
            let reduced = &mut self.wanted[own.clone()];
            for ((edge, reduced), placed) in class.edges.clone().zip(reduced.iter_mut()).zip(&self.placed[own]) {
                *reduced = classes.cost[edge] + classes.price(edge, prices);
                let beyond = (placed - classes.home[edge] as f64).max(0.0);
                self.cost += classes.cost[edge] * placed + classes.move_price * beyond;
            }
            self.cost += classes.unplaced_cost(class) * self.unplaced[position];
            self.least += bound::cheapest(classes, number, reduced, |_, _| {});
        }
    }
}
