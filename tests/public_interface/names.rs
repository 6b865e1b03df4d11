//! The item behind a name in a module.

use syn::{Item, UseTree};

use super::sources::Sources;

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Module(String),
    /// An item, by its module and its name there.
    Item(String, String),
    /// Something of a crate whose sources are not read.
    Elsewhere,
}

/// One name that a `use` brings in: the path, and the name; `*` for all names of a module.
pub(super) struct Import {
    pub(super) path: Vec<String>,
    pub(super) name: String,
}

/// The names that a `use` brings in.
pub(super) fn imports(tree: &UseTree) -> Vec<Import> {
    fn collect(tree: &UseTree, path: &mut Vec<String>, found: &mut Vec<Import>) {
        match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                collect(&inner.tree, path, found);
                path.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| collect(tree, path, found)),
            UseTree::Glob(_) => found.push(Import {
                path: path.clone(),
                name: "*".to_owned(),
            }),
            UseTree::Name(name) => {
                let mut path = path.clone();
                let mut name = name.ident.to_string();
                if name == "self" {
                    name = path.last().cloned().unwrap_or_default();
                } else {
                    path.push(name.clone());
                }
                found.push(Import { path, name });
            }
            UseTree::Rename(renamed) => {
                let mut path = path.clone();
                path.push(renamed.ident.to_string());
                found.push(Import {
                    path,
                    name: renamed.rename.to_string(),
                });
            }
        }
    }
    let mut found = Vec::new();
    collect(tree, &mut Vec::new(), &mut found);
    found
}

/// The name that an item defines.
pub(super) fn name_of(item: &Item) -> Option<String> {
    let name = match item {
        Item::Struct(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Union(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Const(item) => &item.ident,
        Item::Static(item) => &item.ident,
        // A derive has the name of its attribute.
        Item::Fn(item) => return Some(derive_name(item).unwrap_or_else(|| item.sig.ident.to_string())),
        _ => return None,
    };
    Some(name.to_string())
}

fn derive_name(item: &syn::ItemFn) -> Option<String> {
    let attribute = item
        .attrs
        .iter()
        .find(|attribute| attribute.path().is_ident("proc_macro_derive"))?;
    let syn::Meta::List(list) = &attribute.meta else {
        return None;
    };
    list.tokens.clone().into_iter().next().map(|name| name.to_string())
}

/// True if a macro that the module calls writes an item of this name.
pub(super) fn mentions(item: &Item, name: &str) -> bool {
    fn contains(tokens: proc_macro2::TokenStream, name: &str) -> bool {
        tokens.into_iter().any(|token| match token {
            proc_macro2::TokenTree::Group(group) => contains(group.stream(), name),
            proc_macro2::TokenTree::Ident(ident) => ident == name,
            _ => false,
        })
    }
    matches!(item, Item::Macro(call) if call.ident.is_none() && contains(call.mac.tokens.clone(), name))
}

impl Sources {
    /// What a path means in a module.
    pub(super) fn resolve(&self, module: &str, path: &[String]) -> Target {
        self.resolve_within(module, path, 0)
    }

    fn resolve_within(&self, module: &str, path: &[String], depth: usize) -> Target {
        // Modules that import from one another.
        if depth > 16 {
            return Target::Elsewhere;
        }
        let mut at = Target::Module(module.to_owned());
        for (index, segment) in path.iter().enumerate() {
            let Target::Module(here) = &at else {
                return Target::Elsewhere;
            };
            let crate_name = here.split("::").next().unwrap_or_default();
            at = match segment.as_str() {
                "crate" => Target::Module(crate_name.to_owned()),
                "self" => continue,
                "super" => match here.rsplit_once("::") {
                    Some((above, _)) => Target::Module(above.to_owned()),
                    None => return Target::Elsewhere,
                },
                name => match self.member(here, name, depth) {
                    Target::Elsewhere if index == 0 && self.modules.contains_key(name) => {
                        Target::Module(name.to_owned())
                    }
                    found => found,
                },
            };
        }
        at
    }

    /// What a name means in a module: something that it defines, or that it brings in.
    fn member(&self, module: &str, name: &str, depth: usize) -> Target {
        let inner = format!("{module}::{name}");
        if self.modules.contains_key(&inner) {
            return Target::Module(inner);
        }
        let items = self.modules.get(module).map(Vec::as_slice).unwrap_or_default();
        if items.iter().any(|item| name_of(item).as_deref() == Some(name)) {
            return Target::Item(module.to_owned(), name.to_owned());
        }
        let uses = || {
            items
                .iter()
                .filter_map(|item| if let Item::Use(item) = item { Some(item) } else { None })
        };
        let all = || uses().flat_map(|item| imports(&item.tree));
        if let Some(import) = all().find(|import| import.name == name) {
            let found = self.resolve_within(module, &import.path, depth + 1);
            if found != Target::Elsewhere {
                return found;
            }
        }
        for import in all().filter(|import| import.name == "*") {
            if let Target::Module(from) = self.resolve_within(module, &import.path, depth + 1)
                && from != module
                && depth < 16
                && let found @ (Target::Item(..) | Target::Module(_)) = self.member(&from, name, depth + 1)
            {
                return found;
            }
        }
        // What a macro writes.
        if items.iter().any(|item| mentions(item, name)) {
            return Target::Item(module.to_owned(), name.to_owned());
        }
        Target::Elsewhere
    }
}
