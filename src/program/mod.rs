//! The device program: every decision about what each core does, as data.
//!
//! [`Program`] is what [`plan`](crate::plan) makes and what everything else reads: [`emit`](crate::emit) prints it as
//! C++, [`verify`](verify::verify) checks it, [`Program::text`] and [`Program::steps_json`] show it to people.
//! A core's program is the list of [steps](Step), without those that are for other cores.

mod action;
mod classes;
mod describe;
mod duties;
mod edge;
mod fields;
pub mod launch;
mod parts;
mod promises;
mod read;
mod remedy;
mod requires;
mod show;
mod step;
mod verify;
mod violation;
mod words;

pub use action::Action;
pub(crate) use action::Property;
pub(crate) use classes::{Takers, representative_blocks};
pub use edge::{CrossNeed, Edge, EdgeOrigin};
pub use fields::Field;
pub use parts::{
    Barrier, Direction, EarlyStartConfig, Entering, FunctionId, Pair, RecordEdge, RecordSubject, Round, SyncAllRecords,
    TableId,
};
pub use read::ReadError;
pub(crate) use remedy::Remedy;
pub(crate) use requires::index_of_class;
pub use requires::{OpRequirement, OuterEvent, RequiredCode, Requirements};
pub use step::{CoreId, CoreIndex, Cores, Kinds, Part, Reason, Step, TableEntry};
pub use verify::verify;
pub use violation::Violation;

use std::sync::Arc;

use crate::model::{
    ByPosition, Chip, CoreClass, CoreKind, KernelType, OpIndex, OpPosition, StreamForm, StreamId, SuperKernelType,
    SyncMode,
};

/// What every core of a super kernel does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Name of the super kernel.
    pub kernel_name: String,
    /// The chip it is for.
    pub chip: Chip,
    /// The cores it starts for each block.
    pub kernel_type: SuperKernelType,
    /// Blocks it is launched with.
    pub block_num: u32,
    /// Number of code copies of every function.
    pub split: u32,
    /// Alignment of the entry; 0: none.
    pub func_align: u64,
    /// One stream, or several side by side.
    pub form: StreamForm,
    /// Which synchronisation is left out.
    pub sync: SyncMode,
    /// The ops.
    pub ops: ByPosition<OpFacts>,
    /// The sub-kernel functions it calls, each once, in order of first use.
    pub functions: Vec<FunctionRef>,
    /// The functions of dynamic ops by tiling key; ops with the same sub-kernel share one.
    pub tables: Vec<Vec<TableEntry>>,
    /// What the steps are for; only the checker reads it.
    pub requires: Requirements,
    /// Order between the ops of several streams; empty with one stream, where list order holds.
    pub edges: Vec<Edge>,
    /// The steps.
    pub steps: Vec<Step>,
}

/// What readers of the program need to know about an op.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpFacts {
    /// Its place in `op_list`.
    pub index: OpIndex,
    /// Its kernel's name, shared by all ops with it.
    pub kernel_name: Arc<str>,
    /// Its type.
    pub kernel_type: KernelType,
    /// Blocks it runs on.
    pub block_num: u32,
    /// Its stream.
    pub stream_id: StreamId,
    /// Its code sets for early start, in this hand-over.
    pub own_set: Option<Round>,
    /// Its code waits for early start, in this hand-over, with these classes.
    pub own_wait: Option<(EarlyStartConfig, Round)>,
    /// Functions and block count are picked at run time.
    pub is_dynamic: bool,
    /// Idle cores follow its `SyncAll` calls.
    pub feeds_sync_all: bool,
}

impl OpFacts {
    /// The kinds of core it runs on.
    pub fn class(&self) -> CoreClass {
        self.kernel_type.class()
    }
}

/// A sub-kernel function; its copies are called `<name>_split1` and so on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionRef {
    /// Its symbol.
    pub name: String,
    /// The kind of core that runs it.
    pub kind: CoreKind,
}

impl Program {
    /// The function that steps name so.
    pub(crate) fn function(&self, id: FunctionId) -> &FunctionRef {
        &self.functions[id.0 as usize]
    }

    /// The table that steps name so.
    pub(crate) fn table(&self, id: TableId) -> &[TableEntry] {
        &self.tables[id.0 as usize]
    }

    /// The entry function's name in the source. The build maps it to one symbol per core kind.
    pub(crate) fn entry_name(&self) -> String {
        format!("auto_gen_{}_kernel", self.kernel_name)
    }

    /// What messages call the op at `position`.
    pub(crate) fn index(&self, position: OpPosition) -> OpIndex {
        self.ops[position].index
    }

    /// Kinds of core the super kernel has, cube first.
    pub(crate) fn kinds(&self) -> &'static [CoreKind] {
        self.kernel_type.class().kinds()
    }

    /// Does the source itself define `g_opSystemRunCfg`? Otherwise the entry object of the copies does.
    pub(crate) fn defines_run_config(&self) -> bool {
        self.split == 1
    }

    /// The cores of a launch with `blocks` blocks, block by block, cube first.
    pub fn cores(&self, blocks: impl IntoIterator<Item = u32>) -> Vec<CoreId> {
        let (aic, aiv) = self.kernel_type.task_ratio();
        let of = |kind, block, count: u16| {
            let sub_blocks = u32::from(count);
            (0..sub_blocks).map(move |sub_block| CoreId { kind, block, sub_block, sub_blocks })
        };
        blocks
            .into_iter()
            .flat_map(|block| of(CoreKind::Aic, block, aic).chain(of(CoreKind::Aiv, block, aiv)))
            .collect()
    }
}
