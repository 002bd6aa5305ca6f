//! The build: from op list to a published kernel.
//!
//! [`build`] reads as the list of its stages; each is a module here or a phase of its own:
//!
//! 1. load the model, read the objects, find the tools ([`toolchains`]);
//! 2. compare with the last build ([`fingerprint`], [`manifest`]) and with the cache ([`store`](crate::store));
//! 3. plan and emit the source;
//! 4. make copies of the sub-kernels ([`copies`]), compile ([`compile`], [`entry`]), copy the super kernel itself;
//! 5. link and hide what is inside ([`assemble`]), read the result again ([`check`]);
//! 6. describe it ([`result_json`]), put it in place ([`store`](crate::store)).
//!
//! Everything before the last step happens in a private directory.

mod assemble;
mod check;
mod compile;
mod copies;
mod entry;
mod error;
pub mod files;
pub mod fingerprint;
mod log;
pub mod manifest;
mod outcome;
pub mod reproducer;
mod request;
mod result_json;
mod stage;
pub mod toolchains;

pub use error::BuildError;
pub use outcome::{Origin, Outcome};
pub use request::{Request, Reuse};
pub use result_json::{ResultJson, ResultOp};
pub use stage::{Observer, Stage};

use std::path::{Path, PathBuf};

use check::Sizes;
use compile::Compilation;
use copies::LinkInputs;
use files::KernelFiles;
use fingerprint::Fingerprint;
use log::{BuildLog, LogStage};
use manifest::{Manifest, Notes, Standing};
use stage::Timings;

use crate::artifact::SuperKernelSymbols;
use crate::cancel::Cancel;
use crate::environment::Intermediates;
use crate::error::Error;
use crate::model::{self, SuperKernel};
use crate::objects::{self, Objects, TextSizes, UsedObject};
use crate::store::StoreError;
use crate::store::cache::Cache;
use crate::store::digest::ContentDigest;
use crate::store::publish::publish;
use crate::store::work_dir::WorkDir;
use crate::toolchain::Toolchain;
use crate::{emit, fs, parallel, plan};

/// Builds a super kernel, or finds that it is there already.
///
/// Nothing visible changes unless it succeeds: then the kernel and its description are in place together.
pub fn build(request: &Request, observer: &dyn Observer, cancel: &Cancel) -> Result<Outcome, Error> {
    parallel::with_threads(request.environment.settings.jobs, || build_with_threads(request, observer, cancel))
}

fn build_with_threads(request: &Request, observer: &dyn Observer, cancel: &Cancel) -> Result<Outcome, Error> {
    let mut timings = Timings::start(observer);
    let (inputs, fingerprint) = look(request, &mut timings)?;
    let kernel = &inputs.kernel;
    kernel
        .warnings
        .iter()
        .for_each(|warning| ::log::warn!(target: "superkernel.compile", "{}: {warning}", kernel.name));

    let files = KernelFiles::new(&request.environment.kernel_meta(), &kernel.name);
    let standing = timings.measure(Stage::Compare, || request.standing(&files, &fingerprint));
    let because = match standing {
        Standing::UpToDate => return Ok(Outcome::new(&inputs, &files, Origin::UpToDate, Vec::new(), &timings)),
        Standing::Absent => Vec::new(),
        Standing::Outdated(reasons) => {
            // Who asks for a rebuild need not be warned of it.
            let level = match request.reuse {
                Reuse::Allowed => ::log::Level::Warn,
                Reuse::Never => ::log::Level::Info,
            };
            ::log::log!(target: "superkernel.compile", level, "{} is built again: {}", kernel.name, reasons.join("; "));
            reasons
        }
    };

    let source = generate(kernel, &inputs.sizes, &mut timings)?;
    let used = timings.measure(Stage::Read, || objects::used(kernel, &inputs.objects))?;
    let cache = request.environment.cache().as_ref().map(Cache::new);
    let cached = timings.measure(Stage::Cache, || request.cached_object(cache.as_ref(), fingerprint.digest()));
    let work = WorkDir::create(files.directory(), &kernel.name, cancel).map_err(|error| place_error(&files, error))?;
    let mut build =
        Build { request, inputs: &inputs, used: &used, files: &files, work: &work, log: BuildLog::default() };
    build.log.add(LogStage::Input, &request.kernel_infos);

    let (made, origin) = build.obtain(cached, &source, &mut timings, cancel)?;
    let digest = fingerprint.digest();
    let noted = timings.to_json();
    timings.measure(Stage::Publish, || -> Result<(), Error> {
        let json = request.description(kernel, &made.object, inputs.toolchain.kind());
        let notes = Notes {
            because: because.clone(),
            parameters: kernel.slots.slots.clone(),
            sizes: Some(made.sizes.clone()),
            timings: noted,
            commands: made.commands,
            call: request.call(),
        };
        let manifest = Manifest::new(fingerprint, &made.object, &json, notes).to_bytes();
        publish(&files.release(&made.object, &json, &manifest), &work, cancel)
            .map_err(|error| place_error(&files, error))
    })?;
    if let (Some(cache), Origin::Built) = (&cache, origin) {
        cache.put(digest, &kernel.name, &made.object);
    }
    Ok(Outcome::new(&inputs, &files, origin, because, &timings).with_sizes(made.sizes))
}

