//! The pages of `-o html` that are tables: of `divvy diff --without-each`, `survive` and `policies`.

use divvy_command::console::Console;
use divvy_command::errors::Failure;
use divvy_command::text::{counted, listed, plural};
use divvy_forecast::document::{FailureRow, FailuresDocument, SideDocument};
use divvy_forecast::planned::Rebalanced;
use divvy_forecast::policies::document::{Code, Finding, PoliciesDocument, PolicyRow, PolicyTotals};
use divvy_forecast::rebalance::document::RebalanceDocument;
use divvy_forecast::survive::document::{LossOfBinding, Remedy, SurviveDocument, SurviveTotals};
use divvy_forecast::verdict::Tone;
use divvy_page::Heading;
use divvy_page::Sheet;
use divvy_page::figure::Figure;
use divvy_page::headline::Headline;
use divvy_page::table::{Bar, Kind, Table, Value};

use super::page::{arguments, print_page};
use super::plan;

/// Maximum number of names in a cell.
const NAMED_MAX: usize = 12;

/// Writes a page to standard output, with what it is about.
///
/// # Errors
///
/// A [`Failure`] with exit code 3 if the page cannot be made or written.
pub(crate) fn print(sheet: Sheet, heading: Heading, console: &Console) -> Result<(), Failure> {
    print_page(divvy_page::render_sheet(&Sheet { heading, ..sheet }), console)
}

