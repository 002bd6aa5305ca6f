//! Programs whose host and kernel code share their files: `kernel<<<blocks, memory, stream>>>(arguments)`.
//!
//! Such a program becomes objects of one image: the host's `main` and the kernels of both kinds of cores. What it is made
//! of: the sources with their launches rewritten ([`rewrite`]) for the kernel types found out ([`kernels`]).

pub(crate) mod kernels;
pub(crate) mod rewrite;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::OpBuildError;
use super::headers::HeaderTree;
use super::lexer::{blanked, words};
use super::precompiled::{Prelude, agree_to_checks};
use super::scan::{Foreign, without_marks};
use crate::cancel::Cancel;
use crate::fs::{self, FileError};
use crate::store::folders::FolderCache;
use crate::store::work_dir::WorkDir;
use crate::toolchain::HostCompiler;
use kernels::Kernels;

/// Host code that includes this asks about the chip; the answers are ours.
const PLATFORM_HEADER: &str = "platform/platform_ascendc.h";
const PLATFORM: &str = "#include \"sk_program/platform_definitions.h\"\n";

/// Unit tests include this and have no `main`; it is ours.
const TEST_HEADER: &str = "gtest/gtest.h";
const TEST_MAIN: &str = "#include \"gtest/gtest.h\"\nint main(int count, char **words) {\n    \
     ::testing::InitGoogleTest(&count, words);\n    return RUN_ALL_TESTS();\n}\n";

/// Kernels that name one of these may let scalar stores combine, which only hooks can see.
const STORE_ATOMICS: [&str; 3] = ["SetStoreAtomicConfig", "set_st_atomic_cfg", "asc_set_store_atomic_config"];

/// A kernel whose source is no part of the program: that of an operator, for its unit test.
#[derive(Debug, Clone)]
pub(crate) struct KernelSource {
    /// Its file.
    pub(crate) source: PathBuf,
    /// Headers in front of it: its tiling, as the test has it.
    pub(crate) headers: Vec<PathBuf>,
    /// Arguments of the compiler for it.
    pub(crate) options: Vec<String>,
    /// Where it finds what it includes.
    pub(crate) include_dirs: Vec<PathBuf>,
}

/// A program to build.
#[derive(Debug, Clone)]
pub(crate) struct ProgramRequest {
    /// Its sources; the first one has `main`.
    pub(crate) sources: Vec<PathBuf>,
    /// Kernels it calls.
    pub(crate) kernels: Vec<KernelSource>,
    /// Arguments of the compiler.
    pub(crate) options: Vec<String>,
    /// The vendor's headers; `None`: the built-in subset.
    pub(crate) headers: Option<HeaderTree>,
    /// The folder of the emulation headers.
    pub(crate) emulation: PathBuf,
    /// Where precompiled headers are kept.
    pub(crate) cache: FolderCache,
    /// Every load and store tells the simulator, and lines are kept for its reports.
    pub(crate) watch_accesses: bool,
}

