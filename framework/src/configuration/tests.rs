//! Reading values: the errors, their locations and their hints.

use serde_json::json;

use crate::prelude::*;

#[derive(Debug, Default, Clone, Copy, PartialEq, Configuration)]
enum Fill {
    #[default]
    Proportional,
    PackTight,
}

#[derive(Debug, PartialEq, Configuration)]
struct Entry {
    name: String,
    replicas: i64,
}

#[derive(Debug, Default, PartialEq, Configuration)]
#[serde(default)]
struct Sample {
    /// How the prefix is filled.
    fill: Fill,
    limit: Option<u32>,
    entries: Vec<Entry>,
}

#[derive(Debug, PartialEq, Preferences)]
struct Wanted {
    region_names: Vec<String>,
}

fn refused(value: serde_json::Value) -> (String, String, Option<String>) {
    let error = Sample::read(&value).expect_err("the value does not fit");
    (error.to_string(), error.key_path(), error.hint())
}

#[test]
fn a_value_that_fits_is_read() {
    let value = json!({ "fill": "pack-tight", "limit": 3, "entries": [{ "name": "a", "replicas": 2 }] });
    let read = Sample::read(&value).expect("the value fits");
    assert_eq!(read.fill, Fill::PackTight);
    assert_eq!(read.limit, Some(3));
    assert_eq!(read.entries[0].replicas, 2);
    assert_eq!(
        Sample::read(&json!({})).expect("all keys have defaults"),
        Sample::default()
    );
    assert_eq!(
        Wanted::read(&json!({ "regionNames": ["eu"] }))
            .expect("preferences are camelCase")
            .region_names,
        ["eu"]
    );
}

#[test]
fn an_unknown_key_is_named_with_its_path_and_the_nearest_known_one() {
    assert_eq!(
        refused(json!({ "fil": "pack-tight" })),
        (
            "unknown key `fil`".into(),
            "fil".into(),
            Some("did you mean `fill`?".into())
        )
    );
    assert_eq!(
        refused(json!({ "entries": [{ "name": "a", "replicas": 1 }, { "name": "b", "replica": 1 }] })),
        (
            "entries[1]: unknown key `replica`".into(),
            "entries[1].replica".into(),
            Some("did you mean `replicas`?".into())
        )
    );
}

#[test]
fn a_wrong_type_is_named_with_both_types() {
    assert_eq!(
        refused(json!({ "limit": "3" })).0,
        "limit: expected a whole number from 0 to 4294967295, got the string \"3\""
    );
    assert_eq!(
        refused(json!({ "limit": -1 })).0,
        "limit: expected a whole number from 0 to 4294967295, got the number `-1`"
    );
    assert_eq!(
        refused(json!({ "entries": [{ "name": "a" }] })).0,
        "entries[0]: missing key `replicas`"
    );
    let (message, path, hint) = refused(json!({ "fill": "pack" }));
    assert_eq!(message, "fill: unknown value `pack`");
    assert_eq!(path, "fill");
    assert_eq!(hint.as_deref(), Some("did you mean `pack-tight`?"));
    assert_eq!(refused(json!([1, 2])).0, "expected a mapping, got a list");
}

#[test]
fn a_check_of_the_plugins_own_can_have_a_hint() {
    let error = ValueError::refused("limit", "expected at most 10, got 12").with_hint("10 is much already");
    assert_eq!(error.to_string(), "limit: expected at most 10, got 12");
    assert_eq!(error.hint().as_deref(), Some("10 is much already"));
    let Failure::Preferences(error) = Failure::from(error) else {
        panic!("it is a failure of preferences");
    };
    assert_eq!(error.key_path(), "limit");
}

#[test]
fn the_schema_comes_from_the_same_definition() {
    let schema: serde_json::Value = serde_json::from_str(&Sample::schema()).expect("a schema is JSON");
    assert_eq!(schema["additionalProperties"], json!(false));
    assert_eq!(
        schema["properties"]["fill"]["description"],
        json!("How the prefix is filled.")
    );
    assert_eq!(schema["title"], json!("Sample"));
    // A default is in the schema only if its type can be written.
    assert_eq!(schema["properties"]["fill"]["default"], json!("proportional"));
}

#[test]
fn a_plugin_without_preferences_refuses_any_key() {
    let error = NoPreferences::read(&json!({ "a": 1 })).expect_err("no key is known");
    assert_eq!(error.hint().as_deref(), Some("no key is known here"));
}

/// Bounds on every kind of field.
#[derive(Debug, Default, PartialEq, Preferences)]
#[serde(default)]
struct Limited {
    #[schemars(range(min = 1))]
    weight: Option<u32>,
    #[schemars(range(min = -5, max = 3_000_000_000_i64))]
    step: i64,
    #[schemars(range(max = 0.5))]
    part: f64,
    #[schemars(length(min = 1, max = 3))]
    words: Vec<String>,
    inner: Option<Inner>,
}

#[derive(Debug, PartialEq, Preferences)]
enum Inner {
    Exactly {
        /// Without a default of its own: it must be there.
        #[schemars(range(min = LEAST, max = 9))]
        count: u8,
        #[schemars(range(min = 1))]
        priority: Option<u32>,
    },
}

