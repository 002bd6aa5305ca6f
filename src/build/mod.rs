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
mod code_map;
mod compile;
mod copies;
mod entry;
mod error;
pub mod files;
pub(crate) mod fingerprint;
mod isolation;
mod keep;
mod link_inputs;
mod log;
pub(crate) mod manifest;
pub mod model;
mod outcome;
mod renamed;
pub(crate) mod reproducer;
mod request;
mod response_files;
mod result_json;
mod shared;
mod stamp;
mod stamped;
mod stored_program;
pub(crate) mod toolchains;

pub use error::BuildError;
pub use manifest::Standing;
pub use outcome::{Origin, Outcome};
pub use request::{Request, Reuse};
pub(crate) use result_json::{ResultJson, ResultOp};
pub use shared::Shared;
pub(crate) use stored_program::StoredProgram;

use std::path::PathBuf;

use assemble::{Assembly, Linking};
use cached::CacheAnswer;
use check::Sizes;
use compile::Compilation;
use files::KernelFiles;
use fingerprint::Fingerprint;
use keep::Keeping;
use link_inputs::LinkInputs;
use log::{BuildLog, LogStage};
use manifest::{Manifest, Notes};
use stamp::Stamp;
use toolchains::Needs;

use crate::artifact::SuperKernelSymbols;
use crate::cancel::Cancel;
use crate::elf;
use crate::environment::{Environment, Intermediates};
use crate::fs;
use crate::model::SuperKernel;
use crate::objects::{self, Sharing, UsedObject};
use crate::phases::{OtherObjects, PhaseError, Prepared, UnreadableObjects};
use crate::program::Program;
use crate::stage::{Observer, Stage, Timings};
use crate::store::StoreError;
use crate::store::cache::CachedKernel;
use crate::store::digest::ContentDigest;
use crate::store::publish::publish;
use crate::store::work_dir::WorkDir;
use crate::toolchain::{Executed, Keeper, Places, Toolchain, ToolchainKind, Weight};

pub(crate) fn build(request: &Request, observer: &dyn Observer, cancel: &Cancel) -> Result<Outcome, BuildError> {
    let mut timings = Timings::start(observer);
    // Before anything is read: what changes later is seen by whoever asks next.
    let stamp = timings.measure(Stage::Load, || Stamp::take(request));
    if let Some(outcome) = unchanged(request, stamp, &mut timings) {
        return Ok(outcome);
    }
    // One watcher for all tools, from the question who the compiler is to the link.
    let _keeper = Keeper::new();
    let prepared = prepare(request, &mut timings)?;
    let kernel = &prepared.kernel;
    let used = timings.measure(Stage::Read, || objects::used(kernel, &prepared.objects))?;
    let sharing = Sharing::of(&used)?;
    let last = timings.measure(Stage::Compare, || Comparison::with_last_build(request, &prepared))?;
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

    let (program, source) = prepared.program_and_source(&mut timings)?;
    let cache = request.cache();
    let files = &last.files;
    let work = WorkDir::create(files.directory(), &kernel.name, cancel).map_err(|error| place_error(files, error))?;
    let toolchain = &*last.toolchain;
    let log = BuildLog::default();
    let mut build = Build {
        request,
        kernel,
        program: &program,
        toolchain,
        used: &used,
        sharing: &sharing,
        files,
        work: &work,
        log,
    };
    build.log.add(LogStage::Input, &request.kernel_infos);

    let key = cache_key(request, kernel, &last.fingerprint);
    let cached = timings.measure(Stage::Cache, || build.checked(request.cached_kernel(cache.as_ref(), key)?));
    let (made, origin) = match cached {
        Some(made) => (made, Origin::Cache),
        None if ::log::log_enabled!(target: "superkernel.cache", ::log::Level::Info) => {
            tell_miss(kernel, &cached::ask(cache.as_ref(), key, &last.fingerprint));
            (build.make(&source, &mut timings, cancel)?, Origin::Built)
        }
        None => (build.make(&source, &mut timings, cancel)?, Origin::Built),
    };
    let noted = timings.to_json();
    let json = request.description(kernel, &kernel.name, made.digest, toolchain.kind());
    timings.measure(Stage::Publish, || -> Result<(), BuildError> {
        let notes = Notes {
            because: because.clone(),
            parameters: kernel.slots.slots.to_vec(),
            sizes: Some(made.sizes.clone()),
            timings: noted,
            commands: made.tools.iter().map(|(_, tool)| tool.command_line.clone()).collect(),
            call: request.call(),
        };
        let counts = (kernel.ops.len(), prepared.objects.count());
        let stamp = stamp
            .and_then(|stamp| stamp.stored((made.digest, &json), counts, toolchain.kind().as_str(), &kernel.warnings));
        let manifest = Manifest::new(last.fingerprint.clone(), made.digest, &json, notes).to_bytes(stamp.as_ref());
        let log = match origin {
            Origin::Built => Some(build.log.to_string()),
            Origin::Cache | Origin::UpToDate => None,
        };
        let log = log.as_deref().map(str::as_bytes);
        let release = files.release(&made.object, &json, &manifest, log, request.intermediates());
        publish(&release, &work, cancel).map_err(|error| place_error(files, error))
    })?;
    if let (Some(cache), Origin::Built) = (&cache, origin) {
        let cached = CachedKernel { kernel: kernel.name.clone(), json, object: made.object, digest: made.digest };
        cache.put(key, last.fingerprint.parts(), &cached);
    }
    Ok(outcome(origin, because, &timings).with_sizes(made.sizes).with_tools(&made.tools))
}

