"""CANN's compile log; tests read ``LINES``."""

from enum import Enum

LINES = []


class AscendCLogLevel(Enum):
    LOG_DEBUG = 0
    LOG_INFO = 1
    LOG_WARNING = 2
    LOG_ERROR = 3


class LogUtil:
    @staticmethod
    def print_compile_log(kernel_name, message, level):
        LINES.append((kernel_name, message, level))
