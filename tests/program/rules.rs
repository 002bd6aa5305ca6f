//! Decisions of the plan, one by one: what a core does, as short lines.

use superkernel::Diagnostic;
use superkernel::emit::{EmitError, emit};
use superkernel::model::{CoreKind, EventId, KernelType, ModelError, OpPosition};
use superkernel::plan::PlanError;
use superkernel::program::launch::{Accounting, Schedule, play};
use superkernel::program::{Action, CoreId, Cores, CrossNeed, Direction, Edge, EdgeOrigin, Program, verify};

use crate::integration::support::{KernelBuilder, OpBuilder};

const NO_EXTRAS: &str = "preload-code=none:early-start=0";
const EARLY: &str = "preload-code=none";
const SEVERAL: &str = "preload-code=none:stream-fusion=1";

/// What one core does, without the set-up.
pub(super) fn path(program: &Program, kind: CoreKind, block: u32) -> Vec<String> {
    let sub_blocks = match (kind, program.kernel_type.task_ratio()) {
        (CoreKind::Aic, _) => 1,
        (CoreKind::Aiv, (_, aiv)) => u32::from(aiv),
    };
    let core = CoreId { kind, block, sub_block: 0, sub_blocks };
    let mut lines = Vec::new();
    for step in program.steps.iter().filter(|step| step.cores.contain(core)) {
        let shown = |name: &str| {
            let fields = step.action.fields(program);
            fields.into_iter().find(|(field, _)| *field == name).map(|(_, value)| value.to_string())
        };
        let fields: Vec<String> =
            ["function", "over", "config", "event", "direction", "units"].into_iter().filter_map(shown).collect();
        if !matches!(step.action, Action::LoadParameters | Action::SetFftsBase { .. }) {
            lines.push([&[step.action.name().to_owned()], &fields[..]].concat().join(" "));
        }
    }
    lines
}

pub(super) fn cube(program: &Program, block: u32) -> Vec<String> {
    path(program, CoreKind::Aic, block)
}

pub(super) fn vector(program: &Program, block: u32) -> Vec<String> {
    path(program, CoreKind::Aiv, block)
}

/// Flags that are left, by positions of the op that sets and the op that waits.
fn flags(program: &Program, direction: Direction) -> Vec<(usize, usize)> {
    let flag = |edge: &Edge| match edge.need(direction) {
        CrossNeed::Flag { received_at } => Some((edge.sender.place(), received_at.place())),
        CrossNeed::None | CrossNeed::Implied => None,
    };
    let mut flags: Vec<(usize, usize)> = program.edges.iter().filter_map(flag).collect();
    flags.sort_unstable();
    flags
}

/// Is `wanted` part of `lines`, in this order without gaps?
#[track_caller]
fn assert_has(lines: &[String], wanted: &[&str]) {
    let found = lines.windows(wanted.len()).any(|window| window == wanted);
    assert!(found, "no {wanted:#?}\nin {lines:#?}");
}

#[test]
fn barriers_between_ops_follow_notifies_and_waits() {
    let ops = |sends: &[i64], receives: &[i64]| {
        let first = OpBuilder::aiv(2).sends(sends);
        KernelBuilder::new(NO_EXTRAS).op(first).op(OpBuilder::aiv(2).receives(receives)).op(OpBuilder::aiv(2)).plan()
    };
    let between = |program: &Program| vector(program, 0)[1..].to_vec();
    assert_has(&between(&ops(&[], &[])), &["barrier aiv", "call k1_aiv"]);
    assert_has(&between(&ops(&[7], &[])), &["barrier aiv", "notify 7", "call k1_aiv"]);
    assert_has(&between(&ops(&[], &[8])), &["wait-event 8", "barrier aiv", "call k1_aiv"]);
    assert_has(&between(&ops(&[7], &[8])), &["barrier aiv", "notify 7", "wait-event 8", "barrier aiv", "call k1_aiv"]);
    // Waits are cleared at the very end, by the core that waited.
    assert_eq!(vector(&ops(&[], &[8]), 0).last().unwrap(), "clear-event 8");
    assert!(!vector(&ops(&[], &[8]), 1).iter().any(|line| line.contains("event")));
}

