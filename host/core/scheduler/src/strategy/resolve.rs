//! Turns a binding and its policy into one request.

use std::collections::BTreeMap;

use divvy_karmada::api::{
    ClusterAffinity, ClusterPreferences, PreferenceEntries, ReplicaSchedulingStrategy, ReplicaSchedulingType,
};
use divvy_karmada::policy::wire;
use divvy_loader::RuleList;
use divvy_spanned::names::{nearest, nearest_first};
use divvy_spanned::{Cause, Fault, Warning, json, unique_value};
use serde_json::{Map, Value};

use super::annotations::{Carriers, Written};
use super::declared::{Declaration, Declarations, ListLocation, read_entries, read_list};
use super::error::InvalidBinding;
use super::oddities::{self, Counts};
use super::quorum::quorum;
use super::request::{PluginPreferences, PreferenceRule, StrategyRequest, StrategySource};
use super::{PLUGIN_PREFERENCES_PREFIX, STRATEGY_ANNOTATION};
use crate::input::PlanInput;

/// Settings from the profile and the caller that affect how a strategy is found.
#[derive(Debug, Clone, Copy)]
pub struct StrategyContext<'a> {
    /// Strategies that loaded plugins serve.
    pub declarations: &'a Declarations,
    /// Strategy for every binding, regardless of the manifests.
    pub strategy_override: Option<&'a str>,
    /// True if affinity groups are tiers unless an annotation says otherwise.
    pub affinity_groups_as_tiers: bool,
}

/// Keys of the proposals' extension fields under `replicaScheduling`, and of the list in them.
const EXTENSION: &str = "extendClusterPreferences";
const EXTENSION_LIST: &str = "extendStaticList";
/// Key of priorities beside a strategy, in preferences and in the placement. Only the host acts on them.
const CLUSTER_PRIORITY: &str = "clusterPriority";
/// Levels of objects and lists that `serde_json` reads.
const JSON_LEVELS: usize = 127;
/// Key of Karmada's dynamic factor in preferences.
const DYNAMIC_WEIGHT: &str = "dynamicWeight";

/// Finds the strategy of a binding and normalizes its preferences.
///
/// # Errors
///
/// An [`InvalidBinding`]. The binding is not scheduled and keeps its previous result; other bindings are not affected.
pub fn resolve_strategy(
    input: &PlanInput<'_>,
    context: StrategyContext<'_>,
) -> Result<StrategyRequest, InvalidBinding> {
    let mut warnings = Vec::new();
    let carriers = Carriers::new(input);
    // The preferences come first, because some of their keys imply a strategy.
    let mut annotated = match carriers.preferences(&mut warnings) {
        Some(written) => Annotated::read(written, context.declarations)?,
        None => Annotated::default(),
    };
    let nothing = ReplicaSchedulingStrategy::default();
    let scheduling = input
        .placement
        .and_then(|placement| placement.replica_scheduling.as_ref());
    let total = input.policy.and_then(|policy| policy.replicas);

    let (written, source) = written_name(scheduling, total, context.strategy_override, carriers, &annotated);
    if source == StrategySource::ImpliedByTotal {
        warnings.push(oddities::implied_by_total());
    }
    let scheduling = scheduling.unwrap_or(&nothing);
    // Karmada gives two strategies one name; the dynamic factor distinguishes them.
    let weights = scheduling.weight_preference.as_ref();
    let is_dynamic = annotated.is_dynamic || weights.is_some_and(ClusterPreferences::is_dynamic);
    let served = served(&written, is_dynamic, context.declarations, &source, &mut warnings);
    let served = served.map_err(|error| match source {
        StrategySource::BindingAnnotation | StrategySource::PolicyAnnotation => {
            error.of_annotation(STRATEGY_ANNOTATION)
        }
        _ => error,
    })?;
    let (strategy, plugin) = (served.strategy.clone(), served.plugin.clone());
    let mut for_plugins = carriers.plugin_preferences();
    // The strategy's plugin is a plugin like any other, so its preferences may name it.
    if let Some(written) = for_plugins.remove(plugin.as_str()) {
        if !annotated.origin.is_empty() {
            let twice = InvalidBinding::GivenTwice {
                plugin,
                first: annotated.origin,
                second: written.origin,
            };
            return Err(twice.of_annotation(&written.annotation));
        }
        annotated = Annotated::read(written, context.declarations)?;
    }
    let plugin_preferences = plugin_preferences(for_plugins, &strategy, context.declarations, &mut warnings)?;
    let affinity_groups_as_tiers = carriers
        .affinity_groups_as_tiers()?
        .unwrap_or(context.affinity_groups_as_tiers);

    // Priorities beside the strategy take precedence over those of its own list.
    let beside = cluster_priority(input, context.declarations, &annotated, &strategy, &mut warnings)?;
    let own = context.declarations.lists_of(&strategy);
    let rules = rules(own, scheduling, &annotated, &mut warnings)?;
    let priorities = beside.unwrap_or_else(|| priorities_of(own, &rules));
    warn_of_unread(&strategy, scheduling, context.declarations, &annotated, &mut warnings);

    let quorum = quorum(input, carriers, &strategy, context.declarations)?;
    let rules: Vec<PreferenceRule> = rules.into_iter().flat_map(|(_, rules)| rules).collect();
    let mut request = StrategyRequest {
        has_empty_weights: rules.is_empty() && written == wire::WEIGHTED && scheduling.weight_preference.is_some(),
        rules,
        preferences: annotated.rest,
        preferences_origin: annotated.origin,
        preferences_annotation: annotated.annotation,
        plugin,
        plugin_preferences,
        priorities,
        affinity_groups_as_tiers,
        quorum,
        warnings,
        strategy,
        source,
    };
    // Only this strategy accepts a total instead of a count per entry.
    if request.strategy == oddities::STRATEGY {
        annotated
            .counts
            .make_one_group(&mut request, &written, total, input.replicas);
    }
    Ok(request)
}

