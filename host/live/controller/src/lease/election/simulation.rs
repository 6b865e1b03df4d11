//! Contenders under arbitrary faults: requests and answers that are slow or lost, processes that are paused, clocks that
//! run at different speeds. Two of them must never lead at the same time.
//!
//! Time is a number that the simulation advances from event to event, so that hours take milliseconds. A seed determines
//! everything; a failure names it.
//!
//! It is beside the world of `tests/world`, whose processes hold elections as well, because it needs neither bindings nor clusters: so it lives
//! an hour of three contenders in milliseconds, with clocks that drift.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::tests::Server;
use super::{Answer, Election, Next, Request};
use crate::lease::{LeaseName, LeaseOptions, LeaseTiming, Moment};

const CONTENDERS: usize = 3;
/// Simulated time per seed.
const SPAN: u64 = 3_600_000;
/// Time after which a contender gives up a request, in milliseconds of true time.
const TIMEOUT: u64 = 5_000;

/// A sequence of numbers that looks random.
struct Numbers(SplitMix64);

impl Numbers {
    fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// A number below `limit`.
    fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64() % limit
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// Events of a contender or of one of its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Begin,
    /// The request reaches the server.
    Effect {
        request: usize,
    },
    /// The answer reaches the contender.
    Answer {
        request: usize,
    },
    Timeout {
        request: usize,
    },
}

struct Contender {
    election: Election,
    /// The clock: where it began, and its speed in thousandths.
    offset: u64,
    speed: u64,
    /// The request whose answer is awaited.
    awaited: Option<usize>,
}

impl Contender {
    fn moment(&self, time: u64) -> Moment {
        Moment::new(Duration::from_millis(self.offset + time * self.speed / 1000))
    }

    fn leads(&self, time: u64) -> bool {
        self.election.tenure(self.moment(time)).is_some()
    }
}

struct Simulation {
    numbers: Numbers,
    server: Server,
    contenders: Vec<Contender>,
    /// Every request so far, with its answer once it has taken effect.
    requests: Vec<(Request, Option<Answer>)>,
    events: BinaryHeap<Reverse<(u64, u64, usize, Event)>>,
    order: u64,
}

impl Simulation {
    fn new(seed: u64) -> Self {
        let mut numbers = Numbers::new(seed);
        let contenders = (0..CONTENDERS).map(|index| Contender {
            election: Election::new(LeaseOptions {
                name: LeaseName::for_scheduler("default-scheduler"),
                identity: format!("contender-{index}"),
                timing: LeaseTiming::default(),
            }),
            offset: numbers.below(1_000_000_000),
            speed: 900 + numbers.below(200),
            awaited: None,
        });
        let contenders = contenders.collect();
        let mut simulation = Self {
            numbers,
            server: Server::default(),
            contenders,
            requests: Vec::new(),
            events: BinaryHeap::new(),
            order: 0,
        };
        for index in 0..CONTENDERS {
            simulation.later(0, index, Event::Begin);
        }
        simulation
    }

    fn later(&mut self, time: u64, contender: usize, event: Event) {
        self.order += 1;
        self.events.push(Reverse((time, self.order, contender, event)));
    }

    /// A delay in milliseconds: usually short, sometimes longer than every deadline.
    fn delay(&mut self) -> u64 {
        let limit = match self.numbers.below(20) {
            0 => 40_000,
            1..4 => 6_000,
            _ => 50,
        };
        self.numbers.below(limit)
    }

    fn send(&mut self, time: u64, index: usize, request: Request) {
        let id = self.requests.len();
        self.requests.push((request, None));
        self.contenders[index].awaited = Some(id);
        if !self.numbers.chance(5) {
            let effect = time + self.delay();
            self.later(effect, index, Event::Effect { request: id });
        }
        // A process that is paused finds answer and timeout when it wakes, in either order.
        let pause = if self.numbers.chance(2) {
            self.numbers.below(60_000)
        } else {
            0
        };
        self.later(time + TIMEOUT.max(pause), index, Event::Timeout { request: id });
    }

    fn advance(&mut self, time: u64, index: usize, answer: Answer) {
        let contender = &mut self.contenders[index];
        contender.awaited = None;
        let now = contender.moment(time);
        match contender.election.advance(answer, now, wall(time)) {
            Next::Send(request) => self.send(time, index, request),
            Next::Done => {
                let pause = if self.numbers.chance(2) {
                    self.numbers.below(60_000)
                } else {
                    self.numbers.below(4_400)
                };
                self.later(time + pause, index, Event::Begin);
            }
        }
    }

    fn handle(&mut self, time: u64, index: usize, event: Event) {
        match event {
            Event::Begin => {
                let contender = &mut self.contenders[index];
                let request = contender.election.begin(contender.moment(time), wall(time));
                self.send(time, index, request);
            }
            Event::Effect { request } => {
                let (content, answer) = &mut self.requests[request];
                *answer = Some(self.server.handle(content));
                if !self.numbers.chance(5) {
                    let arrival = time + self.delay();
                    self.later(arrival, index, Event::Answer { request });
                }
            }
            Event::Answer { request } if self.contenders[index].awaited == Some(request) => {
                if let Some(answer) = self.requests[request].1.take() {
                    self.advance(time, index, answer);
                }
            }
            Event::Timeout { request } if self.contenders[index].awaited == Some(request) => {
                self.advance(time, index, Answer::Failed);
            }
            // The contender no longer waits for it.
            Event::Answer { .. } | Event::Timeout { .. } => {}
        }
    }
}

fn wall(time: u64) -> Timestamp {
    let time = i64::try_from(time).expect("a small number");
    Timestamp::from_millisecond(1_800_000_000_000 + time).expect("a time of day")
}

#[test]
fn two_contenders_never_lead_at_the_same_time() {
    let (mut led, mut changes) = (0_u64, 0);
    for seed in 0..40 {
        let mut simulation = Simulation::new(seed);
        let mut previous = None;
        while let Some(Reverse((time, _, index, event))) = simulation.events.pop() {
            if time > SPAN {
                break;
            }
            simulation.handle(time, index, event);
            let contenders = simulation.contenders.iter().enumerate();
            let leaders: Vec<usize> = contenders
                .filter(|(_, known)| known.leads(time))
                .map(|(index, _)| index)
                .collect();
            assert!(leaders.len() <= 1, "seed {seed}: {leaders:?} lead at {time} ms");
            if let Some(leader) = leaders.first().copied() {
                led += 1;
                changes += u32::from(previous.is_some_and(|previous| previous != leader));
                previous = Some(leader);
            }
        }
    }
    // The faults neither keep everyone from leading nor leave one in peace.
    assert!(
        led > 10_000 && changes > 100,
        "{led} events with a leader, {changes} changes of leader"
    );
}
