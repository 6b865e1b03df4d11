//! Turns the texts of files into objects, and rejects duplicates.
//!
//! Karmada's kinds are recognised only in Karmada's groups; the same kind in another group (Cluster API also has a
//! `Cluster`) is a resource like any other. Karmada's other objects are counted and left out, because Karmada does not
//! propagate them either.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use divvy_documents::chunks::{self, Chunk};
use divvy_documents::{Cause, Fault, FieldPath, ObjectName, Problem, Source, Warning};

use super::chunk::{self, Contents};
use super::object::{Found, Named, Object, Place};
use super::side_by_side::{in_order, threads};
use super::{Located, Manifests, ReadOptions, list, scope};

/// Bytes of text that one thread reads before it hands over.
const BATCH: usize = 1 << 18;

/// Reads texts into one set of manifests.
pub(super) struct Reader<'options> {
    options: &'options ReadOptions,
    manifests: Manifests,
    /// Every object so far, by group, kind, namespace and name.
    seen: HashMap<(String, ObjectName), Seen>,
    /// Number of objects and lists so far, readable or not.
    objects: usize,
}

/// An object that was read before.
struct Seen {
    source: Source,
    /// Its index in its list of the manifests; `None` if it had problems.
    index: Option<usize>,
    /// Digest of what its list does not keep of it.
    digest: u64,
    /// Number of objects that were registered before it.
    rank: usize,
}

/// How much had been read at a moment.
struct Progress {
    clusters: usize,
    policies: usize,
    bindings: usize,
    resources: usize,
    ignored: usize,
    problems: usize,
    warnings: usize,
    objects: usize,
    seen: usize,
}

impl<'options> Reader<'options> {
    pub(super) fn new(options: &'options ReadOptions) -> Self {
        Self {
            options,
            manifests: Manifests::default(),
            seen: HashMap::new(),
            objects: 0,
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

    pub(super) fn finish(mut self) -> Manifests {
        scope::remove_namespaces_of_custom_kinds(&mut self.manifests.resources);
        self.manifests
    }

    pub(super) fn problem(&mut self, problem: Problem) {
        self.manifests.problems.push(problem);
    }

    pub(super) fn warn(&mut self, warning: Warning) {
        self.manifests.warnings.push(warning);
    }

    /// Reads a stream that is one JSON list of objects, without holding its text as a whole: a dump takes more memory as text than
    /// as objects. Returns false, and takes nothing in, if it is anything else, which [`Self::text`] reads.
    pub(super) fn list(&mut self, file: &Path, stream: &mut dyn Read) -> bool {
        let place = Place {
            file: file.into(),
            document: 1,
        };
        let before = self.progress();
        let options = self.options;
        self.objects += 1;
        let is_list = list::read(stream, options, &place, |found| self.take(found));
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
        let next = || {
            // Enough of them at once that handing over costs nothing.
            let mut length = 0;
            let count = rest.iter().take_while(|chunk| {
                let is_wanted = length < BATCH;
                length += chunk.text.len();
                is_wanted
            });
            let (group, others) = rest.split_at(count.count());
            rest = others;
            (!group.is_empty()).then_some(group)
        };
        let read = |group: &[Chunk<'_>]| -> Vec<Contents> {
            group.iter().map(|chunk| chunk::read(chunk, &file, options)).collect()
        };
        let mut documents = 0;
        in_order(threads(), next, read, |contents| {
            for Contents {
                mut found,
                documents: more,
            } in contents
            {
                found.iter_mut().for_each(|found| found.number_from(documents));
                self.take(found);
                documents += more;
            }
            true
        });
    }

    /// Takes in what was found, in its order.
    fn take(&mut self, found: Vec<Found>) {
        for found in found {
            match found {
                Found::Object => self.objects += 1,
                Found::Ignored => self.manifests.ignored += 1,
                Found::Problem(problem) => self.problem(problem),
                Found::Warning(warning) => self.warn(warning),
                Found::Named(named) => self.named(*named),
            }
        }
    }

    /// Adds an object to its list unless an identical one is there already. A different object of the same name is
    /// reported.
    ///
    /// An object with problems is registered, too, so that a duplicate is reported in the same run.
    fn named(&mut self, named: Named) {
        let Named {
            key,
            source,
            object,
            digest,
        } = named;
        if key.1.name.is_empty() {
            return;
        }
        let manifests = &mut self.manifests;
        if let Some(seen) = self.seen.get(&key) {
            let is_same = match &object {
                None => false,
                Some(Object::Cluster(located)) => seen.is(&manifests.clusters, located, digest),
                Some(Object::Policy(located)) => seen.is(&manifests.policies, located, digest),
                Some(Object::Binding(located)) => seen.is(&manifests.bindings, located, digest),
                Some(Object::Resource(located)) => seen.is(&manifests.resources, located, digest),
            };
            if !is_same {
                let cause = Cause::DuplicateObject {
                    first: seen.source.clone(),
                };
                let fault = Fault::new(FieldPath::root(), source.line, cause);
                self.problem(Problem {
                    object: Some(key.1),
                    ..fault.into_problem(source)
                });
            }
            return;
        }
        let index = object.map(|object| match object {
            Object::Cluster(located) => added(&mut manifests.clusters, *located),
            Object::Policy(located) => added(&mut manifests.policies, *located),
            Object::Binding(located) => added(&mut manifests.bindings, *located),
            Object::Resource(located) => added(&mut manifests.resources, *located),
        });
        let seen = Seen {
            source,
            index,
            digest,
            rank: self.seen.len(),
        };
        self.seen.insert(key, seen);
    }

    fn progress(&self) -> Progress {
        let manifests = &self.manifests;
        Progress {
            clusters: manifests.clusters.len(),
            policies: manifests.policies.len(),
            bindings: manifests.bindings.len(),
            resources: manifests.resources.len(),
            ignored: manifests.ignored,
            problems: manifests.problems.len(),
            warnings: manifests.warnings.len(),
            objects: self.objects,
            seen: self.seen.len(),
        }
    }

    /// Forgets everything that was read since then.
    fn go_back(&mut self, before: &Progress) {
        let manifests = &mut self.manifests;
        manifests.clusters.truncate(before.clusters);
        manifests.policies.truncate(before.policies);
        manifests.bindings.truncate(before.bindings);
        manifests.resources.truncate(before.resources);
        manifests.ignored = before.ignored;
        manifests.problems.truncate(before.problems);
        manifests.warnings.truncate(before.warnings);
        self.objects = before.objects;
        if self.seen.len() > before.seen {
            self.seen.retain(|_, seen| seen.rank < before.seen);
        }
    }
}

impl Seen {
    /// True if this is the very same object.
    fn is<T: PartialEq>(&self, list: &[Located<T>], other: &Located<T>, digest: u64) -> bool {
        let first = self.index.and_then(|index| list.get(index));
        first.is_some_and(|first| first.object == other.object && first.json == other.json && self.digest == digest)
    }
}

/// Adds an object to a list. Returns its index.
fn added<T>(list: &mut Vec<Located<T>>, located: Located<T>) -> usize {
    list.push(located);
    list.len() - 1
}
