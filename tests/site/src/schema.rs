//! `{{#schema FILE}}`: the tables of a JSON Schema.

use std::fmt::Write;

use serde_json::Value;

/// A table for the document, and one for each part that it names.
pub(crate) fn tables(schema: &Value) -> String {
    let mut text = String::new();
    // The root can be one of the definitions, or a list of them.
    section(&mut text, "The document", schema);
    let parts = schema["$defs"].as_object().into_iter().flatten();
    for (name, part) in parts {
        section(&mut text, &format!("`{name}`"), part);
    }
    text
}

fn section(text: &mut String, name: &str, part: &Value) {
    // Writing to a text cannot fail.
    let values = match part.get("properties") {
        Some(_) => String::new(),
        None => format!(" ({})", form(part)),
    };
    let _infallible = write!(
        text,
        "**{name}**{values}: {}.\n\n",
        described(part).trim_end_matches('.')
    );
    let mut properties = part["properties"].as_object().into_iter().flatten().peekable();
    if properties.peek().is_none() {
        return;
    }
    text.push_str("| key | value | meaning |\n|---|---|---|\n");
    let required: Vec<&str> = part["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for (key, property) in properties {
        let optional = if required.contains(&key.as_str()) {
            ""
        } else {
            ", optional"
        };
        let _infallible = writeln!(
            text,
            "| `{key}` | {}{optional} | {} |",
            form(property).replace('|', "\\|"),
            described(property)
        );
    }
    text.push('\n');
}

/// The description on one line, without rustdoc's brackets.
fn described(part: &Value) -> String {
    let text = part["description"]
        .as_str()
        .or(part["title"].as_str())
        .unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ").replace("[`", "`").replace("`]", "`");
    let text = text.replace('|', "\\|");
    // `<` is literal in backticks, and begins a tag elsewhere.
    let parts = text.split('`').enumerate();
    let parts: Vec<String> = parts
        .map(|(index, part)| match index % 2 {
            0 => part.replace('<', "&lt;"),
            _ => part.to_owned(),
        })
        .collect();
    parts.join("`")
}

/// The values that a property can have.
fn form(property: &Value) -> String {
    if let Some(name) = property["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return format!("`{name}`");
    }
    for alternatives in ["anyOf", "oneOf"] {
        if let Some(options) = property[alternatives].as_array() {
            let forms: Vec<String> = options.iter().map(form).filter(|form| !form.is_empty()).collect();
            return forms.join(" or ");
        }
    }
    let words = property["enum"].as_array().into_iter().flatten();
    let words: Vec<String> = words
        .chain(property.get("const"))
        .map(|word| format!("`{word}`"))
        .collect();
    if !words.is_empty() {
        return words.join(", ");
    }
    let kinds: Vec<&str> = match &property["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let forms = kinds.into_iter().filter(|kind| *kind != "null").map(|kind| match kind {
        "array" => format!("list of {}", form(&property["items"])),
        "object" => match property.get("additionalProperties").map(form) {
            Some(values) if !values.is_empty() => format!("map to {values}"),
            _ => "object".to_owned(),
        },
        kind => kind.to_owned(),
    });
    forms.collect::<Vec<String>>().join(" or ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn a_schema_is_a_table_for_each_part() {
        let schema = json!({
            "description": "All bindings, by `<name>` <now>.",
            "type": "array",
            "items": { "$ref": "#/$defs/Row" },
            "$defs": { "Row": {
                "description": "One\nbinding.",
                "properties": {
                    "name": { "description": "Its name.", "type": "string" },
                    "last": { "anyOf": [{ "$ref": "#/$defs/Row" }, { "type": "null" }] },
                    "form": { "enum": ["a", "b"] },
                    "sums": { "type": "object", "additionalProperties": { "type": "integer" } },
                },
                "required": ["name"],
            } },
        });
        let expected = "\
**The document** (list of `Row`): All bindings, by `<name>` &lt;now>.

**`Row`**: One binding.

| key | value | meaning |
|---|---|---|
| `form` | `\"a\"`, `\"b\"`, optional |  |
| `last` | `Row`, optional |  |
| `name` | string | Its name. |
| `sums` | map to integer, optional |  |

";
        assert_eq!(super::tables(&schema), expected);
    }
}
