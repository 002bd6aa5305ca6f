//! The checker against an exploration of every order in which the cores of small launches can run, and against an
//! account of what each core does for every op.

use std::collections::BTreeMap;

use superkernel::program::launch::Accounting;
use superkernel::program::{Program, Violation, verify};

use super::explore::{Found, Orders, explore};
use super::mutants::{Mutation, mutate, programs_of, source};
use super::oracle;
use crate::integration::support::KernelBuilder;

/// Unsafe mutants per run.
fn wanted() -> u32 {
    std::env::var("SUPERKERNEL_UNSAFE_MUTANTS").ok().and_then(|text| text.parse().ok()).unwrap_or(150)
}

/// States of a launch that are looked at before it is given up.
const MOST_STATES: usize = 20_000;
/// Cores of a launch.
const MOST_CORES: usize = 4;
/// Mutants of one program.
const MUTANTS: usize = 12;

/// One or two blocks: every order can be tried.
fn small(mut builder: KernelBuilder) -> KernelBuilder {
    let blocks = if builder.ops.len().is_multiple_of(2) { 1 } else { 2 };
    builder.cores = (blocks, 2 * blocks);
    for op in &mut builder.ops {
        op.blocks = 1 + op.blocks % 2;
    }
    builder
}

/// What an exploration says, however sets are counted.
fn explored(program: &Program) -> Found {
    explored_in(program, Orders::Telling, MOST_STATES)
}

fn explored_in(program: &Program, orders: Orders, most: usize) -> Found {
    let counted = [Accounting::PerCore, Accounting::Summed].map(|way| explore(program, way, orders, most));
    let wrong = counted.iter().find(|found| matches!(found, Found::Wrong(_)));
    let undecided = counted.iter().find(|found| matches!(found, Found::TooMany));
    wrong.or(undecided).cloned().unwrap_or(Found::Nothing)
}

fn kind(violation: &Violation) -> String {
    format!("{violation:?}").split(' ').next().unwrap_or_default().to_owned()
}

#[derive(Default)]
struct Counts {
    programs: u32,
    undecided: u32,
    unsafe_refused: BTreeMap<&'static str, u32>,
    /// The same by what is wrong.
    unsafe_kinds: BTreeMap<Mutation, u32>,
    requirement_refused: u32,
    safe_accepted: u32,
    safe_refused: BTreeMap<(Mutation, &'static str, String), u32>,
}

impl Counts {
    fn unsafe_mutants(&self) -> u32 {
        self.unsafe_refused.values().sum()
    }

    fn note(&mut self, good: &Program, mutant: &Program, mutation: Mutation, action: &'static str) {
        let accepted = |why: &str| panic!("accepted though {why}: {mutation:?} of {action}\n{}", mutant.text());
        match (explored(mutant), oracle::difference(good, mutant), verify(mutant)) {
            (Found::TooMany, ..) => self.undecided += 1,
            (Found::Wrong(what), _, Err(_)) => {
                *self.unsafe_refused.entry(what).or_default() += 1;
                *self.unsafe_kinds.entry(mutation).or_default() += 1;
            }
            (Found::Wrong(what), _, Ok(())) => accepted(&format!("unsafe ({what})")),
            (Found::Nothing, Some(_), Err(_)) => self.requirement_refused += 1,
            (Found::Nothing, Some(what), Ok(())) => accepted(&format!("it does not do what is required ({what})")),
            (Found::Nothing, None, Ok(())) => self.safe_accepted += 1,
            // What pipes have not finished shows in no order and in no account of steps: the checker alone knows of it.
            (Found::Nothing, None, Err(_)) if mutation == Mutation::Pipe => self.requirement_refused += 1,
            (Found::Nothing, None, Err(violations)) => {
                if std::env::var_os("SUPERKERNEL_SHOW_REFUSED").is_some() {
                    println!("refused though safe: {mutation:?} of {action}: {violations:?}\n{}", mutant.text());
                }
                *self.safe_refused.entry((mutation, action, kind(&violations[0]))).or_default() += 1;
            }
        }
    }
}

#[test]
fn no_unsafe_mutant_is_accepted_and_few_safe_ones_are_refused() {
    let (mut runner, mut dice) = source(3);
    let mut counts = Counts::default();
    for program in
        programs_of(&mut runner, 3, small).filter(|program| program.cores(0..program.block_num).len() <= MOST_CORES)
    {
        if counts.unsafe_mutants() >= wanted() {
            break;
        }
        match explored(&program) {
            Found::Nothing => counts.programs += 1,
            Found::TooMany => continue,
            Found::Wrong(what) => panic!("a good program shows {what}:\n{}", program.text()),
        }
        for _ in 0..MUTANTS {
            let mutation = Mutation::ALL[dice.below(Mutation::ALL.len())];
            let Some(place) = mutation.place(&program, &mut dice) else { continue };
            let Some(mutant) = mutate(&program, mutation, place, &mut dice) else { continue };
            counts.note(&program, &mutant, mutation, program.steps[place].action.name());
        }
    }
    let refused: u32 = counts.safe_refused.values().sum();
    let safe = refused + counts.safe_accepted;
    let share = 100.0 * f64::from(refused) / f64::from(safe.max(1));
    println!("{} programs; {} mutants too large to decide", counts.programs, counts.undecided);
    println!("unsafe: 0 of {} accepted; refused for {:?}", counts.unsafe_mutants(), counts.unsafe_refused);
    println!("unsafe ones by what is wrong: {:?}", counts.unsafe_kinds);
    println!(
        "a requirement or a step's form broken, nothing to see in any order: {} refused",
        counts.requirement_refused
    );
    println!("safe: {refused} of {safe} refused ({share:.2} %): {:?}", counts.safe_refused);
    assert!(share < 5.0, "{share:.2} % of the safe mutants are refused");
    // A handful of mutants need not show everything.
    let expected: &[&str] =
        if wanted() >= 400 { &["call", "deadlock", "leak", "notify", "order", "word"] } else { &[] };
    for what in expected {
        assert!(counts.unsafe_refused.contains_key(what), "no mutant shows {what}");
    }
    let kinds: &[Mutation] = if wanted() >= 400 { &Mutation::ALL } else { &[] };
    for mutation in kinds {
        assert!(counts.unsafe_kinds.contains_key(mutation), "no mutant of {mutation:?} is unsafe");
    }
}

/// Leaving out orders that must show the same changes no verdict.
#[test]
fn telling_orders_tell_what_all_orders_tell() {
    let (mut runner, mut dice) = source(5);
    let mut compared = [0, 0];
    for program in programs_of(&mut runner, 2, small).filter(|program| program.cores(0..program.block_num).len() <= 3) {
        let mutation = Mutation::ALL[dice.below(Mutation::ALL.len())];
        let Some(place) = mutation.place(&program, &mut dice) else { continue };
        let Some(mutant) = mutate(&program, mutation, place, &mut dice) else { continue };
        let all = explored_in(&mutant, Orders::All, MOST_STATES);
        if all == Found::TooMany {
            continue;
        }
        let telling = explored_in(&mutant, Orders::Telling, MOST_STATES);
        let is_wrong = matches!(all, Found::Wrong(_));
        assert_eq!(is_wrong, matches!(telling, Found::Wrong(_)), "{all:?}, {telling:?}\n{}", mutant.text());
        assert_ne!(telling, Found::TooMany);
        compared[usize::from(is_wrong)] += 1;
        if compared.iter().all(|count| *count >= wanted() / 2) {
            break;
        }
    }
    println!("{} mutants right and {} wrong, in all orders and in those that tell", compared[0], compared[1]);
}
