//! The Dockerfile, as far as it can be checked without building an image.

use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use divvy_built::repository;
use divvy_control_plane_tests::divvy::{plugins, program};
use serde_json::Value;
use tempfile::TempDir;

use crate::Failure;

fn dockerfile() -> Result<String, Failure> {
    Ok(std::fs::read_to_string(
        repository().join("examples/deploy/Dockerfile"),
    )?)
}

/// The words after each occurrence of an option.
fn after<'a>(text: &'a str, option: &str) -> Vec<&'a str> {
    let parts = text.split(option).skip(1);
    parts.filter_map(|rest| rest.split_whitespace().next()).collect()
}

/// A release's image differs from one of the sources in where the files come from.
#[test]
fn the_image_of_a_release_runs_as_that_of_the_sources() -> Result<(), Failure> {
    let release = std::fs::read_to_string(repository().join("packaging/Dockerfile"))?;
    let last_stage = |text: &str| -> Vec<String> {
        let stage = text.rsplit("\nFROM ").next().unwrap_or_default();
        let lines = stage.lines().filter(|line| !line.starts_with("COPY --from="));
        lines.map(str::to_owned).collect()
    };
    let stage = last_stage(&release);
    assert!(stage.len() > 5, "{stage:?}");
    assert_eq!(stage, last_stage(&dockerfile()?));
    Ok(())
}

#[test]
fn the_packages_that_are_left_out_exist_and_the_compiler_is_new_enough() -> Result<(), Failure> {
    let text = dockerfile()?;
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(repository())
        .output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    let excluded = after(&text, "--exclude ");
    assert!(!excluded.is_empty());
    for package in excluded {
        assert!(
            packages.iter().any(|known| known["name"] == package),
            "there is no package `{package}`"
        );
    }
    // A package that is left out must not be one that the image needs.
    let needed = |package: &&Value| {
        let name = package["name"].as_str().unwrap_or_default();
        name == "divvy-live" || name.starts_with("divvy-plugin-")
    };
    for package in packages.iter().filter(needed) {
        let name = package["name"].as_str().unwrap_or_default();
        assert!(!after(&text, "--exclude ").contains(&name), "`{name}` is left out");
        let minimum = package["rust_version"].as_str().unwrap_or_default();
        let image = format!("docker.io/library/rust:{minimum}-");
        assert!(text.contains(&image), "the image does not build with Rust {minimum}");
    }
    Ok(())
}

/// The layout that the Dockerfile makes, with the folder `/image` as `/usr`. Every user may read it, and only its owner may write to it.
fn image() -> Result<TempDir, Failure> {
    let text = dockerfile()?;
    let readable = Permissions::from_mode(0o755);
    let folder = tempfile::Builder::new().permissions(readable).tempdir()?;
    for path in ["/image/bin", "/image/lib/divvy/plugins"] {
        assert!(text.contains(path), "the Dockerfile does not make {path}");
        std::fs::create_dir_all(folder.path().join(path.trim_start_matches("/image/")))?;
    }
    std::fs::copy(program("divvy-scheduler")?, folder.path().join("bin/divvy-scheduler"))?;
    let mut count = 0;
    for entry in std::fs::read_dir(plugins()?)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // `cp target/release/libdivvy_plugin_*.so`
        if name.starts_with("libdivvy_plugin_") && name.ends_with(".so") {
            std::fs::copy(entry.path(), folder.path().join("lib/divvy/plugins").join(&name))?;
            count += 1;
        }
    }
    assert!(count >= 14, "{count} plugins");
    Ok(folder)
}

/// The program of the image with these arguments, without any environment.
fn scheduler(image: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(image.join("bin/divvy-scheduler"));
    command.args(arguments).current_dir("/").env_clear();
    command
}

/// Checks that it has loaded every plugin of its profile and ended only because there is no kubeconfig.
fn check_loaded(output: &Output) {
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{log}");
    assert!(log.matches("plugin loaded").count() >= 10, "{log}");
    assert!(log.contains("error: kubeconfig `/nothing` cannot be used"), "{log}");
}

/// As on OpenShift, which chooses a user for each namespace, and the group 0.
#[test]
fn any_user_can_run_the_image() -> Result<(), Failure> {
    let folder = image()?;
    let mut command = scheduler(folder.path(), &["--kubeconfig=/nothing"]);
    // Another user than that of the image has no name there, and no home. Who is not root is one already.
    if std::fs::metadata("/proc/self")?.uid() == 0 {
        command.uid(1_000_670_000).gid(0);
    }
    check_loaded(&command.output()?);
    Ok(())
}

#[test]
fn the_scheduler_finds_its_plugins_where_the_image_has_them() -> Result<(), Failure> {
    let folder = image()?;
    let run = |arguments: &[&str]| scheduler(folder.path(), arguments).output();
    check_loaded(&run(&["--kubeconfig=/nothing"])?);
    // The arguments of the image and of the Deployment are accepted; the profile and the kubeconfig are not there.
    let deployment = std::fs::read_to_string(repository().join("examples/deploy/host/deployment.yaml"))?;
    let flags: Vec<&str> = deployment
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- --"))
        .collect();
    assert!(flags.len() >= 3, "{flags:?}");
    let help = run(&["--help"])?;
    let help = String::from_utf8_lossy(&help.stdout);
    for flag in flags.iter().copied().chain(["listen=[::]:10351"]) {
        let name = flag.split('=').next().unwrap_or_default();
        assert!(help.contains(&format!("--{name} ")), "it has no `--{name}`");
    }
    Ok(())
}
