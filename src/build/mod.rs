//! The build: from op list to a published kernel.
//!
//! `build` reads as the list of its stages; each is a module here or a phase of its own:
//!
//! 1. load the model, read the objects;
//! 2. find the tools ([`toolchains`]), compare with the last build ([`fingerprint`], [`manifest`]);
//! 3. plan and emit the source; ask the cache ([`store`](crate::store));
//! 4. make copies of the sub-kernels ([`copies`]), compile ([`compile`], [`entry`]), copy the super kernel itself;
//! 5. link and hide what is inside ([`assemble`]), read the result again ([`check`]);
//! 6. describe it ([`result_json`]), put it in place ([`store`](crate::store)).
//!
//! Everything before the last step happens in a private directory.

mod assemble;
pub(crate) mod cached;
mod check;
mod compile;
mod copies;
mod entry;
mod error;
pub mod files;
pub(crate) mod fingerprint;
mod log;
pub(crate) mod manifest;
mod outcome;
pub(crate) mod reproducer;
mod request;
mod response_files;
mod result_json;
pub(crate) mod toolchains;

pub use error::BuildError;
pub use manifest::Standing;
pub use outcome::{Origin, Outcome};
pub use request::{Request, Reuse};
pub(crate) use result_json::{ResultJson, ResultOp};

use std::path::{Path, PathBuf};

use check::Sizes;
use compile::Compilation;
use copies::LinkInputs;
use files::KernelFiles;
use fingerprint::Fingerprint;
use log::{BuildLog, LogStage};
use manifest::{Manifest, Notes};
use toolchains::Needs;

use crate::artifact::SuperKernelSymbols;
use crate::cancel::Cancel;
use crate::environment::{Environment, Intermediates};
use crate::fs;
use crate::model::SuperKernel;
use crate::objects::{self, UsedObject};
use crate::phases::{OtherObjects, Prepared, UnreadableObjects};
use crate::stage::{Observer, Stage, Timings};
use crate::store::StoreError;
use crate::store::cache::CachedKernel;
use crate::store::digest::ContentDigest;
use crate::store::publish::publish;
use crate::store::work_dir::WorkDir;
use crate::toolchain::{Toolchain, ToolchainKind};

pub(crate) fn build(request: &Request, observer: &dyn Observer, cancel: &Cancel) -> Result<Outcome, BuildError> {
    let mut timings = Timings::start(observer);
    let prepared = prepare(request, &mut timings)?;
    let kernel = &prepared.kernel;
    let used = timings.measure(Stage::Read, || objects::used(kernel, &prepared.objects))?;
    let last = timings.measure(Stage::Compare, || Comparison::with_last_build(request, &prepared, cancel))?;
    let outcome = |origin, because, timings: &_| Outcome::new(&prepared, &last, origin, because, timings);
    let because = match &last.standing {
        Standing::UpToDate => return Ok(outcome(Origin::UpToDate, Vec::new(), &timings)),
        Standing::Absent => Vec::new(),
        Standing::Outdated(reasons) => {
            // Who asks for a rebuild need not be warned of it.
            let level = match request.reuse {
                Reuse::Allowed => ::log::Level::Warn,
                Reuse::Never => ::log::Level::Info,
            };
            ::log::log!(target: "superkernel.compile", level, "{} is built again: {}", kernel.name, reasons.join("; "));
            reasons.clone()
        }
    };

    let source = prepared.source(&mut timings)?;
    let cache = request.cache();
    let files = &last.files;
    let work = WorkDir::create(files.directory(), &kernel.name, cancel).map_err(|error| place_error(files, error))?;
    let toolchain = &*last.toolchain;
    let mut build = Build { request, kernel, toolchain, used: &used, files, work: &work, log: BuildLog::default() };
    build.log.add(LogStage::Input, &request.kernel_infos);

    let cached = timings
        .measure(Stage::Cache, || build.checked(request.cached_kernel(cache.as_ref(), last.fingerprint.digest())?));
    let (made, origin) = match cached {
        Some(made) => (made, Origin::Cache),
        None => (build.make(&source, &mut timings, cancel)?, Origin::Built),
    };
    let noted = timings.to_json();
    let json = request.description(kernel, made.digest, toolchain.kind());
    timings.measure(Stage::Publish, || -> Result<(), BuildError> {
        let notes = Notes {
            because: because.clone(),
            parameters: kernel.slots.slots.clone(),
            sizes: Some(made.sizes.clone()),
            timings: noted,
            commands: made.commands,
            call: request.call(),
        };
        let manifest = Manifest::new(last.fingerprint.clone(), made.digest, &json, notes).to_bytes();
        publish(&files.release(&made.object, &json, &manifest), &work, cancel)
            .map_err(|error| place_error(files, error))
    })?;
    if let (Some(cache), Origin::Built) = (&cache, origin) {
        let cached = CachedKernel { json, object: made.object, digest: made.digest };
        cache.put(last.fingerprint.digest(), &kernel.name, &cached);
    }
    Ok(outcome(origin, because, &timings).with_sizes(made.sizes))
}

