"""The world around a call: CANN's Python where it is importable, ``configure`` and environment variables elsewhere.

Everything this package knows about CANN's Python is in this file. Nothing is remembered between calls: the graph
engine changes the SoC and the output folder from one call to the next.

Importing CANN's Python selects a SoC, one that super kernels are never built for. So its SoC is a choice only if other
code imported it, as the graph engine's workers do, or has set another one since.

A CANN installation can be broken: a module that fails to import, a function that raises or returns nonsense. Then a
warning says so and the call goes on as if that part of CANN were absent; only a missing SoC is an error, because a
guess would build for the wrong chip.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any, Callable, NamedTuple

from superkernel import _config, _core, _device
from superkernel._fork import imported
from superkernel._logging import logger, lowest_level

__all__ = ["Configuration", "current_config", "in_force", "snapshot"]

PACKAGE = "asc_op_compile_base"


# -- the settings in force -------------------------------------------------------------------------------------------


class Configuration(Mapping[str, Any]):
    """The settings in force at one moment: ``config["soc"]`` or ``config.soc``, and ``config.origins["soc"]``."""

    def __init__(self, values: dict[str, Any], origins: dict[str, str]) -> None:
        self._values = values
        self.origins: Mapping[str, str] = origins

    def __getitem__(self, name: str) -> Any:
        return self._values[name]

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["_values"][name]
        except KeyError:
            raise AttributeError(f"there is no setting `{name}`") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Configuration({', '.join(f'{name}={value!r}' for name, value in self._values.items())})"

    def __str__(self) -> str:
        return "\n".join(f"{name} = {value!r}  ({self.origins[name]})" for name, value in self._values.items())


def snapshot() -> dict[str, Any]:
    """The settings in force now as plain values, and under ``origins`` where each came from.

    Taken once at the entry of a call; what changes afterwards does not touch that call.
    """
    # The native core keeps the log level it got; a call is a good moment to set it again.
    _core.set_log_level(lowest_level())
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    configured = _config.configured()
    # Looking for what is not there is the expensive part: once per snapshot is enough.
    cann = _look_for_cann()
    for name in _config.SETTINGS:
        values[name], origins[name] = _decide(name, configured, cann, values)
    return {**values, "origins": origins, "platform_info": _platform_info() if cann.is_in_use else {}}


def in_force(name: str) -> tuple[Any, str]:
    """One setting and where it came from, for those who need no other: the SoC may be missing."""
    cann = _look_for_cann() if _config.SETTINGS[name]["cann"] else _Cann(is_installed=False, is_in_use=False)
    return _decide(name, _config.configured(), cann, {})


def current_config() -> Configuration:
    """The settings in force here and now, and where each came from."""
    values = snapshot()
    origins = values.pop("origins")
    return Configuration({name: values[name] for name in _config.SETTINGS}, origins)


class _Cann(NamedTuple):
    """What there is of CANN's Python."""

    is_installed: bool
    #: Somebody else in this process uses it.
    is_in_use: bool


def _decide(
    name: str,
    configured: Mapping[str, _config.Configured],
    cann: _Cann,
    known: Mapping[str, Any],
) -> tuple[Any, str]:
    if name in configured:
        return _form(configured[name].value), configured[name].origin
    setting = _config.SETTINGS[name]
    way, key = setting["cann"] or (None, "")
    if way == "soc":
        return _soc_in_force(name, key, cann, configured)
    from_cann = _asked(way, name, key, known) if way and cann.is_installed else None
    if from_cann is not None:
        return from_cann, "CANN"
    return _from_variable(name) or _core.default_setting(name, known.get("soc", ""))


