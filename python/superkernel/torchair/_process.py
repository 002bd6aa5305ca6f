"""Makes this process one in which TorchAir runs without a device: once, for good."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any, Literal, NamedTuple

from superkernel._environment import snapshot
from superkernel._errors import make_error
from superkernel._scratch import ScratchFolder
from superkernel.torchair import _source
from superkernel.torchair._engine import Engine
from superkernel.torchair._fx import FxEngine

#: The version of the operators that TorchAir gets: new enough for everything.
_OPERATORS = "9.0"

#: What devices call themselves, and torch_npu's numbers for them, by the short name of the SoC.
_DEVICES = {
    "Ascend910B": ("Ascend910B1", 220),
    "Ascend910_93": ("Ascend910_9391", 250),
    "Ascend950": ("Ascend950PR_9599", 260),
}


#: Who traces models: TorchAir, torch alone, or TorchAir where there is one.
Backend = Literal["auto", "torchair", "fx"]


class Process(NamedTuple):
    """The one of this process."""

    source: _source.Source
    engine: Engine | FxEngine
    #: Definitions of operators live as long as their libraries, and the folder as long as it is referenced.
    kept: list[Any]

    @property
    def is_coarse(self) -> bool:
        """Are graphs those of torch alone?"""
        return isinstance(self.engine, FxEngine)


_process: Process | None = None


def prepare(wheel: str | os.PathLike[str] | None = None, *, backend: Backend = "auto") -> Process:
    """Stands in for torch_npu and for TorchAir's native modules: from then on `import torchair` works here.

    With ``backend="fx"``, or where there is no TorchAir, a backend of torch's own takes the place of all of it: its
    graphs are coarser, and its results real.
    """
    global _process
    if backend not in ("auto", "torchair", "fx"):
        raise ValueError(f"backend cannot be {backend!r}; expected 'auto', 'torchair' or 'fx'")
    if _process is not None:
        other = wheel is not None and _source.find(wheel) != _process.source
        if other or (backend != "auto" and _process.is_coarse != (backend == "fx")):
            runs = "torch alone" if _process.is_coarse else f"the TorchAir of torch_npu {_process.source.version}"
            raise make_error("SK1053", f"this process runs {runs} already", "use another process for another one")
        return _process
    # Otherwise `import torch` loads an installed torch_npu, which fails without CANN.
    os.environ.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
    _torch()
    if "torch_npu" in sys.modules or "torchair" in sys.modules:
        raise make_error(
            "SK1053",
            "torch_npu or TorchAir is imported in this process already, and a dry run replaces them",
            "call `superkernel.torchair.prepare()` before anything imports them, or use `superkernel torchair`",
        )
    if backend == "fx" or (backend == "auto" and wheel is None and not _source.is_installed()):
        _process = _with_torch_alone()
        return _process
    source = _source.find(wheel)
    # Some releases look for the version of the operators there.
    folder = ScratchFolder("operators")
    (Path(folder.name) / "version.info").write_text(f"Version={_OPERATORS}\n")
    os.environ.setdefault("ASCEND_OPP_PATH", folder.name)
    # What a dry run compiles is not for a device, and graphs found there would not be traced.
    os.environ["TORCHAIR_CACHE_HOME"] = str(Path(folder.name) / "compiled")
    from superkernel.torchair import _device, _older, _operators

    engine = Engine()
    name, number = _DEVICES.get(str(snapshot()["soc"]), _DEVICES["Ascend910_93"])
    _device.install(source, name, number)
    libraries = _operators.register(source)
    _older.provide()
    engine.install(name)
    sys.path.insert(0, source.path("dynamo"))
    _import_torchair(source)
    engine.attach()
    _process = Process(source, engine, [*libraries, folder])
    return _process


def _with_torch_alone() -> Process:
    from superkernel.torchair import _device, _fx

    source, engine = _source.nothing(), FxEngine()
    name, number = _DEVICES.get(str(snapshot()["soc"]), _DEVICES["Ascend910_93"])
    _device.install(source, name, number)
    return Process(source, engine, _fx.install(engine))


def _torch() -> None:
    try:
        import torch  # noqa: F401
    except ImportError as error:
        raise make_error(
            "SK1051", f"torch cannot be imported: {error}", "install it: pip install 'superkernel-rs[torch]'"
        ) from error


def _import_torchair(source: _source.Source) -> None:
    # TorchAir takes the signals, to end an engine that is not there.
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        import torchair  # noqa: F401
    except Exception as error:
        raise make_error(
            "SK1052",
            f"the TorchAir of torch_npu {source.version} cannot be imported with this torch: {error!r}",
            "take a torch_npu for this torch; or dump the graphs where the model runs "
            '(config.debug.graph_dump.type = "txt") and plan them with `superkernel scope`',
        ) from error
    finally:
        for number, handler in kept.items():
            try:
                signal.signal(number, handler)
            except (ValueError, TypeError):
                # Not the main thread, or a handler that Python did not set: nothing was taken then.
                continue
