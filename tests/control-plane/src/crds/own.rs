//! Divvy's own types as fields, and their comparison with Karmada's.

use divvy_karmada::api::{Cluster, PropagationPolicy, ResourceBinding};
use divvy_karmada::fields::EXTENSIONS;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::fields::{Field, Fields};

/// True if only Divvy's type of that kind has a field, on purpose.
fn is_extension(kind: &str, path: &str) -> bool {
    EXTENSIONS
        .iter()
        .any(|(ending, extension, _)| kind.ends_with(ending) && path == *extension)
}

/// The fields of Divvy's type of a kind; `None` if it has none.
pub fn fields(kind: &str) -> Option<Fields> {
    match kind {
        "ResourceBinding" | "ClusterResourceBinding" => Some(fields_of::<ResourceBinding>()),
        "PropagationPolicy" | "ClusterPropagationPolicy" => Some(fields_of::<PropagationPolicy>()),
        "Cluster" => Some(fields_of::<Cluster>()),
        _ => None,
    }
}

fn fields_of<T: JsonSchema>() -> Fields {
    let settings = SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
    let schema: Schema = settings.into_generator().into_root_schema_for::<T>();
    let mut fields = Fields::new();
    collect(schema.as_value(), "", &mut fields);
    // The metadata of every object is Kubernetes' own, and no definition describes it.
    fields.retain(|path, _| !path.starts_with("metadata."));
    fields
}

fn collect(schema: &Value, path: &str, fields: &mut Fields) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() {
            name.clone()
        } else {
            format!("{path}.{name}")
        };
        insert(property, path, fields);
    }
    for (keyword, suffix) in [("items", "[]"), ("additionalProperties", "{}")] {
        if schema[keyword].is_object() {
            insert(&schema[keyword], format!("{path}{suffix}"), fields);
        }
    }
}

fn insert(schema: &Value, path: String, fields: &mut Fields) {
    // An optional object is written as the alternative of the object and `null`.
    let alternatives = schema["anyOf"].as_array();
    let schema = alternatives
        .and_then(|alternatives| alternatives.iter().find(|one| one["type"] != "null"))
        .unwrap_or(schema);
    let types: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds
            .iter()
            .filter_map(Value::as_str)
            .filter(|kind| *kind != "null")
            .collect(),
        _ => Vec::new(),
    };
    let words = schema["x-known-words"].as_array().into_iter().flatten();
    let mut field = Field {
        kind: "any".to_owned(),
        is_int_or_string: types == ["integer", "string"],
        words: words.filter_map(Value::as_str).map(str::to_owned).collect(),
        ..Field::default()
    };
    if let [kind] = types[..] {
        field.kind = kind.to_owned();
    }
    if let Some(format) = schema.get("format") {
        field.keywords.insert("format".to_owned(), format.clone());
    }
    fields.insert(path.clone(), field);
    collect(schema, &path, fields);
}

/// Every disagreement between Divvy's type and Karmada's resource, as sentences.
///
/// Both must agree in a field's type and format, and in its words where Karmada enumerates them. A field that only Divvy has
/// must be a known extension.
pub fn disagreements(kind: &str, own: &Fields, karmada: &Fields) -> Vec<String> {
    let mut found = Vec::new();
    for (path, own) in own {
        let Some(karmada) = karmada.get(path) else {
            if !is_extension(kind, path) && !is_below_open_field(path, karmada) {
                found.push(format!("Karmada has no field `{path}`"));
            }
            continue;
        };
        // JSON that is kept as written agrees with everything.
        let is_open = own.kind == "any" && !own.is_int_or_string;
        if !is_open && (own.kind != karmada.kind || own.is_int_or_string != karmada.is_int_or_string) {
            found.push(format!("`{path}` is {} here and {} in Karmada", own.kind, karmada.kind));
        }
        if let (Some(own), Some(karmada)) = (own.keywords.get("format"), karmada.keywords.get("format"))
            && own != karmada
        {
            found.push(format!("`{path}` has the format {own} here and {karmada} in Karmada"));
        }
        let sorted = |words: &[String]| {
            let mut words = words.to_vec();
            words.sort();
            words
        };
        if !own.words.is_empty() && !karmada.words.is_empty() && sorted(&own.words) != sorted(&karmada.words) {
            found.push(format!(
                "`{path}` is one of {:?} here and {:?} in Karmada",
                own.words, karmada.words
            ));
        }
    }
    found
}

/// True if Karmada keeps unknown fields in an object that contains the field.
fn is_below_open_field(path: &str, karmada: &Fields) -> bool {
    let open = karmada.iter().filter(|(_, field)| field.keeps_unknown);
    open.into_iter().any(|(open, _)| path.starts_with(&format!("{open}.")))
}
