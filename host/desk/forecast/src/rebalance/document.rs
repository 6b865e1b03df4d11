//! A plan in the form in which it is written as JSON. The schema is in `schema/rebalance.json`.

use serde::Serialize;

use crate::document::SideDocument;
use crate::planned::Rebalanced;

/// The fewest moves that place what waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RebalanceDocument {
    /// Version of this form: 1.
    pub format: u32,
    /// The side that decides, with the changes that were made first.
    pub after: SideDocument,
    /// True if the capacity that results take counts as used for later ones.
    pub assumes: bool,
    /// What is planned.
    #[serde(flatten)]
    pub rebalanced: Rebalanced,
    /// Notes, one sentence each.
    pub notes: Vec<String>,
}
