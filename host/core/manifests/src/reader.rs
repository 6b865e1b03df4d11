//! Turns the texts of files into objects, and rejects duplicates.
//!
//! Karmada's kinds are recognised only in Karmada's groups; the same kind in another group (Cluster API also has a
//! `Cluster`) is a resource like any other. Karmada's other objects are counted and left out, because Karmada does not
//! propagate them either.

#[cfg(test)]
mod tests;

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use divvy_parallel::{in_order, threads};
use divvy_spanned::chunks::{self, Chunk};
use divvy_spanned::{Cause, Fault, FieldPath, ObjectName, Problem, Warning};

use super::chunk::{self, Contents};
use super::known::{Known, List, key_identity, object_identity};
use super::object::{DocumentLocation, Faulty, Found, Named, Object};
use super::shared::SharedRequirements;
use super::{Manifests, ReadOptions, list, scope};

/// Bytes of text that one thread reads at a time.
const BATCH: usize = 1 << 18;

/// Maximum bytes that the aliases of all inputs together may expand to. Unlike those of one text, all of them may be kept.
const ALIASED_BYTES_MAX: usize = 64 << 20;

/// Reads texts into one set of manifests.
pub(super) struct Reader<'options> {
    options: &'options ReadOptions,
    manifests: Manifests,
    known: Known,
    /// Number of objects and lists so far, readable or not.
    objects: usize,
    /// Bytes that aliases have expanded to so far.
    aliased_bytes: usize,
}

/// Progress of reading at a moment.
struct Progress {
    clusters: usize,
    policies: usize,
    bindings: usize,
    resources: usize,
    overrides: usize,
    quotas: usize,
    ignored: usize,
    problems: usize,
    warnings: usize,
    objects: usize,
    faulty: usize,
}

impl Progress {
    /// Number of objects by which another one of the same name is recognised.
    fn known(&self) -> usize {
        self.clusters + self.policies + self.bindings + self.resources + self.overrides + self.quotas + self.faulty
    }
}

impl<'options> Reader<'options> {
    pub(super) fn new(options: &'options ReadOptions) -> Self {
        Self {
            options,
            manifests: Manifests::default(),
            known: Known::default(),
            objects: 0,
            aliased_bytes: 0,
        }
    }

    pub(super) fn options(&self) -> &ReadOptions {
        self.options
    }

    /// Number of objects and lists so far, readable or not.
    pub(super) fn objects(&self) -> usize {
        self.objects
    }

    /// True if no problem was found so far.
    pub(super) fn is_sound(&self) -> bool {
        self.manifests.problems.is_empty()
    }

    /// True if nothing was read, and not because of a problem.
    pub(super) fn is_empty(&self) -> bool {
        self.objects == 0 && self.is_sound()
    }

    /// Objects that were looked through because a file was not what it seemed at first, for tests of growth.
    #[cfg(test)]
    pub(super) fn looked_through(&self) -> usize {
        self.known.looked_through
    }

    pub(super) fn finish(mut self) -> Manifests {
        scope::remove_namespaces_of_custom_kinds(&mut self.manifests.resources);
        self.manifests
    }

    pub(super) fn problem(&mut self, problem: Problem) {
        self.manifests.problems.push(problem);
    }

    /// Notes that a file was opened.
    pub(super) fn opened(&mut self, file: &Path) {
        self.manifests.files.push(file.to_owned());
    }

    pub(super) fn warn(&mut self, warning: Warning) {
        self.manifests.warnings.push(warning);
    }

    /// Reads a stream that is one JSON list of objects, without holding its text as a whole: a dump takes more memory as text than
    /// as objects. Returns false and adds nothing if it is anything else, which [`Self::text`] can read.
    pub(super) fn list(&mut self, file: &Path, stream: &mut dyn Read) -> bool {
        let location = DocumentLocation {
            file: file.into(),
            document: 1,
        };
        let before = self.progress();
        let options = self.options;
        self.objects += 1;
        let is_list = list::read(stream, options, &location, |found| self.take(found));
        if !is_list {
            self.go_back(&before);
        }
        is_list
    }

    /// Reads the text of one file.
    pub(super) fn text(&mut self, file: &Path, text: &str) {
        let chunks = chunks::split(text);
        if chunks.is_empty() {
            self.warn(Warning::new(format!("`{}` holds no object", file.display())));
        }
        let (file, options): (Arc<Path>, _) = (file.into(), self.options);
        let mut rest = chunks.as_slice();
        let groups = std::iter::from_fn(|| {
            // Batches are large enough to make the cost of handing them over negligible.
            let mut length = 0;
            let count = rest.iter().take_while(|chunk| {
                let is_wanted = length < BATCH;
                length += chunk.text.len();
                is_wanted
            });
            let (group, others) = rest.split_at(count.count());
            rest = others;
            (!group.is_empty()).then_some(group)
        });
        let read = |group: &[Chunk<'_>]| -> Vec<Contents> {
            let mut shared = SharedRequirements::default();
            let contents = group
                .iter()
                .map(|chunk| chunk::read(chunk, &file, options, &mut shared));
            contents.collect()
        };
        let mut documents = 0;
        let is_read = in_order(
            groups,
            threads(),
            || read,
            |contents| {
                for Contents {
                    mut found,
                    documents: more,
                    first_line,
                    aliased_bytes,
                } in contents
                {
                    self.aliased_bytes = self.aliased_bytes.saturating_add(aliased_bytes);
                    if self.aliased_bytes > ALIASED_BYTES_MAX {
                        return Err(first_line);
                    }
                    found.iter_mut().for_each(|found| found.number_from(documents));
                    self.take(found);
                    documents += more;
                }
                Ok(())
            },
        );
        if let Err(line) = is_read {
            let bytes_max = ALIASED_BYTES_MAX;
            let fault = Fault::new(FieldPath::root(), line, Cause::TooManyAliases { bytes_max });
            let source = DocumentLocation {
                file,
                document: documents + 1,
            };
            self.problem(fault.into_problem(source.at(line)));
        }
    }

