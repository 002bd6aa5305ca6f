"""Mistakes that people make in kernels, each beside the right form, and the tool that finds it.

One source holds both: what stands in `WRONG(...)` is only in the wrong one, what stands in `RIGHT(...)` only in the
right one. `docs/simulator.md` shows this list.
"""

from __future__ import annotations

from dataclasses import dataclass, field

AIV, AIC, MIX = "KERNEL_TYPE_AIV_ONLY", "KERNEL_TYPE_AIC_ONLY", "KERNEL_TYPE_MIX_AIC_1_2"

#: Elements of a parameter.
N = 512

_HEAD = """#include "kernel_operator.h"
using namespace AscendC;
#if IS_WRONG
#define WRONG(...) __VA_ARGS__
#define RIGHT(...)
#else
#define WRONG(...)
#define RIGHT(...) __VA_ARGS__
#endif
constexpr int N = 512;
#define FLAG(a, id) SetFlag<HardEvent::a>(EVENT_ID##id); WaitFlag<HardEvent::a>(EVENT_ID##id);
#define FLUSH(p) dcci((__gm__ int32_t *)(p), SINGLE_CACHE_LINE, CACHELINE_OUT)
#define FLUSH_ALL dcci((__gm__ int32_t *)0, ENTIRE_DATA_CACHE, CACHELINE_OUT)
"""

_USES = """    GlobalTensor<int32_t> in, out;
    in.SetGlobalBuffer((__gm__ int32_t *)x, N);
    out.SetGlobalBuffer((__gm__ int32_t *)y, N);
    const int core = (int)GetBlockIdx(), cores = (int)GetBlockNum(), part = N / cores, first = part * core;
    auto *source = (__gm__ int32_t *)x;
    auto *result = (__gm__ int32_t *)y;
    auto *scratch = (__gm__ int32_t *)workspace;
    (void)core; (void)cores; (void)part; (void)first; (void)source; (void)result; (void)scratch;
"""
_BUFFERS = """    TPipe pipe;
    TBuf<TPosition::VECCALC> first_buffer, second_buffer;
    pipe.InitBuffer(first_buffer, N * 4);
    pipe.InitBuffer(second_buffer, N * 4);
    LocalTensor<int32_t> a = first_buffer.Get<int32_t>(), b = second_buffer.Get<int32_t>();
"""
_QUEUES = """    TPipe pipe;
    TQue<TPosition::VECIN, 1> ins;
    TQue<TPosition::VECOUT, 1> outs;
    pipe.InitBuffer(ins, 1, N * 4);
    pipe.InitBuffer(outs, 1, N * 4);
"""


@dataclass(frozen=True)
class Op:
    """An operator of a planted mistake."""

    name: str
    body: str
    kernel_type: str = AIV
    blocks: int = 1
    stream: int = 0
    sends: tuple[int, ...] = ()
    receives: tuple[int, ...] = ()
    #: Events that only the right one has.
    right_sends: tuple[int, ...] = ()
    right_receives: tuple[int, ...] = ()

    def source(self) -> str:
        """C++ of both forms."""
        head = f'extern "C" __global__ __aicore__ void {self.name}(GM_ADDR x, GM_ADDR y, GM_ADDR workspace)'
        return f"{_HEAD}{head}\n{{\n{_USES}{self.body}\n}}\n"

    def events(self, *, wrong: bool) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What it sends and receives."""
        more = ((), ()) if wrong else (self.right_sends, self.right_receives)
        return self.sends + more[0], self.receives + more[1]


@dataclass(frozen=True)
class Planted:
    """A mistake and its right form."""

    name: str
    #: events, pipes, caches, cores, queues, bounds, early start, streams, workspaces, atomics, masks
    kind: str
    #: What is wrong, for the table.
    what: str
    tool: str
    error_id: str
    ops: tuple[Op, ...]
    options: str = ""
    #: Parameters that are the memory of another one.
    shared: dict[str, str] = field(default_factory=dict)


def one(name: str, kind: str, what: str, tool: str, error_id: str, body: str, **op: object) -> Planted:
    """A mistake inside one operator."""
    return Planted(name, kind, what, tool, error_id, (Op(name.replace("-", "_"), body, **op),))  # type: ignore[arg-type]


MOVE_IN = "DataCopy(a, in, N);\n"
TO_V = "FLAG(MTE2_V, 0)\n"
ADD = "Adds(b, a, (int32_t)1, N);\n"
TO_OUT = "FLAG(V_MTE3, 1)\n"
MOVE_OUT = "DataCopy(out, b, N);\n"
ROWS = """    for (int i = first; i < first + part; ++i) { result[i] = source[i] + 1; }
"""
QUEUED = """    LocalTensor<int32_t> t = ins.AllocTensor<int32_t>();
    DataCopy(t, in, N);
    ins.EnQue(t);
    t = ins.DeQue<int32_t>();
    LocalTensor<int32_t> o = outs.AllocTensor<int32_t>();
    Adds(o, t, (int32_t)1, N);
    outs.EnQue(o);
    o = outs.DeQue<int32_t>();
    DataCopy(out, o, N);
    outs.FreeTensor(o);
    ins.FreeTensor(t);
