//! The sub-kernels' functions: declarations, copies, and how ops use them.

use std::collections::HashSet;

use super::writer::CppWriter;
use crate::artifact::copy_name;
use crate::model::CoreKind;
use crate::program::{Action, FunctionId, Program, Step};

/// What all ops share: picking a copy, preloading, calling.
pub(super) fn write_helpers(split: u32, out: &mut CppWriter) {
    if split > 1 {
        out.line("// Cores fetch their instructions from different copies of the same code.");
        let copies: Vec<String> = (0..split).map(|copy| format!("uint64_t sk_copy_{copy}")).collect();
        out.block(format_args!("SK_SHARED uint64_t sk_copy({})", copies.join(", ")), |out| {
            // Only the low byte of the core's number has a meaning.
            out.line(format_args!("switch ((uint8_t)get_coreid() % {split}u) {{"));
            (1..split).for_each(|copy| out.line(format_args!("    case {copy}: return sk_copy_{copy};")));
            out.line("    default: return sk_copy_0;");
            out.line("}");
        });
        out.blank();
    }
    out.block("SK_HELPER void sk_preload(uint64_t code, int64_t units)", |out| {
        out.line("preload((const void *)code, units);");
    });
    out.blank();
    out.block("SK_HELPER void sk_call(uint64_t code, uint32_t position, uint64_t offset)", |out| {
        out.line("SK_OP_BEGIN(position);");
        out.line("((void (*)(uint64_t))code)(offset);");
        out.line("SK_OP_END(position);");
    });
    out.blank();
    out.line("// For the cores whose index is below the count.");
    let preload = "SK_HELPER void sk_preload_below(int64_t index, int64_t count, uint64_t code, int64_t units)";
    out.block(preload, |out| out.block("if (index < count)", |out| out.line("sk_preload(code, units);")));
    out.blank();
    let call =
        "SK_HELPER void sk_call_below(int64_t index, int64_t count, uint64_t code, uint32_t position, uint64_t offset)";
    out.block(call, |out| out.block("if (index < count)", |out| out.line("sk_call(code, position, offset);")));
    out.blank();
    declaration_macro(split, out);
    out.blank();
}

fn declaration_macro(split: u32, out: &mut CppWriter) {
    // `name##_split1`: the macro's argument with the copy's suffix.
    let symbol = |copy: u32| if copy == 0 { "name".to_owned() } else { copy_name("name##", copy) };
    out.line("// Declares a function with its copies; SK_COPY is the address of this core's copy.");
    let mut lines = vec!["#define SK_FUNCTION(name)".to_owned()];
    lines.extend(
        (0..split).map(|copy| format!("    extern \"C\" __aicore__ void {}(uint64_t args_offset);", symbol(copy))),
    );
    out.line(lines.join(" \\\n"));
    let copies: Vec<String> = (0..split).map(|copy| format!("(uint64_t){}", symbol(copy))).collect();
    match copies.as_slice() {
        [only] => out.line(format_args!("#define SK_COPY(name) {only}")),
        several => out.line(format_args!("#define SK_COPY(name) sk_copy({})", several.join(", "))),
    }
}

/// Declares the functions that the code of `kind` uses.
pub(super) fn declare(program: &Program, steps: &[&Step], kind: CoreKind, out: &mut CppWriter) {
    let mut used: HashSet<FunctionId> = steps.iter().filter_map(|step| function(&step.action)).collect();
    for step in steps {
        if let Action::Switch { table, .. } = &step.action {
            used.extend(program.table(*table).iter().filter_map(|entry| entry.function(kind)));
        }
    }
    let numbered = (0..).map(FunctionId).zip(&program.functions);
    for (_, function) in numbered.filter(|(id, _)| used.contains(id)) {
        out.line(format_args!("SK_FUNCTION({})", function.name));
    }
    if !used.is_empty() {
        out.blank();
    }
}

/// The address of this core's copy of a function.
pub(super) fn copy_of(name: &str) -> String {
    format!("SK_COPY({name})")
}

/// Keeps the address of this core's copy; the variable's name.
pub(super) fn take(program: &Program, function: FunctionId, out: &mut CppWriter) -> String {
    let name = &program.function(function).name;
    let variable = format!("sk_code_{name}");
    out.line(format_args!("const uint64_t {variable} = {};", copy_of(name)));
    variable
}

/// The sub-kernel's function that the step needs.
pub(super) fn function(action: &Action) -> Option<FunctionId> {
    if let Action::Preload { function, .. } | Action::Call { function, .. } = action { Some(*function) } else { None }
}
