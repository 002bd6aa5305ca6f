"""Pictures as files: what is in them, that no input breaks out of them, and DOT. Browsers: tests/extra."""

from __future__ import annotations

import html.parser
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import superkernel
from op_lists import AIC, AIV, MIX_1_2, OpList
from superkernel import pictures
from superkernel.cli import main
from superkernel.scope import Graph, plan

HOSTILE = "</script><script>alert(1)</script><!--\u2028\"'&"


class Page(html.parser.HTMLParser):
    """Reads a page as a browser would, as far as its elements go."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.scripts: list[str] = []
        self.texts: list[str] = []
        self._inside: str | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        else:
            self.texts.append(data)

    @property
    def data(self) -> Any:
        return json.loads(self.scripts[0])


def checked(text: str) -> Page:
    """The page, found to be one file that fetches nothing."""
    page = Page(text)
    assert page.tags.count("script") == 2 and "link" not in page.tags and "img" not in page.tags
    assert not {name for name, _ in page.attributes} & {"src", "href", "onclick", "onload", "action"}
    code = page.scripts[1]
    # Texts never become markup, and nothing is asked from anywhere.
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "fetch(", "XMLHttpRequest"):
        assert word not in code
    assert not re.search(r"@import|url\((?!#)", text) and not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    assert "default-src 'none'" in dict(page.attributes).get("content", "") or "default-src 'none'" in text
    return page


def several(folder: Path) -> OpList:
    ops = OpList(folder)
    ops.op(AIC, 8, send_event_list=[1]).op(AIV, 16, stream_id=1).op(AIV, 16, stream_id=1, recv_event_list=[1])
    return ops.op(MIX_1_2, 8, send_event_list=[90]).op(AIC, 4, sub_operator_op_type=HOSTILE)


@pytest.mark.parametrize("options", ["stream-fusion=1", "stream-fusion=1:feed-sync-all=1:profiling=1"])
def test_a_program_as_a_page(tmp_path: Path, options: str) -> None:
    infos = several(tmp_path).write(options)
    out = tmp_path / "out.html"
    assert main(["plan", str(infos), "--html", str(out), "--name", "sk", "--soc", "Ascend910_93"]) == 0
    page = checked(out.read_text())
    data = page.data
    with superkernel.configure(soc="Ascend910_93"):
        plan = superkernel.plan(json.loads(infos.read_text()), "sk")
    assert [op["index"] for op in data["ops"]] == [op["index"] for op in plan["ops"]] == [0, 1, 2, 3, 4]
    assert [op["cores"] for op in data["ops"]] == [
        {"aic": 8, "aiv": 0},
        {"aic": 0, "aiv": 16},
        {"aic": 0, "aiv": 16},
        {"aic": 8, "aiv": 16},
        {"aic": 4, "aiv": 0},
    ]
    assert data["lanes"] == [{"kind": "aic", "cores": 8}, {"kind": "aiv", "cores": 16}]
    # Every step of the plan, with the same words, and every op is called somewhere.
    assert [step["action"] for step in data["steps"]] == [step["action"] for step in plan["steps"]]
    assert [step["reason"] for step in data["steps"]] == [step["reason"] for step in plan["steps"]]
    assert {step["op"] for step in data["steps"] if step["calls"]} == set(range(5))
    assert all(step["reason"] for step in data["steps"] if step["orders"])
    assert data["ops"][4]["op_type"] == HOSTILE and data["ops"][2]["after"] == [0, 1]
    assert len(data["slots"]) == len(plan["slots"])


def profiled(ops: OpList) -> None:
    """A profile of the ops beside their files: 20 us, 21 us, ..."""
    for number, entry in enumerate(ops.ops):
        entry["name"] = f"op{number}"
    table = "Op Name,OP Type,Task Type,Task Duration(us),Task Wait Time(us),Block Dim\n"
    table += "".join(f"op{at},K,AI_VECTOR_CORE,{20 + at},1,8\n" for at in range(len(ops.ops)) for _ in range(3))
    (ops.folder / "op_summary_1.csv").write_text(table)


def test_a_program_with_its_predicted_gain(tmp_path: Path) -> None:
    ops = several(tmp_path)
    profiled(ops)
    command = ["plan", str(ops.write("stream-fusion=1")), "--html", str(tmp_path / "out.html"), "--soc", "Ascend910_93"]
    assert main(command) == 0
    assert "predicted" not in checked((tmp_path / "out.html").read_text()).data
    assert main([*command, "--profile", str(tmp_path)]) == 0
    predicted = checked((tmp_path / "out.html").read_text()).data["predicted"]
    with superkernel.configure(soc="Ascend910_93"):
        (kernel,) = superkernel.cost.predict(json.loads((tmp_path / "kernel_infos.json").read_text()), tmp_path)[
            "kernels"
        ]
    assert predicted["gain"] == kernel["gain"] and predicted["ops"] == kernel["ops"]
    assert [op["unfused"]["us"] for op in predicted["ops"]] == [20, 21, 22, 23, 24]


def test_nothing_of_the_input_breaks_out(tmp_path: Path) -> None:
    text = pictures.page("program", HOSTILE, {"ops": [HOSTILE], "\ud800": 1})
    page = checked(text)
    assert page.data["ops"] == [HOSTILE]
    assert HOSTILE in "".join(page.texts), "the title is text"
    text.encode()


def test_dot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ops = several(tmp_path)
    ops.ops[3].pop("send_event_list")
    assert main(["plan", str(ops.write("stream-fusion=1")), "--dot", "--soc", "Ascend910_93"]) == 0
    several_streams = capsys.readouterr().out
    assert 'op0 -> op2 [label="event 1\\nc2v flag", penwidth=2]' in several_streams
    infos = OpList(tmp_path).op(AIV, 4, kernelName='a"b\\').op(AIC, 2).write("early-start=0")
    assert main(["plan", str(infos), "--dot", "--soc", "Ascend910_93"]) == 0
    one_stream = capsys.readouterr().out
    assert 'label="barrier: list order"' in one_stream and '"0 a\\"b\\\\\\n4 aiv\\nstream 0"' in one_stream
    if shutil.which("dot"):
        for text in (several_streams, one_stream):
            done = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, timeout=60, check=True)
            assert "<svg" in done.stdout


def graph() -> Graph:
    made = Graph("model <1>")
    before = made.op("input", "Data", stream=0)
    for number in range(6):
        fields: dict[str, Any] = {"stream": number % 2, "support": 0 if number == 3 else 1, "scope": "s"}
        op = made.op(f"op{number}", "Add", [before], options="stream-fusion=1", **fields)
        if number:
            made.event(before, op)
        before = op
    return made


def test_scopes_as_a_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = graph()
    made.write(tmp_path / "graph.json")
    main(["scope", str(tmp_path / "graph.json"), "--html", str(tmp_path / "out.html"), "--soc", "Ascend910_93"])
    capsys.readouterr()
    data = checked((tmp_path / "out.html").read_text()).data
    with superkernel.configure(soc="Ascend910_93"):
        planned = plan(made)
    ops = [node["name"] for node in data["nodes"] if node["type"] in ("Data", "Add")]
    assert ops == ["input", *(f"op{number}" for number in range(6))]
    assert [piece["members"] for piece in data["plan"]["pieces"]] == [piece.members for piece in planned.pieces]
    assert data["plan"]["scopes"] == planned.scopes
    assert [cut["node"] for cut in data["plan"]["scopes"][0]["cuts"]] == ["op3"]


def test_scopes_tell_inputs_options_and_events(tmp_path: Path) -> None:
    """As a dump has them: marks in attributes, event ends as nodes of their own."""
    made = graph()
    made.add_origins({"op1": {"torch_op": "aten.add", "fx_node": "add_1", "line": "m.py:12: y = a + b"}})
    made.write(tmp_path / "graph.json")
    ends = made.native().to_dict()
    assert {"Send", "Recv"} <= {node["type"] for node in ends["nodes"]}
    for read in (made, Graph.read(tmp_path / "graph.json"), Graph.parse(json.dumps(ends))):
        with superkernel.configure(soc="Ascend910_93"):
            data = pictures.of_scopes(read, plan(read))
        nodes = {node["name"]: node for node in data["nodes"]}
        assert list(nodes) == ["input", *(f"op{number}" for number in range(6))]
        # So the ruler has every number once.
        assert [node["id"] for node in data["nodes"]] == list(range(7))
        assert nodes["op1"]["inputs"] == [(0, "op0", 0)] and nodes["op1"]["options"] == "stream-fusion=1"
        assert nodes["op1"]["origin"]["line"] == "m.py:12: y = a + b" and nodes["op0"].get("origin") is None
        named = {piece["node_name"] for piece in data["plan"]["pieces"]}
        across = [
            (event["from"], event["to"]) for event in data["plan"]["events"] if {event["from"], event["to"]} & named
        ]
        assert across and all(set(ends) & set(nodes) for ends in across), (
            "a cut is crossed by an event to op3, or from it"
        )
    # Where nothing is fused the events are those of the graph.
    for node in made._changing()["nodes"]:
        node.pop("support", None)
    with superkernel.configure(soc="Ascend910_93"):
        data = pictures.of_scopes(made, plan(made))
    assert data["plan"]["pieces"] == []
    assert [(event["id"], event["from"], event["to"]) for event in data["plan"]["events"]] == [
        (number, f"op{number}", f"op{number + 1}") for number in range(5)
    ]


def test_every_asset_is_in_the_package() -> None:
    folder = Path(pictures.__file__).parent
    assert {path.name for path in folder.iterdir() if path.suffix in (".js", ".css")} == {
        "common.css",
        "common.js",
        "program.js",
        "report.js",
        "scope.js",
        "timeline.js",
    }
