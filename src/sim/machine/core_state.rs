//! The part of a core's state that kernel code reads and writes directly: `SkCoreState` of `sk_host/runtime.h`.

use std::ffi::c_char;

use super::topology::Place;
use crate::aicore::LocalMemory;
use crate::model::{Chip, CoreKind};

/// Layout shared with the emulation header. Field by field the same order and size.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct CoreState {
    /// 1 AIC, 2 AIV.
    pub kind: i64,
    /// 2201 or 3510.
    pub arch: i64,
    /// Register values.
    pub block_idx: i64,
    /// Blocks of the launch.
    pub block_num: i64,
    /// Index among the AIVs of the block.
    pub sub_block_idx: i64,
    /// AIVs per block on an AIV, 1 on an AIC.
    pub sub_block_dim: i64,
    /// AIVs per block of the launch.
    pub vector_count: i64,
    /// Physical id.
    pub core_id: i64,
    /// Address of the parameter block.
    pub para_base: u64,
    /// What the core is doing: a literal of the header, or null.
    pub activity: *const c_char,
    /// UB, L1, L0A, L0B, L0C.
    pub memories: [LocalMemory; 5],
    /// Unused: what stands behind keeps its place.
    pub reserved: [u64; 9],
    /// BT, FB.
    pub tables: [LocalMemory; 2],
    /// The `TPipe` made last.
    pub pipe: *mut u8,
}

/// Sizes of the local memories of a core of `kind`, in the order of [`Memory::LOCAL`](crate::aicore::Memory::LOCAL).
pub(crate) fn local_memory_sizes(chip: Chip, kind: CoreKind) -> [u64; 7] {
    const KIB: u64 = 1024;
    match (chip, kind) {
        (Chip::C220, CoreKind::Aiv) => [192 * KIB, 0, 0, 0, 0, 0, 0],
        (Chip::C220, CoreKind::Aic) => [0, 512 * KIB, 64 * KIB, 64 * KIB, 128 * KIB, KIB, 7 * KIB],
        (Chip::C310, CoreKind::Aiv) => [248 * KIB, 0, 0, 0, 0, 0, 0],
        (Chip::C310, CoreKind::Aic) => [0, 512 * KIB, 64 * KIB, 64 * KIB, 256 * KIB, 4 * KIB, 7 * KIB],
    }
}

/// The same of the whole chip: a memory belongs to one kind of core, the other one has nothing of it.
pub(crate) fn memory_sizes(chip: Chip) -> [u64; 7] {
    let [cube, vector] = CoreKind::BOTH.map(|kind| local_memory_sizes(chip, kind));
    std::array::from_fn(|number| cube[number].max(vector[number]))
}

impl CoreState {
    /// Where the local memories lie.
    pub(crate) fn set_memories(&mut self, memories: [LocalMemory; 7]) {
        let [ub, l1, l0a, l0b, l0c, bt, fb] = memories;
        self.memories = [ub, l1, l0a, l0b, l0c];
        self.tables = [bt, fb];
    }

    /// The state at the start of a launch; local memories are filled in by the caller.
    pub(crate) fn new(chip: Chip, place: Place, blocks: u32, vectors: u32, core_id: i64, para_base: u64) -> Self {
        Self {
            kind: match place.kind {
                CoreKind::Aic => 1,
                CoreKind::Aiv => 2,
            },
            arch: i64::from(chip.npu_arch()),
            block_idx: i64::from(place.block),
            block_num: i64::from(blocks),
            sub_block_idx: i64::from(place.sub_block),
            sub_block_dim: match place.kind {
                CoreKind::Aic => 1,
                CoreKind::Aiv => i64::from(vectors),
            },
            vector_count: i64::from(vectors),
            core_id,
            para_base,
            activity: std::ptr::null(),
            memories: [LocalMemory::ABSENT; 5],
            reserved: [0; 9],
            tables: [LocalMemory::ABSENT; 2],
            pipe: std::ptr::null_mut(),
        }
    }
}
