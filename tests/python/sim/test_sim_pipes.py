"""Pipes inside a core: what is not ordered is found, with both instructions, their lines and what is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sim_kernels
import trace_reader
from superkernel.sim import Device, Finding, Report

#: Adds 1 to 256 floats: in, compute, out. Every line may be left out by a define.
ADD = """
#ifdef LEAVE_OUT
#define IF(name, ...) do { if (name != LEAVE_OUT) { __VA_ARGS__; } } while (0)
#else
#define IF(name, ...) __VA_ARGS__
#endif
enum { NONE, IN, IN_WAIT, OUT, AGAIN };
static void body() {
    float *in = (float *)0, *out = (float *)4096;
    float *from = (float *)slot(0), *to = (float *)slot(1);
    for (int round = 0; round < 2; ++round) {
        copy_gm_to_ubuf(in, from + 64 * round, 0, 1, 8, 0, 0); // line 12
        IF(IN, set_flag(PIPE_MTE2, PIPE_V, EVENT_ID1); wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID1));
        vadds(out, in, 1, 1, 1, 1, 8, 8); // line 14
        IF(OUT, set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0); wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0));
        copy_ubuf_to_gm(to + 64 * round, out, 0, 1, 8, 0, 0); // line 16
        IF(AGAIN, pipe_barrier(PIPE_ALL));
    }
}
"""


def launch(device: Device, folder: Path, source: str, *flags: str, **options: Any) -> tuple[Report, np.ndarray]:
    kernel = sim_kernels.kernel(device, folder, source, "0:1", flags)
    data = np.arange(256, dtype=np.float32)
    result = device.buffer(np.zeros_like(data))
    report = kernel.launch([device.buffer(data, "in"), result], block_dim=1, **{"pipes": "checked", **options})
    return report, result.numpy()


def only(report: Report, kind: str) -> Finding:
    assert report.status == "pipe", report
    (finding,) = [finding for finding in report.findings if finding.kind == kind]
    return finding


def test_a_kernel_with_all_its_flags_is_right(device: Device, folder: Path) -> None:
    report, result = launch(device, folder, ADD)
    report.raise_for_status()
    assert report.pipes == "checked"
    np.testing.assert_array_equal(result[:128], np.arange(128) + 1)


@pytest.mark.parametrize(
    ("left_out", "pipes", "lines"),
    [
        ("IN", ("MTE2", "V"), (12, 14)),
        ("OUT", ("V", "MTE3"), (14, 16)),
    ],
)
def test_a_missing_flag_is_named(
    device: Device, folder: Path, left_out: str, pipes: tuple[str, str], lines: tuple[int, int]
) -> None:
    report, result = launch(device, folder, ADD, f"-DLEAVE_OUT={left_out}")
    np.testing.assert_array_equal(result[:128], np.arange(128) + 1, "in order the values are right")
    finding = only(report, "unordered")
    assert finding.missing == "SetFlag<HardEvent::{0}_{1}> and WaitFlag<HardEvent::{0}_{1}>".format(*pipes)
    assert finding.first is not None
    assert finding.second is not None
    assert (finding.first["pipe"], finding.second["pipe"]) == pipes
    assert (finding.first["line"], finding.second["line"]) == lines
    assert finding.first["file"] == "kernel.cpp"
    with pytest.raises(Exception, match="SK0928"):
        report.raise_for_status()
    quiet, _ = launch(device, folder, ADD, f"-DLEAVE_OUT={left_out}", pipes="in-order")
    assert quiet.ok
    assert quiet.findings == ()


def test_the_next_round_must_wait_for_the_last(device: Device, folder: Path) -> None:
    report, _ = launch(device, folder, ADD, "-DLEAVE_OUT=AGAIN")
    pairs = {(finding.first["what"], finding.second["what"]) for finding in report.findings}  # type: ignore[index]
    assert ("vadds", "copy_gm_to_ubuf") in pairs, "the tensor is overwritten while it is read"
    assert ("copy_ubuf_to_gm", "vadds") in pairs, "the result is overwritten while it is moved out"
    assert ("copy_gm_to_ubuf", "copy_gm_to_ubuf") in pairs


BARRIER = """
static void body() {
    float *a = (float *)0;
    vector_dup(a, 1, 1, 1, 1, 8, 0);
    MIDDLE;
    vadds(a + 64, a, 1, 1, 1, 1, 8, 8);
}
"""


def test_barriers_of_the_vector_unit_are_put_in_by_the_compiler(device: Device, folder: Path) -> None:
    report, _ = launch(device, folder, BARRIER, "-DMIDDLE=")
    report.raise_for_status()
    report, _ = launch(device, folder, BARRIER, "-DMIDDLE=", auto_sync=False)
    assert only(report, "unordered").missing == "PipeBarrier<PIPE_V>"
    report, _ = launch(device, folder, BARRIER, "-DMIDDLE=pipe_barrier(PIPE_V)", auto_sync=False)
    report.raise_for_status()


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ("set_flag(PIPE_MTE2, PIPE_V, EVENT_ID3);", "event-left", "event 3 from MTE2 to V"),
        (
            "set_flag(PIPE_V, PIPE_S, EVENT_ID3); set_flag(PIPE_V, PIPE_S, EVENT_ID3);"
            "wait_flag(PIPE_V, PIPE_S, EVENT_ID3); wait_flag(PIPE_V, PIPE_S, EVENT_ID3);",
            "event-doubled",
            "raised already",
        ),
        ("vcadd((float *)256, (float *)0, 1, 1, 1, 8, 0);", "never-written", "reads bytes 0 to 256 of UB"),
        (
            "vector_dup((float *)0, 1, 4, 1, 1, 8, 0); vadds((float *)128, (float *)0, 1, 1, 1, 1, 8, 8);",
            "overlap",
            "repeat 0 reads and writes bytes that overlap in part",
        ),
        (
            "vector_dup((float *)0, 1, 4, 1, 1, 8, 0); vadds((float *)256, (float *)0, 1, 3, 1, 1, 8, 8);",
            "overlap",
            "repeat 1 reads what repeat 0 wrote",
        ),
    ],
)
def test_broken_rules_are_found(device: Device, folder: Path, body: str, kind: str, words: str) -> None:
    report, _ = launch(device, folder, f"static void body() {{ {body} }}")
    finding = only(report, kind)
    assert words in finding.text
    assert finding.second is not None
    assert finding.second["line"] == 1
    quiet, _ = launch(device, folder, f"static void body() {{ {body} }}", pipes="in-order")
    assert quiet.ok


def test_an_event_number_out_of_range_ends_the_run(device: Device, folder: Path) -> None:
    report, _ = launch(device, folder, "static void body() { set_flag(PIPE_V, PIPE_S, 8); }", pipes="in-order")
    assert report.status == "api"
    assert "event id 8; ids are 0 to 7" in report.message


QUEUES = """
using namespace AscendC;
static void body() {
    TPipe pipe;
    TQue<TPosition::VECIN, 2> in;
    TQue<TPosition::VECOUT, 2> out;
    pipe.InitBuffer(in, DEPTH, 256);
    pipe.InitBuffer(out, DEPTH, 256);
    GlobalTensor<float> from, to;
    from.SetGlobalBuffer((float *)slot(0), 256);
    to.SetGlobalBuffer((float *)slot(1), 256);
    for (int round = 0; round < 4; ++round) {
        LocalTensor<float> x = in.AllocTensor<float>();
        DataCopy(x, from[64 * round], 64);
        in.EnQue(x);
        x = DEQUE; // line 16
        LocalTensor<float> y = out.AllocTensor<float>();
        Adds(y, x, 1, 64); // line 18
        out.EnQue(y);
        in.FreeTensor(x);
        y = out.DeQue<float>();
        DataCopy(to[64 * round], y, 64);
        out.FreeTensor(y);
    }
    LEFT;
}
"""


@pytest.mark.parametrize("depth", [1, 2])
def test_queues_order_pipes(device: Device, folder: Path, depth: int) -> None:
    flags = (f"-DDEPTH={depth}", "-DDEQUE=in.DeQue<float>()", "-DLEFT=")
    report, result = launch(device, folder, QUEUES, *flags)
    report.raise_for_status()
    np.testing.assert_array_equal(result, np.arange(256) + 1)


def test_a_tensor_that_was_not_dequeued_is_not_ordered(device: Device, folder: Path) -> None:
    flags = ("-DDEPTH=2", "-DDEQUE=(round == 3 ? x : in.DeQue<float>())", "-DLEFT=")
    report, _ = launch(device, folder, QUEUES, *flags)
    finding = only(report, "unordered")
    assert "VECIN queue" in finding.text
    assert finding.missing is not None
    assert "MTE2_V" in finding.missing
    assert finding.second is not None
    assert finding.second["line"] == 18
    assert "never dequeued" in only(report, "queue-left").text


#: Two pipes in turn: the second fills by copies what the first read by copies, at the same place.
TWO_PIPES = """
using namespace AscendC;
static void part(GlobalTensor<float> from, GlobalTensor<float> to) {
    TPipe pipe;
    TQueBind<TPosition::VECIN, TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 1, 256);
    LocalTensor<float> x = queue.AllocTensor<float>();
    DataCopy(x, from, 64);
    queue.EnQue(x);
    x = queue.DeQue<float>();
    DataCopy(to, x, 64);
    FREE;
    END;
}
static void body() {
    GlobalTensor<float> from, to;
    from.SetGlobalBuffer((float *)slot(0), 256);
    to.SetGlobalBuffer((float *)slot(1), 256);
    for (int round = 0; round < 4; ++round) { part(from[64 * round], to[64 * round]); }
}
"""


@pytest.mark.parametrize("end", ["", "pipe.Destroy()", "pipe.Reset()"])
@pytest.mark.parametrize("fused", [(), ("-D__ASCENDC_ENABLE_SUPER_KERNEL__",)], ids=["alone", "fused"])
@pytest.mark.parametrize("mode", ["checked", "reordered"])
def test_the_end_of_a_pipe_waits_for_its_buffers(
    device: Device, folder: Path, end: str, fused: tuple[str, ...], mode: str
) -> None:
    flags = ("-DFREE=queue.FreeTensor(x)", f"-DEND={end}", *fused)
    for seed in range(4 if mode == "reordered" else 1):
        report, result = launch(device, folder, TWO_PIPES, *flags, pipes=mode, seed=seed)
        report.raise_for_status()
        np.testing.assert_array_equal(result, np.arange(256))


def test_the_end_of_a_pipe_waits_for_all_pipes_unless_it_is_fused(device: Device, folder: Path) -> None:
    """A tensor that was not given back is nobody's to wait for."""
    flags = ("-DFREE=", "-DEND=")
    launch(device, folder, TWO_PIPES, *flags)[0].raise_for_status()
    report, _ = launch(device, folder, TWO_PIPES, *flags, "-D__ASCENDC_ENABLE_SUPER_KERNEL__")
    assert report.status == "pipe"
    assert any("MTE3_MTE2" in (finding.missing or "") for finding in report.findings)


