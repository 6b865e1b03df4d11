//! Rounds in which everything fails. `tests/control-plane/soak` runs more and longer ones.

use std::time::{SystemTime, UNIX_EPOCH};

use divvy_control_plane_tests::Error;
use divvy_control_plane_tests::soak::Round;

use crate::folder;

/// Bindings of a round.
const BINDINGS: usize = 300;
/// Failures of processes in a round.
const FAILURES: usize = 6;

#[tokio::test]
async fn every_binding_is_scheduled_once_whatever_fails() -> Result<(), Error> {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |time| time.as_secs());
    for seed in now..now + divvy_built::cases(1, 3) {
        let folder = folder()?;
        let round = Round {
            seed,
            bindings: BINDINGS,
            failures: FAILURES,
            schedulers: 2,
            lease: Some("karmada-scheduler"),
        };
        let report = round.run(folder.path()).await?;
        eprintln!(
            "seed {seed}: {} faults, {:?}, {:?}",
            report.faults, report.failures, report.duration
        );
        assert_eq!(report.violations, Vec::<String>::new(), "seed {seed}");
    }
    Ok(())
}
