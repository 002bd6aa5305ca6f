//! What stands around the code: title, run configuration, meta sections.

use super::writer::{CppWriter, comment_text};
use crate::model::{CoreKind, StreamForm, SuperKernelType};
use crate::program::Program;

pub(super) fn title(program: &Program, out: &mut CppWriter) {
    let streams = match program.form {
        StreamForm::One => "one stream",
        StreamForm::Several => "several streams",
    };
    let (name, kernel_type, blocks) = (comment_text(&program.kernel_name), program.kernel_type, program.block_num);
    out.line(format_args!(
        "// Super kernel {name}: {kernel_type}, {blocks} blocks, {} ops, {streams}.",
        program.ops.len()
    ));
    out.blank();
}

/// With one copy of the super kernel its source defines the run configuration, for the kind that leads.
pub(super) fn run_config(program: &Program, out: &mut CppWriter) {
    if !program.defines_run_config() {
        return;
    }
    let leader = match program.kernel_type {
        SuperKernelType::Aiv => CoreKind::Aiv,
        SuperKernelType::Aic | SuperKernelType::Mix1_1 | SuperKernelType::Mix1_2 => CoreKind::Aic,
    };
    out.line(format_args!("#if {}", built_for(program, leader)));
    out.line("__gm__ struct OpSystemRunCfg g_opSystemRunCfg = {0};");
    out.line("#else");
    out.line("extern __gm__ struct OpSystemRunCfg g_opSystemRunCfg;");
    out.line("#endif");
    out.blank();
}

/// One section per object, which tells the loader how to launch the kernel.
pub(super) fn sections(program: &Program, out: &mut CppWriter) {
    out.blank();
    out.line("#if TILING_KEY_VAR == 0UL");
    for &kind in program.kinds() {
        let guarded = program.kernel_type.is_mix();
        if guarded {
            out.line(format_args!("#if {}", built_for(program, kind)));
        }
        let function = format!("{}_mix_{kind}", program.kernel_name);
        let main = match program.kernel_type {
            SuperKernelType::Aiv => "K_TYPE_MIX_AIV_MAIN",
            SuperKernelType::Aic | SuperKernelType::Mix1_1 | SuperKernelType::Mix1_2 => "K_TYPE_MIX_AIC_MAIN",
        };
        let (aic, aiv) = program.kernel_type.task_ratio();
        out.line(format_args!("static const struct FunLevelMixCoreType {function}_section"));
        out.line(format_args!("    __attribute__((used, section(\".ascend.meta.{function}\"))) = {{"));
        out.line(format_args!("        {{{{F_TYPE_KTYPE, sizeof(unsigned int)}}, {main}}},"));
        out.line(format_args!("        {{{{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}}, {aic}, {aiv}}}}};"));
        if guarded {
            out.line("#endif");
        }
    }
    out.line("#endif");
}

/// Preprocessor condition: this is the build for `kind`.
fn built_for(program: &Program, kind: CoreKind) -> String {
    let macro_name = match kind {
        CoreKind::Aic => "__DAV_CUBE__",
        CoreKind::Aiv => "__DAV_VEC__",
    };
    format!("defined({macro_name}) && __NPU_ARCH__ == {}", program.chip.npu_arch())
}
