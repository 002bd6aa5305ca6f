//! Host agents: AICPU tiling, partners of notify and wait, anybody who acts on global memory beside the kernel.

use crate::sim::interface::error::SimError;
use crate::sim::interface::report::AgentReport;
use crate::sim::interface::request::{AgentSpec, Trigger};
use crate::sim::machine::memory::GlobalMemory;

/// The agents of a run.
#[derive(Debug)]
pub(crate) struct Agents {
    agents: Vec<Agent>,
}

#[derive(Debug)]
struct Agent {
    spec: AgentSpec,
    /// Position of the agent it follows.
    follows: Option<usize>,
    /// The step at which it writes, once its trigger was seen.
    due: Option<u64>,
    acted: u32,
}

impl Agents {
    /// Checks the agents against the buffers they write.
    pub(crate) fn new(specs: &[AgentSpec], memory: &GlobalMemory) -> Result<Self, SimError> {
        let mut agents = Vec::with_capacity(specs.len());
        for spec in specs {
            let problem = |problem: String| SimError::Argument { kernel: format!("agent {}", spec.name), problem };
            for write in &spec.writes {
                if !memory.holds(write.address, write.bytes.len() as u64) {
                    return Err(problem(format!("it writes to {:#x}, which is in no buffer", write.address)));
                }
            }
            let follows = match &spec.when {
                Trigger::Agent(name) => Some(
                    specs
                        .iter()
                        .position(|other| other.name == *name)
                        .ok_or_else(|| problem(format!("it follows `{name}`, which does not exist")))?,
                ),
                Trigger::Word { address, .. } => {
                    if !memory.holds(*address, 8) {
                        return Err(problem(format!("it watches {address:#x}, which is in no buffer")));
                    }
                    None
                }
                Trigger::Start | Trigger::Step(_) => None,
            };
            agents.push(Agent { spec: spec.clone(), follows, due: None, acted: 0 });
        }
        Ok(Self { agents })
    }

    /// Is there nothing left that an agent might do?
    pub(crate) fn is_empty(&self) -> bool {
        self.agents.is_empty()
    }

    /// Number of agents.
    pub(crate) fn len(&self) -> usize {
        self.agents.len()
    }

    /// Looks at all triggers. Agents whose time has come are returned for [`Agents::act`].
    pub(crate) fn look(&mut self, step: u64) -> Option<usize> {
        for at in 0..self.agents.len() {
            let followed = self.agents[at].follows.map(|other| self.agents[other].acted);
            let agent = &mut self.agents[at];
            if agent.acted >= agent.spec.times {
                continue;
            }
            if agent.due.is_none() && triggered(agent, step, followed) {
                agent.due = Some(step + agent.spec.delay);
            }
            if agent.due.is_some_and(|due| due <= step) {
                return Some(at);
            }
        }
        None
    }

    /// The next step at which an agent acts, if one is only waiting for its time.
    pub(crate) fn next_due(&self) -> Option<u64> {
        let waiting = self.agents.iter().filter(|agent| agent.acted < agent.spec.times);
        waiting
            .filter_map(|agent| {
                agent.due.or(match agent.spec.when {
                    Trigger::Step(step) => Some(step),
                    Trigger::Start | Trigger::Word { .. } | Trigger::Agent(_) => None,
                })
            })
            .min()
    }

    /// Carries out the writes of an agent; returns the addresses written.
    pub(crate) fn act(&mut self, at: usize) -> Vec<u64> {
        let agent = &mut self.agents[at];
        agent.acted += 1;
        agent.due = None;
        for write in &agent.spec.writes {
            // SAFETY: `new` checked that the bytes lie in a buffer of this launch; no kernel code runs now.
            unsafe {
                std::ptr::copy_nonoverlapping(write.bytes.as_ptr(), write.address as *mut u8, write.bytes.len());
            }
        }
        agent.spec.writes.iter().map(|write| write.address).collect()
    }

    /// The word an agent was waiting for: what it has heard of.
    pub(crate) fn watched(&self, at: usize) -> Option<u64> {
        match self.agents[at].spec.when {
            Trigger::Word { address, .. } => Some(address),
            Trigger::Start | Trigger::Step(_) | Trigger::Agent(_) => None,
        }
    }

    /// The name of an agent.
    pub(crate) fn name(&self, at: usize) -> &str {
        &self.agents[at].spec.name
    }

    /// Agents that had to act and never did.
    pub(crate) fn missing(&self) -> Vec<String> {
        let silent = self.agents.iter().filter(|agent| agent.spec.required && agent.acted == 0);
        silent.map(|agent| agent.spec.name.clone()).collect()
    }

    /// How often each acted.
    pub(crate) fn reports(&self) -> Vec<AgentReport> {
        self.agents.iter().map(|agent| AgentReport { name: agent.spec.name.clone(), acted: agent.acted }).collect()
    }
}

fn triggered(agent: &Agent, step: u64, followed: Option<u32>) -> bool {
    match agent.spec.when {
        Trigger::Start => true,
        Trigger::Step(at) => step >= at,
        // SAFETY: `new` checked that the word lies in a buffer of this launch.
        Trigger::Word { address, equals } => unsafe { (address as *const u64).read_unaligned() == equals },
        Trigger::Agent(_) => followed.is_some_and(|times| times > agent.acted),
    }
}
