//! Requests of a policy and a binding beside the placement, and the annotation that remembers them.
//!
//! Strategy and preferences are annotations, which do not raise the generation and are not part of the applied placement.
//! So the request that a decision answered is kept on the binding, in one annotation of Divvy's own, and compared like the
//! applied placement. The annotation is only written if there is something to keep: a binding whose policy uses no feature
//! of Divvy's and has no affinity groups carries none.

use std::sync::Arc;

use crate::input::TextMap;
use crate::strategy::{
    AFFINITY_GROUPS_ANNOTATION, PLUGIN_PREFERENCES_PREFIX, PREFERENCES_ANNOTATION, QUORUM_ANNOTATION,
    STRATEGY_ANNOTATION,
};
use divvy_karmada::api::{StringMap, TargetCluster};
use divvy_karmada::detector::PolicyFacts;
use serde::{Deserialize, Serialize};

use super::stored_hash::{is_hash_of_result, result_hash};

/// Value of `activationPreference` with which a policy waits for its workload.
const LAZY: &str = "Lazy";

/// The request that the annotations of one object make.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Request {
    /// `divvy.io/strategy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy: Option<String>,
    /// `divvy.io/preferences`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferences: Option<String>,
    /// `divvy.io/preferences.<plugin>`, by the name of the plugin.
    #[serde(skip_serializing_if = "StringMap::is_empty")]
    pub plugin_preferences: StringMap,
    /// `divvy.io/affinity-groups`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity_groups: Option<String>,
    /// `divvy.io/quorum`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quorum: Option<String>,
    /// The policy's `spec.replicas`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i64>,
}

/// The request that a decision answered, as kept in `divvy.io/applied-policy`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AppliedPolicy {
    /// The policy's request.
    #[serde(skip_serializing_if = "is_empty")]
    pub policy: Request,
    /// The binding's own request.
    #[serde(skip_serializing_if = "is_empty")]
    pub binding: Request,
    /// Version of the workload, under a policy that waits for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workload_version: Option<String>,
    /// Affinity group that fitted; only if the placement has groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub affinity: Option<String>,
    /// Time until which the result holds, in milliseconds since 1970; only if a plugin named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<i64>,
    /// Replicas that were requested; only if the result has fewer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partial_of: Option<i64>,
    /// Hash of the result. If it does not match `spec.clusters`, another program has changed the result since, and the
    /// annotation no longer describes it.
    pub result: String,
}

fn is_empty(request: &Request) -> bool {
    *request == Request::default()
}

impl Request {
    /// The request in an object's annotations.
    pub fn from_annotations<'a>(annotations: impl Into<TextMap<'a>>) -> Self {
        let annotations = annotations.into();
        let value = |key: &str| annotations.get(key).map(str::to_owned);
        Self {
            strategy: value(STRATEGY_ANNOTATION),
            preferences: value(PREFERENCES_ANNOTATION),
            plugin_preferences: annotations
                .iter()
                .filter_map(|(key, text)| {
                    Some((key.strip_prefix(PLUGIN_PREFERENCES_PREFIX)?.to_owned(), text.to_owned()))
                })
                .collect(),
            affinity_groups: value(AFFINITY_GROUPS_ANNOTATION),
            quorum: value(QUORUM_ANNOTATION),
            replicas: None,
        }
    }

    /// The request of a policy.
    pub fn from_policy(policy: &PolicyFacts) -> Self {
        Self {
            replicas: policy.replicas,
            ..Self::from_annotations(&policy.annotations)
        }
    }

    /// A policy's facts as a decision reads them: with the request that is in force. A request whose policy is not known
    /// gets facts that contain nothing else. Facts that have the request already are shared.
    pub fn facts(&self, policy: Option<&Arc<PolicyFacts>>) -> Option<Arc<PolicyFacts>> {
        match policy {
            None if *self == Self::default() => None,
            Some(policy) if *self == Self::from_policy(policy) => Some(Arc::clone(policy)),
            known => {
                let mut facts = known.map_or_else(PolicyFacts::default, |known| PolicyFacts::clone(known));
                self.put_into(&mut facts);
                Some(Arc::new(facts))
            }
        }
    }

    /// Replaces the request in a policy's facts.
    pub fn put_into(&self, policy: &mut PolicyFacts) {
        let values = [
            (STRATEGY_ANNOTATION, &self.strategy),
            (PREFERENCES_ANNOTATION, &self.preferences),
            (AFFINITY_GROUPS_ANNOTATION, &self.affinity_groups),
            (QUORUM_ANNOTATION, &self.quorum),
        ];
        for (key, value) in values {
            match value {
                Some(value) => _ = policy.annotations.insert(key.to_owned(), value.clone()),
                None => _ = policy.annotations.remove(key),
            }
        }
        let annotations = &mut policy.annotations;
        annotations.retain(|key, _| !key.starts_with(PLUGIN_PREFERENCES_PREFIX));
        for (plugin, text) in &self.plugin_preferences {
            annotations.insert(format!("{PLUGIN_PREFERENCES_PREFIX}{plugin}"), text.clone());
        }
        policy.replicas = self.replicas;
    }
}

