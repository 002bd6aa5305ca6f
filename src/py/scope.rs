//! The native half of `superkernel.scope`.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use serde_json::json;
use smol_str::SmolStr;

use super::interrupt::interruptible;
use super::settings::Chosen;
use super::{convert, errors};
use crate::Error;
use crate::model::Platform;
use crate::scope::launch::{self, EntryArguments, Ffts, Workspace};
use crate::scope::{self, Cuts, Hazards, Mode, Order, Orders, Settings, SingleOps, Target};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<ScopeGraph>()?;
    module.add_class::<ScopePlanned>()?;
    module.add_class::<ScopePiece>()?;
    module.add_class::<ScopeProblem>()?;
    module.add_function(wrap_pyfunction!(scope_plan, module)?)?;
    module.add_function(wrap_pyfunction!(scope_launch_layout, module)?)
}

/// A graph as the core has it.
#[pyclass(frozen, module = "superkernel._core")]
pub(super) struct ScopeGraph(pub(super) Arc<scope::Graph>);

#[pymethods]
impl ScopeGraph {
    /// Reads JSON or a dump; with `compile_results` it is completed from the JSONs of its operators. `folder` is where it
    /// was read from: relative paths lead to what is there.
    #[new]
    #[pyo3(signature = (data, compile_results=false, folder=None))]
    fn new(py: Python<'_>, data: &[u8], compile_results: bool, folder: Option<PathBuf>) -> PyResult<Self> {
        let graph = interruptible(py, |_| -> Result<_, Error> {
            let mut graph = scope::read_graph(data)?;
            if let Some(folder) = &folder {
                graph.look_for_files(folder);
            }
            if compile_results {
                graph.take_compile_results()?;
            }
            Ok(graph)
        })?;
        Ok(Self(Arc::new(graph)))
    }

    /// Refuses a node that no graph can have: `text` is its JSON form.
    #[staticmethod]
    fn check_node(py: Python<'_>, name: &str, text: &str) -> PyResult<()> {
        scope::json::check_node(name, text).map_err(|error| errors::to_python(py, error))
    }

    /// Refuses an event that no graph can have.
    #[staticmethod]
    fn check_event(py: Python<'_>, id: i64, text: &str) -> PyResult<()> {
        scope::json::check_event(id, text).map_err(|error| errors::to_python(py, error))
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }

    /// The nodes that tell what the engine made of the graph, in JSON form as plain data.
    fn built_nodes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &py.detach(|| scope::json::built_nodes(&self.0)))
    }

    /// Its JSON form as plain data.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &py.detach(|| scope::json::write(&self.0)))
    }
}

/// What `scope_plan` is told beside the graph, one keyword each.
#[derive(FromPyObject)]
pub(super) struct PlanRequest {
    #[pyo3(item)]
    compat: bool,
    #[pyo3(item)]
    fuse_single_ops: Option<bool>,
    #[pyo3(item)]
    refuse_hazards: bool,
    #[pyo3(item)]
    cut_per_stream: bool,
    #[pyo3(item)]
    settings: Chosen,
    #[pyo3(item)]
    tiling_on_aicpu: Vec<String>,
    #[pyo3(item)]
    exclude: Vec<String>,
    #[pyo3(item)]
    fusable: Vec<String>,
    #[pyo3(item)]
    not_fusable: Vec<String>,
    /// `program`, `engine` or `both`; Python has checked it.
    #[pyo3(item)]
    order: String,
}

impl PlanRequest {
    /// What it is planned for.
    pub(super) fn platform(&self) -> Result<Platform, Error> {
        let Chosen(settings) = &self.settings;
        Ok(Platform::new(&settings.soc.0, settings.aic_num, settings.aiv_num)?)
    }

    pub(super) fn planning(&self) -> Settings {
        let mut settings = Settings::new(if self.compat { Mode::Compat } else { Mode::Default });
        match self.fuse_single_ops {
            Some(true) => settings.single_ops = SingleOps::Fuse,
            Some(false) => settings.single_ops = SingleOps::Leave,
            None => {}
        }
        if self.refuse_hazards {
            settings.hazards = Hazards::Refuse;
        }
        if self.cut_per_stream {
            settings.cuts = Cuts::PerStream;
        }
        let Chosen(known) = &self.settings;
        let (aic_num, aiv_num) = (known.aic_num.unwrap_or_default(), known.aiv_num.unwrap_or_default());
        settings.target = Target { soc: known.soc.0.clone(), aic_num, aiv_num };
        settings.tiling_on_aicpu.clone_from(&self.tiling_on_aicpu);
        settings.exclude.clone_from(&self.exclude);
        settings.fusable.clone_from(&self.fusable);
        settings.not_fusable.clone_from(&self.not_fusable);
        settings.orders = match self.order.as_str() {
            "program" => Orders::Only(Order::Program),
            "engine" => Orders::Only(Order::Engine),
            _ => Orders::Both,
        };
        settings
    }
}

/// One super kernel of a plan.
#[pyclass(frozen, module = "superkernel._core")]
struct ScopePiece {
    plan: Arc<scope::ScopePlan>,
    number: usize,
    mode: Mode,
}

impl ScopePiece {
    fn piece(&self) -> &scope::Piece {
        &self.plan.pieces[self.number]
    }
}

/// A plan; Python objects are made of what is asked for only.
#[pyclass(frozen, module = "superkernel._core")]
pub(super) struct ScopePlanned {
    pub(super) plan: Arc<scope::ScopePlan>,
    pub(super) mode: Mode,
}

#[pymethods]
impl ScopePlanned {
    /// All pieces, in the order they are built.
    #[getter]
    fn pieces(&self) -> Vec<ScopePiece> {
        let piece = |number| ScopePiece { plan: Arc::clone(&self.plan), number, mode: self.mode };
        (0..self.plan.pieces.len()).map(piece).collect()
    }

