"""The option string of a super kernel, as Python values."""

from __future__ import annotations

from typing import Any

from superkernel import _core
from superkernel import super_kernel_constants as constants
from superkernel._errors import make_error
from superkernel._logging import logger

__all__ = ["parse_super_kernel_options"]


def parse_super_kernel_options(option_string: str | None, convert_underscore_to_hyphen: bool = False) -> dict[str, Any]:
    """The options that ``option_string`` gives, by name.

    Enumerated options are members of the enums of ``super_kernel_constants``, numbers are ``int``, the rest is ``str``.
    With ``convert_underscore_to_hyphen`` names may be written with ``_``. Raises ``SuperKernelError``.

    >>> parse_super_kernel_options("split-mode=2:profiling=1")
    {'split-mode': 2, 'profiling': <SuperKernelProfilingMode.ProfilingEnable: 1>}
    """
    given, warnings = _core.parse_options(checked_text(option_string), bool(convert_underscore_to_hyphen))
    for warning in warnings:
        logger.warning("%s", warning)
    return {name: _value(value) for name, value in given.items()}


def checked_text(option_string: object) -> str:
    """``option_string`` as text that every later stage can read; ``None`` is no options."""
    if option_string is None:
        return ""
    if not isinstance(option_string, str):
        raise make_error(
            "SK0105",
            f"the options must be a string, not `{type(option_string).__name__}`",
            "write them as `name=value:name=value`",
        )
    try:
        option_string.encode()
    except UnicodeEncodeError as error:
        raise make_error(
            "SK0106",
            f"the option string is not valid text: a lone surrogate at position {error.start}",
            "decode the text it came from as UTF-8",
        ) from None
    return option_string


def _value(value: object) -> Any:
    """The native core names an enum member by class and member."""
    if isinstance(value, tuple):
        enum, member = value
        return getattr(constants, enum)[member]
    return value
