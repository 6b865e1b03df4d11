//! `divvy-load scale` at sizes too small to show speed: figures add up.

use std::process::Command;

use serde_json::Value;

/// Memory of a binding that no change may exceed unnoticed: twice what it takes.
const BYTES_PER_BINDING_MAXIMUM: f64 = 6_000.0;

/// The report of the program, with the scheduler and the plugins that the other tests use.
fn report(arguments: &[&str]) -> Value {
    let bundled = divvy_built::bundled().unwrap_or_else(|messages| panic!("{messages}"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_divvy-load"));
    command
        .args(arguments)
        .args(["--profile", "karmada", "-o", "json", "--divvy"])
        .arg(&bundled.binary)
        .arg("--plugin-directory")
        .arg(&bundled.plugins);
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn memory_grows_with_the_bindings_and_stays_after_a_relist() {
    let arguments = [
        "scale",
        "--bindings",
        divvy_built::cases("500,1500", "1000,4000"),
        "--pending",
        "100",
        "--clusters",
        "50",
        "--apis",
        "50",
    ];
    // What else the processes allocate meanwhile changes the difference between two sizes, so one measurement of three is enough.
    let bytes = |report: &Value| report[1]["bytes_per_further_binding"].as_f64().unwrap_or_default();
    let mut report = self::report(&arguments);
    for _ in 0..2 {
        if bytes(&report) <= 0.0 || bytes(&report) >= BYTES_PER_BINDING_MAXIMUM {
            report = self::report(&arguments);
        }
    }
    let figure = |index: usize, name: &str| report[index][name].as_f64().unwrap_or_default();
    assert!(
        figure(1, "bytes_per_further_binding") < BYTES_PER_BINDING_MAXIMUM,
        "{report}"
    );
    assert!(figure(1, "bytes_per_further_binding") > 0.0, "{report}");
    assert!(
        figure(1, "peak_after_relist_bytes") < figure(1, "idle_bytes") * 1.5,
        "{report}"
    );
    assert!(figure(0, "decisions_per_second") > 0.0, "{report}");
}
