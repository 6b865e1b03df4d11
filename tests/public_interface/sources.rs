//! The sources of crates, by module.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use syn::{Attribute, Item};

/// The items of each module, by its path. Modules for tests and those without documentation are left out.
#[derive(Default)]
pub(super) struct Sources {
    pub(super) modules: BTreeMap<String, Vec<Item>>,
}

impl Sources {
    /// Reads a crate from the folder that has its `lib.rs`.
    pub(super) fn read_crate(&mut self, name: &str, folder: &Path) {
        let items = parsed(&folder.join("lib.rs"));
        self.take(name, items, Some(folder));
    }

    /// Adds a crate without files.
    pub(super) fn add(&mut self, name: &str, items: Vec<Item>) {
        self.take(name, items, None);
    }

    fn take(&mut self, path: &str, items: Vec<Item>, folder: Option<&Path>) {
        for item in &items {
            let Item::Mod(module) = item else { continue };
            if is_for_tests(&module.attrs) {
                continue;
            }
            let name = module.ident.to_string();
            let inner = format!("{path}::{name}");
            let below = folder.map(|folder| folder.join(&name));
            match (&module.content, below) {
                (Some((_, items)), below) => self.take(&inner, items.clone(), below.as_deref()),
                (None, Some(below)) => {
                    let file = below.with_extension("rs");
                    let file = if file.is_file() { file } else { below.join("mod.rs") };
                    self.take(&inner, parsed(&file), Some(&below));
                }
                (None, None) => panic!("{inner} has no file"),
            }
        }
        self.modules.insert(path.to_owned(), items);
    }
}

fn parsed(file: &Path) -> Vec<Item> {
    let text = fs::read_to_string(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    parsed.items
}

/// True for what is compiled for tests only.
pub(super) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let condition = attribute.path().is_ident("cfg");
        condition
            && attribute
                .parse_args::<syn::Ident>()
                .is_ok_and(|condition| condition == "test")
    })
}

/// True for what the documentation leaves out.
pub(super) fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let is_documentation = attribute.path().is_ident("doc");
        is_documentation
            && attribute
                .parse_args::<syn::Ident>()
                .is_ok_and(|argument| argument == "hidden")
    })
}
