"""Order checking by the accesses themselves: whatever their values, between operators and between cores of one."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import sim_kernels
from superkernel import SuperKernelError
from superkernel.sim import Device, Kernel, Report

# Two vector cores, one or two operators; `slot(0)` is a number that says what happens.
SOURCE = """
#include <string.h>
struct Row { uint64_t words[8]; };
static uint64_t *data(int number) { return slot(number) + 64; }
static void copy_row(uint64_t *to, const uint64_t *from) {
    switch ((uint64_t)slot(0)) {
    case 10: memcpy(to, from, 64); break;
    case 11: memmove(to, from, 64); break;
    case 12: memset(to, 0, 64); break;
    case 13: for (int i = 0; i < 8; ++i) { to[i] = 0; } break;
    case 14: *(Row *)to = *(const Row *)from; break;
    default: to[0] = from[0]; break;
    }
}
static void op(int number, int in, int out) {
    SK_OP_BEGIN(number); copy_row(data(out), data(in)); SK_OP_END(number);
}
static void poll(uint64_t *word, int round) {
    if (AscendC::GetBlockIdx() == 0) {
        data(1)[0] = (uint64_t)round;
        *word = 1;
        FLUSH(word);
    } else {
        for (FLUSH(word); *word != 1; FLUSH(word)) {}
        data(2)[0] = data(1)[0];
    }
}
static void poll_volatile(volatile uint64_t *word) {
    if (AscendC::GetBlockIdx() == 0) {
        data(1)[0] = 7;
        *word = 1;
        FLUSH(word);
    } else {
        do { FLUSH(word); } while (*word != 1);
        data(2)[0] = data(1)[0];
    }
}
static void body() {
    const uint64_t what = (uint64_t)slot(0);
    const int core = (int)AscendC::GetBlockIdx();
    if (what >= 10) {
        // What only fills its target does so in both operators.
        if (core == 0) { op(0, 1, 2); } else { op(1, 2, what == 12 || what == 13 ? 2 : 3); }
        return;
    }
    SK_OP_BEGIN(0);
    switch (what) {
    case 1:
        data(1)[core] = 5;
        if (core == 1) { data(2)[0] = data(1)[0]; } // READ
        break;
    case 2:
        data(1)[core] = 5;
        AscendC::SyncAll<true>();
        if (core == 1) { data(2)[0] = data(1)[0]; }
        break;
    case 3: poll(data(3), 3); break;
    case 4: poll_volatile(data(3)); break;
    case 5:
    case 6:
        if (what == 5) { set_atomic_s32(); set_atomic_add(); }
        copy_ubuf_to_gm(data(1), (void *)0, 0, 1, 2, 0, 0);
        set_atomic_none();
        break;
    case 7:
        if (core == 0) { data(1)[0] += 1; __atomic_fetch_add(data(1) + 1, 1, __ATOMIC_SEQ_CST); }
        if (core == 1) { __atomic_fetch_add(data(1) + 1, 1, __ATOMIC_SEQ_CST); }
        break;
    }
    SK_OP_END(0);
}
"""


@pytest.fixture(scope="module")
def kernel(device: Device, folder: Path) -> Kernel:
    return sim_kernels.kernel(device, folder, SOURCE, "0:1", (*sim_kernels.hooks(), "-g"))


def _launch(device: Device, kernel: Kernel, what: int, size: int = 1024, **options: object) -> Report:
    x, y, z = (device.buffer(size, name) for name in "xyz")
    names = ["left", "right"] if what >= 10 else ["only"]
    return kernel.launch([what, x, y, z], block_dim=2, op_names=names, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("what", range(10, 16))
def test_every_kind_of_store_is_seen_whatever_it_stores(device: Device, kernel: Kernel, what: int) -> None:
    """All memory is 0 and stays 0, and buffers are used again: no value tells, and the hazard is found every time."""
    x, y, z = (device.buffer(1024, name) for name in "xyz")
    for seed in range(3):
        report = kernel.launch([what, x, y, z], block_dim=2, op_names=["left", "right"], schedule="skewed", seed=seed)
        hazard = report.hazards[0]
        assert report.status == "hazard" and hazard.memory == "`y`+512"
        assert (hazard.first, hazard.second) == ("left", "right")
        assert hazard.conflict in ("read after write", "write after write")
        assert report.unchecked == () and report.warnings == ()


def test_large_buffers_are_checked(device: Device, kernel: Kernel) -> None:
    report = _launch(device, kernel, 10, size=3 << 20)
    assert report.status == "hazard" and report.unchecked == ()


def test_two_cores_of_one_operator(device: Device, kernel: Kernel) -> None:
    for seed in range(4):
        report = _launch(device, kernel, 1, seed=seed)
        assert report.status == "hazard"
        hazard = report.hazards[0]
        assert (hazard.first_op, hazard.second_op, hazard.memory) == (0, 0, "`x`+512")
        assert {hazard.first_core, hazard.second_core} == {"AIV0", "AIV1"}
        assert "two cores of op 0 `only`" in hazard.text and "neither waits for the other" in hazard.text
        read = 1 + SOURCE.split("// READ")[0].count("\n")
        sites = {hazard.first_site, hazard.second_site}
        assert {str(site).rsplit("/", 1)[-1] for site in sites} == {f"kernel.cpp:{read - 1}", f"kernel.cpp:{read}"}
        assert all(str(site) in hazard.text for site in sites)
        assert _launch(device, kernel, 2, seed=seed).ok


@pytest.mark.parametrize("what", [3, 4])
def test_a_word_that_is_waited_for_needs_no_order(device: Device, kernel: Kernel, what: int) -> None:
    for seed in range(6):
        report = _launch(device, kernel, what, schedule="skewed", seed=seed)
        assert report.ok, report.message


def test_stores_that_combine_may_come_in_any_order(device: Device, kernel: Kernel) -> None:
    assert _launch(device, kernel, 5).ok
    assert _launch(device, kernel, 6).hazards[0].conflict == "write after write"
    assert _launch(device, kernel, 7).ok


def test_a_declared_output_that_nobody_writes_is_told(device: Device, kernel: Kernel) -> None:
    x, y, z = (device.buffer(1024, name) for name in "xyz")
    for written, expected in ((y, 0), (z, 1)):
        accesses = {"only": {"reads": [x], "writes": [written]}}
        report = kernel.launch([2, x, y, z], block_dim=2, op_names=["only"], accesses=accesses)
        assert report.ok and len(report.warnings) == expected
    assert report.warnings[0] == "op 0 `only` is declared to write `z`, but was not seen writing there"


def test_a_declaration_for_nobody_is_refused(device: Device, kernel: Kernel) -> None:
    for accesses, problem, hint in (
        ({"onlyy": {}}, "operator `onlyy`, which the kernel does not have", "did you mean `only`?"),
        ({7: {}}, "operator `7`", "operators are only"),
        ({"only": {"write": []}}, "has `write`", "it has `reads` and `writes`"),
    ):
        with pytest.raises(SuperKernelError) as caught:
            _launch(device, kernel, 2, accesses=accesses)
        assert problem in str(caught.value) and hint in caught.value.errorinfo["errSolution"]


def test_what_is_not_checked_is_said_first(device: Device, folder: Path, kernel: Kernel) -> None:
    blind = sim_kernels.kernel(device, folder, SOURCE, "0:1")
    first = str(_launch(device, blind, 2)).splitlines()[0]
    assert "ok, 2 cores" in first
    assert first.endswith("; not checked: scalar accesses of op 0 `only` (built without hooks for them)")
    assert "not checked: order of accesses (check_order is off)" in str(_launch(device, kernel, 2, check_order=False))
    x = device.buffer(1024)
    unnamed = kernel.launch([2, x, x, x], block_dim=2)
    assert "not checked: order of accesses (the kernel's operators are not known)" in str(unnamed)
    assert "not checked" not in str(_launch(device, kernel, 2))


def test_without_hooks_a_write_behind_the_own_start_of_the_next_is_found(device: Device, folder: Path) -> None:
    source = """
    static void body() {
        SK_OP_BEGIN(0);
        if (EARLY) { AscendC::SetNextTaskStart(); }
        slot(0)[AscendC::GetBlockIdx() * 8] += 1;
        if (!EARLY) { AscendC::SetNextTaskStart(); }
        SK_OP_END(0);
        g_super_kernel_early_start_config = 5;
        AscendC::WaitPreTaskEndImpl<-1>();
        SK_OP_BEGIN(1); slot(2)[AscendC::GetBlockIdx() * 8] = slot(1)[0]; SK_OP_END(1);
    }
    """
    for early, expected in ((0, "ok"), (1, "hazard")):
        text = f"#define EARLY {early}\n" + source
        kernel = sim_kernels.kernel(device, folder, text, "0:1", sim_kernels.EARLY_START)
        kernel = sim_kernels.with_ops(device, kernel, folder, "0:1", first=1, second=2)
        y, z = device.buffer(np.arange(32), "y"), device.buffer(256, "z")
        report = kernel.launch([y, y, z], block_dim=3)
        assert report.status == expected, report.message
        assert ("after its own SetNextTaskStart" in report.message) is bool(early)


@pytest.mark.skipif(shutil.which("clang++") is None, reason="no clang++")
def test_clang_sees_the_same(device: Device, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sim_kernels, "compiler", lambda: "clang++")
    kernel = sim_kernels.kernel(device, folder, SOURCE, "0:1", (*sim_kernels.hooks(), "-DCLANG"))
    found = [_launch(device, kernel, what).status for what in (*range(1, 8), *range(10, 16))]
    assert found == ["hazard", "ok", "ok", "ok", "ok", "hazard", "ok", *["hazard"] * 6]