def test_a_queue_that_is_made_anew_still_had_a_tensor(device: Device, folder: Path) -> None:
    source = TWO_PIPES.replace("x = queue.DeQue<float>();", "SetFlag<HardEvent::MTE2_MTE3>(0);").replace(
        "DataCopy(to, x, 64);", "WaitFlag<HardEvent::MTE2_MTE3>(0); DataCopy(to, x, 64);"
    )
    report, _ = launch(device, folder, source, "-DFREE=", "-DEND=")
    left = only(report, "queue-left")
    assert left.second is not None
    assert left.second["line"] == 9


EVENT_IDS = """
using namespace AscendC;
static void body() {
    TPipe pipe;
    auto note = [at = 0](int id) mutable { ((float *)slot(1))[at++] = id; };
    note(pipe.FetchEventID(HardEvent::V_MTE3));
    note(pipe.AllocEventID<HardEvent::V_MTE3>());
    note(pipe.FetchEventID<HardEvent::V_MTE3>());
    note(pipe.AllocEventID(HardEvent::V_MTE3));
    note(pipe.AllocEventID<HardEvent::V_MTE2>());
    pipe.ReleaseEventID<HardEvent::V_MTE3>(0);
    note(pipe.AllocEventID<HardEvent::V_MTE3>());
    note(pipe.AllocEventID<HardEvent::V_MTE3>());
    note(pipe.AllocEventID<HardEvent::M_MTE1>());
    pipe.Reset();
    note(pipe.FetchEventID<HardEvent::V_MTE3>());
    note(pipe.FetchEventID<HardEvent::M_MTE1>());
    for (int i = 0; i < MORE; ++i) {
        note(pipe.AllocEventID<HardEvent::V_MTE3>()); // line 19
    }
}
"""