#[test]
fn early_start_knows_all_pairs_of_classes() {
    let classes = [(OpBuilder::aic(2), 0), (OpBuilder::aiv(2), 1), (OpBuilder::mix(2), 2)];
    for (previous, first) in &classes {
        for (current, second) in &classes {
            let ops = [previous.clone(), current.clone(), OpBuilder::mix(2)];
            let program = KernelBuilder::new(EARLY).ops(ops).plan();
            let config = (first << 2) | second;
            for (lines, kind) in [(cube(&program, 0), CoreKind::Aic), (vector(&program, 0), CoreKind::Aiv)] {
                let wait = lines.iter().position(|line| *line == format!("early-start-wait {config}")).unwrap();
                assert_eq!(lines[wait - 1], format!("early-start-config {config}"));
                let sets = lines[..wait].iter().any(|line| line == "early-start-set");
                assert_eq!(sets, previous.kernel_type.class().runs_on(kind), "{config} on {kind}");
            }
        }
    }
}

#[test]
fn own_sets_and_waits_are_completed_on_idle_cores_only() {
    let ops = [OpBuilder::aiv(2).sets_itself(), OpBuilder::aiv(3).waits_itself(), OpBuilder::aiv(4)];
    let program = KernelBuilder::new(EARLY).ops(ops).plan();
    assert_has(&vector(&program, 0), &["call k0_aiv", "early-start-config 5", "call k1_aiv", "early-start-set"]);
    assert_has(&vector(&program, 2), &["early-start-set", "early-start-config 5", "call k1_aiv"]);
    assert_has(&vector(&program, 3), &["early-start-set", "early-start-config 5", "early-start-wait 5"]);
    // Stored once: the classes of the next hand-over are the same.
    let count = vector(&program, 3).iter().filter(|line| line.starts_with("early-start-config")).count();
    assert_eq!(count, 1, "{:?}", vector(&program, 3));
}

/// DIFF-1, DIFF-2, DIFF-9, DIFF-16.
#[test]
fn sync_all_is_fed_for_every_split_mode() {
    for split in [1, 4] {
        let options = format!("{NO_EXTRAS}:feed-sync-all=1:split-mode={split}");
        let dynamic = OpBuilder::aiv(1).calls_sync_all().dynamic(&[(1, KernelType::AivOnly)]);
        let ops = [OpBuilder::aiv(2).calls_sync_all().flushes(true, true, false), OpBuilder::aiv(4), dynamic];
        let program = KernelBuilder::new(&options).cores(2, 4).ops(ops).plan();
        assert_has(
            &vector(&program, 1),
            &["enable-sync-all", "flush", "call k0_aiv", "end-sync-all", "flush", "disable-sync-all", "barrier aiv"],
        );
        assert_has(
            &vector(&program, 2),
            &["enable-sync-all", "flush", "complement-sync-all", "flush", "disable-sync-all", "barrier aiv"],
        );
        assert_has(&vector(&program, 2), &["disable-sync-all", "call-picked"]);
        assert_eq!(vector(&program, 2).iter().filter(|line| *line == "enable-sync-all").count(), 1);
    }
}

#[test]
fn a_disabled_flush_wins() {
    let op = |disabled| KernelBuilder::new(NO_EXTRAS).op(OpBuilder::aiv(2).flushes(true, true, disabled)).plan();
    assert_eq!(vector(&op(false), 0), ["flush", "call k0_aiv", "flush"]);
    assert_eq!(vector(&op(true), 0), ["call k0_aiv"]);
}

/// DIFF-3.
#[test]
fn the_first_op_of_a_side_waits_for_its_events() {
    let ops = [OpBuilder::aic(2), OpBuilder::aiv(4).on(1).receives(&[9]), OpBuilder::mix(2)];
    let program = KernelBuilder::new(SEVERAL).ops(ops).plan();
    assert_eq!(vector(&program, 0)[..3], ["wait-event 9", "barrier aiv", "call k1_aiv"]);
    assert_eq!(vector(&program, 1)[..2], ["barrier aiv", "call k1_aiv"]);
}

