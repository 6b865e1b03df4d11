//! From a binding, its policy and its placement to one request.

use std::collections::BTreeMap;

use serde_json::Value;

use super::annotations::Carriers;
use super::error::StrategyError;
use super::known::{DUPLICATED, DYNAMIC_WEIGHT, PRIORITY_AGGREGATED, SPECIFIED, STATIC_WEIGHT, WEIGHTED};
use super::names::nearest_first;
use super::preferences::{JsonPreferences, read_preferences};
use super::request::{PreferenceRule, RuleListName, RuleLists, StrategyRequest, StrategySource};
use super::rules::{PRIORITY, REPLICAS, WEIGHT, declared_rules, read_rules};
use crate::api::{ClusterAffinity, ObjectMeta, Placement, ReplicaSchedulingStrategy, ReplicaSchedulingType};
use crate::manifests::Warning;

/// All that bears on the choice.
#[derive(Debug, Clone, Copy)]
pub struct StrategyContext<'a> {
    /// The placement as it was written, before defaults: only then can be told what was not said.
    pub placement: &'a Placement,
    /// The binding's metadata, if there is a binding.
    pub binding: Option<&'a ObjectMeta>,
    /// The policy's metadata, if there is a policy.
    pub policy: Option<&'a ObjectMeta>,
    /// `replicas` in the policy's specification.
    pub total: Option<i64>,
    /// The binding's replicas.
    pub replicas: i64,
    /// The strategies that loaded plugins serve.
    pub known: &'a [String],
    /// The lists that the strategies' plugins declare.
    pub rule_lists: &'a RuleLists,
    /// The strategy that the caller wants whatever the manifests say.
    pub strategy_override: Option<&'a str>,
    /// Whether the profile makes affinity groups tiers.
    pub affinity_groups_as_tiers: bool,
}

/// Names in the printed manifests that all mean `Specified`.
const SPECIFIED_NAMES: [&str; 3] = ["SpecifiedClusters", "SpecifiedRegions", "Regions"];

/// Finds the strategy of a binding and brings its preferences into one form.
pub fn resolve_strategy(context: &StrategyContext<'_>) -> Result<StrategyRequest, StrategyError> {
    let mut warnings = Vec::new();
    let carriers = Carriers {
        binding: context.binding,
        policy: context.policy,
    };
    let json = match carriers.preferences(&mut warnings) {
        Some((text, origin)) => read_preferences(text, &origin, &mut warnings)?,
        None => JsonPreferences::default(),
    };
    let (written, source) = written_name(context, carriers, &json);
    let scheduling = context.placement.replica_scheduling.clone().unwrap_or_default();
    let dynamic_weight = json.dynamic_weight
        || scheduling
            .weight_preference
            .as_ref()
            .is_some_and(|weights| weights.dynamic_weight == "AvailableReplicas");
    if source == StrategySource::ImpliedByTotal {
        warnings.push(
            Warning::new(
                "`spec.replicas` of a policy without `replicaScheduling` is read as the total of one group of clusters",
            )
            .with_hint(
                "write `replicaScheduling: {replicaSchedulingType: Divided, replicaDivisionPreference: Specified}`",
            ),
        );
    }
    let strategy = clean_name(&written, dynamic_weight, context, &source, &mut warnings)?;

    let mut request = StrategyRequest {
        one_group: false,
        rules: Vec::new(),
        rules_key: rules_key(&strategy).into(),
        preferences: json.for_plugin(is_bundled(&strategy)),
        cluster_priority: None,
        dynamic_weight: dynamic_weight && strategy == DYNAMIC_WEIGHT,
        affinity_groups_as_tiers: carriers
            .affinity_groups_as_tiers()?
            .unwrap_or(context.affinity_groups_as_tiers),
        total: context.total,
        warnings: Vec::new(),
        strategy,
        source,
    };
    request.cluster_priority = cluster_priority(context, &json, &request.strategy, &mut warnings)?;
    request.rules = rules(&request.strategy, &scheduling, &json, &mut warnings)?;
    if !is_bundled(&request.strategy)
        && let Some(declared) = context.rule_lists.get(&request.strategy)
    {
        read_declared_lists(&mut request, declared)?;
    }
    warn_of_unused(&request.strategy, &scheduling, &json, &mut warnings);
    if request.strategy == SPECIFIED {
        make_one_group(&mut request, &written, &json, context);
    }
    request.warnings = warnings;
    Ok(request)
}

