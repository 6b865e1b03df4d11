//! Workloads with the same choices, as one.
//!
//! What demands the same of the same clusters at the same cost, is worth the same and is as urgent forms a class, whose replicas add up. The
//! relaxation loses nothing by it: replicas that run, and limits per cluster, add up as well. A class that runs somewhere is kept apart from
//! one that does not.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::fleet::{Choice, Demand, Fleet};

/// All classes of a fleet. An *edge* is a choice of a class; the edges of a class are consecutive, in the order of clusters.
#[derive(Debug)]
pub(crate) struct Classes {
    /// Number of resources.
    pub(crate) resources: usize,
    /// Number of clusters.
    pub(crate) clusters: usize,
    /// Room, by cluster and then resource.
    pub(crate) room: Vec<u64>,
    /// Price of a replica that leaves home.
    pub(crate) move_price: f64,
    pub(crate) list: Vec<Class>,
    /// The cluster of each edge.
    pub(crate) cluster: Vec<u32>,
    /// The cost of a replica on each edge.
    pub(crate) cost: Vec<f64>,
    /// Replicas that run on each edge.
    pub(crate) home: Vec<u64>,
    /// Most replicas on each edge.
    pub(crate) most: Vec<u64>,
    /// By edge and then resource, the part of the room that a replica takes.
    pub(crate) part: Vec<f64>,
    /// Replicas of demands that run in a cluster which is no choice, or has no room at all for them.
    pub(crate) homeless: u64,
}

/// Workloads with the same choices.
#[derive(Debug)]
pub(crate) struct Class {
    /// Positions of its demands, in ascending order.
    pub(crate) demands: Vec<u32>,
    pub(crate) edges: Range<usize>,
    pub(crate) replicas: u64,
    pub(crate) request: Vec<u64>,
    pub(crate) priority: i64,
    /// Most clusters, if there is a limit; then it has one demand.
    pub(crate) clusters: Option<u32>,
    /// What a replica that is not placed costs, beside the move that it may have saved.
    pub(crate) worth: f64,
    /// What a replica requests, summed up over resources, each as a part of what an average cluster has.
    pub(crate) size: f64,
}

/// What the demands of a class have in common.
#[derive(PartialEq, Eq, Hash)]
struct Key<'a> {
    choices: usize,
    request: &'a [u64],
    priority: i64,
    worth: u64,
    is_limited: bool,
    runs: bool,
    /// The demand, if it is a class of its own.
    apart: Option<u32>,
}

impl Classes {
    /// The classes of a fleet that was checked, in the order of their first demands.
    pub(crate) fn of(fleet: &Fleet) -> Self {
        Self::grouped(fleet, |_, _| false)
    }

    fn grouped(fleet: &Fleet, is_apart: impl Fn(usize, &Demand) -> bool) -> Self {
        let mut lists = ChoiceLists::default();
        let mut positions: HashMap<Key<'_>, usize> = HashMap::new();
        let mut members: Vec<Vec<u32>> = Vec::new();
        for (number, demand) in (0..).zip(&fleet.demands) {
            let key = Key {
                choices: lists.number(&demand.choices),
                request: &demand.request,
                priority: demand.priority,
                worth: demand.worth.to_bits(),
                is_limited: demand.largest.is_some(),
                runs: !demand.running.is_empty(),
                // A limit of clusters is that of one workload: several do not add up.
                apart: (demand.clusters.is_some() || is_apart(number as usize, demand)).then_some(number),
            };
            let position = *positions.entry(key).or_insert_with(|| {
                members.push(Vec::new());
                members.len() - 1
            });
            members[position].push(number);
        }
        Self::with_members(fleet, members)
    }

    /// The same, but each of these demands, or that has a limit per cluster, is a class of its own.
    pub(crate) fn apart(fleet: &Fleet, is_apart: impl Fn(usize, &Demand) -> bool) -> Self {
        Self::grouped(fleet, |number, demand| {
            demand.largest.is_some() || is_apart(number, demand)
        })
    }

    fn with_members(fleet: &Fleet, members: Vec<Vec<u32>>) -> Self {
        let resources = fleet.resources();
        let mut classes = Self {
            resources,
            clusters: fleet.room.len(),
            room: fleet.room.concat(),
            move_price: fleet.move_price,
            list: Vec::with_capacity(members.len()),
            cluster: Vec::new(),
            cost: Vec::new(),
            home: Vec::new(),
            most: Vec::new(),
            part: Vec::new(),
            homeless: 0,
        };
        let average = average_room(fleet);
        for demands in members {
            classes.add(fleet, demands, &average);
        }
        classes
    }