/// What a build starts from, all of it read.
pub struct Inputs {
    /// The checked model.
    pub kernel: SuperKernel,
    /// The sub-kernels' files.
    pub objects: Objects,
    /// Their code sizes.
    pub sizes: TextSizes,
    /// The tools.
    pub toolchain: Box<dyn Toolchain>,
}

/// Reads everything a result depends on.
fn look(request: &Request, timings: &mut Timings<'_>) -> Result<(Inputs, Fingerprint), Error> {
    let environment = &request.environment;
    let kernel =
        timings.measure(Stage::Load, || model::load(&request.kernel_infos, &request.name, &environment.platform))?;
    let (objects, sizes) = timings.measure(Stage::Read, || -> Result<_, Error> {
        let objects = Objects::read(&kernel)?;
        let sizes = objects.text_sizes(&kernel)?;
        Ok((objects, sizes))
    })?;
    let chosen = timings.measure(Stage::Compare, || toolchains::choose(environment))?;
    let fingerprint = timings.measure(Stage::Compare, || {
        // Reading has checked that every op has a file.
        let digests: Vec<ContentDigest> =
            kernel.ops.iter().filter_map(|op| objects.file(op)).map(|file| file.digest).collect();
        Fingerprint::of(&kernel, environment, &digests, chosen.facts)
    });
    Ok((Inputs { kernel, objects, sizes, toolchain: chosen.toolchain }, fingerprint))
}

/// What would make a build of `request` necessary now.
pub fn compare(request: &Request) -> Result<Standing, Error> {
    let (inputs, fingerprint) = look(request, &mut Timings::start(&()))?;
    let files = KernelFiles::new(&request.environment.kernel_meta(), &inputs.kernel.name);
    Ok(request.standing(&files, &fingerprint))
}

fn generate(kernel: &SuperKernel, sizes: &TextSizes, timings: &mut Timings<'_>) -> Result<String, Error> {
    let program = timings.measure(Stage::Plan, || plan::plan(kernel, sizes))?;
    Ok(timings.measure(Stage::Emit, || emit::emit(&program))?)
}

fn output_directory(files: &KernelFiles, source: fs::FileError) -> BuildError {
    BuildError::OutputDirectory { path: files.directory().to_path_buf(), source }
}

/// Trouble with a file where the result belongs is trouble with that place.
fn place_error(files: &KernelFiles, error: StoreError) -> Error {
    match error {
        StoreError::File(source) => output_directory(files, source).into(),
        StoreError::CacheEntry { .. } | StoreError::Cancelled { .. } => error.into(),
    }
}

/// A finished, checked object that is not published yet.
struct Made {
    object: Vec<u8>,
    sizes: Sizes,
    commands: Vec<String>,
}

/// One build in its work directory.
struct Build<'a> {
    request: &'a Request,
    inputs: &'a Inputs,
    used: &'a [UsedObject<'a>],
    files: &'a KernelFiles,
    work: &'a WorkDir,
    log: BuildLog,
}

