//! CPU and memory of the process, under the names that Prometheus' client libraries use.
//!
//! Read from `/proc` during a scrape. Where it cannot be read, as on other systems than Linux, the metrics are left out.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::TypedMetric;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

#[derive(Debug)]
pub(super) struct ProcessCollector;

impl Collector for ProcessCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        if let Some(seconds) = cpu_seconds() {
            write(
                &mut encoder,
                "process_cpu_seconds",
                "CPU time of the process, user and system",
                ConstCounter::new(seconds),
            )?;
        }
        if let Some(bytes) = resident_bytes() {
            write(
                &mut encoder,
                "process_resident_memory_bytes",
                "Memory of the process that is in RAM",
                ConstGauge::new(bytes),
            )?;
        }
        Ok(())
    }
}

fn write<M: EncodeMetric + TypedMetric>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    metric: M,
) -> Result<(), fmt::Error> {
    metric.encode(encoder.encode_descriptor(name, help, None, M::TYPE)?)
}

fn cpu_seconds() -> Option<f64> {
    let usage = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The command's name is in parentheses and may contain spaces; the fields after it are plain.
    let (_, fields) = usage.rsplit_once(')')?;
    let mut ticks = fields.split_ascii_whitespace().skip(11).map(str::parse::<u64>);
    let (user, system) = (ticks.next()?.ok()?, ticks.next()?.ok()?);
    Some((user + system) as f64 / rustix::param::clock_ticks_per_second() as f64)
}

fn resident_bytes() -> Option<i64> {
    let usage = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: i64 = usage.split_ascii_whitespace().nth(1)?.parse().ok()?;
    let page = i64::try_from(rustix::param::page_size()).ok()?;
    pages.checked_mul(page)
}