def _soc_in_force(name: str, key: str, cann: _Cann, configured: Mapping[str, _config.Configured]) -> tuple[Any, str]:
    """The SoC has an order of its own, and is not guessed for a device: that would build for the wrong chip."""
    trouble = None
    if cann.is_in_use:
        try:
            return _soc(key), "CANN"
        except CannTrouble as error:
            trouble = error
        except CannAbsent:
            pass
    told = _from_variable(name)
    if told is not None:
        if trouble is not None:
            _warn(f"CANN does not give the SoC, `{told[1]}` is taken: {trouble}")
        return told
    device = _device.soc_name()
    if device is not None:
        return _core.short_soc(device), f"device ({device})"
    # Its compiler may be all there is of CANN.
    if cann.is_installed:
        raise _no_soc(name, trouble) from trouble
    if _core.builds_for_device(_decide("toolchain", configured, cann, {})[0]):
        raise _no_soc_for_device(name)
    return _core.default_setting(name, "")


def _no_soc_for_device(name: str) -> Exception:
    from superkernel._errors import make_error

    return make_error(
        "SK0013",
        "the compiler for devices is used (toolchain `cann`), but the SoC to build for is not known, and there is "
        "no device to ask",
        f"name it: `superkernel.configure({name}=...)` or the environment variable "
        f"`{_config.SETTINGS[name]['variable']}`; for kernels of this machine: `superkernel.configure(toolchain=host)`",
    )


def _no_soc(name: str, trouble: Exception | None) -> Exception:
    from superkernel._errors import make_error

    variable = _config.SETTINGS[name]["variable"]
    naming = f"`superkernel.configure({name}=...)` or the environment variable `{variable}`"
    if trouble is None:
        return make_error(
            "SK0013",
            "CANN is installed, but the SoC to build for is not known, and there is no device to ask",
            f"name it: {naming}",
        )
    return make_error(
        "SK0013",
        f"CANN's Python is installed but does not give the SoC: {trouble}",
        f"repair the CANN installation, set CANN's SoC before this call, or name it: {naming}",
    )


def _from_variable(name: str) -> tuple[Any, str] | None:
    """What its environment variable says."""
    setting = _config.SETTINGS[name]
    variable = setting["variable"]
    text = None if variable is None else os.environ.get(variable)
    # An empty variable says nothing, except where nothing is something to say.
    if text or (text is not None and setting["takes_empty"]):
        return _form(_checked_variable(name, variable, text)), variable
    return None


def _asked(way: str, name: str, key: str, known: Mapping[str, Any]) -> Any:
    """What CANN says about a setting, given those before it; None where it has nothing (usable) to say."""
    try:
        return _CANN_SOURCES[way](name, key, known)
    except CannAbsent:
        # Gone since the start of the snapshot.
        return None


def _form(value: Any) -> Any:
    """A copy where the value could be changed behind our back; an empty folder means none."""
    return list(value) if isinstance(value, list) else None if value == "" else value


def _checked_variable(name: str, variable: str, text: str) -> Any:
    from superkernel._errors import make_error

    try:
        return _config.check(name, text)
    except _config.BadValue as refusal:
        raise make_error(
            "SK0012",
            f"environment variable `{variable}` cannot be `{text[:80]}`; expected {refusal}",
            f"set `{variable}` to {refusal}, unset it, or use `superkernel.configure({name}=...)`",
        ) from None


# -- CANN's Python ---------------------------------------------------------------------------------------------------


class CannAbsent(Exception):
    """CANN's Python is not installed, which is fine."""


class CannTrouble(Exception):
    """CANN's Python is installed, but a part of it does not work; the text says which and how."""


class _OwnImport:
    """The import of CANN's Python that this package did before anybody else."""

    def __init__(self) -> None:
        self.module: ModuleType | None = None
        #: The SoC that CANN selected when it was imported.
        self.soc: str | None = None


_own_import: _OwnImport | None = None


def _import_cann(path: str) -> ModuleType:
    """Imports one of CANN's modules. If CANN was not imported before, the SoC that it selects is noted.

    Without a lock, which an import in another thread could be waiting for: a note without a module says that the import
    is under way.
    """
    global _own_import
    if PACKAGE in sys.modules:
        return imported(path)
    if not _is_to_be_found():
        raise ModuleNotFoundError(f"No module named {PACKAGE!r}", name=PACKAGE)
    note = _own_import = _OwnImport()
    try:
        return imported(path)
    finally:
        note.module = sys.modules.get(PACKAGE)
        if note.module is None:
            _own_import = None
        else:
            note.soc = _soc_or_none()


