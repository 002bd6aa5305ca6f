//! A super kernel explained: what it became and why, read off the model and the program.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::Serialize;

use super::lint::{Lint, lints};
use super::picture::{CoreNumbers, cores};
use super::synchronisation::{StepPrice, Synchronisation, synchronisation};
use crate::model::{
    CoreKind, EventId, EventUse, KernelType, OpIndex, OpPosition, OtherEnd, StreamForm, StreamId, SubKernelCode,
    SuperKernel, SuperKernelType, TaskType,
};
use crate::objects::{BlockLocalUse, TextSizes};
use crate::options::{OptionName, PreloadMode};
use crate::program::{Action, Program, Reason, Round, Step};

/// What a super kernel became, and why.
#[derive(Debug, Serialize)]
pub(crate) struct Explanation<'a> {
    kernel_name: String,
    soc: String,
    shape: Shape,
    form: Form,
    ops: Vec<ExplainedOp>,
    synchronisation: Vec<Synchronisation>,
    early_start: EarlyStart,
    preload: Decision,
    split: Decision,
    feed_sync_all: Option<FeedSyncAll>,
    sizes: PlannedSizes,
    /// Not known where objects cannot be read.
    block_local: Option<&'a BlockLocalUse>,
    lints: Vec<Lint>,
    warnings: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Shape {
    kernel_type: &'static str,
    block_num: u32,
    cores: CoreNumbers,
    because: String,
}

#[derive(Debug, Serialize)]
struct Form {
    several_streams: bool,
    streams: BTreeSet<StreamId>,
    because: String,
}

#[derive(Debug, Serialize)]
struct ExplainedOp {
    index: OpIndex,
    kernel_name: String,
    kernel_type: &'static str,
    stream_id: StreamId,
    block_num: u32,
    /// Functions and blocks are picked at run time; `cores` and `idle` are those of the listed block count.
    dynamic: bool,
    cores: CoreNumbers,
    /// Cores that have nothing to do meanwhile. With several streams the other kind has work of its own.
    idle: CoreNumbers,
    functions: Vec<ExplainedFunction>,
    sends: Vec<ExplainedEvent>,
    receives: Vec<ExplainedEvent>,
}

#[derive(Debug, Serialize)]
struct ExplainedEvent {
    id: EventId,
    /// The op at the other end; `None` for an event of the outside.
    other_end: Option<OpIndex>,
}

#[derive(Debug, Serialize)]
struct ExplainedFunction {
    kind: &'static str,
    text_size: Option<u64>,
    /// Units of 2 KiB.
    preload: Option<u32>,
}

#[derive(Debug, Serialize)]
struct EarlyStart {
    on: bool,
    because: String,
    pairs: Vec<HandOver>,
}

#[derive(Debug, Serialize)]
struct HandOver {
    from: OpIndex,
    to: OpIndex,
    /// The code of `from` tells itself that the next op may start.
    sets_itself: bool,
    /// The code of `to` waits itself, so its beginning overlaps with `from`.
    waits_itself: bool,
    /// Events or debug barriers between the two make a second hand-over for the op's own wait.
    twice: bool,
}

/// What an option decided.
#[derive(Debug, Serialize)]
struct Decision {
    option: String,
    given: bool,
    effect: String,
}

#[derive(Debug, Serialize)]
struct FeedSyncAll {
    workspace_bytes: u64,
    /// Steps of the program that would not be there without.
    steps: usize,
    /// Ops whose `SyncAll` calls idle cores follow.
    followed: Vec<OpIndex>,
}

#[derive(Debug, Serialize)]
struct PlannedSizes {
    slots: usize,
    workspace_bytes: u64,
    debug_bytes: u64,
    /// Code of the sub-kernels' functions, each once.
    code_once: u64,
    /// The same in all copies.
    code_in_copies: u64,
    /// Functions whose size is not known.
    unmeasured: usize,
}

/// Explains a super kernel. `idle_options` are those given without effect.
pub(crate) fn explain<'a>(
    kernel: &SuperKernel,
    sizes: &TextSizes,
    program: &Program,
    idle_options: &[OptionName],
    block_local: Option<&'a BlockLocalUse>,
    price: StepPrice<'_>,
) -> Explanation<'a> {
    Explanation {
        kernel_name: kernel.name.clone(),
        soc: kernel.platform.soc.to_string(),
        shape: shape(kernel),
        form: form(kernel),
        ops: kernel.ops.positions().map(|position| explained_op(kernel, sizes, position)).collect(),
        synchronisation: synchronisation(kernel, program, price),
        early_start: early_start(kernel, program),
        preload: preload(kernel),
        split: split(kernel),
        feed_sync_all: kernel.options.feed_sync_all.then(|| feed_sync_all(kernel, program)),
        sizes: planned_sizes(kernel, sizes, program),
        block_local,
        lints: lints(kernel, sizes, idle_options),
        warnings: kernel.warnings.clone(),
    }
}

