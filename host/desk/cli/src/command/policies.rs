//! `divvy policies`: policies that govern nothing, or that name what does not exist, and bindings without their policy.

use std::collections::BTreeSet;

use clap::{Args, ValueEnum};
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure, headline, location};
use divvy_command::exit::Exit;
use divvy_command::style;
use divvy_command::time::TimeArguments;
use divvy_forecast::glob::matches_parts;
use divvy_forecast::policies::document::{Code, Finding, PoliciesDocument, PolicyTotals, Severity};
use divvy_forecast::policies::{Subjects, review};
use divvy_karmada::api::{PropagationPolicy, TypeMeta};
use divvy_karmada::detector::Detected;
use divvy_karmada::workloads::WorkloadKinds;
use divvy_manifests::{Located, Manifests, Source, WorkloadLabels};

use super::choosing::keep_top;
use super::desk::{Answer, Document, Presentation, Question};
use super::diff::Overlays;
use super::effects::beside;
use super::input::{InputArguments, LeftOut};
use super::origin::Origin;
use super::output::{Output, OutputParser};
use crate::report::format::Printed;
use crate::report::policies::{self as report, Hidden};
use crate::report::{sheets, warnings};

const EXAMPLES: &str = "\
Examples:
  # Policies that do nothing, or name what does not exist
  divvy policies -f dump/
  divvy policies --kubeconfig karmada.config

  # What a pull request leads to; in CI, fail only if something cannot be scheduled or has lost its policy
  divvy policies -f dump/ --overlay-from main/policies/ --overlay policies/ --new --severity error -q

  # All policies with what they select and govern; also overlaps
  divvy policies -f dump/ --severity info -o wide

  # As a comment on a pull request, at most 30 findings
  divvy policies -f dump/ -o markdown --top 30

  # The policies of one namespace that are dead, as arguments for kubectl
  divvy policies -f dump/ -n shop -o jsonpath='{range .findings[?(@.code==\"dead\")]}{.object}{\"\\n\"}{end}'

Errors:
  no-cluster       no cluster matches the placement
  too-few-groups   its clusters have fewer regions, zones and so on than a spread constraint requires
  invalid-annotation
                   no profile can read one of its annotations, such as a quorum of `101%`
  policy-gone      bindings are claimed by a policy that the input lacks
Warnings:
  dead             selects nothing and governs nothing
  shadowed         everything that it selects belongs to other policies
  dead-selector    some of its selectors match nothing
  empty-group      no cluster matches one of its affinity groups
  unknown-cluster, unknown-label, unknown-region, unknown-zone, unknown-provider
                   its placement names what no cluster has
  no-policy        bindings that no policy claims
  stale-claim      bindings are claimed by an earlier policy of the same name
  quota-exceeded   a FederatedResourceQuota is exceeded, or refuses results if it is enforced
  overridden-replicas
                   an override policy sets other replicas than results have
  suspended        dispatching is suspended, so that results are not applied
  missing-override it waits for `dependentOverrides` that the input lacks
  full-by-models   resource models count no node that is large enough, though the summary has room
Info:
  overlap          some of what it selects belongs to other policies

A policy selects an object if one of its selectors matches it. It governs the object if the claim on it is its own or, \
without a claim, if it comes first: a PropagationPolicy before any ClusterPropagationPolicy, then the higher priority, then \
the selector that names the object, then the one with labels, then the name in alphabetical order. A claim lasts as \
long as its policy selects the object: preemption is not forecast, and a hint says where it would decide.

Only what the input has is known. Include workloads, or bindings, which name them; labels of workloads are known only \
if the workloads are in the input or `--kubeconfig` may list them.

Exit codes, the highest that applies:
  0  no findings of `--severity` or worse
  1  findings
  2  wrong usage or input
  3  Divvy itself failed";

