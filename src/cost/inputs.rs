//! Super kernels to predict, from an op list or from a graph.

use std::sync::Arc;

use serde_json::Value;

use super::durations::{Durations, task_class};
use super::error::CostError;
use super::predict::Subject;
use super::profile::Task;
use crate::cancel::Cancel;
use crate::model::{
    self, CoreClass, CoreCounts, CoreKind, DcciFlags, EarlyStartFlags, EventId, EventUse, Function, KernelType, Op,
    OpIndex, OtherEnd, ParamOffsets, Platform, SlotNumber, StreamId, SubKernel, SubKernelCode, SubKernels, SuperKernel,
    TaskType,
};
use crate::objects::{BinFiles, Objects};
use crate::options::{self, Separator};
use crate::scope::Piece;
use crate::store::digest::ContentDigest;

/// What predictions are made from, beside the model.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// The device.
    pub platform: Platform,
    /// What the profiles of runs without super kernels say.
    pub durations: &'a Durations<'a>,
    /// How the caller stops it.
    pub cancel: &'a Cancel,
}

impl Known<'_> {
    /// One super kernel from what `compile` would get. Entries of its `op_list` may have a `name`, their name in the
    /// profile.
    pub(crate) fn of_kernel(&self, infos: &Value, name: &str) -> Result<Subject, CostError> {
        let kernel = model::load(infos, name, &self.platform)?;
        let entries = infos.get("op_list").and_then(Value::as_array);
        let entry_name = |op: &Op| {
            let entry = entries.and_then(|entries| entries.get(op.index.0));
            entry.and_then(|entry| entry.get("name")).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let names: Vec<String> = kernel.ops.iter().map(entry_name).collect();
        self.subject(name, kernel, &names)
    }

    /// A piece of a graph. Ops that are not compiled yet are made up from their rows in the profile; `Err` in the
    /// result: why the compiler would refuse it.
    pub(crate) fn of_piece(&self, piece: &Piece, read: &SubKernels) -> Result<Result<Subject, String>, CostError> {
        // Ops that are only not compiled yet can be predicted all the same.
        let refuses = piece.problems.iter().find(|problem| problem.unfusable.is_empty());
        if let Some(problem) = refuses {
            return Ok(Err(problem.explain()));
        }
        let mut platform = self.platform;
        if let Some((aic, aiv)) = piece.core_limits {
            platform.cores = CoreCounts { aic, aiv };
        }
        let known = Self { platform, ..*self };
        let names: Vec<String> = piece.ops.iter().map(|op| op.name.to_string()).collect();
        let is_compiled = piece.ops.iter().all(|op| !op.json_path.is_empty() && !op.bin_path.is_empty());
        let mut kernel = if is_compiled {
            model::load_with(&piece.kernel_infos(), &piece.kernel_name, &platform, read)?
        } else {
            match known.made_up(piece) {
                Ok(kernel) => kernel?,
                Err(op) => {
                    return Ok(Err(format!("`{op}` has no json_path, and no row of the profile has its cores")));
                }
            }
        };
        // A JSON need not name the op's type; the graph does.
        for (op, listed) in kernel.ops.iter_mut().zip(&piece.ops).filter(|(op, _)| op.kernel.op_type.is_empty()) {
            Arc::make_mut(&mut op.kernel).op_type = listed.op_type.to_string();
        }
        known.subject(&piece.name, kernel, &names).map(Ok)
    }

    fn subject(&self, name: &str, kernel: SuperKernel, names: &[String]) -> Result<Subject, CostError> {
        // Without the objects nothing is known of code fetches; the rest is predicted all the same.
        let read = Objects::read_and_measure(&kernel, &BinFiles::default());
        let sizes = read.map(|(_, sizes)| sizes).unwrap_or_default();
        Ok(Subject::new(name, kernel, sizes, names, self.durations))
    }

    /// A super kernel of ops that are known from the profile alone; `Err`: the op that is not.
    fn made_up(&self, piece: &Piece) -> Result<Result<SuperKernel, CostError>, String> {
        let mut ops = Vec::with_capacity(piece.ops.len());
        for (index, op) in piece.ops.iter().enumerate() {
            let row = self.durations.example(&op.name, &op.op_type);
            let Some((kernel_type, blocks)) = row.and_then(shape) else { return Err(op.name.to_string()) };
            let event = |id: &i64| EventUse { id: EventId(*id), other_end: OtherEnd::Outside, slot: SlotNumber(0) };
            ops.push(Op {
                index: OpIndex(index),
                kernel: Arc::new(sub_kernel(&op.name, &op.op_type, kernel_type, blocks)),
                bin_path: None,
                stream_id: StreamId(op.stream),
                task_type: TaskType::Normal,
                block_num: blocks,
                send_events: op.send_event_list.iter().map(event).collect(),
                regions: None,
                recv_events: op.recv_event_list.iter().map(event).collect(),
                dcci: DcciFlags::default(),
                needs_feed_sync_all: false,
                offsets: ParamOffsets::default(),
            });
        }
        let made = options::parse(&piece.options, Separator::Hyphen)
            .map_err(crate::model::ModelError::from)
            .and_then(|options| model::assemble(&piece.kernel_name, &self.platform, options, ops));
        Ok(made.map_err(CostError::from))
    }
}

/// Type and blocks of a task as the profiler tells them.
fn shape(task: &Task) -> Option<(KernelType, u32)> {
    let blocks = task.block_dim?;
    let kernel_type = match task_class(&task.task_type)? {
        CoreClass::Aic => KernelType::AicOnly,
        CoreClass::Aiv => KernelType::AivOnly,
        CoreClass::Mix if task.mix_block_dim == Some(blocks) => KernelType::MixAic1_1,
        CoreClass::Mix => KernelType::MixAic1_2,
    };
    Some((kernel_type, blocks))
}

fn sub_kernel(name: &str, op_type: &str, kernel_type: KernelType, blocks: u32) -> SubKernel {
    let function = |kind: &CoreKind| Function { kind: *kind, name: format!("{name}_{kind}"), object: None };
    SubKernel {
        json_digest: ContentDigest::of(name.as_bytes()),
        object_digest: None,
        kernel_name: name.into(),
        op_type: op_type.to_owned(),
        kernel_type,
        block_dim: i64::from(blocks),
        code: SubKernelCode::Static(kernel_type.class().kinds().iter().map(function).collect()),
        params: Vec::new(),
        early_start: EarlyStartFlags::default(),
        split_mode: None,
        debug_options: None,
        calls_sync_all: false,
        may_call_sync_all: false,
        dcci: DcciFlags::default(),
    }
}
