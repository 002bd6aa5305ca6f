//! Turns the state of a run into its report: who waits for what, and why.

use std::ffi::CStr;

use super::hazards::Words;
use crate::aicore::Pipe;
use crate::model::CoreKind;
use crate::sim::drive::driver::Driver;
use crate::sim::interface::findings::{Finding, FindingKind};
use crate::sim::interface::report::{CoreReport, Counts, Hazard, Report, ReportedOp, Unchecked};
use crate::sim::interface::request::Request;
use crate::sim::interface::status::{Failure, Status};
use crate::sim::interface::tools::{self, Tool};
use crate::sim::machine::state::{Machine, Poll, Progress};
use crate::sim::machine::topology::CoreIndex;
use crate::sim::services::run::Run;
use crate::sim::watch::observer::Observer;

/// Names listed before "and n more".
const NAMES: usize = 6;

impl Observer {
    /// Nobody can go on.
    pub(crate) fn deadlock(&mut self, machine: &Machine) {
        let stuck = machine.cores.iter().filter(|core| core.progress != Progress::Finished).count();
        let finished = machine.cores.len() - stuck;
        let mut text = format!("{stuck} of {} cores can never go on", machine.cores.len());
        if finished > 0 {
            text.push_str(&format!(" ({finished} have finished)"));
        }
        if let Some(cause) = self.partial_sync_all(machine) {
            text.push_str(&format!(": {cause}"));
        }
        let failure = Failure { core: None, op: None, text, file: None, line: None, function: None };
        self.failure.get_or_insert((Status::Deadlock, failure));
    }

    /// The most frequent cause: an operator called `SyncAll` while cores of its kind passed it by, and did not follow.
    fn partial_sync_all(&self, machine: &Machine) -> Option<String> {
        self.sync_alls.iter().find_map(|(&op, callers)| {
            let passed = |core: CoreIndex| {
                let watched = &self.cores[core];
                let is_behind = machine.cores[core].progress == Progress::Finished
                    || (watched.last_op.is_some_and(|last| last >= op) && watched.ops.last() != Some(&op));
                is_behind && watched.counts.complements == 0 && !callers.contains(&core)
            };
            let kind = CoreKind::BOTH.into_iter().find(|kind| {
                let mut members = machine.topology.of_kind(*kind);
                members.clone().any(|core| callers.contains(&core)) && members.any(passed)
            })?;
            let members = machine.topology.of_kind(kind);
            let (calling, all) = (members.clone().filter(|core| callers.contains(core)).count(), members.len());
            Some(format!(
                "{} calls SyncAll on {calling} of {all} {kind} cores, and SyncAll waits for all of them; compile with \
                 feed-sync-all=1, or build the operator for all cores",
                self.op_name(op)
            ))
        })
    }
}

/// The report of a run that has ended.
pub(crate) fn report(run: Run) -> Report {
    let Run { machine, mut observer, driver, request, .. } = run;
    observer.finish_lines();
    let mut hazards = Vec::new();
    if let Some(order) = &observer.order {
        let (ops, sites) = (&observer.ops, &observer.sites);
        let words = Words { ops, memory: &machine.memory, topology: &machine.topology, sites };
        hazards = words.hazards(order);
        hazards.retain(|hazard| request.tools.contains(&hazard.tool()));
        let missing = order.missing_writes();
        let missing = missing.iter().map(|&(op, address)| {
            let memory = machine.memory.describe(address);
            format!("{} is declared to write {memory}, but was not seen writing there", observer.op_name(op))
        });
        let missing: Vec<String> = missing.collect();
        observer.warnings.extend(missing);
    }
    let unchecked = unchecked(&observer, &machine, &request);
    observer.warnings.extend(pipe_event_warning(&machine));
    let idle = observer.idle().into_iter().map(|op| {
        format!(
            "{} issued no instruction and touched no global memory on any core: macros may have cut its code out, or no \
             TILING_KEY_IS names its tiling key",
            observer.op_name(op)
        )
    });
    let idle: Vec<String> = idle.collect();
    observer.warnings.extend(idle);
    let mut counts = Counts::default();
    for core in &observer.cores {
        counts.add(&core.counts);
    }
    let ended = observer.failure.take();
    let mut findings = std::mem::take(&mut observer.findings).into_findings();
    findings.retain(|finding| finding.kind.is_wanted(&request.tools));
    // What stayed in a cache was never written for others: the cause comes first.
    findings.sort_by_key(|finding| finding.kind == FindingKind::NeverWritten);
    let end = End { machine: &machine, observer: &observer, driver: &driver, is_alone: request.args_offset.is_some() };
    let (status, failure) = match ended {
        Some((status, failure)) => (status, Some(failure)),
        None => end.quiet_failures(&hazards, &findings),
    };
    let cores: Vec<CoreReport> = machine.indices().map(|core| end.core_report(core, status)).collect();
    let message = message(status, failure.as_ref(), &cores, &hazards, &findings);
    Report {
        status,
        message,
        failure,
        steps: driver.steps,
        switches: driver.switches,
        counts,
        cores,
        hazards,
        findings,
        pipes: request.pipes,
        unchecked,
        cache: request.cache,
        instructions: observer.instructions,
        agents: driver.agents.reports(),
        ops: request.ops.iter().map(|op| ReportedOp { name: op.name.clone(), stream: op.stream }).collect(),
        events: observer.events,
        events_dropped: observer.events_dropped,
        warnings: observer.warnings,
        output: observer.output,
    }
}

