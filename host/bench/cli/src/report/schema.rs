//! A JSON Schema as a list of keys, with their types, defaults and descriptions.
//!
//! Reads only the constructs of schemas that are generated from Rust types; `-o json` prints schemas in full.

use std::io::{self, Write};

use divvy_command::grid::{Cell, Column, Grid};
use divvy_command::style;
use divvy_command::text::printable;
use serde_json::Value;

/// Maximum depth of keys within keys.
const DEPTH_MAX: usize = 4;

/// Writes the keys of an object's schema under a title, or the text `none` after the title if it has no keys.
pub(super) fn write(
    out: &mut dyn Write,
    columns: Option<usize>,
    title: &str,
    schema: &str,
    none: &str,
) -> io::Result<()> {
    let bold = style::NAME;
    let schema: Value = serde_json::from_str(schema).unwrap_or(Value::Null);
    let mut grid = Grid::new(vec![Column::left("KEY"), Column::left("TYPE"), Column::left("DEFAULT")]).indented(2);
    let mut keys = 0;
    add_keys(&mut grid, &schema, &schema, "", 0, &mut keys);
    if keys == 0 {
        return writeln!(out, "{bold}{}{bold:#}: {none}", printable(title));
    }
    writeln!(out, "{bold}{}{bold:#}", printable(title))?;
    grid.write(out, columns)
}

/// Adds the keys of a schema and of the schemas inside it, and counts them in `keys`. `prefix` is the path to the
/// schema.
fn add_keys(grid: &mut Grid<'_>, root: &Value, schema: &Value, prefix: &str, depth: usize, keys: &mut usize) {
    let schema = resolved(root, schema);
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return;
    };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required = |name: &String| required.is_some_and(|names| names.iter().any(|known| known == name));
    for (name, property) in properties {
        *keys += 1;
        let target = resolved(root, property);
        let default = match property.get("default") {
            Some(default) => default.to_string(),
            None if is_required(name) => "required".to_owned(),
            None => String::new(),
        };
        // The description beside a reference is more specific than that of the type it refers to.
        let meaning = property.get("description").or_else(|| target.get("description"));
        grid.cells(vec![
            Cell::new(format!("{prefix}{name}"), style::NAME),
            Cell::new(type_of(root, property), style::STRATEGY),
            Cell::plain(default),
        ]);
        if let Some(meaning) = meaning.and_then(Value::as_str) {
            grid.text(2, meaning, style::PLAIN);
        }
        for (value, meaning) in alternatives(target) {
            grid.text(4, format!("{value}: {meaning}"), style::FAINT);
        }
        // The limit also ends schemas that refer to themselves.
        if depth < DEPTH_MAX {
            let (below, suffix) = match (target.get("items"), entries(target)) {
                (Some(items), _) => (items, "[]."),
                (None, Some(entries)) => (entries, ".NAME."),
                (None, None) => (target, "."),
            };
            add_keys(grid, root, below, &format!("{prefix}{name}{suffix}"), depth + 1, keys);
        }
    }
}

/// The schema of a map's entries, whose keys are any names; `None` if the schema is not one of a map.
fn entries(schema: &Value) -> Option<&Value> {
    schema.get("additionalProperties").filter(|entries| entries.is_object())
}

/// Follows a reference, even one inside an optional value. Any other schema is returned unchanged.
fn resolved<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let reference = schema.get("$ref").and_then(Value::as_str);
    let nullable = schema.get("anyOf").and_then(Value::as_array).and_then(|options| {
        let is_null = |option: &&Value| option.get("type").and_then(Value::as_str) == Some("null");
        options.iter().find(|option| !is_null(option))
    });
    match (reference, nullable) {
        (Some(reference), _) => {
            let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
            target.unwrap_or(schema)
        }
        (None, Some(option)) if option.get("$ref").is_some() => resolved(root, option),
        _ => schema,
    }
}

