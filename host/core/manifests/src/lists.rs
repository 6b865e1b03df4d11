//! Lists of objects: `List`, and lists of one kind.

use divvy_karmada::api::TypeMeta;
use divvy_spanned::{Document, Node, NodeValue};

/// True for a list whose `items` are `null`, as programs in Go write an empty one.
pub(super) fn is_empty_list(document: &Document<'_>, type_meta: &TypeMeta) -> bool {
    let items = |tree: &Node| tree.get("items").map(|items| matches!(items.value, NodeValue::Null));
    type_meta.kind.ends_with("List") && items(document.tree(&mut Vec::new())) == Some(true)
}

/// The type of items in a list such as `ClusterList`, which need not state it; `None` for a plain `List`.
pub(super) fn implied_by(list: &TypeMeta) -> Option<TypeMeta> {
    let kind = list.kind.strip_suffix("List").filter(|kind| !kind.is_empty())?;
    Some(TypeMeta {
        api_version: list.api_version.clone(),
        kind: kind.to_owned(),
    })
}
