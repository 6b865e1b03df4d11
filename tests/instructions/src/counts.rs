//! The file with the accepted counts, and the comparison with it.
//!
//! A count that is too high fails. One that is too low is only reported: it asks for the file to be brought down, since with the old count in
//! it, the gain could be lost again unnoticed. Counts depend on the compiler, the C library, valgrind and the processor, which the file
//! names. Under other conditions the comparison is the same, because a check that is left out checks nothing; its messages say that the
//! conditions differ.

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
";

/// Beginning of the line with the conditions.
const CONDITIONS: &str = "# Counted with: ";

/// The instructions of a case, as counted now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Count {
    case: String,
    /// The fewest among the cycles of the case. More are counted if a wait for a worker was interrupted.
    fewest: u64,
    most: u64,
}

impl Count {
    pub(crate) fn of(kind: Kind, clusters: usize, cycles: &[u64]) -> Self {
        Self {
            case: format!("{}/{clusters}", kind.name()),
            fewest: cycles.iter().min().copied().unwrap_or_default(),
            most: cycles.iter().max().copied().unwrap_or_default(),
        }
    }
}

impl fmt::Display for Count {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { case, fewest, most } = self;
        write!(formatter, "{case:<22}{fewest:>12}, at most {most}")
    }
}

/// The content of the file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Accepted {
    conditions: String,
    /// Case and instructions, in the order in which they are counted.
    counts: Vec<(String, u64)>,
}

/// Differences between the file and what was counted.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Differences {
    pub(crate) failures: Vec<String>,
    /// Differences that do not fail.
    pub(crate) notes: Vec<String>,
}

/// Everything that counts depend on besides the source. The processor counts by whether it has AVX2, because that decides which of its
/// processors valgrind shows to the program.
pub(crate) fn conditions(valgrind: &str) -> String {
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
    format!("{}, {library}, {valgrind}, {processor}", env!("COMPILER"))
}

impl Accepted {
    pub(crate) fn new(conditions: String, counted: &[Count]) -> Self {
        let counts = counted.iter().map(|count| (count.case.clone(), count.fewest)).collect();
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
                let count = parse_count(line);
                counts.push(count.ok_or_else(|| format!("{FILE}:{number}: `{line}`, expected a case and a count"))?);
            }
        }
        let conditions = conditions.ok_or_else(|| format!("{FILE}: no line begins with `{CONDITIONS}`"))?;
        Ok(Self { conditions, counts })
    }

    pub(crate) fn write(&self) -> Result<(), String> {
        std::fs::write(Self::path(), self.text()).map_err(|error| format!("{FILE}: {error}"))
    }

    fn text(&self) -> String {
        let lines = self.counts.iter();
        let lines: Vec<String> = lines.map(|(case, count)| format!("{case:<22}{count:>12}\n")).collect();
        format!("{TOP}{CONDITIONS}{}\n{}", self.conditions, lines.concat())
    }

    /// Compares what was counted now.
    pub(crate) fn compare(&self, conditions: &str, counted: &[Count]) -> Differences {
        let Differences {
            mut failures,
            mut notes,
        } = Differences::default();
        for Count {
            case, fewest: actual, ..
        } in counted
        {
            let Some((_, expected)) = self.counts.iter().find(|(accepted, _)| accepted == case) else {
                failures.push(format!("{case}: not in {FILE}"));
                continue;
            };
            if actual.abs_diff(*expected) * 100 > expected * PERCENT_MAX {
                let percent = (*actual as f64 / *expected as f64 - 1.0) * 100.0;
                let (list, change) = match actual > expected {
                    true => (&mut failures, "more"),
                    false => (&mut notes, "fewer"),
                };
                let percent = percent.abs();
                list.push(format!(
                    "{case}: {actual} instructions, expected {expected}: {percent:.1} % {change}, permitted {PERCENT_MAX} %"
                ));
            }
        }
        let is_counted = |case: &str| counted.iter().any(|count| count.case == case);
        let gone = self.counts.iter().filter(|(case, _)| !is_counted(case));
        failures.extend(gone.map(|(case, _)| format!("{case}: in {FILE}, and not counted")));
        for list in [&mut failures, &mut notes] {
            if list.is_empty() {
                continue;
            }
            if conditions != self.conditions {
                list.push(format!(
                    "{FILE} was counted with {}; this is {conditions}. Accept the counts of an unchanged commit first",
                    self.conditions
                ));
            }
            list.push(format!(
                "accept the present counts by SNAPSHOTS=overwrite tests/instructions/count, and say why in the commit of {FILE}"
            ));
        }
        Differences { failures, notes }
    }
}

