//! Measurements on a real API server: the drain rate of a burst, and the latency of a steady load.
//!
//! Every figure of the scheduler has one of the bare client beside it, taken on the same control plane right before or after:
//! machines and their load differ, and on most the API server is the limit. Both leave the same objects behind and are timed
//! by the same [`Observer`].

use std::collections::HashMap;
use std::time::{Duration, Instant};

use divvy_client::{ConnectionOptions, connect};
use divvy_controller::objects::Kind;
use futures::{StreamExt, TryStreamExt, stream};
use serde::Serialize;

use crate::LoadError;
use crate::api::Api;
use crate::bare::{BareClient, BareOptions, Created};
use crate::objects::{NAMESPACE, binding};
use crate::observer::Observer;
use crate::plane::Plane;
use crate::scheduler::{Scheduler, SchedulerOptions, Usage};

/// Bindings that are created at a time.
const CREATING: usize = 16;
/// Longest time without progress.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time in which work that is under way comes to rest.
const SETTLING: Duration = Duration::from_secs(1);
/// Most bindings of a steady load, in seconds of its rate.
const STEADY_SECONDS: f64 = 20.0;

/// Settings of the measurement.
#[derive(Debug, Clone)]
pub struct BenchOptions {
    /// The API server.
    pub connection: ConnectionOptions,
    /// The scheduler; its events and its latency are set by each measurement.
    pub scheduler: SchedulerOptions,
    /// Bindings of a burst.
    pub bindings: usize,
    /// Clusters.
    pub clusters: usize,
    /// Kinds that each cluster serves.
    pub apis: usize,
    /// Latency of writes with which a further burst is measured; `None` for none.
    pub write_latency: Option<Duration>,
    /// Times that each burst is measured.
    pub rounds: usize,
}

/// All figures.
#[derive(Debug, Clone, Serialize)]
pub struct BenchReport {
    /// Bindings of a burst.
    pub bindings: usize,
    /// Clusters.
    pub clusters: usize,
    /// Kinds that each cluster serves.
    pub apis: usize,
    /// Bindings that are written at a time.
    pub concurrency: usize,
    /// The bursts.
    pub bursts: Vec<Burst>,
    /// The steady load; `None` if the measurement ended before.
    pub steady: Option<Steady>,
}

/// A burst: bindings that wait when the scheduler starts.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Burst {
    /// True if events are written.
    pub events: bool,
    /// Delay of each write.
    pub write_latency_ms: u64,
    /// Bindings per second of the bare client, in each round.
    pub bare_per_second: Vec<f64>,
    /// Bindings per second of the scheduler, in each round.
    pub scheduler_per_second: Vec<f64>,
    /// Median of the rounds' ratios of scheduler to bare client.
    pub ratio: f64,
    /// CPU time of the scheduler for one binding, in each round.
    pub cpu_ms_per_binding: Vec<f64>,
    /// Peak memory of the scheduler, the highest of all rounds.
    pub peak_memory_bytes: u64,
    /// Events that the bare client left, in the last round.
    pub bare_events: usize,
    /// Events that the scheduler left, in the last round.
    pub scheduler_events: usize,
}

/// A load at half the rate of the burst with events: latency from sending a binding's creation to seeing its condition.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Steady {
    /// Bindings that are created per second, whether earlier ones are done or not.
    pub per_second: f64,
    /// Bindings.
    pub bindings: usize,
    /// The scheduler's latency.
    pub scheduler: Latency,
    /// Latency of a bare client that writes as soon as the creation is answered.
    pub bare: Latency,
    /// CPU time of the scheduler for one binding.
    pub cpu_ms_per_binding: f64,
}

/// Percentiles of a latency, in milliseconds.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct Latency {
    /// Half are at most this.
    pub p50_ms: f64,
    /// 99 of 100 are at most this.
    pub p99_ms: f64,
    /// The longest.
    pub max_ms: f64,
}

/// A measurement under way.
pub struct Bench {
    options: BenchOptions,
    plane: Plane,
    bursts: Vec<Burst>,
    steady: Option<Steady>,
    /// Measurements so far, for names that no other has.
    phases: usize,
}

