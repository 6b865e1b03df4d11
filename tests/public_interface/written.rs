//! The interface as text: module by module, each type with its implementations.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::{Item, ItemImpl, ItemMacro, Type};

use super::names::{Target, imports, mentions, name_of};
use super::shape;
use super::sources::{Sources, is_for_tests, is_hidden};

/// The public interface of a crate.
pub(super) fn interface(sources: &Sources, root: &str) -> String {
    let mut writer = Writer {
        sources,
        public: BTreeMap::new(),
        written: BTreeSet::new(),
        out: String::new(),
    };
    writer.find_modules(root, root);
    let modules: Vec<(String, String)> = writer
        .public
        .iter()
        .map(|(real, seen)| (seen.clone(), real.clone()))
        .collect();
    let modules: BTreeMap<String, String> = modules.into_iter().collect();
    for (seen, real) in modules {
        writer.module(&seen, &real);
    }
    writer.out
}

struct Writer<'a> {
    sources: &'a Sources,
    /// The modules that authors see, by their own paths, with the paths that authors write.
    public: BTreeMap<String, String>,
    /// Items that are in the text, by module and name.
    written: BTreeSet<(String, String)>,
    out: String,
}

impl Writer<'_> {
    fn find_modules(&mut self, real: &str, seen: &str) {
        if self.public.contains_key(real) {
            return;
        }
        self.public.insert(real.to_owned(), seen.to_owned());
        for item in self.items(real) {
            match &item {
                Item::Mod(module) if shape::is_public(&module.vis) && !is_hidden(&module.attrs) => {
                    let name = &module.ident;
                    let inner = format!("{real}::{name}");
                    if self.sources.modules.contains_key(&inner) {
                        self.find_modules(&inner, &format!("{seen}::{name}"));
                    }
                }
                Item::Use(used) if shape::is_public(&used.vis) && !is_hidden(&used.attrs) => {
                    for import in imports(&used.tree) {
                        if let Target::Module(target) = self.sources.resolve(real, &import.path)
                            && import.name != "*"
                        {
                            self.find_modules(&target, &format!("{seen}::{}", import.name));
                        }
                    }
                }
                _ => {}
            }
        }
    }

    fn items(&self, module: &str) -> Vec<Item> {
        self.sources.modules.get(module).cloned().unwrap_or_default()
    }

    fn module(&mut self, seen: &str, real: &str) {
        let start = self.out.len();
        for item in self.items(real) {
            match &item {
                Item::Use(used) if shape::is_public(&used.vis) && !is_hidden(&used.attrs) => {
                    for import in imports(&used.tree) {
                        self.import(real, &import.path, &import.name);
                    }
                }
                Item::Macro(call) => self.macro_item(real, call),
                _ => {
                    if let Some(name) = name_of(&item) {
                        self.item(real, &name);
                    }
                }
            }
        }
        let written = self.out.split_off(start);
        self.out.push_str(&format!("// mod {seen}\n\n"));
        self.out.push_str(&written);
        if !real.contains("::") && real == seen {
            self.macros(real);
        }
    }

    /// A name that a module passes on. An item that authors see elsewhere is named, any other is written here.
    fn import(&mut self, module: &str, path: &[String], name: &str) {
        let is_seen_there = path.split_last().is_some_and(|(_, above)| {
            let above = self.sources.resolve(module, above);
            matches!(above, Target::Module(above) if above != module && self.public.contains_key(&above))
        });
        match self.sources.resolve(module, path) {
            Target::Item(real, original) if !is_seen_there && !self.public.contains_key(&real) => {
                if self.written.contains(&(real.clone(), original.clone())) {
                    self.out.push_str(&format!("pub use {};\n\n", as_written(path, name)));
                } else {
                    self.item(&real, &original);
                    if original != name {
                        self.out.push_str(&format!("// `{original}` is seen as `{name}`.\n\n"));
                    }
                }
            }
            _ => self.out.push_str(&format!("pub use {};\n\n", as_written(path, name))),
        }
    }

    fn item(&mut self, module: &str, name: &str) {
        let items = self.items(module);
        let Some(item) = items.iter().find(|item| name_of(item).as_deref() == Some(name)) else {
            let call = items.iter().find(|item| mentions(item, name));
            if let Some(Item::Macro(call)) = call {
                self.call(module, call);
            }
            return;
        };
        let Some(shaped) = shape::of(item) else { return };
        if !self.written.insert((module.to_owned(), name.to_owned())) {
            return;
        }
        self.write(shaped);
        if matches!(item, Item::Struct(_) | Item::Enum(_) | Item::Union(_)) {
            for implementation in self.implementations(module, name) {
                self.write(Item::Impl(implementation));
            }
        }
    }

    /// What authors see of the implementations of a type, wherever its crate has them: its own functions first.
    fn implementations(&self, module: &str, name: &str) -> Vec<ItemImpl> {
        let crate_name = module.split("::").next().unwrap_or_default();
        let target = Target::Item(module.to_owned(), name.to_owned());
        let mut found = Vec::new();
        for (place, items) in &self.sources.modules {
            if place.split("::").next() != Some(crate_name) {
                continue;
            }
            for item in items {
                if let Item::Impl(item) = item
                    && let Some(path) = path_of(&item.self_ty)
                    && self.sources.resolve(place, &path) == target
                    && self.is_of_a_public_trait(place, item)
                {
                    found.extend(shape::of_implementation(item));
                }
            }
        }
        found.sort_by_key(|item| item.trait_.is_some());
        found
    }

    fn is_of_a_public_trait(&self, place: &str, item: &ItemImpl) -> bool {
        let Some((path, _)) = &item.trait_ else {
            return true;
        };
        let Target::Item(module, name) = self.sources.resolve(place, &segments(path)) else {
            return true;
        };
        let items = self.items(&module);
        let definition = items
            .iter()
            .find(|item| name_of(item).as_deref() == Some(name.as_str()));
        definition.is_none_or(|definition| shape::of(definition).is_some())
    }

    /// A call of a macro that writes public items.
    fn macro_item(&mut self, module: &str, item: &ItemMacro) {
        let is_seen = !is_hidden(&item.attrs) && !is_for_tests(&item.attrs) && item.ident.is_none();
        // An assertion or an implementation has no name that authors see.
        if is_seen && item.mac.tokens.to_string().contains("pub ") {
            self.call(module, item);
        }
    }

    fn call(&mut self, module: &str, item: &ItemMacro) {
        let mut call = item.clone();
        call.attrs.clear();
        call.mac.tokens = without_documentation(call.mac.tokens);
        if self.written.insert((module.to_owned(), call.mac.tokens.to_string())) {
            self.write(Item::Macro(call));
        }
    }

    /// The macros for authors, which are in the root of their crate wherever they are written: what their rules match.
    fn macros(&mut self, root: &str) {
        for (module, items) in &self.sources.modules {
            if module.split("::").next() != Some(root) {
                continue;
            }
            for item in items {
                let Item::Macro(item) = item else { continue };
                let Some(name) = &item.ident else { continue };
                let is_exported = item
                    .attrs
                    .iter()
                    .any(|attribute| attribute.path().is_ident("macro_export"));
                if is_exported && !is_hidden(&item.attrs) {
                    self.out.push_str(&format!("macro_rules! {name}\n"));
                    for rule in matched(item.mac.tokens.clone()) {
                        self.out.push_str(&format!("    {rule}\n"));
                    }
                    self.out.push('\n');
                }
            }
        }
    }

    fn write(&mut self, item: Item) {
        let file = syn::File {
            shebang: None,
            frontmatter: None,
            attrs: Vec::new(),
            items: vec![item],
        };
        let text = prettyplease::unparse(&file);
        self.out.push_str(&text.replace(shape::PRIVATE, "// private fields"));
        self.out.push('\n');
    }
}

