//! `divvy rebalance --apply`, `--status`, `--abort`: a plan is carried out by the scheduler of a control plane.
//!
//! The plan is the JSON of `divvy rebalance -o json`. Each binding of it is given its target as an annotation, which `divvy run` takes as the
//! target of a move. All that is known of a plan under way is on the bindings, so each of these commands can be repeated.

mod plan;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use divvy_client::annotation::{AnnotationError, Version, annotate};
use divvy_client::listing::list_bindings;
use divvy_client::{Clients, Kind};
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure, headline, remark};
use divvy_command::exit::Exit;
use divvy_command::style;
use divvy_command::time::TimeArguments;
use divvy_karmada::api::{BindingScope, ResourceBinding};
use divvy_scheduler::moves::mark::destination;
use divvy_scheduler::moves::planned::{PLANNED_ANNOTATION, PlannedTarget, counts, give_up};
use serde::Deserialize;

use self::plan::{PlanDocument, PlanRow};
use super::help::ANSWER;
use super::input::InputArguments;

/// Attempts to annotate a binding that changes meanwhile.
const ATTEMPTS: usize = 5;

/// Options that carry a plan out.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("carrying").multiple(false))]
pub(super) struct CarryingArguments {
    /// Give each binding of this plan its target, on the control plane; `divvy run` moves it there
    ///
    /// The plan is what `divvy rebalance -o json` has printed. A binding that has changed since is left out; if more are than `--max-changed`
    /// allows, nothing is written.
    #[arg(long, value_name = "PLAN", group = "carrying", help_heading = ANSWER)]
    apply: Option<PathBuf>,
    /// Show how far this plan has been carried out
    #[arg(long, value_name = "PLAN", group = "carrying", help_heading = ANSWER)]
    status: Option<PathBuf>,
    /// Give this plan up: what has not begun stays, what is on its way goes back, what has arrived stays there
    #[arg(long, value_name = "PLAN", group = "carrying", help_heading = ANSWER)]
    abort: Option<PathBuf>,
    /// Share of the plan's bindings that may have changed since it was made
    #[arg(long, value_name = "P%", default_value = "10%", requires = "apply", value_parser = percent, help_heading = ANSWER)]
    max_changed: u32,
    /// Time after which what has not begun leaves the plan
    #[arg(long = "for", value_name = "TIME", default_value = "24h", value_parser = divvy_command::duration::parse, requires = "carrying", help_heading = ANSWER)]
    lasts: std::time::Duration,
}

/// What to do with a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    Apply,
    Status,
    Abort,
}

/// Where a binding of a plan stands on the control plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    /// It has its target.
    Reached,
    /// It is on its way to its target.
    UnderWay,
    /// It has the annotation, and has not begun.
    Waiting,
    /// It is as the plan found it, without the annotation.
    Untouched,
    /// It has changed.
    Changed,
    /// It is gone.
    Gone,
}

impl Standing {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Reached, "at their target"),
        (Self::UnderWay, "on their way"),
        (Self::Waiting, "waiting to begin"),
        (Self::Untouched, "not in the plan any more, or not yet, and as before"),
        (Self::Changed, "changed since the plan was made"),
        (Self::Gone, "gone"),
    ];
}

impl CarryingArguments {
    fn task(&self) -> Option<(Task, &Path)> {
        let tasks = [
            (Task::Apply, &self.apply),
            (Task::Status, &self.status),
            (Task::Abort, &self.abort),
        ];
        tasks
            .into_iter()
            .find_map(|(task, path)| Some((task, path.as_deref()?)))
    }

    /// True if a plan is carried out, and none is made.
    pub(super) fn is_asked(&self) -> bool {
        self.task().is_some()
    }
}

