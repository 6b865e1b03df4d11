//! Contenders in front of an API server in memory, each with its own clock.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::jiff::Timestamp;

use super::{Answer, Election, Next, Request, Role, Term};
use crate::lease::{LeaseName, LeaseOptions, LeaseTiming, Moment};

/// Outcome of a request in transit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// The request is lost.
    Lost,
    /// The request takes effect and its answer is lost.
    AnswerLost,
}

/// Leases of a cluster, with resourceVersions.
#[derive(Debug, Default)]
pub(super) struct Server {
    lease: Option<Lease>,
    version: u64,
    /// Requests so far, as words.
    log: Vec<&'static str>,
}

impl Server {
    fn store(&mut self, lease: &Lease) -> Answer {
        self.version += 1;
        let mut stored = lease.clone();
        stored.metadata.resource_version = Some(self.version.to_string());
        self.lease = Some(stored.clone());
        Answer::Lease(Box::new(stored))
    }

    pub(super) fn handle(&mut self, request: &Request) -> Answer {
        match request {
            Request::Get => {
                self.log.push("get");
                let lease = self.lease.clone();
                lease.map_or(Answer::NotFound, |lease| Answer::Lease(Box::new(lease)))
            }
            Request::Create(lease) => {
                self.log.push("create");
                if self.lease.is_some() {
                    return Answer::Conflict;
                }
                self.store(lease)
            }
            Request::Update(lease) => {
                self.log.push("update");
                match &self.lease {
                    None => Answer::NotFound,
                    Some(current) if current.metadata.resource_version != lease.metadata.resource_version => {
                        Answer::Conflict
                    }
                    Some(_) => self.store(lease),
                }
            }
        }
    }

    fn holder(&self) -> Option<&str> {
        self.lease.as_ref()?.spec.as_ref()?.holder_identity.as_deref()
    }

    fn transitions(&self) -> Option<i32> {
        self.lease.as_ref()?.spec.as_ref()?.lease_transitions
    }

    fn take(&mut self) -> Vec<&'static str> {
        std::mem::take(&mut self.log)
    }
}

/// A contender, with the difference of its clock from the test's.
struct Contender {
    election: Election,
    offset: u64,
}

impl Contender {
    fn new(identity: &str, offset: u64) -> Self {
        let options = LeaseOptions {
            name: LeaseName::for_scheduler("default-scheduler"),
            identity: identity.to_owned(),
            timing: LeaseTiming::default(),
        };
        Self {
            election: Election::new(options),
            offset,
        }
    }

    fn moment(&self, second: u64) -> Moment {
        Moment::new(Duration::from_secs(second + self.offset))
    }

    /// One whole attempt at a second of the test.
    fn attempt(&mut self, server: &mut Server, second: u64, fault: Fault) -> Role {
        let now = self.moment(second);
        let mut request = self.election.begin(now, wall(second));
        loop {
            let answer = match fault {
                Fault::None => server.handle(&request),
                Fault::Lost => Answer::Failed,
                Fault::AnswerLost => {
                    server.handle(&request);
                    Answer::Failed
                }
            };
            match self.election.advance(answer, now, wall(second)) {
                Next::Send(next) => request = next,
                Next::Done => return self.role(second),
            }
        }
    }

    fn role(&self, second: u64) -> Role {
        self.election.role(self.moment(second))
    }
}

fn wall(second: u64) -> Timestamp {
    let second = i64::try_from(second).expect("a small number");
    Timestamp::from_second(1_800_000_000 + second).expect("a time of day")
}

fn leader(term: u64) -> Role {
    Role::Leader(Term(term))
}

/// No other process holds the lease.
const NO_LEADER: Role = Role::Standby { holder: None };

fn standby(holder: &str) -> Role {
    Role::Standby {
        holder: Some(holder.to_owned()),
    }
}

