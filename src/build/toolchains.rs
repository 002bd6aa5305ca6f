//! Which toolchain a build uses, and what identifies it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::response_files;
use crate::environment::{Environment, ToolchainChoice};
use crate::fs::{self, FileLook};
use crate::model::SuperKernel;
use crate::objects::Objects;
use crate::store::digest::ContentDigest;
use crate::store::shelf::Shelf;
use crate::toolchain::{CannToolchain, HostToolchain, Toolchain, ToolchainError, ToolchainKind};

/// Files in which a toolkit states its version.
const VERSION_FILES: [&str; 3] = ["version.cfg", "version.info", "compiler/version.info"];

/// A toolchain ready for use.
pub(crate) struct Chosen {
    /// The tools.
    pub toolchain: Box<dyn Toolchain>,
    /// What a result depends on: programs, headers, variables.
    pub facts: Vec<(String, String)>,
}

/// What is known about tools among builds that share it.
#[derive(Debug, Default)]
pub(crate) struct KnownTools {
    /// By folder: what identifies the headers in it.
    headers: Shelf<PathBuf, String>,
}

/// What a toolchain must be able to link.
pub(crate) enum Needs<'a> {
    /// Nothing in particular.
    Nothing,
    /// The objects of a kernel.
    Objects(&'a Objects, &'a SuperKernel),
}

impl Needs<'_> {
    /// An object that the machine's own tools cannot link.
    fn foreign(&self) -> Option<(String, u16)> {
        match self {
            Self::Nothing => None,
            Self::Objects(objects, kernel) => objects.first_foreign(kernel),
        }
    }
}

/// The toolchain that the settings ask for.
///
/// With `auto` the device compiler decides: where it is, a missing linker is an error and no reason to build silently
/// for the simulator. Where it is not, an object for a device is: the machine's own tools could do nothing with it.
pub(crate) fn choose(
    environment: &Environment,
    needs: &Needs<'_>,
    known: &KnownTools,
) -> Result<Chosen, ToolchainError> {
    let found = Found::look_for(environment, || needs.foreign())?;
    let (toolchain, headers): (Box<dyn Toolchain>, String) = match found {
        Found::Host(found) => {
            let folder = &environment.include_dir;
            let content = known.headers.get(folder.clone(), || Ok::<_, ToolchainError>(tree_content(folder)))?;
            (Box::new(found), content)
        }
        Found::Cann(found) => {
            let folder = found.toolkit().to_path_buf();
            let version = known.headers.get(folder, || Ok::<_, ToolchainError>(toolkit_version(&found)))?;
            (Box::new(found), version)
        }
    };
    let options = match needs {
        Needs::Nothing => &[][..],
        Needs::Objects(_, kernel) => &kernel.options.compile_options[..],
    };
    let facts = facts(environment, &*toolchain, headers, options);
    Ok(Chosen { toolchain, facts })
}

/// The tools of one family.
enum Found {
    Host(HostToolchain),
    Cann(CannToolchain),
}

impl Found {
    /// Those that the settings ask for; `foreign` tells of an object that the machine's own tools cannot link.
    fn look_for(
        environment: &Environment,
        foreign: impl FnOnce() -> Option<(String, u16)>,
    ) -> Result<Self, ToolchainError> {
        let kind = environment.settings.toolchain.kind(&environment.cann_search());
        if (environment.settings.toolchain, kind) == (ToolchainChoice::Auto, ToolchainKind::Host)
            && let Some((object, machine)) = foreign()
        {
            return Err(environment.cann_search().missing_compiler(object, machine));
        }
        let limit = environment.settings.tool_timeout;
        match kind {
            ToolchainKind::Host => {
                let (search, headers) = (environment.host_search(), &environment.include_dir);
                let found = HostToolchain::find(&search, headers, limit)?;
                Ok(Self::Host(match &environment.variables.compiler_cache {
                    Some(launcher) => found.with_launcher(launcher),
                    None => found,
                }))
            }
            ToolchainKind::Cann => Ok(Self::Cann(CannToolchain::find(
                environment.cann_search(),
                environment.settings.linker.of_vendor(),
                limit,
            )?)),
        }
    }
}

/// How the tools and all that they read besides the inputs look from outside; `None` where that cannot be told.
pub(super) fn looks(
    environment: &Environment,
    options: &[String],
    files: &mut Vec<(String, FileLook)>,
) -> Option<Vec<(String, String)>> {
    // An object for another machine was refused when it was first read, and looks the same since.
    let (toolchain, headers): (Box<dyn Toolchain>, String) = match Found::look_for(environment, || None).ok()? {
        Found::Host(found) => {
            let mut seen = true;
            walk(&environment.include_dir, &mut |path| match FileLook::of(path) {
                Ok(look) => files.push((path.to_string_lossy().into_owned(), look)),
                Err(_) => seen = false,
            });
            (Box::new(found), seen.then(String::new)?)
        }
        Found::Cann(found) => {
            let version = toolkit_version(&found);
            (Box::new(found), version)
        }
    };
    let mut told = facts(environment, &*toolchain, headers, options);
    told.extend(response_files::facts(options, toolchain.kind()).ok()?);
    Some(told)
}

