//! Turns the state of a run into its report: who waits for what, and why.

use std::ffi::CStr;

use super::report::{CoreReport, Counts, Failure, Report, Status};
use super::run::{Poll, Progress, Run};
use super::topology::CoreIndex;
use crate::model::CoreKind;

/// Names listed before "and n more".
const NAMES: usize = 6;

impl Run {
    /// Nobody can go on.
    pub fn report_deadlock(&mut self) {
        let stuck: Vec<CoreIndex> =
            (0..self.cores.len()).filter(|&core| self.cores[core].progress != Progress::Finished).collect();
        let finished = self.cores.len() - stuck.len();
        let mut text = format!("{} of {} cores can never go on", stuck.len(), self.cores.len());
        if finished > 0 {
            text.push_str(&format!(" ({finished} have finished)"));
        }
        let failure = Failure { core: None, op: None, text, file: None, line: None };
        self.failure.get_or_insert((Status::Deadlock, failure));
    }

    /// The report of a run that has ended.
    pub fn report(mut self: Box<Self>) -> Report {
        for core in 0..self.partial_output.len() {
            if !self.partial_output[core].is_empty() {
                self.current = core;
                self.print("\n");
            }
        }
        let hazards = match &self.order {
            Some(order) => order.hazards(&self.request.ops, &self.memory, &self.topology),
            None => Vec::new(),
        };
        if let Some(order) = &self.order
            && !order.unwatched().is_empty()
        {
            let names: Vec<_> = order.unwatched().iter().map(|&at| self.memory.buffers()[at].name.clone()).collect();
            self.warnings.push(format!(
                "order checking takes these large buffers as never written, unless the access is declared: {}",
                names.join(", ")
            ));
        }
        self.pipe_event_warnings();
        let mut counts = Counts::default();
        for core in &self.cores {
            counts.add(&core.counts);
        }
        let (status, failure) = match self.failure.take() {
            Some((status, failure)) => (status, Some(failure)),
            None => self.quiet_failures(&hazards),
        };
        let cores: Vec<CoreReport> = (0..self.cores.len()).map(|core| self.core_report(core, status)).collect();
        let message = self.message(status, failure.as_ref(), &cores, &hazards);
        Report {
            status,
            message,
            failure,
            steps: self.steps,
            switches: self.switches,
            counts,
            cores,
            hazards,
            agents: self.agents.reports(),
            events: self.events,
            events_dropped: self.events_dropped,
            warnings: self.warnings,
            output: self.output,
        }
    }

    /// All cores finished; is something left behind?
    fn quiet_failures(&self, hazards: &[super::report::Hazard]) -> (Status, Option<Failure>) {
        let failure = |core: Option<CoreIndex>, text: String| {
            Some(Failure { core: core.map(|core| self.topology.name(core)), op: None, text, file: None, line: None })
        };
        for core in 0..self.cores.len() {
            let name = self.topology.name(core);
            if let Some((flag, value)) = self.left_raised(core) {
                let text = format!("flag {flag} of {name} is still raised {value} times at the end: a wait is missing");
                return (Status::Leak, failure(Some(core), text));
            }
            if let Some((flag, value)) = self.flags.raised_in_block(core).first() {
                let text = format!(
                    "in-block flag {flag} of {name} is still raised {value} times at the end: a wait is missing"
                );
                return (Status::Leak, failure(Some(core), text));
            }
            if let Some((flag, value)) = self.flags.pending(core).first() {
                let text = format!(
                    "{value} sets of flag {flag} by {name} are still pending at the end: other cores never set it"
                );
                return (Status::Leak, failure(Some(core), text));
            }
        }
        let silent = self.agents.missing();
        if !silent.is_empty() {
            return (
                Status::Agent,
                failure(None, format!("what it waits for never happened: agent {}", silent.join(", "))),
            );
        }
        match hazards.first() {
            Some(hazard) => (Status::Hazard, failure(Some(0), hazard.text.clone())),
            None => (Status::Ok, None),
        }
    }

    /// The first counter that is not 0. A sub-kernel that ran alone may leave the flag by which it starts the next
    /// operator: there is none that would wait for it.
    fn left_raised(&self, core: CoreIndex) -> Option<(u32, usize)> {
        let early_start_flag = match self.topology.place(core).kind {
            CoreKind::Aic => 11,
            CoreKind::Aiv => 14,
        };
        let expected = if self.request.args_offset.is_some() { self.cores[core].counts.set_next_task } else { 0 };
        let expected = |flag: u32| if flag == early_start_flag { expected as usize } else { 0 };
        self.flags.raised(core).into_iter().find(|&(flag, value)| value > expected(flag))
    }