/// DIFF-4.
#[test]
fn a_switch_ends_in_a_barrier_over_those_that_polled() {
    let key = |kernel_type| [(5, kernel_type)];
    let plan = |options, ops: &[OpBuilder]| {
        KernelBuilder::new(&format!("{options}:sync=contract")).cores(2, 4).ops(ops.to_vec()).plan()
    };
    let aiv = OpBuilder::aiv(1).dynamic(&key(KernelType::AivOnly));
    let alone = plan(NO_EXTRAS, std::slice::from_ref(&aiv));
    let preload = "preload-picked 8";
    assert_eq!(vector(&alone, 0)[..4], ["switch", preload, "pipe-barrier", "barrier aiv"]);
    let mixed = plan(NO_EXTRAS, &[aiv.clone(), OpBuilder::aic(2)]);
    assert_eq!(cube(&mixed, 0)[..3], ["switch", "pipe-barrier", "barrier all"]);
    let sides =
        plan(SEVERAL, &[aiv, OpBuilder::aic(2).on(1), OpBuilder::mix(2).on(1).dynamic(&key(KernelType::MixAic1_2))]);
    assert_eq!(vector(&sides, 0)[..2], ["switch", "barrier aiv"]);
    assert_eq!(cube(&sides, 0)[0], "call k1_aic");
    assert_has(&cube(&sides, 0), &["switch", "barrier all", "call-picked", "release-lock"]);
    assert_has(&vector(&sides, 0), &["switch", "barrier all", "call-picked"]);
}

/// DIFF-5, DIFF-17.
#[test]
fn every_core_of_the_kind_enters_a_dynamic_op_and_unknown_keys_trap() {
    let keys: Vec<(u64, KernelType)> = (0..9).map(|key| (key * 1000, KernelType::ALL[key as usize % 6])).collect();
    let program = KernelBuilder::new("").op(OpBuilder::mix(1).dynamic(&keys)).plan();
    let source = emit(&program).unwrap();
    // As MIX on both kinds, as AIV on vector cores; nobody asks for an index.
    assert_eq!(source.matches("sk_call(picked.code, position, offset);").count(), 3, "{source}");
    assert!(source.contains("trap();"));
    for (key, _) in keys {
        assert!(source.contains(&format!("key == {key}ULL")), "{source}");
    }
    assert_eq!(source.matches("if (key < ").count(), 2 * 8, "one search per core kind");
}

/// DIFF-6, DIFF-11.
#[test]
fn both_directions_of_a_mix_pair_can_go_but_its_own_sides_stay() {
    // 0 and 3 are MIX; 1 and 2 lie between and order the two cross-wise already.
    let ops = [
        OpBuilder::mix(2).sends(&[1, 2]),
        OpBuilder::aic(2).on(1).receives(&[1]).sends(&[3]),
        OpBuilder::aiv(2).on(2).receives(&[2]).sends(&[4]),
        OpBuilder::mix(2).receives(&[3, 4]),
        OpBuilder::aiv(2).on(3),
    ];
    let program = KernelBuilder::new(SEVERAL).ops(ops).plan();
    let pair = program.edges.iter().find(|edge| (edge.sender.place(), edge.receiver.place()) == (0, 3)).unwrap();
    assert_eq!((pair.cube_to_vector, pair.vector_to_cube), (CrossNeed::Implied, CrossNeed::Implied));
    assert_eq!(cube(&program, 0)[..2], ["call k0_aic", "barrier aic"]);
    assert_eq!(vector(&program, 0)[..2], ["call k0_aiv", "barrier aiv"]);
}

/// DIFF-7.
#[test]
fn profiling_slots_come_after_the_workspace() {
    for builder in
        [KernelBuilder::new("profiling=1:feed-sync-all=1"), KernelBuilder::new("profiling=1:feed-sync-all=1").c310()]
    {
        let program = builder.op(OpBuilder::aiv(2).with_debug_output()).plan();
        let slot = |wanted: &str| {
            let step = program.steps.iter().find(|step| step.action.name() == wanted).unwrap();
            step.action.fields(&program)[0].1.to_string().parse::<u32>().unwrap()
        };
        assert_eq!(slot("init-profiling"), slot("load-workspace") + 1);
    }
}