/// Carries a plan out, shows how far it is, or gives it up.
pub(super) fn run(
    arguments: &CarryingArguments,
    (input, time): (&InputArguments, &TimeArguments),
    console: &Console,
) -> Result<Exit, Failure> {
    let Some((task, path)) = arguments.task() else {
        return Ok(Exit::Success);
    };
    let (plan, name) = PlanDocument::read(path)?;
    let until = i64::try_from(arguments.lasts.as_millis()).unwrap_or(i64::MAX);
    let until = time.milliseconds().saturating_add(until);
    let asked = input.ask(async |clients| {
        let mut bindings = present(&clients).await?;
        match task {
            Task::Status => {}
            Task::Apply => {
                refuse_changed(&plan, &bindings, arguments.max_changed)?;
                apply(&clients, (&plan, &name), until, &mut bindings, console).await?;
            }
            Task::Abort => abort(&clients, (&plan, &name), until, &mut bindings, console).await?,
        }
        Ok(bindings)
    })?;
    let Some(bindings) = asked else {
        let diagnostic = Diagnostic::new("a plan is carried out on a control plane, and none is named");
        return Err(Failure::usage(diagnostic.with_hint("name it with `--kubeconfig`")));
    };
    let standings = standings(&plan, &name, &bindings);
    console.print(|out| {
        writeln!(out, "plan {name}: {} bindings", standings.len())?;
        for (standing, text) in Standing::ALL {
            let count = standings.iter().filter(|(_, found)| *found == standing).count();
            if count > 0 {
                writeln!(out, "{count:>8}  {text}")?;
            }
        }
        Ok(())
    })?;
    let is_done = standings.iter().all(|(_, standing)| *standing == Standing::Reached);
    Ok(match task == Task::Status && !is_done {
        true => Exit::Unschedulable,
        false => Exit::Success,
    })
}

type Bindings = BTreeMap<(String, String), ResourceBinding>;

/// The bindings of the control plane, by kind and key.
async fn present(clients: &Clients) -> Result<Bindings, Failure> {
    #[derive(Deserialize)]
    struct List {
        items: Vec<ResourceBinding>,
    }
    let lists = list_bindings(clients).await;
    let lists = lists.map_err(|error| Failure::usage(Diagnostic::new(error.to_string()).with_causes_of(&error)))?;
    let mut bindings = Bindings::new();
    for (name, text) in lists {
        let list: List = serde_json::from_str(&text).map_err(|error| {
            Failure::usage(Diagnostic::new(format!("{name} cannot be read")).with_cause(error.to_string()))
        })?;
        let keyed = list.items.into_iter().map(|binding| {
            let metadata = &binding.metadata;
            let key = match metadata.namespace.as_str() {
                "" => metadata.name.clone(),
                namespace => format!("{namespace}/{}", metadata.name),
            };
            ((binding.kind.clone(), key), binding)
        });
        bindings.extend(keyed);
    }
    Ok(bindings)
}

impl PlanRow {
    fn find<'a>(&self, bindings: &'a Bindings) -> Option<&'a ResourceBinding> {
        bindings.get(&(self.kind.clone(), self.binding.clone()))
    }

    /// The result before the plan and the target, if the binding still is as the plan found it.
    fn target(&self, binding: &ResourceBinding) -> Option<(BTreeMap<String, i64>, BTreeMap<String, i64>)> {
        let from = counts(&binding.spec.clusters);
        let mut target = from.clone();
        for cluster in &self.clusters {
            if from.get(&cluster.name).copied().unwrap_or(0) != cluster.before {
                return None;
            }
            target.insert(cluster.name.clone(), cluster.after);
        }
        target.retain(|_, replicas| *replicas > 0);
        (binding.metadata.generation == self.generation).then_some((from, target))
    }

    /// True if the clusters of the plan have the replicas that it gives them.
    fn is_reached(&self, result: &BTreeMap<String, i64>) -> bool {
        let mut clusters = self.clusters.iter();
        clusters.all(|cluster| result.get(&cluster.name).copied().unwrap_or(0) == cluster.after)
    }

    fn standing(&self, plan: &str, bindings: &Bindings) -> Standing {
        let Some(binding) = self.find(bindings) else {
            return Standing::Gone;
        };
        if let Some(on_its_way) = destination(binding) {
            return match self.is_reached(&on_its_way) {
                true => Standing::UnderWay,
                false => Standing::Changed,
            };
        }
        let is_planned = PlannedTarget::of(binding, plan).is_some();
        match (self.target(binding).is_some(), is_planned) {
            _ if self.is_reached(&counts(&binding.spec.clusters)) => Standing::Reached,
            (true, true) => Standing::Waiting,
            (true, false) => Standing::Untouched,
            (false, _) => Standing::Changed,
        }
    }
}

fn standings<'a>(plan: &'a PlanDocument, name: &str, bindings: &Bindings) -> Vec<(&'a PlanRow, Standing)> {
    plan.rows().map(|row| (row, row.standing(name, bindings))).collect()
}

