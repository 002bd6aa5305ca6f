//! Reading object files and archives, each once, and finding functions in them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;

use super::{ObjectError, TextSizes};
use crate::artifact::TILING_PREFIX;
use crate::elf::{self, SharedPart};
use crate::fs::{self, FileLook};
use crate::model::{Function, Op, OpName, SubKernelCode, SuperKernel};
use crate::parallel;
use crate::store::digest::ContentDigest;
use crate::store::shelf::Shelf;

/// A sub-kernel file: one object, or an archive of them. The content tells which.
#[derive(Debug)]
pub(crate) struct BinFile {
    /// Where it was read from.
    pub path: PathBuf,
    /// Identifies its content.
    pub digest: ContentDigest,
    bytes: Vec<u8>,
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    /// Empty for a plain object.
    name: String,
    range: Range<usize>,
    digest: ContentDigest,
    interface: Interface,
}

/// What an object and others have to do with each other.
#[derive(Debug)]
struct Interface {
    /// What it defines for others, and the code that this is a part of.
    exports: Vec<(String, Option<CodeOf>)>,
    /// What others must define for it.
    imports: Vec<String>,
    /// What it shares with all others.
    shared: SharedPart,
    /// Code sections that hold a part of its code, each name once.
    code_parts: Vec<String>,
    /// Whether it has sections that describe tiling data to other tools.
    describes_tiling: bool,
}

impl Interface {
    fn defines(&self, symbol: &str) -> bool {
        self.exports.iter().any(|(export, _)| export == symbol)
    }
}

/// Where in a section a function begins, and the size of that section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CodeOf {
    pub offset: u64,
    pub size: u64,
}

/// One object of a [`BinFile`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct ObjectBytes<'a> {
    /// Its name in the archive; empty for a plain object.
    pub name: &'a str,
    /// Its content.
    pub bytes: &'a [u8],
    /// Identifies its content.
    pub digest: ContentDigest,
    interface: &'a Interface,
}

impl<'a> ObjectBytes<'a> {
    /// What it needs from others.
    pub(crate) fn imports(&self) -> &'a [String] {
        &self.interface.imports
    }

    /// What it shares with all others.
    pub(crate) fn shared(&self) -> &'a SharedPart {
        &self.interface.shared
    }

    /// Whether it has sections that describe tiling data to other tools.
    pub(crate) fn describes_tiling(&self) -> bool {
        self.interface.describes_tiling
    }

    /// The names of code sections that hold a part of its code.
    pub(crate) fn code_parts(&self) -> &'a [String] {
        &self.interface.code_parts
    }

    /// Does it define `symbol` for others?
    pub(crate) fn exports(&self, symbol: &str) -> bool {
        self.interface.defines(symbol)
    }

    /// The code that `function`, which it defines for others, is a part of.
    pub(crate) fn code_of(&self, function: &str) -> Option<CodeOf> {
        self.interface.exports.iter().find(|(export, _)| export == function)?.1
    }
}

impl BinFile {
    /// Reads a file for `op`.
    pub(crate) fn read(path: &Path, op: &OpName) -> Result<Self, ObjectError> {
        let bytes = fs::read(path).map_err(|source| match source.is_not_regular() {
            true => ObjectError::NotAFile { op: op.clone(), path: path.to_path_buf() },
            false => ObjectError::File { op: op.clone(), source },
        })?;
        let members =
            members(&bytes).map_err(|source| ObjectError::Elf { op: op.clone(), path: path.to_path_buf(), source })?;
        let file = Self { path: path.to_path_buf(), digest: digest_of(&members), bytes, members };
        file.refuse_linked(op)?;
        Ok(file)
    }

