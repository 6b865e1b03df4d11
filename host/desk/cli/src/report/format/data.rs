//! `-o json` and `-o yaml`: data for programs.

use std::sync::Arc;

use divvy_command::console::Console;
use divvy_command::errors::Failure;
use divvy_command::form::Form;

use super::{Content, Format, Needs, Offer};

/// `-o json`.
pub(super) const JSON: Offer = Offer {
    name: "json",
    help: "For programs",
    needs: Needs::Nothing,
    make: |_| Ok(Arc::new(Data(Form::Json))),
};

/// `-o yaml`.
pub(super) const YAML: Offer = Offer {
    name: "yaml",
    help: "The same data as YAML",
    needs: Needs::Nothing,
    make: |_| Ok(Arc::new(Data(Form::Yaml))),
};

#[derive(Debug)]
struct Data(Form);

impl Format for Data {
    fn is_data(&self) -> bool {
        true
    }

    fn print(&self, content: &dyn Content, console: &Console) -> Result<(), Failure> {
        console.print_data(|out| content.write_data(self.0, out))
    }
}
