//! Functions that are picked at run time.

use super::functions::copy_of;
use super::writer::CppWriter;
use crate::model::{CoreClass, CoreKind};
use crate::program::{Action, Entering, Program, Step, TableEntry};

pub(super) fn write(program: &Program, kind: CoreKind, steps: &[&Step], out: &mut CppWriter) {
    let switches = |number: u32| {
        let of_table = |step: &&Step| matches!(&step.action, Action::Switch { table, .. } if table.0 == number);
        steps.iter().copied().any(|step| of_table(&step))
    };
    let tables: Vec<_> = (0..).zip(&program.tables).filter(|(number, _)| switches(*number)).collect();
    if tables.is_empty() {
        return;
    }
    out.line("// Tells a simulator whose key it is; nothing on a device.");
    out.line("#ifndef SK_UNKNOWN_KEY");
    out.line("#define SK_UNKNOWN_KEY(slots) ((void)(slots))");
    out.line("#endif");
    out.blank();
    out.line("// What a switch picked: this core's copy, and the kernel type above the block count.");
    out.lines("struct SkPicked {\n    uint64_t code;\n    uint64_t type_and_blocks;\n};");
    out.blank();
    for (number, table) in tables {
        switch(program, kind, number, table, out);
    }
    for entering in [Entering::All, Entering::Tiled] {
        let is_used =
            |step: &&Step| matches!(step.action, Action::CallPicked { entering: used, .. } if used == entering);
        if steps.iter().any(is_used) {
            call(program, kind, entering, out);
        }
    }
}

/// Waits for the tiling, then a binary search over the keys.
fn switch(program: &Program, kind: CoreKind, number: u32, table: &[TableEntry], out: &mut CppWriter) {
    out.block(format_args!("SK_HELPER SkPicked sk_switch_{number}(GM_ADDR *slots, GM_ADDR lock)"), |out| {
        out.line("sk_wait_until_set(lock);");
        out.line("[[maybe_unused]] const uint64_t key = *(__gm__ volatile uint64_t *)slots[0];");
        out.line("const uint64_t blocks = *(__gm__ volatile uint64_t *)slots[1] & 0xffffffffULL;");
        search(program, kind, table, out);
        out.line("SK_UNKNOWN_KEY(slots);");
        out.line("trap();");
        // A type that nobody calls, for simulators in which a trap returns.
        out.line("return SkPicked{0, 0xffULL << 32 | blocks};");
    });
    out.blank();
}

fn search(program: &Program, kind: CoreKind, table: &[TableEntry], out: &mut CppWriter) {
    match table {
        [] => {}
        [entry] => out.block(format_args!("if (key == {}ULL)", entry.key), |out| {
            let code = match entry.function(kind) {
                Some(function) => copy_of(&program.function(function).name),
                None => "0".to_owned(),
            };
            let kernel_type = entry.kernel_type;
            out.line(format_args!("// {kernel_type}"));
            out.line(format_args!("return SkPicked{{{code}, {}ULL << 32 | blocks}};", kernel_type.number()));
        }),
        _ => {
            let (low, high) = table.split_at(table.len() / 2);
            out.open(format_args!("if (key < {}ULL)", high[0].key));
            search(program, kind, low, out);
            out.else_block();
            search(program, kind, high, out);
            out.close();
        }
    }
}

/// The helper by which cores enter.
pub(super) fn call_function(entering: Entering) -> &'static str {
    match entering {
        Entering::All => "sk_call_picked",
        Entering::Tiled => "sk_call_tiled",
    }
}

fn call(program: &Program, kind: CoreKind, entering: Entering, out: &mut CppWriter) {
    let blocks = program.block_num;
    let vector_cores = program.kernel_type.cores(CoreKind::Aiv, blocks);
    let types = |classes: &[CoreClass]| {
        let numbers =
            crate::model::KernelType::ALL.into_iter().filter(|kernel_type| classes.contains(&kernel_type.class()));
        numbers.map(|kernel_type| format!("type == {}", kernel_type.number())).collect::<Vec<_>>().join(" || ")
    };
    out.line(match entering {
        Entering::All => {
            "// All cores of the picked type's kinds call; those beyond its block count leave by themselves."
        }
        Entering::Tiled => "// Cores of the picked type's kinds call, as many as it was tiled for.",
    });
    let function = call_function(entering);
    let head = format_args!("SK_HELPER void {function}(const SkPicked &picked, uint32_t position, uint64_t offset)");
    out.block(head, |out| {
        out.line("const uint32_t blocks = (uint32_t)picked.type_and_blocks;");
        out.line("g_super_kernel_dynamic_block_num = blocks;");
        out.line("const uint64_t type = picked.type_and_blocks >> 32;");
        let mut calls = |classes: &[CoreClass], index: &str, count: u32| {
            out.block(format_args!("if ({})", types(classes)), |out| {
                out.block(format_args!("if (blocks == 0 || blocks > {count})"), |out| out.line("trap();"));
                match entering {
                    Entering::All => out.line("sk_call(picked.code, position, offset);"),
                    Entering::Tiled => {
                        out.line(format_args!("sk_call_below({index}, blocks, picked.code, position, offset);"))
                    }
                }
            });
        };
        match kind {
            CoreKind::Aic => calls(&[CoreClass::Mix, CoreClass::Aic], "get_block_idx()", blocks),
            CoreKind::Aiv => {
                calls(&[CoreClass::Mix], "get_block_idx()", blocks);
                calls(&[CoreClass::Aiv], "AscendC::GetBlockIdx()", vector_cores);
            }
        }
    });
    out.blank();
}
