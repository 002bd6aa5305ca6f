//! `superkernel.locate`: program counters of a device looked up in a kernel's object.

use std::path::PathBuf;

use pyo3::prelude::*;

use super::interrupt::interruptible;
use crate::locate::{LocateError, Located, Stopped, StoppedAt};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Location>()?;
    module.add_class::<StoppedCores>()?;
    module.add_function(wrap_pyfunction!(locate, module)?)?;
    module.add_function(wrap_pyfunction!(locate_log, module)?)
}

/// What is known about one program counter.
#[pyclass(frozen, get_all, module = "superkernel._core")]
struct Location {
    /// The kernel's name, if the object says.
    kernel: Option<String>,
    /// The program counter.
    pc: u64,
    /// Its distance from the start of the code; `None`: not in this kernel.
    offset: Option<u64>,
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
    /// Why nothing is known.
    problem: Option<String>,
}

#[pymethods]
impl Location {
    fn __str__(&self) -> String {
        let Some(offset) = self.offset else {
            return self.problem.clone().unwrap_or_default();
        };
        let mut words = vec![format!("{:#x}: code+{offset:#x}", self.pc)];
        words.extend(self.core.as_ref().map(|core| core.to_uppercase()));
        words.extend(self.copy.map(|copy| format!("copy {copy}")));
        words.push(match (shown_ops(&self.ops), self.core.is_some(), self.certain) {
            (None, true, true) => "the super kernel's own code".to_owned(),
            (None, true, false) => "after the super kernel's own code".to_owned(),
            (None, false, _) if self.kernel.is_some() => "in front of all code that is known".to_owned(),
            (None, false, _) => "no op is known: the object has no map of its code".to_owned(),
            (Some(ops), _, true) => ops,
            (Some(ops), _, false) => format!("probably {ops}"),
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
    fn new(located: Located) -> Self {
        let Located { kernel, pc, offset, kind, copy, ops, certain, place } = located;
        let (file, line) = place.line.map(|line| (line.file, line.line)).unzip();
        let (function, symbol) = (place.function, place.symbol);
        let (offset, problem) = (Some(offset), None);
        Self { kernel, pc, offset, core: kind, copy, ops, certain, function, symbol, file, line, problem }
    }

    fn unknown(pc: u64, error: &LocateError) -> Self {
        let (ops, problem) = (Vec::new(), Some(error.to_string()));
        let (kernel, core, copy, function, symbol) = (None, None, None, None, None);
        let (offset, certain, file, line) = (None, false, None, None);
        Self { kernel, pc, offset, core, copy, ops, certain, function, symbol, file, line, problem }
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
    let found = interruptible(py, |_| crate::locate(&object, &counters, function.as_deref()))?;
    let asked = counters.iter().map(|(pc, _)| *pc);
    let location =
        |(pc, found): (u64, Result<_, _>)| found.map_or_else(|error| Location::unknown(pc, &error), Location::new);
    Ok(asked.zip(found).map(location).collect())
}

/// Cores that stopped at one place, as a device's log tells it.
#[pyclass(frozen, get_all, module = "superkernel._core")]
struct StoppedCores {
    /// The line of the log, from 1.
    log_line: usize,
    /// `aic` or `aiv`, if the log says.
    log_core: Option<&'static str>,
    /// The numbers of the cores, as far as the log says.
    log_core_ids: Vec<u32>,
    /// What the log calls the start of the code, if it does.
    start: Option<u64>,
    /// The function that starts there, where it is not the code.
    start_function: Option<String>,
    /// The program counter.
    pc: u64,
    /// Where that is; `None`: not in this kernel.
    location: Option<Py<Location>>,
    /// Why there is none.
    problem: Option<String>,
}

#[pymethods]
impl StoppedCores {
    fn __str__(&self) -> String {
        let mut words = vec![format!("line {}", self.log_line)];
        words.extend(self.log_core.map(str::to_uppercase));
        words.extend(shown_ids(&self.log_core_ids));
        let found = match (&self.location, &self.problem) {
            (Some(location), _) => location.get().__str__(),
            (None, Some(problem)) => problem.clone(),
            (None, None) => String::new(),
        };
        let start = self.start_function.as_ref().map(|name| format!(" (pc start is `{name}`)")).unwrap_or_default();
        format!("{}: {found}{start}", words.join(", "))
    }

    fn __repr__(&self) -> String {
        format!("<StoppedCores {}>", self.__str__())
    }
}

/// `core 3`, `cores 3, 4 and 46 more`.
fn shown_ids(ids: &[u32]) -> Option<String> {
    match ids {
        [] => None,
        [one] => Some(format!("core {one}")),
        several => Some(format!("cores {}", listed(several, "and"))),
    }
}

/// "op 3 `add`", "op 3, 8 or 13 `add`": those that run the same function have, as a rule, one name.
fn shown_ops(ops: &[(usize, String)]) -> Option<String> {
    let same_name = |one: &(usize, String), next: &(usize, String)| one.1 == next.1;
    let mut sorted = ops.to_vec();
    sorted.sort_by(|one, other| one.1.cmp(&other.1).then(one.0.cmp(&other.0)));
    let named = sorted.chunk_by(same_name).map(|group| {
        let indices: Vec<usize> = group.iter().map(|(index, _)| *index).collect();
        format!("op {} `{}`", listed(&indices, "or"), group[0].1)
    });
    let named: Vec<String> = named.collect();
    (!named.is_empty()).then(|| named.join(" or "))
}

/// `3, 4 or 5`, or the first few and how many more there are.
fn listed<T: ToString>(numbers: &[T], word: &str) -> String {
    const SHOWN: usize = 8;
    let text = |numbers: &[T]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match numbers {
        [before @ .., last] if !before.is_empty() && numbers.len() <= SHOWN => {
            format!("{} {word} {}", text(before), last.to_string())
        }
        many if many.len() > SHOWN => format!("{} {word} {} more", text(&many[..SHOWN]), many.len() - SHOWN),
        one => text(one),
    }
}

/// The cores that a device's log tells of, looked up. `start` is where the code is if the log does not say; with
/// `function` every start is one of that function.
#[pyfunction]
fn locate_log(
    py: Python<'_>,
    object: PathBuf,
    log: PathBuf,
    start: u64,
    function: Option<String>,
) -> PyResult<Vec<StoppedCores>> {
    let found = interruptible(py, |_| crate::locate_log(&object, &log, start, function.as_deref()))?;
    let core = |StoppedAt { core, start_function, place }: StoppedAt| {
        let Stopped { line, start, pc, kind, cores } = core;
        let (location, problem) = match place {
            Ok(located) => (Some(Py::new(py, Location::new(located))?), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let log_core = kind.map(|kind| kind.as_str());
        Ok(StoppedCores { log_line: line, log_core, log_core_ids: cores, start, start_function, pc, location, problem })
    };
    found.into_iter().map(core).collect()
}
