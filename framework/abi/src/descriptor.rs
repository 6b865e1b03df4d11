//! The descriptor that a plugin library exports: static data and four functions.
//!
//! The symbol [`crate::LIBRARY_SYMBOL`] is a [`Library`], which lists the plugins of the library. The symbol carries
//! the major version, so one library can serve hosts of two major versions. Everything in a descriptor is static data,
//! so a host reads it from the file, without running any of the plugin's code, and refuses a library whose descriptors it cannot
//! read there or that exceed a [`limit`].

use crate::call::CallFunction;
use crate::column::{Function, PluginText, Pointer, Slice};
use crate::definition::numbers;
use crate::service::{ConstructFunction, DescribeFunction, DestroyFunction};
use crate::sized::{kind, sized};

numbers! {
    /// Features: what a plugin needs from the host and promises about its results.
    ///
    /// A plugin lists a feature as *required* or as *optional*. A host refuses a plugin that requires a feature which the
    /// host does not know, and ignores an optional one. A feature that loosens a check, and a need without which the plugin
    /// decides wrongly, is therefore always required; a promise that adds a check, or that saves the host calls, is optional.
    ///
    /// An input that a plugin must not ignore is given only to plugins that list the feature for it.
    pub mod feature as "DIVVY_FEATURE_" {
        /// Need: the raw JSON of each cluster is in the snapshot.
        pub const RAW_CLUSTERS: u64 = 1;
        /// Promise, required: every candidate gets the full count.
        pub const DUPLICATES: u64 = 1 << 1;
        /// Promise: no cluster gets more replicas than its capacity.
        pub const RESPECTS_CAPACITY: u64 = 1 << 2;
        /// Promise: the result does not depend on the order of the candidates.
        pub const ORDER_INDEPENDENT: u64 = 1 << 3;
        /// Promise: scheduling again with the plugin's result as the last result changes nothing.
        pub const INERT: u64 = 1 << 4;
        /// Need: the plugin walks the tiers of cluster priorities itself, so the host does not split the call.
        pub const OWN_TIERS: u64 = 1 << 5;
        /// Need: the strategy ignores spread constraints, so the host hides them from Select.
        pub const NO_SPREAD: u64 = 1 << 6;
        /// Need: within a tier, only clusters with a positive value in some rule take part, unless no cluster has one.
        pub const RULES_DECIDE_TIERS: u64 = 1 << 7;
        /// Need: the result may exceed capacity in the last tier.
        pub const LAST_TIER_OVERFLOWS: u64 = 1 << 8;
        /// Need: cluster priorities cannot be combined with the strategy.
        pub const NO_PRIORITIES: u64 = 1 << 9;
        /// Need: the priority of the binding, and the labels and annotations of its policy and its workload.
        pub const METADATA: u64 = 1 << 10;
        /// Need: the time of the decision.
        pub const TIME: u64 = 1 << 11;
        /// Need: the tables that [`crate::service::document::TABLES`] lists.
        pub const TABLES: u64 = 1 << 12;
        /// Need: the placements of the bindings with which the binding shares a workload affinity group.
        pub const PLACEMENTS: u64 = 1 << 13;
        /// Need: tables with several rows per key.
        pub const TABLE_ROWS: u64 = 1 << 14;
        /// Need of a filter: it can cordon clusters ([`crate::call::FilterCall::cordoned`]).
        pub const CORDONS: u64 = 1 << 15;
        /// Promise of a selector: its candidates satisfy the spread constraints. No other selector may follow it.
        pub const ENFORCES_SPREAD: u64 = 1 << 16;
        /// Promise of a filter: the clusters that it leaves satisfy the binding's workload affinity.
        pub const ENFORCES_AFFINITY: u64 = 1 << 17;
        /// Promise of a filter: the clusters that it leaves satisfy the binding's workload anti-affinity.
        pub const ENFORCES_ANTI_AFFINITY: u64 = 1 << 18;
        /// Promise: removing a cluster changes nothing for the others, whatever room they have, as long as the binding
        /// and the placements of its peers stay the same. A filter rejects the same of them, a selector picks the same
        /// of them, a strategy gives each its full count, and no call fails that would succeed with the cluster, unless
        /// no cluster is left. A selector and a strategy promise it only where the strategy duplicates, no spread
        /// constraints are in force and there are no tiers; scores may change.
        pub const EACH_ALONE: u64 = 1 << 19;

        /// All features of this version.
        pub const ALL: u64 = ((1 << 16) - 1) | ENFORCES | EACH_ALONE;
        /// Features that a plugin lists as optional; all others are required.
        pub const OPTIONAL: u64 = RESPECTS_CAPACITY | ORDER_INDEPENDENT | INERT | ENFORCES | EACH_ALONE;
        /// Promises that a part of a placement is enforced.
        pub const ENFORCES: u64 = ENFORCES_SPREAD | ENFORCES_AFFINITY | ENFORCES_ANTI_AFFINITY;
    }
}

