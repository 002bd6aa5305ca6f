//! Enums whose values have names.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error, Visitor};

/// A value with a name.
pub(crate) trait Named: Copy {
    /// All names.
    const NAMES: &'static [&'static str];
    /// What each value means, as the documents say it.
    const MEANINGS: &'static [&'static str];

    /// The value with this name.
    fn named(name: &str) -> Option<Self>;

    /// The name of the value.
    fn name(self) -> &'static str;
}

/// Reads a name.
pub(crate) struct Reader<T>(pub(crate) PhantomData<T>);

impl<T: Named> Visitor<'_> for Reader<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "one of {}", T::NAMES.join(", "))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<T, E> {
        T::named(name).ok_or_else(|| E::unknown_variant(name, T::NAMES))
    }
}

/// An enum with a name for each value. `ALL`, `as_str`, `from_name`, `Display`, how it stands in JSON, and what documents say
/// about a value (its comment) follow from the one list.
macro_rules! named {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident { $(
            $(#[doc = $meaning:literal])* $(#[default] $($never:literal)?)? $variant:ident = $text:literal,
        )+ }
    ) => {
        $(#[$attribute])*
        $visibility enum $name { $($(#[doc = $meaning])* $(#[default] $($never)?)? $variant,)+ }

        #[allow(dead_code, reason = "not every enum is listed, printed and read")]
        impl $name {
            /// All of them.
            $visibility const ALL: [Self; [$($text),+].len()] = [$(Self::$variant),+];

            /// Its name.
            $visibility const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The one with this name.
            $visibility fn from_name(name: &str) -> Option<Self> {
                match name { $($text => Some(Self::$variant),)+ _ => None }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }

        impl $crate::named::Named for $name {
            const NAMES: &'static [&'static str] = &[$($text),+];
            const MEANINGS: &'static [&'static str] = &[$(concat!($($meaning),*).trim_ascii()),+];

            fn named(name: &str) -> Option<Self> {
                Self::from_name(name)
            }

            fn name(self) -> &'static str {
                self.as_str()
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_str($crate::named::Reader::<Self>(std::marker::PhantomData))
            }
        }
    };
}

pub(crate) use named;
