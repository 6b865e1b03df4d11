//! The state of a control plane before any test, and the way back to it.
//!
//! It is restored in etcd, key by key, which is complete whatever a test creates, changes or deletes: objects of any kind, with
//! finalizers or without, namespaces that are ending, and what the API server has created itself. Resource versions go on rising.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use futures::{StreamExt, TryStreamExt};

use super::caches::Caches;
use crate::etcd::{Entry, Etcd};
use crate::objects::PATIENCE;
use crate::{ControlPlane, Error};

/// Objects by which an API server says that it lives. It writes them all the time, and no test does.
const SIGNS_OF_LIFE: [&str; 2] = ["/registry/leases/kube-system/apiserver-", "/registry/peerserverleases/"];
/// Definitions of resources.
const DEFINITIONS: &str = "/registry/apiextensions.k8s.io/customresourcedefinitions/";
/// Time without a change after which an API server has created everything that it creates when it starts.
const QUIET: Duration = Duration::from_secs(1);
/// Time between two looks.
const INTERVAL: Duration = Duration::from_millis(100);
/// Requests to etcd at the same time.
const CONCURRENCY: usize = 8;
/// Keys that an error names.
const NAMED: usize = 10;

/// Every key of an API server, with its value.
#[derive(Debug)]
pub(super) struct Initial {
    entries: BTreeMap<String, Entry>,
    caches: Caches,
}

impl Initial {
    /// The state of a control plane that was just started.
    pub(super) async fn read(control_plane: &ControlPlane) -> Result<Self, Error> {
        let etcd = Etcd::new(control_plane)?;
        let mut entries = etcd.entries().await?;
        let mut change = Instant::now();
        while change.elapsed() < QUIET {
            tokio::time::sleep(INTERVAL).await;
            if differences(&entries, &etcd.keys().await?).next().is_some() {
                entries = etcd.entries().await?;
                change = Instant::now();
            }
        }
        let caches = Caches::read(control_plane).await?;
        Ok(Self { entries, caches })
    }

    /// Brings a control plane back to this state, and waits until the API server has noticed. Does nothing if no test has used it.
    /// Returns whether it can: it cannot if a definition of resources has changed. The API server deletes a definition in several
    /// steps, the last one of which would delete a restored definition, too, and goes on serving one for a while.
    ///
    /// Objects are compared until nothing differs: the API server still creates some on its own for what a test has created,
    /// and a process that was just killed may have a request in flight.
    pub(super) async fn restore(&mut self, control_plane: &ControlPlane) -> Result<bool, Error> {
        let etcd = Etcd::new(control_plane)?;
        let start = Instant::now();
        loop {
            let now = etcd.keys().await?;
            let different: Vec<String> = differences(&self.entries, &now).map(str::to_owned).collect();
            if different.is_empty() {
                return Ok(true);
            }
            if different.iter().any(|key| key.starts_with(DEFINITIONS)) {
                return Ok(false);
            }
            if start.elapsed() > PATIENCE {
                return Err(Error::Leftover {
                    count: different.len(),
                    keys: different.into_iter().take(NAMED).collect(),
                });
            }
            let changes: Vec<(String, i64)> = futures::stream::iter(different)
                .map(|key| self.restore_key(&etcd, key))
                .buffer_unordered(CONCURRENCY)
                .try_collect()
                .await?;
            for (key, revision) in &changes {
                // What was put back has the initial value, at a later revision.
                if let Some(entry) = self.entries.get_mut(key) {
                    entry.revision = *revision;
                }
            }
            self.caches.wait(control_plane, &changes).await?;
        }
    }

    /// Puts the initial value of a key back, or removes the key if it had none. Returns the revision of that.
    async fn restore_key(&self, etcd: &Etcd, key: String) -> Result<(String, i64), Error> {
        let revision = match self.entries.get(&key) {
            Some(entry) => etcd.put(&key, &entry.value).await?,
            None => etcd.delete(&key).await?,
        };
        Ok((key, revision))
    }
}

/// The keys that only one of two states has, and those that were written in between.
fn differences<'a>(
    before: &'a BTreeMap<String, Entry>,
    after: &'a BTreeMap<String, Entry>,
) -> impl Iterator<Item = &'a str> {
    let missing = before.keys().filter(|key| !after.contains_key(*key));
    let written = after.iter().filter(|(key, entry)| {
        let unchanged = before.get(*key).is_some_and(|before| before.revision == entry.revision);
        !unchanged
    });
    let different = missing.chain(written.map(|(key, _)| key)).map(String::as_str);
    different.filter(|key| !SIGNS_OF_LIFE.iter().any(|prefix| key.starts_with(prefix)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(entries: &[(&str, i64)]) -> BTreeMap<String, Entry> {
        let entry = |revision: i64| Entry {
            revision,
            value: Vec::new(),
        };
        entries
            .iter()
            .map(|(key, revision)| ((*key).to_owned(), entry(*revision)))
            .collect()
    }

    #[test]
    fn what_is_left_is_named_except_for_signs_of_life() {
        let before = state(&[
            ("/registry/a/same", 1),
            ("/registry/a/removed", 2),
            ("/registry/a/written", 3),
        ]);
        let after = state(&[
            ("/registry/a/same", 1),
            ("/registry/a/written", 4),
            ("/registry/a/added", 5),
            ("/registry/leases/kube-system/apiserver-x", 6),
            ("/registry/leases/kube-system/other", 7),
        ]);
        let different: Vec<&str> = differences(&before, &after).collect();
        let expected = [
            "/registry/a/removed",
            "/registry/a/added",
            "/registry/a/written",
            "/registry/leases/kube-system/other",
        ];
        assert_eq!(different, expected);
    }
}
