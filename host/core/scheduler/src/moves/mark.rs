//! The mark of a binding that is on its way: an annotation from which any process can go on.
//!
//! A mark describes one version of its binding: the generation, what was asked for, and the result. If any of them is another, someone
//! else wrote the binding, and the mark is void: the binding is decided anew. The target is kept where it differs from the result, so
//! that the mark of a move of a few clusters stays small however many the binding has.

use std::collections::BTreeMap;

use divvy_karmada::api::{ResourceBinding, TargetCluster};
use serde::{Deserialize, Serialize};
use serde_json::error::Category;

use super::readiness::Bound;
use crate::decide::stored_hash::{StoredHash, is_hash_of_result};

pub use crate::input::MOVE_ANNOTATION;

/// Largest mark in bytes: half of what the annotations of an object may have together. It holds a move of 1,500 clusters whose names
/// have 48 characters, the longest of Karmada.
pub const MARK_BYTES_MAX: usize = 128 << 10;

/// The version of the form.
const VERSION: u32 = 1;

/// Time by which the clock of another process may be ahead, in milliseconds.
const CLOCK_SKEW_MAX: i64 = 60_000;

/// Where a move stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mark {
    /// Generation of the binding with the result of the last step.
    pub generation: i64,
    /// Hash of what was asked for.
    pub asked: StoredHash,
    /// Hash of the result of the last step.
    pub result: String,
    /// Time of the last step, in milliseconds since 1970.
    pub at: i64,
    /// True if the move waits without a claim on budgets.
    pub is_released: bool,
    /// The clusters that are not at their target, and those whose ready replicas are bounded, by name.
    pub clusters: BTreeMap<String, Waypoint>,
}

/// A cluster of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenWaypoint", into = "WrittenWaypoint")]
pub struct Waypoint {
    /// Replicas in the target.
    pub target: i64,
    /// Bound of its ready replicas.
    pub bound: Option<Bound>,
}

/// A binding as a mark is compared with it.
#[derive(Debug, Clone, Copy)]
pub struct Marked<'a> {
    /// Its generation.
    pub generation: i64,
    /// Hash of what is asked for: [`asked_hash`](crate::decide::stored_hash::asked_hash).
    pub asked: u64,
    /// The same hash as 0.1.0 [computed it](crate::decide::stored_hash::standard_asked_hash); `None` if no mark can be of that version.
    pub standard_asked: Option<u64>,
    /// Its result.
    pub result: &'a [TargetCluster],
    /// Replicas that it asks for.
    pub total: i64,
    /// The current time, in milliseconds since 1970.
    pub now: i64,
}

/// Cause for which a mark is void. Its text follows "the move is decided anew: ".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Void {
    /// Not a mark.
    #[error("annotation `divvy.io/move`: {reason}")]
    Unreadable {
        /// What is wrong.
        reason: String,
    },
    /// Too long.
    #[error("annotation `divvy.io/move` has {bytes} bytes, expected at most {MARK_BYTES_MAX}")]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// Of another version of Divvy.
    #[error("annotation `divvy.io/move` has version {version}, expected {VERSION}")]
    OtherVersion {
        /// Its version.
        version: u64,
    },
    /// Counts that no move has.
    #[error("annotation `divvy.io/move` gives cluster `{cluster}` {replicas} replicas")]
    Count {
        /// The cluster.
        cluster: String,
        /// The count.
        replicas: i64,
    },
    /// The target is not one of this binding.
    #[error("the target of annotation `divvy.io/move` has {actual} replicas, expected {expected}")]
    Sum {
        /// Replicas of the target.
        actual: i64,
        /// Replicas that the binding asks for.
        expected: i64,
    },
    /// A step from the future.
    #[error("annotation `divvy.io/move` is of a time {milliseconds} ms ahead")]
    Future {
        /// Milliseconds from now.
        milliseconds: i64,
    },
    /// Someone changed the specification.
    #[error("generation {actual} is not that of the last step, {expected}: someone else changed the specification")]
    Generation {
        /// That of the binding.
        actual: i64,
        /// That of the mark.
        expected: i64,
    },
    /// What is asked for changed.
    #[error("the placement, the policy's or the binding's own annotations changed")]
    Asked,
    /// Someone wrote another result.
    #[error("someone else wrote another result")]
    Result,
    /// A cluster of the target is gone.
    #[error("cluster `{cluster}` of the target is gone")]
    UnknownCluster {
        /// The cluster.
        cluster: String,
    },
}

