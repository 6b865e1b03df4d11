//! Which plugins have a process of their own if the profile does not say.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{divvy, divvy_json, file};
use crate::artifacts::{plugin, with_bundled_plugins, workspace};

/// `process` or `none` for a plugin, as `divvy plugin list` says it with these arguments.
fn isolation(plugin: &str, arguments: &[&str]) -> String {
    let (exit, listed, log) = divvy_json(&[&["plugin", "list", "-o", "json"], arguments].concat());
    assert_eq!(exit, Some(0), "{log}");
    let listed = listed.as_array().expect("a list");
    let found = listed.iter().find(|found| found["name"] == plugin);
    found.expect("the plugin is listed")["isolation"]
        .as_str()
        .expect("it is loaded")
        .to_owned()
}

fn profile(name: &str, lines: &str) -> PathBuf {
    file(
        name,
        &format!("[[profile]]\nname = 'which'\nextends = 'default'\n[profile.plugin.average]\n{lines}"),
    )
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of ASCII")
}

#[test]
fn only_bundled_plugins_in_the_folder_of_the_program_run_in_its_process() {
    let library = plugin("average");
    assert_eq!(
        library.parent(),
        workspace().binary("divvy").parent(),
        "the plugins of the tests are beside the program"
    );
    assert_eq!(isolation("average", &[]), "none");
    // The profile's word counts.
    let process = profile("process.toml", "isolation = 'process'");
    assert_eq!(isolation("average", &["--profile", text(&process)]), "process");
    // A file that is named, although it is the same one.
    let named = profile("named.toml", &format!("path = '{}'", library.display()));
    assert_eq!(isolation("average", &["--profile", text(&named)]), "process");
    let trusted = profile(
        "trusted.toml",
        &format!("path = '{}'\nisolation = 'none'", library.display()),
    );
    assert_eq!(isolation("average", &["--profile", text(&trusted)]), "none");

    // Another folder, with a copy and with a link to a copy.
    let other = file("other-folder/README", "").with_file_name("");
    let copy = other.join(library.file_name().expect("a file"));
    fs::copy(library, &copy).expect("a copy");
    assert_eq!(isolation("average", &["--plugin-directory", text(&other)]), "process");
    let linked = file("linked-folder/README", "").with_file_name("");
    let link = linked.join(library.file_name().expect("a file"));
    let _absent = fs::remove_file(&link);
    std::os::unix::fs::symlink(library, &link).expect("a link");
    // A link leads to the file that is trusted.
    assert_eq!(isolation("average", &["--plugin-directory", text(&linked)]), "none");

    // A plugin that no built-in profile lists, in the same folder.
    let stranger = file("strangers/README", "").with_file_name("");
    let renamed = stranger.join("libdivvy_plugin_average.so");
    fs::copy(library, &renamed).expect("a copy");
    assert_eq!(
        isolation("average", &["--plugin-directory", text(&stranger)]),
        "process"
    );
}

#[test]
fn keys_for_workers_are_refused_for_a_plugin_in_the_program_s_process() {
    for (lines, key) in [
        ("deadline = '1s'", "deadline"),
        ("read = ['/etc']", "read"),
        ("worker = 'shared'", "worker"),
    ] {
        let profile = profile("keys.toml", lines);
        let (exit, _, log) = divvy(&["profile", "check", "--profile", text(&profile)]);
        assert_eq!(exit, Some(2), "{log}");
        let expected =
            format!("`{key}` is for plugins in a process of their own, and `average` runs in the scheduler's");
        assert!(log.contains(&expected), "{log}");
        assert!(log.contains("set `isolation = \"process\"`"), "{log}");
    }
}

/// Plugins that name one worker share a process: a crash in one ends what the other has kept, and both answer again.
#[test]
fn named_plugins_share_a_worker() {
    let mut text_of_profile = "[[profile]]\nname = 'shared'\nextends = 'default'\n".to_owned();
    for name in ["average", "specified"] {
        text_of_profile.push_str(&format!(
            "[profile.plugin.{name}]\nisolation = 'process'\nworker = 'ours'\n"
        ));
    }
    let profile = file("shared.toml", &text_of_profile);
    let schedule = |profile: &str| divvy(&["schedule", "-f", "examples/fleet", "-o", "json", "--profile", profile]);
    let (exit, shared, log) = schedule(text(&profile));
    let (usual_exit, usual, _) = schedule("default");
    assert_eq!(
        (exit, shared.replace("\"shared\"", "\"default\"")),
        (usual_exit, usual),
        "{log}"
    );
}

/// Workers are told in JSON what to open, and its texts are UTF-8.
#[test]
fn a_folder_that_a_worker_cannot_be_told_is_refused_with_the_reason() {
    let library = plugin("average");
    let folder = file("not-utf-8/README", "").with_file_name(OsStr::from_bytes(b"folder-\xff"));
    fs::create_dir_all(&folder).expect("a folder");
    fs::copy(library, folder.join(library.file_name().expect("a file"))).expect("a copy");
    let mut command = Command::new(workspace().binary("divvy"));
    command
        .args(["schedule", "-f", "examples/fleet", "--plugin-directory"])
        .arg(&folder);
    let output = with_bundled_plugins(&mut command)
        .output()
        .expect("the binary can be started");
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{log}");
    let reason = "its worker cannot be asked to start: path contains invalid UTF-8 characters";
    assert!(log.contains("plugin `average`") && log.contains(reason), "{log}");
}
