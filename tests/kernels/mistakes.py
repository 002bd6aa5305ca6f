"""What goes wrong when a super kernel synchronises in a slightly different way: each mistake beside what is right.

Every pair runs the same operators on the same data under the same schedules; the two bodies differ in one thing. The
right one never fails, the wrong one is shown to hang, to leave a flag raised, or to compute something else.
"""

from __future__ import annotations

from dataclasses import dataclass

OK = "ok"
DEADLOCK = "deadlock"
LEAK = "leak"
OVERFLOW = "overflow"
HAZARD = "hazard"
#: The run ends well, but the data is wrong: somebody acted before somebody else had finished.
WRONG_DATA = "wrong data"


@dataclass(frozen=True)
class Agent:
    """Somebody outside: when word `when` becomes 1 (None: at once), writes 1 to words and fills buffers."""

    when: int | None = None
    words: tuple[int, ...] = ()
    #: Buffer number -> value of all its elements.
    fills: tuple[tuple[int, int], ...] = ()
    delay: int = 0


@dataclass(frozen=True)
class Mistake:
    """A wrong body, the right one, and what shows the difference."""

    name: str
    #: What the wrong one does.
    shows: tuple[str, ...]
    ratio: str
    blocks: int
    #: Kernel, x1, x2, y (numbers of data buffers).
    ops: tuple[tuple[str, int, int, int], ...]
    #: C++. `W0`, `W1`, … are the slots of words, `DATA` the slot of a zeroed piece of memory.
    wrong: str
    right: str | None
    agents: tuple[Agent, ...] = ()
    words: int = 0
    #: Operators (positions) that the report must name.
    names: tuple[int, ...] = ()


VEC = "if ASCEND_IS_AIV"
CUBE = "if ASCEND_IS_AIC"


def mix(number: int, blocks: int = 2) -> str:
    return f"if (get_block_idx() < {blocks}) {{ CALL({number}); }}"


def vec(number: int, blocks: int = 3) -> str:
    return f"if ASCEND_IS_AIV {{ if (AscendC::GetBlockIdx() < {blocks}) {{ CALL({number}); }} }}"


def cub(number: int, blocks: int = 2) -> str:
    return f"if ASCEND_IS_AIC {{ if (get_block_idx() < {blocks}) {{ CALL({number}); }} }}"


def early(previous: int, current: int) -> str:
    """Classes: 0 AIC, 1 AIV, 2 MIX. The wait part, on all cores."""
    config = previous << 2 | current
    return f"g_super_kernel_early_start_config = {config}; AscendC::WaitPreTaskEndImpl<{config}>();"


ALL = "AscendC::SyncAll<false>();"
KIND = "KindBarrier();"
START_NEXT = "AscendC::SetNextTaskStart();"

_AUTO_ON = (
    "AscendC::g_superKernelAutoSyncAllConfigGmBaseAddr = (GM_ADDR)Word(DATA);"
    "AscendC::g_superKernelAutoSyncAllSyncIdx = 0; AscendC::g_superKernelAutoSyncAllEnable = true;"
    "AscendC::g_superKernelAutoSyncAllConfigGmAddr = AscendC::g_superKernelAutoSyncAllConfigGmBaseAddr;"
    "if ASCEND_IS_AIV { AscendC::g_superKernelAutoSyncAllConfigGmAddr += 128; }"
)
_AUTO_OFF = "AscendC::g_superKernelAutoSyncAllEnable = false;"
_END = "AscendC::SuperKernelAutoSyncAllEndImpl();"
_COMPLEMENT = "AscendC::SuperKernelAutoSyncAllComplementImpl();"
_FED = (
    "SK_OP_BEGIN(0);"
    f"if ASCEND_IS_AIV {{ if (AscendC::GetBlockIdx() < 3) {{ CALL(0); {_END} }} else {{ {_COMPLEMENT} }} }}"
    "SK_OP_END(0);"
)


def body(*parts: str) -> str:
    return "\n".join(("Start();", *parts))


V, C, M = vec, cub, mix


def chained(*kernels: str) -> tuple[tuple[str, int, int, int], ...]:
    """Operator n reads buffers n and n + 2 and writes n + 1."""
    return tuple((kernel, n % 5, (n + 2) % 5, (n + 1) % 5) for n, kernel in enumerate(kernels))


