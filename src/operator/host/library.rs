//! The host code of an operator as a library, and the program that asks it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::Settings;
use super::sources::{Repository, Sources};
use super::spellings;
use crate::cancel::Cancel;
use crate::elf;
use crate::fs;
use crate::operator::OperatorError;
use crate::store::digest::ContentDigest;
use crate::store::folders::FolderKind;
use crate::toolchain::{HostCompiler, ToolchainError};

/// Changes when another library would be made of the same files.
const VERSION: &str = "op-host-2";
const LIBRARY: &str = "host.so";
const LEFT_OUT: &str = "left_out";
/// Files that only the missing functions led to, and so are not in the digest.
const ADDED: &str = "added";
const PRELUDE: &str = "prelude.h";
const ASKER: &str = "ask";
const ANSWER: &str = "answer.o";
/// Rounds in which files of the repository are added for functions that are not there yet.
const ROUNDS: usize = 4;

/// A library, ready to be asked.
#[derive(Debug)]
pub(super) struct Library {
    /// The program that loads it.
    pub(super) asker: PathBuf,
    /// The library.
    pub(super) path: PathBuf,
    /// Files that do not compile, with the first thing that is wrong.
    pub(super) left_out: Vec<String>,
}

/// Makes it, or finds that it is there.
pub(super) fn ready(
    repository: &Repository,
    settings: &Settings<'_>,
    cancel: &Cancel,
) -> Result<Library, OperatorError> {
    let tools = tools(settings, cancel)?;
    let sources = repository.sources()?;
    let digest = digest(&tools, &sources, settings);
    let get = || {
        settings.cache.get(FolderKind::OperatorHost, &digest, cancel, |folder| {
            let making = Making { repository, settings, tools: &tools, folder, left_out: Mutex::default(), cancel };
            making.make(sources.clone())
        })
    };
    let mut folder: PathBuf = get()?;
    if !String::from_utf8_lossy(&fs::read(&folder.join(ADDED))?).lines().all(is_unchanged) {
        fs::remove_directory(&folder)?;
        folder = get()?;
    }
    let left_out = String::from_utf8_lossy(&fs::read(&folder.join(LEFT_OUT))?).lines().map(str::to_owned).collect();
    Ok(Library { asker: tools.join(ASKER), path: folder.join(LIBRARY), left_out })
}

/// A file and its digest, as the list of added files has them.
fn with_digest(file: &Path) -> String {
    let digest = fs::read(file).map(|bytes| ContentDigest::of(&bytes).to_string()).unwrap_or_default();
    format!("{digest} {}", file.display())
}

fn is_unchanged(line: &str) -> bool {
    line.split_once(' ').is_some_and(|(_, file)| with_digest(Path::new(file)) == line)
}

/// Over the contents of everything that is compiled, and how.
fn digest(tools: &Path, sources: &Sources, settings: &Settings<'_>) -> String {
    let mut parts: Vec<Vec<u8>> = vec![VERSION.into(), tools.display().to_string().into()];
    parts.extend(settings.options.iter().map(|option| option.clone().into()));
    for file in sources.files.iter().chain(&sources.other_chips).chain(&sources.headers) {
        parts.push(with_digest(file).into());
    }
    ContentDigest::of_all(parts.iter().flat_map(|part| [part.as_slice(), b"\n"])).short()
}

fn base_arguments(settings: &Settings<'_>) -> Vec<String> {
    let mut arguments: Vec<String> =
        ["-std=c++17", "-O0", "-fPIC", "-w", "-fno-strict-aliasing"].map(str::to_owned).into();
    arguments.extend(settings.options.iter().cloned());
    arguments
}

