//! The fewest moves that place what waits, as a table.

use std::io::{self, Write};

use divvy_command::layout::Layout;
use divvy_forecast::rebalance::document::RebalanceDocument;

use super::forecast::{header, side};
use super::plan;

/// Writes the document.
pub(crate) fn write(document: &RebalanceDocument, out: &mut dyn Write, layout: Layout) -> io::Result<()> {
    header(&side(&document.after), document.assumes, out, layout)?;
    layout.gap(out)?;
    plan::write(&document.rebalanced, out, layout)?;
    layout.notes(&document.notes, out)
}
