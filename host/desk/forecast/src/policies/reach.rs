//! The objects that policies select: each distinct selector is matched once, however many policies have it.

use std::collections::{HashMap, HashSet};

use divvy_karmada::api::{
    LabelSelector, PolicyScope, PropagationPolicy, ResourceSelector, SelectorOperator, StringMap,
};
use divvy_karmada::detector::Binding;

/// An object that is propagated, as selectors see it.
pub(super) struct Object<'a> {
    pub(super) api_version: &'a str,
    pub(super) kind: &'a str,
    /// Empty if it is cluster-scoped.
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
    /// `None` if its labels are not known, because the input lacks the object itself.
    pub(super) labels: Option<&'a StringMap>,
}

impl<'a> Object<'a> {
    /// The object that a binding propagates.
    pub(super) fn of(binding: &'a Binding, labels: Option<&'a StringMap>) -> Self {
        let resource = &binding.object.spec.resource;
        let namespace = match resource.namespace.as_str() {
            // A namespaced binding need not repeat its namespace.
            "" => &binding.object.metadata.namespace,
            namespace => namespace,
        };
        Self {
            api_version: &resource.api_version,
            kind: &resource.kind,
            namespace,
            name: &resource.name,
            labels: binding.workload.as_ref().map(|workload| &workload.labels).or(labels),
        }
    }
}

/// API version, kind and namespace; the latter is empty for any.
type Place<'a> = (&'a str, &'a str, &'a str);

/// What a selector requires of an object besides its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Requirement<'a> {
    Nothing,
    Name(&'a str),
    Labels(&'a LabelSelector),
}

/// Distinct selectors, by what an object must have at least.
#[derive(Default)]
struct Classes<'a> {
    all: Option<usize>,
    by_name: HashMap<&'a str, usize>,
    by_label: HashMap<(&'a str, &'a str), Vec<usize>>,
    /// Those that no name and no value of a label restricts.
    others: Vec<usize>,
}

/// A distinct selector.
struct Class<'a> {
    place: Place<'a>,
    requirement: Requirement<'a>,
    /// Indices of the objects that match, in order.
    members: Vec<u32>,
}

/// The objects that each policy selects.
pub(super) struct Reach<'a> {
    classes: Vec<Class<'a>>,
    /// Per policy and selector: the class; `None` if the selector is out of the policy's reach.
    selectors: Vec<Vec<Option<usize>>>,
    /// Places with objects whose labels are not known.
    uncertain: HashSet<Place<'a>>,
    /// Comparisons of a selector with an object, for tests of growth.
    pub(super) tried: usize,
}

impl<'a> Reach<'a> {
    /// Matches the selectors of policies with objects.
    pub(super) fn new(policies: &[&'a PropagationPolicy], objects: &[Object<'a>]) -> Self {
        let mut reach = Self {
            classes: Vec::new(),
            selectors: Vec::new(),
            uncertain: HashSet::new(),
            tried: 0,
        };
        let mut known: HashMap<(Place<'a>, Requirement<'a>), usize> = HashMap::new();
        for policy in policies {
            let selectors = policy.spec.resource_selectors.iter().map(|selector| {
                let key = (place(policy, selector)?, requirement(selector));
                Some(*known.entry(key).or_insert_with(|| {
                    reach.classes.push(Class {
                        place: key.0,
                        requirement: key.1,
                        members: Vec::new(),
                    });
                    reach.classes.len() - 1
                }))
            });
            let selectors = selectors.collect();
            reach.selectors.push(selectors);
        }
        let index = reach.index();
        for (object, number) in objects.iter().zip(0..) {
            reach.add(number, object, &index);
        }
        reach
    }

