//! Clusters, labels, regions, zones and providers that placements name, compared with those of the fleet.

use std::collections::{BTreeSet, HashMap, HashSet};

use divvy_karmada::api::{Cluster, ClusterAffinity, Placement, PropagationPolicy, SpreadField, Unmatchable};
use divvy_karmada::policy::default_spread_constraint;
use divvy_scheduler::decide::affinity::{ClusterProperties, matches};

use super::document::Code;
use super::suggestions::Suggestions;
use crate::choice::zones;

/// The names of a fleet that placements may refer to.
pub(super) struct Fleet<'a> {
    clusters: Vec<&'a Cluster>,
    properties: Vec<ClusterProperties>,
    by_name: HashMap<&'a str, usize>,
    labels: HashMap<&'a str, BTreeSet<&'a str>>,
    regions: BTreeSet<&'a str>,
    zones: BTreeSet<&'a str>,
    providers: BTreeSet<&'a str>,
    /// Indices of the clusters that each distinct affinity matches.
    matched: HashMap<ClusterAffinity, Vec<usize>>,
}

/// A finding on a placement.
pub(super) struct Remark {
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) names: Vec<String>,
    pub(super) hint: Option<String>,
}

impl<'a> Fleet<'a> {
    /// The names of these clusters.
    pub(super) fn new(clusters: Vec<&'a Cluster>) -> Self {
        let names = clusters.iter().map(|cluster| cluster.metadata.name.as_str());
        let mut fleet = Self {
            by_name: names.zip(0..).collect(),
            properties: clusters
                .iter()
                .map(|cluster| ClusterProperties::from(*cluster))
                .collect(),
            labels: HashMap::new(),
            regions: BTreeSet::new(),
            zones: BTreeSet::new(),
            providers: BTreeSet::new(),
            matched: HashMap::new(),
            clusters: Vec::new(),
        };
        for cluster in &clusters {
            for (key, value) in cluster.metadata.labels.iter() {
                fleet.labels.entry(key).or_default().insert(value);
            }
            fleet.regions.insert(&cluster.spec.region);
            fleet.zones.extend(zones(cluster));
            fleet.providers.insert(&cluster.spec.provider);
        }
        Self { clusters, ..fleet }
    }

    /// True if there are no clusters.
    pub(super) fn is_empty(&self) -> bool {
        self.clusters.is_empty()
    }

    /// The number of clusters that the placement of a policy can use, and the findings on it.
    pub(super) fn review(&mut self, policy: &PropagationPolicy, suggestions: &mut Suggestions) -> (usize, Vec<Remark>) {
        let placement = &*policy.spec.placement;
        let mut remarks = Vec::new();
        let usable = self.review_groups(placement, &mut remarks);
        self.review_spread(placement, &usable, &mut remarks);
        let mut missing = Missing::default();
        let mut names: BTreeSet<&str> = BTreeSet::new();
        for affinity in affinities(placement) {
            let named = affinity.cluster_names.iter().chain(&affinity.exclude_clusters);
            names.extend(named.map(String::as_str));
            self.review_selectors(affinity, &mut missing);
        }
        let suspension = policy.spec.suspension.as_ref();
        let suspended = suspension.and_then(|suspension| suspension.dispatching_on_clusters.as_ref());
        let suspended = suspended.iter().flat_map(|suspended| &suspended.cluster_names);
        names.extend(suspended.map(String::as_str));
        names.retain(|name| !self.by_name.contains_key(name));
        let names = names.into_iter().map(str::to_owned).collect();
        let nearest =
            |name: &str, suggestions: &mut Suggestions| suggestions.nearest(name, self.by_name.keys().copied());
        remarks.extend(remark(Code::UnknownCluster, "cluster", names, suggestions, nearest));
        let nearest = |label: &str, suggestions: &mut Suggestions| self.nearest_label(label, suggestions);
        remarks.extend(remark(
            Code::UnknownLabel,
            "label",
            missing.labels,
            suggestions,
            nearest,
        ));
        for (code, thing, names, known) in [
            (Code::UnknownRegion, "region", missing.regions, &self.regions),
            (Code::UnknownZone, "zone", missing.zones, &self.zones),
            (Code::UnknownProvider, "provider", missing.providers, &self.providers),
        ] {
            let nearest = |name: &str, suggestions: &mut Suggestions| suggestions.nearest(name, known.iter().copied());
            remarks.extend(remark(code, thing, names, suggestions, nearest));
        }
        (usable.len(), remarks)
    }

