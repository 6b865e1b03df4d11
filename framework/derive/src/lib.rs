//! The derive macros of the Divvy SDK: `Configuration` and `Preferences`.
//!
//! Both make a type deserialisable with serde, rejecting unknown keys, and give it a JSON Schema, without the author
//! depending on either crate. A derive cannot add further derives to its own type, so it generates a private twin of
//! the type that carries serde's and schemars' derives, and converts the twin field by field.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Ident, Type, parse_macro_input};

mod bounds;
mod crate_type;
mod serde_words;

/// Makes a type a plugin's configuration: a table of the profile, with `kebab-case` keys as in the rest of the profile.
///
/// Serde's attributes work: for example, `#[serde(default)]` on the type gives every absent key its value in `Default`.
/// `#[schemars(range(min = 1, max = 9))]` on a number and `#[schemars(length(min = 1))]` on a text or a list are shown in the schema and
/// enforced, also on an `Option`.
#[proc_macro_derive(Configuration, attributes(serde, schemars))]
pub fn derive_configuration(input: TokenStream) -> TokenStream {
    expand(parse_macro_input!(input as DeriveInput), "kebab-case")
        .unwrap_or_else(|error| error.into_compile_error())
        .into()
}

/// Makes a type a strategy's preferences: JSON that a policy carries, with `camelCase` keys.
///
/// Serde's attributes work: for example, `#[serde(default)]` on the type gives every absent key its value in `Default`.
/// `#[schemars(range(min = 1, max = 9))]` on a number and `#[schemars(length(min = 1))]` on a text or a list are shown in the schema and
/// enforced, also on an `Option`.
#[proc_macro_derive(Preferences, attributes(serde, schemars))]
pub fn derive_preferences(input: TokenStream) -> TokenStream {
    expand(parse_macro_input!(input as DeriveInput), "camelCase")
        .unwrap_or_else(|error| error.into_compile_error())
        .into()
}

/// Refuses a crate that is built only as a Rust library. `export_plugin!` begins with this macro.
#[doc(hidden)]
#[proc_macro]
pub fn require_shared_library(_: TokenStream) -> TokenStream {
    match crate_type::is_rust_library_alone(std::env::args()) {
        true => Error::new(proc_macro2::Span::call_site(), crate_type::MESSAGE)
            .into_compile_error()
            .into(),
        false => TokenStream::new(),
    }
}

