//! Reading clusters in preferences: the forms, and what is refused.

use serde_json::json;

use super::{ClusterMatch, ClusterTarget};
use crate::configuration::{Configuration, read_value};

fn refused(value: serde_json::Value) -> (String, Option<String>) {
    let error = read_value::<ClusterMatch>(&value).expect_err("it is refused");
    (error.to_string(), error.hint())
}

#[test]
fn a_match_is_a_text_several_texts_or_a_target() {
    let read = |value: serde_json::Value| read_value::<ClusterMatch>(&value).ok();
    assert_eq!(read(json!("eu")), Some(ClusterMatch::Text("eu".to_owned())));
    assert_eq!(
        read(json!(["a", "b"])),
        Some(ClusterMatch::AnyOf(vec!["a".to_owned(), "b".to_owned()]))
    );
    assert_eq!(read(json!({})), Some(ClusterMatch::Target(ClusterTarget::default())));
    let expected = "expected a text, a list of texts, or a mapping such as {\"clusterNames\": […]}, got the number `3`";
    assert_eq!(refused(json!(3)).0, expected);
    assert_eq!(refused(json!(["a", 3])).0, "[1]: expected a string, got the number `3`");
    assert_eq!(
        refused(json!({ "labelSelector": { "matchLabel": {} } })),
        (
            "labelSelector: unknown key `matchLabel`".to_owned(),
            Some("did you mean `matchLabels`?".to_owned())
        )
    );
    let operator = json!({ "fieldSelector": { "matchExpressions": [{ "key": "region", "operator": "Gt" }] } });
    assert_eq!(
        refused(operator).0,
        "fieldSelector.matchExpressions[0].operator: unknown value `Gt`"
    );
}

#[test]
fn the_schema_has_all_forms() {
    let schema = <ClusterMatch as Configuration>::schema();
    for part in [
        "\"string\"",
        "\"array\"",
        "ClusterTarget",
        "clusterNames",
        "matchExpressions",
    ] {
        assert!(schema.contains(part), "{part}: {schema}");
    }
}

#[test]
fn requirements_in_another_order_are_the_same() {
    let target = |names: [&str; 2], first: &str, second: &str| {
        let expression = |key: &str| json!({ "key": key, "operator": "NotIn", "values": names });
        let json = json!({
            "clusterNames": names,
            "labelSelector": { "matchExpressions": [expression(first), expression(second)] },
        });
        read_value::<ClusterTarget>(&json).expect("it is valid").canonical()
    };
    assert_eq!(target(["a", "b"], "x", "y"), target(["b", "a"], "y", "x"));
    assert_ne!(target(["a", "b"], "x", "y"), target(["a", "c"], "x", "y"));
}
