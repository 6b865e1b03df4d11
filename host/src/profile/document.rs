//! A TOML document whose values keep their lines.
//!
//! The typed reader of the SDK works on JSON values and reports paths. This module turns TOML into JSON, and a path back
//! into a line.

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use divvy_framework::configuration::{ValueError, read_value};

use super::ProfileSource;
use super::error::ProfileError;
use super::model::{ProfileConfiguration, ProfileFile};

/// A parsed profile file.
pub(super) struct Document<'a> {
    source: &'a ProfileSource,
    table: Spanned<DeTable<'a>>,
}

impl<'a> Document<'a> {
    pub(super) fn parse(source: &'a ProfileSource) -> Result<Self, ProfileError> {
        let table = DeTable::parse(&source.text).map_err(|error| ProfileError::Syntax {
            file: source.name(),
            line: error.span().map_or(1, |span| line_of(&source.text, span.start)),
            message: error.message().trim().to_owned(),
        })?;
        Ok(Self { source, table })
    }

    /// The profiles, as they are written.
    pub(super) fn profiles(&self) -> Result<Vec<ProfileConfiguration>, ProfileError> {
        let refused = |error: ValueError| ProfileError::Value {
            file: self.source.name(),
            line: self.line(&error.key_path()),
            error,
        };
        let value = json_of_table(self.table.get_ref(), "").map_err(refused)?;
        let file: ProfileFile = read_value(&value).map_err(refused)?;
        if file.profile.is_empty() {
            return Err(ProfileError::Empty {
                file: self.source.name(),
            });
        }
        file.profile
            .into_iter()
            .enumerate()
            .map(|(number, profile)| {
                profile
                    .checked()
                    .map_err(|error| refused(error.below(&format!("profile[{number}]"))))
            })
            .collect()
    }

    /// The line of the value at a path, or of the nearest thing around it.
    pub(super) fn line(&self, path: &str) -> usize {
        let mut offset = None;
        let mut table = Some(self.table.get_ref());
        let mut value: Option<&Spanned<DeValue<'_>>> = None;
        for step in steps(path) {
            match step {
                Step::Key(key) => {
                    let found = table.and_then(|table| table.iter().find(|(known, _)| known.get_ref() == key));
                    let Some((key, found)) = found else { break };
                    offset = Some(key.span().start);
                    value = Some(found);
                }
                Step::Index(index) => {
                    let item = value
                        .and_then(|value| value.get_ref().as_array())
                        .and_then(|array| array.get(index));
                    let Some(item) = item else { break };
                    offset = Some(item.span().start);
                    value = Some(item);
                }
            }
            table = value.and_then(|value| value.get_ref().as_table());
        }
        offset.map_or(1, |offset| line_of(&self.source.text, offset))
    }
}

enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// `profile[0].filters[1]` as its steps.
fn steps(path: &str) -> impl Iterator<Item = Step<'_>> {
    path.split('.').flat_map(|part| {
        let (key, indices) = match part.find('[') {
            Some(start) => part.split_at(start),
            None => (part, ""),
        };
        let key = (!key.is_empty()).then_some(Step::Key(key));
        let indices = indices
            .split(['[', ']'])
            .filter_map(|index| index.parse().ok())
            .map(Step::Index);
        key.into_iter().chain(indices)
    })
}

fn line_of(text: &str, offset: usize) -> usize {
    1 + text.bytes().take(offset).filter(|&byte| byte == b'\n').count()
}

fn json_of_table(table: &DeTable<'_>, path: &str) -> Result<Value, ValueError> {
    let mut object = Map::new();
    for (key, value) in table {
        let key = key.get_ref();
        let path = if path.is_empty() {
            key.to_string()
        } else {
            format!("{path}.{key}")
        };
        object.insert(key.to_string(), json_of(value.get_ref(), &path)?);
    }
    Ok(Value::Object(object))
}

fn json_of(value: &DeValue<'_>, path: &str) -> Result<Value, ValueError> {
    let out_of_range = |actual: &str| ValueError::WrongType {
        path: path.to_owned(),
        expected: "a number of 64 bits".to_owned(),
        actual: format!("`{actual}`"),
    };
    match value {
        DeValue::String(text) => Ok(Value::String(text.to_string())),
        DeValue::Boolean(value) => Ok(Value::Bool(*value)),
        DeValue::Integer(integer) => {
            let parsed = i64::from_str_radix(integer.as_str(), integer.radix());
            parsed.map(Value::from).map_err(|_| out_of_range(integer.as_str()))
        }
        DeValue::Float(float) => float
            .as_str()
            .parse()
            .ok()
            .and_then(Number::from_f64)
            .map(Value::Number)
            .ok_or_else(|| out_of_range(float.as_str())),
        DeValue::Datetime(time) => Err(ValueError::WrongType {
            path: path.to_owned(),
            expected: "a text, a number, a list or a table".to_owned(),
            actual: format!("the time `{time}`"),
        }),
        DeValue::Array(array) => array
            .iter()
            .enumerate()
            .map(|(index, item)| json_of(item.get_ref(), &format!("{path}[{index}]")))
            .collect::<Result<Vec<Value>, ValueError>>()
            .map(Value::Array),
        DeValue::Table(table) => json_of_table(table, path),
    }
}
