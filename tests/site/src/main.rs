//! The preprocessor as mdBook starts it: a book as JSON on standard input, the changed book on standard output.

use std::process::ExitCode;

use divvy_site::book::preprocess;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    // mdBook asks first: `divvy-site supports RENDERER`.
    if let Some("supports") = arguments.next().as_deref() {
        return match arguments.next().as_deref() {
            Some("html") => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        };
    }
    let input = match std::io::read_to_string(std::io::stdin()) {
        Ok(input) => input,
        Err(error) => return fail(&error),
    };
    match preprocess(&input) {
        Ok(book) => {
            println!("{book}");
            ExitCode::SUCCESS
        }
        Err(error) => fail(&error),
    }
}

fn fail(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::FAILURE
}
