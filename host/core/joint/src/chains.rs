//! Placing replicas by moving others, who may move others in turn.

use crate::assignment::Assignment;
use crate::classes::Classes;

/// Choices of a class for which others are asked to move.
const TRIED: usize = 5;
/// Classes that are asked to move from one cluster, those that cannot included.
const ASKED: usize = 32;

/// What finds chains.
pub(crate) struct Chains<'a, 'b> {
    pub(crate) assignment: &'b mut Assignment<'a>,
    order: &'b Order,
    /// Whether replicas of a lower priority may be left out.
    may_drop: bool,
    /// How many more clusters may be tried.
    pub(crate) budget: usize,
    /// Clusters that room is made in, to which nothing may be moved.
    closed: Vec<u32>,
}

/// In which order choices are tried: by what a replica costs there, with the price of room.
pub(crate) struct Order {
    /// By edge, cost and price of a replica.
    reduced: Vec<f64>,
    /// By class, its edges from the cheapest.
    cheapest: Vec<u32>,
    /// By cluster, its edges with their classes.
    of_cluster: Vec<Vec<(u32, u32)>>,
}

impl Order {
    pub(crate) fn new(classes: &Classes, prices: &[f64]) -> Self {
        let reduced: Vec<f64> = (0..classes.cluster.len())
            .map(|edge| classes.cost[edge] + classes.price(edge, prices))
            .collect();
        let mut cheapest: Vec<u32> = (0..classes.cluster.len() as u32).collect();
        let mut of_cluster = vec![Vec::new(); classes.clusters];
        for (number, class) in (0_u32..).zip(&classes.list) {
            let edges = &mut cheapest[class.edges.clone()];
            edges.sort_by(|left, right| {
                reduced[*left as usize]
                    .total_cmp(&reduced[*right as usize])
                    .then(left.cmp(right))
            });
            for edge in class.edges.clone() {
                of_cluster[classes.cluster[edge] as usize].push((edge as u32, number));
            }
        }
        Self {
            reduced,
            cheapest,
            of_cluster,
        }
    }

    /// The edges of a class from the cheapest.
    pub(crate) fn edges<'s>(&'s self, classes: &Classes, class: usize) -> impl Iterator<Item = usize> + use<'s> {
        self.cheapest[classes.list[class].edges.clone()]
            .iter()
            .map(|edge| *edge as usize)
    }

    /// The edges in the cluster of an edge, with their classes.
    pub(crate) fn of_cluster(&self, classes: &Classes, edge: usize) -> &[(u32, u32)] {
        &self.of_cluster[classes.cluster[edge] as usize]
    }

    /// Cost and price of a replica on an edge.
    pub(crate) fn reduced(&self, edge: usize) -> f64 {
        self.reduced[edge]
    }
}

impl<'a, 'b> Chains<'a, 'b> {
    pub(crate) fn new(assignment: &'b mut Assignment<'a>, order: &'b Order, may_drop: bool) -> Self {
        Self {
            assignment,
            order,
            may_drop,
            budget: 0,
            closed: Vec::new(),
        }
    }

    /// Places that many waiting replicas of a class on one edge, for less than `limit`, and returns what everything costs more. Others may
    /// move as often as `depth` says. Nothing is changed if there is no such chain.
    pub(crate) fn place(&mut self, class: usize, replicas: u64, depth: usize, limit: f64) -> Option<f64> {
        if let Some((edge, cost)) = self.direct(class, replicas)
            && cost < limit
        {
            self.assignment.put(class, edge, replicas);
            return Some(cost);
        }
        if depth == 0 {
            return None;
        }
        let classes = self.assignment.classes;
        let tried = self.tried(class, replicas);
        for edge in tried {
            let own = self.assignment.cost_of(edge, replicas);
            if own >= limit {
                continue;
            }
            if self.budget == 0 {
                return None;
            }
            self.budget -= 1;
            let mark = self.assignment.mark();
            self.closed.push(classes.cluster[edge]);
            let made = self.make_room(class, edge, replicas, depth, limit - own);
            self.closed.pop();
            match made {
                Some(cost) => {
                    self.assignment.put(class, edge, replicas);
                    return Some(own + cost);
                }
                None => self.assignment.undo(mark),
            }
        }
        None
    }

    /// The edges on which room for replicas is made: the cheapest, of these the ones that lack least.
    fn tried(&self, class: usize, replicas: u64) -> Vec<usize> {
        let classes = self.assignment.classes;
        let mut edges: Vec<(f64, f64, usize)> = Vec::new();
        for edge in classes.list[class].edges.clone() {
            let has_most = classes.most[edge].saturating_sub(self.assignment.placed(edge)) >= replicas;
            let is_open = self.assignment.placed(edge) > 0 || !self.assignment.is_spread_out(class);
            if has_most && is_open && !self.closed.contains(&classes.cluster[edge]) {
                let is_beyond = self.assignment.placed(edge) >= classes.home[edge];
                let moved = if is_beyond { classes.move_price } else { 0.0 };
                let room = classes.room[classes.row(edge)..].iter();
                let missing = self.missing(class, edge, replicas).zip(room);
                let missing = missing
                    .map(|(missing, room)| missing as f64 / (*room as f64).max(1.0))
                    .sum();
                edges.push((self.order.reduced(edge) + moved, missing, edge));
            }
        }
        let by_cost = |left: &(f64, f64, usize), right: &(f64, f64, usize)| {
            left.0
                .total_cmp(&right.0)
                .then(left.1.total_cmp(&right.1))
                .then(left.2.cmp(&right.2))
        };
        if edges.len() > TRIED {
            edges.select_nth_unstable_by(TRIED - 1, by_cost);
            edges.truncate(TRIED);
        }
        edges.sort_by(by_cost);
        edges.into_iter().map(|(.., edge)| edge).collect()
    }

