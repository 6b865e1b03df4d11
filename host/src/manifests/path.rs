//! The path of a field inside an object: `spec.placement.spreadConstraints[0].minGroups`.

use std::fmt;

/// One step into an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathSegment {
    /// Into a mapping.
    Key(String),
    /// Into a list.
    Index(usize),
}

/// Where in an object something is; empty for the object itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath {
    segments: Vec<PathSegment>,
}

impl FieldPath {
    /// The object itself.
    pub fn root() -> Self {
        Self::default()
    }

    /// The path of plain keys that a dotted text names, e.g. `spec.template`.
    pub fn dotted(text: &str) -> Self {
        let segments = text.split('.').filter(|key| !key.is_empty());
        Self {
            segments: segments.map(|key| PathSegment::Key(key.to_owned())).collect(),
        }
    }

    /// The path of segments.
    pub fn from_segments(segments: Vec<PathSegment>) -> Self {
        Self { segments }
    }

    /// The field of this name below this path.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        self.with(PathSegment::Key(key.to_owned()))
    }

    /// The element of this index below this path.
    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        self.with(PathSegment::Index(index))
    }

    /// Another path below this one.
    #[must_use]
    pub fn join(&self, below: &Self) -> Self {
        let mut segments = self.segments.clone();
        segments.extend_from_slice(&below.segments);
        Self { segments }
    }

    fn with(&self, segment: PathSegment) -> Self {
        let mut segments = self.segments.clone();
        segments.push(segment);
        Self { segments }
    }

    /// The steps.
    pub fn segments(&self) -> &[PathSegment] {
        &self.segments
    }

    /// Whether this is the object itself.
    pub fn is_root(&self) -> bool {
        self.segments.is_empty()
    }

    /// Whether this path is `ancestor` or lies below it.
    pub fn is_within(&self, ancestor: &Self) -> bool {
        self.segments.starts_with(&ancestor.segments)
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, segment) in self.segments.iter().enumerate() {
            match segment {
                PathSegment::Index(index) => write!(formatter, "[{index}]")?,
                // Label and resource names have dots and slashes of their own.
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
