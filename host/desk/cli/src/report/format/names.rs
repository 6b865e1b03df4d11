//! `-o name`: what kubectl accepts as arguments.

use std::sync::Arc;

use divvy_command::console::Console;
use divvy_command::errors::Failure;
use divvy_command::text::printable;

use super::{Content, Format, Needs, Offer};

/// `-o name`.
pub(super) const OFFER: Offer = Offer {
    name: "name",
    help: "One line per binding that kubectl accepts: `resourcebinding.work.karmada.io/NAME`",
    needs: Needs::Nothing,
    make: |_| Ok(Arc::new(Names)),
};

#[derive(Debug)]
struct Names;

impl Format for Names {
    fn shows_errors(&self) -> bool {
        false
    }

    fn print(&self, content: &dyn Content, console: &Console) -> Result<(), Failure> {
        console.print(|out| {
            let names = content.names();
            names.iter().try_for_each(|name| writeln!(out, "{}", printable(name)))
        })
    }
}