numbers! {
    /// Parts of a binding: bits of [`PointDescriptor::acts_on`], by which a plugin names the parts that its calls act on.
    ///
    /// A binding has a part as soon as a plugin could see anything of it, whether or not it concerns a cluster of the snapshot.
    pub mod binding_part as "DIVVY_PART_" {
        /// A last result: it lists a cluster, with any number of replicas, even one that is gone.
        pub const LAST_RESULT: u64 = 1;
        /// Graceful eviction tasks.
        pub const EVICTIONS: u64 = 1 << 1;
        /// Spread constraints, even if Select ignores them for the strategy.
        pub const SPREAD_CONSTRAINTS: u64 = 1 << 2;
        /// Cluster affinities of the placement, even one without conditions.
        pub const CLUSTER_AFFINITIES: u64 = 1 << 3;
        /// A workload affinity group, or placements of other bindings that are not known.
        pub const AFFINITY_GROUP: u64 = 1 << 4;
        /// A workload anti-affinity group, or placements of other bindings that are not known.
        pub const ANTI_AFFINITY_GROUP: u64 = 1 << 5;
        /// All parts of this version.
        pub const ALL: u64 = (1 << 6) - 1;
    }
}

numbers! {
    /// Limits of a descriptor. The host refuses a library that exceeds one.
    pub mod limit as "DIVVY_LIMIT_" {
        /// Maximum number of plugins in a library.
        pub const PLUGINS: u32 = 256;
        /// Maximum number of extension points of a plugin.
        pub const POINTS: u32 = 64;
        /// Maximum number of strategies of a plugin.
        pub const STRATEGIES: u32 = 256;
        /// Maximum length of a version, and of the name of a plugin or a strategy, in bytes.
        pub const NAME_BYTES: u32 = 64;
        /// Maximum length of a description in bytes.
        pub const DESCRIPTION_BYTES: u32 = 1024;
    }
}

sized! {
    /// A kind of calls that a plugin answers: an extension point, or [`kind::PREPARE`]. A host ignores kinds that it
    /// does not know.
    PointDescriptor(PointDescriptorRef, kind::POINT) {
        /// The kind of the calls: a value of [`kind`].
        point: u32 = 0,
        /// Zero.
        reserved: u32 = 0,
        /// Required features at this point: bits of [`feature`].
        required: u64 = 0,
        /// Optional features at this point.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        optional: u64 = 0,
        /// For [`kind::SNAPSHOT_VALUE`]: the columns of clusters that the value is made from, as bits of
        /// [`crate::arena::group`]. The host keeps the value until one of them changes; tables that the plugin reads count in
        /// any case. The plugin must read no other column while it makes the value. 0 if they are not known; the value is then
        /// made anew after every change, as it is for a bit that the host does not know.
        reads: u64 = 0,
        /// For [`kind::FILTER`] and [`kind::SCORE`]: the parts of a binding that a call acts on, as bits of
        /// [`binding_part`]. For a binding that has none of them, a call would change nothing: it would reject no
        /// cluster, score each cluster 0, pass no text to the host, set no limit to how long its answer holds, and not
        /// fail. The host does not make such a call, unless the policy carries preferences for the plugin. 0 if a call
        /// may act on any binding; the plugin is then called for each, as it is for a bit that the host does not know.
        acts_on: u64 = 0,
    }
}

sized! {
    /// A strategy that a plugin serves at Assign.
    StrategyDescriptor(StrategyDescriptorRef, kind::STRATEGY) {
        /// Name of the strategy.
        name: PluginText<'static> = PluginText::EMPTY,
        /// Required features of this strategy: bits of [`feature`].
        required: u64 = 0,
        /// Optional features of this strategy.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        optional: u64 = 0,
    }
}

sized! {
    /// One plugin of a library.
    Descriptor(DescriptorRef, kind::DESCRIPTOR) {
        /// The minor version of the ABI that the plugin was built with.
        abi_minor: u32 = 0,
        /// The least minor version of the host's ABI with which the plugin works.
        least_minor: u32 = 0,
        /// The plugin's name.
        name: PluginText<'static> = PluginText::EMPTY,
        /// The plugin's version.
        version: PluginText<'static> = PluginText::EMPTY,
        /// A phrase that describes the plugin.
        description: PluginText<'static> = PluginText::EMPTY,
        /// The version of the SDK that the plugin was built with; empty without an SDK.
        sdk_version: PluginText<'static> = PluginText::EMPTY,
        /// Extension points that the plugin serves.
        points: Slice<'static, Pointer<'static, PointDescriptor>> = Slice::EMPTY,
        /// Strategies that the plugin serves; empty unless it serves Assign.
        strategies: Slice<'static, Pointer<'static, StrategyDescriptor>> = Slice::EMPTY,
        /// Constructs an instance.
        construct: Function<ConstructFunction> = Function::NULL,
        /// Drops an instance.
        destroy: Function<DestroyFunction> = Function::NULL,
        /// Answers the calls to an instance.
        call: Function<CallFunction> = Function::NULL,
        /// Provides documents about the plugin; null if there are none.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        describe: Function<DescribeFunction> = Function::NULL,
    }
}

sized! {
    /// All plugins of a library: the symbol [`crate::LIBRARY_SYMBOL`].
    Library(LibraryRef, kind::LIBRARY) {
        /// The plugins.
        #[cfg_attr(feature = "certificate", sabi(last_prefix_field))]
        plugins: Slice<'static, Pointer<'static, Descriptor>> = Slice::EMPTY,
    }
}
