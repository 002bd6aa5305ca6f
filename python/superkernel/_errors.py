"""The exception every failure of this package is."""

from __future__ import annotations

from typing import Any

__all__ = ["ERROR_CODE", "SuperKernelError", "make_error", "same_error"]

#: The code CANN knows every failure of super kernels by; ``errId`` tells them apart.
ERROR_CODE = "EB0500"


class SuperKernelError(RuntimeError):
    """A call failed.

    ``errorinfo`` is a dict with ``errCode`` (always ``EB0500``), ``errId`` (a stable id such as ``SK0101``, see
    ``docs/errors.md``), ``message`` (what is wrong), ``errSolution`` (what to do), ``errClass`` and ``errPcause``.
    With CANN's Python importable, what is raised is also an instance of CANN's ``TBEPythonError``, and its text begins
    with ``[errCode:EB0500]``. ``args[0]`` is ``errorinfo`` in both worlds.
    """

    errorinfo: dict[str, str]

    def __init__(self, errorinfo: dict[str, str]) -> None:
        super().__init__(errorinfo)
        self.errorinfo = errorinfo

    #: What the text begins with where CANN's software reads it.
    _mark = ""

    def __str__(self) -> str:
        info = self.errorinfo
        return self._mark + describe(info["errId"], info["message"], info["errSolution"])

    def __reduce__(self) -> tuple[Any, ...]:
        # The class that also derives from CANN's exists only at run time: the receiving process makes its own.
        info = self.errorinfo
        return same_error, (info["errId"], info["message"], info["errSolution"])


def describe(error_id: str, message: str, solution: str) -> str:
    """The text a person sees: id, message, hint."""
    return f"[{error_id}] {message}\n  hint: {solution}" if solution else f"[{error_id}] {message}"


def with_paths(text: str) -> str:
    """Documents that a text names, as files of the installed package."""
    if "docs/" not in text:
        return text
    import os
    import re

    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "docs")

    def place(found: re.Match[str]) -> str:
        path = os.path.join(folder, found[1])
        return path if os.path.isfile(path) else found[0]

    return re.sub(r"(?<![\w/.-])docs/([\w-]+\.md)\b", place, text)


def make_error(error_id: str, message: str, solution: str) -> SuperKernelError:
    """The exception for one failure, which is written to CANN's log."""
    from superkernel import _logging

    error = same_error(error_id, message, solution)
    _logging.error_in_cann_s_log(str(error))
    return error


def same_error(error_id: str, message: str, solution: str) -> SuperKernelError:
    """The exception for a failure that was made before, in another process: CANN's as well when CANN is importable."""
    from superkernel import _environment

    solution = with_paths(solution)
    info = {
        "errCode": ERROR_CODE,
        "errId": error_id,
        "message": message,
        "errClass": "",
        "errPcause": "",
        "errSolution": solution,
    }
    cann = _environment.cann_exception(ERROR_CODE, describe(error_id, message, solution))
    return SuperKernelError(info) if cann is None else _both(cann, info)


_classes: dict[type[BaseException], type[SuperKernelError]] = {}


def _class_for(kind: type[BaseException]) -> type[SuperKernelError]:
    """The class that is a ``SuperKernelError`` and a ``kind``; one per ``kind``, so that types compare equal."""
    if kind not in _classes:
        # The graph engine recognises failures of the compile side by this text.
        members = {"__module__": __name__, "_mark": f"[errCode:{ERROR_CODE}] "}
        # Of two threads that get here the first one's stays.
        _classes.setdefault(kind, type("SuperKernelError", (SuperKernelError, kind), members))
    return _classes[kind]


def _both(cann: RuntimeError, info: dict[str, str]) -> SuperKernelError:
    """``info`` as an exception that is a ``SuperKernelError`` and of the class of ``cann``."""
    try:
        combined = _class_for(type(cann))
        # CANN's constructor is not ours to call: the exception CANN raised already holds everything it sets.
        error = combined.__new__(combined)
    except TypeError:
        # A class that cannot be derived from.
        return SuperKernelError(info)
    error.__dict__.update(cann.__dict__)
    theirs: dict[str, Any] = dict(getattr(cann, "errorinfo", {}))
    # What CANN's error table adds (class, possible cause) stays; what is ours is the same in both worlds.
    error.errorinfo = {**theirs, **{key: value for key, value in info.items() if value or key not in theirs}}
    error.args = (error.errorinfo,)
    return error
