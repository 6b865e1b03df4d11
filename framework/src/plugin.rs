//! The parts that plugins of all extension points share: [`Plugin`], its promises, needs and failures.

use divvy_framework_abi::descriptor::feature;

use crate::clusters::NotDeclared;
use crate::configuration::{Configuration, ValueError};
use crate::division::DivisionError;
use crate::table::{RefusedRow, RowsPerKey, Table};

pub use crate::parts::BindingParts;
pub use crate::prepare::{PrepareContext, PreparePlugin};

/// A plugin: constructed once, then called at each of its extension points in every cycle.
///
/// A plugin is shared between threads and must not carry state from one binding to another.
pub trait Plugin: Sized + Send + Sync + 'static {
    /// Name used in profiles, logs and errors: lower case with hyphens, and the name of the plugin's folder. At most 64 bytes: a
    /// longer one does not compile.
    const NAME: &'static str;

    /// A phrase that describes the plugin, for `divvy plugin list`. At most 1,024 bytes: a longer one does not compile.
    const DESCRIPTION: &'static str;
}

/// A plugin that is constructed from the settings of a profile. A plugin without settings implements `Default` instead.
///
/// A type may be both: `impl ConfiguredPlugin for Mine { type Configuration = Self; … }` on a type with `#[derive(Default, Configuration)]` and
/// `#[serde(default)]` makes a plugin that is its own settings.
pub trait ConfiguredPlugin: Plugin {
    /// The settings that a profile can give the plugin: a type with `#[derive(Configuration)]`.
    type Configuration: Configuration;

    /// Constructs the plugin.
    ///
    /// # Errors
    ///
    /// Any error prevents the plugin from loading: the host rejects the whole profile and reports the error's text. A
    /// [`ValueError`] also names the key, so that the host reports its line:
    /// `Err(ValueError::refused("largest-share", "expected at most 100, got 120").into())`.
    fn new(configuration: Self::Configuration) -> Result<Self, Box<dyn std::error::Error>>;

    /// The services that the plugin needs from the host with this configuration, in addition to those that it declares
    /// at its extension points. The host calls it once, after [`Self::new`], and rejects the profile if it does not
    /// know a need.
    fn needs(&self) -> Needs {
        Needs::NONE
    }
}

/// The promises of a plugin about its results: a strategy's; a selector's, which can promise only
/// [`enforces_spread_constraints`](Self::enforces_spread_constraints); or a filter's, which can promise only
/// [`enforces_workload_affinity`](Self::enforces_workload_affinity) and
/// [`enforces_workload_anti_affinity`](Self::enforces_workload_anti_affinity). Each of them, and a score, can promise
/// [`each_alone`](Self::each_alone). A result of a strategy that breaks one fails the
/// plugin's tests; the host checks [`duplicates`](Self::duplicates) and [`respects_capacity`](Self::respects_capacity) in
/// every cycle, and reports a violation as an error of the plugin. A promise at the wrong extension point does not compile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Promises(pub(crate) u64);

impl Promises {
    /// Promises nothing.
    pub const NONE: Self = Self(0);

    /// No cluster gets more than its capacity: `result[i] <= capacities[i]`.
    #[must_use]
    pub const fn respects_capacity(self) -> Self {
        Self(self.0 | feature::RESPECTS_CAPACITY)
    }

    /// Every candidate gets the full count: `result[i] == replicas`. Without this promise the counts add up to
    /// `replicas`.
    #[must_use]
    pub const fn duplicates(self) -> Self {
        Self(self.0 | feature::DUPLICATES)
    }

    /// The result does not depend on the order of the candidates: `assign(p(candidates)) == p(assign(candidates))` for
    /// every permutation `p`.
    #[must_use]
    pub const fn order_independent(self) -> Self {
        Self(self.0 | feature::ORDER_INDEPENDENT)
    }

    /// Every result is a fixed point: with `last = result`, `fits_now = fits_now + last − result` and the same
    /// replicas, a steady cycle gives `result` again.
    #[must_use]
    pub const fn inert(self) -> Self {
        Self(self.0 | feature::INERT)
    }

    /// At Select: the candidates satisfy the binding's spread constraints. No other selector may follow in a profile,
    /// because it could leave out clusters that a constraint needs. Under a profile without such a selector, a binding
    /// with spread constraints is an error, unless its strategy ignores them.
    #[must_use]
    pub const fn enforces_spread_constraints(self) -> Self {
        Self(self.0 | feature::ENFORCES_SPREAD)
    }