"""

PLANTED = [
    # -- events --------------------------------------------------------------------------------------------------------
    one(
        "no-wait-for-the-move-in",
        "events",
        "a vector instruction reads what a move has not brought yet",
        "pipe",
        "SK0928",
        _BUFFERS + MOVE_IN + "RIGHT(FLAG(MTE2_V, 0))\n" + ADD + TO_OUT + MOVE_OUT,
    ),
    one(
        "no-wait-for-the-vector-unit",
        "events",
        "a move out takes what the vector unit has not computed yet",
        "pipe",
        "SK0928",
        _BUFFERS + MOVE_IN + TO_V + ADD + "RIGHT(FLAG(V_MTE3, 1))\n" + MOVE_OUT,
    ),
    one(
        "the-next-round-comes-too-soon",
        "events",
        "a move in overwrites what a move out still reads",
        "pipe",
        "SK0928",
        _BUFFERS
        + """    for (int i = 0; i < 2; ++i) {
        DataCopy(b, in, N);
        FLAG(MTE2_MTE3, 0)
        DataCopy(out, b, N);
        RIGHT(FLAG(MTE3_MTE2, 1))
    }
""",
    ),
    one(
        "the-wrong-pair-of-pipes",
        "events",
        "a flag between two other pipes than those that share memory",
        "pipe",
        "SK0928",
        _BUFFERS + MOVE_IN + "WRONG(FLAG(MTE2_MTE3, 0)) RIGHT(FLAG(MTE2_V, 0))\n" + ADD + TO_OUT + MOVE_OUT,
    ),
    one(
        "the-wait-stands-before-the-move",
        "events",
        "the flag is set and waited for before the move it is for",
        "pipe",
        "SK0928",
        _BUFFERS + "WRONG(FLAG(MTE2_V, 0))\n" + MOVE_IN + "RIGHT(FLAG(MTE2_V, 0))\n" + ADD + TO_OUT + MOVE_OUT,
    ),
    one(
        "an-event-without-a-wait",
        "events",
        "an event is still raised at the end",
        "pipe",
        "SK0937",
        _BUFFERS
        + MOVE_IN
        + TO_V
        + ADD
        + TO_OUT
        + MOVE_OUT
        + """
    SetFlag<HardEvent::MTE3_V>(EVENT_ID2);
    RIGHT(WaitFlag<HardEvent::MTE3_V>(EVENT_ID2);)
""",
    ),
    one(
        "an-event-raised-twice",
        "events",
        "an event is raised that is raised already",
        "pipe",
        "SK0936",
        _BUFFERS
        + MOVE_IN
        + """    SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
    RIGHT(WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);)
    SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
