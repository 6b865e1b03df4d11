//! Libraries that the system's dynamic linker cannot open: every command says why, and `inspect` does before anything is opened.

use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use super::run;
use crate::artifacts::repository;
use crate::c_interface;

/// A filter in C with more code, linked with more arguments.
#[track_caller]
fn filter(name: &str, more: &str, arguments: &[&str]) -> PathBuf {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let source = folder.path().join(format!("{name}.c"));
    let text = std::fs::read_to_string(repository().join("tests/fixtures/nonsense.c")).expect("a source");
    std::fs::write(&source, format!("{text}\n{more}\n")).expect("the file can be written");
    c_interface::library_with(name, &[source], arguments)
}

/// A library without a plugin, which has the function `helper`. Returns its folder.
#[track_caller]
fn helper(name: &str, arguments: &[&str]) -> PathBuf {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let source = folder.path().join("helper.c");
    let text = "__attribute__((visibility(\"default\"))) int helper(void);\nint helper(void) { return 1; }\n";
    std::fs::write(&source, text).expect("the file can be written");
    let library = c_interface::library_with(name, &[source], arguments);
    library.parent().expect("it is in a folder").to_owned()
}

/// Has the linker note the libraries that follow, although the sources that need them come later.
const LINKED: &str = "-Wl,--no-as-needed";

/// Code that needs the function `helper` of another library.
const CALLS_HELPER: &str = "int helper(void);\nint calls_helper(void);\nint calls_helper(void) { return helper(); }";

/// A profile with the filter, and with these lines in its table.
fn profile(library: &Path, lines: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("profile.toml");
    let text = format!(
        "[[profile]]\nname = 'p'\nextends = 'default'\nfilters = ['...', 'nonsense']\n\
         [profile.plugin.nonsense]\npath = '{}'\nallow-uncertified = true\n{lines}",
        library.display()
    );
    std::fs::write(&path, text).expect("the file can be written");
    let path = path.display().to_string();
    (folder, path)
}

fn schedule(profile: &str) -> (Option<i32>, String) {
    let fleet = repository().join("examples/fleet").display().to_string();
    let (exit, _, stderr) = run(&["schedule", "-f", &fleet, "--profile", profile]);
    (exit, stderr)
}

/// What `inspect` says about a library that is allowed without a certificate.
#[track_caller]
fn inspect(library: &Path) -> (Option<i32>, Value) {
    let path = library.display().to_string();
    let (exit, stdout, stderr) = run(&["plugin", "inspect", &path, "--allow-uncertified", "-o", "json"]);
    let report: Value = serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
    (exit, report["verdict"].clone())
}

/// `schedule` fails with the linker's words in whichever process it opens the library.
#[track_caller]
fn check_schedule(library: &Path, said: &str) {
    for isolation in ["process", "none"] {
        let (_folder, profile) = profile(library, &format!("isolation = '{isolation}'\n"));
        let (exit, stderr) = schedule(&profile);
        assert_eq!(exit, Some(2), "{isolation}: {stderr}");
        assert!(
            stderr.contains(&format!("cannot be opened: {said}")),
            "{isolation}: {stderr}"
        );
        assert!(stderr.contains("hint: "), "{isolation}: {stderr}");
    }
}

#[track_caller]
fn check_inspected(library: &Path, reason: &str) {
    let (exit, verdict) = inspect(library);
    assert_eq!((exit, &verdict["loads"]), (Some(2), &Value::Bool(false)), "{verdict:#}");
    let actual = verdict["reason"].as_str().unwrap_or_default();
    assert!(actual.contains(reason), "{verdict:#}");
    // Without being allowed, too: the certificate hides no cause that stays.
    let (exit, stdout, _) = run(&["plugin", "inspect", &library.display().to_string()]);
    assert!(exit == Some(2) && stdout.contains(reason), "{stdout}");
}

