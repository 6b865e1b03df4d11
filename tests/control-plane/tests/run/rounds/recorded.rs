//! A recorded round: the objects before karmada-scheduler saw a change, and its results.

use std::fs::File;

use divvy_control_plane_tests::objects::{BINDING, CLUSTER, CLUSTER_BINDING, CLUSTER_POLICY, Kind, POLICY};
use divvy_control_plane_tests::scenario::{APPLIED_PLACEMENT, condition};
use divvy_control_plane_tests::source_folder;
use flate2::read::GzDecoder;
use serde_json::Value;

/// Kinds in the recordings. Bindings come last, so that their policies and clusters exist before them.
const KINDS: [Kind; 5] = [CLUSTER, POLICY, CLUSTER_POLICY, BINDING, CLUSTER_BINDING];

/// A round.
pub(super) struct Round {
    /// Everything but the bindings.
    pub(super) surroundings: Vec<(Kind, Value)>,
    /// Each binding before and after, in the order in which it was written last.
    pub(super) bindings: Vec<Transition>,
}

/// A binding in a round.
#[derive(Clone)]
pub(super) struct Transition {
    /// Its kind.
    pub(super) kind: Kind,
    /// The binding before karmada-scheduler saw the change.
    pub(super) before: Value,
    /// The binding as karmada-scheduler and Karmada's controllers left it.
    pub(super) after: Value,
}

/// What karmada-scheduler did with a binding, as far as the recording shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It decided, and its status shows that: the condition or the time of the last scheduling changed.
    Decided,
    /// It failed before and fails still, which leaves the status as it was.
    FailsStill,
    /// It left the binding alone, or only observed its generation.
    LeftAlone,
}

impl Round {
    /// Reads a recording.
    pub(super) fn read(name: &str) -> Self {
        let path = source_folder().join(format!("rounds/{name}.json.gz"));
        let file = File::open(path).expect("the recording is in the repository");
        let mut recorded: Value = serde_json::from_reader(GzDecoder::new(file)).expect("the recording is JSON");
        let mut take = |list: &str| {
            recorded[list]
                .as_array_mut()
                .map(std::mem::take)
                .expect("a list of objects")
        };
        let after = take("after");
        let mut surroundings = Vec::new();
        let mut bindings = Vec::new();
        for object in take("before") {
            let kind = kind_of(&object);
            if ![BINDING, CLUSTER_BINDING].contains(&kind) {
                surroundings.push((kind, object));
                continue;
            }
            let same = after
                .iter()
                .find(|after| after["metadata"]["uid"] == object["metadata"]["uid"]);
            bindings.push(Transition {
                kind,
                after: same.expect("no binding vanished").clone(),
                before: object,
            });
        }
        assert_eq!(bindings.len(), after.len(), "no binding is new");
        bindings.sort_by_key(|binding| {
            binding.after["metadata"]["resourceVersion"]
                .as_str()
                .and_then(|version| version.parse::<u64>().ok())
        });
        Self { surroundings, bindings }
    }

    /// Every object before the round, with its kind.
    pub(super) fn before(&self) -> impl Iterator<Item = (Kind, &Value)> {
        let surroundings = self.surroundings.iter().map(|(kind, object)| (*kind, object));
        surroundings.chain(self.bindings.iter().map(|binding| (binding.kind, &binding.before)))
    }

    /// The bindings with an outcome.
    pub(super) fn bindings_with(&self, outcome: Outcome) -> impl Iterator<Item = &Transition> {
        self.bindings.iter().filter(move |binding| binding.outcome() == outcome)
    }
}

impl Transition {
    /// What karmada-scheduler did.
    pub(super) fn outcome(&self) -> Outcome {
        let scheduled = |binding| condition(binding, "Scheduled");
        let (before, after) = (scheduled(&self.before), scheduled(&self.after));
        let has_decided = before != after || self.changed("/status/lastScheduledTime");
        match has_decided {
            true => Outcome::Decided,
            false if after["status"] == "False" => Outcome::FailsStill,
            false => Outcome::LeftAlone,
        }
    }

    /// True if karmada-scheduler wrote anything.
    pub(super) fn is_written(&self) -> bool {
        self.has_new_result()
            || self.changed("/status/schedulerObservedGeneration")
            || self.outcome() == Outcome::Decided
    }

    /// True if a field is another one afterwards.
    pub(super) fn changed(&self, pointer: &str) -> bool {
        self.before.pointer(pointer) != self.after.pointer(pointer)
    }

    /// True if the result, or the placement that it was made by, is another one afterwards.
    pub(super) fn has_new_result(&self) -> bool {
        self.changed("/spec/clusters") || applied(&self.before) != applied(&self.after)
    }

    /// Namespace and name, as the scheduler's pages have them.
    pub(super) fn key(&self) -> String {
        match self.namespace() {
            "" => self.name().to_owned(),
            namespace => format!("{namespace}/{}", self.name()),
        }
    }

    /// The namespace; empty for a cluster-scoped binding.
    pub(super) fn namespace(&self) -> &str {
        self.before["metadata"]["namespace"].as_str().unwrap_or_default()
    }

    /// The name.
    pub(super) fn name(&self) -> &str {
        self.before["metadata"]["name"].as_str().unwrap_or_default()
    }
}

/// The placement that a result was made by.
pub(super) fn applied(binding: &Value) -> &Value {
    &binding["metadata"]["annotations"][APPLIED_PLACEMENT]
}

fn kind_of(object: &Value) -> Kind {
    let name = object["kind"].as_str().unwrap_or_default();
    let kind = KINDS.into_iter().find(|kind| kind.name == name);
    kind.unwrap_or_else(|| panic!("the kind `{name}` is not expected in a recording"))
}
