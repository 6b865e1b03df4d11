//! Memory and speed of the scheduler without an API server that limits it.
//!
//! `divvy run` is started against an API server in memory, which serves realistic bindings and clusters over HTTP. Its memory
//! is measured once it is idle, and again after every watch has expired and everything was listed anew. Bindings that wait
//! for their first decision are decided and written in between: writes cost nothing there, so their rate is the scheduler's own.

mod server;

use std::time::{Duration, Instant};

use serde::Serialize;

use self::server::{Contents, Server};
use crate::LoadError;
use crate::scheduler::{Scheduler, SchedulerOptions};

/// Maximum time for the scheduler to become idle.
const REST: Duration = Duration::from_secs(1800);

/// Settings of the measurement.
#[derive(Debug, Clone)]
pub struct ScaleOptions {
    /// The scheduler; its arguments select the profile and the plugins alone.
    pub scheduler: SchedulerOptions,
    /// Bindings that are scheduled: one measurement for each number.
    pub bindings: Vec<usize>,
    /// Bindings that wait for their first decision.
    pub pending: usize,
    /// Clusters.
    pub clusters: usize,
    /// Kinds that each cluster serves.
    pub apis: usize,
}

/// Figures of one size.
#[derive(Debug, Clone, Serialize)]
pub struct ScaleReport {
    /// Scheduled bindings.
    pub bindings: usize,
    /// Bindings that waited for their first decision.
    pub pending: usize,
    /// Clusters.
    pub clusters: usize,
    /// Kinds that each cluster serves.
    pub apis: usize,
    /// Time from the start until everything is listed.
    pub ready_seconds: f64,
    /// CPU time of the scheduler until then.
    pub ready_cpu_seconds: f64,
    /// First decisions per second, each with two patches; 0 if none waited.
    pub decisions_per_second: f64,
    /// CPU time of the scheduler from readiness until it is idle, for one decision. It includes a look at every other binding.
    pub cpu_ms_per_decision: f64,
    /// Memory of the idle scheduler.
    pub idle_bytes: u64,
    /// Peak memory up to then.
    pub peak_bytes: u64,
    /// Peak memory after everything was listed again.
    pub peak_after_relist_bytes: u64,
    /// Time in which everything was listed again.
    pub relist_seconds: f64,
    /// Peak memory for each binding more than in the measurement before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_further_binding: Option<f64>,
}

/// Measures each size. `progress` is called with a line before each.
///
/// # Errors
///
/// The first [`LoadError`].
pub async fn run(options: &ScaleOptions, progress: &mut dyn FnMut(&str)) -> Result<Vec<ScaleReport>, LoadError> {
    let mut reports: Vec<ScaleReport> = Vec::new();
    for bindings in &options.bindings {
        progress(&format!("{bindings} bindings and {} clusters", options.clusters));
        let mut report = measure(options, *bindings).await?;
        if let Some(before) = reports.last()
            && before.bindings < *bindings
        {
            let grown = report.peak_after_relist_bytes as f64 - before.peak_after_relist_bytes as f64;
            report.bytes_per_further_binding = Some(grown / (bindings - before.bindings) as f64);
        }
        reports.push(report);
    }
    Ok(reports)
}

async fn measure(options: &ScaleOptions, bindings: usize) -> Result<ScaleReport, LoadError> {
    let contents = Contents {
        settled: bindings,
        pending: options.pending,
        clusters: options.clusters,
        apis: options.apis,
    };
    let server = Server::start(contents).await?;
    let folder = tempfile::tempdir().map_err(LoadError::Start)?;
    let kubeconfig = server.kubeconfig(folder.path())?;
    let mut started = options.scheduler.clone();
    started
        .arguments
        .extend(["--kubeconfig".to_owned(), kubeconfig.display().to_string()]);
    let start = Instant::now();
    let mut scheduler = Scheduler::start(&started)?;
    scheduler.wait_until_ready(REST).await?;
    let ready_seconds = start.elapsed().as_secs_f64();
    let ready = scheduler.usage()?;
    scheduler.wait_until_idle(REST).await?;
    let idle = scheduler.usage()?;
    let (scheduled, decisions_per_second) = server.scheduled();
    if scheduled != options.pending {
        return Err(LoadError::Late {
            done: scheduled,
            all: options.pending,
            within: REST,
            words: scheduler.last_words(),
        });
    }
    let relist = Instant::now();
    server.relist().await;
    let relist_seconds = relist.elapsed().as_secs_f64();
    scheduler.wait_until_idle(REST).await?;
    let relisted = scheduler.usage()?;
    drop(scheduler);
    let cpu = idle.cpu.saturating_sub(ready.cpu).as_secs_f64() * 1_000.0;
    Ok(ScaleReport {
        bindings,
        pending: options.pending,
        clusters: options.clusters,
        apis: options.apis,
        ready_seconds,
        ready_cpu_seconds: ready.cpu.as_secs_f64(),
        decisions_per_second,
        cpu_ms_per_decision: cpu / scheduled.max(1) as f64,
        idle_bytes: idle.resident,
        peak_bytes: idle.peak,
        peak_after_relist_bytes: relisted.peak,
        relist_seconds,
        bytes_per_further_binding: None,
    })
}