MISTAKES = [
    Mistake(
        "switch-without-barrier",
        (DEADLOCK,),
        "AIV",
        8,
        chained("vec8", "vec8", "vec8"),
        # The first core clears the lock while another has not seen it raised yet.
        wrong=body(V(0, 8), KIND, "Poll(W0);", V(1, 8), "Clear(W0);", KIND, V(2, 8)),
        right=body(V(0, 8), KIND, "Poll(W0);", KIND, V(1, 8), "Clear(W0);", KIND, V(2, 8)),
        agents=(Agent(words=(0,), delay=60),),
        words=1,
        names=(0,),
    ),
    Mistake(
        "both-kinds-barrier-without-cubes",
        (DEADLOCK,),
        "AIV",
        3,
        chained("vec3", "vec1"),
        wrong=body(V(0), ALL, V(1, 1)),
        right=body(V(0), KIND, V(1, 1)),
        names=(0,),
    ),
    Mistake(
        "both-kinds-barrier-without-vectors",
        (DEADLOCK,),
        "AIC",
        2,
        chained("cub2", "cub1"),
        wrong=body(C(0), ALL, C(1, 1)),
        right=body(C(0), KIND, C(1, 1)),
        names=(0,),
    ),
    Mistake(
        "idle-cores-do-not-set",
        (DEADLOCK,),
        "AIV",
        8,
        chained("vec3", "vec8"),
        # All cores of the kind must raise the flag, also those that did not run the operator.
        wrong=body(V(0), "if (AscendC::GetBlockIdx() < 3) { AscendC::SetNextTaskStart(); }", early(1, 1), V(1, 8)),
        right=body(V(0), START_NEXT, early(1, 1), V(1, 8)),
        names=(0,),
    ),
    Mistake(
        "unknown-tiling-key-called",
        ("null-call",),
        "AIV",
        3,
        chained("vec3", "vec1"),
        # No table has the key, so the address stays 0.
        wrong=body(V(0), KIND, "SK_OP_BEGIN(1); ((void (*)(uint64_t))(uintptr_t)*Word(W0))(5);"),
        right=None,
        words=1,
        names=(1,),
    ),
    Mistake(
        "auto-sync-all-left-on",
        (DEADLOCK,),
        "MIX12",
        2,
        chained("vec3meet", "vec1"),
        wrong=body(_AUTO_ON, _FED, ALL, V(1, 1)),
        right=body(_AUTO_ON, _FED, _AUTO_OFF, ALL, V(1, 1)),
        names=(0,),
    ),
    Mistake(
        "wait-before-notify",
        (DEADLOCK,),
        "AIV",
        3,
        chained("vec3", "vec1"),
        wrong=body(V(0), KIND, "Await(W1);", "Notify(W0);", KIND, V(1, 1)),
        right=body(V(0), KIND, "Notify(W0);", "Await(W1);", KIND, V(1, 1)),
        agents=(Agent(when=0, words=(1,)),),
        words=2,
        names=(0,),
    ),
    Mistake(
        "notify-before-barrier",
        (WRONG_DATA,),
        "AIV",
        3,
        chained("vec3", "vec1"),
        # The partner reuses an input of the first operator as soon as it is told that the operator has ended.
        wrong=body(V(0), "Notify(W0);", KIND, V(1, 1)),
        right=body(V(0), KIND, "Notify(W0);", V(1, 1)),
        agents=(Agent(when=0, fills=((0, 7),)),),
        words=1,
    ),
    Mistake(
        "wait-without-barrier",
        (WRONG_DATA,),
        "AIV",
        3,
        chained("vec1", "vec3"),
        # Only the first core waits for the partner's data.
        wrong=body(V(0, 1), KIND, "Await(W0);", V(1)),
        right=body(V(0, 1), KIND, "Await(W0);", KIND, V(1)),
        agents=(Agent(fills=((3, 7),), words=(0,), delay=400),),
        words=1,
    ),
    Mistake(
        "own-side-order-lost",
        (HAZARD,),
        "MIX12",
        2,
        chained("mix2", "mix2s"),
        wrong=body(M(0), "pipe_barrier(PIPE_ALL);", M(1), early(2, 2)),
        right=body(
            M(0),
            KIND,
            f"{CUBE} {{ SetCubeToVector(); Wait(AscendC::SYNC_AIV_FLAG); }}",
            f"{VEC} {{ SetVectorToCube(); Wait(AscendC::SYNC_AIC_AIV_FLAG); }}",
            M(1),
            early(2, 2),
        ),
        names=(0, 1),
    ),
    Mistake(
        "mixed-notify-on-the-wrong-kind",
        (WRONG_DATA,),
        "MIX12",
        2,
        (("mix2", 0, 2, 1), ("cub2", 3, 4, 2)),
        # Before a cube operator only cube cores learn that both halves have ended.
        wrong=body(M(0), START_NEXT, early(2, 0), f"{VEC} {{ Notify(W0); }}", C(1)),
        right=body(M(0), START_NEXT, early(2, 0), f"{CUBE} {{ Notify(W0); }}", C(1)),
        agents=(Agent(when=0, fills=((1, 7),)),),
        words=1,
    ),
    Mistake(
        "first-waits-for-nobody",
        (DEADLOCK,),
        "AIC",
        2,
        chained("cub2w", "cub1"),
        wrong=body(C(0), KIND, C(1, 1)),
        right=body("g_super_kernel_early_start_config = 0;", START_NEXT, C(0), KIND, C(1, 1)),
        names=(0,),
    ),
    Mistake(
        "last-starts-nobody",
        (LEAK,),
        "AIV",
        3,
        chained("vec1", "vec3s"),
        wrong=body(V(0, 1), KIND, V(1)),
        right=body(V(0, 1), KIND, V(1), early(1, 1)),
    ),
    Mistake(
        "early-start-in-two-streams-waits",
        (DEADLOCK,),
        "MIX12",
        2,
        chained("vec3", "cub2w"),
        wrong=body(
            V(0),
            f"{VEC} {{ KindBarrier(); SetVectorToCube(); }}",
            f"{CUBE} {{ Wait(AscendC::SYNC_AIV_FLAG); }}",
            C(1),
        ),
        right=None,
        names=(1,),
    ),
    Mistake(
        "early-start-in-two-streams-sets",
        (HAZARD, LEAK),
        "MIX12",
        2,
        chained("mix2s", "mix2"),
        wrong=body(
            M(0),
            KIND,
            f"{CUBE} {{ SetCubeToVector(); Wait(AscendC::SYNC_AIV_FLAG); }}",
            f"{VEC} {{ SetVectorToCube(); Wait(AscendC::SYNC_AIC_AIV_FLAG); }}",
            M(1),
        ),
        right=None,
    ),
    Mistake(
        "dynamic-op-in-feed-sync-all",
        (DEADLOCK,),
        "AIV",
        3,
        chained("vec1", "vec1"),
        # Cores beyond the static block count follow an operator that never announces its end.
        wrong=body(_AUTO_ON, f"if (AscendC::GetBlockIdx() < 1) {{ CALL(0); }} else {{ {_COMPLEMENT} }}", KIND, V(1, 1)),
        right=body(_AUTO_OFF, V(0, 1), KIND, V(1, 1)),
        names=(0,),
    ),
    Mistake(
        "barrier-in-a-pending-round",
        (WRONG_DATA,),
        "MIX12",
        2,
        (("mix2s", 0, 2, 1), ("vec1", 3, 4, 2)),
        # The operator has raised its flags already: the barrier takes them for its own and lets the first block go.
        wrong=body(M(0), ALL, f"{VEC} {{ Notify(W0); }}", early(2, 1), V(1, 1)),
        right=body(M(0), early(2, 1), ALL, f"{VEC} {{ Notify(W0); }}", V(1, 1)),
        agents=(Agent(when=0, fills=((1, 7),)),),
        words=1,
    ),
    Mistake(
        "switch-before-notify",
        (DEADLOCK,),
        "AIV",
        3,
        chained("vec3", "vec1"),
        # The tiling task is started by the notify.
        wrong=body(V(0), KIND, "Poll(W1);", "Notify(W0);", KIND, V(1, 1), "Clear(W1);"),
        right=body(V(0), KIND, "Notify(W0);", "Poll(W1);", KIND, V(1, 1), "Clear(W1);"),
        agents=(Agent(when=0, words=(1,)),),
        words=2,
        names=(0,),
    ),
    Mistake(
        "edge-open-across-a-mixed-op",
        (HAZARD,),
        "MIX11",
        3,
        (("cub2", 0, 2, 3), ("mix3meet", 0, 2, 1), ("vec1", 3, 2, 4)),
        # The release of the edge is taken for the release of the operator's own barrier.
        wrong=body(
            C(0),
            f"{CUBE} {{ KindBarrier(); SetCubeToVector(); }}",
            M(1, 3),
            f"{VEC} {{ Wait(AscendC::SYNC_AIC_AIV_FLAG); }}",
            V(2, 1),
        ),
        right=body(
            C(0),
            f"{CUBE} {{ KindBarrier(); SetCubeToVector(); }}",
            f"{VEC} {{ Wait(AscendC::SYNC_AIC_AIV_FLAG); }}",
            M(1, 3),
            V(2, 1),
        ),
    ),
    Mistake(
        "too-far-ahead",
        (OVERFLOW,),
        "MIX11",
        1,
        (*(("cub1", 0, 2, 1) for _ in range(17)), ("vec1", 0, 2, 3), ("vec1", 1, 2, 4)),
        # The vector side is busy (it waits for flag 5) while the cube side runs on.
        wrong=body(
            *(f"{CUBE} {{ CALL({n}); KindBarrier(); SetCubeToVector(); }}" for n in range(17)),
            f"{CUBE} {{ Set(PIPE_FIX, 2, 5); }}",
            f"{VEC} {{ CALL(17); Wait(5); }}",
            *(f"{VEC} {{ Wait(AscendC::SYNC_AIC_AIV_FLAG); }}" for _ in range(17)),
            f"{VEC} {{ CALL(18); }}",
        ),
        right=body(
            *(f"{CUBE} {{ CALL({n}); KindBarrier(); }}" for n in range(17)),
            f"{CUBE} {{ SetCubeToVector(); Set(PIPE_FIX, 2, 5); }}",
            f"{VEC} {{ CALL(17); Wait(5); Wait(AscendC::SYNC_AIC_AIV_FLAG); CALL(18); }}",
        ),
    ),
]