    /// At Filter: the clusters that the plugin leaves satisfy the affinity of the binding to the workloads of its group
    /// (`workloadAffinity.affinity`). Under a profile without such a filter, `divvy run` refuses bindings with an affinity
    /// group.
    #[must_use]
    pub const fn enforces_workload_affinity(self) -> Self {
        Self(self.0 | feature::ENFORCES_AFFINITY)
    }

    /// At Filter: the clusters that the plugin leaves satisfy the anti-affinity of the binding to the workloads of its group
    /// (`workloadAffinity.antiAffinity`). Under a profile without such a filter, `divvy run` refuses bindings with an
    /// anti-affinity group.
    #[must_use]
    pub const fn enforces_workload_anti_affinity(self) -> Self {
        Self(self.0 | feature::ENFORCES_ANTI_AFFINITY)
    }

    /// Each cluster is judged alone: removing a cluster changes nothing for the others, regardless of their room, as
    /// long as the binding and the placements of its peers stay the same. No call fails that would succeed with the
    /// cluster, unless no cluster is left. In addition:
    ///
    /// | at | promise |
    /// |---|---|
    /// | Filter | The others are rejected or left as before. |
    /// | Score | Nothing more: their scores may change. |
    /// | Select | The others are picked or left out as before. |
    /// | Assign | Nothing more: only a strategy that [`duplicates`](Self::duplicates) can promise it. |
    ///
    /// At Select and Assign, the promise applies only if the strategy duplicates, no spread constraints are in force
    /// and there are no tiers.
    ///
    /// If every plugin of a decision promises it, forecasts of lost clusters (`divvy diff --without-each`) do not
    /// decide a duplicated binding again for each loss. `divvy plugin verify` checks it.
    #[must_use]
    pub const fn each_alone(self) -> Self {
        Self(self.0 | feature::EACH_ALONE)
    }

    /// The features that cross the boundary.
    pub(crate) const fn bits(self) -> u64 {
        self.0
    }
}

/// The services that a plugin needs from the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs {
    bits: u64,
    /// Tables declared by [`Self::tables`].
    tables: &'static [Table],
    /// Needs of which these are the union.
    parts: &'static [Needs],
}

impl Needs {
    /// Needs nothing beyond the contexts.
    pub const NONE: Self = Self {
        bits: 0,
        tables: &[],
        parts: &[],
    };

    /// The raw JSON of every cluster: [`Cluster::raw_json`](crate::clusters::Cluster::raw_json). The host keeps it only
    /// if a loaded plugin needs it.
    #[must_use]
    pub const fn raw_cluster(self) -> Self {
        self.and(feature::RAW_CLUSTERS)
    }

    /// The priority of the binding, and the labels and annotations of its policy and its workload:
    /// [`Binding::priority`](crate::binding::Binding::priority), [`Binding::policy`](crate::binding::Binding::policy) and
    /// [`Binding::workload`](crate::binding::Binding::workload).
    #[must_use]
    pub const fn metadata(self) -> Self {
        self.and(feature::METADATA)
    }

    /// The time of the decision: [`Cycle::time`](crate::cycle::Cycle::time). A decision for which no time is known, such
    /// as one in a recording of an older version, is an error before the plugin is called.
    #[must_use]
    pub const fn time(self) -> Self {
        self.and(feature::TIME)
    }

    /// These tables of the profile: [`Cycle::table`](crate::cycle::Cycle::table). The host rejects a profile that lacks
    /// one of them, or one of their columns.
    ///
    /// # Panics
    ///
    /// At compile time, if it is called twice.
    #[must_use]
    pub const fn tables(self, tables: &'static [Table]) -> Self {
        assert!(self.tables.is_empty(), "all tables are declared together");
        let mut bits = self.bits;
        let mut number = 0;
        while number < tables.len() {
            bits |= match tables[number].rows_per_key() {
                RowsPerKey::One => feature::TABLES,
                RowsPerKey::Several => feature::TABLES | feature::TABLE_ROWS,
            };
            number += 1;
        }
        Self { bits, tables, ..self }
    }