/// DIFF-8.
#[test]
fn waits_name_their_pipe_on_c310() {
    let builder = KernelBuilder::new(SEVERAL).op(OpBuilder::aic(2)).op(OpBuilder::aiv(2).on(1)).op(OpBuilder::mix(2));
    let (old, new) = (emit(&builder.plan()).unwrap(), emit(&builder.c310().plan()).unwrap());
    assert!(old.contains("wait_flag_dev(AscendC::SYNC_AIC_AIV_FLAG);") && !old.contains("PIPE_S"));
    assert!(new.contains("wait_flag_dev(PIPE_S, AscendC::SYNC_AIC_AIV_FLAG);"));
    assert_eq!(new.matches("wait_flag_dev(").count(), new.matches("wait_flag_dev(PIPE_S").count());
    assert!(!new.contains("set_ffts_base_addr"));
}

/// DIFF-10.
#[test]
fn an_op_that_waits_itself_gets_a_fresh_round_behind_events() {
    let ops = [OpBuilder::mix(1).sends(&[7]), OpBuilder::aiv(2).waits_itself().receives(&[8]), OpBuilder::mix(2)];
    let program = KernelBuilder::new(&format!("{EARLY}:sync=contract")).ops(ops).plan();
    assert_has(
        &vector(&program, 0),
        &[
            "early-start-set",
            "early-start-config 9",
            "early-start-wait 9",
            "notify 7",
            "wait-event 8",
            "barrier all",
            "early-start-set",
            "call k1_aiv",
        ],
    );
    assert_has(
        &cube(&program, 0),
        &[
            "early-start-set",
            "early-start-config 9",
            "early-start-wait 9",
            "barrier all",
            "early-start-set",
            "early-start-wait 9",
        ],
    );
}

/// DIFF-12.
#[test]
fn a_circle_names_its_ops() {
    let ops = [
        OpBuilder::aic(2),
        OpBuilder::aiv(2).on(1).receives(&[2]).sends(&[1]),
        OpBuilder::aic(2).receives(&[1]).sends(&[2]),
        OpBuilder::aiv(2).on(1),
    ];
    match KernelBuilder::new(SEVERAL).ops(ops).try_plan() {
        Err(PlanError::Cycle { ops }) => {
            let mut indices: Vec<usize> = ops.iter().map(|op| op.index.0).collect();
            indices.sort_unstable();
            assert_eq!(indices, [1, 2]);
        }
        other => panic!("{other:?}"),
    }
    // Against op order between two sides is no circle by itself.
    let ops = [
        OpBuilder::aic(2),
        OpBuilder::aiv(2).on(1).receives(&[2]),
        OpBuilder::aic(2).sends(&[2]),
        OpBuilder::aiv(2).on(1),
    ];
    let program = KernelBuilder::new(SEVERAL).ops(ops).plan();
    assert_eq!(flags(&program, Direction::CubeToVector), [(2, 1)]);
    // Within one side it is.
    let ops =
        [OpBuilder::aic(2), OpBuilder::aic(2).on(1).receives(&[2]), OpBuilder::aic(2).sends(&[2]), OpBuilder::aic(2)];
    assert!(matches!(KernelBuilder::new(SEVERAL).ops(ops).try_plan(), Err(PlanError::Cycle { .. })));
}

/// DIFF-13.
#[test]
fn a_mix_op_is_told_by_the_kind_of_the_next_op() {
    for (next, kind) in
        [(OpBuilder::aic(2), CoreKind::Aic), (OpBuilder::aiv(2), CoreKind::Aiv), (OpBuilder::mix(2), CoreKind::Aiv)]
    {
        let ops = [OpBuilder::mix(2).sends(&[7]), next];
        for options in [NO_EXTRAS, EARLY] {
            let program = KernelBuilder::new(options).ops(ops.clone()).plan();
            assert!(path(&program, kind, 0).contains(&"notify 7".to_owned()), "{options}");
            assert!(!path(&program, kind.other(), 0).contains(&"notify 7".to_owned()), "{options}");
        }
    }
}

/// DIFF-14.
#[test]
fn first_waits_and_last_sets_find_a_partner() {
    let program = KernelBuilder::new(EARLY)
        .op(OpBuilder::aiv(1).waits_itself().sets_itself())
        .op(OpBuilder::aiv(2).sets_itself())
        .plan();
    assert_eq!(vector(&program, 0)[..3], ["early-start-config 5", "early-start-set", "call k0_aiv"]);
    assert_eq!(vector(&program, 1)[..3], ["early-start-config 5", "early-start-set", "early-start-wait 5"]);
    assert_has(&vector(&program, 1), &["call k1_aiv", "early-start-wait 5"]);
}

