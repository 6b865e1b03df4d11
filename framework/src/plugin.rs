//! What every plugin is, whichever extension point it serves: [`Plugin`], its promises and needs, and how it fails.

use divvy_framework_abi::module::{need, promise};
use divvy_framework_abi::object::{PluginFailure, failure};

use crate::configuration::{Configuration, Preferences, ValueError};
use crate::cycle::Cycle;
use crate::division::DivisionError;

/// A plugin: constructed once from its configuration, asked to prepare once a binding, then called at each of its
/// extension points.
///
/// A plugin is shared between threads and must not keep anything of one binding for another: what a binding needs goes
/// into [`Self::Prepared`].
pub trait Plugin: Sized + Send + Sync + 'static {
    /// The name by which a profile names it, logs and errors too. Lower case with hyphens, the name of its folder.
    const NAME: &'static str;

    /// One sentence on what it does, for `divvy plugin list`.
    const DESCRIPTION: &'static str;

    /// What a profile can configure: a type with `#[derive(Configuration)]`, or
    /// [`NoConfiguration`](crate::configuration::NoConfiguration).
    type Configuration: Configuration;

    /// What a policy can tell it in free form: a type with `#[derive(Preferences)]`, or
    /// [`NoPreferences`](crate::configuration::NoPreferences).
    type Preferences: Preferences;

    /// What it prepares once a binding and is handed back with each call: compiled selectors, parsed preferences. `()` if
    /// nothing.
    type Prepared: Send + Sync + 'static;

    /// Constructs the plugin.
    ///
    /// # Errors
    ///
    /// Any error: the plugin is not loaded, and the profile is refused with its text.
    fn new(configuration: Self::Configuration) -> Result<Self, Box<dyn std::error::Error>>;

    /// Prepares for one binding, before it is called for it.
    ///
    /// # Errors
    ///
    /// A [`Failure`]: the binding is not scheduled.
    fn prepare(&self, context: &PrepareContext<'_, Self>) -> Result<Self::Prepared, Failure>;
}

/// What [`Plugin::prepare`] is given. It dereferences to [`Cycle`].
pub struct PrepareContext<'a, P: Plugin> {
    pub(crate) cycle: Cycle<'a>,
    pub(crate) preferences: Option<P::Preferences>,
}

impl<P: Plugin> PrepareContext<'_, P> {
    /// The preferences that the policy carried for the strategy; `None` if it carried none, or if the plugin is not the
    /// one that the strategy names.
    pub fn preferences(&self) -> Option<&P::Preferences> {
        self.preferences.as_ref()
    }
}

impl<'a, P: Plugin> std::ops::Deref for PrepareContext<'a, P> {
    type Target = Cycle<'a>;

    fn deref(&self) -> &Cycle<'a> {
        &self.cycle
    }
}

/// What a plugin promises. The host and the test kit hold it to its promises: a result that breaks one is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Promises(pub(crate) u64);

impl Promises {
    /// Promises nothing.
    pub const NONE: Self = Self(0);

    /// No cluster gets more than its capacity: `result[i] <= fits_now[i] + last[i]`.
    #[must_use]
    pub const fn respects_capacity(self) -> Self {
        Self(self.0 | promise::RESPECTS_CAPACITY)
    }

    /// Every candidate gets the full count: `result[i] == replicas`. Without it the counts sum up to `replicas`.
    #[must_use]
    pub const fn duplicates(self) -> Self {
        Self(self.0 | promise::DUPLICATES)
    }

    /// The result does not depend on the order of the candidates: `assign(p(candidates)) == p(assign(candidates))` for
    /// every permutation `p`.
    #[must_use]
    pub const fn order_independent(self) -> Self {
        Self(self.0 | promise::ORDER_INDEPENDENT)
    }

    /// The own result is a fixed point: with `last = result`, `fits_now = fits_now + last − result` and the same
    /// replicas, a steady cycle gives `result` again.
    #[must_use]
    pub const fn inert(self) -> Self {
        Self(self.0 | promise::INERT)
    }

    /// The bits that cross the boundary.
    pub const fn bits(self) -> u64 {
        self.0
    }
}

/// What a plugin needs the host to do for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Needs(pub(crate) u64);

impl Needs {
    /// Needs nothing beyond the contexts.
    pub const NONE: Self = Self(0);

    /// The raw JSON of every cluster: [`Cluster::raw_json`](crate::clusters::Cluster::raw_json). The host keeps it only
    /// if a loaded plugin needs it.
    #[must_use]
    pub const fn raw_cluster(self) -> Self {
        Self(self.0 | need::RAW_CLUSTER)
    }

    /// All candidates in one call even where the policy gives them priorities: the strategy walks the tiers itself.
    #[must_use]
    pub const fn own_tiers(self) -> Self {
        Self(self.0 | need::OWN_TIERS)
    }

    /// Spread constraints are to be left out of account by Select.
    #[must_use]
    pub const fn no_spread(self) -> Self {
        Self(self.0 | need::NO_SPREAD)
    }

