//! `divvy diff`: what moves if clusters, workloads, policies or the profile change.

mod arguments;
mod comparison;
mod limits;
mod losses;
mod overlaid;
mod prepare;

use std::collections::{BTreeMap, BTreeSet};
use std::mem::ManuallyDrop;

use arguments::SumOf;
pub(super) use arguments::{DiffArguments, LossOfEach, SituationArguments};
use comparison::{Compared, Futures, Page, hide, policies, shorten, sum_up};
use divvy_forecast::document::Document as Difference;
use divvy_forecast::failures::{Each, Failures};
use divvy_forecast::future::{Explains, Options};
use divvy_scheduler::cycle::CycleError;
pub(super) use losses::{exit_of_errors, report_errors};
pub(super) use overlaid::Overlays;
pub(super) use prepare::{Loaded, Prepared, load, prepare};

use super::desk::{Answer, Document, Presentation, Question};
use super::output::{binding_names, cluster_names};
use super::reasons;
use crate::report::binding_errors::BindingError;
use crate::report::format::Printed;
use crate::report::{cluster_views, forecast as report, page};
use divvy_command::console::Console;
use divvy_command::errors::Failure;
use divvy_command::exit::Exit;
use divvy_command::reading::workload_kinds;

/// The situations of both sides, and the profiles that decide them.
pub(super) struct Input {
    /// Never freed: the process is about to end, and freeing millions of small objects takes as long as comparing them.
    prepared: ManuallyDrop<Prepared>,
    right: Loaded,
    /// The left side, if it has another profile.
    other: Option<Loaded>,
    options: Options,
    /// Clusters to show; empty for all.
    clusters: Vec<String>,
}

impl Input {
    /// The left side.
    fn left(&self) -> &Loaded {
        self.other.as_ref().unwrap_or(&self.right)
    }

    /// True if the left side is decided: it differs from the right side.
    fn has_base(&self) -> bool {
        self.other.is_some() || !self.right.document.changes.is_empty()
    }
}

/// What is decided.
pub(super) enum Decided {
    /// The loss of each cluster, region, zone or provider.
    Losses(Each, Failures),
    /// Both sides. Never freed, as the input.
    Futures(ManuallyDrop<Futures>),
}

impl Question for DiffArguments {
    const COMMAND: &'static str = "diff";
    type Input = Input;
    type Decided = Decided;

    fn read(&self, console: &Console) -> Result<Input, Failure> {
        let directories = self.profile.directories()?;
        let without_plugins = self.profile.without_plugins();
        let plain = without_plugins.read()?;
        let chosen = self.profile.with_plugins(plain.clone())?;
        let mut right = load(&chosen, self.strategy.as_deref(), &directories)?;
        // Additional plugins are a change of the right side.
        let other = match &self.base {
            Some(base) => Some(load(&without_plugins.with_profile(base).read()?, None, &directories)?),
            None if self.profile.plugins().is_empty() => None,
            None => Some(load(&plain, None, &directories)?),
        };
        let kinds = workload_kinds(&chosen.configuration);
        let prepared = prepare(&self.situation, &kinds, (&right, other.as_ref()), true, console)?;
        right.document.changes = self.changes();
        let after = prepared.after.clusters.values();
        let clusters = after.chain(prepared.original.clusters.values());
        let clusters = self.situation.choosing.clusters(clusters.map(|entry| &entry.object))?;
        Ok(Input {
            clusters: clusters.into_iter().map(str::to_owned).collect(),
            options: self.situation.options(explains(self, &prepared, console)),
            prepared: ManuallyDrop::new(prepared),
            right,
            other,
        })
    }

    fn decide(&self, input: &mut Input, _: &Console) -> Result<Decided, Failure> {
        Ok(match self.without_each.map(Each::from) {
            Some(each) => Decided::Losses(each, self.lose_each(each, input)),
            None => Decided::Futures(ManuallyDrop::new(Futures::decide(input))),
        })
    }

