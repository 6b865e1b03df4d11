//! Completions that a shell asks for: the protocol, and the candidates that every program has.
//!
//! The script of `divvy completions` sets an environment variable and repeats the unfinished command line. `clap_complete` calls this
//! interface unstable: only this file and the candidates of `divvy` use it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::Path;

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::CompleteEnv;
use divvy_profile::{BUILT_IN, ProfileSource};

use crate::text::is_control;

/// Variable that a shell sets to its own name to ask for completions.
pub const VARIABLE: &str = "DIVVY_COMPLETE";

/// Answers a shell that asks for completions of this command, and ends the process. Returns if none does.
pub fn answer(command: impl Fn() -> Command) {
    CompleteEnv::with_factory(command).var(VARIABLE).complete();
}

/// Answers a shell that asks for completions of `divvy NAME`, a program of its own, which is where the line reaches it.
pub fn answer_below_divvy(command: impl Fn() -> Command, name: &'static str) {
    answer(|| {
        let own = command().name(name).mut_args(with_candidates).mut_subcommands(below);
        Command::new("divvy").subcommand(own)
    });
}

fn below(command: Command) -> Command {
    command.mut_args(with_candidates).mut_subcommands(below)
}

/// An argument with its candidates, by the name of its value: profiles and paths.
pub fn with_candidates(argument: Arg) -> Arg {
    let name = argument.get_value_names().and_then(|names| names.first());
    match name.map(|name| name.as_str()) {
        Some("PROFILE") => argument.add(ArgValueCompleter::new(profiles)),
        // A text that is the path of a file, unlike `FILE`, which clap knows to be one.
        Some("PATH" | "NAME|FILE") => argument.add(ArgValueCompleter::new(PathCompleter::any())),
        _ => argument,
    }
}

/// The candidates that continue a text, once each. The shell writes them into its line, so names that could control a terminal are
/// left out.
pub fn offered(candidates: Vec<String>, current: &str) -> Vec<CompletionCandidate> {
    let candidates: BTreeSet<String> = candidates
        .into_iter()
        .filter(|candidate| candidate.starts_with(current) && !candidate.contains(is_control))
        .collect();
    candidates.into_iter().map(CompletionCandidate::new).collect()
}

/// Built-in profiles and files; after `FILE#`, the profiles of that file.
fn profiles(current: &OsStr) -> Vec<CompletionCandidate> {
    let text = current.to_str().unwrap_or_default();
    if let Some((file, _)) = text.rsplit_once('#') {
        let Ok(source) = ProfileSource::read(Path::new(file)) else {
            return Vec::new();
        };
        let (profiles, _) = source.readable_profiles();
        let names = profiles.into_iter().map(|profile| format!("{file}#{}", profile.name));
        return offered(names.collect(), text);
    }
    let built_in = BUILT_IN.iter().map(|built_in| built_in.name.to_owned());
    let mut candidates = offered(built_in.collect(), text);
    let is_profile = |path: &Path| path.is_dir() || path.extension().is_some_and(|extension| extension == "toml");
    candidates.extend(PathCompleter::any().filter(is_profile).complete(current));
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_continue_the_text_and_cannot_control_a_terminal() {
        let candidates = ["eu-2", "eu-1", "eu-2", "us-1", "eu-\u{1b}[2J"].map(str::to_owned);
        let offered = offered(candidates.into(), "eu");
        let values: Vec<&OsStr> = offered.iter().map(CompletionCandidate::get_value).collect();
        assert_eq!(values, ["eu-1", "eu-2"]);
    }
}
