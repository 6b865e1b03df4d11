//! The manifest of an SDK crate outside the workspace: it inherits nothing, and has no section that needs files or
//! crates that are not packed.

use std::error::Error;

use toml::{Table, Value};

/// A self-contained manifest.
pub(crate) struct Packaged {
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Sections that only the workspace needs.
const LEFT_OUT: [&str; 3] = ["dev-dependencies", "bench", "lints"];

/// First line of every manifest.
const NOTICE: &str = "# Packed by `divvy plugin new`: changes are lost with the next version of the SDK.\n\n";

/// The manifest without anything that is inherited from the workspace.
pub(crate) fn packaged(mut manifest: Table, workspace: &Table) -> Result<Packaged, Box<dyn Error>> {
    for section in LEFT_OUT {
        manifest.remove(section);
    }
    let workspace = table(workspace, "workspace")?;
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
    let name = package
        .get("name")
        .and_then(Value::as_str)
        .ok_or("a package has no name")?
        .to_owned();
    let known = table(workspace, "dependencies")?;
    let dependencies = manifest.get_mut("dependencies").and_then(Value::as_table_mut);
    for (dependency, value) in dependencies.into_iter().flatten() {
        if is_inherited(value) {
            let found = known.get(dependency);
            let found = found.ok_or_else(|| format!("workspace.dependencies has no `{dependency}`"))?;
            *value = merged(dependency, found, value);
        }
    }
    let text = format!("{NOTICE}{}", toml::to_string_pretty(&manifest)?);
    Ok(Packaged { name, text })
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
