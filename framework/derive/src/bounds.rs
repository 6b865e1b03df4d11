//! `#[schemars(range(…))]` and `#[schemars(length(…))]`: what the schema shows is enforced when a value is read.

use proc_macro2::{Ident, TokenStream as Tokens};
use quote::quote;
use syn::parse::ParseStream;
use syn::{Attribute, Error, Expr, ExprPath, Lit, Token, parenthesized};

/// The lower and the upper bound of `range` or `length`.
struct Limits {
    minimum: Tokens,
    maximum: Tokens,
}

/// The bounds of a field.
pub(crate) struct Checks {
    /// Expressions that check `value`.
    checks: Vec<Tokens>,
    /// The range, if there is one.
    range: Option<Limits>,
}

/// The bounds of a field; `None` if it has none.
pub(crate) fn checks(attributes: &[Attribute]) -> Result<Option<Checks>, Error> {
    let mut checks = Vec::new();
    let mut range = None;
    let mut has_own_schema = false;
    for attribute in attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("schemars"))
    {
        attribute.parse_nested_meta(|meta| {
            let function = match meta.path.get_ident().map(ToString::to_string).as_deref() {
                Some("range") => Some(quote! { check_range }),
                Some("length") => Some(quote! { check_length }),
                _ => None,
            };
            has_own_schema |= meta.path.is_ident("with") || meta.path.is_ident("schema_with");
            if let Some(function) = function {
                let content;
                parenthesized!(content in meta.input);
                let limits = limits(&content)?;
                let Limits { minimum, maximum } = &limits;
                checks.push(quote! { ::divvy_framework::__private::#function(value, #minimum, #maximum)?; });
                if meta.path.is_ident("range") {
                    range = Some(limits);
                }
            } else if meta.input.peek(Token![=]) {
                let _: Expr = meta.value()?.parse()?;
            } else if meta.input.peek(syn::token::Paren) {
                let content;
                parenthesized!(content in meta.input);
                let _: Tokens = content.parse()?;
            }
            Ok(())
        })?;
    }
    // The type that the schema shows is then not the one that is read.
    Ok((!checks.is_empty() && !has_own_schema).then_some(Checks { checks, range }))
}

/// An error if there are bounds where they cannot be enforced.
pub(crate) fn refuse(attributes: &[Attribute]) -> Result<(), Error> {
    match (checks(attributes)?, attributes.first()) {
        (Some(_), Some(first)) => Err(Error::new_spanned(
            first,
            "a range or a length is enforced on named fields alone: write `Variant { name: Type }`",
        )),
        _ => Ok(()),
    }
}

/// A type that makes the checks, for the field's type. `default` is the author's function for an absent key.
pub(crate) fn implementation(name: &Ident, kind: &Tokens, bounds: &Checks, default: Option<&ExprPath>) -> Tokens {
    let Checks { checks, range } = bounds;
    let expected = range.as_ref().map(|Limits { minimum, maximum }| {
        quote! {
            fn expected() -> ::core::option::Option<(::std::string::String, bool)> {
                ::core::option::Option::Some((
                    ::divvy_framework::__private::expected_range::<#kind>(#minimum, #maximum),
                    <#kind as ::divvy_framework::__private::Ranged>::IS_OPTIONAL,
                ))
            }
        }
    });
    let default = default.map(|function| {
        quote! {
            impl #name {
                fn of_absent_key() -> ::divvy_framework::__private::Bounded<#kind, Self> {
                    ::divvy_framework::__private::Bounded::unchecked(#function())
                }
            }
        }
    });
    quote! {
        struct #name;

        #default

        impl ::divvy_framework::__private::Bounds<#kind> for #name {
            #expected

            fn check(
                value: &#kind,
            ) -> ::core::result::Result<(), ::divvy_framework::__private::OutOfBounds> {
                #(#checks)*
                ::core::result::Result::Ok(())
            }
        }
    }
}

/// Reads `min = …, max = …`, or `equal = …`.
fn limits(content: ParseStream<'_>) -> syn::Result<Limits> {
    let none = quote! { ::core::option::Option::None };
    let mut limits = Limits {
        minimum: none.clone(),
        maximum: none,
    };
    while !content.is_empty() {
        let key: Ident = content.parse()?;
        let _: Token![=] = content.parse()?;
        let bound = number(content.parse()?);
        let bound = quote! { ::core::option::Option::Some(#bound) };
        match key.to_string().as_str() {
            "min" => limits.minimum = bound,
            "max" => limits.maximum = bound,
            "equal" => {
                limits.minimum = bound.clone();
                limits.maximum = bound;
            }
            // schemars reports it.
            _ => {}
        }
        if !content.is_empty() {
            let _: Token![,] = content.parse()?;
        }
    }
    Ok(limits)
}

/// A bound as a number of the SDK. A literal without a type gets the widest one, because the type of the field does not matter.
fn number(bound: Expr) -> Tokens {
    let (sign, literal) = match &bound {
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)) => (quote! { - }, &*unary.expr),
        other => (Tokens::new(), other),
    };
    let typed = match literal {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Int(number) if number.suffix().is_empty() => Some(Lit::new(proc_macro2::Literal::i128_suffixed(
                number.base10_parse().unwrap_or(i128::MAX),
            ))),
            Lit::Float(number) if number.suffix().is_empty() => number
                .base10_parse()
                .ok()
                .map(|number| Lit::new(proc_macro2::Literal::f64_suffixed(number))),
            _ => None,
        },
        _ => None,
    };
    match typed {
        Some(literal) => quote! { ::divvy_framework::__private::Number::from(#sign #literal) },
        None => quote! { ::divvy_framework::__private::Number::from(#bound) },
    }
}