/// What all operators share: the headers under their names, read once, and the program.
fn tools(settings: &Settings<'_>, cancel: &Cancel) -> Result<PathBuf, OperatorError> {
    let ours = settings.emulation.join("sk_op_host");
    let mut parts = vec![VERSION.to_owned()];
    parts.extend(base_arguments(settings));
    parts.extend(settings.compiler.identity().iter().map(ToString::to_string));
    for folder in [&ours, &settings.emulation.join("sk_cpu/register")] {
        let mut files: Vec<PathBuf> =
            fs::entries(folder).map(|entry| entry.path()).filter(|path| path.is_file()).collect();
        files.sort();
        for file in files {
            parts.push(ContentDigest::of(&fs::read(&file)?).to_string());
        }
    }
    parts.extend(spellings::all().map(str::to_owned));
    let digest = ContentDigest::of_all(parts.iter().flat_map(|part| [part.as_bytes(), b"\n".as_slice()])).short();
    settings.cache.get(FolderKind::OperatorHost, &digest, cancel, |folder| {
        spellings::write(&folder.join("include"))?;
        let prelude = folder.join(PRELUDE);
        fs::write(&prelude, b"#include \"sk_op_host/util.h\"\n#include \"sk_op_host/definition.h\"\n")?;
        let compile = |title: &str| {
            let command = settings.compiler.command(title).args(base_arguments(settings));
            command.arg("-I").arg(settings.emulation)
        };
        let precompile = || -> Result<(), OperatorError> {
            let command = compile("the headers of host code").args(["-x", "c++-header"]).file(&prelude);
            match command.arg("-o").file(folder.join(format!("{PRELUDE}.gch"))).run(cancel) {
                // A compiler that cannot do it reads the headers each time.
                Ok(_) | Err(ToolchainError::Failed { .. }) => Ok(()),
                Err(other) => Err(other.into()),
            }
        };
        let programs = || -> Result<(), OperatorError> {
            let answer = compile("what asks host code").arg("-c").file(ours.join("answer.cpp"));
            answer.arg("-o").file(folder.join(ANSWER)).run(cancel)?;
            let asker = compile("the process of host code").file(ours.join("main.cpp"));
            asker.arg("-o").file(folder.join(ASKER)).arg("-ldl").run(cancel)?;
            Ok(())
        };
        let (headers, programs) = crate::parallel::run(|| rayon::join(precompile, programs));
        headers.and(programs)
    })
}

/// A library that is being made.
struct Making<'a> {
    repository: &'a Repository,
    settings: &'a Settings<'a>,
    tools: &'a Path,
    folder: &'a Path,
    left_out: Mutex<Vec<(PathBuf, Problem)>>,
    cancel: &'a Cancel,
}

impl Making<'_> {
    fn make(&self, mut sources: Sources) -> Result<(), OperatorError> {
        let known: Vec<PathBuf> =
            sources.files.iter().chain(&sources.other_chips).chain(&sources.headers).cloned().collect();
        let mut objects = self.compile(&sources, &sources.files)?;
        let mut missing = missing_names(&objects)?;
        for _ in 0..ROUNDS {
            let names: Vec<Vec<String>> = missing.iter().map(|name| parts_of(name)).collect();
            let more = self.repository.definers(&mut sources, &names);
            if more.is_empty() {
                break;
            }
            objects.extend(self.compile(&sources, &more)?);
            missing = missing_names(&objects)?;
        }
        let before: BTreeSet<&PathBuf> = known.iter().collect();
        let read = sources.files.iter().chain(&sources.headers).filter(|file| !before.contains(file));
        let added: Vec<String> = read.map(|file| with_digest(file)).collect();
        fs::write(&self.folder.join(ADDED), added.join("\n").as_bytes())?;
        let gone = self.folder.join("gone.o");
        let source = self.folder.join("gone.c");
        fs::write(&source, stand_ins(&missing).as_bytes())?;
        let command =
            self.compiler().command("what stands for missing functions").args(["-x", "c", "-O0", "-fPIC", "-w"]);
        command.arg("-c").file(&source).arg("-o").file(&gone).run(self.cancel)?;
        objects.push(gone);
        let command = self.compiler().command("the host code of an operator").args(["-shared", "-fPIC"]);
        let command = objects.iter().fold(command, |command, object| command.file(object));
        let command =
            command.file(self.tools.join(ANSWER)).arg("-Wl,-z,lazy").arg("-o").file(self.folder.join(LIBRARY));
        command.run(self.cancel)?;
        for object in objects.iter().chain([&source]) {
            fs::remove_file(object)?;
        }
        let mut left_out = self.left_out.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // They come as compilers end.
        left_out.sort_by(|(one, _), (other, _)| one.cmp(other));
        let lines: Vec<String> = left_out.iter().map(|(_, problem)| problem.line()).collect();
        Ok(fs::write(&self.folder.join(LEFT_OUT), lines.join("\n").as_bytes())?)
    }

    /// Objects of those that compile; the others are noted. A definition must compile.
    fn compile(&self, sources: &Sources, files: &[PathBuf]) -> Result<Vec<PathBuf>, OperatorError> {
        use rayon::prelude::*;
        let compiled: Result<Vec<Option<PathBuf>>, OperatorError> =
            crate::parallel::run(|| files.par_iter().map(|file| self.compile_one(sources, file)).collect());
        Ok(compiled?.into_iter().flatten().collect())
    }

    fn compile_one(&self, sources: &Sources, file: &Path) -> Result<Option<PathBuf>, OperatorError> {
        let name = ContentDigest::of(file.display().to_string().as_bytes()).short();
        let object = self.folder.join(format!("{name}.o"));
        let command = self.compiler().command(format!("`{}`", self.repository.shown(file)));
        let mut command = command.args(base_arguments(self.settings)).arg("-include").arg(self.tools.join(PRELUDE));
        for directory in std::iter::once(&self.tools.join("include")).chain(&sources.include_dirs) {
            command = command.arg("-I").arg(directory);
        }
        command = command.arg("-I").arg(self.settings.emulation);
        match command.arg("-c").file(file).arg("-o").file(&object).run(self.cancel) {
            Ok(_) => Ok(Some(object)),
            Err(ToolchainError::Failed { stderr, .. }) => {
                let problem = Problem::first(&stderr, file, self.repository);
                log::info!(target: "superkernel.operator", "left out: {}", problem.line());
                self.left_out
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner)
                    .push((file.to_path_buf(), problem));
                Ok(None)
            }
            Err(other) => Err(other.into()),
        }
    }

    fn compiler(&self) -> &HostCompiler {
        self.settings.compiler
    }
}

