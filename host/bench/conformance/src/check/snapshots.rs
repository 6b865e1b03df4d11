//! The same clusters in other snapshots. A scheduler that has run for a week has other numbers for the same texts, and another generation
//! in each snapshot, than a command that has just read a file. Neither means anything.

use divvy_karmada::api::Cluster;
use divvy_scheduler::fleet::{Fleet, FleetSnapshot};

use super::Check;
use crate::case::Case;
use crate::subject::{Shown, Subject, described, differ};

/// The check of other snapshots.
pub(super) fn check() -> Check {
    Check::per_case(
        "snapshots",
        "the same clusters in a snapshot of another generation, with other numbers of its texts, give the same decision",
        |_| true,
        snapshots,
    )
}

/// Snapshots in which each case is decided again. Each has a generation of its own, so that odd and even ones are among them.
const SNAPSHOTS: usize = 3;

fn snapshots(subject: &Subject, case: &Case) -> Result<Shown, String> {
    let Ok(situation) = subject.read(case) else {
        return Ok(Shown::Nothing);
    };
    let profile = subject.profile();
    let (decision, shown) = subject.decide_shown(&situation);
    let first = described(&decision);
    let mut fleet = renumbered(&situation.clusters, profile.needs_raw_clusters());
    for _ in 0..SNAPSHOTS {
        let snapshot = fleet.snapshot();
        let mut scheduler = situation.scheduler(subject.profile());
        let other = described(&scheduler.schedule(&situation.binding, &snapshot));
        if differ(&first, &other) {
            return Err(format!(
                "the decision depends on the number of the snapshot or of its texts: `{first}` in generation {}, and on the same clusters \
                 in generation {}: `{other}`",
                generation(&situation.fleet),
                generation(&snapshot)
            ));
        }
        if let Some(cluster) = situation.clusters.first() {
            advance(&mut fleet, cluster);
        }
    }
    Ok(shown)
}

fn generation(fleet: &FleetSnapshot) -> u64 {
    fleet.snapshot().arena().generation()
}

/// A fleet of these clusters that came in the reverse order, after another one that is gone: a text that came first comes last.
fn renumbered(clusters: &[Cluster], keeps_raw: bool) -> Fleet {
    let mut fleet = Fleet::new(keeps_raw);
    let mut gone = Cluster::default();
    gone.metadata.name = "zz-gone".to_owned();
    gone.spec.region = "zz-region".to_owned();
    fleet.upsert(&gone);
    fleet.extend(clusters.iter().rev());
    fleet.remove(&gone.metadata.name);
    fleet
}

/// Gives the next snapshot another generation: a cluster changes, and changes back.
fn advance(fleet: &mut Fleet, cluster: &Cluster) {
    let mut changed = cluster.clone();
    changed.spec.region = "zz-region".to_owned();
    fleet.upsert(&changed);
    fleet.upsert(cluster);
}
