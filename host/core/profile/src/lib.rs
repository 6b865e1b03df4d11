//! Profiles: TOML that selects plugins, their order and their configuration for a scheduler name.
//!
//! A file holds one or more `[[profile]]` tables. A profile can extend an earlier one in the same file or a built-in
//! one (`extends = "default"`) and then states only what differs. [`table`] has the tables that a profile provides to its
//! plugins.
//!
//! This crate knows the form of a profile and nothing about plugins: `divvy-scheduler` finds them, and checks a profile's
//! entries against them.

mod built_in;
mod cost;
mod deadline;
mod duration;
mod error;
mod jointly;
mod lists;
mod model;
mod moves;
mod removed;
mod selectors;
pub mod table;

pub use built_in::{BUILT_IN, BuiltIn, DEFAULT_NAME, built_in_profile, is_bundled};
pub use cost::CostConfiguration;
pub use deadline::Deadline;
pub use error::ProfileError;
pub use jointly::JointlyConfiguration;
pub use lists::Origin as EntryOrigin;
#[cfg(feature = "schema")]
pub use model::schema;
pub use model::{
    AffinityGroups, Isolation, OnError, PluginTable, ProfileConfiguration, ScoreEntry, WhenClustersChange,
    WhenNoClusterFits, WhileCapacityIsUnreported,
};
pub use moves::{
    Allowances, Amount, IncludedKind, MOVES_ANNOTATION, MoveBudgets, MoveDuration, MoveHours, MovesConfiguration,
    NoAllowance, OnExclusion, WrittenAllowances,
};
pub use table::configuration::{ColumnConfiguration, KeyConfiguration, RowsConfiguration, TableConfiguration};

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use divvy_spanned::{Cause, Fault, FieldPath, Node, NodeValue, PathSegment, Source, decode_tree, names, toml};

use lists::Lists;
use model::ProfileFile;

/// A parsed profile file, in which every value keeps its line number.
#[derive(Debug, Clone)]
pub struct ProfileSource {
    origin: Origin,
    tree: Node,
    /// Errors that were found while the text was parsed.
    faults: Vec<Fault>,
    /// The lists of each readable profile by its name. Filled when a message first needs the location of an entry.
    lists: OnceLock<Vec<(String, Lists)>>,
}

/// A profile with everything it extends filled in, and the origins of the entries of its lists.
type Resolved = (ProfileConfiguration, Lists);

/// Problems of one profile.
struct Problem {
    /// Key at fault, in the profile's table.
    key: FieldPath,
    reason: String,
    hint: Option<String>,
    /// True if it may follow from another problem in the file.
    may_follow: bool,
}

/// Origin of the text of a profile.
#[derive(Debug, Clone)]
enum Origin {
    File(PathBuf),
    BuiltIn(&'static BuiltIn),
}

impl ProfileSource {
    /// The profile that is used if none is named.
    pub fn built_in() -> Self {
        Self::from_built_in(&BUILT_IN[0])
    }

    /// A built-in profile.
    pub fn from_built_in(built_in: &'static BuiltIn) -> Self {
        Self::new(Origin::BuiltIn(built_in), built_in.text)
    }

    /// Parses the text of a profile file.
    ///
    /// Parsing does not fail: [`Self::profiles`] reports the errors in the text.
    pub fn parse(file: PathBuf, text: &str) -> Self {
        Self::new(Origin::File(file), text)
    }

    fn new(origin: Origin, text: &str) -> Self {
        let (tree, faults) = toml::parse(text);
        Self {
            origin,
            tree,
            faults,
            lists: OnceLock::new(),
        }
    }

