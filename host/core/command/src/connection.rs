//! Arguments that select a control plane.

use std::path::PathBuf;

use clap::Args;

/// Help heading of the arguments.
const CONTROL_PLANE: &str = "Control plane";

/// Arguments that select a control plane.
#[derive(Debug, Clone, Args)]
#[group(id = "control plane", multiple = true)]
pub struct ConnectionArguments {
    /// Kubeconfig file of Karmada's API server
    #[arg(long, value_name = "FILE", help_heading = CONTROL_PLANE)]
    pub kubeconfig: Option<PathBuf>,
    /// Context of the kubeconfig, instead of its current one
    #[arg(long, value_name = "NAME", help_heading = CONTROL_PLANE)]
    pub context: Option<String>,
}

impl ConnectionArguments {
    /// True if a control plane is named.
    pub fn is_given(&self) -> bool {
        self.kubeconfig.is_some() || self.context.is_some()
    }
}