/// Compiles a program into objects in `work`.
pub(crate) fn compile(
    request: &ProgramRequest,
    compiler: &HostCompiler,
    work: &WorkDir,
    cancel: &Cancel,
) -> Result<Vec<PathBuf>, OpBuildError> {
    let mut sources = Vec::with_capacity(request.sources.len());
    for path in &request.sources {
        sources.push(Source::read(path)?);
    }
    let mut tested = Vec::with_capacity(request.kernels.len());
    for kernel in &request.kernels {
        tested.push(Source::read(&kernel.source)?);
    }
    let texts: Vec<&str> = sources.iter().chain(&tested).flat_map(Source::texts).collect();
    let kernels = Kernels::of(&texts);
    let mut base =
        vec!["-std=c++17", "-fPIC", "-fno-strict-aliasing", "-O1", "-w", "-D__SK_HOST__=1", "-D__NPU_ARCH__=2201"]
            .into_iter()
            .chain(["-D__CCE__=1", "-D__CCE_AICORE__=220"])
            .map(str::to_owned)
            .collect::<Vec<_>>();
    let combines = texts.iter().any(|text| STORE_ATOMICS.iter().any(|name| text.contains(name)));
    if request.watch_accesses || combines {
        base.extend(compiler.access_hooks(work.path(), cancel)?);
        base.push("-g1".to_owned());
    }
    let own = request.emulation.join("sk_program");
    let mut includes = vec![own];
    if let Some(headers) = &request.headers {
        headers.make_view(work.path())?;
        base.extend(HeaderTree::program_arguments());
        includes.extend(headers.include_dirs(&request.emulation).iter().map(|directory| work.path().join(directory)));
    }
    includes.push(request.emulation.clone());
    for directory in &includes {
        base.extend(["-I".to_owned(), directory.display().to_string()]);
    }
    let mut results = Vec::with_capacity(sources.len() + 1);
    let mut ready = None;
    if let Some(headers) = &request.headers {
        let prelude = Prelude { headers, emulation: &request.emulation, arguments: &base, folder: work.path() };
        let made = prelude.ready(&request.options, compiler, &request.cache, cancel)?;
        results.push(made.definitions);
        ready = Some(made.header);
    }
    let mut own_parts = Vec::new();
    if texts.iter().any(|text| text.contains(PLATFORM_HEADER)) {
        own_parts.push(("platform", "what programs are told about the chip", PLATFORM));
    }
    let has_main = texts.iter().any(|text| words(&blanked(text), "main").next().is_some());
    if !has_main && texts.iter().any(|text| text.contains(TEST_HEADER)) {
        own_parts.push(("tests", "what runs unit tests", TEST_MAIN));
    }
    for (name, title, text) in own_parts {
        let folder = work.subdirectory(name)?;
        let (file, object) = (folder.join("part.cpp"), folder.join("part.o"));
        fs::write(&file, text.as_bytes())?;
        let command = compiler.command(title).args(&base);
        command.arg("-c").file(&file).arg("-o").file(&object).run(cancel)?;
        results.push(object);
    }
    for (index, source) in sources.iter().enumerate() {
        let folder = work.subdirectory(format!("source{index}"))?;
        let file = source.write(&folder, &kernels, ready.is_none() && index == 0)?;
        let object = folder.join("program.o");
        let mut command = compiler.command(format!("program `{}`", source.path.display())).args(&base);
        // Behind the arguments that the precompiled headers were made with.
        command = command.arg(format!("-DSK_PROGRAM_KERNEL_TYPE=\"{}\"", kernels.kernel_type("")));
        command = command.arg("-iquote").arg(source.folder());
        // Only what is read first may have been read before.
        if let Some(header) = ready.as_ref().filter(|_| source.may_begin_with_headers()) {
            command = command.arg("-include").arg(header);
        }
        command = command.args(&request.options);
        command.arg("-c").file(&file).arg("-o").file(&object).run(cancel).map_err(|error| {
            let foreign = Foreign { directories: includes.clone(), wrapper: file.clone() };
            OpBuildError::of_source(error, &foreign, request.headers.is_none())
        })?;
        if ready.is_some() {
            agree_to_checks(&object)?;
        }
        results.push(object);
    }
    for (index, (kernel, source)) in request.kernels.iter().zip(&tested).enumerate() {
        let folder = work.subdirectory(format!("kernel{index}"))?;
        let (file, object) = (folder.join("kernel.cpp"), folder.join("kernel.o"));
        let mut text = String::from("#include \"sk_program/tikicpulib.h\"\n");
        for header in &kernel.headers {
            text.push_str(&format!("#include \"{}\"\n", header.display()));
        }
        text.push_str(&with_line(&source.path, without_marks(&source.text).as_deref().unwrap_or(&source.text)));
        fs::write(&file, text.as_bytes())?;
        let title = format!("kernel `{}`", source.path.display());
        let mut command = compiler.command(title).args(&base).arg("-iquote").arg(source.folder());
        command = command.arg(format!("-DSK_PROGRAM_KERNEL_TYPE=\"{}\"", kernels.kernel_type("")));
        if let Some(header) = &ready {
            command = command.arg("-include").arg(header);
        }
        for directory in &kernel.include_dirs {
            command = command.arg("-I").arg(directory);
        }
        command = command.args(&request.options).args(&kernel.options);
        command.arg("-c").file(&file).arg("-o").file(&object).run(cancel)?;
        if ready.is_some() {
            agree_to_checks(&object)?;
        }
        results.push(object);
    }
    Ok(results)
}

