//! `divvy survive`: the single losses that workloads do not survive, and the smallest change with which one does.

use std::io::Write;

use clap::Args;
use divvy_forecast::choice::BindingPattern;
use divvy_forecast::document::{FORMAT, SideDocument};
use divvy_forecast::failures::{Each, Errors};
use divvy_forecast::future::{Explains, Options};
use divvy_forecast::survive::document::{Remedy, SurviveDocument, SurviveTotals};
use divvy_forecast::survive::{Loss, Manner, losses, remedy, summary, survive};

use super::diff::{self, LossOfEach, Prepared, SituationArguments};
use super::input::workload_kinds;
use super::origin::heading;
use super::output::{Output, OutputParser, binding_name, check_destination};
use super::setup::ProfileArguments;
use crate::exit::Exit;
use crate::report::console::Console;
use crate::report::errors::{Diagnostic, Failure};
use crate::report::format::Printed;
use crate::report::progress::Progress;
use crate::report::sheets;
use crate::report::survive as report;
use crate::report::text::listed;

/// Maximum number of bindings that an error names.
const NAMED_MAX: usize = 5;

const EXAMPLES: &str = "\
Examples:
  # Which workloads do not survive the loss of a single cluster, region, zone or provider
  divvy survive -f dump/

  # Only clusters and regions; the twenty worst
  divvy survive -f dump/ --loss cluster,region --top 20

  # What one workload needs to survive
  divvy survive -f dump/ --workload shop/deployment/web

  # In CI: no workload of the shop may hang on one region, also with the changed policies
  divvy survive -f dump/ -n shop --loss region --overlay policies/ -q

  # What Karmada does to failed clusters: tolerations and evictions count
  divvy survive -f dump/ --as-failed

A workload survives a loss if all its replicas are placed again on what is left, under its own policy and with the capacity \
that is left. What is pending, such as a new workload or a changed policy, is done with and without the loss:
  - with a quorum (`divvy.io/quorum`), as many replicas as the quorum requires;
  - under Duplicated, and for a resource without replicas, at least one copy;
  - a workload that the loss does not touch survives it, also one whose decision fails but that keeps all it had.
A workload hangs on one cluster, region, zone or provider if its loss leaves nothing. What is left is what runs while nothing \
else changes: a failed decision keeps the replicas on the other clusters, unless no cluster fits and the profile removes the \
result.

A strategy that ignores capacity places replicas on full clusters. They count as placed, and the column BEYOND and the JSON \
say how many have no room.

`--workload` decides changes of the policy, one at a time: a smaller `minGroups`, a larger `maxGroups`, one more cluster, \
region, zone or provider, a spread constraint, a quorum. Of each kind, it prints the smallest that works: the workload is decided \
under the changed policy, without a loss and with each loss of a cluster that it then runs on.

Exit codes, the highest that applies:
  0  every chosen workload survives each loss, and none needs more than the capacity that is left
  1  some workload does not, or a loss puts replicas beyond the capacity of other clusters
  2  wrong usage, profile, plugin or input, or an invalid binding
  3  a plugin failed, or Divvy itself";

/// Show which workloads do not survive the loss of a single cluster, region, zone or provider.
///
/// Decides each loss, as `divvy diff --without-each` does. Changes nothing in any cluster.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, after_help = "See `--help` for what survives means, examples and exit codes.")]
pub(super) struct SurviveArguments {
    #[command(flatten)]
    situation: SituationArguments,
    #[command(flatten)]
    profile: ProfileArguments,
    /// Sizes of the loss, separated by commas; all by default
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',')]
    loss: Vec<LossOfEach>,
    /// Let clusters fail, as `divvy diff --fail` does, instead of removing them; a complete forecast per loss
    #[arg(long, conflicts_with = "workload")]
    as_failed: bool,
    /// Find the smallest change of its policy with which this workload survives
    #[arg(long, value_name = "WORKLOAD", conflicts_with_all = ["bindings", "namespace", "selector"])]
    workload: Option<BindingPattern>,
    /// Print at most this many workloads, those with the least left first; all count
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_parser = OutputParser::WITH_PAGE_AND_MARKDOWN, default_value = "table")]
    output: Output,
}

