use super::*;
use crate::sim::interface::report::{CoreReport, Counts, ReportedOp};
use crate::sim::interface::status::Status;

fn event(step: u64, what: Happening, cause: Option<(&str, u64)>) -> Event {
    let cause = cause.map(|(core, step)| (core.to_owned(), step));
    Event { step, core: "AIV0".to_owned(), what, op: Some("k".to_owned()), detail: None, position: Some(0), cause }
}

fn core(name: &str) -> CoreReport {
    CoreReport {
        core: name.to_owned(),
        kind: "aiv".into(),
        block: 0,
        sub_block: 0,
        state: "finished".into(),
        op: None,
        last_op: None,
        activity: None,
        flag: None,
        polls: None,
        counters: Default::default(),
        in_block_counters: Default::default(),
        pending: Default::default(),
        why: None,
        counts: Counts::default(),
    }
}

fn report(events: Vec<Event>) -> Report {
    Report {
        status: Status::Ok,
        message: String::new(),
        failure: None,
        steps: 100,
        switches: 0,
        counts: Counts::default(),
        cores: vec![core("AIV0"), core("AIV1")],
        events,
        events_dropped: 3,
        ops: vec![ReportedOp { name: "k".to_owned(), stream: Some(2) }],
        hazards: Vec::new(),
        findings: Vec::new(),
        pipes: Default::default(),
        unchecked: Vec::new(),
        cache: Default::default(),
        instructions: Vec::new(),
        warnings: Vec::new(),
        output: Vec::new(),
        agents: Vec::new(),
    }
}

#[test]
fn waits_stand_inside_what_they_belong_to_and_know_their_set() {
    let trace = report(vec![
        event(3, Happening::OpBegin, None),
        event(3, Happening::Preload, None),
        event(5, Happening::SyncAll, None),
        event(6, Happening::Set, None),
        event(8, Happening::Blocked, None),
        event(20, Happening::Waited, Some(("AIV1", 19))),
        event(20, Happening::SyncAllEnd, None),
        event(30, Happening::OpEnd, None),
    ])
    .trace("kernel", None);
    let told: Vec<_> = trace.tracks[0].slices.iter().map(|slice| (slice.what, slice.start, slice.end)).collect();
    assert_eq!(
        told,
        [
            (What::Op, 3.0, 30.0),
            (What::Preload, 3.0, 3.0),
            (What::SyncAll, 5.0, 20.0),
            (What::Set, 5.0, 6.0),
            (What::Wait, 7.0, 20.0)
        ]
    );
    assert_eq!(trace.arrows, [Arrow { from: 1, at: 19.0, to: 0, slice: 4 }]);
    assert!(trace.notes[0].contains("3 events are missing"));
}

#[test]
fn what_never_ends_ends_with_the_run() {
    let trace =
        report(vec![event(3, Happening::OpBegin, None), event(9, Happening::Blocked, None)]).trace("kernel", None);
    let ends: Vec<f64> = trace.tracks[0].slices.iter().map(|slice| slice.end).collect();
    assert_eq!(ends, [100.0, 100.0]);
    assert!(trace.tracks[0].slices.iter().all(|slice| slice.reason.is_some()));
}
#[test]
fn the_program_tells_why_cores_meet_and_wait() {
    let program = Program::read(include_str!("../../../../tests/cases/several_streams/program.txt")).unwrap();
    let outside = |step, what| Event { op: None, position: None, ..event(step, what, None) };
    let inside = |step, what, op| Event { position: Some(op), ..event(step, what, None) };
    let mut events = vec![
        outside(1, Happening::Preload),
        // The other preload shows nothing.
        inside(3, Happening::OpBegin, 1),
        inside(5, Happening::Set, 1),
        inside(7, Happening::OpEnd, 1),
        outside(9, Happening::Set),
        outside(10, Happening::Blocked),
        outside(14, Happening::Waited),
        outside(16, Happening::Waited),
        inside(17, Happening::OpBegin, 2),
        inside(20, Happening::OpEnd, 2),
        inside(30, Happening::OpBegin, 3),
        inside(31, Happening::OpEnd, 3),
        outside(32, Happening::SyncAll),
        outside(33, Happening::Set),
        outside(36, Happening::Waited),
        outside(36, Happening::SyncAllEnd),
        outside(38, Happening::Set),
    ];
    let ops = (0..6).map(|op| ReportedOp { name: format!("k{op}"), stream: None }).collect();
    let run = Report { ops, ..report(std::mem::take(&mut events)) };
    let trace = run.trace("kernel", Some(&program));
    let told = |slice: &Slice| (slice.what, slice.start, slice.op, slice.reason.as_deref().map(str::to_owned));
    let told: Vec<_> = trace.tracks[0].slices.iter().map(told).collect();
    let why = |reason: &str| Some(reason.to_owned());
    assert_eq!(
        told,
        [
            (What::Preload, 1.0, Some(1), None),
            (What::Op, 3.0, Some(1), None),
            (What::Set, 4.0, Some(1), None),
            (What::Barrier, 8.0, Some(1), why("same stream 1")),
            (What::Set, 8.0, Some(1), why("same stream 1")),
            (What::Wait, 9.0, Some(1), why("same stream 1")),
            (What::Wait, 15.0, Some(2), why("event 1")),
            (What::Op, 17.0, Some(2), None),
            // It set no flag behind op 2: nothing is told until the next op.
            (What::Op, 30.0, Some(3), None),
            (What::Barrier, 32.0, Some(3), why("before outer notify")),
            (What::Set, 32.0, Some(3), why("before outer notify")),
            (What::Wait, 35.0, Some(3), why("before outer notify")),
            (What::Set, 37.0, Some(3), why("same stream 0")),
            (What::Event, 38.0, Some(5), why("outer event 91; it was not ended")),
        ]
    );
    assert_eq!((trace.ops[3].index, trace.ops[3].stream), (3, Some(0)));
    assert_eq!(trace.tracks[0].slices[3].detail.as_deref(), Some("over=aiv"));
    assert_eq!(trace.tracks[0].slices[3].end, 14.0);
}
