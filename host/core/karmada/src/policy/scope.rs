//! Cluster-scoped kinds.
//!
//! Offline there is no API server to ask, so Kubernetes' own kinds are listed here. Custom kinds are recognised only by
//! a CustomResourceDefinition in the same input (`divvy_manifests`). Everything else is assumed to be namespaced.

use crate::api::TypeMeta;

/// Kubernetes' cluster-scoped kinds, with their groups.
const CLUSTER_SCOPED: [(&str, &str); 25] = [
    ("", "Namespace"),
    ("", "Node"),
    ("", "PersistentVolume"),
    ("", "ComponentStatus"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "APIService"),
    ("certificates.k8s.io", "CertificateSigningRequest"),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
    ("networking.k8s.io", "IngressClass"),
    ("node.k8s.io", "RuntimeClass"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("storage.k8s.io", "CSIDriver"),
    ("storage.k8s.io", "CSINode"),
    ("storage.k8s.io", "StorageClass"),
    ("storage.k8s.io", "VolumeAttachment"),
    ("gateway.networking.k8s.io", "GatewayClass"),
];

/// True if objects of this type are cluster-scoped, as far as that is known without an API server.
pub fn is_cluster_scoped(type_meta: &TypeMeta) -> bool {
    CLUSTER_SCOPED.contains(&(type_meta.group(), type_meta.kind.as_str()))
}
