//! The arguments of `divvy diff`: sides, changes, limits and lists.

use clap::{Args, ValueEnum};
use divvy_command::setup::ProfileArguments;
use divvy_command::time::TimeArguments;
use divvy_forecast::change::Changes;
use divvy_forecast::choice::{BindingPattern, ClusterChoice};
use divvy_forecast::count::ReplicaCount;
use divvy_forecast::failures::Each;
use divvy_forecast::future::{Explains, Options};
use divvy_manifests::ObjectName;

use crate::command::choosing::ChoosingArguments;
use crate::command::desk::Presentation;
use crate::command::help::{ANSWER, ASSUMPTIONS, DECIDING, HelpArguments, LIMITS};
use crate::command::input::InputArguments;
use crate::command::output::{Output, OutputParser};

const EXAMPLES: &str = "\
Examples:
  # What moves if a cluster is drained
  divvy diff -f dump/ --drain eu-1

  # What Karmada does if a region fails, and whether the rest has room for it
  divvy diff -f dump/ --fail region=europe --max-full 100%

  # What a fleet without the cluster would look like
  divvy diff -f dump/ --without eu-1

  # What happens if the shop's Deployments grow by a half
  divvy diff -f dump/ --replicas 'shop/deployment/*=x1.5'

  # What a changed policy moves; in CI, at most a tenth of all replicas
  divvy diff -f dump/ --overlay policies/ --max-moved 10%

  # What a pull request changes that edits, adds and removes files
  divvy diff -f dump/ --overlay-from main/policies/ --overlay policies/
  divvy diff -f dump/ --delete shop/propagationpolicy/web

  # What moves of some bindings, or on one cluster; all are decided
  divvy diff -f dump/ --drain eu-1 shop/deployment/web
  divvy diff -f dump/ --drain eu-1 --cluster eu-2

  # The same as a page for a browser, which needs no network
  divvy diff -f dump/ --drain eu-1 -o html > report.html

  # What another profile would decide otherwise
  divvy diff -f dump/ --base production.toml --profile next.toml --reschedule all

  # What a new build of a plugin would decide otherwise
  divvy diff -f dump/ --plugin new/libdivvy_plugin_average.so --reschedule all

  # Which cluster hurts most if it fails, and which hurts the shop most
  divvy diff -f dump/ --without-each cluster
  divvy diff -f dump/ --without-each cluster -n shop --top 5

  # A forecast with thousands of lines: by namespace, or the ten bindings that move most
  divvy diff -f dump/ --fail region=europe --sum namespace
  divvy diff -f dump/ --fail region=europe --top 10

  # What a drain leaves waiting, and which moves of others would place it
  divvy diff -f dump/ --drain eu-1 --place-pending

  # A comment on a pull request
  divvy diff -f dump/ --overlay-from main/policies/ --overlay policies/ -o markdown

Clusters are chosen by name or glob (`eu-*`), or as `region=`, `zone=`, `provider=` or \
`label:KEY=VALUE`. Bindings are chosen as `BINDING`, `NAMESPACE/BINDING`, `KIND/NAME` or \
`NAMESPACE/KIND/NAME`, with globs.

Both futures start from the assigned clusters, and both decide a binding only where a live \
scheduler would: a satisfied binding stays where it is. `--latent` lists what a reschedule of the \
others would change.";

const EXIT_CODES: &str = "\
Exit codes, the highest that applies:
  0  nothing is lost, and nothing is newly missing but copies of duplicated workloads that run elsewhere
  1  replicas are lost, stranded, down or newly missing, a binding can no longer be scheduled or becomes \
invalid, a limit (`--max-moved`, `--max-removed`, `--max-missing`, `--max-full`) is exceeded, or, with \
`--exit-code`, anything changes
  2  wrong usage, profile, plugin or input; with `--strict` or without changes, an invalid binding
  3  a plugin failed, or Divvy itself";

/// The end of the short page.
const SUMMARY: &str = "\
Examples:
  divvy diff -f dump/ --drain eu-1
  divvy diff -f dump/ --fail region=europe --max-full 100%
  divvy diff -f dump/ --overlay policies/ --max-moved 10%
  divvy diff -f dump/ --without-each cluster --top 5

