//! Bounds that a schema shows, enforced when a value is read: `#[schemars(range(…))]` and `#[schemars(length(…))]` on a field.
//!
//! schemars writes the bounds into the schema, and serde does not know them. So the derives read such a field as [`Bounded`], which does.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// A value that was checked against the bounds `B`.
#[derive(Debug, Clone, Copy)]
pub struct Bounded<T, B> {
    /// The value.
    pub value: T,
    bounds: PhantomData<B>,
}

impl<T, B> Bounded<T, B> {
    /// A value that is not checked: a default.
    pub const fn unchecked(value: T) -> Self {
        Self {
            value,
            bounds: PhantomData,
        }
    }
}

/// The default of an absent key is not checked.
impl<T: Default, B> Default for Bounded<T, B> {
    fn default() -> Self {
        Self::unchecked(T::default())
    }
}

/// The bounds of a field. The derives implement it.
pub trait Bounds<T> {
    /// What a number must be, in words, and whether it may be absent; `None` for anything but a number.
    fn expected() -> Option<(String, bool)> {
        None
    }

    /// Checks a value.
    ///
    /// # Errors
    ///
    /// [`OutOfBounds`] with the expected bounds and the actual number or length.
    fn check(value: &T) -> Result<(), OutOfBounds>;
}

/// A value beyond its bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct OutOfBounds {
    expected: String,
    found: Found,
}

#[derive(Debug, Clone, PartialEq)]
enum Found {
    Number(Number),
    Length(String),
}

impl<'de, T: Deserialize<'de>, B: Bounds<T>> Deserialize<'de> for Bounded<T, B> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = match B::expected() {
            None => T::deserialize(deserializer)?,
            Some((expected, is_optional)) => read_number(deserializer, &expected, is_optional)?,
        };
        B::check(&value).map_err(|out| {
            let expected = out.expected.as_str();
            match out.found {
                Found::Number(number) => D::Error::invalid_value(number.unexpected(), &expected),
                Found::Length(found) => D::Error::invalid_value(Unexpected::Other(&found), &expected),
            }
        })?;
        Ok(Self::unchecked(value))
    }
}

/// Reads a number. What is none, or is beyond its type, is refused by the bounds of the field, which are those of the schema, and not by
/// those of the type.
fn read_number<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
    expected: &str,
    is_optional: bool,
) -> Result<T, D::Error> {
    // An absent key is read as an option, or is an error that names it.
    let value = match is_optional {
        true => Option::<Value>::deserialize(deserializer)?.unwrap_or_default(),
        false => Value::deserialize(deserializer)?,
    };
    let unexpected = match &value {
        Value::Null => Unexpected::Unit,
        Value::Bool(value) => Unexpected::Bool(*value),
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(number), _, _) => Unexpected::Unsigned(number),
            (_, Some(number), _) => Unexpected::Signed(number),
            (_, _, Some(number)) => Unexpected::Float(number),
            _ => Unexpected::Other("a number"),
        },
        Value::String(text) => Unexpected::Str(text),
        Value::Array(_) => Unexpected::Seq,
        Value::Object(_) => Unexpected::Map,
    };
    T::deserialize(value.clone()).map_err(|_| D::Error::invalid_type(unexpected, &expected))
}

/// Schemas show defaults.
impl<T: Serialize, B> Serialize for Bounded<T, B> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

/// A number of any type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A whole number.
    Whole(i128),
    /// A number of another kind.
    Fraction(f64),
}

impl Number {
    /// Compares two numbers: exactly, if both are whole.
    fn is_below(self, other: Self) -> bool {
        match (self, other) {
            (Self::Whole(one), Self::Whole(other)) => one < other,
            (one, other) => one.fraction() < other.fraction(),
        }
    }

    fn fraction(self) -> f64 {
        match self {
            Self::Whole(number) => number as f64,
            Self::Fraction(number) => number,
        }
    }

    fn unexpected(self) -> Unexpected<'static> {
        match self {
            Self::Fraction(number) => Unexpected::Float(number),
            Self::Whole(number) => match (u64::try_from(number), i64::try_from(number)) {
                (Ok(number), _) => Unexpected::Unsigned(number),
                (_, Ok(number)) => Unexpected::Signed(number),
                _ => Unexpected::Float(number as f64),
            },
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(formatter),
            Self::Fraction(number) => number.fmt(formatter),
        }
    }
}

/// A type with `#[schemars(range(…))]`: a number, or an optional one.
#[diagnostic::on_unimplemented(
    message = "the range of `{Self}` cannot be enforced",
    label = "only numbers and optional numbers have a range",
    note = "check the value where it is used, and remove `range(…)`"
)]
pub trait Ranged {
    /// The kind of numbers, in words.
    const KIND: &'static str;
    /// True if there may be none.
    const IS_OPTIONAL: bool = false;

    /// The number; `None` if there is none.
    fn number(&self) -> Option<Number>;
}

const WHOLE: &str = "a whole number";
const ANY: &str = "a number";