def _is_to_be_found() -> bool:
    """Whether an import of CANN's Python would find something.

    Every call asks, so it must not be an import that fails: that takes locks, and an interrupt or a fork in the middle
    leaves them locked.
    """
    finders = [finder.find_spec for finder in sys.meta_path if hasattr(finder, "find_spec")]
    try:
        return any(find(PACKAGE, None) is not None for find in finders)
    except Exception:
        # The import will say so.
        return True


def _look_for_cann() -> _Cann:
    in_use = _is_cann_in_use()
    try:
        _import_cann(PACKAGE)
    except ModuleNotFoundError as error:
        return _Cann(error.name != PACKAGE, in_use)
    except Exception:
        # Installed and broken; code that needs something of it will report what does not work.
        return _Cann(True, in_use)
    return _Cann(True, in_use)


def _is_cann_in_use() -> bool:
    """Has other code imported CANN's Python, or set its SoC since this package did?"""
    module = sys.modules.get(PACKAGE)
    if module is None:
        return False
    if _own_import is None or (_own_import.module is not None and _own_import.module is not module):
        return True
    return _own_import.module is not None and _soc_or_none() not in (None, _own_import.soc)


def _soc_or_none() -> str | None:
    try:
        return _soc(_config.SETTINGS["soc"]["cann"][1])
    except (CannTrouble, CannAbsent):
        return None


def _cann(module: str, attribute: str) -> Any:
    """An attribute of one of CANN's modules, looked up anew."""
    path = f"{PACKAGE}.{module}"
    try:
        return getattr(_import_cann(path), attribute)
    except ModuleNotFoundError as error:
        if error.name == PACKAGE:
            raise CannAbsent from None
        raise CannTrouble(f"`import {path}` failed: {error}") from error
    except AttributeError as error:
        raise CannTrouble(f"`{path}` has no `{attribute}`") from error
    except Exception as error:
        raise CannTrouble(f"`import {path}` failed: {type(error).__name__}: {error}") from error


def _ask(module: str, function: str, argument: str) -> Any:
    """What a function of CANN says."""
    asked = _cann(module, function)
    try:
        return asked(argument)
    except Exception as error:
        raise CannTrouble(f'`{function}("{argument}")` failed: {type(error).__name__}: {error}') from error


def _soc_spec(key: str) -> Any:
    return _ask("common.platform.platform_info", "get_soc_spec", key)


def _soc(key: str) -> str:
    soc = _soc_spec(key)
    if isinstance(soc, str) and soc.strip():
        return _core.short_soc(soc.strip())
    raise CannTrouble(f'`get_soc_spec("{key}")` returned {soc!r}')


def _read_cores(name: str, key: str, known: Mapping[str, Any]) -> int | None:
    try:
        # The counts of another chip than the one that is built for say nothing, nor do those of a chip by default.
        if not _is_cann_in_use() or _soc(_config.SETTINGS["soc"]["cann"][1]) != known["soc"]:
            return None
        count = _soc_spec(key)
        return int(_config.check(name, count))
    except _config.BadValue as refusal:
        _warn(f'CANN\'s `get_soc_spec("{key}")` returned {count!r}, expected {refusal}; the SoC table is taken')
    except CannTrouble as trouble:
        _warn(f"CANN does not give the core count, the SoC table is taken: {trouble}")
    return None


def _read_build_config(name: str, key: str, _known: Mapping[str, Any]) -> Any:
    try:
        value = _ask("common.buildcfg", "get_current_build_config", key)
        # CANN has an empty value where nothing was set.
        return _config.check(name, value) if value else None
    except _config.BadValue as refusal:
        _warn(f'CANN\'s `get_current_build_config("{key}")` returned {value!r}, expected {refusal}; ignored')
    except CannTrouble as trouble:
        _warn(f"CANN does not give `{name}`, the default is taken: {trouble}")
    return None


#: The ways in which the table of settings has CANN asked: with the setting's name, a key, and the settings before it.
#: The SoC has a way of its own.
_CANN_SOURCES: Mapping[str, Callable[[str, str, Mapping[str, Any]], Any]] = {
    "cores": _read_cores,
    "build config": _read_build_config,
}


