//! The cases: kinds of cycles, and fleets.
//!
//! Fleets and bindings are those on which Karmada's own scheduler was timed. Of that recording, only the fleets with one API and the
//! bindings that are divided by free capacity are used, because reading all of it under callgrind would take minutes.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

/// Sizes of the fleets, in the order in which they are counted.
pub(crate) const SIZES: [usize; 4] = [10, 100, 1_000, 5_000];

/// Kind of a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Every plugin in this process.
    Plain,
    /// The same, with a full explanation.
    Explained,
    /// One filter in a worker.
    Isolated,
}

/// All kinds, in the order in which they are counted.
pub(crate) const KINDS: [Kind; 3] = [Kind::Plain, Kind::Explained, Kind::Isolated];

impl Kind {
    /// Its name in the file and in arguments.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Explained => "explained",
            Self::Isolated => "isolated-filter",
        }
    }

    /// The kind with a name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        KINDS.into_iter().find(|kind| kind.name() == name)
    }
}

/// Name of the fleet with this number of clusters.
pub(crate) fn fleet(clusters: usize) -> String {
    format!("n{clusters}-api0")
}

/// Name of the case on that fleet.
pub(crate) fn case(clusters: usize) -> String {
    format!("{}-dynamic", fleet(clusters))
}

/// The folder of the repository.
pub(crate) fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Writes the fleets and cases that are used into a file, as they are in the recording.
pub(crate) fn reduced_recording(folder: &Path) -> Result<PathBuf, String> {
    let source = repository().join("tests/conformance/bench.jsonl.gz");
    let target = folder.join("cases.jsonl");
    let wanted: Vec<String> = SIZES
        .into_iter()
        .flat_map(|clusters| [("Fleet", fleet(clusters)), ("Case", case(clusters))])
        .map(|(kind, name)| format!(r#"{{"kind": "{kind}", "name": "{name}", "#))
        .collect();
    let copy = || -> std::io::Result<usize> {
        let lines = BufReader::new(GzDecoder::new(File::open(&source)?));
        let mut reduced = BufWriter::new(File::create(&target)?);
        let mut found = 0;
        for line in lines.lines() {
            let line = line?;
            if wanted.iter().any(|wanted| line.starts_with(wanted.as_str())) {
                writeln!(reduced, "{line}")?;
                found += 1;
            }
        }
        reduced.flush()?;
        Ok(found)
    };
    match copy() {
        Ok(found) if found == wanted.len() => Ok(target),
        Ok(found) => Err(format!(
            "{}: {found} of the fleets and cases that are counted, expected {}",
            source.display(),
            wanted.len()
        )),
        Err(error) => Err(format!("{}: {error}", source.display())),
    }
}
