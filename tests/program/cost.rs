//! The cost model on random programs: what must hold whatever the prices and durations are.

use proptest::prelude::*;
use superkernel::cost::account::Part;
use superkernel::cost::play::{Launch, Played, Timeline, play};
use superkernel::cost::prices::{Effect, PerPrice, Price};
use superkernel::cost::work::{OpWork, Spent};
use superkernel::model::{ByPosition, CoreKind, OpPosition, StreamForm, SuperKernel};
use superkernel::objects::TextSizes;
use superkernel::program::{Action, Barrier, EdgeOrigin, Kinds, Program};

use super::random::{Seed, kernel, seed};
use crate::integration::support::{KernelBuilder, OpBuilder, sizes};

/// Programs per run.
fn cases() -> u32 {
    std::env::var("SUPERKERNEL_PROGRAMS").ok().and_then(|text| text.parse().ok()).map_or(1000, |all: u32| all / 10)
}

/// A planned kernel with random prices and work.
struct Case {
    kernel: SuperKernel,
    program: Program,
    sizes: TextSizes,
    work: ByPosition<OpWork>,
    prices: PerPrice,
}

impl Case {
    fn new(seed: &Seed, numbers: &[f64], prices: PerPrice, uneven: bool) -> Option<Self> {
        let builder = kernel(seed);
        let kernel = builder.try_build().ok()?;
        let program = builder.try_plan().ok()?;
        let number = |place: usize| numbers[place % numbers.len()];
        let work = (0..program.ops.len())
            .map(|op| {
                if uneven {
                    let spent = |from: usize| Spent::PerCore((0..16).map(|core| number(from + core)).collect());
                    OpWork { aic: spent(op), aiv: spent(3 * op + 1) }
                } else {
                    OpWork { aic: Spent::Even(number(op)), aiv: Spent::Even(number(3 * op + 1)) }
                }
            })
            .collect();
        let sizes = sizes(&kernel);
        Some(Self { kernel, program, sizes, work, prices })
    }

    fn play(&self, program: &Program, prices: &PerPrice, played: Played) -> Timeline {
        play(Launch { program, sizes: &self.sizes, work: &self.work }, prices, played)
            .unwrap_or_else(|error| panic!("{error}\n{}", program.text()))
    }

    fn total(&self, program: &Program, prices: &PerPrice) -> f64 {
        self.play(program, prices, Played::Every).total
    }

    /// No launch can be shorter: the longest chain of ops that must follow each other, by their slowest core, without
    /// what early start may hide.
    fn critical_path(&self) -> f64 {
        let hidden = |price: Price, hides: bool| if hides { self.prices[price as usize] } else { 0.0 };
        let weight = |op: OpPosition| {
            let facts = &self.program.ops[op];
            let early = self.kernel.ops[op].kernel.early_start;
            let cores = self.program.cores(0..self.program.block_num);
            let runs = |core: &superkernel::program::CoreId| {
                let index = if facts.class() == superkernel::model::CoreClass::Aiv {
                    u64::from(core.block) * u64::from(core.sub_blocks) + u64::from(core.sub_block)
                } else {
                    u64::from(core.block)
                };
                facts.class().runs_on(core.kind) && (facts.is_dynamic || index < u64::from(facts.block_num))
            };
            let slowest = cores
                .iter()
                .filter(|core| runs(core))
                .map(|core| self.work[op].of(core.kind).on(*core))
                .fold(0.0, f64::max);
            let hides = hidden(Price::OpHead, early.waits_itself) + hidden(Price::OpTail, early.sets_itself);
            (slowest - hides).max(0.0)
        };
        let count = self.program.ops.len();
        let mut before: ByPosition<Vec<OpPosition>> = ByPosition::filled(count, Vec::new());
        match self.program.form {
            StreamForm::One => {
                for (op, required) in self.program.requires.ops.enumerate() {
                    before[op].extend(&required.after);
                }
            }
            StreamForm::Several => {
                for edge in &self.program.edges {
                    match edge.origin {
                        EdgeOrigin::Stream(_) | EdgeOrigin::Event(_) => before[edge.receiver].push(edge.sender),
                        EdgeOrigin::FlowControl => {}
                    }
                }
            }
        }
        // Events may run against op order: as many rounds as there are ops settle every chain.
        let positions: Vec<OpPosition> = (0..count).map(OpPosition::at).collect();
        let mut end: ByPosition<f64> = positions.iter().map(|op| weight(*op)).collect();
        for _ in 0..count {
            for &op in &positions {
                let begin = before[op].iter().map(|before| end[*before]).fold(0.0, f64::max);
                end[op] = begin + weight(op);
            }
        }
        positions.iter().map(|op| end[*op]).fold(0.0, f64::max) + self.prices[Price::TaskStart as usize]
    }
}

