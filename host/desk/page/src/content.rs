//! Content of a page.

use std::collections::BTreeSet;

use divvy_forecast::document::{ClusterRow, SideDocument, Totals};
use divvy_forecast::headroom::document::{HeadroomRow, HeadroomTotals};
use divvy_forecast::movement::Movement;
use divvy_forecast::situation::Assignment;
use divvy_forecast::verdict::Verdict;

use crate::explanations::{Explained, Explanations};
use crate::figure::Figure;
use crate::table::Table;

/// The command whose result a page shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// `divvy schedule`: from the last results to the decisions.
    Schedule,
    /// `divvy diff`: from one future to another.
    Diff,
    /// `divvy headroom`: from the present replicas of each binding to the largest number that schedules.
    Headroom,
}

/// Content of a page: two states of every binding, and the changes between them.
#[derive(Debug)]
pub struct Content {
    /// The command.
    pub command: Command,
    /// Its arguments, as they were given, the program's name first.
    pub arguments: Vec<String>,
    /// Version of the program.
    pub version: String,
    /// The input and the time.
    pub heading: Heading,
    /// The side that the first state comes from; `None` if it is the assigned clusters.
    pub base: Option<SideDocument>,
    /// The side that the second state comes from.
    pub after: SideDocument,
    /// True if each result takes its new replicas from the capacity that later ones see.
    pub assumes: bool,
    /// The clusters, by name.
    pub clusters: Vec<ClusterRow>,
    /// The bindings that are shown, by key.
    pub bindings: Vec<Binding>,
    /// Bindings that were decided and are not shown.
    pub hidden: usize,
    /// True if only some clusters are shown, so that no move can be followed.
    pub is_partial: bool,
    /// The verdict, as in a table.
    pub verdict: Verdict,
    /// Sums over all bindings, as the JSON has them.
    pub totals: Totals,
    /// Sums over all measured bindings, as the JSON has them, also those that are not shown.
    pub measured: HeadroomTotals,
    /// What all clusters cost, if the profile has prices.
    pub cost: Option<Figure>,
    /// Growth of each measured binding. Empty unless the command is `divvy headroom`.
    pub growth: Vec<Growth>,
    /// Tables below the charts.
    pub tables: Vec<Table>,
    /// Reasons.
    pub explanations: Explanations,
    /// Remarks, as sentences.
    pub notes: Vec<String>,
}

/// What a reader must know to tell one report from another.
#[derive(Debug, Clone, Default)]
pub struct Heading {
    /// The time for which the command decided, as RFC 3339 in UTC.
    pub date: String,
    /// Name of the fleet: the context of a control plane, or the files and folders that were read.
    pub fleet: String,
    /// SHA-256 of the input ([`crate::digest::of_streams`]); `None` if it came from a pipe with a name.
    pub digest: Option<String>,
}

/// One binding.
#[derive(Debug, Clone, Default)]
pub struct Binding {
    /// `<namespace>/<name>`, or only the name.
    pub key: String,
    /// `ResourceBinding` or `ClusterResourceBinding`.
    pub kind: String,
    /// Strategy; empty if the binding is invalid.
    pub strategy: String,
    /// Requested replicas.
    pub replicas: i64,
    /// Result, as in the JSON.
    pub result: String,
    /// Reason why it is not scheduled, or has fewer replicas than requested; empty otherwise.
    pub message: String,
    /// True if it cannot be scheduled in the second state, but can in the first.
    pub newly_unschedulable: bool,
    /// The first state.
    pub from: Assignment,
    /// The second state.
    pub to: Assignment,
    /// Movement from the first state to the second.
    pub movement: Movement,
    /// Reasons, if it was decided and explained.
    pub explained: Option<Explained>,
}

/// The largest size of a binding, and a sentence that names what stops it.
#[derive(Debug, Clone)]
pub struct Growth {
    /// The row, as in the JSON.
    pub row: HeadroomRow,
    /// Obstacle to the next replica.
    pub stopped_by: String,
}

impl Binding {
    /// Namespace; empty if the binding has none.
    pub(crate) fn namespace(&self) -> &str {
        self.key.split_once('/').map_or("", |(namespace, _)| namespace)
    }
}

impl Content {
    /// Shows only these clusters, and the bindings that have or get replicas there. The totals still count everything.
    pub fn retain_clusters(&mut self, names: &[&str]) {
        let chosen: BTreeSet<&str> = names.iter().copied().collect();
        self.is_partial = true;
        self.notes
            .push(format!("only these clusters are shown: {}", names.join(", ")));
        self.clusters.retain(|row| chosen.contains(row.name.as_str()));
        let before = self.bindings.len();
        self.bindings.retain_mut(|binding| {
            binding.from.retain(|name, _| chosen.contains(name.as_str()));
            binding.to.retain(|name, _| chosen.contains(name.as_str()));
            !binding.from.is_empty() || !binding.to.is_empty()
        });
        self.hidden += before - self.bindings.len();
    }

    /// Words for the first and the second state.
    pub(crate) fn states(&self) -> (&'static str, &'static str) {
        match self.command {
            Command::Schedule => ("Last result", "Decided"),
            Command::Diff if self.base.is_some() => ("Before", "After"),
            Command::Diff => ("Assigned", "Decided"),
            Command::Headroom => ("Now", "At most"),
        }
    }

    /// The first state of a cluster, in replicas.
    pub(crate) fn first_replicas(&self, row: &ClusterRow) -> i64 {
        match self.base {
            Some(_) => row.base.unwrap_or(row.before),
            None => row.before,
        }
    }
}
