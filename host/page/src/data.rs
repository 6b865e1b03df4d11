//! The content in columns, as the page's scripts read it (`assets/data.js` describes the same).
//!
//! Columns of numbers take a tenth of the room that objects with names take, and a browser parses them faster. Names are indexes
//! into lists; −1 stands for an absent count.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use divvy_forecast::document::Totals;
use serde::Serialize;

use crate::content::{Binding, Command, Content};
use crate::explanations::Explanations;
use crate::flow::attribute;
use crate::texts::Texts;

/// Counts of a binding on a cluster that a page holds. Beyond them bindings keep their totals and lose their cells.
const CELLS_MAX: usize = 600_000;
/// Pairs of clusters that are named.
pub const PAIRS_MAX: usize = 20;

/// The whole content.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Data {
    /// Version of this form.
    format: u32,
    command: &'static str,
    /// Words for the two states.
    states: [&'static str; 2],
    /// The same for clusters, which `divvy headroom` shows as they are.
    cluster_states: [&'static str; 2],
    totals: Totals,
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
}

/// One resource. A cluster that does not report it has an allocatable quantity of −1.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Usage {
    allocatable: Vec<i64>,
    from: Vec<i64>,
    to: Vec<i64>,
}

/// One entry per binding, sorted by key.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Bindings {
    key: Vec<String>,
    kind: Vec<u32>,
    namespace: Vec<usize>,
    strategy: Vec<u32>,
    result: Vec<u32>,
    message: Vec<u32>,
    replicas: Vec<i64>,
    newly_unschedulable: Vec<bool>,
    from: Vec<i64>,
    to: Vec<i64>,
    moved: Vec<i64>,
    added: Vec<i64>,
    removed: Vec<i64>,
    lost: Vec<i64>,
    stranded: Vec<i64>,
    /// Index of the reasons of clusters without replicas; −1 without.
    reasons: Vec<i64>,
}

/// One entry per binding and cluster that has replicas in either state. −1 if it is not listed in a state.
#[derive(Debug, Default, Serialize)]
struct Cells {
    binding: Vec<usize>,
    cluster: Vec<usize>,
    from: Vec<i64>,
    to: Vec<i64>,
    /// Text; −1 without.
    why: Vec<i64>,
}

#[derive(Debug, Default, Serialize)]
struct Matrix {
    region: Vec<usize>,
    namespace: Vec<usize>,
    from: Vec<i64>,
    to: Vec<i64>,
    /// Bindings that change there.
    changed: Vec<usize>,
}

/// Moves. Regions are indexes, or `added`, `removed`, `lost` and `stranded`.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Flows {
    regions: Vec<(Place, Place, i64)>,
    /// Indexes of clusters, largest first.
    pairs: Vec<(usize, usize, i64)>,
    /// Number of pairs of clusters in all.
    all_pairs: usize,
}