/// Find policies that do nothing or name what does not exist, and bindings without their policy.
///
/// Reads policies, bindings, workloads and clusters. Decides nothing and changes nothing.
#[derive(Debug, Args)]
#[command(after_long_help = EXAMPLES, after_help = "See `--help` for the findings, examples and exit codes.")]
pub(super) struct PoliciesArguments {
    /// Policies to report on: `NAME` or `NAMESPACE/NAME`, with globs; all by default
    #[arg(value_name = "POLICY")]
    policies: Vec<String>,
    #[command(flatten)]
    input: InputArguments,
    /// Manifests laid over the input: a file or folder
    #[arg(long, value_name = "PATH")]
    overlay: Vec<String>,
    /// The earlier state of `--overlay`: objects that it has and the overlay lacks are deleted
    #[arg(long, value_name = "PATH", requires = "overlay")]
    overlay_from: Vec<String>,
    /// Report only findings that the input does not have without the overlay
    #[arg(long, requires = "overlay")]
    new: bool,
    /// Report only on policies and bindings in this namespace
    #[arg(long, short, value_name = "NAMESPACE")]
    namespace: Option<String>,
    /// Mildest findings that are reported and count for the exit code
    #[arg(long, value_name = "SEVERITY", value_enum, default_value_t = LeastSeverity::Warning)]
    severity: LeastSeverity,
    /// Print at most this many findings, the worst first; all count
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Print nothing but errors: the exit code is the answer
    #[arg(long, short, conflicts_with = "output")]
    quiet: bool,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", value_parser = OutputParser::WITH_PAGE_AND_MARKDOWN, default_value = "table")]
    output: Output,
}

/// Mildest severity that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LeastSeverity {
    Error,
    Warning,
    Info,
}

impl From<LeastSeverity> for Severity {
    fn from(least: LeastSeverity) -> Self {
        match least {
            LeastSeverity::Error => Self::Error,
            LeastSeverity::Warning => Self::Warning,
            LeastSeverity::Info => Self::Info,
        }
    }
}

/// The manifests with the overlays, and the bindings that they have.
pub(super) struct Input {
    manifests: Manifests,
    /// The policies, which detection takes out of the manifests.
    policies: Vec<Located<PropagationPolicy>>,
    detected: Detected,
    labels: WorkloadLabels,
    origin: Origin,
    left_out: LeftOut,
    /// The findings without the overlay, if they are not to be reported.
    known: Vec<Finding>,
}

/// The review, with the chosen policies and findings alone.
pub(super) struct Reviewed {
    document: PoliciesDocument,
    hidden: Hidden,
}

impl Question for PoliciesArguments {
    const COMMAND: &'static str = "policies";
    type Input = Input;
    type Decided = Reviewed;

    fn read(&self, console: &Console) -> Result<Input, Failure> {
        let kinds = WorkloadKinds::default();
        let (mut manifests, mut origin) = self.input.read(&kinds, false)?;
        let paths = (&self.overlay[..], &self.overlay_from[..]);
        let mut overlays = Overlays::of_paths(paths, self.input.validate, &kinds, false);
        overlays.files().for_each(|files| origin.add_files(files));
        let mut problems = manifests.problems.clone();
        problems.extend(overlays.problems());
        let left_out = self.input.judge(&problems, console)?;
        manifests.warnings.append(&mut overlays.take_warnings());
        let known = match self.new {
            true => self.known(manifests.clone(), console)?,
            false => Vec::new(),
        };
        overlays.lay_over(&mut manifests)?;
        if manifests.policies.is_empty() {
            let hint = "a dump of a control plane has them with \
                        `kubectl get clusters,propagationpolicies,clusterpropagationpolicies,resourcebindings,clusterresourcebindings -A -o yaml`";
            let diagnostic = Diagnostic::new("there is nothing to review: the input has no policies");
            return Err(Failure::usage(diagnostic.with_hint(hint)));
        }
        let labels = self.labels(&manifests, console)?;
        let policies = manifests.policies.clone();
        Ok(Input {
            detected: manifests.detect(kinds),
            manifests,
            policies,
            labels,
            origin,
            left_out,
            known,
        })
    }

