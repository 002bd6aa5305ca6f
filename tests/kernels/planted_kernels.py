"""Mistakes in small whole kernels: buffers in turn, matrix loops, words and flags between cores, ops in a row."""

from __future__ import annotations

from kernels.planted_styles import CUBE_BUFFERS, FLOATS
from kernels.planting import (
    ADD,
    AIC,
    BUFFERS,
    MIX,
    MOVE_IN,
    MOVE_OUT,
    QUEUES,
    ROWS,
    TO_OUT,
    TO_V,
    Op,
    Planted,
    one,
)

#: Eight rounds with two buffers in turn: what is moved out, what ends it.
_IN_TURN = """    LocalTensor<int32_t> tiles[2] = {a, b};
    SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    SetFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);
    for (int i = 0; i < 8; ++i) {
        const event_t id = i & 1 ? EVENT_ID1 : EVENT_ID0;
        LocalTensor<int32_t> &t = tiles[i & 1];
        WaitFlag<HardEvent::MTE3_MTE2>(id);
        DataCopy(t, in[64 * i], 64);
        SetFlag<HardEvent::MTE2_V>(id);
        WaitFlag<HardEvent::MTE2_V>(id);
        Adds(t, t, (int32_t)1, 64);
        SetFlag<HardEvent::V_MTE3>(id);
        WaitFlag<HardEvent::V_MTE3>(id);
        DataCopy(out[64 * i], %s, 64);
        SetFlag<HardEvent::MTE3_MTE2>(id);
    }
    WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID0);
    %s
"""
_LAST = "WaitFlag<HardEvent::MTE3_MTE2>(EVENT_ID1);"
#: A kernel in three stages with queues of two buffers: behind the last EnQue, and how the stages follow each other.
_STAGES = """    TPipe pipe;
    TQue<TPosition::VECIN, 2> ins;
    TQue<TPosition::VECOUT, 2> outs;
    pipe.InitBuffer(ins, 2, 256);
    pipe.InitBuffer(outs, 2, 256);
    auto copy_in = [&](int i) {
        LocalTensor<int32_t> t = ins.AllocTensor<int32_t>();
        DataCopy(t, in[64 * i], 64);
        ins.EnQue(t);
    };
    auto compute = [&]() {
        LocalTensor<int32_t> t = ins.DeQue<int32_t>();
        LocalTensor<int32_t> o = outs.AllocTensor<int32_t>();
        Adds(o, t, (int32_t)1, 64);
        outs.EnQue(o);
        %s
        ins.FreeTensor(t);
    };
    auto copy_out = [&](int i) {
        LocalTensor<int32_t> o = outs.DeQue<int32_t>();
        DataCopy(out[64 * i], o, 64);
        outs.FreeTensor(o);
    };
    %s
"""
_ONE_BY_ONE = "for (int i = 0; i < 8; ++i) { copy_in(i); compute(); copy_out(i); }"
#: Two rounds of a multiplication that add up: behind the loads, the first round, behind the loop.
_MATRIX = (
    CUBE_BUFFERS.replace("TARGET", "y")
    + """    for (int k = 0; k < 2; ++k) {
        DataCopy(near_a, halves[512 * k], 256);
        DataCopy(near_b, halves[512 * k + 256], 256);
        FLAG(MTE2_MTE1, 0)
        LoadData(left, near_a, once);
        LoadData(right, near_b, once);
        %s
        FLAG(MTE1_M, 0)
        shape.cmatrixInitVal = %s;
        Mmad(sums, left, right, shape);
        FLAG(M_MTE1, 3)
    }
    FLAG(M_FIX, 0)
    Fixpipe(floats, sums, way);
    %s
"""
)
_LOADED, _FIRST = "FLAG(MTE1_MTE2, 1)", "k == 0"
_KEPT = """    GlobalTensor<int32_t> kept;
    kept.SetGlobalBuffer(scratch, 1024);
"""
#: Every core moves its part in, adds 1 and moves it out.
_PARTS = (
    BUFFERS
    + "DataCopy(a, in[first], part);\n"
    + TO_V
    + "Adds(b, a, (int32_t)1, part);\n"
    + TO_OUT
    + "DataCopy(out[first], b, part);\n"
)
#: Memory for words between cores that nobody has left anything in.
_WORDS = BUFFERS + _KEPT + "    TBuf<TPosition::VECCALC> word_buffer;\n    pipe.InitBuffer(word_buffer, 256);\n"
_CLEARED = """if (core == 0) { for (int i = 0; i < 64; ++i) { scratch[i] = 0; } }
    FLUSH_ALL;
    SyncAll<true>();
    LocalTensor<int32_t> word = word_buffer.Get<int32_t>();
"""

