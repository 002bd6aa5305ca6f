//! Traces and profiling buffers for Python.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::convert;
use super::errors::to_python;
use crate::profiling::{self, Areas, Decoded, Profiled, ProfilingError, RawRecord};
use crate::trace::{self, Trace, Written};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Traces>()?;
    module.add_class::<ProfilingAreas>()?;
    module.add_class::<ProfilingDump>()?;
    module.add_function(wrap_pyfunction!(profiling_decode, module)?)
}

/// A kernel, what its time axis means, and notes.
type Described = (String, String, Vec<String>);

/// What cores did when, kernel by kernel.
#[pyclass(frozen, module = "superkernel._core")]
pub(crate) struct Traces(pub(crate) Vec<Trace>);

#[pymethods]
impl Traces {
    /// As Chrome's trace JSON, which Perfetto reads.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.written(py).0
    }

    /// The same, and for every kernel its name, what its time axis means, and what readers of this file must know: also
    /// what was merged in it.
    fn written<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, Vec<Described>) {
        let Written { bytes, notes } = py.detach(|| trace::write(&self.0));
        let described = self.0.iter().zip(notes).map(|(one, notes)| (one.kernel.clone(), one.axis.label(), notes));
        (PyBytes::new(py, &bytes), described.collect())
    }

    /// As a chart for a terminal that is `width` columns wide.
    fn gantt(&self, py: Python<'_>, width: usize) -> String {
        py.detach(|| self.0.iter().map(|one| trace::gantt(one, width)).collect::<Vec<_>>().join("\n"))
    }

    /// Kernel, what its time axis means, and notes.
    #[getter]
    fn kernels(&self) -> Vec<Described> {
        self.0.iter().map(|one| (one.kernel.clone(), one.axis.label(), one.notes.clone())).collect()
    }
}

/// A profiling buffer, read back.
#[pyclass(frozen, module = "superkernel._core")]
struct ProfilingDump {
    kernel: Profiled,
    decoded: Decoded,
}

#[pymethods]
impl ProfilingDump {
    /// Everything as data: the form `superkernel-profile-1`, with figures per launch and problems beside.
    fn to_dict<'py>(&self, py: Python<'py>, clock_mhz: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        let document = py.detach(|| profiling::profile_json(&self.decoded, &self.kernel, clock_mhz));
        convert::to_python(py, &document)
    }

    /// The launches as traces.
    fn traces(&self, py: Python<'_>, clock_mhz: Option<f64>) -> Traces {
        Traces(py.detach(|| profiling::traces(&self.decoded, &self.kernel, clock_mhz)))
    }
}

/// Decodes the profiling buffer in `data`, which came from `path`, with the kernel's JSON.
#[pyfunction]
fn profiling_decode(py: Python<'_>, data: &[u8], path: PathBuf, kernel_json: PathBuf) -> PyResult<ProfilingDump> {
    let read = py.detach(|| -> Result<_, ProfilingError> {
        let kernel = Profiled::read(&kernel_json)?;
        let decoded = profiling::decode(&path, data, &kernel)?;
        Ok(ProfilingDump { kernel, decoded })
    });
    read.map_err(|error| to_python(py, error))
}

/// (core, kind, index, is the end, cycle)
type Record = (String, &'static str, u32, bool, u64);

/// The layout of a profiling buffer of the simulator.
#[pyclass(frozen, module = "superkernel._core")]
struct ProfilingAreas(Areas);

#[pymethods]
impl ProfilingAreas {
    #[new]
    fn new(cubes: u32, records: usize) -> Self {
        Self(Areas { cubes, records })
    }

    /// Bytes of the buffer.
    #[getter]
    fn size(&self) -> usize {
        self.0.size()
    }

    /// The bytes of an empty buffer at an address.
    fn empty<'py>(&self, py: Python<'py>, address: u64) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.empty(address))
    }

    /// What the cores recorded; the number of an area whose head is overwritten.
    fn records(&self, address: u64, data: &[u8]) -> (Vec<Record>, Option<usize>) {
        match self.0.records(address, data) {
            Err(area) => (Vec::new(), Some(area)),
            Ok(found) => {
                let row =
                    |found: RawRecord| (found.core.to_string(), found.kind, found.index, found.is_end, found.cycle);
                (found.into_iter().map(row).collect(), None)
            }
        }
    }
}
