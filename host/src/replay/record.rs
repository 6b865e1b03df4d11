//! Writing recordings: what was decided, with everything that a replay needs.

use super::case::{Case, Expectation, Line, RecordedFleet, RecordedPlugin, RecordingHeader};
use crate::api::{Cluster, ResourceBinding};
use crate::profile::ProfileConfiguration;
use crate::scheduler::Profile;

/// The line that says who decides.
pub fn recorded_header(profile: &Profile, configuration: &ProfileConfiguration) -> String {
    line(&Line::Recording(RecordingHeader {
        divvy: env!("CARGO_PKG_VERSION").to_owned(),
        profile: configuration.to_toml(),
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

/// The line of a fleet.
pub fn recorded_fleet(name: &str, clusters: Vec<Cluster>) -> String {
    line(&Line::Fleet(RecordedFleet {
        name: name.to_owned(),
        clusters,
    }))
}

/// The line of a case.
pub fn recorded_case(name: &str, fleet: &str, binding: ResourceBinding, expect: Expectation) -> String {
    line(&Line::Case(Box::new(Case {
        name: name.to_owned(),
        fleet: fleet.to_owned(),
        binding,
        expect: Some(expect),
        line: 0,
    })))
}

fn line(record: &Line) -> String {
    // Records are plain data: numbers, texts, lists and maps with text keys, which JSON can always hold.
    serde_json::to_string(record).unwrap_or_default()
}
