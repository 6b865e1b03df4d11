//! Plugins in processes of their own: what harm they do to a running scheduler.

use std::path::{Path, PathBuf};
use std::process::Command;

use divvy_control_plane_tests::objects::BINDING;
use divvy_control_plane_tests::scenario::{condition, is_scheduled, result};
use divvy_control_plane_tests::{Error, Scenario, source_folder, templates};
use serde_json::{Value, json};

use crate::{ask, folder, three_clusters, until_printed, until_status};

/// Compiles the plugin that does harm on request.
pub(crate) fn hostile(folder: &Path) -> PathBuf {
    let repository = source_folder().join("../..");
    let library = folder.join("libhostile.so");
    let compiled = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()))
        .args(["-std=c99", "-O1", "-shared", "-fPIC", "-I"])
        .arg(repository.join("framework/abi/include"))
        .args(["hostile.c", "attacks.c"].map(|name| repository.join("tests/fixtures").join(name)))
        .arg("-o")
        .arg(&library)
        .status();
    assert!(compiled.expect("a C compiler is installed").success());
    library
}

fn profile(library: &Path, lists: &str, on_error: &str) -> String {
    format!(
        "[[profile]]\nname = 'hostile'\nextends = 'default'\n{lists}\n[profile.plugin.hostile]\npath = '{}'\n\
         allow-uncertified = true\non-error = '{on_error}'\n",
        library.display()
    )
}

const ALL_POINTS: &str = "filters = ['cluster-affinity', 'hostile']\nscores = ['hostile']\nselect = ['hostile']\n\
                          assign = ['hostile', 'average', 'duplicated']";

/// A binding whose calls do harm at a point.
fn binding(name: &str, strategy: &str, fault: &str, point: &str) -> Value {
    let mut binding = templates::binding(name, 2, templates::divided_by_room(json!({})));
    binding["metadata"]["annotations"] = json!({
        "divvy.io/strategy": strategy,
        "hostile.example/fault": fault,
        "hostile.example/point": point,
    });
    binding
}

fn is_failed(binding: &Value) -> bool {
    condition(binding, "Scheduled")["reason"] == "SchedulerError"
}

fn failure(binding: &Value) -> Value {
    let text = binding["metadata"]["annotations"]["divvy.io/plugin-failure"].as_str();
    text.map_or(Value::Null, |text| serde_json::from_str(text).expect("JSON"))
}

/// Faults that end the worker, each at one point, with how the error describes the end.
const DEADLY: [(&str, &str, &str); 12] = [
    ("segmentation fault", "filter", "was ended by SIGSEGV"),
    ("abort", "score", "was ended by SIGABRT"),
    ("stack overflow", "select", "was ended by SIG"),
    ("exit", "assign", "exited with code 0"),
    ("quick_exit", "filter", "exited with code 0"),
    ("_exit", "score", "exited with code 0"),
    ("pthread_exit", "select", ""),
    ("kill", "assign", "was ended by SIGKILL"),
    ("write to the snapshot", "filter", "was ended by SIGSEGV"),
    ("write to an input", "score", "was ended by SIGSEGV"),
    ("endless loop", "score", "did not answer a call within 1 s"),
    ("deadlock", "assign", "did not answer a call within 1 s"),
];

/// Faults that are refused, or that concern the worker alone.
const HARMLESS: [(&str, &str); 7] = [
    ("close descriptors", "filter"),
    ("fork", "score"),
    ("forged sink", "select"),
    ("limits", "assign"),
    ("output", "filter"),
    ("socket", "select"),
    ("kill the parent", "assign"),
];