/// DIFF-15.
#[test]
fn several_streams_refuse_own_sets_and_waits() {
    let ops = [OpBuilder::aiv(2).sets_itself(), OpBuilder::aiv(2).on(1)];
    let refused = KernelBuilder::new(SEVERAL).ops(ops).try_build();
    assert!(matches!(refused, Err(ModelError::EarlyStartSeveralStreams { .. })));
}

/// DIFF-18.
#[test]
fn no_barrier_while_a_hand_over_is_pending() {
    let options = format!("{EARLY}:debug-sync-all=1");
    let ops = [OpBuilder::aiv(2).sets_itself(), OpBuilder::aiv(2), OpBuilder::aiv(2).sets_itself()];
    let program = KernelBuilder::new(&options).ops(ops).plan();
    assert_eq!(
        vector(&program, 0),
        [
            "call k0_aiv",
            "early-start-config 5",
            "early-start-wait 5",
            "barrier aiv",
            "call k1_aiv",
            "barrier aiv",
            "early-start-set",
            "early-start-wait 5",
            "call k2_aiv",
            "early-start-wait 5",
            "barrier aiv",
        ]
    );
}

/// DIFF-19.
#[test]
fn a_switch_comes_after_the_notifies_before_it() {
    for options in [NO_EXTRAS, EARLY] {
        let ops = [OpBuilder::aiv(2).sends(&[7]), OpBuilder::aiv(2).dynamic(&[(5, KernelType::AivOnly)])];
        let program = KernelBuilder::new(options).ops(ops).plan();
        assert_has(&vector(&program, 0), &["notify 7", "switch"]);
    }
}

/// DIFF-20.
#[test]
fn no_flag_is_open_across_a_mix_op() {
    let ops = [
        OpBuilder::aic(2).sends(&[1]),
        OpBuilder::aiv(2).on(1),
        OpBuilder::mix(2).on(2),
        OpBuilder::mix(2).on(2),
        OpBuilder::aiv(2).on(1).receives(&[1]),
    ];
    let program = KernelBuilder::new(SEVERAL).ops(ops).plan();
    let event = program.edges.iter().find(|edge| edge.origin == EdgeOrigin::Event(EventId(1))).unwrap();
    assert_eq!(event.cube_to_vector, CrossNeed::Flag { received_at: OpPosition::at(2) });
}

/// `count` pairs of a cube op and a vector op that waits for it, in the order that `place` gives them.
fn pairs(count: i64, interleaved: bool) -> Program {
    let cube = |event: i64| OpBuilder::aic(2).sends(&[event]);
    let vector = |event: i64| OpBuilder::aiv(2).on(1).receives(&[event]);
    let mut builder = KernelBuilder::new(SEVERAL);
    if interleaved {
        builder = builder.ops((0..count).flat_map(|event| [cube(event), vector(event)]));
        // Neighbours that are linked by an event do not make several streams: one pair that is not linked.
        builder = builder.op(OpBuilder::aic(2).on(2)).op(OpBuilder::aiv(2).on(1));
    } else {
        builder = builder.ops((0..count).map(cube)).ops((0..count).map(vector));
    }
    builder.plan()
}

/// DIFF-21, where the receiver comes before the later sender: flags the other way.
#[test]
fn flags_are_answered_after_thirteen() {
    assert_eq!(flags(&pairs(13, true), Direction::VectorToCube), []);
    let program = pairs(20, true);
    // Vector op k is at position 2k + 1, the cube op thirteen pairs on at 2k + 26.
    let answers: Vec<(usize, usize)> = (0..7).map(|pair| (2 * pair + 1, 2 * pair + 26)).collect();
    assert_eq!(flags(&program, Direction::VectorToCube), answers);
    assert_eq!(flags(&program, Direction::CubeToVector).len(), 20);
    for kind in CoreKind::BOTH {
        let outcome = play(&program, &[0, 1], Schedule::Eager(kind), Accounting::PerCore).unwrap();
        assert!(outcome.most_ahead <= 13, "{outcome:?}");
    }
}

