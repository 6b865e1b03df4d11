//! `divvy-load run` on a real API server, at sizes too small to show speed: figures add up, nothing is left behind, and objects of others
//! are not touched.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};

use divvy_control_plane_tests::divvy;
use divvy_control_plane_tests::objects::{BINDING, CLUSTER, Objects, POLICY};
use divvy_control_plane_tests::templates::Cluster;
use divvy_control_plane_tests::users::ADMIN;
use divvy_control_plane_tests::{ControlPlane, Error};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

/// Bindings of a burst.
const BINDINGS: u64 = 40;

/// A command of the program with the scheduler, the profile and the plugins of the other tests.
fn command(arguments: &[&str]) -> Result<Command, Error> {
    let program = divvy_built::test_program("divvy-load").map_err(|output| Error::Build { output })?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .args(["--profile", "karmada", "-o", "json", "--divvy"])
        .arg(divvy::binary()?)
        .arg("--plugin-directory")
        .arg(divvy::plugins()?);
    Ok(command)
}

/// Runs the program.
async fn measured(arguments: &[&str]) -> Result<Output, Error> {
    let mut command = command(arguments)?;
    let output = tokio::task::spawn_blocking(move || command.output()).await;
    output
        .map_err(std::io::Error::other)
        .and_then(|output| output)
        .map_err(Error::file("divvy-load"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn report(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stdout)))
}

#[tokio::test]
async fn scheduler_and_bare_client_leave_the_same_and_all_of_it_is_removed() -> Result<(), Error> {
    let folder = tempfile::tempdir().map_err(Error::file("a temporary folder"))?;
    let control_plane = ControlPlane::start(folder.path()).await?;
    let kubeconfig = control_plane.kubeconfig(ADMIN).display().to_string();
    let bindings = BINDINGS.to_string();
    let arguments = [
        "run",
        "--kubeconfig",
        &kubeconfig,
        "--bindings",
        &bindings,
        "--clusters",
        "6",
        "--apis",
        "20",
    ];
    let report = report(&measured(&[&arguments[..], &["--write-latency", "7ms"]].concat()).await?);
    let bursts = report["bursts"].as_array().cloned().unwrap_or_default();
    let events: Vec<_> = bursts
        .iter()
        .map(|burst| (burst["bare_events"].as_u64(), burst["scheduler_events"].as_u64()))
        .collect();
    let both = (Some(2 * BINDINGS), Some(2 * BINDINGS));
    assert_eq!(events, [(Some(0), Some(0)), both, both]);
    for burst in &bursts {
        let figure = |name: &str| burst[name][0].as_f64().unwrap_or_default();
        assert!(
            figure("bare_per_second") > 0.0 && figure("scheduler_per_second") > 0.0,
            "{burst}"
        );
        assert!(
            burst["peak_memory_bytes"].as_u64().is_some_and(|bytes| bytes > 1 << 20),
            "{burst}"
        );
    }
    let latency = &report["steady"]["scheduler"];
    assert!(latency["p50_ms"].as_f64() > Some(0.0) && latency["p99_ms"].as_f64() >= latency["p50_ms"].as_f64());
    let objects = Objects::new(control_plane.client(ADMIN).await?);
    for kind in [BINDING, CLUSTER, POLICY] {
        assert_eq!(objects.list(kind, "").await?, Vec::<Value>::new(), "{}", kind.plural);
    }
    // The same control plane can be measured again, and one that holds anything else cannot.
    objects.create(CLUSTER, Cluster::new("production").object()).await?;
    let refused = measured(&arguments).await?;
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        text(&refused.stderr).contains("Cluster `production`"),
        "{}",
        text(&refused.stderr)
    );
    assert_eq!(objects.list(CLUSTER, "").await?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn an_interrupted_measurement_prints_what_it_has_and_removes_everything() -> Result<(), Error> {
    let folder = tempfile::tempdir().map_err(Error::file("a temporary folder"))?;
    let control_plane = ControlPlane::start(folder.path()).await?;
    let kubeconfig = control_plane.kubeconfig(ADMIN).display().to_string();
    let arguments = [
        "run",
        "--kubeconfig",
        &kubeconfig,
        "--bindings",
        "20",
        "--clusters",
        "3",
        "--apis",
        "20",
        "--rounds",
        "1000",
    ];
    let mut command = command(&arguments)?;
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().map_err(Error::file("divvy-load"))?;
    // Interrupted once the first round is complete: the second one is announced.
    let ended = tokio::task::spawn_blocking(move || interrupt_at(child, "round 2: "));
    let output = ended.await.map_err(std::io::Error::other).and_then(|output| output);
    let output = output.map_err(Error::file("divvy-load"))?;
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let bursts = report["bursts"].as_array().cloned().unwrap_or_default();
    assert_eq!(bursts.len(), 2, "{}", text(&output.stdout));
    assert!(
        bursts.iter().all(|burst| burst["ratio"].as_f64() > Some(0.0)),
        "{report}"
    );
    assert_eq!(report["steady"], Value::Null);
    let objects = Objects::new(control_plane.client(ADMIN).await?);
    for kind in [BINDING, CLUSTER, POLICY] {
        assert_eq!(objects.list(kind, "").await?, Vec::<Value>::new(), "{}", kind.plural);
    }
    Ok(())
}

/// Interrupts a process when a line of its standard error begins with these words. Returns its output from then on.
fn interrupt_at(mut child: Child, words: &str) -> std::io::Result<Output> {
    let Some(progress) = child.stderr.take() else {
        return Err(std::io::Error::other("standard error is not a pipe"));
    };
    let mut lines = BufReader::new(progress).lines();
    let announced = lines.by_ref().map_while(Result::ok).any(|line| line.starts_with(words));
    assert!(announced, "`{words}` was not printed");
    kill_process(Pid::from_child(&child), Signal::INT)?;
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    let mut output = child.wait_with_output()?;
    output.stderr = rest.join("\n").into_bytes();
    Ok(output)
}