"""
        + ADD
        + TO_OUT
        + MOVE_OUT,
    ),
    one(
        "a-wait-without-an-event",
        "events",
        "an event is waited for that nobody raises",
        "bounds",
        "SK0915",
        _BUFFERS
        + MOVE_IN
        + "RIGHT(SetFlag<HardEvent::MTE2_V>(EVENT_ID0);)\nWaitFlag<HardEvent::MTE2_V>(EVENT_ID0);\n"
        + ADD
        + TO_OUT
        + MOVE_OUT,
    ),
    one(
        "another-event-id",
        "events",
        "set and wait name two events",
        "bounds",
        "SK0915",
        _BUFFERS
        + MOVE_IN
        + """    SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
    WRONG(WaitFlag<HardEvent::MTE2_V>(EVENT_ID1);) RIGHT(WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);)
"""
        + ADD
        + TO_OUT
        + MOVE_OUT,
    ),
    # -- pipes ---------------------------------------------------------------------------------------------------------
    one(
        "two-moves-to-the-same-bytes",
        "pipes",
        "two moves of one pipe to the same bytes without a barrier",
        "pipe",
        "SK0928",
        _BUFFERS
        + MOVE_IN
        + "RIGHT(PipeBarrier<PIPE_MTE2>();)\n"
        + "DataCopy(a, in[N / 2], N / 2);\n"
        + TO_V
        + ADD
        + TO_OUT
        + MOVE_OUT,
    ),
    one(
        "no-barrier-between-vector-instructions",
        "pipes",
        "a vector instruction reads what the one before it computes",
        "autosync",
        "SK0928",
        _BUFFERS
        + MOVE_IN
        + TO_V
        + "Adds(a, a, (int32_t)1, N);\nRIGHT(PipeBarrier<PIPE_V>();)\n"
        + ADD
        + TO_OUT
        + MOVE_OUT,
    ),
    one(
        "a-scalar-reads-what-is-computed",
        "pipes",
        "the scalar unit reads a result without waiting for the vector unit",
        "autosync",
        "SK0928",
        _BUFFERS
        + MOVE_IN
        + TO_V
        + ADD
        + TO_OUT
        + "RIGHT(FLAG(V_S, 2))\n"
        + "if (b.GetValue(0) == 12345) { DataCopy(out, a, N); }\n"
        + MOVE_OUT,
    ),
    one(
        "operands-overlap-in-part",
        "pipes",
        "operands of an instruction overlap in part",
        "pipe",
        "SK0934",
        _BUFFERS
        + MOVE_IN
        + TO_V
        + "WRONG(Adds(a[8], a, (int32_t)1, N - 8);) RIGHT(Adds(a, a, (int32_t)1, N);)\nPipeBarrier<PIPE_V>();\n"
        + ADD
        + TO_OUT
        + MOVE_OUT,
    ),
    one(
        "a-move-reads-what-the-scalar-unit-stores",
        "pipes",
        "a move in reads GM that the scalar unit has just written",
        "pipe",
        "SK0928",
        _BUFFERS
        + """    for (int i = 0; i < 8; ++i) { scratch[i] = source[i]; }
    FLUSH(scratch);
    RIGHT(FLAG(S_MTE2, 0))
    GlobalTensor<int32_t> kept;
    kept.SetGlobalBuffer(scratch, 8);
    DataCopy(a, kept, 8);
    FLAG(MTE2_MTE3, 1)
    DataCopy(out, a, 8);