KERNELS = [
    one(
        "the-other-of-two-buffers",
        "events",
        "of two buffers in turn the other one is moved out",
        "pipe",
        "SK0928",
        BUFFERS + _IN_TURN % ("WRONG(tiles[1 - (i & 1)]) RIGHT(t)", _LAST),
    ),
    one(
        "the-last-round-is-not-waited-for",
        "events",
        "two buffers in turn, and the last round's event is never waited for",
        "pipe",
        "SK0937",
        BUFFERS + _IN_TURN % ("t", f"RIGHT({_LAST})"),
    ),
    one(
        "set-in-a-branch",
        "events",
        "an event is set in a branch that is not taken, and waited for after it",
        "bounds",
        "SK0915",
        BUFFERS
        + MOVE_IN
        + """    WRONG(if (source[0] == 5)) { SetFlag<HardEvent::MTE2_V>(EVENT_ID0); }
    WaitFlag<HardEvent::MTE2_V>(EVENT_ID0);
"""
        + ADD
        + TO_OUT
        + MOVE_OUT,
    ),
    one(
        "a-barrier-of-one-pipe",
        "pipes",
        "a barrier of one pipe where two have to be ordered",
        "pipe",
        "SK0928",
        BUFFERS + MOVE_IN + "PipeBarrier<WRONG(PIPE_MTE2) RIGHT(PIPE_ALL)>();\n" + ADD + TO_OUT + MOVE_OUT,
    ),
    one(
        "through-the-workspace-and-back",
        "pipes",
        "a move reads from the workspace what a move is still writing there",
        "pipe",
        "SK0928",
        BUFFERS
        + _KEPT
        + MOVE_IN
        + """    FLAG(MTE2_MTE3, 0)
    DataCopy(kept, a, N);
    RIGHT(FLAG(MTE3_MTE2, 2))
    DataCopy(b, kept, N);
    FLAG(MTE2_MTE3, 0)
"""
        + MOVE_OUT,
    ),
    one(
        "l1-is-filled-too-soon",
        "pipes",
        "a matrix loop fills L1 while the loads of the round before still read it",
        "pipe",
        "SK0928",
        _MATRIX % (f"RIGHT({_LOADED})", _FIRST, ""),
        kernel_type=AIC,
    ),
    one(
        "l0c-is-used-again-too-soon",
        "pipes",
        "the next multiplication writes L0C while the results before it leave",
        "pipe",
        "SK0928",
        _MATRIX
        % (
            _LOADED,
            _FIRST,
            """RIGHT(FLAG(FIX_M, 2))
    shape.cmatrixInitVal = true;
    Mmad(sums, left, right, shape);
    FLAG(M_FIX, 0)
    PipeBarrier<PIPE_FIX>();
    Fixpipe(floats, sums, way);""",
        ),
        kernel_type=AIC,
    ),
    one(
        "sums-begin-with-anything",
        "workspaces",
        "the first round of a matrix loop adds to what L0C holds",
        "init",
        "SK0933",
        _MATRIX % (_LOADED, f"WRONG(false) RIGHT({_FIRST})", ""),
        kernel_type=AIC,
    ),
    one(
        "more-fractals-than-a-buffer-has",
        "bounds",
        "a load takes more fractals than its buffer of L1 has",
        "bounds",
        "SK0915",
        (_MATRIX % (_LOADED, _FIRST, "")).replace("once.repeatTimes = 1", "once.repeatTimes = WRONG(2) RIGHT(1)"),
        kernel_type=AIC,
    ),
    one(
        "computed-after-it-was-enqueued",
        "queues",
        "a tensor is computed further after it was enqueued",
        "pipe",
        "SK0928",
        _STAGES % ("WRONG(Adds(o, o, (int32_t)1, 64);)", _ONE_BY_ONE),
    ),
    one(
        "three-tiles-in-two-buffers",
        "queues",
        "three tiles are moved in ahead, and the queue has two buffers",
        "bounds",
        "SK0915",
        _STAGES
        % (
            "",
            """copy_in(0);
    copy_in(1);
    WRONG(copy_in(2);)
    for (int i = 0; i < 8; ++i) {
        compute();
        copy_out(i);
        if (i < WRONG(5) RIGHT(6)) { copy_in(i + WRONG(3) RIGHT(2)); }
    }""",
        ),
    ),
    one(
        "a-buffer-without-a-queue",
        "queues",
        "a plain buffer is filled in a loop as if it were a queue",
        "pipe",
        "SK0928",
        QUEUES
        + """    TBuf<TPosition::VECCALC> plain;
    pipe.InitBuffer(plain, 256);
    LocalTensor<int32_t> t = plain.Get<int32_t>();
    for (int i = 0; i < 8; ++i) {
        RIGHT(FLAG(V_MTE2, 0))
        DataCopy(t, in[64 * i], 64);
        FLAG(MTE2_V, 0)
        LocalTensor<int32_t> o = outs.AllocTensor<int32_t>();
        Adds(o, t, (int32_t)1, 64);
        outs.EnQue(o);
        o = outs.DeQue<int32_t>();
        DataCopy(out[64 * i], o, 64);
        outs.FreeTensor(o);
    }
""",
    ),
    one(
        "polled-without-a-flush",
        "caches",
        "a core polls a word and never flushes its line",
        "cache",
        "SK0910",
        """    if (core == 0) {
        result[0] = 1;
        FLUSH(result);
    } else {
        auto *word = (volatile __gm__ int32_t *)result;
        while (*word != 1) { RIGHT(FLUSH(result);) }
        result[16] = 1;
        FLUSH(result + 16);
    }
""",
        blocks=2,
    ),
    one(
        "flushed-too-early",
        "caches",
        "a core flushes a line, reads it, and waits for the one who writes it only then",
        "cache",
        "SK0939",
        """    const int other = (core + 1) % cores;
    result[16 * core] = source[core];
    FLUSH(result + 16 * core);
    SyncAll<true>();
    int32_t sum = result[16 * other];
    WRONG(FLUSH(result + 16 * other); sum += result[16 * other];)
    SyncAll<true>();
    result[16 * core] = 5;
    FLUSH(result + 16 * core);
    SyncAll<true>();
    RIGHT(FLUSH(result + 16 * other);)
    result[64 + 16 * core] = result[16 * other] + sum;
    FLUSH(result + 64 + 16 * core);
""",
        blocks=2,
    ),
    one(
        "a-move-into-a-line-of-another-core",
        "caches",
        "a core moves results into a line that another one stores to",
        "cache",
        "SK0942",
        BUFFERS
        + """    if (core == 1) {
        Duplicate(a, (int32_t)3, 8);
        FLAG(V_MTE3, 0)
        DataCopy(out[WRONG(8) RIGHT(16)], a, 8);
    } else {
        for (int i = 0; i < 8; ++i) { result[i] = source[i]; }
        FLUSH(result);
    }
""",
        blocks=2,
    ),
    one(
        "set-without-a-wait",
        "cores",
        "IBSet of one core, and the other one does not call IBWait",
        "race",
        "SK0932",
        _WORDS
        + _CLEARED
        + """    if (core == 0) {
        DataCopy(a, in, 64);
        FLAG(MTE2_MTE3, 0)
        DataCopy(out, a, 64);
        IBSet<true>(kept, word, 0, 0);
    } else {
        RIGHT(IBWait<true>(kept, word, 0, 0);)
        DataCopy(a, out, 64);
        FLAG(MTE2_MTE3, 0)
        DataCopy(out[64], a, 64);
    }
""",
        blocks=2,
    ),
    one(
        "counters-nobody-has-cleared",
        "workspaces",
        "the counters of a software SyncAll are not cleared",
        "order",
        "SK0910",
        _WORDS
        + "RIGHT("
        + _CLEARED.replace("\n", " ")
        + ") WRONG(LocalTensor<int32_t> word = word_buffer.Get<int32_t>();)\n"
        + _PARTS.removeprefix(BUFFERS)
        + "SyncAll(kept, word);\n",
        blocks=4,
    ),
    one(
        "a-word-before-its-data",
        "cores",
        "a core writes the word that says its results are there while they are being moved",
        "race",
        "SK0932",
        BUFFERS
        + """    auto *word = (volatile __gm__ int32_t *)(result + N - 16);
    if (core == 0) {
        DataCopy(a, in, 64);
        FLAG(MTE2_MTE3, 0)
        DataCopy(out, a, 64);
        RIGHT(FLAG(MTE3_S, 1))
        *word = 1;
        FLUSH(word);
    } else {
        while (*word != 1) { FLUSH(word); }
        DataCopy(a, out, 64);
        FLAG(MTE2_MTE3, 0)
        DataCopy(out[128], a, 64);
    }
""",
        blocks=2,
    ),
    one(
        "both-wait-first",
        "cores",
        "cube and vector cores wait for each other's flag before they set their own",
        "order",
        "SK0910",
        """    if ASCEND_IS_AIC {
        RIGHT(CrossCoreSetFlag<2, PIPE_FIX>(3);)
        CrossCoreWaitFlag(4);
        WRONG(CrossCoreSetFlag<2, PIPE_FIX>(3);)
    } else {
        CrossCoreWaitFlag(3);
        CrossCoreSetFlag<2, PIPE_MTE3>(4);
        if (GetSubBlockIdx() == 0) { result[0] = 1; FLUSH(result); }
    }
""",
        kernel_type=MIX,
    ),
    one(
        "both-vector-cores-write",
        "cores",
        "both vector cores of a block write the block's result",
        "race",
        "SK0932",
        """    if ASCEND_IS_AIV {
        WRONG(if (true)) RIGHT(if (GetSubBlockIdx() == 0)) {
            const int block = GetBlockIdx() / 2;
            result[16 * block] = source[block] + GetSubBlockIdx();
            FLUSH(result + 16 * block);
        }
    }
""",
        kernel_type=MIX,
        blocks=2,
    ),
    one(
        "a-slot-is-filled-again",
        "workspaces",
        "the cube core fills a slot of the workspace again before the vector cores have read it",
        "race",
        "SK0932",
        """    for (int i = 0; i < 4; ++i) {
        if ASCEND_IS_AIC {
            RIGHT(if (i > 0) { CrossCoreWaitFlag(5); })
            scratch[0] = i + source[0];
            FLUSH(scratch);
            PipeBarrier<PIPE_ALL>();
            CrossCoreSetFlag<2, PIPE_FIX>(3);
        } else {
            CrossCoreWaitFlag(3);
            FLUSH(scratch);
            if (GetSubBlockIdx() == 0) { result[i] = scratch[0]; }
            PipeBarrier<PIPE_ALL>();
            RIGHT(if (i < 3) { CrossCoreSetFlag<2, PIPE_MTE3>(5); })
        }
    }
    if ASCEND_IS_AIV { if (GetSubBlockIdx() == 0) { FLUSH(result); } }
""",
        kernel_type=MIX,
    ),
    one(
        "the-next-move-adds-too",
        "atomics",
        "a move into the workspace adds, because the moves before it did",
        "init",
        "SK0933",
        BUFFERS
        + _KEPT
        + MOVE_IN
        + TO_V
        + ADD
        + TO_OUT
        + """    SetAtomicAdd<int32_t>();
    DataCopy(out, b, N);
    RIGHT(SetAtomicNone();)
    DataCopy(kept, b, N);
    SetAtomicNone();
    FLAG(MTE3_MTE2, 2)
    DataCopy(a, kept, N);
    PipeBarrier<PIPE_ALL>();
    DataCopy(out, a, N);
""",
    ),
    one(
        "sums-are-read-too-soon",
        "atomics",
        "a core reads sums to which others still add",
        "race",
        "SK0932",
        BUFFERS
        + _KEPT
        + MOVE_IN
        + """    FLAG(MTE2_MTE3, 0)
    SetAtomicAdd<int32_t>();
    DataCopy(out, a, N);
    SetAtomicNone();
    PipeBarrier<PIPE_ALL>();
    RIGHT(SyncAll<true>();)
    if (core == 0) { DataCopy(b, out, N); FLAG(MTE2_MTE3, 0) DataCopy(kept, b, N); }
""",
        blocks=2,
    ),
    one(
        "a-count-too-small",
        "masks",
        "in counter mode fewer elements are computed than are moved out",
        "init",
        "SK0933",
        BUFFERS
        + MOVE_IN
        + TO_V
        + """    SetMaskCount();
    SetVectorMask<int32_t, MaskMode::COUNTER>(N WRONG(/ 2));
    Adds<int32_t, false>(b, a, (int32_t)1, MASK_PLACEHOLDER, 1, {1, 1, 8, 8});
    SetMaskNorm();
    ResetMask();
"""
        + TO_OUT
        + MOVE_OUT,
    ),
    one(
        "a-reduction-beyond-the-data",
        "masks",
        "the mask of a reduction takes in elements that were not written",
        "init",
        "SK0933",
        BUFFERS.replace("int32_t", "float")
        + FLOATS
        + """    DataCopy(a, from, 32);
    FLAG(MTE2_V, 0)
    WholeReduceSum(b, a, WRONG(64) RIGHT(32), 1, 1, 1, 8);
    FLAG(V_MTE3, 0)
    DataCopyExtParams first_only{1, 4, 0, 0, 0};
    DataCopyPad(to, b, first_only);
""",
    ),
    Planted(
        "cached-two-ops-ago",
        "caches",
        "an op reads what an op before it had in its cache, and another one has changed since",
        "cache",
        "SK0939",
        (
            Op("looks", "result[16 * core] = source[16 * core];\nFLUSH(result + 16 * core);\n", blocks=2),
            Op("changes", _PARTS, blocks=2),
            Op(
                "looks_again",
                "RIGHT(FLUSH_ALL;)\nresult[16 * core] = source[16 * core];\nFLUSH(result + 16 * core);\n",
                blocks=2,
            ),
        ),
        shared={"y_1": "x_0", "x_2": "x_0"},
    ),
    Planted(
        "another-ops-scratch",
        "workspaces",
        "an op reads scratch memory as if it were that of the op before it",
        "init",
        "SK0933",
        (
            Op("leaves", "for (int i = first; i < first + part; ++i) { scratch[i] = source[i]; }\nFLUSH_ALL;\n" + ROWS),
            Op(
                "takes",
                BUFFERS
                + _KEPT
                + """    RIGHT(Duplicate(a, (int32_t)0, N); FLAG(V_MTE3, 0) DataCopy(kept, a, N); FLAG(MTE3_MTE2, 0))
    DataCopy(b, kept, N);
    FLAG(MTE2_MTE3, 0)
"""
                + MOVE_OUT,
            ),
        ),
        shared={"y_1": "x_0"},
    ),
    Planted(
        "started-twice",
        "early start",
        "an op lets the next one start twice",
        "order",
        "SK0912",
        (
            Op("starts_next", _PARTS + "SetNextTaskStart();\nWRONG(SetNextTaskStart();)\n", blocks=2),
            Op("waits", "WaitPreTaskEnd();\n" + _PARTS, blocks=4),
        ),
        options="early-start=1",
        shared={"x_1": "y_0"},
    ),
    Planted(
        "started-on-another-pipe",
        "early start",
        "the start signal goes along with another pipe than the results",
        "order",
        "SK0919",
        (
            Op("starts_next", _PARTS + "SetNextTaskStart<WRONG(PIPE_V) RIGHT(PIPE_MTE3)>();\n", blocks=2),
            Op("waits", "WaitPreTaskEnd();\n" + _PARTS, blocks=4),
        ),
        options="early-start=1",
        shared={"x_1": "y_0"},
    ),
    Planted(
        "two-writers-on-two-streams",
        "streams",
        "ops on two streams write the same results",
        "order",
        "SK0919",
        (
            Op("writes_first", _PARTS, blocks=2, right_sends=(5,)),
            Op("writes_last", ROWS + "FLUSH_ALL;\n", kernel_type=AIC, blocks=2, stream=1, right_receives=(5,)),
        ),
        options="stream-fusion=1",
        shared={"y_1": "y_0"},
    ),
]
