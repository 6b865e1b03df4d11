//! The lease on the real API server, under the rights of `examples/deploy`: two contenders, a crash of the server, release.
//!
//! Time is real, because the server is: where it is paused, every deadline of a request would end at once. `host/live/controller` and the
//! simulation have the election in virtual time. Whole lease durations are waited for only where nothing is to happen.

use std::sync::Arc;
use std::time::{Duration, Instant};

use divvy_controller::lease::{
    BootClock, Elector, Fence, LeaseName, LeaseOptions, LeaseTiming, LeasesOfCluster, Term, unique_identity,
};
use k8s_openapi::api::coordination::v1::Lease;
use kube::{Api, Client};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{Failure, Fixture, PATIENCE};

/// Shorter than Karmada's, so that the test is.
const TIMING: LeaseTiming = LeaseTiming {
    lease_duration: Duration::from_secs(4),
    renew_deadline: Duration::from_secs(3),
    retry_period: Duration::from_millis(500),
};

struct Contender {
    identity: String,
    fence: Fence,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

fn start(client: &Client) -> Result<Contender, Failure> {
    let name = LeaseName::for_scheduler("divvy");
    let api = LeasesOfCluster::new(Api::namespaced(client.clone(), &name.namespace), &name.name);
    let identity = unique_identity();
    let fence = Fence::new(Arc::new(BootClock));
    let options = LeaseOptions {
        name,
        identity: identity.clone(),
        timing: TIMING,
    };
    let stop = CancellationToken::new();
    let elector = Elector::new(api, options, fence.clone())?;
    Ok(Contender {
        identity,
        fence,
        task: tokio::spawn(elector.run(stop.clone())),
        stop,
    })
}

impl Contender {
    /// Waits until the fence is open or closed. Returns the time that it took.
    async fn wait(&self, open: bool) -> Result<Duration, Failure> {
        let start = Instant::now();
        while self.fence.term().is_some() != open {
            if start.elapsed() > PATIENCE {
                return Err(format!(
                    "the fence of {} is still {}",
                    self.identity,
                    if open { "closed" } else { "open" }
                )
                .into());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(start.elapsed())
    }
}

async fn lease(client: &Client) -> Result<Lease, Failure> {
    let api: Api<Lease> = Api::namespaced(client.clone(), "karmada-system");
    Ok(api.get("divvy-divvy").await?)
}

#[tokio::test]
async fn one_of_two_leads_and_the_other_follows_at_once_or_after_a_crash() -> Result<(), Failure> {
    let mut fixture = Fixture::with_own_servers().await?;
    let divvy = fixture.deploy().await?;
    let one = start(&divvy)?;
    one.wait(true).await?;
    let two = start(&divvy)?;
    tokio::time::sleep(TIMING.lease_duration * 2).await;
    assert_eq!((one.fence.term(), two.fence.term()), (Some(Term(1)), None));

    let spec = lease(&fixture.admin)
        .await?
        .spec
        .ok_or("a lease without a specification")?;
    assert_eq!(spec.holder_identity.as_deref(), Some(one.identity.as_str()));
    assert_eq!(
        (spec.lease_duration_seconds, spec.lease_transitions),
        (Some(4), Some(0))
    );

    // Without the server, the leader stops by itself, and no one else begins.
    fixture.control_plane.kill_api_server();
    let took = one.wait(false).await?;
    assert!(
        took <= TIMING.renew_deadline + Duration::from_millis(500),
        "took {took:?}"
    );
    assert_eq!(two.fence.term(), None);
    tokio::time::sleep(TIMING.lease_duration).await;
    assert_eq!((one.fence.term(), two.fence.term()), (None, None));

    // The first contender after the server is back leads, and no other.
    fixture.control_plane.start_api_server().await?;
    let start = Instant::now();
    while one.fence.term().is_none() && two.fence.term().is_none() {
        assert!(start.elapsed() < PATIENCE, "no one leads");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let (leader, follower) = if one.fence.term().is_some() {
        (one, two)
    } else {
        (two, one)
    };
    tokio::time::sleep(TIMING.lease_duration).await;
    assert!(leader.fence.term().is_some() && follower.fence.term().is_none());

    // A release hands over at once: sooner than a lease expires.
    leader.stop.cancel();
    leader.task.await?;
    assert_eq!(leader.fence.term(), None);
    let took = follower.wait(true).await?;
    assert!(took < TIMING.renew_deadline, "took {took:?}");
    let spec = lease(&fixture.admin)
        .await?
        .spec
        .ok_or("a lease without a specification")?;
    assert_eq!(spec.holder_identity.as_deref(), Some(follower.identity.as_str()));
    assert!(spec.lease_transitions >= Some(1), "{spec:?}");
    follower.stop.cancel();
    follower.task.await?;
    let spec = lease(&fixture.admin)
        .await?
        .spec
        .ok_or("a lease without a specification")?;
    assert_eq!(spec.holder_identity.as_deref(), Some(""));
    Ok(())
}
