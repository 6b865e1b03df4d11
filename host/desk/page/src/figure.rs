//! The figures at the top of a page.

use divvy_forecast::verdict::Tone;

/// One figure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// Name in the page's markup, which tests use to find it.
    pub name: &'static str,
    /// The unit that is counted.
    pub label: &'static str,
    /// The number, as it is shown.
    pub value: String,
    /// Details; may be empty.
    pub detail: String,
    /// Tone of the figure.
    pub tone: Tone,
}
