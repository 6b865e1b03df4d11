//! Turns documents into objects: determines their kind, validates them and rejects duplicates.
//!
//! Karmada's kinds are recognised only in Karmada's groups; the same kind in another group (Cluster API also has a
//! `Cluster`) is a resource like any other. Karmada's other objects are counted and left out, because Karmada does not
//! propagate them either.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use divvy_documents::chunks::{self, Chunk, LineCounter};
use divvy_documents::{Cause, Document, Fault, FieldPath, NodeValue, ObjectName, Problem, Source, Warning, json, yaml};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;

use super::fields::DocumentFields;
use super::lists::{implied_by, is_empty_list};
use super::unknown::{Validation, unknown_fields};
use super::validation::{Findings, Validate};
use super::{Located, Manifests, ReadOptions, scope};
use divvy_karmada::api::{Cluster, ObjectMeta, PropagationPolicy, ReadJson, Resource, ResourceBinding, TypeMeta};
use divvy_karmada::fields::FieldTree;
use divvy_karmada::policy::{default_resource_models, is_cluster_scoped};
use divvy_karmada::workloads::{Fields, WorkloadResource};

/// Namespace of objects that do not name one.
const NAMESPACE_DEFAULT: &str = "default";

/// Reads texts into one set of manifests.
pub(super) struct Reader<'options> {
    pub(super) options: &'options ReadOptions,
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
}

/// The document that is currently read.
#[derive(Clone)]
pub(super) struct Place {
    file: Arc<Path>,
    document: usize,
}

impl Place {
    pub(super) fn at(&self, line: usize) -> Source {
        Source {
            file: Arc::clone(&self.file),
            document: self.document,
            line,
        }
    }
}

