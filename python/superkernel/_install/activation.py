"""``superkernel-rs activate``: makes this package the one that is imported, so that it can be taken back.

For one Python, by a file in its ``site-packages`` that Python reads when it starts (``startup.py`` does the work). For
a toolkit, by a stand-in for the first file of the replaced package; the original stays beside it. No foreign file is
deleted or written through a link, and if this package is gone, both give way to what was there before. Any number of
these commands may run at once, and be killed at any point: the original is always there, under one of its two names.
"""

from __future__ import annotations

import contextlib
import fcntl
import itertools
import os
import re
import site
import stat
import sysconfig
import tempfile
from collections.abc import Iterator
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
        with _only_one(folder):
            _replace(hook, f"import os; exec({program!r})\n")
    return hook


def deactivate_python() -> list[Path]:
    """Removes the hooks of this interpreter; those that were there."""
    removed = []
    for folder in dict.fromkeys([_own_folder(), site.getusersitepackages()]):
        hook = Path(folder, HOOK)
        if hook.is_file():
            with _reported(hook), contextlib.suppress(FileNotFoundError):
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


def activate_toolkit(toolkit: Path) -> tuple[Path, str]:
    """Puts the stand-in into a toolkit; the file that was written, and the name its original has now."""
    package = toolkit_package(toolkit)
    start = package / "__init__.py"
    if not start.is_file():
        raise make_error(
            "SK0015",
            f"there is no package `superkernel` in `{package.parent}`",
            "no other package comes before this one there; name another toolkit with `--toolkit DIR`, "
            "or set ASCEND_HOME_PATH",
        )
    with _reported(start), _only_one(package):
        if kind_of(package) is Kind.OURS:
            raise make_error(
                "SK0015", f"`{package}` is superkernel-rs already", "nothing is to be done: it was installed there"
            )
        saved = _saved_name(start) if is_stand_in(package) else _keep(start)
        mode = start.stat().st_mode & 0o777
        _replace(start, _STAND_IN.format(mark=STAND_IN_MARK, saved=saved, folder=ascii(str(HERE))), mode)
    return start, saved


def deactivate_toolkit(toolkit: Path) -> Path | None:
    """Puts the original back; ``None`` if there is no stand-in."""
    package = toolkit_package(toolkit)
    start = package / "__init__.py"
    if not package.is_dir():
        return None
    with _reported(start), _only_one(package):
        if not is_stand_in(package):
            _forget_second_name(start)
            return None
        os.replace(package / _saved_name(start), start)
    return start


def _saved_name(stand_in: Path) -> str:
    """The name beside a stand-in that its original has: the stand-in says it."""
    names = re.findall(re.escape(SAVED) + r"(?:\.[0-9]+)?", stand_in.read_text(encoding="utf-8"))
    name = names[0] if names else SAVED
    saved = stand_in.with_name(name)
    if not saved.is_file() or STAND_IN_MARK.encode() in saved.read_bytes():
        raise make_error(
            "SK0015",
            f"the original of `{stand_in}` is gone: it should be beside it, as `{name}`",
            "install the toolkit's package `superkernel` again, or put its `__init__.py` there, and repeat the command",
        )
    return str(name)


# -- files -----------------------------------------------------------------------------------------------------------

#: How a file begins that is not finished yet.
_UNFINISHED = ".superkernel-rs-"


def _keep(original: Path) -> str:
    """Gives a file a second name, or makes a copy of it; the name.

    A file that other software put there stays: then it is the next name that is free. So does the original of before
    an update of the toolkit.
    """
    for name in itertools.chain([SAVED], (f"{SAVED}.{number}" for number in itertools.count(2))):
        kept = original.with_name(name)
        if _is_same(original, kept):
            # By one who was killed before the stand-in was written.
            return name
        if os.path.lexists(kept):
            continue
        try:
            # Of the name, not of what it may be a link to.
            os.link(original, kept, follow_symlinks=False)
        except OSError:
            # There are file systems without second names.
            _replace(kept, original.read_bytes(), original.stat().st_mode & 0o777)
        return name
    raise AssertionError("numbers do not end")


def _is_same(original: Path, kept: Path) -> bool:
    """Whether the kept file is the original, by a second name or in content."""
    try:
        return stat.S_ISREG(kept.lstat().st_mode) and kept.read_bytes() == original.read_bytes()
    except OSError:
        return False


def _forget_second_name(original: Path) -> None:
    """Removes what an activation that was killed has left: another name of the original itself."""
    for kept in original.parent.glob(f"{SAVED}*"):
        if os.path.samestat(original.lstat(), kept.lstat()):
            kept.unlink()


@contextlib.contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """Waits until no other process changes files of a folder; what a killed one has left unfinished is removed."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError:
            # On NFS a lock needs a file that can be written. It stays: others that wait for it have it open.
            lock = os.open(folder / f"{_UNFINISHED}lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
            os.dup2(lock, descriptor)
            os.close(lock)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        for left in folder.glob(f"{_UNFINISHED}*.tmp"):
            # Or it belongs to another user, and does no harm.
            with contextlib.suppress(OSError):
                left.unlink()
        yield
    finally:
        os.close(descriptor)


def _replace(path: Path, content: bytes | str, mode: int = 0o644) -> None:
    """Writes a file in one step: a Python that starts meanwhile reads the old or the new one.

    A link at that place is replaced, not followed.
    """
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=_UNFINISHED, suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content if isinstance(content, bytes) else content.encode("ascii"))
            file.flush()
            # Or a crash of the machine leaves the new name with nothing in it.
            os.fsync(file.fileno())
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
