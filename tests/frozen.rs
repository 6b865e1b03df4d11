//! Kept binaries of each minor version of the ABI: plugins, and a host that only replays. Today's host with the kept plugins, and the
//! kept host with today's plugins, decide as was recorded when the binaries were made. `tests/frozen/README.md` describes them.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use divvy_loader::PluginDirectories;
use divvy_profile::ProfileSource;
use divvy_recordings::{CaseRunner, compare, read_recording};
use divvy_scheduler::fleet::Fleet;
use divvy_scheduler::profile::{Profile, registry};
use flate2::read::GzDecoder;

use crate::artifacts::{self, repository};
use crate::c_interface;
use crate::moves::{Walk, member};
use crate::scheduling::Host;

/// Largest size of a plugin, and of the packed host.
const PLUGIN_BYTES_MAX: u64 = 1_000_000;
const HOST_BYTES_MAX: u64 = 1_500_000;
/// Newest version of glibc that the binaries may need: that of Debian 12 and Red Hat 9 is newer or equal.
const GLIBC_MAX: [u32; 2] = [2, 34];

/// What is kept of one version of the ABI.
#[derive(Debug, Clone, Copy)]
struct Kept {
    minor: u32,
}

/// Everything that is kept, the oldest first.
fn all() -> Vec<Kept> {
    let entries = fs::read_dir(repository().join("tests/frozen")).expect("the folder is there");
    let names = entries.map(|entry| entry.expect("it can be read").file_name());
    let minor = |name: std::ffi::OsString| name.to_str()?.strip_prefix("1.")?.parse().ok();
    let mut all: Vec<Kept> = names.filter_map(minor).map(|minor| Kept { minor }).collect();
    all.sort_by_key(|kept| kept.minor);
    assert_eq!(all.first().map(|kept| kept.minor), Some(0));
    all
}

impl Kept {
    fn folder(self) -> PathBuf {
        repository().join(format!("tests/frozen/1.{}", self.minor))
    }

    fn recording(self) -> PathBuf {
        self.folder().join("recording.jsonl.gz")
    }

    /// The text of the recording.
    fn recorded(self) -> String {
        let mut text = String::new();
        let packed = File::open(self.recording()).expect("it is there");
        GzDecoder::new(packed)
            .read_to_string(&mut text)
            .expect("it can be unpacked");
        text
    }

    /// Files of the plugins that are kept.
    fn plugins(self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.folder().join("plugins")).expect("the folder is there");
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path()).collect();
        files.sort();
        files
    }

    /// The host, unpacked. Each test has a copy of its own, because a program that runs cannot be written to.
    fn host(self, folder: &Path) -> PathBuf {
        let packed = File::open(self.folder().join("host.gz")).expect("the host is there");
        let mut program = Vec::new();
        GzDecoder::new(packed)
            .read_to_end(&mut program)
            .expect("it can be unpacked");
        let path = folder.join("frozen-host");
        fs::write(&path, program).expect("the host can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its mode can be set");
        path
    }

    /// Runs the kept host with the plugins of a folder, in which it is unpacked.
    fn run_host(self, plugins: &Path, recording: &Path) -> Output {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let mut host = Command::new(self.host(folder.path()));
        host.arg(plugins).arg(recording).env_clear();
        loop {
            match host.output() {
                // A child of another test has inherited the file that was written, until it begins its own program.
                Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => sleep(Duration::from_millis(1)),
                output => return output.expect("the kept host can be started"),
            }
        }
    }

    /// A folder with today's builds of the plugins that are kept.
    fn todays_plugins(self) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("a folder can be made");
        for kept in self.plugins() {
            let name = kept.file_name().and_then(|name| name.to_str()).expect("it has a name");
            let plugin = name
                .trim_start_matches("libdivvy_plugin_")
                .trim_end_matches(".so")
                .replace('_', "-");
            let today = match plugin.as_str() {
                "fill-in-order" => c_interface::example(),
                "cheapest-first" => artifacts::example(),
                _ if repository().join("plugins").join(&plugin).is_dir() => artifacts::plugin(&plugin),
                _ => artifacts::fixture(&plugin),
            };
            symlink(today, folder.path().join(name)).expect("a link can be made");
        }
        folder
    }
}

