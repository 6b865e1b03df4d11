//! The file with the accepted counts, and the comparison with it.
//!
//! A count that is too low fails as well: as long as the file has the old one, the gain could be lost again unnoticed. Counts depend on
//! the compiler, the C library and the processor's instructions, which the file names. Under other conditions, the comparison is the same,
//! because a check that is left out checks nothing; if it fails, the message says that the conditions differ.

use std::fmt;
use std::path::PathBuf;
use std::process::Command;

use crate::cases::{Kind, repository};

/// Permitted distance from the accepted count, in percent.
const PERCENT_MAX: u64 = 2;

const FILE: &str = "tests/instructions/counts.txt";

/// Lines at the top of the file.
const TOP: &str = "\
# Instructions of one cycle. `tests/instructions/count` compares, and with SNAPSHOTS=overwrite it writes this file; see README.md.
# Columns: case, instructions, and by how much the counted cycles of one run differed.
";

/// Beginning of the line with the conditions.
const CONDITIONS: &str = "# Counted with: ";

/// The instructions of a case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Count {
    case: String,
    instructions: u64,
    /// Difference between the most and the fewest of the counted cycles.
    spread: u64,
}

impl Count {
    /// The fewest instructions among the cycles of a case. More are counted if a wait was interrupted.
    pub(crate) fn of(kind: Kind, clusters: usize, cycles: &[u64]) -> Self {
        let (least, most) = (cycles.iter().min(), cycles.iter().max());
        let instructions = least.copied().unwrap_or_default();
        Self {
            case: format!("{}/{clusters}", kind.name()),
            instructions,
            spread: most.copied().unwrap_or_default() - instructions,
        }
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let count = Self {
            case: words.next()?.to_owned(),
            instructions: words.next()?.parse().ok().filter(|count| *count > 0)?,
            spread: words.next()?.parse().ok()?,
        };
        words.next().is_none().then_some(count)
    }
}

impl fmt::Display for Count {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{:<22}{:>12}{:>8}",
            self.case, self.instructions, self.spread
        )
    }
}

/// The content of the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Accepted {
    conditions: String,
    counts: Vec<Count>,
}

/// What counts depend on beside the source: the compiler and its target, the C library, and whether the processor has AVX2. Callgrind
/// shows the program the processor's instructions up to these, and the C library chooses among its functions by them.
pub(crate) fn conditions() -> String {
    #[cfg(target_arch = "x86_64")]
    let processor = match std::is_x86_feature_detected!("avx2") {
        true => "AVX2",
        false => "no AVX2",
    };
    #[cfg(not(target_arch = "x86_64"))]
    let processor = "another processor";
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output();
    let library = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let library = library.ok().filter(|version| !version.is_empty());
    let library = library.unwrap_or_else(|| "another C library".to_owned());
    format!("{}, {library}, {processor}", env!("COMPILER"))
}

impl Accepted {
    pub(crate) fn new(conditions: String, counts: Vec<Count>) -> Self {
        Self { conditions, counts }
    }

    fn path() -> PathBuf {
        repository().join(FILE)
    }