    /// Adds findings, in their order.
    fn take(&mut self, found: Vec<Found>) {
        for found in found {
            match found {
                Found::Object => self.objects += 1,
                Found::Ignored => self.manifests.ignored += 1,
                Found::Problem(problem) => self.problem(*problem),
                Found::Warning(warning) => self.warn(*warning),
                Found::Named(named) => self.named(named),
            }
        }
    }

    /// Adds an object to its list unless an identical one is there already. A different object of the same name is
    /// reported.
    ///
    /// An object with problems is registered, too, so that a duplicate is reported in the same run.
    fn named(&mut self, named: Named) {
        let Named { object, digest } = named;
        let (identity, source) = match &object {
            Ok(object) => object_identity(object),
            Err(faulty) => (key_identity(&faulty.key), &faulty.source),
        };
        let (_, kind, namespace, name) = identity;
        if name.is_empty() {
            return;
        }
        let hash = self.known.hash(identity);
        if let Some((known, first)) = self.known.find(identity, hash, &self.manifests) {
            let manifests = &self.manifests;
            let is_same = known.digest == digest
                && match &object {
                    Err(_) => false,
                    Ok(Object::Cluster(located)) => known.equals(&manifests.clusters, located),
                    Ok(Object::Policy(located)) => known.equals(&manifests.policies, located),
                    Ok(Object::Binding(located)) => known.equals(&manifests.bindings, located),
                    Ok(Object::Resource(located)) => known.equals(&manifests.resources, located),
                    Ok(Object::Override(located)) => known.equals(&manifests.overrides, located),
                    Ok(Object::Quota(located)) => known.equals(&manifests.quotas, located),
                };
            if !is_same {
                let cause = Cause::DuplicateObject { first: first.clone() };
                let fault = Fault::new(FieldPath::root(), source.line, cause);
                let problem = Problem {
                    object: Some(ObjectName::new(kind, namespace, name)),
                    ..fault.into_problem(source.clone())
                };
                self.problem(problem);
            }
            return;
        }
        let manifests = &mut self.manifests;
        let list = match object {
            Ok(Object::Cluster(located)) => (List::Clusters, added(&mut manifests.clusters, *located)),
            Ok(Object::Policy(located)) => (List::Policies, added(&mut manifests.policies, *located)),
            Ok(Object::Binding(located)) => (List::Bindings, added(&mut manifests.bindings, located)),
            Ok(Object::Resource(located)) => (List::Resources, added(&mut manifests.resources, located)),
            Ok(Object::Override(located)) => (List::Overrides, added(&mut manifests.overrides, *located)),
            Ok(Object::Quota(located)) => (List::Quotas, added(&mut manifests.quotas, *located)),
            Err(faulty) => {
                let Faulty { key, source } = *faulty;
                return self.known.add_faulty(key, hash, source);
            }
        };
        self.known.add(list, digest, hash);
    }

    fn progress(&self) -> Progress {
        let manifests = &self.manifests;
        Progress {
            clusters: manifests.clusters.len(),
            policies: manifests.policies.len(),
            bindings: manifests.bindings.len(),
            resources: manifests.resources.len(),
            overrides: manifests.overrides.len(),
            quotas: manifests.quotas.len(),
            ignored: manifests.ignored,
            problems: manifests.problems.len(),
            warnings: manifests.warnings.len(),
            objects: self.objects,
            faulty: self.known.faulty(),
        }
    }

    /// Forgets everything that was read after `before`.
    fn go_back(&mut self, before: &Progress) {
        // Nearly every file is no list and has added nothing. Looking through all earlier objects for each would take time that grows
        // with the square of the number of files.
        let is_changed = self.progress().known() != before.known();
        let manifests = &mut self.manifests;
        manifests.clusters.truncate(before.clusters);
        manifests.policies.truncate(before.policies);
        manifests.bindings.truncate(before.bindings);
        manifests.resources.truncate(before.resources);
        manifests.overrides.truncate(before.overrides);
        manifests.quotas.truncate(before.quotas);
        manifests.ignored = before.ignored;
        manifests.problems.truncate(before.problems);
        manifests.warnings.truncate(before.warnings);
        self.objects = before.objects;
        if is_changed {
            self.known.forget(before.faulty, &self.manifests);
        }
    }
}

/// Adds an object to a list. Returns its index.
fn added<T>(list: &mut Vec<T>, located: T) -> usize {
    list.push(located);
    list.len() - 1
}
