//! Everything that reads what others wrote, as functions of bytes: none may panic, hang or exhaust memory, whatever the bytes are.
//!
//! A fuzzer calls them (`fuzz/`, see `README.md`), and `tests/replay.rs` calls them with what a fuzzer found interesting (`corpus/`).
//! Each also checks what must hold if the bytes are accepted.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use divvy_client::check_kubeconfig;
use divvy_isolation::{Event, messages};
use divvy_karmada::workloads::WorkloadKinds;
use divvy_loader::inspection::Inspection;
use divvy_loader::{LibraryDescription, LoadOptions, PluginFile};
use divvy_manifests::{ReadOptions, read_text};
use divvy_profile::table::{LoadedTable, TableSource};
use divvy_profile::{ProfileConfiguration, ProfileSource};
use divvy_recordings::parse_recording;

/// A function of bytes. True if they are accepted.
pub type Target = fn(&[u8]) -> bool;

/// All targets by the names of their folders in `corpus/`.
pub const TARGETS: [(&str, Target); 7] = [
    ("profile", profile),
    ("manifests", manifests),
    ("recording", recording),
    ("table", table),
    ("library", library),
    ("answer", answer),
    ("kubeconfig", kubeconfig),
];

/// A profile file. One that is accepted can be written, and says the same when it is read again.
pub fn profile(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    let source = ProfileSource::parse("fuzz.toml".into(), text);
    let (_, error) = source.readable_profiles();
    if let Some(error) = error {
        assert!(!error.to_string().is_empty());
        return false;
    }
    for profile in source.profiles().expect("there was no error") {
        for (list, length) in lists(&profile) {
            for index in 0..length {
                let _origin = source.origin(&profile.name, list, index);
            }
        }
        // Paths that are no Unicode cannot be written; these are.
        let written = profile.to_toml().expect("what was read can be written");
        let again = ProfileSource::parse("fuzz.toml".into(), &written);
        assert_eq!(again.profile(Some(&profile.name)).expect("it was written"), profile);
    }
    true
}

/// A kubeconfig, up to the client that is made of it. No other file is read and no plugin is run.
pub fn kubeconfig(bytes: &[u8]) -> bool {
    match check_kubeconfig(bytes) {
        Ok(()) => true,
        Err(error) => {
            let text = error.to_string();
            assert!(
                text.starts_with("kubeconfig `kubeconfig` cannot be used: ") || text.starts_with("the connection"),
                "{text}"
            );
            false
        }
    }
}

