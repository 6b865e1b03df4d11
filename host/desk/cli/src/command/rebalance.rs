//! `divvy rebalance`: the fewest moves that place everything that waits.

use clap::Args;
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::exit::Exit;
use divvy_command::progress::Progress;
use divvy_command::reading::workload_kinds;
use divvy_command::setup::ProfileArguments;
use divvy_forecast::document::{FORMAT, SideDocument};
use divvy_forecast::future::{Explains, Future, Options};
use divvy_forecast::planned::Rebalanced;
use divvy_forecast::rebalance::document::RebalanceDocument;
use divvy_forecast::rebalance::{Goal, RebalanceError, Share, Wish, rebalance};

use super::carry_out::{self, CarryingArguments};
use super::desk::{self, Answer, Document, Presentation, Question};
use super::diff::{self, Loaded, Prepared, SituationArguments};
use super::help::{ANSWER, DECIDING, HelpArguments};
use super::output::{Output, OutputParser, binding_names};
use crate::report::binding_errors::BindingError;
use crate::report::{rebalance as report, sheets};

const EXAMPLES: &str = "\
Examples:
  # What waits, and the fewest moves that place it
  divvy rebalance -f dump/

  # The same if a cluster is drained
  divvy rebalance -f dump/ --drain eu-1

  # On a control plane: make a plan, carry it out, and see how far it is
  divvy rebalance --kubeconfig karmada.config -o json > plan.json
  divvy rebalance --kubeconfig karmada.config --apply plan.json
  divvy rebalance --kubeconfig karmada.config --status plan.json

  # What the first five moves place, and what each number of moves places
  divvy rebalance -f dump/ --at-most 5
  divvy rebalance -f dump/ --curve

  # The fewest moves whose cost is within 2% of the least, by the prices of the profile
  divvy rebalance -f dump/ --profile prices.toml --within 2%

  # As a page for a browser, or for programs
  divvy rebalance -f dump/ -o html > plan.html
  divvy rebalance -f dump/ -o json

A scheduler decides one workload after another: what came first keeps room that only later ones could use. Here, all workloads \
are planned together. What runs keeps all its replicas, and every part of the plan is decided by the workload's own plugins; what \
these refuse stays as it is. Workloads that run to an end, and those whose strategy does not divide by room, stay as well.

`--apply` gives each binding of a plan its target as an annotation. `divvy run` with `[profile.moves]` moves it there in steps, under \
the budgets and hours of its profile; what waits is placed once its room is free. A binding that has changed since leaves the plan, with an \
event. Only the right to patch bindings is needed, and any of these commands may be repeated. `--status` ends with 0 once every binding of \
the plan is at its target.

MOVES are replicas that leave their cluster. \"At least\" is a bound that holds for any plan: on the moves of those that place the \
same workloads, and on the number of workloads that wait.

With `--at-most`, as many workloads of the highest priority as possible are placed, then of the next, within that number of moves. With \
`--within`, all that can be placed is, and the plan has the fewest moves that were found whose cost for an hour is within that share of \
the least. `--curve` makes such plans for several numbers of moves up to those that place everything, and with prices for lower costs.

Exit codes, the highest that applies:
  0  nothing waits, or the plan places all of it
  1  something waits that the plan does not place
  2  wrong usage, profile, plugin or input, or an invalid binding
  3  a plugin failed, or Divvy itself";

/// The end of the short page.
const SUMMARY: &str = "\
Examples:
  divvy rebalance -f dump/
  divvy rebalance -f dump/ --drain eu-1 -o html > plan.html

Exit codes: 0 all that waits is placed, 1 something is not, 2 wrong usage, input or binding, 3 Divvy failed.
`divvy help rebalance` has every option in full, and what is planned.";

/// Plan the fewest moves that place every workload that waits for room.
///
/// Decides everything as `divvy diff` does, then plans all workloads together. Changes nothing in any cluster.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_long_help = EXAMPLES, after_help = SUMMARY)]
pub(super) struct RebalanceArguments {
    #[command(flatten)]
    situation: SituationArguments,
    #[command(flatten, next_help_heading = DECIDING)]
    profile: ProfileArguments,
    /// Place all that waits, with the fewest moves: what is planned if nothing else is asked for
    #[arg(long, help_heading = ANSWER)]
    place: bool,
    /// Move at most this many replicas, and place the highest priorities first
    #[arg(long, value_name = "N", help_heading = ANSWER)]
    at_most: Option<u64>,
    /// Move so that the cost is within this share of the least, such as `2%`; needs `[profile.cost]`
    #[arg(long, value_name = "P%", conflicts_with = "at_most", help_heading = ANSWER)]
    within: Option<Share>,
    /// Show what more and more moves gain
    #[arg(long, help_heading = ANSWER)]
    curve: bool,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_parser = OutputParser::WITH_PAGE_AND_MARKDOWN, default_value = "table", help_heading = ANSWER)]
    output: Output,
    #[command(flatten)]
    carrying: CarryingArguments,
    #[command(flatten)]
    _help: HelpArguments,
}

