"""Mistakes in further styles: loops, double buffers, the cube unit, blocks of three cores, tiles beyond their data."""

from __future__ import annotations

from kernels.planting import (
    ADD,
    AIC,
    BUFFERS,
    MIX,
    MOVE_IN,
    MOVE_OUT,
    QUEUED,
    QUEUES,
    ROWS,
    TO_OUT,
    TO_V,
    Op,
    Planted,
    one,
)

#: Four rounds in the same two buffers: before the move in, behind the computation.
_ROUNDS = """    for (int i = 0; i < 4; ++i) {
        %s
        DataCopy(a, in[i * 128], 128);
        FLAG(MTE2_V, 0)
        Adds(b, a, (int32_t)1, 128);
        %s
        FLAG(V_MTE3, 1)
        DataCopy(out[i * 128], b, 128);
        FLAG(MTE3_V, 3)
    }
"""
#: The same with queues: the computation, the move out.
_QUEUED_ROUNDS = """    TPipe pipe;
    TQue<TPosition::VECIN, 1> ins;
    TQue<TPosition::VECOUT, 1> outs;
    pipe.InitBuffer(ins, 1, 512);
    pipe.InitBuffer(outs, 1, 512);
    for (int i = 0; i < 4; ++i) {
        LocalTensor<int32_t> t = ins.AllocTensor<int32_t>();
        DataCopy(t, in[i * 128], 128);
        ins.EnQue(t);
        t = ins.DeQue<int32_t>();
        LocalTensor<int32_t> o = outs.AllocTensor<int32_t>();
        %s
        outs.EnQue(o);
        o = outs.DeQue<int32_t>();
        %s
    }
"""
#: What a 16 x 16 multiplication needs.
CUBE_BUFFERS = """    TPipe pipe;
    TBuf<TPosition::A1> l1a;
    TBuf<TPosition::B1> l1b;
    TBuf<TPosition::A2> l0a;
    TBuf<TPosition::B2> l0b;
    TBuf<TPosition::CO1> l0c;
    pipe.InitBuffer(l1a, 512);
    pipe.InitBuffer(l1b, 512);
    pipe.InitBuffer(l0a, 512);
    pipe.InitBuffer(l0b, 512);
    pipe.InitBuffer(l0c, 1024);
    LocalTensor<half> near_a = l1a.Get<half>(), near_b = l1b.Get<half>();
    LocalTensor<half> left = l0a.Get<half>(), right = l0b.Get<half>();
    LocalTensor<float> sums = l0c.Get<float>();
    GlobalTensor<half> halves;
    halves.SetGlobalBuffer((__gm__ half *)x, 2 * N);
    GlobalTensor<float> floats;
    floats.SetGlobalBuffer((__gm__ float *)TARGET, N);
    LoadData2DParams once;
    once.repeatTimes = 1;
    MmadParams shape;
    shape.m = shape.n = shape.k = 16;
    FixpipeParamsV220 way;
    way.nSize = way.mSize = way.srcStride = way.dstStride = 16;
"""
#: One: after the moves into L1, after the multiplication.
_CUBE = (
    CUBE_BUFFERS
    + """    shape.cmatrixInitVal = true;
    DataCopy(near_a, halves, 256);
    DataCopy(near_b, halves[256], 256);
    %s
    LoadData(left, near_a, once);
    LoadData(right, near_b, once);
    FLAG(MTE1_M, 0)
    Mmad(sums, left, right, shape);
    %s
    Fixpipe(floats, sums, way);
"""
)
_HERE, _ARRIVED, _COMPUTED = _CUBE.replace("TARGET", "y"), "FLAG(MTE2_MTE1, 0)", "FLAG(M_FIX, 0)"
#: What both vector cores of a block leave in the workspace, and what the cube core does with it.
_HALVES = """    GlobalTensor<int32_t> kept;
    kept.SetGlobalBuffer(scratch, 2 * N);
    TPipe pipe;
    TBuf<TPosition::VECCALC> buffer;
    if ASCEND_IS_AIV {
        pipe.InitBuffer(buffer, N * 4);
        LocalTensor<int32_t> t = buffer.Get<int32_t>();
        DataCopy(t, in, N);
        FLAG(MTE2_MTE3, 0)
        DataCopy(kept[N * GetSubBlockIdx()], t, N);
        %s
    } else {
        CrossCoreWaitFlag(4);
        FLUSH(scratch);
        FLUSH(scratch + N);
        result[0] = scratch[0] + scratch[N];
        FLUSH(result);
    }
"""
#: Floats instead of integers.
FLOATS = """    GlobalTensor<float> from, to;
    from.SetGlobalBuffer((__gm__ float *)x, N);
    to.SetGlobalBuffer((__gm__ float *)y, N);
    TBuf<TPosition::VECCALC> mask_buffer;
    pipe.InitBuffer(mask_buffer, 64);
    LocalTensor<uint8_t> bits = mask_buffer.Get<uint8_t>();
"""
_SCRATCH = """    GlobalTensor<int32_t> kept;
    kept.SetGlobalBuffer(scratch, N);
"""
_IN_SCRATCH = """for (int i = first; i < first + part; ++i) { scratch[i] = source[i]; }
FLUSH_ALL;
for (int i = first; i < first + part; ++i) { result[i] = scratch[i] + 1; }
FLUSH_ALL;
"""
_FREE_OUT = "DataCopy(out[i * 128], o, 128); outs.FreeTensor(o);"

