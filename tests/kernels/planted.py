"""The mistakes of `kernels.planting`: inside a core; between cores, operators and streams; in further styles."""

from __future__ import annotations

from kernels.planted_cores import AMONG_CORES
from kernels.planted_kernels import KERNELS
from kernels.planted_styles import STYLES
from kernels.planting import (
    ADD,
    BUFFERS,
    MOVE_IN,
    MOVE_OUT,
    QUEUED,
    QUEUES,
    TO_OUT,
    TO_V,
    one,
)

PLANTED = [
    # -- events --------------------------------------------------------------------------------------------------------
    one(
        "no-wait-for-the-move-in",
        "events",
        "a vector instruction reads what a move has not brought yet",
        "pipe",
        "SK0928",
        BUFFERS + MOVE_IN + "RIGHT(FLAG(MTE2_V, 0))\n" + ADD + TO_OUT + MOVE_OUT,
    ),
    one(
        "no-wait-for-the-vector-unit",
        "events",
        "a move out takes what the vector unit has not computed yet",
        "pipe",
        "SK0928",
        BUFFERS + MOVE_IN + TO_V + ADD + "RIGHT(FLAG(V_MTE3, 1))\n" + MOVE_OUT,
    ),
    one(
        "the-next-round-comes-too-soon",
        "events",
        "a move in overwrites what a move out still reads",
        "pipe",
        "SK0928",
        BUFFERS
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
        BUFFERS + MOVE_IN + "WRONG(FLAG(MTE2_MTE3, 0)) RIGHT(FLAG(MTE2_V, 0))\n" + ADD + TO_OUT + MOVE_OUT,
    ),
    one(
        "the-wait-stands-before-the-move",
        "events",
        "the flag is set and waited for before the move it is for",
        "pipe",
        "SK0928",
        BUFFERS + "WRONG(FLAG(MTE2_V, 0))\n" + MOVE_IN + "RIGHT(FLAG(MTE2_V, 0))\n" + ADD + TO_OUT + MOVE_OUT,
    ),
    one(
        "an-event-without-a-wait",
        "events",
        "an event is still raised at the end",
        "pipe",
        "SK0937",
        BUFFERS
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
        BUFFERS
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
        "an event is waited for that is never raised",
        "bounds",
        "SK0915",
        BUFFERS
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
        BUFFERS
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
        BUFFERS
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
        BUFFERS
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
        BUFFERS
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
        BUFFERS
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
        BUFFERS
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
        QUEUES + QUEUED.replace("    t = ins.DeQue<int32_t>();", "    RIGHT(t = ins.DeQue<int32_t>();)"),
    ),
    one(
        "never-enqueued",
        "queues",
        "a tensor is dequeued that was not enqueued",
        "bounds",
        "SK0915",
        QUEUES + QUEUED.replace("    ins.EnQue(t);", "    RIGHT(ins.EnQue(t);)"),
    ),
    one(
        "left-in-the-queue",
        "queues",
        "a tensor stays in its queue",
        "pipe",
        "SK0938",
        QUEUES
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
        QUEUES
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
        BUFFERS
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
    *AMONG_CORES,
    *STYLES,
    *KERNELS,
]
