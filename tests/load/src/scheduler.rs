//! The scheduler that is measured: `divvy run` as a child process, and its figures from `/proc`.

use std::fs::File;
use std::net::SocketAddr;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::LoadError;
use crate::objects::SCHEDULER;

/// Bytes of the scheduler's log that an error shows.
const LAST_WORDS: u64 = 2_000;
/// Bytes of it in which it has named the address of its probes.
const FIRST_WORDS: usize = 4_096;
/// Time between two looks at a process that starts or settles.
const INTERVAL: Duration = Duration::from_millis(50);

/// Command line and environment of the scheduler.
#[derive(Debug, Clone)]
pub struct SchedulerOptions {
    /// The program `divvy`.
    pub program: PathBuf,
    /// Arguments of `divvy run` that select the control plane, the profile and its plugins.
    pub arguments: Vec<String>,
    /// Bindings that are written at a time.
    pub concurrency: usize,
    /// True to write events.
    pub events: bool,
    /// Wait before each write.
    pub write_latency: Duration,
}

/// A running scheduler. It is killed when the value is dropped.
pub struct Scheduler {
    child: Child,
    log: File,
}

/// Figures of a process at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// CPU time so far, user and system.
    pub cpu: Duration,
    /// Memory in RAM, in bytes.
    pub resident: u64,
    /// Most memory in RAM so far, in bytes.
    pub peak: u64,
}

impl Scheduler {
    /// Starts `divvy run` for the bindings of a measurement. It holds no lease.
    ///
    /// # Errors
    ///
    /// [`LoadError::Start`] if the process cannot be started.
    pub fn start(options: &SchedulerOptions) -> Result<Self, LoadError> {
        let log = tempfile::tempfile().map_err(LoadError::Start)?;
        let mut command = Command::new(&options.program);
        command
            .args(["run", "--no-lease", "--color=never"])
            .arg(format!("--scheduler-name={SCHEDULER}"))
            .arg("--listen=127.0.0.1:0")
            .arg(format!("--write-concurrency={}", options.concurrency))
            .arg(format!("--write-latency={}ms", options.write_latency.as_millis()))
            .args(&options.arguments)
            .args((!options.events).then_some("--no-events"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log.try_clone().map_err(LoadError::Start)?);
        let child = command.spawn().map_err(LoadError::Start)?;
        Ok(Self { child, log })
    }

    /// Waits until every object is listed and decisions are made.
    ///
    /// # Errors
    ///
    /// [`LoadError::Ended`] if the scheduler ends before, [`LoadError::NotReady`] if it is not ready within `limit`.
    pub async fn wait_until_ready(&mut self, limit: Duration) -> Result<(), LoadError> {
        let start = Instant::now();
        while start.elapsed() < limit {
            if let Some(address) = self.address() {
                let answer = tokio::task::spawn_blocking(move || {
                    divvy_client::request::get(address, "/readyz", Duration::from_secs(5))
                });
                if let Ok(Ok(response)) = answer.await
                    && response.status == 200
                {
                    return Ok(());
                }
            }
            self.check_running()?;
            tokio::time::sleep(INTERVAL).await;
        }
        Err(LoadError::NotReady {
            within: limit,
            words: self.last_words(),
        })
    }

    /// The address of its probes, which the first line of its log names.
    fn address(&self) -> Option<SocketAddr> {
        let mut text = vec![0; FIRST_WORDS];
        let read = self.log.read_at(&mut text, 0).ok()?;
        let text = String::from_utf8_lossy(&text[..read]);
        let (_, named) = text.split_once("listen=")?;
        // What is not ended by a space or a line may go on.
        let (address, _) = named.split_once(char::is_whitespace)?;
        address.parse().ok()
    }

    /// Waits until the process has used next to no CPU for a second. Returns false if it is still busy after `limit`.
    ///
    /// # Errors
    ///
    /// [`LoadError::Ended`] if the scheduler ends before.
    pub async fn wait_until_idle(&mut self, limit: Duration) -> Result<bool, LoadError> {
        const SECOND: Duration = Duration::from_secs(1);
        let start = Instant::now();
        let mut before = self.usage()?.cpu;
        while start.elapsed() < limit {
            tokio::time::sleep(SECOND).await;
            self.check_running()?;
            let now = self.usage()?.cpu;
            if now.saturating_sub(before) <= SECOND / 50 {
                return Ok(true);
            }
            before = now;
        }
        Ok(false)
    }

    /// CPU time and memory up to now.
    ///
    /// # Errors
    ///
    /// [`LoadError::Figures`] if `/proc` does not have them.
    pub fn usage(&self) -> Result<Usage, LoadError> {
        usage(self.child.id()).ok_or(LoadError::Figures(self.child.id()))
    }

    /// Fails if the process has ended.
    ///
    /// # Errors
    ///
    /// [`LoadError::Ended`] with the end of its log.
    pub fn check_running(&mut self) -> Result<(), LoadError> {
        match self.child.try_wait() {
            Ok(None) => Ok(()),
            _ => Err(LoadError::Ended(self.last_words())),
        }
    }

    /// The end of the scheduler's log.
    pub fn last_words(&self) -> String {
        let mut text = vec![0; LAST_WORDS as usize];
        let length = self.log.metadata().map_or(0, |metadata| metadata.len());
        let start = length.saturating_sub(LAST_WORDS);
        // The scheduler writes at the position that the file has, so reading must not move it. A log that cannot be read
        // leaves the message without it.
        let read = self.log.read_at(&mut text, start).unwrap_or(0);
        String::from_utf8_lossy(&text[..read]).trim().to_owned()
    }
}

impl Drop for Scheduler {
    /// Kills the process: it holds no lease, and its figures were read before.
    fn drop(&mut self) {
        // Both fail only for a process that has ended.
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

/// Figures of a process; `None` if they cannot be read.
fn usage(id: u32) -> Option<Usage> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The command's name is in parentheses and may contain spaces; the fields after it are plain.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut ticks = fields.split_ascii_whitespace().skip(11).map(str::parse::<u64>);
    let ticks = ticks.next()?.ok()? + ticks.next()?.ok()?;
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let kibibytes = |field: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(field))?;
        line.trim_end_matches("kB").trim().parse().ok()
    };
    Some(Usage {
        cpu: Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64),
        resident: kibibytes("VmRSS:")? * 1024,
        peak: kibibytes("VmHWM:")? * 1024,
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn figures_are_those_of_the_process() {
        let usage = super::usage(std::process::id()).unwrap();
        assert!(usage.resident > 1 << 20);
        assert!(usage.peak >= usage.resident);
    }
}
