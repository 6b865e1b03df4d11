//! A circuit breaker: stops asking an estimator that keeps failing, and asks again later.
//!
//! ```text
//!            failures_max in a row            the pause is over
//!   Closed ───────────────────────► Open ─────────────────────► HalfOpen (one trial)
//!     ▲                              ▲                             │   │
//!     │                              └──── the trial fails, ───────┘   │
//!     │                                    the pause doubles           │
//!     └───────────────────── a call succeeds ──────────────────────────┘
//! ```
//!
//! A pure state machine: time is a parameter. Callers report how each admitted call ended, in any order.

use std::time::{Duration, Instant};

/// Limits of a breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BreakerOptions {
    /// Consecutive failures that open the breaker. 0 counts as 1.
    pub failures_max: u32,
    /// Pause after the breaker opened. Each trial that fails doubles it.
    pub pause: Duration,
    /// Longest pause.
    pub pause_max: Duration,
}

impl Default for BreakerOptions {
    fn default() -> Self {
        Self {
            failures_max: 3,
            pause: Duration::from_secs(5),
            pause_max: Duration::from_secs(60),
        }
    }
}

/// State of a breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    /// Calls are made.
    Closed,
    /// One call is under way to try whether the estimator answers again.
    HalfOpen,
    /// No call is made.
    Open,
}

/// Permission for one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// One of many calls while the breaker is closed.
    Regular,
    /// The one call while the breaker is half open.
    Trial,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed { failures: u32 },
    Open { until: Instant, pause: Duration },
    HalfOpen { pause: Duration },
}

#[derive(Debug)]
pub(crate) struct Breaker {
    options: BreakerOptions,
    state: State,
}

impl Breaker {
    pub(crate) fn new(options: BreakerOptions) -> Self {
        Self {
            options,
            state: State::Closed { failures: 0 },
        }
    }

    /// Permits a call; `None` if it must not be made. The caller reports its end with [`Self::succeeded`], [`Self::failed`] or
    /// [`Self::abandoned`].
    pub(crate) fn admit(&mut self, now: Instant) -> Option<Admission> {
        match self.state {
            State::Closed { .. } => Some(Admission::Regular),
            State::Open { until, pause } if until <= now => {
                self.state = State::HalfOpen { pause };
                Some(Admission::Trial)
            }
            State::Open { .. } | State::HalfOpen { .. } => None,
        }
    }

    /// Any answer proves that the estimator is back, even one to a call that began before the breaker opened.
    pub(crate) fn succeeded(&mut self) {
        self.state = State::Closed { failures: 0 };
    }

    /// Returns true if this failure opened the breaker.
    pub(crate) fn failed(&mut self, admission: Admission, now: Instant) -> bool {
        match (self.state, admission) {
            (State::Closed { failures }, _) if failures + 1 >= self.options.failures_max.max(1) => {
                self.open(self.options.pause, now);
                true
            }
            (State::Closed { failures }, _) => {
                self.state = State::Closed { failures: failures + 1 };
                false
            }
            (State::HalfOpen { pause }, Admission::Trial) => {
                self.open(pause.saturating_mul(2), now);
                true
            }
            // The failure of a call that began before the breaker opened is not new information.
            (State::Open { .. }, _) | (State::HalfOpen { .. }, Admission::Regular) => false,
        }
    }

    /// A call whose caller stopped waiting. After an abandoned trial, the next call is the trial.
    pub(crate) fn abandoned(&mut self, admission: Admission, now: Instant) {
        if let (State::HalfOpen { pause }, Admission::Trial) = (self.state, admission) {
            self.state = State::Open { until: now, pause };
        }
    }

    pub(crate) fn state(&self) -> BreakerState {
        match self.state {
            State::Closed { .. } => BreakerState::Closed,
            State::HalfOpen { .. } => BreakerState::HalfOpen,
            State::Open { .. } => BreakerState::Open,
        }
    }

