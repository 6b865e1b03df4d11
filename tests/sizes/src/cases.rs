//! The measured commands and their goals.

use std::fmt;
use std::path::Path;

use crate::inputs::Input;
use crate::measure::{Figures, measure};

/// One run of the command.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    input: Input,
    /// Arguments after the input.
    arguments: &'static [&'static str],
    /// Seconds that it should take at most, and MB.
    goal: Option<(f64, u64)>,
}

/// All cases, in the order of the table.
pub(crate) const CASES: &[Case] = &[
    case(
        "schedule-json",
        Input::Fleet,
        &["schedule", "-o", "json"],
        Some((1.5, 150)),
    ),
    case("schedule-table", Input::Fleet, &["schedule"], Some((1.5, 150))),
    case(
        "schedule-wide",
        Input::Fleet,
        &["schedule", "-o", "wide"],
        Some((1.5, 150)),
    ),
    // At most three times JSON.
    case(
        "schedule-yaml",
        Input::Fleet,
        &["schedule", "-o", "yaml"],
        Some((4.5, 150)),
    ),
    case("schedule-name", Input::Fleet, &["schedule", "-o", "name"], None),
    case(
        "schedule-explain",
        Input::Fleet,
        &["schedule", "--explain", "-o", "json", "web-00*"],
        None,
    ),
    case(
        "schedule-assume",
        Input::Fleet,
        &["schedule", "--assume", "-o", "json"],
        None,
    ),
    case(
        "diff-drain",
        Input::Dump,
        &["diff", "--drain", "member-00007"],
        Some((10.0, 800)),
    ),
    case(
        "diff-region",
        Input::Dump,
        &["diff", "--without", "region=region-3"],
        Some((10.0, 800)),
    ),
    case(
        "diff-each",
        Input::Dump,
        &["diff", "--without-each", "cluster"],
        Some((60.0, 800)),
    ),
    case("headroom", Input::Dump, &["headroom", "web-000*"], None),
    case("deployments-json", Input::Deployments, &["schedule"], Some((4.0, 600))),
    case(
        "deployments-yaml",
        Input::DeploymentsAsYaml,
        &["schedule"],
        Some((12.0, 600)),
    ),
    case(
        "deployments-unmatched",
        Input::DeploymentsAlone,
        &["schedule"],
        Some((4.0, 600)),
    ),
    case(
        "policies",
        Input::Policies,
        &["schedule", "-o", "json"],
        Some((4.0, 600)),
    ),
    case(
        "policies-by-label",
        Input::PoliciesByLabel,
        &["schedule", "-o", "json"],
        Some((4.0, 600)),
    ),
    case(
        "policies-diff",
        Input::Policies,
        &["diff", "--drain", "member-00007"],
        Some((10.0, 800)),
    ),
];

const fn case(name: &'static str, input: Input, arguments: &'static [&'static str], goal: Option<(f64, u64)>) -> Case {
    Case {
        name,
        input,
        arguments,
        goal,
    }
}

/// A line of the table.
pub(crate) struct Outcome {
    case: &'static str,
    figures: Figures,
    goal: Option<(f64, u64)>,
}

impl Case {
    /// Makes the input, unless it is there, and runs the command on it. `scale` divides all sizes.
    ///
    /// # Errors
    ///
    /// A sentence, if the input cannot be written or the command fails.
    pub(crate) fn run(&'static self, divvy: &Path, inputs: &Path, scale: usize) -> Result<Outcome, String> {
        let folder = inputs.join(format!("{}-{scale}", self.input.name()));
        self.input
            .make(&folder, scale)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        let command = &self.arguments[..1];
        let files = ["-f".to_owned(), folder.display().to_string()];
        let rest = &self.arguments[1..];
        let arguments: Vec<String> = command
            .iter()
            .map(|text| (*text).to_owned())
            .chain(files)
            .chain(rest.iter().map(|text| (*text).to_owned()))
            .collect();
        Ok(Outcome {
            case: self.name,
            figures: measure(divvy, &arguments, &inputs.join("figures"))?,
            goal: self.goal,
        })
    }
}

impl Outcome {
    pub(crate) const TITLES: &str = "case                     seconds  goal  processor    MB  goal  exit";
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Figures {
            seconds,
            processor,
            megabytes,
            exit,
        } = self.figures;
        let (time, memory) = match self.goal {
            Some((time, memory)) => (time.to_string(), memory.to_string()),
            None => Default::default(),
        };
        let name = self.case;
        write!(
            formatter,
            "{name:<24} {seconds:>7.2} {time:>5} {processor:>10.2} {megabytes:>5} {memory:>5} {exit:>5}"
        )
    }
}