impl Build<'_> {
    /// The object from the cache, if it is there and passes the check, else a new one.
    fn obtain(
        &mut self,
        cached: Option<Vec<u8>>,
        source: &str,
        timings: &mut Timings<'_>,
        cancel: &Cancel,
    ) -> Result<(Made, Origin), Error> {
        match cached.map(|object| self.check(object, timings)) {
            Some(Ok(made)) => return Ok((made, Origin::Cache)),
            Some(Err(error)) => {
                ::log::warn!(target: "superkernel.cache", "the cached kernel is not used: {error}");
            }
            None => {}
        }
        Ok((self.make(source, timings, cancel)?, Origin::Built))
    }

    /// Copies, compiles, links, checks. The log and what the user wants to keep are saved whether it succeeds or not.
    fn make(&mut self, source: &str, timings: &mut Timings<'_>, cancel: &Cancel) -> Result<Made, Error> {
        let source_file = PathBuf::from(self.request.source_name());
        self.work.write(&source_file, source.as_bytes()).map_err(|error| output_directory(self.files, error))?;
        let made = self.make_object(source_file.clone(), timings, cancel);
        self.keep_intermediates(&source_file);
        let log = self.save_log();
        made.map_err(|error| match (error, log) {
            (Error::Toolchain(source), Some(log)) => BuildError::Tool { source: Box::new(source), log }.into(),
            (Error::Build(BuildError::File(source)), _) => output_directory(self.files, source).into(),
            (other, _) => other,
        })
    }

    fn make_object(&mut self, source: PathBuf, timings: &mut Timings<'_>, cancel: &Cancel) -> Result<Made, Error> {
        let kernel = &self.inputs.kernel;
        let symbols = SuperKernelSymbols::new(&kernel.name);
        let toolchain = &*self.inputs.toolchain;
        let environment = &self.request.environment;
        let mut commands = Vec::new();

        let subs = timings.measure(Stage::Copy, || -> Result<_, Error> {
            let copied = copies::copy_subs(self.used)?;
            Ok(copies::write_subs(&copied, self.work, &mut self.log)?)
        })?;
        let mut inputs = LinkInputs { own: Vec::new(), subs };

        let compilation = Compilation { kernel, symbols: &symbols, environment, toolchain, work: self.work, source };
        let compiled = timings.measure(Stage::Compile, || compilation.run(cancel))?;
        for done in compiled.iter().flat_map(|kind| &kind.executed) {
            self.log.add(LogStage::Compile, &done.command_line);
            commands.push(done.command_line.clone());
        }
        for kind in &compiled {
            let own = timings
                .measure(Stage::Copy, || copies::own_objects(kind, kernel, &symbols, self.work, &mut self.log))?;
            inputs.own.push((kind.kind, own));
        }

        let (linked, linking) = timings.measure(Stage::Link, || {
            assemble::link(inputs.in_order(), kernel, environment, toolchain, self.work, cancel)
        })?;
        for done in &linking {
            self.log.add(LogStage::Fatbin, &done.command_line);
            commands.push(done.command_line.clone());
        }
        let inner = assemble::inner_functions(kernel, &symbols, self.used);
        let object = timings.measure(Stage::Localize, || {
            assemble::localize(&linked, kernel, &symbols, inner, toolchain.kind(), &mut self.log)
        })?;
        let made = self.check(object, timings)?;
        Ok(Made { commands, ..made })
    }

    /// Reads a finished object again.
    fn check(&self, object: Vec<u8>, timings: &mut Timings<'_>) -> Result<Made, Error> {
        let kernel = &self.inputs.kernel;
        let symbols = SuperKernelSymbols::new(&kernel.name);
        let inner = assemble::inner_functions(kernel, &symbols, self.used);
        let toolchain = self.inputs.toolchain.kind();
        let sizes = timings.measure(Stage::Check, || check::check(&object, kernel, &symbols, &inner, toolchain))?;
        Ok(Made { object, sizes, commands: Vec::new() })
    }

    /// Moves source and objects of the super kernel beside the result, if wanted. They are for people: a failure is
    /// told and no more.
    fn keep_intermediates(&self, source: &Path) {
        match self.request.intermediates() {
            Intermediates::Remove => return,
            Intermediates::Keep => {}
        }
        let symbols = SuperKernelSymbols::new(&self.inputs.kernel.name);
        let kinds = self.inputs.kernel.kernel_type.class().kinds();
        let objects = kinds.iter().map(|kind| PathBuf::from(format!("{}.o", symbols.entry(*kind))));
        for name in std::iter::once(source.to_path_buf()).chain(objects) {
            let from = self.work.file(&name);
            if from.exists()
                && let Err(error) = fs::rename(&from, &self.files.directory().join(&name))
            {
                ::log::warn!(target: "superkernel.compile", "{error}");
            }
        }
    }

    /// Puts the log in place; its path if that worked.
    fn save_log(&self) -> Option<PathBuf> {
        let path = self.files.log();
        let saved = self.work.write("build.log", self.log.to_string().as_bytes());
        let saved = saved.and_then(|from| fs::rename(&from, &path));
        match saved {
            Ok(()) => Some(path),
            Err(error) => {
                ::log::warn!(target: "superkernel.compile", "no build log: {error}");
                None
            }
        }
    }
}
