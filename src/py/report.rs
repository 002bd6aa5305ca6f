//! The report of a launch: the class users see.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use serde_json::json;

use super::convert;
use super::errors::{from_parts, to_python};
use super::launch::{SimCore, SimEvent, SimFinding, SimHazard, SimInstruction};
use super::loader::KernelDescription;
use super::trace::Traces;
use crate::loader::Launchable;
use crate::sim::interface::report::{Report, Unchecked};
use crate::sim::interface::request;
use crate::sim::interface::tools::Tool;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<SimReport>()
}

fn texts(unchecked: &[Unchecked]) -> Vec<&str> {
    unchecked.iter().map(|unchecked| unchecked.text.as_str()).collect()
}

/// The outcome of one launch.
#[pyclass(frozen, module = "superkernel._core", name = "Report")]
pub(crate) struct SimReport {
    run: Report,
    /// Whether the run ended by itself, whatever it found; only then its events are known.
    #[pyo3(get)]
    came_back: bool,
    /// The kernel that ran.
    #[pyo3(get)]
    kernel: String,
    description: Option<Py<KernelDescription>>,
    profiling: PyOnceLock<Py<PyTuple>>,
    cores: PyOnceLock<Py<PyTuple>>,
    events: PyOnceLock<Py<PyTuple>>,
    hazards: PyOnceLock<Py<PyTuple>>,
    findings: PyOnceLock<Py<PyTuple>>,
    instructions: PyOnceLock<Py<PyTuple>>,
}

impl SimReport {
    /// Of a run of `kernel`; what is known of it explains why cores wait.
    pub(super) fn of(run: Report, kernel: &str, description: Option<Py<KernelDescription>>) -> Self {
        let came_back = true;
        let kernel = kernel.to_owned();
        let empty = PyOnceLock::new;
        let [profiling, cores, events] = [empty(), empty(), empty()];
        let [hazards, findings, instructions] = [empty(), empty(), empty()];
        Self { run, came_back, kernel, description, profiling, cores, events, hazards, findings, instructions }
    }

    /// Of one that did not come back.
    pub(super) fn lost(py: Python<'_>, status: &str, message: String, kernel: &str) -> PyResult<Self> {
        let status = request::choice("status", status).map_err(|error| to_python(py, error))?;
        Ok(Self { came_back: false, ..Self::of(Report::lost(status, message), kernel, None) })
    }

    /// A list that is made when it is first looked at.
    fn list<'py, T: IntoPyObject<'py>>(
        py: Python<'py>,
        kept: &PyOnceLock<Py<PyTuple>>,
        items: impl FnOnce() -> PyResult<Vec<T>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let made = kept.get_or_try_init(py, || Ok::<_, PyErr>(PyTuple::new(py, items()?)?.unbind()))?;
        Ok(made.bind(py).clone())
    }

    fn head(&self) -> String {
        let Report { cores, steps, switches, unchecked, .. } = &self.run;
        let of = if self.kernel.is_empty() { String::new() } else { format!("{}: ", self.kernel) };
        let not_checked = if unchecked.is_empty() {
            String::new()
        } else {
            format!("; not checked: {}", texts(unchecked).join(", "))
        };
        format!("{of}{}, {} cores, {steps} steps, {switches} switches{not_checked}", self.run.status, cores.len())
    }
}

#[pymethods]
impl SimReport {
    #[new]
    #[pyo3(signature = (status, message, *, warnings=Vec::new(), kernel=""))]
    fn new(py: Python<'_>, status: &str, message: String, warnings: Vec<String>, kernel: &str) -> PyResult<Self> {
        let mut report = Self::lost(py, status, message, kernel)?;
        report.run.warnings = warnings;
        Ok(report)
    }

