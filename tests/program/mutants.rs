//! Single mistakes in good programs: what the checker says to them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use superkernel::model::{CoreClass, CoreKind, EventId, OpPosition, SlotNumber};
use superkernel::plan::PlanError;
use superkernel::program::launch::Accounting;
use superkernel::program::{
    Action, Barrier, CoreIndex, Cores, EarlyStartConfig, FunctionId, Kinds, Pair, Part, Program, Step, TableId, verify,
};

use super::orders::{Order, play_in};
use super::random::{kernel, seed};
use crate::integration::support::KernelBuilder;

/// Programs per run; each gives a mutant for every step and more.
fn programs() -> usize {
    std::env::var("SUPERKERNEL_MUTATED_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(60)
}

/// A single mistake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Mutation {
    Drop,
    Duplicate,
    /// To another place.
    Move,
    /// To another op.
    Retarget,
    /// To the other kind, or to every core.
    Kinds,
    /// To other blocks.
    Part,
    /// Another function, table, slot, event, flag, configuration or barrier.
    Value,
    /// Pipes are not waited for, or a barrier follows another pipe.
    Pipe,
    /// Other cores wait for the tiling or for the outside, or sooner or later.
    Poller,
    /// Other cores clear a word, or sooner or later.
    Clearing,
    /// An event is told sooner or later.
    NotifyOrder,
}

impl Mutation {
    pub(super) const ALL: [Self; 11] = [
        Self::Drop,
        Self::Duplicate,
        Self::Move,
        Self::Retarget,
        Self::Kinds,
        Self::Part,
        Self::Value,
        Self::Pipe,
        Self::Poller,
        Self::Clearing,
        Self::NotifyOrder,
    ];

    /// Can this be wrong with such a step?
    fn concerns(self, action: &Action) -> bool {
        match self {
            Self::Pipe => {
                matches!(action, Action::PipeBarrier | Action::Barrier(Barrier::Aic | Barrier::AicAfterMte3))
            }
            Self::Poller => matches!(action, Action::Switch { .. } | Action::WaitEvent { .. }),
            Self::Clearing => matches!(action, Action::ReleaseLock { .. } | Action::ClearEvent { .. }),
            Self::NotifyOrder => matches!(action, Action::Notify { .. }),
            Self::Drop | Self::Duplicate | Self::Move | Self::Retarget | Self::Kinds | Self::Part | Self::Value => true,
        }
    }

    /// A step of the program with which this can be wrong.
    pub(super) fn place(self, program: &Program, dice: &mut Dice) -> Option<usize> {
        let steps = program.steps.iter().enumerate();
        let places: Vec<usize> = steps.filter(|(_, step)| self.concerns(&step.action)).map(|(at, _)| at).collect();
        (!places.is_empty()).then(|| places[dice.below(places.len())])
    }
}

/// Numbers for choices.
pub(super) struct Dice(TestRng);

impl Dice {
    pub(super) fn below(&mut self, count: usize) -> usize {
        (self.0.next_u64() % count.max(1) as u64) as usize
    }
}

/// A source of programs and choices that gives the same every time.
pub(super) fn source(number: u8) -> (TestRunner, Dice) {
    let rng = || TestRng::from_seed(RngAlgorithm::ChaCha, &[number; 32]);
    (TestRunner::new_with_rng(Config { failure_persistence: None, ..Config::default() }, rng()), Dice(rng()))
}

/// Good programs of all forms with up to this many ops.
pub(super) fn good_programs(runner: &mut TestRunner, most_ops: usize) -> impl Iterator<Item = Program> {
    programs_of(runner, most_ops, |builder| builder)
}

/// Good programs of all forms with up to this many ops, changed before they are planned.
pub(super) fn programs_of(
    runner: &mut TestRunner,
    most_ops: usize,
    change: impl Fn(KernelBuilder) -> KernelBuilder,
) -> impl Iterator<Item = Program> {
    let strategy = seed(most_ops + 1);
    std::iter::repeat_with(move || {
        let builder = change(kernel(&strategy.new_tree(runner).unwrap().current()));
        builder.try_build().ok()?;
        match builder.try_plan() {
            Ok(program) => Some(program),
            Err(PlanError::Cycle { .. }) => None,
            Err(error @ PlanError::Broken { .. }) => panic!("{error}"),
        }
    })
    .flatten()
}

