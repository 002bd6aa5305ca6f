//! The entry of a split super kernel: a tiny function that jumps to the copy for the core it runs on.

use std::fmt::Write;

use crate::artifact::{RUN_CONFIG, SuperKernelSymbols};
use crate::model::CoreKind;
use crate::toolchain::ToolchainKind;

/// Instruction words that put the core number modulo 4 into the flags the calls behind them test.
const SELECT_OF_FOUR: [u32; 9] = [
    0x0201_0880,
    0x0702_0003,
    0x00c0_100a,
    0x0a00_0000,
    0x4020_0006,
    0x0a00_0001,
    0x4020_0005,
    0x0a00_0002,
    0x4020_0004,
];

/// Does this entry's file hold the definition of the kernel's run configuration?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunConfig {
    /// Yes: it is of the kind that leads the kernel.
    Define,
    /// No, another file does.
    Leave,
}

/// The C++ source of the entry for `kind`.
pub(crate) fn entry_source(
    symbols: &SuperKernelSymbols,
    kind: CoreKind,
    copies: u32,
    run_config: RunConfig,
    toolchain: ToolchainKind,
) -> String {
    let mut text = String::from("#define SK_CONTROL_ONLY\n#include \"kernel_operator.h\"\n\n");
    if run_config == RunConfig::Define {
        let _ = writeln!(text, "__gm__ struct OpSystemRunCfg {RUN_CONFIG} = {{0}};\n");
    }
    let names: Vec<String> = (0..copies).map(|copy| symbols.copy(kind, copy)).collect();
    let function = match toolchain {
        ToolchainKind::Host => "__aicore__",
        ToolchainKind::Cann => "[aicore]",
    };
    for name in &names {
        let _ = writeln!(text, "extern \"C\" {function} void {name}(void);");
    }
    let _ = writeln!(text, "\nextern \"C\" __global__ {function} void {}(void)\n{{", symbols.entry(kind));
    match (toolchain, names.len()) {
        (ToolchainKind::Cann, 4) => selected_by_instructions(&mut text, &names),
        (ToolchainKind::Cann | ToolchainKind::Host, _) => selected_by_code(&mut text, &names),
    }
    text.push_str("}\n");
    text
}

fn selected_by_instructions(text: &mut String, names: &[String]) {
    text.push_str("    __asm__ volatile(\n");
    for word in SELECT_OF_FOUR {
        let _ = writeln!(text, "        \".long 0x{word:08x}\\n\"");
    }
    for copy in 0..names.len() {
        let _ = writeln!(text, "        \"CALLR %{copy}\\n\"");
    }
    let inputs: Vec<String> = names.iter().map(|name| format!("\"l\"(((int64_t){name})/4)")).collect();
    let _ = writeln!(text, "        :\n        : {}\n        : \"X0\", \"X1\");", inputs.join(", "));
}

fn selected_by_code(text: &mut String, names: &[String]) {
    // Only the low byte of the core's number has a meaning.
    let _ = writeln!(text, "    switch ((uint8_t)get_coreid() % {}) {{", names.len());
    for (copy, name) in names.iter().enumerate().skip(1) {
        let _ = writeln!(text, "        case {copy}:\n            {name}();\n            break;");
    }
    let _ = writeln!(text, "        default:\n            {}();\n    }}", names[0]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_selects_four_copies_by_instructions() {
        let symbols = SuperKernelSymbols::new("k");
        let text = entry_source(&symbols, CoreKind::Aic, 4, RunConfig::Define, ToolchainKind::Cann);
        let expected = "#define SK_CONTROL_ONLY\n#include \"kernel_operator.h\"\n\n\
            __gm__ struct OpSystemRunCfg g_opSystemRunCfg = {0};\n\n\
            extern \"C\" [aicore] void _sk_k_mix_aic(void);\n\
            extern \"C\" [aicore] void _sk_k_mix_aic_1(void);\n\
            extern \"C\" [aicore] void _sk_k_mix_aic_2(void);\n\
            extern \"C\" [aicore] void _sk_k_mix_aic_3(void);\n\n\
            extern \"C\" __global__ [aicore] void k_mix_aic(void)\n{\n    __asm__ volatile(\n";
        assert!(text.starts_with(expected), "{text}");
        let words = text.lines().filter(|line| line.contains(".long")).count();
        assert_eq!(words, 9);
        let end = "        \".long 0x40200004\\n\"\n        \"CALLR %0\\n\"\n        \"CALLR %1\\n\"\n        \
            \"CALLR %2\\n\"\n        \"CALLR %3\\n\"\n        :\n        : \"l\"(((int64_t)_sk_k_mix_aic)/4), \
            \"l\"(((int64_t)_sk_k_mix_aic_1)/4), \"l\"(((int64_t)_sk_k_mix_aic_2)/4), \
            \"l\"(((int64_t)_sk_k_mix_aic_3)/4)\n        : \"X0\", \"X1\");\n}\n";
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn other_counts_and_the_host_select_by_code() {
        let symbols = SuperKernelSymbols::new("k");
        let expected = "#define SK_CONTROL_ONLY\n#include \"kernel_operator.h\"\n\n\
            extern \"C\" [aicore] void _sk_k_mix_aiv(void);\nextern \"C\" [aicore] void _sk_k_mix_aiv_1(void);\n\n\
            extern \"C\" __global__ [aicore] void k_mix_aiv(void)\n{\n    switch ((uint8_t)get_coreid() % 2) {\n        \
            case 1:\n            _sk_k_mix_aiv_1();\n            break;\n        default:\n            \
            _sk_k_mix_aiv();\n    }\n}\n";
        let device = entry_source(&symbols, CoreKind::Aiv, 2, RunConfig::Leave, ToolchainKind::Cann);
        assert_eq!(device, expected);
        let host = entry_source(&symbols, CoreKind::Aiv, 2, RunConfig::Leave, ToolchainKind::Host);
        assert_eq!(host, expected.replace("[aicore]", "__aicore__"));
    }
}
