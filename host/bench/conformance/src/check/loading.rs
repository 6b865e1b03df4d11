//! Checks of a plugin's description of itself, and of its answers to bad configurations and preferences.

use divvy_framework_abi::sized::kind;
use divvy_loader::{LoadError, PluginLibrary};
use divvy_scheduler::cycle::CycleError;
use divvy_scheduler::decision::Outcome;
use divvy_scheduler::plugin::PluginInstance;
use divvy_scheduler::strategy::{PLUGIN_PREFERENCES_PREFIX, PREFERENCES_ANNOTATION};
use serde_json::{Value, json};

use super::{Broken, Check, Method};
use crate::case::Case;
use crate::generate::{NOON, deployment_binding};
use crate::schema::{self, Invalid};
use crate::subject::Subject;

/// The checks of a plugin's description and of the inputs that it reads.
pub(super) fn checks() -> Vec<Check> {
    let once = |name, contract, check| Check {
        name,
        contract,
        takes_the_process: false,
        applies: |_| true,
        method: Method::Once(check),
    };
    vec![
        once(
            "descriptor",
            "the plugin's description of itself is complete and does not contradict itself",
            descriptor,
        ),
        once(
            "documents",
            "schemas and lists can be read, and are the same each time",
            documents,
        ),
        once(
            "configuration",
            "a configuration that the schema forbids is refused, without a panic",
            configuration,
        ),
        once(
            "preferences",
            "preferences that the schema forbids are refused, without a panic",
            preferences,
        ),
    ]
}

/// Calls `check` with the plugin's library.
fn with_library(subject: &Subject, check: impl FnOnce(&PluginLibrary) -> Result<(), String>) -> Result<(), Broken> {
    let checked = subject.with_instance(|instance| check(instance.library()));
    checked.unwrap_or(Ok(())).map_err(Broken::from)
}

fn descriptor(subject: &Subject) -> Result<(), Broken> {
    with_library(subject, |library| {
        let strategies = library.strategies();
        let serves = library.serves(kind::ASSIGN);
        let mut sorted = strategies.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let problem = if library.extension_points().is_empty() {
            "it serves no extension point".to_owned()
        } else if library.version().is_empty() {
            "it has no version".to_owned()
        } else if library.description().is_empty() || library.description().contains('\n') {
            "its description is not one line".to_owned()
        } else if serves && strategies.is_empty() {
            "it serves Assign but no strategy".to_owned()
        } else if !serves && !strategies.is_empty() {
            format!(
                "it names strategies ({}) but does not serve Assign",
                strategies.join(", ")
            )
        } else if strategies.iter().any(|name| name.is_empty()) {
            "a strategy has no name".to_owned()
        } else if sorted.len() != strategies.len() {
            format!("it names a strategy twice: {}", strategies.join(", "))
        } else {
            return Ok(());
        };
        Err(problem)
    })
}

fn documents(subject: &Subject) -> Result<(), Broken> {
    with_library(subject, |library| {
        let read = || [library.configuration_schema(), library.preferences_schema()];
        for (name, text) in ["configuration", "preferences"].into_iter().zip(read()) {
            let schema: Value = serde_json::from_str(&text)
                .map_err(|error| format!("the schema of its {name} is not JSON: {error}"))?;
            if !schema.is_object() && !schema.is_boolean() {
                return Err(format!(
                    "the schema of its {name} is neither an object nor a truth value"
                ));
            }
        }
        if read() != read() {
            return Err("its schemas differ from one call to the next".to_owned());
        }
        for list in library.rule_lists() {
            if list.name.is_empty() || list.fields.iter().any(|field| field.name.is_empty()) {
                return Err("a list, or a field of one, has no name".to_owned());
            }
            if list.fields.iter().any(|field| field.name == "targetCluster") {
                return Err(format!("its list `{}` has a field `targetCluster`", list.name));
            }
        }
        Ok(())
    })
}

fn configuration(subject: &Subject) -> Result<(), Broken> {
    let base = subject.configuration().configuration_of(subject.plugin());
    with_library(subject, |library| {
        let schema = serde_json::from_str(&library.configuration_schema()).unwrap_or(Value::Null);
        for Invalid { value, mistake } in schema::invalid_objects(&schema, &base) {
            match PluginInstance::construct(library, &value) {
                Ok(_) => return Err(format!("it accepts {mistake} in its configuration")),
                Err(error @ LoadError::ConstructorPanic { .. }) => {
                    return Err(format!("{error}, with {mistake} in its configuration"));
                }
                Err(_) => {}
            }
        }
        Ok(())
    })
}

fn preferences(subject: &Subject) -> Result<(), Broken> {
    let schema = subject.with_instance(crate::preferences::schema).unwrap_or(Value::Null);
    let strategies = subject.strategies();
    let annotation = match strategies.is_empty() {
        true => format!("{PLUGIN_PREFERENCES_PREFIX}{}", subject.plugin()),
        false => PREFERENCES_ANNOTATION.to_owned(),
    };
    for Invalid { value, mistake } in schema::invalid_objects(&schema, &json!({})) {
        let mut binding = deployment_binding("web", 6);
        binding["metadata"]["annotations"][annotation.as_str()] = value.to_string().into();
        if let Some(strategy) = strategies.first() {
            binding["metadata"]["annotations"]["divvy.io/strategy"] = strategy.as_str().into();
        }
        let case = Case {
            clusters: ["a", "b", "c"].map(roomy).to_vec(),
            objects: vec![binding],
            binding: None,
            time: NOON,
        };
        let (decision, _) = subject.decide(&case)?;
        let message = match decision.outcome {
            Outcome::Failed(CycleError::InvalidPreferences { .. } | CycleError::InvalidBinding { .. }) => continue,
            Outcome::Failed(error) if error.is_plugin_fault() => format!("{error}, with {mistake} in preferences"),
            _ => format!("it accepts {mistake} in preferences"),
        };
        return Err(Broken {
            message,
            case: Some(case),
        });
    }
    Ok(())
}

/// A cluster that every bundled filter lets through.
fn roomy(name: &str) -> Value {
    json!({
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": { "name": name },
        "spec": { "syncMode": "Push", "region": name, "provider": "aws", "zones": ["z1"] },
        "status": {
            "apiEnablements": [{
                "groupVersion": "apps/v1",
                "resources": [{ "kind": "Deployment", "name": "deployments" }],
            }],
            "resourceSummary": { "allocatable": { "pods": "100" } },
        },
    })
}
