//! What a build leaves to do for the next one.

use crate::artifacts::{repository, workspace};

/// A build script that asks Cargo to watch a path that does not exist would run, and have the binary linked again, in every build.
#[test]
fn a_second_build_compiles_nothing() {
    workspace();
    let again = divvy_built::build(&repository().join("Cargo.toml"), divvy_built::members());
    let again = again.unwrap_or_else(|messages| panic!("{messages}"));
    assert!(again.library("divvy-plugin-duplicated").is_ok());
    assert_eq!(again.compiled(), Vec::<String>::new());
}
