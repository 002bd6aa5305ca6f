"""A row per error: the smallest input that raises it, and its whole text in ``tests/cases/errors``."""

from __future__ import annotations

import json
import pickle
import re
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import golden
import pytest
import superkernel
from op_lists import AIC, AIV, MIX_1_1, MIX_1_2, REMOVE, OpList
from superkernel import SuperKernelError, _core, cli
from superkernel.cli._input import read_json
from superkernel.super_kernel_option_parse import parse_super_kernel_options

Raiser = Callable[[OpList], Any]


def plan(infos: Any, name: Any = "sk") -> Any:
    return superkernel.plan(infos, name)


def written(ops: OpList, content: str) -> OpList:
    """``ops`` with the JSON of op 0 replaced."""
    Path(ops.ops[0]["json_path"]).write_text(content)
    return ops


def generate(ops: OpList) -> Any:
    return superkernel.generate(ops.infos(), "sk")


def with_object(ops: OpList, source: str, *edits: str) -> OpList:
    """``ops`` with an object for op 0, compiled from C and edited by ``objcopy``."""
    path = ops.ops[0]["bin_path"]
    subprocess.run(["cc", "-x", "c", "-c", "-o", path, "-"], input=source, text=True, check=True)
    subprocess.run(["objcopy", *edits, path], check=True)
    return ops


TILING = {"kernel_type": AIV, "AiCore": "f"}