/// What was not checked, and why.
fn unchecked(observer: &Observer, machine: &Machine, request: &Request) -> Vec<Unchecked> {
    let between = [Tool::Order, Tool::Race];
    let missed = |tools: &[Tool], text: String| Unchecked { text, tools: tools.to_vec() };
    let Some(order) = &observer.order else {
        let why = if request.check_order { "the kernel's operators are not known" } else { "check_order is off" };
        return vec![missed(&between, format!("order of accesses ({why})"))];
    };
    let limits = order.limits();
    let mut unchecked = Vec::new();
    if !limits.unseen.is_empty() {
        let ops: Vec<String> = limits.unseen.iter().map(|&op| observer.op_name(op)).collect();
        // Operators as a whole are looked at all the same.
        let inside: Vec<Tool> = tools::all().into_iter().filter(|tool| *tool != Tool::Order).collect();
        unchecked.push(missed(&inside, format!("scalar accesses of {} (built without hooks for them)", list(&ops))));
    }
    if !limits.unwatched.is_empty() {
        let name = |&at: &usize| format!("`{}`", machine.memory.buffers()[at].name);
        let names: Vec<String> = limits.unwatched.iter().map(name).collect();
        let text = format!("their stores to {} (too large to compare; declare the accesses)", list(&names));
        unchecked.push(missed(&between, text));
    }
    let idle: Vec<String> = observer.idle().into_iter().map(|op| observer.op_name(op)).collect();
    if !idle.is_empty() {
        let text = format!("anything of {}, of which no core issued an instruction", list(&idle));
        unchecked.push(missed(&tools::all(), text));
    }
    if limits.is_full {
        unchecked.push(missed(&between, "accesses after the first 4 million pieces of memory".to_owned()));
    }
    unchecked
}

fn pipe_event_warning(machine: &Machine) -> Option<String> {
    machine.indices().find_map(|core| {
        let events = &machine.cores[core].pipe_events;
        let ((set, source, target, id), raised) = events.iter().find(|(_, raised)| *raised > 0)?;
        Some(format!(
            "{}: {} from {} to {}, event {id}, has {raised} sets without a {}",
            machine.name(core),
            set.set_name(),
            Pipe::name_of(*source),
            Pipe::name_of(*target),
            set.wait_name()
        ))
    })
}

/// A run at its end.
struct End<'a> {
    machine: &'a Machine,
    observer: &'a Observer,
    driver: &'a Driver,
    /// A sub-kernel without a super kernel around it.
    is_alone: bool,
}

