//! A structural schema as a list of fields: every path with its constraints.
//!
//! Paths are written as in `host/core/karmada/schemas/karmada.txt`: `spec.clusters[].name`, `[]` for an array's items, `{}` for a map's
//! values.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// The fields of a resource by path.
pub type Fields = BTreeMap<String, Field>;

/// Constraints on one field.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Field {
    /// The JSON type; empty if any is accepted.
    pub kind: String,
    /// True if the object that contains the field must have it.
    pub is_required: bool,
    /// True if an object keeps fields that the schema does not list.
    pub keeps_unknown: bool,
    /// True for a quantity: an integer or a string.
    pub is_int_or_string: bool,
    /// Permitted words; empty for no restriction.
    pub words: Vec<String>,
    /// Value of a field that was not written.
    pub default: Option<Value>,
    /// Keywords of JSON Schema that are copied: `format`, `pattern`, `minLength`, `maxLength`, `minimum`, `minItems`.
    pub keywords: BTreeMap<String, Value>,
}

/// The path of the field that contains a field, and the field's name there; `None` for a field of the object itself.
fn parent(path: &str) -> Option<&str> {
    if let Some(container) = path.strip_suffix("[]").or_else(|| path.strip_suffix("{}")) {
        return Some(container);
    }
    path.rfind('.').map(|dot| &path[..dot])
}

/// The OpenAPI schema of an object with these fields.
pub fn open_api(fields: &Fields) -> Value {
    let mut root = json!({"type": "object"});
    root["properties"] = Value::Object(properties(fields, None));
    if let Some(required) = required(fields, None) {
        root["required"] = required;
    }
    root
}

/// The named fields directly below a path.
fn children<'a>(fields: &'a Fields, path: Option<&'a str>) -> impl Iterator<Item = (&'a str, &'a String, &'a Field)> {
    let named = fields.iter().filter(|(path, _)| !path.ends_with(['}', ']']));
    named
        .filter(move |(child, _)| parent(child) == path)
        .map(|(path, field)| {
            let name = path.rsplit('.').next().unwrap_or(path);
            (name, path, field)
        })
}

fn properties(fields: &Fields, path: Option<&str>) -> Map<String, Value> {
    children(fields, path)
        .map(|(name, path, field)| (name.to_owned(), schema(fields, path, field)))
        .collect()
}

fn required(fields: &Fields, path: Option<&str>) -> Option<Value> {
    let names: Vec<&str> = children(fields, path)
        .filter(|(_, _, field)| field.is_required)
        .map(|(name, _, _)| name)
        .collect();
    (!names.is_empty()).then(|| json!(names))
}

fn schema(fields: &Fields, path: &str, field: &Field) -> Value {
    let mut schema = Map::new();
    if field.is_int_or_string {
        schema.insert("anyOf".to_owned(), json!([{"type": "integer"}, {"type": "string"}]));
        schema.insert("x-kubernetes-int-or-string".to_owned(), true.into());
    } else {
        schema.insert("type".to_owned(), field.kind.as_str().into());
    }
    if field.keeps_unknown {
        schema.insert("x-kubernetes-preserve-unknown-fields".to_owned(), true.into());
    }
    if !field.words.is_empty() {
        schema.insert("enum".to_owned(), json!(field.words));
    }
    if let Some(default) = &field.default {
        schema.insert("default".to_owned(), default.clone());
    }
    schema.extend(field.keywords.iter().map(|(key, value)| (key.clone(), value.clone())));
    for (suffix, keyword) in [("[]", "items"), ("{}", "additionalProperties")] {
        let path = format!("{path}{suffix}");
        if let Some(field) = fields.get(&path) {
            schema.insert(keyword.to_owned(), self::schema(fields, &path, field));
        }
    }
    let properties = properties(fields, Some(path));
    if !properties.is_empty() {
        schema.insert("properties".to_owned(), Value::Object(properties));
    }
    if let Some(required) = required(fields, Some(path)) {
        schema.insert("required".to_owned(), required);
    }
    Value::Object(schema)
}

/// The fields of an OpenAPI schema: the inverse of [`open_api`].
pub fn from_open_api(schema: &Value) -> Fields {
    let mut fields = Fields::new();
    collect(schema, "", &mut fields);
    fields
}

fn collect(schema: &Value, path: &str, fields: &mut Fields) {
    let required: Vec<&str> = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        fields.insert(path.clone(), field(property, required.contains(&name.as_str())));
        collect(property, &path, fields);
    }
    for (keyword, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
        if schema[keyword].is_object() {
            let path = format!("{path}{suffix}");
            fields.insert(path.clone(), field(&schema[keyword], false));
            collect(&schema[keyword], &path, fields);
        }
    }
}

fn field(schema: &Value, is_required: bool) -> Field {
    let copied = ["format", "pattern", "minLength", "maxLength", "minimum", "minItems"];
    let words = schema["enum"].as_array().into_iter().flatten();
    Field {
        kind: schema["type"].as_str().unwrap_or("any").to_owned(),
        is_required,
        keeps_unknown: schema["x-kubernetes-preserve-unknown-fields"] == true,
        is_int_or_string: schema["x-kubernetes-int-or-string"] == true,
        words: words.filter_map(Value::as_str).map(str::to_owned).collect(),
        default: schema.get("default").cloned(),
        keywords: copied
            .iter()
            .filter_map(|key| Some(((*key).to_owned(), schema.get(*key)?.clone())))
            .collect(),
    }
}
