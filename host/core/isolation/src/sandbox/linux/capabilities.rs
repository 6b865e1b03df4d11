//! Capabilities of a process that runs as root, or was given some.

use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

use super::missing;
use crate::sandbox::confinement::{Facility, Missing};

/// Drops all capabilities but the right to read, which the process has only if it had it before: root finds a plugin in a folder of
/// another user. Landlock and the filter apply to it all the same.
pub(super) fn drop_all() -> Result<(), Missing> {
    let refused = |errno| missing(Facility::Capabilities, errno);
    let reading = capabilities(None).map_err(refused)?.permitted & CapabilitySet::DAC_READ_SEARCH;
    let sets = CapabilitySets {
        effective: reading,
        permitted: reading,
        inheritable: CapabilitySet::empty(),
    };
    set_capabilities(None, sets).map_err(refused)
}
