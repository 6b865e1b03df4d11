//! Clusters and bindings that a change affects.

use std::fmt;
use std::str::FromStr;

use divvy_karmada::api::Cluster;
use divvy_karmada::detector::Binding;

use crate::glob::matches;

/// Clusters: by name or glob (`eu-*`), or by `region=`, `zone=`, `provider=` or `label:KEY=VALUE`, whose values may be
/// globs too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum ClusterChoice {
    /// Clusters whose name matches.
    Name(String),
    /// Clusters whose region matches.
    Region(String),
    /// Clusters with a zone that matches.
    Zone(String),
    /// Clusters whose provider matches.
    Provider(String),
    /// Clusters with this label, whose value matches.
    Label(String, String),
}

/// A text that chooses no clusters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` does not choose clusters: expected a name, a glob, `region=`, `zone=`, `provider=` or `label:KEY=VALUE`"
)]
pub struct InvalidClusterChoice {
    /// The text, as it was given.
    pub text: String,
}

impl FromStr for ClusterChoice {
    type Err = InvalidClusterChoice;

    fn from_str(text: &str) -> Result<Self, InvalidClusterChoice> {
        let invalid = || InvalidClusterChoice { text: text.to_owned() };
        let choice = match text.split_once('=') {
            None => Self::Name(text.to_owned()),
            Some((_, "")) => return Err(invalid()),
            Some(("region", value)) => Self::Region(value.to_owned()),
            Some(("zone", value)) => Self::Zone(value.to_owned()),
            Some(("provider", value)) => Self::Provider(value.to_owned()),
            Some((key, value)) => {
                let key = key.strip_prefix("label:").filter(|key| !key.is_empty());
                Self::Label(key.ok_or_else(invalid)?.to_owned(), value.to_owned())
            }
        };
        if matches!(&choice, Self::Name(name) if name.is_empty() || name.starts_with("label:")) {
            return Err(invalid());
        }
        Ok(choice)
    }
}

impl fmt::Display for ClusterChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => formatter.write_str(name),
            Self::Region(value) => write!(formatter, "region={value}"),
            Self::Zone(value) => write!(formatter, "zone={value}"),
            Self::Provider(value) => write!(formatter, "provider={value}"),
            Self::Label(key, value) => write!(formatter, "label:{key}={value}"),
        }
    }
}

impl ClusterChoice {
    /// True if the choice includes a cluster. No pattern matches an absent region, zone or provider.
    pub fn includes(&self, cluster: &Cluster) -> bool {
        let fits = |pattern: &String, value: &String| !value.is_empty() && matches(pattern, value);
        match self {
            Self::Name(name) => matches(name, &cluster.metadata.name),
            Self::Region(region) => fits(region, &cluster.spec.region),
            Self::Zone(zone) => zones(cluster).any(|known| matches(zone, known)),
            Self::Provider(provider) => fits(provider, &cluster.spec.provider),
            Self::Label(key, value) => cluster
                .metadata
                .labels
                .get(key)
                .is_some_and(|known| matches(value, known)),
        }
    }
}

/// Zones of a cluster, including the one in the deprecated field, each once.
pub fn zones(cluster: &Cluster) -> impl Iterator<Item = &str> {
    let spec = &cluster.spec;
    let old = (!spec.zone.is_empty() && !spec.zones.contains(&spec.zone)).then_some(spec.zone.as_str());
    spec.zones.iter().map(String::as_str).chain(old)
}

/// Bindings: by name (`web-deployment`), by namespace and name (`shop/web-deployment`), or by the resource
/// (`deployment/web`, `shop/deployment/web`). Every part may be a glob.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BindingPattern(String);

/// A text that chooses no bindings.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` does not choose bindings: expected a binding, `NAMESPACE/BINDING`, `KIND/NAME` or `NAMESPACE/KIND/NAME`"
)]
pub struct InvalidBindingPattern {
    /// The text, as it was given.
    pub text: String,
}