    fn decide(&self, input: &mut Input, console: &Console) -> Result<Reviewed, Failure> {
        let (manifests, detected) = (&input.manifests, &input.detected);
        if !self.quiet {
            warnings::report(manifests, detected, &[], console);
        }
        let mut document = reviewed(manifests, &input.policies, detected, &input.labels);
        if self.new {
            keep_new(&mut document, &input.known);
        }
        let hidden = self.choose(&mut document)?;
        document.totals.left_out = input.left_out.objects;
        Ok(Reviewed { document, hidden })
    }

    fn answer<'a>(&'a self, input: &'a Input, reviewed: &'a mut Reviewed, _: &Console) -> Result<Answer<'a>, Failure> {
        let Reviewed { document, hidden } = reviewed;
        let (document, hidden) = (&*document, *hidden);
        let exit = match document.findings.is_empty() && hidden.beyond_top == 0 {
            true => Exit::Success,
            false => Exit::Unschedulable,
        };
        Ok(Answer {
            exit: exit.max(input.left_out.exit),
            errors: Vec::new(),
            notes: document.notes.clone(),
            document: match self.output.is_page() {
                true => Document::Sheet(Box::new(sheets::policies(document, hidden.beyond_top + hidden.milder))),
                false => Document::Content(Box::new(Printed::new(
                    document,
                    |document| names(&document.findings),
                    move |document, out, layout| report::write(document, self.output.is_wide(), hidden, out, layout),
                ))),
            },
            origin: &input.origin,
            closing: Box::new(|_| ()),
        })
    }

    fn presentation(&self) -> Presentation<'_> {
        Presentation {
            output: &self.output,
            is_quiet: self.quiet,
            time: TimeArguments::default(),
        }
    }
}

/// The review of policies, which detection has taken out of the manifests.
fn reviewed(
    manifests: &Manifests,
    policies: &[Located<PropagationPolicy>],
    detected: &Detected,
    labels: &WorkloadLabels,
) -> PoliciesDocument {
    review(&Subjects {
        policies: policies
            .iter()
            .map(|policy| (&policy.object, location(&policy.source)))
            .collect(),
        annotation_location: &|policy, annotation| {
            let policy = policies.get(policy)?;
            let line = policy.annotation_lines.get(annotation).copied();
            Some(location(&Source {
                line: line.unwrap_or(policy.source.line),
                ..policy.source.clone()
            }))
        },
        bindings: &detected.bindings,
        labels: &|binding| labels.for_binding(&binding.object),
        unmatched: &detected.unmatched,
        reserved: &detected.reserved,
        clusters: manifests.clusters.iter().map(|cluster| &cluster.object).collect(),
        beside: beside(manifests),
    })
}

/// Leaves only findings that are not known, in the totals as well.
fn keep_new(document: &mut PoliciesDocument, known: &[Finding]) {
    document.findings.retain(|finding| !is_known(finding, known));
    let count = |severity: Severity| {
        let findings = document.findings.iter();
        findings.filter(|finding| finding.severity == severity).count()
    };
    document.totals = PolicyTotals {
        errors: count(Severity::Error),
        warnings: count(Severity::Warning),
        infos: count(Severity::Info),
        ..document.totals
    };
}

/// True if a finding is known: of the same kind, on the same object, and about nothing more.
fn is_known(finding: &Finding, known: &[Finding]) -> bool {
    known.iter().any(|known| {
        // The message alone says which annotation, and its value.
        let is_same_annotation = finding.code != Code::InvalidAnnotation || known.message == finding.message;
        let is_same = known.code == finding.code && known.object == finding.object && is_same_annotation;
        is_same && finding.names.iter().all(|name| known.names.contains(name))
    })
}

impl PoliciesArguments {
    /// The findings of manifests without an overlay.
    fn known(&self, mut manifests: Manifests, console: &Console) -> Result<Vec<Finding>, Failure> {
        let labels = self.labels(&manifests, console)?;
        let policies = manifests.policies.clone();
        let detected = manifests.detect(WorkloadKinds::default());
        Ok(reviewed(&manifests, &policies, &detected, &labels).findings)
    }

