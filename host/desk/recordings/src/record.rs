//! Writes recordings: decisions, with everything that a replay needs.

use divvy_karmada::api::Cluster;
use divvy_karmada::detector::Binding;
use divvy_profile::ProfileConfiguration;
use divvy_profile::table::time_zone_version;
use divvy_scheduler::decision::Decision;
use divvy_scheduler::profile::Profile;
use divvy_scheduler::strategy::{STRATEGY_ANNOTATION, StrategySource};

use crate::case::{Case, Expectation, Line, RecordedFleet, RecordedPlugin, RecordedTable, RecordingHeader};
use crate::error::UnwritableRecord;

/// Header line, with the profile, the seed and the plugins. Paths in the profile are made absolute, so that a replay finds
/// the plugins from any folder.
///
/// # Errors
///
/// [`UnwritableRecord::Profile`] if the profile cannot be written as TOML.
pub fn recorded_header(profile: &Profile, configuration: &ProfileConfiguration) -> Result<String, UnwritableRecord> {
    line(&Line::Recording(RecordingHeader {
        divvy: env!("CARGO_PKG_VERSION").to_owned(),
        profile: configuration.with_absolute_paths().to_toml()?,
        profile_name: configuration.name.clone(),
        seed: configuration.seed.unwrap_or(0),
        plugins: profile
            .plugins()
            .map(|plugin| RecordedPlugin {
                name: plugin.name().to_owned(),
                version: plugin.library().version().to_owned(),
                sha256: plugin.library().checksum().to_owned(),
            })
            .collect(),
    }))
}

/// Line for a fleet.
///
/// # Errors
///
/// [`UnwritableRecord::Json`] if a cluster cannot be written as JSON.
pub fn recorded_fleet(name: &str, clusters: Vec<Cluster>) -> Result<String, UnwritableRecord> {
    line(&Line::Fleet(RecordedFleet {
        name: name.to_owned(),
        clusters,
    }))
}

/// One line per table that plugins of the profile read, with the text of its file.
///
/// # Errors
///
/// [`UnwritableRecord::Json`] if a table cannot be written as JSON.
pub fn recorded_tables(profile: &Profile) -> Result<Vec<String>, UnwritableRecord> {
    let tables = profile.tables().map_or(&[][..], |tables| tables.tables());
    let recorded = tables.iter().map(|table| {
        let source = table.source();
        line(&Line::Table(RecordedTable {
            name: table.name().to_owned(),
            file: source.file.clone(),
            version: source.version.clone(),
            text: source.text.to_string(),
            time_zones: table.reads_time_zones().then(|| time_zone_version().to_owned()),
        }))
    });
    recorded.collect()
}

/// Line for a case: the binding with the affinity group that was used, and the facts from its policy.
///
/// The time of the decision is recorded, the version of each table, and the workload's metadata and the peers if plugins could
/// see them. A strategy that the caller requested is written as an annotation of the binding, so that a replay uses it as well.
///
/// # Errors
///
/// [`UnwritableRecord::Json`] if the binding cannot be written as JSON.
pub fn recorded_case(
    binding: &Binding,
    decision: &Decision,
    fleet: &str,
    expect: Expectation,
) -> Result<String, UnwritableRecord> {
    let mut object = binding.object.clone();
    object
        .status
        .scheduler_observed_affinity_name
        .clone_from(&decision.affinity);
    if let Ok(plan) = decision.plan.as_ref()
        && plan.source == StrategySource::Override
    {
        let annotations = &mut object.metadata.annotations;
        annotations.insert(STRATEGY_ANNOTATION.to_owned(), plan.strategy.clone());
    }
    let has_metadata = decision.plan.as_ref().as_ref().is_ok_and(|plan| plan.has_metadata);
    line(&Line::Case(Box::new(Case {
        name: decision.binding.clone(),
        fleet: fleet.to_owned(),
        binding: *object,
        policy: binding.policy.clone(),
        workload: binding.workload.clone().filter(|_| has_metadata),
        time: decision.time,
        tables: decision
            .tables
            .as_ref()
            .map(|tables| tables.versions())
            .unwrap_or_default(),
        peers: decision
            .peers
            .as_ref()
            .filter(|peers| !peers.groups.is_empty())
            .map(|peers| peers.peers.clone()),
        skipped: decision.without.clone(),
        expect: Some(expect),
        line: 0,
    })))
}

fn line(record: &Line) -> Result<String, UnwritableRecord> {
    Ok(serde_json::to_string(record)?)
}
