//! The native half of `superkernel.scope`.

use pyo3::prelude::*;

use super::convert;
use super::errors::to_python;
use crate::Error;
use crate::scope::launch::{self, EntryArguments, Ffts, Workspace};
use crate::scope::{self, Cuts, Hazards, Mode, Settings, SingleOps, Target};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(scope_read, module)?)?;
    module.add_function(wrap_pyfunction!(scope_plan, module)?)?;
    module.add_function(wrap_pyfunction!(scope_launch_layout, module)?)
}

/// A graph, JSON or dump, in its JSON form; with `compile_results` completed from the JSONs of its operators.
#[pyfunction]
fn scope_read<'py>(py: Python<'py>, data: &[u8], compile_results: bool) -> PyResult<Bound<'py, PyAny>> {
    let read = py.detach(|| -> Result<_, Error> {
        let mut graph = scope::read_graph(data)?;
        if compile_results {
            graph.take_compile_results()?;
        }
        Ok(scope::json::write(&graph))
    });
    match read {
        Ok(graph) => convert::to_python(py, &graph),
        Err(error) => Err(to_python(py, error.diagnostic())),
    }
}

/// What `scope_plan` is told beside the graph, one keyword each.
#[derive(FromPyObject)]
struct PlanRequest {
    #[pyo3(item)]
    compat: bool,
    #[pyo3(item)]
    fuse_single_ops: Option<bool>,
    #[pyo3(item)]
    refuse_hazards: bool,
    #[pyo3(item)]
    cut_per_stream: bool,
    #[pyo3(item)]
    soc: String,
    #[pyo3(item)]
    aic_num: u32,
    #[pyo3(item)]
    aiv_num: u32,
    #[pyo3(item)]
    tiling_on_aicpu: Vec<String>,
    #[pyo3(item)]
    exclude: Vec<String>,
}

impl PlanRequest {
    fn settings(self) -> Settings {
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
        settings.target = Target { soc: self.soc, aic_num: self.aic_num, aiv_num: self.aiv_num };
        settings.tiling_on_aicpu = self.tiling_on_aicpu;
        settings.exclude = self.exclude;
        settings
    }
}

/// The plan of a graph in JSON form, and the same as a report.
#[pyfunction]
fn scope_plan<'py>(py: Python<'py>, graph: &str, request: PlanRequest) -> PyResult<(Bound<'py, PyAny>, String)> {
    let settings = request.settings();
    let planned = py.detach(|| -> Result<_, Error> {
        let plan = scope::plan(&scope::json::read(graph)?, &settings)?;
        let text = scope::report::text(&plan);
        Ok((plan.to_json(), text))
    });
    match planned {
        Ok((plan, text)) => Ok((convert::to_python(py, &plan)?, text)),
        Err(error) => Err(to_python(py, error.diagnostic())),
    }
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