    fn open(&mut self, pause: Duration, now: Instant) {
        let pause = pause.min(self.options.pause_max);
        self.state = State::Open {
            until: now + pause,
            pause,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One event of a table, at a second of the test.
    enum Event {
        /// A call is requested; the expected admission.
        Ask(Option<Admission>),
        Success,
        Failure(Admission),
        Abandon(Admission),
    }
    use Admission::{Regular, Trial};
    use BreakerState::{Closed, HalfOpen, Open};
    use Event::{Abandon, Ask, Failure, Success};

    /// Runs a table of events with their times in seconds and the state expected after each.
    fn check(name: &str, events: &[(u64, Event, BreakerState)]) {
        let start = Instant::now();
        let mut breaker = Breaker::new(BreakerOptions {
            failures_max: 2,
            pause: Duration::from_secs(10),
            pause_max: Duration::from_secs(30),
        });
        for (index, (second, event, expected)) in events.iter().enumerate() {
            let now = start + Duration::from_secs(*second);
            match event {
                Ask(admission) => assert_eq!(breaker.admit(now), *admission, "{name}: event {index}"),
                Success => breaker.succeeded(),
                Failure(admission) => {
                    let before = breaker.state();
                    let opened = breaker.failed(*admission, now);
                    let changed = before != Open && breaker.state() == Open;
                    assert_eq!(opened, changed, "{name}: event {index} reports that it opened");
                }
                Abandon(admission) => breaker.abandoned(*admission, now),
            }
            assert_eq!(breaker.state(), *expected, "{name}: after event {index}");
        }
    }

    #[test]
    fn it_opens_after_consecutive_failures_only() {
        check(
            "a success resets the count",
            &[
                (0, Failure(Regular), Closed),
                (1, Success, Closed),
                (2, Failure(Regular), Closed),
                (3, Ask(Some(Regular)), Closed),
                (4, Failure(Regular), Open),
                (5, Ask(None), Open),
            ],
        );
    }

    #[test]
    fn one_trial_at_a_time_closes_it_or_doubles_the_pause() {
        check(
            "trials",
            &[
                (0, Failure(Regular), Closed),
                (0, Failure(Regular), Open),
                (9, Ask(None), Open),
                (10, Ask(Some(Trial)), HalfOpen),
                (11, Ask(None), HalfOpen),
                (12, Failure(Trial), Open),
                (31, Ask(None), Open),
                (32, Ask(Some(Trial)), HalfOpen),
                // 40 seconds would be beyond the longest pause of 30.
                (33, Failure(Trial), Open),
                (62, Ask(None), Open),
                (63, Ask(Some(Trial)), HalfOpen),
                (64, Success, Closed),
                (65, Failure(Regular), Closed),
                (66, Failure(Regular), Open),
                // After a success, the pause starts from its shortest again.
                (76, Ask(Some(Trial)), HalfOpen),
            ],
        );
    }

    #[test]
    fn an_abandoned_trial_does_not_close_the_door_for_ever() {
        check(
            "abandoned",
            &[
                (0, Failure(Regular), Closed),
                (0, Failure(Regular), Open),
                (10, Ask(Some(Trial)), HalfOpen),
                (11, Abandon(Trial), Open),
                (11, Ask(Some(Trial)), HalfOpen),
                (12, Abandon(Regular), HalfOpen),
            ],
        );
    }

    #[test]
    fn calls_that_began_before_it_opened_do_not_prolong_the_pause() {
        check(
            "late results",
            &[
                (0, Failure(Regular), Closed),
                (0, Failure(Regular), Open),
                (8, Failure(Regular), Open),
                (10, Ask(Some(Trial)), HalfOpen),
                (10, Failure(Regular), HalfOpen),
                (11, Success, Closed),
            ],
        );
    }

    #[test]
    fn a_limit_of_zero_means_one() {
        let mut breaker = Breaker::new(BreakerOptions {
            failures_max: 0,
            ..BreakerOptions::default()
        });
        assert!(breaker.failed(Regular, Instant::now()));
    }
}
