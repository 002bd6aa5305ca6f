//! Enums whose values have names.

/// An enum with a name for each value. `ALL`, `as_str`, `from_name` and `Display` follow from the one list.
macro_rules! named {
    (
        $(#[$attribute:meta])*
        $visibility:vis enum $name:ident { $($(#[$variant_attribute:meta])* $variant:ident = $text:literal,)+ }
    ) => {
        $(#[$attribute])*
        $visibility enum $name { $($(#[$variant_attribute])* $variant,)+ }

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
    };
}

pub(crate) use named;
