"""Building the super kernels of a model by the workers of an executor."""

from __future__ import annotations

import json
import multiprocessing
import pickle
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import superkernel
from kernel_library import AIC, KernelLibrary
from superkernel import SuperKernelError
from superkernel._errors import make_error
from superkernel.scope import Graph, compile_graph, kernels


@pytest.fixture(autouse=True)
def output(tmp_path: Path) -> Iterator[Path]:
    kernels.clear()
    with superkernel.configure(kernel_meta_parent_dir=tmp_path, toolchain="host", cache_dir=""):
        yield tmp_path / "kernel_meta"


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


class Counting(Executor):
    """Hands tasks to a pool; the first ``deaths`` of them fail as with a worker that is killed."""

    def __init__(self, pool: Executor, deaths: int = 0) -> None:
        self.pool, self.deaths, self.submitted = pool, deaths, 0

    def submit(self, function: Any, /, *arguments: Any, **named: Any) -> Future[Any]:
        self.submitted += 1
        if self.submitted <= self.deaths:
            dead: Future[Any] = Future()
            dead.set_exception(RuntimeError("the worker was killed"))
            return dead
        return self.pool.submit(function, *arguments, **named)


class Broken(Executor):
    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        raise BrokenExecutor("no worker is left")


@pytest.fixture
def graph(library: KernelLibrary) -> Graph:
    """Two scopes that are alike, and one that is not."""
    graph = Graph()
    for number, scope in enumerate(("s", "t", "u")):
        ops = [library.op("one"), library.op("cube", AIC)]
        for place, op in enumerate(ops if scope != "u" else ops[::-1]):
            paths = {key: op.entry()[key] for key in ("bin_path", "json_path")}
            graph.op(f"{scope}{place}", "Op", support=1, scope=scope, stream=number, kernel_name=op.name, **paths)
    return graph


def commands_of(output: Path) -> dict[str, list[str]]:
    """What this process ran for each kernel."""
    manifests = output.glob("*.manifest.json")
    return {path.name: json.loads(path.read_text())["commands"] for path in manifests}


def test_workers_build_and_this_process_publishes(graph: Graph, output: Path, pool: ProcessPoolExecutor) -> None:
    executor = Counting(pool, deaths=1)
    build = compile_graph(graph, executor=executor)
    assert [result.state for result in build.results].count("compiled") == 2 and not build.of_state("failed")
    # Two different kernels, one worker that was killed.
    assert executor.submitted == 3
    assert list(commands_of(output).values()) == [[], []]
    assert len(list(output.glob("*.o"))) == 2
    kernels.clear()
    assert len(compile_graph(graph, executor=executor).results) == 3
    assert executor.submitted == 3, "what is up to date is not sent anywhere"


def test_without_workers_kernels_are_built_here(graph: Graph, output: Path) -> None:
    build = compile_graph(graph, executor=Broken())
    assert not build.of_state("failed")
    assert all(commands for commands in commands_of(output).values())


def test_errors_are_those_of_a_build_here(graph: Graph, library: KernelLibrary, tmp_path: Path, pool: Executor) -> None:
    damaged = tmp_path / "damaged.o"
    damaged.write_bytes(b"no object at all")
    for name, path in (("v0", str(damaged)), ("v1", library.op("one").entry()["bin_path"])):
        paths = {"bin_path": path, "json_path": library.op("one").entry()["json_path"]}
        graph.op(name, "Op", support=1, scope="v", stream=9, kernel_name="one", **paths)
    executor = Counting(pool)
    failed = compile_graph(graph, executor=executor, check=False).of_state("failed")
    assert len(failed) == 1 and isinstance(failed[0].error, SuperKernelError)
    assert executor.submitted == 2, "what cannot be built is not sent anywhere"


@pytest.mark.parametrize("lost", ["bin_path", "json_path"])
def test_a_missing_file_is_an_error_of_its_kernel_alone(
    graph: Graph, library: KernelLibrary, tmp_path: Path, pool: Executor, lost: str
) -> None:
    paths = {key: library.op("one").entry()[key] for key in ("bin_path", "json_path")}
    for name in ("v0", "v1"):
        files = {**paths, lost: str(tmp_path / "gone")} if name == "v1" else paths
        graph.op(name, "Op", support=1, scope="v", stream=9, kernel_name="one", **files)
    build = compile_graph(graph, executor=Counting(pool), rebuild=True, check=False)
    (failed,) = build.of_state("failed")
    assert failed.piece == "v" and str(tmp_path / "gone") in str(failed.error)
    assert failed.error is not None and failed.error.errorinfo["errId"].startswith("SK")
    assert len(build.of_state("compiled")) == 2


class Refusing(Executor):
    """Workers on which every build fails, with an error that came over the wire."""

    submitted = 0

    def submit(self, *_: Any, **__: Any) -> Future[Any]:
        self.submitted += 1
        failed: Future[Any] = Future()
        failed.set_exception(pickle.loads(pickle.dumps(make_error("SK0900", "no compiler", "install one"))))
        return failed


def test_an_error_on_a_worker_is_raised_here(graph: Graph) -> None:
    executor = Refusing()
    failed = compile_graph(graph, executor=executor, check=False).of_state("failed")
    assert len(failed) == 3 and executor.submitted >= 2
    assert all(result.error is not None and result.error.errorinfo["errId"] == "SK0900" for result in failed)