fn shape(kernel: &SuperKernel) -> Shape {
    let forced = kernel.options.debug_aic_num != 0 || kernel.options.debug_aiv_num != 0;
    let needed = match kernel.kernel_type {
        SuperKernelType::Aiv => "every op runs on vector cores alone",
        SuperKernelType::Aic => "every op runs on cube cores alone",
        SuperKernelType::Mix1_1 => "ops run on both kinds, and one vector core per cube core is enough",
        SuperKernelType::Mix1_2 => "ops run on both kinds and need more vector than cube cores: two per block",
    };
    let why = if forced { "debug-aic-num and debug-aiv-num ask for it" } else { needed };
    let widest: Vec<String> =
        [("cube", widest(kernel, KernelType::aic_cores)), ("vector", widest(kernel, KernelType::aiv_cores))]
            .into_iter()
            .filter_map(|(kind, found)| found.map(|(op, count)| format!("op {op} takes most {kind} cores, {count}")))
            .collect();
    Shape {
        kernel_type: kernel.kernel_type.kernel_type().as_str(),
        block_num: kernel.block_num,
        cores: CoreNumbers { aic: kernel.cores(CoreKind::Aic), aiv: kernel.cores(CoreKind::Aiv) },
        because: format!("{why}; {}", widest.join(", ")),
    }
}

/// The first op that takes most cores of a kind.
fn widest(kernel: &SuperKernel, count: impl Fn(KernelType, u32) -> u32) -> Option<(OpIndex, u32)> {
    let counted = kernel.ops.iter().map(|op| (op.index, count(op.kernel.kernel_type, op.block_num)));
    counted.rev().max_by_key(|(_, cores)| *cores).filter(|(_, cores)| *cores > 0)
}

fn form(kernel: &SuperKernel) -> Form {
    let streams: BTreeSet<StreamId> = kernel.ops.iter().map(|op| op.stream_id).collect();
    let because = match (kernel.stream_break(), streams.len()) {
        (Some((first, second)), _) => {
            let (first, second) = (&kernel.ops[first], &kernel.ops[second]);
            format!(
                "op {} of stream {} follows op {} of stream {} and no event links the two: cube and vector cores have \
                 lists of their own, ordered by streams and events",
                second.index, second.stream_id, first.index, first.stream_id
            )
        }
        (None, 1) => "all ops are of one stream: they run one after another".to_owned(),
        (None, _) => {
            "wherever the stream changes an event links the neighbours: there is nothing to run side by side".to_owned()
        }
    };
    Form { several_streams: kernel.form == StreamForm::Several, streams, because }
}

fn explained_op(kernel: &SuperKernel, sizes: &TextSizes, position: OpPosition) -> ExplainedOp {
    let op = &kernel.ops[position];
    let used = cores(kernel, position);
    let idle = |kind: CoreKind| match kernel.form {
        StreamForm::Several if !op.class().runs_on(kind) => 0,
        StreamForm::One | StreamForm::Several => kernel.cores(kind).saturating_sub(used.of(kind)),
    };
    let functions = match &op.kernel.code {
        SubKernelCode::Static(functions) => functions
            .iter()
            .map(|function| ExplainedFunction {
                kind: function.kind.as_str(),
                text_size: sizes.get(position, function.kind),
                preload: match kernel.options.preload {
                    PreloadMode::PerFunction => sizes.preload_units(position, function.kind),
                    PreloadMode::Whole | PreloadMode::Never => Some(0),
                },
            })
            .collect(),
        SubKernelCode::Dynamic(_) => Vec::new(),
    };
    ExplainedOp {
        index: op.index,
        kernel_name: op.kernel.kernel_name.to_string(),
        kernel_type: op.kernel.kernel_type.as_str(),
        stream_id: op.stream_id,
        block_num: op.block_num,
        dynamic: op.task_type == TaskType::Dynamic,
        idle: CoreNumbers { aic: idle(CoreKind::Aic), aiv: idle(CoreKind::Aiv) },
        cores: used,
        functions,
        sends: explained_events(kernel, &op.send_events),
        receives: explained_events(kernel, &op.recv_events),
    }
}