/// The fields that determine how an object is read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'text> {
    api_version: Option<String>,
    kind: Option<String>,
    #[serde(borrow)]
    items: Option<&'text RawValue>,
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
            self.object(&Document::from_json(text, line), None, place);
        }
        // `serde_json` has no line for its error, so the remainder is parsed again for a precise message.
        if failed {
            place.document += 1;
            let rest = chunk.text.get(read_to..).unwrap_or_default();
            let mut faults = Vec::new();
            let parsed = json::parse(rest, lines.line_of(rest), &mut faults);
            faults.extend(parsed.err().map(Fault::from));
            self.faults(faults, None, place);
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
            self.object(&Document::from_tree(node), None, place);
        }
        let is_template = chunk.text.contains("{{");
        let faults = faults.into_iter().map(|fault| match fault.hint {
            None if is_template => Fault {
                hint: Some("this is a template: render it first, for instance with `helm template`".to_owned()),
                ..fault
            },
            _ => fault,
        });
        self.faults(faults.collect(), None, place);
    }

    /// Reads one object, or each item of a list. `implied` is the type of items that do not state their own.
    fn object(&mut self, document: &Document<'_>, implied: Option<&TypeMeta>, place: &Place) {
        self.objects += 1;
        // Fast path: valid JSON needs no tree, and items of a list are cut out of the text.
        if let Some(text) = document.json()
            && let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(text)
        {
            let type_meta = TypeMeta {
                api_version: envelope.api_version.unwrap_or_default(),
                kind: envelope.kind.unwrap_or_default(),
            };
            let items = envelope.items.filter(|_| type_meta.kind.ends_with("List"));
            if let Some(Ok(items)) = items.map(|items| serde_json::from_str::<Vec<&RawValue>>(items.get())) {
                let implied = implied_by(&type_meta);
                let chunk = Chunk {
                    text,
                    first_line: document.first_line(),
                };
                let mut lines = LineCounter::new(&chunk);
                for item in items {
                    let line = lines.line_of(item.get());
                    self.object(&Document::from_json(item.get(), line), implied.as_ref(), place);
                }
                return;
            }
            if !is_empty_list(document, &type_meta) {
                self.typed(document, type_meta, implied, place);
            }
            return;
        }
        // Everything else, such as YAML or an `apiVersion` of the wrong type, goes through the tree.
        let mut faults = Vec::new();
        let tree = document.tree(&mut faults).clone();
        let is_broken = !faults.is_empty() && matches!(tree.value, NodeValue::Skipped);
        self.faults(faults, None, place);
        if is_broken {
            return;
        }
        let NodeValue::Mapping(_) = tree.value else {
            let cause = Cause::wrong_type("an object with `apiVersion` and `kind`", tree.describe());
            let is_list = matches!(tree.value, NodeValue::List(_));
            let hint = is_list.then(|| "several objects are a `kind: List`".to_owned());
            let fault = Fault::new(FieldPath::root(), tree.line, cause);
            return self.fault(Fault { hint, ..fault }, None, place);
        };
        let text = |key| tree.text(key).unwrap_or_default().to_owned();
        let type_meta = TypeMeta {
            api_version: text("apiVersion"),
            kind: text("kind"),
        };
        match tree.get("items").map(|items| &items.value) {
            Some(NodeValue::List(items)) if type_meta.kind.ends_with("List") => {
                let implied = implied_by(&type_meta);
                for item in items.iter() {
                    self.object(&Document::from_tree(item.clone()), implied.as_ref(), place);
                }
            }
            _ if is_empty_list(document, &type_meta) => {}
            _ => self.typed(document, type_meta, implied, place),
        }
    }

    /// Reads an object whose type is known.
    fn typed(&mut self, document: &Document<'_>, own: TypeMeta, implied: Option<&TypeMeta>, place: &Place) {
        let type_meta = match implied {
            Some(implied) if own.kind.is_empty() && own.api_version.is_empty() => implied.clone(),
            _ => own,
        };
        if type_meta.kind.is_empty() || type_meta.api_version.is_empty() {
            return self.without_type(document, &type_meta, place);
        }
        let known: &[(&str, &str)] = &[
            ("Cluster", Cluster::API_VERSION),
            ("PropagationPolicy", PropagationPolicy::API_VERSION),
            ("ClusterPropagationPolicy", PropagationPolicy::API_VERSION),
            ("ResourceBinding", ResourceBinding::API_VERSION),
            ("ClusterResourceBinding", ResourceBinding::API_VERSION),
        ];
        // Match the group without the version, so that an unsupported version is reported instead of propagated whole.
        let group = type_meta.group();
        let expected = known
            .iter()
            .find(|(kind, version)| *kind == type_meta.kind && version.split('/').next() == Some(group));
        match expected {
            Some((_, version)) if *version != type_meta.api_version => {
                let cause = Cause::UnsupportedVersion {
                    kind: type_meta.kind.clone(),
                    expected: (*version).to_owned(),
                    actual: type_meta.api_version.clone(),
                };
                let path = FieldPath::dotted("apiVersion");
                let mut faults = Vec::new();
                let line = document.tree(&mut faults).line_of(&path);
                self.fault(Fault::new(path, line, cause), None, place);
            }
            Some(("Cluster", _)) => {
                let keeps_json = self.options.keep_cluster_json;
                let complete = |cluster: &mut Located<Cluster>| {
                    cluster.json = keeps_json.then(|| match document.json() {
                        Some(text) => text.into(),
                        None => document.tree(&mut Vec::new()).to_json().to_string().into(),
                    });
                    default_resource_models(&mut cluster.object);
                };
                self.checked(document, type_meta, place, complete, |manifests| {
                    &mut manifests.clusters
                });
            }
            Some((_, PropagationPolicy::API_VERSION)) => {
                self.checked(document, type_meta, place, |_| (), |manifests| &mut manifests.policies);
            }
            Some(_) => self.checked(document, type_meta, place, |_| (), |manifests| &mut manifests.bindings),
            None if group == "karmada.io" || group.ends_with(".karmada.io") => {
                self.manifests.ignored += 1;
                self.unknown_kind(document, &type_meta, place);
            }
            None => self.resource(document, type_meta, place),
        }
    }

    /// Reports the missing or mistyped `apiVersion` and `kind` of an object, which is then left out.
    fn without_type(&mut self, document: &Document<'_>, type_meta: &TypeMeta, place: &Place) {
        let mut faults = Vec::new();
        let tree = document.tree(&mut faults).clone();
        let fields = [("apiVersion", &type_meta.api_version), ("kind", &type_meta.kind)];
        if matches!(tree.value, NodeValue::Skipped) {
            return self.faults(faults, None, place);
        }
        for (field, _) in fields.into_iter().filter(|(_, value)| value.is_empty()) {
            let cause = match tree.get(field) {
                Some(node) if !matches!(node.value, NodeValue::Null) => Cause::wrong_type("a string", node.describe()),
                _ => Cause::Missing {
                    expected: format!("`{field}`"),
                },
            };
            let path = FieldPath::dotted(field);
            let line = tree.line_of(&path);
            faults.push(Fault::with_usual_hint(path, line, cause));
        }
        self.faults(faults, None, place);
    }

    /// Reads and validates one of Karmada's objects, completes it and adds it to its list. One with problems is reported and
    /// left out.
    fn checked<T: DeserializeOwned + ReadJson + Default + PartialEq + Validate>(
        &mut self,
        document: &Document<'_>,
        type_meta: TypeMeta,
        place: &Place,
        complete: impl FnOnce(&mut Located<T>),
        list: impl Fn(&mut Manifests) -> &mut Vec<Located<T>>,
    ) {
        let mut faults = Vec::new();
        // Validation runs even after faults, so that all problems are reported at once.
        let mut object: T = document.decode(&mut faults, T::from_json);
        let mut findings = Findings::default();
        object.validate(&mut findings);
        add_findings(findings, document, &mut faults);
        let (api_version, kind, metadata) = object.head();
        default_namespace(metadata, type_meta.kind.starts_with("Cluster"));
        let name = ObjectName::new(&type_meta.kind, &metadata.namespace, &metadata.name);
        if self.options.validation != Validation::Ignore {
            let mut found = match FieldTree::of(&type_meta.kind) {
                Some(tree) => unknown_fields(document, tree),
                None => Vec::new(),
            };
            found.extend(self.unknown_annotations(metadata, document));
            let is_served = !metadata.resource_version.is_empty();
            self.unknown(found, is_served, &name, place, &mut faults);
        }
        let is_whole = faults.is_empty();
        self.faults(faults, Some(&name), place);
        let group = type_meta.group().to_owned();
        (*api_version, *kind) = (type_meta.api_version, type_meta.kind);
        let source = place.at(document.first_line());
        let located = is_whole.then(|| {
            let mut located = Located {
                object,
                source: source.clone(),
                json: None,
            };
            complete(&mut located);
            located
        });
        self.keep(located, 0, (group, name), source, list);
    }

    /// Reads a workload or another resource that Karmada may propagate. One with problems is reported and left out.
    fn resource(&mut self, document: &Document<'_>, type_meta: TypeMeta, place: &Place) {
        let mut faults = Vec::new();
        let value: Value = match document.json().map(serde_json::from_str) {
            Some(Ok(value)) => value,
            _ => document.tree(&mut faults).to_json(),
        };
        let mut fields = DocumentFields {
            value: &value,
            document,
            faults: &mut faults,
        };
        let mut metadata: ObjectMeta = fields.field(&FieldPath::dotted("metadata")).unwrap_or_default();
        default_namespace(&mut metadata, is_cluster_scoped(&type_meta));
        let kinds = &self.options.workload_kinds;
        let demand = kinds.demand(&type_meta, &metadata.namespace, &mut fields);
        let mut findings = Findings::default();
        findings.metadata(&metadata);
        add_findings(findings, document, &mut faults);
        let name = ObjectName::new(&type_meta.kind, &metadata.namespace, &metadata.name);
        let found = self.unknown_annotations(&metadata, document);
        let is_served = !metadata.resource_version.is_empty();
        self.unknown(found, is_served, &name, place, &mut faults);
        let is_whole = faults.is_empty();
        self.faults(faults, Some(&name), place);
        let group = type_meta.group().to_owned();
        let source = place.at(document.first_line());
        // A workload as a tree takes ten times its text, and nothing reads it again but the fields that are kept.
        let digest = digest(&value);
        let located = is_whole.then(|| Located {
            object: WorkloadResource {
                resource: Resource {
                    value: kept(value, &type_meta),
                    type_meta,
                    metadata,
                },
                demand,
            },
            source: source.clone(),
            json: None,
        });
        self.keep(located, digest, (group, name), source, |manifests| {
            &mut manifests.resources
        });
    }

    /// Adds an object to its list unless an identical one is there already. A different object of the same name is
    /// reported.
    ///
    /// An object with problems is `None`. It is registered all the same, so that a duplicate is reported in the same run.
    fn keep<T: PartialEq>(
        &mut self,
        located: Option<Located<T>>,
        digest: u64,
        key: (String, ObjectName),
        source: Source,
        list: impl Fn(&mut Manifests) -> &mut Vec<Located<T>>,
    ) {
        if key.1.name.is_empty() {
            return;
        }
        let list = list(&mut self.manifests);
        let Some(seen) = self.seen.get(&key) else {
            let index = located.map(|located| {
                list.push(located);
                list.len() - 1
            });
            let seen = Seen { source, index, digest };
            self.seen.insert(key, seen);
            return;
        };
        let first = seen.index.and_then(|index| list.get(index));
        let is_same = |(one, other): (&Located<T>, &Located<T>)| {
            one.object == other.object && one.json == other.json && seen.digest == digest
        };
        if first.zip(located.as_ref()).is_some_and(is_same) {
            return;
        }
        let cause = Cause::DuplicateObject {
            first: seen.source.clone(),
        };
        let fault = Fault::new(FieldPath::root(), source.line, cause);
        self.problem(Problem {
            object: Some(key.1),
            ..fault.into_problem(source)
        });
    }

    pub(super) fn faults(&mut self, faults: Vec<Fault>, object: Option<&ObjectName>, place: &Place) {
        for fault in faults {
            self.fault(fault, object, place);
        }
    }

    fn fault(&mut self, fault: Fault, object: Option<&ObjectName>, place: &Place) {
        let source = place.at(fault.line);
        self.problem(Problem {
            object: object.cloned(),
            ..fault.into_problem(source)
        });
    }
}

