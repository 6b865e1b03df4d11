//! The descriptors behind the symbol of a library, read from its file.

use std::mem::offset_of;

use divvy_framework_abi::LIBRARY_SYMBOL;
use divvy_framework_abi::descriptor::{Descriptor, Library, PointDescriptor, StrategyDescriptor};
use divvy_framework_abi::sized::{SizePrefixed, kind};
use object::{Object, ObjectSymbol};

use super::image::Image;
use crate::library::known_parts;

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
    /// Features that it lists at its points, as bits of [`feature`](divvy_framework_abi::descriptor::feature).
    pub features: u64,
    required: u64,
    /// Kinds of calls with the parts of a binding that they act on.
    acts_on: Vec<(u32, u64)>,
}

/// A strategy as a descriptor describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DescribedStrategy {
    /// Name of the strategy.
    pub name: String,
    /// Its features, as bits of [`feature`](divvy_framework_abi::descriptor::feature).
    pub features: u64,
}

impl DescribedPlugin {
    /// Features without which the plugin does not work.
    pub(super) fn required(&self) -> u64 {
        self.required
    }

    /// True if the plugin answers a kind of calls.
    pub fn serves(&self, point: u32) -> bool {
        self.points.contains(&point)
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

/// Maximum elements of a table: a plugin serves a few points and a few strategies.
const ELEMENTS: u64 = 1_000;

/// Bytes of an address in a table, and of a word.
const ADDRESS: u64 = 8;

/// Reads the descriptors of a library.
///
/// # Errors
///
/// The part that cannot be read.
pub(super) fn read(file: &object::File<'_>) -> Result<Vec<DescribedPlugin>, String> {
    let exported = file
        .dynamic_symbols()
        .find(|symbol| symbol.name() == Ok(LIBRARY_SYMBOL) && !symbol.is_undefined())
        .ok_or_else(|| format!("it exports no `{LIBRARY_SYMBOL}`"))?;
    let image = Image::new(file);
    let unreadable = |part: &str| format!("{part} cannot be read from the file");
    let library = exported.address();
    check_kind(&image, library, Library::KIND).ok_or_else(|| unreadable("the list of plugins"))?;
    let plugins = table(&image, library, offset_of!(Library, plugins), Descriptor::KIND);
    let plugins = plugins.ok_or_else(|| unreadable("the list of plugins"))?;
    let described = plugins.into_iter().map(|descriptor| plugin(&image, descriptor));
    described
        .collect::<Option<Vec<_>>>()
        .ok_or_else(|| unreadable("a descriptor"))
}

fn plugin(image: &Image<'_>, descriptor: u64) -> Option<DescribedPlugin> {
    let text = |offset: usize| image.text(descriptor + offset as u64);
    let mut plugin = DescribedPlugin {
        name: text(offset_of!(Descriptor, name))?,
        description: text(offset_of!(Descriptor, description))?,
        points: Vec::new(),
        strategies: Vec::new(),
        features: 0,
        required: 0,
        acts_on: Vec::new(),
    };
    for point in table(image, descriptor, offset_of!(Descriptor, points), kind::POINT)? {
        let served = image.number(point + offset_of!(PointDescriptor, point) as u64)?;
        plugin.points.push(served);
        let acts_on = appended(image, point, offset_of!(PointDescriptor, acts_on))?;
        plugin.acts_on.push((served, acts_on));
        let required = image.word(point + offset_of!(PointDescriptor, required) as u64)?;
        plugin.required |= required;
        plugin.features |= required | image.word(point + offset_of!(PointDescriptor, optional) as u64)?;
    }
    for strategy in table(image, descriptor, offset_of!(Descriptor, strategies), kind::STRATEGY)? {
        let required = image.word(strategy + offset_of!(StrategyDescriptor, required) as u64)?;
        plugin.required |= required;
        plugin.strategies.push(DescribedStrategy {
            name: image.text(strategy + offset_of!(StrategyDescriptor, name) as u64)?,
            features: required | image.word(strategy + offset_of!(StrategyDescriptor, optional) as u64)?,
        });
    }
    Some(plugin)
}

/// The addresses of the structs in a table of pointers, each of this kind.
fn table(image: &Image<'_>, owner: u64, offset: usize, kind: u32) -> Option<Vec<u64>> {
    let (data, length) = image.slice(owner.checked_add(offset as u64)?)?;
    if length > ELEMENTS {
        return None;
    }
    let elements = (0..length).map(|number| {
        let element = image.word(data.checked_add(number * ADDRESS)?)?;
        check_kind(image, element, kind)?;
        Some(element)
    });
    elements.collect()
}

/// The word of a field that the creator of a struct may not know; 0 if it does not.
fn appended(image: &Image<'_>, address: u64, offset: usize) -> Option<u64> {
    let field = offset as u64;
    match u64::from(image.number(address)?) < field.checked_add(ADDRESS)? {
        true => Some(0),
        false => image.word(address.checked_add(field)?),
    }
}

/// `None` unless a struct of this kind is at the address.
fn check_kind(image: &Image<'_>, address: u64, kind: u32) -> Option<()> {
    (address != 0 && image.number(address.checked_add(4)?)? == kind).then_some(())
}
