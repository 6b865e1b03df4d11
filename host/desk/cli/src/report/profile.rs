//! A profile as TOML, with the origin of every entry of a list as a comment.

use divvy_profile::{ProfileConfiguration, ProfileError, ProfileSource, ScoreEntry};
use divvy_spanned::FieldPath;
use serde_json::Value;

/// An entry of a list as TOML, and its origin.
struct Line {
    entry: String,
    origin: Option<String>,
}

/// The profile with everything it extends filled in.
///
/// # Errors
///
/// [`ProfileError::Unwritable`] if the profile cannot be written as TOML.
pub(crate) fn with_origins(source: &ProfileSource, profile: &ProfileConfiguration) -> Result<String, ProfileError> {
    let names = |list: &Option<Vec<String>>| {
        list.as_ref()
            .map(|names| names.iter().map(|name| quoted(name)).collect())
    };
    let scores = profile.scores.as_ref().map(|scores| {
        let table = |score: &ScoreEntry| format!("{{ plugin = {}, weight = {} }}", quoted(&score.plugin), score.weight);
        scores.iter().map(table).collect()
    });
    let lists: [(&str, Option<Vec<String>>); 4] = [
        ("filters", names(&profile.filters)),
        ("scores", scores),
        ("select", names(&profile.select)),
        ("assign", names(&profile.assign)),
    ];
    let lists = lists.into_iter().filter_map(|(key, entries)| {
        let entries = entries?.into_iter().enumerate();
        let lines: Vec<Line> = entries
            .map(|(index, entry)| Line {
                entry,
                origin: origin(source, &profile.name, key, index),
            })
            .collect();
        Some(written(key, &lines))
    });
    let lists: String = lists.collect();
    let rest = ProfileConfiguration {
        filters: None,
        scores: None,
        select: None,
        assign: None,
        ..profile.clone()
    };
    let rest = rest.to_toml()?;
    // Tables come last in TOML, so the lists come before the first of them.
    Ok(match rest.find("\n\n[") {
        Some(end) => format!("{}\n{lists}{}", &rest[..end], &rest[end + 1..]),
        None => format!("{rest}{lists}"),
    })
}

/// A JSON string is also a TOML string.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Location of an entry: in a built-in profile, or at `FILE:LINE`. `None` if the profile extends none, so that all
/// entries are its own.
fn origin(source: &ProfileSource, profile: &str, list: &str, index: usize) -> Option<String> {
    source.extended_by(profile)?;
    let origin = source.origin(profile, list, index)?;
    Some(match origin.is_built_in {
        true => format!("built-in profile `{}`", origin.profile),
        false => source.location(profile, &FieldPath::dotted(list).index(index)),
    })
}

fn written(key: &str, lines: &[Line]) -> String {
    if lines.is_empty() {
        return format!("{key} = []\n");
    }
    let width = lines.iter().map(|line| line.entry.chars().count()).max().unwrap_or(0) + 1;
    let mut text = format!("{key} = [\n");
    for Line { entry, origin } in lines {
        let entry = format!("{entry},");
        text += &match origin {
            Some(origin) => format!("    {entry:width$}  # {origin}\n"),
            None => format!("    {entry}\n"),
        };
    }
    text + "]\n"
}
