//! Objects for a device that could be linked and would not work: of other chips or cores, with another stack, with calls
//! that do not reach.

use std::collections::HashMap;
use std::path::Path;

use super::read::origin;
use super::used::functions;
use super::{LinkGroup, ObjectBytes, ObjectError, Objects};
use crate::artifact::{CALL, CALL_REACH, Chip, CodeTarget, STACK_BYTES, STACK_RECORD};
use crate::elf::{self, Place, Section, Symbol, SymbolKind};
use crate::model::{OpName, SuperKernel};
use crate::store::digest::ContentDigest;

/// Everything that is wrong with the files of `kernel`, each once.
pub(crate) fn problems(kernel: &SuperKernel) -> Vec<ObjectError> {
    let (mut problems, read) = Objects::problems(kernel);
    problems.extend(Suitability::of(kernel, &read).problems);
    problems
}

/// What a build refuses, and what it only mentions.
#[derive(Debug, Default)]
pub(crate) struct Suitability {
    /// The kernel would not work.
    pub problems: Vec<ObjectError>,
    /// It may not.
    pub warnings: Vec<String>,
}

impl Suitability {
    /// Looks at the objects of all ops, each once.
    pub(crate) fn of(kernel: &SuperKernel, objects: &Objects) -> Self {
        let mut looks: Vec<Look<'_>> = Vec::new();
        let mut known: HashMap<ContentDigest, usize> = HashMap::new();
        for op in &kernel.ops {
            for (group, function, file_name) in functions(op) {
                let Ok((file, object)) = objects.find(op, function, file_name) else { continue };
                let place = *known.entry(object.digest).or_insert_with(|| {
                    looks.push(Look { op: op.name(), path: &file.path, object, chip: kernel.platform.chip(), group });
                    looks.len() - 1
                });
                if looks[place].group != group {
                    // Functions of both kinds under the flags of one.
                    looks[place].group = LinkGroup::Dynamic;
                }
            }
        }
        let mut found = Self::default();
        let mut unknown = Vec::new();
        for look in &looks {
            match look.flags_that_say_nothing() {
                Ok(flags) => unknown.extend(flags.map(|flags| (look.origin(), flags))),
                Err(problem) => found.problems.push(problem),
            }
        }
        found.problems.extend(far_calls_between(&looks));
        if let Some((first, flags)) = unknown.first() {
            let others = match unknown.len() - 1 {
                0 => String::new(),
                others => format!(", nor do those of {others} more objects"),
            };
            found.warnings.push(format!(
                "`e_flags` of `{first}`, {flags:#x}, name no known chip{others}: whether the code is for {} is not checked",
                kernel.platform.soc
            ));
        }
        found
    }
}

/// One object, and what it is to be used for.
struct Look<'a> {
    op: OpName,
    path: &'a Path,
    object: ObjectBytes<'a>,
    chip: Chip,
    group: LinkGroup,
}

impl Look<'_> {
    fn origin(&self) -> String {
        origin(self.path, self.object.name)
    }

    /// Refuses what cannot work; the object's flags, if nobody has said what they mean.
    fn flags_that_say_nothing(&self) -> Result<Option<u32>, ObjectError> {
        let unreadable = |source| ObjectError::Elf { op: self.op.clone(), path: self.path.to_path_buf(), source };
        let identity = elf::identity(self.object.bytes).map_err(unreadable)?;
        if identity.machine != elf::DEVICE_MACHINE {
            return Ok(None);
        }
        let target = CodeTarget::of(identity.flags);
        self.check_target(target, identity.flags)?;
        if self.chip == Chip::C220 {
            let record = elf::section_bytes(self.object.bytes, STACK_RECORD).map_err(unreadable)?;
            self.check_stack(record.unwrap_or_default())?;
        }
        let calls = far_call(self.object.bytes).map_err(unreadable)?;
        match calls {
            Some(call) => Err(call.error(self.op.clone(), self.origin())),
            None => Ok(match target {
                CodeTarget::Unknown => Some(identity.flags),
                CodeTarget::Core(..) | CodeTarget::OtherChip(_) => None,
            }),
        }
    }

    fn check_target(&self, target: CodeTarget, flags: u32) -> Result<(), ObjectError> {
        let (found, fits) = match (target, self.group) {
            (CodeTarget::Unknown, LinkGroup::Static(_) | LinkGroup::Dynamic) => return Ok(()),
            (CodeTarget::OtherChip(chip), LinkGroup::Static(_) | LinkGroup::Dynamic) => (chip.to_owned(), false),
            (CodeTarget::Core(chip, kind), LinkGroup::Static(wanted)) => {
                (chip.arch(kind), (chip, kind) == (self.chip, wanted))
            }
            (CodeTarget::Core(chip, kind), LinkGroup::Dynamic) => (chip.arch(kind), chip == self.chip),
        };
        if fits {
            return Ok(());
        }
        let wanted = match self.group {
            LinkGroup::Static(kind) => self.chip.arch(kind),
            LinkGroup::Dynamic => self.chip.to_string(),
        };
        Err(ObjectError::OtherTarget { op: self.op.clone(), origin: self.origin(), flags, found, wanted })
    }

    /// Block-local variables lie at the bottom of the stack: code that thinks it is elsewhere takes other memory for them.
    fn check_stack(&self, record: &[u8]) -> Result<(), ObjectError> {
        let (words, _) = record.as_chunks::<8>();
        match words.iter().map(|word| u64::from_le_bytes(*word)).find(|bytes| *bytes != STACK_BYTES) {
            None => Ok(()),
            Some(bytes) => Err(ObjectError::Stack { op: self.op.clone(), origin: self.origin(), bytes }),
        }
    }
}

