//! What every core does, cut into turns: as much as can be done at once without hiding anything from anybody.
//!
//! Three kinds of things happen on a core. A [`Deed`] is felt by others, or waits for them. A [`Look`] asks whether
//! others are ready (an op starts): whatever they have done once stays done, so the earlier it asks, the more it finds.
//! A [`Mark`] is what such questions are about (an op has ended): the later it is made, the more they find. So a turn
//! is: the marks that are due, one deed, and all looks up to the next deed or mark. For [`Orders::All`] each of them is
//! a turn of its own.
//!
//! A turn is *safe* if it makes no mark and its deed can only let others go on: setting a flag that cannot run over,
//! waiting for one that is there (nobody can take it away), a word that nobody clears. Whatever can happen before such
//! a turn can happen after it just as well, so it need not be tried later.

use std::collections::{HashMap, HashSet};

use super::{Orders, answers};
use crate::model::{ByPosition, OpPosition, SlotNumber};
use crate::program::launch::clears;
use crate::program::launch::micro::{Flag, Micro, SetPipe, expand, runs};
use crate::program::{Action, CoreId, Program, Step};

/// What others feel, or what waits for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    Set(Flag),
    Wait(Flag),
    /// Until the word is 1.
    Spin(SlotNumber),
    Write(SlotNumber, u8),
    /// Announces an op's end to the idle cores.
    Announce(OpPosition),
    /// Follows an op until its end has been announced by all others that run it.
    Follow(OpPosition),
}

/// What others may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Mark {
    Ended(OpPosition),
    /// A word was waited for.
    Seen(SlotNumber),
    /// This core's share of the workspace.
    Cleared,
    Announced(OpPosition),
}

/// A question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Look {
    /// May the op start?
    Start(OpPosition),
    /// Is the workspace clear?
    Workspace,
}

/// What is done at once.
#[derive(Debug, Clone, Default)]
pub(super) struct Turn {
    pub(super) deed: Option<Deed>,
    /// Questions, each with the marks that the core itself has made by then.
    pub(super) looks: Vec<(Look, HashSet<Mark>)>,
    /// Marks that the core itself has made before the deed.
    pub(super) own: HashSet<Mark>,
    /// It makes marks that others ask for.
    hides: bool,
    /// No order of deeds on this word can differ in what they show.
    word_is_quiet: bool,
}

impl Turn {
    /// Is it best taken as soon as it can be? `countable`: no counter can run over.
    pub(super) fn is_safe(&self, countable: bool) -> bool {
        !self.hides
            && match self.deed {
                Some(Deed::Set(_) | Deed::Wait(_)) => countable,
                Some(Deed::Spin(_) | Deed::Write(..)) => self.word_is_quiet,
                Some(Deed::Announce(_) | Deed::Follow(_)) | None => true,
            }
    }
}

/// The scripts of all cores, and what follows from them.
pub(super) struct Scripts {
    pub(super) cores: Vec<CoreId>,
    pub(super) turns: Vec<Vec<Turn>>,
    /// By core: what it asks before its first turn.
    pub(super) first_looks: Vec<Vec<(Look, HashSet<Mark>)>>,
    /// By core: the turn that makes a mark for the first time.
    marks: Vec<HashMap<Mark, u16>>,
    /// By op: the cores that run it.
    pub(super) running: ByPosition<Vec<usize>>,
    /// Cores that clear a share of the workspace.
    pub(super) clearing: Vec<usize>,
    /// The op whose event a word tells.
    pub(super) notified: HashMap<SlotNumber, OpPosition>,
    /// Everything that is called: op, core, function or table, argument.
    pub(super) called: Vec<(OpPosition, usize, u32, SlotNumber)>,
}

/// One thing on a core's way.
#[derive(Clone, Copy)]
enum Item {
    Deed(Deed),
    Mark(Mark),
    Look(Look),
    Called(OpPosition, u32, SlotNumber),
}

impl Scripts {
    pub(super) fn of(program: &Program, cores: Vec<CoreId>, orders: Orders) -> Self {
        let items: Vec<Vec<Item>> = cores.iter().map(|core| items(program, *core)).collect();
        let of_op = |op| (0..cores.len()).filter(|&core| runs(program, cores[core], op)).collect();
        let mut notified = HashMap::new();
        for (op, required) in program.requires.ops.enumerate() {
            for outer in &required.notifies {
                notified.entry(outer.slot).or_insert(op);
            }
        }
        let mut called = Vec::new();
        for (core, item) in
            items.iter().enumerate().flat_map(|(core, items)| items.iter().map(move |item| (core, item)))
        {
            if let Item::Called(op, what, slot) = item {
                called.push((*op, core, *what, *slot));
            }
        }
        called.sort_unstable();
        let mut scripts = Self {
            turns: Vec::new(),
            first_looks: Vec::new(),
            marks: Vec::new(),
            running: program.ops.positions().map(of_op).collect(),
            clearing: (0..cores.len()).filter(|&core| clears(program, cores[core])).collect(),
            notified,
            called,
            cores,
        };
        let words = Words::of(program, &items);
        for core in 0..items.len() {
            scripts.add(program, &items, core, orders, &words);
        }
        scripts
    }