const LEAST: u8 = 2;

#[test]
fn a_bound_that_the_schema_shows_is_enforced() {
    for (value, message) in [
        (
            json!({ "weight": 0 }),
            "weight: expected a whole number of at least 1, got the number `0`",
        ),
        (
            json!({ "step": -6 }),
            "step: expected a whole number from -5 to 3000000000, got the number `-6`",
        ),
        (
            json!({ "part": 0.75 }),
            "part: expected a number of at most 0.5, got the number `0.75`",
        ),
        (
            json!({ "words": [] }),
            "words: expected a list with a length from 1 to 3, got a list with a length of 0",
        ),
        (
            json!({ "inner": { "exactly": { "count": 10 } } }),
            "inner.exactly.count: expected a whole number from 2 to 9, got the number `10`",
        ),
        (
            json!({ "inner": { "exactly": { "count": 9, "priority": 0 } } }),
            "inner.exactly.priority: expected a whole number of at least 1, got the number `0`",
        ),
        (
            json!({ "inner": { "exactly": {} } }),
            "inner.exactly: missing key `count`",
        ),
    ] {
        let error = Limited::read(&value).expect_err("it is out of bounds");
        assert_eq!(error.to_string(), message);
    }
    let value = json!({ "weight": 1, "step": -5, "part": 0.5, "words": ["a"], "inner": { "exactly": { "count": 2 } } });
    let read = Limited::read(&value).expect("all are within bounds");
    let inner = Inner::Exactly {
        count: 2,
        priority: None,
    };
    assert_eq!((read.weight, read.step, read.inner), (Some(1), -5, Some(inner)));
    let null = Limited::read(&json!({ "weight": null })).expect("an optional key can be null");
    assert_eq!(null, Limited::default());
}

/// A value of another type is refused by the bounds of its field, which are those of the schema.
#[test]
fn what_is_no_number_is_refused_by_the_bounds_of_its_field() {
    for (value, message) in [
        (
            json!({ "step": "many" }),
            "step: expected a whole number from -5 to 3000000000, got the string \"many\"",
        ),
        (
            json!({ "weight": -1 }),
            "weight: expected a whole number of at least 1, got the number `-1`",
        ),
        (
            json!({ "step": 1.5 }),
            "step: expected a whole number from -5 to 3000000000, got the number `1.5`",
        ),
        (
            json!({ "part": [] }),
            "part: expected a number of at most 0.5, got a list",
        ),
    ] {
        let error = Limited::read(&value).expect_err("it is no number of the range");
        assert_eq!(error.to_string(), message);
    }
}

/// Bounds, defaults and names of the author's own, together.
#[derive(Debug, PartialEq, Configuration)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
struct Own {
    #[serde(default = "half")]
    #[schemars(range(min = 1, max = 100))]
    largest_share: u32,
    #[schemars(range(max = 9))]
    #[serde(default, alias = "spare")]
    extra_room: u8,
    #[schemars(length(min = 1))]
    #[serde(default = "Own::words")]
    words: Vec<String>,
}

fn half() -> u32 {
    50
}

impl Own {
    fn words() -> Vec<String> {
        vec!["one".to_owned()]
    }
}

#[test]
fn a_bounded_key_can_have_a_default_and_names_of_the_authors_own() {
    let read = Own::read(&json!({})).expect("all keys have defaults");
    assert_eq!((read.largest_share, read.extra_room, read.words), (50, 0, Own::words()));
    let read = Own::read(&json!({ "largest_share": 7, "spare": 9, "words": ["a"] })).expect("all are within bounds");
    assert_eq!((read.largest_share, read.extra_room), (7, 9));
    for (value, message) in [
        (
            json!({ "largest_share": 0 }),
            "largest_share: expected a whole number from 1 to 100, got the number `0`",
        ),
        (
            json!({ "spare": 10 }),
            "spare: expected a whole number of at most 9, got the number `10`",
        ),
        (json!({ "largest-share": 3 }), "unknown key `largest-share`"),
    ] {
        assert_eq!(Own::read(&value).expect_err("it is refused").to_string(), message);
    }
    let schema: serde_json::Value = serde_json::from_str(&Own::schema()).expect("it is JSON");
    let share = &schema["properties"]["largest_share"];
    assert_eq!((&share["default"], &share["maximum"]), (&json!(50), &json!(100)));
    assert_eq!(schema["additionalProperties"], json!(false));
}

#[test]
fn bounds_do_not_change_what_the_schema_says_otherwise() {
    let schema: serde_json::Value = serde_json::from_str(&Limited::schema()).expect("it is JSON");
    let weight = &schema["properties"]["weight"];
    assert_eq!(
        (&weight["type"], &weight["minimum"]),
        (&json!(["integer", "null"]), &json!(1))
    );
    assert_eq!(schema["properties"]["step"]["default"], 0);
    let exactly = &schema["$defs"]["Inner"]["oneOf"][0]["properties"]["exactly"];
    assert_eq!(exactly["required"], json!(["count"]));
}