@pytest.mark.parametrize(("kind", "cube_event"), [("0:1", 0), ("1:0", 3)])
def test_ids_of_events_are_the_first_that_are_free(device: Device, folder: Path, kind: str, cube_event: int) -> None:
    kernel = sim_kernels.kernel(device, folder, EVENT_IDS, kind, ("-DMORE=8",))
    result = device.buffer(np.zeros(32, dtype=np.float32))
    kernel.launch([device.buffer(64), result], block_dim=1, pipes="checked").raise_for_status()
    expected = [0, 0, 1, 1, 0, 0, 2, cube_event, 0, cube_event, *range(8)]
    np.testing.assert_array_equal(result.numpy()[: len(expected)], expected)


def test_a_ninth_id_of_an_event_is_a_mistake(device: Device, folder: Path) -> None:
    report, _ = launch(device, folder, EVENT_IDS, "-DMORE=9", pipes="in-order")
    assert report.status == "api"
    assert "AllocEventID: all 8 ids of the event are taken; ReleaseEventID is missing" in report.message
    assert "kernel.cpp:19" in report.message


def test_kernels_without_a_pipe_begin_again(device: Device, folder: Path) -> None:
    """The pipe that stands in for theirs outlives them, so a ninth id says nothing about this one."""
    source = """
static void body() {
    for (int i = 0; i < 9; ++i) {
        ((float *)slot(1))[i] = AscendC::GetTPipePtr()->AllocEventID<AscendC::HardEvent::V_MTE3>();
    }
}
"""
    report, result = launch(device, folder, source, pipes="in-order")
    report.raise_for_status()
    np.testing.assert_array_equal(result[:9], [*range(8), 0])