#[test]
fn a_symbol_that_no_library_has() {
    let more = "int no_such_function_anywhere(void);\nint calls_it(void);\nint calls_it(void) { return no_such_function_anywhere(); }";
    let library = filter("unopened-symbol", more, &[]);
    check_schedule(&library, "undefined symbol: no_such_function_anywhere");
    check_inspected(&library, "needs `no_such_function_anywhere`, which no library has");
    let path = library.display().to_string();
    for command in [
        &["plugin", "verify", &path, "--allow-uncertified"][..],
        &["plugin", "list", "--plugin", &path],
    ] {
        let (_, stdout, stderr) = run(command);
        let said = format!("{stdout}{stderr}");
        assert!(said.contains("no_such_function_anywhere"), "{command:?}: {said}");
    }
}

#[test]
fn a_library_that_is_nowhere() {
    let folder = helper("unopened_absent", &[]);
    let search = format!("-L{}", folder.display());
    let library = filter(
        "unopened-library",
        CALLS_HELPER,
        &[LINKED, &search, "-lunopened_absent"],
    );
    std::fs::remove_file(folder.join("libunopened_absent.so")).expect("it is there");
    check_schedule(&library, "libunopened_absent.so: cannot open shared object file");
    check_inspected(
        &library,
        "needs `libunopened_absent.so`, which this machine does not have",
    );
}

#[test]
fn more_thread_local_memory_than_there_is() {
    let more = "__extension__ static __thread volatile char large[1 << 20] __attribute__((tls_model(\"initial-exec\")));\n\
                int uses_it(void);\nint uses_it(void) { return large[7]++; }";
    check_schedule(
        &filter("unopened-tls", more, &[]),
        "cannot allocate memory in static TLS block",
    );
}

/// Its only library is named as that of Alpine.
#[test]
fn a_library_for_another_c_library() {
    let name = format!("libc.musl-{}.so.1", std::env::consts::ARCH);
    let folder = helper("unopened_musl", &[&format!("-Wl,-soname,{name}")]);
    let search = format!("-L{}", folder.display());
    let arguments = ["-nodefaultlibs", LINKED, &search, "-lunopened_musl"];
    let library = filter("unopened-c-library", CALLS_HELPER, &arguments);
    check_schedule(&library, &format!("{name}: cannot open shared object file"));
    check_inspected(&library, "is built for musl, and this divvy for glibc");
}

/// `divvy run` opens a copy in memory, which has no folder, so no command loads such a library.
#[test]
fn a_library_with_another_beside_it_is_refused_by_every_command() {
    let folder = helper("unopened_beside", &[]);
    let search = format!("-L{}", folder.display());
    let arguments = [LINKED, &search, "-lunopened_beside", "-Wl,-rpath,$ORIGIN"];
    let library = filter("unopened-origin", CALLS_HELPER, &arguments);
    let reason = "needs `libunopened_beside.so` from its own folder, by `$ORIGIN`";
    check_inspected(&library, reason);
    let (_kept, profile) = profile(&library, "");
    let (exit, stderr) = schedule(&profile);
    assert!(exit == Some(2) && stderr.contains(reason), "{stderr}");
    let unreachable = [
        "run",
        "--kubeconfig",
        "/does/not/exist",
        "--allow-replaceable-files",
        "--profile",
        &profile,
    ];
    let (exit, _, stderr) = run(&unreachable);
    assert!(exit == Some(2) && stderr.contains(reason), "{stderr}");
}

#[test]
fn a_library_in_a_folder_that_the_profile_grants_is_found() {
    let folder = helper("unopened_granted", &[]);
    let folder = folder.display();
    let [search, folder_of_linker] = [format!("-L{folder}"), format!("-Wl,-rpath,{folder}")];
    let arguments = [LINKED, &search, "-lunopened_granted", &folder_of_linker];
    let library = filter("unopened-granted", CALLS_HELPER, &arguments);
    let (exit, verdict) = inspect(&library);
    assert_eq!((exit, &verdict["loads"]), (Some(0), &Value::Bool(true)), "{verdict:#}");
    let (_kept, profile) = profile(&library, &format!("read = ['{folder}']\n"));
    let (exit, stderr) = schedule(&profile);
    assert!(exit != Some(2), "{stderr}");
}