    fn index(&self) -> HashMap<Place<'a>, Classes<'a>> {
        // A label that few selectors require keeps them apart from the most others.
        let mut uses: HashMap<(Place<'a>, (&str, &str)), usize> = HashMap::new();
        for class in &self.classes {
            for label in alternatives(class.requirement).into_iter().flatten() {
                *uses.entry((class.place, label)).or_default() += 1;
            }
        }
        let mut index: HashMap<Place<'a>, Classes<'a>> = HashMap::new();
        for (number, class) in self.classes.iter().enumerate() {
            let at = index.entry(class.place).or_default();
            match class.requirement {
                Requirement::Nothing => at.all = Some(number),
                Requirement::Name(name) => _ = at.by_name.insert(name, number),
                Requirement::Labels(_) => {
                    let most = |labels: &Vec<(&'a str, &'a str)>| {
                        let counts = labels.iter().map(|label| uses.get(&(class.place, *label)).copied());
                        counts.max().flatten().unwrap_or(0)
                    };
                    match alternatives(class.requirement).into_iter().min_by_key(most) {
                        Some(labels) => {
                            for label in labels {
                                let listed = at.by_label.entry(label).or_default();
                                if listed.last() != Some(&number) {
                                    listed.push(number);
                                }
                            }
                        }
                        None => at.others.push(number),
                    }
                }
            }
        }
        index
    }

    /// Adds an object to the classes that it matches.
    fn add(&mut self, number: u32, object: &Object<'a>, index: &HashMap<Place<'a>, Classes<'a>>) {
        let own = Some(object.namespace).filter(|namespace| !namespace.is_empty());
        for namespace in own.into_iter().chain([""]) {
            let Some(classes) = index.get(&(object.api_version, object.kind, namespace)) else {
                continue;
            };
            let certain = classes.all.iter().chain(classes.by_name.get(object.name));
            for &class in certain {
                self.tried += 1;
                self.classes[class].members.push(number);
            }
            let Some(labels) = object.labels else {
                self.uncertain.insert((object.api_version, object.kind, namespace));
                continue;
            };
            let listed = labels
                .iter()
                .filter_map(|(key, value)| classes.by_label.get(&(key.as_str(), value.as_str())));
            for &class in listed.flatten().chain(&classes.others) {
                self.tried += 1;
                let class = &mut self.classes[class];
                let matches = match class.requirement {
                    Requirement::Labels(selector) => selector.matches(labels),
                    Requirement::Nothing | Requirement::Name(_) => true,
                };
                // An object can have several of the labels under which a selector is listed.
                if matches && class.members.last() != Some(&number) {
                    class.members.push(number);
                }
            }
        }
    }

    /// True if a selector could match objects whose labels are not known.
    fn may_match_more(&self, class: &Class<'a>) -> bool {
        matches!(class.requirement, Requirement::Labels(_)) && self.uncertain.contains(&class.place)
    }

    /// The selectors of a policy that match no object for certain, by index; those out of its reach are among them.
    pub(super) fn unmatched_selectors(&self, policy: usize) -> impl Iterator<Item = usize> {
        let selectors = self.selectors[policy].iter().enumerate();
        selectors.filter_map(|(index, class)| {
            let matches = class.is_some_and(|class| {
                let class = &self.classes[class];
                self.may_match_more(class) || !class.members.is_empty()
            });
            (!matches).then_some(index)
        })
    }

    /// True if the policy has a selector that could match objects whose labels are not known.
    pub(super) fn is_uncertain(&self, policy: usize) -> bool {
        let mut classes = self.selectors[policy].iter().flatten();
        classes.any(|&class| self.may_match_more(&self.classes[class]))
    }

    /// True if a selector of the policy is out of its reach: a namespaced policy that selects in another namespace.
    pub(super) fn is_out_of_reach(&self, policy: usize, selector: usize) -> bool {
        self.selectors[policy].get(selector).is_some_and(Option::is_none)
    }

    /// Policies with the same selectors, each group with the objects that it selects, in order and each once.
    pub(super) fn groups(&self) -> impl Iterator<Item = (Vec<usize>, Vec<u32>)> {
        let mut groups: HashMap<Vec<usize>, Vec<usize>> = HashMap::new();
        for (policy, selectors) in self.selectors.iter().enumerate() {
            let mut classes: Vec<usize> = selectors.iter().copied().flatten().collect();
            classes.retain(|&class| !self.classes[class].members.is_empty());
            classes.sort_unstable();
            classes.dedup();
            groups.entry(classes).or_default().push(policy);
        }
        let mut groups: Vec<(Vec<usize>, Vec<usize>)> = groups.into_iter().collect();
        groups.sort_unstable_by(|left, right| left.1.cmp(&right.1));
        // Each list of objects is dropped before the next is made.
        let groups = groups.into_iter();
        groups.map(|(classes, policies)| (policies, self.members(&classes)))
    }

    /// The objects of these classes.
    fn members(&self, classes: &[usize]) -> Vec<u32> {
        match classes {
            [class] => self.classes[*class].members.clone(),
            classes => {
                let members = classes.iter().flat_map(|&class| &self.classes[class].members);
                let mut members: Vec<u32> = members.copied().collect();
                members.sort_unstable();
                members.dedup();
                members
            }
        }
    }
}

/// Where a selector of a policy looks; `None` if the policy does not reach there.
fn place<'a>(policy: &'a PropagationPolicy, selector: &'a ResourceSelector) -> Option<Place<'a>> {
    let own = policy.metadata.namespace.as_str();
    let namespace = match (policy.scope(), selector.namespace.as_str()) {
        (PolicyScope::Cluster, namespace) => namespace,
        (PolicyScope::Namespaced, "") => own,
        (PolicyScope::Namespaced, namespace) if namespace == own => own,
        (PolicyScope::Namespaced, _) => return None,
    };
    Some((&selector.api_version, &selector.kind, namespace))
}

fn requirement(selector: &ResourceSelector) -> Requirement<'_> {
    match (selector.name.as_str(), &selector.label_selector) {
        ("", None) => Requirement::Nothing,
        ("", Some(labels)) => Requirement::Labels(labels),
        (name, _) => Requirement::Name(name),
    }
}

/// Sets of labels, one of each of which an object must have to match.
fn alternatives(requirement: Requirement<'_>) -> Vec<Vec<(&str, &str)>> {
    let Requirement::Labels(selector) = requirement else {
        return Vec::new();
    };
    let labels = selector.match_labels.iter();
    let labels = labels.map(|(key, value)| vec![(key.as_str(), value.as_str())]);
    let expressions = selector.match_expressions.iter();
    let expressions = expressions.filter(|expression| expression.operator.known() == Some(SelectorOperator::In));
    let expressions = expressions.map(|expression| {
        let values = expression.values.iter();
        values.map(|value| (expression.key.as_str(), value.as_str())).collect()
    });
    labels.chain(expressions).collect()
}