def test_an_id_that_no_event_has_is_not_given_back(device: Device, folder: Path) -> None:
    source = "static void body() { AscendC::TPipe pipe; pipe.ReleaseEventID<AscendC::HardEvent::V_MTE3>(8); }"
    report, _ = launch(device, folder, source, pipes="in-order")
    assert report.status == "api"
    assert "ReleaseEventID: event id 8; ids are 0 to 7" in report.message


def test_a_pipe_of_a_cube_core_keeps_three_events_up(device: Device, folder: Path) -> None:
    """Whoever feeds the cube unit waits for them and raises them again."""
    source = """
static void body() {
    AscendC::TPipe pipe;
    for (int id = 0; id < 3; ++id) { wait_flag(PIPE_M, PIPE_MTE1, id); }
    for (int id = 0; id < RAISED; ++id) { set_flag(PIPE_M, PIPE_MTE1, id); }
    if (MORE) { set_flag(PIPE_M, PIPE_MTE1, 1); }
}
"""

    def launched(*flags: str, pipes: str = "checked") -> Report:
        return sim_kernels.kernel(device, folder, source, "1:0", flags).launch([], block_dim=1, pipes=pipes)

    launched("-DRAISED=3", "-DMORE=0").raise_for_status()
    assert "M_MTE1" in str(only(launched("-DRAISED=3", "-DMORE=1"), "event-doubled"))
    never = launched("-DRAISED=2", "-DMORE=0", pipes="in-order")
    assert never.status == "api"
    assert "WaitFlag from M to MTE1, event 2, without a SetFlag: it never returns (kernel.cpp:3)" in never.message


SCALAR = """
using namespace AscendC;
static void body() {
    LocalTensor<float> x(TPosition::VECCALC, (float *)sk_rt_core()->unifiedBuffer, 64);
    for (int i = 0; i < 64; ++i) { x.SetValue(i, 1); }
    Adds(x, x, 2, 64);
    const float sum = x.GetValue(0);
    GlobalTensor<float> to;
    to.SetGlobalBuffer((float *)slot(1), 256);
    to.SetValue(0, sum);
}
"""