#[tokio::test]
async fn harm_costs_its_own_binding_and_the_scheduler_goes_on() -> Result<(), Error> {
    let folder = folder()?;
    let library = hostile(folder.path());
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    let file = scenario.start_scheduler_under("profile.toml", &profile(&library, ALL_POINTS, "fail"))?;
    until_status(&scenario, "/readyz", 200).await;

    // Each is followed by a binding that is answered: after three failures in a row, the plugin is not called for a while.
    for (number, (fault, point, _)) in DEADLY.iter().enumerate() {
        scenario
            .bind(&binding(&format!("deadly-{number}"), "Hostile", fault, point))
            .await?;
        scenario
            .bind(&binding(&format!("healthy-{number}"), "Hostile", "none", point))
            .await?;
    }
    for (number, (fault, point)) in HARMLESS.iter().enumerate() {
        scenario
            .bind(&binding(&format!("harmless-{number}"), "Hostile", fault, point))
            .await?;
    }
    for (number, (fault, point, ending)) in DEADLY.iter().enumerate() {
        let failed = scenario
            .wait_for_binding(&format!("deadly-{number}"), "failed", is_failed)
            .await?;
        let message = condition(&failed, "Scheduled")["message"].as_str().unwrap_or_default();
        assert!(
            message.starts_with("plugin `hostile` failed in ") && message.contains(ending),
            "{fault} at {point}: {message}"
        );
        assert_eq!(failure(&failed)["plugin"], "hostile", "{fault} at {point}");
        let name = format!("healthy-{number}");
        let healthy = scenario.wait_for_binding(&name, "scheduled", is_scheduled).await?;
        assert_eq!(result(&healthy).values().sum::<i64>(), 2, "after {fault} at {point}");
    }
    for (number, (fault, point)) in HARMLESS.iter().enumerate() {
        let name = format!("harmless-{number}");
        let harmless = scenario.wait_for_binding(&name, "scheduled", is_scheduled).await?;
        assert_eq!(result(&harmless).values().sum::<i64>(), 2, "{fault} at {point}");
    }
    assert_eq!(ask(&scenario, "/readyz").0, 200);
    assert!(scenario.schedulers[0].process.exit_status().is_none());

    // Another process finds the waits in the annotations, and does not try what is deadly.
    let divvy = scenario.schedulers.pop().expect("the scheduler is running");
    assert!(divvy.process.terminate()?.success());
    let mut configuration = scenario.configuration(divvy_control_plane_tests::users::SCHEDULER);
    configuration.profile = file;
    scenario.start_scheduler_with(&configuration)?;
    scenario.bind(&binding("after", "Hostile", "none", "filter")).await?;
    scenario.wait_for_binding("after", "scheduled", is_scheduled).await?;
    let first = scenario.objects().get(BINDING, "default", "deadly-0").await?;
    assert_eq!(failure(&first)["failures"], 1, "{first:#}");

    // A change to the binding ends the wait.
    let healed = json!({"metadata": {"annotations": {"hostile.example/fault": "none"}}});
    scenario
        .objects()
        .merge(BINDING, "default", "deadly-0", &healed)
        .await?;
    let healed = scenario.wait_for_binding("deadly-0", "scheduled", is_scheduled).await?;
    assert_eq!(failure(&healed), Value::Null);
    Ok(())
}

#[tokio::test]
async fn a_binding_goes_on_without_a_plugin_that_may_be_skipped() -> Result<(), Error> {
    let folder = folder()?;
    let library = hostile(folder.path());
    let mut scenario = Scenario::new(folder.path(), &three_clusters()).await?;
    let lists = "filters = ['cluster-affinity', 'hostile']\nscores = ['hostile']";
    scenario.start_scheduler_under("profile.toml", &profile(&library, lists, "skip"))?;
    until_status(&scenario, "/readyz", 200).await;
    for point in ["filter", "score"] {
        scenario.bind(&binding(point, "Average", "abort", point)).await?;
        let decided = scenario.wait_for_binding(point, "scheduled", is_scheduled).await?;
        assert_eq!(result(&decided).values().sum::<i64>(), 2, "{point}");
        scenario
            .wait_for_event(BINDING, point, "ScheduleBindingWarning")
            .await?;
        let (status, explanation) = ask(&scenario, &format!("/explain/resourcebinding/default/{point}"));
        assert_eq!(status, 200);
        assert!(
            explanation.contains("decided without plugin `hostile`: "),
            "{explanation}"
        );
    }
    until_printed(&scenario.schedulers[0], "decided without plugin `hostile`: ").await;
    Ok(())
}
