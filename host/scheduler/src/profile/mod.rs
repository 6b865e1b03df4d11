//! Profiles: TOML that selects plugins, their order and their configuration for a scheduler name.
//!
//! A file holds one or more `[[profile]]` tables. A profile can extend an earlier one in the same file or the built-in
//! one (`extends = "default"`) and then states only what differs. Reading a profile does not open any library:
//! [`crate::scheduler::registry`] checks the names of plugins and their configurations.

mod error;
mod model;

pub use error::ProfileError;
pub use model::{AffinityGroups, PluginTable, ProfileConfiguration, ScoreEntry, WhenClustersChange, WhenNoClusterFits};

use std::path::{Path, PathBuf};

use divvy_documents::{Cause, Fault, FieldPath, Node, NodeValue, Source, decode_tree, names, toml};

use model::ProfileFile;

/// Text of the built-in profile.
pub const BUILT_IN: &str = include_str!("default.toml");

/// Name of the built-in profile.
pub const BUILT_IN_NAME: &str = "default";

/// A parsed profile file, in which every value keeps its line number.
#[derive(Debug, Clone)]
pub struct ProfileSource {
    file: Option<PathBuf>,
    tree: Node,
    /// Errors that were found while the text was parsed.
    faults: Vec<Fault>,
}

impl ProfileSource {
    /// Parses the built-in profile.
    pub fn built_in() -> Self {
        Self::parse(None, BUILT_IN)
    }

    /// Parses the text of a profile file. Without `file`, it is treated as the built-in profile.
    ///
    /// Parsing does not fail: [`Self::profiles`] reports the errors in the text.
    pub fn parse(file: Option<PathBuf>, text: &str) -> Self {
        let (tree, faults) = toml::parse(text);
        Self { file, tree, faults }
    }

    /// Reads and parses the profile file at `path`.
    ///
    /// # Errors
    ///
    /// [`ProfileError::Unreadable`] if the file cannot be read. [`Self::profiles`] reports the errors in its text.
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

    /// Name in messages: the path of the file, or `built-in profile`.
    pub fn name(&self) -> String {
        match &self.file {
            Some(file) => file.display().to_string(),
            None => "built-in profile".to_owned(),
        }
    }

    /// Folder against which relative paths are resolved.
    fn folder(&self) -> PathBuf {
        let parent = self.file.as_deref().and_then(Path::parent);
        match parent {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        }
    }

    /// All profiles of the file, in order, each merged with the one that it extends.
    ///
    /// # Errors
    ///
    /// A [`ProfileError`] with every problem, each with its file and line. None of the file's profiles can be used
    /// then.
    pub fn profiles(&self) -> Result<Vec<ProfileConfiguration>, ProfileError> {
        let mut faults = self.faults.clone();
        let tables: ProfileFile = decode_tree(&self.tree, &FieldPath::root(), &mut faults);
        if !faults.is_empty() {
            // References to a profile that could not be decoded would be reported as errors of their own.
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
            // A profile can extend only those above it, which rules out cycles.
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

    /// The profile with this name. Without a name, the one called `default`, or else the first.
    ///
    /// # Errors
    ///
    /// As [`Self::profiles`], and [`ProfileError::NoSuchProfile`] if the file has no profile with this name.
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

    /// Location of a profile's key, such as `filters[0]`, as `file:line` for messages. If the key is missing, the
    /// innermost value around it counts.
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
/// None, unless the built-in text is damaged. A test reads it.
pub fn built_in_profile() -> Result<ProfileConfiguration, ProfileError> {
    ProfileSource::built_in().profile(None)
}

#[cfg(test)]
mod tests;
