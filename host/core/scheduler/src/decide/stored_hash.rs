//! Hashes that are stored in annotations, by which a later process recognises what it finds.
//!
//! They outlive the process and the version that wrote them, so the algorithm has a promise: [`hash_text`] of the plugin ABI over a text in
//! which every part begins with its length. The test has vectors, which never change. Version 0.1.0 used the hasher of the standard
//! library, whose algorithm may change with any toolchain; what it wrote has no prefix and is still recognised, so that an upgrade
//! neither decides a binding anew nor writes it. The next write of the annotation has the new form.
//!
//! The hashes only have to notice changes, not to withstand forgery: whoever can write the annotation can write the result as well.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use divvy_framework_abi::hash::hash_text;
use divvy_karmada::api::{StringMap, TargetCluster};

use super::policy::Request;

/// Beginning of a hash whose algorithm has a promise.
const PREFIX: &str = "fnv1a-";

/// A hash as an annotation has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredHash {
    /// By the algorithm with a promise.
    Promised(u64),
    /// By the hasher of the standard library, as 0.1.0 wrote it.
    Standard(u64),
}

impl StoredHash {
    /// Reads a hash; `None` if the text is none.
    pub fn parse(text: &str) -> Option<Self> {
        let parsed = |digits| u64::from_str_radix(digits, 16).ok();
        match text.strip_prefix(PREFIX) {
            Some(digits) => parsed(digits).map(Self::Promised),
            None => parsed(text).map(Self::Standard),
        }
    }
}

impl Default for StoredHash {
    fn default() -> Self {
        Self::Promised(0)
    }
}

impl fmt::Display for StoredHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Promised(hash) => write!(formatter, "{PREFIX}{hash:016x}"),
            Self::Standard(hash) => write!(formatter, "{hash:016x}"),
        }
    }
}

/// Hash of a result as it is written, the same for any order of the clusters.
pub fn result_hash(clusters: &[TargetCluster]) -> String {
    let mut text = Parts::default();
    for target in sorted(clusters) {
        text.text(&target.name);
        text.number(target.replicas.into());
    }
    StoredHash::Promised(text.hash()).to_string()
}

/// True if a stored hash is that of a result, in the present form or in that of 0.1.0.
pub fn is_hash_of_result(stored: &str, clusters: &[TargetCluster]) -> bool {
    stored == result_hash(clusters) || stored == standard_result_hash(clusters)
}

/// The hash of a result that 0.1.0 wrote.
fn standard_result_hash(clusters: &[TargetCluster]) -> String {
    let mut hasher = DefaultHasher::new();
    for target in sorted(clusters) {
        (&target.name, target.replicas).hash(&mut hasher);
    }
    StoredHash::Standard(hasher.finish()).to_string()
}

fn sorted(clusters: &[TargetCluster]) -> Vec<&TargetCluster> {
    let mut sorted: Vec<&TargetCluster> = clusters.iter().collect();
    sorted.sort();
    sorted
}

/// Hash of what is asked for: the placement, the requests of the policy and the binding, and the policy's words for moves.
pub fn asked_hash(placement: &str, policy: &Request, own: &Request, moves: Option<&str>) -> u64 {
    let mut text = Parts::default();
    text.text(placement);
    text.request(policy);
    text.request(own);
    text.optional(moves);
    text.hash()
}

/// The hash of what is asked for that 0.1.0 wrote.
pub fn standard_asked_hash(placement: &str, policy: &Request, own: &Request, moves: Option<&str>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (placement, policy, own, moves).hash(&mut hasher);
    hasher.finish()
}

/// A text that is different if any of its parts is.
#[derive(Default)]
struct Parts(String);

impl Parts {
    fn text(&mut self, text: &str) {
        self.number(i64::try_from(text.len()).unwrap_or(i64::MAX));
        self.0.push_str(text);
    }

    fn number(&mut self, number: i64) {
        self.0.push_str(&number.to_string());
        self.0.push(';');
    }

