//! Builds an operator written as ordinary AscendC into a sub-kernel: object or archive, and JSON.
//!
//! The steps, in order: check the request ([`request`]), preprocess and look at the source ([`scan`]), bring both
//! together ([`facts`]), compile one function per core kind and tiling key ([`wrapper`]), make everything but the
//! entries local and cut the copies ([`objects`]), write the JSON ([`description`]) and publish both.

mod complaint;
pub(crate) mod description;
mod detect;
mod error;
pub(crate) mod expression;
pub(crate) mod facts;
pub(crate) mod headers;
mod kernel_type;
pub(crate) mod lexer;
mod objects;
mod precompiled;
pub(crate) mod program;
mod publish;
pub(crate) mod request;
pub(crate) mod scan;
pub(crate) mod template;
mod wrapper;

use std::path::{Path, PathBuf};

pub use error::OpBuildError;
pub use facts::Facts;
pub use headers::HeaderTree;
pub use request::{Choice, OpRequest, Position, Source, TilingKey};

use crate::cancel::Cancel;
use crate::fs;
use crate::model::KernelType;
use crate::store::{
    self,
    digest::ContentDigest,
    publish::{NewFile, Release},
    work_dir::WorkDir,
};
use crate::toolchain::{
    CodeCopies, CompileJob, CompileUnit, DebugInfo, HostToolchain, MemoryCheck, Optimization, Places, Toolchain,
    ToolchainError,
};
use request::Unit;
use scan::{Findings, Foreign};

/// Changes when the builder would make something else of the same request.
const VERSION: &str = "op-builder-5";

/// A finished sub-kernel.
#[derive(Debug, Clone)]
pub struct BuiltOp {
    /// `kernelName`.
    pub name: String,
    /// The JSON.
    pub json_path: PathBuf,
    /// The object or archive.
    pub bin_path: PathBuf,
    /// The cores it runs on.
    pub kernel_type: KernelType,
    /// What was found out about it.
    pub facts: Facts,
    /// Its functions, as they stand in the JSON.
    pub functions: Vec<String>,
    /// An equal result was there already.
    pub reused: bool,
}

/// Builds `request` with the host toolchain.
pub(crate) fn build(request: &OpRequest, host: &HostToolchain, cancel: &Cancel) -> Result<BuiltOp, OpBuildError> {
    request.check()?;
    fs::create_directories(&request.out_dir)?;
    // From the root: tools run elsewhere.
    let work = WorkDir::create(&fs::canonical(&request.out_dir)?, &request.kernel, cancel)?;
    let source = publish::source_file(request, &work)?;
    let request = &detect::with_types(request, host, &source, &work, cancel)?;
    let units = request.units();
    let texts = preprocess(request, host, &source, &units, &work, "scan", cancel)?;
    let facts = Facts::new(request, &look(request, host, &texts))?;

    let digest = digest(request, host, &source, &work, &texts);
    let name = request.name.clone().unwrap_or_else(|| format!("{}_{}", request.kernel, digest.short()));
    let functions: Vec<String> = units.iter().map(|unit| format!("{name}{}", unit.suffix(request.position))).collect();
    let paths = publish::Paths::new(&request.out_dir, &name);
    let built = |reused| BuiltOp {
        name: name.clone(),
        json_path: paths.json.clone(),
        bin_path: paths.object.clone(),
        kernel_type: request.kernel_type,
        facts: facts.clone(),
        functions: functions.clone(),
        reused,
    };
    if publish::is_current(&paths, digest) {
        return Ok(built(true));
    }

    let compiled = compile(request, host, &source, &facts, &units, &texts, &functions, &work, cancel)?;
    let (object, built_functions) = objects::assemble(request, &name, compiled)?;
    let json = description::describe(request, &facts, &name, &built_functions, ContentDigest::of(&object), digest);
    let json = format!("{json:#}\n");
    let release = Release {
        object: NewFile { path: paths.object.clone(), bytes: &object },
        json: NewFile { path: paths.json.clone(), bytes: json.as_bytes() },
        record: None,
        log: None,
        outdated: Box::new(|_| false),
    };
    store::publish::publish(&release, &work, cancel)?;
    Ok(built(false))
}

/// What the preprocessor made of a unit.
struct Text {
    text: String,
    /// It had marks that only device compilers know.
    has_marks: bool,
}

/// One unit, compiled.
struct CompiledUnit {
    unit: Unit,
    function: String,
    object: Vec<u8>,
}

