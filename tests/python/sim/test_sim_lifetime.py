"""What a device gives out, and when it is gone: memory, arrays, arguments, `close()`, `free()`, `fork()`."""

from __future__ import annotations

import array
import ctypes
import math
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sim_kernels
from superkernel import SuperKernelError
from superkernel.sim import Agent, Device, ProfilingBuffer
from superkernel.sim.memory import PAGE

COPY = "static void body() { for (int i = 0; i < 4; ++i) { ((int32_t *)slot(1))[i] = ((int32_t *)slot(0))[i] + 1; } }"


def _id(action: Callable[[], Any]) -> str:
    with pytest.raises(SuperKernelError) as caught:
        action()
    return caught.value.errorinfo["errId"]


# -- data ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [np.int64(4096), np.uint8(200), np.int32(1)])
def test_a_number_of_any_library_is_a_number_of_bytes(device: Device, size: Any) -> None:
    buffer = device.buffer(size)
    assert buffer.nbytes == int(size) and buffer.read() == bytes(int(size))


VALUES = np.arange(24, dtype=np.int32).reshape(4, 6)


@pytest.mark.parametrize(
    "data",
    [
        VALUES[:, 1].astype(">i4"),
        VALUES[::-1, 2],
        VALUES[1:3, ::3],
        np.asfortranarray(VALUES[:2, :2]),
        VALUES.T[0],
        VALUES[0, :4].astype(np.dtype(np.int32).newbyteorder()),
    ],
)
def test_arrays_arrive_with_their_values(device: Device, folder: Path, data: Any) -> None:
    kernel = sim_kernels.kernel(device, folder, COPY, "0:1")
    x, y = device.buffer(data, "x"), device.buffer(np.zeros(data.shape, data.dtype), "y")
    assert np.array_equal(x.numpy(), data)
    kernel.launch([x, y], block_dim=1).raise_for_status()
    assert np.array_equal(y.numpy(), data + 1)
    y.write(data)
    assert np.array_equal(y.numpy(), data)


def test_other_data_arrives_or_is_refused(device: Device) -> None:
    assert device.buffer(array.array("i", [1, 2])).read() == np.array([1, 2], np.int32).tobytes()
    assert device.buffer(memoryview(bytes(range(10)))[::2]).read() == bytes(range(0, 10, 2))
    assert device.buffer(bytearray(b"abc")).read() == b"abc"

    class Big(ctypes.BigEndianStructure):
        _fields_ = [("x", ctypes.c_int32)]

    big_endian = memoryview(np.zeros(2, ">i4"))
    for data in ("text", 1.5, None, True, 0, -1, np.array([object()]), big_endian, Big(), [1, 2], 2**80, object()):
        assert _id(lambda data=data: device.buffer(data)) in ("SK0902", "SK0907"), data
    buffer = device.buffer(8)
    wrong: list[Callable[[], Any]] = [
        lambda: buffer.write(5),
        lambda: buffer.write("x"),
        lambda: buffer.write(bytes(9)),
        lambda: buffer.write(b"x", 1.5),  # type: ignore[arg-type]
        lambda: buffer.read(-1),
        lambda: buffer.read("a"),  # type: ignore[arg-type]
        lambda: buffer.read(0, 2**70),
        lambda: buffer.word(1),
        lambda: buffer.set_word(2**64),
        lambda: buffer.numpy(np.int16, (3, 3)),
        lambda: buffer.numpy("no such type"),
        lambda: device.buffer(8, name=5),  # type: ignore[arg-type]
        lambda: device.buffer(8, name="\ud800"),
    ]
    for action in wrong:
        assert _id(action) == "SK0902"