/// Values of an enumeration, each with its description.
fn alternatives(schema: &Value) -> Vec<(String, String)> {
    let Some(options) = schema.get("oneOf").and_then(Value::as_array) else {
        return Vec::new();
    };
    let alternative = |option: &Value| {
        let description = option.get("description").and_then(Value::as_str);
        Some((
            option.get("const")?.to_string(),
            description.unwrap_or_default().to_owned(),
        ))
    };
    options.iter().filter_map(alternative).collect()
}

/// Type of a value as shown in the list: its alternatives, `list of …`, `table`, `table of …` for a map, or the name in the schema.
fn type_of(root: &Value, schema: &Value) -> String {
    let schema = resolved(root, schema);
    let values: Vec<String> = match schema.get("enum").and_then(Value::as_array) {
        Some(values) => values.iter().map(Value::to_string).collect(),
        None => alternatives(schema).into_iter().map(|(value, _)| value).collect(),
    };
    if !values.is_empty() {
        return values.join(" | ");
    }
    let word = match schema.get("type") {
        Some(Value::String(word)) => word.clone(),
        Some(Value::Array(words)) => {
            let words = words.iter().filter_map(Value::as_str).filter(|word| *word != "null");
            words.collect::<Vec<_>>().join(" or ")
        }
        _ => "any".to_owned(),
    };
    match (word.as_str(), schema.get("items")) {
        ("array", Some(items)) => format!("list of {}", type_of(root, items)),
        ("object", _) => match entries(schema) {
            Some(entries) => format!("table of {}", type_of(root, entries)),
            None => "table".to_owned(),
        },
        ("integer", _) => whole_number(schema),
        _ => word,
    }
}

/// An integer with its range, as far as the schema states one: `whole number from 0 to 255`.
fn whole_number(schema: &Value) -> String {
    let bound = |key: &str| schema.get(key).and_then(Value::as_i64);
    match (bound("minimum"), bound("maximum")) {
        (Some(minimum), Some(maximum)) => format!("whole number from {minimum} to {maximum}"),
        (Some(minimum), None) => format!("whole number of at least {minimum}"),
        (None, Some(maximum)) => format!("whole number of at most {maximum}"),
        (None, None) => "whole number".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_integer_is_shown_with_its_range() {
        for (schema, expected) in [
            (
                json!({ "type": "integer", "minimum": 0, "maximum": 255 }),
                "whole number from 0 to 255",
            ),
            (json!({ "type": "integer", "minimum": 1 }), "whole number of at least 1"),
            (json!({ "type": "integer", "maximum": 9 }), "whole number of at most 9"),
            (json!({ "type": ["integer", "null"] }), "whole number"),
            (
                json!({ "type": "array", "items": { "type": "integer" } }),
                "list of whole number",
            ),
        ] {
            assert_eq!(type_of(&Value::Null, &schema), expected);
        }
    }

    #[test]
    fn a_map_is_shown_with_the_keys_of_its_entries() {
        let schema = json!({
            "properties": {
                "limits": { "type": "object", "additionalProperties": { "$ref": "#/$defs/Limit" } },
                "weights": { "type": "object", "additionalProperties": { "type": "integer", "minimum": 0 } },
            },
            "$defs": { "Limit": { "type": "object", "properties": { "most": { "type": "integer" } } } },
        });
        let mut out = Vec::new();
        write(&mut out, None, "configuration", &schema.to_string(), "none").expect("memory can be written");
        let text = String::from_utf8(out).expect("the list is UTF-8");
        let text = anstream::adapter::strip_str(&text).to_string();
        let rows: Vec<Vec<&str>> = text
            .lines()
            .skip(2)
            .map(|line| {
                line.split("  ")
                    .map(str::trim)
                    .filter(|cell| !cell.is_empty())
                    .collect()
            })
            .collect();
        assert_eq!(
            rows,
            [
                vec!["limits", "table of table"],
                vec!["limits.NAME.most", "whole number"],
                vec!["weights", "table of whole number of at least 0"],
            ],
            "{text}"
        );
    }
}
