//! A host without `abi_stable`: it knows a library by its record and its descriptor.

use std::process::Command;

use divvy_loader::PluginFile;

use super::compile::compile;
use crate::artifacts::{self, repository};

/// The library is certified, which this host does not look at.
#[test]
fn a_host_that_knows_no_certificate_uses_a_certified_library() {
    let library = artifacts::plugin("average");
    // The record says which plugins there are, before anything is opened.
    let file = PluginFile::read(library).expect("it is a plugin");
    assert_eq!(file.names(), ["average"]);
    let bytes = std::fs::read(library).expect("it can be read");
    let certificate: &[u8] = b"divvy_certificate_v1";
    assert!(bytes.windows(certificate.len()).any(|window| window == certificate));
    let host = compile(
        "host-in-c",
        &[repository().join("tests/fixtures/host.c")],
        &["-Wl,--no-as-needed", "-ldl"],
    );
    let output = Command::new(host)
        .arg(library)
        .arg("average")
        .output()
        .expect("the host starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let counts = String::from_utf8_lossy(&output.stdout);
    assert!(["3 4\n", "4 3\n"].contains(&counts.as_ref()), "{counts}");
}