#[test]
fn the_first_contender_creates_the_lease_and_the_second_waits() {
    let mut server = Server::default();
    let (mut one, mut two) = (Contender::new("one", 0), Contender::new("two", 0));
    assert_eq!(one.attempt(&mut server, 0, Fault::None), leader(1));
    assert_eq!(server.take(), ["get", "create"]);
    assert_eq!(two.attempt(&mut server, 1, Fault::None), standby("one"));
    assert_eq!(server.take(), ["get"]);

    let lease = server.lease.as_ref().expect("a lease");
    let spec = lease.spec.as_ref().expect("a specification");
    assert_eq!(
        (lease.metadata.namespace.as_deref(), lease.metadata.name.as_deref()),
        (Some("karmada-system"), Some("karmada-scheduler"))
    );
    assert_eq!(
        (spec.lease_duration_seconds, spec.lease_transitions),
        (Some(15), Some(0))
    );
    assert_eq!(spec.renew_time.as_ref().map(|time| time.0), Some(wall(0)));
}

#[test]
fn a_leader_renews_with_one_request_and_keeps_its_term() {
    let mut server = Server::default();
    let mut one = Contender::new("one", 0);
    one.attempt(&mut server, 0, Fault::None);
    server.take();
    for second in (2..=60).step_by(2) {
        assert_eq!(
            one.attempt(&mut server, second, Fault::None),
            leader(1),
            "second {second}"
        );
    }
    assert_eq!(server.take(), ["update"; 30]);
    let spec = server
        .lease
        .as_ref()
        .and_then(|lease| lease.spec.clone())
        .expect("a specification");
    let (acquired, renewed) = (spec.acquire_time.map(|time| time.0), spec.renew_time.map(|time| time.0));
    assert_eq!((acquired, renewed), (Some(wall(0)), Some(wall(60))));
    assert_eq!(server.transitions(), Some(0));
}

#[test]
fn a_lease_is_taken_when_no_change_was_seen_for_its_duration() {
    let mut server = Server::default();
    // Their clocks differ by years; only differences of each contender's own clock count.
    let (mut one, mut two) = (Contender::new("one", 1_000_000_000), Contender::new("two", 5));
    one.attempt(&mut server, 0, Fault::None);
    for (second, expected) in [(3, standby("one")), (17, standby("one")), (18, leader(1))] {
        assert_eq!(
            two.attempt(&mut server, second, Fault::None),
            expected,
            "second {second}"
        );
    }
    assert_eq!((server.holder(), server.transitions()), (Some("two"), Some(1)));
}

#[test]
fn each_renewal_that_is_seen_starts_the_wait_anew() {
    let mut server = Server::default();
    let (mut one, mut two) = (Contender::new("one", 0), Contender::new("two", 0));
    for second in (0..100).step_by(2) {
        one.attempt(&mut server, second, Fault::None);
        assert_eq!(two.attempt(&mut server, second + 1, Fault::None), standby("one"));
    }
}

#[test]
fn an_annotation_on_the_lease_does_not_prolong_it() {
    let mut server = Server::default();
    let (mut one, mut two) = (Contender::new("one", 0), Contender::new("two", 0));
    one.attempt(&mut server, 0, Fault::None);
    two.attempt(&mut server, 0, Fault::None);
    let mut annotated = server.lease.clone().expect("a lease");
    annotated.metadata.annotations = Some([("note".to_owned(), "x".to_owned())].into());
    server.store(&annotated);
    two.attempt(&mut server, 8, Fault::None);
    assert_eq!(two.attempt(&mut server, 15, Fault::None), leader(1));
    let kept = server.lease.and_then(|lease| lease.metadata.annotations);
    assert!(kept.is_some(), "the annotation of others is kept");
}

