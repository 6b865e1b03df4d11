//! The schemas of the documents are those that are committed.

use divvy_forecast::schemas::schemas;
use serde_json::Value;

use crate::artifacts::repository;
use crate::generated;

/// The committed schema of a document of `divvy diff`.
pub(crate) fn committed(name: &str) -> Value {
    committed_at(&format!("host/desk/forecast/schema/{name}"))
}

/// The committed schema at a path in the repository.
pub(crate) fn committed_at(path: &str) -> Value {
    let path = repository().join(path);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn the_committed_schemas_describe_the_documents() {
    for (name, schema) in schemas() {
        generated::check_schema(&format!("host/desk/forecast/schema/{name}"), &schema);
    }
}

/// Checks a document against a schema, as far as generated schemas go: types, properties, required ones, items and
/// references. A property that the schema lacks is an error too.
pub(crate) fn validate(root: &Value, schema: &Value, value: &Value, path: &str) -> Result<(), String> {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return validate(
            root,
            target.ok_or_else(|| format!("{path}: no {reference}"))?,
            value,
            path,
        );
    }
    if let Some(options) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        let mut results = options.iter().map(|option| validate(root, option, value, path));
        return match results.any(|result| result.is_ok()) {
            true => Ok(()),
            false => Err(format!("{path}: {value} is none of {options:?}")),
        };
    }
    let says_nothing = |schema: &serde_json::Map<String, Value>| schema.keys().all(|key| key == "description");
    if schema.as_bool() == Some(true) || schema.as_object().is_some_and(says_nothing) {
        return Ok(());
    }
    if schema.get("const").is_some_and(|constant| constant != value) {
        return Err(format!("{path}: {value} is not {}", schema["const"]));
    }
    let actual = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let types = match &schema["type"] {
        Value::Array(types) => types.clone(),
        one => vec![one.clone()],
    };
    if !types.iter().any(|known| known == actual) {
        return Err(format!("{path}: expected {types:?}, found {actual}"));
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        return Err(format!("{path}: {value} is none of {words:?}"));
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        validate(root, &schema["items"], item, &format!("{path}[{index}]"))?;
    }
    let mut required = schema["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str);
    if let Some(name) = required.find(|name| value.get(name).is_none()) {
        return Err(format!("{path}: `{name}` is missing"));
    }
    for (key, item) in value.as_object().into_iter().flatten() {
        let property = schema["properties"].get(key).or(schema.get("additionalProperties"));
        let property = property.ok_or_else(|| format!("{path}: `{key}` is not in the schema"))?;
        validate(root, property, item, &format!("{path}.{key}"))?;
    }
    Ok(())
}