    /// What a linker has already made is no input of another link.
    fn refuse_linked(&self, op: &OpName) -> Result<(), ObjectError> {
        let is_linked = |object: &ObjectBytes<'_>| {
            elf::identity(object.bytes).is_ok_and(|identity| identity.kind != elf::RELOCATABLE)
        };
        let Some(linked) = self.objects().find(is_linked) else { return Ok(()) };
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let twin = self.path.with_file_name(format!("{stem}_relocatable.o"));
        let twin = fs::metadata(&twin).is_ok().then_some(twin);
        Err(ObjectError::Linked { op: op.clone(), origin: origin(&self.path, linked.name), twin })
    }

    /// The digest of the file's bytes, as the JSON of a sub-kernel may state it.
    pub(crate) fn file_digest(&self) -> ContentDigest {
        match self.members.as_slice() {
            [plain] if plain.name.is_empty() => plain.digest,
            _ => ContentDigest::of(&self.bytes),
        }
    }

    /// Every object in it, in order.
    pub(crate) fn objects(&self) -> impl Iterator<Item = ObjectBytes<'_>> {
        self.members.iter().map(|member| self.object(member))
    }

    /// The object that defines `function`. In an archive the JSON's file name decides; a name that leads nowhere is
    /// forgiven if exactly the right function is in another member.
    pub(crate) fn object_with(&self, function: &str, file_name: Option<&str>) -> Option<ObjectBytes<'_>> {
        let defines = |member: &&Member| member.interface.defines(function);
        let named = |member: &&Member| file_name.is_some_and(|name| base_name(name) == member.name);
        let found = self.members.iter().find(|member| named(member) && defines(member));
        found.or_else(|| self.members.iter().find(defines)).map(|member| self.object(member))
    }

    fn object<'a>(&'a self, member: &'a Member) -> ObjectBytes<'a> {
        ObjectBytes {
            name: &member.name,
            bytes: &self.bytes[member.range.clone()],
            digest: member.digest,
            interface: &member.interface,
        }
    }
}

/// How messages call an object: the file, and the member if it is an archive.
pub(super) fn origin(path: &Path, member: &str) -> String {
    match member {
        "" => path.display().to_string(),
        member => format!("{}({member})", path.display()),
    }
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn members(bytes: &[u8]) -> Result<Vec<Member>, elf::ElfError> {
    if !elf::archive::is_archive(bytes) {
        return Ok(vec![member(String::new(), bytes, 0)?]);
    }
    let mut members = Vec::new();
    for found in elf::archive::read(bytes)? {
        let start = found.data.as_ptr() as usize - bytes.as_ptr() as usize;
        let name = found.name.into_owned();
        let read = member(name.clone(), found.data, start).map_err(elf::ElfError::in_member(&name))?;
        members.push(read);
    }
    Ok(members)
}

fn member(name: String, bytes: &[u8], start: usize) -> Result<Member, elf::ElfError> {
    let range = start..start + bytes.len();
    elf::check_limits(bytes)?;
    let interface = interface(bytes)?;
    Ok(Member { name, range, digest: ContentDigest::of(bytes), interface })
}

/// Identifies a file by its objects, none of which is read twice for it.
fn digest_of(members: &[Member]) -> ContentDigest {
    match members {
        [plain] if plain.name.is_empty() => plain.digest,
        members => {
            let list: String = members.iter().map(|member| format!("{} {}\n", member.digest, member.name)).collect();
            ContentDigest::of(list.as_bytes())
        }
    }
}

fn interface(object: &[u8]) -> Result<Interface, elf::ElfError> {
    let symbols = elf::symbols(object)?;
    let sections = elf::sections(object)?;
    let shared = SharedPart::among(&symbols, &sections);
    let code_parts = elf::code_parts(elf::identity(object)?.machine, &sections);
    let describes_tiling = sections.iter().any(|section| section.name.starts_with(TILING_PREFIX));
    let (mut exports, mut imports) = (Vec::new(), Vec::new());
    for symbol in symbols {
        if symbol.is_exported() {
            exports.push((symbol.name.to_string(), code_of(&symbol, &sections)));
        } else if symbol.is_imported() {
            imports.push(symbol.name.into_owned());
        }
    }
    Ok(Interface { exports, imports, shared, code_parts, describes_tiling })
}

fn code_of(symbol: &elf::Symbol<'_>, sections: &[elf::Section<'_>]) -> Option<CodeOf> {
    let elf::Place::Section(section) = symbol.place else { return None };
    let section = sections.get(section)?;
    Some(CodeOf { offset: symbol.value.checked_sub(section.address)?, size: section.size })
}