/// Preferences of an annotation, separated by the part of Divvy that handles them.
#[derive(Debug, Default)]
struct Annotated {
    /// Declared lists in the annotation, by name.
    lists: BTreeMap<String, Value>,
    /// Location of the annotation, for messages.
    origin: String,
    /// Name of the annotation.
    annotation: String,
    counts: Counts,
    is_dynamic: bool,
    /// `clusterPriority`, with its location.
    priority: Option<(Value, String)>,
    /// Remaining keys, for the strategy's plugin.
    rest: Option<Value>,
}

impl Annotated {
    fn read(written: Written<'_>, declarations: &Declarations) -> Result<Self, InvalidBinding> {
        let Written {
            text,
            annotation,
            origin,
        } = written;
        let annotated = Self::read_text(text, origin, declarations);
        let annotated = annotated.map_err(|error| error.of_annotation(&annotation))?;
        Ok(Self {
            annotation,
            ..annotated
        })
    }

    fn read_text(text: &str, origin: String, declarations: &Declarations) -> Result<Self, InvalidBinding> {
        let mut keys = object(text, &origin)?;
        // The plugin validates an object that was written empty. One that is emptied below has nothing left to
        // validate.
        let was_empty = keys.is_empty();
        let mut annotated = Self::default();
        // The proposal's keys have a meaning only if a plugin declares the list that they become entries of.
        if declarations.lists().any(|(_, list)| list.name == oddities::LIST) {
            annotated.counts = oddities::read_counts(&keys, &origin)?;
            keys.retain(|key, _| !oddities::KEYS.contains(&key.as_str()));
        }
        // Lists of other strategies are removed too, so that the plugin does not see them as unknown keys.
        for (_, list) in declarations.lists() {
            if let Some(value) = keys.remove(&list.name).filter(|value| !value.is_null()) {
                annotated.lists.insert(list.name.clone(), value);
            }
        }
        annotated.is_dynamic = match keys.remove(DYNAMIC_WEIGHT) {
            None | Some(Value::Null) => false,
            Some(Value::String(factor)) => factor == ClusterPreferences::AVAILABLE_REPLICAS,
            Some(other) => {
                let expected = format!("`{}`", ClusterPreferences::AVAILABLE_REPLICAS);
                let origin = format!("{origin}.{DYNAMIC_WEIGHT}");
                return Err(InvalidBinding::wrong_type(&origin, &expected, &other));
            }
        };
        let priority = keys.remove(CLUSTER_PRIORITY).filter(|value| !value.is_null());
        annotated.priority = priority.map(|value| (value, format!("{origin}.{CLUSTER_PRIORITY}")));
        annotated.rest = (was_empty || !keys.is_empty()).then_some(Value::Object(keys));
        annotated.origin = origin;
        Ok(annotated)
    }

