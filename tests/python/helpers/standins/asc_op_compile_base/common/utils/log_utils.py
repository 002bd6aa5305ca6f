"""CANN's compile log: it judges levels itself, and from warnings on it also prints. Tests read ``LINES``."""

import os
from enum import Enum

from asc_op_compile_base.common.platform.platform_info import get_soc_spec

LINES = []


class AscendCLogLevel(Enum):
    LOG_DEBUG = 0
    LOG_INFO = 1
    LOG_WARNING = 2
    LOG_ERROR = 3


class LogUtil:
    @staticmethod
    def print_compile_log(kernel_name, message, level):
        if level.value < int(os.environ.get("ASCEND_GLOBAL_LOG_LEVEL", "2")):
            return
        # Every line names the SoC.
        soc = get_soc_spec("SHORT_SOC_VERSION").lower()
        LINES.append((kernel_name, message, level))
        if level.value >= 2 or os.environ.get("ASCEND_SLOG_PRINT_TO_STDOUT", "0") != "0":
            one_line = message.replace("\n", " ")
            print(f"CANN {level.name} {soc} {kernel_name} {one_line}", flush=True)
