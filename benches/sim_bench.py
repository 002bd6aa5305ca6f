"""How fast the simulator is: barriers over a full device, a long super kernel, polling, and the cost of a launch.

    python benches/sim_bench.py [--repeat 5]

Prints the best of several runs; build the extension with optimisation first (``maturin develop --release``).
"""

from __future__ import annotations

import argparse
import functools
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "python" / "helpers"))

import sim_kernels
from ratios import ratio
from superkernel.sim import Device, Report

BARRIERS = "static void body() { for (int i = 0; i < 200; ++i) { BARRIER; } }"

# Operators alternate between the kinds with early start between them, as generated code runs them; each touches its
# part of two buffers.
LONG = """
static void op(int position, int kind) {
    if (sk_host_core_type() != kind) { return; }
    SK_OP_BEGIN(position);
    uint32_t *in = (uint32_t *)slot(position % 2), *out = (uint32_t *)slot(1 - position % 2);
    const int core = (int)AscendC::GetBlockIdx();
    for (int i = core * 16; i < core * 16 + 16; ++i) { out[i] = in[i] + 1; }
    SK_OP_END(position);
}
static void body() {
    for (int position = 0; position < OPS; ++position) {
        const int cls = position % 2;
        if (position > 0) {
            if (sk_host_core_type() == (cls == 0 ? AscendC::AIV : AscendC::AIC)) { AscendC::SetNextTaskStart(); }
            g_super_kernel_early_start_config = (uint32_t)((1 - cls) << 2 | cls);
            AscendC::WaitPreTaskEndImpl<-1>();
        }
        op(position, cls == 0 ? AscendC::AIC : AscendC::AIV);
    }
}
"""

POLL = """
static void body() {
    volatile uint64_t *turn = slot(0);
    const uint64_t own = (sk_host_core_type() == AscendC::AIC ? 0 : (uint64_t)get_block_num()) + AscendC::GetBlockIdx();
    const uint64_t cores = (uint64_t)get_block_num() * 3;
    for (uint64_t round = 0; round < 10; ++round) {
        do { dcci(turn, 0, 2); } while (*turn != round * cores + own);
        *turn = *turn + 1;
        dcci(turn, 0, 2);
    }
}
"""


#: Operators of the longest kernel.
LONGEST = 10_000


class Watched(Device):
    """A device that notes how long the engine took, without the request and its names."""

    engine = 0.0

    def _launch(self, *arguments: Any) -> Report:
        started = time.perf_counter()
        try:
            return super()._launch(*arguments)
        finally:
            self.engine = time.perf_counter() - started


def best(repeat: int, launch: Callable[[], Report]) -> tuple[float, Report]:
    """The shortest of several runs, which all have to succeed."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        report = launch()
        times.append(time.perf_counter() - start)
        report.raise_for_status()
    return min(times), report


def show(name: str, seconds: float, report: Report) -> None:
    """One line of the table."""
    each = seconds / max(report.steps, 1) * 1e9
    print(f"{name:<58} {seconds * 1e3:9.2f} ms {report.steps:9d} steps {each:7.0f} ns/step")


def main() -> None:
    """Runs all cases in process, and one of them in the child process for comparison."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--ops", type=int, default=1160)
    options = parser.parse_args()
    early = sim_kernels.EARLY_START
    with tempfile.TemporaryDirectory() as folder, Watched("Ascend910_93", isolation="in-process") as device:
        work = Path(folder)
        for name, barrier in [
            ("72 cores, 200 barriers of each kind", "SET(0, 14); WAIT(14)"),
            ("72 cores, 200 SyncAll<false>", "AscendC::SyncAll<false>()"),
        ]:
            kernel = sim_kernels.kernel(device, work, f"#define BARRIER {barrier}\n" + BARRIERS, "1:2")
            for policy in ("round-robin", "random", "skewed"):
                launch = functools.partial(kernel.launch, [], block_dim=24, schedule=policy)
                show(f"{name}, {policy}", *best(options.repeat, launch))
        kernel = sim_kernels.kernel(device, work, POLL, "1:2")
        word = device.buffer(8)

        def poll() -> Report:
            word.set_word(0)
            return kernel.launch([word], block_dim=24)

        show("72 cores taking 720 turns by polling a word", *best(options.repeat, poll))
        long = sim_kernels.kernel(device, work, f"#define OPS {options.ops}\n" + LONG, "1:2", early)
        buffers = [device.buffer(48 * 64) for _ in range(2)]
        accesses = {op: {"reads": [buffers[op % 2]], "writes": [buffers[1 - op % 2]]} for op in range(options.ops)}
        names = [f"op{op}" for op in range(options.ops)]
        for check in (False, True):
            launch = functools.partial(
                long.launch, buffers, block_dim=24, op_names=names, accesses=accesses, check_order=check, events="none"
            )
            title = f"72 cores, {options.ops} operators with early start"
            show(title + (", order checked" if check else ""), *best(min(options.repeat, 3), launch))
        # Full checking: all accesses seen, nothing declared, against the same code without hooks, unchecked.
        watched = sim_kernels.kernel(
            device, work, f"#define OPS {options.ops}\n" + LONG, "1:2", (*early, *sim_kernels.hooks())
        )
        took = {}
        for kernel, check in ((long, False), (watched, True)):
            launch = functools.partial(
                kernel.launch, buffers, block_dim=24, op_names=names, check_order=check, events="none"
            )
            took[check], report = best(min(options.repeat, 3), launch)
        show(title + ", every access checked", took[True], report)
        print(f"{'of these in the engine':<58} {device.engine * 1e3:9.2f} ms")
        ratio("full checking of 1,160 ops on 72 cores / an unchecked run", took[True] / took[False], "lower")
        longest = sim_kernels.kernel(
            device, work, f"#define OPS {LONGEST}\n" + LONG, "1:2", (*early, *sim_kernels.hooks())
        )
        launch = functools.partial(
            longest.launch,
            buffers,
            block_dim=24,
            op_names=[f"op{op}" for op in range(LONGEST)],
            events="none",
            step_limit=10**8,
        )
        seconds, report = best(1, launch)
        show(f"72 cores, {LONGEST} operators with early start, every access checked", seconds, report)
        print(f"{'of these in the engine':<58} {device.engine * 1e3:9.2f} ms")
        ratio(
            f"full checking, {LONGEST} ops / {options.ops} ops, per op",
            seconds / LONGEST / (took[True] / options.ops),
            "lower",
        )
    with tempfile.TemporaryDirectory() as folder, Device("Ascend910_93") as device:
        kernel = sim_kernels.kernel(device, Path(folder), "static void body() {}", "1:2")
        kernel.launch([], block_dim=24)
        show("empty launch of 72 cores through the child process", *best(20, lambda: kernel.launch([], block_dim=24)))


if __name__ == "__main__":
    main()