/// Reads the manifests, decides each loss and prints what does not survive.
pub(super) fn run(arguments: &SurviveArguments, console: &Console) -> Result<Exit, Failure> {
    check_destination(&arguments.output, "survive", console)?;
    let choosing = &arguments.situation.choosing;
    if choosing.shows_clusters() {
        let diagnostic = Diagnostic::new("`divvy survive` shows no clusters");
        return Err(Failure::usage(
            diagnostic.with_hint("`divvy diff --without NAME --cluster NAME` shows one loss"),
        ));
    }
    let directories = arguments.profile.directories()?;
    let chosen = arguments.profile.read()?;
    let loaded = diff::load(&chosen, None, &directories)?;
    let kinds = workload_kinds(&chosen.configuration);
    let prepared = diff::prepare(&arguments.situation, &kinds, (&loaded, None), true, console)?;
    let index = arguments
        .workload
        .as_ref()
        .map(|pattern| found(pattern, &prepared))
        .transpose()?;
    let options = Options {
        assumes: !arguments.situation.no_assume,
        explains: Explains::Nothing,
        threads: divvy_parallel::threads(),
        time: Some(arguments.situation.time.milliseconds()),
    };
    let levels = arguments.levels();
    let manner = if arguments.as_failed {
        Manner::Failed
    } else {
        Manner::Gone
    };
    let losses: Vec<Loss> = losses(&prepared.after, &levels);
    let progress = Progress::start("losing each");
    let situation = &prepared.after;
    let survival = survive(situation, &loaded.side, &losses, manner, options);
    // Chosen bindings are summed up alone.
    let chosen: Option<Vec<bool>> = match index {
        Some(index) => Some((0..situation.bindings.len()).map(|other| other == index).collect()),
        None if choosing.is_partial() => {
            let bindings = situation.bindings.iter();
            Some(bindings.map(|binding| prepared.shown.includes(binding)).collect())
        }
        None => None,
    };
    let sides = (&losses[..], &levels[..], manner);
    let mut summed = summary(situation, &loaded.side, sides, &survival, chosen.as_deref());
    drop(progress);
    let remedy: Option<Remedy> = index.map(|index| {
        let _progress = Progress::start("trying changes");
        remedy(situation, &loaded.side, index, &losses, options)
    });
    let all = summed.bindings.len();
    let exit = match summed.bindings.is_empty() && summed.totals.beyond_capacity == 0 {
        true => Exit::Success,
        false => Exit::Unschedulable,
    };
    summed.bindings.truncate(arguments.top.unwrap_or(usize::MAX));
    let errors = Errors {
        counted: summed.totals.errors,
        others: summed.errors_elsewhere,
    };
    let hint = "`divvy diff` says why";
    let document = SurviveDocument {
        format: FORMAT,
        after: SideDocument {
            changes: arguments.situation.changes.texts(),
            ..loaded.document.clone()
        },
        assumes: options.assumes,
        as_failed: arguments.as_failed,
        levels: summed.levels,
        bindings: summed.bindings,
        losses: summed.losses,
        totals: SurviveTotals {
            left_out: prepared.left_out.objects,
            ..summed.totals
        },
        remedy,
        notes: prepared.notes.clone(),
    };
    if arguments.output.is_page() {
        if !choosing.quiet {
            let heading = heading(&prepared.origin, &arguments.situation.time)?;
            sheets::print(sheets::survive(&document), heading, console)?;
        }
        return Ok(exit
            .max(diff::exit_of_errors(errors, hint, console))
            .max(prepared.left_out.exit));
    }
    let options = report::Options {
        is_wide: arguments.output.is_wide(),
        hidden: all - document.bindings.len(),
    };
    let content = Printed {
        document: &document,
        names: || {
            let rows = document.bindings.iter();
            rows.map(|row| binding_name(&row.kind, &row.binding)).collect()
        },
        table: |out: &mut dyn Write, layout| report::write(&document, options, out, layout),
    };
    diff::print(&arguments.situation, &arguments.output, console, &content)?;
    diff::print_notes(&arguments.situation, &arguments.output, &document.notes, console);
    Ok(exit
        .max(diff::exit_of_errors(errors, hint, console))
        .max(prepared.left_out.exit))
}

/// The index of the one binding that a pattern means.
fn found(pattern: &BindingPattern, prepared: &Prepared) -> Result<usize, Failure> {
    let bindings = prepared.after.bindings.iter().enumerate();
    let found: Vec<(usize, String)> = bindings
        .filter(|(_, binding)| pattern.includes(binding))
        .map(|(index, binding)| (index, binding.key()))
        .collect();
    match found.as_slice() {
        [(index, _)] => Ok(*index),
        [] => {
            let diagnostic = Diagnostic::new("`--workload` matches no binding");
            Err(Failure::usage(diagnostic.with_hint(
                "write for instance `shop/deployment/web`, or the name of the binding",
            )))
        }
        several => {
            let names = listed(several.iter().map(|(_, key)| key.as_str()), NAMED_MAX);
            let message = format!("`--workload` matches {} bindings: {names}", several.len());
            Err(Failure::usage(Diagnostic::new(message).with_hint("name one of them")))
        }
    }
}

impl SurviveArguments {
    /// The sizes of losses, each once.
    fn levels(&self) -> Vec<Each> {
        let mut levels: Vec<Each> = match self.loss.as_slice() {
            [] => vec![Each::Cluster, Each::Region, Each::Zone, Each::Provider],
            given => given.iter().map(|each| Each::from(*each)).collect(),
        };
        levels.sort_unstable();
        levels.dedup();
        levels
    }
}