    fn add(&mut self, fleet: &Fleet, demands: Vec<u32>, average: &[f64]) {
        let member = |number: &u32| &fleet.demands[*number as usize];
        let first = member(&demands[0]);
        let start = self.cluster.len();
        for choice in first.choices.iter().filter(|choice| has_room(fleet, first, choice)) {
            self.cluster.push(choice.cluster);
            self.cost.push(choice.cost);
            let room = &fleet.room[choice.cluster as usize];
            self.part
                .extend(first.request.iter().zip(room).map(|(request, room)| match request {
                    0 => 0.0,
                    request => *request as f64 / *room as f64,
                }));
        }
        let edges = start..self.cluster.len();
        self.home.resize(edges.end, 0);
        for (cluster, replicas) in demands.iter().flat_map(|number| &member(number).running) {
            match self.cluster[edges.clone()].binary_search(cluster) {
                Ok(position) => self.home[start + position] += replicas,
                Err(_) => self.homeless += replicas,
            }
        }
        let limit = |demand: &Demand| demand.largest.unwrap_or(u64::MAX).min(demand.replicas);
        let most = demands.iter().map(|number| limit(member(number))).sum();
        self.most.resize(edges.end, most);
        self.list.push(Class {
            replicas: demands.iter().map(|number| member(number).replicas).sum(),
            request: first.request.clone(),
            priority: first.priority,
            clusters: first.clusters,
            worth: first.worth,
            size: first
                .request
                .iter()
                .zip(average)
                .map(|(request, average)| *request as f64 / average)
                .sum(),
            demands,
            edges,
        });
    }

    /// By resource, the part of the room that a replica on an edge takes.
    #[inline]
    pub(crate) fn parts(&self, edge: usize) -> &[f64] {
        &self.part[edge * self.resources..(edge + 1) * self.resources]
    }

    /// Where the values of an edge's cluster begin in a list by cluster and resource.
    #[inline]
    pub(crate) fn row(&self, edge: usize) -> usize {
        self.cluster[edge] as usize * self.resources
    }

    /// What a replica on an edge pays at these prices.
    #[inline]
    pub(crate) fn price(&self, edge: usize, prices: &[f64]) -> f64 {
        let row = self.row(edge);
        self.parts(edge)
            .iter()
            .zip(&prices[row..row + self.resources])
            .map(|(part, price)| part * price)
            .sum()
    }

    /// Adds what these replicas on an edge use.
    #[inline]
    pub(crate) fn uses(&self, edge: usize, replicas: f64, used: &mut [f64]) {
        let row = self.row(edge);
        for (used, part) in used[row..row + self.resources].iter_mut().zip(self.parts(edge)) {
            *used += part * replicas;
        }
    }

    /// What a replica costs that is not placed: its worth, and the price of the move, which placing it beyond its home would cost as well.
    pub(crate) fn unplaced_cost(&self, class: &Class) -> f64 {
        class.worth + self.move_price
    }

    /// What the sums of this crate count above the cost of a plan. They price every replica that is placed beyond a home or not at all;
    /// a plan costs the replicas that have left one. The two differ by the replicas that have no home, and those that must leave theirs.
    pub(crate) fn surplus(&self) -> f64 {
        let replicas: u64 = self.list.iter().map(|class| class.replicas).sum();
        let home: u64 = self.home.iter().sum();
        (replicas as f64 - home as f64 - self.homeless as f64) * self.move_price
    }
}

/// Whether a single replica fits the whole room of a cluster. A relaxation would put parts of one into what is left.
fn has_room(fleet: &Fleet, demand: &Demand, choice: &Choice) -> bool {
    demand
        .request
        .iter()
        .zip(&fleet.room[choice.cluster as usize])
        .all(|(request, room)| request <= room)
}

/// By resource, what an average cluster has, at least 1.
fn average_room(fleet: &Fleet) -> Vec<f64> {
    let sum = |resource: usize| fleet.room.iter().map(|room| room[resource] as f64).sum::<f64>();
    (0..fleet.resources())
        .map(|resource| (sum(resource) / fleet.room.len() as f64).max(1.0))
        .collect()
}

/// Numbers lists of choices by content. Lists that are shared are compared once.
#[derive(Default)]
struct ChoiceLists {
    by_address: HashMap<*const Choice, usize>,
    by_content: HashMap<Vec<(u32, u64)>, usize>,
}

impl ChoiceLists {
    fn number(&mut self, choices: &Arc<[Choice]>) -> usize {
        // The lists live as long as the fleet that has them, so an address names one list. Empty ones may share theirs with others.
        if let (false, Some(number)) = (choices.is_empty(), self.by_address.get(&choices.as_ptr())) {
            return *number;
        }
        let content = choices
            .iter()
            .map(|choice| (choice.cluster, choice.cost.to_bits()))
            .collect();
        let next = self.by_content.len();
        let number = *self.by_content.entry(content).or_insert(next);
        self.by_address.insert(choices.as_ptr(), number);
        number
    }
}
