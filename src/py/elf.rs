//! The native half of `superkernel.elf`.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use super::errors::to_python;
use crate::elf::{self, Edits, ElfError, Fill, Groups, Localize, Missing, Place};
use crate::link::{self, KeptRelocations, LinkOptions, Locals, OutputKind};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(elf_identity, module)?)?;
    module.add_function(wrap_pyfunction!(elf_text_size, module)?)?;
    module.add_function(wrap_pyfunction!(elf_symbols, module)?)?;
    module.add_function(wrap_pyfunction!(elf_sections, module)?)?;
    module.add_function(wrap_pyfunction!(elf_section_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(elf_launch_data, module)?)?;
    module.add_function(wrap_pyfunction!(elf_edit, module)?)?;
    module.add_function(wrap_pyfunction!(elf_split_copies, module)?)?;
    module.add_function(wrap_pyfunction!(elf_join, module)?)?;
    module.add_function(wrap_pyfunction!(elf_link, module)?)?;
    module.add_function(wrap_pyfunction!(elf_is_archive, module)?)?;
    module.add_function(wrap_pyfunction!(elf_read_archive, module)?)?;
    module.add_function(wrap_pyfunction!(elf_write_archive, module)?)
}

/// A bytes-like argument; `bytes` is used in place, anything else is copied once.
struct Input<'py>(Bound<'py, PyBytes>);

impl<'a, 'py> FromPyObject<'a, 'py> for Input<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(bytes) = object.cast::<PyBytes>() {
            return Ok(Self(bytes.to_owned()));
        }
        let copy = PyMemoryView::from(&object)?.call_method0("tobytes")?;
        Ok(Self(copy.cast_into::<PyBytes>()?))
    }
}

/// Runs `work` on the bytes with the interpreter lock released.
fn run<'a, T: Send>(input: &'a Input<'_>, work: impl FnOnce(&'a [u8]) -> Result<T, ElfError> + Send) -> PyResult<T> {
    let py = input.0.py();
    // `bytes` never change, so they may be read without the lock.
    let bytes = input.0.as_bytes();
    py.detach(|| work(bytes)).map_err(|error| to_python(py, error))
}

/// (`e_type`, `e_machine`)
#[pyfunction]
#[pyo3(signature = (object, /))]
fn elf_identity(object: Input<'_>) -> PyResult<(u16, u16)> {
    let identity = run(&object, elf::identity)?;
    Ok((identity.kind, identity.machine))
}

/// Size of the first section whose name starts with `.text`.
#[pyfunction]
#[pyo3(signature = (object, /))]
fn elf_text_size(object: Input<'_>) -> PyResult<u64> {
    run(&object, elf::text_size)
}

type SymbolRow = (String, String, String, &'static str, Option<usize>, u64, u64, String);

/// (name, binding, kind, place, section index, value, size, visibility) of every symbol.
#[pyfunction]
#[pyo3(signature = (object, /))]
fn elf_symbols(object: Input<'_>) -> PyResult<Vec<SymbolRow>> {
    run(&object, |bytes| {
        let symbols = elf::symbols(bytes)?;
        Ok(symbols
            .into_iter()
            .map(|symbol| {
                let (place, section) = match symbol.place {
                    Place::Undefined => ("undefined", None),
                    Place::Absolute => ("absolute", None),
                    Place::Common => ("common", None),
                    Place::Section(index) => ("section", Some(index)),
                    Place::Special(index) => ("special", Some(index.into())),
                };
                (
                    symbol.name.into_owned(),
                    symbol.binding.to_string(),
                    symbol.kind.to_string(),
                    place,
                    section,
                    symbol.value,
                    symbol.size,
                    symbol.visibility.to_string(),
                )
            })
            .collect())
    })
}

type SectionRow = (String, u32, u64, u64, u64, u64, u32, u32, u64);

/// (name, type, flags, address, offset, size, link, info, alignment) of every section.
#[pyfunction]
#[pyo3(signature = (object, /))]
fn elf_sections(object: Input<'_>) -> PyResult<Vec<SectionRow>> {
    run(&object, |bytes| {
        let row = |section: elf::Section<'_>| {
            let name = section.name.into_owned();
            let elf::Section { kind, flags, address, offset, size, link, info, align, .. } = section;
            (name, kind, flags, address, offset, size, link, info, align)
        };
        Ok(elf::sections(bytes)?.into_iter().map(row).collect())
    })
}

/// The bytes of the first section with this name.
#[pyfunction]
#[pyo3(signature = (object, name, /))]
fn elf_section_bytes<'py>(py: Python<'py>, object: Input<'py>, name: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
    Ok(run(&object, |bytes| elf::section_bytes(bytes, name))?.map(|bytes| PyBytes::new(py, bytes)))
}

type LaunchRow = (String, Option<u32>, Option<(u16, u16)>);

/// (function, launch type, ratio) of every section with launch data.
#[pyfunction]
#[pyo3(signature = (object, /))]
fn elf_launch_data(object: Input<'_>) -> PyResult<Vec<LaunchRow>> {
    let found = run(&object, elf::launch_data)?;
    Ok(found.into_iter().map(|(function, meta)| (function, meta.launch_type, meta.ratio)).collect())
}

