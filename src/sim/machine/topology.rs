//! Which cores a launch has, and how they are numbered.

use crate::model::{CoreKind, KernelType};

/// Do the cross-core flags work in this launch?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CrossCoreFlags {
    /// The launch has one of the MIX types.
    Working,
    /// `AIV_ONLY` and `AIC_ONLY` launches: the scheduler is off.
    Absent,
}

/// Index of a core in a launch: all AICs by block, then all AIVs by block and sub-block.
pub(crate) type CoreIndex = usize;

/// One core's place in the launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Cube or vector.
    pub kind: CoreKind,
    /// Block index.
    pub block: u32,
    /// Sub-block index of an AIV; 0 on an AIC.
    pub sub_block: u32,
}

/// The cores of a launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Topology {
    /// Number of blocks.
    pub blocks: u32,
    /// AICs per block: 0 or 1.
    pub cubes: u32,
    /// AIVs per block: 0, 1 or 2.
    pub vectors: u32,
    /// Whether cross-core flags work.
    pub flags: CrossCoreFlags,
}

impl Topology {
    /// The cores of `blocks` blocks of `kernel_type`.
    pub(crate) fn new(kernel_type: KernelType, blocks: u32) -> Self {
        let flags = if kernel_type.is_single_arch() { CrossCoreFlags::Absent } else { CrossCoreFlags::Working };
        Self { blocks, cubes: kernel_type.aic_cores(1), vectors: kernel_type.aiv_cores(1), flags }
    }

    /// Number of AICs.
    pub(crate) fn cube_count(&self) -> usize {
        (self.blocks * self.cubes) as usize
    }

    /// Number of AIVs.
    pub(crate) fn vector_count(&self) -> usize {
        (self.blocks * self.vectors) as usize
    }

    /// Number of cores.
    pub(crate) fn core_count(&self) -> usize {
        self.cube_count() + self.vector_count()
    }

    /// Where core `index` sits.
    pub(crate) fn place(&self, index: CoreIndex) -> Place {
        if index < self.cube_count() {
            return Place { kind: CoreKind::Aic, block: index as u32, sub_block: 0 };
        }
        let vector = (index - self.cube_count()) as u32;
        Place { kind: CoreKind::Aiv, block: vector / self.vectors, sub_block: vector % self.vectors }
    }

    /// The AIC of a block.
    pub(crate) fn cube_of(&self, block: u32) -> Option<CoreIndex> {
        (self.cubes > 0).then_some(block as usize)
    }

    /// The AIVs of a block.
    pub(crate) fn vectors_of(&self, block: u32) -> std::ops::Range<CoreIndex> {
        let first = self.cube_count() + (block * self.vectors) as usize;
        first..first + self.vectors as usize
    }

    /// All cores of one kind.
    pub(crate) fn of_kind(&self, kind: CoreKind) -> std::ops::Range<CoreIndex> {
        match kind {
            CoreKind::Aic => 0..self.cube_count(),
            CoreKind::Aiv => self.cube_count()..self.core_count(),
        }
    }

    /// `AIC3` or `AIV7`: the kind and what `GetBlockIdx()` returns there.
    pub(crate) fn name(&self, index: CoreIndex) -> String {
        let place = self.place(index);
        match place.kind {
            CoreKind::Aic => format!("AIC{}", place.block),
            CoreKind::Aiv => format!("AIV{}", place.block * self.vectors + place.sub_block),
        }
    }

    /// The core with this name.
    pub(crate) fn find(&self, name: &str) -> Option<CoreIndex> {
        (0..self.core_count()).find(|&index| self.name(index).eq_ignore_ascii_case(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_the_cores_of_every_type() {
        for (kernel_type, cubes, vectors) in [
            (KernelType::AivOnly, 0, 5),
            (KernelType::AicOnly, 5, 0),
            (KernelType::MixAiv1_0, 0, 5),
            (KernelType::MixAic1_0, 5, 0),
            (KernelType::MixAic1_1, 5, 5),
            (KernelType::MixAic1_2, 5, 10),
        ] {
            let topology = Topology::new(kernel_type, 5);
            assert_eq!((topology.cube_count(), topology.vector_count()), (cubes, vectors));
            for index in 0..topology.core_count() {
                assert_eq!(topology.find(&topology.name(index)), Some(index));
                let place = topology.place(index);
                match place.kind {
                    CoreKind::Aic => assert_eq!(topology.cube_of(place.block), Some(index)),
                    CoreKind::Aiv => assert!(topology.vectors_of(place.block).contains(&index)),
                }
            }
        }
    }
}