/// What a compiler found wrong first.
#[derive(Debug)]
struct Problem {
    place: String,
    text: String,
}

impl Problem {
    /// The first error of a compiler's output. Its place is in the operator's own files where the output names one: an
    /// error in a macro or a template is found in our headers.
    fn first(output: &str, file: &Path, repository: &Repository) -> Self {
        let lines: Vec<&str> = output.lines().collect();
        let is_error = |line: &str| line.contains(": error: ") || line.contains(": fatal error: ");
        let Some(at) = lines.iter().position(|line| is_error(line)) else {
            let text = lines.first().unwrap_or(&"the compiler gave no reason");
            return Self { place: repository.shown(file), text: (*text).to_owned() };
        };
        let text = lines[at].split_once("error: ").map_or(lines[at], |(_, text)| text);
        // Used by: the lines around it, up to the next error.
        let behind = lines[at + 1..].iter().take_while(|line| !is_error(line));
        let users = behind.chain(&lines[..at]).filter(|line| {
            line.contains("in expansion of macro") || line.contains("required from") || line.contains("expanded from")
        });
        let places = std::iter::once(&lines[at]).chain(users).filter_map(|line| place_of(line));
        let own = places.clone().find(|(path, _)| repository.has(path));
        let (path, number) = own.or_else(|| places.clone().next()).unwrap_or((file, ""));
        Self { place: format!("{}:{number}", repository.shown(path)), text: text.to_owned() }
    }

    fn line(&self) -> String {
        format!("{}: {}", self.place, self.text)
    }
}

/// File and line at the start of a compiler's message.
fn place_of(line: &str) -> Option<(&Path, &str)> {
    let mut parts = line.splitn(3, ':');
    let (path, number) = (parts.next()?, parts.next()?);
    number.parse::<u32>().ok()?;
    Some((Path::new(path), number))
}

/// Functions and data of C++ that `objects` use and none of them has.
fn missing_names(objects: &[PathBuf]) -> Result<BTreeSet<String>, OperatorError> {
    let (mut used, mut defined) = (BTreeSet::new(), BTreeSet::new());
    for object in objects {
        let bytes = fs::read(object)?;
        for symbol in elf::symbols::symbols(&bytes).unwrap_or_default() {
            if symbol.is_imported() {
                used.insert(symbol.name.into_owned());
            } else if symbol.is_defined() {
                defined.insert(symbol.name.into_owned());
            }
        }
    }
    Ok(used.into_iter().filter(|name| !defined.contains(name) && is_of_operators(name)).collect())
}

/// Is it a name of C++ outside the standard library?
fn is_of_operators(name: &str) -> bool {
    const STANDARD: [&str; 7] = ["NS", "NKS", "S", "N9__gnu_cxx", "NK9__gnu_cxx", "N10__cxxabiv1", "T"];
    let of_class = CLASS_DATA.iter().find_map(|start| name.strip_prefix(start));
    let rest = of_class.or_else(|| name.strip_prefix("_Z"));
    rest.is_some_and(|rest| {
        let named = rest.starts_with(|letter: char| letter == 'N' || letter.is_ascii_digit());
        named && !STANDARD.iter().any(|start| rest.starts_with(start))
    })
}

