//! Which files of an operator's repository are its host code, and where they find their headers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::spellings;
use crate::fs;
use crate::operator::OperatorError;

/// Folders that hold no host code of kernels.
const OTHER_FOLDERS: [&str; 13] = [
    "tests",
    "test",
    "ut",
    "st",
    "examples",
    "op_api",
    "docs",
    "stub",
    "config",
    "op_kernel",
    "op_kernel_aicpu",
    "framework",
    "experimental",
];
/// Parts of names of files that host code of kernels never has: other ways to run an operator.
const OTHER_FILES: [&str; 3] = ["fallback", "aicpu", "_proto."];
/// Parts of paths of code for the generation of chips whose vector unit works on registers.
const REGISTER_CHIPS: [&str; 3] = ["arch35", "regbase", "_apt"];

/// An operator's folder and the repository around it.
#[derive(Debug)]
pub(super) struct Repository {
    /// The operator's folder.
    pub(super) folder: PathBuf,
    /// The outermost folder its headers are looked for in.
    root: PathBuf,
    /// Headers by their last name.
    headers: BTreeMap<String, Vec<PathBuf>>,
    /// Folders the user named, first.
    given: Vec<PathBuf>,
}

/// What the compiler reads.
#[derive(Debug, Clone, Default)]
pub(super) struct Sources {
    /// The operator's own files.
    pub(super) files: Vec<PathBuf>,
    /// Those that only other generations of chips need.
    pub(super) other_chips: Vec<PathBuf>,
    /// Folders of headers, in the order they are searched.
    pub(super) include_dirs: Vec<PathBuf>,
    /// Headers of the repository that they include, directly or not.
    pub(super) headers: BTreeSet<PathBuf>,
}

impl Repository {
    /// The operator in `folder`; its repository is `root`, or found above it.
    pub(super) fn open(folder: &Path, root: Option<&Path>, given: &[PathBuf]) -> Result<Self, OperatorError> {
        let folder = fs::canonical(folder)?;
        let root = match root {
            Some(root) => fs::canonical(root)?,
            None => root_above(&folder),
        };
        let mut headers: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        let given: Vec<PathBuf> = given.iter().map(|directory| fs::absolute(directory)).collect();
        for start in given.iter().chain([&root]) {
            each_file(start, &|name| !is_other_folder(name) || name == "op_kernel", &mut |file| {
                if has_extension(&file, &["h", "hpp", "inc"])
                    && let Some(name) = file.file_name()
                {
                    headers.entry(name.to_string_lossy().into_owned()).or_default().push(file);
                }
            });
        }
        Ok(Self { folder, root, headers, given })
    }

    /// The operator's host code.
    pub(super) fn sources(&self) -> Result<Sources, OperatorError> {
        let mut files = Vec::new();
        let host = self.folder.join("op_host");
        let start = if host.is_dir() { &host } else { &self.folder };
        each_file(start, &|name| !is_other_folder(name), &mut |file| {
            if is_host_source(&file) {
                files.push(file);
            }
        });
        let texts: Vec<String> = files.iter().map(|file| text_of(file)).collect();
        let types: Vec<String> = texts.iter().flat_map(|text| defined_types(text)).collect();
        if types.is_empty() {
            let reason = format!("none of the {} files of its host code has `OP_ADD(…)`", files.len());
            return Err(OperatorError::NotAnOperator { folder: self.folder.clone(), reason });
        }
        files.extend(self.files_naming(&types, &files));
        files.sort();
        let is_other = |file: &PathBuf| {
            let path = file.strip_prefix(&self.root).unwrap_or(file).display().to_string();
            REGISTER_CHIPS.iter().any(|part| path.contains(part))
        };
        let (mut other_chips, mut files): (Vec<PathBuf>, Vec<PathBuf>) = files.into_iter().partition(is_other);
        // A file called for other chips may register the one tiling for all of them.
        let tiles = |file: &PathBuf| {
            let text = text_of(file);
            text.contains("SetTiling(") || types.iter().any(|op_type| registers_by(&text, op_type, &TILING_MACROS))
        };
        if !files.iter().any(tiles) {
            files.extend(other_chips.extract_if(.., |file| tiles(file)));
        }
        let mut sources = Sources { files, other_chips, ..Sources::default() };
        self.resolve(&mut sources);
        Ok(sources)
    }

    /// Files elsewhere that register something for these types: operators of one kind share their host code.
    fn files_naming(&self, types: &[String], known: &[PathBuf]) -> Vec<PathBuf> {
        let around = self.folder.parent().filter(|parent| parent.starts_with(&self.root)).unwrap_or(&self.folder);
        let mut found = Vec::new();
        each_file(around, &|name| !is_other_folder(name), &mut |file| {
            if is_host_source(&file) && !known.contains(&file) && !file.starts_with(&self.folder) {
                let text = text_of(&file);
                if types.iter().any(|op_type| registers(&text, op_type)) {
                    found.push(file);
                }
            }
        });
        found
    }

