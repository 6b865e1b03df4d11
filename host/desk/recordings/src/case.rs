//! Records of a recording, and reading them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use divvy_karmada::api::{Cluster, ReadJson, ResourceBinding, TargetCluster};
use divvy_karmada::detector::{Binding, PolicyFacts, WorkloadFacts};
use divvy_profile::table::{TableSource, TableVersions};
use divvy_scheduler::cycle::Skipped;
use divvy_scheduler::placements::Peer;
use divvy_spanned::{json, read_value};
use flate2::read::MultiGzDecoder;
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;

use crate::error::RecordingError;

/// First bytes of a gzip file.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A recording: fleets by name, and the cases in order.
#[derive(Debug, Default)]
pub struct Recording {
    /// Fleets by name.
    pub fleets: BTreeMap<String, RecordedFleet>,
    /// Cases in the order of the file.
    pub cases: Vec<Case>,
    /// Tables that plugins read, by their version.
    pub tables: BTreeMap<String, TableSource>,
    /// Versions of the time zone database by which times and hours of tables were read.
    pub time_zones: BTreeSet<String>,
    /// Profile and plugins that decided; `None` for recordings of other schedulers.
    pub header: Option<RecordingHeader>,
}

/// A fleet and its clusters.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RecordedFleet {
    /// Name of the fleet.
    pub name: String,
    /// Clusters of the fleet.
    #[serde(deserialize_with = "read_clusters")]
    pub clusters: Vec<Cluster>,
}

/// A binding and the decision on it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Case {
    /// Name of the case.
    pub name: String,
    /// Name of the fleet that the case is decided against.
    pub fleet: String,
    /// The binding, status included.
    #[serde(deserialize_with = "read_binding")]
    pub binding: ResourceBinding,
    /// Facts from the policy beyond the placement. Absent in recordings of other schedulers, and in older ones, which
    /// wrote them into the binding's annotations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Arc<PolicyFacts>>,
    /// Labels and annotations of the workload. Present only if a plugin could read them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadFacts>,
    /// Time of the decision, in milliseconds since 1970. Present only if a plugin needed it or the caller named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<i64>,
    /// Version of each table that plugins could read, by the table's name. Absent if they read none, and in older
    /// recordings.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tables: TableVersions,
    /// The other bindings in the workload affinity groups of the binding, as plugins saw them. Present only if the binding is
    /// in a group and a plugin needed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peers: Option<Vec<Peer>>,
    /// Plugins that failed, and that the decision went on without.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
    /// The recorded decision; absent in inputs of benchmarks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Expectation>,
    /// Line number in the file, for messages.
    #[serde(skip)]
    pub line: usize,
}

impl Case {
    /// The binding as the scheduler reads it.
    pub fn binding(&self) -> Binding {
        let mut object = self.binding.clone();
        // A recorded resource without a namespace is in the namespace of its binding.
        let resource = &mut object.spec.resource;
        if resource.namespace.is_empty() && !object.metadata.namespace.is_empty() {
            resource.namespace.clone_from(&object.metadata.namespace);
        }
        Binding {
            object: Box::new(object),
            policy: self.policy.clone(),
            workload: self.workload.clone(),
            ..Binding::default()
        }
    }
}

/// A decision: clusters sorted by name, or the kind of error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Expectation {
    /// Clusters with their replicas.
    Clusters(Vec<TargetCluster>),
    /// Kind of error: `NoClusterFit`, `Unschedulable` or `SchedulerError`.
    Error(String),
}

impl Expectation {
    /// The decision for these clusters, with a count each.
    pub fn from_counts<'a>(counts: impl Iterator<Item = (&'a str, i64)>) -> Self {
        let target = |(name, replicas): (&str, i64)| TargetCluster {
            name: name.to_owned(),
            replicas: i32::try_from(replicas).unwrap_or(i32::MAX),
            ..TargetCluster::default()
        };
        Self::Clusters(counts.map(target).collect())
    }
}