impl AppliedPolicy {
    /// Reads the annotation. One that cannot be read, or that describes another result than `clusters`, counts as
    /// absent, because another program has scheduled the binding since.
    pub fn read(text: Option<&str>, clusters: &[TargetCluster]) -> Option<Self> {
        let applied: Self = serde_json::from_str(text?).ok()?;
        is_hash_of_result(&applied.result, clusters).then_some(applied)
    }

    /// True if both say the same of one result, although one may have been written by 0.1.0, whose hash has another form. Then the
    /// annotation need not be written for the hash alone.
    pub fn says_the_same(&self, other: &Self, clusters: &[TargetCluster]) -> bool {
        let is_of_result = |applied: &Self| is_hash_of_result(&applied.result, clusters);
        let other = Self {
            result: self.result.clone(),
            ..other.clone()
        };
        is_of_result(self) && *self == other
    }

    /// Text of the annotation; `None` if there is nothing to keep.
    pub fn write(mut self, clusters: &[TargetCluster]) -> Option<String> {
        let is_needed = !is_empty(&self.policy)
            || !is_empty(&self.binding)
            || self.affinity.is_some()
            || self.valid_until.is_some()
            || self.partial_of.is_some();
        self.result = result_hash(clusters);
        let text = is_needed.then(|| serde_json::to_string(&self))?;
        debug_assert!(text.is_ok(), "an applied policy cannot be written as JSON: {text:?}");
        text.ok()
    }
}

/// True if a policy waits for its workload to change before a change to it takes effect.
pub fn is_lazy(policy: Option<&PolicyFacts>) -> bool {
    policy.is_some_and(|policy| policy.activation_preference == LAZY)
}

/// A binding as a policy that waits for its workload sees it.
#[derive(Debug, Clone, Copy)]
pub struct Awaited<'a> {
    /// Version of the workload.
    pub workload_version: &'a str,
    /// True if the binding was scheduled before.
    pub was_scheduled: bool,
    /// True if the binding's specification changed since the scheduler last observed it.
    pub has_changed: bool,
}

impl Awaited<'_> {
    /// True if the workload has not changed since the last decision. The applied record has its version; without a record,
    /// a specification that was observed since it last changed counts as unchanged.
    fn waits(self, applied: Option<&AppliedPolicy>) -> bool {
        match applied.and_then(|applied| applied.workload_version.as_deref()) {
            Some(version) => version == self.workload_version,
            None => self.was_scheduled && !self.has_changed,
        }
    }
}

