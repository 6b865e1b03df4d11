//! `divvy survive`: the single losses that workloads do not survive, and the smallest change with which one does.

use clap::Args;
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::exit::Exit;
use divvy_command::progress::Progress;
use divvy_command::reading::workload_kinds;
use divvy_command::setup::ProfileArguments;
use divvy_command::text::listed;
use divvy_forecast::choice::BindingPattern;
use divvy_forecast::document::{FORMAT, SideDocument};
use divvy_forecast::failures::{Each, Errors};
use divvy_forecast::future::{Explains, Future, Options};
use divvy_forecast::planned::CouldPlace;
use divvy_forecast::rebalance::{could_be_tried, could_place};
use divvy_forecast::survive::document::{Remedy, SurviveDocument, SurviveTotals};
use divvy_forecast::survive::{Loss, Manner, Summary, losses, remedy, summary, survive};

use super::desk::{Answer, Document, Presentation, Question};
use super::diff::{self, Loaded, LossOfEach, Prepared, SituationArguments};
use super::help::{ANSWER, DECIDING, HelpArguments, LIMITS};
use super::output::{Output, OutputParser, binding_names};
use crate::report::sheets;
use crate::report::survive as report;

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
  2  wrong usage, profile, plugin or input; with `--strict`, a binding that is invalid without any loss
  3  a plugin failed, or Divvy itself";

/// Heading of the options that select what is lost.
const LOSSES: &str = "Losses";

/// The end of the short page.
const SUMMARY: &str = "\
Examples:
  divvy survive -f dump/
  divvy survive -f dump/ --loss cluster,region --top 20
  divvy survive -f dump/ --workload shop/deployment/web

Exit codes: 0 everything survives, 1 something does not, 2 wrong usage or input, 3 Divvy failed.
`divvy help survive` has every option in full, more examples, and what it means to survive.";

/// Show which workloads do not survive the loss of a single cluster, region, zone or provider.
///
/// Decides each loss, as `divvy diff --without-each` does. Changes nothing in any cluster.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_long_help = EXAMPLES, after_help = SUMMARY)]
pub(super) struct SurviveArguments {
    #[command(flatten)]
    situation: SituationArguments,
    #[command(flatten, next_help_heading = DECIDING)]
    profile: ProfileArguments,
    /// Sizes of the loss, separated by commas; all by default
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',', help_heading = LOSSES)]
    loss: Vec<LossOfEach>,
    /// Let clusters fail, as `divvy diff --fail` does, instead of removing them; a complete forecast per loss
    #[arg(long, conflicts_with = "workload", help_heading = LOSSES)]
    as_failed: bool,
    /// Find the smallest change of its policy with which this workload survives
    #[arg(long, value_name = "WORKLOAD", conflicts_with_all = ["bindings", "namespace", "selector"], help_heading = LOSSES)]
    workload: Option<BindingPattern>,
    /// Print at most this many workloads, those with the least left first; all count
    #[arg(long, value_name = "N", help_heading = ANSWER)]
    top: Option<usize>,
    /// Exit with 2 if a binding is invalid without any loss, which is not the fault of one
    #[arg(long, help_heading = LIMITS)]
    strict: bool,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_parser = OutputParser::WITH_PAGE_AND_MARKDOWN, default_value = "table", help_heading = ANSWER)]
    output: Output,
    #[command(flatten)]
    _help: HelpArguments,
}

/// The situation whose clusters are lost, and the profile.
pub(super) struct Input {
    prepared: Prepared,
    loaded: Loaded,
    /// Index of the workload that is to survive; `None` for all.
    workload: Option<usize>,
    options: Options,
}

/// What each loss leaves.
#[derive(Default)]
pub(super) struct Survived {
    summed: Summary,
    could_place: Option<CouldPlace>,
    remedy: Option<Remedy>,
}

impl Question for SurviveArguments {
    const COMMAND: &'static str = "survive";
    type Input = Input;
    type Decided = Survived;

    fn check(&self) -> Result<(), Failure> {
        if !self.situation.choosing.shows_clusters() {
            return Ok(());
        }
        let diagnostic = Diagnostic::new("`divvy survive` shows no clusters");
        Err(Failure::usage(
            diagnostic.with_hint("`divvy diff --without NAME --cluster NAME` shows one loss"),
        ))
    }

