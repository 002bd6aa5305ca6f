//! The one error type of the crate: a variant per phase, each wrapping that phase's own error. It knows all of them,
//! so none of them may know it: phases return their own errors.

use crate::build::BuildError;
use crate::cost::CostError;
use crate::diagnostic::{Advice, Diagnostic};
use crate::elf::ElfError;
use crate::emit::EmitError;
use crate::fs::FileError;
use crate::json::JsonError;
use crate::link::LinkError;
use crate::loader::LoadError;
use crate::locate::LocateError;
use crate::model::ModelError;
use crate::objects::ObjectError;
use crate::opbuild::OpBuildError;
use crate::operator::OperatorError;
use crate::operator::kernel::KernelError;
use crate::options::OptionError;
use crate::phases::PhaseError;
use crate::plan::PlanError;
use crate::profiling::ProfilingError;
use crate::program::ReadError;
use crate::scope::ScopeError;
use crate::sim::SimError;
use crate::store::StoreError;
use crate::toolchain::ToolchainError;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A place for results could not be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The option string is wrong.
    #[error(transparent)]
    Options(#[from] OptionError),
    /// A compiler or a linker failed.
    #[error(transparent)]
    Toolchain(#[from] ToolchainError),
    /// `kernel_infos`, or a file it names, is wrong.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A kernel could not be loaded into the simulator or launched there.
    #[error(transparent)]
    Sim(#[from] SimError),
    /// An object or archive cannot be read or edited.
    #[error(transparent)]
    Elf(#[from] ElfError),
    /// Objects cannot be linked.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The kernel could not be built or published.
    #[error(transparent)]
    Build(Box<BuildError>),
    /// A sub-kernel's object file is wrong.
    #[error(transparent)]
    Objects(#[from] ObjectError),
    /// A graph cannot be read or planned.
    #[error(transparent)]
    Scope(#[from] ScopeError),
    /// No device program can be made.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A text is no device program.
    #[error(transparent)]
    Program(#[from] ReadError),
    /// Nothing can be predicted.
    #[error(transparent)]
    Cost(#[from] CostError),
    /// A device program cannot be printed.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// A document is not what it should be.
    #[error(transparent)]
    Json(#[from] JsonError),
    /// A kernel's files do not say how to launch it.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// An address is not in a kernel.
    #[error(transparent)]
    Locate(#[from] LocateError),
    /// An operator could not be built.
    #[error(transparent)]
    OpBuild(#[from] OpBuildError),
    /// An operator's folder cannot be read, or its host code refuses.
    #[error(transparent)]
    Operator(#[from] OperatorError),
    /// The kernel of an operator's folder cannot be built.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// A profiling buffer cannot be decoded.
    #[error(transparent)]
    Profiling(#[from] ProfilingError),
}

impl From<BuildError> for Error {
    fn from(error: BuildError) -> Self {
        Self::Build(Box::new(error))
    }
}

impl From<PhaseError> for Error {
    fn from(error: PhaseError) -> Self {
        match error {
            PhaseError::Model(error) => Self::Model(error),
            PhaseError::Objects(error) => Self::Objects(error),
            PhaseError::Plan(error) => Self::Plan(error),
            PhaseError::Emit(error) => Self::Emit(error),
        }
    }
}

impl Diagnostic for Error {
    fn advice(&self) -> Advice {
        self.phase().advice()
    }
}

impl Error {
    /// The phase's own error.
    fn phase(&self) -> &dyn Diagnostic {
        match self {
            Self::File(error) => error,
            Self::Store(error) => error,
            Self::Options(error) => error,
            Self::Toolchain(error) => error,
            Self::Model(error) => error,
            Self::Sim(error) => error,
            Self::Elf(error) => error,
            Self::Link(error) => error,
            Self::Build(error) => &**error,
            Self::Objects(error) => error,
            Self::Scope(error) => error,
            Self::Plan(error) => error,
            Self::Program(error) => error,
            Self::Cost(error) => error,
            Self::Emit(error) => error,
            Self::Json(error) => error,
            Self::Load(error) => error,
            Self::Locate(error) => error,
            Self::OpBuild(error) => error,
            Self::Operator(error) => error,
            Self::Kernel(error) => error,
            Self::Profiling(error) => error,
        }
    }
}
