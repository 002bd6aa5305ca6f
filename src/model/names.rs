//! Names that generated C++ can declare: an identifier alone is not enough.

/// The words of C++ up to 2020, and the spelled-out operators.
const KEYWORDS: [&str; 93] = [
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "asm",
    "auto",
    "bitand",
    "bitor",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "co_await",
    "co_return",
    "co_yield",
    "compl",
    "concept",
    "const",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "continue",
    "decltype",
    "default",
    "delete",
    "do",
    "double",
    "dynamic_cast",
    "else",
    "enum",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "register",
    "reinterpret_cast",
    "requires",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "static_assert",
    "static_cast",
    "struct",
    "switch",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
    "typedef",
    "typeid",
    "typename",
    "typeof",
    "union",
    "unsigned",
    "using",
    "virtual",
    "void",
    "volatile",
    "wchar_t",
    "while",
    "xor",
    "xor_eq",
];

/// What the generated source and the headers it needs mean something else by, parameters and variables included: a
/// function of such a name would be hidden by them, or would be them.
const TAKEN: [&str; 160] = [
    "ASCENDC_DUMP",
    "ASCENDC_DUMP_SIZE",
    "ASCENDC_TIME_STAMP_ON",
    "ASCEND_IS_AIC",
    "ASCEND_IS_AIV",
    "AscendC",
    "CACHELINE_OUT",
    "DuplicateImpl",
    "ENTIRE_DATA_CACHE",
    "EVENT_ID0",
    "F_TYPE_KTYPE",
    "F_TYPE_MIX_TASK_RATION",
    "FunLevelMixCoreType",
    "GM_ADDR",
    "GetBlockIdx",
    "GetBlockIdxImpl",
    "GetSystemCycle",
    "GetffstMsg",
    "HardEvent",
    "InitDump",
    "K_TYPE_MIX_AIC_MAIN",
    "K_TYPE_MIX_AIV_MAIN",
    "MTE2_MTE3",
    "OpSystemRunCfg",
    "PIPE_ALL",
    "PIPE_FIX",
    "PIPE_MTE3",
    "PIPE_S",
    "PipeBarrier",
    "PreLoad",
    "SK_CONTROL_ONLY",
    "SK_COPY",
    "SK_FUNCTION",
    "SK_HELPER",
    "SK_OP_BEGIN",
    "SK_OP_END",
    "SK_SHARED",
    "SK_UNKNOWN_KEY",
    "SYNC_AIC_AIV_FLAG",
    "SYNC_AIC_FLAG",
    "SYNC_AIV_FLAG",
    "SYNC_AIV_ONLY_ALL",
    "SetFlag",
    "SetNextTaskStart",
    "SkFrame",
    "SkPicked",
    "SkProfile",
    "SuperKernelAutoSyncAllComplementImpl",
    "SuperKernelAutoSyncAllEndImpl",
    "SyncAll",
    "TILING_KEY_VAR",
    "V_MTE3",
    "WaitFlag",
    "WaitPreTaskEndImpl",
    "address",
    "aic_offset",
    "aiv_offset",
    "aligned",
    "area",
    "args_offset",
    "block_index",
    "blocks",
    "buffer",
    "bytes",
    "cache_line_t",
    "code",
    "config",
    "copy_cbuf_to_gm",
    "copy_ubuf_to_gm",
    "copy_ubuf_to_gm_align_v2",
    "core",
    "core_index",
    "count",
    "create_cbuf_matrix",
    "dcci",
    "dcci_dst_t",
    "defined",
    "done",
    "end",
    "ffts_cross_core_sync",
    "frame",
    "g_opSystemRunCfg",
    "g_superKernelAutoSyncAllConfigGmAddr",
    "g_superKernelAutoSyncAllConfigGmBaseAddr",
    "g_superKernelAutoSyncAllEnable",
    "g_superKernelAutoSyncAllSyncIdx",
    "g_super_kernel_dynamic_block_num",
    "g_super_kernel_early_start_config",
    "get_block_idx",
    "get_coreid",
    "get_para_base",
    "get_subblockdim",
    "get_subblockid",
    "header",
    "index",
    "int64_t",
    "int8_t",
    "key",
    "lock",
    "main",
    "maybe_unused",
    "next",
    "noinline",
    "offset",
    "on",
    "param_base",
    "picked",
    "piece",
    "pipe_barrier",
    "position",
    "preload",
    "profile",
    "record",
    "scheduler",
    "section",
    "set_ffts_base_addr",
    "share",
    "size",
    "sk_call",
    "sk_clear",
    "sk_clear_workspace",
    "sk_complement_sync_all",
    "sk_copy",
    "sk_end_sync_all",
    "sk_feed_sync_all",
    "sk_flush",
    "sk_meet_aic",
    "sk_meet_aic_after_mte3",
    "sk_meet_aiv",
    "sk_meet_all",
    "sk_preload",
    "sk_preload_below",
    "sk_profile_check",
    "sk_profile_start",
    "sk_profile_write",
    "sk_publish",
    "sk_record",
    "sk_set_next",
    "sk_tell_aic",
    "sk_tell_aiv",
    "sk_wait_for_aic",
    "sk_wait_for_aiv",
    "sk_wait_previous",
    "sk_wait_until_set",
    "slots",
    "std",
    "task_id",
    "trap",
    "turn",
    "type",
    "type_and_blocks",
    "uint32_t",
    "uint64_t",
    "uint8_t",
    "units",
    "unused",
    "used",
    "value",
    "wait_flag_dev",
    "workspace",
];

