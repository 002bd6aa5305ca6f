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
BUFFERS = """    TPipe pipe;
    TBuf<TPosition::VECCALC> first_buffer, second_buffer;
    pipe.InitBuffer(first_buffer, N * 4);
    pipe.InitBuffer(second_buffer, N * 4);
    LocalTensor<int32_t> a = first_buffer.Get<int32_t>(), b = second_buffer.Get<int32_t>();
"""
QUEUES = """    TPipe pipe;
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
