//! Declarations and small functions at the top of the file.

use super::uses;
use super::writer::CppWriter;
use super::{functions, profiling};
use crate::model::{Chip, CoreClass, SyncMode};
use crate::program::{Action, Barrier, Direction, Program};

pub(super) fn write(program: &Program, out: &mut CppWriter) {
    markers(out);
    if !program.functions.is_empty() {
        functions::write_helpers(program.split, out);
    }
    early_start(program, out);
    feed_sync_all(program, out);
    barriers(program, out);
    flags(program, out);
    locks(program, out);
    if uses(program, |action| matches!(action, Action::Flush)) {
        out.line("// Writes back and drops the whole data cache.");
        out.block("SK_HELPER void sk_flush()", |out| {
            out.line("dcci((__gm__ uint64_t *)0, cache_line_t::ENTIRE_DATA_CACHE, dcci_dst_t::CACHELINE_OUT);");
        });
        out.blank();
    }
    if uses(program, |action| matches!(action, Action::ClearWorkspace { .. })) {
        clear_workspace(program, out);
    }
    if uses(program, |action| matches!(action, Action::InitProfiling { .. })) {
        profiling::write(out);
    }
}

fn markers(out: &mut CppWriter) {
    out.line("// Labels for a simulator; nothing on a device.");
    out.line("#ifndef SK_OP_BEGIN");
    out.line("#define SK_OP_BEGIN(position) ((void)(position))");
    out.line("#define SK_OP_END(position) ((void)(position))");
    out.line("#endif");
    out.blank();
    out.line("// Code that ops share is there once: less to compile, and less to fetch.");
    out.line("#define SK_SHARED static __attribute__((noinline, unused)) __aicore__");
    out.line("// A host compiler need not look into the same helper thousands of times.");
    out.line("#ifdef __SK_HOST__");
    out.line("#define SK_HELPER SK_SHARED");
    out.line("#else");
    out.line("#define SK_HELPER static __attribute__((unused)) __aicore__ inline");
    out.line("#endif");
    out.blank();
}

/// The calls of early start, which are larger than they look.
fn early_start(program: &Program, out: &mut CppWriter) {
    if uses(program, |action| matches!(action, Action::EarlyStartSet { .. })) {
        out.block("SK_HELPER void sk_set_next()", |out| out.line("AscendC::SetNextTaskStart();"));
        out.blank();
    }
    if uses(program, |action| matches!(action, Action::EarlyStartWait { .. })) {
        out.line("// config: class of the op before << 2 | class of the op at hand; AIC 0, AIV 1, MIX 2.");
        out.line("template <int8_t config>");
        out.block("SK_HELPER void sk_wait_previous()", |out| out.line("AscendC::WaitPreTaskEndImpl<config>();"));
        out.blank();
    }
}

/// Idle cores follow the `SyncAll` calls of an op.
fn feed_sync_all(program: &Program, out: &mut CppWriter) {
    if !uses(program, |action| matches!(action, Action::EnableSyncAll { .. })) {
        return;
    }
    out.line("// Each kind has its own record of an op's SyncAll calls.");
    out.block("SK_HELPER void sk_feed_sync_all(uint64_t aic_offset, uint64_t aiv_offset)", |out| {
        out.line("AscendC::g_superKernelAutoSyncAllSyncIdx = 0;");
        out.line("AscendC::g_superKernelAutoSyncAllEnable = true;");
        for (condition, offset) in [("if ASCEND_IS_AIC", "aic_offset"), ("if ASCEND_IS_AIV", "aiv_offset")] {
            out.block(condition, |out| {
                out.line("AscendC::g_superKernelAutoSyncAllConfigGmAddr =");
                out.line(format_args!("    AscendC::g_superKernelAutoSyncAllConfigGmBaseAddr + {offset};"));
            });
        }
    });
    out.blank();
    for (name, function) in [("end", "EndImpl"), ("complement", "ComplementImpl")] {
        out.block(format_args!("SK_HELPER void sk_{name}_sync_all()"), |out| {
            out.line(format_args!("AscendC::SuperKernelAutoSyncAll{function}();"));
        });
        out.blank();
    }
}

/// The barriers.
fn barriers(program: &Program, out: &mut CppWriter) {
    if uses(program, |action| *action == Action::Barrier(Barrier::All)) {
        out.line("// All cores of both kinds meet.");
        out.block("SK_HELPER void sk_meet_all()", |out| out.line("AscendC::SyncAll<false>();"));
        out.blank();
    }
    for (barrier, name, who, pipe, flag) in [
        (Barrier::Aic, "sk_meet_aic", "All cube cores meet.", "PIPE_FIX", "SYNC_AIC_FLAG"),
        (
            Barrier::AicAfterMte3,
            "sk_meet_aic_after_mte3",
            "All cube cores meet, each once its MTE3 pipe is done.",
            "PIPE_MTE3",
            "SYNC_AIC_FLAG",
        ),
        (Barrier::Aiv, "sk_meet_aiv", "All vector cores meet.", "PIPE_MTE3", "SYNC_AIV_ONLY_ALL"),
    ] {
        if uses(program, |action| *action == Action::Barrier(barrier)) {
            out.line(format_args!("// {who}"));
            out.block(format_args!("SK_HELPER void {name}()"), |out| {
                out.line(set(pipe, "0x0", flag));
                out.line(wait(program.chip, flag));
            });
            out.blank();
        }
    }
}

