"""The device of this machine, asked through CANN's runtime library where that can be loaded."""

from __future__ import annotations

import functools

from superkernel._fork import undivided

__all__ = ["soc_name"]

_LIBRARY = "libascendcl.so"


@functools.cache
def soc_name() -> str | None:
    """The full name of the device's SoC, such as ``Ascend910B2``; ``None`` without a device or its library.

    Asked once: loading the library takes time, and the device of a machine does not change.
    """
    # Here: most programs never ask.
    with undivided():
        import ctypes

    try:
        ask = ctypes.CDLL(_LIBRARY).aclrtGetSocName
    except (OSError, AttributeError):
        return None
    ask.argtypes = []
    ask.restype = ctypes.c_char_p
    name = ask()
    return name.decode(errors="replace").strip() or None if isinstance(name, bytes) else None
