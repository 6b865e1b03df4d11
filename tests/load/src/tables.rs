//! The figures as aligned columns.

use divvy_load::bench::{BenchReport, Latency, median};
use divvy_load::scale::ScaleReport;

/// The bursts, then the latency of the steady load.
pub(crate) fn bursts(report: &BenchReport) -> String {
    let titles = [
        "BURST",
        "BARE CLIENT/s",
        "BINDINGS/s",
        "RATIO",
        "OWN RATIO",
        "CPU",
        "MEMORY",
        "EVENTS",
    ];
    let own = |events: bool| {
        let mut bursts = report.bursts.iter();
        let burst = bursts.find(|burst| burst.events == events && burst.write_latency_ms == 0);
        burst.map(|burst| median(&burst.scheduler_per_second))
    };
    let rows = report.bursts.iter().map(|burst| {
        let events = if burst.events { "with events" } else { "without events" };
        let delayed = match burst.write_latency_ms {
            0 => String::new(),
            delay => format!(", {delay} ms per write"),
        };
        let rate = median(&burst.scheduler_per_second);
        let own = own(burst.events).filter(|_| burst.write_latency_ms > 0);
        [
            format!("{} bindings, {events}{delayed}", report.bindings),
            format!("{:.1}", median(&burst.bare_per_second)),
            format!("{rate:.1}"),
            percent(burst.ratio),
            own.map_or_else(String::new, |own| percent(rate / own)),
            format!("{:.2} ms", median(&burst.cpu_ms_per_binding)),
            mebibytes(burst.peak_memory_bytes),
            format!("{} + {}", burst.bare_events, burst.scheduler_events),
        ]
    });
    let mut text = aligned(titles, &rows.collect::<Vec<_>>());
    if let Some(steady) = &report.steady {
        let line = |who: &str, latency: &Latency| {
            format!(
                "  {who}: p50 {:.1} ms, p99 {:.1} ms, max {:.1} ms\n",
                latency.p50_ms, latency.p99_ms, latency.max_ms
            )
        };
        text.push_str(&format!(
            "\nlatency at {:.0} bindings/s, {} bindings, {} clusters\n",
            steady.per_second, steady.bindings, report.clusters
        ));
        text.push_str(&line("divvy run", &steady.scheduler));
        text.push_str(&line("bare client", &steady.bare));
    }
    text
}

/// A line per size.
pub(crate) fn sizes(reports: &[ScaleReport]) -> String {
    let titles = [
        "BINDINGS",
        "CLUSTERS",
        "READY",
        "DECISIONS/s",
        "MEMORY",
        "PEAK",
        "RELISTED",
        "PER BINDING",
    ];
    let rows = reports.iter().map(|report| {
        [
            report.bindings.to_string(),
            report.clusters.to_string(),
            format!("{:.1} s", report.ready_seconds),
            format!("{:.0}", report.decisions_per_second),
            mebibytes(report.idle_bytes),
            mebibytes(report.peak_bytes),
            mebibytes(report.peak_after_relist_bytes),
            report
                .bytes_per_further_binding
                .map_or_else(String::new, |bytes| format!("{:.2} KB", bytes / 1_000.0)),
        ]
    });
    aligned(titles, &rows.collect::<Vec<_>>())
}

/// Lines with the columns aligned on the right, two spaces apart.
fn aligned<const COLUMNS: usize>(titles: [&str; COLUMNS], rows: &[[String; COLUMNS]]) -> String {
    let titles = titles.map(str::to_owned);
    let mut text = String::new();
    for row in std::iter::once(&titles).chain(rows) {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let all = std::iter::once(&titles).chain(rows);
            let width = all.map(|row| row[column].chars().count()).max().unwrap_or(0);
            format!("{cell:>width$}")
        });
        text.push_str(&cells.collect::<Vec<_>>().join("  "));
        text.push('\n');
    }
    text
}

fn percent(ratio: f64) -> String {
    format!("{:.0} %", ratio * 100.0)
}

/// Bytes as mebibytes.
fn mebibytes(bytes: u64) -> String {
    format!("{:.0} MiB", bytes as f64 / f64::from(1 << 20))
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_are_aligned_on_the_right() {
        let rows = [["1".to_owned(), "12345".to_owned()], [String::new(), "2".to_owned()]];
        assert_eq!(
            super::aligned(["ONE", "TWO"], &rows),
            "ONE    TWO\n  1  12345\n         2\n"
        );
    }
}
