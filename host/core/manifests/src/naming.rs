//! Names that an API server would refuse.
//!
//! Scheduling does not depend on them: any text is scheduled alike. But a manifest with such a name cannot be applied, and a name
//! that looks like another one deceives its reader.

use divvy_karmada::api::ObjectMeta;

/// Maximum length of a name, in bytes.
const NAME_LENGTH_MAX: usize = 253;

/// Maximum length of a namespace, in bytes.
const NAMESPACE_LENGTH_MAX: usize = 63;

/// The part of an object's name that an API server would refuse, `namespace` or `name`; `None` if it accepts both.
///
/// Every kind is held to the rules for path segments, and all but roles to those of `IsDNS1123Subdomain`.
pub(super) fn refused(group: &str, metadata: &ObjectMeta) -> Option<&'static str> {
    let ObjectMeta { namespace, name, .. } = metadata;
    let of_namespace = || {
        let is_label = is_subdomain(namespace, NAMESPACE_LENGTH_MAX) && !namespace.contains('.');
        (!namespace.is_empty() && !is_label).then_some("namespace")
    };
    let of_name = || {
        let is_accepted = match group {
            "rbac.authorization.k8s.io" => is_path_segment(name),
            _ => is_subdomain(name, NAME_LENGTH_MAX),
        };
        (!name.is_empty() && !is_accepted).then_some("name")
    };
    of_namespace().or_else(of_name)
}

/// Lower-case letters, digits, hyphens and dots; letters and digits at both ends of each part.
fn is_subdomain(text: &str, length_max: usize) -> bool {
    let is_end = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    let is_inner = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    let is_part = |part: &str| {
        let bytes = part.as_bytes();
        is_end(bytes.first()) && is_end(bytes.last()) && bytes.iter().all(is_inner)
    };
    text.len() <= length_max && text.split('.').all(is_part)
}

/// Any text that can be one segment of a path, without characters that make it look like another text.
fn is_path_segment(text: &str) -> bool {
    let is_accepted = |byte: u8| byte.is_ascii_graphic() && byte != b'/' && byte != b'%';
    !matches!(text, "." | "..") && text.bytes().all(is_accepted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_accepted_as_api_servers_accept_them() {
        let cases = [
            ("", "shop", "web", None),
            ("apps", "shop", "web.v1-2", None),
            ("apps", "", "0web", None),
            ("apps", "shop", "Web", Some("name")),
            ("apps", "shop", "web_1", Some("name")),
            ("apps", "shop", "-web", Some("name")),
            ("apps", "shop", "web-.x", Some("name")),
            ("apps", "shop", "web..x", Some("name")),
            ("apps", "shop", "eu/1", Some("name")),
            ("apps", "shop", "w\u{435}b", Some("name")),
            ("apps", "shop", "web\u{202e}", Some("name")),
            ("apps", "shop", "\u{1b}[31mweb", Some("name")),
            ("apps", "Shop", "web", Some("namespace")),
            ("apps", "shop.x", "web", Some("namespace")),
            ("rbac.authorization.k8s.io", "", "system:Node", None),
            ("rbac.authorization.k8s.io", "", "a/b", Some("name")),
            ("rbac.authorization.k8s.io", "", "..", Some("name")),
            ("rbac.authorization.k8s.io", "", "r\u{f6}le", Some("name")),
        ];
        for (group, namespace, name, expected) in cases {
            let metadata = ObjectMeta {
                name: name.to_owned(),
                namespace: namespace.to_owned(),
                ..ObjectMeta::default()
            };
            assert_eq!(refused(group, &metadata), expected, "{group} {namespace} {name}");
        }
        let long = ObjectMeta {
            name: "a".repeat(254),
            ..ObjectMeta::default()
        };
        assert_eq!(refused("apps", &long), Some("name"));
    }
}
