//! The checks of `divvy plugin verify`, as one line of a test.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::binary::Binary;
use super::error::HostError;
use super::library::Tested;
use super::whole_cycle::profile_argument;

/// The checks of `divvy plugin verify` on the library under test: every contract of its extension points and every
/// promise, on edge cases and on random ones.
///
/// The library and the scheduler are those of a [`WholeCycle`](super::WholeCycle).
///
/// ```no_run
/// divvy_framework::testing::Verification::new().passes();
/// ```
#[derive(Debug, Clone, Default)]
#[must_use = "`passes` makes the checks"]
pub struct Verification {
    profile: Option<String>,
    seed: Option<u64>,
    runs: Option<u64>,
    clusters: Option<u64>,
    cases: Vec<PathBuf>,
    checks: Vec<String>,
    tested: Tested,
}

impl Verification {
    /// All checks that apply to the library, with the settings of `divvy plugin verify`.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the profile, as [`WholeCycle::profile`](super::WholeCycle::profile) does: the configuration that will run.
    pub fn profile(mut self, profile: &str) -> Self {
        self.profile = Some(profile.to_owned());
        self
    }

    /// Sets the seed of the random cases. 1 by default.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the number of random cases per check. 2,000 by default.
    pub fn runs(mut self, runs: u64) -> Self {
        self.runs = Some(runs);
        self
    }

    /// Sets the number of clusters of the largest case. 5,000 by default.
    pub fn clusters(mut self, clusters: u64) -> Self {
        self.clusters = Some(clusters);
        self
    }

    /// Adds the bindings in a file of manifests as further cases.
    pub fn cases(mut self, file: impl AsRef<Path>) -> Self {
        self.cases.push(file.as_ref().to_owned());
        self
    }

    /// Makes only this check, and the checks of further calls.
    pub fn check(mut self, name: &str) -> Self {
        self.checks.push(name.to_owned());
        self
    }

    /// Builds the library with these features of the crate, as cargo takes them. By default those of `divvy plugin test
    /// --features`, if it runs the test.
    pub fn features(mut self, features: &str) -> Self {
        self.tested.features = Some(features.to_owned());
        self
    }

    /// Verifies the library in this file instead of the crate's own.
    pub fn library(mut self, file: impl AsRef<Path>) -> Self {
        self.tested.library = Some(file.as_ref().to_owned());
        self
    }

    /// Makes the checks.
    ///
    /// # Panics
    ///
    /// If a contract is broken, with the report: the table of checks, and the path of the smallest failing case, in the
    /// folder `divvy-verify` beside the library. Also if the checks cannot be made, with the reason.
    #[track_caller]
    pub fn passes(&self) {
        if let Err(error) = self.run() {
            panic!("{error}");
        }
    }

    fn run(&self) -> Result<(), HostError> {
        let folder = self.tested.folder()?;
        let library = self.tested.path()?;
        let printed = Binary::find().run(&folder, &self.arguments(&library, &folder), "")?;
        match printed.status.success() {
            true => Ok(()),
            false => Err(printed.refused()),
        }
    }

    fn arguments(&self, library: &Path, folder: &Path) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = ["plugin", "verify"].map(OsString::from).to_vec();
        arguments.push(library.into());
        arguments.extend(profile_argument(self.profile.as_deref(), folder));
        for (name, number) in [("seed", self.seed), ("runs", self.runs), ("clusters", self.clusters)] {
            arguments.extend(number.map(|number| format!("--{name}={number}").into()));
        }
        for path in &self.cases {
            arguments.extend(["--cases".into(), path.into()]);
        }
        arguments.extend(self.checks.iter().map(|check| format!("--check={check}").into()));
        if self.tested.library.is_none() {
            // The kit builds without optimisation, which takes many times as long as the build that will run.
            arguments.push("--max-time=1s".into());
        }
        let failures = library.with_file_name("divvy-verify");
        arguments.extend(["--failures".into(), failures.into()]);
        arguments
    }
}
