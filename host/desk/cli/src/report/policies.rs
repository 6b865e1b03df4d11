//! A review of policies as a table: the findings, then the sums.

use std::io::{self, Write};

use anstyle::Style;
use divvy_command::grid::{Cell, Column, Grid};
use divvy_command::layout::Layout;
use divvy_command::style;
use divvy_command::text::{counted, listed};
use divvy_forecast::policies::document::{Code, Finding, PoliciesDocument, PolicyRow, Severity};
use divvy_forecast::verdict::Tone;

/// Maximum number of names that a line shows.
const NAMED_MAX: usize = 3;
/// The same with all details.
const NAMED_WIDE_MAX: usize = 20;

/// Findings that the document has and that are not shown.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Hidden {
    /// Beyond `--top`.
    pub(crate) beyond_top: usize,
    /// Below `--severity`.
    pub(crate) milder: usize,
}

/// Writes the findings; with `is_wide`, every policy follows.
pub(crate) fn write(
    document: &PoliciesDocument,
    is_wide: bool,
    hidden: Hidden,
    out: &mut dyn Write,
    layout: Layout,
) -> io::Result<()> {
    if !document.findings.is_empty() {
        findings(&document.findings, is_wide).write(out, layout)?;
        layout.gap(out)?;
    }
    if is_wide && !document.policies.is_empty() {
        policies(&document.policies).write(out, layout)?;
        layout.gap(out)?;
    }
    let verdict = document.totals.verdict();
    layout.paragraph(&verdict.more, style::NAME, out)?;
    layout.paragraph(&verdict.sentence, tone_style(verdict.tone), out)?;
    if hidden.beyond_top > 0 {
        let text = format!(
            "{} more, which `--top` leaves out",
            counted(hidden.beyond_top, "finding")
        );
        layout.paragraph(&text, style::FAINT, out)?;
    }
    if hidden.milder > 0 {
        let text = format!("not shown: {} below `--severity`", counted(hidden.milder, "finding"));
        layout.paragraph(&text, style::FAINT, out)?;
    }
    layout.notes(&document.notes, out)
}

fn findings(findings: &[Finding], is_wide: bool) -> Grid<'_> {
    let most = if is_wide { NAMED_WIDE_MAX } else { NAMED_MAX };
    let mut grid = Grid::new(vec![
        Column::left("OBJECT"),
        Column::left("SEVERITY"),
        Column::left("FINDING"),
        Column::text("WHAT"),
    ]);
    for finding in findings {
        let mut text = finding.message.clone();
        if !finding.names.is_empty() {
            text.push_str(": ");
            text.push_str(&listed(finding.names.iter().map(String::as_str), most));
        }
        grid.cells(vec![
            Cell::new(&finding.object, style::NAME),
            Cell::new(finding.severity.word(), severity_style(finding.severity)),
            Cell::plain(finding.code.word()),
            Cell::plain(text),
        ]);
        if let Some(source) = finding.source.as_ref().filter(|_| is_wide) {
            grid.text(2, format!("in {source}"), style::FAINT);
        }
        if let Some(hint) = &finding.hint {
            grid.text(2, format!("hint: {hint}"), style::FAINT);
        }
    }
    grid
}

fn policies(rows: &[PolicyRow]) -> Grid<'_> {
    let mut grid = Grid::new(vec![
        Column::left("POLICY"),
        Column::right("PRIORITY"),
        Column::right("SELECTS"),
        Column::right("GOVERNS"),
        Column::right("CLUSTERS"),
        Column::left("FINDINGS"),
    ]);
    for row in rows {
        let governs = if row.governs == 0 { style::NOTABLE } else { style::PLAIN };
        let codes: Vec<&str> = row.findings.iter().map(|code: &Code| code.word()).collect();
        grid.cells(vec![
            Cell::new(&row.policy, style::NAME),
            Cell::plain(row.priority.to_string()),
            Cell::plain(row.selects.to_string()),
            Cell::new(row.governs.to_string(), governs),
            Cell::plain(row.clusters.map(|clusters| clusters.to_string()).unwrap_or_default()),
            Cell::plain(codes.join(", ")),
        ]);
    }
    grid
}

fn tone_style(tone: Tone) -> Style {
    match tone {
        Tone::Good => style::GOOD,
        Tone::Notable => style::NOTABLE,
        Tone::Bad => style::BAD,
        Tone::Neutral => style::PLAIN,
    }
}

fn severity_style(severity: Severity) -> Style {
    match severity {
        Severity::Error => style::BAD,
        Severity::Warning => style::NOTABLE,
        Severity::Info => style::PLAIN,
    }
}
