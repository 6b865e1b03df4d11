//! Plugins that are constructed and called. `divvy-loader` finds, checks and opens their libraries.
//!
//! - [`instance`]: a constructed plugin and its calls; every failure is a typed error that names the plugin.
//! - `construct`: how one is constructed. `suspension`: when one is not called because its worker keeps ending.
//! - `services`: services of the host for a plugin: its log, its metrics, texts and failures. `log`: targets of the log. `limits`:
//!   how much of it one call may hand over.
//! - `inputs`: a call's inputs, compared before and after it for an observer that asks for it.

mod call;
mod construct;
pub mod error;
mod inputs;
pub mod instance;
mod limits;
pub(crate) mod log;
mod services;
mod suspension;
mod value;

pub use call::{Call, CallObserver};
pub use divvy_framework_calls::metrics::{BOUNDS, HistogramFigures, MetricFigures, PluginMetrics};
pub use error::{CallError, ConstructError, RefusedRow};
pub use instance::PluginInstance;
pub(crate) use instance::ValueTables;
pub use services::TakeText;
pub use suspension::WORKER_FAILURES_TO_SUSPEND;
pub use value::{BindingValues, KeptValue, PreparedState};
