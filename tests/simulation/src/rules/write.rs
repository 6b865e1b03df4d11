//! Rule a: nothing is written by one who does not hold the lease.

use serde_json::Value;

use super::{Rule, Verdict};
use crate::agenda::Millis;
use crate::server::Request;
use crate::world::World;

/// Time for which a lease is valid after its last write.
const LEASE: Millis = 15_000;

impl World<'_> {
    /// Judges a write that was carried out.
    pub(crate) fn judge_write(&mut self, request: &Request, before: Option<&Value>, after: Option<&Value>) {
        self.books.writes += 1;
        let writer = request.process;
        let what = || format!("number {writer} wrote {}", request.key);
        let holder = self.lease.holder();
        let is_holder = holder.is_some_and(|holder| holder.ends_with(&format!("-{writer}")));
        let age = self.now.saturating_sub(self.lease.written_at);
        if !is_holder {
            let holder = holder.unwrap_or("nobody").to_owned();
            self.breach(Rule::A, format!("{}, when {holder} held the lease", what()));
        } else if age > LEASE {
            self.breach(
                Rule::A,
                format!("{}, with a lease that it renewed {age} ms ago", what()),
            );
        }
        if self.books.quiet_since.is_some() && before != after {
            self.breach(Rule::E, format!("{}, when everything was at rest", what()));
        }
    }

    /// Ends the life with the breach of a rule.
    pub(crate) fn breach(&mut self, rule: Rule, text: String) {
        self.note(|| format!("✗ rule {rule}: {text}"));
        if self.verdict.is_none() {
            self.verdict = Some(Verdict { rule, text });
        }
    }
}