    /// `ok`, or what went wrong: `deadlock`, `leak`, `crash`, `hazard`, ...
    #[getter]
    fn status(&self) -> &'static str {
        self.run.status.as_str()
    }

    /// What went wrong, in a few lines; empty if nothing.
    #[getter]
    fn message(&self) -> &str {
        &self.run.message
    }

    /// Whether everything went well.
    #[getter]
    fn ok(&self) -> bool {
        self.run.status.error().is_none()
    }

    /// The id of what went wrong first: `superkernel explain` knows it.
    #[getter]
    fn error_id(&self) -> &'static str {
        self.run.error().map_or("", |(id, _)| id)
    }

    /// The tool that looks for what went wrong first.
    #[getter]
    fn tool(&self) -> &'static str {
        self.run.tool().as_str()
    }

    /// Core, operator, text, file and line of the first failure.
    #[getter]
    fn failure<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &json!(self.run.failure))
    }

    #[getter]
    fn steps(&self) -> u64 {
        self.run.steps
    }

    #[getter]
    fn switches(&self) -> u64 {
        self.run.switches
    }

    /// Sums over all cores: sets, waits, sync_all, dcci, ...
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &json!(self.run.counts))
    }

    #[getter]
    fn cores<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let cores = || self.run.cores.iter().map(|core| SimCore::new(py, core)).collect();
        Self::list(py, &self.cores, cores)
    }

    #[getter]
    fn events<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        Self::list(py, &self.events, || Ok(self.run.events.iter().cloned().map(SimEvent::from).collect()))
    }

    #[getter]
    fn events_dropped(&self) -> u64 {
        self.run.events_dropped
    }

    #[getter]
    fn hazards<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        Self::list(py, &self.hazards, || Ok(self.run.hazards.iter().cloned().map(SimHazard::from).collect()))
    }

    /// Mistakes inside a core: missing order between its pipes, events and queues used wrongly.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        Self::list(py, &self.findings, || Ok(self.run.findings.iter().cloned().map(SimFinding).collect()))
    }

    /// With `events="instructions"`: every instruction, its pipe, bytes and the cycles a rough model gives it.
    #[getter]
    fn instructions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let instructions = || Ok(self.run.instructions.iter().cloned().map(SimInstruction::from).collect());
        Self::list(py, &self.instructions, instructions)
    }

    /// How the pipes of a core worked: `in-order`, `checked`, `reordered`.
    #[getter]
    fn pipes(&self) -> &'static str {
        self.run.pipes.as_str()
    }

    /// What scalar accesses to global memory met: `coherent` or `strict`.
    #[getter]
    fn cache(&self) -> &'static str {
        self.run.cache.as_str()
    }

    /// What was not checked, and why.
    #[getter]
    fn unchecked<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, texts(&self.run.unchecked))
    }

    /// The same, by the tool that misses something by it.
    #[getter]
    fn unchecked_by_tool(&self) -> Vec<(&'static str, Vec<&str>)> {
        let missed = |tool: Tool| -> Vec<&str> {
            let missed = self.run.unchecked.iter().filter(|unchecked| unchecked.tools.contains(&tool));
            missed.map(|unchecked| unchecked.text.as_str()).collect()
        };
        let tools = Tool::ALL.iter().map(|tool| (tool.as_str(), missed(*tool)));
        tools.filter(|(_, texts)| !texts.is_empty()).collect()
    }

    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.run.warnings)
    }

    /// Lines printed by the kernel, each with its core in front.
    #[getter]
    fn output<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.run.output)
    }

    /// How often each agent acted.
    #[getter]
    fn agents(&self) -> BTreeMap<&str, u32> {
        self.run.agents.iter().map(|agent| (agent.name.as_str(), agent.acted)).collect()
    }

    /// What the cores recorded, if the kernel has a profiling slot that nobody filled.
    #[getter]
    fn profiling<'py>(&self, py: Python<'py>) -> Bound<'py, PyTuple> {
        self.profiling.get(py).map_or_else(|| PyTuple::empty(py), |records| records.bind(py).clone())
    }

    /// The records are read when the run has ended.
    fn _set_profiling(&self, py: Python<'_>, records: Py<PyTuple>) {
        // Set once, by the launch.
        let _ = self.profiling.set(py, records);
    }

    /// The report of one core, by its name (`AIC0`).
    fn core(&self, py: Python<'_>, name: &str) -> PyResult<SimCore> {
        let found = self.run.cores.iter().find(|core| core.core == name);
        found.map_or_else(|| Err(PyKeyError::new_err(name.to_owned())), |core| SimCore::new(py, core))
    }

    /// The events of one core, in order.
    fn timeline<'py>(&self, py: Python<'py>, core: &str) -> PyResult<Bound<'py, PyTuple>> {
        let own = self.run.events.iter().filter(|event| event.core == core);
        PyTuple::new(py, own.cloned().map(SimEvent::from).collect::<Vec<_>>())
    }

    /// What every core did when, in steps of the simulator.
    ///
    /// Waits and barriers, with their reasons, are there with `events="sync"`, the pipes of the cores with
    /// `events="instructions"`.
    fn traces(&self, py: Python<'_>) -> PyResult<Traces> {
        if !self.came_back {
            let problem = "this run left no events: it did not come back";
            return Err(from_parts(py, "SK0902", problem, "see its status and message"));
        }
        let kernel = if self.kernel.is_empty() { "kernel" } else { &self.kernel };
        let launched = self.description.as_ref().map(|description| description.get().launchable());
        let trace = || self.run.trace(kernel, launched.and_then(Launchable::program).as_ref());
        Ok(Traces(vec![py.detach(trace)]))
    }

    /// Writes the timeline: `t.html`, a page, or `t.json` for https://ui.perfetto.dev or `chrome://tracing`.
    ///
    /// Returns what a reader must know: the time axis, and what is missing, assumed or merged.
    fn save_trace<'py>(&self, py: Python<'py>, path: PathBuf) -> PyResult<Bound<'py, PyAny>> {
        py.import("superkernel._files")?.call_method1("write_traces", (path, self.traces(py)?))
    }

    /// The timeline as a chart of text.
    #[pyo3(signature = (width=None))]
    fn gantt<'py>(&self, py: Python<'py>, width: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let traces = Bound::new(py, self.traces(py)?)?;
        let Some(width) = width else { return traces.call_method1("gantt", (100,)) };
        let checked = py.import("superkernel.sim._arguments")?;
        traces.call_method1("gantt", (checked.call_method1("integer", ("width", width, 0, 10_000))?,))
    }

    /// Raises `superkernel.SuperKernelError` unless everything went well; returns itself otherwise.
    fn raise_for_status(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        let report = slf.get();
        let Some((id, solution)) = report.run.error() else { return Ok(slf) };
        let of = if report.kernel.is_empty() { String::new() } else { format!(" of `{}`", report.kernel) };
        let Report { status, message, .. } = &report.run;
        Err(from_parts(slf.py(), id, &format!("the simulated run{of} ended with `{status}`: {message}"), solution))
    }

    fn __str__(&self) -> String {
        let mut lines = vec![self.head()];
        lines.extend(Some(self.run.message.clone()).filter(|message| !message.is_empty()));
        lines.extend(self.run.warnings.iter().map(|text| format!("warning: {text}")));
        lines.join("\n")
    }

    fn __repr__(&self) -> String {
        const SHOWN: usize = 120;
        let first = self.run.message.lines().next().unwrap_or_default();
        let why = match (first.char_indices().nth(SHOWN), first) {
            (_, "") => String::new(),
            (None, first) => format!(": {first}"),
            (Some((end, _)), first) => format!(": {}…", &first[..end]),
        };
        let warnings = self.run.warnings.len();
        let more = if warnings == 0 { String::new() } else { format!(", {warnings} warnings") };
        format!("<Report {}{more}{why}>", self.head())
    }

    /// For notebooks: the text, and a row for every core that did not finish.
    fn _repr_html_(&self) -> String {
        let mut parts = vec![format!("<b>{}</b>", escaped(&self.head()))];
        if !self.run.message.is_empty() {
            parts.push(format!("<pre>{}</pre>", escaped(&self.run.message)));
        }
        parts.extend(self.run.warnings.iter().map(|text| format!("<p>warning: {}</p>", escaped(text))));
        let cells =
            |tag: &str, cells: [&str; 4]| cells.map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).concat();
        let stuck = self.run.cores.iter().filter(|core| core.state != "finished").map(|core| {
            let (op, why) = (core.op.as_deref().unwrap_or_default(), core.why.as_deref().unwrap_or_default());
            format!("<tr>{}</tr>", cells("td", [&core.core, &core.state, op, why]))
        });
        let rows: String = stuck.collect();
        if !rows.is_empty() {
            let head = cells("th", ["core", "state", "op", "why"]);
            parts.push(format!("<table><tr>{head}</tr>{rows}</table>"));
        }
        parts.join("\n")
    }
}

/// As text of an HTML page.
fn escaped(text: &str) -> String {
    let letter = |letter: char| match letter {
        '&' => "&amp;".to_owned(),
        '<' => "&lt;".to_owned(),
        '>' => "&gt;".to_owned(),
        '"' => "&quot;".to_owned(),
        '\'' => "&#x27;".to_owned(),
        other => other.to_string(),
    };
    text.chars().map(letter).collect()
}
