//! `-o html`: a page for a browser.
//!
//! This file only offers the format: a command that has a page collects explanations for it while it decides, and prints it itself.

use std::sync::Arc;

use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure};

use super::{Content, Format, Needs, Offer};

/// `-o html`.
pub(super) const OFFER: Offer = Offer {
    name: "html",
    help: "A page with charts, for a browser: one file that needs no network",
    needs: Needs::Page,
    make: |_| Ok(Arc::new(Page)),
};

#[derive(Debug)]
struct Page;

impl Format for Page {
    fn is_page(&self) -> bool {
        true
    }

    fn print(&self, _content: &dyn Content, _console: &Console) -> Result<(), Failure> {
        Err(Failure::usage(
            Diagnostic::new("this result has no page").with_hint("`-o json` prints the same for programs"),
        ))
    }
}