def _platform_info() -> dict[str, int]:
    """What CANN's operator context says about the platform, under the keys of a kernel's description."""
    found: dict[str, int] = {}
    try:
        context = _cann("common.context", "get_context")()
        limits = [context.get_addition(f"_op_{kind}core_num") for kind in ("ai", "vector")]
        if None not in limits:
            found["cubeCoreCnt"], found["vectorCoreCnt"] = (int(limit) for limit in limits)
    except Exception:
        # No context outside the compilation of an operator, and none at all in some versions.
        found.clear()
    # Not set, or unknown to this version.
    with contextlib.suppress(Exception):
        found["deterministicLevel"] = int(_ask("common.buildcfg", "get_current_build_config", "deterministic_level"))
    return {name: number for name, number in found.items() if number >= 0}


def cann_exception(code: str, message: str) -> RuntimeError | None:
    """The exception CANN raises for ``message``; ``None`` without CANN."""
    try:
        raise_error = _cann("common.error_mgr", "raise_tbe_python_err")
    except CannTrouble as trouble:
        _warn(f"CANN's exception is not available: {trouble}")
        return None
    except CannAbsent:
        return None
    raised = "nothing"
    try:
        raise_error(code, message)
    except Exception as error:
        if isinstance(error, RuntimeError) and isinstance(getattr(error, "errorinfo", None), dict):
            return error
        raised = f"{type(error).__name__}: {error}"
    _warn(f"CANN's exception is not available: `raise_tbe_python_err` raised {raised}")
    return None


def cann_features() -> dict[str, int]:
    """The versions of the features CANN's side knows; empty without CANN."""
    try:
        features = _cann("asc_op_compiler.ascendc_kernel_feature_manager", "get_features")()
    except CannAbsent:
        return {}
    except CannTrouble as trouble:
        _warn(f"CANN does not list its features: {trouble}")
        return {}
    except Exception as error:
        _warn(f"CANN does not list its features: `get_features()` failed: {type(error).__name__}: {error}")
        return {}
    if not isinstance(features, Mapping):
        _warn(f"CANN does not list its features: `get_features()` returned {type(features).__name__}")
        return {}
    return dict(features)


_LOG_LEVELS = (
    (logging.ERROR, "LOG_ERROR"),
    (logging.WARNING, "LOG_WARNING"),
    (logging.INFO, "LOG_INFO"),
    (logging.NOTSET, "LOG_DEBUG"),
)
#: What `ASCEND_GLOBAL_LOG_LEVEL` can be; 4 is silence.
_LOG_LEVELS_BY_NUMBER = {
    "0": logging.DEBUG,
    "1": logging.INFO,
    "2": logging.WARNING,
    "3": logging.ERROR,
    "4": logging.CRITICAL + 1,
}


def cann_log_level() -> int:
    """The level of Python's from which on records belong into CANN's log, as its users ask for it."""
    if PACKAGE not in sys.modules:
        # Nobody in this process uses CANN, and looking for it costs more than a line of progress is worth.
        return logging.WARNING
    return _LOG_LEVELS_BY_NUMBER.get(os.environ.get("ASCEND_GLOBAL_LOG_LEVEL", "").strip(), logging.WARNING)


def cann_log(kernel_name: str, level: int, message: str) -> None:
    """Writes one line to CANN's compile log; nothing without CANN. Never raises: a log must not break a build."""
    if level < cann_log_level():
        return
    module = "common.utils.log_utils"
    try:
        name = next(name for lowest, name in _LOG_LEVELS if level >= lowest)
        level_of_cann = getattr(_cann(module, "AscendCLogLevel"), name)
        _cann(module, "LogUtil").print_compile_log(kernel_name, message, level_of_cann)
    except Exception:
        # Without CANN, or with a broken one; a warning about that would come back here.
        return


_warned: set[str] = set()


def _warn(message: str) -> None:
    """A warning about the installation: once per process, not once per kernel."""
    if message not in _warned:
        _warned.add(message)
        logger.warning("%s", message)
