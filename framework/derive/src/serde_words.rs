//! The words of `#[serde(…)]` that a derive must know. Serde's own derive, on the twin, reports attributes that are malformed.

use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, Expr, ExprLit, ExprPath, Lit, Meta, Token, parse_quote};

/// The words of an attribute; `None` if it is not serde's, or cannot be read.
fn words(attribute: &Attribute) -> Option<Punctuated<Meta, Token![,]>> {
    let list = attribute.meta.require_list().ok()?;
    let words = Punctuated::parse_terminated.parse2(list.tokens.clone()).ok()?;
    list.path.is_ident("serde").then_some(words)
}

/// True if one of these words is in one of the attributes.
pub(crate) fn has_any(attributes: &[Attribute], names: &[&str]) -> bool {
    let mut words = attributes.iter().filter_map(words).flatten();
    words.any(|word| names.iter().any(|name| word.path().is_ident(name)))
}

/// The attributes without `default = "function"`, and the function.
///
/// # Errors
///
/// The text is not the path of a function.
pub(crate) fn without_default(attributes: &[&Attribute]) -> Result<(Vec<Attribute>, Option<ExprPath>), Error> {
    let mut function = None;
    let mut others = Vec::new();
    for attribute in attributes {
        let Some(words) = words(attribute) else {
            others.push((*attribute).clone());
            continue;
        };
        let mut kept: Punctuated<Meta, Token![,]> = Punctuated::new();
        for word in words {
            match named_function(&word) {
                Some(text) => function = Some(text.parse()?),
                None => kept.push(word),
            }
        }
        if !kept.is_empty() {
            others.push(parse_quote! { #[serde(#kept)] });
        }
    }
    Ok((others, function))
}

/// The text of `default = "…"`.
fn named_function(word: &Meta) -> Option<&syn::LitStr> {
    let Meta::NameValue(given) = word else { return None };
    match &given.value {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text), ..
        }) if given.path.is_ident("default") => Some(text),
        _ => None,
    }
}
