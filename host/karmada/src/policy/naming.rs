//! The names of bindings, as Karmada gives them (`pkg/util/names`, `GenerateBindingName`).

/// The name of the binding of a resource: `nginx` of kind `Deployment` has `nginx-deployment`.
///
/// A colon, as in the names of cluster roles, is not allowed in a binding's name and becomes a point.
pub fn binding_name(kind: &str, resource: &str) -> String {
    format!("{}-{kind}", resource.replace(':', ".")).to_lowercase()
}
