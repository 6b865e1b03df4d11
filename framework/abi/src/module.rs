//! The root module: what a plugin library exports, and its header.

use abi_stable::StableAbi;
use abi_stable::library::{CheckTypeLayout, LibHeader, RootModule, RootModuleResult};
use abi_stable::package_version_strings;
use abi_stable::sabi_types::VersionStrings;
use abi_stable::std_types::{RResult, RSlice, RStr, RString};

use crate::object::{HostLog, PluginFailure, PluginObjectBox};

/// What a plugin library exports: who it is, as data, and how to construct it.
///
/// Every text is static data of the library, so that a host reads it without running any of the plugin's code.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = PluginModuleRef)))]
#[sabi(missing_field(option))]
pub struct PluginModule {
    /// The plugin's name.
    pub name: RStr<'static>,
    /// The plugin's version.
    pub version: RStr<'static>,
    /// One sentence on what the plugin does.
    pub description: RStr<'static>,
    /// The version of the SDK it was built with.
    pub sdk_version: RStr<'static>,
    /// The minor version of the ABI it was built with.
    pub abi_minor: u32,
    /// The extension points it serves: a set of [`extension_point`] bits.
    pub extension_points: u32,
    /// The strategies it serves, for Assign.
    pub strategies: RSlice<'static, RStr<'static>>,
    /// What it promises: a set of [`promise`] bits.
    pub promises: u64,
    /// What it needs the host to supply: a set of [`need`] bits.
    pub needs: u64,
    /// The lists of the policy that its strategies read, each a JSON object with `name`, `fields` (`name`, `minimum`,
    /// `required`) and `priorities`; see the SDK's `RuleList`.
    pub rule_lists: RSlice<'static, RStr<'static>>,
    /// The JSON Schema of its configuration.
    pub configuration_schema: extern "C" fn() -> RString,
    /// The JSON Schema of its preferences.
    pub preferences_schema: extern "C" fn() -> RString,
    /// Constructs the plugin from its configuration, a JSON object.
    #[sabi(last_prefix_field)]
    pub construct: for<'a> extern "C" fn(RStr<'a>, HostLog) -> RResult<PluginObjectBox, PluginFailure>,
}

impl RootModule for PluginModuleRef {
    abi_stable::declare_root_module_statics! {PluginModuleRef}
    const BASE_NAME: &'static str = "divvy_plugin";
    const NAME: &'static str = "divvy plugin";
    const VERSION_STRINGS: VersionStrings = package_version_strings!();
}

/// Bits of [`PluginModule::extension_points`].
pub mod extension_point {
    /// The plugin filters clusters.
    pub const FILTER: u32 = 1;
    /// The plugin scores clusters.
    pub const SCORE: u32 = 2;
    /// The plugin selects the candidates.
    pub const SELECT: u32 = 4;
    /// The plugin divides replicas.
    pub const ASSIGN: u32 = 8;
}

/// Bits of [`PluginModule::promises`].
pub mod promise {
    /// No cluster gets more than fits there now plus what it has.
    pub const RESPECTS_CAPACITY: u64 = 1;
    /// Every candidate gets the full count.
    pub const DUPLICATES: u64 = 2;
    /// The result does not depend on the order of the candidates.
    pub const ORDER_INDEPENDENT: u64 = 4;
    /// Scheduling again with the own result as last result changes nothing.
    pub const INERT: u64 = 8;
}

/// Bits of [`PluginModule::needs`].
pub mod need {
    /// The raw JSON of each cluster.
    pub const RAW_CLUSTER: u64 = 1;
    /// The plugin walks the tiers of cluster priorities itself; the host does not split the call.
    pub const OWN_TIERS: u64 = 2;
    /// The strategy ignores spread constraints: Select is told of none.
    pub const NO_SPREAD: u64 = 8;
    /// In a tier, clusters that no rule gives a positive value take no part, unless no cluster has one.
    pub const RULES_DECIDE_TIERS: u64 = 32;
    /// The strategy's result may exceed a tier's capacity in the last tier.
    pub const LAST_TIER_OVERFLOWS: u64 = 64;
    /// Cluster priorities cannot be combined with the strategy.
    pub const NO_PRIORITIES: u64 = 128;
}

/// The header by which a loader finds a library's root module. Made by the SDK's export macro alone.
///
/// # Safety
///
/// `constructor` must return a module that was made from a [`PluginModuleRef`].
pub const unsafe fn library_header(constructor: extern "C" fn() -> RootModuleResult) -> LibHeader {
    // SAFETY: passed on to the caller.
    unsafe { LibHeader::from_constructor::<PluginModuleRef>(constructor, CheckTypeLayout::Yes) }
}

/// Runs a function that makes the root module; a panic in it becomes an error.
pub fn load_module(make: fn() -> PluginModuleRef) -> RootModuleResult {
    abi_stable::library::__call_root_module_loader(make)
}

pub use abi_stable::library::{LibHeader as LibraryHeader, RootModuleResult as ModuleResult};
pub use abi_stable::prefix_type::PrefixTypeTrait as LeakIntoPrefix;

#[cfg(test)]
mod tests {
    /// The export macro must spell the symbol as a literal.
    #[test]
    fn the_symbol_that_the_export_macro_spells_is_the_one_that_loaders_look_for() {
        assert_eq!(abi_stable::library::ROOT_MODULE_LOADER_NAME, crate::LOADER_SYMBOL);
    }
}