# (id, what is wrong, how to raise it). The name of the file is made of the first two.
ROWS: list[tuple[str, str, Raiser]] = [
    ("SK0001", "no such file", lambda ops: read_json(str(ops.folder / "nothing.json"))),
    ("SK0010", "near name", lambda ops: superkernel.configure(kernel_meta_parent="out")),
    ("SK0011", "bad value", lambda ops: superkernel.configure(jobs=0)),
    ("SK0014", "no json", lambda ops: read_json(str(written(ops.op(), "{").ops[0]["json_path"]))),
    ("SK0101", "unknown option", lambda ops: plan(ops.op().infos("stream-funsion=1"))),
    ("SK0102", "bad value", lambda ops: plan(ops.op().infos("split-mode=65"))),
    ("SK0103", "given twice", lambda ops: plan(ops.op().infos("profiling=1:profiling=1"))),
    ("SK0104", "empty name", lambda ops: plan(ops.op().infos("=1"))),
    ("SK0104", "empty value", lambda ops: plan(ops.op().infos("profiling="))),
    ("SK0105", "no string", lambda ops: parse_super_kernel_options(5)),  # type: ignore[arg-type]
    ("SK0106", "no text", lambda ops: parse_super_kernel_options("profiling=\udc80")),
    ("SK0201", "missing file", lambda ops: plan({"op_list": [{"json_path": str(ops.folder / "nothing.json")}]})),
    ("SK0201", "a folder", lambda ops: plan({"op_list": [{"json_path": str(ops.folder)}]})),
    ("SK0202", "cut off", lambda ops: plan(written(ops.op(), '{\n  "kernelName": "k0",').infos())),
    ("SK0203", "kernel_infos", lambda ops: plan([1, 2])),
    ("SK0203", "op_list", lambda ops: plan({"op_list": {"json_path": "x"}})),
    ("SK0203", "entry", lambda ops: plan({"op_list": ["x.json"]})),
    ("SK0203", "inside a file", lambda ops: plan(ops.op().op(sub_operator_params=["x", 3]).infos())),
    ("SK0203", "options", lambda ops: plan(ops.op().infos(7))),
    ("SK0203", "not a number", lambda ops: plan({"op_list": [{"json_path": float("nan")}]})),
    ("SK0203", "kernel name", lambda ops: plan(ops.op().infos(), 3)),
    ("SK0204", "missing key", lambda ops: plan(ops.op(blockDim=REMOVE).infos())),
    ("SK0204", "missing arch", lambda ops: plan(ops.op(MIX_1_2, sub_operator_kernel_name={"AiCore": {}}).infos())),
    ("SK0205", "missing", lambda ops: plan({})),
    ("SK0205", "empty", lambda ops: plan({"op_list": []})),
    ("SK0205", "nothing named", lambda ops: plan({"op_list": [{"stream_id": 1}]})),
    ("SK0206", "a hyphen", lambda ops: plan(ops.op().infos(), "te-superkernel")),
    ("SK0207", "a blank", lambda ops: plan(ops.op(sub_operator_kernel_name={"AiCore": {"func_name": "a b"}}).infos())),
    ("SK0207", "a word", lambda ops: plan(ops.op(sub_operator_kernel_name={"AiCore": {"func_name": "xor"}}).infos())),
    ("SK0208", "near name", lambda ops: plan(ops.op("KERNEL_TYPE_MIX_AIC_1_3").infos())),
    ("SK0209", "unknown", lambda ops: plan(ops.op(task_type="static").infos())),
    ("SK0210", "no number", lambda ops: plan(ops.dynamic(AIV, {"x": TILING}).infos())),
    ("SK0210", "too large", lambda ops: plan(ops.dynamic(AIV, {str(2**64): TILING}).infos())),
    ("SK0210", "twice", lambda ops: plan(ops.dynamic(AIV, {"7": TILING, "07": TILING}).infos())),
    ("SK0210", "none", lambda ops: plan(ops.dynamic(AIV, {}).infos())),
    ("SK0211", "aiv key in an aic op", lambda ops: plan(ops.dynamic(AIC).infos())),
    ("SK0212", "split for 2", lambda ops: plan(ops.op(split_mode=2).infos())),
    ("SK0213", "set flag", lambda ops: plan(ops.op(sub_operator_early_start_set_flag=True).infos("early-start=0"))),
    ("SK0214", "wait flag", lambda ops: plan(ops.dynamic(AIV, sub_operator_early_start_wait_flag=True).infos())),
    (
        "SK0215",
        "two streams",
        lambda ops: plan(ops.op(sub_operator_early_start_set_flag=True).op(stream_id=1).infos("stream-fusion=1")),
    ),
    ("SK0221", "no bin_path", lambda ops: generate(ops.op(bin_path=REMOVE))),
    ("SK0222", "missing file", lambda ops: generate(ops.op())),
    ("SK0222", "a folder", lambda ops: generate(ops.op(bin_path=str(ops.folder)))),
    ("SK0223", "another function", lambda ops: generate(with_object(ops.op(), "void g(void) {}"))),
    ("SK0224", "no text", lambda ops: generate(with_object(ops.op(), "int f0;", "--remove-section=.text"))),
    ("SK0301", "both lists", lambda ops: plan(ops.op().op(send_event_list=[5], recv_event_list=[5]).op().infos())),
    ("SK0302", "send list", lambda ops: plan(ops.op(send_event_list=[5, 5]).op().infos())),
    ("SK0302", "recv list", lambda ops: plan(ops.op().op(recv_event_list=[5, 5]).infos())),
    ("SK0303", "sent twice", lambda ops: plan(ops.op(send_event_list=[5]).op(send_event_list=[5]).op().infos())),
    ("SK0303", "received twice", lambda ops: plan(ops.op().op(recv_event_list=[5]).op(recv_event_list=[5]).infos())),
    ("SK0304", "one stream", lambda ops: plan(ops.op(send_event_list=[5]).op(recv_event_list=[5]).infos())),
    (
        "SK0305",
        "receiver first",
        lambda ops: plan(
            ops.op(send_event_list=[1])
            .op(stream_id=1, recv_event_list=[1, 2], send_event_list=[3])
            .op(recv_event_list=[3], send_event_list=[2])
            .op()
            .infos()
        ),
    ),
    ("SK0306", "no event", lambda ops: plan(ops.op().op(stream_id=1).infos())),
    ("SK0307", "first op", lambda ops: plan(ops.op(recv_event_list=[5]).infos())),
    ("SK0308", "last op", lambda ops: plan(ops.op(send_event_list=[5]).infos())),
    (
        "SK0309",
        "a circle",
        lambda ops: plan(
            ops.op()
            .op(stream_id=1, recv_event_list=[2], send_event_list=[1])
            .op(recv_event_list=[1], send_event_list=[2])
            .op()
            .infos("stream-fusion=1")
        ),
    ),
    ("SK0401", "zero", lambda ops: plan(ops.op(blocks=0).infos())),
    ("SK0401", "negative", lambda ops: plan(ops.op(blocks=-3).infos())),
    ("SK0402", "unknown", lambda ops: plan_for("Ascend310", ops.op().infos())),
    ("SK0403", "2 to 3", lambda ops: plan(ops.op(MIX_1_1, 1).infos("debug-aic-num=2:debug-aiv-num=3"))),
    ("SK0404", "25 of 24", lambda ops: plan(ops.op(MIX_1_1, 1).infos("debug-aic-num=25:debug-aiv-num=25"))),
    ("SK0405", "4 of 8", lambda ops: plan(ops.op(AIV, 8).infos("debug-aiv-num=4"))),
]