fn prices() -> impl Strategy<Value = PerPrice> {
    prop::array::uniform14(prop::sample::select(&[0.0, 0.05, 0.3, 1.0, 4.0][..]))
}

fn work() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(prop::sample::select(&[0.0, 0.2, 1.0, 3.0, 10.0, 11.0][..]), 7..20)
}

/// Rounding of long sums.
const TINY: f64 = 1e-6;

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn never_below_the_critical_path(seed in seed(12), work in work(), prices in prices(), uneven in any::<bool>()) {
        let Some(case) = Case::new(&seed, &work, prices, uneven) else { return Ok(()) };
        let (total, bound) = (case.total(&case.program, &prices), case.critical_path());
        prop_assert!(total >= bound - TINY, "{total} < {bound}\n{}", case.program.text());
    }

    #[test]
    fn without_a_barrier_it_is_never_slower(seed in seed(12), work in work(), prices in prices(), pick in any::<usize>()) {
        let Some(case) = Case::new(&seed, &work, prices, true) else { return Ok(()) };
        let removable = |step: &superkernel::program::Step| match (&step.action, step.cores.kinds) {
            (Action::Barrier(Barrier::All), kinds) => kinds == Kinds::Every,
            (Action::Barrier(_), _) => true,
            _ => false,
        };
        let barriers: Vec<usize> =
            (0..case.program.steps.len()).filter(|step| removable(&case.program.steps[*step])).collect();
        if barriers.is_empty() {
            return Ok(());
        }
        let mut without = case.program.clone();
        without.steps.remove(barriers[pick % barriers.len()]);
        let (with, without) = (case.total(&case.program, &prices), case.total(&without, &prices));
        prop_assert!(without <= with + TINY, "{without} > {with}\n{}", case.program.text());
    }

    #[test]
    fn monotone_in_every_price(seed in seed(12), work in work(), prices in prices(), more in 0.01f64..5.0) {
        let Some(case) = Case::new(&seed, &work, prices, true) else { return Ok(()) };
        let total = case.total(&case.program, &prices);
        for price in Price::all() {
            let mut raised = prices;
            raised[price as usize] += more;
            let changed = case.total(&case.program, &raised);
            match price.effect() {
                Effect::Costs => prop_assert!(changed >= total - TINY, "{price}: {changed} < {total}"),
                Effect::Saves => prop_assert!(changed <= total + TINY, "{price}: {changed} > {total}"),
            }
        }
    }

    /// The parts of the critical path are the total; so are counts times prices plus work; and every core's account is
    /// the whole time.
    #[test]
    fn every_microsecond_is_accounted_for(seed in seed(12), work in work(), prices in prices(), uneven in any::<bool>()) {
        let Some(case) = Case::new(&seed, &work, prices, uneven) else { return Ok(()) };
        let timeline = case.play(&case.program, &prices, Played::Every);
        let parts: f64 = timeline.path.parts.iter().sum();
        prop_assert!((parts - timeline.total).abs() < TINY, "{parts} != {}", timeline.total);
        for (core, account) in &timeline.cores {
            let sum: f64 = account.parts.iter().sum::<f64>() + account.waiting;
            prop_assert!((sum - timeline.total).abs() < TINY, "{core}: {sum} != {}", timeline.total);
        }
        if !uneven {
            let sum: f64 = timeline.path.counts.iter().zip(&prices).map(|(count, price)| count * price).sum();
            let most: f64 =
                timeline.path.ops.iter().map(|(op, times)| times * case.work[*op].most(&CoreKind::BOTH)).sum();
            prop_assert!(sum + most >= timeline.total - TINY, "{sum} + {most} < {}", timeline.total);
        }
    }

    /// A core of each group stands for all of them.
    #[test]
    fn some_cores_tell_as_much_as_all(seed in seed(12), work in work(), prices in prices()) {
        let Some(case) = Case::new(&seed, &work, prices, false) else { return Ok(()) };
        let all = case.play(&case.program, &prices, Played::Every).total;
        let some = case.play(&case.program, &prices, Played::Representative).total;
        prop_assert!((all - some).abs() < TINY, "{all} != {some}\n{}", case.program.text());
    }
}