    /// Reads and parses the profile file at `path`.
    ///
    /// # Errors
    ///
    /// [`ProfileError::Unreadable`] if the file cannot be read. [`Self::profiles`] reports the errors in its text.
    pub fn read(path: &Path) -> Result<Self, ProfileError> {
        let bytes = std::fs::read(path).map_err(|source| ProfileError::Unreadable {
            file: path.to_owned(),
            source,
        })?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let offset = error.utf8_error().valid_up_to();
            let before = error.as_bytes().iter().take(offset);
            ProfileError::NotUtf8 {
                file: path.to_owned(),
                line: 1 + before.filter(|byte| **byte == b'\n').count(),
                offset,
            }
        })?;
        Ok(Self::parse(path.to_owned(), &text))
    }

    /// The built-in profile; `None` for a file.
    pub fn as_built_in(&self) -> Option<&'static BuiltIn> {
        match self.origin {
            Origin::File(_) => None,
            Origin::BuiltIn(built_in) => Some(built_in),
        }
    }

    /// Name in messages: the path of the file, or `built-in profile`.
    pub fn name(&self) -> String {
        match &self.origin {
            Origin::File(file) => file.display().to_string(),
            Origin::BuiltIn(_) => "built-in profile".to_owned(),
        }
    }

    /// The file; `None` for a built-in profile.
    pub fn file(&self) -> Option<&Path> {
        match &self.origin {
            Origin::File(file) => Some(file),
            Origin::BuiltIn(_) => None,
        }
    }

    /// Folder against which relative paths are resolved.
    fn folder(&self) -> PathBuf {
        let parent = match &self.origin {
            Origin::File(file) => file.parent(),
            Origin::BuiltIn(_) => None,
        };
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
        match self.readable_profiles() {
            (_, Some(error)) => Err(error),
            (profiles, None) => Ok(profiles),
        }
    }

    /// The file's readable profiles, and the error of [`Self::profiles`] if that is not all of them. The profiles must
    /// not be used then, but problems in them are problems of the file.
    pub fn readable_profiles(&self) -> (Vec<ProfileConfiguration>, Option<ProfileError>) {
        let (resolved, error) = self.resolve();
        (resolved.into_iter().map(|(profile, _)| profile).collect(), error)
    }

    /// The location of the entry at `index` of a profile's list: in the profile itself, or in one that it extends. The
    /// list is named by its key, such as `filters`; `None` if there is no such entry.
    pub fn origin(&self, profile: &str, list: &str, index: usize) -> Option<EntryOrigin> {
        let lists = self.lists.get_or_init(|| {
            let (resolved, _) = self.resolve();
            resolved
                .into_iter()
                .map(|(profile, lists)| (profile.name, lists))
                .collect()
        });
        let (_, lists) = lists.iter().find(|(known, _)| known == profile)?;
        lists.origin(list, index).cloned()
    }

    /// Merges every profile with the one that it extends.
    fn resolve(&self) -> (Vec<Resolved>, Option<ProfileError>) {
        let mut faults = self.faults.clone();
        let tables: ProfileFile = decode_tree(&self.tree, &FieldPath::root(), &mut faults);
        let mut faults: Vec<Fault> = faults.into_iter().map(removed::with_replacement).collect();
        let is_whole = faults.is_empty();
        if is_whole && tables.profile.is_empty() {
            return (Vec::new(), Some(ProfileError::Empty { file: self.name() }));
        }
        let mut profiles: Vec<Resolved> = Vec::new();
        for (number, profile) in tables.profile.into_iter().enumerate() {
            let mut problems = Vec::new();
            let resolved = match self.merge(profile, &profiles, &mut problems) {
                Ok(resolved) => resolved,
                Err(error) => return (Vec::new(), Some(error)),
            };
            // The profile that it extends may be one that could not be read.
            let is_known = is_whole || !problems.iter().any(|problem| problem.may_follow);
            problems.retain(|problem| is_whole || !problem.may_follow);
            if is_known {
                profiles.push(resolved);
            }
            faults.extend(problems.into_iter().map(|problem| {
                let key = FieldPath::dotted("profile").index(number).join(&problem.key);
                let cause = Cause::InvalidValue { reason: problem.reason };
                let fault = Fault::new(FieldPath::root(), self.tree.line_of(&key), cause);
                Fault {
                    hint: problem.hint,
                    ..fault
                }
            }));
        }
        let error = (!faults.is_empty()).then(|| self.invalid(faults));
        (profiles, error)
    }

    /// A profile merged with the one that it extends, which must be among those `above` it or built in.
    fn merge(
        &self,
        mut profile: ProfileConfiguration,
        above: &[Resolved],
        problems: &mut Vec<Problem>,
    ) -> Result<Resolved, ProfileError> {
        let known: Vec<String> = above.iter().map(|(known, _)| known.name.clone()).collect();
        if known.contains(&profile.name) {
            problems.push(Problem {
                key: FieldPath::dotted("name"),
                reason: format!("a second profile `{}`", profile.name),
                hint: None,
                may_follow: false,
            });
        }
        profile.resolve_paths(&self.folder());
        let written = Lists::written_in(&profile, self.as_built_in().is_some());
        let base = match profile.extends.take() {
            None => None,
            Some(base) => match self.extended(&base, above)? {
                Some(found) => Some(found),
                None => {
                    let built_in = BUILT_IN.iter().map(|built_in| built_in.name.to_owned());
                    let known: Vec<String> = known.into_iter().chain(built_in).collect();
                    problems.push(Problem {
                        key: FieldPath::dotted("extends"),
                        reason: format!("extends `{base}`, which is neither above it nor built in"),
                        hint: names::hint(&base, &known),
                        may_follow: true,
                    });
                    // Its inherited entries are not known, but its own entries can still be checked.
                    let (lists, _) = written.over(Some(&Lists::default()));
                    lists.put_into(&mut profile);
                    return Ok((profile, lists));
                }
            },
        };
        let (lists, invalid) = written.over(base.as_ref().map(|(_, lists)| lists));
        problems.extend(invalid.into_iter().map(|entry| Problem {
            key: FieldPath::dotted(entry.list).index(entry.index),
            reason: entry.reason,
            hint: entry.hint,
            may_follow: false,
        }));
        if let Some((base, _)) = base {
            profile = profile.over(base);
        }
        lists.put_into(&mut profile);
        Ok((profile, lists))
    }

    /// The profile of this name that a profile may extend: one of those `above` it, or a built-in one. This rules out cycles.
    fn extended(&self, name: &str, above: &[Resolved]) -> Result<Option<Resolved>, ProfileError> {
        if let Some(found) = above.iter().find(|(known, _)| known.name == name) {
            return Ok(Some(found.clone()));
        }
        // A built-in profile may extend another, but not itself.
        let built_in = BuiltIn::named(name).filter(|built_in| self.as_built_in() != Some(*built_in));
        let Some(built_in) = built_in else {
            return Ok(None);
        };
        let (mut profiles, error) = Self::from_built_in(built_in).resolve();
        match error {
            Some(error) => Err(error),
            None => Ok(profiles.pop()),
        }
    }

    /// Name of the profile that a profile of the file extends, as written; `None` if it extends none.
    pub fn extended_by(&self, profile: &str) -> Option<&str> {
        self.table(profile)?.text("extends")
    }

    fn invalid(&self, mut faults: Vec<Fault>) -> ProfileError {
        faults.sort_by_key(|fault| fault.line);
        let problem = |fault: Fault| {
            let source = Source {
                file: Path::new(&self.name()).into(),
                document: 0,
                line: fault.line,
            };
            fault.into_problem(source)
        };
        let problems = faults.into_iter().map(problem).collect();
        ProfileError::Invalid { problems }
    }

    /// The profile with this name. Without a name, the one called `default`, or else the first.
    ///
    /// # Errors
    ///
    /// Those of [`Self::profiles`], and [`ProfileError::NoSuchProfile`] if the file has no profile with this name.
    pub fn profile(&self, name: Option<&str>) -> Result<ProfileConfiguration, ProfileError> {
        let profiles = self.profiles()?;
        let named = |name: &str| profiles.iter().find(|profile| profile.name == name);
        let found = match name {
            Some(name) => named(name).ok_or_else(|| ProfileError::NoSuchProfile {
                file: self.name(),
                name: name.to_owned(),
                known: profiles.iter().map(|profile| profile.name.clone()).collect(),
            }),
            None => named(DEFAULT_NAME)
                .or_else(|| profiles.first())
                .ok_or_else(|| ProfileError::Empty { file: self.name() }),
        };
        found.cloned()
    }

    /// Location of a profile's key, such as `filters[0]`, as `file:line` for messages. The index of an entry counts in the list with
    /// inherited entries filled in. If the key is missing, this is the location of the innermost value around it.
    pub fn location(&self, profile: &str, key: &FieldPath) -> String {
        let line = match key.segments() {
            [PathSegment::Key(list), PathSegment::Index(index), below @ ..] => {
                match self.origin(profile, list, *index) {
                    Some(origin) if origin.is_built_in == self.as_built_in().is_some() => {
                        let below = FieldPath::from_segments(below.to_vec());
                        let written = FieldPath::dotted(list).index(origin.index).join(&below);
                        self.line(&origin.profile, &written)
                    }
                    // The entry is in another text, so the list that inherits it is the nearest location in this one.
                    Some(_) => self.line(profile, &FieldPath::dotted(list)),
                    None => self.line(profile, key),
                }
            }
            _ => self.line(profile, key),
        };
        format!("{}:{line}", self.name())
    }

    fn line(&self, profile: &str, key: &FieldPath) -> usize {
        self.table(profile).unwrap_or(&self.tree).line_of(key)
    }

    fn table(&self, profile: &str) -> Option<&Node> {
        let profiles = match self.tree.get("profile").map(|list| &list.value) {
            Some(NodeValue::List(profiles)) => profiles.as_slice(),
            _ => &[],
        };
        profiles.iter().find(|node| node.text("name") == Some(profile))
    }
}

#[cfg(test)]
mod tests;
