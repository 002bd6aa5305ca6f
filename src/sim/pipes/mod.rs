//! The pipes of a core: who is ordered with whom, and what happens if nobody is.
//!
//! *In order*: every instruction executes when it is issued, and nothing in here runs. *Checked* ([`watch`]): the same, and
//! every access gets the clock of its pipe ([`order`]); of two accesses to the same bytes ([`shadow`]) at least one of
//! them writing, one must have ended before the other starts. *Reordered* (`sim::machine::delayed`): instructions wait in
//! queues, and a seed decides which pipe goes on. A model of time ([`timeline`]) tells when instructions would run.

mod bounds;
pub(crate) mod order;
mod overlap;
pub(crate) mod scene;
mod shadow;
pub(crate) mod timeline;
mod unit_flags;
pub(crate) mod watch;

use crate::aicore::Pipe;

/// The pairs of pipes that AscendC has an event for.
const HARD_EVENTS: [(Pipe, Pipe); 34] = {
    use Pipe::{Fix, M, Mte1, Mte2, Mte3, S, V};
    [
        (Mte2, Mte1),
        (Mte1, Mte2),
        (Mte1, M),
        (M, Mte1),
        (Mte2, V),
        (V, Mte2),
        (Mte3, V),
        (V, Mte3),
        (M, V),
        (V, M),
        (Mte3, Mte1),
        (Mte1, Mte3),
        (Mte1, V),
        (Mte2, M),
        (M, Mte2),
        (V, Mte1),
        (M, Fix),
        (Fix, M),
        (Mte3, Mte2),
        (Mte2, Mte3),
        (S, V),
        (V, S),
        (S, Mte2),
        (Mte2, S),
        (S, Mte3),
        (Mte3, S),
        (Mte2, Fix),
        (Fix, Mte2),
        (Fix, S),
        (M, S),
        (Fix, Mte3),
        (Mte1, Fix),
        (Fix, Mte1),
        (Fix, Fix),
    ]
};

/// What a kernel would write to have `second` start behind `first`.
fn missing_order(first: Pipe, second: Pipe) -> String {
    if first == second {
        format!("PipeBarrier<PIPE_{}>", first.name())
    } else if HARD_EVENTS.contains(&(first, second)) {
        format!("SetFlag<HardEvent::{0}_{1}> and WaitFlag<HardEvent::{0}_{1}>", first.name(), second.name())
    } else {
        "PipeBarrier<PIPE_ALL>".to_owned()
    }
}
