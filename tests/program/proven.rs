//! What `sync=proven` leaves out, case by case; the checker has accepted each program.

use superkernel::model::{CoreKind, KernelType};

use super::rules::{cube, path, vector};
use crate::integration::support::{KernelBuilder, OpBuilder};

const OFF: &str = "preload-code=none:early-start=0";
const ON: &str = "preload-code=none";
const SEVERAL: &str = "preload-code=none:stream-fusion=1";

fn dynamic_aiv() -> OpBuilder {
    OpBuilder::aiv(1).dynamic(&[(5, KernelType::AivOnly)])
}

fn dynamic_aic() -> OpBuilder {
    OpBuilder::aic(1).dynamic(&[(5, KernelType::AicOnly)])
}

fn plan(options: &str, ops: &[OpBuilder]) -> superkernel::program::Program {
    KernelBuilder::new(options).cores(2, 4).ops(ops.to_vec()).plan()
}

/// The wanted steps stand on the path in this order, and no barrier stands between them that is not named.
fn assert_has(path: &[String], wanted: &[&str]) {
    let mut left = wanted.iter().peekable();
    for line in path {
        if left.peek().is_some_and(|next| line.starts_with(**next)) {
            left.next();
        } else if left.len() < wanted.len() && left.len() > 0 {
            assert!(!line.starts_with("barrier"), "{line} within {wanted:#?} of {path:#?}");
        }
    }
    assert!(left.peek().is_none(), "no {left:?} of {wanted:#?} in {path:#?}");
}

/// Barriers on a path.
fn barriers(path: &[String]) -> usize {
    path.iter().filter(|line| line.starts_with("barrier")).count()
}

#[test]
fn a_lock_is_polled_before_the_barrier_that_stands_there_anyway() {
    let program = plan(OFF, &[OpBuilder::aic(2), dynamic_aiv(), OpBuilder::aic(2)]);
    let switch = ["switch", "barrier all", "call-picked", "release-lock", "barrier all"];
    assert_has(&vector(&program, 0), &switch);
    assert_eq!(barriers(&vector(&program, 0)), 2);
    // Only cores that the op runs on poll.
    assert!(!cube(&program, 0).contains(&"switch".to_owned()));
    assert!(!cube(&program, 0).iter().any(|line| line.starts_with("call-picked")));
}

#[test]
fn a_hand_over_carries_that_all_have_polled_if_all_who_poll_set_afterwards() {
    let program = plan(ON, &[OpBuilder::aiv(4), dynamic_aiv(), OpBuilder::aiv(4)]);
    let early = ["call k0_aiv", "switch", "early-start-set", "early-start-wait 5", "call-picked", "release-lock"];
    assert_has(&vector(&program, 0), &early);
    assert_eq!(barriers(&vector(&program, 0)), 0);
    // The op before runs on the other kind: its cores do not set for those that poll, so the lock is cleared late.
    let program = plan(ON, &[OpBuilder::aic(2), dynamic_aiv(), OpBuilder::aiv(4)]);
    let late = ["early-start-wait 1", "switch", "call-picked", "early-start-set", "early-start-wait 5", "release-lock"];
    assert_has(&vector(&program, 0), &late);
    assert_eq!(barriers(&vector(&program, 0)), 0);
    // It sets itself, maybe before this core polls.
    let program = plan(ON, &[OpBuilder::aiv(4).sets_itself(), dynamic_aiv(), OpBuilder::aiv(4)]);
    assert_has(
        &vector(&program, 0),
        &["early-start-wait 5", "switch", "call-picked", "early-start-set", "release-lock"],
    );
}

#[test]
fn a_lock_that_the_last_op_polls_late_needs_its_barrier() {
    let program = plan(ON, &[OpBuilder::aic(2), dynamic_aiv()]);
    assert_has(&vector(&program, 0), &["switch", "barrier aiv", "call-picked", "release-lock"]);
    assert_eq!(barriers(&cube(&program, 0)), 0);
    let alone = plan(ON, &[dynamic_aiv()]);
    assert_has(&vector(&alone, 0), &["switch", "barrier aiv", "call-picked", "release-lock"]);
}

#[test]
fn a_lock_is_cleared_before_the_event_that_may_start_the_next_tiling() {
    for options in [OFF, ON] {
        let program = plan(options, &[dynamic_aiv().sends(&[7]), OpBuilder::aiv(4)]);
        let meeting = if options == OFF { "barrier aiv" } else { "early-start-wait" };
        assert_has(
            &vector(&program, 0),
            &["switch", "call-picked", meeting, "release-lock", "notify 7", "call k1_aiv"],
        );
        // The core that tells runs no part of the next op, so it may be late: the barrier behind the switch stays.
        let program = plan(options, &[dynamic_aiv().sends(&[7]), OpBuilder::aic(2)]);
        assert_has(&vector(&program, 0), &["switch", "barrier aiv", "call-picked", "release-lock"]);
    }
}

#[test]
fn a_lock_is_not_cleared_late_where_the_next_op_waits_by_itself_or_for_the_outside() {
    let kept = ["switch", "barrier aiv", "call-picked", "release-lock"];
    let program = plan(ON, &[dynamic_aiv(), OpBuilder::aiv(4).waits_itself()]);
    assert_has(&vector(&program, 0), &kept);
    let program = plan(ON, &[dynamic_aiv(), OpBuilder::aiv(4).receives(&[9])]);
    assert_has(&vector(&program, 0), &kept);
    let program = plan(OFF, &[dynamic_aiv(), OpBuilder::aiv(4).receives(&[9])]);
    assert_has(&vector(&program, 0), &kept);
    // Another dynamic op polls early, so this one's lock must be clear by then.
    let program = plan(OFF, &[dynamic_aiv(), dynamic_aiv()]);
    assert_has(
        &vector(&program, 0),
        &["switch", "barrier aiv", "call-picked", "release-lock", "switch", "barrier aiv"],
    );
}