/// Makes a plan, or carries one out.
pub(super) fn run(arguments: &RebalanceArguments, console: &Console) -> Result<Exit, Failure> {
    match arguments.carrying.is_asked() {
        true => carry_out::run(
            &arguments.carrying,
            (&arguments.situation.input, &arguments.situation.time),
            console,
        ),
        false => desk::ask(arguments, console),
    }
}

/// The situation whose workloads are planned, and the profile.
pub(super) struct Input {
    prepared: Prepared,
    loaded: Loaded,
    options: Options,
}

/// Everything as a live scheduler would leave it, and the plan from there.
pub(super) struct Planned {
    future: Future,
    rebalanced: Rebalanced,
}

impl Question for RebalanceArguments {
    const COMMAND: &'static str = "rebalance";
    type Input = Input;
    type Decided = Planned;

    fn check(&self) -> Result<(), Failure> {
        if self.situation.choosing.shows_clusters() {
            let diagnostic = Diagnostic::new("`divvy rebalance` shows no clusters");
            return Err(Failure::usage(
                diagnostic.with_hint("`-o json` has the clusters of every move"),
            ));
        }
        if self.situation.no_assume {
            let diagnostic = Diagnostic::new("`divvy rebalance` counts the room that every result takes");
            return Err(Failure::usage(diagnostic.with_hint("leave `--no-assume` out")));
        }
        Ok(())
    }

    fn read(&self, console: &Console) -> Result<Input, Failure> {
        let directories = self.profile.directories()?;
        let chosen = self.profile.read()?;
        let loaded = diff::load(&chosen, None, &directories)?;
        let kinds = workload_kinds(&chosen.configuration);
        let prepared = diff::prepare(&self.situation, &kinds, (&loaded, None), true, console)?;
        Ok(Input {
            options: self.situation.options(Explains::Nothing),
            prepared,
            loaded,
        })
    }

    fn decide(&self, input: &mut Input, _: &Console) -> Result<Planned, Failure> {
        let side = &input.loaded.side;
        let future = {
            let _progress = Progress::start("deciding");
            Future::decide(&input.prepared.after, side, input.options)
        };
        let _progress = Progress::start("planning");
        let wish = Wish {
            goal: self.goal(),
            has_curve: self.curve,
            situation: &input.prepared.after,
        };
        let rebalanced = rebalance(&future, side, input.options, wish).map_err(refused)?;
        Ok(Planned { future, rebalanced })
    }

    fn answer<'a>(&'a self, input: &'a Input, planned: &'a mut Planned, _: &Console) -> Result<Answer<'a>, Failure> {
        let faults = || {
            planned
                .future
                .entries
                .iter()
                .filter_map(|entry| Some((entry, entry.error()?)))
        };
        let faults = faults().filter(|(_, error)| diff::fault(error) > Exit::Success);
        let errors: Vec<BindingError> = faults
            .map(|(entry, error)| BindingError::of(&entry.binding, error))
            .collect();
        let of_errors = planned
            .future
            .entries
            .iter()
            .filter_map(|entry| entry.error())
            .map(diff::fault)
            .max();
        let totals = planned.rebalanced.totals;
        let exit = match totals.placed == totals.waiting {
            true => Exit::Success,
            false => Exit::Unschedulable,
        };
        let document = self.document(input, std::mem::take(&mut planned.rebalanced));
        Ok(Answer {
            exit: exit
                .max(of_errors.unwrap_or_default())
                .max(input.prepared.left_out.exit),
            errors,
            notes: document.notes.clone(),
            document: Document::new(
                &self.output,
                document,
                sheets::rebalance,
                |document| {
                    let placed = document.rebalanced.waiting.iter().filter(|row| row.is_placed);
                    let placed = placed.map(|row| (&row.kind, &row.binding));
                    let moved = document.rebalanced.moves.iter().map(|row| (&row.kind, &row.binding));
                    binding_names(placed.chain(moved))
                },
                report::write,
            ),
            origin: &input.prepared.origin,
            closing: Box::new(|_| ()),
        })
    }

    fn presentation(&self) -> Presentation<'_> {
        self.situation.presentation(&self.output)
    }
}

/// Why nothing is planned.
fn refused(error: RebalanceError) -> Failure {
    Failure::usage(Diagnostic::new(error.to_string()).with_hint(error.hint()))
}

impl RebalanceArguments {
    /// What is planned for.
    fn goal(&self) -> Goal {
        match (self.at_most, self.within) {
            (Some(most), _) => Goal::AtMost(most),
            (None, Some(share)) => Goal::Within(share),
            (None, None) => Goal::Place,
        }
    }

    /// The document, with the chosen bindings alone; the sums are those of all.
    fn document(&self, input: &Input, mut rebalanced: Rebalanced) -> RebalanceDocument {
        if self.situation.choosing.is_partial() {
            rebalanced.retain(|binding, kind| input.prepared.shown.includes_key(binding, kind));
        }
        rebalanced.totals.left_out = input.prepared.left_out.objects;
        RebalanceDocument {
            format: FORMAT,
            after: SideDocument {
                changes: self.situation.changes.texts(),
                ..input.loaded.document.clone()
            },
            assumes: input.options.assumes,
            rebalanced,
            notes: input.prepared.notes.clone(),
        }
    }
}
