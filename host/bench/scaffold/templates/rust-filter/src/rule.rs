//! The rule: ordinary functions, which know neither clusters nor Divvy.

/// Reason why a cluster was rejected. The scheduler counts the clusters for each reason: `2 cluster(s) were in another region`.
pub(crate) const REASON: &str = "cluster(s) were in another region";

/// Refuses a region that no cluster can have.
pub(crate) fn check(region: &str) -> Result<(), &'static str> {
    match region {
        "" => Err("`region` is empty: expected the region to stay in"),
        _ => Ok(()),
    }
}

/// True for a cluster in the region.
pub(crate) fn keeps(region: &str, wanted: &str) -> bool {
    region == wanted
}