/// The strategy's name as it was written, by the first road that applies.
fn written_name(
    context: &StrategyContext<'_>,
    carriers: Carriers<'_>,
    json: &JsonPreferences,
) -> (String, StrategySource) {
    if let Some(name) = context.strategy_override {
        return (name.to_owned(), StrategySource::Override);
    }
    if let Some((name, source)) = carriers.strategy() {
        return (name.to_owned(), source);
    }
    let implying = json
        .counts
        .as_ref()
        .map(|(key, _)| key.as_str())
        .or(json.regions.as_ref().map(|_| "idcs"));
    if let Some(key) = implying {
        return (
            SPECIFIED.to_owned(),
            StrategySource::ImpliedByPreferences(key.to_owned()),
        );
    }
    let duplicated = || (DUPLICATED.to_owned(), StrategySource::ReplicaSchedulingType);
    let Some(scheduling) = &context.placement.replica_scheduling else {
        return match context.total {
            Some(_) => (SPECIFIED.to_owned(), StrategySource::ImpliedByTotal),
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
        "" => WEIGHTED,
        name => name,
    };
    (name.to_owned(), StrategySource::ReplicaDivisionPreference)
}

/// The name that a plugin serves.
fn clean_name(
    written: &str,
    dynamic_weight: bool,
    context: &StrategyContext<'_>,
    source: &StrategySource,
    warnings: &mut Vec<Warning>,
) -> Result<String, StrategyError> {
    let is_known = |name: &str| context.known.iter().any(|known| known == name);
    let name = match written {
        // A plugin that serves one of these names is meant.
        name if is_known(name) => name,
        WEIGHTED if dynamic_weight => DYNAMIC_WEIGHT,
        WEIGHTED => STATIC_WEIGHT,
        name if SPECIFIED_NAMES.contains(&name) => {
            let message = format!("the strategy `{name}` is read as `{SPECIFIED}`");
            let hint = format!("write `replicaDivisionPreference: {SPECIFIED}`");
            warnings.push(Warning::new(message).with_hint(hint));
            SPECIFIED
        }
        name => name,
    };
    if is_known(name) {
        return Ok(name.to_owned());
    }
    Err(StrategyError::Unknown {
        strategy: name.to_owned(),
        origin: source.to_string(),
        known: nearest_first(name, context.known),
    })
}

/// Takes the list that the plugin of a strategy from outside declares out of the preferences, and makes rules of it.
fn read_declared_lists(request: &mut StrategyRequest, declared: &[RuleListName]) -> Result<(), StrategyError> {
    let Some(Value::Object(preferences)) = &mut request.preferences else {
        return Ok(());
    };
    for names in declared {
        let Some(entries) = preferences.remove(&names.list) else {
            continue;
        };
        let origin = format!("`divvy.io/preferences`.{}", names.list);
        request.rules = declared_rules(&entries, &names.field, &origin)?;
        request.rules_key = names.list.clone().into();
        break;
    }
    if preferences.is_empty() {
        request.preferences = None;
    }
    Ok(())
}

/// The key under which a strategy's plugin expects its rules.
fn rules_key(strategy: &str) -> &'static str {
    match strategy {
        STATIC_WEIGHT | DYNAMIC_WEIGHT => "staticWeightList",
        SPECIFIED => "staticSpecifyList",
        PRIORITY_AGGREGATED => "preferredPriorityList",
        _ => "extendStaticList",
    }
}

/// The strategy's rules: from the annotation if it has any, or else from the placement.
fn rules(
    strategy: &str,
    scheduling: &ReplicaSchedulingStrategy,
    json: &JsonPreferences,
    warnings: &mut Vec<Warning>,
) -> Result<Vec<PreferenceRule>, StrategyError> {
    const EXTENDED: &str = "extendClusterPreferences";
    let of_json = match strategy {
        STATIC_WEIGHT => json.weights.clone(),
        SPECIFIED => json.counts.clone().map(|(_, rules)| rules),
        PRIORITY_AGGREGATED => json.priorities.clone(),
        _ => None,
    };
    if let Some(rules) = of_json {
        return Ok(rules);
    }
    let required = match strategy {
        STATIC_WEIGHT => Some(WEIGHT),
        SPECIFIED => Some(REPLICAS),
        PRIORITY_AGGREGATED => Some(PRIORITY),
        _ => None,
    };
    if let Some(extended) = &scheduling.extend_cluster_preferences {
        let (misnamed, list) = (&extended.static_specify_list, &extended.extend_static_list);
        if !misnamed.is_empty() && !list.is_empty() {
            return Err(StrategyError::Conflict {
                origin: EXTENDED.to_owned(),
                first: "extendStaticList".to_owned(),
                second: "staticSpecifyList".to_owned(),
            });
        }
        if !misnamed.is_empty() {
            let message = format!("{EXTENDED}: `staticSpecifyList` is read as `extendStaticList`");
            let hint = format!("write `{EXTENDED}: {{extendStaticList: […]}}`");
            warnings.push(Warning::new(message).with_hint(hint));
            return read_rules(
                misnamed,
                &format!("{EXTENDED}.staticSpecifyList"),
                required,
                true,
                warnings,
            );
        }
        if !list.is_empty() {
            return read_rules(list, &format!("{EXTENDED}.extendStaticList"), required, true, warnings);
        }
    }
    let weights = scheduling
        .weight_preference
        .as_ref()
        .map(|weights| &weights.static_weight_list);
    let counts = scheduling
        .specify_preference
        .as_ref()
        .map(|counts| &counts.static_specify_list);
    let priorities = scheduling
        .priority_preference
        .as_ref()
        .map(|priorities| &priorities.preferred_priority_list);
    let weights = (weights, "weightPreference.staticWeightList");
    let counts = (counts, "specifyPreference.staticSpecifyList");
    let priorities = (priorities, "priorityPreference.preferredPriorityList");
    let lists = match strategy {
        STATIC_WEIGHT => vec![weights],
        SPECIFIED => vec![counts],
        PRIORITY_AGGREGATED => vec![priorities],
        // Karmada ignores weights where they follow what is available, and aggregation knows none.
        DUPLICATED | DYNAMIC_WEIGHT | "Aggregated" | "Average" => vec![],
        _ => vec![counts, priorities, weights],
    };
    let given = lists
        .into_iter()
        .find_map(|(list, origin)| Some((list.filter(|list| !list.is_empty())?, origin)));
    match given {
        Some((list, origin)) => read_rules(list, origin, required, false, warnings),
        None => Ok(Vec::new()),
    }
}