/// Names that the generated source makes from those of functions.
const TAKEN_PREFIXES: [&str; 7] =
    ["sk_between_", "sk_call_", "sk_code_", "sk_copy_", "sk_part_", "sk_switch_", "sk_word_"];

/// Letters, digits and `_`, no digit in front.
pub(crate) fn is_identifier(name: &str) -> bool {
    let mut letters = name.bytes();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == b'_')
}

/// Why no sub-kernel's function can have this name.
pub(crate) fn function_name_problem(name: &str) -> Option<&'static str> {
    let bytes = name.as_bytes();
    let is_reserved = name.starts_with("__") || (bytes.len() > 1 && bytes[0] == b'_' && bytes[1].is_ascii_uppercase());
    let is_taken =
        || TAKEN.binary_search(&name).is_ok() || TAKEN_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    if !is_identifier(name) {
        Some("is not a C identifier")
    } else if KEYWORDS.binary_search(&name).is_ok() {
        Some("is a word of C++")
    } else if is_reserved {
        Some("is reserved for compilers")
    } else if is_taken() {
        Some("means something else in the generated source")
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_lists_can_be_searched() {
        assert!(KEYWORDS.is_sorted() && TAKEN.is_sorted());
    }

    #[test]
    fn usual_names_are_allowed_and_words_of_the_language_are_not() {
        for good in ["k", "_k", "te_add_0_mix_aic", "main_0", "A__b", "sk_add", "classy"] {
            assert_eq!(function_name_problem(good), None, "{good}");
        }
        for bad in ["", "1a", "a-b", "class", "xor", "co_await", "__builtin_trap", "_Pragma", "main", "address"] {
            assert!(function_name_problem(bad).is_some(), "{bad}");
        }
    }

    /// The words of a source, without comments and texts.
    fn words(source: &str) -> BTreeSet<&str> {
        let code = source.lines().map(|line| line.split("//").next().unwrap_or_default());
        let code = code.flat_map(|line| line.split('"').step_by(2));
        // Preprocessor words are none of the language's.
        let code = code.map(|line| match line.trim_start().strip_prefix('#') {
            Some(rest) => rest.trim_start().trim_start_matches(|letter: char| letter.is_ascii_lowercase()),
            None => line,
        });
        code.flat_map(|line| line.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_'))
            .filter(|word| is_identifier(word))
            .collect()
    }

    #[test]
    fn every_word_of_a_generated_source_is_refused_as_a_function() {
        let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
        let mut checked = 0;
        for case in std::fs::read_dir(cases).unwrap() {
            let Ok(source) = std::fs::read_to_string(case.unwrap().path().join("kernel.cpp")) else { continue };
            let of_ops: Vec<&str> = source
                .lines()
                .filter_map(|line| line.strip_prefix("SK_FUNCTION(")?.strip_suffix(')'))
                .chain(["te_superkernel_test", "_split", "name"])
                .collect();
            for word in words(&source) {
                let is_of_op = of_ops.iter().any(|name| word.contains(name));
                assert!(is_of_op || function_name_problem(word).is_some(), "`{word}` is allowed as a function");
                checked += 1;
            }
        }
        assert!(checked > 500, "only {checked} words: are the sources still there?");
    }
}
