"""The world around a call: CANN's Python where it is importable, ``configure`` and environment variables elsewhere.

Everything this package knows about CANN's Python is in this file. Nothing is remembered between calls: the graph
engine changes the SoC and the output folder from one call to the next.

A CANN installation can be broken: a module that fails to import, a function that raises or returns nonsense. Then a
warning says so and the call goes on as if that part of CANN were absent; only a missing SoC is an error, because a
guess would build for the wrong chip.
"""

from __future__ import annotations

import importlib
import logging
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Callable

from superkernel import _config, _core
from superkernel._logging import logger, lowest_level

__all__ = ["Configuration", "current_config", "snapshot"]

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
    # The native core keeps the log level it was told; a call is a good moment to tell it again.
    _core.set_log_level(lowest_level())
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    configured = _config.configured()
    # Looking for what is not there is the expensive part: once per snapshot is enough.
    has_cann = _is_cann_installed()
    for name in _config.SETTINGS:
        values[name], origins[name] = _in_force(name, configured, has_cann, values)
    return {**values, "origins": origins}


def current_config() -> Configuration:
    """The settings in force here and now, and where each came from."""
    values = snapshot()
    origins = values.pop("origins")
    return Configuration(values, origins)


def _in_force(
    name: str,
    configured: Mapping[str, _config.Configured],
    has_cann: bool,
    known: Mapping[str, Any],
) -> tuple[Any, str]:
    if name in configured:
        return _form(configured[name].value), configured[name].origin
    from_cann = _asked(name, known) if has_cann else None
    if from_cann is not None:
        return from_cann, "CANN"
    setting = _config.SETTINGS[name]
    variable = setting["variable"]
    text = None if variable is None else os.environ.get(variable)
    # An empty variable says nothing, except where nothing is something to say.
    if text or (text is not None and setting["takes_empty"]):
        return _form(_checked_variable(name, variable, text)), variable
    return _core.default_setting(name, known.get("soc", ""))


def _asked(name: str, known: Mapping[str, Any]) -> Any:
    """What CANN says about a setting, given those before it; None where it has nothing (usable) to say."""
    source = _config.SETTINGS[name]["cann"]
    if source is None:
        return None
    way, key = source
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
            f"set `{variable}` to {refusal}, unset it, or call `superkernel.configure({name}=...)`",
        ) from None


# -- CANN's Python ---------------------------------------------------------------------------------------------------


class CannAbsent(Exception):
    """CANN's Python is not installed, which is fine."""


class CannTrouble(Exception):
    """CANN's Python is installed, but a part of it does not work; the text says which and how."""


def _is_cann_installed() -> bool:
    try:
        importlib.import_module(PACKAGE)
    except ModuleNotFoundError as error:
        return error.name != PACKAGE
    except Exception:
        # Installed and broken; whoever needs something of it will say what does not work.
        return True
    return True


def _cann(module: str, attribute: str) -> Any:
    """An attribute of one of CANN's modules, looked up anew."""
    path = f"{PACKAGE}.{module}"
    try:
        return getattr(importlib.import_module(path), attribute)
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


def _read_soc(name: str, key: str, _known: Mapping[str, Any]) -> str | None:
    try:
        return _soc(key)
    except CannTrouble as trouble:
        from superkernel._errors import make_error

        variable = _config.SETTINGS[name]["variable"]
        if os.environ.get(variable):
            _warn(f"CANN does not tell the SoC, `{variable}` is taken: {trouble}")
            return None
        raise make_error(
            "SK0013",
            f"CANN's Python is installed but does not tell the SoC: {trouble}",
            "repair the CANN installation, set CANN's SoC before this call, or name it: "
            f"`superkernel.configure({name}=...)` or the environment variable `{variable}`",
        ) from trouble


def _soc(key: str) -> str:
    soc = _soc_spec(key)
    if isinstance(soc, str) and soc.strip():
        return soc.strip()
    raise CannTrouble(f'`get_soc_spec("{key}")` returned {soc!r}')


def _read_cores(name: str, key: str, known: Mapping[str, Any]) -> int | None:
    try:
        # The counts of another chip than the one that is built for say nothing.
        if _soc(_config.SETTINGS["soc"]["cann"][1]) != known["soc"]:
            return None
        count = _soc_spec(key)
        return int(_config.check(name, count))
    except _config.BadValue as refusal:
        _warn(f'CANN\'s `get_soc_spec("{key}")` returned {count!r}, expected {refusal}; the SoC table is taken')
    except CannTrouble as trouble:
        _warn(f"CANN does not tell the core count, the SoC table is taken: {trouble}")
    return None


def _read_build_config(name: str, key: str, _known: Mapping[str, Any]) -> Any:
    try:
        value = _ask("common.buildcfg", "get_current_build_config", key)
        # CANN has an empty value where nothing was set.
        return _config.check(name, value) if value else None
    except _config.BadValue as refusal:
        _warn(f'CANN\'s `get_current_build_config("{key}")` returned {value!r}, expected {refusal}; ignored')
    except CannTrouble as trouble:
        _warn(f"CANN does not tell `{name}`, the default is taken: {trouble}")
    return None


#: The ways in which the table of settings has CANN asked: with the setting's name, a key, and the settings before it.
_CANN_SOURCES: Mapping[str, Callable[[str, str, Mapping[str, Any]], Any]] = {
    "soc": _read_soc,
    "cores": _read_cores,
    "build config": _read_build_config,
}


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
        _warn(f"CANN does not tell its features: {trouble}")
        return {}
    except Exception as error:
        _warn(f"CANN does not tell its features: `get_features()` failed: {type(error).__name__}: {error}")
        return {}
    if not isinstance(features, Mapping):
        _warn(f"CANN does not tell its features: `get_features()` returned {type(features).__name__}")
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