/// Reason why a mark cannot be kept on its binding, so the move cannot begin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnwritableMark {
    /// It is too large.
    #[error(
        "the move of {clusters} clusters needs {bytes} bytes of annotation `divvy.io/move`, expected at most {MARK_BYTES_MAX}"
    )]
    TooLarge {
        /// Clusters of the mark.
        clusters: usize,
        /// Bytes of its text.
        bytes: usize,
    },
    /// It cannot be expressed in JSON, although it has only texts and numbers: a defect.
    #[error("annotation `divvy.io/move` cannot be written as JSON: {0}")]
    Json(String),
}

/// The form of a waypoint: target, bound, and the fingerprint that ends it.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum WrittenWaypoint {
    Target([i64; 1]),
    TimeOnly([i64; 2]),
    Bound(i64, i64, u32),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenMark {
    version: u32,
    generation: i64,
    asked: String,
    result: String,
    at: i64,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    released: bool,
    clusters: BTreeMap<String, Waypoint>,
}

/// The part that every version has.
#[derive(Deserialize)]
struct AnyVersion {
    version: u64,
}

impl Mark {
    /// Reads the annotation.
    ///
    /// # Errors
    ///
    /// The cause for which it is void, whatever the binding is.
    pub fn parse(text: &str) -> Result<Self, Void> {
        if text.len() > MARK_BYTES_MAX {
            return Err(Void::TooLong { bytes: text.len() });
        }
        let any: AnyVersion = serde_json::from_str(text).map_err(unreadable)?;
        if any.version != u64::from(VERSION) {
            return Err(Void::OtherVersion { version: any.version });
        }
        let value = divvy_spanned::unique_value(text).map_err(unreadable)?;
        let written: WrittenMark = serde_json::from_value(value).map_err(unreadable)?;
        for (cluster, waypoint) in &written.clusters {
            let counts = [waypoint.target, waypoint.bound.map_or(0, |bound| bound.replicas)];
            if let Some(&replicas) = counts.iter().find(|count| !(0..=i64::from(i32::MAX)).contains(*count)) {
                let cluster = cluster.clone();
                return Err(Void::Count { cluster, replicas });
            }
        }
        let asked = StoredHash::parse(&written.asked).ok_or_else(|| Void::Unreadable {
            reason: format!("`asked` is `{}`, expected a hash", written.asked),
        })?;
        Ok(Self {
            generation: written.generation,
            asked,
            result: written.result,
            at: written.at,
            is_released: written.released,
            clusters: written.clusters,
        })
    }

    /// Text of the annotation, the same for equal marks.
    ///
    /// # Errors
    ///
    /// An [`UnwritableMark`], usually because it has too many clusters. Nothing may be written.
    pub fn write(&self) -> Result<String, UnwritableMark> {
        let written = WrittenMark {
            version: VERSION,
            generation: self.generation,
            asked: self.asked.to_string(),
            result: self.result.clone(),
            at: self.at,
            released: self.is_released,
            clusters: self.clusters.clone(),
        };
        let text = serde_json::to_string(&written).map_err(|error| UnwritableMark::Json(error.to_string()))?;
        let (clusters, bytes) = (self.clusters.len(), text.len());
        match bytes <= MARK_BYTES_MAX {
            true => Ok(text),
            false => Err(UnwritableMark::TooLarge { clusters, bytes }),
        }
    }

    /// Compares the mark with its binding. `exists` is true for the name of a cluster.
    ///
    /// # Errors
    ///
    /// The cause for which it is void.
    pub fn check(&self, binding: &Marked<'_>, exists: impl Fn(&str) -> bool) -> Result<(), Void> {
        if self.generation != binding.generation {
            return Err(Void::Generation {
                actual: binding.generation,
                expected: self.generation,
            });
        }
        let is_asked = match self.asked {
            StoredHash::Promised(asked) => asked == binding.asked,
            StoredHash::Standard(asked) => Some(asked) == binding.standard_asked,
        };
        if !is_asked {
            return Err(Void::Asked);
        }
        if !is_hash_of_result(&self.result, binding.result) {
            return Err(Void::Result);
        }
        let ahead = self.at.saturating_sub(binding.now);
        if ahead > CLOCK_SKEW_MAX {
            return Err(Void::Future { milliseconds: ahead });
        }
        let unknown = self.clusters.iter().find(|(name, at)| at.target > 0 && !exists(name));
        if let Some((cluster, _)) = unknown {
            return Err(Void::UnknownCluster {
                cluster: cluster.clone(),
            });
        }
        let actual = self.target(binding.result).values().sum();
        if actual != binding.total {
            return Err(Void::Sum {
                actual,
                expected: binding.total,
            });
        }
        Ok(())
    }