/// Default prices.
fn defaults() -> PerPrice {
    *superkernel::cost::prices::Prices::default().values()
}

fn timeline(builder: &KernelBuilder, work: &[OpWork], prices: &PerPrice) -> Timeline {
    let work = &work.to_vec().into();
    let kernel = builder.build();
    let program = builder.plan();
    play(Launch { program: &program, sizes: &sizes(&kernel), work }, prices, Played::Every).unwrap()
}

#[test]
fn one_op_is_the_sum_of_its_parts() {
    let prices = defaults();
    for (op, options, units) in [
        (OpBuilder::aiv(8), "early-start=0:preload-code=none:split-mode=1", 2.0),
        (OpBuilder::aic(8), "early-start=0:preload-code=none:split-mode=1", 1.0),
        (OpBuilder::aiv(8), "preload-code=none:split-mode=1", 2.0),
    ] {
        let found = timeline(&KernelBuilder::new(options).op(op), &[OpWork::even(5.0)], &prices);
        let code = units * (prices[Price::CodeMiss as usize] + 7.0 * prices[Price::CodeShare as usize]);
        let sum = prices[Price::TaskStart as usize] + code + 5.0;
        assert!((found.total - sum).abs() < TINY, "{options}: {} != {sum}", found.total);
        assert_eq!(found.path.part(Part::Barrier), 0.0);
    }
}

#[test]
fn a_barrier_waits_for_the_slowest_core() {
    let mut prices = [0.0; Price::COUNT];
    prices[Price::FlagAll as usize] = 0.5;
    let builder = KernelBuilder::new("early-start=0:preload-code=none").ops([
        OpBuilder::aiv(2),
        OpBuilder::aiv(2),
        OpBuilder::aiv(2),
    ]);
    let uneven = |first: f64, second: f64| OpWork { aic: Spent::default(), aiv: Spent::PerCore(vec![first, second]) };
    let found = timeline(&builder, &[uneven(4.0, 1.0), uneven(1.0, 2.0), uneven(1.0, 1.0)], &prices);
    assert!((found.total - (4.0 + 0.5 + 2.0 + 0.5 + 1.0)).abs() < TINY, "{}", found.total);
    assert!((found.path.part(Part::Barrier) - 1.0).abs() < TINY);
    assert!((found.ops[OpPosition::at(0)].imbalance() - 1.5).abs() < TINY);
    assert!((found.cores[1].1.waiting - 3.0).abs() < TINY, "{:?}", found.cores[1].1);
}

#[test]
fn streams_side_by_side_overlap() {
    let prices = [0.0; Price::COUNT];
    let ops = |stream| [OpBuilder::aic(4).on(0), OpBuilder::aiv(4).on(stream)];
    let work = [OpWork::even(10.0), OpWork::even(7.0)];
    let one = timeline(&KernelBuilder::new("").ops(ops(0)), &work, &prices);
    let two = timeline(&KernelBuilder::new("stream-fusion=1").ops(ops(1)), &work, &prices);
    assert!((one.total - 17.0).abs() < TINY, "{}", one.total);
    assert!((two.total - 10.0).abs() < TINY, "{}", two.total);
}

