//! Functions that are picked at run time.

use super::uses;
use super::writer::CppWriter;
use crate::model::{CoreClass, CoreKind};
use crate::program::{Action, Program, TableEntry};

pub(super) fn write(program: &Program, out: &mut CppWriter) {
    if program.tables.is_empty() {
        return;
    }
    out.line("// What a switch picked: this core's copies, and the kernel type above the block count.");
    out.lines("struct SkPicked {\n    uint64_t aic;\n    uint64_t aiv;\n    uint64_t type_and_blocks;\n};");
    out.blank();
    for (number, table) in program.tables.iter().enumerate() {
        switch(program, number, table, out);
    }
    if uses(program, |action| matches!(action, Action::CallPicked { .. })) {
        call(program, out);
    }
}

/// Waits for the tiling, then a binary search over the keys.
fn switch(program: &Program, number: usize, table: &[TableEntry], out: &mut CppWriter) {
    out.block(format_args!("SK_HELPER SkPicked sk_switch_{number}(GM_ADDR *slots)"), |out| {
        out.line("sk_wait_until_set(slots[2]);");
        out.line("[[maybe_unused]] const uint64_t key = *(__gm__ volatile uint64_t *)slots[0];");
        out.line("const uint64_t blocks = *(__gm__ volatile uint64_t *)slots[1] & 0xffffffffULL;");
        search(program, table, out);
        out.line("trap();");
        // A type that nobody calls, for simulators in which a trap returns.
        out.line("return SkPicked{0, 0, 0xffULL << 32 | blocks};");
    });
    out.blank();
}

fn search(program: &Program, table: &[TableEntry], out: &mut CppWriter) {
    match table {
        [] => {}
        [entry] => out.block(format_args!("if (key == {}ULL)", entry.key), |out| {
            let address = |kind: CoreKind| match entry.function(kind) {
                Some(function) => format!("sk_address_{}()", program.functions[function.0].name),
                None => "0".to_owned(),
            };
            let (aic, aiv) = (address(CoreKind::Aic), address(CoreKind::Aiv));
            let kernel_type = entry.kernel_type;
            out.line(format_args!("// {kernel_type}"));
            out.line(format_args!("return SkPicked{{{aic}, {aiv}, {}ULL << 32 | blocks}};", kernel_type.number()));
        }),
        _ => {
            let (low, high) = table.split_at(table.len() / 2);
            out.open(format_args!("if (key < {}ULL)", high[0].key));
            search(program, low, out);
            out.else_block();
            search(program, high, out);
            out.close();
        }
    }
}

fn call(program: &Program, out: &mut CppWriter) {
    let blocks = program.block_num;
    let vector_cores = program.kernel_type.cores(CoreKind::Aiv, blocks);
    let types = |class: CoreClass| {
        let numbers = crate::model::KernelType::ALL.into_iter().filter(move |kernel_type| kernel_type.class() == class);
        numbers.map(|kernel_type| format!("type == {}", kernel_type.number())).collect::<Vec<_>>().join(" || ")
    };
    out.block("SK_HELPER void sk_call_address(uint64_t address, uint32_t position, uint64_t offset)", |out| {
        out.line("SK_OP_BEGIN(position);");
        out.line("((void (*)(uint64_t))address)(offset);");
        out.line("SK_OP_END(position);");
    });
    out.blank();
    out.line("// All cores of the picked type's kinds call; those beyond its block count leave by themselves.");
    out.block("SK_HELPER void sk_call_picked(const SkPicked &picked, uint32_t position, uint64_t offset)", |out| {
        out.line("g_super_kernel_dynamic_block_num = (uint32_t)picked.type_and_blocks;");
        out.line("const uint64_t type = picked.type_and_blocks >> 32;");
        out.line(format_args!("const bool is_mix = {};", types(CoreClass::Mix)));
        out.line(format_args!("[[maybe_unused]] const bool is_aic = {};", types(CoreClass::Aic)));
        out.line(format_args!("[[maybe_unused]] const bool is_aiv = {};", types(CoreClass::Aiv)));
        let call = |address: &str| format!("sk_call_address(picked.{address}, position, offset);");
        out.block("if ASCEND_IS_AIC", |out| {
            out.block(format_args!("if ((is_mix || is_aic) && get_block_idx() < {blocks})"), |out| {
                out.line(call("aic"))
            });
        });
        out.block("if ASCEND_IS_AIV", |out| {
            out.block(format_args!("if (is_mix && get_block_idx() < {blocks})"), |out| out.line(call("aiv")));
            out.block(format_args!("if (is_aiv && AscendC::GetBlockIdx() < {vector_cores})"), |out| {
                out.line(call("aiv"));
            });
        });
    });
    out.blank();
}
