//! Spread constraints of a placement, converted to a plan for Select.
//!
//! If several constraints are by the same field, the last one counts, as in Karmada. The applicable rule is determined
//! here once per binding, without looking at clusters.

use divvy_framework::binding::{SpreadConstraint, SpreadField};
use divvy_framework::clusters::{Clusters, Row, Symbol};
use divvy_framework::prelude::{Configuration, Failure};

use crate::refusal::Refusal;

/// Meaning of a maximum that the policy omits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Configuration)]
pub(crate) enum AbsentMaximum {
    /// No limit, as documented by Karmada's API.
    #[default]
    Unlimited,
    /// Zero, as in Karmada's scheduler: a constraint by cluster then keeps no cluster, and a constraint by region
    /// without one by cluster keeps one cluster per region.
    Zero,
}

/// Fields by which constraints may group clusters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Configuration)]
pub(crate) enum SpreadBy {
    /// All fields of Karmada's API.
    #[default]
    Any,
    /// Cluster and region, as in Karmada's scheduler: constraints by other fields have no effect beside one of these, and alone
    /// they are an error.
    ClusterAndRegion,
}

impl SpreadBy {
    fn supports(self, field: SpreadField) -> bool {
        self == Self::Any || matches!(field, SpreadField::Cluster | SpreadField::Region)
    }
}

/// Minimum and maximum number of groups or clusters, both inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    pub(crate) minimum: usize,
    pub(crate) maximum: usize,
}

impl Limits {
    fn from_constraint(constraint: &SpreadConstraint<'_>, absent: AbsentMaximum) -> Self {
        let count = |groups: i64| usize::try_from(groups).unwrap_or(0);
        Self {
            minimum: count(constraint.minimum_groups),
            maximum: match count(constraint.maximum_groups) {
                0 => Self::absent(absent).maximum,
                maximum => maximum,
            },
        }
    }

    /// Limits of an absent constraint.
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

/// Property by which clusters are grouped. Variants go from the widest to the narrowest, the order in which several
/// minimums are satisfied.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Property {
    Provider,
    Region,
    Zone,
    /// Key of a label, and its symbol if any cluster has the label.
    Label(String, Option<Symbol>),
}

impl Property {
    /// Name in messages.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Provider => "provider",
            Self::Region => "region",
            Self::Zone => "zone",
            Self::Label(key, _) => key,
        }
    }

    /// Column of the snapshot with the property.
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
    Text(divvy_framework::cycle::Column<'a, Row, Symbol>),
    Zones(Clusters<'a>),
    Label(Clusters<'a>, Option<Symbol>),
}

impl Column<'_> {
    /// Value of the cluster in a row. Always `None` for zones, of which a cluster may have several.
    // Called once per cluster; without the attribute, the compiler does not inline it.
    #[inline(always)]
    pub(crate) fn value(&self, row: Row) -> Option<Symbol> {
        match self {
            Self::Text(symbols) => symbols.get(row).filter(|&symbol| symbol != Symbol::EMPTY),
            Self::Zones(_) => None,
            Self::Label(clusters, key) => clusters.get(row).label_symbol((*key)?),
        }
    }

    /// Appends all values of the cluster in a row to `values`.
    pub(crate) fn collect(&self, row: Row, values: &mut Vec<Symbol>) {
        match self {
            Self::Zones(clusters) => values.extend_from_slice(clusters.get(row).zone_symbols()),
            Self::Text(_) | Self::Label(..) => values.extend(self.value(row)),
        }
    }
}

/// Selection that a placement requires.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Every feasible cluster is a candidate.
    All,
    /// A number of clusters.
    Clusters(Limits),
    /// Groups by one property with a single value per cluster, and a number of clusters.
    Groups {
        property: Property,
        groups: Limits,
        clusters: Limits,
    },
    /// Groups by zone or by several properties, and a number of clusters.
    Several {
        properties: Vec<(Property, Limits)>,
        clusters: Limits,
    },
}

impl Plan {
    /// Converts the constraints of a placement to a plan.
    ///
    /// # Errors
    /// [`Refusal::UnsupportedFields`] if there are constraints, but none by a field that `spread_by` permits; an error of the binding
    /// on a field that this version does not know, because a constraint must not be ignored.
    pub(crate) fn new<'a>(
        constraints: impl Iterator<Item = SpreadConstraint<'a>>,
        clusters: &Clusters<'_>,
        absent: AbsentMaximum,
        spread_by: SpreadBy,
    ) -> Result<Self, Failure> {
        let mut by_cluster = None;
        // Most placements spread by one property at most, which takes no allocation.
        let mut first: Option<(Property, Limits)> = None;
        let mut others: Vec<(Property, Limits)> = Vec::new();
        let mut has_unsupported = false;
        for constraint in constraints {
            if !spread_by.supports(constraint.field) {
                has_unsupported = true;
                continue;
            }
            let limits = Limits::from_constraint(&constraint, absent);
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
                _ => return Err(Failure::internal("it does not know the field of a spread constraint")),
            };
            match &first {
                Some((known, _)) if *known != property => {
                    others.retain(|(known, _)| *known != property);
                    others.push((property, limits));
                }
                _ => first = Some((property, limits)),
            }
        }
        let is_single = others.is_empty();
        Ok(match (first, by_cluster) {
            (None, None) if has_unsupported => return Err(Refusal::UnsupportedFields.into()),
            (None, None) => Self::All,
            (None, Some(limits)) => Self::Clusters(limits),
            (Some((property, groups)), limits) if is_single && property != Property::Zone => Self::Groups {
                property,
                groups,
                clusters: limits.unwrap_or(Limits::absent(absent)),
            },
            (Some(first), limits) => {
                others.push(first);
                // A fixed order, so that the order in the policy does not matter.
                others.sort_by(|(left, _), (right, _)| left.cmp(right));
                Self::Several {
                    properties: others,
                    // Karmada has no such rule, so it defines no meaning for an absent maximum.
                    clusters: limits.unwrap_or(Limits::absent(AbsentMaximum::Unlimited)),
                }
            }
        })
    }
}
