//! The text of a kubeconfig, and the context that is chosen.
//!
//! The types are kube's. The text is read here, because kube's reader names no field, and ends the process for some files in UTF-16.

use std::path::Path;

use divvy_spanned::{Cause, Fault};
use kube::config::{AuthInfo, Cluster, Kubeconfig};

use super::error::KubeconfigProblem;

/// A cluster and a user, with their names for messages.
pub(super) struct Chosen {
    pub(super) cluster: (String, Cluster),
    pub(super) user: (String, AuthInfo),
    /// Namespace of the context.
    pub(super) namespace: Option<String>,
}

/// Reads a kubeconfig from the bytes of a file. Relative paths begin at the file's folder.
pub(super) fn parse(bytes: &[u8], folder: Option<&Path>) -> Result<Kubeconfig, KubeconfigProblem> {
    let text = decode(bytes).ok_or(KubeconfigProblem::Encoding)?;
    let documents: Vec<serde_json::Value> = serde_saphyr::from_multiple(&text)
        .map_err(|error| KubeconfigProblem::Syntax(error.without_snippet().to_string()))?;
    let mut merged = Kubeconfig::default();
    for document in documents {
        if document.is_null() {
            continue;
        }
        let mut read: Kubeconfig = divvy_spanned::read_value(&document).map_err(|error| refused(&error.into()))?;
        if let Some(folder) = folder {
            resolve(&mut read, folder);
        }
        merged = merge(merged, read)?;
    }
    Ok(merged)
}

/// Adds what the first kubeconfig does not have, as kubectl does for the files of `KUBECONFIG`.
pub(super) fn merge(first: Kubeconfig, next: Kubeconfig) -> Result<Kubeconfig, KubeconfigProblem> {
    first.merge(next).map_err(|error| KubeconfigProblem::Type {
        field: "kind".to_owned(),
        problem: error.to_string(),
    })
}

/// The text of a file. Windows' tools write UTF-16 and marks of the byte order.
fn decode(bytes: &[u8]) -> Option<String> {
    let utf16 = |from: fn([u8; 2]) -> u16| {
        let (units, rest) = bytes.as_chunks::<2>();
        let units: Vec<u16> = units.iter().skip(1).map(|unit| from(*unit)).collect();
        String::from_utf16(&units).ok().filter(|_| rest.is_empty())
    };
    match bytes {
        [0xFF, 0xFE, ..] => utf16(u16::from_le_bytes),
        [0xFE, 0xFF, ..] => utf16(u16::from_be_bytes),
        [0xEF, 0xBB, 0xBF, text @ ..] | text => std::str::from_utf8(text).ok().map(str::to_owned),
    }
}

/// The problem of a value that is not what a kubeconfig has there. A text is not shown: it may be a secret.
fn refused(fault: &Fault) -> KubeconfigProblem {
    let path = fault.key_path();
    KubeconfigProblem::Type {
        field: match path.is_root() {
            true => "kubeconfig".to_owned(),
            false => path.to_string(),
        },
        problem: match &fault.cause {
            Cause::WrongType { expected, actual } if actual.starts_with("the string ") => {
                format!("expected {expected}, got a string")
            }
            cause => cause.to_string(),
        },
    }
}

/// Makes paths absolute. A command without a folder is found in `PATH`.
fn resolve(kubeconfig: &mut Kubeconfig, folder: &Path) {
    let absolute = |path: &mut Option<String>| {
        if let Some(path) = path
            && !path.is_empty()
        {
            *path = folder.join(&*path).to_string_lossy().into_owned();
        }
    };
    for cluster in kubeconfig
        .clusters
        .iter_mut()
        .filter_map(|named| named.cluster.as_mut())
    {
        absolute(&mut cluster.certificate_authority);
    }
    for user in kubeconfig
        .auth_infos
        .iter_mut()
        .filter_map(|named| named.auth_info.as_mut())
    {
        absolute(&mut user.client_certificate);
        absolute(&mut user.client_key);
        absolute(&mut user.token_file);
        if let Some(exec) = &mut user.exec
            && exec.command.as_ref().is_some_and(|command| command.contains('/'))
        {
            absolute(&mut exec.command);
        }
    }
}

/// The context of this name, or the current one. As in kubectl, a user that does not exist has no credentials.
pub(super) fn choose(kubeconfig: Kubeconfig, context: Option<&str>) -> Result<Chosen, KubeconfigProblem> {
    let known = || kubeconfig.contexts.iter().map(|named| named.name.clone()).collect();
    if kubeconfig.contexts.is_empty() {
        return Err(KubeconfigProblem::NoContexts);
    }
    let current = kubeconfig.current_context.as_deref().filter(|name| !name.is_empty());
    let name = context
        .or(current)
        .ok_or_else(|| KubeconfigProblem::NoCurrentContext { known: known() })?;
    let found = kubeconfig.contexts.iter().find(|named| named.name == name);
    let context = found
        .and_then(|named| named.context.as_ref())
        .ok_or_else(|| KubeconfigProblem::UnknownContext {
            name: name.to_owned(),
            known: known(),
        })?;
    let cluster = kubeconfig.clusters.iter().find(|named| named.name == context.cluster);
    let cluster = cluster
        .and_then(|named| named.cluster.clone())
        .ok_or_else(|| KubeconfigProblem::UnknownCluster {
            context: name.to_owned(),
            cluster: context.cluster.clone(),
        })?;
    let user = context.user.clone().unwrap_or_default();
    let found = kubeconfig.auth_infos.iter().find(|named| named.name == user);
    let info = found.and_then(|named| named.auth_info.clone()).unwrap_or_default();
    Ok(Chosen {
        cluster: (context.cluster.clone(), cluster),
        user: (user, info),
        namespace: context.namespace.clone(),
    })
}