    fn pipe_event_warnings(&mut self) {
        for core in 0..self.cores.len() {
            if let Some(((source, target, id), raised)) =
                self.cores[core].pipe_events.iter().find(|(_, raised)| *raised > 0)
            {
                let warning = format!(
                    "{}: SetFlag from pipe {source} to pipe {target}, event {id}, has {raised} sets without a WaitFlag",
                    self.topology.name(core)
                );
                self.warnings.push(warning);
                return;
            }
        }
    }

    fn core_report(&self, index: CoreIndex, status: Status) -> CoreReport {
        let core = &self.cores[index];
        let place = self.topology.place(index);
        let (state, flag) = match core.progress {
            _ if core.failed => ("failed", None),
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
            (Some(Poll::Line(..)), Some(last)) if state == "polling" => Some(self.memory.describe(last.address)),
            (Some(_), _) if state == "polling" => Some("global memory".to_owned()),
            _ => None,
        };
        CoreReport {
            core: self.topology.name(index),
            kind: match place.kind {
                CoreKind::Aic => "aic",
                CoreKind::Aiv => "aiv",
            },
            block: place.block,
            sub_block: place.sub_block,
            state,
            op: self.op_of(index),
            last_op: core.last_op.map(|op| self.op_name(op)),
            activity,
            flag,
            why: (status == Status::Deadlock).then(|| self.why(index, polls.as_deref())).flatten(),
            polls,
            counters: self.flags.raised(index).into_iter().collect(),
            in_block_counters: self.flags.raised_in_block(index).into_iter().collect(),
            pending: self.flags.pending(index).into_iter().collect(),
            counts: core.counts,
        }
    }

    /// What would have to happen before a stuck core can go on.
    fn why(&self, index: CoreIndex, polls: Option<&str>) -> Option<String> {
        match self.cores[index].progress {
            Progress::Flag(flag) => {
                let missing = self.flags.missing_for(index, flag);
                if missing.is_empty() {
                    return Some(format!("waits for flag {flag}, which nobody sets"));
                }
                let others: Vec<String> = missing.iter().map(|&core| self.whereabouts(core)).collect();
                Some(format!("waits for flag {flag}; not set by {}", list(&others)))
            }
            Progress::InBlock(id) => {
                Some(format!("waits for in-block flag {id}, which its partner in the block does not set"))
            }
            Progress::Ready => polls.map(|what| format!("polls {what}, which nobody changes")),
            Progress::Delayed(_) | Progress::Finished => None,
        }
    }

    /// `AIV3 (finished)`, `AIC0 (waiting for flag 12 in op 2 `add`)`.
    fn whereabouts(&self, core: CoreIndex) -> String {
        let doing = match self.cores[core].progress {
            Progress::Finished => "finished".to_owned(),
            Progress::Flag(flag) => format!("waiting for flag {flag}"),
            Progress::InBlock(id) => format!("waiting for in-block flag {id}"),
            Progress::Ready | Progress::Delayed(_) => "polling".to_owned(),
        };
        match self.op_of(core) {
            Some(op) => format!("{} ({doing} in {op})", self.topology.name(core)),
            None => format!("{} ({doing})", self.topology.name(core)),
        }
    }

    fn message(
        &self,
        status: Status,
        failure: Option<&Failure>,
        cores: &[CoreReport],
        hazards: &[super::report::Hazard],
    ) -> String {
        let Some(failure) = failure else { return String::new() };
        let mut lines = Vec::new();
        let mut head = failure.text.clone();
        if let (Some(core), true) = (&failure.core, status != Status::Hazard && status != Status::Leak) {
            head = format!("{core}{}: {head}", failure.op.as_ref().map(|op| format!(" in {op}")).unwrap_or_default());
        }
        if let (Some(file), Some(line)) = (&failure.file, failure.line) {
            head.push_str(&format!(" ({file}:{line})"));
        }
        lines.push(head);
        match status {
            Status::Deadlock => lines.extend(deadlock_lines(cores)),
            Status::Hazard => lines.extend(hazards.iter().skip(1).map(|hazard| hazard.text.clone())),
            Status::Ok
            | Status::Overflow
            | Status::Leak
            | Status::Trap
            | Status::Assert
            | Status::Api
            | Status::NullCall
            | Status::Crash
            | Status::StepLimit
            | Status::Agent => {}
        }
        lines.join("\n")
    }
}

/// One line per core, neighbours in the same situation taken together.
fn deadlock_lines(cores: &[CoreReport]) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for core in cores.iter().filter(|core| core.state != "finished") {
        let mut story = core.why.clone().unwrap_or_else(|| core.state.to_owned());
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
