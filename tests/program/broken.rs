//! Broken programs: `tests/broken/<kind>/<shape>.txt` breaks a rule of that kind, `<shape>.expected` is what the checker
//! says. `SUPERKERNEL_BLESS=1` rewrites the latter.

use std::path::{Path, PathBuf};

use superkernel::program::{Program, Violation, verify};

use crate::support::golden;

/// The folder of a violation.
fn folder(violation: &Violation) -> &'static str {
    match violation {
        Violation::NoReason { .. } => "no-reason",
        Violation::NoSuchKind { .. } => "no-such-kind",
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
        Violation::Unanswered { .. } => "unanswered",
    }
}

/// Kinds of violation: as many as there are arms above.
const KINDS: usize = 16;

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
        for shape in shapes {
            let text = std::fs::read_to_string(&shape).unwrap();
            let program = Program::read(&text).unwrap_or_else(|error| panic!("{}: {error}", shape.display()));
            let violations = verify(&program).expect_err("a broken program");
            assert!(
                violations.iter().any(|violation| folder(violation) == name),
                "{}: {violations:?}",
                shape.display()
            );
            let lines: Vec<String> = violations.iter().map(|violation| format!("{violation}\n")).collect();
            golden::check(&shape.with_extension("expected"), &lines.concat());
        }
    }
}
