//! Names of bindings, as Karmada generates them (`GenerateBindingName` in `pkg/util/names`).

/// The name of a resource's binding: `nginx-deployment` for the `Deployment` `nginx`.
///
/// A colon, as in the names of cluster roles, is not allowed in a binding's name and becomes a dot.
pub fn binding_name(kind: &str, resource: &str) -> String {
    format!("{}-{kind}", resource.replace(':', ".")).to_lowercase()
}