def test_scalar_accesses_are_ordered_by_the_compiler_or_by_flags(device: Device, folder: Path) -> None:
    report, result = launch(device, folder, SCALAR)
    report.raise_for_status()
    assert result[0] == 3
    report, _ = launch(device, folder, SCALAR, auto_sync=False)
    missing = {finding.missing for finding in report.findings}
    assert any("S_V" in each for each in missing if each)
    assert any("V_S" in each for each in missing if each)


#: The same through plain pointers: only the hooks in front of loads and stores tell of them.
PLAIN = """
static void body() {
    float *x = (float *)sk_rt_core()->unifiedBuffer;
    for (int i = 0; i < 64; ++i) { x[i] = 1; } // line 4
    vadds(x, x, 2, 1, 1, 1, 8, 8);
    ((float *)slot(1))[0] = x[0]; // line 6
}
"""


def test_plain_loads_and_stores_tell_by_their_hooks(device: Device, folder: Path) -> None:
    hooks = (*sim_kernels.hooks(), "-g")
    report, result = launch(device, folder, PLAIN, *hooks)
    report.raise_for_status()
    assert result[0] == 3
    report, _ = launch(device, folder, PLAIN, *hooks, auto_sync=False)
    found = {finding.missing: finding for finding in report.findings}
    for pipes, lines in (("S_V", (4, 5)), ("V_S", (5, 6))):
        finding = found[f"SetFlag<HardEvent::{pipes}> and WaitFlag<HardEvent::{pipes}>"]
        assert finding.first is not None
        assert finding.second is not None
        assert (finding.first["line"], finding.second["line"]) == lines
        assert finding.first["file"].endswith("kernel.cpp")
    for seed in range(10):
        assert launch(device, folder, PLAIN, *hooks, pipes="reordered", seed=seed)[1][0] == 3
    seeds = (launch(device, folder, PLAIN, *hooks, pipes="reordered", seed=seed, auto_sync=False) for seed in range(20))
    assert any(result[0] != 3 for _, result in seeds)


def test_a_load_behind_a_buffer_ends_the_run(device: Device, folder: Path) -> None:
    source = "static void body() { ((float *)slot(1))[0] = ((float *)slot(0))[256]; }"
    report, _ = launch(device, folder, source, *sim_kernels.hooks(), "-g")
    assert report.status == "api"
    assert "a scalar load of 4 bytes of GM at 0 bytes past the end of `in`" in report.message
    assert report.failure is not None
    assert report.failure["line"] == 1


#: Two products of 16x16 on the same results: 32, then 64. Results go out by rows.
CUBE = """
static void body() {
    half *a = (half *)sk_rt_core()->l0a, *b = (half *)sk_rt_core()->l0b;
    float *c = (float *)sk_rt_core()->l0c;
    create_ca_matrix(a, (1ull << 16 | FRACTALS), half(1));
    create_cb_matrix(b, (1ull << 16 | FRACTALS), half(2));
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    sk_rt_set_register(SK_REGISTER_ND_PARA, 1);
    for (int round = 0; round < 2; ++round) {
        mad(c, a, b, 16 * FRACTALS, 16, 16 * FRACTALS, MAD, 0, 0, round == 0); // line 11
        if (OUT) { copy_matrix_cc_to_gm((float *)slot(1) + 128 * round, c, 0, 8, 16, 8, 16, FIX, NoQuant, 0, 0, 1); }
    }
}
"""


def cube(device: Device, folder: Path, mad: int, fix: int, out: int = 1, fractals: int = 1, **options: Any) -> Any:
    flags = (f"-DMAD={mad}", f"-DFIX={fix}", f"-DOUT={out}", f"-DFRACTALS={fractals}")
    kernel = sim_kernels.kernel(device, folder, CUBE, "1:0", flags)
    result = device.buffer(np.zeros(256, np.float32))
    report = kernel.launch([result, result], block_dim=1, **{"pipes": "checked", **options})
    return report, result.numpy()


