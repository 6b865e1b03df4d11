//! Golden cases of a plugin: manifests in, decisions out.
//!
//! A case is a folder below `golden/`: manifests, `expected.txt` with the decisions, and optionally `profile.toml` with
//! another profile and `time.txt` with the time of the decisions. The text has one line per binding, and below it one
//! line per cluster that gets replicas or that the plugin under test remarks on. Other plugins' remarks are left out, so
//! that a newer version of them does not change the cases.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use divvy_command::chosen_profile::ChosenProfile;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::reading::{ValidateMode, read_files, workload_kinds};
use divvy_command::style;
use divvy_command::text::printable;
use divvy_command::time;
use divvy_manifests::Input;
use divvy_scheduler::cycle::explanation::{ClusterExplanation, Reason};
use divvy_scheduler::decision::{Decision, Outcome, Scheduler, decide};
use divvy_scheduler::fleet::Fleet;
use divvy_scheduler::profile::Profile;
use similar::{ChangeTag, TextDiff};

/// The file with the decisions of a case.
const EXPECTED: &str = "expected.txt";

/// 2000-01-01T00:00:00Z in milliseconds: the time of the decisions of a case without `time.txt`. A case must not depend
/// on the day of the run.
const TIME: i64 = 946_684_800_000;

/// One case.
#[derive(Debug)]
pub(super) struct Case {
    /// Name of its folder.
    pub(super) name: String,
    folder: PathBuf,
}

/// The result of a case.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The decisions are as expected.
    Same,
    /// They differ: expected, actual.
    Different(String, String),
    /// They were written to the case.
    Updated,
    /// A decision is an error, which is never what is expected: its text.
    Failed(String),
}

/// The cases of a plugin, by name.
///
/// # Errors
///
/// The plugin has no cases, and must not pass without any check of its decisions; or a folder cannot be read.
pub(super) fn cases(plugin: &Path) -> Result<Vec<Case>, Failure> {
    let golden = plugin.join("golden");
    let entries = match fs::read_dir(&golden) {
        Ok(entries) => entries
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| unreadable(&golden, &error))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(unreadable(&golden, &error)),
    };
    let folders = entries.into_iter().filter(|entry| entry.path().is_dir());
    let cases = folders.map(|entry| Case {
        name: entry.file_name().to_string_lossy().into_owned(),
        folder: entry.path(),
    });
    let mut cases: Vec<Case> = cases.collect();
    cases.sort_by(|left, right| left.name.cmp(&right.name));
    if cases.is_empty() {
        let message = format!("`{}` has no golden case", plugin.display());
        let hint = "put manifests into `golden/NAME/`, and let `divvy plugin test --update` write the decisions";
        return Err(Failure::usage(Diagnostic::new(message).with_hint(hint)));
    }
    Ok(cases)
}

impl Case {
    /// The profile of this case alone, if it has one.
    pub(super) fn profile(&self) -> Option<PathBuf> {
        Some(self.folder.join("profile.toml")).filter(|path| path.is_file())
    }

    /// Decides the case and compares the decisions with those expected, or writes them. `tested` are the names of the plugins
    /// under test.
    pub(super) fn run(
        &self,
        chosen: &ChosenProfile,
        profile: &Arc<Profile>,
        tested: &[String],
        update: bool,
    ) -> Result<Verdict, Failure> {
        let decisions = self.decide(chosen, profile)?;
        let failed = decisions.iter().find(|decision| is_error(decision));
        if let Some(decision) = failed {
            return Ok(Verdict::Failed(text(decision, tested)));
        }
        let actual: String = decisions.iter().map(|decision| text(decision, tested)).collect();
        let path = self.folder.join(EXPECTED);
        let expected = match fs::read_to_string(&path) {
            Ok(expected) => expected,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(unreadable(&path, &error)),
        };
        if actual == expected {
            return Ok(Verdict::Same);
        }
        if !update {
            return Ok(Verdict::Different(expected, actual));
        }
        fs::write(&path, actual).map_err(|error| {
            let diagnostic = Diagnostic::new(format!("`{}` cannot be written", path.display()));
            Failure::usage(diagnostic.with_cause(error.to_string()))
        })?;
        Ok(Verdict::Updated)
    }