/// What would make a build of `request` necessary now.
pub(crate) fn compare(request: &Request, cancel: &Cancel) -> Result<Standing, BuildError> {
    let prepared = prepare(request, &mut Timings::start(&()))?;
    Ok(Comparison::with_last_build(request, &prepared, cancel)?.standing)
}

fn prepare(request: &Request, timings: &mut Timings<'_>) -> Result<Prepared, BuildError> {
    let Request { kernel_infos, name, environment, .. } = request;
    let other = OtherObjects::with_strict(environment.settings.strict);
    Ok(Prepared::load(kernel_infos, name, &environment.platform, UnreadableObjects::Fail, other, timings)?)
}

/// What a build would do it with, and what the last one left.
struct Comparison {
    toolchain: Box<dyn Toolchain>,
    fingerprint: Fingerprint,
    files: KernelFiles,
    standing: Standing,
}

impl Comparison {
    fn with_last_build(request: &Request, prepared: &Prepared, cancel: &Cancel) -> Result<Self, BuildError> {
        let Prepared { kernel, objects, .. } = prepared;
        let chosen = toolchains::choose(&request.environment, &Needs::Objects(objects, kernel), cancel)?;
        refuse_sanitizer(kernel, &request.environment, chosen.toolchain.kind())?;
        // Reading has checked that every op has a file.
        let digests: Vec<ContentDigest> =
            kernel.ops.iter().filter_map(|op| objects.file(op)).map(|file| file.digest).collect();
        let mut facts = chosen.facts;
        facts.extend(response_files::facts(&kernel.options.compile_options, chosen.toolchain.kind())?);
        let fingerprint = Fingerprint::of(kernel, &request.environment, &digests, facts);
        let files = KernelFiles::new(&request.environment.kernel_meta(), &kernel.name);
        let standing = request.standing(&files, &fingerprint);
        Ok(Self { toolchain: chosen.toolchain, fingerprint, files, standing })
    }
}

/// Code that is instrumented needs the sanitizer's own objects linked to it, which is not done here: a kernel without
/// them would be taken for one that was checked.
fn refuse_sanitizer(kernel: &SuperKernel, environment: &Environment, kind: ToolchainKind) -> Result<(), BuildError> {
    let by_option = kernel.options.compile_options.iter().any(|option| option == "-sanitizer");
    let asked = match (by_option, environment.debug_config().wants_sanitizer) {
        (true, _) => "option `compile-options=-sanitizer`",
        (false, true) => "`sanitizer` in the debug config",
        (false, false) => return Ok(()),
    };
    match kind {
        ToolchainKind::Cann => Err(BuildError::Sanitizer { kernel: kernel.name.clone(), asked }),
        // There it is one of the options that the host compiler does not take.
        ToolchainKind::Host => Ok(()),
    }
}

fn output_directory(files: &KernelFiles, source: fs::FileError) -> BuildError {
    BuildError::OutputDirectory { path: files.directory().to_path_buf(), source }
}

