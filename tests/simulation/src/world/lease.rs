//! The lease: the real election of each process, and the record that they contend for.

use divvy_controller::lease::{Answer, LeaseTiming, Moment, Next, Request, Role};
use divvy_world::agenda::Millis;
use divvy_world::plane::EPOCH;
use k8s_openapi::jiff::Timestamp;

use super::{Event, World};

/// A step of a conversation about the lease.
#[derive(Debug)]
pub(crate) enum LeaseEvent {
    /// An attempt begins.
    Begin,
    /// A request reaches the API server; false if its answer is lost.
    Arrive(Box<Request>, bool),
    /// An answer reaches the process.
    Answer(Box<Answer>),
}

impl World<'_> {
    pub(super) fn begin_election(&mut self, incarnation: u64) {
        let delay = self.network.between(1, 200);
        self.enter(delay, Event::Lease(incarnation, LeaseEvent::Begin));
    }

    pub(super) fn lease_event(&mut self, incarnation: u64, event: LeaseEvent) {
        // A request that is under way arrives whether its sender stands still or not.
        if let LeaseEvent::Arrive(request, is_answered) = event {
            let answer = self.lease.carry_out(&request, self.now);
            let delay = self.network.between(1, 15);
            if is_answered {
                self.enter(delay, Event::Lease(incarnation, LeaseEvent::Answer(Box::new(answer))));
            }
            return;
        }
        let now = self.now;
        let until = self.process(incarnation).map_or(0, |process| process.stalled_until);
        if until > now {
            self.enter(until - now, Event::Lease(incarnation, event));
            return;
        }
        let (moment, wall) = (self.lease_moment(), self.lease_wall());
        let Some(process) = self.process(incarnation) else {
            return;
        };
        match event {
            LeaseEvent::Begin => {
                let request = process.election.begin(moment, wall);
                self.publish_role(incarnation);
                self.send_about_lease(incarnation, request);
            }
            LeaseEvent::Answer(answer) => {
                let next = process.election.advance(*answer, moment, wall);
                self.publish_role(incarnation);
                match next {
                    Next::Send(request) => self.send_about_lease(incarnation, request),
                    Next::Done => self.pause_election(incarnation),
                }
            }
            LeaseEvent::Arrive(..) => {}
        }
    }

    fn send_about_lease(&mut self, incarnation: u64, request: Request) {
        let timing = LeaseTiming::default();
        let now = self.now;
        let Some(process) = self.process(incarnation) else {
            return;
        };
        let fails = process.lease_fails_until > now;
        // A holder's attempt ends when its term does.
        let deadline = timing.renew_deadline / 2;
        let deadline = process
            .fence
            .remaining()
            .map_or(deadline, |remaining| remaining.min(deadline));
        let deadline = Millis::try_from(deadline.as_millis()).unwrap_or(Millis::MAX).max(1);
        let delay = self.network.between(1, 15);
        let arrives = !fails || self.network.chance(40);
        if arrives {
            self.enter(
                delay,
                Event::Lease(incarnation, LeaseEvent::Arrive(Box::new(request), !fails)),
            );
        }
        if fails {
            self.enter(
                deadline,
                Event::Lease(incarnation, LeaseEvent::Answer(Box::new(Answer::Failed))),
            );
        }
    }

    fn pause_election(&mut self, incarnation: u64) {
        let period = Millis::try_from(LeaseTiming::default().retry_period.as_millis()).unwrap_or(2_000);
        let Some(process) = self.process(incarnation) else {
            return;
        };
        let remaining = process.fence.remaining();
        let pause = match remaining {
            Some(remaining) => period.min(Millis::try_from(remaining.as_millis()).unwrap_or(period)),
            None => period + self.network.between(0, period * 12 / 10),
        };
        self.enter(pause.max(1), Event::Lease(incarnation, LeaseEvent::Begin));
    }

    /// Passes the state of the election on to the fence and to the engine.
    fn publish_role(&mut self, incarnation: u64) {
        let (now, moment) = (self.lease_moment(), self.moment());
        let Some(process) = self.process(incarnation) else {
            return;
        };
        process.fence.set(process.election.tenure(now));
        let role = process.election.role(now);
        if role == process.role {
            return;
        }
        let term = match &role {
            Role::Leader(term) => Some(*term),
            Role::Standby { .. } => None,
        };
        process.role = role;
        if term.is_some() {
            self.books.led_at = self.now;
        }
        let Some(process) = self.process(incarnation) else {
            return;
        };
        process.engine.lead(term, &moment);
        self.note(|| match term {
            Some(term) => format!("number {incarnation} leads, term {}", term.0),
            None => format!("number {incarnation} stands by"),
        });
        self.pump(incarnation);
    }

    /// Lets requests of a process about the lease fail.
    pub(super) fn lose_lease_requests(&mut self, slot: usize, millis: Millis) {
        let until = self.now + millis;
        if let Some(process) = self.processes.get_mut(slot).and_then(Option::as_mut) {
            process.lease_fails_until = until;
        }
    }

    fn lease_moment(&self) -> Moment {
        Moment::new(self.started.elapsed())
    }

    fn lease_wall(&self) -> Timestamp {
        let milliseconds = EPOCH * 1000 + i64::try_from(self.now).unwrap_or(0);
        Timestamp::from_millisecond(milliseconds).unwrap_or_default()
    }
}
