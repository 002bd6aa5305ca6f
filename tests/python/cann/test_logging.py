"""The logger ``superkernel``, and CANN's compile log."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from interpreter import STANDINS, output_of, run_python
from kernel_library import MIX_1_2, KernelLibrary

LOG = """
import logging, superkernel
from superkernel._logging import building, logger, named
"""

CANN = (
    LOG
    + """
from asc_op_compile_base.common.utils.log_utils import LINES
def show():
    for name, message, level in LINES:
        print("-", name, message, level.name)
"""
)


def in_cann_s_log(code: str, level: str = "") -> list[str]:
    """What reaches CANN's log; its level is the number CANN's users set."""
    environment = {"ASCEND_GLOBAL_LOG_LEVEL": level} if level else {}
    shown = output_of(CANN + code + "\nshow()", path=[STANDINS], environment=environment)
    return [line[2:] for line in shown.splitlines() if line.startswith("- ")]


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


EVERYTHING = """
logger.warning("outside")
with building("te_superkernel_ab"):
    logger.debug("d")
    logger.info("%d ops", 3)
    named("superkernel.compile").warning("w")
    logger.error("e")
    logger.critical("c")
"""
DEBUG = ["te_superkernel_ab d LOG_DEBUG"]
INFO = ["te_superkernel_ab 3 ops LOG_INFO"]
ERRORS = ["te_superkernel_ab e LOG_ERROR", "te_superkernel_ab c LOG_ERROR"]
WARNINGS = ["superkernel outside LOG_WARNING", "te_superkernel_ab w LOG_WARNING", *ERRORS]


@pytest.mark.parametrize("of_python", ["DEBUG", "INFO", "WARNING", "CRITICAL"])
@pytest.mark.parametrize(
    ("of_cann", "expected"),
    [
        ("0", [WARNINGS[0], *DEBUG, *INFO, *WARNINGS[1:]]),
        ("1", [WARNINGS[0], *INFO, *WARNINGS[1:]]),
        ("", WARNINGS),
        ("2", WARNINGS),
        ("3", ERRORS),
        ("4", []),
    ],
)
def test_cann_s_level_decides_what_reaches_cann_s_log(of_python, of_cann, expected):
    assert in_cann_s_log(f"logger.setLevel(logging.{of_python})\n{EVERYTHING}", of_cann) == expected


def test_python_s_level_decides_what_reaches_python_s_handlers():
    done = run_python(
        CANN + "logging.basicConfig(format='%(message)s')\nlogging.lastResort = None\n" + EVERYTHING,
        path=[STANDINS],
        environment={"ASCEND_GLOBAL_LOG_LEVEL": "0"},
    )
    assert done.stderr.splitlines() == ["outside", "w", "e", "c"]


def test_a_warning_of_the_option_string_reaches_cann_s_log():
    assert in_cann_s_log(
        """
from superkernel.super_kernel_option_parse import parse_super_kernel_options
parse_super_kernel_options("option_xxx2")
"""
    ) == ["superkernel option string: `option_xxx2` at position 0 has no `=` and is skipped LOG_WARNING"]


def test_the_command_line_keeps_cann_s_log_out_of_its_results():
    """CANN prints its log to standard output, where `plan` prints JSON."""
    code = """
    import asc_op_compile_base, sys
    from superkernel.cli import main
    from superkernel.super_kernel_option_parse import parse_super_kernel_options as parse
    import superkernel.cli.options as command
    command.run = lambda options: parse("a part")
    main(["options"])
    main(["plan", "/nowhere.json"])
    """
    done = run_python(code, path=[STANDINS], environment={"ASCEND_GLOBAL_LOG_LEVEL": "0"}, with_cann_s_log=True)
    assert done.stdout == "", done.stderr
    assert "superkernel: warning: option string: `a part`" in done.stderr
    assert "superkernel: error [SK0001]" in done.stderr


RAISES = """
with building("te_superkernel_ab"):
    try:
        superkernel.configure(colour=1)
    except superkernel.SuperKernelError as error:
        caught = error
