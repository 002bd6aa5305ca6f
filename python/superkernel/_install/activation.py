"""``superkernel-rs activate``: makes this package the one that is imported, so that it can be taken back.

For one Python, by a file in its ``site-packages`` that Python reads when it starts (``startup.py`` does the work). For
a toolkit, by a stand-in for the first file of the replaced package; the original stays beside it. No foreign file is
deleted, and if this package is gone, both give way to what was there before.
"""

from __future__ import annotations

import os
import shutil
import site
import sysconfig
import tempfile
from pathlib import Path

from superkernel._errors import make_error
from superkernel._install.packages import HERE, STAND_IN_MARK, Kind, is_stand_in, kind_of

__all__ = ["activate_python", "activate_toolkit", "deactivate_python", "deactivate_toolkit", "toolkit_package"]

HOOK = "superkernel-rs-activate.pth"
SAVED = "__init__.py.before-superkernel-rs"

# -- one Python ------------------------------------------------------------------------------------------------------

_RUN_STARTUP = """
path = {path}
if os.path.isfile(path):
    with open(path, "rb") as file:
        exec(compile(file.read(), path, "exec"), {{"__name__": "superkernel_startup", "__file__": path}})
"""


def activate_python(*, user: bool = False) -> Path:
    """Writes the hook for this interpreter: into its own folder if that can be written, else into the user's."""
    folder = Path(site.getusersitepackages() if user or not _is_writable(_own_folder()) else _own_folder())
    if folder == Path(site.getusersitepackages()) and not site.ENABLE_USER_SITE:
        raise make_error(
            "SK0015",
            f"this Python does not read the user's folder `{folder}`, and `{_own_folder()}` cannot be written",
            "run it as a user who may write there, or use `superkernel-rs activate --toolkit`",
        )
    # ASCII, whatever the path: how Python decodes such a file depends on the locale.
    program = _RUN_STARTUP.format(path=ascii(str(HERE / "_install" / "startup.py")))
    hook = folder / HOOK
    with _reported(hook):
        folder.mkdir(parents=True, exist_ok=True)
        _replace(hook, f"import os; exec({program!r})\n")
    return hook


def deactivate_python() -> list[Path]:
    """Removes the hooks of this interpreter; those that were there."""
    removed = []
    for folder in dict.fromkeys([_own_folder(), site.getusersitepackages()]):
        hook = Path(folder, HOOK)
        if hook.is_file():
            with _reported(hook):
                hook.unlink()
            removed.append(hook)
    return removed


def _own_folder() -> str:
    return sysconfig.get_path("purelib")


def _is_writable(folder: str) -> bool:
    return os.access(folder, os.W_OK | os.X_OK)


# -- a toolkit -------------------------------------------------------------------------------------------------------

_STAND_IN = '''\
"""{mark} --toolkit`: gives the package of superkernel-rs.

The original of this file is beside it, as `{saved}`; `superkernel-rs deactivate --toolkit` puts it
back. Should superkernel-rs be gone, or this Python too old for it, the original is used as ever.
"""

import importlib.util
import os
import sys
import warnings

_folder = {folder}
_start = os.path.join(_folder, "__init__.py")

if sys.version_info >= (3, 9) and os.path.isfile(_start):
    _spec = importlib.util.spec_from_file_location(__name__, _start, submodule_search_locations=[_folder])
    sys.modules[__name__] = importlib.util.module_from_spec(_spec)
    _spec.loader.exec_module(sys.modules[__name__])
else:
    warnings.warn(
        "superkernel-rs is activated, but %s; the package it replaces is used"
        % ("needs Python 3.9 or newer" if os.path.isfile(_start) else "`%s` is gone" % _folder),
        RuntimeWarning,
        stacklevel=2,
    )
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "{saved}"), "rb") as _file:
        exec(compile(_file.read(), __file__, "exec"))
'''


def toolkit_package(toolkit: Path) -> Path:
    """Where a toolkit has the replaced package."""
    return toolkit / "python" / "site-packages" / "superkernel"


def activate_toolkit(toolkit: Path) -> Path:
    """Puts the stand-in into a toolkit; the file that was written."""
    package = toolkit_package(toolkit)
    start, saved = package / "__init__.py", package / SAVED
    if not start.is_file():
        raise make_error(
            "SK0015",
            f"there is no package `superkernel` in `{package.parent}`",
            "nothing stands before this package there; name another toolkit with `--toolkit DIR`, "
            "or set ASCEND_HOME_PATH",
        )
    if kind_of(package) is Kind.OURS:
        raise make_error(
            "SK0015", f"`{package}` is superkernel-rs already", "nothing is to be done: it was installed there"
        )
    with _reported(start):
        if not is_stand_in(package):
            _keep(start, saved)
        _replace(
            start,
            _STAND_IN.format(mark=STAND_IN_MARK, saved=SAVED, folder=ascii(str(HERE))),
            mode=start.stat().st_mode & 0o777,
        )
    return start


def deactivate_toolkit(toolkit: Path) -> Path | None:
    """Puts the original back; ``None`` if there is no stand-in."""
    package = toolkit_package(toolkit)
    start, saved = package / "__init__.py", package / SAVED
    if not is_stand_in(package):
        return None
    with _reported(start):
        os.replace(saved, start)
    return start


# -- files -----------------------------------------------------------------------------------------------------------


def _keep(original: Path, kept: Path) -> None:
    """A second name for a file, or a copy of it."""
    if kept.exists():
        # Of an earlier version: the toolkit was updated while ours was active.
        kept.unlink()
    try:
        os.link(original, kept)
    except OSError:
        shutil.copy2(original, kept)


def _replace(path: Path, text: str, mode: int = 0o644) -> None:
    """Writes a file in one step: whoever starts Python meanwhile reads the old or the new one."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


class _reported:
    """Turns a refusal of the system into an error that says what to do."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        if isinstance(error, OSError):
            raise make_error(
                "SK0001",
                f"cannot change `{self._path}`: {error.strerror or error}",
                "run the command as a user who may write there",
            ) from error
