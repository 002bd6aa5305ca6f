//! What a core can know about the others: vector clocks.

use std::collections::HashMap;
use std::hash::Hash;
use std::rc::Rc;

use super::flags::Carried;
use super::micro::SetPipe;
use crate::model::OpPosition;

/// For each core of the launch, how far this core knows it to be.
#[derive(Debug, Clone)]
pub(crate) struct Clock(Vec<Progress>);

/// How far a core is. Its instructions are issued one after the other, but what its calls write leaves by pipes of
/// their own, and may still be on the way.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    /// Micro steps that are issued.
    issued: u32,
    /// The micro step up to which everything is written.
    written: u32,
}

impl Clock {
    pub(crate) fn new(cores: usize) -> Self {
        Self(vec![Progress::default(); cores])
    }

    /// One more step of the core itself.
    pub(crate) fn tick(&mut self, core: usize) {
        self.0[core].issued += 1;
    }

    /// The core's own time.
    pub(crate) fn own(&self, core: usize) -> u32 {
        self.0[core].issued
    }

    /// The core has waited for all its pipes.
    pub(crate) fn drain(&mut self, core: usize) {
        self.0[core].written = self.0[core].issued;
    }

    /// What a set carries that `core` makes now.
    pub(crate) fn carried_by(&self, core: usize, pipe: SetPipe) -> Rc<Self> {
        let mut carried = self.clone();
        match pipe {
            SetPipe::Output => carried.drain(core),
            SetPipe::Other => {}
        }
        Rc::new(carried)
    }

    /// Learns what another clock knows.
    pub(crate) fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            mine.issued = mine.issued.max(theirs.issued);
            mine.written = mine.written.max(theirs.written);
        }
    }
}

impl Carried for Rc<Clock> {
    fn join(&mut self, other: &Self) {
        Rc::make_mut(self).join(other);
    }
}

/// When something happened to each of some things (ops, mostly), core by core.
#[derive(Debug)]
pub(crate) struct Times<Thing>(HashMap<(Thing, usize), u32>);

impl<Thing> Default for Times<Thing> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<Thing: Eq + Hash> Times<Thing> {
    pub(crate) fn note(&mut self, thing: Thing, core: usize, time: u32) {
        self.0.insert((thing, core), time);
    }

    /// Has it happened on `core`, as far as `clock` knows?
    pub(crate) fn before(&self, thing: Thing, core: usize, clock: &Clock) -> bool {
        self.0.get(&(thing, core)).is_some_and(|time| clock.0[core].issued >= *time)
    }
}

/// When each op ended, core by core. All ops do, so this is a table.
#[derive(Debug)]
pub(crate) struct Ends {
    cores: usize,
    /// 0: not yet; a core's time starts with 1.
    times: Vec<u32>,
}

impl Ends {
    pub(crate) fn new(ops: usize, cores: usize) -> Self {
        Self { cores, times: vec![0; ops * cores] }
    }

    pub(crate) fn note(&mut self, op: OpPosition, core: usize, time: u32) {
        self.times[op.place() * self.cores + core] = time;
    }

    /// Has `core` taken the last step of it?
    pub(crate) fn is_noted(&self, op: OpPosition, core: usize) -> bool {
        self.times[op.place() * self.cores + core] != 0
    }

    /// Has it ended on `core`, with all that it writes, as far as `clock` knows?
    pub(crate) fn before(&self, op: OpPosition, core: usize, clock: &Clock) -> bool {
        let time = self.times[op.place() * self.cores + core];
        time != 0 && clock.0[core].written >= time
    }
}