/// A sheet without tables.
fn sheet(title: &'static str, side: Option<SideDocument>, headline: Headline, notes: &[String]) -> Sheet {
    Sheet {
        title,
        arguments: arguments(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        heading: Heading::default(),
        side,
        headline,
        tables: Vec::new(),
        notes: notes.to_vec(),
    }
}

fn figure(name: &'static str, label: &'static str, count: usize, detail: &str, tone: Tone) -> Figure {
    Figure {
        name,
        label,
        value: count.to_string(),
        detail: detail.to_owned(),
        tone,
    }
}

/// A count that should be 0.
fn harm(name: &'static str, label: &'static str, count: usize, detail: &str, tone: Tone) -> Figure {
    figure(name, label, count, detail, if count > 0 { tone } else { Tone::Good })
}

/// The page of `divvy diff --without-each`. `beyond_top` losses are left out.
pub(crate) fn without_each(document: &FailuresDocument, beyond_top: usize) -> Sheet {
    let headline = Headline::new(&document.verdict(), figures_of_losses(document));
    Sheet {
        tables: vec![losses(document, beyond_top)],
        ..sheet(
            "What each loss costs",
            Some(document.after.clone()),
            headline,
            &document.notes,
        )
    }
}

fn figures_of_losses(document: &FailuresDocument) -> Vec<Figure> {
    let totals = document.totals;
    let beyond = totals.absorbed_beyond_capacity;
    let harmful = totals.losses - totals.absorbed - beyond;
    let most = |of_row: fn(&FailureRow) -> i64| {
        let counts = document.failures.iter().map(of_row);
        usize::try_from(counts.max().unwrap_or_default()).unwrap_or_default()
    };
    let missing = document.failures.iter().map(|row| row.missing - row.missing_copies);
    let missing_tone = match missing.max() {
        Some(1..) => Tone::Bad,
        _ => Tone::Notable,
    };
    vec![
        harm(
            "harmful",
            "Not absorbed",
            harmful,
            "replicas are lost or missing, or bindings fail",
            Tone::Bad,
        ),
        harm(
            "beyondCapacity",
            "Beyond capacity",
            beyond,
            "absorbed without room",
            Tone::Bad,
        ),
        figure("absorbed", "Absorbed", totals.absorbed, "losses", Tone::Neutral),
        harm(
            "worst",
            "Worst loss",
            most(|row| row.lost),
            "replicas lost at once",
            Tone::Bad,
        ),
        harm(
            "missing",
            "Most missing",
            most(|row| row.missing),
            "replicas at once, with copies of duplicated workloads",
            missing_tone,
        ),
        figure("losses", "Losses", totals.losses, "each alone", Tone::Neutral),
    ]
}

/// The losses, with the fullest cluster after each as a bar.
fn losses(document: &FailuresDocument, beyond_top: usize) -> Table {
    let bars = document.failures.iter().filter_map(|row| {
        let tightest = row.tightest.as_ref()?;
        Some(Bar {
            name: row.name.clone(),
            percent: tightest.percent,
            detail: format!("{} on {}", tightest.resource, tightest.cluster),
        })
    });
    let mut remark = format!(
        "Each {} was lost alone. The fullest cluster after each loss, and what becomes of the replicas that ran there: displaced ones are \
         rehomed, removed or lost. Lost elsewhere are those of failed bindings on clusters that are not lost.",
        document.each
    );
    if beyond_top > 0 {
        let more = plural(beyond_top, "loss", "losses");
        remark.push_str(&format!(
            " Not shown: {beyond_top} more {more}, which --top leaves out."
        ));
    }
    Table {
        title: "Losses",
        remark,
        bars: bars.collect(),
        steps: None,
        columns: vec![
            Kind::Text.column("Without"),
            Kind::Number.column("Clusters"),
            Kind::Number.column("Displaced"),
            Kind::Number.column("Rehomed"),
            Kind::Number.column("Removed"),
            Kind::Harm.column("Lost"),
            Kind::Harm.column("Lost elsewhere"),
            Kind::Number.column("Missing"),
            Kind::Harm.column("Unschedulable"),
            Kind::Harm.column("In error"),
            Kind::Harm.column("Beyond capacity"),
            Kind::Harm.column("Newly full"),
            Kind::Long.column("Tightest"),
        ],
        rows: document.failures.iter().map(loss).collect(),
    }
}

fn loss(row: &FailureRow) -> Vec<Value> {
    let tightest = row.tightest.as_ref();
    let tightest = tightest.map(|tight| format!("{} {}% on {}", tight.resource, tight.percent, tight.cluster));
    vec![
        row.name.as_str().into(),
        row.clusters.into(),
        row.displaced.into(),
        row.rehomed.into(),
        row.removed.into(),
        row.lost_here().into(),
        row.lost_elsewhere.into(),
        row.missing.into(),
        row.newly_unschedulable.into(),
        row.newly_in_error.into(),
        row.beyond_capacity.into(),
        row.newly_full.into(),
        tightest.unwrap_or_default().into(),
    ]
}

/// The page of `divvy survive`.
pub(crate) fn survive(document: &SurviveDocument) -> Sheet {
    let headline = Headline::new(&document.totals.verdict(), figures_of_survival(&document.totals));
    let tables = document.remedy.as_ref().map(remedy).into_iter();
    let could_place = document.could_place.as_ref().and_then(plan::could_place);
    let notes: Vec<String> = could_place.into_iter().chain(document.notes.iter().cloned()).collect();
    Sheet {
        tables: tables
            .chain([workloads(document), worst(document), sizes(document)])
            .collect(),
        ..sheet("What survives", Some(document.after.clone()), headline, &notes)
    }
}

fn figures_of_survival(totals: &SurviveTotals) -> Vec<Figure> {
    vec![
        harm(
            "hanging",
            "Nothing left",
            totals.hanging,
            "some loss leaves no replica",
            Tone::Bad,
        ),
        harm(
            "notSurviving",
            "Do not survive",
            totals.not_surviving,
            "some loss",
            Tone::Bad,
        ),
        figure("surviving", "Survive", totals.surviving, "each loss", Tone::Neutral),
        figure(
            "placed",
            "Placed",
            totals.placed,
            "workloads with a cluster",
            Tone::Neutral,
        ),
        harm(
            "beyondCapacity",
            "Losses without room",
            totals.beyond_capacity,
            "",
            Tone::Bad,
        ),
    ]
}

fn workloads(document: &SurviveDocument) -> Table {
    let rows = document.bindings.iter().map(|row| {
        let named = |loss: &LossOfBinding| format!("{} {} ({} left)", loss.each, loss.name, loss.left);
        let lost: Vec<String> = row.losses.iter().map(named).collect();
        let least = row.losses.iter().map(|loss| loss.left).min().unwrap_or_default();
        vec![
            row.binding.as_str().into(),
            row.strategy.as_str().into(),
            row.replicas.into(),
            usize::try_from(row.clusters).unwrap_or(usize::MAX).into(),
            least.into(),
            row.losses.len().into(),
            listed(lost.iter().map(String::as_str), NAMED_MAX).into(),
        ]
    });
    Table {
        title: "Workloads that do not survive some loss",
        remark: "Those with the least left first.".to_owned(),
        bars: Vec::new(),
        steps: None,
        columns: vec![
            Kind::Text.column("Workload"),
            Kind::Text.column("Strategy"),
            Kind::Number.column("Replicas"),
            Kind::Number.column("Clusters"),
            Kind::Number.column("Least left"),
            Kind::Harm.column("Losses"),
            Kind::Long.column("Does not survive"),
        ],
        rows: rows.collect(),
    }
}

fn worst(document: &SurviveDocument) -> Table {
    let rows = document.losses.iter().map(|row| {
        vec![
            format!("{} {}", row.each, row.name).into(),
            row.clusters.into(),
            row.bindings.into(),
            row.hanging.into(),
            row.beyond_capacity.map_or_else(|| Value::from(""), Value::from),
        ]
    });
    Table {
        title: "Losses",
        remark: "The worst first.".to_owned(),
        bars: Vec::new(),
        steps: None,
        columns: vec![
            Kind::Text.column("Loss"),
            Kind::Number.column("Clusters"),
            Kind::Harm.column("Do not survive"),
            Kind::Harm.column("Nothing left"),
            Kind::Harm.column("Beyond capacity"),
        ],
        rows: rows.collect(),
    }
}

fn sizes(document: &SurviveDocument) -> Table {
    let rows = document.levels.iter().map(|level| {
        vec![
            level.each.as_str().into(),
            level.losses.into(),
            level.surviving.into(),
            level.hanging.into(),
        ]
    });
    Table {
        title: "Sizes of losses",
        remark: String::new(),
        bars: Vec::new(),
        steps: None,
        columns: vec![
            Kind::Text.column("Any"),
            Kind::Number.column("Losses"),
            Kind::Number.column("Survive each"),
            Kind::Harm.column("Nothing left"),
        ],
        rows: rows.collect(),
    }
}

fn remedy(remedy: &Remedy) -> Table {
    let rows = remedy.changes.iter().map(|change| {
        vec![
            change.change.as_str().into(),
            change.moved.into(),
            listed(change.clusters.iter().map(String::as_str), NAMED_MAX).into(),
            change.annotation.clone().unwrap_or_default().into(),
        ]
    });
    let name = &remedy.binding;
    let tried = counted(remedy.tried, "change");
    Table {
        title: "The smallest changes with which it survives",
        remark: match (remedy.survives, remedy.changes.is_empty()) {
            (true, _) => format!("{name} survives each of these losses as it is."),
            (false, true) => format!("No single change of its policy lets {name} survive; {tried} were decided."),
            (false, false) => format!("{name} survives with one of these; {tried} were decided for every loss."),
        },
        bars: Vec::new(),
        steps: None,
        columns: vec![
            Kind::Long.column("Change"),
            Kind::Number.column("Moved"),
            Kind::Long.column("Clusters then"),
            Kind::Text.column("Annotation"),
        ],
        rows: rows.collect(),
    }
}

/// The page of `divvy rebalance`.
pub(crate) fn rebalance(document: &RebalanceDocument) -> Sheet {
    let rebalanced = &document.rebalanced;
    let headline = Headline::new(&rebalanced.verdict(), figures_of_plan(rebalanced));
    Sheet {
        tables: plan::tables(rebalanced),
        ..sheet(
            "What waits, and what would place it",
            Some(document.after.clone()),
            headline,
            &notes_of_plan(document),
        )
    }
}

/// The notes, and the costs of a plan.
fn notes_of_plan(document: &RebalanceDocument) -> Vec<String> {
    let costs = document.rebalanced.cost.iter().map(|cost| cost.sentence());
    costs.chain(document.notes.iter().cloned()).collect()
}

fn figures_of_plan(rebalanced: &Rebalanced) -> Vec<Figure> {
    let totals = &rebalanced.totals;
    let count = |number: i64| usize::try_from(number).unwrap_or_default();
    let least = rebalanced
        .bound
        .moves
        .map(|moves| format!("at least {moves} in any plan"));
    vec![
        harm(
            "notPlaced",
            "Not placed",
            totals.waiting - totals.placed,
            "that wait",
            Tone::Bad,
        ),
        figure(
            "placed",
            "Placed",
            totals.placed,
            "that wait without the plan",
            Tone::Neutral,
        ),
        figure(
            "moved",
            "Moves",
            count(totals.moved),
            &least.unwrap_or_default(),
            Tone::Neutral,
        ),
        figure(
            "movedBindings",
            "Moved",
            totals.moved_bindings,
            "bindings",
            Tone::Neutral,
        ),
    ]
}

/// The page of `divvy policies`. The second number is that of the findings that are not shown.
pub(crate) fn policies(document: &PoliciesDocument, hidden: usize) -> Sheet {
    let headline = Headline::new(&document.totals.verdict(), figures_of_policies(&document.totals));
    Sheet {
        tables: vec![findings(&document.findings, hidden), reviewed(&document.policies)],
        ..sheet("Which policies are wrong", None, headline, &document.notes)
    }
}

fn figures_of_policies(totals: &PolicyTotals) -> Vec<Figure> {
    let notable = |name, label, count, detail| harm(name, label, count, detail, Tone::Notable);
    vec![
        harm("errors", "Errors", totals.errors, "", Tone::Bad),
        notable("warnings", "Warnings", totals.warnings, ""),
        figure("infos", "Remarks", totals.infos, "", Tone::Neutral),
        notable("dead", "Dead", totals.dead, "policies that govern nothing"),
        notable("shadowed", "Shadowed", totals.shadowed, "by other policies"),
        notable("withoutPolicy", "Without a policy", totals.without_policy, "bindings"),
    ]
}

fn findings(findings: &[Finding], hidden: usize) -> Table {
    let rows = findings.iter().map(|finding| {
        let mut text = finding.message.clone();
        if !finding.names.is_empty() {
            text.push_str(": ");
            text.push_str(&listed(finding.names.iter().map(String::as_str), NAMED_MAX));
        }
        vec![
            finding.object.as_str().into(),
            finding.severity.word().into(),
            finding.code.word().into(),
            text.into(),
            finding.hint.clone().unwrap_or_default().into(),
            finding.source.clone().unwrap_or_default().into(),
        ]
    });
    Table {
        title: "Findings",
        remark: match hidden {
            0 => "The worst first.".to_owned(),
            hidden => format!(
                "The worst first; {} not shown, as requested.",
                counted(hidden, "finding")
            ),
        },
        bars: Vec::new(),
        steps: None,
        columns: vec![
            Kind::Text.column("Object"),
            Kind::Text.column("Severity"),
            Kind::Text.column("Finding"),
            Kind::Long.column("What"),
            Kind::Long.column("Hint"),
            Kind::Long.column("Where"),
        ],
        rows: rows.collect(),
    }
}

fn reviewed(policies: &[PolicyRow]) -> Table {
    let rows = policies.iter().map(|row| {
        let codes: Vec<&str> = row.findings.iter().map(|code: &Code| code.word()).collect();
        vec![
            row.policy.as_str().into(),
            i64::from(row.priority).into(),
            row.selects.into(),
            row.governs.into(),
            row.clusters.map_or_else(|| Value::from(""), Value::from),
            codes.join(", ").into(),
        ]
    });
    Table {
        title: "Policies",
        remark: String::new(),
        bars: Vec::new(),
        steps: None,
        columns: vec![
            Kind::Text.column("Policy"),
            Kind::Number.column("Priority"),
            Kind::Number.column("Selects"),
            Kind::Number.column("Governs"),
            Kind::Number.column("Clusters"),
            Kind::Long.column("Findings"),
        ],
        rows: rows.collect(),
    }
}

#[cfg(test)]
mod tests;
