//! Cores that do the same.

use std::collections::{HashMap, HashSet};

use super::requires::{index_of_class, is_first_of};
use super::{CoreId, CoreIndex, Cores, Part, Program};
use crate::model::CoreKind;

/// Blocks that behave differently: block 0, and two of each group that the conditions of the steps or the block counts
/// of the ops tell apart.
///
/// Blocks of a group do the same, so a launch of these alone meets, waits and counts like the whole one; two, because
/// order inside a group matters as well.
pub(crate) fn representative_blocks(program: &Program) -> Vec<u32> {
    /// More groups than this are sampled: a real chip has not that many cores.
    const MOST: usize = 64;
    let per_block = u32::from(program.kernel_type.task_ratio().1).max(1);
    let mut blocks: Vec<u32> = vec![0, 1];
    for (index, count) in conditions(program) {
        match index {
            CoreIndex::Block => blocks.extend([count, count.saturating_add(1)]),
            CoreIndex::Core => {
                // On cube cores this index is the block; on vector cores a block may be cut in two.
                let whole = count.div_ceil(per_block);
                blocks.extend([count, count.saturating_add(1), count / per_block, whole, whole.saturating_add(1)]);
            }
        }
    }
    blocks.retain(|block| *block < program.block_num);
    blocks.sort_unstable();
    blocks.dedup();
    let stride = blocks.len().div_ceil(MOST).max(1);
    blocks.into_iter().step_by(stride).collect()
}

/// Blocks that every condition of a step, and every op's block count, treats alike: the first of each row of them, and
/// how many they are. Block 0 stands alone.
pub(super) fn block_groups(program: &Program) -> Vec<(u32, u32)> {
    let per_block = u32::from(program.kernel_type.task_ratio().1).max(1);
    let mut starts: Vec<u32> = vec![0, 1];
    for (index, count) in conditions(program) {
        match index {
            CoreIndex::Block => starts.push(count),
            // On cube cores this index is the block; on vector cores a block may be cut in two.
            CoreIndex::Core => starts.extend([count, count / per_block, count.div_ceil(per_block)]),
        }
    }
    starts.retain(|block| *block < program.block_num);
    starts.sort_unstable();
    starts.dedup();
    let ends = starts.iter().copied().skip(1).chain([program.block_num]);
    starts.iter().zip(ends).map(|(&start, end)| (start, end - start)).collect()
}

/// Where groups of cores end: by steps, and by ops.
fn conditions(program: &Program) -> HashSet<(CoreIndex, u32)> {
    let by_steps = program.steps.iter().filter_map(|step| match step.cores.part {
        Part::Below(index, count) | Part::From(index, count) => Some((index, count)),
        Part::All | Part::First => None,
    });
    let by_ops = program.ops.iter().map(|op| (index_of_class(op.class()), op.block_num));
    by_steps.chain(by_ops).collect()
}

/// One core of each class: of each kind, and of each row of cores that every condition treats alike.
pub(super) fn one_of_each_class(program: &Program) -> Vec<CoreId> {
    let conditions = conditions(program);
    let mut seen: HashSet<(CoreKind, bool, Vec<bool>)> = HashSet::new();
    let mut is_new = |core: &CoreId| {
        let sides = conditions.iter().map(|(index, count)| core.index(*index) < u64::from(*count)).collect();
        seen.insert((core.kind, is_first_of(*core, core.kind), sides))
    };
    program
        .cores(block_groups(program).into_iter().map(|(first, _)| first))
        .into_iter()
        .filter(|core| is_new(core))
        .collect()
}

/// The steps that a core takes, for any core: who takes what is decided once per kind of condition.
pub(crate) struct Takers {
    /// By step: which condition.
    conditions: Vec<u32>,
    /// The conditions.
    groups: Vec<Cores>,
}

impl Takers {
    pub(crate) fn of(program: &Program) -> Self {
        let mut known: HashMap<Cores, u32> = HashMap::new();
        let mut groups = Vec::new();
        let mut number = |cores: Cores| {
            *known.entry(cores).or_insert_with(|| {
                groups.push(cores);
                groups.len() as u32 - 1
            })
        };
        let conditions = program.steps.iter().map(|step| number(step.cores)).collect();
        Self { conditions, groups }
    }

