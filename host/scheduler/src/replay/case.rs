//! The records of a recording.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use serde::{Deserialize, Serialize};

use super::error::RecordingError;
use divvy_karmada::api::{Cluster, ResourceBinding, TargetCluster};
use divvy_karmada::detector::{Binding, PolicyFacts};

/// The bytes by which a gzip file begins.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A recording: fleets by name, and the cases in order.
#[derive(Debug, Default)]
pub struct Recording {
    /// Fleets.
    pub fleets: BTreeMap<String, RecordedFleet>,
    /// Cases.
    pub cases: Vec<Case>,
    /// Who decided; `None` for recordings of other schedulers.
    pub header: Option<RecordingHeader>,
}

/// The clusters of a fleet.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RecordedFleet {
    /// Its name.
    pub name: String,
    /// Its clusters.
    pub clusters: Vec<Cluster>,
}

/// A binding and what was decided.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// The name of its fleet.
    pub fleet: String,
    /// The binding, status included.
    pub binding: ResourceBinding,
    /// What its policy said beside the placement; absent in recordings of other schedulers, and in older ones, which wrote
    /// it into the binding's annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyFacts>,
    /// What was decided; absent in inputs of benchmarks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expectation>,
    /// Where it stands, for messages.
    #[serde(skip)]
    pub line: usize,
}

impl Case {
    /// The binding as it is scheduled.
    pub fn binding(&self) -> Binding {
        let mut object = self.binding.clone();
        // A recorded binding names its resource by its own namespace if it names none.
        let resource = &mut object.spec.resource;
        if resource.namespace.is_empty() && !object.metadata.namespace.is_empty() {
            resource.namespace.clone_from(&object.metadata.namespace);
        }
        Binding {
            object,
            policy: self.policy.clone(),
            source: None,
        }
    }
}

/// What was decided: clusters sorted by name, or the kind of error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Expectation {
    /// The clusters, with their replicas.
    Clusters(Vec<TargetCluster>),
    /// `NoClusterFit`, `Unschedulable`, `SchedulerError`.
    Error(String),
}

/// Who decided a recording.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordingHeader {
    /// The version of divvy.
    pub divvy: String,
    /// The profile, as TOML.
    pub profile: String,
    /// The profile's name.
    pub profile_name: String,
    /// The seed.
    pub seed: u64,
    /// The plugins, by name.
    pub plugins: Vec<RecordedPlugin>,
}

/// A plugin of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedPlugin {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// SHA-256 of its library.
    pub sha256: String,
}

/// One line of a recording.
#[derive(Serialize, Deserialize)]
#[serde(tag = "kind")]
pub(super) enum Line {
    /// Clusters.
    Fleet(RecordedFleet),
    /// A binding.
    Case(Box<Case>),
    /// Who decided.
    Recording(RecordingHeader),
}

/// The kind of a line, read before the rest: a tagged enum would first be read into a tree, which costs too much for
/// fleets of thousands of clusters.
#[derive(Deserialize)]
struct Kind {
    kind: String,
}

/// Reads a recording.
///
/// # Errors
///
/// A [`RecordingError`] with file and line.
pub fn read_recording(path: &Path) -> Result<Recording, RecordingError> {
    let unreadable = |source| RecordingError::Unreadable {
        file: path.to_owned(),
        source,
    };
    let mut file = File::open(path).map_err(unreadable)?;
    let mut magic = Vec::new();
    Read::by_ref(&mut file)
        .take(GZIP_MAGIC.len() as u64)
        .read_to_end(&mut magic)
        .map_err(unreadable)?;
    let is_gzip = magic == GZIP_MAGIC;
    let whole = std::io::Cursor::new(magic).chain(file);
    let reader: Box<dyn Read> = if is_gzip {
        Box::new(MultiGzDecoder::new(whole))
    } else {
        Box::new(whole)
    };
    let mut recording = Recording::default();
    for (number, line) in BufReader::new(reader).lines().enumerate() {
        let line = line.map_err(unreadable)?;
        if !line.trim().is_empty() {
            read_line(path, number + 1, &line, &mut recording)?;
        }
    }
    if recording.cases.is_empty() {
        return Err(RecordingError::Empty { file: path.to_owned() });
    }
    Ok(recording)
}

fn read_line(path: &Path, number: usize, line: &str, recording: &mut Recording) -> Result<(), RecordingError> {
    let wrong = |message: String| RecordingError::Record {
        file: path.to_owned(),
        line: number,
        message,
    };
    let parse_error = |error: serde_json::Error| wrong(error.to_string());
    let Kind { kind } = serde_json::from_str(line).map_err(parse_error)?;
    match kind.as_str() {
        "Fleet" => {
            let fleet: RecordedFleet = serde_json::from_str(line).map_err(parse_error)?;
            if recording.fleets.contains_key(&fleet.name) {
                return Err(wrong(format!("a second fleet `{}`", fleet.name)));
            }
            recording.fleets.insert(fleet.name.clone(), fleet);
        }
        "Case" => {
            let mut case: Case = serde_json::from_str(line).map_err(parse_error)?;
            case.line = number;
            if !recording.fleets.contains_key(&case.fleet) {
                return Err(RecordingError::UnknownFleet {
                    file: path.to_owned(),
                    line: number,
                    case: case.name,
                    fleet: case.fleet,
                });
            }
            recording.cases.push(case);
        }
        "Recording" => recording.header = Some(serde_json::from_str(line).map_err(parse_error)?),
        other => {
            return Err(wrong(format!(
                "unknown kind `{other}`, expected `Fleet`, `Case` or `Recording`"
            )));
        }
    }
    Ok(())
}
