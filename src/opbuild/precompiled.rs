//! The vendor's headers take seconds to read. Read once, they are kept in the form the compiler likes best.

use std::path::{Path, PathBuf};

use super::error::OpBuildError;
use super::headers::HeaderTree;
use super::objects::header_checks;
use crate::arguments::{Argument, arguments};
use crate::cancel::Cancel;
use crate::elf::{self, Edits};
use crate::fs;
use crate::store::digest::ContentDigest;
use crate::store::folders::{FolderCache, FolderKind};
use crate::toolchain::{CompileJob, HostCompiler, HostToolchain, Toolchain, ToolchainError};

/// What the headers are read with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prelude<'a> {
    pub headers: &'a HeaderTree,
    /// The folder of the emulation headers.
    pub emulation: &'a Path,
    /// Arguments of the compiler, in front of those of the user.
    pub arguments: &'a [String],
    /// A folder that may occur in the arguments, and whose name does not matter.
    pub folder: &'a Path,
}

/// The headers, ready to be used.
#[derive(Debug, Clone)]
pub(crate) struct Ready {
    /// To be included in front of a source. The compiler finds the precompiled form beside it, and reads the file itself
    /// where macros of the user make a difference.
    pub header: PathBuf,
    /// An object with everything the headers declare and leave open, once per program.
    pub definitions: PathBuf,
}

const DEFINITIONS: &str = "#include \"sk_cpu/definitions.h\"\n#include \"sk_program/entry.h\"\n";
const PRELUDE: &str = "prelude.h";
/// What is read.
const OPERATOR_TEXT: &str = "#include \"sk_cpu/operator_form.h\"\n#include \"kernel_operator.h\"\n";
/// The same for programs.
const TEXT: &str = "#include \"sk_program/launch.h\"\n#include \"kernel_operator.h\"\n";

impl Prelude<'_> {
    /// Makes it, or finds that it is there.
    pub(crate) fn ready(
        &self,
        options: &[String],
        compiler: &HostCompiler,
        cache: &FolderCache,
        cancel: &Cancel,
    ) -> Result<Ready, OpBuildError> {
        let machine = about_code(options);
        let place = self.folder.display().to_string();
        let mut parts: Vec<String> = self.arguments.iter().map(|argument| argument.replace(&place, "")).collect();
        parts.extend(machine.iter().cloned());
        parts.extend(compiler.identity().iter().map(ToString::to_string));
        for folder in [self.emulation, self.headers.root()] {
            parts.extend(files(folder));
        }
        let digest = ContentDigest::of_all(parts.iter().flat_map(|part| [part.as_bytes(), b"\n".as_slice()])).short();
        let ready = cache.get(FolderKind::Program, &digest, cancel, |folder| {
            let source = folder.join(PRELUDE);
            fs::write(&source, TEXT.as_bytes())?;
            let command = compiler.command("the precompiled AscendC headers").args(self.arguments).args(&machine);
            let command =
                command.args(["-x", "c++-header"]).file(&source).arg("-o").file(folder.join(format!("{PRELUDE}.gch")));
            match command.run(cancel) {
                // A compiler that cannot do it reads the headers each time.
                Ok(_) | Err(ToolchainError::Failed { .. }) => {}
                Err(other) => return Err(OpBuildError::from(other)),
            }
            let definitions = folder.join("definitions.cpp");
            fs::write(&definitions, DEFINITIONS.as_bytes())?;
            let object = folder.join("definitions.o");
            let command = compiler.command("the definitions that AscendC's headers leave open").args(self.arguments);
            let command = command.args(&machine).arg("-include").arg(&source);
            command.arg("-c").file(&definitions).arg("-o").file(&object).run(cancel)?;
            agree_to_checks(&object)
        })?;
        Ok(Ready { header: ready.join(PRELUDE), definitions: ready.join("definitions.o") })
    }
}

/// The same for an operator: what to include in front of the source of `job`.
pub(crate) fn for_operator(
    job: &CompileJob,
    headers: &HeaderTree,
    host: &HostToolchain,
    cache: &FolderCache,
    cancel: &Cancel,
) -> Result<PathBuf, OpBuildError> {
    let job = form(job, headers, host.include_dir());
    let mut parts = vec![key(&job)];
    parts.extend(host.identity().iter().map(ToString::to_string));
    for folder in [host.include_dir(), headers.root()] {
        parts.extend(files(folder));
    }
    let digest = ContentDigest::of_all(parts.iter().flat_map(|part| [part.as_bytes(), b"\n".as_slice()])).short();
    let ready = cache.get(FolderKind::Operator, &digest, cancel, |folder| {
        let source = folder.join(PRELUDE);
        fs::write(&source, OPERATOR_TEXT.as_bytes())?;
        match host.precompile(&job, &source, &folder.join(format!("{PRELUDE}.gch")), cancel) {
            // A compiler that cannot do it reads the headers each time.
            Ok(_) | Err(ToolchainError::Failed { .. }) => Ok(()),
            Err(other) => Err(OpBuildError::from(other)),
        }
    })?;
    Ok(ready.join(PRELUDE))
}

/// The part of a job that decides how the headers read. Macros and folders of the user are left out: where they make a
/// difference, the compiler sees it and reads the headers again.
fn form(job: &CompileJob, headers: &HeaderTree, emulation: &Path) -> CompileJob {
    CompileJob {
        options: about_code(&job.options),
        entry_defines: Vec::new(),
        include_dirs: headers.include_dirs(emulation),
        ..job.clone()
    }
}

fn key(form: &CompileJob) -> String {
    let CompileJob { defines, options, include_dirs, kind, chip, optimization, debug_info, .. } = form;
    format!("{:?}", (defines, options, include_dirs, kind, chip, optimization, debug_info))
}

/// Has the simulator answer the argument checks of the headers in an object.
pub(crate) fn agree_to_checks(object: &Path) -> Result<(), OpBuildError> {
    let bytes = fs::read(object)?;
    let edits = Edits { rename: header_checks(&bytes)?, ..Edits::default() };
    Ok(fs::write(object, &elf::edit(&bytes, &edits)?)?)
}

/// Options that may change how code is compiled at all.
fn about_code(options: &[String]) -> Vec<String> {
    let is_option = |words: &&[String]| words.first().is_some_and(|word| word.starts_with('-'));
    let about_code = arguments(options).filter(|argument| !argument.is_about_text());
    about_code.map(Argument::words).filter(is_option).flatten().cloned().collect()
}

/// Names, sizes and times of all files below a folder.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::entries(&folder) {
            let path = entry.path();
            let Ok(data) = fs::metadata(&path) else { continue };
            if data.is_dir() {
                // A checkout holds more than headers.
                if !path
                    .file_name()
                    .is_some_and(|name| ["docs", "examples", ".git", "tests"].iter().any(|it| name == *it))
                {
                    folders.push(path);
                }
            } else {
                found.push(format!("{} {} {:?}", path.display(), data.len(), data.modified().ok()));
            }
        }
    }
    found.sort();
    found
}
