//! The C++ around an operator's source: what makes a kernel callable from a super kernel.

use std::fmt::Write;
use std::path::Path;

use super::facts::Facts;
use super::request::{OpRequest, Unit};
use crate::model::{CoreKind, KernelType};

/// The source alone, to look at.
pub fn for_scan(source: &Path) -> String {
    format!("#include \"kernel_operator.h\"\n#include {}\n", quoted(source))
}

/// The source and its entry `function`, which takes the index of the operator's first parameter.
pub fn for_unit(source: &Path, request: &OpRequest, facts: &Facts, unit: &Unit, function: &str) -> String {
    let mut text = for_scan(source);
    text.push_str(PARAMETER);
    let arguments: Vec<String> = (0..facts.arguments).map(argument).collect();
    let _ = write!(
        text,
        "extern \"C\" __aicore__ void {function}(uint64_t args_offset)\n{{\n    \
         const uint64_t *slots = reinterpret_cast<const uint64_t *>(get_para_base()) + args_offset;\n"
    );
    if request.has_ffts_parameter() {
        // Alone, outside a super kernel, nobody else tells the core where its scheduler listens.
        text.push_str("    if (*slots != 0) {\n        set_ffts_base_addr(*slots);\n    }\n    ++slots;\n");
    }
    let _ = write!(
        text,
        "    (void)slots;\n    SK_SUB_KERNEL_BEGIN(args_offset);\n    {}({});\n    SK_SUB_KERNEL_END(args_offset);\n}}\n",
        request.kernel,
        arguments.join(", ")
    );
    text.push_str(&meta_section(unit, function));
    text
}

/// A slot converts to whatever the operator's parameter is: a pointer of any kind, or a number.
const PARAMETER: &str = "\
namespace {
struct SuperKernelSlot {
    uint64_t bits;
    template <typename T>
    operator T() const
    {
        static_assert(sizeof(T) <= sizeof(bits), \"a parameter of a sub-kernel is at most 8 bytes\");
        T value;
        __builtin_memcpy(&value, &bits, sizeof(T));
        return value;
    }
};
} // namespace
";

fn argument(index: usize) -> String {
    format!("SuperKernelSlot{{slots[{index}]}}")
}

/// The loader reads a kernel's type from a section named after it.
fn meta_section(unit: &Unit, function: &str) -> String {
    let attributes = format!("{function}_section __attribute__((used, section(\".ascend.meta.{function}\")))");
    let kind = "{F_TYPE_KTYPE, sizeof(unsigned int)}";
    let ratio = "{F_TYPE_MIX_TASK_RATION, sizeof(unsigned int)}";
    match unit.kernel_type {
        KernelType::AivOnly => {
            format!("static const struct FunLevelKType {attributes} = {{{{{kind}, K_TYPE_AIV}}}};\n")
        }
        KernelType::AicOnly => {
            format!("static const struct FunLevelKType {attributes} = {{{{{kind}, K_TYPE_AIC}}}};\n")
        }
        KernelType::MixAiv1_0 | KernelType::MixAic1_0 | KernelType::MixAic1_1 | KernelType::MixAic1_2 => {
            let (aic, aiv) = (unit.kernel_type.aic_cores(1), unit.kernel_type.aiv_cores(1));
            let main = if unit.kernel_type.class().runs_on(CoreKind::Aic) { "AIC" } else { "AIV" };
            format!(
                "static const struct FunLevelMixCoreType {attributes} = \
                 {{{{{kind}, K_TYPE_MIX_{main}_MAIN}}, {{{ratio}, {aic}, {aiv}}}}};\n"
            )
        }
    }
}

/// A path as an include directive takes it. Quotes cannot be escaped there, so they cannot occur either.
fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display())
}