    /// The turn that makes the mark on this core.
    pub(super) fn marked_at(&self, core: usize, mark: Mark) -> Option<u16> {
        self.marks[core].get(&mark).copied()
    }

    /// Cuts what a core does into turns.
    fn add(&mut self, program: &Program, items: &[Vec<Item>], core: usize, orders: Orders, words: &Words) {
        let mut turns: Vec<Turn> = Vec::new();
        let mut first_looks = Vec::new();
        let mut marks: HashMap<Mark, u16> = HashMap::new();
        let mut own: HashSet<Mark> = HashSet::new();
        let mut hides = false;
        let mut spun: HashSet<SlotNumber> = HashSet::new();
        for item in &items[core] {
            let next = turns.len() as u16;
            match *item {
                Item::Called(..) => {}
                Item::Mark(mark) => {
                    marks.entry(mark).or_insert(next);
                    own.insert(mark);
                    match orders {
                        Orders::All => turns.push(Turn { own: own.clone(), ..Turn::default() }),
                        Orders::Telling => hides |= self.is_asked_for(program, items, core, mark),
                    }
                }
                Item::Look(look) => {
                    let looks = match (orders, turns.last_mut()) {
                        (Orders::Telling, Some(turn)) => &mut turn.looks,
                        (Orders::Telling, None) => &mut first_looks,
                        (Orders::All, _) => {
                            turns.push(Turn::default());
                            let place = turns.len() - 1;
                            &mut turns[place].looks
                        }
                    };
                    looks.push((look, own.clone()));
                }
                Item::Deed(deed) => {
                    let word_is_quiet = words.is_quiet(core, deed, &spun);
                    match deed {
                        Deed::Announce(op) => drop(marks.entry(Mark::Announced(op)).or_insert(next)),
                        Deed::Spin(slot) => drop(spun.insert(slot)),
                        Deed::Write(slot, _) => drop(spun.remove(&slot)),
                        Deed::Set(_) | Deed::Wait(_) | Deed::Follow(_) => {}
                    }
                    turns.push(Turn { deed: Some(deed), looks: Vec::new(), own: own.clone(), hides, word_is_quiet });
                    hides = false;
                }
            }
        }
        if hides {
            turns.push(Turn { hides, ..Turn::default() });
        }
        self.turns.push(turns);
        self.first_looks.push(first_looks);
        self.marks.push(marks);
    }

    /// Does another core ever ask for this mark of `core`?
    fn is_asked_for(&self, program: &Program, items: &[Vec<Item>], core: usize, mark: Mark) -> bool {
        let asks = |item: &Item| match (item, mark) {
            (Item::Look(Look::Start(op)), Mark::Ended(first)) => program.requires.ops[*op].after.contains(&first),
            (Item::Look(Look::Start(op)), Mark::Seen(slot)) => {
                program.requires.ops[*op].waits.iter().any(|outer| outer.slot == slot)
            }
            (Item::Look(Look::Workspace), Mark::Cleared) => true,
            (Item::Deed(Deed::Write(slot, 1)), Mark::Ended(op)) => self.notified.get(slot) == Some(&op),
            _ => false,
        };
        items.iter().enumerate().any(|(other, items)| other != core && items.iter().any(asks))
    }
}

/// Who does what to which word.
struct Words {
    /// By word: the cores that spin on it or write it.
    users: HashMap<SlotNumber, HashSet<usize>>,
    /// By word: the cores that write it.
    writers: HashMap<SlotNumber, HashSet<usize>>,
    cleared: HashSet<SlotNumber>,
    /// Words that the outside reads.
    heard: HashSet<SlotNumber>,
    /// Some core clears a word that it has not waited for: the outside may write it before or after.
    blind: bool,
}

impl Words {
    fn of(program: &Program, items: &[Vec<Item>]) -> Self {
        let heard = answers(program).into_iter().flat_map(|(_, wanted)| wanted).collect();
        let mut words =
            Self { users: HashMap::new(), writers: HashMap::new(), cleared: HashSet::new(), heard, blind: false };
        for items in items {
            words.blind |= clears_blindly(items);
        }
        for (core, item) in
            items.iter().enumerate().flat_map(|(core, items)| items.iter().map(move |item| (core, item)))
        {
            match item {
                Item::Deed(Deed::Spin(slot)) => drop(words.users.entry(*slot).or_default().insert(core)),
                Item::Deed(Deed::Write(slot, value)) => {
                    words.users.entry(*slot).or_default().insert(core);
                    words.writers.entry(*slot).or_default().insert(core);
                    if *value == 0 {
                        words.cleared.insert(*slot);
                    }
                }
                Item::Deed(Deed::Set(_) | Deed::Wait(_) | Deed::Announce(_) | Deed::Follow(_))
                | Item::Mark(_)
                | Item::Look(_)
                | Item::Called(..) => {}
            }
        }
        words
    }