    /// The most similar label of a cluster: another value of the same key, or another key.
    fn nearest_label(&self, label: &str, suggestions: &mut Suggestions) -> Option<String> {
        let (key, value) = label.split_once('=').unwrap_or((label, ""));
        match self.labels.get(key) {
            Some(values) => {
                let value = suggestions.nearest(value, values.iter().copied())?;
                Some(format!("{key}={value}"))
            }
            None => suggestions.nearest(key, self.labels.keys().copied()),
        }
    }

    /// Clusters that any affinity group can use. Reports groups without a cluster.
    fn review_groups(&mut self, placement: &Placement, remarks: &mut Vec<Remark>) -> BTreeSet<usize> {
        let mut usable = BTreeSet::new();
        let mut empty = Vec::new();
        match (&placement.cluster_affinity, placement.cluster_affinities.as_slice()) {
            (Some(affinity), _) => usable.extend(self.matched(affinity)),
            (None, []) => usable.extend(0..self.clusters.len()),
            (None, groups) => {
                for group in groups {
                    let mut clusters: BTreeSet<usize> = self.matched(&group.affinity).iter().copied().collect();
                    for tier in &group.overflow_affinities {
                        clusters.extend(self.matched(&tier.affinity));
                    }
                    if clusters.is_empty() {
                        empty.push(group.affinity_name.clone());
                    }
                    usable.extend(clusters);
                }
            }
        }
        if usable.is_empty() {
            remarks.push(Remark {
                code: Code::NoCluster,
                message: "no cluster matches its placement, so that nothing under it can be scheduled".to_owned(),
                names: Vec::new(),
                hint: unmatchable(placement).map(|reason| {
                    format!("{reason}, and Karmada compares providers and regions as labels, too: such a selector matches nothing")
                }),
            });
        } else if !empty.is_empty() {
            remarks.push(Remark {
                code: Code::EmptyGroup,
                message: "no cluster matches some of its affinity groups".to_owned(),
                names: empty,
                hint: None,
            });
        }
        usable
    }

    /// Indices of the clusters that an affinity matches.
    fn matched(&mut self, affinity: &ClusterAffinity) -> &[usize] {
        if !self.matched.contains_key(affinity) {
            let clusters = self.find(affinity);
            self.matched.insert(affinity.clone(), clusters);
        }
        self.matched.get(affinity).map_or(&[], Vec::as_slice)
    }

    fn find(&self, affinity: &ClusterAffinity) -> Vec<usize> {
        // Lists of names can be long, so that names are looked up and the rest is compared.
        let rest = ClusterAffinity {
            cluster_names: Vec::new(),
            exclude_clusters: Vec::new(),
            ..affinity.clone()
        };
        let excluded: HashSet<&str> = affinity.exclude_clusters.iter().map(String::as_str).collect();
        let named: BTreeSet<usize> = match affinity.cluster_names.as_slice() {
            [] => (0..self.clusters.len()).collect(),
            names => names
                .iter()
                .filter_map(|name| self.by_name.get(name.as_str()).copied())
                .collect(),
        };
        let is_matched = |index: &usize| {
            let properties = &self.properties[*index];
            !excluded.contains(properties.name.as_str()) && matches(&rest, properties)
        };
        named.into_iter().filter(is_matched).collect()
    }

    /// Reports spread constraints that the clusters of the placement can never keep.
    fn review_spread(&self, placement: &Placement, usable: &BTreeSet<usize>, remarks: &mut Vec<Remark>) {
        if usable.is_empty() {
            return;
        }
        for constraint in placement.spread_constraints.iter().map(default_spread_constraint) {
            let field = constraint.spread_by_field.as_ref().and_then(|field| field.known());
            let (thing, groups) = match (constraint.spread_by_label.as_str(), field) {
                ("", field) => match field.and_then(|field| Some((field.word(), self.groups(field, usable)?))) {
                    Some((word, groups)) => (word.to_owned(), groups),
                    // A field that this version does not know.
                    None => continue,
                },
                (label, _) => {
                    let labels = usable.iter().map(|&index| &self.properties[index].labels);
                    let values: HashSet<&String> = labels.filter_map(|labels| labels.get(label)).collect();
                    (format!("value of the label `{label}`"), values.len())
                }
            };
            if i64::try_from(groups).is_ok_and(|groups| groups < constraint.min_groups) {
                remarks.push(Remark {
                    code: Code::TooFewGroups,
                    message: format!(
                        "a spread constraint requires {} {thing}s, and its clusters have {groups}, so that nothing under it can be \
                         scheduled",
                        constraint.min_groups
                    ),
                    names: Vec::new(),
                    hint: None,
                });
            }
        }
    }

