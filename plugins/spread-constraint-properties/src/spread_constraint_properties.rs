//! The rule: which property each spread constraint requires, and which clusters have it.
//!
//! A constraint by cluster requires none. As in Karmada, zones are those in the list `spec.zones`, and the deprecated
//! `spec.zone` is ignored. Constraints by label go beyond Karmada: the cluster needs the label, but its value may be
//! empty. The property is required even if the strategy ignores spread constraints, as in Karmada.

use divvy_framework::binding::{SpreadConstraint, SpreadField};
use divvy_framework::clusters::{Clusters, Row, Symbol};

/// A property of a cluster that a spread constraint groups by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Property {
    /// `spec.provider`.
    Provider,
    /// `spec.region`.
    Region,
    /// `spec.zones`.
    Zones,
    /// The label with this key.
    Label(String),
    /// A property that this version does not know, so that no cluster has it.
    Unknown,
}

impl Property {
    /// Property that a constraint requires; `None` for a constraint by cluster.
    pub(crate) fn required_by(constraint: SpreadConstraint<'_>) -> Option<Self> {
        match constraint.field {
            SpreadField::Cluster => None,
            SpreadField::Region => Some(Self::Region),
            SpreadField::Zone => Some(Self::Zones),
            SpreadField::Provider => Some(Self::Provider),
            SpreadField::Label => Some(Self::Label(constraint.label.to_owned())),
            _ => Some(Self::Unknown),
        }
    }

    /// Reason for rejecting a cluster without the property: Karmada's texts, and a similar one for labels.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Provider => "cluster(s) did not have provider property".to_owned(),
            Self::Region => "cluster(s) did not have region property".to_owned(),
            Self::Zones => "cluster(s) did not have zones property".to_owned(),
            Self::Label(key) => format!("cluster(s) did not have label {key}"),
            Self::Unknown => "cluster(s) did not have a property that this plugin does not know".to_owned(),
        }
    }

    /// Column of the snapshot with the property.
    pub(crate) fn column<'a>(&self, clusters: &Clusters<'a>) -> Column<'a> {
        match self {
            Self::Provider => Column::Text(clusters.providers()),
            Self::Region => Column::Text(clusters.regions()),
            Self::Zones => Column::Zones(*clusters),
            Self::Label(key) => Column::Label(*clusters, clusters.symbol(key)),
            Self::Unknown => Column::Text(Default::default()),
        }
    }
}

/// A property of all clusters.
#[derive(Debug)]
pub(crate) enum Column<'a> {
    Text(divvy_framework::cycle::Column<'a, Row, Symbol>),
    Zones(Clusters<'a>),
    /// The key is `None` if no cluster has the label.
    Label(Clusters<'a>, Option<Symbol>),
}

impl Column<'_> {
    /// True if the cluster in this row has the property.
    #[inline]
    pub(crate) fn is_set(&self, row: Row) -> bool {
        match self {
            Self::Text(symbols) => symbols.get(row).is_some_and(|symbol| symbol != Symbol::EMPTY),
            Self::Zones(clusters) => !clusters.get(row).zone_symbols().is_empty(),
            Self::Label(clusters, key) => key.is_some_and(|key| clusters.get(row).label_symbol(key).is_some()),
        }
    }
}