Exit codes: 0 nothing is lost, 1 something is lost, missing or beyond a limit, 2 wrong usage or input, 3 Divvy failed.
`divvy help diff` has every option in full, more examples, and how clusters and bindings are chosen.";

/// Heading of the options that are changes.
const CHANGES: &str = "Changes";

/// Show what would move if clusters, workloads or policies changed.
///
/// Decides every binding twice, without and with the changes, and prints the difference. Without changes, it prints the
/// moves that are pending anyway. Changes nothing in any cluster.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"), after_help = SUMMARY)]
pub(in crate::command) struct DiffArguments {
    #[command(flatten)]
    pub(super) situation: SituationArguments,
    #[command(flatten, next_help_heading = DECIDING)]
    pub(super) profile: ProfileArguments,
    /// Profile of the left side; without it, the left side has the profile and strategy of the right
    #[arg(long, value_name = "PROFILE", help_heading = DECIDING)]
    pub(super) base: Option<String>,
    /// Divide every binding on the right side with this strategy, as if its policy named it
    #[arg(long, value_name = "STRATEGY", value_hint = clap::ValueHint::Other, help_heading = DECIDING)]
    pub(super) strategy: Option<String>,
    /// List satisfied bindings that a reschedule would place differently
    #[arg(long, conflicts_with = "without_each", help_heading = ANSWER)]
    pub(super) latent: bool,
    /// List replicas on clusters whose filters would refuse a newcomer today
    #[arg(long, conflicts_with = "without_each", help_heading = ANSWER)]
    pub(super) violations: bool,
    /// Show which moves of others would place what waits after the changes
    ///
    /// Lists who is placed, who moves for it, and why the rest waits. Moves are found in chains of at most two, each decided by the workload's own plugins. Nothing else changes, and nothing loses a
    /// replica. `divvy rebalance` plans all workloads at once. The limits and the exit code are those of the changes alone.
    #[arg(long, conflicts_with_all = ["without_each", "cluster", "no_assume"], help_heading = ANSWER)]
    pub(super) place_pending: bool,
    /// Show the loss of each single cluster, region, zone or provider, worst first, in addition to the changes
    #[arg(long, value_name = "WHAT", value_enum, conflicts_with = "cluster", help_heading = ANSWER)]
    pub(super) without_each: Option<LossOfEach>,
    /// Exit with 1 if more replicas than this move: `40`, or `10%` of all
    #[arg(
        long,
        value_name = "N|P%",
        conflicts_with = "without_each",
        allow_negative_numbers = true,
        help_heading = LIMITS
    )]
    pub(super) max_moved: Option<ReplicaLimit>,
    /// Exit with 1 if decisions remove more replicas than this: `40` or `10%`
    #[arg(
        long,
        value_name = "N|P%",
        conflicts_with = "without_each",
        allow_negative_numbers = true,
        help_heading = LIMITS
    )]
    pub(super) max_removed: Option<ReplicaLimit>,
    /// Exit with 1 if more replicas are newly missing: `40` or `10%`
    ///
    /// Missing are replicas that workloads ask for and that run nowhere: below the full count of a quorum, of a workload that waits, lost,
    /// and in copies of a duplicated workload. Without this limit, none may be newly missing, except for copies of a duplicated workload
    /// that runs on other clusters. With `--without-each`, it is the limit of each loss.
    #[arg(long, value_name = "N|P%", allow_negative_numbers = true, help_heading = LIMITS)]
    pub(super) max_missing: Option<ReplicaLimit>,
    /// Exit with 1 if a cluster gains and is then fuller than this share of any resource, such as `100%`
    #[arg(long, value_name = "P%", allow_negative_numbers = true, help_heading = LIMITS)]
    pub(super) max_full: Option<FullLimit>,
    /// Exit with 1 if anything changes
    #[arg(long, conflicts_with = "without_each", help_heading = LIMITS)]
    pub(super) exit_code: bool,
    /// Exit with 2 if a binding is invalid without the changes as well
    #[arg(long, help_heading = LIMITS)]
    pub(super) strict: bool,
    /// Print the sums of each namespace or policy instead of every binding
    #[arg(long, value_name = "WHAT", value_enum, conflicts_with_all = ["without_each", "cluster"], help_heading = ANSWER)]
    pub(super) sum: Option<SumOf>,
    /// Print at most this many bindings, sums or losses; all count
    #[arg(long, value_name = "N", conflicts_with = "cluster", help_heading = ANSWER)]
    pub(super) top: Option<usize>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_parser = OutputParser::WITH_PAGE_AND_MARKDOWN, default_value = "table", help_heading = ANSWER)]
    pub(super) output: Output,
    #[command(flatten)]
    _help: HelpArguments,
}