/// The kernel on disk, if all that it depends on looks as it did before the build that made it.
fn unchanged(request: &Request, stamp: Option<Stamp>, timings: &mut Timings<'_>) -> Option<Outcome> {
    let files = KernelFiles::new(&request.environment.kernel_meta(), &request.name);
    let stamped = timings.measure(Stage::Load, || match request.reuse {
        Reuse::Allowed if request.has_what_it_keeps(&files) => stamp?.found_again(&files),
        Reuse::Allowed | Reuse::Never => None,
    })?;
    for warning in &stamped.warnings {
        ::log::warn!(target: "superkernel.compile", "{}: {warning}", request.name);
    }
    Some(Outcome::unchanged(&files, &stamped, timings))
}

/// What would make a build of `request` necessary now.
pub(crate) fn compare(request: &Request) -> Result<Standing, BuildError> {
    let prepared = prepare(request, &mut Timings::start(&()))?;
    Ok(Comparison::with_last_build(request, &prepared)?.standing)
}

/// Why the cache could not help, for those who want to know.
fn tell_miss(kernel: &SuperKernel, answer: &CacheAnswer) {
    let name = &kernel.name;
    match answer {
        CacheAnswer::NoCache | CacheAnswer::Hit => {}
        CacheAnswer::Empty => ::log::info!(target: "superkernel.cache", "{name}: not in the cache"),
        CacheAnswer::Miss { kernel, changes, .. } => {
            let changes = changes.join("; ");
            ::log::info!(target: "superkernel.cache", "{name}: not in the cache; closest is {kernel}: {changes}");
        }
    }
}

/// What the cache says to a build of `request`, and why.
pub(crate) fn ask_cache(request: &Request) -> Result<CacheAnswer, BuildError> {
    let prepared = prepare(request, &mut Timings::start(&()))?;
    let fingerprint = Comparison::with_last_build(request, &prepared)?.fingerprint;
    let key = cache_key(request, &prepared.kernel, &fingerprint);
    Ok(cached::ask(request.cache().as_ref(), key, &fingerprint))
}

/// What the cache knows a kernel by: by its name as well, where that cannot be changed afterwards.
fn cache_key(request: &Request, kernel: &SuperKernel, fingerprint: &Fingerprint) -> ContentDigest {
    match renamed::is_renamable(kernel, &request.environment) {
        true => fingerprint.digest_without_name(),
        false => fingerprint.digest(),
    }
}

