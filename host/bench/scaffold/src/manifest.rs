//! The manifest of an SDK crate outside the workspace: it inherits nothing, and has no section that needs files or
//! crates that are not packed.

use std::io;

use toml::{Table, Value};

/// Sections that only the workspace needs.
const LEFT_OUT: [&str; 3] = ["dev-dependencies", "bench", "lints"];

/// First line of every manifest.
const NOTICE: &str = "# Packed by `divvy plugin new`: changes are lost with the next version of the SDK.\n\n";

/// The manifest with everything filled in that it inherits from the workspace's.
///
/// # Errors
///
/// [`io::ErrorKind::InvalidData`] if one of them is not TOML, or the workspace lacks what the manifest inherits.
pub(crate) fn self_contained(manifest: &str, workspace: &str) -> io::Result<String> {
    rewritten(manifest, workspace).map_err(|reason| io::Error::new(io::ErrorKind::InvalidData, reason))
}

fn rewritten(manifest: &str, workspace: &str) -> Result<String, String> {
    let parsed = |text: &str| text.parse::<Table>().map_err(|error| error.to_string());
    let (mut manifest, workspace) = (parsed(manifest)?, parsed(workspace)?);
    for section in LEFT_OUT {
        manifest.remove(section);
    }
    let workspace = table(&workspace, "workspace")?;
    let shared = table(workspace, "package")?;
    let package = manifest.get_mut("package").and_then(Value::as_table_mut);
    let package = package.ok_or("a manifest has no `package`")?;
    package.remove("readme");
    for (key, value) in package.iter_mut() {
        if is_inherited(value) {
            *value = shared
                .get(key)
                .ok_or_else(|| format!("workspace.package has no `{key}`"))?
                .clone();
        }
    }
    let known = table(workspace, "dependencies")?;
    inherit(&mut manifest, known)?;
    let targets = manifest.get_mut("target").and_then(Value::as_table_mut);
    for (_, target) in targets.into_iter().flatten() {
        if let Some(target) = target.as_table_mut() {
            inherit(target, known)?;
        }
    }
    let text = toml::to_string_pretty(&manifest).map_err(|error| error.to_string())?;
    Ok(format!("{NOTICE}{text}"))
}

/// Fills in the dependencies of a manifest, or of one of its targets, that are inherited from the workspace.
fn inherit(of: &mut Table, known: &Table) -> Result<(), String> {
    let dependencies = of.get_mut("dependencies").and_then(Value::as_table_mut);
    for (dependency, value) in dependencies.into_iter().flatten() {
        if is_inherited(value) {
            let found = known.get(dependency);
            let found = found.ok_or_else(|| format!("workspace.dependencies has no `{dependency}`"))?;
            *value = merged(dependency, found, value);
        }
    }
    Ok(())
}

fn table<'table>(of: &'table Table, key: &str) -> Result<&'table Table, String> {
    of.get(key)
        .and_then(Value::as_table)
        .ok_or_else(|| format!("the workspace has no table `{key}`"))
}

fn is_inherited(value: &Value) -> bool {
    value.get("workspace").and_then(Value::as_bool) == Some(true)
}

/// A dependency as the workspace states it, with the crate's additions. All packages are in one folder.
fn merged(name: &str, shared: &Value, own: &Value) -> Value {
    let mut all = match shared {
        Value::Table(shared) => shared.clone(),
        version => Table::from_iter([("version".to_owned(), version.clone())]),
    };
    if all.contains_key("path") {
        all.insert("path".to_owned(), Value::String(format!("../{name}")));
    }
    for (key, value) in own.as_table().into_iter().flatten() {
        match (key.as_str(), all.get_mut(key), value) {
            ("workspace", _, _) => {}
            ("features", Some(Value::Array(all)), Value::Array(more)) => all.extend(more.iter().cloned()),
            _ => {
                all.insert(key.clone(), value.clone());
            }
        }
    }
    Value::Table(all)
}
