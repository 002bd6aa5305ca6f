//! What the tests of the program share: models built in memory, and golden files.
#![allow(dead_code, reason = "every test binary uses its own part")]

pub mod golden;
pub mod host;

use std::sync::Arc;

use superkernel::model::{
    CoreKind, DcciFlags, DebugOutput, EarlyStartFlags, EventId, EventUse, Function, KernelType, Op, OpIndex, OtherEnd,
    ParamOffsets, Platform, Regions, SlotNumber, StreamId, SubKernel, SubKernelCode, SuperKernel, TaskType,
    TilingFunctions, assemble,
};
use superkernel::objects::TextSizes;
use superkernel::options::{Separator, parse};
use superkernel::plan::{PlanError, plan};
use superkernel::program::Program;

/// A super kernel in the making.
#[derive(Debug, Clone)]
pub struct KernelBuilder {
    pub soc: &'static str,
    pub options: String,
    pub ops: Vec<OpBuilder>,
    /// Cube and vector cores of the platform.
    pub cores: (u32, u32),
    /// Entries of `op_list` in front of the ops that name no JSON: indices and positions differ by this many.
    pub skipped: usize,
}

/// One of its ops.
#[derive(Debug, Clone)]
pub struct OpBuilder {
    pub kernel_type: KernelType,
    pub blocks: u32,
    pub stream: i64,
    pub sends: Vec<i64>,
    pub receives: Vec<i64>,
    /// What it reads and writes, as (start, bytes).
    pub regions: Option<[Vec<(u64, u64)>; 2]>,
    pub sets_itself: bool,
    pub waits_itself: bool,
    pub calls_sync_all: bool,
    pub dcci: DcciFlags,
    /// Tiling keys and their types; empty for a static op.
    pub keys: Vec<(u64, KernelType)>,
    pub debug_output: bool,
    pub op_type: String,
    pub params: usize,
    /// Ops with the same name run the same functions.
    pub name: Option<String>,
}

impl OpBuilder {
    pub fn new(kernel_type: KernelType, blocks: u32) -> Self {
        Self {
            kernel_type,
            blocks,
            stream: 0,
            sends: Vec::new(),
            receives: Vec::new(),
            regions: None,
            sets_itself: false,
            waits_itself: false,
            calls_sync_all: false,
            dcci: DcciFlags::default(),
            keys: Vec::new(),
            debug_output: false,
            op_type: String::new(),
            params: 1,
            name: None,
        }
    }

    pub fn aiv(blocks: u32) -> Self {
        Self::new(KernelType::AivOnly, blocks)
    }

    pub fn aic(blocks: u32) -> Self {
        Self::new(KernelType::AicOnly, blocks)
    }

    pub fn mix(blocks: u32) -> Self {
        Self::new(KernelType::MixAic1_2, blocks)
    }

    pub fn on(mut self, stream: i64) -> Self {
        self.stream = stream;
        self
    }

    pub fn sends(mut self, events: &[i64]) -> Self {
        self.sends = events.to_vec();
        self
    }

    pub fn receives(mut self, events: &[i64]) -> Self {
        self.receives = events.to_vec();
        self
    }

    pub fn touches(mut self, reads: &[(u64, u64)], writes: &[(u64, u64)]) -> Self {
        self.regions = Some([reads.to_vec(), writes.to_vec()]);
        self
    }

    pub fn sets_itself(mut self) -> Self {
        self.sets_itself = true;
        self
    }

    pub fn waits_itself(mut self) -> Self {
        self.waits_itself = true;
        self
    }

    pub fn calls_sync_all(mut self) -> Self {
        self.calls_sync_all = true;
        self
    }

    pub fn dynamic(mut self, keys: &[(u64, KernelType)]) -> Self {
        self.keys = keys.to_vec();
        self
    }

    pub fn flushes(mut self, before: bool, after: bool, disabled: bool) -> Self {
        self.dcci = DcciFlags { before_kernel_start: before, after_kernel_end: after, disabled };
        self
    }

    pub fn of_type(mut self, op_type: &str) -> Self {
        self.op_type = op_type.to_owned();
        self
    }

    pub fn with_debug_output(mut self) -> Self {
        self.debug_output = true;
        self
    }