/// The input, and the changes to it before anything is decided.
#[derive(Debug, Args)]
pub(in crate::command) struct SituationArguments {
    #[command(flatten)]
    pub(in crate::command) input: InputArguments,
    #[command(flatten)]
    pub(in crate::command) changes: ChangeArguments,
    #[command(flatten)]
    pub(in crate::command) choosing: ChoosingArguments,
    #[command(flatten, next_help_heading = ASSUMPTIONS)]
    pub(in crate::command) time: TimeArguments,
    /// Evict bindings from clusters that have NoExecute taints in the input
    #[arg(long, help_heading = ASSUMPTIONS)]
    pub(in crate::command) evict_no_execute: bool,
    /// Treatment of replicas on clusters that the input lacks
    #[arg(long, value_name = "HOW", value_enum, default_value_t = MissingClusters::Error, help_heading = ASSUMPTIONS)]
    pub(in crate::command) missing_clusters: MissingClusters,
    /// Decide each binding on its own, without counting the new replicas of others as used
    #[arg(long, help_heading = ASSUMPTIONS)]
    pub(in crate::command) no_assume: bool,
}

/// The changes. Each may be repeated; their order does not matter.
#[derive(Debug, Clone, Default, Args)]
pub(in crate::command) struct ChangeArguments {
    /// Cordon clusters: a NoSchedule taint keeps newcomers away
    #[arg(long, value_name = "CLUSTERS", help_heading = CHANGES)]
    pub(super) cordon: Vec<ClusterChoice>,
    /// Drain clusters: a NoExecute taint evicts every binding that does not tolerate it
    #[arg(long, value_name = "CLUSTERS", help_heading = CHANGES)]
    pub(super) drain: Vec<ClusterChoice>,
    /// Fail clusters: they stay in Karmada, which evicts bindings that do not tolerate their taints for good
    ///
    /// A failed cluster gets the taints `cluster.karmada.io/not-ready` with the effects NoSchedule and NoExecute. Bindings leave it
    /// when their tolerations have run out, with a graceful eviction task that keeps them away. Those that tolerate the taints for
    /// good stay, and their replicas there are counted as down. Karmada does this if something taints failed clusters NoExecute, such
    /// as a ClusterTaintPolicy, and its controller manager runs with `--enable-no-execute-taint-eviction`.
    #[arg(long, value_name = "CLUSTERS", help_heading = CHANGES)]
    pub(super) fail: Vec<ClusterChoice>,
    /// Remove clusters, as if they had never been: policies that name them may become invalid
    #[arg(long, value_name = "CLUSTERS", help_heading = CHANGES)]
    pub(super) without: Vec<ClusterChoice>,
    /// Scale bindings to a count: `12` replicas, `+3` or `+50%` more, or `x1.5` times, rounded up
    #[arg(long, value_name = "PATTERN=COUNT", value_parser = scaling, help_heading = CHANGES)]
    pub(super) replicas: Vec<(BindingPattern, ReplicaCount)>,
    /// Reschedule bindings from scratch
    #[arg(long, value_name = "PATTERN|all", value_parser = rescheduling, help_heading = CHANGES)]
    pub(super) reschedule: Vec<BindingPattern>,
    /// Manifests laid over the input: a file or folder
    #[arg(long, value_name = "PATH", help_heading = CHANGES)]
    pub(super) overlay: Vec<String>,
    /// The earlier state of `--overlay`: objects that it has and the overlay lacks are deleted
    #[arg(long, value_name = "PATH", requires = "overlay", help_heading = CHANGES)]
    pub(super) overlay_from: Vec<String>,
    /// Take the status of clusters in `--overlay`, too, such as their capacity
    ///
    /// Without it, the status in the input counts.
    #[arg(long, requires = "overlay", help_heading = CHANGES)]
    pub(super) overlay_status: bool,
    /// Delete a policy or a workload: `KIND/NAME`, `NAMESPACE/KIND/NAME` or `KIND/NAMESPACE/NAME`
    ///
    /// `'KIND NAMESPACE/NAME'`, as messages write it, is the same. As in Karmada, a deleted policy leaves its bindings as they are, unless
    /// another policy claims their workloads. A deleted workload takes its binding with it.
    #[arg(long, value_name = "KIND/NAME", help_heading = CHANGES)]
    pub(super) delete: Vec<DeletedObject>,
}

