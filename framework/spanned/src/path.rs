//! Paths of fields inside an object: `spec.placement.spreadConstraints[0].minGroups`.

use std::fmt;

/// One step into an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathSegment {
    /// The value of a key in a mapping.
    Key(String),
    /// The element at an index in a list, counted from 0.
    Index(usize),
}

/// Location of a value inside an object; empty for the object itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath {
    segments: Vec<PathSegment>,
}

impl FieldPath {
    /// The path of the object itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// Parses the notation of messages, such as `spec.taints[0].key` or `labels["a.b/c"]`.
    ///
    /// Never fails: brackets that contain neither an index nor a quoted key become part of a plain key.
    pub fn dotted(text: &str) -> Self {
        let mut segments = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            if let Some((segment, after)) = bracketed(rest) {
                segments.push(segment);
                rest = after;
                continue;
            }
            let end = rest.char_indices().skip(1).find(|(_, next)| matches!(next, '.' | '['));
            let (key, after) = rest.split_at(end.map_or(rest.len(), |(offset, _)| offset));
            let key = key.strip_prefix('.').unwrap_or(key);
            if !key.is_empty() {
                segments.push(PathSegment::Key(key.to_owned()));
            }
            rest = after;
        }
        Self { segments }
    }

    /// The path that consists of these segments.
    pub fn from_segments(segments: Vec<PathSegment>) -> Self {
        Self { segments }
    }

    /// The path of the field with that name below this path.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.with(PathSegment::Key(key.to_owned()))
    }

    /// The path of the element with that index below this path.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.with(PathSegment::Index(index))
    }

    /// This path followed by another.
    #[must_use]
    pub fn join(&self, below: &Self) -> Self {
        let mut segments = self.segments.clone();
        segments.extend_from_slice(&below.segments);
        Self { segments }
    }

    /// Adds a segment in front.
    pub(crate) fn prepend(&mut self, segment: PathSegment) {
        self.segments.insert(0, segment);
    }

    fn with(&self, segment: PathSegment) -> Self {
        let mut segments = self.segments.clone();
        segments.push(segment);
        Self { segments }
    }

    /// The segments, from the object inwards.
    pub fn segments(&self) -> &[PathSegment] {
        &self.segments
    }

    /// True if this is the path of the object itself.
    pub fn is_root(&self) -> bool {
        self.segments.is_empty()
    }

    /// True if this path is `ancestor` or below it.
    pub fn is_within(&self, ancestor: &Self) -> bool {
        self.segments.starts_with(&ancestor.segments)
    }
}

/// Number of segments shown of a path that is too deep to read.
const SHOWN_OF_DEEP: usize = 4;

impl FieldPath {
    /// The beginning of a path, for a message about its depth.
    pub(crate) fn beginning_of(segments: &[PathSegment]) -> Self {
        Self::from_segments(segments.iter().take(SHOWN_OF_DEEP).cloned().collect())
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.segments.iter().enumerate() {
            match segment {
                PathSegment::Index(index) => write!(formatter, "[{index}]")?,
                // Names of labels and resources may contain dots and slashes, so they are quoted.
                PathSegment::Key(key) if key.contains(['.', '/', ' ', '[']) || key.is_empty() => {
                    write!(formatter, "[{key:?}]")?;
                }
                PathSegment::Key(key) => {
                    let separator = if position == 0 { "" } else { "." };
                    write!(formatter, "{separator}{key}")?;
                }
            }
        }
        Ok(())
    }
}

/// The index or quoted key in brackets at the start of a text, and the rest of the text.
fn bracketed(text: &str) -> Option<(PathSegment, &str)> {
    let inner = text.strip_prefix('[')?;
    if inner.starts_with('"') {
        let mut quoted = serde_json::Deserializer::from_str(inner).into_iter();
        let key: String = quoted.next()?.ok()?;
        let rest = inner.get(quoted.byte_offset()..)?.strip_prefix(']')?;
        return Some((PathSegment::Key(key), rest));
    }
    let (index, rest) = inner.split_once(']')?;
    Some((PathSegment::Index(index.parse().ok()?), rest))
}
