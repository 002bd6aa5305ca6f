//! The request of a launch: typed values in, put together by the core.

use std::path::PathBuf;

use pyo3::prelude::*;

use super::errors::{from_parts, to_python};
use super::interrupt::interruptible;
use super::loader::KernelDescription;
use super::report::SimReport;
use crate::model::Soc;
use crate::named::Named;
use crate::sim::Request;
use crate::sim::interface::report::Report;
use crate::sim::interface::request::{self, AgentSpec, BufferSpec, DelaySpec, OpSpec, Trigger, WriteSpec};
use crate::sim::launch::protocol::{Answer, Pages, WorkOrder};
use crate::sim::machine::topology::Topology;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<LaunchRequest>()
}

/// One launch of one loaded kernel.
#[pyclass(module = "superkernel._core")]
pub(crate) struct LaunchRequest(Request, Py<KernelDescription>);

#[pymethods]
impl LaunchRequest {
    /// A launch of `kernel`, linked as `library`, with this parameter block; `blocks` if not those of its files.
    #[new]
    fn new(
        py: Python<'_>,
        kernel: Py<KernelDescription>,
        library: PathBuf,
        soc: &str,
        tiling_key: Option<u64>,
        blocks: Option<u32>,
        slots: Vec<u64>,
    ) -> PyResult<Self> {
        let soc = Soc::parse(soc).map_err(|error| to_python(py, error))?;
        let request = kernel.get().launchable().request(library, soc, tiling_key, blocks, slots);
        request.map(|request| Self(request, kernel)).map_err(|error| to_python(py, error))
    }

    /// In which order cores go on.
    fn set_schedule(&mut self, py: Python<'_>, policy: &str, seed: Option<u64>) -> PyResult<()> {
        self.0.schedule.policy = named(py, "schedule", policy)?;
        self.0.schedule.seed = seed.unwrap_or_default();
        Ok(())
    }

    /// How arrivals at a flag are counted.
    fn set_arrivals(&mut self, py: Python<'_>, arrivals: &str) -> PyResult<()> {
        self.0.arrivals = named(py, "arrivals", arrivals)?;
        Ok(())
    }

    /// Which events the report holds, and how many at most.
    fn set_events(&mut self, py: Python<'_>, events: &str, limit: usize) -> PyResult<()> {
        self.0.events = named(py, "events", events)?;
        self.0.event_limit = limit;
        Ok(())
    }

    /// Most switching points, and most looks of a polling core; `None` leaves the usual ones.
    fn set_limits(&mut self, steps: Option<u64>, polls: Option<u64>) {
        self.0.step_limit = steps.unwrap_or(self.0.step_limit);
        self.0.poll_limit = polls.unwrap_or(self.0.poll_limit);
    }

    /// Whether the order of operators is checked, and whether local memory is overwritten before each.
    fn set_checks(&mut self, order: bool, poison_local_memory: bool) {
        self.0.check_order = order;
        self.0.poison_local_memory = poison_local_memory;
    }

    /// How pipes and caches of a core work, and whether what compilers put in is taken as given.
    fn set_core(&mut self, py: Python<'_>, pipes: &str, cache: &str, auto_sync: bool, asserts: &str) -> PyResult<()> {
        self.0.pipes = named(py, "pipes", pipes)?;
        self.0.cache = named(py, "cache", cache)?;
        self.0.auto_sync = auto_sync;
        self.0.asserts = named(py, "asserts", asserts)?;
        Ok(())
    }

    /// What to look for.
    fn set_tools(&mut self, py: Python<'_>, tools: Vec<String>) -> PyResult<()> {
        self.0.tools = tools.iter().map(|name| named(py, "tool", name)).collect::<PyResult<_>>()?;
        Ok(())
    }

    /// What `get_coreid()` returns on AIV0.
    fn set_first_vector_core_id(&mut self, id: Option<i64>) {
        self.0.first_vector_core_id = id;
    }

    /// Where four words of shared memory say how far the run is.
    fn set_status_address(&mut self, address: u64) {
        self.0.status_address = address;
    }

