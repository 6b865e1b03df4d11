//! Reads the parts of a file between its `---` lines. They do not affect each other, so several threads can read them.

use std::path::Path;
use std::sync::Arc;

use divvy_spanned::chunks::{Chunk, LineCounter};
use divvy_spanned::{Cause, Document, Fault, json, yaml};
use serde_json::value::RawValue;

use super::ReadOptions;
use super::broken::Place;
use super::object::{DocumentLocation, Found, ObjectReader};
use super::shared::SharedRequirements;

/// The contents of a chunk. Its documents are counted from 1.
pub(super) struct Contents {
    /// Line of the file on which the chunk begins.
    pub(super) first_line: usize,
    pub(super) found: Vec<Found>,
    pub(super) documents: usize,
    /// Bytes that aliases expand to.
    pub(super) aliased_bytes: usize,
}

/// Hint for problems in a file of kustomize, which is no object of an API server and often lacks what every object has.
const KUSTOMIZATION: &str = "this is a kustomization and not an object: render its folder first, for instance with `kubectl kustomize`, \
                             or pass the files that it names";

/// True for a file that kustomize reads, by its name or its group.
fn is_kustomization(file: &Path, text: &str) -> bool {
    let is_named = file
        .file_stem()
        .is_some_and(|stem| stem.eq_ignore_ascii_case("kustomization"));
    is_named || text.contains("kustomize.config.k8s.io/")
}

/// Reads a chunk of a file. Its workloads share requirements with earlier ones that were read with the same `shared`.
pub(super) fn read(
    chunk: &Chunk<'_>,
    file: &Arc<Path>,
    options: &ReadOptions,
    shared: &mut SharedRequirements,
) -> Contents {
    let mut objects = ObjectReader::new(options);
    objects.shared = std::mem::take(shared);
    let mut reader = ChunkReader {
        objects,
        location: DocumentLocation {
            file: Arc::clone(file),
            document: 0,
        },
        aliased_bytes: 0,
    };
    let is_json = matches!(chunk.text.trim_start().as_bytes().first(), Some(b'{' | b'['));
    if !(is_json && reader.json(chunk)) {
        reader.yaml(chunk);
    }
    let has_problems = reader
        .objects
        .found
        .iter()
        .any(|found| matches!(found, Found::Problem(_)));
    if has_problems && is_kustomization(file, chunk.text) {
        for found in &mut reader.objects.found {
            if let Found::Problem(problem) = found {
                problem.hint.get_or_insert_with(|| KUSTOMIZATION.to_owned());
            }
        }
    }
    *shared = reader.objects.shared;
    Contents {
        first_line: chunk.first_line,
        found: reader.objects.found,
        documents: reader.location.document,
        aliased_bytes: reader.aliased_bytes,
    }
}

struct ChunkReader<'options> {
    objects: ObjectReader<'options>,
    location: DocumentLocation,
    aliased_bytes: usize,
}

impl ChunkReader<'_> {
    /// Reads a chunk as consecutive JSON values. Returns false, without reading any, if the chunk is YAML flow style.
    fn json(&mut self, chunk: &Chunk<'_>) -> bool {
        // Find out where the values begin and end, without reading them into types yet.
        let mut stream = serde_json::Deserializer::from_str(chunk.text).into_iter::<&RawValue>();
        let mut values = Vec::new();
        let mut read_to = 0;
        let mut failure = None;
        while let Some(value) = stream.next() {
            match value {
                Ok(value) => values.push(value.get()),
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
            read_to = stream.byte_offset();
        }
        // A chunk that is invalid JSON may still be valid YAML, unless the file claims to be JSON.
        let extension = self.location.file.extension();
        let may_be_yaml = extension.is_none_or(|extension| extension != "json");
        if failure.is_some() && may_be_yaml && yaml::parse(chunk.text, chunk.first_line).1.is_empty() {
            return false;
        }
        let mut lines = LineCounter::new(chunk);
        for text in values {
            self.location.document += 1;
            let line = lines.line_of(text);
            self.object(&Document::from_json(text, line));
        }
        // The remainder is parsed again for a precise message.
        if let Some(error) = failure {
            self.location.document += 1;
            // Every value ends at a boundary between characters of the text.
            let rest = &chunk.text[read_to..];
            let mut faults = Vec::new();
            let parsed = json::parse(rest, lines.line_of(rest), &mut faults);
            faults.extend(parsed.err().map(Fault::from));
            let place = Place::of(chunk.text, &error);
            for mut fault in faults {
                place.add_to(&mut fault, chunk.first_line);
                let is_there = matches!(fault.cause, Cause::Syntax { .. });
                let object = place.object.as_ref().filter(|_| is_there);
                self.objects.fault(fault, object, &self.location);
            }
        }
        true
    }

    fn yaml(&mut self, chunk: &Chunk<'_>) {
        let yaml::Parsed {
            documents,
            faults,
            aliased_bytes,
        } = yaml::parse_counted(chunk.text, chunk.first_line);
        self.aliased_bytes += aliased_bytes;
        // A document that could not be parsed still counts, so that its problems have the right number.
        if documents.is_empty() && !faults.is_empty() {
            self.location.document += 1;
        }
        for node in documents {
            self.location.document += 1;
            self.object(&Document::from_tree(node));
        }
        let is_template = chunk.text.contains("{{");
        let faults = faults.into_iter().map(|fault| match fault.hint {
            None if is_template => Fault {
                hint: Some("this is a template: render it first, for instance with `helm template`".to_owned()),
                ..fault
            },
            _ => fault,
        });
        self.faults(faults.collect());
    }

    fn object(&mut self, document: &Document<'_>) {
        self.objects.object(document, None, &self.location);
    }

    fn faults(&mut self, faults: Vec<Fault>) {
        self.objects.faults(faults, None, &self.location);
    }
}

#[cfg(test)]
mod tests {
    use crate::{ReadOptions, read_text};

    /// A folder of a GitOps repository has a file for kustomize beside the objects.
    #[test]
    fn a_kustomization_is_recognised() {
        let typed = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [web.yaml]\n";
        for (name, text, fields) in [
            (
                "policies/kustomization.yaml",
                "resources: [web.yaml]\n",
                &["apiVersion", "kind"][..],
            ),
            ("kustomization.yml", typed, &["metadata.name"]),
            ("base.yaml", typed, &["metadata.name"]),
        ] {
            let read = read_text(name, text, &ReadOptions::default());
            let found: Vec<String> = read.problems.iter().map(|problem| problem.field.to_string()).collect();
            assert_eq!(found, fields, "{name}");
            for problem in &read.problems {
                let hint = problem.hint.as_deref().unwrap_or_default();
                assert!(
                    hint.contains("is a kustomization") && hint.contains("`kubectl kustomize`"),
                    "{name}: {hint}"
                );
            }
        }
        let other = read_text("web.yaml", "resources: [web.yaml]\n", &ReadOptions::default());
        assert!(
            other.problems.iter().all(|problem| problem.hint.is_none()),
            "{:?}",
            other.problems
        );
    }
}