/// Prints a line that is visible even if the test passes, because only the macros' output is captured.
fn say(line: &str) {
    _ = writeln!(std::io::stderr(), "{line}");
}

/// True if binaries for x86-64 and glibc run here. Says so if they do not.
fn can_run() -> bool {
    let can_run = cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"));
    if !can_run {
        say("not run: the kept binaries are for x86-64 Linux with glibc");
    }
    can_run
}

#[test]
fn kept_binaries_are_small_and_need_an_old_glibc() {
    for kept in all() {
        for plugin in kept.plugins() {
            let size = fs::metadata(&plugin).expect("it is there").len();
            assert!(size < PLUGIN_BYTES_MAX, "{} has {size} bytes", plugin.display());
            check_needs(&fs::read(&plugin).expect("it can be read"), &plugin);
        }
        let packed = fs::metadata(kept.folder().join("host.gz")).expect("it is there").len();
        assert!(packed < HOST_BYTES_MAX, "the host has {packed} bytes");
        let folder = tempfile::tempdir().expect("a folder can be made");
        let host = kept.host(folder.path());
        check_needs(&fs::read(&host).expect("it can be read"), &host);
    }
}

/// Checks the architecture of an ELF file and the newest glibc that it asks for, and prints both.
fn check_needs(bytes: &[u8], path: &Path) {
    const X86_64: u16 = 62;
    let machine = bytes
        .get(18..20)
        .map(|machine| u16::from_le_bytes([machine[0], machine[1]]));
    assert_eq!(machine, Some(X86_64), "{}", path.display());
    // The table of strings has versions as `GLIBC_2.34`.
    let texts = bytes
        .split(|byte| *byte == 0)
        .filter_map(|text| std::str::from_utf8(text).ok());
    let versions = texts.filter_map(|text| text.strip_prefix("GLIBC_"));
    let parts = versions.map(|version| version.split('.').filter_map(|part| part.parse().ok()).collect());
    let newest: Vec<u32> = parts.max().unwrap_or_default();
    say(&format!("{}: x86-64, glibc {newest:?}", path.display()));
    assert!(
        !newest.is_empty() && newest <= GLIBC_MAX.to_vec(),
        "{}: {newest:?}",
        path.display()
    );
}

#[test]
fn this_host_decides_with_kept_plugins_as_recorded() {
    if !can_run() {
        return;
    }
    for kept in all() {
        let recording = read_recording(&kept.recording()).expect("it can be read");
        let profile = profile(kept);
        let used = profile.plugins().count();
        assert_eq!(
            used,
            kept.plugins().len(),
            "{kept:?}: a plugin is kept that no profile uses"
        );
        let versions = profile
            .plugins()
            .map(|plugin| plugin.library().abi_version().to_string());
        let expected = format!("1.{}", kept.minor);
        assert!(versions.into_iter().all(|version| version == expected), "{kept:?}");
        let mut runner = CaseRunner::new(Arc::new(profile)).with_tables(&recording.tables);
        assert!(recording.cases.len() > 5, "{} cases", recording.cases.len());
        for case in &recording.cases {
            let mut fleet = Fleet::new(false);
            fleet.extend(&recording.fleets[&case.fleet].clusters);
            let prepared = runner.prepare(case);
            let actual = runner.decide(&prepared, &fleet.snapshot());
            let expected = case.expect.as_ref().expect("it has a decision");
            assert!(case.time.is_some(), "{}", case.name);
            assert_eq!(compare(expected, actual), Ok(()), "{kept:?}: {}", case.name);
        }
    }
}

/// The recorded profile with the kept plugins.
fn profile(kept: Kept) -> Profile {
    let recording = read_recording(&kept.recording()).expect("it can be read");
    let header = recording.header.as_ref().expect("it has a profile");
    let source = ProfileSource::parse(kept.recording(), &header.profile);
    let configuration = source.profile(Some(&header.profile_name)).expect("the profile reads");
    let directories = PluginDirectories::new([kept.folder().join("plugins")]);
    registry::build_without_tables(&configuration, &directories).expect("every kept plugin loads")
}

