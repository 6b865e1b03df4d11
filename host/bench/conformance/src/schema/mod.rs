//! Values for a JSON Schema as schemars writes them: valid ones at random, and [invalid] ones by the keyword that they break.

mod invalid;

pub use invalid::{Invalid, invalid_objects};

use divvy_framework_arithmetic::random::Generator;
use serde_json::{Map, Value, json};

use invalid::LONGEST;

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

/// A random valid value for a part of the schema `root`.
fn instance_within(random: &mut Generator, root: &Value, part: &Value) -> Value {
    Maker {
        root,
        texts: &[],
        random,
    }
    .make(part, 0)
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
            Some("number") => self.number(schema),
            Some("boolean") => (self.random.below(2) == 0).into(),
            Some("string") => self.text_within(schema).into(),
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

    fn number(&mut self, schema: &Value) -> Value {
        let minimum = schema["minimum"].as_f64().unwrap_or(0.0);
        let maximum = schema["maximum"].as_f64().unwrap_or(minimum + 1_000.0).max(minimum);
        let value = match self.random.below(8) {
            0 => maximum,
            1 => minimum,
            _ => (minimum + self.random.below(48) as f64 / 4.0).min(maximum),
        };
        value.into()
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

    /// A text of a length that the schema allows.
    fn text_within(&mut self, schema: &Value) -> String {
        let mut text = self.text();
        if let Some(longest) = schema["maxLength"].as_u64() {
            text = text
                .chars()
                .take(usize::try_from(longest).unwrap_or(usize::MAX))
                .collect();
        }
        let shortest = schema["minLength"].as_u64().unwrap_or(0).min(LONGEST);
        while (text.chars().count() as u64) < shortest {
            text.push('x');
        }
        text
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

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn schema() -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "step": { "type": "integer", "minimum": 1, "maximum": 9 },
                "mode": { "$ref": "#/$defs/Mode" },
                "names": { "type": ["array", "null"], "items": { "type": "string" } },
                "part": { "type": ["number", "null"], "minimum": 0.5, "maximum": 2 },
                "title": { "type": "string", "minLength": 1, "maxLength": 3 },
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
}
