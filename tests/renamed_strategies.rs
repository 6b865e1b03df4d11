//! Copies of bundled strategies under other names, built outside the workspace.
//!
//! The host does not know any strategy by name. So a copy of a bundled plugin that renames itself, its strategy and its
//! list must do everything that the original does. The copies are a workspace in the target directory, and only files that differ
//! are written, so that Cargo compiles them once.

use std::path::Path;
use std::sync::LazyLock;

use walkdir::WalkDir;

use crate::artifacts::{self, Artifacts, plugin_package, repository};
use crate::changed_sdk::{read, write, write_root};
use crate::scheduling::Host;

/// The names of a plugin, its strategy and its list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Names {
    pub(crate) plugin: &'static str,
    pub(crate) strategy: &'static str,
    pub(crate) list: &'static str,
}

/// A strategy with its names, and a host that serves it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Served {
    pub(crate) host: &'static Host,
    pub(crate) names: Names,
}

const SPECIFIED: Names = Names {
    plugin: "specified",
    strategy: "Specified",
    list: "staticSpecifyList",
};
const QUOTAS: Names = Names {
    plugin: "quotas",
    strategy: "Quotas",
    list: "quotaList",
};
const STATIC_WEIGHT: Names = Names {
    plugin: "static-weight",
    strategy: "StaticWeight",
    list: "staticWeightList",
};
const SHARES: Names = Names {
    plugin: "shares",
    strategy: "Shares",
    list: "shareList",
};

/// The bundled plugin `specified` and its copy.
pub(crate) fn specified() -> [Served; 2] {
    static HOST: LazyLock<Host> = LazyLock::new(|| host_of(QUOTAS));
    served(SPECIFIED, QUOTAS, &HOST)
}

/// The bundled plugin `static-weight` and its copy.
pub(crate) fn static_weight() -> [Served; 2] {
    static HOST: LazyLock<Host> = LazyLock::new(|| host_of(SHARES));
    served(STATIC_WEIGHT, SHARES, &HOST)
}

fn served(bundled: Names, copy: Names, host: &'static Host) -> [Served; 2] {
    let bundled = Served {
        host: Host::built_in(),
        names: bundled,
    };
    [bundled, Served { host, names: copy }]
}

/// A host that serves the copy of a plugin.
fn host_of(copy: Names) -> Host {
    static COPIES: LazyLock<Artifacts> = LazyLock::new(build_copies);
    Host::extending(&format!(
        "assign = ['{}']\n[profile.plugin.{}]\npath = '{}'\n",
        copy.plugin,
        copy.plugin,
        COPIES.library(&plugin_package(copy.plugin)).display()
    ))
}

/// Builds the copies.
fn build_copies() -> Artifacts {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("renamed-strategies");
    for (original, copy) in [(SPECIFIED, QUOTAS), (STATIC_WEIGHT, SHARES)] {
        write_copy(original, copy, &folder.join(copy.plugin));
    }
    let manifest = write_root(&folder, &[QUOTAS.plugin, SHARES.plugin], &[]);
    artifacts::build(&manifest, &["--offline", "--workspace"])
}

/// Writes the copy of a plugin into a folder.
fn write_copy(original: Names, copy: Names, folder: &Path) {
    let plugin = repository().join("plugins").join(original.plugin);
    for entry in WalkDir::new(&plugin) {
        let entry = entry.expect("the plugin can be read");
        if entry.file_type().is_file() && entry.file_name() != "Cargo.toml" {
            let relative = entry.path().strip_prefix(&plugin).expect("an entry is below its root");
            write(&folder.join(relative), &exchanged(&read(entry.path()), original, copy));
        }
    }
    let manifest = format!(
        "[package]\nname = \"{}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[lib]\ncrate-type = [\"cdylib\"]\n\n\
         [dependencies]\nthiserror = \"2\"\ndivvy-framework = {{ path = {:?} }}\n",
        plugin_package(copy.plugin),
        repository().join("framework")
    );
    write(&folder.join("Cargo.toml"), &manifest);
}

/// A text with the names of one plugin replaced by those of another.
pub(crate) fn exchanged(text: &str, original: Names, copy: Names) -> String {
    let quoted = |name: &str| format!("\"{name}\"");
    text.replace(original.list, copy.list)
        .replace(&quoted(original.plugin), &quoted(copy.plugin))
        .replace(&quoted(original.strategy), &quoted(copy.strategy))
}

impl Served {
    /// A manifest or message of the bundled strategy, with its names replaced by those of this strategy.
    pub(crate) fn named(&self, manifest: &str, bundled: &Served) -> String {
        let (from, to) = (bundled.names, self.names);
        manifest
            .replace(from.list, to.list)
            .replace(
                &format!("Preference: {}", from.strategy),
                &format!("Preference: {}", to.strategy),
            )
            .replace(&format!("plugin `{}`", from.plugin), &format!("plugin `{}`", to.plugin))
    }
}
