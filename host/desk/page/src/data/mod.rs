//! The content in columns, as the page's scripts read it (`assets/data.js` describes the same).
//!
//! Columns of numbers take a tenth of the space of objects with named fields, and a browser parses them faster. Names
//! are indexes into lists, and −1 is an absent count.

mod bindings;
mod regions;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use divvy_forecast::cost::{Costs, HourlyCost};
use divvy_forecast::document::Totals;
use serde::Serialize;

use crate::content::{Binding, Command, Content};
use crate::explanations::Explanations;
use crate::table::Table;
use crate::texts::visible;

use bindings::{Bindings, Cells, GrowthColumns};
use regions::{Flows, Matrix};

/// The whole content.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Data<'a> {
    /// Version of this form.
    format: u32,
    command: &'static str,
    /// Words for the two states.
    states: [&'static str; 2],
    /// The same for clusters, of which `divvy headroom` shows the present state.
    cluster_states: [&'static str; 2],
    totals: Totals,
    /// True if only some clusters are shown, so that no move can be followed.
    partial: bool,
    texts: Vec<String>,
    regions: Vec<String>,
    namespaces: Vec<String>,
    clusters: Clusters,
    bindings: Bindings,
    cells: Cells,
    /// Lists of runs, three numbers each: first cluster, number of clusters, text.
    reasons: Vec<Vec<u32>>,
    /// Replicas per region and namespace.
    matrix: Matrix,
    flows: Flows,
    growth: GrowthColumns,
    /// Tables below the charts.
    #[serde(skip_serializing_if = "<[Table]>::is_empty")]
    tables: &'a [Table],
}

/// One entry per cluster, sorted by name.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Clusters {
    name: Vec<String>,
    region: Vec<usize>,
    exists: Vec<bool>,
    from: Vec<i64>,
    to: Vec<i64>,
    usage: BTreeMap<String, Usage>,
    /// Absent without prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<CostColumns>,
}

/// Costs per hour as texts, whose numbers are exact: `12.3400`, `≥ 12.3400` or `?`.
#[derive(Debug, Default, Serialize)]
struct CostColumns {
    unit: String,
    from: Vec<String>,
    to: Vec<String>,
}

/// One resource. A cluster that does not report it has an allocatable quantity of −1.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Usage {
    allocatable: Vec<i64>,
    from: Vec<i64>,
    to: Vec<i64>,
}

/// Indexes of names.
#[derive(Debug)]
struct Names<'a> {
    clusters: HashMap<&'a str, usize>,
    /// Region of each cluster.
    region_of: Vec<usize>,
    regions: Vec<String>,
    namespaces: Vec<String>,
}

impl<'a> Names<'a> {
    fn of(content: &'a Content) -> Self {
        let sorted = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect::<Vec<String>>();
        let regions = sorted(content.clusters.iter().map(|row| row.region.as_str()).collect());
        let namespaces = sorted(content.bindings.iter().map(Binding::namespace).collect());
        let clusters = content.clusters.iter().enumerate();
        Self {
            clusters: clusters.map(|(index, row)| (row.name.as_str(), index)).collect(),
            region_of: content
                .clusters
                .iter()
                .map(|row| index_of(&regions, &row.region))
                .collect(),
            regions,
            namespaces,
        }
    }

    fn region_of(&self, cluster: usize) -> usize {
        self.region_of.get(cluster).copied().unwrap_or(0)
    }
}

fn index_of(sorted: &[String], name: &str) -> usize {
    sorted.binary_search_by(|known| known.as_str().cmp(name)).unwrap_or(0)
}

/// The columns of a content, and sentences about what they leave out.
pub fn data(content: &Content) -> (Data<'_>, Vec<String>) {
    let names = Names::of(content);
    let Explanations {
        mut texts,
        runs,
        clusters: explained,
        ..
    } = content.explanations.clone();
    let (bindings, cells, without_cells) = bindings::bindings(content, &names, &mut texts);
    let growth = bindings::growth(content, &bindings, &mut texts);
    let (from, to) = content.states();
    // Runs count the clusters that were explained. The page may also have clusters that are gone.
    let is_same = explained.iter().eq(content.clusters.iter().map(|row| &row.name));
    let reasons = runs.iter().map(|runs| match is_same {
        true => runs.iter().flat_map(|run| [run.start, run.length, run.text]).collect(),
        false => renumbered(runs, &explained, &names),
    });
    let data = Data {
        format: 1,
        command: match content.command {
            Command::Schedule => "schedule",
            Command::Diff => "diff",
            Command::Headroom => "headroom",
        },
        states: [from, to],
        cluster_states: match content.command {
            Command::Headroom => ["Assigned", "Decided"],
            Command::Schedule | Command::Diff => [from, to],
        },
        totals: content.totals,
        partial: content.is_partial,
        reasons: reasons.collect(),
        clusters: clusters(content, &names),
        bindings,
        cells,
        matrix: regions::matrix(content, &names),
        flows: regions::flows(content, &names),
        growth,
        tables: &content.tables,
        texts: texts.into_texts(),
        regions: names.regions,
        namespaces: names.namespaces,
    };
    (data, omissions(content, without_cells))
}

