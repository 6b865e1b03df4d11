//! `divvy plugin new`: a plugin that builds and passes its tests unchanged.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use divvy_command::console::Console;
use divvy_command::errors::{Diagnostic, Failure};
use divvy_command::exit::Exit;
use divvy_command::libraries::plugin_names;
use divvy_profile::ProfileSource;
use divvy_scaffold::{ExtensionPoint, Language, PluginName, Scaffold, ScaffoldError, Sdk};

pub(super) const EXAMPLES: &str = "\
Examples:
  divvy plugin new spare-capacity --point assign
  divvy plugin new one-region --point filter --path plugins/one-region
  divvy plugin new one-region --point filter --language c
  divvy plugin new spare-capacity --point assign --sdk ../divvy   # a checkout of Divvy";

/// Arguments of `divvy plugin new`.
#[derive(Debug, Args)]
pub(crate) struct NewArguments {
    /// Name of the plugin: lower-case words joined by hyphens
    #[arg(value_name = "NAME")]
    name: String,
    /// Extension point that the plugin serves
    #[arg(long, value_name = "POINT", value_enum)]
    point: Point,
    /// Language of the plugin
    #[arg(long, value_name = "LANGUAGE", value_enum, default_value_t = WrittenIn::Rust)]
    language: WrittenIn,
    /// Folder to create; by default, NAME in the current folder
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    /// SDK to build with: a checkout of Divvy, or a version in the registry; by default, the sources that this binary carries
    #[arg(long, value_name = "PATH|VERSION")]
    sdk: Option<String>,
}

/// Extension points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Point {
    /// Divides the replicas: a strategy
    Assign,
    /// Excludes clusters, each with a reason
    Filter,
    /// Rates clusters from 0 to 100
    Score,
    /// Picks the candidates
    Select,
    /// Says the next step of a move: `divvy run` uses it under a profile with `[profile.moves]`
    Pace,
}

/// Languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum WrittenIn {
    /// With the SDK and a test kit
    Rust,
    /// C99, with the header alone
    C,
}

/// Writes the plugin. A wrong name, an existing folder and a folder that cannot be written are errors with exit code 2, after which
/// nothing is left behind.
pub(super) fn run(arguments: &NewArguments, console: &Console) -> Result<Exit, Failure> {
    let name: PluginName = arguments.name.parse().map_err(|error: divvy_scaffold::InvalidName| {
        let hint = error.hint();
        Failure::usage(Diagnostic {
            hint,
            ..Diagnostic::new(error.to_string())
        })
    })?;
    let built_in = ProfileSource::built_in().profile(None)?;
    if plugin_names(&built_in).iter().any(|known| known == name.as_str()) {
        let message = format!("`{}` is the name of a plugin in the built-in profile", name.as_str());
        return Err(Failure::usage(
            Diagnostic::new(message).with_hint("choose another name: two plugins of one name exclude each other"),
        ));
    }
    let language = match arguments.language {
        WrittenIn::Rust => Language::Rust,
        WrittenIn::C => Language::C,
    };
    if language == Language::C && arguments.sdk.is_some() {
        let diagnostic = Diagnostic::new("`--sdk` is for plugins in Rust");
        return Err(Failure::usage(
            diagnostic.with_hint("a plugin in C is built with its copy of the header alone"),
        ));
    }
    let folder = arguments.path.clone().unwrap_or_else(|| PathBuf::from(name.as_str()));
    let point = match arguments.point {
        Point::Assign => ExtensionPoint::Assign,
        Point::Filter => ExtensionPoint::Filter,
        Point::Score => ExtensionPoint::Score,
        Point::Select => ExtensionPoint::Select,
        Point::Pace => ExtensionPoint::Pace,
    };
    let scaffold = Scaffold {
        name,
        point,
        language,
        sdk: sdk(arguments.sdk.as_deref())?,
    };
    scaffold.write(&folder).map_err(|error| failure(&error))?;
    console.print(|out| {
        writeln!(
            out,
            "created the plugin `{}` in {}",
            scaffold.name.as_str(),
            folder.display()
        )?;
        let rule = match language {
            Language::Rust => "src/rule.rs",
            Language::C => "rule.c",
        };
        writeln!(out, "next: divvy plugin test {}", folder.display())?;
        writeln!(out, "then: write your rule in {}", folder.join(rule).display())
    })?;
    Ok(Exit::Success)
}

/// The SDK that an argument names: a version begins with a digit and is not a folder.
fn sdk(argument: Option<&str>) -> Result<Sdk, Failure> {
    let Some(argument) = argument else {
        return Ok(Sdk::Carried);
    };
    let path = PathBuf::from(argument);
    if path.is_dir() {
        return Ok(Sdk::Checkout(path));
    }
    let is_version = argument.starts_with(|first: char| first.is_ascii_digit())
        && argument
            .chars()
            .all(|one| one.is_ascii_alphanumeric() || ".-+".contains(one));
    if is_version {
        return Ok(Sdk::Version(argument.to_owned()));
    }
    let message = format!("`--sdk {argument}` is neither a folder nor a version");
    Err(Failure::usage(Diagnostic::new(message).with_hint(
        "expected a checkout of Divvy, or a version such as `0.1.0`",
    )))
}

fn failure(error: &ScaffoldError) -> Failure {
    let diagnostic = Diagnostic::new(error.to_string()).with_causes_of(error);
    match error {
        ScaffoldError::Exists { .. } => Failure::usage(diagnostic.with_hint("`--path` names another folder")),
        ScaffoldError::Damaged { .. } => Failure::internal(diagnostic),
        _ => Failure::usage(diagnostic),
    }
}
