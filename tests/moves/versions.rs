//! ABI 1.1: a plugin that only paces requires a host that knows paces, and plugins of ABI 1.0 refuse the call. `tests/frozen.rs` has the
//! stored host of ABI 1.0, which refuses such a plugin.

use std::path::Path;

use divvy_framework_abi::call::PaceCall;
use divvy_loader::{LoadOptions, PluginFile};
use divvy_scheduler::plugin::{CallError, PluginInstance};

use crate::artifacts::{self, repository};

/// A library without a certificate loads as well.
fn options() -> LoadOptions<'static> {
    LoadOptions {
        allow_uncertified: true,
        ..LoadOptions::default()
    }
}

fn least_minor(library: &Path) -> u32 {
    let file = PluginFile::read(library).expect("the file can be read");
    file.check(options()).expect("this host can use it").least_minor()
}

#[test]
fn only_a_plugin_whose_every_extension_point_is_new_requires_a_new_host() {
    assert_eq!(least_minor(artifacts::plugin("surge")), 1);
    assert_eq!(least_minor(artifacts::plugin("average")), 0);
}

#[test]
fn stored_plugins_of_abi_1_0_answer_that_they_do_not_serve_paces() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) {
        return;
    }
    for (name, expected) in [
        ("libdivvy_plugin_average.so", "does not know calls of kind 14"),
        (
            "libdivvy_plugin_spread_constraints.so",
            "does not know calls of kind 14",
        ),
        (
            "libdivvy_plugin_workload_anti_affinity.so",
            "does not know calls of kind 14",
        ),
    ] {
        let path = repository().join("tests/frozen/1.0/plugins").join(name);
        let library = PluginFile::read(&path)
            .and_then(|file| file.open(options()))
            .expect(name);
        assert_eq!(library.abi_version().to_string(), "1.0");
        let instance = PluginInstance::construct(&library, &serde_json::json!({})).expect(name);
        let refused = instance.pace(&mut PaceCall::default(), None);
        match refused {
            Err(CallError::NotServed { message, .. }) => assert_eq!(message, expected, "{name}"),
            other => panic!("{name}: {other:?}"),
        }
    }
}
