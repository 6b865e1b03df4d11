//! `divvy missing-clusters`: clusters that vanished without having been deleted, and the confirmation that they are gone.

use std::net::SocketAddr;
use std::time::Duration;

use clap::Args;
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::exit::Exit;

use super::explain::{answered, no_answer};

/// Path of the list on the scheduler's port.
const PATH: &str = "/missing-clusters";
/// Time for the scheduler's answer. It waits up to five seconds for the thread that decides.
const DEADLINE: Duration = Duration::from_secs(10);

const EXAMPLES: &str = "\
Examples:
  kubectl -n karmada-system port-forward deploy/divvy 10351 &
  divvy missing-clusters
  divvy missing-clusters --confirm m1 --confirm m2

Karmada deletes a cluster in two steps, so that its replicas move away first. A cluster that vanishes without the \
first step was usually lost by mistake. While one is missing, no replicas are taken away from any cluster, until it is \
back, five minutes have passed, or it is confirmed here that the cluster is gone.

Ask the scheduler that holds the lease. It accepts a confirmation only from its own machine or pod, which is where \
`kubectl port-forward` connects from.";

/// List clusters that vanished without having been deleted, or confirm that they are gone.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, after_help = "See `--help` for examples.")]
pub(super) struct MissingClustersArguments {
    /// Confirm that this cluster is gone; may be repeated
    #[arg(long = "confirm", value_name = "CLUSTER")]
    confirmed: Vec<String>,
    /// Address of the scheduler: its `--listen`
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:10351")]
    address: SocketAddr,
}

/// Asks the scheduler, and prints one cluster per line. A scheduler that does not answer, does not decide, or does not
/// miss a cluster, ends the command with exit code 2.
pub(super) fn run(arguments: &MissingClustersArguments, console: &Console) -> Result<Exit, Failure> {
    let address = arguments.address;
    let response = match arguments.confirmed.as_slice() {
        [] => divvy_client::request::get(address, PATH, DEADLINE),
        clusters => {
            let body = serde_json::Value::from(clusters).to_string();
            divvy_client::request::post(address, PATH, &body, DEADLINE)
        }
    };
    let body = answered(response.map_err(|error| no_answer(address, error.to_string()))?)?;
    if !arguments.confirmed.is_empty() {
        return Ok(Exit::Success);
    }
    let clusters: Vec<String> = serde_json::from_slice(&body).map_err(|error| {
        let message = format!("the answer of {address} is not a list of clusters");
        Failure::usage(Diagnostic::new(message).with_cause(error.to_string()))
    })?;
    console.print(|out| clusters.iter().try_for_each(|cluster| writeln!(out, "{cluster}")))?;
    Ok(Exit::Success)
}