macro_rules! numbers {
    ($($kind:ty as $case:ident, $words:ident);+ $(;)?) => {$(
        impl From<$kind> for Number {
            fn from(number: $kind) -> Self {
                Self::$case(number.into())
            }
        }

        impl Ranged for $kind {
            const KIND: &'static str = $words;

            fn number(&self) -> Option<Number> {
                Some((*self).into())
            }
        }
    )+};
}

numbers! {
    i8 as Whole, WHOLE; i16 as Whole, WHOLE; i32 as Whole, WHOLE; i64 as Whole, WHOLE; i128 as Whole, WHOLE;
    u8 as Whole, WHOLE; u16 as Whole, WHOLE; u32 as Whole, WHOLE; u64 as Whole, WHOLE;
    f32 as Fraction, ANY; f64 as Fraction, ANY;
}

macro_rules! sizes {
    ($($kind:ty),+) => {$(
        impl From<$kind> for Number {
            fn from(number: $kind) -> Self {
                // At most 64 bits on every target of Rust.
                Self::Whole(number as i128)
            }
        }

        impl Ranged for $kind {
            const KIND: &'static str = WHOLE;

            fn number(&self) -> Option<Number> {
                Some((*self).into())
            }
        }
    )+};
}

sizes!(isize, usize);

impl<T: Ranged> Ranged for Option<T> {
    const KIND: &'static str = T::KIND;
    const IS_OPTIONAL: bool = true;

    fn number(&self) -> Option<Number> {
        self.as_ref()?.number()
    }
}

/// A type with `#[schemars(length(…))]`: a text or a list, or an optional one.
#[diagnostic::on_unimplemented(
    message = "the length of `{Self}` cannot be enforced",
    label = "only texts, lists and optional ones have a length",
    note = "check the value where it is used, and remove `length(…)`"
)]
pub trait Measured {
    /// The number of characters or of items; `None` if there is no value.
    fn length(&self) -> Option<usize>;

    /// The unit of the length: characters or items.
    const UNIT: &'static str;
}

macro_rules! texts {
    ($($kind:ty),+) => {$(
        impl Measured for $kind {
            fn length(&self) -> Option<usize> {
                Some(self.chars().count())
            }

            const UNIT: &'static str = "a string";
        }
    )+};
}

texts!(String, Box<str>);

macro_rules! lists {
    ($(<$($part:ident),+> $kind:ty),+ $(,)?) => {$(
        impl<$($part),+> Measured for $kind {
            fn length(&self) -> Option<usize> {
                Some(self.len())
            }

            const UNIT: &'static str = "a list";
        }
    )+};
}

lists! {
    <T> Vec<T>, <T> VecDeque<T>, <T> BTreeSet<T>, <T, S> HashSet<T, S>,
    <K, V> BTreeMap<K, V>, <K, V, S> HashMap<K, V, S>,
}

impl<T: Measured> Measured for Option<T> {
    fn length(&self) -> Option<usize> {
        self.as_ref()?.length()
    }

    const UNIT: &'static str = T::UNIT;
}

/// Checks a number against a range.
///
/// # Errors
///
/// The number is below `minimum` or above `maximum`.
pub fn check_range<T: Ranged>(value: &T, minimum: Option<Number>, maximum: Option<Number>) -> Result<(), OutOfBounds> {
    let Some(number) = value.number() else {
        return Ok(());
    };
    let is_within = !minimum.is_some_and(|minimum| number.is_below(minimum))
        && !maximum.is_some_and(|maximum| maximum.is_below(number));
    if is_within {
        return Ok(());
    }
    Err(OutOfBounds {
        expected: expected_range::<T>(minimum, maximum),
        found: Found::Number(number),
    })
}

/// The numbers of a range, in words.
pub fn expected_range<T: Ranged>(minimum: Option<Number>, maximum: Option<Number>) -> String {
    format!("{} {}", T::KIND, range(minimum, maximum))
}

/// Checks a length against a range.
///
/// # Errors
///
/// The length is below `minimum` or above `maximum`.
pub fn check_length<T: Measured>(
    value: &T,
    minimum: Option<Number>,
    maximum: Option<Number>,
) -> Result<(), OutOfBounds> {
    let Some(length) = value.length() else {
        return Ok(());
    };
    check_range(&length, minimum, maximum).map_err(|_| OutOfBounds {
        expected: format!("{} with a length {}", T::UNIT, range(minimum, maximum)),
        found: Found::Length(format!("{} with a length of {length}", T::UNIT)),
    })
}

/// A range in words.
fn range(minimum: Option<Number>, maximum: Option<Number>) -> Cow<'static, str> {
    match (minimum, maximum) {
        (Some(minimum), Some(maximum)) => format!("from {minimum} to {maximum}").into(),
        (Some(minimum), None) => format!("of at least {minimum}").into(),
        (None, Some(maximum)) => format!("of at most {maximum}").into(),
        (None, None) => "without bounds".into(),
    }
}
