//! Launches of the simulator: the line to the worker, and the parts of a report.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use serde_json::json;

use super::convert;
use super::errors::to_python;
use crate::sim::interface::findings::Finding;
use crate::sim::interface::report::{CoreReport, Event, Hazard, Work};
use crate::sim::launch::protocol::WorkOrder;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SimWorkOrder>()?;
    module.add_class::<SimCore>()?;
    module.add_class::<SimEvent>()?;
    module.add_class::<SimHazard>()?;
    module.add_class::<SimFinding>()?;
    module.add_class::<SimInstruction>()
}

/// One launch, in the worker.
#[pyclass(frozen, module = "superkernel._core")]
struct SimWorkOrder(WorkOrder);

#[pymethods]
impl SimWorkOrder {
    /// From the line that came.
    #[new]
    fn new(py: Python<'_>, line: &str) -> PyResult<Self> {
        WorkOrder::from_line(line).map(Self).map_err(|error| to_python(py, error))
    }

    /// Does it; the line to answer with.
    fn carry_out(&self, py: Python<'_>) -> PyResult<String> {
        let order = self.0.clone();
        py.detach(|| order.carry_out()).map_err(|error| to_python(py, error))
    }
}

/// One event of the timeline.
#[pyclass(frozen, get_all, eq, hash, module = "superkernel._core", name = "Event")]
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct SimEvent {
    step: u64,
    /// A core such as `AIV3`, or the name of an agent.
    core: String,
    what: String,
    op: Option<String>,
    detail: Option<String>,
}

#[pymethods]
impl SimEvent {
    fn __repr__(&self) -> String {
        let text = |text: &Option<String>| text.as_ref().map_or_else(|| "None".to_owned(), |text| format!("{text:?}"));
        let Self { step, core, what, op, detail } = self;
        format!("Event({step}, {core:?}, {what:?}, {}, {})", text(op), text(detail))
    }
}

impl From<Event> for SimEvent {
    fn from(event: Event) -> Self {
        let Event { step, core, what, op, detail, .. } = event;
        Self { step, core, what: what.as_str().to_owned(), op, detail }
    }
}

/// Two operators that share memory without an order between them.
#[pyclass(frozen, get_all, eq, module = "superkernel._core", name = "Hazard")]
#[derive(PartialEq, Eq)]
pub(super) struct SimHazard {
    id: &'static str,
    tool: &'static str,
    first: String,
    first_op: usize,
    second: String,
    second_op: usize,
    memory: String,
    conflict: String,
    first_core: String,
    second_core: String,
    first_site: Option<String>,
    second_site: Option<String>,
    text: String,
}

impl From<Hazard> for SimHazard {
    fn from(hazard: Hazard) -> Self {
        let (id, tool) = (hazard.id(), hazard.tool().as_str());
        let Hazard { first, first_op, second, second_op, memory, .. } = hazard;
        let Hazard { conflict, first_core, second_core, first_site, second_site, text, .. } = hazard;
        Self {
            id,
            tool,
            first,
            first_op,
            second,
            second_op,
            memory,
            conflict: conflict.into_owned(),
            first_core,
            second_core,
            first_site,
            second_site,
            text,
        }
    }
}

#[pymethods]
impl SimHazard {
    fn __str__(&self) -> &str {
        &self.text
    }

    fn __repr__(&self) -> String {
        format!("Hazard({:?})", self.text)
    }
}

/// One instruction, and when it would run: cycles of a model, since the start of its core.
#[pyclass(frozen, get_all, module = "superkernel._core", name = "Instruction")]
pub(super) struct SimInstruction {
    core: String,
    op: Option<String>,
    pipe: String,
    name: String,
    start: u64,
    cycles: u64,
    /// Bytes it writes.
    bytes: u64,
    file: Option<String>,
    line: Option<u32>,
}

#[pymethods]
impl SimInstruction {
    fn __repr__(&self) -> String {
        let Self { core, pipe, name, start, cycles, .. } = self;
        format!("Instruction({core:?}, {pipe:?}, {name:?}, {start}, {cycles})")
    }
}

impl From<Work> for SimInstruction {
    fn from(work: Work) -> Self {
        let Work { core, op, pipe, name, start, cycles, bytes, file, line, .. } = work;
        Self { core, op, pipe: pipe.into_owned(), name: name.into_owned(), start, cycles, bytes, file, line }
    }
}

/// A mistake inside a core that did no harm in this order.
#[pyclass(frozen, eq, module = "superkernel._core", name = "Finding")]
#[derive(PartialEq, Eq)]
pub(super) struct SimFinding(pub(super) Finding);

#[pymethods]
impl SimFinding {
    #[getter]
    fn id(&self) -> &'static str {
        self.0.kind.id()
    }

    #[getter]
    fn tool(&self) -> &'static str {
        self.0.kind.tool().as_str()
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.0.kind.as_str()
    }

    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    #[getter]
    fn memory(&self) -> Option<&str> {
        self.0.memory.as_deref()
    }

    #[getter]
    fn missing(&self) -> Option<&str> {
        self.0.missing.as_deref()
    }

    #[getter]
    fn first<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &json!(self.0.first))
    }

    #[getter]
    fn second<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &json!(self.0.second))
    }

    fn __str__(&self) -> &str {
        &self.0.text
    }

    fn __repr__(&self) -> String {
        format!("Finding({:?})", self.0.text)
    }
}

/// Where one core was when the run ended.
#[pyclass(frozen, get_all, module = "superkernel._core", name = "CoreReport")]
pub(super) struct SimCore {
    core: String,
    kind: String,
    block: u32,
    sub_block: u32,
    /// `finished`, `waiting`, `polling`, `ready`, `delayed` or `failed`.
    state: String,
    op: Option<String>,
    last_op: Option<String>,
    activity: Option<String>,
    flag: Option<u32>,
    polls: Option<String>,
    counters: BTreeMap<u32, usize>,
    in_block_counters: BTreeMap<u32, usize>,
    pending: BTreeMap<u32, usize>,
    why: Option<String>,
    counts: Py<PyAny>,
}

impl SimCore {
    pub(super) fn new(py: Python<'_>, report: &CoreReport) -> PyResult<Self> {
        let counts = convert::to_python(py, &json!(report.counts))?.unbind();
        let report = report.clone();
        Ok(Self {
            core: report.core,
            kind: report.kind.into_owned(),
            block: report.block,
            sub_block: report.sub_block,
            state: report.state.into_owned(),
            op: report.op,
            last_op: report.last_op,
            activity: report.activity,
            flag: report.flag,
            polls: report.polls,
            counters: report.counters,
            in_block_counters: report.in_block_counters,
            pending: report.pending,
            why: report.why,
            counts,
        })
    }
}

#[pymethods]
impl SimCore {
    fn __repr__(&self) -> String {
        format!("CoreReport({:?}, {:?}, {:?})", self.core, self.state, self.why.as_deref().unwrap_or_default())
    }
}
