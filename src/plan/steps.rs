//! The list of steps while it grows.

use crate::model::{CoreClass, CoreKind, OpPosition, SuperKernelType};
use crate::program::{Action, Barrier, Cores, Kinds, Reason, Step};

/// Steps so far.
pub(super) struct Steps {
    list: Vec<Step>,
}

impl Steps {
    /// None yet, with room for those of so many ops as a rule: a long list that grows bit by bit is in memory twice.
    pub(super) fn for_ops(count: usize) -> Self {
        const USUAL: usize = 8;
        Self { list: Vec::with_capacity(count * USUAL) }
    }

    /// A step that speaks for itself.
    pub(super) fn push(&mut self, op: Option<OpPosition>, cores: Cores, action: Action) {
        self.list.push(Step { op, cores, action, reason: None });
    }

    /// A step that is there for a reason.
    pub(super) fn because(&mut self, reason: Reason, op: Option<OpPosition>, cores: Cores, action: Action) {
        self.list.push(Step { op, cores, action, reason: Some(reason) });
    }

    pub(super) fn finish(mut self) -> Vec<Step> {
        self.list.shrink_to_fit();
        self.list
    }
}

/// Whose steps are being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    /// Every core's, op after op.
    Everyone,
    /// Those of one side.
    Side(CoreKind),
}

impl Scope {
    /// All cores in scope.
    pub(super) fn every(self) -> Cores {
        match self {
            Self::Everyone => Cores::EVERY,
            Self::Side(kind) => Cores::all_of(kind),
        }
    }

    /// All kinds in scope.
    pub(super) fn kinds(self) -> Kinds {
        self.every().kinds
    }

    /// The kinds in scope that an op of this class runs on, cube first.
    pub(super) fn kinds_of(self, class: CoreClass) -> impl Iterator<Item = CoreKind> {
        class.kinds().iter().copied().filter(move |kind| self.kinds().contain(*kind))
    }
}

/// The barrier over all cores of a super kernel.
pub(super) fn whole_barrier(kernel_type: SuperKernelType) -> Barrier {
    barrier_of_class(kernel_type.class())
}

/// The barrier over all cores of the kinds of a class.
pub(super) fn barrier_of_class(class: CoreClass) -> Barrier {
    match class {
        CoreClass::Aic => Barrier::Aic,
        CoreClass::Aiv => Barrier::Aiv,
        CoreClass::Mix => Barrier::All,
    }
}

/// The barrier over one side.
pub(super) fn side_barrier(kind: CoreKind) -> Barrier {
    match kind {
        CoreKind::Aic => Barrier::Aic,
        CoreKind::Aiv => Barrier::Aiv,
    }
}
