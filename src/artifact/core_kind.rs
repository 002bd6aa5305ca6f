//! The kinds of AI core.

use crate::named::named;

named! {
    /// A kind of AI core.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum CoreKind {
        /// Cube (matrix) core.
        Aic = "aic",
        /// Vector core.
        Aiv = "aiv",
    }
}

impl CoreKind {
    /// Both kinds, cube first: the order in which a MIX op's halves are written.
    pub const BOTH: [Self; 2] = [Self::Aic, Self::Aiv];

    /// The word for it in messages, as in "vector cores".
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Aic => "cube",
            Self::Aiv => "vector",
        }
    }

    /// `cube` or `vec`, as in arch names.
    pub(crate) fn arch_suffix(self) -> &'static str {
        match self {
            Self::Aic => "cube",
            Self::Aiv => "vec",
        }
    }

    /// The other kind.
    pub fn other(self) -> Self {
        match self {
            Self::Aic => Self::Aiv,
            Self::Aiv => Self::Aic,
        }
    }
}

/// Which kinds of core an op runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CoreClass {
    /// Cube cores only.
    Aic,
    /// Vector cores only.
    Aiv,
    /// Both.
    Mix,
}

impl CoreClass {
    /// The number early start uses for it: `(previous << 2) | current`.
    pub(crate) fn early_start_code(self) -> u32 {
        match self {
            Self::Aic => 0,
            Self::Aiv => 1,
            Self::Mix => 2,
        }
    }

    /// The kinds of both.
    pub(crate) fn with(self, other: Self) -> Self {
        if self == other { self } else { Self::Mix }
    }

    /// Does it run on `kind`?
    pub fn runs_on(self, kind: CoreKind) -> bool {
        match self {
            Self::Aic => kind == CoreKind::Aic,
            Self::Aiv => kind == CoreKind::Aiv,
            Self::Mix => true,
        }
    }

    /// The kinds it runs on, cube first.
    pub fn kinds(self) -> &'static [CoreKind] {
        match self {
            Self::Aic => &[CoreKind::Aic],
            Self::Aiv => &[CoreKind::Aiv],
            Self::Mix => &CoreKind::BOTH,
        }
    }
}