/// The type of a field of the twin. It goes through `Readable`, so that the error for a type without the derive
/// suggests the derive, rather than serde's advice. A field with a reader of its own can have any type.
fn twin_type(kind: &Type, attributes: &[Attribute]) -> Tokens {
    if has_own_reader(attributes) {
        return quote! { #kind };
    }
    quote_spanned! { kind.span() => <#kind as ::divvy_framework::configuration::Readable>::Itself }
}

/// True if something other than its type's own `Deserialize` reads the field.
fn has_own_reader(attributes: &[Attribute]) -> bool {
    serde_words::has_any(attributes, &["with", "deserialize_with", "skip", "skip_deserializing"])
}

/// Attributes that the twin inherits: serde's, schemars' and the doc comments, which become descriptions in the schema.
fn carried(attributes: &[Attribute]) -> Vec<&Attribute> {
    attributes
        .iter()
        .filter(|attribute| {
            ["serde", "schemars", "doc"]
                .iter()
                .any(|name| attribute.path().is_ident(name))
        })
        .collect()
}

/// Generates the twin, its derives and the conversions; `field_case` is the case of the keys.
fn expand(input: DeriveInput, field_case: &str) -> Result<Tokens, Error> {
    if !input.generics.params.is_empty() {
        return Err(Error::new_spanned(
            &input.generics,
            "a configuration cannot have type parameters",
        ));
    }
    let name = &input.ident;
    let twin = format_ident!("{name}Twin");
    let mut bounds = Vec::new();
    let (definition, conversion, default, case) = match &input.data {
        Data::Struct(data) => {
            let (definition, conversion) = twin_of_struct(name, &twin, &data.fields, &mut bounds)?;
            let default = serde_words::has_any(&input.attrs, &["default"])
                .then(|| default_of(name, &twin, &data.fields))
                .transpose()?;
            (definition, conversion, default, field_case)
        }
        Data::Enum(data) => {
            let (definition, conversion) = twin_of_enum(name, &twin, data, &mut bounds)?;
            (definition, conversion, None, "kebab-case")
        }
        Data::Union(_) => {
            return Err(Error::new_spanned(name, "a configuration cannot be a union"));
        }
    };
    let (derives_serialize, serialize) = match &input.data {
        Data::Enum(data) => serialize_of_choice(name, &twin, data),
        _ => (Tokens::new(), Tokens::new()),
    };
    // The twin lives in an anonymous constant, so its name cannot clash with the author's items. The schema is titled
    // with the original name, because users never see the twin.
    let attributes = carried(&input.attrs);
    let title = name.to_string();
    // What the author writes comes first, and twice the same attribute is an error.
    let case = (!serde_words::has_any(&input.attrs, &["rename_all"])).then(|| quote! { rename_all = #case, });
    let strict =
        (!serde_words::has_any(&input.attrs, &["deny_unknown_fields"])).then(|| quote! { deny_unknown_fields, });
    Ok(quote! {
        const _: () = {
            use ::divvy_framework::__private::{schemars, serde};

            #[derive(serde::Deserialize, schemars::JsonSchema)]
            #derives_serialize
            #[serde(#case #strict crate = "::divvy_framework::__private::serde")]
            #[schemars(crate = "::divvy_framework::__private::schemars", rename = #title)]
            #(#attributes)*
            #definition

            #(#bounds)*

            #default

            #serialize

            impl ::core::convert::From<#twin> for #name {
                fn from(twin: #twin) -> Self {
                    #conversion
                }
            }

            impl<'de> serde::Deserialize<'de> for #name {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> ::core::result::Result<Self, D::Error> {
                    <#twin as serde::Deserialize>::deserialize(deserializer).map(::core::convert::Into::into)
                }
            }

            impl ::divvy_framework::configuration::Readable for #name {
                type Itself = Self;
            }

            impl schemars::JsonSchema for #name {
                fn schema_name() -> ::std::borrow::Cow<'static, str> {
                    <#twin as schemars::JsonSchema>::schema_name()
                }

                fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                    <#twin as schemars::JsonSchema>::json_schema(generator)
                }
            }
        };
    })
}

/// A field of the twin.
struct TwinField {
    name: Ident,
    definition: Tokens,
    /// True if the twin has the value with its bounds around it.
    is_bounded: bool,
}