    /// The target: that of the mark, and the result elsewhere.
    pub fn target(&self, result: &[TargetCluster]) -> BTreeMap<String, i64> {
        let elsewhere = result
            .iter()
            .map(|cluster| (cluster.name.clone(), i64::from(cluster.replicas)));
        let mut target: BTreeMap<String, i64> = elsewhere.collect();
        target.extend(self.clusters.iter().map(|(name, at)| (name.clone(), at.target)));
        target
    }
}

/// A mark as a binding has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadMark {
    /// The mark, valid or not; `None` if it cannot be read.
    pub mark: Option<Mark>,
    /// The cause for which it is void; `None` if it is valid.
    pub void: Option<Void>,
}

impl ReadMark {
    /// The mark, if it is valid.
    pub fn valid(&self) -> Option<&Mark> {
        self.mark.as_ref().filter(|_| self.void.is_none())
    }
}

/// Reads a binding's annotation; `None` if it has none. `exists` is true for the name of a cluster.
pub fn read_mark(text: Option<&str>, binding: &Marked<'_>, exists: impl Fn(&str) -> bool) -> Option<ReadMark> {
    Some(match Mark::parse(text?) {
        Ok(mark) => ReadMark {
            void: mark.check(binding, exists).err(),
            mark: Some(mark),
        },
        Err(void) => ReadMark {
            mark: None,
            void: Some(void),
        },
    })
}

/// True if a binding has a mark of its present result, as far as the binding alone shows: it is on its way to a result that adds up.
pub fn is_on_its_way(binding: &ResourceBinding) -> bool {
    destination(binding).is_some()
}

/// The result that a binding is on its way to, by cluster; `None` if it is not [on its way](is_on_its_way).
pub fn destination(binding: &ResourceBinding) -> Option<BTreeMap<String, i64>> {
    let text = binding.metadata.annotations.get(MOVE_ANNOTATION)?;
    let mark = Mark::parse(text).ok()?;
    let result = &binding.spec.clusters;
    let is_of_version = mark.generation == binding.metadata.generation && is_hash_of_result(&mark.result, result);
    let target = mark.target(result);
    let total = i64::from(binding.spec.replicas.unwrap_or(0));
    (is_of_version && target.values().sum::<i64>() == total).then_some(target)
}

fn unreadable(error: serde_json::Error) -> Void {
    let reason = match error.classify() {
        Category::Eof => "the text ends too early".to_owned(),
        _ => error.to_string(),
    };
    Void::Unreadable { reason }
}

impl From<WrittenWaypoint> for Waypoint {
    fn from(written: WrittenWaypoint) -> Self {
        let bound = |replicas, entry| Some(Bound { replicas, entry });
        match written {
            WrittenWaypoint::Target([target]) => Self { target, bound: None },
            WrittenWaypoint::TimeOnly([target, replicas]) => Self {
                target,
                bound: bound(replicas, None),
            },
            WrittenWaypoint::Bound(target, replicas, entry) => Self {
                target,
                bound: bound(replicas, Some(entry)),
            },
        }
    }
}

