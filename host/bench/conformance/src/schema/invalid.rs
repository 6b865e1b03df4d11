//! Values that a schema does not allow, by the keyword that they break.

use divvy_framework_arithmetic::random::Generator;
use serde_json::{Value, json};

use super::{DEPTH, instance_within, resolved};

/// A value that a schema does not allow, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Invalid {
    /// The value.
    pub value: Value,
    /// The mistake in it, for messages.
    pub mistake: String,
}

/// Nesting up to which mistakes are made.
const NESTED: usize = 3;
/// Maximum number of mistakes.
const MISTAKES: usize = 300;

/// Objects that a schema refuses: an unknown key, and for each key, optional ones included, a value of a wrong type or beyond a bound. The
/// mistakes of the top level come first, then those in objects within it. Each object is otherwise `base`, which the schema allows.
pub fn invalid_objects(schema: &Value, base: &Value) -> Vec<Invalid> {
    let mut invalid = within(schema, schema, base, 0);
    // At any depth, the mistakes nearest to the top are the easiest to read.
    invalid.sort_by_key(|(depth, _)| *depth);
    invalid.truncate(MISTAKES);
    invalid.into_iter().map(|(_, invalid)| invalid).collect()
}

/// Invalid variants of an object, each with the depth of its mistake.
fn within(root: &Value, schema: &Value, base: &Value, depth: usize) -> Vec<(usize, Invalid)> {
    let Some(keys) = schema["properties"].as_object() else {
        return Vec::new();
    };
    let with = |key: &str, value: Value| {
        let mut object = base.clone();
        if !object.is_object() {
            object = json!({});
        }
        object[key] = value;
        object
    };
    let mut invalid = Vec::new();
    let mut add = |value: Value, mistake: String| invalid.push((depth, Invalid { value, mistake }));
    if schema["additionalProperties"] == Value::Bool(false) {
        let key = "no-such-key";
        add(with(key, 1.into()), format!("the unknown key `{key}`"));
    }
    for (key, part) in keys {
        let part = target(root, part);
        if let Some(value) = wrong_type(root, &part) {
            add(with(key, value.clone()), format!("`{key}` = {value}"));
        }
        for (value, bound) in beyond_bounds(&part) {
            add(
                with(key, value.clone()),
                format!("`{key}` = {value} (beyond its {bound})"),
            );
        }
    }
    if depth == NESTED {
        return invalid;
    }
    for (key, part) in keys {
        for (depth, Invalid { value, mistake }) in beneath(root, &target(root, part), depth + 1) {
            let value = with(key, value);
            let mistake = format!("{mistake} in `{key}`");
            invalid.push((depth, Invalid { value, mistake }));
        }
    }
    invalid
}

/// Invalid values for a part that is an object, a list of objects, or one of several.
fn beneath(root: &Value, part: &Value, depth: usize) -> Vec<(usize, Invalid)> {
    if part["properties"].is_object() {
        let mut random = Generator::new(depth as u64, "conformance: invalid");
        let base = instance_within(&mut random, root, part);
        return within(root, part, &base, depth);
    }
    if part["items"].is_object() {
        let found = beneath(root, &target(root, &part["items"]), depth).into_iter();
        return found
            .map(|(depth, Invalid { value, mistake })| {
                let value = json!([value]);
                (depth, Invalid { value, mistake })
            })
            .collect();
    }
    let branches = ["oneOf", "anyOf"].into_iter().filter_map(|key| part[key].as_array());
    branches
        .flatten()
        .flat_map(|branch| beneath(root, &target(root, branch), depth))
        .collect()
}

/// A part of a schema, or what it refers to.
fn target(root: &Value, part: &Value) -> Value {
    match part["$ref"].as_str() {
        Some(reference) => resolved(root, reference),
        None => part.clone(),
    }
}

/// Values just beyond the bounds of a schema, each with the keyword that they break.
fn beyond_bounds(schema: &Value) -> Vec<(Value, &'static str)> {
    let mut beyond = Vec::new();
    for (keyword, step) in [("minimum", -1), ("maximum", 1)] {
        let Some(limit) = schema[keyword].as_number() else {
            continue;
        };
        // The bound of an integer can be written as a fraction, and that of a number as an integer.
        let value = match limit.as_i64() {
            Some(limit) => limit.checked_add(step).map(Value::from),
            None => limit.as_f64().map(|limit| (limit + step as f64).into()),
        };
        if allows(schema, "integer") || allows(schema, "number") {
            beyond.extend(value.map(|value| (value, keyword)));
        }
    }
    let text = |length: u64| Value::from("x".repeat(usize::try_from(length).unwrap_or(0)));
    let list = |length: u64| Value::Array(vec![Value::Null; usize::try_from(length).unwrap_or(0)]);
    for (kind, shortest, longest, make) in [
        ("string", "minLength", "maxLength", &text as &dyn Fn(u64) -> Value),
        // Items of a wrong type would be refused for another reason, so only lists without any are tried.
        ("array", "minItems", "", &list),
    ] {
        if !allows(schema, kind) {
            continue;
        }
        if schema[shortest].as_u64().is_some_and(|length| length > 0) {
            beyond.push((make(0), shortest));
        }
        let longer = schema[longest].as_u64().filter(|length| *length < LONGEST);
        beyond.extend(longer.map(|length| (make(length + 1), longest)));
    }
    beyond
}

