//! Decides manifests in whole cycles, by the real scheduler, with the bundled plugins around the one under test.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::binary::Binary;
use super::decision::Decisions;
use super::error::HostError;
use super::library::Tested;
use crate::testing::Scenario;

/// Time of the decisions by default: 2000-01-01T00:00:00Z. A result must not depend on the day of the test.
const TIME: i64 = 946_684_800_000;

/// Manifests to decide in whole cycles: by the real scheduler, with the bundled plugins around the library under test.
///
/// The library is the one of the crate that the test is in. It is built with the profile of the test. The scheduler is
/// the binary that the environment variable `DIVVY` names, otherwise `divvy` on the PATH. Paths are relative to the
/// folder of the crate.
///
/// ```no_run
/// use divvy_framework::testing::Scenario;
///
/// let decisions = Scenario::from_files(["manifests"]).decide().unwrap();
/// let web = decisions.binding("shop/web-deployment");
/// assert_eq!(web.shares(), [("berlin", 8), ("dallas", 1)]);
/// assert_eq!(web.rejections(), []);
/// ```
#[derive(Debug, Clone)]
#[must_use = "`decide` runs the scheduler"]
pub struct WholeCycle {
    text: Option<String>,
    files: Vec<PathBuf>,
    profile: Option<String>,
    strategy: Option<String>,
    seed: Option<u64>,
    time: i64,
    tested: Tested,
}

impl Scenario {
    /// Manifests as YAML or JSON to decide in whole cycles, unlike the steps of a [`Scenario`]: clusters with policies
    /// and workloads, or with bindings. Needs the binary `divvy`; see [`WholeCycle`].
    pub fn from_yaml(manifests: &str) -> WholeCycle {
        WholeCycle {
            text: Some(manifests.to_owned()),
            files: Vec::new(),
            profile: None,
            strategy: None,
            seed: None,
            time: TIME,
            tested: Tested::default(),
        }
    }

    /// As [`Self::from_yaml`], with manifests in files, or in all files of folders.
    pub fn from_files<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> WholeCycle {
        let empty = WholeCycle {
            text: None,
            ..Self::from_yaml("")
        };
        empty.and_files(paths)
    }
}

impl WholeCycle {
    /// Adds manifests in files, or in all files of folders.
    pub fn and_files<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        self.files
            .extend(paths.into_iter().map(|path| path.as_ref().to_owned()));
        self
    }

    /// Sets the profile: a file, `FILE#NAME`, or one that is built in. By default, `profile.toml` in the folder of the
    /// crate if it exists, otherwise the built-in profile. If the profile does not use the plugin, it is added at its
    /// extension points.
    pub fn profile(mut self, profile: &str) -> Self {
        self.profile = Some(profile.to_owned());
        self
    }

    /// Divides every binding with this strategy, regardless of its policy.
    pub fn strategy(mut self, strategy: &str) -> Self {
        self.strategy = Some(strategy.to_owned());
        self
    }

    /// Breaks ties with this seed instead of the profile's.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the time of the decisions, in milliseconds since 1970. 2000-01-01T00:00:00Z by default.
    pub fn time(mut self, milliseconds: i64) -> Self {
        self.time = milliseconds;
        self
    }

    /// Builds the library with these features of the crate, as cargo takes them. By default those of `divvy plugin test
    /// --features`, if it runs the test.
    pub fn features(mut self, features: &str) -> Self {
        self.tested.features = Some(features.to_owned());
        self
    }

    /// Tests the library in this file instead of the crate's own.
    pub fn library(mut self, file: impl AsRef<Path>) -> Self {
        self.tested.library = Some(file.as_ref().to_owned());
        self
    }

    /// Decides all bindings. A binding that cannot be scheduled also has a decision.
    ///
    /// # Errors
    ///
    /// No decision at all: the binary is not found, the library cannot be built, or the scheduler refuses the
    /// manifests, the profile or the plugin. The error has the scheduler's message, with file and line.
    pub fn decide(&self) -> Result<Decisions, HostError> {
        let folder = self.tested.folder()?;
        let binary = Binary::find();
        let printed = binary.run(
            &folder,
            &self.arguments(&folder)?,
            self.text.as_deref().unwrap_or_default(),
        )?;
        if printed.output.trim().is_empty() {
            return Err(printed.refused());
        }
        Decisions::read(&printed.output, printed.messages).map_err(|source| HostError::Unreadable {
            command: printed.command,
            source,
            output: printed.output,
        })
    }

    fn arguments(&self, folder: &Path) -> Result<Vec<OsString>, HostError> {
        let mut arguments: Vec<OsString> = ["schedule", "--explain", "-o=json"].map(OsString::from).to_vec();
        if self.text.is_some() {
            arguments.extend(["-f".into(), "-".into()]);
        }
        for file in &self.files {
            arguments.extend(["-f".into(), file.into()]);
        }
        arguments.extend(["--plugin".into(), self.tested.path()?.into()]);
        arguments.extend(profile_argument(self.profile.as_deref(), folder));
        arguments.extend(
            self.strategy
                .iter()
                .map(|strategy| format!("--strategy={strategy}").into()),
        );
        arguments.extend(self.seed.iter().map(|seed| format!("--seed={seed}").into()));
        arguments.push(format!("--time={}", self.time).into());
        Ok(arguments)
    }
}

/// The argument for a profile: the one that a test names, otherwise `profile.toml` in the folder of the crate if it
/// exists.
pub(super) fn profile_argument(profile: Option<&str>, folder: &Path) -> Option<OsString> {
    match profile {
        Some(profile) => Some(format!("--profile={profile}").into()),
        None if folder.join("profile.toml").is_file() => Some("--profile=profile.toml".into()),
        None => None,
    }
}
