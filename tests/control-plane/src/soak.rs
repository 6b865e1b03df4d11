//! Rounds in which everything fails: schedulers, API server and etcd are killed or paused at random moments, and requests are
//! refused, delayed or lost, while thousands of bindings arrive.
//!
//! A round ends when every binding is scheduled for its last specification; then the judge reads the audit log.

use std::path::Path;
use std::time::{Duration, Instant};

use divvy_karmada::api::Quantity;
use futures::StreamExt;
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde_json::{Value, json};

use crate::divvy::Configuration;
use crate::judge::{Rules, violations};
use crate::objects::{BINDING, Objects};
use crate::proxy::{Effect, Fault, FaultProxy, Frequency};
use crate::scenario::{is_scheduled, result};
use crate::templates::{self, Cluster};
use crate::users::{SCHEDULER, SCHEDULER_B};
use crate::{ControlPlane, Error, Scenario};

/// Clusters of a round.
const CLUSTERS: usize = 12;
/// Replicas of a binding, before and after it is scaled.
const REPLICAS: [i64; 2] = [3, 5];
/// Bindings that are created at a time.
const CONCURRENCY: usize = 8;
/// Time in which bindings arrive, for each failure of a process.
const ARRIVAL_PER_FAILURE: Duration = Duration::from_secs(5);
/// Time for all bindings to be scheduled after the last failure.
const SETTLING: Duration = Duration::from_secs(600);

/// A round: what it does follows from the seed, when it does it from the machine.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    /// Decides which requests fail, what is killed, and the pauses in between.
    pub seed: u64,
    /// Bindings that arrive.
    pub bindings: usize,
    /// Failures of processes; bindings arrive all the while.
    pub failures: usize,
    /// Schedulers: one, or two of which one waits.
    pub schedulers: usize,
    /// Name of the lease that the schedulers hold; `None` if they hold none.
    pub lease: Option<&'static str>,
}

/// The result of a round.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// Failures that were injected, in order.
    pub failures: Vec<&'static str>,
    /// Requests that the proxies refused, delayed or broke.
    pub faults: usize,
    /// Breaches of the rules.
    pub violations: Vec<String>,
    /// Time until everything was scheduled.
    pub duration: Duration,
}

/// A failure of a process.
#[derive(Debug, Clone, Copy)]
enum Failure {
    KillScheduler,
    PauseScheduler,
    KillApiServer,
    KillEtcd,
}

impl Failure {
    const ALL: [Self; 4] = [
        Self::KillScheduler,
        Self::PauseScheduler,
        Self::KillApiServer,
        Self::KillEtcd,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::KillScheduler => "scheduler killed",
            Self::PauseScheduler => "scheduler paused",
            Self::KillApiServer => "API server killed",
            Self::KillEtcd => "etcd killed",
        }
    }
}

impl Round {
    /// Runs the round in a folder.
    pub async fn run(&self, folder: &Path) -> Result<Report, Error> {
        let start = Instant::now();
        let cpu = self.cpu_per_cluster();
        let names: Vec<String> = (0..CLUSTERS).map(|number| format!("cluster{number}")).collect();
        let clusters: Vec<Cluster> = names.iter().map(|name| Cluster::new(name).cpu(cpu)).collect();
        let mut scenario = Scenario::with_own_servers(folder, &clusters).await?;
        let mut proxies = Vec::new();
        for user in [SCHEDULER, SCHEDULER_B].into_iter().take(self.schedulers) {
            let proxy = FaultProxy::start(&scenario.control_plane, self.seed).await?;
            add_faults(&proxy);
            let kubeconfig = proxy.kubeconfig(user, folder)?;
            scenario.start_scheduler_with(&Configuration::new(&kubeconfig).holding().with_rare_reports())?;
            proxies.push(proxy);
        }
        // Bindings keep arriving while processes fail.
        let arrival = ARRIVAL_PER_FAILURE.as_secs_f64() * self.failures as f64;
        let pause = Duration::from_secs_f64(arrival * CONCURRENCY as f64 / self.bindings.max(1) as f64);
        let arriving = tokio::spawn(arrive(scenario.objects().clone(), self.bindings, pause));
        let mut report = Report::default();
        self.fail(&mut scenario, &proxies, &mut report).await?;
        let arrived = arriving.await.map_err(|error| Error::Content {
            path: "the arriving bindings".into(),
            message: error.to_string(),
        })?;
        arrived?;
        report.faults = proxies.iter().flat_map(FaultProxy::hits).sum();
        proxies.iter().for_each(FaultProxy::clear);
        settle(scenario.objects(), self.bindings).await?;
        report.duration = start.elapsed();
        let rules = Rules {
            cpu: names
                .iter()
                .map(|name| (name.clone(), Quantity::from_units(cpu.into())))
                .collect(),
            lease: self.lease.map(ToOwned::to_owned),
        };
        report.violations = violations(&scenario.control_plane.audit_log().writes()?, &rules);
        Ok(report)
    }

    /// A third more than all bindings need.
    fn cpu_per_cluster(&self) -> u32 {
        let needed = self.bindings * usize::try_from(REPLICAS[1]).unwrap_or_default();
        u32::try_from(needed * 4 / 3 / CLUSTERS).unwrap_or(u32::MAX)
    }

