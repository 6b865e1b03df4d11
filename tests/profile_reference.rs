//! The schema of profile files and the page of their keys are those that the types give.

use std::fmt::Write;

use divvy_profile::schema;
use serde_json::{Map, Value};

use crate::generated;

const HEAD: &str = "\
# Keys of a profile

Made from the types that read a profile: `DIVVY_WRITE_SCHEMAS=1 cargo test -p divvy-tests profile_reference` writes this page and
[`schema/profile.json`](schema/profile.json), the JSON Schema of profile files, for editors.

A profile file is TOML with one or more `[[profile]]` tables. Every key but `name` may be absent. With `extends`, an absent key is
taken from the extended profile, tables are merged key by key, and in a list of plugins `\"...\"` stands for the inherited entries,
`\"!name\"` removes one of them, and an entry that names one of them replaces it in its position.
";

#[test]
fn the_committed_page_and_schema_are_those_of_the_types() {
    let schema = schema();
    generated::check_schema("host/core/profile/schema/profile.json", &schema);
    generated::check("host/core/profile/PROFILE.md", &page(&schema));
}

fn page(schema: &Value) -> String {
    let mut page = HEAD.to_owned();
    let definition = |name: &str| &schema["$defs"][name];
    section(&mut page, schema, "[[profile]]", definition("ProfileConfiguration"));
    let properties = definition("ProfileConfiguration")["properties"].as_object();
    for (key, property) in properties.into_iter().flatten() {
        let of_items = ["items", "additionalProperties"].map(|part| (part, referred(&property[part])));
        for (part, name) in of_items {
            let Some(name) = name else { continue };
            let heading = match part {
                "items" => format!("[[profile.{key}]]"),
                _ => format!("[profile.{key}.NAME]"),
            };
            section(&mut page, schema, &heading, definition(name));
        }
        if let Some(name) = table_name(schema, property) {
            section(&mut page, schema, &format!("[profile.{key}]"), definition(name));
        }
    }
    page
}

/// Name of the definition of a property that is a table with keys of its own.
fn table_name<'a>(schema: &Value, property: &'a Value) -> Option<&'a str> {
    let options = property["anyOf"].as_array().into_iter().flatten();
    let mut names = options.filter_map(referred);
    names.find(|name| schema["$defs"][name].get("properties").is_some())
}

fn section(page: &mut String, schema: &Value, heading: &str, table: &Value) {
    _ = write!(page, "\n## `{heading}`\n\n{}\n\n", described(table));
    // If there are several forms, the table is the one with keys.
    let forms = table["anyOf"].as_array().into_iter().flatten();
    let with_keys = forms.chain([table]).find(|form| form.get("properties").is_some());
    page.push_str("| key | value | meaning |\n|---|---|---|\n");
    for (key, property) in with_keys.unwrap_or(table)["properties"]
        .as_object()
        .into_iter()
        .flatten()
    {
        let (form, words) = form(schema, property);
        _ = writeln!(page, "| `{key}` | {form} | {}{words} |", described(property));
    }
}

/// The description on one line.
fn described(schema: &Value) -> String {
    let text = schema["description"].as_str().unwrap_or_default();
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    // Rustdoc's links do not work on this page.
    text.replace("[`", "`").replace("`]", "`").replace('|', "\\|")
}

/// The allowed values of a property, and the meaning of each word if only some are allowed.
fn form(schema: &Value, property: &Value) -> (String, String) {
    let options = property["anyOf"].as_array().or(property["oneOf"].as_array());
    let named = referred(property).or(options.into_iter().flatten().find_map(referred));
    if let Some(name) = named {
        let definition = &schema["$defs"][name];
        if table_name(schema, property).is_some() {
            return ("table".to_owned(), String::new());
        }
        let variants: Vec<&Map<String, Value>> = definition["oneOf"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_object)
            .collect();
        if variants.iter().all(|variant| variant.contains_key("const")) && !variants.is_empty() {
            let words = variants
                .iter()
                .map(|variant| variant["const"].as_str().unwrap_or_default());
            let forms: Vec<String> = words.clone().map(|word| format!("`\"{word}\"`")).collect();
            let meanings = variants.iter().map(|variant| {
                let variant = Value::Object((*variant).clone());
                format!(
                    " `\"{}\"`: {}",
                    variant["const"].as_str().unwrap_or_default(),
                    described(&variant)
                )
            });
            return (forms.join(", "), meanings.collect());
        }
        let several = definition["anyOf"].as_array().into_iter().flatten();
        let forms: Vec<String> = several.map(|option| form(schema, option).0).collect();
        return (forms.join(" or "), String::new());
    }
    let kind = property["type"].as_str().map(str::to_owned).or_else(|| {
        let kinds = property["type"].as_array()?.iter().filter_map(Value::as_str);
        kinds.filter(|kind| *kind != "null").map(str::to_owned).next()
    });
    let form = match kind.as_deref() {
        Some("array") => {
            let item = &property["items"];
            match referred(item) {
                Some(_) if form(schema, item).0.is_empty() => "tables".to_owned(),
                _ => format!("list of: {}", form(schema, item).0),
            }
        }
        Some("object") => "table".to_owned(),
        Some("boolean") => "`true`, `false`".to_owned(),
        Some("integer") => "integer".to_owned(),
        Some("string") => "text".to_owned(),
        other => other.unwrap_or_default().to_owned(),
    };
    (form, String::new())
}

/// Name of the definition that a schema refers to.
fn referred(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}
