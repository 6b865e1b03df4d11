//! Whole replicas of classes on their edges, what is free beside them, and the way back.

use crate::classes::Classes;

/// Where the replicas of each class are. Every change is noted and can be undone.
pub(crate) struct Assignment<'a> {
    pub(crate) classes: &'a Classes,
    /// By cluster and resource. Negative if more runs in a cluster than it has room for.
    free: Vec<i64>,
    /// By edge.
    placed: Vec<u64>,
    /// By class.
    waiting: Vec<u64>,
    /// By class, edges on which replicas are.
    open: Vec<u32>,
    /// Changes since the beginning: the edge, its class, and by how many replicas.
    changes: Vec<(u32, u32, i64)>,
}

/// A state to which one can go back.
#[derive(Clone, Copy)]
pub(crate) struct Mark(usize);

impl<'a> Assignment<'a> {
    /// Nothing is placed.
    pub(crate) fn empty(classes: &'a Classes) -> Self {
        Self {
            classes,
            // A fleet is checked: sums of room and of requests are well within the type.
            free: classes
                .room
                .iter()
                .map(|room| i64::try_from(*room).unwrap_or(i64::MAX))
                .collect(),
            placed: vec![0; classes.cluster.len()],
            waiting: classes.list.iter().map(|class| class.replicas).collect(),
            open: vec![0; classes.list.len()],
            changes: Vec::new(),
        }
    }

    /// What each demand has in its choices, given by cluster.
    pub(crate) fn at(classes: &'a Classes, present: &[Vec<(u32, u64)>]) -> Self {
        let mut assignment = Self::empty(classes);
        for (number, class) in classes.list.iter().enumerate() {
            let clusters = &classes.cluster[class.edges.clone()];
            for (cluster, replicas) in class.demands.iter().flat_map(|demand| &present[*demand as usize]) {
                if let Ok(position) = clusters.binary_search(cluster) {
                    assignment.put(number, class.edges.start + position, *replicas);
                }
            }
        }
        assignment.forget_changes();
        assignment
    }

    pub(crate) fn placed(&self, edge: usize) -> u64 {
        self.placed[edge]
    }

    /// Replicas that are not where they run.
    pub(crate) fn moved(&self) -> u64 {
        let edges = self.classes.home.iter().zip(&self.placed);
        edges.map(|(home, placed)| home.saturating_sub(*placed)).sum()
    }

    pub(crate) fn waiting(&self, class: usize) -> u64 {
        self.waiting[class]
    }

    /// Most replicas of a class that fit on an edge beside those that are there.
    pub(crate) fn fits(&self, class: usize, edge: usize) -> u64 {
        if self.placed[edge] == 0 && self.is_spread_out(class) {
            return 0;
        }
        let mut most = self.classes.most[edge].saturating_sub(self.placed[edge]);
        for (free, request) in self.free(edge).iter().zip(&self.classes.list[class].request) {
            if *request > 0 {
                most = most.min(u64::try_from(*free).unwrap_or(0) / request);
            }
        }
        most
    }

    /// Whether a class is in as many clusters as it may be.
    pub(crate) fn is_spread_out(&self, class: usize) -> bool {
        self.classes.list[class]
            .clusters
            .is_some_and(|most| self.open[class] >= most)
    }

    /// By resource, what is free in the cluster of an edge.
    pub(crate) fn free(&self, edge: usize) -> &[i64] {
        let row = self.classes.row(edge);
        &self.free[row..row + self.classes.resources]
    }

    /// Places waiting replicas of a class on an edge, whether there is room or not.
    pub(crate) fn put(&mut self, class: usize, edge: usize, replicas: u64) {
        if replicas > 0 {
            self.change(class, edge, i64::try_from(replicas).unwrap_or(i64::MAX));
        }
    }

    /// Takes replicas of a class from an edge: they wait.
    pub(crate) fn take(&mut self, class: usize, edge: usize, replicas: u64) {
        if replicas > 0 {
            self.change(class, edge, -i64::try_from(replicas).unwrap_or(i64::MAX));
        }
    }

    fn change(&mut self, class: usize, edge: usize, replicas: i64) {
        self.apply(class, edge, replicas);
        self.changes.push((edge as u32, class as u32, replicas));
    }

    fn apply(&mut self, class: usize, edge: usize, replicas: i64) {
        let was_open = self.placed[edge] > 0;
        self.placed[edge] = self.placed[edge].wrapping_add_signed(replicas);
        match (was_open, self.placed[edge] > 0) {
            (false, true) => self.open[class] += 1,
            (true, false) => self.open[class] -= 1,
            _ => {}
        }
        self.waiting[class] = self.waiting[class].wrapping_add_signed(-replicas);
        let row = self.classes.row(edge);
        let request = &self.classes.list[class].request;
        for (free, request) in self.free[row..row + self.classes.resources].iter_mut().zip(request) {
            *free -= replicas * *request as i64;
        }
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark(self.changes.len())
    }

    /// Goes back to a state.
    pub(crate) fn undo(&mut self, mark: Mark) {
        while self.changes.len() > mark.0 {
            if let Some((edge, class, replicas)) = self.changes.pop() {
                self.apply(class as usize, edge as usize, -replicas);
            }
        }
    }

    /// Makes all marks invalid.
    pub(crate) fn forget_changes(&mut self) {
        self.changes.clear();
    }

    /// What everything costs: moves, clusters, and what waits.
    pub(crate) fn cost(&self) -> f64 {
        let mut cost = -self.classes.surplus();
        for (class, waiting) in self.classes.list.iter().zip(&self.waiting) {
            cost += self.classes.unplaced_cost(class) * *waiting as f64;
        }
        for (edge, placed) in self.placed.iter().enumerate() {
            let beyond = placed.saturating_sub(self.classes.home[edge]);
            cost += self.classes.cost[edge] * *placed as f64 + self.classes.move_price * beyond as f64;
        }
        cost
    }

    /// What more replicas on an edge cost.
    pub(crate) fn cost_of(&self, edge: usize, replicas: u64) -> f64 {
        let beyond = |placed: u64| placed.saturating_sub(self.classes.home[edge]);
        let moved = beyond(self.placed[edge] + replicas) - beyond(self.placed[edge]);
        self.classes.cost[edge] * replicas as f64 + self.classes.move_price * moved as f64
    }

    /// What fewer replicas on an edge save.
    pub(crate) fn saved_by(&self, edge: usize, replicas: u64) -> f64 {
        let beyond = |placed: u64| placed.saturating_sub(self.classes.home[edge]);
        let moved = beyond(self.placed[edge]) - beyond(self.placed[edge] - replicas);
        self.classes.cost[edge] * replicas as f64 + self.classes.move_price * moved as f64
    }
}
