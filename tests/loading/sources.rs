//! Errors that the author of a plugin gets from the compiler.

use crate::artifacts;

/// The first panic of such a plugin would abort the host, and the loader could not detect it.
#[test]
fn a_plugin_that_aborts_on_panic_does_not_compile() {
    let output = artifacts::cargo()
        .args(["check", "--offline", "--manifest-path"])
        .arg(artifacts::repository().join("tests/fixtures/panic-abort/Cargo.toml"))
        .arg("--target-dir")
        .arg(artifacts::metadata().target_directory.as_std_path())
        .output()
        .expect("cargo can be started");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "it compiled:\n{messages}");
    let expected = "error: a Divvy plugin cannot be built with `panic = \"abort\"`: its panics are caught at the boundary and \
                    reported as errors of the plugin, which needs unwinding; remove `panic = \"abort\"` from the profile in \
                    Cargo.toml";
    assert!(messages.contains(expected), "{messages}");
    assert_eq!(
        messages.matches("\nerror: ").count() + messages.matches("\nerror[").count(),
        2,
        "{messages}"
    );
}