    pub(crate) fn read() -> Result<Self, String> {
        let text = std::fs::read_to_string(Self::path()).map_err(|error| format!("{FILE}: {error}"))?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut conditions = None;
        let mut counts = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(found) = line.strip_prefix(CONDITIONS) {
                conditions = Some(found.to_owned());
            } else if !line.starts_with('#') {
                let count = Count::parse(line);
                counts
                    .push(count.ok_or_else(|| format!("{FILE}:{number}: `{line}`, expected a case and two numbers"))?);
            }
        }
        let conditions = conditions.ok_or_else(|| format!("{FILE}: no line begins with `{CONDITIONS}`"))?;
        Ok(Self { conditions, counts })
    }

    pub(crate) fn write(&self) -> Result<(), String> {
        std::fs::write(Self::path(), self.text()).map_err(|error| format!("{FILE}: {error}"))
    }

    fn text(&self) -> String {
        let lines: Vec<String> = self.counts.iter().map(|count| format!("{count}\n")).collect();
        format!("{TOP}{CONDITIONS}{}\n{}", self.conditions, lines.concat())
    }

    /// Compares what was counted now.
    pub(crate) fn compare(&self, conditions: &str, counted: &[Count]) -> Result<(), String> {
        let mut messages = Vec::new();
        for count in counted {
            let Some(accepted) = self.counts.iter().find(|accepted| accepted.case == count.case) else {
                messages.push(format!("{}: not in {FILE}", count.case));
                continue;
            };
            let (actual, expected) = (count.instructions, accepted.instructions);
            if actual.abs_diff(expected) * 100 > expected * PERCENT_MAX {
                let ratio = actual as f64 / expected as f64;
                let what = if actual > expected { "more" } else { "fewer" };
                messages.push(format!(
                    "{}: {actual} instructions, expected {expected}: {ratio:.3} times as many, {what} than {PERCENT_MAX} % allow",
                    count.case
                ));
            }
        }
        let is_counted = |accepted: &&Count| !counted.iter().any(|count| count.case == accepted.case);
        let gone = self.counts.iter().filter(is_counted);
        messages.extend(gone.map(|accepted| format!("{}: in {FILE}, and not counted", accepted.case)));
        if messages.is_empty() {
            return Ok(());
        }
        if conditions != self.conditions {
            messages.push(format!(
                "{FILE} was counted with {}; this is {conditions}. Accept the counts of an unchanged commit first",
                self.conditions
            ));
        }
        messages.push(format!(
            "if this is meant, accept it: SNAPSHOTS=overwrite tests/instructions/count, and say why in the commit of {FILE}"
        ));
        Err(messages.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(instructions: u64) -> Count {
        Count::of(Kind::Plain, 10, &[instructions + 5, instructions])
    }

    fn accepted(instructions: u64) -> Accepted {
        Accepted::new("rustc 1".to_owned(), vec![count(instructions)])
    }

    #[test]
    fn a_count_may_be_two_percent_from_the_accepted_one() {
        for (actual, expected) in [(10_000, Ok(())), (10_200, Ok(())), (9_800, Ok(()))] {
            assert_eq!(accepted(10_000).compare("rustc 1", &[count(actual)]), expected);
        }
        for (actual, words) in [
            (10_201, "1.020 times as many, more than"),
            (9_799, "0.980 times as many, fewer than"),
        ] {
            let message = accepted(10_000).compare("rustc 1", &[count(actual)]).unwrap_err();
            assert!(
                message.starts_with(&format!("plain/10: {actual} instructions, expected 10000: ")),
                "{message}"
            );
            assert!(
                message.contains(words) && message.contains("SNAPSHOTS=overwrite"),
                "{message}"
            );
            assert!(!message.contains("was counted with"), "{message}");
        }
    }

    #[test]
    fn other_conditions_are_compared_and_named_if_the_comparison_fails() {
        assert_eq!(accepted(10_000).compare("rustc 2", &[count(10_100)]), Ok(()));
        let message = accepted(10_000).compare("rustc 2", &[count(20_000)]).unwrap_err();
        assert!(
            message.contains("was counted with rustc 1; this is rustc 2"),
            "{message}"
        );
    }

    #[test]
    fn a_case_is_missing_on_neither_side() {
        let message = accepted(10_000).compare("rustc 1", &[]).unwrap_err();
        assert!(
            message.contains("plain/10: in tests/instructions/counts.txt, and not counted"),
            "{message}"
        );
        let empty = Accepted::new("rustc 1".to_owned(), Vec::new());
        let message = empty.compare("rustc 1", &[count(10_000)]).unwrap_err();
        assert!(
            message.contains("plain/10: not in tests/instructions/counts.txt"),
            "{message}"
        );
    }

    #[test]
    fn the_file_is_read_as_it_was_written() {
        assert_eq!(Accepted::parse(&accepted(10_000).text()), Ok(accepted(10_000)));
        for (text, cause) in [
            ("plain/10 1 2\n", "no line begins"),
            ("# Counted with: x\nplain/10 0 0\n", "counts.txt:2: `plain/10 0 0`"),
            ("# Counted with: x\nplain/10 1\n", "counts.txt:2"),
            ("# Counted with: x\nplain/10 1 2 3\n", "counts.txt:2"),
        ] {
            let message = Accepted::parse(text).unwrap_err();
            assert!(message.contains(cause), "{message}");
        }
    }
}
