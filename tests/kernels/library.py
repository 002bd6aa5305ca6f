"""About thirty small operators, each built once: what the campaign composes its programs of.

All compute the same formula (``order.h``) with constants of their own; they differ in the cores they use and in how
those cores meet. ``Kernel.reference`` is the formula in numpy.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from superkernel.sim import BuiltOp, build_op

SOURCES = Path(__file__).resolve().parent
#: Elements of every buffer.
N = 96
#: Bytes of the tiling data of a dynamic operator.
TILING_WORDS = 8

AIV = "AIV"
AIC = "AIC"
MIX = "MIX"


@dataclass(frozen=True)
class Constants:
    """``y[i] = a * x1[(p * i + s) % N] + (x2[i] ^ c) + b * i``"""

    a: int
    b: int
    c: int
    p: int
    s: int

    def apply(self, x1: np.ndarray, x2: np.ndarray) -> np.ndarray:
        index = np.arange(N, dtype=np.uint32)
        source = (np.uint32(self.p) * index + np.uint32(self.s)) % np.uint32(N)
        return np.uint32(self.a) * x1[source] + (x2 ^ np.uint32(self.c)) + np.uint32(self.b) * index

    def defines(self) -> list[str]:
        return [f"-DORDER_{name.upper()}={value}u" for name, value in vars(self).items()]

    def words(self) -> list[int]:
        return [self.a, self.b, self.c, self.p, self.s] + [0] * (TILING_WORDS - 5)


def _constants(number: int) -> Constants:
    # Steps that share no factor with N make the reading order a permutation.
    steps = [step for step in range(5, N) if step % 2 and step % 3]
    return Constants(
        a=2 * number + 3,
        b=40503 * (number + 1),
        c=0x9E3779B9 * (number + 1) % 2**32,
        p=steps[number % len(steps)],
        s=number,
    )


@dataclass(frozen=True)
class Kernel:
    """One operator of the library."""

    name: str
    source: str
    kernel_type: str
    block_dim: int
    number: int
    defines: tuple[str, ...] = ()
    tiling_keys: dict[int, str] = field(default_factory=dict, compare=False)
    #: Bytes of debug output; 0: none.
    debug_size: int = 0
    chips: tuple[str, ...] = ("c220", "c310")

    @property
    def kind(self) -> str:
        """The class of its type: which cores run it."""
        if self.kernel_type in ("KERNEL_TYPE_AIV_ONLY", "KERNEL_TYPE_MIX_AIV_1_0"):
            return AIV
        return AIC if self.kernel_type in ("KERNEL_TYPE_AIC_ONLY", "KERNEL_TYPE_MIX_AIC_1_0") else MIX

    @property
    def dynamic(self) -> bool:
        return bool(self.tiling_keys)

    @property
    def sets(self) -> bool:
        return "-DORDER_SETS" in self.defines

    @property
    def waits(self) -> bool:
        return "-DORDER_WAITS" in self.defines

    @property
    def meets(self) -> bool:
        """Calls SyncAll."""
        return "sync" in self.source

    @property
    def constants(self) -> Constants:
        """A dynamic operator reads its constants from tiling data instead."""
        return _constants(self.number)

    def cores(self) -> tuple[int, int]:
        """Cube and vector cores it uses."""
        if self.kind == AIV:
            return 0, self.block_dim
        if self.kind == AIC:
            return self.block_dim, 0
        return self.block_dim, self.block_dim * (2 if self.kernel_type.endswith("1_2") else 1)

    def build(self, soc: str, out_dir: os.PathLike[str], **options: object) -> BuiltOp:
        arguments: dict[str, object] = {"name": self.name, "out_dir": out_dir, "soc": soc, **options}
        return build_op(
            SOURCES / f"{self.source}.cpp",
            self.source,
            kernel_type=self.kernel_type,
            block_dim=self.block_dim,
            op_type=self.name.title().replace("_", ""),
            compile_options=[*self.constants.defines(), *self.defines],
            tiling_keys=self.tiling_keys or None,
            debug_options=["printf"] if self.debug_size else [],
            debug_size=self.debug_size,
            **arguments,  # type: ignore[arg-type]
        )


def _flags(sets: bool, waits: bool) -> tuple[str, ...]:
    return ("-DORDER_SETS",) * sets + ("-DORDER_WAITS",) * waits


def _library() -> list[Kernel]:
    found: list[Kernel] = []

    def add(name: str, source: str, kernel_type: str, block_dim: int, *defines: str, **more: object) -> None:
        found.append(
            Kernel(name, source, f"KERNEL_TYPE_{kernel_type}", block_dim, len(found), tuple(defines), **more)  # type: ignore[arg-type]
        )

    # Every class with every early-start half in its own code, on few and on many cores.
    for sets in (False, True):
        for waits in (False, True):
            mark = "s" * sets + "w" * waits
            flags = _flags(sets, waits)
            add(f"vec3{mark}", "order_plain", "AIV_ONLY", 3, *flags)
            add(f"cub2{mark}", "order_plain", "AIC_ONLY", 2, *flags)
            add(f"mix2{mark}", "order_mix", "MIX_AIC_1_2", 2, *flags)
    add("vec1", "order_plain", "AIV_ONLY", 1)
    add("vec8", "order_plain", "AIV_ONLY", 8)
    add("vec4sw", "order_plain", "MIX_AIV_1_0", 4, "-DORDER_SETS", "-DORDER_WAITS")
    add("cub1", "order_plain", "MIX_AIC_1_0", 1)
    add("cub4", "order_plain", "AIC_ONLY", 4)
    add("mix1", "order_mix", "MIX_AIC_1_1", 1)
    add("mix3sw", "order_mix", "MIX_AIC_1_1", 3, "-DORDER_SETS", "-DORDER_WAITS")
    add("mix4", "order_mix", "MIX_AIC_1_2", 4)
    # All cores of a kind meet inside the operator.
    add("vec3meet", "order_sync", "AIV_ONLY", 3, "-DORDER_ROUNDS=1")
    add("vec8meet", "order_sync", "AIV_ONLY", 8, "-DORDER_ROUNDS=3")
    add("vec2meetsw", "order_sync", "MIX_AIV_1_0", 2, "-DORDER_ROUNDS=2", "-DORDER_SETS", "-DORDER_WAITS")
    # Cube cores alone can only meet this way on the older chip.
    add("cub2meet", "order_sync", "AIC_ONLY", 2, "-DORDER_ROUNDS=2", chips=("c220",))
    add("mix2meet", "order_mix_sync", "MIX_AIC_1_2", 2, "-DORDER_ROUNDS=2")
    add("mix3meet", "order_mix_sync", "MIX_AIC_1_1", 3, "-DORDER_ROUNDS=1")
    add("mix2vmeet", "order_mix_sync", "MIX_AIC_1_2", 2, "-DORDER_ROUNDS=2", "-DORDER_VECTORS_MEET")
    add("vec2says", "order_plain", "AIV_ONLY", 2, "-DORDER_SAYS", debug_size=75 * 1024)
    # The run decides.
    add(
        "dynmix",
        "order_dynamic",
        "MIX_AIC_1_2",
        1,
        tiling_keys={1: "KERNEL_TYPE_MIX_AIC_1_2", 2: "KERNEL_TYPE_AIV_ONLY", 3: "KERNEL_TYPE_MIX_AIC_1_0"},
    )
    add(
        "dynvec",
        "order_dynamic",
        "AIV_ONLY",
        1,
        tiling_keys={2: "KERNEL_TYPE_AIV_ONLY", 2**63 + 5: "KERNEL_TYPE_MIX_AIV_1_0"},
    )
    add("dyncub", "order_dynamic", "AIC_ONLY", 1, tiling_keys={3: "KERNEL_TYPE_AIC_ONLY"})
    return found


KERNELS = _library()
BY_NAME = {kernel.name: kernel for kernel in KERNELS}
SOCS = {"c220": "Ascend910_93", "c310": "Ascend950"}


class Library(dict[str, BuiltOp]):
    """The operators for one chip, each built when it is first asked for; what is there already is not built again."""

    def __init__(self, chip: str, out_dir: os.PathLike[str], **options: object) -> None:
        super().__init__()
        self._chip, self._out_dir, self._options = chip, out_dir, options

    def __missing__(self, name: str) -> BuiltOp:
        kernel = BY_NAME[name]
        # Dynamic operators are always copied by the super kernel.
        options = {key: value for key, value in self._options.items() if not (kernel.dynamic and key == "split_mode")}
        self[name] = kernel.build(SOCS[self._chip], self._out_dir, **options)
        return self[name]
