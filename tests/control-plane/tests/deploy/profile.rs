//! A profile arrives in its ConfigMap byte for byte, whatever TOML it is. It is compared as the API server reads the manifest.

use std::path::Path;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

use crate::chart::{packaging, run, tool};
use crate::manifests::Manifest;
use crate::{Failure, Fixture};

/// Profiles with what YAML, templates or editors may change.
fn profiles() -> Vec<(&'static str, String)> {
    let plain = "[[profile]]\nname = \"own\"\n";
    let comment = |text: &str| format!("# {text}\n{plain}");
    vec![
        ("plain", plain.to_owned()),
        ("an indented first line", format!("    {plain}")),
        ("a tab as indentation", format!("\t{plain}\t# end\n")),
        ("no line feed at the end", plain.trim_end().to_owned()),
        ("empty lines around, and spaces in one", format!("\n\n{plain}   \n\n\n")),
        ("lines of Windows", plain.replace('\n', "\r\n")),
        ("both kinds of lines", format!("# a\r\n{plain}# b\r\n")),
        ("spaces at the ends of lines", plain.replace('\n', "  \t\n")),
        (
            "texts of several lines",
            format!(
                "{plain}a = \"\"\"\n   deep\n---\n...\n  \\\n  {{{{ .Release.Name }}}}\n\"\"\"\nb = '''\n  c:\\d\n\n'''\n"
            ),
        ),
        (
            "templates and variables",
            comment("{{ fail \"x\" }} {{- end }} $(HOME) ${HOME} %s {{"),
        ),
        (
            "keys in quotes",
            format!("{plain}\"a: b #c\" = 1\n'- {{d}}' = \"\\u0007\\\\\"\n\"&e *f !g |\" = 2\n"),
        ),
        ("other scripts", comment("größer, 大, 🦀, e\u{301}, \u{200f}")),
        ("line ends of YAML 1.1", comment("a\u{85}b\u{2028}c\u{2029}d")),
        ("control characters", comment("\u{80}\u{9f}")),
        ("a byte order mark", format!("\u{feff}{plain}")),
        ("a byte order mark in a line", comment("\u{feff}")),
        ("a long line", comment(&"0123456789 \"'".repeat(20_000))),
        (
            "a long line of Windows",
            comment(&"0123456789 \"' ü ".repeat(20_000)).replace('\n', "\r\n"),
        ),
        ("a comment alone", "#".to_owned()),
    ]
}

#[tokio::test]
async fn a_profile_arrives_byte_for_byte() -> Result<(), Failure> {
    let fixture = Fixture::start().await?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("profile.toml");
    let mut changed = Vec::new();
    for (name, profile) in profiles() {
        std::fs::write(&file, &profile)?;
        let mut helm = tool("helm")?;
        helm.args(["template", "divvy", "--namespace", "karmada-system"]);
        helm.args(["--show-only", "templates/host/profile.yaml"]);
        helm.args(["--set", "image.repository=registry.example/divvy"]);
        helm.arg("--set-file").arg(format!("profile={}", file.display()));
        let rendered = match run(helm.arg(packaging().join("chart"))) {
            Ok(rendered) => rendered,
            Err(error) => {
                changed.push(format!("{name}: {error}"));
                continue;
            }
        };
        let manifest = rendered.trim_start_matches("---\n");
        let [manifest] = &Manifest::of_text(Path::new(name), manifest)?[..] else {
            return Err(format!("{name}: expected one object: {rendered}").into());
        };
        let stored = manifest.apply(&fixture.admin, "&dryRun=All").await?;
        let kept = match stored["binaryData"]["profile.toml"].as_str() {
            Some(encoded) => String::from_utf8(BASE64_STANDARD.decode(encoded)?)?,
            None => stored["data"]["profile.toml"].as_str().unwrap_or_default().to_owned(),
        };
        if kept != profile {
            changed.push(format!("{name}: {kept:.200?}"));
        }
    }
    assert!(changed.is_empty(), "{changed:#?}");
    Ok(())
}
