"""Mistakes between cores, operators and streams, in memory and masks: the second half of the list."""

from __future__ import annotations

from kernels.planting import (
    ADD,
    AIC,
    BUFFERS,
    MIX,
    MOVE_IN,
    MOVE_OUT,
    ROWS,
    TO_OUT,
    TO_V,
    Op,
    Planted,
    one,
)

AMONG_CORES = [
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
        "a core waits for a flag that no core sets",
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
        "a store past the end of a parameter",
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
        BUFFERS + "DataCopy(a, in WRONG([N - 8]), WRONG(16) RIGHT(N));\n" + TO_V + ADD + TO_OUT + MOVE_OUT,
    ),
    one(
        "an-index-behind-the-end",
        "bounds",
        "an index past the end of a tensor",
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
        BUFFERS
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
        BUFFERS + "DataCopy(a, in, N);\nFLAG(MTE2_MTE3, 0)\nDataCopy(out, a, WRONG(N - 3) RIGHT(N));\n",
    ),
    # -- init ----------------------------------------------------------------------------------------------------------
    one(
        "never-written",
        "workspaces",
        "local memory is read that was not written",
        "init",
        "SK0933",
        BUFFERS + "RIGHT(DataCopy(a, in, N);)\n" + TO_V + ADD + TO_OUT + MOVE_OUT,
    ),
    one(
        "half-written",
        "workspaces",
        "only a part of what is read was written",
        "init",
        "SK0933",
        BUFFERS + "DataCopy(a, in, N WRONG(/ 2));\n" + TO_V + ADD + TO_OUT + MOVE_OUT,
    ),
    one(
        "scratch-taken-for-zero",
        "workspaces",
        "scratch memory is read that was not written",
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
        BUFFERS
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
                BUFFERS
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
        BUFFERS
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
