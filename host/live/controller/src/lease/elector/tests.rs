//! The elector against an API server in memory, with a paused runtime whose clock the tests drive.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::{Elector, Role};
use crate::lease::api::{LeaseApi, LeaseApiError};
use crate::lease::{Clock, Fence, LeaseName, LeaseOptions, LeaseTiming, Moment, Term, TimingError, unique_identity};

/// The runtime's clock, which advances only when every task waits.
struct RuntimeClock(Instant);

impl Clock for RuntimeClock {
    fn now(&self) -> Moment {
        Moment::new(self.0.elapsed())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    Up,
    /// Every request fails.
    Failing,
    /// No request is answered.
    Hanging,
    /// Writes are refused.
    ReadOnly,
}

#[derive(Debug)]
struct State {
    lease: Option<Lease>,
    version: u64,
    health: Health,
}

#[derive(Debug, Clone)]
struct Server(Arc<Mutex<State>>);

impl Server {
    fn new() -> Self {
        Self(Arc::new(Mutex::new(State {
            lease: None,
            version: 0,
            health: Health::Up,
        })))
    }

    fn set(&self, health: Health) {
        self.0.lock().expect("not poisoned").health = health;
    }

    fn holder(&self) -> Option<String> {
        let state = self.0.lock().expect("not poisoned");
        state.lease.as_ref()?.spec.as_ref()?.holder_identity.clone()
    }

    /// Waits as long as the server's health demands.
    async fn reach(&self) -> Result<(), LeaseApiError> {
        sleep(Duration::from_millis(3)).await;
        let health = self.0.lock().expect("not poisoned").health;
        match health {
            Health::Up | Health::ReadOnly => Ok(()),
            Health::Failing => Err(LeaseApiError::Other("500".to_owned())),
            Health::Hanging => std::future::pending().await,
        }
    }

    fn store(&self, lease: &Lease, expected: impl Fn(Option<&Lease>) -> bool) -> Result<Lease, LeaseApiError> {
        let mut state = self.0.lock().expect("not poisoned");
        if state.health == Health::ReadOnly {
            return Err(LeaseApiError::Other("forbidden".to_owned()));
        }
        if !expected(state.lease.as_ref()) {
            return Err(LeaseApiError::Conflict);
        }
        state.version += 1;
        let mut stored = lease.clone();
        stored.metadata.resource_version = Some(state.version.to_string());
        state.lease = Some(stored.clone());
        Ok(stored)
    }
}

impl LeaseApi for Server {
    async fn get(&self) -> Result<Lease, LeaseApiError> {
        self.reach().await?;
        let lease = self.0.lock().expect("not poisoned").lease.clone();
        lease.ok_or(LeaseApiError::NotFound)
    }

    async fn create(&self, lease: &Lease) -> Result<Lease, LeaseApiError> {
        self.reach().await?;
        self.store(lease, |current| current.is_none())
    }