/// Trouble with a file where the result belongs is trouble with that place.
fn place_error(files: &KernelFiles, error: StoreError) -> BuildError {
    match error {
        StoreError::File(source) => output_directory(files, source),
        StoreError::CacheEntry { .. } | StoreError::ForeignCache { .. } | StoreError::Cancelled { .. } => error.into(),
    }
}

/// A finished, checked object that is not published yet.
struct Made {
    object: Vec<u8>,
    digest: ContentDigest,
    sizes: Sizes,
    commands: Vec<String>,
}

/// One build in its work directory.
struct Build<'a> {
    request: &'a Request,
    kernel: &'a SuperKernel,
    toolchain: &'a dyn Toolchain,
    used: &'a [UsedObject<'a>],
    files: &'a KernelFiles,
    work: &'a WorkDir,
    log: BuildLog,
}

impl Build<'_> {
    /// A kernel from the cache, if it passes the check and is described as it would be now.
    fn checked(&self, CachedKernel { json, object, digest }: CachedKernel) -> Option<Made> {
        if json != self.request.description(self.kernel, digest, self.toolchain.kind()) {
            ::log::warn!(target: "superkernel.cache", "the cached kernel is not used: its description is another's");
            return None;
        }
        match self.check(&object) {
            Ok(sizes) => Some(Made { object, digest, sizes, commands: Vec::new() }),
            Err(error) => {
                ::log::warn!(target: "superkernel.cache", "the cached kernel is not used: {error}");
                None
            }
        }
    }

    /// Copies, compiles, links, checks. The log and what the user wants to keep are saved whether it succeeds or not.
    fn make(&mut self, source: &str, timings: &mut Timings<'_>, cancel: &Cancel) -> Result<Made, BuildError> {
        let source_file = PathBuf::from(self.request.source_name());
        self.work.write(&source_file, source.as_bytes()).map_err(|error| output_directory(self.files, error))?;
        let made = self.make_object(source_file.clone(), timings, cancel);
        self.keep_intermediates(&source_file);
        let log = self.save_log();
        made.map_err(|error| match (error, log) {
            (BuildError::Toolchain(source), Some(log)) => BuildError::Tool { source: Box::new(source), log },
            (BuildError::File(source), _) => output_directory(self.files, source),
            (other, _) => other,
        })
    }

    fn make_object(&mut self, source: PathBuf, timings: &mut Timings<'_>, cancel: &Cancel) -> Result<Made, BuildError> {
        let (kernel, toolchain) = (self.kernel, self.toolchain);
        let symbols = SuperKernelSymbols::new(&kernel.name);
        let environment = &self.request.environment;
        let mut commands = Vec::new();

        let subs = timings.measure(Stage::Copy, || -> Result<_, BuildError> {
            let copied = copies::copy_subs(self.used)?;
            copies::write_subs(&copied, self.work, &mut self.log)
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
                .measure(Stage::Compile, || copies::own_objects(kind, kernel, &symbols, self.work, &mut self.log))?;
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
        let sizes = timings.measure(Stage::Check, || self.check(&object))?;
        Ok(Made { digest: ContentDigest::of(&object), object, sizes, commands })
    }

    /// Reads a finished object again.
    fn check(&self, object: &[u8]) -> Result<Sizes, BuildError> {
        let symbols = SuperKernelSymbols::new(&self.kernel.name);
        let inner = assemble::inner_functions(self.kernel, &symbols, self.used);
        check::check(object, self.kernel, &symbols, &inner, self.toolchain.kind())
    }

    /// Moves source and objects of the super kernel beside the result, if wanted. They are for people: a failure is
    /// told and no more.
    fn keep_intermediates(&self, source: &Path) {
        match self.request.intermediates() {
            Intermediates::Remove => return,
            Intermediates::Keep => {}
        }
        let symbols = SuperKernelSymbols::new(&self.kernel.name);
        let kinds = self.kernel.kernel_type.class().kinds();
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