impl Bench {
    /// Claims an empty control plane. Nothing is created but a namespace.
    ///
    /// # Errors
    ///
    /// [`LoadError::NotEmpty`] if it holds anything of others.
    pub async fn claim(options: BenchOptions) -> Result<Self, LoadError> {
        let clients = connect(&options.connection).await?;
        let plane = Plane::claim(Api::new(clients.writing), clients.server).await?;
        Ok(Self {
            options,
            plane,
            bursts: Vec::new(),
            steady: None,
            phases: 0,
        })
    }

    /// The control plane, to remove what was created.
    pub fn plane(&self) -> Plane {
        self.plane.clone()
    }

    /// The figures so far: bursts that were measured with both, and the steady load.
    pub fn report(&self) -> BenchReport {
        let mut bursts = self.bursts.clone();
        for burst in &mut bursts {
            let pairs = burst.scheduler_per_second.iter().zip(&burst.bare_per_second);
            burst.ratio = median(&pairs.map(|(scheduler, bare)| scheduler / bare).collect::<Vec<_>>());
        }
        bursts.retain(|burst| !burst.scheduler_per_second.is_empty() && !burst.bare_per_second.is_empty());
        BenchReport {
            bindings: self.options.bindings,
            clusters: self.options.clusters,
            apis: self.options.apis,
            concurrency: self.options.scheduler.concurrency,
            bursts,
            steady: self.steady.clone(),
        }
    }

    /// Measures everything, for [`Self::report`]. `progress` is called with a line before each step.
    ///
    /// # Errors
    ///
    /// The first [`LoadError`]. What was created is still there.
    pub async fn run(&mut self, progress: &mut dyn FnMut(&str)) -> Result<(), LoadError> {
        let (clusters, apis) = (self.options.clusters, self.options.apis);
        progress(&format!("creating {clusters} clusters"));
        self.plane.create_clusters(clusters, apis).await?;
        let mut bursts = vec![(false, Duration::ZERO), (true, Duration::ZERO)];
        bursts.extend(self.options.write_latency.map(|latency| (true, latency)));
        let bursts = bursts.into_iter().map(|(events, latency)| Burst {
            events,
            write_latency_ms: u64::try_from(latency.as_millis()).unwrap_or(u64::MAX),
            ..Burst::default()
        });
        self.bursts = bursts.collect();
        for round in 0..self.options.rounds.max(1) {
            for place in 0..self.bursts.len() {
                // The order alternates, so that a machine that slows down slows down both.
                for is_bare in [round % 2 == 0, round % 2 == 1] {
                    let burst = &self.bursts[place];
                    let (who, delay) = (
                        if is_bare { "bare client" } else { "scheduler" },
                        burst.write_latency_ms,
                    );
                    let events = if burst.events { "with" } else { "without" };
                    progress(&format!(
                        "round {}: {who}, {events} events, {delay} ms per write",
                        round + 1
                    ));
                    let mut burst = burst.clone();
                    match is_bare {
                        true => self.bare_burst(&mut burst).await?,
                        false => self.scheduler_burst(&mut burst).await?,
                    }
                    self.bursts[place] = burst;
                }
            }
        }
        let rate = median(&self.bursts[1].scheduler_per_second) / 2.0;
        progress(&format!("steady load of {rate:.0} bindings per second"));
        self.steady = Some(self.steady(rate).await?);
        Ok(())
    }

    fn bare_options(&self, events: bool, write_latency: Duration) -> BareOptions {
        BareOptions {
            concurrency: self.options.scheduler.concurrency,
            events,
            write_latency,
            clusters: self.options.clusters,
        }
    }

    fn scheduler_options(&self, events: bool, write_latency: Duration) -> SchedulerOptions {
        SchedulerOptions {
            events,
            write_latency,
            ..self.options.scheduler.clone()
        }
    }

    /// A name prefix that no other measurement has.
    fn prefix(&mut self) -> String {
        self.phases += 1;
        format!("phase-{}", self.phases)
    }