#[test]
fn a_leader_that_cannot_renew_stops_before_another_may_begin() {
    for fault in [Fault::Lost, Fault::AnswerLost] {
        let mut server = Server::default();
        let (mut one, mut two) = (Contender::new("one", 0), Contender::new("two", 0));
        one.attempt(&mut server, 0, Fault::None);
        two.attempt(&mut server, 0, Fault::None);
        for second in 2..=30 {
            one.attempt(&mut server, second, fault);
            two.attempt(&mut server, second, Fault::None);
            let both = matches!(one.role(second), Role::Leader(_)) && matches!(two.role(second), Role::Leader(_));
            assert!(!both, "two leaders at second {second}, {fault:?}");
        }
        assert_eq!(
            one.role(30),
            one.role(10),
            "{fault:?}: a leader without answers stops after 10 seconds"
        );
        assert_eq!((server.holder(), two.role(30)), (Some("two"), leader(1)), "{fault:?}");
    }
}

#[test]
fn a_leader_that_was_paused_wakes_as_a_standby() {
    let mut server = Server::default();
    let (mut one, mut two) = (Contender::new("one", 0), Contender::new("two", 0));
    one.attempt(&mut server, 0, Fault::None);
    two.attempt(&mut server, 1, Fault::None);
    assert_eq!(two.attempt(&mut server, 16, Fault::None), leader(1));
    // Even before it has asked anyone, the clock closes the fence.
    assert_eq!(one.role(17), NO_LEADER, "its own record is not another holder");
    assert_eq!(one.attempt(&mut server, 17, Fault::None), standby("two"));
    // A later lead of the same process is another term.
    let release = two.election.release(wall(18)).expect("a request");
    server.handle(&release);
    assert_eq!(one.attempt(&mut server, 18, Fault::None), leader(2));
    assert_eq!(server.transitions(), Some(2));
}

#[test]
fn a_leader_that_comes_back_before_anyone_took_the_lease_begins_a_new_term() {
    for second in [12, 20] {
        let mut server = Server::default();
        let mut one = Contender::new("one", 0);
        one.attempt(&mut server, 0, Fault::None);
        assert_eq!(
            one.attempt(&mut server, second, Fault::None),
            leader(2),
            "second {second}"
        );
        assert_eq!(server.transitions(), Some(0), "the lease did not change hands");
    }
}

#[test]
fn one_of_two_contenders_for_an_expired_lease_wins() {
    let mut server = Server::default();
    let mut gone = Contender::new("gone", 0);
    let (mut one, mut two) = (Contender::new("one", 0), Contender::new("two", 0));
    gone.attempt(&mut server, 0, Fault::None);
    one.attempt(&mut server, 1, Fault::None);
    two.attempt(&mut server, 1, Fault::None);

    // Both read the same record, then both write.
    let begin = |contender: &mut Contender, server: &mut Server| {
        let request = contender.election.begin(contender.moment(16), wall(16));
        let answer = server.handle(&request);
        let Next::Send(update) = contender.election.advance(answer, contender.moment(16), wall(16)) else {
            panic!("an expired lease is taken")
        };
        update
    };
    let first = begin(&mut one, &mut server);
    let second = begin(&mut two, &mut server);
    for (contender, request) in [(&mut one, first), (&mut two, second)] {
        let answer = server.handle(&request);
        let next = contender.election.advance(answer, contender.moment(16), wall(16));
        assert_eq!(next, Next::Done);
    }
    assert_eq!(one.role(16), leader(1));
    assert_eq!(two.role(16), NO_LEADER, "the record that it saw has expired");
    assert_eq!(two.attempt(&mut server, 18, Fault::None), standby("one"));
}

#[test]
fn a_renewal_whose_answer_was_lost_does_not_end_the_term() {
    let mut server = Server::default();
    let mut one = Contender::new("one", 0);
    one.attempt(&mut server, 0, Fault::None);
    assert_eq!(one.attempt(&mut server, 2, Fault::AnswerLost), leader(1));
    server.take();
    assert_eq!(one.attempt(&mut server, 4, Fault::None), leader(1));
    // The version is stale, so the record is read again.
    assert_eq!(server.take(), ["update", "get", "update"]);
    assert_eq!(one.role(13), leader(1));
}

