//! Names of bindings, as Karmada generates them (`GenerateBindingName` in `pkg/util/names`).

/// The name of a resource's binding: `nginx-deployment` for the `Deployment` `nginx`.
///
/// A colon, as in the names of cluster roles, is not allowed in a binding's name and becomes a dot.
pub fn binding_name(kind: &str, resource: &str) -> String {
    let mut name = [resource, "-", kind].concat();
    if name.contains(':') {
        // Only colons in the resource's name become dots.
        name = [&resource.replace(':', "."), "-", kind].concat();
    }
    // The names of nearly all objects are ASCII, and need no copy.
    if name.is_ascii() {
        name.make_ascii_lowercase();
        return name;
    }
    name.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_karmada() {
        let names = [
            ("Deployment", "nginx", "nginx-deployment"),
            ("ClusterRole", "system:Node:x", "system.node.x-clusterrole"),
            ("Straße", "GROSS:ΟΔΟΣ", "gross.οδος-straße"),
            ("a:b", "c:d", "c.d-a:b"),
            ("", "", "-"),
        ];
        for (kind, resource, name) in names {
            assert_eq!(binding_name(kind, resource), name);
            let plainly = format!("{}-{kind}", resource.replace(':', ".")).to_lowercase();
            assert_eq!(name, plainly);
        }
    }
}