    /// Numbers of the steps that `core` takes, in order.
    pub(crate) fn steps_of(&self, core: CoreId) -> impl Iterator<Item = usize> + '_ {
        let takes: Vec<bool> = self.groups.iter().map(|group| group.contain(core)).collect();
        self.conditions.iter().enumerate().filter(move |(_, group)| takes[**group as usize]).map(|(step, _)| step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{KernelType, OpPosition, SuperKernelType};
    use crate::program::Kinds;

    /// A 1:2 kernel whose ops have these types and block counts, and whose steps are for every core.
    fn program(kernel_type: SuperKernelType, blocks: u32, ops: &[(KernelType, u32)]) -> Program {
        let mut program = Program::read(include_str!("../../tests/cases/several_streams/program.txt")).unwrap();
        let facts = program.ops[OpPosition::FIRST].clone();
        let with = |&(kernel_type, block_num): &(KernelType, u32)| {
            let mut facts = facts.clone();
            (facts.kernel_type, facts.block_num) = (kernel_type, block_num);
            facts
        };
        program.ops = ops.iter().map(with).collect();
        program.steps.iter_mut().for_each(|step| step.cores = Cores { kinds: Kinds::Every, part: Part::All });
        (program.kernel_type, program.block_num) = (kernel_type, blocks);
        program
    }

    #[test]
    fn blocks_are_told_apart_where_ops_and_steps_end() {
        use KernelType::{AicOnly, AivOnly, MixAic1_2};
        let mut mixed = program(SuperKernelType::Mix1_2, 10, &[(MixAic1_2, 4), (AivOnly, 5), (AicOnly, 10)]);
        // Vector core 5 is the second one of block 2; on cube cores the same number is block 5.
        assert_eq!(block_groups(&mixed), [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (5, 5)]);
        assert_eq!(representative_blocks(&mixed), [0, 1, 2, 3, 4, 5, 6]);
        mixed.steps[3].cores.part = Part::From(CoreIndex::Block, 8);
        assert_eq!(block_groups(&mixed), [(0, 1), (1, 1), (2, 1), (3, 1), (4, 1), (5, 3), (8, 2)]);
        mixed.steps[4].cores.part = Part::Below(CoreIndex::Core, 19);
        assert_eq!(block_groups(&mixed).last(), Some(&(9, 1)));
        mixed.steps[4].cores.part = Part::First;
        assert_eq!(block_groups(&mixed).last(), Some(&(8, 2)));
        let vectors = program(SuperKernelType::Aiv, 6, &[(AivOnly, 6), (AivOnly, 3)]);
        assert_eq!(block_groups(&vectors), [(0, 1), (1, 2), (3, 3)]);
        assert_eq!(representative_blocks(&vectors), [0, 1, 3, 4]);
        let single = program(SuperKernelType::Aic, 1, &[(AicOnly, 1)]);
        assert_eq!((block_groups(&single), representative_blocks(&single)), (vec![(0, 1)], vec![0]));
    }

    #[test]
    fn very_many_groups_are_sampled() {
        let ops = |count: u32| (1..=count).map(|end| (KernelType::AicOnly, 2 * end)).collect::<Vec<_>>();
        let blocks = |count| representative_blocks(&program(SuperKernelType::Aic, 1000, &ops(count)));
        assert_eq!(blocks(31), (0..64).collect::<Vec<u32>>());
        assert_eq!(blocks(32), (0..66).step_by(2).collect::<Vec<u32>>());
    }

    #[test]
    fn every_core_is_like_one_that_is_chosen() {
        use KernelType::{AivOnly, MixAic1_2};
        let mut mixed = program(SuperKernelType::Mix1_2, 12, &[(MixAic1_2, 4), (AivOnly, 5), (MixAic1_2, 1)]);
        mixed.steps[2].cores.part = Part::From(CoreIndex::Core, 17);
        mixed.steps[5].cores.part = Part::First;
        let conditions = conditions(&mixed);
        let look = |core: CoreId| {
            let sides: Vec<bool> =
                conditions.iter().map(|(index, count)| core.index(*index) < u64::from(*count)).collect();
            let steps: Vec<bool> = mixed.steps.iter().map(|step| step.cores.contain(core)).collect();
            (core.kind, sides, steps)
        };
        let chosen = one_of_each_class(&mixed);
        let looks: Vec<_> = chosen.iter().map(|core| look(*core)).collect();
        assert!((0..looks.len()).all(|place| !looks[..place].contains(&looks[place])), "{chosen:?}");
        for core in mixed.cores(0..12) {
            assert!(looks.contains(&look(core)), "{core} is like none of {chosen:?}");
        }
        let cubes = program(SuperKernelType::Aic, 10, &[(KernelType::AicOnly, 4)]);
        let blocks: Vec<u32> = one_of_each_class(&cubes).iter().map(|core| core.block).collect();
        assert_eq!(blocks, [0, 1, 4]);
    }
}
