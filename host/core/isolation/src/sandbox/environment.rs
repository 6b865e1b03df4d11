//! The environment of a confined process.

use std::ffi::OsString;

/// Variables that a worker inherits: the language of its messages, and backtraces. Everything else may be a secret, or change what a
/// plugin decides (`TZ`, `LD_PRELOAD`, `GODEBUG`).
const KEPT: [&str; 2] = ["LANG", "RUST_BACKTRACE"];

/// The environment for a process that will be confined: of the calling process's variables, those that cannot change a decision. For
/// [`std::process::Command::envs`] after [`std::process::Command::env_clear`].
pub fn environment() -> impl Iterator<Item = (OsString, OsString)> {
    kept(std::env::vars_os())
}

fn kept(variables: impl Iterator<Item = (OsString, OsString)>) -> impl Iterator<Item = (OsString, OsString)> {
    variables.filter(|(name, _)| KEPT.iter().any(|kept| name == kept))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_variables_are_inherited() {
        let all = ["HOME", "LANG", "LD_PRELOAD", "TOKEN", "RUST_BACKTRACE", "LANGUAGE"];
        let variables = all.map(|name| (OsString::from(name), OsString::from("value")));
        let names: Vec<OsString> = kept(variables.into_iter()).map(|(name, _)| name).collect();
        assert_eq!(names, ["LANG", "RUST_BACKTRACE"]);
    }
}
