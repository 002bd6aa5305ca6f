//! From `kernel_infos` to a checked super kernel.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::prelude::*;
use serde_json::Value;

use super::{
    ByPosition, Chip, CoreClass, DcciFlags, DebugOutput, EventId, EventUse, KernelType, ModelError, Op, OpIndex,
    OpName, OtherEnd, ParamOffsets, Platform, Regions, SlotNumber, StreamId, SubKernel, SubKernelCode, SubKernelFile,
    SuperKernel, TaskType,
};
use super::{cores, dependence, events, keys, names, params, streams};
use crate::fs::FileLook;
use crate::json::{JsonPath, Node};
use crate::options::{self, Options, Separator};
use crate::parallel;
use crate::store::shelf::Shelf;

/// Checks `kernel_infos` and everything it names, and derives the facts of `contract` order: events, stream form,
/// cores, feed-sync-all, parameters.
///
/// Reads the sub-kernels' JSONs, each once; touches nothing else.
pub fn load(kernel_infos: &Value, name: &str, platform: &Platform) -> Result<SuperKernel, ModelError> {
    load_with(kernel_infos, name, platform, &SubKernels::default())
}

/// The same, with JSONs that others may have read already.
pub(crate) fn load_with(
    kernel_infos: &Value,
    name: &str,
    platform: &Platform,
    known: &SubKernels,
) -> Result<SuperKernel, ModelError> {
    check_kernel_name(name)?;
    let root = Node::root(kernel_infos, JsonPath::default());
    let options = load_options(&root)?;
    let entries = load_entries(&root)?;
    let misspelt = shortened(keys::misspelt(&root)?);
    let kernels = load_kernels(&entries, platform.chip(), known)?;
    let mut ops = Vec::with_capacity(entries.len());
    for (entry, kernel) in entries.into_iter().zip(kernels) {
        ops.push(make_op(entry, kernel, &options, platform)?);
    }
    let mut kernel = assemble(name, platform, options, ops)?;
    kernel.warnings.splice(0..0, misspelt);
    Ok(kernel)
}

/// Checks ops against each other and derives what follows from all of them. Their events need ids only; ends, slots and
/// offsets are filled in here.
pub fn assemble(name: &str, platform: &Platform, options: Options, ops: Vec<Op>) -> Result<SuperKernel, ModelError> {
    let mut ops = ByPosition::from(ops);
    let mut warnings = options.warnings.clone();
    check_ops(&ops, &options)?;
    let inner_events = events::match_ends(&mut ops)?;
    let form = streams::choose(&ops, &inner_events, &options)?;
    let stream_order = dependence::in_streams(&ops, &inner_events, form, options.sync);
    let (kernel_type, block_num) = cores::choose(&ops, &options, platform)?;
    warnings.extend(shortened(cores::warn_about_oversized(&ops, platform)));
    warnings.extend(shortened(warn_about_disabled_flushes(&ops)));
    cores::mark_feed_sync_all(&mut ops, &options, kernel_type, block_num);
    warnings.extend(shortened(cores::warn_about_partial_sync_all(&ops, &options, kernel_type, block_num)));
    let workspace_size = cores::workspace_size(ops.len(), &options, kernel_type, block_num);
    let debug_output = merge_debug_output(&ops);
    warnings.extend(shortened(warn_about_dynamic_sync_all(&ops)));
    let slots = params::lay_out(&mut ops, &options, platform.chip(), debug_output.is_some())?;

    Ok(SuperKernel {
        name: name.to_owned(),
        platform: *platform,
        options,
        ops,
        form,
        kernel_type,
        block_num,
        debug_output,
        workspace_size,
        slots,
        inner_events,
        stream_order,
        warnings,
    })
}

/// What JSONs say: by file and its look, and by what they are read as.
pub(crate) type SubKernels = Shelf<Read, Arc<SubKernel>>;
type Read = (PathBuf, FileLook, TaskType, Chip);

/// The same when nobody reads any more. It has no lock that a forked process could find held.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KnownKernels(Arc<HashMap<Read, Arc<SubKernel>>>);

impl From<SubKernels> for KnownKernels {
    fn from(read: SubKernels) -> Self {
        Self(Arc::new(read.into_values()))
    }
}

impl From<&KnownKernels> for SubKernels {
    fn from(known: &KnownKernels) -> Self {
        Self::with(known.0.iter().map(|(read, kernel)| (read.clone(), Arc::clone(kernel))))
    }
}

/// One `op_list` entry that names a JSON.
struct Entry {
    index: OpIndex,
    json_path: PathBuf,
    bin_path: Option<PathBuf>,
    stream_id: StreamId,
    task_type: TaskType,
    sends: Vec<EventId>,
    receives: Vec<EventId>,
    regions: Option<Regions>,
    place: JsonPath,
}

fn check_kernel_name(name: &str) -> Result<(), ModelError> {
    // A word of C++ is allowed: no symbol has the bare name.
    if names::is_identifier(name) { Ok(()) } else { Err(ModelError::BadKernelName { name: name.to_owned() }) }
}