    fn decide(&self, chosen: &ChosenProfile, profile: &Arc<Profile>) -> Result<Vec<Decision>, Failure> {
        let kinds = workload_kinds(&chosen.configuration);
        let keep_json = profile.needs_raw_clusters();
        let inputs = [Input::Path(self.folder.clone())];
        let mut manifests = read_files(&inputs, ValidateMode::Auto, &kinds, keep_json);
        let detected = manifests.detect(kinds);
        if !manifests.problems.is_empty() {
            return Err(Failure::input(&manifests.problems));
        }
        if detected.bindings.is_empty() {
            let message = format!("the golden case `{}` has nothing to schedule", self.name);
            let hint = "a case needs clusters, a workload, and a policy that claims it, or a binding";
            return Err(Failure::usage(Diagnostic::new(message).with_hint(hint)));
        }
        let mut fleet = Fleet::new(keep_json);
        for cluster in &manifests.clusters {
            fleet.upsert_with_json(&cluster.object, cluster.json.as_deref());
        }
        let mut scheduler = Scheduler::new(Arc::clone(profile))
            .explaining(true)
            .deciding_at(Some(self.time()?));
        let mut decisions = decide(&mut scheduler, &detected.bindings, &fleet.snapshot());
        decisions.sort_by(|left, right| left.binding.cmp(&right.binding));
        Ok(decisions)
    }

    /// The time of the decisions.
    fn time(&self) -> Result<i64, Failure> {
        let path = self.folder.join("time.txt");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(TIME),
            Err(error) => return Err(unreadable(&path, &error)),
        };
        time::milliseconds(text.trim())
            .map_err(|error| Failure::usage(Diagnostic::new(format!("{}: {error}", path.display()))))
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let diagnostic = Diagnostic::new(format!("`{}` cannot be read", path.display()));
    Failure::usage(diagnostic.with_cause(error.to_string()))
}

/// True for a decision that is a fault of the policy, the profile or a plugin, and not an outcome of scheduling.
fn is_error(decision: &Decision) -> bool {
    matches!(&decision.outcome, Outcome::Failed(error) if !error.is_refusal())
}

/// A decision, with the remarks of the plugins under test.
fn text(decision: &Decision, tested: &[String]) -> String {
    let mut text = format!("{}: {}", decision.binding, decision.outcome.word());
    let mut shares: &[(String, i64)] = &[];
    match &decision.outcome {
        Outcome::Scheduled(targets) => {
            shares = targets;
            if !decision.strategy().is_empty() {
                text.push_str(&format!(" by {}", decision.strategy()));
            }
        }
        Outcome::Skipped(reason) => text.push_str(&format!(": {reason}")),
        Outcome::Failed(error) => text.push_str(&format!(": {error}")),
    }
    text.push('\n');
    let clusters = decision
        .explanation
        .iter()
        .flat_map(|explanation| &explanation.clusters);
    for cluster in clusters {
        let share = shares.iter().find(|(name, _)| *name == cluster.name);
        let parts = parts(cluster, share.map(|(_, replicas)| *replicas), tested);
        if !parts.is_empty() {
            // Writing to a string cannot fail.
            let _infallible = writeln!(text, "  {}: {}", cluster.name, parts.join("; "));
        }
    }
    let notes = decision.explanation.iter().flat_map(|explanation| &explanation.notes);
    for note in notes.filter(|note| tested.contains(&note.plugin)) {
        let _infallible = writeln!(text, "  {}", note.text);
    }
    text
}

/// Replicas of a cluster, and remarks of the plugins under test about it.
fn parts(cluster: &ClusterExplanation, replicas: Option<i64>, tested: &[String]) -> Vec<String> {
    let with = |what: String, reason: Option<&Reason>| match reason {
        Some(reason) => format!("{what} ({})", reason.text),
        None => what,
    };
    let mut parts = Vec::new();
    if let Some(note) = cluster.rejected.as_ref().filter(|note| tested.contains(&note.plugin)) {
        parts.push(format!("rejected ({})", note.text));
    }
    for score in cluster.scores.iter().filter(|score| tested.contains(&score.plugin)) {
        parts.push(with(format!("score {}", score.score), score.reason.as_ref()));
    }
    if let Some(left_out) = cluster
        .left_out
        .as_ref()
        .filter(|left_out| tested.contains(&left_out.plugin))
    {
        parts.push(with("left out".to_owned(), left_out.reason.as_ref()));
    }
    match replicas {
        Some(1) => parts.push("1 replica".to_owned()),
        Some(replicas) => parts.push(format!("{replicas} replicas")),
        None => {}
    }
    let reasons = cluster.reasons.iter().filter(|reason| tested.contains(&reason.plugin));
    parts.extend(reasons.map(|reason| reason.text.clone()));
    parts
}

/// Writes the lines of two texts that differ, with the lines around them.
pub(super) fn write_difference(expected: &str, actual: &str, out: &mut dyn io::Write) -> io::Result<()> {
    let difference = TextDiff::from_lines(expected, actual);
    for group in difference.grouped_ops(2) {
        for change in group.iter().flat_map(|operation| difference.iter_changes(operation)) {
            let (sign, style) = match change.tag() {
                ChangeTag::Delete => ('-', style::BAD),
                ChangeTag::Insert => ('+', style::GOOD),
                ChangeTag::Equal => (' ', style::PLAIN),
            };
            let line = change.value().trim_end_matches('\n');
            writeln!(out, "  {style}{sign} {}{style:#}", printable(line))?;
        }
    }
    Ok(())
}
