//! The text form: printing and reading are inverse, and no text makes the reader panic.

use proptest::prelude::*;
use superkernel::program::{Program, verify};

use super::mutants::{Mutation, good_programs, mutate, source};
use crate::integration::support::{KernelBuilder, OpBuilder};

#[test]
fn reading_is_the_inverse_of_printing() {
    let (mut runner, mut dice) = source(2);
    for program in good_programs(&mut runner, 10).take(300) {
        let text = program.text();
        assert_eq!(Program::read(&text).as_ref(), Ok(&program), "{text}");
        let mutation = Mutation::ALL[dice.below(Mutation::ALL.len())];
        let Some(place) = mutation.place(&program, &mut dice) else { continue };
        let Some(mutant) = mutate(&program, mutation, place, &mut dice) else { continue };
        let text = mutant.text();
        let read = Program::read(&text).unwrap();
        assert_eq!(read, mutant, "{text}");
        assert_eq!(verify(&read), verify(&mutant));
    }
}

/// Names may be anything.
#[test]
fn names_are_written_so_that_they_can_be_read() {
    for name in ["a b", "\"", "x=1", "# no comment", "-", "", "two\nlines", "\u{2028}ü", "[core<4]"] {
        let mut program = KernelBuilder::new("").op(OpBuilder::aiv(2)).plan();
        program.kernel_name = name.to_owned();
        program.functions[0].name = name.into();
        std::sync::Arc::make_mut(&mut program.requires.slots.slots)[0].name = name.into();
        program.ops[superkernel::model::OpPosition::FIRST].kernel_name = name.into();
        assert_eq!(Program::read(&program.text()), Ok(program));
    }
}

#[test]
fn a_wrong_line_is_named() {
    let text = KernelBuilder::new("early-start=0").op(OpBuilder::aiv(2)).op(OpBuilder::aiv(2)).plan().text();
    let problem = |old: &str, new: &str| {
        assert!(text.contains(old), "{old}:\n{text}");
        Program::read(&text.replacen(old, new, 1)).unwrap_err().to_string()
    };
    let line = |wanted: &str| 1 + text.lines().position(|line| line.contains(wanted)).unwrap();
    for (old, new, expected) in [
        ("barrier", "barber", "no step is called `barber`"),
        ("over=aiv", "over=all,aiv", "`all,aiv` is no barrier"),
        ("over=aiv", "", "`over=` is missing"),
        ("over=aiv", "over=aiv twice=1", "`twice=1` does not belong here"),
        ("# list order", "# no reason", "`no reason` is no reason"),
        ("function=k0_aiv", "function=k2_aiv", "there is no function `k2_aiv`"),
        ("aiv[core<2]      call", "aiv[core<x] call", "`x` is no number for cores"),
        ("requires", "desires", "no part of a program is called `desires` here"),
        ("2 blocks", "0 blocks", "a launch has at least one block"),
        ("after=0", "after=5", "there is no op 5"),
        ("slot=2", "slots=2", "`slot=` is missing"),
    ] {
        let found = problem(old, new);
        assert_eq!(found, format!("line {} of the program: {expected}", line(old)), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// A text with something cut out, doubled or put in is read or refused; what is read can be checked.
    #[test]
    fn no_text_makes_the_reader_panic(at in any::<prop::sample::Index>(), length in 0usize..40, put in "[ -~\n]{0,12}") {
        let builder = KernelBuilder::new("stream-fusion=1:feed-sync-all=1:profiling=1").cores(2, 4).ops([
            OpBuilder::aiv(2).sends(&[7]),
            OpBuilder::mix(2).on(1),
            OpBuilder::aic(1).calls_sync_all(),
            OpBuilder::aiv(1).dynamic(&[(1, superkernel::model::KernelType::AivOnly)]).receives(&[9]),
        ]);
        let text = builder.plan().text();
        let from = at.index(text.len());
        let changed = format!("{}{put}{}", &text[..from], &text[(from + length).min(text.len())..]);
        if let Ok(program) = Program::read(&changed) {
            let _ = verify(&program);
        }
    }
}
