//! The external compilers and linkers, behind one trait.
//!
//! [`command`] runs a program, [`job`] says what is wanted, [`host`] does it with the machine's own C++ compiler,
//! [`cann`] with the vendor's device compiler.

pub(crate) mod cann;
pub(crate) mod command;
mod error;
pub(crate) mod host;
mod identity;
pub mod job;
mod linking;
mod output;
mod places;
mod slots;
mod watcher;

pub(crate) use cann::{CannSearch, CannToolchain, LinkerUse};
pub(crate) use command::{Command, Executed, quote, shell_line};
pub use error::ToolchainError;
pub(crate) use host::HostCompiler;
pub use host::{HostSearch, HostToolchain};
pub(crate) use identity::ToolIdentity;
pub(crate) use job::{CodeCopies, CompileJob, CompileUnit, LinkInput, LinkJob};
pub use job::{DebugInfo, MemoryCheck, Optimization};
pub(crate) use linking::LinkStep;
pub(crate) use places::Places;
pub(crate) use slots::{ToolSlots, Weight};
pub(crate) use watcher::Keeper;

use crate::cancel::Cancel;
use crate::named::named;

named! {
    /// Which family of tools a toolchain drives.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub(crate) enum ToolchainKind {
        /// The machine's C++ compiler: the result runs on the simulator.
        Host = "host",
        /// The vendor's device compiler: the result runs on a device.
        Cann = "cann",
    }
}

/// A compiler and a linker for one kind of target.
///
/// Shared by threads: a mixed super kernel compiles both core kinds at the same time. Every call returns the commands
/// that ran, in order, for the build log; a call that fails names its command in the error.
pub(crate) trait Toolchain: Send + Sync {
    /// The family.
    fn kind(&self) -> ToolchainKind;

    /// The words of the user's compiler command behind the program itself: part of every call.
    fn arguments(&self) -> Vec<String>;

    /// Every program whose change could change a result, in a fixed order.
    fn identity(&self) -> Vec<ToolIdentity>;

    /// Compiles one source for one core kind.
    fn compile(&self, job: &CompileJob, cancel: &Cancel) -> Result<Vec<Executed>, ToolchainError>;

    /// The steps in which tools link objects, in their order, to one file the loader of this family takes.
    fn link_steps(&self, job: &LinkJob) -> Vec<LinkStep>;
}
