//! Decisions of the scheduler, read from `divvy schedule -o json`.
//!
//! Fields that this version of the SDK does not know are left out here; [`Decision::json`] has them.

use std::ops::Deref;

use serde::Deserialize;
use serde_json::Value;

/// The decisions on all bindings, by namespace and name.
#[derive(Debug, Clone)]
pub struct Decisions {
    pub(super) decisions: Vec<Decision>,
    pub(super) warnings: String,
}

/// The decision on one binding.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Decision {
    /// Namespace and name of the binding: `shop/web-deployment`.
    pub binding: String,
    /// The strategy; empty if the binding is invalid.
    #[serde(default)]
    pub strategy: String,
    /// The outcome: `Scheduled`, `Skipped`, `NoClusterFit`, `Unschedulable` or `Error`.
    pub result: String,
    /// Requested replicas.
    #[serde(default)]
    pub replicas: i64,
    /// The affinity group that was used; empty without groups.
    #[serde(default)]
    pub affinity: String,
    /// Why the binding is not scheduled; empty if it is.
    #[serde(default)]
    pub message: String,
    /// A suggested remedy.
    #[serde(default)]
    pub hint: Option<String>,
    /// Time until which the decision holds, as RFC 3339; only if a plugin named one.
    #[serde(default)]
    pub valid_until: Option<String>,
    #[serde(default)]
    clusters: Vec<Target>,
    #[serde(default)]
    explanation: Account,
    #[serde(skip)]
    json: Value,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Target {
    name: String,
    replicas: i64,
}

/// Remarks and reasons of plugins about a decision.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
struct Account {
    #[serde(default)]
    clusters: Vec<ClusterAccount>,
    #[serde(default)]
    notes: Vec<Remark>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClusterAccount {
    name: String,
    #[serde(default)]
    rejected: Option<Remark>,
    #[serde(default)]
    scores: Vec<Score>,
    #[serde(default)]
    left_out: Option<LeftOut>,
    #[serde(default)]
    reasons: Vec<Remark>,
}

/// A text of a plugin; the plugin is empty for the scheduler itself.
#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Remark {
    plugin: String,
    text: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct Score {
    plugin: String,
    score: i64,
    #[serde(default)]
    reason: Option<Remark>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
struct LeftOut {
    plugin: String,
    #[serde(default)]
    reason: Option<Remark>,
}

impl Decisions {
    /// Reads the scheduler's output.
    pub(super) fn read(output: &str, warnings: String) -> Result<Self, serde_json::Error> {
        /// The part of the document that is read.
        #[derive(Deserialize)]
        struct Document {
            bindings: Vec<Value>,
        }
        let Document { bindings } = serde_json::from_str(output)?;
        let read = |row: Value| {
            let decision = Decision::deserialize(&row)?;
            Ok(Decision { json: row, ..decision })
        };
        let decisions = bindings
            .into_iter()
            .map(read)
            .collect::<Result<_, serde_json::Error>>()?;
        Ok(Self { decisions, warnings })
    }

    /// The decision on the binding with this namespace and name: `shop/web-deployment`.
    ///
    /// # Panics
    ///
    /// If there is none, with the names of all bindings.
    #[track_caller]
    pub fn binding(&self, name: &str) -> &Decision {
        let found = self.decisions.iter().find(|decision| decision.binding == name);
        found.unwrap_or_else(|| {
            let known = self.decisions.iter().map(|decision| format!("`{}`", decision.binding));
            let known = known.collect::<Vec<_>>().join(", ");
            panic!("no binding is named `{name}`, expected one of {known}")
        })
    }

    /// Warnings of the scheduler, such as a policy that claims nothing; empty if there are none.
    pub fn warnings(&self) -> &str {
        &self.warnings
    }
}

impl Deref for Decisions {
    type Target = [Decision];

    fn deref(&self) -> &[Decision] {
        &self.decisions
    }
}

impl Decision {
    /// The clusters of the result with their replicas, by name; empty unless the binding is scheduled.
    pub fn shares(&self) -> Vec<(&str, i64)> {
        let shares = self.clusters.iter();
        shares.map(|target| (target.name.as_str(), target.replicas)).collect()
    }

    /// Rejected clusters by name, each with the plugin that rejected it and the reason. The plugin is empty for the
    /// scheduler itself, which rejects clusters that are being deleted.
    pub fn rejections(&self) -> Vec<(&str, &str, &str)> {
        let clusters = self.explanation.clusters.iter();
        let rejected = clusters.filter_map(|cluster| Some((cluster, cluster.rejected.as_ref()?)));
        rejected
            .map(|(cluster, remark)| (cluster.name.as_str(), remark.plugin.as_str(), remark.text.as_str()))
            .collect()
    }

    /// The scores that a plugin gave, from 0 to 100, by name of the cluster.
    pub fn scores(&self, plugin: &str) -> Vec<(&str, i64)> {
        let clusters = self.explanation.clusters.iter();
        let scores = clusters.flat_map(|cluster| cluster.scores.iter().map(|score| (cluster.name.as_str(), score)));
        scores
            .filter(|(_, score)| score.plugin == plugin)
            .map(|(name, score)| (name, score.score))
            .collect()
    }

    /// Clusters that a selector left out, by name, each with the selector.
    pub fn left_out(&self) -> Vec<(&str, &str)> {
        let clusters = self.explanation.clusters.iter();
        let left_out = clusters.filter_map(|cluster| Some((cluster, cluster.left_out.as_ref()?)));
        left_out
            .map(|(cluster, left_out)| (cluster.name.as_str(), left_out.plugin.as_str()))
            .collect()
    }

    /// Reasons of a plugin by cluster: for a score, for leaving the cluster out, or for its share.
    pub fn explanations(&self, plugin: &str) -> Vec<(&str, &str)> {
        let clusters = self.explanation.clusters.iter();
        let remarks = clusters.flat_map(|cluster| {
            let scores = cluster.scores.iter().filter(|score| score.plugin == plugin);
            let scores = scores.filter_map(|score| score.reason.as_ref());
            let left_out = cluster.left_out.iter().filter(|left_out| left_out.plugin == plugin);
            let left_out = left_out.filter_map(|left_out| left_out.reason.as_ref());
            let reasons = cluster.reasons.iter().filter(|reason| reason.plugin == plugin);
            let remarks = scores.chain(left_out).chain(reasons);
            remarks.map(|remark| (cluster.name.as_str(), remark.text.as_str()))
        });
        remarks.collect()
    }

    /// A plugin's remarks on the whole decision.
    pub fn notes(&self, plugin: &str) -> Vec<&str> {
        let notes = self.explanation.notes.iter();
        let notes = notes.filter(|note| note.plugin == plugin);
        notes.map(|note| note.text.as_str()).collect()
    }

    /// The whole decision, as `divvy schedule --explain -o json` prints it.
    pub fn json(&self) -> &Value {
        &self.json
    }
}
