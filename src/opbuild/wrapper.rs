//! The C++ around an operator's source: what makes a kernel callable from a super kernel.

use std::fmt::Write;
use std::path::Path;

use super::facts::Facts;
use super::request::{OpRequest, Unit};
use crate::artifact::{CoreClass, meta_declaration};
use crate::model::CoreKind;

/// The source alone, to look at.
pub(crate) fn for_scan(source: &Path, request: &OpRequest, unit: &Unit) -> String {
    behind_headers("", "#define SK_OPERATOR_LOOK 1\n", source, request, unit)
}

/// The source behind `first`, AscendC's headers and `more`.
fn behind_headers(more: &str, first: &str, source: &Path, request: &OpRequest, unit: &Unit) -> String {
    let vectors_only = u8::from(unit.kernel_type.class() == CoreClass::Aiv);
    // As `AscendC::AIC` and `AscendC::AIV`.
    let kind = if unit.kind == CoreKind::Aic { 1 } else { 2 };
    let mut text = first.to_owned();
    if request.headers.is_some() {
        text.push_str("#include \"sk_cpu/operator_form.h\"\n");
    }
    text.push_str("#include \"kernel_operator.h\"\n");
    if request.headers.is_some() {
        let (key, blocks) = (request.tiling_key(unit), request.block_dim);
        text.push_str(&format!(
            "#include \"sk_cpu/tiling.h\"\n#undef TILING_KEY_VAR\n#define TILING_KEY_VAR {key}\n\
             static inline unsigned sk_cpu_static_block_num() {{ return {blocks}; }}\n"
        ));
    }
    text.push_str(&format!(
        "{more}{}#define SK_OPERATOR_VECTORS_ONLY {vectors_only}\n\
         #define SK_OPERATOR_CORE_KIND {kind}\n\
         #include \"sk_host/operator_names.h\"\n#include {}\n",
        request.prelude,
        quoted(source)
    ));
    text
}

/// The source and its entry `function`, which takes the index of the operator's first parameter.
pub(crate) fn for_unit(source: &Path, request: &OpRequest, facts: &Facts, unit: &Unit, function: &str) -> String {
    let has_objects = request.headers.is_some() && facts.matmul_objects;
    let mut more = String::from(if has_objects { "#include \"sk_cpu/matmul_objects.h\"\n" } else { "" });
    let of_key = facts.of_key(unit);
    if let Some(name) = &of_key.tiling_struct {
        more.push_str(&format!("#undef SK_HOST_TILING_STRUCT\n#define SK_HOST_TILING_STRUCT {name}\n"));
    }
    let mut text = behind_headers(&more, "", source, request, unit);
    // The vendor's headers leave some names to be defined, and expect to be told who they run on.
    let (definitions, enter) = match &request.headers {
        None => ("", ""),
        Some(_) => ("#include \"sk_cpu/definitions.h\"\n", "    sk_cpu::Enter();\n"),
    };
    text.push_str(definitions);
    text.push_str(PARAMETER);
    let mut arguments: Vec<String> = (0..facts.arguments).map(argument).collect();
    if let Some(data) = &request.tiling_data {
        text.push_str(&tiling_data(data));
        arguments.push("sk_tiling_data_address()".to_owned());
    }
    let template = of_key.template.map(|arguments| format!("<{arguments}>")).unwrap_or_default();
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
        "    (void)slots;\n    SK_SUB_KERNEL_BEGIN(args_offset);\n{enter}    {}{template}({});\n    SK_SUB_KERNEL_END(args_offset);\n}}\n",
        request.kernel,
        arguments.join(", ")
    );
    for line in meta_declaration(unit.kernel_type, function) {
        let _ = writeln!(text, "{line}");
    }
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

/// The bytes as code, and a pointer of whatever kind the operator wants.
fn tiling_data(data: &[u8]) -> String {
    let bytes: Vec<String> = data.iter().map(u8::to_string).collect();
    format!(
        "namespace {{\nalignas(64) const unsigned char sk_tiling_data[] = {{{}}};\n\
         inline GM_ADDR sk_tiling_data_address() {{ return (GM_ADDR)(const_cast<unsigned char *>(sk_tiling_data)); }}\n}}\n",
        if bytes.is_empty() { "0".to_owned() } else { bytes.join(",") }
    )
}

fn argument(index: usize) -> String {
    format!("SuperKernelSlot{{slots[{index}]}}")
}

/// A path as an include directive takes it. Quotes cannot be escaped there, so they cannot occur either.
fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display())
}
