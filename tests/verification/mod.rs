//! The conformance kit: bundled plugins keep every contract, and a plugin that breaks one is caught by the check of that
//! contract, and by no other.

mod careless;
mod paces;

use divvy_conformance::check::{self, Broken, Check, Effort};
use divvy_conformance::{Case, Subject};
use divvy_framework_abi::sized::kind;
use divvy_loader::{PluginDirectories, PluginLibrary};

use crate::artifacts::{self, plugin_folders, repository};
use crate::c_interface;
use crate::scheduling::{Host, configuration, filters_with, name_libraries, name_worker_program};
use crate::table_files::TableFiles;

/// Enough to find every fault of the fixtures; `divvy plugin verify` tries thousands.
const EFFORT: Effort = Effort {
    seed: 1,
    runs: 40,
    largest: 50,
    own: Vec::new(),
};

/// A plugin in the built-in profile with these lines. The checks open its library in this process, although workers could be started.
#[track_caller]
fn subject(plugin: &str, lines: &str) -> Subject {
    name_worker_program();
    let mut configuration = configuration(&format!("extends = 'default'\n{lines}"));
    name_libraries(&mut configuration);
    Subject::new(configuration, PluginDirectories::default(), plugin).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// A subject that breaks the contract of this name.
#[track_caller]
fn unfaithful(fault: &str) -> Subject {
    subject(
        "unfaithful",
        &format!(
            "filters = ['api-enablement', 'cluster-affinity', 'unfaithful']\n\
             scores = [{{ plugin = 'unfaithful' }}]\n\
             select = ['unfaithful']\n\
             assign = ['unfaithful']\n\
             plugin.unfaithful.configuration.fault = '{fault}'\n"
        ),
    )
}

/// Bundled plugins: every fourth in the gate, and all.
fn some_plugins() -> impl Iterator<Item = String> {
    plugin_folders().into_iter().step_by(divvy_built::cases(4, 1))
}

/// True for a check that observes its whole process, in which other tests run at the same time. [`careless`] makes these.
fn takes_the_process(check: &Check) -> bool {
    check.takes_the_process
}

/// The checks that apply, with their findings.
fn checked(subject: &Subject) -> Vec<(&'static str, Option<Broken>)> {
    let applying = check::all()
        .into_iter()
        .filter(|check| check.applies(subject) && !takes_the_process(check));
    applying
        .map(|check| (check.name, check::run(&check, subject, &EFFORT, |_| {}).broken))
        .collect()
}

#[track_caller]
fn check_keeps_all(subject: &Subject) {
    let broken: Vec<(&str, String)> = checked(subject)
        .into_iter()
        .filter_map(|(check, broken)| Some((check, broken?)))
        .map(|(check, broken)| (check, serde_json::to_string(&broken).expect("it is JSON")))
        .collect();
    assert!(broken.is_empty(), "{}: {broken:#?}", subject.plugin());
}

/// A table for random cases, whose clusters are in few regions and have names by number. Some cells are missing.
fn table_of_cases(plugin: &str, table: &str) -> String {
    match (plugin, table) {
        ("cheapest", "prices") => {
            let rows = (0..60).map(|number| match number % 7 {
                0 => format!("member{number},,,\n"),
                _ => format!("member{number},0.0{},0.00{},\n", number % 9 + 1, number % 5),
            });
            format!("cluster,cpu-hour,gib-hour,gpu-hour\n{}", rows.collect::<String>())
        }
        ("maintenance-windows", "windows") => {
            let rows = (0..60).map(|number| match number % 4 {
                0 => format!("member{number},,,,Mon-Fri 08:00-18:00 Europe/Berlin,,\n"),
                1 => format!("member{number},,2001-01-01T00:00:00Z,2101-01-01T00:00:00Z,,,storage team\n"),
                2 => format!("member{number},,2001-01-01T00:00:00Z,2101-01-01T00:00:00Z,,true,\n"),
                _ => format!("member{number},,2001-01-01T00:00:00Z,2001-01-02T00:00:00Z,,,\n"),
            });
            let header = "cluster,announced,begins,ends,weekly,evict,announced-by";
            format!("{header}\n{}", rows.collect::<String>())
        }
        _ => panic!("plugins/{plugin} declares the table `{table}`: make one for random cases"),
    }
}

/// Lines of a profile that calls a bundled plugin, and the files of its tables. The built-in profile does not use all of them, and a plugin
/// that is not called keeps every contract.
fn lines_with(plugin: &str) -> (String, TableFiles) {
    let library = PluginLibrary::load(artifacts::plugin(plugin), None);
    let library = library.unwrap_or_else(|error| panic!("plugins/{plugin}: {error}"));
    let tables = TableFiles::new(library.tables(), |table| table_of_cases(plugin, table));
    let list = match (Host::has_built_in(plugin), library.serves(kind::SCORE)) {
        (true, _) => String::new(),
        (false, _) if library.serves(kind::PACE) => format!("[profile.moves]\npace = '{plugin}'\n"),
        (false, true) => format!("scores = ['...', '{plugin}']\n"),
        (false, false) => filters_with(&[plugin]),
    };
    (list + tables.lines(), tables)
}

#[test]
fn bundled_plugins_keep_every_contract() {
    for plugin in some_plugins() {
        let (lines, _tables) = lines_with(&plugin);
        check_keeps_all(&subject(&plugin, &lines));
    }
}

/// The plugins keep the contracts in their other configurations as well.
#[test]
fn bundled_plugins_keep_every_contract_as_karmada_decides() {
    let plugins = ["dynamic-weight", "static-weight", "cluster-locality"];
    for plugin in &plugins[..divvy_built::cases(1, plugins.len())] {
        let mut configuration = divvy_profile::ProfileSource::from_built_in(
            divvy_profile::BuiltIn::named("karmada").expect("it is built in"),
        )
        .profile(None)
        .unwrap_or_else(|error| panic!("{error}"));
        name_libraries(&mut configuration);
        let subject = Subject::new(configuration, PluginDirectories::default(), plugin);
        check_keeps_all(&subject.unwrap_or_else(|errors| panic!("{errors:?}")));
    }
}

#[test]
fn a_plugin_without_a_fault_keeps_every_contract() {
    check_keeps_all(&unfaithful("none"));
}

/// The broken checks.
fn findings(subject: &Subject) -> Vec<(&'static str, Broken)> {
    let checked = checked(subject).into_iter();
    checked.filter_map(|(check, broken)| Some((check, broken?))).collect()
}

/// The only finding.
#[track_caller]
fn only_finding(subject: &Subject, expected: &str) -> Broken {
    let broken = findings(subject);
    let names: Vec<&str> = broken.iter().map(|(check, _)| *check).collect();
    assert_eq!(names, [expected], "{broken:#?}");
    broken.into_iter().next().expect("there is one").1
}

fn sizes(case: &Case) -> (usize, usize) {
    (case.clusters.len(), case.objects.len())
}

/// Each fault is named after the check that must find it. The case has as many clusters as the fault needs.
#[test]
fn each_broken_contract_is_caught_by_its_check_alone() {
    let mut wrong = Vec::new();
    for (fault, clusters, message) in [
        ("panics", 2, "plugin `unfaithful` panicked: two candidates are too many"),
        ("failures", 3, "plugin `unfaithful` failed: three are too many"),
        ("range-of-results", 2, "plugin `unfaithful` wrote "),
        ("scores", 3, "plugin `unfaithful` gave cluster `"),
        (
            "acts-on",
            2,
            "the binding has none of the parts that the plugin acts on: without a call `",
        ),
        (
            "members",
            1,
            "plugin `unfaithful` selected index 1, but only 1 clusters are feasible",
        ),
        ("distinct", 2, "plugin `unfaithful` selected cluster `"),
        ("counts", 1, "plugin `unfaithful` gave cluster `"),
        ("sum", 2, "plugin `unfaithful` divided 4 replicas, expected 5"),
        (
            "capacity",
            2,
            "plugin `unfaithful` promises to respect capacity but gave cluster `",
        ),
        (
            "stated-promises",
            2,
            "plugin `unfaithful` promises to use at most 1 of the clusters but used ",
        ),
        ("determinism", 2, "the same binding is decided differently: `"),
        ("explanations", 2, "an explanation changes the decision: `"),
        (
            "kept-values",
            1,
            "after changes of single clusters, the decision differs",
        ),
        ("valid-until", 2, "the decision at "),
        ("order", 2, "in one order: `"),
        ("inertia", 2, "`"),
        ("spread", 2, "the candidates "),
        (
            "no-candidates",
            0,
            "plugin `unfaithful` panicked: there is no first candidate",
        ),
    ] {
        let mut found = findings(&unfaithful(fault));
        // A strategy whose every result is refused decides nothing either.
        found.retain(|(check, _)| *check != "decides");
        if fault == "determinism" {
            // Every check that compares two decisions finds it, but the first names the cause.
            found.truncate(1);
        }
        let [(check, broken)] = found.as_slice() else {
            let names: Vec<&str> = found.iter().map(|(check, _)| *check).collect();
            wrong.push(format!("{fault} is found by {names:?}: {found:#?}"));
            continue;
        };
        // A binding, or a policy and a workload, and no cluster too many.
        let is_small = broken.case.as_ref().is_some_and(|case| {
            let (found, objects) = sizes(case);
            found <= clusters.max(1) && objects <= 2
        });
        if *check != fault || !broken.message.starts_with(message) || !is_small {
            wrong.push(format!("{fault} is found by {check}: {broken:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_filter_that_reads_more_than_it_declares_is_caught() {
    let broken = only_finding(&unfaithful("labels"), "acts-on");
    let message = "the binding has none of the parts that the plugin acts on: without a call `";
    assert!(broken.message.starts_with(message), "{}", broken.message);
}

/// The moment in which two calls overlap depends on the machine, but they do overlap.
#[test]
fn a_plugin_that_minds_other_threads_is_caught() {
    let broken = only_finding(&unfaithful("threads"), "threads");
    let message = "on one of 8 threads, the decision differs: `";
    assert!(broken.message.starts_with(message), "{}", broken.message);
}

/// `company` promises to judge each cluster alone, at every extension point.
#[test]
fn a_false_promise_to_judge_each_cluster_alone_is_caught() {
    let company = |fault: &str| {
        let lines = format!(
            "filters = ['cluster-affinity', 'company']\n\
             scores = [{{ plugin = 'company' }}]\n\
             select = ['company']\n\
             assign = ['company']\n\
             plugin.company.configuration.fault = '{fault}'\n"
        );
        subject("company", &lines)
    };
    check_keeps_all(&company("none"));
    for (fault, clusters, message) in [
        ("filter", 2, "Filter refuses "),
        ("crowd", 20, "Filter refuses "),
        ("score", 3, "succeeds, and without "),
        ("select", 2, "Select refuses "),
        ("room", 2, "Select "),
        ("assign", 2, "succeeds, and without "),
    ] {
        let broken = only_finding(&company(fault), "each-alone");
        assert!(broken.message.starts_with(message), "{fault}: {}", broken.message);
        let case = broken.case.expect("there is a case");
        assert!(sizes(&case).0 <= clusters, "{fault}: {case:#?}");
    }
}

#[test]
fn a_false_promise_to_duplicate_is_caught() {
    let subject = subject("false-duplicate", "assign = ['false-duplicate']\n");
    let broken = findings(&subject);
    let names: Vec<&str> = broken.iter().map(|(check, _)| *check).collect();
    // No result of its only strategy is accepted, so it decides nothing either.
    assert_eq!(names, ["decides", "duplicates"], "{broken:#?}");
    let broken = broken.into_iter().next_back().expect("there are two").1;
    let message = "plugin `false-duplicate` promises to duplicate but gave cluster `";
    assert!(broken.message.starts_with(message), "{}", broken.message);
}

#[test]
fn schemas_that_promise_more_than_is_checked_are_caught() {
    let subject = subject("lenient", "filters = ['cluster-affinity', 'lenient']\n");
    let broken: Vec<(&str, String)> = checked(&subject)
        .into_iter()
        .filter_map(|(check, broken)| Some((check, broken?.message)))
        .collect();
    let expected = [
        ("descriptor", "its description is not one line"),
        (
            "configuration",
            r#"it accepts `number` = {"no-such-key":[]} in its configuration"#,
        ),
        (
            "preferences",
            r#"it accepts `number` = {"no-such-key":[]} in preferences"#,
        ),
    ];
    assert_eq!(broken, expected.map(|(check, message)| (check, message.to_owned())));
}

#[test]
fn what_only_a_plugin_without_the_sdk_does_is_caught() {
    let library = c_interface::library("nonsense", &[repository().join("tests/fixtures/nonsense.c")]);
    let subject = subject(
        "nonsense",
        &format!(
            "filters = ['cluster-affinity', 'nonsense']\n\
             [profile.plugin.nonsense]\npath = '{}'\nallow-uncertified = true\n",
            library.display()
        ),
    );
    let broken: Vec<&str> = checked(&subject)
        .into_iter()
        .filter_map(|(check, broken)| broken.map(|_| check))
        .collect();
    assert_eq!(broken, ["documents", "rejections"]);
}