STYLES = [
    one(
        "two-rounds-share-an-event",
        "events",
        "two moves under way raise the same event",
        "pipe",
        "SK0936",
        BUFFERS
        + """    DataCopy(a, in, N / 2);
    SetFlag<HardEvent::MTE2_V>(EVENT_ID0);
    DataCopy(a[N / 2], in[N / 2], N / 2);
    SetFlag<HardEvent::MTE2_V>(WRONG(EVENT_ID0) RIGHT(EVENT_ID1));
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
    WaitFlag<HardEvent::MTE2_V>(WRONG(EVENT_ID0) RIGHT(EVENT_ID1));
"""
        + ADD
        + TO_OUT
        + MOVE_OUT,
    ),
    one(
        "no-set-before-the-loop",
        "events",
        "a loop waits for what the round before it sets, which is missing for the first round",
        "bounds",
        "SK0915",
        BUFFERS
        + "RIGHT(SetFlag<HardEvent::V_MTE2>(EVENT_ID2);)\n"
        + _ROUNDS % ("WaitFlag<HardEvent::V_MTE2>(EVENT_ID2);", "SetFlag<HardEvent::V_MTE2>(EVENT_ID2);")
        + "RIGHT(WaitFlag<HardEvent::V_MTE2>(EVENT_ID2);)\n",
    ),
    one(
        "ids-never-given-back",
        "events",
        "event ids are taken in a loop and never released",
        "bounds",
        "SK0915",
        BUFFERS
        + _ROUNDS
        % (
            """for (int round = 0; round < 3; ++round) {
            const event_t id = (event_t)pipe.AllocEventID<HardEvent::V_MTE2>();
            SetFlag<HardEvent::V_MTE2>(id);
            WaitFlag<HardEvent::V_MTE2>(id);
            RIGHT(pipe.ReleaseEventID<HardEvent::V_MTE2>(id);)
        }""",
            "",
        ),
    ),
    one(
        "loaded-before-it-has-arrived",
        "pipes",
        "L0 is loaded from L1 while the move into L1 is under way",
        "pipe",
        "SK0928",
        _HERE % (f"RIGHT({_ARRIVED})", _COMPUTED),
        kernel_type=AIC,
    ),
    one(
        "results-moved-out-too-soon",
        "pipes",
        "results leave L0C while they are computed",
        "pipe",
        "SK0928",
        _HERE % (_ARRIVED, f"RIGHT({_COMPUTED})"),
        kernel_type=AIC,
    ),
    one(
        "the-next-load-comes-too-soon",
        "pipes",
        "L0 is loaded again while the multiplication still reads it",
        "pipe",
        "SK0928",
        _HERE % (_ARRIVED, "RIGHT(FLAG(M_MTE1, 3))\nLoadData(left, near_b, once);\n" + _COMPUTED),
        kernel_type=AIC,
    ),
    one(
        "used-after-it-was-freed",
        "queues",
        "a tensor is read after it was given back",
        "pipe",
        "SK0928",
        _QUEUED_ROUNDS
        % ("WRONG(ins.FreeTensor(t);) Adds(o, t, (int32_t)1, 128); RIGHT(ins.FreeTensor(t);)", _FREE_OUT),
    ),
    one(
        "never-given-back",
        "queues",
        "a loop takes tensors of a queue and never gives them back",
        "bounds",
        "SK0915",
        _QUEUED_ROUNDS
        % (
            "Adds(o, t, (int32_t)1, 128); ins.FreeTensor(t);",
            "DataCopy(out[i * 128], o, 128); RIGHT(outs.FreeTensor(o);)",
        ),
    ),
    one(
        "given-to-another-queue",
        "queues",
        "a tensor is given back to another queue",
        "bounds",
        "SK0915",
        QUEUES + QUEUED.replace("ins.FreeTensor(t);", "WRONG(outs.FreeTensor(t);) RIGHT(ins.FreeTensor(t);)"),
    ),
    one(
        "only-the-first-line",
        "caches",
        "only the first of two lines is flushed",
        "cache",
        "SK0929",
        """    for (int i = 0; i < 32; ++i) { scratch[32 * core + i] = i; }
    FLUSH(scratch + 32 * core);
    RIGHT(FLUSH(scratch + 32 * core + 16);)
    SyncAll<true>();
    const int other = (core + 1) % cores;
    for (int i = 0; i < 32; ++i) { result[32 * core + i] = scratch[32 * other + i]; }
    FLUSH_ALL;
""",
        blocks=4,
    ),
    one(
        "left-in-two-caches",
        "caches",
        "two cores leave one line in their caches",
        "cache",
        "SK0942",
        """    const int start = WRONG(core) RIGHT(first), end = WRONG(N) RIGHT(first + part);
    for (int i = start; i < end; i += WRONG(cores) RIGHT(1)) { result[i] = source[i] + 1; }
""",
        blocks=4,
    ),
    one(
        "only-one-vector-core-sets",
        "cores",
        "one of the two vector cores of a block does not set the flag",
        "order",
        "SK0910",
        _HALVES % "WRONG(if (GetSubBlockIdx() == 0)) { CrossCoreSetFlag<2, PIPE_MTE3>(4); }",
        kernel_type=MIX,
    ),
    one(
        "the-wrong-mode",
        "cores",
        "a flag among vector cores where the cube core waits",
        "order",
        "SK0910",
        _HALVES % "CrossCoreSetFlag<WRONG(1) RIGHT(2), PIPE_MTE3>(4);",
        kernel_type=MIX,
    ),
    one(
        "told-before-the-results",
        "cores",
        "a flag is set after the multiplication, not after the move of its results",
        "race",
        "SK0932",
        "if ASCEND_IS_AIC {"
        + _CUBE.replace("TARGET", "workspace") % (_ARRIVED, _COMPUTED)
        + """    CrossCoreSetFlag<2, WRONG(PIPE_M) RIGHT(PIPE_FIX)>(3);
    } else {
        CrossCoreWaitFlag(3);
        if (GetSubBlockIdx() == 0) {
            FLUSH(scratch);
            result[0] = scratch[0];
            FLUSH(result);
        }
    }
""",
        kernel_type=MIX,
    ),
    one(
        "the-last-tile",
        "bounds",
        "the move of the last tile leaves the parameter it writes",
        "bounds",
        "SK0915",
        BUFFERS
        + """    DataCopyExtParams tile{1, 400, 0, 0, 0};
    DataCopyPadExtParams<int32_t> padding{false, 0, 0, 0};
    DataCopyPad(a, in, tile, padding);
    FLAG(MTE2_MTE3, 0)
    DataCopyPad(out[N - WRONG(99) RIGHT(100)], a, tile);
""",
    ),
    one(
        "in-front-of-a-buffer",
        "bounds",
        "a plain pointer starts in front of its buffer of UB",
        "bounds",
        "SK0945",
        BUFFERS
        + MOVE_IN
        + TO_V
        + ADD
        + """    FLAG(V_S, 3)
    auto *p = (__ubuf__ int32_t *)b.GetPhyAddr();
    for (int i = WRONG(-8) RIGHT(0); i < 8; ++i) { p[i] = 3; }
    FLAG(S_MTE3, 4)
"""
        + TO_OUT
        + MOVE_OUT,
    ),
    one(
        "one-slice-for-all",
        "workspaces",
        "all cores work in the same part of the workspace",
        "race",
        "SK0932",
        BUFFERS
        + """    GlobalTensor<int32_t> kept;
    kept.SetGlobalBuffer(scratch RIGHT(+ first), part);
    DataCopy(a, in[first], part);
    FLAG(MTE2_MTE3, 0)
    DataCopy(kept, a, part);
    FLAG(MTE3_MTE2, 0)
    DataCopy(a, kept, part);
    FLAG(MTE2_MTE3, 0)
    DataCopy(out[first], a, part);
""",
        blocks=4,
    ),
    one(
        "added-to-anything",
        "workspaces",
        "moves add to scratch memory that was not cleared",
        "init",
        "SK0933",
        BUFFERS
        + _SCRATCH
        + MOVE_IN
        + """    RIGHT(Duplicate(b, (int32_t)0, N); FLAG(V_MTE3, 1) if (core == 0) { DataCopy(kept, b, N); })
    PipeBarrier<PIPE_ALL>();
    SyncAll<true>();
    SetAtomicAdd<int32_t>();
    DataCopy(kept, a, N);
    SetAtomicNone();
    PipeBarrier<PIPE_ALL>();
    SyncAll<true>();
    if (core == 0) {
        DataCopy(b, kept, N);
        FLAG(MTE2_MTE3, 0)
        DataCopy(out, b, N);
    }
""",
        blocks=2,
    ),
    one(
        "the-tail-reaches-the-result",
        "workspaces",
        "what is computed of the unwritten end of a tile is moved out",
        "init",
        "SK0933",
        BUFFERS
        + "DataCopy(a, in, N - 64);\n"
        + TO_V
        + ADD
        + "PipeBarrier<PIPE_V>();\nMuls(b, b, (int32_t)2, N);\n"
        + TO_OUT
        + "DataCopy(out, b, N RIGHT(- 64));\n",
    ),
    one(
        "stored-while-others-add",
        "atomics",
        "a core stores the first value while others add already",
        "race",
        "SK0932",
        BUFFERS
        + MOVE_IN
        + TO_V
        + ADD
        + TO_OUT
        + """    if (core == 0) { DataCopy(out, b, N); }
    PipeBarrier<PIPE_ALL>();
    RIGHT(SyncAll<true>();)
    SetAtomicAdd<int32_t>();
    DataCopy(out, b, N);
    SetAtomicNone();
""",
        blocks=4,
    ),
    one(
        "every-repeat-to-one-place",
        "masks",
        "a repeat stride of 0 has all repeats write to one place",
        "init",
        "SK0933",
        BUFFERS
        + MOVE_IN
        + TO_V
        + "Adds<int32_t>(b, a, 1, (uint64_t)64, 8, {1, 1, WRONG(0) RIGHT(8), 8});\n"
        + TO_OUT
        + MOVE_OUT,
    ),
    one(
        "chosen-by-nobodys-bits",
        "masks",
        "a selection by the bits of a comparison with values that were not written",
        "init",
        "SK0933",
        BUFFERS.replace("int32_t", "float")
        + FLOATS
        + """    DataCopy(a, from, N WRONG(- 128));
    FLAG(MTE2_V, 0)
    CompareScalar(bits, a, (float)3, CMPMODE::LT, N);
    PipeBarrier<PIPE_V>();
    Duplicate(a, (float)1, N);
    PipeBarrier<PIPE_V>();
    Select(b, bits, a, (float)0, SELMODE::VSEL_TENSOR_SCALAR_MODE, N);
    FLAG(V_MTE3, 0)
    DataCopy(to, b, N);
""",
    ),
    Planted(
        "flushed-after-the-start-signal",
        "early start",
        "an op flushes after it has let the next one start",
        "cache",
        "SK0929",
        (
            Op(
                "starts_next",
                ROWS + "WRONG(SetNextTaskStart();)\nFLUSH_ALL;\nRIGHT(SetNextTaskStart();)\n",
                blocks=2,
            ),
            Op("waits", "WaitPreTaskEnd();\nFLUSH_ALL;\n" + ROWS + "FLUSH_ALL;\n", blocks=4),
        ),
        options="early-start=1",
        shared={"x_1": "y_0"},
    ),
    Planted(
        "one-workspace-for-two-streams",
        "streams",
        "two ops on two streams work in one workspace",
        "order",
        "SK0919",
        (
            Op("one", _IN_SCRATCH, blocks=2, right_sends=(5,)),
            Op("other", _IN_SCRATCH, kernel_type=AIC, blocks=2, stream=1, right_receives=(5,)),
        ),
        options="stream-fusion=1",
        shared={"workspace_1": "workspace_0"},
    ),
]