/// The fields of the twin. Tuple fields are an error: error messages could not name them. Types that enforce bounds are added to `bounds`.
fn named(fields: &Fields, of: &Ident, bounds: &mut Vec<Tokens>) -> Result<Vec<TwinField>, Error> {
    let fields = match fields {
        Fields::Named(fields) => &fields.named,
        Fields::Unit => return Ok(Vec::new()),
        Fields::Unnamed(_) => {
            return Err(Error::new_spanned(
                of,
                "a configuration needs named fields, so that messages can name them",
            ));
        }
    };
    let mut twins = Vec::new();
    for field in fields {
        let Some(name) = field.ident.clone() else { continue };
        let attributes = carried(&field.attrs);
        let kind = twin_type(&field.ty, &field.attrs);
        let checks = match has_own_reader(&field.attrs) {
            true => None,
            false => bounds::checks(&field.attrs)?,
        };
        let is_bounded = checks.is_some();
        let definition = match checks {
            None => quote! { #(#attributes)* #name: #kind },
            Some(checks) => {
                let own = format_ident!("{of}Bounds{}", bounds.len());
                let (attributes, default) = serde_words::without_default(&attributes)?;
                bounds.push(bounds::implementation(&own, &kind, &checks, default.as_ref()));
                // The author's function returns the value without its bounds.
                let function = format!("{own}::of_absent_key");
                let default = default.map(|_| quote! { #[serde(default = #function)] });
                let shown = kind.to_string();
                quote! {
                    #(#attributes)*
                    #default
                    #[schemars(with = #shown)]
                    #name: ::divvy_framework::__private::Bounded<#kind, #own>
                }
            }
        };
        twins.push(TwinField {
            name,
            definition,
            is_bounded,
        });
    }
    Ok(twins)
}

/// Definition of a struct's twin, and the expression that converts `twin` to the original.
fn twin_of_struct(
    name: &Ident,
    twin: &Ident,
    fields: &Fields,
    bounds: &mut Vec<Tokens>,
) -> Result<(Tokens, Tokens), Error> {
    let fields = named(fields, name, bounds)?;
    let definitions = fields.iter().map(|field| &field.definition);
    let assignments = fields
        .iter()
        .map(|TwinField { name, is_bounded, .. }| match is_bounded {
            true => quote! { #name: twin.#name.value },
            false => quote! { #name: twin.#name },
        });
    Ok((
        quote! { struct #twin { #(#definitions),* } },
        quote! { #name { #(#assignments),* } },
    ))
}

/// A `Default` for the twin that takes every field from the original's `Default`.
fn default_of(name: &Ident, twin: &Ident, fields: &Fields) -> Result<Tokens, Error> {
    let fields = named(fields, name, &mut Vec::new())?;
    let assignments = fields
        .iter()
        .map(|TwinField { name, is_bounded, .. }| match is_bounded {
            true => quote! { #name: ::divvy_framework::__private::Bounded::unchecked(whole.#name) },
            false => quote! { #name: whole.#name },
        });
    Ok(quote! {
        impl ::core::default::Default for #twin {
            fn default() -> Self {
                let whole = <#name as ::core::default::Default>::default();
                Self { #(#assignments),* }
            }
        }
    })
}

/// Makes an enum without fields serialisable, since a schema shows a key's default only if its type can be written. Returns
/// the derive for the twin and the implementation for the type; both empty for an enum with fields.
fn serialize_of_choice(name: &Ident, twin: &Ident, data: &syn::DataEnum) -> (Tokens, Tokens) {
    let is_choice = data
        .variants
        .iter()
        .all(|variant| matches!(variant.fields, Fields::Unit));
    if !is_choice || data.variants.is_empty() {
        return (Tokens::new(), Tokens::new());
    }
    let arms = data.variants.iter().map(|variant| {
        let case = &variant.ident;
        quote! { #name::#case => #twin::#case }
    });
    (
        quote! { #[derive(serde::Serialize)] },
        quote! {
            impl serde::Serialize for #name {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> ::core::result::Result<S::Ok, S::Error> {
                    let twin = match self { #(#arms),* };
                    serde::Serialize::serialize(&twin, serializer)
                }
            }
        },
    )
}

/// Definition of an enum's twin, and the expression that converts `twin` to the original.
fn twin_of_enum(
    name: &Ident,
    twin: &Ident,
    data: &syn::DataEnum,
    bounds: &mut Vec<Tokens>,
) -> Result<(Tokens, Tokens), Error> {
    let mut definitions = Vec::new();
    let mut arms = Vec::new();
    for variant in &data.variants {
        let attributes = carried(&variant.attrs);
        let case = &variant.ident;
        match &variant.fields {
            Fields::Unit => {
                definitions.push(quote! { #(#attributes)* #case });
                arms.push(quote! { #twin::#case => #name::#case });
            }
            Fields::Unnamed(fields) if fields.unnamed.len() == 1 => {
                let field = &fields.unnamed[0];
                for attributes in [&variant.attrs, &field.attrs] {
                    bounds::refuse(attributes)?;
                }
                let kind = twin_type(&field.ty, &[&variant.attrs[..], &field.attrs[..]].concat());
                definitions.push(quote! { #(#attributes)* #case(#kind) });
                arms.push(quote! { #twin::#case(content) => #name::#case(content) });
            }
            fields => {
                let fields = named(fields, case, bounds)?;
                let inner = fields.iter().map(|field| &field.definition);
                let names = fields.iter().map(|field| &field.name);
                let values = fields
                    .iter()
                    .map(|TwinField { name, is_bounded, .. }| match is_bounded {
                        true => quote! { #name: #name.value },
                        false => quote! { #name },
                    });
                definitions.push(quote! { #(#attributes)* #case { #(#inner),* } });
                arms.push(quote! { #twin::#case { #(#names),* } => #name::#case { #(#values),* } });
            }
        }
    }
    Ok((
        quote! { enum #twin { #(#definitions),* } },
        quote! { match twin { #(#arms),* } },
    ))
}