/// The lists of a profile with their lengths.
fn lists(profile: &ProfileConfiguration) -> [(&'static str, usize); 4] {
    let length = |list: Option<usize>| list.unwrap_or(0);
    [
        ("filters", length(profile.filters.as_ref().map(Vec::len))),
        ("scores", length(profile.scores.as_ref().map(Vec::len))),
        ("select", length(profile.select.as_ref().map(Vec::len))),
        ("assign", length(profile.assign.as_ref().map(Vec::len))),
    ]
}

/// Manifests, as YAML or JSON depending on the first byte. What can be read yields bindings.
pub fn manifests(bytes: &[u8]) -> bool {
    let Some((choice, Ok(text))) = bytes
        .split_first()
        .map(|(choice, text)| (choice, std::str::from_utf8(text)))
    else {
        return false;
    };
    let name = match choice % 2 {
        0 => "fuzz.yaml",
        _ => "fuzz.json",
    };
    let mut read = read_text(name, text, &ReadOptions::default());
    for problem in &read.problems {
        assert!(!problem.to_string().is_empty());
    }
    let is_accepted = read.problems.is_empty();
    let _detected = read.detect(WorkloadKinds::default());
    is_accepted
}

/// A recording, plain or compressed.
pub fn recording(bytes: &[u8]) -> bool {
    match parse_recording(Path::new("fuzz.jsonl"), bytes) {
        Ok(recording) => {
            assert!(!recording.cases.is_empty());
            true
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
    }
}

/// Declarations of tables, for files of every format.
const TABLES: &str = r#"
[[profile]]
name = "fuzz"
extends = "default"
[profile.table.prices]
file = "prices.csv"
key = "region"
columns = { cost = { type = "decimal", scale = 3 }, currency = "text" }
[profile.table.zones]
file = "zones.json"
columns = { carbon = "integer", clean = "boolean" }
[profile.table.owners]
file = "owners.toml"
key = "label:team"
columns = { owner = { type = "text", from = "Owner name" } }
"#;

/// The text of a table. The first byte chooses its declaration and format.
pub fn table(bytes: &[u8]) -> bool {
    let Some((choice, Ok(text))) = bytes
        .split_first()
        .map(|(choice, text)| (usize::from(*choice), std::str::from_utf8(text)))
    else {
        return false;
    };
    static DECLARED: LazyLock<ProfileConfiguration> = LazyLock::new(|| {
        let source = ProfileSource::parse("fuzz.toml".into(), TABLES);
        source.profile(None).expect("the declarations are valid")
    });
    let tables = &DECLARED.table;
    let Some((name, declared)) = tables.iter().nth(choice % tables.len()) else {
        return false;
    };
    let extension = ["csv", "json", "toml"][choice / tables.len() % 3];
    let source = TableSource::new(PathBuf::from("fuzz").with_extension(extension), text);
    match LoadedTable::new(name, source, declared) {
        Ok(table) => {
            let unknown = table.unknown_clusters(&["member1"].into());
            assert!(unknown.len() <= table.rows());
            true
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            assert!(errors.iter().all(|error| !error.to_string().is_empty()));
            false
        }
    }
}

/// A file that claims to be a library of plugins. Nothing of it is opened.
pub fn library(bytes: &[u8]) -> bool {
    let file = file(bytes);
    let Ok(inspection) = Inspection::read(file.path()) else {
        return false;
    };
    let options = LoadOptions {
        name: Some("ready-only"),
        allow_uncertified: true,
        ..LoadOptions::default()
    };
    let refusal = inspection.refusal(options);
    if refusal.is_some() {
        return false;
    }
    // A file that is not refused describes its plugin, because what opens it uses the description.
    let read = PluginFile::read(file.path()).expect("it was not refused");
    let _described = read.describe(options).expect("it was not refused");
    true
}

fn file(bytes: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a file can be made");
    file.write_all(bytes).expect("it can be written");
    file
}

/// A worker's answer: depending on the first byte, what its plugin handed over, or a message of the worker itself.
pub fn answer(bytes: &[u8]) -> bool {
    let Some((choice, bytes)) = bytes.split_first() else {
        return false;
    };
    if choice % 2 == 0 {
        let mut answered = 0;
        let taken = messages::events(bytes, &mut |event| {
            answered += 1;
            look(event);
            answered
        });
        assert!(taken.is_none_or(|taken| taken <= answered as usize));
        taken.is_some()
    } else {
        messages::description(bytes).is_some_and(is_used)
    }
}

/// Reads everything of an event.
fn look(event: Event<'_>) {
    let text = match event {
        Event::Log(_, module, message) => format!("{}{}", module.read(), message.read()),
        Event::Count(name, _) | Event::Observe(name, _) => name.read().into_owned(),
        Event::Text(_, _, text) => text.read().into_owned(),
        Event::Explain(reason) => {
            let names = reason.figures.as_slice().iter().map(|figure| figure.name.read());
            names.chain([reason.text.read()]).collect()
        }
        Event::LeftOut(left_out) => format!("{left_out:?}"),
        Event::Fail(failure) => [failure.message, failure.path, failure.hint]
            .into_iter()
            .map(|text| text.read())
            .collect(),
    };
    // Whatever the bytes were, they are Unicode by now.
    assert!(text.chars().count() <= text.len());
}

/// True if a library is used as its worker describes it: the file says the same, as far as it says anything.
fn is_used(description: LibraryDescription) -> bool {
    static LIBRARY: &[u8] = include_bytes!("../corpus/library/filter-in-c");
    let file = file(LIBRARY);
    let read = PluginFile::read(file.path()).expect("it is a library");
    let options = LoadOptions {
        name: Some("ready-only"),
        allow_uncertified: true,
        ..LoadOptions::default()
    };
    let Ok(library) = read.opened_elsewhere(options, description) else {
        return false;
    };
    assert!(library.functions().is_none());
    let texts = [library.configuration_schema(), library.preferences_schema()];
    assert!(texts.iter().all(|text| text.len() < 1 << 20));
    let _lists = (library.strategies(), library.rule_lists(), library.tables());
    true
}