""",
    ),
    # -- queues --------------------------------------------------------------------------------------------------------
    one(
        "no-deque",
        "queues",
        "a tensor is used without being dequeued",
        "pipe",
        "SK0928",
        _QUEUES + QUEUED.replace("    t = ins.DeQue<int32_t>();", "    RIGHT(t = ins.DeQue<int32_t>();)"),
    ),
    one(
        "never-enqueued",
        "queues",
        "a tensor is dequeued that nobody enqueued",
        "bounds",
        "SK0915",
        _QUEUES + QUEUED.replace("    ins.EnQue(t);", "    RIGHT(ins.EnQue(t);)"),
    ),
    one(
        "left-in-the-queue",
        "queues",
        "a tensor stays in its queue",
        "pipe",
        "SK0938",
        _QUEUES
        + QUEUED
        + """    LocalTensor<int32_t> last = ins.AllocTensor<int32_t>();
    DataCopy(last, in, N);
    ins.EnQue(last);
    RIGHT(last = ins.DeQue<int32_t>(); ins.FreeTensor(last);)
""",
    ),
    one(
        "freed-too-often",
        "queues",
        "a tensor is allocated that was never freed",
        "bounds",
        "SK0915",
        _QUEUES
        + "for (int i = 0; i < 2; ++i) {\n"
        + QUEUED.replace(
            "    ins.FreeTensor(t);", "    RIGHT(ins.FreeTensor(t);) WRONG(if (i > 0) { ins.FreeTensor(t); })"
        )
        + "}\n",
    ),
    # -- caches --------------------------------------------------------------------------------------------------------
    one(
        "not-flushed-for-the-move",
        "caches",
        "a move reads what is still in the data cache",
        "cache",
        "SK0929",
        _BUFFERS
        + """    for (int i = 0; i < 8; ++i) { scratch[i] = source[i]; }
    RIGHT(FLUSH(scratch);)
    FLAG(S_MTE2, 0)
    GlobalTensor<int32_t> kept;
    kept.SetGlobalBuffer(scratch, 8);
    DataCopy(a, kept, 8);
    FLAG(MTE2_MTE3, 1)
    DataCopy(out, a, 8);
""",
    ),
    one(
        "not-flushed-for-another-core",
        "caches",
        "another core reads what is still in the data cache",
        "cache",
        "SK0929",
        """    scratch[16 * core] = source[core];
    RIGHT(FLUSH(scratch + 16 * core);)
    SyncAll<true>();
    const int other = (core + 1) % cores;
    RIGHT(FLUSH(scratch + 16 * other);) WRONG(FLUSH(scratch + 16 * other);)
    result[16 * core] = scratch[16 * other];
    FLUSH(result + 16 * core);
""",
        blocks=4,
    ),
    one(
        "two-cores-in-one-line",
        "caches",
        "two cores write to one cache line",
        "cache",
        "SK0942",
        """    const int at = WRONG(core) RIGHT(16 * core);
    result[at] = source[at];
    FLUSH(result + at);
""",
        blocks=4,
    ),
    one(
        "read-again-from-the-cache",
        "caches",
        "the scalar unit reads an old value from its cache",
        "cache",
        "SK0939",
        """    result[16 * core] = source[0];
    SyncAll<true>();
    if (core == 0) { source[0] = 7; FLUSH(source); }
    SyncAll<true>();
    RIGHT(if (core != 0) { FLUSH(source); })
    result[16 * core + 1] = source[0];
    FLUSH(result + 16 * core);
""",
        blocks=2,
    ),
    # -- cores ---------------------------------------------------------------------------------------------------------
    one(
        "parts-overlap",
        "cores",
        "two cores write the same bytes",
        "race",
        "SK0932",
        "const int end = first + part WRONG(+ 16);\n"
        "for (int i = first; i < end && i < N; ++i) { result[i] = source[i] + core; }\nFLUSH_ALL;\n",
        blocks=4,
    ),
    one(
        "nobody-waits-for-the-other-core",
        "cores",
        "a core reads what another one writes without waiting",
        "race",
        "SK0932",
        """    scratch[16 * core] = source[core];
    FLUSH(scratch + 16 * core);
    RIGHT(SyncAll<true>();)
    const int other = (core + 1) % cores;
    RIGHT(FLUSH(scratch + 16 * other);)
    result[16 * core] = scratch[16 * other];
    FLUSH(result + 16 * core);
