//! One step as a line or two.

use std::collections::HashMap;

use super::dynamic::call_function;
use super::writer::CppWriter;
use crate::model::{CoreKind, OpPosition, SlotNumber, SyncMode};
use crate::program::{
    Action, Barrier, CoreIndex, Cores, Direction, FunctionId, Kinds, Part, Program, Property, Reason, RecordEdge, Step,
};

/// Where a step is written.
pub(super) struct Place<'p> {
    pub program: &'p Program,
    pub taken: &'p Taken<'p>,
    /// No condition stands around the step: what it calls is told whom it is for.
    pub asked_by_callee: bool,
}

/// Is whatever the step calls told the cores it is for, so that no condition is needed around it?
pub(super) fn passes_its_cores(step: &Step) -> bool {
    let is_told = matches!(step.action, Action::Preload { .. } | Action::PreloadPicked { .. } | Action::Call { .. });
    is_told
        && match step.cores.part {
            Part::All | Part::Below(..) => true,
            Part::From(..) | Part::First => false,
        }
}

/// Do two neighbours belong to one run: both without values of their ops, or both behind one condition?
pub(super) fn stand_together(before: &Step, after: &Step) -> bool {
    let (first, second) = (before.action.is(Property::Common), after.action.is(Property::Common));
    let behind_condition = |step: &Step| step.cores.part != Part::All && !passes_its_cores(step);
    match (first, second) {
        (true, true) => true,
        (false, false) => before.cores.part == after.cores.part && behind_condition(before) && behind_condition(after),
        (true, false) | (false, true) => false,
    }
}

/// Why the step is there, if that needs words: the usual case does not, nor does what only prepares a wait.
pub(super) fn reason(step: &Step) -> Option<Reason> {
    step.reason
        .filter(|reason| *reason != Reason::NextOnThisCore && !matches!(step.action, Action::EarlyStartConfig { .. }))
}

/// The variable with an index of the core.
pub(super) fn register(index: CoreIndex) -> &'static str {
    match index {
        CoreIndex::Block => "block_index",
        CoreIndex::Core => "core_index",
    }
}

/// Does the step's condition ask for this index?
pub(super) fn asks(step: &Step, wanted: CoreIndex) -> bool {
    match (step.cores.part, step.cores.kinds) {
        (Part::All, _) => false,
        (Part::Below(index, _) | Part::From(index, _), _) => index == wanted,
        (Part::First, Kinds::Only(kind)) => CoreIndex::first_of(kind) == wanted,
        (Part::First, Kinds::Every) => wanted == CoreIndex::Core,
    }
}

/// The condition that picks the cores of a step inside the code of `kind`; `None`: all.
pub(super) fn condition(cores: Cores) -> Option<String> {
    match cores.part {
        Part::All => None,
        Part::Below(index, count) => Some(format!("{} < {count}", register(index))),
        Part::From(index, count) => Some(format!("{} >= {count}", register(index))),
        Part::First => {
            let kind = match cores.kinds {
                Kinds::Only(kind) => kind,
                Kinds::Every => CoreKind::Aiv,
            };
            Some(format!("{} == 0", register(CoreIndex::first_of(kind))))
        }
    }
}

/// A helper that is for all who come here, or the one that is told its cores: up to its other arguments.
fn for_cores(place: &Place<'_>, step: &Step, helper: &str) -> String {
    match step.cores.part {
        Part::Below(index, count) if place.asked_by_callee => format!("{helper}_below({}, {count}, ", register(index)),
        Part::All | Part::Below(..) | Part::From(..) | Part::First => format!("{helper}("),
    }
}

/// The slot with the address of the word outside that a step polls or writes.
fn word(action: &Action) -> Option<SlotNumber> {
    if let Action::Notify { slot, .. }
    | Action::WaitEvent { slot, .. }
    | Action::ClearEvent { slot, .. }
    | Action::ReleaseLock { slot } = action
    {
        Some(*slot)
    } else if let Action::Switch { key_slot, .. } = action {
        Some(key_slot.after(2))
    } else {
        None
    }
}

/// What the code of one function keeps for its steps.
#[derive(Default)]
pub(super) struct Taken<'s> {
    /// The variables that hold this core's copies of functions.
    pub functions: HashMap<FunctionId, String>,
    /// Addresses in the parameter block.
    pub kept: Kept<'s>,
}

/// Addresses of words that several steps of one function need: the first one reads the parameter block, which is in
/// memory that a core has to wait for.
#[derive(Default)]
pub(super) struct Kept<'s> {
    /// By slot, the step that reads it.
    readers: HashMap<SlotNumber, &'s Step>,
}