#[test]
fn several_streams_clear_late_where_the_side_meets_anyway() {
    let program = plan(SEVERAL, &[dynamic_aiv(), OpBuilder::aic(2).on(1), OpBuilder::aiv(4)]);
    assert_eq!(vector(&program, 0), ["switch", "call-picked", "barrier aiv", "release-lock", "call k2_aiv"]);
    // Nobody meets behind it.
    let program = plan(SEVERAL, &[dynamic_aiv(), OpBuilder::aic(2).on(1), OpBuilder::aic(2).on(1)]);
    assert_has(&vector(&program, 0), &["switch", "barrier aiv", "call-picked", "release-lock"]);
}

/// Counted in sum, the second vector core of a block could complete the flag that says the lock is clear.
#[test]
fn a_flag_of_two_vector_cores_does_not_tell_that_one_of_them_has_cleared_a_lock() {
    let ops = |next: OpBuilder| [dynamic_aiv().sends(&[1]), next.on(1).receives(&[1]), OpBuilder::aic(2).on(2)];
    let one_to_two = plan(SEVERAL, &ops(OpBuilder::aic(1)));
    assert_has(&vector(&one_to_two, 0), &["switch", "barrier aiv", "call-picked", "release-lock", "barrier aiv"]);
    let program = KernelBuilder::new(SEVERAL).cores(4, 4).ops(ops(OpBuilder::aic(4))).plan();
    assert_has(&vector(&program, 0), &["switch", "call-picked", "barrier aiv", "release-lock", "set-flag"]);
}

#[test]
fn one_core_waits_for_an_event_and_the_hand_over_carries_it() {
    let program = plan(ON, &[OpBuilder::aiv(4), OpBuilder::aiv(4).receives(&[9])]);
    assert_has(
        &vector(&program, 0),
        &["call k0_aiv", "wait-event 9", "early-start-set", "call k1_aiv", "clear-event 9"],
    );
    assert_eq!(barriers(&vector(&program, 0)), 0);
    // Of a kind that the op before runs on, whichever the op itself does.
    let program = plan(ON, &[OpBuilder::aic(2), OpBuilder::aiv(4).receives(&[9])]);
    assert_has(&cube(&program, 0), &["wait-event 9", "early-start-set", "clear-event 9"]);
    assert_eq!(barriers(&vector(&program, 0)), 0);
    // The op's own wait needs no round of its own then.
    let program = plan(ON, &[OpBuilder::aiv(4), OpBuilder::aiv(4).waits_itself().receives(&[9])]);
    assert_eq!(vector(&program, 0).iter().filter(|line| *line == "early-start-set").count(), 1);
}

#[test]
fn an_event_behind_a_notify_keeps_its_meeting_unless_another_one_carries_it() {
    let told = || OpBuilder::mix(2).sends(&[7]);
    // Only the kinds of the op meet.
    let program = plan(ON, &[told(), OpBuilder::aic(2).receives(&[9])]);
    assert_has(&cube(&program, 0), &["early-start-wait 8", "notify 7", "wait-event 9", "barrier aic", "call k1_aic"]);
    assert_eq!(barriers(&vector(&program, 0)), 0);
    // The fresh round for the op's own wait carries it.
    let program = plan(ON, &[told(), OpBuilder::aiv(4).waits_itself().receives(&[9])]);
    assert_has(&vector(&program, 0), &["notify 7", "wait-event 9", "early-start-set", "call k1_aiv"]);
    assert_eq!(barriers(&vector(&program, 0)), 0);
    // And so does the barrier behind a switch.
    let program = plan(OFF, &[told(), dynamic_aic().receives(&[9])]);
    assert_has(&cube(&program, 0), &["barrier all", "wait-event 9", "switch", "barrier aic", "call-picked"]);
    assert_eq!(barriers(&path(&program, CoreKind::Aic, 0)), 2);
}

/// `contract` has all of them.
#[test]
fn the_contract_keeps_every_step() {
    let ops = [OpBuilder::aic(2), dynamic_aiv(), OpBuilder::aiv(4).receives(&[9])];
    let program = plan(&format!("{ON}:sync=contract"), &ops);
    let all = ["early-start-wait 1", "switch", "pipe-barrier", "barrier all", "call-picked", "release-lock"];
    assert_has(&vector(&program, 0), &all);
    assert_has(&cube(&program, 0), &["early-start-wait 1", "switch", "pipe-barrier", "barrier all", "call-picked"]);
    assert_has(&vector(&program, 0), &["early-start-wait 5", "wait-event 9", "barrier all", "call k2_aiv"]);
}

/// A barrier in front of the first op reads a variable that nobody has set, unless the super kernel does.
#[test]
fn fed_sync_alls_are_off_before_the_first_barrier() {
    for sync in ["contract", "proven"] {
        let options = format!("{OFF}:feed-sync-all=1:sync={sync}");
        let mix = OpBuilder::mix(1).dynamic(&[(5, KernelType::MixAic1_2)]);
        let program = plan(&options, &[mix]);
        assert_has(
            &cube(&program, 0),
            &["disable-sync-all", "switch", "barrier all", "disable-sync-all", "call-picked"],
        );
    }
}