    fn build(&self, index: usize, platform: &Platform, lists: [&[String]; 3]) -> Op {
        let name = self.name.clone().unwrap_or_else(|| format!("k{index}"));
        let dynamic = !self.keys.is_empty();
        let function = |kind: CoreKind, suffix: &str| format!("{name}{suffix}_{kind}");
        let code = if dynamic {
            let mut keys = self.keys.clone();
            keys.sort_by_key(|(key, _)| *key);
            SubKernelCode::Dynamic(
                keys.into_iter()
                    .map(|(key, kernel_type)| {
                        let of = |kind| kernel_type.class().runs_on(kind).then(|| function(kind, &format!("_{key}")));
                        TilingFunctions { key, kernel_type, aic: of(CoreKind::Aic), aiv: of(CoreKind::Aiv) }
                    })
                    .collect(),
            )
        } else {
            let kinds = self.kernel_type.class().kinds();
            SubKernelCode::Static(
                kinds.iter().map(|&kind| Function { kind, name: function(kind, ""), object: None }).collect(),
            )
        };
        let listed = |list: &[String]| list.contains(&self.op_type);
        let dcci = if dynamic {
            let disabled = listed(lists[2]);
            DcciFlags {
                disabled,
                before_kernel_start: !disabled && listed(lists[0]),
                after_kernel_end: !disabled && listed(lists[1]),
            }
        } else {
            self.dcci
        };
        let kernel = SubKernel {
            json_digest: superkernel::store::digest::ContentDigest::of(b"{}"),
            object_digest: None,
            kernel_name: name.into(),
            op_type: self.op_type.clone(),
            kernel_type: self.kernel_type,
            block_dim: self.blocks.into(),
            code,
            params: (0..self.params).map(|number| format!("x{number}")).collect(),
            early_start: EarlyStartFlags { sets_itself: self.sets_itself, waits_itself: self.waits_itself },
            split_mode: None,
            debug_options: self
                .debug_output
                .then(|| DebugOutput { options: vec!["printf".to_owned()], size: 75 * 1024 }),
            calls_sync_all: self.calls_sync_all,
            may_call_sync_all: self.calls_sync_all,
            dcci: self.dcci,
        };
        let event = |id: &i64| EventUse { id: EventId(*id), other_end: OtherEnd::Outside, slot: SlotNumber::default() };
        let all_cores =
            if self.kernel_type.class().runs_on(CoreKind::Aic) { platform.cores.aic } else { platform.cores.aiv };
        Op {
            index: OpIndex(index),
            kernel: Arc::new(kernel),
            bin_path: None,
            stream_id: StreamId(self.stream),
            task_type: if dynamic { TaskType::Dynamic } else { TaskType::Normal },
            block_num: if dynamic { all_cores } else { self.blocks },
            regions: self.regions.as_ref().and_then(|[reads, writes]| Regions::new(reads, writes)),
            send_events: self.sends.iter().map(event).collect(),
            recv_events: self.receives.iter().map(event).collect(),
            dcci,
            needs_feed_sync_all: false,
            offsets: ParamOffsets::default(),
        }
    }
}

impl KernelBuilder {
    pub fn new(options: &str) -> Self {
        Self { soc: "Ascend910_93", options: options.to_owned(), ops: Vec::new(), cores: (24, 48), skipped: 0 }
    }

    pub fn c310(mut self) -> Self {
        self.soc = "Ascend950";
        self
    }

    pub fn cores(mut self, aic: u32, aiv: u32) -> Self {
        self.cores = (aic, aiv);
        self
    }

    pub fn skipping(mut self, entries: usize) -> Self {
        self.skipped = entries;
        self
    }

    pub fn op(mut self, op: OpBuilder) -> Self {
        self.ops.push(op);
        self
    }

    pub fn ops(mut self, ops: impl IntoIterator<Item = OpBuilder>) -> Self {
        self.ops.extend(ops);
        self
    }

    pub fn try_build(&self) -> Result<SuperKernel, superkernel::model::ModelError> {
        let platform = Platform::new(self.soc, Some(self.cores.0), Some(self.cores.1))?;
        let options = parse(&self.options, Separator::Hyphen)?;
        let lists = [&*options.dcci_before, &*options.dcci_after, &*options.dcci_disable];
        let indexed = (self.skipped..).zip(&self.ops);
        let ops = indexed.map(|(index, op)| op.build(index, &platform, lists)).collect();
        assemble("te_superkernel_test", &platform, options.clone(), ops)
    }

    pub fn build(&self) -> SuperKernel {
        self.try_build().unwrap_or_else(|error| panic!("{error}\n{self:#?}"))
    }

    pub fn try_plan(&self) -> Result<Program, PlanError> {
        let kernel = self.build();
        plan(&kernel, &sizes(&kernel))
    }

    pub fn plan(&self) -> Program {
        self.try_plan().unwrap_or_else(|error| panic!("{error}\n{self:#?}"))
    }
}

/// Sizes that differ from op to op and from kind to kind.
pub fn sizes(kernel: &SuperKernel) -> TextSizes {
    let mut sizes = TextSizes::default();
    for position in kernel.ops.positions() {
        sizes.insert(position, CoreKind::Aic, 1000 + 3000 * position.place() as u64);
        sizes.insert(position, CoreKind::Aiv, 2049 + 1500 * position.place() as u64);
    }
    sizes
}
