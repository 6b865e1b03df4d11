//! Converts the host's requests to calls of the author's trait, and the results back.

use divvy_framework_abi::call::{AssignCall, CycleView, FilterCall, PrepareCall, ScoreCall, SelectCall, SizePrefixed};
use divvy_framework_abi::object::{HostLog, PluginFailure, PluginObjectBox, Prepared, Request, boxed, failure};
use divvy_framework_abi::{AbiResult, AbiStr, AbiString};

use super::{Dispatch, Exported, panics};
use crate::assign::{AssignContext, AssignPlugin, AssignResult};
use crate::configuration::{Configuration, ValueError};
use crate::cycle::{CallContext, Cycle};
use crate::filter::{FilterContext, FilterPlugin, FilterResult};
use crate::plugin::{Failure, Plugin, PrepareContext};
use crate::score::{ScoreContext, ScorePlugin, ScoreResult};
use crate::select::{SelectContext, SelectPlugin, SelectResult};

/// Reads a request and its cycle, and runs `$body` with both bound to `$call` and `$cycle`.
macro_rules! with_call {
    ($request:expr, $kind:ident, |$call:ident, $cycle:ident| $body:expr) => {{
        // SAFETY: the host makes this request from a `$kind` of its minor version, and keeps what it borrows.
        let $call: $kind<'_> = unsafe { $kind::read($request) };
        let mut storage = None;
        // SAFETY: a call points to a cycle that outlives it, and the host does not write to it meanwhile.
        let view = unsafe { CycleView::view($call.cycle, &mut storage) };
        let $cycle = Cycle::new(view);
        $body
    }};
}

/// The prepared state that the host hands back with a call.
///
/// # Safety
///
/// `address` is that of a `P::Prepared` which this library made in [`prepare`] and which lives for `'a`.
unsafe fn prepared<'a, P: Plugin>(address: *const std::ffi::c_void) -> &'a P::Prepared {
    // SAFETY: the caller's promise.
    unsafe { &*address.cast::<P::Prepared>() }
}

/// The answer to a call without prepared state, which is the host's fault.
fn unprepared() -> AbiResult<(), PluginFailure> {
    AbiResult::RErr(Failure::internal("called before it was prepared").into_abi())
}

fn outcome(result: Result<(), Failure>) -> AbiResult<(), PluginFailure> {
    match result {
        Ok(()) => AbiResult::ROk(()),
        Err(failure) => AbiResult::RErr(failure.into_abi()),
    }
}

/// Answers Prepare: reads the preferences, then calls the plugin. Invalid preferences never reach the plugin.
pub fn prepare<P: Plugin>(plugin: &P, request: Request<'_>) -> AbiResult<Prepared, PluginFailure> {
    with_call!(request, PrepareCall, |_call, cycle| {
        let preferences = match preferences::<P>(cycle.binding().preferences_json()) {
            Ok(preferences) => preferences,
            Err(error) => return AbiResult::RErr(Failure::Preferences(error).into_abi()),
        };
        match plugin.prepare(&PrepareContext { cycle, preferences }) {
            Ok(state) => AbiResult::ROk(Prepared::new(state)),
            Err(failure) => AbiResult::RErr(failure.into_abi()),
        }
    })
}

/// The binding's preferences as the plugin's type; `None` if the policy carries none.
pub(crate) fn preferences<P: Plugin>(json: &str) -> Result<Option<P::Preferences>, ValueError> {
    if json.is_empty() {
        return Ok(None);
    }
    let value: serde_json::Value = serde_json::from_str(json).map_err(|error| ValueError::not_json(&error))?;
    P::Preferences::read(&value).map(Some)
}

/// Answers Filter. The rejections are written to the host's column of codes.
pub fn filter<P: FilterPlugin>(plugin: &P, request: Request<'_>) -> AbiResult<(), PluginFailure> {
    with_call!(request, FilterCall, |call, cycle| {
        if call.prepared.is_null() {
            return unprepared();
        }
        // SAFETY: the host hands back what `prepare` of this plugin returned for this cycle.
        let prepared = unsafe { prepared::<P>(call.prepared) };
        let mut codes = call.codes;
        let mut result = FilterResult {
            cycle,
            codes: codes.as_mut_slice(),
            code: call.code,
            latest: None,
        };
        outcome(plugin.filter(&FilterContext { cycle, prepared }, &mut result))
    })
}

