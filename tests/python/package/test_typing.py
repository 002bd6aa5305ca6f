"""What type checkers see: good calls pass `mypy --strict`, wrong ones do not."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, get_args

import pytest
import superkernel
from kernel_library import KernelLibrary
from superkernel import _core, sim, types

mypy = pytest.importorskip("mypy.api")

PACKAGE = Path(superkernel.__file__).parents[1]

GOOD = """
import json
from pathlib import Path
import superkernel
from superkernel import sim
from superkernel.types import CompiledKernel, KernelInfos, OpEntry, Stage

entry: OpEntry = {"json_path": "a.json", "bin_path": "a.o", "stream_id": 0, "task_type": "normal"}
infos: KernelInfos = {"op_list": [entry], "super_kernel_options": "split-mode=1"}

def told(stage: Stage) -> None:
    print(stage)

with superkernel.configure(soc="Ascend950", toolchain="host", jobs=2, cache_dir=Path("x")):
    kernel: CompiledKernel = superkernel.compile_kernel(infos, "k", progress=told, rebuild=True)
    superkernel.compile(infos, "k")
    superkernel.compile(json.loads("{}"), "k")
    superkernel.plan(infos)
    superkernel.generate(infos)
    superkernel.compile_kernel({"op_list": [sim.build_op("x.cpp", "x").entry()]}, "k")
print(kernel.origin == "from cache", kernel.object.name, kernel.timings["total"], kernel.reason)

def run(device: sim.Device) -> None:
    device.load(kernel.json).launch([], schedule="random", seed=7, events="sync").raise_for_status()
