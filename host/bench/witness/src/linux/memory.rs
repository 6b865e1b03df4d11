//! Memory in use.

use std::fs;

use crate::MemoryInUse;

/// Memory that is in use now.
pub fn memory_in_use() -> MemoryInUse {
    MemoryInUse {
        allocated: allocated(),
        resident: resident(),
    }
}

/// Bytes in blocks of the C library's allocator, whatever thread allocated them.
#[cfg(target_env = "gnu")]
fn allocated() -> u32 {
    // `mallinfo2` has numbers of 64 bits, but C libraries before 2.33 do not have it, and this program would not start there.
    // SAFETY: it only counts.
    let info = unsafe { libc::mallinfo() };
    info.uordblks.cast_unsigned().wrapping_add(info.hblkhd.cast_unsigned())
}

#[cfg(not(target_env = "gnu"))]
fn allocated() -> u32 {
    0
}

/// Bytes of private memory of this process; 0 if the system does not say.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kilobytes.unwrap_or(0).saturating_mul(1024)
}
