//! Libraries on the mounts by which a cluster brings them: image volumes, which some runtimes mount without the permission to execute, and
//! volumes that an init container filled, mounted for reading only.
//!
//! The mounts are made in a namespace of the test's own. A machine that permits none, or has no `mount` (`unshare -Urm mount --bind /tmp /tmp`
//! fails), leaves these tests out.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::artifacts::{plugin, with_bundled_plugins, workspace};

const LIBRARY: &str = "libdivvy_plugin_average.so";

/// A folder `volume` with the library of `average`, and a profile that names it, with these lines in the plugin's table.
fn folder(lines: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let volume = folder.path().join("volume");
    fs::create_dir(&volume).expect("a folder can be made");
    fs::copy(plugin("average"), volume.join(LIBRARY)).expect("the plugin was built");
    // As that of an `emptyDir`.
    fs::set_permissions(&volume, Permissions::from_mode(0o777)).expect("the permissions are set");
    let library = volume.join(LIBRARY);
    let profile = format!(
        "[[profile]]\nname = 'mounted'\nextends = 'default'\n[profile.plugin.average]\npath = '{}'\n{lines}",
        library.display()
    );
    fs::write(folder.path().join("profile.toml"), profile).expect("the file can be written");
    folder
}

/// Runs `divvy` with the volume mounted by these options; `None` if this machine permits no mounts.
fn mounted(folder: &Path, options: &str, arguments: &[&str]) -> Option<(Option<i32>, String)> {
    let unshare = || {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount"]);
        command
    };
    if !unshare()
        .args(["mount", "--bind", "/tmp", "/tmp"])
        .output()
        .is_ok_and(|output| output.status.success())
    {
        return None;
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let script = format!("mount --bind volume volume && mount -o remount,bind,{options} volume && exec \"$@\"");
    let output = with_bundled_plugins(&mut unshare())
        .args(["sh", "-euc", &script, "sh"])
        .arg(workspace().binary("divvy"))
        .args(arguments)
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .expect("the command can be started");
    Some((
        output.status.code(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    ))
}

/// A pinned library is opened from memory, with the bytes that were compared, in whichever process it is opened.
#[test]
fn a_pinned_library_is_opened_from_a_mount_without_permission_to_execute() {
    let average = divvy_loader::PluginFile::read(plugin("average")).expect("a plugin");
    for isolation in ["process", "none"] {
        let check = |pin: &str| {
            let folder = folder(&format!("isolation = '{isolation}'\n{pin}"));
            let arguments = ["profile", "check", "--profile", "profile.toml"];
            mounted(folder.path(), "ro,noexec", &arguments)
        };
        let Some((exit, log)) = check(&format!("sha256 = '{}'", average.checksum())) else {
            return;
        };
        assert_eq!(exit, Some(0), "{isolation}: {log}");
        // Without the pin, it would be opened where it is.
        let (exit, log) = check("").expect("mounts were permitted just now");
        assert_eq!(exit, Some(2), "{isolation}: {log}");
    }
}

/// Everyone can write to an `emptyDir`, but not through a mount for reading only.
#[test]
fn a_volume_of_everyone_is_refused_unless_it_is_mounted_for_reading_only() {
    let folder = folder("");
    let run = |options: &str| {
        let arguments = ["run", "--kubeconfig", "/does/not/exist", "--profile", "profile.toml"];
        mounted(folder.path(), options, &arguments)
    };
    let Some((exit, log)) = run("rw") else {
        return;
    };
    // Other files may be refused as well: in the namespace of a user who is not root, those of root belong to nobody.
    let refused = format!("{LIBRARY}` can be replaced by others");
    assert_eq!((exit, log.contains(&refused)), (Some(2), true), "{log}");
    let (exit, log) = run("ro").expect("mounts were permitted just now");
    // Nothing listens there, and nothing gets that far.
    assert_eq!((exit, log.contains(&refused)), (Some(2), false), "{log}");
}
