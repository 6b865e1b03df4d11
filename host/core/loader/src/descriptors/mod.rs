//! The descriptors behind the symbol of a library, read from its file without opening it.
//!
//! A descriptor is static data, but it refers to texts and tables by address. `image.rs` lays the file out as the dynamic
//! linker would and applies the relocations, so that no code of the library runs; `structure.rs` reads its structs and checks every
//! address and length. The loader refuses a library whose descriptors cannot be read in this way.

mod image;
mod structure;

use std::mem::offset_of;
use std::path::Path;

use divvy_framework_abi::LIBRARY_SYMBOL;
use divvy_framework_abi::descriptor::{Descriptor, Library, PointDescriptor, StrategyDescriptor, feature, limit};
use divvy_framework_abi::section::PluginRecord;
use divvy_framework_abi::sized::{SizePrefixed, kind};
use object::{Object, ObjectSymbol};

use image::{Image, Word};
use structure::Structure;

pub use structure::InvalidField;

use crate::description::{LibraryDescription, PointDescription, StrategyDescription};
use crate::error::LoadError;
use crate::features::{extension_points, known_parts};
use crate::shown::one_line;

/// A plugin as its descriptor describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedPlugin {
    /// Name of the plugin.
    pub name: String,
    /// Purpose of the plugin, in one phrase.
    pub description: String,
    /// Kinds of calls that it answers, as values of [`kind`].
    pub points: Vec<u32>,
    /// Strategies that it serves.
    pub strategies: Vec<DescribedStrategy>,
    /// Features that it lists at its points, as bits of [`feature`].
    pub features: u64,
    required: u64,
    /// Kinds of calls with the parts of a binding that they act on.
    acts_on: Vec<(u32, u64)>,
    /// Minor ABI versions: the plugin's own, and the minimum of a host.
    minors: (u32, u32),
    /// True if it has every function that a host calls.
    is_complete: bool,
    /// All of it in the form in which an opened library describes itself, without documents, which no file has.
    stated: LibraryDescription,
}

/// A strategy as a descriptor describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedStrategy {
    /// Name of the strategy.
    pub name: String,
    /// Its features, as bits of [`feature`].
    pub features: u64,
}

/// Reason why the descriptors of a library cannot be read from its file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DescriptorError {
    /// The library does not have the symbol.
    #[error("it does not export `{LIBRARY_SYMBOL}`")]
    NotExported,
    /// A field has an invalid value.
    #[error(transparent)]
    Invalid(#[from] InvalidField),
}

impl DescriptorError {
    /// The error of loading a plugin of the library.
    pub(crate) fn load_error(&self, plugin: &str, path: &Path) -> LoadError {
        match self {
            Self::NotExported => LoadError::NoModule {
                path: path.to_owned(),
                missing: self.to_string(),
            },
            Self::Invalid(field) => LoadError::InvalidDescriptor {
                plugin: plugin.to_owned(),
                path: path.to_owned(),
                message: field.to_string(),
            },
        }
    }
}

/// Checks that the descriptors agree with the record of a plugin, and that this host can use the plugin.
pub(crate) fn check(plugins: &[DescribedPlugin], record: &PluginRecord, path: &Path) -> Result<(), LoadError> {
    let plugin = record.name();
    let invalid = |message: &str| LoadError::InvalidDescriptor {
        plugin: plugin.clone(),
        path: path.to_owned(),
        message: message.to_owned(),
    };
    let described = plugins
        .iter()
        .find(|described| described.name == plugin)
        .ok_or_else(|| invalid("its record names a plugin that the library does not export"))?;
    if described.minors != (record.abi_version().minor, record.least_minor()) {
        return Err(invalid("its record names other versions"));
    }
    if !described.is_complete {
        return Err(invalid("it lacks a function"));
    }
    match described.required & !feature::ALL {
        0 => Ok(()),
        bits => Err(LoadError::UnknownFeatures {
            plugin: plugin.clone(),
            path: path.to_owned(),
            bits,
        }),
    }
}

impl DescribedPlugin {
    /// What the library must say about the plugin once it is open.
    pub(crate) fn stated(&self) -> &LibraryDescription {
        &self.stated
    }

    /// True if the plugin answers a kind of calls.
    pub fn serves(&self, point: u32) -> bool {
        self.points.contains(&point)
    }

