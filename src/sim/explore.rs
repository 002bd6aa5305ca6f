//! Plays a small program in every order its cores can run in, on the simulator's flags, with values.
//!
//! This is the judge of the checker ([`crate::program::verify`]): it knows the steps and what they are for, but shares
//! no rule with the checker. What it looks at is what a device would show: a launch that does not end, a flag left
//! raised or run over, an op that reads what another has not written yet, a lock word or an event word with the wrong
//! value at the end, a core that called something else.

use std::collections::HashSet;

use super::clock::Moment;
use super::flags::{Arrivals, FlagBank};
use super::topology::{CoreIndex, Topology};
use crate::model::{CoreKind, OpPosition, SlotNumber};
use crate::program::launch::micro::{Flag, Micro, expand, runs};
use crate::program::launch::{Accounting, clears};
use crate::program::{Action, CoreId, Program, RequiredCode};

/// In-block flags of the second vector core of a block.
const SECOND_VECTOR: u32 = 16;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Found {
    /// Nothing, in any order.
    Nothing,
    /// Some order shows this.
    Wrong(&'static str),
    /// More states than allowed: not decided.
    TooMany,
}

/// Plays all orders, with as many states as `most`.
pub fn explore(program: &Program, accounting: Accounting, most: usize) -> Found {
    let explorer = Explorer::new(program, accounting);
    match explorer.run(most) {
        Ok(true) => Found::Nothing,
        Ok(false) => Found::TooMany,
        Err(wrong) => Found::Wrong(wrong),
    }
}

/// One indivisible thing a core does.
#[derive(Clone, Copy)]
enum Deed {
    Set(Flag),
    Wait(Flag),
    Start(OpPosition),
    End(OpPosition),
    /// Runs code: what, with which argument.
    Called(OpPosition, usize, SlotNumber),
    Clear,
    UseWorkspace,
    /// Spins until the word is 1.
    Spin(SlotNumber),
    Write(SlotNumber, u8),
    /// Announces an op's end to the idle cores.
    Announce(OpPosition),
    /// Follows an op until its end has been announced by all that run it.
    Follow(OpPosition),
}

/// Everything that changes.
#[derive(Clone)]
struct State {
    places: Vec<u16>,
    flags: FlagBank,
    words: Vec<u8>,
    /// Words that the outside has written: it writes each once.
    answered: Vec<bool>,
    /// By op and core.
    ended: Vec<bool>,
    announced: Vec<bool>,
    cleared: Vec<bool>,
    /// Words that a core has waited for.
    seen: Vec<SlotNumber>,
    /// By op and core: function or table, and argument of each call.
    called: Vec<(OpPosition, usize, usize, SlotNumber)>,
}

struct Explorer<'a> {
    program: &'a Program,
    cores: Vec<CoreId>,
    places: Vec<CoreIndex>,
    deeds: Vec<Vec<Deed>>,
    /// Words that the outside writes, each with the words it wants to see first.
    answers: Vec<(SlotNumber, Vec<SlotNumber>)>,
    start: State,
}

impl<'a> Explorer<'a> {
    fn new(program: &'a Program, accounting: Accounting) -> Self {
        let cores = program.cores(0..program.block_num);
        let topology = Topology::new(program.kernel_type.kernel_type(), program.block_num);
        let place = |core: &CoreId| match core.kind {
            CoreKind::Aic => core.block as usize,
            CoreKind::Aiv => topology.vectors_of(core.block).start + core.sub_block as usize,
        };
        let arrivals = match accounting {
            Accounting::PerCore => Arrivals::PerCore,
            Accounting::Summed => Arrivals::Summed,
        };
        let answers = answers(program);
        let (ops, count) = (program.ops.len(), cores.len());
        Self {
            program,
            places: cores.iter().map(place).collect(),
            deeds: cores.iter().map(|core| deeds(program, *core)).collect(),
            start: State {
                places: vec![0; count],
                flags: FlagBank::new(&topology, arrivals),
                words: vec![0; program.requires.slots.slots.len() + 3],
                answered: vec![false; answers.len()],
                ended: vec![false; ops * count],
                announced: vec![false; ops * count],
                cleared: vec![false; count],
                seen: Vec::new(),
                called: Vec::new(),
            },
            answers,
            cores,
        }
    }

