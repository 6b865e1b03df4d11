//! Systems without sealed files in memory.

use crate::Unprotected;

/// As [`crate::protection`].
pub(crate) fn protection() -> Result<(), Unprotected> {
    Err(Unprotected {
        reason: format!("{} has no sealed files in memory", std::env::consts::OS),
    })
}

pub(crate) fn is_shared(_address: *const u8) -> bool {
    false
}
