//! What a launch reports. The worker process hands it to its parent as JSON.

use crate::named::named;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::findings::Finding;
use super::request::{CacheSpec, PipesSpec};
use super::status::{Failure, Status, Word};
use super::tools::Tool;

/// Where a core was when the run ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct CoreReport {
    /// `AIC0`, `AIV3`.
    pub core: String,
    /// `aic` or `aiv`.
    pub kind: Word,
    /// Block index.
    pub block: u32,
    /// Sub-block index.
    pub sub_block: u32,
    /// `finished`, `waiting`, `polling`, `ready`, `delayed`, `failed`.
    pub state: Word,
    /// The operator it is in.
    pub op: Option<String>,
    /// The last operator it entered.
    pub last_op: Option<String>,
    /// What it is doing there: a barrier, a wait.
    pub activity: Option<String>,
    /// Flag it waits for.
    pub flag: Option<u32>,
    /// Address it polls.
    pub polls: Option<String>,
    /// Counters that are not 0.
    pub counters: BTreeMap<u32, usize>,
    /// In-block counters that are not 0.
    pub in_block_counters: BTreeMap<u32, usize>,
    /// Arrivals at rounds that are not complete.
    pub pending: BTreeMap<u32, usize>,
    /// Why it is where it is.
    pub why: Option<String>,
    /// What it has done.
    pub counts: Counts,
}

/// How often things happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    /// Flags raised.
    pub sets: u64,
    /// Flags waited for.
    pub waits: u64,
    /// Waits that had to block.
    pub blocked: u64,
    /// Cache maintenance calls.
    pub dcci: u64,
    /// `SyncAll` calls.
    pub sync_all: u64,
    /// `SetNextTaskStart` calls.
    pub set_next_task: u64,
    /// `WaitPreTaskEnd` calls.
    pub wait_pre_task: u64,
    /// Operators followed without running them (feed-sync-all).
    pub complements: u64,
    /// Code preloads.
    pub preloads: u64,
    /// Operators run.
    pub ops: u64,
    /// Bytes moved by DMA.
    pub moved_bytes: u64,
    /// Bytes processed by vector instructions.
    pub vector_bytes: u64,
}

impl Counts {
    /// Adds another core's counts.
    pub(crate) fn add(&mut self, other: &Self) {
        self.sets += other.sets;
        self.waits += other.waits;
        self.blocked += other.blocked;
        self.dcci += other.dcci;
        self.sync_all += other.sync_all;
        self.set_next_task += other.set_next_task;
        self.wait_pre_task += other.wait_pre_task;
        self.complements += other.complements;
        self.preloads += other.preloads;
        self.ops += other.ops;
        self.moved_bytes += other.moved_bytes;
        self.vector_bytes += other.vector_bytes;
    }
}

/// One event of the timeline. The worker hands over many of them: as lists, without names.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "EventRow", into = "EventRow")]
pub(crate) struct Event {
    /// When.
    pub step: u64,
    /// The core, or an agent.
    pub core: String,
    /// What happened.
    pub what: Happening,
    /// Name of the operator the core is in.
    pub op: Option<String>,
    /// More about it.
    pub detail: Option<String>,
    /// Position of that operator.
    pub position: Option<usize>,
    /// The core whose set ended a wait, and when that was.
    pub cause: Option<(String, u64)>,
}

/// An event as it is handed over.
#[derive(Serialize, Deserialize)]
struct EventRow(u64, String, Happening, Option<String>, Option<String>, Option<usize>, Option<(String, u64)>);

impl From<EventRow> for Event {
    fn from(EventRow(step, core, what, op, detail, position, cause): EventRow) -> Self {
        Self { step, core, what, op, detail, position, cause }
    }
}

impl From<Event> for EventRow {
    fn from(event: Event) -> Self {
        Self(event.step, event.core, event.what, event.op, event.detail, event.position, event.cause)
    }
}

named! {
    /// What an event tells.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    #[allow(missing_docs, reason = "their names, which users see, say it all")]
    pub(crate) enum Happening {
        OpBegin = "op-begin",
        OpEnd = "op-end",
        Failure = "failure",
        Agent = "agent",
        Set = "set",
        Blocked = "blocked",
        Waited = "waited",
        SyncAll = "sync-all",
        SyncAllEnd = "sync-all-end",
        SetNextTask = "set-next-task",
        WaitPreTask = "wait-pre-task",
        WaitPreTaskEnd = "wait-pre-task-end",
        Complement = "complement",
        ComplementEnd = "complement-end",
        Preload = "preload",
        Flush = "flush",
    }
}

/// An operator of the kernel that ran.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ReportedOp {
    /// Its name.
    pub name: String,
    /// Its stream, where known.
    pub stream: Option<i64>,
}

/// Two operators, or two cores of one, that share memory without an order between them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Hazard {
    /// The operator that comes first in the list.
    pub first: String,
    /// Its position.
    pub first_op: usize,
    /// The other one.
    pub second: String,
    /// Its position.
    pub second_op: usize,
    /// What they share.
    pub memory: String,
    /// `read after write`, `write after read`, `write after write`.
    pub conflict: Word,
    /// A core of the first operator ...
    pub first_core: String,
    /// ... that this core of the second did not wait for.
    pub second_core: String,
    /// Where in the source of the first, if that is known.
    pub first_site: Option<String>,
    /// Where in the source of the second.
    pub second_site: Option<String>,
    /// The whole story in one sentence.
    pub text: String,
}