    fn answer<'a>(
        &'a self,
        input: &'a Input,
        decided: &'a mut Decided,
        console: &Console,
    ) -> Result<Answer<'a>, Failure> {
        match decided {
            Decided::Losses(each, Failures { rows, errors }) => {
                Ok(self.answer_losses(*each, (std::mem::take(rows), *errors), input, console))
            }
            Decided::Futures(futures) => self.answer_difference(futures, input, console),
        }
    }

    fn presentation(&self) -> Presentation<'_> {
        self.situation.presentation(&self.output)
    }
}

impl DiffArguments {
    /// Both futures as a document: the whole of it determines the exit code, and what is shown of it is printed.
    fn answer_difference<'a>(
        &'a self,
        futures: &Futures,
        input: &'a Input,
        console: &Console,
    ) -> Result<Answer<'a>, Failure> {
        let mut compared = futures.compare(self, input)?;
        let exit = self.exit(&compared.document, console);
        let document = &mut compared.document;
        let hidden = hide(&input.prepared.shown, document);
        let policies = match self.sum {
            Some(SumOf::Policy) => policies(&input.prepared),
            _ => BTreeMap::new(),
        };
        sum_up(self, &policies, document);
        let options = report::Options {
            is_wide: self.output.is_wide(),
            hidden,
            beyond_top: shorten(self, document),
        };
        Ok(Answer {
            exit: exit.max(futures.fault(self.strict)).max(input.prepared.left_out.exit),
            errors: self.errors_beside(futures.errors(self.strict), document),
            notes: document.notes.clone(),
            document: present(compared, options, &input.clusters),
            origin: &input.prepared.origin,
            closing: Box::new(|_| ()),
        })
    }

    /// The errors that the document does not show beside their bindings.
    fn errors_beside(&self, mut errors: Vec<BindingError>, document: &Difference) -> Vec<BindingError> {
        let choosing = &self.situation.choosing;
        let shows_errors = self.output.shows_errors() && !choosing.quiet && !choosing.shows_clusters();
        if shows_errors {
            let shown = document.bindings.iter().filter(|row| row.result == "Error");
            let shown: BTreeSet<(&str, &str)> = shown.map(|row| (row.binding.as_str(), row.message.as_str())).collect();
            errors.retain(|error| !shown.contains(&(error.binding.as_str(), error.message.as_str())));
        }
        errors
    }
}

/// A page, the views of clusters, or the changes of bindings.
fn present<'a>(compared: Compared, options: report::Options, clusters: &[String]) -> Document<'a> {
    let Compared { document, views, page } = compared;
    if let Some(Page {
        bindings,
        hidden,
        explanations,
    }) = page
    {
        let mut content = page::difference(&document, bindings, hidden, explanations);
        if !clusters.is_empty() {
            content.retain_clusters(&clusters.iter().map(String::as_str).collect::<Vec<_>>());
        }
        return content.into();
    }
    match views {
        Some(views) => Document::Content(Box::new(Printed::new(views, cluster_names, cluster_views::write))),
        None => Document::Content(Box::new(Printed::new(
            document,
            |document| {
                let rows = document.bindings.iter().filter(|row| report::is_shown(row));
                binding_names(rows.map(|row| (&row.kind, &row.binding)))
            },
            move |document, out, layout| report::write(document, options, out, layout),
        ))),
    }
}

/// The decisions to explain: all that are printed, as far as they fit into memory.
fn explains(arguments: &DiffArguments, prepared: &Prepared, console: &Console) -> Explains {
    let after = &prepared.after;
    let is_small = page::explains_everything(after.bindings.len(), after.clusters.len());
    match arguments.output.is_page() {
        _ if reasons::gives_reasons(console) => Explains::Everything,
        true if is_small => Explains::Everything,
        true => Explains::Assigned,
        false if arguments.situation.choosing.shows_clusters() => Explains::Everything,
        false => Explains::Nothing,
    }
}

/// Exit code of an error in a single binding. A binding that cannot be scheduled is counted elsewhere.
pub(super) fn fault(error: &CycleError) -> Exit {
    match error {
        error if error.is_input_fault() => Exit::Usage,
        error if error.is_plugin_fault() || error.is_defect() => Exit::Internal,
        _ => Exit::Success,
    }
}
