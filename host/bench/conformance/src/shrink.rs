//! The smallest case that still fails: clusters and other objects are left out first, then parts of the manifests, then numbers become
//! smaller.
//!
//! A case is shrunk as manifests rather than as the random choices behind it, so that edge cases and cases that the
//! user provides shrink as well, in this process or with a child process for each attempt.

use serde_json::{Map, Value};

use crate::case::Case;

/// The smallest variant of a case for which `fails` is true, after at most `attempts` calls of it, and none after it returned `None`.
pub fn smallest(case: &Case, attempts: usize, mut fails: impl FnMut(&Case) -> Option<bool>) -> Case {
    let mut best = case.clone();
    let mut left = attempts;
    let mut try_one = |candidate: Case, best: &mut Case, left: &mut usize| {
        if *left == 0 || candidate == *best {
            return false;
        }
        let Some(is_smaller) = fails(&candidate) else {
            *left = 0;
            return false;
        };
        *left -= 1;
        if is_smaller {
            *best = candidate;
        }
        is_smaller
    };
    loop {
        let before = best.clone();
        // Clusters and other objects, in ever smaller parts. A case without any object has no binding, so one is left.
        for (list, least) in [(List::Clusters, 0), (List::Objects, 1)] {
            let mut part = list.of(&mut best).len().saturating_sub(least);
            while part > 0 {
                let mut start = 0;
                while left > 0 && start < list.of(&mut best).len() {
                    let mut candidate = best.clone();
                    let items = list.of(&mut candidate);
                    let end = (start + part).min(items.len());
                    items.drain(start..end);
                    if items.len() < least || !try_one(candidate, &mut best, &mut left) {
                        start = end;
                    }
                }
                part /= 2;
            }
        }
        // Of the rest, one part at a time. The objects come first, because they matter more than one of many clusters.
        let passes = [
            (List::Objects, Way::Boldly),
            (List::Clusters, Way::Boldly),
            (List::Objects, Way::ByOne),
            (List::Clusters, Way::ByOne),
        ];
        for (list, way) in passes {
            let mut number = 0;
            while left > 0 {
                let mut candidate = best.clone();
                match simplified(list.of(&mut candidate), number, way) {
                    Step::Done => break,
                    Step::Skipped => number += 1,
                    Step::Taken => {
                        if !try_one(candidate, &mut best, &mut left) {
                            number += 1;
                        }
                    }
                }
            }
        }
        if left == 0 || best == before {
            return best;
        }
    }
}

/// The lists of a case.
#[derive(Clone, Copy)]
enum List {
    Clusters,
    Objects,
}

impl List {
    fn of(self, case: &mut Case) -> &mut Vec<Value> {
        match self {
            Self::Clusters => &mut case.clusters,
            Self::Objects => &mut case.objects,
        }
    }
}

/// Ways to simplify a value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// Keys and items are left out, numbers are halved.
    Boldly,
    /// Numbers come closer to 0 by one.
    ByOne,
}

/// Result of a simplification.
enum Step {
    /// The value was simplified.
    Taken,
    /// The value cannot be simplified further.
    Skipped,
    /// There is no such value.
    Done,
}

/// Keys without which an object is not one of Karmada's.
const KEPT: [&str; 4] = ["apiVersion", "kind", "name", "resource"];

/// Simplifies the value with this number in pre-order.
fn simplified(objects: &mut [Value], number: usize, way: Way) -> Step {
    let mut left = number;
    for object in objects {
        match simplify_within(object, &mut left, way) {
            Step::Done => {}
            step => return step,
        }
    }
    Step::Done
}

fn simplify_within(value: &mut Value, left: &mut usize, way: Way) -> Step {
    match value {
        Value::Object(keys) => {
            let names: Vec<String> = keys.keys().cloned().collect();
            for name in names {
                if *left == 0 {
                    if KEPT.contains(&name.as_str()) {
                        return Step::Skipped;
                    }
                    return simplify_key(keys, &name, way);
                }
                *left -= 1;
                if let Some(inner) = keys.get_mut(&name) {
                    match simplify_within(inner, left, way) {
                        Step::Done => {}
                        step => return step,
                    }
                }
            }
            Step::Done
        }
        Value::Array(items) => {
            for index in 0..items.len() {
                if *left == 0 {
                    if way == Way::ByOne {
                        return Step::Skipped;
                    }
                    items.remove(index);
                    return Step::Taken;
                }
                *left -= 1;
                match simplify_within(&mut items[index], left, way) {
                    Step::Done => {}
                    step => return step,
                }
            }
            Step::Done
        }
        _ => Step::Done,
    }
}