/// Files that have been read: by path and look.
pub(crate) type BinFiles = Shelf<(PathBuf, FileLook), Arc<BinFile>>;

/// The file at `path`, which others may have read already.
fn read_once(path: &Path, op: &OpName, known: &BinFiles) -> Result<Arc<BinFile>, ObjectError> {
    let read = || BinFile::read(path, op).map(Arc::new);
    match FileLook::of(path) {
        Ok(look) => known.get((path.to_path_buf(), look), read),
        // Reading tells why.
        Err(_) => read(),
    }
}

/// The files of all ops, each read once.
#[derive(Debug, Default)]
pub(crate) struct Objects {
    files: HashMap<PathBuf, Arc<BinFile>>,
}

impl Objects {
    /// Reads the files of all ops of `kernel`, side by side; not those that are known.
    fn read(kernel: &SuperKernel, known: &BinFiles) -> Result<Self, ObjectError> {
        let mut wanted: Vec<(&Path, &Op)> = Vec::new();
        let mut seen = HashMap::new();
        for op in &kernel.ops {
            let path = op.bin_path.as_deref().ok_or_else(|| ObjectError::NoBinPath { op: op.name() })?;
            if seen.insert(path, ()).is_none() {
                wanted.push((path, op));
            }
        }
        let read: Vec<Result<Arc<BinFile>, ObjectError>> =
            parallel::run(|| wanted.par_iter().map(|(path, op)| read_once(path, &op.name(), known)).collect());
        let mut files = HashMap::new();
        for file in read {
            let file = file?;
            files.insert(file.path.clone(), file);
        }
        Ok(Self { files })
    }

    /// Everything that is missing in the files of `kernel`, each file and each function once; and what could be read.
    pub(super) fn problems(kernel: &SuperKernel) -> (Vec<ObjectError>, Self) {
        let mut problems = Vec::new();
        let mut read = Self::default();
        let mut tried = HashSet::new();
        for op in &kernel.ops {
            match op.bin_path.as_deref() {
                None => problems.push(ObjectError::NoBinPath { op: op.name() }),
                Some(path) if tried.insert(path) => match BinFile::read(path, &op.name()) {
                    Ok(file) => drop(read.files.insert(path.to_path_buf(), Arc::new(file))),
                    Err(error) => problems.push(error),
                },
                Some(_) => {}
            }
        }
        let mut asked = HashSet::new();
        for op in kernel.ops.iter().filter(|op| read.file(op).is_some()) {
            match &op.kernel.code {
                SubKernelCode::Static(functions) => {
                    let new =
                        functions.iter().filter(|function| asked.insert((op.bin_path.as_deref(), &*function.name)));
                    problems.extend(new.filter_map(|function| read.text_size(op, function).err()));
                }
                SubKernelCode::Dynamic(_) => problems.extend(read.check_dynamic(op).err()),
            }
        }
        (problems, read)
    }

    /// Reads the files and the code sizes in them.
    pub(crate) fn read_and_measure(kernel: &SuperKernel, known: &BinFiles) -> Result<(Self, TextSizes), ObjectError> {
        let objects = Self::read(kernel, known)?;
        let sizes = objects.text_sizes(kernel)?;
        Ok((objects, sizes))
    }

    /// The file of `op`.
    pub(crate) fn file(&self, op: &Op) -> Option<&Arc<BinFile>> {
        self.files.get(op.bin_path.as_deref()?)
    }

    /// The first object, in op order, that is not for this machine: how messages call it, and its `e_machine`.
    pub(crate) fn first_foreign(&self, kernel: &SuperKernel) -> Option<(String, u16)> {
        let files = kernel.ops.iter().filter_map(|op| self.file(op));
        files.flat_map(|file| file.objects().map(|object| (file.path.as_path(), object))).find_map(|(path, object)| {
            let machine = elf::identity(object.bytes).ok()?.machine;
            (machine != elf::HOST_MACHINE).then(|| (origin(path, object.name), machine))
        })
    }