    /// In a tier, only clusters to which a rule gives a positive value take part, unless no cluster has one.
    #[must_use]
    pub const fn rules_decide_tiers(self) -> Self {
        Self(self.0 | need::RULES_DECIDE_TIERS)
    }

    /// Cluster priorities cannot be combined with the strategy: the host refuses a binding that asks for both.
    #[must_use]
    pub const fn no_priorities(self) -> Self {
        Self(self.0 | need::NO_PRIORITIES)
    }

    /// In the last tier the result may exceed capacity: the host gives that tier all that is left.
    #[must_use]
    pub const fn last_tier_overflows(self) -> Self {
        Self(self.0 | need::LAST_TIER_OVERFLOWS)
    }

    /// The bits that cross the boundary.
    pub const fn bits(self) -> u64 {
        self.0
    }
}

/// A list of a policy that a strategy reads: entries that say for groups of clusters what each is to get.
///
/// ```
/// use divvy_framework::plugin::{RuleField, RuleList};
/// const COSTS: RuleList = RuleList::new("costList", &[RuleField::required("cost").at_least(1)]);
/// ```
///
/// reads `{"costList": [{"targetCluster": {...}, "cost": 2}]}`, wherever a policy can carry it: in `divvy.io/preferences`, in
/// any object under `replicaScheduling`, and as `extendClusterPreferences.extendStaticList` with the fields in
/// `extendFields` (these are the entries of the strategy's first list). The host resolves the targets and refuses what the
/// list does not allow; the plugin sees [`Rule`](crate::binding::Rule)s, and the rest of the preferences as its own type.
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
    /// The list with this key, whose entries have these fields beside `targetCluster`.
    pub const fn new(name: &'static str, fields: &'static [RuleField]) -> Self {
        Self {
            name,
            fields,
            priorities: false,
        }
    }

    /// The list gives clusters priorities, by its first field, larger first: the host makes tiers of them. Such a list can
    /// also be under `clusterPriority`, where it gives priorities beside any other strategy.
    #[must_use]
    pub const fn giving_priorities(self) -> Self {
        Self {
            priorities: true,
            ..self
        }
    }

    /// The list as it crosses the boundary: a JSON object.
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

    /// A field that an entry can have.
    pub const fn optional(name: &'static str) -> Self {
        Self {
            required: false,
            ..Self::required(name)
        }
    }

    /// The least value that the field can have; without it any will do.
    #[must_use]
    pub const fn at_least(self, minimum: i64) -> Self {
        Self {
            minimum: Some(minimum),
            ..self
        }
    }
}

/// Why a plugin gives no result. The two kinds are never mixed up: an unschedulable binding waits, an internal error is
/// reported as the plugin's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The binding cannot be scheduled as things stand.
    #[error("{message}")]
    Unschedulable {
        /// One line, lower case, no final period.
        message: String,
        /// Replicas asked for and replicas that could be placed, if that is the cause.
        figures: Option<(i64, i64)>,
    },
    /// The preferences that the policy carried make no sense.
    #[error("{0}")]
    Preferences(#[from] ValueError),
    /// The plugin could not do its work.
    #[error("{message}")]
    Internal {
        /// One line, lower case, no final period.
        message: String,
    },
}

impl Failure {
    /// The binding cannot be scheduled, for the reason in `message`.
    pub fn unschedulable(message: impl Into<String>) -> Self {
        Self::Unschedulable {
            message: message.into(),
            figures: None,
        }
    }

    /// The candidates are together too small.
    pub fn too_small(requested: i64, available: i64) -> Self {
        Self::Unschedulable {
            message: format!("{requested} replicas requested, {available} fit in the candidate clusters"),
            figures: Some((requested, available)),
        }
    }

    /// The preferences at `path` make no sense.
    pub fn preferences(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Preferences(ValueError::refused(path, message))
    }

    /// The plugin could not do its work.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::Internal {
            message: message.into(),
        }
    }

    pub(crate) fn into_abi(self) -> PluginFailure {
        let mut result = PluginFailure {
            kind: failure::INTERNAL,
            message: self.to_string().into(),
            path: String::new().into(),
            hint: String::new().into(),
            requested: -1,
            available: -1,
        };
        match self {
            Self::Unschedulable { figures, .. } => {
                result.kind = failure::UNSCHEDULABLE;
                if let Some((requested, available)) = figures {
                    result.requested = requested;
                    result.available = available;
                }
            }
            Self::Preferences(error) => {
                result.kind = failure::PREFERENCES;
                result.path = error.key_path().into();
                result.hint = error.hint().unwrap_or_default().into();
            }
            Self::Internal { .. } => {}
        }
        result
    }
}

/// Too little room is the binding's misfortune; anything else means that the plugin passed columns that make no sense.
impl From<DivisionError> for Failure {
    fn from(error: DivisionError) -> Self {
        match error {
            DivisionError::Unschedulable { requested, available } => Self::too_small(requested, available),
            other => Self::internal(other.to_string()),
        }
    }
}
