//! Memory that a process uses.

use std::fs;
use std::io;

/// Bytes of private memory that a process has written to, in memory or swapped out. For the host of a confined process, which should end
/// it when this is far above [`Limits::memory_bytes`](crate::sandbox::Limits::memory_bytes) and the process's own memory.
///
/// The limit of the kernel counts what is writable, so a process can evade it on purpose: it fills memory, makes it read-only, and
/// goes on. This figure counts such memory.
///
/// # Errors
///
/// If the process has ended, or /proc cannot be read.
pub fn memory_used(process: u32) -> io::Result<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status"))?;
    let resident = figure(&status, "RssAnon:").ok_or_else(|| incomplete("RssAnon"))?;
    // Kernels without swap have no such line.
    Ok(resident.saturating_add(figure(&status, "VmSwap:").unwrap_or(0)))
}

/// Bytes of private writable memory of this process, as `RLIMIT_DATA` counts them.
pub(super) fn writable() -> io::Result<u64> {
    let status = fs::read_to_string("/proc/self/status")?;
    figure(&status, "VmData:").ok_or_else(|| incomplete("VmData"))
}

fn incomplete(name: &str) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("the process's status has no {name}"),
    )
}

/// A figure of /proc/PID/status, in bytes.
fn figure(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
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
    }
}
