//! The root module that a plugin library exports, and its header.

use abi_stable::StableAbi;
use abi_stable::library::{CheckTypeLayout, LibHeader, RootModule, RootModuleResult};
use abi_stable::package_version_strings;
use abi_stable::sabi_types::VersionStrings;
use abi_stable::std_types::{RResult, RSlice, RStr, RString};

use crate::object::{HostLog, PluginFailure, PluginObjectBox};

/// The exports of a plugin library: its metadata, as data, and its constructor.
///
/// Every text is static data of the library, so a host can read it without running any of the plugin's code.
#[repr(C)]
#[derive(StableAbi)]
#[sabi(kind(Prefix(prefix_ref = PluginModuleRef)))]
#[sabi(missing_field(option))]
pub struct PluginModule {
    /// The plugin's name.
    pub name: RStr<'static>,
    /// The plugin's version.
    pub version: RStr<'static>,
    /// One phrase that says what the plugin does.
    pub description: RStr<'static>,
    /// The version of the SDK that the plugin was built with.
    pub sdk_version: RStr<'static>,
    /// The minor version of the ABI that the plugin was built with.
    pub abi_minor: u32,
    /// The extension points that the plugin serves: a set of [`extension_point`] bits.
    pub extension_points: u32,
    /// The names of the strategies that the plugin serves; empty unless it serves Assign.
    pub strategies: RSlice<'static, RStr<'static>>,
    /// The plugin's promises: a set of [`promise`] bits.
    pub promises: u64,
    /// The services that the plugin needs from the host: a set of [`need`] bits.
    pub needs: u64,
    /// The policy lists that its strategies read, each a JSON object with `name`, `fields` (`name`, `minimum`,
    /// `required`) and `priorities`; see the SDK's `RuleList`.
    pub rule_lists: RSlice<'static, RStr<'static>>,
    /// Returns the JSON Schema of the plugin's configuration.
    pub configuration_schema: extern "C" fn() -> RString,
    /// Returns the JSON Schema of the plugin's preferences.
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
    /// No cluster gets more replicas than fit there now plus those that it already has.
    pub const RESPECTS_CAPACITY: u64 = 1;
    /// Every candidate gets the full count.
    pub const DUPLICATES: u64 = 2;
    /// The result does not depend on the order of the candidates.
    pub const ORDER_INDEPENDENT: u64 = 4;
    /// Scheduling again with the plugin's result as the last result changes nothing.
    pub const INERT: u64 = 8;
}

/// Bits of [`PluginModule::needs`].
pub mod need {
    /// The raw JSON of each cluster.
    pub const RAW_CLUSTER: u64 = 1;
    /// The plugin walks the tiers of cluster priorities itself, so the host does not split the call.
    pub const OWN_TIERS: u64 = 2;
    /// The strategy ignores spread constraints: the host hides them from Select.
    pub const NO_SPREAD: u64 = 8;
    /// Within a tier, only clusters with a positive value in some rule take part, unless no cluster has one.
    pub const RULES_DECIDE_TIERS: u64 = 32;
    /// The strategy's result may exceed capacity in the last tier.
    pub const LAST_TIER_OVERFLOWS: u64 = 64;
    /// Cluster priorities cannot be combined with the strategy.
    pub const NO_PRIORITIES: u64 = 128;
}

/// The header through which a loader finds a library's root module. Only the SDK's export macro makes one.
///
/// # Safety
///
/// `constructor` must return a module that was made from a [`PluginModuleRef`].
pub const unsafe fn library_header(constructor: extern "C" fn() -> RootModuleResult) -> LibHeader {
    // SAFETY: the caller upholds the contract.
    unsafe { LibHeader::from_constructor::<PluginModuleRef>(constructor, CheckTypeLayout::Yes) }
}

/// Runs the function that makes the root module, and turns a panic in it into an error.
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
