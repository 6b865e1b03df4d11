//! `[profile.cost]`: the table and the columns with which reports count costs.

use serde::{Deserialize, Serialize};

/// Costs in the reports of `divvy schedule`, `diff` and `headroom`: what replicas request, times prices by the hour. Decisions do not
/// depend on it. Keys that a profile does not set are taken from the profile that it extends.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CostConfiguration {
    /// Name of a table of the profile with the prices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// Unit of the prices, such as `"USD"` or `"g CO2"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Column with the price of a CPU for an hour, a decimal with scale 6. If absent, CPUs are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_hour: Option<String>,
    /// Column with the price of a GiB of memory for an hour, a decimal with scale 6. If absent, memory is not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gib_hour: Option<String>,
    /// Column with the price of a GPU for an hour, a decimal with scale 6. If absent, GPUs are not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_hour: Option<String>,
    /// Name of the resource that counts GPUs; `nvidia.com/gpu` if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gpu_resource: Option<String>,
}

impl CostConfiguration {
    /// These settings, with missing ones taken from `base`.
    pub(crate) fn over(self, base: Self) -> Self {
        Self {
            table: self.table.or(base.table),
            unit: self.unit.or(base.unit),
            cpu_hour: self.cpu_hour.or(base.cpu_hour),
            gib_hour: self.gib_hour.or(base.gib_hour),
            gpu_hour: self.gpu_hour.or(base.gpu_hour),
            gpu_resource: self.gpu_resource.or(base.gpu_resource),
        }
    }
}