    /// Lets one process after the other fail.
    async fn fail(
        &self,
        scenario: &mut Scenario<ControlPlane>,
        proxies: &[FaultProxy],
        report: &mut Report,
    ) -> Result<(), Error> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(self.seed);
        for _ in 0..self.failures {
            let pause = Duration::from_millis(1_000 + random.next_u64() % 4_000);
            tokio::time::sleep(pause).await;
            let failure = Failure::ALL[index(&mut random, Failure::ALL.len())];
            let scheduler = index(&mut random, self.schedulers);
            report.failures.push(failure.name());
            match failure {
                Failure::KillScheduler => {
                    drop(scenario.schedulers.remove(scheduler));
                    let user = [SCHEDULER, SCHEDULER_B][scheduler];
                    let kubeconfig = proxies[scheduler].kubeconfig(user, scenario.control_plane.folder())?;
                    scenario.start_scheduler_with(&Configuration::new(&kubeconfig).holding().with_rare_reports())?;
                    // Its index is its user.
                    let started = scenario.schedulers.pop();
                    scenario.schedulers.splice(scheduler..scheduler, started);
                }
                Failure::PauseScheduler => {
                    scenario.schedulers[scheduler].process.pause();
                    // Longer than a lease is valid.
                    tokio::time::sleep(Duration::from_secs(18)).await;
                    scenario.schedulers[scheduler].process.resume();
                }
                Failure::KillApiServer => {
                    scenario.control_plane.kill_api_server();
                    scenario.control_plane.start_api_server().await?;
                }
                Failure::KillEtcd => {
                    scenario.control_plane.kill_etcd();
                    scenario.control_plane.start_etcd()?;
                    scenario.control_plane.wait_until_ready().await?;
                }
            }
        }
        Ok(())
    }
}

fn index(random: &mut Xoshiro256PlusPlus, count: usize) -> usize {
    let count = count.max(1) as u64;
    usize::try_from(random.next_u64() % count).unwrap_or_default()
}

fn add_faults(proxy: &FaultProxy) {
    for effect in Effect::passing(Duration::from_millis(500)) {
        proxy.add(Fault::new(effect, Frequency::OneIn(60), |incoming| incoming.is_write()));
    }
    let watch =
        |effect: Effect, one_in: u64| Fault::new(effect, Frequency::OneIn(one_in), |incoming| incoming.is_watch());
    proxy.add(watch(Effect::Expire, 6));
    proxy.add(watch(Effect::BreakOff(Duration::from_secs(4)), 2));
}

/// Creates all bindings with a pause before each, and scales every tenth.
async fn arrive(objects: Objects, bindings: usize, pause: Duration) -> Result<(), Error> {
    futures::stream::iter(0..bindings)
        .map(|number| {
            let objects = objects.clone();
            async move {
                let name = binding_name(number);
                tokio::time::sleep(pause).await;
                persist(|| async { objects.create(BINDING, &binding(&name)).await.map(drop) }).await?;
                if is_scaled(number) {
                    let patch = json!({"spec": {"replicas": REPLICAS[1]}});
                    persist(|| async { objects.merge(BINDING, "default", &name, &patch).await.map(drop) }).await?;
                }
                Ok(())
            }
        })
        .buffer_unordered(CONCURRENCY)
        .fold(Ok(()), |all, one: Result<(), Error>| std::future::ready(all.and(one)))
        .await
}

/// Repeats a write until the API server has carried it out, however often it is killed.
async fn persist<Future>(write: impl Fn() -> Future) -> Result<(), Error>
where
    Future: std::future::Future<Output = Result<(), Error>>,
{
    let start = Instant::now();
    loop {
        match write().await {
            Ok(()) => return Ok(()),
            // Carried out, and the answer was lost.
            Err(error) if error.status() == Some(409) => return Ok(()),
            Err(error) if start.elapsed() > SETTLING => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    }
}

fn binding_name(number: usize) -> String {
    format!("binding{number}")
}

fn is_scaled(number: usize) -> bool {
    number.is_multiple_of(10)
}

/// A binding that belongs to a policy and fits anywhere.
pub(crate) fn binding(name: &str) -> Value {
    let mut binding = templates::binding(name, REPLICAS[0], templates::divided_by_room(json!({})));
    binding["spec"]["resource"]["uid"] = name.into();
    binding["spec"]["replicaRequirements"] = json!({"resourceRequest": {"cpu": "1"}});
    binding
}

/// Waits until every binding is scheduled for its last specification.
async fn settle(objects: &Objects, bindings: usize) -> Result<(), Error> {
    let start = Instant::now();
    loop {
        let open: Vec<String> = match objects.list(BINDING, "default").await {
            Ok(found) => (0..bindings)
                .filter(|number| {
                    let name = binding_name(*number);
                    let replicas = REPLICAS[usize::from(is_scaled(*number))];
                    let mut named = found
                        .iter()
                        .filter(|binding| binding["metadata"]["name"] == name.as_str());
                    !named.any(|binding| is_scheduled(binding) && result(binding).values().sum::<i64>() == replicas)
                })
                .map(binding_name)
                .collect(),
            Err(error) => vec![error.to_string()],
        };
        if open.is_empty() {
            return Ok(());
        }
        if start.elapsed() > SETTLING {
            return Err(Error::Expectation {
                object: format!("{} bindings: {}", open.len(), open[..open.len().min(5)].join(", ")),
                expectation: "scheduled".to_owned(),
                seconds: SETTLING.as_secs(),
                last: String::new(),
            });
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
}
