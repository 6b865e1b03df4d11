//! Configuration of the plugin.

use divvy_framework::prelude::Configuration;

/// Configuration of the plugin in a profile.
#[derive(Debug, Clone, Configuration)]
#[serde(default)]
pub(crate) struct CheapestConfiguration {
    /// Name of the resource that counts GPUs, for the column `gpu-hour`.
    pub(crate) gpu_resource: String,
}

impl Default for CheapestConfiguration {
    fn default() -> Self {
        Self {
            gpu_resource: "nvidia.com/gpu".to_owned(),
        }
    }
}