/// Profile and plugins that made a recording's decisions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordingHeader {
    /// Version of divvy.
    pub divvy: String,
    /// Profile, as TOML.
    pub profile: String,
    /// Name of the profile.
    pub profile_name: String,
    /// Seed of the profile.
    pub seed: u64,
    /// Plugins that the profile uses.
    pub plugins: Vec<RecordedPlugin>,
}

/// A plugin that took part in a recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordedPlugin {
    /// Name of the plugin.
    pub name: String,
    /// Version of the plugin.
    pub version: String,
    /// SHA-256 checksum of its library, in hexadecimal.
    pub sha256: String,
}

/// A version of a table with its whole text, so that a replay does not need the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RecordedTable {
    /// Name of the table in the profile.
    pub(super) name: String,
    /// Path of its file. The extension determines the format.
    pub(super) file: PathBuf,
    /// SHA-256 checksum of the text, in hexadecimal, by which cases name it.
    pub(super) version: String,
    /// The text of the file.
    pub(super) text: String,
    /// Version of the time zone database by which its times and hours were read; absent if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) time_zones: Option<String>,
}

/// One line of a recording.
#[derive(Serialize)]
#[serde(tag = "kind")]
pub(super) enum Line {
    /// A fleet with its clusters.
    Fleet(RecordedFleet),
    /// A binding with its decision.
    Case(Box<Case>),
    /// The header.
    Recording(RecordingHeader),
    /// A table.
    Table(RecordedTable),
}

/// An object that is read from its text by `divvy-karmada`'s function, because its type would otherwise be compiled again here.
struct FromText<T>(T);

impl<'de, T: ReadJson> Deserialize<'de> for FromText<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(deserializer)?;
        let read = T::from_json(text.get());
        // The error has only the position in the object; `exact_error` determines the position in the line.
        read.map(Self)
            .map_err(|error| D::Error::custom(json::plain_message(&error)))
    }
}

fn read_clusters<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Cluster>, D::Error> {
    let clusters = Vec::<FromText<Cluster>>::deserialize(deserializer)?;
    Ok(clusters.into_iter().map(|FromText(cluster)| cluster).collect())
}

fn read_binding<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ResourceBinding, D::Error> {
    FromText::deserialize(deserializer).map(|FromText(binding)| binding)
}

/// The texts of a line that are read as Karmada's objects.
#[derive(Deserialize)]
struct Texts<'line> {
    #[serde(borrow, default)]
    clusters: Vec<&'line RawValue>,
    #[serde(borrow)]
    binding: Option<&'line RawValue>,
}

/// Column and message of the error in the first object of a line that cannot be read; `None` if the error is elsewhere.
fn exact_error(line: &str) -> Option<(usize, String)> {
    fn error_in<T: ReadJson>(line: &str, object: &RawValue) -> Option<(usize, String)> {
        let error = T::from_json(object.get()).err()?;
        let before = object.get().as_ptr().addr().checked_sub(line.as_ptr().addr())?;
        Some((before + error.column(), json::plain_message(&error)))
    }
    let Texts { clusters, binding } = serde_json::from_str(line).ok()?;
    let in_cluster = clusters
        .into_iter()
        .find_map(|cluster| error_in::<Cluster>(line, cluster));
    in_cluster.or_else(|| error_in::<ResourceBinding>(line, binding?))
}

/// Maximum size of a line, in bytes. For comparison, a fleet of 5,000 clusters is 50 MB.
const LINE_BYTES_MAX: u64 = 256 << 20;

/// Maximum size of a recording once it is unpacked, in bytes.
const RECORDING_BYTES_MAX: u64 = 1 << 30;

/// Maximum number of blank lines in a row. A kilobyte may unpack to millions of them.
const BLANK_LINES_MAX: usize = 100_000;

/// The kind of a line, read before the rest. A tagged enum would first be read into a tree, which is too slow for
/// fleets of thousands of clusters.
#[derive(Deserialize)]
struct Kind {
    kind: String,
}

