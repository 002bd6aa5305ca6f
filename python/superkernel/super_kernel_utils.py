"""What code around super kernels needs of CANN, with or without CANN."""

from __future__ import annotations

from typing import Any, NoReturn

from superkernel import _config, _core
from superkernel._environment import current_config
from superkernel._errors import make_error
from superkernel._migration import moved
from superkernel.super_kernel_constants import ERR_CODE

__all__ = [
    "ERR_CODE",
    "get_compile_config_info",
    "get_soc_version",
    "is_support_super_kernel",
    "super_kernel_raise_err",
]


def get_soc_version() -> str:
    """The short name of the SoC that is built for, ``Ascend910_93`` say."""
    return str(current_config()["soc"])


def is_support_super_kernel() -> bool:
    """Whether super kernels can be built for that SoC."""
    cores, _ = _core.default_setting("aic_num", get_soc_version())
    return cores is not None


def get_compile_config_info(name: str | None = None) -> Any:
    """A setting in force, by its name or by CANN's (``tir.op_debug_config``); without a name all of them."""
    settings = current_config()
    if name is None:
        return dict(settings)
    by_cann = {row["cann"][1]: setting for setting, row in _config.SETTINGS.items() if row["cann"]}
    setting = by_cann.get(name, name)
    if setting not in settings:
        raise make_error("SK0010", f"there is no setting `{name}`", f"use one of: {', '.join(settings)}")
    return settings[setting]


def super_kernel_raise_err(message: object) -> NoReturn:
    """Raises the error of this package, which is CANN's as well where CANN is importable, with code ``EB0500``."""
    raise make_error("SK0018", str(message), "the caller of `super_kernel_raise_err` knows more")


__getattr__ = moved(__name__)