/// The edited object. `keep` makes every definition local but these.
#[pyfunction]
#[pyo3(signature = (object, rename, localize, keep, strip, drop_sections, dissolve_groups, missing_ok, /))]
#[expect(clippy::too_many_arguments, reason = "called from one place in superkernel.elf, which has keywords")]
fn elf_edit<'py>(
    py: Python<'py>,
    object: Input<'py>,
    rename: Vec<(String, String)>,
    localize: Vec<String>,
    keep: Option<Vec<String>>,
    strip: Vec<String>,
    drop_sections: Vec<String>,
    dissolve_groups: bool,
    missing_ok: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let edits = Edits {
        rename,
        localize: localized(localize, keep),
        strip,
        drop_sections_with_prefix: drop_sections,
        groups: if dissolve_groups { Groups::Dissolve } else { Groups::Keep },
        missing: if missing_ok { Missing::Ignore } else { Missing::Error },
        ..Edits::default()
    };
    edited(py, &object, &edits)
}

fn localized(names: Vec<String>, keep: Option<Vec<String>>) -> Localize {
    match keep {
        Some(names) => Localize::AllDefinedExcept(names),
        None if names.is_empty() => Localize::None,
        None => Localize::Names(names),
    }
}

/// The edited object; the input itself when nothing changes.
fn edited<'py>(py: Python<'py>, object: &Input<'py>, edits: &Edits) -> PyResult<Bound<'py, PyBytes>> {
    match run(object, |bytes| elf::edit_with(bytes, edits, into_bytes))? {
        Some(bytes) => Ok(bytes?.into_bound(py)),
        None => Ok(object.0.clone()),
    }
}

/// Has a new file written straight into a `bytes` object: large ones are not copied once more.
fn into_bytes(length: usize, fill: Fill<'_>) -> Result<PyResult<Py<PyBytes>>, ElfError> {
    Python::attach(|py| {
        let mut outcome = Ok(());
        let bytes = PyBytes::new_with(py, length, |buffer| {
            outcome = py.detach(|| fill(buffer));
            Ok(())
        });
        outcome.map(|()| bytes.map(Bound::unbind))
    })
}

/// Copies 1 to `count` - 1.
#[pyfunction]
#[pyo3(signature = (object, functions, count, /))]
fn elf_split_copies<'py>(
    py: Python<'py>,
    object: Input<'py>,
    functions: Vec<String>,
    count: u32,
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let functions: Vec<&str> = functions.iter().map(String::as_str).collect();
    if count == 0 {
        return Err(to_python(py, ElfError::BadCount { count }));
    }
    if count == 1 {
        return Ok(Vec::new());
    }
    let shared = run(&object, elf::SharedPart::of)?;
    (1..count).map(|number| edited(py, &object, &elf::copy_edits(&functions, &shared, number))).collect()
}

/// One object made of several.
#[pyfunction]
#[pyo3(signature = (objects, localize, keep, discard_locals, /))]
fn elf_join<'py>(
    py: Python<'py>,
    objects: Vec<(String, Input<'py>)>,
    localize: Vec<String>,
    keep: Option<Vec<String>>,
    discard_locals: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let localize = localized(localize, keep);
    linked(py, &objects, LinkOptions { kind: OutputKind::Joined, localize, locals: locals(discard_locals) })
}

/// The file that a device loads.
#[pyfunction]
#[pyo3(signature = (objects, localize, keep, discard_locals, keep_relocations, /))]
fn elf_link<'py>(
    py: Python<'py>,
    objects: Vec<(String, Input<'py>)>,
    localize: Vec<String>,
    keep: Option<Vec<String>>,
    discard_locals: bool,
    keep_relocations: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let relocations = if keep_relocations { KeptRelocations::Keep } else { KeptRelocations::Drop };
    let (kind, localize) = (OutputKind::Device(relocations), localized(localize, keep));
    linked(py, &objects, LinkOptions { kind, localize, locals: locals(discard_locals) })
}

fn locals(discard: bool) -> Locals {
    if discard { Locals::Needed } else { Locals::All }
}

fn linked<'py>(
    py: Python<'py>,
    objects: &[(String, Input<'py>)],
    options: LinkOptions,
) -> PyResult<Bound<'py, PyBytes>> {
    let inputs: Vec<link::Input<'_>> =
        objects.iter().map(|(name, object)| link::Input { name, bytes: object.0.as_bytes() }).collect();
    let bytes = py.detach(|| link::link(&inputs, &options)).map_err(|error| to_python(py, error))?;
    Ok(PyBytes::new(py, &bytes))
}

/// Whether the bytes start like an archive.
#[pyfunction]
#[pyo3(signature = (data, /))]
fn elf_is_archive(data: Input<'_>) -> bool {
    elf::archive::is_archive(data.0.as_bytes())
}

/// (name, bytes) of every member.
#[pyfunction]
#[pyo3(signature = (data, /))]
fn elf_read_archive<'py>(py: Python<'py>, data: Input<'py>) -> PyResult<Vec<(String, Bound<'py, PyBytes>)>> {
    let members = run(&data, elf::archive::read)?;
    Ok(members.into_iter().map(|member| (member.name.into_owned(), PyBytes::new(py, member.data))).collect())
}

/// An archive of (name, bytes) members.
#[pyfunction]
#[pyo3(signature = (members, /))]
fn elf_write_archive<'py>(py: Python<'py>, members: Vec<(String, Input<'py>)>) -> PyResult<Bound<'py, PyBytes>> {
    let borrowed: Vec<(&str, &[u8])> = members.iter().map(|(name, data)| (name.as_str(), data.0.as_bytes())).collect();
    let archive = py.detach(|| elf::archive::write(&borrowed)).map_err(|error| to_python(py, error))?;
    Ok(PyBytes::new(py, &archive))
}