""",
        blocks=4,
    ),
    one(
        "only-some-cores-meet",
        "cores",
        "not all cores call SyncAll",
        "order",
        "SK0910",
        "WRONG(if (core != 1)) { SyncAll<true>(); }\n" + ROWS + "FLUSH_ALL;\n",
        blocks=4,
    ),
    one(
        "a-flag-nobody-sets",
        "cores",
        "a core waits for a flag that nobody sets",
        "order",
        "SK0910",
        """    if ASCEND_IS_AIC { RIGHT(CrossCoreSetFlag<2, PIPE_FIX>(3);) }
    if ASCEND_IS_AIV {
        CrossCoreWaitFlag(3);
        if (GetSubBlockIdx() == 0) { result[0] = source[0]; FLUSH(result); }
    }
""",
        kernel_type=MIX,
        blocks=1,
    ),
    one(
        "a-flag-left-raised",
        "cores",
        "a flag is still raised at the end",
        "order",
        "SK0912",
        """    if ASCEND_IS_AIC { CrossCoreSetFlag<2, PIPE_FIX>(3); }
    if ASCEND_IS_AIV {
        RIGHT(CrossCoreWaitFlag(3);)
        if (GetSubBlockIdx() == 0) { result[0] = source[0]; FLUSH(result); }
    }
""",
        kernel_type=MIX,
        blocks=1,
    ),
    one(
        "a-flag-set-too-often",
        "cores",
        "a flag is set more than 15 times ahead",
        "order",
        "SK0911",
        """    const int rounds = WRONG(20) RIGHT(10);
    if ASCEND_IS_AIC {
        for (int i = 0; i < rounds; ++i) { CrossCoreSetFlag<2, PIPE_FIX>(3); }
        CrossCoreSetFlag<2, PIPE_FIX>(4);
    }
    if ASCEND_IS_AIV {
        CrossCoreWaitFlag(4);
        for (int i = 0; i < rounds; ++i) { CrossCoreWaitFlag(3); }
        if (GetSubBlockIdx() == 0) { result[0] = source[0]; FLUSH(result); }
    }
""",
        kernel_type=MIX,
        blocks=1,
    ),
    # -- bounds --------------------------------------------------------------------------------------------------------
    one(
        "behind-the-end-of-a-buffer",
        "bounds",
        "a store behind the end of a parameter",
        "bounds",
        "SK0922",
        "for (int i = 0; i < N WRONG(+ 1); ++i) { result[i] = source[i % N]; }\nFLUSH_ALL;\n",
    ),
    one(
        "a-move-behind-the-end",
        "bounds",
        "a move leaves the parameter it reads",
        "bounds",
        "SK0915",
        _BUFFERS + "DataCopy(a, in WRONG([N - 8]), WRONG(16) RIGHT(N));\n" + TO_V + ADD + TO_OUT + MOVE_OUT,
    ),
    one(
        "an-index-behind-the-end",
        "bounds",
        "an index behind the end of a tensor",
        "bounds",
        "SK0915",
        "for (int i = 0; i < N WRONG(+ 1); ++i) { out.SetValue(i, i); }\nFLUSH_ALL;\n",
    ),
    one(
        "into-the-next-buffer",
        "bounds",
        "a plain pointer walks from one buffer of UB into the next",
        "bounds",
        "SK0945",
        _BUFFERS
        + """    auto *p = (__ubuf__ int32_t *)a.GetPhyAddr();
    for (int i = 0; i < N WRONG(+ 8); ++i) { p[i] = i; }
    FLAG(S_V, 0)
    Adds(b, a, (int32_t)1, N);
