//! Plays a small program in every order its cores can run in, on the simulator's flags, with values.
//!
//! This is the judge of the checker ([`crate::program::verify`]): it knows the steps and what they are for, but shares
//! no rule with the checker. What it looks at is what a device would show: a launch that does not end, a flag left
//! raised or run over, an op that reads what another has not written yet, a lock word or an event word with the wrong
//! value at the end, a core that called something else.
//!
//! Orders that cannot differ in what they show are played once ([`Orders::Telling`], see [`script`]); a test compares
//! with playing all of them.

mod script;

use std::collections::HashSet;

use crate::model::{CoreKind, OpPosition, SlotNumber};
use crate::program::launch::Accounting;
use crate::program::launch::micro::Flag;
use crate::program::{CoreId, Program, RequiredCode};
use crate::sim::machine::clock::Moment;
use crate::sim::machine::flags::{Arrivals, FlagBank};
use crate::sim::machine::topology::{CoreIndex, Topology};
use script::{Deed, Look, Mark, Scripts, Turn};

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

/// Which orders are played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Orders {
    /// All of them.
    All,
    /// Of those that must show the same, one.
    Telling,
}

/// Plays orders of the cores, with as many states as `most`.
pub fn explore(program: &Program, accounting: Accounting, orders: Orders, most: usize) -> Found {
    let explorer = Explorer::new(program, accounting, orders);
    match explorer.run(most) {
        Ok(true) => Found::Nothing,
        Ok(false) => Found::TooMany,
        Err(wrong) => Found::Wrong(wrong),
    }
}

/// Everything that changes. What cores have ended, seen and cleared follows from how far they are.
#[derive(Clone)]
struct State {
    /// By core: turns taken.
    places: Vec<u16>,
    flags: FlagBank,
    words: Vec<u8>,
    /// Words that the outside has written: it writes each once.
    answered: Vec<bool>,
}

impl State {
    /// What two equal states have in common: flags follow from places.
    fn key(&self) -> (Vec<u16>, Vec<u8>, Vec<bool>) {
        (self.places.clone(), self.words.clone(), self.answered.clone())
    }
}

struct Explorer<'a> {
    program: &'a Program,
    scripts: Scripts,
    /// By core: where it sits in the simulator's launch.
    places: Vec<CoreIndex>,
    orders: Orders,
    /// No order of the sets can run a counter over.
    countable: bool,
    /// Words that the outside writes, each with the words it wants to see first.
    answers: Vec<(SlotNumber, Vec<SlotNumber>)>,
    start: State,
}

impl<'a> Explorer<'a> {
    fn new(program: &'a Program, accounting: Accounting, orders: Orders) -> Self {
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
        let (places, count) = (cores.iter().map(place).collect(), cores.len());
        let (answers, scripts) = (answers(program), Scripts::of(program, cores, orders));
        let start = State {
            places: vec![0; count],
            flags: FlagBank::new(&topology, arrivals),
            words: vec![0; program.requires.slots.slots.len() + 3],
            answered: vec![false; answers.len()],
        };
        let mut explorer = Self { program, scripts, places, orders, countable: false, answers, start };
        explorer.countable = explorer.all_sets_can_be_counted();
        explorer
    }

    /// Without a single wait, does every counter hold all sets that ever come? Then no order can run one over.
    fn all_sets_can_be_counted(&self) -> bool {
        let mut flags = self.start.flags.clone();
        let mut set = |core, flag| self.set(&mut flags, core, flag).is_ok();
        let cores = self.scripts.turns.iter().enumerate();
        cores.flat_map(|(core, turns)| turns.iter().map(move |turn| (core, turn))).all(|(core, turn)| match turn.deed {
            Some(Deed::Set(flag)) => set(core, flag),
            Some(Deed::Wait(_) | Deed::Spin(_) | Deed::Write(..) | Deed::Announce(_) | Deed::Follow(_)) | None => true,
        })
    }

