//! What a launch is asked to do. Handed to the worker process as JSON, which only the core writes and reads.

use crate::named::{Named, named};
use std::collections::HashMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::error::SimError;
use super::status::Status;
use super::tools::{self, Tool};
use crate::model::{KernelType, Soc};

/// One launch of one loaded kernel.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Request {
    /// The kernel's name, for messages.
    pub kernel: String,
    /// The shared library made by [`crate::sim::code::library::link`].
    pub library: std::path::PathBuf,
    /// The functions to run.
    pub entries: Entries,
    /// Index handed to the functions of a lone sub-kernel; `None`: the entry of a super kernel, without arguments.
    pub args_offset: Option<u64>,
    /// The chip.
    pub soc: Soc,
    /// Which cores are started, and whether their flags work.
    pub kernel_type: KernelType,
    /// Number of blocks.
    pub blocks: u32,
    /// The parameter block.
    pub slots: Vec<u64>,
    /// What the slots hold, one by one; empty if nobody knows.
    pub parameters: Vec<ParameterSpec>,
    /// Global memory the kernel may use.
    pub buffers: Vec<BufferSpec>,
    /// The operators inside, in their order, for reports and order checking.
    pub ops: Vec<OpSpec>,
    /// In which order cores go on.
    pub schedule: ScheduleSpec,
    /// Cores held back.
    pub delays: Vec<DelaySpec>,
    /// Parties outside the kernel.
    pub agents: Vec<AgentSpec>,
    /// Bookkeeping of arrivals.
    pub arrivals: ArrivalsSpec,
    /// Most switching points of a run.
    pub step_limit: u64,
    /// How often every polling core looks again, with nobody else able to go on, before it counts as stuck.
    pub poll_limit: u64,
    /// Whether the order of operators that share memory is checked.
    pub check_order: bool,
    /// Which events the report holds.
    pub events: EventsSpec,
    /// Most events kept.
    pub event_limit: usize,
    /// Address of four words of shared memory that always say where the run is: core, operator, steps.
    pub status_address: u64,
    /// Whether local memories are overwritten with a pattern before every operator.
    pub poison_local_memory: bool,
    /// Stack of one core in bytes.
    pub stack_bytes: usize,
    /// How the pipes of a core work.
    pub pipes: PipesSpec,
    /// What scalar accesses to global memory meet.
    pub cache: CacheSpec,
    /// Whether barriers between vector instructions and waits around scalar accesses are taken as put in by the compiler.
    pub auto_sync: bool,
    /// What follows where the vendor's headers complain.
    pub asserts: AssertsSpec,
    /// Seconds after which kernel code is ended, in a process of its own only.
    pub timeout: Option<f64>,
    /// What to look for, where mistakes do not end the run by themselves.
    pub tools: Vec<Tool>,
    /// What `get_coreid()` returns on the first AIV; the default keeps AIC and AIV apart.
    pub first_vector_core_id: Option<i64>,
}

impl Request {
    /// The lock of a dynamic op that is another lock, too: who waits for one would see the other.
    pub(crate) fn shared_lock(&self) -> Option<(&str, &str)> {
        let locks = || self.parameters.iter().zip(&self.slots).filter(|(slot, word)| slot.is_lock() && **word != 0);
        let mut owners: HashMap<u64, &ParameterSpec> = HashMap::new();
        locks().find_map(|(slot, word)| {
            let other = owners.insert(*word, slot)?;
            // Two ops may wait for one event.
            (slot.is_tiling_lock() || other.is_tiling_lock()).then_some((&*other.name, &*slot.name))
        })
    }

    /// A launch in which everything else is as usual.
    pub(crate) fn new(
        library: std::path::PathBuf,
        entries: Entries,
        soc: Soc,
        kernel_type: KernelType,
        blocks: u32,
        slots: Vec<u64>,
    ) -> Self {
        Self {
            kernel: String::new(),
            library,
            entries,
            args_offset: None,
            soc,
            kernel_type,
            blocks,
            slots,
            parameters: Vec::new(),
            buffers: Vec::new(),
            ops: Vec::new(),
            schedule: ScheduleSpec::default(),
            delays: Vec::new(),
            agents: Vec::new(),
            arrivals: ArrivalsSpec::default(),
            step_limit: 50_000_000,
            poll_limit: 1000,
            check_order: true,
            events: EventsSpec::default(),
            event_limit: 50_000,
            status_address: 0,
            poison_local_memory: false,
            stack_bytes: 256 * 1024,
            pipes: PipesSpec::default(),
            cache: CacheSpec::default(),
            auto_sync: true,
            asserts: AssertsSpec::default(),
            timeout: None,
            tools: tools::all(),
            first_vector_core_id: None,
        }
    }

