"""Python processes of our own: they import what this process would, and nothing from the current folder.

``python -m`` and multiprocessing look into the current folder first, so a ``contextlib.py`` that happens to be there
would be executed. Python's own ``-P`` needs 3.11, and ``-I`` sees neither ``PYTHONPATH`` nor the user's packages.
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Sequence
from pathlib import Path

__all__ = ["end_with_parent", "python_command", "python_environment", "start_python"]

# With `-c` the current folder is in front until the first line is through, and `sys` is built in. Our package is loaded
# from its place, so that nothing on the path can stand in for it.
_START = """\
import sys
sys.path[:] = {path}
import importlib.util
spec = importlib.util.spec_from_file_location("superkernel", {start}, submodule_search_locations=[{folder}])
sys.modules["superkernel"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sys.modules["superkernel"])
from {module} import main
sys.exit(main(sys.argv[1:]))
"""


def python_command(module: str, arguments: Sequence[str]) -> list[str]:
    """The command of a process that runs ``main(arguments)`` of one of our modules."""
    folder = Path(__file__).resolve().parent
    path = [entry for entry in sys.path if isinstance(entry, str) and not _is_current_folder(entry)]
    # ASCII, whatever the paths: how a process decodes its arguments depends on the locale.
    code = _START.format(
        path=ascii(path), start=ascii(str(folder / "__init__.py")), folder=ascii(str(folder)), module=module
    )
    return [sys.executable, "-c", code, *arguments]


def python_environment() -> dict[str, str]:
    """Its environment: Python reads ``PYTHONPATH`` before the first line of any code."""
    environment = dict(os.environ)
    entries = environment.pop("PYTHONPATH", "").split(os.pathsep)
    kept = [entry for entry in entries if not _is_current_folder(entry)]
    if kept:
        environment["PYTHONPATH"] = os.pathsep.join(kept)
    return environment


def start_python(module: str, arguments: Sequence[str], inherited: tuple[int, ...]) -> subprocess.Popen[bytes]:
    """Starts one that is talked to through inherited descriptors."""
    return subprocess.Popen(
        python_command(module, arguments), pass_fds=inherited, stdin=subprocess.DEVNULL, env=python_environment()
    )


def _is_current_folder(entry: str) -> bool:
    """Whether an entry of a search path names the current folder, unless Python's own modules are there."""
    try:
        return entry in ("", os.curdir) or (
            os.path.samefile(entry, os.curdir) and entry not in sysconfig.get_paths().values()
        )
    except OSError:
        return False


def end_with_parent(parent: int, requests: int) -> None:
    """In such a process: ends it when its parent is gone, whatever it does meanwhile and however long it may take.

    ``requests`` is the pipe the parent asks through. (The system's own signal for that follows the parent's *thread*,
    which may end earlier.)
    """
    # A descriptor of its own: where the process is about to end on its own, and report why, the other one is closed.
    threading.Thread(target=_end_with, args=(parent, os.dup(requests)), daemon=True).start()


def _end_with(parent: int, requests: int) -> None:
    poll = select.poll()
    # Closed once no request can come any more.
    poll.register(requests, 0)
    # A process that is a copy of the parent keeps the pipe open; an old system has no other way to notice.
    with contextlib.suppress(AttributeError, OSError):
        poll.register(os.pidfd_open(parent), select.POLLIN)
    if os.getppid() == parent:
        poll.poll()
    os._exit(0)
