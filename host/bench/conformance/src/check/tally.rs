//! Counts the cases of a check that show something. A plugin that decides nothing breaks no rule of a result, and must still not pass.

use std::collections::BTreeMap;

use crate::subject::Shown;

/// Number of cases from which each check must have something to show. With fewer, a rare situation may be missing.
const ENOUGH: u64 = 500;

/// The cases of a check, and those among them that show something.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tally {
    cases: u64,
    /// Cases that show something, by strategy.
    decided: BTreeMap<String, u64>,
}

impl Tally {
    pub(crate) fn add(&mut self, shown: Shown) {
        self.cases += 1;
        if let Shown::Decision(strategy) = shown {
            *self.decided.entry(strategy).or_default() += 1;
        }
    }

    /// Number of cases.
    pub(crate) fn cases(&self) -> u64 {
        self.cases
    }

    /// Number of cases that show something.
    pub(crate) fn decided(&self) -> u64 {
        self.decided.values().sum()
    }

    /// Number of cases that show something about a strategy.
    pub(crate) fn decided_by(&self, strategy: &str) -> u64 {
        self.decided.get(strategy).copied().unwrap_or(0)
    }

    /// True if there were so many cases that what none of them shows is a finding.
    pub(crate) fn is_conclusive(&self) -> bool {
        self.cases >= ENOUGH
    }

    /// An error if none of many cases shows anything.
    pub(crate) fn is_enough(&self) -> Result<(), String> {
        match self.is_conclusive() && self.decided() == 0 {
            true => Err(format!(
                "none of {} cases shows anything about this contract: the plugin took part in no decision that gives clusters to a \
                 binding and that the contract is about. If its policies or its fleet are particular, add cases with `--cases`",
                self.cases
            )),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cases_that_show_nothing_are_not_enough() {
        let mut tally = Tally::default();
        for _ in 0..ENOUGH {
            assert_eq!(tally.is_enough(), Ok(()));
            tally.add(Shown::Nothing);
        }
        assert!(tally.is_enough().is_err());
        tally.add(Shown::Decision("Fair".to_owned()));
        assert_eq!(tally.is_enough(), Ok(()));
        assert_eq!((tally.cases(), tally.decided()), (ENOUGH + 1, 1));
        assert_eq!((tally.decided_by("Fair"), tally.decided_by("Other")), (1, 0));
    }
}