/// DIFF-21, where all senders come first: one later flag stands for many.
#[test]
fn flags_far_ahead_are_drawn_together() {
    assert_eq!(flags(&pairs(13, false), Direction::CubeToVector).len(), 13);
    let program = pairs(30, false);
    // Edge 0 and edge 13 become one from cube op 13 to vector op 0, then that and the one thirteen on, once more.
    assert_eq!(flags(&program, Direction::CubeToVector), [(26, 30), (27, 57), (28, 58), (29, 59)]);
    assert_eq!(flags(&program, Direction::VectorToCube), []);
}

/// DIFF-22.
#[test]
fn a_mix_op_with_a_notify_meets_on_both_sides() {
    let ops = [OpBuilder::aiv(2).on(1), OpBuilder::mix(2).sends(&[7]), OpBuilder::aiv(2).on(1), OpBuilder::mix(2)];
    let program = KernelBuilder::new(SEVERAL).ops(ops).plan();
    assert_has(&cube(&program, 0), &["call k1_aic", "barrier all", "set-flag aic-to-aiv"]);
    assert_has(&vector(&program, 0), &["call k1_aiv", "barrier all", "set-flag aiv-to-aic", "notify 7"]);
}

#[test]
fn records_enclose_what_they_measure() {
    let options = format!("{NO_EXTRAS}:profiling=1:debug-dcci-all=1:debug-sync-all=1");
    let program = KernelBuilder::new(&options).op(OpBuilder::aiv(1).sends(&[7])).op(OpBuilder::aiv(2)).plan();
    let lines = vector(&program, 1);
    assert_has(&lines, &["record", "record", "pipe-barrier", "flush", "barrier aiv", "record"]);
    // Every core of the kind records the notify, block 0 alone makes it.
    assert_has(&lines, &["barrier aiv", "record 7", "record 7", "record", "call k1_aiv"]);
    assert_has(&vector(&program, 0), &["record 7", "notify 7", "record 7"]);
}

#[test]
fn preloads_run_one_op_ahead() {
    let program =
        KernelBuilder::new("early-start=0").ops([OpBuilder::aiv(1), OpBuilder::mix(2), OpBuilder::aiv(2)]).plan();
    let lines = vector(&program, 0);
    assert_eq!(lines[..3], ["preload k0_aiv 2", "preload k1_aiv 2", "call k0_aiv"]);
    assert_eq!(lines[3..6], ["preload k2_aiv 3", "barrier all", "call k1_aiv"]);
    assert_eq!(cube(&program, 0)[..2], ["preload k1_aic 2", "barrier all"]);
}

#[test]
fn missing_sizes_stop_the_source_but_not_the_plan() {
    let kernel = KernelBuilder::new("").op(OpBuilder::aiv(2)).build();
    let program = superkernel::plan::plan(&kernel, &superkernel::objects::TextSizes::default()).unwrap();
    assert!(program.text().contains("units=?"));
    let error = emit(&program).unwrap_err();
    assert!(matches!(error, EmitError::UnknownSize { .. }));
    assert_eq!(error.id(), "SK0502");
}

#[test]
fn a_broken_program_is_reported_with_all_its_faults() {
    let mut program =
        KernelBuilder::new(NO_EXTRAS).ops([OpBuilder::aiv(2), OpBuilder::aiv(2), OpBuilder::aiv(2)]).plan();
    let is_barrier = |action: &Action| matches!(action, Action::Barrier(_));
    let at = program.steps.iter().position(|step| is_barrier(&step.action)).unwrap();
    let mut unordered = program.clone();
    // Each core waits for itself, and for nobody else.
    for step in unordered.steps.iter_mut().filter(|step| is_barrier(&step.action)) {
        step.action = Action::PipeBarrier;
    }
    let found = verify(&unordered).unwrap_err();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].to_string().contains("op 1 can start before op 0"), "{found:?}");
    program.steps[at].reason = None;
    program.steps[at].action = Action::Barrier(superkernel::program::Barrier::All);
    let found = verify(&program).unwrap_err();
    assert_eq!(found.len(), 2, "{found:?}");
}