impl FromStr for BindingPattern {
    type Err = InvalidBindingPattern;

    fn from_str(text: &str) -> Result<Self, InvalidBindingPattern> {
        let parts = text.split('/').count();
        if parts > 3 || text.split('/').any(str::is_empty) {
            return Err(InvalidBindingPattern { text: text.to_owned() });
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for BindingPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl BindingPattern {
    /// The pattern that includes every binding.
    pub fn all() -> Self {
        Self("*".to_owned())
    }

    /// True if the pattern includes a binding. The case of a kind does not matter.
    pub fn includes(&self, binding: &Binding) -> bool {
        let metadata = &binding.object.metadata;
        let resource = &binding.object.spec.resource;
        let of_kind = |pattern: &str| matches(&pattern.to_lowercase(), &resource.kind.to_lowercase());
        let mut parts = self.0.split('/');
        match (parts.next(), parts.next(), parts.next()) {
            (Some(name), None, _) => matches(name, &metadata.name),
            (Some(first), Some(name), None) => {
                matches(first, &metadata.namespace) && matches(name, &metadata.name)
                    || of_kind(first) && matches(name, &resource.name)
            }
            (Some(namespace), Some(kind), Some(name)) => {
                matches(namespace, &metadata.namespace) && of_kind(kind) && matches(name, &resource.name)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster() -> Cluster {
        serde_json::from_value(serde_json::json!({
            "metadata": {"name": "eu-1", "labels": {"tier": "gold"}},
            "spec": {"region": "europe", "provider": "aws", "zone": "c", "zones": ["a", "b"]},
        }))
        .unwrap()
    }

    #[test]
    fn a_cluster_is_chosen_by_each_of_its_properties() {
        let cases = [
            ("eu-1", true),
            ("eu-*", true),
            ("us-*", false),
            ("region=europe", true),
            ("region=eu*", true),
            ("region=asia", false),
            ("zone=a", true),
            ("zone=c", true),
            ("zone=d", false),
            ("provider=aws", true),
            ("provider=gcp", false),
            ("label:tier=gold", true),
            ("label:tier=g*", true),
            ("label:tier=iron", false),
            ("label:other=gold", false),
        ];
        for (text, expected) in cases {
            let choice: ClusterChoice = text.parse().unwrap();
            assert_eq!(choice.includes(&cluster()), expected, "{text}");
            assert_eq!(choice.to_string(), text);
        }
        // A cluster without a region matches no glob.
        assert!(
            !"region=*"
                .parse::<ClusterChoice>()
                .unwrap()
                .includes(&Cluster::default())
        );
    }

    #[test]
    fn a_malformed_choice_is_refused() {
        for text in [
            "",
            "region=",
            "regio=eu",
            "label:=x",
            "label:tier",
            "label:tier=",
            "=eu",
        ] {
            assert!(text.parse::<ClusterChoice>().is_err(), "{text}");
        }
        for text in ["", "/", "a/", "/a", "a//b", "a/b/c/d"] {
            assert!(text.parse::<BindingPattern>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_binding_is_chosen_by_its_name_or_its_resource() {
        let mut binding = Binding::default();
        binding.object.metadata.name = "web-deployment".to_owned();
        binding.object.metadata.namespace = "shop".to_owned();
        binding.object.spec.resource.kind = "Deployment".to_owned();
        binding.object.spec.resource.name = "web".to_owned();
        let cases = [
            ("web-deployment", true),
            ("web", false),
            ("web*", true),
            ("*", true),
            ("shop/web-deployment", true),
            ("shop/*", true),
            ("shop/web", false),
            ("deployment/web", true),
            ("Deployment/*", true),
            ("deployment/api", false),
            ("shop/deployment/web", true),
            ("other/deployment/web", false),
            ("*/statefulset/web", false),
        ];
        for (text, expected) in cases {
            let pattern: BindingPattern = text.parse().unwrap();
            assert_eq!(pattern.includes(&binding), expected, "{text}");
        }
    }
}
