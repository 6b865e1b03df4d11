//! Memory and threads that a process has.

use std::fs;
use std::io;

/// Memory and threads of a process, which no limit of the kernel bounds for one that means to evade it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footprint {
    /// Bytes of private memory that the process has written to, in memory or swapped out, and of the tables of its pages.
    pub memory: u64,
    /// Threads.
    pub threads: u64,
}

/// The [`Footprint`] of a process. For the host of a confined process, which should end it when its memory is far above
/// [`Limits::memory_bytes`](crate::sandbox::Limits::memory_bytes) and the process's own memory.
///
/// The limit of the kernel counts what is writable, so a process can evade it on purpose: it fills memory, makes it read-only, and
/// goes on; or it reads memory that it never writes, which takes tables of pages. This figure counts both.
///
/// # Errors
///
/// If the process has ended, or /proc cannot be read.
pub fn footprint(process: u32) -> io::Result<Footprint> {
    // The name of the process is in it, and is the worker's own.
    let status = fs::read(format!("/proc/{process}/status"))?;
    let status = String::from_utf8_lossy(&status);
    let resident = figure(&status, "RssAnon:").ok_or_else(|| incomplete("RssAnon"))?;
    // Kernels without swap have no such line.
    let others = ["VmSwap:", "VmPTE:"].map(|name| figure(&status, name).unwrap_or(0));
    Ok(Footprint {
        memory: others.into_iter().fold(resident, u64::saturating_add),
        threads: count(&status, "Threads:").ok_or_else(|| incomplete("Threads"))?,
    })
}

/// Bytes of private writable memory of this process, as `RLIMIT_DATA` counts them.
pub(super) fn writable() -> io::Result<u64> {
    own("VmData:")
}

/// Bytes of addresses of this process, as `RLIMIT_AS` counts them.
pub(super) fn mapped() -> io::Result<u64> {
    own("VmSize:")
}

fn own(name: &str) -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    figure(&status, name).ok_or_else(|| incomplete(name))
}

fn incomplete(name: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the process's status has no {}", name.trim_end_matches(':')),
    )
}

/// A figure of /proc/PID/status, in bytes.
fn figure(status: &str, name: &str) -> Option<u64> {
    line(status, name)?
        .strip_suffix(" kB")?
        .parse::<u64>()
        .ok()?
        .checked_mul(1024)
}

/// A figure of /proc/PID/status without a unit.
fn count(status: &str, name: &str) -> Option<u64> {
    line(status, name)?.parse().ok()
}

/// The value in a line of /proc/PID/status. The system escapes line feeds in the name of a process, so no line is the process's own.
fn line<'a>(status: &'a str, name: &str) -> Option<&'a str> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_in_bytes() {
        let status = "Name:\tdivvy\nVmData:\t    1234 kB\nRssAnon:\t 99999999999999999999 kB\nVmSwap:\tmuch\n";
        assert_eq!(figure(status, "VmData:"), Some(1234 * 1024));
        // A zombie has none; the others do not occur.
        for name in ["VmStk:", "RssAnon:", "VmSwap:"] {
            assert_eq!(figure(status, name), None, "{name}");
        }
        assert_eq!(count("Name:\tdivvy\nThreads:\t7\n", "Threads:"), Some(7));
    }

    #[test]
    fn the_footprint_of_this_process_is_found() {
        let footprint = footprint(std::process::id()).expect("/proc can be read");
        assert!(footprint.memory > 0 && footprint.threads > 0, "{footprint:?}");
    }
}
