//! The report of `divvy plugin inspect`.

use std::io::{self, Write};

use divvy_command::style;
use divvy_command::text::printable;
use divvy_framework_abi::ABI_VERSION;
use divvy_loader::PluginLibrary;
use divvy_loader::features;
use divvy_loader::inspection::{Inspection, Refusal};
use divvy_scheduler::strategy::{PLUGIN_PREFERENCES_PREFIX, PREFERENCES_ANNOTATION};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::declared::{ActsOn, TableDescription};

/// Facts about a library. `host/desk/cli/schema/inspect.json` describes their form in JSON.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Inspected {
    path: String,
    sha256: String,
    bytes: u64,
    target: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    oldest_glibc: Option<String>,
    plugins: Vec<InspectedPlugin>,
    verdict: Verdict,
    /// Facts that only the loaded library can give.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    from_library: Option<FromLibrary>,
}

/// A plugin of the library: its record, and its descriptor if it can be read.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct InspectedPlugin {
    name: String,
    version: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    language: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    sdk_version: String,
    abi_version: String,
    /// Oldest ABI version of a host that it works with.
    oldest_abi_version: String,
    certified: bool,
    #[serde(flatten)]
    described: Option<Described>,
    /// Reason why the descriptor cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

/// Facts from a descriptor.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Described {
    description: String,
    extension_points: Vec<&'static str>,
    strategies: Vec<String>,
    promises: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    acts_on: Vec<ActsOn>,
    inputs: Vec<&'static str>,
    needs: Vec<&'static str>,
    keeps: Vec<&'static str>,
}

/// Verdict of this host: true if it would load the library, otherwise the reason.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Verdict {
    loads: bool,
    /// True if it would load the library once it is allowed without a certificate.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    loads_if_allowed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
}

/// Facts that only the loaded library can give.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FromLibrary {
    /// Lists of a policy that its strategies read, as `list[].field`.
    lists: Vec<String>,
    /// Tables that it reads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tables: Vec<TableDescription>,
    /// JSON Schema of its configuration.
    configuration_schema: Value,
    /// JSON Schema of the preferences that it reads.
    preferences_schema: Value,
}

impl FromLibrary {
    /// The facts from a loaded library.
    pub(crate) fn of(library: &PluginLibrary) -> Self {
        let schema = |text: String| serde_json::from_str(&text).unwrap_or(Value::Null);
        let lists = library.rule_lists().iter();
        let fields = lists.flat_map(|list| {
            list.fields
                .iter()
                .map(|field| format!("{}[].{}", list.name, field.name))
        });
        let tables = library.tables().iter().map(TableDescription::of);
        Self {
            lists: fields.collect(),
            tables: tables.collect(),
            configuration_schema: schema(library.configuration_schema()),
            preferences_schema: schema(library.preferences_schema()),
        }
    }
}

impl Inspected {
    /// Reports on the plugin of a library with this name, or on all of its plugins.
    pub(crate) fn new(
        file: &Inspection,
        name: Option<&str>,
        refusal: Option<&Refusal>,
        from_library: Option<FromLibrary>,
    ) -> Self {
        let meant = |known: &str| name.is_none_or(|name| name == known);
        let records = file.records.iter().filter(|record| meant(&record.name));
        let plugins = records.map(|record| {
            let major = record.abi_version.major;
            InspectedPlugin {
                name: record.name.clone(),
                version: record.version.clone(),
                language: record.language.clone(),
                sdk_version: record.sdk_version.clone(),
                abi_version: record.abi_version.to_string(),
                oldest_abi_version: format!("{major}.{}", record.least_minor),
                certified: record.is_certified,
                described: described(file, &record.name),
                problem: file.plugins.as_ref().err().map(ToString::to_string),
            }
        });
        Self {
            path: file.path.display().to_string(),
            sha256: file.checksum.clone(),
            bytes: file.bytes,
            target: file.target.clone(),
            oldest_glibc: file.oldest_glibc.map(|version| version.to_string()),
            plugins: plugins.collect(),
            verdict: Verdict {
                loads: refusal.is_none(),
                loads_if_allowed: refusal.is_some_and(Refusal::is_for_lack_of_certificate),
                reason: refusal.map(ToString::to_string),
                hint: match (refusal, file.records.first()) {
                    (Some(refusal), _) => refusal.hint(),
                    (None, Some(first))
                        if name.is_none() && file.records.iter().any(|record| record.name != first.name) =>
                    {
                        Some("a profile names the plugins to use, and gives the `path` of this file to each".to_owned())
                    }
                    (None, _) => None,
                },
            },
            from_library,
        }
    }
}

fn described(file: &Inspection, name: &str) -> Option<Described> {
    let plugins = file.plugins.as_ref().ok()?;
    let plugin = plugins.iter().find(|plugin| plugin.name == name)?;
    let all = plugin.all_features();
    let strategies = plugin.strategies.iter();
    Some(Described {
        description: plugin.description.clone(),
        extension_points: features::extension_points(|point| plugin.serves(point)),
        strategies: strategies.map(|strategy| strategy.name.clone()).collect(),
        promises: features::promises(all),
        acts_on: ActsOn::list(|point| plugin.acts_on(point)),
        inputs: features::inputs(all),
        needs: features::needs(all),
        keeps: features::keeps(|point| plugin.serves(point)),
    })
}

