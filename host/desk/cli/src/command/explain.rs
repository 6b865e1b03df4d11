//! `divvy explain`: the newest decision about a binding, from the running scheduler.

use std::net::SocketAddr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use divvy_client::explanation::Answer;
use divvy_client::request::Response;
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::exit::Exit;
use serde_json::Value;

use crate::report::account;

/// Time for the scheduler's answer.
const DEADLINE: Duration = Duration::from_secs(5);

const EXAMPLES: &str = "\
Examples:
  divvy explain default/web-deployment
  divvy explain -n default web-deployment -o json

  # A ClusterResourceBinding
  divvy explain --cluster-scoped admin-clusterrole

  # A scheduler in a pod
  kubectl -n karmada-system port-forward deploy/divvy 10351 &
  divvy explain default/web-deployment";

/// Print how many replicas each cluster got and why, from the running scheduler.
///
/// The scheduler remembers its newest decision about each binding, within a limit on memory.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, after_help = "See `--help` for examples.")]
pub(super) struct ExplainArguments {
    /// Name of the binding, or `NAMESPACE/NAME`
    #[arg(value_name = "BINDING")]
    binding: String,
    /// Namespace of the binding
    #[arg(long, short, value_name = "NAMESPACE", default_value = "default")]
    namespace: String,
    /// The binding is a ClusterResourceBinding
    #[arg(long)]
    cluster_scoped: bool,
    /// Address of the scheduler: its `--listen`
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:10351")]
    address: SocketAddr,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    output: Format,
}

/// Output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// The scheduler's answer, unchanged
    Json,
}

/// Asks the scheduler and prints its answer. A scheduler that does not answer, or does not know the binding, ends the
/// command with exit code 2.
pub(super) fn run(arguments: &ExplainArguments, console: &Console) -> Result<Exit, Failure> {
    let (namespace, name) = match arguments.binding.split_once('/') {
        Some((namespace, name)) => (namespace, name),
        None => (arguments.namespace.as_str(), arguments.binding.as_str()),
    };
    let path = match arguments.cluster_scoped {
        true => format!("/explain/clusterresourcebinding/{name}"),
        false => format!("/explain/resourcebinding/{namespace}/{name}"),
    };
    let body = get(arguments.address, &path)?;
    match arguments.output {
        // Unchanged, because a newer scheduler may add fields.
        Format::Json => {
            let answer: Value = serde_json::from_slice(&body).map_err(|error| unreadable(&error, arguments.address))?;
            console.print(|out| {
                serde_json::to_writer_pretty(&mut *out, &answer)?;
                writeln!(out)
            })?;
        }
        Format::Text => {
            let answer = Answer::read(&body).map_err(|error| unreadable(&error, arguments.address))?;
            console.print(|out| account::write(&answer, console.width(), out))?;
        }
    }
    Ok(Exit::Success)
}

fn unreadable(error: &serde_json::Error, address: SocketAddr) -> Failure {
    let message = format!("the answer of {address} is not an explanation");
    let hint = "the scheduler may be of another version";
    Failure::usage(Diagnostic::new(message).with_hint(hint).with_cause(error.to_string()))
}

fn get(address: SocketAddr, path: &str) -> Result<Vec<u8>, Failure> {
    let response = divvy_client::request::get(address, path, DEADLINE);
    answered(response.map_err(|error| no_answer(address, error.to_string()))?)
}

/// The failure of a scheduler that cannot be reached.
pub(super) fn no_answer(address: SocketAddr, cause: String) -> Failure {
    let message = format!("the scheduler at {address} does not answer");
    let hint = "`--address` names another; a scheduler in a pod is reached by `kubectl port-forward`";
    Failure::usage(Diagnostic::new(message).with_hint(hint).with_cause(cause))
}

/// The body of a response with status 200. The text of any other response is the failure.
pub(super) fn answered(response: Response) -> Result<Vec<u8>, Failure> {
    match response.status {
        200 => Ok(response.body),
        _ => {
            let text = String::from_utf8_lossy(&response.body);
            Err(Failure::usage(Diagnostic::new(text.trim().to_owned())))
        }
    }
}