impl Hazard {
    /// Its id in the documents.
    pub(crate) fn id(&self) -> &'static str {
        if self.tool() == Tool::Race { "SK0932" } else { "SK0919" }
    }

    /// Who looks for it.
    pub(crate) fn tool(&self) -> Tool {
        if self.first_op == self.second_op { Tool::Race } else { Tool::Order }
    }
}

/// One instruction, and when it would run: a rough model of the pipes, in cycles since the start of its core.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Work {
    /// `AIV3`.
    pub core: String,
    /// The operator.
    pub op: Option<String>,
    /// Its position.
    pub position: Option<usize>,
    /// The step of the run in which its core issued it.
    pub step: u64,
    /// The pipe.
    pub pipe: Word,
    /// The instruction.
    pub name: Word,
    /// When it starts.
    pub start: u64,
    /// How long it takes.
    pub cycles: u64,
    /// Bytes it writes.
    pub bytes: u64,
    /// Source line of the kernel, where known.
    pub file: Option<String>,
    /// Its number.
    pub line: Option<u32>,
}

/// An agent's part in the run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct AgentReport {
    /// Its name.
    pub name: String,
    /// How often it acted.
    pub acted: u32,
}

/// Everything about a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Report {
    /// How it ended.
    pub status: Status,
    /// What went wrong, in a few lines; empty if nothing.
    pub message: String,
    /// The first thing that went wrong.
    pub failure: Option<Failure>,
    /// Switching points passed; also the clock of the run.
    pub steps: u64,
    /// Times another core went on.
    pub switches: u64,
    /// Sums over all cores.
    pub counts: Counts,
    /// Core by core.
    pub cores: Vec<CoreReport>,
    /// The timeline.
    pub events: Vec<Event>,
    /// Events not kept because there were too many.
    pub events_dropped: u64,
    /// The operators of the kernel.
    pub ops: Vec<ReportedOp>,
    /// Races between operators and between cores.
    pub hazards: Vec<Hazard>,
    /// What was not checked, and why.
    pub unchecked: Vec<Unchecked>,
    /// Mistakes inside a core.
    pub findings: Vec<Finding>,
    /// How the pipes worked.
    pub pipes: PipesSpec,
    /// What scalar accesses met.
    pub cache: CacheSpec,
    /// Instructions in the order they were issued, if asked for; times are those of a model.
    pub instructions: Vec<Work>,
    /// Things worth a look.
    pub warnings: Vec<String>,
    /// Lines printed by the kernel, each with its core.
    pub output: Vec<String>,
    /// The agents.
    pub agents: Vec<AgentReport>,
}

/// Something that a run could not look at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unchecked {
    /// What, and why.
    pub text: String,
    /// The tools that miss something by it.
    pub tools: Vec<Tool>,
}

impl Report {
    /// Of a run that did not come back.
    pub(crate) fn lost(status: Status, message: String) -> Self {
        Self {
            status,
            message,
            failure: None,
            steps: 0,
            switches: 0,
            counts: Counts::default(),
            cores: Vec::new(),
            events: Vec::new(),
            events_dropped: 0,
            ops: Vec::new(),
            hazards: Vec::new(),
            unchecked: Vec::new(),
            findings: Vec::new(),
            pipes: PipesSpec::default(),
            cache: CacheSpec::default(),
            instructions: Vec::new(),
            warnings: Vec::new(),
            output: Vec::new(),
            agents: Vec::new(),
        }
    }

    /// Id of the error that it is, and what to do about it; `None`: all went well.
    pub(crate) fn error(&self) -> Option<(&'static str, &'static str)> {
        let (id, solution) = self.status.error()?;
        Some((self.first_mistake().map_or(id, |(id, _)| id), solution))
    }

    /// Who looks for what went wrong first.
    pub(crate) fn tool(&self) -> Tool {
        let by_status = match self.status {
            Status::Api | Status::Crash | Status::Overrun | Status::NullCall => Tool::Bounds,
            Status::Ok
            | Status::Deadlock
            | Status::Overflow
            | Status::Leak
            | Status::Trap
            | Status::Assert
            | Status::StepLimit
            | Status::Timeout
            | Status::Hazard
            | Status::Agent
            | Status::Pipe
            | Status::Cache => Tool::Order,
        };
        self.first_mistake().map_or(by_status, |(_, tool)| tool)
    }

    /// What did not end the run by itself, if that is what it failed by: its id, and who looks for it.
    fn first_mistake(&self) -> Option<(&'static str, Tool)> {
        match self.status {
            Status::Hazard => self.hazards.first().map(|hazard| (hazard.id(), hazard.tool())),
            Status::Pipe | Status::Cache => self.findings.first().map(|it| (it.kind.id(), it.kind.tool())),
            Status::Ok
            | Status::Deadlock
            | Status::Overflow
            | Status::Leak
            | Status::Trap
            | Status::Assert
            | Status::Api
            | Status::NullCall
            | Status::Crash
            | Status::StepLimit
            | Status::Timeout
            | Status::Agent
            | Status::Overrun => None,
        }
    }
}