/// The program with one mistake at `place`; `None` if there is no such mistake to make there.
pub(super) fn mutate(program: &Program, mutation: Mutation, place: usize, dice: &mut Dice) -> Option<Program> {
    let mut mutant = program.clone();
    match mutation {
        Mutation::Drop => drop(mutant.steps.remove(place)),
        Mutation::Duplicate => mutant.steps.insert(place, program.steps[place].clone()),
        Mutation::Move => {
            let step = mutant.steps.remove(place);
            mutant.steps.insert(dice.below(program.steps.len()), step);
        }
        Mutation::Retarget => {
            mutant.steps[place].op?;
            mutant.steps[place].op = Some(OpPosition::at(dice.below(program.ops.len())));
        }
        Mutation::Kinds => {
            let kinds = [Kinds::Every, Kinds::Only(CoreKind::Aic), Kinds::Only(CoreKind::Aiv)];
            mutant.steps[place].cores.kinds = kinds[dice.below(3)];
        }
        Mutation::Part => mutant.steps[place].cores = other_part(program.steps[place].cores, dice),
        Mutation::Value => mutant.steps[place].action = other_value(program, &program.steps[place], dice)?,
        Mutation::Pipe => {
            let action = &mut mutant.steps[place].action;
            if *action == Action::Barrier(Barrier::Aic) {
                *action = Action::Barrier(Barrier::AicAfterMte3);
            } else if *action == Action::Barrier(Barrier::AicAfterMte3) {
                *action = Action::Barrier(Barrier::Aic);
            } else {
                mutant.steps.remove(place);
            }
        }
        Mutation::Poller | Mutation::Clearing => match dice.below(3) {
            0 => mutant.steps[place].cores = other_part(program.steps[place].cores, dice),
            1 => mutant.steps[place].cores.kinds = Kinds::Only(CoreKind::BOTH[dice.below(2)]),
            _ => shift(&mut mutant, place, dice),
        },
        Mutation::NotifyOrder => shift(&mut mutant, place, dice),
    }
    (mutant != *program).then_some(mutant)
}

/// A step stands a few places earlier or later.
fn shift(program: &mut Program, place: usize, dice: &mut Dice) {
    let step = program.steps.remove(place);
    let reach = 1 + dice.below(6);
    let to = if dice.below(2) == 0 { place.saturating_sub(reach) } else { place + reach };
    program.steps.insert(to.min(program.steps.len()), step);
}

fn other_part(cores: Cores, dice: &mut Dice) -> Cores {
    let index = [CoreIndex::Block, CoreIndex::Core][dice.below(2)];
    let count = dice.below(6) as u32;
    let part = match (cores.part, dice.below(5)) {
        (Part::Below(index, count), 0) => Part::From(index, count),
        (Part::From(index, count), 0) => Part::Below(index, count),
        (_, 0 | 1) => Part::All,
        (_, 2) => Part::Below(index, count),
        (_, 3) => Part::From(index, count),
        (_, _) => Part::First,
    };
    Cores { part, ..cores }
}

/// Another value in one field of an action that has any.
fn other_value(program: &Program, step: &Step, dice: &mut Dice) -> Option<Action> {
    let any_slot = |dice: &mut Dice| SlotNumber(dice.below(program.requires.slots.slots.len() + 2) as u32);
    let any_op = |dice: &mut Dice| OpPosition::at(dice.below(program.ops.len()));
    let any_class = |dice: &mut Dice| [CoreClass::Aic, CoreClass::Aiv, CoreClass::Mix][dice.below(3)];
    let any_config = |dice: &mut Dice| EarlyStartConfig { previous: any_class(dice), current: any_class(dice) };
    let first = dice.below(2) == 0;
    let mut action = step.action.clone();
    match &mut action {
        Action::LoadWorkspace { slot } | Action::SetFftsBase { slot } | Action::ReleaseLock { slot } => {
            *slot = any_slot(dice);
        }
        Action::InitProfiling { buffer, task_id } => *(if first { buffer } else { task_id }) = any_slot(dice),
        Action::ClearWorkspace { bytes } => *bytes += 512,
        Action::InitDump { offset } => *offset += 512,
        Action::Barrier(barrier) => {
            *barrier = [Barrier::Aic, Barrier::AicAfterMte3, Barrier::Aiv, Barrier::All][dice.below(4)];
        }
        Action::SetFlag { direction, pair } | Action::WaitFlag { direction, pair } => match (first, pair) {
            (true, _) | (_, Pair::Workspace) => *direction = direction.opposite(),
            (false, Pair::Ops { receiver, .. }) => *receiver = any_op(dice),
        },
        Action::EarlyStartConfig { config } | Action::EarlyStartWait { config, .. } => *config = any_config(dice),
        Action::Notify { event, slot } | Action::WaitEvent { event, slot } | Action::ClearEvent { event, slot } => {
            if first {
                *slot = any_slot(dice);
            } else {
                *event = EventId(event.0 + 1);
            }
        }
        Action::EnableSyncAll { records } => *(if first { &mut records.aic } else { &mut records.aiv }) += 64,
        Action::Call { function, offset } => {
            if first {
                *offset = any_slot(dice);
            } else {
                *function = FunctionId(dice.below(program.functions.len()) as u32);
            }
        }
        Action::Switch { table, key_slot: slot } | Action::CallPicked { table, offset: slot, .. } => {
            if first {
                *slot = any_slot(dice);
            } else {
                *table = TableId(dice.below(program.tables.len()) as u32);
            }
        }
        Action::LoadParameters
        | Action::SetSyncAllBase
        | Action::PreloadHere { .. }
        | Action::Preload { .. }
        | Action::PreloadPicked { .. }
        | Action::Record { .. }
        | Action::PipeBarrier
        | Action::EarlyStartSet { .. }
        | Action::DisableSyncAll
        | Action::EndSyncAll
        | Action::ComplementSyncAll
        | Action::Flush => return None,
    }
    Some(action)
}