/// Runs with the indexes of the page's clusters.
fn renumbered(runs: &[crate::explanations::Run], explained: &[String], names: &Names<'_>) -> Vec<u32> {
    let mut numbers: Vec<u32> = Vec::new();
    for run in runs {
        let all = explained.iter().skip(run.start as usize).take(run.length as usize);
        let found = all.filter_map(|name| u32::try_from(*names.clusters.get(name.as_str())?).ok());
        for index in found {
            match numbers.as_mut_slice() {
                [.., start, length, text] if *text == run.text && *start + *length == index => *length += 1,
                _ => numbers.extend([index, 1, run.text]),
            }
        }
    }
    numbers
}

/// Sentences about the data that the page leaves out.
fn omissions(content: &Content, without_cells: usize) -> Vec<String> {
    let mut omitted = Vec::new();
    let counted = |count: usize| crate::number::counted(i64::try_from(count).unwrap_or(i64::MAX), "binding");
    if content.hidden > 0 {
        let counted_in = match content.command {
            Command::Schedule => "The figures of clusters count them, those at the top do not.",
            Command::Diff | Command::Headroom => "The figures at the top and those of clusters count them.",
        };
        omitted.push(format!(
            "{} decided but not shown, as requested. {counted_in}",
            counted(content.hidden)
        ));
    }
    if without_cells > 0 {
        omitted.push(format!(
            "Counts per cluster of {} are left out, because the page would become too large. All totals count them; \
             -o json has them.",
            counted(without_cells)
        ));
    }
    let left_out = content.explanations.left_out();
    if left_out > 0 {
        omitted.push(format!(
            "For {}, only clusters that have or had replicas are explained; --cluster explains the others.",
            counted(left_out)
        ));
    }
    omitted
}

fn clusters(content: &Content, names: &Names<'_>) -> Clusters {
    let mut columns = Clusters::default();
    let rows = &content.clusters;
    let resources: BTreeSet<&String> = rows.iter().flat_map(|row| row.resources.keys()).collect();
    for row in rows {
        columns.name.push(row.name.clone());
        columns.region.push(index_of(&names.regions, &row.region));
        columns.exists.push(row.exists);
        columns.from.push(content.first_replicas(row));
        columns.to.push(row.after);
    }
    if let Some(unit) = rows.iter().find_map(|row| Some(&row.cost.as_ref()?.unit)) {
        let costs = |read: fn(&Costs) -> &HourlyCost| {
            let costs = rows.iter().map(move |row| row.cost.as_ref().map(read));
            costs.map(|cost| cost.map(ToString::to_string).unwrap_or_default())
        };
        columns.cost = Some(CostColumns {
            unit: visible(unit),
            from: costs(Costs::from).collect(),
            to: costs(|costs| &costs.after).collect(),
        });
    }
    for resource in resources {
        let use_of = |row: &divvy_forecast::document::ClusterRow| row.resources.get(resource).cloned();
        let quantities: Vec<_> = rows.iter().map(use_of).collect();
        let column = |read: &dyn Fn(&divvy_forecast::document::ResourceRow) -> i64, absent: i64| {
            let read = quantities.iter().map(|quantity| quantity.as_ref().map_or(absent, read));
            read.collect::<Vec<i64>>()
        };
        let has_base = content.base.is_some();
        let usage = Usage {
            allocatable: column(&|quantity| quantity.allocatable, -1),
            from: column(
                &|quantity| quantity.base.filter(|_| has_base).unwrap_or(quantity.before),
                0,
            ),
            to: column(&|quantity| quantity.after, 0),
        };
        columns.usage.insert(resource.clone(), usage);
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_explained_clusters_become_indexes_of_the_page() {
        let runs = [
            crate::explanations::Run {
                start: 0,
                length: 2,
                text: 7,
            },
            crate::explanations::Run {
                start: 2,
                length: 1,
                text: 8,
            },
        ];
        let explained = ["a", "c", "d"].map(str::to_owned);
        // `b` is gone, so that nothing explains it.
        let names = Names {
            clusters: ["a", "b", "c", "d"].into_iter().zip(0..).collect(),
            region_of: vec![0; 4],
            regions: vec![String::new()],
            namespaces: Vec::new(),
        };
        assert_eq!(renumbered(&runs, &explained, &names), [0, 1, 7, 2, 1, 7, 3, 1, 8]);
    }
}
