//! The code of one core kind: functions, hand-overs, parts, the entry.
//!
//! What ops have in common is written once: a hand-over that several ops need is a function (its *shape*), a call and a
//! preload are one helper for all ops, and the address of a function is taken once per part. Nothing is asked or read
//! twice: what all cores of the kind do asks for no index, ops in a row that the same cores run ask once for all of them,
//! and an address in the parameter block that several steps need is read by the first. What is left of an op is a few
//! calls in a row: little to compile, to fetch and to execute on a device.

use std::collections::{HashMap, HashSet};

use super::step::{self, Place, Taken};
use super::straight::{Piece, Run, Side, pieces, steps_of};
use super::writer::{CppWriter, comment_text};
use super::{dynamic, functions};
use crate::model::{CoreKind, OpPosition};
use crate::program::{Action, CoreIndex, Cores, Part, Program, Property, Step};

/// A body longer than this is cut into functions of this many steps: compilers take more than linear time for one.
const STEPS_PER_PART: usize = 400;

/// Writes the code for `kind`.
pub(super) fn write(program: &Program, kind: CoreKind, out: &mut CppWriter) {
    let steps = of_launch(program, kind);
    let code = Code::of(program, &steps);
    functions::declare(program, &code.steps, kind, out);
    dynamic::write(program, kind, &code.steps, out);
    code.write_shapes(out);
    let start = code.runs.iter().position(|run| run.steps[0].op.is_some()).unwrap_or(code.runs.len());
    let (set_up, body) = code.runs.split_at(start);
    let parts = if code.steps.len() > STEPS_PER_PART { cut(body) } else { Vec::new() };
    let mut titles = HashSet::new();
    if !parts.is_empty() {
        code.write_parts(&parts, &mut titles, out);
    }
    let align = match program.func_align {
        0 => String::new(),
        bytes => format!("__attribute__((aligned({bytes}))) "),
    };
    out.block(format_args!("extern \"C\" __global__ {align}__aicore__ void {}(void)", program.entry_name()), |out| {
        code.locals(out);
        if parts.is_empty() {
            code.write_runs(&code.runs, &mut titles, out);
            return;
        }
        code.write_runs(set_up, &mut titles, out);
        let names: Vec<&str> = code.frame().into_iter().map(|(_, name)| name).collect();
        out.line(format_args!("SkFrame frame = {{{}}};", names.join(", ")));
        for number in 0..parts.len() {
            out.line(format_args!("sk_part_{number}(frame);"));
        }
    });
}

/// The steps of `kind` as a launch has them: what all its cores take asks for no index, what none takes is gone.
fn of_launch(program: &Program, kind: CoreKind) -> Vec<Step> {
    let cores = |index| match index {
        CoreIndex::Block => program.block_num,
        CoreIndex::Core => program.kernel_type.cores(kind, program.block_num),
    };
    let steps = program.steps.iter().filter(|step| step.cores.kinds.contain(kind));
    let taken = steps.filter_map(|step| {
        let part = match step.cores.part {
            Part::Below(index, count) if count >= cores(index) => Part::All,
            Part::From(index, count) if count >= cores(index) => return None,
            part @ (Part::All | Part::Below(..) | Part::From(..) | Part::First) => part,
        };
        Some(Step { cores: Cores { part, ..step.cores }, ..step.clone() })
    });
    taken.collect()
}

/// Runs in parts of about [`STEPS_PER_PART`] steps.
fn cut<'r, 'a>(runs: &'r [Run<'a>]) -> Vec<&'r [Run<'a>]> {
    let (mut parts, mut start, mut steps) = (Vec::new(), 0, 0);
    for (place, run) in runs.iter().enumerate() {
        if steps + run.steps.len() > STEPS_PER_PART && place > start {
            parts.push(&runs[start..place]);
            (start, steps) = (place, 0);
        }
        steps += run.steps.len();
    }
    parts.push(&runs[start..]);
    parts
}

/// What several runs have in common.
struct Shape {
    text: String,
    /// The indices it asks for.
    indices: Vec<CoreIndex>,
}

/// The steps of one kind.
struct Code<'a> {
    program: &'a Program,
    steps: Vec<&'a Step>,
    runs: Vec<Run<'a>>,
    shapes: Vec<Shape>,
}

impl<'a> Code<'a> {
    fn of(program: &'a Program, steps: &'a [Step]) -> Self {
        let steps: Vec<&Step> = steps.iter().collect();
        let together = |before: &&Step, after: &&Step| step::stand_together(before, after);
        let mut runs: Vec<Run<'a>> =
            steps.chunk_by(together).map(|steps| Run { steps: steps.to_vec(), shape: None }).collect();
        let mut code = Self { program, steps, runs: Vec::new(), shapes: Vec::new() };
        code.shapes = code.find_shapes(&mut runs);
        code.runs = runs;
        code
    }