# Rows of the table that cannot be raised here, and where they are.
ELSEWHERE = {
    "SK0002": "test_cli_paths: a mistake of the package",
    "SK0016": "test_cli_paths: needs a command line",
    "SK0017": "test_locate: needs a command line",
    "SK0012": "test_config: needs an environment variable",
    "SK0013": "test_environment: needs CANN's Python",
    "SK0015": "test_cann_install: needs a toolkit",
    "SK0018": "test_migration: is raised by other software",
    "SK0216": "needs four billion parameters",
    "SK0217": "test_regions: needs ops with regions",
    "SK0225": "test_compile: needs objects",
    "SK0226": "test_hardening_inputs: needs objects",
    "SK0227": "test_sharing: needs objects",
    "SK0228": "test_sharing: needs objects",
    "SK0229": "test_device_objects: needs objects",
    "SK0230": "test_device_objects: needs objects",
    "SK0231": "test_device_objects: needs objects",
    "SK0232": "test_device_objects: needs objects",
}


def plan_for(soc: str, infos: Any) -> Any:
    with superkernel.configure(soc=soc):
        return plan(infos)


def error_of(raiser: Raiser, folder: Path) -> SuperKernelError:
    with pytest.raises(SuperKernelError) as caught:
        raiser(OpList(folder))
    return caught.value


@pytest.mark.parametrize(("error_id", "label", "raiser"), ROWS, ids=[f"{row[0]} {row[1]}" for row in ROWS])
def test_message(error_id, label, raiser, tmp_path):
    error = error_of(raiser, tmp_path)
    golden.check(f"errors/{error_id}_{label.replace(' ', '_')}.txt", f"{error}\n".replace(str(tmp_path), "DIR"))
    info = error.errorinfo
    assert info["errId"] == error_id
    assert info["errCode"] == "EB0500"
    assert set(info) == {"errCode", "errId", "message", "errClass", "errPcause", "errSolution"}
    assert str(error) == f"[{error_id}] {info['message']}\n  hint: {info['errSolution']}"
    assert isinstance(error, RuntimeError)


def test_every_row_of_the_table_has_a_test():
    table = (Path(__file__).parents[3] / "docs" / "errors.md").read_text()
    documented = set(re.findall(r"^\| (SK0[0-4]\d\d) ", table, flags=re.MULTILINE))
    assert documented == {row[0] for row in ROWS} | set(ELSEWHERE)
    assert {row[0] for row in ROWS} & set(ELSEWHERE) == set()


def test_every_expected_text_has_a_test():
    expected = {f"{row[0]}_{row[1].replace(' ', '_')}.txt" for row in ROWS}
    assert {path.name for path in (golden.CASES / "errors").iterdir()} == expected