/// A call instruction that does not reach what it calls.
struct FarCall {
    caller: String,
    callee: String,
    distance: i128,
}

impl FarCall {
    fn error(self, op: OpName, origin: String) -> ObjectError {
        let Self { caller, callee, distance } = self;
        let distance = u64::try_from(distance.unsigned_abs()).unwrap_or(u64::MAX);
        ObjectError::Reach { op, origin, caller, callee, distance }
    }
}

/// A call within the object that does not reach when all its code lies together.
fn far_call(object: &[u8]) -> Result<Option<FarCall>, elf::ElfError> {
    let sections = elf::sections(object)?;
    let starts = code_starts(&sections);
    if code_length(&starts, &sections) <= CALL_REACH {
        return Ok(None);
    }
    let symbols = elf::symbols(object)?;
    for call in elf::relocations(object)?.into_iter().filter(|relocation| relocation.kind == CALL) {
        // The empty first symbol is not listed.
        let Some(callee) = call.symbol.checked_sub(1).and_then(|index| symbols.get(index)) else { continue };
        let Place::Section(section) = callee.place else { continue };
        let starts = (starts.get(section).copied().flatten(), starts.get(call.section).copied().flatten());
        let (Some(callee_start), Some(caller_start)) = starts else { continue };
        let target = callee_start + i128::from(callee.value) + i128::from(call.addend);
        let distance = target - (caller_start + i128::from(call.offset));
        if !(-CALL_REACH..CALL_REACH).contains(&distance) {
            let caller = function_at(&symbols, call.section, call.offset);
            let name =
                if callee.name.is_empty() { sections[section].name.to_string() } else { callee.name.to_string() };
            return Ok(Some(FarCall { caller, callee: name, distance }));
        }
    }
    Ok(None)
}

/// Calls from one object of an op to another that do not reach, even if nothing lay between the two.
fn far_calls_between(looks: &[Look<'_>]) -> Vec<ObjectError> {
    let mut problems = Vec::new();
    for (number, look) in looks.iter().enumerate() {
        let needed = look.object.imports();
        let others = looks.iter().enumerate().filter(|(other, called)| *other != number && called.path == look.path);
        for (other, called) in others.filter(|(_, called)| needed.iter().any(|name| called.object.exports(name))) {
            let is_first = (look.group, number) < (called.group, other);
            // Whatever cannot be read has been told.
            let call = far_call_to(look.object.bytes, called.object.bytes, is_first).ok().flatten();
            problems.extend(call.map(|call| call.error(look.op.clone(), look.origin())));
        }
    }
    problems
}

/// A call from one object to another, which lies behind it or in front of it.
fn far_call_to(caller: &[u8], called: &[u8], is_first: bool) -> Result<Option<FarCall>, elf::ElfError> {
    let (sections, other_sections) = (elf::sections(caller)?, elf::sections(called)?);
    let (starts, other_starts) = (code_starts(&sections), code_starts(&other_sections));
    let (symbols, other_symbols) = (elf::symbols(caller)?, elf::symbols(called)?);
    let targets: HashMap<&str, i128> = other_symbols
        .iter()
        .filter(|symbol| symbol.is_exported())
        .filter_map(|symbol| match symbol.place {
            Place::Section(section) => {
                Some((symbol.name.as_ref(), other_starts.get(section).copied()??.checked_add(symbol.value.into())?))
            }
            Place::Undefined | Place::Absolute | Place::Common | Place::Special(_) => None,
        })
        .collect();
    for call in elf::relocations(caller)?.into_iter().filter(|relocation| relocation.kind == CALL) {
        let Some(symbol) = call.symbol.checked_sub(1).and_then(|index| symbols.get(index)) else { continue };
        let target = targets.get(symbol.name.as_ref()).filter(|_| symbol.is_imported());
        let (Some(target), Some(start)) = (target, starts.get(call.section).copied().flatten()) else { continue };
        let (place, target) = (start + i128::from(call.offset), target + i128::from(call.addend));
        let distance = match is_first {
            true => code_length(&starts, &sections) - place + target,
            false => code_length(&other_starts, &other_sections) - target + place,
        };
        if distance > CALL_REACH {
            let caller = function_at(&symbols, call.section, call.offset);
            return Ok(Some(FarCall { caller, callee: symbol.name.to_string(), distance }));
        }
    }
    Ok(None)
}

/// How long all code is.
fn code_length(starts: &[Option<i128>], sections: &[Section<'_>]) -> i128 {
    let ends = starts.iter().zip(sections).filter_map(|(start, section)| Some((*start)? + i128::from(section.size)));
    ends.max().unwrap_or(0)
}

/// Where each section with code begins when they lie one after the other.
fn code_starts(sections: &[Section<'_>]) -> Vec<Option<i128>> {
    const EXECUTABLE: u64 = 4;
    let mut end: i128 = 0;
    let place = |section: &Section<'_>| {
        if section.flags & EXECUTABLE == 0 {
            return None;
        }
        let align = i128::from(section.align.max(1));
        let start = (end + align - 1) / align * align;
        end = start + i128::from(section.size);
        Some(start)
    };
    sections.iter().map(place).collect()
}

fn function_at(symbols: &[Symbol<'_>], section: usize, offset: u64) -> String {
    let holds = |symbol: &&Symbol<'_>| {
        let inside = offset.checked_sub(symbol.value).is_some_and(|distance| distance < symbol.size);
        symbol.place == Place::Section(section) && symbol.kind == SymbolKind::Function && inside
    };
    symbols.iter().find(holds).map_or_else(|| format!("offset {offset:#x}"), |symbol| symbol.name.to_string())
}
