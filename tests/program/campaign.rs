//! The checker against an exploration of every order in which the cores of small launches can run.

use std::collections::BTreeMap;

use superkernel::explore::{Found, explore};
use superkernel::program::launch::Accounting;
use superkernel::program::{Program, Violation, verify};

use super::mutants::{Mutation, mutate, programs_of, source};
use crate::support::KernelBuilder;

/// Unsafe mutants per run.
fn wanted() -> u32 {
    std::env::var("SUPERKERNEL_UNSAFE_MUTANTS").ok().and_then(|text| text.parse().ok()).unwrap_or(40)
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
    let counted = [Accounting::PerCore, Accounting::Summed].map(|accounting| explore(program, accounting, MOST_STATES));
    let wrong = counted.iter().find(|found| matches!(found, Found::Wrong(_)));
    let undecided = counted.iter().find(|found| matches!(found, Found::TooMany));
    wrong.or(undecided).cloned().unwrap_or(Found::Nothing)
}

/// Does it say that a requirement or the form of a step is not kept, whatever the flags do?
fn is_requirement(violation: &Violation) -> bool {
    match violation {
        Violation::NoReason { .. }
        | Violation::NoSuchKind { .. }
        | Violation::Missing { .. }
        | Violation::NotRequired { .. }
        | Violation::OutOfTurn { .. } => true,
        Violation::WrongPartner { .. }
        | Violation::NoPartner { .. }
        | Violation::Overflow { .. }
        | Violation::Stuck { .. }
        | Violation::LeftRaised { .. }
        | Violation::Unordered { .. }
        | Violation::EarlyNotify { .. }
        | Violation::EarlyStart { .. }
        | Violation::EarlyWorkspace { .. }
        | Violation::EarlyRelease { .. }
        | Violation::Unanswered { .. } => false,
    }
}

fn kind(violation: &Violation) -> String {
    format!("{violation:?}").split(' ').next().unwrap_or_default().to_owned()
}

#[derive(Default)]
struct Counts {
    programs: u32,
    undecided: u32,
    unsafe_refused: BTreeMap<&'static str, u32>,
    requirement_refused: u32,
    safe_accepted: u32,
    safe_refused: BTreeMap<(Mutation, &'static str, String), u32>,
}

impl Counts {
    fn unsafe_mutants(&self) -> u32 {
        self.unsafe_refused.values().sum()
    }

    fn note(&mut self, mutant: &Program, mutation: Mutation, action: &'static str) {
        match (explored(mutant), verify(mutant)) {
            (Found::TooMany, _) => self.undecided += 1,
            (Found::Wrong(what), Err(_)) => *self.unsafe_refused.entry(what).or_default() += 1,
            (Found::Wrong(what), Ok(())) => {
                panic!("accepted though unsafe ({what}): {mutation:?} of {action}\n{}", mutant.text())
            }
            (Found::Nothing, Ok(())) => self.safe_accepted += 1,
            (Found::Nothing, Err(violations)) if violations.iter().any(is_requirement) => self.requirement_refused += 1,
            (Found::Nothing, Err(violations)) => {
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
            let place = dice.below(program.steps.len());
            let Some(mutant) = mutate(&program, mutation, place, &mut dice) else { continue };
            counts.note(&mutant, mutation, program.steps[place].action.name());
        }
    }
    let refused: u32 = counts.safe_refused.values().sum();
    let safe = refused + counts.safe_accepted;
    let share = 100.0 * f64::from(refused) / f64::from(safe.max(1));
    println!("{} programs; {} mutants too large to decide", counts.programs, counts.undecided);
    println!("unsafe: 0 of {} accepted; refused for {:?}", counts.unsafe_mutants(), counts.unsafe_refused);
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
}
