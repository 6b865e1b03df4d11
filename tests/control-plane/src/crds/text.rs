//! Reading `host/core/karmada/schemas/*.txt`: resources and their fields as Karmada's API server has them.

use serde_json::{Value, json};

use super::fields::{Field, Fields};

/// A resource of Karmada.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Resource {
    /// The kind.
    pub kind: String,
    /// API group.
    pub group: String,
    /// Version of the API.
    pub version: String,
    /// `Namespaced` or `Cluster`.
    pub scope: String,
    /// The plural name.
    pub plural: String,
    /// Short names for `kubectl`.
    pub short_names: Vec<String>,
    /// True if status is written apart from the rest.
    pub has_status: bool,
    /// Columns that `kubectl get` prints: name and JSON path.
    pub columns: Vec<(String, String)>,
    /// The fields.
    pub fields: Fields,
}

/// Reads the resources of a text. Errors name the line.
pub fn read(text: &str) -> Result<Vec<Resource>, String> {
    let mut resources: Vec<Resource> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let at = |message: &str| format!("line {number}: {message}: `{line}`");
        if let Some(heading) = line.strip_prefix("## ") {
            resources.push(resource(heading).ok_or_else(|| at("expected a resource"))?);
        } else if let Some(rest) = line.strip_prefix("As ") {
            let kind = rest.split(',').next().unwrap_or(rest);
            let other = resources.iter().find(|resource| resource.kind == kind);
            let fields = other
                .map(|other| other.fields.clone())
                .ok_or_else(|| at("unknown kind"))?;
            resources.last_mut().ok_or_else(|| at("no resource"))?.fields = fields;
        } else if !line.is_empty() && !line.starts_with('#') {
            let (path, field) = field(line).ok_or_else(|| at("expected a field"))?;
            resources
                .last_mut()
                .ok_or_else(|| at("no resource"))?
                .fields
                .insert(path, field);
        }
    }
    Ok(resources)
}

/// `Kind group/version scope=… storage=… subresources=[…] plural=… short=[…] columns=[…]`.
fn resource(heading: &str) -> Option<Resource> {
    let (head, columns) = heading.split_once(" columns=")?;
    let mut words = head.split(' ');
    let mut resource = Resource {
        kind: words.next()?.to_owned(),
        ..Resource::default()
    };
    let (group, version) = words.next()?.split_once('/')?;
    resource.group = group.to_owned();
    resource.version = version.to_owned();
    for word in words {
        let (key, value) = word.split_once('=')?;
        match key {
            "scope" => resource.scope = value.to_owned(),
            "plural" => resource.plural = value.to_owned(),
            "short" => resource.short_names = quoted(value),
            "subresources" => resource.has_status = quoted(value).iter().any(|name| name == "status"),
            _ => {}
        }
    }
    resource.columns = quoted(columns)
        .chunks_exact(2)
        .map(|pair| (pair[0].clone(), pair[1].clone()))
        .collect();
    Some(resource)
}

/// `path: type [required] [preserve] [int-or-string] [enum=[…]] [key=value]…`.
fn field(line: &str) -> Option<(String, Field)> {
    let (path, rest) = line.split_once(": ")?;
    let mut field = Field::default();
    let mut rest = rest.to_owned();
    if let Some((before, list)) = rest.clone().split_once(" enum=[") {
        let (list, after) = list.split_once(']')?;
        field.words = quoted(list);
        rest = format!("{before}{after}");
    }
    let mut words = rest.split_whitespace();
    field.kind = words.next()?.to_owned();
    for word in words {
        match word.split_once('=') {
            None if word == "required" => field.is_required = true,
            None if word == "preserve" => field.keeps_unknown = true,
            None if word == "int-or-string" => field.is_int_or_string = true,
            Some(("default", value)) => field.default = Some(value_of(&field.kind, value)?),
            Some((key @ ("minLength" | "maxLength" | "minimum" | "minItems"), value)) => {
                field.keywords.insert(key.to_owned(), json!(value.parse::<i64>().ok()?));
            }
            Some((key @ ("format" | "pattern"), value)) => {
                field.keywords.insert(key.to_owned(), value.into());
            }
            _ => return None,
        }
    }
    Some((path.to_owned(), field))
}

fn value_of(kind: &str, text: &str) -> Option<Value> {
    match kind {
        "string" => Some(text.into()),
        "integer" => text.parse::<i64>().ok().map(Value::from),
        "boolean" => text.parse::<bool>().ok().map(Value::from),
        _ => None,
    }
}

/// The strings between single quotes.
fn quoted(text: &str) -> Vec<String> {
    text.split('\'').skip(1).step_by(2).map(str::to_owned).collect()
}
