"""Order checking: two operators that share memory are ordered by synchronisation, or reported, whatever the values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sim_kernels
from superkernel import SuperKernelError
from superkernel.sim import Agent, Device, Report

# write: every vector core fills its part of `y`; read: every core sums all of `y` into its own word of `z`.
TWO_OPS = """
static void write_op() {
    SK_OP_BEGIN(0);
    if ASCEND_IS_AIV { slot(1)[AscendC::GetBlockIdx()] = slot(0)[AscendC::GetBlockIdx()] + 1; }
    SK_OP_END(0);
}
static void read_op() {
    SK_OP_BEGIN(1);
    uint64_t sum = 0;
    for (int i = 0; i < VECTORS * (int)get_block_num(); ++i) { sum += slot(1)[i]; }
    slot(2)[(sk_host_core_type() == AscendC::AIC ? 0 : 16) + AscendC::GetBlockIdx()] = sum;
    SK_OP_END(1);
}
static void body() {
    if (RUNS_WRITE) { write_op(); }
    BETWEEN;
    if (RUNS_READ) { read_op(); }
}
"""


def _two_ops(
    device: Device,
    folder: Path,
    between: str,
    *,
    writes: str = "ASCEND_IS_AIV",
    reads: str = "true",
    agents: tuple[Agent, ...] = (),
    **options: object,
) -> Report:
    header = f"#define BETWEEN {between}\n#define RUNS_WRITE {writes}\n#define RUNS_READ {reads}\n"
    kernel = sim_kernels.kernel(device, folder, header + TWO_OPS, "1:2")
    x = device.buffer(np.arange(8, dtype=np.uint64), "x")
    y = device.buffer(64, "y")
    z = device.buffer(256, "z")
    accesses = {"write": {"reads": [x], "writes": [y]}, "read": {"reads": [y], "writes": [z]}}
    return kernel.launch(
        [x, y, z], block_dim=2, op_names=["write", "read"], accesses=accesses, agents=agents, **options
    )  # type: ignore[arg-type]


def test_a_barrier_orders(device: Device, folder: Path) -> None:
    for seed in range(5):
        assert _two_ops(device, folder, "AscendC::SyncAll<false>()", schedule="skewed", seed=seed).ok


def test_a_missing_barrier_is_found_even_if_the_values_are_right(device: Device, folder: Path) -> None:
    # Cubes wait long enough, so the sums are right: the order was luck all the same.
    late = {"AIC0": 1000, "AIC1": 1000}
    report = _two_ops(device, folder, "(void)0", reads="ASCEND_IS_AIC", delays=late)
    assert report.status == "hazard"
    hazard = report.hazards[0]
    assert (hazard.first, hazard.second, hazard.memory) == ("write", "read", "`y`")
    assert (hazard.conflict, hazard.first_core, hazard.second_core) == ("read after write", "AIV0", "AIC0")
    assert "op 1 `read` on AIC0 does not wait for op 0 `write` on AIV0" in report.message
    with pytest.raises(SuperKernelError) as caught:
        report.raise_for_status()
    assert caught.value.errorinfo["errId"] == "SK0919"


def test_a_barrier_of_the_wrong_kind_does_not_order(device: Device, folder: Path) -> None:
    between = "if ASCEND_IS_AIC { SET(0, 11); WAIT(11); } else { SET(0, 14); WAIT(14); }"
    assert _two_ops(device, folder, between, reads="ASCEND_IS_AIV").ok
    assert _two_ops(device, folder, between, reads="ASCEND_IS_AIC").status == "hazard"


def test_flags_within_the_block_order_only_the_block(device: Device, folder: Path) -> None:
    between = "if ASCEND_IS_AIV { SET(2, 3); } else { WAIT(3); }"
    report = _two_ops(device, folder, between, reads="ASCEND_IS_AIC")
    assert report.status == "hazard"
    assert {(h.first_core, h.second_core) for h in report.hazards} <= {("AIV2", "AIC0"), ("AIV0", "AIC1")}
    all_blocks = "if ASCEND_IS_AIV { SET(0, 14); WAIT(14); SET(2, 3); } else { WAIT(3); }"
    assert _two_ops(device, folder, all_blocks, reads="ASCEND_IS_AIC").ok


@pytest.mark.parametrize("seed", range(4))
def test_a_polled_word_orders(device: Device, folder: Path, seed: int) -> None:
    """One core writes, flushes a word, and others that read the word come after it."""
    source = """
    static void body() {
        volatile uint64_t *word = slot(2);
        if (AscendC::GetBlockIdx() == 0) {
            SK_OP_BEGIN(0); slot(0)[0] = 7; SK_OP_END(0);
            *word = 1; FLUSH(word);
        } else {
            if (POLLS) { do { FLUSH(word); } while (*word != 1); } else { FLUSH(slot(3)); }
            SK_OP_BEGIN(1); slot(1)[AscendC::GetBlockIdx()] = slot(0)[0]; SK_OP_END(1);
        }
    }
    """
    for polls, expected in ((1, "ok"), (0, "hazard")):
        kernel = sim_kernels.kernel(device, folder, f"#define POLLS {polls}\n" + source, "0:1")
        y = device.buffer(8, "y")
        report = kernel.launch(
            [y, device.buffer(64), device.buffer(8), device.buffer(8)],
            block_dim=4,
            seed=seed,
            op_names=["write", "read"],
            accesses={"write": {"writes": [y]}, "read": {"reads": [y]}},
        )
        assert report.status == expected, report.message


def test_an_agent_carries_the_order(device: Device, folder: Path) -> None:
    """The kernel notifies, an agent answers: what follows the answer is ordered after what preceded the notify."""
    source = """
    static void body() {
        volatile uint64_t *notify = slot(2), *wait = slot(3);
        if (AscendC::GetBlockIdx() == 0) {
            SK_OP_BEGIN(0); slot(0)[0] = 7; SK_OP_END(0);
            *notify = 1; FLUSH(notify);
        } else {
            while (*wait != 1) { FLUSH(wait); }
            SK_OP_BEGIN(1); slot(1)[0] = slot(0)[0]; SK_OP_END(1);
        }
    }
    """
    kernel = sim_kernels.kernel(device, folder, source, "0:1")
    for watches, expected in ((True, "ok"), (False, "hazard")):
        y, z, notify, wait = (device.buffer(8, name) for name in ("y", "z", "notify", "wait"))
        partner = Agent("partner", [(wait, 1)], word=notify if watches else None, delay=50, required=True)
        report = kernel.launch(
            [y, z, notify, wait],
            block_dim=2,
            agents=[partner],
            op_names=["write", "read"],
            accesses={"write": {"writes": [y]}, "read": {"reads": [y], "writes": [z]}},
        )
        assert report.status == expected and report.agents == {"partner": 1}
        assert z.word() == 7


OBSERVED = """
static void op(int number, int in, int out) {
    SK_OP_BEGIN(number);
    slot(out)[AscendC::GetBlockIdx()] = slot(in)[AscendC::GetBlockIdx()] + 1;
    SK_OP_END(number);
}
static void body() {
    if ASCEND_IS_AIC { op(0, 0, 1); } else { op(1, 2, 3); }
}
"""


def test_writes_are_observed_where_nothing_is_declared(device: Device, folder: Path) -> None:
    """Operators by their parameters: two readers of one buffer need no order, a writer and a reader do."""
    kernel = sim_kernels.kernel(device, folder, OBSERVED, "1:1")
    named = sim_kernels.with_ops(device, kernel, folder, "1:1", left=1, right=3)

    def launch(*names: str) -> Report:
        # A store of the value that is already there cannot be observed: fresh content every time.
        memory = {name: device.buffer(np.arange(4, dtype=np.uint64), name) for name in "xyz"}
        return named.launch([memory[name] for name in names], block_dim=3)

    assert launch("x", "y", "x", "z").ok
    report = launch("x", "y", "y", "z")
    assert report.status == "hazard" and report.hazards[0].memory == "`y`"
    assert report.warnings == ()
    # In place: the right operator writes what the left one reads.
    report = launch("x", "y", "z", "x")
    assert report.status == "hazard" and report.hazards[0].conflict == "write after read"


def test_a_move_is_seen_whatever_it_moves(device: Device, folder: Path) -> None:
    """All bytes stay as they are, so no value tells, in the first launch and in the second on the same buffers."""
    source = """
    static void op(int number, int in, int out) {
        SK_OP_BEGIN(number);
        copy_gm_to_ubuf((void *)0, slot(in), 0, 1, 2, 0, 0);
        copy_ubuf_to_gm(slot(out), (void *)0, 0, 1, 2, 0, 0);
        SK_OP_END(number);
    }
    static void body() {
        if (AscendC::GetBlockIdx() == 0) { op(0, 0, 1); } else { op(1, 2, 3); }
    }
    """
    kernel = sim_kernels.kernel(device, folder, source, "0:1")
    kernel = sim_kernels.with_ops(device, kernel, folder, "0:1", left=1, right=3)
    x, y, z = (device.buffer(64, name) for name in "xyz")
    for _ in range(2):
        report = kernel.launch([x, y, y, z], block_dim=2)
        assert report.status == "hazard" and report.hazards[0].memory == "`y`"
    assert kernel.launch([x, y, x, z], block_dim=2).ok


def test_large_shared_buffers_need_a_declaration(device: Device, folder: Path) -> None:
    """Where scalar stores are not seen they are not compared: the report says so; declaring the access finds it."""
    kernel = sim_kernels.kernel(device, folder, OBSERVED, "1:1")
    kernel = sim_kernels.with_ops(device, kernel, folder, "1:1", left=1, right=3)
    x, y, z = (device.buffer(2 << 20, name) for name in "xyz")
    report = kernel.launch([x, y, y, z], block_dim=3)
    assert report.ok and report.unchecked[1] == "their stores to `y` (too large to compare; declare the accesses)"
    assert report.unchecked[1] in str(report).splitlines()[0]
    report = kernel.launch([x, y, y, z], block_dim=3, accesses={"left": {"reads": [x], "writes": [y]}})
    assert report.status == "hazard" and report.hazards[0].memory == "`y`"


def test_a_barrier_while_an_early_start_round_is_pending_is_no_barrier(device: Device, folder: Path) -> None:
    """The flags balance and nothing hangs, yet the barrier returns on the sets of the round before it."""
    source = """
    static void body() {
        if (PENDING) { SET(0, 14); }
        SK_OP_BEGIN(0); slot(0)[AscendC::GetBlockIdx()] = 1; SK_OP_END(0);
        AscendC::SyncAll<true>();
        SK_OP_BEGIN(1);
        for (int i = 0; i < get_block_num(); ++i) { slot(1)[AscendC::GetBlockIdx()] += slot(0)[i]; }
        SK_OP_END(1);
        if (PENDING) { WAIT(14); }
    }
    """
    found = set()
    for pending in (0, 1):
        kernel = sim_kernels.kernel(device, folder, f"#define PENDING {pending}\n" + source, "0:1")
        for seed in range(6):
            y, z = device.buffer(64, "y"), device.buffer(64, "z")
            report = kernel.launch(
                [y, z],
                block_dim=4,
                schedule="skewed",
                seed=seed,
                op_names=["write", "read"],
                accesses={"write": {"writes": [y]}, "read": {"reads": [y], "writes": [z]}},
            )
            found.add((pending, report.status))
    assert found == {(0, "ok"), (1, "hazard")}


def test_switched_off(device: Device, folder: Path) -> None:
    report = _two_ops(device, folder, "(void)0", check_order=False)
    assert report.ok and report.hazards == ()
