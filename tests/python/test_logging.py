"""The logger ``superkernel``, and CANN's compile log."""

from __future__ import annotations

from interpreter import STANDINS, output_of, run_python

LOG = """
import logging, superkernel
from superkernel._logging import building, logger
"""

CANN = (
    LOG
    + """
from asc_op_compile_base.common.utils.log_utils import LINES
def show():
    for name, message, level in LINES:
        print(name, message, level.name)
"""
)


def test_warnings_are_printed_when_nobody_set_up_logging():
    done = run_python(LOG + "logger.warning('look %s', 'here'); logger.info('not this')")
    assert (done.stdout, done.stderr) == ("", "look here\n")
    done = run_python(LOG + "logging.getLogger('superkernel.plan').warning('from a child')")
    assert done.stderr == "from a child\n"


def test_warnings_are_printed_once_when_somebody_did():
    for setup in ("logging.basicConfig(format='%(message)s')", "logger.addHandler(logging.StreamHandler())"):
        done = run_python(LOG + setup + "; logger.warning('look')")
        assert done.stderr == "look\n", setup


def test_python_s_own_last_resort_can_be_switched_off():
    done = run_python(LOG + "logging.lastResort = None; logger.warning('look')")
    assert "look" not in done.stderr


def test_cann_s_log_gets_everything_with_the_kernel_s_name():
    assert output_of(
        CANN
        + """
logger.setLevel(logging.DEBUG)
logger.warning("outside")
with building("te_superkernel_ab"):
    logger.debug("d")
    logger.info("%d ops", 3)
    logging.getLogger("superkernel.link").warning("w")
    logger.error("e")
    logger.critical("c")
show()
""",
        path=[STANDINS],
    ).splitlines() == [
        "superkernel outside LOG_WARNING",
        "te_superkernel_ab d LOG_DEBUG",
        "te_superkernel_ab 3 ops LOG_INFO",
        "te_superkernel_ab w LOG_WARNING",
        "te_superkernel_ab e LOG_ERROR",
        "te_superkernel_ab c LOG_ERROR",
    ]


def test_a_warning_of_the_option_string_reaches_cann_s_log():
    assert output_of(
        CANN
        + """
from superkernel.super_kernel_option_parse import parse_super_kernel_options
parse_super_kernel_options("option_xxx2")
show()
""",
        path=[STANDINS],
    ) == ("superkernel option string: `option_xxx2` at position 0 has no `=` and is skipped LOG_WARNING\n")


def test_a_cann_log_that_fails_breaks_nothing():
    for broken in (
        "log_utils.LogUtil.print_compile_log = staticmethod(lambda *rest: 1 / 0)",
        "del log_utils.LogUtil",
        "del log_utils.AscendCLogLevel",
        "del log_utils.AscendCLogLevel; log_utils.AscendCLogLevel = object()",
    ):
        done = run_python(
            LOG
            + f"""
from asc_op_compile_base.common.utils import log_utils
{broken}
logger.warning("still here")
""",
            path=[STANDINS],
        )
        assert (done.returncode, done.stderr) == (0, "still here\n"), broken


def test_importing_twice_attaches_one_handler():
    assert (
        output_of(
            LOG
            + """
import importlib
importlib.reload(superkernel)
print(len(logger.handlers))
"""
        )
        == "1\n"
    )


NATIVE = """
from superkernel import scope
graph = scope.Graph()
with scope.super_kernel("sp"):
    for name in "abc":
        graph.op(name, "HcomAllReduce" if name == "b" else "Add")

def plan():
    scope.plan(graph)
"""


def test_the_native_core_logs_to_the_logger_of_its_module_at_the_level_of_the_moment():
    lines = output_of(
        LOG
        + NATIVE
        + """
class Show(logging.Handler):
    def emit(self, record):
        print(record.name, record.levelname)

logger.addHandler(Show())
plan()
print("now with INFO")
logger.setLevel(logging.INFO)
plan()
print("now without")
logger.setLevel(logging.ERROR)
plan()
"""
    ).splitlines()
    first, second = lines.index("now with INFO"), lines.index("now without")
    assert "superkernel.scope INFO" not in lines[:first]
    assert "superkernel.scope INFO" in lines[first:second]
    assert lines[second + 1 :] == []


def test_what_the_native_core_logs_reaches_cann_s_log():
    shown = output_of(CANN + NATIVE + "logger.setLevel(logging.INFO); plan(); show()", path=[STANDINS]).splitlines()
    assert [line for line in shown if line.startswith("superkernel ") and line.endswith(" LOG_INFO")]
