"""Classes of the simulator used from several threads at once: everybody gets what belongs to their own call."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from superkernel.sim import Buffer, Device, Kernel, ProfilingBuffer, build_op

SOC = "Ascend910_93"
COUNT, THREADS = 64, 4

TIMES = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void times(GM_ADDR x, GM_ADDR y) {
    AscendC::GlobalTensor<int32_t> in, out;
    in.SetGlobalBuffer((__gm__ int32_t *)x);
    out.SetGlobalBuffer((__gm__ int32_t *)y);
    if (AscendC::GetBlockIdx() == 0) {
        for (int i = 0; i < 64; ++i) { out.SetValue(i, in.GetValue(i) * FACTOR); }
        dcci((__gm__ int32_t *)y, 1, 2);
    }
}
"""


def at_once(work: Callable[[int], Any]) -> list[Any]:
    """What `work` returns for the numbers of the threads, all of which begin together."""
    begin = threading.Barrier(THREADS)
    results: list[Any] = [None] * THREADS

    def run(number: int) -> None:
        begin.wait()
        try:
            results[number] = work(number)
        except BaseException as error:
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    failed = [result for result in results if isinstance(result, BaseException)]
    assert not failed, failed
    return results


@pytest.fixture(scope="module")
def paths(folder: Path) -> list[str]:
    """Operators of one name; number n multiplies by n + 2."""

    def build(number: int) -> str:
        source = TIMES.replace("FACTOR", str(number + 2))
        return build_op(source, "times", soc=SOC, out_dir=folder / f"ops{number}").json_path

    return at_once(build)


@pytest.fixture
def device() -> Iterator[Device]:
    with Device(SOC) as device:
        yield device


def _product(kernel: Kernel) -> int:
    x, y = np.full(COUNT, 7, np.int32), np.zeros(COUNT, np.int32)
    kernel.launch([x, y]).raise_for_status()
    assert (y == y[0]).all()
    return int(y[0])


def test_kernels_loaded_at_once_run_their_own_code(device: Device, paths: list[str]) -> None:
    assert at_once(lambda number: _product(device.load(paths[number]))) == [14, 21, 28, 35]


def test_one_kernel_launched_at_once(device: Device, paths: list[str]) -> None:
    kernel = device.load(paths[1])
    assert at_once(lambda _: [_product(kernel) for _ in range(5)]) == [[21] * 5] * THREADS


def test_kernels_checked_at_once(device: Device, paths: list[str]) -> None:
    """Each check puts all memory back; launches beside it keep their results."""

    def work(number: int) -> Any:
        kernel = device.load(paths[number])
        if number % 2:
            return [_product(kernel) for _ in range(5)]
        x, y = np.full(COUNT, 7, np.int32), np.zeros(COUNT, np.int32)
        verdict = kernel.check([x, y], seeds=4)
        return verdict.ok and verdict.compared, str(verdict)

    first, second, third, fourth = at_once(work)
    assert first[0] and third[0], (first, third)
    assert (second, fourth) == ([21] * 5, [35] * 5)


def test_buffers_written_and_freed_at_once(device: Device) -> None:
    def work(number: int) -> bool:
        for turn in range(20):
            buffer: Buffer = device.buffer(bytes([number]) * (5000 + turn))
            buffer.write(bytes([number + 10]) * 100, 4096)
            if buffer.read() != bytes([number]) * 4096 + bytes([number + 10]) * 100 + bytes([number]) * (804 + turn):
                return False
            buffer.free()
        return True

    assert at_once(work) == [True] * THREADS
    assert device.buffers == []


def test_profiling_buffers_made_at_once(device: Device) -> None:
    made = at_once(lambda number: ProfilingBuffer(device, records=8 + number))
    assert len({buffer.buffer.address for buffer in made}) == THREADS
    assert all(buffer.records() == [] for buffer in made)


def test_devices_made_at_once(paths: list[str]) -> None:
    def work(number: int) -> int:
        with Device(SOC) as device:
            return _product(device.load(paths[number]))

    assert at_once(work) == [14, 21, 28, 35]