    /// The same, with some fields changed: by their names, as JSON has them.
    pub(crate) fn with(&self, changes: Map<String, Value>) -> Result<Self, SimError> {
        let unreadable = |error: serde_json::Error| SimError::Request(error.to_string());
        let mut fields = serde_json::to_value(self).map_err(unreadable)?;
        if let Value::Object(fields) = &mut fields {
            fields.extend(changes);
        }
        serde_json::from_value(fields).map_err(unreadable)
    }

    /// How long kernel code may run.
    pub(crate) fn time(&self) -> Option<Duration> {
        self.timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).filter(|time| !time.is_zero())
    }
}

/// Symbols of the functions each kind runs.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entries {
    /// On AICs.
    #[serde(default)]
    pub aic: Option<String>,
    /// On AIVs.
    #[serde(default)]
    pub aiv: Option<String>,
}

/// What a slot holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ParameterSpec {
    /// Its name, as its op has it.
    pub name: String,
    /// The op's place in `op_list`.
    pub op: Option<usize>,
}

/// How names of words begin that are waited for.
const LOCK: &str = "__ac_wait_lock_";

impl ParameterSpec {
    /// It holds the address of the number of blocks of its op, which is decided at run time.
    pub(crate) fn is_run_time_block_num(&self) -> bool {
        self.name.starts_with("__ac_dynamic_block_num_")
    }

    /// It holds the address of the word that says that the tiling of its op is ready.
    fn is_tiling_lock(&self) -> bool {
        self.op.is_some_and(|op| self.name.strip_prefix(LOCK).is_some_and(|rest| rest == op.to_string()))
    }

    /// It holds the address of such a word, or of one of an event.
    fn is_lock(&self) -> bool {
        self.name.starts_with(LOCK) || self.name.starts_with("__ac_notify_lock_")
    }

    /// Memory of which an op may not know what it holds when it begins, and of which nobody looks at what it leaves.
    pub(crate) fn is_scratch(&self) -> bool {
        self.name == "workspace"
    }
}

/// A piece of global memory.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BufferSpec {
    /// Its name in reports.
    pub name: String,
    /// First byte.
    pub address: u64,
    /// Number of bytes.
    pub size: u64,
    /// Bytes behind its end that hold [`crate::sim::machine::memory::GUARD_BYTE`]: whoever changes one wrote too far.
    #[serde(default)]
    pub guard: u64,
    /// Nobody gave it contents: it was filled with what [`crate::sim::machine::memory::fill`] says, and may have been written
    /// to since.
    #[serde(default)]
    pub fresh: bool,
}

/// One operator of the kernel.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OpSpec {
    /// Its name in reports.
    pub name: String,
    /// Slot of its first parameter.
    pub param_offset: u64,
    /// How many slots hold its parameters.
    pub param_count: u64,
    /// Its stream, where known.
    #[serde(default)]
    pub stream: Option<i64>,
    /// Addresses it reads, if declared.
    #[serde(default)]
    pub reads: Option<Vec<u64>>,
    /// Addresses it writes, if declared.
    #[serde(default)]
    pub writes: Option<Vec<u64>>,
}

/// The scheduling policy and its seed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScheduleSpec {
    /// Which policy.
    #[serde(default)]
    pub policy: PolicySpec,
    /// Start of the random sequence.
    #[serde(default)]
    pub seed: u64,
}

named! {
    /// How the next core is chosen.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub(crate) enum PolicySpec {
        /// One after another.
        #[default]
        RoundRobin = "round-robin",
        /// Any core, each equally likely.
        Random = "random",
        /// Random priorities that change now and then: some cores run far ahead of others.
        Skewed = "skewed",
    }
}

