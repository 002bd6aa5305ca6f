//! Fuses already compiled Ascend AI-core kernels into one *super kernel*.
//!
//! The front door: [`plan()`] tells what a super kernel will do, [`generate`] prints it, [`build()`] makes it,
//! [`compare`] tells why it would be made again, [`build_op`] makes what goes into it.
//!
//! ```no_run
//! use superkernel::build::{Request, Reuse, Shared};
//! use superkernel::cancel::Cancel;
//! use superkernel::environment::{Environment, Intermediates, Settings};
//! use superkernel::model::KnownKernels;
//!
//! fn compile(infos: serde_json::Value, settings: Settings, headers: &str) -> Result<String, superkernel::Error> {
//!     let environment = Environment::new(settings, headers.into())?;
//!     println!("{}", superkernel::generate(&infos, "my_kernel", &environment.platform)?);
//!     let (keep, reuse) = (Intermediates::Remove, Reuse::Allowed);
//!     let shared = Shared::new(environment.settings.jobs, &KnownKernels::default());
//!     let name = "my_kernel".into();
//!     let request = Request { kernel_infos: infos, name, environment, keep, reuse, shared };
//!     Ok(superkernel::build(&request, &(), &Cancel::new())?.to_json().to_string())
//! }
//! ```
//!
//! One data flow, each stage a module whose result the next one reads:
//!
//! | stage | module | what it makes |
//! |---|---|---|
//! | inputs | [`options`], `json` | the option string and the JSONs, parsed once |
//! | model | [`model`] | checked types and the facts derived from them |
//! | plan | [`plan`](mod@plan) | every decision, written down as a [`program`] |
//! | emit | [`emit`] | C++ printed from the program |
//! | build | [`elf`], [`toolchain`], [`build`](mod@build) | the object file, its JSON, the manifest |
//!
//! Below the flow: `artifact` has the words of kernel files, [`store`] the files others may read at any moment, `fs`
//! all access to files.
//!
//! Beside the flow: `sim` runs a host-built kernel on simulated cores whose instructions `aicore` knows, `scope`
//! turns a marked graph into op lists, [`cost`] predicts what a super kernel gains, `py` (feature `python`) is the only
//! place that knows Python.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
// `pub` means: part of what this crate offers to those outside. All else is `pub(crate)`, and dead when nobody uses it.
#![warn(unreachable_pub)]
// Without its Python border the crate lacks most of its users: what is dead shows in the build that has them.
#![cfg_attr(not(feature = "python"), allow(dead_code, unused_imports))]

mod aicore;
mod arguments;
mod artifact;
pub mod build;
pub mod cancel;
pub mod cost;
mod diagnostic;
mod documentation;
pub mod elf;
pub mod emit;
pub mod environment;
mod error;
mod fs;
mod inherited;
mod json;
pub mod link;
mod loader;
pub mod locate;
pub mod model;
mod named;
mod nearest;
pub mod objects;
pub mod opbuild;
mod operator;
pub mod options;
mod parallel;
mod phases;
pub mod plan;
mod profiling;
pub mod program;
mod report;
pub mod scope;
mod shortened;
mod sim;
pub mod stage;
pub mod store;
pub mod toolchain;
mod trace;

#[cfg(feature = "python")]
mod py;

pub use diagnostic::{Advice, Diagnostic};
pub use error::Error;
pub use phases::Plan;

use build::model::{Failure, Kernels, ModelObserver, ModelPiece, ModelRequest};
use cancel::Cancel;
use cost::forecast::{Forecast, Model, TunedModel};
use cost::inputs::Known;
use cost::prices::Prices;
use cost::suggest::Suggestion;
use locate::Located;
use model::Platform;
use phases::{Inputs, OtherObjects, Prepared, UnreadableObjects};
use serde_json::Value;
use sim::interface::report::Report;
use sim::interface::request::Request as LaunchRequest;
use stage::{Observer, Timings};
use std::path::Path;

/// Plans a super kernel: load, read, plan. Objects that cannot be read leave code sizes open.
pub fn plan(kernel_infos: &Value, name: &str, platform: &Platform) -> Result<Plan, Error> {
    plan_loaded(load(kernel_infos, name, platform)?)
}

/// The same for a caller who does not need `kernel_infos` again: its memory serves for the program.
#[cfg(feature = "python")]
pub(crate) fn plan_once(kernel_infos: Value, name: &str, platform: &Platform) -> Result<Plan, Error> {
    let prepared = load(&kernel_infos, name, platform)?;
    drop(kernel_infos);
    plan_loaded(prepared)
}

fn load(kernel_infos: &Value, name: &str, platform: &Platform) -> Result<Prepared, Error> {
    let (unreadable, other) = (UnreadableObjects::Warn, OtherObjects::Warn);
    let mut timings = Timings::start(&());
    Ok(Prepared::load(kernel_infos, name, platform, &Inputs::default(), unreadable, other, &mut timings)?)
}

/// The same for a caller who wants to know who takes block-local memory.
#[cfg(feature = "python")]
pub(crate) fn plan_with_block_local(kernel_infos: &Value, name: &str, platform: &Platform) -> Result<Plan, Error> {
    let prepared = load(kernel_infos, name, platform)?;
    let block_local = prepared.block_local();
    Ok(Plan { block_local, ..plan_loaded(prepared)? })
}

fn plan_loaded(prepared: Prepared) -> Result<Plan, Error> {
    let program = prepared.program(&mut Timings::start(&()))?;
    Ok(Plan { kernel: prepared.kernel, sizes: prepared.sizes, program, block_local: None })
}

