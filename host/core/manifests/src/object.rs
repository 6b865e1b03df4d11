//! Reads one object: determines its kind, decodes and validates it.
//!
//! Objects do not affect each other here, so several threads can read them. Findings are kept in their order, and the reader of the
//! files collects them.

use std::hash::BuildHasher;
use std::path::Path;
use std::sync::Arc;

use divvy_karmada::api::{
    Cluster, FederatedResourceQuota, ObjectMeta, OverridePolicy, PropagationPolicy, ReadJson, Resource,
    ResourceBinding, TypeMeta,
};
use divvy_karmada::detector::AnnotationLines;
use divvy_karmada::fields::FieldTree;
use divvy_karmada::policy::{default_resource_models, is_cluster_scoped};
use divvy_karmada::workloads::{Fields, WorkloadResource};
use divvy_spanned::chunks::{Chunk, LineCounter};
use divvy_spanned::{Cause, Document, Fault, FieldPath, NodeValue, ObjectName, Problem, Source, Warning, unique_value};
use foldhash::quality::FixedState;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;
use serde_json::value::RawValue;

use super::fields::DocumentFields;
use super::known::Key;
use super::lists::{implied_by, is_empty_list};
use super::naming;
use super::shared::SharedRequirements;
use super::unknown::{Validation, annotation_lines, unknown_fields};
use super::validation::{Findings, Validate};
use super::{Located, ReadOptions};

/// Namespace of objects that do not name one.
const NAMESPACE_DEFAULT: &str = "default";

/// The document that is being read.
#[derive(Clone)]
pub(super) struct DocumentLocation {
    pub(super) file: Arc<Path>,
    pub(super) document: usize,
}

impl DocumentLocation {
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
pub(super) struct Envelope<'text> {
    pub(super) api_version: Option<String>,
    pub(super) kind: Option<String>,
    #[serde(borrow)]
    pub(super) items: Option<&'text RawValue>,
}

/// A finding in the input.
pub(super) enum Found {
    /// An object or a list, readable or not.
    Object,
    /// An object of Karmada that nothing here reads.
    Ignored,
    Problem(Box<Problem>),
    Warning(Box<Warning>),
    Named(Named),
}

/// An object with a name.
pub(super) struct Named {
    /// The object, unless it has problems.
    pub(super) object: Result<Object, Box<Faulty>>,
    /// Digest of the parts of the object that are not kept.
    pub(super) digest: u64,
}

/// An object with problems.
pub(super) struct Faulty {
    pub(super) key: Key,
    pub(super) source: Source,
}

/// An object without problems. Boxed, because the kinds differ in size by a kilobyte.
pub(super) enum Object {
    Cluster(Box<Located<Cluster>>),
    Policy(Box<Located<PropagationPolicy>>),
    Binding(Located<Box<ResourceBinding>>),
    Resource(Located<Box<WorkloadResource>>),
    Override(Box<Located<OverridePolicy>>),
    Quota(Box<Located<FederatedResourceQuota>>),
}

impl Found {
    /// Adds the number of earlier documents of the file to the number of the document.
    pub(super) fn number_from(&mut self, before: usize) {
        let source = match self {
            Self::Object | Self::Ignored => None,
            Self::Problem(problem) => problem.source_of.as_mut(),
            Self::Warning(warning) => warning.source_of.as_mut(),
            Self::Named(named) => Some(match &mut named.object {
                Ok(Object::Cluster(located)) => &mut located.source,
                Ok(Object::Policy(located)) => &mut located.source,
                Ok(Object::Binding(located)) => &mut located.source,
                Ok(Object::Resource(located)) => &mut located.source,
                Ok(Object::Override(located)) => &mut located.source,
                Ok(Object::Quota(located)) => &mut located.source,
                Err(faulty) => &mut faulty.source,
            }),
        };
        if let Some(source) = source {
            source.document += before;
        }
    }
}

/// Reads objects one by one.
pub(super) struct ObjectReader<'options> {
    pub(super) options: &'options ReadOptions,
    pub(super) found: Vec<Found>,
    /// Requirements of the workloads so far.
    pub(super) shared: SharedRequirements,
    /// True if the objects were cut out of a text that may not be a list.
    is_cut: bool,
    /// True if one of the objects was cut wrongly, or has no type of its own. The findings are then meaningless.
    pub(super) is_misread: bool,
}