    /// The placements of the bindings with which the binding shares a workload affinity group:
    /// [`Cycle::placements`](crate::cycle::Cycle::placements). A decision for which they are not known, such as one in a
    /// recording that was made without such a plugin, is an error before the plugin is called.
    #[must_use]
    pub const fn placements(self) -> Self {
        self.and(feature::PLACEMENTS)
    }

    /// Cordoning clusters at Filter: [`FilterResult::cordon`](crate::filter::FilterResult::cordon).
    #[must_use]
    pub const fn cordons(self) -> Self {
        self.and(feature::CORDONS)
    }

    /// All candidates in one call, even if the policy gives them priorities: the strategy walks the tiers itself.
    #[must_use]
    pub const fn own_tiers(self) -> Self {
        self.and(feature::OWN_TIERS)
    }

    /// Select ignores spread constraints.
    #[must_use]
    pub const fn no_spread(self) -> Self {
        self.and(feature::NO_SPREAD)
    }

    /// Within a tier, only clusters with a positive value in some rule take part, unless no cluster has one.
    #[must_use]
    pub const fn rules_decide_tiers(self) -> Self {
        self.and(feature::RULES_DECIDE_TIERS)
    }

    /// Cluster priorities cannot be combined with the strategy: the host rejects a binding that asks for both.
    #[must_use]
    pub const fn no_priorities(self) -> Self {
        self.and(feature::NO_PRIORITIES)
    }

    /// The result may exceed capacity in the last tier: the host gives that tier all remaining replicas.
    #[must_use]
    pub const fn last_tier_overflows(self) -> Self {
        self.and(feature::LAST_TIER_OVERFLOWS)
    }

    /// The features that cross the boundary.
    pub(crate) const fn bits(self) -> u64 {
        self.bits
    }

    /// True if these needs include the feature.
    pub(crate) const fn has(self, feature: u64) -> bool {
        self.bits & feature != 0
    }

    /// The union of the needs of several points.
    pub(crate) const fn all(points: &'static [Self]) -> Self {
        let mut all = Self {
            parts: points,
            ..Self::NONE
        };
        let mut number = 0;
        while number < points.len() {
            all = all.and(points[number].bits);
            number += 1;
        }
        all
    }

    /// The declared tables, including those of the combined needs.
    pub(crate) fn declared_tables(self) -> impl Iterator<Item = &'static Table> {
        self.tables.iter().chain(self.parts.iter().flat_map(|part| part.tables))
    }

    /// The union of these features and others.
    pub(crate) const fn and(self, others: u64) -> Self {
        Self {
            bits: self.bits | others,
            ..self
        }
    }

    /// The features that a host must know to load the plugin.
    pub(crate) const fn required(self) -> u64 {
        self.bits & !feature::OPTIONAL
    }

    /// The features that a host may ignore.
    pub(crate) const fn optional(self) -> u64 {
        self.bits & feature::OPTIONAL
    }
}

/// A policy list that a strategy reads: each entry states numbers, such as a weight, for a group of clusters.
///
/// ```
/// use divvy_framework::plugin::{RuleField, RuleList};
/// const COSTS: RuleList = RuleList::new("costList", &[RuleField::required("cost").at_least(1)]);
/// ```
///
/// reads `{"costList": [{"targetCluster": {...}, "cost": 2}]}` in every part of a policy that can carry it: in
/// `divvy.io/preferences`, in any object under `replicaScheduling` that is not one of Karmada's own (such as
/// `weightPreference`, whose keys are fixed), and as `extendClusterPreferences.extendStaticList` with the fields in
/// `extendFields` (which has the entries of the strategy's first list). The host resolves the targets and rejects entries
/// that the list does not allow. The plugin sees [`Rule`](crate::binding::Rule)s, and all other preferences as its own
/// type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleList {
    name: &'static str,
    fields: &'static [RuleField],
    priorities: bool,
}

/// A whole number in the entries of a [`RuleList`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleField {
    name: &'static str,
    minimum: Option<i64>,
    required: bool,
}

impl RuleList {
    /// A list under the key `name`, whose entries have `fields` besides `targetCluster`.
    pub const fn new(name: &'static str, fields: &'static [RuleField]) -> Self {
        Self {
            name,
            fields,
            priorities: false,
        }
    }

    /// Makes the list give clusters priorities, by its first field, larger first: the host groups the clusters into
    /// tiers. Under `clusterPriority`, such a list also applies to any other strategy.
    #[must_use]
    pub const fn giving_priorities(self) -> Self {
        Self {
            priorities: true,
            ..self
        }
    }

