//! Compatibility in both directions: plugins of another minor ABI version, from another build, or with another
//! allocator.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;

use crate::artifacts;
use crate::changed_sdk::{self, Edit};
use crate::manifests::{binding, cluster};
use crate::scheduling::Host;

/// A plugin that serves every extension point. It is built against modified SDKs here, and was kept once as a binary.
const KEPT_SOURCE: &str = include_str!("fixtures/kept/src/lib.rs");

/// The SDK as its next minor version might look: one more field in the module, in a call and in the view of the cycle,
/// and one more method. Its calls assert that fields missing in an older host read as their defaults.
const NEWER_MINOR: [Edit; 9] = [
    Edit {
        file: "abi/Cargo.toml",
        from: "version = \"1.0.0\"",
        to: "version = \"1.1.0\"",
    },
    Edit {
        file: "abi/src/module.rs",
        from: "pub construct: for<'a> extern \"C\" fn(RStr<'a>, HostLog) -> RResult<PluginObjectBox, PluginFailure>,\n",
        to: "pub construct: for<'a> extern \"C\" fn(RStr<'a>, HostLog) -> RResult<PluginObjectBox, PluginFailure>,\n\
             /// Appended.\n\
             pub appended: u64,\n",
    },
    Edit {
        file: "abi/src/object.rs",
        from: "    fn assign(&self, request: Request<'_>) -> RResult<(), PluginFailure>;\n",
        to: "    fn assign(&self, request: Request<'_>) -> RResult<(), PluginFailure>;\n\
             /// Appended.\n\
             fn appended(&self) -> u64 { 0 }\n",
    },
    Edit {
        file: "abi/src/call.rs",
        from: "        result: RSliceMut<'a, i64> = RSliceMut::default(),\n",
        to: "        result: RSliceMut<'a, i64> = RSliceMut::default(),\n\
             /// Appended.\n\
             appended: u64 = 11,\n",
    },
    Edit {
        file: "abi/src/call.rs",
        from: "    pub annotations: RSlice<'a, PairRow>,\n",
        to: "    pub annotations: RSlice<'a, PairRow>,\n\
             /// Appended.\n\
             pub appended: u64,\n",
    },
    Edit {
        file: "abi/src/call.rs",
        from: "            annotations: RSlice::EMPTY,\n",
        to: "            annotations: RSlice::EMPTY,\n            appended: 13,\n",
    },
    Edit {
        file: "src/cycle.rs",
        from: "        Self { view }\n    }\n",
        to: "        Self { view }\n    }\n\n    pub(crate) fn appended(self) -> u64 {\n        self.view.appended\n    }\n",
    },
    Edit {
        file: "src/export/mod.rs",
        from: "        construct: construct::<P>,\n",
        to: "        construct: construct::<P>,\n        appended: 7,\n",
    },
    Edit {
        file: "src/export/calls.rs",
        from: "    with_call!(request, AssignCall, |call, cycle| {\n",
        to: "    with_call!(request, AssignCall, |call, cycle| {\n\
             assert_eq!((call.appended, cycle.appended()), (11, 13), \"what the host lacks reads as its default\");\n",
    },
];

/// A change without a new version: two strings of a failure are swapped.
const UNANNOUNCED: [Edit; 2] = [
    Edit {
        file: "abi/src/object.rs",
        from: "    pub message: RString,\n    /// Location of the fault",
        to: "    pub path: RString,\n    /// Location of the fault",
    },
    Edit {
        file: "abi/src/object.rs",
        from: "empty if there is none.\n    pub path: RString,\n",
        to: "empty if there is none.\n    pub message: RString,\n",
    },
];

/// The binary that was built against ABI 1.0.
fn kept() -> PathBuf {
    artifacts::repository().join("tests/fixtures/kept/libdivvy_plugin_kept.so")
}

/// The same source, built against a newer minor version.
fn newer() -> &'static Path {
    static NEWER: LazyLock<PathBuf> =
        LazyLock::new(|| changed_sdk::plugin_of("newer-minor", KEPT_SOURCE, &NEWER_MINOR));
    &NEWER
}