/// A core held back for some steps.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DelaySpec {
    /// `AIC0`, `AIV3`.
    pub core: String,
    /// For how many steps.
    pub steps: u64,
    /// Where.
    #[serde(default)]
    pub at: DelayPoint,
    /// For `at: op`: which operator.
    #[serde(default)]
    pub op: Option<u32>,
}

named! {
    /// Where a core is held back.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub(crate) enum DelayPoint {
        /// Before its first instruction.
        #[default]
        Start = "start",
        /// When it enters the operator.
        Op = "op",
        /// When it enters any `SyncAll`.
        SyncAll = "sync-all",
        /// When it starts to follow an operator it does not run (feed-sync-all).
        Complement = "complement",
        /// Before `SetNextTaskStart`.
        SetNextTask = "set-next-task",
        /// Before `WaitPreTaskEnd`.
        WaitPreTask = "wait-pre-task",
    }
}

/// Somebody outside the kernel who acts on global memory.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AgentSpec {
    /// Its name in reports.
    pub name: String,
    /// When it starts to act.
    #[serde(default)]
    pub when: Trigger,
    /// Steps between the trigger and the first write.
    #[serde(default)]
    pub delay: u64,
    /// What it writes, in this order.
    #[serde(default)]
    pub writes: Vec<WriteSpec>,
    /// How often it may act.
    #[serde(default = "once")]
    pub times: u32,
    /// Whether the run fails when the agent never acted.
    #[serde(default)]
    pub required: bool,
}

fn once() -> u32 {
    1
}

/// What an agent waits for.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Trigger {
    /// The start of the run.
    #[default]
    Start,
    /// This many steps.
    Step(u64),
    /// A word of global memory that has this value.
    Word {
        /// Its address.
        address: u64,
        /// The value.
        equals: u64,
    },
    /// Another agent has acted.
    Agent(String),
}

/// One write of an agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WriteSpec {
    /// Where.
    pub address: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

named! {
    /// See [`crate::sim::machine::flags::Arrivals`].
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub(crate) enum ArrivalsSpec {
        /// One arrival of every member.
        #[default]
        PerCore = "per-core",
        /// As many arrivals as members.
        Summed = "summed",
    }
}

named! {
    /// How the pipes of a core work.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub(crate) enum PipesSpec {
        /// Instructions execute when they are issued.
        #[default]
        InOrder = "in-order",
        /// The same, and accesses that nothing orders are found.
        Checked = "checked",
        /// Pipes run behind the scalar unit, as far as a seed says.
        Reordered = "reordered",
    }
}

named! {
    /// What the scalar unit's accesses to global memory meet.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub(crate) enum CacheSpec {
        /// Memory itself.
        #[default]
        Coherent = "coherent",
        /// A cache per core that nobody keeps like memory.
        Strict = "strict",
    }
}

named! {
    /// What follows where the vendor's headers complain: they check in the mode for CPUs what device builds do not.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
    pub(crate) enum AssertsSpec {
        /// A warning.
        #[default]
        Warn = "warn",
        /// The end of the run.
        Strict = "strict",
    }
}

named! {
    /// Which events are recorded.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) enum EventsSpec {
        /// None.
        None = "none",
        /// Begin and end of operators, agents, failures.
        #[default]
        Ops = "ops",
        /// Also every set, wait and barrier.
        Sync = "sync",
        /// Also every instruction, in a list of its own.
        Instructions = "instructions",
    }
}

/// The values that an argument of `launch` may have if it is one of a few; none for another argument.
pub(crate) fn choices(argument: &str) -> &'static [&'static str] {
    match argument {
        "schedule" => PolicySpec::NAMES,
        "arrivals" => ArrivalsSpec::NAMES,
        "pipes" => PipesSpec::NAMES,
        "cache" => CacheSpec::NAMES,
        "asserts" => AssertsSpec::NAMES,
        "events" => EventsSpec::NAMES,
        "tool" => Tool::NAMES,
        "status" => Status::NAMES,
        "at" => DelayPoint::NAMES,
        _ => &[],
    }
}

/// The value called `name` of an argument that has one of a few.
pub(crate) fn choice<T: Named>(argument: &'static str, name: &str) -> Result<T, SimError> {
    let allowed = || T::NAMES.iter().map(|name| (*name).to_owned()).collect();
    T::named(name).ok_or_else(|| SimError::Choice { argument, name: name.to_owned(), allowed: allowed() })
}
