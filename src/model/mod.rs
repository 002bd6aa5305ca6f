//! `kernel_infos`: raw JSON, checked types, derived facts.
//!
//! [`load`] does it all, in this order: read the entries and their JSONs (`load`, `sub_kernel_json`), match events
//! (`events`), choose the form (`streams`), count cores (`cores`), lay out parameters (`params`).
//! `dependence` says which ops must have ended before which, with what is known of the memory they touch (`regions`).

mod cores;
mod dependence;
mod error;
mod events;
mod ids;
mod keys;
mod load;
mod names;
mod op;
mod params;
mod paths;
mod platform;
mod regions;
mod soc;
mod streams;
mod sub_kernel_json;
#[cfg(test)]
mod tests;

pub use error::{ModelError, OpName};
pub use ids::{ByPosition, EventId, OpIndex, OpPosition, SlotNumber, StreamId};
pub use load::{KnownKernels, assemble, load};
pub(crate) use load::{SubKernels, load_with};
pub(crate) use names::function_name_problem;
pub use op::{
    DcciFlags, DebugOutput, EarlyStartFlags, EventUse, Function, Op, OtherEnd, ParamOffsets, SubKernel, SubKernelCode,
    TaskType, TilingFunctions,
};
pub(crate) use params::{FFTS_PARAMETER, OpSlots, Slot, SlotLayout, SlotRole};
pub(crate) use paths::{Missing, beside, with_paths};
pub use platform::Platform;
pub use regions::Regions;
pub use soc::{CoreCounts, Soc};
pub use streams::StreamForm;
pub(crate) use streams::{Link, form_of_links};
pub(crate) use sub_kernel_json::SubKernelFile;
pub(crate) use sub_kernel_json::{SubKernelDocument, WrittenCode};

// The model's types are made of these words.
pub use crate::artifact::{Chip, CoreClass, CoreKind, KernelType, SuperKernelType};

use crate::options::Options;
pub use crate::options::SyncMode;

/// A super kernel, checked and with everything that follows from its inputs.
#[derive(Debug, Clone)]
pub struct SuperKernel {
    /// Its name, a C identifier.
    pub name: String,
    /// What it is built for.
    pub platform: Platform,
    /// Its options.
    pub options: Options,
    /// Its ops in execution order; at least one.
    pub ops: ByPosition<Op>,
    /// One stream, or several side by side.
    pub form: StreamForm,
    /// The cores it starts for each block.
    pub kernel_type: SuperKernelType,
    /// Blocks it is launched with.
    pub block_num: u32,
    /// Debug output of its ops, taken together.
    pub debug_output: Option<DebugOutput>,
    /// Bytes of workspace for feed-sync-all; 0 without.
    pub workspace_size: u64,
    /// Its parameters.
    pub slots: SlotLayout,
    /// Events with both ends inside, in the order of their senders.
    pub inner_events: Vec<InnerEvent>,
    /// For every op those of its stream (one stream: of the list) that must have ended before it starts.
    pub stream_order: ByPosition<Box<[OpPosition]>>,
    /// What the user should hear about, though it is no error.
    pub warnings: Vec<String>,
}

/// An event between two ops of this super kernel, by their positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InnerEvent {
    /// The event's id.
    pub id: EventId,
    /// The op that sends it.
    pub sender: OpPosition,
    /// The op that receives it.
    pub receiver: OpPosition,
}

impl SuperKernel {
    /// Cores of `kind` that a launch starts.
    pub(crate) fn cores(&self, kind: CoreKind) -> u32 {
        self.kernel_type.cores(kind, self.block_num)
    }

    /// Why it has several streams: the first neighbours of different streams that no event links.
    pub(crate) fn stream_break(&self) -> Option<(OpPosition, OpPosition)> {
        streams::first_break(&self.ops, &self.inner_events)
    }

    /// Is early start in force? Never with several streams.
    pub(crate) fn has_early_start(&self) -> bool {
        match self.form {
            StreamForm::One => self.options.early_start.is_on(),
            StreamForm::Several => false,
        }
    }

    /// Is any op dynamic?
    pub(crate) fn has_dynamic_op(&self) -> bool {
        self.ops.iter().any(Op::is_dynamic)
    }

    /// The `-D` arguments that both core kinds are compiled with, in order, without `compile-options`.
    pub fn defines(&self) -> Vec<&'static str> {
        let mut defines = Vec::new();
        match (self.platform.chip(), self.kernel_type) {
            // Without it early start waits for a second vector core of each block.
            (Chip::C310, SuperKernelType::Mix1_1) => defines.push("-D__ASCENDC_DAVID_SPLIT_CORE__"),
            (Chip::C310, SuperKernelType::Aic | SuperKernelType::Aiv | SuperKernelType::Mix1_2) | (Chip::C220, _) => {}
        }
        if self.has_dynamic_op() {
            defines.push("-D__SUPER_KERNEL_DYNAMIC_BLOCK_NUM__");
        }
        if self.has_early_start() {
            defines.push("-D__ASCENDC_ENABLE_SET_NEXT_TASK_START");
            defines.push("-D__ASCENDC_ENABLE_WAIT_PRE_TASK_END");
            defines.push("-D__ASCENDC_SUPERKERNEL_EARLY_START_V2");
        }
        if self.options.feed_sync_all {
            defines.push("-D__ASCENDC_SUPERKERNEL_AUTO_SYNC_ALL__");
        }
        defines.push(if self.debug_output.is_some() { "-DASCENDC_DUMP" } else { "-DASCENDC_DUMP=0" });
        defines
    }
}
