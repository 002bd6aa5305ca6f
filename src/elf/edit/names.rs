//! From requested names to what happens to each symbol.

use std::collections::HashMap;

use super::super::error::{EditKind, ElfError};
use super::super::file::ElfFile;
use super::super::format::{RawSymbol, binding, special};
use super::super::symbols::{Place, SymbolTable};
use super::{Edits, Localize, Missing};
use crate::nearest::nearest;

/// What happens to every symbol.
pub(crate) struct Changes {
    /// Per symbol; empty when the object has no symbol table.
    pub symbols: Vec<Change>,
    /// Bytes to append to the symbol names.
    pub added_names: Vec<u8>,
    /// Whether any symbol changes at all.
    pub any: bool,
    /// Whether any symbol is stripped.
    pub strips: bool,
}

/// What happens to one symbol.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Change {
    /// Where the new name is in the string table; 0 when the name stays.
    pub new_name: u32,
    pub fate: Fate,
}

/// Whether a symbol stays what it is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Fate {
    #[default]
    Keep,
    Localize,
    Weaken,
    /// Removed; symbols with the same number have the same name.
    Strip(u32),
}

/// What was asked for one name, and what came of it.
#[derive(Default)]
struct Request<'a> {
    rename_to: Option<&'a str>,
    localize: bool,
    weaken: bool,
    strip: bool,
    keep: bool,
    seen: bool,
    seen_defined: bool,
    seen_exported: bool,
    /// A symbol of this name cannot be made local for this reason.
    obstacle: Option<&'static str>,
    /// Where the new name is in the string table, once it is needed.
    new_name: u32,
    /// Numbers the stripped names.
    number: u32,
}

/// Finds the symbols that the edits mean.
pub(crate) fn resolve(file: &ElfFile<'_>, table: Option<&SymbolTable<'_>>, edits: &Edits) -> Result<Changes, ElfError> {
    let mut requests = collect(edits)?;
    let mut changes = Changes { symbols: Vec::new(), added_names: Vec::new(), any: false, strips: false };
    if let Some(table) = table {
        sweep(file, table, edits, &mut requests, &mut changes)?;
    }
    if edits.missing == Missing::Error {
        check_all_found(table, edits, &requests)?;
    }
    if let Some(table) = table {
        check_duplicates(table, edits, &requests, &changes)?;
    }
    Ok(changes)
}

/// The requests by name, free of contradictions.
fn collect(edits: &Edits) -> Result<HashMap<&[u8], Request<'_>>, ElfError> {
    let conflict = |name: &str, problem| Err(ElfError::ConflictingEdits { name: name.to_owned(), problem });
    let mut requests: HashMap<&[u8], Request<'_>> = HashMap::new();
    for (old, new) in &edits.rename {
        check_symbol_name(new)?;
        let request = requests.entry(old.as_bytes()).or_default();
        if request.rename_to.is_some_and(|other| other != new) {
            return conflict(old, "two new names");
        }
        request.rename_to = Some(new);
    }
    match &edits.localize {
        Localize::None => {}
        Localize::Names(names) => {
            for name in names {
                requests.entry(name.as_bytes()).or_default().localize = true;
            }
        }
        Localize::AllDefinedExcept(names) => {
            for name in names {
                requests.entry(name.as_bytes()).or_default().keep = true;
            }
        }
    }
    for name in &edits.weaken {
        let request = requests.entry(name.as_bytes()).or_default();
        if request.localize {
            return conflict(name, "localize and weaken");
        }
        request.weaken = true;
    }
    for (number, name) in edits.strip.iter().enumerate() {
        let request = requests.entry(name.as_bytes()).or_default();
        if request.rename_to.is_some() {
            return conflict(name, "rename and strip");
        }
        if request.localize || request.keep || request.weaken {
            return conflict(name, "localize, keep or weaken, and strip");
        }
        request.strip = true;
        request.number = u32::try_from(number).unwrap_or(u32::MAX);
    }
    for (_, new) in &edits.rename {
        if requests.get(new.as_bytes()).is_some_and(|request| request.strip) {
            return conflict(new, "it is stripped and also the new name of another symbol");
        }
    }
    Ok(requests)
}

pub(super) fn check_symbol_name(name: &str) -> Result<(), ElfError> {
    let problem = if name.is_empty() {
        "it is empty"
    } else if name.contains('\0') {
        "it holds a zero byte"
    } else {
        return Ok(());
    };
    Err(ElfError::BadName { name: name.to_owned(), what: "a symbol name", problem })
}

