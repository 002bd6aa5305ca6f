"""What a core tells another one says no more than what has ended: flags speak for a pipe, words for the scalar unit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sim_kernels
from superkernel.sim import Device, Report

#: Core 0 moves a row to GM and says so; core 1 hears of it and reads the row. `slot(0)` says how.
SOURCE = """
using namespace AscendC;
static constexpr TEventID ID = EVENT_ID3;
#define ORDER(event) (SetFlag<HardEvent::event>(ID), WaitFlag<HardEvent::event>(ID))
static void tell(uint64_t how, __gm__ uint64_t *word) {
    GlobalTensor<uint64_t> tensor;
    switch (how) {
    case 0: CrossCoreSetFlag<0, PIPE_MTE3>(4); return;
    case 1: CrossCoreSetFlag<0, PIPE_V>(4); return;
    case 2: CrossCoreSetFlag<0, PIPE_MTE2>(4); return;
    case 3: ORDER(MTE3_V); CrossCoreSetFlag<0, PIPE_V>(4); return;
    case 4: *word = 1; break;
    case 5: ORDER(MTE3_S); *word = 1; break;
    case 6: *(volatile uint64_t *)word = 1; break;
    case 7: tensor.SetGlobalBuffer(word, 8); tensor.SetValue(0, 1); break;
    case 8: SetNextTaskStart<PIPE_MTE3, PIPE_FIX, true>(); return;
    case 9: SetNextTaskStart<PIPE_V, PIPE_FIX, true>(); return;
    case 10: WriteGmByPassDCache(word, uint64_t(1)); return;
    case 11: ORDER(MTE3_S); WriteGmByPassDCache(word, uint64_t(1)); return;
    case 12: pipe_barrier(PIPE_ALL); *word = 1; break;
    }
    dcci(word, SINGLE_CACHE_LINE, CACHELINE_OUT);
}
static void hear(uint64_t how, __gm__ uint64_t *word) {
    if (how < 4) { CrossCoreWaitFlag(4); return; }
    if (how == 8 || how == 9) { WaitPreTaskEndImpl<5, true>(); return; }
    do { dcci(word, SINGLE_CACHE_LINE, CACHELINE_OUT); } while (*(volatile uint64_t *)word != 1);
}
static void body() {
    const uint64_t how = (uint64_t)slot(0);
    float *row = (float *)slot(1);
    SK_OP_BEGIN(0);
    if (GetBlockIdx() == 0) {
        vector_dup((float *)0, 1.0f, 1, 1, 1, 8, 0);
        ORDER(V_MTE3);
        copy_ubuf_to_gm(row, (float *)0, 0, 1, 8, 0, 0); // MOVE
        tell(how, (uint64_t *)slot(2));
        if (how < 4) { CrossCoreWaitFlag(4); }
        if (how == 8 || how == 9) { WaitPreTaskEndImpl<5, true>(); }
    } else {
        if (how < 4) { CrossCoreSetFlag<0, PIPE_MTE3>(4); }
        if (how == 8 || how == 9) { SetNextTaskStart<PIPE_MTE3, PIPE_FIX, true>(); }
        hear(how, (uint64_t *)slot(2));
        copy_gm_to_ubuf((float *)0, row, 0, 1, 8, 0, 0);
    }
    SK_OP_END(0);
}
"""
FLAG_OF_ITS_PIPE, FLAG_OF_V, FLAG_OF_MTE2, FLAG_OF_V_THAT_WAITED = range(4)
WORD, WORD_THAT_WAITED, VOLATILE_WORD, TENSOR, EARLY_START, EARLY_START_OF_V = range(4, 10)
AROUND_THE_CACHE, AROUND_THE_CACHE_THAT_WAITED, WORD_AFTER_A_BARRIER = range(10, 13)


def launch(device: Device, folder: Path, how: int, **options: Any) -> Report:
    kernel = sim_kernels.kernel(device, folder, SOURCE, "0:1", (*sim_kernels.hooks(), "-g"))
    row, word = device.buffer(256, "row"), device.buffer(64, "word")
    options = {"pipes": "checked", "op_names": ["move"], **options}
    return kernel.launch([how, row, word], block_dim=2, **options)


@pytest.mark.parametrize("how", [FLAG_OF_V, FLAG_OF_MTE2, WORD, VOLATILE_WORD, EARLY_START_OF_V, AROUND_THE_CACHE])
def test_what_does_not_wait_for_the_move_does_not_tell_of_it(device: Device, folder: Path, how: int) -> None:
    for seed in range(3):
        report = launch(device, folder, how, schedule="skewed", seed=seed)
        assert report.status == "hazard", report
        (hazard,) = report.hazards
        assert (hazard.memory, hazard.conflict, hazard.first_op) == ("`row`", "read after write", 0)
        line = 1 + SOURCE.split("// MOVE")[0].count("\n")
        assert f"kernel.cpp:{line}" in hazard.text
        assert "does not say that its instruction on pipe MTE3 has ended" in hazard.text


@pytest.mark.parametrize(
    "how",
    [
        FLAG_OF_ITS_PIPE,
        FLAG_OF_V_THAT_WAITED,
        WORD_THAT_WAITED,
        TENSOR,
        EARLY_START,
        AROUND_THE_CACHE_THAT_WAITED,
        WORD_AFTER_A_BARRIER,
    ],
)
def test_what_waits_for_it_does(device: Device, folder: Path, how: int) -> None:
    for seed in range(3):
        launch(device, folder, how, schedule="skewed", seed=seed).raise_for_status()


def test_compilers_wait_in_front_of_calls_on_tensors(device: Device, folder: Path) -> None:
    """What device compilers put in covers it, and is seen as soon as it is taken away."""
    report = launch(device, folder, TENSOR, auto_sync=False)
    assert report.status == "hazard" and "pipe MTE3" in report.hazards[0].text
    launch(device, folder, WORD_THAT_WAITED, auto_sync=False).raise_for_status()
