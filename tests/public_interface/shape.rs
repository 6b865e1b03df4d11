//! Items as authors see them: without bodies, private fields and documentation.

use syn::punctuated::Punctuated;
use syn::{Attribute, Block, Field, Fields, ImplItem, Item, Type, Visibility, parse_quote};

use super::sources::{is_for_tests, is_hidden};

/// Attributes that say something to authors.
const KEPT: [&str; 9] = [
    "cfg",
    "deprecated",
    "derive",
    "must_use",
    "non_exhaustive",
    "proc_macro",
    "proc_macro_attribute",
    "proc_macro_derive",
    "repr",
];

/// A field that stands for all private ones, until the text is written.
pub(super) const PRIVATE: &str = "private_fields_of_this_struct: (),";

pub(super) fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn keep_what_authors_see(attributes: &mut Vec<Attribute>) {
    attributes.retain(|attribute| KEPT.iter().any(|kept| attribute.path().is_ident(kept)));
}

fn no_body() -> Block {
    parse_quote!({})
}

fn visible(fields: &mut Fields) {
    match fields {
        Fields::Named(named) => {
            let all = named.named.len();
            let mut public: Punctuated<Field, _> = Punctuated::new();
            for mut field in named.named.iter().cloned() {
                if is_public(&field.vis) && !is_hidden(&field.attrs) {
                    keep_what_authors_see(&mut field.attrs);
                    public.push(field);
                }
            }
            if public.len() < all {
                let private: syn::FieldsNamed = parse_quote!({ private_fields_of_this_struct: () });
                public.extend(private.named);
            }
            named.named = public;
        }
        Fields::Unnamed(unnamed) => {
            for field in &mut unnamed.unnamed {
                keep_what_authors_see(&mut field.attrs);
                if !is_public(&field.vis) {
                    field.ty = Type::Infer(parse_quote!(_));
                }
            }
        }
        Fields::Unit => {}
    }
}

/// The public item as authors see it; `None` if they do not.
pub(super) fn of(item: &Item) -> Option<Item> {
    let mut item = item.clone();
    let (visibility, attributes) = match &mut item {
        Item::Struct(item) => (&item.vis, &mut item.attrs),
        Item::Enum(item) => (&item.vis, &mut item.attrs),
        Item::Union(item) => (&item.vis, &mut item.attrs),
        Item::Trait(item) => (&item.vis, &mut item.attrs),
        Item::Type(item) => (&item.vis, &mut item.attrs),
        Item::Const(item) => (&item.vis, &mut item.attrs),
        Item::Static(item) => (&item.vis, &mut item.attrs),
        Item::Fn(item) => (&item.vis, &mut item.attrs),
        _ => return None,
    };
    if !is_public(visibility) || is_hidden(attributes) || is_for_tests(attributes) {
        return None;
    }
    keep_what_authors_see(attributes);
    match &mut item {
        Item::Struct(item) => visible(&mut item.fields),
        Item::Enum(item) => {
            for variant in &mut item.variants {
                keep_what_authors_see(&mut variant.attrs);
                for field in &mut variant.fields {
                    keep_what_authors_see(&mut field.attrs);
                }
            }
        }
        Item::Trait(item) => visible_of_trait(item),
        Item::Fn(item) => *item.block = no_body(),
        _ => {}
    }
    Some(item)
}

/// A method with a default has an empty body here.
fn visible_of_trait(item: &mut syn::ItemTrait) {
    for inner in &mut item.items {
        match inner {
            syn::TraitItem::Fn(method) => {
                keep_what_authors_see(&mut method.attrs);
                if method.default.is_some() {
                    method.default = Some(no_body());
                }
            }
            syn::TraitItem::Const(constant) => keep_what_authors_see(&mut constant.attrs),
            syn::TraitItem::Type(associated) => keep_what_authors_see(&mut associated.attrs),
            _ => {}
        }
    }
}

/// What authors see of an implementation: public functions and constants of a type, and the associated types of a trait.
pub(super) fn of_implementation(item: &syn::ItemImpl) -> Option<syn::ItemImpl> {
    let mut item = item.clone();
    if is_hidden(&item.attrs) || is_for_tests(&item.attrs) {
        return None;
    }
    keep_what_authors_see(&mut item.attrs);
    let is_of_trait = item.trait_.is_some();
    item.items.retain(|inner| match inner {
        ImplItem::Type(_) => is_of_trait,
        ImplItem::Fn(inner) => {
            !is_of_trait && is_public(&inner.vis) && !is_hidden(&inner.attrs) && !is_for_tests(&inner.attrs)
        }
        ImplItem::Const(inner) => !is_of_trait && is_public(&inner.vis) && !is_hidden(&inner.attrs),
        _ => false,
    });
    for inner in &mut item.items {
        match inner {
            ImplItem::Fn(inner) => {
                keep_what_authors_see(&mut inner.attrs);
                inner.block = no_body();
            }
            ImplItem::Const(inner) => keep_what_authors_see(&mut inner.attrs),
            ImplItem::Type(inner) => keep_what_authors_see(&mut inner.attrs),
            _ => {}
        }
    }
    (is_of_trait || !item.items.is_empty()).then_some(item)
}