/// Where a replica comes from or goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(untagged)]
enum Place {
    Region(usize),
    Word(&'static str),
}

/// What can grow, one entry per measured binding.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct GrowthColumns {
    binding: Vec<usize>,
    most: Vec<Option<i64>>,
    headroom: Vec<Option<i64>>,
    fits: Vec<Option<i64>>,
    unbounded: Vec<bool>,
    stopped_by: Vec<u32>,
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
pub fn data(content: &Content) -> (Data, Vec<String>) {
    let names = Names::of(content);
    let Explanations {
        mut texts,
        runs,
        clusters: explained,
        ..
    } = content.explanations.clone();
    let (bindings, cells, without_cells) = bindings(content, &names, &mut texts);
    let growth = growth(content, &bindings, &mut texts);
    let (from, to) = content.states();
    // The runs count the clusters that were explained, the page may have more: those that are gone.
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
        reasons: reasons.collect(),
        clusters: clusters(content, &names),
        bindings,
        cells,
        matrix: matrix(content, &names),
        flows: flows(content, &names),
        growth,
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

/// What the page leaves out, as sentences.
fn omissions(content: &Content, without_cells: usize) -> Vec<String> {
    let mut omitted = Vec::new();
    let counted = |count: usize| crate::number::counted(i64::try_from(count).unwrap_or(i64::MAX), "binding");
    if content.hidden > 0 {
        let who = match content.command {
            Command::Schedule => "The figures of clusters count them, those at the top do not.",
            Command::Diff | Command::Headroom => "The figures at the top and those of clusters count them.",
        };
        omitted.push(format!(
            "{} decided but not shown, as asked for. {who}",
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
        columns.from.push(content.from_replicas(row));
        columns.to.push(row.after);
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

/// The bindings, their cells, and the number of bindings whose cells are left out.
fn bindings(content: &Content, names: &Names<'_>, texts: &mut Texts) -> (Bindings, Cells, usize) {
    let mut columns = Bindings::default();
    let mut cells = Cells::default();
    // What changes comes first, so that it is what has cells.
    let mut order: Vec<usize> = (0..content.bindings.len()).collect();
    let changes = |index: &usize| {
        content
            .bindings
            .get(*index)
            .is_some_and(|binding| binding.from != binding.to)
    };
    order.sort_by_key(|index| !changes(index));
    let mut has_cells = vec![false; content.bindings.len()];
    let mut count = 0;
    for index in order {
        let size = content
            .bindings
            .get(index)
            .map_or(0, |binding| binding.from.len().max(binding.to.len()));
        if count + size <= CELLS_MAX
            && let Some(has_cells) = has_cells.get_mut(index)
        {
            count += size;
            *has_cells = true;
        }
    }
    for ((index, binding), has_cells) in content.bindings.iter().enumerate().zip(&has_cells) {
        columns.key.push(binding.key.clone());
        columns.kind.push(texts.number(&binding.kind));
        columns.namespace.push(index_of(&names.namespaces, binding.namespace()));
        columns.strategy.push(texts.number(&binding.strategy));
        columns.result.push(texts.number(&binding.result));
        columns.message.push(texts.number(&binding.message));
        columns.replicas.push(binding.replicas);
        columns.newly_unschedulable.push(binding.newly_unschedulable);
        columns.from.push(binding.from.values().sum());
        columns.to.push(binding.to.values().sum());
        columns.moved.push(binding.movement.moved);
        columns.added.push(binding.movement.added);
        columns.removed.push(binding.movement.removed);
        columns.lost.push(binding.movement.lost);
        columns.stranded.push(binding.movement.stranded);
        let others = binding.explained.as_ref().and_then(|explained| explained.others);
        columns.reasons.push(others.map_or(-1, i64::from));
        if !has_cells {
            continue;
        }
        let clusters: BTreeSet<&String> = binding.from.keys().chain(binding.to.keys()).collect();
        for name in clusters {
            let Some(&cluster) = names.clusters.get(name.as_str()) else {
                continue;
            };
            let why = binding
                .explained
                .as_ref()
                .and_then(|explained| explained.with_replicas.get(name));
            cells.binding.push(index);
            cells.cluster.push(cluster);
            cells.from.push(binding.from.get(name).copied().unwrap_or(-1));
            cells.to.push(binding.to.get(name).copied().unwrap_or(-1));
            cells.why.push(why.map_or(-1, |text| i64::from(*text)));
        }
    }
    let without = has_cells.iter().filter(|has_cells| !**has_cells).count();
    (columns, cells, without)
}

fn growth(content: &Content, bindings: &Bindings, texts: &mut Texts) -> GrowthColumns {
    let mut columns = GrowthColumns::default();
    let indexes: HashMap<&str, usize> = bindings.key.iter().map(String::as_str).zip(0..).collect();
    for growth in &content.growth {
        let Some(&index) = indexes.get(growth.row.binding.as_str()) else {
            continue;
        };
        columns.binding.push(index);
        columns.most.push(growth.row.most);
        columns.headroom.push(growth.row.headroom);
        columns.fits.push(growth.row.fits);
        columns.unbounded.push(growth.row.is_unbounded);
        columns.stopped_by.push(texts.number(&growth.stopped_by));
    }
    columns
}

fn matrix(content: &Content, names: &Names<'_>) -> Matrix {
    let mut sums: BTreeMap<(usize, usize), (i64, i64, usize)> = BTreeMap::new();
    for binding in &content.bindings {
        let namespace = index_of(&names.namespaces, binding.namespace());
        let mut changes: BTreeMap<usize, i64> = BTreeMap::new();
        for (assignment, is_from) in [(&binding.from, true), (&binding.to, false)] {
            for (name, &replicas) in assignment {
                let Some(&cluster) = names.clusters.get(name.as_str()) else {
                    continue;
                };
                let region = names.region_of(cluster);
                let sum = sums.entry((region, namespace)).or_default();
                *(if is_from { &mut sum.0 } else { &mut sum.1 }) += replicas;
                *changes.entry(region).or_default() += if is_from { -replicas } else { replicas };
            }
        }
        for (region, _) in changes.into_iter().filter(|(_, change)| *change != 0) {
            if let Some(sum) = sums.get_mut(&(region, namespace)) {
                sum.2 += 1;
            }
        }
    }
    let mut matrix = Matrix::default();
    for ((region, namespace), (from, to, changed)) in sums {
        matrix.region.push(region);
        matrix.namespace.push(namespace);
        matrix.from.push(from);
        matrix.to.push(to);
        matrix.changed.push(changed);
    }
    matrix
}

/// Moves by region and by pair of clusters. A measured binding only grows, so that `divvy headroom` has none.
fn flows(content: &Content, names: &Names<'_>) -> Flows {
    let mut regions: BTreeMap<(Place, Place), i64> = BTreeMap::new();
    let mut pairs: BTreeMap<(usize, usize), i64> = BTreeMap::new();
    if content.command == Command::Headroom {
        return Flows::default();
    }
    for binding in content.bindings.iter().filter(|binding| binding.from != binding.to) {
        let known: BTreeSet<&String> = binding.from.keys().chain(binding.to.keys()).collect();
        let clusters = known
            .into_iter()
            .filter_map(|name| Some((name, *names.clusters.get(name.as_str())?)));
        let clusters: Vec<(&String, usize)> = clusters.collect();
        let count = |assignment: &divvy_forecast::situation::Assignment, name: &String| {
            assignment.get(name).copied().unwrap_or(0)
        };
        let changes: Vec<i64> = clusters
            .iter()
            .map(|(name, _)| count(&binding.to, name) - count(&binding.from, name))
            .collect();
        let mut left = changes.clone();
        for (loser, gainer, replicas) in attribute(&changes, binding.movement.moved) {
            let (Some(&(_, from)), Some(&(_, to))) = (clusters.get(loser), clusters.get(gainer)) else {
                continue;
            };
            let places = (Place::Region(names.region_of(from)), Place::Region(names.region_of(to)));
            *regions.entry(places).or_default() += replicas;
            *pairs.entry((from, to)).or_default() += replicas;
            if let Some(left) = left.get_mut(loser) {
                *left += replicas;
            }
            if let Some(left) = left.get_mut(gainer) {
                *left -= replicas;
            }
        }
        let movement = &binding.movement;
        let departure = match (movement.lost > 0, movement.stranded > 0) {
            (true, _) => "lost",
            (_, true) => "stranded",
            _ => "removed",
        };
        for (&(_, cluster), &left) in clusters.iter().zip(&left) {
            let region = Place::Region(names.region_of(cluster));
            let places = match left {
                0 => continue,
                1.. => (Place::Word("added"), region),
                _ => (region, Place::Word(departure)),
            };
            *regions.entry(places).or_default() += left.saturating_abs();
        }
    }
    let all_pairs = pairs.len();
    let mut pairs: Vec<(usize, usize, i64)> = pairs.into_iter().map(|((from, to), count)| (from, to, count)).collect();
    pairs.sort_by_key(|&(from, to, count)| (std::cmp::Reverse(count), from, to));
    pairs.truncate(PAIRS_MAX);
    Flows {
        regions: regions
            .into_iter()
            .map(|((from, to), count)| (from, to, count))
            .collect(),
        pairs,
        all_pairs,
    }
}