    /// Depth first over all orders; where two orders lead to the same places, one goes on. Flags, words and values
    /// depend on how far each core is, but for words that are written twice: those are part of what is compared.
    fn run(&self, most: usize) -> Result<bool, &'static str> {
        let mut seen: HashSet<(Vec<u16>, Vec<u8>, Vec<bool>)> = HashSet::new();
        let mut open = vec![self.start.clone()];
        while let Some(mut state) = open.pop() {
            self.answer(&mut state);
            if !seen.insert((state.places.clone(), state.words.clone(), state.answered.clone())) {
                continue;
            }
            if seen.len() > most {
                return Ok(false);
            }
            let mut moved = false;
            for core in 0..self.cores.len() {
                let Some(&deed) = self.deeds[core].get(usize::from(state.places[core])) else { continue };
                let mut next = state.clone();
                if self.does(&mut next, core, deed)? {
                    next.places[core] += 1;
                    self.do_private(&mut next, core);
                    open.push(next);
                    moved = true;
                }
            }
            if !moved {
                self.judge_end(&state)?;
            }
        }
        Ok(true)
    }

    /// What nobody else sees is done at once.
    fn do_private(&self, state: &mut State, core: usize) {
        while let Some(&Deed::Called(op, what, slot)) = self.deeds[core].get(usize::from(state.places[core])) {
            state.called.push((op, core, what, slot));
            state.places[core] += 1;
        }
    }

    /// The outside answers as late as it may, but then at once: waiting longer shows nothing more.
    fn answer(&self, state: &mut State) {
        for (number, (slot, wanted)) in self.answers.iter().enumerate() {
            if !state.answered[number] && wanted.iter().all(|word| state.words[word.0 as usize] == 1) {
                state.answered[number] = true;
                state.words[slot.0 as usize] = 1;
            }
        }
    }

    /// Does it, if it can be done now; says what is wrong with that.
    fn does(&self, state: &mut State, core: usize, deed: Deed) -> Result<bool, &'static str> {
        let count = self.cores.len();
        let at = |op: OpPosition, core: usize| op.0 * count + core;
        let running = |op: OpPosition| (0..count).filter(move |&other| runs(self.program, self.cores[other], op));
        match deed {
            Deed::Set(flag) => self.set(state, core, flag)?,
            Deed::Wait(flag) => return Ok(self.wait(state, core, flag)),
            Deed::Start(op) => {
                let required = &self.program.requires.ops[op];
                let written = |first: &OpPosition| running(*first).all(|other| state.ended[at(*first, other)]);
                if !required.after.iter().all(written) {
                    return Err("order");
                }
                // An event that has come and one that somebody has seen differ: only the second orders anything.
                if !required.waits.iter().all(|outer| state.seen.contains(&outer.slot)) {
                    return Err("event");
                }
            }
            Deed::End(op) => state.ended[at(op, core)] = true,
            Deed::Called(op, what, slot) => state.called.push((op, core, what, slot)),
            Deed::Clear => state.cleared[core] = true,
            Deed::UseWorkspace => {
                let clearing = |&other: &usize| clears(self.program, self.cores[other]);
                if !(0..count).filter(clearing).all(|other| state.cleared[other]) {
                    return Err("workspace");
                }
            }
            Deed::Spin(slot) => {
                let come = state.words.get(slot.0 as usize) == Some(&1);
                if come && !state.seen.contains(&slot) {
                    state.seen.push(slot);
                }
                return Ok(come);
            }

            Deed::Write(slot, value) => {
                let notified = self
                    .program
                    .requires
                    .ops
                    .enumerate()
                    .find(|(_, required)| value == 1 && required.notifies.iter().any(|outer| outer.slot == slot));
                if notified.is_some_and(|(op, _)| !running(op).all(|other| state.ended[at(op, other)])) {
                    return Err("notify");
                }
                *state.words.get_mut(slot.0 as usize).ok_or("slot")? = value;
            }
            Deed::Announce(op) => state.announced[at(op, core)] = true,
            Deed::Follow(op) => return Ok(running(op).all(|other| state.announced[at(op, other)])),
        }
        Ok(true)
    }

    fn set(&self, state: &mut State, core: usize, flag: Flag) -> Result<(), &'static str> {
        let (place, now, number) = (self.places[core], Moment::default(), flag.number());
        let done = match (flag, self.cores[core].kind) {
            (Flag::AllCubes | Flag::AllOfKind, _) => state.flags.set(place, 0, number, &now).map(drop),
            (Flag::Arrive | Flag::Release, _) => state.flags.set(place, 2, number, &now).map(drop),
            (Flag::ArriveInBlock | Flag::ReleaseInBlock, CoreKind::Aiv) => {
                state.flags.set_in_block(place, number, &now).map(drop)
            }
            (Flag::ArriveInBlock | Flag::ReleaseInBlock, CoreKind::Aic) => {
                let first = state.flags.set_in_block(place, number, &now).map(drop);
                first.and_then(|()| state.flags.set_in_block(place, number + SECOND_VECTOR, &now).map(drop))
            }
        };
        done.map_err(|_| "flag")
    }

    fn wait(&self, state: &mut State, core: usize, flag: Flag) -> bool {
        let (place, number) = (self.places[core], flag.number());
        match (flag, self.cores[core].kind) {
            (Flag::AllCubes | Flag::AllOfKind | Flag::Arrive | Flag::Release, _) => {
                state.flags.take(place, number).is_some()
            }
            (Flag::ArriveInBlock | Flag::ReleaseInBlock, CoreKind::Aiv) => {
                state.flags.take_in_block(place, number).is_some()
            }
            (Flag::ArriveInBlock | Flag::ReleaseInBlock, CoreKind::Aic) => {
                [number, number + SECOND_VECTOR].into_iter().all(|id| state.flags.take_in_block(place, id).is_some())
            }
        }
    }

    /// Nobody can go on: all must have ended, and everything must be as it should.
    fn judge_end(&self, state: &State) -> Result<(), &'static str> {
        let all_ended = (0..self.cores.len()).all(|core| usize::from(state.places[core]) == self.deeds[core].len());
        if !all_ended {
            return Err("deadlock");
        }
        let flags = &state.flags;
        let left = |&place: &CoreIndex| {
            !flags.raised(place).is_empty()
                || !flags.raised_in_block(place).is_empty()
                || !flags.pending(place).is_empty()
        };
        if self.places.iter().any(left) {
            return Err("leak");
        }
        self.judge_words(state)?;
        self.judge_calls(state)
    }

    fn judge_words(&self, state: &State) -> Result<(), &'static str> {
        let word = |slot: SlotNumber| state.words[slot.0 as usize];
        for required in &self.program.requires.ops {
            let lock = match required.code {
                RequiredCode::Static { .. } => None,
                RequiredCode::Dynamic { lock, .. } => Some(lock),
            };
            let cleared = required.waits.iter().map(|outer| outer.slot).chain(lock).all(|slot| word(slot) == 0);
            if !cleared || !required.notifies.iter().all(|outer| word(outer.slot) == 1) {
                return Err("word");
            }
        }
        Ok(())
    }

    fn judge_calls(&self, state: &State) -> Result<(), &'static str> {
        let mut called = state.called.clone();
        called.sort_unstable();
        let mut wanted = Vec::new();
        for (op, required) in self.program.requires.ops.enumerate() {
            for (core, id) in self.cores.iter().enumerate().filter(|(_, id)| runs(self.program, **id, op)) {
                let what = match (required.code, id.kind) {
                    (RequiredCode::Static { aic, .. }, CoreKind::Aic) => aic.map(|function| function.0),
                    (RequiredCode::Static { aiv, .. }, CoreKind::Aiv) => aiv.map(|function| function.0),
                    (RequiredCode::Dynamic { table, .. }, _) => Some(table.0),
                };
                wanted.extend(what.map(|what| (op, core, what, required.param)));
            }
        }
        wanted.sort_unstable();
        if called == wanted { Ok(()) } else { Err("call") }
    }
}