fn explained_events(kernel: &SuperKernel, events: &[EventUse]) -> Vec<ExplainedEvent> {
    let other_end = |event: &EventUse| match event.other_end {
        OtherEnd::Outside => None,
        OtherEnd::Op(position) => Some(kernel.ops[position].index),
    };
    events.iter().map(|event| ExplainedEvent { id: event.id, other_end: other_end(event) }).collect()
}

fn early_start(kernel: &SuperKernel, program: &Program) -> EarlyStart {
    let because = match kernel.form {
        StreamForm::Several => "several streams have no early start".to_owned(),
        StreamForm::One => option_text(kernel, OptionName::EarlyStart),
    };
    let is_hand_over = |step: &&Step| matches!(step.action, Action::EarlyStartWait { .. });
    let handed: HashSet<OpPosition> = program.steps.iter().filter(is_hand_over).filter_map(|step| step.op).collect();
    let pairs = kernel.ops.positions().filter(|_| kernel.has_early_start()).filter_map(|to| {
        let from = to.previous()?;
        // Ops that need not wait for each other have none.
        let own_wait = program.ops[to].own_wait;
        if !(handed.contains(&to) || own_wait.is_some() || program.ops[from].own_set.is_some()) {
            return None;
        }
        Some(HandOver {
            from: program.index(from),
            to: program.index(to),
            sets_itself: program.ops[from].own_set.is_some(),
            waits_itself: own_wait.is_some(),
            twice: matches!(own_wait, Some((_, Round::OwnWait(_)))),
        })
    });
    EarlyStart { on: kernel.has_early_start(), because, pairs: pairs.collect() }
}

fn option_text(kernel: &SuperKernel, name: OptionName) -> String {
    format!("{name}={}", kernel.options.text(name))
}

fn decision(kernel: &SuperKernel, name: OptionName, effect: String) -> Decision {
    Decision { option: option_text(kernel, name), given: kernel.options.is_given(name), effect }
}

fn preload(kernel: &SuperKernel) -> Decision {
    let effect = match kernel.options.preload {
        PreloadMode::PerFunction => "each op's code is fetched while the op before it runs, 16 KiB of it at most",
        PreloadMode::Whole => "16 KiB from the entry on are fetched once, at the start",
        PreloadMode::Never => "no code is fetched ahead",
    };
    decision(kernel, OptionName::PreloadCode, effect.to_owned())
}

fn split(kernel: &SuperKernel) -> Decision {
    let effect = match kernel.options.split.get() {
        1 => "all cores fetch the same code".to_owned(),
        copies => format!("{copies} copies of every function, so that cores fetch from different addresses"),
    };
    decision(kernel, OptionName::SplitMode, effect)
}

fn feed_sync_all(kernel: &SuperKernel, program: &Program) -> FeedSyncAll {
    let added = program.steps.iter().filter(|step| {
        let own = matches!(
            step.action,
            Action::LoadWorkspace { .. }
                | Action::SetSyncAllBase
                | Action::ClearWorkspace { .. }
                | Action::EnableSyncAll { .. }
                | Action::DisableSyncAll
                | Action::EndSyncAll
                | Action::ComplementSyncAll
        );
        own || step.reason == Some(Reason::WorkspaceCleared)
    });
    FeedSyncAll {
        workspace_bytes: kernel.workspace_size,
        steps: added.count(),
        followed: kernel.ops.iter().filter(|op| op.needs_feed_sync_all).map(|op| op.index).collect(),
    }
}

fn planned_sizes(kernel: &SuperKernel, sizes: &TextSizes, program: &Program) -> PlannedSizes {
    let mut measured: HashMap<(&str, CoreKind), u64> = HashMap::new();
    for (position, op) in kernel.ops.enumerate() {
        if let SubKernelCode::Static(functions) = &op.kernel.code {
            measured.extend(functions.iter().filter_map(|function| {
                Some(((function.name.as_str(), function.kind), sizes.get(position, function.kind)?))
            }));
        }
    }
    let code_once: u64 = measured.values().sum();
    PlannedSizes {
        slots: kernel.slots.slots.len(),
        workspace_bytes: kernel.workspace_size,
        debug_bytes: kernel.debug_output.as_ref().map_or(0, |debug| debug.size),
        code_once,
        code_in_copies: code_once.saturating_mul(program.split.into()),
        unmeasured: program.functions.len().saturating_sub(measured.len()),
    }
}