impl From<Waypoint> for WrittenWaypoint {
    fn from(Waypoint { target, bound }: Waypoint) -> Self {
        match bound {
            None => Self::Target([target]),
            Some(Bound { replicas, entry: None }) => Self::TimeOnly([target, replicas]),
            Some(Bound {
                replicas,
                entry: Some(entry),
            }) => Self::Bound(target, replicas, entry),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::targets;
    use super::*;
    use crate::decide::policy::Request;
    use crate::decide::stored_hash::{asked_hash, result_hash, standard_asked_hash};

    fn mark() -> Mark {
        let waypoint = |target, bound| Waypoint { target, bound };
        let bound = |replicas, entry| Some(Bound { replicas, entry });
        let clusters = [
            ("a", waypoint(1, None)),
            ("b", waypoint(3, bound(2, Some(u32::MAX)))),
            ("c", waypoint(2, bound(0, None))),
        ];
        Mark {
            generation: 7,
            asked: StoredHash::Promised(0xAB),
            result: result_hash(&targets(&[("a", 3), ("d", 4)])),
            at: 1_000,
            is_released: false,
            clusters: clusters.into_iter().map(|(name, at)| (name.to_owned(), at)).collect(),
        }
    }

    fn check(mark: &Mark, change: impl FnOnce(&mut Marked<'_>)) -> Result<(), Void> {
        let result = targets(&[("d", 4), ("a", 3)]);
        let mut binding = Marked {
            generation: 7,
            asked: 0xAB,
            standard_asked: None,
            result: &result,
            total: 10,
            now: 2_000,
        };
        change(&mut binding);
        mark.check(&binding, |name| name != "gone")
    }

    #[test]
    fn a_mark_is_written_in_one_form_and_read_back() {
        let text = mark().write().unwrap();
        let expected = format!(
            r#"{{"version":1,"generation":7,"asked":"fnv1a-00000000000000ab","result":"{}","at":1000,"clusters":{{"a":[1],"b":[3,2,4294967295],"c":[2,0]}}}}"#,
            mark().result
        );
        assert_eq!(text, expected);
        assert_eq!(Mark::parse(&text), Ok(mark()));
        let released = Mark {
            is_released: true,
            ..mark()
        };
        assert_eq!(Mark::parse(&released.write().unwrap()), Ok(released));
        let target = mark().target(&targets(&[("a", 3), ("d", 4)]));
        assert_eq!(target.into_values().collect::<Vec<_>>(), [1, 3, 2, 4]);
    }

    #[test]
    fn a_mark_of_another_version_of_its_binding_is_void() {
        assert_eq!(check(&mark(), |_| ()), Ok(()));
        let generation = check(&mark(), |binding| binding.generation = 8);
        assert_eq!(generation, Err(Void::Generation { actual: 8, expected: 7 }));
        assert_eq!(check(&mark(), |binding| binding.asked = 1), Err(Void::Asked));
        assert_eq!(check(&mark(), |binding| binding.result = &[]), Err(Void::Result));
        let sum = check(&mark(), |binding| binding.total = 11);
        assert_eq!(
            sum,
            Err(Void::Sum {
                actual: 10,
                expected: 11
            })
        );
        assert_eq!(check(&mark(), |binding| binding.now = -59_000), Ok(()));
        let ahead = check(&mark(), |binding| binding.now = i64::MIN);
        assert_eq!(ahead, Err(Void::Future { milliseconds: i64::MAX }));
        let mut gone = mark();
        gone.clusters
            .insert("gone".to_owned(), Waypoint { target: 1, bound: None });
        let cluster = "gone".to_owned();
        assert_eq!(check(&gone, |_| ()), Err(Void::UnknownCluster { cluster }));
        // A cluster that is gone may be left.
        gone.clusters
            .insert("gone".to_owned(), Waypoint { target: 0, bound: None });
        assert_eq!(check(&gone, |_| ()), Ok(()));
    }

    #[test]
    fn hostile_marks_are_void_with_their_cause() {
        let text = mark().write().unwrap();
        for end in 0..text.len() {
            assert!(
                matches!(Mark::parse(&text[..end]), Err(Void::Unreadable { .. })),
                "{end}"
            );
        }
        let cause = |from: &str, to: &str| {
            assert!(text.contains(from), "{from}");
            Mark::parse(&text.replacen(from, to, 1)).expect_err(to).to_string()
        };
        assert!(cause(r#""version":1"#, r#""version":2"#).contains("has version 2, expected 1"));
        assert!(cause(r#""version":1"#, r#""version":2,"new":[]"#).contains("has version 2, expected 1"));
        for (from, to) in [
            (r#""version":1"#, r#""version":-1"#),
            (r#""version":1"#, r#""version":1,"extra":1"#),
            (r#""generation":7"#, r#""generation":7,"generation":8"#),
            (r#""generation":7"#, r#""generation":99999999999999999999"#),
            (r#""a":[1]"#, r#""a":[]"#),
            (r#""a":[1]"#, r#""a":[1,2,3,4]"#),
            (r#""a":[1]"#, r#""a":[1],"a":[2]"#),
            (r#""a":[1]"#, r#""a":[1.5]"#),
            (r#""a":[1]"#, r#""a":[1,2,-3]"#),
            ("00000000000000ab", "xyz"),
            ("00000000000000ab", "fffffffffffffffff"),
        ] {
            assert!(cause(from, to).starts_with("annotation `divvy.io/move`: "), "{to}");
        }
        for count in ["-1", "2147483648", "9223372036854775807"] {
            let expected = format!("gives cluster `a` {count} replicas");
            assert!(
                cause(r#""a":[1]"#, &format!(r#""a":[{count}]"#)).contains(&expected),
                "{count}"
            );
            assert!(
                cause(r#""a":[1]"#, &format!(r#""a":[1,{count}]"#)).contains(&expected),
                "{count}"
            );
        }
        let long = " ".repeat(MARK_BYTES_MAX + 1);
        assert_eq!(Mark::parse(&long), Err(Void::TooLong { bytes: long.len() }));
        assert!(matches!(
            Mark::parse(&"[".repeat(MARK_BYTES_MAX)),
            Err(Void::Unreadable { .. })
        ));
    }

    #[test]
    fn a_mark_of_a_thousand_clusters_fits_and_a_larger_one_is_refused() {
        let of = |count: usize| {
            let waypoint = Waypoint {
                target: i64::from(i32::MAX),
                bound: Some(Bound {
                    replicas: i64::from(i32::MAX),
                    entry: Some(u32::MAX),
                }),
            };
            let clusters = (0..count).map(|number| (format!("{number:048}"), waypoint));
            Mark {
                clusters: clusters.collect(),
                ..mark()
            }
        };
        assert!(of(1_500).write().is_ok());
        let refused = of(2_000).write().unwrap_err();
        assert!(
            matches!(refused, UnwritableMark::TooLarge { clusters: 2_000, bytes } if bytes > MARK_BYTES_MAX),
            "{refused}"
        );
    }

    #[test]
    fn a_mark_that_0_1_0_wrote_is_valid_for_what_it_was_written_for() {
        let (policy, own) = (Request::default(), Request::default());
        let asked = |placement: &str| Marked {
            generation: 7,
            asked: asked_hash(placement, &policy, &own, None),
            standard_asked: Some(standard_asked_hash(placement, &policy, &own, None)),
            result: &[],
            total: 10,
            now: 2_000,
        };
        // Placement `{}`, clusters `d` with 4 and `a` with 3, from a binding that 0.1.0 has moved.
        let text = r#"{"version":1,"generation":7,"asked":"f840c907d1255ba1","result":"b6a9454faff5904e","at":1000,"clusters":{"a":[1],"b":[3,2,4294967295],"c":[2,0]}}"#;
        let mark = Mark::parse(text).unwrap();
        let result = targets(&[("d", 4), ("a", 3)]);
        let of = |placement, result| Marked {
            result,
            ..asked(placement)
        };
        assert_eq!(mark.check(&of("{}", &result), |_| true), Ok(()));
        assert_eq!(mark.check(&of("{ }", &result), |_| true), Err(Void::Asked));
        assert_eq!(mark.check(&of("{}", &result[1..]), |_| true), Err(Void::Result));
        // As it is, it is written in the form that it has: only a step makes hashes anew.
        assert_eq!(mark.write().unwrap(), text);
        let promised = Marked {
            standard_asked: None,
            ..of("{}", &result)
        };
        assert_eq!(mark.check(&promised, |_| true), Err(Void::Asked));
    }

    #[test]
    fn an_annotation_that_cannot_be_read_or_is_of_another_result_is_a_void_mark() {
        let result = targets(&[("a", 1)]);
        let binding = Marked {
            generation: 7,
            asked: 0xAB,
            standard_asked: None,
            result: &result,
            total: 1,
            now: 0,
        };
        assert_eq!(read_mark(None, &binding, |_| true), None);
        let read = read_mark(Some(""), &binding, |_| true).unwrap();
        assert!(matches!(
            read,
            ReadMark {
                mark: None,
                void: Some(Void::Unreadable { .. })
            }
        ));
        let stale = read_mark(Some(&mark().write().unwrap()), &binding, |_| true).unwrap();
        assert_eq!(stale.valid(), None);
        assert_eq!((stale.void, stale.mark), (Some(Void::Result), Some(mark())));
    }
}