/// Reads a recording, plain or compressed with gzip.
///
/// # Errors
///
/// A [`RecordingError`] with the file, and with the line of an invalid record. Reading stops at the first error.
pub fn read_recording(path: &Path) -> Result<Recording, RecordingError> {
    let file = File::open(path).map_err(|source| unreadable(path, source))?;
    parse_recording(path, file)
}

fn unreadable(path: &Path, source: std::io::Error) -> RecordingError {
    RecordingError::Unreadable {
        file: path.to_owned(),
        source,
    }
}

/// Reads a recording as if it were a file with this name.
///
/// # Errors
///
/// As [`read_recording`].
pub fn parse_recording(path: &Path, mut input: impl Read) -> Result<Recording, RecordingError> {
    let mut magic = Vec::new();
    Read::by_ref(&mut input)
        .take(GZIP_MAGIC.len() as u64)
        .read_to_end(&mut magic)
        .map_err(|source| unreadable(path, source))?;
    // The content decides, not the file's name.
    let is_gzip = magic == GZIP_MAGIC;
    let whole = std::io::Cursor::new(magic).chain(input);
    let reader: Box<dyn Read + '_> = if is_gzip {
        Box::new(MultiGzDecoder::new(whole))
    } else {
        Box::new(whole)
    };
    let mut recording = Recording::default();
    let mut lines = Lines::new(BufReader::new(reader));
    let mut blank = 0;
    while let Some(line) = lines.next_line(path)? {
        if !line.trim().is_empty() {
            blank = 0;
            read_line(path, lines.number, &line, &mut recording)?;
            continue;
        }
        blank += 1;
        if blank > BLANK_LINES_MAX {
            return Err(RecordingError::Record {
                file: path.to_owned(),
                line: lines.number,
                column: None,
                message: format!("more than {BLANK_LINES_MAX} blank lines in a row"),
            });
        }
    }
    if recording.cases.is_empty() {
        return Err(RecordingError::Empty { file: path.to_owned() });
    }
    Ok(recording)
}

/// The lines of a recording. Limits are checked while reading, because a small file may unpack to an enormous one.
struct Lines<R> {
    reader: R,
    /// Number of the last line, starting at 1.
    number: usize,
    /// Bytes so far.
    bytes: u64,
}

impl<R: BufRead> Lines<R> {
    fn new(reader: R) -> Self {
        Self {
            reader,
            number: 0,
            bytes: 0,
        }
    }

    /// The next line; `None` at the end.
    fn next_line(&mut self, path: &Path) -> Result<Option<String>, RecordingError> {
        self.number += 1;
        let mut line = Vec::new();
        let read = Read::by_ref(&mut self.reader)
            .take(LINE_BYTES_MAX + 1)
            .read_until(b'\n', &mut line)
            .map_err(|source| RecordingError::Unreadable {
                file: path.to_owned(),
                source,
            })?;
        let read = read as u64;
        self.bytes += read;
        for (bytes, bytes_max) in [(read, LINE_BYTES_MAX), (self.bytes, RECORDING_BYTES_MAX)] {
            if bytes > bytes_max {
                return Err(RecordingError::TooLarge {
                    file: path.to_owned(),
                    line: self.number,
                    bytes_max,
                });
            }
        }
        let text = String::from_utf8(line).map_err(|error| RecordingError::Record {
            file: path.to_owned(),
            line: self.number,
            column: Some(error.utf8_error().valid_up_to() + 1),
            message: "not UTF-8 text".to_owned(),
        })?;
        Ok((read > 0).then_some(text))
    }
}

