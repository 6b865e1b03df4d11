//! Notices plugin calls that do not return, and ends the process if one does not for too long.
//!
//! A leader that cannot decide would renew its lease for ever, and no standby could take over. A plugin cannot be interrupted,
//! so only the end of the process helps. kube-scheduler, too, exits when it cannot lead any more, and is started again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::IDLE_MAX;
use crate::panel::Panel;
use crate::watchdog::{HANGING_AFTER, Hanging};

/// Ends once a plugin call has not returned for `limit`; never if there is none. Every call that hangs is reported in the log.
///
/// The time after which a call counts as hanging is the least limit.
pub(super) async fn watch(panel: Arc<Panel>, limit: Option<Duration>) -> Hanging {
    let mut looks = 0_u32;
    loop {
        tokio::time::sleep(IDLE_MAX).await;
        let now = Instant::now();
        if let Some(Hanging { plugin, point, .. }) = panel.watchdog.newly_hanging(now) {
            looks = 0;
            tracing::error!(
                plugin,
                point,
                "a plugin call does not return; no decision is made until it does"
            );
        }
        let Some(hanging) = panel.watchdog.hanging(now) else {
            looks = 0;
            continue;
        };
        // Looks are counted rather than time: a process that was paused in a call has seen nothing hang.
        let seen = HANGING_AFTER.saturating_add(IDLE_MAX.saturating_mul(looks));
        if limit.is_some_and(|limit| seen >= limit) {
            return hanging;
        }
        looks = looks.saturating_add(1);
    }
}

#[cfg(test)]
mod tests {
    use divvy_scheduler::plugin::{Call, CallObserver};

    use super::*;
    use crate::observe::Metrics;

    /// The looks at the watchdog do not wait here.
    #[tokio::test(start_paused = true)]
    async fn only_a_call_that_hangs_long_enough_ends_the_process() {
        let panel = Arc::new(Panel::new(Arc::new(Metrics::new("test", None))));
        let long_ago = Instant::now()
            .checked_sub(HANGING_AFTER)
            .expect("a machine that runs for longer");
        panel.watchdog.began("average", Call::Assign, long_ago);
        let looks = async |limit: Option<Duration>| {
            let start = tokio::time::Instant::now();
            let watching = watch(Arc::clone(&panel), limit);
            let hanging = tokio::time::timeout(Duration::from_secs(600), watching).await;
            hanging.ok().map(|hanging| (hanging.plugin, start.elapsed().as_secs()))
        };
        assert_eq!(looks(None).await, None);
        assert_eq!(looks(Some(Duration::from_secs(1))).await, Some(("average", 1)));
        assert_eq!(looks(Some(Duration::from_secs(60))).await, Some(("average", 51)));
        panel.watchdog.ends("average", Call::Assign, None);
        assert_eq!(looks(Some(Duration::from_secs(60))).await, None);
    }
}
