//! The input of commands that decide: manifests from files, from standard input, or from a live control plane.

use std::collections::{BTreeSet, HashSet};

use clap::Args;
use divvy_client::listing::{ListedWorkloads, list, list_workloads};
use divvy_client::{Clients, ConnectionOptions, connect};
use divvy_command::connection::ConnectionArguments;
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::exit::Exit;
use divvy_command::reading::{ValidateMode, read_from};
use divvy_karmada::api::TypeMeta;
use divvy_karmada::workloads::WorkloadKinds;
use divvy_manifests::{Input, Manifests, Problem};

use super::help::INPUT;
use super::origin::{Digesting, Origin};

/// Arguments that select the input.
#[derive(Debug, Args)]
pub(super) struct InputArguments {
    /// Manifests: a file, a folder (read recursively), or `-` for standard input; may be repeated
    #[arg(
        short = 'f',
        long = "filename",
        value_name = "PATH",
        required_unless_present_any = ["kubeconfig", "context"],
        help_heading = INPUT
    )]
    inputs: Vec<String>,
    /// Treatment of unknown fields, kinds and `divvy.io/` annotations
    #[arg(long, value_name = "MODE", value_enum, default_value_t = ValidateMode::Auto, help_heading = INPUT)]
    pub(super) validate: ValidateMode,
    /// Leave out objects that cannot be read, and decide everything else; the exit code is then 2
    ///
    /// A binding whose workload cannot be read keeps its own replicas and requests.
    #[arg(long, help_heading = INPUT)]
    keep_going: bool,
    #[command(flatten)]
    connection: ConnectionArguments,
}

/// Objects of the input that are left out.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LeftOut {
    /// Exit code of their problems.
    pub(super) exit: Exit,
    /// Number of objects. A file or document that cannot be read at all counts as one.
    pub(super) objects: usize,
}

/// Number of objects with problems. An object can have several.
fn faulty_objects(problems: &[Problem]) -> usize {
    let objects = problems.iter().filter_map(|problem| {
        let source = problem.source_of.as_ref()?;
        Some((&*source.file, source.document, problem.object.as_ref()))
    });
    let objects: HashSet<_> = objects.collect();
    let files = problems.iter().filter(|problem| problem.source_of.is_none());
    objects.len() + files.count()
}

impl InputArguments {
    /// Reads everything. Problems in files are collected in the manifests; a control plane that cannot be read is an
    /// error.
    pub(super) fn read(&self, kinds: &WorkloadKinds, keep_cluster_json: bool) -> Result<(Manifests, Origin), Failure> {
        let mut origin = Origin::of(&self.inputs, &self.connection);
        let live = self.live_lists()?;
        let files = self.inputs.iter().map(|input| input.as_str().into());
        let inputs: Vec<Input> = files.chain(live).collect();
        let mut standard = Digesting::new(std::io::stdin().lock());
        let manifests = read_from(&inputs, &mut standard, self.validate, kinds, keep_cluster_json);
        origin.add_files(&manifests.files);
        standard
            .into_digest()
            .into_iter()
            .for_each(|digest| origin.add_stream(digest));
        origin.add_texts(&inputs);
        Ok((manifests, origin))
    }

    /// What problems in the input leave out. They end the run, or are only reported if objects with problems are left out.
    pub(super) fn judge(&self, problems: &[Problem], console: &Console) -> Result<LeftOut, Failure> {
        match (problems, self.keep_going) {
            ([], _) => Ok(LeftOut::default()),
            (problems, false) => Err(Failure::input(problems)),
            (problems, true) => {
                let objects = faulty_objects(problems);
                let failure = Failure::left_out(problems, objects);
                console.report(&failure);
                Ok(LeftOut {
                    exit: failure.exit,
                    objects,
                })
            }
        }
    }

    /// The lists of a live control plane, if one is named.
    fn live_lists(&self) -> Result<Vec<Input>, Failure> {
        let lists = self.ask(async |clients| {
            let lists = list(&clients, None).await;
            lists.map_err(|error| Failure::usage(Diagnostic::new(error.to_string()).with_causes_of(&error)))
        })?;
        Ok(lists
            .into_iter()
            .flatten()
            .map(|(name, text)| Input::Text(name.into(), text))
            .collect())
    }

    /// The metadata of the workloads of these kinds on a live control plane; nothing if none is named.
    pub(super) fn live_workloads(
        &self,
        kinds: &BTreeSet<TypeMeta>,
        namespace: Option<&str>,
    ) -> Result<ListedWorkloads, Failure> {
        let listed = self.ask(async |clients| Ok(list_workloads(&clients, kinds, namespace).await))?;
        Ok(listed.unwrap_or_default())
    }

    /// Asks a live control plane; `None` if none is named.
    pub(super) fn ask<T>(
        &self,
        question: impl AsyncFnOnce(Clients) -> Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        let connection = &self.connection;
        if !connection.is_given() {
            return Ok(None);
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| {
            Failure::internal(Diagnostic::new("the runtime cannot be started").with_cause(error.to_string()))
        })?;
        runtime.block_on(async {
            let options = ConnectionOptions::new(connection.kubeconfig.clone(), connection.context.clone(), "read");
            let clients = connect(&options).await.map_err(|error| {
                Failure::usage(Diagnostic {
                    hint: error.hint(),
                    ..Diagnostic::new(error.to_string())
                })
            })?;
            question(clients).await.map(Some)
        })
    }
}