    /// What was assumed about a graph from before compilation.
    #[getter]
    fn prediction(&self) -> &[String] {
        &self.plan.prediction
    }

    /// What the user can change, as plain data.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &json!(self.plan.findings))
    }

    /// Scopes that are not planned because of their options, as plain data.
    #[getter]
    fn mistakes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &json!(self.plan.mistakes))
    }

    /// Everything as plain data.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &py.detach(|| self.plan.to_json()))
    }

    /// The report.
    fn __str__(&self) -> String {
        scope::report::text(&self.plan)
    }

    fn __repr__(&self) -> String {
        let plan = &self.plan;
        format!("ScopePlan('{}', {} scopes, {} super kernels)", plan.graph, plan.scopes.len(), plan.pieces.len())
    }
}

/// Something the compiler would refuse about a piece.
#[pyclass(frozen, get_all, module = "superkernel._core")]
struct ScopeProblem {
    /// The id of the error a build would end with.
    id: &'static str,
    /// What is wrong.
    message: String,
    /// What to do about it.
    solution: String,
    /// Ops that cannot be in any super kernel as they are.
    unfusable: Vec<String>,
}

#[pymethods]
impl ScopeProblem {
    fn __str__(&self) -> String {
        format!("{} [{}]: {}", self.message, self.id, self.solution)
    }
}

#[pymethods]
impl ScopePiece {
    /// `<scope>` or `<scope>_split_<b>_<e>`.
    #[getter]
    fn name(&self) -> &str {
        &self.piece().name
    }

    /// The scope it is cut out of.
    #[getter]
    fn scope(&self) -> &str {
        &self.piece().scope
    }

    /// Name of the kernel.
    #[getter]
    fn kernel_name(&self) -> &str {
        &self.piece().kernel_name
    }

    /// Name of its node in the graph.
    #[getter]
    fn node_name(&self) -> &str {
        &self.piece().node_name
    }

    /// The stream it is launched on.
    #[getter]
    fn main_stream(&self) -> i64 {
        self.piece().main_stream
    }

    /// Its option string.
    #[getter]
    fn options(&self) -> &str {
        &self.piece().options
    }

    /// All members in list order.
    #[getter]
    fn members(&self) -> Vec<&str> {
        self.piece().members.iter().map(SmolStr::as_str).collect()
    }

    /// Its op list with names, types and ids of the graph.
    #[getter]
    fn ops<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &json!(self.piece().ops))
    }

    /// What the compiler would refuse.
    #[getter]
    fn problems(&self) -> Vec<ScopeProblem> {
        let problem = |found: &scope::Problem| ScopeProblem {
            id: found.id,
            message: found.message.clone(),
            solution: found.solution.clone(),
            unfusable: found.unfusable.iter().map(SmolStr::to_string).collect(),
        };
        self.piece().problems.iter().map(problem).collect()
    }

    /// What works but deserves a look.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.piece().warnings.clone()
    }

    /// Cube and vector cores it is limited to.
    #[getter]
    fn core_limits(&self) -> Option<(u32, u32)> {
        self.piece().core_limits
    }

    /// The argument of `superkernel.compile`.
    #[getter]
    fn kernel_infos<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &self.piece().kernel_infos())
    }

    /// The same with streams and events counted from 0: equal for pieces of one name.
    #[getter]
    fn normalized_infos<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        convert::to_python(py, &self.piece().normalized_infos())
    }

    /// Everything that decides what the kernel is, as text.
    #[getter]
    fn identity(&self) -> String {
        self.piece().identity(self.mode)
    }

    /// The argument of `superkernel.compile` for each op alone, without events, and the op's name.
    #[getter]
    fn alone<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
        let each = self
            .piece()
            .ops
            .iter()
            .enumerate()
            .filter_map(|(at, op)| Some((op.name.to_string(), self.piece().alone(at)?)));
        each.map(|(name, infos)| Ok((name, convert::to_python(py, &infos)?))).collect()
    }

    fn __repr__(&self) -> String {
        format!("Piece({:?}, {} ops)", self.piece().name, self.piece().ops.len())
    }
}

/// The plan of a graph.
#[pyfunction]
fn scope_plan(py: Python<'_>, graph: &Bound<'_, ScopeGraph>, request: PlanRequest) -> PyResult<ScopePlanned> {
    let (graph, settings) = (&*graph.get().0, request.planning());
    let plan = interruptible(py, |cancel| crate::scope(graph, &settings, cancel))?;
    Ok(ScopePlanned { plan: Arc::new(plan), mode: settings.mode })
}

/// (id, own arguments, tiling event of a dynamic op, sends, receives)
type Entry = (i64, Vec<String>, Option<i64>, Vec<i64>, Vec<i64>);
/// (first argument, tiling key, first notify lock, first wait lock)
type Slots = (usize, Option<usize>, usize, usize);

/// Slots per op, workspace slot, number of slots, format string.
#[pyfunction]
fn scope_launch_layout(ffts: bool, entries: Vec<Entry>, workspace: bool) -> (Vec<Slots>, Option<usize>, usize, String) {
    let entries: Vec<EntryArguments> = entries
        .into_iter()
        .map(|(id, own, dynamic, send, recv)| EntryArguments { id, own, dynamic, send, recv })
        .collect();
    let ffts = if ffts { Ffts::Present } else { Ffts::Absent };
    let workspace = if workspace { Workspace::Needed } else { Workspace::Unused };
    let layout = launch::layout(ffts, &entries, workspace);
    let slots = layout.entries.iter().map(|slots| (slots.param, slots.tiling, slots.notify, slots.wait)).collect();
    (slots, layout.workspace, layout.slots, layout.format)
}