/// Writes the facts as text.
///
/// # Errors
///
/// The error of `out`. Part of the output may have been written.
pub(crate) fn write(inspected: &Inspected, columns: Option<usize>, out: &mut dyn Write) -> io::Result<()> {
    for plugin in &inspected.plugins {
        write_plugin(plugin, inspected, out)?;
    }
    let mut lines = vec![("target", inspected.target.clone())];
    if let Some(version) = &inspected.oldest_glibc {
        lines.push(("glibc", format!("{version} or newer")));
    }
    lines.push(("path", inspected.path.clone()));
    lines.push(("sha256", inspected.sha256.clone()));
    write_lines(&lines, out)?;
    write_verdict(&inspected.verdict, out)?;
    match &inspected.from_library {
        Some(said) => write_schemas(inspected, said, columns, out),
        None if inspected.verdict.loads && inspected.plugins.len() == 1 => {
            let faint = style::FAINT;
            writeln!(
                out,
                "  {faint}`--load` asks the library for its lists, configuration and preferences{faint:#}"
            )
        }
        None => Ok(()),
    }
}

fn write_plugin(plugin: &InspectedPlugin, inspected: &Inspected, out: &mut dyn Write) -> io::Result<()> {
    let bold = style::NAME;
    writeln!(
        out,
        "{bold}{}{bold:#} {}",
        printable(&plugin.name),
        printable(&plugin.version)
    )?;
    let mut lines = Vec::new();
    if let Some(described) = &plugin.described {
        writeln!(out, "  {}", printable(&described.description))?;
        lines.push(("extension points", described.extension_points.join(", ")));
        if !described.strategies.is_empty() {
            lines.push(("strategies", described.strategies.join(", ")));
        }
        if let Some(said) = inspected.from_library.as_ref().filter(|said| !said.lists.is_empty()) {
            lines.push(("reads of a policy", said.lists.join(", ")));
        }
        let or_none = |words: &[&str]| {
            if words.is_empty() {
                "none".to_owned()
            } else {
                words.join(", ")
            }
        };
        if !described.strategies.is_empty() || !described.promises.is_empty() {
            lines.push(("promises", or_none(&described.promises)));
        }
        if !described.acts_on.is_empty() {
            let points: Vec<String> = described.acts_on.iter().map(ActsOn::line).collect();
            lines.push(("acts only on", points.join("; ")));
        }
        for (title, words) in [
            ("also sees", &described.inputs),
            ("needs", &described.needs),
            ("keeps", &described.keeps),
        ] {
            if !words.is_empty() {
                lines.push((title, words.join(", ")));
            }
        }
    }
    let tables = inspected.from_library.iter().flat_map(|said| &said.tables);
    lines.extend(tables.map(|table| ("reads the table", table.line())));
    if let Some(problem) = &plugin.problem {
        lines.push(("descriptor", problem.clone()));
    }
    let mut built = vec![format!(
        "ABI {} (host {} or newer)",
        plugin.abi_version, plugin.oldest_abi_version
    )];
    if !plugin.sdk_version.is_empty() {
        built.insert(0, format!("SDK {}", plugin.sdk_version));
    }
    if !plugin.language.is_empty() {
        built.insert(0, plugin.language.clone());
    }
    lines.push(("built with", built.join(", ")));
    lines.push(("certificate", if plugin.certified { "yes" } else { "none" }.to_owned()));
    write_lines(&lines, out)
}

fn write_lines(lines: &[(&str, String)], out: &mut dyn Write) -> io::Result<()> {
    let faint = style::FAINT;
    for (title, text) in lines {
        writeln!(out, "  {faint}{title:17}{faint:#}  {}", printable(text))?;
    }
    Ok(())
}

fn write_verdict(verdict: &Verdict, out: &mut dyn Write) -> io::Result<()> {
    let (good, bad, hint) = (style::GOOD, style::BAD, style::HINT);
    match &verdict.reason {
        None => writeln!(
            out,
            "  {:17}  {good}loads{good:#} in this divvy (ABI {ABI_VERSION})",
            "verdict"
        )?,
        // Nothing is wrong with it: so is every build without the feature, such as an author's first one.
        Some(_) if verdict.loads_if_allowed => writeln!(
            out,
            "  {:17}  {good}loads{good:#} in this divvy (ABI {ABI_VERSION}) if it is allowed without a certificate",
            "verdict"
        )?,
        Some(reason) => writeln!(
            out,
            "  {:17}  {bad}refused{bad:#} by this divvy (ABI {ABI_VERSION}): {}",
            "verdict",
            printable(reason)
        )?,
    }
    match &verdict.hint {
        Some(text) => writeln!(out, "  {:17}  {hint}hint{hint:#}: {}", "", printable(text)),
        None => Ok(()),
    }
}

fn write_schemas(
    inspected: &Inspected,
    said: &FromLibrary,
    columns: Option<usize>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(plugin) = inspected.plugins.first() else {
        return Ok(());
    };
    let has_strategies = plugin
        .described
        .as_ref()
        .is_some_and(|known| !known.strategies.is_empty());
    let title = format!("[profile.plugin.{}.configuration]", plugin.name);
    writeln!(out)?;
    super::schema::write(
        out,
        columns,
        &title,
        &said.configuration_schema.to_string(),
        "takes no configuration",
    )?;
    writeln!(out)?;
    let own = format!("{PLUGIN_PREFERENCES_PREFIX}{}", plugin.name);
    let title = if has_strategies {
        PREFERENCES_ANNOTATION
    } else {
        own.as_str()
    };
    let none = match said.lists.is_empty() {
        true => "reads no preferences of its own",
        false => "reads the lists above, and no other key",
    };
    super::schema::write(out, columns, title, &said.preferences_schema.to_string(), none)
}
