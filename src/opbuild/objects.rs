//! From compiled units to the one file of the operator.

use super::CompiledUnit;
use super::description::BuiltFunction;
use super::error::OpBuildError;
use super::request::OpRequest;
use crate::artifact::copy_name;
use crate::elf::{self, Edits, Groups, Localize};
use crate::link::{self, LinkOptions};
use crate::model::CoreClass;

/// The operator's file: a plain object or an archive, and what each function is called inside.
pub(super) fn assemble(
    request: &OpRequest,
    name: &str,
    units: Vec<CompiledUnit>,
) -> Result<(Vec<u8>, Vec<BuiltFunction>), OpBuildError> {
    let mut isolated = Vec::with_capacity(units.len());
    for unit in units {
        let object = isolate(&unit.object, &unit.function, request.headers.is_some())?;
        isolated.push(CompiledUnit { object, ..unit });
    }
    if request.is_dynamic() {
        return dynamic_object(name, isolated);
    }
    let is_archive = request.split_mode.is_some() || request.kernel_type.class() == CoreClass::Mix;
    if is_archive { archive(request, name, isolated) } else { Ok(plain_object(name, isolated)) }
}

/// Leaves only the entry visible, and what a super kernel and all its operators share. Two operators, or one operator
/// built twice with different block counts, may define the same helpers with different meanings: a linker would keep
/// one of each.
fn isolate(object: &[u8], function: &str, on_headers: bool) -> Result<Vec<u8>, OpBuildError> {
    let shared = elf::SharedPart::of(object)?;
    let merged: Vec<String> = shared.merged().map(|variable| variable.name.clone()).collect();
    let visible = shared.variables.iter().map(|variable| variable.name.clone());
    let edits = Edits {
        rename: if on_headers { header_checks(object)? } else { Vec::new() },
        localize: Localize::AllDefinedExcept(visible.chain([function.to_owned()]).collect()),
        // GCC binds inline variables so that a dynamic linker shares them between libraries, too.
        weaken: merged.clone(),
        groups: Groups::DissolveAllBut(merged),
        ..Edits::default()
    };
    Ok(elf::edit(object, &edits)?.into_owned())
}

/// Functions that the vendor's headers call to check arguments, and that somebody else would define. Which ones there are
/// depends on the version: all of them are answered by one function of the simulator, whose core checks for itself.
pub(super) fn header_checks(object: &[u8]) -> Result<Vec<(String, String)>, OpBuildError> {
    const CHECKS: &str = "_ZN7AscendC5check";
    const ANSWER: &str = "sk_rt_agree";
    /// Not a question, but a number: `definitions.h` has it.
    const SIZE: &str = "GetHardWarebufferSize";
    let symbols = elf::symbols(object)?;
    let asks = |name: &str| name.starts_with(CHECKS) && !name.contains(SIZE);
    let asked = symbols.iter().filter(|symbol| !symbol.is_defined() && asks(&symbol.name));
    Ok(asked.map(|symbol| (symbol.name.to_string(), ANSWER.to_owned())).collect())
}

fn plain_object(name: &str, units: Vec<CompiledUnit>) -> (Vec<u8>, Vec<BuiltFunction>) {
    let file = format!("{name}.o");
    let mut object = Vec::new();
    let mut functions = Vec::new();
    for unit in units {
        functions.push(BuiltFunction { unit: unit.unit, name: unit.function, objects: vec![file.clone()] });
        object = unit.object;
    }
    (object, functions)
}

fn archive(
    request: &OpRequest,
    name: &str,
    units: Vec<CompiledUnit>,
) -> Result<(Vec<u8>, Vec<BuiltFunction>), OpBuildError> {
    let count = request.split_mode.map_or(1, |split| split.get());
    let mut members = Vec::new();
    let mut functions = Vec::new();
    for unit in units {
        let stem = format!("{name}_{}", unit.unit.kind);
        let copies = elf::split_copies(&unit.object, &[&unit.function], count)?;
        let objects: Vec<String> = (0..count).map(|copy| format!("{}.o", copy_name(&stem, copy))).collect();
        members.extend(objects.iter().cloned().zip(std::iter::once(unit.object).chain(copies)));
        functions.push(BuiltFunction { unit: unit.unit, name: unit.function, objects });
    }
    let members: Vec<(&str, &[u8])> = members.iter().map(|(file, bytes)| (file.as_str(), bytes.as_slice())).collect();
    Ok((elf::archive::write(&members)?, functions))
}

/// One object with the functions of all tiling keys.
fn dynamic_object(name: &str, units: Vec<CompiledUnit>) -> Result<(Vec<u8>, Vec<BuiltFunction>), OpBuildError> {
    let mut functions = Vec::new();
    let inputs: Vec<link::Input<'_>> =
        units.iter().map(|unit| link::Input { name: &unit.function, bytes: &unit.object }).collect();
    let object = link::link(&inputs, &LinkOptions::default())?;
    for unit in units {
        let file = format!("{name}.o");
        functions.push(BuiltFunction { unit: unit.unit, name: unit.function, objects: vec![file] });
    }
    Ok((object, functions))
}
