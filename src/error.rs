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

/// The enum with a variant per phase, and what a phase's own error says about itself.
macro_rules! phases {
    ($($(#[doc = $text:literal])+ $phase:ident($(#[$from:ident])? $error:ty),)+) => {
        /// Why a call failed.
        #[derive(Debug, thiserror::Error)]
        pub enum Error {
            $($(#[doc = $text])+ #[error(transparent)] $phase($(#[$from])? $error),)+
        }

        impl Diagnostic for Error {
            fn advice(&self) -> Advice {
                match self {
                    $(Self::$phase(error) => error.advice(),)+
                }
            }
        }
    };
}

phases! {
    /// A file could not be read or written.
    File(#[from] FileError),
    /// A place for results could not be used.
    Store(#[from] StoreError),
    /// The option string is wrong.
    Options(#[from] OptionError),
    /// A compiler or a linker failed.
    Toolchain(#[from] ToolchainError),
    /// `kernel_infos`, or a file it names, is wrong.
    Model(#[from] ModelError),
    /// A kernel could not be loaded into the simulator or launched there.
    Sim(#[from] SimError),
    /// An object or archive cannot be read or edited.
    Elf(#[from] ElfError),
    /// Objects cannot be linked.
    Link(#[from] LinkError),
    /// The kernel could not be built or published.
    Build(Box<BuildError>),
    /// A sub-kernel's object file is wrong.
    Objects(#[from] ObjectError),
    /// A graph cannot be read or planned.
    Scope(#[from] ScopeError),
    /// No device program can be made.
    Plan(#[from] PlanError),
    /// A text is no device program.
    Program(#[from] ReadError),
    /// Nothing can be predicted.
    Cost(#[from] CostError),
    /// A device program cannot be printed.
    Emit(#[from] EmitError),
    /// A document is not what it should be.
    Json(#[from] JsonError),
    /// A kernel's files do not say how to launch it.
    Load(#[from] LoadError),
    /// An address is not in a kernel.
    Locate(#[from] LocateError),
    /// An operator could not be built.
    OpBuild(#[from] OpBuildError),
    /// An operator's folder cannot be read, or its host code refuses.
    Operator(#[from] OperatorError),
    /// The kernel of an operator's folder cannot be built.
    Kernel(#[from] KernelError),
    /// A profiling buffer cannot be decoded.
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