"""
        + TO_OUT
        + MOVE_OUT,
    ),
    one(
        "not-a-multiple-of-32-bytes",
        "bounds",
        "a move of a number of bytes that no move has",
        "bounds",
        "SK0915",
        _BUFFERS + "DataCopy(a, in, N);\nFLAG(MTE2_MTE3, 0)\nDataCopy(out, a, WRONG(N - 3) RIGHT(N));\n",
    ),
    # -- init ----------------------------------------------------------------------------------------------------------
    one(
        "never-written",
        "workspaces",
        "local memory is read that nobody has written",
        "init",
        "SK0933",
        _BUFFERS + "RIGHT(DataCopy(a, in, N);)\n" + TO_V + ADD + TO_OUT + MOVE_OUT,
    ),
    one(
        "half-written",
        "workspaces",
        "only a part of what is read was written",
        "init",
        "SK0933",
        _BUFFERS + "DataCopy(a, in, N WRONG(/ 2));\n" + TO_V + ADD + TO_OUT + MOVE_OUT,
    ),
    one(
        "scratch-taken-for-zero",
        "workspaces",
        "scratch memory is read that nobody has written",
        "init",
        "SK0933",
        """    RIGHT(for (int i = 0; i < 16; ++i) { scratch[i] = 0; })
    for (int i = 0; i < N; ++i) { scratch[i % 16] += source[i]; }
    for (int i = 0; i < 16; ++i) { result[i] = scratch[i]; }
    FLUSH_ALL;
""",
    ),
    # -- masks ---------------------------------------------------------------------------------------------------------
    one(
        "a-mask-left-behind",
        "masks",
        "a mask that an earlier instruction left is still on",
        "init",
        "SK0933",
        _BUFFERS
        + MOVE_IN
        + TO_V
        + """    SetMaskNorm();
    SetVectorMask<int32_t>(0, 0xff);
    Adds<int32_t, false>(b, a, (int32_t)1, MASK_PLACEHOLDER, 8, {1, 1, 8, 8});
    RIGHT(ResetMask();)
    PipeBarrier<PIPE_V>();
    Adds<int32_t, false>(b, a, (int32_t)1, MASK_PLACEHOLDER, 8, {1, 1, 8, 8});
    ResetMask();
"""
        + TO_OUT
        + MOVE_OUT,
    ),
    # -- atomics -------------------------------------------------------------------------------------------------------
    Planted(
        "atomics-left-on",
        "atomics",
        "an op leaves its moves combining, and the next one adds where it should store",
        "order",
        "SK0925",
        (
            Op(
                "leaves",
                _BUFFERS
                + MOVE_IN
                + TO_V
                + ADD
                + TO_OUT
                + "SetAtomicAdd<int32_t>();\n"
                + MOVE_OUT
                + "RIGHT(SetAtomicNone();)\n",
            ),
            Op(
                "finds",
                "LocalTensor<int32_t> t(TPosition::VECIN, 0, N);\nDataCopy(t, in, N);\nFLAG(MTE2_MTE3, 0)\n"
                "DataCopy(out, t, N);\nPipeBarrier<PIPE_MTE3>();\nDataCopy(out, t, N);\n",
            ),
        ),
        shared={"x_1": "y_0"},
    ),
    one(
        "added-without-atomics",
        "atomics",
        "cores add to the same sums one over the other",
        "race",
        "SK0932",
        _BUFFERS
        + MOVE_IN
        + TO_V
        + ADD
        + TO_OUT
        + """    RIGHT(SetAtomicAdd<int32_t>();)
    DataCopy(out, b, N);
    RIGHT(SetAtomicNone();)
""",
        blocks=4,
    ),
    # -- hand-overs between cores --------------------------------------------------------------------------------------
    one(
        "told-by-the-wrong-pipe",
        "cores",
        "a flag for other cores is set on another pipe than the move before it",
        "race",
        "SK0932",
        """    if ASCEND_IS_AIV {
        TPipe pipe;
        TBuf<TPosition::VECCALC> buffer;
        pipe.InitBuffer(buffer, N * 4);
        LocalTensor<int32_t> t = buffer.Get<int32_t>();
        GlobalTensor<int32_t> kept;
        kept.SetGlobalBuffer(scratch + N * GetSubBlockIdx(), N);
        DataCopy(t, in, N);
        FLAG(MTE2_MTE3, 0)
        DataCopy(kept, t, N);
        CrossCoreSetFlag<2, WRONG(PIPE_V) RIGHT(PIPE_MTE3)>(4);
    }
    if ASCEND_IS_AIC {
        CrossCoreWaitFlag(4);
        FLUSH(scratch);
        result[0] = scratch[0];
        FLUSH(result);
    }
