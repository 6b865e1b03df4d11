//! Forecasts of changes.
//!
//! A change is an edit of the input, so a forecast of it must equal one of the input that was edited by hand.
//!
//! - [`fleets`]: random fleets as manifests. [`edits`]: each change, made by hand in a manifest.
//! - [`equality`]: forecasts against edits, on many fleets; sums per cluster; threads and the order of changes.
//! - [`losses`]: losses of clusters where most bindings are duplicated.
//! - [`rules`]: the bindings that are decided, and the counting of replicas.
//! - [`headroom`]: the largest sizes of bindings, against forecasts.
//! - [`schema`]: the schemas of the documents.

mod edits;
mod equality;
mod fleets;
mod headroom;
mod losses;
mod rules;
pub(crate) mod schema;

use std::num::NonZeroUsize;

use divvy_forecast::change::Changes;
use divvy_forecast::forecast::{Comparison, compare};
use divvy_forecast::future::{Explains, Future, Options};
use divvy_forecast::situation::{ClusterEntry, Situation};
use divvy_profile::ProfileSource;
use divvy_scheduler::profile::ConfiguredProfile;
use serde_json::Value;

use crate::manifests::list;
use crate::scheduling::{Host, detected};

/// The built-in profile as a side.
fn side() -> ConfiguredProfile {
    let configuration = ProfileSource::built_in()
        .profile(None)
        .expect("the built-in profile is valid");
    ConfiguredProfile::new(Host::built_in().shared(), &configuration)
}

/// With a ledger, on this many threads.
fn threads(count: usize) -> Options {
    Options {
        assumes: true,
        explains: Explains::Nothing,
        threads: NonZeroUsize::new(count).expect("at least one thread"),
        time: None,
    }
}

/// The situation that these objects describe.
#[track_caller]
fn situation(objects: &[Value]) -> Situation {
    let (manifests, detected) = detected(&list(objects.to_vec()));
    let clusters = manifests.clusters.into_iter().map(|located| ClusterEntry {
        object: located.object,
        json: None,
    });
    Situation::new(clusters, detected.bindings)
}

/// A situation after changes, which must be possible.
#[track_caller]
fn changed(situation: &Situation, changes: &Changes) -> Situation {
    let resolved = changes.resolve(situation, situation);
    resolved
        .unwrap_or_else(|errors| panic!("{errors:?}"))
        .apply(situation)
        .0
}

/// The comparison of a situation with another that was derived from it.
fn comparison(original: &Situation, after: &Situation, options: Options) -> Comparison {
    let base = Future::decide(original, &side(), options);
    comparison_with(original, &base, after, options)
}

/// As [`comparison`], with the base that is decided already.
fn comparison_with(original: &Situation, base: &Future, after: &Situation, options: Options) -> Comparison {
    let side = side();
    let future = Future::decide(after, &side, options);
    compare(original, Some(base), (after, &future), &side.profile)
}

/// The comparison of a situation without and with changes.
#[track_caller]
fn forecast(objects: &[Value], changes: &Changes) -> Comparison {
    let original = situation(objects);
    let after = changed(&original, changes);
    comparison(&original, &after, threads(1))
}
