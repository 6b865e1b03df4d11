//! Notices plugin calls that do not return, and ends the process if one does not for too long.
//!
//! A leader that cannot decide would renew its lease for ever, and no standby could take over. A plugin cannot be interrupted,
//! so only the end of the process helps. kube-scheduler, too, exits when it cannot lead any more, and is started again. A profile that is
//! loaded beside the one that decides is no reason to end: the same file would hang at the next start.

use std::sync::Arc;
use std::time::Duration;

use divvy_attribution::{InProgress, Looks};

use crate::panel::Panel;
use crate::watchdog::{Hanging, LOOK_EVERY};

/// Ends once a call has not returned for `limit`; never if there is none. Every call that hangs is reported in the log.
///
/// The time after which a call counts as hanging is the least limit.
pub(super) async fn watch(
    panel: Arc<Panel>,
    limit: Option<Duration>,
    in_progress: impl Fn() -> Vec<InProgress>,
) -> Hanging {
    let mut looks = Looks::default();
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let seen = looks.look(in_progress());
        let deciding = seen.into_iter().filter(|(_, call)| !call.is_loading);
        let hanging = Hanging::longest(deciding);
        panel.watchdog.hangs(hanging.clone());
        if let Some(hanging) = hanging
            && limit.is_some_and(|limit| hanging.age >= limit)
        {
            return hanging;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::Metrics;

    /// The looks at the calls do not wait here.
    #[tokio::test(start_paused = true)]
    async fn only_a_call_that_hangs_long_enough_ends_the_process() {
        let looks = async |limit: Option<u64>, is_loading: bool| {
            let panel = Arc::new(Panel::new(Arc::new(Metrics::new("test", None))));
            let call = InProgress {
                thread: 1,
                number: 1,
                is_loading,
                plugin: "average",
                step: "Assign",
                subject: "default/web".to_owned(),
            };
            let start = tokio::time::Instant::now();
            let watching = watch(Arc::clone(&panel), limit.map(Duration::from_secs), || {
                vec![call.clone()]
            });
            let hanging = tokio::time::timeout(Duration::from_secs(600), watching).await;
            assert_eq!(panel.watchdog.hanging().is_some(), !is_loading);
            hanging.ok().map(|_| start.elapsed().as_secs())
        };
        assert_eq!(looks(None, false).await, None);
        // The first look begins to count.
        assert_eq!(looks(Some(1), false).await, Some(11));
        assert_eq!(looks(Some(60), false).await, Some(61));
        assert_eq!(looks(Some(60), true).await, None);
    }
}
