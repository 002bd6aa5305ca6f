//! `superkernel.locate`: program counters of a device looked up in a kernel's object.

use std::path::PathBuf;

use pyo3::prelude::*;

use super::errors::to_python;
use crate::fs;
use crate::locate::{LocateError, Located, Lookup, Start, Stopped, stopped};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Location>()?;
    module.add_function(wrap_pyfunction!(locate, module)?)?;
    module.add_function(wrap_pyfunction!(stopped_cores, module)?)
}

/// What is known about one program counter.
#[pyclass(frozen, get_all, module = "superkernel._core")]
struct Location {
    /// The kernel's name, if the object says.
    kernel: Option<String>,
    /// The program counter.
    pc: u64,
    /// Its distance from the start of the code.
    offset: u64,
    /// `aic` or `aiv`.
    core: Option<String>,
    /// Which copy of the code.
    copy: Option<usize>,
    /// The ops that run this function: place in `op_list` and name.
    ops: Vec<(usize, String)>,
    /// Whether the address is inside the code that came with the function.
    certain: bool,
    /// The function, in the words of its source.
    function: Option<String>,
    /// The symbol it belongs to, and the distance from it.
    symbol: Option<(String, u64)>,
    /// The source file.
    file: Option<String>,
    /// Its line.
    line: Option<u32>,
}

#[pymethods]
impl Location {
    fn __str__(&self) -> String {
        let mut words = vec![format!("{:#x}: code+{:#x}", self.pc, self.offset)];
        words.extend(self.core.as_ref().map(|core| core.to_uppercase()));
        words.extend(self.copy.map(|copy| format!("copy {copy}")));
        let ops: Vec<String> = self.ops.iter().map(|(index, name)| format!("op {index} `{name}`")).collect();
        words.push(match (ops.as_slice(), self.core.is_some(), self.certain) {
            ([], true, true) => "the super kernel's own code".to_owned(),
            ([], true, false) => "behind the super kernel's own code".to_owned(),
            ([], false, _) if self.kernel.is_some() => "in front of all code that is known".to_owned(),
            ([], false, _) => "no op is known: the object has no map of its code".to_owned(),
            (ops, _, true) => ops.join(" or "),
            (ops, _, false) => format!("probably {}", ops.join(" or ")),
        });
        match (&self.function, &self.symbol) {
            (Some(function), Some((symbol, offset))) => words.push(format!("`{function}` ({symbol}+{offset:#x})")),
            (Some(function), None) => words.push(format!("`{function}`")),
            (None, _) => {}
        }
        if let (Some(file), Some(line)) = (&self.file, self.line) {
            words.push(format!("{file}:{line}"));
        }
        words.join(", ")
    }

    fn __repr__(&self) -> String {
        format!("<Location {}>", self.__str__())
    }
}

impl Location {
    fn new(kernel: Option<&str>, located: Located) -> Self {
        let Located { pc, offset, kind, copy, ops, certain, place } = located;
        let (file, line) = place.line.map(|line| (line.file, line.line)).unzip();
        let kernel = kernel.map(str::to_owned);
        let (function, symbol) = (place.function, place.symbol);
        Self { kernel, pc, offset, core: kind, copy, ops, certain, function, symbol, file, line }
    }
}

/// Looks program counters up: (counter, address of the code, or of `function` where that is named).
#[pyfunction]
fn locate(
    py: Python<'_>,
    object: PathBuf,
    counters: Vec<(u64, u64)>,
    function: Option<String>,
) -> PyResult<Vec<Location>> {
    let found = py.detach(|| -> Result<Vec<Location>, LocateError> {
        let bytes = fs::read(&object)?;
        let lookup = Lookup::open(&bytes)?;
        let at = |(pc, start): (u64, u64)| {
            let start = function.as_deref().map_or(Start::Code(start), |name| Start::Function(start, name));
            Ok(Location::new(lookup.kernel(), lookup.at(pc, start)?))
        };
        counters.into_iter().map(at).collect()
    });
    found.map_err(|error| to_python(py, &error))
}

/// Line, start of the code, program counter, core kind.
type StoppedCore = (usize, u64, u64, Option<&'static str>);

/// The cores that a device's log tells of.
#[pyfunction]
fn stopped_cores(py: Python<'_>, log: PathBuf) -> PyResult<Vec<StoppedCore>> {
    let found = py.detach(|| -> Result<Vec<Stopped>, LocateError> {
        let cores = stopped(&String::from_utf8_lossy(&fs::read(&log)?));
        if cores.is_empty() { Err(LocateError::NoCounters { path: log }) } else { Ok(cores) }
    });
    let found = found.map_err(|error| to_python(py, &error))?;
    Ok(found.into_iter().map(|core| (core.line, core.start, core.pc, core.kind)).collect())
}
