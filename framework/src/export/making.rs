//! How a plugin is constructed: from its settings if it has any, otherwise by its `Default`.
//!
//! A plugin may be its own settings, and settings may have a `Default`. So that is no reason to construct a plugin without them: an
//! implementation of [`ConfiguredPlugin`] comes first. [`Constructor::making`] exists twice, as a method of the type and as one of a trait,
//! and the compiler takes that of the type wherever its bound holds.

use std::marker::PhantomData;

use divvy_framework_abi::service::failure;
use serde_json::Value;

use super::Failed;
use crate::configuration::{Configuration, NoConfiguration, ValueError};
use crate::plugin::{ConfiguredPlugin, Needs, Plugin};

/// The functions by which a plugin is constructed.
#[derive(Debug)]
pub struct Making<P> {
    /// The JSON Schema of its configuration.
    pub(super) schema: fn() -> String,
    /// Constructs it from its configuration, and returns the needs that it has with this one.
    pub(super) make: fn(&Value) -> Result<(P, Needs), Failed>,
}

/// Chooses how the plugin `P` is constructed.
#[derive(Debug)]
pub struct Constructor<P>(PhantomData<P>);

impl<P> Constructor<P> {
    /// The chooser for a plugin.
    pub const PLUGIN: Self = Self(PhantomData);
}

impl<P: ConfiguredPlugin> Constructor<P> {
    /// From its settings.
    pub fn making(&self) -> Making<P> {
        Making {
            schema: P::Configuration::schema,
            make: configured::<P>,
        }
    }
}

/// A plugin without settings.
pub trait MadeByDefault<P> {
    /// By its `Default`.
    fn making(&self) -> Making<P>;
}

impl<P: Plugin + Default> MadeByDefault<P> for Constructor<P> {
    fn making(&self) -> Making<P> {
        Making {
            schema: NoConfiguration::schema,
            make: by_default::<P>,
        }
    }
}

fn read<T: Configuration>(value: &Value) -> Result<T, Failed> {
    T::read(value).map_err(|error| Failed::value(failure::CONFIGURATION, &error))
}

fn configured<P: ConfiguredPlugin>(value: &Value) -> Result<(P, Needs), Failed> {
    let plugin = P::new(read(value)?).map_err(|error| match error.downcast_ref::<ValueError>() {
        Some(refused) => Failed::value(failure::CONFIGURATION, refused),
        None => Failed::new(failure::CONSTRUCTION, error.to_string()),
    })?;
    let needs = plugin.needs();
    Ok((plugin, needs))
}

fn by_default<P: Plugin + Default>(value: &Value) -> Result<(P, Needs), Failed> {
    let NoConfiguration {} = read(value)?;
    Ok((P::default(), Needs::NONE))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::prelude::*;

    /// A plugin that is its own settings, which have a default.
    #[derive(Debug, Default, Configuration)]
    #[serde(default)]
    struct Own {
        share: u32,
    }

    impl Plugin for Own {
        const NAME: &'static str = "own";
        const DESCRIPTION: &'static str = "is its own settings";
    }

    impl ConfiguredPlugin for Own {
        type Configuration = Self;

        fn new(configuration: Self) -> Result<Self, Box<dyn std::error::Error>> {
            Ok(configuration)
        }

        fn needs(&self) -> Needs {
            Needs::NONE.time()
        }
    }

    #[derive(Debug, Default)]
    struct Plain;

    impl Plugin for Plain {
        const NAME: &'static str = "plain";
        const DESCRIPTION: &'static str = "has no settings";
    }

    #[test]
    fn a_plugin_with_settings_is_made_from_them_although_it_has_a_default() {
        let making = Constructor::<Own>::PLUGIN.making();
        let (plugin, needs) = (making.make)(&json!({ "share": 3 })).expect("the settings are its own");
        assert_eq!((plugin.share, needs.bits()), (3, Needs::NONE.time().bits()));
        let (plugin, _) = (making.make)(&json!({})).expect("the settings have a default");
        assert_eq!(plugin.share, 0);
        assert!((making.schema)().contains("share"));
    }

    #[test]
    fn a_plugin_without_settings_is_made_by_its_default() {
        let making = Constructor::<Plain>::PLUGIN.making();
        assert!((making.make)(&json!({})).is_ok());
        let failed = (making.make)(&json!({ "share": 3 })).expect_err("no key is known");
        assert_eq!(failed.described(), "unknown key `share` (at share)");
    }
}