""",
        kernel_type=MIX,
    ),
    # -- streams -------------------------------------------------------------------------------------------------------
    Planted(
        "no-event-between-streams",
        "streams",
        "an op on another stream reads what an op writes, without an event",
        "order",
        "SK0919",
        (
            Op("writes", ROWS + "FLUSH_ALL;\n", blocks=2, right_sends=(5,)),
            Op("reads", ROWS + "FLUSH_ALL;\n", kernel_type=AIC, blocks=2, stream=1, right_receives=(5,)),
        ),
        options="stream-fusion=1",
        shared={"x_1": "y_0"},
    ),
    Planted(
        "no-event-against-the-order",
        "streams",
        "an op overwrites what an op on another stream still reads",
        "order",
        "SK0919",
        (
            Op("reads", ROWS + "FLUSH_ALL;\n", blocks=2, right_sends=(5,)),
            Op("overwrites", ROWS + "FLUSH_ALL;\n", kernel_type=AIC, blocks=2, stream=1, right_receives=(5,)),
        ),
        options="stream-fusion=1",
        shared={"y_1": "x_0"},
    ),
    Planted(
        "an-event-from-the-wrong-op",
        "streams",
        "the event is sent by the op before the one that writes",
        "order",
        "SK0919",
        (
            Op("before", ROWS + "FLUSH_ALL;\n", blocks=2),
            Op("writes", ROWS + "FLUSH_ALL;\n", blocks=2, right_sends=(6,)),
            Op("reads", ROWS + "FLUSH_ALL;\n", kernel_type=AIC, blocks=2, stream=1, receives=(5,), right_receives=(6,)),
        ),
        options="stream-fusion=1",
        shared={"x_1": "y_0", "x_2": "y_1"},
    ),
    # -- early start ---------------------------------------------------------------------------------------------------
    Planted(
        "written-after-the-start-signal",
        "early start",
        "an op writes after it has let the next one start",
        "order",
        "SK0919",
        (
            Op(
                "starts_next",
                "WRONG(SetNextTaskStart();)\n" + ROWS + "FLUSH_ALL;\nRIGHT(SetNextTaskStart();)\n",
                blocks=2,
            ),
            Op("waits", "WaitPreTaskEnd();\n" + ROWS + "FLUSH_ALL;\n", blocks=4),
        ),
        options="early-start=1",
        shared={"x_1": "y_0"},
    ),
    Planted(
        "read-before-the-wait",
        "early start",
        "an op reads before it has waited for the one before it",
        "order",
        "SK0919",
        (
            Op("starts_next", ROWS + "FLUSH_ALL;\nSetNextTaskStart();\n", blocks=2),
            Op(
                "waits",
                "WRONG(result[first] = source[N - 1 - first];)\nWaitPreTaskEnd();\n" + ROWS + "FLUSH_ALL;\n",
                blocks=4,
            ),
        ),
        options="early-start=1",
        shared={"x_1": "y_0"},
    ),
    Planted(
        "only-some-cores-start-the-next",
        "early start",
        "not all cores of an op let the next one start",
        "order",
        "SK0912",
        (
            Op("starts_next", ROWS + "FLUSH_ALL;\nWRONG(if (core != 1)) { SetNextTaskStart(); }\n", blocks=4),
            Op("waits", "WaitPreTaskEnd();\n" + ROWS + "FLUSH_ALL;\n", blocks=4),
        ),
        options="early-start=1",
        shared={"x_1": "y_0"},
    ),
]
