//! With `sync=proven` nothing synchronises without need: whichever step is left out, the checker refuses the rest.

use std::collections::BTreeMap;

use superkernel::model::{StreamForm, SyncMode};
use superkernel::program::{Action, CoreId, Program, Reason, Step, verify};

use super::mutants::{good_programs, programs_of, source};
use crate::integration::support::KernelBuilder;

/// Programs per run.
fn programs() -> usize {
    std::env::var("SUPERKERNEL_MINIMAL_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(150)
}

const MOST_OPS: usize = 12;

/// What an option promises stays, needed or not (the debug options, the cleared workspace of `feed-sync-all`), and so
/// does the wait for the pipes between two calls on one core.
fn is_promised(step: &Step) -> bool {
    use Reason::{DebugDcciAll, DebugSyncAll, NextOnThisCore, WorkspaceCleared};
    matches!(step.reason, Some(DebugSyncAll | DebugDcciAll | NextOnThisCore | WorkspaceCleared))
}

/// A core that alone runs an op, tells its events or waits for them needs nobody.
fn on_several_cores(mut builder: KernelBuilder) -> KernelBuilder {
    builder.ops.iter_mut().for_each(|op| op.blocks = op.blocks.max(2));
    builder
}

/// Is there a core that takes the step and for which it is something? (Idle cores there may be none; the wait of a
/// hand-over that does not concern a kind is empty on it.)
fn acts(program: &Program, step: &Step) -> bool {
    let concerns = |core: &CoreId| {
        let Action::EarlyStartWait { config, .. } = &step.action else { return true };
        [config.previous, config.current].iter().any(|class| class.kinds().contains(&core.kind))
    };
    program.cores(0..program.block_num).iter().any(|core| step.cores.contain(*core) && concerns(core))
}

fn synchronises(action: &Action) -> bool {
    matches!(
        action,
        Action::PipeBarrier
            | Action::Barrier(_)
            | Action::SetFlag { .. }
            | Action::WaitFlag { .. }
            | Action::EarlyStartSet { .. }
            | Action::EarlyStartConfig { .. }
            | Action::EarlyStartWait { .. }
    )
}

#[test]
fn no_step_can_be_left_out() {
    let (mut runner, _) = source(11);
    let mut counts: BTreeMap<(&str, String), u32> = BTreeMap::new();
    let mut several = [0_u32; 2];
    // A barrier after every op for debugging makes others superfluous.
    let proven = programs_of(&mut runner, MOST_OPS, on_several_cores)
        .filter(|program| program.sync == SyncMode::Proven && !program.requires.debug_meeting);
    for program in proven.take(programs()) {
        for place in 0..program.steps.len() {
            let step = &program.steps[place];
            if !synchronises(&step.action) || is_promised(step) || !acts(&program, step) {
                continue;
            }
            let mut without = program.clone();
            without.steps.remove(place);
            let told = || format!("step {place} ({step:?}) is not needed in\n{}", program.text());
            let needed = verify(&without).is_err();
            match program.form {
                StreamForm::One => assert!(needed, "{}", told()),
                // A barrier of one side may be implied by later ones of both: merging those is not tried.
                StreamForm::Several => several[usize::from(needed)] += 1,
            }
            let reason = step.reason.map_or_else(String::new, |reason| format!("{reason:?}"));
            let reason = reason.split('(').next().unwrap_or_default().to_owned();
            *counts.entry((step.action.name(), reason)).or_default() += 1;
        }
    }
    println!("needed: {counts:?}");
    println!("several streams: {} of {} not needed", several[0], several[0] + several[1]);
    assert!(several[0] * 10 <= several[1], "{several:?}");
    for wanted in ["barrier", "early-start-config", "early-start-set", "early-start-wait", "set-flag", "wait-flag"] {
        assert!(counts.keys().any(|(name, _)| *name == wanted), "no program has a {wanted}");
    }
}

/// The guard of the test above: a barrier too many is found.
#[test]
fn a_barrier_too_many_is_not_needed() {
    let (mut runner, _) = source(12);
    let has_barrier = |program: &Program| program.steps.iter().any(|step| matches!(step.action, Action::Barrier(_)));
    let mut program = good_programs(&mut runner, 4).find(has_barrier).unwrap();
    let place = program.steps.iter().position(|step| matches!(step.action, Action::Barrier(_))).unwrap();
    program.steps.insert(place, program.steps[place].clone());
    verify(&program).unwrap();
    program.steps.remove(place);
    verify(&program).unwrap();
}