/// Entries of `op_list` that are skipped make an op's index differ from its position; whoever reads a message counts
/// entries.
#[test]
fn violations_name_ops_by_their_place_in_the_op_list() {
    let found = |builder: KernelBuilder, spoil: &dyn Fn(&mut Program)| {
        let mut program = builder.skipping(10).plan();
        spoil(&mut program);
        let mut found: Vec<String> = verify(&program).unwrap_err().iter().map(ToString::to_string).collect();
        found.sort_unstable();
        found
    };
    let drop = |dropped: fn(&Action) -> bool| {
        move |program: &mut Program| {
            let at = program.steps.iter().position(|step| dropped(&step.action)).unwrap();
            program.steps.remove(at);
        }
    };
    // A flag between the sides that nobody raises.
    let sides = [OpBuilder::aic(1).sends(&[1]), OpBuilder::aiv(1).on(2), OpBuilder::aiv(2).on(1).receives(&[1])];
    let lines = found(KernelBuilder::new(SEVERAL).ops(sides), &drop(|action| matches!(action, Action::SetFlag { .. })));
    assert_has(&lines, &["aiv 0.0 waits for ever for flag 13 of the flag from op 10 to op 12 at op 12"]);
    // A hand-over that nobody starts.
    let pair = || [OpBuilder::aiv(2), OpBuilder::aiv(2)];
    let lines =
        found(KernelBuilder::new(EARLY).ops(pair()), &drop(|action| matches!(action, Action::EarlyStartSet { .. })));
    assert_has(&lines, &["aiv 0.0 waits for ever for flag 14 of the hand-over to op 11 at op 11"]);
    // Own waits: one set is missing, so the next op's is taken instead.
    let own = [OpBuilder::aiv(2).waits_itself(), OpBuilder::aiv(2)];
    let lines =
        found(KernelBuilder::new(EARLY).ops(own), &drop(|action| matches!(action, Action::EarlyStartSet { .. })));
    assert_has(&lines, &["aiv 0.0 waits for ever for flag 14 of the own wait of op 10 at op 10"]);
    // A core that does not come to the barrier.
    let lines = found(KernelBuilder::new(NO_EXTRAS).ops(pair()), &|program| {
        let step = program.steps.iter_mut().find(|step| matches!(step.action, Action::Barrier(_))).unwrap();
        let mut alone = step.clone();
        alone.cores = Cores::first_of(CoreKind::Aiv);
        step.action = Action::PipeBarrier;
        let at = program.steps.iter().position(|step| step.action == Action::PipeBarrier).unwrap();
        program.steps.insert(at, alone);
    });
    assert_has(&lines, &["aiv 0.0 waits for ever for flag 14 of the barrier at op 11 (list order) at op 11"]);
    // A core that does not follow the `SyncAll` of an op.
    let fed = [OpBuilder::aiv(1).calls_sync_all(), OpBuilder::aiv(2)];
    let builder = KernelBuilder::new("preload-code=none:early-start=0:feed-sync-all=1").ops(fed);
    let complement = |action: &Action| matches!(action, Action::ComplementSyncAll);
    let lines = found(builder.clone(), &drop(complement));
    assert_has(&lines, &["aiv 1.0 lacks the step complement-sync-all of op 10"]);
    // What the flags would make of it.
    let mut program = builder.skipping(10).plan();
    drop(complement)(&mut program);
    let played = play(&program, &[0, 1], Schedule::Eager(CoreKind::Aiv), Accounting::PerCore);
    let lines: Vec<String> = played.unwrap_err().iter().map(ToString::to_string).collect();
    let wait = "on aiv 0.0 the wait of flag 14 for the SyncAll inside op 10 takes the set of the barrier at op 11";
    assert!(lines.iter().any(|line| line.starts_with(wait)), "{lines:#?}");
    assert!(lines.iter().all(|line| !line.contains("position")), "{lines:#?}");
}

#[test]
fn names_cannot_break_out_of_comments() {
    let mut op = OpBuilder::aiv(2);
    op.name = Some("evil\nint x; // \\\n??/".to_owned());
    let mut kernel = KernelBuilder::new("").op(OpBuilder::aiv(2)).build();
    let mut evil = (*kernel.ops[OpPosition::FIRST].kernel).clone();
    evil.kernel_name = op.name.unwrap().into();
    kernel.ops[OpPosition::FIRST].kernel = std::sync::Arc::new(evil);
    let program = superkernel::plan::plan(&kernel, &crate::integration::support::sizes(&kernel)).unwrap();
    let source = emit(&program).unwrap();
    assert!(source.contains("// op 0: evil_int x_ //"), "{source}");
    assert!(!source.contains("??/") && !source.contains("evil\n"));
}