    /// Names of the extension points that the plugin serves, in the order of the cycle.
    pub fn extension_points(&self) -> Vec<&'static str> {
        extension_points(|point| self.serves(point))
    }

    /// True if the plugin promises that its selection satisfies the spread constraints.
    pub fn enforces_spread(&self) -> bool {
        self.serves(kind::SELECT) && self.features & feature::ENFORCES_SPREAD != 0
    }

    /// Parts of a binding that the plugin's calls of a kind act on, as bits of
    /// [`binding_part`](divvy_framework_abi::descriptor::binding_part); 0 if the plugin is called for every binding.
    pub fn acts_on(&self, point: u32) -> u64 {
        let known = self.acts_on.iter().find(|(known, _)| *known == point);
        known.map_or(0, |(_, parts)| known_parts(*parts))
    }

    /// Features at any point or strategy.
    pub fn all_features(&self) -> u64 {
        let of_strategies = self.strategies.iter().map(|strategy| strategy.features);
        of_strategies.fold(self.features, |all, features| all | features)
    }
}

/// The name and the offset of a field.
macro_rules! field {
    ($structure:ident.$field:ident) => {
        (stringify!($field), offset_of!($structure, $field))
    };
}

/// Reads the descriptors of a library.
///
/// # Errors
///
/// The first field with an invalid value.
pub(crate) fn read(file: &object::File<'_>) -> Result<Vec<DescribedPlugin>, DescriptorError> {
    let exported = file
        .dynamic_symbols()
        .find(|symbol| symbol.name() == Ok(LIBRARY_SYMBOL) && !symbol.is_undefined())
        .ok_or(DescriptorError::NotExported)?;
    let image = Image::new(file);
    let library = Structure::at(&image, Word::Value(exported.address()), Library::KIND, "")?;
    let plugins = library.table(field!(Library.plugins), Descriptor::KIND, limit::PLUGINS)?;
    Ok(plugins.iter().map(plugin).collect::<Result<_, _>>()?)
}

fn plugin(descriptor: &Structure<'_, '_>) -> Result<DescribedPlugin, InvalidField> {
    let description = descriptor.text(field!(Descriptor.description), limit::DESCRIPTION_BYTES)?;
    let description = one_line(&description).into_owned();
    let short = |field| -> Result<String, InvalidField> {
        let text = descriptor.text(field, limit::NAME_BYTES)?;
        Ok(one_line(&text).into_owned())
    };
    let mut stated = LibraryDescription {
        version: short(field!(Descriptor.version))?,
        description: description.clone(),
        sdk_version: short(field!(Descriptor.sdk_version))?,
        points: Vec::new(),
        strategies: Vec::new(),
        rule_lists: Vec::new(),
        tables: Vec::new(),
        configuration_schema: None,
        preferences_schema: None,
    };
    let mut is_complete = true;
    for function in [
        field!(Descriptor.construct),
        field!(Descriptor.destroy),
        field!(Descriptor.call),
    ] {
        is_complete &= descriptor.has_function(function)?;
    }
    descriptor.has_function(field!(Descriptor.describe))?;
    let mut plugin = DescribedPlugin {
        name: descriptor.text(field!(Descriptor.name), limit::NAME_BYTES)?,
        description,
        points: Vec::new(),
        strategies: Vec::new(),
        features: 0,
        required: 0,
        acts_on: Vec::new(),
        minors: (
            descriptor.number(field!(Descriptor.abi_minor)),
            descriptor.number(field!(Descriptor.least_minor)),
        ),
        is_complete,
        stated: stated.clone(),
    };
    for point in descriptor.table(field!(Descriptor.points), kind::POINT, limit::POINTS)? {
        let served = point.number(field!(PointDescriptor.point));
        plugin.points.push(served);
        let acts_on = point.word(field!(PointDescriptor.acts_on))?;
        plugin.acts_on.push((served, acts_on));
        let required = point.word(field!(PointDescriptor.required))?;
        let optional = point.word(field!(PointDescriptor.optional))?;
        plugin.required |= required;
        plugin.features |= required | optional;
        stated.points.push(PointDescription {
            point: served,
            required,
            optional,
            reads: point.word(field!(PointDescriptor.reads))?,
            acts_on,
        });
    }
    for strategy in descriptor.table(field!(Descriptor.strategies), kind::STRATEGY, limit::STRATEGIES)? {
        let required = strategy.word(field!(StrategyDescriptor.required))?;
        let optional = strategy.word(field!(StrategyDescriptor.optional))?;
        let name = strategy.text(field!(StrategyDescriptor.name), limit::NAME_BYTES)?;
        let name = one_line(&name).into_owned();
        plugin.required |= required;
        stated.strategies.push(StrategyDescription {
            name: name.clone(),
            required,
            optional,
        });
        plugin.strategies.push(DescribedStrategy {
            name,
            features: required | optional,
        });
    }
    plugin.stated = stated;
    Ok(plugin)
}
