//! Name, identity and times of a lease.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::time::Duration;

/// Namespace and name of a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseName {
    /// The namespace.
    pub namespace: String,
    /// The name.
    pub name: String,
}

/// The namespace of Karmada's leases.
const NAMESPACE: &str = "karmada-system";

/// The scheduler name that karmada-scheduler has, and the name of its lease.
const KARMADAS_SCHEDULER: (&str, &str) = ("default-scheduler", "karmada-scheduler");

impl LeaseName {
    /// The lease of the scheduler with this name (`spec.schedulerName` of bindings).
    ///
    /// For `default-scheduler` it is karmada-scheduler's own lease, so that the two never schedule the same bindings. Any
    /// other name has a lease of its own, `divvy-<name>`.
    pub fn for_scheduler(scheduler: &str) -> Self {
        let name = match KARMADAS_SCHEDULER {
            (karmadas, lease) if scheduler == karmadas => lease.to_owned(),
            _ => format!("divvy-{scheduler}"),
        };
        Self {
            namespace: NAMESPACE.to_owned(),
            name,
        }
    }
}

/// Times of a lease. The default is Karmada's: 15, 10 and 2 seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeaseTiming {
    /// Time without a visible change after which a contender takes the lease. Whole seconds, as in the record.
    pub lease_duration: Duration,
    /// Time after the last renewal at which the holder stops writing.
    pub renew_deadline: Duration,
    /// Time between renewals, and between a contender's attempts (plus jitter).
    pub retry_period: Duration,
}

impl Default for LeaseTiming {
    fn default() -> Self {
        Self {
            lease_duration: Duration::from_secs(15),
            renew_deadline: Duration::from_secs(10),
            retry_period: Duration::from_secs(2),
        }
    }
}

/// Times that would let two schedulers lead at once, or none keep the lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TimingError {
    /// The lease would be gone before its holder stops writing.
    #[error("the lease duration ({}) must be greater than the renew deadline ({})", seconds(.0), seconds(.1))]
    Duration(Duration, Duration),
    /// The holder would stop before it had a second chance to renew.
    #[error(
        "the renew deadline ({}) must be greater than {} times the retry period ({})",
        seconds(.0),
        JITTER,
        seconds(.1)
    )]
    Deadline(Duration, Duration),
    /// The record holds whole seconds, at least one.
    #[error("the lease duration ({}) must be a whole number of seconds, at least 1", seconds(.0))]
    Seconds(Duration),
    /// The holder would renew without pause.
    #[error("the retry period must not be 0")]
    Period,
}

fn seconds(time: &Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

/// Retry periods that a contender waits at most in addition, so that contenders do not all try at once. As in client-go.
pub(super) const JITTER: f64 = 1.2;

impl LeaseTiming {
    /// Checks that one holder stops before the next begins.
    ///
    /// # Errors
    ///
    /// A [`TimingError`]. The scheduler must not start with such times.
    pub(crate) fn validate(&self) -> Result<(), TimingError> {
        let Self {
            lease_duration,
            renew_deadline,
            retry_period,
        } = *self;
        if lease_duration.as_secs() == 0 || lease_duration.subsec_nanos() != 0 {
            return Err(TimingError::Seconds(lease_duration));
        }
        if lease_duration <= renew_deadline {
            return Err(TimingError::Duration(lease_duration, renew_deadline));
        }
        if renew_deadline <= retry_period.mul_f64(JITTER) {
            return Err(TimingError::Deadline(renew_deadline, retry_period));
        }
        if retry_period.is_zero() {
            return Err(TimingError::Period);
        }
        Ok(())
    }

    /// Time for one request about the lease: a holder gets two tries before its deadline.
    pub(super) fn request_timeout(&self) -> Duration {
        (self.renew_deadline / 2)
            .max(Duration::from_secs(1))
            .min(self.renew_deadline)
    }

    /// The lease's duration in the record's unit.
    pub(super) fn lease_seconds(&self) -> i32 {
        i32::try_from(self.lease_duration.as_secs()).unwrap_or(i32::MAX)
    }
}

/// Options of an election.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeaseOptions {
    /// Name of the lease.
    pub name: LeaseName,
    /// The contender's name in the record. Two contenders must never share one: see [`unique_identity`].
    pub identity: String,
    /// Times of the lease.
    pub timing: LeaseTiming,
}

/// An identity of the form `<host>_<random>`, like client-go's: the host's name (in a pod, the pod's) shows who holds the
/// lease, and 128 random bits distinguish a process from the one before it in the same pod.
pub fn unique_identity() -> String {
    let system = rustix::system::uname();
    let host = system.nodename().to_string_lossy();
    format!("{host}_{:016x}{:016x}", random(), random())
}

/// A random number. The standard library seeds each `RandomState` with random keys, which saves a dependency; the numbers
/// only have to be distinct.
pub(super) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
