//! The driver: whose turn it is, when agents act, and when a run has gone on for too long.

use super::agents::Agents;
use super::schedule::Scheduler;
use crate::model::OpPosition;
use crate::sim::interface::request::{DelayPoint, DelaySpec, Request};
use crate::sim::machine::clock::Clock;
use crate::sim::machine::state::{Core, Machine, Poll, Progress};
use crate::sim::machine::topology::CoreIndex;

/// Everything that decides how a run goes on.
pub(crate) struct Driver {
    /// Who goes on next.
    pub(crate) scheduler: Scheduler,
    /// Parties outside the kernel.
    pub(crate) agents: Agents,
    /// What each agent knows.
    pub(crate) agent_clocks: Vec<Clock>,
    /// Cores still to be held back.
    delays: Vec<(CoreIndex, DelaySpec)>,
    /// Switching points so far: the clock of the run.
    pub(crate) steps: u64,
    /// Times another core went on.
    pub(crate) switches: u64,
    /// Counts anything but repeated polling.
    pub(crate) activity: u64,
    /// Looks of polling cores since anything else happened.
    idle: u64,
    step_limit: u64,
    poll_limit: u64,
}

/// Whose turn it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// This agent's.
    Agent(usize),
    /// This core's.
    Core(CoreIndex),
    /// Nobody's: all have finished.
    Over,
    /// Nobody's: the rest can never go on.
    Deadlock,
}

impl Driver {
    /// At the start of a run. `width`: parties that carry clocks.
    pub(crate) fn new(
        request: &Request,
        agents: Agents,
        delays: Vec<(CoreIndex, DelaySpec)>,
        cores: usize,
        width: usize,
    ) -> Self {
        Self {
            scheduler: Scheduler::new(&request.schedule, cores),
            agent_clocks: vec![Clock::new(width); agents.len()],
            agents,
            delays,
            steps: 0,
            switches: 0,
            activity: 0,
            idle: 0,
            step_limit: request.step_limit,
            poll_limit: request.poll_limit,
        }
    }

    /// One switching point; says why there may be no more.
    pub(crate) fn step(&mut self) -> Result<(), String> {
        self.steps += 1;
        if self.steps > self.step_limit {
            return Err(format!("the run passed its limit of {} steps", self.step_limit));
        }
        Ok(())
    }

    /// Something other than repeated polling happened.
    pub(crate) fn active(&mut self) {
        self.activity += 1;
    }

    /// A core has ended.
    pub(crate) fn core_ended(&mut self) {
        self.activity += 1;
        self.idle = 0;
    }

    /// The step until which a core is held back at this point, if a delay says so.
    pub(crate) fn delay(&mut self, core: CoreIndex, op: Option<OpPosition>, point: DelayPoint) -> Option<u64> {
        let matches = |(delayed, delay): &(CoreIndex, DelaySpec)| {
            let wanted = delay.op.map(|op| OpPosition::at(op as usize));
            *delayed == core && delay.at == point && (wanted.is_none() || wanted == op)
        };
        let found = self.delays.iter().position(matches)?;
        let (_, delay) = self.delays.remove(found);
        Some(self.steps + delay.steps)
    }

    /// Lets time pass until an agent or a core can go on.
    pub(crate) fn next_turn(&mut self, machine: &Machine) -> Turn {
        loop {
            if let Some(agent) = self.next_agent() {
                return Turn::Agent(agent);
            }
            let (activity, steps) = (self.activity, self.steps);
            let can_go = |core: CoreIndex| can_go(&machine.cores[core], activity, steps);
            if let Some(core) = self.scheduler.pick(machine.cores.len(), can_go) {
                self.idle = 0;
                return Turn::Core(core);
            }
            if machine.cores.iter().all(|core| core.progress == Progress::Finished) {
                return Turn::Over;
            }
            match self.next_time(machine) {
                Some(later) => self.steps = self.steps.max(later),
                None => return self.next_poller(machine),
            }
        }
    }

    fn next_agent(&mut self) -> Option<usize> {
        if self.agents.is_empty() { None } else { self.agents.look(self.steps) }
    }

    /// The next moment at which something happens by itself.
    fn next_time(&self, machine: &Machine) -> Option<u64> {
        let delayed = machine.cores.iter().filter_map(|core| match core.progress {
            Progress::Delayed(until) => Some(until),
            Progress::Ready | Progress::Flag(_) | Progress::InBlock(_) | Progress::Finished => None,
        });
        delayed.chain(self.agents.next_due()).min()
    }

    /// Nobody else can go on: polling cores look again, in turn, a limited number of times. A loop with a bounded
    /// number of tries gets its chance to give up.
    fn next_poller(&mut self, machine: &Machine) -> Turn {
        let is_polling = |core: &CoreIndex| machine.cores[*core].progress == Progress::Ready;
        let pollers: Vec<CoreIndex> = machine.indices().filter(is_polling).collect();
        if pollers.is_empty() || self.idle >= self.poll_limit * pollers.len() as u64 {
            return Turn::Deadlock;
        }
        let chosen = pollers[(self.idle % pollers.len() as u64) as usize];
        self.idle += 1;
        Turn::Core(chosen)
    }
}

/// Can this core go on, as far as anybody can tell?
fn can_go(core: &Core, activity: u64, steps: u64) -> bool {
    match core.progress {
        Progress::Ready => match &core.poll {
            None => true,
            Some(Poll::Line(view, seen)) => !view.is(seen),
            Some(Poll::Whole(seen) | Poll::Stare(seen, _)) => activity != *seen,
        },
        Progress::Delayed(until) => steps >= until,
        Progress::Flag(_) | Progress::InBlock(_) | Progress::Finished => false,
    }
}