/// Decides for each symbol; fills in what was seen of each request.
fn sweep(
    file: &ElfFile<'_>,
    table: &SymbolTable<'_>,
    edits: &Edits,
    requests: &mut HashMap<&[u8], Request<'_>>,
    changes: &mut Changes,
) -> Result<(), ElfError> {
    let lengths = Lengths::of(requests.keys().map(|name| name.len()));
    let all_but_kept = matches!(edits.localize, Localize::AllDefinedExcept(_));
    changes.symbols = vec![Change::default(); table.count()];
    for index in 1..table.count() {
        let raw = table.raw(index);
        if !raw.is_named_by_program() {
            continue;
        }
        if raw.name as usize >= table.names.bytes().len() {
            let problem = "the name starts beyond the end of the string table";
            return Err(ElfError::malformed(table.offset_of(file, index), "st_name", problem));
        }
        let name = table.names.short(raw.name, lengths.longest).filter(|name| lengths.has(name.len()));
        let mut request = name.and_then(|name| requests.get_mut(name));
        if request.is_none() && (!all_but_kept || raw.is_local()) {
            continue;
        }
        let place = table.place_of(file, index, raw.section)?;
        let change = &mut changes.symbols[index];
        let mut localize = all_but_kept;
        if let Some(request) = &mut request {
            request.seen = true;
            request.seen_defined |= place != Place::Undefined;
            request.seen_exported |= place != Place::Undefined && !raw.is_local();
            localize = request.localize || (all_but_kept && !request.keep && !request.strip);
            if let Some(new) = request.rename_to.filter(|new| Some(new.as_bytes()) != name) {
                if request.new_name == 0 {
                    request.new_name = append_name(file, table, &mut changes.added_names, new)?;
                }
                change.new_name = request.new_name;
                changes.any = true;
            }
            if request.strip {
                change.fate = Fate::Strip(request.number);
                changes.any = true;
                changes.strips = true;
            }
            let visible = !raw.is_local() && !localize;
            if request.weaken && visible && raw.binding() != binding::WEAK && matches!(place, Place::Section(_)) {
                change.fate = Fate::Weaken;
                changes.any = true;
            }
        }
        if localize && !raw.is_local() && place != Place::Undefined {
            match obstacle(file, raw, place) {
                None => {
                    change.fate = Fate::Localize;
                    changes.any = true;
                }
                Some(problem) => {
                    if let Some(request) = request {
                        request.obstacle = Some(problem);
                    }
                }
            }
        }
    }
    Ok(())
}

