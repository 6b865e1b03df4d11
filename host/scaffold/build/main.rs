//! Packs the sources of the SDK and the templates into one archive, which the crate contains.
//!
//! The archive has `sdk/CRATE/…`, one folder per crate as `cargo package` would pack it, and `templates/…` as in the tree. It is
//! the same for the same sources: paths are sorted, and no time or owner is stored.

mod manifest;

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;
use walkdir::WalkDir;

/// The crates of the SDK, by folder.
const CRATES: [&str; 6] = [
    "framework",
    "framework/abi",
    "framework/derive",
    "framework/documents",
    "framework/driver",
    "framework/view",
];

/// Contents of a package beside its manifest. Benches and integration tests need crates that a plugin does not build.
const PACKAGED: [&str; 3] = ["src", "include", "guide"];

/// A plugin outside the workspace. Its lock file names the versions that the tests use, for exactly the dependencies that a new
/// plugin has.
const EXAMPLE: &str = "examples/out-of-tree-plugin/Cargo.lock";

type Files = BTreeMap<String, Vec<u8>>;

fn main() -> Result<(), Box<dyn Error>> {
    let scaffold = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let root = scaffold.join("../..");
    let workspace: toml::Table = read(&root.join("Cargo.toml"))?.parse()?;
    let mut files = Files::new();
    for folder in CRATES {
        let folder = root.join(folder);
        let manifest: toml::Table = read(&folder.join("Cargo.toml"))?.parse()?;
        let packaged = manifest::packaged(manifest, &workspace)?;
        let target = format!("sdk/{}", packaged.name);
        files.insert(format!("{target}/Cargo.toml"), packaged.text.into_bytes());
        for part in PACKAGED {
            add(&mut files, &folder.join(part), &format!("{target}/{part}"))?;
        }
    }
    add(&mut files, &root.join("LICENSE"), "sdk/LICENSE")?;
    add(&mut files, &scaffold.join("templates"), "templates")?;
    let lock = read(&root.join(EXAMPLE))?.replace("cheapest-first", "plugin-name");
    files.insert("templates/rust/Cargo.lock".to_owned(), lock.into_bytes());
    println!("cargo::rerun-if-changed={}", scaffold.join("build").display());

    let packed = pack(&files)?;
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("files.tar.gz"), packed)?;
    Ok(())
}

/// Reads a text file, and has Cargo run this script again when it changes.
fn read(path: &Path) -> Result<String, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// Adds a file, or all files below a folder. One that does not exist is left out.
fn add(files: &mut Files, path: &Path, target: &str) -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", path.display());
    if !path.exists() {
        return Ok(());
    }
    for entry in WalkDir::new(path) {
        let entry = entry?;
        if entry.file_type().is_file() {
            let below = entry.path().strip_prefix(path)?;
            let below = below.to_str().ok_or("a path is not UTF-8")?;
            let name = if below.is_empty() {
                target.to_owned()
            } else {
                format!("{target}/{below}")
            };
            files.insert(name, fs::read(entry.path())?);
        }
    }
    Ok(())
}

fn pack(files: &Files) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::best()));
    for (path, content) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, path, content.as_slice())?;
    }
    let mut packed = archive.into_inner()?.finish()?;
    packed.flush()?;
    Ok(packed)
}
