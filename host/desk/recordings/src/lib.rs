//! Recordings: writes and reads decisions, and decides them again.
//!
//! A recording is a JSON Lines file, plain or compressed with gzip, with four kinds of records: a `Fleet` with its
//! clusters, a `Case` with a binding and the decision on it (`expect`), a `Recording` with the profile, seed and
//! plugins that decided, and a `Table` with the text of a table that plugins read. A case is one cycle on the recorded
//! binding; nothing is written back between cases.
//!
//! This crate knows the form of a recording; `divvy-scheduler` decides its cases.

mod case;
mod error;
mod record;
mod run;

pub use case::{
    Case, Expectation, RecordedFleet, RecordedPlugin, Recording, RecordingHeader, parse_recording, read_recording,
};
pub use error::{RecordingError, UnwritableRecord};
pub use record::{recorded_case, recorded_fleet, recorded_header, recorded_tables};
pub use run::{CaseRunner, ClusterDifference, Mismatch, PreparedCase, compare, karmada_kind};
