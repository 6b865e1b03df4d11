//! The clock of the lease.
//!
//! It is monotonic and includes the time in which a machine was suspended: a virtual machine that wakes after a minute must
//! not regard its lease as fresh. `std::time::Instant` does not promise that, and on Linux it stops meanwhile.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// A point in time, as the time since some moment before the process started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(Duration);

impl Moment {
    /// The moment this long after the clock's origin.
    pub const fn new(since_origin: Duration) -> Self {
        Self(since_origin)
    }

    /// The moment `span` later. Saturates.
    #[must_use]
    pub(crate) fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(span))
    }

    /// Time from `earlier` until this moment; zero if `earlier` is not earlier.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

/// A source of moments that never go backwards.
pub trait Clock: Send + Sync {
    /// The current moment.
    fn now(&self) -> Moment;
}

/// The system's clock since boot, suspension included.
#[derive(Debug, Clone, Copy, Default)]
pub struct BootClock;

impl BootClock {
    #[cfg(target_os = "linux")]
    const ID: ClockId = ClockId::Boottime;
    /// Elsewhere, for development only: a suspended machine is not noticed.
    #[cfg(not(target_os = "linux"))]
    const ID: ClockId = ClockId::Monotonic;
}

impl Clock for BootClock {
    fn now(&self) -> Moment {
        let time = clock_gettime(Self::ID);
        // Neither part of a clock that starts at boot is negative.
        let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
        let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or(0);
        Moment(Duration::new(seconds, nanoseconds))
    }
}