/// What is accepted must be right whoever runs first and however sets are counted.
fn holds_in_any_order(program: &Program, dice: &mut Dice) {
    let all: Vec<u32> = (0..program.block_num).collect();
    for order in Order::several(dice.0.next_u64()) {
        for accounting in [Accounting::PerCore, Accounting::Summed] {
            let outcome = play_in(program, &all, order, accounting);
            assert!(outcome.is_ok(), "{order:?}, {accounting:?}: {outcome:#?}\n{}", program.text());
        }
    }
}

/// Kinds of step that the model asks for: without one, or with another value in it, a program is wrong.
const REQUIRED: [&str; 18] = [
    "call",
    "call-picked",
    "clear-event",
    "clear-workspace",
    "complement-sync-all",
    "early-start-config",
    "end-sync-all",
    "enable-sync-all",
    "init-dump",
    "init-profiling",
    "load-parameters",
    "load-workspace",
    "notify",
    "release-lock",
    "set-ffts-base",
    "set-sync-all-base",
    "switch",
    "wait-event",
];

#[test]
fn no_required_step_can_be_left_out_or_changed() {
    let (mut runner, mut dice) = source(1);
    let mut counts: BTreeMap<(Mutation, &str), [u32; 2]> = BTreeMap::new();
    for program in good_programs(&mut runner, 8).take(programs()) {
        verify(&program).unwrap();
        for place in 0..program.steps.len() {
            let action = program.steps[place].action.name();
            for mutation in [Mutation::Drop, Mutation::Value, Mutation::ALL[dice.below(Mutation::ALL.len())]] {
                if !mutation.concerns(&program.steps[place].action) {
                    continue;
                }
                let Some(mutant) = mutate(&program, mutation, place, &mut dice) else { continue };
                let accepted = verify(&mutant).is_ok();
                counts.entry((mutation, action)).or_default()[usize::from(accepted)] += 1;
                let must_refuse = match mutation {
                    Mutation::Drop | Mutation::Value => REQUIRED.contains(&action),
                    Mutation::Duplicate
                    | Mutation::Move
                    | Mutation::Retarget
                    | Mutation::Kinds
                    | Mutation::Part
                    | Mutation::Pipe
                    | Mutation::Poller
                    | Mutation::Clearing
                    | Mutation::NotifyOrder => false,
                };
                assert!(!(must_refuse && accepted), "{mutation:?} of step {place} ({action}):\n{}", mutant.text());
                if accepted {
                    holds_in_any_order(&mutant, &mut dice);
                }
            }
        }
    }
    let mut total = [0, 0];
    for ((mutation, action), [refused, accepted]) in &counts {
        println!("{:<10} {action:<20} refused {refused:>6}  accepted {accepted:>6}", format!("{mutation:?}"));
        total[0] += refused;
        total[1] += accepted;
    }
    println!("{} mutants: {} refused, {} accepted", total[0] + total[1], total[0], total[1]);
    for action in REQUIRED {
        assert!(counts.contains_key(&(Mutation::Drop, action)), "no mutant lacks {action}");
    }
}
