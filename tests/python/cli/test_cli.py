"""The command line, as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import superkernel
from op_lists import AIV, MIX_1_2, OpList
from superkernel import _core, cli

COMMAND = Path(sys.executable).with_name("superkernel")


def run(*arguments: object, program: list[str] | None = None, **settings) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SUPERKERNEL_")}
    return subprocess.run(
        [*(program or [str(COMMAND)]), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**environment, **settings.pop("environment", {})},
        **settings,
    )


@pytest.fixture
def ops(tmp_path) -> OpList:
    """The three kinds of op."""
    return (
        OpList(tmp_path)
        .op(AIV, 32, kernelName="isinf__kernel0", sub_operator_params=["x", "y", "workspace"])
        .op(MIX_1_2, 20, kernelName="matmul", sub_operator_params=["a", "b", "c"])
        .dynamic(MIX_1_2, kernelName="sink")
    )


#: Of what no package was made, nobody knows the commit.
VERSION = f"superkernel {superkernel.__version__} (commit {_core.__commit__})\n"


def test_version():
    for arguments in (["version"], ["--version"]):
        done = run(*arguments)
        assert (done.returncode, done.stdout) == (0, VERSION), done.stderr


def test_python_m_is_the_same():
    done = run("version", program=[sys.executable, "-m", "superkernel"])
    assert (done.returncode, done.stdout) == (0, VERSION)


def test_help_lists_every_command():
    done = run("--help")
    assert done.returncode == 0
    for name in cli.COMMANDS:
        assert f"\n    {name} " in done.stdout or f"\n    {name}\n" in done.stdout, name


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help(name):
    done = run(name, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"usage: superkernel {name}")


def test_no_command_shows_help():
    done = run()
    assert done.returncode == 1
    assert done.stdout.startswith("usage: superkernel")


def test_an_unknown_command_is_refused():
    done = run("plam")
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "usage: superkernel [-h] [-v] [--version] COMMAND ...",
        "superkernel: error: there is no command `plam`; did you mean `plan`?",
        "  hint: `superkernel --help` lists what there is",
    ]


def test_options_lists_the_table():
    done = run("options")
    assert done.returncode == 0
    assert "split-mode=4\n" in done.stdout
    assert "dcci-disable-on-kernel\n" in done.stdout
    table = json.loads(run("options", "--json").stdout)
    assert len(table) >= 16
    assert table[0] == {
        "name": "func-align",
        "accepts": "`0` or a power of two from 2 to 65536",
        "default": "512",
        "effect": "alignment of the kernel entry; 0: none",
    }


def test_options_of_captured_graphs_name_options_that_exist():
    known = {row["name"] for row in json.loads(run("options", "--json").stdout)}
    told = json.loads(run("options", "--aclgraph", "--json").stdout)
    named = {name for entry in told["options"] for name in entry["here"]}
    assert named <= known and set(told["only_here"]) == known - named
    assert {"split_mode", "early_start", "opt_extend"} <= {entry["name"] for entry in told["options"]}
    done = run("options", "--aclgraph")
    assert done.returncode == 0 and "stream_fusion" in done.stdout and "strict-scope-check" in done.stdout
    assert run("options", "--aclgraph", "split-mode=2").returncode == 2


def test_options_checks_a_string():
    done = run("options", "early-start=2:junk:split_mode=3", "--underscores")
    assert done.stdout == "early-start = EarlyStartV2DisableSubKernel\nsplit-mode = 3\n"
    assert done.stderr == ("superkernel: warning: option string: `junk` at position 14 has no `=` and is skipped\n")
    assert run("options", "").stdout == "no options\n"
    assert json.loads(run("options", "profiling=1", "--json").stdout) == {"profiling": "ProfilingEnable"}


def test_an_error_is_one_message_a_hint_and_status_1():
    done = run("options", "early-start=1:stream-funsion=1")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines() == [
        "superkernel: error [SK0101]: there is no option `stream-funsion`; did you mean `stream-fusion`?",
        "  early-start=1:stream-funsion=1",
        "                ^^^^^^^^^^^^^^",
        "  hint: `superkernel options` lists all of them",
    ]


def test_plan_for_people(ops):
    done = run("plan", ops.write("split-mode=2"), "--name", "te_superkernel_ab")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "te_superkernel_ab: KERNEL_TYPE_MIX_AIC_1_2, 24 blocks, one-stream form",
        "  for Ascend910_93 (c220), 2 code copies",
        "  12 parameter slots",
        "  defines -D__SUPER_KERNEL_DYNAMIC_BLOCK_NUM__ -D__ASCENDC_ENABLE_SET_NEXT_TASK_START "
        "-D__ASCENDC_ENABLE_WAIT_PRE_TASK_END -D__ASCENDC_SUPERKERNEL_EARLY_START_V2 -DASCENDC_DUMP=0",
        "",
        "op  kernel          type         task     stream  blocks  params from  sends  receives",
        "0   isinf__kernel0  AIV_ONLY     normal   0       32      1",
        "1   matmul          MIX_AIC_1_2  normal   0       20      4",
        "2   sink            MIX_AIC_1_2  dynamic  0       24      7",
    ]
    program = run("plan", ops.write("split-mode=2"), "--name", "te_superkernel_ab", "--text").stdout
    assert program.startswith("super kernel te_superkernel_ab\n")
    assert "\nsteps\n" in program
    # The objects are not there: a plan works without them and says so.
    assert done.stderr.startswith("superkernel: warning: te_superkernel_ab: ")


def test_plan_as_json(ops):
    done = run("plan", ops.write(), "--json")
    plan = json.loads(done.stdout)
    assert plan == superkernel.plan(ops.infos())
    assert plan["kernel_name"] == "ascendc_super_kernel_plus"


def test_plan_reads_standard_input_and_takes_settings(ops):
    text = json.dumps(ops.infos())
    done = run("plan", "-", "--json", "--aic-num", "10", "--aiv-num=20", "--options", "split-mode=1", input=text)
    plan = json.loads(done.stdout)
    assert plan["split_mode"] == 1
    assert plan["ops"][2]["block_num"] == 10
    done = run("plan", "-", "--soc", "Ascend955", input=text)
    assert done.returncode == 1
    assert "error [SK0402]: SoC `Ascend955` is not supported" in done.stderr
    done = run("plan", "-", "--aic-num", "few", input=text)
    assert "error [SK0011]: `--aic-num` cannot be `few`; expected a whole number from 1 up\n" in done.stderr


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"{", "Expecting property name enclosed in double quotes at line 1, column 2"),
        (b"\xff{}", "no UTF-8 text at byte 0"),
        (b"[" * 100_000, "nested too deeply"),
        (b"", "Expecting value at line 1, column 1"),
    ],
)
def test_plan_refuses_what_is_not_json(tmp_path, content, problem):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    done = run("plan", path)
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == f"superkernel: error [SK0014]: `{path}` is not JSON: {problem}"
    assert done.stderr.splitlines()[1] == "  hint: correct the file"


def test_plan_names_a_file_that_is_not_there(tmp_path):
    done = run("plan", tmp_path / "nothing.json")
    assert done.returncode == 1
    missing = tmp_path / "nothing.json"
    problem = f"superkernel: error [SK0001]: cannot read `{missing}`: No such file or directory"
    assert done.stderr.splitlines()[0].startswith(problem)
    assert run("plan", tmp_path).returncode == 1


def test_a_reader_that_stops_reading_is_no_error(ops):
    many = OpList(ops.folder)
    for _ in range(300):
        many.op(AIV)
    process = subprocess.Popen(
        [COMMAND, "plan", many.write(), "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.read(5)
    process.stdout.close()
    errors = process.stderr.read()
    assert process.wait() == cli.BROKEN_PIPE
    assert "Traceback" not in errors and "Exception ignored" not in errors


def test_only_the_asked_for_command_is_loaded():
    code = "import sys; from superkernel import cli; cli.main(['version']); print(*sys.modules, sep='\\n')"
    loaded = run(program=[sys.executable, "-c", code]).stdout.splitlines()
    assert "superkernel.cli.version" in loaded
    assert "superkernel.cli.plan" not in loaded
    assert "json" not in loaded


def test_a_program_is_checked_from_its_text(ops, tmp_path):
    text = run("plan", ops.write("split-mode=2"), "--text").stdout
    path = tmp_path / "program.txt"
    path.write_text(text)
    done = run("check", path)
    assert (done.returncode, done.stdout) == (0, "no rule is broken\n"), done.stderr
    lines = text.splitlines(keepends=True)
    without = "".join(line for line in lines if " release-lock " not in line)
    done = run("check", "-", input=without)
    assert (done.returncode, done.stdout) == (1, "aic 0.0 lacks the step release-lock of op 2\n"), done.stderr
    path.write_text(text.replace(" release-lock ", " release "))
    done = run("check", path)
    assert done.returncode == 1
    assert "[SK0503]" in done.stderr and "no step is called `release`" in done.stderr
    path.write_bytes(b"super kernel \xff")
    assert "[SK0503]" in run("check", path).stderr
