//! A remembered decision for people: `divvy explain`.

use std::io::{self, Write};

use serde_json::Value;

use super::grid::write_text;
use super::style;
use super::text::printable;

/// Writes a decision as the scheduler's `/explain` describes it. `columns` is the width of the terminal; without it, nothing
/// is wrapped.
pub(crate) fn write(answer: &Value, columns: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    let text = |key: &str| printable(answer[key].as_str().unwrap_or_default()).to_string();
    let last = replicas_by_cluster(&answer["last"]);
    let mut heading = format!("decided at {}, because {}", text("decidedAt"), text("because"));
    let strategy = text("strategy");
    if !strategy.is_empty() {
        heading.push_str(&format!("; strategy {strategy}"));
    }
    let affinity = text("affinity");
    if !affinity.is_empty() {
        heading.push_str(&format!(", affinity group `{affinity}`"));
    }
    write_text(out, columns, 0, &heading, style::PLAIN)?;
    for group in list(&answer["failedGroups"]) {
        let name = group["affinity"].as_str().unwrap_or_default();
        let message = printable(group["message"].as_str().unwrap_or_default()).to_string();
        if !name.is_empty() {
            let text = format!("affinity group `{name}` did not fit: {message}");
            write_text(out, columns, 0, &text, style::PLAIN)?;
        }
    }
    for warning in list(&answer["warnings"]) {
        let warning = printable(warning.as_str().unwrap_or_default()).to_string();
        write_text(out, columns, 0, &format!("warning: {warning}"), style::WARNING)?;
    }
    match answer["outcome"]["message"].as_str() {
        Some(message) => {
            let reason = answer["outcome"]["reason"].as_str().unwrap_or_default();
            let message = printable(message).to_string();
            write_text(out, columns, 0, &format!("{reason}: {message}"), style::BAD)?;
        }
        None => {
            for (cluster, replicas) in replicas_by_cluster(&answer["outcome"]["clusters"]) {
                let before = last
                    .iter()
                    .find(|(name, _)| *name == cluster)
                    .map_or(0, |(_, replicas)| *replicas);
                let change = match replicas - before {
                    0 => String::new(),
                    change => format!(" ({change:+})"),
                };
                writeln!(out, "  {cluster}: {replicas}{change}")?;
            }
        }
    }
    let candidates = list(&answer["candidates"]);
    if !candidates.is_empty() {
        writeln!(out, "candidates:")?;
    }
    for candidate in candidates {
        let name = printable(candidate["name"].as_str().unwrap_or_default()).to_string();
        let mut facts = Vec::new();
        for (key, label) in [
            ("score", "score"),
            ("fitsNow", "fits now"),
            ("last", "last"),
            ("tier", "tier"),
            ("replicas", "assigned"),
        ] {
            if let Some(number) = candidate[key].as_i64() {
                facts.push(format!("{label} {number}"));
            }
        }
        let facts = facts.join(", ");
        write_text(out, columns, 2, &format!("{name}: {facts}"), style::PLAIN)?;
        for reason in list(&candidate["reasons"]) {
            let remark = printable(reason["text"].as_str().unwrap_or_default()).to_string();
            write_text(out, columns, 4, &remark, style::FAINT)?;
        }
    }
    if let Some(count) = answer["furtherCandidates"].as_u64() {
        let text = format!("and {count} more without replicas; `divvy schedule --kubeconfig FILE --explain` lists all");
        write_text(out, columns, 2, &text, style::FAINT)?;
    }
    let rejected = list(&answer["rejected"]);
    if !rejected.is_empty() {
        writeln!(out, "not chosen:")?;
    }
    for entry in rejected {
        let names: Vec<&str> = list(&entry["clusters"]).iter().filter_map(Value::as_str).collect();
        let count = entry["count"].as_u64().unwrap_or(0);
        let more = count.saturating_sub(names.len() as u64);
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        let reason = printable(entry["reason"].as_str().unwrap_or_default()).to_string();
        let plugin = entry["plugin"].as_str().unwrap_or_default();
        let plugin = if plugin.is_empty() {
            String::new()
        } else {
            format!(" ({plugin})")
        };
        let names = names.join(", ");
        let names = match names.is_empty() {
            true => String::new(),
            false => format!(": {}{more}", printable(&names)),
        };
        let text = format!("{count} {reason}{plugin}{names}");
        write_text(out, columns, 2, &text, style::PLAIN)?;
    }
    for note in list(&answer["notes"]) {
        let plugin = note["plugin"].as_str().unwrap_or_default();
        let text = printable(note["text"].as_str().unwrap_or_default()).to_string();
        write_text(out, columns, 0, &format!("note of {plugin}: {text}"), style::PLAIN)?;
    }
    Ok(())
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn replicas_by_cluster(targets: &Value) -> Vec<(&str, i64)> {
    list(targets)
        .iter()
        .map(|target| {
            (
                target["name"].as_str().unwrap_or_default(),
                target["replicas"].as_i64().unwrap_or(0),
            )
        })
        .collect()
}