def test_an_overwritten_profiling_buffer_is_told(device: Device) -> None:
    profile = ProfilingBuffer(device, cubes=1, records=4)
    for used in (8, -64, 1 << 40):
        profile.reset()
        profile.buffer.set_word(profile.buffer.at(64) + 64 + used, (64 + 8) // 8)
        assert _id(profile.records) == "SK0902"


# -- memory ----------------------------------------------------------------------------------------------------------


def test_freed_memory_is_used_again_whatever_its_size() -> None:
    with Device("Ascend910_93", memory=64 * PAGE) as device:
        for round in range(200):
            sizes = [1 + (7 * round + 3 * i) % 9 for i in range(5)]
            buffers = [device.buffer(b"\xaa" * (pages * PAGE)) for pages in sizes]
            spans = sorted((buffer.address, buffer.address + buffer.nbytes) for buffer in buffers)
            assert all(end < start for (_, end), (start, _) in zip(spans, spans[1:]))
            for buffer in buffers[round % 2 :: 2] + buffers[1 - round % 2 :: 2]:
                buffer.free()
        # Everything is one piece again, and empty.
        whole = device.buffer(61 * PAGE)
        assert whole.read() == bytes(61 * PAGE)
        assert _id(lambda: device.buffer(1)) == "SK0907"


def test_a_kernel_sees_memory_that_is_used_again(folder: Path) -> None:
    with Device("Ascend910_93", memory=16 * PAGE) as device:
        kernel = sim_kernels.kernel(device, folder, COPY, "0:1")
        for size in (5 * PAGE, PAGE, 3 * PAGE, 16, 5 * PAGE):
            x, y = device.buffer(size, "x"), device.buffer(size, "y")
            kernel.launch([x, y], block_dim=1).raise_for_status()
            assert list(y.numpy(np.int32)[:4]) == [1] * 4
            x.free()
            y.free()


@pytest.mark.parametrize("memory", [-1, 0, 1, 1.5, "8", None, True, 2**64, 2**80, math.inf])
def test_no_device_has_that_much_memory(memory: Any) -> None:
    assert _id(lambda: Device("Ascend910_93", memory=memory)) in ("SK0902", "SK0907")


def test_other_arguments_of_a_device() -> None:
    for arguments in (
        {"soc": 5},
        {"soc": "\ud800"},
        {"isolation": []},
        {"isolation": "none"},
        {"timeout": -1},
        {"timeout": "x"},
        {"timeout": math.nan},
        {"timeout": 0},
    ):
        assert _id(lambda given=arguments: Device(**given)) == "SK0902", arguments  # type: ignore[misc]


# -- the end ---------------------------------------------------------------------------------------------------------


def test_nothing_of_a_closed_device_can_be_used(folder: Path) -> None:
    device = Device("Ascend910_93")
    kernel = sim_kernels.kernel(device, folder, "static void body() {}", "0:1")
    buffer, freed = device.buffer(8), device.buffer(8)
    freed.free()
    freed.free()
    for action in (freed.read, freed.numpy, lambda: freed.at(0), lambda: kernel.launch([freed], block_dim=1)):
        assert _id(action) == "SK0902"
    assert freed.overrun() is None
    freed.repair()
    device.close()
    device.close()
    uses: list[Callable[[], Any]] = [
        buffer.read,
        buffer.numpy,
        buffer.word,
        lambda: buffer.write(b"x"),
        lambda: buffer.set_word(1),
        lambda: buffer.at(0),
        lambda: device.buffer(8),
        lambda: device.load(kernel.description.object),
        lambda: kernel.launch([], block_dim=1),
        lambda: kernel.launch([buffer], block_dim=1),
    ]
    for use in uses:
        with pytest.raises(SuperKernelError, match="the device was closed") as caught:
            use()
        assert caught.value.errorinfo["errId"] == "SK0902"
    assert buffer.overrun() is None and not buffer.live
    buffer.repair()
    buffer.free()


def test_a_device_closed_by_another_thread_meanwhile(folder: Path) -> None:
    device = Device("Ascend910_93")
    buffers = [device.buffer(PAGE * 16) for _ in range(8)]
    ends: list[BaseException | None] = []

    def use() -> None:
        try:
            while True:
                for buffer in buffers:
                    buffer.write(buffer.read())
                    device.buffer(64).free()
        except BaseException as error:
            ends.append(error)

    threads = [threading.Thread(target=use) for _ in range(4)]
    for thread in threads:
        thread.start()
    device.close()
    for thread in threads:
        thread.join()
    assert len(ends) == 4 and all(isinstance(end, SuperKernelError) for end in ends), ends


def test_a_copy_of_the_process_takes_nothing_away(folder: Path) -> None:
    """By `fork`: however the copy ends, device, worker, files and memory of the first process stay."""
    with Device("Ascend910_93") as device:
        path = sim_kernels.kernel(device, folder, COPY, "0:1").description.object
    program = f"""
import os, sys
from superkernel import SuperKernelError
from superkernel.sim import Device
def used(action):
    try:
        action()
    except SuperKernelError as error:
        assert "belongs to process" in str(error), error
        return
    raise AssertionError
end = sys.argv[1]
with Device("Ascend910_93") as device:
    kernel = device.load({str(path)!r})
    x, y = device.buffer(16), device.buffer(16)
    x.set_word(5)
    assert kernel.launch([x, y], block_dim=1).ok
    worker = device._child
    child = os.fork()
    if child == 0:
        used(lambda: device.buffer(8))
        used(lambda: device.load({str(path)!r}))
        used(lambda: kernel.launch([x, y], block_dim=1))
        x.free()
        if end == "close":
            device.close()
        if end == "delete":
            del device, kernel
        sys.exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert x.word() == 5
    assert kernel.launch([x, y], block_dim=1).ok and device._child is worker
    assert device.load({str(path)!r}).launch([x, y], block_dim=1).ok
    work = device._work.name
assert not os.path.exists(work)
print("fine")
"""
    for end in ("exit", "close", "delete"):
        done = subprocess.run(
            [sys.executable, "-c", program, end], capture_output=True, text=True, check=False, timeout=100
        )
        assert (done.stdout, done.returncode) == ("fine\n", 0), done.stderr


# -- arguments -------------------------------------------------------------------------------------------------------

WRONG: list[tuple[dict[str, Any], str]] = [
    ({"schedule": "rand"}, "'round-robin', 'random', 'skewed'"),
    ({"schedule": None}, "'round-robin', 'random', 'skewed'"),
    ({"seed": -1}, "from 0 to 18446744073709551615"),
    ({"seed": 2**64}, "from 0 to"),
    ({"seed": 1.5}, "from 0 to"),
    ({"seed": "x", "schedule": "random"}, "from 0 to"),
    ({"timeout": -1}, "seconds above 0"),
    ({"timeout": 0}, "seconds above 0"),
    ({"timeout": math.nan}, "seconds above 0"),
    ({"timeout": "10"}, "seconds above 0"),
    ({"arrivals": "each"}, "'per-core', 'summed'"),
    ({"events": "all"}, "'none', 'ops', 'sync'"),
    ({"events": []}, "'none', 'ops', 'sync'"),
    ({"event_limit": -1}, "from 0 to"),
    ({"step_limit": -1}, "from 0 to"),
    ({"poll_limit": 0.5}, "from 0 to"),
    ({"block_dim": 0}, "from 1 to"),
    ({"block_dim": True}, "from 1 to"),
    ({"block_dim": 2**40}, "from 1 to"),
    ({"delays": {"AIV0": -1}}, "from 0 to"),
    ({"delays": {5: 1}}, "is text"),
    ({"delays": [{"core": "AIV0"}]}, "`steps`"),
    ({"delays": [{"core": "AIV0", "steps": 1, "at": "never"}]}, "'sync-all'"),
    ({"delays": [{"core": "AIV0", "steps": 1, "when": 1}]}, "`at`"),
    ({"delays": 5}, "is a list"),
    ({"agents": [5]}, "superkernel.sim.Agent"),
    ({"agents": 5}, "is a list"),
    ({"agents": [Agent("a", writes=[(None, 1)])]}, "`Agent`"),  # type: ignore[list-item]
    ({"accesses": 5}, "is a dict"),
    ({"accesses": {0: {"reads": 5}}, "op_names": ["a"]}, "is a list"),
    ({"op_names": "ab"}, "is a list"),
    ({"op_names": [1]}, "is text"),
    ({"ffts": -1}, "from 0 to"),
    ({"first_vector_core_id": "x"}, "a whole number"),
    ({"args": 5}, "is a list"),
    ({"args": "ab"}, "is a list"),
    ({"args": [1.5]}, "a whole number"),
    ({"args": [None]}, "a whole number"),
    ({"args": [np.zeros(3, object)]}, "an array of numbers"),
    ({"args": np.zeros(3)}, "is a list of arguments"),
    ({"args": {"x": 1}}, "pass a list"),
    ({"args": {1: 1}}, 'a name is "x_0"'),
    ({"agents": [Agent("a", delay=-1)]}, "from 0 to"),
    ({"agents": [Agent("a", times=2**40)]}, "from 0 to"),
    ({"agents": [Agent("a", writes=[5])]}, "(where, value)"),  # type: ignore[list-item]
    ({"delays": [{"core": "AIV0", "steps": 1, "op": -1}]}, "from 0 to"),
    ({"tiling_key": -1}, "from 0 to"),
    ({"args": [2**64]}, "a whole number"),
]


@pytest.mark.parametrize(("given", "allowed"), WRONG, ids=str)
def test_wrong_values_are_refused_with_those_allowed(
    device: Device, folder: Path, given: dict[str, Any], allowed: str
) -> None:
    kernel = sim_kernels.kernel(device, folder, "static void body() {}", "0:1")
    with pytest.raises(SuperKernelError) as caught:
        kernel.launch(**{"block_dim": 1, **given})
    assert caught.value.errorinfo["errId"] == "SK0902"
    assert allowed in caught.value.errorinfo["errSolution"], caught.value


def test_numbers_of_other_libraries_and_no_limit_are_taken(device: Device, folder: Path) -> None:
    kernel = sim_kernels.kernel(device, folder, "static void body() {}", "0:1")
    for timeout in (math.inf, 1e300, np.float32(20), 30):
        assert kernel.launch([np.int64(5), -1], block_dim=np.int64(2), seed=np.uint64(3), timeout=timeout).ok
    assert kernel.launch([], block_dim=1, delays={"AIV0": np.int64(3)}, step_limit=np.int32(1000)).ok


def test_what_is_no_kernel(device: Device, folder: Path, tmp_path: Path) -> None:
    path = sim_kernels.kernel(device, folder, "static void body() {}", "0:1").description.object
    aiv = "KERNEL_TYPE_AIV_ONLY"
    for arguments in (
        {"path": None},
        {"path": 5},
        {"path": b"k.o"},
        {"path": "a\0b"},
        {"path": "\ud800"},
        {"path": "a\0b.json"},
        {"path": ""},
        {"path": "x" * 5000},
        {"path": tmp_path},
        {"bin_path": 5},
        {"bin_path": "a\0b"},
        {"path": tmp_path / "no.json", "bin_path": path},
        {"functions": 5},
        {"functions": {5: "f"}, "kernel_type": aiv},
        {"functions": {"aiv": 5}, "kernel_type": aiv},
        {"functions": {"aiv": "\ud800"}, "kernel_type": aiv},
        {"functions": {}, "kernel_type": aiv},
        {"functions": {"aiv": "f"}, "kernel_type": 5},
        {"functions": {"aiv": "f"}, "kernel_type": "KERNEL"},
        {"block_dim": -1},
        {"block_dim": 0},
        {"block_dim": "8"},
        {"block_dim": 1.5},
        {"block_dim": 2**32},
    ):
        with pytest.raises(SuperKernelError):
            device.load(**{"path": path, **arguments})  # type: ignore[arg-type]
            pytest.fail(str(arguments))


def test_a_home_that_cannot_be_used_is_no_obstacle(folder: Path, tmp_path: Path) -> None:
    with Device("Ascend910_93") as device:
        path = sim_kernels.kernel(device, folder, "static void body() {}", "0:1").description.object
    program = f"from superkernel.sim import Device\nprint(Device('Ascend910_93').load({str(path)!r}).name)"
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    environment = {**os.environ, "HOME": str(pipe), "XDG_CACHE_HOME": str(pipe), "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False, timeout=100
    )
    assert done.stdout == "test\n", done.stderr