    /// The rules of a list, including counts in other forms; `None` if the annotation does not contain the list.
    fn rules(
        &self,
        list: &RuleList,
        warnings: &mut Vec<Warning>,
    ) -> Result<Option<Vec<PreferenceRule>>, InvalidBinding> {
        let counts = self.counts.rules.as_ref().filter(|_| list.name == oddities::LIST);
        let Some(value) = self.lists.get(&list.name) else {
            return Ok(counts.cloned());
        };
        let mut rules = counts.cloned().unwrap_or_default();
        let origin = format!("{}.{}", self.origin, list.name);
        rules.extend(self.read_list(value, list, &origin, warnings)?);
        Ok(Some(rules))
    }

    /// The entries of a list in the annotation.
    fn read_list(
        &self,
        value: &Value,
        list: &RuleList,
        origin: &str,
        warnings: &mut Vec<Warning>,
    ) -> Result<Vec<PreferenceRule>, InvalidBinding> {
        let mut found = Vec::new();
        let rules = read_list(value, list, origin, ListLocation::Annotation, &mut found);
        let found = found.into_iter().map(|warning| warning.in_annotation(&self.annotation));
        warnings.extend(found);
        rules.map_err(|error| error.of_annotation(&self.annotation))
    }
}

/// The JSON object in an annotation.
pub(super) fn object(text: &str, origin: &str) -> Result<Map<String, Value>, InvalidBinding> {
    match unique_value(text) {
        Ok(Value::Object(keys)) => Ok(keys),
        Ok(other) => Err(InvalidBinding::wrong_type(origin, "an object", &other)),
        Err(error) => Err(unreadable(text, origin, &error)),
    }
}

/// The error of a text that is not one JSON value with unique keys. It is read again to find the location.
#[cold]
fn unreadable(text: &str, origin: &str, error: &serde_json::Error) -> InvalidBinding {
    let mut faults = Vec::new();
    let syntax = json::parse(text, 1, &mut faults).err().map(Fault::from);
    let known = syntax.or_else(|| (!faults.is_empty()).then(|| faults.swap_remove(0)));
    let (path, line, reason) = match known {
        Some(Fault {
            cause: Cause::TooDeep { .. },
            line,
            ..
        }) => (
            String::new(),
            line,
            format!("nested deeper than {JSON_LEVELS} levels of objects and lists"),
        ),
        Some(Fault { path, line, cause, .. }) => (path.to_string(), line, cause.to_string()),
        // Such as text after the value.
        None => {
            let message = json::without_position(error);
            (String::new(), error.line(), format!("not valid JSON: {message}"))
        }
    };
    InvalidBinding::NotJson {
        origin: match path.as_str() {
            "" => origin.to_owned(),
            path => format!("{origin}.{path}"),
        },
        line,
        reason,
    }
}

/// The preferences of the plugins that take part in the decision. Warns of those that are for another plugin.
fn plugin_preferences(
    given: BTreeMap<&str, Written<'_>>,
    strategy: &str,
    declarations: &Declarations,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<PluginPreferences>, InvalidBinding> {
    let mut read = Vec::new();
    for (plugin, written) in given {
        let Written {
            text,
            annotation,
            origin,
        } = written;
        if declarations.plugins.iter().any(|known| known == plugin) {
            let preferences = object(text, &origin).map_err(|error| error.of_annotation(&annotation))?;
            read.push(PluginPreferences {
                plugin: plugin.to_owned(),
                preferences: Value::Object(preferences),
                annotation,
                origin,
            });
            continue;
        }
        let known = declarations.plugin_names();
        let warning = if known.iter().any(|known| known == plugin) {
            Warning::new(format!(
                "{origin}: the plugin `{plugin}` does not serve the strategy `{strategy}`; ignoring it"
            ))
        } else {
            let warning = Warning::new(format!("{origin}: the profile has no plugin `{plugin}`; ignoring it"));
            match nearest(plugin, known.iter().map(String::as_str)) {
                Some(nearest) => warning.with_hint(format!("did you mean `{PLUGIN_PREFERENCES_PREFIX}{nearest}`?")),
                None => warning,
            }
        };
        warnings.push(warning.in_annotation(&annotation));
    }
    Ok(read)
}

/// The strategy's name as written, from the first source that applies.
fn written_name(
    scheduling: Option<&ReplicaSchedulingStrategy>,
    total: Option<i64>,
    strategy_override: Option<&str>,
    carriers: Carriers<'_>,
    annotated: &Annotated,
) -> (String, StrategySource) {
    if let Some(name) = strategy_override {
        return (name.to_owned(), StrategySource::Override);
    }
    if let Some((name, source)) = carriers.strategy() {
        return (name.to_owned(), source);
    }
    if let Some(key) = annotated.counts.implied_by {
        let source = StrategySource::ImpliedByPreferences(key.to_owned());
        return (oddities::STRATEGY.to_owned(), source);
    }
    let duplicated = || (wire::DUPLICATED.to_owned(), StrategySource::ReplicaSchedulingType);
    let Some(scheduling) = scheduling else {
        return match total {
            Some(_) => (oddities::STRATEGY.to_owned(), StrategySource::ImpliedByTotal),
            None => duplicated(),
        };
    };
    if scheduling.replica_scheduling_type == Some(ReplicaSchedulingType::Duplicated.into()) {
        return duplicated();
    }
    let extended = &scheduling.extend_replica_division_preference;
    if !extended.is_empty() {
        return (extended.clone(), StrategySource::ExtendReplicaDivisionPreference);
    }
    let name = match scheduling.replica_division_preference.as_str() {
        "" => wire::WEIGHTED,
        name => name,
    };
    (name.to_owned(), StrategySource::ReplicaDivisionPreference)
}

/// The strategy that the written name means, as its plugin declares it.
fn served<'a>(
    written: &str,
    is_dynamic: bool,
    declarations: &'a Declarations,
    source: &StrategySource,
    warnings: &mut Vec<Warning>,
) -> Result<&'a Declaration, InvalidBinding> {
    let name = match declarations.get(written) {
        // A plugin that serves exactly this name takes precedence over other meanings of the name.
        Some(_) => written,
        None => oddities::strategy(wire::strategy(written, is_dynamic), warnings),
    };
    declarations.get(name).ok_or_else(|| InvalidBinding::UnknownStrategy {
        strategy: name.to_owned(),
        origin: source.to_string(),
        known: nearest_first(name, &declarations.names()),
    })
}

