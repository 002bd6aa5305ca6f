//! The entry function: one step after the other.

use std::collections::HashSet;

use super::helpers::part_condition;
use super::uses;
use super::writer::{CppWriter, comment_text};
use crate::model::{CoreKind, OpPosition, StreamForm};
use crate::program::{Action, Barrier, CoreIndex, Direction, Kinds, Part, Program, Reason, RecordEdge, Step};

/// A body longer than this is cut into functions of this many steps: compilers take more than linear time for one.
const STEPS_PER_PART: usize = 400;

pub(super) fn write(program: &Program, out: &mut CppWriter) {
    let start = program.steps.iter().position(|step| step.op.is_some()).unwrap_or(program.steps.len());
    let (set_up, body) = program.steps.split_at(start);
    let mut entry = Entry { program, titled: HashSet::new() };
    let parts: Vec<&[Step]> =
        if body.len() > STEPS_PER_PART { body.chunks(STEPS_PER_PART).collect() } else { Vec::new() };
    if !parts.is_empty() {
        write_parts(&mut entry, &parts, out);
    }
    let align = match program.func_align {
        0 => String::new(),
        bytes => format!("__attribute__((aligned({bytes}))) "),
    };
    out.block(format_args!("extern \"C\" __global__ {align}__aicore__ void {}(void)", program.entry_name()), |out| {
        locals(program, out);
        if parts.is_empty() {
            entry.steps(&program.steps, out);
            return;
        }
        entry.steps(set_up, out);
        let names: Vec<&str> = frame(program).into_iter().map(|(_, name)| name).collect();
        out.line(format_args!("SkFrame frame = {{{}}};", names.join(", ")));
        for number in 0..parts.len() {
            out.line(format_args!("sk_part_{number}(frame);"));
        }
    });
}

/// What the parts of a cut body share, by type and name.
fn frame(program: &Program) -> Vec<(&'static str, &'static str)> {
    let mut fields = vec![("GM_ADDR *", "param_base")];
    for (index, name) in [(CoreIndex::Block, "block_index"), (CoreIndex::Core, "core_index")] {
        if reads(program, index) {
            fields.push(("int64_t ", name));
        }
    }
    if uses(program, |action| matches!(action, Action::InitProfiling { .. })) {
        fields.push(("SkProfile &", "profile"));
    }
    if uses(program, |action| matches!(action, Action::Switch { .. })) {
        fields.push(("SkPicked &", "picked"));
    }
    fields
}

fn write_parts(entry: &mut Entry<'_>, parts: &[&[Step]], out: &mut CppWriter) {
    let fields = frame(entry.program);
    out.line("// What the parts of the entry share.");
    out.line("struct SkFrame {");
    for (kind, name) in &fields {
        out.line(format_args!("    {kind}{name};"));
    }
    out.line("};");
    out.blank();
    for (number, steps) in parts.iter().enumerate() {
        out.block(format_args!("SK_HELPER void sk_part_{number}(SkFrame &frame)"), |out| {
            for (kind, name) in &fields {
                out.line(format_args!("[[maybe_unused]] {kind}{name} = frame.{name};"));
            }
            entry.steps(steps, out);
        });
        out.blank();
    }
}

/// Does any step ask for this index?
fn reads(program: &Program, wanted: CoreIndex) -> bool {
    program.steps.iter().any(|step| match (step.cores.part, step.cores.kinds) {
        (Part::All, _) => false,
        (Part::Below(index, _) | Part::From(index, _), _) => index == wanted,
        (Part::First, Kinds::Only(kind)) => CoreIndex::first_of(kind) == wanted,
        (Part::First, Kinds::Every) => wanted == CoreIndex::Core,
    })
}

/// Values that several steps read.
fn locals(program: &Program, out: &mut CppWriter) {
    if reads(program, CoreIndex::Block) {
        out.line("[[maybe_unused]] const int64_t block_index = get_block_idx();");
    }
    if reads(program, CoreIndex::Core) {
        out.line("[[maybe_unused]] const int64_t core_index = AscendC::GetBlockIdx();");
    }
    if uses(program, |action| matches!(action, Action::InitProfiling { .. })) {
        out.line("SkProfile profile = {nullptr, 0, 0, false};");
    }
    if uses(program, |action| matches!(action, Action::Switch { .. })) {
        out.line("[[maybe_unused]] SkPicked picked = {0, 0, 0};");
    }
}

struct Entry<'a> {
    program: &'a Program,
    /// Ops whose title has been written, per side.
    titled: HashSet<(Option<CoreKind>, OpPosition)>,
}