    /// The form in which the list crosses the boundary: a JSON object.
    pub(crate) fn to_json(self) -> String {
        let field = |field: &RuleField| {
            let RuleField {
                name,
                minimum,
                required,
            } = field;
            serde_json::json!({ "name": name, "minimum": minimum, "required": required })
        };
        let fields: Vec<serde_json::Value> = self.fields.iter().map(field).collect();
        serde_json::json!({ "name": self.name, "fields": fields, "priorities": self.priorities }).to_string()
    }
}

impl RuleField {
    /// A field that every entry must have.
    pub const fn required(name: &'static str) -> Self {
        Self {
            name,
            minimum: None,
            required: true,
        }
    }

    /// A field that an entry may omit.
    pub const fn optional(name: &'static str) -> Self {
        Self {
            required: false,
            ..Self::required(name)
        }
    }

    /// Sets the smallest allowed value; by default every integer is allowed.
    #[must_use]
    pub const fn at_least(self, minimum: i64) -> Self {
        Self {
            minimum: Some(minimum),
            ..self
        }
    }
}

/// Why a plugin gives no result. Every failure aborts the cycle and leaves the binding's last result in place. The
/// kinds differ in what has to change: the fleet, the policy or the plugin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The binding cannot be scheduled on the clusters as they are. The host reports `Unschedulable`.
    #[error("{message}")]
    #[non_exhaustive]
    Unschedulable {
        /// One line, lower case, without a final period.
        message: String,
        /// The requested replicas and a count that could be placed instead, if one is known.
        figures: Option<(i64, i64)>,
    },
    /// The policy's preferences are invalid. The host reports an `Error` in the policy, with path and hint.
    #[error("{0}")]
    Preferences(#[from] ValueError),
    /// A row of a table is not what the plugin expects: [`TableView::refuse`](crate::table::TableView::refuse). From
    /// [`snapshot_value`](crate::value::SnapshotValuePlugin::snapshot_value), the host rejects the profile and reports the
    /// file and the line of the row; later, it reports an `Error`.
    #[error("{0}")]
    Table(#[from] Box<RefusedRow>),
    /// An error of the plugin itself. The host reports an `Error` that names the plugin.
    #[error("{message}")]
    #[non_exhaustive]
    Internal {
        /// One line, lower case, without a final period.
        message: String,
    },
}

impl Failure {
    /// An [`Unschedulable`](Self::Unschedulable) binding, for the reason in `message`.
    pub fn unschedulable(message: impl Into<String>) -> Self {
        Self::Unschedulable {
            message: message.into(),
            figures: None,
        }
    }

    /// An [`Unschedulable`](Self::Unschedulable) binding: `requested` replicas, but the candidates together have room
    /// for only `available`.
    pub fn too_small(requested: i64, available: i64) -> Self {
        Self::Unschedulable {
            message: format!("{requested} replicas requested, {available} fit in the candidate clusters"),
            figures: Some((requested, available)),
        }
    }

    /// This failure, with the replicas requested and a count that could be placed instead, if it is
    /// [`Unschedulable`](Self::Unschedulable). `available` is the largest such count up to `requested` or, if there is none, the
    /// smallest one above it. A quorum and `divvy headroom` try that count first; without it, they try few others.
    #[must_use]
    pub fn with_figures(mut self, requested: i64, available: i64) -> Self {
        if let Self::Unschedulable { figures, .. } = &mut self {
            *figures = Some((requested, available));
        }
        self
    }

    /// Invalid preferences at `path`. With a hint: `ValueError::refused(path, message).with_hint(hint).into()`.
    pub fn preferences(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Preferences(ValueError::refused(path, message))
    }

    /// An [`Internal`](Self::Internal) error of the plugin.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::Internal {
            message: message.into(),
        }
    }
}

/// A plugin that reads what it did not declare is at fault.
impl From<NotDeclared> for Failure {
    fn from(error: NotDeclared) -> Self {
        Self::internal(error.to_string())
    }
}

/// Too little room is a scheduling outcome. Every other error means that the plugin passed invalid columns, which is a
/// fault of the plugin.
impl From<DivisionError> for Failure {
    fn from(error: DivisionError) -> Self {
        match error {
            DivisionError::Unschedulable { requested, available } => Self::too_small(requested, available),
            other => Self::internal(other.to_string()),
        }
    }
}
