"""Order inside a core, rule by rule: pairs of pipes, registers, caches. A few kernels, many cases.

A word of the launch chooses the case, so that each kernel is compiled once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sim_kernels
from superkernel.sim import Device, Finding, Kernel, Report


def launch(device: Device, kernel: Kernel, case: int, data: np.ndarray, **options: Any) -> tuple[Report, np.ndarray]:
    result = device.buffer(np.full(4096, 5, np.float32), "result")
    chosen = device.buffer(case.to_bytes(8, "little"))
    report = kernel.launch([device.buffer(data, "data"), result, chosen], block_dim=1, **options)
    return report, result.numpy()


def only(report: Report) -> Finding:
    assert report.status == "pipe", report
    (finding,) = report.findings
    return finding


#: C = A * A twice over, moved out twice and read again: whatever orders two steps can be left out.
CUBE_CASES = ["NONE", "MTE2_MTE1", "MTE1_M", "M_M", "M_FIX", "FIX_FIX", "FIX_EVENT", "FIX_MTE2"]
CUBE_CASES += ["TABLE", "SCALAR", "BIAS", "PAIRS"]
#: Events of the other set: paired, left out, raised twice, left raised, waited for in vain, out of range.
BUFFER_CASES = ["BUFFERS", "TWICE", "LEFT", "IN_VAIN", "RANGE"]
CUBE_CASES += BUFFER_CASES
CUBE = f"""
using namespace AscendC;
enum Case : uint64_t {{ {", ".join(CUBE_CASES)} }};
#define UNLESS(name, ...) do {{ if (which != name) {{ __VA_ARGS__; }} }} while (0)
#define ORDER(from, to) set_flag(PIPE_##from, PIPE_##to, EVENT_ID2), wait_flag(PIPE_##from, PIPE_##to, EVENT_ID2)
static void body() {{
    const uint64_t which = *slot(2);
    SkCoreState &core = *sk_rt_core();
    half *l1 = (half *)core.l1, *a = (half *)core.l0a, *b = (half *)core.l0b, *from = (half *)slot(0);
    float *c = (float *)core.l0c, *to = (float *)slot(1);
    const uint64_t bias = (uint64_t)core.biasTable;
    copy_gm_to_cbuf(l1, from, 0, 1, 64, 0, 0, 0);
    if (which == SCALAR) {{
        LocalTensor<half>(TPosition::A1, l1, 1024).GetValue(0);
        return;
    }}
    UNLESS(MTE2_MTE1, ORDER(MTE2, MTE1));
    load_cbuf_to_ca(a, l1, 0, 4, 1, 0, 0, 0, 0);
    load_cbuf_to_cb(b, l1, 0, 4, 1, 0, 0, 0, 0);
    copy_cbuf_to_bt(bias, l1, 0, 1, 1, 0, 0);
    if (which >= BUFFERS) {{
        // Event 2 of the other set is in use meanwhile.
        set_flag(PIPE_MTE1, PIPE_M, EVENT_ID2);
        hset_flag(PIPE_MTE1, PIPE_M, which == RANGE ? 8 : 2, 1, false);
        if (which == TWICE) {{ hset_flag(PIPE_MTE1, PIPE_M, 2, 1, false); }}
        if (which != LEFT) {{ hwait_flag(PIPE_MTE1, PIPE_M, 2, 1, true); }}
        if (which == TWICE || which == IN_VAIN) {{ hwait_flag(PIPE_MTE1, PIPE_M, 2, 1, true); }}
        mad(c, a, b, 16, 16, 16, 0, 0, 0, 1);
        wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID2);
        ORDER(M, FIX);
        copy_matrix_cc_to_gm(to, c, 0, 16, 16, 32, 16, 0, NoQuant, 0, 0, 0);
        return;
    }}
    UNLESS(MTE1_M, ORDER(MTE1, M));
    if (which == PAIRS) {{
        // Pipes that a cube core does not have: nothing happens.
        SetFlag<HardEvent::MTE2_V>(0);
        SetFlag<HardEvent::MTE2_V>(0);
        return;
    }}
    if (which == BIAS) {{
        pipe_barrier(PIPE_ALL);
        copy_cbuf_to_bt(bias, l1, 0, 1, 1, 0, 0);
        mad(c, a, b, bias, 16, 16, 16, 0, 0, 1, 0);
        return;
    }}
    mad(c, a, b, 16, 16, 16, 0, 0, 0, 1);
    UNLESS(M_M, pipe_barrier(PIPE_M));
    mad(c, a, b, 16, 16, 16, 0, 0, 0, 0);
    UNLESS(M_FIX, ORDER(M, FIX));
    copy_matrix_cc_to_gm(to, c, 0, 16, 16, 32, 16, 0, NoQuant, 0, 0, 0);
    if (which == FIX_EVENT) {{
        SetFlag<HardEvent::FIX_FIX>(0);
        WaitFlag<HardEvent::FIX_FIX>(0);
    }} else {{
        UNLESS(FIX_FIX, pipe_barrier(PIPE_FIX));
    }}
    copy_matrix_cc_to_gm(to, c, 0, 16, 16, 32, 16, 0, NoQuant, 0, 0, 0);
    UNLESS(FIX_MTE2, ORDER(FIX, MTE2));
    copy_gm_to_cbuf(l1, (half *)to, 0, 1, 32, 0, 0, 0);
    pipe_barrier(PIPE_ALL);
    set_fpc(((uint64_t)core.fixpipeBuffer >> 7) << 8);
    copy_cbuf_to_fbuf(core.fixpipeBuffer, l1, 1, 1, 0, 0);
    UNLESS(TABLE, pipe_barrier(PIPE_FIX));
    copy_matrix_cc_to_gm((int8_t *)(to + 512), c, 0, 16, 16, 32, 16, 0, VQF322B8_PRE, 0, 0, 0);
}}
"""


@pytest.fixture(scope="module")
def cube(device: Device, folder: Path) -> Kernel:
    return sim_kernels.kernel(device, folder, CUBE, "1:0")


def run_cube(device: Device, kernel: Kernel, case: str, **options: Any) -> tuple[Report, np.ndarray]:
    data = (np.arange(1024) % 5).astype(np.float16)
    return launch(device, kernel, CUBE_CASES.index(case), data, **{"pipes": "checked", **options})


def product() -> np.ndarray:
    # What is a matrix in L0A is its transpose in L0B.
    a = (np.arange(256) % 5).reshape(16, 16)
    return a @ a.T


def test_a_product_with_all_its_flags_is_right(device: Device, cube: Kernel) -> None:
    for options in ({"pipes": "checked"}, {"pipes": "reordered", "seed": 3}):
        report, result = run_cube(device, cube, "NONE", **options)
        report.raise_for_status()
        np.testing.assert_array_equal(result[:256].reshape(16, 16), 2 * product())


@pytest.mark.parametrize(
    ("case", "instructions", "missing"),
    [
        ("MTE2_MTE1", ("copy_gm_to_cbuf", "load_cbuf_to_ca"), "HardEvent::MTE2_MTE1"),
        ("MTE1_M", ("load_cbuf_to_ca", "mad"), "HardEvent::MTE1_M"),
        ("M_M", ("mad", "mad"), "PipeBarrier<PIPE_M>"),
        ("M_FIX", ("mad", "copy_matrix_cc_to_gm"), "HardEvent::M_FIX"),
        ("FIX_FIX", ("copy_matrix_cc_to_gm", "copy_matrix_cc_to_gm"), "PipeBarrier<PIPE_FIX>"),
        ("FIX_MTE2", ("copy_matrix_cc_to_gm", "copy_gm_to_cbuf"), "HardEvent::FIX_MTE2"),
        ("BIAS", ("copy_cbuf_to_bt", "mad"), "HardEvent::MTE1_M"),
        ("TABLE", ("copy_cbuf_to_fbuf", "copy_matrix_cc_to_gm"), "PipeBarrier<PIPE_FIX>"),
        ("SCALAR", ("copy_gm_to_cbuf", "a scalar access"), "HardEvent::MTE2_S"),
    ],
)
def test_every_pipe_of_a_cube_core_is_watched(
    device: Device, cube: Kernel, case: str, instructions: tuple[str, str], missing: str
) -> None:
    report, _ = run_cube(device, cube, case)
    assert report.status == "pipe", report
    told = {(finding.first["what"], finding.second["what"]): finding.missing for finding in report.findings}  # type: ignore[index]
    assert missing in (told.get(instructions) or ""), told


def test_events_between_pipes_that_a_core_does_not_have_are_nothing(device: Device, cube: Kernel) -> None:
    report, _ = run_cube(device, cube, "PAIRS")
    report.raise_for_status()
    assert report.findings == ()


def test_an_event_from_the_fixpipe_to_itself_is_a_barrier(device: Device, cube: Kernel) -> None:
    report, _ = run_cube(device, cube, "FIX_EVENT")
    report.raise_for_status()
    assert report.findings == ()


def test_buffers_around_the_cube_unit_have_events_of_their_own(device: Device, cube: Kernel) -> None:
    for options in (
        {"pipes": "in-order"},
        {"pipes": "checked"},
        *({"pipes": "reordered", "seed": at} for at in range(9)),
    ):
        report, result = run_cube(device, cube, "BUFFERS", **options)
        report.raise_for_status()
        assert report.findings == () and report.warnings == ()
        np.testing.assert_array_equal(result[:256].reshape(16, 16), product())


@pytest.mark.parametrize(
    ("case", "kind", "told"),
    [
        ("TWICE", "event-doubled", "hset_flag raises event 2 from MTE1 to M, which is raised already"),
        ("TWICE", "event-doubled", "hwait_flag(PIPE_MTE1, PIPE_M, 2) between them is missing"),
        ("LEFT", "event-left", "still raised at the end: hwait_flag(PIPE_MTE1, PIPE_M, 2) is missing"),
        # A wait for the one set does not order by the other.
        ("LEFT", "unordered", "SetFlag<HardEvent::MTE1_M> and WaitFlag<HardEvent::MTE1_M>"),
    ],
)
def test_broken_rules_of_those_events_are_found(device: Device, cube: Kernel, case: str, kind: str, told: str) -> None:
    report, _ = run_cube(device, cube, case)
    assert any(told in finding.text for finding in report.findings if finding.kind == kind), report


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ("IN_VAIN", "hwait_flag from MTE1 to M, event 2, without a hset_flag: it never returns"),
        ("RANGE", "hset_flag with event id 8; ids are 0 to 7"),
    ],
)
def test_those_events_end_the_run_like_others(device: Device, cube: Kernel, case: str, told: str) -> None:
    for pipes in ("in-order", "checked", "reordered"):
        report, _ = run_cube(device, cube, case, pipes=pipes)
        assert report.status == "api" and told in report.message
        assert report.failure is not None and report.failure["file"] == "kernel.cpp"


def test_an_event_of_buffers_that_is_left_is_told_in_every_mode(device: Device, cube: Kernel) -> None:
    report, _ = run_cube(device, cube, "LEFT", pipes="in-order")
    assert any("hset_flag from MTE1 to M, event 2, has 1 sets without a hwait_flag" in text for text in report.warnings)


VECTOR_CASES = [
    "NONE",
    "GM",
    "OUTSIDE",
    "VECTOR_EVENT",
    "VECTOR_NONE",
    "MASK",
    "ATOMIC",
    "SUM",
    "KEPT",
    "SCALARS",
    "RESET",
    "WIDE",
]
VECTOR = f"""
using namespace AscendC;
enum Case : uint64_t {{ {", ".join(VECTOR_CASES)} }};
static void body() {{
    const uint64_t which = *slot(2);
    float *in = (float *)0, *out = (float *)4096, *from = (float *)slot(0), *to = (float *)slot(1);
    uint64_t words[32] = {{}};
    uint64_t *next = words;
    switch (which) {{
    case NONE:
    case GM:
        vector_dup(out, 2, 1, 1, 1, 8, 0);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        copy_ubuf_to_gm(to, out, 0, 1, 8, 0, 0);
        if (which == NONE) {{
            set_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
            wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
        }}
        copy_gm_to_ubuf(in, to, 0, 1, 8, 0, 0);
        return;
    case OUTSIDE:
        copy_gm_to_ubuf(in, from + 240, 0, 1, 8, 0, 0);
        return;
    case VECTOR_EVENT:
    case VECTOR_NONE:
        vector_dup(out, 2, 1, 1, 1, 8, 0);
        if (which == VECTOR_EVENT) {{
            SetFlag<HardEvent::V_V>(1);
            WaitFlag<HardEvent::V_V>(1);
        }}
        vadds(in, out, 1, 1, 1, 1, 8, 8);
        return;
    case MASK:
        vector_dup(out, 1, 4, 1, 1, 8, 0);
        set_vector_mask(0, 0xff);
        vadds(out, out, 1, 4, 1, 1, 8, 8);
        set_vector_mask(0, 1);
        break;
    case ATOMIC:
        vector_dup(out, 1, 4, 1, 1, 8, 0);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        set_atomic_f32();
        set_atomic_add();
        copy_ubuf_to_gm(to, out, 0, 1, 32, 0, 0);
        set_atomic_none();
        return;
    case RESET: {{
        set_mask_count();
        set_vector_mask(0, 1);
        set_atomic_f32();
        TPipe pipe;
        vector_dup(out, 1, 4, 1, 1, 8, 0);
        break;
    }}
    case WIDE: {{
        LocalTensor<int64_t> local(TPosition::VECCALC, (int64_t *)(sk_rt_core()->unifiedBuffer + 4096), 32);
        GlobalTensor<int64_t> global;
        global.SetGlobalBuffer((int64_t *)slot(0), 128);
        DataCopyPad(local, global, DataCopyExtParams{{1, 16, 0, 0, 0}}, DataCopyPadExtParams<int64_t>{{true, 1, 0, 9}});
        set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
        copy_ubuf_to_gm(to, out, 0, 1, 1, 0, 0);
        return;
    }}
    case SUM:
    case KEPT:
        copy_gm_to_ubuf(in, from, 0, 1, 32, 0, 0);
        set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
        set_mask_count();
        set_vector_mask(0, 256);
        if (which == SUM) {{
            vcadd(out, in, 1, 1, 1, 8, 1);
            *(uint64_t *)to = (uint64_t)get_acc_val();
        }} else {{
            vreducev2((uint32_t *)out, (uint32_t *)in, (uint32_t *)in, 1, 1, 1, 8, 0);
            *(uint64_t *)to = (uint64_t)get_rsvd_cnt();
        }}
        pipe_barrier(PIPE_ALL);
        return;
    case SCALARS: {{
        const int64_t values[] = {{sff0(7), sff0(~0ull), sff1(8), sff1(0), bcnt0(~7ull), bcnt1(7), clz(0), clz(1),
                                  sflbits(0), sflbits(-1), sflbits(1), sflbits(-4), (int64_t)sbitset0(0xff, 0),
                                  (int64_t)sbitset1(0, 5), get_ctrl() >> 48 & 1}};
        for (int64_t value : values) {{ *next++ = (uint64_t)value; }}
        set_st_atomic_cfg(0, 1);
        *next++ = (uint64_t)get_st_atomic_cfg();
        set_deqscale(half(1.0f));
        *next++ = sk_rt_get_register(SK_REGISTER_DEQSCALE);
        set_mov_pad_val(half(2.0f));
        *next++ = sk_rt_get_register(SK_REGISTER_MOV_PAD_VAL);
        set_atomic_s32();
        set_atomic_max();
        *next++ = (uint64_t)get_ctrl() >> 6 & 31;
        set_atomic_none();
        *next++ = (uint64_t)get_ctrl() >> 6 & 7;
        for (int at = 0; at < 32; ++at) {{ ((uint64_t *)to)[at] = words[at]; }}
        return;
    }}
    default:
        return;
    }}
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    copy_ubuf_to_gm(to, out, 0, 1, 32, 0, 0);
}}
"""


@pytest.fixture(scope="module")
def vector(device: Device, folder: Path) -> Kernel:
    return sim_kernels.kernel(device, folder, VECTOR, "0:1")


def run_vector(device: Device, kernel: Kernel, case: str, **options: Any) -> tuple[Report, np.ndarray]:
    data = np.ones(256, np.float32)
    return launch(device, kernel, VECTOR_CASES.index(case), data, **{"pipes": "checked", **options})


def test_pipes_of_a_core_meet_in_global_memory(device: Device, vector: Kernel) -> None:
    report, _ = run_vector(device, vector, "GM")
    finding = only(report)
    assert "of GM at" in finding.text
    assert "MTE3_MTE2" in (finding.missing or "")
    run_vector(device, vector, "NONE")[0].raise_for_status()


def test_moves_stay_inside_buffers(device: Device, vector: Kernel) -> None:
    report, _ = run_vector(device, vector, "OUTSIDE", pipes="in-order")
    assert report.status == "api"
    assert "src covers 256 bytes of GM at `data`+960, which are not all in one buffer" in report.message
    assert report.failure is not None
    assert report.failure["file"] == "kernel.cpp"


def test_an_event_from_the_vector_unit_to_itself_is_a_barrier(device: Device, vector: Kernel) -> None:
    run_vector(device, vector, "VECTOR_EVENT", auto_sync=False)[0].raise_for_status()
    assert only(run_vector(device, vector, "VECTOR_NONE", auto_sync=False)[0]).missing == "PipeBarrier<PIPE_V>"


@pytest.mark.parametrize("case", ["MASK", "ATOMIC"])
def test_registers_act_on_instructions_issued_after_them(device: Device, vector: Kernel, case: str) -> None:
    expected = np.full(256, 6.0) if case == "ATOMIC" else np.where(np.arange(256) % 64 < 8, 2, 1)
    for seed in range(10):
        report, result = run_vector(device, vector, case, pipes="reordered", seed=seed)
        report.raise_for_status()
        np.testing.assert_array_equal(result[:256], expected)


def test_results_in_registers_need_a_wait_but_the_count_of_kept_elements(device: Device, vector: Kernel) -> None:
    def seen(case: str, **options: Any) -> set[int]:
        found = set()
        for seed in range(10):
            report, result = run_vector(device, vector, case, pipes="reordered", seed=seed, **options)
            report.raise_for_status()
            found.add(int(result.view(np.uint64)[0]))
        return found

    total = int(np.float32(256).view(np.uint32))
    assert seen("SUM") == {total}, "compilers put the wait in"
    assert 0 in seen("SUM", auto_sync=False), "without it the value may be the old one"
    assert seen("KEPT", auto_sync=False) == {128}


def test_a_pipe_resets_masks_and_atomics(device: Device, vector: Kernel) -> None:
    report, result = run_vector(device, vector, "RESET")
    report.raise_for_status()
    np.testing.assert_array_equal(result[:256], np.ones(256))


def test_elements_of_8_bytes_are_padded_by_two_of_4(device: Device, vector: Kernel) -> None:
    report, result = run_vector(device, vector, "WIDE")
    report.raise_for_status()
    element = int(np.ones(2, np.float32).view(np.int64)[0])
    assert result.view(np.int64)[:4].tolist() == [9 << 32 | 9, element, element, 9 << 32 | 9]


def test_scalar_helpers_and_registers(device: Device, vector: Kernel) -> None:
    report, result = run_vector(device, vector, "SCALARS", pipes="in-order")
    report.raise_for_status()
    found = result.view(np.int64)[:20].tolist()
    assert found[:12] == [3, -1, 3, -1, 3, 3, 64, 63, -1, -1, 62, 61]
    assert found[12:15] == [0xFE, 32, 1]
    assert found[15:] == [1 << 3, 0x3C00, 0x4000, 4 | 1 << 3, 0]


CACHE_CASES = ["NONE", "ATOMIC", "AROUND", "PRELOAD"]
CACHE = f"""
using namespace AscendC;
enum Case : uint64_t {{ {", ".join(CACHE_CASES)} }};
static void body() {{
    const uint64_t which = *slot(2);
    GlobalTensor<int32_t> word, result;
    word.SetGlobalBuffer((int32_t *)slot(0), 64);
    result.SetGlobalBuffer((int32_t *)slot(1), 64);
    const bool first = GetBlockIdx() == 0;
    if (!first && which == AROUND) {{ result.SetValue(2, word.GetValue(0)); }}
    if (!first && which == PRELOAD) {{ dc_preload(slot(0), 0); }}
    SyncAll<true>();
    if (first && which == AROUND) {{
        sk_rt_bypass(slot(0), 4, 1, 7);
    }} else if (first) {{
        word.SetValue(0, 7);
        dcci(word.GetPhyAddr(), SINGLE_CACHE_LINE, which == ATOMIC ? CACHELINE_ATOMIC : CACHELINE_OUT);
    }}
    SyncAll<true>();
    if (!first) {{
        if (which == AROUND) {{ result.SetValue(1, (int32_t)sk_rt_bypass(slot(0), 4, 0, 0)); }}
        result.SetValue(0, word.GetValue(0));
    }}
}}
"""


@pytest.fixture(scope="module")
def cache(device: Device, folder: Path) -> Kernel:
    return sim_kernels.kernel(device, folder, CACHE, "0:1")


def hand_over(device: Device, kernel: Kernel, case: str) -> tuple[Report, list[int]]:
    words, result = (device.buffer(np.zeros(64, np.int32)) for _ in range(2))
    chosen = device.buffer(CACHE_CASES.index(case).to_bytes(8, "little"))
    report = kernel.launch([words, result, chosen], block_dim=2, cache="strict", check_order=False)
    return report, result.numpy()[:2].tolist()


@pytest.mark.parametrize("case", ["NONE", "ATOMIC", "PRELOAD"])
def test_all_ways_to_flush_and_none_to_preload(device: Device, cache: Kernel, case: str) -> None:
    report, seen = hand_over(device, cache, case)
    report.raise_for_status()
    assert seen[0] == 7


def test_accesses_around_the_cache_neither_fill_nor_refresh_it(device: Device, cache: Kernel) -> None:
    report, seen = hand_over(device, cache, "AROUND")
    assert seen == [0, 7], "around the cache the new value, in the cache the old one"
    assert [finding.kind for finding in report.findings] == ["stale-read"]