    async fn update(&self, lease: &Lease) -> Result<Lease, LeaseApiError> {
        self.reach().await?;
        let version = lease.metadata.resource_version.clone();
        self.store(lease, |current| {
            current.is_some_and(|current| current.metadata.resource_version == version)
        })
    }
}

/// An elector that runs.
struct Running {
    fence: Fence,
    role: tokio::sync::watch::Receiver<Role>,
    absence: tokio::sync::watch::Receiver<Option<String>>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

fn start(server: &Server, identity: &str, clock: &Arc<RuntimeClock>) -> Running {
    let fence = Fence::new(Arc::clone(clock) as Arc<dyn Clock>);
    let options = LeaseOptions {
        name: LeaseName::for_scheduler("x"),
        identity: identity.to_owned(),
        timing: LeaseTiming::default(),
    };
    let elector = Elector::new(server.clone(), options, fence.clone()).expect("valid times");
    let stop = CancellationToken::new();
    Running {
        fence,
        role: elector.role(),
        absence: elector.absence(),
        task: tokio::spawn(elector.run(stop.clone())),
        stop,
    }
}

async fn seconds(seconds: u64) {
    sleep(Duration::from_secs(seconds)).await;
}

fn clock() -> Arc<RuntimeClock> {
    Arc::new(RuntimeClock(Instant::now()))
}

#[tokio::test(start_paused = true)]
async fn a_leader_keeps_its_fence_open_and_releases_the_lease_at_the_end() {
    let (server, clock) = (Server::new(), clock());
    let one = start(&server, "one", &clock);
    seconds(1).await;
    assert_eq!(one.fence.term(), Some(Term(1)));
    let two = start(&server, "two", &clock);
    for _ in 0..30 {
        seconds(2).await;
        assert!(one.fence.allows(Term(1)), "the lease is renewed");
        assert!(!one.fence.allows(Term(2)));
        assert_eq!(two.fence.term(), None);
    }
    assert_eq!(
        *two.role.borrow(),
        Role::Standby {
            holder: Some("one".to_owned())
        }
    );

    one.stop.cancel();
    one.task.await.expect("the elector ends");
    assert_eq!(one.fence.term(), None);
    assert_eq!(server.holder().as_deref(), Some(""));
    // The longest pause of a contender is 2.2 retry periods.
    seconds(5).await;
    assert_eq!(two.fence.term(), Some(Term(1)));
    assert_eq!(server.holder().as_deref(), Some("two"));
}

#[tokio::test(start_paused = true)]
async fn the_fence_closes_at_the_renew_deadline_whatever_the_server_does() {
    for health in [Health::Failing, Health::Hanging] {
        let (server, clock) = (Server::new(), clock());
        let mut one = start(&server, "one", &clock);
        seconds(1).await;
        assert_eq!(one.fence.term(), Some(Term(1)));
        server.set(health);
        let began = Instant::now();
        one.role.mark_unchanged();
        one.role.changed().await.expect("the elector runs");
        // The record still names it, but it is not a standby of another process.
        assert_eq!(*one.role.borrow(), Role::Standby { holder: None }, "{health:?}");
        assert_eq!(one.fence.term(), None, "{health:?}");
        let took = began.elapsed();
        // The last renewal was at most 2 seconds before.
        let expected = Duration::from_secs(8)..=Duration::from_millis(10_100);
        assert!(expected.contains(&took), "{health:?}: {took:?}");

        server.set(Health::Up);
        seconds(10).await;
        assert_eq!(one.fence.term(), Some(Term(2)), "{health:?}: a gap begins a new term");
    }
}

#[tokio::test(start_paused = true)]
async fn a_short_outage_does_not_end_the_term() {
    let (server, clock) = (Server::new(), clock());
    let one = start(&server, "one", &clock);
    seconds(1).await;
    server.set(Health::Failing);
    seconds(6).await;
    assert_eq!(one.fence.term(), Some(Term(1)));
    server.set(Health::Up);
    seconds(20).await;
    assert_eq!(one.fence.term(), Some(Term(1)));
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_nobody_is_seen_to_hold_for_its_duration_is_reported_with_the_cause() {
    let (server, clock) = (Server::new(), clock());
    let one = start(&server, "one", &clock);
    seconds(1).await;
    let two = start(&server, "two", &clock);
    seconds(10).await;
    server.set(Health::Failing);
    let absent = |running: &Running| running.absence.borrow().clone();
    let expected =
        "neither this process nor another one holds the lease karmada-system/divvy-x, so nothing is scheduled: 500";
    // One loses the lease 8 to 10 seconds after its last renewal. Two believes the last record that it saw for 15 seconds.
    seconds(20).await;
    assert_eq!(absent(&one), None, "the lease's duration has not passed since the loss");
    let no_holder = Role::Standby { holder: None };
    assert_eq!((&*one.role.borrow(), &*two.role.borrow()), (&no_holder, &no_holder));
    seconds(15).await;
    assert_eq!(absent(&one).as_deref(), Some(expected));
    assert_eq!(absent(&two).as_deref(), Some(expected));
    server.set(Health::Up);
    seconds(10).await;
    assert_eq!((absent(&one), absent(&two)), (None, None));
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_can_be_read_and_not_be_written_is_reported_too() {
    let (server, clock) = (Server::new(), clock());
    server.set(Health::ReadOnly);
    let one = start(&server, "one", &clock);
    seconds(30).await;
    let absence = one.absence.borrow().clone().expect("it is reported");
    assert!(absence.ends_with("so nothing is scheduled: forbidden"), "{absence}");
}

#[tokio::test(start_paused = true)]
async fn there_are_never_two_open_fences() {
    let (server, clock) = (Server::new(), clock());
    let contenders: Vec<_> = ["one", "two", "three"].map(|name| start(&server, name, &clock)).into();
    let mut led = [false; 3];
    for round in 0..40 {
        server.set(if round % 4 == 3 { Health::Hanging } else { Health::Up });
        for _ in 0..50 {
            sleep(Duration::from_millis(250)).await;
            let open: Vec<_> = (0..3)
                .filter(|index| contenders[*index].fence.term().is_some())
                .collect();
            assert!(open.len() <= 1, "contenders {open:?} may write in round {round}");
            for index in open {
                led[index] = true;
            }
        }
    }
    assert!(led.contains(&true), "some contender led");
}

#[tokio::test(start_paused = true)]
async fn shutdown_does_not_wait_for_a_server_that_hangs() {
    let (server, clock) = (Server::new(), clock());
    let one = start(&server, "one", &clock);
    seconds(1).await;
    server.set(Health::Hanging);
    seconds(2).await;
    let began = Instant::now();
    one.stop.cancel();
    one.task.await.expect("the elector ends");
    assert!(began.elapsed() <= Duration::from_secs(2), "took {:?}", began.elapsed());
    assert_eq!(one.fence.term(), None);
}

#[tokio::test(start_paused = true)]
async fn a_scheduler_without_a_lease_may_always_write() {
    let clock = clock();
    let fence = Fence::without_lease(clock);
    seconds(1_000_000).await;
    assert!(fence.allows(Term(1)));
}

#[test]
fn times_that_allow_two_leaders_are_refused() {
    let timing = |lease: u64, renew: u64, retry: u64| LeaseTiming {
        lease_duration: Duration::from_millis(lease),
        renew_deadline: Duration::from_millis(renew),
        retry_period: Duration::from_millis(retry),
    };
    for (given, expected) in [
        (timing(15_000, 10_000, 2_000), None),
        (
            timing(10_000, 10_000, 2_000),
            Some("the lease duration (10 s) must be greater than the renew deadline (10 s)"),
        ),
        (
            timing(15_000, 2_400, 2_000),
            Some("the renew deadline (2.4 s) must be greater than 1.2 times the retry period (2 s)"),
        ),
        (
            timing(1_500, 1_000, 500),
            Some("the lease duration (1.5 s) must be a whole number of seconds, at least 1"),
        ),
        (timing(15_000, 10_000, 0), Some("the retry period must not be 0")),
    ] {
        let found = given.validate().map_err(|error: TimingError| error.to_string()).err();
        assert_eq!(found.as_deref(), expected, "{given:?}");
    }
}

#[test]
fn the_scheduler_name_decides_the_lease() {
    for (scheduler, lease) in [("default-scheduler", "karmada-scheduler"), ("batch", "divvy-batch")] {
        let name = LeaseName::for_scheduler(scheduler);
        assert_eq!((name.namespace.as_str(), name.name.as_str()), ("karmada-system", lease));
    }
}

#[test]
fn identities_differ_and_begin_with_the_host() {
    let (one, other) = (unique_identity(), unique_identity());
    assert_ne!(one, other);
    let host = |identity: &str| identity.rsplit_once('_').map(|(host, _)| host.to_owned());
    assert_eq!(host(&one), host(&other));
}