/// What a compiler makes beside the functions of a class: its table of functions, its type.
const CLASS_DATA: [&str; 2] = ["_ZTV", "_ZTI"];
/// Functions of a vendor's library that comes without source. They know good tilings of products; operators have other
/// ways where the answer is no.
const UNSURE: [&str; 3] = ["optiling::CheckSupportConditionQbmm", "optiling::GenTiling", "optiling::GenWqbmmTiling"];
/// More functions than a class of host code has.
const TABLE: usize = 64;

/// C code with something for every missing name, so that the library can be loaded: whoever calls it hears the name.
fn stand_ins(missing: &BTreeSet<String>) -> String {
    let mut text = String::from(
        "#include <stdio.h>\n#include <unistd.h>\nextern int sk_op_host_asked;\nvoid sk_op_host_say(const char *text);\n",
    );
    for (index, name) in missing.iter().enumerate() {
        // While the library is loaded, files register things for other software (tables of tuned tilings).
        let says = format!(
            "{{ if (!sk_op_host_asked) return; fputs(\"undefined symbol: {name}\\n\", stderr); fflush(stderr); _exit(5); }}\n"
        );
        let called = readable(name);
        if UNSURE.contains(&called.as_str()) {
            let note = format!("`{called}` is in a library without source: its answer is taken as no");
            text.push_str(&format!(
                "int gone{index}(void) __asm__(\"{name}\");\n__attribute__((weak)) int gone{index}(void) {{ if \
                 (sk_op_host_asked) sk_op_host_say(\"{note}\"); return 0; }}\n"
            ));
        } else if CLASS_DATA.iter().any(|start| name.starts_with(start)) {
            // In front of the functions stand an offset and the type.
            text.push_str(&format!("static void gone{index}(void) {says}"));
            text.push_str(&format!(
                "void *table{index}[{TABLE}] __asm__(\"{name}\") = {{ [2 ... {}] = gone{index} }};\n",
                TABLE - 1
            ));
        } else {
            text.push_str(&format!(
                "void gone{index}(void) __asm__(\"{name}\");\n__attribute__((weak)) void gone{index}(void) {says}"
            ));
        }
    }
    text
}

/// The names in a mangled name: what a function is in, and the function.
pub(super) fn parts_of(mangled: &str) -> Vec<String> {
    let of_class = CLASS_DATA.iter().find_map(|start| mangled.strip_prefix(start));
    let rest = of_class.or_else(|| mangled.strip_prefix("_Z")).unwrap_or(mangled);
    // Nested names are between `N` and `E`, perhaps with qualifiers.
    let (nested, mut rest) = match rest.strip_prefix('N') {
        Some(inner) => (true, inner.trim_start_matches(['K', 'V', 'R', 'O'])),
        None => (false, rest),
    };
    let mut parts = Vec::new();
    while let Some(digits) = rest.find(|letter: char| !letter.is_ascii_digit()).filter(|digits| *digits > 0) {
        let Ok(length) = rest[..digits].parse::<usize>() else { break };
        let Some(name) = rest.get(digits..digits + length) else { break };
        parts.push(name.to_owned());
        rest = &rest[digits + length..];
        if !nested {
            break;
        }
        // `B5cxx11` and the like.
        if rest.starts_with('B') {
            let tag = rest[1..].find(|letter: char| !letter.is_ascii_digit()).unwrap_or(0);
            let length = rest[1..1 + tag].parse::<usize>().unwrap_or(0);
            rest = rest.get(1 + tag + length..).unwrap_or_default();
        }
    }
    parts
}

/// A mangled name for people: its parts.
pub(super) fn readable(mangled: &str) -> String {
    let parts = parts_of(mangled);
    if parts.is_empty() { mangled.to_owned() } else { parts.join("::") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mangled_names_are_taken_apart() {
        assert_eq!(readable("_ZN8optiling5TwiceEi"), "optiling::Twice");
        assert_eq!(readable("_ZNK3Ops2NN4Base3GetB5cxx11Ev"), "Ops::NN::Base::Get");
        assert_eq!(readable("_Z5Twicei"), "Twice");
        assert_eq!(readable("memcpy"), "memcpy");
        assert!(is_of_operators("_ZN8optiling5TwiceEi"));
        assert!(!is_of_operators("_ZNSt6vectorIiSaIiEE9push_backEi"));
        assert!(!is_of_operators("memcpy"));
        assert_eq!(readable("_ZTVN8optiling4BaseE"), "optiling::Base");
        assert!(is_of_operators("_ZTVN8optiling4BaseE"));
        assert!(!is_of_operators("_ZTVN10__cxxabiv120__si_class_type_infoE"));
    }
}