    fn read(&self, console: &Console) -> Result<Input, Failure> {
        let directories = self.profile.directories()?;
        let chosen = self.profile.read()?;
        let loaded = diff::load(&chosen, None, &directories)?;
        let kinds = workload_kinds(&chosen.configuration);
        let prepared = diff::prepare(&self.situation, &kinds, (&loaded, None), true, console)?;
        let workload = self.workload.as_ref();
        Ok(Input {
            workload: workload.map(|pattern| found(pattern, &prepared)).transpose()?,
            options: self.situation.options(Explains::Nothing),
            prepared,
            loaded,
        })
    }

    fn decide(&self, input: &mut Input, _: &Console) -> Result<Survived, Failure> {
        let (situation, side, options) = (&input.prepared.after, &input.loaded.side, input.options);
        let levels = self.levels();
        let manner = match self.as_failed {
            true => Manner::Failed,
            false => Manner::Gone,
        };
        let losses: Vec<Loss> = losses(situation, &levels);
        let progress = Progress::start("losing each");
        let survival = survive(situation, side, &losses, manner, options);
        let sides = (&losses[..], &levels[..], manner);
        let summed = summary(situation, side, sides, &survival, self.chosen(input).as_deref());
        drop(progress);
        // Decided once more only where something waits.
        let is_small = could_be_tried(situation.bindings.len(), situation.clusters.len());
        let could_place = (is_small && survival.some_wait(situation)).then(|| {
            let _progress = Progress::start("planning");
            could_place(&Future::decide(situation, side, options), side, options)
        });
        let could_place = could_place.flatten();
        let remedy = input.workload.map(|index| {
            let _progress = Progress::start("trying changes");
            remedy(situation, side, index, &losses, options)
        });
        Ok(Survived {
            summed,
            could_place,
            remedy,
        })
    }

    fn answer<'a>(&'a self, input: &'a Input, survived: &'a mut Survived, _: &Console) -> Result<Answer<'a>, Failure> {
        let Survived {
            summed,
            could_place,
            remedy,
        } = std::mem::take(survived);
        let left_out = input.prepared.left_out;
        let all = summed.bindings.len();
        let exit = match summed.bindings.is_empty() && summed.totals.beyond_capacity == 0 {
            true => Exit::Success,
            false => Exit::Unschedulable,
        };
        let errors = Errors {
            counted: summed.totals.errors,
            others: summed.errors_elsewhere,
        };
        let document = self.document(input, summed, (could_place, remedy));
        let options = report::Options {
            is_wide: self.output.is_wide(),
            hidden: all - document.bindings.len(),
        };
        let sides = (&input.prepared.after, &input.loaded.side, input.options);
        let exit_of_errors = diff::exit_of_errors(errors, self.strict, sides);
        Ok(Answer {
            exit: exit.max(exit_of_errors).max(left_out.exit),
            errors: Vec::new(),
            notes: document.notes.clone(),
            document: Document::new(
                &self.output,
                document,
                sheets::survive,
                |document| binding_names(document.bindings.iter().map(|row| (&row.kind, &row.binding))),
                move |document, out, layout| report::write(document, options, out, layout),
            ),
            origin: &input.prepared.origin,
            closing: Box::new(move |console| {
                if self.strict || !self.situation.choosing.quiet {
                    diff::report_errors(errors, self.strict, "`divvy diff` says why", console);
                }
            }),
        })
    }

    fn presentation(&self) -> Presentation<'_> {
        self.situation.presentation(&self.output)
    }
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
    /// The document, with at most as many bindings as requested.
    fn document(
        &self,
        input: &Input,
        mut summed: Summary,
        (could_place, remedy): (Option<CouldPlace>, Option<Remedy>),
    ) -> SurviveDocument {
        summed.bindings.truncate(self.top.unwrap_or(usize::MAX));
        SurviveDocument {
            format: FORMAT,
            after: SideDocument {
                changes: self.situation.changes.texts(),
                ..input.loaded.document.clone()
            },
            assumes: input.options.assumes,
            as_failed: self.as_failed,
            levels: summed.levels,
            bindings: summed.bindings,
            losses: summed.losses,
            totals: SurviveTotals {
                left_out: input.prepared.left_out.objects,
                ..summed.totals
            },
            remedy,
            could_place,
            notes: input.prepared.notes.clone(),
        }
    }

    /// True for each binding that is summed up; `None` for all of them.
    fn chosen(&self, input: &Input) -> Option<Vec<bool>> {
        let bindings = input.prepared.after.bindings.iter();
        match input.workload {
            Some(index) => Some((0..bindings.len()).map(|other| other == index).collect()),
            None if self.situation.choosing.is_partial() => {
                Some(bindings.map(|binding| input.prepared.shown.includes(binding)).collect())
            }
            None => None,
        }
    }

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