/// Finds the slots that are worth a variable: all later steps are for cores that have read it.
pub(super) fn kept<'s>(steps: impl Iterator<Item = &'s &'s Step>) -> Kept<'s> {
    let mut uses: HashMap<SlotNumber, Vec<&Step>> = HashMap::new();
    for step in steps {
        if let Some(slot) = word(&step.action) {
            uses.entry(slot).or_default().push(step);
        }
    }
    let has_read = |first: &Step, later: &Step| [Part::All, later.cores.part].contains(&first.cores.part);
    let readers = uses.into_iter().filter_map(|(slot, steps)| match steps.as_slice() {
        [first, later @ ..] if !later.is_empty() && later.iter().all(|step| has_read(first, step)) => {
            Some((slot, *first))
        }
        _ => None,
    });
    Kept { readers: readers.collect() }
}

impl Kept<'_> {
    /// The line in front of the step that reads a kept address.
    pub(super) fn declaration(&self, step: &Step) -> Option<String> {
        let slot = word(&step.action).filter(|slot| self.is_reader(*slot, step))?;
        Some(match step.cores.part {
            Part::All => format!("GM_ADDR const sk_word_{slot} = param_base[{slot}];"),
            Part::Below(..) | Part::From(..) | Part::First => format!("GM_ADDR sk_word_{slot} = nullptr;"),
        })
    }

    /// The address of the word whose address is in a slot, for a step.
    fn address(&self, slot: SlotNumber, step: &Step) -> String {
        match (self.readers.contains_key(&slot), step.cores.part) {
            (false, _) => format!("param_base[{slot}]"),
            (true, Part::Below(..) | Part::From(..) | Part::First) if self.is_reader(slot, step) => {
                format!("sk_word_{slot} = param_base[{slot}]")
            }
            (true, _) => format!("sk_word_{slot}"),
        }
    }

    fn is_reader(&self, slot: SlotNumber, step: &Step) -> bool {
        self.readers.get(&slot).is_some_and(|reader| std::ptr::eq(*reader, step))
    }
}