fn facts(
    environment: &Environment,
    toolchain: &dyn Toolchain,
    headers: String,
    options: &[String],
) -> Vec<(String, String)> {
    let mut facts = vec![("family".to_owned(), toolchain.kind().as_str().to_owned())];
    let tools = toolchain.identity().into_iter();
    facts.extend(tools.enumerate().map(|(number, tool)| (format!("tool {}", number + 1), tool.to_string())));
    match toolchain.kind() {
        ToolchainKind::Host => {}
        ToolchainKind::Cann => facts.push(("linker".to_owned(), environment.settings.linker.as_str().to_owned())),
    }
    facts.push(("compiler arguments".to_owned(), toolchain.arguments().join(" ")));
    facts.push(("headers".to_owned(), headers));
    let variables = &environment.variables.compiler;
    facts.extend(variables.iter().map(|(name, value)| ((*name).to_owned(), value.to_string_lossy().into_owned())));
    facts.extend(user_folders(environment, options).into_iter().map(|folder| {
        let content = folder_look(&folder);
        (format!("folder {}", folder.display()), content)
    }));
    facts
}

/// Folders and files that the user adds to what the compiler reads, by option or by variable.
fn user_folders(environment: &Environment, options: &[String]) -> Vec<PathBuf> {
    const INCLUDE_OPTIONS: [&str; 6] = ["-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros"];
    const INCLUDE_VARIABLES: [&str; 3] = ["CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"];
    let mut folders = Vec::new();
    let mut words = options.iter();
    while let Some(word) = words.next() {
        if INCLUDE_OPTIONS.contains(&word.as_str()) {
            folders.extend(words.next().map(PathBuf::from));
        } else if let Some(joined) = word.strip_prefix("-I") {
            folders.push(PathBuf::from(joined));
        }
    }
    let variables = environment.variables.compiler.iter().filter(|(name, _)| INCLUDE_VARIABLES.contains(name));
    folders.extend(variables.flat_map(|(_, value)| std::env::split_paths(value)));
    folders.retain(|folder| !folder.as_os_str().is_empty());
    folders.sort();
    folders.dedup();
    folders
}

/// What a folder, or a file, looks like: names, sizes and times of everything in it.
fn folder_look(path: &Path) -> String {
    let mut lines = Vec::new();
    match fs::metadata(path) {
        Ok(data) if data.is_dir() => walk(path, &mut |file| lines.push(look(file))),
        Ok(_) | Err(_) => lines.push(look(path)),
    }
    lines.sort();
    ContentDigest::of(lines.join("\n").as_bytes()).to_string()
}

/// The headers' content: our own tree is small.
fn tree_content(directory: &Path) -> String {
    let mut files = Vec::new();
    walk(directory, &mut |path| files.push(path.to_path_buf()));
    files.sort();
    let mut pieces: Vec<Vec<u8>> = Vec::new();
    for file in &files {
        pieces.push(file.strip_prefix(directory).unwrap_or(file).to_string_lossy().into_owned().into_bytes());
        pieces.push(fs::read(file).unwrap_or_default());
    }
    ContentDigest::of_all(pieces.iter().map(Vec::as_slice)).to_string()
}

/// The toolkit's stated version, else what its header tree looks like.
fn toolkit_version(toolchain: &CannToolchain) -> String {
    let toolkit = toolchain.toolkit();
    let stated: Vec<Vec<u8>> = VERSION_FILES.iter().filter_map(|name| fs::read(&toolkit.join(name)).ok()).collect();
    if !stated.is_empty() {
        return ContentDigest::of_all(stated.iter().map(Vec::as_slice)).to_string();
    }
    let mut lines = Vec::new();
    for directory in toolchain.include_dirs() {
        walk(&directory, &mut |path| lines.push(look(path)));
    }
    lines.sort();
    lines.dedup();
    ContentDigest::of(lines.join("\n").as_bytes()).to_string()
}

fn look(path: &Path) -> String {
    match crate::toolchain::ToolIdentity::of(path) {
        Ok(identity) => identity.to_string(),
        Err(_) => path.display().to_string(),
    }
}

/// Calls `visit` for every file below `directory`. Compilers follow links to folders, so this does too; each folder once.
fn walk(directory: &Path, visit: &mut dyn FnMut(&Path)) {
    walk_once(directory, &mut HashSet::new(), visit);
}

fn walk_once(directory: &Path, seen: &mut HashSet<PathBuf>, visit: &mut dyn FnMut(&Path)) {
    let Ok(real) = fs::canonical(directory) else { return };
    if !seen.insert(real) {
        return;
    }
    for entry in fs::entries(directory) {
        let path = entry.path();
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        let is_folder = fs::metadata(&path).is_ok_and(|data| data.is_dir());
        // Where a link leads is content as well.
        if is_link || !is_folder {
            visit(&path);
        }
        if is_folder {
            walk_once(&path, seen, visit);
        }
    }
}
