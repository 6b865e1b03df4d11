//! Reading a plugin's preferences without their type, only when they are requested.

use std::any::{Any, TypeId};
use std::cell::OnceCell;

use super::{Dispatch, Failed};
use crate::configuration::{NoPreferences, Preferences, ValueError};
use crate::cycle::Cycle;
use crate::plugin::Failure;
use crate::prepare::Kept;

/// Preferences without their type; `None` if the policy carries none.
type AnyPreferences = Option<Box<dyn Any>>;

/// Reader of preferences of one type.
#[derive(Debug, Clone, Copy)]
pub struct PreferencesReader {
    read: fn(&str) -> Result<AnyPreferences, Failure>,
    schema: fn() -> String,
    type_id: fn() -> TypeId,
}

impl PreferencesReader {
    pub(crate) const fn for_type<T: Preferences + 'static>() -> Self {
        Self {
            read: |json| {
                let read: Option<T> = preferences(json)?;
                Ok(read.map(|read| Box::new(read) as Box<dyn Any>))
            },
            schema: T::schema,
            type_id: TypeId::of::<T>,
        }
    }

    /// The reader of a plugin: that of the first extension point that reads preferences.
    pub(super) fn from_points(points: &[Self]) -> Self {
        let mut points = points.iter();
        points
            .find(|reader| reader.reads())
            .copied()
            .unwrap_or(Self::for_type::<NoPreferences>())
    }

    /// True if two extension points read different types. A policy carries one block of preferences per plugin, which
    /// cannot have both types.
    pub(super) fn disagree(points: &[Self]) -> bool {
        let own = Self::from_points(points);
        let mut points = points.iter().filter(|reader| reader.reads());
        points.any(|reader| (reader.type_id)() != (own.type_id)())
    }

    /// True if there is anything to read.
    pub(super) fn reads(&self) -> bool {
        (self.type_id)() != TypeId::of::<NoPreferences>()
    }

    /// Reads preferences; `None` if the policy carries none.
    ///
    /// # Errors
    ///
    /// The first unexpected key or value.
    pub(crate) fn read(&self, json: &str) -> Result<AnyPreferences, Failure> {
        (self.read)(json)
    }

    /// The JSON Schema of the type.
    pub(super) fn schema(&self) -> String {
        (self.schema)()
    }
}

/// The reader of an extension point without preferences.
pub const fn no_preferences() -> PreferencesReader {
    PreferencesReader::for_type::<NoPreferences>()
}

/// The binding's preferences as the plugin's type; `None` if the policy carries none.
pub(crate) fn preferences<P: Preferences>(json: &str) -> Result<Option<P>, ValueError> {
    if json.is_empty() {
        return Ok(None);
    }
    let value: serde_json::Value = serde_json::from_str(json).map_err(|error| ValueError::not_json(&error))?;
    P::read(&value).map(Some)
}

/// Preferences for a call.
///
/// If the host keeps the value that the plugin made from them for the binding, they have been read before. Most calls
/// then need only that value, and reading takes longer than many decisions, so it waits until the plugin asks.
pub(crate) struct Given<'a, T> {
    json: &'a str,
    read: OnceCell<Option<T>>,
    reader: fn(&str) -> Option<T>,
}

impl<'a, T> Given<'a, T> {
    /// Preferences that have been read.
    pub(crate) fn new(read: Option<T>) -> Self {
        Self {
            json: "",
            read: read.into(),
            reader: |_| None,
        }
    }

    /// Preferences that were read successfully before.
    fn later(json: &'a str) -> Self
    where
        T: Preferences,
    {
        Self {
            json,
            read: OnceCell::new(),
            reader: |json| preferences(json).ok().flatten(),
        }
    }

    /// The preferences; `None` if the policy carries none.
    pub(crate) fn get(&self) -> Option<&T> {
        self.read.get_or_init(|| (self.reader)(self.json)).as_ref()
    }
}

/// Preferences for a call, without their type.
pub(crate) trait GivenAny {
    /// The preferences; `None` if the policy carries none.
    fn get_any(&self) -> Option<&dyn Any>;
}

impl<T: 'static> GivenAny for Given<'_, T> {
    fn get_any(&self) -> Option<&dyn Any> {
        self.get().map(|preferences| preferences as &dyn Any)
    }
}

/// The preferences for the plugin as the type of an extension point. A point without preferences leaves them to the
/// points that read them; if no point does, it refuses them.
#[inline]
pub(crate) fn preferences_at<'a, T: Preferences + 'static, P: Dispatch>(
    cycle: &Cycle<'a>,
    kept: &Kept<'_>,
) -> Result<Given<'a, T>, Failed> {
    match cycle.policy().preferences_json() {
        "" => Ok(Given::new(None)),
        json => given_preferences::<T, P>(json, kept.keeps_binding_value()),
    }
}

/// Not inlined: nearly every policy has none.
#[inline(never)]
fn given_preferences<T: Preferences + 'static, P: Dispatch>(
    json: &str,
    were_read: bool,
) -> Result<Given<'_, T>, Failed> {
    if TypeId::of::<T>() == TypeId::of::<NoPreferences>() && P::preferences().reads() {
        return Ok(Given::new(None));
    }
    match were_read {
        true => Ok(Given::later(json)),
        false => Ok(Given::new(preferences(json).map_err(Failure::Preferences)?)),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::{Given, GivenAny};
    use crate::prelude::*;

    thread_local! {
        static READ: Cell<u32> = const { Cell::new(0) };
    }

    #[derive(Debug, PartialEq, Preferences)]
    struct Counted {
        #[serde(deserialize_with = "count")]
        number: u32,
    }

    fn count<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
        READ.set(READ.get() + 1);
        serde::Deserialize::deserialize(deserializer)
    }

    #[test]
    fn preferences_that_were_read_before_are_read_again_when_they_are_asked_for() {
        let given: Given<'_, Counted> = Given::later(r#"{"number": 7}"#);
        assert_eq!(READ.get(), 0);
        assert_eq!(given.get(), Some(&Counted { number: 7 }));
        assert!(given.get_any().is_some_and(|read| read.downcast_ref() == given.get()));
        assert_eq!(READ.get(), 1, "once for all");
        assert_eq!(Given::<Counted>::new(None).get(), None);
    }
}
