//! The process in which `divvy plugin verify` opens a stranger's library: what a library finds there that looks around when it is opened, before
//! anything else of the plugin runs. One that finds what it must not ends its process, so that the plugin cannot be loaded.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::file;
use super::harm::profile;
use crate::artifacts::{with_bundled_plugins, workspace};
use crate::c_interface::hostile::{HOSTILE, opened};

/// A variable as a secret of whoever runs the command.
const SECRET: &str = "DIVVY_TESTED_SECRET";

/// A profile whose plugin is this library, in a process of its own or in the scheduler's.
fn profile_of(name: &str, library: &Path, isolation: &str) -> PathBuf {
    let text = fs::read_to_string(profile(&format!("verified/{name}.toml"), "")).expect("a profile");
    let text = text.replace(&HOSTILE.display().to_string(), &library.display().to_string());
    let text = text.replace("isolation = 'process'", &format!("isolation = '{isolation}'"));
    let text = match isolation {
        "none" => text.replace("deadline = '1s'\n", ""),
        _ => text,
    };
    file(&format!("verified/{name}.toml"), &text)
}

/// Verifies a plugin of a profile by one check: the exit code and what is printed.
fn verify(plugin: &str, profile: &Path, check: &str) -> (Option<i32>, String) {
    let mut command = Command::new(workspace().binary("divvy"));
    command
        .args([
            "plugin",
            "verify",
            plugin,
            "--runs",
            "1",
            "--clusters",
            "5",
            "--check",
            check,
        ])
        .args(["--failures", "target/verified", "--profile"])
        .arg(profile);
    let command = with_bundled_plugins(&mut command).env(SECRET, "swordfish");
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    let text = [stdout, stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    (status.code(), text.concat())
}

/// Fails unless a library that runs this statement when it is opened ends the process in the scheduler's place alone.
#[track_caller]
fn finds_nothing(name: &str, statement: &str) {
    let library = opened(&format!("hostile_{name}"), statement);
    let (exit, told) = verify("hostile", &profile_of(name, &library, "process"), "sum");
    assert!(exit != Some(2) && !told.contains("cannot be loaded"), "{told}");
    let (exit, told) = verify(
        "hostile",
        &profile_of(&format!("{name}-trusted"), &library, "none"),
        "sum",
    );
    assert!(
        exit == Some(2) && told.contains("cannot be loaded: the process was killed by SIGABRT"),
        "{told}"
    );
}

#[test]
fn a_stranger_has_no_variables_of_the_command() {
    let statement = format!("if (getenv(\"{SECRET}\") != NULL) abort()");
    finds_nothing("variables", &statement);
    // But for the check that looks at what a plugin makes of them.
    let library = opened("hostile_variables_asked", &statement);
    let (_, told) = verify(
        "hostile",
        &profile_of("variables-asked", &library, "process"),
        "surroundings",
    );
    assert!(told.contains("the process was killed by SIGABRT"), "{told}");
}

/// Addresses alone would be given; private memory to write to is not, whether it is used or not.
#[test]
fn a_stranger_has_no_memory_without_end() {
    let flags = "PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE";
    finds_nothing(
        "takes_memory",
        &format!("if (mmap(NULL, (size_t)64 << 30, {flags}, -1, 0) != MAP_FAILED) abort()"),
    );
}

/// Neither with the errors of a process that refuses its plugin, nor as the last line of one that dies.
#[test]
fn what_a_stranger_prints_has_no_control_characters() {
    let printed = r"forged\rfor \x1b[2Jall \xe2\x80\xaeword\n";
    // Of one that dies, the last line is repeated, which is the watcher's.
    for (name, end, part) in [
        ("refuses", "_exit(2)", "forged"),
        ("dies", "abort()", "cannot be loaded"),
    ] {
        let statement = format!("if (write(2, \"{printed}\", sizeof \"{printed}\" - 1) > 0) {end}");
        let library = opened(&format!("hostile_prints_{name}"), &statement);
        let (code, told) = verify(
            "hostile",
            &profile_of(&format!("prints-{name}"), &library, "process"),
            "sum",
        );
        assert!(code == Some(2) && told.contains(part), "{told:?}");
        let is_hidden = |character: char| character.is_control() && character != '\n' || character == '\u{202e}';
        assert!(!told.contains(is_hidden), "{told:?}");
    }
}

/// All plugins of a profile are opened in the process that verifies one of them.
#[test]
fn a_stranger_beside_the_plugin_that_is_verified_is_confined() {
    let marker = Path::new(env!("CARGO_TARGET_TMPDIR")).join("isolation/verified/mark");
    fs::create_dir_all(marker.parent().expect("a folder")).expect("a folder for the tests");
    let library = opened("hostile_beside", &format!("leave_a_mark(\"{}\")", marker.display()));
    for (isolation, is_marked) in [("process", false), ("none", true)] {
        let _absent = fs::remove_file(&marker);
        let profile = profile_of(&format!("beside-{isolation}"), &library, isolation);
        let (exit, told) = verify("average", &profile, "sum");
        assert_eq!((exit, marker.exists()), (Some(0), is_marked), "{told}");
    }
}
