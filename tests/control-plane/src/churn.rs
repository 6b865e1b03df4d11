//! Churn: bindings come, change and go, clusters beat and fill up, for as long as requested. The scheduler's memory must stay
//! flat.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::objects::{BINDING, CLUSTER, Objects};
use crate::scenario::is_scheduled;
use crate::soak::binding;
use crate::templates::Cluster;
use crate::{Error, Scenario};

/// Bindings that exist at a time.
const BINDINGS: usize = 500;
/// Clusters.
const CLUSTERS: usize = 50;
/// Bindings that change between two looks at the memory.
const CHANGES: usize = 100;
/// Part of the time after which the memory counts as settled.
const SETTLED: f64 = 0.25;
/// Growth of the memory, after it has settled, that counts as noise.
const GROWTH_MAXIMUM: f64 = 1.10;

/// The scheduler's memory during churn.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    /// Time since the start, and resident bytes.
    pub samples: Vec<(Duration, u64)>,
    /// Changes of bindings in all that time.
    pub changes: usize,
}

impl Memory {
    /// Most of the settled first half and of the second half; `None` if there are too few samples.
    fn halves(&self) -> Option<(u64, u64)> {
        let (end, _) = self.samples.last()?;
        let settled: Vec<u64> = self
            .samples
            .iter()
            .filter(|(time, _)| time.as_secs_f64() >= end.as_secs_f64() * SETTLED)
            .map(|(_, bytes)| *bytes)
            .collect();
        let (first, second) = settled.split_at(settled.len() / 2);
        Some((*first.iter().max()?, *second.iter().max()?))
    }

    /// True if the memory did not grow after it had settled.
    pub fn is_flat(&self) -> bool {
        self.halves()
            .is_some_and(|(first, second)| second as f64 <= first as f64 * GROWTH_MAXIMUM)
    }
}

/// Runs churn for a time in a folder.
pub async fn run(folder: &Path, time: Duration) -> Result<Memory, Error> {
    let clusters: Vec<Cluster> = (0..CLUSTERS)
        .map(|number| Cluster::new(&format!("cluster{number}")).cpu(1_000))
        .collect();
    let mut scenario = Scenario::new(folder, &clusters).await?;
    scenario.start_scheduler()?;
    let objects = scenario.objects().clone();
    for number in 0..BINDINGS {
        objects.create(BINDING, &binding(&name(number))).await?;
    }
    let start = Instant::now();
    let mut memory = Memory::default();
    let mut next = 0;
    while start.elapsed() < time {
        for _ in 0..CHANGES {
            change(&objects, next).await?;
            next += 1;
        }
        let cpu = json!({"status": {"resourceSummary": {"allocatable": {"cpu": (1_000 + next % 7).to_string()}}}});
        let cluster = format!("cluster{}", next / CHANGES % CLUSTERS);
        objects.merge_status(CLUSTER, "", &cluster, &cpu).await?;
        scenario.karmada.heartbeat().await?;
        objects
            .wait(
                BINDING,
                "default",
                &name((next - 1) % BINDINGS),
                "scheduled",
                is_scheduled,
            )
            .await?;
        let bytes = resident_bytes(scenario.schedulers[0].process.id())?;
        memory.samples.push((start.elapsed(), bytes));
    }
    memory.changes = next;
    Ok(memory)
}

fn name(number: usize) -> String {
    format!("binding{number}")
}

/// Scales a binding, or replaces it by a new one.
async fn change(objects: &Objects, step: usize) -> Result<(), Error> {
    let name = name(step % BINDINGS);
    if step.is_multiple_of(5) {
        objects.delete(BINDING, "default", &name).await?;
        objects.create(BINDING, &binding(&name)).await?;
    } else {
        let patch = json!({"spec": {"replicas": 2 + step % 6}});
        objects.merge(BINDING, "default", &name, &patch).await?;
    }
    Ok(())
}

/// Memory of a process.
fn resident_bytes(process: u32) -> Result<u64, Error> {
    let path = format!("/proc/{process}/status");
    let status = std::fs::read_to_string(&path).map_err(Error::file(&path))?;
    let kib = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .and_then(|rest| rest.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kib.map(|kib| kib * 1024).ok_or_else(|| Error::Content {
        path: path.into(),
        message: "it has no line VmRSS".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(bytes: impl IntoIterator<Item = u64>) -> Memory {
        let samples = (0..)
            .zip(bytes)
            .map(|(second, bytes)| (Duration::from_secs(second), bytes));
        Memory {
            samples: samples.collect(),
            changes: 0,
        }
    }

    #[test]
    fn growth_after_the_start_is_noticed() {
        assert!(memory((0..100).map(|second| 100 + u64::min(second, 20))).is_flat());
        assert!(memory((0..100).map(|second| 120 + second % 5)).is_flat());
        assert!(!memory((0..100).map(|second| 100 + second)).is_flat());
        assert!(!memory([]).is_flat());
    }
}