fn read_line(path: &Path, number: usize, line: &str, recording: &mut Recording) -> Result<(), RecordingError> {
    let wrong_at = |column: Option<usize>, message: String| RecordingError::Record {
        file: path.to_owned(),
        line: number,
        column,
        message,
    };
    let wrong = |message: String| wrong_at(None, message);
    let refused = |(column, message): (Option<usize>, String)| wrong_at(column, message);
    let error_in_object = |error: serde_json::Error| match exact_error(line) {
        Some((column, message)) => wrong_at(Some(column), message),
        None => wrong_at(column_of(&error), json::plain_message(&error)),
    };
    let Kind { kind } = record(line).map_err(refused)?;
    match kind.as_str() {
        "Fleet" => {
            let fleet: RecordedFleet = serde_json::from_str(line).map_err(error_in_object)?;
            if recording.fleets.contains_key(&fleet.name) {
                return Err(wrong(format!("a second fleet `{}`", fleet.name)));
            }
            recording.fleets.insert(fleet.name.clone(), fleet);
        }
        "Case" => {
            let mut case: Case = serde_json::from_str(line).map_err(error_in_object)?;
            case.line = number;
            if let Some((field, count)) = negative_count(&case) {
                return Err(wrong(format!("{field}: expected a count of at least 0, got `{count}`")));
            }
            if !recording.fleets.contains_key(&case.fleet) {
                return Err(RecordingError::UnknownFleet {
                    file: path.to_owned(),
                    line: number,
                    case: case.name,
                    fleet: case.fleet,
                });
            }
            if let Some((table, _)) = case
                .tables
                .iter()
                .find(|(_, version)| !recording.tables.contains_key(*version))
            {
                return Err(RecordingError::UnknownTable {
                    file: path.to_owned(),
                    line: number,
                    table: table.clone(),
                    case: case.name,
                });
            }
            recording.cases.push(case);
        }
        "Table" => {
            let RecordedTable {
                name,
                file,
                version,
                text,
                time_zones,
            } = record(line).map_err(refused)?;
            recording.time_zones.extend(time_zones);
            let source = TableSource::new(file, &text);
            if source.version != version {
                let actual = &source.version;
                return Err(wrong(format!(
                    "the text of table `{name}` has version {actual}, not {version}"
                )));
            }
            recording.tables.insert(version, source);
        }
        "Recording" => recording.header = Some(record(line).map_err(refused)?),
        other => {
            return Err(wrong(format!(
                "unknown kind `{other}`, expected `Fleet`, `Case`, `Table` or `Recording`"
            )));
        }
    }
    Ok(())
}

/// Column at which reading a line stopped, if it is known.
fn column_of(error: &serde_json::Error) -> Option<usize> {
    Some(error.column()).filter(|column| *column > 0)
}

/// Reads a line as a record without objects. An error has the column at which reading stopped, and a message.
///
/// Serde's own message names types of Rust and no field, so a value that is refused is read again for a better one.
fn record<T: DeserializeOwned>(line: &str) -> Result<T, (Option<usize>, String)> {
    serde_json::from_str(line).map_err(|error| {
        let refused = match serde_json::from_str(line) {
            Ok(value) => read_value::<T>(&value).err(),
            Err(_) => json::parse(line, 1, &mut Vec::new()).err(),
        };
        let message = refused.map_or_else(|| json::plain_message(&error), |refused| refused.to_string());
        (column_of(&error), message)
    })
}

/// Field and value of the first number of replicas below 0, which no API server would have stored.
fn negative_count(case: &Case) -> Option<(String, i32)> {
    let spec = &case.binding.spec;
    let replicas = spec.replicas.map(|count| ("binding.spec.replicas".to_owned(), count));
    let components = spec.components.iter().map(|component| component.replicas);
    let assigned = spec.clusters.iter().map(|target| target.replicas);
    let expected = match &case.expect {
        Some(Expectation::Clusters(targets)) => targets.as_slice(),
        _ => &[],
    };
    let expected = expected.iter().map(|target| target.replicas);
    replicas
        .filter(|(_, count)| *count < 0)
        .or_else(|| first_negative("binding.spec.components", components))
        .or_else(|| first_negative("binding.spec.clusters", assigned))
        .or_else(|| first_negative("expect.clusters", expected))
}

/// Field and value of the first count below 0 in a list.
fn first_negative(list: &str, counts: impl Iterator<Item = i32>) -> Option<(String, i32)> {
    let mut negative = counts.enumerate().filter(|(_, count)| *count < 0);
    negative
        .next()
        .map(|(index, count)| (format!("{list}[{index}].replicas"), count))
}
