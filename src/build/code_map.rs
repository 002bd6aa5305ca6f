//! What the finished kernel says about itself, written when it was linked: the map of its code, and its program.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::StoredProgram;
use super::assemble::{inner_functions, outer_symbols};
use super::link_inputs::OwnFile;
use crate::artifact::{SuperKernelSymbols, copy_name};
use crate::elf::{self, AddedSection, ElfError, Place, Section};
use crate::locate::{CodeMap, MappedCopy, MappedFunction};
use crate::model::{CoreKind, Op, SubKernelCode, SuperKernel};
use crate::objects::{CodeOf, UsedObject};
use crate::program::Program;

/// The sections with the map of the code of `object`, which is linked, and with its program.
pub(super) fn sections(
    object: &[u8],
    kernel: &SuperKernel,
    program: &Program,
    symbols: &SuperKernelSymbols,
    used: &[UsedObject<'_>],
    own: &[(CoreKind, Vec<OwnFile>)],
) -> Result<[AddedSection; 2], ElfError> {
    let inner = inner_functions(kernel, symbols, used);
    let entries = outer_symbols(kernel, symbols);
    let wanted: HashSet<&str> = inner.iter().chain(&entries).map(String::as_str).collect();
    let linked = Defined::of(object, &wanted)?;
    let ops = kernel.ops.iter().map(|op| (op.index.0, op.kernel.kernel_name.to_string())).collect();
    let copies = kernel.options.split.get();
    let mut functions: Vec<MappedFunction> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (position, op) in kernel.ops.iter().enumerate() {
        for (kind, name) in functions_of(op) {
            let at = *known.entry(name).or_insert_with(|| {
                functions.push(MappedFunction { kind: kind.as_str().to_owned(), ops: Vec::new(), copies: Vec::new() });
                functions.len() - 1
            });
            if functions[at].ops.last() != Some(&position) {
                functions[at].ops.push(position);
            }
        }
    }
    for piece in used {
        for name in &piece.functions {
            let Some(at) = known.get(name) else { continue };
            for copy in 0..copies {
                let symbol = copy_name(name, copy);
                let ready = copy.checked_sub(1).and_then(|number| piece.ready.get(number as usize)?.as_ref());
                let code = match ready {
                    // A copy that came ready has a layout of its own.
                    Some(ready) => placed(&linked, &symbol, ready.code_of(&symbol)),
                    None => placed(&linked, &symbol, piece.object.code_of(name)),
                };
                functions[*at].copies.push(MappedCopy { symbol, code });
            }
        }
    }
    for kind in kernel.kernel_type.class().kinds() {
        let files = || own.iter().filter(|(owner, _)| owner == kind).flat_map(|(_, files)| files);
        let own = files().map(|file| Defined::of(&file.bytes, &wanted)).collect::<Result<Vec<_>, _>>()?;
        let mapped = |symbol: String| -> Result<MappedCopy, ElfError> {
            let code = own.iter().find_map(|object| object.code_of(&symbol));
            Ok(MappedCopy { code: placed(&linked, &symbol, code), symbol })
        };
        let mut own_function = |symbols: Vec<String>| -> Result<(), ElfError> {
            let copies = symbols.into_iter().map(mapped).collect::<Result<_, _>>()?;
            functions.push(MappedFunction { kind: kind.as_str().to_owned(), ops: Vec::new(), copies });
            Ok(())
        };
        own_function(vec![symbols.entry(*kind)])?;
        if copies > 1 {
            own_function((0..copies).map(|copy| symbols.copy(*kind, copy)).collect())?;
        }
    }
    Ok([CodeMap::new(&kernel.name, ops, functions).section(), StoredProgram::of(program).section()])
}

/// The functions of an op with the kinds that run them.
fn functions_of(op: &Op) -> Vec<(CoreKind, &str)> {
    match &op.kernel.code {
        SubKernelCode::Static(functions) => {
            functions.iter().map(|function| (function.kind, function.name.as_str())).collect()
        }
        SubKernelCode::Dynamic(keys) => keys
            .iter()
            .flat_map(|key| [(CoreKind::Aic, key.aic.as_deref()), (CoreKind::Aiv, key.aiv.as_deref())])
            .filter_map(|(kind, name)| Some((kind, name?)))
            .collect(),
    }
}

/// Where symbols of an object are: section and offset in it.
struct Defined<'a> {
    places: HashMap<Cow<'a, str>, (usize, u64)>,
    sections: Vec<Section<'a>>,
}

impl<'a> Defined<'a> {
    /// Those with a name in `wanted`.
    fn of(object: &'a [u8], wanted: &HashSet<&str>) -> Result<Self, ElfError> {
        let place = |symbol: elf::Symbol<'a>| match symbol.place {
            Place::Section(section) if wanted.contains(symbol.name.as_ref()) => {
                Some((symbol.name, (section, symbol.value)))
            }
            Place::Section(_) | Place::Undefined | Place::Absolute | Place::Common | Place::Special(_) => None,
        };
        let places = elf::symbols(object)?.into_iter().filter_map(place).collect();
        Ok(Self { places, sections: elf::sections(object)? })
    }

    /// The code that `function` is a part of.
    fn code_of(&self, function: &str) -> Option<CodeOf> {
        let (section, value) = self.places.get(function)?;
        let section = self.sections.get(*section)?;
        Some(CodeOf { offset: value.checked_sub(section.address)?, size: section.size })
    }
}

/// Where `code`, the code of its object with a function in it, came to lie in the linked one, in which that function is
/// `symbol`.
fn placed(linked: &Defined<'_>, symbol: &str, code: Option<CodeOf>) -> Option<(String, u64, u64)> {
    let code = code?;
    let (section, value) = linked.places.get(symbol)?;
    let start = value.checked_sub(code.offset)?;
    Some((linked.sections.get(*section)?.name.to_string(), start, start.checked_add(code.size)?))
}