/// Recordings have no moves, so that a kept pace is compared with today's.
#[test]
fn a_kept_pace_makes_the_steps_of_todays() {
    if !can_run() {
        return;
    }
    let library = Kept { minor: 1 }.folder().join("plugins/libdivvy_plugin_surge.so");
    let host = |path: &Path| {
        Host::extending(&format!(
            "[profile.moves]\npace = 'surge'\n[profile.plugin.surge]\npath = {:?}\n",
            path.display().to_string()
        ))
    };
    let (kept, today) = (host(&library), host(artifacts::plugin("surge")));
    let pace = kept.profile().pace().expect("the profile has a pace");
    assert_eq!(pace.library().abi_version().to_string(), "1.1");
    for (max_surge, max_unavailable, max_clusters) in [(3, 0, None), (0, 2, None), (4, 1, Some(2)), (0, 0, None)] {
        let members = [("new", member(0, 10)), ("old", member(12, 3)), ("other", member(5, 4))];
        let walk = Walk {
            max_surge,
            max_unavailable,
            max_clusters,
            ..Walk::new(17, members)
        };
        let steps = walk.clone().steps(&today);
        assert!(!steps.is_empty());
        assert_eq!(
            walk.steps(&kept),
            steps,
            "{max_surge} {max_unavailable} {max_clusters:?}"
        );
    }
}

#[test]
fn the_kept_host_decides_with_todays_plugins_as_recorded() {
    if !can_run() {
        return;
    }
    for kept in all() {
        let today = kept.todays_plugins();
        let output = kept.run_host(today.path(), &kept.recording());
        let (stdout, stderr) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert_eq!((output.status.code(), stderr.as_ref()), (Some(0), ""), "{stdout}");
        let cases = read_recording(&kept.recording()).expect("it can be read").cases.len();
        assert_eq!(stdout.lines().count(), cases);
        // It would notice a difference: a recording with other decisions.
        let text = kept.recorded();
        let other = today.path().join("other.jsonl");
        let changed = text.replace("\"replicas\":2}", "\"replicas\":3}");
        assert_ne!(text, changed);
        File::create(&other)
            .and_then(|mut file| file.write_all(changed.as_bytes()))
            .expect("it can be written");
        assert_eq!(kept.run_host(today.path(), &other).status.code(), Some(1));
    }
}

/// A pace is the first plugin that does: the extension point is of ABI 1.1.
#[test]
fn the_kept_host_of_abi_1_0_refuses_a_pace() {
    if !can_run() {
        return;
    }
    let kept = all()[0];
    let today = kept.todays_plugins();
    let link = today.path().join("libdivvy_plugin_surge.so");
    symlink(artifacts::plugin("surge"), &link).expect("a link can be made");
    // Its profile lists the pace in the place of a strategy: the file is refused before anything in it is looked at.
    let other = today.path().join("other.jsonl");
    fs::write(&other, kept.recorded().replace("average", "surge")).expect("it can be written");
    let output = kept.run_host(today.path(), &other);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(
        stderr.contains("plugin `surge`") && stderr.contains("needs ABI 1.1 or newer, this divvy has ABI 1.0"),
        "{stderr}"
    );
}

#[test]
fn a_kept_host_refuses_a_plugin_that_requires_a_newer_minor_version() {
    if !can_run() {
        return;
    }
    for kept in all() {
        let (own, newer) = (kept.minor, kept.minor + 1);
        let today = kept.todays_plugins();
        let link = today.path().join("fill-in-order.so");
        fs::remove_file(&link).expect("it is there");
        symlink(c_interface::example_that_requires(newer), &link).expect("a link can be made");
        let output = kept.run_host(today.path(), &kept.recording());
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        let expected = format!("needs ABI 1.{newer} or newer, this divvy has ABI 1.{own}");
        assert!(stderr.contains(&expected), "{stderr}");
    }
}