/// Halves the number under a key, shortens the JSON in its text, or leaves the key out.
fn simplify_key(keys: &mut Map<String, Value>, name: &str, way: Way) -> Step {
    if way == Way::ByOne {
        let closer = keys.get(name).and_then(Value::as_i64).filter(|number| *number != 0);
        let Some(number) = closer else {
            return Step::Skipped;
        };
        keys.insert(name.to_owned(), (number - number.signum()).into());
        return Step::Taken;
    }
    let half = match keys.get_mut(name) {
        // JSON in a text, as in the annotation of preferences.
        Some(Value::String(text)) if text.starts_with('{') && text.len() > 2 => {
            simplify_text(text);
            return Step::Taken;
        }
        Some(Value::Number(number)) => halve(number),
        _ => None,
    };
    match half {
        Some(half) => _ = keys.insert(name.to_owned(), half),
        None => _ = keys.remove(name),
    }
    Step::Taken
}

/// Half of a number, rounded towards zero; `None` for 0.
fn halve(number: &serde_json::Number) -> Option<Value> {
    let value = number.as_i64()?;
    (value != 0).then(|| (value / 2).into())
}

/// Leaves out the last part of a JSON object in a text.
fn simplify_text(text: &mut String) {
    let Ok(Value::Object(mut keys)) = serde_json::from_str(text) else {
        text.clear();
        return;
    };
    let last = keys.keys().next_back().cloned();
    if let Some(last) = last {
        match keys.get_mut(&last) {
            Some(Value::Array(items)) if !items.is_empty() => _ = items.pop(),
            _ => _ = keys.remove(&last),
        }
    }
    *text = Value::Object(keys).to_string();
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_does_not_matter_is_left_out() {
        let clusters: Vec<Value> = (0..300)
            .map(|number| json!({ "kind": "Cluster", "metadata": { "name": format!("c{number}"), "labels": { "a": "b" } }, "room": 9 }))
            .collect();
        let case = Case {
            clusters,
            objects: vec![json!({ "kind": "Binding", "spec": { "replicas": 100, "last": [1, 2, 3] } })],
            ..Case::default()
        };
        let mut calls = 0;
        // Fails as long as cluster 77 is there and there are at least 11 replicas.
        let smallest = smallest(&case, 10_000, |case| {
            calls += 1;
            let has_cluster = case.clusters.iter().any(|cluster| cluster["metadata"]["name"] == "c77");
            let replicas = case.objects[0]["spec"]["replicas"].as_i64();
            Some(has_cluster && replicas.is_some_and(|replicas| replicas >= 11))
        });
        assert_eq!(
            smallest.clusters,
            [json!({ "kind": "Cluster", "metadata": { "name": "c77" } })]
        );
        assert_eq!(
            smallest.objects,
            [json!({ "kind": "Binding", "spec": { "replicas": 11 } })]
        );
        assert!(calls < 200, "{calls}");
    }

    #[test]
    fn objects_that_do_not_matter_are_left_out() {
        let object = |name: &str| json!({ "kind": "Binding", "name": name });
        let case = Case {
            objects: ["a", "b", "c", "d", "e"].map(object).to_vec(),
            ..Case::default()
        };
        let found = smallest(&case, 100, |case| Some(case.objects.contains(&object("d"))));
        assert_eq!(found.objects, [object("d")]);
    }

    #[test]
    fn attempts_are_bounded() {
        let case = Case {
            clusters: vec![json!({ "a": 1 }); 100],
            ..Case::default()
        };
        let mut calls = 0;
        let kept = smallest(&case, 7, |_| {
            calls += 1;
            Some(false)
        });
        assert_eq!((calls, &kept), (7, &case));
        let kept = smallest(&case, 7, |_| {
            calls += 1;
            (calls < 9).then_some(false)
        });
        assert_eq!((calls, kept), (9, case));
    }
}
