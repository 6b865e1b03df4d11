//! The SDK's public interface, compared with `framework/public-interface.txt`.
//!
//! A change of the interface changes that file, so that reviewers see it. `SNAPSHOTS=overwrite cargo test -p divvy-tests --test
//! divvy -- public_interface` writes it anew. It is made from the sources with `syn`: the documentation as JSON, from which the
//! usual tools make such a list, needs a nightly compiler. So it contains the items as written, but nothing that the compiler
//! infers, such as `Send`, and no expansions of the SDK's macros, whose calls are listed instead.

mod names;
mod shape;
mod sources;
mod written;

use std::fs;

use crate::artifacts::repository;
use sources::Sources;

/// The crates of which authors see something, with their folders in `framework/`.
const CRATES: [(&str, &str); 5] = [
    ("divvy_framework", "src"),
    ("divvy_framework_arithmetic", "arithmetic/src"),
    ("divvy_framework_derive", "derive/src"),
    ("divvy_framework_view", "view/src"),
    ("divvy_spanned", "spanned/src"),
];

/// The first lines of the file.
const TITLE: &str = "\
// What authors of plugins see of the SDK, written from its sources by tests/public_interface: module by module, without bodies,
// private fields and documentation. An item is where authors find it first; a method of a trait with a body has a default.

";

#[test]
fn what_authors_see_is_what_the_file_says() {
    let mut sources = Sources::default();
    for (name, folder) in CRATES {
        sources.read_crate(name, &repository().join("framework").join(folder));
    }
    let expected = TITLE.to_owned() + &written::interface(&sources, "divvy_framework");
    let path = repository().join("framework/public-interface.txt");
    if std::env::var_os("SNAPSHOTS").is_some_and(|action| action == "overwrite") {
        fs::write(&path, expected).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        return;
    }
    let actual = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let difference = similar::TextDiff::from_lines(&actual, &expected);
    assert!(
        actual == expected,
        "authors see something else than framework/public-interface.txt says; if the change is right, run\n\
         SNAPSHOTS=overwrite cargo test -p divvy-tests --test divvy -- public_interface\n\n{}",
        difference
            .unified_diff()
            .context_radius(2)
            .header("the file", "the sources")
    );
}

/// The interface of a crate with one file.
fn interface_of(source: &str) -> String {
    let mut sources = Sources::default();
    sources.add("sdk", syn::parse_file(source).expect("the source is Rust").items);
    written::interface(&sources, "sdk")
}

#[test]
fn a_change_that_authors_see_changes_the_text_and_no_other_does() {
    let original = "
        pub use rule::Share;
        mod rule {
            /// A share.
            #[derive(Debug)]
            pub struct Share { pub replicas: i64, tier: u32 }
            impl Share {
                pub fn of(replicas: i64) -> Self { Self { replicas, tier: 0 } }
                fn tier(&self) -> u32 { self.tier }
            }
            impl Default for Share { fn default() -> Self { Self::of(0) } }
            pub(crate) trait Hidden {}
            impl Hidden for Share {}
        }
        #[doc(hidden)]
        pub mod internal { pub fn unseen() {} }
        #[cfg(test)]
        mod tests {}
    ";
    let text = interface_of(original);
    for seen in [
        ("replicas: i64, tier", "replicas: u64, tier"),
        ("pub fn of(replicas: i64)", "pub fn of(replicas: i32)"),
        ("#[derive(Debug)]", "#[derive(Debug, Clone)]"),
        ("pub fn of", "fn of"),
        ("fn tier(&self)", "pub fn tier(&self)"),
        ("impl Default for Share { fn default() -> Self { Self::of(0) } }", ""),
        ("pub use rule::Share;", ""),
        ("#[doc(hidden)]", ""),
    ] {
        assert!(original.contains(seen.0), "{seen:?}");
        assert_ne!(interface_of(&original.replace(seen.0, seen.1)), text, "{seen:?}");
    }
    for unseen in [
        ("/// A share.", "/// Part of the replicas."),
        ("tier: u32 }", "tier: u64 }"),
        ("Self { replicas, tier: 0 }", "Self { replicas, tier: 1 }"),
        ("fn tier(&self) -> u32", "fn own_tier(&self) -> u64"),
        ("impl Hidden for Share {}", ""),
        ("pub fn unseen() {}", ""),
    ] {
        assert!(original.contains(unseen.0), "{unseen:?}");
        assert_eq!(interface_of(&original.replace(unseen.0, unseen.1)), text, "{unseen:?}");
    }
}