/// The policy's request that is in force for a binding.
///
/// Usually this is the policy's own request. The applied one stays in force while a lazy policy waits for its workload, and
/// while the policy is not known, for instance between its deletion and the moment when Karmada removes its claim from the
/// binding.
pub fn request_in_force(
    policy: Option<&PolicyFacts>,
    applied: Option<&AppliedPolicy>,
    awaited: Awaited<'_>,
) -> Request {
    let kept = || applied.map(|applied| applied.policy.clone()).unwrap_or_default();
    match policy {
        None => kept(),
        Some(_) if is_lazy(policy) && awaited.waits(applied) => kept(),
        Some(policy) => Request::from_policy(policy),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(strategy: &str, preference: &str) -> PolicyFacts {
        PolicyFacts {
            annotations: StringMap::from([(STRATEGY_ANNOTATION.to_owned(), strategy.to_owned())]),
            activation_preference: preference.to_owned(),
            ..PolicyFacts::default()
        }
    }

    fn applied(strategy: &str, version: Option<&str>) -> AppliedPolicy {
        AppliedPolicy {
            policy: Request {
                strategy: Some(strategy.to_owned()),
                ..Request::default()
            },
            workload_version: version.map(ToOwned::to_owned),
            ..AppliedPolicy::default()
        }
    }

    #[test]
    fn a_lazy_policy_waits_for_its_workload() {
        let lazy = || Some(policy("new", "Lazy"));
        let cases = [
            // Policy, applied, version of the workload, scheduled before, changed since, strategy in force.
            (
                Some(policy("new", "")),
                Some(applied("old", None)),
                "7",
                true,
                false,
                Some("new"),
            ),
            (lazy(), Some(applied("old", Some("7"))), "7", true, false, Some("old")),
            (lazy(), Some(applied("old", Some("7"))), "7", true, true, Some("old")),
            (lazy(), Some(applied("old", Some("7"))), "8", true, true, Some("new")),
            (lazy(), Some(applied("old", None)), "7", true, false, Some("old")),
            (lazy(), None, "7", true, false, None),
            (lazy(), None, "7", true, true, Some("new")),
            (lazy(), None, "7", false, true, Some("new")),
            (None, Some(applied("old", None)), "7", true, false, Some("old")),
            (None, None, "7", true, false, None),
        ];
        for (policy, applied, workload_version, was_scheduled, has_changed, expected) in cases {
            let awaited = Awaited {
                workload_version,
                was_scheduled,
                has_changed,
            };
            let request = request_in_force(policy.as_ref(), applied.as_ref(), awaited);
            assert_eq!(
                request.strategy.as_deref(),
                expected,
                "{policy:?} {applied:?} {awaited:?}"
            );
        }
    }

    #[test]
    fn the_annotation_describes_one_result() {
        let target = |name: &str, replicas| TargetCluster {
            name: name.to_owned(),
            replicas,
            ..TargetCluster::default()
        };
        let result = [target("m1", 1), target("m2", 2)];
        let text = applied("one", None).write(&result).unwrap();
        let reordered = [target("m2", 2), target("m1", 1)];
        assert!(AppliedPolicy::read(Some(&text), &reordered).is_some());
        assert_eq!(AppliedPolicy::read(Some(&text), &[target("m1", 1)]), None);
        assert_eq!(AppliedPolicy::read(Some("{"), &result), None);
        assert_eq!(AppliedPolicy::read(None, &result), None);
    }

    #[test]
    fn an_annotation_of_0_1_0_is_read_and_says_the_same_as_that_of_today() {
        let result = [TargetCluster {
            name: "m1".to_owned(),
            replicas: 1,
            ..TargetCluster::default()
        }];
        let text = r#"{"policy":{"strategy":"one"},"result":"e7c64d53c6073a69"}"#;
        let read = AppliedPolicy::read(Some(text), &result).expect("it is of this result");
        assert_eq!(read.policy.strategy.as_deref(), Some("one"));
        assert_eq!(AppliedPolicy::read(Some(text), &[]), None);
        assert!(read.says_the_same(&applied("one", None), &result));
        assert!(!read.says_the_same(&applied("two", None), &result));
        assert!(!read.says_the_same(&applied("one", None), &[]));
        // The next write has the form with a promise, and is read back.
        let written = read.write(&result).unwrap();
        assert!(written.contains(r#""result":"fnv1a-"#), "{written}");
        let read = AppliedPolicy::read(Some(&written), &result).unwrap();
        assert!(read.says_the_same(&applied("one", None), &result));
        assert_eq!(AppliedPolicy::read(Some(&written), &[]), None);
    }

    #[test]
    fn preferences_for_plugins_are_part_of_the_request() {
        let annotations = [
            ("divvy.io/preferences.windows", "{}"),
            ("divvy.io/preferences", "[]"),
            ("example.com/note", "x"),
        ];
        let annotations: StringMap = annotations.map(|(key, text)| (key.to_owned(), text.to_owned())).into();
        let request = Request::from_annotations(&annotations);
        assert_eq!(
            request.plugin_preferences,
            StringMap::from([("windows".to_owned(), "{}".to_owned())])
        );
        // The request that is in force replaces that of the policy.
        let mut policy = PolicyFacts {
            annotations: [("divvy.io/preferences.carbon", "{}"), ("example.com/note", "x")]
                .map(|(key, text)| (key.to_owned(), text.to_owned()))
                .into(),
            ..PolicyFacts::default()
        };
        request.put_into(&mut policy);
        assert_eq!(policy.annotations, annotations);
        // A record of an older version has none.
        let older: Request = serde_json::from_str(r#"{"strategy": "Average"}"#).unwrap();
        assert!(older.plugin_preferences.is_empty());
    }

    #[test]
    fn nothing_to_keep_is_not_kept() {
        assert_eq!(AppliedPolicy::default().write(&[]), None);
    }
}
