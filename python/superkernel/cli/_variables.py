"""Environment variables: those of the settings, and the others that change what this package does."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["Variable", "variables"]


class Variable(NamedTuple):
    """An environment variable."""

    name: str
    meaning: str
    #: What holds without it.
    default: str

    @property
    def value(self) -> str | None:
        """What it is now."""
        return os.environ.get(self.name)


#: What no setting is.
_OTHERS = (
    Variable(
        "SUPERKERNEL_LOG", "print the log to standard error from this level on: `debug`, `info`, `warning`", "no log"
    ),
    Variable("ASCEND_GLOBAL_LOG_LEVEL", "the level of CANN's own log, which repeats ours: 0 (debug) to 4 (none)", "2"),
    Variable("ASCEND_HOME_PATH", "where CANN's toolkit is, if its compiler is not on `PATH`", "none"),
    Variable("ASCENDC_CCACHE_EXECUTABLE", "a program that device compilers are started through", "none"),
    Variable("ASCENDC_COV", "`1`: kernels are built with `-g`", "0"),
    Variable("CXX", "the compiler of the host, with arguments if need be", "the first of `PATH`"),
    Variable("XDG_CACHE_HOME", "the folder in which the user's cache is", "`~/.cache`"),
    Variable("XDG_CONFIG_HOME", "the folder in which prices of the cost model are stored", "`~/.config`"),
    Variable("TMPDIR", "where private work folders are made", "`/tmp`"),
    Variable("NO_COLOR", "anything: no colours on terminals", "colours"),
)


def variables() -> Iterable[Variable]:
    """All of them, those of the settings first."""
    from superkernel import _core

    for row in _core.setting_table():
        if row["variable"]:
            yield Variable(row["variable"], f"setting `{row['name']}`: {row['help']}", row["default"])
    yield from _OTHERS
