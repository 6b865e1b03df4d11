//! `packaging/chart` as a dependency of another chart, which has no other way to it than values and a condition.

use std::path::Path;

use serde_json::json;

use crate::Failure;
use crate::chart::{objects, packaging, rendered, run, tool};

/// A chart without templates that depends on Divvy's twice: for the pods, and by an alias for the rights.
fn parent(folder: &Path) -> Result<(), Failure> {
    let chart = packaging().join("chart").canonicalize()?;
    let repository = format!("file://{}", chart.display());
    let metadata = format!(
        "apiVersion: v2\nname: platform\nversion: 1.0.0\ndependencies:\n\
         - {{name: divvy, version: 0.1.0, repository: {repository:?}, condition: divvy.enabled}}\n\
         - {{name: divvy, alias: rights, version: 0.1.0, repository: {repository:?}, condition: rights.enabled}}\n"
    );
    std::fs::write(folder.join("Chart.yaml"), metadata)?;
    let values = "global:\n  registry: registry.example\n\
                  divvy:\n  enabled: true\n  image:\n    repository: registry.invalid/divvy\n  podSecurityContext:\n    runAsNonRoot: true\n\
                  rights:\n  enabled: false\n  cluster: karmada\n";
    std::fs::write(folder.join("values.yaml"), values)?;
    let mut helm = tool("helm")?;
    helm.args(["dependency", "update", "--skip-refresh"]).arg(folder);
    // Helm's caches are below.
    run(helm.env("HOME", folder))?;
    Ok(())
}

fn of_parent(folder: &Path, values: &[&str]) -> Result<String, Failure> {
    let mut helm = tool("helm")?;
    helm.args(["template", "platform", "--namespace", "karmada-system"])
        .arg(folder);
    run(helm.args(values.iter().flat_map(|value| ["--set-json", value])))
}

#[test]
fn a_parent_chart_renders_what_a_release_of_its_own_does() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    parent(folder.path())?;
    let contexts = r#"podSecurityContext={"runAsNonRoot":true}"#;
    let alone = objects(&rendered(&[contexts])?)?;
    let within = objects(&of_parent(folder.path(), &[])?)?;
    assert_eq!(within, alone);
    let context = &within[r#""Deployment" "divvy""#]["spec"]["template"]["spec"]["securityContext"];
    assert_eq!(context, &json!({"runAsNonRoot": true}));

    let named = of_parent(
        folder.path(),
        &[r#"divvy.nameOverride="scheduler""#, r#"divvy.mode="instead""#],
    )?;
    let expected = rendered(&[contexts, r#"nameOverride="scheduler""#, r#"mode="instead""#])?;
    let named = objects(&named)?;
    assert_eq!(named, objects(&expected)?);
    assert!(
        named.keys().all(|name| name.contains("\"scheduler")),
        "{:?}",
        named.keys()
    );

    let both = objects(&of_parent(folder.path(), &["rights.enabled=true"])?)?;
    let rights = objects(&rendered(&[r#"cluster="karmada""#])?)?;
    assert!(rights.len() >= 10 && rights.keys().all(|name| !alone.contains_key(name)));
    assert_eq!(both, alone.into_iter().chain(rights).collect());
    Ok(())
}

#[test]
fn a_parent_chart_switches_it_off() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    parent(folder.path())?;
    let nothing = objects(&of_parent(folder.path(), &["divvy.enabled=false"])?)?;
    assert!(nothing.is_empty(), "{:?}", nothing.keys());
    // As a parent without a condition does, or a release of its own.
    for values in [
        &["enabled=false"][..],
        &["enabled=false", r#"cluster="karmada""#, "monitoring.enabled=true"],
    ] {
        let nothing = objects(&rendered(values)?)?;
        assert!(nothing.is_empty(), "{:?}", nothing.keys());
    }
    Ok(())
}