    /// Finds what `sources` include, and from which folders.
    pub(super) fn resolve(&self, sources: &mut Sources) {
        let mut directories = self.first_directories();
        let mut waiting: Vec<PathBuf> = sources.files.iter().chain(&sources.other_chips).cloned().collect();
        let mut seen: BTreeSet<PathBuf> = waiting.iter().cloned().collect();
        while let Some(file) = waiting.pop() {
            let beside = file.parent().unwrap_or(&self.root).to_path_buf();
            for name in included(&text_of(&file)) {
                let path = beside.join(&name);
                let found = if path.is_file() {
                    Some(path)
                } else if spellings::is_ours(&name) && !self.given.iter().any(|given| given.join(&name).is_file()) {
                    None
                } else {
                    directories.iter().map(|directory| directory.join(&name)).find(|path| path.is_file()).or_else(
                        || {
                            let (directory, path) = self.search(&name, &file)?;
                            directories.push(directory);
                            Some(path)
                        },
                    )
                };
                let Some(found) = found.and_then(|path| fs::canonical(&path).ok()) else { continue };
                if seen.insert(found.clone()) {
                    sources.headers.insert(found.clone());
                    waiting.push(found);
                }
            }
        }
        sources.include_dirs = directories;
    }

    /// Folders that builds of such repositories name.
    fn first_directories(&self) -> Vec<PathBuf> {
        let mut directories = self.given.clone();
        directories.extend([self.folder.clone(), self.folder.join("op_host")]);
        let above = self.folder.ancestors().skip(1).take_while(|folder| folder.starts_with(&self.root));
        for folder in above {
            directories.push(folder.to_path_buf());
            for inside in ["common", "common/inc", "common/include", "common/inc/op_host", "common/include/op_host"] {
                directories.push(folder.join(inside));
            }
        }
        directories.retain(|directory| directory.is_dir());
        directories
    }

    /// A header of the repository by the end of its path: the folder to search, and the file. The one that shares most of
    /// its path with the operator wins.
    fn search(&self, name: &str, from: &Path) -> Option<(PathBuf, PathBuf)> {
        let wanted = Path::new(name);
        let candidates = self.headers.get(wanted.file_name()?.to_str()?)?;
        let shared = |path: &Path| path.components().zip(from.components()).take_while(|(a, b)| a == b).count();
        // Without `..`: those are relative to the file, which was tried.
        let fitting = candidates.iter().filter(|path| path.ends_with(wanted));
        let best = fitting.max_by_key(|path| (shared(path), std::cmp::Reverse(path.components().count())))?;
        let directory = best.ancestors().nth(wanted.components().count())?;
        Some((directory.to_path_buf(), best.clone()))
    }

    /// Adds files that define one of `names` (functions with what they are in) to `sources`: the operator's own ones for
    /// other chips, and those beside headers, or in `src` where headers are in `inc`. The added ones.
    pub(super) fn definers(&self, sources: &mut Sources, names: &[Vec<String>]) -> Vec<PathBuf> {
        let mut folders: BTreeSet<PathBuf> = BTreeSet::new();
        for header in &sources.headers {
            let Some(folder) = header.parent() else { continue };
            folders.insert(folder.to_path_buf());
            let text = folder.display().to_string();
            for headers in ["/inc/", "/include/"] {
                folders.insert(PathBuf::from(format!("{text}/").replace(headers, "/src/")));
            }
        }
        let mut candidates: BTreeSet<PathBuf> = sources.other_chips.iter().cloned().collect();
        let is_host = |folder: &PathBuf| {
            folder.starts_with(&self.root) && !folder.components().any(|part| part.as_os_str() == "op_kernel")
        };
        for folder in folders.into_iter().filter(is_host) {
            candidates.extend(fs::entries(&folder).map(|entry| entry.path()).filter(|file| is_host_source(file)));
        }
        let is_new = |file: &PathBuf| !sources.files.contains(file);
        let has_one = |file: &PathBuf| {
            let text = text_of(file);
            names.iter().any(|name| defines(&text, name))
        };
        let added: Vec<PathBuf> = candidates.into_iter().filter(is_new).filter(has_one).collect();
        sources.files.extend(added.iter().cloned());
        self.resolve(sources);
        added
    }

    /// Is this one of its files?
    pub(super) fn has(&self, path: &Path) -> bool {
        path.starts_with(&self.root)
    }

    /// A path as messages show it.
    pub(super) fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.folder).or_else(|_| path.strip_prefix(&self.root)).unwrap_or(path).display().to_string()
    }
}

/// The repository around a folder: where version control begins, or three folders up at most, while they look like parts
/// of one.
fn root_above(folder: &Path) -> PathBuf {
    let marks = [".git", "build.sh", "CMakeLists.txt", "cmake"];
    let above = folder.ancestors().skip(1).take(4);
    let marked: Vec<&Path> = above.filter(|parent| marks.iter().any(|mark| parent.join(mark).exists())).collect();
    let with_mark = |mark: &str| marked.iter().find(|parent| parent.join(mark).exists());
    let root = with_mark(".git").or_else(|| with_mark("build.sh")).or(marked.last());
    root.map_or_else(|| folder.to_path_buf(), |root| root.to_path_buf())
}