impl End<'_> {
    /// All cores finished; is something left behind?
    fn quiet_failures(&self, hazards: &[Hazard], findings: &[Finding]) -> (Status, Option<Failure>) {
        let failure = |core: Option<CoreIndex>, text: String| {
            let core = core.map(|core| self.machine.name(core));
            Some(Failure { core, op: None, text, file: None, line: None, function: None })
        };
        for core in self.machine.indices() {
            let name = self.machine.name(core);
            if let Some((flag, value)) = self.left_raised(core) {
                let text = format!("flag {flag} of {name} is still raised {value} times at the end: a wait is missing");
                return (Status::Leak, failure(Some(core), text));
            }
            if let Some((flag, value)) = self.machine.flags.raised_in_block(core).first() {
                let text = format!(
                    "in-block flag {flag} of {name} is still raised {value} times at the end: a wait is missing"
                );
                return (Status::Leak, failure(Some(core), text));
            }
            if let Some((flag, value)) = self.machine.flags.pending(core).first() {
                let text = format!(
                    "{value} sets of flag {flag} by {name} are still pending at the end: other cores never set it"
                );
                return (Status::Leak, failure(Some(core), text));
            }
        }
        let silent = self.driver.agents.missing();
        if !silent.is_empty() {
            return (
                Status::Agent,
                failure(None, format!("what it waits for never happened: agent {}", silent.join(", "))),
            );
        }
        match hazards.first() {
            Some(hazard) => (Status::Hazard, failure(Some(0), hazard.text.clone())),
            None => match findings.first() {
                Some(finding) => (finding.kind.status(), Some(finding.failure())),
                None => (Status::Ok, None),
            },
        }
    }

    /// The first counter that is not 0. A sub-kernel that ran alone may leave the flag by which it starts the next
    /// operator: there is none that would wait for it.
    fn left_raised(&self, core: CoreIndex) -> Option<(u32, usize)> {
        let early_start_flag = match self.machine.topology.place(core).kind {
            CoreKind::Aic => 11,
            CoreKind::Aiv => 14,
        };
        let expected = if self.is_alone { self.observer.cores[core].counts.set_next_task } else { 0 };
        let expected = |flag: u32| if flag == early_start_flag { expected as usize } else { 0 };
        self.machine.flags.raised(core).into_iter().find(|&(flag, value)| value > expected(flag))
    }

    fn core_report(&self, index: CoreIndex, status: Status) -> CoreReport {
        let (core, watched) = (&self.machine.cores[index], &self.observer.cores[index]);
        let place = self.machine.topology.place(index);
        let (state, flag) = match core.progress {
            _ if watched.failed => ("failed", None),
            Progress::Ready if core.poll.is_some() => ("polling", None),
            Progress::Ready => ("ready", None),
            Progress::Flag(flag) => ("waiting", Some(flag)),
            Progress::InBlock(id) => ("waiting", Some(id)),
            Progress::Delayed(_) => ("delayed", None),
            Progress::Finished => ("finished", None),
        };
        // SAFETY: the header stores literals of the kernel's library here, which is still loaded.
        let activity = (!core.state.activity.is_null())
            .then(|| unsafe { CStr::from_ptr(core.state.activity) }.to_string_lossy().into_owned());
        let polls = match (&core.poll, &core.last_flush) {
            (Some(Poll::Line(..)), Some(last)) if state == "polling" => {
                Some(self.machine.memory.describe(last.address))
            }
            (Some(Poll::Stare(_, address)), _) if state == "polling" => Some(self.machine.memory.describe(*address)),
            (Some(_), _) if state == "polling" => Some("global memory".to_owned()),
            _ => None,
        };
        CoreReport {
            core: self.machine.name(index),
            kind: place.kind.as_str().into(),
            block: place.block,
            sub_block: place.sub_block,
            state: state.into(),
            op: self.observer.op_of(index),
            last_op: watched.last_op.map(|op| self.observer.op_name(op)),
            activity,
            flag,
            why: (status == Status::Deadlock).then(|| self.why_and_where(index, polls.as_deref())).flatten(),
            polls,
            counters: self.machine.flags.raised(index).into_iter().collect(),
            in_block_counters: self.machine.flags.raised_in_block(index).into_iter().collect(),
            pending: self.machine.flags.pending(index).into_iter().collect(),
            counts: watched.counts,
        }
    }

    /// The same with the line, where it is known. The super kernel's own waits are no line of the user's.
    fn why_and_where(&self, index: CoreIndex, polls: Option<&str>) -> Option<String> {
        let why = self.why(index, polls)?;
        let inside = self.observer.op_of(index).is_some();
        let site = self.observer.sites.resolve(self.machine.cores[index].stays_at).filter(|_| inside);
        Some(match site {
            Some((file, line)) => format!("{why} ({file}:{line})"),
            None => why,
        })
    }

    /// What would have to happen before a stuck core can go on.
    fn why(&self, index: CoreIndex, polls: Option<&str>) -> Option<String> {
        match self.machine.cores[index].progress {
            Progress::Flag(flag) => {
                let missing = self.machine.flags.missing_for(index, flag);
                if missing.is_empty() {
                    let others = self.setters(index).map(|who| format!("; in mode 2 {who} would")).unwrap_or_default();
                    return Some(format!("waits for flag {flag}, which no core sets{others}"));
                }
                let others: Vec<String> = missing.iter().map(|&core| self.whereabouts(core)).collect();
                Some(format!("waits for flag {flag}; not set by {}", list(&others)))
            }
            Progress::InBlock(id) => {
                Some(format!("waits for in-block flag {id}, which its partner in the block does not set"))
            }
            Progress::Ready => polls.map(|what| match self.machine.cores[index].poll {
                Some(Poll::Stare(..)) => format!("reads {what} again and again without a `dcci`, and nothing changes"),
                Some(Poll::Line(..) | Poll::Whole(_)) | None => format!("polls {what}, which no core changes"),
            }),
            Progress::Delayed(_) | Progress::Finished => None,
        }
    }

    /// Who sets flags for a core inside of its block.
    fn setters(&self, index: CoreIndex) -> Option<String> {
        let topology = &self.machine.topology;
        let place = topology.place(index);
        let cube = topology.cube_of(place.block)?;
        match place.kind {
            CoreKind::Aiv => Some(self.whereabouts(cube)),
            CoreKind::Aic => {
                let vectors: Vec<String> =
                    topology.vectors_of(place.block).map(|core| self.whereabouts(core)).collect();
                (!vectors.is_empty()).then(|| list(&vectors))
            }
        }
    }

    /// `AIV3 (finished)`, `AIC0 (waiting for flag 12 in op 2 `add`)`.
    fn whereabouts(&self, core: CoreIndex) -> String {
        let doing = match self.machine.cores[core].progress {
            Progress::Finished => "finished".to_owned(),
            Progress::Flag(flag) => format!("waiting for flag {flag}"),
            Progress::InBlock(id) => format!("waiting for in-block flag {id}"),
            Progress::Ready | Progress::Delayed(_) => "polling".to_owned(),
        };
        match self.observer.op_of(core) {
            Some(op) => format!("{} ({doing} in {op})", self.machine.name(core)),
            None => format!("{} ({doing})", self.machine.name(core)),
        }
    }
}

