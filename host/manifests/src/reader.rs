//! Turns the texts of files into objects, and rejects duplicates.
//!
//! Karmada's kinds are recognised only in Karmada's groups; the same kind in another group (Cluster API also has a
//! `Cluster`) is a resource like any other. Karmada's other objects are counted and left out, because Karmada does not
//! propagate them either.

use std::collections::HashMap;
use std::io::Read;
use std::path::Path;

use divvy_documents::chunks::{self, Chunk, LineCounter};
use divvy_documents::{Cause, Document, Fault, FieldPath, ObjectName, Problem, Source, Warning, json, yaml};
use serde_json::value::RawValue;

use super::object::{Found, Named, Object, ObjectReader, Place};
use super::{Located, Manifests, ReadOptions, list, scope};

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
        let mut place = Place {
            file: file.into(),
            document: 0,
        };
        let chunks = chunks::split(text);
        if chunks.is_empty() {
            self.warn(Warning::new(format!("`{}` holds no object", file.display())));
        }
        for chunk in &chunks {
            let is_json = matches!(chunk.text.trim_start().as_bytes().first(), Some(b'{' | b'['));
            if !(is_json && self.json_chunk(chunk, &mut place)) {
                self.yaml_chunk(chunk, &mut place);
            }
        }
    }

    /// Reads a chunk as consecutive JSON values. Returns false, without reading any, if the chunk is YAML flow style.
    fn json_chunk(&mut self, chunk: &Chunk<'_>, place: &mut Place) -> bool {
        // Find out where the values begin and end, without reading them into types yet.
        let mut stream = serde_json::Deserializer::from_str(chunk.text).into_iter::<&RawValue>();
        let mut values = Vec::new();
        let mut read_to = 0;
        let mut failed = false;
        while let Some(value) = stream.next() {
            let Ok(value) = value else {
                failed = true;
                break;
            };
            read_to = stream.byte_offset();
            values.push(value.get());
        }
        // A chunk that is invalid JSON may still be valid YAML, unless the file claims to be JSON.
        let may_be_yaml = place.file.extension().is_none_or(|extension| extension != "json");
        if failed && may_be_yaml && yaml::parse(chunk.text, chunk.first_line).1.is_empty() {
            return false;
        }
        let mut lines = LineCounter::new(chunk);
        for text in values {
            place.document += 1;
            let line = lines.line_of(text);
            self.object(&Document::from_json(text, line), place);
        }
        // `serde_json` has no line for its error, so the remainder is parsed again for a precise message.
        if failed {
            place.document += 1;
            let rest = chunk.text.get(read_to..).unwrap_or_default();
            let mut faults = Vec::new();
            let parsed = json::parse(rest, lines.line_of(rest), &mut faults);
            faults.extend(parsed.err().map(Fault::from));
            self.faults(faults, place);
        }
        true
    }

    fn yaml_chunk(&mut self, chunk: &Chunk<'_>, place: &mut Place) {
        let (documents, faults) = yaml::parse(chunk.text, chunk.first_line);
        // A document that could not be parsed still counts, so that its problems have the right number.
        if documents.is_empty() && !faults.is_empty() {
            place.document += 1;
        }
        for node in documents {
            place.document += 1;
            self.object(&Document::from_tree(node), place);
        }
        let is_template = chunk.text.contains("{{");
        let faults = faults.into_iter().map(|fault| match fault.hint {
            None if is_template => Fault {
                hint: Some("this is a template: render it first, for instance with `helm template`".to_owned()),
                ..fault
            },
            _ => fault,
        });
        self.faults(faults.collect(), place);
    }

    fn object(&mut self, document: &Document<'_>, place: &Place) {
        let mut reader = ObjectReader::new(self.options);
        reader.object(document, None, place);
        self.take(reader.found);
    }

    fn faults(&mut self, faults: Vec<Fault>, place: &Place) {
        for fault in faults {
            let source = place.at(fault.line);
            self.problem(fault.into_problem(source));
        }
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
            Object::Cluster(located) => added(&mut manifests.clusters, located),
            Object::Policy(located) => added(&mut manifests.policies, located),
            Object::Binding(located) => added(&mut manifests.bindings, located),
            Object::Resource(located) => added(&mut manifests.resources, located),
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
