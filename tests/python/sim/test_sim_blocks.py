"""Cores that wait for each other by words, slices of tensors, and lists of tensors, in the built-in subset."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sim_kernels
from superkernel.sim import Device, Kernel

# Argument 0 has words for cores, 1 data, 2 results, 3 says what to do.
_SOURCE = """
using namespace AscendC;
static void ask_for_events() {
    // No TPipe is made here.
    const int first = (int)GetTPipePtr()->AllocEventID<HardEvent::MTE2_V>();
    ((int32_t *)slot(2))[GetBlockIdx()] = 10 * first + (int)GetTPipePtr()->AllocEventID<HardEvent::MTE2_V>();
}
static void body() {
    if (*slot(3) == 7) { return ask_for_events(); }
    GlobalTensor<int32_t> words, in, out;
    words.SetGlobalBuffer((__gm__ int32_t *)slot(0), 256);
    in.SetGlobalBuffer((__gm__ int32_t *)slot(1), 256);
    out.SetGlobalBuffer((__gm__ int32_t *)slot(2), 256);
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer, more;
    pipe.InitBuffer(buffer, 1024);
    pipe.InitBuffer(more, 1024);
    LocalTensor<int32_t> a = buffer.Get<int32_t>(), b = more.Get<int32_t>();
    const int core = (int)GetBlockIdx();
    switch (*slot(3)) {
    case 0: // Core 3 tells core 2, which tells core 1, ... twice.
        for (int round = 0; round < 2; ++round) {
            if (core < 3) { IBWait(words, a, core, 1); }
            const int32_t before = core < 3 ? out.GetValue(8 * (core + 1) + round) : 100 * round;
            out.SetValue(8 * core + round, before + 1);
            if (core > 0) { IBSet(words, a, core - 1, 1); }
        }
        break;
    case 1: // Turns.
        InitDetermineComputeWorkspace(words, a);
        for (int round = 0; round < 2; ++round) {
            WaitPreBlock(words, a);
            const int32_t place = out.GetValue(0);
            out.SetValue(0, place + 1);
            out.SetValue(place + 1, core);
            NotifyNextBlock(words, a);
        }
        break;
    case 2: // Two pieces of 8 with a gap of 5, of every second of 5 rows of 30; then with a gap of 3 between them.
        if (core == 0) {
            SliceInfo from[] = {{4, 24, 5, 1, 30}, {0, 4, 1, 1, 5}}, dense[] = {{0, 15, 0, 1, 16}, {0, 2, 0, 1, 3}};
            SliceInfo to[] = {{1, 19, 3, 1, 25}, {1, 3, 0, 1, 4}};
            DataCopy(b, in, dense, from, 2);
            SetFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
            WaitFlag<HardEvent::MTE2_MTE3>(EVENT_ID0);
            DataCopy(out, b, to, dense, 2);
        }
        break;
    case 3: { // Lists begin at word 128 of the data.
        ListTensorDesc list((__gm__ uint8_t *)slot(1) + 512);
        TensorDesc<int32_t> second;
        list.GetDesc(second, 1);
        if (core == 0) {
            out.SetValue(0, (int32_t)list.GetSize());
            out.SetValue(1, *list.GetDataPtr<int32_t>(0));
            out.SetValue(2, second.GetDataObj().GetValue(1));
            out.SetValue(3, (int32_t)(second.GetDim() * 100 + second.GetShape(1) * 10 + second.GetIndex()));
        } else if (core == 1) {
            list.GetDataPtr<int32_t>(2);
        }
        break;
    }
    case 4:
        IBSet(words, a, 4, 0);
        break;
    case 5: {
        SliceInfo from[] = {{0, 20, 5, 1, 30}}, to[] = {{0, 15, 0, 1, 16}};
        from[0].endIndex = 19;
        DataCopy(b, in, to, from, 1);
        break;
    }
    case 6: {
        GlobalTensor<int32_t> big;
        big.SetGlobalBuffer((__gm__ int32_t *)slot(2), 5008);
        Fill(big, 5003, 7);
    }
    }
}
"""


@pytest.fixture(scope="module")
def kernel(device: Device, tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    folder: Path = tmp_path_factory.mktemp("blocks")
    return sim_kernels.kernel(device, folder, _SOURCE, "0:1")


def number(what: int) -> bytes:
    return what.to_bytes(8, "little")


@pytest.mark.parametrize("seed", range(4))
def test_waiting_cores(device: Device, kernel: Kernel, seed: int) -> None:
    for what, expected in [(0, [4, 104, 3, 103, 2, 102, 1, 101]), (1, [8, 0, 1, 2, 3, 0, 1, 2, 3])]:
        words, out = (device.buffer(np.zeros(256, np.int32)) for _ in range(2))
        kernel.launch([words, words, out, device.buffer(number(what))], block_dim=4, seed=seed).raise_for_status()
        found = out.numpy().reshape(-1, 8)[:4, :2].ravel() if what == 0 else out.numpy()[: len(expected)]
        assert found.tolist() == expected


def test_slices(device: Device, kernel: Kernel) -> None:
    data = np.arange(256, dtype=np.int32)
    out = device.buffer(np.full(256, -1, np.int32))
    kernel.launch(
        [device.buffer(1024), device.buffer(data), out, device.buffer(number(2))], block_dim=1
    ).raise_for_status()
    picked = data[:150].reshape(5, 30)[::2]
    expected = np.full((4, 25), -1, np.int32)
    expected[1:, 1:9], expected[1:, 12:20] = picked[:, 4:12], picked[:, 17:25]
    np.testing.assert_array_equal(out.numpy()[:100], expected.ravel())


def test_lists_of_tensors(device: Device, kernel: Kernel) -> None:
    one, other = device.buffer(np.array([7], np.int32)), device.buffer(np.array([8, 9], np.int32))
    # One dimension and two; their numbers are 4 and 5.
    entries = [6 * 8, 1 | 4 << 32, 1, 2 | 5 << 32, 2, 1, one.address, other.address]
    data = np.zeros(128, np.uint64)
    data[64 : 64 + len(entries)] = entries
    data, out = device.buffer(data), device.buffer(np.zeros(256, np.int32))
    slots = [device.buffer(1024), data, out, device.buffer(number(3))]
    kernel.launch(slots, block_dim=1).raise_for_status()
    assert out.numpy()[:4].tolist() == [2, 7, 9, 215]
    report = kernel.launch(slots, block_dim=2)
    assert "ListTensorDesc: tensor 2 of 2" in str(report.failure)


def test_events_without_a_pipe(device: Device, kernel: Kernel) -> None:
    out = device.buffer(np.zeros(4, np.int32))
    words = device.buffer(1024)
    for _ in range(2):
        kernel.launch([words, words, out, device.buffer(number(7))], block_dim=4).raise_for_status()
        assert out.numpy().tolist() == [1, 1, 1, 1]


def test_fill(device: Device, kernel: Kernel) -> None:
    out = device.buffer(np.zeros(5008, np.int32))
    words = device.buffer(1024)
    kernel.launch([words, words, out, device.buffer(number(6))], block_dim=1).raise_for_status()
    assert out.numpy().tolist() == [7] * 5003 + [0] * 5


@pytest.mark.parametrize(
    ("what", "message"),
    [(4, "IBSet: core 4, event 0; cores are 0 to 3"), (5, "are not whole pieces of 8 with gaps of 5")],
)
def test_broken_rules(device: Device, kernel: Kernel, what: int, message: str) -> None:
    buffers = [device.buffer(1024) for _ in range(3)]
    report = kernel.launch([*buffers, device.buffer(number(what))], block_dim=4)
    assert report.status == "api"
    assert message in str(report.failure)
