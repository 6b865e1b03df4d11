//! What the commands print: plugins in lists, the facts about one, and the findings of a verification.

mod declared;
pub(crate) mod inspection;
pub(crate) mod plugins;
mod schema;
pub(crate) mod verification;
