"""Builds operators for the simulator: ordinary AscendC in, object and JSON as the device compiler writes them out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from superkernel import _core
from superkernel._build import cache_limit
from superkernel._environment import current_config
from superkernel.sim import _arguments as check
from superkernel.sim.device import cache_directory
from superkernel.types import KernelType, OpEntry, Position

__all__ = ["BuiltOp", "build_op"]

#: The emulation headers that stand in for the vendor's.
INCLUDE_DIR = Path(__file__).resolve().parent.parent / "include"


@dataclass(frozen=True)
class BuiltOp:
    """A sub-kernel on disk, ready for ``op_list``."""

    #: ``kernelName``.
    name: str
    json_path: str
    #: The object file, or an archive of several.
    bin_path: str
    kernel_type: str
    block_dim: int
    #: Names of its parameters, in the order of its slots; mixed operators may have an FFTS address in front.
    params: tuple[str, ...]
    #: Symbols of its functions.
    functions: tuple[str, ...]
    #: Its code starts the next operator (``SetNextTaskStart``).
    sets_next_task_start: bool
    #: Its code waits for the operator before it (``WaitPreTaskEnd``).
    waits_pre_task_end: bool
    #: Its code calls ``SyncAll``.
    sync_all: bool
    #: Which function runs is decided at run time.
    dynamic: bool
    #: An equal result was there already.
    reused: bool

    def entry(
        self, *, stream_id: int = -1, send_events: Iterable[int] = (), recv_events: Iterable[int] = ()
    ) -> OpEntry:
        """Its entry in ``op_list``."""
        return {
            "json_path": self.json_path,
            "bin_path": self.bin_path,
            "stream_id": stream_id,
            "task_type": "dynamic" if self.dynamic else "normal",
            "send_event_list": list(send_events),
            "recv_event_list": list(recv_events),
        }


def build_op(
    source: str | os.PathLike[str],
    kernel: str,
    params: Sequence[str] | None = None,
    kernel_type: KernelType | None = "KERNEL_TYPE_AIV_ONLY",
    block_dim: int = 1,
    *,
    op_type: str = "",
    name: str | None = None,
    split_mode: int | None = None,
    early_start: bool | None = None,
    sync_all: bool | None = None,
    feed_sync_all: bool | None = None,
    position: Position = "middle",
    tiling_keys: Mapping[int, str] | Iterable[int] | None = None,
    debug_options: Sequence[str] = (),
    debug_size: int = 0,
    dcci_before_kernel_start: bool = False,
    dcci_after_kernel_end: bool = False,
    dcci_disable_on_kernel: bool = False,
    tiling_data: bytes | None = None,
    prelude: str = "",
    compile_options: Sequence[str] = (),
    include_dirs: Sequence[str | os.PathLike[str]] = (),
    watch_accesses: bool = True,
    soc: str | None = None,
    out_dir: str | os.PathLike[str] = "kernel_meta",
) -> BuiltOp:
    """Compiles an operator with the host's C++ compiler into a sub-kernel.

    ``source`` is C++ text, or the path of a file; ``kernel`` names its
    ``extern "C" __global__ __aicore__ void`` function. ``params`` names the parameters (by default as the source does).

    What the source does is found out by looking at it after preprocessing: calls of ``SyncAll``, ``SetNextTaskStart``
    and ``WaitPreTaskEnd``. ``early_start=False`` builds without early start, ``early_start=True`` insists on it;
    ``sync_all=True`` is for calls hidden in a library. ``position`` (``start``, ``middle``, ``end``) says where the
    operator will stand: the first has no op to wait for, the last none to start.

    ``kernel_type=None`` takes the type that the source says (``KERNEL_TASK_TYPE``, the selection of its template
    arguments), or that follows from what it uses. ``prelude`` is text in front of the source. ``tiling_data`` becomes
    part of the code of a static operator, in place of its last parameter.

    ``split_mode`` makes that many copies now; without it the super kernel makes its own. ``tiling_keys`` makes a
    dynamic operator: the source is compiled once for every key, with ``TILING_KEY_VAR`` defined to it, for the key's
    own kernel type if a mapping is given.

    ``watch_accesses`` has every load and store of the code tell the simulator, whose order checking then knows them one
    by one, as do ``pipes`` and ``cache`` of a launch. Without it the code is faster, and checked by what it changes.

    Raises ``SuperKernelError`` for forbidden names, arguments that contradict the source, and compiler errors.
    """
    text, path = _source(source)
    keys = _tiling_keys(tiling_keys, kernel_type)
    config = current_config()
    result = _core.build_op(
        {
            "source_text": text,
            "source_path": path,
            "kernel": check.text("kernel", kernel),
            "name": None if name is None else check.text("name", name),
            "params": None if params is None else _texts("params", params),
            "kernel_type": None if kernel_type is None else check.text("kernel_type", kernel_type),
            "block_dim": check.integer("block_dim", block_dim, 0, 2**32 - 1),
            "op_type": check.text("op_type", op_type),
            "soc": check.text("soc", soc) if soc else config["soc"],
            "split_mode": None if split_mode is None else check.integer("split_mode", split_mode, 0, 2**32 - 1),
            "early_start": _perhaps("early_start", early_start),
            "sync_all": _perhaps("sync_all", sync_all),
            "feed_sync_all": _perhaps("feed_sync_all", feed_sync_all),
            "position": check.text("position", position),
            "tiling_keys": list(keys.items()),
            "tiling_data": _bytes("tiling_data", tiling_data),
            "prelude": check.text("prelude", prelude),
            "debug_options": _texts("debug_options", debug_options),
            "debug_size": check.integer("debug_size", debug_size, 0, 2**32 - 1),
            "dcci": (
                check.flag("dcci_before_kernel_start", dcci_before_kernel_start),
                check.flag("dcci_after_kernel_end", dcci_after_kernel_end),
                check.flag("dcci_disable_on_kernel", dcci_disable_on_kernel),
            ),
            "compile_options": _texts("compile_options", compile_options),
            "include_dirs": [
                check.path("include_dirs", folder) for folder in check.listed("include_dirs", include_dirs)
            ],
            "watch_accesses": bool(watch_accesses),
            "ascendc": config["ascendc"],
            "cache": None if config["ascendc"] is None else (str(cache_directory()), cache_limit()),
            "out_dir": check.path("out_dir", out_dir),
        },
        str(INCLUDE_DIR),
        config["tool_timeout"],
    )
    return BuiltOp(
        name=result["name"],
        json_path=result["json_path"],
        bin_path=result["bin_path"],
        kernel_type=result["kernel_type"],
        block_dim=block_dim,
        params=tuple(result["params"]),
        functions=tuple(result["functions"]),
        sets_next_task_start=result["sets_next_task_start"],
        waits_pre_task_end=result["waits_pre_task_end"],
        sync_all=result["sync_all"],
        dynamic=bool(keys),
        reused=result["reused"],
    )


def _texts(name: str, values: Any) -> list[str]:
    return [check.text(name, value) for value in check.listed(name, values)]


def _bytes(name: str, value: Any) -> bytes | None:
    if value is None or isinstance(value, (bytes, bytearray, memoryview)):
        return None if value is None else bytes(value)
    raise check.refuse(f"{name}={check.shown(value)}", f"`{name}` is bytes")


def _perhaps(name: str, value: Any) -> bool | None:
    return None if value is None else check.flag(name, value)


def _tiling_keys(given: Any, kernel_type: str | None) -> dict[int, str | None]:
    """The kernel type of each; ``None``: what the source says."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        return dict.fromkeys(_keys(check.listed("tiling_keys", given)), kernel_type)
    return dict(zip(_keys(given), (check.text("tiling_keys", kind) for kind in given.values())))


def _keys(given: Iterable[Any]) -> list[int]:
    return [check.integer("tiling_keys", key, 0, 2**64 - 1) for key in given]


def _source(source: str | os.PathLike[str]) -> tuple[str | None, str | None]:
    """(text, None) or (None, path). No path holds a brace and a line break, no operator is without."""
    if isinstance(source, str) and ("\n" in source or "{" in source):
        return source, None
    return None, check.path("source", source)