/// Answers Score, normalisation included.
pub fn score<P: ScorePlugin>(plugin: &P, request: Request<'_>) -> AbiResult<(), PluginFailure> {
    with_call!(request, ScoreCall, |call, cycle| {
        if call.prepared.is_null() {
            return unprepared();
        }
        // SAFETY: the host hands back what `prepare` of this plugin returned for this cycle.
        let prepared = unsafe { prepared::<P>(call.prepared) };
        let context = ScoreContext {
            call: CallContext {
                cycle,
                prepared,
                rows: call.rows.as_slice(),
            },
            last: call.last.as_slice(),
        };
        let mut scores = call.scores;
        let mut result = ScoreResult {
            scores: scores.as_mut_slice(),
        };
        outcome(
            plugin
                .score(&context, &mut result)
                .and_then(|()| plugin.normalize(&context, &mut result)),
        )
    })
}

/// Answers Select. The count also covers candidates that did not fit the column, so that the host can report them.
pub fn select<P: SelectPlugin>(plugin: &P, request: Request<'_>) -> AbiResult<(), PluginFailure> {
    with_call!(request, SelectCall, |call, cycle| {
        if call.prepared.is_null() {
            return unprepared();
        }
        // SAFETY: the host hands back what `prepare` of this plugin returned for this cycle.
        let prepared = unsafe { prepared::<P>(call.prepared) };
        let context = SelectContext {
            call: CallContext {
                cycle,
                prepared,
                rows: call.rows.as_slice(),
            },
            scores: call.scores.as_slice(),
            last: call.last.as_slice(),
            fits_now: call.fits_now.as_slice(),
            available: call.available.as_slice(),
            tiers: call.tiers.as_slice(),
            needed: call.needed,
        };
        let mut candidates = call.candidates;
        let mut result = SelectResult {
            candidates: candidates.as_mut_slice(),
            count: 0,
            overflow: 0,
        };
        let answer = plugin.select(&context, &mut result);
        let written = (result.count as u64).saturating_add(result.overflow);
        let mut count = call.count;
        if let Some(count) = count.as_mut_slice().first_mut() {
            *count = written;
        }
        outcome(answer)
    })
}

/// Answers Assign. The counts are written to the host's column of replicas.
pub fn assign<P: AssignPlugin>(plugin: &P, request: Request<'_>) -> AbiResult<(), PluginFailure> {
    with_call!(request, AssignCall, |call, cycle| {
        if call.prepared.is_null() {
            return unprepared();
        }
        // SAFETY: the host hands back what `prepare` of this plugin returned for this cycle.
        let prepared = unsafe { prepared::<P>(call.prepared) };
        let context = AssignContext {
            call: CallContext {
                cycle,
                prepared,
                rows: call.rows.as_slice(),
            },
            replicas: call.replicas,
            scores: call.scores.as_slice(),
            last: call.last.as_slice(),
            fits_now: call.fits_now.as_slice(),
            tiers: call.tiers.as_slice(),
            places: call.places.as_slice(),
            tier: call.tier,
            tier_count: call.tier_count,
            all_rows: call.all_rows.as_slice(),
        };
        let mut replicas = call.result;
        let mut result = AssignResult {
            replicas: replicas.as_mut_slice(),
        };
        outcome(plugin.assign(&context, &mut result))
    })
}

/// Constructs a plugin from its configuration, a JSON object. Also installs the library's panic hook and its log
/// forwarder, so that both are in place before the plugin is constructed.
pub extern "C" fn construct<P: Dispatch>(
    configuration: AbiStr<'_>,
    log: HostLog,
) -> AbiResult<PluginObjectBox, PluginFailure> {
    let fail = |kind: u32, message: String, path: String, hint: Option<String>| {
        AbiResult::RErr(PluginFailure {
            kind,
            message: message.into(),
            path: path.into(),
            hint: AbiString::from(hint.unwrap_or_default()),
            requested: -1,
            available: -1,
        })
    };
    // The hook and the forwarder come first: a panic or an event in the constructor must already reach the host.
    panics::install_hook();
    crate::logging::forward_to(log);
    // Reading the configuration runs code of the author's types, so it is guarded as well.
    let constructed = panics::caught(|| {
        let value: serde_json::Value = match serde_json::from_str(configuration.as_str()) {
            Ok(value) => value,
            Err(error) => {
                return fail(failure::CONFIGURATION, error.to_string(), String::new(), None);
            }
        };
        let configuration = match P::Configuration::read(&value) {
            Ok(configuration) => configuration,
            Err(error) => {
                return fail(
                    failure::CONFIGURATION,
                    error.to_string(),
                    error.key_path(),
                    error.hint(),
                );
            }
        };
        match P::new(configuration) {
            Ok(plugin) => AbiResult::ROk(boxed(Exported { plugin: Some(plugin) })),
            Err(error) => fail(failure::CONSTRUCTION, error.to_string(), String::new(), None),
        }
    });
    constructed.unwrap_or_else(AbiResult::RErr)
}