/// An object to delete, as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DeletedObject {
    text: String,
    /// The names that it can mean: three parts begin with the namespace or, as in messages, with the kind.
    readings: Vec<DeletedName>,
}

/// One meaning of the text of [`DeletedObject`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DeletedName {
    namespace: Option<String>,
    kind: String,
    name: String,
}

impl std::str::FromStr for DeletedObject {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let reading = |namespace: Option<&str>, kind: &str, name: &str| DeletedName {
            namespace: namespace.map(str::to_owned),
            kind: kind.to_owned(),
            name: name.to_owned(),
        };
        // Tables and notes write a space after the kind, which then comes first.
        let (kind, rest) = text
            .split_once(' ')
            .map_or((None, text), |(kind, rest)| (Some(kind), rest));
        let parts: Vec<&str> = kind.into_iter().chain(rest.split('/')).collect();
        let readings = match parts[..] {
            _ if parts.contains(&"") => Vec::new(),
            [kind, name] => vec![reading(None, kind, name)],
            [first, second, name] if kind.is_some() => vec![reading(Some(second), first, name)],
            [first, second, name] => vec![reading(Some(first), second, name), reading(Some(second), first, name)],
            _ => Vec::new(),
        };
        match readings.is_empty() {
            true => Err("expected `KIND/NAME`, `NAMESPACE/KIND/NAME` or `KIND/NAMESPACE/NAME`".to_owned()),
            false => Ok(Self {
                text: text.to_owned(),
                readings,
            }),
        }
    }
}

impl std::fmt::Display for DeletedObject {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl DeletedObject {
    /// The names that it can mean.
    pub(super) fn readings(&self) -> &[DeletedName] {
        &self.readings
    }
}

impl DeletedName {
    /// True if this is an object's name. The case of the kind does not matter.
    pub(super) fn is(&self, object: &ObjectName) -> bool {
        self.name == object.name
            && self.kind.eq_ignore_ascii_case(&object.kind)
            && self
                .namespace
                .as_ref()
                .is_none_or(|namespace| *namespace == object.namespace)
    }
}

/// Treatment of replicas on clusters that the input lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::command) enum MissingClusters {
    /// Refuse the input, and name the clusters
    Error,
    /// Count the replicas as lost, as if the clusters had just been removed
    Lost,
}

/// Groups of clusters to lose, one at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::command) enum LossOfEach {
    Cluster,
    Region,
    Zone,
    Provider,
}

/// What moves are summed up by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum SumOf {
    Namespace,
    Policy,
}

impl SumOf {
    /// The word in JSON.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Namespace => "namespace",
            Self::Policy => "policy",
        }
    }
}

/// Replicas that may move, be removed, or be missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplicaLimit {
    Replicas(i64),
    /// In hundredths of all replicas.
    Percent(i64),
}

/// Share of a resource of a cluster that may be used, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FullLimit(pub(super) i64);

impl std::str::FromStr for FullLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = text.strip_suffix('%').and_then(whole_number);
        let percent = parsed.ok_or_else(|| "expected a share such as `100%`".to_owned())?;
        Ok(Self(i64::from(percent)))
    }
}

impl std::str::FromStr for ReplicaLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parsed = whole_number(text.strip_suffix('%').unwrap_or(text));
        let number = parsed.ok_or_else(|| "expected a number such as `40`, or a share such as `10%`".to_owned())?;
        Ok(match text.ends_with('%') {
            true => Self::Percent(i64::from(number)),
            false => Self::Replicas(i64::from(number)),
        })
    }
}

