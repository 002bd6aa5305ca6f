"""The documents: every snippet runs as written or is marked as a fragment; links lead somewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from doc_snippets import FRAGMENT, ROOT, Snippet, documents, run, snippets
from kernel_library import KernelLibrary

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


@pytest.mark.parametrize("path", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text()):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{path}: {target}"