/// The words that the outside writes when it has heard everything that ops before tell.
fn answers(program: &Program) -> Vec<(SlotNumber, Vec<SlotNumber>)> {
    let mut answers = Vec::new();
    for (op, required) in program.requires.ops.enumerate() {
        let mut before: HashSet<OpPosition> = HashSet::new();
        let mut open = required.after.clone();
        while let Some(first) = open.pop() {
            if first != op && before.insert(first) {
                open.extend(&program.requires.ops[first].after);
            }
        }
        let mut wanted: Vec<SlotNumber> =
            before.iter().flat_map(|first| &program.requires.ops[*first].notifies).map(|outer| outer.slot).collect();
        wanted.sort_unstable();
        let lock = match required.code {
            RequiredCode::Static { .. } => None,
            RequiredCode::Dynamic { lock, .. } => Some(lock),
        };
        let slots = required.waits.iter().map(|outer| outer.slot).chain(lock);
        answers.extend(slots.map(|slot| (slot, wanted.clone())));
    }
    answers
}

/// What a core does from its first step to its last.
fn deeds(program: &Program, core: CoreId) -> Vec<Deed> {
    let mut deeds = Vec::new();
    for step in program.steps.iter().filter(|step| step.cores.contain(core)) {
        let op = step.op.unwrap_or(OpPosition::FIRST);
        match &step.action {
            Action::WaitEvent { slot, .. } => deeds.push(Deed::Spin(*slot)),
            Action::Notify { slot, .. } => deeds.push(Deed::Write(*slot, 1)),
            Action::ClearEvent { slot, .. } | Action::ReleaseLock { slot } => deeds.push(Deed::Write(*slot, 0)),
            Action::Switch { key_slot, .. } => deeds.push(Deed::Spin(key_slot.after(2))),
            Action::EndSyncAll => deeds.push(Deed::Announce(op)),
            Action::Call { .. }
            | Action::CallPicked { .. }
            | Action::ComplementSyncAll
            | Action::Barrier(_)
            | Action::SetFlag { .. }
            | Action::WaitFlag { .. }
            | Action::EarlyStartSet { .. }
            | Action::EarlyStartWait { .. }
            | Action::ClearWorkspace { .. } => {}
            Action::LoadParameters
            | Action::LoadWorkspace { .. }
            | Action::SetSyncAllBase
            | Action::InitDump { .. }
            | Action::InitProfiling { .. }
            | Action::SetFftsBase { .. }
            | Action::PreloadHere { .. }
            | Action::Preload { .. }
            | Action::PreloadPicked { .. }
            | Action::Record { .. }
            | Action::PipeBarrier
            | Action::EarlyStartConfig { .. }
            | Action::EnableSyncAll { .. }
            | Action::DisableSyncAll
            | Action::Flush => continue,
        }
        let micros = expand(program, step, core);
        for micro in (0..micros.len()).filter_map(|place| micros.get(place)) {
            match micro {
                Micro::Set { flag, .. } => deeds.push(Deed::Set(flag)),
                Micro::Wait { flag, .. } => deeds.push(Deed::Wait(flag)),
                Micro::Start(op) => deeds.push(Deed::Start(op)),
                Micro::End(op) => deeds.push(Deed::End(op)),
                Micro::Cleared => deeds.push(Deed::Clear),
                Micro::UseWorkspace(_) => deeds.push(Deed::UseWorkspace),
                // Words do these here.
                Micro::Waited(..) | Micro::Notify(_) | Micro::Switched(_) | Micro::Release(_) => {}
            }
        }
        if let Action::Call { function, offset } = &step.action {
            deeds.push(Deed::Called(op, function.0, *offset));
        }
        if let Action::CallPicked { table, offset } = &step.action
            && runs(program, core, op)
        {
            deeds.push(Deed::Called(op, table.0, *offset));
        }
        if matches!(step.action, Action::ComplementSyncAll) {
            deeds.push(Deed::Follow(op));
        }
    }
    deeds
}
