//! What stands around the code: title, run configuration, meta sections.

use super::writer::{CppWriter, comment_text};
use crate::artifact::{RUN_CONFIG, SuperKernelSymbols, meta_declaration};
use crate::model::{CoreKind, StreamForm};
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
    out.line(format_args!("#if {}", built_for(program, program.kernel_type.leading_kind())));
    out.line(format_args!("__gm__ struct OpSystemRunCfg {RUN_CONFIG} = {{0}};"));
    out.line("#else");
    out.line(format_args!("extern __gm__ struct OpSystemRunCfg {RUN_CONFIG};"));
    out.line("#endif");
    out.blank();
}

/// One section per object, which tells the loader how to launch the kernel.
pub(super) fn sections(program: &Program, out: &mut CppWriter) {
    out.blank();
    out.line("#if TILING_KEY_VAR == 0UL");
    let symbols = SuperKernelSymbols::new(&program.kernel_name);
    for &kind in program.kinds() {
        let lines = meta_declaration(program.kernel_type.kernel_type(), &symbols.entry(kind));
        for_kind(program, kind, out, |out| lines.into_iter().for_each(|line| out.line(line)));
    }
    out.line("#endif");
}

/// What only the build for `kind` sees; a kernel with one kind needs no condition.
pub(super) fn for_kind(program: &Program, kind: CoreKind, out: &mut CppWriter, write: impl FnOnce(&mut CppWriter)) {
    let guarded = program.kernel_type.is_mix();
    if guarded {
        out.line(format_args!("#if {}", built_for(program, kind)));
    }
    write(out);
    if guarded {
        out.line("#endif");
    }
}

/// Preprocessor condition: this is the build for `kind`.
fn built_for(program: &Program, kind: CoreKind) -> String {
    let macro_name = match kind {
        CoreKind::Aic => "__DAV_CUBE__",
        CoreKind::Aiv => "__DAV_VEC__",
    };
    format!("defined({macro_name}) && __NPU_ARCH__ == {}", program.chip.npu_arch())
}