    /// Objects that are not those their JSONs state, in op order, each pair of files once.
    pub(crate) fn other_than_stated(&self, kernel: &SuperKernel) -> Vec<ObjectError> {
        let mut seen = HashSet::new();
        let mut found = Vec::new();
        for op in &kernel.ops {
            let (Some(file), Some(stated)) = (self.file(op), op.kernel.object_digest.as_deref()) else { continue };
            if !seen.insert((file.path.as_path(), op.kernel.json_digest)) {
                continue;
            }
            let digest = file.file_digest();
            if !digest.is(stated) {
                let (path, stated) = (file.path.clone(), stated.to_owned());
                found.push(ObjectError::Digest { op: op.name(), path, stated, found: digest });
            }
        }
        found
    }

    /// How many files there are.
    pub(crate) fn count(&self) -> usize {
        self.files.len()
    }

    /// The file at `path`, as an op names it.
    pub(crate) fn file_at(&self, path: &Path) -> Option<&BinFile> {
        self.files.get(path).map(Arc::as_ref)
    }

    /// The object with `function` of `op`.
    pub(crate) fn object_with(&self, op: &Op, function: &Function) -> Result<ObjectBytes<'_>, ObjectError> {
        self.find(op, &function.name, function.object.as_deref()).map(|(_, object)| object)
    }

    /// The object of `op` that defines `function`, and the file it is in; `file_name` is what the JSON says.
    pub(crate) fn find(
        &self,
        op: &Op,
        function: &str,
        file_name: Option<&str>,
    ) -> Result<(&BinFile, ObjectBytes<'_>), ObjectError> {
        let file = self.file(op).ok_or_else(|| ObjectError::NoBinPath { op: op.name() })?;
        let object = file.object_with(function, file_name).ok_or_else(|| ObjectError::NoFunction {
            op: op.name(),
            path: file.path.clone(),
            function: function.to_owned(),
        })?;
        Ok((file, object))
    }

    /// Code sizes of all static ops, and a check that the functions of the dynamic ones are there.
    pub(crate) fn text_sizes(&self, kernel: &SuperKernel) -> Result<TextSizes, ObjectError> {
        let mut sizes = TextSizes::default();
        let mut known: HashMap<(&Path, &str), u64> = HashMap::new();
        for (position, op) in kernel.ops.enumerate() {
            let functions = match &op.kernel.code {
                SubKernelCode::Static(functions) => functions,
                SubKernelCode::Dynamic(_) => {
                    self.check_dynamic(op)?;
                    continue;
                }
            };
            for function in functions {
                let key = (op.bin_path.as_deref().unwrap_or(Path::new("")), function.name.as_str());
                let bytes = match known.get(&key) {
                    Some(bytes) => *bytes,
                    None => self.text_size(op, function)?,
                };
                known.insert(key, bytes);
                sizes.insert(position, function.kind, bytes);
            }
        }
        Ok(sizes)
    }

    fn text_size(&self, op: &Op, function: &Function) -> Result<u64, ObjectError> {
        let object = self.object_with(op, function)?;
        let path = || op.bin_path.clone().unwrap_or_default();
        match elf::text_size(object.bytes) {
            Ok(bytes) => Ok(bytes),
            Err(elf::ElfError::NoText) => {
                Err(ObjectError::NoText { op: op.name(), path: path(), function: function.name.clone() })
            }
            Err(source) => Err(ObjectError::Elf { op: op.name(), path: path(), source }),
        }
    }

    fn check_dynamic(&self, op: &Op) -> Result<(), ObjectError> {
        let SubKernelCode::Dynamic(table) = &op.kernel.code else { return Ok(()) };
        let file = self.file(op).ok_or_else(|| ObjectError::NoBinPath { op: op.name() })?;
        for name in table.iter().flat_map(|entry| [&entry.aic, &entry.aiv]).flatten() {
            if file.object_with(name, None).is_none() {
                let (path, function) = (file.path.clone(), name.clone());
                return Err(ObjectError::NoFunction { op: op.name(), path, function });
            }
        }
        Ok(())
    }
}