    /// Is a deed of `core`, which waited for the words `spun` just before, felt by nobody who could be faster or
    /// slower?
    fn is_quiet(&self, core: usize, deed: Deed, spun: &HashSet<SlotNumber>) -> bool {
        let only = |cores: Option<&HashSet<usize>>| cores.is_none_or(|cores| cores.iter().all(|other| *other == core));
        match deed {
            // Nobody else can take it back.
            Deed::Spin(slot) => only(self.writers.get(&slot)),
            // The outside answers it by other words.
            Deed::Write(slot, 1) => !self.cleared.contains(&slot) && (!self.blind || !self.heard.contains(&slot)),
            // What was waited for has been written by the outside, which writes once.
            Deed::Write(slot, _) => only(self.users.get(&slot)) && !self.heard.contains(&slot) && spun.contains(&slot),
            Deed::Set(_) | Deed::Wait(_) | Deed::Announce(_) | Deed::Follow(_) => true,
        }
    }
}

/// Does the core clear a word without having waited for it?
fn clears_blindly(items: &[Item]) -> bool {
    let mut spun: HashSet<SlotNumber> = HashSet::new();
    items.iter().any(|item| match item {
        Item::Deed(Deed::Spin(slot)) => {
            spun.insert(*slot);
            false
        }
        Item::Deed(Deed::Write(slot, 0)) => !spun.remove(slot),
        Item::Deed(Deed::Write(..) | Deed::Set(_) | Deed::Wait(_) | Deed::Announce(_) | Deed::Follow(_))
        | Item::Mark(_)
        | Item::Look(_)
        | Item::Called(..) => false,
    })
}

/// What a core does from its first step to its last.
fn items(program: &Program, core: CoreId) -> Vec<Item> {
    let (mut items, mut in_pipes) = (Vec::new(), Vec::new());
    for step in program.steps.iter().filter(|step| step.cores.contain(core)) {
        add_step(program, core, step, &mut in_pipes, &mut items);
    }
    items.extend(in_pipes);
    items
}

/// `in_pipes`: ops that the core has left while its pipes may still run. Others see them end when a set follows the pipe
/// that results leave by, or all pipes have been waited for.
fn add_step(program: &Program, core: CoreId, step: &Step, in_pipes: &mut Vec<Item>, items: &mut Vec<Item>) {
    let op = step.op.unwrap_or(OpPosition::FIRST);
    let spin = |slot: SlotNumber| [Item::Deed(Deed::Spin(slot)), Item::Mark(Mark::Seen(slot))];
    match &step.action {
        Action::WaitEvent { slot, .. } => items.extend(spin(*slot)),
        Action::Switch { key_slot, .. } => items.extend(spin(key_slot.after(2))),
        Action::Notify { slot, .. } => items.push(Item::Deed(Deed::Write(*slot, 1))),
        Action::ClearEvent { slot, .. } | Action::ReleaseLock { slot } => {
            items.push(Item::Deed(Deed::Write(*slot, 0)));
        }
        Action::EndSyncAll => items.push(Item::Deed(Deed::Announce(op))),
        Action::Call { .. }
        | Action::CallPicked { .. }
        | Action::ComplementSyncAll
        | Action::Barrier(_)
        | Action::SetFlag { .. }
        | Action::WaitFlag { .. }
        | Action::EarlyStartSet { .. }
        | Action::EarlyStartWait { .. }
        | Action::PipeBarrier
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
        | Action::EarlyStartConfig { .. }
        | Action::EnableSyncAll { .. }
        | Action::DisableSyncAll
        | Action::Flush => return,
    }
    let micros = expand(program, step, core);
    for micro in (0..micros.len()).filter_map(|place| micros.get(place)) {
        match micro {
            Micro::Set { flag, pipe, .. } => {
                if pipe == SetPipe::Output {
                    items.append(in_pipes);
                }
                items.push(Item::Deed(Deed::Set(flag)));
            }
            Micro::Wait { flag, .. } => items.push(Item::Deed(Deed::Wait(flag))),
            Micro::Start(op) => items.push(Item::Look(Look::Start(op))),
            Micro::End(op) => in_pipes.push(Item::Mark(Mark::Ended(op))),
            Micro::Drained => items.append(in_pipes),
            Micro::Cleared => items.push(Item::Mark(Mark::Cleared)),
            Micro::UseWorkspace(_) => items.push(Item::Look(Look::Workspace)),
            // Words do these here.
            Micro::Waited(..) | Micro::Notify(_) | Micro::Switched(_) | Micro::Release(_) | Micro::Flushed(_) => {}
        }
    }
    if let Action::Call { function, offset } = &step.action {
        items.push(Item::Called(op, function.0, *offset));
    }
    if let Action::CallPicked { table, offset, .. } = &step.action
        && runs(program, core, op)
    {
        items.push(Item::Called(op, table.0, *offset));
    }
    if matches!(step.action, Action::ComplementSyncAll) {
        items.push(Item::Deed(Deed::Follow(op)));
    }
}
