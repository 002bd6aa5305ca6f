//! What a core can know about the others: vector clocks.

use std::collections::HashMap;
use std::hash::Hash;
use std::rc::Rc;

use super::flags::Carried;
use crate::model::OpPosition;

/// For each core of the launch, how far this core knows it to be.
#[derive(Debug, Clone)]
pub(crate) struct Clock(Vec<u32>);

impl Clock {
    pub(crate) fn new(cores: usize) -> Self {
        Self(vec![0; cores])
    }

    /// One more step of the core itself.
    pub(crate) fn tick(&mut self, core: usize) {
        self.0[core] += 1;
    }

    /// The core's own time.
    pub(crate) fn own(&self, core: usize) -> u32 {
        self.0[core]
    }

    pub(crate) fn snapshot(&self) -> Rc<Self> {
        Rc::new(self.clone())
    }

    /// Learns what another clock knows.
    pub(crate) fn join(&mut self, other: &Self) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = (*mine).max(*theirs);
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
        self.0.get(&(thing, core)).is_some_and(|time| clock.0[core] >= *time)
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

    /// Has it ended on `core`, as far as `clock` knows?
    pub(crate) fn before(&self, op: OpPosition, core: usize, clock: &Clock) -> bool {
        let time = self.times[op.place() * self.cores + core];
        time != 0 && clock.0[core] >= time
    }
}