fn load_options(root: &Node<'_>) -> Result<Options, ModelError> {
    let text = match root.optional("super_kernel_options")? {
        Some(node) => node.string()?,
        None => "",
    };
    Ok(options::parse(text, Separator::Hyphen)?)
}

fn load_entries(root: &Node<'_>) -> Result<Vec<Entry>, ModelError> {
    let Some(list) = root.optional("op_list")? else {
        let is_graph = root.optional("nodes")?.is_some();
        return Err(if is_graph { ModelError::GraphGiven } else { ModelError::NoOps { problem: "is missing" } });
    };
    let mut entries = Vec::new();
    let mut count = 0;
    for (index, node) in list.elements()?.enumerate() {
        count += 1;
        entries.extend(load_entry(OpIndex(index), &node)?);
    }
    match (count, entries.is_empty()) {
        (0, _) => Err(ModelError::NoOps { problem: "is empty" }),
        (_, true) => Err(ModelError::NoOps { problem: "has no entry with a `json_path`" }),
        (_, false) => Ok(entries),
    }
}

fn load_entry(index: OpIndex, node: &Node<'_>) -> Result<Option<Entry>, ModelError> {
    let Some(json_path) = node.optional("json_path")? else {
        log::info!(target: "superkernel.compile", "{} has no `json_path` and is skipped", node.path);
        return Ok(None);
    };
    let task_type = match node.optional("task_type")? {
        None => TaskType::Normal,
        Some(task_type) => match task_type.string()? {
            "normal" => TaskType::Normal,
            "dynamic" => TaskType::Dynamic,
            name => return Err(ModelError::UnknownTaskType { place: task_type.path, name: name.to_owned() }),
        },
    };
    let bin_path = node.optional("bin_path")?.map(|path| path.file_path()).transpose()?;
    Ok(Some(Entry {
        index,
        json_path: json_path.file_path()?,
        bin_path,
        stream_id: StreamId(node.optional("stream_id")?.map_or(Ok(-1), |stream| stream.integer())?),
        task_type,
        sends: event_list(node, "send_event_list")?,
        receives: event_list(node, "recv_event_list")?,
        regions: node.optional("regions")?.map(|regions| Regions::read(&regions)).transpose()?,
        place: json_path.path,
    }))
}

fn event_list(node: &Node<'_>, key: &str) -> Result<Vec<EventId>, ModelError> {
    match node.optional(key)? {
        None => Ok(Vec::new()),
        Some(list) => Ok(list.elements()?.map(|event| event.integer().map(EventId)).collect::<Result<_, _>>()?),
    }
}

/// Reads each JSON once, however many ops name it. A JSON read as static and as dynamic counts as two.
fn load_kernels(entries: &[Entry], chip: Chip, known: &SubKernels) -> Result<Vec<Arc<SubKernel>>, ModelError> {
    let mut wanted: Vec<&Entry> = Vec::new();
    let mut numbers: HashMap<(&Path, bool), usize> = HashMap::new();
    let mut uses = Vec::with_capacity(entries.len());
    for entry in entries {
        let key = (entry.json_path.as_path(), entry.task_type == TaskType::Dynamic);
        let number = *numbers.entry(key).or_insert_with(|| {
            wanted.push(entry);
            wanted.len() - 1
        });
        uses.push(number);
    }
    let loaded: Vec<Result<Arc<SubKernel>, ModelError>> =
        parallel::run(|| wanted.par_iter().map(|entry| load_kernel(entry, chip, known)).collect());
    // The first failure in op order is the one to report, whichever thread met it first.
    let loaded = loaded.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(uses.into_iter().map(|number| Arc::clone(&loaded[number])).collect())
}

fn load_kernel(entry: &Entry, chip: Chip, known: &SubKernels) -> Result<Arc<SubKernel>, ModelError> {
    let read = || Ok(Arc::new(SubKernelFile::read(&entry.json_path, &entry.place)?.sub_kernel(entry.task_type, chip)?));
    match FileLook::of(&entry.json_path) {
        Ok(look) => known.get((entry.json_path.clone(), look, entry.task_type, chip), read),
        // Reading tells why.
        Err(_) => read(),
    }
}

