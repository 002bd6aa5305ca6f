"""Inputs as people write them: misspelt keys, paths beside the file, and what a compile would refuse."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
import superkernel
from kernel_library import KernelLibrary
from op_lists import OpList
from superkernel import cli


@pytest.fixture(autouse=True)
def host_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SUPERKERNEL_TOOLCHAIN", "host")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))


# -- keys ------------------------------------------------------------------------------------------------------------


def test_a_misspelt_key_is_a_warning_with_a_suggestion(tmp_path: Path) -> None:
    infos = OpList(tmp_path).op().op().infos()
    infos["super_kernel_option"] = "split-mode=2"
    infos["compile_context"] = {"kept": "silent"}
    infos["op_list"][1]["streamid"] = 3
    infos["op_list"][1]["op_name"] = "mine"
    warnings = superkernel.plan(infos)["warnings"]
    assert warnings[:2] == [
        "`super_kernel_option` is not read; did you mean `super_kernel_options`?",
        "`op_list[1].streamid` is not read; did you mean `stream_id`?",
    ]
    assert not [text for text in warnings if "compile_context" in text or "op_name" in text]


def test_an_entry_without_a_json_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    infos = OpList(tmp_path).op().infos()
    infos["op_list"].insert(0, {"stream_id": 0})
    with caplog.at_level(logging.INFO, "superkernel"):
        superkernel.plan(infos)
    assert "`op_list[0]` has no `json_path` and is skipped" in caplog.messages


# -- paths -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def two_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`there/kernel_infos.json` with relative paths; the current folder is `here`."""
    for name in ("here", "there"):
        (tmp_path / name).mkdir()
    path = OpList(tmp_path / "there").op(kernelName="beside").write()
    infos = json.loads(path.read_text())
    infos["op_list"][0].update(json_path="k0.json", bin_path="k0.o")
    path.write_text(json.dumps(infos))
    monkeypatch.chdir(tmp_path / "here")
    return path


def planned(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[str, str]:
    """The name of the first op of a plan, and standard error."""
    assert cli.main(["plan", *map(str, arguments), "--json"]) == 0
    told = capsys.readouterr()
    return json.loads(told.out)["ops"][0]["kernel_name"], told.err


def test_relative_paths_are_beside_the_file_then_here(two_folders: Path, capsys: pytest.CaptureFixture[str]) -> None:
    OpList(Path()).op(kernelName="here")
    assert planned(capsys, two_folders)[0] == "beside"
    (two_folders.parent / "k0.json").unlink()
    name, told = planned(capsys, two_folders, "-v")
    assert name == "here" and "info: `k0.json` is not in " in told and "current folder is taken" in told
    Path("k0.json").unlink()
    assert cli.main(["plan", str(two_folders)]) == 1
    # A file that is nowhere is missed where it belongs.
    assert str(two_folders.parent / "k0.json") in capsys.readouterr().err


def test_standard_input_has_no_folder(
    two_folders: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import io
    from types import SimpleNamespace

    OpList(Path()).op(kernelName="here")
    content = io.BytesIO(two_folders.read_bytes())
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=content))
    assert planned(capsys, "-")[0] == "here"


def test_paths_of_a_graph_follow_the_same_rule(two_folders: Path) -> None:
    path = two_folders.with_name("graph.json")
    path.write_text(json.dumps({"name": "g", "nodes": [{"name": "a", "type": "Op", "json_path": "k0.json"}]}))
    node = superkernel.scope.Graph.read(path).nodes[0]
    assert node["json_path"] == str(two_folders.parent / "k0.json") and not node.get("bin_path")


# -- what a compile would refuse -------------------------------------------------------------------------------------


def test_check_finds_what_compile_refuses(
    library: KernelLibrary, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = library.op("one")
    infos = library.infos(one, one, one, one)
    path = tmp_path / "infos.json"

    def checked() -> list[str]:
        path.write_text(json.dumps(infos))
        status = cli.main(["plan", str(path), "--check", "--name", "k"])
        lines = [line for line in capsys.readouterr().out.splitlines() if not line.startswith("  hint: ")]
        assert status == (0 if lines == ["k: nothing that compile would refuse"] else 1)
        # `compile` says the same, of the first.
        refused = cli.main(["compile", str(path), "--name", "k", "-q", "--kernel-meta-parent-dir", str(tmp_path)])
        told = capsys.readouterr().err
        assert refused == status
        assert status == 0 or lines[0].split("[")[1].split("]")[0] in told, (lines, told)
        return lines

    assert checked() == ["k: nothing that compile would refuse"]
    renamed = tmp_path / "renamed.json"
    renamed.write_text(Path(one.json_path).read_text().replace(one.functions[0], "other_function"))
    (tmp_path / "text.o").write_text("no object")
    infos["op_list"][1]["json_path"] = str(renamed)
    infos["op_list"][2]["bin_path"] = str(tmp_path / "missing.o")
    infos["op_list"][3]["bin_path"] = str(tmp_path / "text.o")
    lines = checked()
    assert len(lines) == 3 and all(line.startswith("k: compile would fail [SK") for line in lines)
    assert "missing.o" in lines[0] and "text.o" in lines[1] and "other_function" in lines[2]
    # The plan goes on, and says so.
    assert cli.main(["plan", str(path)]) == 0
    told = capsys.readouterr().err
    assert told.count("warning: ascendc_super_kernel_plus: compile would fail: ") == 3
    infos["op_list"][1:] = [{**one.entry(), "bin_path": str(tmp_path)}]
    assert "is not a regular file" in checked()[0] or "[SK0222]" in checked()[0]
    infos["op_list"] = [one.entry()]
    infos["super_kernel_options"] = "split-mode=0"
    assert "[SK0102]" in checked()[0]


def test_check_asks_for_the_tools_too(
    library: KernelLibrary, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "infos.json"
    path.write_text(json.dumps(library.infos(library.op("one"))))
    monkeypatch.setenv("CXX", "/nowhere/c++")
    assert cli.main(["plan", str(path), "--check"]) == 1
    assert "[SK0701]" in capsys.readouterr().out
    assert not list(tmp_path.glob("kernel_meta*"))
