//! Launches of the simulator: the line to the worker and back, the report.

use std::collections::BTreeMap;

use pyo3::prelude::*;
use serde_json::json;

use super::convert;
use super::errors::{from_parts, to_python};
use super::loader::KernelDescription;
use super::trace::Traces;
use crate::loader::Launchable;
use crate::sim::interface::findings::Finding;
use crate::sim::interface::report::{CoreReport, Event, Hazard, Report, Work};
use crate::sim::launch::protocol::{Answer, WorkOrder};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SimWorkOrder>()?;
    module.add_class::<SimReport>()?;
    module.add_class::<SimCore>()?;
    module.add_class::<SimEvent>()?;
    module.add_class::<SimHazard>()?;
    module.add_class::<SimFinding>()?;
    module.add_class::<SimInstruction>()?;
    module.add_function(wrap_pyfunction!(sim_answer, module)?)
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

/// The report in a worker's answer; an answer that is an error is raised.
#[pyfunction]
fn sim_answer(py: Python<'_>, line: &[u8]) -> PyResult<SimReport> {
    match py.detach(|| Answer::from_line(line)) {
        Ok(Answer::Report(report)) => Ok(SimReport(*report)),
        Ok(Answer::Refused { id, message, solution }) => Err(from_parts(py, &id, &message, &solution)),
        Err(error) => Err(to_python(py, error)),
    }
}

/// Everything about a run.
#[pyclass(frozen, module = "superkernel._core")]
pub(crate) struct SimReport(pub(super) Report);

#[pymethods]
impl SimReport {
    #[getter]
    fn status<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &json!(self.0.status))
    }

    #[getter]
    fn message(&self) -> &str {
        &self.0.message
    }

    #[getter]
    fn failure<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &json!(self.0.failure))
    }

    /// The timeline of the run of `kernel`; what is known of it tells why cores wait.
    fn trace(&self, py: Python<'_>, kernel: &str, description: Option<&KernelDescription>) -> Traces {
        let launched = description.map(KernelDescription::launchable);
        Traces(vec![py.detach(|| self.0.trace(kernel, launched.and_then(Launchable::program).as_ref()))])
    }

    #[getter]
    fn steps(&self) -> u64 {
        self.0.steps
    }

    #[getter]
    fn switches(&self) -> u64 {
        self.0.switches
    }

    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &json!(self.0.counts))
    }

    #[getter]
    fn cores(&self, py: Python<'_>) -> PyResult<Vec<SimCore>> {
        self.0.cores.iter().map(|core| SimCore::new(py, core)).collect()
    }

    #[getter]
    fn events(&self) -> Vec<SimEvent> {
        self.0.events.iter().cloned().map(SimEvent::from).collect()
    }

    #[getter]
    fn events_dropped(&self) -> u64 {
        self.0.events_dropped
    }

    #[getter]
    fn hazards(&self) -> Vec<SimHazard> {
        self.0.hazards.iter().cloned().map(SimHazard).collect()
    }

    #[getter]
    fn findings(&self) -> Vec<SimFinding> {
        self.0.findings.iter().cloned().map(SimFinding).collect()
    }

    /// How the pipes of a core worked.
    #[getter]
    fn pipes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &json!(self.0.pipes))
    }

    /// What scalar accesses to global memory met.
    #[getter]
    fn cache<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &json!(self.0.cache))
    }

    /// Instructions with the times of a model.
    #[getter]
    fn instructions(&self) -> Vec<SimInstruction> {
        self.0.instructions.iter().cloned().map(SimInstruction::from).collect()
    }

    #[getter]
    fn unchecked(&self) -> Vec<String> {
        self.0.unchecked.clone()
    }

    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.warnings.clone()
    }

    #[getter]
    fn output(&self) -> Vec<String> {
        self.0.output.clone()
    }

    /// How often each agent acted.
    #[getter]
    fn agents(&self) -> BTreeMap<String, u32> {
        self.0.agents.iter().map(|agent| (agent.name.clone(), agent.acted)).collect()
    }
}

/// One event of the timeline.
#[pyclass(frozen, get_all, eq, hash, module = "superkernel._core", name = "Event")]
#[derive(Debug, PartialEq, Eq, Hash)]
struct SimEvent {
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
#[pyclass(frozen, eq, module = "superkernel._core", name = "Hazard")]
#[derive(PartialEq, Eq)]
struct SimHazard(Hazard);

#[pymethods]
impl SimHazard {
    #[getter]
    fn id(&self) -> &'static str {
        self.0.id()
    }

    #[getter]
    fn tool<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &json!(self.0.tool()))
    }

    #[getter]
    fn first(&self) -> &str {
        &self.0.first
    }

    #[getter]
    fn first_op(&self) -> usize {
        self.0.first_op
    }

    #[getter]
    fn second(&self) -> &str {
        &self.0.second
    }

    #[getter]
    fn second_op(&self) -> usize {
        self.0.second_op
    }

    #[getter]
    fn memory(&self) -> &str {
        &self.0.memory
    }

    #[getter]
    fn conflict(&self) -> &str {
        &self.0.conflict
    }

    #[getter]
    fn first_core(&self) -> &str {
        &self.0.first_core
    }

    #[getter]
    fn second_core(&self) -> &str {
        &self.0.second_core
    }

    #[getter]
    fn first_site(&self) -> Option<&str> {
        self.0.first_site.as_deref()
    }

    #[getter]
    fn second_site(&self) -> Option<&str> {
        self.0.second_site.as_deref()
    }

    #[getter]
    fn text(&self) -> &str {
        &self.0.text
    }

    fn __str__(&self) -> &str {
        &self.0.text
    }

    fn __repr__(&self) -> String {
        format!("Hazard({:?})", self.0.text)
    }
}

/// One instruction, and when it would run: cycles of a model, since the start of its core.
#[pyclass(frozen, get_all, module = "superkernel._core", name = "Instruction")]
struct SimInstruction {
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
struct SimFinding(Finding);

#[pymethods]
impl SimFinding {
    #[getter]
    fn id(&self) -> &'static str {
        self.0.kind.id()
    }

    #[getter]
    fn tool<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &json!(self.0.kind.tool()))
    }

    #[getter]
    fn kind<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &json!(self.0.kind))
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
struct SimCore {
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
    fn new(py: Python<'_>, report: &CoreReport) -> PyResult<Self> {
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
