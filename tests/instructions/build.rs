//! Notes the compiler and the target, on which the counts depend.

use std::process::Command;

fn main() {
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    let output = Command::new(variable("RUSTC")).arg("--version").output();
    let version = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let version = version.unwrap_or_else(|error| format!("an unknown rustc: {error}"));
    println!("cargo::rustc-env=COMPILER={version}, {}", variable("TARGET"));
    println!("cargo::rerun-if-changed=build.rs");
}
