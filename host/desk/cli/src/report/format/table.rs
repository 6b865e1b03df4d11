//! `-o table` and `-o wide`: aligned columns for people.

use std::sync::Arc;

use divvy_command::console::Console;
use divvy_command::errors::Failure;

use super::{Content, Format, Needs, Offer};

/// `-o table`.
pub(super) const TABLE: Offer = Offer {
    name: "table",
    help: "Aligned columns for people",
    needs: Needs::Nothing,
    make: |_| Ok(Arc::new(Table { is_wide: false })),
};

/// `-o wide`.
pub(super) const WIDE: Offer = Offer {
    name: "wide",
    help: "The table with all details",
    needs: Needs::Nothing,
    make: |_| Ok(Arc::new(Table { is_wide: true })),
};

#[derive(Debug)]
struct Table {
    is_wide: bool,
}

impl Format for Table {
    fn is_table(&self) -> bool {
        true
    }

    fn is_wide(&self) -> bool {
        self.is_wide
    }

    fn print(&self, content: &dyn Content, console: &Console) -> Result<(), Failure> {
        console.print(|out| content.write_text(console.width().into(), out))
    }
}