def test_flags_of_results_order_products_and_moves(device: Device, folder: Path) -> None:
    wanted = np.repeat(np.float32([32, 64]), 128)
    report, result = cube(device, folder, 3, 3)
    report.raise_for_status()
    np.testing.assert_array_equal(result, wanted)
    for mad, fix in ((0, 0), (3, 0), (0, 3)):
        report, _ = cube(device, folder, mad, fix)
        pairs = {(finding.first["pipe"], finding.second["pipe"]) for finding in report.findings if finding.first}
        assert {("M", "FIX"), ("FIX", "M")} <= pairs, "both must use them"
    for seed in range(10):
        np.testing.assert_array_equal(cube(device, folder, 3, 3, pipes="reordered", seed=seed)[1], wanted)
    seeds = (cube(device, folder, 0, 0, pipes="reordered", seed=seed)[1] for seed in range(20))
    assert any(not np.array_equal(result, wanted) for result in seeds)


def test_flags_of_results_that_never_change(device: Device, folder: Path) -> None:
    finding = only(cube(device, folder, 2, 3)[0], "unit-flag")
    assert "waits for the flags of bytes 0 to 512 of L0C, which no multiplication" in finding.text
    finding = only(cube(device, folder, 3, 2)[0], "unit-flag")
    assert "still raised" in finding.text
    assert finding.first is not None
    assert finding.second is not None
    assert (finding.first["line"], finding.second["line"]) == (11, 11)


def test_what_pads_blocks_and_fractals_need_not_be_written(device: Device, folder: Path) -> None:
    source = """
    static void body() {
        if (ASCEND_IS_AIC) {
            half *a = (half *)sk_rt_core()->l0a;
            create_cbuf_matrix((half *)0, 1ull << 16 | 1, half(1)); // 32 bytes of L1
            set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
            wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
            load_cbuf_to_ca(a, (half *)FROM, 0, 1, 1, 0, 0, 0, 0); // 512 of them
            return;
        }
        set_vector_mask(0, 1);
        vector_dup((float *)0, 1, 1, 1, 1, 8, 0); // 4 bytes of UB
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        copy_ubuf_to_gm((float *)slot(1), (float *)0, 0, 1, BLOCKS, 0, 0);
    }
    """
    for start, blocks, found in ((0, 1, []), (512, 1, ["L1"]), (0, 2, ["UB"])):
        kernel = sim_kernels.kernel(device, folder, source, "1:1", (f"-DFROM={start}", f"-DBLOCKS={blocks}"))
        report = kernel.launch([device.buffer(64), device.buffer(64)], block_dim=1, pipes="checked")
        told = [finding.text for finding in report.findings]
        assert [finding.kind for finding in report.findings] == ["never-written"] * len(found), told
        assert all(memory in text for memory, text in zip(found, told))


def test_only_small_products_need_a_barrier(device: Device, folder: Path) -> None:
    report, _ = cube(device, folder, 0, 0, out=0)
    assert only(report, "unordered").missing == "PipeBarrier<PIPE_M>"
    cube(device, folder, 0, 0, out=0, fractals=4)[0].raise_for_status()


def test_operators_do_not_see_what_others_left(device: Device, folder: Path) -> None:
    source = """
    static void body() {
        SK_OP_BEGIN(0);
        vector_dup((float *)0, 1, 1, 1, 1, 8, 0);
        SK_OP_END(0);
        SK_OP_BEGIN(1);
        vcadd((float *)256, (float *)0, 1, 1, 1, 8, 0);
        SK_OP_END(1);
    }
    """
    report, _ = launch(device, folder, source, op_names=["first", "second"])
    finding = only(report, "never-written")
    assert "since the operator began" in finding.text
    assert finding.second is not None
    assert finding.second["op"] == "op 1 `second`"


@pytest.mark.parametrize(("left_out", "is_right"), [("NONE", True), ("IN", False), ("OUT", False), ("AGAIN", False)])
def test_delayed_pipes_show_what_is_not_ordered(device: Device, folder: Path, left_out: str, is_right: bool) -> None:
    results = []
    for seed in range(20):
        flags = () if left_out == "NONE" else (f"-DLEAVE_OUT={left_out}",)
        report, result = launch(device, folder, ADD, *flags, pipes="reordered", seed=seed)
        assert (report.status, report.pipes) == ("ok", "reordered")
        results.append(np.array_equal(result[:128], np.arange(128) + 1))
    assert all(results) is is_right