fn as_written(path: &[String], name: &str) -> String {
    let path = path.join("::");
    match name {
        "*" => format!("{path}::*"),
        name if path.rsplit("::").next() == Some(name) => path,
        name => format!("{path} as {name}"),
    }
}

fn path_of(self_type: &Type) -> Option<Vec<String>> {
    match self_type {
        Type::Path(path) => Some(segments(&path.path)),
        Type::Reference(reference) => path_of(&reference.elem),
        _ => None,
    }
}

fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

/// The tokens without the documentation in them.
fn without_documentation(tokens: TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    for token in tokens {
        let TokenTree::Group(group) = token else {
            kept.push(token);
            continue;
        };
        let is_documentation = group.delimiter() == Delimiter::Bracket
            && matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(name)) if name == "doc");
        if is_documentation {
            // The `#` before it.
            kept.pop();
        } else {
            kept.push(TokenTree::Group(Group::new(
                group.delimiter(),
                without_documentation(group.stream()),
            )));
        }
    }
    kept.into_iter().collect()
}

/// What the rules of a macro match, in their order.
fn matched(tokens: TokenStream) -> Vec<String> {
    let tokens: Vec<_> = tokens.into_iter().collect();
    let mut rules = Vec::new();
    let mut is_start = true;
    for token in tokens {
        match token {
            TokenTree::Group(group) if is_start => {
                rules.push(group.to_string());
                is_start = false;
            }
            TokenTree::Punct(punct) if punct.as_char() == ';' => is_start = true,
            _ => {}
        }
    }
    rules
}