#[test]
fn early_start_hides_the_heads_and_tails_of_ops_that_take_part() {
    let mut prices = [0.0; Price::COUNT];
    prices[Price::OpHead as usize] = 1.0;
    prices[Price::OpTail as usize] = 2.0;
    let work = [OpWork::even(10.0), OpWork::even(10.0)];
    let plain = timeline(&KernelBuilder::new("").ops([OpBuilder::aiv(4), OpBuilder::aiv(4)]), &work, &prices);
    let waits =
        timeline(&KernelBuilder::new("").ops([OpBuilder::aiv(4), OpBuilder::aiv(4).waits_itself()]), &work, &prices);
    assert!((plain.total - 20.0).abs() < TINY);
    // Both ops are on the same cores, which cannot start the second one before the first is done.
    assert!((waits.total - 20.0).abs() < TINY, "{}", waits.total);
    // On other cores it can: the cube op starts its head while the vector op still runs.
    let other = [OpBuilder::aiv(4), OpBuilder::aic(4).waits_itself()];
    let hidden = timeline(&KernelBuilder::new("").ops(other), &work, &prices);
    assert!((hidden.total - 19.0).abs() < TINY, "{}", hidden.total);
    // A set in front of its tail lets cores go on that did not run it.
    let late = OpWork { aic: Spent::default(), aiv: Spent::PerCore(vec![1.0, 1.0, 10.0, 10.0]) };
    let work = [OpWork::even(10.0), late];
    for (first, total) in [(OpBuilder::aiv(2), 19.0), (OpBuilder::aiv(2).sets_itself(), 17.0)] {
        let hidden = timeline(&KernelBuilder::new("").ops([first, OpBuilder::aiv(4).waits_itself()]), &work, &prices);
        assert!((hidden.total - total).abs() < TINY, "{}", hidden.total);
    }
}

#[test]
fn preloading_hides_a_fetch_behind_the_op_before() {
    let mut prices = [0.0; Price::COUNT];
    prices[Price::CodeMiss as usize] = 1.0;
    let ops = || [OpBuilder::aiv(4), OpBuilder::aiv(4)];
    // Sizes: 2 and 2 units.
    let total = |options: &str, us: f64| {
        timeline(&KernelBuilder::new(options).ops(ops()), &[OpWork::even(us), OpWork::even(us)], &prices).total
    };
    assert!((total("preload-code=none", 10.0) - (2.0 + 10.0 + 2.0 + 10.0)).abs() < TINY);
    assert!((total("preload-code=per-func", 10.0) - (2.0 + 10.0 + 10.0)).abs() < TINY);
    // The second fetch queues behind the first and takes longer than the first op runs.
    assert!((total("preload-code=per-func", 0.5) - (2.0 + 2.0 + 0.5)).abs() < TINY);
}

#[test]
fn copies_take_cores_away_from_one_address() {
    let mut prices = [0.0; Price::COUNT];
    prices[Price::CodeShare as usize] = 0.1;
    let total = |options: &str| {
        timeline(&KernelBuilder::new(options).op(OpBuilder::aiv(48)), &[OpWork::even(1.0)], &prices).total
    };
    assert!((total("preload-code=none:split-mode=1") - (1.0 + 2.0 * 47.0 * 0.1)).abs() < TINY);
    assert!((total("preload-code=none:split-mode=4") - (1.0 + 2.0 * 11.0 * 0.1)).abs() < TINY);
}

#[test]
fn idle_cores_wait_and_more_cores_than_needed_are_worse() {
    let prices = defaults();
    let ops = || [OpBuilder::aiv(4), OpBuilder::aiv(4)];
    let work = [OpWork::even(5.0), OpWork::even(5.0)];
    let needed = timeline(&KernelBuilder::new("early-start=0").ops(ops()), &work, &prices);
    let forced =
        timeline(&KernelBuilder::new("early-start=0:debug-aic-num=24:debug-aiv-num=48").ops(ops()), &work, &prices);
    assert!(forced.total > needed.total, "a barrier over both kinds takes longer: {} {}", forced.total, needed.total);
    assert!(forced.cores.len() > needed.cores.len());
}