#[test]
fn a_leader_that_sees_another_holder_stops_at_once() {
    let mut server = Server::default();
    let mut one = Contender::new("one", 0);
    one.attempt(&mut server, 0, Fault::None);
    let mut stolen = server.lease.clone().expect("a lease");
    stolen.spec.get_or_insert_default().holder_identity = Some("operator".to_owned());
    server.store(&stolen);
    assert_eq!(one.attempt(&mut server, 2, Fault::None), standby("operator"));
}

#[test]
fn a_deleted_lease_is_created_again_in_a_new_term() {
    let mut server = Server::default();
    let mut one = Contender::new("one", 0);
    one.attempt(&mut server, 0, Fault::None);
    server.lease = None;
    assert_eq!(one.attempt(&mut server, 2, Fault::None), leader(2));
}

#[test]
fn a_released_lease_is_free_at_once() {
    let mut server = Server::default();
    let (mut one, mut two) = (Contender::new("one", 0), Contender::new("two", 0));
    one.attempt(&mut server, 0, Fault::None);
    two.attempt(&mut server, 1, Fault::None);
    assert_eq!(two.election.release(wall(1)), None, "a standby has nothing to release");

    let request = one.election.release(wall(2)).expect("a request");
    assert_eq!(one.role(2), NO_LEADER, "it stops before the request is sent");
    let answer = server.handle(&request);
    assert_eq!(one.election.advance(answer, one.moment(2), wall(2)), Next::Done);
    assert!(one.election.is_released());
    assert_eq!(server.holder(), Some(""));
    assert_eq!(two.attempt(&mut server, 3, Fault::None), leader(1));
    assert_eq!(server.transitions(), Some(1));
}

#[test]
fn a_release_after_a_lost_answer_reads_the_record_first() {
    let mut server = Server::default();
    let mut one = Contender::new("one", 0);
    one.attempt(&mut server, 0, Fault::None);
    one.attempt(&mut server, 2, Fault::AnswerLost);
    server.take();
    let mut request = one.election.release(wall(3));
    while let Some(sent) = request.take() {
        let answer = server.handle(&sent);
        if let Next::Send(next) = one.election.advance(answer, one.moment(3), wall(3)) {
            request = Some(next);
        }
    }
    assert_eq!(server.take(), ["update", "get", "update"]);
    assert_eq!(server.holder(), Some(""));
    assert!(one.election.is_released());
    assert!(matches!(one.role(3), Role::Standby { .. }));
}

#[test]
fn the_time_of_day_may_jump() {
    let mut server = Server::default();
    let mut one = Contender::new("one", 0);
    one.attempt(&mut server, 0, Fault::None);
    for (second, jumped) in [(2, 90_000), (4, 0), (6, 50)] {
        let now = one.moment(second);
        let request = one.election.begin(now, wall(jumped));
        let answer = server.handle(&request);
        assert_eq!(one.election.advance(answer, now, wall(jumped)), Next::Done);
        assert_eq!(one.role(second), leader(1), "second {second}");
    }
}

#[test]
fn a_record_without_a_usable_duration_has_ours() {
    for seconds in [None, Some(0), Some(-5)] {
        let mut server = Server::default();
        let (mut one, mut two) = (Contender::new("one", 0), Contender::new("two", 0));
        one.attempt(&mut server, 0, Fault::None);
        let mut odd = server.lease.clone().expect("a lease");
        odd.spec.get_or_insert_default().lease_duration_seconds = seconds;
        server.store(&odd);
        assert_eq!(two.attempt(&mut server, 1, Fault::None), standby("one"), "{seconds:?}");
        assert_eq!(two.attempt(&mut server, 15, Fault::None), standby("one"), "{seconds:?}");
        assert_eq!(two.attempt(&mut server, 16, Fault::None), leader(1), "{seconds:?}");
    }
}