    /// The labels of workloads: of the manifests and, if a selector of a policy needs them, of a live control plane.
    fn labels(&self, manifests: &Manifests, console: &Console) -> Result<WorkloadLabels, Failure> {
        let mut labels = WorkloadLabels::of(manifests);
        let policies = manifests.policies.iter();
        let selectors = policies.flat_map(|policy| &policy.object.spec.resource_selectors);
        let by_labels = selectors.filter(|selector| selector.name.is_empty() && selector.label_selector.is_some());
        let by_labels: BTreeSet<TypeMeta> = by_labels
            .map(|selector| TypeMeta {
                api_version: selector.api_version.clone(),
                kind: selector.kind.clone(),
            })
            .collect();
        if by_labels.is_empty() {
            return Ok(labels);
        }
        let live = self.input.live_workloads(&by_labels, None)?;
        for (type_meta, metadata) in &live.workloads {
            labels.add(type_meta, metadata);
        }
        for unlisted in &live.unlisted {
            let cause = &unlisted.source;
            console.message(|out| headline(out, "warning", style::WARNING, &format!("{unlisted}: {cause}")));
        }
        Ok(labels)
    }

    /// Keeps the chosen policies and findings. The totals stay those of everything.
    fn choose(&self, document: &mut PoliciesDocument) -> Result<Hidden, Failure> {
        let known: BTreeSet<&str> = document.policies.iter().map(|row| row.policy.as_str()).collect();
        for pattern in &self.policies {
            if !known.iter().any(|object| is_named(object, pattern)) {
                let diagnostic = Diagnostic::new(format!("no policy matches `{pattern}`"));
                let hint = "policies are chosen as `NAME` or `NAMESPACE/NAME`; quote globs";
                return Err(Failure::usage(diagnostic.with_hint(hint)));
            }
        }
        let is_chosen = |object: &str| {
            let is_named = self.policies.is_empty() || self.policies.iter().any(|pattern| is_named(object, pattern));
            let namespace = self.namespace.as_ref();
            is_named && namespace.is_none_or(|namespace| namespace_of(object) == Some(namespace.as_str()))
        };
        document.policies.retain(|row| is_chosen(&row.policy));
        document.findings.retain(|finding| is_chosen(&finding.object));
        let all = document.findings.len();
        document
            .findings
            .retain(|finding| finding.severity >= self.severity.into());
        let milder = all - document.findings.len();
        let beyond_top = keep_top(&mut document.findings, self.top);
        Ok(Hidden { beyond_top, milder })
    }
}

/// True if a pattern is that of an object such as `PropagationPolicy shop/web`.
fn is_named(object: &str, pattern: &str) -> bool {
    let key = object.split_once(' ').map_or(object, |(_, key)| key);
    let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
    matches_parts(pattern, key) || matches_parts(pattern, name)
}

/// The namespace of an object such as `PropagationPolicy shop/web`, or of `Namespace shop`.
fn namespace_of(object: &str) -> Option<&str> {
    match object.split_once(' ')? {
        ("Namespace", namespace) => Some(namespace),
        (_, key) => key.split_once('/').map(|(namespace, _)| namespace),
    }
}

/// The policies and other objects with findings, each once, as kubectl accepts them.
fn names(findings: &[Finding]) -> Vec<String> {
    let mut known = BTreeSet::new();
    let mut policies = Vec::new();
    for finding in findings.iter().filter(|finding| finding.source.is_some()) {
        let Some((kind, key)) = finding.object.split_once(' ') else {
            continue;
        };
        let name = key.rsplit_once('/').map_or(key, |(_, name)| name);
        if known.insert(&finding.object) {
            let group = match kind {
                "Cluster" => "cluster",
                "ResourceBinding" | "ClusterResourceBinding" => "work",
                _ => "policy",
            };
            policies.push(format!("{}.{group}.karmada.io/{name}", kind.to_lowercase()));
        }
    }
    policies
}