    /// The number of groups by a field among clusters; `None` for an unknown field.
    fn groups(&self, field: SpreadField, usable: &BTreeSet<usize>) -> Option<usize> {
        let properties = usable
            .iter()
            .map(|&index| (&self.properties[index], self.clusters[index]));
        let names: HashSet<&str> = match field {
            SpreadField::Cluster => return Some(usable.len()),
            SpreadField::Region => properties.map(|(properties, _)| properties.region.as_str()).collect(),
            SpreadField::Provider => properties.map(|(properties, _)| properties.provider.as_str()).collect(),
            SpreadField::Zone => properties.flat_map(|(_, cluster)| zones(cluster)).collect(),
            _ => return None,
        };
        Some(names.iter().filter(|name| !name.is_empty()).count())
    }

    fn review_selectors(&self, affinity: &ClusterAffinity, missing: &mut Missing) {
        if let Some(selector) = &affinity.label_selector {
            for (key, value) in selector.match_labels.iter() {
                self.review_label(key, std::slice::from_ref(value), missing);
            }
            for requirement in &selector.match_expressions {
                self.review_label(&requirement.key, &requirement.values, missing);
            }
        }
        let fields = affinity.field_selector.iter();
        for requirement in fields.flat_map(|selector| &selector.match_expressions) {
            let (known, unknown) = match requirement.key.as_str() {
                "region" => (&self.regions, &mut missing.regions),
                "zone" => (&self.zones, &mut missing.zones),
                "provider" => (&self.providers, &mut missing.providers),
                _ => continue,
            };
            let values = requirement.values.iter();
            unknown.extend(values.filter(|value| !known.contains(value.as_str())).cloned());
        }
    }

    /// Notes the values of a label that no cluster has; the label itself if it needs no value.
    fn review_label(&self, key: &str, values: &[String], missing: &mut Missing) {
        let known = self.labels.get(key);
        if values.is_empty() && known.is_none() {
            missing.labels.insert(key.to_owned());
        }
        for value in values {
            if !known.is_some_and(|known| known.contains(value.as_str())) {
                missing.labels.insert(format!("{key}={value}"));
            }
        }
    }
}

/// The reason why a selector of an affinity matches nothing.
fn unmatchable(placement: &Placement) -> Option<Unmatchable<'_>> {
    affinities(placement).find_map(|affinity| {
        let labels = affinity
            .label_selector
            .as_ref()
            .and_then(|selector| selector.unmatchable());
        labels.or_else(|| {
            affinity
                .field_selector
                .as_ref()
                .and_then(|selector| selector.unmatchable())
        })
    })
}

/// What placements name and no cluster has.
#[derive(Default)]
struct Missing {
    labels: BTreeSet<String>,
    regions: BTreeSet<String>,
    zones: BTreeSet<String>,
    providers: BTreeSet<String>,
}

/// The finding about names that do not exist; `None` if all do.
fn remark(
    code: Code,
    thing: &str,
    names: BTreeSet<String>,
    suggestions: &mut Suggestions,
    nearest: impl FnOnce(&str, &mut Suggestions) -> Option<String>,
) -> Option<Remark> {
    let names: Vec<String> = names.into_iter().collect();
    let hint = match names.as_slice() {
        [] => return None,
        [name] => nearest(name, suggestions).map(|name| format!("did you mean `{name}`?")),
        _ => None,
    };
    let (count, does) = match names.len() {
        1 => (format!("a {thing}"), "does"),
        count => (format!("{count} {thing}s"), "do"),
    };
    let message = match code {
        Code::UnknownCluster => format!("names {count} that {does} not exist"),
        _ => format!("names {count} that no cluster has"),
    };
    Some(Remark {
        code,
        message,
        names,
        hint,
    })
}

/// Every set of clusters in a placement: its affinity or its groups with their tiers, and those with weights.
fn affinities(placement: &Placement) -> impl Iterator<Item = &ClusterAffinity> {
    let groups = placement.cluster_affinities.iter().flat_map(|term| {
        let overflow = term.overflow_affinities.iter().map(|tier| &tier.affinity);
        std::iter::once(&term.affinity).chain(overflow)
    });
    let division = placement.replica_scheduling.iter();
    let weights = division.flat_map(|division| &division.weight_preference);
    let entries = weights.flat_map(|weights| &weights.static_weight_list);
    let targets = entries.filter_map(|entry| entry.target_cluster.as_ref());
    placement.cluster_affinity.iter().chain(groups).chain(targets)
}