    /// The edge on which replicas fit and cost least.
    fn direct(&self, class: usize, replicas: u64) -> Option<(usize, f64)> {
        let classes = self.assignment.classes;
        let edges = classes.list[class].edges.clone();
        edges
            .filter(|edge| {
                !self.closed.contains(&classes.cluster[*edge]) && self.assignment.fits(class, *edge) >= replicas
            })
            .map(|edge| (edge, self.assignment.cost_of(edge, replicas)))
            .min_by(|left, right| left.1.total_cmp(&right.1))
    }

    /// Moves others until replicas of a class fit on an edge, and returns what that costs; nothing if it cannot be had for less than
    /// `limit`, with some of them moved.
    fn make_room(&mut self, class: usize, edge: usize, replicas: u64, depth: usize, limit: f64) -> Option<f64> {
        let mut cost = 0.0;
        for (other, other_class) in self.asked(class, edge, replicas) {
            let enough = self.enough(class, edge, replicas, other, other_class);
            if enough == 0 {
                break;
            }
            let mark = self.assignment.mark();
            let saved = self.assignment.saved_by(other, enough);
            self.assignment.take(other_class, other, enough);
            let rest = limit - cost + saved;
            if let Some(moved) = self.place(other_class, enough, depth - 1, rest) {
                cost += moved - saved;
                continue;
            }
            let classes = self.assignment.classes;
            let dropped = classes.unplaced_cost(&classes.list[other_class]) * enough as f64;
            if self.may_drop && classes.list[other_class].priority < classes.list[class].priority && dropped < rest {
                cost += dropped - saved;
            } else {
                self.assignment.undo(mark);
            }
        }
        (self.assignment.fits(class, edge) >= replicas && cost < limit).then_some(cost)
    }

    /// Who is asked to move from the cluster of an edge: those who lose least for what they make free.
    fn asked(&self, class: usize, edge: usize, replicas: u64) -> Vec<(usize, usize)> {
        let classes = self.assignment.classes;
        let mut asked: Vec<(f64, usize, usize)> = Vec::new();
        for (other, other_class) in &self.order.of_cluster[classes.cluster[edge] as usize] {
            let (other, other_class) = (*other as usize, *other_class as usize);
            if other == edge || self.assignment.placed(other) == 0 {
                continue;
            }
            let (replicas, relief) = self.relief(class, edge, replicas, other, other_class);
            if replicas > 0 {
                let next = self.next_choice(other_class, other);
                let loss = (next - self.order.reduced(other)) * replicas as f64 / relief;
                asked.push((loss, other, other_class));
            }
        }
        let by_loss = |left: &(f64, usize, usize), right: &(f64, usize, usize)| {
            left.0.total_cmp(&right.0).then(left.1.cmp(&right.1))
        };
        if asked.len() > ASKED {
            asked.select_nth_unstable_by(ASKED - 1, by_loss);
            asked.truncate(ASKED);
        }
        asked.sort_by(by_loss);
        asked
            .into_iter()
            .map(|(_, other, other_class)| (other, other_class))
            .collect()
    }

    /// What a replica costs where a class would go from an edge, or if it is not placed.
    fn next_choice(&self, class: usize, from: usize) -> f64 {
        let classes = self.assignment.classes;
        let other = self.order.edges(classes, class).find(|edge| *edge != from);
        let unplaced = classes.unplaced_cost(&classes.list[class]);
        other.map_or(unplaced, |edge| {
            (self.order.reduced(edge) + classes.move_price).min(unplaced)
        })
    }

    /// By resource, what is missing for replicas of a class on an edge.
    fn missing(&self, class: usize, edge: usize, replicas: u64) -> impl Iterator<Item = i64> {
        let request = &self.assignment.classes.list[class].request;
        let needed = request.iter().map(move |request| (*request * replicas) as i64);
        // A cluster in which more runs than it has room for lacks only what is asked for now.
        self.assignment
            .free(edge)
            .iter()
            .zip(needed)
            .map(|(free, needed)| if needed == 0 { 0 } else { (needed - free).max(0) })
    }

    /// How many replicas of another class must go so that all that is missing, or as much as they can, becomes free, and which part of what
    /// is missing that is, added up over resources.
    fn relief(&self, class: usize, edge: usize, replicas: u64, other: usize, other_class: usize) -> (u64, f64) {
        let classes = self.assignment.classes;
        let (mut enough, mut relief) = (0, 0.0);
        let request = &classes.list[other_class].request;
        for (missing, request) in self.missing(class, edge, replicas).zip(request) {
            if missing > 0 && *request > 0 {
                enough = enough.max((missing as u64).div_ceil(*request));
            }
        }
        let placed = self.assignment.placed(other);
        // One that is in as many clusters as it may be has to leave this one altogether.
        let enough = if enough > 0 && self.assignment.is_spread_out(other_class) {
            placed
        } else {
            enough.min(placed)
        };
        for (missing, request) in self.missing(class, edge, replicas).zip(request) {
            if missing > 0 {
                relief += ((request * enough) as f64 / missing as f64).min(1.0);
            }
        }
        (enough, relief)
    }

    fn enough(&self, class: usize, edge: usize, replicas: u64, other: usize, other_class: usize) -> u64 {
        self.relief(class, edge, replicas, other, other_class).0
    }
}