/// Longest text that is made to exceed a bound.
pub(super) const LONGEST: u64 = 10_000;

/// True if the schema allows a type: alone, or with others, as for an optional key.
fn allows(schema: &Value, kind: &str) -> bool {
    match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(|known| known == kind),
        known => known == kind,
    }
}

/// A value of a type that a schema does not allow; `None` if it allows all that are tried.
fn wrong_type(root: &Value, schema: &Value) -> Option<Value> {
    let candidates = [
        json!({ "no-such-key": [] }),
        json!(true),
        json!("\u{1}no such word"),
        json!([[7]]),
        json!(-0.5),
    ];
    let mut allowed = Vec::new();
    types(root, schema, &mut allowed, 0).then_some(())?;
    candidates.into_iter().find(|candidate| {
        let kind = match candidate {
            Value::Object(_) => "object",
            Value::Bool(_) => "boolean",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            _ => "number",
        };
        !allowed.iter().any(|known| known == kind)
    })
}

/// Collects the types that a schema allows. False if it says nothing about types, so that anything is allowed.
fn types(root: &Value, schema: &Value, allowed: &mut Vec<String>, depth: u32) -> bool {
    if depth > DEPTH {
        return false;
    }
    if let Some(reference) = schema["$ref"].as_str() {
        return types(root, &resolved(root, reference), allowed, depth + 1);
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(branches) = schema[key].as_array() {
            return branches.iter().all(|branch| types(root, branch, allowed, depth + 1));
        }
    }
    let kind_of = |value: &Value| match value {
        Value::String(_) => "string",
        Value::Bool(_) => "boolean",
        _ => "number",
    };
    if let Some(value) = schema.get("const") {
        allowed.push(kind_of(value).to_owned());
        return true;
    }
    if let Some(values) = schema["enum"].as_array() {
        allowed.extend(values.iter().map(|value| kind_of(value).to_owned()));
        return true;
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => kind.as_str().into_iter().collect(),
    };
    allowed.extend(kinds.iter().map(|kind| (*kind).to_owned()));
    if kinds.contains(&"integer") {
        // An integer is a number; a fraction is not tried.
        allowed.push("number".to_owned());
    }
    !kinds.is_empty()
}

#[cfg(test)]
mod tests {
    use super::super::tests::schema;
    use super::*;

    #[test]
    fn invalid_objects_break_one_keyword_each() {
        let mistakes: Vec<String> = invalid_objects(&schema(), &json!({ "step": 2 }))
            .into_iter()
            .map(|invalid| format!("{}: {}", invalid.mistake, invalid.value))
            .collect();
        assert_eq!(
            mistakes,
            [
                r#"the unknown key `no-such-key`: {"no-such-key":1,"step":2}"#,
                r#"`mode` = {"no-such-key":[]}: {"mode":{"no-such-key":[]},"step":2}"#,
                r#"`names` = {"no-such-key":[]}: {"names":{"no-such-key":[]},"step":2}"#,
                r#"`part` = {"no-such-key":[]}: {"part":{"no-such-key":[]},"step":2}"#,
                r#"`part` = -0.5 (beyond its minimum): {"part":-0.5,"step":2}"#,
                r#"`part` = 3 (beyond its maximum): {"part":3,"step":2}"#,
                r#"`step` = {"no-such-key":[]}: {"step":{"no-such-key":[]}}"#,
                r#"`step` = 0 (beyond its minimum): {"step":0}"#,
                r#"`step` = 10 (beyond its maximum): {"step":10}"#,
                r#"`title` = {"no-such-key":[]}: {"step":2,"title":{"no-such-key":[]}}"#,
                r#"`title` = "" (beyond its minLength): {"step":2,"title":""}"#,
                r#"`title` = "xxxx" (beyond its maxLength): {"step":2,"title":"xxxx"}"#,
            ]
        );
    }

    #[test]
    fn mistakes_are_made_in_objects_within_as_well() {
        let schema = json!({
            "type": "object",
            "properties": { "children": { "type": ["array", "null"], "items": { "$ref": "#/$defs/Child" } } },
            "$defs": { "Child": {
                "type": "object",
                "properties": {
                    "weight": { "type": ["integer", "null"], "minimum": 1 },
                    "children": { "anyOf": [{ "$ref": "#/$defs/Child" }, { "type": "null" }] },
                },
            } },
        });
        let found = invalid_objects(&schema, &json!({}));
        let mistakes: Vec<&str> = found.iter().map(|invalid| invalid.mistake.as_str()).collect();
        let at = |mistake: &str| mistakes.iter().position(|found| *found == mistake);
        let nearer = at("`weight` = 0 (beyond its minimum) in `children`");
        let deeper = at("`weight` = 0 (beyond its minimum) in `children` in `children`");
        assert!(nearer.is_some() && deeper.is_some() && nearer < deeper, "{mistakes:#?}");
        let value = &found[nearer.unwrap_or_default()].value;
        assert_eq!(value["children"][0]["weight"], 0);
        assert!(mistakes.len() < MISTAKES);
    }
}
