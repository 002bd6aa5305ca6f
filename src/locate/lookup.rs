//! From a program counter of a device to core kind, copy, op, function and line.

use super::map::{CodeMap, MappedFunction};
use super::{CodeFile, CodePlace, LocateError};
use crate::model::CoreKind;

/// The code of a kernel's object, ready to be asked.
pub(crate) struct Lookup<'a> {
    code: CodeFile<'a>,
    map: Option<CodeMap>,
}

/// What is known about one program counter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Located {
    /// The kernel's name, if the object says.
    pub kernel: Option<String>,
    /// The program counter.
    pub pc: u64,
    /// Its distance from the start of the code.
    pub offset: u64,
    /// `aic` or `aiv`.
    pub kind: Option<String>,
    /// Which copy of the code.
    pub copy: Option<usize>,
    /// The ops that run this function, by place in `op_list` and name; none: the super kernel's own code.
    pub ops: Vec<(usize, String)>,
    /// Whether the address lies inside what the object of that function brought along; otherwise behind it, where its
    /// helpers are.
    pub certain: bool,
    /// Function and line.
    pub place: CodePlace,
}

/// What an address is the start of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start<'a> {
    /// The code of the kernel.
    Code(u64),
    /// The function of this name.
    Function(u64, &'a str),
}

/// Code is loaded to whole pages.
const PAGE: u64 = 0x1000;
/// Addresses of a device have 48 bits. Some logs show more, with flags in them.
const ADDRESS: u64 = (1 << 48) - 1;

impl<'a> Lookup<'a> {
    /// Reads an object.
    pub(crate) fn open(object: &'a [u8]) -> Result<Self, LocateError> {
        Ok(Self { code: CodeFile::parse(object)?, map: CodeMap::read(object)? })
    }

    /// Where `pc` is, on a device that has the code at `start`.
    pub(crate) fn at(&self, pc: u64, start: Start<'_>) -> Result<Located, LocateError> {
        let base = match start {
            Start::Code(base) => base,
            Start::Function(address, name) => {
                let offset = self.code.symbol(name).ok_or_else(|| LocateError::NoFunction { name: name.to_owned() })?;
                address.wrapping_sub(offset.wrapping_sub(self.code.start()))
            }
        };
        let offset = pc.wrapping_sub(base) & ADDRESS;
        let address = self.code.start().wrapping_add(offset);
        let size = self.code.size();
        if offset >= size {
            return Err(LocateError::Outside { pc, base, size });
        }
        let place = self.code.at(address);
        let kernel = self.map.as_ref().map(|map| map.kernel.clone());
        let mut located =
            Located { kernel, pc, offset, kind: None, copy: None, ops: Vec::new(), certain: false, place };
        if let Some(map) = &self.map {
            let owner = self.owner(map, address);
            if let Some((function, copy, certain)) = owner {
                located.kind = Some(function.kind.clone());
                located.copy = Some(copy);
                located.ops = function.ops.iter().filter_map(|op| map.ops.get(*op).cloned()).collect();
                located.certain = certain;
            }
        }
        Ok(located)
    }

    /// What `address`, the start that a log tells of a core of this kind, is the start of. Logs do not say; but code starts
    /// at a page, so what is inside one, where an entry would be, is that entry.
    pub(crate) fn start(&self, address: u64, kind: Option<CoreKind>) -> Start<'_> {
        let place = address % PAGE;
        let entries = self.map.iter().flat_map(|map| &map.functions).filter(|function| {
            // Copies of the super kernel's own code are no entries.
            let is_entry = function.ops.is_empty() && function.copies.len() == 1;
            is_entry && kind.is_none_or(|kind| function.kind == kind.as_str())
        });
        let symbols = entries.flat_map(|function| &function.copies).map(|copy| copy.symbol.as_str());
        let is_it = |symbol: &&str| {
            self.code.symbol(symbol).is_some_and(|at| at.wrapping_sub(self.code.start()) % PAGE == place)
        };
        let found: Vec<&str> = symbols.filter(is_it).collect();
        match found.as_slice() {
            [entry] if place != 0 => Start::Function(address, entry),
            _ => Start::Code(address),
        }
    }

    /// The function whose object's code holds `address`; otherwise the last one before it.
    fn owner<'m>(&self, map: &'m CodeMap, address: u64) -> Option<(&'m MappedFunction, usize, bool)> {
        let copies = map.functions.iter().flat_map(|function| {
            function.copies.iter().enumerate().map(move |(number, copy)| (function, number, copy))
        });
        let ranges = copies.filter_map(|(function, number, copy)| {
            let (start, end) = match &copy.code {
                Some((section, start, end)) => (self.code.address(section, *start)?, self.code.address(section, *end)?),
                None => self.code.extent(&copy.symbol)?,
            };
            Some((start, end, function, number))
        });
        let nearest = ranges.filter(|(start, ..)| *start <= address).max_by_key(|(start, ..)| *start)?;
        let (_, end, function, number) = nearest;
        Some((function, number, address < end))
    }
}