/// Whether Divvy brings the strategy along, and so knows what it reads.
fn is_bundled(strategy: &str) -> bool {
    matches!(strategy, DUPLICATED | "Aggregated" | "Average")
        || matches!(
            strategy,
            STATIC_WEIGHT | DYNAMIC_WEIGHT | SPECIFIED | PRIORITY_AGGREGATED
        )
}

/// Warns of preferences that a bundled strategy does not read. What a strategy from outside reads is not known.
fn warn_of_unused(
    strategy: &str,
    scheduling: &ReplicaSchedulingStrategy,
    json: &JsonPreferences,
    warnings: &mut Vec<Warning>,
) {
    let is_bundled = is_bundled(strategy);
    let weights = scheduling
        .weight_preference
        .as_ref()
        .is_some_and(|weights| !weights.static_weight_list.is_empty());
    let counts = scheduling
        .specify_preference
        .as_ref()
        .is_some_and(|counts| !counts.static_specify_list.is_empty());
    let priorities = scheduling
        .priority_preference
        .as_ref()
        .is_some_and(|list| !list.preferred_priority_list.is_empty());
    for (key, is_given, reader) in [
        ("staticWeightList", weights || json.weights.is_some(), STATIC_WEIGHT),
        (
            "staticSpecifyList",
            counts || json.counts.is_some() || json.regions.is_some(),
            SPECIFIED,
        ),
        (
            "preferredPriorityList",
            priorities || json.priorities.is_some(),
            PRIORITY_AGGREGATED,
        ),
    ] {
        if is_bundled && is_given && strategy != reader {
            let message = format!("the strategy `{strategy}` reads no `{key}`; ignored");
            warnings.push(Warning::new(message).with_hint(format!("the strategy `{reader}` reads it")));
        }
    }
}

/// Priorities beside the strategy.
fn cluster_priority(
    context: &StrategyContext<'_>,
    json: &JsonPreferences,
    strategy: &str,
    warnings: &mut Vec<Warning>,
) -> Result<Option<Vec<PreferenceRule>>, StrategyError> {
    const ORIGIN: &str = "clusterPriority.preferredPriorityList";
    let of_placement = context.placement.cluster_priority.as_ref();
    let rules = match (&json.cluster_priority, of_placement) {
        (Some(rules), _) => rules.clone(),
        (None, Some(priority)) => read_rules(
            &priority.preferred_priority_list,
            ORIGIN,
            Some(PRIORITY),
            false,
            warnings,
        )?,
        (None, None) => return Ok(None),
    };
    if matches!(strategy, DUPLICATED | SPECIFIED) {
        let origin = "clusterPriority".to_owned();
        return Err(StrategyError::PriorityNotAllowed {
            origin,
            strategy: strategy.to_owned(),
        });
    }
    Ok(Some(rules))
}

/// `Specified` with a list of regions and a total: all of them are one group, which holds that total.
fn make_one_group(request: &mut StrategyRequest, written: &str, json: &JsonPreferences, context: &StrategyContext<'_>) {
    let is_list_of_regions = written == "Regions" || request.source == StrategySource::ImpliedByTotal;
    let every_cluster = || PreferenceRule {
        // The placement's own affinity has restricted the candidates to the regions already.
        target: ClusterAffinity::default(),
        fields: BTreeMap::new(),
        origin: "spec.replicas".to_owned(),
    };
    let group = match &json.regions {
        Some(regions) => Some(regions.clone()),
        None if request.rules.is_empty() && (is_list_of_regions || context.total.is_some()) => Some(every_cluster()),
        None => None,
    };
    if let Some(mut group) = group {
        let total = context.total.unwrap_or(context.replicas);
        group.fields.insert(REPLICAS.field.to_owned(), total);
        request.rules = vec![group];
        request.one_group = true;
    }
}