/// Refuses a plan of which too many bindings have changed.
fn refuse_changed(plan: &PlanDocument, bindings: &Bindings, most: u32) -> Result<(), Failure> {
    let all = plan.rows().count();
    let changed: Vec<&PlanRow> = plan
        .rows()
        .filter(|row| {
            let binding = row.find(bindings);
            binding
                .is_none_or(|binding| row.target(binding).is_none() && !row.is_reached(&counts(&binding.spec.clusters)))
        })
        .collect();
    if changed.len() * 100 <= all * most as usize {
        return Ok(());
    }
    let first: Vec<&str> = changed.iter().take(3).map(|row| row.binding.as_str()).collect();
    let message = format!(
        "{} of the plan's {all} bindings have changed since it was made, more than {most}%, such as {}",
        changed.len(),
        first.join(", ")
    );
    Err(Failure::usage(Diagnostic::new(message).with_hint(
        "make the plan again from the control plane as it is, or allow more with `--max-changed`",
    )))
}

/// Gives each binding that is as the plan found it its target.
async fn apply(
    clients: &Clients,
    (plan, name): (&PlanDocument, &str),
    until: i64,
    bindings: &mut Bindings,
    console: &Console,
) -> Result<(), Failure> {
    let work = |row: &PlanRow, binding: &ResourceBinding| {
        let (from, target) = row.target(binding)?;
        if row.is_reached(&from) || PlannedTarget::of(binding, name).is_some() {
            return None;
        }
        let planned = PlannedTarget::new(name.to_owned(), row.generation, from, target, until);
        planned.write().ok().map(Some)
    };
    annotate_all(clients, plan, bindings, work, console).await
}

/// Takes the targets of what has not begun away, and turns round what is on its way.
async fn abort(
    clients: &Clients,
    (plan, name): (&PlanDocument, &str),
    until: i64,
    bindings: &mut Bindings,
    console: &Console,
) -> Result<(), Failure> {
    let work = |_: &PlanRow, binding: &ResourceBinding| match give_up(binding, name, until)? {
        None => Some(None),
        Some(back) => back.write().ok().map(Some),
    };
    annotate_all(clients, plan, bindings, work, console).await
}

/// Annotates each binding of the plan for which `work` returns what to write, or to remove. One that changes meanwhile is read again.
async fn annotate_all(
    clients: &Clients,
    plan: &PlanDocument,
    bindings: &mut Bindings,
    work: impl Fn(&PlanRow, &ResourceBinding) -> Option<Option<String>>,
    console: &Console,
) -> Result<(), Failure> {
    for attempt in 1..=ATTEMPTS {
        let mut changed = Vec::new();
        for row in plan.rows() {
            let Some(binding) = row.find(bindings) else { continue };
            let Some(text) = work(row, binding) else { continue };
            let kind = match row.kind == BindingScope::Namespaced.kind() {
                true => Kind::Binding,
                false => Kind::ClusterBinding,
            };
            let metadata = &binding.metadata;
            let version = Version {
                kind,
                namespace: &metadata.namespace,
                name: &metadata.name,
                uid: &metadata.uid,
                resource_version: &metadata.resource_version,
            };
            match annotate(clients, &version, (PLANNED_ANNOTATION, text.as_deref())).await {
                Ok(()) | Err(AnnotationError::Gone) => {}
                Err(AnnotationError::Changed) if attempt < ATTEMPTS => changed.push(&row.binding),
                Err(error @ AnnotationError::Changed) => console.message(|out| {
                    headline(out, "warning", style::WARNING, &format!("{} is left out", row.binding))?;
                    remark(out, "cause", &error.to_string())
                }),
                Err(error) => {
                    let diagnostic = Diagnostic::new(format!("{} `{}` cannot be annotated", row.kind, row.binding));
                    let diagnostic = diagnostic.with_cause(error.to_string());
                    return Err(Failure::usage(diagnostic.with_hint(
                        "run the command again: what was written stays, and is not written twice",
                    )));
                }
            }
        }
        *bindings = present(clients).await?;
        if changed.is_empty() {
            break;
        }
    }
    Ok(())
}

/// A share such as `10%`.
fn percent(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('%').and_then(|number| number.parse::<u32>().ok());
    number
        .filter(|number| *number <= 100)
        .ok_or_else(|| "expected a share from `0%` to `100%`".to_owned())
}