/// Runs `step` for every unit, at the same time: a mixed operator compiles twice.
fn for_each_unit<T, F>(units: &[Unit], step: F) -> Result<Vec<T>, OpBuildError>
where
    T: Send,
    F: Fn(usize, &Unit) -> Result<T, OpBuildError> + Sync,
{
    use rayon::prelude::*;
    crate::parallel::run(|| units.par_iter().enumerate().map(|(index, unit)| step(index, unit)).collect())
}

fn preprocess(
    request: &OpRequest,
    host: &HostToolchain,
    source: &Path,
    units: &[Unit],
    work: &WorkDir,
    folder: &str,
    cancel: &Cancel,
) -> Result<Vec<Text>, OpBuildError> {
    // In place of the facts that are not known yet: all that can be on.
    let early_start = !request.is_dynamic() && request.early_start != Choice::No;
    for_each_unit(units, |index, unit| {
        let directory = work.subdirectory(format!("{folder}{index}"))?;
        fs::write(&directory.join(WRAPPER), wrapper::for_scan(source, request, unit).as_bytes())?;
        let mut job = job(request, host, unit, &directory, "look", cancel)?;
        if early_start {
            job.defines.extend([SET_DEFINE, WAIT_DEFINE, EARLY_START_DEFINE].map(str::to_owned));
        }
        let done = host.preprocess(&job, cancel).map_err(|error| complaint(request, host, error))?;
        let text = String::from_utf8_lossy(&done.stdout).into_owned();
        let unmarked = scan::without_marks(&text);
        Ok(Text { has_marks: unmarked.is_some(), text: unmarked.unwrap_or(text) })
    })
}

fn foreign(request: &OpRequest, host: &HostToolchain) -> Foreign {
    let mut directories = vec![host.include_dir().to_path_buf()];
    directories.extend(request.headers.as_ref().map(|headers| headers.root().to_path_buf()));
    Foreign { directories, wrapper: WRAPPER.into() }
}

fn complaint(request: &OpRequest, host: &HostToolchain, error: ToolchainError) -> OpBuildError {
    OpBuildError::of_source(error, &foreign(request, host), request.headers.is_none())
}

fn look(request: &OpRequest, host: &HostToolchain, texts: &[Text]) -> Findings {
    let foreign = foreign(request, host);
    let mut findings = Findings::default();
    for text in texts {
        findings.merge(scan::scan(&text.text, &request.kernel, &foreign));
    }
    findings
}

#[expect(clippy::too_many_arguments, reason = "each is one result of an earlier step")]
fn compile(
    request: &OpRequest,
    host: &HostToolchain,
    source: &Path,
    facts: &Facts,
    units: &[Unit],
    texts: &[Text],
    functions: &[String],
    work: &WorkDir,
    cancel: &Cancel,
) -> Result<Vec<CompiledUnit>, OpBuildError> {
    for_each_unit(units, |index, unit| {
        let function = &functions[index];
        let directory = work.subdirectory(format!("unit{index}"))?;
        let text = wrapper::for_unit(source, request, facts, unit, function);
        fs::write(&directory.join(WRAPPER), text.as_bytes())?;
        let mut job = job(request, host, unit, &directory, function, cancel)?;
        job.defines.extend(fact_defines(facts));
        if request.headers.is_some() && facts.matmul_objects {
            job.defines.extend(HeaderTree::both_kinds(unit.kind));
        }
        if texts[index].has_marks {
            let done = host.preprocess(&job, cancel)?;
            let text = String::from_utf8_lossy(&done.stdout).into_owned();
            let text = scan::without_marks(&text).unwrap_or(text);
            fs::write(&directory.join(WRAPPER), text.as_bytes())?;
        } else if let (Some(headers), Some(cache)) = (&request.headers, &request.cache) {
            let ready = precompiled::for_operator(&job, headers, host, cache, cancel)?;
            job.defines.extend(["-include".to_owned(), ready.display().to_string()]);
        }
        host.compile(&job, cancel).map_err(|error| complaint(request, host, error))?;
        let object = fs::read(&job.output)?;
        Ok(CompiledUnit { unit: *unit, function: function.clone(), object })
    })
}

/// Relative, so that line markers are the same wherever the result goes.
const WRAPPER: &str = "super_kernel_wrapper.cpp";
const SET_DEFINE: &str = "-D__ASCENDC_ENABLE_SET_NEXT_TASK_START";
const WAIT_DEFINE: &str = "-D__ASCENDC_ENABLE_WAIT_PRE_TASK_END";
const EARLY_START_DEFINE: &str = "-D__ASCENDC_SUPERKERNEL_EARLY_START_V2";

