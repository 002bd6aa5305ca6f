"""Loading and launching: what the files say, lone sub-kernels, memory, agents, profiling records."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
import sim_kernels
from superkernel import SuperKernelError
from superkernel.sim import Agent, Device, ProfilingBuffer, Word, aicpu_tiling, build_op, event_partner

# -- files -----------------------------------------------------------------------------------------------------------

TWO_CALLS = """
static void call(uint64_t offset, int kind) {
    if (sk_host_core_type() != kind) { return; }
    SK_SUB_KERNEL_BEGIN(offset);
    uint64_t **slots = (uint64_t **)get_para_base() + offset;
    slots[1][AscendC::GetBlockIdx()] = slots[0][AscendC::GetBlockIdx()] + 1;
    SK_SUB_KERNEL_END(offset);
}
static void body() {
    call(1, AscendC::AIC);
    if (SYNC) { AscendC::SyncAll<false>(); }
    call(3, AscendC::AIV);
}
"""


def _published(device: Device, folder: Path, sync: int) -> Path:
    """A super kernel with the JSON that a build writes."""
    source = f"#define SYNC {sync}\n" + TWO_CALLS
    kernel = sim_kernels.kernel(device, folder, source, "1:1")
    path = kernel.description.object
    entry = {"blockDim": 3, "streamid": -1}
    cube, vector = ({"sub_operator_kernel_type": f"KERNEL_TYPE_{kind}_ONLY"} for kind in ("AIC", "AIV"))
    json_path = path.with_suffix(".json")
    json_path.write_text(
        json.dumps(
            {
                "kernelName": "test",
                "binFileName": path.stem,
                "binFileSuffix": ".o",
                "blockDim": 3,
                "taskRation": "1:1",
                "SuperkernelInfo": {
                    "kernelList": {
                        "dav-c220-cube": [{"func_name": "inc", "arg_list": {"param_offset": 1}, **entry, **cube}],
                        "dav-c220-vec": [{"func_name": "inc2", "arg_list": {"param_offset": 3}, **entry, **vector}],
                    }
                },
            }
        )
    )
    return json_path


@pytest.mark.quick
@pytest.mark.parametrize("suffix", [".json", ".o"])
def test_a_published_super_kernel_needs_no_more_than_its_path(device: Device, folder: Path, suffix: str) -> None:
    path = _published(device, folder, sync=1)
    kernel = device.load(path.with_suffix(suffix))
    assert (kernel.name, kernel.description.kernel_type) == ("test", "KERNEL_TYPE_MIX_AIC_1_1")
    x, y, z = (device.buffer(np.zeros(3, np.uint64), name) for name in "xyz")
    report = kernel.launch([x, y, y, z], seed=4)
    assert report.ok and list(z.numpy()) == [2, 2, 2]
    # Names and positions of the operators come from the JSON, times and cores from the run.
    begins = [(event.core, event.op) for event in report.events if event.what == "op-begin"]
    assert sorted(begins) == [(f"AIC{i}", "inc") for i in range(3)] + [(f"AIV{i}", "inc2") for i in range(3)]
    assert [event.what for event in report.timeline("AIC0")] == ["op-begin", "op-end"]


def test_order_is_checked_from_the_json_alone(device: Device, folder: Path) -> None:
    kernel = device.load(_published(device, folder, sync=0))
    x, y, z = (device.buffer(np.zeros(3, np.uint64), name) for name in "xyz")
    report = kernel.launch([x, y, y, z])
    assert report.status == "hazard" and "op 1 `inc2`" in report.message and "`y`" in report.message


def test_a_bare_object_says_its_ratio(device: Device, folder: Path) -> None:
    kernel = sim_kernels.kernel(device, folder, "static void body() {}", "1:2")
    assert kernel.description.kernel_type == "KERNEL_TYPE_MIX_AIC_1_2"
    with pytest.raises(SuperKernelError, match="how many blocks"):
        kernel.launch([])
    assert len(kernel.launch([], block_dim=24).cores) == 72


# -- lone sub-kernels ------------------------------------------------------------------------------------------------

SCALE = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void scale(GM_ADDR x, GM_ADDR y, GM_ADDR workspace) {
    const int n = 96 / (int)AscendC::GetBlockNum();
    int32_t *in = (int32_t *)x + n * AscendC::GetBlockIdx(), *out = (int32_t *)y + n * AscendC::GetBlockIdx();
    AscendC::WaitPreTaskEnd();
    for (int i = 0; i < n; ++i) { out[i] = in[i] * 3; }
    AscendC::SetNextTaskStart();
}
"""


