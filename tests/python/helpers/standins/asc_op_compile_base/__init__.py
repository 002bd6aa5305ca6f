"""A stand-in for CANN's Python: exactly the names superkernel uses. Tests put it on ``sys.path`` of a subprocess."""

from asc_op_compile_base.common.platform import platform_info as platform_info
