//! Values for a JSON Schema as schemars writes them: valid ones at random, and invalid ones by the keyword that they break.

use divvy_framework_arithmetic::random::Generator;
use serde_json::{Map, Value, json};

/// Nesting beyond which optional keys are left out, for schemas that refer to themselves.
const DEPTH: u32 = 5;

/// True if a schema names keys.
pub fn has_keys(schema: &Value) -> bool {
    let names_keys = |schema: &Value| schema["properties"].as_object().is_some_and(|keys| !keys.is_empty());
    let branches = ["oneOf", "anyOf"].into_iter().filter_map(|key| schema[key].as_array());
    names_keys(schema) || branches.flatten().any(names_keys)
}

/// A random valid value. Where a text is expected, `texts` and some words are used.
pub fn instance(random: &mut Generator, schema: &Value, texts: &[String]) -> Value {
    Maker {
        root: schema,
        texts,
        random,
    }
    .make(schema, 0)
}

struct Maker<'a> {
    root: &'a Value,
    texts: &'a [String],
    random: &'a mut Generator,
}

impl Maker<'_> {
    fn make(&mut self, schema: &Value, depth: u32) -> Value {
        if let Some(reference) = schema["$ref"].as_str() {
            let target = resolved(self.root, reference);
            return if depth > 2 * DEPTH {
                Value::Null
            } else {
                self.make(&target, depth + 1)
            };
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        for key in ["enum", "examples"] {
            if let Some(values) = schema[key].as_array()
                && let Some(value) = self.pick(values)
            {
                return value;
            }
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(branches) = schema[key].as_array()
                && let Some(branch) = self.pick(branches)
            {
                return self.make(&branch, depth + 1);
            }
        }
        let kinds = match &schema["type"] {
            Value::Array(kinds) => kinds.clone(),
            kind => vec![kind.clone()],
        };
        let kind = self.pick(&kinds).unwrap_or(Value::Null);
        match kind.as_str() {
            Some("object") => self.object(schema, depth),
            Some("array") => {
                let count = if depth > DEPTH { 0 } else { self.random.below(4) };
                (0..count).map(|_| self.make(&schema["items"], depth + 1)).collect()
            }
            Some("integer") => self.integer(schema).into(),
            Some("number") => json!(self.integer(schema) as f64 / 4.0),
            Some("boolean") => (self.random.below(2) == 0).into(),
            Some("string") => self.text().into(),
            Some("null") => Value::Null,
            // Anything is allowed.
            _ => json!({}),
        }
    }

    fn object(&mut self, schema: &Value, depth: u32) -> Value {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let mut object = Map::new();
        for (key, value) in schema["properties"].as_object().into_iter().flatten() {
            let is_required = required.iter().any(|known| known == key);
            if is_required || (depth < DEPTH && self.random.below(2) == 0) {
                object.insert(key.clone(), self.make(value, depth + 1));
            }
        }
        if schema["additionalProperties"].is_object() && self.random.below(2) == 0 {
            let key = self.text();
            object.insert(key, self.make(&schema["additionalProperties"], depth + 1));
        }
        object.into()
    }

    fn integer(&mut self, schema: &Value) -> i64 {
        let minimum = schema["minimum"].as_i64().unwrap_or(0);
        let maximum = schema["maximum"].as_i64().unwrap_or(i64::MAX).max(minimum);
        match self.random.below(8) {
            0 => maximum,
            1 => minimum,
            _ => minimum.saturating_add(self.random.below(12) as i64).min(maximum),
        }
    }

    fn text(&mut self) -> String {
        let words = ["eu", "us", "aws", "gold", "tier", ""];
        let number = self.random.below((self.texts.len() + words.len()) as u64) as usize;
        match self.texts.get(number) {
            Some(text) => text.clone(),
            None => words
                .get(number - self.texts.len())
                .copied()
                .unwrap_or_default()
                .to_owned(),
        }
    }

    fn pick(&mut self, values: &[Value]) -> Option<Value> {
        values.get(self.random.below(values.len() as u64) as usize).cloned()
    }
}

/// The part of a schema that a reference such as `#/$defs/Name` names; null if there is none.
fn resolved(root: &Value, reference: &str) -> Value {
    let path = reference.trim_start_matches('#');
    root.pointer(path).cloned().unwrap_or(Value::Null)
}

/// A value that a schema does not allow, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Invalid {
    /// The value.
    pub value: Value,
    /// The mistake in it, for messages.
    pub mistake: String,
}

/// Objects that a schema refuses: an unknown key, and for each key of the top level a value of a wrong type, below its minimum
/// or above its maximum. Each is otherwise `base`, which the schema allows.
pub fn invalid_objects(schema: &Value, base: &Value) -> Vec<Invalid> {
    let Some(keys) = schema["properties"].as_object() else {
        return Vec::new();
    };
    let with = |key: &str, value: Value, mistake: String| {
        let mut object = base.clone();
        if !object.is_object() {
            object = json!({});
        }
        object[key] = value;
        Invalid { value: object, mistake }
    };
    let mut invalid = Vec::new();
    if schema["additionalProperties"] == Value::Bool(false) {
        let key = "no-such-key";
        invalid.push(with(key, 1.into(), format!("the unknown key `{key}`")));
    }
    for (key, part) in keys {
        let part = match part["$ref"].as_str() {
            Some(reference) => resolved(schema, reference),
            None => part.clone(),
        };
        if let Some(value) = wrong_type(schema, &part) {
            invalid.push(with(key, value.clone(), format!("`{key}` = {value}")));
        }
        for (bound, step) in [("minimum", -1), ("maximum", 1)] {
            if part["type"] == "integer"
                && let Some(limit) = part[bound].as_i64()
                && let Some(beyond) = limit.checked_add(step)
            {
                invalid.push(with(
                    key,
                    beyond.into(),
                    format!("`{key}` = {beyond}, beyond its {bound}"),
                ));
            }
        }
    }
    invalid
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
    use super::*;

    fn schema() -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "step": { "type": "integer", "minimum": 1, "maximum": 9 },
                "mode": { "$ref": "#/$defs/Mode" },
                "names": { "type": ["array", "null"], "items": { "type": "string" } },
                "any": {},
            },
            "required": ["step"],
            "$defs": { "Mode": { "oneOf": [{ "const": "fast" }, { "const": "slow" }] } },
        })
    }

    #[test]
    fn instances_have_the_required_keys_and_only_known_ones() {
        for seed in 0..200 {
            let value = instance(&mut Generator::new(seed, "test"), &schema(), &["c".to_owned()]);
            let keys: Vec<&String> = value.as_object().expect("an object").keys().collect();
            assert!(
                keys.iter()
                    .all(|key| schema()["properties"].get(key.as_str()).is_some()),
                "{value}"
            );
            assert!(
                (1..=9).contains(&value["step"].as_i64().expect("it is required")),
                "{value}"
            );
            assert!(
                value.get("mode").is_none_or(|mode| mode == "fast" || mode == "slow"),
                "{value}"
            );
        }
    }

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
                r#"`step` = {"no-such-key":[]}: {"step":{"no-such-key":[]}}"#,
                r#"`step` = 0, beyond its minimum: {"step":0}"#,
                r#"`step` = 10, beyond its maximum: {"step":10}"#,
            ]
        );
    }
}
