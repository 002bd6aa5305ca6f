"""Strict caches: what a core wrote and did not flush, or read and did not refresh, shows as data and as a report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sim_kernels
from superkernel.sim import Device, Finding, Report

# Core 0 produces a word with the scalar unit, core 1 consumes it; operators 0 and 1, a barrier between them.
HAND_OVER = """
using namespace AscendC;
static void body() {
    GlobalTensor<int32_t> word, result;
    word.SetGlobalBuffer((int32_t *)slot(0), 64);
    result.SetGlobalBuffer((int32_t *)slot(1), 64);
    const bool first = GetBlockIdx() == 0;
    if (!first) { $BEFORE$; }
    SyncAll<true>();
    SK_OP_BEGIN(0);
    if (first) {
        word.SetValue($AT$, 7); // line 12
        $AFTER_WRITE$;
    }
    SK_OP_END(0);
    SyncAll<true>();
    SK_OP_BEGIN(1);
    if (!first) {
        $BEFORE_READ$;
        const int32_t value = $READ$; // line 20
        result.SetValue(0, value);
    }
    SK_OP_END(1);
}
"""
FLUSH = "dcci(word.GetPhyAddr(), SINGLE_CACHE_LINE, CACHELINE_OUT)"
DMA = """(copy_gm_to_ubuf((int32_t *)0, (int32_t *)slot(0), 0, 1, 1, 0, 0), pipe_barrier(PIPE_ALL),
         *(int32_t *)sk_rt_core()->unifiedBuffer)"""


def hand_over(device: Device, folder: Path, **parts: Any) -> tuple[Report, int]:
    written = {"AFTER_WRITE": "", "BEFORE": "", "BEFORE_READ": "", "READ": "word.GetValue($AT$)", "AT": "0"}
    written.update({name: parts.pop(name) for name in list(parts) if name in written})
    text, flags = HAND_OVER, ()
    if parts.pop("plain", False):
        # Through plain pointers: only the hooks in front of loads and stores tell of them.
        flags = (*sim_kernels.hooks(), "-g")
        text = text.replace("word.SetValue($AT$, 7)", "((int32_t *)slot(0))[$AT$] = 7")
        written["READ"] = written["READ"].replace("word.GetValue($AT$)", "((int32_t *)slot(0))[$AT$]")
    for name, value in written.items():
        text = text.replace(f"${name}$", value)
    kernel = sim_kernels.kernel(device, folder, text, "0:1", flags)
    words, result = device.buffer(np.zeros(64, np.int32), "words"), device.buffer(np.zeros(64, np.int32), "result")
    options = {"cache": "strict", "op_names": ["produce", "consume"], "check_order": False, **parts}
    report = kernel.launch([words, result], block_dim=2, **options)
    return report, int(result.numpy()[0])


def only(report: Report, kind: str) -> Finding:
    assert report.status == "cache", report
    (finding,) = [finding for finding in report.findings if finding.kind == kind]
    return finding


def test_flushed_words_arrive(device: Device, folder: Path) -> None:
    report, value = hand_over(device, folder, AFTER_WRITE=FLUSH)
    report.raise_for_status()
    assert (value, report.cache) == (7, "strict")


def test_a_write_that_is_not_flushed_does_not_arrive(device: Device, folder: Path) -> None:
    report, value = hand_over(device, folder)
    assert value == 0, "the value stays in the cache of the writer"
    finding = only(report, "unflushed")
    assert finding.first is not None
    assert finding.second is not None
    assert (finding.first["op"], finding.first["line"]) == ("op 0 `produce`", 12)
    assert (finding.second["op"], finding.second["line"]) == ("op 1 `consume`", 20)
    assert finding.missing == "dcci after the write"
    with pytest.raises(Exception, match="SK0929"):
        report.raise_for_status()
    report, value = hand_over(device, folder, cache="coherent")
    report.raise_for_status()
    assert value == 7


def test_plain_loads_and_stores_go_through_the_cache(device: Device, folder: Path) -> None:
    report, value = hand_over(device, folder, plain=True)
    assert value == 0, "the value stays in the cache of the writer"
    finding = only(report, "unflushed")
    assert finding.first is not None
    assert finding.second is not None
    assert (finding.first["line"], finding.second["line"]) == (12, 20)
    report, value = hand_over(device, folder, plain=True, AFTER_WRITE=FLUSH)
    report.raise_for_status()
    assert value == 7
    look = "result.SetValue(1, ((int32_t *)slot(0))[0])"
    report, value = hand_over(device, folder, plain=True, AFTER_WRITE=FLUSH, BEFORE=look)
    assert (value, only(report, "stale-read").second["line"]) == (0, 20)  # type: ignore[index]
    report, value = hand_over(device, folder, plain=True, AFTER_WRITE=FLUSH, BEFORE=look, BEFORE_READ=FLUSH)
    report.raise_for_status()
    assert value == 7


def test_moves_do_not_see_the_cache(device: Device, folder: Path) -> None:
    report, value = hand_over(device, folder, READ=DMA)
    assert value == 0
    assert only(report, "unflushed").second["what"] == "copy_gm_to_ubuf"  # type: ignore[index]
    report, value = hand_over(device, folder, READ=DMA, AFTER_WRITE=FLUSH)
    report.raise_for_status()
    assert value == 7


def test_a_line_read_before_is_stale(device: Device, folder: Path) -> None:
    look = "result.SetValue(1, word.GetValue(0))"
    report, value = hand_over(device, folder, AFTER_WRITE=FLUSH, BEFORE=look)
    assert value == 0, "the reader has the line of before"
    finding = only(report, "stale-read")
    assert "op 0 `produce`" in finding.text
    assert "op 1 `consume`" in finding.text
    for refreshed in (FLUSH, "dcci(word.GetPhyAddr(), ENTIRE_DATA_CACHE)", "dcci(word.GetPhyAddr(), 0, CACHELINE_ALL)"):
        report, value = hand_over(device, folder, AFTER_WRITE=FLUSH, BEFORE=look, BEFORE_READ=refreshed)
        report.raise_for_status()
        assert value == 7
    report, value = hand_over(
        device, folder, AFTER_WRITE=FLUSH, BEFORE=look, BEFORE_READ="dcci(word.GetPhyAddr(), 0, CACHELINE_UB)"
    )
    assert value == 0, "lines of UB are not those of global memory"


def test_from_an_address_on_only_the_end_of_the_line_is_flushed(device: Device, folder: Path) -> None:
    behind = "dcci(word.GetPhyAddr(4), SINGLE_CACHE_LINE, CACHELINE_OUT)"
    report, value = hand_over(device, folder, AFTER_WRITE=behind)
    assert (report.status, value) == ("cache", 0)
    report, value = hand_over(device, folder, AFTER_WRITE=behind, AT="8")
    report.raise_for_status()
    assert value == 7


NEIGHBOURS = """
using namespace AscendC;
static void body() {
    GlobalTensor<int32_t> words;
    words.SetGlobalBuffer((int32_t *)slot(0), 64);
    const int at = (int)GetBlockIdx() * APART;
    words.SetValue(at, words.GetValue(at) + 1);
    SyncAll<true>();
    dcci(words.GetPhyAddr(at / 16 * 16), SINGLE_CACHE_LINE, CACHELINE_OUT);
}
"""


def test_two_cores_in_one_line_lose_data(device: Device, folder: Path) -> None:
    for apart, wanted in ((16, True), (1, False)):
        kernel = sim_kernels.kernel(device, folder, NEIGHBOURS, "0:1", (f"-DAPART={apart}",))
        words = device.buffer(np.zeros(64, np.int32), "words")
        report = kernel.launch([words], block_dim=2, cache="strict")
        assert report.ok is wanted
        assert bool(words.numpy().sum() == 2) is wanted
    assert "must not write to one line" in only(report, "lost-neighbour").text


#: Two cores of one operator, each with its own bytes: by flushed stores, by moves, far apart or one behind the other.
BESIDE = """
using namespace AscendC;
static void store(int at) {
    GlobalTensor<int32_t> words;
    words.SetGlobalBuffer((int32_t *)slot(0), 64);
    words.SetValue(at, 7); // STORE
    dcci(words.GetPhyAddr(at), SINGLE_CACHE_LINE, CACHELINE_OUT);
}
static void body() {
    [[maybe_unused]] int32_t *words = (int32_t *)slot(0);
    SK_OP_BEGIN(0);
    vector_dup((int32_t *)0, 7, 1, 1, 1, 8, 0);
    pipe_barrier(PIPE_ALL);
    if (GetBlockIdx() == 0) {
        FORMER;
    }
    ORDER;
    if (GetBlockIdx() == 1) {
        LATTER;
    }
    SK_OP_END(0);
}
"""
STORE_0, STORE_1, STORE_16 = "store(0)", "store(1)", "store(16)"
MOVE_8 = "(copy_ubuf_to_gm(words + 8, (int32_t *)0, 0, 1, 1, 0, 0), pipe_barrier(PIPE_ALL))"
MOVE_16 = MOVE_8.replace("8", "16", 1)
MOVE_LINE = "(copy_ubuf_to_gm(words + 16, (int32_t *)0, 0, 1, 2, 0, 0), pipe_barrier(PIPE_ALL))"
AROUND = "WriteGmByPassDCache(words + 8, 7)"


def beside(device: Device, folder: Path, first: str, second: str, order: str, **options: Any) -> Report:
    parts = (f"-DFORMER={first}", f"-DLATTER={second}", f"-DORDER={order}")
    kernel = sim_kernels.kernel(device, folder, BESIDE, "0:1", parts)
    words = device.buffer(np.zeros(64, np.int32), "words")
    return kernel.launch([words], block_dim=2, cache="strict", op_names=["only"], **options)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (STORE_0, STORE_1),
        (STORE_1, STORE_0),
        (STORE_0, MOVE_8),
        (MOVE_8, STORE_0),
        (STORE_0, AROUND),
        (AROUND, STORE_1),
    ],
)
@pytest.mark.parametrize("pipes", ["in-order", "checked"])
def test_neighbours_in_a_line_are_found_in_every_schedule(
    device: Device, folder: Path, first: str, second: str, pipes: str
) -> None:
    """No switch falls between a store and its flush: nothing is lost this time, and it is found all the same."""
    for seed in range(3):
        report = beside(device, folder, first, second, "(void)0", seed=seed, pipes=pipes)
        finding = only(report, "lost-neighbour")
        assert "two cores must not write to one line unless the second waits for the first" in finding.text
        assert {finding.first["core"], finding.second["core"]} == {"AIV0", "AIV1"}  # type: ignore[index]
    beside(device, folder, first, second, "SyncAll<true>()", pipes=pipes).raise_for_status()


@pytest.mark.parametrize(
    ("first", "second"),
    [(STORE_0, STORE_16), (STORE_16, STORE_0), (STORE_0, MOVE_16), (MOVE_8, MOVE_16), (STORE_0, MOVE_LINE)],
)
def test_lines_of_their_own_need_no_order(device: Device, folder: Path, first: str, second: str) -> None:
    for seed in range(3):
        beside(device, folder, first, second, "(void)0", seed=seed).raise_for_status()


@pytest.mark.parametrize("pipes", ["in-order", "checked"])
def test_a_line_left_in_two_caches_is_found(device: Device, folder: Path, pipes: str) -> None:
    """Nothing is lost in the simulator, which merges what is left; on a device who goes back last wins."""
    left = BESIDE.replace("FORMER;", "WORDS.SetValue(ONE, 7);").replace("LATTER;", "WORDS.SetValue(OTHER, 7);")
    left = left.replace(
        "SK_OP_BEGIN(0);", "SK_OP_BEGIN(0); GlobalTensor<int32_t> WORDS; WORDS.SetGlobalBuffer(words, 64);"
    )
    for first, second, order, is_right in [
        (0, 1, "(void)0", False),
        (0, 1, "SyncAll<true>()", False),
        (0, 16, "(void)0", True),
        (17, 16, "(void)0", False),
    ]:
        parts = (f"-DONE={first}", f"-DOTHER={second}", f"-DORDER={order}")
        kernel = sim_kernels.kernel(device, folder, left, "0:1", parts)
        words = device.buffer(np.zeros(64, np.int32), "words")
        report = kernel.launch([words], block_dim=2, cache="strict", op_names=["only"], pipes=pipes)
        assert words.numpy().sum() == 14
        if is_right:
            report.raise_for_status()
        else:
            finding = only(report, "lost-neighbour")
            assert "is still in its data cache when the launch ends" in finding.text
            assert {finding.first["core"], finding.second["core"]} == {"AIV0", "AIV1"}  # type: ignore[index]
    # What another core moved or flushed beside it is lost, too, unless the line entered afterwards.
    for first in (MOVE_8, STORE_1, AROUND):
        text = BESIDE.replace("LATTER;", "GlobalTensor<int32_t> w; w.SetGlobalBuffer(words, 64); w.SetValue(0, 7);")
        for order, is_right in (("(void)0", False), ("SyncAll<true>()", True)):
            kernel = sim_kernels.kernel(device, folder, text, "0:1", (f"-DFORMER={first}", f"-DORDER={order}"))
            words = device.buffer(np.zeros(64, np.int32), "words")
            report = kernel.launch([words], block_dim=2, cache="strict", op_names=["only"], pipes=pipes)
            assert report.ok if is_right else only(report, "lost-neighbour"), report


#: Core 0 stores and flushes, and tells core 1, which may have looked before: in whichever order.
TOLD = """
using namespace AscendC;
static void body() {
    GlobalTensor<int32_t> words;
    words.SetGlobalBuffer((int32_t *)slot(0), 64);
    SK_OP_BEGIN(0);
    if (GetBlockIdx() == 0) {
        words.SetValue(0, 7);
        IN_TIME;
    } else {
        BEFORE;
    }
    SyncAll<true>();
    if (GetBlockIdx() == 0) {
        TOO_LATE;
    } else {
        REFRESH;
        words.SetValue(32, words.GetValue(0) + 1);
    }
    SK_OP_END(0);
}
"""
FLUSH_0 = "dcci(words.GetPhyAddr(0), SINGLE_CACHE_LINE, CACHELINE_OUT)"


def told(device: Device, folder: Path, seed: int, pipes: str, **parts: str) -> Report:
    usual = {"IN_TIME": FLUSH_0, "TOO_LATE": "(void)0", "BEFORE": "(void)0", "REFRESH": FLUSH_0, **parts}
    kernel = sim_kernels.kernel(device, folder, TOLD, "0:1", tuple(f"-D{name}={text}" for name, text in usual.items()))
    words = device.buffer(np.zeros(64, np.int32), "words")
    return kernel.launch([words], block_dim=2, cache="strict", op_names=["only"], seed=seed, pipes=pipes)


@pytest.mark.parametrize("pipes", ["in-order", "checked"])
def test_a_flush_that_nobody_waits_for_is_found_in_every_schedule(device: Device, folder: Path, pipes: str) -> None:
    for seed in range(4):
        finding = only(
            told(device, folder, seed, pipes, REFRESH="(void)0", IN_TIME="(void)0", TOO_LATE=FLUSH_0), "unflushed"
        )
        assert "dcci" in finding.text
        told(device, folder, seed, pipes, REFRESH="(void)0").raise_for_status()


@pytest.mark.parametrize("pipes", ["in-order", "checked"])
def test_a_line_that_may_be_old_is_found_in_every_schedule(device: Device, folder: Path, pipes: str) -> None:
    look = "(void)words.GetValue(3)"
    for seed in range(4):
        finding = only(told(device, folder, seed, pipes, BEFORE=look, REFRESH="(void)0"), "stale-read")
        assert finding.missing == "dcci before the read"
        told(device, folder, seed, pipes, BEFORE=look).raise_for_status()


# Core 1 waits for the second half of a line, of whose first half it keeps what was there before core 0 changed it.
HALF_A_LINE = """
using namespace AscendC;
static void body() {
    volatile int32_t *words = (volatile int32_t *)slot(0);
    SK_OP_BEGIN(0);
    if (GetBlockIdx() == 1) {
        dcci(words, SINGLE_CACHE_LINE, CACHELINE_OUT);
        (void)words[0];
    }
    SyncAll<true>();
    if (GetBlockIdx() == 0) {
        sk_rt_bypass(words, sizeof(int32_t), 1, 5);
        SETS
    } else {
        do { dcci(words + 8, SINGLE_CACHE_LINE, CACHELINE_OUT); } while (words[8] == 0);
    }
    SK_OP_END(0);
}
"""


@pytest.mark.parametrize("sets", [True, False])
def test_who_waits_for_half_a_line_is_not_woken_by_the_other_half(device: Device, folder: Path, *, sets: bool) -> None:
    text = HALF_A_LINE.replace("SETS", "sk_rt_bypass(words + 8, sizeof(int32_t), 1, 1);" if sets else "")
    kernel = sim_kernels.kernel(device, folder, text, "0:1", (*sim_kernels.hooks(), "-g"))
    words = device.buffer(np.zeros(64, np.int32), "words")
    for seed in range(4):
        words.write(np.zeros(64, np.int32))
        report = kernel.launch(
            [words], block_dim=2, cache="strict", op_names=["only"], seed=seed, step_limit=100_000, check_order=False
        )
        assert report.status != "step-limit"
        assert ("deadlock" in report.status) != sets, report