/// Everything that a build of `request` would refuse before it starts a compiler, found without starting one.
///
/// What is wrong with the op list hides the rest; files are looked at one by one; what comes behind needs all of them.
pub(crate) fn refusals(request: &Request) -> Vec<BuildError> {
    let Request { kernel_infos, name, environment, .. } = request;
    let kernel = match crate::model::load(kernel_infos, name, &environment.platform) {
        Ok(kernel) => kernel,
        Err(error) => return vec![PhaseError::from(error).into()],
    };
    let problems = objects::problems(&kernel);
    if !problems.is_empty() {
        return problems.into_iter().map(|problem| PhaseError::from(problem).into()).collect();
    }
    let mut timings = Timings::start(&());
    let prepared = match prepare(request, &mut timings) {
        Ok(prepared) => prepared,
        Err(error) => return vec![error],
    };
    let copied = objects::used(&prepared.kernel, &prepared.objects).map_err(BuildError::from).and_then(|used| {
        copies::copy_subs(
            &used,
            &Sharing::of(&used)?,
            &Places::inside(environment.kernel_meta()),
            &request.shared.copies,
        )?;
        Ok(())
    });
    let compared = Comparison::with_last_build(request, &prepared).map(drop);
    let source = prepared.source(&mut timings).map(drop).map_err(BuildError::from);
    [copied, compared, source].into_iter().filter_map(Result::err).collect()
}

fn prepare(request: &Request, timings: &mut Timings<'_>) -> Result<Prepared, BuildError> {
    let Request { kernel_infos, name, environment, shared, .. } = request;
    let (unreadable, other) = (UnreadableObjects::Fail, OtherObjects::with_strict(environment.settings.strict));
    Ok(Prepared::load(kernel_infos, name, &environment.platform, &shared.inputs, unreadable, other, timings)?)
}

/// What a build would do it with, and what the last one left.
struct Comparison {
    toolchain: Box<dyn Toolchain>,
    fingerprint: Fingerprint,
    files: KernelFiles,
    standing: Standing,
}

impl Comparison {
    fn with_last_build(request: &Request, prepared: &Prepared) -> Result<Self, BuildError> {
        let Prepared { kernel, objects, .. } = prepared;
        let needs = Needs::Objects(objects, kernel);
        let chosen = toolchains::choose(&request.environment, &needs, &request.shared.known_tools)?;
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
    /// What ran for it.
    tools: Vec<(Stage, Executed)>,
}

/// One build in its work directory.
struct Build<'a> {
    request: &'a Request,
    kernel: &'a SuperKernel,
    program: &'a Program,
    toolchain: &'a dyn Toolchain,
    used: &'a [UsedObject<'a>],
    sharing: &'a Sharing<'a>,
    files: &'a KernelFiles,
    work: &'a WorkDir,
    log: BuildLog,
}