fn message(
    status: Status,
    failure: Option<&Failure>,
    cores: &[CoreReport],
    hazards: &[Hazard],
    findings: &[Finding],
) -> String {
    let Some(failure) = failure else { return String::new() };
    let mut lines = Vec::new();
    let mut head = failure.text.clone();
    if let (Some(core), true) = (&failure.core, status != Status::Hazard && status != Status::Leak) {
        head = format!("{core}{}: {head}", failure.op.as_ref().map(|op| format!(" in {op}")).unwrap_or_default());
    }
    if let Some(function) = &failure.function {
        head.push_str(&format!(", in `{function}`"));
    }
    if let (Some(file), Some(line)) = (&failure.file, failure.line) {
        head.push_str(&format!(" ({file}:{line})"));
    }
    lines.push(head);
    match status {
        Status::Deadlock => lines.extend(deadlock_lines(cores)),
        Status::Hazard => lines.extend(hazards.iter().skip(1).map(|hazard| hazard.text.clone())),
        Status::Pipe | Status::Cache => lines.extend(findings.iter().skip(1).map(|finding| finding.text.clone())),
        Status::Ok
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
        | Status::Overrun => {}
    }
    lines.join("\n")
}

/// One line per core, neighbours in the same situation taken together.
fn deadlock_lines(cores: &[CoreReport]) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for core in cores.iter().filter(|core| core.state != "finished") {
        let mut story = core.why.clone().unwrap_or_else(|| core.state.to_string());
        if let Some(activity) = &core.activity {
            story.push_str(&format!(", in {activity}"));
        }
        if let Some(op) = &core.op {
            story.push_str(&format!(", inside {op}"));
        } else if let Some(op) = &core.last_op {
            story.push_str(&format!(", after {op}"));
        }
        match groups.iter_mut().find(|(known, _)| *known == story) {
            Some((_, names)) => names.push(core.core.clone()),
            None => groups.push((story, vec![core.core.clone()])),
        }
    }
    groups.into_iter().map(|(story, names)| format!("  {}: {story}", list(&names))).collect()
}

fn list(names: &[String]) -> String {
    if names.len() <= NAMES {
        return names.join(", ");
    }
    format!("{} and {} more", names[..NAMES].join(", "), names.len() - NAMES)
}