/// A source with the files of its own that it includes.
struct Source {
    path: PathBuf,
    text: String,
    /// Included files by the name they are included with, relative to the source's folder.
    included: BTreeMap<PathBuf, String>,
}

impl Source {
    fn read(path: &Path) -> Result<Self, OpBuildError> {
        let path = fs::open(path).and_then(|_| fs::canonical(path))?;
        let text = read_text(&path)?;
        let mut source = Self { path, text, included: BTreeMap::new() };
        let folder = source.folder().to_path_buf();
        let mut waiting = quoted_includes(&source.text);
        while let Some(name) = waiting.pop() {
            let name = PathBuf::from(name);
            if source.included.contains_key(&name) || name.is_absolute() {
                continue;
            }
            let file = folder.join(&name);
            if fs::metadata(&file).is_ok_and(|data| data.is_file()) {
                let text = read_text(&file)?;
                waiting.extend(quoted_includes(&text));
                source.included.insert(name, text);
            }
        }
        Ok(source)
    }

    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.text.as_str()).chain(self.included.values().map(String::as_str))
    }

    /// Does nothing stand in front of the headers that could change their meaning?
    fn may_begin_with_headers(&self) -> bool {
        let before = self.text.find("kernel_operator.h").map_or("", |at| &self.text[..at]);
        !before.is_empty()
            && !before.lines().any(|line| line.trim_start().trim_start_matches('#').trim_start().starts_with("define"))
    }

    /// Writes what the compiler reads, with the function every core starts in behind it if it shall have it.
    fn write(&self, folder: &Path, kernels: &Kernels, has_entry: bool) -> Result<PathBuf, OpBuildError> {
        for (name, text) in &self.included {
            let original = self.folder().join(name);
            let inside = name.components().all(|part| matches!(part, std::path::Component::Normal(_)));
            if inside && let Some(changed) = rewrite::rewrite(text, &original.display().to_string(), kernels)? {
                let copy = folder.join(name);
                fs::create_directories(copy.parent().unwrap_or(folder))?;
                fs::write(&copy, with_line(&original, &changed).as_bytes())?;
            }
        }
        let display = self.path.display().to_string();
        let changed = rewrite::rewrite(&self.text, &display, kernels)?;
        let mut text = String::from("#include \"sk_program/launch.h\"\n");
        text.push_str(&with_line(&self.path, changed.as_deref().unwrap_or(&self.text)));
        if has_entry {
            text.push_str("\n#include \"sk_program/entry.h\"\n");
        }
        let file = folder.join("program.cpp");
        fs::write(&file, text.as_bytes())?;
        Ok(file)
    }
}

/// Lines of messages are those of the original.
fn with_line(path: &Path, text: &str) -> String {
    format!("#line 1 \"{}\"\n{text}", path.display())
}

fn read_text(path: &Path) -> Result<String, FileError> {
    let text = String::from_utf8_lossy(&fs::read(path)?).into_owned();
    // Some editors put a byte order mark in front, which compilers take nowhere else.
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Names in `#include "name"` lines.
fn quoted_includes(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
        rest.strip_prefix('"')?.split('"').next().map(str::to_owned)
    };
    text.lines().filter_map(name).collect()
}
