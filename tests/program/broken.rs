//! Broken programs: `tests/broken/<kind>/<shape>.txt` breaks a rule of that kind, `<shape>.expected` is what the checker
//! says. `SUPERKERNEL_BLESS=1` rewrites the latter.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use superkernel::model::{Chip, StreamForm};
use superkernel::program::{Action, Program, Violation, verify};

use crate::integration::support::golden;

/// The folder of a violation.
fn folder(violation: &Violation) -> &'static str {
    match violation {
        Violation::NoReason { .. } => "no-reason",
        Violation::NoSuchKind { .. } => "no-such-kind",
        Violation::OtherKind { .. } => "other-kind",
        Violation::Missing { .. } => "missing",
        Violation::NotRequired { .. } => "not-required",
        Violation::OutOfTurn { .. } => "out-of-turn",
        Violation::WrongPartner { .. } => "wrong-partner",
        Violation::NoPartner { .. } => "no-partner",
        Violation::Overflow { .. } => "overflow",
        Violation::Stuck { .. } => "stuck",
        Violation::LeftRaised { .. } => "left-raised",
        Violation::Unordered { .. } => "unordered",
        Violation::EarlyNotify { .. } => "early-notify",
        Violation::EarlyStart { .. } => "early-start",
        Violation::EarlyWorkspace { .. } => "early-workspace",
        Violation::EarlyRelease { .. } => "early-release",
        Violation::LockedNotify { .. } => "locked-notify",
        Violation::EarlyFlush { .. } => "early-flush",
        Violation::BrokenPromise { .. } => "broken-promise",
        Violation::Unanswered { .. } => "unanswered",
    }
}

/// Kinds of violation: as many as there are arms above.
const KINDS: usize = 20;

/// What a program is an example of.
fn traits_of(program: &Program) -> Vec<&'static str> {
    let starts_early = |action: &Action| matches!(action, Action::EarlyStartSet { .. } | Action::EarlyStartWait { .. });
    let form = match program.form {
        StreamForm::One => "one stream",
        StreamForm::Several => "several streams",
    };
    let chip = match program.chip {
        Chip::C220 => "c220",
        Chip::C310 => "c310",
    };
    let mut traits = vec![form, chip];
    traits.extend(program.steps.iter().any(|step| starts_early(&step.action)).then_some("early start"));
    traits.extend(program.ops.iter().any(|op| op.feeds_sync_all).then_some("feed-sync-all"));
    traits.extend(program.ops.iter().any(|op| op.is_dynamic).then_some("dynamic ops"));
    traits
}

/// Every kind of violation has shapes with each of these.
const TRAITS: [&str; 7] =
    ["c220", "c310", "dynamic ops", "early start", "feed-sync-all", "one stream", "several streams"];

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

#[test]
fn every_kind_of_violation_is_reported_in_several_shapes() {
    let kinds = entries(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/broken"));
    assert_eq!(kinds.len(), KINDS);
    for kind in kinds {
        let name = kind.file_name().unwrap().to_string_lossy().into_owned();
        let shapes: Vec<PathBuf> =
            entries(&kind).into_iter().filter(|path| path.extension().is_some_and(|have| have == "txt")).collect();
        assert!(shapes.len() >= 2, "{name} has {} shapes", shapes.len());
        let mut traits = BTreeSet::new();
        for shape in shapes {
            let text = std::fs::read_to_string(&shape).unwrap();
            let program = Program::read(&text).unwrap_or_else(|error| panic!("{}: {error}", shape.display()));
            traits.extend(traits_of(&program));
            let violations = verify(&program).expect_err("a broken program");
            assert!(
                violations.iter().any(|violation| folder(violation) == name),
                "{}: {violations:?}",
                shape.display()
            );
            let lines: Vec<String> = violations.iter().map(|violation| format!("{violation}\n")).collect();
            golden::check(&shape.with_extension("expected"), &lines.concat());
        }
        assert_eq!(traits.into_iter().collect::<Vec<_>>(), TRAITS, "{name}");
    }
}