def test_delayed_pipes_follow_queues_and_scalar_accesses(device: Device, folder: Path) -> None:
    right = ("-DDEPTH=2", "-DDEQUE=in.DeQue<float>()", "-DLEFT=")
    wrong = ("-DDEPTH=2", "-DDEQUE=(round == 3 ? x : in.DeQue<float>())", "-DLEFT=")
    expected = np.arange(256) + 1
    for seed in range(10):
        _, result = launch(device, folder, QUEUES, *right, pipes="reordered", seed=seed)
        np.testing.assert_array_equal(result, expected)
        _, result = launch(device, folder, SCALAR, pipes="reordered", seed=seed)
        assert result[0] == 3
    seeds = (launch(device, folder, QUEUES, *wrong, pipes="reordered", seed=seed)[1] for seed in range(20))
    assert any(not np.array_equal(result, expected) for result in seeds)
    seeds = (launch(device, folder, SCALAR, pipes="reordered", seed=seed, auto_sync=False)[1] for seed in range(20))
    assert any(result[0] != 3 for result in seeds)


def test_instructions_are_listed_with_the_times_of_a_model(device: Device, folder: Path) -> None:
    report, _ = launch(device, folder, ADD, pipes="in-order", events="instructions")
    assert [(work.name, work.pipe, work.bytes) for work in report.instructions[:3]] == [
        ("copy_gm_to_ubuf", "MTE2", 256),
        ("vadds", "V", 256),
        ("copy_ubuf_to_gm", "MTE3", 256),
    ]
    ends = [work.start + work.cycles for work in report.instructions]
    assert all(work.start >= end for work, end in zip(report.instructions[1:], ends)), "flags order all of them"
    free, _ = launch(device, folder, ADD, "-DLEAVE_OUT=AGAIN", pipes="in-order", events="instructions")
    assert free.instructions[3].start < ends[2], "the next copy runs beside the rest of the round"
    assert free.instructions[0].line == 12
    assert launch(device, folder, ADD, pipes="in-order")[0].instructions == ()


def test_a_trace_has_a_track_per_pipe(device: Device, folder: Path) -> None:
    """Two cores, of which the second waits for the first between two bursts of instructions."""
    source = """
    static void body() {
        float *in = (float *)0, *out = (float *)4096;
        for (int round = 0; round < 2; ++round) {
            copy_gm_to_ubuf(in, (float *)slot(0) + 64 * round, 0, 1, 8, 0, 0);
            vadds(out, in, 1, 1, 1, 1, 8, 8);
            if (round == 0) {
                ffts_cross_core_sync(PIPE_MTE3, AscendC::GetffstMsg(0, 5));
                wait_flag_dev(5);
            }
        }
    }
    """
    kernel = sim_kernels.kernel(device, folder, source, "0:1")
    data = device.buffer(np.zeros(256, np.float32))
    report = kernel.launch([data, data], block_dim=2, events="instructions", op_names=["body"], delays={"AIV0": 50})
    report.raise_for_status()
    (process,) = trace_reader.read(report.traces().to_bytes())
    assert process.tracks == [f"{core}{pipe}" for core in ("AIV0", "AIV1") for pipe in ("", " MTE2", " V")]
    shown = {track: [slice.name for slice in process.slices if slice.track == track] for track in process.tracks}
    assert shown["AIV1 MTE2"] == ["copy_gm_to_ubuf"] * 2 and shown["AIV0 V"] == ["vadds"] * 2
    (wait,) = [slice for slice in process.of_kind("wait") if slice.track == "AIV1"]
    for track in ("AIV1 MTE2", "AIV1 V"):
        first, second = (slice for slice in process.slices if slice.track == track)
        assert first.end <= wait.start and wait.end <= second.start and first.start < first.end
    copy, add = (next(slice for slice in process.slices if slice.track == f"AIV1 {pipe}") for pipe in ("MTE2", "V"))
    assert add.start < copy.end, "nothing orders the two"
    assert "256 bytes" in copy.arguments["detail"] and any("rough model" in note for note in process.notes)