impl Entry<'_> {
    /// Steps for the same cores share their conditions.
    fn steps(&mut self, steps: &[Step], out: &mut CppWriter) {
        let program = self.program;
        let groups = steps.chunk_by(|before, after| guard(program, before) == guard(program, after));
        for group in groups {
            let guard = guard(program, &group[0]);
            if let Some(kind) = guard {
                out.open(match kind {
                    CoreKind::Aic => "if ASCEND_IS_AIC",
                    CoreKind::Aiv => "if ASCEND_IS_AIV",
                });
            }
            for part in group.chunk_by(|before, after| before.cores.part == after.cores.part) {
                self.part(part, out);
            }
            if guard.is_some() {
                out.close();
            }
        }
    }

    fn part(&mut self, steps: &[Step], out: &mut CppWriter) {
        let cores = steps[0].cores;
        // A title belongs in front of the condition, not inside.
        self.title(&steps[0], out);
        let condition = part_condition(cores.kinds, cores.part);
        if let Some(condition) = &condition {
            out.open(format_args!("if ({condition})"));
        }
        for step in steps {
            self.title(step, out);
            self.step(step, out);
        }
        if condition.is_some() {
            out.close_short();
        }
    }

    /// Names the op in front of its first step; a preload for it comes earlier and does not count.
    fn title(&mut self, step: &Step, out: &mut CppWriter) {
        let Some(position) =
            step.op.filter(|_| !matches!(step.action, Action::Preload { .. } | Action::ClearEvent { .. }))
        else {
            return;
        };
        let side = match (self.program.form, step.cores.kinds) {
            (StreamForm::Several, Kinds::Only(kind)) => Some(kind),
            (StreamForm::One, _) | (StreamForm::Several, Kinds::Every) => None,
        };
        if self.titled.insert((side, position)) {
            let op = &self.program.ops[position];
            let name = comment_text(&op.kernel_name);
            out.line(format_args!(
                "// op {}: {name} ({}, {} blocks, stream {})",
                op.index, op.kernel_type, op.block_num, op.stream_id
            ));
        }
    }

    fn step(&self, step: &Step, out: &mut CppWriter) {
        let program = self.program;
        // The trace of a simulated run names ops by position.
        let position = step.op.unwrap_or(OpPosition::FIRST).0;
        let why = match step.reason {
            // The usual case needs no words, nor does what only prepares a wait.
            None | Some(Reason::NextOnThisCore) => String::new(),
            Some(_) if matches!(step.action, Action::EarlyStartConfig { .. }) => String::new(),
            Some(reason) => format!(" // {reason}"),
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
            Action::InitProfiling { buffer, task_id } => out.line(format_args!(
                "sk_profile_start(profile, param_base[{buffer}], (uint64_t)param_base[{task_id}]);"
            )),
            Action::SetFftsBase { slot } => {
                out.block(format_args!("if (param_base[{slot}] != nullptr)"), |out| {
                    out.line(format_args!("set_ffts_base_addr((uint64_t)param_base[{slot}]);"));
                });
            }
            Action::ClearWorkspace { bytes } => out.line(format_args!("sk_clear_workspace(workspace, {bytes});")),
            Action::PreloadHere { units } => out.line(format_args!("AscendC::PreLoad({units});")),
            Action::Preload { function, units } => {
                let (name, units) = (&program.functions[function.0].name, units.unwrap_or(0));
                out.line(format_args!("sk_preload(sk_address_{name}(), {units});"));
            }
            Action::PreloadPicked { units } => {
                // Only super kernels with vector cores alone do this.
                out.line(format_args!("sk_preload(picked.aiv, {units});"));
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
            Action::EarlyStartWait { config, .. } => {
                out.line(format_args!("sk_wait_previous<{config}>();{why}"));
            }
            Action::Notify { slot, .. } => out.line(format_args!("sk_publish(param_base[{slot}], 1);{why}")),
            Action::WaitEvent { slot, .. } => out.line(format_args!("sk_wait_until_set(param_base[{slot}]);{why}")),
            Action::ClearEvent { slot, event } => {
                out.line(format_args!("sk_clear(param_base[{slot}]); // outer event {event}"));
            }
            Action::EnableSyncAll { aic_offset, aiv_offset } => {
                out.line(format_args!("sk_feed_sync_all({aic_offset}, {aiv_offset});"));
            }
            Action::DisableSyncAll => out.line("AscendC::g_superKernelAutoSyncAllEnable = false;"),
            Action::EndSyncAll => out.line("sk_end_sync_all();"),
            Action::ComplementSyncAll => out.line("sk_complement_sync_all();"),
            Action::Flush => out.line(format_args!("sk_flush();{why}")),
            Action::Call { function, offset } => {
                let name = &program.functions[function.0].name;
                out.line(format_args!("sk_call_{name}({position}, {offset});"));
            }
            Action::Switch { table, key_slot } => {
                out.line(format_args!("picked = sk_switch_{}(param_base + {key_slot});{why}", table.0));
            }
            Action::CallPicked { offset, .. } => {
                out.line(format_args!("sk_call_picked(picked, {position}, {offset});"));
            }
            Action::ReleaseLock { slot } => out.line(format_args!("sk_publish(param_base[{slot}], 0);")),
        }
    }
}

/// The kind condition of a step: none where the kernel has one kind only.
fn guard(program: &Program, step: &Step) -> Option<CoreKind> {
    match step.cores.kinds {
        Kinds::Only(kind) if program.kernel_type.is_mix() => Some(kind),
        Kinds::Only(_) | Kinds::Every => None,
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
