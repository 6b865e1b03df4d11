//! The SDK with which Divvy plugins are written.
//!
//! TODO-DOC

#[cfg(panic = "abort")]
compile_error!(
    "a Divvy plugin cannot be built with `panic = \"abort\"`: its panics are caught at the boundary and reported as errors \
     of the plugin, which needs unwinding; remove `panic = \"abort\"` from the profile in Cargo.toml"
);

// The derives write `::divvy_framework::…`, in this crate's own tests too.
extern crate self as divvy_framework;

pub mod assign;
pub mod binding;
pub mod clusters;
pub mod configuration;
pub mod cycle;
pub mod division;
#[doc(hidden)]
pub mod driver;
#[doc(hidden)]
pub mod export;
pub mod filter;
mod logging;
pub mod plugin;
pub mod random;
pub mod reuse;
pub mod score;
pub mod select;
pub mod snapshot;
#[cfg(any(test, doc, feature = "testing"))]
pub mod testing;

#[doc(hidden)]
pub use divvy_framework_abi as abi;
pub use tracing;

/// What the derives name.
#[doc(hidden)]
pub mod __private {
    pub use {schemars, serde};
}

/// Everything that a plugin needs by name.
pub mod prelude {
    pub use crate::assign::{AssignContext, AssignPlugin, AssignResult};
    pub use crate::configuration::{Configuration, NoConfiguration, NoPreferences, Preferences};
    pub use crate::filter::{FilterContext, FilterPlugin, FilterResult};
    pub use crate::plugin::{Failure, Needs, Plugin, PrepareContext, Promises, RuleList};
    pub use crate::reuse::with_scratch;
    pub use crate::score::{ScoreContext, ScorePlugin, ScoreResult};
    pub use crate::select::{SelectContext, SelectPlugin, SelectResult};
    pub use divvy_framework_derive::{Configuration, Preferences};
}