/// The rules of each list that the strategy reads: from the annotation if it contains the list, otherwise from the
/// placement.
fn rules<'list>(
    own: &'list [RuleList],
    scheduling: &ReplicaSchedulingStrategy,
    annotated: &Annotated,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<(&'list str, Vec<PreferenceRule>)>, InvalidBinding> {
    let mut rules = Vec::new();
    for list in own {
        let given = match annotated.rules(list, warnings)? {
            Some(rules) => rules,
            None => placed_rules(list, own.first() == Some(list), scheduling, warnings)?,
        };
        rules.push((list.name.as_str(), given));
    }
    if own.is_empty()
        && let Some((entries, origin)) = extension(scheduling, warnings)?
    {
        // A strategy that declares no list can read any extension field.
        let location = ListLocation::Extension;
        rules.push((
            EXTENSION_LIST,
            read_entries(entries, None, &origin, location, warnings)?,
        ));
    }
    Ok(rules)
}

/// The rules of a list from the placement. The extension fields do not name a list, so they belong to the strategy's
/// first one.
fn placed_rules(
    list: &RuleList,
    is_first: bool,
    scheduling: &ReplicaSchedulingStrategy,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<PreferenceRule>, InvalidBinding> {
    if is_first && let Some((entries, origin)) = extension(scheduling, warnings)? {
        return read_entries(entries, Some(list), &origin, ListLocation::Extension, warnings);
    }
    let mut lists = scheduling.lists().filter(|given| given.object != EXTENSION);
    match lists.find(|given| given.list == list.name && !given.entries.is_empty()) {
        Some(given) => {
            let origin = format!("{}.{}", given.object, given.list);
            read_entries(given.entries, Some(list), &origin, ListLocation::Field, warnings)
        }
        None => Ok(Vec::new()),
    }
}

/// The entries of the extension fields and their location, if there are any.
fn extension<'a>(
    scheduling: &'a ReplicaSchedulingStrategy,
    warnings: &mut Vec<Warning>,
) -> Result<Option<(PreferenceEntries<'a>, String)>, InvalidBinding> {
    let entries = |name: &str| {
        let mut lists = scheduling.lists();
        lists.find(|given| given.object == EXTENSION && given.list == name && !given.entries.is_empty())
    };
    match (entries(oddities::LIST), entries(EXTENSION_LIST)) {
        (Some(_), Some(_)) => Err(InvalidBinding::Conflict {
            origin: EXTENSION.to_owned(),
            first: EXTENSION_LIST.to_owned(),
            second: oddities::LIST.to_owned(),
        }),
        (Some(misnamed), None) => {
            let message = format!("{EXTENSION}: `{}` is read as `{EXTENSION_LIST}`", misnamed.list);
            let hint = format!("write `{EXTENSION}: {{{EXTENSION_LIST}: […]}}`");
            warnings.push(Warning::new(message).with_hint(hint));
            Ok(Some((misnamed.entries, format!("{EXTENSION}.{}", misnamed.list))))
        }
        (None, given) => Ok(given.map(|given| (given.entries, format!("{EXTENSION}.{EXTENSION_LIST}")))),
    }
}

