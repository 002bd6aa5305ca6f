//! Orders in which the cores of a launch can go on.

use superkernel::model::CoreKind;
use superkernel::program::launch::{Accounting, Outcome, Schedule, play};
use superkernel::program::{Program, Violation};

#[derive(Debug, Clone, Copy)]
pub(super) enum Order {
    /// Cores of one kind run ahead as far as they can.
    Ahead(CoreKind),
    /// By chance, the same every time.
    Random(u64),
}

impl Order {
    /// Both kinds ahead, and one by chance.
    pub(super) fn several(seed: u64) -> [Self; 3] {
        [Self::Ahead(CoreKind::Aic), Self::Ahead(CoreKind::Aiv), Self::Random(seed)]
    }
}

/// Plays a launch in an order.
pub(super) fn play_in(
    program: &Program,
    blocks: &[u32],
    order: Order,
    accounting: Accounting,
) -> Result<Outcome, Vec<Violation>> {
    match order {
        Order::Ahead(kind) => play(program, blocks, Schedule::Eager(kind), accounting),
        Order::Random(mut state) => {
            // The upper bits of a linear congruence: good enough to shuffle.
            let mut choose = |count: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize % count
            };
            play(program, blocks, Schedule::Chosen(&mut choose), accounting)
        }
    }
}