"""

#: Each is one statement behind the good file, and is wrong.
BAD = [
    'superkernel.configure(socc="Ascend950")',
    "superkernel.configure(jobs='many')",
    'superkernel.configure(toolchain="gcc")',
    'sim.Device().load("k").launch([], schedule="rand")',
    'sim.Device().load("k").launch([], events="everything")',
    'sim.Device().load("k").launch([], arrivals="late")',
    'sim.Device().load("k").launch([], pipes="loose")',
    'sim.Device().load("k").launch([], cache="warm")',
    'superkernel.plan(infos)["opps"]',
    'superkernel.plan(infos)["ops"][0]["block_num"] + "x"',
    'sim.build_op("x.cpp", "x", None, "AIV")',
    'sim.build_op("x.cpp", "x", position="last")',
    'superkernel.compile_kernel({"op_list": [{"json_path": 3, "bin_path": "a.o"}]})',
    'superkernel.compile_kernel({"op_list": [{"json_path": "a", "bin_path": "b", "streamid": 1}]})',
    'superkernel.compile_kernel({"op_list": [{"json_path": "a", "bin_path": "b", "task_type": "odd"}]})',
    'superkernel.compile_kernel({"super_kernel_options": ""})',
    "superkernel.compile_kernel(infos, keeep=True)",
    "superkernel.compile_kernel(infos, progress=lambda: None)",
    'kernel.origin == "built"',
    'superkernel.scope.plan("g", hazards="ignore")',
    'superkernel.scope.plan("g", cuts="none")',
    'superkernel.scope.Graph().event("a", "b", kind="odd")',
]


def test_good_calls_pass_and_bad_ones_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MYPYPATH", str(PACKAGE))
    (tmp_path / "good.py").write_text(GOOD)
    (tmp_path / "bad.py").write_text("\n".join([GOOD, *BAD, ""]))
    first_bad = GOOD.count("\n") + 2
    arguments = ["--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}", "--no-error-summary"]
    told, trouble, _ = mypy.run([*arguments, str(tmp_path / "good.py"), str(tmp_path / "bad.py")])
    assert not trouble
    lines = [line for line in told.splitlines() if ": error: " in line]
    assert not [line for line in lines if "good.py" in line], told
    wrong = {int(line.split(":")[1]) for line in lines}
    missed = [statement for number, statement in enumerate(BAD, first_bad) if number not in wrong]
    assert not missed and min(wrong) == first_bad, f"{missed}\n{told}"


def test_the_words_are_those_of_the_core() -> None:
    assert get_args(types.Stage) == tuple(_core.build_stages())
    named = {"schedule": types.Schedule, "arrivals": types.Arrivals, "events": types.Events, "cache": types.Cache}
    for name, words in {**named, "pipes": types.Pipes}.items():
        assert set(get_args(words)) == set(_core.sim_choices(name))
    toolchain = next(row for row in _core.setting_table() if row["name"] == "toolchain")
    assert {*get_args(types.ToolchainKind), "auto"} == set(toolchain["words"])
    for annotation, accepts in ((types.KernelType, "kernel_type"), (types.Position, "position")):
        for word in get_args(annotation):
            with pytest.raises(superkernel.SuperKernelError) as caught:
                sim.build_op("/nowhere.cpp", "x", None, **{accepts: word})  # type: ignore[arg-type]
            assert word not in str(caught.value), "the word is known; the file is not"
    assert "unknown" not in inspect.signature(superkernel.configure).parameters


def keys_of(kind: Any) -> tuple[frozenset[str], frozenset[str]]:
    return kind.__required_keys__, kind.__required_keys__ | kind.__optional_keys__


def assert_typed(value: Any, kind: Any) -> None:
    required, known = keys_of(kind)
    assert required <= set(value) <= known, set(value) ^ known


def test_results_have_the_keys_of_their_types(library: KernelLibrary, tmp_path: Path) -> None:
    """Whatever is new in a result is new in its type."""
    infos: Any = library.infos(library.op("one"), library.op("one"), options="split-mode=1")
    planned = superkernel.plan(infos)
    assert_typed(dict(planned), types.Planned)
    assert_typed(planned["ops"][0], types.PlannedOp)
    assert_typed(planned["ops"][0]["functions"][0], types.PlannedFunction)
    assert_typed(planned["slots"][0], types.PlannedSlot)
    assert all(types.PlannedStep.__required_keys__ <= set(step) for step in planned["steps"])
    (tmp_path / "p.csv").write_text(
        "Op Name,OP Type,Task Type,Task Duration(us)\n"
        + "".join(f"{op['kernel_name']},T,AI_VECTOR_CORE,{5 + number}\n" for number, op in enumerate(planned["ops"]))
    )
    found = superkernel.cost.predict(infos, tmp_path / "p.csv")
    assert_typed(found, types.Predicted)
    (kernel,) = found["kernels"]
    assert_typed(kernel, types.PredictedKernel)
    assert_typed(kernel["ops"][0], types.PredictedOp)
    assert_typed(kernel["cores"][0], types.PredictedCore)
    assert_typed(kernel["reasons"][0], types.Part)
    assert_typed(kernel["gain"], types.Estimate)
    scoped = superkernel.scope.Graph()
    for op in ("a", "b", "c", "d"):
        scoped.op(op, "T", scope="known" if op < "c" else "unknown", support=1, stream=0)
    (tmp_path / "half.csv").write_text(
        "Op Name,OP Type,Task Type,Task Duration(us)\na,T,AI_VECTOR_CORE,5\nb,T,AI_VECTOR_CORE,5\n"
    )
    skipped = superkernel.cost.predict(scoped, tmp_path / "half.csv")["skipped"]
    assert [entry["name"] for entry in skipped] == ["known", "unknown"]
    assert_typed(skipped[0], types.Skipped)


def test_a_compile_that_tells(library: KernelLibrary, tmp_path: Path) -> None:
    infos: Any = library.infos(library.op("one"), library.op("one"), options="split-mode=1")
    stages: list[str] = []
    cache = tmp_path / "cache"
    with superkernel.configure(kernel_meta_parent_dir=tmp_path, toolchain="host", cache_dir=cache):
        first = superkernel.compile_kernel(infos, "k", progress=stages.append)
        assert (first.name, first.origin, first.reason, first.warnings) == ("k", "compiled", [], [])
        assert (first.toolchain, first.ops, first.files) == ("host", 2, 1)
        assert stages[0] == "load" and stages[-1] == "publish"
        assert set(stages) | {"total"} == set(first.timings)
        for path in (first.object, first.json, first.manifest):
            assert path.is_file() and path.parent == tmp_path / "kernel_meta"
        assert superkernel.compile_kernel(infos, "k").origin == "up to date"
        infos["super_kernel_options"] = "split-mode=2"
        again = superkernel.compile_kernel(infos, "k")
        assert again.origin == "compiled" and again.reason == ["options: split-mode was `1`, is `2`"]
        assert superkernel.compile_kernel(infos, "k", rebuild=True).reason == ["a rebuild was asked for"]
    with superkernel.configure(kernel_meta_parent_dir=tmp_path / "other", toolchain="host", cache_dir=cache):
        assert superkernel.compile_kernel(infos, "k").origin == "from cache"