impl<'options> ObjectReader<'options> {
    pub(super) fn new(options: &'options ReadOptions) -> Self {
        Self {
            options,
            found: Vec::new(),
            shared: SharedRequirements::default(),
            is_cut: false,
            is_misread: false,
        }
    }

    /// A reader of objects that are cut out of a text before all of it is known to be a list.
    pub(super) fn for_cut_objects(options: &'options ReadOptions) -> Self {
        Self {
            is_cut: true,
            ..Self::new(options)
        }
    }

    fn problem(&mut self, problem: Problem) {
        self.found.push(Found::Problem(Box::new(problem)));
    }

    pub(super) fn warn(&mut self, warning: Warning) {
        self.found.push(Found::Warning(Box::new(warning)));
    }

    /// Reads one object, or each item of a list. `implied` is the type of items that do not state their own.
    pub(super) fn object(&mut self, document: &Document<'_>, implied: Option<&TypeMeta>, location: &DocumentLocation) {
        self.found.push(Found::Object);
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
                    self.object(&Document::from_json(item.get(), line), implied.as_ref(), location);
                }
                return;
            }
            if !is_empty_list(document, &type_meta) {
                self.typed(document, type_meta, implied, location);
            }
            return;
        }
        if let (true, Some(text)) = (self.is_cut, document.json())
            && serde_json::from_str::<IgnoredAny>(text).is_err()
        {
            self.is_misread = true;
            return;
        }
        // Everything else, such as YAML or an `apiVersion` of the wrong type, goes through the tree.
        let mut faults = Vec::new();
        let tree = document.tree(&mut faults).clone();
        let is_broken = !faults.is_empty() && matches!(tree.value, NodeValue::Skipped);
        self.faults(faults, None, location);
        if is_broken {
            return;
        }
        let NodeValue::Mapping(_) = tree.value else {
            let cause = Cause::wrong_type("an object with `apiVersion` and `kind`", tree.describe());
            let is_list = matches!(tree.value, NodeValue::List(_));
            let hint = is_list.then(|| "several objects are a `kind: List`".to_owned());
            let fault = Fault::new(FieldPath::root(), tree.line, cause);
            return self.fault(Fault { hint, ..fault }, None, location);
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
                    self.object(&Document::from_tree(item.clone()), implied.as_ref(), location);
                }
            }
            _ if is_empty_list(document, &type_meta) => {}
            _ => self.typed(document, type_meta, implied, location),
        }
    }

    /// Reads an object whose type is known.
    fn typed(
        &mut self,
        document: &Document<'_>,
        own: TypeMeta,
        implied: Option<&TypeMeta>,
        location: &DocumentLocation,
    ) {
        let type_meta = match implied {
            Some(implied) if own.kind.is_empty() && own.api_version.is_empty() => implied.clone(),
            _ => own,
        };
        // The type may be that of the list, which can follow its items.
        self.is_misread |= self.is_cut && type_meta.kind.is_empty() && type_meta.api_version.is_empty();
        if type_meta.kind.is_empty() || type_meta.api_version.is_empty() {
            return self.without_type(document, &type_meta, location);
        }
        let known: &[(&str, &str)] = &[
            ("Cluster", Cluster::API_VERSION),
            ("PropagationPolicy", PropagationPolicy::API_VERSION),
            ("ClusterPropagationPolicy", PropagationPolicy::API_VERSION),
            ("ResourceBinding", ResourceBinding::API_VERSION),
            ("ClusterResourceBinding", ResourceBinding::API_VERSION),
            ("OverridePolicy", PropagationPolicy::API_VERSION),
            ("ClusterOverridePolicy", PropagationPolicy::API_VERSION),
            ("FederatedResourceQuota", PropagationPolicy::API_VERSION),
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
                self.fault(Fault::new(path, line, cause), None, location);
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
                self.checked(document, type_meta, location, complete, |located| {
                    Object::Cluster(Box::new(located))
                });
            }
            Some(("OverridePolicy" | "ClusterOverridePolicy", _)) => {
                self.checked(
                    document,
                    type_meta,
                    location,
                    |_| (),
                    |located| Object::Override(Box::new(located)),
                );
            }
            Some(("FederatedResourceQuota", _)) => {
                self.checked(
                    document,
                    type_meta,
                    location,
                    |_| (),
                    |located| Object::Quota(Box::new(located)),
                );
            }
            Some((_, PropagationPolicy::API_VERSION)) => {
                self.checked(
                    document,
                    type_meta,
                    location,
                    |policy: &mut Located<PropagationPolicy>| {
                        policy.annotation_lines = annotation_lines(&policy.object.metadata, document);
                    },
                    |located| Object::Policy(Box::new(located)),
                );
            }
            Some(_) => self.checked(
                document,
                type_meta,
                location,
                |_| (),
                |located: Located<ResourceBinding>| {
                    Object::Binding(Located {
                        object: Box::new(located.object),
                        source: located.source,
                        annotation_lines: located.annotation_lines,
                        json: located.json,
                    })
                },
            ),
            None if group == "karmada.io" || group.ends_with(".karmada.io") => {
                self.found.push(Found::Ignored);
                self.unknown_kind(document, &type_meta, location);
            }
            None => self.resource(document, type_meta, location),
        }
    }

    /// Reports the missing or mistyped `apiVersion` and `kind` of an object, which is then left out.
    fn without_type(&mut self, document: &Document<'_>, type_meta: &TypeMeta, location: &DocumentLocation) {
        let mut faults = Vec::new();
        let tree = document.tree(&mut faults).clone();
        let fields = [("apiVersion", &type_meta.api_version), ("kind", &type_meta.kind)];
        if matches!(tree.value, NodeValue::Skipped) {
            return self.faults(faults, None, location);
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
        self.faults(faults, None, location);
    }

    /// Reads, validates and completes one of Karmada's objects. One with problems is reported and left out.
    fn checked<T: DeserializeOwned + ReadJson + Default + Validate>(
        &mut self,
        document: &Document<'_>,
        type_meta: TypeMeta,
        location: &DocumentLocation,
        complete: impl FnOnce(&mut Located<T>),
        wrapped: impl FnOnce(Located<T>) -> Object,
    ) {
        let mut faults = Vec::new();
        // Validation runs even after faults, so that all problems are reported at once.
        let mut object: T = document.decode(&mut faults, T::from_json);
        let mut findings = Findings::default();
        object.validate(&mut findings);
        add_findings(findings, document, &mut faults);
        let (api_version, kind, metadata) = object.head();
        // The type may be that of a list.
        api_version.clone_from(&type_meta.api_version);
        kind.clone_from(&type_meta.kind);
        default_namespace(metadata, type_meta.kind.starts_with("Cluster"));
        let is_served = !metadata.resource_version.is_empty();
        let mut found = Vec::new();
        if self.options.validation != Validation::Ignore {
            let tree = FieldTree::of(&type_meta.kind);
            found = tree.map_or_else(Vec::new, |tree| unknown_fields(document, tree));
            if !is_served {
                let refusals = object.refusals(document, tree).into_iter();
                found.extend(refusals.filter(|refusal| !is_reported(&refusal.path, &faults)));
            }
            let (_, _, metadata) = object.head();
            found.extend(self.unknown_annotations(metadata, document));
        }
        let source = location.at(document.first_line());
        let (_, _, metadata) = object.head();
        self.naming(&type_meta, metadata, &source);
        let faulty = self.report_faults(&type_meta, metadata, (found, faults), &source, location);
        let object = match faulty {
            Some(faulty) => Err(faulty),
            None => {
                let mut located = Located {
                    object,
                    source,
                    annotation_lines: AnnotationLines::new(),
                    json: None,
                };
                complete(&mut located);
                Ok(wrapped(located))
            }
        };
        self.found.push(Found::Named(Named { object, digest: 0 }));
    }

    /// Warns of a name that no API server accepts.
    fn naming(&mut self, type_meta: &TypeMeta, metadata: &ObjectMeta, source: &Source) {
        if self.options.validation == Validation::Ignore {
            return;
        }
        let Some(part) = naming::refused(type_meta.group(), metadata) else {
            return;
        };
        let message = format!("an API server would refuse this {part}");
        self.warn(Warning {
            source_of: Some(source.clone()),
            object: Some(ObjectName::new(&type_meta.kind, &metadata.namespace, &metadata.name)),
            ..Warning::new(message).with_hint("names consist of lower-case Latin letters, digits, `-` and `.`")
        });
    }

    /// Reports the unknown parts and the faults of an object. Returns its name if they are problems.
    fn report_faults(
        &mut self,
        type_meta: &TypeMeta,
        metadata: &ObjectMeta,
        (unknown, mut faults): (Vec<Fault>, Vec<Fault>),
        source: &Source,
        location: &DocumentLocation,
    ) -> Option<Box<Faulty>> {
        // Nearly every object has neither, and needs no copy of its name.
        if unknown.is_empty() && faults.is_empty() {
            return None;
        }
        let name = ObjectName::new(&type_meta.kind, &metadata.namespace, &metadata.name);
        let is_served = !metadata.resource_version.is_empty();
        self.unknown(unknown, is_served, &name, location, &mut faults);
        let is_whole = faults.is_empty();
        self.faults(faults, Some(&name), location);
        (!is_whole).then(|| {
            Box::new(Faulty {
                key: (type_meta.group().to_owned(), name),
                source: source.clone(),
            })
        })
    }

    /// Reads a workload or another resource that Karmada may propagate. One with problems is reported and left out.
    fn resource(&mut self, document: &Document<'_>, type_meta: TypeMeta, location: &DocumentLocation) {
        let mut faults = Vec::new();
        let value: Value = match document.json().map(unique_value) {
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
        let mut demand = kinds.demand(&type_meta, &metadata.namespace, &mut fields);
        let mut findings = Findings::default();
        findings.metadata(&metadata);
        add_findings(findings, document, &mut faults);
        let mut found = self.unknown_annotations(&metadata, document);
        // An API server has none of them, unless it is newer than the lists.
        if metadata.resource_version.is_empty()
            && self.options.validation != Validation::Ignore
            && let Some(tree) = FieldTree::of_workload(&type_meta)
        {
            found.extend(unknown_fields(document, tree));
        }
        let source = location.at(document.first_line());
        self.naming(&type_meta, &metadata, &source);
        let faulty = self.report_faults(&type_meta, &metadata, (found, faults), &source, location);
        // A workload as a tree takes ten times as much memory as its text, and only the fields that are kept are read again.
        let digest = digest(&value);
        if let Some(demand) = &mut demand {
            let requirements = demand.requirements.take();
            demand.requirements = requirements.map(|requirements| self.shared.shared(requirements));
        }
        let object = match faulty {
            Some(faulty) => Err(faulty),
            None => Ok(Object::Resource(Located {
                object: Box::new(WorkloadResource {
                    resource: Resource::new(type_meta, metadata, &value),
                    demand,
                }),
                source,
                annotation_lines: AnnotationLines::new(),
                json: None,
            })),
        };
        self.found.push(Found::Named(Named { object, digest }));
    }

    pub(super) fn faults(&mut self, faults: Vec<Fault>, object: Option<&ObjectName>, location: &DocumentLocation) {
        for fault in faults {
            self.fault(fault, object, location);
        }
    }

    pub(super) fn fault(&mut self, fault: Fault, object: Option<&ObjectName>, location: &DocumentLocation) {
        let source = location.at(fault.line);
        self.problem(Problem {
            object: object.cloned(),
            ..fault.into_problem(source)
        });
    }
}

/// Digest of a whole object, which recognises an identical one.
fn digest(value: &Value) -> u64 {
    // A fixed seed, because several threads read one input.
    FixedState::default().hash_one(value)
}

fn default_namespace(metadata: &mut ObjectMeta, is_cluster_scoped: bool) {
    if is_cluster_scoped {
        metadata.namespace.clear();
    } else if metadata.namespace.is_empty() {
        metadata.namespace.push_str(NAMESPACE_DEFAULT);
    }
}

/// True if a field, or one that it is in, has a fault already. A key that is given twice does not make the rest unreadable.
fn is_reported(path: &FieldPath, faults: &[Fault]) -> bool {
    let mut unreadable = faults
        .iter()
        .filter(|fault| !matches!(fault.cause, Cause::DuplicateKey { .. }));
    unreadable.any(|fault| path.is_within(&fault.path))
}

/// Adds the findings of validation, except for fields that could not be read in the first location: those have their
/// type's default, so a finding about them would be misleading.
fn add_findings(findings: Findings, document: &Document<'_>, faults: &mut Vec<Fault>) {
    let found = findings.found.into_iter();
    let found: Vec<_> = found.filter(|(path, _)| !is_reported(path, faults)).collect();
    for (path, cause) in found {
        let line = document.tree(faults).line_of(&path);
        faults.push(Fault::with_usual_hint(path, line, cause));
    }
}
