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
    goal: Goal,
}

/// What a case should take at most.
#[derive(Debug, Clone, Copy)]
enum Goal {
    /// Anything.
    Open,
    /// Seconds, and MB.
    Fixed(f64, u64),
    /// So many times the seconds and MB of an earlier case of the same run.
    Times(f64, &'static str),
}

/// All cases, in the order of the table.
pub(crate) const CASES: &[Case] = &[
    case(
        "schedule-json",
        Input::Fleet,
        &["schedule", "-o", "json"],
        Goal::Fixed(1.5, 150),
    ),
    case("schedule-table", Input::Fleet, &["schedule"], Goal::Fixed(1.5, 150)),
    case(
        "schedule-wide",
        Input::Fleet,
        &["schedule", "-o", "wide"],
        Goal::Fixed(1.5, 150),
    ),
    // At most three times JSON.
    case(
        "schedule-yaml",
        Input::Fleet,
        &["schedule", "-o", "yaml"],
        Goal::Fixed(4.5, 150),
    ),
    case("schedule-name", Input::Fleet, &["schedule", "-o", "name"], Goal::Open),
    case(
        "schedule-explain",
        Input::Fleet,
        &["schedule", "--explain", "-o", "json", "web-00*"],
        Goal::Open,
    ),
    case(
        "schedule-assume",
        Input::Fleet,
        &["schedule", "--assume", "-o", "json"],
        Goal::Open,
    ),
    case(
        "diff-drain",
        Input::Dump,
        &["diff", "--drain", "member-00007"],
        Goal::Fixed(10.0, 800),
    ),
    case(
        "diff-region",
        Input::Dump,
        &["diff", "--without", "region=region-3"],
        Goal::Fixed(10.0, 800),
    ),
    case(
        "diff-each",
        Input::Dump,
        &["diff", "--without-each", "cluster"],
        Goal::Fixed(60.0, 800),
    ),
    // Also compares what each binding had with what each loss leaves.
    case(
        "survive",
        Input::Dump,
        &["survive", "--loss", "cluster"],
        Goal::Times(1.5, "diff-each"),
    ),
    case(
        "page-schedule-json",
        Input::Pages,
        &["schedule", "-o", "json"],
        Goal::Open,
    ),
    case(
        "page-schedule",
        Input::Pages,
        &["schedule", "-o", "html"],
        Goal::Times(3.0, "page-schedule-json"),
    ),
    case(
        "page-diff-json",
        Input::Pages,
        &["diff", "--drain", "member-00007", "-o", "json"],
        Goal::Open,
    ),
    case(
        "page-diff",
        Input::Pages,
        &["diff", "--drain", "member-00007", "-o", "html"],
        Goal::Times(3.0, "page-diff-json"),
    ),
    case("headroom", Input::Dump, &["headroom", "web-000*"], Goal::Open),
    case(
        "deployments-json",
        Input::Deployments,
        &["schedule"],
        Goal::Fixed(4.0, 600),
    ),
    case(
        "deployments-yaml",
        Input::DeploymentsAsYaml,
        &["schedule"],
        Goal::Fixed(12.0, 600),
    ),
    case(
        "deployments-unmatched",
        Input::DeploymentsAlone,
        &["schedule"],
        Goal::Fixed(4.0, 600),
    ),
    case(
        "policies",
        Input::Policies,
        &["schedule", "-o", "json"],
        Goal::Fixed(4.0, 600),
    ),
    case(
        "policies-by-label",
        Input::PoliciesByLabel,
        &["schedule", "-o", "json"],
        Goal::Fixed(4.0, 600),
    ),
    case(
        "policies-diff",
        Input::Policies,
        &["diff", "--drain", "member-00007"],
        Goal::Fixed(10.0, 800),
    ),
];

const fn case(name: &'static str, input: Input, arguments: &'static [&'static str], goal: Goal) -> Case {
    Case {
        name,
        input,
        arguments,
        goal,
    }
}

/// A line of the table.
pub(crate) struct Outcome {
    pub(crate) case: &'static str,
    pub(crate) figures: Figures,
    goal: Option<(f64, u64)>,
}

impl Case {
    /// Makes the input, unless it is there, and runs the command on it. `scale` divides all sizes. Goals may depend on earlier cases.
    ///
    /// # Errors
    ///
    /// A sentence, if the input cannot be written or the command fails.
    pub(crate) fn run(
        &'static self,
        divvy: &Path,
        (inputs, scale): (&Path, usize),
        earlier: &[Outcome],
    ) -> Result<Outcome, String> {
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
            goal: match self.goal {
                Goal::Open => None,
                Goal::Fixed(seconds, megabytes) => Some((seconds, megabytes)),
                Goal::Times(times, case) => {
                    let other = earlier.iter().find(|outcome| outcome.case == case);
                    other.map(|Outcome { figures, .. }| {
                        let megabytes = (figures.megabytes as f64 * times).round() as u64;
                        ((figures.seconds * times * 100.0).round() / 100.0, megabytes)
                    })
                }
            },
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
