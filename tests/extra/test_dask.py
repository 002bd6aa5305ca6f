"""Super kernels built by the workers of a Dask cluster: separate processes without a folder in common."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import superkernel
from superkernel.scope import Graph, compile_graph, kernels
from superkernel.sim import BuiltOp, Device, build_op

distributed = pytest.importorskip("distributed")

SOURCE = """
#include "kernel_operator.h"
extern "C" __global__ __aicore__ void {name}(GM_ADDR x, GM_ADDR y)
{{
    // A line for each core.
    ((__gm__ int32_t *)y)[16 * AscendC::GetBlockIdx()] = ((__gm__ int32_t *)x)[0] + {number};
}}
"""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("dask")
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**settings, local_directory=str(folder)) as cluster:
        yield cluster


@pytest.fixture
def output(tmp_path: Path) -> Iterator[Path]:
    kernels.clear()
    with superkernel.configure(kernel_meta_parent_dir=tmp_path, toolchain="host", cache_dir=""):
        yield tmp_path / "kernel_meta"


def model(folder: Path, scopes: int) -> Graph:
    ops: list[BuiltOp] = []
    for number in range(scopes + 1):
        source = SOURCE.format(name=f"op{number}", number=number)
        ops.append(build_op(source, f"op{number}", None, "KERNEL_TYPE_AIV_ONLY", 2, out_dir=folder))
    graph = Graph()
    for scope in range(scopes):
        for place, op in enumerate((ops[scope], ops[scope + 1])):
            paths = {"kernel_name": op.name, "bin_path": op.bin_path, "json_path": op.json_path}
            graph.op(f"n{scope}_{place}", "Op", support=1, scope=f"s{scope}", stream=scope, **paths)
    return graph


def commands(output: Path) -> list[list[str]]:
    return [json.loads(path.read_text())["commands"] for path in sorted(output.glob("*.manifest.json"))]


def test_a_cluster_builds_a_model(cluster: Any, output: Path, tmp_path: Path) -> None:
    with distributed.Client(cluster) as client:
        build = compile_graph(model(tmp_path / "ops", 3), executor=client.get_executor())
    assert [result.state for result in build.results] == ["compiled"] * 3
    assert commands(output) == [[], [], []], "nothing was compiled in this process"


def test_the_command_does_too(cluster: Any, output: Path, tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    model(tmp_path / "ops", 2).write(path)
    address = cluster.scheduler_address.replace("tcp://", "dask://")
    arguments = ["build", str(path), "--executor", address, "--toolchain", "host", "--kernel-meta-parent-dir"]
    from superkernel.cli import main

    assert main([*arguments, str(tmp_path)]) == 0
    assert commands(output) == [[], []]


def test_seeds_of_a_check_are_run_by_workers(cluster: Any, output: Path, tmp_path: Path) -> None:
    op = build_op(SOURCE.format(name="op", number=1), "op", None, "KERNEL_TYPE_AIV_ONLY", 2, out_dir=tmp_path / "ops")
    superkernel.compile({"op_list": [op.entry(), op.entry()], "super_kernel_options": ""}, "checked")
    with Device() as device, distributed.Client(cluster) as client, client.get_executor() as executor:
        kernel = device.load(output / "checked.json")
        buffers = {name: device.buffer(128) for name in ("x_0", "y_0", "x_1", "y_1")}
        verdict = kernel.check(buffers, seeds=24, executor=executor)
    assert verdict.ok and verdict.compared and len(verdict.seeds) == 24, verdict
    assert verdict.last is None, "nothing was run in this process"


def die_once(mark: str) -> int:
    """Kills its own worker the first time."""
    if not os.path.exists(mark):
        Path(mark).write_text("")
        time.sleep(0.2)
        os.kill(os.getpid(), signal.SIGKILL)
    return os.getpid()


@pytest.mark.skipif(sys.platform != "linux", reason="signals")
def test_a_killed_worker_does_not_matter(cluster: Any, output: Path, tmp_path: Path) -> None:
    with distributed.Client(cluster) as client:
        executor = client.get_executor()
        victim = executor.submit(die_once, str(tmp_path / "mark"))
        build = compile_graph(model(tmp_path / "ops", 3), executor=executor)
        assert victim.result() > 0
    assert not build.of_state("failed")
    assert all(
        path.with_suffix(".o").exists() for path in output.glob("te_superkernel_*.json") if "manifest" not in path.name
    )
