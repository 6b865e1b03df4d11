//! Profiles: the TOML that says which plugins, in which order, with which configuration, for which scheduler name.
//!
//! A file holds one or several `[[profile]]` tables. A profile can be extended from another of the same file or from the
//! built-in one (`extends = "default"`), so that a file says only what differs. Reading a profile opens no library: names
//! of plugins and their configurations are judged by [`crate::scheduler::registry`].

mod document;
mod error;
mod model;

pub use error::ProfileError;
pub use model::{AffinityGroups, PluginTable, ProfileConfiguration, ScoreEntry};

use std::path::{Path, PathBuf};

use document::Document;

/// The text of the built-in profile.
pub const BUILT_IN: &str = include_str!("default.toml");

/// The name of the built-in profile.
pub const BUILT_IN_NAME: &str = "default";

/// Where a profile stands, for messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileSource {
    /// The file; `None` for the built-in profile.
    pub file: Option<PathBuf>,
    /// The text of the file.
    pub text: String,
}

impl ProfileSource {
    /// The built-in profile.
    pub fn built_in() -> Self {
        Self {
            file: None,
            text: BUILT_IN.to_owned(),
        }
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
        Ok(Self {
            file: Some(path.to_owned()),
            text,
        })
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
    /// A [`ProfileError`] with file and line.
    pub fn profiles(&self) -> Result<Vec<ProfileConfiguration>, ProfileError> {
        let document = Document::parse(self)?;
        let tables = document.profiles()?;
        let mut profiles: Vec<ProfileConfiguration> = Vec::new();
        for (number, mut profile) in tables.into_iter().enumerate() {
            if profiles.iter().any(|known| known.name == profile.name) {
                return Err(ProfileError::DuplicateProfile {
                    file: self.name(),
                    line: document.line(&format!("profile[{number}].name")),
                    name: profile.name,
                });
            }
            profile.resolve_paths(&self.folder());
            if let Some(base) = profile.extends.clone() {
                let known = profiles.iter().find(|known| known.name == base).cloned();
                let base_profile = match known {
                    Some(known) => known,
                    None if base == BUILT_IN_NAME && self.file.is_some() => built_in_profile()?,
                    None => {
                        return Err(ProfileError::UnknownBase {
                            file: self.name(),
                            line: document.line(&format!("profile[{number}].extends")),
                            base,
                            known: profiles.iter().map(|known| known.name.clone()).collect(),
                        });
                    }
                };
                profile = profile.over(base_profile);
            }
            profiles.push(profile);
        }
        Ok(profiles)
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

    /// The line of a key, for messages: `profile[0].filters`. The first line if the key is not there.
    pub fn line(&self, path: &str) -> usize {
        Document::parse(self).map_or(1, |document| document.line(path))
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