impl Build<'_> {
    /// A kernel from the cache, under its name of now, if it is described as it would be and passes the check.
    fn checked(&self, CachedKernel { kernel: name, json, object, digest }: CachedKernel) -> Option<Made> {
        let unused = |why: &dyn std::fmt::Display| {
            ::log::warn!(target: "superkernel.cache", "the cached kernel is not used: {why}");
            None
        };
        if json != self.request.description(self.kernel, &name, digest, self.toolchain.kind()) {
            return unused(&"its description is another's");
        }
        let (object, digest) = if name == self.kernel.name {
            (object, digest)
        } else {
            match renamed::renamed(&object, self.kernel, &name) {
                Ok(object) => {
                    let digest = ContentDigest::of(&object);
                    (object, digest)
                }
                Err(error) => return unused(&error),
            }
        };
        match self.check(&object) {
            Ok(sizes) => Some(Made { object, digest, sizes, tools: Vec::new() }),
            Err(error) => unused(&error),
        }
    }

    /// Copies, compiles, links, checks. The log and what the user wants to keep are saved whether it succeeds or not.
    fn make(&mut self, source: &str, timings: &mut Timings<'_>, cancel: &Cancel) -> Result<Made, BuildError> {
        let source_file = PathBuf::from(self.request.source_name());
        let keeping = Keeping::new(self.files, self.kernel, &source_file);
        let keeps = self.request.intermediates() == Intermediates::Keep;
        if keeps {
            // At once, before the tools take their time.
            keeping.check()?;
        }
        self.work.write(&source_file, source.as_bytes()).map_err(|error| output_directory(self.files, error))?;
        let weight = Weight::of_source(source.len());
        let made = self.make_object(source_file, weight, &keeping.places(), timings, cancel);
        let kept = if keeps { keeping.save(self.work, &self.log, cancel) } else { Ok(()) };
        let made = made.map_err(|error| match (error, self.save_log()) {
            (BuildError::Toolchain(source), Some(log)) => BuildError::Tool { source: Box::new(source), log },
            (BuildError::File(source), _) => output_directory(self.files, source),
            (other, _) => other,
        })?;
        kept.map(|()| made)
    }

    fn make_object(
        &mut self,
        source: PathBuf,
        weight: Weight,
        places: &Places,
        timings: &mut Timings<'_>,
        cancel: &Cancel,
    ) -> Result<Made, BuildError> {
        let (kernel, toolchain) = (self.kernel, self.toolchain);
        let symbols = SuperKernelSymbols::new(&kernel.name);
        let Request { environment, shared, .. } = self.request;
        let mut tools = Vec::new();

        let linking = Linking::of(toolchain.kind(), environment);
        let wanted = linking.wanted_files(self.request.intermediates());
        let copied =
            timings.measure(Stage::Copy, || copies::copy_subs(self.used, self.sharing, places, &shared.copies))?;
        let subs =
            timings.measure(Stage::Copy, || copies::gather_subs(&copied, wanted, self.work, places, &mut self.log))?;
        let mut inputs = LinkInputs { own: Vec::new(), subs };

        let (work, symbols, slots) = (self.work, &symbols, &shared.tools);
        let kept = places.clone();
        let compilation =
            Compilation { kernel, symbols, environment, toolchain, slots, work, source, weight, places: kept };
        let compiled = timings.measure(Stage::Compile, || compilation.run(cancel));
        let compiled = compiled.inspect_err(|error| self.log_failure(LogStage::Compile, error))?;
        for done in compiled.iter().flat_map(|kind| &kind.executed) {
            self.log.add(LogStage::Compile, &done.command_line);
            tools.push((Stage::Compile, done.clone()));
        }
        for kind in &compiled {
            let own = timings.measure(Stage::Compile, || {
                copies::own_objects(kind, kernel, symbols, self.sharing, (wanted, work), places, &mut self.log)
            })?;
            inputs.own.push((kind.kind, own));
        }

        let used = self.used;
        let assembly = Assembly { kernel, symbols, used, environment, toolchain, slots, work, places };
        let linked = timings.measure(Stage::Link, || assembly.link(&inputs, wanted, &mut self.log, cancel))?;
        tools.extend(linked.executed.into_iter().map(|done| (Stage::Link, done)));
        let object = timings.measure(Stage::Localize, || {
            let added = code_map::sections(&linked.bytes, kernel, self.program, symbols, self.used, &inputs.own);
            // The same bytes as one that was built under another name and renamed.
            added.and_then(|added| elf::normalized(linked.bytes, &added)).map_err(|error| {
                compile::bad_output("the linker", &format!("super kernel `{}`", kernel.name), error.to_string())
            })
        })?;
        let (sizes, digest) =
            timings.measure(Stage::Check, || rayon::join(|| self.check(&object), || ContentDigest::of(&object)));
        Ok(Made { digest, object, sizes: sizes?, tools })
    }

    /// Reads a finished object again.
    fn check(&self, object: &[u8]) -> Result<Sizes, BuildError> {
        let symbols = SuperKernelSymbols::new(&self.kernel.name);
        let inner = assemble::inner_functions(self.kernel, &symbols, self.used);
        check::check(object, &self.kernel.name, self.kernel.kernel_type, &inner, self.toolchain.kind())
    }

    /// The command that failed is the one people want to repeat.
    fn log_failure(&mut self, stage: LogStage, error: &BuildError) {
        if let BuildError::Toolchain(error) = error
            && let Some(line) = error.command_line()
        {
            self.log.add(stage, line);
        }
    }

    /// Puts the log of a build in place that failed; its path if that worked. That of one that succeeded is published.
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