    /// Global memory; `guard` bytes behind it hold the guard's pattern.
    fn add_buffer(&mut self, name: String, address: u64, size: u64, guard: u64) {
        self.0.buffers.push(BufferSpec { name, address, size, guard, fresh: false });
    }

    /// The next operator, with the addresses it is declared to read and to write.
    fn add_op(
        &mut self,
        name: String,
        param_offset: u64,
        param_count: u64,
        reads: Option<Vec<u64>>,
        writes: Option<Vec<u64>>,
        stream: Option<i64>,
    ) {
        self.0.ops.push(OpSpec { name, param_offset, param_count, stream, reads, writes });
    }

    /// A core held back.
    fn add_delay(&mut self, py: Python<'_>, core: String, steps: u64, at: &str, op: Option<u32>) -> PyResult<()> {
        self.0.delays.push(DelaySpec { core, steps, at: named(py, "at", at)?, op });
        Ok(())
    }

    /// A party outside: the first condition that is given counts; without any it starts with the run.
    #[allow(clippy::too_many_arguments, reason = "what `superkernel.sim.Agent` has")]
    fn add_agent(
        &mut self,
        name: String,
        writes: Vec<(u64, Vec<u8>)>,
        step: Option<u64>,
        word: Option<(u64, u64)>,
        after: Option<String>,
        delay: u64,
        times: u32,
        required: bool,
    ) {
        let when = match (step, word, after) {
            (Some(step), _, _) => Trigger::Step(step),
            (None, Some((address, equals)), _) => Trigger::Word { address, equals },
            (None, None, Some(agent)) => Trigger::Agent(agent),
            (None, None, None) => Trigger::Start,
        };
        let writes = writes.into_iter().map(|(address, bytes)| WriteSpec { address, bytes }).collect();
        self.0.agents.push(AgentSpec { name, when, delay, writes, times, required });
    }

    /// The name of the operator at this position.
    fn op_name(&self, position: usize) -> Option<&str> {
        self.0.ops.get(position).map(|op| op.name.as_str())
    }

    /// The name of a core by its number.
    fn core_name(&self, number: usize) -> String {
        Topology::new(self.0.kernel_type, self.0.blocks).name(number)
    }

    /// Runs it in this process.
    fn launch(&self, py: Python<'_>) -> PyResult<SimReport> {
        let request = self.0.clone();
        let report = interruptible(py, |cancel| crate::simulate(request, cancel))?;
        Ok(self.report(py, report))
    }

    /// The report in a worker's answer; an answer that is an error is raised.
    fn answer(&self, py: Python<'_>, line: &[u8]) -> PyResult<SimReport> {
        match py.detach(|| Answer::from_line(line)) {
            Ok(Answer::Report(report)) => Ok(self.report(py, *report)),
            Ok(Answer::Refused { id, message, solution }) => Err(from_parts(py, &id, &message, &solution)),
            Err(error) => Err(to_python(py, error)),
        }
    }

    /// The report of a launch that did not come back.
    fn lost(&self, py: Python<'_>, status: &str, message: String) -> PyResult<SimReport> {
        SimReport::lost(py, status, message, &self.0.kernel)
    }

    /// The line that has the worker run it.
    fn work_order(&self, py: Python<'_>, pages: Vec<(u64, u64, bool)>, timeout: Option<f64>) -> PyResult<String> {
        let pages = pages.into_iter().map(|(address, size, open)| Pages { address, size, open }).collect();
        let order = WorkOrder { pages, launch: Request { timeout, ..self.0.clone() } };
        order.to_line().map_err(|error| to_python(py, error))
    }
}

impl LaunchRequest {
    fn report(&self, py: Python<'_>, run: Report) -> SimReport {
        SimReport::of(run, &self.0.kernel, Some(self.1.clone_ref(py)))
    }
}

fn named<T: Named>(py: Python<'_>, argument: &'static str, name: &str) -> PyResult<T> {
    request::choice(argument, name).map_err(|error| to_python(py, error))
}