/// Digest of a whole object, by which the very same object is recognised.
fn digest(value: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Fields of a resource's specification that are read after its replicas and their requests.
const KEPT: [&str; 3] = ["replicas", "parallelism", "completions"];

/// The part of a resource that is read later: the number of its replicas, and the whole definition of a kind.
fn kept(mut value: Value, type_meta: &TypeMeta) -> Value {
    if type_meta.kind == "CustomResourceDefinition" {
        return value;
    }
    let mut fields = serde_json::Map::new();
    for field in KEPT {
        if let Some(number) = value.pointer_mut(&format!("/spec/{field}")) {
            fields.insert(field.to_owned(), number.take());
        }
    }
    match fields.is_empty() {
        true => Value::Null,
        false => serde_json::json!({ "spec": fields }),
    }
}

fn default_namespace(metadata: &mut ObjectMeta, is_cluster_scoped: bool) {
    if is_cluster_scoped {
        metadata.namespace.clear();
    } else if metadata.namespace.is_empty() {
        metadata.namespace.push_str(NAMESPACE_DEFAULT);
    }
}

/// Adds the findings of validation, except for fields that could not be read in the first place: those have their
/// type's default, so a finding about them would be misleading.
fn add_findings(findings: Findings, document: &Document<'_>, faults: &mut Vec<Fault>) {
    let is_unreadable = |fault: &&Fault| !matches!(fault.cause, Cause::DuplicateKey { .. });
    let unreadable = faults.iter().filter(is_unreadable).map(|fault| fault.path.clone());
    let unreadable: Vec<FieldPath> = unreadable.collect();
    for (path, cause) in findings.found {
        if unreadable.iter().any(|unreadable| path.is_within(unreadable)) {
            continue;
        }
        let line = document.tree(faults).line_of(&path);
        faults.push(Fault::with_usual_hint(path, line, cause));
    }
}
