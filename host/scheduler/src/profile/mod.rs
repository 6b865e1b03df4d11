//! Profiles: the TOML that says which plugins, in which order, with which configuration, for which scheduler name.
//!
//! A file holds one or several `[[profile]]` tables. A profile can be extended from another of the same file or from the
//! built-in one (`extends = "default"`), so that a file says only what differs. Reading a profile opens no library: names
//! of plugins and their configurations are judged by [`crate::scheduler::registry`].

mod error;
mod model;

pub use error::ProfileError;
pub use model::{AffinityGroups, PluginTable, ProfileConfiguration, ScoreEntry};

use std::path::{Path, PathBuf};

use divvy_documents::{Cause, Fault, FieldPath, Node, NodeValue, Source, decode_tree, names, toml};

use model::ProfileFile;

/// The text of the built-in profile.
pub const BUILT_IN: &str = include_str!("default.toml");

/// The name of the built-in profile.
pub const BUILT_IN_NAME: &str = "default";

/// A profile file, parsed once: every value knows its line.
#[derive(Debug, Clone)]
pub struct ProfileSource {
    file: Option<PathBuf>,
    tree: Node,
    /// Errors of the text, found while it was parsed.
    faults: Vec<Fault>,
}

impl ProfileSource {
    /// The built-in profile.
    pub fn built_in() -> Self {
        Self::parse(None, BUILT_IN)
    }

    /// The profile in a text that was read from a file; without a file it is called the built-in profile.
    ///
    /// [`Self::profiles`] reports what is wrong with the text.
    pub fn parse(file: Option<PathBuf>, text: &str) -> Self {
        let (tree, faults) = toml::parse(text);
        Self { file, tree, faults }
    }

    /// The profile file at a path.
    ///
    /// # Errors
    ///
    /// [`ProfileError::Unreadable`].
    pub fn read(path: &Path) -> Result<Self, ProfileError> {
        let text = std::fs::read_to_string(path).map_err(|source| ProfileError::Unreadable {
            file: path.to_owned(),
            source,
        })?;
        Ok(Self::parse(Some(path.to_owned()), &text))
    }

    /// True for the built-in profile.
    pub fn is_built_in(&self) -> bool {
        self.file.is_none()
    }

    /// How messages name it.
    pub fn name(&self) -> String {
        match &self.file {
            Some(file) => file.display().to_string(),
            None => "built-in profile".to_owned(),
        }
    }

    /// The folder that relative paths in it start from.
    fn folder(&self) -> PathBuf {
        let parent = self.file.as_deref().and_then(Path::parent);
        match parent {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        }
    }

    /// All profiles in it, in order, each with what it extends filled in.
    ///
    /// # Errors
    ///
    /// A [`ProfileError`] with every problem, each with file and line.
    pub fn profiles(&self) -> Result<Vec<ProfileConfiguration>, ProfileError> {
        let mut faults = self.faults.clone();
        let tables: ProfileFile = decode_tree(&self.tree, &FieldPath::root(), &mut faults);
        if !faults.is_empty() {
            // What refers to a profile that could not be read would be reported without reason.
            return Err(self.invalid(faults));
        }
        if tables.profile.is_empty() {
            return Err(ProfileError::Empty { file: self.name() });
        }
        let mut profiles: Vec<ProfileConfiguration> = Vec::new();
        for (number, mut profile) in tables.profile.into_iter().enumerate() {
            let known: Vec<String> = profiles.iter().map(|known| known.name.clone()).collect();
            let mut refuse = |key: &str, reason: String, hint: Option<String>| {
                let line = self.tree.line_of(&FieldPath::dotted("profile").index(number).key(key));
                let fault = Fault::new(FieldPath::root(), line, Cause::InvalidValue { reason });
                faults.push(Fault { hint, ..fault });
            };
            if known.contains(&profile.name) {
                refuse("name", format!("a second profile `{}`", profile.name), None);
            }
            profile.resolve_paths(&self.folder());
            if let Some(base) = profile.extends.take() {
                match profiles.iter().find(|known| known.name == base).cloned() {
                    Some(known) => profile = profile.over(known),
                    None if base == BUILT_IN_NAME && !self.is_built_in() => profile = profile.over(built_in_profile()?),
                    None => refuse(
                        "extends",
                        format!("extends `{base}`, which is not a profile above it"),
                        names::hint(&base, &known),
                    ),
                }
            }
            profiles.push(profile);
        }
        match faults.is_empty() {
            true => Ok(profiles),
            false => Err(self.invalid(faults)),
        }
    }

    fn invalid(&self, mut faults: Vec<Fault>) -> ProfileError {
        faults.sort_by_key(|fault| fault.line);
        let problems = faults.into_iter().map(|fault| {
            let source = Source {
                file: Path::new(&self.name()).into(),
                document: 0,
                line: fault.line,
            };
            fault.into_problem(source)
        });
        ProfileError::Invalid {
            problems: problems.collect(),
        }
    }

    /// The profile of that name; without a name the only one, or the one called `default`, or the first.
    ///
    /// # Errors
    ///
    /// As [`Self::profiles`], and [`ProfileError::NoSuchProfile`].
    pub fn profile(&self, name: Option<&str>) -> Result<ProfileConfiguration, ProfileError> {
        let profiles = self.profiles()?;
        let found = match name {
            Some(name) => profiles.iter().find(|profile| profile.name == name),
            None => profiles
                .iter()
                .find(|profile| profile.name == BUILT_IN_NAME)
                .or_else(|| profiles.first()),
        };
        found.cloned().ok_or_else(|| ProfileError::NoSuchProfile {
            file: self.name(),
            name: name.unwrap_or_default().to_owned(),
            known: profiles.into_iter().map(|profile| profile.name).collect(),
        })
    }

    /// `file:line` of a key of one of its profiles, for messages: `filters[0]`, or the nearest value around it.
    pub fn place(&self, profile: &str, key: &FieldPath) -> String {
        let profiles = match self.tree.get("profile").map(|list| &list.value) {
            Some(NodeValue::List(profiles)) => profiles.as_slice(),
            _ => &[],
        };
        let named = profiles.iter().find(|node| node.text("name") == Some(profile));
        format!("{}:{}", self.name(), named.unwrap_or(&self.tree).line_of(key))
    }
}

/// The built-in profile.
///
/// # Errors
///
/// None, unless the built-in text is damaged; a test reads it.
pub fn built_in_profile() -> Result<ProfileConfiguration, ProfileError> {
    ProfileSource::built_in().profile(None)
}

#[cfg(test)]
mod tests;