/// A number of digits alone, without a sign.
fn whole_number(text: &str) -> Option<u32> {
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

impl ReplicaLimit {
    pub(super) fn is_exceeded(self, count: i64, replicas: i64) -> bool {
        match self {
            Self::Replicas(most) => count > most,
            Self::Percent(most) => i128::from(count) * 100 > i128::from(replicas) * i128::from(most),
        }
    }
}

/// Parses `PATTERN=COUNT`.
fn scaling(text: &str) -> Result<(BindingPattern, ReplicaCount), String> {
    let (pattern, count) = text
        .rsplit_once('=')
        .ok_or_else(|| "expected `PATTERN=N`, `PATTERN=+N`, `PATTERN=+P%` or `PATTERN=xF`".to_owned())?;
    let pattern = pattern.parse().map_err(|error| format!("{error}"))?;
    let count = count.parse().map_err(|error| format!("{error}"))?;
    Ok((pattern, count))
}

/// Parses a pattern, or `all`.
fn rescheduling(text: &str) -> Result<BindingPattern, String> {
    match text {
        "all" => Ok(BindingPattern::all()),
        pattern => pattern.parse().map_err(|error| format!("{error}")),
    }
}

impl SituationArguments {
    /// How an answer about the situation is presented.
    pub(in crate::command) fn presentation<'a>(&self, output: &'a Output) -> Presentation<'a> {
        Presentation {
            output,
            is_quiet: self.choosing.quiet,
            time: self.time.clone(),
        }
    }

    /// The settings with which everything is decided. Reads the clock, so that a command calls it once.
    pub(in crate::command) fn options(&self, explains: Explains) -> Options {
        Options {
            assumes: !self.no_assume,
            explains,
            threads: divvy_parallel::threads(),
            time: Some(self.time.milliseconds()),
        }
    }
}

impl DiffArguments {
    /// The plugins and changes of the right side, as on the command line, sorted.
    pub(super) fn changes(&self) -> Vec<String> {
        let plugins = self.profile.plugins().iter().map(|plugin| format!("--plugin {plugin}"));
        plugins.chain(self.situation.changes.texts()).collect()
    }
}

impl ChangeArguments {
    pub(in crate::command) fn changes(&self) -> Changes {
        Changes {
            cordon: self.cordon.clone(),
            drain: self.drain.clone(),
            fail: self.fail.clone(),
            without: self.without.clone(),
            replicas: self.replicas.clone(),
            reschedule: self.reschedule.clone(),
        }
    }

    /// The changes as on the command line, sorted, so that their order does not matter.
    pub(in crate::command) fn texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        texts.extend(self.cordon.iter().map(|choice| format!("--cordon {choice}")));
        texts.extend(self.drain.iter().map(|choice| format!("--drain {choice}")));
        texts.extend(self.fail.iter().map(|choice| format!("--fail {choice}")));
        texts.extend(self.without.iter().map(|choice| format!("--without {choice}")));
        let replicas = self.replicas.iter();
        texts.extend(replicas.map(|(pattern, count)| format!("--replicas {pattern}={count}")));
        texts.extend(self.reschedule.iter().map(|pattern| match pattern {
            // The word on the command line; a shell would expand the glob.
            pattern if *pattern == BindingPattern::all() => "--reschedule all".to_owned(),
            pattern => format!("--reschedule {pattern}"),
        }));
        texts.extend(self.overlay.iter().map(|path| format!("--overlay {path}")));
        texts.extend(self.overlay_from.iter().map(|path| format!("--overlay-from {path}")));
        texts.extend(self.overlay_status.then(|| "--overlay-status".to_owned()));
        texts.extend(self.delete.iter().map(|object| format!("--delete {object}")));
        texts.sort();
        texts.dedup();
        texts
    }
}

impl From<LossOfEach> for Each {
    fn from(each: LossOfEach) -> Self {
        match each {
            LossOfEach::Cluster => Self::Cluster,
            LossOfEach::Region => Self::Region,
            LossOfEach::Zone => Self::Zone,
            LossOfEach::Provider => Self::Provider,
        }
    }
}
