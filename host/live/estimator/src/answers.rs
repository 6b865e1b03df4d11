//! Last answers of one cluster's estimator, by request.
//!
//! Time is a parameter, so that expiry can be tested without waiting. The number of answers is bounded; the oldest is
//! dropped first. Answers are used only if a call fails, never to save one.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::request::Request;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Answer {
    count: i64,
    at: Instant,
}

/// Last answers by request.
#[derive(Debug)]
pub(crate) struct Answers {
    by_request: HashMap<Request, Answer>,
    /// Maximum number of requests with an answer.
    limit: usize,
}

impl Answers {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            by_request: HashMap::new(),
            limit,
        }
    }

    /// Keeps an answer in place of the previous one to the same request.
    pub(crate) fn record(&mut self, request: &Request, count: i64, now: Instant) {
        let answer = Answer { count, at: now };
        if let Some(known) = self.by_request.get_mut(request) {
            // Calls overlap, so an older answer may arrive later.
            if known.at <= now {
                *known = answer;
            }
            return;
        }
        if self.by_request.len() >= self.limit {
            let oldest = self.by_request.iter().min_by_key(|(_, answer)| answer.at);
            let Some(oldest) = oldest.map(|(request, _)| request.clone()) else {
                return;
            };
            self.by_request.remove(&oldest);
        }
        self.by_request.insert(request.clone(), answer);
    }

    /// Forgets the answer to a request, because the estimator no longer has a figure.
    pub(crate) fn remove(&mut self, request: &Request) {
        self.by_request.remove(request);
    }

    /// The last answer to a request and its age, unless it is older than `age_max`.
    pub(crate) fn last(&self, request: &Request, now: Instant, age_max: Duration) -> Option<(i64, Duration)> {
        let answer = self.by_request.get(request)?;
        let age = now.saturating_duration_since(answer.at);
        (age <= age_max).then_some((answer.count, age))
    }

    /// Number of requests with an answer.
    pub(crate) fn len(&self) -> usize {
        self.by_request.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(cpu: &str) -> Request {
        let json = serde_json::json!({"resourceRequest": {"cpu": cpu}});
        Request::replicas(&serde_json::from_value(json).expect("requirements")).expect("a request")
    }

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn an_answer_serves_its_own_request_until_it_is_too_old() {
        let start = Instant::now();
        let mut answers = Answers::new(8);
        answers.record(&request("1"), 7, start);
        for (cpu, seconds, expected) in [
            ("1", 0, Some((7, Duration::ZERO))),
            ("1000m", 60, Some((7, MINUTE))),
            ("1", 61, None),
            ("2", 0, None),
        ] {
            let now = start + Duration::from_secs(seconds);
            assert_eq!(
                answers.last(&request(cpu), now, MINUTE),
                expected,
                "{cpu} after {seconds} s"
            );
        }
    }

    #[test]
    fn an_answer_that_was_overtaken_changes_nothing() {
        let start = Instant::now();
        let mut answers = Answers::new(8);
        answers.record(&request("1"), 7, start + MINUTE);
        answers.record(&request("1"), 3, start);
        assert_eq!(
            answers.last(&request("1"), start + MINUTE, MINUTE),
            Some((7, Duration::ZERO))
        );
    }

    #[test]
    fn the_oldest_answer_makes_room_for_a_new_one() {
        let start = Instant::now();
        let mut answers = Answers::new(2);
        for (second, cpu) in (0..).zip(["1", "2", "1", "3"]) {
            answers.record(&request(cpu), 5, start + Duration::from_secs(second));
        }
        let kept = ["1", "2", "3"].map(|cpu| answers.last(&request(cpu), start, MINUTE).is_some());
        assert_eq!((kept, answers.len()), ([true, false, true], 2));
    }

    #[test]
    fn without_room_nothing_is_kept() {
        let mut answers = Answers::new(0);
        answers.record(&request("1"), 5, Instant::now());
        assert_eq!(answers.len(), 0);
    }

    #[test]
    fn a_removed_answer_is_gone() {
        let start = Instant::now();
        let mut answers = Answers::new(2);
        answers.record(&request("1"), 5, start);
        answers.remove(&request("1"));
        assert_eq!(answers.last(&request("1"), start, MINUTE), None);
    }
}
