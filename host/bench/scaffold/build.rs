//! Packs the sources of the SDK and the templates into one archive, which the crate contains.
//!
//! The archive has `sdk/CRATE/…`, one folder per crate with the files that `cargo package` would pack, and `templates/…` as in the
//! tree. Manifests are packed as they are, with that of the workspace from which they inherit: a parser of TOML in this script would
//! be compiled a second time for it. The archive has paths and texts by turns, each ended by a NUL, compressed. It is the same for the same
//! sources: paths are sorted, and no time or owner is stored.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;

/// The crates of the SDK: folder and name.
const CRATES: [(&str, &str); 8] = [
    ("framework", "divvy-framework"),
    ("framework/abi", "divvy-framework-abi"),
    ("framework/arithmetic", "divvy-framework-arithmetic"),
    ("framework/derive", "divvy-framework-derive"),
    ("framework/spanned", "divvy-spanned"),
    ("framework/calls", "divvy-framework-calls"),
    ("framework/memory", "divvy-framework-memory"),
    ("framework/view", "divvy-framework-view"),
];

/// Contents of a package. Benches and integration tests need crates that a plugin does not build.
const PACKAGED: [&str; 4] = ["Cargo.toml", "src", "include", "guide"];

/// A plugin outside the workspace. Its lock file names the versions that the tests use, for exactly the dependencies that a new
/// plugin has.
const EXAMPLE: &str = "examples/out-of-tree-plugin/Cargo.lock";

type Files = BTreeMap<String, Vec<u8>>;

fn main() -> Result<(), Box<dyn Error>> {
    let scaffold = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let root = scaffold.join("../../..");
    let mut files = Files::new();
    add(&mut files, &root.join("Cargo.toml"), "workspace/Cargo.toml")?;
    for (folder, name) in CRATES {
        for part in PACKAGED {
            add(&mut files, &root.join(folder).join(part), &format!("sdk/{name}/{part}"))?;
        }
    }
    add(&mut files, &root.join("LICENSE"), "sdk/LICENSE")?;
    add(&mut files, &scaffold.join("templates"), "templates")?;
    let lock = read(&root.join(EXAMPLE))?.replace("cheapest-first", "plugin-name");
    files.insert("templates/rust/Cargo.lock".to_owned(), lock.into_bytes());
    println!("cargo::rerun-if-changed={}", scaffold.join("build.rs").display());

    let packed = pack(&files)?;
    fs::write(PathBuf::from(env::var("OUT_DIR")?).join("files.gz"), packed)?;
    Ok(())
}

/// Reads a text file, and has Cargo run this script again when it changes.
fn read(path: &Path) -> Result<String, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()).into())
}

/// Adds a file, or all files below a folder. One that does not exist is left out.
fn add(files: &mut Files, path: &Path, target: &str) -> Result<(), Box<dyn Error>> {
    // For a path that does not exist, Cargo would run this script in every build, and compile again what depends on it.
    if !path.exists() {
        return Ok(());
    }
    println!("cargo::rerun-if-changed={}", path.display());
    if path.is_file() {
        files.insert(target.to_owned(), fs::read(path)?);
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_str().ok_or("a path is not UTF-8")?;
        add(files, &entry.path(), &format!("{target}/{name}"))?;
    }
    Ok(())
}

fn pack(files: &Files) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut archive = GzEncoder::new(Vec::new(), Compression::best());
    for (path, content) in files {
        if content.contains(&0) {
            return Err(format!("{path} is not a text").into());
        }
        for part in [path.as_bytes(), content] {
            archive.write_all(part)?;
            archive.write_all(&[0])?;
        }
    }
    Ok(archive.finish()?)
}