/// Why a defined symbol cannot become local.
fn obstacle(file: &ElfFile<'_>, raw: RawSymbol, place: Place) -> Option<&'static str> {
    use super::super::format::symbol_kind;
    match place {
        Place::Special(_) => Some("the processor gives its section index a special meaning"),
        Place::Common if file.is_linked() => Some("it is a common symbol of a linked file"),
        Place::Common if raw.kind() == symbol_kind::TLS => Some("it is a common symbol per thread"),
        Place::Common | Place::Undefined | Place::Absolute | Place::Section(_) => None,
    }
}

/// Where `name` is in the string table after it was appended.
///
/// Appended, never written over: other symbols may use the old name or its end.
fn append_name(file: &ElfFile<'_>, table: &SymbolTable<'_>, added: &mut Vec<u8>, name: &str) -> Result<u32, ElfError> {
    let old = table.names.bytes();
    if added.is_empty() && old.last() != Some(&0) {
        added.push(0);
    }
    let offset = old.len() + added.len();
    added.extend_from_slice(name.as_bytes());
    added.push(0);
    match u32::try_from(old.len() + added.len()) {
        // The last offset has to fit as well, not only this one.
        Ok(_) => Ok(u32::try_from(offset).unwrap_or(u32::MAX)),
        Err(_) => Err(ElfError::malformed(
            file.header_offset(table.names_index),
            "sh_size",
            "the string table would grow beyond 4 GB",
        )),
    }
}

/// The first request that found nothing suitable, as an error.
fn check_all_found(
    table: Option<&SymbolTable<'_>>,
    edits: &Edits,
    requests: &HashMap<&[u8], Request<'_>>,
) -> Result<(), ElfError> {
    let (localized, kept): (&[String], &[String]) = match &edits.localize {
        Localize::None => (&[], &[]),
        Localize::Names(names) => (names, &[]),
        Localize::AllDefinedExcept(names) => (&[], names),
    };
    let asked = (edits.rename.iter().map(|(old, _)| (EditKind::Rename, old)))
        .chain(localized.iter().map(|name| (EditKind::Localize, name)))
        .chain(kept.iter().map(|name| (EditKind::Keep, name)))
        .chain(edits.weaken.iter().map(|name| (EditKind::Weaken, name)))
        .chain(edits.strip.iter().map(|name| (EditKind::Strip, name)));
    for (edit, name) in asked {
        let Some(request) = requests.get(name.as_bytes()) else { continue };
        if !request.seen {
            let near = table.map_or_else(Vec::new, |table| near_names(table, name));
            return Err(ElfError::MissingSymbol { edit, name: name.clone(), near });
        }
        let problem = match edit {
            EditKind::Localize | EditKind::Weaken if !request.seen_defined => "the object only refers to it",
            EditKind::Keep if !request.seen_defined => "the object only refers to it",
            EditKind::Keep | EditKind::Weaken if !request.seen_exported => "it is local already",
            EditKind::Localize => match request.obstacle {
                Some(problem) => problem,
                None => continue,
            },
            EditKind::Rename | EditKind::Keep | EditKind::Weaken | EditKind::Strip => continue,
        };
        return Err(ElfError::WrongSymbol { edit, name: name.clone(), problem });
    }
    Ok(())
}

/// Names of the object that look like `name`.
fn near_names(table: &SymbolTable<'_>, name: &str) -> Vec<String> {
    // Every candidate costs time proportional to the square of its length: a message should not take seconds.
    const LONGEST: usize = 256;
    const MOST_SYMBOLS: usize = 10_000;
    let candidates = (1..table.count().min(MOST_SYMBOLS)).filter_map(|index| {
        let raw = table.raw(index);
        let bytes = table.names.short(raw.name, LONGEST).filter(|_| raw.is_named_by_program())?;
        std::str::from_utf8(bytes).ok()
    });
    nearest(name, candidates, 3).into_iter().map(str::to_owned).collect()
}

/// Refuses a rename that leaves two global symbols with one name, unless both only refer to it.
fn check_duplicates(
    table: &SymbolTable<'_>,
    edits: &Edits,
    requests: &HashMap<&[u8], Request<'_>>,
    changes: &Changes,
) -> Result<(), ElfError> {
    // Only names that a rename arrived at can be new duplicates; requests of symbols that stayed are not among them.
    let mut claims: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (old, new) in &edits.rename {
        if old != new && requests.get(old.as_bytes()).is_some_and(|request| request.new_name != 0) {
            claims.entry(new.as_bytes()).or_default();
        }
    }
    if claims.is_empty() {
        return Ok(());
    }
    let targets: HashMap<u32, &[u8]> = (edits.rename.iter())
        .filter_map(|(old, new)| Some((requests.get(old.as_bytes())?.new_name, new.as_bytes())))
        .filter(|(offset, _)| *offset != 0)
        .collect();
    let lengths = Lengths::of(claims.keys().map(|name| name.len()));
    for index in 1..table.count() {
        let raw = table.raw(index);
        let change = changes.symbols[index];
        if raw.is_local() || change.fate == Fate::Localize || !raw.is_named_by_program() {
            continue;
        }
        let name = if change.new_name != 0 {
            targets.get(&change.new_name).copied()
        } else {
            table.names.short(raw.name, lengths.longest).filter(|name| lengths.has(name.len()))
        };
        let Some((name, claimants)) = name.and_then(|name| Some((name, claims.get_mut(name)?))) else { continue };
        claimants.push(index);
        let is_defined = |index: &usize| table.raw(*index).section != special::UNDEFINED;
        if claimants.len() > 1 && claimants.iter().any(is_defined) {
            return Err(ElfError::DuplicateSymbol { name: String::from_utf8_lossy(name).into_owned() });
        }
    }
    Ok(())
}

/// The lengths that occur among some names: most symbols are told apart by their length alone.
struct Lengths {
    present: Vec<bool>,
    longest: usize,
}

impl Lengths {
    fn of(lengths: impl Iterator<Item = usize>) -> Self {
        let mut present = Vec::new();
        for length in lengths {
            if present.len() <= length {
                present.resize(length + 1, false);
            }
            present[length] = true;
        }
        Self { longest: present.len().saturating_sub(1), present }
    }

    fn has(&self, length: usize) -> bool {
        self.present.get(length).copied().unwrap_or(false)
    }
}
