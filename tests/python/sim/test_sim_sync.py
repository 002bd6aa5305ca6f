"""Cross-core synchronisation: what well-formed kernels may rely on, under every schedule, and how broken ones end."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import sim_kernels
from superkernel.sim import Device, Report

SEEDS = range(6)
SOCS = ["Ascend910_93", "Ascend950"]


@pytest.fixture(scope="module", params=SOCS)
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    with Device(request.param) as device:
        yield device


@pytest.fixture(scope="module")
def c220() -> Iterator[Device]:
    with Device("Ascend910_93") as device:
        yield device


def _schedules() -> Iterator[dict[str, object]]:
    """Round robin, and seeds of both random policies, under both ways of counting arrivals."""
    for arrivals in ("per-core", "summed"):
        yield {"arrivals": arrivals}
        for policy, seed in itertools.product(("random", "skewed"), SEEDS):
            yield {"arrivals": arrivals, "schedule": policy, "seed": seed}


def _assert_quiet(report: Report) -> None:
    """Nothing is left raised or pending on any core."""
    assert report.status == "ok", report.message
    for core in report.cores:
        assert core.state == "finished"
        assert not core.counters and not core.in_block_counters and not core.pending


# -- registers -------------------------------------------------------------------------------------------------------

REGISTERS = """
static void body() {
    uint64_t kind = sk_host_core_type() == AscendC::AIC ? 0 : 1;
    uint64_t index = (uint64_t)AscendC::GetBlockIdx();
    uint64_t *row = slot(0) + (kind * 64 + index) * 8;
    row[0] = 1;
    row[1] = (uint64_t)get_block_idx();
    row[2] = (uint64_t)get_subblockid();
    row[3] = (uint64_t)get_subblockdim();
    row[4] = (uint64_t)get_block_num();
    row[5] = (uint64_t)AscendC::GetTaskRatio();
    row[6] = (uint64_t)AscendC::GetBlockNum();
    row[7] = (uint64_t)get_coreid();
}
"""


@pytest.mark.parametrize("ratio", sim_kernels.RATIOS)
def test_registers_of_every_ratio(c220: Device, folder: Path, ratio: str) -> None:
    cubes, vectors = sim_kernels.RATIOS[ratio]
    out = c220.buffer(np.zeros((2, 64, 8), np.uint64))
    report = sim_kernels.kernel(c220, folder, REGISTERS, ratio).launch([out], block_dim=3)
    _assert_quiet(report)
    rows = out.numpy()
    assert rows[0, :, 0].sum() == 3 * cubes and rows[1, :, 0].sum() == 3 * vectors
    for block in range(3 * cubes):
        assert list(rows[0, block, 1:7]) == [block, 0, 1, 3, 1, 3]
    for index in range(3 * vectors):
        assert list(rows[1, index, 1:7]) == [index // vectors, index % vectors, vectors, 3, vectors, 3]
    ids = [int(row[7]) for kind in rows for row in kind if row[0]]
    assert len(set(ids)) == len(ids)


# -- barriers --------------------------------------------------------------------------------------------------------

# Every core adds 1 to its own word before each barrier; after it, all words of the cores that met are equal.
BARRIER = """
static void body() {
    volatile uint64_t *words = slot(0);
    const bool cube = sk_host_core_type() == AscendC::AIC;
    const int own = (cube ? 0 : 64) + (int)AscendC::GetBlockIdx();
    const int cubes = CUBES * (int)get_block_num(), vectors = VECTORS * (int)get_block_num();
    for (uint64_t round = 1; round <= 5; ++round) {
        words[own] = round;
        BARRIER_CALL;
        for (int core = 0; core < 128; ++core) {
            const bool exists = core < 64 ? core < cubes : core - 64 < vectors;
            const bool met = BOTH || (core < 64) == cube;
            if (exists && met) { assert(words[core] >= round && words[core] <= round + 1); }
        }
    }
}
"""


def _barrier(device: Device, folder: Path, ratio: str, call: str, both: bool) -> Iterator[Report]:
    source = f"#define BARRIER_CALL {call}\n#define BOTH {int(both)}\n" + BARRIER
    kernel = sim_kernels.kernel(device, folder, source, ratio)
    for schedule in _schedules():
        yield kernel.launch([device.buffer(1024)], block_dim=3, **schedule)  # type: ignore[arg-type]


@pytest.mark.parametrize("ratio", ["1:1", "1:2"])
def test_sync_all_meets_everybody(device: Device, folder: Path, ratio: str) -> None:
    for report in _barrier(device, folder, ratio, "AscendC::SyncAll<false>()", both=True):
        _assert_quiet(report)


@pytest.mark.parametrize("ratio", ["0:1", "1:1", "1:2"])
def test_vector_sync_all_meets_each_kind(device: Device, folder: Path, ratio: str) -> None:
    # On 3510 it does nothing on cube cores, which therefore do not meet.
    call = "if ASCEND_IS_AIV { AscendC::SyncAll<true>(); } else { SET(0, 11); WAIT(11); }"
    for report in _barrier(device, folder, ratio, call, both=False):
        _assert_quiet(report)


@pytest.mark.parametrize("ratio", sim_kernels.RATIOS)
def test_barrier_of_one_kind(device: Device, folder: Path, ratio: str) -> None:
    call = "if ASCEND_IS_AIC { SET(0, 11); WAIT(11); } else { SET(0, 14); WAIT(14); }"
    for report in _barrier(device, folder, ratio, call, both=False):
        _assert_quiet(report)


def test_vector_sync_all_on_cubes_depends_on_the_chip(folder: Path) -> None:
    for soc, expected in (("Ascend910_93", "deadlock"), ("Ascend950", "ok")):
        with Device(soc) as device:
            source = "static void body() { if (get_block_idx() == 0) { AscendC::SyncAll<true>(); } }"
            assert sim_kernels.kernel(device, folder, source, "1:0").launch([], block_dim=2).status == expected


def test_software_sync_all_works_for_some_cores(c220: Device, folder: Path) -> None:
    source = """
    static void body() {
        AscendC::GlobalTensor<int32_t> gm;
        gm.SetGlobalBuffer((int32_t *)slot(0));
        AscendC::LocalTensor<int32_t> ub;
        if (AscendC::GetBlockIdx() >= 5) { return; }
        for (uint64_t round = 1; round <= 4; ++round) {
            slot(1)[AscendC::GetBlockIdx()] = round;
            AscendC::SyncAll(gm, ub, 5);
            if ASCEND_IS_AIV {
                for (int core = 0; core < 5; ++core) { assert(slot(1)[core] >= round); }
                AscendC::SyncAll(gm, ub, 5);
            }
        }
    }
    """
    kernel = sim_kernels.kernel(c220, folder, source, "1:2")
    for seed in SEEDS:
        _assert_quiet(kernel.launch([c220.buffer(4096), c220.buffer(64)], block_dim=3, seed=seed))


# -- early start -----------------------------------------------------------------------------------------------------

CLASSES = {"AIC": 0, "AIV": 1, "MIX": 2}

# Three operators in a row: P, C, P. A core that runs an operator writes its word in `done`; an operator may start on a
# core only when all words of the operator before it are there. INSIDE: the sub-kernel sets and waits itself, on the
# cores that run it; the frame does it for the others. The words of argument 1 choose the case: one compilation for all.
EARLY = """
#define PREV (int)slot(1)[0]
#define NEXT (int)slot(1)[1]
#define INSIDE (slot(1)[2] != 0)
#define BLOCKS (int)slot(1)[3]
static bool runs(int cls) { return cls == 2 || (cls == 0) == (sk_host_core_type() == AscendC::AIC); }
static int core_number() {
    return (sk_host_core_type() == AscendC::AIC ? 0 : 32) + (int)AscendC::GetBlockIdx();
}
static bool active(int cls) {  // index below the operator's block count
    const bool vectorOnly = cls == 1;
    return runs(cls) && (vectorOnly ? AscendC::GetBlockIdx() : get_block_idx()) < BLOCKS;
}
static void check_all_done(int op, int cls) {
    volatile uint64_t *done = slot(0) + 64 * op;
    const int vectors = cls == 1 ? BLOCKS : BLOCKS * VECTORS;
    for (int core = 0; core < 32; ++core) {
        if (cls != 1 && CUBES && core < BLOCKS) { assert(done[core] == 1); }
        if (cls != 0 && core < vectors) { assert(done[32 + core] == 1); }
    }
}
static void sub_kernel(int op, int before) {
    SK_OP_BEGIN(op);
    if (INSIDE && before >= 0) { AscendC::WaitPreTaskEnd(); }
    if (before >= 0) { check_all_done(op - 1, before); }
    slot(0)[64 * op + core_number()] = 1;
    if (INSIDE && op < 2) { AscendC::SetNextTaskStart(); }
    SK_OP_END(op);
}
static void body() {
    const int classes[] = {PREV, NEXT, PREV};
    for (int op = 0; op < 3; ++op) {
        const int cls = classes[op], before = op > 0 ? classes[op - 1] : -1;
        if (op > 0) {
            if (runs(before) && (!INSIDE || !active(before))) { AscendC::SetNextTaskStart(); }
            g_super_kernel_early_start_config = (uint32_t)(before << 2 | cls);
            if (!INSIDE || !active(cls)) { AscendC::WaitPreTaskEndImpl<-1>(); }
        }
        if (active(cls)) { sub_kernel(op, before); }
    }
}
"""


@pytest.mark.parametrize("ratio", ["1:1", "1:2"])
@pytest.mark.parametrize("pair", list(itertools.product(CLASSES, CLASSES)), ids="-".join)
def test_early_start_orders_every_pair_of_classes(
    device: Device, folder: Path, pair: tuple[str, str], ratio: str
) -> None:
    previous, following = (CLASSES[name] for name in pair)
    kernel = sim_kernels.kernel(device, folder, EARLY, ratio, sim_kernels.EARLY_START)
    done = device.buffer(3 * 64 * 8)
    # Declared, because all three operators share the one buffer.
    accesses = {op: {"reads": [done], "writes": [done]} for op in range(3)}
    for inside, blocks in itertools.product((0, 1), (3, 2)):
        case = device.buffer(np.array([previous, following, inside, blocks], np.uint64))
        for schedule in itertools.islice(_schedules(), 0, None, 2):
            done.write(bytes(done.nbytes))
            report = kernel.launch(
                [done, case], block_dim=3, op_names=["first", "second", "third"], accesses=accesses, **schedule
            )  # type: ignore[arg-type]
            _assert_quiet(report)
            assert not report.hazards


def test_without_the_defines_early_start_is_nothing(c220: Device, folder: Path) -> None:
    source = "static void body() { AscendC::SetNextTaskStart(); AscendC::WaitPreTaskEndImpl<10>(); }"
    report = sim_kernels.kernel(c220, folder, source, "1:2").launch([], block_dim=2)
    _assert_quiet(report)
    assert report.counts["sets"] == 0


EVERY_ROW = """
static void body() {
    constexpr int kind = 2; // both
    AscendC::SetNextTaskStart();
    g_super_kernel_early_start_config = kind << 2 | kind;
    AscendC::WaitPreTaskEndImpl<(kind << 2 | kind)>();
}
"""


@pytest.mark.parametrize("ratio", ["1:1", "1:2"])
@pytest.mark.parametrize("split", [(), ("-D__ASCENDC_DAVID_SPLIT_CORE__",)], ids=["plain", "split"])
def test_on_3510_early_start_must_be_told_that_a_launch_is_1_to_1(folder: Path, ratio: str, split: tuple[str, ...]):
    """Code that is not told waits for the second vector core of each block."""
    with Device("Ascend950") as device:
        kernel = sim_kernels.kernel(device, folder, EVERY_ROW, ratio, (*sim_kernels.EARLY_START, *split))
        report = kernel.launch([], block_dim=2)
    if ratio == "1:1" and not split:
        assert report.status == "deadlock"
        assert "in-block flag 28" in str(report)
    else:
        _assert_quiet(report)


# -- what must be reported -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", ["1:0", "0:1"])
def test_mixed_barrier_without_the_other_kind_is_a_deadlock(device: Device, folder: Path, ratio: str) -> None:
    report = sim_kernels.kernel(device, folder, "static void body() { AscendC::SyncAll<false>(); }", ratio).launch(
        [], block_dim=2
    )
    assert report.status == "deadlock"
    assert "SyncAll<false>" in report.message
    flag = 12 if ratio == "1:0" else 13
    assert all(core.state == "waiting" and core.flag == flag for core in report.cores)


def test_a_core_that_skips_a_set_blocks_its_kind(device: Device, folder: Path) -> None:
    source = """
    static void body() {
        SK_OP_BEGIN(0);
        if (AscendC::GetBlockIdx() != 2) { SET(0, 14); WAIT(14); }
        SK_OP_END(0);
    }
    """
    kernel = sim_kernels.kernel(device, folder, source, "0:1")
    for seed in SEEDS:
        report = kernel.launch([], block_dim=4, seed=seed, op_names=["partial"])
        assert report.status == "deadlock"
        assert "not set by AIV2 (finished)" in report.message and "op 0 `partial`" in report.message
        stuck = report.core("AIV0")
        assert (stuck.state, stuck.flag, stuck.op) == ("waiting", 14, "op 0 `partial`")
        assert stuck.pending == {14: 1} and report.core("AIV2").state == "finished"


def test_a_missing_wait_is_a_leak(device: Device, folder: Path) -> None:
    report = sim_kernels.kernel(device, folder, "static void body() { SET(0, 3); }", "0:1").launch([], block_dim=2)
    assert report.status == "leak" and "flag 3 of AIV0 is still raised" in report.message
    assert report.core("AIV1").counters == {3: 1}


def test_a_set_that_waits_for_others_for_ever_is_a_leak(device: Device, folder: Path) -> None:
    source = "static void body() { if (AscendC::GetBlockIdx() == 0) { SET(0, 3); } }"
    report = sim_kernels.kernel(device, folder, source, "0:1").launch([], block_dim=2)
    assert report.status == "leak" and report.core("AIV0").pending == {3: 1}


def test_sixteen_sets_ahead_overflow(device: Device, folder: Path) -> None:
    source = """
    static void body() {
        if ASCEND_IS_AIC { for (int i = 0; i < AHEAD; ++i) { SET(2, 5); } }
        else { SET(2, 6); for (int i = 0; i < AHEAD; ++i) { WAIT(5); } }
        if ASCEND_IS_AIC { WAIT(6); }
    }
    """
    delays = {"AIV0": 500, "AIV1": 500}
    for ahead, expected in ((15, "ok"), (16, "overflow")):
        kernel = sim_kernels.kernel(device, folder, f"#define AHEAD {ahead}\n" + source, "1:2")
        report = kernel.launch([], block_dim=1, delays=delays)
        assert report.status == expected, report.message
    assert "flag 5 on AIV0 would exceed 15" in report.message


def test_flags_need_a_mixed_launch(c220: Device, folder: Path) -> None:
    text = '#include "kernel_operator.h"\nextern "C" void f(uint64_t) { AscendC::SyncAll<true>(); }\n'
    path = sim_kernels.compile_object(folder, text)
    for kernel_type, status in (("KERNEL_TYPE_AIV_ONLY", "api"), ("KERNEL_TYPE_MIX_AIV_1_0", "ok")):
        kernel = c220.load(path, functions={"aiv": "f"}, kernel_type=kernel_type)
        report = kernel.launch([], block_dim=3)
        assert report.status == status
    assert (
        "KERNEL_TYPE_AIV_ONLY"
        in c220.load(path, functions={"aiv": "f"}, kernel_type="KERNEL_TYPE_AIV_ONLY").launch([], block_dim=1).message
    )


def test_pipes_that_cannot_set_flags(c220: Device, folder: Path) -> None:
    source = "static void body() { ffts_cross_core_sync(PIPE_S, AscendC::GetffstMsg(0, 3)); }"
    assert sim_kernels.kernel(c220, folder, source, "0:1").launch([], block_dim=1).status == "api"


def test_intra_block_flags_pair_up(folder: Path) -> None:
    source = """
    static void body() {
        for (int i = 0; i < 4; ++i) {
            if ASCEND_IS_AIC {
                set_intra_block(PIPE_FIX, 3); set_intra_block(PIPE_FIX, 19);
                wait_intra_block(PIPE_S, 4); wait_intra_block(PIPE_S, 20);
            } else {
                wait_intra_block(PIPE_S, 3); set_intra_block(PIPE_MTE3, 4);
            }
        }
    }
    """
    with Device("Ascend950") as device:
        kernel = sim_kernels.kernel(device, folder, source, "1:2")
        for seed in SEEDS:
            _assert_quiet(kernel.launch([], block_dim=3, seed=seed))
        broken = source.replace("set_intra_block(PIPE_FIX, 19);", "")
        report = sim_kernels.kernel(device, folder, broken, "1:2").launch([], block_dim=1)
        assert report.status == "deadlock" and "in-block flag 3" in report.message


# -- polling, agents, limits -----------------------------------------------------------------------------------------

POLL = """
static void body() {
    volatile uint64_t *word = slot(0);
    SK_OP_BEGIN(0);
    while (*word != 1) { FLUSH(word); }
    SK_OP_END(0);
}
"""


def test_polling_an_unchanged_word_is_a_deadlock(device: Device, folder: Path) -> None:
    report = sim_kernels.kernel(device, folder, POLL, "1:2").launch(
        [device.buffer(8, "lock")], block_dim=2, op_names=["waits"]
    )
    assert report.status == "deadlock"
    assert "polls `lock`, which no core changes" in report.message and "op 0 `waits`" in report.message


def test_bounded_polling_gives_up_by_itself(device: Device, folder: Path) -> None:
    source = """
    static void body() {
        volatile uint64_t *word = slot(0);
        for (int tries = 0; tries < 400 && *word != 1; ++tries) { FLUSH(word); }
    }
    """
    assert sim_kernels.kernel(device, folder, source, "1:1").launch([device.buffer(8)], block_dim=2).ok


def test_polling_with_whole_cache_flushes(device: Device, folder: Path) -> None:
    source = """
    static void body() {
        volatile uint64_t *word = slot(0);
        if (ALONE || AscendC::GetBlockIdx() != 0) {
            while (*word != 1) { dcci((uint64_t *)0, ENTIRE_DATA_CACHE, CACHELINE_OUT); }
        } else {
            for (int i = 0; i < 5; ++i) { FLUSH(slot(1) + i); }
            *word = 1;
            FLUSH(word);
        }
    }
    """
    for alone, expected in ((0, "ok"), (1, "deadlock")):
        kernel = sim_kernels.kernel(device, folder, f"#define ALONE {alone}\n" + source, "0:1")
        for schedule in ("round-robin", "random", "skewed"):
            report = kernel.launch([device.buffer(8), device.buffer(64)], block_dim=4, schedule=schedule, seed=5)
            assert report.status == expected


def test_step_limit(device: Device, folder: Path) -> None:
    source = "static void body() { for (;;) { SET(0, 14); WAIT(14); } }"
    report = sim_kernels.kernel(device, folder, source, "0:1").launch([], block_dim=2, step_limit=5000)
    assert report.status == "step-limit" and report.steps == 5001


def test_delays_hold_cores_back(c220: Device, folder: Path) -> None:
    source = """
    static void body() {
        SK_OP_BEGIN(0);
        slot(0)[AscendC::GetBlockIdx()] = (uint64_t)AscendC::GetSystemCycle();
        SK_OP_END(0);
        for (int i = 0; i < 20; ++i) { SET(0, 14); WAIT(14); }
    }
    """
    kernel = sim_kernels.kernel(c220, folder, source, "0:1")
    times = c220.buffer(np.zeros(4, np.uint64))
    kernel.launch([times], block_dim=4, delays={"AIV2": 700}).raise_for_status()
    assert times.numpy()[2] > 700 > max(times.numpy()[[0, 1, 3]])
    late = {"core": "AIV1", "steps": 300, "at": "op", "op": 0}
    report = kernel.launch([times], block_dim=4, delays=[late], op_names=["clock"])
    assert report.ok and times.numpy()[1] > 300


def test_the_same_seed_gives_the_same_run(device: Device, folder: Path) -> None:
    source = "static void body() { for (int i = 0; i < 9; ++i) { AscendC::SyncAll<false>(); } }"
    kernel = sim_kernels.kernel(device, folder, source, "1:2")
    runs = [kernel.launch([], block_dim=4, seed=seed, events="sync") for seed in (3, 3, 4)]
    assert runs[0].events == runs[1].events and runs[0].events != runs[2].events


def test_a_core_that_copies_the_same_bytes_again_lets_others_run(c220: Device, folder: Path) -> None:
    source = """
    static void body() {
        int32_t *local = (int32_t *)sk_rt_core()->unifiedBuffer;
        if (AscendC::GetBlockIdx() == 1) {
            local[0] = 5;
            copy_ubuf_to_gm((int32_t *)slot(1), local, 0, 1, 1, 0, 0);
            return;
        }
        do { copy_gm_to_ubuf(local, (int32_t *)slot(1), 0, 1, 1, 0, 0); } while (local[0] != WANTED);
    }
    """
    for wanted, status in ((5, "ok"), (6, "deadlock")):
        kernel = sim_kernels.kernel(c220, folder, source.replace("WANTED", str(wanted)), "0:1")
        report = kernel.launch([c220.buffer(32), c220.buffer(32)], block_dim=2)
        assert report.status == status, report