@pytest.mark.parametrize("row", [row for row in ROWS if row[0] in ("SK0101", "SK0304")], ids=lambda row: row[0])
def test_an_error_travels_between_processes(row, tmp_path):
    error = error_of(row[2], tmp_path)
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.errorinfo) == (type(error), str(error), error.errorinfo)


def test_messages_stay_short_with_many_ops(tmp_path):
    ops = OpList(tmp_path)
    for number in range(1160):
        ops.op(AIV, 8, stream_id=number % 2, sub_operator_params=["x"] * 20)
    assert len(str(error_of(lambda _: plan(ops.infos()), tmp_path))) < 400
    ops.ops[700]["task_type"] = "x" * 100_000
    assert len(str(error_of(lambda _: plan(ops.infos()), tmp_path))) < 400


def test_the_first_wrong_op_is_the_one_that_is_named(tmp_path):
    ops = OpList(tmp_path)
    for _ in range(40):
        ops.op(blockDim=REMOVE)
    for _ in range(20):
        assert "`op_list[0].json_path → blockDim`" in str(error_of(lambda _: plan(ops.infos()), tmp_path))


EXAMPLES = {row[0]: tuple(text.strip("`") for text in row[4]) for row in _core.error_documentation() if row[4]}

#: Errors that no text a user writes causes: broken files, tools and machines, code of others, interruptions.
WITHOUT_EXAMPLE = re.compile(
    "SK(00(01|02|15|16|18)|0106|02(11|14|15|16|24|26|27|31|32)|050[123]|06(0[2346]|1[01234]|20|3[123678])"
    "|070[235]|08(0[1234689]|10)|09(0[1459]|1[346]|2[0134]|3[015]|43|5[67]|70|8[0-9]|9[0-3])|10(02|07|1[6789]|23|5[01234])|110[56])"
)


def test_every_other_error_has_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    known = {row[0] for row in _core.error_documentation()}
    assert {name for name in known if not WITHOUT_EXAMPLE.fullmatch(name)} == set(EXAMPLES)
    assert all(wrong and right and wrong != right for wrong, right in EXAMPLES.values())
    assert cli.main(["explain", "SK0101"]) == 0
    assert "  wrong: `stream-funsion=1`\n  right: `stream-fusion=1`\n" in capsys.readouterr().out


def id_of(call: Callable[[], object]) -> str | None:
    try:
        call()
    except SuperKernelError as error:
        return error.errorinfo["errId"]
    return None


@pytest.mark.parametrize("name", ["SK0101", "SK0102", "SK0103", "SK0104"])
def test_examples_of_options(name: str) -> None:
    wrong, right = EXAMPLES[name]
    assert id_of(lambda: parse_super_kernel_options(wrong)) == name
    assert id_of(lambda: parse_super_kernel_options(right)) is None


@pytest.mark.parametrize("name", ["SK0010", "SK0011"])
def test_examples_of_settings(name: str) -> None:
    wrong, right = EXAMPLES[name]
    for text, expected in ((wrong, name), (right, None)):
        names = {"configure": superkernel.configure}
        code = compile(f"with {text}: pass", "example", "exec")
        assert id_of(lambda code=code, names=names: exec(code, names)) == expected, text


@pytest.mark.parametrize("name", ["SK1001"])
def test_examples_of_graphs(name: str) -> None:
    wrong, right = EXAMPLES[name]
    assert id_of(lambda: superkernel.scope.plan(json.loads(wrong))) == name
    assert id_of(lambda: superkernel.scope.plan(json.loads(right))) is None


def test_examples_of_commands() -> None:
    """What begins as a command is one: the command line understands it."""
    examples = [text for row in _core.error_documentation() for text in row[4] or ()]
    commands = [found[1] for text in examples if (found := re.fullmatch("`superkernel ([^`]+)`", text))]
    assert len(commands) > 15
    for command in commands:
        cli.parser().parse_args(shlex.split(command))