/// Writes one step; `why` is a comment to put behind it, or empty.
pub(super) fn write(place: &Place<'_>, step: &Step, why: &str, out: &mut CppWriter) {
    let program = place.program;
    // The trace of a simulated run names ops by position.
    let position = step.op.unwrap_or(OpPosition::FIRST).place();
    let word = |slot: &SlotNumber| place.taken.kept.address(*slot, step);
    let code = |function: &FunctionId| match place.taken.functions.get(function) {
        Some(variable) => variable.clone(),
        None => super::functions::copy_of(&program.function(*function).name),
    };
    match &step.action {
        Action::LoadParameters => {
            out.line("[[maybe_unused]] GM_ADDR *param_base = (GM_ADDR *)get_para_base();");
        }
        Action::LoadWorkspace { slot } => {
            out.line(format_args!("[[maybe_unused]] GM_ADDR workspace = param_base[{slot}];"));
        }
        Action::SetSyncAllBase => out.line("AscendC::g_superKernelAutoSyncAllConfigGmBaseAddr = workspace;"),
        Action::InitDump { offset } => {
            out.line("#if defined ASCENDC_DUMP || defined ASCENDC_TIME_STAMP_ON");
            out.line("constexpr uint32_t ASCENDC_DUMP_SIZE = 0;");
            let mix = program.kernel_type.is_mix();
            out.line(format_args!("AscendC::InitDump({mix}, workspace + {offset}, ASCENDC_DUMP_SIZE);"));
            out.line("#endif");
        }
        Action::InitProfiling { buffer, task_id } => {
            out.line(format_args!("sk_profile_start(profile, param_base[{buffer}], (uint64_t)param_base[{task_id}]);"))
        }
        Action::SetFftsBase { slot } => {
            out.block(format_args!("if (GM_ADDR scheduler = param_base[{slot}])"), |out| {
                out.line("set_ffts_base_addr((uint64_t)scheduler);");
            });
        }
        Action::ClearWorkspace { bytes } => out.line(format_args!("sk_clear_workspace(workspace, {bytes});")),
        Action::PreloadHere { units } => out.line(format_args!("AscendC::PreLoad({units});")),
        Action::Preload { function, units } => {
            let (code, units) = (code(function), units.unwrap_or(0));
            out.line(format_args!("{}{code}, {units});", for_cores(place, step, "sk_preload")));
        }
        Action::PreloadPicked { units } => {
            out.line(format_args!("{}picked.code, {units});", for_cores(place, step, "sk_preload")));
        }
        Action::Record { subject, edge } => {
            let end = match edge {
                RecordEdge::Start => 0,
                RecordEdge::End => 1,
            };
            let (index, number) = (subject.index(), subject.type_number());
            out.line(format_args!("sk_record(profile, {index}u, {number:#x}, {end});"));
        }
        Action::PipeBarrier => out.line(format_args!("pipe_barrier(PIPE_ALL);{why}")),
        Action::Barrier(barrier) => out.line(format_args!("{}();{why}", barrier_function(*barrier))),
        Action::SetFlag { direction, .. } => out.line(format_args!("{}();{why}", set_function(*direction))),
        Action::WaitFlag { direction, .. } => out.line(format_args!("{}();{why}", wait_function(*direction))),
        Action::EarlyStartSet { .. } => out.line(format_args!("sk_set_next();{why}")),
        Action::EarlyStartConfig { config } => {
            out.line(format_args!("g_super_kernel_early_start_config = {config};"));
        }
        Action::EarlyStartWait { config, .. } => out.line(format_args!("sk_wait_previous<{config}>();{why}")),
        Action::Notify { slot, .. } => out.line(format_args!("sk_publish({}, 1);{why}", word(slot))),
        Action::WaitEvent { slot, .. } => out.line(format_args!("sk_wait_until_set({});{why}", word(slot))),
        Action::ClearEvent { slot, event } => {
            out.line(format_args!("sk_clear({}); // outer event {event}", word(slot)));
        }
        Action::EnableSyncAll { records } => {
            out.line(format_args!("sk_feed_sync_all({}, {});", records.aic, records.aiv));
        }
        Action::DisableSyncAll => out.line("AscendC::g_superKernelAutoSyncAllEnable = false;"),
        Action::EndSyncAll => out.line("sk_end_sync_all();"),
        Action::ComplementSyncAll => out.line("sk_complement_sync_all();"),
        Action::Flush => out.line(format_args!("sk_flush();{why}")),
        Action::Call { function, offset } => {
            let code = code(function);
            out.line(format_args!("{}{code}, {position}, {offset});", for_cores(place, step, "sk_call")));
        }
        Action::Switch { table, key_slot } => {
            let lock = word(&key_slot.after(2));
            out.line(format_args!("picked = sk_switch_{}(param_base + {key_slot}, {lock});{why}", table.0));
        }
        Action::CallPicked { offset, entering, .. } => {
            let function = call_function(*entering);
            out.line(format_args!("{function}(picked, {position}, {offset});"));
        }
        Action::ReleaseLock { slot } => match program.sync {
            SyncMode::Contract => out.line(format_args!("sk_publish({}, 0);", word(slot))),
            SyncMode::Proven => out.line(format_args!("sk_clear({});", word(slot))),
        },
    }
}

fn barrier_function(barrier: Barrier) -> &'static str {
    match barrier {
        Barrier::Aic => "sk_meet_aic",
        Barrier::AicAfterMte3 => "sk_meet_aic_after_mte3",
        Barrier::Aiv => "sk_meet_aiv",
        Barrier::All => "sk_meet_all",
    }
}

fn set_function(direction: Direction) -> &'static str {
    match direction {
        Direction::CubeToVector => "sk_tell_aiv",
        Direction::VectorToCube => "sk_tell_aic",
    }
}

fn wait_function(direction: Direction) -> &'static str {
    match direction {
        Direction::CubeToVector => "sk_wait_for_aic",
        Direction::VectorToCube => "sk_wait_for_aiv",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A condition asks for the indices that stand in it: nobody else computes them.
    #[test]
    fn a_condition_asks_for_what_stands_in_it() {
        let parts = [
            Part::All,
            Part::First,
            Part::Below(CoreIndex::Block, 2),
            Part::Below(CoreIndex::Core, 2),
            Part::From(CoreIndex::Block, 2),
            Part::From(CoreIndex::Core, 2),
        ];
        let kinds = [Kinds::Every, Kinds::Only(CoreKind::Aic), Kinds::Only(CoreKind::Aiv)];
        for (part, kinds) in parts.into_iter().flat_map(|part| kinds.map(|kinds| (part, kinds))) {
            let cores = Cores { kinds, part };
            let step = Step { op: None, cores, action: Action::PipeBarrier, reason: None };
            let told = condition(cores).unwrap_or_default();
            for index in [CoreIndex::Block, CoreIndex::Core] {
                assert_eq!(asks(&step, index), told.contains(register(index)), "{cores:?}: {told}");
            }
        }
    }
}