fn flags(program: &Program, out: &mut CppWriter) {
    for (direction, from, to, flag) in [
        (Direction::CubeToVector, "aic", "aiv", "SYNC_AIC_AIV_FLAG"),
        (Direction::VectorToCube, "aiv", "aic", "SYNC_AIV_FLAG"),
    ] {
        let sets = |action: &Action| matches!(action, Action::SetFlag { direction: set, .. } if *set == direction);
        let waits = |action: &Action| matches!(action, Action::WaitFlag { direction: wait, .. } if *wait == direction);
        if uses(program, sets) {
            out.block(format_args!("SK_HELPER void sk_tell_{to}()"), |out| {
                out.line(set("PIPE_MTE3", "0x02", flag));
            });
            out.blank();
        }
        if uses(program, waits) {
            out.block(format_args!("SK_HELPER void sk_wait_for_{from}()"), |out| {
                out.line(wait(program.chip, flag));
            });
            out.blank();
        }
    }
}

fn set(pipe: &str, mode: &str, flag: &str) -> String {
    format!("ffts_cross_core_sync({pipe}, AscendC::GetffstMsg({mode}, AscendC::{flag}));")
}

fn wait(chip: Chip, flag: &str) -> String {
    match chip {
        Chip::C220 => format!("wait_flag_dev(AscendC::{flag});"),
        Chip::C310 => format!("wait_flag_dev(PIPE_S, AscendC::{flag});"),
    }
}

/// Words in global memory that the world outside shares.
fn locks(program: &Program, out: &mut CppWriter) {
    const LOCK: &str = "__gm__ volatile uint64_t *lock = (__gm__ volatile uint64_t *)address;";
    let notifies = uses(program, |action| matches!(action, Action::Notify { .. }));
    let waits = uses(program, |action| matches!(action, Action::WaitEvent { .. } | Action::Switch { .. }));
    let releases = uses(program, |action| matches!(action, Action::ReleaseLock { .. }));
    let forgets = uses(program, |action| matches!(action, Action::ClearEvent { .. }));
    let (publishes_release, clears) = match program.sync {
        SyncMode::Contract => (releases, forgets),
        SyncMode::Proven => (false, releases || forgets),
    };
    if notifies || publishes_release {
        out.block("SK_HELPER void sk_publish(GM_ADDR address, uint64_t value)", |out| {
            out.line(LOCK);
            out.line("*lock = value;");
            out.line("dcci(lock, 0, 2);");
        });
        out.blank();
    }
    if waits {
        out.block("SK_HELPER void sk_wait_until_set(GM_ADDR address)", |out| {
            out.line(LOCK);
            out.line("do {");
            out.line("    dcci(lock, 0, 2);");
            out.line("} while (*lock != 1);");
        });
        out.blank();
    }
    if clears {
        out.block("SK_HELPER void sk_clear(GM_ADDR address)", |out| {
            out.line(LOCK);
            match program.sync {
                SyncMode::Contract => out.line("*lock = 0;"),
                // The line is dropped first: an old neighbour of the word must not be written back with it.
                SyncMode::Proven => {
                    out.line("dcci(lock, 0, 2);");
                    out.line("*lock = 0;");
                    out.line("dcci(lock, 0, 2);");
                }
            }
        });
        out.blank();
    }
}

/// Zeroes this core's share of the workspace, 512 bytes at a time, from local memory.
fn clear_workspace(program: &Program, out: &mut CppWriter) {
    const VECTOR: &str = "AscendC::DuplicateImpl((__ubuf__ uint32_t *)0, (uint32_t)0, 128);";
    const CUBE: &str = "create_cbuf_matrix((__cbuf__ uint32_t *)0, 0x10010, 0);";
    let (fill, event, copy) = match (program.kernel_type.class(), program.chip) {
        (CoreClass::Aic, _) => (CUBE, "MTE2_MTE3", "copy_cbuf_to_gm(piece, (__cbuf__ void *)0, 0, 1, 16, 1, 1);"),
        (CoreClass::Aiv | CoreClass::Mix, Chip::C220) => {
            (VECTOR, "V_MTE3", "copy_ubuf_to_gm(piece, (__ubuf__ void *)0, 0, 1, 16, 1, 1);")
        }
        (CoreClass::Aiv | CoreClass::Mix, Chip::C310) => {
            (VECTOR, "V_MTE3", "copy_ubuf_to_gm_align_v2(piece, (__ubuf__ void *)0, 0, 1, 512, 0, 512, 512);")
        }
    };
    out.line("// Zeroes this core's share of the workspace.");
    out.block("SK_HELPER void sk_clear_workspace(GM_ADDR workspace, uint64_t bytes)", |out| {
        out.line("GM_ADDR share = workspace + bytes * (uint64_t)AscendC::GetBlockIdxImpl();");
        out.line(fill);
        out.line(format_args!("AscendC::SetFlag<AscendC::HardEvent::{event}>(EVENT_ID0);"));
        out.line(format_args!("AscendC::WaitFlag<AscendC::HardEvent::{event}>(EVENT_ID0);"));
        out.block("for (uint64_t done = 0; done < bytes; done += 512)", |out| {
            out.line("__gm__ void *piece = (__gm__ void *)(share + done);");
            out.line(copy);
        });
        out.line("AscendC::PipeBarrier<PIPE_ALL>();");
    });
    out.blank();
}
