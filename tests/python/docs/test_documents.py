"""The documents: every snippet runs as written or is marked as a fragment; links lead somewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from doc_snippets import FRAGMENT, ROOT, Snippet, documents, run, snippets
from kernel_library import KernelLibrary
from superkernel.cli import COMMANDS

TUTORIAL = ROOT / "docs" / "tutorial.md"
OTHERS = [path for path in documents() if path != TUTORIAL]


@pytest.fixture(scope="module")
def prepared(library: KernelLibrary, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What short snippets speak of: an operator, an op list, an object, an archive, a graph, a kernel."""
    import json

    import superkernel
    from superkernel import elf
    from superkernel.scope import Graph

    folder = tmp_path_factory.mktemp("documents")
    (folder / "add.cpp").write_text(ADD)
    program = next(one for one in snippets(ROOT / "docs" / "sim.md") if one.file == "double.cpp")
    (folder / "double.cpp").write_text(program.text)
    one = library.op("one")
    infos = {"op_list": [one.entry(), one.entry()], "super_kernel_options": "split-mode=1"}
    (folder / "FILE.json").write_text(json.dumps(infos))
    graph = Graph("g")
    for name in "ab":
        files = {"kernel_name": one.name, "bin_path": one.bin_path, "json_path": one.json_path}
        graph.op(name, "Op", stream=0, scope="s", support=1, options="split-mode=1", **files)
    graph.write(folder / "graph.json")
    (folder / "object.cpp").write_text(OBJECT)
    (folder / "other.cpp").write_text('extern "C" int mul() { return 2; }\n')
    for source, output in (("object.cpp", "add.o"), ("other.cpp", "mul.o")):
        subprocess.run(["c++", "-c", source, "-o", output], cwd=folder, check=True)
    (folder / "add.a").write_bytes(elf.write_archive([("add.o", (folder / "add.o").read_bytes())]))
    with superkernel.configure(kernel_meta_parent_dir=folder, toolchain="host"):
        superkernel.compile(infos, "te_superkernel_ab")
    return folder


OBJECT = """
extern "C" { int g_opSystemRunCfg; int helper() { return g_opSystemRunCfg; } int add() { return helper(); } }
"""

ADD = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, GM_ADDR workspace)
{
    for (int64_t line = AscendC::GetBlockIdx(); line < 4; line += AscendC::GetBlockNum()) {
        for (int64_t i = 16 * line; i < 16 * (line + 1); ++i) {
            ((int32_t *)z)[i] = ((int32_t *)x)[i] + ((int32_t *)y)[i];
        }
    }
}
"""


@pytest.mark.timeout(600)
def test_the_tutorial_runs_from_an_empty_folder(tmp_path: Path) -> None:
    found = snippets(TUTORIAL)
    assert len(found) > 15 and not [snippet for snippet in found if snippet.is_fragment]
    for snippet in found:
        run(snippet, tmp_path)
    # Its plan of two streams is one, and is what the document shows.
    for flag, claim in (
        ((), "two-stream form"),
        (("--gantt",), TUTORIAL.read_text().split("```\n             cores ")[1]),
    ):
        command = [sys.executable, "-m", "superkernel", "plan", "streams.json", *flag]
        wide = {**os.environ, "COLUMNS": "100"}
        printed = subprocess.run(command, cwd=tmp_path, env=wide, capture_output=True, text=True, check=True).stdout
        assert claim.split("\n```")[0] in printed


@pytest.mark.parametrize(
    "snippet",
    [snippet for path in OTHERS for snippet in snippets(path) if not snippet.is_fragment],
    ids=str,
)
def test_a_snippet_runs_as_written(snippet: Snippet, prepared: Path, tmp_path: Path) -> None:
    shutil.copytree(prepared, tmp_path / "here")
    run(snippet, tmp_path / "here")


def test_fragments_are_few_and_marks_are_used() -> None:
    """A mark that marks nothing is a mistake; a document of nothing but fragments, too."""
    for path in documents():
        marks = path.read_text().count(FRAGMENT)
        assert marks == sum(snippet.is_fragment for snippet in snippets(path)), path


def test_a_snippet_that_fails_is_noticed(tmp_path: Path) -> None:
    document = ROOT / "docs" / "tutorial.md"
    (broken,) = [snippet for snippet in snippets(document) if "python run.py" in snippet.text]
    with pytest.raises(AssertionError, match=r"tutorial.md:\d+"):
        run(broken, tmp_path)


def test_every_command_is_documented() -> None:
    """In the table of the README, and with an example or an explanation in another document."""
    table = [line for line in (ROOT / "README.md").read_text().splitlines() if line.startswith("| `superkernel ")]
    others = "\n".join(path.read_text() for path in documents() if path.name != "README.md")
    commands = {*COMMANDS}
    named = {name for line in table for name in re.findall(r"`superkernel ([\w-]+)", line.split("|")[1])}
    assert named == commands
    assert [name for name in sorted(commands) if not re.search(rf"\bsuperkernel(?:-rs)? {name}\b", others)] == []


def test_pictures_are_shown_in_both_modes_and_small() -> None:
    """`make pictures` writes them."""
    folder, used = ROOT / "docs" / "images", set()
    for path in [*documents(), ROOT / "ARCHITECTURE.md"]:
        for shown in re.findall(r"<picture>.*?</picture>|<img [^>]*>", path.read_text()):
            files = re.findall(r'(?:src|srcset)="([^"]+)"', shown)
            assert all((path.parent / file).exists() for file in files), f"{path}: {shown}"
            assert len(re.search(r'alt="([^"]*)"', shown)[1]) > 20, f"{path}: {shown}"  # type: ignore[index]
            # What cannot follow the reader's mode by itself is there twice.
            names = {re.sub("-(light|dark).png$", "", file) for file in files}
            assert len(names) == 1 and len(files) == (1 if files[0].endswith(".svg") else 2), f"{path}: {shown}"
            used.update((path.parent / file).resolve() for file in files)
    assert used == set(folder.iterdir())
    assert "prefers-color-scheme: dark" in (folder / "architecture.svg").read_text()
    assert sum(path.stat().st_size for path in used) < 1_000_000


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text()):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{path}: {target}"
