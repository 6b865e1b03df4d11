//! The spread constraints of a placement, brought into the form that Select works with.
//!
//! Of several constraints by one field the last counts, as in Karmada. Which of the rules applies is decided here, once a
//! binding; no cluster is looked at.

use divvy_framework::binding::{SpreadConstraint, SpreadField};
use divvy_framework::clusters::{Clusters, Symbol};
use divvy_framework::prelude::Configuration;

/// What a maximum means that a policy does not state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Configuration)]
pub(crate) enum AbsentMaximum {
    /// No limit, as Karmada's API documents it.
    #[default]
    Unlimited,
    /// Zero, as Karmada's scheduler reads it: a constraint by cluster then keeps no cluster, and one by region without one
    /// by cluster keeps one cluster a region.
    Zero,
}

/// At least and at most so many.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) minimum: usize,
    pub(crate) maximum: usize,
}

impl Limits {
    fn of(constraint: &SpreadConstraint<'_>, absent: AbsentMaximum) -> Self {
        let count = |groups: i64| usize::try_from(groups).unwrap_or(0);
        Self {
            minimum: count(constraint.minimum_groups),
            maximum: match count(constraint.maximum_groups) {
                0 => Self::absent(absent).maximum,
                maximum => maximum,
            },
        }
    }

    /// The limits of a constraint that is not there.
    fn absent(absent: AbsentMaximum) -> Self {
        Self {
            minimum: 0,
            maximum: match absent {
                AbsentMaximum::Unlimited => usize::MAX,
                AbsentMaximum::Zero => 0,
            },
        }
    }
}

/// A property by which clusters are grouped. From the widest to the narrowest: the order in which several are satisfied.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Property {
    Provider,
    Region,
    Zone,
    /// The key, and its symbol if any cluster mentions it.
    Label(String, Option<Symbol>),
}

impl Property {
    /// Its name in messages.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Provider => "provider",
            Self::Region => "region",
            Self::Zone => "zone",
            Self::Label(key, _) => key,
        }
    }

    /// Where the snapshot holds it.
    pub(crate) fn column<'a>(&self, clusters: &Clusters<'a>) -> Column<'a> {
        match self {
            Self::Provider => Column::Text(clusters.providers()),
            Self::Region => Column::Text(clusters.regions()),
            Self::Zone => Column::Zones(*clusters),
            Self::Label(_, key) => Column::Label(*clusters, *key),
        }
    }
}

/// A property of all clusters.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Column<'a> {
    Text(&'a [Symbol]),
    Zones(Clusters<'a>),
    Label(Clusters<'a>, Option<Symbol>),
}

impl Column<'_> {
    /// The value of the cluster in a row, if the property is one of which a cluster has one.
    // Called once per cluster: left to itself the compiler keeps a call here.
    #[inline(always)]
    pub(crate) fn value(&self, row: u32) -> Option<Symbol> {
        let row = row as usize;
        match self {
            Self::Text(symbols) => symbols.get(row).copied().filter(|&symbol| symbol != Symbol::EMPTY),
            Self::Zones(_) => None,
            Self::Label(clusters, key) => clusters.get(row).label_symbol((*key)?),
        }
    }

    /// Appends all values of the cluster in a row.
    pub(crate) fn collect(&self, row: u32, values: &mut Vec<Symbol>) {
        match self {
            Self::Zones(clusters) => {
                values.extend_from_slice(clusters.get(row as usize).zone_symbols());
            }
            Self::Text(_) | Self::Label(..) => values.extend(self.value(row)),
        }
    }
}

/// What a placement asks of Select.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Nothing: every feasible cluster is a candidate.
    All,
    /// A number of clusters.
    Clusters(Limits),
    /// Groups by one property of which a cluster has one value, and a number of clusters.
    Groups {
        property: Property,
        groups: Limits,
        clusters: Limits,
    },
    /// Groups by zones, or by several properties at once, and a number of clusters.
    Several {
        properties: Vec<(Property, Limits)>,
        clusters: Limits,
    },
}

impl Plan {
    /// The plan for these constraints.
    pub(crate) fn of<'a>(
        constraints: impl Iterator<Item = SpreadConstraint<'a>>,
        clusters: &Clusters<'_>,
        absent: AbsentMaximum,
    ) -> Self {
        let mut by_cluster = None;
        let mut properties: Vec<(Property, Limits)> = Vec::new();
        for constraint in constraints {
            let limits = Limits::of(&constraint, absent);
            let property = match constraint.field {
                SpreadField::Cluster => {
                    by_cluster = Some(limits);
                    continue;
                }
                SpreadField::Provider => Property::Provider,
                SpreadField::Region => Property::Region,
                SpreadField::Zone => Property::Zone,
                SpreadField::Label => {
                    let key = constraint.label;
                    Property::Label(key.to_owned(), clusters.symbol(key))
                }
            };
            properties.retain(|(known, _)| *known != property);
            properties.push((property, limits));
        }
        // The order of the policy plays no part.
        properties.sort_by(|(left, _), (right, _)| left.cmp(right));
        let single = properties.len() == 1 && properties[0].0 != Property::Zone;
        match (properties.pop(), by_cluster) {
            (None, None) => Self::All,
            (None, Some(limits)) => Self::Clusters(limits),
            (Some((property, groups)), limits) if single => Self::Groups {
                property,
                groups,
                clusters: limits.unwrap_or(Limits::absent(absent)),
            },
            (Some(last), limits) => {
                properties.push(last);
                Self::Several {
                    properties,
                    // Karmada has no such rule, and so no reading of an absent maximum to keep to.
                    clusters: limits.unwrap_or(Limits::absent(AbsentMaximum::Unlimited)),
                }
            }
        }
    }
}