/// The case and the count of a line.
fn parse_count(line: &str) -> Option<(String, u64)> {
    let mut words = line.split_whitespace();
    let case = words.next()?.to_owned();
    let count = words.next()?.parse().ok().filter(|count| *count > 0)?;
    words.next().is_none().then_some((case, count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(instructions: u64) -> Count {
        Count::of(Kind::Plain, 10, &[instructions + 5, instructions])
    }

    fn accepted(instructions: u64) -> Accepted {
        Accepted::new("rustc 1".to_owned(), &[count(instructions)])
    }

    #[test]
    fn a_count_may_be_two_percent_from_the_accepted_one() {
        for actual in [10_000, 10_200, 9_800] {
            let differences = accepted(10_000).compare("rustc 1", &[count(actual)]);
            assert_eq!(differences, Differences::default(), "{actual}");
        }
    }

    #[test]
    fn a_higher_count_fails_and_the_message_has_the_command_that_accepts_it() {
        let Differences { failures, notes } = accepted(10_000).compare("rustc 1", &[count(14_012)]);
        assert_eq!(
            failures[0],
            "plain/10: 14012 instructions, expected 10000: 40.1 % more, permitted 2 %"
        );
        assert!(
            failures[1].contains("SNAPSHOTS=overwrite tests/instructions/count"),
            "{failures:?}"
        );
        assert_eq!((failures.len(), notes.len()), (2, 0));
        let just_above = accepted(10_000).compare("rustc 1", &[count(10_201)]);
        assert!(!just_above.failures.is_empty());
    }

    #[test]
    fn a_lower_count_is_reported_and_does_not_fail() {
        let Differences { failures, notes } = accepted(10_000).compare("rustc 1", &[count(9_799)]);
        assert_eq!(failures, [""; 0]);
        assert_eq!(
            notes[0],
            "plain/10: 9799 instructions, expected 10000: 2.0 % fewer, permitted 2 %"
        );
        assert!(notes[1].contains("SNAPSHOTS=overwrite"), "{notes:?}");
    }

    #[test]
    fn other_conditions_are_compared_and_named_if_there_is_a_difference() {
        let same = accepted(10_000).compare("rustc 2", &[count(10_100)]);
        assert_eq!(same, Differences::default());
        for actual in [20_000, 5_000] {
            let Differences { failures, notes } = accepted(10_000).compare("rustc 2", &[count(actual)]);
            let messages = [failures, notes].concat();
            assert!(
                messages[1].contains("was counted with rustc 1; this is rustc 2"),
                "{messages:?}"
            );
        }
    }

    #[test]
    fn a_case_is_missing_on_neither_side() {
        let gone = accepted(10_000).compare("rustc 1", &[]).failures;
        assert_eq!(gone[0], "plain/10: in tests/instructions/counts.txt, and not counted");
        let empty = Accepted::new("rustc 1".to_owned(), &[]);
        let new = empty.compare("rustc 1", &[count(10_000)]).failures;
        assert_eq!(new[0], "plain/10: not in tests/instructions/counts.txt");
    }

    #[test]
    fn the_file_is_read_as_it_was_written() {
        assert_eq!(Accepted::parse(&accepted(10_000).text()), Ok(accepted(10_000)));
        for (text, cause) in [
            ("plain/10 1\n", "no line begins"),
            ("# Counted with: x\nplain/10 0\n", "counts.txt:2: `plain/10 0`"),
            ("# Counted with: x\nplain/10\n", "counts.txt:2"),
            ("# Counted with: x\nplain/10 1 2\n", "counts.txt:2"),
        ] {
            let message = Accepted::parse(text).unwrap_err();
            assert!(message.contains(cause), "{message}");
        }
    }
}