    /// Finds the runs that are alike and worth a function: those of more than one call, or with a condition.
    fn find_shapes(&self, runs: &mut [Run<'a>]) -> Vec<Shape> {
        let mut alike: HashMap<String, Vec<usize>> = HashMap::new();
        let mut order = Vec::new();
        for (place, run) in runs.iter().enumerate() {
            let worth = run.steps.len() > 1 || run.steps[0].cores.part != Part::All;
            if worth && run.steps[0].action.is(Property::Common) {
                let mut out = CppWriter::default();
                out.indented(|out| self.write_steps(&run.steps, &Taken::default(), Words::None, out));
                let text = out.finish();
                let places = alike.entry(text.clone()).or_default();
                if places.is_empty() {
                    order.push(text);
                }
                places.push(place);
            }
        }
        let mut shapes = Vec::new();
        for text in order {
            let places = &alike[&text];
            if let [first, _, ..] = places[..] {
                let asked = |index: &CoreIndex| runs[first].steps.iter().any(|step| step::asks(step, *index));
                let indices = [CoreIndex::Block, CoreIndex::Core].into_iter().filter(asked).collect();
                for place in places {
                    runs[*place].shape = Some(shapes.len());
                }
                shapes.push(Shape { text, indices });
            }
        }
        shapes
    }

    fn write_shapes(&self, out: &mut CppWriter) {
        if self.shapes.is_empty() {
            return;
        }
        out.line("// What several ops have in common between them.");
        for (number, shape) in self.shapes.iter().enumerate() {
            let parameters: Vec<String> =
                shape.indices.iter().map(|index| format!("int64_t {}", step::register(*index))).collect();
            out.line(format_args!("SK_SHARED void sk_between_{number}({}) {{", parameters.join(", ")));
            out.lines(&shape.text);
            out.line("}");
            out.blank();
        }
    }

    /// What the parts of a cut body share, by type and name.
    fn frame(&self) -> Vec<(&'static str, &'static str)> {
        let mut fields = vec![("GM_ADDR *", "param_base")];
        for index in [CoreIndex::Block, CoreIndex::Core] {
            if self.asks(index) {
                fields.push(("int64_t ", step::register(index)));
            }
        }
        if self.uses(|action| matches!(action, Action::InitProfiling { .. })) {
            fields.push(("SkProfile &", "profile"));
        }
        if self.uses(|action| matches!(action, Action::Switch { .. })) {
            fields.push(("SkPicked &", "picked"));
        }
        fields
    }

    fn write_parts(&self, parts: &[&[Run<'a>]], titles: &mut HashSet<OpPosition>, out: &mut CppWriter) {
        let fields = self.frame();
        out.line("// What the parts of the entry share.");
        out.line("struct SkFrame {");
        for (kind, name) in &fields {
            out.line(format_args!("    {kind}{name};"));
        }
        out.line("};");
        out.blank();
        for (number, runs) in parts.iter().enumerate() {
            out.block(format_args!("SK_SHARED void sk_part_{number}(SkFrame &frame)"), |out| {
                for (kind, name) in &fields {
                    out.line(format_args!("[[maybe_unused]] {kind}{name} = frame.{name};"));
                }
                self.write_runs(runs, titles, out);
            });
            out.blank();
        }
    }

    fn asks(&self, index: CoreIndex) -> bool {
        self.steps.iter().any(|step| step::asks(step, index))
    }

    fn uses(&self, wanted: impl Fn(&Action) -> bool) -> bool {
        self.steps.iter().any(|step| wanted(&step.action))
    }

    /// Values that several steps read.
    fn locals(&self, out: &mut CppWriter) {
        if self.asks(CoreIndex::Block) {
            out.line("[[maybe_unused]] const int64_t block_index = get_block_idx();");
        }
        if self.asks(CoreIndex::Core) {
            out.line("[[maybe_unused]] const int64_t core_index = AscendC::GetBlockIdx();");
        }
        if self.uses(|action| matches!(action, Action::InitProfiling { .. })) {
            out.line("SkProfile profile = {nullptr, 0, 0, false};");
        }
        if self.uses(|action| matches!(action, Action::Switch { .. })) {
            out.line("[[maybe_unused]] SkPicked picked = {0, 0};");
        }
    }

    /// Runs inside one function: what several steps need is taken where it is first needed.
    fn write_runs(&self, runs: &[Run<'_>], titles: &mut HashSet<OpPosition>, out: &mut CppWriter) {
        let mut taken = Taken { functions: HashMap::new(), kept: step::kept(runs.iter().flat_map(|run| &run.steps)) };
        for piece in pieces(runs) {
            match piece {
                Piece::Mixed(runs) => runs.iter().for_each(|run| {
                    self.take(run, &mut taken, out);
                    self.write_run(run, &taken, titles, out);
                }),
                Piece::Straight(runs, cores) => {
                    runs.iter().for_each(|run| self.take(run, &mut taken, out));
                    let condition = step::condition(cores).unwrap_or_default();
                    out.open(format_args!("if ({condition})"));
                    for run in runs {
                        let steps = steps_of(run, cores, Side::In);
                        self.write_run(&Run { steps: steps.iter().collect(), ..*run }, &taken, titles, out);
                    }
                    let others = self.others(runs, cores, &taken);
                    if !others.is_empty() {
                        out.else_block();
                        out.lines(&others);
                    }
                    out.close();
                }
            }
        }
    }

    /// What the cores do that do not run a straight piece's ops; what repeats is a loop.
    fn others(&self, runs: &[Run<'_>], cores: Cores, taken: &Taken<'_>) -> String {
        let texts = runs.iter().map(|run| {
            let mut out = CppWriter::default();
            let steps = steps_of(run, cores, Side::Out);
            match run.shape {
                Some(number) => out.line(self.call_of_shape(number)),
                None => self.write_steps(&steps.iter().collect::<Vec<_>>(), taken, Words::None, &mut out),
            }
            out.finish()
        });
        let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
        let mut out = CppWriter::default();
        for alike in texts.chunk_by(|before, after| before == after) {
            match alike {
                [text] => out.lines(text),
                _ => out.block(format_args!("for (uint32_t turn = 0; turn < {}; ++turn)", alike.len()), |out| {
                    out.lines(&alike[0]);
                }),
            }
        }
        out.finish()
    }

    /// Takes what the run's steps need and nobody has taken before: addresses of sub-kernels' functions, and of words.
    fn take<'s>(&self, run: &Run<'s>, taken: &mut Taken<'_>, out: &mut CppWriter) {
        for function in run.steps.iter().filter_map(|step| functions::function(&step.action)) {
            taken.functions.entry(function).or_insert_with(|| functions::take(self.program, function, out));
        }
        run.steps.iter().filter_map(|step| taken.kept.declaration(step)).for_each(|line| out.line(line));
    }

    fn write_run(&self, run: &Run<'_>, taken: &Taken<'_>, titles: &mut HashSet<OpPosition>, out: &mut CppWriter) {
        for step in &run.steps {
            self.title(step, titles, out);
        }
        match run.shape {
            Some(number) => {
                let why = self.reasons(&run.steps);
                out.line(format_args!("{}{why}", self.call_of_shape(number)));
            }
            None => self.write_steps(&run.steps, taken, Words::Reasons, out),
        }
    }

    fn call_of_shape(&self, number: usize) -> String {
        let arguments: Vec<&str> = self.shapes[number].indices.iter().copied().map(step::register).collect();
        format!("sk_between_{number}({});", arguments.join(", "))
    }

    /// Steps one by one; those for the same cores share their condition.
    fn write_steps(&self, steps: &[&Step], taken: &Taken<'_>, words: Words, out: &mut CppWriter) {
        for part in steps.chunk_by(|before, after| before.cores.part == after.cores.part) {
            let asked_by_callee = part.iter().all(|step| step::passes_its_cores(step));
            let condition = if asked_by_callee { None } else { step::condition(part[0].cores) };
            if let Some(condition) = &condition {
                out.open(format_args!("if ({condition})"));
            }
            for step in part {
                let why = match words {
                    Words::Reasons => step::reason(step).map(|reason| format!(" // {reason}")).unwrap_or_default(),
                    Words::None => String::new(),
                };
                step::write(&Place { program: self.program, taken, asked_by_callee }, step, &why, out);
            }
            if condition.is_some() {
                out.close_short();
            }
        }
    }

    /// Why a run is there, each reason once.
    fn reasons(&self, steps: &[&Step]) -> String {
        let mut told: Vec<String> = Vec::new();
        for reason in steps.iter().filter_map(|step| step::reason(step)) {
            let text = reason.to_string();
            if !told.contains(&text) {
                told.push(text);
            }
        }
        if told.is_empty() { String::new() } else { format!(" // {}", told.join(", ")) }
    }

    /// Names the op in front of its first step; a preload for it comes earlier and does not count.
    fn title(&self, step: &Step, titles: &mut HashSet<OpPosition>, out: &mut CppWriter) {
        let Some(position) =
            step.op.filter(|_| !matches!(step.action, Action::Preload { .. } | Action::ClearEvent { .. }))
        else {
            return;
        };
        if titles.insert(position) {
            let op = &self.program.ops[position];
            let name = comment_text(&op.kernel_name);
            out.line(format_args!(
                "// op {}: {name} ({}, {} blocks, stream {})",
                op.index, op.kernel_type, op.block_num, op.stream_id
            ));
        }
    }
}

/// Does a step say why it is there?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Words {
    Reasons,
    None,
}
