//! What every plan keeps.

use divvy_joint::{Fleet, Plan};

/// Checks what every plan keeps: replicas, choices, limits and room.
pub(crate) fn check(fleet: &Fleet, plan: &Plan) {
    let mut free: Vec<Vec<i128>> = fleet
        .room
        .iter()
        .map(|room| room.iter().map(|room| i128::from(*room)).collect())
        .collect();
    for (number, demand) in fleet.demands.iter().enumerate() {
        let placed: u64 = plan.placed[number].iter().map(|(_, replicas)| replicas).sum();
        assert_eq!(placed + plan.unplaced[number], demand.replicas, "demand {number}");
        let most = demand.clusters.unwrap_or(u32::MAX) as usize;
        assert!(
            plan.placed[number].len() <= most,
            "demand {number}: {:?}",
            plan.placed[number]
        );
        for (cluster, replicas) in &plan.placed[number] {
            assert!(
                demand.choices.iter().any(|choice| choice.cluster == *cluster),
                "demand {number}: {cluster} is no choice"
            );
            assert!(
                demand.largest.is_none_or(|largest| *replicas <= largest),
                "demand {number}: {replicas} in {cluster}"
            );
            assert!(*replicas > 0);
            for (free, request) in free[*cluster as usize].iter_mut().zip(&demand.request) {
                *free -= i128::from(*request) * i128::from(*replicas);
            }
        }
    }
    assert!(free.iter().flatten().all(|free| *free >= 0), "{free:?}");
}
