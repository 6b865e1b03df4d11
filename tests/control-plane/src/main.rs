//! `up DIR` and `down DIR` start and end a control plane for manual use; `soak` runs rounds of failures and churn; `crds` writes
//! the definitions of Karmada's resources.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use divvy_control_plane_tests::process::Input;
use divvy_control_plane_tests::soak::Round;
use divvy_control_plane_tests::users::{ADMIN, ALL};
use divvy_control_plane_tests::{ControlPlane, Error, Ports, churn, crds, source_folder};
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde::{Deserialize, Serialize};

/// The processes of a control plane, as `up` leaves them to `down`.
#[derive(Serialize, Deserialize)]
struct Started {
    /// Process IDs, in the order in which they must end.
    processes: Vec<u32>,
    ports: Ports,
}

const USAGE: &str = "usage: control-plane up DIR [PORT] | down DIR | soak [ROUNDS [BINDINGS [MINUTES [SEED]]]] | crds";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments[..] {
        ["up", folder] => up(Path::new(folder), None).await,
        ["up", folder, port] => match port.parse() {
            Ok(port) => up(Path::new(folder), Some(port)).await,
            Err(_) => {
                eprintln!("`{port}` is not a port");
                return ExitCode::from(2);
            }
        },
        ["down", folder] => down(Path::new(folder)),
        ["soak", ref numbers @ ..] if numbers.len() <= 4 => {
            let Ok(numbers) = numbers
                .iter()
                .map(|number| number.parse())
                .collect::<Result<Vec<u64>, _>>()
            else {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            };
            soak(&numbers).await
        }
        ["crds"] => write_definitions(),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let mut cause: Option<&dyn std::error::Error> = Some(&error);
            while let Some(error) = cause {
                eprintln!("{error}");
                cause = error.source();
            }
            ExitCode::FAILURE
        }
    }
}

fn state_file(folder: &Path) -> PathBuf {
    folder.join("control-plane.json")
}

/// Starts a control plane and returns when it is ready. A folder that was used before keeps its data and ports.
async fn up(folder: &Path, port: Option<u16>) -> Result<(), Error> {
    let before = started(folder).ok();
    if before
        .as_ref()
        .is_some_and(|before| before.processes.iter().any(|id| is_ours(*id, folder)))
    {
        eprintln!("{} is already up", folder.display());
        return Ok(());
    }
    let mut ports = before.map_or_else(Ports::free, |before| Ok(before.ports))?;
    ports.api_server = port.unwrap_or(ports.api_server);
    let control_plane = ControlPlane::start_with(folder, ports, Input::Empty).await?;
    let url = control_plane.url();
    let started = Started {
        processes: control_plane.detach(),
        ports,
    };
    let path = state_file(folder);
    let text = serde_json::to_string(&started).map_err(|error| Error::Content {
        path: path.clone(),
        message: error.to_string(),
    })?;
    std::fs::write(&path, text).map_err(Error::file(path))?;
    println!("{url} is ready");
    for user in ALL {
        println!("{:<12} {}", user.name, user.kubeconfig(folder).display());
    }
    let kubeconfig = ADMIN.kubeconfig(folder);
    println!(
        "end it with tests/control-plane/down {}; kubectl --kubeconfig {} …",
        folder.display(),
        kubeconfig.display()
    );
    Ok(())
}

/// Ends the processes of a folder, the API server first. The data stays.
fn down(folder: &Path) -> Result<(), Error> {
    for id in started(folder)?.processes {
        let Some(process) = i32::try_from(id)
            .ok()
            .and_then(Pid::from_raw)
            .filter(|_| is_ours(id, folder))
        else {
            continue;
        };
        let start = Instant::now();
        // A signal fails only if the process has just ended.
        let _ = kill_process(process, Signal::TERM);
        while test_kill_process(process).is_ok() {
            if start.elapsed() > Duration::from_secs(30) {
                let _ = kill_process(process, Signal::KILL);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    Ok(())
}

fn started(folder: &Path) -> Result<Started, Error> {
    let path = state_file(folder);
    let text = std::fs::read(&path).map_err(|_| Error::NotStarted {
        path: folder.to_owned(),
    })?;
    serde_json::from_slice(&text).map_err(|error| Error::Content {
        path,
        message: error.to_string(),
    })
}

/// True if a process with this ID runs and was started for the folder: an ID may have been used again since.
fn is_ours(id: u32, folder: &Path) -> bool {
    let Ok(folder) = folder.canonicalize() else {
        return false;
    };
    let command = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&command).contains(&folder.display().to_string())
}

/// Runs rounds of failures, then churn, and fails if a rule is broken or the memory grows.
async fn soak(numbers: &[u64]) -> Result<(), Error> {
    let number = |index: usize, default: u64| numbers.get(index).copied().unwrap_or(default);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs());
    let (rounds, bindings, minutes, seed) = (number(0, 20), number(1, 2_000), number(2, 60), number(3, now));
    let mut violations = Vec::new();
    for seed in seed..seed + rounds {
        let folder = tempfile::tempdir().map_err(Error::file("a temporary folder"))?;
        let round = Round {
            seed,
            bindings: usize::try_from(bindings).unwrap_or(usize::MAX),
            failures: 10,
            schedulers: 2,
            lease: Some("karmada-scheduler"),
        };
        let report = round.run(folder.path()).await?;
        println!(
            "seed {seed}: {bindings} bindings, {} faults, {} violations in {:.0?}: {}",
            report.faults,
            report.violations.len(),
            report.duration,
            report.failures.join(", ")
        );
        violations.extend(report.violations);
    }
    if minutes > 0 {
        let folder = tempfile::tempdir().map_err(Error::file("a temporary folder"))?;
        let memory = churn::run(folder.path(), Duration::from_secs(minutes * 60)).await?;
        let step = (memory.samples.len() / 12).max(1);
        for (time, bytes) in memory.samples.iter().step_by(step) {
            println!("churn after {:>4} s: {:>4} MiB", time.as_secs(), bytes / (1 << 20));
        }
        println!(
            "churn: {} changes, memory {}",
            memory.changes,
            if memory.is_flat() { "flat" } else { "grows" }
        );
        if !memory.is_flat() {
            violations.push("the scheduler's memory grows".to_owned());
        }
    }
    match violations.is_empty() {
        true => Ok(()),
        false => Err(Error::Broken { violations }),
    }
}

/// Writes the definitions of Karmada's resources to `crds/`.
fn write_definitions() -> Result<(), Error> {
    for resource in crds::resources()? {
        let path = source_folder().join(crds::file_name(&resource));
        std::fs::write(&path, crds::file_content(&resource)?).map_err(Error::file(path))?;
    }
    Ok(())
}