    async fn create(&self, name: &str) -> Result<Created, LoadError> {
        self.plane
            .api
            .create(&Kind::Binding.path(NAMESPACE), &binding(name))
            .await
    }

    async fn create_all(&mut self) -> Result<Vec<Created>, LoadError> {
        let prefix = self.prefix();
        let names = (0..self.options.bindings).map(|number| format!("{prefix}-{number}"));
        let bench = &*self;
        stream::iter(names)
            .map(|name| async move { bench.create(&name).await })
            .buffer_unordered(CREATING)
            .try_collect()
            .await
    }

    async fn bare_burst(&mut self, burst: &mut Burst) -> Result<(), LoadError> {
        let clients = connect(&self.options.connection).await?;
        let observer = Observer::start(clients.watching.clone());
        let created = self.create_all().await?;
        let latency = Duration::from_millis(burst.write_latency_ms);
        // Like the scheduler, it begins as soon as everything is listed.
        let bare = BareClient::start(&clients, self.bare_options(burst.events, latency)).await?;
        let writes = stream::iter(created.iter().enumerate()).map(|(number, created)| bare.write(number, created));
        writes
            .buffer_unordered(self.options.scheduler.concurrency)
            .try_collect::<()>()
            .await?;
        let late = |done| self.late(done, String::new());
        observer.wait(created.len(), PATIENCE).await.map_err(late)?;
        burst.bare_per_second.push(rate(&observer.times()));
        burst.bare_events = self.events().await?;
        drop((bare, observer));
        self.plane.remove_bindings().await
    }

    async fn scheduler_burst(&mut self, burst: &mut Burst) -> Result<(), LoadError> {
        let clients = connect(&self.options.connection).await?;
        let observer = Observer::start(clients.watching.clone());
        let created = self.create_all().await?.len();
        let latency = Duration::from_millis(burst.write_latency_ms);
        let mut scheduler = Scheduler::start(&self.scheduler_options(burst.events, latency))?;
        scheduler.wait_until_ready(PATIENCE).await?;
        let before = scheduler.usage()?;
        if let Err(done) = observer.wait(created, PATIENCE).await {
            scheduler.check_running()?;
            return Err(self.late(done, scheduler.last_words()));
        }
        let Usage { cpu, peak, .. } = scheduler.usage()?;
        burst.scheduler_per_second.push(rate(&observer.times()));
        burst
            .cpu_ms_per_binding
            .push(per_binding(cpu.saturating_sub(before.cpu), created));
        burst.peak_memory_bytes = burst.peak_memory_bytes.max(peak);
        burst.scheduler_events = self.events().await?;
        drop(scheduler);
        self.plane.remove_bindings().await
    }

    /// Number of events once no more are added.
    async fn events(&self) -> Result<usize, LoadError> {
        let mut before = self.plane.events().await?;
        loop {
            tokio::time::sleep(SETTLING).await;
            let now = self.plane.events().await?;
            if now == before {
                return Ok(now);
            }
            before = now;
        }
    }

    async fn steady(&mut self, rate: f64) -> Result<Steady, LoadError> {
        let bindings = ((rate * STEADY_SECONDS) as usize).clamp(1, self.options.bindings.max(1));
        let clients = connect(&self.options.connection).await?;
        let mut steady = Steady {
            per_second: rate,
            bindings,
            ..Steady::default()
        };
        let observer = Observer::start(clients.watching.clone());
        let mut scheduler = Scheduler::start(&self.scheduler_options(true, Duration::ZERO))?;
        scheduler.wait_until_ready(PATIENCE).await?;
        // The cost of starting is not a part of the steady load, and would delay its first bindings.
        scheduler.wait_until_idle(PATIENCE).await?;
        let before = scheduler.usage()?;
        let sent = self.create_steadily(rate, bindings, None).await?;
        if let Err(done) = observer.wait(bindings, PATIENCE).await {
            scheduler.check_running()?;
            return Err(self.late(done, scheduler.last_words()));
        }
        steady.scheduler = latency(&sent, &observer.times());
        steady.cpu_ms_per_binding = per_binding(scheduler.usage()?.cpu.saturating_sub(before.cpu), bindings);
        drop(scheduler);
        drop(observer);
        self.plane.remove_bindings().await?;
        let observer = Observer::start(clients.watching.clone());
        let bare = BareClient::start(&clients, self.bare_options(true, Duration::ZERO)).await?;
        tokio::time::sleep(SETTLING).await;
        let sent = self.create_steadily(rate, bindings, Some(&bare)).await?;
        let late = |done| self.late(done, String::new());
        observer.wait(bindings, PATIENCE).await.map_err(late)?;
        steady.bare = latency(&sent, &observer.times());
        Ok(steady)
    }