/// Warns about lists that only other strategies read. The plugin validates all other keys.
fn warn_of_unread(
    strategy: &str,
    scheduling: &ReplicaSchedulingStrategy,
    declarations: &Declarations,
    annotated: &Annotated,
    warnings: &mut Vec<Warning>,
) {
    let own = declarations.lists_of(strategy);
    for (reader, list) in declarations.lists() {
        let name = &list.name;
        if own.iter().any(|own| own.name == *name) {
            continue;
        }
        let in_placement = scheduling
            .lists()
            .any(|given| given.object != EXTENSION && given.list == name && !given.entries.is_empty());
        let in_annotation =
            annotated.lists.contains_key(name) || (name == oddities::LIST && annotated.counts.are_given());
        if in_placement || in_annotation {
            let message = format!("the strategy `{strategy}` does not read `{name}`; ignoring it");
            let hint = format!("the strategy `{}` reads it", reader.strategy);
            warnings.push(Warning::new(message).with_hint(hint));
        }
    }
}

/// Priorities beside the strategy, in any list that a plugin declares as one of priorities.
fn cluster_priority(
    input: &PlanInput<'_>,
    declarations: &Declarations,
    annotated: &Annotated,
    strategy: &str,
    warnings: &mut Vec<Warning>,
) -> Result<Option<Vec<(ClusterAffinity, i64)>>, InvalidBinding> {
    let lists = declarations.lists().map(|(_, list)| list);
    let lists: Vec<&RuleList> = lists.filter(|list| list.priorities).collect();
    let in_placement = input
        .placement
        .and_then(|placement| placement.cluster_priority.as_ref());
    let (given, origin, location): (&Map<String, Value>, &str, ListLocation) = match (&annotated.priority, in_placement)
    {
        (Some((Value::Object(given), origin)), _) => (given, origin, ListLocation::Annotation),
        (Some((other, origin)), _) => {
            let names: Vec<String> = lists.iter().map(|list| format!("`{}`", list.name)).collect();
            let expected = format!("an object with {}", names.join(" or "));
            let error = InvalidBinding::wrong_type(origin, &expected, other);
            return Err(error.of_annotation(&annotated.annotation));
        }
        (None, Some(given)) => (given, CLUSTER_PRIORITY, ListLocation::Field),
        (None, None) => return Ok(None),
    };
    // Priorities are read even if the strategy refuses them, so that a malformed list is reported first.
    let mut priorities = Vec::new();
    for list in lists {
        if let Some(value) = given.get(&list.name).filter(|value| !value.is_null()) {
            let origin = format!("{origin}.{}", list.name);
            let rules = match location {
                ListLocation::Annotation => annotated.read_list(value, list, &origin, warnings)?,
                location => read_list(value, list, &origin, location, warnings)?,
            };
            priorities.extend(targets_and_priorities(list, &rules));
        }
    }
    let declared = declarations.get(strategy);
    if declared.is_some_and(|declared| declared.refuses_priorities) {
        let error = InvalidBinding::PriorityNotAllowed {
            origin: CLUSTER_PRIORITY.to_owned(),
            strategy: strategy.to_owned(),
        };
        return Err(match location {
            ListLocation::Annotation => error.of_annotation(&annotated.annotation),
            _ => error,
        });
    }
    Ok(Some(priorities))
}

/// Priorities from the strategy's own lists.
fn priorities_of(own: &[RuleList], rules: &[(&str, Vec<PreferenceRule>)]) -> Vec<(ClusterAffinity, i64)> {
    let mut priorities = Vec::new();
    for list in own.iter().filter(|list| list.priorities) {
        for (_, rules) in rules.iter().filter(|(name, _)| *name == list.name) {
            priorities.extend(targets_and_priorities(list, rules));
        }
    }
    priorities
}

fn targets_and_priorities(list: &RuleList, rules: &[PreferenceRule]) -> Vec<(ClusterAffinity, i64)> {
    let Some(field) = list.fields.first() else {
        return Vec::new();
    };
    let priority = |rule: &PreferenceRule| Some((rule.target.clone(), *rule.fields.get(&field.name)?));
    rules.iter().filter_map(priority).collect()
}