    fn optional(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.text(text),
            None => self.0.push('-'),
        }
    }

    fn map(&mut self, map: &StringMap) {
        for (key, value) in map {
            self.text(key);
            self.text(value);
        }
        self.0.push('.');
    }

    /// A part for each field. One that a later version adds goes to the end, and adds nothing while it is absent, so that the hashes of
    /// requests without it stay.
    fn request(&mut self, request: &Request) {
        let Request {
            strategy,
            preferences,
            plugin_preferences,
            affinity_groups,
            quorum,
            replicas,
        } = request;
        self.optional(strategy.as_deref());
        self.optional(preferences.as_deref());
        self.map(plugin_preferences);
        self.optional(affinity_groups.as_deref());
        self.optional(quorum.as_deref());
        match replicas {
            Some(replicas) => self.number(*replicas),
            None => self.0.push('-'),
        }
    }

    fn hash(&self) -> u64 {
        hash_text(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(targets: &[(&str, i32)]) -> Vec<TargetCluster> {
        let targets = targets.iter().map(|(name, replicas)| TargetCluster {
            name: (*name).to_owned(),
            replicas: *replicas,
            ..TargetCluster::default()
        });
        targets.collect()
    }

    fn request() -> Request {
        Request {
            strategy: Some("Custom".to_owned()),
            preferences: Some("{}".to_owned()),
            plugin_preferences: StringMap::from([("surge".to_owned(), r#"{"by": 2}"#.to_owned())]),
            affinity_groups: Some("tiers".to_owned()),
            quorum: Some("3".to_owned()),
            replicas: Some(7),
        }
    }

    /// A change of these hashes would void every annotation that the released versions have written.
    #[test]
    fn hashes_of_every_version_are_the_same_forever() {
        let two = result(&[("member2", 3), ("member1", -1)]);
        for (clusters, promised, standard) in [
            (&[][..], "fnv1a-f52a15e9a9b5e89b", "d1fba762150c532c"),
            (&two[..], "fnv1a-cdd70c5aee9b1353", "fea1ec50f1f36cb8"),
        ] {
            assert_eq!(result_hash(clusters), promised);
            assert_eq!(standard_result_hash(clusters), standard);
        }
        let none = Request::default();
        for (placement, policy, own, moves, promised, standard) in [
            ("{}", &none, &none, None, 0xf312_9281_1bb2_2a5e, 0xf840_c907_d125_5ba1),
            (
                "{}",
                &request(),
                &none,
                Some(r#"{"steps": false}"#),
                0x6f20_44e5_3908_aa12,
                0x5db9_06f9_6295_6c21,
            ),
        ] {
            assert_eq!(asked_hash(placement, policy, own, moves), promised);
            assert_eq!(standard_asked_hash(placement, policy, own, moves), standard);
        }
    }

    #[test]
    fn a_stored_hash_of_either_form_is_of_one_result() {
        let (stored, other) = (result(&[("a", 1), ("b", 2)]), result(&[("a", 1), ("b", 3)]));
        let reordered = result(&[("b", 2), ("a", 1)]);
        for text in [result_hash(&stored), standard_result_hash(&stored)] {
            assert!(is_hash_of_result(&text, &stored), "{text}");
            assert!(is_hash_of_result(&text, &reordered), "{text}");
            assert!(!is_hash_of_result(&text, &other), "{text}");
            assert_eq!(StoredHash::parse(&text).unwrap().to_string(), text);
        }
        for text in ["", "fnv1a-", "fnv1a-x", "-"] {
            assert!(!is_hash_of_result(text, &stored), "{text}");
            assert_eq!(StoredHash::parse(text), None, "{text}");
        }
        // The digits of one form are not a hash of the other.
        let digits = result_hash(&stored)[PREFIX.len()..].to_owned();
        assert!(!is_hash_of_result(&digits, &stored));
        let prefixed = format!("{PREFIX}{}", standard_result_hash(&stored));
        assert!(!is_hash_of_result(&prefixed, &stored));
    }

    #[test]
    fn a_result_is_its_names_and_its_counts_each_with_its_limits() {
        let all = [
            result(&[]),
            result(&[("a", 1)]),
            result(&[("a", 12)]),
            result(&[("a1", 2)]),
            result(&[("a", 1), ("b", 2)]),
            result(&[("a1;1;b", 2)]),
        ];
        let hashes: std::collections::BTreeSet<String> = all.iter().map(|clusters| result_hash(clusters)).collect();
        assert_eq!(hashes.len(), all.len());
    }

    #[test]
    fn what_is_asked_for_is_everything_that_a_target_depends_on() {
        let none = Request::default();
        let changes: [fn(&mut Request); 7] = [
            |request| request.strategy = None,
            |request| request.preferences = None,
            |request| request.plugin_preferences = StringMap::default(),
            |request| request.affinity_groups = None,
            |request| request.quorum = None,
            |request| request.replicas = None,
            |_| {},
        ];
        let changed = changes.map(|change| {
            let mut changed = request();
            change(&mut changed);
            changed
        });
        let mut hashes: Vec<u64> = vec![
            asked_hash("{}", &none, &none, None),
            asked_hash("{ }", &none, &none, None),
            asked_hash("{}", &none, &none, Some("{}")),
            asked_hash("{}", &none, &none, Some("")),
        ];
        for request in &changed {
            hashes.extend([
                asked_hash("{}", request, &none, None),
                asked_hash("{}", &none, request, None),
            ]);
        }
        let distinct: std::collections::BTreeSet<u64> = hashes.iter().copied().collect();
        assert_eq!(distinct.len(), hashes.len());
    }
}