/// The C++ source of a super kernel: load, read, plan, emit.
pub fn generate(kernel_infos: &Value, name: &str, platform: &Platform) -> Result<String, Error> {
    let mut timings = Timings::start(&());
    let (unreadable, other) = (UnreadableObjects::Fail, OtherObjects::Warn);
    let inputs = Inputs::default();
    Ok(Prepared::load(kernel_infos, name, platform, &inputs, unreadable, other, &mut timings)?.source(&mut timings)?)
}

/// Builds a super kernel, or finds that it is there already: load, read, compare, plan, emit, make, publish.
///
/// Nothing visible changes unless it succeeds: then the kernel and its description are in place together.
pub fn build(request: &build::Request, observer: &dyn Observer, cancel: &Cancel) -> Result<build::Outcome, Error> {
    Ok(parallel::with_threads(request.environment.settings.jobs, || build::build(request, observer, cancel))?)
}

/// What would make a build of `request` necessary now: load, read, compare.
pub fn compare(request: &build::Request) -> Result<build::manifest::Standing, Error> {
    Ok(build::compare(request)?)
}

/// What the cache says to a build of `request`, and why.
#[cfg(feature = "python")]
pub(crate) fn ask_cache(request: &build::Request) -> Result<build::cached::CacheAnswer, Error> {
    Ok(build::ask_cache(request)?)
}

/// Everything that a build of `request` would refuse before it starts a compiler, found without starting one.
pub fn refusals(request: &build::Request) -> Vec<Error> {
    parallel::with_threads(request.environment.settings.jobs, || build::refusals(request))
        .into_iter()
        .map(Error::from)
        .collect()
}

/// Builds an operator written as ordinary AscendC into a sub-kernel, with the machine's own compiler.
pub fn build_op(
    request: &opbuild::OpRequest,
    host: &toolchain::HostToolchain,
    cancel: &Cancel,
) -> Result<opbuild::BuiltOp, Error> {
    Ok(opbuild::build(request, host, cancel)?)
}

/// Runs a launch in this process, on simulated cores, until it ends or `cancel` is raised: kernel code that never comes back
/// is ended, too.
pub(crate) fn simulate(request: LaunchRequest, cancel: &Cancel) -> Result<Report, Error> {
    Ok(sim::launch(request, cancel)?)
}

/// Plans the super kernels of a marked graph.
pub fn scope(graph: &scope::Graph, settings: &scope::Settings, cancel: &Cancel) -> Result<scope::ScopePlan, Error> {
    Ok(scope::plan_model(graph, settings, cancel)?)
}

/// What fusing gains, super kernel by super kernel.
pub fn predict(model: &Model, known: &Known<'_>, prices: &Prices) -> Result<Forecast, Error> {
    Ok(cost::forecast::forecast(model, known, prices)?)
}

/// Which options, and for graphs which cuts, are fastest; at most `candidates` option strings per scope.
pub fn tune(model: &Model, known: &Known<'_>, prices: &Prices, candidates: usize) -> Result<TunedModel, Error> {
    Ok(cost::forecast::tune(model, known, prices, candidates)?)
}

/// Which ranges of a graph to mark; marks it has already are not looked at. Nothing for a single super kernel.
pub fn suggest(model: &Model, known: &Known<'_>, prices: &Prices) -> Result<Suggestion, Error> {
    match model {
        Model::Kernel { .. } => Ok(Suggestion::default()),
        Model::Graph { graph, settings } => Ok(cost::suggest::suggest(graph, settings, known, prices)?),
    }
}

/// Builds the super kernels of a planned model, each kernel once; `kernels` are those of this process.
///
/// Failures are those of single pieces: `observer` hears of every piece as it ends.
pub fn build_model(
    request: &ModelRequest<'_>,
    kernels: &Kernels<Failure>,
    observer: &dyn ModelObserver,
    cancel: &Cancel,
) {
    build::model::build_model(request, kernels, observer, cancel);
}

/// The super kernels of a plan, made with this mode, as [`build_model`] takes them.
pub fn pieces(plan: &scope::ScopePlan, mode: scope::Mode) -> Vec<ModelPiece> {
    let piece = |piece: &scope::Piece| ModelPiece {
        name: piece.name.clone().into(),
        kernel_name: piece.kernel_name.clone(),
        identity: piece.identity(mode),
        kernel_infos: piece.normalized_infos(),
        core_limits: piece.core_limits,
        members: piece.members.iter().map(ToString::to_string).collect(),
        problems: piece
            .problems
            .iter()
            .map(|problem| (problem.message.clone(), problem.id, problem.solution.clone()))
            .collect(),
    };
    plan.pieces.iter().map(piece).collect()
}

/// Where program counters of a device are in the object of a kernel: (counter, address of the code, or of `function` where
/// that is named). An error inside is that of one counter; if none is in the kernel, there is no answer.
pub fn locate(
    object: &Path,
    counters: &[(u64, u64)],
    function: Option<&str>,
) -> Result<Vec<Result<Located, locate::LocateError>>, Error> {
    Ok(locate::counters(object, counters, function)?)
}

/// The cores that a device's log reports as stopped, looked up in the object of a kernel. `start` is where the code is if
/// the log does not say; with `function` every start is one of that function.
pub fn locate_log(
    object: &Path,
    log: &Path,
    start: u64,
    function: Option<&str>,
) -> Result<Vec<locate::StoppedAt>, Error> {
    Ok(locate::in_log(object, log, start, function)?)
}

#[cfg(test)]
extern crate self as superkernel;
#[cfg(test)]
#[path = "../tests/mod.rs"]
mod integration;
