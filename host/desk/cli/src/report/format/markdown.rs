//! `-o markdown`: tables for a comment on a pull request.

use std::sync::Arc;

use divvy_command::console::Console;
use divvy_command::errors::Failure;
use divvy_command::layout::Layout;

use super::{Content, Format, Needs, Offer};

/// `-o markdown`.
pub(super) const OFFER: Offer = Offer {
    name: "markdown",
    help: "Tables for a comment on a pull request; long ones are folded",
    needs: Needs::Markdown,
    make: |_| Ok(Arc::new(Markdown)),
};

#[derive(Debug)]
struct Markdown;

impl Format for Markdown {
    fn is_markdown(&self) -> bool {
        true
    }

    fn print(&self, content: &dyn Content, console: &Console) -> Result<(), Failure> {
        console.print(|out| content.write_text(Layout::Markdown, out))
    }
}
