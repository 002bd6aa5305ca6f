//! Fuses already compiled Ascend AI-core kernels into one *super kernel*.
//!
//! One data flow, each stage a module whose result the next one reads:
//!
//! | stage | module | what it makes |
//! |---|---|---|
//! | inputs | [`options`], [`json`] | the option string and the JSONs, parsed once |
//! | model | [`model`] | checked types and the facts derived from them |
//! | plan | [`plan`] | every decision, written down as a [`program`] |
//! | emit | [`emit`] | C++ printed from the program |
//! | build | [`elf`], [`toolchain`], [`build`] | the object file, its JSON, the manifest |
//!
//! Beside the flow: [`sim`] runs a host-built kernel on simulated cores whose instructions [`aicore`] knows, [`scope`]
//! turns a marked graph into op lists, [`cost`] predicts what a super kernel gains, `py` (feature `python`) is the only
//! place that knows Python.

pub mod aicore;
pub mod artifact;
pub mod build;
pub mod cancel;
pub mod cost;
pub mod diagnostic;
pub mod elf;
pub mod emit;
pub mod environment;
pub mod error;
pub mod fs;
pub mod json;
pub mod loader;
pub mod model;
pub mod nearest;
pub mod objects;
pub mod opbuild;
pub mod options;
pub mod parallel;
pub mod plan;
pub mod program;
pub mod report;
pub mod scope;
pub mod shortened;
pub mod sim;
pub mod store;
pub mod toolchain;

#[cfg(feature = "python")]
mod py;

pub use diagnostic::Diagnostic;
pub use error::Error;
