"""A simulated device: memory, kernels, launches."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from superkernel import _core
from superkernel._build import cache_homes
from superkernel._environment import current_config
from superkernel._errors import SuperKernelError, make_error
from superkernel._files import checked_path
from superkernel._fork import new_lock
from superkernel._scratch import ScratchFolder, own_temporary_folder
from superkernel.sim import _arguments as check
from superkernel.sim._child import Child, ChildDied, ChildTimedOut
from superkernel.sim.kernel import Kernel, Origin
from superkernel.sim.memory import PAGE, Arena, Buffer
from superkernel.sim.report import Report

__all__ = ["Device"]

#: Where the one file that does not depend on a kernel is kept.
_CACHE = "sim"
#: Seconds that the process of a kernel has to start, and to end a launch whose time is up.
_GRACE = 20.0


class Device:
    """One simulated NPU.

    Kernel code runs in a child process by default, so that a kernel that crashes takes nothing with it;
    ``isolation="in-process"`` runs it here, for debuggers.
    """

    def __init__(
        self,
        soc: str | None = None,
        *,
        memory: int = 8 << 30,
        isolation: str = "process",
        timeout: float | None = 300.0,
        _address: int | None = None,
    ) -> None:
        if not isinstance(isolation, str) or isolation not in ("process", "in-process"):
            raise make_error("SK0902", f"isolation `{isolation}`", 'use "process" or "in-process"')
        #: Short SoC version; what `configure` says unless given.
        self.soc: str = current_config()["soc"] if soc is None else _core.short_soc(check.text("soc", soc))
        if _core.default_cores(self.soc) is None:
            raise make_error("SK0902", f"unknown SoC `{self.soc}`", "use Ascend910B, Ascend910_93 or Ascend950")
        self.isolation = isolation
        #: Seconds after which a launch in the child process is given up.
        self.timeout = timeout
        check.seconds("timeout", timeout)
        self._arena = Arena(check.integer("memory", memory, 4 * PAGE, 1 << 46), _address)
        self._buffers: dict[int, Buffer] = {}
        self._work = ScratchFolder("sim")
        #: The process it belongs to; a copy made by `fork` has its memory in common with it.
        self._owner = os.getpid()
        self._memory_lock = new_lock()
        self._libraries: dict[tuple[str, int, int], Path] = {}
        self._child: Child | None = None
        self._known_pages: dict[int, int] = {}
        #: One launch at a time; held throughout by who launches again and again on the same memory.
        self._lock = new_lock()
        self._library_lock = new_lock()

    @property
    def has_ffts_slot(self) -> bool:
        """Whether slot 0 of a super kernel is the FFTS address."""
        return _core.sim_has_ffts_slot(self.soc)

    def require_open(self) -> None:
        """Raises an error once it is closed, and in another process than the one that made it."""
        self._arena.require_open()
        if os.getpid() != self._owner:
            raise check.refuse(f"the device belongs to process {self._owner}", "make one in this process")

    # -- memory ------------------------------------------------------------------------------------------------------

    def buffer(self, data: Any, name: str | None = None, *, _address: int | None = None) -> Buffer:
        """Global memory with the content of an array or of anything bytes-like; an int gives that many zero bytes."""
        self.require_open()
        with self._memory_lock:
            self._drop_freed()
            buffer = Buffer(self._arena, data, name if name is not None else f"buffer{len(self._buffers)}", _address)
            self._buffers[buffer.address] = buffer
            return buffer

    def _drop_freed(self) -> None:
        self._buffers = {address: buffer for address, buffer in self._buffers.items() if buffer.live}

    @property
    def buffers(self) -> list[Buffer]:
        """All buffers that were not freed yet."""
        return self._live_buffers()

    def _live_buffers(self) -> list[Buffer]:
        with self._memory_lock:
            self._drop_freed()
            return list(self._buffers.values())

    # -- kernels -----------------------------------------------------------------------------------------------------

    def load(
        self,
        path: str | os.PathLike[str],
        *,
        bin_path: str | os.PathLike[str] | None = None,
        functions: dict[str, str] | None = None,
        kernel_type: str | None = None,
        block_dim: int | None = None,
    ) -> Kernel:
        """A kernel by its object or its JSON.

        A super kernel needs nothing else: ratio and block count come from the JSON beside the object, or the ratio
        from the object's own meta sections. A sub-kernel is loaded by its JSON (``bin_path`` where it has another name
        than the JSON says). ``functions`` (``{"aic": ..., "aiv": ...}``) with ``kernel_type`` loads any object.
        """
        self.require_open()
        description = _core.sim_describe(
            checked_path(path),
            None if bin_path is None else checked_path(bin_path, "bin_path"),
            None if functions is None else check.texts("functions", functions),
            None if kernel_type is None else check.text("kernel_type", kernel_type),
            None if block_dim is None else check.integer("block_dim", block_dim, 1, 2**32 - 1),
            self.soc,
            current_config()["strict"],
        )
        origin = Origin(Path(path), None if bin_path is None else Path(bin_path), functions, kernel_type, block_dim)
        return Kernel(self, description, self._library(description.object), origin)

    def load_alone(self, json_path: os.PathLike[str], bin_path: os.PathLike[str] | None) -> Kernel:
        """A sub-kernel as a kernel of its own, with the cross-core flags that it has inside of a super kernel."""
        strict = current_config()["strict"]
        description = _core.sim_describe(json_path, bin_path, None, None, None, self.soc, strict).with_flags()
        return Kernel(self, description, self._library(description.object))

    def _library(self, kernel: Path) -> Path:
        """The shared library of an object; made once as long as the file stays the same."""
        key = (str(kernel), *_version(kernel))
        # Two kernels must never be linked to one file, whichever threads load them.
        with self._library_lock:
            if key not in self._libraries:
                timeout = current_config()["tool_timeout"]
                output = Path(self._work.name) / f"kernel{len(self._libraries)}.so"
                _core.sim_link([str(kernel)], str(output), str(cache_directory()), timeout)
                self._libraries[key] = output
            return self._libraries[key]

    # -- launching ---------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else launches, or touches memory, meanwhile: other threads wait."""
        # In this order everywhere.
        with self._lock, self._memory_lock, self._arena.lock:
            self.require_open()
            yield

    def _launch(self, request: _core.LaunchRequest, timeout: float | None, events: int) -> Report:
        with self._lock:
            self.require_open()
            buffers = self._live_buffers()
            for buffer in buffers:
                request.add_buffer(buffer.name, buffer.address, buffer.nbytes, buffer.slack)
            request.set_status_address(self._arena.address)
            self._arena.clear_status()
            if self.isolation == "process":
                report = self._launch_in_child(request, timeout, buffers, events)
            else:
                report = request.launch()
            if report.status != "ok":
                for buffer in buffers:
                    buffer.repair()
            return report

    def _launch_in_child(
        self, launch: _core.LaunchRequest, timeout: float | None, buffers: list[Buffer], events: int
    ) -> Report:
        if self._child is not None and not self._child.is_silent():
            self._child.kill()
            self._child = None
        if self._child is None:
            self._child = Child(self._arena)
            self._known_pages = {self._arena.address: PAGE}
            pages = [(self._arena.address, PAGE, True)]
        else:
            pages = []
        live = {buffer.address: max(PAGE, -(-buffer.nbytes // PAGE) * PAGE) for buffer in buffers}
        live[self._arena.address] = PAGE
        pages += [(at, size, False) for at, size in self._known_pages.items() if live.get(at) != size]
        pages += [(at, size, True) for at, size in live.items() if self._known_pages.get(at) != size]
        self._known_pages = live
        try:
            # Kernel code is ended over there, which knows where it was; only what cannot be ended is given up here.
            patience = None if timeout is None else timeout + _GRACE
            report = self._child.ask(launch, pages, timeout, patience, events)
        except ChildDied as death:
            self._child = None
            return launch.lost("crash", f"the process of the kernel {death}{self._where(launch)}")
        except ChildTimedOut:
            self._child = None
            return launch.lost("timeout", f"the kernel did not come back within {timeout} seconds{self._where(launch)}")
        except SuperKernelError:
            if not self._child.usable:
                self._child = None
            raise
        except BaseException:
            self._child = None
            raise
        if report.status in ("crash", "timeout"):
            # Its memory may be damaged: the next launch gets a fresh process.
            self._child.kill()
            self._child = None
        return report

    def _where(self, launch: _core.LaunchRequest) -> str:
        core, op, steps = self._arena.status()
        if core == 0:
            return ", before any core ran"
        name = launch.op_name(op)
        place = "" if name is None else f" in op {op} `{name}`"
        return f"; {launch.core_name(core - 1)} was running{place} after {steps} steps"

    def close(self) -> None:
        """Ends the child process and gives all memory back; nothing of the device can be used any more."""
        if os.getpid() != self._owner:
            # A copy made by `fork`: process, memory and files are those of the device's own process.
            return
        with self._lock:
            if self._child is not None:
                self._child.kill()
                self._child = None
            self._arena.close()
            self._buffers = {}
            self._work.cleanup()

    def __enter__(self) -> Device:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Device({self.soc!r}, isolation={self.isolation!r})"


def _version(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError as error:
        raise make_error("SK0001", f"cannot read `{path}`: {error.strerror}", "check the path") from error
    return status.st_mtime_ns, status.st_size


def cache_directory() -> Path:
    """Where files that do not depend on a kernel are kept."""
    for home in cache_homes():
        folder = Path(home) / _CACHE
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        if os.access(folder, os.W_OK):
            return folder
    folder = own_temporary_folder() / "superkernel" / _CACHE
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise make_error("SK0001", f"cannot make `{folder}`: {error.strerror}", "set XDG_CACHE_HOME") from None
    return folder
