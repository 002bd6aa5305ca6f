"""Feed-sync-all: cores that do not run an operator follow the barriers of those that do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import sim_kernels
from superkernel.sim import Device, Kernel, Report

# Two operators that call SyncAll on fewer cores than the launch has, as generated code runs them. Words of argument 2:
# [0] feed-sync-all on, [1] switched off after the operator, [2] blocks that run it, [3] barrier between the operators.
FEED = """
#define FEED (slot(2)[0] != 0)
#define SWITCH_OFF (slot(2)[1] != 0)
#define ACTIVE (int)slot(2)[2]
#define BETWEEN (slot(2)[3] != 0)
constexpr int OPS = 2, ROUNDS = 3;
static int index_of_core() { return (int)(VECTOR_ONLY ? AscendC::GetBlockIdx() : get_block_idx()); }
static int number() { return (sk_host_core_type() == AscendC::AIC ? 0 : 32) + (int)AscendC::GetBlockIdx(); }
static void sub_kernel(int op) {
    SK_OP_BEGIN(op);
    volatile uint64_t *words = slot(0);
    for (uint64_t round = 1; round <= ROUNDS; ++round) {
        words[number()] = op * 10 + round;
        AscendC::SyncAll<VECTOR_ONLY>();
        const int first = VECTOR_ONLY ? 32 : 0, cubes = VECTOR_ONLY ? 0 : ACTIVE;
        const int vectors = VECTOR_ONLY ? ACTIVE : ACTIVE * VECTORS;
        for (int core = first; core < 32 + vectors; ++core) {
            if (core < cubes || core >= 32) { assert(words[core] >= op * 10 + round); }
        }
        AscendC::SyncAll<VECTOR_ONLY>();
    }
    SK_OP_END(op);
}
static void body() {
    AscendC::g_superKernelAutoSyncAllConfigGmBaseAddr = (uint8_t *)slot(1);
    for (int op = 0; op < OPS; ++op) {
        if (op > 0 && BETWEEN) { AscendC::SyncAll<VECTOR_ONLY>(); }
        AscendC::g_superKernelAutoSyncAllSyncIdx = 0;
        AscendC::g_superKernelAutoSyncAllEnable = FEED;
        const int row = sk_host_core_type() == AscendC::AIC ? op : OPS + op;
        AscendC::g_superKernelAutoSyncAllConfigGmAddr = AscendC::g_superKernelAutoSyncAllConfigGmBaseAddr + 64 * row;
        const bool kind = !VECTOR_ONLY || sk_host_core_type() == AscendC::AIV;
        if (kind && index_of_core() < ACTIVE) {
            sub_kernel(op);
            AscendC::SuperKernelAutoSyncAllEndImpl();
        } else if (kind) {
            AscendC::SuperKernelAutoSyncAllComplementImpl();
        }
        if (SWITCH_OFF) { AscendC::g_superKernelAutoSyncAllEnable = false; }
    }
}
"""


@pytest.fixture(scope="module", params=["Ascend910_93", "Ascend950"])
def device(request: pytest.FixtureRequest) -> Iterator[Device]:
    with Device(request.param) as device:
        yield device


def _kernel(device: Device, folder: Path, vector_only: bool, ratio: str) -> Kernel:
    # 3510 guards SyncAll<true> by itself; c220 needs the guard of `kind` above.
    source = f"#define VECTOR_ONLY {'true' if vector_only else 'false'}\n" + FEED
    return sim_kernels.kernel(device, folder, source, ratio, sim_kernels.FEED_SYNC_ALL)


def _launch(
    device: Device, kernel: Kernel, *, feed: int = 1, off: int = 1, active: int = 2, between: int = 0, **options: object
) -> Report:
    words = np.array([feed, off, active, between], np.uint64)
    arguments = [device.buffer(512, "words"), device.buffer(512, "workspace"), device.buffer(words)]
    return kernel.launch(arguments, block_dim=4, op_names=["first", "second"], check_order=False, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(("vector_only", "ratio"), [(True, "0:1"), (True, "1:2"), (False, "1:1"), (False, "1:2")])
def test_idle_cores_follow(device: Device, folder: Path, vector_only: bool, ratio: str) -> None:
    kernel = _kernel(device, folder, vector_only, ratio)
    for policy, seed in [("round-robin", 0), *(("random", s) for s in range(5)), *(("skewed", s) for s in range(5))]:
        report = _launch(device, kernel, schedule=policy, seed=seed)
        assert report.status == "ok", report.message
        assert all(not core.counters and not core.pending for core in report.cores)
        assert report.counts["complements"] > 0


def test_switched_off_a_partial_barrier_hangs(device: Device, folder: Path) -> None:
    report = _launch(device, _kernel(device, folder, True, "0:1"), feed=0)
    assert report.status == "deadlock"
    assert "in SyncAll<true>, inside op 0 `first`" in report.message
    assert "not set by AIV2 (finished), AIV3 (finished)" in report.message


def test_left_on_a_later_barrier_overwrites_the_end_record(device: Device, folder: Path) -> None:
    """Some schedule lets a slow idle core miss the end; switching off after the operator avoids it in all of them."""
    kernel = _kernel(device, folder, True, "0:1")
    outcomes = {"left on": set(), "switched off": set()}
    for seed in range(30):
        for name, off in (("left on", 0), ("switched off", 1)):
            report = _launch(device, kernel, off=off, between=1, schedule="skewed", seed=seed)
            outcomes[name].add(report.status)
            if report.status == "deadlock":
                assert "feed-sync-all complement" in report.message
    assert "deadlock" in outcomes["left on"]
    assert outcomes["switched off"] == {"ok"}


def test_an_invalid_record_traps(device: Device, folder: Path) -> None:
    kernel = _kernel(device, folder, True, "0:1")
    words = device.buffer(np.array([1, 1, 2, 0], np.uint64))
    garbage = device.buffer(b"\x55" * 512, "workspace")
    report = kernel.launch([device.buffer(512), garbage, words], block_dim=4, delays={"AIV0": 50, "AIV1": 50})
    assert report.status == "trap" and "not valid" in report.message
