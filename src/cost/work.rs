//! How long the ops themselves take, core by core.

use crate::model::CoreKind;
use crate::program::{CoreId, CoreIndex};

/// What one op does, in microseconds of its own code: without task start, code fetches and synchronisation.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OpWork {
    /// On cube cores.
    pub aic: Spent,
    /// On vector cores.
    pub aiv: Spent,
}

/// Time on the cores of one kind.
#[derive(Debug, Clone, PartialEq)]
pub enum Spent {
    /// The same on every core.
    Even(f64),
    /// By the core's number among its kind; cores beyond the end do nothing.
    PerCore(Vec<f64>),
}

impl Default for Spent {
    fn default() -> Self {
        Self::Even(0.0)
    }
}

impl Spent {
    /// Time on one core.
    pub fn on(&self, core: CoreId) -> f64 {
        match self {
            Self::Even(us) => *us,
            Self::PerCore(us) => us.get(core.index(CoreIndex::Core) as usize).copied().unwrap_or(0.0),
        }
    }

    /// Time on the slowest core.
    pub fn most(&self) -> f64 {
        match self {
            Self::Even(us) => *us,
            Self::PerCore(us) => us.iter().copied().fold(0.0, f64::max),
        }
    }

    fn is_even(&self) -> bool {
        matches!(self, Self::Even(_))
    }
}

impl OpWork {
    /// The same on all cores of both kinds.
    pub fn even(us: f64) -> Self {
        Self { aic: Spent::Even(us), aiv: Spent::Even(us) }
    }

    /// Time on one kind.
    pub fn of(&self, kind: CoreKind) -> &Spent {
        match kind {
            CoreKind::Aic => &self.aic,
            CoreKind::Aiv => &self.aiv,
        }
    }

    /// Time on the slowest core of the given kinds.
    pub fn most(&self, kinds: &[CoreKind]) -> f64 {
        kinds.iter().map(|kind| self.of(*kind).most()).fold(0.0, f64::max)
    }

    /// Do cores of a kind all take the same time?
    pub(crate) fn is_even(&self) -> bool {
        self.aic.is_even() && self.aiv.is_even()
    }
}