"""


def test_every_error_is_in_cann_s_log_once():
    assert in_cann_s_log(f"{RAISES}\nprint('*', *str(caught).splitlines(), sep='@')")[0].startswith(
        "te_superkernel_ab [errCode:EB0500] [SK0010] there is no setting `colour`"
    )
    passed_on = """
import pickle
again = pickle.loads(pickle.dumps(caught))
assert str(again) == str(caught)
try:
    raise again from caught
except RuntimeError:
    pass
from superkernel import _core
try:
    _core.parse_options("split-mode=0", False)
except superkernel.SuperKernelError:
    pass
print(*("- " + message.split(" ")[1] for name, message, level in LINES), sep="\\n")
LINES.clear()
"""
    assert in_cann_s_log(RAISES + passed_on) == ["[SK0010]", "[SK0102]"]
    # CANN's own level holds for errors too.
    assert in_cann_s_log(RAISES, "4") == []


def test_an_error_is_not_printed_for_python_s_callers():
    done = run_python(LOG + RAISES)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


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


def test_a_logger_class_of_the_user_stays():
    assert (
        output_of(
            """
import logging
class Mine(logging.Logger):
    mine = True
logging.setLoggerClass(Mine)
import importlib, superkernel
importlib.reload(superkernel)
from superkernel._logging import logger, named
print(logger.mine, named("superkernel") is logger, type(logging.getLogger("other")) is Mine, logger.handlers)
"""
        )
        == "True True True []\n"
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


@pytest.mark.parametrize("level", ["0", "1", "2"])
def test_what_the_native_core_logs_reaches_cann_s_log_at_cann_s_level(level):
    shown = in_cann_s_log(NATIVE + "import asc_op_compile_base\nplan()", level)
    assert bool([line for line in shown if line.endswith(" LOG_INFO")]) == (level != "2"), shown


def test_a_child_logger_with_a_level_of_its_own_hears_the_native_core():
    done = run_python(
        LOG
        + NATIVE
        + "logging.basicConfig(format='%(name)s %(levelname)s')\n"
        + "logging.getLogger('superkernel.scope').setLevel(logging.INFO)\nplan()"
    )
    assert "superkernel.scope INFO" in done.stderr.splitlines(), done.stderr


def test_a_handler_that_fails_does_not_stop_the_native_core():
    done = run_python(
        LOG
        + NATIVE
        + """
class Broken(logging.Handler):
    def emit(self, record):
        raise KeyError("broken handler")

logger.addHandler(Broken())
logger.setLevel(logging.INFO)
plan()
print("went on")
"""
    )
    assert done.stdout == "went on\n"
    assert "broken handler" in done.stderr


def test_every_record_of_the_native_core_names_a_logger_of_the_package():
    """Others would not write to CANN's log: `logging` makes them as soon as somebody asks for them."""
    from superkernel import _logging

    sources = [path.read_text() for path in (Path(__file__).parents[3] / "src").rglob("*.rs")]
    calls = [call for text in sources for call in re.findall(r"\blog::\w+!\(\s*(.{0,20})", text)]
    targets = [re.findall(r'\blog::\w+!\(\s*target: "([\w.]+)"', text) for text in sources]
    assert len(calls) == sum(map(len, targets)) > 20
    assert {name for found in targets for name in found} == {logger.name for logger in _logging.NATIVE}


def test_threads_that_log_do_not_wait_for_the_caller_who_waits_for_them(library: KernelLibrary, tmp_path: Path):
    """A record needs the interpreter lock: a caller that keeps it while others work would wait for ever."""
    ops = [library.op("one"), library.op("mixed", MIX_1_2), library.op("two")]
    infos = json.dumps(library.infos(*ops, options="split-mode=4"))
    done = run_python(
        LOG
        + f"""
import json
logging.basicConfig(level=logging.DEBUG)
infos = json.loads({infos!r})
places = dict(cache_dir="", kernel_meta_parent_dir={str(tmp_path)!r})
with superkernel.configure(soc="Ascend910_93", jobs=4, toolchain="host", **places):
    superkernel.plan(infos, "k")
    superkernel.compile(infos, "k")
"""
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("DEBUG:superkernel.toolchain:runs: ") >= 3, done.stderr