/// Calls `visit` for all files below `folder`, in the order of their names.
fn each_file(folder: &Path, enter: &dyn Fn(&str) -> bool, visit: &mut dyn FnMut(PathBuf)) {
    let mut entries: Vec<PathBuf> = fs::entries(folder).map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if path.is_dir() {
            // A link may lead back up.
            if enter(&name) && !name.starts_with('.') && !path.is_symlink() {
                each_file(&path, enter, visit);
            }
        } else {
            visit(path);
        }
    }
}

fn is_other_folder(name: &str) -> bool {
    OTHER_FOLDERS.contains(&name)
}

fn has_extension(file: &Path, extensions: &[&str]) -> bool {
    file.extension().is_some_and(|extension| extensions.iter().any(|known| extension == *known))
}

fn is_host_source(file: &Path) -> bool {
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    has_extension(file, &["cpp", "cc", "cxx"]) && !OTHER_FILES.iter().any(|part| name.contains(part))
}

fn text_of(file: &Path) -> String {
    fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// Types in `OP_ADD(Type)`.
fn defined_types(text: &str) -> Vec<String> {
    let arguments = text.split("OP_ADD(").skip(1);
    arguments.filter_map(|rest| rest.split([',', ')']).next()).map(|name| name.trim().to_owned()).collect()
}

/// Starts of macros that register a tiling.
const TILING_MACROS: [&str; 4] = ["IMPL_OP(", "IMPL_OP_OPTILING(", "TILING_TEMPLATE(", "TEMPLATE_"];

/// Does it register a function for this type?
fn registers(text: &str, op_type: &str) -> bool {
    registers_by(text, op_type, &TILING_MACROS) || registers_by(text, op_type, &["IMPL_OP_INFERSHAPE("])
}

/// Is there one of `macros` with this type?
fn registers_by(text: &str, op_type: &str, macros: &[&str]) -> bool {
    text.match_indices(op_type).any(|(at, _)| {
        let behind = text[at + op_type.len()..].trim_start_matches('"');
        let before = text[..at].trim_end_matches('"').trim_end();
        let ends = behind.starts_with([')', ',']) && before.ends_with('(');
        let line = before.rsplit('\n').next().unwrap_or_default();
        ends && macros.iter().any(|name| line.contains(name))
    })
}

/// Does it seem to define this function: its name, in what it belongs to?
fn defines(text: &str, name: &[String]) -> bool {
    let Some((last, before)) = name.split_last() else { return false };
    let called = text.match_indices(last.as_str()).any(|(at, _)| {
        let starts = !text[..at].ends_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
        starts && text[at + last.len()..].trim_start().starts_with(['(', '[', '=', '{', ';', ':'])
    });
    called && before.last().is_none_or(|scope| text.contains(scope.as_str()))
}

/// Names in `#include` lines.
fn included(text: &str) -> Vec<String> {
    let name = |line: &str| {
        let rest = line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("include")?.trim_start();
        let (open, close) = if rest.starts_with('"') { ('"', '"') } else { ('<', '>') };
        rest.strip_prefix(open)?.split(close).next().map(str::to_owned)
    };
    text.lines().filter_map(name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registrations_are_found_by_their_type() {
        assert!(registers("IMPL_OP_OPTILING(RmsNorm).Tiling(f);", "RmsNorm"));
        assert!(registers("REGISTER_TILING_TEMPLATE(\"RmsNorm\", Class, 1);", "RmsNorm"));
        assert!(!registers("IMPL_OP_OPTILING(GemmaRmsNorm).Tiling(f);", "RmsNorm"));
        assert!(!registers("Check(RmsNorm);", "RmsNorm"));
        assert_eq!(defined_types("OP_ADD(First);\nOP_ADD( Second , x)"), ["First", "Second"]);
    }

    #[test]
    fn a_definition_is_told_from_another_name() {
        let name = |parts: &[&str]| parts.iter().map(|part| (*part).to_owned()).collect::<Vec<_>>();
        let text = "namespace shared { int Twice(int x) { return x; } }";
        assert!(defines(text, &name(&["shared", "Twice"])));
        assert!(!defines(text, &name(&["shared", "Twic"])));
        assert!(!defines(text, &name(&["other", "Twice"])));
        // What belongs to a class (its constructor, its table) is where its functions are.
        assert!(defines("using namespace shared;\nint Base::Run() { return 1; }", &name(&["shared", "Base"])));
    }

    #[test]
    fn includes_are_read_in_both_forms() {
        assert_eq!(included("#include \"a/b.h\"\n  # include <c.h> // d\nint x;"), ["a/b.h", "c.h"]);
    }
}
