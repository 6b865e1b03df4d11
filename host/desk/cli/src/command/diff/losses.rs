//! `divvy diff --without-each`: the loss of each cluster, region, zone or provider.

use divvy_command::console::Console;
use divvy_command::errors::{headline, remark};
use divvy_command::exit::Exit;
use divvy_command::progress::Progress;
use divvy_command::style;
use divvy_command::text::counted;
use divvy_forecast::document::{FORMAT, FailureRow, FailureTotals, FailuresDocument};
use divvy_forecast::failures::{Each, Errors, Failures, failures};
use divvy_forecast::future::{Future, Options};
use divvy_forecast::situation::Situation;
use divvy_scheduler::profile::ConfiguredProfile;

use super::arguments::{DiffArguments, FullLimit};
use super::limits::exceeds;
use super::{Input, fault};
use crate::command::choosing::keep_top;
use crate::command::desk::{Answer, Document};
use crate::report::{losses, sheets};

impl DiffArguments {
    /// Decides each loss, in addition to the changes.
    pub(super) fn lose_each(&self, each: Each, input: &Input) -> Failures {
        let Input { prepared, right, .. } = input;
        let _progress = Progress::start("losing each");
        let percent = self.max_full.map(|limit| limit.0);
        let choosing = &prepared.shown;
        let shown = prepared.after.bindings.iter().map(|binding| choosing.includes(binding));
        let shown: Option<Vec<bool>> = choosing.is_partial().then(|| shown.collect());
        failures(
            &prepared.after,
            &right.side,
            each,
            input.options,
            percent,
            shown.as_deref(),
        )
    }

    /// The losses as a document.
    pub(super) fn answer_losses<'a>(
        &'a self,
        each: Each,
        (rows, errors): (Vec<FailureRow>, Errors),
        input: &'a Input,
        console: &Console,
    ) -> Answer<'a> {
        let Input { prepared, right, .. } = input;
        let mut document = FailuresDocument {
            totals: FailureTotals::of(&rows, prepared.left_out.objects),
            format: FORMAT,
            after: right.document.clone(),
            assumes: input.options.assumes,
            each: each.word().to_owned(),
            failures: rows,
            errors: errors.counted,
            notes: prepared.notes.clone(),
        };
        // Losses have no state before them, so a share is one of what all workloads ask for.
        let asked = prepared.after.bindings.iter().map(|binding| binding.replicas()).sum();
        let exit = self.exit_of_losses(&document, asked, (errors, input), console);
        let beyond_top = keep_top(&mut document.failures, self.top);
        Answer {
            exit: exit.max(prepared.left_out.exit),
            errors: Vec::new(),
            notes: document.notes.clone(),
            document: Document::new(
                &self.output,
                document,
                |document| sheets::without_each(document, beyond_top),
                |document| document.failures.iter().map(|row| row.name.clone()).collect(),
                move |document, out, layout| losses::write(document, beyond_top, out, layout),
            ),
            origin: &prepared.origin,
            closing: Box::new(|_| ()),
        }
    }

    /// Exit code of the losses. Prints the limits that are exceeded, and how many bindings are in error without any loss. `asked` is the
    /// number of replicas that all workloads ask for.
    fn exit_of_losses(
        &self,
        document: &FailuresDocument,
        asked: i64,
        (errors, input): (Errors, &Input),
        console: &Console,
    ) -> Exit {
        let too_full = document.failures.iter().filter(|row| row.too_full).count();
        if let (Some(FullLimit(percent)), true) = (self.max_full, too_full > 0) {
            let losses = match too_full {
                1 => "1 loss fills".to_owned(),
                count => format!("{count} losses fill"),
            };
            let message = format!("{losses} a cluster beyond what `--max-full` allows ({percent}%)");
            console.message(|out| headline(out, "error", style::ERROR, &message));
        }
        if self.strict || !self.situation.choosing.quiet {
            report_errors(
                errors,
                self.strict,
                "`divvy diff` without `--without-each` says why",
                console,
            );
        }
        let most = document.failures.iter().map(|row| row.missing).max().unwrap_or(0);
        let verb = ("is newly missing after a loss", "are newly missing after a loss");
        let missing = self
            .max_missing
            .is_some_and(|limit| exceeds("max-missing", limit, (most, asked), verb, console));
        let is_harmful = |row: &FailureRow| match self.max_missing {
            Some(_) => row.lost > 0 || row.newly_unschedulable > 0 || row.newly_in_error > 0,
            None => !row.is_absorbed(),
        };
        let harm = match missing || too_full > 0 || document.failures.iter().any(is_harmful) {
            true => Exit::Unschedulable,
            false => Exit::Success,
        };
        let sides = (&input.prepared.after, &input.right.side, input.options);
        harm.max(exit_of_errors(errors, self.strict, sides))
    }
}

/// Exit code of bindings that are in error without any loss, also of those that are not chosen. That a binding is invalid anyway is not
/// the fault of a loss, and only counts if `strict`. A plugin that fails always counts.
pub(in crate::command) fn exit_of_errors(
    errors: Errors,
    strict: bool,
    (situation, side, options): (&Situation, &ConfiguredProfile, Options),
) -> Exit {
    let Errors { counted, others } = errors;
    if counted + others == 0 {
        return Exit::Success;
    }
    // Losses only count errors, so that these few are decided once more to know them.
    let future = Future::decide(situation, side, options);
    let faults = future.entries.iter().filter_map(|entry| entry.error()).map(fault);
    match (faults.max().unwrap_or_default(), strict) {
        (Exit::Internal, _) => Exit::Internal,
        (_, true) => Exit::Usage,
        (_, false) => Exit::Success,
    }
}

/// Prints how many bindings are in error without any loss.
pub(in crate::command) fn report_errors(errors: Errors, strict: bool, hint: &str, console: &Console) {
    let message = match (errors.counted, errors.others) {
        (0, 0) => return,
        (counted_errors, 0) => format!("{} in error without any loss", counted(counted_errors, "binding")),
        (0, others) => format!("{} in error without any loss, not chosen", counted(others, "binding")),
        (chosen, others) => format!(
            "{} in error without any loss, {others} of them not chosen",
            counted(chosen + others, "binding")
        ),
    };
    console.message(|out| {
        match strict {
            true => headline(out, "error", style::ERROR, &message)?,
            false => headline(out, "warning", style::WARNING, &message)?,
        }
        remark(out, "hint", hint)
    });
}