    /// Creates bindings at a rate, each at its time, however long earlier ones take. A bare client, if there is one, writes
    /// each of them. Returns when each was sent.
    async fn create_steadily(
        &mut self,
        rate: f64,
        count: usize,
        bare: Option<&BareClient>,
    ) -> Result<HashMap<String, Instant>, LoadError> {
        let prefix = self.prefix();
        let bench = &*self;
        let start = tokio::time::Instant::now();
        let each = (0..count).map(|number| {
            let name = format!("{prefix}-{number}");
            async move {
                tokio::time::sleep_until(start + Duration::from_secs_f64(number as f64 / rate)).await;
                let sent = Instant::now();
                let created = bench.create(&name).await?;
                if let Some(bare) = bare {
                    bare.write(number, &created).await?;
                }
                Ok::<_, LoadError>((name, sent))
            }
        });
        // All at once: each sleeps until its time.
        stream::iter(each).buffer_unordered(count.max(1)).try_collect().await
    }

    fn late(&self, done: usize, words: String) -> LoadError {
        LoadError::Late {
            done,
            all: self.options.bindings,
            within: PATIENCE,
            words,
        }
    }
}

/// Bindings per second from the first that was scheduled to the last.
fn rate(times: &HashMap<String, Instant>) -> f64 {
    let (first, last) = (times.values().min(), times.values().max());
    let duration = first.zip(last).map_or(Duration::ZERO, |(first, last)| *last - *first);
    times.len().saturating_sub(1) as f64 / duration.as_secs_f64().max(f64::EPSILON)
}

fn per_binding(cpu: Duration, bindings: usize) -> f64 {
    cpu.as_secs_f64() * 1_000.0 / bindings.max(1) as f64
}

fn latency(sent: &HashMap<String, Instant>, seen: &HashMap<String, Instant>) -> Latency {
    let mut all: Vec<f64> = sent
        .iter()
        .filter_map(|(name, sent)| Some(seen.get(name)?.saturating_duration_since(*sent).as_secs_f64() * 1_000.0))
        .collect();
    all.sort_by(f64::total_cmp);
    Latency {
        p50_ms: percentile(&all, 50),
        p99_ms: percentile(&all, 99),
        max_ms: percentile(&all, 100),
    }
}

/// Percentile by the nearest-rank method: the smallest value that `percent` of all do not exceed. 0 if there are none.
fn percentile(sorted: &[f64], percent: usize) -> f64 {
    let rank = (sorted.len() * percent).div_ceil(100).max(1) - 1;
    sorted.get(rank).copied().unwrap_or_default()
}

/// The median; the lower of the two middle ones if there are an even number.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    percentile(&sorted, 50)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_occur() {
        let all: Vec<f64> = (1..=200).map(f64::from).collect();
        assert_eq!(
            (percentile(&all, 50), percentile(&all, 99), percentile(&all, 100)),
            (100.0, 198.0, 200.0)
        );
        assert_eq!(percentile(&[], 99), 0.0);
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
    }

    #[test]
    fn a_rate_counts_from_the_first_to_the_last() {
        let start = Instant::now();
        let times = (0..11).map(|number: u64| (number.to_string(), start + Duration::from_millis(number * 100)));
        assert!((rate(&times.collect()) - 10.0).abs() < 1e-9);
    }
}
