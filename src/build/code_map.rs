//! What the finished kernel says about itself, written when it was linked: the map of its code, and its program.

use std::collections::HashMap;

use super::StoredProgram;
use super::link_inputs::OwnFile;
use crate::artifact::{SuperKernelSymbols, copy_name};
use crate::elf::{self, ElfError, Place};
use crate::locate::{CodeMap, MappedCopy, MappedFunction};
use crate::model::{CoreKind, Op, SubKernelCode, SuperKernel};
use crate::objects::UsedObject;
use crate::program::Program;

/// The object with the map of its code and its program in it.
pub(super) fn add(
    object: &[u8],
    kernel: &SuperKernel,
    program: &Program,
    symbols: &SuperKernelSymbols,
    used: &[UsedObject<'_>],
    own: &[(CoreKind, Vec<OwnFile>)],
) -> Result<Vec<u8>, ElfError> {
    let linked = Defined::of(object)?;
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
        let own = Defined::of(piece.object.bytes)?;
        for name in &piece.functions {
            let Some(at) = known.get(name) else { continue };
            for copy in 0..copies {
                let symbol = copy_name(name, copy);
                let ready = copy.checked_sub(1).and_then(|number| piece.ready.get(number as usize)?.as_ref());
                let code = match ready {
                    // A copy that came ready has a layout of its own.
                    Some(ready) => placed(&linked, &Defined::of(ready.bytes)?, &symbol, &symbol),
                    None => placed(&linked, &own, &symbol, name),
                };
                functions[*at].copies.push(MappedCopy { symbol, code });
            }
        }
    }
    for kind in kernel.kernel_type.class().kinds() {
        let mapped = |symbol: String| -> Result<MappedCopy, ElfError> {
            for object in own.iter().filter(|(owner, _)| owner == kind).flat_map(|(_, files)| files) {
                let own = Defined::of(&object.bytes)?;
                if own.places.contains_key(&symbol) {
                    return Ok(MappedCopy { code: placed(&linked, &own, &symbol, &symbol), symbol });
                }
            }
            Ok(MappedCopy { symbol, code: None })
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
    let object = CodeMap::new(&kernel.name, ops, functions).store(object)?;
    StoredProgram::of(program).store(&object)
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
struct Defined {
    places: HashMap<String, (usize, u64)>,
    /// Name, address, size.
    sections: Vec<(String, u64, u64)>,
}

impl Defined {
    fn of(object: &[u8]) -> Result<Self, ElfError> {
        let sections: Vec<(String, u64, u64)> = elf::sections(object)?
            .into_iter()
            .map(|section| (section.name.into_owned(), section.address, section.size))
            .collect();
        let place = |symbol: elf::Symbol<'_>| match symbol.place {
            Place::Section(section) => Some((symbol.name.into_owned(), (section, symbol.value))),
            Place::Undefined | Place::Absolute | Place::Common | Place::Special(_) => None,
        };
        Ok(Self { places: elf::symbols(object)?.into_iter().filter_map(place).collect(), sections })
    }
}

/// Where the section that defines `original` in its own object came to lie in the linked one, in which it is `symbol`.
fn placed(linked: &Defined, own: &Defined, symbol: &str, original: &str) -> Option<(String, u64, u64)> {
    let (own_section, own_offset) = own.places.get(original)?;
    let (section, value) = linked.places.get(symbol)?;
    let (name, _, _) = linked.sections.get(*section)?;
    let (_, own_address, size) = own.sections.get(*own_section)?;
    let start = value.checked_sub(own_offset.checked_sub(*own_address)?)?;
    Some((name.clone(), start, start.checked_add(*size)?))
}