@pytest.mark.parametrize("kernel_type", ["KERNEL_TYPE_AIV_ONLY", "KERNEL_TYPE_AIC_ONLY", "KERNEL_TYPE_MIX_AIV_1_0"])
def test_a_sub_kernel_alone(device: Device, tmp_path: Path, kernel_type: str) -> None:
    source = SCALE
    if kernel_type != "KERNEL_TYPE_MIX_AIV_1_0":
        # Without flags of its own it cannot take part in early start when it runs alone.
        source = source.replace("AscendC::WaitPreTaskEnd();", "").replace("AscendC::SetNextTaskStart();", "")
    path = tmp_path / "scale.cpp"
    path.write_text(source)
    op = build_op(str(path), "scale", kernel_type=kernel_type, block_dim=8, out_dir=str(tmp_path))
    kernel = device.load(op.json_path, bin_path=op.bin_path)
    x = np.arange(96, dtype=np.int32)
    y = device.buffer(np.zeros(96, np.int32))
    report = kernel.launch([device.buffer(x), y, device.buffer(64)], seed=1)
    assert report.ok, report.message
    assert np.array_equal(y.numpy(), 3 * x)
    assert len(report.cores) == 8 and report.counts["ops"] == 8


MIX = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void exchange(GM_ADDR x, GM_ADDR y, GM_ADDR workspace) {
    if ASCEND_IS_AIC {
        ((int32_t *)workspace)[AscendC::GetBlockIdx()] = ((int32_t *)x)[AscendC::GetBlockIdx()] * 2;
        AscendC::CrossCoreSetFlag<2, PIPE_FIX>(3);
    } else {
        AscendC::CrossCoreWaitFlag(3);
        const int block = (int)(AscendC::GetBlockIdx() / AscendC::GetTaskRatio());
        ((int32_t *)y)[AscendC::GetBlockIdx()] = ((int32_t *)workspace)[block] + (int)AscendC::GetSubBlockIdx();
    }
}
"""


def test_a_mixed_sub_kernel_alone(device: Device, tmp_path: Path) -> None:
    """Its FFTS address, if it lists one, is put in front of the arguments."""
    path = tmp_path / "exchange.cpp"
    path.write_text(MIX)
    op = build_op(str(path), "exchange", kernel_type="KERNEL_TYPE_MIX_AIC_1_2", block_dim=4, out_dir=str(tmp_path))
    y = device.buffer(np.zeros(8, np.int32))
    arguments = [device.buffer(np.arange(4, dtype=np.int32)), y, device.buffer(64)]
    report = device.load(op.json_path, bin_path=op.bin_path).launch(arguments, schedule="skewed", seed=2)
    assert report.ok, report.message
    assert list(y.numpy()) == [0, 1, 2, 3, 4, 5, 6, 7]
    assert {core.kind for core in report.cores} == {"aic", "aiv"} and len(report.cores) == 12


def test_local_memory_does_not_survive(device: Device, folder: Path) -> None:
    """An operator that reads what another left in local memory works by luck; poisoning shows it."""
    source = """
    static void body() {
        SK_OP_BEGIN(0);
        AscendC::DuplicateImpl((__ubuf__ uint32_t *)0, (uint32_t)7, 8);
        SK_OP_END(0);
        SK_OP_BEGIN(1);
        copy_ubuf_to_gm(slot(0), (__ubuf__ void *)0, 0, 1, 1, 0, 0);
        SK_OP_END(1);
    }
    """
    kernel = sim_kernels.kernel(device, folder, source, "0:1")
    out = device.buffer(np.zeros(8, np.uint32))
    for poison, expected in ((False, 7), (True, 0xA5A5A5A5)):
        kernel.launch([out], block_dim=1, poison_local_memory=poison).raise_for_status()
        assert set(out.numpy()) == {expected}


# -- memory ----------------------------------------------------------------------------------------------------------


def test_buffers(device: Device) -> None:
    data = np.arange(10, dtype=np.float32).reshape(2, 5)
    buffer = device.buffer(data, "data")
    assert np.array_equal(buffer.numpy(), data) and buffer.nbytes == len(buffer) == 40
    assert np.array_equal(buffer.numpy(np.uint8), np.frombuffer(data.tobytes(), np.uint8))
    assert buffer.at(8) == buffer.address + 8 and buffer.address % 512 == 0
    buffer.write(b"\x01\x02", 3)
    assert buffer.read(2, 4)[1:3] == b"\x01\x02"
    word = device.buffer(bytearray(16))
    word.set_word(2**64 - 1, 1)
    assert (word.word(0), word.word(1)) == (0, 2**64 - 1)
    assert device.buffer(memoryview(b"abc")).read() == b"abc"
    for wrong in (lambda: buffer.read(39, 2), lambda: buffer.write(b"x", 40), lambda: device.buffer(0)):
        with pytest.raises(SuperKernelError):
            wrong()
    buffer.free()
    with pytest.raises(SuperKernelError, match="freed"):
        buffer.read()


def test_freed_memory_is_reused_and_full_memory_is_an_error() -> None:
    with Device("Ascend910_93", memory=1 << 20) as device:
        first = device.buffer(1000)
        first.free()
        assert device.buffer(900).address == first.address
        with pytest.raises(SuperKernelError, match="no room") as caught:
            device.buffer(1 << 20)
        assert caught.value.errorinfo["errId"] == "SK0907"


def test_unknown_socs_are_refused() -> None:
    with pytest.raises(SuperKernelError, match="Ascend310"):
        Device("Ascend310")


# -- agents ----------------------------------------------------------------------------------------------------------

# A tiling-sink operator in short: notify, wait for the lock, read key and block number, clear the lock.
DYNAMIC = """
static void body() {
    volatile uint64_t *key = slot(0), *blocks = slot(1), *lock = slot(2), *notify = slot(3), *out = slot(4);
    if (AscendC::GetBlockIdx() == 0) { *notify = 1; FLUSH(notify); }
    do { FLUSH(lock); } while (*lock != 1);
    out[AscendC::GetBlockIdx()] = *key * 100 + *blocks;
    SET(0, 14); WAIT(14);
    if (AscendC::GetBlockIdx() == 0) { *lock = 0; FLUSH(lock); }
}
"""


@pytest.mark.parametrize("delay", [0, 10, 5000])
def test_aicpu_tiling(device: Device, folder: Path, delay: int) -> None:
    kernel = sim_kernels.kernel(device, folder, DYNAMIC, "0:1")
    words = device.buffer(np.zeros(4, np.uint64), "words")
    key, blocks, lock, notify = (Word(words, i) for i in range(4))
    out = device.buffer(np.zeros(4, np.uint64))
    agent = aicpu_tiling(lock=lock, key=(key, 7), block_num=(blocks, 4), delay=delay, word=notify)
    slots = [word.address for word in (key, blocks, lock, notify)]
    for seed in range(4):
        words.write(bytes(32))
        report = kernel.launch([*slots, out], block_dim=4, agents=[agent], seed=seed)
        assert report.ok and report.agents == {"aicpu tiling": 1}
        assert list(out.numpy()) == [704] * 4 and words.word(2) == 0


def test_agents_follow_each_other_and_the_clock(device: Device, folder: Path) -> None:
    kernel = sim_kernels.kernel(device, folder, DYNAMIC, "0:1")
    words = device.buffer(np.zeros(8, np.uint64))
    slots = [words.at(8 * i) for i in range(4)]
    agents = [
        Agent("slow", [(Word(words, 0), 1)], step=300),
        Agent("second", [(Word(words, 1), 2), (Word(words, 2), 1)], after="slow", delay=20),
        event_partner(notify=Word(words, 3), name="heard"),
    ]
    out = device.buffer(np.zeros(4, np.uint64))
    report = kernel.launch([*slots, out], block_dim=4, agents=agents)
    assert report.ok and list(out.numpy()) == [102] * 4
    acted = [(event.core, event.step) for event in report.events if event.what == "agent"]
    assert acted[0][0] == "heard" and acted[1] == ("slow", 300) and acted[2][0] == "second" and acted[2][1] >= 320


def test_an_agent_that_never_hears_anything_is_reported(device: Device, folder: Path) -> None:
    kernel = sim_kernels.kernel(device, folder, "static void body() {}", "0:1")
    word = device.buffer(8)
    report = kernel.launch([], block_dim=1, agents=[event_partner(notify=word, name="partner")])
    assert report.status == "agent" and "partner" in report.message
    with pytest.raises(SuperKernelError, match="in no buffer"):
        kernel.launch([], block_dim=1, agents=[Agent("lost", [(64, 1)])])


# -- profiling -------------------------------------------------------------------------------------------------------

RECORDS = """
static uint64_t *area;
static void record(uint64_t info) {
    uint64_t *head = area;
    if (head[0] != 0xbdca8756 || head[1] >= head[2]) { return; }
    uint64_t *next = (uint64_t *)head[1];
    next[0] = info;
    next[1] = (uint64_t)AscendC::GetSystemCycle();
    head[1] += 16;
}
static void body() {
    uint8_t *buffer = (uint8_t *)slot(0);
    const uint64_t core = sk_host_core_type() == AscendC::AIC ? get_block_idx() + 50 : AscendC::GetBlockIdx();
    area = (uint64_t *)(buffer + 64 + core * *(uint32_t *)(buffer + 12));
    record((uint64_t)slot(1) << 32 | core << 8 | 0xff);
    record(0);
    record(3ull << 32 | 8 << 8);
    record(3ull << 32 | 8 << 8 | 1 << 12);
    record(42ull << 32 | 4 << 8);
    record(1 << 12);
}
"""


def test_profiling_records(device: Device, folder: Path) -> None:
    profiling = ProfilingBuffer(device, records=5)
    kernel = sim_kernels.kernel(device, folder, RECORDS, "1:2")
    kernel.launch([profiling.buffer, 9], block_dim=2).raise_for_status()
    records = profiling.records()
    # The area is full after five records: recording stops without harm.
    assert len(records) == 6 * 5
    for core in ("AIV0", "AIV3", "AIC1"):
        own = [record for record in records if record.core == core]
        assert [(r.kind, r.index, r.is_end) for r in own] == [
            ("start", 9, False),
            ("super-kernel", 0, False),
            ("op", 2, False),
            ("op", 2, True),
            ("notify", 42, False),
        ]
        assert [r.cycle for r in own] == sorted({r.cycle for r in own})
    profiling.reset()
    assert profiling.records() == []
    assert struct.unpack("<I", profiling.buffer.read(12, 4)) == (64 + 5 * 16,)