    /// Depth first over the orders; where two of them lead to the same places and words, one goes on.
    fn run(&self, most: usize) -> Result<bool, &'static str> {
        let mut seen: HashSet<(Vec<u16>, Vec<u8>, Vec<bool>)> = HashSet::new();
        let mut open = vec![self.start.clone()];
        for core in 0..self.places.len() {
            self.look_around(&self.start, core, &self.scripts.first_looks[core])?;
        }
        while let Some(mut state) = open.pop() {
            self.answer(&mut state);
            match self.orders {
                Orders::All => {}
                Orders::Telling => while self.take_a_safe_turn(&mut state)? {},
            }
            if !seen.insert(state.key()) {
                continue;
            }
            if seen.len() > most {
                return Ok(false);
            }
            let able: Vec<usize> = (0..self.places.len()).filter(|&core| self.can_go_on(&state, core)).collect();
            for &core in &able {
                let mut next = state.clone();
                self.take_turn(&mut next, core)?;
                open.push(next);
            }
            if able.is_empty() {
                self.judge_end(&state)?;
            }
        }
        self.judge_calls().map(|()| true)
    }

    fn next_turn(&self, state: &State, core: usize) -> Option<&Turn> {
        self.scripts.turns[core].get(usize::from(state.places[core]))
    }

    /// Takes a turn that can only help others and is best taken at once, if there is one.
    fn take_a_safe_turn(&self, state: &mut State) -> Result<bool, &'static str> {
        for core in 0..self.places.len() {
            let Some(turn) = self.next_turn(state, core) else { continue };
            if turn.is_safe(self.countable) && self.can_go_on(state, core) {
                self.take_turn(state, core)?;
                self.answer(state);
                return Ok(true);
            }
        }
        Ok(false)
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

    fn can_go_on(&self, state: &State, core: usize) -> bool {
        let Some(turn) = self.next_turn(state, core) else { return false };
        match turn.deed {
            Some(Deed::Wait(flag)) => self.is_raised(&state.flags, core, flag),
            Some(Deed::Spin(slot)) => state.words.get(slot.0 as usize) == Some(&1),
            Some(Deed::Follow(op)) => {
                self.scripts.running[op].iter().all(|other| self.has(state, *other, Mark::Announced(op)))
            }
            Some(Deed::Set(_) | Deed::Write(..) | Deed::Announce(_)) | None => true,
        }
    }

    /// Has `core` done this where others can see it?
    fn has(&self, state: &State, core: usize, mark: Mark) -> bool {
        self.scripts.marked_at(core, mark).is_some_and(|turn| state.places[core] > turn)
    }

    /// Does it hold for all cores but this one that run the op?
    fn all_others(&self, core: usize, op: OpPosition, holds: impl Fn(usize) -> bool) -> bool {
        self.scripts.running[op].iter().filter(|other| **other != core).all(|other| holds(*other))
    }

    /// Takes the next turn, which can be taken now; says what is wrong with that.
    fn take_turn(&self, state: &mut State, core: usize) -> Result<(), &'static str> {
        let Some(turn) = self.next_turn(state, core) else { return Ok(()) };
        match turn.deed {
            Some(Deed::Set(flag)) => self.set(&mut state.flags, core, flag)?,
            Some(Deed::Wait(flag)) => self.take(&mut state.flags, core, flag),
            Some(Deed::Write(slot, value)) => {
                let notified = (value == 1).then(|| self.scripts.notified.get(&slot)).flatten();
                let unended = |op: &OpPosition| {
                    let ended = Mark::Ended(*op);
                    !self.all_others(core, *op, |other| self.has(state, other, ended))
                        || (self.scripts.running[*op].contains(&core) && !turn.own.contains(&ended))
                };
                if notified.is_some_and(unended) {
                    return Err("notify");
                }
                *state.words.get_mut(slot.0 as usize).ok_or("slot")? = value;
            }
            Some(Deed::Spin(_) | Deed::Announce(_) | Deed::Follow(_)) | None => {}
        }
        state.places[core] += 1;
        self.look_around(state, core, &turn.looks)
    }

    /// What a core touches must be ready.
    fn look_around(&self, state: &State, core: usize, looks: &[(Look, HashSet<Mark>)]) -> Result<(), &'static str> {
        for (look, own) in looks {
            let is_own = |mark: Mark| own.contains(&mark);
            match look {
                Look::Start(op) => {
                    let required = &self.program.requires.ops[*op];
                    let written = |first: OpPosition| {
                        let ended = Mark::Ended(first);
                        self.all_others(core, first, |other| self.has(state, other, ended))
                            && (is_own(ended) || !self.scripts.running[first].contains(&core))
                    };
                    if !required.after.iter().all(|first| written(*first)) {
                        return Err("order");
                    }
                    // An event that has come and one that somebody has seen differ: only the second orders anything.
                    let seen = |slot: SlotNumber| {
                        let mark = Mark::Seen(slot);
                        is_own(mark) || (0..self.places.len()).any(|other| self.has(state, other, mark))
                    };
                    if !required.waits.iter().all(|outer| seen(outer.slot)) {
                        return Err("event");
                    }
                }
                Look::Workspace => {
                    let cleared = |other: usize| match other == core {
                        true => is_own(Mark::Cleared),
                        false => self.has(state, other, Mark::Cleared),
                    };
                    if !self.scripts.clearing.iter().all(|other| cleared(*other)) {
                        return Err("workspace");
                    }
                }
            }
        }
        Ok(())
    }

    fn set(&self, flags: &mut FlagBank, core: usize, flag: Flag) -> Result<(), &'static str> {
        let (place, now, number) = (self.places[core], Moment::default(), flag.number());
        let done = match (flag, self.scripts.cores[core].kind) {
            (Flag::AllCubes | Flag::AllOfKind, _) => flags.set(place, 0, number, &now).map(drop),
            (Flag::Arrive | Flag::Release, _) => flags.set(place, 2, number, &now).map(drop),
            (Flag::ArriveInBlock | Flag::ReleaseInBlock, CoreKind::Aiv) => {
                flags.set_in_block(place, number, &now).map(drop)
            }
            (Flag::ArriveInBlock | Flag::ReleaseInBlock, CoreKind::Aic) => {
                let first = flags.set_in_block(place, number, &now).map(drop);
                first.and_then(|()| flags.set_in_block(place, number + SECOND_VECTOR, &now).map(drop))
            }
        };
        done.map_err(|_| "flag")
    }

    /// The in-block counters that a wait takes from.
    fn in_block(&self, core: usize, flag: Flag) -> &'static [u32] {
        match (flag, self.scripts.cores[core].kind) {
            (Flag::AllCubes | Flag::AllOfKind | Flag::Arrive | Flag::Release, _) => &[],
            (Flag::ArriveInBlock | Flag::ReleaseInBlock, CoreKind::Aiv) => &[0],
            (Flag::ArriveInBlock | Flag::ReleaseInBlock, CoreKind::Aic) => &[0, SECOND_VECTOR],
        }
    }

    fn is_raised(&self, flags: &FlagBank, core: usize, flag: Flag) -> bool {
        let (place, number) = (self.places[core], flag.number());
        match self.in_block(core, flag) {
            [] => flags.value(place, number) > 0,
            ids => ids.iter().all(|id| flags.value_in_block(place, number + id) > 0),
        }
    }

    fn take(&self, flags: &mut FlagBank, core: usize, flag: Flag) {
        let (place, number) = (self.places[core], flag.number());
        match self.in_block(core, flag) {
            [] => drop(flags.take(place, number)),
            ids => ids.iter().for_each(|id| drop(flags.take_in_block(place, number + id))),
        }
    }

    /// Nobody can go on: all must have ended, and everything must be as it should.
    fn judge_end(&self, state: &State) -> Result<(), &'static str> {
        let all_ended = (0..self.places.len()).all(|core| self.next_turn(state, core).is_none());
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
        self.judge_words(state)
    }

    fn judge_words(&self, state: &State) -> Result<(), &'static str> {
        let word = |slot: SlotNumber| state.words[slot.0 as usize];
        for required in &self.program.requires.ops {
            let cleared =
                required.waits.iter().map(|outer| outer.slot).chain(lock(required.code)).all(|slot| word(slot) == 0);
            if !cleared || !required.notifies.iter().all(|outer| word(outer.slot) == 1) {
                return Err("word");
            }
        }
        Ok(())
    }

    /// Whatever the order, the same is called.
    fn judge_calls(&self) -> Result<(), &'static str> {
        let mut wanted = Vec::new();
        for (op, required) in self.program.requires.ops.enumerate() {
            for &core in &self.scripts.running[op] {
                let what = match (required.code, self.scripts.cores[core].kind) {
                    (RequiredCode::Static { aic, .. }, CoreKind::Aic) => aic.map(|function| function.0),
                    (RequiredCode::Static { aiv, .. }, CoreKind::Aiv) => aiv.map(|function| function.0),
                    (RequiredCode::Dynamic { table, .. }, _) => Some(table.0),
                };
                wanted.extend(what.map(|what| (op, core, what, required.param)));
            }
        }
        wanted.sort_unstable();
        if self.scripts.called == wanted { Ok(()) } else { Err("call") }
    }
}

/// The word that tells a dynamic op's tiling.
fn lock(code: RequiredCode) -> Option<SlotNumber> {
    match code {
        RequiredCode::Static { .. } => None,
        RequiredCode::Dynamic { lock, .. } => Some(lock),
    }
}

/// The words that the outside writes when it has heard everything that ops before tell.
fn answers(program: &Program) -> Vec<(SlotNumber, Vec<SlotNumber>)> {
    let mut answers = Vec::new();
    for (op, required) in program.requires.ops.enumerate() {
        let mut before: HashSet<OpPosition> = HashSet::new();
        let mut open = required.after.to_vec();
        while let Some(first) = open.pop() {
            if first != op && before.insert(first) {
                open.extend(&program.requires.ops[first].after);
            }
        }
        let mut wanted: Vec<SlotNumber> =
            before.iter().flat_map(|first| &program.requires.ops[*first].notifies).map(|outer| outer.slot).collect();
        wanted.sort_unstable();
        let slots = required.waits.iter().map(|outer| outer.slot).chain(lock(required.code));
        answers.extend(slots.map(|slot| (slot, wanted.clone())));
    }
    answers
}
