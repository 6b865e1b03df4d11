//! C++: the header has the layout of the ABI in every standard, the examples in C compile as C++ without a warning and decide alike, and
//! a plugin that uses C++ runs like any other.

use crate::artifacts::repository;
use crate::compile::{Standard, library_in};
use crate::layout::check_in;
use crate::manifests::{binding, cluster};
use crate::scheduling::Host;

#[test]
fn the_header_has_the_same_layout() {
    check_in(&Standard::CPP);
}

#[test]
fn the_examples_decide_alike_in_every_standard_of_c_and_cpp() {
    let sources = ["fill_in_order.c", "ready_only.c", "library.c"];
    let sources = sources.map(|name| repository().join("examples/c-plugin").join(name));
    for standard in Standard::C.into_iter().chain(Standard::CPP) {
        let path = library_in(standard, &format!("examples-{standard:?}"), &sources);
        let tables = ["ready-only", "fill-in-order"].map(|plugin| {
            format!(
                "[profile.plugin.{plugin}]\npath = '{}'\nallow-uncertified = true\n",
                path.display()
            )
        });
        let host = Host::extending(&format!(
            "filters = ['ready-only']\nassign = ['fill-in-order']\n{}",
            tables.concat()
        ));
        let ready = ["a", "b"].map(|name| {
            let mut cluster: serde_json::Value = cluster(name, 4).into();
            cluster["status"]["conditions"] = serde_json::json!([{ "type": "Ready", "status": "True" }]);
            cluster
        });
        let asked = binding("web", 6).strategy("FillInOrder");
        let objects = ready.into_iter().chain([cluster("c", 9).into(), asked.into()]);
        assert_eq!(host.told(objects), "a=4 b=2", "{standard:?}");
    }
}

#[test]
fn a_filter_in_cpp_decides_fails_and_refuses_its_configuration() {
    for standard in Standard::CPP {
        let sources = [repository().join("tests/fixtures/named.cpp")];
        let path = library_in(standard, &format!("named-{standard:?}"), &sources);
        let profile = |configuration: &str| {
            format!(
                "filters = ['named']\n[profile.plugin.named]\npath = '{}'\nallow-uncertified = true\n{configuration}",
                path.display()
            )
        };
        let host = Host::extending(&profile("configuration = { names = ['a', 'c'] }\n"));
        let told = |names: &[&str]| {
            let clusters = names.iter().map(|name| cluster(name, 4).into());
            host.told(clusters.chain([binding("web", 2).strategy("Average").into()]))
        };
        assert_eq!(told(&["a", "b", "c"]), "a=1 c=1");
        assert_eq!(
            told(&["b", "d"]),
            "NoClusterFit: 0/2 clusters are available: 2 cluster(s) were not named"
        );
        // An exception becomes a failure of the call.
        assert_eq!(
            told(&["a", "forbidden"]),
            "Error: plugin `named` failed: a cluster is called `forbidden`"
        );
        assert_eq!(told(&["a"]), "a=2");
        let errors = Host::try_extending(&profile("")).expect_err("it names nothing");
        assert_eq!(
            errors[0].to_string(),
            "configuration of plugin `named`: `names` is missing"
        );
    }
}