fn make_op(entry: Entry, kernel: Arc<SubKernel>, options: &Options, platform: &Platform) -> Result<Op, ModelError> {
    let name = || OpName { index: entry.index, kernel_name: kernel.kernel_name.clone() };
    let (block_num, dcci) = match entry.task_type {
        TaskType::Normal => {
            let blocks = u32::try_from(kernel.block_dim).ok().filter(|blocks| *blocks >= 1);
            let bad = || ModelError::BadBlockDim { op: name(), block_dim: kernel.block_dim };
            (blocks.ok_or_else(bad)?, kernel.dcci)
        }
        TaskType::Dynamic => (dynamic_blocks(kernel.kernel_type, platform), dynamic_dcci(&kernel.op_type, options)),
    };
    // Both ends are looked up once all ops are known; slots are laid out last.
    let event = |id: &EventId| EventUse { id: *id, other_end: OtherEnd::Outside, slot: SlotNumber::default() };
    Ok(Op {
        index: entry.index,
        bin_path: entry.bin_path,
        stream_id: entry.stream_id,
        task_type: entry.task_type,
        block_num,
        send_events: entry.sends.iter().map(event).collect(),
        recv_events: entry.receives.iter().map(event).collect(),
        regions: entry.regions,
        dcci,
        needs_feed_sync_all: false,
        offsets: ParamOffsets::default(),
        kernel,
    })
}

/// A dynamic op may turn out to need every core of its kind.
fn dynamic_blocks(kernel_type: KernelType, platform: &Platform) -> u32 {
    match kernel_type.class() {
        CoreClass::Aiv => platform.cores.aiv,
        CoreClass::Aic | CoreClass::Mix => platform.cores.aic,
    }
}

/// A dynamic op was compiled without knowing the options, so the lists decide about it here.
fn dynamic_dcci(op_type: &str, options: &Options) -> DcciFlags {
    let listed = |types: &[String]| types.iter().any(|listed| listed == op_type);
    let disabled = listed(&options.dcci_disable);
    DcciFlags {
        disabled,
        before_kernel_start: !disabled && listed(&options.dcci_before),
        after_kernel_end: !disabled && listed(&options.dcci_after),
    }
}

fn check_ops(ops: &[Op], options: &Options) -> Result<(), ModelError> {
    for op in ops {
        let kernel = &op.kernel;
        if let Some(found) = kernel.split_mode.filter(|found| *found != options.split.get()) {
            return Err(ModelError::SplitModeMismatch { op: op.name(), found, wanted: options.split.get() });
        }
        if !kernel.early_start.is_empty() {
            let flags = kernel.early_start.to_string();
            if op.is_dynamic() {
                return Err(ModelError::EarlyStartOnDynamic { op: op.name(), flags });
            }
            if !options.early_start.is_on() {
                return Err(ModelError::EarlyStartOff { op: op.name(), flags });
            }
        }
        check_tiling_kinds(op)?;
    }
    Ok(())
}

fn check_tiling_kinds(op: &Op) -> Result<(), ModelError> {
    let SubKernelCode::Dynamic(functions) = &op.kernel.code else {
        return Ok(());
    };
    for entry in functions {
        for &kind in entry.kernel_type.class().kinds() {
            if !op.class().runs_on(kind) {
                return Err(ModelError::TilingKeyKind {
                    op: op.name(),
                    key: entry.key,
                    key_type: entry.kernel_type,
                    kind,
                    op_type: op.kernel.kernel_type,
                });
            }
        }
    }
    Ok(())
}

/// Debug output of the super kernel: the largest buffer, all options in order of first appearance.
fn merge_debug_output(ops: &[Op]) -> Option<DebugOutput> {
    let mut merged: Option<DebugOutput> = None;
    for debug in ops.iter().filter_map(|op| op.kernel.debug_output()) {
        let all = merged.get_or_insert_with(|| DebugOutput { options: Vec::new(), size: 0 });
        all.size = all.size.max(debug.size);
        for option in &debug.options {
            if !all.options.contains(option) {
                all.options.push(option.clone());
            }
        }
    }
    merged
}

/// A thousand ops may share one fault: the first warnings tell enough.
fn shortened(mut warnings: Vec<String>) -> Vec<String> {
    const SHOWN: usize = 5;
    if warnings.len() > SHOWN {
        let more = warnings.len() - SHOWN;
        warnings.truncate(SHOWN);
        warnings.push(format!("{more} more warnings of the last kind"));
    }
    warnings
}

/// Runs of two or more neighbours without any flush between them may read stale data.
fn warn_about_disabled_flushes(ops: &[Op]) -> Vec<String> {
    // A run can be long; the message names its first ops only.
    const SHOWN: usize = 5;
    ops.chunk_by(|before, after| before.dcci.disabled && after.dcci.disabled)
        .filter(|run| run.len() >= 2)
        .map(|run| {
            let mut names: Vec<String> = run.iter().take(SHOWN).map(|op| op.name().to_string()).collect();
            if run.len() > SHOWN {
                names.push(format!("{} more", run.len() - SHOWN));
            }
            format!("consecutive ops with cache flushes disabled may see stale data: {}", names.join(", "))
        })
        .collect()
}

fn warn_about_dynamic_sync_all(ops: &[Op]) -> Vec<String> {
    ops.iter()
        .filter(|op| op.is_dynamic() && op.kernel.calls_sync_all)
        .map(|op| {
            format!(
                "{} is dynamic and calls SyncAll: it hangs unless its run-time block count covers all cores",
                op.name()
            )
        })
        .collect()
}
