//! Random super kernels of all forms.

use proptest::prelude::*;
use superkernel::model::{KernelType, StreamForm};
use superkernel::plan::PlanError;
use superkernel::program::launch::Accounting;

use super::orders::{Order, play_in};
use crate::integration::support::{KernelBuilder, OpBuilder};

/// Programs per run: enough for every change, more on request.
fn cases() -> u32 {
    std::env::var("SUPERKERNEL_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(6_000)
}

/// Everything about an op that does not depend on the others.
#[derive(Debug, Clone)]
struct OpSeed {
    kernel_type: KernelType,
    blocks: u32,
    stream: i64,
    dynamic: bool,
    keys: Vec<(u64, usize)>,
    sets_itself: bool,
    waits_itself: bool,
    calls_sync_all: bool,
    flushes: (bool, bool, bool),
    outer_sends: usize,
    outer_receives: usize,
    /// Of eight buffers, as bits: those it reads and writes.
    touched: (u8, u8),
}

fn op_seed() -> impl Strategy<Value = OpSeed> {
    let kernel_type = prop::sample::select(&KernelType::ALL[..]);
    let keys = prop::collection::vec((any::<u64>(), 0usize..6), 1..5);
    let flushes = (prop::bool::weighted(0.1), prop::bool::weighted(0.1), prop::bool::weighted(0.1));
    (
        (kernel_type, 1u32..5, 0i64..3, prop::bool::weighted(0.15), keys),
        (any::<bool>(), any::<bool>(), prop::bool::weighted(0.3), flushes),
        (prop::sample::select(&[0usize, 0, 0, 1, 2][..]), prop::sample::select(&[0usize, 0, 0, 1, 2][..])),
        ((any::<u8>(), any::<u8>()), (0usize..8, any::<bool>())),
    )
        .prop_map(
            |(
                (kernel_type, blocks, stream, dynamic, keys),
                (sets_itself, waits_itself, calls_sync_all, flushes),
                (outer_sends, outer_receives),
                ((few, fewer), (written, writes)),
            )| OpSeed {
                kernel_type,
                blocks,
                stream,
                dynamic,
                keys,
                sets_itself,
                waits_itself,
                calls_sync_all,
                flushes,
                outer_sends,
                outer_receives,
                touched: (few & fewer, u8::from(writes) << written),
            },
        )
}

#[derive(Debug, Clone)]
pub(super) struct Seed {
    ops: Vec<OpSeed>,
    /// Inner events as pairs of positions, taken modulo the number of ops.
    events: Vec<(usize, usize)>,
    several: bool,
    /// It is known what most ops touch, and most do nothing that orders them all the same.
    regions: bool,
    early_start: u8,
    switches: [bool; 5],
    sync: &'static str,
    preload: &'static str,
    split: u32,
    c310: bool,
}

pub(super) fn seed(most_ops: usize) -> impl Strategy<Value = Seed> {
    (
        prop::collection::vec(op_seed(), 1..most_ops),
        prop::collection::vec((any::<usize>(), any::<usize>()), 0..most_ops),
        (any::<bool>(), prop::bool::weighted(0.3)),
        0u8..3,
        (prop::array::uniform5(prop::bool::weighted(0.3)), prop::sample::select(&["proven", "proven", "contract"][..])),
        prop::sample::select(&["max", "none", "per-func"][..]),
        1u32..6,
        prop::bool::weighted(0.3),
    )
        .prop_map(|(ops, events, (several, regions), early_start, (switches, sync), preload, split, c310)| Seed {
            ops,
            events,
            several,
            regions,
            early_start,
            switches,
            sync,
            preload,
            split,
            c310,
        })
}

/// The op without what orders it whatever it touches.
fn quiet(op: &OpSeed) -> OpSeed {
    let without_flags = [(KernelType::MixAic1_0, KernelType::AicOnly), (KernelType::MixAiv1_0, KernelType::AivOnly)];
    let plain = without_flags.into_iter().find(|(with, _)| *with == op.kernel_type);
    let kernel_type = plain.map_or(op.kernel_type, |(_, plain)| plain);
    let (dynamic, sets_itself, waits_itself, calls_sync_all) = (false, false, false, false);
    let (outer_sends, outer_receives) = (0, 0);
    OpSeed {
        kernel_type,
        dynamic,
        sets_itself,
        waits_itself,
        calls_sync_all,
        outer_sends,
        outer_receives,
        ..op.clone()
    }
}

/// A legal super kernel from a seed: what the model would refuse is left out.
pub(super) fn kernel(seed: &Seed) -> KernelBuilder {
    let count = seed.ops.len();
    let [dcci_all, sync_all, feed, profiling, debug] = seed.switches;
    let number = |on: bool| u8::from(on);
    let options = format!(
        "stream-fusion={}:early-start={}:debug-dcci-all={}:debug-sync-all={}:feed-sync-all={}:profiling={}:preload-code={}:sync={}:split-mode={}",
        number(seed.several),
        seed.early_start,
        number(dcci_all),
        number(sync_all),
        number(feed),
        number(profiling),
        seed.preload,
        seed.sync,
        seed.split
    );
    let mut builder = KernelBuilder::new(&options).cores(4, 8);
    if seed.c310 {
        builder = builder.c310();
    }
    let own_early_start = !seed.several && seed.early_start > 0;
    for (position, op) in seed.ops.iter().enumerate() {
        // One in four is as any other.
        let is_quiet = seed.regions && op.touched.0 % 4 != 3;
        let op = if is_quiet { &quiet(op) } else { op };
        let mut made = OpBuilder::new(op.kernel_type, op.blocks);
        if seed.regions {
            let buffers = |bits: u8| (0..8).filter(|bit| bits >> bit & 1 == 1).map(|bit| (64 * bit, 64)).collect();
            made.regions = Some([buffers(op.touched.0), buffers(op.touched.1)]);
        }
        made.stream = if seed.several { op.stream } else { 0 };
        if op.dynamic {
            let fits = |kernel_type: &KernelType| {
                let kinds = kernel_type.class().kinds();
                kinds.iter().all(|kind| op.kernel_type.class().runs_on(*kind))
            };
            let types: Vec<KernelType> = KernelType::ALL.into_iter().filter(fits).collect();
            let mut keys: Vec<(u64, KernelType)> =
                op.keys.iter().map(|(key, number)| (*key, types[number % types.len()])).collect();
            keys.sort_by_key(|(key, _)| *key);
            keys.dedup_by_key(|(key, _)| *key);
            made.keys = keys;
        } else {
            made.sets_itself = own_early_start && op.sets_itself;
            made.waits_itself = own_early_start && op.waits_itself;
            made.calls_sync_all = op.calls_sync_all;
            made = made.flushes(op.flushes.0, op.flushes.1, op.flushes.2);
            made.debug_output = debug && position == 0;
        }
        if position + 1 < count {
            made.sends = (0..op.outer_sends).map(|number| (1000 + 10 * position + number) as i64).collect();
        }
        if position > 0 {
            made.receives = (0..op.outer_receives).map(|number| (2000 + 10 * position + number) as i64).collect();
        }
        builder.ops.push(made);
    }
    if seed.several {
        // Neighbours on different streams without an event between them: only then there are several streams.
        add_events(seed, &mut builder);
    }
    builder
}

/// Inner events, forwards and backwards, wherever the model allows one.
fn add_events(seed: &Seed, builder: &mut KernelBuilder) {
    let count = seed.ops.len();
    for (number, (sender, receiver)) in seed.events.iter().enumerate() {
        let (sender, receiver) = (sender % count, receiver % count);
        let legal = sender + 1 < count
            && receiver > 0
            && sender != receiver
            && builder.ops[sender].stream != builder.ops[receiver].stream
            // Mostly forwards: a backward event easily closes a circle.
            && (sender < receiver || number % 4 == 0);
        if legal {
            builder.ops[sender].sends.push(number as i64);
            builder.ops[receiver].receives.push(number as i64);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    /// Planning checks the program for a launch with its own block count (`verify`); here it is also played with other
    /// block counts, on all blocks, in other orders.
    #[test]
    fn programs_hold_their_rules(seed in seed(14), seed_of_order in any::<u64>()) {
        let builder = kernel(&seed);
        let Ok(model) = builder.try_build() else {
            // A backward event in the one-stream form.
            return Ok(());
        };
        let program = match builder.try_plan() {
            Ok(program) => program,
            Err(PlanError::Cycle { ops }) => {
                prop_assert!(ops.len() > 1, "a circle of {ops:?}");
                prop_assert_eq!(model.form, StreamForm::Several);
                return Ok(());
            }
            Err(error) => return Err(TestCaseError::fail(format!("{error}"))),
        };
        let full = program.block_num;
        for blocks in [full, full + 1, 1] {
            let all: Vec<u32> = (0..blocks).collect();
            for order in Order::several(seed_of_order) {
                for accounting in [Accounting::PerCore, Accounting::Summed] {
                    let outcome = play_in(&program, &all, order, accounting);
                    let how = format!("{blocks} blocks, {order:?}, {accounting:?}");
                    prop_assert!(outcome.is_ok(), "{how}: {outcome:#?}\n{}", program.text());
                }
            }
        }
    }
}

/// Classes and streams of the ops, events by sender and distance, feed-sync-all.
type LongSeed = (Vec<(u8, i64)>, Vec<(usize, usize)>, bool);

/// Long lists with few streams, so that flags run far ahead of their waits.
fn long_seed() -> impl Strategy<Value = LongSeed> {
    let ops = prop::collection::vec((prop::sample::select(&[0u8, 0, 0, 0, 1, 1, 1, 1, 2][..]), 0i64..3), 20..90);
    let events = prop::collection::vec((any::<usize>(), 1usize..60), 0..120);
    (ops, events, any::<bool>())
}

fn long_kernel((ops, events, feed): &LongSeed, mix: bool) -> KernelBuilder {
    let options = format!("stream-fusion=1:preload-code=none:feed-sync-all={}", u8::from(*feed));
    let mut builder = KernelBuilder::new(&options).cores(2, 4);
    for (class, stream) in ops {
        let op = match class {
            0 => OpBuilder::aic(2),
            1 => OpBuilder::aiv(3),
            _ if mix => OpBuilder::mix(1),
            _ => OpBuilder::aiv(1),
        };
        builder.ops.push(op.on(*stream));
    }
    let count = ops.len();
    for (number, (sender, distance)) in events.iter().enumerate() {
        let sender = sender % count;
        // Now and then against op order.
        let receiver = if number % 9 == 0 { sender.checked_sub(*distance) } else { Some(sender + distance) };
        let Some(receiver) = receiver.filter(|receiver| *receiver > 0 && *receiver < count && sender + 1 < count)
        else {
            continue;
        };
        if builder.ops[sender].stream != builder.ops[receiver].stream {
            builder.ops[sender].sends.push(number as i64);
            builder.ops[receiver].receives.push(number as i64);
        }
    }
    builder
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases() / 5, failure_persistence: None, ..ProptestConfig::default() })]

    /// Thousands of flags that could run ahead never count beyond 15, and no order is lost for it.
    #[test]
    fn flags_stay_countable(seed in long_seed(), mix in any::<bool>(), seed_of_order in any::<u64>()) {
        let builder = long_kernel(&seed, mix);
        let program = match builder.try_plan() {
            Ok(program) => program,
            Err(PlanError::Cycle { .. }) => return Ok(()),
            Err(error) => return Err(TestCaseError::fail(format!("{error}"))),
        };
        let all: Vec<u32> = (0..program.block_num).collect();
        for order in Order::several(seed_of_order) {
            let outcome = play_in(&program, &all, order, Accounting::PerCore);
            prop_assert!(outcome.is_ok(), "{order:?}: {outcome:#?}\n{}", program.text());
        }
    }
}