/// A host whose profile uses the kept plugin from `library` at every extension point.
fn host_of(library: &Path) -> Host {
    Host::extending(&format!(
        "filters = ['kept']\nscores = [{{ plugin = 'kept', weight = 3 }}]\nselect = 'kept'\nassign = ['kept', 'average']\n\
         [profile.plugin.kept]\npath = '{}'\nconfiguration = {{ rejected-region = 'south' }}\n",
        library.display()
    ))
}

/// Checks the decisions of the kept plugin across all its features.
#[track_caller]
fn check_decisions(host: &Host) {
    let clusters = || -> Vec<Value> {
        vec![
            cluster("a", 4).region("north").into(),
            cluster("b", 9).region("south").into(),
            cluster("c", 2).region("north").into(),
            cluster("d", 7).into(),
        ]
    };
    let told = |binding: crate::manifests::Binding| {
        let mut objects = clusters();
        objects.push(binding.into());
        host.told(objects)
    };
    let kept = |name, replicas| binding(name, replicas).strategy("Kept");
    // Without scores, clusters with the most room come first.
    assert_eq!(told(kept("plain", 8)), "a=1 d=7");
    // A cluster of the last result scores 100, and its last replicas count as room.
    assert_eq!(told(kept("scored", 8).last([("c", 3)])), "c=5 d=3");
    let favourite = serde_json::json!({ "favourite": "a" });
    assert_eq!(told(kept("favourite", 8).preferences(&favourite)), "a=4 d=4");
    assert_eq!(
        told(kept("greedy", 14)),
        "Unschedulable: 14 replicas requested, 13 fit in the candidate clusters"
    );
    let misspelt = serde_json::json!({ "favorite": "a" });
    assert_eq!(
        told(kept("misspelt", 8).preferences(&misspelt)),
        "Error: unknown key `favorite`"
    );
    // A current plugin in the same profile.
    assert_eq!(told(binding("even", 7).strategy("Average")), "a=3 c=2 d=2");
}

#[test]
fn a_plugin_of_the_first_abi_version_still_schedules() {
    let size_kib = std::fs::metadata(kept()).expect("the binary is kept").len() / 1024;
    assert!(size_kib <= 600, "the kept binary has {size_kib} KiB");
    let host = host_of(&kept());
    let plugin = host.profile().select().library();
    assert_eq!((plugin.name(), plugin.version()), ("kept", "1.2.3"));
    assert_eq!(plugin.abi_version().to_string(), "1.0");
    check_decisions(&host);
}

#[test]
fn a_plugin_of_a_newer_minor_version_schedules_on_this_host() {
    let host = host_of(newer());
    assert_eq!(host.profile().select().library().abi_version().to_string(), "1.1");
    check_decisions(&host);
}

#[test]
fn a_change_without_a_new_version_is_refused() {
    let library = changed_sdk::plugin_of("unannounced", KEPT_SOURCE, &UNANNOUNCED);
    let error = divvy_scheduler::plugin::PluginLibrary::load(&library, None).expect_err("its failures differ");
    let message = error.to_string().replace(&library.display().to_string(), "<file>");
    assert_eq!(
        message,
        "plugin `kept` (<file>) has another type layout than this divvy: in `PluginFailure`: unexpected field: \
         expected `message: RString`, found `path: RString`"
    );
    let detail = error.detail().expect("the report of the layout check");
    assert!(detail.lines().count() > 10, "{detail}");
}

/// Memory that one side allocates and the other side frees returns to its own allocator: strings in errors and
/// explanations, prepared state, the plugin itself.
#[test]
fn a_plugin_may_have_its_own_allocator() {
    let host = Host::extending("assign = ['rival']");
    for replicas in [5, 13, 6] {
        let objects = [cluster("a", 9).into(), cluster("b", 9).into()];
        let told = host.told(
            objects
                .into_iter()
                .chain([binding("web", replicas).strategy("Average").into()]),
        );
        match replicas {
            13 => assert_eq!(told, "Unschedulable: 13 is more than anyone should ask for"),
            _ => assert_eq!(told, format!("a={replicas}")),
        }
    }
    drop(host);
}