fn job(
    request: &OpRequest,
    host: &HostToolchain,
    unit: &Unit,
    directory: &Path,
    function: &str,
    cancel: &Cancel,
) -> Result<CompileJob, OpBuildError> {
    let mut defines = if request.watch_accesses { host.access_hooks(directory, cancel)? } else { Vec::new() };
    defines.push("-D__ASCENDC_ENABLE_SUPER_KERNEL__".to_owned());
    defines.push(match unit.key {
        Some(_) => "-D__SUPER_KERNEL_DYNAMIC_BLOCK_NUM__".to_owned(),
        None if request.headers.is_some() => "-D__SUPER_KERNEL_STATIC_BLOCK_NUM__=sk_cpu_static_block_num()".to_owned(),
        None => format!("-D__SUPER_KERNEL_STATIC_BLOCK_NUM__={}", request.block_dim),
    });
    // With the vendor's headers output costs nothing on the simulator, and without it their reasons are silent.
    let prints = request.debug_output.is_some() || request.headers.is_some();
    defines.push(if prints { "-DASCENDC_DUMP=1" } else { "-DASCENDC_DUMP=0" }.to_owned());
    match unit.kernel_type.aiv_cores(1) {
        _ if unit.kernel_type.class() != crate::model::CoreClass::Mix => {}
        1 => defines.extend(["-D__MIX_CORE_MACRO__=1", "-D__MIX_CORE_AIC_RATION__=1"].map(str::to_owned)),
        _ => defines.push("-D__MIX_CORE_MACRO__=1".to_owned()),
    }
    let mut include_dirs = Vec::new();
    if let Some(headers) = &request.headers {
        headers.make_view(directory)?;
        include_dirs = headers.include_dirs(host.include_dir());
        defines.extend(HeaderTree::arguments(unit.kind));
    }
    include_dirs.extend(request.include_dirs.iter().cloned());
    Ok(CompileJob {
        title: format!("operator `{}` for {} cores", request.kernel, unit.kind),
        source: WRAPPER.into(),
        output: directory.join(format!("{function}.o")),
        unit: CompileUnit::SubKernel,
        kind: unit.kind,
        chip: request.chip,
        defines,
        options: request.options(),
        entry_defines: match request.headers {
            // Behind the headers, which are the same for all keys (`wrapper`).
            Some(_) => Vec::new(),
            None => vec![format!("-DTILING_KEY_VAR={}", request.tiling_key(unit))],
        },
        include_dirs,
        optimization: Optimization::Usual,
        debug_info: DebugInfo::Omit,
        memory_check: MemoryCheck::Off,
        copies: CodeCopies::Several,
        work_dir: directory.to_path_buf(),
        places: Places::inside(directory),
    })
}

fn fact_defines(facts: &Facts) -> Vec<String> {
    let mut defines = Vec::new();
    if facts.early_start_build {
        defines.push(EARLY_START_DEFINE);
    }
    if facts.early_start.sets_itself {
        defines.push(SET_DEFINE);
    }
    if facts.early_start.waits_itself {
        defines.push(WAIT_DEFINE);
    }
    if facts.feed_sync_all {
        defines.push("-D__ASCENDC_SUPERKERNEL_AUTO_SYNC_ALL__");
    }
    defines.into_iter().map(str::to_owned).collect()
}

/// Over everything the result depends on, and nothing of where it is made.
fn digest(request: &OpRequest, host: &HostToolchain, source: &Path, work: &WorkDir, texts: &[Text]) -> ContentDigest {
    // The source counts by what the preprocessor made of it.
    let without_source =
        OpRequest { source: Source::Text(String::new()), cache: None, out_dir: PathBuf::new(), ..request.clone() };
    let is_text = matches!(request.source, Source::Text(_));
    // Preprocessors name the files they read, and with `-g` the folder they run in.
    let placeless = |text: &Text| {
        let text = text.text.replace(&*work.path().to_string_lossy(), ".");
        if is_text { text.replace(&*source.to_string_lossy(), "source.cpp") } else { text }
    };
    let texts: Vec<String> = texts.iter().map(placeless).collect();
    let mut parts = vec![VERSION.to_owned()];
    parts.extend(host.identity().iter().map(ToString::to_string));
    parts.push(format!("{without_source:?}"));
    // The length in front keeps neighbouring parts apart.
    let lengths: Vec<[u8; 8]> = parts.iter().chain(&texts).map(|part| (part.len() as u64).to_le_bytes()).collect();
    let pieces = lengths.iter().zip(parts.iter().chain(&texts));
    ContentDigest::of_all(pieces.flat_map(|(length, part)| [length.as_slice(), part.as_bytes()]))
}
