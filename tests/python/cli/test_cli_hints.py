"""Small things that help daily users: hints, forms of ids, lists of targets."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from superkernel import SuperKernelError, cli
from superkernel._errors import with_paths
from superkernel.cli import _examples, _output, _tree
from superkernel.scope import Graph

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("subject", ["sk306", "SK0306", "[SK0306]"])
def test_an_id_may_be_written_short(subject: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", subject]) == 0
    assert capsys.readouterr().out.startswith("SK0306 (")


@pytest.mark.parametrize("string", ["split-mode=2;profiling=1", "split-mode=2,profiling=1", "profiling=1 split-mode=2"])
def test_options_joined_by_another_sign(string: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["options", string]) == 1
    assert "options are joined by `:`, as in `split-mode=2:profiling=1`" in capsys.readouterr().err
    assert cli.main(["options", "split-mode=x"]) == 1
    assert "joined" not in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("make") is None, reason="no make")
def test_make_help_lists_every_target() -> None:
    text = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    listed = {line.split()[1] for line in text.splitlines()}
    makefile = (ROOT / "Makefile").read_text()
    targets = {name for names in re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE) for name in names.split()}
    assert targets - listed <= {"setup", "packages", "extra-tools"}, "what only other targets need is not listed"
    assert listed <= targets


def test_a_type_that_is_half_gone_without_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = "OP Type,Core Type,Total Time(us)"
    for folder, rows in (
        ("no_sk_model", ["Add,AI_VECTOR_CORE,40", "Cast,AI_VECTOR_CORE,10", "Tile,AI_VECTOR_CORE,24.96"]),
        ("sk_model", ["Add,AI_VECTOR_CORE,20", "SuperKernel,MIX_AIV,15", "Tile,AI_VECTOR_CORE,24.66"]),
    ):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "op_statistic.csv").write_text("\n".join([header, *rows]) + "\n")
    assert cli.main(["compare", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "30 us of single ops became 15 us of super kernels" in out
    went_in = out[out.index("went into super kernels:") : out.index("of single ops became")]
    assert "Add" in went_in and "Cast" in went_in and "Tile" not in went_in, "a difference that small is chance"


OPS = [{"name": f"n{number}", "type": "Add", "scope": "s", "support": 1, "stream": 0} for number in range(3)]


def written(folder: Path, content: object) -> str:
    (folder / "given.json").write_text(json.dumps(content))
    return str(folder / "given.json")


def test_a_field_no_op_has_is_refused_where_it_is_given() -> None:
    graph = Graph()
    with pytest.raises(SuperKernelError, match=r"op `a`: unknown field `suport`; did you mean `support`\?") as refusal:
        graph.op("a", "Add", suport=1)
    assert refusal.value.errorinfo["errId"] == "SK1001"
    with pytest.raises(SuperKernelError, match=r"op `a`: invalid type: string"):
        graph.op("a", "Add", support="yes")
    with pytest.raises(SuperKernelError, match=r"unknown field `x`, expected one of `branch`"):
        graph.op("a", "Add", x=1)
    first, second = graph.op("a", "Add"), graph.op("b", "Add")
    with pytest.raises(SuperKernelError, match=r"not `1`.*\n.*graph.event\(producer, consumer, id=1\)"):
        graph.event(1, first, second)  # type: ignore[arg-type]
    with pytest.raises(SuperKernelError, match=r"event 0: unknown variant `nomal`; did you mean `normal`"):
        graph.event(first, second, kind="nomal")  # type: ignore[arg-type]
    assert graph.event(first, second) == 0, "nothing of what was refused is left"
    assert [node["name"] for node in graph.nodes if node["type"] == "Add"] == ["a", "b"]


def test_a_field_no_op_has_in_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["scope", written(tmp_path, {"nodes": [{**OPS[0], "straem": 0}]})]) == 1
    assert "unknown field `straem` at line 1 column" in (told := capsys.readouterr().err)
    assert "did you mean `stream`?" in told and "expected one of" not in told


def test_the_command_for_the_other_kind_of_input_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph, ops = {"nodes": OPS}, {"op_list": [{"kernel_name": "k"}], "super_kernel_options": ""}
    for command in ("compile", "plan", "generate"):
        assert cli.main([command, written(tmp_path, graph)]) == 1
        told = capsys.readouterr().err
        assert "a graph is given" in told and "`superkernel build` builds the super kernels of a graph" in told
    for command in ("build", "scope"):
        assert cli.main([command, written(tmp_path, ops)]) == 1
        told = capsys.readouterr().err
        assert "an op list is given" in told and "`superkernel compile` builds the super kernel" in told


def test_a_build_of_a_graph_names_nodes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = {"bin_path": "k.o", "kernel_name": "k"}
    nodes = [{**op, **files, "json_path": str(tmp_path / f"{op['name']}.json")} for op in OPS]
    for node in nodes[:2]:
        Path(node["json_path"]).write_text("{}")
    assert cli.main(["build", written(tmp_path, {"nodes": nodes}), "--kernel-meta-parent-dir", str(tmp_path)]) == 1
    told = capsys.readouterr().out
    assert "node `n" in told and "op_list[" not in told


def test_a_graph_without_files_is_looked_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["scope", written(tmp_path, {"nodes": OPS})]) == 0
    assert "SK1020" in capsys.readouterr().out
    one_is_there = [{**OPS[0], "bin_path": "k.o", "json_path": "k.json", "kernel_name": "k"}, *OPS[1:]]
    assert cli.main(["scope", written(tmp_path, {"nodes": one_is_there})]) == 1
    assert "no bin_path or no json_path for `n1`, `n2`" in capsys.readouterr().out


def test_every_command_has_examples_that_it_takes() -> None:
    names = {" ".join(command.words) for command in _tree.commands()}
    assert set(_examples.EXAMPLES) == names
    for name, examples in _examples.EXAMPLES.items():
        assert 2 <= len(examples) <= 3, name
        for arguments, text in examples:
            cli.parser().parse_args([*name.split(), *shlex.split(arguments)])
            assert text and not text.endswith("."), name


def test_help_ends_with_settings_and_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.parser().parse_args(["compile", "--help"])
    usage, _, rest = capsys.readouterr().out.partition("\n\n")
    assert "[SETTINGS]" in usage and "--soc" not in usage
    assert 0 < rest.index("\noptions:") < rest.index("\nsettings:") < rest.index("\nexamples:")
    assert "superkernel compile ops.json --name fused\n" in rest


def test_colours_are_for_terminals_that_want_them(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    text = "superkernel: error [SK0001]: x\n  hint: y\nkernel: ok, 100 seeds, 5 steps\n\x1b[2Jplain\n"

    def written(stream: io.StringIO) -> str:
        _output.Shown(stream).write(text)
        return stream.getvalue()

    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    colourful = written(Terminal())
    assert "\x1b[31msuperkernel: error\x1b[0m [SK0001]" in colourful and ": \x1b[32mok\x1b[0m, 100" in colourful
    assert "\\x1b[2Jplain" in colourful, "what a text brings along stays text"
    without = text.replace("\x1b", "\\x1b")
    assert re.sub("\x1b\\[[0-9]+m", "", colourful) == written(io.StringIO()) == without
    monkeypatch.setenv("NO_COLOR", "1")
    assert written(Terminal()) == without


def test_messages_name_documents_that_are_there() -> None:
    with pytest.raises(SuperKernelError) as refusal:
        Graph.parse("{")
    (path,) = re.findall(r"\S+/scopes\.md", refusal.value.errorinfo["errSolution"])
    assert Path(path).is_absolute() and Path(path).is_file()
    assert with_paths("see docs/no_such_page.md, /a/docs/scopes.md") == "see docs/no_such_page.md, /a/docs/scopes.md"


def in_a_process(variables: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SUPERKERNEL_")}
    return subprocess.run(
        [sys.executable, *arguments], env={**environment, **variables}, capture_output=True, text=True, check=False
    )


def test_the_log_is_printed_where_the_environment_asks() -> None:
    code = "import superkernel; superkernel.scope.plan({'nodes': []}); superkernel._logging.logger.info('step')"
    assert in_a_process({}, "-c", code).stderr == ""
    assert "step" in in_a_process({"SUPERKERNEL_LOG": "Info"}, "-c", code).stderr
    assert "step" not in in_a_process({"SUPERKERNEL_LOG": "warning"}, "-c", code).stderr
    wrong = in_a_process({"SUPERKERNEL_LOG": "loud"}, "-c", code)
    assert wrong.returncode == 0 and "SUPERKERNEL_LOG=loud is not understood; it can be debug, info" in wrong.stderr
    code = "from superkernel import _logging, cli; cli.main(['version']); _logging.logger.debug('step')"
    assert "step" in in_a_process({"SUPERKERNEL_LOG": "debug"}, "-c", code).stderr, "the command line has it too"
    assert "step" not in in_a_process({}, "-c", code).stderr


def test_every_variable_that_is_read_is_listed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUPERKERNEL_LINKER", "both")
    assert cli.main(["options", "--env"]) == 0
    shown = capsys.readouterr().out
    assert "SUPERKERNEL_LINKER=both\n    setting `linker`: linker for a device" in shown
    assert cli.main(["options", "--env", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["SUPERKERNEL_LINKER"]["value"] == "both" and rows["SUPERKERNEL_KEEP"]["default"] == "`False`"
    sources = [*(ROOT / "python" / "superkernel").rglob("*.py")]
    read = {
        name
        for path in sources
        for name in re.findall(
            # What is only set there is not read.
            r"environ(?:\.get\(|\[)\"([A-Z_]+)\"(?!\] = )|VARIABLE = \"([A-Z_]+)\"",
            path.read_text(),
        )
        for name in name
        if name
    }
    ours = {"PATH", "PYTHONPATH", "HOME", "LD_LIBRARY_PATH", "TERM"}
    assert "SUPERKERNEL_LOG" in read and read - ours <= set(rows), read - ours - set(rows)
